//! Anthropic Messages.

use super::shape::Shape::{Base64, Either, Fields, Free, Kept, List, Plain, Typed, Word};
use super::shape::{DOCUMENT, Field, PICTURE, PICTURES, Shape};

/// Neither `service_tier`, `speed` nor `inference_geo`: they change the price.
pub static BODY: [Field; 22] = [
    ("anthropic_version", Free),
    ("betas", Free),
    ("cache_control", CACHE),
    ("context_management", Free),
    ("diagnostics", Free),
    ("effort", Free),
    ("max_tokens", Plain),
    ("messages", List(&Fields(&[("role", Plain), ("content", Either(&[Plain, List(&PART)]))]))),
    ("metadata", Free),
    ("model", Plain),
    ("output_config", Free),
    ("output_format", Free),
    ("stop_sequences", Free),
    ("stream", Plain),
    ("system", Either(&[Plain, List(&Typed(None, &[("text", &TEXT)]))])),
    ("temperature", Plain),
    ("thinking", Free),
    ("tool_choice", Free),
    ("tools", Free),
    ("top_k", Plain),
    ("top_p", Plain),
    ("user_profile_id", Plain),
];

/// Without `ttl`: an hour costs more than the price list says.
pub const CACHE: Shape = Kept(&[("type", Plain)]);

const CITATIONS: Shape = Either(&[CITATION, List(&CITATION)]);
const CITATION: Shape = Fields(&[
    ("cited_text", Plain),
    ("document_index", Plain),
    ("document_title", Plain),
    ("enabled", Plain),
    ("end_block_index", Plain),
    ("end_char_index", Plain),
    ("end_page_number", Plain),
    ("encrypted_index", Plain),
    ("file_id", Plain),
    ("search_result_index", Plain),
    ("source", Plain),
    ("start_block_index", Plain),
    ("start_char_index", Plain),
    ("start_page_number", Plain),
    ("title", Plain),
    ("url", Plain),
]);

static TEXT: [Field; 3] = [("text", Plain), ("cache_control", CACHE), ("citations", CITATIONS)];

static IMAGE: [Field; 2] = [
    ("source", Typed(None, &[("base64", &[("media_type", Word(&PICTURES)), ("data", Base64(PICTURE))])])),
    ("cache_control", CACHE),
];

static DOCUMENT_FIELDS: [Field; 5] = [
    (
        "source",
        Typed(
            None,
            &[
                ("base64", &[("media_type", Word(&["application/pdf"])), ("data", Base64(DOCUMENT))]),
                ("text", &[("media_type", Word(&["text/plain"])), ("data", Plain)]),
                ("content", &[("content", Either(&[Plain, List(&Typed(None, &[("text", &TEXT), ("image", &IMAGE)]))]))]),
            ],
        ),
    ),
    ("title", Plain),
    ("context", Plain),
    ("citations", CITATIONS),
    ("cache_control", CACHE),
];

static REFERENCE: [Field; 2] = [("tool_name", Plain), ("cache_control", CACHE)];

static RESULT: Shape =
    Typed(None, &[("text", &TEXT), ("image", &IMAGE), ("document", &DOCUMENT_FIELDS), ("tool_reference", &REFERENCE)]);

static PART: Shape = Typed(
    None,
    &[
        ("text", &TEXT),
        ("image", &IMAGE),
        ("document", &DOCUMENT_FIELDS),
        ("tool_reference", &REFERENCE),
        ("tool_use", &[("id", Plain), ("name", Plain), ("input", Free), ("caller", Free), ("cache_control", CACHE)]),
        (
            "tool_result",
            &[
                ("tool_use_id", Plain),
                ("content", Either(&[Plain, List(&RESULT)])),
                ("is_error", Plain),
                ("cache_control", CACHE),
            ],
        ),
        ("thinking", &[("thinking", Plain), ("signature", Plain), ("cache_control", CACHE)]),
        ("redacted_thinking", &[("data", Plain), ("cache_control", CACHE)]),
        ("compaction", &[("content", Plain), ("encrypted_content", Plain), ("signature", Plain), ("cache_control", CACHE)]),
    ],
);
