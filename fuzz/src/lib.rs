//! The fuzz targets, each a plain function of some bytes that panics when something is wrong.
//!
//! `fuzz_targets/` puts them under libFuzzer, or without it replays files. The main package's `tests/fuzz_seeds.rs`
//! includes this file and runs every committed seed with the other tests.

#[path = "../../tests/oracle/mod.rs"]
mod oracle;

pub mod bucket;
#[cfg(feature = "http")]
pub mod forwarded;
#[cfg(feature = "std")]
pub mod hot;
#[cfg(feature = "std")]
pub mod identity;
mod input;
#[cfg(feature = "std")]
pub mod keyed;
#[cfg(feature = "replay")]
pub mod parsers;
#[cfg(feature = "policy")]
pub mod policy;
#[cfg(feature = "retry")]
pub mod retry;
pub mod window;
pub mod word;

use std::process::ExitCode;
use std::{env, fs};

/// A target: a function of any bytes.
pub type Run = fn(&[u8]);

/// Every target by its name, which is also its folder of seeds.
pub const TARGETS: &[(&str, Run)] = &[
    ("bucket", bucket::run),
    #[cfg(feature = "http")]
    ("forwarded", forwarded::run),
    #[cfg(feature = "std")]
    ("hot", hot::run),
    #[cfg(feature = "std")]
    ("identity", identity::run),
    #[cfg(feature = "std")]
    ("keyed", keyed::run),
    #[cfg(feature = "replay")]
    ("parsers", parsers::run),
    #[cfg(feature = "policy")]
    ("policy", policy::run),
    #[cfg(feature = "retry")]
    ("retry", retry::run),
    ("window", window::run),
    ("word", word::run),
];

/// The `main` of a target that is built without the fuzzer: runs each file it is given, and fails with the first.
pub fn replay(run: Run) -> ExitCode {
    let files: Vec<_> = env::args_os().skip(1).collect();
    if files.is_empty() {
        eprintln!("usage: TARGET FILE...");
        return ExitCode::from(2);
    }
    for file in &files {
        match fs::read(file) {
            Ok(data) => {
                println!("{}", file.display());
                run(&data);
            }
            Err(error) => {
                eprintln!("{}: {error}", file.display());
                return ExitCode::FAILURE;
            }
        }
    }
    println!("{} files, nothing wrong", files.len());
    ExitCode::SUCCESS
}
