//! The tables that the flow rules of a language share: `rules/flow/<language>.yml` in the binary.

use super::entry::{Entry, FlowTable, Form};
use tribunal_core::diff::language::Language;

include!(concat!(env!("OUT_DIR"), "/built_in_flow_tables.rs"));

/// The tables of all languages.
#[derive(Debug, Clone, Default)]
pub struct FlowTables(Vec<FlowTable>);

impl FlowTables {
    pub fn new(tables: Vec<FlowTable>) -> Self {
        Self(tables)
    }

    /// Those in the binary.
    pub fn built_in() -> Result<Self, String> {
        let read =
            |(name, json): &(&str, &str)| serde_json::from_str(json).map_err(|error| format!("rules/flow/{name}: {error}"));
        FLOW_TABLES.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// The table of a language, if it has one.
    pub fn of(&self, language: Language) -> Option<&FlowTable> {
        self.0.iter().find(|table| table.languages.contains(&language))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    Sources,
    Sanitizers,
    /// Sinks are a rule's own: there is nothing to share.
    Sinks,
}

/// The entries with each list that they name replaced by what it holds. A severity beside the name of a list is that of all its entries.
pub fn resolve(entries: &[Entry], table: &FlowTable, kind: ListKind) -> Result<Vec<Form>, String> {
    let mut forms = Vec::new();
    for entry in entries {
        let form = entry.form();
        let Some(name) = &form.list else {
            forms.push(form);
            continue;
        };
        let list = match kind {
            ListKind::Sources => table.sources.get(name),
            ListKind::Sanitizers => table.sanitizers.get(name),
            ListKind::Sinks => None,
        };
        let list =
            list.ok_or_else(|| format!("there is no list called `{name}`; a variable of that name is `{{ name: {name} }}`"))?;
        for inner in list {
            let inner = inner.form();
            if inner.list.is_some() {
                return Err(format!("the list `{name}` names another list"));
            }
            forms.push(Form { severity: form.severity.or(inner.severity), ..inner });
        }
    }
    Ok(forms)
}
