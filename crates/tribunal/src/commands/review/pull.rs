//! `tribunal review PR`

use super::{finish, flag_layer, recording, request, unless_interrupted};
use crate::cli::ReviewArgs;
use crate::commands::library as references;
use crate::commands::publish::bad_receipt;
use crate::situation::{Situation, exit};
use crate::terminal::out::Printable;
use crate::terminal::{out, progress};
use crate::workspace::forge::{Connected, connect, reconnect};
use crate::workspace::guidance::Guidance;
use crate::workspace::target::Chosen;
use crate::workspace::{self, Person, Setup};
use std::collections::BTreeMap;
use std::sync::Arc;
use tribunal_agent::rules::compile::RuleSet;
use tribunal_agent::sandbox::lack;
use tribunal_core::combine::dismissal::{allowing, words};
use tribunal_core::findings::role::{Role, When};
use tribunal_core::ids::{AgentName, Sha};
use tribunal_core::merge::facts::HeadMaker;
use tribunal_core::plan::spec::{linked_issue, spec_in};
use tribunal_core::policy::agents::Means;
use tribunal_core::policy::config::{Config, Policy};
use tribunal_core::policy::identity::Bots;
use tribunal_core::policy::panel::Player;
use tribunal_core::policy::trust::{Author, Standing};
use tribunal_core::procedure::review::brought::{Brought, ReceiptMismatch, check_receipt, not_asked};
use tribunal_core::procedure::review::pull::{LinkedIssue, PullRun};
use tribunal_core::procedure::review::{Input, Phase, Request, State, Target};
use tribunal_core::prompt::language::{has_prose, language_of};
use tribunal_core::publish::reconcile::Write;
use tribunal_core::pull::facts::{Issue, Permission, Pull, PullState};
use tribunal_core::pull::place::{Asked, ForgeKind};
use tribunal_core::report::document::Document;
use tribunal_core::report::publication::{PublicationEnd, PullSubject};
use tribunal_engine::effects::Effects;
use tribunal_engine::effects::ask::Agents;
use tribunal_engine::effects::on_forge::{LookedUp, OnForge};
use tribunal_engine::host::Work as _;
use tribunal_engine::host::embedded::Host;
use tribunal_engine::say_once::Posted;
use tribunal_forge::git::Repository;
use tribunal_forge::git::change::ChangeBase;
use tribunal_store::{Ledger, RunRow};

/// A pull request whose change is at hand.
pub(in crate::commands) struct AtHand {
    pub connected: Connected,
    pub pull: Pull,
    pub repository: Arc<Repository>,
    /// The tip of the branch it is to be merged into: what the repository says about its own review is read there.
    pub base_tip: Sha,
    pub merge_base: Sha,
}

pub async fn begin(
    args: &ReviewArgs,
    asked: &Asked,
    here: Option<Arc<Repository>>,
    receipt: Option<Document>,
    quiet: bool,
) -> Result<u8, Situation> {
    let personal = workspace::personal_config()?;
    let connected = connect(asked, here.as_deref(), &personal.forge).await?;
    let at_hand = fetch(connected, here.clone()).await?;
    let Prepared { mut request, rules, config } = prepare(args, &at_hand, receipt).await?;
    let case_id = at_hand.connected.place.case_id();

    // A dry run leaves nothing behind: the next review must not take it for one that was posted.
    let aside = args.dry_run.then(tempfile::tempdir).transpose().map_err(|error| {
        Situation::new("engine-failed", exit::INCOMPLETE, format!("a temporary folder cannot be made: {error}"))
    })?;
    let folder = aside.as_ref().map_or_else(|| workspace::ledger_folder(here.as_deref()), |folder| folder.path().to_owned());
    let ledger = workspace::open_ledger(&folder).await?;
    let reporter = progress::Reporter::new(quiet);
    let agents = Agents::new(Arc::clone(&ledger), workspace::scratch_root(), recording(args, &ledger).await?);
    references::say(&mut request, &at_hand, &config, None, &ledger).await?;
    let mut effects = Effects::new(Some(Arc::clone(&at_hand.repository)), Arc::new(rules), agents, reporter.listener());
    effects.on = Some(OnForge { dry: args.dry_run, ..on_forge(&at_hand.connected) });
    // One writer per pull request on this machine, from whichever checkout it is started.
    let host = Host { ledger: Arc::clone(&ledger), effects: Arc::new(effects), folder: Person::here().state };
    let unpublished = unpublished(&ledger, &case_id, &request).await?;
    let (run, start) = (request.run.clone(), Input::Start { request: Box::new(request) });
    let state = match unpublished {
        Some(row) if !args.dry_run => unless_interrupted(host.resume(row), &reporter).await?,
        _ => unless_interrupted(host.begin(&run, start, &case_id), &reporter).await?,
    };
    end(state, &ledger, args, quiet).await
}

/// A review that can begin.
pub(in crate::commands) struct Prepared {
    pub request: Request,
    pub rules: RuleSet,
    /// What is in force.
    pub config: Config,
}

pub(in crate::commands) async fn prepare(
    args: &ReviewArgs,
    at_hand: &AtHand,
    receipt: Option<Document>,
) -> Result<Prepared, Situation> {
    let guidance = Guidance::at(&at_hand.repository, &at_hand.base_tip, &at_hand.connected.place);
    let mut setup = workspace::set_up_with(guidance, flag_layer(args)?)?;
    if let Some(agent) = &args.agent {
        setup.play_all(agent)?;
    }
    let pull = match receipt {
        None => pull_run(args, at_hand, &setup, None).await?,
        Some(receipt) => pull_run(args, at_hand, &setup, Some(brought(&receipt, at_hand, &setup)?)).await?,
    };
    let mut request = request(args, &setup, &chosen(at_hand))?;
    request.spec = request.spec.or_else(|| spec_of(&at_hand.pull, &setup));
    if at_hand.pull.draft {
        request.notices.push("This is a draft.".into());
    }
    request.pull = Some(pull);
    Ok(Prepared { request, rules: setup.rules, config: setup.merged.config })
}

pub(in crate::commands) fn on_forge(connected: &Connected) -> OnForge {
    let (looked_up, posted) = (LookedUp::default(), Posted::default());
    OnForge { forge: Arc::clone(&connected.forge), key: connected.key.clone(), dry: false, looked_up, posted }
}

/// What a receipt adds: findings whose evidence stands in the change as it is read here.
fn brought(receipt: &Document, at_hand: &AtHand, setup: &Setup) -> Result<Brought, Situation> {
    check_receipt(receipt, &at_hand.connected.place, &at_hand.pull.head.sha).map_err(|mismatch| match mismatch {
        ReceiptMismatch::OtherHead { .. } => Situation::new("head-moved", exit::NOT_YET, format!("the receipt {mismatch}"))
            .help("review the new head; nothing was posted"),
        ReceiptMismatch::NoPullRequest | ReceiptMismatch::OtherPullRequest { .. } => bad_receipt(&mismatch.to_string()),
    })?;
    let base = ChangeBase { commit: &at_hand.merge_base, tip: &at_hand.base_tip };
    let read = at_hand.repository.read_change(base, &at_hand.pull.head.sha, setup.policy.read_limits())?;
    Ok(Brought::from_receipt(receipt, &read.change, &setup.roles))
}

/// Goes on with a run of a pull request.
pub async fn host(
    request: &Request,
    ledger: Arc<Ledger>,
    agents: Agents,
    reporter: &progress::Reporter,
) -> Result<Host<Effects>, Situation> {
    let Some(pull) = &request.pull else {
        return Err(Situation::new("engine-failed", exit::INCOMPLETE, "the run is of no pull request"));
    };
    let personal = workspace::personal_config()?;
    let here = workspace::discover_optional()?.map(Arc::new);
    let connected = reconnect(&pull.subject.place, here.as_deref(), &personal.forge).await?;
    let at_hand = fetch(connected, here).await?;
    let rules = workspace::rules_with(&Guidance::at(&at_hand.repository, &pull.base_tip, &at_hand.connected.place), request)?;
    let mut effects = Effects::new(Some(at_hand.repository), Arc::new(rules), agents, reporter.listener());
    effects.on = Some(on_forge(&at_hand.connected));
    Ok(Host { ledger, effects: Arc::new(effects), folder: Person::here().state })
}

/// A review of the same head that was finished and could not be posted whole.
async fn unpublished(ledger: &Ledger, case_id: &str, request: &Request) -> Result<Option<RunRow>, Situation> {
    let Some(row) = ledger.unsettled(Effects::PROCEDURE, Some(case_id)).await? else { return Ok(None) };
    let Ok(state) = serde_json::from_str::<State>(&row.state) else { return Ok(None) };
    let same = state.request.target == request.target && state.request.review_fingerprint() == request.review_fingerprint();
    let waits = matches!(state.phase, Phase::Publishing(_));
    Ok((same && waits && request.pull.as_ref().is_some_and(|pull| pull.publish)).then_some(row))
}

/// Reads the pull request and brings its change here.
pub(in crate::commands) async fn fetch(connected: Connected, here: Option<Arc<Repository>>) -> Result<AtHand, Situation> {
    let number = connected.place.number;
    let pull = connected.forge.pull(number).await?;
    if pull.state != PullState::Open {
        return Err(Situation::new("not-open", exit::USAGE, format!("{} is {}", connected.place, pull.state.word()))
            .help("only an open one is reviewed; its commits can be: tribunal review --range A...B"));
    }
    let source = connected.forge.source(&pull);
    let (base, head) = (pull.base.sha.clone(), pull.head.sha.clone());
    let folder = clone_folder(&connected);
    let kind = connected.place.kind;
    let (repository, fetched, merge_base) = tokio::task::spawn_blocking(move || -> Result<_, Situation> {
        let repository = match (kind, here) {
            (ForgeKind::Local, Some(here)) => here,
            _ => Arc::new(Repository::clone_of(&folder, &source)?),
        };
        let fetched = match kind {
            ForgeKind::Local => tribunal_forge::git::fetch::Fetched { base, head },
            // What a forge says of the base may be of an earlier day, and the policy is the one of today.
            _ => {
                let pull = repository.fetch_pull(&source, &base, &head)?;
                tribunal_forge::git::fetch::Fetched { base: repository.fetch_base(&source)?, ..pull }
            }
        };
        let merge_base = repository.merge_base(&fetched.base, &fetched.head, "base", "head")?;
        repository.bring_changed(&merge_base, &fetched.head)?;
        Ok((repository, fetched, merge_base))
    })
    .await
    .map_err(|error| Situation::new("engine-failed", exit::INCOMPLETE, error.to_string()))??;
    if fetched.head != pull.head.sha {
        return Err(Situation::new(
            "head-moved",
            exit::NOT_YET,
            format!(
                "{} was pushed to while it was read: {} is now {}",
                connected.place,
                pull.head.sha.short(),
                fetched.head.short()
            ),
        )
        .help("run the same command again"));
    }
    Ok(AtHand { connected, pull, repository, base_tip: fetched.base, merge_base })
}

/// Our own clone of a project.
pub(in crate::commands) fn clone_folder(connected: &Connected) -> std::path::PathBuf {
    Person::here().cache.join("git").join(format!("{}.git", connected.place.project.folder_name()))
}

/// PR-39: the description's own goal or requirement section, where somebody on the panel can read a spec. Rules cannot, and nobody
/// asked for it by name, so they are not called to fail at it.
fn spec_of(pull: &Pull, setup: &Setup) -> Option<String> {
    reads_specs(&setup.roles, &setup.policy).then(|| spec_in(&pull.body)).flatten()
}

/// Is there anybody on the panel who can hold a change against a text?
pub(in crate::commands) fn reads_specs(roles: &[Role], policy: &Policy) -> bool {
    let auditors = roles.iter().filter(|role| role.when == When::HasSpec).map(|role| &role.name);
    let players = auditors.filter_map(|role| policy.panel.get(role)).flatten();
    let mut means = players.filter_map(|player| policy.agents.get(&player.agent)).map(|agent| agent.means());
    means.any(|means| !matches!(means, Means::Rules))
}

fn chosen(at_hand: &AtHand) -> Chosen {
    let place = &at_hand.connected.place;
    Chosen {
        target: Target::Trees {
            base: at_hand.merge_base.clone(),
            head: at_hand.pull.head.sha.clone(),
            subject: format!("{place} ({} into {})", at_hand.pull.head.branch, at_hand.pull.base.branch),
            tip: Some(at_hand.base_tip.clone()),
        },
        case_id: place.case_id(),
        patch: None,
        left_out: Vec::new(),
        included: Default::default(),
        notices: Vec::new(),
    }
}

async fn pull_run(args: &ReviewArgs, at_hand: &AtHand, setup: &Setup, brought: Option<Brought>) -> Result<PullRun, Situation> {
    let AtHand { connected, pull, base_tip, .. } = at_hand;
    let withheld = match &brought {
        // Where a receipt is posted only the rules look; it does not stand in for anybody else.
        Some(_) => not_asked(&setup.policy),
        None => withheld(connected, pull, setup, &[]).await?,
    };
    let wants_issue = !has_prose(&pull.body) || is_read_by_agents(&setup.policy);
    let issue = if wants_issue { issue_of(connected, pull).await } else { None };
    Ok(PullRun {
        subject: PullSubject { place: connected.place.clone(), title: pull.title.clone(), url: pull.url.clone() },
        author: pull.author.clone(),
        updated_at: pull.updated_at.clone(),
        base_tip: base_tip.clone(),
        base_branch: Some(pull.base.branch.clone()),
        language: language(pull, issue.as_ref()),
        linked_issue: issue.as_ref().filter(|_| is_read_by_agents(&setup.policy)).map(LinkedIssue::new),
        brought,
        references: Vec::new(),
        publish: !args.no_publish,
        withheld,
    })
}

/// PR-83: the description's language, then the linked issue's. A linked issue that cannot be read leaves English.
fn language(pull: &Pull, issue: Option<&Issue>) -> Option<String> {
    let text = if has_prose(&pull.body) { pull.body.as_str() } else { issue?.body.as_str() };
    language_of([text]).map(str::to_owned)
}

/// The issue that the description says it closes; nothing if the forge does not give it.
async fn issue_of(connected: &Connected, pull: &Pull) -> Option<Issue> {
    connected.forge.issue(linked_issue(&pull.body)?).await.ok()
}

/// Is there anybody on the panel who reads more than code?
fn is_read_by_agents(policy: &Policy) -> bool {
    let mut players = policy.panel.values().flatten().flat_map(Player::agents);
    let thinks = |means: Means<'_>| matches!(means, Means::Model(..) | Means::Cli(..) | Means::Command);
    players.any(|agent| policy.agents.get(agent).is_some_and(|agent| thinks(agent.means())))
}

/// Agents of the panel, and those `besides`, that this author's change is not given to. Nothing is looked up while the rules play alone.
pub(in crate::commands) async fn withheld(
    connected: &Connected,
    pull: &Pull,
    setup: &Setup,
    besides: &[&AgentName],
) -> Result<BTreeMap<AgentName, String>, Situation> {
    let policy = &setup.policy;
    let playing = policy.panel.values().flatten().flat_map(|player| player.agents());
    let verifier = policy.verify.iter().map(|verify| &verify.agent);
    let agents: BTreeMap<&AgentName, _> = playing
        .chain(verifier)
        .chain(besides.iter().copied())
        .filter_map(|name| Some((name, policy.agents.get(name)?)))
        .collect();
    if agents.values().all(|agent| matches!(agent.means(), Means::Rules)) {
        return Ok(BTreeMap::new());
    }
    let (standing, allowed) = standing(connected, pull, &policy.bots).await?;
    let author = Author { standing, is_fork: pull.is_fork, allowed, head: pull.head.sha.as_str() };
    let withheld =
        agents.into_iter().filter_map(|(name, agent)| Some((name.clone(), policy.trust.withheld(agent, author, &lack)?)));
    Ok(withheld.collect())
}

/// Who sent a change, and whether somebody let the agents look at exactly this head.
async fn standing(connected: &Connected, pull: &Pull, bots: &Bots) -> Result<(Standing, bool), Situation> {
    let on = on_forge(connected);
    let is_ours = pull.author.is(&connected.forge.identity().await?);
    let of_author = if is_ours { Permission::Write } else { on.right_of(&pull.author).await? };
    let permission = HeadMaker::least_permission(&on.head_makers(pull).await?, of_author);
    let has_contributed = !permission.may_write() && connected.forge.has_contributed(&pull.author).await?;
    let standing = Standing::of(permission, has_contributed);
    let allowed = standing != Standing::Maintainer && is_allowed(connected, pull, bots).await?;
    Ok((standing, allowed))
}

/// Why commands that would run with nothing around them are not run on this change, if they are not.
pub(in crate::commands) async fn commands_withheld(
    connected: &Connected,
    pull: &Pull,
    bots: &Bots,
) -> Result<Option<String>, Situation> {
    let (standing, allowed) = standing(connected, pull, bots).await?;
    let author = Author { standing, is_fork: pull.is_fork, allowed, head: pull.head.sha.as_str() };
    Ok(author.unconfined_program_withheld())
}

/// Has a person with write access, who is not its author, let the agents look at exactly this head?
async fn is_allowed(connected: &Connected, pull: &Pull, bots: &Bots) -> Result<bool, Situation> {
    let (comments, me) = (connected.forge.comments(pull.number).await?, connected.forge.identity().await?);
    for person in allowing(&words(&comments, &[], &me, bots), &pull.head.sha, &pull.author) {
        if on_forge(connected).right_of(person).await?.may_write() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Exactly what would be sent, as JSON: one object per request.
fn print_writes(writes: &[Write]) -> Result<(), Situation> {
    for write in writes {
        out::write(&Printable::json_of(write)?)?;
    }
    if writes.is_empty() {
        out::note("Nothing would be written.");
    }
    Ok(())
}

pub async fn end(state: State, ledger: &Ledger, args: &ReviewArgs, quiet: bool) -> Result<u8, Situation> {
    let publication = match &state.phase {
        Phase::Done(document) => document.publication.clone(),
        _ => None,
    };
    let place = state.request.pull.as_ref().map(|pull| pull.subject.place.to_string()).unwrap_or_default();
    let code = if args.dry_run {
        print_writes(publication.as_ref().map_or(&[], |publication| publication.planned.as_slice()))?;
        exit_of(&state)
    } else {
        finish(state, ledger, &args.output, quiet).await?
    };
    let Some(publication) = publication else { return Ok(code) };
    if !quiet {
        for shortfall in &publication.shortfalls {
            out::note(&format!("{place}: {shortfall}"));
        }
    }
    match publication.end {
        PublicationEnd::Published => Ok(code),
        PublicationEnd::HeadMoved { to } => Err(Situation::new(
            "head-moved",
            exit::NOT_YET,
            format!("{place} was pushed to while it was reviewed (now {}); nothing was posted", to.short()),
        )
        .help("run the same command again: it reviews what is new")),
        PublicationEnd::Closed => {
            Err(Situation::new("not-open", exit::NOT_YET, format!("{place} was closed or merged meanwhile; nothing was posted")))
        }
        PublicationEnd::ForeignDraft => Err(Situation::new(
            "foreign-draft",
            exit::FORGE,
            format!("somebody is writing a review of {place} by hand under the same account; ours would have sent it along"),
        )
        .help("submit or discard that draft, or give Tribunal an account of its own; then run the same command again")),
        PublicationEnd::Overtaken { run } => Err(Situation::new(
            "posted-elsewhere",
            exit::NOT_YET,
            format!("another run ({run}) has posted a review of {place} meanwhile; nothing was posted over it"),
        )
        .help("run the same command again: it goes on from that review")),
        PublicationEnd::Failed { reason, .. } => Err(Situation::new("forge-failed", exit::FORGE, reason)),
    }
}

fn exit_of(state: &State) -> u8 {
    match &state.phase {
        Phase::Done(document) => document.exit_code(),
        // What is open is open, whichever machine found it.
        Phase::Noop { document: Some(document), .. } => document.exit_code(),
        _ => exit::INCOMPLETE,
    }
}
