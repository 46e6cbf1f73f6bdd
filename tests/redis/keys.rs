//! What users say changes nothing of a key but its digest.

use std::collections::HashSet;

use admittance::identity::{Address, Credential, Pepper, Tenant};
use admittance::policy::IdentityKind;
use admittance::redis::{SharedLimiter, Store};
use admittance::{Budget, Window};

use crate::support::{Account, Server, account, limiter, patient, policy};

fn hostile() -> Vec<String> {
    let mut names: Vec<String> = [
        "{",
        "}",
        "{}",
        "{x}",
        "a{x}b",
        "}{",
        ":",
        "a:b",
        "*",
        "?",
        "[a-z]",
        "\n",
        "\r\nPING\r\n",
        "\0",
        " ",
        "é",
        "a",
    ]
    .iter()
    .map(|&name| name.to_owned())
    .collect();
    names.push("x".repeat(100_000));
    names.push("{".repeat(100_000));
    names
}

#[tokio::test]
async fn braces_colons_globs_newlines_and_100_kilobytes_are_callers_like_any_other() {
    let server = Server::start();
    let limiter = limiter(&server, Budget::per_day(1), patient());
    let mut keys = HashSet::new();
    for name in hostile() {
        let name = account(&name);
        for is_first in [true, false] {
            let verdict = limiter.check(&name, 1).await;
            assert_eq!((verdict.is_admitted(), verdict.degraded()), (is_first, None));
        }
        let [key] = &limiter.keys_of(&name)[..] else { panic!("one policy has one key") };
        assert_eq!(key.len(), "admittance:v1:test:bucket:{}".len() + 32);
        assert!(key.starts_with("admittance:v1:test:bucket:{") && key.ends_with('}'));
        let tag = &key[key.len() - 33..key.len() - 1];
        assert!(tag.bytes().all(|byte| byte.is_ascii_hexdigit()), "{key}");
        keys.insert(key.clone());
    }
    let in_store = usize::try_from(server.number(&["DBSIZE"])).unwrap();
    assert_eq!((keys.len(), in_store), (hostile().len(), hostile().len()));
}

#[tokio::test]
async fn neither_keys_nor_scan_nor_a_second_script_text() {
    let server = Server::start();
    let limiter = limiter(&server, Budget::per_day(1), patient());
    for name in hostile() {
        let _ = limiter.check(&account(&name), 1).await;
    }
    assert_eq!(server.calls_of("keys") + server.calls_of("scan"), 0);
    assert_eq!(server.calls_of("eval"), 1, "the text was sent once, when the server did not know it");
}

#[tokio::test]
async fn kinds_policies_and_prefixes_never_share() {
    let server = Server::start();
    let of = |name: &str, kind, prefix| {
        let policy = policy(name, Window::per_day(1), patient()).identity([kind]).build().unwrap();
        (policy, Store::open(&server.url()).unwrap().with_prefix(prefix).unwrap())
    };
    let (one, store) = of("one", IdentityKind::Account, "a");
    let accounts: SharedLimiter<Account> = SharedLimiter::new(one, store).unwrap();
    let (one, store) = of("one", IdentityKind::Tenant, "a");
    let tenants: SharedLimiter<Tenant<&str>> = SharedLimiter::new(one, store).unwrap();
    let (other, store) = of("other", IdentityKind::Account, "a");
    let others: SharedLimiter<Account> = SharedLimiter::new(other, store).unwrap();
    let (one, store) = of("one", IdentityKind::Account, "b");
    let elsewhere: SharedLimiter<Account> = SharedLimiter::new(one, store).unwrap();
    assert!(accounts.check(&account("ann"), 1).await.is_admitted());
    assert!(tenants.check(&Tenant::new("ann").unwrap(), 1).await.is_admitted());
    assert!(others.check(&account("ann"), 1).await.is_admitted());
    assert!(elsewhere.check(&account("ann"), 1).await.is_admitted());
    assert!(!accounts.check(&account("ann"), 1).await.is_admitted());
}

#[tokio::test]
async fn a_credential_is_one_in_every_process_that_has_the_pepper_and_never_in_the_store() {
    let server = Server::start();
    let policy = || policy("keys", Budget::per_day(1), patient()).identity([IdentityKind::Credential]).build().unwrap();
    let [one, other]: [SharedLimiter<Credential>; 2] =
        std::array::from_fn(|_| SharedLimiter::new(policy(), server.store()).unwrap());
    let key = |pepper| Credential::new("sk_live_51H", &Pepper::new(pepper)).unwrap();
    assert!(one.check(&key([7; 16]), 1).await.is_admitted());
    assert!(!other.check(&key([7; 16]), 1).await.is_admitted());
    assert!(other.check(&key([8; 16]), 1).await.is_admitted());
    assert!(!format!("{:?}", one.keys_of(&key([7; 16]))).contains("sk_live"));
}

#[test]
fn a_limiter_of_another_kind_or_of_one_process_is_refused() {
    let store = || Store::open("redis://127.0.0.1:1/").unwrap();
    let accounts = policy("api", Budget::per_day(1), patient()).build().unwrap();
    let refused = SharedLimiter::<Address>::new(accounts, store()).unwrap_err();
    assert_eq!(refused.to_string(), "policy 'api': identity: is account, and the limiter is of address");
    let process =
        policy("api", Budget::per_day(1), patient()).scope(admittance::policy::Scope::process()).build().unwrap();
    let refused = SharedLimiter::<Account>::new(process, store()).unwrap_err();
    assert!(refused.to_string().contains("scope: store is process"), "{refused}");
    assert!(Store::open("127.0.0.1").is_err() && Store::open("http://x/").is_err());
    assert!(store().with_prefix("a{b}").unwrap_err().to_string().contains("prefix: 'a{b}'"));
}

#[test]
fn what_a_script_cannot_count_exactly_is_refused_with_the_reason() {
    let store = || Store::open("redis://127.0.0.1:1/").unwrap();
    let refused = |rule: admittance::Rule| {
        SharedLimiter::<Account>::new(policy("api", rule, patient()).build().unwrap(), store()).unwrap_err().to_string()
    };
    let text = refused(Budget::per_day(999_983).with_capacity(200_000).into());
    assert!(text.contains("2^53") && text.contains("capacity of at most 104249"), "{text}");
    // The largest that is told is taken.
    let most = Budget::per_day(999_983).with_capacity(104_249);
    assert!(SharedLimiter::<Account>::new(policy("api", most, patient()).build().unwrap(), store()).is_ok());
    let text = refused(Window::new(1 << 53, std::time::Duration::from_secs(3_600_000)).unwrap().into());
    assert!(text.contains("limit: 9007199254740992"), "{text}");
    let text = refused(Window::new(5, std::time::Duration::from_micros(1_500)).unwrap().into());
    assert!(text.contains("window: 1.5ms"), "{text}");
}
