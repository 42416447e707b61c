//! What the kinds of nodes of a grammar mean to the flow of data. One table per language, one evaluator for all of them.
//!
//! A kind that no table names has the role [`Role::Children`]: its children are evaluated in order, and it carries what any of them carries.

mod c;
mod csharp;
mod go;
mod java;
mod javascript;
mod kotlin;
mod php;
mod python;
mod ruby;
mod rust;

use ast_grep_core::tree_sitter::LanguageExt;
use tree_sitter::Node;
use tribunal_context::grammar::Grammar;
use tribunal_core::diff::language::Language;

/// Which child of a node: a field's name, `@0` or `@-1` for a named child by its place, `:kind` or `:one|other` for the first child of a kind.
/// Empty: no child.
pub type Part = &'static str;

/// What a kind of node does with data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Carries what its children carry.
    Children,
    /// Carries nothing and is not evaluated: a number, a type, a comment.
    Skip,
    /// A variable.
    Name,
    /// A string, with what is interpolated into it.
    Text,
    Member {
        object: Part,
        name: Part,
    },
    Index {
        object: Part,
        index: Part,
    },
    Call {
        callee: Part,
        arguments: Part,
    },
    /// A call whose receiver and name are parts of the call itself.
    Method {
        object: Part,
        name: Part,
        arguments: Part,
    },
    New {
        class: Part,
        arguments: Part,
    },
    /// A construct that acts like a call of this name: `echo`, a string in backticks.
    Statement(&'static str),
    /// A value with a name: a keyword argument, an entry of an object.
    Labelled {
        label: Part,
        value: Part,
    },
    /// `=` and `+=`.
    Assign {
        target: Part,
        value: Part,
    },
    Declare {
        target: Part,
        value: Part,
    },
    Binary {
        left: Part,
        right: Part,
    },
    /// A unary operator; `!` and `not` turn a check round.
    Unary,
    Cast {
        class: Part,
        value: Part,
    },
    If {
        condition: Part,
        then: Part,
        otherwise: Part,
    },
    Unless {
        condition: Part,
        then: Part,
        otherwise: Part,
    },
    /// A loop that binds an item in every round.
    Each {
        item: Part,
        items: Part,
        body: Part,
    },
    Loop,
    /// Chooses between its cases by the value.
    Match {
        value: Part,
        body: Part,
    },
    Case {
        pattern: Part,
    },
    Try,
    /// Runs if the part of the `try` before it fails.
    Handler,
    Return,
    /// Leaves the function without a value.
    Throw,
    /// Leaves the loop or the case.
    Break,
    Function {
        name: Part,
        parameters: Part,
        body: Part,
    },
    /// Names that a destructuring binds.
    Pattern,
    /// A list of values side by side, which are assigned one by one.
    List,
}

/// The roles of a grammar by kind.
pub struct Syntax {
    roles: Vec<Role>,
    /// The last expression of a body is its value.
    pub last_is_value: bool,
    /// `{name}` inside a plain string is a variable.
    pub braces_in_text: bool,
    /// A name that is no variable is a call without arguments.
    pub has_bare_calls: bool,
}

/// The table of a language as its file gives it.
struct Table {
    roles: &'static [(&'static str, Role)],
    last_is_value: bool,
    braces_in_text: bool,
    has_bare_calls: bool,
}

fn table(language: Language) -> Option<Table> {
    let table = |roles| Table { roles, last_is_value: false, braces_in_text: false, has_bare_calls: false };
    Some(match language {
        Language::Python => table(python::ROLES),
        Language::JavaScript | Language::TypeScript | Language::Tsx => table(javascript::ROLES),
        Language::Go => table(go::ROLES),
        Language::Java => table(java::ROLES),
        Language::Kotlin => table(kotlin::ROLES),
        Language::CSharp => table(csharp::ROLES),
        Language::Ruby => Table { last_is_value: true, has_bare_calls: true, ..table(ruby::ROLES) },
        Language::Php => table(php::ROLES),
        Language::Rust => Table { last_is_value: true, braces_in_text: true, ..table(rust::ROLES) },
        Language::C | Language::Cpp => table(c::ROLES),
        Language::Bash | Language::Sql => return None,
    })
}

impl Syntax {
    /// Nothing for a language without a table.
    pub fn new(language: Language) -> Option<Self> {
        let table = table(language)?;
        let grammar = Grammar::from(language).get_ts_language();
        let role = |kind: usize| {
            let kind = u16::try_from(kind).ok()?;
            let name = grammar.node_kind_for_id(kind).filter(|_| grammar.node_kind_is_named(kind))?;
            table.roles.iter().find(|(known, _)| *known == name).map(|(_, role)| *role)
        };
        let roles = (0..grammar.node_kind_count()).map(|kind| role(kind).unwrap_or(Role::Children)).collect();
        Some(Self {
            roles,
            last_is_value: table.last_is_value,
            braces_in_text: table.braces_in_text,
            has_bare_calls: table.has_bare_calls,
        })
    }

    pub fn role(&self, node: Node<'_>) -> Role {
        self.roles.get(usize::from(node.kind_id())).copied().unwrap_or(Role::Children)
    }
}

/// The child of a node that a part names. Comments do not count.
pub fn part<'t>(node: Node<'t>, part: Part) -> Option<Node<'t>> {
    match part.as_bytes().first()? {
        b'@' => {
            let place: isize = part[1..].parse().ok()?;
            let mut cursor = node.walk();
            let mut children = node.named_children(&mut cursor).filter(|child| !is_comment(*child));
            match usize::try_from(place) {
                Ok(place) => children.nth(place),
                Err(_) => {
                    let children: Vec<Node<'t>> = children.collect();
                    children.len().checked_add_signed(place).and_then(|place| children.get(place).copied())
                }
            }
        }
        b':' => {
            let mut cursor = node.walk();
            node.named_children(&mut cursor).find(|child| part[1..].split('|').any(|kind| kind == child.kind()))
        }
        _ => node.child_by_field_name(part),
    }
}

/// A comment, or the end of a line that says nothing: neither is a child of what it stands in.
pub fn is_comment(node: Node<'_>) -> bool {
    node.is_extra() && (node.kind().contains("comment") || node.kind() == "line_continuation")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LANGUAGES: [Language; 13] = [
        Language::C,
        Language::Cpp,
        Language::CSharp,
        Language::Go,
        Language::Java,
        Language::JavaScript,
        Language::Kotlin,
        Language::Php,
        Language::Python,
        Language::Ruby,
        Language::Rust,
        Language::Tsx,
        Language::TypeScript,
    ];

    /// A kind that a grammar no longer has is a role that nothing plays.
    #[test]
    fn every_kind_of_a_table_is_in_a_grammar() {
        let mut unknown = std::collections::BTreeMap::new();
        for language in LANGUAGES {
            let grammar = Grammar::from(language).get_ts_language();
            for (kind, _) in table(language).unwrap().roles {
                let family = table(language).unwrap().roles.as_ptr();
                let is_known = [true, false].iter().any(|named| grammar.id_for_node_kind(kind, *named) != 0);
                *unknown.entry((family, *kind)).or_insert(true) &= !is_known;
            }
        }
        let unknown: Vec<_> = unknown.into_iter().filter(|(_, unknown)| *unknown).map(|((_, kind), _)| kind).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
