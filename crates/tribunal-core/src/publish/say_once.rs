//! When something that is to be said once is sent. An answer can be lost after the forge has stored what was sent, a list can lag behind
//! what was accepted, and an effect that failed half-way is run again: none of these may say anything twice.

use super::resend::{Resend, Unseen};
use crate::procedure::Millis;

/// What one process knows of one post, from its first look to its last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SayOnce {
    resend: Resend,
    /// The forge accepted it, and gave it this address.
    accepted: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SayStep {
    /// It stands there, at this address.
    Said(String),
    Send,
    /// Look again after so long.
    Look(Millis),
    /// It was sent often enough; what became of it is not known.
    GiveUp,
}

impl SayOnce {
    /// After a look. `shown` is the address of what it shows.
    pub fn next(&mut self, shown: Option<String>) -> SayStep {
        match shown.or_else(|| self.accepted.clone()) {
            Some(url) => SayStep::Said(url),
            None => match self.resend.unseen(false) {
                Unseen::Send => SayStep::Send,
                Unseen::Pause(millis) => SayStep::Look(millis),
                Unseen::GiveUp => SayStep::GiveUp,
            },
        }
    }

    /// Sent and accepted: whatever a later look shows, it is not sent again.
    pub fn was_accepted(&mut self, url: String) {
        self.accepted = Some(url);
    }

    /// Sent, and it is not known what became of it.
    pub fn is_unsure(&mut self) {
        self.resend.is_unsure();
    }

    /// Sent, and certainly not done: the same as not sent.
    pub fn was_refused(&mut self) {
        self.resend.was_refused();
    }
}

/// What a post is known by, also after somebody changed its words: the sealed line at its end. Without one, its words.
pub fn identity(body: &str) -> String {
    let last_line = body.trim_end().rsplit('\n').next().unwrap_or_default().trim();
    match last_line.starts_with(super::marker::OPENING) {
        true => last_line.to_owned(),
        false => body.trim_end().lines().map(str::trim_end).collect::<Vec<_>>().join("\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What the forge does with a post, and how many looks pass before it shows what it stored.
    #[derive(Debug, Clone, Copy)]
    enum Fate {
        Accepted,
        StoredAndLost,
        Lost,
        Refused,
    }

    fn fate() -> impl Strategy<Value = Fate> {
        prop::sample::select(vec![Fate::Accepted, Fate::StoredAndLost, Fate::Lost, Fate::Refused])
    }

    proptest! {
        /// Whatever happens to each post, and however often the effect is run again: as long as a look or the two after it show what was
        /// stored, one copy stands there at most. What was accepted is never sent again, even if no look ever shows it.
        #[test]
        fn one_copy_at_most(fates in prop::collection::vec(fate(), 1..8), lag in 0..3_u32, hides in any::<bool>()) {
            let mut say = SayOnce::default();
            let (mut stored, mut looks_since, mut accepted) = (0_u32, 0_u32, false);
            let mut fates = fates.into_iter();
            for _ in 0..60 {
                let is_shown = stored > 0 && looks_since >= lag && !(hides && accepted);
                looks_since += 1;
                match say.next(is_shown.then(|| "url".to_owned())) {
                    SayStep::Said(_) => break,
                    SayStep::GiveUp => break,
                    SayStep::Look(_) => {}
                    SayStep::Send => {
                        prop_assert!(!accepted, "it was accepted and is sent again");
                        let Some(fate) = fates.next() else { break };
                        match fate {
                            Fate::Accepted => { (stored, looks_since, accepted) = (stored + 1, 0, true); say.was_accepted("url".to_owned()); }
                            Fate::StoredAndLost => { (stored, looks_since) = (stored + 1, 0); say.is_unsure(); }
                            Fate::Lost => { looks_since = 0; say.is_unsure(); }
                            Fate::Refused => say.was_refused(),
                        }
                    }
                }
            }
            prop_assert!(stored <= 1, "{stored} copies");
        }
    }

    #[test]
    fn a_post_is_known_by_its_sealed_line() {
        use crate::publish::marker::{Mark, MarkerKey, seal};
        use crate::publish::outgoing::Outgoing;
        let key = MarkerKey::from_secret("a token");
        let sealed = |words: &str, story: u64| {
            let mark = Mark::Epic { stories: vec![story] };
            identity(Outgoing::sealed(words, seal(&mark, "pull:h/a/b#7", &key)).as_str())
        };
        assert_eq!(sealed("Done.", 1), sealed("Edited since.", 1));
        assert_ne!(sealed("Done.", 1), sealed("Done.", 2));
        assert_eq!((identity("a\r\nb\n"), identity("a")), ("a\nb".to_owned(), "a".to_owned()));
    }
}
