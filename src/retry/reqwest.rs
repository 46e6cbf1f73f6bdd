//! A client on reqwest that follows the plans.
//!
//! ```no_run
//! use std::time::Duration;
//! use admittance::retry::reqwest::RetryClient;
//! use admittance::retry::{IdempotencyKey, Retry, Safety, Stop};
//! use reqwest::{Client, Method, Request};
//!
//! # async fn pay() -> Result<(), Box<dyn std::error::Error>> {
//! let retry = Retry::builder(5, Duration::from_secs(30)).build()?;
//! let client = RetryClient::build(Client::builder().timeout(Duration::from_secs(5)), retry)?;
//!
//! let mut request = Request::new(Method::POST, "http://api.example/payments".parse()?);
//! *request.body_mut() = Some("…".into());
//! let key = IdempotencyKey::new("payment-7f3a")?;
//! match client.execute(request, Safety::Keyed { key }).await {
//!     Ok(response) => println!("{}: {:?}", response.status(), response.extensions().get::<Stop>()),
//!     Err(unanswered) => println!("{unanswered}: {:?}", unanswered.error()),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # What comes back
//!
//! | the call ends with | what comes back |
//! |---|---|
//! | a response | that response as it is, and why there is no further attempt: a [`Stop`] in its extensions |
//! | a redirect with a `Retry-After` | that response **when it may be followed**, a [`RetryAt`] in its extensions |
//! | an error | [`Unanswered`]: the error as it is, and the `Stop` |
//! | a gate that holds too long | [`Unanswered`] without an error: nothing was sent |
//!
//! A redirect is not followed, because where to and with which credentials is the caller's decision.
//!
//! # What it does not promise
//!
//! - A response counts when its head is there. What happens to its body is the caller's.
//! - Only waits are bounded by the deadline: an attempt takes as long as reqwest's timeouts let it. Set one.
//! - The last response is kept while the call waits, because it is the result if there is no further one: until then it may
//!   hold its connection.

use core::fmt;
use core::hash::Hash;
use std::error::Error;
use std::time::SystemTime;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Client, ClientBuilder, Request, Response, redirect};
use tokio::time::sleep;

use super::attempts::Attempts;
use super::builder::Retry;
use super::outcome::Outcome;
use super::plan::{Plan, Reason, RetryAt, Stop};
use super::random::{Random, SystemRandom};
use super::resolve;
use super::safety::{Body, Safety, is_redirect};
use super::unanswered::Unanswered;
use crate::clock::{Clock, TscClock};

/// Sends each request as often as the planner says, and not before it says. A clone is the same client.
#[must_use = "a client does nothing until it is given a request"]
pub struct RetryClient<C = TscClock, R = SystemRandom> {
    client: Client,
    retry: Retry<C, R>,
    key_header: HeaderName,
    /// Whether an error in connecting means that nothing was sent before it.
    sends_once: bool,
}

impl<C: Clock, R: Random> RetryClient<C, R> {
    /// A client of its own, which follows no redirects and sends nothing again but as the planner says.
    ///
    /// # Errors
    ///
    /// Those of [`ClientBuilder::build`].
    pub fn build(builder: ClientBuilder, retry: Retry<C, R>) -> Result<Self, reqwest::Error> {
        let client = builder.redirect(redirect::Policy::none()).retry(reqwest::retry::never()).build()?;
        Ok(Self { sends_once: true, ..Self::new(client, retry) })
    }

    /// On a client that there is. It cannot be seen how that was built, and if it follows redirects or sends again by itself,
    /// then
    ///
    /// - a redirect is followed at once, whatever its `Retry-After` says;
    /// - more is sent than the planner knows of;
    /// - a connection that fails may be the second one, the request having been carried out over the first. So **every error
    ///   is taken as [`Outcome::Lost`]**, and a request that is not safe to send twice is not sent again after a refused
    ///   connection either.
    ///
    /// [`build`](Self::build) has none of this.
    pub fn new(client: Client, retry: Retry<C, R>) -> Self {
        Self { client, retry, key_header: HeaderName::from_static("idempotency-key"), sends_once: false }
    }

    /// The header that an idempotency key is sent in. Without it `Idempotency-Key`.
    pub fn key_header(mut self, name: HeaderName) -> Self {
        self.key_header = name;
        self
    }

    /// Sends the request until it is answered or the planner stops. At the gate it is one of all that go to its host and port.
    ///
    /// `safety` says why it may be sent twice; [`Safety::of_method`] is what the method alone says. The key of
    /// [`Safety::Keyed`] is put into its header, in place of what was there, and is the same on every attempt. A body that is a
    /// stream is sent once.
    ///
    /// | reqwest says | is |
    /// |---|---|
    /// | an error [in connecting](reqwest::Error::is_connect), name and TLS included | [`Outcome::NotSent`], if the client is [of its own](Self::build) |
    /// | a request that [cannot be built](reqwest::Error::is_builder), [a redirect](reqwest::Error::is_redirect) gone wrong | the end: no attempt would change it |
    /// | any other error, timeouts among them | [`Outcome::Lost`] |
    ///
    /// # Errors
    ///
    /// When there is no response. A response of any status is none.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it sends, it drops the attempt, of which nobody knows then what became. Dropped while it waits, it sends
    /// nothing more; the token that the attempt cost is spent.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with time and I/O enabled.
    pub async fn execute(&self, request: Request, safety: Safety) -> Result<Response, Unanswered<reqwest::Error>> {
        let url = request.url();
        let host = url.host_str().map(str::to_ascii_lowercase);
        let key = (host, url.port_or_known_default());
        self.execute_as(&key, request, safety).await
    }

    /// As [`execute`](Self::execute), of whoever the server limits together: a host and a credential, say.
    ///
    /// # Errors
    ///
    /// As those of [`execute`](Self::execute).
    pub async fn execute_as<K: Hash + ?Sized>(
        &self,
        key: &K,
        mut request: Request,
        safety: Safety,
    ) -> Result<Response, Unanswered<reqwest::Error>> {
        let spare = request.try_clone();
        let repeats = if spare.is_some() { Body::Repeatable } else { Body::Once };
        let mut attempts = self.retry.start_as(key, safety, repeats);
        // A key is visible ASCII, and so always a value.
        if let Some(Ok(value)) = attempts.key().map(HeaderValue::from_str) {
            request.headers_mut().insert(self.key_header.clone(), value);
        }
        let mut request = Some(request);
        // The result, if there is no further attempt.
        let mut last = None;
        loop {
            let next = match wait(&mut attempts).await {
                Ok(next) => next,
                Err(stop) => return end(last, stop, attempts.sent()),
            };
            if let Some(Ok(response)) = last.take_if(|last| matches!(last, Ok(response) if is_held(response))) {
                return Ok(marked(response, next));
            }
            let Some(now) = request.take() else {
                // Cannot be, as long as a copy can be copied.
                let stop = Stop { reason: Reason::BodySpent, now: next.now, resume_at: None };
                return end(last, stop, attempts.sent());
            };
            request = now.try_clone();
            // Its connection is free again.
            drop(last.take());
            let result = self.client.execute(now).await;
            if let Err(error) = &result
                && (error.is_builder() || error.is_redirect())
            {
                return result.map_err(|error| Unanswered::new(Some(error), None, attempts.sent() + 1));
            }
            let plan = attempts.after(&self.outcome(&result));
            last = Some(result);
            if let Plan::Stop(stop) = plan {
                return end(last, stop, attempts.sent());
            }
        }
    }

    fn outcome<'a>(&self, result: &'a Result<Response, reqwest::Error>) -> Outcome<'a> {
        match result {
            Ok(response) => {
                let lines = response.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
                Outcome::Response(resolve::Response::new(response.status().as_u16(), SystemTime::now(), lines))
            }
            Err(error) if self.sends_once && error.is_connect() => Outcome::NotSent,
            Err(_) => Outcome::Lost,
        }
    }
}

impl<C, R> RetryClient<C, R> {
    /// The planner that it follows.
    #[must_use]
    pub const fn retry(&self) -> &Retry<C, R> {
        &self.retry
    }
}

/// Sleeps until the planner says that the attempt may go now.
async fn wait<C: Clock, R: Random>(attempts: &mut Attempts<C, R>) -> Result<RetryAt, Stop> {
    loop {
        match attempts.ready() {
            // Asked again after the sleep: the gate may have been closed meanwhile, and tokio's clock need not be the planner's.
            Plan::RetryAt(next) if !next.wait().is_zero() => sleep(next.wait()).await,
            Plan::RetryAt(next) => return Ok(next),
            Plan::Stop(stop) => return Err(stop),
        }
    }
}

/// Whether it is handed over instead of trying again.
fn is_held(response: &Response) -> bool {
    is_redirect(response.status().as_u16())
}

fn end(
    last: Option<Result<Response, reqwest::Error>>,
    stop: Stop,
    sent: u32,
) -> Result<Response, Unanswered<reqwest::Error>> {
    match last {
        Some(Ok(response)) => Ok(marked(response, stop)),
        Some(Err(error)) => Err(Unanswered::new(Some(error), Some(stop), sent)),
        None => Err(Unanswered::new(None, Some(stop), sent)),
    }
}

fn marked(mut response: Response, mark: impl Clone + Send + Sync + 'static) -> Response {
    response.extensions_mut().insert(mark);
    response
}

impl Error for Unanswered<reqwest::Error> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error().map(|error| error as _)
    }
}

impl<C, R> Clone for RetryClient<C, R> {
    fn clone(&self) -> Self {
        Self {
            client: self.client.clone(),
            retry: self.retry.clone(),
            key_header: self.key_header.clone(),
            sends_once: self.sends_once,
        }
    }
}

impl<C, R> fmt::Debug for RetryClient<C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryClient")
            .field("client", &self.client)
            .field("retry", &self.retry)
            .field("key_header", &self.key_header)
            .field("sends_once", &self.sends_once)
            .finish()
    }
}
