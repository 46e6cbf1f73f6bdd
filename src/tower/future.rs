//! The answer to come.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use http::Response;
use pin_project_lite::pin_project;

use super::course::Kept;
use super::guard::Later;
use super::layer::Rules;

pin_project! {
    /// The answer of a [`RateLimit`](super::RateLimit).
    ///
    /// Of limits of this process alone it is the service's own, with no allocation. When it is dropped, what the request was
    /// charged stays charged.
    pub struct ResponseFuture<F, B, E> {
        #[pin]
        state: State<F, B, E>,
    }
}

pin_project! {
    #[project = StateOf]
    enum State<F, B, E> {
        Calls { #[pin] future: F },
        Finishes { #[pin] future: F, rest: Option<Rest> },
        Answers { response: Option<Response<B>> },
        Boxed { future: Later<Result<Response<B>, E>> },
    }
}

/// What is to be done with an answer: fields to be written, tokens to be given back.
pub(super) struct Rest {
    pub(super) rules: Arc<Rules>,
    pub(super) kept: Kept,
}

impl<F, B, E> ResponseFuture<F, B, E> {
    /// The service's own answer.
    pub(super) const fn calls(future: F) -> Self {
        Self { state: State::Calls { future } }
    }

    /// The service's own answer, and with it what `rest` has to do.
    pub(super) const fn calls_and_finishes(future: F, rest: Rest) -> Self {
        Self { state: State::Finishes { future, rest: Some(rest) } }
    }

    pub(super) const fn answers(response: Response<B>) -> Self {
        Self { state: State::Answers { response: Some(response) } }
    }

    pub(super) const fn boxed(future: Later<Result<Response<B>, E>>) -> Self {
        Self { state: State::Boxed { future } }
    }
}

impl<F, B, E> Future for ResponseFuture<F, B, E>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = Result<Response<B>, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().state.project() {
            StateOf::Calls { future } => future.poll(context),
            StateOf::Finishes { future, rest } => future.poll(context).map(|answer| {
                let rest = rest.take();
                answer.map(|response| match rest {
                    Some(Rest { rules, kept }) => kept.finish(&rules, response),
                    None => response,
                })
            }),
            StateOf::Answers { response } => match response.take() {
                Some(response) => Poll::Ready(Ok(response)),
                // Polled again after it was ready: as any future may, it never is.
                None => Poll::Pending,
            },
            StateOf::Boxed { future } => future.as_mut().poll(context),
        }
    }
}

impl<F, B, E> fmt::Debug for ResponseFuture<F, B, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
