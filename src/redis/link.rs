//! One server, and the connection to it.
//!
//! A *tending* task owns the making of connections: it connects, asks whether somebody is there (`PING`), and hands the
//! connection out; when it is told that the connection is broken it takes it away and begins anew, once every tenth of a
//! second. Callers never connect, never wait for a connection that broke, and never are the ones to try whether the server is
//! back: while there is none they are told so at once. So a server that is gone costs a caller nothing, and one that is back
//! is found within a fraction of a second.
//!
//! What breaks a connection: an error of the connection itself, or [`BREAKS`] calls in a row that were not answered in time
//! (a paused server, a network that swallows packets); and because nobody may have called for long, the tending task asks
//! now and then whether somebody is still there. A call that failed is never sent again by anybody here.

use core::time::Duration;
use std::string::{String, ToString};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ::redis::aio::{ConnectionLike as _, MultiplexedConnection};
use ::redis::{AsyncConnectionConfig, ErrorKind, RedisError, ServerErrorKind, Value, cmd, pipe};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::address::{Address, Wire};
use super::failure::{FailureKind, StoreFailure};
use super::script::Call;

/// So many calls in a row that are not answered in time, and the connection counts as broken.
const BREAKS: u32 = 5;

/// A call that was given less than this, and was not answered, says nothing about the server: its caller is in more of a hurry
/// than others who share the connection, or had waited for the connection first.
const PATIENCE: Duration = Duration::from_millis(10);

/// How long a server may take to accept a connection, and to answer that it is there.
const CONNECT: Duration = Duration::from_millis(500);

/// How often a server that is gone is tried, on average: each process at its own times, so that not all come at once.
const TRY_EVERY: Duration = Duration::from_millis(100);

/// How often a server with a connection is asked whether it is still there.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// A server.
pub(super) struct Link {
    tended: Arc<Tended>,
    tending: Mutex<Option<JoinHandle<()>>>,
}

struct Tended {
    address: Address,
    status: watch::Sender<Status>,
    broken: Notify,
}

#[derive(Clone)]
enum Status {
    /// Nobody has tried yet.
    New,
    Up(Connection),
    Down(StoreFailure),
}

#[derive(Clone)]
struct Connection {
    wire: Wire,
    /// Calls in a row that were not answered in time.
    late: Arc<AtomicU32>,
}

/// What a call came to, where it was not answered.
pub(super) enum Refused {
    /// The keys are at another node, `host:port`, from now on. The call was not executed.
    Moved(String),
    /// The keys are at another node this once. The call was not executed.
    Ask(String),
    /// The keys are being moved, and some are here and some there. The call was not executed.
    TryAgain(StoreFailure),
    Failed(StoreFailure),
}

impl Link {
    pub(super) fn new(address: Address) -> Self {
        let (status, _) = watch::channel(Status::New);
        Self { tended: Arc::new(Tended { address, status, broken: Notify::new() }), tending: Mutex::new(None) }
    }

    /// Sends the call once, and waits for the answer until `deadline`. With `asking`, as one that was redirected this once.
    ///
    /// A server that does not know the script has not executed it: then, and for no other reason, the call is sent a second
    /// time, with the text.
    pub(super) async fn call(&self, call: &Call, asking: bool, deadline: Instant) -> Result<Value, Refused> {
        let connection = self.connection(deadline).await.map_err(Refused::Failed)?;
        match connection.send(&call.by_digest(), asking, deadline).await {
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                connection.send(&call.by_text(), asking, deadline).await
            }
            answer => answer,
        }
        .map_err(|error| self.refused(&connection, &error))
    }

    /// Sends a command that is no script, and that nothing happens to if it is lost.
    pub(super) async fn ask(&self, command: &::redis::Cmd, deadline: Instant) -> Result<Value, StoreFailure> {
        let connection = self.connection(deadline).await?;
        connection.send(command, false, deadline).await.map_err(|error| match self.refused(&connection, &error) {
            Refused::Failed(failure) | Refused::TryAgain(failure) => failure,
            Refused::Moved(_) | Refused::Ask(_) => StoreFailure::from(&error),
        })
    }

    /// Whether there is a connection, or nobody has tried yet.
    pub(super) fn is_usable(&self) -> bool {
        !matches!(*self.tended.status.borrow(), Status::Down(_))
    }

    async fn connection(&self, deadline: Instant) -> Result<Connection, StoreFailure> {
        self.tend();
        match &*self.tended.status.borrow() {
            Status::Up(connection) => return Ok(connection.clone()),
            Status::Down(failure) => return Err(failure.clone()),
            Status::New => {}
        }
        // The first callers of all wait for the first connection.
        let mut status = self.tended.status.subscribe();
        let tried = timeout_at(deadline, status.wait_for(|status| !matches!(status, Status::New))).await;
        match tried.as_ref().map(|seen| seen.as_deref()) {
            Ok(Ok(Status::Up(connection))) => Ok(connection.clone()),
            Ok(Ok(Status::Down(failure))) => Err(failure.clone()),
            _ => Err(StoreFailure::new(FailureKind::Unreachable, "the first connection is not made yet").unsent()),
        }
    }

    /// Starts the tending task where there is none: at the first call, and again where the runtime it ran on has ended.
    fn tend(&self) {
        let mut tending = self.tending.lock().unwrap_or_else(PoisonError::into_inner);
        if tending.as_ref().is_none_or(JoinHandle::is_finished) {
            // What an ended runtime left behind is of no use to another.
            self.tended.status.send_replace(Status::New);
            *tending = Some(tokio::spawn(Arc::clone(&self.tended).run()));
        }
    }

    fn refused(&self, connection: &Connection, error: &RedisError) -> Refused {
        if let (ErrorKind::Server(ServerErrorKind::Moved), Some((node, _))) = (error.kind(), error.redirect_node()) {
            return Refused::Moved(node.to_string());
        }
        if let (ErrorKind::Server(ServerErrorKind::Ask), Some((node, _))) = (error.kind(), error.redirect_node()) {
            return Refused::Ask(node.to_string());
        }
        let failure = StoreFailure::from(error);
        let in_a_row = match failure.kind() {
            // A server that has just become a replica: another is behind the name soon.
            FailureKind::Unreachable | FailureKind::ReadOnly => BREAKS,
            // Relaxed: a count that orders nothing.
            FailureKind::Timeout => connection.late.load(Ordering::Relaxed),
            _ => 0,
        };
        if in_a_row >= BREAKS {
            self.tended.breaks(connection, &failure);
        }
        if error.kind() == ErrorKind::Server(ServerErrorKind::TryAgain) {
            Refused::TryAgain(failure)
        } else {
            Refused::Failed(failure)
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let tending = self.tending.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(tending) = tending {
            tending.abort();
        }
    }
}

impl Connection {
    async fn send(&self, command: &::redis::Cmd, asking: bool, deadline: Instant) -> Result<Value, RedisError> {
        let mut to = self.wire.to.clone();
        // What it was given, not what it took: a process that is not run for a while is late by itself.
        let given = deadline.saturating_duration_since(Instant::now());
        let answer = if asking {
            // In one write: what comes between them would be asked instead.
            let mut both = pipe();
            both.cmd("ASKING").add_command(command.clone());
            timeout_at(deadline, async move {
                let mut values = to.req_packed_commands(&both, 1, 1).await?;
                values.pop().unwrap_or_default().extract_error()
            })
            .await
        } else {
            timeout_at(deadline, async move { to.req_packed_command(command).await?.extract_error() }).await
        };
        let answer = answer.unwrap_or_else(|_| Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()));
        // Relaxed: a count that orders nothing.
        if !answer.as_ref().is_err_and(RedisError::is_timeout) {
            self.late.store(0, Ordering::Relaxed);
        } else if given >= PATIENCE {
            self.late.fetch_add(1, Ordering::Relaxed);
        }
        answer
    }
}

impl Tended {
    /// Takes this connection away, if it is still the one in use.
    fn breaks(&self, connection: &Connection, failure: &StoreFailure) {
        // Who comes now sends nothing, and waits for nothing.
        let failure = match failure.kind() {
            FailureKind::Timeout => nobody_answers(),
            _ => failure.clone().unsent(),
        };
        let taken = self.status.send_if_modified(|status| match status {
            Status::Up(used) if Arc::ptr_eq(&used.late, &connection.late) => {
                *status = Status::Down(failure.clone());
                true
            }
            _ => false,
        });
        if taken {
            self.broken.notify_one();
        }
    }

    async fn run(self: Arc<Self>) {
        loop {
            // Each process at its own times. A server that accepts connections and then breaks them is tried no more often.
            let again = Instant::now() + TRY_EVERY / 2 + TRY_EVERY.mul_f64(random());
            match self.connect().await {
                Ok(wire) => {
                    let connection = Connection { wire, late: Arc::default() };
                    self.status.send_replace(Status::Up(connection.clone()));
                    self.stays_up(connection).await;
                }
                Err(failure) => {
                    self.status.send_replace(Status::Down(failure.unsent()));
                }
            }
            sleep_until(again).await;
        }
    }

    /// Until the connection is broken.
    async fn stays_up(&self, mut connection: Connection) {
        while timeout(LOOK_EVERY, self.broken.notified()).await.is_err() {
            let broken = match timeout(CONNECT, ping(&mut connection.wire.to)).await {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => StoreFailure::from(&error),
                Err(_) => nobody_answers(),
            };
            // What else it says, as that it is busy, it says to callers too.
            if broken.kind() == FailureKind::Unreachable {
                self.breaks(&connection, &broken);
            }
        }
    }

    async fn connect(&self) -> Result<Wire, StoreFailure> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT))
            // Every call has a deadline of its own.
            .set_response_timeout(None);
        let made = timeout(CONNECT, async {
            let mut wire = self.address.connect(&config).await?;
            ping(&mut wire.to).await.map(|()| wire).map_err(|error| StoreFailure::from(&error))
        });
        let failure = match made.await {
            Ok(Ok(wire)) => return Ok(wire),
            Ok(Err(failure)) => failure,
            Err(_) => return Err(nobody_answers()),
        };
        Err(match failure.kind() {
            FailureKind::Timeout => nobody_answers(),
            // In TLS 1.3 a server says after the handshake that it does not know the client.
            FailureKind::Unreachable if self.address.is_secured() => failure.of_alert(),
            _ => failure,
        })
    }
}

async fn ping(to: &mut MultiplexedConnection) -> Result<(), RedisError> {
    to.req_packed_command(&cmd("PING")).await?.extract_error().map(drop)
}

fn nobody_answers() -> StoreFailure {
    StoreFailure::new(FailureKind::Unreachable, "nobody answers").unsent()
}

/// Between 0 and 1: not the same in two processes.
fn random() -> f64 {
    use std::hash::{BuildHasher as _, RandomState};
    f64::from(RandomState::new().hash_one(0) as u32) / f64::from(u32::MAX)
}
