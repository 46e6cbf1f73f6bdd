//! Several limits at once: "10 a second and 1000 an hour", this user's and this tenant's.

use core::fmt;

use crate::bucket::TokenBucket;
use crate::clock::Clock;
use crate::decision::{Decision, Denial, Permit};
use crate::window::FixedWindow;

/// Something that can be asked for tokens, and given them back.
///
/// [`TokenBucket`] and [`FixedWindow`] are limits, and so is a reference to one.
pub trait Limit {
    /// Spends `n` tokens if they are there.
    fn try_acquire(&self, n: u64) -> Decision;

    /// What [`try_acquire`](Self::try_acquire) would answer now. Spends nothing.
    fn peek(&self, n: u64) -> Decision;

    /// Gives back the `n` tokens that `permit` was given for.
    fn give_back(&self, n: u64, permit: &Permit);
}

impl<C: Clock> Limit for TokenBucket<C> {
    #[inline]
    fn try_acquire(&self, n: u64) -> Decision {
        self.try_acquire(n)
    }

    #[inline]
    fn peek(&self, n: u64) -> Decision {
        self.peek(n)
    }

    fn give_back(&self, n: u64, _: &Permit) {
        self.refund(n);
    }
}

impl<C: Clock> Limit for FixedWindow<C> {
    #[inline]
    fn try_acquire(&self, n: u64) -> Decision {
        self.try_acquire(n)
    }

    #[inline]
    fn peek(&self, n: u64) -> Decision {
        self.peek(n)
    }

    fn give_back(&self, n: u64, permit: &Permit) {
        self.refund(n, permit);
    }
}

impl<L: Limit + ?Sized> Limit for &L {
    #[inline]
    fn try_acquire(&self, n: u64) -> Decision {
        (**self).try_acquire(n)
    }

    #[inline]
    fn peek(&self, n: u64) -> Decision {
        (**self).peek(n)
    }

    fn give_back(&self, n: u64, permit: &Permit) {
        (**self).give_back(n, permit);
    }
}

/// Two or more limits that admit together or not at all.
///
/// ```
/// use std::time::Duration;
/// use admittance::{AllOf, Budget, FixedWindow, ManualClock, TokenBucket, Window};
///
/// let clock = ManualClock::new();
/// let burst = TokenBucket::with_clock(Budget::per_second(10), &clock);
/// let hourly = FixedWindow::with_clock(Window::per_hour(1000), &clock);
/// let both = AllOf::new([&burst, &hourly]);
///
/// assert!(both.try_acquire(10).decision.is_admitted());
/// let answer = both.try_acquire(1);
/// assert_eq!(answer.decision.retry_after(), Some(Duration::from_millis(100)));
/// assert_eq!(answer.binding, 0); // the burst limit said no
/// assert_eq!(hourly.available(), 990); // and the hourly one was not charged for it
/// ```
///
/// # What it promises
///
/// - Admitted means that every limit was charged `n`; anything else means that none stays charged.
/// - No limit is ever over-admitted, whoever calls at the same time, through this or directly.
///
/// # What it does not promise
///
/// That the whole is one instant. All limits are looked at before any is charged, so a denial is nearly always one load
/// each. Where a racing caller takes the last token in between, what was charged is given back at once; a third caller may
/// in that moment be denied what is about to be free again. A refill that would have overflowed in that moment is not lost.
///
/// Complexity: `N` looks and `N` charges.
#[derive(Clone, Copy)]
pub struct AllOf<'l, const N: usize> {
    limits: [&'l (dyn Limit + Sync); N],
}

/// The answer of several limits.
#[must_use = "an answer that is not looked at limits nothing"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Admitted with the fewest remaining tokens of any limit; denied with the wait after which all would pass; or never.
    pub decision: Decision,
    /// The limit that bound, by its place: the one with the fewest remaining, with the longest wait, or that is too small.
    pub binding: usize,
}

impl<'l, const N: usize> AllOf<'l, N> {
    /// These limits together.
    ///
    /// Charged in this order: put the one that denies most first.
    #[must_use]
    pub const fn new(limits: [&'l (dyn Limit + Sync); N]) -> Self {
        const { assert!(N > 0, "a limit that is made of no limits admits everything; that is not what it says") };
        Self { limits }
    }

    /// Spends `n` tokens of every limit, or of none.
    pub fn try_acquire(&self, n: u64) -> Answer {
        self.try_acquire_each([n; N])
    }

    /// Spends `costs[i]` tokens of limit `i`, all or nothing: one request *and* its bytes.
    pub fn try_acquire_each(&self, costs: [u64; N]) -> Answer {
        // The first limit is looked at by being charged: where it refuses, nothing is spent.
        for (place, (limit, &cost)) in self.limits.iter().zip(&costs).enumerate().skip(1) {
            let looked = limit.peek(cost);
            if !looked.is_admitted() {
                return self.back_out(&[None; N], costs, place, looked);
            }
        }
        let mut permits = [None; N];
        for place in 0..N {
            match self.limits[place].try_acquire(costs[place]) {
                Decision::Admitted(permit) => permits[place] = Some(permit),
                refused => return self.back_out(&permits, costs, place, refused),
            }
        }
        let mut worst = Worst::default();
        for (place, permit) in permits.into_iter().enumerate() {
            if let Some(permit) = permit {
                worst.meet(place, Decision::Admitted(permit));
            }
        }
        worst.answer()
    }

    /// Gives back what was charged before `place` refused, and finds the longest wait.
    #[cold]
    fn back_out(&self, permits: &[Option<Permit>; N], costs: [u64; N], place: usize, refused: Decision) -> Answer {
        for ((limit, permit), cost) in self.limits.iter().zip(permits).zip(costs) {
            if let Some(permit) = permit {
                limit.give_back(cost, permit);
            }
        }
        // Others may have a longer wait; this one was refused, whatever it would say now.
        let mut worst = Worst::default();
        worst.meet(place, refused);
        self.look(costs, &mut worst);
        worst.answer()
    }

    /// What [`try_acquire`](Self::try_acquire) would answer now. Spends nothing.
    pub fn peek(&self, n: u64) -> Answer {
        self.peek_each([n; N])
    }

    /// What [`try_acquire_each`](Self::try_acquire_each) would answer now. Spends nothing.
    pub fn peek_each(&self, costs: [u64; N]) -> Answer {
        let mut worst = Worst::default();
        self.look(costs, &mut worst);
        worst.answer()
    }

    fn look(&self, costs: [u64; N], worst: &mut Worst) {
        for (place, (limit, cost)) in self.limits.iter().zip(costs).enumerate() {
            worst.meet(place, limit.peek(cost));
        }
    }
}

impl<const N: usize> fmt::Debug for AllOf<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AllOf").field("limits", &N).finish_non_exhaustive()
    }
}

/// The worst decision so far, and whose it was.
#[derive(Default)]
struct Worst {
    admitted: Option<(usize, Permit)>,
    denied: Option<(usize, Denial)>,
    never: Option<usize>,
}

impl Worst {
    #[inline]
    fn meet(&mut self, place: usize, decision: Decision) {
        match decision {
            Decision::Never => self.never = self.never.or(Some(place)),
            Decision::Denied(denial) => {
                if self.denied.is_none_or(|(_, longest)| longest.retry_after_nanos() < denial.retry_after_nanos()) {
                    self.denied = Some((place, denial));
                }
            }
            Decision::Admitted(permit) => {
                if self.admitted.is_none_or(|(_, fewest)| permit.left_less_than(&fewest)) {
                    self.admitted = Some((place, permit));
                }
            }
        }
    }

    fn answer(self) -> Answer {
        match self {
            Self { never: Some(binding), .. } => Answer { decision: Decision::Never, binding },
            Self { denied: Some((binding, denial)), .. } => Answer { decision: Decision::Denied(denial), binding },
            Self { admitted: Some((binding, permit)), .. } => Answer { decision: Decision::Admitted(permit), binding },
            // There is at least one limit, and each was met.
            Self { .. } => Answer { decision: Decision::Never, binding: 0 },
        }
    }
}
