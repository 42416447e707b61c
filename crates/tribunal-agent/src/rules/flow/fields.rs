//! What one method leaves in a field of its object, and another method of the same class reads.

use super::code::Code;
use super::origin::{Place, Value};
use super::state::State;
use super::syntax::Role;
use std::collections::BTreeMap;
use tree_sitter::Node;

/// Fields of one file.
const MAX_FIELDS: usize = 60;

/// The fields of the classes of a file that hold untrusted data when a method ends. They are collected while the file is evaluated for
/// the first time, and read while it is evaluated again.
#[derive(Default)]
pub struct Fields {
    /// By the class.
    kept: BTreeMap<usize, BTreeMap<String, Value>>,
    count: usize,
    is_reading: bool,
}

impl Fields {
    /// Has any method left something? What was collected is read from now on.
    pub fn are_kept(&mut self) -> bool {
        self.is_reading = true;
        self.count > 0
    }

    /// What the other methods of the class have left.
    pub fn load(&self, method: Node<'_>, code: &Code<'_>, state: &mut State) {
        if !self.is_reading {
            return;
        }
        let Some(fields) = class_of(method, code).and_then(|class| self.kept.get(&class)) else { return };
        for (name, value) in fields {
            state.add(name.clone(), value.clone());
        }
    }

    pub fn keep(&mut self, method: Node<'_>, code: &Code<'_>, state: &State) {
        if self.is_reading || self.count >= MAX_FIELDS {
            return;
        }
        let Some(class) = class_of(method, code) else { return };
        for (name, value) in state.fields() {
            let is_source = |value: &Value| value.origins().iter().any(|origin| matches!(origin.place, Place::Source { .. }));
            if is_source(&value) {
                self.count += 1;
                self.kept.entry(class).or_default().entry(name.to_owned()).or_default().join(value);
            }
        }
    }
}

/// The class that a method stands in; nothing for a function inside a method.
fn class_of(method: Node<'_>, code: &Code<'_>) -> Option<usize> {
    for outer in std::iter::successors(method.parent(), Node::parent) {
        match outer.kind() {
            "class" | "class_definition" | "class_declaration" | "class_specifier" | "object_declaration" => return Some(outer.id()),
            _ if matches!(code.role(outer), Role::Function { .. }) => return None,
            _ => {}
        }
    }
    None
}
