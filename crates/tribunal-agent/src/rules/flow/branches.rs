//! Branches, loops and cases: what holds on each way, and where the ways meet.

use super::checks::Check;
use super::evaluator::{Evaluator, Frame};
use super::origin::Value;
use super::state::State;
use super::syntax::{Part, Role, is_comment, part};
use std::collections::VecDeque;
use tree_sitter::Node;
use tribunal_core::plan::files::NotReviewed;

/// Rounds of a loop until nothing new is learnt. A loop inside loops gets one in each round of theirs.
const MAX_ROUNDS: usize = 40;

impl<'a> Evaluator<'a> {
    /// The children one after the other; cases and handlers among them are ways beside each other.
    pub fn evaluate_children(&mut self, node: Node<'a>, state: &mut State, frame: &mut Frame) -> Value {
        let mut cursor = node.walk();
        let children: Vec<Node<'a>> = node.named_children(&mut cursor).collect();
        let roles: Vec<Role> = children.iter().map(|child| self.code.role(*child)).collect();
        let is_case = |role: &Role| matches!(role, Role::Case { .. });
        let is_handler = |role: &Role| *role == Role::Handler;
        // The clauses of a comprehension stand behind what they bind.
        for (child, role) in children.iter().zip(&roles) {
            if matches!(role, Role::Each { body: "", .. }) {
                self.evaluate(*child, state, frame);
            }
        }
        let is_listed = matches!(node.kind(), "statements" | "body_statement" | "then" | "block_body");
        if roles.iter().any(|role| is_case(role) || is_handler(role)) {
            return self.evaluate_ways(&children, &roles, is_listed, state, frame);
        }
        let is_block = is_block(node);
        let mut value = Value::clean();
        for (child, role) in children.iter().zip(&roles) {
            if matches!(role, Role::Each { body: "", .. }) {
                continue;
            }
            let found = self.evaluate_statement(*child, is_listed, state, frame);
            match is_block && !self.builds_text(node) {
                true => value = found,
                false => value.join(found),
            }
        }
        let is_value = self.code.syntax.last_is_value || is_lambda_body(node);
        if is_block && !is_value { Value::clean() } else { value }
    }

    /// `buildString { append(a); append(b) }`: every statement adds to the result.
    fn builds_text(&self, node: Node<'a>) -> bool {
        let call = || std::iter::successors(node.parent(), Node::parent).take(4).find(|outer| outer.kind() == "call_expression");
        is_lambda_body(node) && call().is_some_and(|call| self.code.node_text(call).starts_with("buildString"))
    }

    fn evaluate_ways(
        &mut self,
        children: &[Node<'a>],
        roles: &[Role],
        is_listed: bool,
        state: &mut State,
        frame: &mut Frame,
    ) -> Value {
        let mut value = Value::clean();
        let mut entry: Option<State> = None;
        let mut met: Option<State> = None;
        let before = state.clone();
        for (child, role) in children.iter().zip(roles) {
            let is_way = matches!(role, Role::Case { .. } | Role::Handler);
            if !is_way {
                if let Some(met) = met.take() {
                    state.join(met);
                    entry = None;
                }
                value.join(self.evaluate_statement(*child, is_listed, state, frame));
                continue;
            }
            // A handler may run after any part of what stands before it, a case after none of the other cases.
            let start = entry.get_or_insert_with(|| {
                let mut start = state.clone();
                if *role == Role::Handler {
                    start.join(before.clone());
                }
                start
            });
            let mut way = start.clone();
            if let Role::Case { pattern } = role {
                frame.breaks.push(Vec::new());
                if let (Some(pattern), Some(subject)) = (part(*child, pattern), frame.subjects.last().cloned()) {
                    self.bind(pattern, subject, &mut way);
                }
                value.join(self.evaluate(*child, &mut way, frame));
                for left in frame.breaks.pop().unwrap_or_default() {
                    way.join(left);
                }
            } else {
                value.join(self.evaluate(*child, &mut way, frame));
            }
            meet(&mut met, way);
        }
        if let Some(met) = met {
            state.join(met);
        }
        value
    }

    /// A call that stands alone as a statement checks what it is given. `is_listed`: what it stands in holds statements only.
    fn evaluate_statement(&mut self, node: Node<'a>, is_listed: bool, state: &mut State, frame: &mut Frame) -> Value {
        let value = self.evaluate(node, state, frame);
        if is_listed || is_statement(node) {
            for Check { key, rules, .. } in self.checks_of_statement(node) {
                state.check(&key, rules);
            }
        }
        value
    }

    /// `if`, `unless` and the conditional expression. An alternative that is itself an `if` is the next round of a loop: a list of
    /// alternatives is as long as its author likes, and a recursion would be as deep.
    pub fn branch(&mut self, node: Node<'a>, state: &mut State, frame: &mut Frame) -> Value {
        let mut value = Value::clean();
        // What holds behind the alternatives so far.
        let mut met: Option<State> = None;
        let mut before = std::mem::take(state);
        let (mut question, mut alternatives) = (node, VecDeque::new());
        loop {
            let (condition, then, otherwise, is_unless) = match self.code.role(question) {
                Role::If { condition, then, otherwise } => (condition, then, otherwise, false),
                Role::Unless { condition, then, otherwise } => (condition, then, otherwise, true),
                _ => break,
            };
            let mut checks = Vec::new();
            if let Some(initializer) = question.child_by_field_name("initializer") {
                self.evaluate(initializer, &mut before, frame);
                checks.extend(self.checks_of_statement(initializer));
            }
            if let Some(condition) = part(question, condition) {
                self.evaluate(condition, &mut before, frame);
                checks.extend(self.checks(condition, is_unless));
            }
            let mut other = before.clone();
            for check in &checks {
                let way = if check.holds_if_true { &mut before } else { &mut other };
                way.check(&check.key, check.rules);
            }
            if let Some(then) = part(question, then) {
                value.join(self.evaluate(then, &mut before, frame));
            }
            if before.is_left {
                // Whoever leaves after asking whether a value is wanted has checked it, in whichever words.
                for check in checks.iter().filter(|check| !check.is_exact) {
                    other.check(&check.key, check.rules);
                }
            }
            meet(&mut met, before);
            before = other;
            for alternative in self.alternatives(question, otherwise).into_iter().rev() {
                alternatives.push_front(alternative);
            }
            let Some(next) = alternatives.pop_front() else { break };
            question = self.unwrap_alternative(next);
            let is_choice = matches!(self.code.role(question), Role::If { .. } | Role::Unless { .. });
            let is_choice = is_choice && self.marks.of(question).is_none();
            if !is_choice || before.is_left || self.is_over() {
                value.join(self.evaluate(next, &mut before, frame));
                break;
            }
        }
        meet(&mut met, before);
        *state = met.unwrap_or_default();
        value
    }

    fn alternatives(&self, node: Node<'a>, otherwise: Part) -> Vec<Node<'a>> {
        if otherwise.is_empty() || otherwise.starts_with(['@', ':']) {
            return part(node, otherwise).into_iter().collect();
        }
        let mut cursor = node.walk();
        node.children_by_field_name(otherwise, &mut cursor).filter(|child| child.is_named() && !is_comment(*child)).collect()
    }

    /// The `if` of an `else if`.
    fn unwrap_alternative(&self, alternative: Node<'a>) -> Node<'a> {
        let mut node = alternative;
        while let Some(inner) = self.code.only_child(node).filter(|_| !is_block(node)) {
            node = inner;
        }
        node
    }

    /// `a && b`: what `a` has checked holds for `b`. `a || b`: the other way round.
    pub fn short_circuit(&mut self, parts: &[Node<'a>], is_and: bool, state: &mut State, frame: &mut Frame) -> Value {
        let mut value = Value::clean();
        let mut inner = state.clone();
        for operand in parts {
            value.join(self.evaluate(*operand, &mut inner, frame));
            for check in self.checks(*operand, !is_and) {
                if check.holds_if_true {
                    inner.check(&check.key, check.rules);
                }
            }
        }
        // The last operand may not have run.
        state.join(inner);
        value
    }

    pub fn each(&mut self, node: Node<'a>, state: &mut State, frame: &mut Frame) -> Value {
        let Role::Each { item, items, body } = self.code.role(node) else { return Value::clean() };
        let value = part(node, items).map(|items| self.evaluate(items, state, frame)).unwrap_or_default();
        let Some(body) = part(node, body) else {
            if let Some(item) = part(node, item) {
                self.bind(item, value, state);
            }
            return Value::clean();
        };
        self.repeat(state, frame, |this, state, frame| {
            if let Some(item) = part(node, item) {
                this.bind(item, value.clone(), state);
            }
            this.evaluate(body, state, frame);
        })
    }

    /// Runs a body until nothing new is learnt.
    pub fn repeat(
        &mut self,
        state: &mut State,
        frame: &mut Frame,
        mut body: impl FnMut(&mut Self, &mut State, &mut Frame),
    ) -> Value {
        let is_inner = frame.loops > 1;
        let rounds = if is_inner { 1 } else { MAX_ROUNDS };
        frame.loops += 1;
        let mut is_settled = is_inner;
        for _ in 0..rounds {
            let before = state.clone();
            frame.breaks.push(Vec::new());
            body(self, state, frame);
            for left in frame.breaks.pop().unwrap_or_default() {
                state.join(left);
            }
            state.join(before.clone());
            if state.says_same(&before) {
                is_settled = true;
                break;
            }
        }
        if !is_settled {
            self.cut_short(NotReviewed::OutOfTime);
        }
        frame.loops -= 1;
        Value::clean()
    }

    /// `match`, `case`, `when`.
    pub fn choose(
        &mut self,
        node: Node<'a>,
        subject: Option<Node<'a>>,
        body: Option<Node<'a>>,
        state: &mut State,
        frame: &mut Frame,
    ) -> Value {
        let value = subject.map(|subject| self.evaluate(subject, state, frame)).unwrap_or_default();
        frame.subjects.push(value);
        let value = self.evaluate_children(body.unwrap_or(node), state, frame);
        frame.subjects.pop();
        value
    }
}

/// The statements of a Kotlin lambda; its last one is its value.
fn is_lambda_body(node: Node<'_>) -> bool {
    node.kind() == "statements" && node.parent().is_some_and(|parent| parent.kind() == "lambda_literal")
}

/// A list of statements, whose value is at most that of the last one.
fn is_block(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "block"
            | "statement_block"
            | "compound_statement"
            | "statements"
            | "body_statement"
            | "block_body"
            | "then"
            | "else"
            | "ensure"
            | "do"
            | "parenthesized_statements"
            | "statement_list"
            | "program"
            | "module"
            | "source_file"
            | "translation_unit"
            | "compilation_unit"
            | "class_body"
            | "declaration_list"
    )
}

fn is_statement(node: Node<'_>) -> bool {
    matches!(node.kind(), "expression_statement" | "assert_statement")
}

fn meet(met: &mut Option<State>, way: State) {
    match met {
        Some(met) => met.join(way),
        None => *met = Some(way),
    }
}
