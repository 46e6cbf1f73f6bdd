//! Which format a log is written in.

use super::{Format, combined, jsonl};
use crate::replay::batch::lines;
use crate::replay::record::Unit;

/// The format of the first line that can be read in one; `None` where no line can.
pub(in crate::replay) fn detect(bytes: &[u8]) -> Option<Format> {
    let mut combined = combined::Reader::new(Unit::Request);
    lines(bytes).find_map(|line| {
        if combined.read(line).is_ok() {
            Some(Format::Combined)
        } else if jsonl::read(line).is_ok() {
            Some(Format::Jsonl)
        } else {
            None
        }
    })
}

/// What lines that cannot be read look most like, so that their errors help.
pub(in crate::replay) fn guess(bytes: &[u8]) -> Format {
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') => Format::Jsonl,
        _ => Format::Combined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMBINED: &str = "192.0.2.1 - - [10/Mar/2026:08:00:04 +0000] \"GET / HTTP/1.1\" 200 5";
    const JSON: &str = r#"{"t_ns":0,"key":"a"}"#;

    #[test]
    fn the_first_line_that_can_be_read_says_the_format() {
        for (log, format) in [
            (format!("{COMBINED}\n{JSON}\n"), Some(Format::Combined)),
            (format!("{JSON}\n{COMBINED}\n"), Some(Format::Jsonl)),
            (format!("\n{{}}\n{{\"t_ns\":-1,\"key\":\"a\"}}\r\n{COMBINED}"), Some(Format::Combined)),
            (format!("# a comment\n\n  {JSON}"), Some(Format::Jsonl)),
            ("{}\n".into(), None),
            (String::new(), None),
        ] {
            assert_eq!(detect(log.as_bytes()), format, "{log}");
        }
    }
}
