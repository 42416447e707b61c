//! Where in a JSON text each value stands. The text was parsed before, so it is whole; this only finds its way through it.

use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub name: String,
    /// Of the name, with its quotes.
    pub key: Range<usize>,
    pub value: Range<usize>,
}

/// The members of the object that stands at a place, in their order; none when it is no object.
pub fn members(text: &str, object: &Range<usize>) -> Vec<Member> {
    let mut found = Vec::new();
    let mut scan = Scan { bytes: text.as_bytes(), at: object.start };
    if !scan.takes(b'{') {
        return found;
    }
    while scan.peek() == Some(b'"') {
        let key = scan.value();
        let name = serde_json::from_str(&text[key.clone()]).unwrap_or_default();
        if !scan.takes(b':') {
            break;
        }
        let value = scan.value();
        found.push(Member { name, key, value });
        if !scan.takes(b',') {
            break;
        }
    }
    found
}

/// The elements of the array that stands at a place.
pub fn elements(text: &str, array: &Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut scan = Scan { bytes: text.as_bytes(), at: array.start };
    if !scan.takes(b'[') {
        return found;
    }
    while scan.peek().is_some_and(|byte| byte != b']') {
        found.push(scan.value());
        if !scan.takes(b',') {
            break;
        }
    }
    found
}

/// The value that the text is.
pub fn whole(text: &str) -> Range<usize> {
    Scan { bytes: text.as_bytes(), at: 0 }.value()
}

/// 1-based.
pub fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn peek(&mut self) -> Option<u8> {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    fn takes(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    /// Steps over one value, and says where it was.
    fn value(&mut self) -> Range<usize> {
        self.peek();
        let start = self.at;
        let mut depth = 0usize;
        while let Some(byte) = self.bytes.get(self.at).copied() {
            match byte {
                b'"' => self.string(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                b'}' | b']' | b',' | b':' if depth == 0 => break,
                byte if byte.is_ascii_whitespace() && depth == 0 => break,
                _ => self.at += 1,
            }
            if depth == 0 && matches!(byte, b'"' | b'}' | b']') {
                break;
            }
        }
        start..self.at
    }

    fn string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.bytes.get(self.at).copied() {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[\\[\\]{}:,\"\\\\ é\\n]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a{\"\\\\:]{0,3}", inner, 0..4)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Each span holds exactly its value, however the text is laid out.
        #[test]
        fn spans_are_where_the_values_are(value in json(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
            let span = whole(&text);
            prop_assert_eq!(&serde_json::from_str::<Value>(&text[span.clone()]).unwrap(), &value);
            if let Value::Object(entries) = &value {
                let found = members(&text, &span);
                prop_assert_eq!(found.len(), entries.len());
                for member in found {
                    let inside: Value = serde_json::from_str(&text[member.value]).unwrap();
                    prop_assert_eq!(Some(&inside), entries.get(&member.name));
                }
            }
            if let Value::Array(items) = &value {
                let found: Vec<Value> = elements(&text, &span).into_iter().map(|at| serde_json::from_str(&text[at]).unwrap()).collect();
                prop_assert_eq!(&found, items);
            }
        }

        #[test]
        fn any_text_can_be_walked(text in "[\\[\\]{}:,\"\\\\ a1]{0,40}") {
            let span = whole(&text);
            let _ = (members(&text, &span), elements(&text, &span));
        }
    }
}
