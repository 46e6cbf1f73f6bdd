//! `admittance completions` and `admittance man`: what clap knows of the command line, for shells and for `man`.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

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
    let mut command = Args::command().disable_help_subcommand(true);
    // Names the subcommands as they are called, `admittance-replay`.
    command.build();
    let Some(folder) = &args.out else {
        return print(&page(&command).map_err(|error| Failure { path: None, error })?);
    };
    fs::create_dir_all(folder).map_err(|error| Failure { path: Some(folder.clone()), error })?;
    pages(&command, folder)
}

/// Writes a command's page, and those of its subcommands.
fn pages(command: &clap::Command, folder: &Path) -> Result<(), Failure> {
    let path = folder.join(Man::new(command.clone()).get_filename());
    page(command).and_then(|page| fs::write(&path, page)).map_err(|error| Failure { path: Some(path), error })?;
    command.get_subcommands().filter(|sub| !sub.is_hide_set()).try_for_each(|sub| pages(sub, folder))
}

/// As clap would have it, but for what follows the flags: examples whose lines are to stay as they are.
fn page(command: &clap::Command) -> io::Result<Vec<u8>> {
    let (man, mut page) = (Man::new(command.clone()), Vec::new());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(notes) = command.get_after_help() {
        let mut roff = Roff::new();
        roff.control("SH", ["EXAMPLES AND NOTES"]).control("nf", []);
        roff.text([roman(notes.to_string())]).control("fi", []);
        roff.to_writer(&mut page)?;
    }
    // The program has one; a subcommand has none, and clap_mangen wants one.
    if command.get_version().is_some() {
        man.render_version_section(&mut page)?;
    }
    Ok(page)
}

fn print(text: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text).and_then(|()| stdout.flush()).map_err(|error| Failure { path: None, error })
}
