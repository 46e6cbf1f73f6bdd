//! The formats: a line's bytes in, its record out.

pub mod alb;
pub mod combined;
mod date;
mod detect;
mod example;
mod fields;
mod instant;
pub mod json;
pub mod jsonl;
pub mod nginx;
mod request;
mod wanted;

pub(super) use detect::{detect, guess};
pub use fields::{Fields, TimeUnit};
pub use nginx::LogFormat;
pub use wanted::FieldError;

use std::fmt;

use super::reading::Reading;
use super::record::{LineError, Record};

/// How a log is written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Apache's and nginx's common and combined formats. Fields: `address`, `user`, `path`, `referer`, `agent`.
    Combined,
    /// A trace: a JSON object a line, `{"t_ns":u64,"key":"…","cost":u64}`; `cost` is 1 where it is missing. Its key is who asked.
    Jsonl,
    /// What an nginx writes whose `log_format` is this. Fields: its variables, without the `$`, and `address` and `path`.
    Nginx(LogFormat),
    /// JSON objects of your own. Fields: any path in them.
    Json(Fields),
    /// What an Application Load Balancer of AWS writes. Fields: those of its documentation, and `address` and `path`.
    Alb,
    /// What Caddy writes as JSON. Fields: any path in it, and `address` and `path`.
    Caddy,
}

impl Format {
    /// As it is called on the command line and in summaries.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Combined => "combined",
            Self::Jsonl => "jsonl",
            Self::Nginx(_) => "nginx",
            Self::Json(_) => "json",
            Self::Alb => "alb",
            Self::Caddy => "caddy",
        }
    }

    /// A line that would be right.
    #[must_use]
    pub fn example(&self) -> String {
        match self {
            Self::Combined => example::COMBINED.into(),
            Self::Jsonl => example::JSONL.into(),
            Self::Nginx(format) => example::nginx(format),
            Self::Json(fields) => example::json(fields),
            Self::Alb => example::ALB.into(),
            Self::Caddy => example::CADDY.into(),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl serde::Serialize for Format {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Reads lines of one log in order.
#[derive(Clone, Debug)]
pub(super) enum Reader {
    // Boxed for what they remember.
    Combined(Box<combined::Reader>),
    Jsonl,
    Nginx(Box<nginx::Reader>),
    Json(Box<json::Reader>),
    Alb(Box<alb::Reader>),
}

impl Reader {
    /// A reader of a format, for what is asked of its lines.
    ///
    /// # Errors
    ///
    /// When the format does not tell what is asked.
    pub(super) fn new(format: &Format, reading: &Reading) -> Result<Self, FieldError> {
        Ok(match format {
            Format::Combined => Self::Combined(Box::new(combined::Reader::of(reading)?)),
            Format::Jsonl => jsonl::can(reading).map(|()| Self::Jsonl)?,
            Format::Nginx(format) => Self::Nginx(Box::new(nginx::Reader::of(format, reading)?)),
            Format::Json(fields) => Self::Json(Box::new(json::Reader::of(fields, reading)?)),
            Format::Caddy => Self::Json(Box::new(json::Reader::caddy(reading)?)),
            Format::Alb => Self::Alb(Box::new(alb::Reader::of(reading)?)),
        })
    }

    /// A line's record; `None` where it is not on the routes that are asked about.
    #[inline(always)]
    pub(super) fn read<'l>(&mut self, line: &'l [u8]) -> Result<Option<Record<'l>>, LineError> {
        match self {
            Self::Combined(reader) => reader.read_on_routes(line),
            Self::Jsonl => jsonl::read(line).map(Some),
            Self::Nginx(reader) => reader.read_on_routes(line),
            Self::Json(reader) => reader.read_on_routes(line),
            Self::Alb(reader) => reader.read_on_routes(line),
        }
    }

    /// A line's time alone; `None` where it cannot be read.
    pub(super) fn time(&mut self, line: &[u8]) -> Option<u64> {
        match self {
            Self::Combined(reader) => reader.time_of(line),
            Self::Jsonl => jsonl::read(line).ok().map(|record| record.time),
            Self::Nginx(reader) => reader.time_of(line),
            Self::Json(reader) => reader.time_of(line),
            Self::Alb(reader) => reader.time_of(line),
        }
    }
}
