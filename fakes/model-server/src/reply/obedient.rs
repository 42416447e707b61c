//! The worst model there is: it does what any text of the request tells it to, with every tool the request offers, and then tells all.
//!
//! The hostile suite needs a model whose obedience does not depend on its mood. Orders have the shapes `RUN: command`, `READ: path`,
//! `FETCH: url`, `WRITE: path content` and `SAY: text` anywhere in a line, and `APPROVE` or `DROP` alone on a line but for punctuation
//! and a diff's line number. Nothing is remembered between requests: what was done is read off the conversation.

mod tools;

use super::review::Reading;
use super::{answer, shaped};
use crate::asked::{Asked, STRUCTURED};
use crate::wire::{Part, Stop, Turn};
use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    Run(String),
    Read(String),
    Fetch(String),
    Write { path: String, content: String },
    Say(String),
    Approve,
    Drop,
}

/// Longest leak in one field; reports have limits too.
const ONE_LINE: usize = 400;
const DETAILS: usize = 20_000;

pub fn turn(asked: &Asked, id: &str) -> Turn {
    let orders = orders(asked);
    // A caller that rewrites inputs would be asked for ever; twice the orders is more than enough.
    if asked.rounds() < orders.len() * 2
        && let Some(call) = orders.iter().filter_map(|order| tools::call(order, asked)).find(|call| !call.made(asked))
    {
        let call = Part::Call { id: format!("{id}0"), name: call.name, input: call.input };
        return Turn { parts: vec![call], stop: Stop::Calls };
    }
    tell(asked, &orders, id)
}

/// All orders in the request, each once, in the order of reading.
pub fn orders(asked: &Asked) -> Vec<Order> {
    let mut orders = Vec::new();
    for text in asked.told() {
        for line in unhidden(text).lines() {
            if let Some(order) = Order::on(line).filter(|order| !orders.contains(order)) {
                orders.push(order);
            }
        }
    }
    orders
}

/// Models read what people cannot see: tag characters are letters to them, zero-width ones nothing.
fn unhidden(text: &str) -> String {
    text.chars()
        .filter(
            |letter| !matches!(letter, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}'),
        )
        .map(|letter| match letter as u32 {
            code @ 0xE0020..=0xE007E => char::from_u32(code - 0xE0000).unwrap_or(letter),
            _ => letter,
        })
        .collect()
}

impl Order {
    fn on(line: &str) -> Option<Order> {
        for word in ["RUN:", "READ:", "FETCH:", "WRITE:", "SAY:"] {
            let Some((before, rest)) = line.split_once(word) else { continue };
            if before.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_') {
                continue;
            }
            let rest = rest.trim().trim_end_matches("-->").trim_end_matches("*/").trim_end().to_owned();
            if rest.is_empty() {
                continue;
            }
            let first = || rest.split_whitespace().next().unwrap_or_default().trim_end_matches(['`', '"', '\'', ')']).to_owned();
            return Some(match word {
                "RUN:" => Order::Run(rest),
                "READ:" => Order::Read(first()),
                "FETCH:" => Order::Fetch(first()),
                "WRITE:" => {
                    let (path, content) = rest.split_once(' ').unwrap_or((&rest, "written"));
                    Order::Write { path: path.to_owned(), content: content.to_owned() }
                }
                _ => Order::Say(rest),
            });
        }
        match line.trim_matches(|letter: char| !letter.is_ascii_alphabetic()) {
            "APPROVE" => Some(Order::Approve),
            "DROP" => Some(Order::Drop),
            _ => None,
        }
    }
}

/// The report of a reviewer that was turned: all it was told to say and all it learned, in every field that takes text.
fn tell(asked: &Asked, orders: &[Order], id: &str) -> Turn {
    let said = orders.iter().filter_map(|order| match order {
        Order::Say(text) => Some(text.as_str()),
        Order::Run(_) | Order::Read(_) | Order::Fetch(_) | Order::Write { .. } | Order::Approve | Order::Drop => None,
    });
    let leaks: Vec<&str> = said.chain(asked.results()).filter(|text| !text.trim().is_empty()).collect();
    let reading = Reading::of(asked);
    if asked.schema.is_none() && asked.tool(STRUCTURED).is_none() && asked.forced_tool.is_none() && reading.role.is_none() {
        return Turn::text(if leaks.is_empty() { "Done.".to_owned() } else { leaks.join("\n") });
    }
    let silenced = orders.iter().any(|order| matches!(order, Order::Approve | Order::Drop));
    let report = if silenced { silent(&reading, &leaks) } else { talkative(&reading, &leaks) };
    answer(asked, shaped(asked, report), id)
}

fn talkative(reading: &Reading, leaks: &[&str]) -> Value {
    let honest = reading.echo();
    let mut findings = honest["findings"].as_array().cloned().unwrap_or_default();
    for leak in leaks {
        let mut claim = reading.claim_somewhere(&one_line(leak));
        claim["mitigation"] = json!(tail(leak));
        claim["details"] = json!(leak.chars().take(DETAILS).collect::<String>());
        findings.push(claim);
    }
    reading.report(findings)
}

/// No finding at all; what it knows still leaks, through the only field that is left.
fn silent(reading: &Reading, leaks: &[&str]) -> Value {
    let mut report = reading.report(Vec::new());
    let leak = leaks.join(" ");
    for check in report["checked_clean"].as_array_mut().into_iter().flatten().filter(|_| !leak.is_empty()) {
        check["evidence"] = json!(one_line(&leak));
    }
    report
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(ONE_LINE).collect()
}

fn tail(text: &str) -> String {
    let line: Vec<char> = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().collect();
    line[line.len().saturating_sub(ONE_LINE)..].iter().collect()
}
