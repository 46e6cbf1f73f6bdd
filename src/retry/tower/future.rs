//! A call on its way.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::sync::Arc;
use std::time::SystemTime;

use http::request::Parts;
use http::{Request, Response};
use pin_project_lite::pin_project;
use tokio::time::{Sleep, sleep};
use tower_service::Service;

use super::BoxError;
use super::how::How;
use crate::clock::Clock;
use crate::retry::attempts::Attempts;
use crate::retry::outcome::Outcome;
use crate::retry::plan::{Plan, Reason, RetryAt, Stop};
use crate::retry::random::Random;
use crate::retry::resolve;
use crate::retry::safety::is_redirect;
use crate::retry::unanswered::Unanswered;

pin_project! {
    /// A call on its way: waits, sends, and waits again. From [`RetryService`](super::RetryService).
    ///
    /// # Cancel safety
    ///
    /// Dropped while it sends, it drops the attempt, of which nobody knows then what became. Dropped while it waits, it sends
    /// nothing more; the token that the attempt cost is spent.
    #[must_use = "futures do nothing unless polled"]
    pub struct RetryFuture<S, B, C, R>
    where
        S: Service<Request<B>>,
    {
        call: Call<S, S::Response, B, C, R>,
        #[pin]
        state: State<S::Future>,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<F> {
        // The planner, then the service inside, then the planner again.
        Asking,
        Waiting { #[pin] sleep: Sleep },
        Sending { #[pin] sending: F },
        Over,
    }
}

/// All of a call that need not be pinned.
struct Call<S, P, B, C, R> {
    service: S,
    is_ready: bool,
    how: Arc<How<B>>,
    attempts: Attempts<C, R>,
    parts: Parts,
    /// To send next, and its copy where there is one already.
    bodies: [Option<B>; 2],
    /// What came of the last attempt: the result, if there is no further one.
    last: Option<Result<P, BoxError>>,
}

/// What to do now.
enum Step<F> {
    Go(State<F>),
    /// The service inside is not ready.
    Pend,
    End(Ending),
}

enum Ending {
    Stop(Stop),
    /// The last response is a redirect, and may be followed now.
    Redirect(RetryAt),
    /// The service inside failed to be ready; it is not asked again.
    Broken(BoxError),
}

impl<S: Service<Request<B>>, B, C, R> RetryFuture<S, B, C, R> {
    /// With a service that is ready.
    pub(super) fn new(
        service: S,
        how: Arc<How<B>>,
        attempts: Attempts<C, R>,
        parts: Parts,
        bodies: [Option<B>; 2],
    ) -> Self {
        let call = Call { service, is_ready: true, how, attempts, parts, bodies, last: None };
        Self { call, state: State::Asking }
    }
}

impl<S, T, B, C, R> Future for RetryFuture<S, B, C, R>
where
    S: Service<Request<B>, Response = Response<T>> + Clone,
    S::Error: Into<BoxError>,
    C: Clock,
    R: Random,
{
    type Output = Result<Response<T>, Unanswered<BoxError>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let step = match this.state.as_mut().project() {
                StateProj::Asking => this.call.ask(cx),
                StateProj::Waiting { sleep } => {
                    ready!(sleep.poll(cx));
                    // The gate may have been closed meanwhile, and tokio's clock need not be the planner's.
                    Step::Go(State::Asking)
                }
                StateProj::Sending { sending } => {
                    let result = ready!(sending.poll(cx));
                    this.call.after(result)
                }
                StateProj::Over => panic!("a call is polled after it is over"),
            };
            match step {
                Step::Go(state) => this.state.set(state),
                Step::Pend => return Poll::Pending,
                Step::End(ending) => {
                    this.state.set(State::Over);
                    return Poll::Ready(this.call.end(ending));
                }
            }
        }
    }
}

impl<S, T, B, C, R> Call<S, Response<T>, B, C, R>
where
    S: Service<Request<B>, Response = Response<T>> + Clone,
    S::Error: Into<BoxError>,
    C: Clock,
    R: Random,
{
    fn ask(&mut self, cx: &mut Context<'_>) -> Step<S::Future> {
        // First, in every poll: it may have taken the service inside long to be ready, and the gate be closed meanwhile.
        let next = match self.attempts.ready() {
            Plan::RetryAt(next) => next,
            Plan::Stop(stop) => return Step::End(Ending::Stop(stop)),
        };
        if !next.wait().is_zero() {
            // A place in the service inside is given up, and so is one in the queue for it.
            self.service = self.service.clone();
            self.is_ready = false;
            return Step::Go(State::Waiting { sleep: sleep(next.wait()) });
        }
        if matches!(&self.last, Some(Ok(response)) if is_redirect(response.status().as_u16())) {
            return Step::End(Ending::Redirect(next));
        }
        if !self.is_ready {
            match self.service.poll_ready(cx) {
                Poll::Pending => return Step::Pend,
                Poll::Ready(Err(error)) => return Step::End(Ending::Broken(error.into())),
                Poll::Ready(Ok(())) => {}
            }
        }
        self.send(&next)
    }

    fn send(&mut self, next: &RetryAt) -> Step<S::Future> {
        let [body, spare] = &mut self.bodies;
        let Some(now) = body.take() else {
            // It was copied once, and then not again.
            let stop = Stop { reason: Reason::BodySpent, now: next.now, resume_at: None };
            return Step::End(Ending::Stop(stop));
        };
        *body = spare.take().or_else(|| (self.how.copy)(&now));
        self.is_ready = false;
        self.last = None;
        let request = Request::from_parts(self.parts.clone(), now);
        Step::Go(State::Sending { sending: self.service.call(request) })
    }

    fn after(&mut self, result: Result<Response<T>, S::Error>) -> Step<S::Future> {
        let result = result.map_err(Into::into);
        let plan = self.attempts.after(&match &result {
            Ok(response) => {
                let lines = response.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
                Outcome::Response(resolve::Response::new(response.status().as_u16(), SystemTime::now(), lines))
            }
            Err(error) if (self.how.not_sent)(&**error) => Outcome::NotSent,
            Err(_) => Outcome::Lost,
        });
        self.last = Some(result);
        match plan {
            Plan::RetryAt(_) => Step::Go(State::Asking),
            Plan::Stop(stop) => Step::End(Ending::Stop(stop)),
        }
    }

    fn end(&mut self, ending: Ending) -> Result<Response<T>, Unanswered<BoxError>> {
        let sent = self.attempts.sent();
        match (self.last.take(), ending) {
            (_, Ending::Broken(error)) => Err(Unanswered::new(Some(error), None, sent)),
            (Some(Ok(mut response)), Ending::Stop(stop)) => {
                response.extensions_mut().insert(stop);
                Ok(response)
            }
            (Some(Ok(mut response)), Ending::Redirect(next)) => {
                response.extensions_mut().insert(next);
                Ok(response)
            }
            (last, ending) => Err(Unanswered::new(last.and_then(Result::err), ending.stop(), sent)),
        }
    }
}

impl Ending {
    fn stop(self) -> Option<Stop> {
        match self {
            Self::Stop(stop) => Some(stop),
            Self::Redirect(_) | Self::Broken(_) => None,
        }
    }
}

impl<S: Service<Request<B>>, B, C, R> fmt::Debug for RetryFuture<S, B, C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryFuture").field("attempts", &self.call.attempts).finish_non_exhaustive()
    }
}
