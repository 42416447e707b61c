//! When the forge, the network or we ourselves fail in the middle, on a real Gitea server.

use super::gitea::town;
use super::loops::{Running, until};
use super::town::{Machine, Said, Town, assert_no_repetition};
use crate::kill_moments::{Kills, wait_for_orphans};
use forge_conformance::{Stage as _, Voice as _, Who};
use lossy_proxy::{Harm, LossyProxy, Rule};
use std::time::{Duration, Instant};
use tribunal_core::pull::facts::CheckState;
use tribunal_core::pull::talk::ReviewState;

/// Six findings on lines of their own.
const SIX: &str = "import os\nimport yaml\n\n\ndef a(x=[]):\n    yaml.load(x)\n    os.system(\"ls \" + x)\n\n\ndef b(y={}):\n    yaml.load(y)\n    os.system(\"rm \" + y)\n";

async fn assert_said_once(town: &Town, number: u64, findings: usize) {
    assert_eq!(town.stickies(number).await.len(), 1);
    let threads = town.threads(number).await;
    assert_eq!(threads.len(), findings);
    assert_no_repetition(&threads);
    let reviews = town.stage.forge_as(Who::Bot).reviews(number).await.unwrap();
    assert!(reviews.iter().all(|review| review.state != ReviewState::Pending), "a draft was left behind: {reviews:?}");
    let with_comments = reviews.iter().filter(|review| review.body.starts_with("Tribunal left")).count();
    assert_eq!(with_comments, 1, "{reviews:?}");
}

fn count(document: &serde_json::Value) -> usize {
    document["findings"].as_array().unwrap().iter().filter(|finding| finding["inline"] == true).count()
}

/// Rules 9 and 13: the answer to any one write is lost, cut, garbled or replaced; afterwards everything is there once.
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_doubles_nothing() {
    let Some((mut town, stage)) = town().await else { return };
    let direct = stage.peer.origin();
    for (method, path) in [("POST", "/reviews"), ("POST", "/issues/*/comments"), ("POST", "/statuses/")] {
        for harm in [Harm::DropAnswer, Harm::DropRequest, Harm::CutAnswer, Harm::Garble, Harm::AnswerInstead(502)] {
            let (number, _, head) = town.pull(&[("app.py", Some(SIX))]).await;
            let proxy = LossyProxy::start(&direct);
            let path = path.replace('*', &number.to_string());
            proxy.add(Rule::first(method, &format!("*{path}*"), harm.clone()));
            town.origin = proxy.origin();
            let said = town.run(&["review", &town.address(number), "--format", "json"]);
            assert!(said.code == 1, "{harm:?} on {path}: {said:?}");
            let findings = count(&said.json());
            assert_said_once(&town, number, findings).await;
            assert_eq!(town.status(&head).await, Some(CheckState::Failure));
        }
    }
}

/// Issue 5: killed in the middle of publishing, at twenty moments: afterwards one sticky, one review, no duplicate.
#[tokio::test(flavor = "multi_thread")]
async fn killed_twenty_times_nothing_is_said_twice() {
    let Some((mut town, stage)) = town().await else { return };
    let proxy = LossyProxy::start(&stage.peer.origin());
    // Slow enough to be hit between any two writes.
    for path in ["*/reviews", "*/comments", "*/statuses/*"] {
        proxy.add(Rule::every("POST", path, Harm::Delay(Duration::from_millis(60))));
    }
    town.origin = proxy.origin();
    let (undisturbed, _, _) = town.pull(&[("app.py", Some(SIX))]).await;
    let begun = Instant::now();
    town.review(undisturbed);
    let mut kills = Kills::within(begun.elapsed());
    let (number, _, _) = town.pull(&[("app.py", Some(SIX))]).await;
    let address = town.address(number);
    while kills.hit() < 20 && kills.go_on(20, false) {
        kills.strike(&mut town.start(&["review", &address]));
    }
    assert!(kills.hit() >= 5, "too few kills met a running process: {kills:?}");
    wait_for_orphans(&town.machine.folder());
    let document = town.review(number);
    assert_said_once(&town, number, count(&document)).await;
    town.run(&["review", &address]).ended(1);
    assert_said_once(&town, number, count(&document)).await;
}

/// CF-29: two copies at once never act twice.
#[tokio::test(flavor = "multi_thread")]
async fn two_copies_say_it_once() {
    let Some((town, _stage)) = town().await else { return };
    let (number, _, _) = town.pull(&[("app.py", Some(SIX))]).await;
    let address = town.address(number);
    let children: Vec<_> = (0..3).map(|_| town.start(&["review", &address])).collect();
    for child in children {
        Said::of(child.wait_with_output().unwrap()).ended(1);
    }
    let document = town.run(&["review", &address, "--format", "json"]).json();
    assert_said_once(&town, number, count(&document)).await;
}

/// Rule 7: somebody pushes while it is reviewed; nothing is posted about a head that is gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_push_in_between_discards_the_result() {
    let Some((mut town, stage)) = town().await else { return };
    let proxy = LossyProxy::start(&stage.peer.origin());
    let (number, branch, head) = town.pull(&[("app.py", Some(SIX))]).await;
    // The first look is at the pull request, the second right before posting.
    let looks = format!("*/pulls/{number}");
    proxy.add(Rule::nth(2, "GET", &looks, Harm::Hold));
    town.origin = proxy.origin();
    let child = town.start(&["review", &town.address(number)]);
    until("the second look", || async { (proxy.count("GET", &looks) == 2).then_some(()) }).await;
    let new = stage.push(&branch, &[("more.md", Some("text\n"))], "meanwhile").await;
    proxy.release();
    let said = Said::of(child.wait_with_output().unwrap()).ended(75);
    assert!(said.stderr.contains("nothing was posted"), "{}", said.stderr);
    assert!(town.stickies(number).await.is_empty() && town.threads(number).await.is_empty());
    assert_eq!((town.status(&head).await, town.status(&new).await), (None, None));
    town.review(number);
    assert_eq!(town.stickies(number).await.len(), 1);
}

/// CF-9: a failed or hollow read is never "nothing there".
#[tokio::test(flavor = "multi_thread")]
async fn a_hollow_read_posts_nothing() {
    let Some((mut town, stage)) = town().await else { return };
    let direct = stage.peer.origin();
    let (number, _, _) = town.pull(&[("app.py", Some(SIX))]).await;
    for (path, harm, code) in [
        (format!("*/pulls/{number}"), Harm::AnswerWith("{}".into()), 5),
        (format!("*/issues/{number}/comments"), Harm::AnswerWith("null".into()), 5),
        (format!("*/pulls/{number}/reviews"), Harm::AnswerWith("{\"reviews\":[]}".into()), 5),
        (format!("*/issues/{number}/comments"), Harm::RefuseWith(503), 75),
    ] {
        let proxy = LossyProxy::start(&direct);
        proxy.add(Rule::every("GET", &path, harm.clone()));
        town.origin = proxy.origin();
        let said = town.run(&["review", &town.address(number)]);
        assert_eq!(said.code, code, "{harm:?} on {path}: {said:?}");
        assert!(said.stderr.contains("error["), "{}", said.stderr);
    }
    town.origin = direct;
    assert!(town.stickies(number).await.is_empty() && town.threads(number).await.is_empty());
    town.review(number);
    assert_eq!(town.stickies(number).await.len(), 1);
}

/// Issue 16, 17: a list of reviews that comes empty and without its count was not read, on the machine that posts and on a new one: with
/// it nothing is posted, not at the same head and not at the next.
#[tokio::test(flavor = "multi_thread")]
async fn a_hollow_list_of_reviews_repeats_nothing() {
    let Some((mut town, stage)) = town().await else { return };
    let proxy = LossyProxy::start(&stage.peer.origin());
    town.origin = proxy.origin();
    let (number, branch, _) = town.pull(&[("app.py", Some(SIX))]).await;
    let reviews = format!("*/pulls/{number}/reviews");
    let address = town.address(number);
    let is_hollow = || proxy.add(Rule::every("GET", &reviews, Harm::AnswerWith("[]".into())));
    is_hollow();
    town.run(&["review", &address]).ended(5);
    assert_eq!(proxy.passed("POST", &reviews), 0, "it was posted without a look");
    proxy.forget();
    let findings = count(&town.run(&["review", &address, "--format", "json"]).ended(1).json());
    assert_said_once(&town, number, findings).await;
    is_hollow();
    town.run_on(&Machine::new(), &["review", &address]).ended(5);
    stage.push(&branch, &[("more.md", Some("text\n"))], "more").await;
    town.run_on(&Machine::new(), &["review", &address]).ended(5);
    assert_said_once(&town, number, findings).await;
    proxy.forget();
    town.run_on(&Machine::new(), &["review", &address, "--mode", "full"]).ended(1);
    assert_said_once(&town, number, findings).await;
}

/// Issue 16, 17: the stamp of a pull request is as old as its last second, so the end of a burst does not show in it.
#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_burst_is_waited_for() {
    let Some((mut town, stage)) = town().await else { return };
    let proxy = LossyProxy::start(&stage.peer.origin());
    town.origin = proxy.origin();
    let (number, _, _) = town.pull(&[("notes.md", Some("text\n"))]).await;
    let words = ["await", &town.address(number), "--json", "--poll", "1s", "--settle", "5s", "--timeout", "30m"];
    let mut running = Running::plain(&town, &words);
    running.waits().await;
    let maintainer = stage.forge_as(Who::Maintainer);
    maintainer.comment(number, "word 1").await.unwrap();
    let lists = format!("*/issues/{number}/comments");
    let before = proxy.count("GET", &lists);
    until("the first word is seen", || async { (proxy.count("GET", &lists) > before).then_some(()) }).await;
    let stamp =
        stage.peer.api(gitea_peer::BOT, reqwest::Method::GET, &format!("/repos/{}/pulls/{number}", stage.path), None).await;
    proxy.add(Rule::every("GET", &format!("*/pulls/{number}"), Harm::AnswerWith(stamp.to_string())));
    for n in 2..=12 {
        maintainer.comment(number, &format!("word {n}")).await.unwrap();
    }
    let activity = running.end().await.ended(0).json();
    assert_eq!(activity["issue_comments"].as_array().unwrap().len(), 12, "{activity:#}");
}

/// Issue 5: a token without rights and a wrong one; the missing right is named, nothing half-done is left.
#[tokio::test(flavor = "multi_thread")]
async fn tokens_that_may_not() {
    let Some((mut town, stage)) = town().await else { return };
    let (number, _, _) = town.pull(&[("app.py", Some(SIX))]).await;
    let reader = stage.peer.limited_token(&["read:repository", "read:issue", "read:user"]).await;
    town.tokens = vec![(Who::Bot, reader)];
    let said = town.run(&["review", &town.address(number)]).ended(5);
    assert!(said.stderr.contains("forge-forbidden") && said.stderr.contains("write:"), "{}", said.stderr);
    town.tokens = vec![(Who::Bot, "0123456789".into())];
    let said = town.run(&["review", &town.address(number)]).ended(5);
    assert!(said.stderr.contains("forge-unauthorized"), "{}", said.stderr);
    assert!(!said.stderr.contains("0123456789"), "the token was shown: {}", said.stderr);
    assert!(town.stickies(number).await.is_empty() && town.threads(number).await.is_empty());
}

/// Issue 5, build 5: what was not reviewed is not green.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_to_review_is_not_green() {
    let Some((town, _stage)) = town().await else { return };
    let (number, _, head) = town.pull(&[("package-lock.json", Some("{}\n"))]).await;
    town.run(&["review", &town.address(number)]).ended(2);
    assert_eq!(town.status(&head).await, Some(CheckState::Error));
    assert!(town.stickies(number).await.is_empty());
}
