//! Which node serves which slot, as far as this process knows.

use std::collections::HashMap;
use std::string::{String, ToString};
use std::vec::Vec;

use ::redis::Value;

use crate::redis::key::SLOTS;

/// As a node told it, and what calls were told since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Map {
    ranges: Vec<Range>,
    /// One slot each that is served by another node than the ranges say. No more than there are slots.
    moved: HashMap<u16, String>,
    /// Nodes that serve nothing and know who does.
    replicas: Vec<String>,
}

/// Slots from one to another, both included, and who serves them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Range {
    from: u16,
    to: u16,
    node: String,
}

impl Map {
    /// Reads the answer to `CLUSTER SLOTS`. A node without a host is at the one that was asked.
    pub(super) fn read(answer: &Value, asked: &str) -> Option<Self> {
        let Value::Array(rows) = answer else { return None };
        let mut map = Self::default();
        for row in rows {
            let Value::Array(row) = row else { return None };
            let [Value::Int(from), Value::Int(to), master, replicas @ ..] = &row[..] else { return None };
            let (from, to) = (u16::try_from(*from).ok()?, u16::try_from(*to).ok().filter(|to| *to < SLOTS)?);
            map.ranges.push(Range { from, to, node: node(master, asked)? });
            map.replicas.extend(replicas.iter().filter_map(|replica| node(replica, asked)));
        }
        map.replicas.sort_unstable();
        map.replicas.dedup();
        Some(map)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(super) fn node_of(&self, slot: u16) -> Option<&str> {
        let of_range = || self.ranges.iter().find(|range| (range.from..=range.to).contains(&slot)).map(|r| &r.node);
        self.moved.get(&slot).or_else(of_range).map(String::as_str)
    }

    /// One slot is served by this node now.
    pub(super) fn moved(&mut self, slot: u16, node: &str) {
        if self.node_of(slot) != Some(node) {
            self.moved.insert(slot, node.to_string());
        }
    }

    /// Every node that serves slots, once.
    pub(super) fn masters(&self) -> Vec<String> {
        let mut nodes: Vec<_> = self.ranges.iter().map(|range| range.node.clone()).collect();
        nodes.extend(self.moved.values().cloned());
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    pub(super) fn replicas(&self) -> &[String] {
        &self.replicas
    }
}

/// `host:port` of a node's row: its endpoint, its port, its name, and with newer servers what else it is known by.
fn node(row: &Value, asked: &str) -> Option<String> {
    let Value::Array(row) = row else { return None };
    let [host, Value::Int(port), more @ ..] = &row[..] else { return None };
    let host = match text(host) {
        // By name, and this one has none: its address is among the rest.
        Some("?") => address(more.get(1)?)?,
        Some(host) if !host.is_empty() => host,
        _ => asked,
    };
    Some(std::format!("{host}:{port}"))
}

fn address(rest: &Value) -> Option<&str> {
    let Value::Array(rest) = rest else { return None };
    let pair = rest.chunks_exact(2).find(|pair| text(&pair[0]) == Some("ip"))?;
    text(&pair[1]).filter(|host| !host.is_empty())
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::BulkString(text) => core::str::from_utf8(text).ok(),
        Value::SimpleString(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bulk(text: &str) -> Value {
        Value::BulkString(text.into())
    }

    fn at(host: Value, port: i64) -> Value {
        Value::Array(std::vec![
            host,
            Value::Int(port),
            bulk("id"),
            Value::Array(std::vec![bulk("ip"), bulk("10.0.0.9")])
        ])
    }

    fn row(from: i64, to: i64, nodes: impl IntoIterator<Item = Value>) -> Value {
        Value::Array([Value::Int(from), Value::Int(to)].into_iter().chain(nodes).collect())
    }

    #[test]
    fn a_node_that_does_not_know_its_host_is_where_it_was_asked() {
        let hosts = [bulk("10.0.0.1"), bulk(""), Value::Nil, bulk("?"), bulk("::1")];
        let rows = (0..).zip(hosts).map(|(slot, host)| row(slot, slot, [at(host, 7000)])).collect();
        let map = Map::read(&Value::Array(rows), "here").unwrap();
        let nodes: Vec<_> = (0..6).map(|slot| map.node_of(slot)).collect();
        assert_eq!(
            nodes,
            [
                Some("10.0.0.1:7000"),
                Some("here:7000"),
                Some("here:7000"),
                Some("10.0.0.9:7000"),
                Some("::1:7000"),
                None
            ]
        );
    }

    #[test]
    fn what_is_no_map_is_none() {
        let array = |values: &[Value]| Value::Array(values.to_vec());
        for broken in [
            Value::Nil,
            array(&[Value::Nil]),
            array(&[array(&[])]),
            array(&[row(0, 1, [])]),
            array(&[row(0, 1, [array(&[])])]),
            array(&[row(0, 16_384, [at(bulk("a"), 1)])]),
            array(&[row(-1, 1, [at(bulk("a"), 1)])]),
        ] {
            assert_eq!(Map::read(&broken, "here"), None, "{broken:?}");
        }
    }

    #[test]
    fn a_slot_that_moves_back_and_forth_does_not_make_the_map_grow() {
        let rows = row(0, 9, [at(bulk("a"), 1), at(bulk("c"), 3)]);
        let mut map = Map::read(&Value::Array(std::vec![rows]), "").unwrap();
        for _ in 0..1_000 {
            map.moved(5, "b:2");
            assert_eq!(map.node_of(5), Some("b:2"));
            map.moved(5, "a:1");
            assert_eq!(map.node_of(5), Some("a:1"));
        }
        assert!(map.moved.len() <= 1 && map.ranges.len() == 1);
        assert_eq!((map.masters(), map.replicas()), (std::vec!["a:1".to_string()], &["c:3".to_string()][..]));
    }
}
