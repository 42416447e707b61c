//! Findings that somebody has waved away. A word of the change's own author silences a finding but never clears it: one comment must
//! not be able to pass a P0 (PR-132, CF-7). A word of anybody else with write access does.

use super::finding::Finding;
use crate::ids::{FindingId, FindingKey};
use crate::pull::command::{Command, commands};
use crate::pull::facts::{Account, Permission};
use crate::pull::place::ForgeKind;
use crate::pull::talk::{Comment, Thread};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A dismissal as it was given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dismissal {
    pub id: FindingId,
    pub dismissed: Dismissed,
    /// The finding as it was then, by which it is known again when it has another key. A word in a comment names it alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<Box<Finding>>,
}

/// What stands with the finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dismissed {
    pub by: String,
    pub reason: String,
    /// By somebody who did not write the change: the finding no longer counts.
    pub accepted: bool,
}

/// Of several words on one finding an accepting one counts, then the last.
pub fn find(dismissals: &[Dismissal], id: FindingId) -> Option<Dismissed> {
    let mut of_this = dismissals.iter().filter(|dismissal| dismissal.id == id).map(|dismissal| &dismissal.dismissed);
    let accepted = of_this.clone().rfind(|dismissed| dismissed.accepted);
    accepted.or_else(|| of_this.next_back()).cloned()
}

/// Something that somebody told us in a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word<'a> {
    pub author: &'a Account,
    pub command: Command,
}

/// Everything that people told us on a pull request, oldest first.
pub fn words<'a>(comments: &'a [Comment], threads: &'a [Thread], me: &Account) -> Vec<Word<'a>> {
    let said = comments.iter().map(|comment| (&comment.author, &comment.body));
    let replied = threads.iter().flat_map(|thread| &thread.comments).map(|comment| (&comment.author, &comment.body));
    said.chain(replied)
        .filter(|(author, _)| !author.is(me))
        .flat_map(|(author, body)| commands(body).into_iter().map(move |command| Word { author, command }))
        .collect()
}

/// The dismissal that a word is, if it is one and counts. Only people decide (design rule 11). A finding that was never named cannot be waved away: a word said in
/// advance, or before our names were lost, would hit whatever finding gets that name next.
pub fn weigh(
    word: &Word<'_>,
    right: Permission,
    author_of_change: &Account,
    kind: ForgeKind,
    names: &BTreeMap<FindingKey, FindingId>,
) -> Option<Dismissal> {
    let Command::Dismiss { id, reason } = &word.command else { return None };
    let is_known = names.values().any(|name| name == id);
    // Whoever can write to a repository of their own machine decides alone.
    let accepted = kind == ForgeKind::Local || !word.author.is(author_of_change);
    let dismissed = Dismissed { by: word.author.login.clone(), reason: reason.clone(), accepted };
    let is_persons = !word.author.kind.is_machine();
    (is_known && is_persons && right.may_write()).then_some(Dismissal { id: *id, dismissed, finding: None })
}

/// What is answered to a command of somebody who may give one, and that makes no sense.
pub fn objection(word: &Word<'_>, right: Permission) -> Option<String> {
    match &word.command {
        Command::Unclear { line, problem } if right.may_write() => {
            Some(format!("{} wrote `{line}`: {problem}.", word.author.login))
        }
        Command::Unclear { .. } | Command::Dismiss { .. } | Command::Allow { .. } | Command::Answer { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pull::facts::AccountKind;

    fn account(login: &str) -> Account {
        Account { id: login.into(), login: login.into(), kind: AccountKind::Person }
    }

    fn weighed(author: &str, right: Permission, named: &[u32]) -> Option<Dismissed> {
        let command = Command::Dismiss { id: FindingId(3), reason: "known".into() };
        let names = named.iter().map(|n| (format!("key{n}").as_str().into(), FindingId(*n))).collect();
        let author = account(author);
        let word = Word { author: &author, command };
        weigh(&word, right, &account("ada"), ForgeKind::Gitea, &names).map(|dismissal| dismissal.dismissed)
    }

    /// PR-132, CF-7: the author silences, somebody else with write access clears, a stranger does nothing.
    #[test]
    fn a_word_is_weighed_by_who_gave_it() {
        assert_eq!(weighed("ada", Permission::Admin, &[3]).map(|word| word.accepted), Some(false));
        assert_eq!(weighed("carol", Permission::Write, &[3]).map(|word| word.accepted), Some(true));
        assert_eq!(weighed("carol", Permission::Read, &[3]), None);
        let robot = Account { kind: AccountKind::Bot, ..account("robot") };
        let word = Word { author: &robot, command: Command::Dismiss { id: FindingId(3), reason: "known".into() } };
        let names = [("key".into(), FindingId(3))].into();
        assert_eq!(weigh(&word, Permission::Admin, &account("ada"), ForgeKind::Gitea, &names), None, "a bot decides nothing");
    }

    /// A word of yesterday must not hit another finding that gets the same name today.
    #[test]
    fn only_what_was_named_can_be_dismissed() {
        assert_eq!(weighed("carol", Permission::Write, &[]), None);
        assert_eq!(weighed("carol", Permission::Write, &[1, 2]), None);
    }
}
