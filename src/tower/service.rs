//! The service: decides, calls, answers.

use core::fmt;
use core::mem;
use core::task::{Context, Poll};
use std::boxed::Box;
use std::sync::Arc;

use http::{Request, Response};
use tower_service::Service;

use super::course::{Course, Step};
use super::future::{ResponseFuture, Rest};
use super::layer::Rules;
use super::respond::{ProblemJson, Respond};
use super::seen::Seen;

/// A service whose requests are limited. Made by a [`RateLimitLayer`](super::RateLimitLayer).
///
/// It is ready when the service within is: what a budget has left is asked when a request is there, not before.
pub struct RateLimit<S, R = ProblemJson> {
    inner: S,
    rules: Arc<Rules>,
    respond: Arc<R>,
}

impl<S, R> RateLimit<S, R> {
    pub(super) const fn new(inner: S, rules: Arc<Rules>, respond: Arc<R>) -> Self {
        Self { inner, rules, respond }
    }

    /// The service within.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }
}

impl<S, R, A, B> Service<Request<A>> for RateLimit<S, R>
where
    S: Service<Request<A>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Send,
    R: Respond<B>,
    A: Send + 'static,
    B: Send,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future, B, S::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let mut course = Course::new();
        match course.go_on(&self.rules, &Seen::of(&request)) {
            Step::Go => {
                if !self.rules.looks_at_answers() {
                    return ResponseFuture::calls(self.inner.call(request));
                }
                let rest = Rest { rules: Arc::clone(&self.rules), kept: course.into_kept() };
                ResponseFuture::calls_and_finishes(self.inner.call(request), rest)
            }
            Step::Refused => ResponseFuture::answers(course.refuse(&self.rules, &*self.respond)),
            Step::Later(later) => {
                // The service that was made ready is the one to call; its clone may not be.
                let clone = self.inner.clone();
                let mut inner = mem::replace(&mut self.inner, clone);
                let (rules, respond) = (Arc::clone(&self.rules), Arc::clone(&self.respond));
                ResponseFuture::boxed(Box::pin(async move {
                    let mut later = later;
                    loop {
                        let made = later.await;
                        later = match course.resume(&rules, made, &Seen::of(&request)) {
                            Step::Go => break,
                            Step::Refused => return Ok(course.refuse(&rules, &*respond)),
                            Step::Later(later) => later,
                        };
                    }
                    let response = inner.call(request).await?;
                    Ok(course.into_kept().finish(&rules, response))
                }))
            }
        }
    }
}

impl<S: Clone, R> Clone for RateLimit<S, R> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), rules: Arc::clone(&self.rules), respond: Arc::clone(&self.respond) }
    }
}

impl<S: fmt::Debug, R> fmt::Debug for RateLimit<S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimit").field("inner", &self.inner).finish_non_exhaustive()
    }
}
