//! Runs the program.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{fs, thread};

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

/// `admittance` with these arguments, before anything is said of its streams.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_admittance"));
    command.args(args).current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

/// Runs `admittance` on some standard input.
pub(crate) fn run(args: &[&str], stdin: impl AsRef<[u8]>) -> Run {
    let mut child = command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program was built for this test");
    let mut input = child.stdin.take().expect("it was asked for");
    let bytes = stdin.as_ref().to_vec();
    // On a thread, because the program may write before it has read everything. It may also stop reading, which is no fault.
    let writer = thread::spawn(move || drop(input.write_all(&bytes)));
    let output = child.wait_with_output().expect("it was started");
    writer.join().expect("writing does not panic");
    let text = |bytes| String::from_utf8(bytes).expect("it writes UTF-8");
    Run { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code().unwrap_or(-1) }
}

/// As [`run`], and it must succeed and have nothing to remark.
pub(crate) fn quiet(args: &[&str], stdin: impl AsRef<[u8]>) -> String {
    let run = run(args, stdin);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args:?}");
    run.stdout
}

/// A file of one test's own.
pub(crate) fn file(name: &str, bytes: impl AsRef<[u8]>) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cli");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path.into_os_string().into_string().unwrap()
}

/// A line of an access log, at so many seconds after 10:00 UTC of a day in 2015.
pub(crate) fn access(address: &str, seconds: u64, bytes: u64) -> String {
    let (minutes, seconds) = (seconds / 60, seconds % 60);
    format!(
        "{address} - - [17/May/2015:10:{minutes:02}:{seconds:02} +0000] \"GET / HTTP/1.1\" 200 {bytes} \"-\" \"curl\"\n"
    )
}
