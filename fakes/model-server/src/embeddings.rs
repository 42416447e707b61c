//! `POST /v1/embeddings`: vectors that mean something. Words count by what they are about, so that texts without a common word can be alike,
//! as with a real model; the same text has the same vector.

use serde_json::{Value, json};

const DIMENSIONS: usize = 384;
/// Words of one group mean the same here.
const ALIKE: [&[&str]; 3] = [
    &["login", "authentication", "password", "session", "cookie"],
    &["retry", "retries", "again", "attempt", "backoff"],
    &["money", "price", "invoice", "cents", "billing"],
];

/// The answer, and the tokens it is charged with; nothing for a body that asks for nothing.
pub fn answer(body: &Value) -> Option<(Value, u64)> {
    let texts: Vec<&str> = match &body["input"] {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().map(Value::as_str).collect::<Option<_>>()?,
        _ => return None,
    };
    let model = body["model"].as_str()?;
    let data: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| json!({ "object": "embedding", "index": index, "embedding": vector(text) }))
        .collect();
    let tokens = texts.iter().map(|text| text.len() as u64 / 4 + 1).sum();
    let usage = json!({ "prompt_tokens": tokens, "total_tokens": tokens });
    Some((json!({ "object": "list", "data": data, "model": model, "usage": usage }), tokens))
}

fn vector(text: &str) -> Vec<f64> {
    let mut vector = vec![0.0; DIMENSIONS];
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2) {
        let group = ALIKE.iter().position(|group| group.contains(&word));
        let hash = word.bytes().fold(5381_usize, |hash, byte| hash.wrapping_mul(33) ^ usize::from(byte));
        let (place, weight) = group.map_or((ALIKE.len() + hash % (DIMENSIONS - ALIKE.len()), 0.2), |group| (group, 1.0));
        vector[place] += weight;
    }
    // No text is without any direction.
    vector[DIMENSIONS - 1] += 0.01;
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_the_same_is_near() {
        let cosine = |a: &str, b: &str| {
            let (a, b) = (vector(a), vector(b));
            let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
            a.iter().zip(&b).map(|(x, y)| x * y).sum::<f64>() / length(&a) / length(&b)
        };
        assert!(cosine("the login page", "a session cookie") > 0.8);
        assert!(cosine("the login page", "an invoice in cents") < 0.3);
        assert!(answer(&json!({ "model": "m" })).is_none());
    }
}
