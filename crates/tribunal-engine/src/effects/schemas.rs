//! The JSON schemas of answers, made from the types that read them.

use schemars::schema_for;
use serde_json::Value;
use tribunal_core::combine::opinion::Opinions;
use tribunal_core::findings::report::Report;

pub fn report() -> Value {
    schema_for!(Report).to_value()
}

pub fn opinions() -> Value {
    schema_for!(Opinions).to_value()
}
