//! Several inputs in order of time.

use std::io::Write;
use std::time::Duration;

use admittance::replay::{Error, Input, Reading, Replay};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use crate::support::{bucket, call, key_of};

fn inputs(logs: &[String]) -> Vec<Input> {
    logs.iter().map(|log| Input::Bytes(log.clone().into_bytes().into())).collect()
}

/// The times and keys of the decisions, in order.
fn merged(inputs: &[Input]) -> (Vec<(u64, String)>, admittance::replay::Summary) {
    let mut told = Vec::new();
    let replay = Replay::new(bucket(1 << 32, 1)).reading(Reading::new().merge(true));
    let summary = replay.run_with(inputs, |decided| {
        told.push((decided.time, key_of(&decided)));
        Ok(())
    });
    (told, summary.unwrap())
}

/// What merging should give: again and again the earliest of all next lines, the first input's where two are the same.
fn simply(logs: &[Vec<u64>]) -> Vec<(u64, String)> {
    let mut next = vec![0; logs.len()];
    std::iter::from_fn(|| {
        let (_, input) = (0..logs.len()).filter_map(|input| Some((*logs[input].get(next[input])?, input))).min()?;
        next[input] += 1;
        Some((logs[input][next[input] - 1], input.to_string()))
    })
    .collect()
}

#[test]
fn lines_come_in_order_of_time_and_ties_in_order_of_inputs() {
    let times = [vec![1, 5, 5, 9], vec![5, 6, 2, 10], vec![0, 5, 20]];
    let logs: Vec<String> = times
        .iter()
        .enumerate()
        .map(|(input, times)| times.iter().map(|&time| call(time, &input.to_string(), 1)).collect())
        .collect();
    let (told, summary) = merged(&inputs(&logs));
    assert_eq!(told, simply(&times));
    // One input goes back in time, and it is taken as it comes.
    assert_eq!((summary.out_of_order, summary.lines), (1, 11));
}

#[test]
fn a_limit_across_servers_is_decided_as_their_requests_came() {
    // Each of two servers has every other request of one caller.
    let log = |first: u64| (0..50).map(|number| call((first + 2 * number) * 1_000, "a", 1)).collect::<String>();
    let limit = admittance::Rule::TokenBucket(admittance::Budget::new(1, 1, Duration::from_micros(1)).unwrap());
    let logs = inputs(&[log(0), log(1)]);
    let apart = Replay::new(limit).run(&logs).unwrap();
    let together = Replay::new(limit).reading(Reading::new().merge(true)).run(&logs).unwrap();
    assert_eq!((together.denied, together.decided_late), (0, 0));
    assert!(apart.denied > 0 && apart.decided_late > 0);
}

#[test]
fn lines_that_cannot_be_read_keep_their_numbers_and_their_inputs() {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let write = |name: &str, log: &str| {
        std::fs::write(folder.join(name), log).unwrap();
        Input::File(folder.join(name))
    };
    let one = write("merge-one.log", &format!("?\n\n{}bad\n{}", call(1, "a", 1), call(9, "a", 1)));
    let two = write("merge-two.log", &format!("{}\r\n{}worse", call(0, "b", 1), call(5, "b", 1).replace('\n', "\r\n")));
    let (told, summary) = merged(&[one.clone(), two.clone()]);
    assert_eq!(told.iter().map(|(time, _)| *time).collect::<Vec<_>>(), [0, 1, 5, 9]);
    let mut bad: Vec<_> =
        summary.bad_lines.iter().map(|bad| (bad.input.rsplit('/').next().unwrap(), bad.line)).collect();
    bad.sort_unstable();
    assert_eq!(bad, [("merge-one.log", 1), ("merge-one.log", 4), ("merge-two.log", 4)]);
    assert_eq!((summary.lines, summary.unreadable), (7, 3));
    // Strict stops at the first in the merged order, with what was decided before it.
    let mut decisions = Vec::new();
    let strict = Replay::new(bucket(9, 1)).reading(Reading::new().merge(true).strict(true));
    let error = strict.run_to(&[two, one], &mut decisions).unwrap_err();
    assert!(
        matches!(&error, Error::Unreadable(bad) if bad.line == 1 && bad.input.ends_with("merge-one.log")),
        "{error}"
    );
    assert_eq!(String::from_utf8(decisions).unwrap().lines().count(), 1);
}

#[test]
fn compressed_and_large_inputs_are_merged_block_by_block() {
    let lines = 120_000_u64;
    let log = |first: u64| (0..lines).map(|number| call(first + 3 * number, "a", 1)).collect::<String>();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(log(1).as_bytes()).unwrap();
    let long = format!("{}{}\n", log(2), "x".repeat(3 << 20));
    let all = [
        Input::Bytes(log(0).into_bytes().into()),
        Input::Bytes(gzip.finish().unwrap().into()),
        Input::Bytes(long.into_bytes().into()),
    ];
    let (told, summary) = merged(&all);
    assert!(told.iter().map(|(time, _)| *time).eq(0..3 * lines));
    assert_eq!((summary.out_of_order, summary.unreadable, summary.bad_lines[0].line), (0, 1, lines + 1));
    assert!(summary.bad_lines[0].error.to_string().contains("a line of at most 1 MiB"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn merging_is_what_it_is_said_to_be(times in prop::collection::vec(prop::collection::vec(0..20_u64, 0..12), 0..5)) {
        let logs: Vec<String> = times
            .iter()
            .enumerate()
            .map(|(input, times)| times.iter().map(|&time| call(time, &input.to_string(), 1)).collect())
            .collect();
        prop_assert_eq!(merged(&inputs(&logs)).0, simply(&times));
    }
}
