//! A pull request as a page: facts, checks, reviews, threads with their code, comments. All words in it are other people's, and are
//! made visible first.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use tribunal_core::findings::anchor::Side;
use tribunal_core::publish::visible::{visible, visible_line};
use tribunal_core::pull::desk::review::Spot;
use tribunal_core::pull::facts::{Check, CheckState, Issue, Mergeable, Pull, PullState};
use tribunal_core::pull::talk::{Comment, Review, ReviewState, Thread};

const BOLD: &str = "\u{1b}[1m";
const DIM: &str = "\u{1b}[2m";
const RED: &str = "\u{1b}[31m";
const YELLOW: &str = "\u{1b}[33m";
const GREEN: &str = "\u{1b}[32m";
const MAGENTA: &str = "\u{1b}[35m";
const RESET: &str = "\u{1b}[0m";

pub struct Shown {
    pub pull: Pull,
    pub checks: Vec<Check>,
    pub reviews: Vec<Review>,
    pub threads: Vec<(Spot, Thread)>,
    pub comments: Vec<Comment>,
}

pub fn page(shown: &Shown) -> String {
    let mut out = facts(&shown.pull);
    if !shown.checks.is_empty() {
        out.push_str(&format!("\n{BOLD}Checks{RESET}\n"));
        shown.checks.iter().for_each(|check| out.push_str(&check_line(check)));
    }
    if !shown.reviews.is_empty() {
        out.push_str(&format!("\n{BOLD}Reviews{RESET}\n"));
        shown.reviews.iter().for_each(|one| out.push_str(&review(one, &shown.pull)));
    }
    if !shown.threads.is_empty() {
        out.push_str(&format!("\n{BOLD}Threads{RESET}\n"));
        let coloured = anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
        let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
        for (spot, thread) in &shown.threads {
            out.push_str(&format!("\n{}\n", conversation(spot, thread, &renderer)));
        }
    }
    out.push_str(&comments(&shown.comments));
    out
}

pub fn issue(issue: &Issue, said: &[Comment]) -> String {
    let (state, colour) = if issue.open { ("open", GREEN) } else { ("closed", RED) };
    let mut out = format!("{BOLD}#{} {}{RESET}\n", issue.number, visible_line(&issue.title));
    out.push_str(&format!("{colour}{state}{RESET} · by {}\n", visible_line(&issue.author.login)));
    out.push_str(&labels(&issue.labels));
    out.push_str(&body(&issue.body, ""));
    out.push_str(&comments(said));
    out
}

fn facts(pull: &Pull) -> String {
    let (state, colour) = match (pull.state, pull.draft) {
        (PullState::Open, true) => ("draft", YELLOW),
        (PullState::Open, false) => ("open", GREEN),
        (PullState::Closed, _) => ("closed", RED),
        (PullState::Merged, _) => ("merged", MAGENTA),
    };
    let mut out = format!("{BOLD}#{} {}{RESET}\n", pull.number, visible_line(&pull.title));
    let (head, base) = (visible_line(&pull.head.branch), visible_line(&pull.base.branch));
    out.push_str(&format!("{colour}{state}{RESET} · {head} → {base} · by {}\n", visible_line(&pull.author.login)));
    let mut parts = vec![format!("head {}", pull.head.sha.short()), format!("base {}", pull.base.sha.short())];
    if let Some(files) = pull.changed_files {
        parts.push(format!("{files} file{} changed", if files == 1 { "" } else { "s" }));
    }
    match (pull.state, pull.mergeable) {
        (PullState::Closed | PullState::Merged, _) => {}
        (PullState::Open, Mergeable::Yes) => parts.push(format!("{GREEN}can be merged{RESET}{DIM}")),
        (PullState::Open, Mergeable::Conflict) => parts.push(format!("{RED}conflicts with {base}{RESET}{DIM}")),
        (PullState::Open, Mergeable::Behind) => parts.push(format!("{YELLOW}is behind {base}{RESET}{DIM}")),
        (PullState::Open, Mergeable::Blocked) => parts.push(format!("{YELLOW}cannot be merged now{RESET}{DIM}")),
        (PullState::Open, Mergeable::Unknown) => parts.push("nobody knows whether it can be merged".into()),
    }
    out.push_str(&format!("{DIM}{}{RESET}\n", parts.join(" · ")));
    out.push_str(&labels(&pull.labels));
    out.push_str(&body(&pull.body, ""));
    out
}

fn labels(labels: &[String]) -> String {
    let shown: Vec<String> = labels.iter().map(|label| visible_line(label)).collect();
    if shown.is_empty() { String::new() } else { format!("labels: {}\n", shown.join(", ")) }
}

fn check_line(check: &Check) -> String {
    let (sign, colour) = match check.state {
        CheckState::Success => ("✓", GREEN),
        CheckState::Failure | CheckState::Error => ("✗", RED),
        CheckState::Pending => ("…", YELLOW),
        CheckState::Skipped => ("-", DIM),
    };
    let description = visible_line(&check.description);
    let more = if description.is_empty() { String::new() } else { format!("  {DIM}{description}{RESET}") };
    format!("  {colour}{sign}{RESET} {}{more}\n", visible_line(&check.name))
}

fn review(review: &Review, pull: &Pull) -> String {
    let (words, colour) = match review.state {
        ReviewState::Pending => ("has begun a review that only you see", DIM),
        ReviewState::Commented => ("commented", RESET),
        ReviewState::Approved => ("approved", GREEN),
        ReviewState::ChangesRequested => ("asked for changes", RED),
        ReviewState::Dismissed => ("was dismissed", DIM),
    };
    let own = if review.author.is(&pull.author) { " (the author)" } else { "" };
    let at = match &review.commit {
        Some(commit) if *commit == pull.head.sha => format!("at {}", commit.short()),
        Some(commit) => format!("at {}, an earlier head", commit.short()),
        None => String::new(),
    };
    let who = visible_line(&review.author.login);
    let line = format!("  {who}{own} {colour}{words}{RESET} {DIM}{at} · {}{RESET}\n", when(&review.submitted_at));
    format!("{line}{}", body(&review.body, "    "))
}

fn conversation(spot: &Spot, thread: &Thread, renderer: &Renderer) -> String {
    let state = match (thread.resolved, thread.outdated) {
        (true, _) => "resolved",
        (false, Some(true)) => "open, the code has changed since",
        (false, _) => "open",
    };
    let name = format!("thread {}", thread.id);
    let level = if thread.resolved { Level::NOTE } else { Level::WARNING };
    let path = match spot.side {
        Side::New => visible_line(&thread.path),
        Side::Old => format!("{} (before the change)", visible_line(&thread.path)),
    };
    // Tabs would shift the marks under the code.
    let code: Vec<String> = spot.code.iter().map(|line| visible_line(&line.replace('\t', "    "))).collect();
    let source = code.join("\n");
    let first = thread.line.unwrap_or(spot.line).saturating_sub(spot.line - spot.start_line.unwrap_or(spot.line));
    let start = source.len() - source.trim_start().len();
    let marked = start..source.trim_end().len().max(start);
    let by = thread.resolved_by.as_ref().map(|by| format!(" by {}", visible_line(&by.login))).unwrap_or_default();
    let title = format!("{state}{by}");
    let mut group = Group::with_title(level.with_name(name).primary_title(title));
    group = if code.is_empty() {
        group.element(annotate_snippets::Origin::path(path.clone()))
    } else {
        let snippet = Snippet::source(source.as_str()).line_start(first as usize).path(path.clone());
        group.element(snippet.annotation(AnnotationKind::Primary.span(marked)))
    };
    for comment in &thread.comments {
        let who = format!("{} {} ({})", visible_line(&comment.author.login), when(&comment.created_at), comment.id);
        group = group.element(Level::NOTE.with_name(who).message(visible(as_shown(&comment.body).trim())));
    }
    renderer.render(&[group])
}

fn comments(comments: &[Comment]) -> String {
    if comments.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{BOLD}Comments{RESET}\n");
    for comment in comments {
        let (who, at) = (visible_line(&comment.author.login), when(&comment.created_at));
        out.push_str(&format!("  {who} {DIM}{at} ({}){RESET}\n{}", comment.id, body(&comment.body, "    ")));
    }
    out
}

/// Foreign text, set in so that none of its lines looks like ours.
fn body(text: &str, indent: &str) -> String {
    let text = &as_shown(text);
    let text = visible(text.trim());
    if text.is_empty() {
        return String::new();
    }
    let gap = if indent.is_empty() { "\n" } else { "" };
    let indent = if indent.is_empty() { "  " } else { indent };
    let lines: Vec<String> = text.lines().map(|line| format!("{indent}{line}").trim_end().to_owned()).collect();
    format!("{gap}{}\n", lines.join("\n"))
}

/// The reader's own time; what cannot be read as a time is shown as it is.
fn when(at: &str) -> String {
    match at.parse::<jiff::Timestamp>() {
        Ok(time) => time.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => visible_line(at),
    }
}

/// As a forge would show it, as far as a terminal can: hidden comments are hidden, a badge is its word, a fold is open.
fn as_shown(text: &str) -> String {
    let is_hidden = |line: &&str| line.trim().starts_with("<!--") && line.trim().ends_with("-->");
    let lines = text.lines().filter(|line| !is_hidden(line)).map(|line| {
        let line = line.replace("<details><summary>", "▸ ").replace("</summary>", "").replace("</details>", "");
        let line = line.replace("<sub>", "").replace("</sub>", "");
        match line.split_once("![").and_then(|(before, rest)| Some((before, rest.split_once("](")?))) {
            Some((before, (word, behind))) => {
                format!("{before}{word}{}", behind.split_once(')').map_or("", |(_, rest)| rest))
            }
            None => line,
        }
    });
    let mut shown = String::new();
    let mut was_blank = true;
    for line in lines {
        // What was taken out must not leave holes.
        if !(line.trim().is_empty() && was_blank) {
            shown.push_str(&line);
            shown.push('\n');
        }
        was_blank = line.trim().is_empty();
    }
    shown.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::as_shown;

    #[test]
    fn hidden_lines_stay_hidden() {
        let body = "<!-- mark -->\n\n**![P0](https://x/y) slug**\n\n<details><summary>Evidence</summary>\n\ncode\n\n</details>\n\n<!-- a -->";
        assert_eq!(as_shown(body), "**P0 slug**\n\n▸ Evidence\n\ncode");
    }
}
