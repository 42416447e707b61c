//! Regular expressions of rules, with `\w`, `\d`, `\s` and `\b` taken as ASCII. The code that rules look for is written so, and a class of
//! all letters of the world takes a thousand times as long to compile.

use serde_json::Value;

/// Rewrites every `regex` of a rule.
pub fn rewrite(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(pattern) if name == "regex" => *pattern = ascii(pattern),
                    other => rewrite(other),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(rewrite),
        _ => {}
    }
}

fn ascii(pattern: &str) -> String {
    let mut written = String::new();
    let mut in_class = 0_usize;
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            match character {
                '[' => in_class += 1,
                ']' => in_class = in_class.saturating_sub(1),
                _ => {}
            }
            written.push(character);
            continue;
        }
        let class = match characters.next() {
            Some('w') => "0-9A-Za-z_",
            Some('d') => "0-9",
            Some('s') => r"\t\n\x0B\x0C\r\x20",
            Some('b') if in_class == 0 => {
                written.push_str(r"(?-u:\b)");
                continue;
            }
            other => {
                written.push('\\');
                written.extend(other);
                continue;
            }
        };
        match in_class {
            0 => written.push_str(&format!("[{class}]")),
            _ => written.push_str(class),
        }
    }
    written
}
