//! Server-sent events out of bytes, whatever the pieces in which they arrive.
//!
//! Lines are cut as bytes and read as text only when they are whole: a piece may end inside a character, or between the two
//! bytes of a CRLF. Comments are how servers say that they are alive; they are dropped here, and their bytes have already
//! reset the caller's clock.

#[derive(Debug, PartialEq, Eq)]
pub struct Event {
    pub name: Option<String>,
    pub data: String,
}

#[derive(Default)]
pub struct Sse {
    line: Vec<u8>,
    name: Option<String>,
    data: Option<String>,
    after_carriage_return: bool,
    past_first_line: bool,
}

impl Sse {
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let is_second_half = at == 0 && rest[at] == b'\n' && self.after_carriage_return;
            if !is_second_half {
                self.line.extend_from_slice(&rest[..at]);
                events.extend(self.end_line());
            }
            self.after_carriage_return = rest[at] == b'\r';
            rest = &rest[at + 1..];
        }
        if !rest.is_empty() {
            self.after_carriage_return = false;
            self.line.extend_from_slice(rest);
        }
        events
    }

    /// What stood at the end without the blank line that ends an event. Some servers leave it out; whether it is whole is for
    /// the caller to see.
    pub fn rest(mut self) -> Option<Event> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.dispatch()
    }

    fn end_line(&mut self) -> Option<Event> {
        let bytes = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&bytes);
        let mut line: &str = &text;
        if !std::mem::replace(&mut self.past_first_line, true) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.name = Some(value.to_owned()),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            // A comment, or an id or a pause that we have no use for.
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Event> {
        let name = self.name.take();
        self.data.take().map(|data| Event { name, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn event(name: Option<&str>, data: &str) -> Event {
        Event { name: name.map(str::to_owned), data: data.to_owned() }
    }

    const STREAM: &str = "\u{feff}: hello\n\nevent: a\ndata: {\"x\":\ndata:  \"é😀\"}\n\nid: 7\r\ndata:two\r\n\r\ndata: three\r\rdata\n\ndata: [DONE]\n\n";

    fn events() -> Vec<Event> {
        vec![
            event(Some("a"), "{\"x\":\n \"é😀\"}"),
            event(None, "two"),
            event(None, "three"),
            event(None, ""),
            event(None, "[DONE]"),
        ]
    }

    #[test]
    fn every_kind_of_line_end_is_read() {
        let mut sse = Sse::default();
        assert_eq!(sse.push(STREAM.as_bytes()), events());
        assert_eq!(sse.rest(), None);
    }

    #[test]
    fn an_end_without_a_blank_line_is_handed_out_apart() {
        let mut sse = Sse::default();
        assert_eq!(sse.push(b"data: {}\n\nevent: last\ndata: {\"a\"").len(), 1);
        assert_eq!(sse.rest(), Some(event(Some("last"), "{\"a\"")));
    }

    proptest! {
        /// The pieces never matter.
        #[test]
        fn pieces_change_nothing(cuts in proptest::collection::vec(0..STREAM.len(), 0..12)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            let (mut sse, mut seen, mut from) = (Sse::default(), Vec::new(), 0);
            for cut in cuts.into_iter().chain([STREAM.len()]) {
                seen.extend(sse.push(&STREAM.as_bytes()[from..cut]));
                from = cut;
            }
            prop_assert_eq!(seen, events());
        }
    }
}
