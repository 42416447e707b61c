//! Waiting for a reviewer, without doing anything about what it says (RL section 4).

use crate::effects::on_forge::OnForge;
use crate::remediate::look::{Heard, hear};
use crate::{EngineError, Listener, Progress, now};
use std::collections::BTreeMap;
use std::time::Duration;
use tribunal_core::calendar::millis_of;
use tribunal_core::feedback::gather::{Notice, gather};
use tribunal_core::feedback::item::{Item, Surface};
use tribunal_core::feedback::reviewer::{Filter, voice};
use tribunal_core::feedback::right::Right;
use tribunal_core::feedback::settle::{Look, Tick, Waiting};
use tribunal_core::ids::Sha;
use tribunal_core::policy::identity::Bots;
use tribunal_core::policy::loops::WaitPolicy;
use tribunal_core::procedure::Millis;
use tribunal_core::pull::place::Place;
use tribunal_core::pull::talk::{Review, ReviewState};
use tribunal_core::remedy::awaited::{Activity, AwaitStatus};

pub struct Await {
    pub on: OnForge,
    pub place: Place,
    pub filter: Filter,
    pub wait: WaitPolicy,
    pub bots: Bots,
    /// Comments and reviews before this do not count.
    pub after: Option<Millis>,
}

/// Failed looks in a row that end the wait.
const MAX_FAILURES: u32 = 5;
/// Every so many looks everything is read.
const SWEEP: u32 = 10;

/// Everything in scope that the last look saw.
struct Scene {
    updated_at: String,
    head: Sha,
    items: Vec<Item>,
    reviews: Vec<Review>,
    running: bool,
    quota: bool,
}

pub async fn until_settled(asked: &Await, listener: &Listener) -> Result<Activity, EngineError> {
    let started = now();
    let timeout = asked.wait.total.as_millis();
    // What was there before the first look counts when it is an open thread; the rest must be new.
    let first = look(asked).await?;
    listener(Progress::Watching { until: started.saturating_add(timeout) });
    let known: Vec<Item> = match &asked.after {
        Some(_) => Vec::new(),
        None => first.items.iter().filter(|item| !matches!(item.surface, Surface::Thread { .. })).cloned().collect(),
    };
    let known_reviews: Vec<String> = match &asked.after {
        Some(_) => Vec::new(),
        None => first.reviews.iter().map(|review| review.id.clone()).collect(),
    };
    let mut waiting = Waiting::new(started, &known, asked.wait.settle.as_millis(), timeout);
    let (mut last, mut failures, mut looks) = (first, 0, 0);
    let (mut fresh, mut whole) = (true, true);
    loop {
        let new_reviews: Vec<Review> =
            last.reviews.iter().filter(|review| !known_reviews.contains(&review.id)).cloned().collect();
        let look_now = match fresh {
            true => Look::Saw { items: &last.items, running: last.running, also: !new_reviews.is_empty(), whole },
            false => Look::Failed,
        };
        let everything = match waiting.tick(now(), look_now) {
            Tick::Sleep => {
                let nap = asked.wait.poll.as_millis().min(timeout.saturating_sub(now().saturating_sub(started))).max(1);
                tokio::time::sleep(Duration::from_millis(nap)).await;
                looks += 1;
                looks % SWEEP == 0
            }
            Tick::ReadAll => true,
            Tick::Settled => return Ok(activity(AwaitStatus::ActivityDetected, started, &waiting, &last, &new_reviews)),
            Tick::TimedOut => return Ok(activity(AwaitStatus::Timeout, started, &waiting, &last, &new_reviews)),
        };
        match next(asked, &last, everything).await {
            Ok(seen) => {
                (failures, fresh, whole) = (0, true, seen.is_some());
                last = seen.unwrap_or(last);
            }
            Err(error) => {
                (failures, fresh) = (failures + 1, false);
                if failures >= MAX_FAILURES {
                    return Err(error);
                }
            }
        }
    }
}

fn activity(status: AwaitStatus, started: Millis, waiting: &Waiting, last: &Scene, new_reviews: &[Review]) -> Activity {
    let mut activity = Activity::new(status, now().saturating_sub(started), &waiting.collected(), new_reviews);
    activity.running = last.running;
    activity.out_of_quota = last.quota;
    activity
}

/// One cheap request; the rest only when that shows a change, and now and then because it may not (edits, resolutions).
async fn next(asked: &Await, last: &Scene, everything: bool) -> Result<Option<Scene>, EngineError> {
    if !everything {
        let pull = asked.on.forge.pull(asked.place.number).await?;
        if (&pull.updated_at, &pull.head.sha) == (&last.updated_at, &last.head) {
            return Ok(None);
        }
    }
    look(asked).await.map(Some)
}

async fn look(asked: &Await) -> Result<Scene, EngineError> {
    let mut heard: Heard = hear(&asked.on, &asked.place).await?;
    heard.look_up(&asked.on, &asked.bots).await?;
    let said = heard.said(&asked.on.key, &asked.bots);
    let gathered = gather(&said);
    // `trusted` is who has the right; under any other word, what is read is printed, and nothing is done about it.
    let is_trusted = |right: &Right| asked.filter != Filter::Trusted || right.is_granted();
    let covers = |item: &Item| asked.filter.covers(&item.voice, &item.author) && is_trusted(&gathered.right(&item.id));
    // A time that cannot be read hides nothing.
    let is_new = |time: &str| asked.after.is_none_or(|after| millis_of(time).is_none_or(|time| time > after));
    let times: BTreeMap<String, &str> = heard
        .comments
        .iter()
        .map(|comment| (comment.id.clone(), comment.created_at.as_str()))
        .chain(heard.reviews.iter().map(|review| (review.id.clone(), review.submitted_at.as_str())))
        .collect();
    let counts = |item: &&Item| match &item.surface {
        Surface::Thread { .. } => !item.resolved,
        Surface::Comment { id } | Surface::Review { id } => times.get(id).is_none_or(|time| is_new(time)),
        Surface::Check { .. } => false,
    };
    let items = gathered.items.iter().filter(|item| covers(item)).filter(counts).cloned().collect();
    let in_scope = |review: &&Review| {
        review.state != ReviewState::Pending
            && !review.author.is(&heard.me)
            && asked.filter.covers(&voice(&review.author, &heard.me, &asked.bots), &review.author)
            && is_trusted(&said.right(&review.author))
            && is_new(&review.submitted_at)
    };
    // Somebody else's work is not waited for.
    let in_scope_notice = |notice: &Notice| asked.filter.covers(&notice.voice, &notice.by) && is_trusted(&notice.right);
    Ok(Scene {
        updated_at: heard.pull.updated_at.clone(),
        head: heard.pull.head.sha.clone(),
        items,
        reviews: heard.reviews.iter().filter(in_scope).cloned().collect(),
        running: heard.is_running(&gathered, &asked.bots, &asked.filter),
        quota: gathered.left.quota.iter().any(in_scope_notice),
    })
}
