//! The grammar reads what is handed to a Rust macro as loose tokens, in which no rule finds anything. Where that is a list of items, such as
//! the functions in `id! { … }`, the macro's name and brackets are blanked out, and the items are read where they stand.
//!
//! What is not plain Rust inside, as in `quote!` or a macro with a grammar of its own, stays as it is.

use tree_sitter::{Node, Tree};
use tribunal_core::diff::change::AddedLines;

/// Macros in macros that are opened.
const MAX_ROUNDS: usize = 4;

/// The text with the items in macros that the change touched laid open; nothing where there are none. No line and no column moves.
pub fn laid_open(text: &str, tree: &Tree, added: &AddedLines, parse: impl Fn(&str) -> Option<Tree>) -> Option<String> {
    let mut opened: Option<(String, Tree)> = None;
    for _ in 0..MAX_ROUNDS {
        let (text, tree) = opened.as_ref().map_or((text, tree), |(text, tree)| (text.as_str(), tree));
        let mut calls = Vec::new();
        find_calls(tree, text, added, &mut calls);
        let mut written = text.as_bytes().to_vec();
        let mut is_changed = false;
        for call in calls {
            let inner = &text[call.inner.clone()];
            if parse(inner).is_some_and(|tree| !tree.root_node().has_error()) {
                is_changed = true;
                let around = (call.whole.start..call.inner.start).chain(call.inner.end..call.whole.end);
                around.filter(|at| !matches!(text.as_bytes()[*at], b'\n' | b'\r')).for_each(|at| written[at] = b' ');
            }
        }
        let next = String::from_utf8(written).ok().filter(|_| is_changed);
        let Some((next, tree)) = next.and_then(|text| Some((parse(&text)?, text))).map(|(tree, text)| (text, tree)) else {
            break;
        };
        opened = Some((next, tree));
    }
    opened.map(|(text, _)| text)
}

/// Bytes of a call of a macro, and of what stands between its brackets.
struct MacroCall {
    whole: std::ops::Range<usize>,
    inner: std::ops::Range<usize>,
}

fn find_calls(tree: &Tree, text: &str, added: &AddedLines, found: &mut Vec<MacroCall>) {
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let is_touched = added.touches(node.start_position().row as u32 + 1, node.end_position().row as u32 + 1);
        let call = if is_touched && node.kind() == "macro_invocation" { call_of_items(node, text) } else { None };
        let is_call = call.is_some();
        found.extend(call);
        if is_touched && !is_call && node.kind() != "token_tree" && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// A call that stands where items stand, and holds functions.
fn call_of_items(node: Node<'_>, text: &str) -> Option<MacroCall> {
    let statement = node.parent().filter(|parent| parent.kind() == "expression_statement").unwrap_or(node);
    let is_item = matches!(statement.parent()?.kind(), "source_file" | "declaration_list");
    let tokens = node.child(node.child_count().checked_sub(1)?).filter(|last| last.kind() == "token_tree")?;
    let inner = tokens.start_byte() + 1..tokens.end_byte().checked_sub(1)?;
    let holds_functions = text.get(inner.clone())?.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == "fn");
    // A semicolon behind `id!(…);` is an empty item.
    let end = statement.end_byte().max(tokens.end_byte());
    (is_item && holds_functions).then_some(MacroCall { whole: node.start_byte()..end, inner })
}
