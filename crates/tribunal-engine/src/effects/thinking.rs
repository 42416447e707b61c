//! A seat that is played by a model or an agent CLI: the change in parts, one question each, one repair if an answer does not fit, and
//! whatever was proved by then if something stops it.

use super::ask::{Slot, Tree};
use super::context::Beside;
use super::given::{Given, SharedPart, plan};
use super::{Effects, blocking};
use crate::{EngineError, Progress};
use std::collections::BTreeSet;
use std::sync::Arc;
use tribunal_core::call::Question;
use tribunal_core::call::allowance::room;
use tribunal_core::call::usage::estimate_tokens;
use tribunal_core::findings::admit::{AdmittedReport, Author, Gate, admit};
use tribunal_core::findings::report::{Report, Unread, join};
use tribunal_core::findings::role::Role;
use tribunal_core::ids::{AgentName, RepoPath};
use tribunal_core::plan::panel::Seat;
use tribunal_core::policy::agents::{AgentConfig, Means};
use tribunal_core::procedure::review::{Input, SeatAnswer, Spend, State, Target};
use tribunal_core::prompt::brief::{common_sections, own};
use tribunal_core::prompt::{RunWords, SYSTEM};
use tribunal_core::report::receipt::{ContextGiven, Reading, SeatState};

/// Everything that is asked of one seat.
struct Assigned {
    given: Given,
    parts: Vec<SharedPart>,
    own: String,
    context: ContextGiven,
}

impl Effects {
    pub(super) async fn run_thinking_seat(
        self: Arc<Self>,
        seat: Seat,
        state: Arc<State>,
        case_id: Arc<str>,
        patch: Option<Vec<u8>>,
    ) -> Result<Input, EngineError> {
        (self.listener)(Progress::SeatStarted(seat.clone()));
        let (worker, shared_state, shared_seat) = (Arc::clone(&self), Arc::clone(&state), seat.clone());
        let assigned = blocking(move || worker.assign(&shared_seat, &shared_state, patch)).await?;
        let answer = match assigned {
            Ok(assigned) => self.play_parts(&seat, &state, &case_id, assigned).await?,
            Err(reason) => SeatAnswer::troubled(SeatState::Failed { reason: reason.into() }, Spend::default()),
        };
        (self.listener)(Progress::SeatFinished {
            seat: seat.clone(),
            findings: answer.report.findings.len(),
            failure: answer.state.trouble(),
        });
        Ok(Input::SeatFinished { seat, answer: Box::new(answer) })
    }

    fn assign(&self, seat: &Seat, state: &State, patch: Option<Vec<u8>>) -> Result<Assigned, String> {
        let plan = plan(state)?;
        let given = self.given(state, patch)?;
        let role = role(seat, state)?;
        let agent = state.request.policy.agents.get(&seat.agent).ok_or("the agent is unknown")?;
        let words = RunWords::new(&state.request.nonce);
        let own = own(&given.assignment(state, plan, &Beside::default()), &words, &common_sections(&state.request.roles), role);
        let fixed = estimate_tokens(SYSTEM) + estimate_tokens(&own);
        let context = self.context(state, &given, plan);
        let beside = context.beside(plan, room(agent, fixed));
        let limit = room(agent, fixed + beside.tokens(state));
        let parts = given.shared_parts(state, plan, &context, &beside, limit);
        let context = context.given(state, &beside, &parts.iter().map(|part| &part.around).collect::<Vec<_>>());
        Ok(Assigned { given, parts, own, context })
    }

    async fn play_parts(
        &self,
        seat: &Seat,
        state: &Arc<State>,
        case_id: &str,
        assigned: Assigned,
    ) -> Result<SeatAnswer, EngineError> {
        let Assigned { given, parts, own, context } = assigned;
        let (mut reports, mut spend, mut trouble) = (Vec::new(), Spend::default(), SeatState::Ok);
        let all: BTreeSet<RepoPath> = parts.iter().flat_map(|part| part.paths.clone()).collect();
        let count = parts.len();
        let mut unread_paths: BTreeSet<RepoPath> = BTreeSet::new();
        let mut remaining = parts.into_iter().enumerate();
        for (number, part) in remaining.by_ref() {
            let question = Question {
                system: SYSTEM.to_owned(),
                shared: part.text,
                own: own.clone(),
                schema: super::schemas::report(),
                repair: None,
            };
            let (report, took) = self.ask_for_report(seat, state, case_id, number, question).await?;
            spend = spend.plus(took);
            match report {
                Ok(report) => reports.push(report),
                Err(state) => {
                    trouble = state;
                    unread_paths.extend(part.paths);
                    break;
                }
            }
        }
        unread_paths.extend(remaining.flat_map(|(_, part)| part.paths));
        let reading = Reading { files: all.len() as u32, read: (all.len() - unread_paths.len()) as u32, parts: count as u32 };
        let mut report = join(reports);
        report.unread.extend(
            unread_paths.into_iter().map(|path| Unread { path, reason: "its part of the change was not answered".to_owned() }),
        );
        let report = self.admit_prose(seat, state, given, report).await?;
        Ok(SeatAnswer { report, reading, context: Some(Box::new(context)), ..SeatAnswer::troubled(trouble, spend) })
    }

    /// One part of the change: asked, and asked once more with the validator's words if the answer does not fit.
    async fn ask_for_report(
        &self,
        seat: &Seat,
        state: &State,
        case_id: &str,
        part: usize,
        question: Question,
    ) -> Result<(Result<Report, SeatState>, Spend), EngineError> {
        let tree = match self.tree_for(&seat.agent, state).await? {
            Ok(tree) => tree,
            Err(reason) => return Ok((Err(SeatState::Failed { reason: reason.into() }), Spend::default())),
        };
        let canary = RunWords::new(&state.request.nonce).canary;
        let slot = Slot { run: &state.request.run, case_id, agent: &seat.agent, name: format!("{seat}/{part}"), tree };
        let turn = self.warm.take(&seat.agent, part, &question.shared).await;
        Ok(self.agents.ask_for(&state.request.policy, &slot, &canary, question, &|| turn.warm()).await?)
    }

    /// A CLI reads more than the change; it is given a copy of the head, made once for all of a run's seats.
    pub(super) async fn tree_for(
        &self,
        agent: &AgentName,
        state: &State,
    ) -> Result<Result<Option<Arc<Tree>>, String>, EngineError> {
        let is_cli = matches!(state.request.policy.agents.get(agent).map(AgentConfig::means), Some(Means::Cli(..)));
        let (Target::Trees { head, .. }, Some(repository), true) = (&state.request.target, &self.repository, is_cli) else {
            return Ok(Ok(None));
        };
        let mut tree = self.tree.lock().await;
        if let Some(made) = &*tree {
            return Ok(Ok(Some(Arc::clone(made))));
        }
        let (repository, head, root) = (Arc::clone(repository), head.clone(), self.agents.scratch.clone());
        Ok(blocking(move || Tree::of(&repository, &head, &root)).await?.map(|made| {
            let made = Arc::new(made);
            *tree = Some(Arc::clone(&made));
            Some(made)
        }))
    }

    async fn admit_prose(
        &self,
        seat: &Seat,
        state: &Arc<State>,
        given: Given,
        report: Report,
    ) -> Result<AdmittedReport, EngineError> {
        let watch = self.agents.watch(&RunWords::new(&state.request.nonce).canary).await;
        let (seat, state) = (seat.clone(), Arc::clone(state));
        blocking(move || {
            let (Ok(role), Ok(plan)) = (role(&seat, &state), plan(&state)) else { return AdmittedReport::default() };
            let outlines = super::seat::outlines(&report, given.change());
            let gate = Gate {
                role,
                agent: &seat.agent,
                change: given.change(),
                outlines: &outlines,
                window: given.window.as_deref(),
                has_repo: plan.flags.has_repo,
                spec: state.request.spec.as_deref(),
                directives: &state.request.directives(),
                author: Author::Agent(&watch),
            };
            admit(report, &gate)
        })
        .await
    }
}

pub(super) fn role<'a>(seat: &Seat, state: &'a State) -> Result<&'a Role, String> {
    state.request.roles.iter().find(|role| role.name == seat.role).ok_or_else(|| "the role is unknown".to_owned())
}
