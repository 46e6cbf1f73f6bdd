//! What is missing in a policy, or wrong with it.

use core::fmt;
use std::error::Error;
use std::string::String;
use std::vec::Vec;

/// A policy does not say all of it, or says something that cannot be. Names every part that is missing, by the question that
/// it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    policy: String,
    faults: Vec<Fault>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) part: &'static str,
    pub(super) says: String,
    pub(super) missing: bool,
}

impl PolicyError {
    pub(super) fn new(policy: &str, faults: Vec<Fault>) -> Self {
        Self { policy: policy.into(), faults }
    }

    /// The parts that are missing.
    pub fn missing(&self) -> impl Iterator<Item = &'static str> {
        self.faults.iter().filter(|fault| fault.missing).map(|fault| fault.part)
    }

    /// The parts that are there, and wrong.
    pub fn wrong(&self) -> impl Iterator<Item = &'static str> {
        self.faults.iter().filter(|fault| !fault.missing).map(|fault| fault.part)
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "policy '{}': ", self.policy.escape_debug())?;
        for (number, fault) in self.faults.iter().enumerate() {
            write!(f, "{}{}", if number > 0 { "; " } else { "" }, fault.says)?;
        }
        Ok(())
    }
}

impl Error for PolicyError {}
