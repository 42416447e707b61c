//! The proxy itself: a thread with its own small runtime, so that any kind of test can start one. Nothing outlives the value.

use crate::script::{Harm, Rule, Seen, matches};
use crate::turns::Turns;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Either, Full};
use hyper::body::{Body, Frame, Incoming};
use hyper::header::{CONNECTION, CONTENT_LENGTH, HeaderValue, RETRY_AFTER, TRANSFER_ENCODING};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use tokio::net::TcpStream;
use tokio::sync::{oneshot, watch};

pub struct LossyProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    /// Host and port of the real server.
    server: String,
    state: Mutex<State>,
    released: watch::Sender<bool>,
    turns: Turns,
}

#[derive(Default)]
struct State {
    rules: Vec<Rule>,
    seen: Vec<Seen>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LossyProxy {
    /// In front of `origin`, which is `http://127.0.0.1:PORT`.
    pub fn start(origin: &str) -> LossyProxy {
        let server = origin.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a listener");
        let address = listener.local_addr().expect("an address");
        let shared =
            Arc::new(Shared { server, state: Mutex::default(), released: watch::Sender::new(false), turns: Turns::default() });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (stop, stopped) = oneshot::channel();
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("lossy-proxy".into()).spawn(move || {
            runtime.block_on(async move {
                tokio::select! {
                    _ = stopped => {}
                    _ = accept(listener, for_thread) => {}
                }
            });
        });
        LossyProxy { address, shared, stop: Some(stop), thread: Some(thread.expect("a thread")) }
    }

    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From the next request on. Of several rules that meet a request the first one applies; all of them count it.
    pub fn add(&self, rule: Rule) {
        self.shared.state().rules.push(rule);
    }

    /// Lets all go that are held, and holds none from now on.
    pub fn release(&self) {
        self.shared.released.send_replace(true);
    }

    /// From now on each request of these processes waits for [`LossyProxy::let_go`]. A process is known by the token that it sends;
    /// what git sends passes.
    pub fn take_turns(&self, tokens: &[String]) {
        self.shared.turns.begin(tokens);
    }

    /// Lets the next request of a process through and waits for its answer. False when none came for so long.
    pub fn let_go(&self, process: usize, patience: std::time::Duration) -> bool {
        self.shared.turns.let_go(process, patience)
    }

    /// All requests so far, in the order of arrival.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.state().seen.clone()
    }

    /// Requests that came, whether or not they were passed on.
    pub fn count(&self, method: &str, path: &str) -> usize {
        self.shared.state().seen.iter().filter(|seen| matches(method, path, &seen.method, &seen.path)).count()
    }

    /// Requests that the server saw.
    pub fn passed(&self, method: &str, path: &str) -> usize {
        let state = self.shared.state();
        state.seen.iter().filter(|seen| seen.status.is_some() && matches(method, path, &seen.method, &seen.path)).count()
    }

    /// Forgets the rules and the requests.
    pub fn forget(&self) {
        *self.shared.state() = State::default();
    }

    /// # Panics
    /// When a rule never applied: the test did not meet the fault that it is about.
    pub fn assert_used_up(&self) {
        let unused: Vec<String> = self.shared.state().rules.iter().filter_map(Rule::never_applied).collect();
        assert!(unused.is_empty(), "rules that never applied: {unused:#?}");
    }
}

impl Drop for LossyProxy {
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
        let (stream, _) = listener.accept().await?;
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(move |request| handle(Arc::clone(&shared), request));
            // An error is how a connection is cut.
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// An answer, or an error that cuts the connection without one.
async fn handle(shared: Arc<Shared>, request: Request<Incoming>) -> io::Result<Answer> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let (method, path) = (parts.method.as_str().to_owned(), parts.uri.path().to_owned());
    let query = parts.uri.query().unwrap_or_default().to_owned();
    let (index, harm) = {
        let mut state = shared.state();
        let mut harm = None;
        for rule in &mut state.rules {
            if rule.meets(&method, &path) && harm.is_none() {
                harm = Some(rule.harm.clone());
            }
        }
        state.seen.push(Seen { method, path, query, body: body.to_vec(), harm: harm.clone(), status: None });
        (state.seen.len() - 1, harm)
    };
    let turn = shared.turns.wait(&parts).await;
    match &harm {
        Some(Harm::DropRequest) => return Err(cut()),
        Some(Harm::RefuseWith(status)) => return Ok(plain(*status)),
        Some(Harm::AnswerWith(json)) => return Ok(Response::new(whole(json.clone().into()))),
        Some(Harm::Limit(seconds)) => {
            let mut answer = plain(429);
            answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(*seconds));
            return Ok(answer);
        }
        Some(Harm::Delay(time)) => tokio::time::sleep(*time).await,
        // A proxy that is gone holds nothing.
        Some(Harm::Hold) => drop(shared.released.subscribe().wait_for(|released| *released).await),
        Some(Harm::DropAnswer | Harm::CutAnswer | Harm::Garble | Harm::AnswerInstead(_)) | None => {}
    }
    // A task of its own: the server must get to do the work even if the client has hung up meanwhile.
    let asked = tokio::spawn(pass_on(shared.server.clone(), Request::from_parts(parts, Full::new(body))));
    let answer = asked.await.map_err(io::Error::other)??;
    if let Some(seen) = shared.state().seen.get_mut(index) {
        seen.status = Some(answer.status().as_u16());
    }
    drop(turn);
    harmed(harm, answer)
}

fn harmed(harm: Option<Harm>, answer: Response<Bytes>) -> io::Result<Answer> {
    let (mut parts, body) = answer.into_parts();
    let body = match harm {
        Some(Harm::DropAnswer) => return Err(cut()),
        Some(Harm::AnswerInstead(status)) => return Ok(plain(status)),
        Some(Harm::Garble) => {
            parts.headers.remove(CONTENT_LENGTH);
            let mut garbled = body.to_vec();
            garbled.truncate(body.len() / 2);
            garbled.extend_from_slice(b"\x00<html>");
            Bytes::from(garbled)
        }
        // The length that was promised stays, so the connection ends too early.
        Some(Harm::CutAnswer) => {
            parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
            return Ok(Response::from_parts(parts, Either::Right(CutBody(Some(body.slice(..body.len() / 2))))));
        }
        Some(Harm::DropRequest | Harm::RefuseWith(_) | Harm::AnswerWith(_) | Harm::Limit(_) | Harm::Delay(_) | Harm::Hold)
        | None => body,
    };
    Ok(Response::from_parts(parts, whole(body)))
}

async fn pass_on(server: String, mut request: Request<Full<Bytes>>) -> io::Result<Response<Bytes>> {
    let stream = TcpStream::connect(&server).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    tokio::spawn(connection);
    request.headers_mut().remove(CONNECTION);
    request.headers_mut().remove(TRANSFER_ENCODING);
    // The host that the client named stays: a server makes its addresses of it, and they must lead back here.
    let answer = sender.send_request(request).await.map_err(io::Error::other)?;
    let (mut parts, body) = answer.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    for name in [CONNECTION, TRANSFER_ENCODING, CONTENT_LENGTH] {
        parts.headers.remove(name);
    }
    Ok(Response::from_parts(parts, body))
}

type Answer = Response<Either<Full<Bytes>, CutBody>>;

fn whole(body: Bytes) -> Either<Full<Bytes>, CutBody> {
    Either::Left(Full::new(body))
}

/// A part, and then the end of the connection.
struct CutBody(Option<Bytes>);

impl Body for CutBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Poll::Ready(Some(self.0.take().map(Frame::data).ok_or_else(cut)))
    }
}

fn plain(status: u16) -> Answer {
    let mut answer = Response::new(whole(Bytes::from_static(b"<html>the proxy speaks</html>")));
    *answer.status_mut() = StatusCode::from_u16(status).expect("a status");
    answer
}

fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "cut by the script")
}
