//! The port through which procedures over many pull requests have one of them reviewed or remedied. How a review is put together
//! from configuration, roles and rules is the program's affair; it implements this.

use async_trait::async_trait;
use tribunal_core::procedure::order::{Hindrance, RemedyOrder, ReviewOrder};
use tribunal_core::remedy::report::Report;
use tribunal_core::report::document::Document;

#[async_trait]
pub trait OnePull: Send + Sync {
    /// As `tribunal review PR` does, with everything that it posts. The document of a head that was reviewed before stands.
    async fn review(&self, order: &ReviewOrder) -> Result<Document, Hindrance>;
    /// As `tribunal watch PR --once` does.
    async fn remedy(&self, order: &RemedyOrder) -> Result<Remedied, Hindrance>;
}

/// What a pass came to.
#[derive(Debug, Clone)]
pub struct Remedied {
    pub report: Report,
    /// What was pushed, oldest first.
    pub commits: Vec<(tribunal_core::ids::Sha, String)>,
    /// Who fixes.
    pub fixer: tribunal_core::ids::AgentName,
    pub spend: tribunal_core::procedure::review::Spend,
}
