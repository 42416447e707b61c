//! Collects `rules/**/*.yml` into one table, so that the binary carries its rules and needs no file at run time. Each is there
//! twice: as its author wrote it, and as JSON, which is read ten times faster at every start. The JSON has no examples, which no
//! review needs, its regular expressions are the quicker ones of `ascii_regex`, and beside it stand the words of `needs`. What stands in `rules/flow` is no rule but what the flow
//! rules of a language share.

mod ascii_regex;
mod needs;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let rules = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../rules");
    println!("cargo:rerun-if-changed={}", rules.display());
    let mut files = Vec::new();
    collect(&rules, &mut files)?;
    files.sort();
    let mut table = String::from("pub static BUILT_IN: &[BuiltIn] = &[\n");
    let mut hash = Hash::default();
    let mut flow_tables = String::from("const FLOW_TABLES: &[(&str, &str)] = &[\n");
    for file in files {
        println!("cargo:rerun-if-changed={}", file.display());
        let name = file.strip_prefix(&rules).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        let path = fs::canonicalize(&file)?;
        let text = fs::read_to_string(&path)?;
        let mut value: serde_json::Value =
            serde_saphyr::from_str(&text).map_err(|error| io::Error::other(format!("{name}: {error}")))?;
        hash.add(&name);
        hash.add(&text);
        if let Some(name) = name.strip_prefix("flow/") {
            let _ = writeln!(flow_tables, "    ({name:?}, {:?}),", value.to_string());
            continue;
        }
        value["examples"] = serde_json::json!({ "bad": [], "good": [] });
        ascii_regex::rewrite(&mut value);
        let needs = value.get("rule").map(|rule| needs::of(rule, value.get("utils"))).unwrap_or_default();
        keep_unread(&mut value);
        let groups: Vec<String> = needs.iter().map(|group| format!("&{group:?}")).collect();
        let _ = writeln!(
            table,
            "    BuiltIn {{ name: {name:?}, text: include_str!({:?}), json: {:?}, needs: &[{}] }},",
            path.to_string_lossy(),
            value.to_string(),
            groups.join(", ")
        );
    }
    let _ = writeln!(
        table,
        "];\n/// Of the names and texts of all rule files, those of the flow rules' tables included.\npub const BUILT_IN_HASH: &str = \"{:016x}\";",
        hash.0
    );
    flow_tables.push_str("];\n");
    let out = PathBuf::from(env::var("OUT_DIR").unwrap_or_default());
    fs::write(out.join("built_in_flow_tables.rs"), flow_tables)?;
    fs::write(out.join("built_in_rules.rs"), table)
}

/// Turns the parts in ast-grep's form into text, which is read when the first file of a rule's language turns up.
fn keep_unread(value: &mut serde_json::Value) {
    for name in ["rule", "constraints", "utils", "transform"] {
        if let Some(part) = value.get_mut(name) {
            *part = part.to_string().into();
        }
    }
    value.get_mut("fixes").and_then(serde_json::Value::as_array_mut).into_iter().flatten().for_each(keep_unread);
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            println!("cargo:rerun-if-changed={}", path.display());
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "yml") {
            files.push(path);
        }
    }
    Ok(())
}

/// FNV-1a: it tells one set of rules from another one, and keeps nothing from anybody.
struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Hash(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
