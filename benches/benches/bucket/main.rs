//! One bucket: admit, deny and boundary, on 1, 2 and 4 threads, on each clock, for everybody.
//!
//! ```text
//! cargo bench -p admittance-benches --features peers --bench bucket            # all of it, half an hour
//! cargo bench -p admittance-benches --features peers --bench bucket -- deny/2  # denials on two threads
//! ```
//!
//! A number is a thread's time for one call while `threads` of them share the bucket. Beside criterion's own output each
//! line says on stderr what share was admitted and how evenly the threads fared.

mod admit;
mod boundary;
mod deny;
mod grid;

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};

/// Short measurements: the quantity is some nanoseconds, and there are many of them.
fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(50)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .without_plots()
}

criterion_group! {
    name = bucket;
    config = criterion();
    targets = admit::bench, deny::bench, boundary::bench
}
criterion_main!(bucket);
