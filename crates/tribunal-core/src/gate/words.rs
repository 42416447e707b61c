//! How a question is put to people, and how their answer is read. The same words on a pull request, at a terminal and after
//! `tribunal gate answer`.

use super::{Choice, Gate, GateName, Raise};
use crate::calendar::rfc3339;
use crate::call::money::Money;
use crate::findings::key::sha256_hex;
use crate::ids::RunId;
use crate::publish::markdown::inert;
use crate::publish::visible::visible;
use crate::pull::command::{Command, commands_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What people call one asking: `G1a2b3c4d`. Made of the run and the effect that asks, so the same asking has the same name after a
/// kill, and no other has it (SL-139).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct GateId(String);

const DIGITS: usize = 8;

impl GateId {
    pub fn new(run: &RunId, ticket: u64) -> Self {
        GateId(format!("G{}", &sha256_hex(format!("{run}/{ticket}").as_bytes())[..DIGITS]))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for GateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for GateId {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.strip_prefix(['G', 'g']).unwrap_or_default().to_ascii_lowercase();
        let fine = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if fine { Ok(GateId(format!("G{digits}"))) } else { Err(format!("`{text}` names no question; they look like G1a2b3c4d")) }
    }
}

/// What a person answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said {
    pub choice: Choice,
    pub raise: Option<Raise>,
}

/// The comment on the pull request that the question is about, without its mark.
pub fn comment(gate: &Gate, id: &GateId) -> String {
    let answers: Vec<String> =
        gate.options().iter().map(|choice| format!("    /tribunal answer {id} {}", example(*choice))).collect();
    format!(
        "## A question for a person: {}\n\n{}\n\nTo answer, write one of these as a comment:\n\n{}\n\n\
         It counts from anybody who may write to this repository, except the author of the change and bots, until {}. Without an answer, `{}` holds.\n",
        gate.name,
        inert(&gate.question),
        answers.join("\n"),
        rfc3339(gate.until),
        gate.name.otherwise()
    )
}

/// For whoever sits at the terminal.
pub fn prompt(gate: &Gate, id: &GateId) -> String {
    let about = gate.number.map(|number| format!(" (PR #{number})")).unwrap_or_default();
    format!(
        "{}{about}: {}\n  {}? [{id}; without an answer until {}: {}] ",
        gate.name,
        visible(&gate.question),
        gate.option_words(),
        rfc3339(gate.until),
        gate.name.otherwise()
    )
}

/// Why a word is asked for again.
pub const RAISE_HELP: &str = "say what to raise, such as: raise iterations=10 prs=40 minutes=120 dollars=50";

fn example(choice: Choice) -> String {
    match choice {
        Choice::Raise => "raise minutes=120 dollars=50".to_owned(),
        other => other.to_string(),
    }
}

/// Reads an answer: one of the options, for `raise` with new ceilings. What follows is the person's reason.
pub fn read(gate: &Gate, words: &str) -> Result<Said, String> {
    let (first, rest) = words.trim().split_once(char::is_whitespace).unwrap_or((words.trim(), ""));
    let choice = gate.read(first).map_err(|refused| refused.to_string())?;
    let raise = match (choice, gate.name) {
        (Choice::Raise, GateName::BudgetEscalation) => Some(ceilings(rest)?),
        _ => None,
    };
    Ok(Said { choice, raise })
}

/// What a comment answers. Who copies the question with all of its options, and asks about them, has chosen none.
pub fn answer_in(body: &str, edited: bool, id: &GateId, gate: &Gate) -> Option<(String, Said)> {
    let answers: Vec<(String, Said)> = commands_of(body, edited)
        .into_iter()
        .filter_map(|command| match command {
            Command::Answer { gate: named, words } if named == *id => read(gate, &words).ok().map(|said| (words, said)),
            _ => None,
        })
        .collect();
    let (words, said) = answers.first()?;
    answers.iter().all(|(_, other)| other == said).then(|| (words.clone(), *said))
}

/// `minutes=120 dollars=50`, as far as such words go.
fn ceilings(words: &str) -> Result<Raise, String> {
    let mut raise = Raise::default();
    for (name, value) in words.split_whitespace().map_while(|word| word.split_once('=')) {
        let bad = || format!("`{name}={value}` is no ceiling; {RAISE_HELP}");
        match name.trim_start_matches("--max-").trim_start_matches("max_").to_ascii_lowercase().as_str() {
            "iterations" => raise.iterations = Some(value.parse().map_err(|_| bad())?),
            "prs" => raise.pulls = Some(value.parse().map_err(|_| bad())?),
            "minutes" => raise.minutes = Some(value.parse().map_err(|_| bad())?),
            "dollars" => {
                let dollars = value.trim_start_matches('$').parse().ok().and_then(Money::from_dollars);
                raise.dollars = Some(dollars.ok_or_else(bad)?);
            }
            _ => return Err(bad()),
        }
    }
    if raise == Raise::default() { Err(RAISE_HELP.to_owned()) } else { Ok(raise) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn gate(name: GateName) -> Gate {
        Gate { name, number: Some(7), head: None, question: "Merge \u{1b}[31mit?".into(), until: 1_800_000_000_000 }
    }

    /// SL-139: an asking has one name, and no other asking has it.
    #[test]
    fn each_asking_has_a_name() {
        let name = |run: &str, ticket| GateId::new(&run.into(), ticket);
        assert_eq!(name("a", 1), name("a", 1));
        assert_ne!(name("a", 1), name("a", 2));
        assert_ne!(name("a", 1), name("b", 1));
        let id = name("a", 1);
        assert_eq!(id.as_str().to_uppercase().parse(), Ok(id));
        for wrong in ["", "G", "G1", "F1a2b3c4d", "G1a2b3c4x", "G1a2b3c4d5"] {
            assert!(wrong.parse::<GateId>().is_err(), "{wrong}");
        }
    }

    /// C4: our own question, copied whole, is no answer.
    #[test]
    fn a_comment_that_holds_every_answer_holds_none() {
        let (gate, id) = (gate(GateName::PostFeedbackMerge), GateId::new(&"a".into(), 1));
        let question = comment(&gate, &id);
        let choice = |body: &str| answer_in(body, false, &id, &gate).map(|(_, said)| said.choice);
        assert_eq!(choice(&question), None, "its options are code");
        let copied: String = question.lines().map(|line| format!("{}\n", line.trim())).collect();
        assert_eq!(choice(&format!("Which of these is right?\n\n{copied}")), None);
        let one = format!("/tribunal answer {id} hold");
        assert_eq!(choice(&one), Some(Choice::Hold));
        assert_eq!(choice(&format!("{one}\n{one}")), Some(Choice::Hold));
        assert_eq!(answer_in(&one, true, &id, &gate), None, "edited");
    }

    /// SL-140: the question carries its options, and what a change holds cannot fool its reader.
    #[test]
    fn the_comment_shows_every_option() {
        let id = GateId::new(&"a".into(), 1);
        let said = comment(&gate(GateName::PostFeedbackMerge), &id);
        for option in ["merge", "hold", "stop"] {
            assert!(said.contains(&format!("/tribunal answer {id} {option}\n")), "{said}");
        }
        assert!(!said.contains('\u{1b}') && said.contains("`hold` holds"), "{said}");
    }

    /// SL-143: `raise` comes with the new ceilings.
    #[test]
    fn a_raise_names_its_ceilings() {
        let budget = gate(GateName::BudgetEscalation);
        let said = read(&budget, "raise minutes=90 dollars=$2.50 because it is nearly done").unwrap();
        let raise = Raise { minutes: Some(90), dollars: Money::from_dollars(2.5), ..Raise::default() };
        assert_eq!(said, Said { choice: Choice::Raise, raise: Some(raise) });
        for wrong in ["raise", "raise please", "raise minutes=many", "raise hopes=9", "merge"] {
            assert!(read(&budget, wrong).is_err(), "{wrong}");
        }
        assert_eq!(read(&budget, "Continue, we are nearly done").ok(), None, "an option is a word of its own");
        assert_eq!(read(&budget, "continue we are nearly done").map(|said| said.choice), Ok(Choice::Continue));
    }

    proptest! {
        #[test]
        fn any_words_can_be_read(words in "\\PC{0,60}") {
            let _ = read(&gate(GateName::BudgetEscalation), &words);
            let _ = read(&gate(GateName::BudgetEscalation), &format!("raise {words}"));
            let _ = words.parse::<GateId>();
        }
    }
}
