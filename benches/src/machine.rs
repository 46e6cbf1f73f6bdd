//! What a number is worth nothing without.

use std::fs;
use std::num::NonZero;
use std::process::Command;
use std::thread;

use serde::Serialize;

/// Where and from what the numbers come.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// The processor's name, as the system tells it.
    pub cpu: String,
    /// Threads that run at once.
    pub cpus: usize,
    /// The compiler.
    pub rustc: &'static str,
    /// The commit that was checked out.
    pub commit: String,
    /// Whether tracked files differed from it.
    pub dirty: bool,
}

impl Machine {
    /// This one; what cannot be found out is `unknown`, and a tree without git counts as dirty.
    #[must_use]
    pub fn this() -> Self {
        let commit = git(&["rev-parse", "--short=12", "HEAD"]);
        let changes = git(&["status", "--porcelain", "--untracked-files=no"]);
        Self {
            cpu: cpu().unwrap_or_else(|| "unknown".into()),
            cpus: thread::available_parallelism().map_or(1, NonZero::get),
            rustc: env!("ADMITTANCE_BENCHES_RUSTC"),
            commit: commit.unwrap_or_else(|| "unknown".into()),
            dirty: changes.is_none_or(|changes| !changes.is_empty()),
        }
    }
}

fn cpu() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(env!("CARGO_MANIFEST_DIR")).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
