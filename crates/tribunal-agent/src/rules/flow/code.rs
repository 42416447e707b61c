//! A parsed file as the flow of data sees it: names, calls and their arguments, whatever the grammar.

use super::pattern::Argument;
use super::syntax::{Role, Syntax, is_comment, part};
use std::borrow::Cow;
use std::ops::Range;
use tree_sitter::Node;

/// A longer expression is no variable; a name may be as long as it likes.
const MAX_KEY_BYTES: usize = 1_000;

#[derive(Clone, Copy)]
pub struct Code<'a> {
    pub text: &'a str,
    pub syntax: &'a Syntax,
    /// Where the comments are, in order.
    pub comments: &'a [Range<usize>],
}

/// Where the comments of a file are, in order.
pub fn comments(root: Node<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut cursor = root.walk();
    'tree: loop {
        if is_comment(cursor.node()) {
            found.push(cursor.node().byte_range());
        } else if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                break 'tree;
            }
        }
    }
    found
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

    /// The text of a node without its comments: what it means cannot depend on them.
    pub fn code_text(&self, node: Node<'_>) -> Cow<'a, str> {
        self.without_comments(node.byte_range())
    }

    pub fn without_comments(&self, range: Range<usize>) -> Cow<'a, str> {
        let first = self.comments.partition_point(|comment| comment.end <= range.start);
        let inside = self.comments[first..].iter().take_while(|comment| comment.start < range.end);
        let mut rest = range.clone();
        let mut code: Option<String> = None;
        for comment in inside {
            let before = self.text.get(rest.start..comment.start.max(rest.start)).unwrap_or_default();
            code.get_or_insert_default().push_str(before);
            rest.start = comment.end.min(range.end);
        }
        let last = self.text.get(rest).unwrap_or_default();
        match code {
            None => Cow::Borrowed(last),
            Some(code) => Cow::Owned(code + last),
        }
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
        let text = self.code_text(node);
        if text.len() > MAX_KEY_BYTES && self.role(node) != Role::Name {
            return None;
        }
        let joined = text.replace("?.", ".").replace("->", ".").replace("::", ".");
        Some(joined.chars().filter(|c| !c.is_whitespace()).collect())
    }

    /// The key of an expression, or of the nearest one before it that has a key: `a.b` for an endless `a.b.c…`.
    pub fn nearest_key(&self, node: Node<'a>) -> Option<String> {
        let mut node = node;
        loop {
            if let Some(key) = self.key(node) {
                return Some(key);
            }
            node = match self.role(node) {
                Role::Member { object, .. } | Role::Index { object, .. } => part(node, object)?,
                _ => self.call(node)?.receiver?,
            };
        }
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
        let node = self.unwrap(node);
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
            _ => names.push("?"),
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
        let bare = |name: &'a str| {
            let behind = name.rsplit("*/").next().unwrap_or(name);
            behind.split("/*").next().unwrap_or(behind).trim().trim_start_matches('?')
        };
        text.split([':', '.', '\\', '-', '>']).map(bare).filter(|name| !name.is_empty())
    }

    /// The inner expression of a node that only wraps one.
    pub fn only_child(&self, node: Node<'a>) -> Option<Node<'a>> {
        if self.role(node) != Role::Children {
            return None;
        }
        if node.named_child_count() == 1 {
            return node.named_child(0);
        }
        let mut cursor = node.walk();
        let mut children = node.named_children(&mut cursor).filter(|child| !is_comment(*child));
        children.next().filter(|_| children.next().is_none())
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
                let outer = part(node, callee)?;
                let callee = self.unwrap_member(self.unwrap_callee(outer));
                let (receiver, name) = match self.role(callee) {
                    Role::Member { object, name } => (part(callee, object), self.last_name(part(callee, name)?)?),
                    Role::Name => (None, self.last_name(callee)?),
                    _ => (None, ""),
                };
                (false, name, Some(callee), receiver, part(node, arguments).filter(|arguments| *arguments != outer))
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

    /// `(f)` and `(0, f)` are `f`.
    fn unwrap_callee(&self, node: Node<'a>) -> Node<'a> {
        let mut node = self.unwrap(node);
        while let Some(last) = part(node, "@-1").filter(|_| node.kind() == "sequence_expression") {
            node = self.unwrap(last);
        }
        node
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
                _ if is_comment(child) => continue,
                "type_arguments" => continue,
                "value_arguments" | "annotated_lambda" => {
                    self.collect_arguments(child, arguments);
                    continue;
                }
                // `name = value` of Kotlin: two children.
                "value_argument" if part(child, "@1").is_some() && part(child, "@2").is_none() => {
                    let (label, value) = (part(child, "@0"), part(child, "@1"));
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
            "value_argument" | "argument" => part(node, "@0").unwrap_or(node),
            _ => node,
        }
    }

    /// The operator between the two sides of an assignment or a binary expression.
    pub fn operator(&self, left: Node<'_>, right: Node<'_>) -> Cow<'a, str> {
        fn bare(text: &str) -> &str {
            text.trim().trim_start_matches(')').trim()
        }
        match self.without_comments(left.end_byte()..right.start_byte()) {
            Cow::Borrowed(text) => Cow::Borrowed(bare(text)),
            Cow::Owned(text) => Cow::Owned(bare(&text).to_owned()),
        }
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
        let argument = |argument: &CallArgument<'t>| Argument { label: argument.label, text: code.code_text(argument.node) };
        self.arguments.iter().map(argument).collect()
    }
}
