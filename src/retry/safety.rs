//! Why a request may be sent twice. There is no default: whoever starts a call says it.

use core::fmt;
use std::string::String;

use super::error::RetryError;
use super::outcome::Outcome;

/// Why it is safe to send the request again although it may have been carried out.
///
/// ```
/// use admittance::retry::{IdempotencyKey, IdempotentMethod, Safety};
///
/// let get = Safety::IdempotentMethod(IdempotentMethod::GET);
/// let paid_once = Safety::Keyed { key: IdempotencyKey::new("order-7f3a")? };
/// let told = Safety::Asserted("search is a POST that changes nothing");
/// assert!(IdempotentMethod::new("POST").is_err());
/// # Ok::<(), admittance::retry::RetryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Safety {
    /// It is not. It is sent again only when it was certainly not sent: [`Outcome::NotSent`]. A plain `POST` is this, and stops
    /// at a 503.
    NotSent,
    /// Its method says so.
    IdempotentMethod(IdempotentMethod),
    /// The server knows it by this key, which goes with every attempt and is the same in all of them:
    /// [`Attempts::key`](super::Attempts::key).
    Keyed {
        /// The key.
        key: IdempotencyKey,
    },
    /// Somebody knows that it is, for a reason that stands in the code.
    Asserted(&'static str),
}

impl Safety {
    /// What the method alone says: [`IdempotentMethod`](Self::IdempotentMethod), or [`NotSent`](Self::NotSent) for any that is not
    /// known to be idempotent.
    #[must_use]
    pub fn of_method(method: &str) -> Self {
        IdempotentMethod::new(method).map_or(Self::NotSent, Self::IdempotentMethod)
    }

    /// Whether the request may go again after this.
    pub(super) fn allows(&self, outcome: &Outcome<'_>) -> bool {
        match outcome {
            Outcome::NotSent => true,
            // The server asks for another request, and does not know this one as undone.
            Outcome::Response(response) if is_redirect(response.status()) => true,
            Outcome::Response(_) | Outcome::Lost => *self != Self::NotSent,
        }
    }
}

/// A redirect: 3xx, but not 304, which is an answer.
pub(super) const fn is_redirect(status: u16) -> bool {
    matches!(status, 300..=303 | 305..=399)
}

/// A method that does the same whether it is carried out once or twice (RFC 9110, section 9.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IdempotentMethod(&'static str);

impl IdempotentMethod {
    /// `GET`.
    pub const GET: Self = Self("GET");
    /// `HEAD`.
    pub const HEAD: Self = Self("HEAD");
    /// `OPTIONS`.
    pub const OPTIONS: Self = Self("OPTIONS");
    /// `TRACE`.
    pub const TRACE: Self = Self("TRACE");
    /// `PUT`.
    pub const PUT: Self = Self("PUT");
    /// `DELETE`.
    pub const DELETE: Self = Self("DELETE");

    /// The method of this name, in capitals as HTTP writes it.
    ///
    /// # Errors
    ///
    /// When it is none of the six. Of a method that is idempotent and not among them say [`Safety::Asserted`].
    pub fn new(name: &str) -> Result<Self, RetryError> {
        [Self::GET, Self::HEAD, Self::OPTIONS, Self::TRACE, Self::PUT, Self::DELETE]
            .into_iter()
            .find(|method| method.0 == name)
            .ok_or_else(|| RetryError::method(name))
    }

    /// Its name.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        self.0
    }
}

/// What a server knows a request by, so that it carries it out once however often it comes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// # Errors
    ///
    /// When it is not 1 to 255 visible ASCII characters, and so would not fit in a header line as it is.
    pub fn new(key: impl Into<String>) -> Result<Self, RetryError> {
        let key = key.into();
        if (1..=255).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(key))
        } else {
            Err(RetryError::key(&key))
        }
    }

    /// The key.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IdempotencyKey").field(&self.0).finish()
    }
}

/// Whether the request's body can be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Body {
    /// There is none, or it is at hand and can be sent as often as needed.
    Repeatable,
    /// It is used up by the first attempt, or begins to be: a stream. There is no second attempt, but for the `GET` that
    /// follows a 303.
    Once,
}
