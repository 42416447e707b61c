//! The rules of the contract, each played through on a calm stage.

#[path = "rules/budgets.rs"]
mod budgets;
#[path = "rules/flags.rs"]
mod flags;
#[path = "rules/gates.rs"]
mod gates;
#[path = "rules/lock.rs"]
mod lock;
#[path = "rules/looping.rs"]
mod looping;
#[path = "rules/merging.rs"]
mod merging;
#[path = "rules/reports.rs"]
mod reports;
#[path = "rules/resume.rs"]
mod resume;
#[path = "rules/rounds.rs"]
mod rounds;
#[path = "rules/words.rs"]
mod words;
