//! Slots that are moved by the hundred while callers ask.

use admittance::redis::SharedLimiter;
use admittance::{Budget, Rule, Window};

use crate::support::cluster::{accounts, slot_of};
use crate::support::{Account, Cluster, Load, patient, policy};

const CAPACITY: u64 = 60;

/// Slots that are moved of the first node, and of the last.
const SLOTS: u16 = 300;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_over_admitted_while_slots_move_and_no_call_is_lost() {
    let cluster = Cluster::start(false);
    // Those that a reshard takes: the first that a node has. And some that stay.
    let slots = cluster.slots();
    let last = u16::try_from(slots.iter().position(|node| *node == 2).unwrap()).unwrap();
    let moves = move |slot: u16| slot < SLOTS || (last..last + SLOTS).contains(&slot);
    let names: Vec<_> = accounts(moves).take(120).chain(accounts(move |slot| !moves(slot)).take(30)).collect();
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
    let loads = [Load::start(&one, 6, &names), Load::start(&both, 6, &names)];
    for load in &loads {
        load.until_store(100).await;
    }
    tokio::task::block_in_place(|| {
        cluster.reshard(0, 1, SLOTS);
        cluster.reshard(2, 1, SLOTS);
    });
    cluster.until_agreed();
    eprintln!("{} and {} admitted by then", loads[0].seen().store_admitted, loads[1].seen().store_admitted);
    let moved = nodes().iter().zip(before).filter(|(after, before)| **after != *before).count();
    assert_eq!(moved, 120);
    for load in &loads {
        load.until("used up", |seen| seen.admitted_of.iter().all(|admitted| *admitted >= CAPACITY)).await;
        load.until_store(300).await;
    }
    for load in loads {
        let seen = load.stop().await;
        eprintln!(
            "{moved} of {} keys moved; {} calls, {} without the store {:?}",
            names.len(),
            seen.asked(),
            seen.degraded,
            seen.kinds
        );
        assert_eq!(seen.degraded, 0, "{:?}", seen.last);
        assert!(seen.admitted_of.iter().all(|admitted| *admitted == CAPACITY), "{:?}", seen.admitted_of);
    }
    for name in &names {
        assert_eq!(cluster.get(&one.keys_of(name)[0]), Some(CAPACITY.to_string()));
    }
    // Not by chance: calls did meet slots that were on their way.
    let of = |code: &str| -> u64 { cluster.nodes.iter().map(|node| node.errors_of(code)).sum() };
    let [moved, asked, again] = ["MOVED", "ASK", "TRYAGAIN"].map(of);
    eprintln!("{moved} redirected, {asked} for once, {again} told to try again");
    assert!(moved > 0);
}
