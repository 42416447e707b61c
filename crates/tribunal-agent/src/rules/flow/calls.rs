//! Calls: sinks, sources, sanitizers, what passes a value on, and the other functions of the same file.

use super::code::{Call, CallArgument, is_open_beginning};
use super::compile::Sink;
use super::evaluator::{Evaluator, Frame};
use super::local_functions::{LocalFunction, Summary};
use super::origin::{Origin, Place, RuleBits, StepLine, Value};
use super::pattern::{Argument, Matched, Pattern, PatternIndex, Shape};
use super::state::State;
use super::syntax::{Role, part};
use std::rc::Rc;
use tree_sitter::Node;
use tribunal_core::plan::files::NotReviewed;

/// What a call is given, evaluated.
struct Given<'c, 'a> {
    call: &'c Call<'a>,
    path: Vec<&'a str>,
    arguments: Vec<Argument<'a>>,
    receiver: Value,
    values: Vec<Value>,
}

impl Given<'_, '_> {
    fn find<'p, T>(&self, index: &'p PatternIndex<T>) -> Vec<(&'p T, Matched)> {
        let fits = |pattern: &Pattern| {
            let shape = if self.call.is_new { Shape::New } else { Shape::Call };
            pattern.shape == shape && pattern.matches_path(&self.path)
        };
        let matched = |(pattern, what): &'p (Pattern, T)| {
            fits(pattern).then(|| pattern.match_arguments(&self.arguments)).flatten().map(|matched| (what, matched))
        };
        index.named(self.call.name).filter_map(matched).collect()
    }

    /// What the matched arguments carry.
    fn value(&self, matched: &Matched) -> Value {
        let mut value = if matched.receiver { self.receiver.clone() } else { Value::clean() };
        for at in &matched.arguments {
            value.join(self.values.get(*at).cloned().unwrap_or_default());
        }
        value
    }

    fn is_clean(&self) -> bool {
        self.receiver.is_clean() && self.values.iter().all(Value::is_clean)
    }
}

impl<'a> Evaluator<'a> {
    pub fn call(&mut self, node: Node<'a>, state: &mut State, frame: &mut Frame) -> Value {
        let Some(call) = self.code.call(node) else { return self.evaluate_children(node, state, frame) };
        let key = self.code.key(node);
        let receiver = call.receiver.map(|receiver| self.evaluate(receiver, state, frame)).unwrap_or_default();
        // `new Function(code)()`: what is called is an expression of its own.
        if let Some(inner) = call.called_expression(&self.code) {
            self.evaluate(inner, state, frame);
        }
        let mut returned: Option<Value> = None;
        let mut values = Vec::new();
        for argument in &call.arguments {
            values.push(self.argument(&call, argument, &receiver, &mut returned, state, frame));
        }
        let (path, arguments) = (call.path(&self.code), call.pattern_arguments(&self.code));
        let given = Given { call: &call, path, arguments, receiver, values };
        let flow = self.flow;
        if !given.is_clean() {
            let safe = self.safe_part(node);
            for (sink, matched) in given.find(&flow.sinks) {
                self.arrive(sink, &given.value(&matched).without(safe), &given, frame);
            }
        }
        self.fill_fields(&given, frame);
        // A function of this file that is called like an exit need not be one.
        if !given.find(&flow.exits).is_empty() && self.local_functions.called(&given.path).is_none() {
            state.is_left = true;
            return Value::clean();
        }
        let safe = key.as_deref().map_or(0, |key| state.safe_for(key));
        self.collect_into(&given, state);
        self.result(node, &given, returned, key.as_deref(), state, frame).without(safe)
    }

    /// The rules for which the part that is taken of a call's result is safe: `File(name).name`, `new File(name).getName()`.
    fn safe_part(&self, node: Node<'a>) -> RuleBits {
        let Some(outer) = node.parent() else { return 0 };
        let (shape, call) = match self.code.role(outer) {
            Role::Member { object, .. } if part(outer, object) == Some(node) => {
                let call = outer.parent().filter(
                    |call| matches!(self.code.role(*call), Role::Call { callee, .. } if part(*call, callee) == Some(outer)),
                );
                (if call.is_some() { Shape::Call } else { Shape::Name }, outer)
            }
            Role::Method { object, .. } if part(outer, object) == Some(node) => (Shape::Call, outer),
            _ => return 0,
        };
        let path = self.code.path(call);
        let Some(last) = path.last() else { return 0 };
        let of_result = |pattern: &Pattern| pattern.shape == shape && pattern.takes_receiver() && pattern.matches_path(&path);
        let matching = self.flow.sanitizers.named(last).filter(|(pattern, _)| of_result(pattern));
        matching.fold(0, |safe, (_, rules)| safe | rules)
    }

    fn argument(
        &mut self,
        call: &Call<'a>,
        argument: &CallArgument<'a>,
        receiver: &Value,
        returned: &mut Option<Value>,
        state: &mut State,
        frame: &mut Frame,
    ) -> Value {
        if !matches!(self.code.role(argument.node), Role::Function { .. }) {
            let value = self.evaluate(argument.node, state, frame);
            if let Some(label) = argument.label {
                self.check_assigned(call.node, &[label], &value, frame);
            }
            return value;
        }
        if !frame.is_top || self.local_functions.is_relevant(argument.node) {
            let bound = (!receiver.is_clean()).then(|| receiver.clone());
            let value = self.function(argument.node, state.clone(), bound, frame.is_summary);
            returned.get_or_insert_default().join(value);
        }
        Value::clean()
    }

    fn arrive(&mut self, sink: &Sink, value: &Value, given: &Given<'_, 'a>, frame: &Frame) {
        let name = match (given.call.is_new, given.call.name) {
            (true, name) => format!("new {name}"),
            (false, "`") => "a shell command in backticks".to_owned(),
            (false, _) => given.path.join(".").trim_start_matches("?.").to_owned(),
        };
        self.report(sink, value, given.call.node, &name, frame);
    }

    /// `list.append(x)` makes the list as dangerous as `x`.
    fn collect_into(&mut self, given: &Given<'_, 'a>, state: &mut State) {
        if given.values.iter().all(Value::is_clean) {
            return;
        }
        for ((), matched) in given.find(&self.flow.collectors) {
            let target = given.call.receiver.or_else(|| given.call.arguments.first().map(|argument| argument.node));
            let Some(target) = target.map(|target| self.code.unwrap(target)) else { continue };
            let target = match self.code.role(target) {
                Role::Unary => part(target, "@0").unwrap_or(target),
                _ => target,
            };
            let (note, at) = (self.code.short_text(target), self.step_at(given.call.node));
            let value = given.value(&Matched { receiver: false, ..matched }).built_at(self.surroundings(given.call.node));
            if let Some(key) = self.chain_root(target) {
                state.add(key, value.with_step(at, || format!("added to `{note}`")));
            }
        }
    }

    /// The variable at the start of `builder.append(a).append(b)`.
    fn chain_root(&self, node: Node<'a>) -> Option<String> {
        let mut node = node;
        while let Some(receiver) = self.code.call(node).and_then(|call| call.receiver) {
            node = receiver;
        }
        matches!(self.code.role(node), Role::Name | Role::Member { .. }).then(|| self.code.key(node)).flatten()
    }

    fn result(
        &mut self,
        node: Node<'a>,
        given: &Given<'_, 'a>,
        returned: Option<Value>,
        key: Option<&str>,
        state: &State,
        frame: &Frame,
    ) -> Value {
        let flow = self.flow;
        let mut value = Value::clean();
        for (entry, _) in given.find(&flow.sources) {
            value.join(self.source(node, *entry, key, state));
        }
        let is_mapped = returned.as_ref().is_some_and(|returned| !returned.is_clean());
        if given.is_clean() && !is_mapped {
            return self.local_result(given, value, frame);
        }
        let safe = given.find(&flow.sanitizers).into_iter().fold(0, |safe: RuleBits, (rules, _)| safe | rules);
        for ((), matched) in given.find(&flow.passes) {
            value.join(given.value(&matched));
        }
        for ((), matched) in given.find(&flow.builders) {
            let built = given.value(&matched).built_at((node.start_byte(), node.end_byte()));
            value.join(if self.begins_with_value(given) { built } else { built.behind_text() });
        }
        for ((), matched) in given.find(&flow.collectors) {
            // A builder returns itself.
            value.join(given.receiver.clone());
            value.join(given.value(&matched));
        }
        if !given.find(&flow.maps).is_empty() {
            match returned {
                // `buildString { append(a) }`
                Some(returned) if !given.find(&flow.builders).is_empty() => {
                    value.join(returned.built_at((node.start_byte(), node.end_byte())));
                }
                Some(returned) => value.join(returned),
                None if self.is_mapped_safe(given) => {}
                None => value.join(given.receiver.clone()),
            }
        }
        if safe != 0 {
            // What a sanitizer gives back is what it was given, made safe for some rules.
            value.join(given.receiver.clone());
            given.values.iter().for_each(|given| value.join(given.clone()));
        }
        self.local_result(given, value.without(safe), frame)
    }

    /// What a call that changes nothing was given.
    pub fn passed(&self, call: &Call<'a>) -> Vec<Node<'a>> {
        let given = Given {
            call,
            path: call.path(&self.code),
            arguments: call.pattern_arguments(&self.code),
            receiver: Value::clean(),
            values: Vec::new(),
        };
        let mut nodes = Vec::new();
        for ((), matched) in given.find(&self.flow.passes) {
            nodes.extend(call.receiver.filter(|_| matched.receiver));
            nodes.extend(matched.arguments.iter().filter_map(|at| call.arguments.get(*at)).map(|argument| argument.node));
        }
        nodes
    }

    /// Does a format begin with what is put into it: `"%s/x"`, `"https://{}/"`?
    fn begins_with_value(&self, given: &Given<'_, 'a>) -> bool {
        let format = given.call.receiver.into_iter().chain(given.call.arguments.iter().map(|argument| argument.node));
        let mut texts = format.filter(|node| self.code.role(*node) == Role::Text).map(|node| self.code.node_text(node));
        texts.next().is_none_or(|text| is_open_beginning(text.split(['%', '{', '$']).next().unwrap_or_default()))
    }

    /// `names.map(encodeURIComponent)`
    fn is_mapped_safe(&self, given: &Given<'_, 'a>) -> bool {
        given.call.arguments.iter().any(|argument| {
            let path = self.code.path(argument.node);
            let name = path.last().copied().unwrap_or_default();
            self.flow.sanitizers.named(name).any(|(pattern, _)| pattern.shape == Shape::Call && pattern.matches_path(&path))
        })
    }

    /// What a function of the same file makes of its arguments.
    fn local_result(&mut self, given: &Given<'_, 'a>, mut value: Value, frame: &Frame) -> Value {
        if frame.is_summary || given.call.is_new {
            return value;
        }
        let Some(function) = self.local_functions.called(&given.path) else { return value };
        let summary = self.summary(function);
        let at = self.step_at(given.call.node);
        for origin in summary.returns.origins() {
            match origin.place {
                Place::Source { .. } => value.join(Value::of(origin.clone())),
                Place::Parameter(position) => {
                    value.join(self.through(function, given, position, origin, at));
                }
            }
        }
        for hit in &summary.hits {
            let Place::Parameter(position) = hit.origin.place else { continue };
            for origin in self.through(function, given, position, &hit.origin, at).origins() {
                if origin.rules & (1 << hit.rule) != 0 {
                    self.hits.push(super::evaluator::Hit { origin: origin.clone(), ..hit.clone() });
                }
            }
        }
        value
    }

    /// What the constructor of a class of the same file puts into the fields of the object.
    fn fill_fields(&mut self, given: &Given<'_, 'a>, frame: &Frame) {
        let local_functions = self.local_functions;
        if frame.is_summary || given.is_clean() {
            return;
        }
        let Some(constructor) = local_functions.constructor(&given.path) else { return };
        let hits = std::mem::take(&mut self.hits);
        self.function(constructor.function.node, State::default(), None, true);
        self.hits = hits;
        let at = self.step_at(given.call.node);
        for (name, value) in std::mem::take(&mut self.left_fields) {
            for origin in value.origins() {
                let Place::Parameter(position) = origin.place else { continue };
                let Some(position) = position.checked_sub(usize::from(constructor.has_self)) else { continue };
                let carried = self.through(&constructor.function, given, position, origin, at);
                self.fields.keep_value(constructor.class, &name, carried);
            }
        }
    }

    /// What a method of the same file gives back that is called by its bare name, as Ruby allows without arguments.
    pub fn bare_call(&mut self, node: Node<'a>, frame: &Frame) -> Value {
        let name = self.code.node_text(node);
        if frame.is_summary || !self.code.syntax.has_bare_calls || node.kind() != "identifier" {
            return Value::clean();
        }
        let Some(function) = self.local_functions.called(&[name]).filter(|function| function.has_no_parameters()) else {
            return Value::clean();
        };
        if self.local_functions.is_local(node, name, &self.code) {
            return Value::clean();
        }
        let summary = self.summary(function);
        let of_source = summary.returns.origins().iter().filter(|origin| matches!(origin.place, Place::Source { .. }));
        let mut value = Value::clean();
        of_source.for_each(|origin| value.join(Value::of(origin.clone())));
        value.with_step(self.step_at(node), || format!("returned by `{name}`"))
    }

    /// What an argument carries after it went the way of `inner` through a local function.
    fn through(
        &self,
        function: &LocalFunction<'a>,
        given: &Given<'_, 'a>,
        position: usize,
        inner: &Origin,
        at: StepLine,
    ) -> Value {
        let Some(argument) = function.argument(position, &given.arguments, &given.path) else { return Value::clean() };
        let Some(carried) = given.values.get(argument) else { return Value::clean() };
        let mut value = Value::clean();
        for origin in carried.origins() {
            let trail = origin.trail.then(at, format!("passed to `{}`", function.name)).followed_by(&inner.trail);
            let built = inner.built.or(origin.built);
            let leads = origin.leads && inner.leads;
            value.join(Value::of(Origin { place: origin.place, rules: origin.rules & inner.rules, built, leads, trail }));
        }
        value
    }

    fn summary(&mut self, function: &LocalFunction<'a>) -> Rc<Summary> {
        let id = function.node.id();
        if let Some(known) = self.summaries.get(&id) {
            return Rc::clone(known);
        }
        // A local function that calls itself is unknown while it is looked at.
        self.summaries.insert(id, Rc::default());
        let hits = std::mem::take(&mut self.hits);
        let returns = self.function(function.node, State::default(), None, true);
        if returns.is_cut() {
            self.cut_short(NotReviewed::OutOfTime);
        }
        let summary = Rc::new(Summary { returns, hits: std::mem::replace(&mut self.hits, hits) });
        self.summaries.insert(id, Rc::clone(&summary));
        summary
    }
}
