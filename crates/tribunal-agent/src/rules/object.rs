//! A part of a rule in ast-grep's own form, kept as JSON text. Most of the built-in rules are for languages that a change does not hold,
//! and their parts are never looked into.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as DeError, MapAccess, Unexpected, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleObject(String);

impl RuleObject {
    pub fn json(&self) -> &str {
        &self.0
    }
}

impl From<&Value> for RuleObject {
    fn from(value: &Value) -> Self {
        Self(value.to_string())
    }
}

/// From an object, or from the text of one: the build script writes the built-in rules so.
impl<'de> Deserialize<'de> for RuleObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ObjectVisitor)
    }
}

/// The text of an object is taken over as it is.
struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = RuleObject;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object, as ast-grep takes it")
    }

    fn visit_str<E: DeError>(self, text: &str) -> Result<RuleObject, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: DeError>(self, text: String) -> Result<RuleObject, E> {
        match text.starts_with('{') {
            true => Ok(RuleObject(text)),
            false => Err(E::invalid_type(Unexpected::Str(&text), &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RuleObject, A::Error> {
        Value::deserialize(MapAccessDeserializer::new(map)).map(|value| RuleObject::from(&value))
    }
}

impl Serialize for RuleObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value: Value = serde_json::from_str(&self.0).map_err(S::Error::custom)?;
        value.serialize(serializer)
    }
}

impl JsonSchema for RuleObject {
    fn schema_name() -> Cow<'static, str> {
        Value::schema_name()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Value::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_object_and_its_text_are_the_same() {
        let object = json!({ "pattern": "a($B)", "not": { "kind": "string" } });
        let of_object: RuleObject = serde_json::from_value(object.clone()).unwrap();
        let of_text: RuleObject = serde_json::from_value(json!(object.to_string())).unwrap();
        assert_eq!(of_object, of_text);
        assert_eq!(serde_json::to_value(&of_text).unwrap(), object);
    }

    #[test]
    fn nothing_else_is_a_rule() {
        for wrong in [json!("a($B)"), json!(3), json!(["kind"]), json!(null)] {
            assert!(serde_json::from_value::<RuleObject>(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
