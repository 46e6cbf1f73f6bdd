//! Slots that are moved by the hundred while callers ask.

use admittance::redis::SharedLimiter;
use admittance::{Budget, Rule, Window};

use crate::support::cluster::slot_of;
use crate::support::{Account, Cluster, Load, account, patient, policy};

const CAPACITY: u64 = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_over_admitted_while_slots_move_and_no_call_is_lost() {
    let cluster = Cluster::start(false);
    let names: Vec<_> = (0..300).map(|number| account(&format!("account {number}"))).collect();
    let one = cluster.limiter(Window::per_day(CAPACITY), patient());
    let rules = [Rule::from(Window::per_day(CAPACITY)), Rule::from(Budget::per_day(1).with_capacity(CAPACITY + 5))];
    let policies = rules.into_iter().zip(["window", "bucket"]);
    let policies = policies.map(|(rule, name)| policy(name, rule, patient()).build().unwrap());
    let both: SharedLimiter<Account> = SharedLimiter::all(policies, cluster.store()).unwrap();

    let nodes = || {
        let slots = cluster.slots();
        names.iter().map(|name| slots[usize::from(slot_of(&one.keys_of(name)[0]))]).collect::<Vec<_>>()
    };
    let before = nodes();
    let loads = [Load::start(&one, 2, &names), Load::start(&both, 2, &names)];
    for load in &loads {
        load.until_store(100).await;
    }
    tokio::task::block_in_place(|| {
        cluster.reshard(0, 1, 400);
        cluster.reshard(2, 1, 400);
    });
    cluster.until_agreed();
    let moved = nodes().iter().zip(before).filter(|(after, before)| **after != *before).count();
    assert!(moved > 0, "of 300 keys none was in 800 slots");
    for load in &loads {
        load.until("used up", |seen| seen.admitted_of.iter().all(|admitted| *admitted >= CAPACITY)).await;
        load.until_store(600).await;
    }
    for load in loads {
        let seen = load.stop().await;
        eprintln!(
            "{moved} of 300 keys moved; {} calls, {} without the store {:?}",
            seen.asked(),
            seen.degraded,
            seen.kinds
        );
        assert_eq!(seen.degraded, 0, "{:?}", seen.last);
        assert!(seen.admitted_of.iter().all(|admitted| *admitted == CAPACITY), "{:?}", seen.admitted_of);
    }
    let redirected = cluster.nodes.iter().map(|node| {
        let stats: String = redis::from_redis_value(node.run(&["INFO", "errorstats"]).unwrap()).unwrap();
        stats.replace("\r\n", " ")
    });
    eprintln!("{:?}", redirected.collect::<Vec<_>>());
}
