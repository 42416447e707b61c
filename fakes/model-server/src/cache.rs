//! Cached prefixes, billed as the vendors bill them.
//!
//! The point of the exercise is the order of calls: an entry can be read only once the response that wrote it has begun, so callers that
//! fire all roles at once pay for every one of them. [`Cache::bill`] looks, [`Cache::begin`] stores; time passes in between.

use crate::asked::{Asked, Keep};
use crate::script::CacheMinimum;
use crate::wire::{Usage, Wire, tokens};
use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// Anthropic looks back this far from a breakpoint for an entry that an earlier request wrote.
const LOOK_BACK: usize = 20;
/// OpenAI counts cached tokens in steps.
const STEP: u64 = 128;

#[derive(Debug, Default)]
pub struct Cache {
    marked: HashSet<u64>,
    seen: Vec<Seen>,
}

/// A prompt that an automatic cache remembers.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    wire: Wire,
    model: String,
    key: Option<String>,
    blocks: Vec<String>,
}

/// What a request adds to the cache when its response begins.
#[derive(Debug, Default)]
pub struct Pending {
    marked: Vec<u64>,
    seen: Option<Seen>,
}

impl Cache {
    pub fn bill(&self, wire: Wire, asked: &Asked, minimum: CacheMinimum) -> (Usage, Pending) {
        match wire {
            Wire::Anthropic => self.bill_marked(asked, minimum.anthropic),
            Wire::Responses | Wire::Chat => self.bill_automatic(wire, asked, minimum.openai, STEP),
            Wire::Gemini => self.bill_automatic(wire, asked, minimum.gemini, 1),
        }
    }

    pub fn begin(&mut self, pending: Pending) {
        self.marked.extend(pending.marked);
        if let Some(seen) = pending.seen.filter(|seen| !self.seen.contains(seen)) {
            self.seen.push(seen);
        }
    }

    /// Anthropic: only prefixes that end at a breakpoint are kept, and the tokens up to the last breakpoint are either read or written.
    fn bill_marked(&self, asked: &Asked, minimum: u64) -> (Usage, Pending) {
        let mut hasher = DefaultHasher::new();
        asked.model.hash(&mut hasher);
        let mut total = 0;
        let prefixes: Vec<(u64, u64)> = asked
            .blocks
            .iter()
            .map(|block| {
                total += tokens(&block.text);
                (std::mem::discriminant(&block.from), &block.text).hash(&mut hasher);
                (hasher.finish(), total)
            })
            .collect();
        let marks: Vec<(usize, Keep)> =
            asked.blocks.iter().enumerate().filter_map(|(index, block)| Some((index, block.keep?))).collect();
        let read = marks
            .iter()
            .rev()
            .flat_map(|&(mark, _)| (mark.saturating_sub(LOOK_BACK)..=mark).rev())
            .find(|&index| self.marked.contains(&prefixes[index].0))
            .map_or(0, |index| prefixes[index].1);
        let mut usage = Usage { input: total, cache_read: read, ..Usage::default() };
        let mut pending = Pending::default();
        let mut covered = read;
        for (index, keep) in marks {
            let (hash, length) = prefixes[index];
            if length < minimum {
                continue;
            }
            pending.marked.push(hash);
            let new = length.saturating_sub(covered);
            match keep {
                Keep::FiveMinutes => usage.cache_write += new,
                Keep::OneHour => usage.cache_write_1h += new,
            }
            covered = covered.max(length);
        }
        (usage, pending)
    }

    /// OpenAI and Gemini: the longest prefix shared with any earlier prompt, without being asked.
    fn bill_automatic(&self, wire: Wire, asked: &Asked, minimum: u64, step: u64) -> (Usage, Pending) {
        let blocks: Vec<String> =
            asked.blocks.iter().map(|block| format!("{:?}\n{}", std::mem::discriminant(&block.from), block.text)).collect();
        let mine = Seen { wire, model: asked.model.clone(), key: asked.cache_key.clone(), blocks };
        let shared = self
            .seen
            .iter()
            .filter(|seen| (seen.wire, &seen.model, &seen.key) == (mine.wire, &mine.model, &mine.key))
            .map(|seen| common(&seen.blocks, &mine.blocks, asked))
            .max()
            .unwrap_or(0);
        let read = if shared < minimum { 0 } else { shared / step * step };
        (
            Usage { input: asked.input_tokens(), cache_read: read, ..Usage::default() },
            Pending { marked: Vec::new(), seen: Some(mine) },
        )
    }
}

/// Tokens of the common beginning: whole blocks, and the common part of the first that differs.
fn common(seen: &[String], mine: &[String], asked: &Asked) -> u64 {
    let whole = seen.iter().zip(mine).take_while(|(left, right)| left == right).count();
    let sum: u64 = asked.blocks[..whole].iter().map(|block| tokens(&block.text)).sum();
    let Some((left, right)) = seen.get(whole).zip(mine.get(whole)) else { return sum };
    let (left, right) = (left.split_once('\n'), right.split_once('\n'));
    let part = match (left, right) {
        (Some((one, left)), Some((other, right))) if one == other => {
            left.chars().zip(right.chars()).take_while(|(left, right)| left == right).count()
        }
        _ => 0,
    };
    sum + part as u64 / 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn anthropic(role: &str) -> Asked {
        let marked = json!({ "type": "text", "text": "d".repeat(8000), "cache_control": { "type": "ephemeral" } });
        let content = json!([marked, { "type": "text", "text": role }]);
        ask(Wire::Anthropic, json!({ "model": "m", "max_tokens": 9, "messages": [{ "role": "user", "content": content }] }))
    }

    fn ask(wire: Wire, body: Value) -> Asked {
        Asked::read(wire, Some("m"), body.to_string().as_bytes(), &body).unwrap()
    }

    /// Four roles at once all pay for the write; after one has begun, the others read.
    #[test]
    fn an_entry_is_readable_once_its_response_began() {
        let mut cache = Cache::default();
        let (first, pending) = cache.bill(Wire::Anthropic, &anthropic("role one"), CacheMinimum::default());
        let (early, _) = cache.bill(Wire::Anthropic, &anthropic("role two"), CacheMinimum::default());
        assert_eq!((first.cache_write, early.cache_write, early.cache_read), (2000, 2000, 0));
        cache.begin(pending);
        let (late, _) = cache.bill(Wire::Anthropic, &anthropic("role two"), CacheMinimum::default());
        assert_eq!((late.cache_read, late.cache_write, late.full_price()), (2000, 0, 2));
    }

    #[test]
    fn short_prefixes_are_not_kept() {
        let cache = Cache::default();
        let minimum = CacheMinimum { anthropic: 4096, ..CacheMinimum::default() };
        let (usage, pending) = cache.bill(Wire::Anthropic, &anthropic("r"), minimum);
        assert_eq!((usage.cache_write, usage.full_price(), pending.marked.len()), (0, 2001, 0));
    }

    #[test]
    fn openai_reads_in_steps_and_by_key() {
        let mut cache = Cache::default();
        let chat = |key: &str, role: &str| {
            let words = format!("{}{role}", "d".repeat(5000));
            ask(Wire::Chat, json!({ "model": "m", "prompt_cache_key": key, "messages": [{ "role": "user", "content": words }] }))
        };
        let (first, pending) = cache.bill(Wire::Chat, &chat("k", "one"), CacheMinimum::default());
        cache.begin(pending);
        let (second, _) = cache.bill(Wire::Chat, &chat("k", "two"), CacheMinimum::default());
        assert_eq!((first.cache_read, second.cache_read, second.input), (0, 1152, 1251));
        assert_eq!(cache.bill(Wire::Chat, &chat("other", "two"), CacheMinimum::default()).0.cache_read, 0);
    }

    #[test]
    fn gemini_wants_more_and_counts_exactly() {
        let mut cache = Cache::default();
        let gemini = |length: usize, role: &str| {
            let parts = json!([{ "text": "d".repeat(length) }, { "text": role }]);
            ask(Wire::Gemini, json!({ "contents": [{ "role": "user", "parts": parts }] }))
        };
        for (length, read) in [(6000, 0), (9000, 2250)] {
            let (_, pending) = cache.bill(Wire::Gemini, &gemini(length, "one"), CacheMinimum::default());
            cache.begin(pending);
            assert_eq!(cache.bill(Wire::Gemini, &gemini(length, "two"), CacheMinimum::default()).0.cache_read, read);
        }
    }
}
