//! What a file defines, calls and names: enough to find the code around a changed function. Grammars differ, so kinds of nodes of all of
//! them stand side by side; one that a grammar does not know is never met.

use crate::grammar::Grammar;
use ast_grep_core::tree_sitter::{LanguageExt, StrDoc};
use ast_grep_core::{AstGrep, Node};
use std::collections::BTreeSet;
use tribunal_core::diff::language::Language;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SymbolKind {
    Function,
    Type,
}

/// A function, method or type with its lines, from 1 and inclusive. Decorators are part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    pub kind: SymbolKind,
    pub name: String,
    /// The type around it.
    pub container: Option<String>,
    pub start_line: u32,
    pub end_line: u32,
    /// The line that holds its name.
    pub name_line: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mention {
    pub name: String,
    pub line: u32,
}

/// A parsed file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Symbols {
    /// In the order of the text, outer ones first.
    pub definitions: Vec<Definition>,
    /// Callees by their last name: `run` for `self.jobs.run(x)`.
    pub calls: Vec<Mention>,
    pub types: Vec<Mention>,
    /// Every other place where one of the wanted names stands as an identifier.
    pub others: Vec<Mention>,
}

const FUNCTIONS: [&str; 18] = [
    "function_definition",
    "function_declaration",
    "function_item",
    "function_signature_item",
    "generator_function_declaration",
    "method_definition",
    "method_declaration",
    "method_signature",
    "abstract_method_signature",
    "constructor_declaration",
    "compact_constructor_declaration",
    "destructor_declaration",
    "local_function_statement",
    "operator_declaration",
    "property_declaration",
    "macro_definition",
    "method",
    "singleton_method",
];
const TYPES: [&str; 30] = [
    "abstract_class_declaration",
    "annotation_type_declaration",
    "class",
    "class_declaration",
    "class_definition",
    "class_specifier",
    "delegate_declaration",
    "enum_declaration",
    "enum_item",
    "enum_specifier",
    "impl_item",
    "interface_declaration",
    "mod_item",
    "module",
    "namespace_definition",
    "object_declaration",
    "protocol_declaration",
    "record_declaration",
    "record_struct_declaration",
    "struct_declaration",
    "struct_item",
    "struct_specifier",
    "trait_declaration",
    "trait_item",
    "type_alias",
    "type_alias_declaration",
    "type_definition",
    "type_item",
    "type_spec",
    "union_specifier",
];
/// Surroundings that define no type of their own.
const SURROUNDINGS: [&str; 3] = ["impl_item", "mod_item", "namespace_definition"];
/// Functions without a name of their own, which the name that they are bound to stands for.
const ANONYMOUS: [&str; 4] = ["arrow_function", "function_expression", "generator_function", "function"];
const BINDINGS: [&str; 5] =
    ["variable_declarator", "assignment_expression", "pair", "public_field_definition", "field_definition"];
/// A call, and the field that holds its callee. Empty: the first named child.
const CALLS: [(&str, &str); 18] = [
    ("call", "function"),
    ("call", "method"),
    ("call_expression", "function"),
    ("call_expression", ""),
    ("command", "name"),
    ("function_call_expression", "function"),
    ("instance_expression", ""),
    ("invocation_expression", "function"),
    ("jsx_opening_element", "name"),
    ("jsx_self_closing_element", "name"),
    ("macro_invocation", "macro"),
    ("member_call_expression", "name"),
    ("method_invocation", "name"),
    ("new_expression", "constructor"),
    ("nullsafe_member_call_expression", "name"),
    ("object_creation_expression", "type"),
    ("object_creation_expression", ""),
    ("scoped_call_expression", "name"),
];
const TYPE_NAMES: [&str; 4] = ["type_identifier", "constant", "named_type", "user_type"];
/// Bytes beyond which a file is not parsed.
pub const MAX_BYTES: usize = 1024 * 1024;

/// Nothing for a file that is too large or does not parse at all. Places of `wanted` names are listed whatever they are.
pub fn symbols(language: Language, text: &str, wanted: &BTreeSet<&str>) -> Option<Symbols> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let tree = AstGrep::doc(StrDoc::try_new(text, Grammar::from(language)).ok()?);
    let mut found = Symbols::default();
    let mut called_or_typed: BTreeSet<Mention> = BTreeSet::new();
    let mut places: BTreeSet<Mention> = BTreeSet::new();
    for node in tree.root().dfs().filter(Node::is_named) {
        let kind = node.kind();
        let kind = kind.as_ref();
        if let Some(definition) = definition(&node, kind) {
            places.remove(&Mention { name: definition.name.clone(), line: definition.name_line });
            called_or_typed.insert(Mention { name: definition.name.clone(), line: definition.name_line });
            found.definitions.push(definition);
        }
        if let Some(callee) = callee(&node, kind) {
            called_or_typed.insert(callee.clone());
            found.calls.push(callee);
        }
        if TYPE_NAMES.contains(&kind) || is_capitalised(language, &node, kind) {
            let mention = Mention { name: last_name(&node.text()).to_owned(), line: line(&node) };
            called_or_typed.insert(mention.clone());
            found.types.push(mention);
        }
        if node.is_named_leaf() && wanted.contains(node.text().as_ref()) && !is_prose(kind) {
            places.insert(Mention { name: node.text().into_owned(), line: line(&node) });
        }
    }
    found.others = places.difference(&called_or_typed).cloned().collect();
    found.definitions.sort_by_key(|definition| (definition.start_line, std::cmp::Reverse(definition.end_line)));
    found.definitions.dedup();
    Some(found)
}

impl Symbols {
    /// The smallest definition of this kind around a line.
    pub fn innermost(&self, line: u32, kind: SymbolKind) -> Option<&Definition> {
        let around = self.definitions.iter().filter(|one| one.kind == kind && one.start_line <= line && one.end_line >= line);
        around.min_by_key(|definition| definition.end_line - definition.start_line)
    }
}

fn definition<L: LanguageExt>(node: &Node<'_, StrDoc<L>>, kind: &str) -> Option<Definition> {
    let (symbol_kind, name) = if FUNCTIONS.contains(&kind) {
        // A property of C# or Kotlin is code if it has an accessor or a body; PHP's are plain fields.
        if kind == "property_declaration" && !node.children().any(|child| is_accessor(&child.kind())) {
            return None;
        }
        (SymbolKind::Function, name_node(node)?)
    } else if TYPES.contains(&kind) && !SURROUNDINGS.contains(&kind) {
        // `struct point p` names a type and defines none.
        if kind.ends_with("_specifier") && node.field("body").is_none() {
            return None;
        }
        (SymbolKind::Type, name_node(node)?)
    } else if BINDINGS.contains(&kind) {
        let value = node.field("value").or_else(|| node.field("right"))?;
        if !ANONYMOUS.contains(&value.kind().as_ref()) {
            return None;
        }
        let name = ["name", "left", "key", "property"].iter().find_map(|field| node.field(field))?;
        (SymbolKind::Function, name)
    } else {
        return None;
    };
    let text = name.text();
    let name_text = last_name(&text).to_owned();
    if name_text.is_empty() {
        return None;
    }
    let qualifier = text.rsplit_once("::").map(|(before, _)| last_name(before).to_owned());
    // A decorated definition begins at its decorators, a declared one at its keyword.
    let outer = node.parent().filter(|parent| {
        matches!(
            parent.kind().as_ref(),
            "decorated_definition" | "type_declaration" | "lexical_declaration" | "export_statement" | "template_declaration"
        )
    });
    let whole = outer.as_ref().unwrap_or(node);
    Some(Definition {
        kind: symbol_kind,
        name: name_text,
        container: qualifier.or_else(|| container(node)),
        start_line: line(whole),
        end_line: whole.end_pos().line() as u32 + 1,
        name_line: line(&name),
    })
}

fn is_accessor(kind: &str) -> bool {
    matches!(kind, "accessor_list" | "arrow_expression_clause" | "getter" | "setter")
}

fn container<L: LanguageExt>(node: &Node<'_, StrDoc<L>>) -> Option<String> {
    // The receiver of a method of Go.
    if let Some(receiver) = node.field("receiver").filter(|_| node.kind() == "method_declaration") {
        let names = receiver.dfs().filter(|node| node.kind() == "type_identifier").map(|node| node.text().into_owned());
        if let Some(name) = names.into_iter().next() {
            return Some(name);
        }
    }
    let around = node.ancestors().find(|around| TYPES.contains(&around.kind().as_ref()))?;
    name_node(&around).map(|name| last_name(&name.text()).to_owned())
}

fn name_node<'t, L: LanguageExt>(node: &Node<'t, StrDoc<L>>) -> Option<Node<'t, StrDoc<L>>> {
    if let Some(name) = node.field("name") {
        return Some(name);
    }
    // Rust's `impl Trait for Type` is known by its type.
    if let Some(of) = node.field("type").filter(|_| node.kind() == "impl_item") {
        return Some(of);
    }
    // C and C++ hide the name inside nested declarators, some of which have no field.
    if let Some(mut declarator) = node.field("declarator") {
        loop {
            let inner = declarator
                .field("declarator")
                .or_else(|| declarator.named_children().find(|child| child.kind().ends_with("_declarator")));
            match inner {
                Some(inner) => declarator = inner,
                None => return Some(declarator),
            }
        }
    }
    node.named_children().find(|child| {
        matches!(child.kind().as_ref(), "simple_identifier" | "type_identifier" | "identifier" | "variable_declaration" | "word")
    })
}

fn callee<L: LanguageExt>(node: &Node<'_, StrDoc<L>>, kind: &str) -> Option<Mention> {
    let called = CALLS.iter().filter(|(known, _)| *known == kind).find_map(|(_, field)| match *field {
        "" => node.named_children().next(),
        field => node.field(field),
    })?;
    let name = last_name(&called.text()).to_owned();
    // A chain of calls spans lines; the call stands where its last name does.
    (!name.is_empty()).then(|| Mention { name, line: called.end_pos().line() as u32 + 1 })
}

/// Languages that have one kind of identifier for everything write types with a capital.
fn is_capitalised<L: LanguageExt>(language: Language, node: &Node<'_, StrDoc<L>>, kind: &str) -> bool {
    matches!(language, Language::Python | Language::CSharp | Language::Php)
        && matches!(kind, "identifier" | "name")
        && node.text().starts_with(char::is_uppercase)
        && node.text().contains(char::is_lowercase)
}

fn is_prose(kind: &str) -> bool {
    kind.contains("comment") || kind.contains("string") || kind == "text" || kind == "heredoc_body"
}

fn line<L: LanguageExt>(node: &Node<'_, StrDoc<L>>) -> u32 {
    node.start_pos().line() as u32 + 1
}

/// `run` of `self.jobs.run`, `Jobs::<T>::run`, `*run`, `run<T>`, `run!`.
fn last_name(text: &str) -> &str {
    // Type arguments and parameters behind the name say nothing.
    let mut text = text.trim_end();
    while let Some(open) = text.ends_with('>').then(|| opening(text)).flatten() {
        text = text[..open].trim_end().trim_end_matches("::");
    }
    let text = text.trim_end_matches(['!', '?']);
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let end = text.len();
    let start = text.char_indices().rev().take_while(|(_, c)| is_part(*c)).last().map_or(end, |(at, _)| at);
    &text[start..]
}

/// Where the angle bracket opens that closes at the end of a text.
fn opening(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices().rev() {
        match c {
            '>' => depth += 1,
            '<' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests;
