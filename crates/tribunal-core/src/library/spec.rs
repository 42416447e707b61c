//! The spec that a change is held against: its two files, the decisions they name, and the criteria of the linked issue (SL-24, SL-27,
//! SL-50).

use super::named;
use crate::ids::RepoPath;

/// The files of one spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecFiles {
    pub spec: RepoPath,
    pub design: RepoPath,
}

/// What a change is to be held against cannot be had whole, and nothing is held against a half.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecTrouble {
    #[error("{id} is only half there: {there} has no {missing} beside it")]
    Half { id: String, there: RepoPath, missing: &'static str },
    #[error("{id} is there twice: {one} and {other}")]
    Twice { id: String, one: RepoPath, other: RepoPath },
}

/// The files of a spec among those of the folders for specs, by what each says of itself. Nothing where no file claims the id.
pub fn find(id: &str, files: &[(RepoPath, String)]) -> Result<Option<SpecFiles>, SpecTrouble> {
    let is = |path: &RepoPath, name: &str| path.file_name().eq_ignore_ascii_case(name);
    let claims = |path: &RepoPath, text: &str| {
        // Its own id stands in its path or comes first in its text; others may be named further down.
        let in_path = named::ids(path.as_str(), "SPEC");
        let own = if in_path.is_empty() { named::ids(text, "SPEC") } else { in_path };
        own.first().is_some_and(|first| first.eq_ignore_ascii_case(id))
    };
    let beside = |path: &RepoPath, name: &str| {
        let folder = path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
        files
            .iter()
            .map(|(path, _)| path)
            .find(|other| is(other, name) && other.as_str().rsplit_once('/').map_or("", |(folder, _)| folder) == folder)
    };
    let mut specs = files.iter().filter(|(path, text)| is(path, "spec.md") && claims(path, text)).map(|(path, _)| path);
    let (first, second) = (specs.next(), specs.next());
    if let (Some(one), Some(other)) = (first, second) {
        return Err(SpecTrouble::Twice { id: id.to_owned(), one: one.clone(), other: other.clone() });
    }
    let half = |there: &RepoPath, missing| Err(SpecTrouble::Half { id: id.to_owned(), there: there.clone(), missing });
    match first {
        Some(spec) => match beside(spec, "design.md") {
            Some(design) => Ok(Some(SpecFiles { spec: spec.clone(), design: design.clone() })),
            None => half(spec, "design.md"),
        },
        None => {
            let lone = files
                .iter()
                .find(|(path, text)| is(path, "design.md") && claims(path, text) && beside(path, "spec.md").is_none());
            lone.map_or(Ok(None), |(path, _)| half(path, "spec.md"))
        }
    }
}

/// One text that counts, with what it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub name: String,
    pub text: String,
}

/// More than this of one text, or of all together, is left out and said so.
const MOST_OF_ONE: usize = 40_000;
const MOST: usize = 120_000;

/// Everything that a change is held against, as one text. The first sources are the ones that must not be missing.
pub fn architecture(sources: &[Source]) -> Option<String> {
    let mut text = String::new();
    for source in sources.iter().filter(|source| !source.text.trim().is_empty()) {
        let room = MOST.saturating_sub(text.len()).min(MOST_OF_ONE);
        if room < 200 {
            text.push_str(&format!("\n\n[{} is left out: what came before is long enough]", source.name));
            continue;
        }
        let (kept, cut) = at_most(source.text.trim(), room);
        let cut = if cut { "\n[the rest of it is left out]" } else { "" };
        text.push_str(&format!("\n\n=== {} ===\n{kept}{cut}", source.name));
    }
    let text = text.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// The decisions that the texts of a spec name, as they come.
pub fn decisions_named(texts: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for id in texts.iter().flat_map(|text| named::ids(text, "ADR")) {
        if !found.contains(&id) {
            found.push(id);
        }
    }
    found
}

fn at_most(text: &str, bytes: usize) -> (&str, bool) {
    if text.len() <= bytes {
        return (text, false);
    }
    let end = (0..=bytes).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    (&text[..end], true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(entries: &[(&str, &str)]) -> Vec<(RepoPath, String)> {
        entries.iter().map(|(path, text)| (RepoPath::from(*path), (*text).to_owned())).collect()
    }

    /// SL-24: both files, or an error that names the missing one.
    #[test]
    fn half_a_spec_is_refused() {
        let both = files(&[("specs/login/spec.md", "# SPEC-0004 Login"), ("specs/login/design.md", "How, after SPEC-0002")]);
        assert_eq!(find("SPEC-0004", &both).unwrap().unwrap().design, RepoPath::from("specs/login/design.md"));
        let no_design = files(&[("specs/login/spec.md", "# SPEC-0004 Login"), ("specs/design.md", "other")]);
        assert_eq!(
            find("SPEC-0004", &no_design).unwrap_err().to_string(),
            "SPEC-0004 is only half there: specs/login/spec.md has no design.md beside it"
        );
        let no_spec = files(&[("specs/SPEC-0004/design.md", "How")]);
        assert!(find("SPEC-0004", &no_spec).unwrap_err().to_string().contains("no spec.md"));
        let twice = files(&[("specs/a/spec.md", "SPEC-0004"), ("specs/b/spec.md", "SPEC-0004")]);
        assert!(find("SPEC-0004", &twice).unwrap_err().to_string().contains("there twice"));
    }

    #[test]
    fn a_spec_that_only_names_another_is_not_it() {
        let other = files(&[("specs/a/spec.md", "# SPEC-0001\n\nFollows SPEC-0004"), ("specs/a/design.md", "x")]);
        assert_eq!(find("SPEC-0004", &other), Ok(None));
        assert_eq!(find("SPEC-0004", &[]), Ok(None));
    }

    /// SL-27: the decisions that spec and design name come with them.
    #[test]
    fn what_a_spec_names_is_read_too() {
        assert_eq!(decisions_named(&["by ADR-0003", "ADR-0001, adr-0003"]), ["ADR-0003", "ADR-0001"]);
    }

    #[test]
    fn what_is_too_long_is_cut_and_said() {
        let source = |name: &str, bytes: usize| Source { name: name.into(), text: "ä".repeat(bytes / 2) };
        let text = architecture(&[source("a", 50_000), source("b", 45_000), source("c", 50_000), source("d", 10)]).unwrap();
        assert!(text.len() < MOST + 500 && text.contains("[the rest of it is left out]") && text.contains("[d is left out"));
        assert_eq!(architecture(&[source("a", 0)]), None);
    }
}
