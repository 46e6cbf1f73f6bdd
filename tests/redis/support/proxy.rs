//! A network of a test's own between a client and its server: slow, deaf, or cut.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// What happens to bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Network {
    /// They take this long, each way.
    Takes(Duration),
    /// They are lost, and nobody is told: both ways.
    Swallows,
    /// Only what the server answers is lost.
    SwallowsAnswers,
    /// Connections are accepted and cut at once, and so are those that there are.
    Cuts,
}

#[derive(Default)]
struct Counts {
    accepted: AtomicU64,
    open: AtomicU64,
    swallowed: AtomicU64,
}

pub(crate) struct Proxy {
    port: u16,
    settings: watch::Sender<(u16, Network)>,
    counts: Arc<Counts>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    /// To the server at this port of this machine.
    pub(crate) async fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (settings, seen) = watch::channel((server, Network::Takes(Duration::ZERO)));
        let counts = Arc::new(Counts::default());
        let counting = Arc::clone(&counts);
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                counting.accepted.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(connection(client, seen.clone(), Arc::clone(&counting)));
            }
        });
        Self { port, settings, counts, accepting }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// Connections so far.
    pub(crate) fn accepted(&self) -> u64 {
        self.counts.accepted.load(Ordering::Relaxed)
    }

    /// Connections that lead through now.
    pub(crate) fn open(&self) -> u64 {
        self.counts.open.load(Ordering::Relaxed)
    }

    /// How often bytes were lost so far.
    pub(crate) fn swallowed(&self) -> u64 {
        self.counts.swallowed.load(Ordering::Relaxed)
    }

    pub(crate) fn network(&self, network: Network) {
        self.settings.send_modify(|settings| settings.1 = network);
    }

    /// New connections go to another server, as when a name is given to another.
    pub(crate) fn leads_to(&self, server: u16) {
        self.settings.send_modify(|settings| settings.0 = server);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn connection(client: TcpStream, mut settings: watch::Receiver<(u16, Network)>, counts: Arc<Counts>) {
    let (server, network) = *settings.borrow_and_update();
    if network == Network::Cuts {
        return;
    }
    let Ok(server) = TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], server))).await else { return };
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    counts.open.fetch_add(1, Ordering::Relaxed);
    let both = [
        tokio::spawn(one_way(from_client, to_server, settings.clone(), Arc::clone(&counts), false)),
        tokio::spawn(one_way(from_server, to_client, settings.clone(), Arc::clone(&counts), true)),
    ];
    let _ = settings.wait_for(|settings| settings.1 == Network::Cuts).await;
    for way in both {
        way.abort();
        let _ = way.await;
    }
    counts.open.fetch_sub(1, Ordering::Relaxed);
}

async fn one_way(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    settings: watch::Receiver<(u16, Network)>,
    counts: Arc<Counts>,
    answers: bool,
) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut bytes).await {
        let (_, network) = *settings.borrow();
        if network == Network::Swallows || answers && network == Network::SwallowsAnswers {
            counts.swallowed.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        if let Network::Takes(delay) = network
            && !delay.is_zero()
        {
            sleep(delay).await;
        }
        if to.write_all(&bytes[..length]).await.is_err() {
            return;
        }
    }
}
