//! One line per reviewer while it looks, on a terminal. A pipe gets only what a reader of the log may wonder about: that it waits.
//! `--quiet` stays silent.

use super::out;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tribunal_core::publish::outgoing::shown_line;
use tribunal_engine::{Listener, Progress};

pub struct Reporter {
    lines: Option<Arc<Lines>>,
    quiet: bool,
}

/// As a spinner or as a line of a log.
const WATCHING: &str = "waiting for something to happen on the pull request";

struct Lines {
    all: MultiProgress,
    bars: Mutex<BTreeMap<String, ProgressBar>>,
}

impl Reporter {
    pub fn new(quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        Self { lines: shown.then(|| Arc::new(Lines { all: MultiProgress::new(), bars: Mutex::default() })), quiet }
    }

    pub fn listener(&self) -> Listener {
        let (lines, quiet) = (self.lines.clone(), self.quiet);
        Arc::new(move |progress| match (&lines, progress) {
            (Some(lines), progress) => lines.show(progress),
            (None, Progress::Waiting { on }) if !quiet => out::note(&format!("waiting for {on}")),
            (None, Progress::Told { line }) if !quiet => out::note(&shown_line(&line)),
            (None, Progress::Watching { .. }) if !quiet => out::note(WATCHING),
            (None, _) => {}
        })
    }

    pub fn finish(&self) {
        if let Some(lines) = &self.lines {
            // The result says it all again, and better.
            let _ = lines.all.clear();
        }
    }
}

impl Lines {
    fn show(&self, progress: Progress) {
        match progress {
            Progress::Waiting { on } => self.begin("waiting", &format!("waiting for {on}")),
            Progress::Told { line } => {
                // Where nothing can be shown, nobody is told.
                let _ = self.all.println(shown_line(&line));
            }
            Progress::Reading => self.begin("reading", "reading the change"),
            Progress::SeatStarted(seat) => {
                self.end("reading", None);
                self.end("waiting", None);
                self.begin(&seat.to_string(), &format!("{} ({}) is looking", seat.role, seat.agent));
            }
            Progress::SeatFinished { seat, findings, failure } => {
                let text = match failure {
                    None => {
                        format!("✓ {} ({}): {findings} finding{}", seat.role, seat.agent, if findings == 1 { "" } else { "s" })
                    }
                    Some(reason) => format!("✗ {} ({}): {reason}", seat.role, seat.agent),
                };
                self.end(&seat.to_string(), Some(text));
            }
            Progress::Working { what } => {
                self.end("waiting", None);
                self.end("working", None);
                self.begin("working", &what);
            }
            Progress::Watching { .. } => {
                self.end("working", None);
                self.end("publishing", None);
                self.end("waiting", None);
                self.begin("waiting", WATCHING);
            }
            Progress::Publishing { to } => self.begin("publishing", &format!("posting on {to}")),
            Progress::Verifying { agent, findings } => {
                let what = if findings == 1 { "the finding" } else { "the findings" };
                self.begin("verifying", &format!("{agent} tries to refute {what}"));
            }
        }
    }

    fn begin(&self, name: &str, text: &str) {
        let style =
            ProgressStyle::with_template("{spinner} {msg} {elapsed}").unwrap_or_else(|_| ProgressStyle::default_spinner());
        let bar = self.all.add(ProgressBar::new_spinner().with_style(style).with_message(shown_line(text)));
        bar.enable_steady_tick(Duration::from_millis(100));
        if let Ok(mut bars) = self.bars.lock() {
            bars.insert(name.to_owned(), bar);
        }
    }

    fn end(&self, name: &str, text: Option<String>) {
        let bar = self.bars.lock().ok().and_then(|mut bars| bars.remove(name));
        match (bar, text) {
            (Some(bar), Some(text)) => {
                bar.set_style(ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()));
                bar.finish_with_message(shown_line(&text));
            }
            (Some(bar), None) => bar.finish_and_clear(),
            (None, _) => {}
        }
    }
}
