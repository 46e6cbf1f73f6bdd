//! Traces: a JSON object a line.
//!
//! ```text
//! {"t_ns":1431857103000000000,"key":"192.0.2.7","cost":1}
//! ```
//!
//! Fields of other names are passed over.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use super::record::{LineError, Record, excerpt};

#[derive(Deserialize)]
struct Line<'l> {
    t_ns: u64,
    #[serde(borrow)]
    key: Cow<'l, str>,
    #[serde(default = "one")]
    cost: u64,
}

const fn one() -> u64 {
    1
}

/// Reads one line, without its line break.
///
/// # Errors
///
/// When it is not a JSON object with `t_ns` and `key`, or a field is of another type. Never panics, on any bytes.
pub fn read(line: &[u8]) -> Result<Record<'_>, LineError> {
    match serde_json::from_slice::<Line<'_>>(line) {
        Ok(Line { t_ns, key, cost }) => {
            let key = match key {
                Cow::Borrowed(key) => Cow::Borrowed(key.as_bytes()),
                Cow::Owned(key) => Cow::Owned(key.into_bytes()),
            };
            Ok(Record { time: t_ns, key, cost })
        }
        Err(error) => Err(why(line, &error)),
    }
}

/// Names the field at fault, which serde's error does not.
#[cold]
fn why(line: &[u8], error: &serde_json::Error) -> LineError {
    let column = error.column().saturating_sub(1);
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return LineError::new(column, format!("a JSON object ({error})"));
    };
    let Value::Object(fields) = &value else {
        return LineError::new(0, "a JSON object");
    };
    let whole = "a whole number from 0 to 18446744073709551615";
    let field = |name: &str| fields.get(name).map(|value| excerpt(value.to_string().as_bytes()));
    for (name, right, required) in [("t_ns", whole, true), ("key", "a string", true), ("cost", whole, false)] {
        let fits = match fields.get(name) {
            Some(value) => {
                if name == "key" {
                    value.is_string()
                } else {
                    value.is_u64()
                }
            }
            None => !required,
        };
        if !fits {
            let was = field(name).map_or_else(|| "it is missing".into(), |was| format!("was {was}"));
            return LineError::new(column, format!("{name}: {right} ({was})"));
        }
    }
    LineError::new(column, format!("each field once ({error})"))
}
