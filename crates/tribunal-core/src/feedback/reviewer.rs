//! Review bots that we know: who they are, how they approve, and what they say when they have nothing to say (WL-76, CF-10).
//!
//! A login alone proves nothing: a person may be called `claude` (WL-77). The forge must call the account a bot, or the
//! configuration must name it with its id. Workflow accounts such as `github-actions` are not here on purpose, since anybody's workflow speaks
//! through them.

use super::item::Voice;
use super::words::shown_words;
use crate::findings::scale::Priority;
use crate::policy::identity::{BotAccount, Bots};
use crate::pull::facts::{Account, AccountKind};
use crate::pull::talk::{Emoji, Reaction};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// How a reviewer says yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// 👍 on the pull request itself.
    Reaction,
    /// A review that approves.
    Review,
    /// It never does.
    None,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Reviewer {
    pub name: &'static str,
    /// Without `[bot]`, which some interfaces leave out.
    pub logins: &'static [&'static str],
    pub approval: Approval,
    /// A line that makes it look again, where calling its name does not.
    command: Option<&'static str>,
    /// It is at work, and its word is still to come (WL-78, RL-24).
    running: &'static [&'static str],
    /// It cannot look at the change now, for want of money or patience.
    quota: &'static [&'static str],
    /// It asks for nothing: a beginning, a summary, or a note that it did not look.
    silent: &'static [&'static str],
    /// It has looked, and is content.
    satisfied: &'static [&'static str],
}

/// All phrases are lower case, with single spaces. They are narrow, because a finding may well be about quotas.
pub const REVIEWERS: &[Reviewer] = &[
    Reviewer {
        name: "codex",
        logins: &["chatgpt-codex-connector"],
        approval: Approval::Reaction,
        command: Some("@codex review"),
        running: &[],
        quota: &["reached your codex usage limits", "to use codex here, create an environment"],
        silent: &["here are some automated review suggestions for this pull request"],
        satisfied: &["didn't find any major issues"],
    },
    Reviewer {
        name: "copilot",
        logins: &["copilot-pull-request-reviewer", "copilot"],
        approval: Approval::Review,
        command: None,
        running: &[],
        quota: &[
            "has reached their quota limit",
            "copilot was unable to review this pull request",
            "copilot wasn't able to review any files",
        ],
        silent: &[],
        satisfied: &["generated no comments", "generated no new comments"],
    },
    Reviewer {
        name: "claude",
        logins: &["claude"],
        approval: Approval::None,
        command: None,
        running: &["claude code is working", "claude is working"],
        quota: &[],
        silent: &[],
        satisfied: &[],
    },
    Reviewer {
        name: "gemini",
        logins: &["gemini-code-assist"],
        approval: Approval::None,
        command: Some("/gemini review"),
        running: &[
            "i'm currently reviewing this pull request",
            "i am currently reviewing this pull request",
            "i'll post my review shortly",
            "will post my feedback shortly",
            "will post feedback shortly",
        ],
        quota: &["reached your daily quota limit", "you have reached your daily quota"],
        silent: &["i'm gemini code assist"],
        satisfied: &["there are no review comments", "i have no feedback to provide"],
    },
    Reviewer {
        name: "coderabbit",
        logins: &["coderabbitai"],
        approval: Approval::Review,
        command: Some("@coderabbitai review"),
        running: &["review in progress by coderabbit.ai", "currently processing new changes in this pr"],
        quota: &["rate limited by coderabbit.ai", "## rate limit exceeded", "## review limit reached", "review rate limited"],
        silent: &["summarize by coderabbit.ai", "## review skipped", "skip review by coderabbit.ai"],
        satisfied: &["no actionable comments were generated"],
    },
    Reviewer {
        name: "bugbot",
        logins: &["cursor"],
        approval: Approval::None,
        command: None,
        running: &[],
        quota: &["bugbot free trial", "bugbot usage limit", "used all of your free bugbot"],
        silent: &[],
        satisfied: &[],
    },
    Reviewer {
        name: "greptile",
        logins: &["greptile-apps"],
        approval: Approval::None,
        command: None,
        running: &[],
        quota: &[],
        silent: &[],
        satisfied: &[],
    },
    Reviewer {
        name: "sourcery",
        logins: &["sourcery-ai"],
        approval: Approval::Review,
        command: Some("@sourcery-ai review"),
        running: &[],
        quota: &["reached your weekly rate limit"],
        silent: &[],
        satisfied: &[],
    },
    Reviewer {
        name: "qodo",
        logins: &["qodo-merge-pro", "qodo-code-review"],
        approval: Approval::None,
        command: None,
        running: &[],
        quota: &[],
        silent: &[],
        satisfied: &[],
    },
];

/// What any reviewer may say while it works. Only a short note counts: a finding can be about reviews too.
const RUNNING: &[&str] = &[
    "is reviewing this",
    "reviewing this pull request",
    "reviewing your changes",
    "review in progress",
    "review is in progress",
    "will post feedback",
    "will post my feedback",
    "will post my review",
];
const SHORT_NOTE: usize = 400;
/// Notices stand at the top; what comes later may be a quotation.
const TOP: usize = 800;

/// Reports that machines post for people to look at, and that ask for nothing (PR-111).
const STATUS: &[&str] = &[
    "[codecov]",
    "codecov.io/gh/",
    "coverage report",
    "coveralls.io",
    "deploy preview for",
    "[vc]: #",
    "preview deployment",
    "visit the preview url",
    "cla assistant lite",
    "all committers have signed the cla",
    "build succeeded",
    "build passed",
    "all checks have passed",
    "bundle size report",
    "size limit report",
    "changeset detected",
];

fn bare_login(login: &str) -> String {
    let login = login.trim().trim_start_matches('@').to_ascii_lowercase();
    login.strip_suffix("[bot]").unwrap_or(&login).to_owned()
}

pub fn named(name: &str) -> Option<&'static Reviewer> {
    REVIEWERS.iter().find(|reviewer| reviewer.name == name)
}

/// The reviewer behind an App of its forge. The registry is of Apps on GitHub, which alone has any: elsewhere a machine's login is its
/// maker's choice, and such an account is registered by its id in the configuration.
pub fn known(account: &Account) -> Option<&'static Reviewer> {
    let login = bare_login(&account.login);
    let is_bot = account.kind == AccountKind::Bot;
    REVIEWERS.iter().find(|reviewer| is_bot && reviewer.logins.contains(&login.as_str()))
}

fn configured<'a>(account: &Account, bots: &'a Bots) -> Option<&'a BotAccount> {
    let login = bare_login(&account.login);
    bots.iter().find(|(name, _)| bare_login(name) == login).map(|(_, bot)| bot)
}

/// The name of a registered bot: an App of the registry, or one of the configuration, with the id that is written there or, without one,
/// an App of its forge. An account that only has the name is not registered, whoever made it.
pub fn registered(account: &Account, bots: &Bots) -> Option<String> {
    match configured(account, bots) {
        Some(BotAccount { name, id: Some(id) }) => (*id == account.id).then(|| name.clone()),
        Some(BotAccount { name, id: None }) => (account.kind == AccountKind::Bot).then(|| name.clone()),
        None => known(account).map(|reviewer| reviewer.name.to_owned()),
    }
}

/// Whose words are an account's? `extra` names reviewers by login, for forges that do not tell bots from people. What our own
/// account says without our mark is a person's (CF-33). A voice says how an item is shown and filtered; whether it is acted on is a
/// [`super::right::Right`].
pub fn voice(account: &Account, me: &Account, extra: &Bots) -> Voice {
    let configured = configured(account, extra).map(|bot| bot.name.clone());
    match (account.is(me), configured, known(account)) {
        (true, _, _) => Voice::Person,
        (false, Some(name), _) => Voice::Known(name),
        (false, None, Some(reviewer)) => Voice::Known(reviewer.name.to_owned()),
        (false, None, None) if account.kind.is_machine() => Voice::Bot,
        (false, None, None) => Voice::Person,
    }
}

/// Is this a person, whose word can decide something (design rule 11)? Neither us, nor what its forge calls a bot, nor an account that
/// is registered as one, nor one whose kind could not be read.
pub fn is_person(account: &Account, me: &Account, extra: &Bots) -> bool {
    !account.is(me) && account.kind.may_decide() && voice(account, me, extra) == Voice::Person
}

/// Whose words are read. The default is what the registry and the panel say. Whoever is read, only those with the right are acted on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Filter {
    /// Everybody with the right: who may write here, registered bots, and the panel.
    Trusted,
    /// One reviewer, by its name in the registry or in the configuration.
    Reviewer(String),
    Login(String),
    People,
    All,
    #[default]
    Automated,
}

impl std::str::FromStr for Filter {
    type Err = String;

    /// A keyword wins over a login of the same name (WL-77); nothing means the default (WL-27).
    fn from_str(text: &str) -> Result<Self, String> {
        let word = bare_login(text);
        match word.as_str() {
            "" | "automated" => return Ok(Filter::Automated),
            "trusted" => return Ok(Filter::Trusted),
            "all" => return Ok(Filter::All),
            "people" => return Ok(Filter::People),
            _ => {}
        }
        let name = word.strip_suffix("-only").unwrap_or(&word);
        if let Some(reviewer) = named(name) {
            return Ok(Filter::Reviewer(reviewer.name.to_owned()));
        }
        match word.contains(char::is_whitespace) {
            true => {
                Err(format!("`{text}` names nobody; use trusted, all, people, automated, a reviewer such as codex, or a login"))
            }
            false => Ok(Filter::Login(word)),
        }
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Filter::Reviewer(name) | Filter::Login(name) => f.write_str(name),
            Filter::People => f.write_str("people"),
            Filter::Trusted => f.write_str("trusted"),
            Filter::All => f.write_str("all"),
            Filter::Automated => f.write_str("automated"),
        }
    }
}

impl Filter {
    /// Does a reviewer count that is known by its name in the registry alone, as one that reacts is?
    pub fn covers_named(&self, name: &str) -> bool {
        match self {
            Filter::Reviewer(wanted) => name == wanted,
            Filter::Login(login) => named(name).is_some_and(|reviewer| reviewer.logins.contains(&login.as_str())),
            // Only registered bots are known by a name.
            Filter::Trusted | Filter::All | Filter::Automated => true,
            Filter::People => false,
        }
    }

    pub fn covers(&self, voice: &Voice, account: &Account) -> bool {
        match (self, voice) {
            // A failing check is everybody's (WL-59). Who is trusted is not told by a voice: the right is asked for besides.
            (_, Voice::Check) | (Filter::All | Filter::Trusted, _) => true,
            (Filter::Reviewer(name), Voice::Known(known)) => name == known,
            (Filter::Reviewer(_), Voice::Panel | Voice::Bot | Voice::Person) => false,
            // A configured reviewer can be asked for by its own name, too.
            (Filter::Login(name), Voice::Known(known)) => name == known || *name == bare_login(&account.login),
            (Filter::Login(login), Voice::Panel | Voice::Bot | Voice::Person) => *login == bare_login(&account.login),
            (Filter::People, Voice::Person) => true,
            (Filter::People, Voice::Panel | Voice::Known(_) | Voice::Bot) => false,
            (Filter::Automated, Voice::Panel | Voice::Known(_)) => true,
            (Filter::Automated, Voice::Bot | Voice::Person) => false,
        }
    }
}

/// The known reviewers that approve by a reaction and did (WL-76). 👀 is never an approval (WL-78).
pub fn approvals_by_reaction(reactions: &[Reaction], me: &Account, extra: &Bots) -> BTreeSet<String> {
    let by = |name: &String| named(name).is_some_and(|reviewer| reviewer.approval == Approval::Reaction);
    reacted(reactions, Emoji::ThumbsUp, me, extra).filter(by).collect()
}

/// The known reviewers that are still looking (WL-78).
pub fn running_by_reaction(reactions: &[Reaction], me: &Account, extra: &Bots) -> BTreeSet<String> {
    reacted(reactions, Emoji::Eyes, me, extra).collect()
}

fn reacted(reactions: &[Reaction], emoji: Emoji, me: &Account, extra: &Bots) -> impl Iterator<Item = String> {
    let theirs = reactions.iter().filter(move |reaction| reaction.emoji == emoji && !reaction.author.is(me));
    theirs.filter_map(|reaction| registered(&reaction.author, extra))
}

/// The top of a text in one form: lower case, single blanks, straight quotes.
fn top(body: &str) -> String {
    let top: String = body.chars().take(TOP).collect();
    top.to_lowercase().replace('’', "'").replace('>', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a bot says about its own work rather than about the change.
pub struct BotNote {
    top: String,
    /// The top of a text that has nothing else to show.
    short: Option<String>,
}

impl BotNote {
    pub fn read(body: &str) -> Self {
        let shown = shown_words(body);
        let is_short = shown.chars().count() <= SHORT_NOTE;
        Self { top: top(body), short: is_short.then(|| top(&shown)) }
    }

    fn says(&self, phrases: impl Fn(&Reviewer) -> &'static [&'static str]) -> bool {
        REVIEWERS.iter().flat_map(phrases).any(|phrase| self.top.contains(phrase))
    }

    /// Its review is still to come.
    pub fn is_running(&self) -> bool {
        let has_phrase = |short: &String| RUNNING.iter().any(|phrase| short.contains(phrase));
        self.says(|reviewer| reviewer.running) || self.short.as_ref().is_some_and(has_phrase)
    }

    /// It cannot review now.
    pub fn is_out_of_quota(&self) -> bool {
        self.says(|reviewer| reviewer.quota)
    }

    /// It says something that nobody has to answer: the state of a build, or that it found nothing.
    pub fn is_chatter(&self) -> bool {
        STATUS.iter().any(|phrase| self.top.contains(phrase)) || self.says(|reviewer| reviewer.silent) || self.is_satisfied()
    }

    /// It has looked and is content (RL-24).
    pub fn is_satisfied(&self) -> bool {
        self.says(|reviewer| reviewer.satisfied)
    }
}

/// How a reviewer is asked to look again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summons {
    /// Its name as it is called, without `@`.
    pub login: String,
    /// A line of its own that it obeys.
    pub command: Option<&'static str>,
}

/// A machine can be called (RL-47). Nobody calls a person for a machine, our own panel, or a check.
pub fn summons(account: &Account, voice: &Voice) -> Option<Summons> {
    let command = match voice {
        Voice::Known(name) => named(name).and_then(|reviewer| reviewer.command),
        Voice::Bot => None,
        Voice::Panel | Voice::Person | Voice::Check => return None,
    };
    let login = bare_login(&account.login);
    let fine = login.len() <= 100 && login.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    (fine && !login.is_empty()).then_some(Summons { login, command })
}

/// How the words at the top weigh what follows. In the order in which they are looked for on a line.
const WEIGHTS: &[(Priority, &[&str])] = &[
    (
        Priority::P0,
        &[
            "badge/p0-",
            "badges/p0.",
            "[p0 badge]",
            "critical.svg",
            "![critical]",
            "🔴 critical",
            "critical severity",
            "**p0**",
            "[p0]",
            "(p0)",
            "severity: critical",
            "priority: critical",
        ],
    ),
    (
        Priority::P1,
        &[
            "badge/p1-",
            "badges/p1.",
            "[p1 badge]",
            "high-priority.svg",
            "![high]",
            "🟠 major",
            "high severity",
            "**p1**",
            "[p1]",
            "(p1)",
            "severity: high",
            "priority: high",
        ],
    ),
    (
        Priority::P2,
        &[
            "badge/p2-",
            "badges/p2.",
            "[p2 badge]",
            "medium-priority.svg",
            "![medium]",
            "🟡 minor",
            "medium severity",
            "**p2**",
            "[p2]",
            "(p2)",
            "severity: medium",
            "priority: medium",
        ],
    ),
    (
        Priority::P3,
        &[
            "badge/p3-",
            "badges/p3.",
            "[p3 badge]",
            "low-priority.svg",
            "![low]",
            "🔵 trivial",
            "low severity",
            "**p3**",
            "[p3]",
            "(p3)",
            "severity: low",
            "priority: low",
            "🧹 nitpick",
        ],
    ),
    (Priority::Q, &["badge/q-", "**q**", "[q]"]),
    // A kind of remark, for those who do not say how much it weighs.
    (Priority::P2, &["⚠️ potential issue", "🛠️ refactor suggestion"]),
];

/// Words and signs that weigh when a line begins with them.
const OPENINGS: &[(Priority, &[&str])] = &[
    (Priority::P0, &["🚨", "p0:", "p0 ", "critical:", "blocker:", "blocking:"]),
    (Priority::P1, &["⚠️", "p1:", "p1 ", "major:"]),
    (Priority::P2, &["💡", "p2:", "p2 ", "minor:", "suggestion:"]),
    (Priority::P3, &["🔧", "p3:", "p3 ", "nit:", "nitpick:", "nit "]),
    (Priority::Q, &["❓", "question:"]),
];
/// Badges stand in the title; further down others may be quoted.
const WEIGHED_LINES: usize = 6;

/// How an author weighs their own words; an opinion, which never decides alone (RL-31, CF-12).
pub fn priority_in(body: &str) -> Option<Priority> {
    let find = |table: &[(Priority, &[&str])], test: &dyn Fn(&str) -> bool| {
        table.iter().find(|(_, phrases)| phrases.iter().any(|phrase| test(phrase))).map(|(priority, _)| *priority)
    };
    let lines = body.lines().map(|line| line.trim().to_lowercase()).filter(|line| !line.is_empty() && !line.starts_with("> "));
    lines.take(WEIGHED_LINES).find_map(|line| {
        let plain =
            line.replace("**severity**", "severity").replace("**severity:**", "severity:").replace("**priority**", "priority");
        let start = plain.trim_start_matches(['*', '_', '#', ' ', '-']);
        find(WEIGHTS, &|phrase| plain.contains(phrase)).or_else(|| find(OPENINGS, &|phrase| start.starts_with(phrase)))
    })
}

#[cfg(test)]
mod tests {
    use super::super::samples::{bot, person};
    use super::*;

    fn none() -> Bots {
        Bots::new()
    }

    /// WL-76, WL-77, CF-10: type and login together; a person called `claude` is a person, and a workflow is nobody's reviewer.
    #[test]
    fn a_reviewer_is_a_bot_with_its_login() {
        let me = person("tribunal");
        let name = |account: &Account| known(account).map(|reviewer| reviewer.name);
        assert_eq!(name(&bot("chatgpt-codex-connector[bot]")), Some("codex"));
        assert_eq!(name(&bot("Copilot")), Some("copilot"));
        assert_eq!(name(&bot("copilot-pull-request-reviewer[bot]")), Some("copilot"));
        assert_eq!(name(&bot("CodeRabbitAI[bot]")), Some("coderabbit"));
        assert_eq!(name(&person("claude")), None);
        assert_eq!(voice(&person("claude"), &me, &none()), Voice::Person);
        assert_eq!(voice(&bot("github-actions[bot]"), &me, &none()), Voice::Bot);
        let unknown = Account { kind: AccountKind::Unknown, ..bot("coderabbitai") };
        assert_eq!(voice(&unknown, &me, &none()), Voice::Person);
        let extra = Bots::from([("CodeRabbitAI".to_owned(), BotAccount::named("coderabbit"))]);
        assert_eq!(voice(&unknown, &me, &extra), Voice::Known("coderabbit".into()));
    }

    /// CF-33: what our account says without a mark is a person's, even where the account is a bot's.
    #[test]
    fn our_own_account_is_a_person_here() {
        let me = bot("coderabbitai");
        assert_eq!(voice(&me, &me, &none()), Voice::Person);
    }

    /// WL-7, WL-27, WL-75, WL-77: keywords shadow logins, and nothing means the default.
    #[test]
    fn filters_are_read() {
        let read = |text: &str| text.parse::<Filter>().unwrap();
        assert_eq!(read(""), Filter::Automated);
        assert_eq!(read("all"), Filter::All);
        assert_eq!(read("Trusted"), Filter::Trusted);
        assert_eq!(read("People"), Filter::People);
        assert_eq!(read("codex-only"), Filter::Reviewer("codex".into()));
        assert_eq!(read("claude"), Filter::Reviewer("claude".into()));
        assert_eq!(read("@Alice"), Filter::Login("alice".into()));
        assert!("alice and bob".parse::<Filter>().is_err());
        for text in ["trusted", "all", "people", "automated", "codex", "alice"] {
            assert_eq!(read(text).to_string(), text);
        }
    }

    /// WL-59, WL-76, WL-79: whose words count under each filter; checks always do.
    #[test]
    fn filters_cover_voices() {
        let codex = (Voice::Known("codex".into()), bot("chatgpt-codex-connector[bot]"));
        let alice = (Voice::Person, person("Alice"));
        let action = (Voice::Bot, bot("github-actions[bot]"));
        let panel = (Voice::Panel, person("tribunal"));
        let check = (Voice::Check, bot("ci"));
        let covered = |text: &str| {
            let filter: Filter = text.parse().unwrap();
            [&codex, &alice, &action, &panel, &check].map(|(voice, account)| filter.covers(voice, account))
        };
        assert_eq!(covered("automated"), [true, false, false, true, true]);
        assert_eq!(covered("codex"), [true, false, false, false, true]);
        assert_eq!(covered("people"), [false, true, false, false, true]);
        assert_eq!(covered("alice"), [false, true, false, false, true]);
        assert_eq!(covered("github-actions[bot]"), [false, false, true, false, true]);
        assert_eq!(covered("all"), [true; 5]);
        assert_eq!(covered("trusted"), [true; 5], "the right is asked for besides");
    }

    /// WL-78, RL-24: a note that a review is under way is no feedback; a finding about reviews is.
    #[test]
    fn running_reviews_say_so() {
        for body in [
            "<!-- This is an auto-generated comment: review in progress by coderabbit.ai -->\n> [!NOTE]\n> Currently processing new changes in this PR. This may take a few minutes, please wait...",
            "I'm currently reviewing this pull request and will post my feedback shortly. In the meantime …",
            "I’m currently reviewing this pull request and will post feedback shortly.",
            "Claude Code is working… <img src=\"spinner\">",
            "Review is in progress :hourglass:",
        ] {
            assert!(BotNote::read(body).is_running(), "{body}");
        }
        let long = format!("The status `review in progress` is never cleared. {}", "It stays in the table. ".repeat(30));
        for body in [long.as_str(), "Please look at how reviews are stored.", ""] {
            assert!(!BotNote::read(body).is_running(), "{body}");
        }
    }

    /// Field, pain 14: a quota is a state of the reviewer, not a finding; a finding about quotas is one.
    #[test]
    fn quotas_are_not_findings() {
        for body in [
            "You have reached your Codex usage limits for code reviews. You can see your limits in the dashboard.",
            "> [!WARNING]\n> ## Rate limit exceeded\n>\n> @x has exceeded the limit for the number of commits",
            "Copilot was unable to review this pull request because the user who requested the review has reached their quota limit.",
            "You have reached your daily quota limit. Please wait up to 24 hours and I will start processing your requests again!",
        ] {
            assert!(BotNote::read(body).is_out_of_quota(), "{body}");
        }
        for body in [
            "When the quota is exceeded the retry loop never backs off.",
            "`RateLimitExceeded` should carry the reset time.",
            "The rate limit of 100 per hour is read before the config is loaded.",
        ] {
            assert!(!BotNote::read(body).is_out_of_quota(), "{body}");
        }
    }

    /// PR-111: what is dropped is told by what it says.
    #[test]
    fn reports_ask_for_nothing() {
        for body in [
            "## [Codecov](https://app.codecov.io/gh/a/b) Report\nAll modified lines are covered.",
            "### <span>✅</span> Deploy Preview for *shop* ready!",
            "Codex Review: Didn't find any major issues. Breezy!",
        ] {
            assert!(BotNote::read(body).is_chatter(), "{body}");
        }
        assert!(!BotNote::read("The preview leaks the token into the page, see line 4.").is_chatter());
    }

    /// RL-31, CF-12: everybody's words are read into our scale.
    #[test]
    fn weights_of_others_are_read() {
        use Priority::{P0, P1, P2, P3, Q};
        for (body, priority) in [
            ("![critical](https://www.gstatic.com/codereviewagent/critical.svg)\n\nThis fails.", Some(P0)),
            ("![security-high](https://www.gstatic.com/codereviewagent/security-high-priority.svg)", Some(P1)),
            ("![medium](https://www.gstatic.com/codereviewagent/medium-priority.svg)", Some(P2)),
            ("![low](https://www.gstatic.com/codereviewagent/low-priority.svg)", Some(P3)),
            ("**<sub><sub>![P1 Badge](https://img.shields.io/badge/P1-orange?style=flat)</sub></sub>  Keep it**", Some(P1)),
            (
                "<a href=\"#\"><img alt=\"P1\" src=\"https://greptile-static-assets.s3.amazonaws.com/badges/p1.svg?v=9\"></a> x",
                Some(P1),
            ),
            ("_⚠️ Potential issue_ | _🔴 Critical_\n\n**Title**", Some(P0)),
            ("_🎯 Functional Correctness_ | _🟠 Major_ | _⚡ Quick win_", Some(P1)),
            ("_🛠️ Refactor suggestion_\n\nx", Some(P2)),
            ("_🧹 Nitpick (assertive)_", Some(P3)),
            ("### Wrong index\n\n**Medium Severity**\n\nx", Some(P2)),
            ("**Severity**: High\nx", Some(P1)),
            ("**![P0](https://img.shields.io/badge/P0-red) secret-in-code**\n\n**Failure mode**: x", Some(P0)),
            ("**![Q](https://img.shields.io/badge/Q-yellow) why-two**", Some(Q)),
            ("**P1** this breaks", Some(P1)),
            ("🚨 this breaks", Some(P0)),
            ("nit: rename", Some(P3)),
            ("❓ why", Some(Q)),
            ("The high priority queue is never drained.", None),
            ("This is critical for us.", None),
            ("> **P0** quoted\n\nI do not agree.", None),
            ("", None),
        ] {
            assert_eq!(priority_in(body), priority, "{body}");
        }
    }

    /// WL-76, WL-78: 👍 of a reviewer that approves that way, and 👀 never.
    #[test]
    fn reactions_of_known_reviewers() {
        let react = |author: Account, emoji| Reaction { author, emoji };
        let reactions = [
            react(bot("chatgpt-codex-connector[bot]"), Emoji::ThumbsUp),
            react(bot("coderabbitai[bot]"), Emoji::ThumbsUp),
            react(person("chatgpt-codex-connector"), Emoji::ThumbsUp),
            react(bot("gemini-code-assist[bot]"), Emoji::Eyes),
        ];
        let me = person("tribunal");
        assert_eq!(approvals_by_reaction(&reactions, &me, &none()), BTreeSet::from(["codex".to_owned()]));
        assert_eq!(running_by_reaction(&reactions, &me, &none()), BTreeSet::from(["gemini".to_owned()]));
    }
}
