//! Asking whoever sits at the terminal. One reader of standard input for the whole program: a question that was answered elsewhere
//! leaves no reader behind that would swallow the answer to the next one.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::sync::Arc;
use tokio::sync::{Mutex, mpsc};
use tribunal_core::publish::outgoing::masked;
use tribunal_core::publish::visible::on_terminal;
use tribunal_engine::sweep::Asker;

/// Somebody sits there, and can see a question and answer it.
pub fn is_there() -> bool {
    let in_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && !in_ci
}

pub fn asker() -> Asker {
    let (typed, lines) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if typed.send(line).is_err() {
                return;
            }
        }
    });
    let lines = Arc::new(Mutex::new(lines));
    Arc::new(move |question| {
        let lines = Arc::clone(&lines);
        Box::pin(async move {
            // One question at a time stands there.
            let mut lines = lines.lock().await;
            while lines.try_recv().is_ok() {}
            let mut stderr = anstream::stderr();
            let _ = write!(stderr, "\u{1b}[1m?\u{1b}[0m {}", on_terminal(&masked(&question)));
            let _ = stderr.flush();
            lines.recv().await
        })
    })
}
