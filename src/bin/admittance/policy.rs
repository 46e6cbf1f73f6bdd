//! `admittance policy`.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;

use admittance::Rule;
use admittance::policy::{FileError, Policies, Policy, StoreKind};
use serde::Serialize;

use crate::{args, complain};

/// Why it ended early.
pub(crate) enum Failure {
    /// This many files are wrong, and each was said to be.
    Wrong(usize),
    Write(io::Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong(1) => f.write_str("one file cannot be used"),
            Self::Wrong(count) => write!(f, "{count} files cannot be used"),
            Self::Write(error) => write!(f, "the answer cannot be written: {error}"),
        }
    }
}

/// A policy as JSON.
#[derive(Serialize)]
struct Told<'p> {
    file: String,
    name: &'p str,
    unit: String,
    identity: Vec<&'static str>,
    routes: &'p [String],
    store: &'static str,
    tiers: Vec<ToldTier<'p>>,
    on_exhausted: String,
    max_keys: usize,
    memory_bytes: usize,
}

#[derive(Serialize)]
struct ToldTier<'p> {
    name: &'p str,
    capacity: u64,
    rule: String,
}

/// Reads every file, says what is wrong with each that cannot be used, and what the others say.
pub(crate) fn check(args: &args::Check) -> Result<(), Failure> {
    let mut wrong = 0;
    let mut text = Vec::new();
    for file in &args.files {
        match read(file) {
            Ok(policies) => {
                for policy in &policies {
                    tell(file, policy, args.json, &mut text).map_err(Failure::Write)?;
                }
            }
            Err(error) => {
                complain(format_args!("{error}"));
                wrong += 1;
            }
        }
    }
    let mut stdout = io::stdout().lock();
    stdout.write_all(&text).and_then(|()| stdout.flush()).map_err(Failure::Write)?;
    if wrong > 0 { Err(Failure::Wrong(wrong)) } else { Ok(()) }
}

/// The policies of a file; of standard input where it is `-`.
pub(crate) fn read(file: &OsStr) -> Result<Policies, FileError> {
    if file != "-" {
        return Policies::read(Path::new(file));
    }
    let mut text = Vec::new();
    match io::stdin().lock().read_to_end(&mut text) {
        Ok(_) => Policies::from_toml(&String::from_utf8_lossy(&text)),
        Err(error) => Err(error.into()),
    }
    .map_err(|error| error.in_file("standard input"))
}

fn tell(file: &OsStr, policy: &Policy, json: bool, to: &mut Vec<u8>) -> io::Result<()> {
    if !json {
        return writeln!(to, "{policy}");
    }
    let told = Told {
        file: file.to_string_lossy().into_owned(),
        name: policy.name(),
        unit: policy.unit().to_string(),
        identity: policy.identity().iter().map(|kind| kind.name()).collect(),
        routes: policy.scope().prefixes(),
        store: match policy.scope().store() {
            StoreKind::Process => "process",
            StoreKind::Shared(_) => "shared",
        },
        tiers: policy.tiers().iter().map(|(name, rule)| ToldTier::of(name, rule)).collect(),
        on_exhausted: policy.on_exhausted().to_string(),
        max_keys: policy.max_keys(),
        memory_bytes: policy.max_keys().saturating_mul(31),
    };
    serde_json::to_writer(&mut *to, &told)?;
    to.push(b'\n');
    Ok(())
}

impl<'p> ToldTier<'p> {
    fn of(name: &'p str, rule: &Rule) -> Self {
        Self { name, capacity: rule.capacity(), rule: rule.to_string() }
    }
}
