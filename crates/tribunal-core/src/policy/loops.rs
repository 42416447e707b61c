//! `[wait]`, `[fix]`, `[validate]`, `[watch]` and `[respond]`: how feedback is waited for and remedied. Every loop is
//! bounded before it starts (design rule 10).

use super::admission::is_inside;
use super::agents::check_read;
use super::config::{Config, RULES_AGENT};
use super::identity::Bots;
use super::span::Span;
use crate::feedback::reviewer::Filter;
use crate::ids::{AgentName, RepoPath};
use crate::remedy::{patch, record};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long is waited (CF-22). The same keys as the flags.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitConfig {
    /// Between two looks. Default 60s; `respond` and `await` 30s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poll: Option<Span>,
    /// How long after the first activity what else comes is waited for, before any of it is worked on. Default 3m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle: Option<Span>,
    /// How long nothing may happen before the loop ends; counted anew after each cycle that resolved something. Default 1h.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<Span>,
    /// How long the whole may take. Default 2h.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<Span>,
}

/// What an automatic fix may be (CF-19), and who makes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixConfig {
    /// Who makes fixes. Default `rules`: fixes that rules and suggestion blocks carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// Who says what to do about each item. Default: the one who fixes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assess: Option<AgentName>,
    /// Who checks that assessment, another agent than the assessor. Default nobody in `watch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<AgentName>,
    /// Files that one fix may touch. Default 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_files: Option<u32>,
    /// Lines that one fix may add and remove together. Default 200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_lines: Option<u32>,
    /// May a fix change a public signature, a schema or a migration? Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract_changes: Option<bool>,
    /// Globs of files that fixes may touch although they are instructions for agents, lock files or elsewhere than the item.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Where deferred work goes: `issue`, for work that somebody will do, or `record`, a file of the repository. Default `issue`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defer: Option<Defer>,
    /// The file that `defer = "record"` writes. Default `docs/deferred.md`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
}

/// CF-18.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Defer {
    /// An issue on the forge, with the label `deferred`.
    #[default]
    Issue,
    /// An entry in a file, in a commit of the same pass.
    Record,
}

/// The repository's own proof that a fix breaks nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValidateConfig {
    /// Commands that must succeed before a fix is pushed, each run by a shell in a sandboxed copy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// For each of them. Default 10m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    /// Files and folders that they may read, beside the system and the programs on the PATH: absolute, or below your home as `~/x`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoopConfig {
    /// Whose words count: `trusted` (who may write here, registered bots, and our own findings), `all`, `people`, `automated`, a
    /// reviewer's name, or a login. Whatever is chosen, only the words of those with the right are acted on. Default `trusted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<String>,
    /// Cycles in which something was resolved. Default 3; `respond` 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u32>,
    /// When a thread is resolved after our answer. Default `addressed`; `respond` `always`, for bots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolve: Option<ResolvePolicy>,
    /// May a person's thread be resolved? Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolve_people: Option<bool>,
    /// Is the reviewer asked again? Default `never`; `respond` `mention`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerequest: Option<Rerequest>,
    /// Post the report on the pull request. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<bool>,
    /// SARIF files in the checkout whose results are feedback too, read anew at each look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sarif: Vec<String>,
}

/// CF-6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ResolvePolicy {
    Never,
    /// Everything that others said in it is addressed, and a machine opened it.
    Addressed,
    /// Every machine's thread that we answered.
    Always,
}

/// CF-5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rerequest {
    Never,
    /// A comment that mentions the reviewer.
    Mention,
    /// The forge's own request for a review.
    Reviewer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoopKind {
    Watch,
    Respond,
}

impl LoopKind {
    pub fn word(self) -> &'static str {
        match self {
            LoopKind::Watch => "watch",
            LoopKind::Respond => "respond",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitPolicy {
    pub poll: Span,
    pub settle: Span,
    pub idle: Span,
    pub total: Span,
}

/// How large a fix may be without a person (CF-19).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixPolicy {
    pub max_files: u32,
    /// Added and removed together.
    pub max_lines: u32,
    pub contract_changes: bool,
    pub allow: Vec<String>,
}

impl Default for FixPolicy {
    fn default() -> Self {
        FixPolicy { max_files: 2, max_lines: 200, contract_changes: false, allow: Vec::new() }
    }
}

/// The settled answer to everything a loop may ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopPolicy {
    pub kind: LoopKind,
    pub reviewer: String,
    pub cycles: u32,
    /// One pass, then the end.
    pub once: bool,
    /// One pass that pushes and says nothing.
    #[serde(default)]
    pub dry_run: bool,
    pub wait: WaitPolicy,
    pub resolve: ResolvePolicy,
    pub resolve_people: bool,
    pub rerequest: Rerequest,
    pub comment: bool,
    pub fix: FixPolicy,
    pub fixer: AgentName,
    pub assessor: AgentName,
    pub checker: Option<AgentName>,
    pub validate: Vec<String>,
    /// Why the repository's commands do not count. Then nothing is pushed: a fix that was not validated is none.
    #[serde(default)]
    pub validate_not_trusted: Option<String>,
    pub validate_timeout: Span,
    #[serde(default)]
    pub validate_read: Vec<String>,
    pub bots: Bots,
    /// Files of linters' results. In the configuration they are named from the top of the checkout; here as they are opened.
    #[serde(default)]
    pub sarif: Vec<String>,
    #[serde(default)]
    pub defer: Defer,
    /// The file that deferred work is entered into, if it is.
    #[serde(default = "usual_record")]
    pub record: RepoPath,
}

fn usual_record() -> RepoPath {
    RepoPath::from(record::PATH)
}

impl LoopPolicy {
    pub fn new(kind: LoopKind, config: &Config) -> Result<Self, String> {
        let (own, usual) = match kind {
            LoopKind::Watch => {
                (&config.watch, Preset { cycles: 3, poll: 60, resolve: ResolvePolicy::Addressed, rerequest: Rerequest::Never })
            }
            LoopKind::Respond => {
                (&config.respond, Preset { cycles: 10, poll: 30, resolve: ResolvePolicy::Always, rerequest: Rerequest::Mention })
            }
        };
        let fixer = config.fix.agent.clone().unwrap_or_else(|| RULES_AGENT.into());
        let assessor = config.fix.assess.clone().unwrap_or_else(|| fixer.clone());
        let known = |agent: &AgentName| agent.as_str() == RULES_AGENT || config.agents.contains_key(agent);
        if let Some(agent) =
            [Some(&fixer), Some(&assessor), config.fix.check.as_ref()].into_iter().flatten().find(|agent| !known(agent))
        {
            return Err(format!("[fix] names `{agent}`, but there is no [agents.{agent}]"));
        }
        // Whoever assessed has an assessment to defend.
        if config.fix.check.as_ref() == Some(&assessor) && assessor.as_str() != RULES_AGENT {
            return Err(format!("[fix] check: `{assessor}` cannot check its own assessment; name another agent"));
        }
        if let Some(file) = own.sarif.iter().find(|file| file.is_empty() || !is_inside(file)) {
            return Err(format!("[{}] sarif: `{file}` is no file of the checkout", kind.word()));
        }
        let record = config.fix.record.as_deref().map_or_else(usual_record, RepoPath::from);
        if let Some(why) = patch::no_record(&record) {
            return Err(format!("[fix] record: `{record}` cannot be the record: {why}"));
        }
        let cycles = own.cycles.unwrap_or(usual.cycles);
        if cycles == 0 {
            return Err(format!("[{}] cycles must be at least 1", kind.word()));
        }
        check_read(&config.validate.read).map_err(|problem| format!("[validate] {problem}"))?;
        let usual_fix = FixPolicy::default();
        let wait = WaitPolicy {
            poll: config.wait.poll.unwrap_or(Span::seconds(usual.poll)).max(Span::seconds(1)),
            settle: config.wait.settle.unwrap_or(Span::seconds(180)),
            idle: config.wait.idle.unwrap_or(Span::seconds(3_600)),
            total: config.wait.total.unwrap_or(Span::seconds(7_200)),
        };
        Ok(LoopPolicy {
            kind,
            reviewer: own.reviewer.clone().unwrap_or_else(|| Filter::Trusted.to_string()),
            cycles,
            once: false,
            dry_run: false,
            wait,
            resolve: own.resolve.unwrap_or(usual.resolve),
            resolve_people: own.resolve_people.unwrap_or(false),
            rerequest: own.rerequest.unwrap_or(usual.rerequest),
            comment: own.comment.unwrap_or(false),
            fix: FixPolicy {
                max_files: config.fix.max_files.unwrap_or(usual_fix.max_files),
                max_lines: config.fix.max_lines.unwrap_or(usual_fix.max_lines),
                contract_changes: config.fix.contract_changes.unwrap_or(false),
                allow: config.fix.allow.clone(),
            },
            fixer,
            assessor,
            checker: config.fix.check.clone(),
            validate: config.validate.commands.clone(),
            validate_not_trusted: config.not_trusted.get("validate.commands").cloned(),
            validate_timeout: config.validate.timeout.unwrap_or(Span::seconds(600)),
            validate_read: config.validate.read.clone(),
            bots: config.identity.bots.clone(),
            sarif: own.sarif.clone(),
            defer: config.fix.defer.unwrap_or_default(),
            record,
        })
    }
}

impl LoopPolicy {
    /// One pass, as procedures over many pull requests order it. Their fixes may reach further (CF-19).
    pub fn single_pass(mut self, config: &Config) -> Self {
        self.once = true;
        self.fix.max_files = config.fix.max_files.unwrap_or(20);
        self
    }
}

/// What differs between the loops unless somebody says otherwise (CF-3, CF-5, CF-6, CF-22).
struct Preset {
    cycles: u32,
    poll: u64,
    resolve: ResolvePolicy,
    rerequest: Rerequest,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(kind: LoopKind, text: &str) -> Result<LoopPolicy, String> {
        LoopPolicy::new(kind, &toml::from_str(text).unwrap())
    }

    /// CF-3, CF-5, CF-6, CF-22: each loop has the preset of its contract.
    #[test]
    fn each_loop_has_its_preset() {
        let watch = policy(LoopKind::Watch, "").unwrap();
        assert_eq!((watch.cycles, watch.resolve, watch.rerequest), (3, ResolvePolicy::Addressed, Rerequest::Never));
        assert_eq!((watch.wait.poll, watch.wait.idle), (Span::seconds(60), Span::seconds(3_600)));
        let respond = policy(LoopKind::Respond, "").unwrap();
        assert_eq!((respond.cycles, respond.resolve, respond.rerequest), (10, ResolvePolicy::Always, Rerequest::Mention));
        assert_eq!((respond.wait.poll, respond.wait.settle), (Span::seconds(30), Span::seconds(180)));
        assert!(!watch.resolve_people && !respond.resolve_people);
        assert_eq!((watch.reviewer.as_str(), respond.reviewer.as_str()), ("trusted", "trusted"));
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(policy(LoopKind::Watch, "[watch]\ncycles = 0\n").unwrap_err().contains("at least 1"));
        assert!(policy(LoopKind::Watch, "[fix]\nagent = \"nobody\"\n").unwrap_err().contains("[agents.nobody]"));
        for file in ["../out.sarif", "/etc/passwd", "", "c:\\x", "a/../../b"] {
            let text = format!("[watch]\nsarif = ['{file}']\n");
            assert!(policy(LoopKind::Watch, &text).unwrap_err().contains("sarif"), "{file}");
        }
        for file in ["AGENTS.md", "../x.md", "/x.md", ".github/workflows/x.yml", ".env", "a b.md", "Cargo.lock", ""] {
            let text = format!("[fix]\ndefer = \"record\"\nrecord = \"{file}\"\n");
            assert!(policy(LoopKind::Watch, &text).unwrap_err().contains("record"), "{file}");
        }
        let own = "[agents.a]\nkind = \"claude\"\nmodel = \"m\"\n[fix]\nagent = \"a\"\ncheck = \"a\"\n";
        assert!(policy(LoopKind::Respond, own).unwrap_err().contains("its own assessment"));
    }

    /// CF-19: a fix that a settlement or a sweep orders may touch more files, unless somebody has said how many.
    #[test]
    fn a_single_pass_may_reach_further() {
        let files = |text: &str| {
            let config: Config = toml::from_str(text).unwrap();
            let pass = LoopPolicy::new(LoopKind::Watch, &config).unwrap().single_pass(&config);
            (pass.once, pass.fix.max_files)
        };
        assert_eq!(files(""), (true, 20));
        assert_eq!(files("[fix]\nmax_files = 3\n"), (true, 3));
    }

    #[test]
    fn what_is_set_counts() {
        let text = "[wait]\npoll = \"5s\"\nsettle = 10\n[fix]\nmax_files = 7\n[watch]\ncycles = 9\nresolve = \"never\"\n";
        let watch = policy(LoopKind::Watch, text).unwrap();
        assert_eq!((watch.wait.poll, watch.wait.settle, watch.fix.max_files), (Span::seconds(5), Span::seconds(10), 7));
        assert_eq!((watch.cycles, watch.resolve), (9, ResolvePolicy::Never));
        assert_eq!((watch.defer, watch.record.as_str()), (Defer::Issue, "docs/deferred.md"));
        let recorded = policy(LoopKind::Respond, "[fix]\ndefer = \"record\"\nrecord = \"DEFERRED.md\"\n").unwrap();
        assert_eq!((recorded.defer, recorded.record.as_str()), (Defer::Record, "DEFERRED.md"));
    }
}
