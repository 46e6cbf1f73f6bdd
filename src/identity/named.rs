//! What your own system calls somebody.

use core::fmt;
use core::hash::Hasher;
use std::string::String;

use super::{EmptyIdentity, Identity, Tag, hash_by_feeding, kind};

macro_rules! named {
    ($(#[$attr:meta])* $name:ident, $said:literal) => {
        $(#[$attr])*
        ///
        /// Made of anything that has bytes: of a `&str` without a copy, or of a `String` to be kept. Both are of one kind.
        #[derive(Clone, Copy)]
        pub struct $name<T = String>(T);

        impl<T: AsRef<[u8]>> $name<T> {
            /// The identity of these bytes, as they are: what your system takes for one, spell in one way before.
            ///
            /// # Errors
            ///
            /// When there are none.
            pub fn new(bytes: T) -> Result<Self, EmptyIdentity> {
                if bytes.as_ref().is_empty() { Err(EmptyIdentity::of($said)) } else { Ok(Self(bytes)) }
            }

            /// The bytes.
            #[must_use]
            pub fn as_bytes(&self) -> &[u8] {
                self.0.as_ref()
            }

            /// The same identity, borrowed.
            #[must_use]
            pub fn borrowed(&self) -> $name<&[u8]> {
                $name(self.0.as_ref())
            }
        }

        impl<T: AsRef<[u8]>> Identity for $name<T> {
            type Kind = kind::$name;

            #[inline]
            fn feed(&self, to: &mut impl Hasher) {
                Tag::$name.feed(self.0.as_ref(), to);
            }
        }

        impl<T: AsRef<[u8]>, U: AsRef<[u8]>> PartialEq<$name<U>> for $name<T> {
            fn eq(&self, other: &$name<U>) -> bool {
                self.as_bytes() == other.as_bytes()
            }
        }

        impl<T: AsRef<[u8]>> Eq for $name<T> {}

        hash_by_feeding!($name<T>, T: AsRef<[u8]>);

        impl<T: AsRef<[u8]>> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}(\"{}\")", stringify!($name), self.as_bytes().escape_ascii())
            }
        }
    };
}

named!(
    /// Somebody who has an account with you: what survives a new password, a new device, a new address.
    Account,
    "account"
);
named!(
    /// An organisation that accounts belong to.
    Tenant,
    "tenant"
);
named!(
    /// One sign-in of somebody. Ends, and the next one is another: whoever can begin sessions at will has a bucket for each.
    Session,
    "session"
);
