//! The library of a project: where it is kept, and what a review asks it.

use super::review::pull::{AtHand, clone_folder, commands_withheld};
use crate::situation::{Situation, exit};
use crate::workspace::forge::{Connected, connect_here};
use crate::workspace::{self, Person};
use std::sync::Arc;
use tribunal_agent::sandbox::lack_that_is_allowed;
use tribunal_core::ids::{RepoPath, RunId};
use tribunal_core::library::hint::Said;
use tribunal_core::library::question::Question;
use tribunal_core::policy::config::{Config, Policy};
use tribunal_core::policy::confinement::{ProgramNetwork, unconfined_notice};
use tribunal_core::policy::forge::ForgeConfig;
use tribunal_core::policy::library::LibraryPolicy;
use tribunal_core::procedure::order::Lookup;
use tribunal_core::procedure::review::Request;
use tribunal_core::pull::place::ForgeKind;
use tribunal_engine::effects::ask::{Agents, Recording};
use tribunal_engine::library::{Account, Asking, Library, LibraryTrouble, symbols};
use tribunal_forge::git::Repository;
use tribunal_forge::git::change::ChangeBase;
use tribunal_store::Ledger;

/// What is kept of a project on a forge lies beside its clone; of a repository without one, in its git directory.
pub fn open(connected: Option<&Connected>, here: Option<&Repository>, ledger: &Arc<Ledger>) -> Library {
    let on_a_forge = connected.filter(|connected| connected.place.kind != ForgeKind::Local);
    let folder = match on_a_forge {
        Some(connected) => clone_folder(connected).with_extension("library"),
        None => workspace::ledger_folder(here).join("library"),
    };
    Library {
        forge: connected.map(|connected| Arc::clone(&connected.forge)),
        tracker: connected.map(|connected| connected.place.kind.name().to_owned()).unwrap_or_default(),
        folder,
        scratch: Person::here().cache.join("library"),
        agents: Arc::new(Agents::new(Arc::clone(ledger), workspace::scratch_root(), Recording::default())),
        turn: tokio::sync::Mutex::default(),
    }
}

/// Looks up what a change should name, where that is wanted, and puts it into the review that is about to begin.
pub async fn say(
    request: &mut Request,
    at_hand: &AtHand,
    config: &Config,
    ordered: Option<&Lookup>,
    ledger: &Arc<Ledger>,
) -> Result<(), Situation> {
    let module = ordered.and_then(|lookup| lookup.module.as_deref());
    let mut policy = LibraryPolicy::new(config, module).map_err(|problem| Situation::new("bad-config", exit::USAGE, problem))?;
    if !policy.says_references(ordered.is_some()) {
        return Ok(());
    }
    let AtHand { connected, pull, repository, base_tip, merge_base } = at_hand;
    // A program with nothing around it is not asked in a stranger's words.
    if policy.qmd.is_some() && policy.qmd_not_trusted.is_none() && lack_that_is_allowed(ProgramNetwork::Anybody).is_some() {
        policy.qmd_not_trusted = commands_withheld(connected, pull, &request.policy.bots).await?;
    }
    let library = open(Some(connected), Some(repository), ledger);
    let change = repository.read_change(ChangeBase::commit(merge_base), &pull.head.sha, request.policy.read_limits())?.change;
    let paths: Vec<&RepoPath> = change.files.iter().map(|file| &file.path).collect();
    let files: Vec<(RepoPath, String)> =
        change.files.iter().filter_map(|file| Some((file.path.clone(), file.new_text.as_deref()?.to_owned()))).collect();
    let asking = Asking {
        question: Question::of_change(&pull.title, &paths, &symbols(&change), policy.limit, policy.min_score),
        said: Said { title: &pull.title, body: &pull.body, branch: &pull.head.branch, files: &files },
    };
    let run = request.run.clone();
    let case_id = connected.place.case_id();
    let account = Account { run: &run, case_id: &case_id, policy: &request.policy, library: &policy };
    let (references, notices) = library.references(account, repository, base_tip, asking).await;
    request.notices.extend(notices);
    if let Some(pull) = &mut request.pull {
        pull.references = references;
    }
    Ok(())
}

/// The library of this checkout, with the forge where it can be reached.
pub struct Here {
    pub repository: Arc<Repository>,
    pub library: Library,
    pub policy: LibraryPolicy,
    in_force: Policy,
    run: RunId,
    pub notices: Vec<String>,
    /// Why the forge is not asked.
    pub without_forge: Option<String>,
}

impl Here {
    pub async fn new(module: Option<&str>, ask_forge: bool) -> Result<Self, Situation> {
        let repository = Arc::new(workspace::discover()?);
        let guidance = workspace::guidance_in_force(Some(&repository), None)?;
        // Rules find nothing here, and take longer to read than a question to answer.
        let (merged, in_force, _) = workspace::policy_with(&guidance, None)?;
        let policy =
            LibraryPolicy::new(&merged.config, module).map_err(|problem| Situation::new("bad-config", exit::USAGE, problem))?;
        if let Some(why) = &policy.qmd_not_trusted {
            return Err(Situation::new("not-trusted", exit::INCOMPLETE, why.clone()).help("nothing was looked up"));
        }
        let ledger = workspace::open_ledger(&workspace::ledger_folder(Some(&repository))).await?;
        let personal: ForgeConfig = workspace::personal_config()?.forge;
        let (connected, without_forge) = match ask_forge {
            true => match connect_here(&repository, &personal).await {
                Ok(connected) => (Some(connected), None),
                Err(situation) => (None, Some(situation.happened)),
            },
            false => (None, None),
        };
        let library = open(connected.as_ref(), Some(&repository), &ledger);
        let index = policy.qmd.as_ref().map(|_| ("library.qmd", ProgramNetwork::Anybody));
        let unconfined = unconfined_notice(index.into_iter(), &lack_that_is_allowed);
        let notices = guidance.notices.into_iter().chain(merged.notices).chain(unconfined).collect();
        Ok(Self { library, policy, in_force, run: super::review::run_id(), notices, without_forge, repository })
    }

    pub fn account(&self) -> Account<'_> {
        Account { run: &self.run, case_id: "library", policy: &self.in_force, library: &self.policy }
    }
}

pub fn unusable(trouble: LibraryTrouble) -> Situation {
    let situation = Situation::new("no-index", exit::INCOMPLETE, trouble.to_string());
    match trouble {
        LibraryTrouble::External { .. } => {
            situation.help("see [library.qmd] in the configuration, or leave it out to use the built-in index")
        }
        LibraryTrouble::Index(_) => situation.help("`tribunal index --rebuild` reads everything anew"),
        LibraryTrouble::Engine(error) => error.into(),
    }
}
