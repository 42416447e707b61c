//! Development tasks. `cargo xtask test` is what the README tells people to run, and what CI runs.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod bench_build;
mod contract;
mod layers;
mod peers;
mod test;

use anyhow::{Result, bail};

const USAGE: &str = "\
Usage: cargo xtask TASK

  test              Everything that must hold before a change lands
  test --quick      Form, lints, unit tests, and a tenth of the simulations
  peers [--web]     Fetch or build what tests talk to: agent CLIs, a small model, a Gitea server (and its web pages)
  layers            Fail on a dependency that the design forbids
  bench build       How long the README's commands take from nothing, each next to its limit; half an hour and more
  contract          Check that every contract rule names a test that exists, or says why not

These build the product first:

  docs [--check]    Generate the reference pages and schemas
  bench [PART]      Print each figure that was promised, next to its limit
  picture [--forge] Draw the README's terminal picture; or show a reviewed pull request on a real Gitea in a browser
  corpus PATH...    Run the built-in rules over repositories whose branch `release` is compared with `main`";

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["test"] => test::run(),
        ["test", "--quick"] => test::run_quick(),
        ["peers"] => peers::run(),
        ["peers", "--web"] => peers::gitea::build_web(),
        ["layers"] => layers::run(),
        ["contract"] => contract::run(),
        ["bench", "build"] => bench_build::run(),
        ["docs" | "bench" | "picture" | "corpus", ..] => {
            xtask::run("cargo", &[&["run", "--quiet", "--bin", "xtask-product", "--"], &args[..]].concat())
        }
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => bail!(
            "{}\n\n{USAGE}",
            if args.is_empty() { "no task was named".to_owned() } else { format!("there is no task `{}`", args.join(" ")) }
        ),
    }
}
