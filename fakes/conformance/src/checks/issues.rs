//! Issues, labels, reactions.

use crate::Voice as _;
use crate::scene::{ADDED, Scene, eventually, name};
use crate::stage::{Stage, Who};
use std::sync::Arc;
use tribunal_core::findings::anchor::Side;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::{Emoji, NewIssue, ReactionTarget};

pub async fn an_issue_is_made_found_and_closed(stage: Arc<dyn Stage>) {
    let bot = stage.forge_as(Who::Bot);
    let word = name("deferred").replace('-', "x");
    let label = name("label");
    let new =
        NewIssue {
            title: format!("Work {word}").into(), body: "Later, with 漢字.".into(), labels: vec![label.as_str().into()]
        };
    let made = bot.create_issue(&new).await;
    if !bot.capabilities().await.unwrap().can(Capability::Issues) {
        assert!(matches!(made, Err(ForgeFault::Unsupported { .. })), "{made:?}");
        return;
    }
    let made = made.unwrap();
    assert_eq!((made.title.as_str(), made.body.as_str(), made.open), (&*new.title, &*new.body, true));
    assert_eq!(made.labels, [label]);
    assert!(made.author.is(&bot.identity().await.unwrap()));
    assert_eq!(bot.issue(made.number).await.unwrap(), made);
    // A forge may index at leisure.
    eventually("the issue is found", async || {
        bot.find_issues(&word).await.unwrap().iter().any(|found| found.number == made.number)
    })
    .await;
    assert!(bot.find_issues(&name("nowhere").replace('-', "x")).await.unwrap().is_empty());
    let all = bot.issues_since(None).await.unwrap();
    assert!(all.contains(&made), "{all:?}");
    bot.close_issue(made.number).await.unwrap();
    // SL-84: what changed is listed from then on, and a cursor of the far future lists nothing.
    let changed = bot.issue(made.number).await.unwrap();
    assert!(bot.issues_since(Some(&changed.updated_at)).await.unwrap().contains(&changed));
    assert!(bot.issues_since(Some("2099-01-01T00:00:00Z")).await.unwrap().is_empty());
    assert!(changed.closed_at.is_some() && !changed.created_at.is_empty());
    assert!(!bot.issue(made.number).await.unwrap().open);
    // A closed one is found too, or it would be made again.
    assert!(bot.find_issues(&word).await.unwrap().iter().any(|found| found.number == made.number && !found.open));
}

/// An issue has its own conversation, also where a pull request has the same number.
pub async fn an_issue_is_talked_about(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "talked").await;
    let new = NewIssue { title: name("talk").into(), body: "".into(), labels: Vec::new() };
    if !scene.bot.capabilities().await.unwrap().can(Capability::Issues) {
        return;
    }
    let issue = scene.bot.create_issue(&new).await.unwrap().number;
    let before = scene.bot.comments(scene.number).await.unwrap().len();
    for text in ["first", "second"] {
        scene.bot.comment_on_issue(issue, &text.into()).await.unwrap();
    }
    let said = scene.bot.issue_comments(issue).await.unwrap();
    assert_eq!(said.iter().map(|comment| comment.body.as_str()).collect::<Vec<_>>(), ["first", "second"]);
    assert!(said[0].author.is(&scene.bot.identity().await.unwrap()));
    assert_eq!(scene.bot.comments(scene.number).await.unwrap().len(), before);
    assert!(scene.bot.comment_on_issue(999_999, &"nobody".into()).await.is_err());
}

/// SL-70: the stories of an epic, by the words in their descriptions; open and closed, and no others.
pub async fn parts_of_an_issue_are_found(stage: Arc<dyn Stage>) {
    let bot = stage.forge_as(Who::Bot);
    if !bot.capabilities().await.unwrap().can(Capability::Issues) {
        return;
    }
    let make = async |body: String| {
        let new = NewIssue { title: name("part").into(), body: body.into(), labels: Vec::new() };
        bot.create_issue(&new).await.unwrap().number
    };
    let epic = make("An epic.".into()).await;
    let done = make(format!("Part of #{epic}\n")).await;
    let open = make(format!("Some words.\n\npart of: #{epic}.")).await;
    make(format!("See #{epic}")).await;
    make(format!("Part of #{epic}0")).await;
    bot.close_issue(done).await.unwrap();
    eventually("both parts are found", async || {
        let mut found: Vec<_> =
            bot.issue_children(epic, "Part of").await.unwrap().iter().map(|issue| (issue.number, issue.open)).collect();
        found.sort_unstable();
        found == [(done, false), (open, true)]
    })
    .await;
    assert!(bot.issue_children(open, "Part of").await.unwrap().is_empty());
}

pub async fn labels_are_put_on_and_taken_off(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "labels").await;
    let (first, second) = (name("label"), format!("{} with: spaces/ü", name("label")));
    for label in [&first, &second, &first] {
        scene.bot.add_label(scene.number, label).await.unwrap();
    }
    let labels = async || {
        let mut labels = scene.bot.pull(scene.number).await.unwrap().labels;
        labels.sort_unstable();
        labels
    };
    let mut both = vec![first.clone(), second.clone()];
    both.sort_unstable();
    assert_eq!(labels().await, both);
    scene.bot.remove_label(scene.number, &first).await.unwrap();
    // What is not on it is already off.
    scene.bot.remove_label(scene.number, &first).await.unwrap();
    assert_eq!(labels().await, [second]);
}

pub async fn reactions_are_counted_by_person(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "reactions").await;
    let comment = scene.bot.comment(scene.number, "what do you think?").await.unwrap();
    scene.submit("", vec![scene.comment(Side::New, ADDED, "and of this?")]).await;
    let line = scene.thread("and of this?").await.comments[0].id.clone();
    let can = scene.bot.capabilities().await.unwrap().can(Capability::Reactions);
    for target in [ReactionTarget::Pull, ReactionTarget::Comment(comment.id), ReactionTarget::ThreadComment(line)] {
        let first = scene.bot.react(scene.number, &target, Emoji::Eyes).await;
        if !can {
            assert!(matches!(first, Err(ForgeFault::Unsupported { .. })), "{first:?}");
            continue;
        }
        first.unwrap();
        // Twice is once.
        scene.bot.react(scene.number, &target, Emoji::Eyes).await.unwrap();
        let author = stage.forge_as(Who::Author);
        author.react(scene.number, &target, Emoji::ThumbsUp).await.unwrap();
        let reactions = scene.bot.reactions(scene.number, &target).await.unwrap();
        let by = async |who: Who| {
            let account = stage.forge_as(who).identity().await.unwrap();
            reactions.iter().filter(|reaction| reaction.author.is(&account)).map(|reaction| reaction.emoji).collect::<Vec<_>>()
        };
        if stage.has_accounts() {
            assert_eq!((by(Who::Bot).await, by(Who::Author).await), (vec![Emoji::Eyes], vec![Emoji::ThumbsUp]), "{target:?}");
            assert!(by(Who::Stranger).await.is_empty());
        } else {
            assert_eq!(reactions.len(), 2);
        }
    }
}
