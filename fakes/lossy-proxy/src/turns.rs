//! A scheduler: the requests of several processes are held, and let through one at a time by the test. Which process a request comes
//! from is told by its token.

use hyper::http::request::Parts;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

#[derive(Default)]
pub(crate) struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// By process.
    tokens: Vec<String>,
    waiting: Vec<VecDeque<oneshot::Sender<()>>>,
    /// Requests that were answered, or whose client is gone.
    ended: Vec<usize>,
}

/// A request that was let through; it ends when this is dropped.
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    process: usize,
}

impl Turns {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn begin(&self, tokens: &[String]) {
        let waiting = tokens.iter().map(|_| VecDeque::new()).collect();
        *self.state() = State { tokens: tokens.to_vec(), waiting, ended: vec![0; tokens.len()] };
    }

    /// Waits until the test lets this request go; at once when it belongs to nobody that takes turns.
    pub(crate) async fn wait(&self, request: &Parts) -> Option<Turn<'_>> {
        let (process, mine) = {
            let mut state = self.state();
            let is_git = request.uri.path().contains(".git/");
            let carries =
                |token: &String| request.headers.values().any(|value| value.to_str().is_ok_and(|text| text.contains(token)));
            let process = state.tokens.iter().position(carries).filter(|_| !is_git)?;
            let (go, mine) = oneshot::channel();
            state.waiting[process].push_back(go);
            self.changed.notify_all();
            (process, mine)
        };
        let turn = Turn { turns: self, process };
        // A test that has ended holds nobody.
        let _ = mine.await;
        Some(turn)
    }

    pub(crate) fn let_go(&self, process: usize, patience: Duration) -> bool {
        let mut state = self.state();
        let until = Instant::now() + patience;
        let ended = loop {
            let ended = state.ended[process];
            if let Some(go) = state.waiting[process].pop_front() {
                // Its client may have hung up meanwhile; then the next one goes.
                match go.send(()) {
                    Ok(()) => break ended,
                    Err(()) => continue,
                }
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        };
        while state.ended[process] == ended {
            state = self.changed.wait_timeout(state, Duration::from_secs(60)).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.state().ended[self.process] += 1;
        self.turns.changed.notify_all();
    }
}
