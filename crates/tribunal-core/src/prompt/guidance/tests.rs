use super::*;
use proptest::prelude::*;

fn paths(names: &[&str]) -> Vec<RepoPath> {
    names.iter().map(|name| RepoPath::from(*name)).collect()
}

fn ordered(tree: &[&str], changed: &[&str], configured: &str) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct File {
        #[serde(default)]
        guidance: Vec<GuidanceConfig>,
    }
    let configured = toml::from_str::<File>(configured).unwrap().guidance;
    let changed = paths(changed);
    let found = sources(&paths(tree), &changed.iter().collect::<Vec<_>>(), &configured).0;
    found.iter().map(|source| source.place.name()).collect()
}

/// Issue 18, 4: nearest folder first, and only for the files below it.
#[test]
fn the_nearest_folder_comes_first() {
    let tree = ["AGENTS.md", "CONTRIBUTING.md", "web/AGENTS.md", "web/api/CLAUDE.md", "web/api/REVIEW.md", "cli/AGENTS.md"];
    assert_eq!(
        ordered(&tree, &["web/api/v1/user.py", "web/page.py"], ""),
        ["web/AGENTS.md", "web/api/REVIEW.md", "web/api/CLAUDE.md", "AGENTS.md", "CONTRIBUTING.md"]
    );
    assert_eq!(ordered(&tree, &["setup.py"], ""), ["AGENTS.md", "CONTRIBUTING.md"]);
    assert_eq!(ordered(&["webs/AGENTS.md"], &["web/a.py"], ""), [""; 0], "a name that only begins alike is another folder");
}

#[test]
fn shared_folders_speak_for_what_is_around_them() {
    assert_eq!(
        ordered(&[".github/CONTRIBUTING.md", "docs/contributing.md", "docs/AGENTS.md"], &["src/a.rs"], ""),
        [".github/CONTRIBUTING.md", "docs/contributing.md"]
    );
}

#[test]
fn configured_entries_come_first_where_their_paths_match() {
    let configured = "[[guidance]]\npaths = ['sql/**']\ntext = 'a'\n[[guidance]]\nfile = 'docs/review.md'\n[[guidance]]\npaths = ['src/**']\ntext = 'b'";
    assert_eq!(ordered(&["AGENTS.md"], &["src/a.rs"], configured), ["docs/review.md", "[[guidance]] 3", "AGENTS.md"]);
}

fn source(name: &str, kind: GuidanceKind) -> GuidanceSource {
    GuidanceSource { kind, place: GuidancePlace::File(name.into()), reason: "test".into() }
}

#[test]
fn what_says_nothing_new_is_left_out_in_silence_and_what_does_not_fit_is_counted() {
    let read = vec![
        (source("a/AGENTS.md", GuidanceKind::Agents), "Use tabs.".to_owned()),
        (source("CLAUDE.md", GuidanceKind::Claude), "@AGENTS.md\n".to_owned()),
        (source("AGENTS.md", GuidanceKind::Agents), "Use tabs.\n".to_owned()),
        (source("CONTRIBUTING.md", GuidanceKind::Contributing), "# Hello\n\nBe kind.\n".to_owned()),
        (source("REVIEW.md", GuidanceKind::Review), format!("{}\nlast", "0123456789\n".repeat(3))),
        (source("x/REVIEW.md", GuidanceKind::Review), "No room for this.".to_owned()),
    ];
    let guidance = compose(read, 2, 40);
    let given: Vec<(&str, bool)> = guidance.texts.iter().map(|text| (text.source.as_str(), text.is_cut)).collect();
    assert_eq!(given, [("a/AGENTS.md", false), ("REVIEW.md", true)]);
    assert_eq!(guidance.left_out, 3);
    assert!(guidance.listing().contains("=== GUIDANCE REVIEW.md (test) ===\n0123456789\n0123456789\n(cut here)"));
}

#[test]
fn sections_about_reviews_are_taken_whole() {
    let text = "# Contributing\n\nHi.\n\n## Code style\n\nTabs.\n\n### Names\nShort.\n\n```\n# no heading\n```\n\n## Setup\nRun it.\n\nPull requests\n-------------\nSmall.\n\nLicense\n-------\nMIT\n";
    assert_eq!(
        review_sections(text).unwrap(),
        "## Code style\n\nTabs.\n\n### Names\nShort.\n\n```\n# no heading\n```\n\nPull requests\n-------------\nSmall."
    );
    assert_eq!(review_sections("# Contributing\nHi.\n"), None);
}

proptest! {
    /// Whatever is written there, the bounds hold, and nothing breaks.
    #[test]
    fn guidance_is_bounded(texts in proptest::collection::vec("\\PC{0,200}(\n\\PC{0,60}){0,80}", 0..6), room in 0_usize..40_000) {
        let read = texts.into_iter().enumerate().map(|(n, text)| (source(&format!("{n}/AGENTS.md"), GuidanceKind::Agents), text));
        let guidance = compose(read.collect(), 0, room);
        let bytes: usize = guidance.texts.iter().map(|text| text.text.len()).sum();
        prop_assert!(bytes <= room.min(MAX_BYTES));
        prop_assert!(guidance.texts.iter().all(|text| text.text.len() <= MAX_BYTES_OF_ONE));
    }
}
