//! The program on a terminal: what is on its screen, and what it leaves behind.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};

/// How long something may take that should be there at once.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program on a terminal of its own, with a pipe for its standard input.
pub(crate) struct Terminal {
    seen: Arc<(Mutex<Seen>, Condvar)>,
    master: Box<dyn MasterPty + Send>,
    keys: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    /// What its standard input comes from, until it is taken away.
    pub(crate) log: Option<File>,
    /// What the terminal was set to before the program had it.
    before: String,
}

/// All that was written to the terminal.
struct Seen {
    parser: vt100::Parser,
    bytes: Vec<u8>,
    /// Whether nobody has the terminal any more.
    closed: bool,
}

impl Terminal {
    /// Starts `admittance`, on 24 lines of 100 columns. `streams` is what a shell makes of the program's other streams, as in
    /// `2> /dev/null`; nothing leaves them with the terminal.
    pub(crate) fn start(name: &str, args: &[&str], streams: &str) -> Self {
        let pipe = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.{}.pipe", std::process::id()));
        let _ = fs::remove_file(&pipe);
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let pair = native_pty_system().openpty(size(24, 100)).unwrap();
        let mut shell = CommandBuilder::new("/bin/sh");
        // Opened by the shell before the program is there: so the log's other end can be opened here.
        shell.args(["-c", &format!(r#"exec "$0" "$@" < "$LOG" {streams}"#), env!("CARGO_BIN_EXE_admittance")]);
        shell.args(args);
        shell.env("LOG", &pipe);
        shell.env("TERM", "xterm-256color");
        shell.cwd(env!("CARGO_MANIFEST_DIR"));
        let before = settings(&*pair.master);
        let child = pair.slave.spawn_command(shell).unwrap();
        drop(pair.slave);
        let seen = Seen { parser: vt100::Parser::new(24, 100, 0), bytes: Vec::new(), closed: false };
        let seen = Arc::new((Mutex::new(seen), Condvar::new()));
        see(pair.master.try_clone_reader().unwrap(), Arc::clone(&seen));
        let log = File::options().write(true).open(&pipe).unwrap();
        fs::remove_file(pipe).unwrap();
        let keys = pair.master.take_writer().unwrap();
        Self { seen, master: pair.master, keys, child, log: Some(log), before }
    }

    /// Writes to its log.
    pub(crate) fn feed(&mut self, lines: &str) {
        self.log.as_mut().expect("it has not ended").write_all(lines.as_bytes()).unwrap();
    }

    /// Types.
    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    pub(crate) fn resize(&mut self, lines: u16, columns: u16) {
        self.seen.0.lock().unwrap().parser.screen_mut().set_size(lines, columns);
        self.master.resize(size(lines, columns)).unwrap();
    }

    /// Waits until what was seen is as expected.
    fn until(&self, what: &str, is_so: impl Fn(&Seen) -> bool) {
        let (seen, news) = &*self.seen;
        let start = Instant::now();
        let mut now = seen.lock().unwrap();
        while !is_so(&now) {
            let left = PATIENCE.checked_sub(start.elapsed()).filter(|_| !now.closed || what == CLOSED);
            let Some(left) = left else {
                let contents = now.parser.screen().contents();
                // Whoever reads goes on reading.
                drop(now);
                panic!("waited for {what}, and there is\n{contents}")
            };
            now = news.wait_timeout(now, left).unwrap().0;
        }
    }

    /// Waits until a text is on the screen.
    pub(crate) fn shows(&self, text: &str) {
        self.until(text, |seen| seen.parser.screen().contents().contains(text));
    }

    /// Waits until the screen is as expected.
    pub(crate) fn shows_that(&self, what: &str, is_so: impl Fn(&vt100::Screen) -> bool) {
        self.until(what, |seen| is_so(seen.parser.screen()));
    }

    pub(crate) fn screen(&self) -> vt100::Screen {
        self.seen.0.lock().unwrap().parser.screen().clone()
    }

    /// The words of the first row that has all of these.
    pub(crate) fn row(&self, words: &[&str]) -> Option<Vec<String>> {
        row(&self.screen(), words)
    }

    /// Everything that was ever written to the terminal.
    pub(crate) fn written(&self) -> String {
        String::from_utf8_lossy(&self.seen.0.lock().unwrap().bytes).into_owned()
    }

    /// Waits until the program has ended, and sees that the terminal is as it was.
    pub(crate) fn ends(&mut self) -> ExitStatus {
        self.until(CLOSED, |seen| seen.closed);
        let screen = self.screen();
        assert!(!screen.alternate_screen() && !screen.hide_cursor(), "{}", screen.contents());
        assert_eq!(settings(&*self.master), self.before);
        self.child.wait().unwrap()
    }

    /// Asks the program to end.
    pub(crate) fn terminate(&self) {
        let id = self.child.process_id().unwrap().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A test that failed leaves nobody behind.
        let _ = self.child.kill();
    }
}

const CLOSED: &str = "the end of the program";

/// The words of the first row that has all of these.
pub(crate) fn row(screen: &vt100::Screen, words: &[&str]) -> Option<Vec<String>> {
    let (_, columns) = screen.size();
    let mut rows = screen.rows(0, columns);
    let row = rows.find(|row| words.iter().all(|word| row.contains(word)))?;
    Some(row.split(['│', ' ']).filter(|word| !word.is_empty()).map(String::from).collect())
}

fn size(lines: u16, columns: u16) -> PtySize {
    PtySize { rows: lines, cols: columns, pixel_width: 0, pixel_height: 0 }
}

fn settings(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios().expect("it is a terminal").local_flags)
}

/// Looks at the terminal until nobody has it any more.
fn see(mut from: Box<dyn Read + Send>, seen: Arc<(Mutex<Seen>, Condvar)>) {
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        loop {
            let read = from.read(&mut bytes).unwrap_or(0);
            let (seen, news) = &*seen;
            let mut seen = seen.lock().unwrap();
            seen.parser.process(&bytes[..read]);
            seen.bytes.extend_from_slice(&bytes[..read]);
            seen.closed = read == 0;
            news.notify_all();
            if read == 0 {
                return;
            }
        }
    });
}
