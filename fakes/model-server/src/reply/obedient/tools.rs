//! Orders turned into tool calls: which tool of the request does what, by the names that the agent CLIs give them.
//!
//! Where no tool of the kind is offered, a shell does the work if there is one; without either the order cannot be obeyed.

use super::Order;
use crate::asked::schema::conform;
use crate::asked::{Asked, Speaker, Tool};
use serde_json::{Map, Value, json};

const SHELL: &[&str] = &[
    "bash",
    "exec_command",
    "shell",
    "shell_command",
    "run_shell_command",
    "local_shell",
    "run_command",
    "execute",
    "run_in_terminal",
];
const READ: &[&str] = &["read", "read_file", "view", "view_file", "open_file", "str_replace_based_edit_tool"];
const WRITE: &[&str] = &["write", "write_file", "create", "create_file"];
const FETCH: &[&str] = &["webfetch", "web_fetch", "fetch", "fetch_url", "fetch_webpage"];

/// A call that obeys an order.
#[derive(Debug, Clone, PartialEq)]
pub struct Obeying {
    pub name: String,
    pub input: Value,
    /// The string in the input by which the call is known again.
    key: String,
}

impl Obeying {
    pub fn made(&self, asked: &Asked) -> bool {
        self.place(asked).is_some()
    }

    /// Made, and what came back reads like a refusal. Two wires carry no sign of it, so words must do; a wrong guess only costs a turn.
    fn failed(&self, asked: &Asked) -> bool {
        let Some(place) = self.place(asked) else { return false };
        let result = asked.blocks[place..].iter().find_map(|block| match block.from {
            Speaker::Result { error } => Some((error, block.text.chars().take(200).collect::<String>().to_lowercase())),
            Speaker::Definition | Speaker::System | Speaker::User | Speaker::Assistant | Speaker::Call { .. } => None,
        });
        let refused = ["error", "denied", "blocked", "rejected", "not allowed", "permission"];
        result.is_some_and(|(error, text)| error || refused.iter().any(|word| text.contains(word)))
    }

    fn place(&self, asked: &Asked) -> Option<usize> {
        asked.blocks.iter().position(|block| match &block.from {
            Speaker::Call { name, input } => *name == self.name && holds(input, &self.key),
            Speaker::Definition | Speaker::System | Speaker::User | Speaker::Assistant | Speaker::Result { .. } => false,
        })
    }
}

fn holds(value: &Value, key: &str) -> bool {
    match value {
        Value::String(text) => text == key || text.ends_with(key),
        Value::Array(items) => items.iter().any(|item| holds(item, key)),
        Value::Object(map) => map.values().any(|item| holds(item, key)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The call that obeys: by the tool made for it, and by the shell where there is none or where it was refused.
pub fn call(order: &Order, asked: &Asked) -> Option<Obeying> {
    let (tool, command) = match order {
        Order::Run(command) => (None, command.clone()),
        Order::Read(path) => {
            (offered(asked, READ).map(|tool| filled(tool, path, &[(PATHS, json!(path))])), format!("cat {path}"))
        }
        Order::Fetch(url) => {
            let given: [(&[&str], Value); 3] =
                [(&["url", "uri"], json!(url)), (&["urls"], json!([url])), (&["prompt"], json!(url))];
            (offered(asked, FETCH).map(|tool| filled(tool, url, &given)), format!("curl -sS {url}"))
        }
        Order::Write { path, content } => {
            let given: [(&[&str], Value); 2] =
                [(PATHS, json!(path)), (&["content", "file_text", "contents", "text"], json!(content))];
            (offered(asked, WRITE).map(|tool| filled(tool, path, &given)), format!("printf '%s' '{content}' > {path}"))
        }
        Order::Say(_) | Order::Approve | Order::Drop => return None,
    };
    match tool {
        Some(tool) if !tool.failed(asked) => Some(tool),
        refused => shell(asked, &command).or(refused),
    }
}

const PATHS: &[&str] = &["file_path", "filePath", "absolute_path", "path", "filename", "target_file"];

fn shell(asked: &Asked, command: &str) -> Option<Obeying> {
    let tool = offered(asked, SHELL)?;
    let is_list = tool.schema.pointer("/properties/command/type").is_some_and(|kind| kind == "array");
    let value = if is_list { json!(["bash", "-lc", command]) } else { json!(command) };
    Some(filled(tool, command, &[(&["command", "cmd"], value)]))
}

/// The first tool whose name is one of these, in any case; tools behind a server's prefix count by their last part.
fn offered<'a>(asked: &'a Asked, names: &[&str]) -> Option<&'a Tool> {
    let short = |tool: &Tool| tool.name.rsplit("__").next().unwrap_or_default().to_ascii_lowercase();
    names.iter().find_map(|name| asked.tools.iter().find(|tool| short(tool) == **name))
}

/// The tool's input: of each group of names the one its schema knows, and something harmless for whatever else is required.
fn filled(tool: &Tool, key: &str, given: &[(&[&str], Value)]) -> Obeying {
    let known = tool.schema.get("properties").and_then(Value::as_object);
    let mut input = Map::new();
    for (names, value) in given {
        let name = match known {
            Some(known) => names.iter().find(|name| known.contains_key(**name)),
            None => names.first(),
        };
        if let Some(name) = name {
            input.insert((*name).to_owned(), value.clone());
        }
    }
    for name in ["description", "explanation", "intention"] {
        if known.is_some_and(|known| known.contains_key(name)) {
            input.insert(name.to_owned(), json!("as told"));
        }
    }
    Obeying { name: tool.name.clone(), input: conform(Value::Object(input), &tool.schema), key: key.to_owned() }
}
