//! The forge that this checkout belongs to: can it be reached, whom does the token speak for, and what must be done in another way.

use super::{Line, bad, good, note, one_line};
use crate::situation::Situation;
use crate::workspace::{
    self,
    forge::{Home, connect_project, of_checkout},
};
use std::collections::BTreeSet;
use tribunal_core::policy::forge::ForgeConfig;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::facts::{PullFilter, PullState};
use tribunal_core::pull::place::ForgeKind;
use tribunal_forge::git::Repository;
use tribunal_forge::local;

pub async fn lines(here: &Repository) -> Vec<Line> {
    // A configuration that cannot be read has a line of its own already.
    let Ok(config) = workspace::personal_config() else { return Vec::new() };
    match of_checkout(here, &config.forge).await {
        Err(situation) => vec![failed("forge", &situation)],
        Ok(home) if home.kind == ForgeKind::Local => {
            let mut lines = vec![good("forge: this repository itself; `tribunal pr` opens pull requests in it")];
            lines.extend(missing(&local::capabilities_of()));
            lines
        }
        Ok(home) => on_server(&home, here, &config.forge).await,
    }
}

async fn on_server(home: &Home, here: &Repository, config: &ForgeConfig) -> Vec<Line> {
    let name = format!("{} at {}", home.kind.name(), home.project.host());
    let (forge, source) = match connect_project(home, here, config).await {
        Ok(reached) => reached,
        // Nothing is broken: whoever reviews branches alone needs none.
        Err(situation) if situation.code == "no-token" => {
            let help = situation.help.first().map(|help| format!(" ({help})")).unwrap_or_default();
            return vec![
                good(format!("forge: {name}, project {}", home.project.path)),
                note(format!("{}; pull requests cannot be reviewed without one{help}", one_line(&situation.happened))),
            ];
        }
        Err(situation) => return vec![failed(&name, &situation)],
    };
    // What is remembered from earlier runs proves nothing about today; this is asked.
    let branch = here.current_branch();
    let filter = PullFilter { head_branch: Some(branch.clone().unwrap_or_else(|| "HEAD".into())), ..PullFilter::default() };
    let (capabilities, me, pulls) = tokio::join!(forge.capabilities(), forge.identity(), forge.pulls(&filter));
    let mut lines = Vec::new();
    match (&capabilities, &pulls) {
        (Err(fault), _) | (_, Err(fault)) => lines.push(failed(&name, &Situation::from(fault.clone()))),
        (Ok(able), Ok(pulls)) => {
            let version = if able.version.is_empty() { String::new() } else { format!(" {}", able.version) };
            let (kind, host) = (home.kind.name(), home.project.host());
            lines.push(good(format!("forge: {kind}{version} at {host} answers, project {}", home.project.path)));
            let open = pulls.iter().filter(|pull| pull.state == PullState::Open);
            lines.extend(open.map(|pull| good(format!("`@` is #{}: {}", pull.number, one_line(&pull.title)))));
        }
    }
    lines.push(match me {
        Ok(me) => good(format!("{source} speaks for {}", me.login)),
        Err(fault) => failed(&source, &Situation::from(fault)),
    });
    lines.extend(capabilities.iter().flat_map(|able| missing(&able.can)));
    lines
}

fn failed(what: &str, situation: &Situation) -> Line {
    let help = situation.help.first().map(|help| format!("; {help}")).unwrap_or_default();
    bad(format!("{what}: {}{help}", one_line(&situation.happened)))
}

/// What it cannot do, and what is done instead.
fn missing(can: &BTreeSet<Capability>) -> Vec<Line> {
    let without = Capability::ALL.into_iter().filter(|capability| !can.contains(capability));
    without.map(|capability| note(format!("no {} there: {}", capability.words(), capability.fall_back()))).collect()
}
