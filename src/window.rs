//! The fixed window: so many in each aligned stretch of time.
//!
//! | file | holds |
//! |---|---|
//! | [`step`] | the packed word and the rules, pure |
//! | this one | [`Window`], the budget, and [`FixedWindow`], the limiter |
//!
//! The compare-and-swap loop is the bucket's: [`AtomicWord::apply`].

pub mod step;

use core::fmt;
use core::time::Duration;

use crate::bucket::AtomicWord;
use crate::budget::{BudgetError, Fault, Field, HORIZON};
use crate::clock::{Clock, TscClock};
use crate::decision::{Decision, Permit};
use crate::sync::const_unless_loom;

/// A fixed window's budget: at most `limit` tokens in each window of `length`.
///
/// Windows are aligned to the clock's epoch: the first is `0 .. length`.
///
/// ```
/// use std::time::Duration;
/// use admittance::Window;
/// const A_MINUTE: Window = Window::per_minute(100);
/// let odd = Window::new(5, Duration::from_secs(10))?;
/// # Ok::<(), admittance::BudgetError>(())
/// ```
///
/// # Bounds
///
/// A window is 36 years at most, and the bits of the largest window number and of `limit` together are 64 at most: below
/// 2³³ tokens at one second, below 2³⁹ at one minute. Beyond that, [`Window::new`] is an error.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Window {
    limit: u64,
    nanos: u64,
    /// Low bits of the word that hold the count.
    count_bits: u32,
}

impl Window {
    /// At most `limit` tokens in each window of `length`.
    ///
    /// # Errors
    ///
    /// When either is zero or too large: see [Bounds](Window#bounds). The error names the field and the bound.
    pub const fn new(limit: u64, length: Duration) -> Result<Self, BudgetError> {
        let nanos = length.as_nanos();
        if limit == 0 {
            return Err(BudgetError::new(Field::Limit, Fault::Zero));
        }
        if nanos == 0 {
            return Err(BudgetError::new(Field::Window, Fault::Zero));
        }
        if nanos > HORIZON as u128 {
            return Err(BudgetError::new(Field::Window, Fault::WindowTooLong { given: length }));
        }
        let nanos = nanos as u64;
        let count_bits = u64::BITS - limit.leading_zeros();
        let number_bits = u64::BITS - (HORIZON / nanos).leading_zeros();
        if count_bits + number_bits > u64::BITS {
            let most = (1 << (u64::BITS - number_bits)) - 1;
            return Err(BudgetError::new(Field::Limit, Fault::LimitTooLarge { given: limit, most }));
        }
        Ok(Self { limit, nanos, count_bits })
    }

    /// At most `limit` tokens in each second.
    ///
    /// # Panics
    ///
    /// When `limit` is 0 or 2³³ and more; in a `const`, that is a compile error. [`Window::new`] returns an error instead.
    #[must_use]
    pub const fn per_second(limit: u64) -> Self {
        Self::of(limit, 1)
    }

    /// At most `limit` tokens in each minute.
    ///
    /// # Panics
    ///
    /// When `limit` is 0 or 2³⁹ and more.
    #[must_use]
    pub const fn per_minute(limit: u64) -> Self {
        Self::of(limit, 60)
    }

    /// At most `limit` tokens in each hour.
    ///
    /// # Panics
    ///
    /// When `limit` is 0 or 2⁴⁵ and more.
    #[must_use]
    pub const fn per_hour(limit: u64) -> Self {
        Self::of(limit, 3600)
    }

    /// At most `limit` tokens in each day.
    ///
    /// # Panics
    ///
    /// When `limit` is 0 or 2⁵⁰ and more.
    #[must_use]
    pub const fn per_day(limit: u64) -> Self {
        Self::of(limit, 86_400)
    }

    const fn of(limit: u64, seconds: u64) -> Self {
        match Self::new(limit, Duration::from_secs(seconds)) {
            Ok(window) => window,
            Err(error) => panic!("{}", error.short()),
        }
    }

    /// Tokens in one window; the largest cost that is ever admitted.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// How long a window is, in nanoseconds.
    #[cfg(feature = "replay")]
    pub(crate) const fn nanos(&self) -> u64 {
        self.nanos
    }

    /// How long a window is.
    #[must_use]
    pub const fn length(&self) -> Duration {
        Duration::from_nanos(self.nanos)
    }
}

#[allow(clippy::missing_fields_in_debug, reason = "the bits follow from the rest")]
impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Window").field("limit", &self.limit).field("length", &self.length()).finish()
    }
}

/// `5 in each 10s`.
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in each {:?}", self.limit, self.length())
    }
}

/// A fixed-window limiter: a count that starts again at every aligned boundary, in one `AtomicU64`.
///
/// ```
/// use std::time::Duration;
/// use admittance::{FixedWindow, ManualClock, Window};
///
/// let clock = ManualClock::new();
/// let limiter = FixedWindow::with_clock(Window::new(5, Duration::from_secs(10))?, &clock);
/// for left in (0..5).rev() {
///     assert_eq!(limiter.try_acquire(1).remaining(), Some(left));
/// }
/// clock.advance(Duration::from_secs(7));
/// assert_eq!(limiter.try_acquire(1).retry_after(), Some(Duration::from_secs(3)));
/// # Ok::<(), admittance::BudgetError>(())
/// ```
///
/// # What it does not promise
///
/// Two windows meet at a boundary: up to **twice the limit** can pass within one window's length, half on each side. Where
/// that matters take a [`TokenBucket`](crate::TokenBucket), whose bound holds over every interval.
///
/// # Exactness, progress and memory ordering
///
/// As [`TokenBucket`](crate::TokenBucket#exactness): window number and count change in one compare-and-swap, a denied
/// call writes nothing, every access is relaxed. A caller whose clock is behind the word's window is counted in the word's
/// window: nothing is minted, and no count is lost.
pub struct FixedWindow<C = TscClock> {
    /// See [`step`] for its bits.
    word: AtomicWord,
    window: Window,
    clock: C,
}

#[cfg(feature = "std")]
impl FixedWindow {
    /// An unused limiter on the precise clock, whose first window starts now.
    #[must_use]
    pub fn new(window: Window) -> Self {
        Self::with_clock(window, TscClock::new())
    }
}

impl<C> FixedWindow<C> {
    const_unless_loom! {
        /// An unused limiter on `clock`, with windows aligned to the clock's epoch.
        #[must_use]
        pub const fn with_clock(window: Window, clock: C) -> Self {
            Self { word: AtomicWord::new(), window, clock }
        }
    }

    /// The budget it enforces.
    #[must_use]
    pub const fn window(&self) -> &Window {
        &self.window
    }

    /// The clock it reads.
    #[must_use]
    pub const fn clock(&self) -> &C {
        &self.clock
    }
}

impl<C: Clock> FixedWindow<C> {
    /// Spends `n` tokens of the current window if they are there; never waits.
    ///
    /// `n = 0` is admitted and spends nothing. `n` above the limit is [`Decision::Never`]. A denial's wait ends where the
    /// next window begins.
    #[inline]
    pub fn try_acquire(&self, n: u64) -> Decision {
        let now = self.clock.now();
        self.word.apply(|word| step::acquire(word, n, now, &self.window))
    }

    /// What [`try_acquire`](Self::try_acquire) would answer now. Writes nothing.
    #[inline]
    pub fn peek(&self, n: u64) -> Decision {
        step::acquire(self.word.load(), n, self.clock.now(), &self.window).decision()
    }

    /// Gives back `n` of the tokens that `permit` was given for: work that was admitted and did not happen.
    ///
    /// A window that is over takes nothing back: its tokens are gone, and the current window never gains by them.
    pub fn refund(&self, n: u64, permit: &Permit) {
        self.word.update(|word| (step::refund(word, n, permit, &self.window), ()));
    }

    /// Tokens left in the current window.
    #[must_use]
    pub fn available(&self) -> u64 {
        self.peek(0).remaining().unwrap_or(0)
    }
}

impl<C: Clock> fmt::Debug for FixedWindow<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FixedWindow")
            .field("window", &self.window)
            .field("available", &self.available())
            .finish_non_exhaustive()
    }
}
