//! Traces: a JSON object a line.
//!
//! ```text
//! {"t_ns":1431857103000000000,"key":"192.0.2.7","cost":1}
//! ```
//!
//! Fields of other names are passed over. A key is a string's bytes, whether or not they are UTF-8.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::Value;

use super::wanted::FieldError;
use crate::replay::key;
use crate::replay::reading::Reading;
use crate::replay::record::{LineError, Record, excerpt};

#[derive(serde::Deserialize)]
struct Line<'l> {
    t_ns: u64,
    #[serde(borrow)]
    key: Key<'l>,
    #[serde(default = "one")]
    cost: u64,
}

const fn one() -> u64 {
    1
}

/// Whether a trace tells what is asked of it: it has its own keys and costs, and no more.
pub(super) fn can(reading: &Reading) -> Result<(), FieldError> {
    let own = reading.identity.as_ref().is_none_or(|said| said.is_address() || said.fields() == ["key"]);
    let no = if !own {
        "a trace says by its key who asked; to choose a field, say time=t_ns:ns and read it as JSON"
    } else if reading.scope.is_some() {
        "a trace has no routes; to choose a field for them, say time=t_ns:ns and route=PATH and read it as JSON"
    } else {
        return Ok(());
    };
    Err(FieldError::new(no))
}

/// Reads one line, without its line break.
///
/// # Errors
///
/// When it is not a JSON object with `t_ns` and `key`, or a field is not what it should be; the error names the field and
/// its value. Never panics, on any bytes.
pub fn read(line: &[u8]) -> Result<Record<'_>, LineError> {
    let start = line.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    if line.get(start) != Some(&b'{') {
        // Serde would take the fields from an array too, in the order in which they are declared here.
        return Err(LineError::at(start, line, "a JSON object, as in {\"t_ns\":0,\"key\":\"a\",\"cost\":1}"));
    }
    match serde_json::from_slice::<Line<'_>>(line) {
        Ok(Line { t_ns, key: Key(key), cost }) => Ok(Record { time: t_ns, key: key::one(key), cost }),
        Err(error) => Err(why(line, &error)),
    }
}

/// A JSON string as bytes: a key need not be UTF-8 to be a key.
struct Key<'l>(Cow<'l, [u8]>);

impl<'de: 'l, 'l> Deserialize<'de> for Key<'l> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl<'l> Visitor<'l> for Bytes {
            type Value = Key<'l>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_bytes<E: Error>(self, bytes: &'l [u8]) -> Result<Key<'l>, E> {
                Ok(Key(Cow::Borrowed(bytes)))
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Key<'l>, E> {
                Ok(Key(Cow::Owned(bytes.to_vec())))
            }
        }

        deserializer.deserialize_bytes(Bytes)
    }
}

/// Names the field at fault and its value, which serde's error does not.
#[cold]
fn why(line: &[u8], error: &serde_json::Error) -> LineError {
    // Serde counts bytes from 1, and from 0 where it has not begun.
    let offset = error.column().saturating_sub(1).min(line.len());
    // Bytes that are not UTF-8 are at most a field's value; what the line is made of stays.
    let Ok(Value::Object(fields)) = serde_json::from_str(&String::from_utf8_lossy(line)) else {
        return LineError::found(offset, "a whole JSON object", format!("{} ({error})", excerpt(&line[offset..])));
    };
    let whole = "a whole number from 0 to 18446744073709551615";
    let wrong = |name: &str, is_right: fn(&Value) -> bool| fields.get(name).filter(|value| !is_right(value));
    let missing = |name: &str| !fields.contains_key(name);
    let (field, right, found) = if let Some(value) = wrong("t_ns", Value::is_u64) {
        ("t_ns", whole, in_short(value))
    } else if let Some(value) = wrong("key", Value::is_string) {
        ("key", "a string", in_short(value))
    } else if let Some(value) = wrong("cost", Value::is_u64) {
        ("cost", whole, in_short(value))
    } else if missing("t_ns") {
        ("t_ns", whole, "none".into())
    } else if missing("key") {
        ("key", "a string", "none".into())
    } else {
        return LineError::found(offset, "each field once", format!("'{error}'"));
    };
    LineError::found(offset, format!("{field} to be {right}"), found)
}

fn in_short(value: &Value) -> String {
    excerpt(value.to_string().as_bytes())
}
