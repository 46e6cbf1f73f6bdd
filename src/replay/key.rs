//! Keys as bytes: what a line says of who asked, in one piece, and in parts again.
//!
//! A key of one part is its bytes as they are. One of several is a mark, and then each part's length and bytes, so that no two
//! joins meet (`a_b`+`c` is not `a`+`b_c`). A part that happens to look like a join is itself put into one: whatever a log
//! holds, [`parts`] gives back what was joined.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use serde::{Serialize, Serializer};

use crate::identity::Address;

/// Begins no UTF-8.
const MARK: u8 = 0xff;

/// Joins the parts of a key.
///
/// ```
/// use admittance::replay::key;
///
/// let [one, other] = [["a_b", "c"], ["a", "b_c"]].map(|parts| key::join(parts.map(str::as_bytes)));
/// assert_ne!(one, other);
/// assert_eq!(key::parts(&one), [&b"a_b"[..], b"c"]);
/// assert_eq!((key::shown(&one), key::shown(b"plain")), ("a_b · c".into(), "plain".into()));
/// ```
#[must_use]
pub fn join<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> Vec<u8> {
    let mut key = vec![MARK];
    for part in parts {
        // A line is at most a mebibyte, and so is what is in it.
        key.extend_from_slice(&u32::try_from(part.len()).unwrap_or(u32::MAX).to_le_bytes());
        key.extend_from_slice(part);
    }
    key
}

/// The parts of a key: several of a join, otherwise the key itself.
#[must_use]
pub fn parts(key: &[u8]) -> Vec<&[u8]> {
    joined(key).unwrap_or_else(|| vec![key])
}

/// A key for people: its parts as text, with ` · ` between them. Bytes that are not UTF-8 are replaced.
#[must_use]
pub fn shown(key: &[u8]) -> Cow<'_, str> {
    match joined(key) {
        None => String::from_utf8_lossy(key),
        Some(parts) => parts.into_iter().map(String::from_utf8_lossy).collect::<Vec<_>>().join(" · ").into(),
    }
}

/// A key in JSON: a string, or an array of its parts; as near to the bytes as JSON can.
#[derive(Clone, Copy, Debug)]
pub struct InJson<'k>(pub &'k [u8]);

impl Serialize for InJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match joined(self.0).as_deref() {
            None => String::from_utf8_lossy(self.0).serialize(serializer),
            // What only looked like a join.
            Some([part]) => String::from_utf8_lossy(part).serialize(serializer),
            Some(parts) => serializer.collect_seq(parts.iter().map(|part| String::from_utf8_lossy(part))),
        }
    }
}

/// A key of one part.
#[inline]
pub(super) fn one(part: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    if part.first() == Some(&MARK) && joined(&part).is_some() { Cow::Owned(join([&*part])) } else { part }
}

/// The parts of a whole join.
fn joined(key: &[u8]) -> Option<Vec<&[u8]>> {
    let (&MARK, mut rest) = key.split_first()? else { return None };
    let mut parts = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let (part, next) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        parts.push(part);
        rest = next;
    }
    (rest.is_empty() && !parts.is_empty()).then_some(parts)
}

/// The client that an address stands for, as [`Address`] sees it: an IPv4 address that is mapped to IPv6 is itself, of IPv6 the
/// /64 counts, and a port does not. What is no address (a name, where a server looks names up) is as it is.
#[inline]
pub(super) fn address(text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    // IPv4 has no colon, and is most of most logs.
    if may_have_colons(&text) { colons(text) } else { one(text) }
}

/// Whether there is a colon in the first or the last eight bytes: where every address has one that has any, IPv6 behind at most
/// four digits, and a port before at most five.
#[inline]
fn may_have_colons(text: &[u8]) -> bool {
    // Without branches: eight bytes are one word.
    let any = |bytes: &[u8; 8]| bytes.iter().fold(0, |any, &byte| any | u8::from(byte == b':')) > 0;
    match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) => any(first) || any(last),
        _ => text.contains(&b':'),
    }
}

#[inline(never)]
fn colons(text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let ip = std::str::from_utf8(&text).ok().and_then(|text| {
        text.parse::<IpAddr>().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|with_port| with_port.ip()))
    });
    match ip {
        Some(ip) => Cow::Owned(Address::new(ip).to_string().into_bytes()),
        None => one(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_joined_is_parted_again() {
        let odd = [&b""[..], b"\xff", b"a", &[MARK, 0, 0, 0, 0], &[MARK, 1, 0, 0, 0, b'a'], b"\xff\0\0\0"];
        let mut seen = std::collections::HashMap::new();
        for part in odd {
            let key = one(Cow::Borrowed(part)).into_owned();
            assert_eq!(parts(&key), [part]);
            assert_eq!(seen.insert(key, vec![part]), None);
            for other in odd {
                let key = join([part, other]);
                assert_eq!(parts(&key), [part, other]);
                assert_eq!(seen.insert(key, vec![part, other]), None);
            }
        }
    }

    #[test]
    fn one_client_is_one_key_however_its_address_is_written() {
        for (text, key) in [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("192.0.2.7:4711", "192.0.2.7"),
            ("[2001:db8::1]:4711", "2001:db8::/64"),
            ("2001:DB8:0::2", "2001:db8::/64"),
            ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
            ("::1", "::/64"),
            ("host.example", "host.example"),
            ("a:b", "a:b"),
            ("", ""),
        ] {
            assert_eq!(address(Cow::Borrowed(text.as_bytes())), key.as_bytes(), "{text}");
        }
    }

    #[test]
    fn parts_are_told_apart_in_json() {
        let json = |key: &[u8]| serde_json::to_string(&InJson(key)).unwrap();
        assert_eq!(json(b"a \"b\""), r#""a \"b\"""#);
        assert_eq!(json(&join([&b"a"[..], b"b\xff"])), "[\"a\",\"b\u{fffd}\"]");
        assert_eq!(json(&one(Cow::Borrowed(&[MARK, 1, 0, 0, 0, b'a']))), "\"\u{fffd}\\u0001\\u0000\\u0000\\u0000a\"");
    }
}
