//! What people tell us in comments: `/tribunal dismiss F3 it is a test key`. A command is a line of its own; who may give it is
//! decided elsewhere.

use super::spoken::{SpokenLine, spoken_lines};
use crate::gate::words::GateId;
use crate::ids::{FindingId, Sha};
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Dismiss {
        id: FindingId,
        reason: String,
    },
    /// Lets the configured agents look at a stranger's change, at this commit and no other.
    Allow {
        sha: Sha,
    },
    /// The answer to a question of ours, by the question's name; the words are read by whoever asked.
    Answer {
        gate: GateId,
        words: String,
    },
    /// Something for us that makes no sense, and why.
    Unclear {
        line: String,
        problem: &'static str,
    },
}

/// As it is written, but for the length of what follows the name.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::Dismiss { id, .. } => write!(f, "/tribunal dismiss {id} …"),
            Command::Allow { sha } => write!(f, "/tribunal allow {sha}"),
            Command::Answer { gate, words } => write!(f, "/tribunal answer {gate} {words}"),
            Command::Unclear { line, .. } => f.write_str(line),
        }
    }
}

/// The commands of a comment. Where it was edited, its words may be somebody else's, whatever name stands above them: then no command
/// counts, and each is answered so.
pub fn commands_of(body: &str, edited: bool) -> Vec<Command> {
    if !edited {
        return commands(body);
    }
    let problem = "this comment was changed after it was written, and the forge does not tell by whom; say it in a new comment";
    commands(body).into_iter().map(|command| Command::Unclear { line: command.to_string(), problem }).collect()
}

/// The commands of a text. Quoted lines, code and what is hidden are other people's words.
pub fn commands(body: &str) -> Vec<Command> {
    // Most comments hold none, and are not parsed to see it.
    if !body.contains("/tribunal") {
        return Vec::new();
    }
    let lines = spoken_lines(body).into_iter().map(SpokenLine::text);
    lines
        .filter_map(|line| {
            Some(command(line, line.strip_prefix("/tribunal").filter(|rest| rest.starts_with(char::is_whitespace))?.trim()))
        })
        .collect()
}

fn command(line: &str, words: &str) -> Command {
    let (verb, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let unclear = |problem| Command::Unclear { line: line.to_owned(), problem };
    match verb {
        "dismiss" => {
            let (id, reason) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
            match id.parse() {
                Err(_) => unclear("name a finding, as in /tribunal dismiss F3 and a reason"),
                Ok(_) if reason.trim().is_empty() => unclear("a dismissal needs a reason behind the finding's name"),
                Ok(id) => Command::Dismiss { id, reason: reason.trim().to_owned() },
            }
        }
        "allow" => {
            // A short name can be given to another commit on purpose.
            let sha = rest.trim().to_ascii_lowercase();
            let is_full = Sha::new(&sha).is_full();
            if is_full { Command::Allow { sha: Sha(sha) } } else { unclear("name the commit with all of its digits, 40 or 64") }
        }
        "answer" => {
            let (id, words) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
            match id.parse() {
                Err(_) => unclear("name the question, as in /tribunal answer G1a2b3c4d and the answer"),
                Ok(_) if words.trim().is_empty() => unclear("the answer is missing behind the question's name"),
                Ok(gate) => Command::Answer { gate, words: words.trim().to_owned() },
            }
        }
        _ => unclear("known commands are dismiss, allow and answer"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_stand_on_lines_of_their_own() {
        let body = "thanks\n/tribunal dismiss F3 it is a test key\n> /tribunal dismiss F1 no\n```\n/tribunal dismiss F2 no\n```";
        assert_eq!(commands(body), vec![Command::Dismiss { id: FindingId(3), reason: "it is a test key".into() }]);
        assert_eq!(commands("see /tribunal dismiss F3 x"), vec![]);
        for pasted in [
            "```\n~~~\n/tribunal dismiss F1 no\n```",
            "Which?\n\n    /tribunal dismiss F1 no",
            "Yes. <!--\n/tribunal dismiss F1 no\n-->",
        ] {
            assert_eq!(commands(pasted), vec![], "{pasted}");
        }
        for digits in [40, 64] {
            let sha = "1A2b3c4d".repeat(8)[..digits].to_owned();
            let allowed = Command::Allow { sha: sha.to_lowercase().as_str().into() };
            assert_eq!(commands(&format!("/tribunal allow {sha}")), vec![allowed]);
        }
        let answer = Command::Answer { gate: "G1a2b3c4d".parse().unwrap(), words: "raise minutes=90".into() };
        assert_eq!(commands("/tribunal answer g1A2B3c4d raise minutes=90"), vec![answer]);
    }

    /// Bad input gets a clear answer, not silence.
    #[test]
    fn what_makes_no_sense_says_why() {
        let all = ["dismiss F3", "dismiss 3 x", "allow main", "allow 1a2b3c4", "dance", "answer merge", "answer G1a2b3c4d"];
        let short = format!("allow {}", "1".repeat(39));
        for line in all.into_iter().chain([short.as_str()]).map(|words| format!("/tribunal {words}")) {
            assert!(matches!(commands(&line).as_slice(), [Command::Unclear { .. }]), "{line}");
        }
    }
}
