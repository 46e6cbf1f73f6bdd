//! Which format a log is written in.

use super::{Format, Reader};
use crate::replay::batch::lines;
use crate::replay::reading::Reading;

/// Those that can be told from a line alone, the most particular first.
const TOLD: [Format; 4] = [Format::Alb, Format::Combined, Format::Jsonl, Format::Caddy];

/// The format of the first line that can be read in one; `None` where no line can.
pub(in crate::replay) fn detect(bytes: &[u8]) -> Option<Format> {
    // Who asked is not the question yet.
    let reading = Reading::new();
    let mut readers: Vec<_> =
        TOLD.iter().filter_map(|format| Some((format, Reader::new(format, &reading).ok()?))).collect();
    lines(bytes).find_map(|line| {
        let mut told = readers.iter_mut().filter_map(|(format, reader)| reader.read(line).ok().map(|_| *format));
        told.next().cloned()
    })
}

/// What lines that cannot be read look most like, so that their errors help.
pub(in crate::replay) fn guess(bytes: &[u8]) -> Format {
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') if memchr::memmem::find(bytes, b"\"request\"").is_some() => Format::Caddy,
        Some(b'{') => Format::Jsonl,
        _ => Format::Combined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMBINED: &str = "192.0.2.1 - - [10/Mar/2026:08:00:04 +0000] \"GET / HTTP/1.1\" 200 5";
    const JSON: &str = r#"{"t_ns":0,"key":"a"}"#;
    const CADDY: &str = r#"{"level":"info","ts":1646861401.5,"request":{"remote_ip":"192.0.2.1","uri":"/"},"size":5}"#;
    const ALB: &str = "https 2018-07-02T22:23:00.186641Z app/lb/1 192.0.2.1:2817 10.0.0.1:80 0 0 0 200 200 1 2 \
        \"GET https://h:443/ HTTP/1.1\" \"x [10/Mar/2026:08:00:04 +0000] \\\"y\" - -";

    #[test]
    fn the_first_line_that_can_be_read_says_the_format() {
        for (log, format) in [
            (format!("{COMBINED}\n{JSON}\n"), Some(Format::Combined)),
            (format!("{JSON}\n{COMBINED}\n"), Some(Format::Jsonl)),
            (format!("\n{{}}\n{{\"t_ns\":-1,\"key\":\"a\"}}\r\n{COMBINED}"), Some(Format::Combined)),
            (format!("# a comment\n\n  {JSON}"), Some(Format::Jsonl)),
            (format!("?\n{CADDY}\n{COMBINED}"), Some(Format::Caddy)),
            (format!("{ALB}\n{COMBINED}"), Some(Format::Alb)),
            ("{}\n".into(), None),
            (String::new(), None),
        ] {
            assert_eq!(detect(log.as_bytes()), format, "{log}");
        }
    }
}
