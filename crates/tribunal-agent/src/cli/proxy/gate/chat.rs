//! OpenAI Chat Completions, with the fields of servers that speak the same.

use super::shape::Shape::{DataUrl, Either, Fields, Free, List, Plain, Typed};
use super::shape::{Field, PICTURES, PICTURES_AND_PDF, Shape};

/// Without what changes the price: `service_tier`, `n` (several answers), `prediction` (wrong guesses are paid for) and `modalities`
/// (sound and pictures as answers).
pub static BODY: [Field; 40] = [
    ("chat_template_kwargs", Free),
    ("enable_thinking", Plain),
    ("frequency_penalty", Plain),
    ("function_call", Free),
    ("functions", Free),
    ("keep_alive", Plain),
    ("logit_bias", Free),
    ("logprobs", Plain),
    ("max_completion_tokens", Plain),
    ("max_tokens", Plain),
    ("messages", List(&MESSAGE)),
    ("metadata", Free),
    ("min_p", Plain),
    ("model", Plain),
    ("options", Free),
    ("parallel_tool_calls", Plain),
    ("presence_penalty", Plain),
    ("prompt_cache_key", Plain),
    ("prompt_cache_retention", Plain),
    ("reasoning", Free),
    ("reasoning_effort", Plain),
    ("repetition_penalty", Plain),
    ("response_format", Free),
    ("safety_identifier", Plain),
    ("seed", Plain),
    ("stop", Free),
    ("store", Plain),
    ("stream", Plain),
    ("stream_options", Free),
    ("temperature", Plain),
    ("think", Plain),
    ("thinking", Free),
    ("tool_choice", Free),
    ("tools", Free),
    ("top_k", Plain),
    ("top_logprobs", Plain),
    ("top_p", Plain),
    ("usage", Free),
    ("user", Plain),
    ("verbosity", Plain),
];

const CACHE: Field = ("cache_control", Fields(&[("ttl", Plain)]));
/// Where servers keep Gemini's signatures.
const EXTRA: Field = ("extra_content", Fields(&[("google", Fields(&[("thought_signature", Plain)]))]));
/// A call of a tool, whose arguments are the tool's own.
const FUNCTION: Field = ("function", Fields(&[("name", Plain), ("arguments", Free)]));
const DETAIL: Field = ("detail", Plain);

static PART: Shape = Typed(
    None,
    &[
        ("text", &[("text", Plain), CACHE, EXTRA]),
        ("refusal", &[("refusal", Plain)]),
        ("thinking", &[("thinking", Either(&[Plain, List(&PART)])), ("signature", Plain), ("closed", Plain)]),
        ("image_url", &[("image_url", Either(&[DataUrl(&PICTURES), Fields(&[("url", DataUrl(&PICTURES)), DETAIL])])), CACHE]),
        ("file", &[("file", Fields(&[("file_data", DataUrl(&PICTURES_AND_PDF)), ("filename", Plain)])), CACHE]),
    ],
);

static TOOL_CALL: Shape = Fields(&[
    ("id", Plain),
    ("index", Plain),
    FUNCTION,
    ("custom", Fields(&[("name", Plain), ("input", Free)])),
    ("thought_signature", Plain),
    CACHE,
    EXTRA,
]);

/// Thoughts that are sent back, as some servers want them.
static REASONING: Shape = Fields(&[
    ("data", Plain),
    ("format", Plain),
    ("id", Plain),
    ("index", Plain),
    ("signature", Plain),
    ("summary", Plain),
    ("text", Plain),
]);

static MESSAGE: Shape = Fields(&[
    ("role", Plain),
    ("content", Either(&[Plain, List(&PART)])),
    ("name", Plain),
    ("id", Plain),
    ("tool_calls", List(&TOOL_CALL)),
    ("tool_call_id", Plain),
    ("function_call", Fields(&[("name", Plain), ("arguments", Free)])),
    ("refusal", Plain),
    ("reasoning", Plain),
    ("reasoning_content", Plain),
    ("reasoning_details", List(&REASONING)),
    ("reasoning_opaque", Plain),
    ("reasoning_text", Plain),
    ("encrypted_content", Plain),
    ("phase", Plain),
    ("signature", Plain),
    ("copilot_cache_control", Fields(&[])),
    CACHE,
    EXTRA,
]);
