//! An address as proxies write it.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::str;

/// A node of RFC 7239, section 6: `192.0.2.1`, `192.0.2.1:4711`, `[2001:db8::1]`, `[2001:db8::1]:4711`. A port may be
/// obfuscated, as `_web`. Anything else names nobody.
pub(super) fn strict(text: &[u8]) -> Option<IpAddr> {
    let text = str::from_utf8(text).ok()?;
    let (ip, port) = if let Some(text) = text.strip_prefix('[') {
        let (ip, rest) = text.split_once(']')?;
        let port = if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) };
        (IpAddr::V6(ip.parse::<Ipv6Addr>().ok()?), port)
    } else {
        let (ip, port) = text.split_once(':').map_or((text, None), |(ip, port)| (ip, Some(port)));
        (IpAddr::V4(ip.parse::<Ipv4Addr>().ok()?), port)
    };
    port.is_none_or(is_port).then_some(ip)
}

/// An element of `X-Forwarded-For`, which no document defines: a node, quoted or not, or an IPv6 address without brackets
/// (and then without a port).
pub(super) fn loose(text: &[u8]) -> Option<IpAddr> {
    let text = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(text);
    let bare = || str::from_utf8(text).ok()?.parse::<Ipv6Addr>().ok().map(IpAddr::V6);
    strict(text).or_else(bare)
}

fn is_port(text: &str) -> bool {
    match text.strip_prefix('_') {
        Some(name) => {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        }
        // Digits alone: the parser of numbers would take `+80` as well.
        None => text.len() <= 5 && text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok(),
    }
}
