//! A polite crawler: `cargo run --release --example wait`.
//!
//! Three threads follow the links of a site (a small real one, on the loopback) and together ask it for at most twenty
//! pages a second, two at once. Nobody polls: each thread reserves its page, and sleeps until the promised instant. One
//! with a deadline is told at once that it will not be served in time, and spends nothing.

use std::collections::{BTreeSet, VecDeque};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use admittance::{Budget, Decision, TokenBucket};

const PAGES: usize = 24;

fn main() -> std::io::Result<()> {
    let site = serve()?;
    let bucket = TokenBucket::new(Budget::per_second(20).with_capacity(2));
    let queue = Mutex::new((VecDeque::from([0]), BTreeSet::from([0])));
    let start = Instant::now();

    thread::scope(|scope| {
        for name in ["ant", "bee", "cat"] {
            let (bucket, queue) = (&bucket, &queue);
            scope.spawn(move || {
                while let Some(page) = next(queue) {
                    // In the order of asking, never early, and no timer but this thread's own sleep.
                    if bucket.wait(1).is_admitted() {
                        println!("{:>7.1?}  {name}  /{page}", start.elapsed());
                        follow(&fetch(site, page).unwrap_or_default(), queue);
                    }
                }
            });
        }
    });
    println!(
        "{PAGES} pages in {:.2?}; two at once and 20 a second make {:.2?}",
        start.elapsed(),
        Duration::from_millis(1100)
    );

    // Spend what is there, and ask for more than can be had in time.
    let _ = bucket.try_acquire_up_to(u64::MAX);
    if let Decision::Denied(denial) = bucket.wait_within(2, Duration::from_millis(20)) {
        println!("not within 20 ms; it could have gone in {:.1?}, and nothing was spent", denial.retry_after());
    }
    Ok(())
}

type Queue = Mutex<(VecDeque<usize>, BTreeSet<usize>)>;

fn next(queue: &Queue) -> Option<usize> {
    for _ in 0..50 {
        if let Some(page) = queue.lock().expect("no thread panics").0.pop_front() {
            return Some(page);
        }
        // Another thread may be about to find links.
        thread::sleep(Duration::from_millis(5));
    }
    None
}

fn follow(body: &str, queue: &Queue) {
    let mut queue = queue.lock().expect("no thread panics");
    for link in body.split_whitespace().filter_map(|word| word.strip_prefix('/')?.parse().ok()) {
        if queue.1.insert(link) {
            queue.0.push_back(link);
        }
    }
}

fn fetch(site: SocketAddr, page: usize) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(site)?;
    stream.write_all(format!("GET /{page} HTTP/1.0\r\n\r\n").as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.split("\r\n\r\n").nth(1).unwrap_or_default().to_owned())
}

/// A site of a few pages, each linking to two others; it serves each once and ends with the program.
fn serve() -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for mut stream in listener.incoming().take(PAGES).flatten() {
            let mut request = [0; 256];
            let read = stream.read(&mut request).unwrap_or(0);
            let page = String::from_utf8_lossy(&request[..read])
                .split_whitespace()
                .nth(1)
                .and_then(|path| path.strip_prefix('/')?.parse::<usize>().ok())
                .unwrap_or(0);
            let links =
                [2 * page + 1, 2 * page + 2].map(|link| if link < PAGES { format!("/{link}") } else { String::new() });
            let _ = write!(stream, "HTTP/1.0 200 OK\r\n\r\n{}", links.join(" "));
        }
    });
    Ok(address)
}
