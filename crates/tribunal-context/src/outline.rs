//! The symbols of a file: which function or type encloses a line.
//!
//! A finding's key holds the enclosing symbol, so that it survives code that moves within a file.

use crate::grammar::Grammar;
use ast_grep_core::tree_sitter::{LanguageExt, StrDoc};
use ast_grep_core::{AstGrep, Node};
use tribunal_core::diff::language::Language;
use tribunal_core::findings::key::{Outline, Symbol};

/// Node kinds that name something, over all grammars. A kind that a grammar does not know is simply never seen.
const SYMBOL_KINDS: &[&str] = &[
    "function_definition",
    "function_declaration",
    "function_item",
    "function_signature_item",
    "method_definition",
    "method_declaration",
    "constructor_declaration",
    "generator_function_declaration",
    "class_definition",
    "class_declaration",
    "class_specifier",
    "struct_specifier",
    "struct_item",
    "struct_declaration",
    "enum_item",
    "enum_declaration",
    "trait_item",
    "trait_declaration",
    "impl_item",
    "mod_item",
    "interface_declaration",
    "object_declaration",
    "namespace_definition",
    "namespace_declaration",
    "type_spec",
    "method",
    "singleton_method",
    "class",
    "module",
    "create_table",
    "create_function",
];

/// Files beyond this are not outlined: the symbol is then empty and the key rests on path, code and category.
const MAX_OUTLINE_BYTES: usize = 2 * 1024 * 1024;

pub fn outline(language: Language, text: &str) -> Outline {
    if text.len() > MAX_OUTLINE_BYTES {
        return Outline::default();
    }
    let Ok(document) = StrDoc::try_new(text, Grammar::from(language)) else {
        return Outline::default();
    };
    of_tree(&AstGrep::doc(document))
}

pub fn of_tree<L: LanguageExt>(tree: &AstGrep<StrDoc<L>>) -> Outline {
    let mut symbols = Vec::new();
    for node in tree.root().dfs() {
        if !node.is_named() || !SYMBOL_KINDS.contains(&node.kind().as_ref()) {
            continue;
        }
        if let Some(name) = symbol_name(&node) {
            symbols.push(Symbol {
                name,
                start_line: node.start_pos().line() as u32 + 1,
                end_line: node.end_pos().line() as u32 + 1,
            });
        }
    }
    Outline::new(symbols)
}

fn symbol_name<L: LanguageExt>(node: &Node<'_, StrDoc<L>>) -> Option<String> {
    if let Some(name) = node.field("name") {
        return Some(first_word(&name.text()));
    }
    // Rust's `impl Trait for Type` is known by its type.
    if let Some(of) = node.field("type").filter(|_| node.kind() == "impl_item") {
        return Some(first_word(&of.text()));
    }
    // C and C++ hide the name inside nested declarators.
    let mut declarator = node.field("declarator")?;
    while let Some(inner) = declarator.field("declarator") {
        declarator = inner;
    }
    Some(first_word(&declarator.text()))
}

fn first_word(text: &str) -> String {
    text.split(['(', '<', '{', '\n', ' ']).next().unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_symbols_are_joined() {
        let text = "class A:\n    def b(self):\n        return 1\n\ndef c():\n    pass\n";
        let outline = outline(Language::Python, text);
        assert_eq!(outline.enclosing(3), "A.b");
        assert_eq!(outline.enclosing(6), "c");
        assert_eq!(outline.enclosing(4), "");
    }

    #[test]
    fn c_functions_are_named_by_their_innermost_declarator() {
        let outline = outline(Language::C, "static char *copy(const char *s) {\n  return 0;\n}\n");
        assert_eq!(outline.enclosing(2), "copy");
    }

    #[test]
    fn rust_impls_are_named_by_their_type() {
        let outline = outline(Language::Rust, "impl Display for Name {\n    fn fmt(&self) {\n        x()\n    }\n}\n");
        assert_eq!(outline.enclosing(3), "Name.fmt");
    }
}
