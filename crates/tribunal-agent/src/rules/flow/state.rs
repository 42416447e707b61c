//! What the variables hold at one point of a function.

use super::origin::{RuleBits, Value};
use std::collections::BTreeMap;

/// More variables than this are not followed, and the state says so.
const MAX_VARIABLES: usize = 5_000;

/// The variables that matter, by their text: `name`, `self.name`, `options.url`.
#[derive(Debug, Clone, Default)]
pub struct State {
    values: BTreeMap<String, Value>,
    /// Expressions that a check has found safe, and for which rules.
    checked: BTreeMap<String, RuleBits>,
    /// A `return` or the like stands before this point: what follows does not run.
    pub is_left: bool,
    /// A variable that holds untrusted data was lost.
    pub is_cut: bool,
}

impl State {
    /// What the expression `key` holds, if it or something that holds it is known.
    pub fn value(&self, key: &str) -> Option<Value> {
        let found = holders(key).find_map(|holder| self.values.get(holder))?;
        Some(found.clone().without(self.safe_for(key)))
    }

    /// Was exactly this assigned?
    pub fn is_set(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// The rules for which a check has found the expression safe.
    pub fn safe_for(&self, key: &str) -> RuleBits {
        if self.checked.is_empty() {
            return 0;
        }
        holders(key).filter_map(|holder| self.checked.get(holder)).fold(0, |safe, rules| safe | rules)
    }

    /// Every value below `key` too: an object is as dangerous as what it holds.
    pub fn whole_value(&self, key: &str) -> Option<Value> {
        let mut whole = self.value(key);
        for (name, value) in self.values.range(format!("{key}.")..format!("{key}/")) {
            debug_assert!(name.starts_with(key));
            whole.get_or_insert_with(Value::clean).join(value.clone().without(self.safe_for(key)));
        }
        whole
    }

    /// The variable holds this from now on, and nothing else.
    pub fn set(&mut self, key: String, value: Value) {
        let below: Vec<String> = self.values.range(format!("{key}.")..format!("{key}/")).map(|(name, _)| name.clone()).collect();
        for name in below {
            self.values.remove(&name);
        }
        self.checked.retain(|name, _| !holders(name).any(|holder| holder == key));
        if value.is_clean() && !holders(&key).any(|holder| self.values.contains_key(holder)) {
            // Clean is what nothing is known of, unless the object around it is not.
            return;
        }
        if self.has_room(&key) {
            self.values.insert(key, value);
        } else {
            self.is_cut |= !value.is_clean();
        }
    }

    /// What is known of the object that the method belongs to: `self.name`, `this.name`, `@name`.
    pub fn fields(&self) -> impl Iterator<Item = (&str, Value)> {
        let is_field = |key: &str| ["self.", "this.", "$this.", "@"].iter().any(|owner| key.starts_with(owner));
        self.values.keys().filter(move |key| is_field(key)).filter_map(|key| Some((key.as_str(), self.value(key)?)))
    }

    /// The variable may hold this too.
    pub fn add(&mut self, key: String, value: Value) {
        if value.is_clean() {
            return;
        }
        self.checked.remove(&key);
        if self.has_room(&key) {
            self.values.entry(key).or_default().join(value);
        } else {
            self.is_cut = true;
        }
    }

    fn has_room(&self, key: &str) -> bool {
        self.values.len() < MAX_VARIABLES || self.values.contains_key(key)
    }

    pub fn check(&mut self, key: &str, rules: RuleBits) {
        *self.checked.entry(key.to_owned()).or_default() |= rules;
    }

    /// What holds after two ways that meet.
    pub fn join(&mut self, other: State) {
        self.is_cut |= other.is_cut;
        if other.is_left {
            return;
        }
        if self.is_left {
            *self = State { is_cut: self.is_cut, ..other };
            return;
        }
        // A check counts only on the way on which it was made; elsewhere the value is what it was.
        let names: Vec<String> = self.values.keys().chain(other.values.keys()).cloned().collect();
        for name in names {
            let (here, there) = (self.value(&name), other.value(&name));
            let mut joined = here.unwrap_or_default();
            joined.join(there.unwrap_or_default());
            self.values.insert(name, joined);
        }
        self.checked.retain(|name, rules| {
            *rules &= other.checked.get(name).copied().unwrap_or(0);
            *rules != 0
        });
    }

    pub fn says_same(&self, other: &State) -> bool {
        self.values.len() == other.values.len()
            && self.values.iter().zip(&other.values).all(|(here, there)| here.0 == there.0 && here.1.says_same(there.1))
    }
}

/// The expression and what it is a part of: `a.b[c].d`, `a.b[c]`, `a.b`, `a`.
fn holders(key: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(key);
    std::iter::from_fn(move || {
        let now = rest?;
        rest = now.rfind(['.', '[']).filter(|at| *at > 0).map(|at| &now[..at]);
        Some(now)
    })
}

#[cfg(test)]
mod tests {
    use super::super::origin::{Origin, Place, Trail};
    use super::*;

    fn tainted() -> Value {
        let place = Place::Source { start: 0, end: 1, entry: 0 };
        Value::of(Origin { place, rules: 1, built: None, leads: true, trail: Trail::default() })
    }

    fn is_tainted(state: &State, key: &str) -> bool {
        state.value(key).is_some_and(|value| !value.is_clean())
    }

    #[test]
    fn a_part_holds_what_the_whole_holds_until_it_is_set() {
        let mut state = State::default();
        state.set("form".into(), tainted());
        assert!(is_tainted(&state, "form.name[0]"));
        state.set("form.name".into(), Value::clean());
        assert!(!is_tainted(&state, "form.name"));
        assert!(is_tainted(&state, "form.other"));
        state.set("form".into(), Value::clean());
        assert!(!is_tainted(&state, "form.other"));
    }

    #[test]
    fn a_check_holds_on_its_own_way_only() {
        let mut checked = State::default();
        checked.set("name".into(), tainted());
        let unchecked = checked.clone();
        checked.check("name", 1);
        assert!(!is_tainted(&checked, "name"));
        let mut met = checked.clone();
        met.join(unchecked.clone());
        assert!(is_tainted(&met, "name"));
        // The other way has returned.
        let mut met = checked;
        met.join(State { is_left: true, ..unchecked });
        assert!(!is_tainted(&met, "name"));
    }

    #[test]
    fn a_whole_is_as_dangerous_as_its_parts() {
        let mut state = State::default();
        state.set("options.url".into(), tainted());
        assert!(state.whole_value("options").is_some_and(|value| !value.is_clean()));
        assert!(state.value("options").is_none());
    }
}
