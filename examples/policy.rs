//! A service whose limits are in a file: `cargo run --features policy --example policy`.
//!
//! `policy.toml` has two: so many requests for each account of each tenant, by tier; and so many for each address, in
//! shadow: nobody is turned away by it yet. One account is upgraded while it runs, and one tier's rule is changed.

use std::error::Error;
use std::time::Duration;

use admittance::identity::{Account, Address, Tenant};
use admittance::limiter::TopDenied;
use admittance::policy::Policies;
use admittance::{Budget, Limiter, ManualClock};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/policy.toml");

fn main() -> Result<(), Box<dyn Error>> {
    let policies = Policies::read(FILE)?;
    for policy in &policies {
        println!("{policy}");
    }
    // A manual clock, so that the output is always the same: a service takes `Limiter::new`, which reads the real one.
    let clock = ManualClock::new();
    let service = Service::new(&policies, &clock)?;

    println!("\nann and bob are of the free tier, three requests at once:");
    for account in ["ann", "bob", "ann", "ann", "ann", "bob", "ann"] {
        service.request(&Caller { tenant: "acme", account, tier: "free", address: "192.0.2.7" }, "/api/orders")?;
    }
    // Another tenant's ann is somebody else, and a client of IPv6 has all of its /64.
    for address in ["2001:db8::1", "2001:db8::2"] {
        let ann = Caller { tenant: "umbrella", account: "ann", tier: "free", address };
        service.request(&ann, "/api/orders")?;
        service.request(&ann, "/health")?;
    }

    println!("\nann pays: what she has in hand is what she had, and it comes back as a pro's does:");
    let ann = Caller { tenant: "acme", account: "ann", tier: "pro", address: "192.0.2.7" };
    service.request(&ann, "/api/orders")?;
    clock.advance(Duration::from_secs(3));
    service.request(&ann, "/api/orders")?;

    println!("\nthe free tier now gets one request a second, from here on:");
    let free = service.api.tier("free").ok_or("there is a free tier")?;
    service.api.table().set_tier_budget(free, Budget::per_second(1).with_capacity(5))?;
    clock.advance(Duration::from_secs(2));
    for _ in 0..4 {
        service.request(&Caller { account: "bob", tier: "free", ..ann }, "/api/orders")?;
    }

    println!("\nfor the people who run it:");
    for (name, stats) in [("api", service.api.stats()), ("door", service.door.stats())] {
        println!(
            "  {name}: {} of {} slots in use, {} calls without room, {} bytes",
            stats.len, stats.capacity, stats.overflowed, stats.bytes
        );
    }
    for denied in service.top.list() {
        println!("  {}: denied {} times", denied.label, denied.count);
    }
    Ok(())
}

/// Who asks, as the request says and the accounts' database has it.
#[derive(Clone, Copy)]
struct Caller<'a> {
    tenant: &'a str,
    account: &'a str,
    tier: &'a str,
    address: &'a str,
}

struct Service<'a> {
    api: Limiter<(Tenant, Account), &'a ManualClock>,
    door: Limiter<Address, &'a ManualClock>,
    top: TopDenied,
}

impl<'a> Service<'a> {
    fn new(policies: &Policies, clock: &'a ManualClock) -> Result<Self, Box<dyn Error>> {
        let policy = |name| policies.get(name).cloned().ok_or_else(|| format!("{FILE}: there is no policy '{name}'"));
        Ok(Self {
            api: Limiter::with_clock(policy("api")?, clock)?,
            door: Limiter::with_clock(policy("door")?, clock)?,
            top: TopDenied::new(10),
        })
    }

    /// Whether the request may go on, having said so.
    fn request(&self, caller: &Caller<'_>, path: &str) -> Result<bool, Box<dyn Error>> {
        let Caller { tenant, account, tier, address } = *caller;
        print!("  {tenant}/{account} {path} from {address}: ");

        if self.door.check(&address.parse::<Address>()?, 1).would_be_denied() {
            print!("(the door would be shut) ");
        }
        // Routes are the caller's to look at: who calls knows the path.
        if !self.api.policy().scope().covers(path) {
            println!("goes, not limited");
            return Ok(true);
        }
        let identity = (Tenant::new(tenant)?, Account::new(account)?);
        let tier = self.api.tier(tier).ok_or("a tier of the file")?;
        let verdict = self.api.check_as(&identity, tier, 1);
        match verdict.retry_after() {
            _ if verdict.is_admitted() => println!("goes, {} left", verdict.decision().remaining().unwrap_or(0)),
            Some(wait) => println!("denied, come back in {wait:?}"),
            None => println!("never: it costs more than a full bucket has"),
        }
        if !verdict.is_admitted() {
            // A label of ours: the table knows no names.
            self.top.record(&format!("{tenant}/{account}"));
        }
        Ok(verdict.is_admitted())
    }
}
