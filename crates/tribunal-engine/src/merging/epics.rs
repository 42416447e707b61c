//! After a merge: the larger work that it belongs to, and the work that that belongs to (SL-70, TS-105). The merge stands whatever comes
//! of it, so nothing in here is an error; what cannot be done is a warning.

use super::{Merging, PAUSES};
use crate::say_once::Post;
use std::collections::{BTreeMap, BTreeSet};
use tokio::time::sleep;
use tribunal_core::merge::epic::{self, Epic, EpicEnd, MAX_CHAIN, Story};
use tribunal_core::plan::links::closes;
use tribunal_core::publish::marker::{Mark, seal};
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::facts::{Issue, PullFilter, PullState};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::ForgeKind;
use tribunal_core::pull::told::Told;

impl Merging {
    /// The epics of a merged pull request, each with what became of it.
    pub async fn epics(&self, number: u64, keyword: &str) -> Vec<(u64, EpicEnd)> {
        if let Err(fault) = self.close_what_it_closes(number).await {
            return vec![(number, EpicEnd::Warning { reason: format!("what #{number} closes could not be closed: {fault}") })];
        }
        match self.parents_of_pull(number, keyword).await {
            Ok(parents) => self.finish(parents, keyword, &BTreeMap::new()).await,
            Err(fault) => {
                let reason = format!("whether #{number} was the last story of an epic could not be found out: {fault}");
                vec![(number, EpicEnd::Warning { reason })]
            }
        }
    }

    /// A forge closes what a merge closes; a plain repository does so in the process that merges, which may have died in between.
    async fn close_what_it_closes(&self, number: u64) -> Result<(), ForgeFault> {
        if self.kind != ForgeKind::Local {
            return Ok(());
        }
        let forge = &self.on.forge;
        let pull = forge.pull(number).await?;
        if pull.state != PullState::Merged || pull.base.branch != forge.trunk().await? {
            return Ok(());
        }
        for issue in closes(&pull.body) {
            match forge.issue(issue).await {
                Ok(found) if found.open => forge.close_issue(issue).await?,
                Ok(_) | Err(ForgeFault::NotFound { .. }) => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }

    /// Pieces of larger work, and what they are pieces of. Their stories are those that the forge knows and those that are `named`
    /// besides.
    pub async fn finish(&self, first: Vec<u64>, keyword: &str, named: &BTreeMap<u64, BTreeSet<u64>>) -> Vec<(u64, EpicEnd)> {
        let (mut ends, mut next, none): (Vec<(u64, EpicEnd)>, _, _) = (Vec::new(), first, BTreeSet::new());
        for _ in 0..MAX_CHAIN {
            let mut above = Vec::new();
            for epic in next {
                // What stayed open may be done by what was closed since.
                let known = ends.iter().position(|(known, _)| *known == epic);
                if known.is_some_and(|at| !matches!(ends[at].1, EpicEnd::StaysOpen { .. })) {
                    continue;
                }
                let (end, body) = self.end_of(epic, keyword, named.get(&epic).unwrap_or(&none)).await;
                // What is done may have been the last part of something larger.
                if matches!(end, EpicEnd::Close { .. } | EpicEnd::Closed) {
                    above.extend(epic::parents(&body, keyword, epic));
                }
                match known {
                    Some(at) => ends[at].1 = end,
                    None => ends.push((epic, end)),
                }
            }
            next = above;
        }
        ends
    }

    /// What its description names, and what the descriptions of the issues that it closes name.
    async fn parents_of_pull(&self, number: u64, keyword: &str) -> Result<Vec<u64>, ForgeFault> {
        let forge = &self.on.forge;
        if !forge.capabilities().await?.can(Capability::Issues) {
            return Ok(Vec::new());
        }
        let pull = forge.pull(number).await?;
        let mut parents = epic::parents(&pull.body, keyword, number);
        for story in closes(&pull.body) {
            let issue = match self.closed(story).await {
                Ok(issue) => issue,
                // A number that is no issue is no story.
                Err(ForgeFault::NotFound { .. }) => continue,
                Err(fault) => return Err(fault),
            };
            parents.extend(epic::parents(&issue.body, keyword, story));
        }
        Ok(parents)
    }

    /// The forge closes the issues of a merge in its own time. One that stays open is an open story, and says so.
    async fn closed(&self, number: u64) -> Result<Issue, ForgeFault> {
        let mut issue = self.on.forge.issue(number).await?;
        for pause in PAUSES.into_iter().take(6) {
            if !issue.open {
                break;
            }
            sleep(pause).await;
            issue = self.on.forge.issue(number).await?;
        }
        Ok(issue)
    }

    async fn end_of(&self, number: u64, keyword: &str, named: &BTreeSet<u64>) -> (EpicEnd, String) {
        let warning = |fault: &ForgeFault| EpicEnd::Warning { reason: format!("#{number} is left open: {fault}") };
        let issue = match self.on.forge.issue(number).await {
            Ok(issue) => issue,
            Err(fault) => return (warning(&fault), String::new()),
        };
        let body = issue.body.clone();
        if !issue.open {
            return (EpicEnd::Closed, body);
        }
        let mut children: Told<Vec<Story>> = self.stories(number, keyword).await.into();
        if let Told::Is(known) = &mut children {
            for story in named.iter().filter(|story| **story != number) {
                let open = self.on.forge.issue(*story).await.map(|issue| issue.open).into();
                known.retain(|other| other.number != *story);
                known.push(Story { number: *story, open });
            }
        }
        let mut listed = BTreeMap::new();
        for story in epic::listed_stories(&issue) {
            let open: Told<bool> = self.on.forge.issue(story).await.map(|issue| issue.open).into();
            listed.insert(story, open);
        }
        let end = epic::end(&Epic { issue, children, listed });
        if let EpicEnd::Close { stories, comment } = &end
            && !self.on.dry
            && let Err(fault) = self.close(number, stories, comment).await
        {
            return (warning(&fault), body);
        }
        (end, body)
    }

    /// Issues that say that they are part of it, and open pull requests that do: work that has no issue is work all the same.
    async fn stories(&self, number: u64, keyword: &str) -> Result<Vec<Story>, ForgeFault> {
        let forge = &self.on.forge;
        let open_pulls = PullFilter::default();
        let (issues, pulls) = tokio::try_join!(forge.issue_children(number, keyword), forge.pulls(&open_pulls))?;
        let of_issues = issues.into_iter().map(|issue| Story { number: issue.number, open: Told::Is(issue.open) });
        let part = pulls.into_iter().filter(|pull| epic::belongs(&pull.body, keyword, number));
        // On one forge the two are numbered apart; an open one of the same number must not hide behind a closed one.
        let mut stories: BTreeMap<u64, Story> = of_issues.map(|story| (story.number, story)).collect();
        stories.extend(part.map(|pull| (pull.number, Story { number: pull.number, open: Told::Is(true) })));
        Ok(stories.into_values().collect())
    }

    /// Says so once, under our mark, and closes it.
    async fn close(&self, number: u64, stories: &[u64], comment: &str) -> Result<(), ForgeFault> {
        let forge = &self.on.forge;
        let case_id = format!("issue:{}/{}#{number}", self.project.host().to_lowercase(), self.project.path.to_lowercase());
        let mark = Mark::Epic { stories: stories.to_vec() };
        let seen = forge.issue_comments(number).await?;
        let body = Outgoing::sealed(comment, seal(&mark, &case_id, &self.on.key));
        match self.on.say_once(Post::IssueComment { number, body: &body, seen: &seen }).await {
            // The words are not worth leaving it open for.
            Err(fault) if fault.is_uncertain() => {}
            said => drop(said?),
        }
        match forge.close_issue(number).await {
            Err(fault) if fault.is_uncertain() && !forge.issue(number).await?.open => Ok(()),
            done => done,
        }
    }
}
