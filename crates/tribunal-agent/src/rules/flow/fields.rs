//! What one method leaves in a field of its object, and another method of the same class reads.

use super::code::Code;
use super::local_functions::class_of;
use super::origin::{Place, Value};
use super::state::State;
use std::collections::BTreeMap;
use tree_sitter::Node;

/// Fields of one file, counted each time that a method leaves something in them.
const MAX_FIELDS: usize = 5_000;

/// The fields of the classes of a file that hold untrusted data when a method ends. They are collected while the file is evaluated for
/// the first time, and read while it is evaluated again.
#[derive(Default)]
pub struct Fields {
    /// By the class.
    kept: BTreeMap<usize, BTreeMap<String, Value>>,
    count: usize,
    is_reading: bool,
    /// A field that holds untrusted data was lost.
    pub is_cut: bool,
}

impl Fields {
    /// Has any method left something? What was collected is read from now on.
    pub fn are_kept(&mut self) -> bool {
        self.is_reading = true;
        self.count > 0
    }

    /// What the other methods of the class have left.
    pub fn load<'a>(&self, method: Node<'a>, code: &Code<'a>, state: &mut State) {
        if !self.is_reading {
            return;
        }
        let Some(fields) = class_of(method, code).and_then(|(class, _)| self.kept.get(&class.id())) else { return };
        for (name, value) in fields {
            state.add(name.clone(), value.clone());
        }
    }

    pub fn keep<'a>(&mut self, method: Node<'a>, code: &Code<'a>, state: &State) {
        if self.is_reading {
            return;
        }
        let Some((class, _)) = class_of(method, code) else { return };
        for (name, value) in state.fields() {
            self.keep_value(class.id(), name, value);
        }
    }

    /// Remembers what a field of a class holds, if that is untrusted.
    pub fn keep_value(&mut self, class: usize, name: &str, value: Value) {
        let is_source = value.origins().iter().any(|origin| matches!(origin.place, Place::Source { .. }));
        if is_source && !self.is_reading {
            if self.count >= MAX_FIELDS {
                self.is_cut = true;
                return;
            }
            self.count += 1;
            self.kept.entry(class).or_default().entry(name.to_owned()).or_default().join(value);
        }
    }

    /// May a method see what another one has left?
    pub fn concern<'a>(&self, method: Node<'a>, code: &Code<'a>) -> bool {
        self.is_reading && class_of(method, code).is_some_and(|(class, _)| self.kept.contains_key(&class.id()))
    }
}
