//! The server: a thread with its own small runtime, so that any test can start one and forget it. Dropping it ends everything, and
//! fails when something was left over.

use crate::base::Base;
use crate::faults::{Fault, Times};
use crate::git_http::{self, Service};
use crate::log::{Entry, Log};
use crate::people::Level;
use crate::wire::{Fate, Reply, Request};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// One kind of forge.
pub trait Site: Send + Sized + 'static {
    type Fault: Fault;

    /// Answers a request to anything but git. Nothing means that there is no such route.
    fn answer(&mut self, base: &mut Base<Self::Fault>, request: &Request) -> Option<Reply>;

    /// Branches of a project were pushed to over git.
    fn pushed(&mut self, _base: &mut Base<Self::Fault>, _project: &str) {}

    /// Whatever else should not be there at the end of a test.
    fn leftovers(&self) -> Vec<String> {
        Vec::new()
    }
}

struct State<S: Site> {
    base: Base<S::Fault>,
    site: S,
    forgiven: bool,
}

type Shared<S> = Arc<Mutex<State<S>>>;

fn locked<S: Site>(shared: &Mutex<State<S>>) -> MutexGuard<'_, State<S>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

pub struct Server<S: Site> {
    address: SocketAddr,
    shared: Shared<S>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl<S: Site> Server<S> {
    /// On a free port of the loopback address.
    ///
    /// # Panics
    /// If there is none, or no thread can be started: a test has no way on then.
    pub fn start(site: S) -> Server<S> {
        Server::bind(site, 0).expect("the fake forge starts")
    }

    pub fn bind(site: S, port: u16) -> io::Result<Server<S>> {
        let listener = TcpListener::bind(("127.0.0.1", port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Mutex::new(State { base: Base::new(format!("http://{address}")), site, forgiven: false }));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("fake-forge".into()).spawn(move || {
            runtime.block_on(async move {
                tokio::select! {
                    _ = stopped => {}
                    _ = accept(listener, for_thread) => {}
                }
            });
        })?;
        Ok(Server { address, shared, stop: Some(stop), thread: Some(thread) })
    }

    /// `http://127.0.0.1:PORT`, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Looks at the forge, or changes it, from the test's side. Not to be called from within itself.
    pub fn with<T>(&self, act: impl FnOnce(&mut Base<S::Fault>, &mut S) -> T) -> T {
        let mut state = locked(&self.shared);
        let State { base, site, .. } = &mut *state;
        act(base, site)
    }

    pub fn arm(&self, fault: S::Fault, times: Times) {
        self.with(|base, _| base.faults.arm(fault, times));
    }

    pub fn log(&self) -> Log {
        self.with(|base, _| base.log.clone())
    }

    /// Counts begin anew.
    pub fn forget_log(&self) {
        self.with(|base, _| base.log = Log::default());
    }

    /// What is left over at the end of this test is meant to be.
    pub fn forgive(&self) {
        locked(&self.shared).forgiven = true;
    }

    pub fn leftovers(&self) -> Vec<String> {
        let state = locked(&self.shared);
        let unknown = state.base.log.entries.iter().filter(|entry| entry.unknown);
        let mut left: Vec<String> = unknown.map(|entry| format!("no such route: {} {}", entry.method, entry.target)).collect();
        left.extend(state.base.faults.leftovers());
        left.extend(state.site.leftovers());
        left
    }
}

impl<S: Site> Drop for Server<S> {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let left = self.leftovers();
        let forgiven = locked(&self.shared).forgiven || std::thread::panicking();
        assert!(forgiven || left.is_empty(), "left over:\n  {}", left.join("\n  "));
    }
}

async fn accept<S: Site>(listener: TcpListener, shared: Shared<S>) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        // A connection that died in the queue is its own trouble, not the server's.
        let Ok((stream, _)) = listener.accept().await else { continue };
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(move |request| handle(Arc::clone(&shared), request));
            // Errors here are callers that hung up and answers that were lost on purpose.
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn handle<S: Site>(shared: Shared<S>, request: hyper::Request<Incoming>) -> io::Result<hyper::Response<Full<Bytes>>> {
    let (head, body) = request.into_parts();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let request = Request {
        method: head.method.to_string(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        headers: head.headers.iter().map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect(),
        body: body.collect().await.map_err(io::Error::other)?.to_bytes().to_vec(),
    };
    // git is a process and the lock may be held for as long as one runs.
    let reply = tokio::task::spawn_blocking(move || decide(&shared, &request)).await.map_err(io::Error::other)?;
    match reply.fate {
        Fate::Sent => {}
        Fate::Lost => return Err(io::Error::other("lost on purpose")),
        Fate::Late(wait) => tokio::time::sleep(wait).await,
    }
    let mut response = hyper::Response::builder().status(reply.status);
    for (name, value) in &reply.headers {
        response = response.header(name, value);
    }
    response.body(Full::new(Bytes::from(reply.body))).map_err(io::Error::other)
}

fn decide<S: Site>(shared: &Mutex<State<S>>, request: &Request) -> Reply {
    if let Some((project, tail, service)) = git_http::wanted(request) {
        let reply = git(shared, request, &project, tail, service);
        let mut state = locked(shared);
        let mut entry = entry(&state.base, request, &reply, service == Service::Push, false);
        (entry.is_git, entry.request_body, entry.answer_body) = (true, Vec::new(), Vec::new());
        state.base.log.entries.push(entry);
        return reply;
    }
    let mut state = locked(shared);
    let State { base, site, .. } = &mut *state;
    let answered = site.answer(base, request);
    let unknown = answered.is_none();
    let reply = answered.unwrap_or_else(|| Reply::json(404, &serde_json::json!({ "message": "Not Found" })));
    let is_write = reply.is_write.unwrap_or(!matches!(request.method.as_str(), "GET" | "HEAD" | "OPTIONS"));
    let entry = entry(base, request, &reply, is_write, unknown);
    base.log.entries.push(entry);
    reply
}

fn entry<F: Fault>(base: &Base<F>, request: &Request, reply: &Reply, is_write: bool, unknown: bool) -> Entry {
    let query = if request.query.is_empty() { String::new() } else { format!("?{}", request.query) };
    Entry {
        method: request.method.clone(),
        target: format!("{}{query}", request.path),
        request_headers: request.headers.clone(),
        request_body: request.body.clone(),
        login: base.caller(request).map(|user| user.login),
        status: reply.status,
        answer_headers: reply.headers.clone(),
        answer_body: reply.body.clone(),
        is_write,
        is_git: false,
        unknown,
    }
}

fn git<S: Site>(shared: &Mutex<State<S>>, request: &Request, path: &str, tail: &str, service: Service) -> Reply {
    let ask = || Reply::text(401, "authentication required").header("www-authenticate", "Basic realm=\"forge\"");
    let (folder, login, path) = {
        let state = locked(shared);
        let path = state.base.new_name(path).unwrap_or(path).to_owned();
        let caller = state.base.caller(request);
        if request.token().is_some() && caller.is_none() {
            return ask();
        }
        let needed = if service == Service::Push { Level::Write } else { Level::Read };
        let project = state.base.project(&path).filter(|_| state.base.level(&path, caller.as_ref()) >= needed);
        match (project, &caller) {
            (Some(project), _) => (project.repository.folder().to_owned(), caller.map(|user| user.login), path.clone()),
            (None, None) => return ask(),
            (None, Some(_)) => return Reply::text(404, "repository not found"),
        }
    };
    let reply = git_http::serve(&folder, tail, request, login.as_deref());
    if service == Service::Push && tail == "/git-receive-pack" {
        let mut state = locked(shared);
        let State { base, site, .. } = &mut *state;
        site.pushed(base, &path);
    }
    reply
}
