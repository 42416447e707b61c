//! What may stand at a place of a request, as data: each wire has its tables of content parts and their fields.
//!
//! Everything is refused that no table names. A list of what is forbidden would never be whole: a vendor fetches whatever looks like
//! an address to it (`document_url`, `audio_url`, `file.file_data`, …), and every server that speaks the same has more such parts.

use serde_json::Value;

/// `null` may stand anywhere: it says nothing.
pub enum Shape {
    /// Text, a number or a truth value. Text that looks like an address stays text here.
    Plain,
    /// Any JSON, such as the input of a tool: the model reads it as it stands.
    Free,
    Word(&'static [&'static str]),
    /// A picture (or a document) that carries its own content: `data:image/png;base64,…`.
    DataUrl(&'static [&'static str]),
    /// Content in base64, and the tokens that it may come to beyond one for each byte.
    Base64(u64),
    List(&'static Shape),
    /// An object with these fields and no other.
    Fields(&'static [Field]),
    /// An object of which only these fields are passed on.
    Kept(&'static [Field]),
    /// An object whose `type` says which fields it has. The first is the type where none is named.
    Typed(Option<&'static str>, &'static [(&'static str, &'static [Field])]),
    /// The first of these that such a value can be at all.
    Either(&'static [Shape]),
}

pub type Field = (&'static str, Shape);

use Shape::{Base64, DataUrl, Either, Fields, Free, Kept, List, Plain, Typed, Word};

/// Pictures. No SVG, which can name addresses itself.
pub const PICTURES: [&str; 6] = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/heic", "image/heif"];
pub const PICTURES_AND_PDF: [&str; 7] =
    ["image/png", "image/jpeg", "image/gif", "image/webp", "image/heic", "image/heif", "application/pdf"];
/// Tokens of one picture, and of one document: a small file can come to many.
pub const PICTURE: u64 = 5_000;
pub const DOCUMENT: u64 = 300_000;

impl Shape {
    /// Checks a value and takes out of it what is not passed on. Returns the tokens of its pictures and documents beyond one for each
    /// byte; the error says what is refused.
    pub fn check(&self, name: &str, value: &mut Value) -> Result<u64, String> {
        match (self, value) {
            (_, Value::Null) | (Free, _) => Ok(0),
            (Plain, Value::Bool(_) | Value::Number(_) | Value::String(_)) => Ok(0),
            (Word(words), Value::String(text)) if words.contains(&text.as_str()) => Ok(0),
            (DataUrl(media), Value::String(text)) => match inline_media(text) {
                Some(kind) if media.contains(&kind) => Ok(if kind == "application/pdf" { DOCUMENT } else { PICTURE }),
                Some(kind) => Err(format!("`{name}` holds {kind}, which is not let through")),
                None => Err(format!("`{name}` holds an address that the vendor would fetch, or no inline data")),
            },
            (Base64(tokens), Value::String(text)) if is_base64(text) => Ok(*tokens),
            (Base64(_), Value::String(_)) => {
                Err(format!("`{name}` is not base64, and could be an address that the vendor would fetch"))
            }
            (List(of), Value::Array(items)) => items.iter_mut().map(|item| of.check(name, item)).sum(),
            (Fields(fields), Value::Object(object)) => check_fields(name, fields, object),
            (Kept(fields), Value::Object(object)) => {
                object.retain(|field, _| fields.iter().any(|(known, _)| known == field));
                check_fields(name, fields, object)
            }
            (Typed(default, kinds), Value::Object(object)) => {
                let kind = object.get("type").map_or(*default, Value::as_str).unwrap_or_default().to_owned();
                match kinds.iter().find(|(known, _)| *known == kind) {
                    Some((_, fields)) => check_fields(&kind, fields, object),
                    None => Err(format!("content of the type `{kind}` in `{name}` is not known to carry its own data")),
                }
            }
            (Either(shapes), value) => match shapes.iter().find(|shape| shape.can_be(value)) {
                Some(shape) => shape.check(name, value),
                None => Err(format!("`{name}` is not of a form that is let through")),
            },
            (Plain | Word(_) | DataUrl(_) | Base64(_) | List(_) | Fields(_) | Kept(_) | Typed(..), _) => {
                Err(format!("`{name}` is not of a form that is let through"))
            }
        }
    }

    fn can_be(&self, value: &Value) -> bool {
        match self {
            Free => true,
            Plain | Word(_) | DataUrl(_) | Base64(_) => !value.is_array() && !value.is_object(),
            List(_) => value.is_array(),
            Fields(_) | Kept(_) | Typed(..) => value.is_object(),
            Either(shapes) => shapes.iter().any(|shape| shape.can_be(value)),
        }
    }
}

fn check_fields(name: &str, fields: &[Field], object: &mut serde_json::Map<String, Value>) -> Result<u64, String> {
    // A new field that holds no text names no address: a CLI adds such ones with every version, and works without them.
    object.retain(|field, value| {
        field == "type"
            || value.is_string()
            || value.is_array()
            || value.is_object()
            || fields.iter().any(|(known, _)| known == field)
    });
    let mut tokens = 0;
    for (field, value) in object.iter_mut() {
        match fields.iter().find(|(known, _)| known == field) {
            Some((_, shape)) => tokens += shape.check(field, value)?,
            None if field == "type" && value.is_string() => {}
            None => {
                return Err(format!(
                    "the field `{field}` of `{name}` is not known, and could name something that the vendor would fetch"
                ));
            }
        }
    }
    Ok(tokens)
}

/// The kind of content of a `data:` address in base64, if it is one.
fn inline_media(text: &str) -> Option<&str> {
    let (media, content) = text.strip_prefix("data:")?.split_once(";base64,")?;
    is_base64(content).then_some(media)
}

/// An address is no base64: it has a colon or a dot.
fn is_base64(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=' | b'\r' | b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PARTS: Shape = List(&Typed(None, &[("text", &[("text", Plain)]), ("image", &[("data", Base64(PICTURE))])]));

    #[test]
    fn what_no_table_names_is_refused() {
        let check = |mut value: Value| PARTS.check("content", &mut value).map(|tokens| (tokens, value));
        assert_eq!(check(json!([{ "type": "text", "text": "see https://e/" }])).unwrap().0, 0);
        assert_eq!(check(json!([{ "type": "image", "data": "AA==" }])).unwrap().0, PICTURE);
        // A path without a colon would be base64; it names no server.
        for refused in [
            json!([{ "type": "text", "text": "x", "video": ["https://e/"] }]),
            json!([{ "type": "text", "text": { "url": "https://e/" } }]),
            json!([{ "type": "image", "data": "https://e/" }]),
            json!([{ "type": "audio_url" }]),
            json!([{ "text": "x" }]),
            json!([["x"]]),
            json!({}),
            json!("x"),
        ] {
            assert!(check(refused.clone()).is_err(), "{refused}");
        }
        let (_, kept) = check(json!([{ "type": "text", "text": null, "new": true, "newer": 1, "newest": null }])).unwrap();
        assert_eq!(kept, json!([{ "type": "text", "text": null }]));
    }

    #[test]
    fn a_data_address_carries_its_own_content() {
        let media = |text: &str| inline_media(text).map(str::to_owned);
        assert_eq!(media("data:image/png;base64,iVBO+/=="), Some("image/png".into()));
        for other in ["data:image/png,https://e/", "https://e/;base64,AA", "data:;base64,http://e", " data:image/png;base64,AA"] {
            assert_eq!(media(other), None, "{other}");
        }
    }
}
