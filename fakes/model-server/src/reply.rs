//! From a script's reply to what goes over the wire: the words, the form the caller wants them in, and the fault, if any.

pub mod obedient;
pub mod review;

use crate::asked::{Asked, STRUCTURED};
use crate::script::{Fault, Reply};
use crate::wire::errors::Problem;
use crate::wire::{Part, Stop, Turn, tokens};
use review::Reading;
use serde_json::{Value, json};

/// What the server does with a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Play {
    Say { turn: Turn, delivery: Delivery },
    Refuse { problem: Problem, message: Option<String>, retry_after: Option<u64> },
    Silence { after_head: bool },
    Redirect { to: String, code: u16 },
    Garbage,
    Empty,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    Whole,
    Stall { after: usize },
    Cut { after: usize },
    ErrorEvent { after: usize },
    Endless,
    BigHeaders { bytes: usize },
}

/// `id` makes the ids of tool calls unique over the life of the server.
pub fn play(reply: &Reply, asked: &Asked, id: &str) -> Play {
    let mut play = choose(reply, asked, id);
    if let Play::Say { turn, .. } = &mut play {
        limit(turn, asked.max_tokens);
    }
    play
}

fn choose(reply: &Reply, asked: &Asked, id: &str) -> Play {
    let whole = |turn| Play::Say { turn, delivery: Delivery::Whole };
    match reply {
        Reply::Json(value) => whole(answer(asked, value.clone(), id)),
        Reply::Text(text) => whole(Turn::text(text)),
        Reply::Report(plan) => whole(answer(asked, shaped(asked, Reading::of(asked).planned(plan)), id)),
        Reply::Echo => whole(answer(asked, echo(asked), id)),
        Reply::Obedient => whole(obedient::turn(asked, id)),
        Reply::ToolCalls { .. } => tool_round(reply, asked, id),
        Reply::Fault(fault) => trouble(fault, asked, id),
    }
}

/// Each round of calls that the conversation already holds peels one layer off.
fn tool_round(reply: &Reply, asked: &Asked, id: &str) -> Play {
    let mut reply = reply;
    let mut rounds = asked.rounds();
    while let Reply::ToolCalls { calls, then } = reply {
        if rounds == 0 {
            let call = |(index, call): (usize, &crate::script::ToolCall)| Part::Call {
                id: format!("{id}{index}"),
                name: call.name.clone(),
                input: call.input.clone(),
            };
            let parts = calls.iter().enumerate().map(call).collect();
            return Play::Say { turn: Turn { parts, stop: Stop::Calls }, delivery: Delivery::Whole };
        }
        rounds -= 1;
        reply = then;
    }
    choose(reply, asked, id)
}

fn trouble(fault: &Fault, asked: &Asked, id: &str) -> Play {
    let refuse = |problem| Play::Refuse { problem, message: None, retry_after: None };
    let say = |turn, delivery| Play::Say { turn, delivery };
    let good = |delivery| say(answer(asked, echo(asked), id), delivery);
    match fault {
        Fault::Status { code, retry_after, message } => {
            Play::Refuse { problem: Problem::Status(*code), message: message.clone(), retry_after: *retry_after }
        }
        Fault::Money => refuse(Problem::Money),
        Fault::SpendLimit => refuse(Problem::SpendLimit),
        Fault::BadKey => refuse(Problem::BadKey),
        Fault::PromptTooLong => refuse(Problem::PromptTooLong),
        Fault::Silence { after_head } => Play::Silence { after_head: *after_head },
        Fault::Stall { after } => good(Delivery::Stall { after: *after }),
        Fault::Cut { after } => good(Delivery::Cut { after: *after }),
        Fault::ErrorEvent { after } => good(Delivery::ErrorEvent { after: *after }),
        Fault::BigHeaders { bytes } => good(Delivery::BigHeaders { bytes: *bytes }),
        Fault::CutJson => say(Turn::text(half(&echo(asked))), Delivery::Whole),
        Fault::MaxTokens => say(Turn { parts: vec![Part::Text(half(&echo(asked)))], stop: Stop::MaxTokens }, Delivery::Whole),
        Fault::IgnoredSchema => {
            let prose = "I looked at the change and on the whole it reads well. One could name a few things differently.";
            say(Turn::text(prose), Delivery::Whole)
        }
        Fault::WrongSchema => {
            let other = json!({ "verdict": "fine", "score": 7, "remarks": ["nothing to add"] });
            say(answer(asked, other, id), Delivery::Whole)
        }
        Fault::Refusal => {
            let words = Part::Text("I'm sorry, but I can't help with that.".into());
            say(Turn { parts: vec![words], stop: Stop::Refused }, Delivery::Whole)
        }
        Fault::Endless => say(Turn::text("and so on "), Delivery::Endless),
        Fault::Redirect { to, code } => Play::Redirect { to: to.clone(), code: *code },
        Fault::Garbage => Play::Garbage,
        Fault::Empty => Play::Empty,
    }
}

fn echo(asked: &Asked) -> Value {
    shaped(asked, Reading::of(asked).echo())
}

/// Under a schema the answer follows it; a tool that takes the answer has a schema too.
pub fn shaped(asked: &Asked, value: Value) -> Value {
    let tool = answer_tool(asked).and_then(|name| asked.tool(name)).map(|tool| &tool.schema);
    match asked.schema.as_ref().or(tool) {
        Some(schema) if schema.is_object() => crate::asked::schema::conform(value, schema),
        _ => value,
    }
}

fn answer_tool(asked: &Asked) -> Option<&str> {
    asked.forced_tool.as_deref().or_else(|| asked.tool(STRUCTURED).map(|tool| tool.name.as_str()))
}

/// The final answer in the form the caller reads: the tool that takes it, or text.
pub fn answer(asked: &Asked, value: Value, id: &str) -> Turn {
    match answer_tool(asked) {
        Some(STRUCTURED) if asked.structured_taken() => Turn::text("Done."),
        Some(name) => {
            let call = Part::Call { id: format!("{id}0"), name: name.to_owned(), input: value };
            Turn { parts: vec![call], stop: Stop::Calls }
        }
        None => Turn::text(value.to_string()),
    }
}

fn half(value: &Value) -> String {
    let text = value.to_string();
    text.chars().take(text.chars().count() / 2).collect()
}

/// The caller's own limit. Zero is the call that only warms the cache.
fn limit(turn: &mut Turn, max_tokens: Option<u64>) {
    let Some(most) = max_tokens else { return };
    if most == 0 {
        *turn = Turn { parts: Vec::new(), stop: Stop::MaxTokens };
    }
    for part in &mut turn.parts {
        if let Part::Text(text) = part
            && tokens(text) > most
        {
            *text = text.chars().take(most as usize * 4).collect();
            turn.stop = Stop::MaxTokens;
        }
    }
}

#[cfg(test)]
mod tests;
