//! Several processes at once, request by request, over lists that may be old or hollow, with answers that are lost and processes that
//! die.

use super::*;
use crate::publish::paper::{Paper, Process, Truth};
use crate::publish::tests::first;
use crate::report::document::Document;
use proptest::prelude::*;

const HEAD: &str = "2222222222222222";

/// The same review, made by different runs.
fn reviews(count: usize) -> Vec<Document> {
    let name = |n: usize| {
        let mut document = first();
        document.receipt.run = format!("r{n}").as_str().into();
        document
    };
    (0..count).map(name).collect()
}

fn assert_nothing_twice(paper: &Paper, when: &str) {
    assert!(paper.findings().values().all(|count| *count == 1), "a finding stands twice {when}: {:?}", paper.findings());
    assert!(paper.stickies() <= 1, "{} summaries {when}", paper.stickies());
    assert!(paper.observed.reviews.len() <= 1, "{} reviews {when}", paper.observed.reviews.len());
}

fn assert_settled(paper: &mut Paper) {
    let document = paper.memory().map_or_else(first, |memory| memory.document);
    paper.run(&document, usize::MAX);
    assert_nothing_twice(paper, "in the end");
    let inline = document.findings.iter().filter(|finding| finding.inline).count();
    assert_eq!((paper.findings().len(), paper.stickies(), paper.observed.comments.len()), (inline, 1, 1));
    assert_eq!(paper.run(&document, usize::MAX), 0, "it does not come to rest");
}

/// Runs the processes in turn: the first until it has made so many requests, then the next, and so on; the last round to the end.
fn interleaved(switches: &[usize]) -> (Paper, Vec<Process>) {
    let mut paper = Paper::new(HEAD);
    let mut processes: Vec<Process> =
        reviews(2).into_iter().enumerate().map(|(n, document)| Process::begin(&paper, document, &format!("n{n}"))).collect();
    let mut at = 0;
    for steps in switches {
        for _ in 0..*steps {
            processes[at].step(&mut paper, Truth::True, Truth::True);
        }
        assert_nothing_twice(&paper, &format!("after {switches:?}"));
        at = 1 - at;
    }
    for n in [at, 1 - at] {
        while processes[n].ended.is_none() {
            processes[n].step(&mut paper, Truth::True, Truth::True);
        }
    }
    (paper, processes)
}

/// Issue 16, 16: two machines at once, with every interleaving of their requests up to three switches: one review, one summary, and
/// nobody ends with a result of its own besides the winner's.
#[test]
fn whichever_request_comes_first_one_posts() {
    let (mut busy, mut took_over) = (0, 0);
    for first in 0..12 {
        for second in 1..14 {
            for third in [1, 4] {
                let (mut paper, processes) = interleaved(&[first, second, third]);
                let when = format!("with switches after {first}, {second}, {third}");
                assert_nothing_twice(&paper, &when);
                let published = processes.iter().filter(|process| process.ended == Some(Ending::Published)).count();
                assert_eq!(published, 1, "{when}: {:?}", processes.iter().map(|process| &process.ended).collect::<Vec<_>>());
                for process in &processes {
                    match process.ended.as_ref().unwrap() {
                        Ending::Published => {}
                        Ending::Standing(memory) => {
                            took_over += 1;
                            assert_eq!(memory.document.exit_code(), process.document.exit_code());
                        }
                        Ending::Busy { .. } => busy += 1,
                        other => panic!("{when}: {other:?}"),
                    }
                }
                assert_settled(&mut paper);
            }
        }
    }
    assert!(busy > 0 && took_over > 0, "both ways to lose were met: {busy}, {took_over}");
}

/// A claim that was withdrawn and is shown again by an old list is not the new one: whoever sees it has not come first.
#[test]
fn a_withdrawn_claim_in_an_old_list_wins_nothing() {
    let mut paper = Paper::new(HEAD);
    let mut processes: Vec<Process> =
        reviews(3).into_iter().enumerate().map(|(n, document)| Process::begin(&paper, document, &format!("n{n}"))).collect();
    let ids = |paper: &Paper| paper.observed.comments.iter().map(|comment| comment.id.clone()).collect::<Vec<_>>();
    let look = |paper: &mut Paper, process: &mut Process, comments: Truth| {
        process.step(paper, comments, Truth::True);
        process.step(paper, comments, Truth::True);
    };
    let write = |paper: &mut Paper, process: &mut Process| {
        assert!(process.is_about_to_write());
        process.step(paper, Truth::True, Truth::True);
    };
    for n in [2, 1] {
        look(&mut paper, &mut processes[n], Truth::True);
        write(&mut paper, &mut processes[n]);
    }
    look(&mut paper, &mut processes[0], Truth::True);
    paper.apply(&Write::Withdraw { id: "1".into() });
    write(&mut paper, &mut processes[0]);
    assert_eq!(ids(&paper), ["2", "3"]);
    // The second one sees the claim that is gone, withdraws its own, and makes another.
    for stale in [2, 2] {
        look(&mut paper, &mut processes[1], Truth::Stale(stale));
        write(&mut paper, &mut processes[1]);
    }
    assert_eq!(ids(&paper), ["3", "4"]);
    // It is shown its first claim, alone.
    look(&mut paper, &mut processes[1], Truth::Stale(3));
    assert!(!processes[1].is_about_to_write(), "it has not come first");
    for process in &mut processes[..2] {
        while process.ended.is_none() {
            process.step(&mut paper, Truth::True, Truth::True);
        }
    }
    assert_nothing_twice(&paper, "in the end");
    assert_eq!((&processes[0].ended, paper.observed.reviews.len()), (&Some(Ending::Published), 1));
}

/// Issue 16, 17: the demonstrated case. The list of reviews is hollow after the first look, on the machine that posts and on a new one.
#[test]
fn a_hollow_list_of_reviews_repeats_nothing() {
    for rest in [Truth::Hollow, Truth::Stale(1), Truth::Stale(2), Truth::Stale(5)] {
        let mut paper = Paper::new(HEAD);
        for (n, document) in reviews(3).into_iter().enumerate() {
            let mut process = Process::begin(&paper, document, &format!("n{n}"));
            while process.ended.is_none() {
                process.step(&mut paper, Truth::True, rest);
            }
            assert_nothing_twice(&paper, &format!("with {rest:?}"));
        }
        assert_settled(&mut paper);
    }
}

/// Rule 8: a forge that does not show the comment that it took is not believed at all.
#[test]
fn a_hollow_list_of_comments_posts_nothing() {
    let mut paper = Paper::new(HEAD);
    let mut process = Process::begin(&paper, first(), "n");
    while process.ended.is_none() {
        process.step(&mut paper, Truth::Hollow, Truth::True);
    }
    assert_eq!(process.ended, Some(Ending::Hidden));
    assert!(paper.observed.comments.is_empty() && paper.observed.reviews.is_empty());
}

/// A killed process is in the way for as long as its claim lasts, and then it is not.
#[test]
fn a_dead_claim_is_passed_over() {
    let mut paper = Paper::new(HEAD);
    let [mut dead, late, later] =
        <[Document; 3]>::try_from(reviews(3)).unwrap().map(|document| Process::begin(&paper, document, "x"));
    while paper.observed.reviews.is_empty() {
        dead.step(&mut paper, Truth::True, Truth::True);
    }
    let end = |paper: &mut Paper, process: Process, nonce: &str| {
        let mut process = Process::begin(paper, process.document, nonce);
        while process.ended.is_none() {
            process.step(paper, Truth::True, Truth::True);
        }
        process.ended.unwrap()
    };
    assert_eq!(end(&mut paper, late, "y"), Ending::Busy { run: "r0".into() });
    assert_nothing_twice(&paper, "while it is claimed");
    paper.now += LEASE + 1_000;
    assert_eq!(end(&mut paper, later, "z"), Ending::Published);
    assert_settled(&mut paper);
}

/// A review of other settings was posted meanwhile: nothing is posted over it, so that nothing that it found is dropped.
#[test]
fn another_review_is_not_posted_over() {
    let mut paper = Paper::new(HEAD);
    let [mut mine, mut theirs] = <[Document; 2]>::try_from(reviews(2)).unwrap();
    theirs.receipt.fingerprint = "another".into();
    mine.findings.clear();
    let mut process = Process::begin(&paper, mine, "n");
    paper.run(&theirs, usize::MAX);
    let before = paper.observed.comments.clone();
    while process.ended.is_none() {
        process.step(&mut paper, Truth::True, Truth::True);
    }
    assert_eq!(process.ended, Some(Ending::Overtaken { run: "r1".into() }));
    assert_eq!(paper.observed.comments, before);
}

/// Each case is a hundred looks.
/// Whoever may edit comments can put an earlier summary back, and its seal opens. Our threads and the status know more: it is not
/// remembered, and nobody ends with its result.
#[test]
fn an_earlier_summary_that_was_put_back_is_no_result() {
    let mut paper = Paper::new(HEAD);
    let [mut clean, later, third] = <[Document; 3]>::try_from(reviews(3)).unwrap();
    (clean.findings, clean.outcome) = (Vec::new(), Outcome::Clean);
    paper.run(&clean, usize::MAX);
    let earlier = paper.observed.comments[0].body.clone();
    paper.run(&later, usize::MAX);
    let checks = std::mem::take(&mut paper.observed.checks);
    assert!(is_contradicted(&clean, &checks) && !is_contradicted(&later, &checks));
    paper.observed.comments[0].body = earlier;
    assert!(paper.memory().is_none(), "the threads name findings that it does not know");
    paper.run(&third, usize::MAX);
    assert_eq!(paper.memory().unwrap().document.receipt.run, third.receipt.run);
}

fn config() -> ProptestConfig {
    ProptestConfig::with_cases(32)
}

fn truth() -> impl Strategy<Value = Truth> {
    prop_oneof![4 => Just(Truth::True), 3 => (1usize..6).prop_map(Truth::Stale), 1 => Just(Truth::Hollow)]
}

proptest! {
    #![proptest_config(config())]

    /// Rules 8 and 9: whatever the lists show, and in whatever order the requests of three machines come, nothing stands twice at any
    /// moment, and afterwards one true run brings it to rest.
    #[test]
    fn whatever_is_shown_nothing_is_said_twice(
        schedule in prop::collection::vec((0usize..3, truth(), truth()), 20..90),
    ) {
        let mut paper = Paper::new(HEAD);
        let mut processes: Vec<Process> =
            reviews(3).into_iter().enumerate().map(|(n, document)| Process::begin(&paper, document, &format!("n{n}"))).collect();
        for (who, comments, rest) in schedule {
            processes[who].step(&mut paper, comments, rest);
            assert_nothing_twice(&paper, "on the way");
        }
        for process in &mut processes {
            while process.ended.is_none() {
                process.step(&mut paper, Truth::True, Truth::True);
            }
        }
        // A process that could not see what became of its review leaves its claim, which others remove when it is old by any clock.
        paper.now += 20 * LEASE;
        assert_settled(&mut paper);
    }

    /// Rule 13: with lost answers and processes that die anywhere, whatever was left behind is put right by the next true run.
    #[test]
    fn whatever_dies_it_comes_to_rest(
        schedule in prop::collection::vec((0usize..3, truth(), truth(), 0u8..12), 10..70),
    ) {
        let mut paper = Paper::new(HEAD);
        let mut begun = 3;
        let mut processes: Vec<Process> =
            reviews(3).into_iter().enumerate().map(|(n, document)| Process::begin(&paper, document, &format!("n{n}"))).collect();
        for (who, comments, rest, accident) in schedule {
            processes[who].step_with(&mut paper, comments, rest, accident == 1);
            if accident == 0 || processes[who].ended.is_some() {
                // Killed, or done: the same run is resumed, or another one begins.
                begun += 1;
                let mut document = processes[who].document.clone();
                if begun % 2 == 0 {
                    document.receipt.run = format!("r{begun}").as_str().into();
                }
                processes[who] = Process::begin(&paper, document, &format!("n{begun}"));
            }
        }
        paper.now += 20 * LEASE;
        let document = paper.memory().map_or_else(first, |memory| memory.document);
        paper.run(&document, usize::MAX);
        assert_settled(&mut paper);
    }
}
