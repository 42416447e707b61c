//! Tokens, read from the answers as they pass. A CLI that is stopped, crashes or lies says nothing useful about what it spent; the
//! vendor's own numbers go by here.

use serde_json::Value;
use tribunal_core::call::usage::Usage;
use tribunal_core::policy::agents::Wire;

/// A line beyond this is content, not a count.
const MAX_LINE: usize = 4 * 1024 * 1024;

/// For one answer, streamed or whole.
pub struct Meter {
    wire: Wire,
    line: Vec<u8>,
    is_too_long: bool,
    usage: Usage,
    is_whole: bool,
}

impl Meter {
    pub fn new(wire: Wire) -> Self {
        Self { wire, line: Vec::new(), is_too_long: false, usage: Usage::default(), is_whole: false }
    }

    /// What is known after this piece.
    pub fn take(&mut self, chunk: &[u8]) -> Usage {
        for part in chunk.split_inclusive(|byte| *byte == b'\n') {
            if self.line.len() + part.len() > MAX_LINE {
                self.is_too_long = true;
                self.line.clear();
            } else if !self.is_too_long {
                self.line.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                self.read_line();
            }
        }
        self.usage
    }

    /// Whether the vendor has counted all of the answer, so that what is still to come changes nothing.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// An answer that is not streamed has no line's end.
    pub fn finish(&mut self) -> Usage {
        self.read_line();
        self.usage
    }

    fn read_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.is_too_long = false;
        let text = line.strip_prefix(b"data:").unwrap_or(&line);
        if let Ok(event) = serde_json::from_slice::<Value>(text) {
            self.read(&event);
        }
    }

    /// Vendors count differently; see [`Usage`] for the one meaning they are brought to.
    fn read(&mut self, event: &Value) {
        match self.wire {
            Wire::Anthropic => {
                // The first count, in `message`, knows the input only.
                self.is_whole |= event.get("usage").is_some_and(Value::is_object);
                let usage = event.get("usage").or_else(|| event.get("message")?.get("usage")).unwrap_or(&Value::Null);
                keep(&mut self.usage.input, usage, "input_tokens");
                keep(&mut self.usage.cache_read, usage, "cache_read_input_tokens");
                keep(&mut self.usage.cache_write, usage, "cache_creation_input_tokens");
                keep(&mut self.usage.output, usage, "output_tokens");
            }
            Wire::Openai => {
                let usage = event.get("response").and_then(|response| response.get("usage")).or_else(|| event.get("usage"));
                self.whole(usage, "input_tokens", "input_tokens_details", "output_tokens");
            }
            Wire::OpenaiChat => self.whole(event.get("usage"), "prompt_tokens", "prompt_tokens_details", "completion_tokens"),
            Wire::Gemini => {
                if let Some(usage) = event.get("usageMetadata").filter(|usage| usage.is_object()) {
                    let number = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
                    let cache_read = number("cachedContentTokenCount");
                    let input = (number("promptTokenCount") + number("toolUsePromptTokenCount")).saturating_sub(cache_read);
                    let output = number("candidatesTokenCount") + number("thoughtsTokenCount");
                    self.usage = Usage { input, cache_read, cache_write: 0, output, uncounted: 0 };
                    self.is_whole |= event.pointer("/candidates/0/finishReason").is_some_and(Value::is_string);
                }
            }
        }
    }

    /// OpenAI's input holds what was cached.
    fn whole(&mut self, usage: Option<&Value>, input: &str, details: &str, output: &str) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else { return };
        let number =
            |value: Option<&Value>, name: &str| value.and_then(|value| value.get(name)).and_then(Value::as_u64).unwrap_or(0);
        let details = usage.get(details);
        let cache_read = number(details, "cached_tokens");
        let cache_write = number(details, "cache_write_tokens");
        let prompt = number(Some(usage), input);
        // Some servers leave thoughts out of the output, but never out of the total.
        let output = number(Some(usage), output).max(number(Some(usage), "total_tokens").saturating_sub(prompt));
        let input = prompt.saturating_sub(cache_read + cache_write);
        self.usage = Usage { input, cache_read, cache_write, output, uncounted: 0 };
        self.is_whole = true;
    }
}

/// Later events repeat some numbers and leave others out.
fn keep(field: &mut u64, usage: &Value, name: &str) {
    if let Some(number) = usage.get(name).and_then(Value::as_u64) {
        *field = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metered(wire: Wire, answer: &str) -> Usage {
        // In pieces that cut through every line.
        let mut meter = Meter::new(wire);
        answer.as_bytes().chunks(7).for_each(|chunk| {
            meter.take(chunk);
        });
        meter.finish()
    }

    #[test]
    fn each_vendor_s_numbers_come_to_one_meaning() {
        let anthropic = "event: message_start\ndata: {\"message\":{\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":3,\
            \"cache_creation_input_tokens\":2,\"output_tokens\":1}}}\n\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":9}}\n\n";
        let usage = |input, cache_read, cache_write, output| Usage { input, cache_read, cache_write, output, uncounted: 0 };
        assert_eq!(metered(Wire::Anthropic, anthropic), usage(10, 3, 2, 9));
        let responses = "data: {\"type\":\"response.created\",\"response\":{\"usage\":null}}\n\ndata: {\"response\":{\"usage\":\
            {\"input_tokens\":12,\"input_tokens_details\":{\"cached_tokens\":4},\"output_tokens\":5}}}\n\n";
        assert_eq!(metered(Wire::Openai, responses), usage(8, 4, 0, 5));
        let chat = "{\"usage\":{\"prompt_tokens\":12,\"prompt_tokens_details\":{\"cached_tokens\":4},\"completion_tokens\":5}}";
        assert_eq!(metered(Wire::OpenaiChat, chat), usage(8, 4, 0, 5));
        let gemini = "data: {\"usageMetadata\":{\"promptTokenCount\":12,\"cachedContentTokenCount\":4,\"candidatesTokenCount\":5,\
            \"thoughtsTokenCount\":2}}\r\n\r\n";
        assert_eq!(metered(Wire::Gemini, gemini), usage(8, 4, 0, 7));
    }

    #[test]
    fn what_is_no_count_counts_nothing() {
        assert_eq!(metered(Wire::OpenaiChat, "data: [DONE]\n\n{\"usage\":null}\nplain text"), Usage::default());
    }
}
