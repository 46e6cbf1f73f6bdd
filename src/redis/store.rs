//! A store: where it is, and a script called on it.

use core::fmt;
use core::time::Duration;
use std::string::String;
use std::sync::Arc;
use std::vec::Vec;

use ::redis::{Value, cmd};
use tokio::time::Instant;

use super::address::Address;
use super::cluster::Cluster;
use super::failure::{FailureKind, StoreFailure};
use super::key::{self, Digest};
use super::link::{Link, Refused};
use super::script::{Answer, Call, Request, Return};
use super::terms::Terms;
use super::tls::Tls;
use crate::identity::Account;

/// A Redis or Valkey server, or a cluster of them, in which budgets are kept.
///
/// Cheap to clone, and to share between limiters: all calls of a process go over one connection a server. It is connected to
/// at the first call, and again whenever the connection breaks, in the background; while there is none, whoever asks is told
/// so at once.
///
/// ```no_run
/// # async fn open() -> Result<(), admittance::redis::StoreFailure> {
/// use admittance::redis::Store;
///
/// // One server. `connect` tells now what would otherwise be told by the first decisions: that nobody is there, or
/// // that the user may not run scripts.
/// let store = Store::connect("redis://127.0.0.1/").await?;
/// // A cluster, by some of its nodes.
/// let cluster = Store::cluster(["redis://10.0.0.1:7000", "redis://10.0.0.2:7000"])?.with_prefix("shop")?;
/// # Ok(())
/// # }
/// ```
///
/// # What it promises
///
/// - A call is sent once. It is sent again only where the server has said that it did not execute it: `NOSCRIPT` (with the
///   script's text), `MOVED`, `ASK` and `TRYAGAIN`. A call that was not answered in time may have been executed, and is not
///   sent again.
/// - No `KEYS`, no `SCAN`, no script text from anybody's words; keys are of a fixed length, with an expiry.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
    prefix: Arc<str>,
}

enum Inner {
    One(Link),
    Cluster(Cluster),
}

/// How long [`Store::connect`] tries.
const CONNECT: Duration = Duration::from_secs(2);

/// Keys that are tried for one in each node of a cluster: nodes of equal shares are all met within some dozens.
const TRIES: usize = 10_000;

impl Store {
    /// One server, by its URL: `redis://[user:password@]host[:port][/database]`, `rediss://` for the same over TLS, or
    /// `unix:///path`. Connects later.
    ///
    /// TLS needs the feature `redis-tls`; servers are known by the authorities that the system trusts, or see
    #[cfg_attr(feature = "redis-tls", doc = "[`open_with`](Self::open_with).")]
    #[cfg_attr(not(feature = "redis-tls"), doc = "`open_with`.")]
    /// User and password are sent to the server alone: no error and no [`Debug`] has them.
    ///
    /// # Errors
    ///
    /// When it is no such URL.
    pub fn open(url: &str) -> Result<Self, StoreFailure> {
        Self::one(url, None)
    }

    /// As [`open`](Self::open) of a `rediss://` URL, with certificates that are not the system's.
    ///
    /// # Errors
    ///
    /// When it is no such URL.
    #[cfg(feature = "redis-tls")]
    pub fn open_with(url: &str, tls: &Tls) -> Result<Self, StoreFailure> {
        Self::one(url, Some(tls))
    }

    /// A cluster, by the URLs of some of its nodes. Connects later. User, password and TLS are for all nodes those of the first.
    ///
    /// # Errors
    ///
    /// When there is none, one is no URL of a TCP address, or some have TLS and some have not.
    pub fn cluster(urls: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Self, StoreFailure> {
        Self::nodes(urls, None)
    }

    /// As [`cluster`](Self::cluster) of `rediss://` URLs, with certificates that are not the system's.
    ///
    /// # Errors
    ///
    /// As it.
    #[cfg(feature = "redis-tls")]
    pub fn cluster_with(urls: impl IntoIterator<Item = impl AsRef<str>>, tls: &Tls) -> Result<Self, StoreFailure> {
        Self::nodes(urls, Some(tls))
    }

    fn one(url: &str, tls: Option<&Tls>) -> Result<Self, StoreFailure> {
        Ok(Self::new(Inner::One(Link::new(Address::read(url, tls)?))))
    }

    fn nodes(urls: impl IntoIterator<Item = impl AsRef<str>>, tls: Option<&Tls>) -> Result<Self, StoreFailure> {
        let mut nodes: Vec<Address> = Vec::new();
        for url in urls {
            nodes.push(Address::read(url.as_ref(), tls)?);
        }
        Ok(Self::new(Inner::Cluster(Cluster::new(nodes)?)))
    }

    /// As [`open`](Self::open), and sees that it is there and does what is asked of it: see [`ready`](Self::ready).
    ///
    /// # Errors
    ///
    /// As those two.
    pub async fn connect(url: &str) -> Result<Self, StoreFailure> {
        let store = Self::open(url)?;
        store.ready().await?;
        Ok(store)
    }

    fn new(inner: Inner) -> Self {
        Self { inner: Arc::new(inner), prefix: "admittance".into() }
    }

    /// With another beginning of all keys than `admittance`.
    ///
    /// # Errors
    ///
    /// When it is not 1 to 64 of letters, digits, `-`, `_`, `.`, `:` and `/`.
    pub fn with_prefix(mut self, prefix: &str) -> Result<Self, StoreFailure> {
        if let Some(fault) = key::prefix_fault(prefix) {
            return Err(StoreFailure::new(FailureKind::Invalid, fault));
        }
        self.prefix = prefix.into();
        Ok(self)
    }

    /// What all keys begin with.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether the store is there, each node that serves slots if it is a cluster, and permits what limiters do: runs the
    /// scripts on keys of their own (`prefix:v1:ready:…`), which expire. Waits two seconds at most.
    ///
    /// # Errors
    ///
    /// When it is not, or does not. A [`NotPermitted`](FailureKind::NotPermitted) names what to permit.
    pub async fn ready(&self) -> Result<(), StoreFailure> {
        let deadline = Instant::now() + CONNECT;
        let ready = match &*self.inner {
            Inner::One(link) => self.ready_at(link, &ready_digest(0)?, deadline).await,
            Inner::Cluster(cluster) => self.all_ready(cluster, deadline).await,
        };
        ready.map_err(|failure| match failure.kind() {
            FailureKind::NotPermitted if !failure.is_of_password() => failure.with_advice(&self.permits()),
            _ => failure,
        })
    }

    /// What the server's user has to be permitted.
    fn permits(&self) -> String {
        let of_cluster = match &*self.inner {
            Inner::One(_) => "",
            Inner::Cluster(_) => " +asking +cluster|slots",
        };
        std::format!(
            "limiters need ~{}:* +ping +evalsha +eval +time +get +set +incrby +decrby +pttl +pexpireat{of_cluster}: \
             ACL SETUSER with the user's name and these permits it",
            self.prefix
        )
    }

    async fn all_ready(&self, cluster: &Cluster, deadline: Instant) -> Result<(), StoreFailure> {
        let mut masters = cluster.masters(deadline).await?;
        for number in 0..TRIES {
            let digest = ready_digest(number)?;
            let node = cluster.node_of(digest.slot());
            if let Some(at) = masters.iter().position(|(master, _)| Some(master) == node.as_ref()) {
                self.ready_at(&masters.swap_remove(at).1, &digest, deadline).await?;
            }
            if masters.is_empty() {
                break;
            }
        }
        // Those with so few slots that no key of ours is in one are at least asked whether they are there.
        for (_, link) in masters {
            link.ask(&cmd("PING"), deadline).await?;
        }
        Ok(())
    }

    async fn ready_at(&self, link: &Link, digest: &Digest, deadline: Instant) -> Result<(), StoreFailure> {
        let stem = key::stem(&self.prefix, "ready");
        // A bucket and a window, twice, so that each command is used that ever is: a token takes a second, so the state is
        // still there the second time.
        let terms = [
            Terms::Bucket { p: 1, d: 1_000_000, full: 1_000_000_000 },
            Terms::Window { limit: 1_000_000, length: 60_000_000 },
        ];
        let keys = [std::format!("{stem}bucket:"), std::format!("{stem}window:")].map(|stem| key::key(&stem, digest));
        let one = Request { least: 1, most: 1 };
        let mut answer = None;
        for _ in 0..2 {
            let call = Call::spend(keys.to_vec(), digest.slot(), None, &terms, [one]);
            answer = Some(Answer::read(&self.call(&call, deadline).await?, 2, 1)?);
        }
        if let Some(Answer { now, .. }) = answer {
            let mut all = keys.to_vec();
            all.insert(0, key::lease_key(&stem, digest, u128::from(now)));
            let back = Return { tokens: 1, granted: now, until: now + 1_000_000 };
            self.call(&Call::give_back(all, digest.slot(), None, &terms, back), deadline).await?;
            // The scripts use this only where an expiry was lost.
            let repaired = link.ask(cmd("PEXPIREAT").arg(&keys[0]).arg(now / 1_000 + 2_000), deadline).await;
            if let Err(failure) = repaired
                && failure.kind() == FailureKind::NotPermitted
            {
                return Err(failure);
            }
        }
        Ok(())
    }

    /// One command on one key, that nothing happens to if it is lost or comes twice.
    pub(super) async fn command(
        &self,
        command: &::redis::Cmd,
        slot: u16,
        deadline: Instant,
    ) -> Result<Value, StoreFailure> {
        match &*self.inner {
            Inner::One(link) => link.ask(command, deadline).await,
            Inner::Cluster(cluster) => cluster.ask(command, slot, deadline).await,
        }
    }

    pub(super) async fn call(&self, call: &Call, deadline: Instant) -> Result<Value, StoreFailure> {
        match &*self.inner {
            Inner::Cluster(cluster) => cluster.call(call, deadline).await,
            Inner::One(link) => link.call(call, false, deadline).await.map_err(|refused| match refused {
                Refused::Failed(failure) | Refused::TryAgain(failure) => failure,
                Refused::Moved(node) | Refused::Ask(node) => StoreFailure::new(
                    FailureKind::NotReady,
                    std::format!("the server is of a cluster, and this key is at {node}: open it with Store::cluster"),
                ),
            }),
        }
    }
}

/// Of an identity to try with.
fn ready_digest(number: usize) -> Result<Digest, StoreFailure> {
    Account::new(std::format!("ready {number}"))
        .map(|account| Digest::of(&account))
        .map_err(|_| StoreFailure::new(FailureKind::Other, "no identity to try with"))
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &*self.inner {
            Inner::One(_) => "one server",
            Inner::Cluster(_) => "cluster",
        };
        // Not the URL: it may have a password.
        f.debug_struct("Store").field("kind", &kind).field("prefix", &self.prefix).finish_non_exhaustive()
    }
}
