//! A repository's own configuration file, before and after the person's trust.
//!
//! [`RepositoryLayer`] holds the file as it was read and gives nothing away that could run. [`RepositoryLayer::admit`] is the only way
//! from it to a [`Layer`] that is merged: values that name a program, variables, a key, a host or a price are kept if the person trusted exactly
//! these values, and else taken out. An agent that is taken out leaves an entry of the kind `not-trusted` behind, so that its seats end
//! as not run instead of being forgotten. Which keys are meant stands in [`super::key_class`].

use super::key_class::{HARMLESS_KINDS, KeyClass, class_of, matches};
use super::layers::{Layer, LayerError, read_layer};
use super::linter;
use crate::publish::visible::visible_line;
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

/// Tables of which a half makes no sense: one value in it that is not trusted takes the whole table along.
const WHOLE_TABLES: [&str; 3] = ["agents.*", "library.qmd", "prices.*"];

/// The configuration file of a repository. Nothing in it counts yet.
#[derive(Debug, Clone, PartialEq)]
pub struct RepositoryLayer {
    source: String,
    table: Table,
}

/// What a person has to trust at once: an agent, an external index, a list of commands; with every value in it that names something.
#[derive(Debug, Clone, PartialEq)]
pub struct TrustItem {
    path: Vec<String>,
    values: BTreeMap<String, Value>,
    classes: BTreeSet<KeyClass>,
}

/// A repository's layer that may be merged, and what was taken out of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Admitted {
    pub layer: Layer,
    /// Keys that never count in a repository's file.
    pub ignored: Vec<String>,
}

/// What was taken out of a layer, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct NotTrusted {
    pub item: TrustItem,
    pub why: String,
    /// What to type to trust it.
    pub remedy: String,
}

/// Where a repository's file comes from, and what the person says to trust it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remedy<'a> {
    /// `tribunal trust`, as it is to be typed.
    pub command: &'a str,
    /// Would `TRIBUNAL_TRUST=base` trust it?
    pub is_base: bool,
}

impl TrustItem {
    /// `agents.lint`, `validate.commands`.
    pub fn name(&self) -> String {
        self.path.join(".")
    }

    pub fn path(&self) -> &[String] {
        &self.path
    }

    /// Key and value of everything that would be trusted, one line each, with nothing in them that a terminal hides or obeys.
    pub fn lines(&self) -> Vec<String> {
        self.values.iter().map(|(key, value)| visible_line(&format!("{key} = {value}"))).collect()
    }

    /// The same text for the same values, whatever else stands in the file and however it is written there.
    pub fn canonical(&self) -> String {
        let values: BTreeMap<&String, serde_json::Value> =
            self.values.iter().map(|(key, value)| (key, serde_json::to_value(value).unwrap_or_default())).collect();
        serde_json::json!({ "path": self.path, "values": values }).to_string()
    }

    /// Is it nothing but the word for a built-in linter?
    fn is_profile(&self) -> bool {
        let [agents, name] = self.path.as_slice() else { return false };
        agents == "agents" && linter::is_profile_alone(name, &self.values)
    }

    /// "a program and a host"
    pub fn nouns(&self) -> String {
        let nouns: Vec<&str> = self.classes.iter().map(|class| class.noun()).collect();
        match nouns.split_last() {
            None => "nothing".to_owned(),
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} and {last}", others.join(", ")),
        }
    }
}

impl NotTrusted {
    fn new(item: TrustItem, source: &str, remedy: Remedy<'_>) -> Self {
        let in_ci = if remedy.is_base { " (in CI: TRIBUNAL_TRUST=base)" } else { "" };
        let remedy = format!("{}{in_ci}", remedy.command);
        let why =
            format!("not trusted: {} of {source} names {}; look at it and trust it with: {remedy}", item.name(), item.nouns());
        NotTrusted { item, why, remedy }
    }
}

impl RepositoryLayer {
    pub fn read(source: &str, text: &str) -> Result<Self, LayerError> {
        let Layer { source, mut table, .. } = read_layer(source, text)?;
        linter::write_out(&mut table);
        for leaf in leaves(&table) {
            check_path(&source, text, &leaf)?;
        }
        Ok(RepositoryLayer { source, table })
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// Everything in it that needs the person's trust.
    pub fn items(&self) -> Vec<TrustItem> {
        let mut items: BTreeMap<Vec<String>, TrustItem> = BTreeMap::new();
        let mut named: BTreeSet<Vec<String>> = BTreeSet::new();
        for Leaf { path, value } in leaves(&self.table) {
            let class = class_of(&path);
            if !class.needs_trust() {
                continue;
            }
            let unit = unit_of(&path);
            let is_harmless_kind =
                matches("agents.*.kind", &path) && value.as_str().is_some_and(|kind| HARMLESS_KINDS.contains(&kind));
            let item = items.entry(unit.clone()).or_insert_with(|| TrustItem {
                path: unit.clone(),
                values: BTreeMap::new(),
                classes: BTreeSet::new(),
            });
            item.values.insert(path.join("."), value.clone());
            if !is_harmless_kind {
                item.classes.insert(class);
                named.insert(unit);
            }
        }
        items.into_iter().filter(|(unit, _)| named.contains(unit)).map(|(_, item)| item).collect()
    }

    /// The layer as far as the person trusts it.
    pub fn admit(self, is_trusted: &dyn Fn(&TrustItem) -> bool, remedy: Remedy<'_>) -> Admitted {
        let refused: Vec<NotTrusted> = self
            .items()
            .into_iter()
            .filter(|item| !is_trusted(item))
            .map(|item| NotTrusted::new(item, &self.source, remedy))
            .collect();
        let personal: BTreeSet<Vec<String>> =
            leaves(&self.table).into_iter().map(|leaf| leaf.path).filter(|path| class_of(path) == KeyClass::Person).collect();
        let RepositoryLayer { source, mut table } = self;
        for path in &personal {
            remove(&mut table, path);
        }
        for NotTrusted { item, why, .. } in &refused {
            remove(&mut table, &item.path);
            if matches("agents.*", &item.path) {
                let mut stub = Table::from_iter([("kind", NOT_TRUSTED_KIND), ("why", why.as_str())].map(text_entry));
                if item.is_profile() {
                    stub.insert("is_profile".to_owned(), Value::Boolean(true));
                }
                insert(&mut table, &item.path, Value::Table(stub));
            }
        }
        let ignored = personal.iter().map(|path| path.join(".")).collect();
        Admitted { layer: Layer { source, table, not_trusted: refused, is_of_repository: true }, ignored }
    }
}

/// The kind of an agent that was taken out. No file may say it.
pub const NOT_TRUSTED_KIND: &str = "not-trusted";

fn text_entry((key, text): (&str, &str)) -> (String, Value) {
    (key.to_owned(), Value::String(text.to_owned()))
}

pub(super) struct Leaf {
    pub path: Vec<String>,
    pub value: Value,
}

/// Every value that is no table. A list of tables is one value per element's key, and a list of anything else is one value.
pub(super) fn leaves(table: &Table) -> Vec<Leaf> {
    let mut found = Vec::new();
    for (key, value) in table {
        collect(vec![key.clone()], value, &mut found);
    }
    found
}

fn collect(path: Vec<String>, value: &Value, found: &mut Vec<Leaf>) {
    let below = |key: &String| path.iter().chain([key]).cloned().collect::<Vec<String>>();
    match value {
        Value::Table(table) => table.iter().for_each(|(key, value)| collect(below(key), value, found)),
        Value::Array(elements) if elements.iter().any(Value::is_table) => {
            elements.iter().for_each(|element| collect(path.clone(), element, found));
        }
        _ => found.push(Leaf { path, value: value.clone() }),
    }
}

fn unit_of(path: &[String]) -> Vec<String> {
    let whole = (1..path.len()).find(|length| WHOLE_TABLES.iter().any(|pattern| matches(pattern, &path[..*length])));
    path[..whole.unwrap_or(path.len())].to_vec()
}

/// Takes a value out, and tables that hold nothing else. A path that leads through a list takes the list.
pub(super) fn remove(table: &mut Table, path: &[String]) {
    match path {
        [] => {}
        [last] => {
            table.remove(last);
        }
        [first, rest @ ..] => match table.get_mut(first) {
            Some(Value::Table(inner)) => {
                remove(inner, rest);
                if inner.is_empty() {
                    table.remove(first);
                }
            }
            Some(_) => {
                table.remove(first);
            }
            None => {}
        },
    }
}

fn insert(table: &mut Table, path: &[String], value: Value) {
    match path {
        [] => {}
        [last] => {
            table.insert(last.clone(), value);
        }
        [first, rest @ ..] => {
            if let Value::Table(inner) = table.entry(first.clone()).or_insert_with(|| Value::Table(Table::new())) {
                insert(inner, rest, value);
            }
        }
    }
}

/// A path of a repository's file stays inside the repository: on the machine where it is read, it names nothing else.
fn check_path(source: &str, text: &str, leaf: &Leaf) -> Result<(), LayerError> {
    if class_of(&leaf.path) != KeyClass::Path {
        return Ok(());
    }
    match strings(&leaf.value).into_iter().find(|path| !is_inside(path)) {
        None => Ok(()),
        Some(path) => Err(LayerError {
            source: source.to_owned(),
            line: line_of(text, path),
            problem: format!("{} is `{path}`, which leads out of the repository", leaf.path.join(".")),
            help: Some("name it from the top of the repository; another place belongs in your own configuration".to_owned()),
        }),
    }
}

pub(super) fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(elements) => elements.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

pub(super) fn line_of(text: &str, value: &str) -> Option<usize> {
    text.lines().position(|line| line.contains(value)).map(|line| line + 1)
}

/// Is it named from the top of the repository, and below it?
pub fn is_inside(file: &str) -> bool {
    !file.starts_with(['/', '\\', '~']) && !file.contains([':', '\0']) && file.split(['/', '\\']).all(|part| part != "..")
}

#[cfg(test)]
mod tests;
