//! The scripts themselves, with the instant of a test's own: no limiter, no clock.

use redis::Value;

use super::Server;

const SPEND: &str = include_str!("../../../src/redis/spend.lua");
const GIVE_BACK: &str = include_str!("../../../src/redis/give_back.lua");

/// A connection that scripts are called over.
pub(crate) struct Scripts(redis::Connection);

/// What `spend.lua` answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) now: u64,
    /// What is gone and as of when, a limit each.
    pub(crate) states: Vec<(u64, u64)>,
    pub(crate) taken: Vec<u64>,
}

impl Scripts {
    pub(crate) fn of(server: &Server) -> Self {
        Self(redis::Client::open(server.url()).unwrap().get_connection().unwrap())
    }

    /// An instant later than any that this test lives to see, so that nothing expires: in microseconds since 1970.
    pub(crate) fn tomorrow(&mut self) -> u64 {
        let (seconds, _): (u64, u64) = redis::cmd("TIME").query(&mut self.0).unwrap();
        (seconds + 86_400) * 1_000_000
    }

    /// Spends at an instant; at the server's where there is none.
    pub(crate) fn spend(
        &mut self,
        now: Option<u64>,
        limits: &[(&str, [u64; 3])],
        requests: &[(u64, u64)],
    ) -> redis::RedisResult<Answer> {
        let mut command = redis::cmd("EVAL");
        command.arg(SPEND).arg(limits.len());
        for (key, _) in limits {
            command.arg(*key);
        }
        command.arg(now.map_or(String::new(), |now| now.to_string()));
        for (_, terms) in limits {
            command.arg(text(terms));
        }
        for (least, most) in requests {
            command.arg(if least == most { least.to_string() } else { format!("{least} {most}") });
        }
        let bytes: Vec<u8> = command.query(&mut self.0)?;
        let number = |bytes: &[u8]| {
            let number = f64::from_le_bytes(bytes.try_into().unwrap());
            assert!(number >= 0.0 && number < 2_f64.powi(53) && number.fract() == 0.0, "{number}");
            format!("{number:.0}").parse::<u64>().unwrap()
        };
        let numbers: Vec<u64> = bytes.chunks(8).map(number).collect();
        let states = numbers[1..=2 * limits.len()].chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        Ok(Answer { now: numbers[0], states, taken: numbers[1 + 2 * limits.len()..].to_vec() })
    }

    /// Spends on one limit: what was taken, and the answer.
    pub(crate) fn spend_one(&mut self, now: u64, key: &str, terms: [u64; 3], cost: u64) -> (bool, Answer) {
        let answer = self.spend(Some(now), &[(key, terms)], &[(cost, cost)]).unwrap();
        (answer.taken[0] >= cost, answer)
    }

    /// Gives a lease back.
    pub(crate) fn give_back(
        &mut self,
        now: u64,
        lease: &str,
        limits: &[(&str, [u64; 3])],
        (tokens, granted, until): (u64, u64, u64),
    ) -> bool {
        let mut command = redis::cmd("EVAL");
        command.arg(GIVE_BACK).arg(limits.len() + 1).arg(lease);
        for (key, _) in limits {
            command.arg(*key);
        }
        command.arg(now).arg(tokens).arg(granted).arg(until);
        for (_, terms) in limits {
            command.arg(text(terms));
        }
        match command.query(&mut self.0).unwrap() {
            Value::Int(0) => false,
            Value::Int(1) => true,
            other => panic!("give_back.lua answered {other:?}"),
        }
    }
}

fn text([first, second, third]: &[u64; 3]) -> String {
    format!("{first} {second} {third}")
}

/// How long until `cost` passes, in a test's own words: the smallest wait for which enough has come back.
pub(crate) fn wait(answer: &Answer, [p, d, full]: [u64; 3], cost: u64) -> u64 {
    let (gone, as_of) = answer.states[0];
    let short = i128::from(gone) + i128::from(cost) * i128::from(d) - i128::from(full);
    let after = (short.max(0) + i128::from(p) - 1) / i128::from(p);
    u64::try_from(i128::from(as_of) + after - i128::from(answer.now)).unwrap()
}
