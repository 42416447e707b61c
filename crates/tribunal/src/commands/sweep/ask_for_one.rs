//! Nothing was named: the specs of this checkout are listed, and whoever sits there chooses one (SL-28).

use crate::situation::{Situation, exit};
use crate::terminal::out;
use crate::terminal::table::table;
use std::io::{BufRead as _, IsTerminal as _};
use tribunal_core::procedure::sweep::find::spec_in;
use tribunal_forge::git::Repository;

pub fn ask_for_one(here: Option<&Repository>) -> Result<String, Situation> {
    let specs = here.map(specs).unwrap_or_default();
    let rows = specs.iter().map(|(id, title)| vec![id.clone(), title.clone()]);
    if specs.is_empty() || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        let mut situation = Situation::new("nothing-to-sweep", exit::USAGE, "nothing was named that could be swept")
            .help("name a spec (SPEC-0012), pull requests by number or address, --label, --search or --open");
        if !specs.is_empty() {
            let ids: Vec<&str> = specs.iter().map(|(id, _)| id.as_str()).collect();
            situation = situation.help(format!("specs here: {}", ids.join(", ")));
        }
        return Err(situation);
    }
    out::note(&table(&["SPEC", "TITLE"], rows));
    out::note("Which one is to be swept?");
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    let typed = line.trim().to_ascii_uppercase();
    match specs.into_iter().find(|(id, _)| *id == typed) {
        Some((id, _)) if read.is_ok() => Ok(id),
        _ => Err(Situation::new("unknown-spec", exit::USAGE, format!("`{}` is none of them", line.trim()))),
    }
}

/// Every `spec.md` with a number, in its name or its text, and its title.
fn specs(here: &Repository) -> Vec<(String, String)> {
    let Ok(head) = here.head() else { return Vec::new() };
    let paths = here.all_paths(&head).unwrap_or_default();
    let mut found: Vec<(String, String)> = paths
        .iter()
        .filter(|path| path.file_name().eq_ignore_ascii_case("spec.md"))
        .filter_map(|path| {
            let text = String::from_utf8_lossy(&here.file_at(&head, path.as_str())?).into_owned();
            let id = spec_in(path.as_str()).or_else(|| spec_in(&text))?;
            let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default();
            Some((id, title.trim().to_owned()))
        })
        .collect();
    found.sort();
    found.dedup_by(|one, other| one.0 == other.0);
    found
}
