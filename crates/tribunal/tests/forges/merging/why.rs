//! `tribunal why` while things happen to a pull request (field pain 25).

use super::super::loops::submits;
use super::super::town::{Said, Town};
use super::{Opened, draft, onto, opened, status, why};
use forge_conformance::{Voice as _, Who};
use tribunal_core::pull::facts::CheckState;
use tribunal_core::pull::place::ForgeKind;
use tribunal_core::pull::talk::ReviewEvent;

/// Rules may verify, and merging is on: then nothing but the story's own reason is in the way.
const ON: [(&str, &str); 2] = [("when", "approved"), ("verified_by", "rules")];

/// The reason that is given first, on top of everything.
fn reason(said: &Said) -> String {
    said.stdout.lines().nth(1).unwrap_or_default().trim().to_owned()
}

/// Asks until a forge that takes its time has settled, and then holds it to code and reason.
async fn stuck(town: &Town, pull: &Opened, code: i32, words: &str) -> Said {
    stuck_under(town, pull, &ON, code, words).await
}

async fn stuck_under(town: &Town, pull: &Opened, settings: &[(&str, &str)], code: i32, words: &str) -> Said {
    let begun = std::time::Instant::now();
    loop {
        let said = why(town, &[pull.number], settings, &[]);
        if said.code == code && reason(&said).contains(words) {
            return said;
        }
        // What is not worked out yet is said to be so; nothing else is waited for.
        let settles = reason(&said).contains("worked out") || reason(&said).contains("does not say yet");
        let late = begun.elapsed() > std::time::Duration::from_secs(180);
        assert!(settles && !late, "wanted {code} and `{words}`:\n{}\n{}", said.stdout, said.stderr);
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    }
}

/// What a review says, and what it does not.
pub async fn why_after_a_review(town: &Town) {
    let file = format!("{}.py", super::name("app"));
    let unsafe_text = "import yaml\n\n\ndef load(text):\n    return yaml.load(text)\n";
    let bad = onto(town, "main", "", &[(&file, Some(unsafe_text))]).await;
    town.review(bad.number);
    // Our own status is red too, and that is the first thing in the way.
    let said = stuck(town, &bad, 1, "`tribunal/review` is red").await;
    assert!(said.stdout.contains("the verdict is MAJOR") && said.stdout.contains("F1 blocks"), "{}", said.stdout);

    let good = opened(town, "").await;
    town.review(good.number);
    // CF-27: rules alone are not enough, unless somebody says so.
    let approved = [("when", "approved")];
    stuck_under(town, &good, &approved, 1, "only rules have looked at it").await;
    // CF-1, SL-71: merging is off until somebody turns it on.
    let off = [("verified_by", "rules")];
    stuck_under(town, &good, &off, 1, "approved, pending manual merge: merging is off").await;
    assert_eq!(why(town, &[good.number], &off, &["--merge"]).code, 0);
    let ready = stuck(town, &good, 0, "every condition is met").await;
    assert!(ready.stdout.contains("verified by rules") && ready.stdout.contains("no checks"), "{}", ready.stdout);

    status(town, &good.head, "ci/build", CheckState::Pending).await;
    stuck(town, &good, 75, "waiting: `ci/build` is still running").await;
    status(town, &good.head, "ci/build", CheckState::Success).await;
    stuck(town, &good, 0, "every condition is met").await;

    // Design rule 7: a review is of one head.
    let file = format!("{}.md", super::name("late"));
    let pushed = town.stage.push(&good.branch, &[(&file, Some("More.\n"))], "more").await;
    stuck(town, &good, 1, &format!("the last review is of {}, and the head is {}", good.head.short(), pushed.short())).await;

    // JSON and Markdown say the same.
    let value = why(town, &[good.number], &ON, &["--format", "json"]).json();
    assert_eq!((value[0]["end"].as_str(), value[0]["conditions"].as_array().unwrap().len()), (Some("stuck"), 21), "{value:#}");
    let page = why(town, &[good.number], &ON, &["--format", "markdown"]).stdout;
    assert!(page.contains("| ✗ | reviewed | the last review is of"), "{page}");
}

/// A review and an approval are of one base: whoever opened a pull request can aim it at another branch, and the head stays.
pub async fn a_retargeted_change_is_reviewed_again(town: &Town) {
    let (own_base, brought) = (super::name("own-base"), format!("{}.md", super::name("brought")));
    town.stage.push(&own_base, &[(&brought, Some("What nobody reviews there.\n"))], "a base of one's own").await;
    let pull = onto(town, &own_base, "", &[(&format!("{}.md", super::name("text")), Some("Some words.\n"))]).await;
    assert_eq!(town.review(pull.number)["receipt"]["base_branch"], own_base.as_str());
    submits(town, pull.number, Who::Maintainer, ReviewEvent::Approve, "Fine for that branch.", &[]).await;
    let approved = [ON.as_slice(), &[("approvals", "1")]].concat();
    stuck_under(town, &pull, &approved, 0, "every condition is met").await;

    assert!(town.stage.retarget(pull.number, "main").await);
    let words = format!("the last review was made for a merge into `{own_base}`, and the base is `main`");
    let said = stuck_under(town, &pull, &approved, 1, &words).await;
    assert!(said.stdout.contains("approved an earlier head or another base"), "{}", said.stdout);
    let again = town.review(pull.number);
    assert_eq!((&again["receipt"]["widened"], &again["receipt"]["base_branch"]), (&"target-changed".into(), &"main".into()));
    assert!(again["receipt"]["coverage"]["files"].as_u64() == Some(2), "what the other base had is read: {again:#}");
    stuck(town, &pull, 0, "every condition is met").await;
    // What a person said of the other base is still no approval of this one.
    stuck_under(town, &pull, &approved, 1, "0 of 1 approval by people").await;
}

/// As a person does it; one forge has a command for it instead of a review.
pub async fn asks_for_changes(town: &Town, number: u64) {
    match town.stage.kind() {
        ForgeKind::GitLab => {
            // What it answers is no note.
            let _ = town.stage.forge_as(Who::Maintainer).comment(number, "/request_changes").await;
        }
        _ => submits(town, number, Who::Maintainer, ReviewEvent::RequestChanges, "Not like this.", &[]).await,
    }
}

/// What people say (design rule 11).
pub async fn why_people_are_in_the_way(town: &Town) {
    let pull = onto(town, "main", "", &[(&format!("{}.md", super::name("text")), Some("One.\nTwo.\n"))]).await;
    town.review(pull.number);
    stuck(town, &pull, 0, "every condition is met").await;
    let file = town.stage.checkout().git(&["diff", "--name-only", "origin/main", pull.head.as_str()]).await.trim().to_owned();

    // Anybody can press a button; it counts for those who may write. One forge does not even show it to others.
    let two = [ON.as_slice(), &[("approvals", "1")]].concat();
    if town.stage.kind() != ForgeKind::GitLab {
        submits(town, pull.number, Who::Stranger, ReviewEvent::Approve, "Nice!", &[]).await;
    }
    let maintainer = super::super::loops::login(town, Who::Maintainer).await;
    stuck_under(town, &pull, &two, 1, "0 of 1 approval by people").await;

    asks_for_changes(town, pull.number).await;
    stuck(town, &pull, 1, &format!("{maintainer} asks for changes")).await;

    submits(town, pull.number, Who::Maintainer, ReviewEvent::Approve, "Fine now.", &[]).await;
    let said = stuck_under(town, &pull, &two, 0, "every condition is met").await;
    assert!(said.stdout.contains(&format!("approved by {maintainer}")), "{}", said.stdout);
    // CF-27: a person's word stands where only rules have looked.
    assert_eq!(why(town, &[pull.number], &[("when", "approved")], &[]).code, 0);

    let remark = [(file.as_str(), 1, "Why this word?".to_owned())];
    submits(town, pull.number, Who::Author, ReviewEvent::Comment, "", &[(file.as_str(), 2, "A note to myself.".to_owned())])
        .await;
    stuck(town, &pull, 0, "every condition is met").await;
    submits(town, pull.number, Who::Stranger, ReviewEvent::Comment, "", &remark).await;
    stuck(town, &pull, 1, "1 thread of people is open").await;

    let late = format!("{}.md", super::name("late"));
    town.stage.push(&pull.branch, &[(&late, Some("More.\n"))], "more").await;
    town.review(pull.number);
    let said = stuck_under(town, &pull, &two, 1, "1 thread of people is open").await;
    let earlier = said.stdout.lines().any(|line| line.contains(&maintainer) && line.contains("approved an earlier head"));
    assert!(earlier, "{}", said.stdout);
}

/// What the forge asks for.
pub async fn why_the_base_asks_for_more(town: &Town) {
    let base = super::name("release");
    let file = format!("{base}.md");
    town.stage.push(&base, &[(&file, Some("A release.\n"))], "a release").await;
    let pull = onto(town, &base, "", &[(&format!("{}.md", super::name("fix")), Some("A fix.\n"))]).await;
    town.review(pull.number);
    stuck(town, &pull, 0, "every condition is met").await;
    if !town.stage.protect(&base, Some((1, "ci/build"))).await {
        return;
    }
    let said = stuck(town, &pull, 1, "require").await;
    assert!(said.stdout.contains("0 of 1 approval by people"), "{}", said.stdout);
    status(town, &pull.head, "ci/build", CheckState::Success).await;
    stuck(town, &pull, 1, "0 of 1 approval by people").await;
    submits(town, pull.number, Who::Maintainer, ReviewEvent::Approve, "Fine.", &[]).await;
    stuck(town, &pull, 0, "every condition is met").await;
    town.stage.protect(&base, None).await;
}

/// Without a name all that are open are judged; bad input is refused, and a forge that cannot be read is no reason.
pub async fn why_of_all_and_of_nothing(town: &Town) {
    let one = draft(town).await;
    let said = why(town, &[999_999], &ON, &[]);
    assert_eq!((said.code, said.stdout.as_str()), (5, ""), "{said:?}");
    // What is known of one is told, whatever becomes of another.
    let half = why(town, &[one.number, 999_999], &ON, &["--format", "json"]);
    assert!(half.code == 5 && half.stderr.contains("forge-not-found"), "{half:?}");
    assert_eq!(half.json()[0]["number"], one.number, "{half:?}");
    let wrong = town.run(&["why", "nonsense"]).ended(2);
    assert!(wrong.stderr.contains("names no pull request"), "{}", wrong.stderr);
    town.run(&["why"]).ended(2);
    // Twice is once.
    let twice = why(town, &[one.number, one.number], &ON, &["--format", "json"]).json();
    assert_eq!(twice.as_array().unwrap().len(), 1);
}
