//! What is asked of each line besides its time and its cost: who, and on which routes. Names become places once, for all lines.

use std::borrow::Cow;
use std::fmt;

use super::request;
use crate::policy::Scope;
use crate::replay::key;
use crate::replay::reading::Reading;
use crate::replay::record::{LineError, excerpt};

/// A format does not tell what is asked of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError(String);

impl FieldError {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FieldError {}

/// How a field's bytes become a part of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// As they are.
    Text,
    /// As the client that an address stands for.
    Address,
    /// As the path of a request line.
    OfRequest,
    /// As the path of a target.
    OfTarget,
}

impl How {
    fn path(self, text: &[u8]) -> Option<&[u8]> {
        match self {
            Self::OfRequest => request::of_request(text),
            Self::OfTarget => request::of_target(text),
            Self::Text | Self::Address => Some(text),
        }
    }

    /// The path as a key; the text again where it has none.
    fn path_of(self, text: Cow<'_, [u8]>) -> Result<Cow<'_, [u8]>, Cow<'_, [u8]>> {
        match text {
            Cow::Borrowed(text) => self.path(text).map(|path| key::one(Cow::Borrowed(path))).ok_or(Cow::Borrowed(text)),
            Cow::Owned(text) => match self.path(&text) {
                Some(path) => Ok(key::one(Cow::Owned(path.to_vec()))),
                None => Err(Cow::Owned(text)),
            },
        }
    }
}

/// A field's value, and where it is in the line, or where it should be.
#[derive(Clone, Debug)]
pub(super) struct Value<'l> {
    pub(super) place: usize,
    pub(super) text: Option<Cow<'l, [u8]>>,
}

/// A field that is asked for, in a format's own terms.
#[derive(Clone, Debug)]
struct Part<F> {
    name: Box<str>,
    field: F,
    how: How,
}

/// What is asked of each line.
#[derive(Clone, Debug)]
pub(super) struct Wanted<F> {
    parts: Vec<Part<F>>,
    routes: Option<(Scope, Part<F>)>,
}

impl<F> Wanted<F> {
    /// Finds the fields that are asked for, which are the usual one where nothing is said. `find` is what the format has, `has`
    /// says so in words.
    pub(super) fn of(
        reading: &Reading,
        usual: &str,
        (format, has): (&str, &str),
        mut find: impl FnMut(&str) -> Option<(F, How)>,
    ) -> Result<Self, FieldError> {
        let mut part = |name: &str| match find(name) {
            Some((field, how)) => Ok(Part { name: name.into(), field, how }),
            None => Err(FieldError(format!("{format} has no field '{name}'; it has {has}"))),
        };
        let parts = match &reading.identity {
            Some(identity) => identity
                .parts()
                .map(|(name, is_address)| {
                    let part = part(name)?;
                    Ok(if is_address && part.how == How::Text { Part { how: How::Address, ..part } } else { part })
                })
                .collect::<Result<_, _>>()?,
            None => vec![part(usual)?],
        };
        let routes = match &reading.scope {
            Some(scope) => Some((scope.clone(), part("path")?)),
            None => None,
        };
        Ok(Self { parts, routes })
    }

    /// Whether a line is on the routes that are asked about. One whose request has no path is on none.
    pub(super) fn covers<'l>(&self, get: impl FnOnce(&F) -> Result<Value<'l>, LineError>) -> Result<bool, LineError> {
        let Some((scope, Part { name, field, how })) = &self.routes else { return Ok(true) };
        let Value { place, text } = get(field)?;
        let Some(text) = text else { return Err(missing(name, "on which route it is", place, None)) };
        Ok(how.path(&text).is_some_and(|path| scope.covers(&String::from_utf8_lossy(path))))
    }

    /// The key of a line. A field that is missing, empty or `-` is an error: what nobody said is not one caller's.
    pub(super) fn key<'l>(
        &self,
        mut get: impl FnMut(&F) -> Result<Value<'l>, LineError>,
    ) -> Result<Cow<'l, [u8]>, LineError> {
        let mut part = |Part { name, field, how }: &Part<F>| {
            let Value { place, text } = get(field)?;
            let whose = |found: Option<&[u8]>| missing(name, "whose line it is", place, found);
            let text = match text {
                Some(text) if !matches!(&*text, b"" | b"-") => text,
                none => return Err(whose(none.as_deref())),
            };
            match how {
                How::Text => Ok(key::one(text)),
                How::Address => Ok(key::address(text)),
                How::OfRequest | How::OfTarget => how.path_of(text).map_err(|text| whose(Some(&text))),
            }
        };
        if let [only] = self.parts.as_slice() {
            return part(only);
        }
        let parts = self.parts.iter().map(part).collect::<Result<Vec<_>, _>>()?;
        Ok(Cow::Owned(key::join(parts.iter().map(|part| &**part))))
    }
}

#[cold]
fn missing(name: &str, tells: &str, place: usize, found: Option<&[u8]>) -> LineError {
    let found = match found {
        None => "none".into(),
        Some(b"") => "nothing in it".into(),
        Some(text) => excerpt(text),
    };
    LineError::found(place, format!("{name}, to tell {tells}"), found)
}
