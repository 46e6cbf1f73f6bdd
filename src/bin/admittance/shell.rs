//! `admittance completions` and `admittance man`: what clap knows of the command line, for shells and for `man`.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap_mangen::Man;

use crate::args::{self, Args};

/// What could not be written.
pub(crate) struct Failure {
    path: Option<PathBuf>,
    error: io::Error,
}

impl Failure {
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.path.is_none() && self.error.kind() == io::ErrorKind::BrokenPipe
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "--out {}: {}", path.display(), self.error),
            None => write!(f, "standard output: {}", self.error),
        }
    }
}

pub(crate) fn completions(args: &args::Completions) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "admittance", &mut script);
    print(&script)
}

pub(crate) fn man(args: &args::Man) -> Result<(), Failure> {
    let mut command = Args::command();
    // Names the subcommands as they are called, `admittance-replay`.
    command.build();
    let Some(folder) = &args.out else {
        return print(&page(&command).map_err(|error| Failure { path: None, error })?);
    };
    fs::create_dir_all(folder).map_err(|error| Failure { path: Some(folder.clone()), error })?;
    pages(&command, folder)
}

/// Writes a command's page, and those of its subcommands. `help` says nothing that they do not.
fn pages(command: &clap::Command, folder: &Path) -> Result<(), Failure> {
    let path = folder.join(Man::new(command.clone()).get_filename());
    page(command).and_then(|page| fs::write(&path, page)).map_err(|error| Failure { path: Some(path), error })?;
    let is_told = |sub: &&clap::Command| sub.get_name() != "help" && !sub.is_hide_set();
    command.get_subcommands().filter(is_told).try_for_each(|sub| pages(sub, folder))
}

fn page(command: &clap::Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}

fn print(text: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text).and_then(|()| stdout.flush()).map_err(|error| Failure { path: None, error })
}
