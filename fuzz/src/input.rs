//! Bytes as numbers. Any bytes mean something, most numbers are short, and the awkward ones are near each other, so that
//! the fuzzer finds them and `make-seeds` can write them.
//!
//! | first byte | number |
//! |---|---|
//! | `0x00 ..= 0x3f` | itself |
//! | `0x40 ..= 0x7f` | 2 to the power of its low six bits, plus the next byte as a signed offset |
//! | `0x80 ..= 0xbf` | the next 1 to 8 bytes, as many as its low three bits and one more, little-endian |
//! | `0xc0 ..= 0xff` | the entry of the context's table at its low six bits, modulo the table's length |

/// What is left of the bytes.
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl Input<'_> {
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// The next number; missing bytes are 0. `table` holds the numbers that matter here, and is not empty.
    pub(crate) fn number(&mut self, table: &[u64]) -> Option<u64> {
        let first = self.byte()?;
        let low = first & 0x3f;
        Some(match first >> 6 {
            0 => low.into(),
            1 => (1_u64 << low).saturating_add_signed(self.byte().unwrap_or(0).cast_signed().into()),
            2 => (0..=low & 7).fold(0, |number, place| number | u64::from(self.byte().unwrap_or(0)) << (8 * place)),
            _ => table[usize::from(low) % table.len()],
        })
    }
}
