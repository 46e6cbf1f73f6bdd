//! Where a request came from.

use core::fmt;
use core::hash::Hasher;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::str::FromStr;

use super::{Identity, Tag, hash_by_feeding, kind};

/// A client's address, or the network that one client has.
///
/// - An IPv4 address is one client's, however it is written: `::ffff:1.2.3.4` (RFC 4291, section 2.5.5.2) is `1.2.3.4`.
/// - Of an IPv6 address the first 64 bits are one client's: a host has all addresses of its /64 (RFC 4291, section 2.5.1), and a
///   budget for each of them would be no limit. Where your clients have more, say [`Address::with_prefix`].
///
/// Networks of different lengths are different identities, whatever their bits.
///
/// ```
/// use admittance::identity::Address;
///
/// let [one, other, third] = ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"].map(|text| text.parse::<Address>().unwrap());
/// assert_eq!(one, other);
/// assert_ne!(one, third);
/// assert_eq!(one.to_string(), "2001:db8::/64");
/// ```
///
/// Which address that is behind a proxy is not decided here: this type takes what it is given. See `http::ClientAddress`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// The network: bits past the prefix are 0.
    network: IpAddr,
    prefix: u8,
}

/// What is wrong with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressError(Fault);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Prefix(u8),
    Text,
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Fault::Prefix(given) => {
                write!(f, "prefix: {given} is not from 1 to 128; one IPv6 client has 64 most often")
            }
            Fault::Text => {
                f.write_str("address: is not an IPv4 or IPv6 address, as in 192.0.2.1 2001:db8::1 or 2001:db8::/48")
            }
        }
    }
}

impl core::error::Error for AddressError {}

impl Address {
    /// Bits of an IPv6 address that are one client's, if nobody says otherwise.
    pub const IPV6_PREFIX: u8 = 64;

    /// The client of this address; of IPv6 its /64.
    #[must_use]
    pub const fn new(ip: IpAddr) -> Self {
        Self::of(ip, Self::IPV6_PREFIX)
    }

    /// The client of this address, where one IPv6 client has a network of this length. An IPv4 address is whole.
    ///
    /// # Errors
    ///
    /// When the length is not from 1 to 128.
    pub const fn with_prefix(ip: IpAddr, ipv6_prefix: u8) -> Result<Self, AddressError> {
        match ipv6_prefix {
            1..=128 => Ok(Self::of(ip, ipv6_prefix)),
            _ => Err(AddressError(Fault::Prefix(ipv6_prefix))),
        }
    }

    /// As [`with_prefix`](Self::with_prefix), for a length that was found to be from 1 to 128.
    pub(crate) const fn of(ip: IpAddr, ipv6_prefix: u8) -> Self {
        // By bits: the mapped form is `::ffff:0:0/96` and nothing else.
        let mapped = match ip {
            IpAddr::V4(ip) => Some(ip),
            IpAddr::V6(ip) => ip.to_ipv4_mapped(),
        };
        match (mapped, ip) {
            (Some(ip), _) | (None, IpAddr::V4(ip)) => Self { network: IpAddr::V4(ip), prefix: 32 },
            (None, IpAddr::V6(ip)) => {
                let mask = u128::MAX << (128 - ipv6_prefix as u32);
                Self { network: IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & mask)), prefix: ipv6_prefix }
            }
        }
    }

    /// The address, or the first of its network.
    #[must_use]
    pub const fn network(&self) -> IpAddr {
        self.network
    }

    /// Bits of it that count: 32 for IPv4.
    #[must_use]
    pub const fn prefix(&self) -> u8 {
        self.prefix
    }
}

impl From<IpAddr> for Address {
    fn from(ip: IpAddr) -> Self {
        Self::new(ip)
    }
}

impl From<Ipv4Addr> for Address {
    fn from(ip: Ipv4Addr) -> Self {
        Self::new(ip.into())
    }
}

impl From<Ipv6Addr> for Address {
    fn from(ip: Ipv6Addr) -> Self {
        Self::new(ip.into())
    }
}

impl FromStr for Address {
    type Err = AddressError;

    /// Reads `192.0.2.1`, `2001:db8::1` (its /64), and `2001:db8::/48`: what `Display` writes, too.
    fn from_str(text: &str) -> Result<Self, AddressError> {
        let wrong = AddressError(Fault::Text);
        let Some((ip, prefix)) = text.split_once('/') else { return text.parse().map(Self::new).map_err(|_| wrong) };
        // Digits alone: the parser of numbers would take `+64` as well.
        let digits = !prefix.starts_with('+');
        match (ip.parse(), prefix.parse()) {
            (Ok(IpAddr::V6(ip)), Ok(prefix)) if digits => Self::with_prefix(ip.into(), prefix),
            _ => Err(wrong),
        }
    }
}

impl Identity for Address {
    type Kind = kind::Address;

    #[inline]
    fn feed(&self, to: &mut impl Hasher) {
        match self.network {
            IpAddr::V4(ip) => Tag::Address.feed_few(ip.octets(), to),
            IpAddr::V6(ip) => {
                let mut bytes = [0; 17];
                bytes[..16].copy_from_slice(&ip.octets());
                bytes[16] = self.prefix;
                Tag::Address.feed_few(bytes, to);
            }
        }
    }
}

hash_by_feeding!(Address);

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.network {
            IpAddr::V4(ip) => write!(f, "{ip}"),
            IpAddr::V6(ip) => write!(f, "{ip}/{}", self.prefix),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}
