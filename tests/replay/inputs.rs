//! Where lines come from: files, gzip, several as one, long lines, odd bytes.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use admittance::replay::{Error, Input, Replay, Summary};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::{access, bucket, call, decide, outcomes};

/// A file of this test's own.
fn file(name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("replay");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes.as_ref()).unwrap();
    encoder.finish().unwrap()
}

fn run(paths: &[PathBuf]) -> Result<(String, Summary), Error> {
    let inputs: Vec<_> = paths.iter().cloned().map(Input::File).collect();
    let mut decisions = Vec::new();
    let summary = Replay::new(bucket(2, 1)).run_to(&inputs, &mut decisions)?;
    Ok((String::from_utf8(decisions).unwrap(), summary))
}

#[test]
fn gzip_is_seen_by_its_ending_and_by_its_first_bytes() {
    let log = access("192.0.2.1", 0, "5").repeat(3);
    let plain = run(&[file("plain.log", &log)]).unwrap();
    assert_eq!(plain.1.denied, 1);
    // Several members, as log rotation that appends leaves them.
    let (one, rest) = log.split_at(log.len() / 2);
    let members = [gzip(one), gzip(rest)].concat();
    for path in [file("a.log.gz", gzip(&log)), file("without-its-ending", gzip(&log)), file("members.GZ", members)] {
        assert_eq!(run(&[path]).unwrap().0, plain.0);
    }
}

#[test]
fn gzip_that_is_cut_short_or_is_none_is_an_error_with_the_files_name() {
    let mut cut = gzip(access("192.0.2.1", 0, "5").repeat(1000));
    cut.truncate(cut.len() / 2);
    for path in [file("cut.gz", cut), file("none.gz", "192.0.2.1 - -")] {
        let error = run(std::slice::from_ref(&path)).unwrap_err();
        assert!(matches!(error, Error::Read { .. }), "{error:?}");
        assert!(error.to_string().starts_with(&format!("{}: ", path.display())), "{error}");
    }
}

#[test]
fn several_files_are_one_stream_with_their_own_line_numbers() {
    // The first has no line break at its end: its last line is not the beginning of the next file's first.
    let first = file("first.log", access("192.0.2.1", 0, "5").repeat(2).trim_end());
    let second = file("second.log.gz", gzip(format!("\n?\n{}", access("192.0.2.1", 0, "5"))));
    let (decisions, summary) = run(&[first.clone(), second.clone(), first]).unwrap();
    assert_eq!(decisions.lines().count(), 5);
    assert_eq!((summary.lines, summary.admitted, summary.denied, summary.keys), (6, 2, 3, 1));
    let [bad] = summary.bad_lines.as_slice() else { panic!("{:?}", summary.bad_lines) };
    assert_eq!((bad.input.as_str(), bad.line), (second.to_str().unwrap(), 2));
}

#[test]
fn a_file_that_is_not_there_is_found_missing_before_the_others_are_read() {
    let here = file("here.log", access("192.0.2.1", 0, "5"));
    let missing = here.with_file_name("missing.log");
    let mut decisions = Vec::new();
    let inputs = [Input::File(here.clone()), Input::File(missing.clone())];
    let error = Replay::new(bucket(1, 1)).run_to(&inputs, &mut decisions).unwrap_err();
    assert!(error.to_string().starts_with(&format!("{}: ", missing.display())), "{error}");
    assert!(decisions.is_empty());
    let folder = here.parent().unwrap().to_path_buf();
    assert!(run(&[folder]).is_err());
}

#[test]
fn progress_counts_bytes_before_they_are_unzipped_and_lines() {
    let log = access("192.0.2.1", 0, "5").repeat(100);
    let zipped = gzip(&log);
    let replay = Replay::new(bucket(1, 1));
    let progress = replay.progress();
    let input = Input::File(file("progress.gz", &zipped));
    assert_eq!(input.size(), Some(zipped.len() as u64));
    replay.run(&[input]).unwrap();
    assert_eq!((progress.bytes(), progress.lines()), (zipped.len() as u64, 100));
}

#[test]
fn line_ends_and_odd_bytes_do_not_matter() {
    let replay = Replay::new(bucket(1, 1));
    let line = access("192.0.2.1", 0, "5");
    let line = line.trim_end();
    for log in [format!("{line}\r\n{line}"), format!("\n\n{line}\n \t\r\n{line}\n\n"), format!("{line}\n{line}\r\n")] {
        assert_eq!(outcomes(&replay, &log), "+0 -1000000000", "{log:?}");
        assert_eq!(decide(&replay, &log).1.lines, 2);
    }
    let odd = [b"\x00\xff\n".as_slice(), line.as_bytes(), b"\n\xfe\xff\x00\n", line.as_bytes()].concat();
    let (decisions, summary) = decide(&replay, odd);
    assert_eq!((decisions.len(), summary.unreadable), (2, 2));
}

#[test]
fn keys_that_look_the_same_in_json_are_different_buckets() {
    let log = [
        b"\xff".as_slice(),
        access("", 0, "5").as_bytes(),
        b"\xfe",
        access("", 0, "5").as_bytes(),
        b"\xff",
        access("", 0, "5").as_bytes(),
    ]
    .concat();
    let replay = Replay::new(bucket(1, 1));
    assert_eq!(outcomes(&replay, &log), "+0 +0 -1000000000");
    assert_eq!(decide(&replay, &log).1.keys, 2);
    let mut json = Vec::new();
    replay.run_bytes(&log, |decided| decided.write_json(&mut json).unwrap()).unwrap();
    let lines: Vec<serde_json::Value> =
        json.split(|&b| b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    assert!(lines.len() == 3 && lines.iter().all(|line| line["key"] == "\u{fffd}"), "{lines:?}");
}

#[test]
fn a_line_that_is_too_long_is_one_that_cannot_be_read() {
    const LONGEST: usize = 1 << 20;
    let line = |length: usize| {
        let start = "192.0.2.1 - - [17/May/2015:10:00:00 +0000] \"";
        format!("{start}{}", "x".repeat(length - start.len()))
    };
    let good = access("192.0.2.1", 0, "5");
    for (length, decided) in [(LONGEST, 3), (LONGEST + 1, 2), (3 << 20, 2), (9 << 20, 2), (30 << 20, 2)] {
        let (decisions, summary) = decide(&Replay::new(bucket(9, 1)), format!("{good}{}\n{good}?\n", line(length)));
        assert_eq!((decisions.len(), summary.lines), (decided, 4), "{length}");
        assert_eq!(summary.bad_lines.last().map(|bad| bad.line), Some(4), "{length}");
        if decided == 2 {
            let bad = &summary.bad_lines[0];
            assert_eq!(bad.line, 2);
            assert!(bad.to_string().contains("a line of at most 1 MiB"), "{bad}");
        }
        // At the very end, without a line break.
        let (decisions, summary) = decide(&Replay::new(bucket(9, 1)), format!("{good}{}", line(length)));
        assert_eq!((decisions.len(), summary.lines), (decided - 1, 2), "{length}");
    }
}

#[test]
fn decisions_that_cannot_be_written_stop_it() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let input = Input::Bytes(call(0, "a", 1).into_bytes().into());
    let error = Replay::new(bucket(1, 1)).run_to(&[input], &mut Full).unwrap_err();
    assert!(matches!(error, Error::Write(_)) && error.to_string().starts_with("decisions: "), "{error}");
}
