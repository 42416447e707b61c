//! Evaluates a function in the order in which it is written, and keeps what its variables may hold.
//!
//! It never asks what a value is, only where it comes from. What it does not know carries nothing: a call of an unknown function
//! is clean. So it says too little rather than too much.

use super::code::{Code, is_open_beginning, line};
use super::compile::{FlowRules, NodeUse, Sink};
use super::fields::Fields;
use super::local_functions::{LocalFunctions, Summary};
use super::marks::Marks;
use super::origin::{Origin, Place, RuleBits, StepLine, Trail, Value};
use super::pattern::{Pattern, Shape};
use super::state::State;
use super::syntax::{Role, part};
use crate::rules::clock::Clock;
use std::collections::BTreeMap;
use std::rc::Rc;
use tree_sitter::Node;
use tribunal_core::diff::change::AddedLines;
use tribunal_core::plan::files::NotReviewed;

/// Expressions nested deeper are not followed, and the file is named. A parsed tree is less deep; a local function is evaluated inside its
/// caller. Evaluation recurses, so the threads of a scan have a stack for this.
const MAX_NESTING: usize = 4_000;
/// Evaluated nodes of one file. A loop is evaluated more than once, so this is a multiple of what a large file holds.
const MAX_VISITS: usize = 2_000_000;
/// Nodes between two looks at the clock.
const VISITS_PER_TICK: usize = 256;

/// Untrusted data that arrives where it must not.
#[derive(Debug, Clone)]
pub struct Hit {
    pub rule: usize,
    pub severity: Option<tribunal_core::findings::scale::Severity>,
    pub origin: Origin,
    /// First and last byte of the sink.
    pub sink: (usize, usize),
    /// What the sink is called.
    pub name: String,
}

pub struct Evaluator<'a> {
    pub flow: &'a FlowRules,
    pub code: Code<'a>,
    pub local_functions: &'a LocalFunctions<'a>,
    pub marks: &'a Marks,
    pub hits: Vec<Hit>,
    pub summaries: BTreeMap<usize, Rc<Summary>>,
    pub fields: Fields,
    /// The fields that the function before has left, where it was a local function.
    pub left_fields: Vec<(String, Value)>,
    added: &'a AddedLines,
    cut: Option<NotReviewed>,
    is_over: bool,
    clock: Clock,
    visits: usize,
    nesting: usize,
}

/// What one function that is being evaluated collects.
#[derive(Default)]
pub struct Frame {
    pub returns: Value,
    /// The states at each `break` of the loops and cases around the current node.
    pub breaks: Vec<Vec<State>>,
    /// The values that the `match`es around the current node choose by.
    pub subjects: Vec<Value>,
    pub loops: usize,
    /// No function is around the current node.
    pub is_top: bool,
    /// A local function is being summarised: those that it calls are not followed.
    pub is_summary: bool,
}

impl<'a> Evaluator<'a> {
    pub fn new(
        flow: &'a FlowRules,
        code: Code<'a>,
        local_functions: &'a LocalFunctions<'a>,
        marks: &'a Marks,
        added: &'a AddedLines,
        clock: Clock,
    ) -> Self {
        Self {
            flow,
            code,
            local_functions,
            marks,
            hits: Vec::new(),
            summaries: BTreeMap::new(),
            fields: Fields::default(),
            left_fields: Vec::new(),
            added,
            cut: None,
            is_over: false,
            clock,
            visits: 0,
            nesting: 0,
        }
    }

    /// The value of a node, and what evaluating it does to the variables.
    pub fn evaluate(&mut self, node: Node<'a>, state: &mut State, frame: &mut Frame) -> Value {
        if self.is_over() {
            return Value::clean();
        }
        if self.nesting >= MAX_NESTING {
            self.cut_short(NotReviewed::NestedTooDeeply);
            return Value::clean();
        }
        self.nesting += 1;
        let value = if state.is_left { self.left_behind(node, state, frame) } else { self.evaluate_role(node, state, frame) };
        self.nesting -= 1;
        if value.is_cut() || state.is_cut {
            self.cut_short(NotReviewed::OutOfTime);
        }
        if state.is_left { value } else { self.apply_marks(node, value, frame) }
    }

    /// Counts a node. Nothing more is evaluated where the time or the work for this file is used up.
    pub fn is_over(&mut self) -> bool {
        self.visits += 1;
        let is_late = self.visits.is_multiple_of(VISITS_PER_TICK) && self.clock.is_over();
        if is_late || self.visits > MAX_VISITS {
            self.is_over = true;
            self.cut_short(NotReviewed::OutOfTime);
        }
        self.is_over
    }

    /// Something was not followed: what was not found says nothing.
    pub fn cut_short(&mut self, reason: NotReviewed) {
        self.cut.get_or_insert(reason);
    }

    /// Why not all data was followed.
    pub fn cut(&self) -> Option<NotReviewed> {
        self.cut.or(self.fields.is_cut.then_some(NotReviewed::OutOfTime))
    }

    /// The line of a step.
    pub fn step_at(&self, node: Node<'_>) -> StepLine {
        let number = line(node);
        StepLine { number, is_touched: self.added.contains(number) }
    }

    /// Code behind a `return` does not run, but a function that it declares can be called all the same.
    fn left_behind(&mut self, node: Node<'a>, state: &mut State, frame: &mut Frame) -> Value {
        let kind = node.kind();
        if matches!(self.code.role(node), Role::Function { .. }) {
            if kind.ends_with("_declaration") || kind.ends_with("_definition") || kind == "local_function_statement" {
                let mut before = state.clone();
                before.is_left = false;
                self.declared_function(node, before, frame);
            }
        } else if matches!(
            kind,
            "export_statement" | "class_declaration" | "class_body" | "declaration_list" | "namespace_definition"
        ) {
            self.evaluate_children(node, state, frame);
        }
        Value::clean()
    }

    fn declared_function(&mut self, node: Node<'a>, state: State, frame: &Frame) {
        if !frame.is_top || self.local_functions.is_relevant(node) || self.fields.concern(node, &self.code) {
            self.function(node, state, None, frame.is_summary);
        }
    }

    fn evaluate_role(&mut self, node: Node<'a>, state: &mut State, frame: &mut Frame) -> Value {
        match self.code.role(node) {
            Role::Skip => Value::clean(),
            Role::Children | Role::Pattern | Role::List | Role::Try => self.evaluate_children(node, state, frame),
            Role::Case { .. } => self.evaluate_children(node, state, frame),
            Role::Handler => self.evaluate_children(node, state, frame),
            Role::Name => self.variable(node, state, frame),
            Role::Text => self.text(node, state, frame),
            Role::Member { object, .. } => self.member(node, part(node, object), None, state, frame),
            Role::Index { object, index } => self.member(node, part(node, object), part(node, index), state, frame),
            Role::Call { .. } | Role::Method { .. } | Role::New { .. } | Role::Statement(_) => self.call(node, state, frame),
            Role::Labelled { label, value } => self.labelled(node, part(node, label), part(node, value), state, frame),
            Role::Assign { target, value } => self.assign(part(node, target), part(node, value), state, frame),
            Role::Declare { target, value } => self.declare(node, part(node, target), part(node, value), state, frame),
            Role::Binary { left, right } => self.binary(node, part(node, left), part(node, right), state, frame),
            Role::Unary => self.unary(node, state, frame),
            Role::Cast { class, value } => {
                let carried = part(node, value).map(|value| self.evaluate(value, state, frame)).unwrap_or_default();
                let is_safe = part(node, class).is_some_and(|class| self.is_safe_type(&self.code.code_text(class)));
                if is_safe { Value::clean() } else { carried }
            }
            Role::If { .. } | Role::Unless { .. } => self.branch(node, state, frame),
            Role::Each { .. } => self.each(node, state, frame),
            Role::Loop => self.repeat(state, frame, |this, state, frame| {
                this.evaluate_children(node, state, frame);
            }),
            Role::Match { value, body } => self.choose(node, part(node, value), part(node, body), state, frame),
            Role::Return => self.leave_with_value(node, state, frame),
            Role::Throw => {
                self.evaluate_children(node, state, frame);
                state.is_left = true;
                Value::clean()
            }
            Role::Break => {
                self.break_off(state, frame);
                Value::clean()
            }
            Role::Function { .. } => {
                self.declared_function(node, state.clone(), frame);
                Value::clean()
            }
        }
    }

    fn leave_with_value(&mut self, node: Node<'a>, state: &mut State, frame: &mut Frame) -> Value {
        // Kotlin has one kind of node for all ways to leave.
        let word = self.code.node_text(node);
        let value = self.evaluate_children(node, state, frame);
        if word.starts_with("break") || word.starts_with("continue") {
            self.break_off(state, frame);
        } else {
            if !word.starts_with("throw") {
                frame.returns.join(value);
            }
            state.is_left = true;
        }
        Value::clean()
    }

    fn break_off(&mut self, state: &mut State, frame: &mut Frame) {
        if let Some(breaks) = frame.breaks.last_mut() {
            breaks.push(state.clone());
        }
        state.is_left = true;
    }

    /// The source that a name or a call is, under the names of its path.
    pub fn source(&self, node: Node<'a>, entry: usize, key: Option<&str>, state: &State) -> Value {
        let rules = self.flow.entries.get(entry).map_or(0, |entry| entry.rules);
        let safe = key.map_or(0, |key| state.safe_for(key));
        let place = Place::Source { start: node.start_byte(), end: self.read_part(node).end_byte(), entry };
        Value::of(Origin { place, rules: rules & !safe, built: None, leads: true, trail: Trail::default() })
    }

    /// `request.args["name"]` where `request.args` is the source.
    fn read_part(&self, node: Node<'a>) -> Node<'a> {
        let mut whole = node;
        while let Some(outer) = whole.parent() {
            let (Role::Member { object, .. } | Role::Index { object, .. }) = self.code.role(outer) else { break };
            if part(outer, object) != Some(whole)
                || outer.parent().and_then(|call| self.code.call(call)).is_some_and(|call| call.receiver == Some(whole))
            {
                break;
            }
            whole = outer;
        }
        whole
    }

    /// What the name at the end of a dotted path is a source of.
    fn named_source(&self, node: Node<'a>, key: Option<&str>, state: &State) -> Option<Value> {
        let name = self.code.path(node);
        self.path_source(node, &name, key, state)
    }

    pub fn path_source(&self, node: Node<'a>, path: &[&str], key: Option<&str>, state: &State) -> Option<Value> {
        let last = path.last()?;
        let mut found: Option<Value> = None;
        for (pattern, entry) in self.flow.sources.named(last) {
            if pattern.shape == Shape::Name && pattern.matches_path(path) {
                found.get_or_insert_default().join(self.source(node, *entry, key, state));
            }
        }
        found
    }

    fn variable(&mut self, node: Node<'a>, state: &State, frame: &Frame) -> Value {
        let Some(key) = self.code.key(node) else { return Value::clean() };
        if let Some(value) = state.whole_value(&key) {
            return value;
        }
        match self.named_source(node, Some(&key), state) {
            Some(value) => value,
            None => self.bare_call(node, frame).without(state.safe_for(&key)),
        }
    }

    /// What a variable itself holds, without what its properties hold.
    fn own_value(&self, node: Node<'a>, state: &State) -> Value {
        let Some(key) = self.code.key(node) else { return Value::clean() };
        state.value(&key).or_else(|| self.named_source(node, Some(&key), state)).unwrap_or_default()
    }

    fn text(&mut self, node: Node<'a>, state: &mut State, frame: &mut Frame) -> Value {
        let mut value = Value::clean();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            let carried = self.evaluate(child, state, frame);
            if !carried.is_clean() {
                let before = self.code.text.get(node.start_byte()..child.start_byte()).unwrap_or_default();
                value.join(if is_open_beginning(before) { carried } else { carried.behind_text() });
            }
        }
        if self.code.syntax.braces_in_text {
            for name in braced_names(self.code.node_text(node)) {
                value.join(state.value(name).unwrap_or_default().behind_text());
            }
        }
        value.built_at((node.start_byte(), node.end_byte()))
    }

    /// `object.name` or `object[index]`.
    fn member(
        &mut self,
        node: Node<'a>,
        object: Option<Node<'a>>,
        index: Option<Node<'a>>,
        state: &mut State,
        frame: &mut Frame,
    ) -> Value {
        if let Some(index) = index {
            self.evaluate(index, state, frame);
        }
        let key = self.code.key(node);
        let path = self.code.path(node);
        let is_set = key.as_deref().is_some_and(|key| state.is_set(key));
        if index.is_none()
            && !is_set
            && let Some(found) = self.path_source(node, &path, key.as_deref(), state)
        {
            return found;
        }
        let known = key.as_deref().and_then(|key| state.whole_value(key));
        let value = match (known, object) {
            (Some(value), _) => value,
            (None, Some(object)) => {
                let safe = key.as_deref().map_or(0, |key| state.safe_for(key));
                let held = match self.code.role(object) {
                    // Another property of the same object says nothing of this one.
                    Role::Name => self.own_value(object, state),
                    _ => self.evaluate(object, state, frame),
                };
                held.without(safe)
            }
            (None, None) => Value::clean(),
        };
        if value.is_clean() {
            return value;
        }
        let is_name = |pattern: &Pattern| pattern.shape == Shape::Name;
        let safe = path.last().map_or(0, |last| {
            let matching =
                self.flow.sanitizers.named(last).filter(|(pattern, _)| is_name(pattern) && pattern.matches_path(&path));
            matching.fold(0, |safe, (_, rules)| safe | rules)
        });
        value.without(if index.is_none() { safe } else { 0 })
    }

    fn binary(
        &mut self,
        node: Node<'a>,
        left: Option<Node<'a>>,
        right: Option<Node<'a>>,
        state: &mut State,
        frame: &mut Frame,
    ) -> Value {
        let (Some(first), Some(last)) = (left, right) else { return self.evaluate_children(node, state, frame) };
        // `a + b + c` leans to the left, as deep as it is long.
        let mut parts = vec![last];
        let mut rest = first;
        let operator = self.code.operator(first, last);
        while rest.kind_id() == node.kind_id() {
            let Role::Binary { left, right } = self.code.role(rest) else { break };
            let (Some(left), Some(right)) = (part(rest, left), part(rest, right)) else { break };
            if self.code.operator(left, right) != operator {
                break;
            }
            parts.push(right);
            rest = left;
        }
        parts.push(rest);
        parts.reverse();
        let operator = self.code.operator(parts[parts.len() - 2], last);
        let operator = operator.as_ref();
        if matches!(operator, "&&" | "and" | "||" | "or") {
            return self.short_circuit(&parts, matches!(operator, "&&" | "and"), state, frame);
        }
        let mut value = Value::clean();
        let mut has_text = false;
        for operand in &parts {
            has_text |= self.is_text(*operand);
            let carried = self.evaluate(*operand, state, frame);
            let before = self.code.without_comments(parts[0].start_byte()..operand.start_byte());
            let before = match operator {
                "%" => self.code.node_text(parts[0]).split('%').next().unwrap_or_default(),
                _ => before.trim_end().trim_end_matches(['+', '.']).trim_end(),
            };
            value.join(if is_open_beginning(before) || matches!(operator, "??" | "?:") {
                carried
            } else {
                carried.behind_text()
            });
        }
        match operator {
            "+" | "%" | "." | "<<" | "/" | "??" | "?:" | "|" | "+=" => {
                if operator == "<<" {
                    // Appends to the left side in Ruby and C++.
                    if let Some(key) = self.code.key(parts[0]) {
                        state.add(key, value.clone());
                    }
                }
                if has_text { value.built_at((node.start_byte(), node.end_byte())) } else { value }
            }
            // A comparison, or arithmetic: a truth or a number.
            _ => Value::clean(),
        }
    }

    fn is_text(&self, node: Node<'a>) -> bool {
        let node = self.code.unwrap(node);
        self.code.role(node) == Role::Text
    }

    fn unary(&mut self, node: Node<'a>, state: &mut State, frame: &mut Frame) -> Value {
        let value = self.evaluate_children(node, state, frame);
        let text = self.code.node_text(node);
        match text.starts_with(['!', '-', '+', '~']) || text.starts_with("not ") || text.starts_with("typeof") {
            true => Value::clean(),
            false => value,
        }
    }

    /// A keyword argument, or an entry of an object. `name = $ARG` finds it.
    fn labelled(
        &mut self,
        node: Node<'a>,
        label: Option<Node<'a>>,
        value: Option<Node<'a>>,
        state: &mut State,
        frame: &mut Frame,
    ) -> Value {
        let Some(inner) = value else { return Value::clean() };
        let value = self.evaluate(inner, state, frame);
        if let Some(label) = label.filter(|label| *label != inner) {
            let name = self.code.node_text(label).trim_matches([':', '"', '\'']);
            self.check_assigned(node, &[name], &value, frame);
        }
        value
    }

    /// Is `value` given to something that must not have it?
    pub fn check_assigned(&mut self, node: Node<'a>, path: &[&str], value: &Value, frame: &Frame) {
        if value.is_clean() {
            return;
        }
        let Some(last) = path.last() else { return };
        let flow = self.flow;
        for (pattern, sink) in flow.sinks.named(last) {
            if pattern.shape == Shape::Assign && pattern.matches_path(path) {
                self.report(sink, value, node, &path.join("."), frame);
            }
        }
    }

    /// Remembers each origin that is dangerous for the sink's rule.
    pub fn report(&mut self, sink: &Sink, value: &Value, node: Node<'a>, name: &str, frame: &Frame) {
        let bit: RuleBits = 1 << sink.rule;
        for origin in value.origins().iter().filter(|origin| origin.rules & bit != 0) {
            let is_summary = matches!(origin.place, Place::Parameter(_));
            if is_summary != frame.is_summary {
                continue;
            }
            if sink.leading && !origin.leads {
                continue;
            }
            if let Some(built) = &sink.built {
                let text = origin.built.and_then(|(start, end)| self.code.text.get(start..end));
                if !text.is_some_and(|text| built.is_match(text)) {
                    continue;
                }
            }
            self.hits.push(Hit {
                rule: sink.rule,
                severity: sink.severity,
                origin: origin.clone(),
                sink: (node.start_byte(), node.end_byte()),
                name: name.to_owned(),
            });
        }
    }

    pub fn is_safe_type(&self, text: &str) -> bool {
        self.flow.safe_types.as_ref().is_some_and(|types| types.is_match(text.trim()))
    }

    /// What the ast-grep rules of the flow rules say of a node.
    fn apply_marks(&mut self, node: Node<'a>, value: Value, frame: &Frame) -> Value {
        let marks = self.marks;
        let Some(mark) = marks.of(node) else { return value };
        let mut value = value.without(mark.safe);
        for entry in &mark.sources {
            value.join(self.source(node, *entry, None, &State::default()));
        }
        let flow = self.flow;
        for sink in mark.sinks.iter().filter_map(|rule| flow.nodes.get(*rule)) {
            if let NodeUse::Sink(sink) = &sink.what {
                self.report(sink, &value, node, &self.code.short_text(node), frame);
            }
        }
        value
    }
}

/// The names in `{name}` and `{name:?}`.
fn braced_names(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        (end > 0 && matches!(rest.as_bytes()[end], b'}' | b':')).then(|| &rest[..end])
    })
}
