//! Several sources, one configuration: each layer is checked by itself, so that an error points at its own line; then the later
//! one wins, key by key, and the winner's source is remembered for `tribunal config show`.

use super::admission::{NOT_TRUSTED_KIND, NotTrusted, leaves, line_of, remove, strings};
use super::config::Config;
use super::key_class::{KeyClass, class_of};
use super::linter;
use super::passed_variables::{check_passed_variables, refused_variable};
use crate::ids::AgentName;
use std::collections::BTreeMap;
use toml::{Table, Value};

/// One source of configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// As a person would name it: a path, `environment`, `flags`.
    pub source: String,
    pub table: Table,
    /// What the person did not trust and [`super::admission`] took out.
    pub not_trusted: Vec<NotTrusted>,
    /// It is a repository's file, which speaks for others than the person.
    pub is_of_repository: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerError {
    pub source: String,
    /// 1-based.
    pub line: Option<usize>,
    pub problem: String,
    pub help: Option<String>,
}

impl std::fmt::Display for LayerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.source, self.problem),
            None => write!(f, "{}: {}", self.source, self.problem),
        }
    }
}

impl std::error::Error for LayerError {}

/// Reads one file of the person's own, or the part of another one that needs no trust ([`super::admission`]). Unknown keys, wrong types
/// and variables that no agent may be given are refused here, with the line and, where one is near, the key that was meant.
pub fn read_layer(source: &str, text: &str) -> Result<Layer, LayerError> {
    let fail = |error: toml::de::Error| {
        let problem = error.message().to_owned();
        LayerError {
            source: source.to_owned(),
            line: error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1),
            help: suggestion(&problem),
            problem: problem.split(", expected").next().unwrap_or(&problem).to_owned(),
        }
    };
    let _: Config = toml::from_str(text).map_err(fail)?;
    let table: Table = toml::from_str(text).map_err(fail)?;
    check_leaves(source, text, &table)?;
    Ok(Layer { source: source.to_owned(), table, not_trusted: Vec::new(), is_of_repository: false })
}

fn check_leaves(source: &str, text: &str, table: &Table) -> Result<(), LayerError> {
    for leaf in leaves(table) {
        let fail = |value: &str, problem: String, help: &str| LayerError {
            source: source.to_owned(),
            line: line_of(text, value),
            problem,
            help: Some(help.to_owned()),
        };
        let key = leaf.path.join(".");
        if leaf.path.len() == 3
            && leaf.path[0] == "agents"
            && leaf.value.as_str() == Some(NOT_TRUSTED_KIND)
            && key.ends_with(".kind")
        {
            return Err(fail(
                NOT_TRUSTED_KIND,
                format!("{key}: unknown kind `{NOT_TRUSTED_KIND}`"),
                "docs/agents.md lists the kinds",
            ));
        }
        if class_of(&leaf.path) == KeyClass::Variable {
            for name in strings(&leaf.value) {
                if let Some(why) = refused_variable(name) {
                    let problem = format!("{key} names `{name}`, which is passed on to no agent: {why}");
                    return Err(fail(name, problem, "take it out of the list"));
                }
            }
        }
    }
    Ok(())
}

/// serde says ``unknown field `x`, expected one of `a`, `b` ``; the nearest of those is what was meant.
fn suggestion(problem: &str) -> Option<String> {
    let mut quoted = problem.split('`').skip(1).step_by(2);
    if !problem.starts_with("unknown field") && !problem.starts_with("unknown variant") {
        return None;
    }
    let typed = quoted.next()?;
    let known: Vec<&str> = quoted.collect();
    let nearest = known.iter().min_by_key(|name| distance(typed, name))?;
    if distance(typed, nearest) <= typed.len().div_ceil(3).max(1) {
        Some(format!("did you mean `{nearest}`?"))
    } else {
        Some(format!("known here: {}", known.join(", ")))
    }
}

/// Edit distance with transpositions, which are what fingers do.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let swap = if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    rows[i - 2][j - 2] + 1
                } else {
                    usize::MAX
                };
                (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1])).min(swap)
            };
        }
    }
    rows[a.len()][b.len()]
}

/// `TRIBUNAL__REVIEW__FAIL_LEVEL=P1` and the like. Values are TOML where they parse, else plain strings.
pub fn environment_layer(variables: impl Iterator<Item = (String, String)>) -> Result<Layer, LayerError> {
    let mut table = Table::new();
    let mut variables: Vec<_> =
        variables.filter_map(|(name, value)| Some((name.strip_prefix("TRIBUNAL__")?.to_owned(), value))).collect();
    variables.sort();
    for (name, value) in variables {
        let keys: Vec<String> = name.split("__").map(str::to_ascii_lowercase).collect();
        let value = toml::from_str::<Table>(&format!("v = {value}"))
            .ok()
            .and_then(|mut table| table.remove("v"))
            .unwrap_or(Value::String(value));
        insert(&mut table, &keys, value);
    }
    let text = table.to_string();
    let layer = read_layer("environment", &text).map_err(|error| LayerError { line: None, ..error })?;
    Ok(layer)
}

fn insert(table: &mut Table, keys: &[String], value: Value) {
    match keys {
        [] => {}
        [last] => {
            table.insert(last.clone(), value);
        }
        [first, rest @ ..] => {
            let inner = table.entry(first.clone()).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

#[derive(Debug, Clone)]
pub struct Merged {
    pub config: Config,
    /// Dotted key → the source whose value won, and the value.
    pub origins: BTreeMap<String, (String, Value)>,
    /// What a reader should know before anything is said: what does not count, and how it would.
    pub notices: Vec<String>,
}

pub fn merge_layers(layers: &[Layer]) -> Result<Merged, LayerError> {
    let mut table = Table::new();
    let mut origins = BTreeMap::new();
    let mut tables: Vec<Table> = Vec::new();
    for layer in layers {
        let mut of_layer = layer.table.clone();
        if layer.is_of_repository {
            remove_raised_limits(&mut of_layer, &table);
        } else {
            linter::write_out_over(&mut of_layer, &table);
        }
        overlay(&mut table, &of_layer, "", &layer.source, &mut origins);
        tables.push(of_layer);
    }
    let mut config = Config::deserialize_table(table)?;
    check_passed_variables(&config).map_err(|problem| LayerError {
        source: "configuration".into(),
        line: None,
        problem,
        help: None,
    })?;
    let is_of_repository = |name: &AgentName| {
        let path = ["agents".to_owned(), name.to_string()];
        let last = layers.iter().zip(&tables).rev().find(|(_, table)| value_at(table, &path).is_some());
        last.is_some_and(|(layer, _)| layer.is_of_repository)
    };
    config.agents_of_repository = config.agents.keys().filter(|name| is_of_repository(name)).cloned().collect();
    let mut notices = Vec::new();
    for (number, layer) in layers.iter().enumerate() {
        // Whoever sets the same thing above speaks for the person.
        let above = &tables[number + 1..];
        let stands = |refused: &&NotTrusted| !above.iter().any(|table| value_at(table, refused.item.path()).is_some());
        let refused: Vec<&NotTrusted> = layer.not_trusted.iter().filter(stands).collect();
        for NotTrusted { item, why, .. } in &refused {
            config.not_trusted.insert(item.name(), why.clone());
            let shown = Value::String(format!("(not in force) {}", item.lines().join(", ")));
            origins.insert(item.name(), (format!("{}, not trusted", layer.source), shown));
        }
        if let Some(first) = refused.first() {
            let names: Vec<String> = refused.iter().map(|refused| refused.item.name()).collect();
            notices.push(format!(
                "Not trusted, and so not in force: {} of {}. It names programs, variables, keys, hosts or prices; look at it and trust it with: {}",
                names.join(", "),
                layer.source,
                first.remedy
            ));
        }
    }
    Ok(Merged { config, origins, notices })
}

/// Limits of spending that the layers below set lower.
fn remove_raised_limits(of_layer: &mut Table, below: &Table) {
    let number = |value: &Value| value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
    for leaf in leaves(of_layer).into_iter().filter(|leaf| class_of(&leaf.path) == KeyClass::Limit) {
        if let (Some(new), Some(old)) = (number(&leaf.value), value_at(below, &leaf.path).and_then(number))
            && new > old
        {
            remove(of_layer, &leaf.path);
        }
    }
}

fn value_at<'a>(table: &'a Table, path: &[String]) -> Option<&'a Value> {
    match path {
        [] => None,
        [last] => table.get(last),
        [first, rest @ ..] => value_at(table.get(first)?.as_table()?, rest),
    }
}

fn overlay(into: &mut Table, from: &Table, prefix: &str, source: &str, origins: &mut BTreeMap<String, (String, Value)>) {
    for (key, value) in from {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match (into.get_mut(key), value) {
            // An agent is replaced as a whole: half of one and half of another is neither.
            (Some(Value::Table(inner)), Value::Table(value)) if prefix != "agents" => {
                overlay(inner, value, &path, source, origins)
            }
            (_, Value::Table(value)) if prefix != "agents" => {
                let mut inner = Table::new();
                overlay(&mut inner, value, &path, source, origins);
                into.insert(key.clone(), Value::Table(inner));
            }
            (before, _) => {
                let value = match (before, value) {
                    (Some(Value::Array(before)), Value::Array(more)) if adds(source, &path) => {
                        Value::Array(before.iter().chain(more).cloned().collect())
                    }
                    _ => value.clone(),
                };
                into.insert(key.clone(), value.clone());
                origins.insert(path, (source.to_owned(), value));
            }
        }
    }
}

/// What was typed for one run.
pub const FLAGS: &str = "flags";

/// `--skip` leaves more out; it never brings back what the configuration leaves out.
fn adds(source: &str, path: &str) -> bool {
    source == FLAGS && path == "files.skip"
}

impl Config {
    fn deserialize_table(table: Table) -> Result<Config, LayerError> {
        table.try_into().map_err(|error: toml::de::Error| LayerError {
            source: "configuration".into(),
            line: None,
            problem: error.message().to_owned(),
            help: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::combine::verdict::FailLevel;

    #[test]
    fn an_unknown_key_points_at_its_line_and_at_what_was_meant() {
        let error = read_layer(".tribunal.toml", "[review]\n\nfail_levle = 'P1'\n").unwrap_err();
        assert_eq!(error.line, Some(3));
        assert_eq!(error.help.as_deref(), Some("did you mean `fail_level`?"));
        assert_eq!(error.to_string(), ".tribunal.toml:3: unknown field `fail_levle`");
    }

    #[test]
    fn later_layers_win_key_by_key_and_are_remembered() {
        let base = read_layer("repo", "[review]\nfail_level='P1'\nbase='main'").unwrap();
        let over = read_layer("person", "[review]\nfail_level='P2'").unwrap();
        let merged = merge_layers(&[base, over]).unwrap();
        assert_eq!(merged.config.review.fail_level, Some(FailLevel::P2));
        assert_eq!(merged.config.review.base.as_deref(), Some("main"));
        assert_eq!(merged.origins["review.fail_level"].0, "person");
        assert_eq!(merged.origins["review.base"].0, "repo");
    }

    #[test]
    fn a_flag_skips_more_and_nothing_less() {
        let base = read_layer("repo", "[files]\nskip=['a']\nreview=['x']").unwrap();
        let over = read_layer("person", "[files]\nskip=['b']").unwrap();
        let flags = read_layer(FLAGS, "files.skip=['c']").unwrap();
        let merged = merge_layers(&[base, over, flags]).unwrap();
        assert_eq!(merged.config.files.skip, Some(vec!["b".into(), "c".into()]));
        assert_eq!(merged.config.files.review, Some(vec!["x".into()]));
    }

    #[test]
    fn the_environment_spells_keys_with_double_underscores() {
        let layer = environment_layer(
            [
                ("TRIBUNAL__REVIEW__FAIL_LEVEL".to_owned(), "P1".to_owned()),
                ("TRIBUNAL__FILES__MAX_BYTES".to_owned(), "10".to_owned()),
            ]
            .into_iter(),
        )
        .unwrap();
        let merged = merge_layers(&[layer]).unwrap();
        assert_eq!(merged.config.review.fail_level, Some(FailLevel::P1));
        assert_eq!(merged.config.files.max_bytes, Some(10));
        assert!(environment_layer([("TRIBUNAL__REVEW__X".to_owned(), "1".to_owned())].into_iter()).is_err());
    }
}
