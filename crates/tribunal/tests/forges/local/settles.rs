//! A plan of tasks on a plain git repository, without any server.

use super::Plain;
use fake_forge_base::{Draft, JsonSchema};
use serde_json::{Value, json};
use std::path::PathBuf;

impl Plain {
    /// An issue (#1), a clean pull request that closes it (#2), and a plan with that one task.
    fn with_plan() -> Plain {
        let plain = Plain::new();
        std::fs::write(plain.repository().join(".git/info/exclude"), ".hall-cache\n").unwrap();
        plain.tribunal(&["pr", "issue", "open", "--title", "Cart", "--body", "It must add up."]).ended(0);
        plain.commit("cart.py", "def total(items):\n    return sum(items)\n", "cart");
        plain.tribunal(&["pr", "open", "--title", "Cart", "--body", "Closes #1"]).ended(0);
        plain.git(&["checkout", "--quiet", "main"]);
        let plan = json!({
            "id": "2026-01-31-shop", "created_at": "2026-01-31T12:00:00Z", "repo": "acme/shop", "invoker": "ann",
            "tasks": [{
                "id": "t1", "title": "Cart", "specialist": "sdet", "mode": "doing", "status": "IN_PROGRESS", "github_issue": 1,
            }],
        });
        plain.write("plans/2026-01-31-shop/plan.json", &serde_json::to_string_pretty(&plan).unwrap());
        plain
    }

    fn cache(&self, name: &str) -> PathBuf {
        self.repository().join(".hall-cache").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.cache(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    fn plan(&self) -> Value {
        serde_json::from_str(&std::fs::read_to_string(self.cache("plans/2026-01-31-shop/plan.json")).unwrap()).unwrap()
    }
}

/// TS-34: without `--plan` the plan of the lexicographically last folder is settled, and what lies beside it is nobody's to touch.
/// TS-40: after a review the file is what the published schema says.
#[test]
fn the_newest_plan_is_settled() {
    let plain = Plain::with_plan();
    plain.tribunal(&["settle", "--plan", "gone.json"]).ended(2);
    // Neither an older plan nor a folder without one is taken.
    plain.write("plans/2025-12-31-other/plan.json", "no plan at all");
    plain.write("plans/2026-02-01-later/plan.md", "Nothing is planned yet.\n");
    let beside = ["plan.md", "ledger.json", "consultations/why.md"].map(|name| format!("plans/2026-01-31-shop/{name}"));
    beside.iter().for_each(|name| plain.write(name, "somebody's own words\n"));

    let report = plain.tribunal(&["settle", "--level", "1", "--format", "json"]).ended(0).json();
    assert_eq!((report["plan"].as_str(), report["reviewed"].as_u64()), (Some("2026-01-31-shop"), Some(1)), "{report:#}");
    let (plan, task) = (plain.plan(), plain.plan()["tasks"][0].clone());
    assert_eq!((task["status"].as_str(), task["needs_review"].as_bool()), (Some("REVIEWING"), Some(false)), "{task:#}");
    assert_eq!((task["review_cycle"].as_u64(), task["verdict"].as_str()), (Some(1), Some("LGTM")), "{task:#}");
    for name in beside {
        assert_eq!(std::fs::read_to_string(plain.cache(&name)).unwrap(), "somebody's own words\n");
    }
    let schema: Value = plain.tribunal(&["schema", "plan"]).ended(0).json();
    let schema = JsonSchema::new(&schema, Draft::V2020_12).unwrap();
    let wrong: Vec<String> = schema.misfits(&plan).iter().map(ToString::to_string).collect();
    assert_eq!(wrong, Vec::<String>::new());
    let mut other = plan.clone();
    other["tasks"][0]["status"] = "WORKING".into();
    assert!(!schema.misfits(&other).is_empty());
}

/// Issue 16: a branch brings no plan of its own, and a plan that somebody names there sets no level.
#[test]
fn a_plan_of_the_branch_is_nobodys_word() {
    let plain = Plain::with_plan();
    let mut plan = plain.plan();
    plan["automation_level"] = 2.into();
    plain.write("plans/2026-01-31-shop/plan.json", &serde_json::to_string_pretty(&plan).unwrap());
    plain.write("session/config.json", "{\"automation_level\": 2}");
    let settle = |more: &[&str]| {
        let words = ["settle", "--dry-run", "--format", "json"];
        plain.tribunal(&words.iter().chain(more).copied().collect::<Vec<_>>())
    };
    assert_eq!(settle(&[]).json()["level"], 2, "nobody's file but the person's");
    plain.git(&["checkout", "--quiet", "-b", "other"]);
    plain.git(&["add", "--force", ".hall-cache"]);
    plain.git(&["commit", "--quiet", "-m", "a plan"]);
    let said = settle(&[]).ended(2);
    assert!(said.stderr.contains("git tracks") && said.stderr.contains("--plan"), "{}", said.stderr);
    let file = plain.cache("plans/2026-01-31-shop/plan.json");
    assert_eq!(settle(&["--plan", file.to_str().unwrap()]).json()["level"], 0);
    assert_eq!(settle(&["--plan", file.to_str().unwrap(), "--level", "1"]).json()["level"], 1);
    // Nor does a link that the branch brings, to a file that it does not.
    let (outside, link) = (plain.folder.path().join("outside.json"), plain.repository().join("plan.json"));
    std::fs::copy(&file, &outside).unwrap();
    assert_eq!(settle(&["--plan", outside.to_str().unwrap()]).json()["level"], 2, "the person's own");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    plain.git(&["add", "plan.json"]);
    assert_eq!(settle(&["--plan", link.to_str().unwrap()]).json()["level"], 0);
}

/// TS-28, TS-31, TS-33: who has said a level is asked in this order: the flag, the plan, its session, the configuration; nobody is level 0.
/// What the plan remembers is changed only by somebody who says that it is meant.
#[test]
fn a_plan_has_its_level() {
    let plain = Plain::with_plan();
    let level = |more: &[&str]| {
        let words = ["settle", "--dry-run", "--format", "json"];
        let said = plain.tribunal(&words.iter().chain(more).copied().collect::<Vec<_>>());
        (said.json()["level"].as_u64().unwrap(), said.code)
    };
    assert_eq!(level(&[]), (0, 1), "it is due, and somebody must start it");
    plain.commit(".tribunal.toml", "[settle]\nlevel = 1\n", "configuration");
    assert_eq!(level(&[]), (1, 0));
    plain.write("session/config.json", r#"{ "automation_level": 2, "local_mode": false, "board_project_number": 4 }"#);
    assert_eq!(level(&[]), (2, 0));
    plain.write("session/config.json", r#"{ "automation_level": 2, "local_mode": true }"#);
    assert_eq!((level(&[]), level(&["--level", "1"])), ((0, 1), (1, 0)));
    plain.write("session/config.json", r#"{ "automation_level": 7 }"#);
    let said = plain.tribunal(&["settle"]).ended(2);
    assert!(said.stderr.contains("there is no automation level 7"), "{}", said.stderr);
    plain.write("session/config.json", r#"{ "automation_level": 2 }"#);

    assert_eq!(plain.plan()["automation_level"], Value::Null, "a rehearsal writes nothing");
    plain.tribunal(&["settle", "--level", "1"]).ended(0);
    assert_eq!((plain.plan()["automation_level"].as_u64(), level(&[])), (Some(1), (1, 0)));
    let said = plain.tribunal(&["settle", "--level", "0"]).ended(2);
    assert!(said.stderr.contains("level-changed") && said.stderr.contains("--yes"), "{}", said.stderr);
    plain.tribunal(&["settle", "--level", "0", "--yes"]).ended(0);
    assert_eq!(plain.plan()["automation_level"], 0);
}
