//! A parsed file as the flow of data sees it: names, calls and their arguments, whatever the grammar.

use super::pattern::Argument;
use super::syntax::{Role, Syntax, part};
use tree_sitter::Node;

/// A longer expression is no variable.
const MAX_KEY_BYTES: usize = 120;

#[derive(Clone, Copy)]
pub struct Code<'a> {
    pub text: &'a str,
    pub syntax: &'a Syntax,
}

/// A call, a constructor, or a construct that acts like one.
pub struct Call<'t> {
    pub node: Node<'t>,
    pub is_new: bool,
    pub name: &'t str,
    pub receiver: Option<Node<'t>>,
    pub arguments: Vec<CallArgument<'t>>,
    callee: Option<Node<'t>>,
}

#[derive(Clone, Copy)]
pub struct CallArgument<'t> {
    pub label: Option<&'t str>,
    pub node: Node<'t>,
}

/// The first line of a node, counted from 1.
pub fn line(node: Node<'_>) -> u32 {
    u32::try_from(node.start_position().row).unwrap_or(u32::MAX).saturating_add(1)
}

/// Does the text before a value leave it the beginning: nothing but quotes, or the scheme of a URL?
pub fn is_open_beginning(text: &str) -> bool {
    let opening =
        text.find(['"', '\'', '`']).filter(|at| text[..*at].chars().all(|c| c.is_ascii_alphabetic() || c == '$' || c == '@'));
    let text = opening.map_or(text, |at| &text[at..]);
    let text = text.trim_start_matches(['"', '\'', '`']).trim_end_matches(['{', '$', '#', '"', '\'', '(', ' ']);
    matches!(text, "" | "http://" | "https://" | "//" | "http:" | "https:" | "ftp://" | "ws://" | "wss://")
}

impl<'a> Code<'a> {
    pub fn role(&self, node: Node<'_>) -> Role {
        self.syntax.role(node)
    }

    pub fn node_text(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// The text of a node for a person: white space folded, cut where it gets long.
    pub fn short_text(&self, node: Node<'_>) -> String {
        const MAX_CHARS: usize = 60;
        let folded = self.node_text(node).split_whitespace().collect::<Vec<_>>().join(" ");
        match folded.char_indices().nth(MAX_CHARS) {
            Some((end, _)) => format!("{}…", &folded[..end]),
            None => folded,
        }
    }

    /// What a variable or an expression is known by: its text with one kind of separator and no white space.
    pub fn key(&self, node: Node<'_>) -> Option<String> {
        let text = self.node_text(node);
        if text.len() > MAX_KEY_BYTES {
            return None;
        }
        let joined = text.replace("?.", ".").replace("->", ".").replace("::", ".");
        Some(joined.chars().filter(|c| !c.is_whitespace()).collect())
    }

    /// The names of a dotted path; `?` where something without a name stands.
    pub fn path(&self, node: Node<'a>) -> Vec<&'a str> {
        let mut names = Vec::new();
        self.collect_path(node, &mut names, 0);
        names
    }

    fn collect_path(&self, node: Node<'a>, names: &mut Vec<&'a str>, depth: usize) {
        if depth > 12 {
            return names.push("?");
        }
        let after = |object: Option<Node<'a>>, name: Option<Node<'a>>, names: &mut Vec<&'a str>| {
            if let Some(object) = object {
                self.collect_path(object, names, depth + 1);
            }
            match name {
                Some(name) => names.extend(self.plain_names(name)),
                None => names.push("?"),
            }
        };
        match self.role(node) {
            Role::Name => names.extend(self.plain_names(node)),
            Role::Member { object: "", name } => match part(node, name) {
                Some(inner) => self.collect_path(inner, names, depth + 1),
                None => names.push("?"),
            },
            Role::Member { object, name } => after(part(node, object), part(node, name), names),
            Role::Method { object, name, .. } => after(part(node, object), part(node, name), names),
            Role::Call { callee, .. } => after(part(node, callee), None, names),
            Role::Index { object, .. } => after(part(node, object), None, names),
            _ => match self.only_child(node) {
                Some(inner) => self.collect_path(inner, names, depth + 1),
                None => names.push("?"),
            },
        }
        // A call is known by the name of what it calls.
        if matches!(self.role(node), Role::Call { .. }) && names.last() == Some(&"?") {
            names.pop();
        }
    }

    /// The names in the text of one identifier: `std::fs::read` holds three. Generic arguments are left out.
    fn plain_names(&self, node: Node<'_>) -> impl Iterator<Item = &'a str> + use<'a> {
        let text = self.node_text(node);
        let text = text.split(['<', '(']).next().unwrap_or(text);
        text.split([':', '.', '\\', '-', '>']).map(|name| name.trim().trim_start_matches('?')).filter(|name| !name.is_empty())
    }

    /// The inner expression of a node that only wraps one.
    pub fn only_child(&self, node: Node<'a>) -> Option<Node<'a>> {
        (self.role(node) == Role::Children && node.named_child_count() == 1).then(|| node.named_child(0)).flatten()
    }

    /// Without parentheses and other wrappers.
    pub fn unwrap(&self, mut node: Node<'a>) -> Node<'a> {
        while let Some(inner) = self.only_child(node) {
            node = inner;
        }
        node
    }

    pub fn last_name(&self, node: Node<'a>) -> Option<&'a str> {
        self.plain_names(node).last()
    }

    /// The call that a node is.
    pub fn call(&self, node: Node<'a>) -> Option<Call<'a>> {
        let (is_new, name, callee, receiver, arguments) = match self.role(node) {
            Role::Call { callee, arguments } => {
                let callee = self.unwrap_member(part(node, callee)?);
                let (receiver, name) = match self.role(callee) {
                    Role::Member { object, name } => (part(callee, object), self.last_name(part(callee, name)?)?),
                    Role::Name => (None, self.last_name(callee)?),
                    _ => (None, ""),
                };
                (false, name, Some(callee), receiver, part(node, arguments))
            }
            Role::Method { object, name, arguments } => {
                let name = part(node, name).and_then(|name| self.last_name(name)).unwrap_or_default();
                (false, name, None, part(node, object), part(node, arguments))
            }
            Role::New { class, arguments } => {
                let class = part(node, class)?;
                (true, self.last_name(class)?, Some(class), None, part(node, arguments))
            }
            Role::Statement(name) => (false, name, None, None, Some(node)),
            _ => return None,
        };
        let mut call = Call { node, is_new, name, receiver, arguments: Vec::new(), callee };
        if let Some(arguments) = arguments.filter(|arguments| Some(*arguments) != callee) {
            self.collect_arguments(arguments, &mut call.arguments);
        }
        // A block behind a call is an argument too.
        if let Some(block) = node.child_by_field_name("block") {
            call.arguments.push(CallArgument { label: None, node: block });
        }
        Some(call)
    }

    /// `f::<T>` is `f`.
    fn unwrap_member(&self, node: Node<'a>) -> Node<'a> {
        match self.role(node) {
            Role::Member { object: "", name } => part(node, name).unwrap_or(node),
            _ => node,
        }
    }

    fn collect_arguments(&self, list: Node<'a>, arguments: &mut Vec<CallArgument<'a>>) {
        let is_text = self.role(list) == Role::Text;
        if is_text {
            arguments.push(CallArgument { label: None, node: list });
            return;
        }
        let mut cursor = list.walk();
        for child in list.named_children(&mut cursor) {
            match child.kind() {
                "comment" | "line_comment" | "block_comment" | "type_arguments" => continue,
                "value_arguments" | "annotated_lambda" => {
                    self.collect_arguments(child, arguments);
                    continue;
                }
                // `name = value` of Kotlin: two children.
                "value_argument" if child.named_child_count() == 2 => {
                    let (label, value) = (child.named_child(0), child.named_child(1));
                    if let Some(node) = value {
                        arguments.push(CallArgument { label: label.map(|label| self.node_text(label)), node });
                    }
                    continue;
                }
                _ => {}
            }
            match self.role(child) {
                Role::Labelled { label, value } => {
                    let value = part(child, value).unwrap_or(child);
                    let label = part(child, label).filter(|label| *label != value);
                    let label = label.map(|label| self.node_text(label).trim_matches([':', '"', '\'']));
                    arguments.push(CallArgument { label, node: value });
                }
                _ => arguments.push(CallArgument { label: None, node: self.unwrap_argument(child) }),
            }
        }
    }

    fn unwrap_argument(&self, node: Node<'a>) -> Node<'a> {
        match node.kind() {
            "value_argument" | "argument" => node.named_child(0).unwrap_or(node),
            _ => node,
        }
    }

    /// The operator between the two sides of an assignment or a binary expression.
    pub fn operator(&self, left: Node<'_>, right: Node<'_>) -> &'a str {
        self.text.get(left.end_byte()..right.start_byte()).unwrap_or_default().trim().trim_start_matches(')').trim()
    }
}

impl<'t> Call<'t> {
    /// What is called, where that is itself a call or a constructor: `make()()`, `new Function(code)()`.
    pub fn called_expression(&self, code: &Code<'t>) -> Option<Node<'t>> {
        let callee = self.callee.filter(|_| !self.is_new && self.receiver.is_none()).map(|callee| code.unwrap(callee))?;
        matches!(code.role(callee), Role::Call { .. } | Role::New { .. }).then_some(callee)
    }

    /// The dotted name of what is called.
    pub fn path(&self, code: &Code<'t>) -> Vec<&'t str> {
        if let Some(callee) = self.callee {
            if self.is_new {
                return code.plain_names(callee).collect();
            }
            return code.path(callee);
        }
        let mut path = self.receiver.map(|receiver| code.path(receiver)).unwrap_or_default();
        path.push(self.name);
        path
    }

    pub fn pattern_arguments(&self, code: &Code<'t>) -> Vec<Argument<'t>> {
        let argument = |argument: &CallArgument<'t>| Argument { label: argument.label, text: code.node_text(argument.node) };
        self.arguments.iter().map(argument).collect()
    }
}
