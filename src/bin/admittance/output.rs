//! Where answers go: a file, or standard output where `-` is said. The same wherever a flag names a file to write.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use admittance::replay::Input;
use clap::builder::{PathBufValueParser, TypedValueParser};

/// Where something is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    Stdout,
    File(PathBuf),
}

/// As it is said: `-`, or a path.
impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdout => f.write_str("-"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

impl From<PathBuf> for Output {
    /// `-` is standard output; a file of that name is `./-`.
    fn from(path: PathBuf) -> Self {
        if path == Path::new("-") { Self::Stdout } else { Self::File(path) }
    }
}

impl Output {
    /// Reads what a flag says.
    pub(crate) fn parser() -> impl TypedValueParser<Value = Self> {
        PathBufValueParser::new().map(Self::from)
    }

    /// For what is written bit by bit.
    pub(crate) fn open(&self) -> io::Result<Box<dyn Write>> {
        Ok(match self {
            Self::Stdout => Box::new(io::stdout().lock()),
            Self::File(path) => Box::new(BufWriter::with_capacity(1 << 18, File::create(path)?)),
        })
    }

    /// Writes all there is to write, so that no half of it is ever in a file.
    pub(crate) fn write(&self, text: &[u8]) -> io::Result<()> {
        match self {
            Self::Stdout => print(text),
            Self::File(path) => put(path, text),
        }
    }
}

/// To standard output.
pub(crate) fn print(text: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text).and_then(|()| stdout.flush())
}

/// Outputs that a command line names, each with its flag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outputs<'o>(pub(crate) &'o [(&'static str, Option<&'o Output>)]);

impl<'o> Outputs<'o> {
    fn named(self) -> impl Iterator<Item = (&'static str, &'o Output)> {
        self.0.iter().filter_map(|&(flag, output)| Some((flag, output?)))
    }

    /// Whether one of them is standard output. What else there is to tell then goes to standard error: between the two it would
    /// spoil both.
    pub(crate) fn has_stdout(self) -> bool {
        self.named().any(|(_, output)| *output == Output::Stdout)
    }

    /// Tells what a command tells beside its outputs.
    pub(crate) fn tell(self, text: &[u8]) -> io::Result<()> {
        if self.has_stdout() { io::stderr().lock().write_all(text) } else { print(text) }
    }

    /// Before anything is read: whether writing would lose what is to be read, or one output in another.
    pub(crate) fn check(self, logs: &[Input], policies: &[PathBuf]) -> Result<(), Unwritable> {
        let mut before: Vec<(&'static str, &Output)> = Vec::new();
        for (flag, output) in self.named() {
            if let Some(&(other, _)) = before.iter().find(|(_, other)| is_one_place(other, output)) {
                return Err(Unwritable::Both { flags: [other, flag], output: output.clone() });
            }
            before.push((flag, output));
            let Output::File(path) = output else { continue };
            let what = if logs.iter().any(|log| matches!(log, Input::File(log) if is_same(log, path))) {
                "logs"
            } else if policies.iter().any(|policy| is_same(policy, path)) {
                "policies"
            } else {
                continue;
            };
            return Err(Unwritable::Read { flag, path: path.clone(), what });
        }
        Ok(())
    }
}

/// Why nothing is written where it was asked for.
#[derive(Debug)]
pub(crate) enum Unwritable {
    /// It is to be read.
    Read { flag: &'static str, path: PathBuf, what: &'static str },
    /// Two outputs are one.
    Both { flags: [&'static str; 2], output: Output },
}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { flag, path, what } => {
                let path = path.display();
                write!(f, "{flag} {path}: is one of the {what}, and would be overwritten; name another file")
            }
            Self::Both { flags: [one, other], output: Output::Stdout } => {
                write!(f, "{one} and {other} are both standard output: name a file for one of them")
            }
            Self::Both { flags: [one, other], output } => {
                write!(f, "{one} and {other} are both {output}: name two files")
            }
        }
    }
}

fn is_one_place(one: &Output, other: &Output) -> bool {
    match (one, other) {
        (Output::File(one), Output::File(other)) => {
            // A device takes both.
            (one == other || is_same(one, other)) && one.metadata().map_or(true, |there| there.is_file())
        }
        (one, other) => one == other,
    }
}

/// Whether two paths lead to one file, by links of either kind. What is not there is no file yet.
fn is_same(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::fs::Metadata;
        use std::os::unix::fs::MetadataExt;

        // A hard link has a path of its own.
        let file = |path: &Path| path.metadata().ok().filter(Metadata::is_file).map(|it| (it.dev(), it.ino()));
        if file(one).is_some_and(|it| Some(it) == file(other)) {
            return true;
        }
    }
    let there = |path: &Path| path.canonicalize().ok();
    there(one).is_some_and(|it| Some(it) == there(other))
}

/// Written beside and put in place at once.
fn put(path: &Path, text: &[u8]) -> io::Result<()> {
    // A pipe or a device is no file that could be put in place of.
    if path.metadata().is_ok_and(|there| !there.is_file()) {
        return fs::write(path, text);
    }
    // A link stays one: what it leads to is replaced.
    let path = path.canonicalize().unwrap_or_else(|_| path.into());
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    // Never one that is there: it is somebody's.
    let mut file = match File::create_new(&beside) {
        // A folder that takes no new file may have one that can be written.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return fs::write(path, text),
        file => file?,
    };
    let done = file.write_all(text).and_then(|()| fs::rename(&beside, path));
    if done.is_err() {
        // What is told is why it was not written.
        let _ = fs::remove_file(&beside);
    }
    done
}
