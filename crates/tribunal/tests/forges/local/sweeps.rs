//! A fleet on a plain git repository, without any server.

use super::super::sweeps::ends::{assert_once, first_words, reported, written};
use super::super::sweeps::killing::{Killing, Victim, steps};
use super::super::sweeps::money::{PARTS, Till};
use super::super::town::Said;
use super::Plain;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const SHOP: &str = "def total(items):\n    return sum(items)\n\n\ndef count(items):\n    return len(items)\n\n\ndef first(items):\n    return items[0]\n";
const CONFIG: &str = "[merge]\nverified_by = \"rules\"\n[wait]\npoll = \"1s\"\n";
const CRITERIA: &str = "### Acceptance Criteria\n\n- it is there\n";
// Numbers of the pull requests.
const SETTINGS: u64 = 7;
const PRICES: u64 = 8;
const BASKET: u64 = 9;
const RECEIPTS: u64 = 10;
const TAX: u64 = 11;
const NOTES: u64 = 12;

impl Plain {
    /// An epic (#1), five stories of SPEC-0001 (#2 to #6), and six pull requests (#7 to #12).
    fn with_fleet() -> Plain {
        let plain = Plain::new();
        plain.git(&["checkout", "--quiet", "main"]);
        std::fs::create_dir_all(plain.repository().join("docs/openspec/specs/shop")).unwrap();
        plain.commit("docs/openspec/specs/shop/spec.md", "# SPEC-0001: The shop\n", "spec");
        plain.commit("docs/openspec/specs/shop/design.md", "# Design\n", "design");
        plain.commit(".tribunal.toml", CONFIG, "configuration");
        plain.commit("shop.py", SHOP, "shop");
        plain.tribunal(&["pr", "issue", "open", "--title", "SPEC-0001: The shop", "--body", "All of it."]).ended(0);
        for title in ["Settings", "Prices", "Basket", "Receipts", "Tax"] {
            let body = format!("For SPEC-0001. Part of #1\n\n{CRITERIA}");
            plain.tribunal(&["pr", "issue", "open", "--title", title, "--body", &body]).ended(0);
        }
        let unsafe_load = "import yaml\n\n\ndef load(text):\n    return yaml.load(text)\n";
        plain.send("settings", "main", &[("settings.py", unsafe_load)], "Fixes #2. Part of #1, for SPEC-0001.");
        let rounded = SHOP.replace("sum(items)", "round(sum(items), 2)");
        plain.send("prices", "main", &[("shop.py", &rounded)], "Fixes #3. Part of #1, for SPEC-0001.");
        let empty = SHOP.replace("items[0]", "items[0] if items else None");
        let basket = [("shop.py", empty.as_str()), ("basket.md", "A basket.\n")];
        plain.send("basket", "main", &basket, "Fixes #4. Part of #1, for SPEC-0001.");
        let body = "Fixes #5. Depends on #8. Part of #1, for SPEC-0001.";
        plain.send("receipts", "prices", &[("receipts.md", "A receipt.\n")], body);
        plain.send("tax", "main", &[("tax.py", "RATE = 19\n")], "Fixes #6. Part of #1, for SPEC-0001.");
        let marked = "<<<<<<< HEAD\nopen\n=======\nclosed\n>>>>>>> other\n";
        plain.send("notes", "main", &[("NOTES.txt", marked)], "Part of #1, for SPEC-0001.");
        plain.tribunal(&["pr", "check", "11", "build", "--state", "failure"]).ended(0);
        plain
    }

    fn send(&self, branch: &str, from: &str, files: &[(&str, &str)], body: &str) {
        self.git(&["checkout", "--quiet", "-b", branch, from]);
        for (path, text) in files {
            std::fs::write(self.repository().join(path), text).unwrap();
        }
        self.git(&["add", "-A"]);
        self.git(&["commit", "--quiet", "-m", branch]);
        // A branch that is checked out would be moved under somebody's hands.
        self.git(&["checkout", "--quiet", "main"]);
        self.tribunal(&["pr", "open", "--head", branch, "--base", "main", "--title", branch, "--body", body]).ended(0);
    }

    fn show(&self, number: u64) -> Value {
        self.tribunal(&["pr", "show", &number.to_string(), "--json"]).ended(0).json()
    }

    fn state(&self, number: u64) -> String {
        self.show(number)["pull"]["state"].as_str().unwrap_or_default().to_owned()
    }

    fn sweep(&self, more: &[&str]) -> Said {
        let words = ["sweep", "SPEC-0001", "--format", "json"];
        self.tribunal(&words.iter().chain(more).copied().collect::<Vec<_>>())
    }

    /// What stands after a sweep with `--merge`, whatever happened on the way.
    fn assert_swept(&self) {
        for number in [SETTINGS, PRICES, BASKET, RECEIPTS] {
            assert_eq!(self.state(number), "merged", "#{number}");
        }
        for number in [TAX, NOTES] {
            assert_eq!(self.state(number), "open", "#{number}");
        }
        let shop = self.printed(&["show", "main:shop.py"]);
        assert!(shop.contains("round(sum(items), 2)") && shop.contains("if items else None"), "{shop}");
        assert!(self.printed(&["show", "main:settings.py"]).contains("yaml.safe_load(text)"));
        // One commit for each, and for nothing else.
        let log = self.printed(&["log", "--format=%s", "main"]);
        let merged =
            ["settings", "prices", "basket", "receipts"].map(|name| log.lines().filter(|line| line.contains(name)).count());
        assert_eq!(merged, [1, 1, 1, 1], "{log}");
        for number in [SETTINGS, PRICES, BASKET, RECEIPTS, TAX, NOTES] {
            let shown = self.show(number);
            // What looks like a key is masked in what is printed, seals too: a verdict is known by the head that it is of.
            let bodies = |name: &str| -> Vec<String> {
                let all = shown[name].as_array().unwrap().iter().filter(|said| said["body"] != "");
                all.map(|said| format!("{} {}", said["commit"], said["body"])).collect()
            };
            let mut said = [bodies("comments"), bodies("reviews")].concat();
            let count = said.len();
            said.sort();
            said.dedup();
            assert_eq!(said.len(), count, "something was said twice on #{number}: {said:#?}");
        }
    }
}

fn row(report: &Value, number: u64) -> &Value {
    report["pulls"].as_array().unwrap().iter().find(|row| row["number"] == number).unwrap_or_else(|| panic!("{report:#}"))
}

/// Issue 7: the whole story without a server: by spec, merged in order, swept again without a trace, mended, and the epic closed.
#[test]
fn a_fleet() {
    let plain = Plain::with_fleet();
    let report = plain.sweep(&["--merge"]).ended(1).json();
    for number in [SETTINGS, PRICES, BASKET, RECEIPTS] {
        assert_eq!(row(&report, number)["status"], "complete", "{report:#}");
    }
    assert_eq!((&row(&report, TAX)["status"], &row(&report, NOTES)["status"]), (&"checks-failing".into(), &"rejected".into()));
    plain.assert_swept();
    let before = [plain.show(TAX), plain.show(NOTES)];
    plain.sweep(&["--merge"]).ended(1);
    assert_eq!([plain.show(TAX), plain.show(NOTES)], before, "a second sweep changed something");

    plain.tribunal(&["pr", "check", "11", "build", "--state", "success"]).ended(0);
    plain.git(&["checkout", "--quiet", "notes"]);
    plain.commit("NOTES.txt", "open\n", "resolved");
    plain.git(&["checkout", "--quiet", "main"]);
    let report = plain.sweep(&["--merge"]).ended(0).json();
    assert!(report["epics"].as_array().unwrap().iter().any(|epic| epic["number"] == 1 && epic["closed"] == true), "{report:#}");
    let epic = plain.tribunal(&["pr", "issue", "show", "1", "--json"]).ended(0).json();
    assert_eq!(epic["issue"]["open"], false, "{epic:#}");
    // SL-29, SL-96: nothing is left to do, and that is said.
    assert_eq!(plain.sweep(&["--merge"]).ended(0).json()["stop"], "nothing_open");
}

/// SL-28: what nobody named is asked for; by label and by words only those are meant.
#[test]
fn targets_are_named() {
    let plain = Plain::with_fleet();
    let nothing = plain.tribunal(&["sweep"]).ended(2);
    assert!(nothing.stderr.contains("SPEC-0001") && nothing.stderr.contains("--label"), "{}", nothing.stderr);
    plain.tribunal(&["sweep", "SPEC-1"]).ended(2);
    plain.tribunal(&["sweep", "SPEC-0001", "7"]).ended(2);
    plain.tribunal(&["sweep", "7", "--max-prs", "3"]).ended(2);
    plain.tribunal(&["sweep", "7", "--label", "x"]).ended(2);
    plain.tribunal(&["sweep", "7", "--merge", "--no-merge"]).ended(2);
    plain.tribunal(&["pr", "label", "8", "add", "ready"]).ended(0);
    let numbers = |words: &[&str]| {
        let said = plain.tribunal(&[&["sweep", "--dry-run", "--format", "json"], words].concat());
        said.json()["pulls"].as_array().unwrap().iter().map(|row| row["number"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&["--label", "ready"]), [PRICES]);
    assert_eq!(numbers(&["--search", "spec-0001 tax"]), [TAX]);
    assert_eq!(numbers(&["10", "#9"]), [BASKET, RECEIPTS]);
    assert_eq!(numbers(&["--open"]).len(), 6);
}

/// SL-47, SL-57: a branch that somebody stands on is left alone while work lies there; the rest goes on.
#[test]
fn uncommitted_work_is_left_alone() {
    let plain = Plain::with_fleet();
    plain.git(&["checkout", "--quiet", "settings"]);
    let file = plain.repository().join("settings.py");
    let mine = std::fs::read_to_string(&file).unwrap() + "# mine\n";
    std::fs::write(&file, &mine).unwrap();
    let report = plain.sweep(&["--merge"]).json();
    assert_ne!(row(&report, SETTINGS)["status"], "complete", "{report:#}");
    assert_eq!(row(&report, PRICES)["status"], "complete", "{report:#}");
    assert_eq!((std::fs::read_to_string(&file).unwrap(), plain.state(SETTINGS).as_str()), (mine, "open"));
}

impl Plain {
    fn budget(&self) -> PathBuf {
        self.repository().join(".git/tribunal/sweep/review.budget.json")
    }

    fn start_loop(&self, resumes: bool) -> Child {
        let mut command = self.command(env!("CARGO_BIN_EXE_tribunal"));
        command.args(["sweep", "--loop", "--merge", "--max-iterations", "2", "--every", "1s", "--answer-within", "1s"]);
        command.args(["--format", "json"]).args(resumes.then_some("--resume")).args(["7", "8", "9", "10", "11", "12"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// What a loop says and wrote, and what stands when it is over.
    fn end(&self, report: &Value) -> Value {
        let numbers = [SETTINGS, PRICES, BASKET, RECEIPTS, TAX, NOTES];
        let issues = (1..=6).map(|number: u64| {
            let shown = self.tribunal(&["pr", "issue", "show", &number.to_string(), "--json"]).ended(0).json();
            json!([shown["issue"]["open"], shown["comments"].as_array().map(Vec::len)])
        });
        let pulls = numbers.map(|number| {
            let shown = self.show(number);
            let said = self.said(number, &shown);
            json!([number, shown["pull"]["state"], said])
        });
        json!({
            "reported": reported(report, &numbers.map(|number| ("", number))),
            "written": written(&self.budget()),
            "issues": issues.collect::<Vec<_>>(),
            "pulls": pulls,
            "trunk": self.printed(&["log", "--reverse", "--first-parent", "--format=%s", "main"]),
        })
    }

    /// Everything that stands on a pull request; exactly one verdict for each head.
    fn said(&self, number: u64, shown: &Value) -> Vec<String> {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let words = |said: &Value| first_words(said["body"].as_str().unwrap_or_default());
        let reviews: Vec<Value> = list(&shown["reviews"]).into_iter().filter(|review| review["body"] != "").collect();
        let mut heads: Vec<&Value> = Vec::new();
        let mut all = Vec::new();
        for review in &reviews {
            if words(review).starts_with("VERDICT") {
                assert!(!heads.contains(&&review["commit"]), "a head of #{number} was judged twice: {reviews:#?}");
                heads.push(&review["commit"]);
            }
            all.push(format!("{} of head {}: {}", review["state"], heads.len(), words(review)));
        }
        all.extend(list(&shown["comments"]).iter().map(|comment| format!("comment: {}", words(comment))));
        for thread in list(&shown["threads"]) {
            let replies = list(&thread["comments"]);
            all.extend(replies.iter().map(|reply| format!("in {}, {}: {}", thread["path"], thread["resolved"], words(reply))));
        }
        assert_once(number, &all);
        all
    }
}

/// Issue 7: killed at twenty random moments, and resumed each time, a loop comes to the same end as one that nobody disturbs.
#[tokio::test(flavor = "multi_thread")]
async fn a_loop_that_is_killed() {
    const KILLS: usize = 20;
    let ledger = |plain: &Plain| plain.repository().join(".git/tribunal");
    let state = |plain: &Plain| plain.repository().with_file_name("home").join(".local/state/tribunal");
    let plain = Plain::with_fleet();
    let begun = Instant::now();
    let report = Said::of(plain.start_loop(false).wait_with_output().unwrap()).ended(1).json();
    let lasts = begun.elapsed();
    let undisturbed = plain.end(&report);
    assert_eq!(undisturbed["reported"]["end"], json!(["iteration_budget", "max-iterations-reached", 1]), "{undisturbed:#}");
    plain.assert_swept();

    let mut killing = Killing::new(lasts, steps(&ledger(&plain), &state(&plain), &report).await);
    while killing.count() < KILLS {
        let plain = Plain::with_fleet();
        let victim = Victim { start: &|resumes| plain.start_loop(resumes), ledger: ledger(&plain), state: state(&plain) };
        let said = killing.drive(&victim, KILLS).await;
        assert!(said.json()["exit_code"] == said.code || said.code == -1, "{said:?}");
        assert_eq!(plain.end(&said.json()), undisturbed, "killed at {:#?}", killing.stages);
        plain.assert_swept();
    }
    killing.assert_spread();
}

/// SL-134 #8: what is under way comes to its end, nothing new is begun, and the one report says so.
#[test]
fn an_interrupt_drains() {
    let plain = Plain::with_fleet();
    let mut command = plain.command(env!("CARGO_BIN_EXE_tribunal"));
    command.args(["sweep", "SPEC-0001", "--merge", "--format", "json"]).stdin(Stdio::null());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lock = plain.repository().join(".git/tribunal/sweep/review.lock");
    let begun = Instant::now();
    while !lock.exists() && begun.elapsed() < Duration::from_secs(180) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let signalled = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(signalled.success());
    let said = Said::of(child.wait_with_output().unwrap()).ended(130);
    assert_eq!(said.json()["stop"], "interrupted", "{}", said.stdout);
    assert!(!lock.exists(), "the lock was left behind");
    // The next one begins anew, and comes to the end.
    plain.sweep(&["--merge"]).ended(1);
    plain.assert_swept();
}

/// SL-12 to SL-15, issue 7: a ceiling of half a dollar is never passed by a model that costs seven cents a call, whether one pair is at
/// work or two, also when the loop is killed in between; and it is the ceiling that ends it.
#[test]
fn a_ceiling_is_never_passed() {
    for (pairs, is_killed) in [(1, false), (2, false), (1, true), (2, true)] {
        let (till, plain) = (Till::open(), Plain::new());
        plain.git(&["checkout", "--quiet", "main"]);
        plain.commit(".tribunal.toml", CONFIG, "configuration");
        for at in 0..PARTS {
            plain.send(&format!("part-{at}"), "main", &[(&format!("part_{at}.py"), &format!("PART = {at}\n"))], "A part.");
        }
        let folder = plain.folder.path().join("home/.config/tribunal");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config.toml"), till.config()).unwrap();
        let budget = plain.folder.path().join("loop/review.budget.json");
        let words = [Till::words(&budget.display().to_string(), pairs), vec!["--open".to_owned()]].concat();
        let start = |resumes: bool| {
            let mut command = plain.command(env!("CARGO_BIN_EXE_tribunal"));
            command.args(&words).args(resumes.then_some("--resume"));
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let said = match is_killed {
            false => Said::of(start(false).wait_with_output().unwrap()),
            true => till.killed(&start),
        };
        till.assert_kept(said, &budget, 0, is_killed);
    }
}
