//! Talking: heads, bodies, streams, and every way to do it badly.

use super::Shared;
use super::route::Framing;
use crate::cache::Pending;
use crate::reply::{Delivery, Play};
use crate::wire::errors::{Problem, Refusal, refusal};
use crate::wire::{Event, Meta, Part, Stop, Turn, Wire};
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::Response;
use hyper::body::{Body, Frame};
use hyper::http::response::Builder;
use serde_json::Value;
use std::future::pending as never;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::sleep;

pub type Reply = Response<UnsyncBoxBody<Bytes, io::Error>>;

/// A body fed from a task, piece by piece. An error in it cuts the connection.
struct Fed(mpsc::Receiver<io::Result<Bytes>>);

impl Body for Fed {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}

fn full(bytes: impl Into<Bytes>) -> UnsyncBoxBody<Bytes, io::Error> {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// A head that cannot be built is a script's mistake (a status that is none, a header with line breaks) and shows as a 500.
fn finish(head: Builder, body: UnsyncBoxBody<Bytes, io::Error>) -> Reply {
    head.body(body).unwrap_or_else(|error| {
        let mut reply = Response::new(full(format!("the script asks for an impossible head: {error}")));
        *reply.status_mut() = hyper::StatusCode::INTERNAL_SERVER_ERROR;
        reply
    })
}

pub fn json_reply(status: u16, body: &Value) -> Reply {
    finish(Response::builder().status(status).header("content-type", "application/json"), full(body.to_string()))
}

/// The headers a vendor puts on every answer.
fn head(wire: Wire, status: u16, id: &str) -> Builder {
    let head = Response::builder().status(status);
    match wire {
        Wire::Anthropic => head
            .header("request-id", format!("req_{id}"))
            .header("anthropic-organization-id", "00000000-0000-0000-0000-000000000000")
            .header("anthropic-ratelimit-requests-limit", "4000")
            .header("anthropic-ratelimit-requests-remaining", "3999")
            .header("anthropic-ratelimit-requests-reset", "2030-01-01T00:00:00Z"),
        Wire::Responses | Wire::Chat => head
            .header("x-request-id", format!("req_{id}"))
            .header("openai-processing-ms", "1")
            .header("openai-version", "2020-10-01")
            .header("x-ratelimit-limit-requests", "5000")
            .header("x-ratelimit-remaining-requests", "4999")
            .header("x-ratelimit-reset-requests", "12ms"),
        Wire::Gemini => head.header("server", "scaffolding on HTTPServer2").header("vary", "Origin"),
    }
}

pub fn refuse(wire: Wire, refusal: Refusal, retry_after: Option<u64>, id: &str) -> Reply {
    let mut head = head(wire, refusal.status, id).header("content-type", "application/json");
    if let Some(seconds) = retry_after.filter(|_| wire != Wire::Gemini) {
        head = head.header("retry-after", seconds.to_string());
    }
    finish(head, full(refusal.body.to_string()))
}

/// A request whose answer is decided.
pub struct Answering {
    pub shared: Arc<Shared>,
    pub wire: Wire,
    pub framing: Framing,
    pub play: Play,
    pub meta: Meta,
    pub pending: Pending,
    /// Its place in the record.
    pub index: usize,
    pub first_byte: Duration,
    pub chunk: Duration,
}

impl Answering {
    pub async fn reply(self) -> io::Result<Reply> {
        let (wire, id) = (self.wire, self.meta.id.clone());
        match self.play.clone() {
            Play::Refuse { problem, message, retry_after } => {
                let refusal = refusal(wire, &problem, message.as_deref(), retry_after, &id);
                Ok(refuse(wire, refusal, retry_after, &id))
            }
            Play::Silence { after_head: false } => never().await,
            Play::Silence { after_head: true } => {
                Ok(self.fed(head(wire, 200, &id), |sender, _| async move { sender.closed().await }))
            }
            Play::Redirect { to, code } => Ok(finish(Response::builder().status(code).header("location", to), full(""))),
            Play::Garbage => {
                let noise: Vec<u8> = (0..2048_u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
                Ok(finish(head(wire, 200, &id).header("content-type", self.content_type()), full(noise)))
            }
            Play::Empty => Ok(finish(head(wire, 200, &id).header("content-type", self.content_type()), full(""))),
            Play::Say { turn, delivery } => Ok(self.say(turn, delivery).await),
        }
    }

    fn content_type(&self) -> &'static str {
        match (self.framing, self.wire) {
            (Framing::Events, Wire::Anthropic | Wire::Responses) => "text/event-stream; charset=utf-8",
            (Framing::Events, Wire::Chat | Wire::Gemini) => "text/event-stream",
            (Framing::Array | Framing::Whole | Framing::ByBody, _) => "application/json",
        }
    }

    async fn say(self, turn: Turn, delivery: Delivery) -> Reply {
        let mut head = head(self.wire, 200, &self.meta.id).header("content-type", self.content_type());
        if let Delivery::BigHeaders { bytes } = delivery {
            // Single headers stay under a size that clients commonly allow; it is their sum that grows.
            for index in 0..bytes.div_ceil(4096) {
                head = head.header(format!("x-padding-{index}"), "p".repeat(4096));
            }
        }
        match self.framing {
            Framing::Events | Framing::Array => {
                head = head.header("cache-control", "no-cache");
                self.fed(head, move |sender, answering| answering.stream(sender, turn, delivery))
            }
            Framing::Whole | Framing::ByBody => self.whole(head, turn, delivery).await,
        }
    }

    fn fed<F>(self, head: Builder, feed: impl FnOnce(mpsc::Sender<io::Result<Bytes>>, Answering) -> F) -> Reply
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (sender, receiver) = mpsc::channel(4);
        tokio::spawn(feed(sender, self));
        finish(head, Fed(receiver).boxed_unsync())
    }

    async fn whole(mut self, head: Builder, turn: Turn, delivery: Delivery) -> Reply {
        let (wire, id) = (self.wire, self.meta.id.clone());
        if matches!(delivery, Delivery::ErrorEvent { .. }) {
            let status = if wire == Wire::Anthropic { 529 } else { 503 };
            return refuse(wire, refusal(wire, &Problem::Status(status), None, None, &id), None, &id);
        }
        sleep(self.first_byte).await;
        self.shared.begin(self.index, std::mem::take(&mut self.pending));
        let body = wire.body(&turn, &self.meta).to_string();
        match delivery {
            Delivery::Whole | Delivery::BigHeaders { .. } | Delivery::ErrorEvent { .. } => finish(head, full(body)),
            Delivery::Stall { .. } | Delivery::Cut { .. } => self.fed(head, move |sender, _| async move {
                let half = body.chars().take(body.chars().count() / 2).collect::<String>();
                let _ = sender.send(Ok(half.into())).await;
                end_badly(sender, delivery).await;
            }),
            Delivery::Endless => self.fed(head, move |sender, answering| async move {
                // The body up to where the words begin, and then words.
                const HERE: &str = "@here@";
                let body =
                    wire.body(&Turn { parts: vec![Part::Text(HERE.into())], stop: Stop::Done }, &answering.meta).to_string();
                let start = body.split(HERE).next().unwrap_or_default().to_owned();
                let mut piece = start;
                while sender.send(Ok(piece.into())).await.is_ok() {
                    sleep(answering.chunk).await;
                    piece = "and so on ".repeat(100);
                }
            }),
        }
    }

    async fn stream(mut self, sender: mpsc::Sender<io::Result<Bytes>>, turn: Turn, delivery: Delivery) {
        sleep(self.first_byte).await;
        self.shared.begin(self.index, std::mem::take(&mut self.pending));
        let events = self.wire.events(&turn, &self.meta);
        let mut deltas = 0;
        for (index, event) in events.iter().enumerate() {
            let limit = match delivery {
                Delivery::Stall { after } | Delivery::Cut { after } | Delivery::ErrorEvent { after } => Some(after),
                Delivery::Whole | Delivery::Endless | Delivery::BigHeaders { .. } => None,
            };
            // Short answers have fewer pieces than the script may say: the end of the pieces is late enough then.
            let over = deltas > 0 && !event.delta;
            if limit.is_some_and(|after| (event.delta && deltas >= after) || over) {
                if matches!(delivery, Delivery::ErrorEvent { .. }) {
                    let last = self.wire.overloaded_event(&self.meta, index);
                    let _ = sender.send(Ok(self.frame(&last, index == 0, true).into())).await;
                }
                return end_badly(sender, delivery).await;
            }
            deltas += usize::from(event.delta);
            let last = index + 1 == events.len();
            if sender.send(Ok(self.frame(event, index == 0, last).into())).await.is_err() {
                return;
            }
            if event.delta && delivery == Delivery::Endless {
                while sender.send(Ok(self.frame(event, false, false).into())).await.is_ok() {
                    sleep(self.chunk).await;
                }
                return;
            }
            // Even an impatient script lets the other connections have their turn.
            if self.chunk.is_zero() { tokio::task::yield_now().await } else { sleep(self.chunk).await }
        }
    }

    fn frame(&self, event: &Event, first: bool, last: bool) -> String {
        if self.framing != Framing::Array {
            return event.encode(self.wire);
        }
        let element = event.encode(Wire::Gemini);
        let element = element.trim_start_matches("data: ").trim_end();
        format!("{}{element}{}", if first { "[" } else { ",\r\n" }, if last { "]" } else { "" })
    }
}

async fn end_badly(sender: mpsc::Sender<io::Result<Bytes>>, delivery: Delivery) {
    match delivery {
        Delivery::Stall { .. } => sender.closed().await,
        Delivery::Cut { .. } => {
            // The pieces before must leave first: an error overtakes what is still buffered.
            sleep(Duration::from_millis(20)).await;
            let _ = sender.send(Err(io::Error::other("cut by the script"))).await;
        }
        Delivery::Whole | Delivery::ErrorEvent { .. } | Delivery::Endless | Delivery::BigHeaders { .. } => {}
    }
}
