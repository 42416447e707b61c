//! Findings that somebody has waved away. A word of the change's own author silences a finding but never clears it: one comment must
//! not be able to pass a P0 (PR-132, CF-7). A word of anybody else with write access does.

use super::finding::Finding;
use crate::feedback::reviewer::is_person;
use crate::ids::{FindingId, FindingKey, Sha};
use crate::policy::identity::Bots;
use crate::pull::command::{Command, commands_of};
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

/// Everything that people told us on a pull request, oldest first. Only people decide (design rule 11): what a bot repeats is nobody's
/// decision.
pub fn words<'a>(comments: &'a [Comment], threads: &'a [Thread], me: &Account, bots: &Bots) -> Vec<Word<'a>> {
    let said = comments.iter().map(|comment| (&comment.author, &comment.body, comment.edited));
    let replies = threads.iter().flat_map(|thread| &thread.comments);
    let replied = replies.map(|comment| (&comment.author, &comment.body, comment.edited));
    said.chain(replied)
        .filter(|(author, ..)| is_person(author, me, bots))
        .flat_map(|(author, body, edited)| commands_of(body, edited).into_iter().map(move |command| Word { author, command }))
        .collect()
}

/// The dismissal that a word is, if it is one and counts. A finding that was never named cannot be waved away: a word said in
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
    (is_known && right.may_write()).then_some(Dismissal { id: *id, dismissed, finding: None })
}

/// The name that a dismissal speaks of, whether or not a finding has it; 0 for other words. Names beyond any number of findings are
/// never reached, and do not count.
pub fn spoken_of(word: &Word<'_>, right: Permission) -> u32 {
    const MOST: u32 = 1_000_000;
    match &word.command {
        Command::Dismiss { id, .. } if right.may_write() && id.0 <= MOST => id.0,
        _ => 0,
    }
}

/// The words with which this head was allowed, by people who are not its author: whether one of them may write is asked of the forge.
pub fn allowing<'a>(words: &'a [Word<'_>], head: &Sha, author_of_change: &Account) -> impl Iterator<Item = &'a Account> {
    let (head, author_of_change) = (head.clone(), author_of_change.clone());
    let allows = move |word: &&Word<'_>| matches!(&word.command, Command::Allow { sha } if *sha == head);
    words.iter().filter(allows).map(|word| word.author).filter(move |author| !author.is(&author_of_change))
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
    use crate::combine::identity::IdBook;
    use crate::policy::identity::BotAccount;
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
    }

    /// Whoever deletes our comments deletes our names: the next finding is none that somebody has dismissed.
    #[test]
    fn no_finding_gets_a_name_that_was_dismissed_before() {
        let (carol, id) = (account("carol"), FindingId(3));
        let word = Word { author: &carol, command: Command::Dismiss { id, reason: "known".into() } };
        assert_eq!((spoken_of(&word, Permission::Write), spoken_of(&word, Permission::Read)), (3, 0));
        let far = Word { author: &carol, command: Command::Dismiss { id: FindingId(u32::MAX), reason: "no".into() } };
        assert_eq!(spoken_of(&far, Permission::Write), 0);
        let mut ids = IdBook::from_names(BTreeMap::new()).after(spoken_of(&word, Permission::Write));
        assert_eq!(ids.rename_anew("another".into()), FindingId(4));
        let stored: IdBook = serde_json::from_str(&serde_json::to_string(&ids).unwrap()).unwrap();
        assert_eq!(stored, ids);
    }

    fn comment(author: Account, body: &str, edited: bool) -> Comment {
        let (at, empty) = (|| "2026-01-02T00:00:00Z".to_owned(), String::new);
        Comment { id: "1".into(), author, body: body.into(), created_at: at(), updated_at: at(), url: empty(), edited }
    }

    /// Issue 16, A4: a bot decides nothing, whether its forge calls it one, the registry or the configuration.
    #[test]
    fn bots_say_nothing() {
        let bots = Bots::from([("lint".to_owned(), BotAccount::named("lintbot"))]);
        let body = format!("/tribunal allow {}\n/tribunal dismiss F3 known", "a".repeat(40));
        let of = |author: Account| words(&[comment(author, &body, false)], &[], &account("tribunal"), &bots).len();
        let robot = Account { kind: AccountKind::Bot, ..account("robot") };
        let unknown = Account { kind: AccountKind::Unknown, ..account("lint") };
        assert_eq!([of(robot), of(account("lint")), of(unknown), of(account("tribunal")), of(account("carol"))], [0, 0, 0, 0, 2]);
    }

    /// Whoever may write can edit what another person wrote: an edited comment decides nothing, and is told why.
    #[test]
    fn an_edited_comment_decides_nothing() {
        let sha = Sha("a".repeat(40));
        let body = format!("/tribunal allow {sha}\n/tribunal dismiss F3 known\n/tribunal answer G1a2b3c4d merge");
        let (me, ada, none) = (account("tribunal"), account("ada"), Bots::new());
        let names = [("key3".into(), FindingId(3))].into();
        for (edited, count) in [(false, 1), (true, 0)] {
            let comments = [comment(account("carol"), &body, edited)];
            let words = words(&comments, &[], &me, &none);
            let dismissals = words.iter().filter_map(|word| weigh(word, Permission::Write, &ada, ForgeKind::Gitea, &names));
            assert_eq!((dismissals.count(), allowing(&words, &sha, &ada).count()), (count, count));
            let objections: Vec<String> = words.iter().filter_map(|word| objection(word, Permission::Write)).collect();
            assert_eq!(objections.len(), if edited { 3 } else { 0 }, "{objections:?}");
            assert!(objections.iter().all(|said| said.contains("say it in a new comment")), "{objections:?}");
        }
    }

    /// The author of a change does not let agents look at it.
    #[test]
    fn an_author_allows_nothing() {
        let sha = Sha("a".repeat(40));
        let comments = [comment(account("ada"), &format!("/tribunal allow {sha}"), false)];
        let (me, none) = (account("tribunal"), Bots::new());
        assert_eq!(allowing(&words(&comments, &[], &me, &none), &sha, &account("ada")).count(), 0);
    }

    /// A word of yesterday must not hit another finding that gets the same name today.
    #[test]
    fn only_what_was_named_can_be_dismissed() {
        assert_eq!(weighed("carol", Permission::Write, &[]), None);
        assert_eq!(weighed("carol", Permission::Write, &[1, 2]), None);
    }
}
