use super::*;
use schemars::schema_for;
use tribunal_core::findings::report::Report;

fn report() -> Value {
    schema_for!(Report).to_value()
}

fn every_node<'a>(schema: &'a Value, visit: &mut dyn FnMut(&'a Map<String, Value>)) {
    let Some(object) = schema.as_object() else { return };
    visit(object);
    object.get("items").into_iter().for_each(|items| every_node(items, visit));
    object.get("anyOf").and_then(Value::as_array).into_iter().flatten().for_each(|branch| every_node(branch, visit));
    object.get("properties").and_then(Value::as_object).into_iter().flatten().for_each(|(_, node)| every_node(node, visit));
}

/// field/agents.md B.1: the intersection of what the vendors take.
#[test]
fn the_report_is_in_the_portable_part() {
    let schema = strict(&report(), Bounds::Drop);
    assert_eq!(schema["type"], "object");
    let known = ["type", "enum", "description", "items", "anyOf", "properties", "required", "additionalProperties"];
    let mut unions = 0;
    every_node(&schema, &mut |node| {
        assert!(node.keys().all(|key| known.contains(&key.as_str())), "{node:?}");
        assert!(node.contains_key("type") || node.contains_key("anyOf"), "{node:?}");
        unions += usize::from(node.contains_key("anyOf") || node.get("type").is_some_and(Value::is_array));
        if let Some(properties) = node.get("properties").and_then(Value::as_object) {
            assert_eq!(node["additionalProperties"], false);
            assert_eq!(node["required"].as_array().unwrap().len(), properties.len());
        }
    });
    // Anthropic's compiler takes no more, and it answers 400 to a whole panel at once.
    assert!(unions <= 16, "{unions} properties of more than one type");
}

#[test]
fn the_report_s_parts_are_what_they_should_be() {
    let schema = strict(&report(), Bounds::Drop);
    let claim = &schema["properties"]["findings"]["items"]["properties"];
    assert_eq!(claim["blast"]["enum"][3], "cross-service");
    assert_eq!(claim["line_start"]["type"], json!(["integer", "null"]));
    assert_eq!(claim["evidence"]["type"], "string");
    assert_eq!(claim["questions"]["type"], "array");
    assert_eq!(claim["mitigation_out_of_scope"]["type"], json!(["boolean", "null"]));
    let signal = &claim["signal"]["anyOf"];
    assert_eq!(signal[0]["enum"][0], "hypothetical");
    assert!(signal[0]["description"].as_str().unwrap().contains("\"style\": (D) style without effect"), "{signal}");
    assert_eq!(signal[1], json!({"type": "null"}));
}

#[test]
fn bounds_stay_where_they_are_understood() {
    let id = |bounds| strict(&report(), bounds)["properties"]["prior"]["items"]["properties"]["id"]["pattern"].clone();
    assert_eq!(id(Bounds::Keep), "^F[0-9]+$");
    assert_eq!(id(Bounds::Drop), Value::Null);
}

#[test]
fn a_type_within_itself_ends() {
    let tree = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/T"}},
        "$defs": {"T": {"type": "object", "properties": {"next": {"$ref": "#/$defs/T"}}, "required": ["next"]}}});
    let made = strict(&tree, Bounds::Keep);
    assert_eq!(made["properties"]["next"]["anyOf"][0]["properties"]["next"], json!({}));
}

fn full_claim() -> Value {
    let schema = strict(&report(), Bounds::Drop);
    // The answer that a model held to the schema gives when it has nothing to say about what may be absent.
    let fields = schema["properties"]["findings"]["items"]["properties"].as_object().unwrap();
    let mut claim: Map<String, Value> = fields
        .iter()
        .map(|(name, node)| {
            let empty = if takes_null(node) {
                Value::Null
            } else if node["type"] == "array" {
                json!([])
            } else {
                node["enum"].get(0).cloned().unwrap_or_else(|| "src/a.rs".into())
            };
            (name.clone(), empty)
        })
        .collect();
    claim.insert("category".into(), "S1".into());
    Value::Object(claim)
}

/// What the strict schema allows, the types read.
#[test]
fn nulls_are_read_as_absent() {
    let answer = json!({"findings": [full_claim()], "not_applicable": null, "checked_clean": [], "prior": [],
        "missing_prerequisites": [], "unread": []});
    let value = validate(&report(), &answer.to_string()).unwrap();
    let read: Report = serde_json::from_value(value).unwrap();
    assert_eq!(read.findings[0].line_start, None);
    assert!(!read.findings[0].mitigation_out_of_scope);
}

#[test]
fn what_stands_around_the_answer_is_dropped() {
    let empty = r#"{"findings": []}"#;
    for text in [
        empty.to_owned(),
        format!(" \n{empty}\n"),
        format!("```json\n{empty}\n```"),
        format!("```\n{empty}\n```\n"),
        format!("```JSON\n{empty}```"),
        format!("Here it is:\n```json\n{empty}\n```"),
        format!("```json\n{empty}\n``` done"),
        format!("{empty} {empty}"),
    ] {
        assert!(validate(&report(), &text).is_ok(), "{text}");
    }
    assert!(validate(&report(), "").unwrap_err().contains("not one JSON value"));
    let two = format!("{empty} {}", r#"{"findings": [], "missing_prerequisites": ["a key"]}"#);
    assert!(validate(&report(), &two).unwrap_err().contains("2 different JSON objects"));
    // The reason is that of the object, and not that of the prose.
    assert!(validate(&report(), "Here: {\"found\": []}").unwrap_err().contains("found"));
}

#[test]
fn problems_name_their_place() {
    let claim = json!({"category": 7, "file": "a", "confidence": "sure", "blast": "local"});
    let problem = validate(&report(), &json!({"findings": [claim]}).to_string()).unwrap_err();
    assert!(problem.contains("- /findings/0/confidence: "), "{problem}");
    assert!(problem.contains("missing properties 'failure_mode'"), "{problem}");
    let problem = validate(&report(), &json!({"a": 1, "findings": [1, 2, 3, 4]}).to_string()).unwrap_err();
    assert_eq!(problem.lines().count(), SHOWN_AND_MORE, "{problem}");
    assert!(validate(&report(), "[]").unwrap_err().starts_with("- the whole answer: "));
}

const SHOWN_AND_MORE: usize = 4;
