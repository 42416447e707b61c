//! The right to change anything. A dry run has none, and no [`super::Act`] is sent without one (SL-9, SL-173).

use super::Request;

#[derive(Debug, Clone, Copy)]
pub struct Permit(());

impl Permit {
    pub fn of(request: &Request) -> Option<Permit> {
        (!request.terms.dry_run).then_some(Permit(()))
    }
}
