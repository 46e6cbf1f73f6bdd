//! Runtimes that end, and others that begin.

use admittance::Window;
use admittance::redis::DecidedBy;
use tokio::runtime::Builder;

use crate::support::{Server, account, limiter, patient};

#[test]
fn a_limiter_outlives_the_runtime_that_it_was_first_asked_in() {
    let server = Server::start();
    let limiter = limiter(&server, Window::per_day(100), patient());
    for round in 0..5 {
        let runtime = if round % 2 == 0 {
            Builder::new_current_thread().enable_all().build().unwrap()
        } else {
            Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
        };
        let verdict = runtime.block_on(limiter.check(&account("ann"), 1));
        assert_eq!(*verdict.decided_by(), DecidedBy::Store, "round {round}: {verdict:?}");
        assert_eq!(verdict.decision().remaining(), Some(99 - round));
    }
}
