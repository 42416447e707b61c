//! GitHub's GraphQL schema: documents must fit it, and answers must have what the document asked for.

use apollo_compiler::ast::Type;
use apollo_compiler::executable::{Selection, SelectionSet};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Schema as Definitions};
use fake_forge_base::Entry;
use serde_json::Value;
use std::sync::OnceLock;

pub struct Schema {
    definitions: Valid<Definitions>,
}

/// Read once for all tests: it has fifty thousand lines.
pub fn schema() -> Option<&'static Schema> {
    static READ: OnceLock<Option<Schema>> = OnceLock::new();
    let read = || {
        let text = super::peer("schema.graphql")?;
        // GitHub's own schema names two fields twice; what could be read is all there.
        let definitions = Definitions::parse(text, "schema.graphql").unwrap_or_else(|errors| errors.partial);
        assert!(definitions.types.contains_key("PullRequestReviewThread"), "the schema can be read");
        Some(Schema { definitions: Valid::assume_valid(definitions) })
    };
    READ.get_or_init(read).as_ref()
}

impl Schema {
    /// What is wrong with a document, if anything.
    pub fn problems(&self, document: &str) -> Option<String> {
        self.read(document).err()
    }

    fn read(&self, document: &str) -> Result<Valid<ExecutableDocument>, String> {
        ExecutableDocument::parse_and_validate(&self.definitions, document, "document.graphql")
            .map_err(|errors| errors.errors.to_string())
    }

    pub fn check(&self, entry: &Entry) -> Vec<String> {
        let request: Value = serde_json::from_slice(&entry.request_body).unwrap_or_default();
        let document = match self.read(request["query"].as_str().unwrap_or_default()) {
            Ok(document) => document,
            Err(words) => return vec![words],
        };
        let answer: Value = serde_json::from_slice(&entry.answer_body).unwrap_or_default();
        // A refusal may leave out what it likes.
        if entry.status != 200 || answer.get("errors").is_some() || answer["data"].is_null() {
            return Vec::new();
        }
        let mut wrong = Vec::new();
        for operation in document.operations.iter() {
            self.selected(&document, &operation.selection_set, &answer["data"], "data", &mut wrong);
        }
        wrong
    }

    fn selected(&self, document: &ExecutableDocument, set: &SelectionSet, value: &Value, path: &str, wrong: &mut Vec<String>) {
        let is_of = |name: &str| value["__typename"].as_str().is_none_or(|kind| kind == name);
        for selection in &set.selections {
            match selection {
                Selection::Field(field) => {
                    let name = field.response_key().as_str();
                    let path = format!("{path}.{name}");
                    match value.get(name) {
                        None => wrong.push(format!("{path} was asked for and is missing")),
                        Some(inner) => self.fits(document, field.ty(), &field.selection_set, inner, &path, wrong),
                    }
                }
                Selection::InlineFragment(fragment) => {
                    if fragment.type_condition.as_ref().is_none_or(|name| is_of(name.as_str())) {
                        self.selected(document, &fragment.selection_set, value, path, wrong);
                    }
                }
                Selection::FragmentSpread(spread) => {
                    if let Some(fragment) = document.fragments.get(&spread.fragment_name) {
                        self.selected(document, &fragment.selection_set, value, path, wrong);
                    }
                }
            }
        }
    }

    fn fits(
        &self,
        document: &ExecutableDocument,
        ty: &Type,
        set: &SelectionSet,
        value: &Value,
        path: &str,
        wrong: &mut Vec<String>,
    ) {
        if value.is_null() {
            if ty.is_non_null() {
                wrong.push(format!("{path} is null and may not be"));
            }
            return;
        }
        if ty.is_list() {
            match value.as_array() {
                None => wrong.push(format!("{path} is no list")),
                Some(items) => items.iter().for_each(|item| self.fits(document, ty.item_type(), set, item, path, wrong)),
            }
            return;
        }
        let kind = ty.inner_named_type().as_str();
        let fine = match (kind, self.definitions.types.get(kind)) {
            ("Int", _) => value.is_i64() || value.is_u64(),
            ("Boolean", _) => value.is_boolean(),
            (_, Some(ExtendedType::Enum(words))) => {
                value.as_str().is_some_and(|word| words.values.keys().any(|known| known == word))
            }
            (_, Some(ExtendedType::Scalar(_)) | None) => value.is_string(),
            (_, Some(_)) => {
                self.selected(document, set, value, path, wrong);
                value.is_object()
            }
        };
        if !fine {
            wrong.push(format!("{path} is no {kind}: {value}"));
        }
    }
}
