//! Threads on cores of their own, where the system can do that (Linux).

use std::time::Duration;

/// Keeps the calling thread on the `index`-th core that this process may use, counted round. Best effort: without it a
/// measurement is noisier, and [`together`](crate::crew::Race::together) says when it is worthless.
pub fn take(index: u32) {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

        let Ok(allowed) = sched_getaffinity(None) else { return };
        let Some(index) = (index).checked_rem(allowed.count()) else { return };
        let core = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).nth(index as usize);
        if let Some(core) = core {
            let mut own = CpuSet::new();
            own.set(core);
            // Refused (a sandbox, say), the thread stays where the scheduler puts it.
            let _ = sched_setaffinity(None, &own);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = index;
}

/// How long the calling thread has been on a core so far; `None` where nobody counts.
#[must_use]
pub fn time() -> Option<Duration> {
    #[cfg(target_os = "linux")]
    {
        use rustix::time::{ClockId, clock_gettime};

        Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).ok()
    }
    #[cfg(not(target_os = "linux"))]
    None
}
