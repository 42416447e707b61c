//! Which pull requests there are, and what a list of them must know.

use super::Sweeps;
use crate::EngineError;
use std::collections::BTreeSet;
use tribunal_core::merge::policy::MergePolicy;
use tribunal_core::plan::links::closes;
use tribunal_core::procedure::sweep::effect::{Discovered, Found, LinkedIssue};
use tribunal_core::procedure::sweep::find::{ambiguity, is_meant, issues_of, not_drawn, spec_in};
use tribunal_core::procedure::sweep::request::Target;
use tribunal_core::procedure::sweep::{Request, Trouble};
use tribunal_core::pull::facts::{Permission, Pull, PullFilter, PullState};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::told::Told;

impl Sweeps {
    pub(super) async fn discover(&self, request: &Request) -> Result<Result<Box<Discovered>, Trouble>, EngineError> {
        let pulls = self.meant(&request.target).await?;
        let mut found = Vec::new();
        for pull in &pulls {
            found.push(self.found(request, pull).await?);
        }
        let policy = match pulls.iter().find(|pull| pull.state == PullState::Open) {
            Some(pull) => self.policy_of(pull, &found).await?,
            None => Ok(MergePolicy::default()),
        };
        Ok(policy.map(|policy| Box::new(Discovered { pulls: found, policy })))
    }

    /// The policy, once everything that changes are held against is known to be whole and within reach (SL-24, SL-43).
    async fn policy_of(&self, pull: &Pull, found: &[Found]) -> Result<Result<MergePolicy, Trouble>, EngineError> {
        let brought = self.clones.bring(pull, self.on.forge.source(pull)).await?;
        let says = match (self.base)(&brought.repository, &brought.base) {
            Ok(says) => says,
            Err(why) => return Ok(Err(Trouble::Setup(why))),
        };
        if let Err(trouble) = self.library.check_external(&says.library).await {
            return Ok(Err(Trouble::Index(trouble.to_string())));
        }
        let specs: BTreeSet<String> = found.iter().filter_map(|found| found.spec.clone()).collect();
        if let Err(half) = self.whole_specs(&brought, &says.library, specs).await? {
            return Ok(Err(Trouble::Setup(half)));
        }
        Ok(Ok(says.merge))
    }

    /// Each once, by number. A number that was typed is there in any state; one that is not there at all is left out, and its run
    /// says so.
    async fn meant(&self, target: &Target) -> Result<Vec<Pull>, ForgeFault> {
        let numbers: Vec<u64> = match target {
            Target::Numbers(numbers) => numbers.iter().copied().collect(),
            Target::One(number) => vec![*number],
            Target::Spec(_) | Target::Open | Target::Label(_) | Target::Search(_) => return self.listed(target).await,
        };
        let mut pulls = Vec::new();
        for number in numbers {
            match self.on.forge.pull(number).await {
                Ok(pull) => pulls.push(pull),
                Err(ForgeFault::NotFound { .. }) => self.tell(format!("PR #{number}: there is no such pull request")),
                Err(fault) => return Err(fault),
            }
        }
        Ok(pulls)
    }

    async fn listed(&self, target: &Target) -> Result<Vec<Pull>, ForgeFault> {
        let issues: BTreeSet<u64> = match target {
            Target::Spec(spec) => issues_of(spec, &self.on.forge.find_issues(spec).await?),
            _ => BTreeSet::new(),
        };
        let label = match target {
            Target::Label(label) => Some(label.clone()),
            _ => None,
        };
        let listed = self.on.forge.pulls(&PullFilter { label, ..PullFilter::default() }).await?;
        let me = self.on.forge.identity().await?;
        let mut pulls = Vec::new();
        for pull in listed.into_iter().filter(|pull| pull.state == PullState::Open && is_meant(target, pull, &issues)) {
            let author = match pull.author.is(&me) {
                true => Told::Is(Permission::Write),
                false => self.on.permission(&pull.author).await?,
            };
            match not_drawn(target, &pull, &author) {
                None => pulls.push(pull),
                Some(why) => self.tell(format!("PR #{}: {why}", pull.number)),
            }
        }
        pulls.sort_by_key(|pull| pull.number);
        pulls.dedup_by_key(|pull| pull.number);
        Ok(pulls)
    }

    async fn found(&self, request: &Request, pull: &Pull) -> Result<Found, ForgeFault> {
        let issue = match closes(&pull.body).first().filter(|_| pull.state == PullState::Open) {
            Some(number) => self.linked(*number).await?,
            None => None,
        };
        let asked = match &request.target {
            Target::Spec(spec) => Some(spec.clone()),
            _ => None,
        };
        Ok(Found {
            number: pull.number,
            title: pull.title.clone(),
            url: pull.url.clone(),
            branch: pull.head.branch.clone(),
            head: pull.head.sha.clone(),
            base_branch: pull.base.branch.clone(),
            state: pull.state,
            labels: pull.labels.clone(),
            issue,
            spec: asked.or_else(|| spec_in(&pull.body)),
        })
    }

    /// An issue that a description names and nobody can find says nothing about the change.
    async fn linked(&self, number: u64) -> Result<Option<LinkedIssue>, ForgeFault> {
        let issue = match self.on.forge.issue(number).await {
            Ok(issue) => issue,
            Err(ForgeFault::NotFound { .. }) => return Ok(None),
            Err(fault) => return Err(fault),
        };
        Ok(Some(LinkedIssue { number, ambiguous: ambiguity(&issue.body) }))
    }
}
