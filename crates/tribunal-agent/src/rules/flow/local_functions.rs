//! The functions of a file: which of them matter to a change, and what each makes of its parameters.

use super::code::{Code, line};
use super::evaluator::Hit;
use super::functions::parameters;
use super::origin::Value;
use super::pattern::Argument;
use super::syntax::{Role, part};
use std::collections::{BTreeMap, BTreeSet};
use tree_sitter::Node;
use tribunal_core::diff::change::AddedLines;

/// Where more functions were touched than this, all of them are looked at.
const MAX_TOUCHED_NAMES: usize = 40;

/// A function with a name that no other of its file has.
pub struct LocalFunction<'a> {
    pub node: Node<'a>,
    pub name: &'a str,
    parameters: Vec<Option<&'a str>>,
}

/// What a local function does with its parameters.
#[derive(Default)]
pub struct Summary {
    /// What comes back, by the parameter it came from.
    pub returns: Value,
    /// Sinks that a parameter reaches.
    pub hits: Vec<Hit>,
}

/// The constructor of a class of the file.
pub struct Constructor<'a> {
    pub function: LocalFunction<'a>,
    /// The node of the class.
    pub class: usize,
    /// Python names the object itself as the first parameter.
    pub has_self: bool,
}

pub struct LocalFunctions<'a> {
    by_name: BTreeMap<&'a str, Option<LocalFunction<'a>>>,
    /// By the name of the class; nothing where two have it.
    constructors: BTreeMap<&'a str, Option<Constructor<'a>>>,
    /// Functions that the change touched, or that call one of them.
    relevant: BTreeSet<usize>,
}

impl<'a> LocalFunctions<'a> {
    pub fn new(root: Node<'a>, code: &Code<'a>, touched: &AddedLines) -> Self {
        let mut by_name: BTreeMap<&'a str, Option<LocalFunction<'a>>> = BTreeMap::new();
        let mut constructors: BTreeMap<&'a str, Option<Constructor<'a>>> = BTreeMap::new();
        let mut functions = Vec::new();
        let mut cursor = root.walk();
        'tree: loop {
            let node = cursor.node();
            if let Role::Function { name, .. } = code.role(node) {
                functions.push(node);
                if let Some(name) = function_name(node, name, code) {
                    let function = LocalFunction { node, name, parameters: parameter_names(node, code) };
                    let is_constructor = node.kind() == "constructor_declaration"
                        || matches!(name, "__init__" | "constructor" | "initialize" | "__construct");
                    if is_constructor && let Some((class, class_name)) = class_of(node, code) {
                        let has_self = function.parameters.first() == Some(&Some("self"));
                        let parameters = function.parameters.iter().skip(usize::from(has_self)).copied().collect();
                        let function = LocalFunction { node, name: class_name, parameters };
                        let constructor = Constructor { function, class: class.id(), has_self };
                        constructors.entry(class_name).and_modify(|known| *known = None).or_insert(Some(constructor));
                    }
                    // Two functions of one name: which one is called is unknown.
                    by_name.entry(name).and_modify(|known| *known = None).or_insert(Some(function));
                }
            }
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    break 'tree;
                }
            }
        }
        let is_touched = |node: &Node<'_>| touched.touches(line(*node), node.end_position().row as u32 + 1);
        let names: Vec<&str> = by_name
            .iter()
            .filter(|(_, function)| function.as_ref().is_some_and(|it| is_touched(&it.node)))
            .map(|(name, _)| *name)
            .collect();
        let calls_one =
            |node: &Node<'a>| names.len() > MAX_TOUCHED_NAMES || names.iter().any(|name| code.node_text(*node).contains(name));
        let relevant = functions.iter().filter(|node| is_touched(node) || calls_one(node)).map(Node::id).collect();
        Self { by_name, constructors, relevant }
    }

    /// The constructor that a call runs: `Fetcher(url)`, `new Fetcher(url)`, `Fetcher.new(url)`.
    pub fn constructor(&self, path: &[&str]) -> Option<&Constructor<'a>> {
        let name = match path {
            [class] | [class, "new"] => *class,
            _ => return None,
        };
        self.constructors.get(name)?.as_ref()
    }

    pub fn is_relevant(&self, function: Node<'_>) -> bool {
        self.relevant.contains(&function.id())
    }

    /// The function of this file that a path names: `load`, `self.load`, `Class.load`.
    pub fn called(&self, path: &[&str]) -> Option<&LocalFunction<'a>> {
        let is_own = match path {
            [_] => true,
            [owner, _] => {
                matches!(*owner, "self" | "this" | "cls" | "$this" | "static" | "Self")
                    || owner.starts_with(|c: char| c.is_ascii_uppercase())
            }
            _ => false,
        };
        let name: &str = path.last()?;
        if is_own { self.by_name.get(name)?.as_ref() } else { None }
    }
}

impl<'a> LocalFunctions<'a> {
    /// Is a name of a function a variable there: assigned, a parameter, or bound by a block?
    pub fn is_local(&self, node: Node<'a>, name: &str, code: &Code<'a>) -> bool {
        let method = std::iter::successors(node.parent(), Node::parent)
            .find(|outer| matches!(code.role(*outer), Role::Function { .. }) && function_name(*outer, "name", code).is_some());
        let Some(method) = method else { return true };
        let is_name = |node: Node<'a>| code.role(node) == Role::Name && code.node_text(node) == name;
        let mut cursor = method.walk();
        let mut pending = vec![method];
        while let Some(node) = pending.pop() {
            let binds = match code.role(node) {
                Role::Assign { target, .. } | Role::Declare { target, .. } | Role::Each { item: target, .. } => {
                    part(node, target).is_some_and(is_name)
                }
                Role::List => node.kind().starts_with("left_") && node.named_children(&mut cursor).any(is_name),
                _ => node.kind().contains("parameter") && node.named_children(&mut cursor).any(is_name),
            };
            if binds {
                return true;
            }
            pending.extend(node.named_children(&mut cursor));
        }
        false
    }
}

impl LocalFunction<'_> {
    pub fn has_no_parameters(&self) -> bool {
        self.parameters.is_empty()
    }

    /// The argument that a parameter gets.
    pub fn argument(&self, position: usize, arguments: &[Argument<'_>], path: &[&str]) -> Option<usize> {
        let name = *self.parameters.get(position)?;
        if let Some(at) = arguments.iter().position(|argument| argument.label.is_some() && argument.label == name) {
            return Some(at);
        }
        let has_receiver = matches!(self.parameters.first(), Some(Some("self" | "cls"))) && path.len() > 1;
        let at = position.checked_sub(usize::from(has_receiver))?;
        arguments.get(at).filter(|argument| argument.label.is_none()).map(|_| at)
    }
}

/// The class that a method stands in, with its name; nothing for a function inside a method.
pub fn class_of<'a>(method: Node<'a>, code: &Code<'a>) -> Option<(Node<'a>, &'a str)> {
    for outer in std::iter::successors(method.parent(), Node::parent) {
        match outer.kind() {
            "class" | "class_definition" | "class_declaration" | "class_specifier" | "object_declaration" => {
                let name = outer.child_by_field_name("name").map_or("", |name| code.node_text(name));
                return Some((outer, name));
            }
            _ if matches!(code.role(outer), Role::Function { .. }) => return None,
            _ => {}
        }
    }
    None
}

fn function_name<'a>(node: Node<'a>, name: super::syntax::Part, code: &Code<'a>) -> Option<&'a str> {
    let mut named = part(node, name).or_else(|| {
        // `const load = (x) => …`
        let parent = node.parent().filter(|parent| matches!(code.role(*parent), Role::Declare { .. }))?;
        parent.child_by_field_name("name")
    });
    while let Some(inner) = named.filter(|node| node.kind().ends_with("_declarator")) {
        named = inner.child_by_field_name("declarator");
    }
    code.last_name(named?)
}

fn parameter_names<'a>(node: Node<'a>, code: &Code<'a>) -> Vec<Option<&'a str>> {
    let name = |parameter: Node<'a>| {
        let inner = ["name", "pattern", "declarator", "left"].into_iter().find_map(|field| parameter.child_by_field_name(field));
        let named =
            inner.or_else(|| if code.role(parameter) == Role::Name { Some(parameter) } else { parameter.named_child(0) })?;
        Some(code.node_text(named).trim_start_matches(['$', '*', '&']))
    };
    parameters(node, code).into_iter().map(name).collect()
}
