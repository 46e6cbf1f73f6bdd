//! The date of an access log: `17/May/2015:10:05:03 +0000`.

use jiff::fmt::strtime;

/// How long the text of a date is.
pub(super) const LENGTH: usize = 26;

const FORMAT: &str = "%d/%b/%Y:%H:%M:%S %z";

/// How many dates are remembered: one for each second of a minute, and a few for what is no second.
const SLOTS: usize = 64;

/// Reads dates, and remembers the last ones: a log says each second many times, and seconds that are close together are close
/// together in it, though not always in order.
#[derive(Clone, Debug)]
pub(super) struct Dates([Option<([u8; LENGTH], u64)>; SLOTS]);

impl Default for Dates {
    fn default() -> Self {
        Self([None; SLOTS])
    }
}

impl Dates {
    /// Nanoseconds since 1970, or what was expected.
    pub(super) fn read(&mut self, text: &[u8; LENGTH]) -> Result<u64, &'static str> {
        // By the two digits of the second.
        let slot = &mut self.0[usize::from(text[18].wrapping_mul(10).wrapping_add(text[19])) % SLOTS];
        match slot {
            Some((known, nanos)) if known == text => Ok(*nanos),
            _ => {
                let nanos = read(text)?;
                *slot = Some((*text, nanos));
                Ok(nanos)
            }
        }
    }
}

fn read(text: &[u8]) -> Result<u64, &'static str> {
    let time = strtime::parse(FORMAT, text)
        .and_then(|parts| parts.to_timestamp())
        .map_err(|_| "a date like 17/May/2015:10:05:03 +0000")?;
    u64::try_from(time.as_nanosecond()).map_err(|_| "a date from 1970 to 2554")
}
