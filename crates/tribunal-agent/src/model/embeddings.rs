//! Vectors for texts, in OpenAI's way, which nearly every server that makes any speaks.

use super::reader::{self, count, list};
use super::request::Request;
use serde_json::{Value, json};
use tribunal_core::call::Answer;
use tribunal_core::call::fault::Fault;
use tribunal_core::call::usage::Usage;
use tribunal_core::policy::agents::ModelConfig;

/// One vector for each text.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    pub vectors: Vec<Vec<f32>>,
    pub usage: Usage,
}

pub fn request(config: &ModelConfig, texts: &[String]) -> Request {
    let body = json!({ "model": config.model, "input": texts });
    Request { path: "embeddings".into(), query: None, headers: vec![], key_header: "authorization", body }
}

/// It comes whole, never as a stream.
#[derive(Default)]
pub struct Reader {
    data: Option<Value>,
    usage: Usage,
}

impl reader::Reader for Reader {
    fn event(&mut self, _name: Option<&str>, data: &str) -> Result<(), Fault> {
        let whole = reader::parse(data)?;
        self.whole(&whole)
    }

    fn whole(&mut self, body: &Value) -> Result<(), Fault> {
        let tokens = count(body, &["usage", "prompt_tokens"]).or_else(|| count(body, &["usage", "total_tokens"]));
        self.usage = Usage { input: tokens.unwrap_or(0), ..Usage::default() };
        self.data = body.get("data").cloned();
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.data.is_some()
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn finish(self: Box<Self>) -> Result<Answer, Fault> {
        let data = self.data.ok_or_else(|| nonsense("it has no `data`"))?;
        reader::answer(json!({ "data": data }).to_string(), self.usage, None)
    }
}

/// As many vectors as there were texts, all of one length, or nothing at all.
pub fn read(answer: &Answer, texts: usize) -> Result<Embedded, Fault> {
    let body: Value = serde_json::from_str(&answer.text).map_err(|error| nonsense(&error.to_string()))?;
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; texts];
    for (place, entry) in list(&body, "data").enumerate() {
        let index = entry.get("index").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok()).unwrap_or(place);
        let numbers: Option<Vec<f32>> =
            list(entry, "embedding").map(|number| number.as_f64().map(|number| number as f32)).collect();
        let numbers = numbers.filter(|numbers| !numbers.is_empty()).ok_or_else(|| nonsense("a vector is no list of numbers"))?;
        *vectors.get_mut(index).ok_or_else(|| nonsense("it has more vectors than there were texts"))? = Some(numbers);
    }
    let vectors: Vec<Vec<f32>> =
        vectors.into_iter().collect::<Option<_>>().ok_or_else(|| nonsense("it has fewer vectors than there were texts"))?;
    if vectors.windows(2).any(|pair| pair[0].len() != pair[1].len()) {
        return Err(nonsense("its vectors are of different lengths"));
    }
    Ok(Embedded { vectors, usage: answer.usage })
}

fn nonsense(problem: &str) -> Fault {
    Fault::Nonsense { message: format!("the answer of the embeddings endpoint cannot be used: {problem}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(body: Value) -> Result<Embedded, Fault> {
        let mut reader = Reader::default();
        reader::Reader::whole(&mut reader, &body)?;
        read(&reader::Reader::finish(Box::new(reader))?, 2)
    }

    #[test]
    fn vectors_come_in_the_order_of_their_texts() {
        let body = json!({
            "data": [{ "index": 1, "embedding": [0.0, 1.0] }, { "index": 0, "embedding": [1, 0] }],
            "usage": { "prompt_tokens": 7 },
        });
        let embedded = answer(body).unwrap();
        assert_eq!(embedded.vectors, [[1.0, 0.0], [0.0, 1.0]]);
        assert_eq!(embedded.usage.input, 7);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for body in [
            json!({}),
            json!({ "data": [] }),
            json!({ "data": [{ "embedding": [1.0] }] }),
            json!({ "data": [{ "embedding": [1.0] }, { "embedding": [1.0, 2.0] }] }),
            json!({ "data": [{ "embedding": "AAAA" }, { "embedding": [1.0] }] }),
            json!({ "data": [{ "embedding": [1.0] }, { "embedding": [1.0] }, { "embedding": [1.0] }] }),
        ] {
            assert!(matches!(answer(body.clone()), Err(Fault::Nonsense { .. })), "{body}");
        }
    }
}
