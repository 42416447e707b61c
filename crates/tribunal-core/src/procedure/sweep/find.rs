//! Which pull requests a target means (SL-28), and which spec a description names (SL-27).

use super::request::Target;
use crate::library::named;
use crate::plan::links::closes;
use crate::publish::visible::visible_line;
use crate::pull::facts::{Issue, Permission, Pull};
use crate::pull::told::Told;
use std::collections::BTreeSet;

/// Is this one meant? `issues` are those of the spec, where the target is one.
pub fn is_meant(target: &Target, pull: &Pull, issues: &BTreeSet<u64>) -> bool {
    match target {
        Target::Numbers(numbers) => numbers.contains(&pull.number),
        Target::One(number) => *number == pull.number,
        Target::Open => true,
        Target::Label(label) => pull.labels.iter().any(|own| own.eq_ignore_ascii_case(label)),
        Target::Search(words) => holds_all(pull, words),
        Target::Spec(spec) => {
            let of_branch = branch_numbers(&pull.head.branch);
            let closed = closes(&pull.body);
            names(&pull.body, spec) || names(&pull.title, spec) || of_branch.chain(closed).any(|number| issues.contains(&number))
        }
    }
}

/// Why a pull request that a target means is not drawn into the sweep, if it is not. Anybody can name a spec, and on some forges
/// anybody can set a label: so what comes from elsewhere, or from somebody who may not write here, is swept only by its number.
pub fn not_drawn(target: &Target, pull: &Pull, author: &Told<Permission>) -> Option<String> {
    match target {
        Target::Numbers(_) | Target::One(_) | Target::Open => return None,
        Target::Spec(_) | Target::Label(_) | Target::Search(_) => {}
    }
    let login = visible_line(&pull.author.login);
    let why = match author {
        _ if pull.is_fork => "it comes from another repository".to_owned(),
        Told::Is(permission) if permission.may_write() => return None,
        Told::Is(_) => format!("{login}, who wrote it, has no right to write"),
        Told::Unknown(because) => format!("whether {login}, who wrote it, may write could not be read ({because})"),
    };
    Some(format!("left out: {why}; name it by its number to sweep it"))
}

/// The issues that belong to a spec: those that name it. A search finds more than was asked for.
pub fn issues_of<'a>(spec: &str, issues: impl IntoIterator<Item = &'a Issue>) -> BTreeSet<u64> {
    let named = |issue: &&Issue| names(&issue.title, spec) || names(&issue.body, spec);
    issues.into_iter().filter(named).map(|issue| issue.number).collect()
}

/// The numbers in the name of a branch: `feature/42-login`, `issue-42`.
fn branch_numbers(branch: &str) -> impl Iterator<Item = u64> {
    branch.split(|c: char| !c.is_ascii_alphanumeric()).filter_map(|part| part.parse().ok())
}

fn holds_all(pull: &Pull, words: &str) -> bool {
    let text = format!("{}\n{}\n{}\n{}", pull.title, pull.body, pull.head.branch, pull.author.login).to_lowercase();
    words.to_lowercase().split_whitespace().all(|word| text.contains(word))
}

/// Why nobody can hold a change against what an issue asks for, if that is so (SL-50, SL-140): a section of any level called
/// `Acceptance Criteria` or `Requirements` is missing, or something in the issue is left to be said.
pub fn ambiguity(issue: &str) -> Option<String> {
    let is_heading = |line: &&str| {
        let words = line.trim_start_matches('#').trim().trim_end_matches(':').to_lowercase();
        line.starts_with('#') && matches!(words.as_str(), "acceptance criteria" | "requirements")
    };
    let open = |line: &&str| line.split(|c: char| !c.is_alphanumeric()).any(|word| matches!(word, "TBD" | "TODO"));
    if issue.lines().find(is_heading).is_none() {
        return Some("it has no section `Acceptance Criteria` or `Requirements`".to_owned());
    }
    issue.lines().find(open).map(|line| format!("something is left to be said: {}", line.trim()))
}

/// Does a text name this id, and not a longer one?
fn names(text: &str, id: &str) -> bool {
    let (text, id) = (text.to_ascii_uppercase(), id.to_ascii_uppercase());
    let part_of_a_word = |c: char| c.is_alphanumeric() || c == '_';
    !id.is_empty()
        && text.match_indices(&id).any(|(at, found)| {
            let before = text[..at].chars().next_back().is_some_and(part_of_a_word);
            let after = text[at + found.len()..].chars().next().is_some_and(part_of_a_word);
            !before && !after
        })
}

/// The spec that a text names first: `SPEC-` and four digits.
pub fn spec_in(text: &str) -> Option<String> {
    named::ids(text, "SPEC").into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::samples::{Stage, person};

    fn pull(title: &str, body: &str, branch: &str) -> Pull {
        let mut pull = Stage::new().pull;
        (pull.title, pull.body, pull.head.branch) = (title.into(), body.into(), branch.into());
        pull
    }

    fn meant(target: &Target, pull: &Pull) -> bool {
        is_meant(target, pull, &BTreeSet::from([42]))
    }

    /// SL-28: by the branch of an issue of the spec, or by the name of the spec; never by a part of a name.
    #[test]
    fn a_spec_means_its_pull_requests() {
        let spec = Target::Spec("SPEC-0012".into());
        assert!(meant(&spec, &pull("Login", "For SPEC-0012.", "x")));
        assert!(meant(&spec, &pull("spec-0012: login", "", "x")));
        assert!(meant(&spec, &pull("Login", "", "feature/42-login")));
        assert!(meant(&spec, &pull("Login", "Fixes #42", "x")));
        assert!(!meant(&spec, &pull("Login", "For SPEC-00121 and ASPEC-0012", "feature/421-login")));
    }

    /// Issue 16, A3: a spec, a label or words never draw a fork or somebody's change who may not write; a number does.
    #[test]
    fn only_a_number_draws_a_strangers_change() {
        let (mut one, write) = (pull("Login", "For SPEC-0012.", "x"), Told::Is(Permission::Write));
        let drawing = [Target::Spec("SPEC-0012".into()), Target::Label("ready".into()), Target::Search("login".into())];
        for target in &drawing {
            assert_eq!(not_drawn(target, &one, &write), None);
            for author in [Told::Is(Permission::None), Told::Is(Permission::Triage), Told::Unknown("HTTP 403".into())] {
                assert!(not_drawn(target, &one, &author).unwrap().contains("by its number"), "{author:?}");
            }
        }
        one.is_fork = true;
        assert!(drawing.iter().all(|target| not_drawn(target, &one, &write).is_some()));
        for target in [Target::Numbers([7].into()), Target::One(7), Target::Open] {
            assert_eq!(not_drawn(&target, &one, &Told::Is(Permission::None)), None);
        }
    }

    #[test]
    fn labels_words_and_numbers() {
        let mut one = pull("Read settings", "From a FILE", "settings");
        one.labels = vec!["Ready".into()];
        one.number = 7;
        assert!(meant(&Target::Label("ready".into()), &one) && !meant(&Target::Label("read".into()), &one));
        assert!(meant(&Target::Search("file read".into()), &one) && !meant(&Target::Search("file write".into()), &one));
        assert!(meant(&Target::Numbers([7].into()), &one) && !meant(&Target::Numbers([8].into()), &one));
        assert!(meant(&Target::One(7), &one) && meant(&Target::Open, &one));
    }

    #[test]
    fn issues_name_their_spec() {
        let issue = |number, title: &str, body: &str| Issue {
            number,
            title: title.into(),
            body: body.into(),
            author: person("ann"),
            open: true,
            labels: vec![],
            url: String::new(),
            assignees: vec![],
            created_at: String::new(),
            updated_at: String::new(),
            closed_at: None,
        };
        let all = [issue(1, "SPEC-0012: one", ""), issue(2, "two", "see SPEC-0012"), issue(3, "SPEC-0013", "")];
        assert_eq!(issues_of("SPEC-0012", &all), [1, 2].into());
    }

    /// SL-50, SL-140: any level of heading; what is left open is named.
    #[test]
    fn unclear_criteria_are_told() {
        assert_eq!(ambiguity("### Acceptance Criteria\n- one"), None);
        assert_eq!(ambiguity("# Requirements:\n- one"), None);
        assert!(ambiguity("Please do it").is_some());
        assert_eq!(ambiguity("## Requirements\n- TBD"), Some("something is left to be said: - TBD".into()));
    }

    /// SL-27: recognised in the description.
    #[test]
    fn a_description_names_its_spec() {
        assert_eq!(spec_in("Part of #3, for spec-0007."), Some("SPEC-0007".into()));
        for none in ["SPEC-12", "SPEC-00123", "XSPEC-0012", "", "spécSPEC-é123"] {
            assert_eq!(spec_in(none), None, "{none}");
        }
    }
}
