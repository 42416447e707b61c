//! Many voices, one finding (PR-74): when reports of several reviewers are one defect.
//!
//! One defect is one statement about one place. Two reports are one if they point at the same line in the same category, or if they
//! point at most [`NEAR_LINES`] lines apart in categories of one family, in like words. Where a report points is not how much it quotes:
//! a quote of a whole function points at the line of it that the claim speaks of, so it is no agreement with what stands elsewhere inside.
//!
//! Two rules that one agent sees at one place are two defects by its own word, and so are two claims of one reviewer that do not
//! overlap. Groups are made by [average linkage](super::linkage), in an order that the reports decide and their arrival does not.

use super::finding::{Draft, FindingPlace, Voice};
use super::linkage::{Link, Threshold, groups};
use super::similarity::Similarity;
use super::terms::Terms;
use crate::findings::admit::Admitted;
use crate::findings::anchor::{Anchor, Side};
use crate::findings::race::RaceTag;
use crate::ids::FindingKey;
use std::cmp::{Ordering, Reverse};

/// Reviewers that mean one defect cite lines at most this far from each other.
pub const NEAR_LINES: u32 = 3;
/// How alike two reports of near places are. Words alone need more: see `cargo xtask bench voices`.
pub const ALIKE: Threshold = Threshold { pair: 0.14, less_per_doubling: 0.02 };
/// A mitigation and a slug are worded more freely than a defect.
const MITIGATION: f64 = 0.5;
/// Near places share their code, whatever is said of it: it only says what a claim means by `this line`.
const CODE: f64 = 0.25;

pub fn merge(mut findings: Vec<Admitted>) -> Vec<Draft> {
    findings.sort_by(in_order);
    let reports: Vec<Report<'_>> = findings.iter().map(Report::of).collect();
    let grouped = groups(reports.len(), &links(&reports), ALIKE);
    let mut findings: Vec<Option<Admitted>> = findings.into_iter().map(Some).collect();
    let take = |members: Vec<usize>| members.into_iter().filter_map(|member| findings[member].take()).collect::<Vec<_>>();
    grouped.into_iter().map(take).filter_map(one).collect()
}

/// A finding with the lines that it points at, and their code.
struct Report<'a> {
    finding: &'a Admitted,
    point: (u32, u32),
    code: &'a str,
}

impl<'a> Report<'a> {
    fn of(finding: &'a Admitted) -> Self {
        let anchor = &finding.anchor;
        if anchor.is_narrow() {
            return Report { finding, point: (anchor.line_start, anchor.line_end), code: &anchor.quote };
        }
        let (line, code) = cited_line(anchor, &prose(finding));
        Report { finding, point: (line, line), code }
    }

    /// What can only be one defect with another report that has the same.
    fn room(&self) -> (&str, Side, &str) {
        (self.finding.path.as_str(), self.finding.anchor.side, self.finding.category.family())
    }

    /// Whether both point at one place. Both are in one room, and `self` points no later than the other.
    fn is_near(&self, other: &Report<'_>) -> bool {
        let (ours, theirs) = (self.finding, other.finding);
        let two_rules = ours.agent == theirs.agent && ours.rule.is_some() && theirs.rule.is_some() && ours.rule != theirs.rule;
        let one_seat = (&ours.agent, &ours.role, ours.sample) == (&theirs.agent, &theirs.role, theirs.sample);
        let overlap = ours.anchor.line_start <= theirs.anchor.line_end && theirs.anchor.line_start <= ours.anchor.line_end;
        let said_twice = one_seat && !(overlap && ours.category == theirs.category);
        !two_rules && !said_twice && other.point.0 <= self.point.1 + NEAR_LINES
    }

    /// The same line in the same category is one defect in any words.
    fn is_same_line(&self, other: &Report<'_>) -> bool {
        let (ours, theirs) = (self.finding, other.finding);
        let narrow = ours.anchor.is_narrow() && theirs.anchor.is_narrow();
        narrow && ours.category == theirs.category && ours.anchor.line_start == theirs.anchor.line_start
    }
}

/// Which reports may be one, and how alike they are.
fn links(reports: &[Report<'_>]) -> Vec<Link> {
    let mut by_place: Vec<usize> = (0..reports.len()).collect();
    by_place.sort_by_key(|index| (reports[*index].room(), reports[*index].point, *index));
    let mut near: Vec<(usize, Vec<usize>)> = Vec::new();
    for (at, &one) in by_place.iter().enumerate() {
        let reach = reports[one].point.1 + NEAR_LINES;
        let later = by_place[at + 1..].iter().copied();
        let in_reach =
            later.take_while(|other| reports[*other].room() == reports[one].room() && reports[*other].point.0 <= reach);
        let others: Vec<usize> = in_reach.filter(|other| reports[one].is_near(&reports[*other])).collect();
        if !others.is_empty() {
            near.push((one, others));
        }
    }
    let mut spoken: Vec<usize> = near.iter().flat_map(|(one, others)| others.iter().chain([one]).copied()).collect();
    spoken.sort_unstable();
    spoken.dedup();
    let terms: Vec<Terms> = spoken.iter().map(|index| words(&reports[*index])).collect();
    let similarity = Similarity::new(&terms.iter().collect::<Vec<_>>());
    let text_of = |index: usize| spoken.binary_search(&index).unwrap_or_default();
    let mut links = Vec::new();
    for (one, others) in near {
        let texts: Vec<usize> = others.iter().map(|other| text_of(*other)).collect();
        for (other, alike) in others.into_iter().zip(similarity.with_each(text_of(one), &texts)) {
            let same_line = f64::from(u8::from(reports[one].is_same_line(&reports[other])));
            links.push(Link { one, other, similarity: alike + same_line });
        }
    }
    links
}

/// The words by which a report is compared.
fn words(report: &Report<'_>) -> Terms {
    let finding = report.finding;
    terms_of(&finding.failure_mode, &finding.slug, mitigation(finding), report.code)
}

/// The words of a claim about some code.
pub fn terms_of(claim: &str, slug: &str, mitigation: &str, code: &str) -> Terms {
    Terms::of_texts(&[(claim, 1.0), (slug, MITIGATION), (mitigation, MITIGATION)], code, CODE)
}

fn prose(finding: &Admitted) -> Terms {
    Terms::of_texts(&[(&finding.failure_mode, 1.0), (mitigation(finding), MITIGATION)], "", 0.0)
}

fn mitigation(finding: &Admitted) -> &str {
    without_race_tag(&finding.mitigation, finding.race.as_ref())
}

/// A mitigation without its race tag, which is the same for unlike races.
pub fn without_race_tag<'a>(text: &'a str, race: Option<&RaceTag>) -> &'a str {
    race.and_then(|_| text.rfind('[')).map_or(text, |tag| &text[..tag])
}

/// The line of a long quote that a claim speaks of: the one with most of its words, and those that no other line holds count most.
/// The first line if there is none.
fn cited_line<'a>(anchor: &'a Anchor, claim: &Terms) -> (u32, &'a str) {
    let lines: Vec<Terms> = anchor.quote.lines().map(|line| Terms::of_texts(&[], line, 1.0)).collect();
    let first = anchor.quote.lines().next().unwrap_or_default();
    let mut best = (0.0, (anchor.line_start, first));
    for ((line, number), code) in lines.iter().zip(anchor.line_start..=anchor.line_end).zip(anchor.quote.lines()) {
        let cited = line.weights().iter().map(|(term, _)| *term).filter(|term| claim.contains(*term));
        let holders = |term| lines.iter().filter(|line| line.contains(term)).count() as f64;
        let score: f64 = cited.map(|term| 1.0 / holders(term)).sum();
        if score > best.0 {
            best = (score, (number, code));
        }
    }
    best.1
}

/// By place, then by weight; the last resort keeps findings that differ in anything else in one order.
fn in_order(a: &Admitted, b: &Admitted) -> Ordering {
    place(a).cmp(&place(b)).then_with(|| rank(a).cmp(&rank(b))).then_with(|| format!("{a:?}").cmp(&format!("{b:?}")))
}

fn place(finding: &Admitted) -> impl Ord + '_ {
    let anchor = &finding.anchor;
    (finding.path.as_str(), anchor.side, finding.category.as_str(), anchor.line_start, anchor.line_end)
}

/// The strongest statement leads: heaviest, surest, best justified; ties are broken by content, never by arrival.
fn rank(finding: &Admitted) -> impl Ord + '_ {
    (
        Reverse((finding.severity, finding.confidence, finding.justification)),
        finding.role.as_str(),
        finding.agent.as_str(),
        finding.failure_mode.as_str(),
        finding.mitigation.as_str(),
    )
}

fn one(mut group: Vec<Admitted>) -> Option<Draft> {
    group.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| in_order(a, b)));
    let mut agreement: Vec<Voice> = group
        .iter()
        .map(|finding| Voice {
            role: finding.role.clone(),
            agent: finding.agent.clone(),
            rule: finding.rule.clone(),
            sample: finding.sample,
        })
        .collect();
    agreement.sort();
    agreement.dedup();
    let mut group = group.into_iter();
    let mut lead = group.next()?;
    let mut places: Vec<FindingPlace> = Vec::new();
    let mut also: Vec<String> = Vec::new();
    for other in group {
        if lead.trace.is_empty() {
            lead.trace = other.trace.clone();
        }
        if other.failure_mode != lead.failure_mode {
            also.push(match other.anchor.line_start == lead.anchor.line_start {
                true => other.failure_mode.clone(),
                false => format!("line {}: {}", other.anchor.line_start, other.failure_mode),
            });
        }
        let fix = if lead.fix.is_none() {
            lead.fix = other.fix;
            None
        } else {
            other.fix.filter(|fix| lead.fix.as_ref() != Some(fix))
        };
        let is_elsewhere = (&other.anchor, &other.category) != (&lead.anchor, &lead.category);
        if is_elsewhere || fix.is_some() {
            places.push(FindingPlace {
                category_code: other.category,
                line_start: other.anchor.line_start,
                line_end: other.anchor.line_end,
                symbol: other.symbol,
                evidence: other.anchor.quote,
                fix,
            });
        }
    }
    also.sort();
    also.dedup();
    places.sort();
    places.dedup();
    Some(Draft { key: FindingKey::new(""), slug: lead.slug.clone(), lead, agreement, also, places, forced: None })
}

#[cfg(test)]
mod tests;
