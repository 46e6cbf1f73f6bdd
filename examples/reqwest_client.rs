//! Twenty callers of one service who obey it: `cargo run --release --features retry-reqwest --example reqwest_client [URL]`.
//!
//! They share a planner: what one is told at the gate holds the others, all that is sent again comes out of one budget, and
//! each has a deadline. What became of each is printed, with when. Try it against `examples/axum_server.rs`.

use std::env;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use admittance::retry::reqwest::RetryClient;
use admittance::retry::{Backoff, Gate, Retry, Safety, Stop};
use admittance::{Budget, TokenBucket};
use reqwest::{Client, Method, Request, Url};

const CALLERS: usize = 20;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url: Url = env::args().nth(1).as_deref().unwrap_or("http://127.0.0.1:3000/work").parse()?;

    // At most five attempts in at most ten seconds. Both are decisions, and have no default.
    let retry = Retry::builder(5, Duration::from_secs(10))
        .backoff(Backoff::new(Duration::from_millis(100)).ceiling(Duration::from_secs(2)))
        .spread(Duration::from_millis(500))
        .gate(Arc::new(Gate::new(1_000, Duration::from_secs(1))?))
        // A service that fails everybody is sent 30 more at once, and 2 more a second: not five times as much.
        .budget(Arc::new(TokenBucket::new(Budget::new(30, 2, Duration::from_secs(1))?)))
        .build()?;
    // An attempt may take two seconds. The deadline bounds waits; this bounds what is sent.
    let client = RetryClient::build(Client::builder().timeout(Duration::from_secs(2)), retry)?;

    let began = Instant::now();
    let calls: Vec<_> = (1..=CALLERS)
        .map(|caller| {
            let (client, request) = (client.clone(), Request::new(Method::GET, url.clone()));
            tokio::spawn(async move {
                let safety = Safety::of_method(request.method().as_str());
                let end = match client.execute(request, safety).await {
                    Ok(response) => {
                        let stop = response.extensions().get().map(Stop::to_string).unwrap_or_default();
                        format!("{}; {stop}", response.status())
                    }
                    Err(unanswered) => match unanswered.error() {
                        Some(error) => format!("{unanswered} ({error})"),
                        None => unanswered.to_string(),
                    },
                };
                println!("{:>6.2} s  caller {caller:>2}: {end}", began.elapsed().as_secs_f64());
            })
        })
        .collect();
    for call in calls {
        call.await?;
    }
    if let (Some(gate), Some(budget)) = (client.retry().gate(), client.retry().budget()) {
        println!("{} hosts are held; {} more may be sent again now", gate.held(), budget.available());
    }
    Ok(())
}
