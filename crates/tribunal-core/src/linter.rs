//! Linters as reviewers. A profile (`linters/NAME.toml`) is data: the program, its fixed arguments, which configuration it may read,
//! where its output names file, line, rule and message, and which category and weight each of its rules has.
//!
//! Everything here is pure: [`profile`] is the type, [`built_in`] the profiles in the binary, [`output`] turns what a linter printed
//! into results, [`triage`] weighs a rule, [`claim`] turns results into a reviewer's report, [`scope`] says which categories a seat
//! answers for, [`suppression`] what the change keeps a linter from saying. Running the program is `tribunal-agent`'s part.

pub mod built_in;
pub mod claim;
pub mod edit;
pub mod output;
pub mod profile;
pub mod scope;
pub mod suppression;
pub mod triage;
