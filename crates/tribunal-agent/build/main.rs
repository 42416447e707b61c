//! Collects `rules/**/*.yml` into one table, so that the binary carries its rules and needs no file at run time. Each is there
//! twice: as its author wrote it, and as JSON, which is read ten times faster at every start. The JSON has no examples, which no
//! review needs, and its regular expressions are the quicker ones of `ascii_regex`. What stands in `rules/flow` is no rule but what the flow
//! rules of a language share.

mod ascii_regex;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let rules = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../rules");
    println!("cargo:rerun-if-changed={}", rules.display());
    let mut files = Vec::new();
    collect(&rules, &mut files)?;
    files.sort();
    let mut table = String::from("pub const BUILT_IN: &[(&str, &str, &str)] = &[\n");
    let mut flow_tables = String::from("const FLOW_TABLES: &[(&str, &str)] = &[\n");
    for file in files {
        println!("cargo:rerun-if-changed={}", file.display());
        let name = file.strip_prefix(&rules).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        let path = fs::canonicalize(&file)?;
        let text = fs::read_to_string(&path)?;
        let mut value: serde_json::Value =
            serde_saphyr::from_str(&text).map_err(|error| io::Error::other(format!("{name}: {error}")))?;
        if let Some(name) = name.strip_prefix("flow/") {
            let _ = writeln!(flow_tables, "    ({name:?}, {:?}),", value.to_string());
            continue;
        }
        value["examples"] = serde_json::json!({ "bad": [], "good": [] });
        ascii_regex::rewrite(&mut value);
        keep_unread(&mut value);
        let _ = writeln!(table, "    ({name:?}, include_str!({:?}), {:?}),", path.to_string_lossy(), value.to_string());
    }
    table.push_str("];\n");
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
