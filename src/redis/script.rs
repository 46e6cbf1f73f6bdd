//! The scripts: their text, which is constant, how they are called, and how they answer.

use core::fmt::Write as _;
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

/// One call of a script. Every argument but the keys is numbers, and no text is built from what anybody says.
#[derive(Clone, Debug)]
pub(super) struct Call {
    script: &'static Script,
    /// Names of keys, all in one slot.
    keys: Vec<String>,
    /// The cluster slot of the keys.
    slot: u16,
    /// The instant to decide at, where it is not the server's.
    now: Option<u64>,
    args: Vec<Arg>,
}

/// An argument: one number, or several with spaces between.
#[derive(Clone, Copy, Debug)]
enum Arg {
    One(u64),
    Two(u64, u64),
    Terms(Terms),
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
        let requests = requests.into_iter().map(
            |Request { least, most }| {
                if least == most { Arg::One(least) } else { Arg::Two(least, most) }
            },
        );
        let args = terms.iter().copied().map(Arg::Terms).chain(requests).collect();
        Self { script: &SPEND, keys, slot, now, args }
    }

    /// Gives a lease back. The first key is the lease's.
    pub(super) fn give_back(keys: Vec<String>, slot: u16, now: Option<u64>, terms: &[Terms], back: Return) -> Self {
        let numbers = [back.tokens, back.granted, back.until].map(Arg::One);
        let args = numbers.into_iter().chain(terms.iter().copied().map(Arg::Terms)).collect();
        Self { script: &GIVE_BACK, keys, slot, now, args }
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
        let mut cmd = Cmd::with_capacity(4 + self.keys.len() + self.args.len(), 256);
        cmd.arg(name).arg(script).arg(self.keys.len());
        for key in &self.keys {
            cmd.arg(key);
        }
        match self.now {
            Some(now) => cmd.arg(now),
            None => cmd.arg(""),
        };
        let mut text = String::new();
        for arg in &self.args {
            text.clear();
            // A string takes everything that is written to it.
            let _ = match arg {
                Arg::One(number) => write!(text, "{number}"),
                Arg::Two(least, most) => write!(text, "{least} {most}"),
                Arg::Terms(terms) => {
                    let [first, second, third] = terms.args();
                    write!(text, "{first} {second} {third}")
                }
            };
            cmd.arg(&text);
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
        let Value::BulkString(bytes) = value else { return Err(wrong()) };
        let numbers: Option<Vec<u64>> = bytes.chunks(8).map(number).collect();
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

/// A whole number below 2⁵³, as a double in little-endian bytes.
#[allow(clippy::cast_sign_loss, reason = "it was found to be no less than 0")]
fn number(bytes: &[u8]) -> Option<u64> {
    let number = f64::from_le_bytes(bytes.try_into().ok()?);
    ((0.0..EXACT).contains(&number) && number.fract() == 0.0).then_some(number as u64)
}

/// What a double counts exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;
