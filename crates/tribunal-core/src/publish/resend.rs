//! Something that is said once, and is not seen: when is it sent? A list may be hollow or old, and an answer may be lost; a second copy
//! cannot always be taken back.

use crate::procedure::Millis;

/// Looks that must agree where there is reason to doubt one.
const DOUBT_LOOKS: u32 = 2;
const MAX_SENDS: u32 = 3;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resend {
    looks: u32,
    in_doubt: bool,
    sent: u32,
}

/// What to do about something that a look does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unseen {
    Send,
    /// Look again after so long.
    Pause(Millis),
    /// It was sent often enough.
    GiveUp,
}

impl Resend {
    /// `contradicts`: the look lacks something else that is known to be there.
    pub fn unseen(&mut self, contradicts: bool) -> Unseen {
        if (self.in_doubt || contradicts) && self.looks < DOUBT_LOOKS {
            self.looks += 1;
            return Unseen::Pause(250 << self.looks);
        }
        if self.sent == MAX_SENDS {
            return Unseen::GiveUp;
        }
        self.sent += 1;
        Unseen::Send
    }

    /// It was sent and certainly not done.
    pub fn was_refused(&mut self) {
        self.sent = self.sent.saturating_sub(1);
    }

    /// It was sent, and it is not known what became of it.
    pub fn is_unsure(&mut self) {
        (self.in_doubt, self.looks) = (true, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 16, 17: after a doubt two more looks with a pause, and after three tries an end.
    #[test]
    fn nothing_is_sent_again_at_once() {
        let mut plain = Resend::default();
        assert_eq!(plain.unseen(false), Unseen::Send);
        plain.is_unsure();
        let next: Vec<Unseen> = (0..3).map(|_| plain.unseen(false)).collect();
        assert_eq!(next, [Unseen::Pause(500), Unseen::Pause(1_000), Unseen::Send]);
        plain.is_unsure();
        let rest: Vec<Unseen> = (0..4).map(|_| plain.unseen(false)).collect();
        assert_eq!(rest[2..], [Unseen::Send, Unseen::GiveUp]);
        assert!(matches!(Resend::default().unseen(true), Unseen::Pause(_)), "a list that contradicts itself is read again");
    }
}
