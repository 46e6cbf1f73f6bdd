//! A network of a test's own between a client and its server: slow, deaf, or cut.

use std::net::SocketAddr;
use std::sync::Arc;
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

pub(crate) struct Proxy {
    port: u16,
    settings: watch::Sender<(u16, Network)>,
    accepted: Arc<std::sync::atomic::AtomicU64>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    /// To the server at this port of this machine.
    pub(crate) async fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (settings, seen) = watch::channel((server, Network::Takes(Duration::ZERO)));
        let accepted = Arc::new(std::sync::atomic::AtomicU64::new(0));
        let count = Arc::clone(&accepted);
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                tokio::spawn(connection(client, seen.clone()));
            }
        });
        Self { port, settings, accepted, accepting }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// Connections so far.
    pub(crate) fn accepted(&self) -> u64 {
        self.accepted.load(std::sync::atomic::Ordering::Relaxed)
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

async fn connection(client: TcpStream, mut settings: watch::Receiver<(u16, Network)>) {
    let (server, network) = *settings.borrow_and_update();
    if network == Network::Cuts {
        return;
    }
    let Ok(server) = TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], server))).await else { return };
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    let both = [
        tokio::spawn(one_way(from_client, to_server, settings.clone(), false)),
        tokio::spawn(one_way(from_server, to_client, settings.clone(), true)),
    ];
    let _ = settings.wait_for(|settings| settings.1 == Network::Cuts).await;
    both.iter().for_each(JoinHandle::abort);
}

async fn one_way(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    settings: watch::Receiver<(u16, Network)>,
    answers: bool,
) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut bytes).await {
        let (_, network) = *settings.borrow();
        match network {
            Network::Swallows => continue,
            Network::SwallowsAnswers if answers => continue,
            Network::Takes(delay) if !delay.is_zero() => sleep(delay).await,
            _ => {}
        }
        if to.write_all(&bytes[..length]).await.is_err() {
            return;
        }
    }
}
