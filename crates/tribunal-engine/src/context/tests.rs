use super::*;
use std::process::Command;
use tribunal_core::policy::config::ReadLimits;
use tribunal_core::prompt::pieces::PieceKind;
use tribunal_forge::git::change::ChangeBase;

fn git(folder: &std::path::Path, args: &[&str]) {
    let own = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"];
    assert!(Command::new("git").current_dir(folder).args(own).args(args).status().unwrap().success(), "{args:?}");
}

/// A repository with two commits: these files, and then those of them that change; empty text deletes.
fn gathered(before: &[(&str, &str)], after: &[(&str, &str)]) -> Gathered {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet"]);
    for files in [before, after] {
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            if text.is_empty() { std::fs::remove_file(path).unwrap() } else { std::fs::write(path, text).unwrap() }
        }
        git(folder.path(), &["add", "-A"]);
        git(folder.path(), &["commit", "--quiet", "-m", "work"]);
    }
    let repository = Repository::discover(folder.path()).unwrap();
    let (base, head) = (repository.commit("HEAD~1").unwrap(), repository.commit("HEAD").unwrap());
    let read = repository.read_change(ChangeBase::commit(&base), &head, ReadLimits::default()).unwrap();
    let files: Vec<&ChangedFile> = read.change.files.iter().collect();
    let limits = ContextLimits { time: Duration::from_secs(60), ..ContextLimits::default() };
    gather(Some((&repository, &head)), &files, limits)
}

fn reasons(gathered: &Gathered, kind: PieceKind) -> Vec<String> {
    let of_kind = gathered.candidates.iter().filter(|candidate| candidate.kind == kind);
    of_kind.map(|candidate| format!("{} {}: {}", candidate.path, candidate.lines[0].0, candidate.reason)).collect()
}

const PRICE: &str = "from lib.tax import Rate, rate_of\n\ndef price(item):\n    base = item.net\n    fee = 1\n    extra = 2\n    other = 3\n    total = base\n    return total\n";

#[test]
fn a_changed_function_is_given_with_who_calls_it_and_what_it_calls() {
    let after = PRICE.replace("total = base", "total = base * rate_of(item, Rate())");
    let gathered = gathered(
        &[
            ("shop/price.py", PRICE),
            ("lib/tax.py", "class Rate:\n    pass\n\ndef rate_of(item, rate):\n    return 2\n"),
            ("shop/cart.py", "def total(items):\n    return sum(price(item) for item in items)\n"),
            ("shop/unrelated.py", "def other():\n    return 'the price of it'\n"),
            ("tests/test_price.py", "def test_price():\n    assert price(1) == 2\n"),
            (".hidden/use.py", "def hidden():\n    return price(1)\n"),
            (
                "deploy/secret.py",
                "TOKEN = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'\ndef leak():\n    return price('ghp_0123456789abcdefghijABCDEFGHIJ012345')\n",
            ),
        ],
        &[("shop/price.py", &after)],
    );
    assert_eq!(reasons(&gathered, PieceKind::Definition), ["shop/price.py 3: all of price"]);
    let callers = reasons(&gathered, PieceKind::Caller);
    assert_eq!(callers[0], "shop/cart.py 1: total calls price");
    assert!(!callers.iter().any(|caller| caller.contains(".hidden")), "{callers:?}");
    assert_eq!(reasons(&gathered, PieceKind::Test), ["tests/test_price.py 1: test_price tests price"]);
    assert_eq!(reasons(&gathered, PieceKind::Callee), ["lib/tax.py 4: price calls rate_of"]);
    assert_eq!(reasons(&gathered, PieceKind::Type)[0], "lib/tax.py 1: price makes Rate");
    let texts: String =
        gathered.candidates.iter().flat_map(|candidate| &candidate.lines).map(|(_, text)| text.as_str()).collect();
    assert!(!texts.contains("ghp_0123"), "a key of unchanged code is given to nobody");
    assert!(!gathered.is_cut);
}

#[test]
fn who_still_uses_a_removed_function_is_given() {
    let gathered = gathered(
        &[
            ("a.go", "package a\n\nfunc Old(x int) int {\n\treturn x\n}\n\nfunc New() int {\n\treturn 1\n}\n"),
            ("b.go", "package a\n\nfunc Use() int {\n\treturn Old(1)\n}\n"),
        ],
        &[("a.go", "package a\n\nfunc New() int {\n\treturn 1\n}\n")],
    );
    assert_eq!(reasons(&gathered, PieceKind::Caller), ["b.go 3: Use uses Old, which the change removes"]);
}

#[test]
fn a_constructor_is_used_by_the_name_of_its_type() {
    let before = "class Job:\n    def __init__(self, name):\n        self.name = name\n";
    let gathered = gathered(
        &[("job.py", before), ("main.py", "def main():\n    Job('x')\n")],
        &[("job.py", &before.replace("= name", "= name.strip()"))],
    );
    assert_eq!(reasons(&gathered, PieceKind::Caller), ["main.py 1: main calls __init__"]);
}

#[test]
fn limits_are_kept_and_told() {
    let folder = [("a.py", "def f():\n    return 1\n")];
    let read = tribunal_core::diff::parse::parse_diff(
        b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n def f():\n-    return 0\n+    return 1\n",
    );
    let mut change = read.unwrap();
    change.files[0].new_text = Some(folder[0].1.into());
    let files: Vec<&ChangedFile> = change.files.iter().collect();
    assert!(!gather(None, &files, ContextLimits::default()).is_cut, "a bare diff has what its files hold");
    assert!(gather(None, &files, ContextLimits { symbols: 0, ..ContextLimits::default() }).is_cut);
    assert!(gather(None, &files, ContextLimits { time: Duration::ZERO, ..ContextLimits::default() }).symbols.len() == 1);
}
