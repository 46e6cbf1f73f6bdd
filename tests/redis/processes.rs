//! Processes, in fact: this program started four times over.

use std::process::{Command, Stdio};

use admittance::Window;

use crate::support::{Server, account, limiter, patient, policy};

/// What one of the four does: asks, and prints how often it was admitted.
#[test]
#[ignore = "is what the test below runs in processes of its own"]
fn one_of_them() {
    let Ok(url) = std::env::var("ADMITTANCE_TEST_STORE") else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let store = admittance::redis::Store::open(&url).unwrap();
    let policy = policy("test", Window::per_day(100), patient()).build().unwrap();
    let limiter: admittance::redis::SharedLimiter<crate::support::Account> =
        admittance::redis::SharedLimiter::new(policy, store).unwrap();
    let admitted = runtime.block_on(async {
        let mut admitted = 0;
        for _ in 0..60 {
            admitted += u32::from(limiter.check(&account("ann"), 1).await.is_admitted());
        }
        admitted
    });
    println!("admitted={admitted}.");
}

#[test]
fn four_processes_share_one_budget() {
    let server = Server::start();
    let processes: Vec<_> = (0..4)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["processes::one_of_them", "--exact", "--ignored", "--nocapture"])
                .env("ADMITTANCE_TEST_STORE", server.url())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut admitted = Vec::new();
    for process in processes {
        let output = String::from_utf8(process.wait_with_output().unwrap().stdout).unwrap();
        let (_, rest) = output.split_once("admitted=").unwrap_or_else(|| panic!("{output}"));
        admitted.push(rest.split_once('.').unwrap().0.parse::<u32>().unwrap());
    }
    assert_eq!(admitted.iter().sum::<u32>(), 100, "{admitted:?}");
    let limiter = limiter(&server, Window::per_day(100), patient());
    assert_eq!(server.get(&limiter.keys_of(&account("ann"))[0]).as_deref(), Some("100"));
}
