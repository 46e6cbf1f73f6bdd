//! A list that grows while it is read: what a budget was changed to, and when.
//!
//! Reading what is current is one load. What was put in stays where it is until the list is dropped, so a reader that slept
//! through any number of changes still holds what it read, and a number never means something else later.

use std::boxed::Box;
use std::sync::{OnceLock, PoisonError};

use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering, const_unless_loom};

/// Rows double in length, so that nothing moves and a place is found in constant time.
const ROWS: usize = 32;

type Row<T> = Box<[OnceLock<T>]>;

/// The things that came after the first, numbered from 1; whoever owns the list keeps the first itself.
pub(crate) struct Later<T> {
    /// How many there are; the last of them is in use.
    count: AtomicU64,
    /// Row `k` holds numbers `2ᵏ .. 2ᵏ⁺¹`. Boxed, so that what is never changed stays small.
    rows: OnceLock<Box<[OnceLock<Row<T>>; ROWS]>>,
    /// Held by the one changer at a time, and for a moment by callers who came in the middle of a change.
    changing: Mutex<()>,
}

impl<T> Later<T> {
    const_unless_loom! {
        pub(crate) const fn new() -> Self {
            Self { count: AtomicU64::new(0), rows: OnceLock::new(), changing: Mutex::new(()) }
        }
    }

    /// The number of what is in use; 0 while that is the first.
    #[inline]
    pub(crate) fn number(&self) -> u64 {
        // Acquire: pairs with the release in `push`, so that what is counted is seen filled, and so is what was done
        // before it was.
        self.count.load(Ordering::Acquire)
    }

    /// What is in use; `None` while that is the first.
    #[inline]
    pub(crate) fn current(&self) -> Option<&T> {
        match self.number() {
            0 => None,
            number => self.get(number),
        }
    }

    /// Number `number`, 1 or above.
    #[cold]
    pub(crate) fn get(&self, number: u64) -> Option<&T> {
        self.place(number).get()
    }

    /// Returns once no change is under way.
    pub(crate) fn settle(&self) {
        drop(self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        // A changer cannot panic half way: there is room before `make` is called, and nothing after it can fail. So a
        // poisoned lock protects nothing.
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts in what `make` returns, if it returns something, and makes it the one in use. One changer at a time.
    pub(crate) fn push(&self, make: impl FnOnce() -> Option<T>) {
        let guard = self.lock();
        // Relaxed: only changers write it, and the lock orders them.
        let number = self.count.load(Ordering::Relaxed) + 1;
        let place = self.place(number);
        if let Some(made) = make() {
            let fresh = place.set(made).is_ok();
            debug_assert!(fresh, "a place is used once");
            // Release: whoever sees the new count sees the place filled.
            self.count.store(number, Ordering::Release);
        }
        drop(guard);
    }

    /// Where number `number`, 1 or above, is or will be.
    fn place(&self, number: u64) -> &OnceLock<T> {
        let row = number.ilog2();
        let first = 1 << row;
        let rows = self.rows.get_or_init(|| Box::new([const { OnceLock::new() }; ROWS]));
        let row = rows[row as usize].get_or_init(|| (0..first).map(|_| OnceLock::new()).collect());
        &row[(number - first) as usize]
    }
}
