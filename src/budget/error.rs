//! What is wrong with a budget.

use core::fmt;
use core::time::Duration;

/// A budget that cannot be: which field, which value, and what would be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetError {
    field: Field,
    fault: Fault,
}

/// The part of a budget that is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Capacity,
    RefillTokens,
    RefillDuration,
    Limit,
    Window,
}

/// What is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Zero,
    DurationTooLong { given: Duration },
    RefillTooFast { given: u64, most: u64, nanos: u64 },
    RefillTooSlow { tokens: u64, nanos: u64 },
    CapacityTooLarge { given: u64, most: u64 },
    WindowTooLong { given: Duration },
    LimitTooLarge { given: u64, most: u64 },
}

impl BudgetError {
    pub(crate) const fn new(field: Field, fault: Fault) -> Self {
        Self { field, fault }
    }

    /// The field at fault: `capacity`, `refill tokens`, `refill duration`, `limit` or `window`.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        match self.field {
            Field::Capacity => "capacity",
            Field::RefillTokens => "refill tokens",
            Field::RefillDuration => "refill duration",
            Field::Limit => "limit",
            Field::Window => "window",
        }
    }

    /// Whether the field was zero.
    #[must_use]
    pub const fn is_zero(&self) -> bool {
        matches!(self.fault, Fault::Zero)
    }

    /// Whether the field, with the others as they are, is beyond what can be represented.
    #[must_use]
    pub const fn is_out_of_range(&self) -> bool {
        !self.is_zero()
    }

    /// The largest value the field may have with the others as they are, where that is a number of tokens.
    #[must_use]
    pub const fn bound(&self) -> Option<u64> {
        match self.fault {
            Fault::CapacityTooLarge { most, .. }
            | Fault::LimitTooLarge { most, .. }
            | Fault::RefillTooFast { most, .. } => Some(most),
            _ => None,
        }
    }

    /// For the panics of `const` constructors, which cannot format.
    pub(crate) const fn short(&self) -> &'static str {
        match (self.field, self.fault) {
            (Field::Capacity, Fault::Zero) => "capacity must be at least 1 token",
            (Field::Capacity, _) => "capacity is too large for this refill",
            (Field::RefillTokens, Fault::Zero) => "refill tokens must be at least 1",
            (Field::RefillTokens, _) => "refill must be at most 15 tokens a nanosecond",
            (Field::RefillDuration, Fault::Zero) => "refill duration must be at least 1 ns",
            (Field::RefillDuration, _) => "refill duration is too long",
            (Field::Limit, Fault::Zero) => "limit must be at least 1",
            (Field::Limit, _) => "limit is too large for this window",
            (Field::Window, Fault::Zero) => "window must be at least 1 ns",
            (Field::Window, _) => "window must be at most 36 years",
        }
    }
}

impl fmt::Display for BudgetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = self.field();
        match self.fault {
            Fault::Zero => write!(f, "{field}: must be at least 1, was 0"),
            Fault::DurationTooLong { given } => {
                write!(f, "{field}: must be at most 2^64 - 1 ns (584 years), was {given:?}")
            }
            Fault::RefillTooFast { given, most, nanos } => {
                let duration = Duration::from_nanos(nanos);
                write!(f, "{field}: {given} per {duration:?} is too fast; at most {most} (15 a nanosecond) fit")
            }
            Fault::RefillTooSlow { tokens, nanos } => {
                let (duration, most) = (Duration::from_nanos(nanos), Duration::from_nanos(tokens << 61));
                write!(
                    f,
                    "{field}: {duration:?} for {tokens} is too long; up to {most:?} always fits (2^61 ns a token, 73 years)"
                )
            }
            Fault::CapacityTooLarge { given, most } => {
                write!(f, "{field}: {given} tokens take too long to refill; at this refill at most {most} fit")
            }
            Fault::WindowTooLong { given } => {
                write!(f, "{field}: must be at most 2^60 - 1 ns (36 years), was {given:?}")
            }
            Fault::LimitTooLarge { given, most } => {
                write!(f, "{field}: {given} leaves no room for the window's number; at this window at most {most} fit")
            }
        }
    }
}

impl core::error::Error for BudgetError {}
