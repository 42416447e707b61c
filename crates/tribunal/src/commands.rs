//! One file per command.

mod agents;
mod awaiting;
mod clerk;
mod compare;
mod config;
mod demo;
mod dismiss;
mod doctor;
mod explain;
mod gate;
mod history;
mod index;
mod init;
mod library;
mod loops;
mod pr;
mod publish;
mod record;
mod review;
mod rules;
mod search;
mod settle;
mod spend;
mod sweep;
mod trust;
mod why;

use crate::cli::{AgentsCommand, Cli, Colour, Command, ConfigCommand};
use crate::situation::{Situation, exit};
use crate::terminal::out::{self, Printable};
use clap::CommandFactory as _;
use tribunal_core::policy::loops::LoopKind;

pub fn dispatch(cli: Cli) -> Result<u8, Situation> {
    match cli.color {
        Colour::Auto => {}
        Colour::Always => anstream::ColorChoice::Always.write_global(),
        Colour::Never => anstream::ColorChoice::Never.write_global(),
    }
    let quiet = cli.quiet;
    match cli.command {
        Command::Review(args) => block_on(review::run(&args, quiet)),
        Command::Publish(args) => block_on(publish::run(&args, quiet)),
        Command::Dismiss(args) => block_on(dismiss::run(&args, quiet)),
        Command::Watch(args) => block_on(loops::run(LoopKind::Watch, &args, quiet)),
        Command::Respond(args) => block_on(loops::run(LoopKind::Respond, &args, quiet)),
        Command::Await(args) => block_on(awaiting::run(&args, quiet)),
        Command::Sweep(args) => block_on(sweep::run(&args, quiet)),
        Command::Gate { command } => block_on(gate::run(&command, quiet)),
        Command::Settle(args) => block_on(settle::run(&args, quiet)),
        Command::Why(args) => block_on(why::run(&args, quiet)),
        Command::Index(args) => block_on(index::run(&args, quiet)),
        Command::Search(args) => block_on(search::run(&args, quiet)),
        Command::Pr { command } => pr::run(*command, quiet),
        Command::History { limit, format } => block_on(history::list(limit, format)),
        Command::Show { run, output } => block_on(history::show(&run, &output)),
        Command::Replay { run, output } => block_on(history::replay(&run, &output)),
        Command::Compare { before, after, format } => block_on(compare::run(&before, &after, format)),
        Command::Init { dry_run, force } => init::run(dry_run, force),
        Command::Doctor => block_on(doctor::run()),
        Command::Agents { command: None, format } => agents::list(format),
        Command::Agents { command: Some(AgentsCommand::Test { name }), .. } => block_on(agents::test(name)),
        Command::Agents { command: Some(AgentsCommand::Record { by, format }), .. } => block_on(record::run(by, format)),
        Command::Spend { by, format } => block_on(spend::run(by, format)),
        Command::Config { command: ConfigCommand::Show { format } } => config::show(format),
        Command::Trust { pull, base, dry_run, yes } => block_on(trust::run(pull.as_deref(), base, dry_run, yes)),
        Command::Explain { name } => explain::run(&name),
        Command::Rules { command } => rules::run(command),
        Command::Demo { fleet: true, .. } => demo::fleet(),
        Command::Demo { fleet: false, output } => demo::run(&output, quiet),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "tribunal", &mut script);
            out::write(&Printable::own(String::from_utf8_lossy(&script).into_owned()))?;
            Ok(exit::DONE)
        }
        Command::Man => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command())
                .render(&mut page)
                .map_err(|error| Situation::new("engine-failed", exit::INCOMPLETE, error.to_string()))?;
            out::write(&Printable::own(String::from_utf8_lossy(&page).into_owned()))?;
            Ok(exit::DONE)
        }
        Command::Schema { name } => {
            out::write(&Printable::own(crate::schemas::schema(name)))?;
            Ok(exit::DONE)
        }
    }
}

fn block_on(work: impl Future<Output = Result<u8, Situation>>) -> Result<u8, Situation> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Situation::new("engine-failed", exit::INCOMPLETE, error.to_string()))?;
    let result = runtime.block_on(work);
    // An interrupted run must not wait for agents that were just ended.
    runtime.shutdown_background();
    result
}
