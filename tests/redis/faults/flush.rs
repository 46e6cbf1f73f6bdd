//! Scripts that the server forgets.

use std::time::Duration;

use admittance::Window;

use crate::support::{Load, Server, account, limiter, patient};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts_that_are_flushed_in_the_middle_of_load_are_told_again_and_nothing_is_charged_twice() {
    let server = Server::start();
    let limiter = limiter(&server, Window::per_day(1_000_000), patient());
    let load = Load::start(&limiter, 8, &[account("ann")]);
    for _ in 0..20 {
        load.until_store(50).await;
        tokio::task::block_in_place(|| server.run(&["SCRIPT", "FLUSH"])).unwrap();
    }
    load.until_store(50).await;
    let seen = load.stop().await;
    seen.were_in_time(Duration::from_secs(1));
    assert_eq!((seen.degraded, seen.store_admitted), (0, seen.asked()), "{:?}", seen.kinds);
    assert_eq!(server.get(&limiter.keys_of(&account("ann"))[0]), Some(seen.asked().to_string()));
    // Each call once by digest; those alone by text that were not known, at least one a flush.
    let unknown = server.errors_of("NOSCRIPT");
    assert_eq!((server.calls_of("evalsha"), server.calls_of("eval")), (seen.asked(), unknown));
    assert!(unknown >= 20, "{unknown}");
}
