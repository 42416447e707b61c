//! Functions in which a flow is asked about: those that only administrators reach, and the HTTP transports of Go.
//!
//! Only nodes of the syntax tree decide, never the text around them: a comment or a string could claim anything. And nothing here
//! makes a finding disappear, for the author of a change chooses every name in it.

use super::code::Code;
use super::syntax::{Role, is_comment};
use crate::rules::checks::pattern::Pattern;
use std::ops::Range;
use tree_sitter::Node;

/// A decorator that names administrators itself. Its strings are left out.
static NAMED: Pattern = Pattern::new(concat!(
    r"^@(?:\w+\.)*\w*(?:admin|superuser|staff)_?(?:required|only|member_required)(?:\(|$)",
    r"|^@(?:\w+\.)*permission_classes\([^)]*IsAdmin",
));
/// An annotation that names administrators in its arguments, which are strings.
static ARGUED: Pattern = Pattern::new(concat!(
    r"^@(?:\w+\.)*(?:PreAuthorize|RolesAllowed|Secured)\([^)]*(?i:admin)",
    r"|^(?:\w+\.)*Authorize(?:Attribute)?\(.*(?i:admin|elevation)",
));
static ADMINISTRATOR: Pattern = Pattern::new(r"^(?:\w+\.)*\w*(?i:admin|superuser)\w*$");

/// The bytes of the functions and classes in which a flow is a question.
pub struct Exemptions(Vec<Range<usize>>);

impl Exemptions {
    /// Who may administer a system may often do there what a rule warns of, such as naming a server to call. A transport sends what
    /// its own program asks for.
    pub fn new<'a>(root: Node<'a>, code: &Code<'a>) -> Self {
        let mut found = Vec::new();
        let mut cursor = root.walk();
        'tree: loop {
            let node = cursor.node();
            found.extend(match node.kind() {
                "decorator" | "annotation" | "marker_annotation" | "attribute" if names_administrators(node, code) => owner(node),
                "call" if is_administrator_dependency(node, code) => function_of_parameter(node),
                "method_declaration" if is_transport(node, code) => Some(node.byte_range()),
                _ => None,
            });
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    break 'tree;
                }
            }
        }
        Self(found)
    }

    pub fn contain(&self, byte: usize) -> bool {
        self.0.iter().any(|range| range.contains(&byte))
    }
}

fn names_administrators<'a>(annotation: Node<'a>, code: &Code<'a>) -> bool {
    // Python calls a member expression an attribute too.
    if annotation.kind() == "attribute" && annotation.parent().is_none_or(|list| list.kind() != "attribute_list") {
        return false;
    }
    NAMED.is_match(&joined_tokens(annotation, code, false)) || ARGUED.is_match(&joined_tokens(annotation, code, true))
}

/// The code of a node without white space and comments, and without its strings where they say nothing.
fn joined_tokens<'a>(node: Node<'a>, code: &Code<'a>, with_strings: bool) -> String {
    let mut joined = String::new();
    let mut cursor = node.walk();
    'tree: loop {
        let at = cursor.node();
        let is_left_out = is_comment(at) || !with_strings && code.role(at) == Role::Text;
        if !is_left_out {
            if at.child_count() == 0 {
                joined.push_str(code.node_text(at));
            } else if cursor.goto_first_child() {
                continue;
            }
        }
        while cursor.node() == node || !cursor.goto_next_sibling() {
            if cursor.node() == node || !cursor.goto_parent() {
                break 'tree;
            }
        }
    }
    joined
}

/// The function or the class that an annotation stands at.
fn owner(annotation: Node<'_>) -> Option<Range<usize>> {
    let holder = annotation.parent()?;
    let owner = if matches!(holder.kind(), "modifiers" | "attribute_list") { holder.parent()? } else { holder };
    match owner.kind() {
        // TypeScript keeps the decorators of a method before it.
        "class_body" => {
            let mut next = annotation.next_named_sibling();
            while let Some(node) = next.filter(|node| is_comment(*node) || node.kind() == "decorator") {
                next = node.next_named_sibling();
            }
            next.map(|method| method.byte_range())
        }
        "decorated_definition" | "export_statement" | "function_declaration" | "class_declaration" | "object_declaration" => {
            Some(owner.byte_range())
        }
        _ => owner.child_by_field_name("body").map(|_| owner.byte_range()),
    }
}

/// `Depends(get_admin_user)`
fn is_administrator_dependency<'a>(call: Node<'a>, code: &Code<'a>) -> bool {
    let name = call.child_by_field_name("function").and_then(|function| code.last_name(function));
    if !matches!(name, Some("Depends" | "Security")) {
        return false;
    }
    let call = code.call(call);
    let first = call.and_then(|call| call.arguments.first().map(|argument| argument.node));
    let first = first.filter(|node| matches!(node.kind(), "identifier" | "attribute" | "call"));
    let first = first.map(|node| node.child_by_field_name("function").unwrap_or(node));
    first.is_some_and(|node| ADMINISTRATOR.is_match(&code.code_text(node)))
}

/// The function of Python that has a node as the default value or in the type of a parameter.
fn function_of_parameter(node: Node<'_>) -> Option<Range<usize>> {
    let mut at = node.parent()?;
    while matches!(
        at.kind(),
        "type"
            | "generic_type"
            | "type_parameter"
            | "subscript"
            | "default_parameter"
            | "typed_parameter"
            | "typed_default_parameter"
            | "parameters"
    ) {
        let outer = at.parent()?;
        if at.kind() == "parameters" {
            return (outer.kind() == "function_definition").then(|| outer.byte_range());
        }
        at = outer;
    }
    None
}

/// `func (t T) RoundTrip(r *http.Request) (*http.Response, error)`: only Go has methods with a receiver.
fn is_transport<'a>(method: Node<'a>, code: &Code<'a>) -> bool {
    let text = |field: &str| method.child_by_field_name(field).map(|node| code.code_text(node)).unwrap_or_default();
    if method.child_by_field_name("receiver").is_none() || text("name") != "RoundTrip" {
        return false;
    }
    let parameters = text("parameters");
    !parameters.contains(',') && parameters.ends_with("*http.Request)") && text("result").contains("*http.Response")
}
