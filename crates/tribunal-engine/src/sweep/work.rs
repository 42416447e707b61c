//! The sweep as work of a host.

use super::one::Ordered;
use super::{Sweeps, files, lock, trouble};
use crate::effects::blocking;
use crate::host::{Excludes, Leaves, Work, patiently};
use crate::{EngineError, Listener, now};
use std::path::Path;
use std::sync::Arc;
use tribunal_core::calendar::rfc3339;
use tribunal_core::ids::{EffectKey, RunId};
use tribunal_core::procedure::sweep::effect::{Acquired, Effort, How};
use tribunal_core::procedure::sweep::history::{BudgetFile, HistoryLine};
use tribunal_core::procedure::sweep::lock::{Decision, POLL};
use tribunal_core::procedure::sweep::{Act, Effect, Input, Order, Outcome, Read, Request, State, Ticket, Trouble, step};
use tribunal_core::procedure::{Millis, Step};

impl Work for Sweeps {
    type State = State;
    type Input = Input;
    type Effect = Effect;

    const PROCEDURE: &'static str = "sweep";
    const WAITS_ON: &'static str = "another sweep";
    const EXCLUDES: Excludes = Excludes::OthersOfTheRun;

    fn step(state: Option<State>, input: Input, now: Millis) -> Result<Step<State, Effect>, EngineError> {
        Ok(step(state, input, now)?)
    }

    fn is_settled(state: &State) -> bool {
        state.is_settled()
    }

    fn interrupted() -> Option<Input> {
        Some(Input::Interrupted)
    }

    fn key(effect: &Effect, run: &RunId) -> EffectKey {
        effect.key(run)
    }

    fn upgrade(state: State) -> Result<State, EngineError> {
        Ok(state.upgrade()?)
    }

    fn leaves(_: &State, _: &str) -> Leaves {
        Leaves::default()
    }

    async fn run(self: Arc<Self>, effect: Effect, state: Arc<State>, case_id: Arc<str>) -> Result<Input, EngineError> {
        if let Some(line) = effect.line() {
            self.tell(line);
        }
        let outcome = self.tried(&effect, &state.request, &case_id).await?;
        if let Some(line) = outcome.line(&effect) {
            self.tell(line);
        }
        Ok(Input::Done { ticket: effect.ticket, outcome: Box::new(outcome) })
    }

    fn listener(&self) -> &Listener {
        &self.listener
    }
}

impl Sweeps {
    async fn tried(&self, effect: &Effect, request: &Request, case_id: &str) -> Result<Outcome, EngineError> {
        let done = patiently(|| !self.is_interrupted(), || self.perform(effect, request, case_id)).await;
        self.or_trouble(done, &effect.order)
    }

    /// What failed in spite of all is told.
    fn or_trouble(&self, done: Result<Outcome, EngineError>, order: &Order) -> Result<Outcome, EngineError> {
        match done {
            Ok(outcome) => Ok(outcome),
            Err(error) => {
                let trouble = trouble(error)?;
                failed(order, trouble.clone()).ok_or_else(|| EngineError::Worker(trouble.words().to_owned()))
            }
        }
    }

    async fn perform(&self, effect: &Effect, request: &Request, case_id: &str) -> Result<Outcome, EngineError> {
        match &effect.order {
            Order::Read(Read::Discover { .. }) => Ok(Outcome::Discovered(self.discover(request).await?)),
            Order::Read(Read::Look { number, until }) => Ok(Outcome::Looked(self.look(request, *number, *until).await?)),
            Order::Read(Read::Rest { until }) => {
                self.rest(*until).await;
                Ok(Outcome::Rested)
            }
            Order::Act(act) => self.act(effect.ticket, act, request, case_id).await,
        }
    }

    async fn act(&self, ticket: Ticket, act: &Act, request: &Request, case_id: &str) -> Result<Outcome, EngineError> {
        if is_guarded(act)
            && let Err(displaced) = self.still_ours(request).await
        {
            return failed(&Order::Act(act.clone()), displaced).ok_or_else(|| EngineError::Worker("the lock is gone".into()));
        }
        Ok(match act {
            Act::Acquire { tick, how } => Outcome::Acquired(self.acquire(request, *tick, how).await),
            Act::Ask { gate } => Outcome::Answered(self.ask(request, case_id, ticket, gate).await?),
            Act::Reject { number, head, markers } => Outcome::Rejected(self.reject(request, *number, head, markers).await?),
            Act::Review { number, head, without, allowance, .. } => {
                self.review(request, &Ordered { ticket, number: *number, head, without, allowance: *allowance }).await?
            }
            Act::Conclude { number, review, verdict, .. } => {
                Outcome::Concluded(self.conclude(request, ticket, *number, review, *verdict).await?)
            }
            Act::Respond { number, head, without, allowance, .. } => {
                self.respond(request, &Ordered { ticket, number: *number, head, without, allowance: *allowance }).await?
            }
            Act::Remains { number, head, items } => Outcome::Remained(self.remains(request, *number, head, items).await?),
            Act::Update { number, head } => Outcome::Updated(self.update(request, *number, head).await?),
            Act::Merge { warrant } => Outcome::Merged(self.merge(request, warrant).await?),
            Act::Hold { number, head, holds } => Outcome::Held(self.hold(request, *number, head, holds).await?),
            Act::Epics { number } => Outcome::Epics(self.epics(request, *number).await?),
            Act::Sync { number } => Outcome::Synced(self.tell_index(*number).await?),
            Act::Export { line, budget, status } => Outcome::Exported(self.export(request, line, budget.as_deref(), status)),
            Act::Report { report } => {
                (self.hand_over)(report);
                Outcome::Reported
            }
            Act::Release { .. } => {
                let (lock, run) = (self.lock.clone(), request.run.clone());
                if let Err(why) = blocking(move || lock.release(&run)).await? {
                    self.tell(why);
                }
                Outcome::Released
            }
        })
    }

    async fn acquire(&self, request: &Request, tick: u32, how: &How) -> Acquired {
        let seize = match how {
            How::Seize { holder } => Some((**holder).clone()),
            How::Once | How::Wait { .. } => None,
        };
        loop {
            let (lock, run, seize) = (self.lock.clone(), request.run.clone(), seize.clone());
            let mine = lock::mine(&run, tick, rfc3339(now()));
            let decision = blocking(move || lock.take(&mine, &run, seize.as_ref())).await;
            let (holder, note) = match decision.unwrap_or_else(|error| Decision::Fail(error.to_string())) {
                Decision::Take { reaped } => return Acquired::Got { reaped, note: None },
                Decision::Keep => return Acquired::Got { reaped: None, note: None },
                Decision::Fail(why) => return Acquired::Failed(why),
                Decision::Busy { holder, note } => (holder, note),
            };
            match how {
                How::Once | How::Seize { .. } => return Acquired::Busy { holder, note },
                How::Wait { .. } if self.is_interrupted() => return Acquired::Busy { holder, note },
                How::Wait { until } if now() >= *until => return Acquired::TimedOut { holder },
                How::Wait { until } => self.rest(now().saturating_add(POLL).min(*until)).await,
            };
        }
    }

    fn export(&self, request: &Request, line: &HistoryLine, budget: Option<&BudgetFile>, status: &str) -> Result<(), String> {
        let Some(looping) = request.looping() else { return Ok(()) };
        if let Some(budget) = budget {
            files::put_budget(Path::new(&looping.budget_file), budget)?;
        }
        if files::put_line(Path::new(&looping.history_file), line)? {
            self.tell(tribunal_core::procedure::sweep::export::secret(&looping.history_file));
        }
        status.lines().for_each(|line| self.tell(line.to_owned()));
        Ok(())
    }
}

/// What changes something on a forge, or costs something, is done only by whoever holds the lock.
fn is_guarded(act: &Act) -> bool {
    match act {
        Act::Acquire { .. } | Act::Ask { .. } | Act::Export { .. } | Act::Report { .. } | Act::Release { .. } => false,
        Act::Reject { .. }
        | Act::Review { .. }
        | Act::Conclude { .. }
        | Act::Respond { .. }
        | Act::Remains { .. }
        | Act::Update { .. }
        | Act::Merge { .. }
        | Act::Hold { .. }
        | Act::Epics { .. }
        | Act::Sync { .. } => true,
    }
}

/// What a procedure is told when something did not come about. Nothing is guessed (CF-9).
fn failed(order: &Order, trouble: Trouble) -> Option<Outcome> {
    Some(match order {
        Order::Read(Read::Discover { .. }) => Outcome::Discovered(Err(trouble)),
        Order::Read(Read::Look { .. }) => Outcome::Looked(Err(trouble)),
        Order::Act(act) => match act {
            Act::Reject { .. } => Outcome::Rejected(Err(trouble)),
            Act::Review { .. } => Outcome::Reviewed { said: Err(trouble), effort: Effort::default() },
            Act::Conclude { .. } => Outcome::Concluded(Err(trouble)),
            Act::Respond { .. } => Outcome::Responded { said: Err(trouble), effort: Effort::default() },
            Act::Remains { .. } => Outcome::Remained(Err(trouble)),
            Act::Update { .. } => Outcome::Updated(Err(trouble)),
            Act::Merge { .. } => Outcome::Merged(Err(trouble)),
            Act::Hold { .. } => Outcome::Held(Err(trouble)),
            Act::Sync { .. } => Outcome::Synced(Err(trouble.words().to_owned())),
            Act::Epics { .. } => Outcome::Epics(Vec::new()),
            Act::Acquire { .. } | Act::Ask { .. } | Act::Export { .. } | Act::Report { .. } | Act::Release { .. } => return None,
        },
        Order::Read(Read::Rest { .. }) => return None,
    })
}
