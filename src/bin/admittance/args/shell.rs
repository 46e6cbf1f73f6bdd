//! `completions` and `man`.

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap_complete::Shell;

#[derive(Debug, clap::Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct Completions {
    /// For which shell.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  bash, for you, from the next shell on (with the package bash-completion):
    mkdir -p ~/.local/share/bash-completion/completions
    admittance completions bash > ~/.local/share/bash-completion/completions/admittance
  bash, in this shell alone:
    source <(admittance completions bash)
  zsh, in a folder of your $fpath, before compinit runs:
    admittance completions zsh > ~/.zfunc/_admittance
  fish:
    admittance completions fish > ~/.config/fish/completions/admittance.fish
  elvish, and PowerShell:
    admittance completions elvish >> ~/.config/elvish/rc.elv
    admittance completions powershell >> $PROFILE

Exit codes:
  0  done
  1  standard output cannot be written
  2  the command line is wrong";

#[derive(Debug, clap::Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct Man {
    /// Write all pages, one for each subcommand, into this folder, which is made where it is not there. Otherwise the main page
    /// goes to standard output.
    #[arg(long, value_name = "DIR", value_parser = PathBufValueParser::new().try_map(folder))]
    pub(crate) out: Option<PathBuf>,
}

/// A folder, which standard output is not.
fn folder(path: PathBuf) -> Result<PathBuf, &'static str> {
    match path.to_str() {
        Some("-") => Err(
            "standard output is no folder; leave --out out for the main page alone, or say ./- for a folder of that name",
        ),
        _ => Ok(path),
    }
}

const MAN_EXAMPLES: &str = "\
Examples:
  Read the main page:
    admittance man | man -l -
  Install all pages for you, and read one:
    admittance man --out ~/.local/share/man/man1
    man admittance-replay

Exit codes:
  0  done
  1  a page cannot be written
  2  the command line is wrong";
