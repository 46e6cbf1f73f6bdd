//! A thread that does what callers without a runtime wait for.
//!
//! One for the process, as long as somebody needs it: it drives connections and timers, on a runtime of its own. Callers poll
//! what they wait for themselves, on their own threads, and sleep in between; so a decision that needs nobody costs no change of
//! threads, and what is borrowed need not be owned.
//!
//! Nobody joins the thread: whoever drops the last handle to it tells it to end, and goes on. What it still has to do, it holds a
//! handle for.

use core::future::Future;
use core::pin::pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use std::io;
use std::string::ToString;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::Wake;
use std::thread::{self, Thread};

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::unconstrained;

pub(super) struct Background {
    runtime: Handle,
    /// The thread ends when this is dropped.
    _ends: oneshot::Sender<()>,
}

impl Background {
    /// The process's, which is started where there is none.
    ///
    /// # Errors
    ///
    /// When the system gives no thread.
    pub(super) fn get() -> io::Result<Arc<Self>> {
        static ONE: Mutex<Weak<Background>> = Mutex::new(Weak::new());
        let mut one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = one.upgrade() {
            return Ok(running);
        }
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (ends, ended) = oneshot::channel();
        thread::Builder::new().name("admittance-io".to_string()).spawn(move || {
            // Nobody sends: it ends when the other half is dropped.
            let _ = runtime.block_on(ended);
            // A name that is still being looked up is not waited for.
            runtime.shutdown_background();
        })?;
        let running = Arc::new(Self { runtime: handle, _ends: ends });
        *one = Arc::downgrade(&running);
        Ok(running)
    }

    /// Where tasks are spawned that outlive their caller.
    pub(super) const fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// Waits on this thread, whatever it is: also one of a runtime's, which is blocked then.
    pub(super) fn block_on<F: Future>(&self, future: F) -> F::Output {
        // Timers and tasks are this runtime's, also where the thread is in another.
        let _inside = self.runtime.enter();
        // A task of another runtime has a budget of answers, after which nothing is ready until the task has returned. It does
        // not before this is done.
        let mut future = pin!(unconstrained(future));
        // Most of what a lease decides is ready at once.
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
        let sleeper = Arc::new(Sleeper { thread: thread::current(), is_woken: AtomicBool::new(false) });
        let waker = Waker::from(Arc::clone(&sleeper));
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return output;
            }
            // Acquire: what was done before the waking is seen by the poll. (Others may unpark this thread as well.)
            while !sleeper.is_woken.swap(false, Ordering::Acquire) {
                thread::park();
            }
        }
    }
}

/// A thread that waits.
struct Sleeper {
    thread: Thread,
    is_woken: AtomicBool,
}

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Release: pairs with the swap above.
        self.is_woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}
