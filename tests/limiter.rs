//! Policies at work.
#![cfg(feature = "std")]

use std::time::Duration;

use admittance::identity::{Account, Address, Tenant};
use admittance::limiter::TopDenied;
use admittance::policy::{IdentityKind, OnExhausted, OnStoreFailure, Policy, PolicyBuilder, Scope, Sharing, Unit};
use admittance::{Budget, Limiter, ManualClock, Overflow, TscClock, Window};
use proptest::prelude::*;

fn policy(kinds: &[IdentityKind]) -> PolicyBuilder {
    Policy::builder("api")
        .unit(Unit::Request)
        .identity(kinds.iter().copied())
        .scope(Scope::process())
        .rule(Budget::per_minute(60).with_capacity(2))
        .on_exhausted(OnExhausted::Deny)
        .keys(1_000, Overflow::Deny)
}

fn account(name: &str) -> Account<&str> {
    Account::new(name).unwrap()
}

#[test]
fn each_identity_has_a_budget_and_every_way_of_spelling_it_is_one() {
    let clock = ManualClock::new();
    let limiter: Limiter<Account, _> =
        Limiter::with_clock(policy(&[IdentityKind::Account]).build().unwrap(), &clock).unwrap();
    assert!(limiter.check(&account("ann"), 1).is_admitted());
    assert!(limiter.check(&Account::new(String::from("ann")).unwrap(), 1).is_admitted());
    let denied = limiter.check(&Account::new(b"ann").unwrap(), 1);
    assert!(!denied.is_admitted() && !denied.would_be_denied());
    assert_eq!(denied.retry_after(), Some(Duration::from_secs(1)));
    assert!(limiter.check(&account("bob"), 1).is_admitted());
    assert!(limiter.check(&account("bob"), 3).decision().is_never());
    assert_eq!(limiter.stats().len, 2);
}

#[test]
fn a_limiter_of_pairs_is_of_both() {
    let limiter: Limiter<(Tenant, Account)> =
        Limiter::new(policy(&[IdentityKind::Tenant, IdentityKind::Account]).build().unwrap()).unwrap();
    let pair = |tenant, name| (Tenant::new(tenant).unwrap(), account(name));
    assert!(limiter.check(&pair("t", "ann"), 2).is_admitted());
    assert!(limiter.check(&pair("u", "ann"), 2).is_admitted());
    assert!(limiter.check(&pair("tann", "x"), 2).is_admitted());
    assert!(!limiter.check(&pair("t", "ann"), 2).is_admitted());
}

#[test]
fn a_policy_of_another_identity_is_refused() {
    let of_accounts = policy(&[IdentityKind::Account]).build().unwrap();
    let error = Limiter::<Address>::new(of_accounts.clone()).unwrap_err().to_string();
    assert_eq!(error, "policy 'api': identity: is account, and the limiter is of address");
    let error = Limiter::<(Tenant, Account)>::new(of_accounts).unwrap_err().to_string();
    assert_eq!(error, "policy 'api': identity: is account, and the limiter is of tenant+account");
    let swapped = policy(&[IdentityKind::Account, IdentityKind::Tenant]).build().unwrap();
    assert!(Limiter::<(Tenant, Account)>::new(swapped).is_err());
    let shared =
        policy(&[IdentityKind::Account]).scope(Scope::shared(Sharing::new(OnStoreFailure::Deny))).build().unwrap();
    let error = Limiter::<Account>::new(shared).unwrap_err().to_string();
    assert!(error.contains("scope: store is shared"), "{error}");
    let huge = policy(&[IdentityKind::Account]).keys(usize::MAX, Overflow::Deny).build().unwrap();
    let error = Limiter::<Account>::new(huge).unwrap_err().to_string();
    assert!(error.starts_with("policy 'api': max_keys: "), "{error}");
}

#[test]
fn shadow_decides_and_admits() {
    let clock = ManualClock::new();
    let shadow = policy(&[IdentityKind::Account]).on_exhausted(OnExhausted::Shadow).build().unwrap();
    let limiter: Limiter<Account, _> = Limiter::with_clock(shadow, &clock).unwrap();
    for number in 0..5 {
        let verdict = limiter.check(&account("ann"), 1);
        assert!(verdict.is_admitted());
        assert_eq!(verdict.would_be_denied(), number >= 2);
        assert_eq!(verdict.retry_after(), None);
        assert_eq!(verdict.decision().retry_after().is_some(), number >= 2);
    }
    assert!(limiter.check(&account("ann"), 99).is_admitted());
}

#[test]
fn many_at_once_are_as_many_one_by_one() {
    let clock = ManualClock::new();
    let build =
        || Limiter::<Account, _>::with_clock(policy(&[IdentityKind::Account]).build().unwrap(), &clock).unwrap();
    let (one_by_one, at_once) = (build(), build());
    let names: Vec<String> = (0..100).map(|number| format!("caller {}", number % 30)).collect();
    let accounts: Vec<_> = names.iter().map(|name| account(name)).collect();
    let mut told = Vec::new();
    at_once.check_many(accounts.iter().map(|account| (account, 1)), |verdict| told.push(verdict));
    let expected: Vec<_> = accounts.iter().map(|account| one_by_one.check(account, 1)).collect();
    assert_eq!(told, expected);
    assert_eq!(told.iter().filter(|verdict| verdict.is_admitted()).count(), 60);
}

#[test]
fn tiers_are_called_by_their_names() {
    let tiers = Policy::builder("api")
        .unit(Unit::Request)
        .identity([IdentityKind::Account])
        .scope(Scope::process())
        .tier("free", Window::per_hour(1))
        .tier("paid", Window::per_hour(9))
        .on_exhausted(OnExhausted::Deny)
        .keys(10, Overflow::Deny)
        .build()
        .unwrap();
    let limiter: Limiter<Account, _> = Limiter::with_clock(tiers, ManualClock::new()).unwrap();
    let [free, paid] = ["free", "paid"].map(|name| limiter.tier(name).unwrap());
    assert!(limiter.tier("other").is_none());
    assert!(limiter.check(&account("ann"), 1).is_admitted());
    assert!(!limiter.check_as(&account("ann"), free, 1).is_admitted());
    assert_eq!(limiter.check_as(&account("ann"), paid, 1).decision().remaining(), Some(7));
    limiter.table().set_tier_budget(paid, Window::per_hour(2)).unwrap();
    assert!(!limiter.check_as(&account("ann"), paid, 1).is_admitted());
    assert_eq!(limiter.policy().tiers()[1].1, Window::per_hour(9).into());
}

/// The clock is real, as a wait is: nothing is said of how long it takes, only of what it answers.
#[test]
fn a_wait_ends_in_an_admission_or_is_not_begun() {
    let patient = policy(&[IdentityKind::Account])
        .on_exhausted(OnExhausted::WaitUpTo(Duration::from_secs(30)))
        .tier("quick", Budget::per_second(1))
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    let limiter: Limiter<Account, TscClock> = Limiter::new(patient).unwrap();
    assert!(limiter.wait(&account("ann"), 2).is_admitted());
    // A token a second: this one is waited for.
    assert!(limiter.wait(&account("ann"), 1).is_admitted());
    assert!(limiter.wait(&account("ann"), 3).decision().is_never());

    let hasty =
        policy(&[IdentityKind::Account]).on_exhausted(OnExhausted::WaitUpTo(Duration::from_millis(1))).build().unwrap();
    let clock = ManualClock::new();
    let limiter: Limiter<Account, _> = Limiter::with_clock(hasty, &clock).unwrap();
    assert!(limiter.wait(&account("ann"), 2).is_admitted());
    // On a clock that stands still a wait that was begun would not end.
    assert_eq!(limiter.wait(&account("ann"), 1).retry_after(), Some(Duration::from_secs(1)));
}

#[test]
fn the_list_of_the_most_denied_stays_short() {
    let top = TopDenied::new(2);
    for label in ["a", "b", "a", "c", "a"] {
        top.record(label);
    }
    let list: Vec<_> = top.list().into_iter().map(|denied| (denied.label, denied.count, denied.error)).collect();
    assert_eq!(list, [("a".into(), 3, 0), ("c".into(), 2, 1)]);
    top.clear();
    assert!(top.list().is_empty());
}

proptest! {
    /// The bounds of the algorithm, on any stream.
    #[test]
    fn counts_of_the_most_denied_are_within_their_error(stream in prop::collection::vec(0..20_u8, 0..400), capacity in 1..12_usize) {
        let top = TopDenied::new(capacity);
        for label in &stream {
            top.record(&label.to_string());
        }
        let list = top.list();
        prop_assert!(list.len() <= capacity);
        prop_assert!(list.windows(2).all(|two| two[0].count >= two[1].count));
        for denied in &list {
            let real = stream.iter().filter(|label| label.to_string() == denied.label).count() as u64;
            prop_assert!(denied.count >= real && denied.count - denied.error <= real, "{denied:?}: {real}");
        }
        for label in 0..20_u8 {
            let real = stream.iter().filter(|other| **other == label).map(|_| 1).sum::<usize>();
            if real * capacity > stream.len() {
                prop_assert!(list.iter().any(|denied| denied.label == label.to_string()), "{label}: {real}");
            }
        }
    }
}

#[cfg(feature = "metrics")]
#[test]
fn decisions_are_counted_by_policy_and_never_by_key() {
    use std::collections::BTreeMap;

    use metrics_util::debugging::{DebugValue, DebuggingRecorder};

    let recorder = DebuggingRecorder::new();
    let snapshots = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || {
        for on_exhausted in [OnExhausted::Deny, OnExhausted::Shadow] {
            let policy = policy(&[IdentityKind::Account]).on_exhausted(on_exhausted).build().unwrap();
            let limiter: Limiter<Account, _> = Limiter::with_clock(policy, ManualClock::new()).unwrap();
            for cost in [1, 1, 1, 9] {
                let _ = limiter.check(&account("ann"), cost);
            }
        }
    });
    let mut counts = BTreeMap::new();
    for (key, _, _, value) in snapshots.snapshot().into_vec() {
        let labels: Vec<_> = key.key().labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        let DebugValue::Counter(value) = value else { panic!("counters alone") };
        assert_eq!(key.key().name(), "admittance_decisions_total");
        counts.insert(labels.join(","), value);
    }
    let expected = [("admitted", 4), ("denied", 1), ("never", 1), ("shadowed", 2)];
    assert_eq!(counts, expected.map(|(decision, count)| (format!("policy=api,decision={decision}"), count)).into());
}

#[test]
fn a_refund_goes_to_the_identity_it_was_spent_of() {
    let limiter: Limiter<Account, _> =
        Limiter::with_clock(policy(&[IdentityKind::Account]).build().unwrap(), ManualClock::new()).unwrap();
    let [ann, bob] = ["ann", "bob"].map(|name| Account::new(name).unwrap());
    let all = limiter.policy().rule().capacity();
    let permit = limiter.check(&ann, all).decision().admitted().unwrap();
    assert!(limiter.check(&bob, all).is_admitted());
    assert!(!limiter.check(&ann, 1).is_admitted());
    limiter.refund(&ann, 2, &permit);
    assert!(limiter.check(&ann, 2).is_admitted() && !limiter.check(&ann, 1).is_admitted());
    assert!(!limiter.check(&bob, 1).is_admitted());
}
