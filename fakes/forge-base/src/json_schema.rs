//! Does a value fit a published schema?

pub use boon::Draft;
use boon::{Compiler, SchemaIndex, Schemas, ValidationError};
use serde_json::Value;

pub struct JsonSchema {
    schemas: Schemas,
    root: SchemaIndex,
}

/// One thing about a value that its schema does not allow.
pub struct Misfit {
    /// A JSON pointer into the value; empty for the whole.
    pub path: String,
    pub words: String,
}

impl std::fmt::Display for Misfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.words)
    }
}

impl JsonSchema {
    /// `draft` counts where the schema does not name its own.
    pub fn new(schema: &Value, draft: Draft) -> Result<Self, String> {
        const NAME: &str = "memory:///schema.json";
        let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
        compiler.set_default_draft(draft);
        compiler.add_resource(NAME, schema.clone()).map_err(|error| error.to_string())?;
        let root = compiler.compile(NAME, &mut schemas).map_err(|error| format!("{error:#}"))?;
        Ok(Self { schemas, root })
    }

    pub fn misfits(&self, value: &Value) -> Vec<Misfit> {
        let mut found = Vec::new();
        if let Err(error) = self.schemas.validate(value, self.root) {
            collect(&error, &mut found);
        }
        found
    }
}

fn collect(error: &ValidationError, into: &mut Vec<Misfit>) {
    if error.causes.is_empty() {
        into.push(Misfit { path: error.instance_location.to_string(), words: error.kind.to_string() });
    }
    error.causes.iter().for_each(|cause| collect(cause, into));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_misfit_is_named_with_its_place() {
        let schema = json!({ "properties": { "a": { "items": { "type": "string" } } }, "required": ["b"] });
        let schema = JsonSchema::new(&schema, Draft::V7).unwrap();
        let lines: Vec<String> = schema.misfits(&json!({ "a": ["x", 1] })).iter().map(ToString::to_string).collect();
        assert_eq!(lines, [": missing properties 'b'", "/a/1: want string, but got number"]);
        assert!(schema.misfits(&json!({ "b": null })).is_empty());
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        assert!(JsonSchema::new(&json!({ "type": 7 }), Draft::V2020_12).is_err());
    }
}
