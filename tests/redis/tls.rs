//! Stores over TLS: real servers, with certificates that were made for each test.

use std::sync::Arc;
use std::time::{Duration, Instant};

use admittance::policy::{OnStoreFailure, Sharing};
use admittance::redis::{FailureKind, SharedLimiter, Store, StoreFailure, Tls};
use admittance::{Budget, Window};
use tokio::sync::Barrier;

use crate::support::cluster::until;
use crate::support::tls::{Authority, Identity, Secured};
use crate::support::{Account, Cluster, Load, Network, Proxy, Server, account, patient, policy};

fn limiter(store: Store, sharing: Sharing) -> SharedLimiter<Account> {
    SharedLimiter::new(policy("test", Window::per_day(5), sharing).build().unwrap(), store).unwrap()
}

/// Waits until the store decides, or says why it does not.
async fn refused(store: &Store) -> StoreFailure {
    store.ready().await.expect_err("nobody is there whom this client trusts")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_sixteen_callers_over_tls_five_are_admitted_and_eleven_denied() {
    let authority = Authority::new();
    let secured = Secured::start(&authority);
    let limiters: Vec<_> = (0..16).map(|_| limiter(secured.store(), patient())).collect();
    for round in 0..50 {
        let name = account(&format!("caller {round}"));
        let barrier = Arc::new(Barrier::new(limiters.len()));
        let callers: Vec<_> = limiters
            .iter()
            .map(|limiter| {
                let (limiter, name, barrier) = (limiter.clone(), name.clone(), Arc::clone(&barrier));
                tokio::spawn(async move {
                    barrier.wait().await;
                    let verdict = limiter.check(&name, 1).await;
                    assert_eq!(verdict.degraded(), None);
                    verdict.is_admitted()
                })
            })
            .collect();
        let mut admitted = 0;
        for caller in callers {
            admitted += u32::from(caller.await.unwrap());
        }
        assert_eq!(admitted, 5, "round {round}");
        assert_eq!(secured.server.get(&limiters[0].keys_of(&name)[0]).as_deref(), Some("5"));
    }
    // What asks at the port without TLS is the test alone.
    let clients: String = redis::from_redis_value(secured.server.run(&["CLIENT", "LIST"]).unwrap()).unwrap();
    let over_tls = clients.lines().filter(|line| line.contains(&format!("laddr=127.0.0.1:{}", secured.port))).count();
    assert_eq!((over_tls, clients.lines().count()), (16, 17), "{clients}");
}

/// A certificate is of an address as well as of a name.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_on_ipv6_shows_a_certificate_of_its_address() {
    if let Err(error) = std::net::TcpListener::bind("[::1]:0") {
        eprintln!("SKIPPED: this machine has no IPv6 loopback ({error})");
        return;
    }
    let authority = Authority::new();
    let secured = Secured::start_with(&authority, &["::1"], &["--bind", "127.0.0.1", "::1"]);
    let url = format!("rediss://[::1]:{}/", secured.port);
    Store::open_with(&url, &authority.tls()).unwrap().ready().await.unwrap();
    assert_eq!(refused(&secured.store()).await.kind(), FailureKind::Tls);
}

/// Whom nobody vouches for is told nothing, and nothing is admitted on its word.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_cannot_show_who_it_is_is_told_nothing() {
    let (authority, other) = (Authority::new(), Authority::new());
    let secured = Secured::start(&authority);
    let elsewhere = Secured::start_with(&authority, &["redis.example"], &[]);
    let unknown =
        (&secured, Store::open_with(&secured.url(), &other.tls()).unwrap(), "UnknownIssuer; say which authority");
    let misnamed = (&elsewhere, elsewhere.store(), "127.0.0.1");
    // As the one that was thrown away, when it was made anew.
    let anew = Authority::named(Some(&authority.name));
    let namesake =
        (&secured, Store::open_with(&secured.url(), &anew.tls()).unwrap(), "BadSignature; say which authority");
    let system = (&secured, Store::open(&secured.url()).unwrap(), "UnknownIssuer; say which authority");
    for (secured, store, says) in [unknown, namesake, misnamed, system] {
        let failure = refused(&store).await;
        assert!(failure.kind() == FailureKind::Tls && failure.to_string().contains(says), "{failure}");
        assert!(!failure.may_have_been_charged(), "{failure}");
        let limiter = limiter(store, Sharing::new(OnStoreFailure::Deny));
        for _ in 0..100 {
            let verdict = limiter.check(&account("ann"), 1).await;
            assert!(!verdict.is_admitted());
            assert_eq!(verdict.degraded().map(StoreFailure::kind), Some(FailureKind::Tls), "{verdict:?}");
        }
        assert_eq!((secured.server.number(&["DBSIZE"]), secured.server.calls_of("ping")), (0, 1), "the test's own");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_asks_who_comes_is_shown_a_certificate() {
    let (authority, other) = (Authority::new(), Authority::new());
    let secured = Secured::start_with(&authority, &["127.0.0.1"], &["--tls-auth-clients", "yes"]);
    let shows = |who: &Identity| authority.tls().with_client(who.certificate.as_bytes(), who.key.as_bytes()).unwrap();
    let open = |tls: &Tls| Store::open_with(&secured.url(), tls).unwrap();
    open(&shows(&authority.signs(&["limits"]))).ready().await.unwrap();
    for tls in [authority.tls(), shows(&other.signs(&["limits"]))] {
        let failure = refused(&open(&tls)).await;
        assert!(failure.kind() == FailureKind::Tls && failure.to_string().contains("alert"), "{failure}");
        assert!(!failure.may_have_been_charged(), "{failure}");
    }
}

/// TLS where there is none, and none where there is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_port_of_the_other_kind_is_an_error_and_no_wait() {
    let authority = Authority::new();
    let secured = Secured::start(&authority);
    let tls = authority.tls();
    for store in [
        Store::open_with(&format!("rediss://127.0.0.1:{}/", secured.server.port()), &tls).unwrap(),
        Store::open(&format!("redis://127.0.0.1:{}/", secured.port)).unwrap(),
    ] {
        let failure = refused(&store).await;
        assert!(matches!(failure.kind(), FailureKind::Tls | FailureKind::Unreachable), "{failure}");
    }
    let mixed = Store::cluster_with(["rediss://127.0.0.1:1/", "redis://127.0.0.1:2/"], &tls).unwrap_err();
    assert_eq!(mixed.kind(), FailureKind::Invalid, "{mixed}");
    let mixed = Store::cluster(["redis://127.0.0.1:1/", "rediss://127.0.0.1:2/"]).unwrap_err();
    assert!(mixed.kind() == FailureKind::Invalid && mixed.to_string().contains("127.0.0.1:2"), "{mixed}");
}

/// Callers are answered by their deadline while nobody is there, and by the store again when somebody is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_with_tls_that_was_killed_is_asked_again_when_it_is_back() {
    let authority = Authority::new();
    let mut secured = Secured::start(&authority);
    let sharing = Sharing::new(OnStoreFailure::Deny);
    let policy = policy("test", Window::per_day(100_000), sharing).build().unwrap();
    let limiter: SharedLimiter<Account> = SharedLimiter::new(policy, secured.store()).unwrap();
    let load = Load::start(&limiter, 4, &[account("ann")]);
    for _ in 0..3 {
        load.until_store(20).await;
        secured.server.kill();
        load.until_degraded(200).await;
        let failure = load.seen().last.unwrap();
        assert!(failure.kind() == FailureKind::Unreachable && !failure.may_have_been_charged(), "{failure}");
        tokio::task::block_in_place(|| secured.server.restart());
        let back = load.until_store(20).await;
        eprintln!("back after {back:?}");
    }
    // Paused, and then not: the connection that was given up is let go.
    secured.server.signal("-STOP");
    load.until_degraded(100).await;
    secured.server.signal("-CONT");
    load.until_store(20).await;
    let seen = load.stop().await;
    seen.were_in_time(Sharing::DEADLINE);
    assert_eq!(seen.degraded_admitted, 0);
    until("one connection", || secured.server.number_of("connected_clients") == 2);
}

/// Also where calls are under way on it that are never answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_is_given_up_is_closed() {
    let authority = Authority::new();
    let secured = Secured::start(&authority);
    let proxy = Proxy::to(secured.port).await;
    let url = proxy.url().replace("redis://", "rediss://");
    let store = Store::open_with(&url, &authority.tls()).unwrap();
    let load = Load::start(&limiter(store, Sharing::new(OnStoreFailure::Deny)), 4, &[account("ann")]);
    for _ in 0..3 {
        load.until_store(20).await;
        let before = load.seen().of_kind(FailureKind::Unreachable);
        proxy.network(Network::SwallowsAnswers);
        load.until("given up", |seen| seen.of_kind(FailureKind::Unreachable) >= before + 10).await;
        proxy.network(Network::Takes(Duration::ZERO));
    }
    load.until_store(20).await;
    // Ours, and the one that asks.
    until("one connection", || secured.server.number_of("connected_clients") == 2);
    load.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn user_and_password_go_to_the_server_and_nowhere_else() {
    let authority = Authority::new();
    let secured = Secured::start(&authority);
    let words = "ACL SETUSER ann on >geheim ~admittance:* +ping +evalsha +eval +time +get +set +incrby +decrby +pttl +pexpireat";
    secured.server.run(&words.split(' ').collect::<Vec<_>>()).unwrap();
    let open = |user: &str| {
        let url = secured.url().replace("rediss://", &format!("rediss://{user}@"));
        Store::open_with(&url, &authority.tls()).unwrap()
    };
    let mut said = Vec::new();
    let store = open("ann:geheim");
    store.ready().await.unwrap();
    said.push(format!("{store:?} {:?}", limiter(store.clone(), patient())));
    // Somebody else's now, and then gone.
    for user in ["ann:geheim2", "bert:geheim"] {
        let failure = open(user).ready().await.unwrap_err();
        assert_eq!(failure.kind(), FailureKind::NotPermitted, "{failure}");
        said.push(format!("{failure} {failure:?}"));
    }
    let Secured { server, port, .. } = secured;
    drop(server);
    let url = format!("rediss://ann:geheim@127.0.0.1:{port}/");
    let failure = Store::open_with(&url, &authority.tls()).unwrap().ready().await.unwrap_err();
    said.push(format!("{failure} {failure:?}"));
    let failure = Store::open(&format!("{url}#insecure")).unwrap_err();
    said.push(format!("{failure} {failure:?}"));
    let me = authority.signs(&["limits"]);
    said.push(format!("{:?}", authority.tls().with_client(me.certificate.as_bytes(), me.key.as_bytes()).unwrap()));
    for text in &said {
        assert!(!text.contains("geheim") && !text.contains("PRIVATE"), "{text}");
    }
}

#[test]
fn what_is_no_certificate_is_told_at_once() {
    let authority = Authority::new();
    let (me, other) = (authority.signs(&["limits"]), authority.signs(&["limits"]));
    let with = |certificate: &str, key: &str| authority.tls().with_client(certificate.as_bytes(), key.as_bytes());
    let broken = authority.pem.replace("-----END", "?-----END");
    let no_der = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for (failure, says) in [
        (Tls::authority(b"").unwrap_err(), "the authority"),
        (Tls::authority(me.key.as_bytes()).unwrap_err(), "the authority"),
        (Tls::authority(broken.as_bytes()).unwrap_err(), "the authority"),
        (Tls::authority(format!("{}{no_der}", authority.pem).as_bytes()).unwrap_err(), "certificate 2"),
        (with("", &me.key).unwrap_err(), "the client's certificate"),
        (with(&me.certificate, "").unwrap_err(), "the client's key"),
        (with(&me.certificate, &me.certificate).unwrap_err(), "the client's key"),
        (with(&me.certificate, &other.key).unwrap_err(), "the client's certificate and key"),
    ] {
        assert_eq!(failure.kind(), FailureKind::Invalid, "{failure}");
        assert!(failure.to_string().contains(says) && !failure.to_string().contains("PRIVATE"), "{failure}");
    }
    with(&me.certificate, &me.key).unwrap();
    // Two that lead to the same, as a bundle has them.
    Tls::authority(format!("{}{}", authority.pem, Authority::new().pem).as_bytes()).unwrap();
}

/// Nodes that nobody was told of are asked over TLS too, and over TLS only.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_with_tls_is_followed_to_all_its_nodes() {
    let authority = Authority::new();
    let mut cluster = Cluster::start_secured(&authority);
    let url = |node: &Server| format!("rediss://127.0.0.1:{}/", node.secured_port());
    let store = Store::cluster_with([url(&cluster.nodes[0])], &authority.tls()).unwrap();
    store.ready().await.unwrap();
    let other = Store::cluster_with([url(&cluster.nodes[0])], &Authority::new().tls()).unwrap();
    assert_eq!(refused(&other).await.kind(), FailureKind::Tls);
    let policy = policy("test", Budget::per_day(1).with_capacity(5), patient()).build().unwrap();
    let limiter: SharedLimiter<Account> = SharedLimiter::new(policy, store).unwrap();
    let all: Vec<_> = (0..60).map(|number| account(&format!("account {number}"))).collect();
    for name in &all {
        let mut admitted = 0;
        for _ in 0..7 {
            let verdict = limiter.check(name, 1).await;
            assert_eq!(verdict.degraded(), None);
            admitted += u32::from(verdict.is_admitted());
        }
        assert_eq!(admitted, 5, "{name:?}");
    }
    for node in cluster.masters() {
        assert!(node.number(&["DBSIZE"]) > 5, "keys are on all nodes");
        let clients: String = redis::from_redis_value(node.run(&["CLIENT", "LIST"]).unwrap()).unwrap();
        let plain = clients.lines().filter(|line| line.contains(&format!("laddr=127.0.0.1:{}", node.port())));
        assert_eq!(plain.count(), 1, "the test's own: {clients}");
    }
    // One that was killed is asked again when it is back.
    cluster.nodes[1].kill();
    cluster.nodes[1].restart();
    cluster.until_agreed();
    let begun = Instant::now();
    for name in &all {
        while limiter.check(name, 1).await.degraded().is_some() {
            assert!(begun.elapsed() < Duration::from_secs(30), "{name:?} is not served again");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}
