//! The reading of a forwarding header, done otherwise than by the crate: by what elements are, not by where commas may stand.
//!
//! An element of `Forwarded` is **the shortest end of the line, after a comma, that is well-formed from its left**. No such end
//! begins within a quotation of an element that is well-formed: it would have the closing mark and not the opening one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU8;

use admittance::http::{Forwarding, IpNet};

/// Whom to believe, and how far.
pub(super) struct Reading<'t> {
    pub(super) header: Forwarding,
    pub(super) hops: Option<NonZeroU8>,
    pub(super) trusted: &'t [IpNet],
}

impl Reading<'_> {
    /// Who the client is, and whether something has ended the reading before the header's left end.
    pub(super) fn client(&self, peer: IpAddr, lines: &[&[u8]]) -> (IpAddr, bool) {
        let mut client = peer.to_canonical();
        if !self.trusts(client) {
            return (client, true);
        }
        let mut nodes: Vec<Option<IpAddr>> = lines.iter().rev().flat_map(|line| self.nodes(line)).collect();
        nodes.truncate(self.hops.map_or(usize::MAX, |hops| hops.get().into()));
        let counted = self.hops.is_some_and(|hops| nodes.len() == usize::from(hops.get()));
        for node in nodes {
            let Some(node) = node else { return (client, true) };
            client = node.to_canonical();
            if self.hops.is_none() && !self.trusts(client) {
                return (client, true);
            }
        }
        (client, counted)
    }

    /// By bits of 128: an IPv4 address is its mapped form, and networks shorter than the mapped one have none in them.
    pub(super) fn trusts(&self, ip: IpAddr) -> bool {
        let bits = |ip: IpAddr| match ip {
            IpAddr::V4(ip) => ip.to_ipv6_mapped().to_bits(),
            IpAddr::V6(ip) => ip.to_bits(),
        };
        self.trusted.iter().any(|network| {
            let length = u32::from(network.prefix_len()) + if network.addr().is_ipv4() { 96 } else { 0 };
            let differ = (bits(ip) ^ bits(network.addr())).checked_shr(128 - length).unwrap_or(0);
            differ == 0 && (length >= 96 || ip.is_ipv6())
        })
    }

    /// Whom a line names, from the right, up to what names nobody.
    fn nodes(&self, line: &[u8]) -> Vec<Option<IpAddr>> {
        // A byte is a character here: what is not ASCII stays so, and stays one.
        let line: String = line.iter().map(|&byte| char::from(byte)).collect();
        match self.header {
            Forwarding::XForwardedFor => line
                .split(',')
                .rev()
                .map(|text| text.trim_matches([' ', '\t']))
                .filter(|text| !text.is_empty())
                .map(listed)
                .collect(),
            Forwarding::Forwarded => ends(&line),
        }
    }
}

fn ends(line: &str) -> Vec<Option<IpAddr>> {
    let (mut found, mut rest) = (Vec::new(), Some(line));
    while let Some(line) = rest {
        let starts = line.match_indices(',').map(|(at, _)| at + 1).rev().chain([0]);
        let Some((start, node)) =
            starts.map(|start| (start, element(&line[start..]))).find(|(_, node)| *node != Node::Broken)
        else {
            found.push(None);
            break;
        };
        match node {
            Node::Nothing | Node::Broken => {}
            Node::Names(node) => found.push(node),
        }
        rest = start.checked_sub(1).map(|comma| &line[..comma]);
    }
    found
}

/// What an end of a line is.
#[derive(PartialEq, Eq)]
enum Node {
    Nothing,
    Broken,
    /// Pairs, and who their one `for` is, if anybody.
    Names(Option<IpAddr>),
}

fn element(text: &str) -> Node {
    let text = text.trim_matches([' ', '\t']);
    if text.is_empty() {
        return Node::Nothing;
    }
    let Some(pairs) = pairs(text) else { return Node::Broken };
    let fors: Vec<_> = pairs.iter().filter(|(name, _)| name.eq_ignore_ascii_case("for")).collect();
    Node::Names(match fors[..] {
        [(_, value)] => node(value),
        _ => None,
    })
}

/// The pairs between semicolons. None where one is not well-formed.
fn pairs(text: &str) -> Option<Vec<(&str, &str)>> {
    let (mut parts, mut from, mut state) = (Vec::new(), 0, Quote::Outside);
    for (at, mark) in text.char_indices() {
        state = match (state, mark) {
            (Quote::Outside, ';') => {
                parts.push(&text[from..at]);
                from = at + 1;
                Quote::Outside
            }
            // What stands between elements stands in none.
            (Quote::Outside, ',') => return None,
            (Quote::Outside, '"') | (Quote::Escaped, _) => Quote::Inside,
            (Quote::Inside, '"') => Quote::Outside,
            (Quote::Inside, '\\') => Quote::Escaped,
            (state, _) => state,
        };
    }
    parts.push(&text[from..]);
    if state != Quote::Outside || !text.is_ascii() {
        return None;
    }
    parts.into_iter().map(|part| part.trim_matches([' ', '\t'])).filter(|part| !part.is_empty()).map(pair).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    Outside,
    Inside,
    Escaped,
}

fn pair(part: &str) -> Option<(&str, &str)> {
    const MARKS: &str = "!#$%&'*+-.^_`|~";
    let (name, value) = part.split_once('=')?;
    let is_token = |text: &str, more: &str| {
        !text.is_empty()
            && text.chars().all(|mark| mark.is_ascii_alphanumeric() || MARKS.contains(mark) || more.contains(mark))
    };
    let value = match value.strip_prefix('"') {
        // The scan has seen it closed; a mark within is escaped, or there would be something after the closing one.
        Some(value) => value.strip_suffix('"').filter(|value| !value.is_empty() && is_closed_once(value))?,
        None => Some(value).filter(|value| is_token(value, ":[]"))?,
    };
    is_token(name, "").then_some((name, value))
}

/// Whether no mark in it ends the quotation before its end.
fn is_closed_once(value: &str) -> bool {
    let rest = value.replace("\\\\", "").replace("\\\"", "");
    !rest.contains('"') && !rest.ends_with('\\')
}

/// An address of `Forwarded`: brackets around IPv6, and a port or none.
fn node(text: &str) -> Option<IpAddr> {
    host(text).or_else(|| {
        let (text, port) = text.rsplit_once(':')?;
        let is_number = || {
            (1..=5).contains(&port.len())
                && port.chars().all(|digit| digit.is_ascii_digit())
                && port.parse::<u32>().is_ok_and(|port| port <= 65_535)
        };
        let is_hidden = || {
            port.len() > 1
                && port.starts_with('_')
                && port.chars().all(|mark| mark.is_ascii_alphanumeric() || "._-".contains(mark))
        };
        host(text).filter(|_| is_number() || is_hidden())
    })
}

fn host(text: &str) -> Option<IpAddr> {
    match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        Some(text) => text.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => text.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
    }
}

/// An address of `X-Forwarded-For`, quoted or not.
fn listed(text: &str) -> Option<IpAddr> {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    node(inner).or_else(|| inner.parse::<Ipv6Addr>().ok().map(IpAddr::V6))
}
