//! A cluster of a test's own. One at a time: each is up to six servers, which watch each other by the clock.

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use admittance::policy::Sharing;
use admittance::redis::{SharedLimiter, Store};
use admittance::{Rule, Window};
use redis::Value;

use super::server::{Server, free_port};
use super::{Account, account, policy};

static ONE: Mutex<()> = Mutex::new(());

pub(crate) struct Cluster {
    /// Masters first.
    pub(crate) nodes: Vec<Server>,
    masters: usize,
    _one: MutexGuard<'static, ()>,
}

/// How long a node may be silent: not so short that a busy machine looks like a dead one.
const AS_NODE: [&str; 8] = [
    "--cluster-enabled",
    "yes",
    "--cluster-node-timeout",
    "1000",
    "--repl-diskless-sync-delay",
    "0",
    "--cluster-allow-replica-migration",
    "no",
];

impl Cluster {
    /// Three masters that share the slots, with a replica each where `replicas` is so.
    pub(crate) fn start(replicas: bool) -> Self {
        let masters = 3;
        let nodes = if replicas { 2 * masters } else { masters };
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let nodes: Vec<_> = (0..nodes).map(|_| Server::start_at(port_of_two(), &AS_NODE)).collect();
        let cluster = Self { nodes, masters, _one: one };
        let addresses = cluster.nodes.iter().map(Server::address);
        let replicas = if replicas { "1" } else { "0" };
        let create = ["create".to_owned()].into_iter().chain(addresses);
        cli(create.chain(["--cluster-replicas", replicas, "--cluster-yes"].map(str::to_owned)));
        cluster.until_agreed();
        cluster
    }

    /// Three masters that know each other by addresses of IPv6, `::1` in all. The tests themselves ask them at 127.0.0.1.
    pub(crate) fn start_on_ipv6() -> Self {
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let args = [&AS_NODE[..], &["--bind", "127.0.0.1", "::1", "--cluster-announce-ip", "::1"]].concat();
        let nodes = (0..3).map(|_| Server::start_at(port_of_two(), &args)).collect();
        let cluster = Self { nodes, masters: 3, _one: one };
        let addresses = cluster.nodes.iter().map(|node| format!("::1:{}", node.port()));
        cli(["create".to_owned()].into_iter().chain(addresses).chain(["--cluster-yes".to_owned()]));
        cluster.until_agreed();
        cluster
    }

    /// Three masters with TLS, to clients and among themselves. The tests themselves ask them without, at other ports.
    #[cfg(feature = "redis-tls")]
    pub(crate) fn start_secured(authority: &super::tls::Authority) -> Self {
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let nodes = (0..3).map(|_| {
            let mut args = authority.args(port_of_two(), &["127.0.0.1"]);
            args.extend(["--tls-cluster", "yes", "--tls-replication", "yes"].map(str::to_owned));
            let args: Vec<_> = AS_NODE.into_iter().chain(args.iter().map(String::as_str)).collect();
            Server::start_with(&args)
        });
        let cluster = Self { nodes: nodes.collect(), masters: 3, _one: one };
        let addresses = cluster.nodes.iter().map(|node| format!("127.0.0.1:{}", node.secured_port()));
        let create = ["create".to_owned()].into_iter().chain(addresses).chain(["--cluster-yes".to_owned()]);
        cli(create.chain(["--tls".to_owned(), "--cacert".to_owned(), authority.file()]));
        cluster.until_agreed();
        cluster
    }

    pub(crate) fn masters(&self) -> &[Server] {
        &self.nodes[..self.masters]
    }

    /// By the first of its nodes, as another process would open it.
    pub(crate) fn store(&self) -> Store {
        Store::cluster([self.nodes[0].url()]).unwrap()
    }

    pub(crate) fn limiter(&self, rule: impl Into<Rule>, sharing: Sharing) -> SharedLimiter<Account> {
        SharedLimiter::new(policy("test", rule, sharing).build().unwrap(), self.store()).unwrap()
    }

    /// A node's name within the cluster.
    pub(crate) fn id(&self, node: usize) -> String {
        redis::from_redis_value(self.nodes[node].run(&["CLUSTER", "MYID"]).unwrap()).unwrap()
    }

    /// Which node serves each slot, as the first that runs sees it.
    pub(crate) fn slots(&self) -> Vec<usize> {
        let map = self.nodes.iter().find_map(|node| node.run(&["CLUSTER", "SLOTS"]).ok());
        let Some(Value::Array(rows)) = map else { panic!("{map:?}") };
        let mut nodes = vec![usize::MAX; 16_384];
        for row in rows {
            let Value::Array(row) = row else { panic!("{row:?}") };
            let [Value::Int(from), Value::Int(to), Value::Array(master), ..] = &row[..] else { panic!("{row:?}") };
            let Value::Int(port) = master[1] else { panic!("{master:?}") };
            let node = self.nodes.iter().position(|node| i64::from(node.port()) == port).unwrap();
            nodes[usize::try_from(*from).unwrap()..=usize::try_from(*to).unwrap()].fill(node);
        }
        nodes
    }

    /// How often the nodes have told the map.
    pub(crate) fn maps_told(&self) -> u64 {
        // Redis 6.2 does not tell subcommands apart.
        let told = |node: &Server| node.calls_of("cluster|slots") + node.calls_of("cluster");
        self.masters().iter().map(told).sum()
    }

    /// The value of a key, from whichever node has it.
    pub(crate) fn get(&self, key: &str) -> Option<String> {
        let serves = self.nodes.iter().find_map(|node| node.run(&["GET", key]).ok());
        redis::from_redis_value(serves.expect("somebody serves the key")).unwrap()
    }

    /// A reshard of so many slots from one master to another.
    pub(crate) fn reshard(&self, from: usize, to: usize, slots: u16) {
        let [slots, from, to] = [slots.to_string(), self.id(from), self.id(to)];
        let words = ["reshard", &self.nodes[0].address(), "--cluster-from", &from, "--cluster-to", &to];
        cli(words.into_iter().chain(["--cluster-slots", &slots, "--cluster-yes"]).map(str::to_owned));
    }

    /// Waits until every node that runs says that all slots are served.
    pub(crate) fn until_agreed(&self) {
        until("all agree", || {
            self.nodes
                .iter()
                .filter_map(|node| node.run(&["CLUSTER", "INFO"]).ok())
                .all(|info| redis::from_redis_value::<String>(info).unwrap().contains("cluster_state:ok"))
                && self.nodes[self.masters..].iter().all(|node| {
                    node.run(&["INFO", "replication"]).is_ok_and(|info| {
                        let info: String = redis::from_redis_value(info).unwrap();
                        info.contains("role:master") || info.contains("master_link_status:up")
                    })
                })
        });
    }
}

/// Waits for what nobody tells, twenty seconds at most; how long that was.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) -> Duration {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(20), "not so: {what}");
        sleep(Duration::from_millis(5));
    }
    begun.elapsed()
}

/// The slot of a key, by its hash tag.
pub(crate) fn slot_of(key: &str) -> u16 {
    let tag = key.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map_or(key, |(tag, _)| tag);
    let crc = tag.bytes().fold(0_u16, |crc, byte| {
        (0..8).fold(crc ^ u16::from(byte) << 8, |crc, _| if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 })
    });
    crc % 16_384
}

/// Accounts whose slot is as asked, in an order that is always the same.
pub(crate) fn accounts(is_so: impl Fn(u16) -> bool) -> impl Iterator<Item = Account> {
    let sharing = Sharing::new(admittance::policy::OnStoreFailure::Deny);
    let policy = policy("any", Window::per_day(1), sharing).build().unwrap();
    let limiter: SharedLimiter<Account> =
        SharedLimiter::new(policy, Store::open("redis://127.0.0.1/").unwrap()).unwrap();
    (0..)
        .map(|number| account(&format!("account {number}")))
        .filter(move |name| is_so(slot_of(&limiter.keys_of(name)[0])))
}

impl Server {
    /// Where it listens for TLS.
    #[cfg(feature = "redis-tls")]
    pub(crate) fn secured_port(&self) -> u16 {
        let port = self.run(&["CONFIG", "GET", "tls-port"]).unwrap();
        let [_, port]: [String; 2] = redis::from_redis_value(port).unwrap();
        port.parse().unwrap()
    }

    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port())
    }
}

fn cli(words: impl IntoIterator<Item = String>) {
    let output = Command::new(program()).arg("--cluster").args(words).stdin(Stdio::null()).output().unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The tool that makes clusters.
fn program() -> &'static str {
    let is_there = |name: &&str| Command::new(name).arg("--version").stdout(Stdio::null()).status().is_ok();
    ["redis-cli", "valkey-cli"]
        .into_iter()
        .find(is_there)
        .expect("these tests need redis-cli or valkey-cli on the path")
}

/// A free port, with the one that nodes talk over, which is 10 000 above it.
fn port_of_two() -> u16 {
    loop {
        let port = free_port();
        if port < 55_536 && TcpListener::bind(("127.0.0.1", port + 10_000)).is_ok() {
            return port;
        }
    }
}
