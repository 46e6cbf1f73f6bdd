//! Policies, and what is asked where they say too little.
#![cfg(feature = "std")]

use std::time::Duration;

use admittance::policy::{
    IdentityKind, OnExhausted, OnStoreFailure, Policy, PolicyBuilder, Scope, Sharing, StoreKind, Unit,
};
use admittance::{Budget, Overflow, Window};

fn whole() -> PolicyBuilder {
    Policy::builder("api")
        .unit(Unit::Request)
        .identity([IdentityKind::Account])
        .scope(Scope::process())
        .rule(Budget::per_minute(100).with_capacity(20))
        .on_exhausted(OnExhausted::Deny)
        .keys(1_000, Overflow::Deny)
}

#[test]
fn each_part_that_is_missing_asks_its_question() {
    let error = Policy::builder("api").build().unwrap_err();
    let parts: Vec<_> = error.missing().collect();
    assert_eq!(parts, ["unit", "identity", "scope", "rule", "on_exhausted", "max_keys", "overflow"]);
    for question in [
        "policy 'api': a token is one of what?",
        "whose requests?",
        "where does it hold?",
        "how much, and how does it come back?",
        "what happens after exhaustion?",
        "how many of them at once?",
        "what happens to one more than max_keys?",
    ] {
        assert!(error.to_string().contains(question), "{question}");
    }
    assert_eq!(error.wrong().count(), 0);
    assert!(whole().build().is_ok());
}

#[test]
fn what_cannot_be_is_said() {
    let budget = Budget::per_second(1);
    for (builder, part, says) in [
        (whole().unit(Unit::Named("Rows!".into())), "unit", "unit: 'Rows!' is not 1 to 64 of a-z"),
        (whole().unit(Unit::Named("byte".into())), "unit", "unit: 'byte' is a unit of its own"),
        (whole().identity([IdentityKind::Tenant; 2]), "identity", "identity: tenant is there twice"),
        (whole().identity(IdentityKind::ALL), "identity", "identity: 5 joined kinds are more than 3"),
        (whole().scope(Scope::process().routes(["/a", "b"])), "scope", "scope: the route 'b' does not begin with '/'"),
        (whole().keys(0, Overflow::Deny), "max_keys", "max_keys: must be at least 1"),
        (
            whole().on_exhausted(OnExhausted::WaitUpTo(Duration::ZERO)),
            "on_exhausted",
            "to wait up to nothing is to deny",
        ),
        (whole().tier("default", budget), "tiers", "tiers: 'default' is there twice"),
        (whole().tier("paid", Window::per_hour(1)), "tiers", "'paid' and 'default' must both have"),
        (whole().tier("Paid", budget), "tiers", "tiers: 'Paid' is not 1 to 64"),
    ] {
        let error = builder.build().unwrap_err();
        assert_eq!(error.wrong().collect::<Vec<_>>(), [part], "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
    for (unit, meant) in [("requests", "request"), ("Request", "request"), ("reqest", "request"), ("bytes", "byte")] {
        let error = whole().unit(Unit::Named(unit.into())).build().unwrap_err();
        assert_eq!(error.wrong().collect::<Vec<_>>(), ["unit"], "{error}");
        let says =
            format!("unit: '{unit}' is close to '{meant}'; say {meant}, or a name of your own that is not close to it");
        assert!(error.to_string().contains(&says), "{error}");
    }
    for name in ["", "Api", "9to5", "a b", "é", &"a".repeat(65)] {
        assert!(Policy::builder(name).build().unwrap_err().wrong().any(|part| part == "name"), "{name}");
    }
}

#[test]
fn routes_are_of_whole_segments() {
    let scope = Scope::process().routes(["/api", "/admin/"]);
    for path in ["/api", "/api/", "/api/users", "/admin", "/admin/x"] {
        assert!(scope.covers(path), "{path}");
    }
    for path in ["/", "/apix", "/ap", "/administrator", "", "api"] {
        assert!(!scope.covers(path), "{path}");
    }
    assert!(Scope::process().covers("/anything") && Scope::process().routes(["/"]).covers("/anything"));
    let sharing = Sharing::new(OnStoreFailure::Admit);
    assert_eq!(
        (Scope::process().store(), Scope::shared(sharing).store()),
        (StoreKind::Process, StoreKind::Shared(sharing))
    );
}

#[test]
fn a_policy_reads_as_a_sentence() {
    let policy = whole()
        .identity([IdentityKind::Tenant, IdentityKind::Account])
        .tier("paid", Budget::per_second(50))
        .on_exhausted(OnExhausted::Shadow)
        .scope(Scope::shared(Sharing::new(OnStoreFailure::Deny)).routes(["/api", "/v2"]))
        .build()
        .unwrap();
    assert_eq!(
        policy.to_string(),
        "api: for each account of each tenant, tier default: token bucket: 100 per 60s, capacity 20; tier paid: token bucket: \
         50 per 1s, capacity 50 (a token is one request). Holds on /api, /v2 of all processes together, deciding within \
         20ms; while the store is gone: deny. After exhaustion: admit and count (shadow). Up to 1000 at once; one more: deny."
    );
}

#[cfg(feature = "policy")]
mod toml {
    use admittance::policy::Policies;
    use proptest::prelude::*;

    use super::*;

    const GOOD: &str = r#"version = 1

[[policy]]
name = "api"
unit = "request"
identity = ["tenant", "account"]
scope = { store = "process", routes = ["/api"] }
rule = { capacity = 20, refill = "100/1m" }
on_exhausted = "deny"
max_keys = 100_000
overflow = "deny"

[[policy]]
name = "export"
unit = "byte"
identity = "address"
scope = { store = "shared", on_store_failure = { local = "1/8" }, lease = { most = 256, max_age = "1s" }, batch = 64 }
on_exhausted = { wait_up_to = "2s" }
max_keys = 1_000
overflow = "share"

[policy.tiers]
pro = { window = "5000000/10s" }
free = { window = "1000/10s" }
"#;

    #[test]
    fn a_file_has_policies_of_all_they_say() {
        let policies = Policies::from_toml(GOOD).unwrap();
        let [api, export] = [policies.get("api").unwrap(), policies.get("export").unwrap()];
        assert_eq!(api.identity(), [IdentityKind::Tenant, IdentityKind::Account]);
        assert_eq!(api.rule(), Budget::per_minute(100).with_capacity(20).into());
        assert_eq!((api.unit(), api.max_keys(), api.overflow()), (&Unit::Request, 100_000, Overflow::Deny));
        assert_eq!(export.on_exhausted(), OnExhausted::WaitUpTo(Duration::from_secs(2)));
        let sharing = Sharing::new(OnStoreFailure::Local { one_in: 8.try_into().unwrap() })
            .lease(256, Duration::from_secs(1))
            .batch(64.try_into().unwrap());
        assert_eq!((export.scope().store(), export.overflow()), (StoreKind::Shared(sharing), Overflow::Share));
        let tiers: Vec<_> = export.tiers().iter().map(|(name, rule)| (&**name, rule.capacity())).collect();
        assert_eq!(tiers, [("pro", 5_000_000), ("free", 1_000)], "in the order in which they are written");
        assert!(policies.get("other").is_none());
        assert_eq!(policies.iter().count(), 2);
        assert_eq!(Policies::from_toml(&policies.to_toml()).unwrap(), policies);
    }

    /// The file with one line for another, and what is said of it: at the line and under the value.
    fn wrong(line: &str, instead: &str, says: &str, at: &str) {
        assert!(GOOD.contains(line), "{line}");
        let text = GOOD.replacen(line, instead, 1);
        let error = Policies::from_toml(&text).unwrap_err().in_file("p.toml");
        let message = error.to_string();
        assert!(message.contains(says), "{message}");
        let lines: Vec<_> = message.lines().collect();
        let [.., shown, carets] = lines[..] else { panic!("{message}") };
        let from = carets.find('^').unwrap();
        let under: String = shown.chars().skip(from).take(carets.matches('^').count()).collect();
        assert_eq!(under, at, "{message}");
        let number = text.lines().position(|line| !line.is_empty() && shown.ends_with(line)).unwrap() + 1;
        assert_eq!(error.line(), Some(number), "{message}");
        assert!(message.starts_with(&format!("p.toml:{number}:{}: ", error.column().unwrap())), "{message}");
    }

    #[test]
    fn what_is_wrong_is_underlined() {
        wrong("version = 1", "version = 2", "version: 2 is not 1", "2");
        wrong("\"100/1m\"", "\"100/1 minute\"", "is not a unit; write TOKENS/DURATION", "\"100/1 minute\"");
        wrong("\"100/1m\"", "\"1e3/1m\"", "tokens: '1e3' is not a whole number", "\"1e3/1m\"");
        wrong(
            "{ capacity = 20, refill = \"100/1m\" }",
            "{ capacity = 20 }",
            "how fast do tokens come back?",
            "{ capacity = 20 }",
        );
        wrong("capacity = 20, ", "capacity = 0, ", "capacity", "{ capacity = 0, refill = \"100/1m\" }");
        wrong(
            "overflow = \"deny\"",
            "overflow = \"drop\"",
            "overflow: 'drop' is none of deny, admit, share",
            "\"drop\"",
        );
        wrong(
            "[\"tenant\", \"account\"]",
            "[\"tenant\", \"acount\"]",
            "identity: 'acount' is none of account",
            "[\"tenant\", \"acount\"]",
        );
        wrong("\"address\"", "\"adress\"", "identity: 'adress' is none of account", "\"adress\"");
        wrong("on_exhausted = \"deny\"", "on_exhausted = \"drop\"", "on_exhausted: 'drop' is none of", "\"drop\"");
        wrong("\"2s\"", "\"2\"", "duration: '2' has no unit", "\"2\"");
        wrong("max_keys = 100_000", "max_keys = -1", "invalid value", "-1");
        wrong("max_keys = 100_000", "max_kyes = 100_000", "unknown field `max_kyes`", "max_kyes");
        wrong(
            "store = \"process\"",
            "store = \"procéss\"",
            "store: 'procéss' is none of process, shared",
            "\"procéss\"",
        );
    }

    /// `requests` was a unit of its own, and a policy of it a limit of nothing.
    #[test]
    fn a_misspelt_unit_is_not_a_unit_of_its_own() {
        for (unit, meant) in [
            ("requests", "request"),
            ("REQUEST", "request"),
            ("reqest", "request"),
            ("reqeust", "request"),
            ("Bytes", "byte"),
        ] {
            let says = format!("unit: '{unit}' is close to '{meant}'; say {meant}, or a name of your own");
            wrong("\"request\"", &format!("\"{unit}\""), &says, &format!("\"{unit}\""));
        }
        wrong("\"byte\"", "\"Rows!\"", "unit: 'Rows!' is not 1 to 64 of a-z", "\"Rows!\"");
        for unit in ["request", "byte", "bit", "row", "model-token"] {
            assert!(Policies::from_toml(&GOOD.replace("\"request\"", &format!("\"{unit}\""))).is_ok(), "{unit}");
        }
    }

    #[test]
    fn a_misspelt_word_is_asked_about() {
        for (line, instead, meant) in [
            ("overflow = \"deny\"", "overflow = \"deni\"", "is none of deny, admit, share; did you mean 'deny'?"),
            ("overflow = \"share\"", "overflow = \"Shared\"", "; did you mean 'share'?"),
            ("\"address\"", "\"adress\"", "; did you mean 'address'?"),
            ("\"account\"]", "\"accounts\"]", "; did you mean 'account'?"),
            ("on_exhausted = \"deny\"", "on_exhausted = \"shaddow\"", "; did you mean 'shadow'?"),
            ("store = \"process\"", "store = \"procéss\"", "is none of process, shared; did you mean 'process'?"),
        ] {
            assert!(GOOD.contains(line), "{line}");
            let error = Policies::from_toml(&GOOD.replacen(line, instead, 1)).unwrap_err().to_string();
            assert!(error.contains(meant), "{error}");
        }
        for line in ["overflow = \"deny\"", "on_exhausted = \"deny\""] {
            let other = line.replace("deny", "drop");
            let error = Policies::from_toml(&GOOD.replacen(line, &other, 1)).unwrap_err().to_string();
            assert!(!error.contains("did you mean"), "{error}");
        }
    }

    #[test]
    fn what_is_missing_is_asked_for_at_the_policy() {
        let text =
            GOOD.replacen("identity = [\"tenant\", \"account\"]\n", "", 1).replacen("unit = \"request\"\n", "", 1);
        let error = Policies::from_toml(&text).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("a token is one of what?") && message.contains("whose requests?"), "{message}");
        assert_eq!(error.line(), Some(3), "{message}");

        for (text, says) in [
            ("", "version: is missing"),
            ("version = 1", "there is no policy"),
            (&GOOD.replace("\"export\"", "\"api\""), "name: two policies are called 'api'"),
            (&GOOD.replacen("on_exhausted", "tiers = {a = {window = \"1/1s\"}}\non_exhausted", 1), "rule and tiers"),
        ] {
            let error = Policies::from_toml(text).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let error = Policies::read("/nowhere/p.toml").unwrap_err();
        assert!(error.to_string().starts_with("/nowhere/p.toml: "), "{error}");
        assert_eq!((error.line(), error.column()), (None, None));
        assert_eq!(error.file(), Some(std::path::Path::new("/nowhere/p.toml")));
    }

    fn any_policy() -> impl Strategy<Value = Policy> {
        let unit = prop_oneof![Just(Unit::Request), Just(Unit::Byte), "[a-z][a-z0-9_-]{0,8}".prop_map(Unit::Named)]
            .prop_filter("has a name of its own", |unit| whole().unit(unit.clone()).build().is_ok());
        let kinds = prop::sample::subsequence(IdentityKind::ALL.to_vec(), 1..=3).prop_shuffle();
        let on_exhausted = prop_oneof![
            Just(OnExhausted::Deny),
            Just(OnExhausted::Shadow),
            (1..u64::MAX / 2).prop_map(|nanos| OnExhausted::WaitUpTo(Duration::from_nanos(nanos))),
        ];
        let bucket = (1..1_000_u64, 1..1_000_u64, 1_000..u64::from(u32::MAX));
        let tiers = prop::collection::vec(bucket, 1..4);
        let overflow = prop_oneof![Just(Overflow::Deny), Just(Overflow::Admit), Just(Overflow::Share)];
        let scope = (any::<bool>(), prop::collection::vec("/[a-zé\"\\\\\t]{0,6}", 0..3));
        (unit, kinds, on_exhausted, tiers, any::<bool>(), 1..u32::MAX as usize, overflow, scope).prop_map(
            |(unit, kinds, on_exhausted, tiers, windows, max_keys, overflow, (shared, routes))| {
                let scope = if shared {
                    Scope::shared(Sharing::new(OnStoreFailure::Deny).remember_denials())
                } else {
                    Scope::process()
                };
                let builder = Policy::builder("p")
                    .unit(unit)
                    .identity(kinds)
                    .on_exhausted(on_exhausted)
                    .keys(max_keys, overflow)
                    .scope(scope.routes(routes));
                tiers
                    .into_iter()
                    .enumerate()
                    .fold(builder, |builder, (number, (capacity, tokens, nanos))| {
                        let duration = Duration::from_nanos(nanos);
                        let name = format!("t{number}");
                        if windows {
                            builder.tier(name, Window::new(capacity, duration).unwrap())
                        } else {
                            builder.tier(name, Budget::new(capacity, tokens, duration).unwrap())
                        }
                    })
                    .build()
                    .unwrap()
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(policy in any_policy()) {
            let policies = Policies::new(vec![policy]).unwrap();
            let text = policies.to_toml();
            prop_assert_eq!(Policies::from_toml(&text).unwrap(), policies, "{}", text);
        }

        #[test]
        fn no_text_is_too_odd(at in 0..GOOD.len(), cut in 0..40_usize, put in "[ -~\n\té]{0,6}") {
            let end = (at + cut).min(GOOD.len());
            let text = format!("{}{put}{}", &GOOD[..at], &GOOD[end..]);
            if let Err(error) = Policies::from_toml(&text) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}
