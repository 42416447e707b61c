//! Issue 16, 16: two real processes on two machines, whose requests are let through one at a time in a chosen order.

use super::super::town::{Machine, Said, Town, assert_no_repetition};
use super::super::{gitea, github};
use forge_conformance::Who;
use lossy_proxy::LossyProxy;
use std::process::Child;
use std::time::{Duration, Instant};

const TWO: &str = "import yaml\n\n\ndef load(text, seen=[]):\n    seen.append(text)\n    return yaml.load(text)\n";
/// Longer than it takes to compute the next request, and shorter than it pauses when it waits for the other.
const IDLE: Duration = Duration::from_millis(400);

/// Lets the first process make so many requests, then the other so many, and so on; then each runs whenever the other is idle.
fn interleave(proxy: &LossyProxy, children: &mut [Child; 2], switches: &[usize]) {
    let begun = Instant::now();
    let has_ended = |child: &mut Child| child.try_wait().unwrap().is_some();
    let mut at = 0;
    for requests in switches {
        let mut left = *requests;
        while left > 0 && !has_ended(&mut children[at]) {
            assert!(begun.elapsed() < Duration::from_secs(240), "it hangs");
            left -= usize::from(proxy.let_go(at, Duration::from_millis(50)));
        }
        at = 1 - at;
    }
    while !children.iter_mut().all(has_ended) {
        assert!(begun.elapsed() < Duration::from_secs(240), "it hangs");
        if !proxy.let_go(at, IDLE) {
            at = 1 - at;
        }
    }
}

async fn explore(town: &mut Town, tokens: [String; 2], schedules: &[Vec<usize>]) {
    let direct = town.origin.clone();
    let mut ends: Vec<(i32, i32)> = Vec::new();
    for switches in schedules {
        let (number, _, _) = town.pull(&[("app.py", Some(TWO))]).await;
        let proxy = LossyProxy::start(&direct);
        proxy.take_turns(&tokens);
        town.origin = proxy.origin();
        let address = town.address(number);
        let machines = [Machine::new(), Machine::new()];
        let start = |n: usize| {
            let mut command = town.command(&machines[n], Who::Bot, &["review", &address]);
            command.env("TRIBUNAL_TOKEN", &tokens[n]).spawn().unwrap()
        };
        let mut children = [start(0), start(1)];
        tokio::task::block_in_place(|| interleave(&proxy, &mut children, switches));
        let [one, other] = children.map(|child| Said::of(child.wait_with_output().unwrap()));
        // One of them posts; the other ends with its result, or is told to come back.
        let is_fine = |said: &Said| said.code == 1 || (said.code == 75 && said.stderr.contains("posted-elsewhere"));
        assert!(is_fine(&one) && is_fine(&other) && (one.code == 1 || other.code == 1), "{switches:?}: {one:?}\n{other:?}");
        ends.push((one.code, other.code));
        town.origin = direct.clone();
        let comments = town.comments(number).await;
        assert_eq!(comments.len(), 1, "{switches:?}: {comments:#?}");
        assert_eq!(town.stickies(number).await.len(), 1, "{switches:?}");
        let reviews = town.stage.forge_as(Who::Bot).reviews(number).await.unwrap();
        assert_eq!(
            reviews.iter().filter(|review| review.body.starts_with("Tribunal left")).count(),
            1,
            "{switches:?}: {reviews:#?}"
        );
        assert_no_repetition(&town.threads(number).await);
    }
    eprintln!("{} interleavings; ended as {ends:?}", schedules.len());
}

/// Up to two switches away from one after the other, over all requests that a review makes.
fn schedules(firsts: &[usize], seconds: &[usize]) -> Vec<Vec<usize>> {
    let pair = |first: &usize| seconds.iter().map(|second| vec![*first, *second]).collect::<Vec<_>>();
    firsts.iter().flat_map(pair).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_machines_at_once_on_gitea() {
    let Some((mut town, stage)) = gitea::town().await else { return };
    let tokens = [town.tokens[0].1.clone(), stage.peer.limited_token(&["write:issue", "write:repository", "read:user"]).await];
    assert_eq!(town.tokens[0].0, Who::Bot);
    explore(&mut town, tokens, &schedules(&[0, 14, 17, 20], &[15, 19])).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_machines_at_once_on_github() {
    let (mut town, second) = github::with_second_token().await;
    let tokens = [town.tokens[0].1.clone(), second];
    let firsts: Vec<usize> = (8..24).collect();
    explore(&mut town, tokens, &schedules(&firsts, &[12, 17])).await;
}
