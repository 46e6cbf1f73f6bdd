//! What is left of a limit, as header fields of a response.
//!
//! | file | holds |
//! |---|---|
//! | this one | [`RateLimitFields`] |
//! | `dialect` | [`Dialect`]: which fields there are, and their names |
//! | `quota` | [`Quota`]: what a policy's limit is in these fields' words |
//! | `list`, `dictionary`, `three`, `legacy` | how each dialect is written |
//! | `error` | what is wrong with a quota, or with several |

mod dialect;
mod dictionary;
mod error;
mod legacy;
mod list;
mod quota;
mod three;

use core::time::Duration;
use std::string::String;
use std::time::SystemTime;
use std::vec::Vec;

use ::http::{HeaderMap, HeaderValue};
pub use dialect::{Dialect, Reset, cors_expose};
use error::Fault;
pub use error::FieldsError;
pub use quota::Quota;
use sfv::Integer;

use super::seconds_up;

/// Writes what is left of a limit into responses' headers, in one [`Dialect`].
///
/// All quotas are told in the policy field, whose value is made once; of them, the one that binds is told with what is left
/// of it. Values are structured fields (RFC 9651): whole numbers, at most 15 digits (what is larger is told as
/// 999 999 999 999 999).
///
/// ```
/// use std::time::Duration;
/// use admittance::http::{Dialect, Quota, RateLimitFields, Standing};
///
/// let quotas = [
///     Quota::new("burst", 10, Duration::from_secs(1))?,
///     Quota::new("daily", 1000, Duration::from_secs(86_400))?,
/// ];
/// let fields = RateLimitFields::new(Dialect::DraftList, quotas)?;
/// let mut headers = http::HeaderMap::new();
/// fields.write(&mut headers, Standing { binding: 1, remaining: 3, reset_after: Duration::from_secs(3600) });
/// assert_eq!(headers["ratelimit-policy"], r#""burst";q=10;w=1, "daily";q=1000;w=86400"#);
/// assert_eq!(headers["ratelimit"], r#""daily";r=3;t=3600"#);
/// # Ok::<(), admittance::http::FieldsError>(())
/// ```
///
/// # What it does not promise
///
/// That what is left stays left: other requests spend it. And the numbers are told to whoever asks: a limit that is nobody's
/// business wants no fields.
#[derive(Clone, Debug)]
pub struct RateLimitFields {
    dialect: Dialect,
    quotas: Vec<Quota>,
    /// The value of `RateLimit-Policy`, where the dialect has it.
    policy: Option<HeaderValue>,
}

/// Where a client stands with the quota that binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Which of the quotas that the fields were made of: the one that denied, or that has the least left.
    pub binding: usize,
    /// Tokens left.
    pub remaining: u64,
    /// Until there is more: of a denial its wait, so that the field and `Retry-After` are one number. Told in seconds,
    /// rounded up.
    pub reset_after: Duration,
}

impl RateLimitFields {
    /// Fields of these quotas.
    ///
    /// # Errors
    ///
    /// When there are none, or two of one name.
    pub fn new(dialect: Dialect, quotas: impl IntoIterator<Item = Quota>) -> Result<Self, FieldsError> {
        let quotas: Vec<Quota> = quotas.into_iter().collect();
        if quotas.is_empty() {
            return Err(FieldsError::new(Fault::None));
        }
        for (number, quota) in quotas.iter().enumerate() {
            if quotas[..number].iter().any(|other| other.name() == quota.name()) {
                return Err(FieldsError::new(Fault::Twice(quota.name().into())));
            }
        }
        let policy = match dialect {
            Dialect::DraftList => Some(list::policy(&quotas)),
            Dialect::DraftDictionary | Dialect::DraftThreeFields => Some(dictionary::policy(&quotas)),
            Dialect::Legacy { .. } => None,
        };
        Ok(Self { dialect, quotas, policy: policy.map(value) })
    }

    /// The dialect.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The quotas, in the order they were given.
    #[must_use]
    pub fn quotas(&self) -> &[Quota] {
        &self.quotas
    }

    /// Writes the fields, in place of any that were there. Reads the time of day where the dialect tells it
    /// ([`Reset::UnixTime`]), and never else.
    ///
    /// # Panics
    ///
    /// When `standing.binding` is not one of the quotas.
    pub fn write(&self, headers: &mut HeaderMap, standing: Standing) {
        self.write_with(headers, standing, SystemTime::now);
    }

    /// As [`write`](Self::write), at this time of day.
    ///
    /// # Panics
    ///
    /// When `standing.binding` is not one of the quotas.
    pub fn write_at(&self, headers: &mut HeaderMap, standing: Standing, now: SystemTime) {
        self.write_with(headers, standing, || now);
    }

    fn write_with(&self, headers: &mut HeaderMap, standing: Standing, now: impl FnOnce() -> SystemTime) {
        let quota = &self.quotas[standing.binding];
        if let Some(policy) = &self.policy {
            headers.insert(dialect::POLICY.clone(), policy.clone());
        }
        let (remaining, reset) = (integer(standing.remaining), integer(seconds_up(standing.reset_after)));
        match self.dialect {
            Dialect::DraftList => list::write(headers, quota, remaining, reset),
            Dialect::DraftDictionary => dictionary::write(headers, quota, remaining, reset),
            Dialect::DraftThreeFields => three::write(headers, &dialect::THREE, [quota.limit(), remaining, reset]),
            Dialect::Legacy { reset: unit } => {
                let reset = match unit {
                    Reset::Seconds => reset,
                    Reset::UnixTime => integer(legacy::unix_time(now(), standing.reset_after)),
                };
                three::write(headers, &dialect::LEGACY, [quota.limit(), remaining, reset]);
            }
        }
    }
}

/// The number, or the largest there is in a structured field.
fn integer(number: u64) -> Integer {
    Integer::try_from(number).unwrap_or(Integer::MAX)
}

/// A structured field as a header's value.
fn value(field: String) -> HeaderValue {
    HeaderValue::try_from(field).expect("a structured field is visible ASCII and spaces")
}
