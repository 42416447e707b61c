//! Gemini `generateContent`.

use super::shape::Shape::{Base64, Either, Fields, Free, Kept, List, Plain, Word};
use super::shape::{DOCUMENT, Field, PICTURES_AND_PDF, Shape};

/// Without `serviceTier`, which changes the price.
pub static BODY: [Field; 12] = [
    ("contents", CONTENTS),
    ("generationConfig", CONFIG),
    ("generation_config", CONFIG),
    ("labels", Free),
    ("model", Plain),
    ("safetySettings", Free),
    ("safety_settings", Free),
    ("systemInstruction", CONTENTS),
    ("system_instruction", CONTENTS),
    ("toolConfig", Free),
    ("tool_config", Free),
    ("tools", Free),
];

/// Without what changes the price: `candidateCount` (several answers), `responseModalities` and what belongs to sound and pictures.
const CONFIG: Shape = Kept(&[
    ("frequencyPenalty", Plain),
    ("logprobs", Plain),
    ("maxOutputTokens", Plain),
    ("mediaResolution", Plain),
    ("presencePenalty", Plain),
    ("responseJsonSchema", Free),
    ("responseLogprobs", Plain),
    ("responseMimeType", Plain),
    ("responseSchema", Free),
    ("routingConfig", Free),
    ("seed", Plain),
    ("stopSequences", Free),
    ("temperature", Plain),
    ("thinkingConfig", Free),
    ("topK", Plain),
    ("topP", Plain),
]);

const CONTENTS: Shape = Either(&[Plain, List(&CONTENT), CONTENT]);
const CONTENT: Shape = Fields(&[("role", Plain), ("parts", Either(&[List(&PART), PART]))]);

const INLINE: Field =
    ("inlineData", Fields(&[("mimeType", Word(&PICTURES_AND_PDF)), ("data", Base64(DOCUMENT)), ("displayName", Plain)]));

/// A part has no type: the field that it has says what it is.
const PART: Shape = Fields(&[
    ("text", Plain),
    ("thought", Plain),
    ("thoughtSignature", Plain),
    INLINE,
    ("functionCall", Fields(&[("id", Plain), ("name", Plain), ("args", Free)])),
    (
        "functionResponse",
        Fields(&[
            ("id", Plain),
            ("name", Plain),
            ("response", Free),
            ("parts", List(&Fields(&[INLINE]))),
            ("scheduling", Plain),
            ("willContinue", Plain),
        ]),
    ),
    ("mediaResolution", Fields(&[("level", Plain)])),
]);
