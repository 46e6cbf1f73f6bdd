//! A file of policies.

use core::fmt;
use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::string::{String, ToString};
use std::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize};

use super::Policy;
use crate::caret::Caret;

/// The policies of one file, each of its own name.
///
/// ```
/// use admittance::policy::Policies;
///
/// let policies = Policies::from_toml(r#"
///     version = 1
///
///     [[policy]]
///     name = "api"
///     unit = "request"
///     identity = ["tenant", "account"]
///     scope = { store = "process", routes = ["/api"] }
///     rule = { capacity = 20, refill = "100/1m" }
///     on_exhausted = "deny"
///     max_keys = 100_000
///     overflow = "deny"
/// "#)?;
/// assert_eq!(policies.get("api").unwrap().rule().capacity(), 20);
/// # Ok::<(), admittance::policy::FileError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Policies {
    version: u64,
    #[serde(rename = "policy")]
    policies: Vec<Policy>,
}

/// The one version there is.
const VERSION: u64 = 1;

impl Policies {
    /// Policies of a program's own making, to be written.
    ///
    /// # Errors
    ///
    /// The name that two of them have.
    pub fn new(policies: Vec<Policy>) -> Result<Self, String> {
        match twice(&policies) {
            Some(name) => Err(name.into()),
            None => Ok(Self { version: VERSION, policies }),
        }
    }

    /// Reads TOML.
    ///
    /// # Errors
    ///
    /// When it is not TOML, says something that no policy has, or leaves something out: with the line and the value.
    pub fn from_toml(text: &str) -> Result<Self, FileError> {
        toml::from_str(text).map_err(|error| FileError {
            path: None,
            what: What::Wrong { says: error.message().to_string(), at: error.span().map(|span| Caret::of(text, span)) },
        })
    }

    /// Reads a file of TOML.
    ///
    /// # Errors
    ///
    /// As [`from_toml`](Self::from_toml), with the file's name; and when the file cannot be read.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        let text = fs::read_to_string(path).map_err(|error| FileError::from(error).in_file(path))?;
        Self::from_toml(&text).map_err(|error| error.in_file(path))
    }

    /// As TOML: what [`from_toml`](Self::from_toml) reads back.
    #[must_use]
    #[allow(clippy::missing_panics_doc, reason = "a policy has nothing that TOML has not")]
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("strings, numbers and tables")
    }

    /// The policy of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Policy> {
        self.policies.iter().find(|policy| policy.name() == name)
    }

    /// All of them, in order.
    pub fn iter(&self) -> core::slice::Iter<'_, Policy> {
        self.policies.iter()
    }
}

impl<'p> IntoIterator for &'p Policies {
    type Item = &'p Policy;
    type IntoIter = core::slice::Iter<'p, Policy>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'de> Deserialize<'de> for Policies {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Raw {
            version: Option<Version>,
            #[serde(default)]
            policy: Vec<Policy>,
        }

        struct Version;

        impl<'de> Deserialize<'de> for Version {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                match u64::deserialize(from)? {
                    VERSION => Ok(Self),
                    other => Err(serde::de::Error::custom(format_args!(
                        "version: {other} is not {VERSION}, the one there is"
                    ))),
                }
            }
        }

        let raw = Raw::deserialize(from)?;
        let wrong = |says: &str| Err(serde::de::Error::custom(says));
        if raw.version.is_none() {
            return wrong("version: is missing; begin with version = 1");
        }
        if raw.policy.is_empty() {
            return wrong("there is no policy; begin one with [[policy]]");
        }
        match twice(&raw.policy) {
            Some(name) => wrong(&std::format!("name: two policies are called '{name}'")),
            None => Ok(Self { version: VERSION, policies: raw.policy }),
        }
    }
}

fn twice(policies: &[Policy]) -> Option<&str> {
    let names = || policies.iter().map(Policy::name);
    names().enumerate().find(|(number, name)| names().take(*number).any(|other| other == *name)).map(|(_, name)| name)
}

/// What is wrong with a file of policies, and where.
#[derive(Debug)]
pub struct FileError {
    path: Option<PathBuf>,
    what: What,
}

#[derive(Debug)]
enum What {
    Unreadable(io::Error),
    Wrong { says: String, at: Option<Caret> },
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        Self { path: None, what: What::Unreadable(error) }
    }
}

impl FileError {
    /// The same, said to be in this file.
    #[must_use]
    pub fn in_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// The file, where it was said which.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The line, from 1; `None` where it is about the whole file.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.caret().map(|caret| caret.line)
    }

    /// The column in characters, from 1.
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        self.caret().map(|caret| caret.column)
    }

    fn caret(&self) -> Option<&Caret> {
        match &self.what {
            What::Unreadable(_) => None,
            What::Wrong { at, .. } => at.as_ref(),
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{}", path.display())?,
            None => f.write_str("policies")?,
        }
        match &self.what {
            What::Unreadable(error) => write!(f, ": {error}"),
            What::Wrong { says, at: None } => write!(f, ": {says}"),
            What::Wrong { says, at: Some(caret) } => {
                write!(f, ":{}:{}: {}\n{caret}", caret.line, caret.column, says)
            }
        }
    }
}

impl Error for FileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.what {
            What::Unreadable(error) => Some(error),
            What::Wrong { .. } => None,
        }
    }
}
