//! Who shares one budget.
//!
//! An account, a credential, an address, a tenant and a session are different things, even where they are spelled alike. So
//! they are different types, and what a limiter is told of one is never what it is told of another: each is fed as
//! **tag ‖ length ‖ bytes**, which no two identities have in common, however they are joined.
//!
//! ```
//! use admittance::identity::{Account, Address, Tenant};
//! use admittance::{Budget, Keyed, Overflow};
//!
//! let seats = Keyed::<(Tenant<&str>, Account<&str>)>::builder(Budget::per_minute(100), 10_000, Overflow::Deny).build()?;
//! // `a_b` and `c` are not `a` and `b_c`.
//! assert!(seats.check(&(Tenant::new("a_b")?, Account::new("c")?), 100).is_admitted());
//! assert!(seats.check(&(Tenant::new("a")?, Account::new("b_c")?), 100).is_admitted());
//!
//! // The same client, whichever way its address was written.
//! assert_eq!(Address::new("::ffff:1.2.3.4".parse()?), Address::new("1.2.3.4".parse()?));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Asking about another kind of identity than a table is for does not compile:
//!
//! ```compile_fail
//! use admittance::identity::{Account, Address};
//! use admittance::{Budget, Keyed, Overflow};
//!
//! let accounts = Keyed::<Account<&str>>::builder(Budget::per_minute(100), 10_000, Overflow::Deny).build().unwrap();
//! let _ = accounts.check(&Address::new("1.2.3.4".parse().unwrap()), 1);
//! ```
//!
//! | file | holds |
//! |---|---|
//! | this one | [`Identity`], and pairs |
//! | `named` | [`Account`], [`Tenant`], [`Session`]: what your own system calls somebody |
//! | `credential` | [`Credential`]: a secret, of which nothing is kept |
//! | `address` | [`Address`]: where a request came from |

mod address;
mod credential;
mod named;

use core::fmt;
use core::hash::Hasher;

pub use address::{Address, AddressError};
pub use credential::{Credential, Pepper};
pub use named::{Account, Session, Tenant};

/// What is known of a client, as one budget's key.
///
/// The types of this module have it, and pairs and triples of them.
pub trait Identity {
    /// What kind of identity it is: what a limiter of it can be asked about, whoever owns the bytes.
    type Kind: Kind;

    /// Feeds tag ‖ length ‖ bytes to `to`, by [`Hasher::write`] alone: to a table's hash, to a digest, to a list of bytes.
    fn feed(&self, to: &mut impl Hasher);
}

impl<I: Identity> Identity for &I {
    type Kind = I::Kind;

    #[inline]
    fn feed(&self, to: &mut impl Hasher) {
        (**self).feed(to);
    }
}

/// A kind of identity: a type without values, that names it.
pub trait Kind {
    /// Tells the parts' names in order, as a policy says them: `tenant`, `account`.
    fn names(tell: &mut impl FnMut(&'static str));
}

/// The kinds there are. A pair's is the pair of them.
pub mod kind {
    use super::Kind;

    macro_rules! kinds {
        ($($(#[$attr:meta])* $name:ident $said:literal)*) => {$(
            $(#[$attr])*
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}

            impl Kind for $name {
                fn names(tell: &mut impl FnMut(&'static str)) {
                    tell($said);
                }
            }
        )*};
    }

    kinds! {
        /// An [`Account`](super::Account).
        Account "account"
        /// A [`Credential`](super::Credential).
        Credential "credential"
        /// An [`Address`](super::Address).
        Address "address"
        /// A [`Tenant`](super::Tenant).
        Tenant "tenant"
        /// A [`Session`](super::Session).
        Session "session"
    }
}

/// What an identity's encoding begins with.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Tag {
    Account = 1,
    Credential = 2,
    Address = 3,
    Tenant = 4,
    Session = 5,
    Pair = 6,
    Triple = 7,
}

/// Bytes before an identity's own: the tag, and the length in eight.
const HEAD: usize = 9;

/// The longest of the identities whose length is known where they are compiled.
const FEW: usize = 17;

impl Tag {
    /// Feeds the tag and the length in one call, and the bytes in another.
    #[inline]
    fn feed(self, bytes: &[u8], to: &mut impl Hasher) {
        to.write(&self.head(bytes.len()));
        to.write(bytes);
    }

    /// Feeds the same in one call: of a length that is known where it is compiled nothing is left of a hasher's branches.
    #[inline]
    fn feed_few<const N: usize>(self, bytes: [u8; N], to: &mut impl Hasher) {
        const { assert!(N <= FEW, "there is room for it") };
        let mut all = [0; HEAD + FEW];
        all[..HEAD].copy_from_slice(&self.head(N));
        all[HEAD..HEAD + N].copy_from_slice(&bytes);
        to.write(&all[..HEAD + N]);
    }

    #[inline]
    fn head(self, length: usize) -> [u8; HEAD] {
        let mut head = [0; HEAD];
        head[0] = self as u8;
        head[1..].copy_from_slice(&(length as u64).to_le_bytes());
        head
    }
}

/// A pair's encoding is its own tag, and then both parts': each says its length, so no two pairs have one in common.
impl<A: Identity, B: Identity> Identity for (A, B) {
    type Kind = (A::Kind, B::Kind);

    #[inline]
    fn feed(&self, to: &mut impl Hasher) {
        to.write(&[Tag::Pair as u8]);
        self.0.feed(to);
        self.1.feed(to);
    }
}

impl<A: Identity, B: Identity, C: Identity> Identity for (A, B, C) {
    type Kind = (A::Kind, B::Kind, C::Kind);

    #[inline]
    fn feed(&self, to: &mut impl Hasher) {
        to.write(&[Tag::Triple as u8]);
        self.0.feed(to);
        self.1.feed(to);
        self.2.feed(to);
    }
}

impl<A: Kind, B: Kind> Kind for (A, B) {
    fn names(tell: &mut impl FnMut(&'static str)) {
        A::names(tell);
        B::names(tell);
    }
}

impl<A: Kind, B: Kind, C: Kind> Kind for (A, B, C) {
    fn names(tell: &mut impl FnMut(&'static str)) {
        A::names(tell);
        B::names(tell);
        C::names(tell);
    }
}

/// An identity of no bytes. It would put everybody of whom nothing is known into one bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmptyIdentity {
    kind: &'static str,
}

impl EmptyIdentity {
    const fn of(kind: &'static str) -> Self {
        Self { kind }
    }

    /// Which kind was empty: `account`, `credential`, `tenant` or `session`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        self.kind
    }
}

impl fmt::Display for EmptyIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: is empty, and would put all clients without one into one bucket; decide what to do about them before",
            self.kind
        )
    }
}

impl core::error::Error for EmptyIdentity {}

/// Hashes an identity as what it feeds, and compares by it: so that an identity is a key of any map as it is of a table.
macro_rules! hash_by_feeding {
    ($name:ty $(, $($of:tt)*)?) => {
        impl $(<$($of)*>)? core::hash::Hash for $name {
            #[inline]
            fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
                $crate::identity::Identity::feed(self, state);
            }
        }
    };
}
use hash_by_feeding;
