//! A cluster: which node serves which slot, and what happens while that changes.
//!
//! The library's own cluster client sends a call again when its connection breaks, which would charge twice. Here a call is
//! sent again in three cases alone, in each of which the node has said that it did not execute it: `MOVED`, `ASK` and
//! `TRYAGAIN`. The rest is a [`Link`] a node.
//!
//! The map of slots is read when nothing is known yet, and again when a call was redirected or failed: from any node that
//! answers, and from another one each time, for one that is cut off from the others does not know better.

mod map;

use core::time::Duration;
use std::collections::HashMap;
use std::string::String;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::vec::Vec;

use ::redis::{Value, cmd};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};

use super::address::{self, Address};
use super::failure::{FailureKind, StoreFailure};
use super::link::{Link, Refused};
use super::script::Call;
use map::Map;

/// Redirections of one call: one to a moved slot, one to ask for a key that is being moved, and as many again.
const REDIRECTIONS: usize = 5;

/// How long a call whose keys are being moved waits before it is sent again.
const MOVING: Duration = Duration::from_millis(2);

/// How often the map of slots is read anew at most.
const MAP_EVERY: Duration = Duration::from_millis(100);

/// How long the nodes may take to tell the map.
const MAP_WITHIN: Duration = Duration::from_millis(500);

/// How long one node may take to tell the map before another is asked as well.
const NEXT_AFTER: Duration = Duration::from_millis(5);

/// The nodes of a cluster, by `host:port`, and the slots they serve.
pub(super) struct Cluster {
    shared: Arc<Shared>,
}

struct Shared {
    /// Name and password, TLS and all, for every node.
    like: Address,
    /// The nodes that were given: where to look for a cluster of which no other node is left.
    seeds: Vec<String>,
    nodes: Mutex<HashMap<String, Arc<Link>>>,
    map: RwLock<Map>,
    is_reading: AtomicBool,
    /// Taken by the one who reads the first map; when somebody last did.
    first: tokio::sync::Mutex<Option<Instant>>,
    reads: AtomicUsize,
}

impl Cluster {
    /// # Errors
    ///
    /// When there is no seed, one is no TCP address, or some have TLS and some have not.
    pub(super) fn new(seeds: Vec<Address>) -> Result<Self, StoreFailure> {
        let wrong = |detail: &str| StoreFailure::new(FailureKind::Invalid, detail);
        let Some(like) = seeds.first().cloned() else { return Err(wrong("a cluster needs a node to begin with")) };
        let mut nodes = HashMap::new();
        for seed in seeds {
            let Some((host, port)) = seed.host_and_port() else {
                return Err(wrong(&std::format!("a cluster's nodes are at TCP addresses, and {seed} is none")));
            };
            if seed.is_secured() != like.is_secured() {
                return Err(wrong(&std::format!("{seed} and {like}: all nodes have TLS (rediss://), or none")));
            }
            nodes.insert(address::name(host, port), Arc::new(Link::new(seed)));
        }
        let shared = Shared {
            like,
            seeds: nodes.keys().cloned().collect(),
            nodes: Mutex::new(nodes),
            map: RwLock::default(),
            is_reading: AtomicBool::new(false),
            first: tokio::sync::Mutex::default(),
            reads: AtomicUsize::new(0),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub(super) async fn call(&self, call: &Call, deadline: Instant) -> Result<Value, StoreFailure> {
        let mut node = match self.node_of(call.slot()) {
            Some(node) => node,
            None => self.first_map(call.slot(), deadline).await?,
        };
        let mut asking = false;
        let mut redirections = 0;
        while redirections <= REDIRECTIONS {
            match self.shared.link(&node)?.call(call, asking, deadline).await {
                Ok(value) => return Ok(value),
                Err(Refused::Moved(to)) => {
                    let to = beside(&node, to);
                    self.shared.map.write().unwrap_or_else(PoisonError::into_inner).moved(call.slot(), &to);
                    self.read_map();
                    (node, asking) = (to, false);
                    redirections += 1;
                }
                Err(Refused::Ask(to)) => {
                    (node, asking) = (beside(&node, to), true);
                    redirections += 1;
                }
                Err(Refused::TryAgain(failure)) => {
                    // What is sent at the last moment is not answered in time, and may be charged for nothing.
                    if Instant::now() + 2 * MOVING >= deadline {
                        return Err(failure);
                    }
                    sleep(MOVING).await;
                }
                Err(Refused::Failed(failure)) => {
                    // Perhaps another serves the slot now, unless this one does and says what is wrong.
                    if !matches!(
                        failure.kind(),
                        FailureKind::WrongValue | FailureKind::OutOfMemory | FailureKind::NotPermitted
                    ) {
                        self.read_map();
                    }
                    return Err(failure);
                }
            }
        }
        Err(StoreFailure::new(FailureKind::NotReady, "redirected in circles"))
    }

    /// Sends a command that is no script to who serves the slot, and follows nobody elsewhere.
    pub(super) async fn ask(
        &self,
        command: &::redis::Cmd,
        slot: u16,
        deadline: Instant,
    ) -> Result<Value, StoreFailure> {
        let node = match self.node_of(slot) {
            Some(node) => node,
            None => self.first_map(slot, deadline).await?,
        };
        self.shared.link(&node)?.ask(command, deadline).await
    }

    /// Who serves the slot, where that is known.
    pub(super) fn node_of(&self, slot: u16) -> Option<String> {
        self.shared.map.read().unwrap_or_else(PoisonError::into_inner).node_of(slot).map(Into::into)
    }

    /// One of the first callers of all reads the map, and the others wait for that.
    async fn first_map(&self, slot: u16, deadline: Instant) -> Result<String, StoreFailure> {
        let late = || StoreFailure::new(FailureKind::Unreachable, "the map of slots is not read yet").unsent();
        let mut read = timeout_at(deadline, self.shared.first.lock()).await.map_err(|_| late())?;
        if let Some(node) = self.node_of(slot) {
            return Ok(node);
        }
        let was_just_now = read.is_some_and(|read| read.elapsed() < MAP_EVERY);
        if !was_just_now {
            self.shared.read_map(deadline).await.map_err(StoreFailure::unsent)?;
            *read = Some(Instant::now());
        }
        self.node_of(slot)
            .ok_or_else(|| StoreFailure::new(FailureKind::NotReady, std::format!("nobody serves slot {slot}")))
    }

    /// Reads the map anew, unless that is under way.
    fn read_map(&self) {
        // Relaxed: whoever sees it unset too late reads the map once more than need be.
        if self.shared.is_reading.swap(true, Ordering::Relaxed) {
            return;
        }
        let reading = Reading(Arc::clone(&self.shared));
        tokio::spawn(async move {
            // What could not be read now is read when the next call fails.
            let _ = reading.0.read_map(Instant::now() + MAP_WITHIN).await;
            sleep(MAP_EVERY).await;
        });
    }

    /// Every node that serves slots.
    pub(super) async fn masters(&self, deadline: Instant) -> Result<Vec<(String, Arc<Link>)>, StoreFailure> {
        self.shared.read_map(deadline).await?;
        let masters = self.shared.map.read().unwrap_or_else(PoisonError::into_inner).masters();
        masters.into_iter().map(|node| self.shared.link(&node).map(|link| (node, link))).collect()
    }
}

/// The map is being read: until the task ends, or its runtime does.
struct Reading(Arc<Shared>);

impl Drop for Reading {
    fn drop(&mut self) {
        // Relaxed: as where it is set.
        self.0.is_reading.store(false, Ordering::Relaxed);
    }
}

impl Shared {
    /// The link to a node, which is made where there is none.
    fn link(&self, node: &str) -> Result<Arc<Link>, StoreFailure> {
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(link) = nodes.get(node) {
            return Ok(Arc::clone(link));
        }
        let wrong = || StoreFailure::new(FailureKind::Other, std::format!("'{node}' is no address of a node"));
        let (host, port) = node.rsplit_once(':').filter(|(host, _)| !host.is_empty()).ok_or_else(wrong)?;
        let port = port.parse().map_err(|_| wrong())?;
        let link = Arc::new(Link::new(self.like.at(host, port)?));
        nodes.insert(node.into(), Arc::clone(&link));
        Ok(link)
    }

    /// Asks one node after the other until one tells the map; who does not answer at once keeps nobody from asking the next.
    async fn read_map(&self, deadline: Instant) -> Result<(), StoreFailure> {
        let mut nodes = self.who_may_tell().into_iter();
        let mut asked = JoinSet::new();
        let mut last = StoreFailure::new(FailureKind::Unreachable, "no node answers");
        loop {
            let next = nodes.next();
            let until = if next.is_some() { deadline.min(Instant::now() + NEXT_AFTER) } else { deadline };
            if let Some(node) = next {
                match self.link(&node) {
                    Ok(link) => drop(asked.spawn(async move { tells(&node, &link, deadline).await })),
                    Err(failure) => last = failure,
                }
            }
            match timeout_at(until, asked.join_next()).await {
                Ok(Some(Ok(Ok(map)))) => {
                    self.install(map);
                    return Ok(());
                }
                Ok(Some(Ok(Err(failure)))) => last = failure,
                Ok(None) if nodes.len() == 0 => return Err(last),
                Err(_) if Instant::now() >= deadline => return Err(last),
                _ => {}
            }
        }
    }

    /// The nodes that may know the map, those that are likely to answer first, and each time another one of these. Among
    /// them are nodes that nobody has called yet: the only one that was may be the one that is gone.
    fn who_may_tell(&self) -> Vec<String> {
        let nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut up, down): (Vec<_>, Vec<_>) = nodes.keys().cloned().partition(|node| nodes[node].is_usable());
        let map = self.map.read().unwrap_or_else(PoisonError::into_inner);
        let mut others = map.masters();
        others.extend_from_slice(map.replicas());
        others.retain(|node| !nodes.contains_key(node));
        // Relaxed: a count that orders nothing.
        let read = self.reads.fetch_add(1, Ordering::Relaxed);
        for some in [&mut up, &mut others].into_iter().filter(|some| !some.is_empty()) {
            some.sort_unstable();
            let first = read % some.len();
            some.rotate_left(first);
        }
        up.into_iter().chain(others).chain(down).collect()
    }

    fn install(&self, map: Map) {
        let masters = map.masters();
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        // The link to a node that serves nothing is closed.
        nodes.retain(|node, _| masters.contains(node) || self.seeds.contains(node));
        drop(nodes);
        *self.map.write().unwrap_or_else(PoisonError::into_inner) = map;
    }
}

/// The map, as this node knows it.
async fn tells(node: &str, link: &Link, deadline: Instant) -> Result<Map, StoreFailure> {
    let answer = link.ask(cmd("CLUSTER").arg("SLOTS"), deadline).await?;
    let host = node.rsplit_once(':').map_or("", |(host, _)| host);
    match Map::read(&answer, host) {
        Some(map) if map.is_empty() => {
            Err(StoreFailure::new(FailureKind::NotReady, std::format!("{node} knows nobody who serves slots")))
        }
        Some(map) => Ok(map),
        None => Err(StoreFailure::new(FailureKind::Other, std::format!("CLUSTER SLOTS answered {answer:?}"))),
    }
}

/// Where a node redirects to: one that does not know another's host says `:port`, and means its own.
fn beside(node: &str, to: String) -> String {
    match (to.strip_prefix(':'), node.rsplit_once(':')) {
        // `::1:7000` is an address.
        (Some(port), Some((host, _))) if !port.contains(':') => std::format!("{host}:{port}"),
        _ => to,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> Result<Address, StoreFailure> {
        Address::read(url, None)
    }

    #[test]
    fn a_redirection_without_a_host_is_beside_who_redirects() {
        assert_eq!(beside("10.0.0.1:7000", ":7001".into()), "10.0.0.1:7001");
        assert_eq!(beside("::1:7000", ":7001".into()), "::1:7001");
        assert_eq!(beside("10.0.0.1:7000", "10.0.0.2:7001".into()), "10.0.0.2:7001");
        assert_eq!(beside("10.0.0.1:7000", "::1:7001".into()), "::1:7001");
    }

    #[test]
    fn a_seed_of_ipv6_is_the_node_that_the_map_names() {
        let cluster = Cluster::new(Vec::from([address("redis://[::1]:7000").unwrap()])).ok().unwrap();
        assert_eq!(cluster.shared.seeds, ["::1:7000"]);
        let link = cluster.shared.link("::1:7000").unwrap();
        assert!(Arc::ptr_eq(&link, &cluster.shared.nodes.lock().unwrap()["::1:7000"]));
    }

    #[test]
    fn seeds_are_kept_when_the_map_does_not_name_them() {
        let cluster = Cluster::new(Vec::from([address("redis://seed:7000").unwrap()])).ok().unwrap();
        cluster.shared.link("10.0.0.1:7000").unwrap();
        cluster.shared.install(Map::default());
        assert_eq!(cluster.shared.who_may_tell(), ["seed:7000"]);
    }

    #[test]
    fn whoever_is_known_is_asked_for_the_map_and_another_first_each_time() {
        let cluster = Cluster::new(Vec::from([address("redis://seed:7000").unwrap()])).ok().unwrap();
        let node = |port| Value::Array(std::vec![Value::BulkString(b"a".to_vec()), Value::Int(port)]);
        let row = |from, master, replica| Value::Array(std::vec![Value::Int(from), Value::Int(from), master, replica]);
        let rows = Value::Array(std::vec![row(0, node(1), node(2)), row(1, node(3), node(4))]);
        cluster.shared.install(Map::read(&rows, "").unwrap());
        cluster.shared.link("a:3").unwrap();
        let orders: Vec<_> = (0..4).map(|_| cluster.shared.who_may_tell()).collect();
        for order in &orders {
            let mut all = order.clone();
            all.sort();
            assert_eq!(all, ["a:1", "a:2", "a:3", "a:4", "seed:7000"]);
        }
        assert!(orders[0][0] != orders[1][0] && orders[0][2] != orders[1][2]);
    }

    /// A runtime that ends takes the task along that reads the map; another must be able to.
    #[test]
    fn the_map_is_read_again_after_the_runtime_that_read_it_has_ended() {
        // Nobody answers there: a listener that accepts nothing.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = std::format!("redis://{}", listener.local_addr().unwrap());
        let cluster = Cluster::new(Vec::from([address(&url).unwrap()])).ok().unwrap();
        for _ in 0..2 {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                cluster.read_map();
                assert!(cluster.shared.is_reading.load(Ordering::Relaxed));
                tokio::task::yield_now().await;
            });
            drop(runtime);
            assert!(!cluster.shared.is_reading.load(Ordering::Relaxed));
        }
    }

    #[test]
    fn no_address_is_an_error_and_no_link() {
        let cluster = Cluster::new(Vec::from([address("redis://seed:7000").unwrap()])).ok().unwrap();
        for node in ["", ":7000", "here", "here:", "here:x", "here:70000"] {
            let failure = cluster.shared.link(node).err().unwrap();
            assert_eq!(failure.kind(), FailureKind::Other, "{node}");
        }
        assert_eq!(cluster.shared.nodes.lock().unwrap().len(), 1);
    }
}
