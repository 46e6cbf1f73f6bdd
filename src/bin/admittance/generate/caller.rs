//! How unequal callers are, and what is each one's own.

use std::net::{Ipv4Addr, Ipv6Addr};

use rand_distr::Distribution;
use rand_distr::weighted::WeightedAliasIndex;

use super::draw::{Draw, mix};

/// What browsers, libraries and crawlers call themselves.
const AGENTS: [&str; 12] = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:133.0) Gecko/20100101 Firefox/133.0",
    "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    "python-requests/2.32.3",
    "curl/8.11.0",
    "Go-http-client/1.1",
];

/// Everybody, by rank.
#[derive(Debug)]
pub(super) struct Callers(WeightedAliasIndex<u64>);

impl Callers {
    /// So many, the one of rank `r` (from 1) with a weight of `r` to the power of `-zipf`.
    #[allow(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "weights are between 1 and 2^62")]
    pub(super) fn new(count: u32, zipf: f64) -> Self {
        // As large as their sum can be. Nobody's is nothing.
        let heaviest = (1_u64 << 62) as f64 / f64::from(count);
        let weight = |rank: u32| ((heaviest * libm::pow(f64::from(rank), -zipf)) as u64).max(1);
        let weights = (1..=count).map(weight).collect();
        Self(WeightedAliasIndex::new(weights).expect("there is one, and their sum fits"))
    }

    /// One of them: a rank from 0.
    pub(super) fn draw(&self, draw: &mut Draw) -> u32 {
        self.0.sample(&mut draw.0) as u32
    }
}

/// What is always the same of a caller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    rank: u32,
    mixed: u64,
}

/// As many callers have addresses of the network for tests of speed; more take the private one.
const TEST_NETWORK: u32 = 100_000;

impl Own {
    pub(super) const fn new(rank: u32, seed: u64) -> Self {
        // Counted from 1, so that nothing is a zero, which stays one however it is mixed.
        Self { rank, mixed: mix(mix(!seed) ^ (rank as u64 + 1)) }
    }

    pub(super) const fn is_bursty(self) -> bool {
        self.mixed.is_multiple_of(20)
    }

    pub(super) const fn agent(self) -> &'static str {
        AGENTS[(self.mixed >> 8) as usize % AGENTS.len()]
    }

    /// Its address among `of` callers: no two have the same one.
    pub(super) fn address(self, of: u32) -> Address {
        // Odd multiples keep different ranks apart, and neighbours far from each other.
        let network = (self.rank + 1).wrapping_mul(0x9e37_79b1);
        if (self.mixed >> 16).is_multiple_of(10) {
            let [high, low] = [(network >> 16) as u16, network as u16];
            let host = mix(self.mixed);
            let [a, b, c, d] = [host >> 48, host >> 32, host >> 16, host].map(|part| part as u16);
            return Address::V6(Ipv6Addr::new(0x2001, 0xdb8, high, low, a, b, c, d));
        }
        let (prefix, bits) = if of <= TEST_NETWORK { (0xc612_0000, 17) } else { (0x0a00_0000, 24) };
        Address::V4(Ipv4Addr::from_bits(prefix | (network & ((1 << bits) - 1))))
    }
}

/// Where a caller is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Address {
    V4(Ipv4Addr),
    V6(Ipv6Addr),
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_callers_have_one_address() {
        for count in [100_000, 1_000_000] {
            let all: HashSet<Address> = (0..count).map(|rank| Own::new(rank, 7).address(count)).collect();
            assert_eq!(all.len(), count as usize);
            let six = all.iter().filter(|address| matches!(address, Address::V6(_))).count();
            assert!((count as usize / 11..count as usize / 9).contains(&six), "{six}");
        }
    }

    #[test]
    fn shares_are_zipfs() {
        let (count, draws) = (1_000, 200_000_u32);
        let harmonic: f64 = (1..=count).map(|rank| 1.0 / f64::from(rank)).sum();
        let (callers, mut draw) = (Callers::new(count, 1.0), Draw::new(1, 1));
        let mut seen = vec![0_u32; count as usize];
        (0..draws).for_each(|_| seen[callers.draw(&mut draw) as usize] += 1);
        for rank in [1_u32, 2, 10] {
            let mean = f64::from(draws) / harmonic / f64::from(rank);
            let off = (f64::from(seen[rank as usize - 1]) - mean).abs();
            // Five standard deviations of a count.
            assert!(off < 5.0 * mean.sqrt(), "rank {rank}: {off} off {mean}");
        }
    }
}
