//! The nodes that the ast-grep rules of flow rules match: sources, sinks and sanitizers that no pattern can say.

use super::compile::{FlowRules, NodeUse};
use super::origin::RuleBits;
use ast_grep_core::Node;
use ast_grep_core::matcher::MatcherExt;
use ast_grep_core::tree_sitter::StrDoc;
use std::collections::BTreeMap;
use tribunal_context::grammar::Grammar;

#[derive(Default)]
pub struct Marks(BTreeMap<usize, Mark>);

/// What is said of one node.
#[derive(Default)]
pub struct Mark {
    pub sources: Vec<usize>,
    /// Places in `FlowRules::nodes`.
    pub sinks: Vec<usize>,
    pub safe: RuleBits,
}

impl Marks {
    pub fn new(flow: &FlowRules, root: &Node<'_, StrDoc<Grammar>>) -> Self {
        let mut marks = Self::default();
        if flow.nodes.is_empty() {
            return marks;
        }
        for node in root.dfs() {
            let kind = usize::from(node.kind_id());
            for (index, rule) in flow.nodes.iter().enumerate() {
                if !rule.kinds.contains(&kind) {
                    continue;
                }
                let Some(found) = rule.core.match_node(node.clone()) else { continue };
                let focus = rule.focus.as_deref().and_then(|name| found.get_env().get_match(name));
                let id = focus.map_or_else(|| node.node_id(), Node::node_id);
                let mark = marks.0.entry(id).or_default();
                match &rule.what {
                    NodeUse::Source(entry) => mark.sources.push(*entry),
                    NodeUse::Sink(_) => mark.sinks.push(index),
                    NodeUse::Sanitizer(rules) => mark.safe |= rules,
                }
            }
        }
        marks
    }

    pub fn of(&self, node: tree_sitter::Node<'_>) -> Option<&Mark> {
        self.0.get(&node.id())
    }
}
