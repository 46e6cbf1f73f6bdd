//! The scripts: their text, which is constant, how they are called, and how they answer.

use std::string::String;
use std::sync::LazyLock;
use std::vec::Vec;

use ::redis::{Cmd, Value};

use super::failure::{FailureKind, StoreFailure};
use super::terms::{State, Terms};

/// A script by its text, and by the digest it is called by.
#[derive(Debug)]
pub(super) struct Script {
    text: &'static str,
    sha: String,
}

pub(super) static SPEND: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("spend.lua")));
pub(super) static GIVE_BACK: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("give_back.lua")));

impl Script {
    fn new(text: &'static str) -> Self {
        Self { text, sha: ::redis::Script::new(text).get_hash().into() }
    }
}

/// One call of a script. Every argument but the keys is a number, and no text is built from what anybody says.
#[derive(Clone, Debug)]
pub(super) struct Call {
    script: &'static Script,
    /// Names of keys, all in one slot.
    keys: Vec<String>,
    /// The cluster slot of the keys.
    slot: u16,
    /// The instant to decide at, where it is not the server's.
    now: Option<u64>,
    numbers: Vec<u64>,
}

/// What one request of a call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) least: u64,
    pub(super) most: u64,
}

/// What `spend.lua` answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// The server's instant, in µs since 1970.
    pub(super) now: u64,
    /// Each limit's state after the call.
    pub(super) states: Vec<State>,
    /// Tokens that each request took.
    pub(super) taken: Vec<u64>,
}

/// A lease to be given back, as `give_back.lua` takes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Return {
    pub(super) tokens: u64,
    /// The server's instant of the grant, and the one until which it takes the lease back, in µs since 1970.
    pub(super) granted: u64,
    pub(super) until: u64,
}

impl Call {
    /// Decides `requests` in order, each on all limits.
    pub(super) fn spend(
        keys: Vec<String>,
        slot: u16,
        now: Option<u64>,
        terms: &[Terms],
        requests: impl IntoIterator<Item = Request>,
    ) -> Self {
        let mut numbers: Vec<_> = terms.iter().flat_map(Terms::args).collect();
        numbers.extend(requests.into_iter().flat_map(|request| [request.least, request.most]));
        Self { script: &SPEND, keys, slot, now, numbers }
    }

    /// Gives a lease back. The first key is the lease's.
    pub(super) fn give_back(keys: Vec<String>, slot: u16, now: Option<u64>, terms: &[Terms], back: Return) -> Self {
        let mut numbers = Vec::from([back.tokens, back.granted, back.until]);
        numbers.extend(terms.iter().flat_map(Terms::args));
        Self { script: &GIVE_BACK, keys, slot, now, numbers }
    }

    pub(super) const fn slot(&self) -> u16 {
        self.slot
    }

    /// By digest: a server that knows the script is sent no text.
    pub(super) fn by_digest(&self) -> Cmd {
        self.command("EVALSHA", &self.script.sha)
    }

    /// With the text, for a server that does not.
    pub(super) fn by_text(&self) -> Cmd {
        self.command("EVAL", self.script.text)
    }

    fn command(&self, name: &str, script: &str) -> Cmd {
        let mut cmd = Cmd::with_capacity(4 + self.keys.len() + self.numbers.len(), 256);
        cmd.arg(name).arg(script).arg(self.keys.len());
        for key in &self.keys {
            cmd.arg(key);
        }
        match self.now {
            Some(now) => cmd.arg(now),
            None => cmd.arg(""),
        };
        for number in &self.numbers {
            cmd.arg(number);
        }
        cmd
    }
}

impl Answer {
    /// # Errors
    ///
    /// When the value is not what the script answers for so many limits and requests.
    pub(super) fn read(value: &Value, limits: usize, requests: usize) -> Result<Self, StoreFailure> {
        let wrong = || StoreFailure::new(FailureKind::Other, std::format!("the script answered {value:?}"));
        let Value::Array(values) = value else { return Err(wrong()) };
        let numbers: Option<Vec<u64>> = values
            .iter()
            .map(|value| match value {
                Value::Int(number) => u64::try_from(*number).ok(),
                _ => None,
            })
            .collect();
        match numbers {
            Some(numbers) if numbers.len() == 1 + 2 * limits + requests => Ok(Self {
                now: numbers[0],
                states: numbers[1..=2 * limits]
                    .chunks_exact(2)
                    .map(|pair| State { gone: pair[0], at: pair[1] })
                    .collect(),
                taken: numbers[1 + 2 * limits..].to_vec(),
            }),
            _ => Err(wrong()),
        }
    }
}
