//! Who shares one budget, and who never does.

use std::hash::Hasher;

use admittance::identity::{Account, Address, Credential, Identity, Kind, Pepper, Session, Tenant};
use admittance::{Budget, Keyed, Overflow};
use proptest::prelude::*;

/// Keeps what it is fed.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("nobody asks")
    }
}

fn fed(identity: &impl Identity) -> Vec<u8> {
    let mut bytes = Bytes::default();
    identity.feed(&mut bytes);
    bytes.0
}

#[test]
fn an_identity_is_tag_length_and_bytes() {
    assert_eq!(fed(&Account::new("ann").unwrap()), b"\x01\x03\0\0\0\0\0\0\0ann");
    assert_eq!(fed(&"1.2.3.4".parse::<Address>().unwrap()), b"\x03\x04\0\0\0\0\0\0\0\x01\x02\x03\x04");
    // Of an IPv6 network the length of its prefix, too.
    let network = "102:304:506:708::/63".parse::<Address>().unwrap();
    assert_eq!(fed(&network), b"\x03\x11\0\0\0\0\0\0\0\x01\x02\x03\x04\x05\x06\x07\x08\0\0\0\0\0\0\0\0\x3f");
    let credential = fed(&Credential::new("x", &Pepper::new([0; 16])).unwrap());
    assert_eq!((&credential[..9], credential.len()), (&b"\x02\x10\0\0\0\0\0\0\0"[..], 9 + 16));
    let pair = (Tenant::new("t").unwrap(), Account::new("a").unwrap());
    assert_eq!(fed(&pair), b"\x06\x04\x01\0\0\0\0\0\0\0t\x01\x01\0\0\0\0\0\0\0a");
}

#[test]
fn kinds_that_are_spelled_alike_do_not_meet() {
    let seen = [
        fed(&Account::new("x").unwrap()),
        fed(&Tenant::new("x").unwrap()),
        fed(&Session::new("x").unwrap()),
        fed(&Credential::new("x", &Pepper::new([0; 16])).unwrap()),
    ];
    for (number, one) in seen.iter().enumerate() {
        assert!(seen[number + 1..].iter().all(|other| other != one));
    }
}

#[test]
fn an_owned_and_a_borrowed_identity_are_one() {
    let (owned, borrowed) = (Account::new(String::from("ann")).unwrap(), Account::new("ann").unwrap());
    assert_eq!(owned, borrowed);
    assert_eq!(fed(&owned), fed(&borrowed));
    assert_eq!(fed(&owned.borrowed()), fed(&&borrowed));
    assert_eq!(format!("{owned:?} {:?}", Session::new(b"\xff\"").unwrap()), r#"Account("ann") Session("\xff\"")"#);
}

#[test]
fn an_empty_identity_is_an_error_and_not_a_bucket_for_all() {
    let errors = [
        Account::new("").unwrap_err(),
        Tenant::new("").unwrap_err(),
        Session::new("").unwrap_err(),
        Credential::new("", &Pepper::random()).unwrap_err(),
    ];
    for (error, kind) in errors.iter().zip(["account", "tenant", "session", "credential"]) {
        assert_eq!(error.kind(), kind);
        assert!(
            error
                .to_string()
                .starts_with(&format!("{kind}: is empty, and would put all clients without one into one bucket"))
        );
    }
}

#[test]
fn a_credential_keeps_and_prints_nothing_of_the_secret() {
    let secret = "correct horse battery staple";
    let pepper = Pepper::new(*b"0123456789abcdef");
    let credential = Credential::new(secret, &pepper).unwrap();
    assert!(!fed(&credential).windows(4).any(|part| secret.as_bytes().windows(4).any(|other| other == part)));
    assert_eq!(format!("{credential:?} {pepper:?}"), "Credential(..) Pepper(..)");
    // SipHash-2-4-128 as its authors publish it: key 00 to 0f, input 00.
    let key = Pepper::new(std::array::from_fn(|at| at as u8));
    let one = fed(&Credential::new([0], &key).unwrap());
    assert_eq!(
        one[9..],
        [0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34, 0x76, 0x59, 0x11, 0x9b, 0x22, 0xfc, 0x45]
    );
    assert_ne!(credential, Credential::new(secret, &Pepper::new([0; 16])).unwrap());
    assert_ne!(
        Credential::new(secret, &Pepper::random()).unwrap(),
        Credential::new(secret, &Pepper::random()).unwrap()
    );
}

#[test]
fn addresses_are_told_apart_as_clients_are() {
    let address = |text: &str| text.parse::<Address>().unwrap();
    assert_eq!(address("::ffff:1.2.3.4"), address("1.2.3.4"));
    assert_eq!(address("::ffff:102:304"), address("1.2.3.4"));
    // Not the mapped form: IPv4-compatible, and one bit off.
    assert_ne!(address("::1.2.3.4"), address("1.2.3.4"));
    assert_ne!(address("::fffe:1.2.3.4"), address("1.2.3.4"));
    // Every IPv4 address is one client, though all of them mapped are in one IPv6 /64.
    assert_ne!(address("1.2.3.4"), address("1.2.3.5"));
    assert_ne!(address("::ffff:1.2.3.4"), address("::ffff:1.2.3.5"));
    assert_eq!(address("2001:db8::1"), address("2001:db8::2"));
    assert_ne!(address("2001:db8::1"), address("2001:db8:0:1::1"));

    let at = |text: &str, prefix| Address::with_prefix(text.parse().unwrap(), prefix).unwrap();
    assert_eq!(at("2001:db8:0:1::1", 48), at("2001:db8::1", 48));
    assert_ne!(at("2001:db8::", 48), at("2001:db8::", 64));
    assert_ne!(fed(&at("2001:db8::", 48)), fed(&at("2001:db8::", 64)));
    assert_ne!(at("2001:db8::1", 128), at("2001:db8::2", 128));
    assert_eq!(at("1.2.3.4", 1), address("1.2.3.4"));
    assert_eq!((at("ffff::", 1).to_string(), at("::1", 128).to_string()), ("8000::/1".into(), "::1/128".into()));
    assert_eq!((at("::1", 128).prefix(), address("1.2.3.4").prefix()), (128, 32));

    for text in ["1.2.3.4", "2001:db8::/64", "2001:db8::/48", "8000::/1", "::1/128"] {
        assert_eq!((address(text).to_string(), address(&address(text).to_string())), (text.into(), address(text)));
    }
    assert_eq!(address("2001:db8::1/48"), at("2001:db8::", 48));

    for prefix in [0, 129, 255] {
        let error = Address::with_prefix("::1".parse().unwrap(), prefix).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("prefix: {prefix} is not from 1 to 128; one IPv6 client has 64 most often")
        );
    }
    for text in
        ["", "1.2.3", "1.2.3.4:80", "[::1]", "unknown", "01.2.3.4", "1.2.3.4/32", "::/", "::/+64", "::/256", "/64"]
    {
        assert!(text.parse::<Address>().unwrap_err().to_string().starts_with("address: is not"), "{text}");
    }
}

#[test]
fn kinds_have_the_names_that_policies_say() {
    fn names<I: Identity>(_: &I) -> Vec<&'static str> {
        let mut names = Vec::new();
        I::Kind::names(&mut |name| names.push(name));
        names
    }
    let (tenant, account) = (Tenant::new("t").unwrap(), Account::new("a").unwrap());
    let address = Address::new([1, 2, 3, 4].into());
    assert_eq!(names(&account), ["account"]);
    assert_eq!(names(&(tenant, account)), ["tenant", "account"]);
    assert_eq!(names(&(tenant, account, address)), ["tenant", "account", "address"]);
}

#[test]
fn a_table_tells_identities_apart() {
    let builder = || Keyed::builder(Budget::per_day(1), 100, Overflow::Deny);
    let pairs: Keyed<(Tenant<&str>, Account<&str>)> = builder().build().unwrap();
    for (tenant, account) in [("a_b", "c"), ("a", "b_c"), ("a_", "b_c"), ("a_b_", "c")] {
        let pair = (Tenant::new(tenant).unwrap(), Account::new(account).unwrap());
        assert!(pairs.check(&pair, 1).is_admitted(), "{pair:?}");
        assert!(pairs.check(&pair, 1).is_denied(), "{pair:?}");
    }
}

/// Any identity, as a number of its kind and its bytes.
fn any_fed() -> impl Strategy<Value = (String, Vec<u8>)> {
    fn text() -> impl Strategy<Value = Vec<u8>> {
        // Few bytes, and those that encodings are made of.
        prop::collection::vec(prop_oneof![Just(0), Just(1), Just(2), Just(3), Just(b'a'), any::<u8>()], 1..24)
    }
    let one = prop_oneof![
        text().prop_map(|bytes| (format!("account {bytes:?}"), fed(&Account::new(&bytes).unwrap()))),
        text().prop_map(|bytes| (format!("tenant {bytes:?}"), fed(&Tenant::new(&bytes).unwrap()))),
        text().prop_map(|bytes| (format!("session {bytes:?}"), fed(&Session::new(&bytes).unwrap()))),
        any::<[u8; 16]>().prop_map(|ip| {
            let address = Address::new(ip.into());
            (format!("{address:?}"), fed(&address))
        }),
    ];
    let pair = (text(), text()).prop_map(|(one, other)| {
        (format!("{one:?} {other:?}"), fed(&(Tenant::new(&one).unwrap(), Account::new(&other).unwrap())))
    });
    let nested = (text(), text(), text()).prop_map(|(a, b, c)| {
        let [a, b, c] = [&a, &b, &c].map(|bytes| Account::new(bytes).unwrap());
        (format!("(({a:?} {b:?}) {c:?})"), fed(&((a, b), c)))
    });
    let triple = (text(), text(), text()).prop_map(|(a, b, c)| {
        let triple = (Tenant::new(&a).unwrap(), Account::new(&b).unwrap(), Session::new(&c).unwrap());
        (format!("{triple:?}"), fed(&triple))
    });
    prop_oneof![one, pair, nested, triple]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 8 } else { 2_000 }))]

    #[test]
    fn no_two_identities_feed_the_same(one in any_fed(), other in any_fed()) {
        prop_assert_eq!(one.0 == other.0, one.1 == other.1, "{} and {}", one.0, other.0);
        // Nor does one begin another: a hasher that is fed both has been fed one thing.
        prop_assert!(one.1 == other.1 || !one.1.starts_with(&other.1));
    }
}
