//! What deserves no comment of its own is gathered: one question per file, so that it is said once and weighs nothing (PR-65).

use super::dedup;
use super::finding::Draft;
use crate::findings::admit::Admitted;
use crate::findings::category::slugify;
use crate::findings::scale::{Justification, Severity};
use std::collections::BTreeMap;

pub fn batch(findings: Vec<Admitted>) -> Vec<Draft> {
    let mut files: BTreeMap<(String, bool), Vec<Draft>> = BTreeMap::new();
    for draft in dedup::merge(findings) {
        let is_test_role = draft.lead.category.as_str().starts_with('T');
        files.entry((draft.lead.path.0.clone(), is_test_role)).or_default().push(draft);
    }
    files.into_iter().map(|((path, is_test_role), drafts)| followup(&path, is_test_role, drafts)).collect()
}

fn followup(path: &str, is_test_role: bool, mut drafts: Vec<Draft>) -> Draft {
    let count = drafts.len();
    let name = slugify(path.rsplit('/').next().unwrap_or(path));
    let mut lead = drafts.remove(0);
    lead.slug = match (count, is_test_role) {
        (1, _) => format!("{}-hygiene-followup", lead.slug),
        (_, false) => format!("{name}-hygiene-followups"),
        (_, true) => format!("{name}-test-hygiene-followups"),
    };
    for draft in drafts {
        let line = draft.lead.anchor.line_start;
        lead.also.push(format!("line {line}: {}", draft.lead.failure_mode));
        lead.also.extend(draft.also.iter().map(|also| format!("line {line}: {also}")));
        lead.agreement.extend(draft.agreement);
    }
    lead.agreement.sort();
    lead.agreement.dedup();
    lead.lead.justification = Justification::Hygiene;
    lead.forced = Some(Severity::Question);
    lead
}
