//! A server of a test's own.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use redis::Value;

pub(crate) struct Server {
    process: Child,
    port: u16,
    dir: PathBuf,
    args: Vec<String>,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// With more arguments, as `--maxmemory 2mb`.
    pub(crate) fn start_with(args: &[&str]) -> Self {
        Self::start_at(free_port(), args)
    }

    /// On a port that the caller knows to be free.
    pub(crate) fn start_at(port: u16, args: &[&str]) -> Self {
        let dir = std::env::temp_dir().join(format!("admittance-redis-{}-{port}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let args: Vec<_> = args.iter().map(|&arg| arg.to_owned()).collect();
        let process = spawn(port, &dir, &args);
        let server = Self { process, port, dir, args };
        server.wait_until_up();
        server
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// As the plug does it. Nothing is kept.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// After [`kill`](Self::kill), on the same port.
    pub(crate) fn restart(&mut self) {
        self.process = spawn(self.port, &self.dir, &self.args);
        self.wait_until_up();
    }

    /// Runs one command over a connection of its own.
    pub(crate) fn run(&self, words: &[&str]) -> redis::RedisResult<Value> {
        let client = redis::Client::open(self.url())?;
        let mut connection = client.get_connection()?;
        let mut command = redis::cmd(words[0]);
        for word in &words[1..] {
            command.arg(*word);
        }
        command.query(&mut connection)
    }

    pub(crate) fn get(&self, key: &str) -> Option<String> {
        redis::from_redis_value(self.run(&["GET", key]).unwrap()).unwrap()
    }

    pub(crate) fn number(&self, words: &[&str]) -> i64 {
        redis::from_redis_value(self.run(words).unwrap()).unwrap()
    }

    /// How often the server has run a command, as `evalsha`.
    pub(crate) fn calls_of(&self, command: &str) -> u64 {
        let stats: String = redis::from_redis_value(self.run(&["INFO", "commandstats"]).unwrap()).unwrap();
        let line = stats.lines().find_map(|line| line.strip_prefix(&format!("cmdstat_{command}:calls=")));
        line.map_or(0, |line| line.split(',').next().unwrap().parse().unwrap())
    }

    fn wait_until_up(&self) {
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() || self.run(&["PING"]).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(20), "redis-server does not come up on port {}", self.port);
            // There is nothing to wait on: the server tells nobody that it is up.
            sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// A port that nobody listens on now.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn spawn(port: u16, dir: &PathBuf, args: &[String]) -> Child {
    let log = fs::File::create(dir.join("log")).unwrap();
    Command::new(program())
        .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port", &port.to_string()])
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(log)
        .spawn()
        .unwrap()
}

/// The server's program: the one that the environment says, or on the path, or installed now.
fn program() -> &'static str {
    const NAMES: [&str; 2] = ["redis-server", "valkey-server"];
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        if let Ok(said) = std::env::var("ADMITTANCE_REDIS_SERVER") {
            return said;
        }
        let there = |name: &&str| Command::new(name).arg("--version").stdout(Stdio::null()).status().is_ok();
        if let Some(name) = NAMES.iter().find(|name| there(name)) {
            return (*name).to_owned();
        }
        let _ = Command::new("apt-get").args(["install", "-y", "redis-server"]).stdout(Stdio::null()).status();
        let installed = NAMES.iter().find(|name| there(name)).expect(
            "these tests need a real redis-server (6.2 or later) or valkey-server on the path: \
             apt-get install redis-server, or see https://redis.io/docs/latest/operate/oss_and_stack/install/",
        );
        (*installed).to_owned()
    })
}
