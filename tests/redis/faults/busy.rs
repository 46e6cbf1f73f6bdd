//! A server that is there and cannot be asked now.

use admittance::redis::FailureKind;

use super::three::{Three, nothing_was_sent_twice};
use crate::support::Server;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_busy_with_somebodys_script_says_so() {
    let server = Server::start_with(&["--lua-time-limit", "20"]);
    let three = Three::ask(&server.url()).await;
    let (url, is_old) = (server.url(), server.version() < 7);
    let endless = std::thread::spawn(move || {
        let mut connection = redis::Client::open(url).unwrap().get_connection().unwrap();
        // By another name than ours, which is counted.
        redis::cmd(if is_old { "EVAL" } else { "EVAL_RO" }).arg("while true do end").arg(0).query::<()>(&mut connection)
    });
    three.are_told(FailureKind::NotReady).await;
    server.run(&["SCRIPT", "KILL"]).unwrap();
    assert!(endless.join().unwrap().is_err());
    three.are_back().await;
    let all = three.stop().await;
    // Redis 6.2 has no other name.
    if !is_old {
        nothing_was_sent_twice(&server, &all);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_loading_says_so() {
    if Server::start().version() < 7 {
        // It answers nobody in the middle of so little.
        eprintln!("SKIPPED: Redis 6.2 cannot be told to load slowly");
        return;
    }
    let server = Server::start_with(&[
        "--enable-debug-command",
        "yes",
        "--key-load-delay",
        "200",
        "--loading-process-events-interval-bytes",
        "1024",
    ]);
    let fill = "for key = 1, 5000 do redis.call('SET', 'key' .. key, string.rep('x', 1000)) end";
    let mut connection = redis::Client::open(server.url()).unwrap().get_connection().unwrap();
    redis::cmd("EVAL").arg(fill).arg(0).exec(&mut connection).unwrap();
    server.run(&["CONFIG", "RESETSTAT"]).unwrap();
    let three = Three::ask(&server.url()).await;
    let reload = std::thread::spawn(move || redis::cmd("DEBUG").arg("RELOAD").exec(&mut connection));
    three.are_told(FailureKind::NotReady).await;
    tokio::task::block_in_place(|| reload.join().unwrap()).unwrap();
    three.are_back().await;
    nothing_was_sent_twice(&server, &three.stop().await);
}
