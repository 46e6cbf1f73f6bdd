//! Any bytes as lines of both forwarding headers, from any peer, under any trust: whom `ClientAddress` takes for the client.
//!
//! | file | holds |
//! |---|---|
//! | this one | the input, and rules that hold for every answer |
//! | `reading` | the same reading done otherwise: whom the answer must be |

mod reading;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU8;

use admittance::http::{ClientAddress, Forwarding, IpNet};
use admittance::identity::Address;
use http::{HeaderMap, HeaderValue};

use self::reading::Reading;
use super::input::Input;

/// Peers that are worth meeting often.
const PEERS: [&str; 7] =
    ["10.0.0.1", "203.0.113.7", "::ffff:10.0.0.1", "::ffff:203.0.113.7", "2001:db8:1::1", "2001:db8:2::1", "::1"];

/// Networks to trust, one for each bit. Some are written with bits past their length, and some are mapped.
const NETWORKS: [&str; 7] =
    ["10.0.0.0/8", "::ffff:192.0.2.0/120", "2001:db8:1::/48", "203.0.113.7/32", "::/0", "0.0.0.0/0", "::fffe:0:0/95"];

/// What stands left of everything, and must change nothing: what a client may send of itself.
const LEFT: [&str; 5] = ["6.6.6.6", "for=6.6.6.6", "for=\"6.6.6.6", "\"", "for=6.6.6.6;host=\"\\"];

/// Byte 0: the family (bit 0) and, where bit 1 is set, hops (the other bits, and 1). Byte 1: the peer by number, or from 0x80 on
/// one of 4 bytes, from 0xc0 on of 16. Byte 2: a bit for each of the networks, and 0x80 for one more. Then the bytes of the
/// peer; then the network's length, with 0x80 where it is of IPv6, and its bytes. Then lines: of the other family where they
/// begin with `o`, from their second byte on.
pub fn run(data: &[u8]) {
    let mut input = Input(data);
    let Some((header, hops, peer, trusted)) = terms(&mut input) else { return };
    let client = match hops {
        Some(hops) => ClientAddress::behind_hops(hops, trusted.iter().copied(), header),
        None => ClientAddress::behind(trusted.iter().copied(), header),
    };
    let mut headers = HeaderMap::new();
    let mut own = Vec::new();
    for line in input.0.split(|&byte| byte == b'\n') {
        let (family, line) = match line.split_first() {
            Some((b'o', line)) => (other(header), line),
            _ => (header, line),
        };
        if let Ok(value) = HeaderValue::from_bytes(line) {
            headers.append(family.name(), value);
            if family == header {
                own.push(line);
            }
        }
    }
    let ip = client.ip(peer, &headers);
    let reading = Reading { header, hops, trusted: &trusted };
    holds(ip, peer, &own, &reading);
    assert_eq!(client.address(peer, &headers), Address::new(ip));
    assert_eq!(ClientAddress::peer().ip(peer, &headers), peer.to_canonical());

    // The other family is the client's own to write, and so is what stands left.
    headers.remove(other(header).name());
    assert_eq!(client.ip(peer, &headers), ip);
    let (answer, ends) = reading.client(peer, &own);
    assert_eq!(ip, answer);
    for left in LEFT.into_iter().filter(|_| ends) {
        let mut more = HeaderMap::new();
        more.append(header.name(), HeaderValue::from_static(left));
        headers.get_all(header.name()).iter().for_each(|line| _ = more.append(header.name(), line.clone()));
        assert_eq!(client.ip(peer, &more), ip, "behind {left}");
    }
}

/// What holds of the answer, whatever the grammar.
fn holds(ip: IpAddr, peer: IpAddr, lines: &[&[u8]], reading: &Reading<'_>) {
    let peer = peer.to_canonical();
    assert_eq!(ip, ip.to_canonical(), "IPv4 is told as IPv4");
    if !reading.trusts(peer) {
        assert_eq!(ip, peer, "who is not trusted speaks for nobody");
    }
    let is_there = || {
        lines.iter().any(|line| {
            let text = String::from_utf8_lossy(line);
            // An address ends where a mark does; one of IPv4 may have a port after it.
            text.split(|mark: char| !mark.is_ascii_alphanumeric() && !".:".contains(mark)).any(|word| {
                let bare = word.split(':').next().and_then(|word| word.parse::<Ipv4Addr>().ok()).map(IpAddr::V4);
                let whole = word.parse().ok().map(|ip: IpAddr| ip.to_canonical());
                bare == Some(ip) || whole == Some(ip)
            })
        })
    };
    assert!(ip == peer || is_there(), "{ip} is nobody who was named");
}

fn other(header: Forwarding) -> Forwarding {
    match header {
        Forwarding::Forwarded => Forwarding::XForwardedFor,
        Forwarding::XForwardedFor => Forwarding::Forwarded,
    }
}

type Terms = (Forwarding, Option<NonZeroU8>, IpAddr, Vec<IpNet>);

fn terms(input: &mut Input<'_>) -> Option<Terms> {
    let (shape, who, trust) = (input.byte()?, input.byte()?, input.byte()?);
    let header = if shape & 1 == 0 { Forwarding::Forwarded } else { Forwarding::XForwardedFor };
    let hops = NonZeroU8::new((shape >> 2) + 1).filter(|_| shape & 2 != 0);
    let peer = match who {
        0..0x80 => PEERS[usize::from(who) % PEERS.len()].parse().expect("an address"),
        0x80..0xc0 => four(input)?,
        0xc0.. => sixteen(input)?,
    };
    let mut trusted: Vec<IpNet> = (0..NETWORKS.len())
        .filter(|bit| trust >> bit & 1 == 1)
        .map(|bit| NETWORKS[bit].parse().expect("a network"))
        .collect();
    if trust & 0x80 != 0 {
        let length = input.byte()?;
        let ip = if length & 0x80 == 0 { four(input)? } else { sixteen(input)? };
        let most = if ip.is_ipv4() { 33 } else { 129 };
        trusted.push(IpNet::new(ip, (length & 0x7f) % most).expect("a length"));
    }
    Some((header, hops, peer, trusted))
}

fn four(input: &mut Input<'_>) -> Option<IpAddr> {
    Some(Ipv4Addr::from(bytes(input)?).into())
}

fn sixteen(input: &mut Input<'_>) -> Option<IpAddr> {
    Some(Ipv6Addr::from(bytes(input)?).into())
}

fn bytes<const N: usize>(input: &mut Input<'_>) -> Option<[u8; N]> {
    let (bytes, rest) = input.0.split_first_chunk()?;
    input.0 = rest;
    Some(*bytes)
}
