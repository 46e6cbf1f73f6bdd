//! A limit tried on yesterday's traffic: an access log or a trace, decided with the library's own core.
//!
//! ```
//! use std::time::Duration;
//! use admittance::{Budget, Rule};
//! use admittance::replay::{Outcome, Replay};
//!
//! let trace = r#"
//!     {"t_ns": 0, "key": "a"}
//!     {"t_ns": 1, "key": "a"}
//!     {"t_ns": 2, "key": "b"}
//! "#;
//! let rule = Rule::TokenBucket(Budget::new(1, 1, Duration::from_secs(1))?);
//! let mut outcomes = Vec::new();
//! let summary = Replay::new(rule).run_bytes(trace.as_bytes(), |decision| outcomes.push(decision.outcome))?;
//! assert_eq!(outcomes[1], Outcome::Denied { retry_after_ns: 999_999_999 });
//! assert_eq!((summary.keys, summary.admitted, summary.denied), (2, 2, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How time is told
//!
//! Lines carry nanoseconds since 1970. Each key's bucket has its epoch at the key's own first line, full, so a log may
//! begin anywhere and span more than a limiter's horizon. Logs are out of order in real life: a line that is earlier than
//! its key's latest is decided at the latest; [`Replay::sort`] sorts first. Fixed windows are aligned to 1970.
//!
//! Every key of a log has a budget: a policy's `max_keys` and its [`Overflow`](crate::Overflow) are not replayed.
//!
//! # What can be read
//!
//! A [`Reading`] says how lines become records. The [`Format`] is told from the first line that can be read (combined, common,
//! traces, AWS ALB, Caddy), or said: a [`LogFormat`] in nginx's own words, or the [`Fields`] of JSON lines. An [`Identity`] says
//! by which fields lines share a budget; keys of several are joined so that no two meet, and [`key`] parts and shows them. A
//! policy's scope passes over lines of other routes, and counts them. [`Reading::merge`] takes several inputs in order of time.
//! Inputs may be compressed: gzip and zstd are seen, in a pipe too.
//!
//! # How it works
//!
//! A thread reads blocks of whole lines. Each block is parsed in parallel, its records are dealt out to shards by the hash
//! of their key, the shards are decided in parallel, each in input order, and the outcomes go back to their places. Keys do
//! not depend on each other, so the result is the same for any number of threads. Memory grows with keys, not with lines
//! (except to sort).
//!
//! | file | holds |
//! |---|---|
//! | `record` | one line's facts, and what is wrong with a line |
//! | `format`, [`combined`], [`jsonl`], [`nginx`], [`json`], [`alb`] | the formats: bytes in, record out |
//! | `reading` | how lines become records |
//! | `identity`, [`key`] | who asked: by which fields, and as bytes |
//! | `spec` | what is wrong with a text that says how lines are read |
//! | `source` | files, gzip, zstd, standard input: blocks of whole lines |
//! | `weave` | several inputs as one, in order of time |
//! | `batch` | the records of some lines, dealt out to shards |
//! | `engine` | the stages that all uses have in common: read, parse, count |
//! | `run` | a replay: what is asked for, and the stage that decides |
//! | `rule` | one key's state under the limit, and what is told of it |
//! | `shard`, `name` | the keys of one shard, decided in order |
//! | `decided` | outcomes back in order of input |
//! | `timeline` | counts over time in bounded memory |
//! | `demand`, `history` | what one key would have needed, and when it was held at the limit |
//! | `report`, `compare` | every caller that was denied, in detail; two limits side by side |
//! | `level` | one caller followed through time |
//! | `fit` | the smallest budgets that would have spared most callers |
//! | `live` | lines decided as they are written, in bounded memory |
//! | `summary`, `unread`, `error`, `progress` | what is told |

mod batch;
mod compare;
mod decided;
mod demand;
mod engine;
mod error;
mod fit;
mod format;
mod history;
mod identity;
pub mod key;
mod level;
mod live;
mod name;
mod progress;
mod reading;
mod record;
mod report;
mod rule;
mod run;
mod shard;
mod source;
mod spec;
mod summary;
mod timeline;
mod unread;
mod weave;

pub use compare::Comparison;
pub use decided::Decided;
pub use error::Error;
pub use fit::{Checked, Demanding, Fit, FitError, FitPoint, Fitted, Of, Refused, Share, ShareError};
pub use format::{FieldError, Fields, Format, LogFormat, TimeUnit, alb, combined, json, jsonl, nginx};
pub use identity::Identity;
pub use level::Level;
pub use live::{Heard, Live, LiveError, LiveSums};
pub use progress::Progress;
pub use reading::Reading;
pub use record::{LineError, Record, Unit};
pub use report::{Caller, Peaks, Report};
pub use rule::Outcome;
pub use run::Replay;
pub use source::Input;
pub use spec::SpecError;
pub use summary::{BadLine, DeniedKey, Summary};
pub use timeline::Bar;
pub use unread::Unread;
