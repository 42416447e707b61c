use super::*;
use proptest::prelude::*;

fn symbol(name: &str) -> ChangedSymbol {
    ChangedSymbol { path: "src/a.rs".into(), start_line: 10, name: name.into() }
}

fn lines(from: u32, to: u32) -> Vec<Line> {
    (from..=to).map(|number| (number, format!("line {number} of the file"))).collect()
}

fn candidate(kind: PieceKind, of: &str, path: &str, from: u32, to: u32, distance: u32) -> Candidate {
    let reason = format!("{kind:?} of {of}");
    Candidate { kind, of: symbol(of), path: path.into(), lines: lines(from, to), short: None, distance, reason }
}

fn names(chosen: &Chosen) -> Vec<String> {
    chosen.pieces.iter().map(|piece| format!("{:?} {}:{}", piece.kind, piece.path, piece.start_line)).collect()
}

use PieceKind::{Callee, Caller, Definition, Test, Type};

/// Issue 18, 4: every changed function's own code first, then one caller of each, before anything has two.
#[test]
fn each_symbol_gets_its_definition_and_a_caller_first() {
    let candidates = [
        candidate(Caller, "f", "z.rs", 1, 5, 3),
        candidate(Caller, "f", "src/b.rs", 1, 5, 1),
        candidate(Callee, "f", "src/c.rs", 1, 5, 1),
        candidate(Test, "f", "tests/f.rs", 1, 5, 3),
        candidate(Type, "f", "src/d.rs", 1, 5, 1),
        candidate(Definition, "f", "src/a.rs", 10, 30, 0),
        candidate(Caller, "g", "src/e.rs", 1, 5, 1),
        candidate(Definition, "g", "src/a.rs", 40, 50, 0),
    ];
    let chosen = choose(&candidates, &BTreeMap::new(), 100_000);
    assert_eq!(
        names(&chosen),
        [
            "Definition src/a.rs:40",
            "Definition src/a.rs:10",
            "Caller src/b.rs:1",
            "Caller src/e.rs:1",
            "Callee src/c.rs:1",
            "Type src/d.rs:1",
            "Test tests/f.rs:1",
            "Caller z.rs:1"
        ]
    );
    let small = choose(&candidates, &BTreeMap::new(), 440);
    assert_eq!(small.left_out, BTreeMap::from([(Caller, 1), (Type, 1), (Test, 1)]), "{:?}", names(&small));
}

#[test]
fn what_the_diff_or_another_piece_shows_is_not_repeated() {
    let shown = BTreeMap::from([(RepoPath::from("src/a.rs"), (10..=20).collect::<BTreeSet<u32>>())]);
    let candidates = [
        candidate(Definition, "f", "src/a.rs", 10, 20, 0),
        candidate(Definition, "g", "src/a.rs", 18, 24, 0),
        candidate(Callee, "g", "src/a.rs", 20, 24, 0),
    ];
    let chosen = choose(&candidates, &shown, 10_000);
    assert_eq!(names(&chosen), ["Definition src/a.rs:18"]);
    assert_eq!(chosen.excerpts[0].text.lines().count(), 4, "{}", chosen.excerpts[0].text);
    assert!(chosen.left_out.is_empty(), "what stands there already is not left out");
}

#[test]
fn a_large_piece_is_shortened_before_it_is_left_out() {
    let mut large = candidate(Definition, "f", "src/a.rs", 1, 300, 0);
    large.short = Some(vec![(1, "fn f() {".into()), (150, "    changed();".into()), (300, "}".into())]);
    let chosen = choose(&[large.clone(), candidate(Caller, "f", "src/b.rs", 1, 9, 1)], &BTreeMap::new(), 600);
    assert_eq!(names(&chosen), ["Definition src/a.rs:1", "Caller src/b.rs:1"]);
    assert!(chosen.pieces[0].is_shortened && chosen.excerpts[0].text.contains("…"));
    large.short = None;
    assert_eq!(choose(&[large], &BTreeMap::new(), 600).left_out, BTreeMap::from([(Definition, 1)]));
}

#[test]
fn distance_counts_the_folders_between() {
    let between = |one: &str, other: &str| distance(&one.into(), &other.into());
    assert_eq!(between("a/b.rs", "a/b.rs"), 0);
    assert_eq!(between("a/b.rs", "a/c.rs"), 1);
    assert_eq!(between("a/b.rs", "a/d/c.rs"), 2);
    assert_eq!(between("a/b.rs", "x/y/c.rs"), 4);
}

#[test]
fn a_small_change_in_a_large_file_gets_little_context() {
    assert_eq!(budget(100, 100_000, 60_000), 8_000);
    assert_eq!(budget(5_000, 40_000, 60_000), 11_000);
    assert_eq!(budget(5_000, 5_000, 60_000), 2_000, "a new file is shown whole already");
    assert_eq!(budget(100, 100_000, 1_500), 500, "a small model gets what fits");
}

fn any_candidate() -> impl Strategy<Value = Candidate> {
    let kind = prop_oneof![Just(Definition), Just(Caller), Just(Callee), Just(Type), Just(Test)];
    (kind, 0_u32..4, 0_u32..5, 1_u32..80, 0_u32..60, 0_u32..7).prop_map(|(kind, of, file, from, more, distance)| {
        let mut made = candidate(kind, &format!("f{of}"), &format!("src/{file}.rs"), from, from + more, distance);
        made.short = (more > 9).then(|| lines(from, from + 3));
        made
    })
}

proptest! {
    /// The budget holds, no line is shown twice, and the order of the candidates changes nothing.
    #[test]
    fn choosing_is_bounded_and_does_not_depend_on_order(
        candidates in proptest::collection::vec(any_candidate(), 0..30),
        budget in 0_u64..3_000,
    ) {
        let shown = BTreeMap::from([(RepoPath::from("src/1.rs"), (5..=15).collect::<BTreeSet<u32>>())]);
        let chosen = choose(&candidates, &shown, budget);
        prop_assert!(chosen.tokens <= budget);
        for excerpt in &chosen.excerpts {
            let numbers: Vec<u32> = excerpt.text.lines().filter_map(|line| line.get(1..7)?.trim().parse().ok()).collect();
            prop_assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(excerpt.path.as_str() != "src/1.rs" || numbers.iter().all(|number| !(5..=15).contains(number)));
        }
        let mut turned = candidates.clone();
        turned.reverse();
        prop_assert_eq!(choose(&turned, &shown, budget), chosen);
    }
}
