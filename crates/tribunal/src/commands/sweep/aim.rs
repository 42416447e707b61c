//! What is to be swept: from what was typed to a forge and a target (SL-28).

use super::ask_for_one::ask_for_one;
use crate::cli::sweep::SweepArgs;
use crate::situation::{Situation, exit};
use crate::workspace::forge::{Connected, connect, connect_here};
use std::collections::BTreeSet;
use tribunal_core::policy::forge::ForgeConfig;
use tribunal_core::procedure::sweep::find::spec_in;
use tribunal_core::procedure::sweep::request::Target;
use tribunal_core::pull::place::Asked;
use tribunal_forge::git::Repository;

pub struct Aim {
    /// The project; the number of its place is of no account.
    pub connected: Connected,
    pub target: Target,
}

pub async fn aim(args: &SweepArgs, here: Option<&Repository>, config: &ForgeConfig) -> Result<Aim, Situation> {
    if let Some(pull) = &args.loops.pr {
        let connected = connect(&pull.parse()?, here, config).await?;
        let target = Target::One(connected.place.number);
        return Ok(Aim { connected, target });
    }
    let target = match typed(args)? {
        Typed::Pulls(asked) => return of_pulls(&asked, here, config).await,
        Typed::Target(target) => target,
        Typed::Nothing => Target::Spec(ask_for_one(here)?),
    };
    let Some(here) = here else {
        return Err(Situation::new("no-forge", exit::USAGE, "outside of a checkout only single pull requests can be swept")
            .help("give their addresses as in the browser, or run this in a checkout of the project"));
    };
    Ok(Aim { connected: connect_here(here, config).await?, target })
}

enum Typed {
    Pulls(Vec<Asked>),
    Target(Target),
    Nothing,
}

fn typed(args: &SweepArgs) -> Result<Typed, Situation> {
    if let Some(spec) = &args.spec {
        return Ok(Typed::Target(Target::Spec(spec_id(spec)?)));
    }
    if let Some(label) = &args.label {
        return Ok(Typed::Target(Target::Label(label.clone())));
    }
    if let Some(words) = &args.search {
        return Ok(Typed::Target(Target::Search(words.clone())));
    }
    if args.open {
        return Ok(Typed::Target(Target::Open));
    }
    match args.targets.as_slice() {
        [] => Ok(Typed::Nothing),
        [spec] if is_spec(spec) => Ok(Typed::Target(Target::Spec(spec_id(spec)?))),
        all => match all.iter().find(|one| is_spec(one)) {
            Some(spec) => Err(Situation::new("no-pull-request", exit::USAGE, format!("`{spec}` cannot be swept with others"))
                .help("sweep one spec, or several pull requests")),
            None => Ok(Typed::Pulls(all.iter().map(|one| one.parse()).collect::<Result<_, _>>()?)),
        },
    }
}

fn is_spec(typed: &str) -> bool {
    typed.to_ascii_uppercase().starts_with("SPEC")
}

fn spec_id(typed: &str) -> Result<String, Situation> {
    spec_in(typed).filter(|id| id.len() == typed.trim().len()).ok_or_else(|| {
        Situation::new("unknown-spec", exit::USAGE, format!("`{typed}` names no spec")).help("they look like SPEC-0012")
    })
}

/// All of them must be on one forge, in one project: a set has one lock, and one order of merges.
async fn of_pulls(asked: &[Asked], here: Option<&Repository>, config: &ForgeConfig) -> Result<Aim, Situation> {
    let mut first: Option<Connected> = None;
    let mut numbers = BTreeSet::new();
    for one in asked {
        let connected = connect(one, here, config).await?;
        numbers.insert(connected.place.number);
        match &first {
            Some(known) if known.place.project != connected.place.project => {
                let message = format!("{} and {} are of two projects", known.place, connected.place);
                return Err(Situation::new("no-pull-request", exit::USAGE, message).help("sweep one project at a time"));
            }
            Some(_) => {}
            None => first = Some(connected),
        }
    }
    let connected = first.ok_or_else(|| Situation::new("no-pull-request", exit::USAGE, "no pull request was named"))?;
    Ok(Aim { connected, target: Target::Numbers(numbers) })
}
