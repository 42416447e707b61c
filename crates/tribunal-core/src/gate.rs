//! A gate is a question that only a person may answer (design section 2): data in a run, not a blocked process.
//!
//! A gate names what it is about and until when an answer counts. It is asked once; its answer holds for that one asking and for
//! nothing else (SL-139, SL-157). Where nobody answers in time, what is safe holds, and the record says that nobody answered.

pub mod words;

use crate::feedback::item::Voice;
use crate::feedback::reviewer::voice;
use crate::ids::Sha;
use crate::policy::identity::Bots;
use crate::procedure::Millis;
use crate::pull::facts::Account;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// `backlog-drift` belongs to another program and has no name here: it cannot be asked (SL-141).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateName {
    ForceUnlock,
    ResumeDivergence,
    AmbiguousCriteria,
    BudgetEscalation,
    /// The order in which several are merged (SL-77, SL-78, CF-28).
    MergeOrder,
    PostFeedbackMerge,
    RepeatedFailure,
}

/// In the order in which they are asked within a tick. The original's list had the lock's question near its end and the merge's
/// before anything was reviewed (SL-142).
pub const ORDER: [GateName; 7] = [
    GateName::ForceUnlock,
    GateName::ResumeDivergence,
    GateName::AmbiguousCriteria,
    GateName::BudgetEscalation,
    GateName::MergeOrder,
    GateName::PostFeedbackMerge,
    GateName::RepeatedFailure,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    Skip,
    Escalate,
    Proceed,
    Continue,
    /// Goes with the new ceilings, see [`Raise`].
    Raise,
    Merge,
    Hold,
    Yes,
    No,
    Retry,
    ReAttach,
    /// Ends the run, at every gate.
    Stop,
}

const CHOICES: [Choice; 12] = [
    Choice::Skip,
    Choice::Escalate,
    Choice::Proceed,
    Choice::Continue,
    Choice::Raise,
    Choice::Merge,
    Choice::Hold,
    Choice::Yes,
    Choice::No,
    Choice::Retry,
    Choice::ReAttach,
    Choice::Stop,
];

impl GateName {
    pub fn word(self) -> &'static str {
        match self {
            GateName::ForceUnlock => "force-unlock",
            GateName::ResumeDivergence => "resume-divergence",
            GateName::AmbiguousCriteria => "ambiguous-criteria",
            GateName::BudgetEscalation => "budget-escalation",
            GateName::MergeOrder => "merge-order",
            GateName::PostFeedbackMerge => "post-feedback-merge",
            GateName::RepeatedFailure => "repeated-failure",
        }
    }

    /// SL-140, in its order.
    pub fn options(self) -> &'static [Choice] {
        match self {
            GateName::ForceUnlock => &[Choice::Yes, Choice::No, Choice::Stop],
            GateName::ResumeDivergence => &[Choice::ReAttach, Choice::Skip, Choice::Stop],
            GateName::AmbiguousCriteria => &[Choice::Skip, Choice::Escalate, Choice::Proceed, Choice::Stop],
            GateName::BudgetEscalation => &[Choice::Continue, Choice::Raise, Choice::Stop],
            GateName::MergeOrder | GateName::PostFeedbackMerge => &[Choice::Merge, Choice::Hold, Choice::Stop],
            GateName::RepeatedFailure => &[Choice::Skip, Choice::Retry, Choice::Stop],
        }
    }

    /// What holds when nobody answers. Nothing is taken, merged or tried again without a word; a budget goes on to the ceiling that a
    /// person has set, and no further.
    pub fn otherwise(self) -> Choice {
        match self {
            GateName::ForceUnlock => Choice::No,
            GateName::ResumeDivergence | GateName::AmbiguousCriteria | GateName::RepeatedFailure => Choice::Skip,
            GateName::BudgetEscalation => Choice::Continue,
            GateName::MergeOrder | GateName::PostFeedbackMerge => Choice::Hold,
        }
    }
}

impl Choice {
    pub fn word(self) -> &'static str {
        match self {
            Choice::Skip => "skip",
            Choice::Escalate => "escalate",
            Choice::Proceed => "proceed",
            Choice::Continue => "continue",
            Choice::Raise => "raise",
            Choice::Merge => "merge",
            Choice::Hold => "hold",
            Choice::Yes => "yes",
            Choice::No => "no",
            Choice::Retry => "retry",
            Choice::ReAttach => "re-attach",
            Choice::Stop => "stop",
        }
    }
}

impl fmt::Display for GateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One question, asked once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    pub name: GateName,
    /// The pull request that it is about; nothing when it is about the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The head that it is about. An answer says nothing about another one (design rule 7).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Sha>,
    /// Filled in, for people. What others wrote is in it only after it was made visible.
    pub question: String,
    /// An answer after this moment is none.
    pub until: Millis,
}

/// New ceilings that go with [`Choice::Raise`]; what is not named stays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Raise {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pulls: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u64>,
    /// Millionths of a dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dollars: Option<crate::call::money::Money>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answerer {
    /// A login, or the name of whoever sits at the terminal.
    Person(String),
    /// The time ran out.
    Nobody,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    pub choice: Choice,
    pub by: Answerer,
    pub at: Millis,
    /// As it was given.
    pub words: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raise: Option<Raise>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is no answer to {gate}; it is one of {options}")]
pub struct NoSuchAnswer {
    pub given: String,
    pub gate: GateName,
    pub options: String,
}

/// Whose answer on a pull request may count, if they may write there: a person, and neither us nor the author of the change. Nobody
/// answers for his own change, and no machine answers for a person (design rule 11).
pub fn may_answer(account: &Account, me: &Account, author: &Account, bots: &Bots) -> bool {
    let is_person = !account.kind.is_machine() && voice(account, me, bots) == Voice::Person;
    is_person && !account.is(me) && !account.is(author)
}

impl Gate {
    pub fn options(&self) -> &'static [Choice] {
        self.name.options()
    }

    /// Reads a person's word: one of the options, in any case, and nothing around it. Prose that holds an option is no answer.
    pub fn read(&self, words: &str) -> Result<Choice, NoSuchAnswer> {
        let refused = || NoSuchAnswer { given: words.trim().to_owned(), gate: self.name, options: self.option_words() };
        let choice = words.trim().to_ascii_lowercase().parse::<Choice>().map_err(|()| refused())?;
        if self.options().contains(&choice) { Ok(choice) } else { Err(refused()) }
    }

    /// `skip, retry or stop`.
    pub fn option_words(&self) -> String {
        let words: Vec<&str> = self.options().iter().map(|choice| choice.word()).collect();
        match words.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => words.concat(),
        }
    }

    /// What holds when the time runs out.
    pub fn unanswered(&self) -> Answer {
        let choice = self.name.otherwise();
        Answer { choice, by: Answerer::Nobody, at: self.until, words: String::new(), raise: None }
    }

    /// The answer, if it is one to this question. What came too late, or is no option, is nobody's answer: the safe one holds.
    pub fn admit(&self, answer: Answer) -> Answer {
        let is_somebodys = matches!(answer.by, Answerer::Person(_)) && answer.at <= self.until;
        let is_option = self.options().contains(&answer.choice);
        if is_option && is_somebodys { answer } else { self.unanswered() }
    }
}

impl FromStr for Choice {
    type Err = ();
    fn from_str(word: &str) -> Result<Self, ()> {
        CHOICES.into_iter().find(|choice| choice.word() == word).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(name: GateName) -> Gate {
        Gate { name, number: Some(7), head: None, question: "What now?".into(), until: 1_000 }
    }

    /// SL-140: every gate has a `stop`, and what holds without an answer is one of its options and never that.
    #[test]
    fn every_gate_can_stop_and_has_a_safe_answer() {
        for name in ORDER {
            assert!(name.options().contains(&Choice::Stop), "{name}");
            assert!(name.options().contains(&name.otherwise()), "{name}");
            assert_ne!(name.otherwise(), Choice::Stop, "{name}");
            assert!(!matches!(name.otherwise(), Choice::Merge | Choice::Yes | Choice::Retry | Choice::Raise), "{name}");
        }
    }

    /// SL-140: an answer is one of the options, as a word.
    #[test]
    fn only_an_option_is_an_answer() {
        let gate = gate(GateName::PostFeedbackMerge);
        assert_eq!(gate.read(" Merge\n"), Ok(Choice::Merge));
        for no in ["yes", "", "please merge", "merge stop", "mergе"] {
            assert!(gate.read(no).is_err(), "{no}");
        }
        assert_eq!(
            gate.read("yes").unwrap_err().to_string(),
            "`yes` is no answer to post-feedback-merge; it is one of merge, hold or stop"
        );
        for choice in CHOICES {
            assert_eq!(choice.word().parse(), Ok(choice));
            assert_eq!(serde_json::to_string(&choice).unwrap(), format!("\"{choice}\""));
        }
        for name in ORDER {
            assert_eq!(serde_json::to_string(&name).unwrap(), format!("\"{name}\""));
        }
    }

    /// Issue 16, A4: the change's author and bots, named or called so, answer nothing.
    #[test]
    fn authors_and_bots_answer_nothing() {
        use crate::feedback::samples::{bot, person};
        use crate::policy::identity::BotAccount;
        let (me, author) = (person("tribunal"), person("dev"));
        let bots = Bots::from([("lint".to_owned(), BotAccount::named("lintbot"))]);
        let may = |account: &Account| may_answer(account, &me, &author, &bots);
        assert!(may(&person("ann")));
        for account in [&me, &author, &bot("coderabbitai[bot]"), &bot("github-actions[bot]"), &person("lint")] {
            assert!(!may(account), "{account:?}");
        }
    }

    /// SL-139: what comes too late, or answers another question, is no answer.
    #[test]
    fn what_comes_too_late_is_nobodys_answer() {
        let gate = gate(GateName::PostFeedbackMerge);
        let said = |choice, at| Answer { choice, by: Answerer::Person("ann".into()), at, words: String::new(), raise: None };
        assert_eq!(gate.admit(said(Choice::Merge, 1_000)).choice, Choice::Merge);
        let nobody = Answer { by: Answerer::Nobody, ..said(Choice::Merge, 5) };
        for answer in [said(Choice::Merge, 1_001), said(Choice::Yes, 5), nobody] {
            let admitted = gate.admit(answer);
            assert_eq!((admitted.choice, admitted.by), (Choice::Hold, Answerer::Nobody));
        }
    }
}
