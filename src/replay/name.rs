//! A key's bytes, beside its state rather than behind a pointer.

use std::fmt;
use std::ops::Deref;

/// What fits without an allocation: every IPv4 address and most IPv6 ones. The whole is as large as this and one more byte,
/// rounded up to a pointer's alignment.
const SHORT: usize = 22;

/// Bytes that are written once.
///
/// Most of a replay is spent waiting for a key's cache lines: one that is found together with its state is one line, not two.
pub(super) enum Name {
    Short { length: u8, bytes: [u8; SHORT] },
    Long(Box<[u8]>),
}

impl From<&[u8]> for Name {
    fn from(name: &[u8]) -> Self {
        if name.len() > SHORT {
            return Self::Long(name.into());
        }
        let mut bytes = [0; SHORT];
        bytes[..name.len()].copy_from_slice(name);
        Self::Short { length: name.len() as u8, bytes }
    }
}

impl From<Name> for Vec<u8> {
    fn from(name: Name) -> Self {
        match name {
            Name::Long(bytes) => bytes.into_vec(),
            short @ Name::Short { .. } => short.to_vec(),
        }
    }
}

impl Deref for Name {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Short { length, bytes } => &bytes[..usize::from(*length)],
            Self::Long(bytes) => bytes,
        }
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_its_bytes_at_every_length() {
        let bytes: Vec<u8> = (0..=255).collect();
        for length in 0..=bytes.len() {
            assert_eq!(*Name::from(&bytes[..length]), bytes[..length]);
        }
        assert_ne!(*Name::from(&b"a"[..]), *Name::from(&b"a\0"[..]));
        assert_eq!(size_of::<Name>(), 24);
    }
}
