//! What a run came to: every task, where it stands, and what comes next.

use super::plan_file::{Plan, Status, TaskId};
use super::seen::Word;
use super::words;
use crate::combine::verdict::Verdict;
use crate::ids::{RunId, Sha};
use crate::policy::settle::Level;
use crate::procedure::order::Hindrance;
use crate::publish::markdown::inert;
use crate::publish::verdict::Assessment;
use crate::publish::visible::visible_line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Tribunal settlement report, version 1")]
pub struct Report {
    pub version: u32,
    pub run: RunId,
    pub plan: String,
    pub repo: String,
    pub level: Level,
    /// Nothing was written: this is what would be done.
    pub dry_run: bool,
    pub tasks: Vec<TaskReport>,
    /// Assessments that were made in this run.
    pub reviewed: u32,
    /// Tasks that came to their end in this run.
    pub settled: u32,
    pub refining: u32,
    /// Issues of larger work that were closed.
    pub closed: Vec<u64>,
    pub notes: Vec<String>,
    /// The time to wait ran out with tasks under way.
    pub timed_out: bool,
    /// The plan or the forge could not be read at all, or the plan not written.
    pub failed: Option<Hindrance>,
    pub summary: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskReport {
    pub id: TaskId,
    pub title: String,
    pub status: Status,
    pub pull: Option<u64>,
    pub head: Option<Sha>,
    pub verdict: Option<Verdict>,
    pub assessed: Option<Assessment>,
    pub next: Next,
    /// Who decides, where somebody must.
    pub person: Option<String>,
    /// The same for people.
    pub words: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Next {
    Over,
    AwaitsPull,
    PullMissing,
    Draft,
    WithPerson {
        by: String,
        word: Word,
    },
    /// Listed, at a level that reviews nothing (CF-24).
    Due {
        assessment: Assessment,
    },
    /// A dry run: it would be assessed.
    Assess {
        assessment: Assessment,
    },
    /// A dry run: it would be merged.
    Merge,
    AwaitsMerge,
    MergeWaits {
        reason: String,
    },
    MergeStuck {
        reason: String,
    },
    DependsOn {
        on: TaskId,
    },
    Refine,
    Held {
        by: TaskId,
    },
    Hindered {
        hindrance: Hindrance,
    },
}

impl Report {
    /// Design section 8. The gravest counts.
    pub fn exit_code(&self) -> u8 {
        let failed = self.failed.as_ref().map(hindered);
        let timed_out = self.timed_out.then_some(75);
        let of_tasks = self.tasks.iter().map(TaskReport::exit_code);
        let rank = |code: &u8| match code {
            5 => 6,
            2 => 5,
            4 => 4,
            3 => 3,
            75 => 2,
            1 => 1,
            _ => 0,
        };
        of_tasks.chain(failed).chain(timed_out).max_by_key(rank).unwrap_or(0)
    }

    pub const HEADINGS: [&'static str; 5] = ["task", "status", "pull", "verdict", "next"];

    /// One row for each task, under [`Self::HEADINGS`].
    pub fn rows(&self) -> Vec<[String; 5]> {
        let row = |task: &TaskReport| {
            let verdict = match (task.verdict, task.assessed) {
                (Some(verdict), Some(assessed)) => format!("{} ({})", verdict.word(), assessed.word()),
                (Some(verdict), None) => verdict.word().to_owned(),
                (None, _) => String::new(),
            };
            let pull = task.pull.map(|number| format!("#{number}")).unwrap_or_default();
            [format!("{} {}", visible_line(&task.id.0), task.title), task.status.word().into(), pull, verdict, task.words.clone()]
        };
        self.tasks.iter().map(row).collect()
    }

    pub fn heading(&self) -> String {
        let rehearsal = if self.dry_run { "; nothing was written" } else { "" };
        format!(
            "{} of {}, level {} ({}){rehearsal}",
            visible_line(&self.plan),
            visible_line(&self.repo),
            self.level,
            self.level.word()
        )
    }

    /// What else a person should know.
    pub fn asides(&self) -> Vec<String> {
        let closed = self.closed.iter().map(|number| format!("#{number} was closed: all of its parts are done."));
        let notes = self.notes.iter().map(|note| visible_line(note));
        let late = self.timed_out.then(|| "The time to wait ran out.".to_owned());
        closed.chain(notes).chain(late).collect()
    }

    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.iter().map(|cell| inert(cell)).collect::<Vec<_>>().join(" | "));
        let mut text = format!("**{}**\n\n", inert(&self.heading()));
        text.push_str(&line(&Self::HEADINGS.map(str::to_owned)));
        text.push_str("| --- | --- | --- | --- | --- |\n");
        self.rows().iter().for_each(|row| text.push_str(&line(row)));
        let asides = self.asides().into_iter().map(|aside| inert(&aside));
        asides.chain([self.summary.clone()]).for_each(|aside| text.push_str(&format!("\n{aside}\n")));
        text
    }

    pub(super) fn line(&self) -> String {
        words::summary(self.reviewed, self.settled, self.refining)
    }
}

impl TaskReport {
    fn exit_code(&self) -> u8 {
        match &self.next {
            Next::Over => u8::from(self.status == Status::Escalated || self.status == Status::Failed),
            // A person has to start it, or to clear the way.
            Next::Due { .. } | Next::MergeStuck { .. } | Next::Held { .. } | Next::PullMissing => 1,
            Next::MergeWaits { .. } => 75,
            Next::Hindered { hindrance } => hindered(hindrance),
            Next::AwaitsPull
            | Next::Draft
            | Next::WithPerson { .. }
            | Next::Assess { .. }
            | Next::Merge
            | Next::AwaitsMerge
            | Next::DependsOn { .. }
            | Next::Refine => 0,
        }
    }
}

fn hindered(hindrance: &Hindrance) -> u8 {
    match hindrance {
        Hindrance::HeadMoved { .. } | Hindrance::NotOpen { .. } | Hindrance::InTheWay { .. } | Hindrance::NotYet { .. } => 75,
        Hindrance::Budget { .. } => 4,
        Hindrance::Agent { .. } => 3,
        Hindrance::Forge { .. } => 5,
        Hindrance::Setup { .. } => 2,
    }
}

/// What stands in the file for a report that has no plan to tell of.
pub(super) fn empty(run: RunId, plan: Option<&Plan>, level: Level, dry_run: bool) -> Report {
    Report {
        version: 1,
        run,
        plan: plan.map(|plan| plan.id.clone()).unwrap_or_default(),
        repo: plan.map(|plan| plan.repo.clone()).unwrap_or_default(),
        level,
        dry_run,
        tasks: Vec::new(),
        reviewed: 0,
        settled: 0,
        refining: 0,
        closed: Vec::new(),
        notes: Vec::new(),
        timed_out: false,
        failed: None,
        summary: String::new(),
    }
}
