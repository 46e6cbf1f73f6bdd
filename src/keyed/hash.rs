//! What a key feeds, hashed in words.
//!
//! SipHash-1-3 takes eight bytes at a time, and its streaming hasher keeps what does not fill them. Of a key whose length
//! is known where it is compiled (a number, an array, an address) nothing of that should be left but the rounds. The
//! library's own `write` is too long to be inlined, so that its state goes through memory: here bytes are put together to
//! words, and words alone are handed on, which the compiler can follow.
//!
//! The values are those of SipHash-1-3 over the same bytes, however they were cut into calls.

use core::hash::Hasher;

use siphasher::sip::SipHasher13;

/// SipHash-1-3 of what it is fed.
#[derive(Debug)]
pub(crate) struct KeyHasher {
    /// Has been fed whole words.
    sip: SipHasher13,
    /// Bytes that do not fill a word yet, the first of them lowest.
    tail: u64,
    /// How many: 7 at most.
    held: u32,
}

impl KeyHasher {
    #[inline(always)]
    pub(super) fn new([one, other]: [u64; 2]) -> Self {
        // Made anew: four words that are computed in registers, where a copy of a hasher would be one of memory.
        Self { sip: SipHasher13::new_with_keys(one, other), tail: 0, held: 0 }
    }

    /// Takes `count` bytes, 8 at most, the first of them lowest. Above them `bytes` is 0.
    #[inline(always)]
    fn take(&mut self, bytes: u64, count: u32) {
        let shift = 8 * self.held;
        self.tail |= bytes << shift;
        let held = self.held + count;
        if held < 8 {
            self.held = held;
            return;
        }
        // The library feeds numbers as they stand in memory.
        self.sip.write_u64(u64::from_le(self.tail));
        // What the shift has pushed out.
        self.tail = if shift == 0 { 0 } else { bytes >> (64 - shift) };
        self.held = held - 8;
    }
}

impl Hasher for KeyHasher {
    #[inline(always)]
    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.take(word.try_into().map_or(0, u64::from_le_bytes), 8);
        }
        let rest = words.remainder();
        if !rest.is_empty() {
            let count = rest.len() as u32;
            // Where there are eight bytes the last eight are read again: no branch on how many are left.
            let number = match bytes.last_chunk() {
                Some(last) => u64::from_le_bytes(*last) >> (64 - 8 * count),
                None => few(rest),
            };
            self.take(number, count);
        }
    }

    #[inline(always)]
    fn write_u8(&mut self, number: u8) {
        self.take(number.into(), 1);
    }

    #[inline(always)]
    fn write_u16(&mut self, number: u16) {
        self.take(number.to_le().into(), 2);
    }

    #[inline(always)]
    fn write_u32(&mut self, number: u32) {
        self.take(number.to_le().into(), 4);
    }

    #[inline(always)]
    fn write_u64(&mut self, number: u64) {
        self.take(number.to_le(), 8);
    }

    #[inline(always)]
    fn write_usize(&mut self, number: usize) {
        self.take(number.to_le() as u64, usize::BITS / 8);
    }

    #[inline(always)]
    fn finish(&self) -> u64 {
        let (mut sip, mut tail) = (self.sip, self.tail);
        if self.held & 4 != 0 {
            sip.write_u32(u32::from_le(tail as u32));
            tail >>= 32;
        }
        if self.held & 2 != 0 {
            sip.write_u16(u16::from_le(tail as u16));
            tail >>= 16;
        }
        if self.held & 1 != 0 {
            sip.write_u8(tail as u8);
        }
        sip.finish()
    }
}

/// Less than eight bytes as a number, the first of them lowest.
#[inline]
fn few(mut bytes: &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    if let Some((four, rest)) = bytes.split_first_chunk() {
        number = u32::from_le_bytes(*four).into();
        (bytes, shift) = (rest, 32);
    }
    if let Some((two, rest)) = bytes.split_first_chunk() {
        number |= u64::from(u16::from_le_bytes(*two)) << shift;
        (bytes, shift) = (rest, shift + 16);
    }
    if let [one] = bytes {
        number |= u64::from(*one) << shift;
    }
    number
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One call of a key's.
    #[derive(Clone, Debug)]
    enum Call {
        Bytes(Vec<u8>),
        One(u8),
        Two(u16),
        Four(u32),
        Eight(u64),
        Sixteen(u128),
        Size(usize),
    }

    impl Call {
        fn feed(&self, to: &mut impl Hasher) {
            match self {
                Self::Bytes(bytes) => to.write(bytes),
                Self::One(number) => to.write_u8(*number),
                Self::Two(number) => to.write_u16(*number),
                Self::Four(number) => to.write_u32(*number),
                Self::Eight(number) => to.write_u64(*number),
                Self::Sixteen(number) => to.write_u128(*number),
                Self::Size(number) => to.write_usize(*number),
            }
        }
    }

    fn call() -> impl Strategy<Value = Call> {
        prop_oneof![
            3 => prop::collection::vec(any::<u8>(), 0..40).prop_map(Call::Bytes),
            1 => any::<u8>().prop_map(Call::One),
            1 => any::<u16>().prop_map(Call::Two),
            1 => any::<u32>().prop_map(Call::Four),
            1 => any::<u64>().prop_map(Call::Eight),
            1 => any::<u128>().prop_map(Call::Sixteen),
            1 => any::<usize>().prop_map(Call::Size),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 8 } else { 4_000 }))]

        #[test]
        fn it_is_the_librarys_siphash(seed: [u64; 2], calls in prop::collection::vec(call(), 0..8)) {
            let (mut ours, mut theirs) = (KeyHasher::new(seed), SipHasher13::new_with_keys(seed[0], seed[1]));
            for call in &calls {
                call.feed(&mut ours);
                call.feed(&mut theirs);
                prop_assert_eq!(ours.finish(), theirs.finish(), "{:?}", calls);
            }
        }
    }
}
