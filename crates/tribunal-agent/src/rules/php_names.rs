//! Names of functions and methods mean the same in PHP whatever their case: `SYSTEM($x)` runs a command. The rules name them in one case,
//! so the calls of a text are put into that case before they are matched. No byte moves.

use super::checks::pattern::Pattern;
use std::collections::{BTreeMap, BTreeSet};
use tree_sitter::{Node, Tree};

/// The names that rules know, by their small letters.
#[derive(Default)]
pub struct PhpNames(BTreeMap<String, BTreeSet<String>>);

static NAME: Pattern = Pattern::new(r"[A-Za-z_][A-Za-z0-9_]{2,}");

impl PhpNames {
    /// From the text of rules.
    pub fn new<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for name in texts.flat_map(|text| NAME.all(text)) {
            names.entry(name.to_ascii_lowercase()).or_default().insert(name.to_owned());
        }
        Self(names)
    }

    /// The text with its calls as the rules write them; nothing where they are so already.
    pub fn in_known_case(&self, text: &str, tree: &Tree) -> Option<String> {
        let mut written: Option<String> = None;
        if self.0.is_empty() {
            return None;
        }
        let mut cursor = tree.walk();
        loop {
            let node = cursor.node();
            if node.kind() == "name"
                && let Some(call) = called(node)
                && let Some(name) = text.get(node.byte_range())
                && name.bytes().any(|byte| byte.is_ascii_uppercase())
                && let Some(known) = self.known(name, call)
            {
                written.get_or_insert_with(|| text.to_owned()).replace_range(node.byte_range(), known);
            }
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return written;
                }
            }
        }
    }

    /// The name as the rules write it, if they write it otherwise.
    fn known(&self, name: &str, call: Call) -> Option<&str> {
        let small = name.to_ascii_lowercase();
        let known = self.0.get(&small)?;
        // PHP's own functions have small letters, whatever else rules call so.
        let is_written_small = call == Call::Function && known.contains(&small);
        match known.contains(name) && !is_written_small {
            true => None,
            false => known.get(&small).or_else(|| known.first()).map(String::as_str),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Call {
    Function,
    Method,
}

fn called(name: Node<'_>) -> Option<Call> {
    let parent = name.parent()?;
    match parent.kind() {
        "function_call_expression" => Some(Call::Function),
        "member_call_expression" | "nullsafe_member_call_expression" | "scoped_call_expression" => {
            (parent.child_by_field_name("name") == Some(name)).then_some(Call::Method)
        }
        // `\SYSTEM(…)`
        "qualified_name" => parent.parent().filter(|call| call.kind() == "function_call_expression").map(|_| Call::Function),
        _ => None,
    }
}
