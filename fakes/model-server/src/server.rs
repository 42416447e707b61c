//! The server itself: a thread with its own small runtime, so that tests of any kind, asynchronous or not, can start one and forget it.
//!
//! Nothing outlives the value: dropping it ends the accept loop and the runtime, and with it every response that still hangs.

mod deliver;
mod handle;
mod route;

use crate::cache::{Cache, Pending};
use crate::record::{Accounting, Received};
use crate::script::Script;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What the connections have in common.
struct Shared {
    started: Instant,
    next: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    script: Script,
    /// How many requests each rule has let through, without its `nth`.
    matched: Vec<usize>,
    cache: Cache,
    received: Vec<Received>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The first byte of an answer goes out: from now on its prefix can be read from the cache.
    fn begin(&self, index: usize, pending: Pending) {
        let now = self.now();
        let mut state = self.state();
        state.cache.begin(pending);
        if let Some(received) = state.received.get_mut(index) {
            received.began = Some(now);
        }
    }
}

impl State {
    fn set_script(&mut self, script: Script) {
        self.matched = vec![0; script.replies.len()];
        self.script = script;
    }
}

impl ModelServer {
    /// On a free port of the loopback address.
    ///
    /// # Panics
    /// If loopback has no free port or no thread can be started: a test has no way on then.
    pub fn start(script: Script) -> ModelServer {
        match ModelServer::bind(script, 0) {
            Ok(server) => server,
            #[allow(clippy::panic)]
            Err(error) => panic!("the fake model server cannot start: {error}"),
        }
    }

    pub fn bind(script: Script, port: u16) -> io::Result<ModelServer> {
        let listener = TcpListener::bind(("127.0.0.1", port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let mut state = State::default();
        state.set_script(script);
        let shared = Arc::new(Shared { started: Instant::now(), next: AtomicU64::new(1), state: Mutex::new(state) });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("fake-model-server".into()).spawn(move || {
            runtime.block_on(async move {
                tokio::select! {
                    _ = stopped => {}
                    _ = accept(listener, for_thread) => {}
                }
            });
        })?;
        Ok(ModelServer { address, shared, stop: Some(stop), thread: Some(thread) })
    }

    /// `http://127.0.0.1:PORT`, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far, in the order of arrival.
    pub fn requests(&self) -> Vec<Received> {
        self.shared.state().received.clone()
    }

    pub fn accounting(&self) -> Accounting {
        Accounting::of(&self.shared.state().received)
    }

    /// From the next request on. Rules count anew; the cache and the record stay.
    pub fn set_script(&self, script: Script) {
        self.shared.state().set_script(script);
    }

    /// Empties the record and the cache.
    pub fn forget(&self) {
        let mut state = self.shared.state();
        state.received.clear();
        state.cache = Cache::default();
    }

    /// Serves until the process ends.
    pub fn wait(mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        // A connection that died in the queue is its own trouble, not the server's.
        let Ok((stream, _)) = listener.accept().await else { continue };
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(move |request| handle::handle(Arc::clone(&shared), request));
            // Errors here are callers that hung up and responses that were cut on purpose.
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
