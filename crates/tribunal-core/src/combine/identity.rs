//! Keys and names. The key says that two findings are the same one; the name `F<n>` is how people speak of it, for the life of
//! the case.

use super::finding::{Draft, Finding, SpecGap};
use crate::findings::admit::Admitted;
use crate::findings::key::{finding_key, normalise_code};
use crate::findings::role::Role;
use crate::ids::{FindingId, FindingKey};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which key has which name in a case. Names are never given twice, also not after a finding is gone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdBook {
    names: BTreeMap<FindingKey, FindingId>,
    /// The highest name that a dismissal on the pull request speaks of. Where our names were lost, counting from one again would put
    /// another finding under an old word.
    #[serde(default, skip_serializing_if = "is_zero")]
    spoken_of: u32,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl IdBook {
    pub fn from_names(names: BTreeMap<FindingKey, FindingId>) -> Self {
        Self { names, spoken_of: 0 }
    }

    /// New names come after this one as well.
    #[must_use]
    pub fn after(self, spoken_of: u32) -> Self {
        Self { spoken_of, ..self }
    }

    pub fn names(&self) -> &BTreeMap<FindingKey, FindingId> {
        &self.names
    }

    /// Gives a finding's new key the name that it had.
    pub fn rename(&mut self, key: FindingKey, id: FindingId) {
        self.names.insert(key, id);
    }

    /// Gives a key a name that no other key ever had.
    pub fn rename_anew(&mut self, key: FindingKey) -> FindingId {
        let id = self.next();
        self.names.insert(key, id);
        id
    }

    fn next(&self) -> FindingId {
        FindingId(self.names.values().map(|id| id.0).max().unwrap_or(0).max(self.spoken_of).saturating_add(1))
    }

    fn name(&mut self, key: &FindingKey) -> FindingId {
        let next = self.next();
        *self.names.entry(key.clone()).or_insert(next)
    }
}

/// Equal code in one symbol is told apart by its order from the top.
pub fn with_keys(mut drafts: Vec<Draft>) -> Vec<Draft> {
    drafts.sort_by(|a, b| {
        (&a.lead.path, a.lead.anchor.line_start, &a.lead.category, &a.slug).cmp(&(
            &b.lead.path,
            b.lead.anchor.line_start,
            &b.lead.category,
            &b.slug,
        ))
    });
    let mut seen: BTreeMap<(String, String, String, String), u32> = BTreeMap::new();
    for draft in &mut drafts {
        let lead = &draft.lead;
        let code = normalise_code(&lead.anchor.quote);
        let identity = (lead.path.0.clone(), lead.symbol.clone(), code, lead.category.0.clone());
        let occurrence = seen.entry(identity).or_insert(0);
        draft.key = finding_key(&lead.path, &lead.symbol, &lead.anchor.quote, &lead.category, *occurrence);
        *occurrence += 1;
    }
    drafts
}

/// Names findings in the order people read them, so that a first review counts F1, F2, F3 down the page. What a receipt brought along
/// comes last: it changes nobody's name.
pub fn name(findings: &mut [Finding], ids: &mut IdBook) {
    let mut by_reading: Vec<&mut Finding> = findings.iter_mut().collect();
    by_reading.sort_by(|a, b| a.key.is_brought().cmp(&b.key.is_brought()).then_with(|| super::finding::order(a, b)));
    for finding in by_reading {
        finding.id = ids.name(&finding.key);
    }
}

pub fn name_gaps(mut gaps: Vec<Admitted>, roles: &[Role], ids: &mut IdBook) -> Vec<SpecGap> {
    gaps.sort_by(|a, b| {
        (&a.path, a.anchor.line_start, &a.category, &a.questions).cmp(&(&b.path, b.anchor.line_start, &b.category, &b.questions))
    });
    gaps.dedup_by(|a, b| {
        (&a.path, a.anchor.line_start, &a.category, &a.questions) == (&b.path, b.anchor.line_start, &b.category, &b.questions)
    });
    gaps.into_iter()
        .map(|gap| {
            let questions = gap.questions.join("\n");
            let key = finding_key(&gap.path, &gap.symbol, &format!("{}\n{questions}", gap.anchor.quote), &gap.category, 0);
            SpecGap {
                id: ids.name(&key),
                key,
                section: roles
                    .iter()
                    .find_map(|role| role.category(&gap.category))
                    .map_or_else(|| gap.category.0.clone(), |category| category.name.clone()),
                title: gap.failure_mode.trim_start_matches("Spec gap:").trim().to_owned(),
                spec_quote: gap.spec_quote.unwrap_or_default(),
                code_quote: gap.anchor.quote,
                questions: gap.questions,
                file: gap.path,
                line: gap.anchor.line_start,
                blast: gap.blast,
            }
        })
        .collect()
}

/// Findings of other categories that overlap are both kept and point at each other (PR-74).
pub fn relate(findings: &mut [Finding]) {
    let places: Vec<_> = findings.iter().map(|f| (f.id, f.file.clone(), f.side, f.line_start, f.line_end)).collect();
    for finding in findings {
        finding.related = places
            .iter()
            .filter(|(id, file, side, start, end)| {
                *id != finding.id
                    && *file == finding.file
                    && *side == finding.side
                    && *start <= finding.line_end
                    && *end >= finding.line_start
            })
            .map(|(id, ..)| *id)
            .collect();
        finding.related.sort();
    }
}
