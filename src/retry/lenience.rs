//! What is read although the standard has no such form.

/// One departure from the standard's forms, each its own switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lenient {
    /// `+3` is 3 seconds.
    PlusSign,
    /// `3.5` is 3.5 seconds; what is smaller than a nanosecond is rounded up.
    Fraction,
    /// A date's day of the week may be another than the date's.
    WrongWeekday,
    /// A date may end in `gmt`, `UTC`, `utc` or `+0000` instead of `GMT`.
    UtcNames,
    /// A date's day may be one digit with one space before it: `Mon Apr 6`, `Mon, 6 Apr 2026`.
    ShortDay,
    /// A timestamp: `2026-03-10T12:00:03Z`. Parts of a second are rounded up.
    Timestamp,
}

impl Lenient {
    /// Every switch.
    pub const ALL: [Self; 6] =
        [Self::PlusSign, Self::Fraction, Self::WrongWeekday, Self::UtcNames, Self::ShortDay, Self::Timestamp];
}

/// Which departures from the standard's forms are read. [`STRICT`](Self::STRICT), the default, is none.
///
/// ```
/// use admittance::retry::{Lenience, Lenient, RetryAfter};
///
/// assert!(RetryAfter::parse(b"+3", Lenience::STRICT).is_err());
/// assert!(RetryAfter::parse(b"+3", Lenience::STRICT.with(Lenient::PlusSign)).is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[must_use]
pub struct Lenience(u8);

impl Lenience {
    /// The forms of RFC 9110 and no others.
    pub const STRICT: Self = Self(0);

    /// This one too.
    pub const fn with(self, what: Lenient) -> Self {
        Self(self.0 | 1 << what as u8)
    }

    /// Whether this one is read.
    #[must_use]
    pub const fn allows(self, what: Lenient) -> bool {
        self.0 & 1 << what as u8 != 0
    }
}
