//! Issue 16, point 19: a change of any size is read within a bound, and what lies beyond it is named.

use super::sandbox::{NO_TLS, NO_TLS_RULE, Sandbox};
use std::fs;
use std::process::Stdio;

/// `n` megabytes of text in files of one megabyte.
fn large(sandbox: &Sandbox, n: usize) {
    let line = "0123456789abcdef0123456789abcdef0123456789abcde\n";
    for file in 0..n {
        sandbox.write(format!("data/{file}.txt"), format!("{file}\n{}", line.repeat(1024 * 1024 / line.len())));
    }
}

#[test]
fn files_beyond_the_limit_for_all_are_named_as_not_reviewed() {
    let sandbox = Sandbox::on_feature();
    sandbox.configure_person("[files]\nmax_total_bytes = 3000000\n");
    large(&sandbox, 5);
    sandbox.write("app.py", NO_TLS);
    sandbox.commit("Large");
    let review = sandbox.review(&[]).ends_with(3);
    let beyond = review.accounts().filter(|account| account["ended"]["not-reviewed"] == "over-total").count();
    assert_eq!((beyond, review.text("outcome")), (3, "incomplete"));
    assert_eq!(review.found(), [format!("app.py:{NO_TLS_RULE}")]);
    assert!(review.notices().contains("3 files were not read"), "{}", review.notices());
}

/// A line takes room however short it is.
#[test]
fn a_file_of_line_ends_alone_is_bounded_too() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("empty.txt", "\n".repeat(2_500_000));
    sandbox.write("app.py", NO_TLS);
    sandbox.commit("Lines");
    let review = sandbox.review(&[]).ends_with(3);
    assert_eq!(review.ended("empty.txt"), "over-total");
    assert_eq!(review.found(), [format!("app.py:{NO_TLS_RULE}")]);
}

/// A version that goes is read as well, so its size counts; a file that goes whole leaves nothing to read.
#[test]
fn what_goes_counts_too() {
    let large = "x\n".repeat(10_000);
    let sandbox = Sandbox::on_feature_from(&[("replaced.txt", &large), ("deleted.txt", &large), ("app.py", "")]);
    sandbox.configure_person("[files]\nmax_bytes = 10000\n");
    sandbox.write("replaced.txt", "y\n");
    fs::remove_file(sandbox.path().join("deleted.txt")).unwrap();
    sandbox.write("app.py", "x = 1\n");
    sandbox.commit("Away");
    let review = sandbox.review(&[]).ends_with(3);
    assert_eq!((review.ended("replaced.txt"), review.ended("deleted.txt")), ("too-large".to_owned(), "deleted".to_owned()));
}

/// Memory follows what is read, not what the change holds.
#[test]
#[cfg(target_os = "linux")]
fn memory_is_bounded_whatever_the_change_holds() {
    let sandbox = Sandbox::on_feature();
    sandbox.configure_person("[files]\nmax_total_bytes = 4000000\n");
    large(&sandbox, 160);
    sandbox.write("app.py", NO_TLS);
    sandbox.commit("Very large");
    let mut command = sandbox.command(&["review", "--format", "json"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut peak = 0_u64;
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let told = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse().ok());
        peak = peak.max(told.unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert!(peak > 0 && peak < 160 * 1024, "peak of {peak} kB");
}
