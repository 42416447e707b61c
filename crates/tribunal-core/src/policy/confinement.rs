//! Programs by what it takes to confine them. A machine can confine one that needs no network, and lack what it takes to hold another to
//! a single port. So whether programs run with nothing around them is asked for each program, never for the machine as a whole.

use super::agents::AgentConfig;

/// Whom a program has to talk to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProgramNetwork {
    Nobody,
    Anybody,
    /// A single port of this machine, where we answer in the place of the model's API.
    OurPort,
}

/// What a machine lacks to confine a program; nothing if it can.
pub type Lack<'a> = &'a dyn Fn(ProgramNetwork) -> Option<&'static str>;

impl AgentConfig {
    /// The network of the program that it starts; nothing if it starts none.
    pub fn program_network(&self) -> Option<ProgramNetwork> {
        let open = |yes: bool| if yes { ProgramNetwork::Anybody } else { ProgramNetwork::Nobody };
        match self {
            AgentConfig::Command { .. } => Some(open(self.has_open_network())),
            AgentConfig::Sarif { command, .. } => command.as_ref().map(|_| open(self.has_open_network())),
            AgentConfig::Linter(_) => Some(ProgramNetwork::Nobody),
            AgentConfig::Claude(_)
            | AgentConfig::Codex(_)
            | AgentConfig::GeminiCli(_)
            | AgentConfig::Opencode(_)
            | AgentConfig::Copilot(_)
            | AgentConfig::Aider(_) => Some(ProgramNetwork::OurPort),
            AgentConfig::Rules {}
            | AgentConfig::Anthropic(_)
            | AgentConfig::Openai(_)
            | AgentConfig::OpenaiChat(_)
            | AgentConfig::Gemini(_)
            | AgentConfig::NotTrusted(_) => None,
        }
    }

    /// May its program open network connections? A command usually has a model elsewhere, a linter none.
    pub fn has_open_network(&self) -> bool {
        match self {
            AgentConfig::Command { network, .. } => network.unwrap_or(true),
            AgentConfig::Sarif { network, .. } => network.unwrap_or(false),
            _ => false,
        }
    }
}

/// Said loudly where programs run with nothing around them because the person's environment lets them.
pub fn unconfined_notice<'a>(programs: impl Iterator<Item = (&'a str, ProgramNetwork)>, lack: Lack<'_>) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    let mut lacks: Vec<&'static str> = Vec::new();
    for (name, why) in programs.filter_map(|(name, network)| Some((name, lack(network)?))) {
        if !names.contains(&name) {
            names.push(name);
        }
        if !lacks.contains(&why) {
            lacks.push(why);
        }
    }
    (!names.is_empty()).then(|| {
        format!("⚠️ Agents and linters run unconfined, as TRIBUNAL_UNCONFINED says ({}): {}.", names.join(", "), lacks.join("; "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::config::Config;

    fn agents(text: &str) -> Config {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn each_program_needs_its_own_network() {
        let config = agents(
            "[agents.a]\nkind = \"command\"\ncommand = [\"a\"]\n[agents.b]\nkind = \"command\"\ncommand = [\"b\"]\nnetwork = false\n\
             [agents.c]\nkind = \"sarif\"\ncommand = [\"c\"]\n[agents.d]\nkind = \"sarif\"\nfile = \"d\"\n\
             [agents.e]\nkind = \"linter\"\nprofile = \"ruff\"\n[agents.f]\nkind = \"claude\"\nmodel = \"m\"\n[agents.g]\nkind = \"anthropic\"\nmodel = \"m\"\n",
        );
        let networks: Vec<_> = config.agents.values().map(AgentConfig::program_network).collect();
        use ProgramNetwork::{Anybody, Nobody, OurPort};
        assert_eq!(networks, [Some(Anybody), Some(Nobody), Some(Nobody), None, Some(Nobody), Some(OurPort), None]);
    }

    /// A machine that can confine linters and no CLI: who runs bare is named, and nobody else.
    #[test]
    fn what_runs_bare_is_named() {
        let lack = |network| (network == ProgramNetwork::OurPort).then_some("it lacks ports");
        let programs =
            [("ruff", ProgramNetwork::Nobody), ("claude", ProgramNetwork::OurPort), ("claude", ProgramNetwork::OurPort)];
        let notice = unconfined_notice(programs.into_iter(), &lack).unwrap();
        assert!(notice.contains("(claude): it lacks ports."), "{notice}");
        assert_eq!(unconfined_notice(programs.into_iter().take(1), &lack), None);
        assert_eq!(unconfined_notice(programs.into_iter(), &|_| None), None);
    }
}
