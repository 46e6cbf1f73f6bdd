//! `watch`.

use admittance::policy::Policy;
use admittance::replay::{self, Input};
use clap::error::ErrorKind;

use super::replay::policy_of;
use super::{Limit, Reading, Trial, number, usage_of};

const EXAMPLES: &str = "\
Examples:
  Who is limited now, by a policy that is not switched on yet:
    tail -F access.log | admittance watch --policy limits.toml --name api
  By a limit on the command line, on another machine's log:
    ssh web tail -F access.log | admittance watch --capacity 20 --refill 5/1s
  In a script, as lines of text, until the log ends:
    journalctl -u web -o cat --since today | admittance watch --window 100/1m --plain
  Other logs, other callers: by the flags of replay, whose --help has more of them:
    tail -F app.jsonl | admittance watch --window 100/1m --field time=ts:ms --field key=user.id

The log is standard input and nothing else: tail -F knows how to follow a file. Each line is decided
as it comes, as replay would decide it, and by the log's own clock: rates, minutes and waits are
those of the times in the log. Between lines that clock runs on; when the log ends it stands still.
A line that is dated more than ten minutes ahead of both that clock and this machine's is counted as
ahead of its time, not decided, and moves no clock. Where eight such lines come in a row, the log is
ahead as a whole, and believed.

Keys: q, Esc or Ctrl-C quit; p pauses what is shown, and the log is read on; s sorts those who are
limited by denials, by wait or by key; the arrows, Page Up, Page Down and Home move through them.

Where standard output is no terminal, or with --plain: a line for each caller that is denied and was
not in the minute before, a line of sums a second at most, and the sums at the end.

A policy's max_keys and overflow are not watched; --callers bounds what is held here.

Exit codes:
  0  quit, or the log ended; denials, and some lines that cannot be read, are no failure
  1  standard input cannot be read, or it ended and no line of it could be; the terminal cannot be
     used; the log does not have what --identity says; or --strict met a line that cannot be read
  2  the command line is wrong
A signal ends it as it ends other programs, after the terminal is put back.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("logs", |arg| arg.required(false).default_value("-").hide(true)))]
#[command(mut_arg("threads", |arg| arg.hide(true)))]
pub(crate) struct Watch {
    #[command(flatten)]
    limit: Limit,

    #[command(flatten)]
    reading: Reading,

    /// Lines of text instead of a screen. Where standard output is no terminal it is so anyway.
    #[arg(long, help_heading = WATCHING)]
    pub(crate) plain: bool,

    /// Quit when the log ends. Lines of text end with it anyway.
    #[arg(long, help_heading = WATCHING)]
    pub(crate) exit_at_end: bool,

    /// Callers held at most, some 200 bytes each. Those whose budget is full again make room; where too few are, new callers'
    /// lines are counted as undecided.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1_000_000,
        value_parser = number::whole::<u32>(1..=4_294_967_295, "100000"),
        help_heading = WATCHING,
        allow_hyphen_values = true
    )]
    pub(crate) callers: u32,
}

const WATCHING: &str = "Watching";

impl Watch {
    /// The limit that was asked for. Ends the program where none was said, or one that cannot be, or a log that cannot be followed.
    pub(crate) fn trial(&self) -> Trial {
        let refused = |kind, what: &str| -> ! { usage_of("watch", kind, what) };
        if !matches!(*self.reading.inputs(), [Input::Stdin]) {
            refused(
                ErrorKind::ValueValidation,
                "watch reads standard input; follow a file with tail -F FILE | admittance watch …",
            );
        }
        if self.reading.threads.is_some() {
            refused(ErrorKind::ArgumentConflict, "--threads: watch decides line by line, on one thread");
        }
        let trial = |name: &str, rule, reading, policy: Option<&Policy>| Trial {
            name: name.into(),
            replay: replay::Replay::new(rule).reading(reading),
            policy: policy.cloned(),
        };
        match &*self.limit.policies(&self.reading.inputs(), "watch") {
            [] => trial("limit", self.limit.rule("watch"), self.reading.reading("watch"), None),
            [(file, policy)] => {
                self.reading.names_of(&std::iter::once(policy), "watch");
                let (rule, reading) = policy_of(&self.reading, file, policy, "watch");
                trial(policy.name(), rule, reading, Some(policy))
            }
            several => {
                let names = several.iter().map(|(_, policy)| policy.name()).collect::<Vec<_>>().join(", ");
                let asks = format!("which policy? watch shows one of them. Say --name POLICY, one of {names}");
                refused(ErrorKind::MissingRequiredArgument, &asks)
            }
        }
    }

    /// Refuses a terminal as the log: its keys cannot be both. Ends the program.
    pub(crate) fn refuse_terminal() -> ! {
        usage_of(
            "watch",
            ErrorKind::MissingRequiredArgument,
            "where is the log? Pipe one in, as in tail -F access.log | admittance watch …",
        )
    }
}
