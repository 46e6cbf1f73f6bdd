//! A slot between two nodes, one step at a time.

use std::time::{Duration, Instant};

use admittance::redis::{DecidedBy, FailureKind, SharedLimiter, Store};
use admittance::{Budget, Rule, Window};

use crate::support::cluster::{accounts, slot_of};
use crate::support::{Account, Cluster, Server, patient, policy};

struct Moving {
    cluster: Cluster,
    slot: u16,
    from: usize,
    to: usize,
}

impl Moving {
    fn begin() -> Self {
        Self::within(Cluster::start(false))
    }

    /// A slot that one node is to give to another, and has not given any key of yet.
    fn within(cluster: Cluster) -> Self {
        let slot = 8_000;
        let from = cluster.slots()[usize::from(slot)];
        let to = (from + 1) % 3;
        let moving = Self { cluster, slot, from, to };
        moving.set(to, &["IMPORTING", &moving.cluster.id(from)]);
        moving.set(from, &["MIGRATING", &moving.cluster.id(to)]);
        moving
    }

    fn set(&self, node: usize, words: &[&str]) {
        let slot = self.slot.to_string();
        self.cluster.nodes[node].run(&[&["CLUSTER", "SETSLOT", &slot][..], words].concat()).unwrap();
    }

    fn from(&self) -> &Server {
        &self.cluster.nodes[self.from]
    }

    fn to(&self) -> &Server {
        &self.cluster.nodes[self.to]
    }

    fn migrate(&self, key: &str) {
        let port = self.to().port().to_string();
        self.from().run(&["MIGRATE", "127.0.0.1", &port, key, "0", "5000"]).unwrap();
    }

    fn end(&self) {
        let to = self.cluster.id(self.to);
        for node in [self.to, self.from, 3 - self.to - self.from] {
            self.set(node, &["NODE", &to]);
        }
    }

    fn accounts(&self) -> impl Iterator<Item = Account> {
        let slot = self.slot;
        accounts(move |of| of == slot)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_found_wherever_its_slot_is_just_now_and_counts_on() {
    let moving = Moving::begin();
    let limiter = moving.cluster.limiter(Window::per_day(9), patient());
    let mut accounts = moving.accounts();
    let (ann, bob) = (accounts.next().unwrap(), accounts.next().unwrap());
    let [key] = &limiter.keys_of(&ann)[..] else { panic!("one policy has one key") };
    assert_eq!(slot_of(key), moving.slot);
    let remaining = async |name: &Account| {
        let verdict = limiter.check(name, 1).await;
        assert_eq!(*verdict.decided_by(), DecidedBy::Store, "{verdict:?}");
        verdict.decision().remaining()
    };

    // Nodes that do not say where others are, but at which port.
    for node in &moving.cluster.nodes {
        let set = node.run(&["CONFIG", "SET", "cluster-preferred-endpoint-type", "unknown-endpoint"]);
        assert!(set.is_ok() || node.version() < 7, "{set:?}");
    }

    // Nobody has it: who is to get the slot creates it, and is asked as for a slot that is not its own yet.
    assert_eq!(remaining(&ann).await, Some(8));
    assert_eq!((moving.from().number(&["DBSIZE"]), moving.to().number(&["DBSIZE"])), (0, 1));
    assert_eq!(remaining(&ann).await, Some(7));

    // One that was there before stays until it is moved, and counts on then.
    moving.set(moving.from, &["STABLE"]);
    assert_eq!(remaining(&bob).await, Some(8));
    let to = moving.cluster.id(moving.to);
    moving.set(moving.from, &["MIGRATING", &to]);
    assert_eq!(remaining(&bob).await, Some(7));
    assert_eq!(moving.from().number(&["DBSIZE"]), 1);
    moving.migrate(&limiter.keys_of(&bob)[0]);
    assert_eq!(remaining(&bob).await, Some(6));
    // With a script that the other does not know any more.
    moving.to().run(&["SCRIPT", "FLUSH"]).unwrap();
    assert_eq!(remaining(&bob).await, Some(5));

    // The slot has moved, and this process does not know.
    moving.end();
    let sent = moving.from().calls_of("evalsha");
    assert_eq!(remaining(&bob).await, Some(4));
    assert_eq!(remaining(&ann).await, Some(6));
    assert_eq!(remaining(&ann).await, Some(5));
    // One that was redirected is not counted as a call there: none was executed.
    assert_eq!(moving.from().calls_of("evalsha"), sent);
    assert_eq!(limiter.stats().degraded, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_limits_of_which_one_has_moved_wait_for_the_others() {
    let moving = Moving::begin();
    moving.set(moving.from, &["STABLE"]);
    let rules = [Rule::from(Window::per_day(9)), Rule::from(Budget::per_day(1).with_capacity(9))];
    let policies = rules.into_iter().zip(["window", "bucket"]);
    let policies = policies.map(|(rule, name)| policy(name, rule, patient()).build().unwrap());
    let limiter: SharedLimiter<Account> = SharedLimiter::all(policies, moving.cluster.store()).unwrap();
    let ann = moving.accounts().next().unwrap();
    assert_eq!(limiter.check(&ann, 1).await.decision().remaining(), Some(8));
    let to = moving.cluster.id(moving.to);
    moving.set(moving.from, &["MIGRATING", &to]);
    let keys = limiter.keys_of(&ann);
    moving.migrate(&keys[0]);

    let begun = Instant::now();
    let before = moving.from().rejected_of("evalsha");
    let asked = tokio::spawn({
        let (limiter, ann) = (limiter.clone(), ann.clone());
        async move { limiter.check(&ann, 1).await }
    });
    crate::support::cluster::until("told to try again", || moving.from().rejected_of("evalsha") > before);
    assert!(!asked.is_finished());
    moving.migrate(&keys[1]);
    let verdict = asked.await.unwrap();
    assert_eq!(*verdict.decided_by(), DecidedBy::Store, "{verdict:?} after {:?}", begun.elapsed());
    assert_eq!(verdict.decision().remaining(), Some(7), "and is charged once");
    moving.end();
    assert_eq!(limiter.check(&ann, 1).await.decision().remaining(), Some(6));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_for_the_others_waits_until_the_deadline_and_no_longer() {
    let moving = Moving::begin();
    moving.set(moving.from, &["STABLE"]);
    let deadline = Duration::from_millis(100);
    let policies =
        ["one", "other"].map(|name| policy(name, Window::per_day(9), patient().deadline(deadline)).build().unwrap());
    let limiter: SharedLimiter<Account> = SharedLimiter::all(policies, moving.cluster.store()).unwrap();
    let ann = moving.accounts().next().unwrap();
    let remaining = loop {
        let verdict = limiter.check(&ann, 1).await;
        if verdict.degraded().is_none() {
            break verdict.decision().remaining().unwrap();
        }
    };
    let to = moving.cluster.id(moving.to);
    moving.set(moving.from, &["MIGRATING", &to]);
    moving.migrate(&limiter.keys_of(&ann)[0]);
    let mut refused = 0;
    for _ in 0..5 {
        let begun = Instant::now();
        let verdict = limiter.check(&ann, 1).await;
        let took = begun.elapsed();
        let failure = verdict.degraded().expect("the other never comes");
        // On a busy machine the last try may be one that is not answered in time.
        match failure.kind() {
            FailureKind::NotReady => refused += u32::from(!failure.may_have_been_charged()),
            kind => assert_eq!(kind, FailureKind::Timeout, "{failure}"),
        }
        assert!(took >= deadline / 2 && took < deadline * 10, "{took:?}");
    }
    assert!(refused >= 1);
    moving.migrate(&limiter.keys_of(&ann)[1]);
    moving.end();
    assert_eq!(
        limiter.check(&ann, 1).await.decision().remaining(),
        Some(remaining - 1),
        "who was refused is not charged"
    );
}

/// Nodes redirect to `::1:7000`, without brackets; in a URL there are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_on_ipv6_is_followed_to_all_its_nodes() {
    if let Err(error) = std::net::TcpListener::bind("[::1]:0") {
        eprintln!("SKIPPED: this machine has no IPv6 loopback ({error})");
        return;
    }
    let moving = Moving::within(Cluster::start_on_ipv6());
    let url = format!("redis://[::1]:{}/", moving.cluster.nodes[0].port());
    let store = Store::cluster([url]).unwrap();
    store.ready().await.unwrap();
    let policy = policy("test", Window::per_day(9), patient()).build().unwrap();
    let limiter: SharedLimiter<Account> = SharedLimiter::new(policy, store).unwrap();
    for name in accounts(|_| true).take(60) {
        let verdict = limiter.check(&name, 1).await;
        assert_eq!((verdict.degraded(), verdict.decision().remaining()), (None, Some(8)));
    }
    for node in moving.cluster.masters() {
        assert!(node.number(&["DBSIZE"]) > 5, "keys are on all nodes");
        let clients: String = redis::from_redis_value(node.run(&["CLIENT", "LIST"]).unwrap()).unwrap();
        assert!(clients.contains(&format!("laddr=[::1]:{}", node.port())), "{clients}");
    }
    // It redirects this once, and then for ever.
    let ann = moving.accounts().find(|name| !accounts(|_| true).take(60).any(|seen| seen == *name)).unwrap();
    let before = moving.from().rejected_of("evalsha");
    assert_eq!(limiter.check(&ann, 1).await.decision().remaining(), Some(8));
    assert!(moving.from().rejected_of("evalsha") > before && moving.to().number(&["DBSIZE"]) > 0);
    moving.end();
    let before = moving.from().rejected_of("evalsha");
    let verdict = limiter.check(&ann, 1).await;
    assert_eq!((verdict.degraded(), verdict.decision().remaining()), (None, Some(7)));
    assert_eq!(limiter.check(&ann, 1).await.decision().remaining(), Some(6));
    assert_eq!(moving.from().rejected_of("evalsha"), before + 1, "once, and then it is known");
}
