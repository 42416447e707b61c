//! `tribunal watch PR` and `tribunal respond PR`

use super::review::pull::{AtHand, commands_withheld, fetch, on_forge, withheld};
use super::review::{interrupt, nonce, programs, run_id};
use crate::cli::loops::{LoopArgs, LoopFormat, WaitArgs};
use crate::situation::{Situation, exit};
use crate::terminal::out::Printable;
use crate::terminal::{file, out, progress};
use crate::workspace::forge::connect;
use crate::workspace::guidance::Guidance;
use crate::workspace::{self, Person, Setup};
use std::path::PathBuf;
use std::sync::Arc;
use tribunal_agent::sandbox::lack_that_is_allowed;
use tribunal_core::calendar::rfc3339;
use tribunal_core::combine::verdict::FailLevel;
use tribunal_core::feedback::reviewer::Filter;
use tribunal_core::findings::scale::Priority;
use tribunal_core::ids::AgentName;
use tribunal_core::policy::confinement::{ProgramNetwork, unconfined_notice};
use tribunal_core::policy::loops::{LoopKind, LoopPolicy, WaitPolicy};
use tribunal_core::policy::span::Span;
use tribunal_core::procedure::remediate::{Input, Request, State};
use tribunal_core::publish::visible::visible_line;
use tribunal_core::pull::place::ForgeKind;
use tribunal_core::remedy::end::{End, Ended};
use tribunal_core::remedy::ladder::exit_code;
use tribunal_core::remedy::report::files::{Awaited, Folder};
use tribunal_core::remedy::report::respond::{RespondEnd, respond_report};
use tribunal_core::remedy::report::{Report, comment::comment, text::text};
use tribunal_engine::checkout_file;
use tribunal_engine::effects::ask::{Agents, Recording};
use tribunal_engine::host::Work as _;
use tribunal_engine::host::embedded::{Host, stored};
use tribunal_engine::remediate::Remedies;
use tribunal_engine::remediate::lint::read_file;
use tribunal_forge::git::Repository;
use tribunal_forge::git::write::Signature;

pub async fn run(kind: LoopKind, args: &LoopArgs, quiet: bool) -> Result<u8, Situation> {
    let here = workspace::discover_optional()?.map(Arc::new);
    let personal = workspace::personal_config()?;
    let connected = connect(&args.pull.parse()?, here.as_deref(), &personal.forge).await?;
    let at_hand = fetch(connected, here.clone()).await?;
    if let Some(base) = args.base.as_ref().filter(|base| **base != at_hand.pull.base.branch) {
        let message = format!("{} is against `{}`, not against `{base}`", at_hand.connected.place, at_hand.pull.base.branch);
        return Err(Situation::new("retargeted", exit::USAGE, message)
            .help("somebody may have changed its target; look before you go on"));
    }
    let setup = workspace::set_up_with(Guidance::at(&at_hand.repository, &at_hand.base_tip, &at_hand.connected.place), None)?;
    let ledger = workspace::open_ledger(&workspace::ledger_folder(here.as_deref())).await?;
    // A watch and a review of the same pull request keep out of each other's way only while they write.
    // A rehearsal is never gone on with in earnest.
    let what = if args.dry_run { "rehearsal" } else { "loop" };
    let case_id = format!("{what}:{}", at_hand.connected.place.case_id());
    let reporter = progress::Reporter::new(quiet);
    let mut request = request(kind, args, &at_hand, &setup).await?;
    request.loops.sarif = sarif_files(&args.sarif, &request.loops.sarif, here.as_deref(), &at_hand)?;
    let remedies = Remedies {
        signature: signature(&at_hand, here.as_deref()).await?,
        on: on_forge(&at_hand.connected),
        repository: Arc::clone(&at_hand.repository),
        rules: Arc::new(setup.rules),
        agents: Agents::new(Arc::clone(&ledger), workspace::scratch_root(), Recording::default()),
        listener: reporter.listener(),
        pages: workspace::ledger_folder(here.as_deref()).join("pr-reviews"),
    };
    let host = Host { ledger: Arc::clone(&ledger), effects: Arc::new(remedies), folder: Person::here().state };
    let fail_level = request.policy.fail_level;
    let work = async {
        // Killed or interrupted before: it goes on with what it was asked for then.
        let unfinished = ledger.unsettled(Remedies::PROCEDURE, Some(&case_id)).await?;
        // A pass of an older version, which did not ask who may write, is over: it begins anew.
        let is_over = match &unfinished {
            Some(row) => stored::<Remedies>(row)?.is_settled(),
            None => false,
        };
        match unfinished.filter(|_| !is_over) {
            Some(row) => {
                if !quiet {
                    out::note(&format!("going on with {}, which was not finished", row.id));
                }
                let unfinished = stored::<Remedies>(&row)?.request.loops.kind;
                if unfinished != kind {
                    let message = format!("a `tribunal {}` of this pull request is not finished", unfinished.word());
                    return Err(Situation::new("unfinished-loop", exit::USAGE, message).help(format!(
                        "go on with it: tribunal {} {}",
                        unfinished.word(),
                        args.pull
                    )));
                }
                Ok(host.resume(row).await?)
            }
            None => {
                let run = request.run.clone();
                Ok(host.begin(&run, Input::Start { request: Box::new(request) }, &case_id).await?)
            }
        }
    };
    let state = unless_interrupted(work, &reporter, kind).await?;
    host.effects.close_pages(&state);
    let Some(report) = state.report() else {
        return Err(Situation::new("engine-failed", exit::INCOMPLETE, "the loop ended without a report"));
    };
    print(report, &state, args)?;
    if !quiet && args.format == LoopFormat::Text {
        items(report).iter().for_each(|line| out::note(line));
    }
    Ok(match level(fail_level) {
        Some(level) => report.exit_code(level),
        None => exit_code(report.reason, false),
    })
}

async fn unless_interrupted(
    work: impl Future<Output = Result<State, Situation>>,
    reporter: &progress::Reporter,
    kind: LoopKind,
) -> Result<State, Situation> {
    let state = tokio::select! {
        state = work => state,
        () = interrupt() => {
            tribunal_agent::process::end_all();
            reporter.finish();
            return Err(Situation::new("interrupted", 130, "interrupted")
                .help(format!("what was done is kept; the same `tribunal {}` goes on", kind.word())));
        }
    };
    reporter.finish();
    state
}

pub(super) async fn request(kind: LoopKind, args: &LoopArgs, at_hand: &AtHand, setup: &Setup) -> Result<Request, Situation> {
    let mut config = setup.merged.config.clone();
    let agent = |name: &Option<String>| name.as_deref().map(AgentName::from);
    config.fix.agent = agent(&args.fixer).or(config.fix.agent);
    config.fix.assess = agent(&args.assessor).or(config.fix.assess);
    config.fix.check = agent(&args.checker).or(config.fix.check);
    let bad = |problem: String| Situation::new("bad-config", exit::USAGE, problem);
    let mut loops = LoopPolicy::new(kind, &config).map_err(bad)?;
    if let Some(reviewer) = &args.reviewer {
        loops.reviewer.clone_from(reviewer);
    }
    loops.reviewer.parse::<Filter>().map_err(|problem| bad(problem.to_string()))?;
    if let Some(cycles) = args.cycles {
        if cycles == 0 {
            return Err(bad("--cycles must be at least 1".into()));
        }
        loops.cycles = cycles;
    }
    loops.once = args.once || args.dry_run;
    loops.dry_run = args.dry_run;
    loops.comment |= args.comment;
    loops.wait = waits(&args.wait, loops.wait);
    let ours: Vec<&AgentName> = [&loops.fixer, &loops.assessor].into_iter().chain(&loops.checker).collect();
    is_trusted(&loops, &ours, setup)?;
    if let Some(notice) = unconfined(&loops, &ours, setup) {
        out::note(&notice);
    }
    // The commands run what the change brings.
    if !loops.validate.is_empty() && lack_that_is_allowed(ProgramNetwork::Nobody).is_some() {
        loops.validate_not_trusted = commands_withheld(&at_hand.connected, &at_hand.pull, &loops.bots).await?;
    }
    let withheld = withheld(&at_hand.connected, &at_hand.pull, setup, &ours).await?;
    Ok(Request {
        run: run_id(),
        engine: env!("CARGO_PKG_VERSION").into(),
        place: at_hand.connected.place.clone(),
        policy: setup.policy.clone(),
        loops,
        withheld,
        nonce: nonce(),
    })
}

/// Said loudly where agents, or the commands that prove a fix, would run with nothing around them.
fn unconfined(loops: &LoopPolicy, ours: &[&AgentName], setup: &Setup) -> Option<String> {
    let commands = (!loops.validate.is_empty()).then_some(("validate.commands", ProgramNetwork::Nobody));
    unconfined_notice(programs(&setup.policy, ours).chain(commands), &lack_that_is_allowed)
}

/// Nothing is begun that could not be ended: whoever fixes, and what proves a fix, must be trusted before anything is read or asked.
fn is_trusted(loops: &LoopPolicy, ours: &[&AgentName], setup: &Setup) -> Result<(), Situation> {
    let agents = ours.iter().filter_map(|name| setup.policy.agents.get(*name)?.not_trusted());
    match agents.chain(loops.validate_not_trusted.as_deref()).next() {
        None => Ok(()),
        Some(why) => {
            Err(Situation::new("not-trusted", exit::INCOMPLETE, why).help("nothing was begun; then run the same command again"))
        }
    }
}

/// All files of linters' results, as they are opened from anywhere. Each must be there and be what it should be before anything begins.
fn sarif_files(
    given: &[PathBuf],
    configured: &[String],
    here: Option<&Repository>,
    at_hand: &AtHand,
) -> Result<Vec<String>, Situation> {
    let bad = |message: String| Situation::new("bad-sarif", exit::USAGE, message);
    let mut files: Vec<PathBuf> = Vec::new();
    for file in given {
        files.push(std::path::absolute(file).map_err(|error| bad(format!("{}: {error}", file.display())))?);
    }
    let root = here.and_then(|repository| repository.work_tree.as_ref());
    for file in configured {
        let Some(root) = root else {
            return Err(bad(format!("`sarif` of the configuration names {file}, and there is no checkout here"))
                .help("run it in a checkout of the repository"));
        };
        files.push(root.join(file));
    }
    let mut names: Vec<String> = Vec::new();
    let reviewed = (at_hand.repository.as_ref(), &at_hand.pull.head.sha);
    for file in files {
        checkout_file::check(&file, here, Some(reviewed)).map_err(bad)?;
        let name = file.to_str().ok_or_else(|| bad(format!("{}: its name is not UTF-8", file.display())))?.to_owned();
        read_file(&name)
            .map_err(|problem| bad(problem).help("nothing was begun; run the linter, then the same command again"))?;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

pub(super) fn waits(args: &WaitArgs, usual: WaitPolicy) -> WaitPolicy {
    WaitPolicy {
        poll: args.poll.unwrap_or(usual.poll).max(Span::seconds(1)),
        settle: args.settle.unwrap_or(usual.settle),
        idle: args.idle.unwrap_or(usual.idle),
        total: args.total.unwrap_or(usual.total),
    }
}

/// Who our commits say made them: on a forge the account that pushes them, in a plain repository whoever sits here.
pub(super) async fn signature(at_hand: &AtHand, here: Option<&Repository>) -> Result<Signature, Situation> {
    if at_hand.connected.place.kind == ForgeKind::Local
        && let Some(signature) = here.and_then(Repository::signature)
    {
        return Ok(signature);
    }
    let me = at_hand.connected.forge.identity().await?;
    let host = at_hand.connected.place.project.host().split(':').next().unwrap_or_default().to_owned();
    Ok(Signature { email: format!("{}@noreply.{host}", me.login.replace("[bot]", "")), name: me.login })
}

fn print(report: &Report, state: &State, args: &LoopArgs) -> Result<(), Situation> {
    let ended = |text: String| if text.ends_with('\n') { text } else { text + "\n" };
    let printable = match args.format {
        LoopFormat::Text => Printable::page(&ended(words(report, state))),
        LoopFormat::Markdown => Printable::plain(&ended(comment(report))),
        LoopFormat::Json => Printable::json_of(report)?,
    };
    match &args.output {
        Some(file) => file::write(file, printable.as_str()),
        None => out::write(&printable),
    }
}

/// Each loop reports in its own form, where that has a word for the reason.
fn words(report: &Report, state: &State) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_millis();
    let now = u64::try_from(now).unwrap_or(0);
    let minutes = now.saturating_sub(state.started_at) / 60_000;
    let is_respond = state.request.loops.kind == LoopKind::Respond;
    match RespondEnd::of(report, minutes, &rfc3339(now)).filter(|_| is_respond) {
        Some(end) => {
            let (number, awaited) = (report.pull.number, Awaited(state.request.loops.reviewer.clone()));
            let commits = state.memory.commits.len();
            respond_report(report, &end, state.memory.cycles, commits, &awaited, &Folder(format!("pr-reviews/{number}")))
        }
        None => text(report),
    }
}

/// Every item and what became of it, for people; the report itself has a form that programs read.
fn items(report: &Report) -> Vec<String> {
    let width = |cells: &mut dyn Iterator<Item = usize>| cells.max().unwrap_or(0).min(48);
    let places = width(&mut report.items.iter().map(|ended| ended.place.chars().count()));
    let authors = width(&mut report.items.iter().map(|ended| ended.author.chars().count()));
    let line = |ended: &Ended| {
        let colour = match &ended.end {
            End::Fixed { .. } | End::Declined { .. } | End::Deferred { .. } | End::NothingAsked => "32",
            End::LeftOut { .. } | End::AnsweredBefore => "2",
            End::Asked { .. } | End::Open { .. } => "33",
        };
        let (place, author) = (visible_line(&ended.place), visible_line(&ended.author));
        let word = ended.end.word();
        format!(
            "  {place:<places$}  {author:<authors$}  \u{1b}[{colour}m{word:<13}\u{1b}[0m {}",
            visible_line(&ended.end.details())
        )
    };
    let mut lines = vec![String::new()];
    lines.extend(report.items.iter().map(line));
    lines
}

fn level(level: FailLevel) -> Option<Priority> {
    match level {
        FailLevel::P0 => Some(Priority::P0),
        FailLevel::P1 => Some(Priority::P1),
        FailLevel::P2 => Some(Priority::P2),
        FailLevel::P3 => Some(Priority::P3),
        FailLevel::Never => None,
    }
}
