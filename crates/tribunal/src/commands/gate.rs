//! `tribunal gate`: questions that only a person may answer, from any terminal of the same repository.

use crate::cli::ListFormat;
use crate::cli::sweep::{AnswerArgs, GateCommand};
use crate::situation::{Situation, exit};
use crate::terminal::out;
use crate::terminal::table::table;
use crate::workspace;
use tribunal_core::calendar::rfc3339;
use tribunal_core::gate::words::read;
use tribunal_core::gate::{Answer, Answerer, Gate};
use tribunal_core::procedure::Millis;
use tribunal_store::{GateRow, Ledger};

pub async fn run(command: &GateCommand, quiet: bool) -> Result<u8, Situation> {
    let here = workspace::discover_optional()?;
    let folder = workspace::ledger_folder(here.as_ref());
    let ledger = workspace::existing_ledger(&folder).await?;
    match command {
        GateCommand::List { format } => list(ledger.as_ref(), *format).await,
        GateCommand::Answer(args) => {
            let Some(ledger) = ledger else { return Err(unknown(args)) };
            let by = workspace::person(here.as_ref());
            answer(&ledger, args, by, quiet).await
        }
    }
}

async fn list(ledger: Option<&Ledger>, format: ListFormat) -> Result<u8, Situation> {
    let now = workspace::now();
    let rows = match ledger {
        Some(ledger) => ledger.open_gates().await?,
        None => Vec::new(),
    };
    // What nobody waits for any more is no question.
    let open = rows.into_iter().filter(|row| millis(row.until) > now);
    let open = open.map(|row| Ok((gate(&row)?, row))).collect::<Result<Vec<(Gate, GateRow)>, Situation>>()?;
    if format == ListFormat::Json {
        let all: Vec<serde_json::Value> = open
            .iter()
            .map(|(gate, row)| {
                let options: Vec<&str> = gate.options().iter().map(|choice| choice.word()).collect();
                serde_json::json!({ "id": row.id, "run": row.run, "asked_at": rfc3339(millis(row.asked_at)), "gate": gate, "options": options })
            })
            .collect();
        out::json(&serde_json::json!(all))?;
        return Ok(exit::DONE);
    }
    if open.is_empty() {
        out::say("No question waits for a person.")?;
        return Ok(exit::DONE);
    }
    let rows = open.iter().map(|(gate, row)| {
        let about = gate.number.map_or_else(|| "the run".to_owned(), |number| format!("PR #{number}"));
        vec![row.id.clone(), gate.name.to_string(), about, gate.option_words(), rfc3339(gate.until), gate.question.clone()]
    });
    out::say(&table(&["ID", "GATE", "ABOUT", "ANSWERS", "UNTIL", "QUESTION"], rows))?;
    Ok(exit::DONE)
}

async fn answer(ledger: &Ledger, args: &AnswerArgs, by: String, quiet: bool) -> Result<u8, Situation> {
    let row = ledger.gate(args.gate.as_str()).await?.ok_or_else(|| unknown(args))?;
    let gate = gate(&row)?;
    let refused =
        |problem: String| Situation::new("bad-answer", exit::USAGE, problem).help("`tribunal gate list` shows what is asked");
    let words = words(args);
    let said = read(&gate, &words).map_err(refused)?;
    let at = workspace::now();
    if at > gate.until {
        return Err(too_late(&row, "the time to answer it is over"));
    }
    let answer = Answer { choice: said.choice, by: Answerer::Person(by), at, words, raise: said.raise };
    let text =
        serde_json::to_string(&answer).map_err(|error| Situation::new("engine-failed", exit::INCOMPLETE, error.to_string()))?;
    if !ledger.answer_gate(&row.id, &text).await? {
        return Err(too_late(&row, "somebody has answered it"));
    }
    if !quiet {
        out::note(&format!("{} is answered with {}.", row.id, said.choice));
    }
    Ok(exit::DONE)
}

/// As a comment would say it.
fn words(args: &AnswerArgs) -> String {
    let figures = [
        args.max_iterations.map(|figure| format!("iterations={figure}")),
        args.max_prs.map(|figure| format!("prs={figure}")),
        args.max_minutes.map(|figure| format!("minutes={figure}")),
        args.max_dollars.map(|figure| format!("dollars={figure}")),
        args.reason.clone(),
    ];
    let parts = [Some(args.choice.clone())].into_iter().chain(figures).flatten();
    parts.collect::<Vec<String>>().join(" ")
}

fn gate(row: &GateRow) -> Result<Gate, Situation> {
    serde_json::from_str(&row.question).map_err(|error| {
        Situation::new("engine-failed", exit::INCOMPLETE, format!("the question {} cannot be read: {error}", row.id))
            .help("was it asked by a newer Tribunal? then update this one")
    })
}

fn millis(at: i64) -> Millis {
    Millis::try_from(at).unwrap_or(0)
}

fn unknown(args: &AnswerArgs) -> Situation {
    Situation::new("unknown-gate", exit::USAGE, format!("there is no question {} in this repository's ledger", args.gate))
        .help("`tribunal gate list` shows those that wait; run it where the sweep was started")
}

fn too_late(row: &GateRow, why: &str) -> Situation {
    Situation::new("gate-closed", exit::FINDINGS, format!("{}: {why}; nothing was recorded", row.id))
        .help("`tribunal gate list` shows those that still wait")
}
