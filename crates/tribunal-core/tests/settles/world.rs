//! Everybody else: specialists, people, strangers, and the panel, which thinks what it thinks of a head.

use super::chance::Chance;
use super::forge::{Forge, Tampering, account};
use std::collections::BTreeMap;
use tribunal_core::combine::verdict::Verdict;
use tribunal_core::ids::Sha;
use tribunal_core::procedure::settle::plan_file::read::read;
use tribunal_core::procedure::settle::plan_file::{Mode, Plan, Status, Task, TaskId};
use tribunal_core::procedure::settle::seen::IssueSeen;
use tribunal_core::publish::verdict::spoken;
use tribunal_core::pull::facts::PullState;
use tribunal_core::pull::talk::ReviewState;

pub struct World {
    pub chance: Chance,
    pub forge: Forge,
    pub clock: u64,
    pub odds: Odds,
    /// What happened, and how often.
    pub events: BTreeMap<&'static str, u64>,
    /// Tasks whose status a person wrote into a plan by hand.
    pub edited: Vec<TaskId>,
    pub trace: Option<Vec<String>>,
    /// Plans that were read before: the same text is the same plan.
    known: BTreeMap<String, Result<Plan, String>>,
}

/// Per cent, for each moment.
#[derive(Debug, Clone, Copy)]
pub struct Odds {
    pub push: u64,
    pub people: u64,
    pub trouble: u64,
    pub crash: u64,
    pub lost: u64,
}

const VERDICTS: [Verdict; 8] = [
    Verdict::Lgtm,
    Verdict::Lgtm,
    Verdict::Lgtm,
    Verdict::Minor,
    Verdict::Minor,
    Verdict::Minor,
    Verdict::Major,
    Verdict::Blocked,
];

impl World {
    pub fn new(mut chance: Chance) -> Self {
        let odds = Odds {
            push: chance.pick(&[0, 3, 15]),
            people: chance.pick(&[0, 3, 12]),
            trouble: chance.pick(&[0, 5, 20]),
            crash: chance.pick(&[0, 5, 20]),
            lost: chance.pick(&[0, 5, 20]),
        };
        World {
            chance,
            forge: Forge::new(),
            clock: 1_700_000_000_000,
            odds,
            events: BTreeMap::new(),
            edited: vec![],
            trace: None,
            known: BTreeMap::new(),
        }
    }

    pub fn happened(&mut self, event: &'static str) {
        *self.events.entry(event).or_default() += 1;
    }

    pub fn note(&mut self, what: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.push(what());
        }
    }

    /// Nobody does anything any more, and everything works.
    pub fn calm_down(&mut self) {
        self.odds = Odds { push: 0, people: 0, trouble: 0, crash: 0, lost: 0 };
        self.forge.red.clear();
    }

    pub fn plan(&mut self) -> String {
        let count = 1 + self.chance.below(7);
        let mut tasks = Vec::new();
        for n in 1..=count {
            let parent = self.chance.per_cent(40).then_some(90 + n % 2);
            let before = (n > 1 && self.chance.per_cent(30)).then(|| TaskId(format!("t{}", 1 + self.chance.below(n - 1))));
            let mode = if self.chance.per_cent(15) { Mode::Researching } else { Mode::Doing };
            let status = self.chance.pick(&[Status::Planned, Status::Dispatched, Status::InProgress, Status::InProgress]);
            tasks.push(task(n, mode, status, parent, before));
            let labels = if self.chance.per_cent(50) { vec!["hall:in-progress".into()] } else { vec![] };
            self.forge.issues.insert(n, IssueSeen { number: n, open: true, labels, body: "Do it.".into() });
            if self.chance.per_cent(70) {
                let draft = self.chance.per_cent(10);
                self.forge.open(n, "sdet", false, draft);
            }
        }
        for parent in [90, 91] {
            self.forge.issues.insert(parent, IssueSeen { number: parent, open: true, labels: vec![], body: String::new() });
        }
        let plan = Plan {
            id: "2026-01-31-checkout".into(),
            created_at: "2026-01-31T12:00:00Z".into(),
            repo: "acme/shop".into(),
            invoker: None,
            automation_level: None,
            tasks,
        };
        let text = serde_json::to_string_pretty(&plan).expect("a plan can be written");
        // Somebody else's keys are in it, too.
        text.replacen("\"repo\"", "\"colour\": [\"blue\", {}],\n  \"repo\"", 1)
    }

    pub fn read(&mut self, text: &str) -> Result<Plan, String> {
        if let Some(plan) = self.known.get(text) {
            return plan.clone();
        }
        let plan = read(text).map_err(|error| error.to_string());
        self.known.insert(text.to_owned(), plan.clone());
        plan
    }

    /// What the panel says of a head: always the same.
    pub fn verdict(&self, head: &Sha) -> Verdict {
        let digits = head.as_str().bytes().map(u64::from).fold(7u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte));
        VERDICTS[(digits % VERDICTS.len() as u64) as usize]
    }

    pub fn pass_time(&mut self, millis: u64, plans: &mut [String]) {
        self.clock += millis;
        for issue in self.forge.issues.keys().copied().filter(|issue| *issue < 90).collect::<Vec<_>>() {
            self.specialist(issue);
        }
        for number in self.forge.pulls.keys().copied().collect::<Vec<_>>() {
            if self.chance.per_cent(self.odds.people) {
                self.somebody(number, plans);
            }
        }
    }

    fn specialist(&mut self, issue: u64) {
        if !self.chance.per_cent(self.odds.push) {
            return;
        }
        let own =
            self.forge.pulls.values().find(|pull| {
                pull.state == PullState::Open && !pull.is_fork && pull.head.branch.ends_with(&format!("issue-{issue}"))
            });
        match own.map(|pull| pull.number) {
            Some(number) if self.chance.per_cent(20) => {
                self.forge.pulls.get_mut(&number).expect("it is there").draft ^= true;
            }
            Some(number) => self.forge.push(number),
            None if self.forge.issues[&issue].open => {
                self.forge.open(issue, "sdet", false, false);
            }
            None => {}
        }
    }

    fn somebody(&mut self, number: u64, plans: &mut [String]) {
        let pull = self.forge.pulls[&number].clone();
        if pull.state != PullState::Open {
            return;
        }
        let issue = pull.head.branch.rsplit('-').next().and_then(|digits| digits.parse().ok()).unwrap_or(0);
        let eve = account("eve");
        match self.chance.below(12) {
            0 => self.forge.review(number, eve, ReviewState::Approved, String::new()),
            1 => self.forge.review(number, eve, ReviewState::ChangesRequested, "No.".into()),
            2 => self.forge.review(number, eve, ReviewState::Dismissed, String::new()),
            3 => self.forge.review(number, eve, ReviewState::Commented, "Hm.".into()),
            4 => {
                self.happened("by-person");
                self.forge.pulls.get_mut(&number).expect("it is there").state = PullState::Merged;
                if let Some(issue) = self.forge.issues.get_mut(&issue) {
                    issue.open = false;
                }
            }
            5 => self.forge.pulls.get_mut(&number).expect("it is there").state = PullState::Closed,
            // Whoever may write may edit our words.
            6 => self.tamper(number),
            7 => {
                let word = self.chance.pick(&["LGTM", "MINOR", "MAJOR"]);
                self.happened("unmarked");
                let me = self.forge.me.clone();
                self.forge.review(number, me, ReviewState::ChangesRequested, format!("VERDICT: {word}\n---\n- by hand"));
            }
            8 => {
                self.happened("fork");
                self.forge.open(issue, "sdet", true, false);
            }
            9 => drop(self.forge.red.insert(pull.head.sha)),
            10 => self.edit(plans),
            _ => {
                if let Some(issue) = self.forge.issues.get_mut(&issue) {
                    issue.open ^= true;
                }
            }
        }
        self.note(|| format!("somebody at #{number}"));
    }

    /// Somebody breaks the seal of our first verdict.
    pub fn tamper(&mut self, number: u64) {
        let me = self.forge.me.clone();
        let reviews = self.forge.reviews.entry(number).or_default();
        let ours = reviews.iter_mut().find(|review| review.author.is(&me) && spoken(&review.body).is_some());
        if let Some(review) = ours.filter(|review| review.body.contains("tribunal:1")) {
            let edit = Tampering { number, review: review.id.clone(), at: self.clock, body: review.body.clone() };
            let seal = review.body.rfind('.').unwrap_or(0);
            review.body.replace_range(seal.., ".AAAA -->");
            self.forge.tampered.push(edit);
            self.happened("tampered");
        }
    }

    /// A person writes into the file, as people do.
    fn edit(&mut self, plans: &mut [String]) {
        let at = self.chance.below(plans.len() as u64) as usize;
        let Ok(plan) = self.read(&plans[at]) else { return };
        let Some(task) = plan.tasks.get(self.chance.below(plan.tasks.len() as u64) as usize) else { return };
        let from = format!("\"status\": \"{}\"", task.status.word());
        let to = self.chance.pick(&["\"status\": \"REVIEWING\"", "\"status\": \"FAILED\"", "\"status\": \"ESCALATED\""]);
        // The first task with that status, which is a person's slip.
        let slip = plan.tasks.iter().find(|other| other.status == task.status).map(|other| other.id.clone());
        plans[at] = plans[at].replacen(&from, to, 1);
        self.edited.extend(slip);
    }
}

fn task(n: u64, mode: Mode, status: Status, parent: Option<u64>, before: Option<TaskId>) -> Task {
    Task {
        id: TaskId(format!("t{n}")),
        title: format!("Task {n}"),
        specialist: "sdet".into(),
        mode,
        status,
        github_issue: Some(n),
        github_pr: None,
        depends_on: before.into_iter().collect(),
        routing_rationale: None,
        issue_body: None,
        board_parent: parent,
        last_reviewed_sha: None,
        needs_review: false,
        review_cycle: None,
        assessed: None,
        verdict: None,
        escalation: None,
    }
}
