use super::*;
use proptest::prelude::*;

fn pull(number: u64, files: &[&str]) -> Candidate {
    Candidate {
        number,
        files: files.iter().map(|file| RepoPath::from(*file)).collect(),
        foundation: false,
        depends_on: BTreeSet::new(),
        head_branch: format!("branch-{number}"),
        base_branch: "main".into(),
        is_fork: false,
    }
}

fn after(number: u64, files: &[&str], depends_on: &[u64]) -> Candidate {
    Candidate { depends_on: depends_on.iter().copied().collect(), ..pull(number, files) }
}

fn numbers(sequence: &MergeSequence) -> Vec<u64> {
    sequence.steps.iter().map(|step| step.number).collect()
}

/// SL-81: the worked example, with SL-73 to SL-76 behind it.
#[test]
fn isolated_first_and_what_touches_most_last() {
    let batch = [
        pull(141, &["src/auth.rs", "src/a.rs"]),
        pull(142, &["docs/readme.md"]),
        pull(143, &["src/cart.rs", "src/b.rs", "src/c.rs"]),
        pull(144, &["src/auth.rs", "src/cart.rs", "src/pay.rs", "src/main.rs"]),
        pull(145, &["ci/build.yml", "ci/test.yml"]),
    ];
    let sequence = sequence(&batch);
    assert_eq!(numbers(&sequence), [142, 145, 141, 143, 144]);
    assert_eq!(sequence.steps.iter().map(|step| step.tier).collect::<Vec<_>>(), [0, 0, 1, 1, 2]);
    assert_eq!(sequence.unsettled_by(141), BTreeSet::from([144]));
    assert_eq!(sequence.unsettled_by(142), BTreeSet::new());
}

/// SL-75, SL-76: foundation before what stands on it, even where it has more files.
#[test]
fn foundation_comes_before_what_shares_its_files() {
    let foundation = Candidate { foundation: true, ..pull(9, &["a", "b", "c"]) };
    assert_eq!(numbers(&sequence(&[pull(1, &["a"]), foundation, pull(2, &["b"])])), [9, 1, 2]);
}

/// SL-82: a triangle of overlaps is no cycle.
#[test]
fn a_triangle_of_overlaps_has_an_order() {
    let sequence = sequence(&[pull(1, &["a", "b"]), pull(2, &["b", "c"]), pull(3, &["c", "a"])]);
    assert_eq!(numbers(&sequence), [1, 2, 3]);
    assert!(sequence.held.is_empty());
    assert_eq!(sequence.unsettled_by(1), BTreeSet::from([2, 3]));
}

/// SL-77: a cycle is named with its members and not merged, nor what stands behind it.
#[test]
fn a_cycle_is_held_with_all_that_waits_for_it() {
    let batch =
        [after(1, &[], &[2]), after(2, &[], &[3]), after(3, &[], &[1]), after(4, &[], &[3]), after(5, &[], &[4]), pull(6, &[])];
    let sequence = sequence(&batch);
    assert_eq!(numbers(&sequence), [6]);
    let members = BTreeSet::from([1, 2, 3]);
    let because: Vec<_> = sequence.held.iter().map(|held| (held.number, held.because.clone())).collect();
    assert_eq!(
        because,
        vec![
            (1, HeldBecause::Cycle(members.clone())),
            (2, HeldBecause::Cycle(members.clone())),
            (3, HeldBecause::Cycle(members)),
            (4, HeldBecause::Behind(3)),
            (5, HeldBecause::Behind(4)),
        ]
    );
    let own = super::sequence(&[after(1, &[], &[1])]);
    assert_eq!(own.held[0].because, HeldBecause::Cycle(BTreeSet::from([1])));
}

/// SL-80: one that stands on another's branch comes after it; the same name in a fork is another branch.
#[test]
fn a_stack_is_a_dependency() {
    let top = Candidate { base_branch: "branch-2".into(), ..pull(1, &["a"]) };
    let sequence = sequence(&[top.clone(), pull(2, &["b"])]);
    assert_eq!(numbers(&sequence), [2, 1]);
    assert_eq!(sequence.steps[0].unsettles, BTreeSet::from([1]));
    let fork = Candidate { is_fork: true, ..pull(2, &["b", "c"]) };
    assert_eq!(numbers(&super::sequence(&[top, fork])), [1, 2]);
}

/// What is not in the batch is for the conditions to judge, and a single one is simply merged (SL-80).
#[test]
fn one_alone_is_an_order() {
    let sequence = sequence(&[after(7, &["a"], &[99]), after(7, &["a"], &[99])]);
    assert_eq!(numbers(&sequence), [7]);
    assert_eq!(sequence.steps[0].tier, 0);
    assert_eq!(super::sequence(&[]), MergeSequence::default());
}

/// A long chain does not overflow anything.
#[test]
fn a_chain_of_many() {
    let batch: Vec<Candidate> = (1..=2000).map(|number| after(number, &[], &[number + 1])).collect();
    let sequence = sequence(&batch);
    assert_eq!(numbers(&sequence), (1..=2000).rev().collect::<Vec<_>>());
}

fn batches() -> impl Strategy<Value = Vec<Candidate>> {
    let one = (prop::collection::btree_set(0u8..8, 0..4), any::<bool>(), prop::collection::btree_set(1u64..10, 0..3), 0u64..12);
    prop::collection::vec(one, 0..9).prop_map(|drawn| {
        drawn
            .into_iter()
            .zip(1u64..)
            .map(|((files, foundation, depends_on, on), number)| {
                let base_branch = if on == 0 || on > 9 { "main".into() } else { format!("branch-{on}") };
                let files = files.into_iter().map(|file| RepoPath::new(format!("f{file}"))).collect();
                Candidate { number, files, foundation, depends_on, base_branch, ..pull(number, &[]) }
            })
            .collect()
    })
}

/// Everything that it waits for in the batch, over any number of steps.
fn waits_for(batch: &[Candidate], number: u64) -> BTreeSet<u64> {
    let direct = |number: u64| -> Vec<u64> {
        let Some(candidate) = batch.iter().find(|candidate| candidate.number == number) else { return vec![] };
        let stacked = batch.iter().filter(|other| other.head_branch == candidate.base_branch).map(|other| other.number);
        let declared = candidate.depends_on.iter().copied().filter(|on| batch.iter().any(|other| other.number == *on));
        stacked.chain(declared).collect()
    };
    let (mut all, mut open) = (BTreeSet::new(), direct(number));
    while let Some(next) = open.pop() {
        if all.insert(next) {
            open.extend(direct(next));
        }
    }
    all
}

proptest! {
    /// SL-72 to SL-82 against the plainest model: reachability.
    #[test]
    fn every_order_is_topological_and_nothing_circular_is_in_it(batch in batches()) {
        let sequence = sequence(&batch);
        let order = numbers(&sequence);
        for candidate in &batch {
            let waits = waits_for(&batch, candidate.number);
            let circular = waits.iter().chain([&candidate.number]).any(|number| waits_for(&batch, *number).contains(number));
            let held = sequence.held.iter().find(|held| held.number == candidate.number);
            prop_assert_eq!(held.is_some(), circular);
            prop_assert_eq!(order.contains(&candidate.number), !circular);
            match held.map(|held| &held.because) {
                Some(HeldBecause::Cycle(members)) => {
                    let model: BTreeSet<u64> = waits.iter().copied().filter(|other| waits_for(&batch, *other).contains(&candidate.number)).collect();
                    prop_assert_eq!(members, &model);
                }
                Some(HeldBecause::Behind(on)) => prop_assert!(waits.contains(on) && !waits_for(&batch, candidate.number).contains(&candidate.number)),
                None => {
                    let place = |number: u64| order.iter().position(|at| *at == number);
                    prop_assert!(waits.iter().all(|before| place(*before) < place(candidate.number)));
                }
            }
        }
    }

    /// Isolated first, nobody beside one whose files he shares, and everybody who shares a file later is unsettled.
    #[test]
    fn tiers_keep_those_apart_that_share_files(batch in batches()) {
        let sequence = sequence(&batch);
        let of = |number: u64| batch.iter().find(|candidate| candidate.number == number).unwrap();
        prop_assert!(sequence.steps.windows(2).all(|pair| pair[0].tier <= pair[1].tier));
        for (place, step) in sequence.steps.iter().enumerate() {
            for later in &sequence.steps[place + 1..] {
                let shares = !of(step.number).files.is_disjoint(&of(later.number).files);
                prop_assert!(!shares || (step.tier < later.tier && step.unsettles.contains(&later.number)));
                prop_assert!(shares || later.after.contains(&step.number) || !step.unsettles.contains(&later.number));
            }
        }
    }

    #[test]
    fn the_order_does_not_depend_on_the_listing(batch in batches(), shift in 0usize..9) {
        let mut turned = batch.clone();
        let by = if batch.is_empty() { 0 } else { shift % batch.len() };
        turned.rotate_left(by);
        turned.reverse();
        prop_assert_eq!(sequence(&batch), sequence(&turned));
    }
}
