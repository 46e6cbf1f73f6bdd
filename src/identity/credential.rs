//! A secret that stands for somebody, of which nothing is kept.

use core::fmt;
use core::hash::Hasher;

use siphasher::sip128::{Hasher128, SipHasher24};

use super::{EmptyIdentity, Identity, Tag, hash_by_feeding, kind};

/// What credentials are digested with: sixteen bytes that are secret too.
///
/// Without it a digest is of no use to somebody who finds it in a store or a log: they cannot try passwords against it. All
/// processes that share a budget must have the same one. Prints as nothing.
#[derive(Clone)]
pub struct Pepper([u8; 16]);

impl Pepper {
    /// These bytes, from wherever you keep secrets.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Random bytes of the system's, for budgets of this process alone: after a restart all credentials are new.
    #[must_use]
    pub fn random() -> Self {
        use std::hash::{BuildHasher, RandomState};
        let half = || RandomState::new().build_hasher().finish().to_le_bytes();
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&half());
        bytes[8..].copy_from_slice(&half());
        Self(bytes)
    }
}

impl fmt::Debug for Pepper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pepper(..)")
    }
}

/// An API key, a token, a certificate: what a client proves itself with.
///
/// Keeps a digest of 128 bits (SipHash-2-4 under the [`Pepper`]) and never the secret; prints as nothing.
///
/// ```
/// use admittance::identity::{Credential, Pepper};
///
/// let pepper = Pepper::random();
/// let key = Credential::new("sk_live_51H", &pepper)?;
/// assert_eq!(key, Credential::new(b"sk_live_51H", &pepper)?);
/// assert_eq!(format!("{key:?}"), "Credential(..)");
/// # Ok::<(), admittance::identity::EmptyIdentity>(())
/// ```
///
/// Where one client may have many keys at will, a budget a key is a budget at will: limit the [`Account`](super::Account).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Credential([u8; 16]);

impl Credential {
    /// The identity of whoever has this secret.
    ///
    /// # Errors
    ///
    /// When it is empty.
    pub fn new(secret: impl AsRef<[u8]>, pepper: &Pepper) -> Result<Self, EmptyIdentity> {
        let secret = secret.as_ref();
        if secret.is_empty() {
            return Err(EmptyIdentity::of("credential"));
        }
        let mut digest = SipHasher24::new_with_key(&pepper.0);
        digest.write(secret);
        Ok(Self(digest.finish128().as_bytes()))
    }
}

impl Identity for Credential {
    type Kind = kind::Credential;

    #[inline]
    fn feed(&self, to: &mut impl Hasher) {
        Tag::Credential.feed_few(self.0, to);
    }
}

hash_by_feeding!(Credential);

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential(..)")
    }
}
