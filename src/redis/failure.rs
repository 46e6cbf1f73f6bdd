//! Why the store did not decide.

use core::fmt;
use std::string::ToString;
use std::sync::Arc;

use ::redis::{ErrorKind, RedisError, ServerErrorKind};

/// Why a decision was made without the store, or a store could not be opened.
///
/// Cheap to clone: it is told of every decision while a store is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreFailure {
    kind: FailureKind,
    detail: Arc<str>,
    may_have_been_charged: bool,
}

/// The kinds of failures, by what to do about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// No answer within the deadline. The call may have been executed, or may be yet: it is not sent again.
    Timeout,
    /// There is no connection, and nothing was sent; or it broke, and the call may have been executed.
    Unreachable,
    /// The server is a replica, or refuses writes for another reason.
    ReadOnly,
    /// The server has no memory left, and evicts nothing (`maxmemory` with `noeviction`).
    OutOfMemory,
    /// The server's user may not run the scripts, or not touch the keys.
    NotPermitted,
    /// Somebody else's value is under the key.
    WrongValue,
    /// The server or the cluster is not ready: loading, busy with a script, a slot that nobody serves.
    NotReady,
    /// The server is not known by its certificate, or this client not by its own; or there is no TLS at that port.
    Tls,
    /// What was said of the store cannot be: its URL, a prefix, a certificate.
    Invalid,
    /// The server answered what none of these is.
    Other,
}

impl StoreFailure {
    pub(super) fn new(kind: FailureKind, detail: impl Into<Arc<str>>) -> Self {
        let may_have_been_charged = matches!(kind, FailureKind::Timeout | FailureKind::Unreachable);
        Self { kind, detail: detail.into(), may_have_been_charged }
    }

    /// Of this kind, and nothing was sent.
    pub(super) fn unsent(mut self) -> Self {
        self.may_have_been_charged = false;
        self
    }

    /// Whether it is about who the user is, and not about what that one may do.
    pub(super) fn is_of_password(&self) -> bool {
        ["WRONGPASS", "NOAUTH", "AuthenticationFailed"].iter().any(|code| self.detail.contains(code))
    }

    /// The same; where it is a refusal of TLS's, of that kind.
    pub(super) fn of_alert(mut self) -> Self {
        if self.detail.contains("received fatal alert") {
            self.kind = FailureKind::Tls;
        }
        self
    }

    /// The same, in more words.
    pub(super) fn with_advice(mut self, advice: &str) -> Self {
        self.detail = std::format!("{}; {advice}", self.detail).into();
        self
    }

    /// What kind of failure it is.
    #[must_use]
    pub const fn kind(&self) -> FailureKind {
        self.kind
    }

    /// Whether the call may have been executed in spite of it: tokens may be spent. Never where there was no connection, and
    /// never where the server said that it refused.
    #[must_use]
    pub const fn may_have_been_charged(&self) -> bool {
        self.may_have_been_charged
    }

    /// In the server's words, or the system's.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

impl From<&RedisError> for StoreFailure {
    fn from(error: &RedisError) -> Self {
        let kind = match error.kind() {
            ErrorKind::Server(ServerErrorKind::ReadOnly) => FailureKind::ReadOnly,
            ErrorKind::Server(ServerErrorKind::NoPerm) | ErrorKind::AuthenticationFailed => FailureKind::NotPermitted,
            ErrorKind::Server(
                ServerErrorKind::BusyLoading
                | ServerErrorKind::ClusterDown
                | ServerErrorKind::MasterDown
                | ServerErrorKind::TryAgain
                | ServerErrorKind::Moved
                | ServerErrorKind::Ask,
            ) => FailureKind::NotReady,
            _ if error.is_timeout() => FailureKind::Timeout,
            ErrorKind::Io | ErrorKind::Parse => FailureKind::Unreachable,
            _ => match error.code() {
                Some("OOM") => FailureKind::OutOfMemory,
                Some("NOAUTH" | "WRONGPASS") => FailureKind::NotPermitted,
                Some("WRONGTYPE" | "ADMITTANCE") => FailureKind::WrongValue,
                Some("BUSY" | "NOREPLICAS" | "MISCONF") => FailureKind::NotReady,
                // From within a script an error is told with its code in the text.
                _ => in_script(&error.to_string()),
            },
        };
        Self::new(kind, error.to_string())
    }
}

fn in_script(text: &str) -> FailureKind {
    const CODES: [(&str, FailureKind); 8] = [
        ("OOM ", FailureKind::OutOfMemory),
        ("WRONGTYPE ", FailureKind::WrongValue),
        ("ADMITTANCE ", FailureKind::WrongValue),
        ("READONLY ", FailureKind::ReadOnly),
        ("NOPERM ", FailureKind::NotPermitted),
        // Redis 6.2; Redis 7; Valkey.
        ("can't run this command or subcommand", FailureKind::NotPermitted),
        ("ACL failure in script", FailureKind::NotPermitted),
        ("command not allowed when used memory", FailureKind::OutOfMemory),
    ];
    CODES.iter().find(|(code, _)| text.contains(code)).map_or(FailureKind::Other, |(_, kind)| *kind)
}

impl fmt::Display for StoreFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            FailureKind::Timeout => "the store did not answer in time",
            FailureKind::Unreachable => "the store is not reachable",
            FailureKind::ReadOnly => "the store is read-only",
            FailureKind::OutOfMemory => "the store has no memory left",
            FailureKind::NotPermitted => "the store does not permit it",
            FailureKind::WrongValue => "the store has another value under the key",
            FailureKind::NotReady => "the store is not ready",
            FailureKind::Tls => "no TLS with the store",
            FailureKind::Invalid => "the store cannot be opened as it was said",
            FailureKind::Other => "the store answered with an error",
        };
        write!(f, "{kind}")?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

impl std::error::Error for StoreFailure {}
