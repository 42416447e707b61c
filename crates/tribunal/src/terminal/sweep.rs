//! The report of a sweep in colours: how each pull request stands is seen at a glance.

use tribunal_core::procedure::sweep::report::text::text;
use tribunal_core::procedure::sweep::report::{Report, Row, Status};

pub fn page(report: &Report) -> String {
    let mut page: Vec<String> = text(report).lines().map(str::to_owned).collect();
    for row in &report.pulls {
        let name = format!("#{} ", row.number);
        if let Some(line) = page.iter_mut().find(|line| line.starts_with(&name)) {
            *line = painted(line, row);
        }
    }
    page.join("\n") + "\n"
}

/// The last cell of a row begins with the words of its status.
fn painted(line: &str, row: &Row) -> String {
    let words = row.status.words();
    match line.rfind(words) {
        Some(at) => format!("{}\u{1b}[{}m{words}\u{1b}[0m{}", &line[..at], colour(row.status), &line[at + words.len()..]),
        None => line.to_owned(),
    }
}

fn colour(status: Status) -> &'static str {
    match status {
        Status::Complete | Status::WouldReview => "32",
        Status::PendingManualMerge | Status::ChecksPending | Status::HeadMoved | Status::OutOfBudget => "33",
        Status::NeedsHumanFollowUp | Status::ChecksFailing | Status::Rejected | Status::Failed | Status::WouldReject => "31",
        Status::Draft | Status::Over | Status::Deferred | Status::NotBegun | Status::LeftOut => "2",
    }
}
