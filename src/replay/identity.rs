//! Whose lines share one budget: a field of the log, or several together.

use std::fmt;
use std::str::FromStr;

use super::format::Format;
use super::spec::SpecError;

/// The fields of a log that say who asked, by the names that its format gives them. What they say together is the key.
///
/// Every format that tells of it has `address`, the client's address: of IPv6 the /64, as
/// [`identity::Address`](crate::identity::Address) has it. Every format that tells of requests has `path`, without the query.
///
/// ```
/// use admittance::replay::Identity;
///
/// let one: Identity = "user".parse()?;
/// let pair: Identity = "address,user".parse()?;
/// assert_eq!(pair.fields(), ["address", "user"]);
/// assert!("address,,user".parse::<Identity>().is_err());
/// # Ok::<(), admittance::replay::SpecError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    names: Vec<String>,
    /// Whether each is a client's address, whatever it is called.
    addresses: Vec<bool>,
}

impl Identity {
    /// The client's address.
    #[must_use]
    pub fn address() -> Self {
        Self::new(vec!["address".into()])
    }

    /// The names of the fields, in order.
    #[must_use]
    pub fn fields(&self) -> &[String] {
        &self.names
    }

    /// Each taken as a client's address, as `address` is: for one that stands in a field of another name.
    #[must_use]
    pub fn as_addresses(mut self) -> Self {
        self.addresses.fill(true);
        self
    }

    /// This one, and then `other`.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.names.extend(other.names);
        self.addresses.extend(other.addresses);
        self
    }

    fn new(names: Vec<String>) -> Self {
        Self { addresses: vec![false; names.len()], names }
    }

    /// The names, and which of them are addresses.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&str, bool)> {
        self.names.iter().map(String::as_str).zip(self.addresses.iter().copied())
    }

    /// Whether it is the address that the format itself has, and no more.
    pub(super) fn is_address(&self) -> bool {
        self.names == ["address"]
    }
}

/// The fields that say who asked, by their names in the format: what was said, or what goes without saying.
pub(super) fn whose<'i>(identity: Option<&'i Identity>, format: Option<&Format>) -> Vec<&'i str> {
    match (identity, format) {
        (_, Some(Format::Jsonl)) => vec!["key"],
        (Some(identity), _) => identity.fields().iter().map(String::as_str).collect(),
        (None, Some(Format::Json(fields))) if fields.has_key() => vec!["key"],
        (None, _) => vec!["address"],
    }
}

impl FromStr for Identity {
    type Err = SpecError;

    /// Reads names with commas between them; `\,` is a comma in a name.
    fn from_str(text: &str) -> Result<Self, SpecError> {
        let mut names = Vec::new();
        let (mut name, mut start) = (String::new(), 0);
        let mut letters = text.char_indices().peekable();
        loop {
            let next = letters.next();
            match next {
                Some((_, '\\')) if letters.peek().is_some_and(|&(_, letter)| letter == ',') => {
                    letters.next();
                    name.push(',');
                }
                Some((_, letter)) if letter != ',' => name.push(letter),
                _ => {
                    let end = next.map_or(text.len(), |(at, _)| at);
                    if name.is_empty() {
                        let what = "a field has no name; write FIELD, or FIELD,FIELD, as in address,user";
                        return Err(SpecError::at(text, start..end.max(start + 1), what));
                    }
                    if names.contains(&name) {
                        return Err(SpecError::at(
                            text,
                            start..end,
                            format!("'{name}' is in it twice; once is enough"),
                        ));
                    }
                    names.push(std::mem::take(&mut name));
                    start = end + 1;
                    if next.is_none() {
                        return Ok(Self::new(names));
                    }
                }
            }
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names.iter().map(|name| name.replace(',', "\\,")).collect::<Vec<_>>().join(","))
    }
}
