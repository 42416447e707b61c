use super::*;
use proptest::prelude::*;

fn parse(text: &str) -> Vec<ChangedFile> {
    parse_diff(text.as_bytes()).unwrap().files
}

#[test]
fn renames_keep_both_names_and_mode_changes_have_no_hunks() {
    let files = parse(
        "diff --git a/old.rs b/new.rs\nsimilarity index 90%\nrename from old.rs\nrename to new.rs\nindex 1..2 100644\n--- a/old.rs\n+++ b/new.rs\n@@ -1 +1 @@\n-a\n+b\n\
         diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n",
    );
    assert_eq!((files[0].path.as_str(), files[0].status), ("new.rs", FileStatus::Renamed));
    assert_eq!(files[0].old_path.as_ref().unwrap().as_str(), "old.rs");
    assert!(files[1].hunks.is_empty());
    assert_eq!(files[1].new_mode.as_deref(), Some("100755"));
}

#[test]
fn binary_empty_and_deleted_files_are_told_apart() {
    let files = parse(
        "diff --git a/a.png b/a.png\nindex 1..2 100644\nBinary files a/a.png and b/a.png differ\n\
         diff --git a/empty b/empty\nnew file mode 100644\nindex 0000000..e69de29\n\
         diff --git a/gone.c b/gone.c\ndeleted file mode 100644\nindex 1..0\n--- a/gone.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-int x;\n",
    );
    assert_eq!(files[0].content, FileContent::Binary);
    assert_eq!((files[1].status, files[1].content), (FileStatus::Added, FileContent::Text));
    assert_eq!(files[2].status, FileStatus::Deleted);
    assert_eq!(files[2].removed_lines().count(), 1);
}

#[test]
fn line_ends_and_bytes_that_are_not_text_do_no_harm() {
    let bytes = b"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n-x\r\n+caf\xe9\r\n+y\n\\ No newline at end of file\n";
    let file = &parse_diff(bytes).unwrap().files[0];
    let added: Vec<&str> = file.added_lines().map(|line| line.text.as_str()).collect();
    assert_eq!(added, ["caf\u{fffd}", "y"]);
}

#[test]
fn quoted_paths_are_unquoted_and_broken_bytes_stay_unique() {
    let files =
        parse("diff --git \"a/new\\nline\" \"b/new\\nline\"\n--- \"a/new\\nline\"\n+++ \"b/new\\nline\"\n@@ -0,0 +1 @@\n+x\n");
    assert_eq!(files[0].path.as_str(), "new\nline");
    assert_ne!(text_of(b"a\xff"), text_of(b"a\xfe"));
}

#[test]
fn a_submodule_is_not_text() {
    let files = parse(
        "diff --git a/sub b/sub\nindex 1111111111111111111111111111111111111111..2222222222222222222222222222222222222222 160000\n--- a/sub\n+++ b/sub\n@@ -1 +1 @@\n\
         -Subproject commit 1111111111111111111111111111111111111111\n+Subproject commit 2222222222222222222222222222222222222222\n",
    );
    assert_eq!(files[0].content, FileContent::Submodule);
}

/// Issue 3, point 2: a path is the repository's, however the diff was set to show it.
#[test]
fn the_two_sides_prefixes_are_no_part_of_a_path() {
    let mnemonic = "diff --git c/src/n.py w/src/n.py\n--- c/src/n.py\n+++ w/src/n.py\n@@ -1 +1 @@\n-a\n+b\n\
         diff --git c/w/new.py w/w/new.py\nnew file mode 100644\n--- /dev/null\n+++ w/w/new.py\n@@ -0,0 +1 @@\n+b\n";
    let paths = |diff: &str| parse(diff).into_iter().map(|file| (file.path.0, file.old_path)).collect::<Vec<_>>();
    assert_eq!(paths(mnemonic), [("src/n.py".into(), None), ("w/new.py".into(), None)]);
    let none = "diff --git a/n.py a/n.py\n--- a/n.py\n+++ a/n.py\n@@ -1 +1 @@\n-a\n+b\n\
         diff --git b/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+b\n";
    assert_eq!(paths(none), [("a/n.py".into(), None), ("b/new.py".into(), None)]);
}

#[test]
fn content_that_looks_like_a_header_is_content() {
    let files = parse("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n--- b/x\n+++ b/y\n z\n");
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].added_lines().next().unwrap().text, "++ b/y");
    assert_eq!(files[0].removed_lines().next().unwrap().text, "-- b/x");
}

fn refused(text: &str) -> Option<String> {
    match parse_diff(text.as_bytes()) {
        Err(DiffError::Series(path)) => Some(path.0),
        Err(other) => panic!("{other}"),
        Ok(_) => None,
    }
}

/// Design rules 1 and 13: a file that stands in a diff in two states is never read in one of them alone.
#[test]
fn several_commits_are_not_read_as_one_change() {
    let first = "diff --git a/n.py b/n.py\nnew file mode 100644\n--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+a\n";
    let second = "diff --git a/n.py b/n.py\n--- a/n.py\n+++ b/n.py\n@@ -1 +1 @@\n-a\n+b\n";
    let moved = "diff --git a/n.py b/m.py\nsimilarity index 100%\nrename from n.py\nrename to m.py\n";
    let commit = |n: u32| format!("commit {n:040}\nAuthor: Ada\n\n    Work\n\n");
    assert_eq!(refused(&format!("{first}{second}")).unwrap(), "n.py");
    assert_eq!(refused(&format!("{}{moved}{}{second}", commit(2), commit(1))).unwrap(), "n.py");
    assert_eq!(refused(&format!("{second}{moved}")).unwrap(), "n.py");
    assert_eq!(refused(&format!("{}{first}{}{moved}", commit(1), commit(2))).unwrap(), "n.py");
    assert_eq!(refused(&format!("{}{first}{}{}", commit(1), commit(2), second.replace("n.py", "o.py"))), None);
}

/// One diff may name a path on both ends of a rename, and shows a changed type as two steps.
#[test]
fn one_diff_is_no_series() {
    let renamed =
        |from: &str, to: &str| format!("diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n");
    assert_eq!(refused(&format!("{}{}", renamed("a", "b"), renamed("b", "a"))), None);
    let linked = "diff --git a/l b/l\ndeleted file mode 100644\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
         diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+target\n\\ No newline at end of file\n";
    let files = parse(linked);
    assert_eq!((files.len(), files[0].content), (1, FileContent::Symlink));
}

/// A hunk that belongs to no file would be a part of the change that nobody reads.
#[test]
fn a_hunk_without_a_file_is_refused() {
    let git = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n";
    let plain = "--- c\n+++ c\n@@ -1 +1 @@\n-c\n+d\n";
    assert!(matches!(parse_diff(format!("{git}{plain}").as_bytes()), Err(DiffError::Malformed(_))));
}

/// Conflict hunks in a work tree are ordinary added lines.
#[test]
fn conflict_hunks_are_added_lines() {
    let files = parse("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1,5 @@\n+<<<<<<< ours\n x\n+=======\n+y\n+>>>>>>> theirs\n");
    assert_eq!(files[0].added_lines().count(), 4);
}

#[test]
fn what_is_no_diff_is_refused_with_a_reason() {
    assert!(matches!(parse_diff(b"hello\nworld\n"), Err(DiffError::NotADiff(line)) if line == "hello"));
    assert_eq!(parse_diff(b"\x1b[1mdiff --git a/a b/a\x1b[m\n"), Err(DiffError::Coloured));
    assert_eq!(parse_diff(b"diff --cc a\nindex 1,2..3\n"), Err(DiffError::Combined));
    assert!(matches!(parse_diff(b"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,5 +1,5 @@\n x\n"), Err(DiffError::Malformed(_))));
    for header in ["@@ -0,1 +1,2 @@", "@@ -1 +0,2 @@", "@@ -4294967295,1 +1,2 @@", "@@ -1 +99999999999,2 @@"] {
        let diff = format!("diff --git a/a b/a\n--- a/a\n+++ b/a\n{header}\n x\n+y\n");
        assert!(matches!(parse_diff(diff.as_bytes()), Err(DiffError::Malformed(_))), "{header}");
    }
    assert_eq!(parse_diff(b" \n").unwrap(), Change::default());
}

#[test]
fn lines_are_numbered_on_both_sides() {
    let files = parse("--- a/a\n+++ b/a\n@@ -10,3 +20,3 @@ fn f\n one\n-two\n+2\n three\n");
    let numbers: Vec<_> = files[0].lines().map(|line| (line.old_line, line.new_line)).collect();
    assert_eq!(numbers, [(Some(10), Some(20)), (Some(11), None), (None, Some(21)), (Some(12), Some(22))]);
    assert_eq!(files[0].hunk_heading(21), Some("fn f"));
}

proptest! {
    /// Hostile input never panics.
    #[test]
    fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse_diff(&bytes);
    }

    #[test]
    fn broken_diffs_never_panic(text in "(diff --git a/a b/a\n)?(--- a/a\n)?(\\+\\+\\+ b/a\n)?@@ -[0-9]{1,3},[0-9]{1,3} \\+[0-9]{1,3},[0-9]{1,3} @@\n([ +-][a-z]{0,5}\n){0,6}") {
        let _ = parse_diff(text.as_bytes());
    }
}
