//! Where a value comes from, and for which rules it is still dangerous.

use std::rc::Rc;

/// A set of the flow rules of one language, one bit each.
pub type RuleBits = u128;
/// What one value remembers of where it came from, as long as nothing of its own is lost thereby.
const MAX_ORIGINS: usize = 6;
/// Beyond this even an origin like no other is lost, and the value says so.
const MAX_DISTINCT_ORIGINS: usize = 120;
/// Of a longer way the middle is left out: a person reads its two ends.
const MAX_STEPS: usize = 24;

/// The place at which untrusted data comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A parameter of the local function that is being summarised, by its position.
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

impl Origin {
    /// Whatever rule reports `other` reports this one too, with the same weight: both come from a source of the same kind.
    fn stands_for(&self, other: &Origin) -> bool {
        let is_same_kind = match (self.place, other.place) {
            (Place::Source { entry: here, .. }, Place::Source { entry: there, .. }) => here == there,
            _ => false,
        };
        is_same_kind
            && other.rules & !self.rules == 0
            && (self.leads || !other.leads)
            && (other.built.is_none() || self.built == other.built)
    }
}

/// What a value carries: nothing where it is clean.
#[derive(Debug, Clone, Default)]
pub struct Value {
    origins: Vec<Origin>,
    /// An origin like none of these was lost.
    is_cut: bool,
}

/// The steps of a way. Not a list of nodes that hold one another: dropping such a list takes as much stack as it is long.
#[derive(Debug, Clone, Default)]
pub struct Trail(Option<Rc<Steps>>);

#[derive(Debug, Clone, Default)]
struct Steps {
    kept: Vec<Rc<Step>>,
    /// The last line among the steps left out that the change touched: a finding may have to stand there.
    touched: Option<u32>,
}

#[derive(Debug)]
struct Step {
    at: StepLine,
    note: String,
}

/// The line of a step, and whether the change touched it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepLine {
    pub number: u32,
    pub is_touched: bool,
}

impl Value {
    pub fn clean() -> Self {
        Self::default()
    }

    pub fn of(origin: Origin) -> Self {
        let origins = if origin.rules == 0 { Vec::new() } else { vec![origin] };
        Self { origins, is_cut: false }
    }

    pub fn is_clean(&self) -> bool {
        self.origins.is_empty()
    }

    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// What either value carries. The way that was seen first stays the one that is told.
    pub fn join(&mut self, other: Value) {
        self.is_cut |= other.is_cut;
        for origin in other.origins {
            if let Some(known) = self.origins.iter_mut().find(|known| known.place == origin.place) {
                known.rules |= origin.rules;
                known.built = known.built.or(origin.built);
                known.leads |= origin.leads;
            } else if self.origins.len() < MAX_ORIGINS {
                self.origins.push(origin);
            } else if !self.origins.iter().any(|known| known.stands_for(&origin)) {
                if self.origins.len() < MAX_DISTINCT_ORIGINS {
                    self.origins.push(origin);
                } else {
                    self.is_cut = true;
                }
            }
        }
    }

    /// Without the rules for which something has made it safe.
    pub fn without(mut self, safe: RuleBits) -> Self {
        if safe != 0 {
            self.origins.retain_mut(|origin| {
                origin.rules &= !safe;
                origin.rules != 0
            });
        }
        self
    }

    pub fn with_step(mut self, at: StepLine, note: impl Fn() -> String) -> Self {
        for origin in &mut self.origins {
            origin.trail = origin.trail.then(at, note());
        }
        self
    }

    pub fn built_at(mut self, range: (usize, usize)) -> Self {
        for origin in &mut self.origins {
            origin.built = Some(range);
        }
        self
    }

    /// Something else stands before it.
    pub fn behind_text(mut self) -> Self {
        for origin in &mut self.origins {
            origin.leads = false;
        }
        self
    }

    /// The same places and rules, whatever the way.
    pub fn says_same(&self, other: &Value) -> bool {
        let facts = |value: &Value| -> Vec<(Place, RuleBits)> {
            let mut facts: Vec<_> = value.origins.iter().map(|origin| (origin.place, origin.rules)).collect();
            facts.sort_unstable();
            facts
        };
        self.origins.len() == other.origins.len() && facts(self) == facts(other)
    }
}

impl Trail {
    pub fn then(&self, at: StepLine, note: String) -> Self {
        self.with(Rc::new(Step { at, note }))
    }

    fn with(&self, step: Rc<Step>) -> Self {
        let mut steps = self.0.as_deref().cloned().unwrap_or_default();
        steps.kept.push(step);
        if steps.kept.len() > MAX_STEPS {
            let left_out = steps.kept.remove(MAX_STEPS / 2);
            if left_out.at.is_touched {
                steps.touched = Some(left_out.at.number);
            }
        }
        Self(Some(Rc::new(steps)))
    }

    /// In the order in which they happen; of a long way only its two ends.
    pub fn steps(&self) -> Vec<(u32, String)> {
        let kept = self.0.as_deref().map(|steps| steps.kept.as_slice()).unwrap_or_default();
        kept.iter().map(|step| (step.at.number, step.note.clone())).collect()
    }

    /// The last line of a step that the change touched, also of one that is left out.
    pub fn last_touched(&self) -> Option<u32> {
        let steps = self.0.as_deref()?;
        let touched = |steps: &[Rc<Step>]| steps.iter().rev().find(|step| step.at.is_touched).map(|step| step.at.number);
        let (first, last) = steps.kept.split_at(steps.kept.len().min(MAX_STEPS / 2));
        touched(last).or(steps.touched).or_else(|| touched(first))
    }

    /// These steps, and then those.
    pub fn followed_by(&self, later: &Trail) -> Self {
        let Some(steps) = later.0.as_deref() else { return self.clone() };
        let mut whole = steps.kept.iter().fold(self.clone(), |trail, step| trail.with(Rc::clone(step)));
        if let (Some(whole), Some(line)) = (whole.0.as_mut().map(Rc::make_mut), steps.touched) {
            whole.touched = Some(line);
        }
        whole
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

    #[test]
    fn an_origin_is_lost_only_where_another_stands_for_it() {
        let mut joined = Value::clean();
        (0..100).for_each(|start| joined.join(value(start, 0b01)));
        assert_eq!(joined.origins().len(), MAX_ORIGINS);
        joined.join(value(200, 0b10));
        joined.join(value(201, 0b01).built_at((0, 9)));
        assert_eq!((joined.origins().len(), joined.is_cut()), (MAX_ORIGINS + 2, false));
        (300..500).for_each(|start| joined.join(value(start, 0b01).built_at((0, start))));
        assert!(joined.is_cut());
    }

    #[test]
    fn of_a_long_way_the_ends_and_the_touched_line_stay() {
        let step = |trail: Trail, number: u32| trail.then(StepLine { number, is_touched: number == 30 }, String::new());
        let trail = (1..=90).fold(Trail::default(), step);
        let lines: Vec<u32> = trail.steps().iter().map(|(line, _)| *line).collect();
        assert_eq!((lines.len(), lines[0], lines[MAX_STEPS - 1]), (MAX_STEPS, 1, 90));
        assert_eq!(trail.last_touched(), Some(30));
        let whole = step(Trail::default(), 95).followed_by(&trail);
        assert_eq!(whole.last_touched(), Some(30));
        assert_eq!(whole.steps().first().map(|(line, _)| *line), Some(95));
    }
}
