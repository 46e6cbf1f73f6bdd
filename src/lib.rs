//! A rate limit as a **budget for admitted work**, enforced where the request is, at the cost of one compare-and-swap.
//!
//! ```
//! use admittance::{Budget, Decision, TokenBucket};
//!
//! let bucket = TokenBucket::new(Budget::per_second(4000));
//! match bucket.try_acquire(1) {
//!     Decision::Admitted(permit) => println!("go; {} left", permit.remaining()),
//!     Decision::Denied(denial) => println!("come back in {:?}", denial.retry_after()),
//!     Decision::Never => println!("costs more than the bucket ever holds"),
//! }
//! ```
//!
//! # What is here
//!
//! | you want | use |
//! |---|---|
//! | bursts up to a capacity, a steady refill | [`TokenBucket`] |
//! | so many in each aligned window | [`FixedWindow`] |
//! | to wait your turn instead of being denied | [`TokenBucket::wait`], `wait_async`; or [`TokenBucket::reserve`] and your own sleep |
//! | the hottest path, many threads on one budget | a [`Lease`] a thread |
//! | as much as there is | [`TokenBucket::try_acquire_up_to`] |
//! | "10 a second *and* 1000 an hour" | [`AllOf`] |
//! | a budget for each caller, millions of them | [`Keyed`] |
//! | to say all of a limit in a file, and have it done | [`Policy`] and [`Limiter`] |
//! | one budget in many processes | `redis::SharedLimiter` (feature `redis`) |
//! | a limit in front of axum, hyper, tonic | `tower::RateLimitLayer` (feature `tower`) |
//! | to know accounts from addresses | [`identity`] |
//! | the cost known only afterwards | [`TokenBucket::debit`] |
//! | another limit from now on | [`TokenBucket::set_budget`] |
//! | the level to survive a restart | [`TokenBucket::snapshot`] |
//! | to be a polite client: try again when it is allowed, and only what is safe to send twice | the module `retry` |
//! | a bucket word in a table, a shared page, a model of yours | [`AtomicWord`], or the pure steps of [`bucket::step`] |
//! | time from somewhere else | [`Clock`] |
//!
//! # What it does not promise
//!
//! A token bucket bounds *admission* and allows bursts: right after a quiet spell a whole capacity passes at one
//! instant, so any interval of length `t` admits at most `capacity + refill · t` tokens. It does not pace departures,
//! promise throughput, share fairly between callers, or cap how much work is in flight. The limit is this process's
//! alone, unless it is a shared one.
//!
//! # Features
//!
//! - `std` (default): [`TscClock`] and [`CoarseClock`], blocking waits, `set_budget`, snapshots. Without it the crate is
//!   `no_std` and allocates nothing.
//! - `tokio`: waits for tasks. Brings tokio's timer and nothing else.
//! - `serde`: a [`Snapshot`] can be written and read back.
//! - `policy`: a [`Policy`] read from TOML and written to it.
//! - `metrics`: a [`Limiter`] counts its decisions through the `metrics` facade.
//! - `redis`: budgets shared between processes, in Redis or Valkey: the module `redis`. `redis-tls` is the same over TLS.
//! - `retry`: the module `retry`, which plans when a client may try again. `retry-tower` and `retry-reqwest` follow its plans:
//!   a layer of tower, and a client on reqwest.
//! - `http`: who the client is behind proxies, `RateLimit` fields, problems: the module `http`. No I/O.
//! - `tower`: limits in front of axum, hyper and tonic: the module `tower`.
//! - `replay`: the module `replay`, which tries a limit on an access log or a trace. `cli`: the program that does.
//!
//! # Modules and the dependency rule
//!
//! ```text
//! sync, clock → budget, decision → bucket → window, reserve, lease, snapshot → compound, rule, identity → keyed → policy → limiter → redis, http, replay → tower, retry
//! ```
//!
//! Each may use what stands left of it, and nothing points back. [`bucket`] takes `now` as a number and never reads a
//! clock; the model checker, the replays and the fuzzers rely on that.
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(target_has_atomic = "64"))]
compile_error!("admittance keeps a bucket in one AtomicU64; this target has no 64-bit compare-and-swap");

#[cfg(feature = "std")]
mod amount;
#[cfg(any(feature = "policy", feature = "replay"))]
mod caret;
mod sync;

pub mod bucket;
pub mod budget;
pub mod clock;
pub mod compound;
pub mod decision;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "std")]
pub mod identity;
#[cfg(feature = "std")]
pub mod keyed;
#[cfg(feature = "std")]
mod later;
pub mod lease;
#[cfg(feature = "std")]
pub mod limiter;
#[cfg(feature = "std")]
pub mod policy;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "replay")]
pub mod replay;
pub mod reserve;
#[cfg(feature = "retry")]
pub mod retry;
pub mod rule;
#[cfg(feature = "std")]
pub mod snapshot;
#[cfg(feature = "tower")]
pub mod tower;
pub mod window;

#[cfg(feature = "std")]
pub use amount::{AmountError, Per};
pub use bucket::{AtomicWord, TokenBucket};
pub use budget::{Budget, BudgetError, Resolution};
#[cfg(feature = "std")]
pub use clock::CoarseClock;
pub use clock::{Clock, ManualClock, TscClock};
pub use compound::{AllOf, Answer, Limit};
pub use decision::{Decision, Denial, Permit, Promise};
#[cfg(feature = "std")]
pub use keyed::{Keyed, KeyedBuilder, KeyedError, Overflow};
pub use lease::Lease;
#[cfg(feature = "std")]
pub use limiter::Limiter;
#[cfg(feature = "std")]
pub use policy::Policy;
pub use reserve::Reservation;
pub use rule::Rule;
#[cfg(feature = "std")]
pub use snapshot::Snapshot;
pub use window::{FixedWindow, Window};

// A limiter that cannot be shared is of no use: this does not compile when a type stops being `Send + Sync`.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<TokenBucket<ManualClock>>();
    shared::<TokenBucket<TscClock>>();
    shared::<FixedWindow<ManualClock>>();
    shared::<AtomicWord>();
    shared::<Budget>();
    shared::<BudgetError>();
    shared::<Decision>();
    #[cfg(feature = "std")]
    shared::<CoarseClock>();
    #[cfg(feature = "std")]
    shared::<Keyed<std::rc::Rc<str>>>();
    #[cfg(feature = "std")]
    shared::<Limiter<identity::Account>>();
    #[cfg(feature = "redis")]
    shared::<redis::SharedLimiter<identity::Account<std::rc::Rc<str>>>>();
    #[cfg(feature = "redis")]
    shared::<redis::BlockingLimiter<identity::Account<std::rc::Rc<str>>>>();
    #[cfg(feature = "redis")]
    shared::<redis::Store>();
    #[cfg(feature = "redis-tls")]
    shared::<redis::Tls>();
};
