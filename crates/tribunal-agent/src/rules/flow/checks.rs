//! Checks in conditions that make a value safe: membership in a list, equality with a text, and the sanitizers of the rules.

use super::code::Call;
use super::evaluator::Evaluator;
use super::origin::RuleBits;
use super::pattern::Shape;
use super::syntax::{Role, part};
use tree_sitter::Node;

/// Expressions that one argument of a check stands for.
const MAX_KEYS: usize = 4;
const MAX_DEPTH: usize = 24;

/// One expression that a condition looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    pub key: String,
    /// The rules for which it is safe afterwards.
    pub rules: RuleBits,
    /// It is safe where the condition is true; otherwise where it is false.
    pub holds_if_true: bool,
    /// Safe on that side alone: `name == "a"` says nothing where it is false.
    pub is_exact: bool,
}

impl<'a> Evaluator<'a> {
    /// What a condition checks. `is_negated`: it stands behind a `not`.
    pub fn checks(&self, condition: Node<'a>, is_negated: bool) -> Vec<Check> {
        let mut checks = Vec::new();
        self.collect_checks(condition, is_negated, &mut checks, 0);
        checks
    }

    /// The checks of a call whose answer nobody reads: it raises an error.
    pub fn checks_of_statement(&self, statement: Node<'a>) -> Vec<Check> {
        if statement.kind() == "assert_statement" {
            return part(statement, "@0").map(|condition| self.checks(condition, false)).unwrap_or_default();
        }
        let mut node = self.code.unwrap(statement);
        if let Role::Declare { value, .. } | Role::Assign { value, .. } = self.code.role(node) {
            node = part(node, value).map_or(node, |value| self.code.unwrap(value));
        }
        let mut checks = Vec::new();
        if let Some(call) = self.code.call(node) {
            self.collect_called(&call, false, &mut checks);
        }
        checks
    }

    fn collect_checks(&self, node: Node<'a>, is_negated: bool, checks: &mut Vec<Check>, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let node = self.code.unwrap(node);
        match self.code.role(node) {
            Role::Unary => {
                let text = self.code.node_text(node);
                let turns = text.starts_with('!') || text.starts_with("not");
                if let Some(inner) = part(node, "@0") {
                    self.collect_checks(inner, is_negated ^ turns, checks, depth + 1);
                }
            }
            Role::Binary { left, right } => {
                if let (Some(left), Some(right)) = (part(node, left), part(node, right)) {
                    self.collect_compared(left, right, is_negated, checks, depth);
                }
            }
            Role::Declare { value, .. } | Role::Assign { value, .. } => {
                if let Some(value) = part(node, value) {
                    self.collect_checks(value, is_negated, checks, depth + 1);
                }
            }
            Role::Index { index, .. } => {
                // `allowed[name]`
                if let Some(index) = part(node, index).map(|index| self.code.unwrap(index)) {
                    self.add(index, RuleBits::MAX, !is_negated, true, checks);
                }
            }
            Role::Call { .. } | Role::Method { .. } | Role::New { .. } => {
                if let Some(call) = self.code.call(node) {
                    self.collect_called(&call, is_negated, checks);
                    // `bool(pattern.match(name))`, `len(pattern.findall(name))`
                    for argument in call.arguments.iter().filter(|argument| self.code.call(argument.node).is_some()) {
                        self.collect_checks(argument.node, is_negated, checks, depth + 1);
                    }
                    // `pattern.exec(name).length`
                    if let Some(receiver) = call.receiver.filter(|receiver| self.code.call(*receiver).is_some()) {
                        self.collect_checks(receiver, is_negated, checks, depth + 1);
                    }
                }
            }
            Role::Children => {
                let mut cursor = node.walk();
                for child in node.named_children(&mut cursor) {
                    self.collect_checks(child, is_negated, checks, depth + 1);
                }
            }
            _ => {}
        }
    }

    fn collect_compared(&self, left: Node<'a>, right: Node<'a>, is_negated: bool, checks: &mut Vec<Check>, depth: usize) {
        let operator = self.code.operator(left, right);
        let operator = operator.as_ref();
        match operator {
            "&&" | "and" | "||" | "or" => {
                self.collect_checks(left, is_negated, checks, depth + 1);
                self.collect_checks(right, is_negated, checks, depth + 1);
            }
            "in" | "not in" | "!in" => {
                let holds = !is_negated ^ (operator != "in");
                match self.is_literal(left) {
                    // `".." in name`
                    true => self.add(right, RuleBits::MAX, holds, false, checks),
                    false => self.add(left, RuleBits::MAX, holds, true, checks),
                }
            }
            "=~" | "!~" => {
                for side in [left, right] {
                    self.add(side, RuleBits::MAX, !is_negated ^ (operator == "!~"), false, checks);
                }
            }
            "==" | "===" | "!=" | "!==" | "is" | "is not" | "<>" => {
                let is_unequal = matches!(operator, "!=" | "!==" | "is not" | "<>");
                let holds = !is_negated ^ is_unequal;
                for (side, other) in [(left, right), (right, left)] {
                    // A text may still hold anything: `typeof name !== "string"`.
                    let is_type = self.code.node_text(side).starts_with("typeof")
                        && !matches!(self.code.node_text(other).trim_matches(['"', '\'']), "number" | "boolean" | "bigint");
                    if is_type {
                        continue;
                    }
                    if self.is_constant(other) {
                        self.add(side, RuleBits::MAX, holds, true, checks);
                    }
                    // `pattern.match(name) is None` holds where it is false.
                    let is_nothing =
                        matches!(self.code.node_text(other), "None" | "null" | "nil" | "undefined" | "false" | "False");
                    if self.code.call(self.code.unwrap(side)).is_some() {
                        self.collect_checks(side, is_negated ^ is_unequal ^ is_nothing, checks, depth + 1);
                    }
                }
            }
            "<" | ">" | "<=" | ">=" => {
                self.collect_checks(left, is_negated, checks, depth + 1);
                self.collect_checks(right, is_negated, checks, depth + 1);
            }
            _ => {}
        }
    }

    /// The arguments that the sanitizers of the rules make safe.
    fn collect_called(&self, call: &Call<'a>, is_negated: bool, checks: &mut Vec<Check>) {
        let path = call.path(&self.code);
        let arguments = call.pattern_arguments(&self.code);
        for (pattern, rules) in self.flow.sanitizers.named(call.name) {
            if pattern.shape == Shape::Name || !pattern.matches_path(&path) {
                continue;
            }
            let Some(matched) = pattern.match_arguments(&arguments) else { continue };
            let receiver = call.receiver.filter(|_| matched.receiver);
            let given = matched.arguments.iter().filter_map(|at| call.arguments.get(*at)).map(|argument| argument.node);
            for node in receiver.into_iter().chain(given) {
                self.add(node, *rules, !is_negated, false, checks);
            }
        }
    }

    fn add(&self, node: Node<'a>, rules: RuleBits, holds_if_true: bool, is_exact: bool, checks: &mut Vec<Check>) {
        let mut keys = Vec::new();
        self.collect_keys(node, &mut keys, 0);
        checks.extend(keys.into_iter().map(|key| Check { key, rules, holds_if_true, is_exact }));
    }

    /// The expression, and what it is made from by calls that change nothing.
    fn collect_keys(&self, node: Node<'a>, keys: &mut Vec<String>, depth: usize) {
        if keys.len() >= MAX_KEYS || depth > MAX_DEPTH {
            return;
        }
        let node = self.code.unwrap(node);
        match self.code.role(node) {
            Role::Text | Role::Skip | Role::Function { .. } => {}
            Role::Call { .. } | Role::Method { .. } | Role::New { .. } => {
                keys.extend(self.code.key(node));
                if let Some(call) = self.code.call(node) {
                    for inner in self.passed(&call) {
                        self.collect_keys(inner, keys, depth + 1);
                    }
                }
            }
            Role::Index { object, index } => {
                keys.extend(self.code.key(node));
                // Whoever looks at a part of the bytes, as a signature does, looks at the whole.
                let index = part(node, index).map(|index| self.code.node_text(index)).unwrap_or_default();
                if let Some(object) =
                    part(node, object).filter(|_| index.contains(':') && index.chars().all(|c| c.is_ascii_digit() || c == ':'))
                {
                    self.collect_keys(object, keys, depth + 1);
                }
            }
            Role::Member { object, name } => {
                keys.extend(self.code.key(node));
                let name = part(node, name).and_then(|name| self.code.last_name(name)).unwrap_or_default();
                if let Some(object) = part(node, object).filter(|_| self.flow.checked_parts.contains(name)) {
                    self.collect_keys(object, keys, depth + 1);
                }
            }
            Role::Unary | Role::Declare { .. } => {
                if let Some(inner) = part(node, "@0") {
                    self.collect_keys(inner, keys, depth + 1);
                }
            }
            _ => keys.extend(self.code.key(node)),
        }
    }

    fn is_literal(&self, node: Node<'a>) -> bool {
        let node = self.code.unwrap(node);
        self.code.role(node) == Role::Text && self.code.node_text(node).len() > 2
    }

    /// A text, a number, or a name in capitals.
    fn is_constant(&self, node: Node<'a>) -> bool {
        let node = self.code.unwrap(node);
        match self.code.role(node) {
            Role::Text => self.code.node_text(node).len() > 2,
            Role::Skip => true,
            Role::Name | Role::Member { .. } => self.code.path(node).last().is_some_and(|name| {
                name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
            }),
            _ => false,
        }
    }
}
