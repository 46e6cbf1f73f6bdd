//! Callers whose checks go together, and tokens that are leased, while the store is gone.

use std::time::Duration;

use admittance::Window;
use admittance::policy::{OnStoreFailure, Sharing};
use admittance::redis::FailureKind;

use super::three::DEADLINE;
use crate::support::{Load, Server, account, in_time, limiter, some};

async fn stays_in_time(sharing: Sharing) {
    let mut server = Server::start();
    let limiter = limiter(&server, Window::per_day(100_000), sharing);
    let load = Load::start(&limiter, 16, &[account("ann"), account("bob")]);
    for _ in 0..2 {
        load.until_store(200).await;
        server.signal("-STOP");
        load.until_degraded(200).await;
        server.signal("-CONT");
        let back = load.until_store(200).await;
        in_time(back, Duration::from_secs(1));

        tokio::task::block_in_place(|| server.run(&["CLIENT", "KILL", "TYPE", "normal"])).unwrap();
        load.until_store(200).await;
    }
    for (number, name) in ["ann", "bob"].into_iter().enumerate() {
        let admitted = load.seen().admitted_of[number];
        let counted: u64 = server.get(&limiter.keys_of(&account(name))[0]).unwrap().parse().unwrap();
        // Who gave up may have been counted, and what is leased is before it is spent, by as many calls as there were.
        let leased = sharing.leasing().map_or(0, |leasing| leasing.most * limiter.stats().calls);
        let most = load.seen().asked() + leased;
        assert!((admitted..=most).contains(&counted), "{counted} counted, {admitted} admitted, {most} at most");
    }
    server.kill();
    load.until_degraded(200).await;
    tokio::task::block_in_place(|| server.restart());
    let back = load.until_store(200).await;
    in_time(back, Duration::from_secs(1));

    let seen = load.stop().await;
    seen.were_in_time(DEADLINE);
    eprintln!("{} calls for {} checks; {:?}", limiter.stats().calls, seen.asked(), seen.kinds);
    assert_eq!(seen.degraded_admitted, 0);
    assert!(seen.of_kind(FailureKind::Timeout) > 0 && seen.of_kind(FailureKind::Unreachable) > 0, "{:?}", seen.kinds);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_who_go_together_are_answered_in_time() {
    stays_in_time(Sharing::new(OnStoreFailure::Deny).deadline(DEADLINE).batch(some(8))).await;
}

/// Tokens in hand are spent on while the store is gone; then it is as for others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_who_lease_are_answered_in_time() {
    stays_in_time(Sharing::new(OnStoreFailure::Deny).deadline(DEADLINE).lease(64, DEADLINE * 5)).await;
}
