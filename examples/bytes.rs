//! A budget of bytes, charged when the size is known: `cargo run --example bytes`.
//!
//! A download's size is not known when it is asked for. So ask for one byte at the door, and debit the rest afterwards:
//! a large response leaves the bucket in debt, and the refill pays that off before anyone else is let in.

use std::time::Duration;

use admittance::{Budget, BudgetError, Decision, ManualClock, TokenBucket};

fn main() -> Result<(), BudgetError> {
    // 1.25 GB a second over the wire, half a second's worth at once. A manual clock, so that the output is always the same.
    let clock = ManualClock::new();
    let budget = Budget::new(625_000_000, 1_250_000_000, Duration::from_secs(1))?;
    let bucket = TokenBucket::with_clock(budget, &clock);

    for size in [200_000_000, 900_000_000, 10_000] {
        loop {
            match bucket.try_acquire(1) {
                Decision::Admitted(_) => break,
                Decision::Denied(denial) => {
                    println!("in debt: wait {:?}", denial.retry_after());
                    clock.advance(denial.retry_after());
                }
                Decision::Never => unreachable!("one byte fits"),
            }
        }
        let charged = 1 + bucket.debit(size - 1);
        println!("sent {size} bytes, charged {charged}, {} left", bucket.available());
    }
    Ok(())
}
