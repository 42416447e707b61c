//! Our own record of feedback that held a merge back.
//!
//! What people say on a forge they can delete or edit. If a merge were held back by nothing but their words, deleting them would let
//! it through. So a merge that is held because of feedback is recorded under our seal, with the head and the reason. The record is
//! lifted by what somebody decides, never by what disappears: a thread that is still there and closed, a review that is still there
//! and taken back, an approval or a word of consent for this head, or another head, which is reviewed anew.
//!
//! The record is a comment of ours, and whoever may write to the repository can delete that as well. So it does not rest on the comment
//! alone: the ledger keeps the same record, and that we pushed what a person asked for stands in our own commits.

use super::facts::Facts;
use super::words::named;
use crate::feedback::lint::Past;
use crate::ids::Sha;
use crate::publish::visible::visible_line;
use crate::pull::told::Told;
use crate::remedy::patch::{ASKED_BY_PERSON, RUN};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    pub head: Sha,
    pub source: Source,
    /// For people.
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A thread of a person, by its id.
    Thread(String),
    /// Somebody who asks for changes, by login.
    Changes(String),
    /// The responder has answered people's comments, and nobody has looked again.
    Answered,
    /// The record was edited by somebody, so what it said is not known.
    Edited,
}

impl Hold {
    /// Does it still hold the merge of this head back?
    pub fn stands(&self, facts: &Facts) -> bool {
        let people = match &facts.people {
            Told::Is(people) => people,
            Told::Unknown(_) => return true,
        };
        let is_settled = match &self.source {
            Source::Thread(id) => people.closed.contains(id),
            Source::Changes(login) => people.taken_back.contains(login),
            Source::Answered | Source::Edited => false,
        };
        self.head == facts.head && !is_settled && people.approved.is_empty() && facts.consent().is_none()
    }
}

/// The feedback that holds this head back now.
pub fn holding(facts: &Facts) -> Vec<Hold> {
    let Told::Is(people) = &facts.people else { return Vec::new() };
    if !people.approved.is_empty() || facts.consent().is_some() {
        return Vec::new();
    }
    let hold = |source, reason| Hold { head: facts.head.clone(), source, reason };
    let threads = people.threads.iter().map(|thread| {
        let place = match thread.line {
            Some(line) => named(&format!("{}:{line}", thread.path)),
            None => named(&thread.path),
        };
        hold(Source::Thread(thread.id.clone()), format!("{} commented on {place}", visible_line(&thread.by)))
    });
    let asking = people.asking.iter();
    let asking = asking.map(|login| hold(Source::Changes(login.clone()), format!("{} asked for changes", visible_line(login))));
    threads.chain(asking).collect()
}

/// Those that are not recorded yet.
pub fn unrecorded(facts: &Facts) -> Vec<Hold> {
    let is_recorded = |hold: &Hold| match &facts.holds {
        Told::Is(holds) => holds.iter().any(|known| known.head == hold.head && known.source == hold.source),
        Told::Unknown(_) => false,
    };
    holding(facts).into_iter().filter(|hold| !is_recorded(hold)).collect()
}

/// What the responder's answers to these people hold back: nobody has looked at the head that came of them.
pub fn after_answers(head: &Sha, people: impl IntoIterator<Item = String>) -> Hold {
    let people: Vec<String> = people.into_iter().map(|login| visible_line(&login)).collect();
    let reason = format!("comments of {} were answered, and nobody has looked again", people.join(", "));
    Hold { head: head.clone(), source: Source::Answered, reason }
}

/// What the commits of a head say, newest first: that its tip is ours, and answers what a person said. Bringing the base in decides
/// nothing; a commit of somebody else on top is another head.
pub fn of_commits(head: &Sha, history: &[Past]) -> Option<Hold> {
    let has = |past: &Past, line: &str| past.message.lines().any(|own| own.starts_with(line));
    let ours = history.iter().filter(|past| !past.is_merge).take_while(|past| has(past, RUN));
    let mut asked = ours.filter(|past| has(past, ASKED_BY_PERSON.trim_end()));
    let reason = "a person's comment was answered by our own commit, and nobody has looked again".to_owned();
    asked.next().map(|_| Hold { head: head.clone(), source: Source::Answered, reason })
}

/// The record, with more in it. What is about another head is over.
pub fn joined(recorded: Vec<Hold>, more: Vec<Hold>, head: &Sha) -> Vec<Hold> {
    let mut all: Vec<Hold> = recorded.into_iter().filter(|hold| hold.head == *head).collect();
    for hold in more {
        if !all.iter().any(|known| known.source == hold.source) {
            all.push(hold);
        }
    }
    all
}

/// The record on the pull request, without its mark.
pub fn comment(holds: &[Hold], head: &Sha) -> String {
    let reasons: Vec<String> = holds.iter().map(|hold| format!("- {}", hold.reason)).collect();
    format!(
        "## Held: not merged at {}\n\n{}\n\nIt stays held until somebody who may write to this repository approves this head, answers \
         what was said where it was said, or a new head is reviewed. Deleting a comment does not lift it.\n",
        head.short(),
        reasons.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::super::facts::{Consent, Gates};
    use super::super::people::{OpenThread, Voices};
    use super::super::samples::ready;
    use super::*;
    use crate::feedback::item::ItemId;

    fn talked() -> Facts {
        let thread = OpenThread {
            id: "t1".into(),
            by: "eve".into(),
            path: "a.py".into(),
            line: Some(3),
            answered: false,
            may_write: Some(false),
        };
        let people = Voices { threads: vec![thread], asking: ["ann".to_owned()].into(), ..Voices::default() };
        Facts { people: Told::Is(people), ..ready() }
    }

    /// Issue 16, A1: what was said and deleted holds on; what was answered, approved or reviewed at another head does not.
    #[test]
    fn a_hold_is_lifted_by_a_decision_and_by_nothing_else() {
        let holds = holding(&talked());
        assert_eq!(
            holds.iter().map(|hold| &hold.source).collect::<Vec<_>>(),
            [&Source::Thread("t1".into()), &Source::Changes("ann".into())]
        );
        let gone = ready();
        assert!(holds.iter().all(|hold| hold.stands(&gone)), "both were deleted");
        let with = |people: Voices| Facts { people: Told::Is(people), ..ready() };
        let closed = with(Voices { closed: ["t1".to_owned()].into(), ..Voices::default() });
        assert!(!holds[0].stands(&closed) && holds[1].stands(&closed));
        let taken_back = with(Voices { taken_back: ["ann".to_owned()].into(), ..Voices::default() });
        assert!(holds[0].stands(&taken_back) && !holds[1].stands(&taken_back));
        let approved = with(Voices { approved: ["bob".to_owned()].into(), ..Voices::default() });
        assert!(!holds.iter().any(|hold| hold.stands(&approved)));
        let consent = Consent { by: "bob".into(), head: gone.head.clone(), base_branch: Some("main".into()) };
        let consented = Facts { gates: Told::Is(Gates { consent: Some(consent), ..Gates::default() }), ..ready() };
        assert!(!holds.iter().any(|hold| hold.stands(&consented)));
        let moved = Facts { head: "4444444444444444444444444444444444444444".into(), ..ready() };
        assert!(!holds.iter().any(|hold| hold.stands(&moved)), "another head is reviewed anew");
        let unread = Facts { people: Told::Unknown("HTTP 502".into()), ..ready() };
        assert!(holds.iter().all(|hold| hold.stands(&unread)));
        assert!(after_answers(&gone.head, ["ann".to_owned()]).stands(&gone));
    }

    /// What was pushed for a person is held by its own commits, whatever became of our comment; a push by somebody else is another head.
    #[test]
    fn our_own_commits_hold_what_they_made() {
        use crate::remedy::patch::{By, message};
        let fixer = "claude".into();
        let ours = |answers_person| {
            let message = message("Mend it", [&ItemId("thread:1".into())], &"r1".into(), &By { fixer: &fixer, answers_person });
            Past { sha: "1".into(), parent: None, is_merge: false, message }
        };
        let theirs = Past { message: "By hand\n".into(), ..ours(false) };
        let base = Past { message: "Merge branch 'main' into cart\n".into(), is_merge: true, ..ours(false) };
        let head: Sha = ready().head;
        let holds = |history: &[Past]| of_commits(&head, history).is_some_and(|hold| hold.stands(&ready()));
        assert!(holds(&[ours(true), theirs.clone()]));
        assert!(holds(&[base.clone(), ours(false), ours(true)]), "the base and a bot's item change nothing");
        assert!(!holds(&[ours(false), theirs.clone()]) && !holds(&[theirs, ours(true)]) && !holds(&[base]) && !holds(&[]));
    }

    #[test]
    fn a_record_grows_and_forgets_other_heads() {
        let holds = holding(&talked());
        let head = talked().head;
        let known = Facts { holds: Told::Is(holds[..1].to_vec()), ..talked() };
        assert_eq!(unrecorded(&known), holds[1..].to_vec());
        assert_eq!(joined(holds[..1].to_vec(), holds.clone(), &head), holds);
        let other = Hold { head: "4444444444444444444444444444444444444444".into(), ..holds[0].clone() };
        assert_eq!(joined(vec![other], vec![], &head), vec![]);
        assert!(comment(&holds, &head).contains("eve commented on `a.py:3`"));
    }
}
