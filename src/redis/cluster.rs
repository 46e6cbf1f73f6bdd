//! A cluster: which node serves which slot, and what happens while that changes.
//!
//! The library's own cluster client sends a call again when its connection breaks, which would charge twice. Here a call is
//! sent again in three cases alone, in each of which the node has said that it did not execute it: `MOVED`, `ASK` and
//! `TRYAGAIN`. The rest is a [`Link`] a node.

use core::time::Duration;
use std::collections::HashMap;
use std::string::{String, ToString};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::vec::Vec;

use ::redis::{Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo as _, Value, cmd};
use tokio::time::{Instant, sleep};

use super::failure::{FailureKind, StoreFailure};
use super::key::SLOTS;
use super::link::{Link, Refused};
use super::script::Call;

/// Redirections of one call: one to a moved slot, one to ask for a key that is being moved, and as many again.
const REDIRECTIONS: usize = 5;

/// How long a call whose keys are being moved waits before it is sent again.
const MOVING: Duration = Duration::from_millis(2);

/// How often the map of slots is read anew at most.
const MAP_EVERY: Duration = Duration::from_millis(100);

/// How long a node may take to tell the map.
const MAP_WITHIN: Duration = Duration::from_millis(500);

/// The nodes of a cluster, by `host:port`, and the slots they serve.
pub(super) struct Cluster {
    shared: Arc<Shared>,
}

struct Shared {
    /// Name and password, TLS and all, for every node.
    seed: ConnectionInfo,
    nodes: Mutex<HashMap<String, Arc<Link>>>,
    slots: RwLock<Vec<Range>>,
    is_reading: AtomicBool,
}

/// Slots from one to another, both included, and who serves them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Range {
    from: u16,
    to: u16,
    node: String,
}

impl Cluster {
    /// # Errors
    ///
    /// When there is no seed, or one is no TCP address.
    pub(super) fn new(seeds: Vec<ConnectionInfo>) -> Result<Self, StoreFailure> {
        let wrong = |detail: &str| StoreFailure::new(FailureKind::Other, detail);
        let Some(seed) = seeds.first().cloned() else { return Err(wrong("a cluster needs a node to begin with")) };
        let mut nodes = HashMap::new();
        for info in seeds {
            let node = match info.addr() {
                ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => {
                    std::format!("{host}:{port}")
                }
                other => {
                    return Err(wrong(&std::format!("a cluster's nodes are at TCP addresses, and {other} is none")));
                }
            };
            let client = Client::open(info).map_err(|error| StoreFailure::from(&error))?;
            nodes.insert(node, Arc::new(Link::new(client)));
        }
        let shared =
            Shared { seed, nodes: Mutex::new(nodes), slots: RwLock::default(), is_reading: AtomicBool::new(false) };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub(super) async fn call(&self, call: &Call, deadline: Instant) -> Result<Value, StoreFailure> {
        let mut node = match self.shared.node_of(call.slot()) {
            Some(node) => node,
            None => self.first_map(call.slot(), deadline).await?,
        };
        let mut asking = false;
        let mut last = None;
        for _ in 0..=REDIRECTIONS {
            match self.shared.link(&node)?.call(call, asking, deadline).await {
                Ok(value) => return Ok(value),
                Err(Refused::Moved(to)) => {
                    self.shared.moved(call.slot(), &to);
                    self.read_map();
                    (node, asking) = (to, false);
                }
                Err(Refused::Ask(to)) => (node, asking) = (to, true),
                Err(Refused::TryAgain(failure)) => {
                    last = Some(failure);
                    if Instant::now() + MOVING >= deadline {
                        break;
                    }
                    sleep(MOVING).await;
                }
                Err(Refused::Failed(failure)) => {
                    // Perhaps another serves the slot now.
                    self.read_map();
                    return Err(failure);
                }
            }
        }
        Err(last.unwrap_or_else(|| StoreFailure::new(FailureKind::NotReady, "redirected in circles")))
    }

    /// Sends a command that is no script to who serves the slot, and follows nobody elsewhere.
    pub(super) async fn ask(
        &self,
        command: &::redis::Cmd,
        slot: u16,
        deadline: Instant,
    ) -> Result<Value, StoreFailure> {
        let node = match self.shared.node_of(slot) {
            Some(node) => node,
            None => self.first_map(slot, deadline).await?,
        };
        self.shared.link(&node)?.ask(command, deadline).await
    }

    /// The first callers of all read the map themselves.
    async fn first_map(&self, slot: u16, deadline: Instant) -> Result<String, StoreFailure> {
        let read = self.shared.read_map(deadline).await;
        match (self.shared.node_of(slot), read) {
            (Some(node), _) => Ok(node),
            (None, Err(failure)) => Err(failure),
            (None, Ok(())) => Err(StoreFailure::new(FailureKind::NotReady, std::format!("nobody serves slot {slot}"))),
        }
    }

    /// Reads the map anew, unless that is under way.
    fn read_map(&self) {
        // Relaxed: whoever sees it unset too late reads the map once more than need be.
        if self.shared.is_reading.swap(true, Ordering::Relaxed) {
            return;
        }
        let shared = Arc::clone(&self.shared);
        tokio::spawn(async move {
            // What could not be read now is read when the next call fails.
            let _ = shared.read_map(Instant::now() + MAP_WITHIN).await;
            sleep(MAP_EVERY).await;
            // Relaxed: as above.
            shared.is_reading.store(false, Ordering::Relaxed);
        });
    }

    /// Every node that serves slots.
    pub(super) async fn masters(&self, deadline: Instant) -> Result<Vec<Arc<Link>>, StoreFailure> {
        self.shared.read_map(deadline).await?;
        let slots = self.shared.slots.read().unwrap_or_else(PoisonError::into_inner).clone();
        let mut nodes: Vec<_> = slots.into_iter().map(|range| range.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes.iter().map(|node| self.shared.link(node)).collect()
    }
}

impl Shared {
    fn node_of(&self, slot: u16) -> Option<String> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        slots.iter().find(|range| (range.from..=range.to).contains(&slot)).map(|range| range.node.clone())
    }

    /// The link to a node, which is made where there is none.
    fn link(&self, node: &str) -> Result<Arc<Link>, StoreFailure> {
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(link) = nodes.get(node) {
            return Ok(Arc::clone(link));
        }
        let wrong = || StoreFailure::new(FailureKind::Other, std::format!("'{node}' is no address of a node"));
        let (host, port) = node.rsplit_once(':').ok_or_else(wrong)?;
        let port = port.parse().map_err(|_| wrong())?;
        let addr = match self.seed.addr() {
            ConnectionAddr::TcpTls { insecure, tls_params, .. } => {
                ConnectionAddr::TcpTls { host: host.into(), port, insecure: *insecure, tls_params: tls_params.clone() }
            }
            _ => ConnectionAddr::Tcp(host.into(), port),
        };
        let info = self.seed.clone().set_addr(addr);
        let link = Arc::new(Link::new(Client::open(info).map_err(|error| StoreFailure::from(&error))?));
        nodes.insert(node.into(), Arc::clone(&link));
        Ok(link)
    }

    /// One slot is served by another node now.
    fn moved(&self, slot: u16, node: &str) {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        // Before all ranges: the first that has the slot counts, until the map is read.
        slots.insert(0, Range { from: slot, to: slot, node: node.into() });
    }

    /// Asks one node after the other, those first that have a connection.
    async fn read_map(&self, deadline: Instant) -> Result<(), StoreFailure> {
        let mut links: Vec<_> = {
            let nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
            nodes.iter().map(|(name, link)| (name.clone(), Arc::clone(link))).collect()
        };
        links.sort_by_key(|(_, link)| !link.is_usable());
        let mut last = StoreFailure::new(FailureKind::Unreachable, "no node answers");
        for (name, link) in links {
            match link.ask(cmd("CLUSTER").arg("SLOTS"), deadline).await {
                Ok(map) => {
                    let host = name.rsplit_once(':').map_or("", |(host, _)| host);
                    let ranges = ranges(&map, host).ok_or_else(|| {
                        StoreFailure::new(FailureKind::Other, std::format!("CLUSTER SLOTS answered {map:?}"))
                    })?;
                    self.install(ranges);
                    return Ok(());
                }
                Err(failure) => last = failure,
            }
        }
        Err(last)
    }

    fn install(&self, ranges: Vec<Range>) {
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        // A link to a node that serves nothing is closed, but for those that may tell the map later.
        let serves = |node: &String| ranges.iter().any(|range| range.node == *node);
        if ranges.iter().any(|range| nodes.get(&range.node).is_some_and(|link| link.is_usable())) {
            nodes.retain(|node, link| serves(node) || link.is_usable());
        }
        drop(nodes);
        *self.slots.write().unwrap_or_else(PoisonError::into_inner) = ranges;
    }
}

/// Reads the answer to `CLUSTER SLOTS`. A node without a host is at the one that was asked.
fn ranges(map: &Value, asked: &str) -> Option<Vec<Range>> {
    let Value::Array(rows) = map else { return None };
    rows.iter()
        .map(|row| {
            let Value::Array(row) = row else { return None };
            let [Value::Int(from), Value::Int(to), Value::Array(master), ..] = &row[..] else { return None };
            let [host, Value::Int(port), ..] = &master[..] else { return None };
            let host = match host {
                Value::BulkString(host) if !host.is_empty() => String::from_utf8(host.clone()).ok()?,
                Value::SimpleString(host) if !host.is_empty() => host.clone(),
                _ => asked.to_string(),
            };
            let (from, to) = (u16::try_from(*from).ok()?, u16::try_from(*to).ok()?);
            (to < SLOTS).then(|| Range { from, to, node: std::format!("{host}:{port}") })
        })
        .collect()
}

/// A node's address as it is written in a URL.
pub(super) fn info(url: &str) -> Result<ConnectionInfo, StoreFailure> {
    url.into_connection_info().map_err(|error| StoreFailure::from(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::BulkString(text.into())
    }

    #[test]
    fn a_node_that_does_not_know_its_host_is_where_it_was_asked() {
        let row = |host| {
            Value::Array(std::vec![
                Value::Int(0),
                Value::Int(99),
                Value::Array(std::vec![host, Value::Int(7000), text("id")]),
            ])
        };
        let map = Value::Array(std::vec![row(text("10.0.0.1")), row(text("")), row(Value::Nil)]);
        let nodes: Vec<_> = ranges(&map, "here").unwrap().into_iter().map(|range| range.node).collect();
        assert_eq!(nodes, ["10.0.0.1:7000", "here:7000", "here:7000"]);
        for broken in
            [Value::Nil, Value::Array(std::vec![Value::Nil]), Value::Array(std::vec![Value::Array(std::vec![])])]
        {
            assert_eq!(ranges(&broken, "here"), None);
        }
    }
}
