//! The `admittance` program: limits tried on logs.

mod args;
mod progress;
mod replay;
mod report;

use std::io;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Command};

fn main() -> ExitCode {
    let Args { command: Command::Replay(replay) } = Args::parse();
    match replay::run(&replay) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads our output has seen enough.
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("admittance: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Whether an error says that nobody reads any more.
fn is_broken_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}
