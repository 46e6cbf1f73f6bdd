//! Zstandard. (Gzip is in `inputs`.)

use std::fs;
use std::path::PathBuf;

use admittance::replay::{Error, Input, Replay, Summary};

use crate::support::{access, bucket};

/// `access("192.0.2.1", 0, "5")` three times, as `zstd` 1.5 compresses it, with a checksum.
fn three() -> Vec<u8> {
    fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/replay/three.log.zst")).unwrap()
}

/// A frame of one raw block, without a checksum (RFC 8878, section 3.1.1).
fn raw(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap();
    // A descriptor of a single segment whose size has four bytes, and then the size; the header of a last raw block.
    let block = (length << 3 | 1).to_le_bytes();
    [&[0x28, 0xb5, 0x2f, 0xfd, 0b1010_0000][..], &length.to_le_bytes(), &block[..3], bytes].concat()
}

/// A frame that is to be skipped.
fn skipped(bytes: &[u8]) -> Vec<u8> {
    [&[0x53, 0x2a, 0x4d, 0x18][..], &u32::try_from(bytes.len()).unwrap().to_le_bytes(), bytes].concat()
}

fn file(name: &str, bytes: &[u8]) -> Input {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("replay");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), bytes).unwrap();
    Input::File(folder.join(name))
}

fn run(input: Input) -> Result<Summary, Error> {
    Replay::new(bucket(2, 1)).run(&[input])
}

#[test]
fn zstd_is_seen_by_its_ending_and_by_its_first_bytes() {
    let line = access("192.0.2.1", 0, "5");
    let members = [raw(line.as_bytes()), skipped(b"an index"), raw((line.clone() + &line).as_bytes())].concat();
    let first_skipped = [skipped(b""), members.clone()].concat();
    // A line may go on in the next frame.
    let (one, rest) = line.as_bytes().split_at(20);
    let cut = [raw(one), raw(rest), raw(line.repeat(2).as_bytes())].concat();
    for (name, bytes) in
        [("a.log.zst", three()), ("zstd", three()), ("b.ZSTD", members), ("skipped", first_skipped), ("cut", cut)]
    {
        let summary = run(file(name, &bytes)).unwrap();
        assert_eq!((summary.lines, summary.denied, summary.unreadable), (3, 1, 0), "{name}");
        assert_eq!(run(Input::Bytes(bytes.into())).unwrap().lines, 3, "{name}");
    }
}

#[test]
fn zstd_that_is_cut_short_or_broken_is_an_error_with_the_files_name() {
    let whole = three();
    let mut broken = whole.clone();
    // The checksum is the last four bytes.
    *broken.last_mut().unwrap() ^= 1;
    let cut = |at: usize| whole[..at].to_vec();
    for (name, bytes) in [
        ("cut.zst", cut(whole.len() / 2)),
        ("head.zst", cut(5)),
        ("sum.zst", cut(whole.len() - 1)),
        ("none.zst", b"192.0.2.1 - -".to_vec()),
        ("broken.zst", broken),
        ("behind.zst", [whole.clone(), b"more".to_vec()].concat()),
        ("skip.zst", skipped(b"more")[..10].to_vec()),
    ] {
        let error = run(file(name, &bytes)).expect_err(name);
        assert!(matches!(error, Error::Read { .. }), "{name}: {error:?}");
        assert!(error.to_string().contains(&format!("{name}: ")), "{error}");
    }
    assert!(run(file("empty.zst", b"")).unwrap().lines == 0);
}
