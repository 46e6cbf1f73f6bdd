//! Lines, counts and the summary; the same for any number of threads.

use std::collections::BTreeMap;

use admittance::replay::{Bar, Decided, Error, Input, Outcome, Replay};
use rayon::ThreadPoolBuilder;

use crate::support::{Owned, SECOND, access, bucket, call, decide, window};

const BAD: &str = "what is this?\n";

/// Some thousand lines of many keys, in bursts, a little out of order, now and then one that cannot be read.
fn busy_log(lines: u64) -> String {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    (0..lines)
        .map(|number| match next(500) {
            0 => BAD.into(),
            1 => "\r\n".into(),
            _ => {
                let key = next(30) * next(30);
                access(
                    &format!("192.0.2.{key}"),
                    (number / 40 + next(7)).saturating_sub(3) % 36_000,
                    &next(9_999).to_string(),
                )
            }
        })
        .collect()
}

/// Every decision as JSON, and the summary.
fn told(replay: &Replay, log: &str, threads: usize) -> (Vec<u8>, String) {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let mut decisions = Vec::new();
    let tell = |decided: Decided<'_>| decided.write_json(&mut decisions).unwrap();
    let summary = pool.install(|| replay.run_bytes(log.as_bytes(), tell)).unwrap();
    assert!(summary.denied > 100, "{summary:?}");
    (decisions, serde_json::to_string(&summary).unwrap())
}

#[test]
fn any_number_of_threads_decides_the_same() {
    let log = busy_log(6_000);
    for replay in [Replay::new(bucket(5, 1)), Replay::new(window(3, 10)), Replay::new(bucket(3, 2)).sort(true)] {
        let one = told(&replay, &log, 1);
        for threads in [2, 3, 8] {
            assert!(told(&replay, &log, threads) == one, "{threads} threads decide otherwise: {replay:?}");
        }
    }
}

#[test]
fn buckets_and_line_numbers_pass_from_one_block_to_the_next() {
    let log = busy_log(56_000);
    assert!(log.len() > 4 << 20, "it is one block");
    let replay = Replay::new(bucket(5, 1));
    let (decisions, summary) = told(&replay, &log, 2);
    assert!(told(&replay, &log, 3) == (decisions.clone(), summary));
    // The same lines in files of less than a block.
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    let files: Vec<Input> = lines.chunks(9_000).map(|some| Input::Bytes(some.concat().into_bytes().into())).collect();
    let mut by_file = Vec::new();
    replay.run_to(&files, &mut by_file).unwrap();
    assert!(by_file == decisions);
    // The first bad line is in the second block.
    let mut lines: Vec<&str> = lines.into_iter().filter(|line| *line != BAD).collect();
    lines.insert(lines.len() - 5, BAD);
    let (_, summary) = decide(&replay, lines.concat());
    assert_eq!(summary.bad_lines.iter().map(|bad| bad.line).collect::<Vec<_>>(), [lines.len() as u64 - 5]);
}

#[test]
fn the_summary_is_the_sum_of_the_decisions() {
    let log = busy_log(8_000);
    let (decisions, summary) = decide(&Replay::new(bucket(5, 1)), &log);
    let mut keys: BTreeMap<&[u8], [u64; 3]> = BTreeMap::new();
    for decided in &decisions {
        let counts = keys.entry(&decided.key).or_default();
        counts[0] += 1;
        match decided.outcome {
            Outcome::Admitted { .. } => {}
            Outcome::Denied { .. } => counts[1] += 1,
            Outcome::Never => counts[2] += 1,
        }
    }
    let sum = |which: usize| keys.values().map(|counts| counts[which]).sum::<u64>();
    assert_eq!((summary.denied, summary.never), (sum(1), sum(2)));
    assert_eq!(summary.admitted, decisions.len() as u64 - sum(1) - sum(2));
    assert_eq!(summary.decided() + summary.unreadable, summary.lines);
    assert_eq!(summary.lines, log.lines().filter(|line| !line.trim().is_empty()).count() as u64);
    assert_eq!(summary.unreadable, log.matches(BAD).count() as u64);
    assert_eq!(summary.keys, keys.len() as u64);
    assert_eq!(summary.keys_denied, keys.values().filter(|counts| counts[1] > 0).count() as u64);
    let times = || decisions.iter().map(|decided| decided.time);
    assert_eq!(summary.span, times().min().zip(times().max()));
    let backwards = decisions.windows(2).filter(|pair| pair[1].time < pair[0].time).count();
    assert_eq!(summary.out_of_order, backwards as u64);

    let mut most: Vec<_> = keys.iter().filter(|(_, counts)| counts[1] > 0).collect();
    most.sort_by_key(|(name, counts)| (std::cmp::Reverse(counts[1]), **name));
    let told = summary.most_denied.iter().map(|key| (key.key.as_slice(), [key.lines, key.denied, key.never]));
    assert!(told.eq(most.into_iter().take(10).map(|(name, counts)| (*name, *counts))));

    for bar in &summary.timeline {
        let Bar { from_ns, length_ns, lines, denied, .. } = *bar;
        let inside = |decided: &&Owned| (from_ns..from_ns + length_ns).contains(&decided.time);
        let is_denied = |decided: &&Owned| matches!(decided.outcome, Outcome::Denied { .. });
        assert_eq!(lines, decisions.iter().filter(inside).count() as u64);
        assert_eq!(denied, decisions.iter().filter(inside).filter(is_denied).count() as u64);
    }
    assert_eq!(summary.timeline.iter().map(|bar| bar.lines).sum::<u64>(), summary.decided());
}

#[test]
fn keys_denied_as_often_are_told_in_order_of_their_bytes() {
    let log: String = (0..20).rev().map(|key| call(0, &format!("k{key:02}"), 1).repeat(2)).collect();
    let (_, summary) = decide(&Replay::new(bucket(1, 1)), log);
    let told: Vec<_> = summary.most_denied.iter().map(|key| String::from_utf8_lossy(&key.key).into_owned()).collect();
    assert_eq!(told, (0..10).map(|key| format!("k{key:02}")).collect::<Vec<_>>());
    assert_eq!(summary.keys_denied, 20);
}

#[test]
fn what_is_never_admitted_is_not_counted_as_denied() {
    let log = [call(0, "big", 9), call(0, "big", 1), call(0, "big", 1), call(SECOND, "huge", 10)].concat();
    let (_, summary) = decide(&Replay::new(bucket(1, 1)), log);
    assert_eq!((summary.admitted, summary.denied, summary.never), (1, 1, 2));
    assert_eq!((summary.keys, summary.keys_denied, summary.keys_never, summary.largest_cost), (2, 1, 2, 10));
    let [key] = summary.most_denied.as_slice() else { panic!("{:?}", summary.most_denied) };
    assert_eq!((key.key.as_slice(), key.lines, key.denied, key.never), (&b"big"[..], 3, 1, 1));
    let bars = || summary.timeline.iter();
    assert_eq!(bars().map(|bar| bar.denied).sum::<u64>(), 1);
    assert_eq!(bars().map(|bar| bar.never).sum::<u64>(), 2);
}

#[test]
fn a_strict_replay_stops_at_the_first_bad_line_and_decides_no_later_one() {
    let good: Vec<String> = busy_log(3_000).split_inclusive('\n').filter(|line| *line != BAD).map(Into::into).collect();
    let decided = good.iter().filter(|line| !line.trim().is_empty()).count();
    // Many lines after it, which other threads parse meanwhile.
    let log = [good.concat(), BAD.into(), good.concat()].concat();
    for threads in [1, 2, 8] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut told = 0;
        let stopped = pool.install(|| Replay::new(bucket(5, 1)).strict(true).run_bytes(log.as_bytes(), |_| told += 1));
        let Err(Error::Unreadable(bad)) = stopped else { panic!("{stopped:?}") };
        assert_eq!((bad.line, told), (good.len() as u64 + 1, decided));
    }
}
