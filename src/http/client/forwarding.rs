//! Which header proxies write, and its elements from the right.

use core::net::IpAddr;

use ::http::HeaderName;
use ::http::header::FORWARDED;

use super::{forwarded, node};

/// The header that tells whom a proxy speaks for. Say the one that your proxies write: the other is the client's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Forwarding {
    /// `Forwarded` of RFC 7239: `for="[2001:db8::1]:4711";proto=https`.
    Forwarded,
    /// `X-Forwarded-For`: `2001:db8::1`, `192.0.2.1:4711`, `[2001:db8::1]:4711`.
    XForwardedFor,
}

static X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

impl Forwarding {
    /// The header's name.
    #[must_use]
    pub fn name(self) -> &'static HeaderName {
        match self {
            Self::Forwarded => &FORWARDED,
            Self::XForwardedFor => &X_FORWARDED_FOR,
        }
    }

    /// Whom the elements of a line name, from the right; `None` for an element that names nobody. Empty ones are left out.
    pub(super) fn nodes(self, line: &[u8]) -> impl Iterator<Item = Option<IpAddr>> {
        Elements { rest: Some(line), header: self }.filter(|element| !element.is_empty()).map(move |element| match self
        {
            Self::Forwarded => forwarded::node(element),
            Self::XForwardedFor => node::loose(element),
        })
    }
}

/// What stands between the commas of a line, from the right.
struct Elements<'l> {
    rest: Option<&'l [u8]>,
    header: Forwarding,
}

impl<'l> Iterator for Elements<'l> {
    type Item = &'l [u8];

    fn next(&mut self) -> Option<&'l [u8]> {
        let rest = self.rest?;
        let comma = match self.header {
            Forwarding::Forwarded => last_comma(rest),
            Forwarding::XForwardedFor => rest.iter().rposition(|byte| *byte == b','),
        };
        let (left, element) = match comma {
            Some(at) => (Some(&rest[..at]), &rest[at + 1..]),
            None => (None, rest),
        };
        self.rest = left;
        Some(trim(element))
    }
}

/// The last comma that is in no quotation. `None` also where a quotation has no beginning: all of it is one element then,
/// which names nobody.
///
/// Looked for from the right, so that what stands left of it cannot move it: from the left, a `"` that a client sends would
/// quote what the proxies append.
fn last_comma(line: &[u8]) -> Option<usize> {
    let mut quoted = false;
    for (at, byte) in line.iter().enumerate().rev() {
        match byte {
            b',' if !quoted => return Some(at),
            // One after an odd number of backslashes is a part of the quoted text. A beginning stands after a `=`, never
            // after a backslash, and an end after an even number of them. Each run of backslashes is counted once.
            b'"' if line[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0 => quoted = !quoted,
            b'"' if !quoted => return None,
            _ => {}
        }
    }
    None
}

/// Without spaces and tabs around it.
pub(super) fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}
