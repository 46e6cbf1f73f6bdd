//! A stretch of lines, parsed: the facts of its records, dealt out to shards.

use std::hash::{BuildHasher, Hash};

use memchr::{memchr, memchr_iter};

use super::format::Reader;
use super::reading::Reading;
use super::record::{LineError, Record, beginning};
use super::source::LONGEST_LINE;
use super::summary::SHOWN;

/// What a record says, with its key in the batch's own bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) time: u64,
    pub(super) cost: u64,
    pub(super) hash: u64,
    key: (usize, u32),
}

/// The records of some lines, in order.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) entries: Vec<Entry>,
    keys: Vec<u8>,
    /// The places of each shard's entries, in order.
    pub(super) dealt: Vec<Vec<usize>>,
    /// Lines read, records or not.
    pub(super) lines: u64,
    /// Line breaks passed, for the numbers of the lines after it.
    pub(super) breaks: u64,
    /// Lines that cannot be read: the number within the batch, counted from 0, their beginning, and why.
    pub(super) bad: Vec<(u64, String, LineError)>,
    /// How many there were; only the first few are kept.
    pub(super) bad_count: u64,
    /// Records that are earlier than the one before.
    pub(super) disordered: u64,
    /// Lines that are not on the routes that are asked about.
    pub(super) outside: u64,
}

/// How lines become records.
pub(super) struct Parser<'h, S> {
    pub(super) reader: &'h Reader,
    pub(super) reading: &'h Reading,
    pub(super) shards: usize,
    pub(super) hasher: &'h S,
}

impl<S: BuildHasher> Parser<'_, S> {
    /// Parses whole lines. `beheaded` says that the first line's beginning was too long to keep.
    pub(super) fn parse(&self, bytes: &[u8], beheaded: bool) -> Batch {
        let mut batch = Batch { dealt: vec![Vec::new(); self.shards], ..Batch::default() };
        let mut reader = self.reader.clone();
        for (number, line) in lines(bytes).enumerate() {
            batch.breaks += 1;
            let too_long = (beheaded && number == 0) || line.len() > LONGEST_LINE;
            if !too_long && line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            batch.lines += 1;
            let record = if too_long {
                Err(LineError::found(LONGEST_LINE, "a line of at most 1 MiB", "more".into()))
            } else {
                reader.read(line)
            };
            match record {
                Ok(Some(record)) => batch.push(&record, self),
                Ok(None) => batch.outside += 1,
                Err(error) => {
                    batch.bad_count += 1;
                    if batch.bad.len() < SHOWN {
                        batch.bad.push((number as u64, beginning(line), error));
                    }
                    if self.reading.strict {
                        break;
                    }
                }
            }
        }
        batch
    }
}

impl Batch {
    fn push<S: BuildHasher>(&mut self, record: &Record<'_>, parser: &Parser<'_, S>) {
        let Record { time, cost, ref key } = *record;
        let hash = parser.hasher.hash_one(KeyBytes(key));
        self.disordered += u64::from(self.entries.last().is_some_and(|last| time < last.time));
        // A line is at most a mebibyte, and so is its key.
        let place = (self.keys.len(), key.len() as u32);
        self.keys.extend_from_slice(key);
        self.dealt[shard_of(hash, parser.shards)].push(self.entries.len());
        self.entries.push(Entry { time, cost, hash, key: place });
    }

    pub(super) fn key(&self, entry: &Entry) -> &[u8] {
        let (start, length) = entry.key;
        &self.keys[start..start + length as usize]
    }

    /// Adds the records of `next` behind its own.
    pub(super) fn append(&mut self, next: &Self) {
        let moved = self.keys.len();
        self.keys.extend_from_slice(&next.keys);
        self.entries
            .extend(next.entries.iter().map(|entry| Entry { key: (entry.key.0 + moved, entry.key.1), ..*entry }));
    }

    /// Deals the entries out anew, in order of time; those of one time in order of input.
    pub(super) fn deal_by_time(&mut self, shards: usize) {
        use rayon::slice::ParallelSliceMut;

        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        let entries = &self.entries;
        order.par_sort_by_key(|&place| (entries[place].time, place));
        self.dealt = vec![Vec::new(); shards];
        for place in order {
            self.dealt[shard_of(self.entries[place].hash, shards)].push(place);
        }
    }
}

/// The high bits: a hash table goes by the low ones.
fn shard_of(hash: u64, shards: usize) -> usize {
    ((u128::from(hash) * shards as u128) >> 64) as usize
}

/// Hashes as the bytes alone, without a length before them.
struct KeyBytes<'k>(&'k [u8]);

impl Hash for KeyBytes<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write(self.0);
    }
}

/// The lines of whole lines, without their breaks (`\n` or `\r\n`).
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (line, after) = match memchr(b'\n', rest) {
            Some(end) => (&rest[..end], &rest[end + 1..]),
            None => (rest, &rest[rest.len()..]),
        };
        rest = after;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    })
}

/// Cuts whole lines into about `parts` pieces of whole lines.
pub(super) fn pieces(bytes: &[u8], parts: usize) -> Vec<&[u8]> {
    const LEAST: usize = 16 << 10;
    let length = bytes.len().div_ceil(parts).max(LEAST);
    let mut pieces = Vec::with_capacity(parts);
    let mut rest = bytes;
    while rest.len() > length {
        let cut = memchr_iter(b'\n', &rest[length..]).next().map_or(rest.len(), |at| length + at + 1);
        let (piece, after) = rest.split_at(cut);
        pieces.push(piece);
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_either_break_or_at_the_end() {
        let got: Vec<_> = lines(b"a\r\n\nb\rc\nlast").collect();
        assert_eq!(got, [&b"a"[..], b"", b"b\rc", b"last"]);
        assert_eq!(lines(b"").count(), 0);
    }

    #[test]
    fn pieces_are_whole_lines_and_together_everything() {
        let text: Vec<u8> = (0..20_000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        let cut = pieces(&text, 4);
        assert!(cut.len() > 2 && cut.len() <= 4);
        assert!(cut.iter().all(|piece| piece.ends_with(b"\n")));
        assert_eq!(cut.concat(), text);
        assert_eq!(pieces(b"no break", 4), [b"no break"]);
    }
}
