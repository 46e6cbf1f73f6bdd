//! Any two identities: they feed the same exactly when they are the same, and neither begins the other.

use std::hash::Hasher;

use admittance::identity::{Account, Address, Identity, Session, Tenant};

use super::input::Input;

/// Keeps what it is fed.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

fn fed(identity: &impl Identity) -> Vec<u8> {
    let mut bytes = Bytes::default();
    identity.feed(&mut bytes);
    bytes.0
}

/// What it is, in words, and what it feeds.
type Told = (String, Vec<u8>);

fn part<'d>(input: &mut Input<'d>) -> Option<&'d [u8]> {
    let length = usize::from(input.byte()? % 12) + 1;
    let (part, rest) = input.0.split_at_checked(length)?;
    input.0 = rest;
    Some(part)
}

fn one(input: &mut Input<'_>) -> Option<Told> {
    let (kind, bytes) = (input.byte()?, part(input)?);
    let told = |name: &str, fed: Vec<u8>| (format!("{name} {bytes:?}"), fed);
    Some(match kind % 7 {
        0 => told("account", fed(&Account::new(bytes).ok()?)),
        1 => told("tenant", fed(&Tenant::new(bytes).ok()?)),
        2 => told("session", fed(&Session::new(bytes).ok()?)),
        3 => {
            let mut octets = [0; 16];
            octets[..bytes.len()].copy_from_slice(bytes);
            let address = Address::with_prefix(octets.into(), kind / 2 + 1).ok()?;
            (address.to_string(), fed(&address))
        }
        4 => {
            let mut octets = [0; 4];
            octets.iter_mut().zip(bytes).for_each(|(octet, byte)| *octet = *byte);
            let address = Address::new(octets.into());
            (address.to_string(), fed(&address))
        }
        5 => {
            let other = part(input)?;
            let pair = (Tenant::new(bytes).ok()?, Account::new(other).ok()?);
            (format!("{bytes:?} {other:?}"), fed(&pair))
        }
        _ => {
            let (other, third) = (part(input)?, part(input)?);
            let triple = (Tenant::new(bytes).ok()?, Account::new(other).ok()?, Session::new(third).ok()?);
            (format!("{bytes:?} {other:?} {third:?}"), fed(&triple))
        }
    })
}

/// Two identities, one after the other.
pub fn run(data: &[u8]) {
    let mut input = Input(data);
    let (Some(one), Some(other)) = (one(&mut input), one(&mut input)) else { return };
    assert_eq!(one.0 == other.0, one.1 == other.1, "{} and {}", one.0, other.0);
    assert!(
        one.1 == other.1 || !one.1.starts_with(&other.1) && !other.1.starts_with(&one.1),
        "{} begins {}",
        one.0,
        other.0
    );
}
