//! OpenAI Responses.

use super::shape::Shape::{DataUrl, Either, Fields, Free, List, Plain, Typed};
use super::shape::{Field, PICTURES, PICTURES_AND_PDF, Shape};

/// Without `service_tier`, which changes the price.
pub static BODY: [Field; 26] = [
    ("client_metadata", Free),
    ("context_management", Free),
    ("include", Free),
    ("input", Either(&[Plain, List(&ITEM)])),
    ("instructions", Plain),
    ("max_output_tokens", Plain),
    ("max_tool_calls", Plain),
    ("metadata", Free),
    ("model", Plain),
    ("parallel_tool_calls", Plain),
    ("prompt_cache_key", Plain),
    ("prompt_cache_options", Free),
    ("prompt_cache_retention", Plain),
    ("reasoning", Free),
    ("safety_identifier", Plain),
    ("store", Plain),
    ("stream", Plain),
    ("stream_options", Free),
    ("temperature", Plain),
    ("text", Free),
    ("tool_choice", Free),
    ("tools", Free),
    ("top_logprobs", Plain),
    ("top_p", Plain),
    ("truncation", Plain),
    ("user", Plain),
];

const ANNOTATION: Shape = Fields(&[
    ("container_id", Plain),
    ("end_index", Plain),
    ("file_id", Plain),
    ("filename", Plain),
    ("index", Plain),
    ("start_index", Plain),
    ("title", Plain),
    ("url", Plain),
]);

static PART: Shape = Typed(
    None,
    &[
        ("input_text", &[("text", Plain)]),
        ("output_text", &[("text", Plain), ("annotations", List(&ANNOTATION)), ("logprobs", Free)]),
        ("text", &[("text", Plain)]),
        ("summary_text", &[("text", Plain)]),
        ("reasoning_text", &[("text", Plain)]),
        ("refusal", &[("refusal", Plain)]),
        ("encrypted_content", &[("encrypted_content", Plain)]),
        ("input_image", &[("image_url", DataUrl(&PICTURES)), ("detail", Plain)]),
        ("input_file", &[("file_data", DataUrl(&PICTURES_AND_PDF)), ("filename", Plain), ("detail", Plain)]),
    ],
);

const PARTS: Shape = Either(&[Plain, List(&PART)]);
const ID: Field = ("id", Plain);
const CALL: Field = ("call_id", Plain);
const STATUS: Field = ("status", Plain);
const NAME: Field = ("name", Plain);
/// Which group a tool is of, and who called it.
const NAMESPACE: Field = ("namespace", Plain);
const CALLER: Field = ("caller", Free);

static ITEM: Shape = Typed(
    Some("message"),
    &[
        ("message", &[ID, ("role", Plain), ("content", PARTS), STATUS, NAME, ("phase", Plain), ("end_turn", Plain)]),
        ("function_call", &[ID, CALL, NAME, ("arguments", Free), STATUS, NAMESPACE, CALLER]),
        ("function_call_output", &[ID, CALL, NAME, ("output", PARTS), STATUS, CALLER]),
        ("custom_tool_call", &[ID, CALL, NAME, ("input", Free), STATUS, NAMESPACE, CALLER]),
        ("custom_tool_call_output", &[ID, CALL, NAME, ("output", PARTS), STATUS, CALLER]),
        ("reasoning", &[ID, ("summary", List(&PART)), ("content", List(&PART)), ("encrypted_content", Plain), STATUS]),
        ("local_shell_call", &[ID, CALL, ("action", Free), STATUS]),
        ("local_shell_call_output", &[ID, CALL, ("output", Free), STATUS]),
        ("apply_patch_call", &[ID, CALL, ("operation", Free), STATUS, CALLER]),
        ("apply_patch_call_output", &[ID, CALL, ("output", Plain), STATUS, CALLER]),
        ("tool_search_call", &[ID, CALL, ("execution", Plain), ("arguments", Free), STATUS]),
        // What these hold as `tools` is checked with all other tools.
        ("tool_search_output", &[ID, CALL, ("execution", Plain), ("tools", Free), STATUS]),
        ("additional_tools", &[ID, ("role", Plain), ("tools", Free)]),
        ("compaction", &[ID, ("encrypted_content", Plain)]),
        ("compaction_summary", &[ID, ("encrypted_content", Plain)]),
        ("compaction_trigger", &[ID]),
    ],
);
