//! Whose change may be given to which agents. Agents cost money, and some of them run programs; what a stranger sends is first looked
//! at by the rules alone, until somebody with write access says `/tribunal allow SHA`.

use super::agents::{AgentConfig, Means};
use super::confinement::Lack;
use crate::pull::facts::Permission;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How well a repository knows the author of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// May push here.
    Maintainer,
    /// Has a role here, but may not push.
    Member,
    /// Something of theirs was merged before.
    Known,
    FirstTime,
}

impl Standing {
    /// The author's permission decides. Where the head is says nothing: on some forges a reader can put one into the repository itself
    /// (AGit, `refs/for/…`).
    pub fn of(permission: Permission, has_contributed: bool) -> Self {
        match permission {
            Permission::Write | Permission::Admin => Standing::Maintainer,
            Permission::Triage => Standing::Member,
            // On a public repository everybody may read.
            Permission::Read | Permission::None if has_contributed => Standing::Known,
            Permission::Read | Permission::None => Standing::FirstTime,
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Standing::Maintainer => "somebody who may push here",
            Standing::Member => "a member",
            Standing::Known => "a known contributor",
            Standing::FirstTime => "a first-time contributor",
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrustConfig {
    /// Agents for a change of somebody with a role, but no right to push. Default `all`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<Reach>,
    /// Agents for a fork's change whose author had something merged before. Default `all`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<Reach>,
    /// Agents for a fork's change of a newcomer. Default `rules`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_time: Option<Reach>,
}

/// How far a change is handed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// Built-in rules only.
    Rules,
    /// Models over HTTP too, which can do nothing but answer.
    Models,
    /// Also agents that run programs, in their sandbox.
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustPolicy {
    pub member: Reach,
    pub known: Reach,
    pub first_time: Reach,
}

impl Default for TrustPolicy {
    fn default() -> Self {
        TrustPolicy { member: Reach::All, known: Reach::All, first_time: Reach::Rules }
    }
}

impl TrustConfig {
    pub fn policy(&self) -> TrustPolicy {
        let usual = TrustPolicy::default();
        TrustPolicy {
            member: self.member.unwrap_or(usual.member),
            known: self.known.unwrap_or(usual.known),
            first_time: self.first_time.unwrap_or(usual.first_time),
        }
    }
}

impl TrustPolicy {
    fn reach(&self, standing: Standing) -> Reach {
        match standing {
            Standing::Maintainer => Reach::All,
            Standing::Member => self.member,
            Standing::Known => self.known,
            Standing::FirstTime => self.first_time,
        }
    }

    /// Why an agent is not given this change, if it is not. `allowed` is a maintainer's word for exactly this head; no word lets a
    /// program run unconfined on the change of a fork or of somebody who may not push.
    pub fn withheld(&self, agent: &AgentConfig, of: Author, lack: Lack<'_>) -> Option<String> {
        let needs = match agent.means() {
            // One that is not trusted is not asked by anybody.
            Means::Rules | Means::NotTrusted => return None,
            Means::Model(..) => Reach::Models,
            Means::Cli(..) | Means::Command | Means::Sarif => Reach::All,
        };
        let is_unconfined = agent.program_network().and_then(lack).is_some();
        if let Some(why) = of.unconfined_program_withheld().filter(|_| is_unconfined) {
            return Some(why);
        }
        let reached = match (of.allowed, self.reach(of.standing)) {
            (true, _) | (_, Reach::All) => true,
            (false, Reach::Models) => needs == Reach::Models,
            (false, Reach::Rules) => false,
        };
        (!reached).then(|| {
            format!(
                "the change is of {}; somebody with write access can let it be asked with a comment: /tribunal allow {}",
                of.standing.words(),
                of.head
            )
        })
    }
}

/// Who sent a change.
#[derive(Debug, Clone, Copy)]
pub struct Author<'a> {
    pub standing: Standing,
    pub is_fork: bool,
    pub allowed: bool,
    /// In full, as it must be allowed.
    pub head: &'a str,
}

impl Author<'_> {
    /// Why no program is started on this change that nothing would confine; nothing where the author may do as much anyway.
    pub fn unconfined_program_withheld(&self) -> Option<String> {
        let is_foreign = self.is_fork || self.standing != Standing::Maintainer;
        is_foreign.then(|| "nothing confines it on this machine, and the change is of somebody who may not push here".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 5, build 9: the author's tier decides which agents may run.
    #[test]
    fn strangers_are_met_by_the_rules() {
        let policy = TrustPolicy::default();
        let head = "1a2b3c4".repeat(6)[..40].to_owned();
        let author = |standing, allowed| Author { standing, is_fork: true, allowed, head: &head };
        let command = agent("kind = \"command\"\ncommand = [\"c\"]");
        let withheld = |standing, allowed, confined: bool| {
            policy.withheld(&command, author(standing, allowed), &|_| (!confined).then_some("it lacks everything"))
        };
        assert!(withheld(Standing::FirstTime, false, true).unwrap().contains(&format!("/tribunal allow {head}")));
        assert_eq!(withheld(Standing::FirstTime, true, true), None);
        assert!(withheld(Standing::Known, true, false).unwrap().contains("nothing confines it"));
        assert_eq!(withheld(Standing::Known, false, true), None);
        let rules = AgentConfig::Rules {};
        assert_eq!(policy.withheld(&rules, author(Standing::FirstTime, false), &|_| Some("it lacks everything")), None);
    }

    fn agent(text: &str) -> AgentConfig {
        toml::from_str(text).unwrap()
    }

    /// On a machine that can confine linters and no CLI, a stranger's change is kept from the CLI alone; whose own machine it might as
    /// well be is not kept from anything.
    #[test]
    fn each_program_is_asked_for_by_itself() {
        use crate::policy::confinement::ProgramNetwork;
        let (policy, head) = (TrustPolicy::default(), "1a2b3c4".repeat(6));
        let lack = |network| (network == ProgramNetwork::OurPort).then_some("it lacks ports");
        let withheld = |text: &str, standing, is_fork| {
            let author = Author { standing, is_fork, allowed: true, head: &head };
            policy.withheld(&agent(text), author, &lack).is_some()
        };
        let (cli, linter) = ("kind = \"claude\"\nmodel = \"m\"", "kind = \"linter\"\nprofile = \"ruff\"");
        let model = "kind = \"anthropic\"\nmodel = \"m\"";
        assert!(withheld(cli, Standing::Known, true) && withheld(cli, Standing::Maintainer, true));
        assert!(!withheld(cli, Standing::Maintainer, false));
        assert!(!withheld(linter, Standing::Known, true) && !withheld(model, Standing::Known, true));
    }

    #[test]
    fn who_may_push_is_a_maintainer() {
        assert_eq!(Standing::of(Permission::Write, false), Standing::Maintainer);
        assert_eq!(Standing::of(Permission::Read, false), Standing::FirstTime, "wherever the head is");
        assert_eq!(Standing::of(Permission::Triage, false), Standing::Member);
        assert_eq!(Standing::of(Permission::Read, true), Standing::Known);
        assert_eq!(Standing::of(Permission::None, false), Standing::FirstTime);
    }
}
