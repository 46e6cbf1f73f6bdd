//! When a client may try again: what a server asks for is read, turned into one instant, and obeyed.
//!
//! ```text
//! parse    bytes of Retry-After   → seconds or a date; nothing, where it cannot be read
//! resolve  with Date, Age, clock  → one wait, counted from when the response came
//! plan     with backoff and gate  → RetryAt an instant, or Stop and why
//! ```
//!
//! The instant is `max(now + backoff, signal, gate) + spread`, and the spread is never negative. So **nothing moves an attempt
//! before the boundary**: jitter shapes the backoff alone, and a deadline or a longest wait that is in the way stops the call, at
//! once and without waiting, instead of sending early.
//!
//! There is no I/O in here, no thread and no sleep. Time and chance are parameters, so the same seed makes the same plans. Whoever
//! has a connection follows the plans: asks [`Attempts::ready`], sleeps, sends, tells [`Attempts::after`].
//!
//! | you want | use |
//! |---|---|
//! | one planner for all callers of a service | [`Retry`] |
//! | to send one request, as often as is allowed | [`Retry::start`], with the reason why it may be sent twice: [`Safety`] |
//! | no more retries than a service can bear | [`RetryBuilder::budget`], a [`TokenBucket`](crate::TokenBucket) |
//! | a 429 to hold everybody that it is meant for | [`RetryBuilder::gate`], a [`Gate`] |
//! | it all done, by a layer of tower or by reqwest | `retry::tower::RetryLayer` (feature `retry-tower`), `retry::reqwest::RetryClient` (feature `retry-reqwest`) |
//! | to see what it would do | [`Retry::schedule`] |
//! | the header alone | [`RetryAfter::parse`], [`Response::signal`] |
//!
//! # What is tried again
//!
//! | outcome | is tried again |
//! |---|---|
//! | 429, 503 | with or without a `Retry-After`, if it is safe to send twice |
//! | 3xx (not 304) with a `Retry-After` | it is the redirected request that waits; safe, because the server asks for it |
//! | no response, nothing sent | always |
//! | no response, perhaps sent | if it is safe to send twice |
//! | any other status | never: it is an answer |
//!
//! Always within attempts, deadline, longest wait and budget, and never with a body that cannot be sent twice.
//!
//! | file | holds |
//! |---|---|
//! | `parse`, `date`, [`Lenience`] | one value of `Retry-After`; the three forms of a date; what else may be read |
//! | `resolve` | all lines of a response as one [`Signal`] |
//! | [`Backoff`], `random` | the client's own wait; where chance comes from |
//! | `safety`, `outcome` | why it may be sent twice; what became of an attempt |
//! | [`Gate`] | what one caller was told, for all |
//! | `terms`, `plan`, `attempts` | the formula, its result, and the calls that go through it |
//! | `builder`, `error` | what a planner is made of, and what is wrong with that |
//! | [`Schedule`] | what a planner would do |
//! | `tower`, `reqwest`, `unanswered` | who follows the plans; how a call ends that has no response |

mod attempts;
mod backoff;
mod builder;
mod date;
mod error;
mod gate;
mod lenience;
mod outcome;
mod parse;
mod plan;
mod random;
#[cfg(feature = "retry-reqwest")]
pub mod reqwest;
mod resolve;
mod safety;
mod schedule;
mod terms;
#[cfg(feature = "retry-tower")]
pub mod tower;
#[cfg(any(feature = "retry-tower", feature = "retry-reqwest"))]
mod unanswered;

pub use attempts::Attempts;
pub use backoff::{Backoff, Jitter};
pub use builder::{Retry, RetryBuilder};
pub use date::HttpDate;
pub use error::RetryError;
pub use gate::Gate;
pub use lenience::{Lenience, Lenient};
pub use outcome::Outcome;
pub use parse::{RetryAfter, RetryAfterError, Wait};
pub use plan::{Bound, Plan, Reason, RetryAt, Stop};
pub use random::{Random, SeededRandom, SystemRandom};
pub use resolve::{Reference, Response, Signal};
pub use safety::{Body, IdempotencyKey, IdempotentMethod, Safety};
pub use schedule::{Ends, Goes, Schedule, Scheduled};
#[cfg(any(feature = "retry-tower", feature = "retry-reqwest"))]
pub use unanswered::Unanswered;

// A planner that cannot be shared is of no use: this does not compile when a type stops being `Send + Sync`.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Retry>();
    shared::<Attempts>();
    shared::<Gate>();
};
