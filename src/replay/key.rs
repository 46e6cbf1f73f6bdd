//! Keys as bytes: what a line says of who asked, in one piece, and in parts again; and as text, which can be read back.
//!
//! A key of one part is its bytes as they are. One of several is a mark, and then each part's length and bytes, so that no two
//! joins meet (`a_b`+`c` is not `a`+`b_c`). A part that happens to look like a join is itself put into one: whatever a log
//! holds, [`parts`] gives back what was joined.
//!
//! # As text
//!
//! [`shown`] writes a key as text of one line that no two keys have, and [`read`] takes it back:
//!
//! | in the text | is |
//! |---|---|
//! | ` · ` | between two parts |
//! | `\"\"`, where a part would be | an empty part |
//! | `\\`, `\n`, `\r`, `\t`, `\0` (and `\"`, `\'`, which need none) | what they are in Rust |
//! | `\xff` | a byte that is not UTF-8 |
//! | `\u{1b}` | a character that cannot be seen, or `·` |
//! | anything else | itself |

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use serde::{Serialize, Serializer};

use super::spec::SpecError;
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
/// assert_eq!(key::read("a_b · c".as_bytes())?, one);
/// # Ok::<(), admittance::replay::SpecError>(())
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

/// A key as text: see [the table](self#as-text). It has nothing in it that speaks to a terminal.
#[must_use]
pub fn shown(key: &[u8]) -> String {
    let mut text = String::with_capacity(key.len());
    for (place, part) in parts(key).into_iter().enumerate() {
        if place > 0 {
            text.push_str(BETWEEN);
        }
        match part {
            b"" => text.push_str(EMPTY),
            // Looks like no empty one.
            b"\"\"" => text.push_str(r#"\"\""#),
            part => show(part, &mut text),
        }
    }
    text
}

fn show(part: &[u8], text: &mut String) {
    for chunk in part.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                // It stands between parts, and nowhere else.
                '·' => text.extend(letter.escape_unicode()),
                '"' | '\'' => text.push(letter),
                _ => text.extend(letter.escape_debug()),
            }
        }
        // These are not of ASCII, which is UTF-8: two digits always.
        let digits = |byte: u8| [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16).unwrap_or('0'));
        text.extend(chunk.invalid().iter().flat_map(|&byte| ['\\', 'x'].into_iter().chain(digits(byte))));
    }
}

const BETWEEN: &str = " · ";
const EMPTY: &str = "\"\"";

/// The key that is [`shown`] as this text. What needs no escape may be written without one, and bytes that are not UTF-8 as they are.
///
/// # Errors
///
/// When a `\` does not begin an escape.
pub fn read(text: &[u8]) -> Result<Vec<u8>, SpecError> {
    let mut parts = Vec::new();
    let (mut rest, mut offset) = (text, 0);
    loop {
        let end = memchr::memmem::find(rest, BETWEEN.as_bytes());
        let part = &rest[..end.unwrap_or(rest.len())];
        parts.push(if part == EMPTY.as_bytes() { Vec::new() } else { unescaped(part, text, offset)? });
        let Some(end) = end else { break };
        (rest, offset) = (&rest[end + BETWEEN.len()..], offset + end + BETWEEN.len());
    }
    Ok(match parts.as_slice() {
        [only] => one(Cow::Borrowed(only)).into_owned(),
        parts => join(parts.iter().map(Vec::as_slice)),
    })
}

/// A part that begins at `offset` of the whole text.
fn unescaped(part: &[u8], text: &[u8], offset: usize) -> Result<Vec<u8>, SpecError> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut at = 0;
    while at < part.len() {
        if part[at] != b'\\' {
            bytes.push(part[at]);
            at += 1;
            continue;
        }
        let Some((said, length)) = escape(&part[at + 1..]) else {
            // Where it is in the text as it can be written; all before it counts as many bytes there as here, or more.
            let shown = String::from_utf8_lossy(text);
            let place = String::from_utf8_lossy(&text[..offset + at]).len();
            let what =
                "'\\' begins no escape here; write \\\\ for itself, or \\xff for a byte, \\u{b7} for a character";
            return Err(SpecError::at(&shown, place..place + 1, what));
        };
        match said {
            Escaped::Letter(letter) => bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
            Escaped::Byte(byte) => bytes.push(byte),
        }
        at += 1 + length;
    }
    Ok(bytes)
}

enum Escaped {
    Letter(char),
    Byte(u8),
}

/// What stands behind a `\`, and how long it is.
fn escape(rest: &[u8]) -> Option<(Escaped, usize)> {
    let hex = |digits: &[u8]| {
        let digits =
            std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        u32::from_str_radix(digits, 16).ok()
    };
    let letter = |letter| Some((Escaped::Letter(letter), 1));
    match rest.first()? {
        b'\\' => letter('\\'),
        b'"' => letter('"'),
        b'\'' => letter('\''),
        b'n' => letter('\n'),
        b'r' => letter('\r'),
        b't' => letter('\t'),
        b'0' => letter('\0'),
        b'x' => Some((Escaped::Byte(u8::try_from(hex(rest.get(1..3)?)?).ok()?), 3)),
        b'u' => {
            let digits = rest.strip_prefix(b"u{")?;
            let end = digits.iter().take(7).position(|&byte| byte == b'}')?;
            Some((Escaped::Letter(char::from_u32(hex(&digits[..end])?)?), 2 + end + 1))
        }
        _ => None,
    }
}

/// A key in JSON: a string, or an array of its parts; as near to the bytes as JSON can.
#[derive(Clone, Copy, Debug)]
pub struct InJson<'k>(pub &'k [u8]);

impl InJson<'_> {
    /// The key as it is [`shown`], to be named by, where that is not the string that it is in JSON.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        let shown = shown(self.0);
        (shown.as_bytes() != self.0).then_some(shown)
    }
}

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
    fn whatever_is_shown_is_read_again_and_looks_like_no_other() {
        let odd = [
            &b""[..],
            b"\"\"",
            b"a",
            b"a \xc2\xb7 b",
            b" ",
            b"\xc2\xb7",
            b"\xb7",
            b"\xff",
            b"\\xff",
            b"\\",
            b"a\nb\x1b[2J\x7f\0",
            b"'\"",
            b"\xc2",
            "é · \u{202e}\u{fffd}".as_bytes(),
            &[MARK, 1, 0, 0, 0, b'a'],
        ];
        let mut seen = std::collections::HashMap::new();
        let mut is_read = |key: Vec<u8>| {
            let text = shown(&key);
            assert!(!text.chars().any(char::is_control) && !text.is_empty(), "{text}");
            assert_eq!(read(text.as_bytes()), Ok(key.clone()), "{text}");
            assert_eq!(seen.insert(text, key), None);
        };
        for part in odd {
            is_read(one(Cow::Borrowed(part)).into_owned());
            for other in odd {
                is_read(join([part, other]));
                is_read(join([part, other, b""]));
            }
        }
        assert_eq!(shown(&join([&b"192.0.2.1"[..], b"x\xff"])), "192.0.2.1 · x\\xff");
        // Bytes, and what needs no escape, may stand as they are.
        assert_eq!(read(b"a\xff\n\"b"), Ok(b"a\xff\n\"b".to_vec()));
    }

    #[test]
    fn a_backslash_that_begins_no_escape_is_pointed_at() {
        for (text, column) in [
            ("a\\b", 2),
            ("\\", 1),
            ("é · \\x4", 5),
            ("\\xg0", 1),
            ("\\u{}", 1),
            ("\\u{d800}", 1),
            ("\\u{110000}", 1),
            ("\\u41", 1),
        ] {
            assert_eq!(read(text.as_bytes()).unwrap_err().column(), Some(column), "{text}");
        }
        assert_eq!(read(b"\xff \\").unwrap_err().column(), Some(3));
        let error = read(br"DOMAIN\user").unwrap_err().to_string();
        assert!(error.starts_with("'\\' begins no escape here; write \\\\ for itself"), "{error}");
        assert!(error.ends_with("\n1 | DOMAIN\\user\n  |       ^"), "{error}");
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
