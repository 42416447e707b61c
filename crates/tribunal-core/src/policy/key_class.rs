//! The trust class of every configuration key. A repository's file is written by whoever has commit rights there, which need not be
//! the person who runs Tribunal in a clone of it. So what it may decide alone depends on the key: [`super::admission`] goes by this
//! table, and a test compares the table with the configuration's own schema, so that a key without a class fails the build.

/// What a key can do to the person whose machine reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyClass {
    /// Changes what is reviewed, reported or merged. The base's word is enough.
    Plain,
    /// Names a file or folder of the repository, and must stay inside it.
    Path,
    /// Names a program that is run.
    Program,
    /// Names variables of the environment that a program is given.
    Variable,
    /// Names files and folders of the machine that a program may read.
    Read,
    /// Says where a key is read from.
    Key,
    /// Says what a model costs, and so how far a limit in dollars reaches.
    Price,
    /// Limits what is spent. A repository's file can lower what the person's own configuration sets, and never raise it.
    Limit,
    /// Names a host that is contacted, or opens the network.
    Host,
    /// Counts in the person's own configuration, in the environment and in flags, never in a repository's file.
    Person,
}

impl KeyClass {
    /// Does a value of a repository's file count only after the person trusted it?
    pub fn needs_trust(self) -> bool {
        match self {
            KeyClass::Program | KeyClass::Variable | KeyClass::Read | KeyClass::Key | KeyClass::Price | KeyClass::Host => true,
            KeyClass::Plain | KeyClass::Path | KeyClass::Limit | KeyClass::Person => false,
        }
    }

    /// For sentences: "names a program".
    pub fn noun(self) -> &'static str {
        match self {
            KeyClass::Plain => "a setting",
            KeyClass::Path => "a path",
            KeyClass::Program => "a program",
            KeyClass::Variable => "variables to pass on",
            KeyClass::Read => "files to read",
            KeyClass::Key => "a key",
            KeyClass::Price => "a price",
            KeyClass::Limit => "a limit",
            KeyClass::Host => "a host",
            KeyClass::Person => "what only your own configuration may set",
        }
    }
}

use KeyClass::{Host, Key, Limit, Path, Person, Plain, Price, Program, Read, Variable};

/// Every key. `*` is a name that people choose; `**` is all below. Elements of a list have the path of the list.
pub const KEY_CLASSES: &[(&str, KeyClass)] = &[
    ("$schema", Plain),
    ("agents.*.args", Program),
    ("agents.*.base_url", Host),
    ("agents.*.categories.*", Plain),
    ("agents.*.category", Plain),
    ("agents.*.clocks.first_byte_seconds", Plain),
    ("agents.*.clocks.idle_seconds", Plain),
    ("agents.*.clocks.total_seconds", Plain),
    ("agents.*.command", Program),
    ("agents.*.config", Plain),
    ("agents.*.context_tokens", Plain),
    ("agents.*.effort", Plain),
    ("agents.*.env", Variable),
    ("agents.*.file", Path),
    ("agents.*.key.command", Program),
    ("agents.*.key.env", Key),
    ("agents.*.key.keyring", Key),
    ("agents.*.key_header", Key),
    // A model's kind names the vendor's host, a CLI's and a linter's kind names the program. See `HARMLESS_KINDS`.
    ("agents.*.kind", Program),
    ("agents.*.max_output_tokens", Plain),
    ("agents.*.max_turns", Plain),
    ("agents.*.model", Plain),
    ("agents.*.network", Host),
    ("agents.*.price.cache_read", Price),
    ("agents.*.price.cache_write", Price),
    ("agents.*.price.input", Price),
    ("agents.*.price.output", Price),
    ("agents.*.profile", Program),
    ("agents.*.program", Program),
    ("agents.*.read", Read),
    ("agents.*.rules.*", Plain),
    ("agents.*.structured", Plain),
    ("agents.*.timeout_seconds", Plain),
    ("budget.case_usd", Limit),
    ("budget.month_usd", Limit),
    ("budget.run_tokens", Limit),
    ("budget.run_usd", Limit),
    ("escalate.to", Plain),
    ("files.max_bytes", Plain),
    ("files.max_total_bytes", Plain),
    ("files.review", Plain),
    ("files.skip", Plain),
    ("fix.agent", Plain),
    ("fix.allow", Plain),
    ("fix.assess", Plain),
    ("fix.check", Plain),
    ("fix.contract_changes", Plain),
    ("fix.defer", Plain),
    ("fix.max_files", Plain),
    ("fix.max_lines", Plain),
    ("fix.record", Path),
    ("forge.**", Person),
    ("guidance.file", Path),
    ("guidance.paths", Plain),
    // It is shown to reviewers as data, and cannot move a severity or a verdict.
    ("guidance.text", Plain),
    ("identity.bots.*", Plain),
    // Whose feedback is acted on is for the people of the base to say, as everything about their pull requests.
    ("identity.bots.*.id", Plain),
    ("identity.bots.*.name", Plain),
    ("library.code", Plain),
    ("library.decisions", Path),
    ("library.embeddings", Plain),
    ("library.limit", Plain),
    ("library.min_score", Plain),
    ("library.modules.*", Path),
    // That there is a collection is enough to have `qmd` started.
    ("library.qmd.collection", Program),
    ("library.qmd.command", Program),
    ("library.qmd.env", Variable),
    ("library.qmd.max_age", Plain),
    ("library.qmd.read", Read),
    ("library.qmd.timeout", Plain),
    ("library.references", Plain),
    ("library.specs", Path),
    ("merge.approvals", Plain),
    ("merge.confirm", Plain),
    ("merge.do_not_merge", Plain),
    ("merge.method", Plain),
    ("merge.part_of", Plain),
    ("merge.require_checks", Plain),
    ("merge.verified_by", Plain),
    ("merge.when", Plain),
    ("panel.*", Plain),
    ("panel.*.agent", Plain),
    ("panel.*.fallback", Plain),
    ("panel.*.samples", Plain),
    ("panel.verify.agent", Plain),
    ("panel.weight.*", Plain),
    ("prices.*.cache_read", Price),
    ("prices.*.cache_write", Price),
    ("prices.*.input", Price),
    ("prices.*.output", Price),
    ("publish.resolve", Plain),
    ("publish.status", Plain),
    ("respond.comment", Plain),
    ("respond.cycles", Plain),
    ("respond.rerequest", Plain),
    ("respond.resolve", Plain),
    ("respond.resolve_people", Plain),
    ("respond.reviewer", Plain),
    ("respond.sarif", Path),
    ("review.base", Plain),
    ("review.context", Plain),
    ("review.fail_level", Plain),
    ("review.max_inline_p1", Plain),
    ("review.max_inline_p2", Plain),
    ("review.max_listed_p3", Plain),
    ("rules.disable", Plain),
    ("rules.disable_in.*", Plain),
    ("settle.agent", Plain),
    ("settle.label", Plain),
    ("settle.level", Plain),
    ("settle.mention", Plain),
    ("settle.restart", Plain),
    ("sweep.answer_within", Plain),
    ("sweep.checks", Plain),
    ("sweep.every", Plain),
    ("sweep.pairs", Plain),
    ("sweep.redact", Plain),
    ("trust.first_time", Plain),
    ("trust.known", Plain),
    ("trust.member", Plain),
    ("validate.commands", Program),
    ("validate.read", Read),
    ("validate.timeout", Plain),
    ("wait.idle", Plain),
    ("wait.poll", Plain),
    ("wait.settle", Plain),
    ("wait.total", Plain),
    ("watch.comment", Plain),
    ("watch.cycles", Plain),
    ("watch.rerequest", Plain),
    ("watch.resolve", Plain),
    ("watch.resolve_people", Plain),
    ("watch.reviewer", Plain),
    ("watch.sarif", Path),
];

/// Kinds of agents that by themselves run nothing and contact nobody: what they may do is named by their other keys.
pub const HARMLESS_KINDS: [&str; 3] = ["rules", "sarif", "command"];

/// The class of a key. One that the table does not know is treated as one that names a program: it does not count until trusted.
pub fn class_of(path: &[String]) -> KeyClass {
    KEY_CLASSES.iter().find(|(pattern, _)| matches(pattern, path)).map_or(Program, |(_, class)| *class)
}

pub(super) fn matches(pattern: &str, path: &[String]) -> bool {
    let parts: Vec<&str> = pattern.split('.').collect();
    match parts.split_last() {
        Some((&"**", above)) => path.len() > above.len() && fits(above, &path[..above.len()]),
        _ => fits(&parts, path),
    }
}

fn fits(parts: &[&str], path: &[String]) -> bool {
    parts.len() == path.len() && parts.iter().zip(path).all(|(part, name)| *part == "*" || part == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::config::Config;
    use serde_json::Value;
    use std::collections::BTreeSet;

    /// Every key that the schema of the configuration lets somebody write.
    fn schema_keys() -> BTreeSet<String> {
        let schema = serde_json::to_value(schemars::schema_for!(Config)).unwrap();
        let mut keys = BTreeSet::new();
        walk(&schema, &schema, String::new(), &mut keys);
        keys
    }

    fn walk(root: &Value, node: &Value, path: String, keys: &mut BTreeSet<String>) {
        let mut is_leaf = true;
        let mut below = |node: &Value, path: String| {
            is_leaf = false;
            walk(root, node, path, keys);
        };
        if let Some(target) = node["$ref"].as_str() {
            below(root.pointer(target.trim_start_matches('#')).unwrap(), path.clone());
        }
        for word in ["oneOf", "anyOf", "allOf"] {
            let choices = node[word].as_array().into_iter().flatten();
            choices.filter(|choice| choice["type"] != "null").for_each(|choice| below(choice, path.clone()));
        }
        for (name, property) in node["properties"].as_object().into_iter().flatten() {
            below(property, if path.is_empty() { name.clone() } else { format!("{path}.{name}") });
        }
        for word in ["additionalProperties", "patternProperties"] {
            if node[word].is_object() || node[word] == true {
                below(&node[word], format!("{path}.*"));
            }
        }
        if node["items"].is_object() {
            below(&node["items"], path.clone());
        }
        if is_leaf {
            keys.insert(path);
        }
    }

    /// Issue 16, B5: a new key has to be given a class before anything reads it, and a key that is gone leaves the table.
    #[test]
    fn every_key_has_exactly_one_class() {
        let path = |key: &str| key.split('.').map(str::to_owned).collect::<Vec<_>>();
        let keys = schema_keys();
        assert!(keys.len() > 80 && keys.contains("agents.*.command"), "the schema is not read: {keys:?}");
        for key in &keys {
            let listed = KEY_CLASSES
                .iter()
                .filter(|(pattern, _)| pattern == key || pattern.ends_with("**") && matches(pattern, &path(key)));
            assert_eq!(listed.count(), 1, "give `{key}` one class in KEY_CLASSES: may a stranger's repository set it?");
        }
        for (pattern, _) in KEY_CLASSES {
            let known = keys.iter().any(|key| key == pattern || pattern.ends_with("**") && matches(pattern, &path(key)));
            assert!(known, "`{pattern}` is no key of the configuration");
        }
    }

    /// What people read is the table that counts.
    #[test]
    fn the_documentation_lists_every_key_that_needs_trust() {
        let page = include_str!("../../../../docs/configuration.md");
        for class in [Program, Variable, Read, Key, Host, Price] {
            assert!(class.needs_trust());
            let first = format!("| {} |", class.noun().trim_start_matches("a "));
            let row = page.lines().find_map(|line| line.strip_prefix(&first)).unwrap_or_else(|| panic!("no row {first}"));
            let listed: BTreeSet<String> = row.split('`').skip(1).step_by(2).map(str::to_owned).collect();
            let written = |key: &str| {
                // A price is one value in several parts.
                let key = if class == Price { key.rsplit_once('.').unwrap().0 } else { key };
                key.replace('*', "NAME")
            };
            let of_class = KEY_CLASSES.iter().filter(|(_, of_key)| *of_key == class);
            assert_eq!(listed, of_class.map(|(key, _)| written(key)).collect(), "{first}");
        }
    }

    #[test]
    fn an_unknown_key_needs_trust() {
        let path = |key: &str| key.split('.').map(str::to_owned).collect::<Vec<_>>();
        assert!(class_of(&path("agents.x.new_key")).needs_trust());
        assert_eq!(class_of(&path("forge.git.example.org")), Person);
        assert_eq!(class_of(&path("panel.verify.agent")), Plain);
    }
}
