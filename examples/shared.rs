//! Two workers, one budget: each has a connection of its own, as two processes have.
//!
//! ```text
//! cargo run --example shared --features redis -- redis://127.0.0.1/
//! ```
//!
//! Without an address it starts a `redis-server` of its own, on a port of its own, and stops it.

use std::error::Error;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use admittance::identity::Account;
use admittance::policy::{IdentityKind, OnExhausted, OnStoreFailure, Policy, Scope, Sharing, Unit};
use admittance::redis::{SharedLimiter, Store};
use admittance::{Budget, Overflow};

fn policy() -> Result<Policy, Box<dyn Error>> {
    let sharing = Sharing::new(OnStoreFailure::Deny).deadline(Duration::from_millis(200));
    Ok(Policy::builder("shared-example")
        .unit(Unit::Request)
        .identity([IdentityKind::Account])
        .scope(Scope::shared(sharing))
        .rule(Budget::per_second(10).with_capacity(5))
        .on_exhausted(OnExhausted::Deny)
        .keys(1_000, Overflow::Deny)
        .build()?)
}

async fn worker(name: &'static str, url: String) -> Result<u32, Box<dyn Error + Send + Sync>> {
    let policy = policy().map_err(|error| error.to_string())?;
    let limiter: SharedLimiter<Account> = SharedLimiter::new(policy, Store::connect(&url).await?)?;
    // An identity of this run, so that a server that was there before has nothing against it.
    let account = Account::new(format!("ann-{}", std::process::id()))?;
    let mut admitted = 0;
    for _ in 0..8 {
        let verdict = limiter.check(&account, 1).await;
        if let Some(failure) = verdict.degraded() {
            return Err(failure.to_string().into());
        }
        match verdict.retry_after() {
            None => {
                admitted += 1;
                println!("{name}: admitted, {} left", verdict.decision().remaining().unwrap_or(0));
            }
            Some(wait) => println!("{name}: denied, come back in {wait:?}"),
        }
    }
    Ok(admitted)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (url, server) = match std::env::args().nth(1) {
        Some(url) => (url, None),
        None => own_server()?,
    };
    let both = tokio::join!(worker("one", url.clone()), worker("two", url));
    if let Some(mut server) = server {
        server.kill()?;
        server.wait()?;
    }
    let (one, two) = (both.0.map_err(|error| error.to_string())?, both.1.map_err(|error| error.to_string())?);
    println!("{} admitted of 16 asked, of a budget of 5 and one more in each tenth of a second", one + two);
    assert!(one + two >= 5);
    Ok(())
}

fn own_server() -> Result<(String, Option<Child>), Box<dyn Error>> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let server = Command::new("redis-server")
        .args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--save", "", "--appendonly", "no"])
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| format!("redis-server cannot be started ({error}); install it, or say the address of one"))?;
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok((format!("redis://127.0.0.1:{port}/"), Some(server)))
}
