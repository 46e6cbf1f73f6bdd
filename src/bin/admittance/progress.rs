//! A progress bar on standard error, where that is a terminal.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use admittance::replay::{Input, Progress};
use indicatif::{ProgressBar, ProgressStyle};

/// Shown until it is dropped.
pub(crate) struct Shown {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Shown {
    /// Shows how far `progress` is through `inputs`. Draws nothing where standard error is no terminal.
    pub(crate) fn start(progress: Progress, inputs: &[Input]) -> Self {
        // Where one input's size is not known, the sum is not either.
        let bar = match inputs.iter().map(Input::size).sum::<Option<u64>>() {
            Some(size) => ProgressBar::new(size).with_style(style("{bar:40} {percent:>3}%  {msg}  {eta} left")),
            None => ProgressBar::no_length().with_style(style("{spinner} {bytes}  {msg}  {elapsed}")),
        };
        let (stop, stopped) = mpsc::channel::<()>();
        let thread = thread::spawn(move || {
            while stopped.recv_timeout(Duration::from_millis(100)) == Err(RecvTimeoutError::Timeout) {
                bar.set_position(progress.bytes());
                bar.set_message(lines(progress.lines(), bar.elapsed()));
            }
            bar.finish_and_clear();
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

/// A bar over so many lines. Draws nothing where standard error is no terminal.
pub(crate) fn of_lines(lines: u64) -> ProgressBar {
    ProgressBar::new(lines).with_style(style("{bar:40} {percent:>3}%  {msg}  {eta} left"))
}

/// So many of its lines are done.
pub(crate) fn advance(bar: &ProgressBar, done: u64) {
    bar.set_position(done);
    bar.set_message(lines(done, bar.elapsed()));
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates above are right").progress_chars("██░")
}

#[allow(clippy::cast_precision_loss, reason = "told to two digits")]
fn lines(lines: u64, elapsed: Duration) -> String {
    let millions = lines as f64 / 1e6;
    format!("{millions:.1} M lines, {:.2} M/s", millions / elapsed.as_secs_f64().max(1e-3))
}

impl Drop for Shown {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It draws and does nothing else: if it failed, there is nothing to tell.
            let _ = thread.join();
        }
    }
}
