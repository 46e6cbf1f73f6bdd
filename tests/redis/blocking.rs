//! Callers that are threads, and know of no runtime.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use admittance::policy::{OnExhausted, OnStoreFailure, Sharing};
use admittance::redis::{BlockingLimiter, DecidedBy, FailureKind, SharedLimiter, SharedVerdict, Store};
use admittance::{Budget, Rule, Window};

use crate::support::cluster::until;
use crate::support::{Account, Seen, Server, account, limiter, patient, policy};

fn blocking(server: &Server, rule: impl Into<Rule>, sharing: Sharing) -> BlockingLimiter<Account> {
    limiter(server, rule, sharing).blocking().unwrap()
}

/// Does it on a thread of its own, and fails where it hangs.
fn ends<T: Send + 'static>(what: &str, does: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || tell.send(does()));
    told.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("{what} hangs, or has panicked"))
}

#[test]
fn of_sixteen_threads_five_are_admitted_and_eleven_denied() {
    let server = Server::start();
    let limiters: Vec<_> = (0..16).map(|_| blocking(&server, Window::per_day(5), patient())).collect();
    for round in 0..200 {
        let (name, barrier) = (account(&format!("caller {round}")), Barrier::new(limiters.len()));
        let verdicts: Vec<SharedVerdict> = thread::scope(|scope| {
            let ask = |limiter| {
                let (name, barrier) = (&name, &barrier);
                move || {
                    barrier.wait();
                    BlockingLimiter::check(limiter, name, 1)
                }
            };
            let callers: Vec<_> = limiters.iter().map(|limiter| scope.spawn(ask(limiter))).collect();
            callers.into_iter().map(|caller| caller.join().unwrap()).collect()
        });
        assert!(verdicts.iter().all(|verdict| *verdict.decided_by() == DecidedBy::Store), "{verdicts:?}");
        let admitted = verdicts.iter().filter(|verdict| verdict.is_admitted()).count();
        let denied = verdicts.iter().filter(|verdict| verdict.retry_after() > Some(Duration::ZERO)).count();
        assert_eq!((admitted, denied), (5, 11), "round {round}");
        assert_eq!(server.get(&limiters[0].limiter().keys_of(&name)[0]).as_deref(), Some("5"));
    }
}

/// Many threads and one limiter, with leases and batches: never more than there is.
#[test]
fn threads_that_share_a_limiter_share_its_leases() {
    let server = Server::start();
    let limiter =
        blocking(&server, Budget::per_day(1).with_capacity(1_000), patient().lease(64, Duration::from_secs(60)));
    let admitted: u32 = thread::scope(|scope| {
        let ask = || (0..200).map(|_| u32::from(limiter.check(&account("ann"), 1).is_admitted())).sum::<u32>();
        let callers: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).sum()
    });
    assert_eq!(admitted, 1_000);
    let stats = limiter.limiter().stats();
    assert!(stats.calls < 1_600, "{stats:?}");
}

#[test]
fn threads_are_answered_by_the_deadline_while_the_store_is_gone_and_by_the_store_when_it_is_back() {
    let mut server = Server::start();
    let limiter = blocking(&server, Window::per_day(1_000_000), Sharing::new(OnStoreFailure::Deny));
    limiter.ready().unwrap();
    let (seen, stop) = (Mutex::new(Seen { admitted_of: vec![0], ..Seen::default() }), AtomicBool::new(false));
    let caller = || {
        while !stop.load(Ordering::Relaxed) {
            let begun = Instant::now();
            let verdict = limiter.check(&account("ann"), 1);
            seen.lock().unwrap().add(0, &verdict, begun.elapsed());
            thread::sleep(Duration::from_millis(1));
        }
    };
    let more = |what: &str, of: fn(&Seen) -> u64| {
        let before = of(&seen.lock().unwrap());
        let begun = Instant::now();
        while of(&seen.lock().unwrap()) < before + 100 {
            assert!(begun.elapsed() < Duration::from_secs(60), "not {what}");
            thread::sleep(Duration::from_millis(5));
        }
    };
    thread::scope(|scope| {
        // Whatever fails, the callers stop.
        let _stops = Stops(&stop);
        (0..4).for_each(|_| drop(scope.spawn(caller)));
        more("decided by the store", |seen| seen.store);
        server.kill();
        more("told that it is gone", |seen| seen.of_kind(FailureKind::Unreachable));
        server.restart();
        more("decided by the store again", |seen| seen.store);
        server.signal("-STOP");
        more("told that it does not answer", |seen| seen.degraded);
        server.signal("-CONT");
        more("decided by the store at last", |seen| seen.store);
    });
    let seen = seen.into_inner().unwrap();
    seen.were_in_time(Sharing::DEADLINE);
    assert!(seen.of_kind(FailureKind::Timeout) >= 1 && seen.degraded_admitted == 0, "{:?}", seen.kinds);
}

struct Stops<'s>(&'s AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// It blocks the thread, and does no worse: also where a task has had more answers than its runtime lets it have at a time.
#[test]
fn a_thread_of_a_runtime_is_answered_too() {
    let server = Server::start();
    let limiter = blocking(&server, Window::per_day(10_000), patient());
    let asks = |limiter: &BlockingLimiter<Account>| {
        for _ in 0..300 {
            let verdict = limiter.check(&account("ann"), 1);
            assert_eq!(*verdict.decided_by(), DecidedBy::Store, "{verdict:?}");
        }
    };
    let (one, many, other) = (limiter.clone(), limiter.clone(), limiter.clone());
    ends("a task of one thread", move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        // One that has no clock and no network of its own.
        let bare = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async { asks(&one) });
        bare.block_on(async { asks(&one) });
    });
    ends("a task of several", move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let more = many.clone();
            let tasks = [tokio::spawn(async move { asks(&more) }), tokio::task::spawn_blocking(move || asks(&many))];
            for task in tasks {
                task.await.unwrap();
            }
        });
    });
    // The runtimes that have ended were not those that the connection was made in.
    asks(&other);
    assert_eq!(server.get(&limiter.limiter().keys_of(&account("ann"))[0]).as_deref(), Some("1500"));
}

#[test]
fn a_wait_in_a_policy_blocks_the_thread_for_it() {
    let server = Server::start();
    let waits = OnExhausted::WaitUpTo(Duration::from_secs(20));
    let policy = policy("waits", Budget::per_second(10).with_capacity(1), patient()).on_exhausted(waits);
    let limiter: SharedLimiter<Account> = SharedLimiter::new(policy.build().unwrap(), server.store()).unwrap();
    let limiter = limiter.blocking().unwrap();
    let begun = Instant::now();
    for _ in 0..3 {
        assert!(limiter.wait(&account("ann"), 1).is_admitted());
    }
    assert!(begun.elapsed() >= Duration::from_millis(199), "{:?}", begun.elapsed());
}

#[test]
fn what_was_not_needed_goes_back() {
    let server = Server::start();
    let limiter = blocking(&server, Window::per_day(100), patient());
    let verdict = limiter.check(&account("ann"), 7);
    limiter.refund(&account("ann"), 7, &verdict);
    assert_eq!(limiter.check(&account("ann"), 0).decision().remaining(), Some(100));

    // Leases: when it is said, and when the last handle is dropped, on a thread that is in no runtime.
    for says in [true, false] {
        let limiter = blocking(&server, Window::per_day(10_000), patient().lease(100, Duration::from_secs(60)));
        let name = account(&format!("says {says}"));
        let key = limiter.limiter().keys_of(&name).remove(0);
        // The first call sees what there is, the next leases of that.
        for _ in 0..2 {
            assert!(limiter.check(&name, 1).is_admitted());
        }
        assert!(limiter.limiter().stats().leased > 0);
        assert_ne!(server.get(&key).as_deref(), Some("2"));
        if says {
            limiter.give_back_leases();
            assert_eq!(server.get(&key).as_deref(), Some("2"));
        }
        let other = limiter.clone();
        drop(limiter);
        assert!(other.check(&name, 0).is_admitted());
        drop(other);
        until("given back", || server.get(&key).as_deref() == Some("2"));
    }
}

/// Nobody waits for a store that does not answer, only because a limiter is dropped.
#[test]
fn a_drop_hangs_at_nothing() {
    let server = Server::start();
    let limiter = blocking(&server, Window::per_day(10_000), patient().lease(100, Duration::from_secs(60)));
    for _ in 0..2 {
        assert!(limiter.check(&account("ann"), 1).is_admitted());
    }
    server.signal("-STOP");
    let late = limiter.clone();
    let asked = thread::spawn(move || late.check(&account("bob"), 1));
    ends("the drop", move || drop(limiter));
    server.signal("-CONT");
    assert!(asked.join().unwrap().is_admitted());
    // Within a runtime, and one that was never asked.
    let limiter = blocking(&server, Window::per_day(5), patient());
    ends("the drop in a runtime", move || {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async move { drop(limiter) });
    });
    let nobody = SharedLimiter::<Account>::new(
        policy("test", Window::per_day(5), patient()).build().unwrap(),
        Store::open("redis://127.0.0.1:1/").unwrap(),
    );
    let nobody = nobody.unwrap().blocking().unwrap();
    assert_eq!(nobody.ready().unwrap_err().kind(), FailureKind::Unreachable);
    ends("the drop without a store", move || drop(nobody));
}

#[cfg(feature = "redis-tls")]
#[test]
fn threads_are_served_over_tls() {
    let authority = crate::support::tls::Authority::new();
    let secured = crate::support::tls::Secured::start(&authority);
    let policy = policy("test", Window::per_day(5), patient()).build().unwrap();
    let limiter = SharedLimiter::<Account>::new(policy, secured.store()).unwrap().blocking().unwrap();
    let admitted = (0..16).filter(|_| limiter.check(&account("ann"), 1).is_admitted()).count();
    assert_eq!((admitted, limiter.limiter().stats().degraded), (5, 0));
}

/// Threads of this process by the name of ours.
fn of_ours() -> usize {
    std::fs::read_dir("/proc/self/task")
        .unwrap()
        .filter(|task| {
            let name = std::fs::read_to_string(task.as_ref().unwrap().path().join("comm"));
            name.is_ok_and(|name| name.trim() == "admittance-io")
        })
        .count()
}

/// In a process where nobody else has one.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "is what the test below runs in a process of its own"]
fn one_thread() {
    let server = Server::start();
    let ask = |limiter: &BlockingLimiter<Account>, name: &Account| {
        assert_eq!(*limiter.check(name, 1).decided_by(), DecidedBy::Store);
    };
    assert_eq!(of_ours(), 0);
    for _ in 0..20 {
        let limiters: Vec<_> = thread::scope(|scope| {
            let begins = || {
                let limiter = blocking(&server, Window::per_day(10_000), patient());
                ask(&limiter, &account("ann"));
                limiter
            };
            let all: Vec<_> = (0..8).map(|_| scope.spawn(begins)).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(of_ours(), 1);
        drop(limiters);
        until("no thread", || of_ours() == 0);
    }
    // The thread stays until all leases are back.
    let leases = patient().lease(100, Duration::from_secs(60));
    let limiter = blocking(&server, Window::per_day(10_000), leases);
    let names: Vec<_> = (0..200).map(|number| account(&format!("leases {number}"))).collect();
    for name in names.iter().chain(&names) {
        ask(&limiter, name);
    }
    let keys: Vec<_> = names.iter().map(|name| limiter.limiter().keys_of(name).remove(0)).collect();
    drop(limiter);
    until("given back", || keys.iter().all(|key| server.get(key).as_deref() == Some("2")));
    until("no thread", || of_ours() == 0);
    println!("one, and then none.");
}

#[cfg(target_os = "linux")]
#[test]
fn there_is_one_thread_and_it_ends_with_the_last_limiter() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["blocking::one_thread", "--exact", "--ignored", "--nocapture"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (told, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("one, and then none."), "{told}\n{errors}");
}
