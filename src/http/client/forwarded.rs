//! What an element of `Forwarded` says (RFC 7239, section 4): `for="[2001:db8::1]:4711";proto=https`.

use core::net::IpAddr;

use super::forwarding::trim;
use super::node;

/// Whom the element's `for` names. `None` where it has none or two, names nobody, or is not well-formed in any part.
pub(super) fn node(element: &[u8]) -> Option<IpAddr> {
    if !element.is_ascii() {
        return None;
    }
    let (mut found, mut rest) = (None, element);
    loop {
        rest = trim(rest);
        if !matches!(rest, [] | [b';', ..]) {
            let pair;
            (pair, rest) = Pair::read(rest)?;
            if pair.name.eq_ignore_ascii_case(b"for") && found.replace(pair.value).is_some() {
                return None;
            }
        }
        match trim(rest) {
            [] => return node::strict(found?),
            [b';', after @ ..] => rest = after,
            _ => return None,
        }
    }
}

/// `name=value`, or `name="value"`: the value as it stands there, without the quotation marks.
struct Pair<'e> {
    name: &'e [u8],
    value: &'e [u8],
}

impl<'e> Pair<'e> {
    /// The pair that the text begins with, and what follows it.
    fn read(text: &'e [u8]) -> Option<(Self, &'e [u8])> {
        let (name, text) = text.split_at(text.iter().position(|byte| !is_token(*byte))?);
        let text = text.strip_prefix(b"=")?;
        let (value, rest) = match text.strip_prefix(b"\"") {
            Some(text) => quoted(text)?,
            // Brackets and colons are no part of a token, but some proxies write a node with its port bare.
            None => text.split_at(
                text.iter()
                    .position(|byte| !is_token(*byte) && !matches!(byte, b':' | b'[' | b']'))
                    .unwrap_or(text.len()),
            ),
        };
        (!name.is_empty() && !value.is_empty()).then_some((Self { name, value }, rest))
    }
}

/// What is quoted up to the closing mark, and what follows that. Escapes are passed over, not undone: no node has one.
fn quoted(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut escaped = false;
    let end = text.iter().position(|byte| match byte {
        _ if escaped => {
            escaped = false;
            false
        }
        b'\\' => {
            escaped = true;
            false
        }
        byte => *byte == b'"',
    })?;
    Some((&text[..end], &text[end + 1..]))
}

/// A byte of a token (RFC 9110, section 5.6.2).
const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~'
        )
}
