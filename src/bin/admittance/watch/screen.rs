//! The screen: keys, signals and lines in, ten pictures a second at most out.

mod draw;

use std::io::{self, Write};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event as Happened, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::feed::{self, Fed};
use super::tally::Tally;
use super::view::{Sort, View};
use super::{Failure, plain};

/// How long one picture stays, at least.
const FRAME: Duration = Duration::from_millis(100);

/// How long it stays at most while the log's clock runs.
const TICK: Duration = Duration::from_secs(1);

/// How many rows Page Up and Page Down move.
const PAGE: usize = 10;

enum Event {
    Fed(Fed),
    Terminal(io::Result<Happened>),
    #[cfg(unix)]
    Signal(i32),
}

/// What was chosen with keys.
#[derive(Default)]
struct Chosen {
    paused: bool,
    sort: Sort,
    /// The first row that is shown of those who are limited.
    row: usize,
}

enum Next {
    Draw,
    Nothing,
    Quit,
}

pub(super) fn run(mut tally: Tally, name: &str, exit_at_end: bool) -> Result<(), Failure> {
    let (send, events) = mpsc::sync_channel(8);
    signals(&send).map_err(Failure::Terminal)?;
    let mut screen = Screen::enter().map_err(Failure::Terminal)?;
    keys(send.clone());
    feed::start(move |fed| send.send(Event::Fed(fed)).is_ok());

    let title = format!("{name} · {}", tally.live.rule());
    let (mut chosen, mut view) = (Chosen::default(), View::of(&tally, Instant::now()));
    let (mut drawn, mut is_due) = (None::<Instant>, true);
    let mut failed = None;
    let ended = loop {
        let age = drawn.map_or(Duration::MAX, |drawn: Instant| drawn.elapsed());
        if is_due && age >= FRAME {
            if !chosen.paused {
                let now = Instant::now();
                tally.forget(now);
                view = View::of(&tally, now);
            }
            screen.draw(&title, &mut view, &mut chosen).map_err(Failure::Terminal)?;
            (drawn, is_due) = (Some(Instant::now()), false);
            continue;
        }
        let is_running = !tally.ended && !chosen.paused && view.latest.is_some();
        let event = match (is_due, is_running) {
            (true, _) => events.recv_timeout(FRAME.saturating_sub(age)),
            (false, true) => events.recv_timeout(TICK.saturating_sub(age)),
            (false, false) => events.recv().map_err(Into::into),
        };
        match event {
            Ok(Event::Fed(Fed::Lines(lines))) => {
                if let Err(stopped) = tally.hear(&lines, Instant::now(), |_| {}) {
                    break Err(Failure::Stopped(stopped));
                }
                is_due |= !chosen.paused;
            }
            Ok(Event::Fed(Fed::End(result))) => {
                tally.end();
                if exit_at_end || result.is_err() {
                    break result.map_err(Failure::Read);
                }
                // Even while paused: there is nothing to come.
                view.ended = true;
                is_due = true;
            }
            Ok(Event::Terminal(Ok(Happened::Key(key)))) => match chosen.press(key) {
                Next::Draw => is_due = true,
                Next::Nothing => {}
                Next::Quit => break Ok(()),
            },
            // Even where it is the old one again by now: what was there in between may have cut the picture.
            Ok(Event::Terminal(Ok(Happened::Resize(..)))) => {
                screen.0.clear().map_err(Failure::Terminal)?;
                is_due = true;
            }
            Ok(Event::Terminal(Ok(_))) | Err(RecvTimeoutError::Timeout) => is_due = true,
            Ok(Event::Terminal(Err(error))) => break Err(Failure::Terminal(error)),
            #[cfg(unix)]
            Ok(Event::Signal(signal)) => {
                failed = Some(signal);
                break Ok(());
            }
            Err(RecvTimeoutError::Disconnected) => break Ok(()),
        }
    };
    drop(screen);
    #[cfg(unix)]
    if let Some(signal) = failed {
        // Ends the program as the signal would have done.
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
    // What was on the screen is gone; the sums stay.
    io::stdout().lock().write_all(plain::sums(&tally).as_bytes()).map_err(Failure::Write)?;
    ended.and_then(|()| Failure::of_nothing(&tally))
}

/// Keys and new sizes, from a thread of their own. They come from the terminal, though standard input is the log.
fn keys(send: SyncSender<Event>) {
    thread::spawn(move || {
        loop {
            let happened = event::read();
            let failed = happened.is_err();
            if send.send(Event::Terminal(happened)).is_err() || failed {
                return;
            }
        }
    });
}

/// Signals that end a program are heard, so that the terminal is put back first.
#[cfg(unix)]
fn signals(send: &SyncSender<Event>) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, TERM_SIGNALS};

    let mut signals = signal_hook::iterator::Signals::new(TERM_SIGNALS.iter().copied().chain([SIGHUP]))?;
    let send = send.clone();
    thread::spawn(move || {
        for signal in signals.forever() {
            if send.send(Event::Signal(signal)).is_err() {
                return;
            }
        }
    });
    Ok(())
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "as the other one")]
fn signals(_: &SyncSender<Event>) -> io::Result<()> {
    Ok(())
}

impl Chosen {
    fn press(&mut self, key: KeyEvent) -> Next {
        if key.kind == KeyEventKind::Release {
            return Next::Nothing;
        }
        match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return Next::Quit,
            KeyCode::Char('q') | KeyCode::Esc => return Next::Quit,
            KeyCode::Char('p') => self.paused = !self.paused,
            KeyCode::Char('s') => self.sort = self.sort.next(),
            // Drawing keeps it to the rows there are.
            KeyCode::Down => self.row = self.row.saturating_add(1),
            KeyCode::PageDown => self.row = self.row.saturating_add(PAGE),
            KeyCode::Up => self.row = self.row.saturating_sub(1),
            KeyCode::PageUp => self.row = self.row.saturating_sub(PAGE),
            KeyCode::Home => self.row = 0,
            _ => return Next::Nothing,
        }
        Next::Draw
    }
}

/// The terminal while the screen has it; put back as it was when this is dropped, and on a panic.
struct Screen(DefaultTerminal);

impl Screen {
    fn enter() -> io::Result<Self> {
        ratatui::try_init().map(Self).inspect_err(|_| {
            let _ = ratatui::try_restore();
        })
    }

    fn draw(&mut self, title: &str, view: &mut View, chosen: &mut Chosen) -> io::Result<()> {
        chosen.sort.apply(&mut view.limited);
        self.0.draw(|frame| draw::all(frame, title, view, chosen)).map(drop)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Where it cannot be put back, it is gone, and nobody is left to tell.
        let _ = ratatui::try_restore();
        let _ = self.0.show_cursor();
    }
}
