//! Who the client is: the socket's peer, or whom trusted proxies say they speak for.
//!
//! | file | holds |
//! |---|---|
//! | this one | [`ClientAddress`]: whom to believe, and where to stop |
//! | `forwarding` | [`Forwarding`]: a header's elements, from the right |
//! | `forwarded` | what an element of `Forwarded` (RFC 7239) says |
//! | `node` | an address as proxies write it: ports, brackets |

mod forwarded;
mod forwarding;
mod node;

use core::net::IpAddr;
use core::num::NonZeroU8;
use std::vec::Vec;

use ::http::HeaderMap;
pub use forwarding::Forwarding;
use ipnet::{IpNet, Ipv4Net};

use crate::identity::{Address, AddressError};

/// Finds the client's address of a request.
///
/// A client can write any forwarding header it likes, and a proxy appends to what it was sent: the right end is the
/// proxies' own, the left end is anybody's. So a header is believed only from a peer that is trusted, and is read **from
/// the right**: each element names who spoke to the proxy that wrote it. Reading goes on while that one is trusted too;
/// the first who is not is the client. All lines of the header are one list, in order.
///
/// ```
/// use admittance::http::{ClientAddress, Forwarding};
/// use http::{HeaderMap, HeaderValue};
///
/// let client = ClientAddress::behind(["10.0.0.0/8".parse()?], Forwarding::Forwarded).with_ipv6_prefix(56)?;
/// let mut headers = HeaderMap::new();
/// headers.append("forwarded", HeaderValue::from_static("for=6.6.6.6"));
/// headers.append("forwarded", HeaderValue::from_static(r#"for="[2001:db8:cafe::17]:4711";proto=https, for=10.0.0.2"#));
/// assert_eq!(client.address("10.0.0.1".parse()?, &headers).to_string(), "2001:db8:cafe::/56");
/// // Not from a proxy: what it says of itself is not asked.
/// assert_eq!(client.address("203.0.113.7".parse()?, &headers).to_string(), "203.0.113.7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What stops it
///
/// An element that names nobody (`unknown`, an obfuscated `_name`, no `for`, two of them, a port above 65535, a name of a
/// host, bytes that are not ASCII, a quotation without an end) is where reading stops, and the answer is the last who was
/// found: the proxy that wrote it. It is never skipped: what stands left of it is not vouched for. An empty element is none,
/// and is passed over. All elements trusted: the leftmost.
///
/// Any bytes are fine, nothing is allocated, and time is linear in the header's length.
///
/// # What it does not promise
///
/// That your proxies write the header: one that passes on what it was sent, and adds nothing, lets its clients choose
/// their address. Nor that they write it well: one that puts a client's text into `Forwarded` unquoted lets it end the
/// element.
#[derive(Clone, Debug)]
pub struct ClientAddress {
    /// Canonical: a network of mapped addresses is IPv4. Empty where no header is believed.
    trusted: Vec<IpNet>,
    header: Forwarding,
    reach: Reach,
    /// From 1 to 128.
    ipv6_prefix: u8,
}

/// How far a trusted peer's header is read.
#[derive(Clone, Copy, Debug)]
enum Reach {
    /// While it names somebody trusted.
    Trusted,
    /// So many elements.
    Hops(NonZeroU8),
}

impl ClientAddress {
    /// The socket's peer is the client, and no header is believed: right where no proxy is between.
    #[must_use]
    pub const fn peer() -> Self {
        Self {
            trusted: Vec::new(),
            header: Forwarding::Forwarded,
            reach: Reach::Trusted,
            ipv6_prefix: Address::IPV6_PREFIX,
        }
    }

    /// Behind proxies of these networks, which write this header. The first address from the right that is in none of the
    /// networks is the client.
    ///
    /// A network `::ffff:10.0.0.0/104` is `10.0.0.0/8`, as such addresses are IPv4; `::/0` has no IPv4 address in it. No
    /// networks at all are [`peer`](Self::peer). Name the proxies, not `0.0.0.0/0`: with everybody trusted the leftmost
    /// element is the client, and that one is anybody's to write.
    #[must_use]
    pub fn behind(trusted: impl IntoIterator<Item = IpNet>, header: Forwarding) -> Self {
        Self { trusted: trusted.into_iter().map(canonical).collect(), header, ..Self::peer() }
    }

    /// Behind exactly so many proxies, of which the last connects from these networks: the element so many from the right
    /// is the client. For proxies whose addresses are not known, as a cloud's.
    ///
    /// Of fewer elements the leftmost is taken. Whoever can reach the last proxy past the others chooses its address; where
    /// that can be, name the networks instead.
    #[must_use]
    pub fn behind_hops(hops: NonZeroU8, trusted: impl IntoIterator<Item = IpNet>, header: Forwarding) -> Self {
        Self { reach: Reach::Hops(hops), ..Self::behind(trusted, header) }
    }

    /// So many bits of an IPv6 address are one client's; 64 unless this says otherwise.
    ///
    /// # Errors
    ///
    /// When the length is not from 1 to 128.
    pub fn with_ipv6_prefix(mut self, ipv6_prefix: u8) -> Result<Self, AddressError> {
        Address::with_prefix([0; 16].into(), ipv6_prefix)?;
        self.ipv6_prefix = ipv6_prefix;
        Ok(self)
    }

    /// The client, as a budget knows it. `peer` is who the socket is connected to.
    #[must_use]
    pub fn address(&self, peer: IpAddr, headers: &HeaderMap) -> Address {
        Address::of(self.ip(peer, headers), self.ipv6_prefix)
    }

    /// The client's whole address, for a log. One that is IPv4 is told as IPv4, however it was written.
    #[must_use]
    pub fn ip(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer.to_canonical();
        if !self.trusts(client) {
            return client;
        }
        let lines = headers.get_all(self.header.name()).into_iter().rev();
        for (element, number) in lines.flat_map(|line| self.header.nodes(line.as_bytes())).zip(1_u64..) {
            let Some(node) = element else { return client };
            client = node.to_canonical();
            let ends = match self.reach {
                Reach::Trusted => !self.trusts(client),
                Reach::Hops(hops) => number == u64::from(hops.get()),
            };
            if ends {
                return client;
            }
        }
        client
    }

    fn trusts(&self, ip: IpAddr) -> bool {
        self.trusted.iter().any(|network| network.contains(&ip))
    }
}

/// The network of IPv4 that mapped addresses stand for, where it is one.
fn canonical(network: IpNet) -> IpNet {
    let mapped = match (network.addr().to_canonical(), network.prefix_len().checked_sub(96)) {
        (IpAddr::V4(ip), Some(prefix)) if matches!(network, IpNet::V6(_)) => Ipv4Net::new(ip, prefix).ok(),
        _ => None,
    };
    mapped.map_or(network, IpNet::V4)
}
