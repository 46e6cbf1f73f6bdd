//! `gen`.

use clap::ValueEnum;
use jiff::Timestamp;

use super::number;
use crate::output::Output;

/// A synthetic log: how much of it, of whom, and when.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Generate {
    /// Lines, as in 10M (k, M and G are thousands, millions and thousands of millions).
    #[arg(long, value_name = "N", default_value = "1M", value_parser = lines, allow_hyphen_values = true)]
    pub(crate) lines: u64,

    /// Callers there are: addresses, one in ten of them of IPv6. Each has 12 bytes of memory.
    #[arg(long, value_name = "N", default_value = "10k", value_parser = keys, allow_hyphen_values = true)]
    pub(crate) keys: u32,

    /// How unequal callers are: the one of rank R makes a share of all lines that goes with 1/R^S. With 0, all are equal.
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = |text: &str| number::between(text, 0.0, 10.0), allow_hyphen_values = true)]
    pub(crate) zipf: f64,

    /// Lines a second, the mean over whole days.
    #[arg(long, value_name = "LINES", default_value_t = 100.0, value_parser = |text: &str| number::between(text, 1e-6, 1e9), allow_hyphen_values = true)]
    pub(crate) rate: f64,

    /// How much the rate rises and falls in a day, from 0 (not at all) to 1 (to nothing at 04:00 UTC, to twice the mean at
    /// 16:00).
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = |text: &str| number::between(text, 0.0, 1.0), allow_hyphen_values = true)]
    pub(crate) diurnal: f64,

    /// One caller in twenty sends its lines in bursts, of 32 at about 20 a second in the mean.
    #[arg(long)]
    pub(crate) bursts: bool,

    /// The share of lines that are written up to two seconds after their time, as a server writes those of slow answers.
    #[arg(long, value_name = "SHARE", default_value_t = 0.02, value_parser = |text: &str| number::between(text, 0.0, 1.0), allow_hyphen_values = true)]
    pub(crate) late: f64,

    /// Another seed is another log; the same one, with the same flags, is the same bytes.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = number::whole::<u64>(0..=u64::MAX, "7"), allow_hyphen_values = true)]
    pub(crate) seed: u64,

    /// When the log begins (RFC 3339).
    #[arg(long, value_name = "TIME", default_value = "2026-01-01T00:00:00Z", value_parser = start, allow_hyphen_values = true)]
    pub(crate) start: u64,

    /// How it is written.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: LogFormat,

    /// Where it goes: a file, which is overwritten, or `-` for standard output.
    #[arg(short, long, value_name = "FILE", value_parser = Output::parser(), default_value = "-")]
    pub(crate) output: Output,

    /// No progress bar. There is none anyway where standard error is no terminal.
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// How a log is written.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum LogFormat {
    /// Apache's and nginx's combined format.
    #[default]
    Combined,
    /// A trace: a JSON object a line, with `t_ns`, `key` and `cost`.
    Jsonl,
}

const EXAMPLES: &str = "\
Examples:
  Ten million lines of a hundred thousand callers, some in bursts, to try the speed of a replay on:
    admittance gen --lines 10M --keys 100k --rate 500 --bursts -o big.log
  A trace with nanoseconds, straight into a replay:
    admittance gen --lines 100k --format jsonl | admittance replay - --capacity 20 --refill 1/1s
  Equal callers at an even rate, zipped:
    admittance gen --zipf 0 --diurnal 0 --late 0 | gzip > even.log.gz

The same flags write the same bytes on every machine, with the same version of this program. Lines come
at random (a Poisson process, whose rate follows the time of day), each of a caller drawn by Zipf's law.
Addresses are of networks set aside for tests and private use: 198.18.0.0/15 for up to 100 000 callers,
10.0.0.0/8 for more, and 2001:db8::/32. A trace's times have nanoseconds, an access log's whole seconds.

Exit codes:
  0  done
  1  the log cannot be written
  2  the command line is wrong";

fn lines(text: &str) -> Result<u64, String> {
    let wrong = || format!("it must be a whole number from 0 to {}, as in 5000, 10k, 10M or 1G", u64::MAX);
    number::count(text).ok_or_else(wrong)
}

fn keys(text: &str) -> Result<u32, String> {
    const MOST: u64 = 16_000_000;
    match number::count(text) {
        Some(keys @ 1..=MOST) => Ok(keys as u32),
        _ => Err("it must be a whole number from 1 to 16M, as in 5000 or 10k".into()),
    }
}

fn start(text: &str) -> Result<u64, String> {
    let time: Timestamp = text.parse().map_err(|error| format!("{error}; write 2026-01-01T00:00:00Z"))?;
    match u64::try_from(time.as_nanosecond()) {
        Ok(nanos) if nanos < crate::generate::END => Ok(nanos),
        _ => Err("it must be from 1970 to 2500, as in 2026-01-01T00:00:00Z".into()),
    }
}
