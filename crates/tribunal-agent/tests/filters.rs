//! Whatever is shown was written by somebody else, and passes through filters that have no clock: each takes time in proportion to
//! its text. A search from every match to the end of the text is what these tests look for.

// The core has no clock, not even in a test, so they stand here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod thread_time;

use std::time::Duration;
use thread_time::worked;
use tribunal_core::feedback::log::excerpt;
use tribunal_core::findings::plain::plain;
use tribunal_core::publish::markdown::{fenced, inert};
use tribunal_core::publish::outgoing::known::KnownSecrets;
use tribunal_core::publish::outgoing::mask::{Suspicion, mask_as};
use tribunal_core::publish::outgoing::{filtered_with, masked_json_text, replacement};
use tribunal_core::publish::visible::{on_terminal, visible_line};

const BYTES: usize = 16 * 1024;

/// What a filter looks for, without what ends it, again and again.
const REPEATED: [&str; 24] = [
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----A-----END",
    "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEAqV7hT9xLk2Zr5WcPf8sN\n",
    "Private-Lines: 1\n",
    "Authorization: Bearer ",
    "password = \"",
    "token:\n",
    "postgres://a:",
    "//a:_authToken=",
    "eyJaaaaaaaaaaaaa.",
    "aws_secret_access_key=A1b2C3d4E5f6G7h8 ",
    "tok-5f3e9a7c2b1",
    "5f3e9a7c2b1d",
    "<!-- tribunal:1 ",
    "<!-- ",
    "[a](",
    "![",
    "ahttp://",
    "www.",
    "://",
    "` `` ``` | ",
    "@a#1",
    "\u{1b}[0;",
    "\u{200b}",
];

/// Runs of backticks, each longer than the one before: none is closed.
fn growing_runs(bytes: usize) -> String {
    let mut text = String::new();
    for length in 1.. {
        if text.len() >= bytes {
            break;
        }
        text.push_str(&"`".repeat(length));
        text.push(' ');
    }
    text
}

fn texts(bytes: usize) -> Vec<(&'static str, String)> {
    let repeated = REPEATED.iter().map(|part| (*part, part.repeat(bytes / part.len())));
    repeated.chain([("growing runs of backticks", growing_runs(bytes))]).collect()
}

type Filter = (&'static str, fn(&str) -> usize);

const FILTERS: [Filter; 9] = [
    ("filtered_with", |text| filtered_with(text, &KnownSecrets::new(["tok-5f3e9a7c2b1d4e6f8091"])).len()),
    ("mask_as", |text| mask_as(text, Suspicion::AboutSecrets).len()),
    ("masked_json_text", |text| masked_json_text(&serde_json::json!([text]).to_string()).len()),
    ("replacement::problem", |text| replacement::problem(text, text).map_or(0, |problem| problem.words().len())),
    ("log lines", |text| excerpt(text).len()),
    ("inert", |text| inert(text).len()),
    ("plain", |text| plain(text).len()),
    ("fenced", |text| fenced("", text).len()),
    ("on_terminal", |text| on_terminal(text).len() + visible_line(text).len()),
];

fn time_of(filter: fn(&str) -> usize, text: &str) -> Duration {
    let begun = worked();
    std::hint::black_box(filter(text));
    worked() - begun
}

/// Issue 16, point 19: a comment line of `-----BEGIN PRIVATE KEY-----` must not hold a review up for a minute.
#[test]
fn filters_take_time_in_proportion_to_the_text() {
    for (name, filter) in FILTERS {
        for ((part, small), (_, large)) in texts(BYTES).into_iter().zip(texts(4 * BYTES)) {
            // The first run compiles what both need. Then the quickest of several runs, taken in turns, are compared: a neighbour
            // on the same core slows single runs down. What takes less than a few milliseconds is noise.
            time_of(filter, &small);
            let (mut one, mut four) = (time_of(filter, &small), time_of(filter, &large));
            let in_proportion = |one: Duration, four: Duration| four <= one.max(Duration::from_millis(8)) * 5;
            for _ in 0..20 {
                if in_proportion(one, four) {
                    break;
                }
                one = one.min(time_of(filter, &small));
                four = four.min(time_of(filter, &large));
            }
            assert!(in_proportion(one, four), "{name} of {part:?}: {one:?} for {BYTES} bytes, {four:?} for four times as many");
        }
    }
}
