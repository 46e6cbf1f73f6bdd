//! Every committed seed of every fuzz target, run on stable and without the fuzzer: what it once found stays found.
//!
//! The targets are those of `fuzz/`, included as they are.

#[path = "../fuzz/src/lib.rs"]
#[allow(
    missing_docs,
    unreachable_pub,
    dead_code,
    reason = "a library of its own, of which the replay is not needed here"
)]
mod targets;

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

fn seeds() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds")
}

fn entries(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn every_seed_of_every_target_runs() {
    for (name, run) in targets::TARGETS {
        let files = entries(&seeds().join(name));
        assert!(files.len() >= 5, "{name}: {} seeds", files.len());
        for file in files {
            let data = fs::read(&file).unwrap();
            assert!(catch_unwind(|| run(&data)).is_ok(), "{} fails; its message is above", file.display());
        }
    }
}

/// A folder that is named otherwise than its target would be committed and never run.
#[cfg(all(feature = "http", feature = "policy", feature = "replay", feature = "retry"))]
#[test]
fn every_folder_of_seeds_has_its_target() {
    let folders: BTreeSet<_> = entries(&seeds()).into_iter().collect();
    let targets: BTreeSet<_> = targets::TARGETS.iter().map(|(name, _)| seeds().join(name)).collect();
    assert_eq!(folders, targets);
}

/// Short or random bytes must not trip the decoders either.
#[test]
fn cut_seeds_and_noise_run_too() {
    for (name, run) in targets::TARGETS {
        run(&[]);
        for file in entries(&seeds().join(name)) {
            let data = fs::read(&file).unwrap();
            // Every tenth is enough; the fuzzer has cut them everywhere.
            for cut in (0..data.len()).step_by(10) {
                run(&data[..cut]);
            }
            let noise: Vec<u8> = data.iter().enumerate().map(|(at, byte)| byte.wrapping_mul(31) ^ at as u8).collect();
            run(&noise);
        }
    }
}
