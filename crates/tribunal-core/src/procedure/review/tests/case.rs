//! A case over a sequence of pushes, rebases, squashes, moved files, lost records and reviewers of every temper: no finding disappears
//! without a recorded reason (PR-11).

use super::*;
use crate::combine::finding::Finding;
use crate::combine::prior::VerifiedBy;
use crate::diff::change::Change;
use crate::diff::parse::parse_diff;
use crate::findings::admit::{Author, Gate, admit};
use crate::findings::report::{Claim, PriorStatus, Report, Verification};
use crate::findings::scale::{Blast, Confidence, Justification, Priority, Severity};
use crate::ids::RoleName;
use crate::plan::files::summarise;
use crate::policy::publish::ResolveRule;
use crate::procedure::review::known::{Known, ShownReviews};
use crate::publish::marker::{Mark, MarkerKey, seal};
use crate::publish::memory::{Memory, pack_finding};
use crate::publish::outgoing::Outgoing;
use crate::publish::threads::own;
use crate::pull::talk::{Thread, ThreadComment};
use crate::report::history::{PastReview, remember};
use crate::report::publication::{Publication, PublicationEnd};
use proptest::prelude::*;
use std::fmt::Write as _;

const CASE: &str = "pull:forge.example/acme/shop#7";
const PATHS: [&str; 4] = ["a.py", "b.py", "c.py", "d.py"];

type Files = BTreeMap<RepoPath, Vec<u32>>;
/// A path with its lines in the base and at the head.
type BothSides = (RepoPath, Option<Vec<u32>>, Option<Vec<u32>>);

#[derive(Debug, Clone)]
enum Happening {
    /// A line of a file is written anew.
    Edit {
        path: usize,
        line: usize,
    },
    /// A line is added to a file, which may be new.
    Add {
        path: usize,
    },
    /// A line moves to another file.
    MoveLine {
        from: usize,
        to: usize,
    },
    MoveFile {
        from: usize,
        to: usize,
    },
    DeleteFile {
        path: usize,
    },
    /// A file is put back as the base has it.
    Revert {
        path: usize,
    },
    /// The base gets a line in a file, and the change is rebased on it.
    Rebase {
        path: usize,
    },
    /// The base takes in a file of the change as it is.
    MergePart {
        path: usize,
    },
    /// git loses every earlier head.
    ForcePush,
    RulesChange,
    OtherMachine,
    /// Somebody deletes the summary.
    LoseSummary,
}

/// How a reviewer behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Temper {
    Silent,
    Fails,
    /// Reports one line in so many, with this weight.
    Reports {
        every: u32,
        severity: Severity,
    },
    Verifies(Verification, bool),
}

#[derive(Debug, Clone)]
struct Round {
    happenings: Vec<Happening>,
    tempers: [Temper; 3],
    full: bool,
    /// The head moves while the result is posted.
    unposted: bool,
}

#[derive(Default)]
struct Machine {
    document: Option<String>,
    names: BTreeMap<FindingKey, FindingId>,
    documents: u32,
}

/// What a case knows of an open finding, and which record holds it.
#[derive(Clone)]
struct Tracked {
    finding: Finding,
    /// Its weight where it is on record: in the ledger of each machine, and in the summary.
    in_ledger: [Option<Priority>; 2],
    in_summary: Option<Priority>,
    in_thread: bool,
}

struct Case {
    is_pull: bool,
    next_line: u32,
    base: Files,
    head: Files,
    commits: u32,
    /// Trees that git still has: base and head of earlier reviews.
    trees: BTreeMap<Sha, Files>,
    base_sha: Sha,
    head_sha: Sha,
    fingerprint: u32,
    machines: [Machine; 2],
    here: usize,
    memory: Option<Memory>,
    threads: Vec<Thread>,
    tracked: BTreeMap<String, Tracked>,
    runs: u32,
}

fn me() -> Account {
    Account { id: "1".into(), login: "tribunal".into(), kind: AccountKind::Bot }
}

fn key() -> MarkerKey {
    MarkerKey::from_secret("a secret")
}

fn text(line: u32) -> String {
    format!("value_{line} = compute({line})")
}

fn slug(category: &crate::ids::CategoryCode, line: u32) -> String {
    format!("{}-line-{line}", category.as_str().to_lowercase())
}

/// The files that differ, each with both of its contents.
fn changed(base: &Files, head: &Files) -> BTreeSet<BothSides> {
    let paths: BTreeSet<&RepoPath> = base.keys().chain(head.keys()).collect();
    let differing = paths.into_iter().filter(|path| base.get(*path) != head.get(*path));
    differing.map(|path| (path.clone(), base.get(path).cloned(), head.get(path).cloned())).collect()
}

impl Case {
    fn new(is_pull: bool) -> Self {
        let base: Files = [("a.py".into(), vec![1, 2, 3]), ("b.py".into(), vec![4, 5, 6])].into();
        let mut head = base.clone();
        head.insert("a.py".into(), vec![1, 7, 8, 3]);
        head.insert("c.py".into(), vec![9, 10]);
        Case {
            is_pull,
            next_line: 20,
            base,
            head,
            commits: 0,
            trees: BTreeMap::new(),
            base_sha: "base0".into(),
            head_sha: "head0".into(),
            fingerprint: 0,
            machines: Default::default(),
            here: 0,
            memory: None,
            threads: Vec::new(),
            tracked: BTreeMap::new(),
            runs: 0,
        }
    }

    fn fresh(&mut self) -> u32 {
        self.next_line += 1;
        self.next_line
    }

    fn happens(&mut self, happening: &Happening) {
        self.commits += 1;
        self.head_sha = Sha(format!("head{}", self.commits));
        let path = |index: usize| RepoPath::from(PATHS[index % PATHS.len()]);
        let new = self.fresh();
        match happening {
            Happening::Edit { path: at, line } => {
                if let Some(lines) = self.head.get_mut(&path(*at)).filter(|lines| !lines.is_empty()) {
                    let index = line % lines.len();
                    lines[index] = new;
                }
            }
            Happening::Add { path: at } => self.head.entry(path(*at)).or_default().push(new),
            Happening::MoveLine { from, to } => {
                let moved = self.head.get_mut(&path(*from)).and_then(Vec::pop);
                if let Some(moved) = moved {
                    self.head.entry(path(*to)).or_default().push(moved);
                }
            }
            Happening::MoveFile { from, to } => {
                if !self.head.contains_key(&path(*to))
                    && let Some(lines) = self.head.remove(&path(*from))
                {
                    self.head.insert(path(*to), lines);
                }
            }
            Happening::DeleteFile { path: at } => drop(self.head.remove(&path(*at))),
            Happening::Revert { path: at } => match self.base.get(&path(*at)) {
                Some(lines) => drop(self.head.insert(path(*at), lines.clone())),
                None => drop(self.head.remove(&path(*at))),
            },
            Happening::Rebase { path: at } => {
                self.base.entry(path(*at)).or_default().insert(0, new);
                self.head.entry(path(*at)).or_default().insert(0, new);
                self.base_sha = Sha(format!("base{}", self.commits));
            }
            Happening::MergePart { path: at } => {
                match self.head.get(&path(*at)) {
                    Some(lines) => drop(self.base.insert(path(*at), lines.clone())),
                    None => drop(self.base.remove(&path(*at))),
                }
                self.base_sha = Sha(format!("base{}", self.commits));
            }
            Happening::ForcePush => self.trees.clear(),
            Happening::RulesChange => self.fingerprint += 1,
            Happening::OtherMachine => self.here = 1 - self.here,
            Happening::LoseSummary => {
                self.memory = None;
                self.tracked.values_mut().for_each(|tracked| tracked.in_summary = None);
            }
        }
    }

    /// Every file that differs, whole: git shows less, and what it shows is a part of this.
    fn change(&self) -> Change {
        let mut diff = String::new();
        let paths: BTreeSet<&RepoPath> = self.base.keys().chain(self.head.keys()).collect();
        for path in paths {
            let (old, new) = (self.base.get(path), self.head.get(path));
            if old == new {
                continue;
            }
            let (mut removed, mut added) = (String::new(), String::new());
            old.into_iter().flatten().for_each(|line| writeln!(removed, "-{}", text(*line)).unwrap());
            new.into_iter().flatten().for_each(|line| writeln!(added, "+{}", text(*line)).unwrap());
            let count = |lines: Option<&Vec<u32>>| lines.map_or(0, Vec::len);
            let start = |count: usize| usize::from(count > 0);
            let (olds, news) = (count(old), count(new));
            let from = if old.is_some() { format!("a/{path}") } else { "/dev/null".into() };
            let to = if new.is_some() { format!("b/{path}") } else { "/dev/null".into() };
            let mode = match (old, new) {
                (None, _) => "new file mode 100644\n",
                (_, None) => "deleted file mode 100644\n",
                (Some(_), Some(_)) => "",
            };
            write!(diff, "diff --git a/{path} b/{path}\n{mode}").unwrap();
            if olds + news > 0 {
                let (old_start, new_start) = (start(olds), start(news));
                write!(diff, "--- {from}\n+++ {to}\n@@ -{old_start},{olds} +{new_start},{news} @@\n{removed}{added}").unwrap();
            }
        }
        parse_diff(diff.as_bytes()).unwrap_or_default()
    }

    /// What git says of the time since the last review.
    fn since(&self, last: &Document) -> Option<(BTreeSet<RepoPath>, BTreeMap<RepoPath, RepoPath>, bool)> {
        let (old_base, old) = (self.trees.get(&last.base)?, self.trees.get(&last.head)?);
        let before = changed(old_base, old);
        let now = changed(&self.base, &self.head);
        let recompared = now.iter().filter(|(path, base, _)| !before.iter().any(|(known, was, _)| (known, was) == (path, base)));
        let mut paths: BTreeSet<RepoPath> = recompared.map(|(path, ..)| path.clone()).collect();
        let same = paths.is_empty() && before == now;
        paths.extend(changed(old, &self.head).into_iter().map(|(path, ..)| path));
        let mut renamed = BTreeMap::new();
        for (gone, lines) in old.iter().filter(|(path, lines)| !self.head.contains_key(*path) && !lines.is_empty()) {
            let is_target = |(path, now): &(&RepoPath, &Vec<u32>)| !old.contains_key(*path) && *now == lines;
            if let Some((path, _)) = self.head.iter().find(is_target) {
                renamed.insert(gone.clone(), path.clone());
            }
        }
        Some((paths, renamed, same))
    }

    fn read(&self, change: &Change, request: &Request) -> ChangeRead {
        let machine = &self.machines[self.here];
        let mut known = Known::of_ledger(machine.names.clone(), machine.document.as_deref(), machine.documents, Vec::new());
        if self.is_pull {
            let (me, key) = (me(), key());
            let threads = own(&self.threads, &me, CASE, &key);
            known = known.with_pull(ShownReviews {
                memory: self.memory.clone().filter(|memory| !memory.is_older_than(&threads)),
                threads: &threads,
                has_summary: self.memory.is_some(),
            });
        }
        let last = known.last.map(|last| {
            let since = self.since(&last.document);
            let same_content = self.is_pull && since.as_ref().is_some_and(|since| since.2);
            let (changed_since, renamed) = since.map(|(paths, renamed, _)| (paths, renamed)).unzip();
            LastKnown {
                run: last.document.receipt.run.clone(),
                review: LastReview {
                    reachable: changed_since.is_some(),
                    head: last.document.head.clone(),
                    base: last.document.base.clone(),
                    fingerprint: last.document.receipt.fingerprint.clone(),
                    complete: matches!(last.document.outcome.word(), "clean" | "findings"),
                    proved: last.proved,
                    same_content,
                    other_target: false,
                },
                open: last.document.findings.iter().map(|finding| OpenFinding::compared(finding.clone(), change)).collect(),
                gaps: Vec::new(),
                clean: Vec::new(),
                iteration: last.iteration,
                changed_since,
                renamed: renamed.unwrap_or_default(),
                history: remember(last.history, PastReview::of(&last.document)),
                document: request.pull.is_some().then(|| Box::new(last.document)),
            }
        });
        ChangeRead {
            files: summarise(change),
            has_repo: true,
            last,
            loose: known.loose.into_iter().map(|finding| OpenFinding::compared(finding, change)).collect(),
            lost: known.lost,
            unverified: known.unverified,
            ids: IdBook::from_names(known.names),
            pull: self.is_pull.then(pull::PullRead::default),
            dismissals: Vec::new(),
            rule_dismissals: Vec::new(),
        }
    }

    fn request(&mut self, round: &Round) -> Request {
        self.runs += 1;
        let mut request = request();
        request.run = RunId(format!("r{}", self.runs));
        request.mode = if round.full { RequestedMode::Full } else { RequestedMode::Auto };
        request.fingerprint = format!("f{}", self.fingerprint);
        request.target = Target::Trees {
            base: self.base_sha.clone(),
            head: self.head_sha.clone(),
            subject: "x against main".into(),
            tip: None,
        };
        if self.is_pull {
            request.pull = of_a_stranger(&[]).pull.map(|pull| pull::PullRun { publish: true, ..pull });
        }
        request
    }

    /// One review; nothing where there is no change to review.
    fn review(&mut self, round: &Round) -> Result<(), TestCaseError> {
        let change = self.change();
        if change.files.is_empty() {
            return Ok(());
        }
        let request = self.request(round);
        let read = self.read(&change, &request);
        let roles = request.roles.clone();
        let mut state = step(None, Input::Start { request: Box::new(request) }, 1).unwrap().state;
        let planned = step(Some(state), Input::ChangeRead(Box::new(read)), 2).unwrap();
        state = planned.state;
        let mut said: Vec<PriorStatus> = Vec::new();
        for seat in seats(&planned.effects) {
            let Phase::Reviewing(reviewing) = &state.phase else { break };
            let prior = reviewing.plan.prior.clone();
            let temper = round.tempers[roles.iter().position(|role| role.name == seat.role).unwrap() % 3];
            let answer = self.answer(temper, &seat.role, &roles, &change, &prior);
            said.extend(answer.report.prior.iter().cloned());
            state = step(Some(state), Input::SeatFinished { seat, answer: Box::new(answer) }, 3).unwrap().state;
        }
        let mut is_new = true;
        let mut document = match &state.phase {
            Phase::Publishing(publishing) => {
                is_new = !publishing.is_restated;
                publishing.document.clone()
            }
            Phase::Done(document) => (**document).clone(),
            Phase::Noop { document, last_run, .. } => match document {
                Some(document) => (**document).clone(),
                None => {
                    let stored = self.machines[self.here].document.as_deref().unwrap();
                    let stored: Document = serde_json::from_str(stored).unwrap();
                    prop_assert_eq!(&stored.receipt.run, last_run);
                    stored
                }
            },
            Phase::NotRun { .. } | Phase::Declining { .. } => return Ok(()),
            other => return Err(TestCaseError::fail(format!("{other:?}"))),
        };
        self.check(&document, &said, &change)?;
        let posts = self.is_pull && is_new && !round.unposted && document.receipt.is_of_a_review();
        if is_new && round.unposted {
            let end = PublicationEnd::HeadMoved { to: "later".into() };
            document.publication = Some(Publication { end, ..Publication::default() });
        }
        self.store(&document, posts);
        Ok(())
    }

    fn answer(&self, temper: Temper, role: &RoleName, roles: &[Role], change: &Change, prior: &[OpenFinding]) -> SeatAnswer {
        let role = roles.iter().find(|known| known.name == *role).unwrap();
        let mut report = Report::default();
        match temper {
            Temper::Silent => {}
            Temper::Fails => return *failure(SeatState::Failed { reason: "it crashed".into() }),
            Temper::Reports { every, severity } => {
                let category = role.categories[0].code.clone();
                for (path, lines) in &self.head {
                    for line in lines.iter().filter(|line| **line % every == 0) {
                        report.findings.push(claim(path, *line, category.clone(), severity));
                    }
                }
            }
            Temper::Verifies(verification, has_note) => {
                let note = if has_note { "looked at the place" } else { " " };
                let status = |open: &OpenFinding| PriorStatus {
                    id: open.finding.id,
                    verification,
                    note: note.into(),
                    is_switched_off: false,
                };
                report.prior = prior.iter().filter(|open| role.owns(&open.finding.category_code)).map(status).collect();
            }
        }
        let (agent, outlines) = (AgentName::from(role.name.as_str()), BTreeMap::new());
        let gate = Gate {
            role,
            agent: &agent,
            change,
            outlines: &outlines,
            window: None,
            has_repo: true,
            spec: None,
            directives: &[],
            author: Author::Rules,
        };
        SeatAnswer {
            report: admit(report, &gate),
            reading: Reading { files: 1, read: 1, parts: 1 },
            ..SeatAnswer::troubled(SeatState::Ok, Spend::default())
        }
    }

    /// Does a record that is at hand hold it? What only another machine knows, and has not shown, is unknown here.
    fn is_known(&self, tracked: &Tracked) -> bool {
        tracked.in_ledger[self.here].is_some() || tracked.in_summary.is_some() || (tracked.in_thread && self.memory.is_none())
    }

    /// Each open finding is still open, or closed with a reason that is true.
    fn check(&self, document: &Document, said: &[PriorStatus], change: &Change) -> Result<(), TestCaseError> {
        for (slug, tracked) in self.tracked.iter().filter(|(_, tracked)| self.is_known(tracked)) {
            if let Some(now) = document.findings.iter().find(|finding| &finding.slug == slug) {
                // A comment on a line says what it weighed when it was posted.
                let weight = tracked.in_summary.or(tracked.in_ledger[self.here]);
                let is_explained = weight.is_none_or(|weight| now.p_code <= weight) || now.severity_adjustment.is_some();
                prop_assert!(is_explained, "{} went from {:?} to {}", slug, weight, now.p_code);
                continue;
            }
            let record = document.prior_verifications.iter().find(|prior| &prior.slug == slug);
            let Some(record) = record else {
                return Err(TestCaseError::fail(format!(
                    "{slug} ({}) disappeared: {:?}, {:?}",
                    tracked.finding.id, document.receipt.mode, document.receipt.widened
                )));
            };
            prop_assert_eq!(record.verification, Verification::Yes);
            match record.by {
                VerifiedBy::Reviewer | VerifiedBy::Settings => {
                    let of_this: Vec<&PriorStatus> = said.iter().filter(|status| status.id == record.prior_id).collect();
                    let is_yes =
                        |status: &&PriorStatus| status.verification == Verification::Yes && !status.note.trim().is_empty();
                    prop_assert!(!of_this.is_empty() && of_this.iter().all(is_yes), "{}: {:?}", slug, of_this);
                }
                VerifiedBy::Comparison => {
                    let path = RepoPath::from(record.file.as_str());
                    prop_assert_eq!(self.base.get(&path), self.head.get(&path), "{} was closed as {:?}", slug, record);
                    let cited = &tracked.finding.evidence;
                    let is_there = |file: &crate::diff::change::ChangedFile| file.added_lines().any(|line| &line.text == cited);
                    prop_assert!(!change.files.iter().any(is_there), "{} is elsewhere in the change", slug);
                }
            }
        }
        let ids: BTreeSet<FindingId> = document.findings.iter().map(|finding| finding.id).collect();
        prop_assert_eq!(ids.len(), document.findings.len(), "a name stands for two findings");
        Ok(())
    }

    fn store(&mut self, document: &Document, posts: bool) {
        let slugs: BTreeSet<&String> = document.findings.iter().map(|finding| &finding.slug).collect();
        let gone: Vec<String> = self
            .tracked
            .iter()
            .filter(|(slug, tracked)| !slugs.contains(slug) && self.is_known(tracked))
            .map(|(slug, _)| slug.clone())
            .collect();
        gone.iter().for_each(|slug| drop(self.tracked.remove(slug)));
        self.trees.insert(document.base.clone(), self.base.clone());
        self.trees.insert(document.head.clone(), self.head.clone());
        let machine = &mut self.machines[self.here];
        machine.names.extend(document.findings.iter().map(|finding| (finding.key.clone(), finding.id)));
        machine.document = Some(document.to_json());
        machine.documents += 1;
        if posts {
            // Whoever posts has read what is shown there.
            let shown =
                own(&self.threads, &me(), CASE, &key()).into_iter().map(|thread| (thread.key.clone(), thread.id)).collect();
            let mut names: BTreeMap<FindingKey, FindingId> = shown;
            names.extend(self.memory.iter().flat_map(|memory| memory.names.clone()));
            names.extend(machine.names.clone());
            self.post(document, names);
        }
        for finding in &document.findings {
            let nowhere = Tracked { finding: finding.clone(), in_ledger: [None; 2], in_summary: None, in_thread: false };
            let in_thread = self.threads.iter().any(|thread| thread.id == finding.slug);
            let tracked = self.tracked.entry(finding.slug.clone()).or_insert(nowhere);
            tracked.finding = finding.clone();
            tracked.in_ledger[self.here] = Some(finding.p_code);
            if posts {
                tracked.in_summary = Some(finding.p_code);
            }
            tracked.in_thread |= in_thread;
        }
    }

    fn post(&mut self, document: &Document, names: BTreeMap<FindingKey, FindingId>) {
        let (me, key) = (me(), key());
        let comment = |id: String, mark: &Mark| ThreadComment {
            id,
            author: me.clone(),
            body: Outgoing::sealed("Said.", seal(mark, CASE, &key)).into_string(),
            created_at: String::new(),
            url: String::new(),
            review: None,
            edited: false,
        };
        let answers: Vec<(String, ThreadComment)> = own(&self.threads, &me, CASE, &key)
            .iter()
            .filter_map(|thread| {
                let (says, _) = thread.answer(document, ResolveRule::Addressed).says?;
                let mark = Mark::Answer { id: thread.id, says, head: document.head.clone() };
                Some((thread.thread.id.clone(), comment(format!("answer {}", document.head), &mark)))
            })
            .collect();
        for (id, answer) in answers {
            self.threads.iter_mut().find(|thread| thread.id == id).unwrap().comments.push(answer);
        }
        for finding in document.findings.iter().filter(|finding| finding.inline) {
            if self.threads.iter().any(|thread| thread.id == finding.slug) {
                continue;
            }
            let mark = Mark::Finding {
                key: finding.key.clone(),
                id: finding.id,
                head: document.head.clone(),
                about: Default::default(),
                finding: pack_finding(finding),
            };
            self.threads.push(Thread {
                id: finding.slug.clone(),
                path: finding.file.0.clone(),
                line: Some(finding.line_start),
                start_line: None,
                side: finding.side,
                resolved: false,
                resolved_by: None,
                outdated: None,
                can_resolve: None,
                comments: vec![comment(finding.slug.clone(), &mark)],
            });
        }
        self.memory = Some(Memory::of(document, names));
    }
}

fn claim(path: &RepoPath, line: u32, category: crate::ids::CategoryCode, severity: Severity) -> Claim {
    Claim {
        slug: Some(slug(&category, line)),
        category,
        file: path.clone(),
        line_start: None,
        line_end: None,
        severity: Some(severity),
        confidence: Confidence::High,
        blast: Blast::Local,
        justification: Some(Justification::Reachable),
        evidence: text(line),
        failure_mode: format!("it breaks at {line}"),
        mitigation: "change it".into(),
        details: None,
        notes: None,
        signal: None,
        spec_quote: None,
        questions: Vec::new(),
        mitigation_out_of_scope: false,
        reversible: None,
        rule: None,
        fix: None,
        trace: Vec::new(),
    }
}

fn any_happening() -> impl Strategy<Value = Happening> {
    let path = 0..PATHS.len();
    prop_oneof![
        3 => (path.clone(), 0..8usize).prop_map(|(path, line)| Happening::Edit { path, line }),
        2 => path.clone().prop_map(|path| Happening::Add { path }),
        1 => (path.clone(), path.clone()).prop_map(|(from, to)| Happening::MoveLine { from, to }),
        2 => (path.clone(), path.clone()).prop_map(|(from, to)| Happening::MoveFile { from, to }),
        1 => path.clone().prop_map(|path| Happening::DeleteFile { path }),
        2 => path.clone().prop_map(|path| Happening::Revert { path }),
        3 => path.clone().prop_map(|path| Happening::Rebase { path }),
        1 => path.prop_map(|path| Happening::MergePart { path }),
        2 => Just(Happening::ForcePush),
        1 => Just(Happening::RulesChange),
        2 => Just(Happening::OtherMachine),
        1 => Just(Happening::LoseSummary),
    ]
}

fn any_temper() -> impl Strategy<Value = Temper> {
    let severity = prop::sample::select(vec![Severity::Blocker, Severity::Factual, Severity::Suggestion]);
    let verification = prop::sample::select(vec![Verification::Yes, Verification::Unclear, Verification::No]);
    prop_oneof![
        4 => Just(Temper::Silent),
        1 => Just(Temper::Fails),
        3 => (1..4u32, severity).prop_map(|(every, severity)| Temper::Reports { every, severity }),
        2 => (verification, any::<bool>()).prop_map(|(verification, note)| Temper::Verifies(verification, note)),
    ]
}

prop_compose! {
    fn any_round()(
        happenings in prop::collection::vec(any_happening(), 0..3),
        tempers in [any_temper(), any_temper(), any_temper()],
        full in prop::bool::weighted(0.15),
        unposted in prop::bool::weighted(0.15),
    ) -> Round {
        Round { happenings, tempers, full, unposted }
    }
}

const SILENT: [Temper; 3] = [Temper::Silent; 3];

fn round(happenings: Vec<Happening>, tempers: [Temper; 3]) -> Round {
    Round { happenings, tempers, full: false, unposted: false }
}

fn loud() -> Round {
    round(Vec::new(), [Temper::Reports { every: 1, severity: Severity::Blocker }, Temper::Silent, Temper::Silent])
}

fn play_rounds(is_pull: bool, rounds: &[Round]) -> Result<Case, TestCaseError> {
    let mut case = Case::new(is_pull);
    for round in rounds {
        round.happenings.iter().for_each(|happening| case.happens(happening));
        case.review(round)?;
    }
    Ok(case)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// PR-11, PR-69 to PR-73: whatever happens between two reviews, and whichever reviewers are silent.
    #[test]
    fn no_finding_disappears_without_a_recorded_reason(is_pull in any::<bool>(), rounds in prop::collection::vec(any_round(), 1..7)) {
        play_rounds(is_pull, &rounds)?;
    }
}

/// Issue 18, section 0 point 1, as it was demonstrated: the base moves in another file, and the reviewer is silent after the rebase.
#[test]
fn a_rebase_keeps_what_is_open() {
    for is_pull in [false, true] {
        let case = play_rounds(is_pull, &[loud(), round(vec![Happening::Rebase { path: 1 }], SILENT)]).unwrap();
        assert!(!case.tracked.is_empty());
        let stored: Document = serde_json::from_str(case.machines[0].document.as_deref().unwrap()).unwrap();
        // On a pull request a rebase that changes none of its files is no new change; by hand another base always is.
        let mode = if is_pull { Mode::Incremental } else { Mode::Full };
        assert_eq!((stored.receipt.mode, stored.exit_code()), (mode, 1));
        assert!(stored.prior_verifications.iter().all(|prior| prior.verification == Verification::Unclear));
    }
}

/// A file that was put back takes its finding with it, and the reason is recorded; a line that moved to another file does not.
#[test]
fn what_is_no_part_of_the_change_is_closed_by_comparison() {
    let reverted = play_rounds(false, &[loud(), round(vec![Happening::Revert { path: 2 }], SILENT)]).unwrap();
    assert!(!reverted.tracked.contains_key("s1-line-9") && reverted.tracked.contains_key("s1-line-7"));
    let moved = vec![Happening::MoveLine { from: 2, to: 0 }, Happening::Revert { path: 2 }];
    let moved = play_rounds(false, &[loud(), round(moved, SILENT)]).unwrap();
    assert!(moved.tracked.contains_key("s1-line-10"), "it stands in another file now");
}

/// On a fresh machine, without the summary, the sealed comments on the lines still say what is open.
#[test]
fn a_deleted_summary_on_another_machine_closes_nothing() {
    let happenings = vec![Happening::OtherMachine, Happening::LoseSummary, Happening::Edit { path: 1, line: 0 }];
    let case = play_rounds(true, &[loud(), round(happenings, SILENT)]).unwrap();
    let stored: Document = serde_json::from_str(case.machines[1].document.as_deref().unwrap()).unwrap();
    assert_eq!(stored.receipt.widened, Some(Widening::Unproved));
    assert!(stored.findings.len() >= 4 && stored.exit_code() == 1, "{:?}", stored.findings);
}

/// A result that could not be posted is kept where it was made, also when the head did not move after all.
#[test]
fn what_could_not_be_posted_stays_open() {
    let unposted = Round { unposted: true, full: true, ..loud() };
    let case = play_rounds(true, &[round(Vec::new(), SILENT), unposted, round(Vec::new(), SILENT)]).unwrap();
    let stored: Document = serde_json::from_str(case.machines[0].document.as_deref().unwrap()).unwrap();
    assert_eq!((stored.receipt.run.as_str(), stored.exit_code()), ("r3", 1));
    assert_eq!(case.memory.unwrap().document.findings.len(), stored.findings.len());
}

/// A summary of an earlier review of this very head, put back by somebody: its seal opens, and it says that there is nothing.
#[test]
fn an_earlier_summary_that_was_put_back_closes_nothing() {
    for here in [0, 1] {
        let mut case = play_rounds(true, &[round(Vec::new(), SILENT)]).unwrap();
        let earlier = case.memory.clone();
        case.review(&Round { full: true, ..loud() }).unwrap();
        (case.memory, case.here) = (earlier, here);
        case.review(&round(Vec::new(), SILENT)).unwrap();
        let stored: Document = serde_json::from_str(case.machines[here].document.as_deref().unwrap()).unwrap();
        assert_eq!((stored.exit_code(), stored.receipt.widened), (1, Some(Widening::Unproved)), "machine {here}");
        assert!(!stored.findings.is_empty());
    }
}

/// Where a review has nothing on a line, the ledger knows which one came after which, if both were shown.
#[test]
fn the_ledger_tells_that_a_summary_was_put_back() {
    let mut case = play_rounds(true, &[round(Vec::new(), SILENT)]).unwrap();
    let earlier = case.memory.clone().unwrap();
    case.review(&Round { full: true, ..round(Vec::new(), SILENT) }).unwrap();
    let known = |end: PublicationEnd| {
        let mut last: Document = serde_json::from_str(case.machines[0].document.as_deref().unwrap()).unwrap();
        last.publication = Some(Publication { end, ..Publication::default() });
        let known = Known::of_ledger(BTreeMap::new(), Some(&last.to_json()), 2, Vec::new());
        known.with_pull(ShownReviews { memory: Some(earlier.clone()), threads: &[], has_summary: true })
    };
    let shown = known(PublicationEnd::Published);
    assert_eq!((shown.last.map(|last| last.proved), shown.lost), (Some(false), Some(Widening::Unproved)));
    let unposted = known(PublicationEnd::HeadMoved { to: "later".into() });
    assert_eq!(
        unposted.last.map(|last| (last.proved, last.document.receipt.run)),
        Some((true, earlier.document.receipt.run.clone()))
    );
}
