//! What a budget is called in the store: `prefix:v1:policy:{digest}`.
//!
//! Nothing that a user says is in it but as a digest (the first half of a SHA-256 over what the identity feeds, which is
//! tagged and length-prefixed): braces, colons, globs, newlines and 100 kB of it change neither the slot nor the length.
//! The digest alone is the hash tag, so all limits of one identity are in one slot, and identities spread over all.

use core::fmt::Write as _;
use core::hash::Hasher;
use std::string::String;

use sha2::{Digest as _, Sha256};

use crate::identity::Identity;

/// Tells one state's form from another's, should it ever change.
const VERSION: &str = "v1";

/// Half a SHA-256 of an identity: who it is to a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Digest([u8; 16]);

impl Digest {
    pub(super) fn of(identity: &impl Identity) -> Self {
        let mut sha = Feed(Sha256::new());
        identity.feed(&mut sha);
        let mut half = [0; 16];
        half.copy_from_slice(&sha.0.finalize()[..16]);
        Self(half)
    }

    /// As it is written.
    fn hex(&self) -> [u8; 32] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut hex = [0; 32];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        hex
    }

    /// The cluster slot: that of the hash tag, which is the digest as it is written in the key.
    pub(super) fn slot(&self) -> u16 {
        const CRC: crc::Crc<u16> = crc::Crc::<u16>::new(&crc::CRC_16_XMODEM);
        let mut digest = CRC.digest();
        digest.update(&self.hex());
        digest.finalize() % SLOTS
    }
}

/// Slots of a cluster.
pub(super) const SLOTS: u16 = 1 << 14;

struct Feed(Sha256);

impl Hasher for Feed {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("an identity is fed, and never asked for a hash")
    }
}

/// The part of a policy's keys that all of them have.
pub(super) fn stem(prefix: &str, policy: &str) -> String {
    std::format!("{prefix}:{VERSION}:{policy}:")
}

/// The key of a budget.
pub(super) fn key(stem: &str, digest: &Digest) -> String {
    let mut key = String::with_capacity(stem.len() + 34);
    key.push_str(stem);
    key.push('{');
    key.push_str(core::str::from_utf8(&digest.hex()).unwrap_or_default());
    key.push('}');
    key
}

/// The key that remembers that a lease was given back.
pub(super) fn lease_key(stem: &str, digest: &Digest, id: u128) -> String {
    let mut key = key(stem, digest);
    let _ = write!(key, ":lease:{id:032x}");
    key
}

/// What is wrong with a prefix.
pub(super) fn prefix_fault(prefix: &str) -> Option<String> {
    let fine = (1..=64).contains(&prefix.len())
        && prefix.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':' | b'/'));
    (!fine).then(|| {
        std::format!(
            "prefix: '{}' is not 1 to 64 of letters, digits, '-', '_', '.', ':' and '/'",
            prefix.escape_debug()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::{Account, Tenant};

    #[test]
    fn a_key_is_the_same_in_every_process_and_release() {
        let ann = Digest::of(&Account::new("ann").unwrap());
        let stem = stem("admittance", "api");
        // From `printf '\x01\x03\0\0\0\0\0\0\0ann' | sha256sum`, and the slot from `CLUSTER KEYSLOT` of a server.
        assert_eq!(key(&stem, &ann), "admittance:v1:api:{0c0d4be142b720487113111e09cefb97}");
        assert_eq!(ann.slot(), 8764);
    }

    #[test]
    fn two_joins_of_one_text_are_two_keys() {
        let one = Digest::of(&(Tenant::new("a_b").unwrap(), Account::new("c").unwrap()));
        let other = Digest::of(&(Tenant::new("a").unwrap(), Account::new("b_c").unwrap()));
        assert!(one != other);
    }
}
