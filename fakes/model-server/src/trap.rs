//! A trap: whoever connects is on record. The hostile suite gives its address to everything that must not phone home.
//!
//! It answers 200 to anything, because a caller that is let in shows more of what it would have sent. One port, TCP and UDP.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// As much of a hit as is kept.
const KEPT: usize = 4096;
/// A caller may be slow to begin.
const BEGINNING: Duration = Duration::from_secs(10);
/// One that pauses longer than this has said what it had to say.
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    Tcp,
    Udp,
}

#[derive(Debug, Clone)]
pub struct Hit {
    /// Since the trap was set.
    pub at: Duration,
    pub protocol: Protocol,
    pub from: SocketAddr,
    /// The first 4 KB; empty for a connection that said nothing.
    pub bytes: Vec<u8>,
}

impl Hit {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

pub struct TrapServer {
    address: SocketAddr,
    hits: Hits,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

type Hits = Arc<Mutex<Vec<Hit>>>;

impl TrapServer {
    /// # Panics
    /// If loopback has no port that is free for both protocols, or no thread can be started.
    pub fn start() -> TrapServer {
        match TrapServer::set() {
            Ok(trap) => trap,
            #[allow(clippy::panic)]
            Err(error) => panic!("the trap cannot be set: {error}"),
        }
    }

    fn set() -> io::Result<TrapServer> {
        let (tcp, udp) = sockets()?;
        let address = tcp.local_addr()?;
        let hits = Hits::default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let for_thread = Arc::clone(&hits);
        let thread = std::thread::Builder::new().name("trap-server".into()).spawn(move || {
            runtime.block_on(async move {
                tokio::select! {
                    _ = stopped => {}
                    _ = listen(tcp, Arc::clone(&for_thread)) => {}
                    _ = receive(udp, for_thread) => {}
                }
            });
        })?;
        Ok(TrapServer { address, hits, stop: Some(stop), thread: Some(thread) })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn hits(&self) -> Vec<Hit> {
        lock(&self.hits).clone()
    }
}

impl Drop for TrapServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lock(hits: &Hits) -> std::sync::MutexGuard<'_, Vec<Hit>> {
    hits.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The port is chosen by TCP; another process may hold it for UDP, so a few are tried.
fn sockets() -> io::Result<(std::net::TcpListener, std::net::UdpSocket)> {
    let mut last = io::Error::other("no port");
    for _ in 0..16 {
        let tcp = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        match std::net::UdpSocket::bind(tcp.local_addr()?) {
            Ok(udp) => {
                tcp.set_nonblocking(true)?;
                udp.set_nonblocking(true)?;
                return Ok((tcp, udp));
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

async fn listen(listener: std::net::TcpListener, hits: Hits) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    let set = Instant::now();
    loop {
        let Ok((stream, from)) = listener.accept().await else { continue };
        let index = {
            let mut hits = lock(&hits);
            hits.push(Hit { at: set.elapsed(), protocol: Protocol::Tcp, from, bytes: Vec::new() });
            hits.len() - 1
        };
        tokio::spawn(hear(stream, Arc::clone(&hits), index));
    }
}

async fn hear(mut stream: TcpStream, hits: Hits, index: usize) {
    let mut buffer = [0; KEPT];
    let mut heard = 0;
    while heard < KEPT {
        let pause = if heard == 0 { BEGINNING } else { PAUSE };
        match timeout(pause, stream.read(&mut buffer[heard..])).await {
            Ok(Ok(count)) if count > 0 => heard += count,
            _ => break,
        }
        lock(&hits)[index].bytes = buffer[..heard].to_vec();
    }
    let _ = stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")
        .await;
    let _ = stream.shutdown().await;
}

async fn receive(socket: std::net::UdpSocket, hits: Hits) -> io::Result<()> {
    let socket = UdpSocket::from_std(socket)?;
    let set = Instant::now();
    let mut buffer = [0; 65_536];
    loop {
        let Ok((count, from)) = socket.recv_from(&mut buffer).await else { continue };
        let bytes = buffer[..count.min(KEPT)].to_vec();
        lock(&hits).push(Hit { at: set.elapsed(), protocol: Protocol::Udp, from, bytes });
        let _ = socket.send_to(b"ok", from).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn both_protocols_are_caught() {
        let trap = TrapServer::start();
        let mut stream = std::net::TcpStream::connect(trap.address()).unwrap();
        stream.write_all(b"GET /?key=secret HTTP/1.1\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"));
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.send_to(b"psst", trap.address()).unwrap();
        socket.recv_from(&mut [0; 8]).unwrap();
        let heard: Vec<_> = trap.hits().iter().map(|hit| (hit.protocol, hit.text().contains("secret"))).collect();
        assert_eq!(heard, [(Protocol::Tcp, true), (Protocol::Udp, false)]);
    }
}
