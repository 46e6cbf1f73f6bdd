//! The date of an access log: `17/May/2015:10:05:03 +0000`.

use jiff::fmt::strtime;

/// How long the text of a date is.
pub(super) const LENGTH: usize = 26;

const FORMAT: &str = "%d/%b/%Y:%H:%M:%S %z";

/// Reads dates, and remembers the last one: lines of the same second are many and in a row.
#[derive(Debug, Default)]
pub(super) struct Dates {
    text: [u8; LENGTH],
    nanos: Option<u64>,
}

impl Dates {
    /// Nanoseconds since 1970, or what was expected.
    pub(super) fn read(&mut self, text: &[u8; LENGTH]) -> Result<u64, &'static str> {
        if *text == self.text
            && let Some(nanos) = self.nanos
        {
            return Ok(nanos);
        }
        let nanos = read(text)?;
        (self.text, self.nanos) = (*text, Some(nanos));
        Ok(nanos)
    }
}

fn read(text: &[u8]) -> Result<u64, &'static str> {
    let time = strtime::parse(FORMAT, text)
        .and_then(|parts| parts.to_timestamp())
        .map_err(|_| "a date like 17/May/2015:10:05:03 +0000")?;
    u64::try_from(time.as_nanosecond()).map_err(|_| "a date from 1970 to 2554")
}
