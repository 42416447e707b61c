//! Where a value comes from, and for which rules it is still dangerous.

use std::rc::Rc;

/// A set of the flow rules of one language, one bit each.
pub type RuleBits = u128;
/// What one value remembers of where it came from.
const MAX_ORIGINS: usize = 6;

/// The place at which untrusted data comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A parameter of the helper that is being summarised, by its position.
    Parameter(usize),
    /// A source in the code, by the byte at which it starts and the entry that names it.
    Source { start: usize, end: usize, entry: usize },
}

/// One way on which untrusted data has come into a value.
#[derive(Debug, Clone)]
pub struct Origin {
    pub place: Place,
    /// The rules for which it was not made safe.
    pub rules: RuleBits,
    /// The outermost expression that joined it with a text, as a range of bytes.
    pub built: Option<(usize, usize)>,
    /// It stands at the beginning of the text: the scheme and the host of a URL are its own.
    pub leads: bool,
    pub trail: Trail,
}

/// What a value carries: nothing where it is clean.
#[derive(Debug, Clone, Default)]
pub struct Value(Vec<Origin>);

/// The steps so far, the last one first.
#[derive(Debug, Clone, Default)]
pub struct Trail(Option<Rc<Step>>);

#[derive(Debug)]
struct Step {
    line: u32,
    note: String,
    before: Trail,
}

impl Value {
    pub fn clean() -> Self {
        Self::default()
    }

    pub fn of(origin: Origin) -> Self {
        if origin.rules == 0 { Self::clean() } else { Self(vec![origin]) }
    }

    pub fn is_clean(&self) -> bool {
        self.0.is_empty()
    }

    pub fn origins(&self) -> &[Origin] {
        &self.0
    }

    /// What either value carries. The way that was seen first stays the one that is told.
    pub fn join(&mut self, other: Value) {
        for origin in other.0 {
            if let Some(known) = self.0.iter_mut().find(|known| known.place == origin.place) {
                known.rules |= origin.rules;
                known.built = known.built.or(origin.built);
                known.leads |= origin.leads;
            } else if self.0.len() < MAX_ORIGINS {
                self.0.push(origin);
            }
        }
    }

    /// Without the rules for which something has made it safe.
    pub fn without(mut self, safe: RuleBits) -> Self {
        if safe != 0 {
            self.0.retain_mut(|origin| {
                origin.rules &= !safe;
                origin.rules != 0
            });
        }
        self
    }

    pub fn with_step(mut self, line: u32, note: impl Fn() -> String) -> Self {
        for origin in &mut self.0 {
            origin.trail = origin.trail.then(line, note());
        }
        self
    }

    pub fn built_at(mut self, range: (usize, usize)) -> Self {
        for origin in &mut self.0 {
            origin.built = Some(range);
        }
        self
    }

    /// Something else stands before it.
    pub fn behind_text(mut self) -> Self {
        for origin in &mut self.0 {
            origin.leads = false;
        }
        self
    }

    /// The same places and rules, whatever the way.
    pub fn says_same(&self, other: &Value) -> bool {
        let facts = |value: &Value| -> Vec<(Place, RuleBits)> {
            let mut facts: Vec<_> = value.0.iter().map(|origin| (origin.place, origin.rules)).collect();
            facts.sort_unstable();
            facts
        };
        self.0.len() == other.0.len() && facts(self) == facts(other)
    }
}

impl Trail {
    pub fn then(&self, line: u32, note: String) -> Self {
        Self(Some(Rc::new(Step { line, note, before: self.clone() })))
    }

    /// In the order in which they happen.
    pub fn steps(&self) -> Vec<(u32, String)> {
        let mut steps = Vec::new();
        let mut at = self;
        while let Some(step) = &at.0 {
            steps.push((step.line, step.note.clone()));
            at = &step.before;
        }
        steps.reverse();
        steps
    }

    /// These steps, and then those.
    pub fn followed_by(&self, later: &Trail) -> Self {
        later.steps().into_iter().fold(self.clone(), |trail, (line, note)| trail.then(line, note))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(start: usize, rules: RuleBits) -> Value {
        Value::of(Origin {
            place: Place::Source { start, end: start, entry: 0 },
            rules,
            built: None,
            leads: true,
            trail: Trail::default(),
        })
    }

    #[test]
    fn a_value_that_is_safe_for_every_rule_is_clean() {
        assert!(!value(0, 0b11).without(0b01).is_clean());
        assert!(value(0, 0b11).without(0b11).is_clean());
    }

    #[test]
    fn joined_values_remember_each_place_once() {
        let mut joined = value(0, 0b01);
        joined.join(value(0, 0b10));
        joined.join(value(4, 0b10));
        assert_eq!(joined.origins().iter().map(|origin| origin.rules).collect::<Vec<_>>(), [0b11, 0b10]);
    }
}
