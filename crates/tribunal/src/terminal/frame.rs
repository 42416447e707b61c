//! A finding as a code frame.

use super::render::agents;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use tribunal_core::combine::finding::{Finding, FindingOrigin};
use tribunal_core::findings::anchor::Side;
use tribunal_core::findings::report::TraceStep;
use tribunal_core::findings::scale::Priority;

pub fn frame(finding: &Finding, renderer: &Renderer, width: usize) -> String {
    let level = match finding.p_code {
        Priority::P0 => Level::ERROR.with_name("P0"),
        Priority::P1 => Level::WARNING.with_name("P1"),
        Priority::P2 => Level::INFO.with_name("P2"),
        Priority::P3 => Level::NOTE.with_name("P3"),
        Priority::Q => Level::NOTE.with_name("Q"),
    };
    let carried = match finding.origin {
        FindingOrigin::Fresh => "",
        FindingOrigin::Carried => ", from an earlier review",
    };
    let title = format!("{} {} {}", finding.id, finding.slug, finding.category);
    // Tabs would shift the marks under the code.
    let source = finding.evidence.replace('\t', "    ");
    let path = match finding.side {
        Side::New => finding.file.0.clone(),
        Side::Old => format!("{} (before the change)", finding.file),
    };
    let range = marked(&source);
    let snippet = Snippet::source(source.as_str())
        .line_start(finding.line_start as usize)
        .path(path.as_str())
        .annotation(AnnotationKind::Primary.span(range));
    let (breaks, fix) = (wrapped(&finding.failure_mode, width), wrapped(&finding.mitigation, width));
    let mut group = Group::with_title(level.primary_title(title.as_str()))
        .element(snippet)
        .element(Level::ERROR.with_name("breaks").message(breaks.as_str()));
    if !fix.is_empty() {
        group = group.element(Level::HELP.with_name("fix").message(fix.as_str()));
    }
    let facts = wrapped(
        &format!(
            "{} · blast {} · confidence {} · by {}{carried}",
            finding.justification.word(),
            finding.blast.word(),
            finding.support.confidence_words(finding.confidence),
            agents(finding)
        ),
        width,
    );
    group = group.element(Level::NOTE.message(facts.as_str()));
    let mut notes: Vec<String> = path_of_data(&finding.trace).into_iter().collect();
    notes.extend(finding.also.iter().map(|also| format!("also: {also}")));
    notes.extend(finding.further_lines());
    if let Some(adjustment) = &finding.severity_adjustment {
        notes.push(format!("weighed {} → {}: {}", adjustment.from, adjustment.to, adjustment.reason));
    }
    if !finding.related.is_empty() {
        let ids: Vec<String> = finding.related.iter().map(ToString::to_string).collect();
        notes.push(format!("see also {}", ids.join(", ")));
    }
    let notes: Vec<String> = notes.iter().map(|note| wrapped(note, width)).collect();
    for note in &notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    renderer.render(&[group])
}

/// `line 4: untrusted: … → line 6: reaches …`
fn path_of_data(trace: &[TraceStep]) -> Option<String> {
    let steps: Vec<String> = trace.iter().map(|step| format!("line {}: {}", step.line, step.note)).collect();
    (!steps.is_empty()).then(|| steps.join(" → "))
}

/// What stands before a sentence in a frame: the number of the line, `= breaks: `.
const MARGIN: usize = 16;
/// Longer lines are hard to read, and shorter ones are no lines.
const WIDEST: usize = 100;
const NARROWEST: usize = 20;

/// The code without the blanks around it.
fn marked(source: &str) -> std::ops::Range<usize> {
    let start = source.len() - source.trim_start().len();
    start..source.trim_end().len().max(start)
}

/// Long sentences over several lines: a frame is read, not scrolled sideways.
fn wrapped(text: &str, width: usize) -> String {
    let width = width.saturating_sub(MARGIN).clamp(NARROWEST, WIDEST);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_data_is_one_line() {
        let step = |line, note: &str| TraceStep { line, note: note.to_owned() };
        let trace = [step(3, "untrusted: `a`"), step(9, "reaches `run`")];
        assert_eq!(path_of_data(&trace).as_deref(), Some("line 3: untrusted: `a` → line 9: reaches `run`"));
        assert_eq!(path_of_data(&[]), None);
    }

    #[test]
    fn long_sentences_are_wrapped_and_no_word_is_lost() {
        let text = "word ".repeat(60);
        for (terminal, longest) in [(40, 24), (80, 64), (500, 100), (1, 20)] {
            let lines = wrapped(&text, terminal);
            assert!(lines.lines().count() > 1 && lines.lines().all(|line| line.len() <= longest), "{terminal}: {lines}");
            assert_eq!(lines.split_whitespace().count(), 60);
        }
    }
}
