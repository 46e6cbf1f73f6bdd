//! Budgets and windows: what can be built, what cannot, and what the errors say.

mod oracle;
#[path = "oracle/strategies.rs"]
mod strategies;

use std::time::Duration;

use admittance::bucket::{Word, step};
use admittance::{Budget, BudgetError, ManualClock, Resolution, TokenBucket, Window};
use proptest::prelude::*;
use strategies::{DAY, SECOND, any_size, cases};

// That these compile is the test: budgets are constants.
const EVERYDAY: Budget = Budget::per_second(4000);
const GENTLE: Budget = Budget::per_minute(100).with_capacity(20);
const CHECKED: Result<Budget, BudgetError> = Budget::new(3, 7, Duration::from_secs(3));
const WINDOW: Window = Window::per_minute(100);
static SHARED: TokenBucket<ManualClock> = TokenBucket::with_clock(EVERYDAY, ManualClock::new());

fn nanos(capacity: u64, tokens: u64, nanos: u64) -> Result<Budget, BudgetError> {
    Budget::new(capacity, tokens, Duration::from_nanos(nanos))
}

#[test]
fn a_budget_is_a_constant() {
    assert_eq!((EVERYDAY.capacity(), EVERYDAY.refill_tokens()), (4000, 4000));
    assert_eq!((GENTLE.capacity(), GENTLE.refill_tokens(), GENTLE.refill_duration().as_secs()), (20, 100, 60));
    assert_eq!(CHECKED.map(|budget| budget.capacity()), Ok(3));
    assert_eq!((WINDOW.limit(), WINDOW.length().as_secs()), (100, 60));
    assert!(SHARED.try_acquire(4000).is_admitted() && SHARED.try_acquire(1).is_denied());
}

#[test]
fn four_thousand_a_second_is_four_thousand_in_each_second() {
    let clock = ManualClock::new();
    let bucket = TokenBucket::with_clock(Budget::per_second(4000), &clock);
    for second in 0..5 {
        let admitted = (0..4100).filter(|_| bucket.try_acquire(1).is_admitted()).count();
        assert_eq!(admitted, 4000, "in second {second}");
        clock.advance(Duration::from_secs(1));
    }
}

#[test]
fn each_constructor_names_its_own_unit_of_time() {
    let seconds = |budget: Budget| (budget.refill_tokens(), budget.capacity(), budget.refill_duration().as_secs());
    assert_eq!(seconds(Budget::per_second(9)), (9, 9, 1));
    assert_eq!(seconds(Budget::per_minute(9)), (9, 9, 60));
    assert_eq!(seconds(Budget::per_hour(9)), (9, 9, 3600));
    assert_eq!(seconds(Budget::per_day(9)), (9, 9, 86_400));
    let windows = [Window::per_second(9), Window::per_minute(9), Window::per_hour(9), Window::per_day(9)];
    assert_eq!(windows.map(|window| window.length().as_secs()), [1, 60, 3600, 86_400]);
    assert!(windows.iter().all(|window| window.limit() == 9));
}

#[test]
fn another_capacity_keeps_the_refill() {
    let budget = Budget::per_minute(333).try_with_capacity(7).unwrap();
    assert_eq!((budget.capacity(), budget.refill_tokens(), budget.refill_duration().as_secs()), (7, 333, 60));
    assert_eq!(Budget::per_minute(333).with_capacity(7), budget);
    assert!(budget.try_with_capacity(0).unwrap_err().is_zero());
    // Up and down again is the same budget: nothing of the larger one's scale stays behind.
    assert_eq!(budget.with_capacity(1 << 30).with_capacity(7), budget);
}

/// Field, value and bound, word for word.
#[test]
fn every_error_names_the_field_the_value_and_the_bound() {
    let budgets = [
        (nanos(0, 1, 1), "capacity: must be at least 1, was 0"),
        (nanos(1, 0, 1), "refill tokens: must be at least 1, was 0"),
        (nanos(1, 1, 0), "refill duration: must be at least 1, was 0"),
        (
            Budget::new(1, 1, Duration::from_nanos(u64::MAX) + Duration::from_nanos(1)),
            "refill duration: must be at most 2^64 - 1 ns (584 years), was 18446744073.709551616s",
        ),
        (nanos(1, 46, 3), "refill tokens: 46 per 3ns is too fast; at most 45 (15 a nanosecond) fit"),
        (
            nanos(1, 2, u64::MAX),
            "refill duration: 18446744073.709551615s for 2 is too long; \
             up to 4611686018.427387904s always fits (2^61 ns a token, 73 years)",
        ),
        (nanos(200_000, 1, DAY), "capacity: 200000 tokens take too long to refill; at this refill at most 100079 fit"),
    ];
    for (budget, text) in budgets {
        assert_eq!(budget.unwrap_err().to_string(), text);
    }
    let windows = [
        (Window::new(0, Duration::from_secs(1)), "limit: must be at least 1, was 0"),
        (Window::new(1, Duration::ZERO), "window: must be at least 1, was 0"),
        (
            Window::new(1, Duration::from_nanos(1 << 60)),
            "window: must be at most 2^60 - 1 ns (36 years), was 1152921504.606846976s",
        ),
        (
            Window::new(1 << 33, Duration::from_secs(1)),
            "limit: 8589934592 leaves no room for the window's number; at this window at most 8589934591 fit",
        ),
    ];
    for (window, text) in windows {
        assert_eq!(window.unwrap_err().to_string(), text);
    }
}

#[test]
fn errors_can_be_told_apart_without_reading_them() {
    let error = nanos(0, 1, 1).unwrap_err();
    assert_eq!(
        (error.field(), error.is_zero(), error.is_out_of_range(), error.bound()),
        ("capacity", true, false, None)
    );
    let error = nanos(u64::MAX, 1, SECOND).unwrap_err();
    assert_eq!((error.field(), error.is_zero(), error.is_out_of_range()), ("capacity", false, true));
    assert!(error.bound().is_some());
    let fields = [
        nanos(1, 0, 1).unwrap_err().field(),
        nanos(1, 16, 1).unwrap_err().field(),
        nanos(1, 1, 0).unwrap_err().field(),
        nanos(1, 1, u64::MAX).unwrap_err().field(),
        Window::new(0, Duration::from_secs(1)).unwrap_err().field(),
        Window::new(u64::MAX, Duration::from_secs(1)).unwrap_err().field(),
        Window::new(1, Duration::MAX).unwrap_err().field(),
    ];
    assert_eq!(
        fields,
        ["refill tokens", "refill tokens", "refill duration", "refill duration", "limit", "limit", "window"]
    );
    let error: Box<dyn std::error::Error> = error.into();
    assert!(error.source().is_none());
}

/// What a constant that cannot be says when it is built at run time.
#[test]
fn constructors_that_panic_say_why() {
    type Build = fn() -> String;
    let builds: [(Build, &str); 8] = [
        (|| Budget::per_second(0).to_string(), "capacity must be at least 1 token"),
        (|| Budget::per_second(15 * SECOND + 1).to_string(), "refill must be at most 15 tokens a nanosecond"),
        (|| Budget::per_minute(900 * SECOND + 1).to_string(), "refill must be at most 15 tokens a nanosecond"),
        (|| Budget::per_hour(54_000 * SECOND + 1).to_string(), "refill must be at most 15 tokens a nanosecond"),
        (|| Budget::per_day(1_296_000 * SECOND + 1).to_string(), "refill must be at most 15 tokens a nanosecond"),
        (|| Budget::per_second(1).with_capacity(u64::MAX).to_string(), "capacity is too large for this refill"),
        (|| Window::per_second(0).to_string(), "limit must be at least 1"),
        (|| Window::per_second(1 << 33).to_string(), "limit is too large for this window"),
    ];
    for (build, text) in builds {
        let panic = std::panic::catch_unwind(build).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(|s| &**s)), Some(text));
    }
}

/// The documented limits of the everyday constructors are the last values that build.
#[test]
fn the_documented_bounds_build() {
    assert_eq!(Budget::per_second(15 * SECOND).resolution(), Resolution::Exact);
    assert_eq!(Budget::per_minute(900 * SECOND).capacity(), 900 * SECOND);
    assert_eq!(Budget::per_hour(54_000 * SECOND).capacity(), 54_000 * SECOND);
    assert_eq!(Budget::per_day(1_296_000 * SECOND).capacity(), 1_296_000 * SECOND);
    assert_eq!(Window::per_second((1 << 33) - 1).limit(), (1 << 33) - 1);
    assert_eq!(Window::per_minute((1 << 39) - 1).limit(), (1 << 39) - 1);
    assert_eq!(Window::per_hour((1 << 45) - 1).limit(), (1 << 45) - 1);
    assert_eq!(Window::per_day((1 << 50) - 1).limit(), (1 << 50) - 1);
    for (limit, seconds) in [(1 << 33, 1), (1 << 39, 60), (1 << 45, 3600), (1 << 50, 86_400)] {
        assert_eq!(Window::new(limit, Duration::from_secs(seconds)).unwrap_err().bound(), Some(limit - 1));
    }
    // Filling takes up to the horizon always, and 273 years where a token is a whole number of nanoseconds.
    assert!(nanos(1, 1, 15 * (1 << 59) - 1).is_ok());
    assert!(nanos(1, 1, 15 * (1 << 59)).is_err());
    assert!(nanos(1, 7, (7 << 61) - 1).is_ok(), "2^61 ns a token");
    assert!(nanos(1, 7, (7 << 61) + 1).is_err());
}

#[test]
fn capacities_to_two_to_the_forty_eight_and_refills_to_ten_to_the_ten_work() {
    let most = 1 << 48;
    for per_second in [250_000, 999_983, 1_000_000, 600_000_000, 1_250_000_000, 9_999_999_967, 10_000_000_000] {
        for capacity in [1, 2, 12_345, (1 << 32) + 1, most - 1, most] {
            let budget = nanos(capacity, per_second, SECOND).unwrap_or_else(|error| panic!("{per_second}: {error}"));
            let clock = ManualClock::at(DAY);
            let bucket = TokenBucket::with_clock(budget, &clock);
            assert_eq!(bucket.try_acquire(capacity).remaining(), Some(0));
            let wait = bucket.try_acquire(capacity).retry_after().expect("the bucket is empty").as_nanos();
            let exact = (u128::from(capacity) * u128::from(SECOND)).div_ceil(u128::from(per_second));
            assert!(wait.abs_diff(exact) <= u128::from(budget.resolution() != Resolution::Exact), "{budget}: {wait}");
        }
    }
}

#[test]
fn the_resolution_is_as_documented() {
    let exact = [
        Budget::per_second(4000),
        Budget::per_day(1),
        nanos(1_729_382_256, 7, 3 * SECOND).unwrap(),
        nanos(1, 600_000_000, SECOND).unwrap(),
        nanos(1_250_000_000, 1_250_000_000, SECOND).unwrap(),
        nanos(1 << 48, 10_000_000_000, SECOND).unwrap(),
        nanos(1, 15, 1).unwrap(),
        // 15 is the last numerator that is.
        nanos(9, 15, 1_000_007).unwrap(),
    ];
    for budget in exact {
        assert_eq!(budget.resolution(), Resolution::Exact, "{budget}");
    }
    let scaled = [
        Budget::per_second(999_983),
        Budget::per_minute(333),
        nanos(9, 16, 1_000_007).unwrap(),
        nanos(9, 17, 1 << 12).unwrap(),
        // Takes decades to fill; one token less is exact.
        nanos(1_729_382_257, 7, 3 * SECOND).unwrap(),
        // Its rate rounds to a whole number of ticks a nanosecond, and is none.
        nanos(21, 49, 2_353_881_405_238_979_243).unwrap(),
        nanos(20, 1_000_003, SECOND).unwrap(),
    ];
    for budget in scaled {
        assert_eq!(budget.resolution(), Resolution::WithinOneNanosecond, "{budget}");
    }
}

#[test]
fn a_budget_reads_as_it_was_given() {
    let budget = nanos(20, 200, 60 * SECOND).unwrap();
    assert_eq!(budget.to_string(), "200 per 60s, capacity 20");
    assert_eq!(
        format!("{budget:?}"),
        "Budget { capacity: 20, refill_tokens: 200, refill_duration: 60s, resolution: Exact }"
    );
    assert_eq!(Window::new(5, Duration::from_secs(10)).unwrap().to_string(), "5 in each 10s");
    assert_eq!(format!("{:?}", Window::new(5, Duration::from_secs(10)).unwrap()), "Window { limit: 5, length: 10s }");
}

/// One value in the field at fault, with the others as they are.
fn with(field: &str, value: u64, (capacity, tokens, duration): (u64, u64, u64)) -> Result<Budget, BudgetError> {
    match field {
        "capacity" => nanos(value, tokens, duration),
        "refill tokens" => nanos(capacity, value, duration),
        _ => panic!("no bound for {field}"),
    }
}

proptest! {
    #![proptest_config(cases(4000))]

    /// No panic for any numbers. What builds works at its edges; what does not names a bound that builds, and the next
    /// value does not.
    #[test]
    fn any_numbers_make_a_budget_or_an_error_with_a_tight_bound(
        capacity in any_size(), tokens in any_size(), duration in any_size(), seconds in any::<u64>(),
    ) {
        let _ = Budget::new(capacity, tokens, Duration::new(seconds, 999_999_999));
        match nanos(capacity, tokens, duration) {
            Ok(budget) => {
                prop_assert!(budget.ticks_per_token() > 0);
                let (deepest, charged) = step::debit(Word::FULL, u64::MAX, u64::MAX, &budget);
                prop_assert_eq!(charged, 2 * capacity, "the top of the word's range");
                prop_assert!(step::acquire(deepest, capacity, u64::MAX, &budget).decision().is_denied());
            }
            Err(error) if error.is_zero() => prop_assert!(capacity == 0 || tokens == 0 || duration == 0),
            Err(error) => {
                prop_assert!(error.to_string().starts_with(error.field()));
                if let Some(bound) = error.bound() {
                    let given = (capacity, tokens, duration);
                    // A capacity may be out of range too; the smallest shows that the bound itself is none.
                    let smallest = (1, tokens, duration);
                    let given = if error.field() == "capacity" { given } else { smallest };
                    prop_assert!(with(error.field(), bound, given).is_ok(), "{} does not fit", bound);
                    let next = with(error.field(), bound + 1, given).unwrap_err();
                    prop_assert_eq!((next.field(), next.bound()), (error.field(), Some(bound)));
                } else {
                    prop_assert_eq!(error.field(), "refill duration");
                    // The duration that "always fits".
                    prop_assert!(tokens < 8 && nanos(1, tokens, tokens << 61).is_ok());
                }
            }
        }
    }

    #[test]
    fn any_numbers_make_a_window_or_an_error_with_a_tight_bound(
        limit in any_size(), length in any_size(), seconds in any::<u64>(),
    ) {
        let _ = Window::new(limit, Duration::new(seconds, 999_999_999));
        let length = Duration::from_nanos(length);
        match Window::new(limit, length) {
            Ok(window) => prop_assert_eq!((window.limit(), window.length()), (limit, length)),
            Err(error) if error.is_zero() => prop_assert!(limit == 0 || length.is_zero()),
            Err(error) => if let Some(bound) = error.bound() {
                prop_assert!(Window::new(bound, length).is_ok());
                prop_assert_eq!(Window::new(bound + 1, length).unwrap_err().bound(), Some(bound));
            } else {
                prop_assert_eq!(error.field(), "window");
                prop_assert!(length > Duration::from_nanos(oracle::HORIZON));
            },
        }
    }

    /// Finer is closer: a scaled budget's token is the largest power of two of ticks that fits.
    #[test]
    fn a_scaled_budget_is_as_fine_as_fits(budget in strategies::budget()) {
        let scaled = budget.resolution() == Resolution::WithinOneNanosecond;
        prop_assert!(!scaled || budget.ticks_per_token().is_power_of_two());
        let finer = 2 * u128::from(budget.ticks_per_token());
        let (p, d) = (u128::from(budget.refill_tokens()), budget.refill_duration().as_nanos());
        // Ticks of a nanosecond times 2⁶⁰, to nearest, and then the top of the word's range.
        let (whole, part) = (finer * p / d, finer * p % d);
        let rate = (whole << 60) + ((part << 60) + d / 2) / d;
        let top = 2 * u128::from(budget.capacity()) * finer + rate;
        prop_assert!(!scaled || top > u128::from(u64::MAX), "{finer} ticks a token fit too");
    }

    /// Exact where a nanosecond is a whole number of the ticks a token is made of, in rationals.
    #[test]
    fn a_budget_that_calls_itself_exact_is(budget in strategies::budget()) {
        let per_nano = u128::from(budget.ticks_per_token()) * u128::from(budget.refill_tokens());
        let whole = per_nano % budget.refill_duration().as_nanos() == 0;
        prop_assert_eq!(budget.resolution() == Resolution::Exact, whole);
    }
}
