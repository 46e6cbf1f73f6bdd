//! Somebody else's values under our keys.

use admittance::policy::{OnStoreFailure, Sharing};
use admittance::redis::FailureKind;
use admittance::{Budget, Rule, Window};

use super::three::DEADLINE;
use crate::support::{Server, account, limiter};

#[tokio::test]
async fn another_value_under_the_key_is_told_and_left_alone() {
    let server = Server::start();
    let rules = [Rule::from(Window::per_day(9)), Rule::from(Budget::per_day(9))];
    for (number, rule) in rules.into_iter().enumerate() {
        let sharing = Sharing::new(OnStoreFailure::Admit).deadline(DEADLINE * 50);
        let limiter = limiter(&server, rule, sharing);
        for (kind, words) in [
            ("a list", &["RPUSH", "1"][..]),
            ("text", &["SET", "hello"]),
            ("a number and more", &["SET", "12 34"]),
            ("nothing", &["SET", ""]),
            ("a negative number", &["SET", "-1"]),
        ] {
            let name = account(&format!("{number} {kind}"));
            let [key] = &limiter.keys_of(&name)[..] else { panic!("one policy has one key") };
            server.run(&[words[0], key, words[1]]).unwrap();
            let before = server.run(&["DUMP", key]).unwrap();
            for _ in 0..2 {
                let verdict = limiter.check(&name, 1).await;
                let failure = verdict.degraded().unwrap_or_else(|| panic!("{kind}: {verdict:?}"));
                assert_eq!(failure.kind(), FailureKind::WrongValue, "{kind}: {failure}");
                assert!(verdict.is_admitted() && !failure.may_have_been_charged());
            }
            assert_eq!(server.run(&["DUMP", key]).unwrap(), before, "{kind}");
            server.run(&["DEL", key]).unwrap();
            assert_eq!(limiter.check(&name, 1).await.degraded(), None, "{kind}");
        }
    }
}
