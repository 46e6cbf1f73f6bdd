//! Budgets shared between processes, through Redis (6.2 or later) or Valkey, one server or a cluster.
//!
//! A [`SharedLimiter`] decides what a [`Policy`](crate::Policy) of a shared scope says. Each decision is one constant script that reads the
//! budgets, decides and writes them, in one step of the server: sixteen callers of a budget of five, wherever they are, are
//! five admitted and eleven denied. Time is the server's. Numbers are whole and below 2⁵³, where a script's are exact; a budget
//! that would pass that is refused when the limiter is built.
//!
//! ```no_run
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use admittance::identity::Account;
//! use admittance::policy::Policies;
//! use admittance::redis::{SharedLimiter, Store};
//!
//! let policies = Policies::from_toml(r#"
//!     version = 1
//!
//!     [[policy]]
//!     name = "api"
//!     unit = "request"
//!     identity = "account"
//!     scope = { store = "shared", on_store_failure = { local = "1/8" }, deadline = "20ms" }
//!     rule = { capacity = 20, refill = "100/1m" }
//!     on_exhausted = "deny"
//!     max_keys = 100_000
//!     overflow = "deny"
//! "#)?;
//! let store = Store::connect("redis://127.0.0.1/").await?;
//! let limiter: SharedLimiter<Account> = SharedLimiter::new(policies.get("api").unwrap().clone(), store)?;
//! let verdict = limiter.check(&Account::new("ann")?, 1).await;
//! println!("{:?} by {:?}", verdict.decision(), verdict.decided_by());
//! # Ok(())
//! # }
//! ```
//!
//! Most hosted stores want TLS: `rediss://` in the URL and the feature `redis-tls`. Servers are known by the authorities that the
//! system trusts, or by those that `Tls::authority` reads. Threads in no runtime ask by [`SharedLimiter::blocking`].
//!
//! # One call, or fewer
//!
//! | a policy's scope says | a decision is | bound |
//! |---|---|---|
//! | nothing more | one call, about 1.3 times a bare `EVALSHA` | exact |
//! | `remember_denials` | a denied caller asks again only when its wait is over | tokens that another process gives back meanwhile are seen late, by that wait at most |
//! | `batch = 64` | concurrent callers of one identity go in one call | exact; nothing is delayed |
//! | `lease = { most = 256, max_age = "1s" }` | tokens are taken many at a time, and spent here in about 100 ns | never more than the budget is spent; `most` a process and identity may be held back from others for `max_age`, and are lost until refilled when the process crashes. In an interval a budget admits what it holds, what it refills, and what was leased when the interval began |
//!
//! A process keeps at most `max_keys` leases, denials and queues; whoever finds no room is decided by a call of its own.
//!
//! # What can go wrong
//!
//! Each decision is there by the policy's `deadline` (20 ms unless it says otherwise), whatever the store does. What is
//! decided without the store says so ([`SharedVerdict::degraded`]), and is what `on_store_failure` says: `deny`, `admit`, or
//! `{ local = "1/8" }`, this process's own share. While a server is gone, nobody waits for it: a task looks for it every
//! tenth of a second, and callers are told at once.
//!
//! **A call is sent once.** One that was not answered in time may have been executed, and may be executed yet; it is not
//! sent again, so it is charged once or not at all.
//!
//! | what happens | what it does to the limit | what to set |
//! |---|---|---|
//! | the server restarts without persistence | every budget is full again: up to one capacity more for each identity | `appendonly yes` where that matters; with `everysec` a second of spending is lost |
//! | a replica takes over (Sentinel, Cluster, a managed service) | what the old master had not sent on is forgotten: replication is asynchronous. At most what was admitted in its last moments, plus what callers cut off with it still admitted there | `min-replicas-to-write 1` and `min-replicas-max-lag 1` stop an old master that nobody follows |
//! | the server's clock steps back | a bucket stands still until the clock has caught up: what is in it can be spent, nothing comes back. A window lasts longer by the step | slew the clock (`chronyd`), do not step it |
//! | the server's clock steps forward | what would have come back in that time is there at once, up to the capacity; if it then steps back, as above | as above |
//! | memory is short, and keys are evicted (`allkeys-lru` and the like) | an evicted budget is a full one: who is seldom seen is forgotten first, and who floods the store with keys makes it forget others | `maxmemory-policy noeviction` on a server of its own, or `volatile-ttl` (all our keys have an expiry) and an alarm on `evicted_keys` |
//! | memory is short, and nothing is evicted | admissions fail: decided without the store. Denials are still told | an alarm; keys are ~150 bytes for each identity that is not at rest |
//! | somebody deletes or overwrites a key | deleted: a full budget. Overwritten: decided without the store, and said so | an ACL user of our own: `~admittance:*` and `+eval +evalsha +get +set +incrby +decrby +pttl +pexpireat +time +unlink +ping` |
//! | a policy's rule is changed and deployed | tokens in hand carry over, at most the new capacity; while old and new processes run, each call converts | nothing. (A bucket that becomes a window begins anew.) |
//!
//! A store is a limit of the limit: it bounds what is *admitted*, not what is on its way, and a process that does not ask
//! is not limited.
//!
//! | file | holds |
//! |---|---|
//! | `limiter`, `verdict` | [`SharedLimiter`], and what it answers |
//! | `limits`, `terms` | what policies say in a script's numbers |
//! | `spend.lua`, `give_back.lua`, `script` | the scripts, and how they are called |
//! | `key` | what a budget is called in the store |
//! | `store`, `link`, `cluster` | [`Store`]: one server's connection, and which node has which slot |
//! | `address`, `tls` | what a URL says, and how servers are known; without the feature `redis-tls`, `no_tls` says what is missing |
//! | `blocking`, `background` | [`BlockingLimiter`], and the thread that its callers wait for |
//! | `failure`, `fallback` | why the store did not decide, and what is decided then |
//! | `desk`, `courier`, `inner` | leases, denials and queues of this process, and the tasks that carry and give back |
//! | `trial` | [`Trial`]: a rule tried in a store at a log's instants |

mod address;
mod background;
mod blocking;
mod cluster;
mod courier;
mod desk;
mod failure;
mod fallback;
mod inner;
mod key;
mod limiter;
mod limits;
mod link;
#[cfg(not(feature = "redis-tls"))]
mod no_tls;
mod script;
mod store;
mod terms;
#[cfg(feature = "redis-tls")]
mod tls;
mod trial;
mod verdict;

#[cfg(not(feature = "redis-tls"))]
use no_tls as tls;

pub use blocking::BlockingLimiter;
pub use failure::{FailureKind, StoreFailure};
#[cfg(feature = "tower")]
pub(crate) use limiter::Who;
pub use limiter::{SharedLimiter, SharedStats, SharedTier};
pub use limits::SharedError;
pub use store::Store;
pub use terms::InexactError;
#[cfg(feature = "redis-tls")]
pub use tls::Tls;
pub use trial::{Trial, Trying};
pub use verdict::{DecidedBy, SharedVerdict};
