//! What the base of a pull request names runs only where a person, or the CI, trusts it.

use super::town::{Said, Town};
use forge_conformance::Who;
use serde_json::{Value, json};
use tribunal_core::pull::facts::CheckState;

const CONFIG: &str = "[panel]\nsdet = [\"x\"]\n[agents.x]\nkind = \"command\"\n\
    command = [\"sh\", \"-c\", \"cat > /dev/null; echo '{\\\"findings\\\": []}'\"]\n[validate]\ncommands = [\"true\"]\n";
const SUM: &str = "def total(items):\n    return sum(items)\n";

/// Tribunal on a machine where nothing was said about trust.
fn untrusting(town: &Town, args: &[&str]) -> Said {
    let mut command = town.command(&town.machine, Who::Bot, args);
    command.env_remove("TRIBUNAL_TRUST");
    Said::of(command.output().unwrap())
}

fn seat(document: &Value) -> Value {
    let mut seats = document["receipt"]["seats"].as_array().unwrap().iter();
    seats.find(|seat| seat["agent"] == "x").map(|seat| seat["state"].clone()).unwrap()
}

/// Issue 16, B5: of a stranger's project nothing runs, the review is incomplete and no status turns green; one command, which the output
/// names, trusts what the base names, and never what the change does.
pub async fn a_base_is_trusted_first(town: &Town) {
    town.stage.push("main", &[(".tribunal.toml", Some(CONFIG))], "configure").await;
    let (number, branch, head) = town.pull(&[("sum.py", Some(SUM))]).await;
    let address = town.address(number);
    let review = ["review", &address, "--format", "json"];

    let document = untrusting(town, &review).ended(3).json();
    assert!(seat(&document)["not-trusted"].is_object(), "{:#}", seat(&document));
    assert_eq!(document["outcome"], "incomplete");
    assert_ne!(town.status(&head).await, Some(CheckState::Success));
    let remedy = format!("tribunal trust {address}");
    assert!(document["subagent_failures"][0]["reason"].as_str().unwrap().contains(&remedy), "{document:#}");
    let watch = untrusting(town, &["watch", &address, "--once"]).ended(3);
    assert!(watch.stderr.contains("not-trusted") && watch.stderr.contains(&remedy), "{}", watch.stderr);

    let shown = untrusting(town, &["trust", &address, "--yes"]).ended(0);
    assert!(shown.stdout.contains("agents.x.command") && shown.stdout.contains("validate.commands"), "{}", shown.stdout);
    let document = untrusting(town, &review).json();
    assert_eq!(seat(&document), json!("ok"), "{document:#}");

    // The change brings a program of its own: neither trust nor the CI's word is for that.
    let own = CONFIG.replace("findings", "evil");
    town.stage.push(&branch, &[(".tribunal.toml", Some(&own))], "be nice to me").await;
    for said in [untrusting(town, &review), town.run(&review)] {
        assert_eq!(seat(&said.json()), json!("ok"), "the base's agent was asked: {said:?}");
    }
    // The base changes what it names: it is shown again.
    town.stage.push("main", &[(".tribunal.toml", Some(&CONFIG.replace("cat >", "cat  >")))], "configure anew").await;
    // GitLab compares with the base as it was at the last push.
    town.stage.push(&branch, &[("sum.py", Some("def total(items):\n    return sum(items, 0)\n"))], "go on").await;
    let document = untrusting(town, &["review", &address, "--format", "json", "--mode", "full"]).ended(3).json();
    assert!(seat(&document)["not-trusted"].is_object(), "{:#}", seat(&document));
}
