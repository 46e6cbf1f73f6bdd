//! What a hot path needs beyond yes and no (reservations, leases, draining, changes of budget), one history at a time.
//!
//! For exact budgets, so that there is nothing to forgive but one thing: a change of budget may drop a part of a token that
//! the new budget cannot count. So there are two exact buckets, one that never drops anything and one that drops as much as
//! it may at each change, and the implementation stands between them: what it admits the first has, what it denies the
//! second has not.

use admittance::{Budget, Decision, Lease, ManualClock, Reservation, TokenBucket};
use num_bigint::BigInt;

use super::follow::Verdict;
use super::model::{HORIZON, Model, nanos};

/// One call, or one move of the clock, which only goes forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HotOp {
    Acquire(u64),
    UpTo(u64),
    Reserve(u64),
    /// As `Reserve`, by so many nanoseconds from now.
    ReserveIn(u64, u64),
    /// The reservation at this place among those held, counted round.
    Cancel(u8),
    Commit(u8),
    Lease(u64),
    GiveBack,
    Change(u8),
    Advance(u64),
}

/// The bucket that never drops anything, and the one that drops all it may.
#[derive(Clone)]
struct Bounds {
    most: Model,
    least: Model,
    at: BigInt,
}

impl Bounds {
    fn new(budget: &Budget, now: u64) -> Self {
        let mut most = model(budget);
        // Full until now.
        most.spend(0, &now.into());
        Self { least: most.clone(), most, at: now.into() }
    }

    fn spend(&mut self, n: u64) {
        self.most.spend(n, &self.at);
        self.least.spend(n, &self.at);
    }

    fn refund(&mut self, n: u64) {
        self.most.refund(n, &self.at);
        self.least.refund(n, &self.at);
    }

    fn change(&mut self, to: &Budget) {
        let [capacity, tokens] = [to.capacity(), to.refill_tokens()];
        self.most.change(capacity, tokens, nanos(to.refill_duration()), &self.at);
        self.least.change(capacity, tokens, nanos(to.refill_duration()), &self.at);
        self.least.drop_a_part_of(&model(to));
    }

    /// Judges a decision on `n` tokens that `ahead` nanoseconds from now would pass.
    fn decided(&self, n: u64, ahead: u64, admitted: bool) -> Verdict {
        let at = &self.at + ahead;
        match admitted {
            true if !self.most.passes(n, &at) => Err(format!("{n} were admitted that were not there")),
            false if self.least.passes(n, &at) => Err(format!("{n} were denied that were there")),
            _ => Ok(()),
        }
    }

    /// Judges an instant at which `n` tokens are said to be there.
    fn first(&self, n: u64, instant: u64) -> Verdict {
        let (early, late) = (self.most.first(n).max(self.at.clone()), self.least.first(n).max(self.at.clone()));
        if instant == u64::MAX || (&early..=&late).contains(&&BigInt::from(instant)) {
            Ok(())
        } else {
            Err(format!("{n} are there at {early}, or {late} at the latest, not at {instant}"))
        }
    }
}

fn model(budget: &Budget) -> Model {
    Model::new(budget.capacity(), budget.refill_tokens(), nanos(budget.refill_duration()))
}

/// Runs `ops` on a bucket of the first budget; `Err` names the call and what is wrong with it. All budgets are exact.
pub(crate) fn drive_hot(budgets: &[Budget], start: u64, lease: u64, ops: &[HotOp]) -> Verdict {
    let clock = ManualClock::at(start);
    let bucket = TokenBucket::with_clock(budgets[0], &clock);
    let lease = bucket.lease(lease);
    let mut bounds = Bounds::new(&budgets[0], start);
    let mut held: Vec<Reservation<'_, &ManualClock>> = Vec::new();
    for (index, &op) in ops.iter().enumerate() {
        one(budgets, &clock, &bucket, &lease, &mut bounds, &mut held, op)
            .and_then(|()| between(&bounds, bucket.available()))
            .map_err(|wrong| format!("call {index}, {op:?} at {} of {:?}: {wrong}", bounds.at, bucket.budget()))?;
    }
    // All back: reservations in whatever order they stand, and what the lease holds.
    for reservation in held {
        bounds.refund(reservation.tokens());
        drop(reservation);
    }
    bounds.refund(lease.held());
    drop(lease);
    between(&bounds, bucket.available()).map_err(|wrong| format!("after all was given back: {wrong}"))
}

fn between(bounds: &Bounds, available: u64) -> Verdict {
    let (least, most) = (bounds.least.tokens(&bounds.at), bounds.most.tokens(&bounds.at));
    if (&least..=&most).contains(&&BigInt::from(available)) {
        Ok(())
    } else {
        Err(format!("{available} available, exactly {least} to {most}"))
    }
}

#[allow(clippy::too_many_arguments, reason = "the parts of one history")]
fn one<'b, 'c>(
    budgets: &[Budget],
    clock: &ManualClock,
    bucket: &'b TokenBucket<&'c ManualClock>,
    lease: &Lease<&TokenBucket<&'c ManualClock>, &'c ManualClock>,
    bounds: &mut Bounds,
    held: &mut Vec<Reservation<'b, &'c ManualClock>>,
    op: HotOp,
) -> Verdict {
    let capacity = bucket.budget().capacity();
    match op {
        HotOp::Advance(by) => {
            // Far from the horizon: what is beyond it is another test's.
            let now = bucket_now(bounds).saturating_add(by).min(HORIZON / 2);
            clock.set(now);
            bounds.at = now.into();
        }
        HotOp::Acquire(n) => match bucket.try_acquire(n) {
            Decision::Never => return never(n, capacity),
            Decision::Denied(denial) => {
                bounds.decided(n, 0, false)?;
                bounds.first(n, denial.retry_at())?;
            }
            Decision::Admitted(_) => {
                bounds.decided(n, 0, true)?;
                bounds.spend(n);
            }
        },
        HotOp::UpTo(n) => {
            let taken = bucket.try_acquire_up_to(n);
            bounds.decided(taken, 0, true)?;
            if taken < n && taken < capacity {
                bounds.decided(taken + 1, 0, false)?;
            }
            bounds.spend(taken);
        }
        HotOp::Reserve(n) => match bucket.reserve(n) {
            Decision::Never => return never(n, capacity),
            // A capacity of debt at most: it would pass where the level and one capacity more are enough.
            Decision::Denied(denial) => {
                let mut lent = bounds.clone();
                lent.most.lend();
                lent.least.lend();
                lent.decided(n, 0, false)?;
                lent.first(n, denial.retry_at())?;
            }
            Decision::Admitted(reservation) => promised(bounds, n, reservation, held)?,
        },
        HotOp::ReserveIn(n, ahead) => {
            let now = bucket_now(bounds);
            match bucket.reserve_until(n, now.saturating_add(ahead)) {
                Decision::Never => return never(n, capacity),
                Decision::Denied(denial) => bounds.first(n, denial.retry_at())?,
                Decision::Admitted(reservation) => {
                    bounds.decided(n, ahead, true)?;
                    promised(bounds, n, reservation, held)?;
                }
            }
        }
        HotOp::Cancel(which) => {
            if let Some(reservation) = take(held, which) {
                bounds.refund(reservation.tokens());
                reservation.cancel();
            }
        }
        HotOp::Commit(which) => {
            if let Some(reservation) = take(held, which) {
                reservation.commit();
            }
        }
        HotOp::Lease(n) => {
            let before = lease.held();
            match lease.try_acquire(n) {
                Decision::Never => return never(n, capacity),
                Decision::Denied(denial) => {
                    bounds.decided(n - before, 0, false)?;
                    bounds.first(n - before, denial.retry_at())?;
                }
                Decision::Admitted(permit) => {
                    if permit.remaining() != lease.held() {
                        return Err(format!("{} remaining, {} in hand", permit.remaining(), lease.held()));
                    }
                    let debited = (n + lease.held()).checked_sub(before).ok_or("spent more than was in hand")?;
                    bounds.decided(debited, 0, true)?;
                    bounds.spend(debited);
                }
            }
        }
        HotOp::GiveBack => {
            bounds.refund(lease.held());
            lease.give_back();
        }
        HotOp::Change(which) => {
            let to = &budgets[usize::from(which) % budgets.len()];
            // Debt of decades of the new refill is more than a word holds, and is cut off: documented, and not told here.
            let debt = bounds.least.debt(&bounds.at) * to.ticks_per_token();
            if *to != bucket.budget() && debt < BigInt::from(1_u64 << 60) {
                bucket.set_budget(*to);
                bounds.change(to);
            }
        }
    }
    Ok(())
}

fn bucket_now(bounds: &Bounds) -> u64 {
    u64::try_from(&bounds.at).expect("the clock fits in 64 bits")
}

fn promised<'b, 'c>(
    bounds: &mut Bounds,
    n: u64,
    reservation: Reservation<'b, &'c ManualClock>,
    held: &mut Vec<Reservation<'b, &'c ManualClock>>,
) -> Verdict {
    // Nothing is there at once, whatever the debt.
    if n > 0 {
        bounds.first(n, reservation.at())?;
    }
    bounds.spend(n);
    held.push(reservation);
    Ok(())
}

fn take<T>(held: &mut Vec<T>, which: u8) -> Option<T> {
    if held.is_empty() { None } else { Some(held.remove(usize::from(which) % held.len())) }
}

fn never(n: u64, capacity: u64) -> Verdict {
    if n > capacity { Ok(()) } else { Err(format!("never, with a capacity of {capacity}")) }
}
