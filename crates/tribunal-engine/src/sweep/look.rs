//! One pull request as it is now. Nothing is taken from a cache: what a merge rests on is read again right before it.

use super::Sweeps;
use crate::{EngineError, now};
use tribunal_core::procedure::Millis;
use tribunal_core::procedure::sweep::effect::Seen;
use tribunal_core::procedure::sweep::screen::{Screen, screen};
use tribunal_core::procedure::sweep::{Request, Trouble};

impl Sweeps {
    /// While checks are running they are waited for, no longer than until then.
    pub(super) async fn look(
        &self,
        request: &Request,
        number: u64,
        until: Option<Millis>,
    ) -> Result<Result<Box<Seen>, Trouble>, EngineError> {
        loop {
            let seen = match self.see(request, number).await? {
                Ok(seen) => seen,
                Err(trouble) => return Ok(Err(trouble)),
            };
            let runs = matches!(screen(&seen), Screen::Pending(_));
            match until.filter(|until| runs && now() < *until && !self.is_interrupted()) {
                None => return Ok(Ok(Box::new(seen))),
                Some(until) => {
                    let next = now().saturating_add(u64::try_from(Self::poll(request).as_millis()).unwrap_or(u64::MAX));
                    self.rest(next.min(until)).await;
                }
            }
        }
    }
}
