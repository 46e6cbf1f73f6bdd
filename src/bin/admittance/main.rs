//! The `admittance` program: limits tried on logs and watched, policies checked, retries previewed.
#![forbid(unsafe_code)]

mod args;
mod fit;
mod generate;
mod load;
mod output;
mod page;
mod policy;
mod progress;
mod replay;
mod report;
mod retry;
mod shell;
mod store;
mod text;
mod watch;

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Command};

fn main() -> ExitCode {
    match Args::parse().command {
        Command::Replay(args) => end(replay::run(&args), replay::Failure::is_broken_pipe),
        Command::Fit(args) => end(fit::run(&args), fit::Failure::is_broken_pipe),
        Command::Generate(args) => end(generate::run(&args), generate::Failure::is_broken_pipe),
        Command::Watch(args) => end(watch::run(&args), watch::Failure::is_broken_pipe),
        Command::Completions(args) => end(shell::completions(&args), shell::Failure::is_broken_pipe),
        Command::Man(args) => end(shell::man(&args), shell::Failure::is_broken_pipe),
        Command::Load(args) => match load::run(&args) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => {
                complain(format_args!("{failure}"));
                ExitCode::FAILURE
            }
        },
        Command::Retry(args) => match retry::run(&args) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
            Err(failure) => {
                complain(format_args!("{failure}"));
                if failure.is_usage() { ExitCode::from(2) } else { ExitCode::FAILURE }
            }
        },
        Command::Policy { what: args::Policy::Check(args) } => match policy::check(&args) {
            Ok(()) => ExitCode::SUCCESS,
            Err(policy::Failure::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Err(failure) => {
                complain(format_args!("{failure}"));
                ExitCode::FAILURE
            }
        },
    }
}

fn end<F: fmt::Display>(result: Result<(), F>, is_broken_pipe: impl Fn(&F) -> bool) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads our output has seen enough.
        Err(failure) if is_broken_pipe(&failure) => ExitCode::SUCCESS,
        Err(failure) => {
            complain(format_args!("{failure}"));
            ExitCode::FAILURE
        }
    }
}

/// Says it on standard error. Where nobody listens there either, there is nowhere left to say so.
fn complain(what: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "admittance: {what}");
}
