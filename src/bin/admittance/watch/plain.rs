//! Lines of text, for scripts and where there is no terminal.

use std::io::{self, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use admittance::replay::Heard;

use super::feed::{self, Fed};
use super::tally::Tally;
use super::view::{View, wait};
use super::{Failure, limited::SECOND};
use crate::text::{instant, printable};

/// How often sums are told, at most.
const EVERY: Duration = Duration::from_secs(1);

pub(super) fn run(mut tally: Tally) -> Result<(), Failure> {
    let (send, fed) = mpsc::sync_channel(4);
    feed::start(move |fed| send.send(fed).is_ok());
    let mut told = Instant::now();
    let mut is_news = false;
    loop {
        // Without news there is nothing to wake up for.
        let next = if is_news {
            fed.recv_timeout(EVERY.saturating_sub(told.elapsed()))
        } else {
            fed.recv().map_err(Into::into)
        };
        match next {
            Ok(Fed::Lines(lines)) => {
                hear(&mut tally, &lines)?;
                is_news = true;
            }
            Ok(Fed::End(result)) => {
                tally.end();
                say(&sums(&tally))?;
                return result.map_err(Failure::Read).and_then(|()| Failure::of_nothing(&tally));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        if is_news && told.elapsed() >= EVERY {
            (told, is_news) = (Instant::now(), false);
            tally.forget(told);
            say(&sums(&tally))?;
        }
    }
}

/// Hears lines, and tells who is limited anew.
fn hear(tally: &mut Tally, lines: &[u8]) -> Result<(), Failure> {
    let mut said = String::new();
    let heard = tally.hear(lines, Instant::now(), |heard| {
        said.push_str(&anew(heard));
        said.push('\n');
    });
    say(&said)?;
    heard.map_err(Failure::Stopped)
}

fn anew(heard: &Heard<'_>) -> String {
    use admittance::replay::Outcome;

    let until = match heard.decided.outcome {
        Outcome::Denied { retry_after_ns } => format!("would pass in {}", wait(Some(retry_after_ns))),
        Outcome::Admitted { .. } | Outcome::Never => format!("its cost of {} is never admitted", heard.decided.cost),
    };
    format!("{} limited {}: {until}", instant(heard.at_ns), printable(heard.decided.key))
}

/// The sums in a line.
pub(super) fn sums(tally: &Tally) -> String {
    let view = View::of(tally, Instant::now());
    let when = view.now.map_or_else(|| "no line yet".into(), |now| instant(now - now % SECOND));
    format!("{when} {}; {}; {:.1} lines/s\n", view.sums_text(), view.limited_text(), view.rates[0].per_second)
}

fn say(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Failure::Write)
}
