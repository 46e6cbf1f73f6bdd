//! Zstandard, and what is wrong with inputs that are cut short. (More of gzip is in `inputs`.)

use std::fs;
use std::io::Write;
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

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
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
fn an_input_that_is_cut_short_or_damaged_says_what_is_wrong_and_how_far_it_was_read() {
    let whole = three();
    let line = access("192.0.2.1", 0, "5");
    let gz = gzip(&line.repeat(2000));
    let changed = |bytes: &[u8], at: usize| {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= 0x55;
        bytes
    };
    let cut_zstd = "ends in the middle of a zstd frame: it was cut short, or is still being written; ";
    let cut_gzip = "ends in the middle of a gzip member: it was cut short, or is still being written; ";
    let nothing = "nothing in it could be read";
    let one = format!("1 whole line ({} bytes, unpacked) could be read before that", line.len());
    // What a member has is told before its sum is looked at.
    let all_three = format!("3 whole lines ({} bytes, unpacked) could be read before that", 3 * line.len());
    // The checksum is the last four bytes of a frame, and the last eight of a member are its sum and its length.
    let (last, sum) = (whole.len() - 1, gz.len() - 8);
    for (name, bytes, said) in [
        ("cut.zst", whole[..whole.len() / 2].to_vec(), format!("{cut_zstd}{nothing}")),
        ("head.zst", whole[..5].to_vec(), format!("{cut_zstd}{nothing}")),
        ("magic.zst", whole[..3].to_vec(), format!("{cut_zstd}{nothing}")),
        ("sum.zst", whole[..last].to_vec(), format!("{cut_zstd}{nothing}")),
        ("second.zst", [raw(line.as_bytes()), whole[..20].to_vec()].concat(), format!("{cut_zstd}{one}")),
        ("skip.zst", skipped(b"more")[..10].to_vec(), format!("{cut_zstd}{nothing}")),
        ("none.zst", line.clone().into_bytes(), format!("its name says zstd, and it is none; {nothing}")),
        (
            "broken.zst",
            changed(&whole, last),
            format!("is damaged: the checksum of a zstd frame does not match what it holds; {all_three}"),
        ),
        (
            "block.zst",
            changed(&raw(line.as_bytes()), 9),
            format!("is damaged: a block of a zstd frame cannot be unpacked; {nothing}"),
        ),
        (
            "behind.zst",
            [whole.clone(), b"more".to_vec()].concat(),
            format!("is damaged: where a zstd frame would begin, there is something else; {all_three}"),
        ),
        ("head.gz", gz[..1].to_vec(), format!("{cut_gzip}{nothing}")),
        ("none.gz", line.clone().into_bytes(), format!("its name says gzip, and it is none; {nothing}")),
        ("second.gz", [gzip(&line), gz[..8].to_vec()].concat(), format!("{cut_gzip}{one}")),
        (
            "sum.gz",
            changed(&gz, sum),
            format!(
                "is damaged: corrupt gzip stream does not have a matching checksum; 2000 whole lines ({} bytes, unpacked) could \
                 be read before that",
                2000 * line.len()
            ),
        ),
    ] {
        let input = file(name, &bytes);
        let path = input.name();
        let error = run(input).expect_err(name);
        assert!(matches!(error, Error::Read { .. }), "{name}: {error:?}");
        assert_eq!(error.to_string(), format!("{path}: {said}"));
    }
    // A member that ends early has lines, and not all.
    let error = run(file("half.gz", &gz[..gz.len() / 2])).expect_err("it is cut").to_string();
    let (_, lines) = error.split_once(cut_gzip).expect(&error);
    let lines: u64 = lines.split(' ').next().unwrap().parse().expect(&error);
    assert!((1..2000).contains(&lines), "{error}");
    for nothing in ["empty.zst", "empty.gz"] {
        assert_eq!(run(file(nothing, b"")).unwrap().lines, 0);
    }
}
