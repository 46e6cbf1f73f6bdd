//! The members of a JSON object that are asked for, found in one pass.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::replay::record::{LineError, excerpt};

/// The paths that are asked for, by what they have in common.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    root: Node,
    leaves: usize,
}

#[derive(Clone, Debug, Default)]
struct Node {
    /// Which value it is, where it is itself asked for.
    leaf: Option<usize>,
    members: Vec<(String, Node)>,
}

/// What was found, by the numbers of leaves.
type Values<'l> = Vec<Option<&'l RawValue>>;

impl Tree {
    /// Asks for a path, and numbers it; one that is asked for again has the same number.
    pub(super) fn leaf(&mut self, path: &[String]) -> usize {
        let mut node = &mut self.root;
        for name in path {
            let place = node.members.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
                node.members.push((name.clone(), Node::default()));
                node.members.len() - 1
            });
            node = &mut node.members[place].1;
        }
        *node.leaf.get_or_insert_with(|| {
            self.leaves += 1;
            self.leaves - 1
        })
    }

    /// The values of a line.
    pub(super) fn read<'l>(&self, line: &'l [u8]) -> Result<Values<'l>, LineError> {
        let start = line.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if line.get(start) != Some(&b'{') {
            return Err(LineError::at(start, line, "a JSON object"));
        }
        let mut values = vec![None; self.leaves];
        let mut deserializer = serde_json::Deserializer::from_slice(line);
        let found = In { node: &self.root, values: &mut values }.deserialize(&mut deserializer);
        match found.and_then(|()| deserializer.end()) {
            Ok(()) => Ok(values),
            Err(error) => Err(why(line, &error)),
        }
    }
}

#[cold]
fn why(line: &[u8], error: &serde_json::Error) -> LineError {
    // Serde counts bytes from 1, and from 0 where it has not begun.
    let offset = if error.is_eof() { line.len() } else { error.column().saturating_sub(1).min(line.len()) };
    let text = error.to_string();
    // It has the place already.
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
    let there = excerpt(&line[offset..]);
    let found = if there.is_empty() { format!("the end of the line ({text})") } else { format!("{there} ({text})") };
    LineError::found(offset, "a whole JSON object, with each field once", found)
}

/// Looks for a node's members in what is deserialized.
struct In<'n, 'v, 'l> {
    node: &'n Node,
    values: &'v mut Values<'l>,
}

impl<'l> DeserializeSeed<'l> for In<'_, '_, 'l> {
    type Value = ();

    fn deserialize<D: Deserializer<'l>>(self, deserializer: D) -> Result<(), D::Error> {
        let Some(leaf) = self.node.leaf else { return deserializer.deserialize_any(self) };
        let raw = <&RawValue as serde::Deserialize>::deserialize(deserializer)?;
        if self.values[leaf].replace(raw).is_some() {
            return Err(Error::custom("a field is there twice"));
        }
        if !self.node.members.is_empty() {
            // Asked for, and what is in it too.
            let within = In { node: self.node, values: self.values };
            serde_json::Deserializer::from_str(raw.get()).deserialize_any(within).map_err(Error::custom)?;
        }
        Ok(())
    }
}

impl<'l> Visitor<'l> for In<'_, '_, 'l> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = 0_u64;
        while let Some(place) = map.next_key_seed(Name(self.node))? {
            let Some(place) = place else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            // Of two members of one name, programs take either. Nobody asks for more than 64 members of one.
            let bit = 1_u64.checked_shl(u32::try_from(place).unwrap_or(u32::MAX)).unwrap_or(0);
            if seen & bit != 0 {
                return Err(Error::custom("a field is there twice"));
            }
            seen |= bit;
            map.next_value_seed(In { node: &self.node.members[place].1, values: self.values })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'l>>(self, mut seq: A) -> Result<(), A::Error> {
        for number in 0_usize.. {
            let member = self.node.members.iter().find(|(name, _)| name.parse() == Ok(number));
            let more = match member {
                Some((_, node)) => seq.next_element_seed(In { node, values: self.values })?,
                None => seq.next_element::<IgnoredAny>()?.map(|_| ()),
            };
            if more.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Which of a node's members a name is.
struct Name<'n>(&'n Node);

impl<'l> DeserializeSeed<'l> for Name<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'l>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.members.iter().position(|(known, _)| known == name))
    }
}
