//! What the tests have in common.

pub(crate) mod cluster;
mod load;
mod proxy;
pub(crate) mod script;
mod server;
#[cfg(feature = "redis-tls")]
pub(crate) mod tls;

use std::num::NonZeroU32;
use std::time::Duration;

use admittance::policy::{IdentityKind, OnExhausted, OnStoreFailure, Policy, PolicyBuilder, Scope, Sharing, Unit};
use admittance::redis::{SharedLimiter, Store};
use admittance::{Overflow, Rule};

pub(crate) use cluster::Cluster;
pub(crate) use load::{Load, Seen};
pub(crate) use proxy::{Network, Proxy};
pub(crate) use server::Server;

pub(crate) type Account = admittance::identity::Account<String>;

pub(crate) fn account(name: &str) -> Account {
    Account::new(name.to_owned()).unwrap()
}

/// Long enough that no test fails because the machine is slow; those that are about deadlines say their own.
pub(crate) fn patient() -> Sharing {
    Sharing::new(OnStoreFailure::Deny).deadline(Duration::from_secs(20))
}

/// Whether the machine is this test's own: `ADMITTANCE_STRICT` in the environment.
pub(crate) fn is_strict() -> bool {
    std::env::var_os("ADMITTANCE_STRICT").is_some()
}

/// What happens by itself has happened within what is promised; within ten times that on a machine that does other things too,
/// where a task may not be run for as long. (What does not happen by itself fails by a timeout, a minute later.)
pub(crate) fn in_time(took: Duration, promised: Duration) {
    let most = promised * if is_strict() { 1 } else { 10 };
    assert!(took < most, "{took:?}, and {promised:?} are promised");
}

pub(crate) fn policy(name: &str, rule: impl Into<Rule>, sharing: Sharing) -> PolicyBuilder {
    Policy::builder(name)
        .unit(Unit::Request)
        .identity([IdentityKind::Account])
        .scope(Scope::shared(sharing))
        .rule(rule)
        .on_exhausted(OnExhausted::Deny)
        .keys(10_000, Overflow::Deny)
}

/// A limiter as another process would have it: a client, a connection and a memory of its own.
pub(crate) fn limiter(server: &Server, rule: impl Into<Rule>, sharing: Sharing) -> SharedLimiter<Account> {
    SharedLimiter::new(policy("test", rule, sharing).build().unwrap(), server.store()).unwrap()
}

pub(crate) fn some(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap()
}

impl Server {
    pub(crate) fn store(&self) -> Store {
        Store::open(&self.url()).unwrap()
    }
}

impl Server {
    /// A number that `INFO` tells.
    pub(crate) fn number_of(&self, field: &str) -> u64 {
        let info: String = redis::from_redis_value(self.run(&["INFO"]).unwrap()).unwrap();
        let line = info.lines().find_map(|line| line.strip_prefix(&format!("{field}:")));
        line.unwrap_or_else(|| panic!("INFO tells no {field}")).parse().unwrap()
    }

    /// Redis's major version, or the one that Valkey says it is like.
    pub(crate) fn version(&self) -> u64 {
        let info: String = redis::from_redis_value(self.run(&["INFO", "server"]).unwrap()).unwrap();
        let version = info.lines().find_map(|line| line.strip_prefix("redis_version:")).unwrap();
        version.split('.').next().unwrap().parse().unwrap()
    }

    /// How often it refused a command without executing it, as one of a slot that moves.
    pub(crate) fn rejected_of(&self, command: &str) -> u64 {
        let stats: String = redis::from_redis_value(self.run(&["INFO", "commandstats"]).unwrap()).unwrap();
        let line = stats.lines().find(|line| line.starts_with(&format!("cmdstat_{command}:")));
        let times = line.and_then(|line| line.split("rejected_calls=").nth(1)?.split(',').next());
        times.map_or(0, |times| times.trim().parse().unwrap())
    }

    /// `-STOP` and `-CONT`, as a machine that hangs for a while.
    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.pid().to_string();
        assert!(std::process::Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// How often it answered with an error of this code.
    pub(crate) fn errors_of(&self, code: &str) -> u64 {
        let stats: String = redis::from_redis_value(self.run(&["INFO", "errorstats"]).unwrap()).unwrap();
        let line = stats.lines().find_map(|line| line.strip_prefix(&format!("errorstat_{code}:count=")));
        line.map_or(0, |count| count.trim().parse().unwrap())
    }
}
