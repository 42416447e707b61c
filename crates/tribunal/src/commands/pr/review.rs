//! `tribunal pr review`: one review with comments on lines, whole or not at all.

use super::Desk;
use super::words::{count, text};
use crate::cli::pr::ReviewPullArgs;
use crate::situation::{Situation, exit};
use tribunal_core::findings::anchor::Side;
use tribunal_core::ids::Sha;
use tribunal_core::pull::desk::act::Refusal;
use tribunal_core::pull::facts::Pull;
use tribunal_core::pull::talk::{NewComment, NewReview, ReviewEvent};
use tribunal_forge::git::Repository;
use tribunal_forge::local::fault::LocalFault;

pub async fn run(args: ReviewPullArgs) -> Result<(), Situation> {
    let body = args.body.as_deref().map_or(Ok(String::new()), text)?;
    let mut comments = comments(&args.line, Side::New)?;
    comments.extend(self::comments(&args.old_line, Side::Old)?);
    let (event, verb) = match (args.approve, args.request_changes) {
        (true, _) => (ReviewEvent::Approve, "Approved"),
        (_, true) => (ReviewEvent::RequestChanges, "Asked for changes in"),
        (false, false) => (ReviewEvent::Comment, "Reviewed"),
    };
    let desk = Desk::to_write(args.dry).await?;
    let number = desk.number(&args.pull).await?;
    let pull = desk.local.look_at(number).await?;
    let commit = looked_at(&desk.repository, &pull, args.head.as_deref())?;
    let with = if comments.is_empty() { String::new() } else { format!(" with {}", count(comments.len(), "comment")) };
    let submitted =
        desk.local.write_review(number, &NewReview { commit: commit.clone(), event, body: body.into(), comments }).await?;
    desk.done(&format!("{verb} #{number} at {}{with} ({})", commit.short(), submitted.review))
}

/// The head that is meant: the one that was named, which must be the present one, or the present one.
pub fn looked_at(repository: &Repository, pull: &Pull, named: Option<&str>) -> Result<Sha, Situation> {
    let Some(named) = named else { return Ok(pull.head.sha.clone()) };
    let expected = repository.commit(named)?;
    if expected == pull.head.sha {
        return Ok(expected);
    }
    let refusal = Refusal::HeadMoved { expected, found: pull.head.sha.clone() };
    Err(LocalFault::Refused { number: pull.number, refusal }.into())
}

fn comments(typed: &[String], side: Side) -> Result<Vec<NewComment>, Situation> {
    typed
        .chunks(2)
        .filter_map(|pair| Some((pair.first()?, pair.get(1)?)))
        .map(|(place, body)| comment(place, body, side))
        .collect()
}

/// `FILE:7`, `FILE:3-7` or `FILE`.
fn comment(place: &str, body: &str, side: Side) -> Result<NewComment, Situation> {
    let numbers = place.rsplit_once(':').and_then(|(path, lines)| {
        let (start, end) = lines.split_once('-').map_or((None, lines), |(start, end)| (Some(start), end));
        Some((path, start.map(str::parse::<u32>).transpose().ok()?, end.parse::<u32>().ok()?))
    });
    let (path, start_line, line) = numbers.unwrap_or((place, None, 0));
    let is_range = start_line.is_none_or(|start| 0 < start && start <= line);
    // A line 0 is nothing that somebody types; a file is named without one.
    if path.is_empty() || !is_range || (numbers.is_some() && line == 0) {
        return Err(Situation::new("bad-line", exit::USAGE, format!("`{place}` names no line"))
            .help("write FILE:LINE, FILE:FIRST-LAST, or FILE for a comment on the file"));
    }
    let path = path.trim_start_matches("./").to_owned();
    Ok(NewComment { old_path: path.clone(), path, side, line, start_line, body: text(body)?.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_files_lines_and_ranges() {
        let place = |typed: &str| comment(typed, "x", Side::New).map(|made| (made.path, made.start_line, made.line)).ok();
        assert_eq!(place("src/a.py:7"), Some(("src/a.py".into(), None, 7)));
        assert_eq!(place("./a:b.py:3-7"), Some(("a:b.py".into(), Some(3), 7)));
        assert_eq!(place("src/a.py"), Some(("src/a.py".into(), None, 0)));
        for typed in ["a.py:0", "a.py:7-3", ":3", ""] {
            assert_eq!(place(typed), None, "{typed}");
        }
    }
}
