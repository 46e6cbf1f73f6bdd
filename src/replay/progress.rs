//! How far a replay is, for whoever watches from another thread.

use std::sync::Arc;

use crate::sync::{AtomicU64, Ordering};

/// How far a replay is.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    bytes: Arc<AtomicU64>,
    lines: Arc<AtomicU64>,
}

impl Progress {
    /// Bytes read of the inputs, before they are unzipped.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        // Relaxed, here and below: numbers to look at, and nothing else hangs on them.
        self.bytes.load(Ordering::Relaxed)
    }

    /// Lines parsed.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.lines.load(Ordering::Relaxed)
    }

    pub(super) fn add_bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn add_lines(&self, lines: u64) {
        self.lines.fetch_add(lines, Ordering::Relaxed);
    }
}
