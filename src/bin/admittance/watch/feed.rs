//! Standard input as whole lines, read on a thread of its own.

use std::io::{self, Read};
use std::thread;

use memchr::memrchr;

/// What it is called in messages.
pub(super) const NAME: &str = "standard input";

/// What is read at once, at most.
const PIECE: usize = 256 << 10;

/// What is kept of a line that has no end yet: more than the longest that can be read, so that it is told as too long.
const MOST: usize = (1 << 20) + 16;

/// What standard input has to say.
pub(super) enum Fed {
    /// Some whole lines with their breaks; the last line of all may have none.
    Lines(Vec<u8>),
    /// It ended, or could not be read on.
    End(io::Result<()>),
}

/// Hands lines on as soon as they are there, until `next` says stop.
pub(super) fn start(next: impl Fn(Fed) -> bool + Send + 'static) {
    thread::spawn(move || {
        let ended = read(&mut io::stdin().lock(), |lines| next(Fed::Lines(lines)));
        next(Fed::End(ended));
    });
}

fn read(from: &mut impl Read, mut next: impl FnMut(Vec<u8>) -> bool) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    let mut lines = Lines::default();
    loop {
        let read = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let whole = lines.push(&piece[..read]);
        if !whole.is_empty() && !next(whole) {
            return Ok(());
        }
    }
    if !lines.begun.is_empty() {
        next(lines.begun);
    }
    Ok(())
}

/// Cuts what comes into whole lines.
#[derive(Default)]
struct Lines {
    /// The beginning of a line whose end did not come yet.
    begun: Vec<u8>,
}

impl Lines {
    /// The lines that are whole now.
    fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let whole = memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        let (ended, begun) = bytes.split_at(whole);
        let lines = if ended.is_empty() {
            Vec::new()
        } else {
            let mut lines = std::mem::take(&mut self.begun);
            lines.extend_from_slice(ended);
            lines
        };
        // Of a line that is too long anyway no more is kept.
        let room = MOST.saturating_sub(self.begun.len());
        self.begun.extend_from_slice(&begun[..begun.len().min(room)]);
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_however_they_come() {
        let log = b"one\n\r\ntwo\nthree";
        for step in 1..=log.len() {
            let (mut lines, mut got) = (Lines::default(), Vec::new());
            for piece in log.chunks(step) {
                let whole = lines.push(piece);
                assert!(whole.is_empty() || whole.ends_with(b"\n"));
                got.extend(whole);
            }
            assert_eq!((&*got, &*lines.begun), (&b"one\n\r\ntwo\n"[..], &b"three"[..]), "{step}");
        }
    }

    #[test]
    fn a_line_without_an_end_is_not_kept_for_ever() {
        let mut lines = Lines::default();
        for _ in 0..100 {
            assert!(lines.push(&[b'a'; 16 << 10]).is_empty());
        }
        assert_eq!(lines.begun.len(), MOST);
        assert_eq!(lines.push(b"a\nb\nc"), [&*vec![b'a'; MOST + 1], b"\nb\n"].concat());
        assert_eq!(lines.begun, b"c");
    }

    #[test]
    fn the_last_line_needs_no_break() {
        let mut got = Vec::new();
        read(&mut &b"one\ntwo"[..], |lines| {
            got.push(lines);
            true
        })
        .unwrap();
        assert_eq!(got, [b"one\n".to_vec(), b"two".to_vec()]);
    }
}
