//! The answer for people.

use std::io::{self, Write};
use std::time::Duration;

use admittance::retry::{Ends, Goes, Reference, Schedule, Signal, Wait};

use super::Args;

pub(super) fn write(args: &Args, signal: Option<&Signal>, schedule: &Schedule, to: &mut Vec<u8>) -> io::Result<()> {
    match signal {
        None => writeln!(to, "The server asks for no wait; the backoff is all there is.")?,
        Some(signal) => {
            match signal.wait() {
                Wait::Exactly(wait) => write!(to, "The server asks for {}", Short(wait))?,
                Wait::Saturated => write!(to, "The server asks for longer than can be said")?,
            }
            let from = match signal.reference() {
                Reference::Arrival => "",
                Reference::Server => ", by its own clock",
                Reference::WallClock => ", by the client's clock, because it sent no Date",
            };
            let several = if signal.several() { "; of several values the longest" } else { "" };
            writeln!(to, "{from}{several}.")?;
        }
    }
    writeln!(to, "\nattempt    earliest      latest  goes")?;
    for row in schedule.attempts() {
        let goes = match row.goes() {
            Goes::Always => "always",
            Goes::Perhaps => "perhaps: it stops instead where that is too late",
            Goes::Never => "never: it stops instead",
        };
        let [earliest, latest] = [row.earliest(), row.latest()].map(|time| Short(time).to_string());
        writeln!(to, "{:>7}  {earliest:>10}  {latest:>10}  {goes}", row.attempt())?;
    }
    let deadline = Short(args.bounds().1);
    let ends = match schedule.ends() {
        Ends::Attempts => format!("the last attempt ends it, before the deadline of {deadline}"),
        Ends::Deadline => format!("the deadline of {deadline} may end it, and stops at once what could not go before"),
        Ends::WaitTooLong => "a wait that is longer than the longest allowed may end it, and does not begin".into(),
    };
    writeln!(to, "\nAt worst the waits take {} together; {ends}.", Short(schedule.worst_total()))
}

/// A time without the digits that nobody reads: to the millisecond, rounded up, where it is a second or more.
struct Short(Duration);

impl std::fmt::Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 < Duration::from_secs(1) && !self.0.is_zero() {
            return write!(f, "{:?}", self.0);
        }
        let millis = self.0.as_nanos().div_ceil(1_000_000);
        let (seconds, millis) = (millis / 1_000, millis % 1_000);
        if millis == 0 { write!(f, "{seconds}s") } else { write!(f, "{seconds}.{millis:03}s") }
    }
}
