//! Functions: which parameters are sources, and what binding a name does.

use super::evaluator::{Evaluator, Frame};
use super::origin::{Origin, Place, RuleBits, Trail, Value};
use super::state::State;
use super::syntax::{Role, part};
use std::borrow::Cow;
use tree_sitter::Node;

/// How far back the pieces of a text are looked for.
const SURROUNDING_BYTES: usize = 600;

impl<'a> Evaluator<'a> {
    /// Evaluates a function from a state, and gives what it returns. `bound` is what its first parameter holds, where that is known.
    pub fn function(&mut self, node: Node<'a>, mut state: State, bound: Option<Value>, is_summary: bool) -> Value {
        let Role::Function { body, .. } = self.code.role(node) else { return Value::clean() };
        let Some(body) = part(node, body) else { return Value::clean() };
        let mut frame = Frame { is_summary, ..Frame::default() };
        let parameters = parameters(node, &self.code);
        let head = self.head(node, body);
        for (position, parameter) in parameters.iter().enumerate() {
            let value = match (&bound, is_summary) {
                (Some(bound), _) if position == 0 => bound.clone(),
                (_, true) => self.symbol(*parameter, position),
                _ => self.parameter_source(*parameter, &head),
            };
            self.bind_parameter(*parameter, value, &mut state);
        }
        if let (Some(bound), true) = (bound, parameters.is_empty()) {
            // The unnamed parameter of a Kotlin lambda.
            state.set("it".to_owned(), bound);
        }
        if !is_summary {
            self.fields.load(node, &self.code, &mut state);
        }
        let value = self.evaluate(body, &mut state, &mut frame);
        match is_summary {
            true => self.left_fields = state.fields().map(|(name, value)| (name.to_owned(), value)).collect(),
            false => self.fields.keep(node, &self.code, &state),
        }
        let is_expression = !matches!(body.kind(), "statement_block" | "compound_statement");
        if self.code.syntax.last_is_value || is_expression {
            frame.returns.join(value);
        }
        frame.returns
    }

    /// The code before the body, with the decorators.
    fn head(&self, node: Node<'a>, body: Node<'a>) -> Cow<'a, str> {
        if self.flow.parameters.is_empty() {
            return Cow::default();
        }
        let outer = node.parent().filter(|parent| parent.kind() == "decorated_definition").unwrap_or(node);
        self.code.without_comments(outer.start_byte()..body.start_byte())
    }

    /// The value of a parameter of a local function is not known yet: it is marked with its position.
    fn symbol(&self, parameter: Node<'a>, position: usize) -> Value {
        if self.is_safe_parameter(parameter) {
            return Value::clean();
        }
        Value::of(Origin {
            place: Place::Parameter(position),
            rules: RuleBits::MAX,
            built: None,
            leads: true,
            trail: Trail::default(),
        })
    }

    fn is_safe_parameter(&self, parameter: Node<'a>) -> bool {
        let class = parameter.child_by_field_name("type").or_else(|| {
            // Kotlin has no name for the field. What stands behind a colon in the text may be a default value.
            let mut cursor = parameter.walk();
            parameter.named_children(&mut cursor).find(|child| matches!(child.kind(), "user_type" | "nullable_type"))
        });
        class.is_some_and(|class| self.is_safe_type(self.code.code_text(class).trim_start_matches(':')))
    }

    fn parameter_source(&self, parameter: Node<'a>, head: &str) -> Value {
        let flow = self.flow;
        if flow.parameters.is_empty() || self.is_safe_parameter(parameter) {
            return Value::clean();
        }
        // Kotlin keeps the annotations of a parameter beside it.
        let modifiers = parameter.prev_named_sibling().filter(|before| before.kind() == "parameter_modifiers");
        let start = modifiers.unwrap_or(parameter).start_byte();
        let text = self.code.without_comments(start..parameter.end_byte());
        if flow.safe_parameters.as_ref().is_some_and(|safe| safe.is_match(&text)) {
            return Value::clean();
        }
        let mut value = Value::clean();
        for source in &flow.parameters {
            let is_source =
                source.parameter.is_match(&text) && source.function.as_ref().is_none_or(|function| function.is_match(head));
            if is_source {
                value.join(self.source(parameter, source.entry, None, &State::default()));
            }
        }
        value
    }

    fn bind_parameter(&mut self, parameter: Node<'a>, value: Value, state: &mut State) {
        let mut cursor = parameter.walk();
        let names: Vec<Node<'a>> = parameter.children_by_field_name("name", &mut cursor).collect();
        if !names.is_empty() {
            names.into_iter().for_each(|name| self.bind(name, value.clone(), state));
            return;
        }
        let inner = ["pattern", "declarator", "left"].into_iter().find_map(|field| parameter.child_by_field_name(field));
        let target = match (inner, self.code.role(parameter)) {
            (Some(inner), _) => inner,
            (None, Role::Children) => parameter.named_child(0).unwrap_or(parameter),
            (None, _) => parameter,
        };
        self.bind(target, value, state);
    }

    /// All names of a pattern hold `value` from now on.
    pub fn bind(&mut self, target: Node<'a>, value: Value, state: &mut State) {
        match self.code.role(target) {
            Role::Name | Role::Member { .. } => {
                if let Some(key) = self.code.key(target) {
                    state.set(key, value);
                } else if let Some(key) = self.code.nearest_key(target) {
                    state.add(key, value);
                }
            }
            Role::Index { object, .. } => {
                if let Some(key) = part(target, object).and_then(|object| self.code.nearest_key(object)) {
                    state.add(key, value);
                }
            }
            Role::Skip | Role::Text => {}
            Role::Labelled { value: inner, .. } => {
                if let Some(inner) = part(target, inner) {
                    self.bind(inner, value, state);
                }
            }
            _ => {
                let mut cursor = target.walk();
                for child in target.named_children(&mut cursor) {
                    self.bind(child, value.clone(), state);
                }
            }
        }
    }

    pub fn assign(&mut self, target: Option<Node<'a>>, value: Option<Node<'a>>, state: &mut State, frame: &mut Frame) -> Value {
        let (Some(target), Some(right)) = (target, value) else { return Value::clean() };
        let target = self.code.only_child(target).unwrap_or(target);
        let operator = self.code.operator(target, right);
        let is_plain = operator.ends_with('=') && !operator.ends_with("==") && operator.trim_matches([':', '=']).is_empty()
            || operator.starts_with(':')
            || operator == "=";
        let carried = self.evaluate(right, state, frame);
        let path = self.code.path(target);
        self.check_assigned(target.parent().unwrap_or(target), &path, &carried, frame);
        if is_plain {
            self.store(target, right, carried.clone(), state, frame);
            return carried;
        }
        let mut joined = self.evaluate(target, state, frame);
        let built = self.surroundings(target.parent().unwrap_or(target));
        let appended = carried.with_step(self.step_at(target), || format!("added to `{}`", self.code.short_text(target)));
        joined.join(appended.built_at(built).behind_text());
        self.bind(target, joined.clone(), state);
        joined
    }

    /// What is put together piece by piece has its other pieces just before.
    pub fn surroundings(&self, node: Node<'a>) -> (usize, usize) {
        let start = node.start_byte().saturating_sub(SURROUNDING_BYTES);
        let start = (start..=node.start_byte()).find(|at| self.code.text.is_char_boundary(*at)).unwrap_or(node.start_byte());
        (start, node.end_byte())
    }

    pub fn declare(
        &mut self,
        node: Node<'a>,
        target: Option<Node<'a>>,
        value: Option<Node<'a>>,
        state: &mut State,
        frame: &mut Frame,
    ) -> Value {
        let Some(target) = target else { return self.evaluate_children(node, state, frame) };
        let Some(right) = value.filter(|value| *value != target) else {
            self.bind(target, Value::clean(), state);
            return Value::clean();
        };
        if matches!(self.code.role(right), Role::Function { .. }) {
            // A function under a name: evaluated where it stands.
            self.evaluate(right, state, frame);
            return Value::clean();
        }
        let carried = self.evaluate(right, state, frame);
        let class = [Some(node), node.parent()].into_iter().flatten().find_map(|node| node.child_by_field_name("type"));
        let class = class.or_else(|| target.named_child(1).filter(|_| target.kind() == "variable_declaration"));
        let is_safe = class.is_some_and(|class| self.is_safe_type(self.code.code_text(class).trim_start_matches(':')));
        let carried = if is_safe { Value::clean() } else { carried };
        self.store(target, right, carried.clone(), state, frame);
        carried
    }

    /// Gives a value to a target; a list of targets takes a list of values one by one.
    fn store(&mut self, target: Node<'a>, right: Node<'a>, value: Value, state: &mut State, frame: &mut Frame) {
        let at = self.step_at(target);
        if self.code.role(target) == Role::List && self.code.role(right) == Role::List {
            let (targets, rights) = (target.named_child_count(), right.named_child_count());
            if targets == rights {
                for index in 0..targets {
                    let index = u32::try_from(index).unwrap_or(u32::MAX);
                    let (Some(target), Some(right)) = (target.named_child(index), right.named_child(index)) else { continue };
                    let value = self.evaluate(right, &mut state.clone(), frame);
                    let note = self.code.short_text(target);
                    self.bind(target, value.with_step(at, || format!("assigned to `{note}`")), state);
                }
                return;
            }
        }
        if target.kind() == "object_pattern" {
            self.bind_properties(target, right, &value, state);
            return;
        }
        let note = self.code.short_text(target);
        self.bind(target, value.with_step(at, || format!("assigned to `{note}`")), state);
    }

    /// `const { body, query: { id } } = request`: each property may be a source of its own.
    fn bind_properties(&mut self, target: Node<'a>, right: Node<'a>, value: &Value, state: &mut State) {
        let path = self.code.path(right);
        let mut cursor = target.walk();
        for child in target.named_children(&mut cursor) {
            let name = match self.code.role(child) {
                Role::Name => Some(self.code.node_text(child)),
                _ => child
                    .child_by_field_name("key")
                    .or_else(|| child.child_by_field_name("left"))
                    .map(|key| self.code.node_text(key)),
            };
            let mut held = value.clone();
            if let Some(name) = name {
                let path: Vec<&str> = path.iter().copied().chain([name]).collect();
                held.join(self.path_source(child, &path, None, state).unwrap_or_default());
            }
            let bound = child.child_by_field_name("value").or_else(|| child.child_by_field_name("left")).unwrap_or(child);
            let note = self.code.short_text(bound);
            self.bind(bound, held.with_step(self.step_at(child), || format!("assigned to `{note}`")), state);
        }
    }
}

/// The parameters of a function, one node each.
pub fn parameters<'a>(node: Node<'a>, code: &super::code::Code<'a>) -> Vec<Node<'a>> {
    let Role::Function { parameters, .. } = code.role(node) else { return Vec::new() };
    let mut list = part(node, parameters);
    // C keeps the parameters inside the declarator.
    while let Some(inner) = list.filter(|list| list.kind().ends_with("_declarator")) {
        list = inner.child_by_field_name("parameters").or_else(|| inner.child_by_field_name("declarator"));
    }
    let Some(list) = list.or_else(|| node.child_by_field_name("parameter")) else { return Vec::new() };
    if code.role(list) == Role::Name {
        return vec![list];
    }
    let mut cursor = list.walk();
    let is_parameter =
        |child: &Node<'_>| !child.is_extra() && child.kind() != "parameter_modifiers" && child.kind() != "attribute_item";
    list.named_children(&mut cursor).filter(is_parameter).collect()
}
