//! Runs rules over a change, file by file and in parallel, within a time.
//!
//! The result is in the order of the diff, whatever order the threads finished in.

use super::checks::pattern::Pattern;
use super::clock::{Clock, Steps, TimeLimits};
use super::comments::CommentSyntax;
use super::compile::{Rule, RuleSet, SyntaxRules};
use super::file::TestCode;
use super::fix::line_fix;
use super::lines::ReadLine;
use super::lines::surroundings::Surroundings;
use super::load::RuleError;
use super::misread::{hides_values, is_disputed, language_of};
use super::old;
use super::suppress;
use super::syntax::{Looked, Subject, Unscanned, scan_text};
use super::threads;
use super::visible::{Look, VisibleChange};
use ast_grep_core::tree_sitter::LanguageExt;
use rayon::prelude::*;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;
use tribunal_context::grammar::Grammar;
use tribunal_core::diff::apply::undo_hunks;
use tribunal_core::diff::change::{AddedLines, Change, ChangedFile, DiffLine, FileContent, FileStatus, Origin};
use tribunal_core::diff::conflict::conflicts;
use tribunal_core::diff::language::Language;
use tribunal_core::diff::purpose::FilePurpose;
use tribunal_core::findings::report::Claim;
use tribunal_core::findings::rule_severity::{MAX_WRITTEN_LINE, RuleWeight, is_bundle, rule_severity, severity_on_line};
use tribunal_core::findings::scale::Severity;
use tribunal_core::ids::RepoPath;
use tribunal_core::plan::attributes::changes_encoding;
use tribunal_core::plan::files::NotReviewed;

/// A file beyond this is not parsed; its added lines are still checked one by one.
pub const MAX_PARSED_BYTES: usize = 2 * 1024 * 1024;
/// What one rule finds beyond this in one file, with the same weight, is more of the same.
const MAX_PER_RULE: usize = 250;

/// How closely the rules could look at one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Parsed, and matched by the rules of its language.
    Syntax,
    /// Only its added lines were looked at: no grammar, or no whole text.
    Lines,
}

#[derive(Debug, Default)]
pub struct Scan {
    pub claims: Vec<Claim>,
    pub depths: Vec<(RepoPath, Depth)>,
    /// Files that could not be looked at whole.
    pub cut: Vec<(RepoPath, NotReviewed)>,
    /// What comments silence although the change wrote the code.
    pub silenced: Vec<Claim>,
}

/// Everything the rules have to say about `change`. What they say of one file alone is limited to those that `wanted` admits.
pub fn scan(rules: &RuleSet, change: &Change, wanted: impl Fn(&ChangedFile) -> bool) -> Result<Scan, RuleError> {
    let look = |file: &ChangedFile| Some(if wanted(file) { Look::Whole } else { Look::Aside });
    scan_visible(rules, &VisibleChange::new(change, look), TimeLimits::default())
}

pub fn scan_visible(rules: &RuleSet, change: &VisibleChange<'_>, limits: TimeLimits) -> Result<Scan, RuleError> {
    let files = change.to_scan();
    let clock = Clock::start(limits);
    let scan_all = || files.par_iter().map(|(file, look)| scan_file(rules, file, *look, clock)).collect();
    let scanned: Result<Vec<FileScan>, RuleError> = threads::run(scan_all)?;
    let scanned = scanned?;
    let mut scan = Scan::default();
    for ((file, _), scanned) in files.iter().zip(scanned) {
        scan.claims.extend(particular(rules, scanned.claims).into_iter().filter(|claim| !is_own_script(rules, change, claim)));
        scan.silenced.extend(scanned.silenced);
        scan.depths.push((file.path.clone(), scanned.depth));
        scan.cut.extend(scanned.cut.map(|reason| (file.path.clone(), reason)));
    }
    let mut out_of_time: BTreeSet<RepoPath> = BTreeSet::new();
    for rule in &rules.rules {
        if let Some(check) = rule.check {
            // Whether a test is missing depends on every file of the change, also on those that were read before.
            let (claims, unread) = check.run(rule, change, clock);
            scan.claims.extend(claims);
            out_of_time.extend(unread);
        }
    }
    let named: BTreeSet<&RepoPath> = scan.cut.iter().map(|(path, _)| path).collect();
    let scanned: BTreeSet<&RepoPath> = files.iter().map(|(file, _)| &file.path).collect();
    out_of_time.retain(|path| scanned.contains(path) && !named.contains(path));
    scan.cut.extend(out_of_time.into_iter().map(|path| (path, NotReviewed::OutOfTime)));
    Ok(scan)
}

/// An address in code, up to what ends one in `own_addresses`.
static ADDRESS: Pattern = Pattern::new(r#"https?://[^\s"'`()|;<>,]+"#);

/// A rule about foreign scripts has found one of the repository's own, and no other address beside it. What a comment names is not run.
fn is_own_script(rules: &RuleSet, change: &VisibleChange<'_>, claim: &Claim) -> bool {
    let Some(rule) = claim.rule.as_deref().and_then(|id| rules.get(id)).filter(|rule| rule.file.foreign_only) else {
        return false;
    };
    if change.own_addresses.is_empty() {
        return false;
    }
    let code = CommentSyntax::of(&claim.file, rule.file.languages.first().copied()).without_comments(&claim.evidence);
    let mut addresses = ADDRESS.all(&code).peekable();
    addresses.peek().is_some() && addresses.all(|address| change.own_addresses.contains(address))
}

/// The claims of one file without those of general rules where a particular one has spoken: they would be the same defect twice.
fn particular(rules: &RuleSet, claims: Vec<Claim>) -> Vec<Claim> {
    let is_general = |claim: &Claim| claim.rule.as_deref().and_then(|id| rules.get(id)).is_some_and(|rule| rule.file.general);
    let (general, mut kept): (Vec<Claim>, Vec<Claim>) = claims.into_iter().partition(is_general);
    let taken: BTreeSet<_> = kept.iter().map(|claim| (claim.category.clone(), claim.line_start)).collect();
    kept.extend(general.into_iter().filter(|claim| !taken.contains(&(claim.category.clone(), claim.line_start))));
    kept
}

/// What the rules of single files say of one.
struct FileScan {
    claims: Vec<Claim>,
    silenced: Vec<Claim>,
    depth: Depth,
    cut: Option<NotReviewed>,
}

fn scan_file(rules: &RuleSet, file: &ChangedFile, look: Look, clock: Clock) -> Result<FileScan, RuleError> {
    let clock = clock.for_file();
    let nothing = |depth, cut| FileScan { claims: Vec::new(), silenced: Vec::new(), depth, cut };
    let recoded = changes_encoding(file).then_some(NotReviewed::ReadOtherwise);
    if file.status == FileStatus::Deleted {
        return Ok(nothing(Depth::Lines, recoded));
    }
    match file.content {
        // A link's target is a line like any other.
        FileContent::Text | FileContent::Symlink => {}
        FileContent::Binary | FileContent::Submodule => return Ok(nothing(Depth::Lines, None)),
    }
    let is_test = file.is_test();
    let Some((mut claims, mut silenced)) = scan_lines(rules, file, is_test, clock) else {
        return Ok(nothing(Depth::Lines, Some(NotReviewed::OutOfTime)));
    };
    let (depth, cut) = match look {
        Look::Lines | Look::Aside => (Depth::Lines, recoded),
        Look::Whole => match scan_syntax(rules, file, is_test, clock)? {
            Syntax::Looked(found, quiet) => {
                claims.extend(found);
                silenced.extend(quiet);
                (Depth::Syntax, None)
            }
            Syntax::Partly(found, quiet, reason) => {
                claims.extend(found);
                silenced.extend(quiet);
                // Markers of a conflict, which a check reports, are why.
                let is_said = reason == NotReviewed::DoesNotParse && !conflicts(file).is_empty();
                (Depth::Lines, (!is_said).then_some(reason))
            }
            Syntax::NoGrammar => (Depth::Lines, recoded),
            Syntax::Cut(reason) => (Depth::Lines, Some(reason)),
        },
    };
    let cut = cut.or_else(|| hides_values(file).then_some(NotReviewed::ReadOtherwise));
    let mut claims = old::without_rewritten(rules, file, claims);
    // Counted last: code that was only moved takes no room.
    let mut tally = Tally::default();
    claims.retain(|claim| tally.has_room(claim));
    Ok(FileScan { claims, silenced, depth, cut })
}

/// How often each rule has spoken of a file, by weight: what weighs little must not use up the room of what weighs more.
#[derive(Default)]
struct Tally(BTreeMap<(Option<String>, Option<Severity>), usize>);

impl Tally {
    fn has_room(&mut self, claim: &Claim) -> bool {
        let count = self.0.entry((claim.rule.clone(), claim.severity)).or_default();
        *count += 1;
        *count <= MAX_PER_RULE
    }
}

/// What the rules over single lines say, and what is silenced; nothing if the time ran out.
fn scan_lines(rules: &RuleSet, file: &ChangedFile, is_test: bool, clock: Clock) -> Option<(Vec<Claim>, Vec<Claim>)> {
    let own_tests: OnceCell<Vec<RangeInclusive<u32>>> = OnceCell::new();
    let looking: Vec<_> = rules
        .rules
        .iter()
        .filter_map(|rule| Some((rule, rule.lines.as_ref()?)))
        .filter(|(rule, _)| rule.looks_at(&file.path, is_test))
        .collect();
    // By the order of the rules, as each of them would report alone.
    let mut found: Vec<Vec<Claim>> = vec![Vec::new(); looking.len()];
    // Each has its own room: what is silenced and light must not hide what is silenced and grave.
    let (mut silenced, mut tally, mut silenced_tally) = (Vec::new(), Tally::default(), Tally::default());
    let mut moved = old::MovedLines::new(file);
    let comments = CommentSyntax::of(&file.path, language_of(file));
    let whole: OnceCell<Option<String>> = OnceCell::new();
    let whole = || whole.get_or_init(|| whole_text(file).map(|text| comments.without_comments(&text))).as_deref();
    let around: OnceCell<Option<Surroundings<'_>>> = OnceCell::new();
    let before_change: OnceCell<Option<String>> = OnceCell::new();
    let old_text = || file.new_text.as_deref().and_then(|text| undo_hunks(text, &file.hunks));
    let old_whole = || before_change.get_or_init(|| old_text().map(|text| comments.without_comments(&text))).as_deref();
    let old_around: OnceCell<Option<Surroundings<'_>>> = OnceCell::new();
    let mut above: Option<&DiffLine> = None;
    let steps = Steps::new(clock);
    for line in file.lines().filter(|line| line.new_line.is_some()) {
        if steps.is_over() {
            return None;
        }
        let before = above.replace(line);
        if line.origin != Origin::Added {
            continue;
        }
        let read = ReadLine::new(&line.text, comments);
        for (index, ((rule, matcher), found)) in looking.iter().zip(&mut found).enumerate() {
            if matcher.is_said_once() && !found.is_empty() {
                continue;
            }
            let Some(hit) = matcher.find(&read) else { continue };
            let number = line.new_line.unwrap_or(1);
            // What stands around a line may be the whole file, for each of its lines.
            if clock.is_over() {
                return None;
            }
            if !matcher.fits(around.get_or_init(|| whole().map(Surroundings::new)).as_ref(), number) {
                continue;
            }
            let old_around = || old_around.get_or_init(|| old_whole().map(Surroundings::new)).as_ref();
            let is_moved = moved.take(index, &hit.quote, |number| !clock.is_over() && matcher.fits(old_around(), number));
            if clock.is_over() {
                return None;
            }
            if is_moved {
                continue;
            }
            let mut claim = claim(rule, &file.path, number, number, hit.quote);
            claim.fix = hit.replacement.and_then(|(range, text)| line_fix(&line.text, number, range, &text, matcher.fix_kind()));
            if hit.asks {
                claim.severity = Some(Severity::Question);
            } else if own_tests.get_or_init(|| self::own_tests(file)).iter().any(|lines| lines.contains(&number)) {
                claim.severity = Some(severity_in(rule, FilePurpose::Test));
            }
            let over = before.map(|line| line.text.as_str());
            // A comment that stood there before the change was written about another line.
            match suppress::is_suppressed(&rule.file, &[&line.text], over.as_slice()) {
                false if tally.has_room(&claim) => found.push(claim),
                true if silenced_tally.has_room(&claim) => silenced.push(claim),
                _ => {}
            }
        }
    }
    // A line that stays may come to mean what it did not, as one does whose `egress` becomes `ingress`.
    let placed: Vec<_> = looking.iter().zip(&mut found).filter(|((_, matcher), _)| matcher.asks_about_place()).collect();
    let added = file.added_numbers();
    let text = file.new_text.as_deref().filter(|_| !placed.is_empty() && added.count() > 0 && file.status != FileStatus::Added);
    let lines: Vec<&str> = text.map(|text| text.lines().collect()).unwrap_or_default();
    for ((rule, matcher), found) in placed {
        for (index, line) in lines.iter().enumerate() {
            if steps.is_over() {
                return None;
            }
            let number = index as u32 + 1;
            if added.contains(number) {
                continue;
            }
            let around = || around.get_or_init(|| whole().map(Surroundings::new)).as_ref();
            let old_around = || old_around.get_or_init(|| old_whole().map(Surroundings::new)).as_ref();
            let is_turned = || {
                let old = old::old_number(file, number)?;
                (matcher.fits(around(), number) && !matcher.fits(Some(old_around()?), old)).then_some(())
            };
            let Some(hit) = matcher.find(&ReadLine::new(line, comments)) else { continue };
            if clock.is_over() {
                return None;
            }
            if is_turned().is_none() {
                continue;
            }
            // What can be pointed at is a line of the change.
            let neighbours = around().map(|around| around.neighbours(index)).unwrap_or_default();
            let Some(at) = neighbours.into_iter().find(|at| added.contains(*at as u32 + 1)) else { continue };
            let mut claim = claim(rule, &file.path, at as u32 + 1, at as u32 + 1, lines[at].to_owned());
            if hit.asks {
                claim.severity = Some(Severity::Question);
            }
            let over = at.checked_sub(1).and_then(|over| lines.get(over)).copied();
            match suppress::is_suppressed(&rule.file, &[lines[at], line], over.as_slice()) {
                _ if found.iter().any(|known: &Claim| known.line_start == claim.line_start) => {}
                false if tally.has_room(&claim) => found.push(claim),
                true if silenced_tally.has_room(&claim) => silenced.push(claim),
                _ => {}
            }
        }
    }
    Some((found.into_iter().flatten().collect(), silenced))
}

/// The file after the change, where all of it is known.
pub fn whole_text(file: &ChangedFile) -> Option<Cow<'_, str>> {
    match &file.new_text {
        Some(text) => Some(Cow::Borrowed(text)),
        None if file.status == FileStatus::Added => {
            Some(Cow::Owned(file.added_lines().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")))
        }
        None => None,
    }
}

/// What the rules of a file's language say.
enum Syntax {
    Looked(Vec<Claim>, Vec<Claim>),
    /// The same of a file whose code could not all be looked at, and why.
    Partly(Vec<Claim>, Vec<Claim>, NotReviewed),
    /// No rule speaks its language, or only its hunks are known.
    NoGrammar,
    Cut(NotReviewed),
}

fn scan_syntax(rules: &RuleSet, file: &ChangedFile, is_test: bool, clock: Clock) -> Result<Syntax, RuleError> {
    let Some(language) = language_of(file) else {
        // Its name says one language and its first line another, which has no grammar: whoever runs it may go by the name.
        return Ok(if file.language().is_some() { Syntax::Cut(NotReviewed::DoesNotParse) } else { Syntax::NoGrammar });
    };
    let Some(syntax) = rules.syntax_rules(language)? else { return Ok(Syntax::NoGrammar) };
    let Some(text) = file.new_text.as_deref() else { return Ok(Syntax::NoGrammar) };
    if text.len() > MAX_PARSED_BYTES {
        return Ok(Syntax::Cut(NotReviewed::TooLargeToParse));
    }
    let subject = Subject { path: &file.path, is_test, grammar: language.into(), clock };
    let Looked { found, silenced, does_not_parse, cut, is_misread } =
        match scan_text(&syntax, &subject, text, &file.added_numbers()) {
            Ok(looked) => looked,
            Err(Unscanned::NotReviewed(reason)) => return Ok(Syntax::Cut(reason)),
            Err(Unscanned::Rule(error)) => return Err(error),
        };
    let (found, silenced) = new_of(&syntax, &subject, file, (found, silenced));
    let claims = |found: Vec<old::Found>| found.into_iter().map(|found| found.claim).collect::<Vec<_>>();
    let (mut claims, silenced) = (claims(found), claims(silenced));
    let is_new_bundle = file.status == FileStatus::Added && is_bundle(text) && file.path.as_str().split('/').any(is_for_bundles);
    // The base decides of a file that it has: a change could make any file of its own look like a bundle.
    let was_bundle = || undo_hunks(text, &file.hunks).is_some_and(|before| is_bundle(&before));
    if !claims.is_empty() && (is_new_bundle || file.status != FileStatus::Added && was_bundle()) {
        lower_in_bundle(&mut claims, text);
    }
    // Nobody but the change says that it is a bundle, so its code counts as unread.
    let reasons = [
        (is_misread || is_disputed(file)).then_some(NotReviewed::ReadOtherwise),
        is_new_bundle.then_some(NotReviewed::NewBundle),
        does_not_parse.then_some(NotReviewed::DoesNotParse),
        cut,
    ];
    Ok(match reasons.into_iter().flatten().next() {
        Some(reason) => Syntax::Partly(claims, silenced, reason),
        None => Syntax::Looked(claims, silenced),
    })
}

/// What was found, and what was silenced, without what was so before the change.
fn new_of(
    syntax: &SyntaxRules,
    subject: &Subject<'_>,
    file: &ChangedFile,
    (found, silenced): (Vec<old::Found>, Vec<old::Found>),
) -> (Vec<old::Found>, Vec<old::Found>) {
    let removed: AddedLines = file.removed_lines().filter_map(|line| line.old_line).collect();
    let all = || found.iter().chain(&silenced);
    let begun: AddedLines =
        all().filter(|found| found.begins_before()).filter_map(|found| old::old_number(file, found.first_line)).collect();
    // Parsed a second time only where something was found and something was taken away or begun before. Where that fails, nothing
    // counts as old but what begins on an old line.
    let needs_text = all().next().is_some() && (removed.count() > 0 || begun.count() > 0);
    let text = file.new_text.as_deref().filter(|_| needs_text).and_then(|text| undo_hunks(text, &file.hunks));
    let before = |lines: &AddedLines| text.as_deref().and_then(|text| scan_text(syntax, subject, text, lines).ok());
    let (found, silenced) = match all().any(old::Found::begins_before) {
        false => (found, silenced),
        true => match before(&begun) {
            Some(Looked { found: mut standing, silenced: quiet, .. }) => {
                standing.extend(quiet);
                let new = |found| old::without_standing(file, found, &standing);
                (new(found), new(silenced))
            }
            None => {
                let new = |found: Vec<old::Found>| found.into_iter().filter(|found| !found.begins_before()).collect();
                (new(found), new(silenced))
            }
        },
    };
    match (removed.count() > 0).then(|| before(&removed)).flatten() {
        Some(old) => (old::without_old(file, found, old.found), old::without_old(file, silenced, old.silenced)),
        None => (found, silenced),
    }
}

fn lower_in_bundle(claims: &mut Vec<Claim>, text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    // What a person would repair is in the source of the bundle; only what harms whoever takes it over is asked about.
    claims.retain(|claim| {
        let line = claim.line_start.and_then(|number| lines.get(number.checked_sub(1)? as usize));
        claim.severity == Some(Severity::Blocker) || line.is_none_or(|line| line.len() <= MAX_WRITTEN_LINE)
    });
    for claim in claims {
        let line = claim.line_start.and_then(|number| lines.get(number.checked_sub(1)? as usize));
        claim.severity =
            claim.severity.zip(line).map(|(severity, line)| severity_on_line(severity, line, true)).or(claim.severity);
    }
}

/// A folder or a name that tools give to what they bundle.
fn is_for_bundles(part: &str) -> bool {
    matches!(part, "dist" | "build" | "vendor" | "assets" | "public" | "static")
        || part.contains(".min.")
        || part.contains("bundle")
}

/// The lines of the modules with which a Rust file tests itself.
fn own_tests(file: &ChangedFile) -> Vec<RangeInclusive<u32>> {
    const MARK: &str = "#[cfg(test)]";
    let text = file.new_text.as_deref().filter(|text| text.len() <= MAX_PARSED_BYTES && text.contains(MARK));
    let Some(text) = text.filter(|_| file.language() == Some(Language::Rust)) else { return Vec::new() };
    let tree = Grammar::from(Language::Rust).ast_grep(text);
    let mut found = Vec::new();
    let mut is_marked = false;
    for node in tree.root().children() {
        match node.kind().as_ref() {
            "attribute_item" => is_marked |= node.text() == MARK,
            "line_comment" | "block_comment" => {}
            kind => {
                if kind == "mod_item" && is_marked {
                    found.push(node.start_pos().line() as u32 + 1..=node.end_pos().line() as u32 + 1);
                }
                is_marked = false;
            }
        }
    }
    found
}

fn severity_in(rule: &Rule, purpose: FilePurpose) -> Severity {
    let file = &rule.file;
    let is_about_tests = file.tests == TestCode::Only || file.category.as_str().starts_with(TEST_CATEGORIES);
    rule_severity(RuleWeight { severity: file.severity, elsewhere: file.test_severity, is_about_tests }, purpose)
}

/// The first letter of the categories of test quality.
const TEST_CATEGORIES: char = 'T';

/// The claim that a rule makes of a place.
pub fn claim(rule: &Arc<Rule>, path: &RepoPath, start: u32, end: u32, evidence: String) -> Claim {
    let file = &rule.file;
    Claim {
        category: file.category.clone(),
        file: path.clone(),
        line_start: Some(start),
        line_end: Some(end),
        severity: Some(severity_in(rule, FilePurpose::of(path))),
        confidence: file.confidence,
        blast: file.blast,
        justification: Some(file.justification),
        evidence,
        failure_mode: file.failure_mode.trim().to_owned(),
        mitigation: file.mitigation.trim().to_owned(),
        details: None,
        notes: None,
        slug: Some(file.id.clone()),
        signal: None,
        spec_quote: None,
        questions: Vec::new(),
        mitigation_out_of_scope: false,
        reversible: file.reversible,
        rule: Some(file.id.clone()),
        fix: None,
        trace: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    mod disguises;
    mod limits;

    use super::*;
    use crate::rules::examples::added;
    use crate::rules::load::built_in;

    fn claims(path: &str, code: &str) -> Vec<(Option<u32>, Option<Severity>, Option<String>)> {
        let rules = RuleSet::new(built_in().unwrap()).unwrap();
        let found = scan(&rules, &added(path, code), |_| true).unwrap().claims;
        found.into_iter().map(|claim| (claim.line_start, claim.severity, claim.details)).collect()
    }

    /// Its source is elsewhere: nobody repairs the loop in it.
    #[test]
    fn a_new_bundle_is_not_corrected() {
        let loop_past_end = "for(let i=0;i<=rows.length;i++){show(rows[i].name)}";
        let code = format!("{}{loop_past_end}\n", "f(1);".repeat(200));
        assert_eq!(claims("public/build/app.js", &code).len(), 0);
        assert_eq!(claims("src/app.js", &code).len(), 1);
        assert_eq!(claims("public/build/app.js", &format!("{loop_past_end}\n")).len(), 1);
    }

    /// Issue 16, E18: the change alone says that it is a bundle, so its code was not reviewed.
    #[test]
    fn a_new_bundle_is_named() {
        let rules = RuleSet::new(built_in().unwrap()).unwrap();
        let cut = |path: &str, code: &str| scan(&rules, &added(path, code), |_| true).unwrap().cut;
        let code = format!("{}\n", "f(1);".repeat(200));
        assert_eq!(cut("public/app.js", &code), [("public/app.js".into(), NotReviewed::NewBundle)]);
        assert_eq!(cut("src/app.js", &code), []);
        assert_eq!(cut("public/app.js", "f(1);\n"), []);
    }

    /// Issue 16, E18: light matches that are silenced leave room for a grave one.
    #[test]
    fn silenced_lines_do_not_hide_a_secret() {
        let rules = RuleSet::new(built_in().unwrap()).unwrap();
        let light = "breakpoint()  # noqa: T100\n".repeat(2 * MAX_PER_RULE);
        let code = format!("{light}key = \"AKIAQ3EGTR7XWZ5KLMNP\"  # gitleaks:allow\n");
        let silenced = scan(&rules, &added("src/a.py", &code), |_| true).unwrap().silenced;
        assert!(silenced.iter().any(|claim| claim.evidence.contains("AKIA")), "{}", silenced.len());
    }

    #[test]
    fn a_secret_weighs_less_in_tests_samples_and_prose() {
        let code = "db_password = \"q7Zr!2kLx9Pv4TnW8s\"\n";
        assert_eq!(claims("src/a.py", code), [(Some(1), Some(Severity::Factual), None)]);
        assert_eq!(claims("tests/a.py", code), []);
        assert_eq!(claims("demo/a.py", code), [(Some(1), Some(Severity::Question), None)]);
        assert_eq!(claims("notes.txt", code), [(Some(1), Some(Severity::Question), None)]);
        assert_eq!(
            claims("locales/de.json", "{\"password\": \"q7Zr!2kLx9Pv4TnW8s\"}\n"),
            [(Some(1), Some(Severity::Question), None)]
        );
    }

    /// Issue 18: a bundle is read, and what rules match in its code is asked about.
    #[test]
    fn code_of_a_bundle_is_asked_about() {
        let filler = "a();".repeat(200);
        let code = format!("{filler}el.onclick = function () {{ eval(location.hash); }};");
        let weights = |before: &str| {
            let diff = format!(
                "diff --git a/web/app.js b/web/app.js\n--- a/web/app.js\n+++ b/web/app.js\n@@ -1 +1 @@\n-{before}\n+{code}\n"
            );
            let mut change = tribunal_core::diff::parse::parse_diff(diff.as_bytes()).unwrap();
            change.files[0].new_text = Some(format!("{code}\n").into());
            let rules = RuleSet::new(built_in().unwrap()).unwrap();
            let found = scan(&rules, &change, |_| true).unwrap().claims;
            found.into_iter().map(|claim| claim.severity).collect::<Vec<_>>()
        };
        assert!(weights("a();").iter().any(|severity| *severity > Some(Severity::Question)), "the change alone makes no bundle");
        assert!(!weights(&filler).is_empty() && weights(&filler).iter().all(|severity| *severity == Some(Severity::Question)));
    }

    #[test]
    fn a_rust_file_may_hold_its_own_tests() {
        let secret = "    let x = Key { secret_key: \"jMqRDgxSsBqqznfmddGdu1TmmZOJQxdM\".to_string() };\n";
        let code = format!("fn a() {{\n{secret}}}\n#[cfg(test)]\nmod tests {{\n    fn b() {{\n{secret}    }}\n}}\n");
        let found = claims("src/a.rs", &code);
        assert_eq!(found, [(Some(2), Some(Severity::Factual), None), (Some(7), Some(Severity::Question), None)]);
    }

    #[test]
    fn a_rule_may_speak_once_of_a_file_and_ask_for_the_rest_of_it() {
        let found = |code: &str| claims("db/migrations/0002_a.sql", code).iter().map(|claim| claim.0).collect::<Vec<_>>();
        let indexes = "CREATE INDEX a ON orders (a);\nCREATE INDEX b ON orders (b);\n";
        assert_eq!(found(indexes), [Some(1)]);
        assert_eq!(found(&format!("CREATE TABLE orders (id int);\n{indexes}")), []);
    }

    #[test]
    fn a_script_of_another_language_is_not_read_as_shell() {
        let set = RuleSet::new(built_in().unwrap()).unwrap();
        let look = |code: &str| {
            let scan = scan(&set, &added("bin/a.sh", code), |_| true).unwrap();
            (scan.depths[0].1, scan.cut.first().map(|(_, reason)| *reason))
        };
        assert_eq!(look("#!/bin/sh\necho a\n"), (Depth::Syntax, None));
        assert_eq!(look("#!/bin/sh # perl\necho a\n"), (Depth::Syntax, None), "the interpreter counts, and not its arguments");
        let unread = (Depth::Lines, Some(NotReviewed::DoesNotParse));
        assert_eq!(look("#!/usr/bin/perl\nprint 1;\n"), unread, "and `sh a.sh` would run it all the same");
    }

    /// A script without an ending is read as what its first line says.
    #[test]
    fn a_script_is_known_by_its_first_line() {
        let set = RuleSet::new(built_in().unwrap()).unwrap();
        for (first, depth) in
            [("#!/usr/bin/env python3", Depth::Syntax), ("#!/bin/bash -e", Depth::Syntax), ("plain", Depth::Lines)]
        {
            let change = added("bin/deploy", &format!("{first}\nx = 1\n"));
            assert_eq!(scan(&set, &change, |_| true).unwrap().depths[0].1, depth, "{first}");
        }
    }
}
