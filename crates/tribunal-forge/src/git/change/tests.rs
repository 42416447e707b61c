//! Changes that are read are bounded, and what stands for content elsewhere is not taken for it.

use super::*;
use crate::port::GitSource;
use tribunal_core::plan::files::{Disposition, FileRules, NotReviewed};

struct TestRepository {
    repository: Repository,
    _folder: tempfile::TempDir,
}

impl TestRepository {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = GitSource {
            url: "https://git.example.org/a/b.git".into(),
            authorization: None,
            base_ref: "refs/heads/main".into(),
            head_ref: "refs/pull/1/head".into(),
        };
        let repository = Repository::clone_of(&folder.path().join("clone.git"), &source).unwrap();
        Self { repository, _folder: folder }
    }

    fn object(&self, kind: &str, content: &[u8]) -> Sha {
        let asked = self.repository.on_tree(UntrustedTree::HashObject).args(["-t", kind, "-w", "--stdin"]);
        Sha(asked.run_text(Some(content)).unwrap())
    }

    fn blob(&self, text: &str) -> Sha {
        self.object("blob", text.as_bytes())
    }

    /// A tree of these entries: mode, name and id.
    fn tree(&self, entries: &[(&str, String, &Sha)]) -> Sha {
        let mut content = Vec::new();
        for (mode, name, id) in entries {
            content.extend_from_slice(format!("{mode} {name}\0").as_bytes());
            content.extend((0..40).step_by(2).map(|at| u8::from_str_radix(&id.as_str()[at..at + 2], 16).unwrap()));
        }
        self.object("tree", &content)
    }

    /// Ten to the power of `depth` empty files.
    fn bomb(&self, depth: u32) -> Sha {
        let empty = self.blob("");
        let ten = |mode: &str, id: &Sha| self.tree(&(0..10).map(|n| (mode, format!("d{n}"), id)).collect::<Vec<_>>());
        (1..depth).fold(ten("100644", &empty), |tree, _| ten("40000", &tree))
    }

    fn read(&self, base: &Sha, head: &Sha, files: usize) -> Result<ReadChange, GitError> {
        self.repository.read_change(ChangeBase::commit(base), head, ReadLimits { files, ..ReadLimits::default() })
    }
}

/// Ten entries of a tree may lead to one subtree, and theirs again: a few hundred bytes are a hundred million files.
#[test]
fn a_bomb_of_trees_is_not_compared() {
    let made = TestRepository::new();
    let (base, head) = (made.tree(&[]), made.bomb(8));
    let refused = |result: Result<(), GitError>| matches!(result, Err(GitError::TooManyFiles { limit: 1_000_000 }));
    assert!(refused(made.read(&base, &head, 50_000).map(drop)));
    assert!(refused(made.read(&head, &base, 50_000).map(drop)));
    assert!(refused(made.repository.bring_changed(&base, &head)));
    assert!(refused(made.repository.count_changed(&base, &head).map(drop)));
    assert_eq!(made.repository.all_paths(&head).unwrap().len(), 1_000_000);
}

/// The first files are read, and the others are one file that was not.
#[test]
fn files_beyond_the_limit_are_named_as_one() {
    let made = TestRepository::new();
    let (base, head) = (made.tree(&[]), made.bomb(3));
    let read = made.read(&base, &head, 30).unwrap();
    assert_eq!((read.change.files.len(), read.files.len()), (30, 31));
    let further = read.files.last().unwrap();
    assert_eq!(further.path.as_str(), "(further files: the change has more than 30)");
    assert_eq!(FileRules::default().disposition(further), Disposition::NotReviewed(NotReviewed::OverTotal));
    let whole = made.read(&base, &head, 1000).unwrap();
    assert_eq!((whole.change.files.len(), whole.files.len()), (1000, 1000));
}

/// A new archive in Git LFS is a few lines of text, which are not what runs.
#[test]
fn a_pointer_is_named_as_not_read() {
    let made = TestRepository::new();
    let pointer = |digit: &str| {
        made.blob(&format!("version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 12345\n", digit.repeat(64)))
    };
    let (one, two, text) = (pointer("1"), pointer("2"), made.blob("text\n"));
    let tree = |ids: [&Sha; 2]| made.tree(&[("100644", "a.jar".into(), ids[0]), ("100644", "b.jar".into(), ids[1])]);
    let dispositions = |base: &Sha, head: &Sha| {
        let read = made.read(base, head, 100).unwrap();
        read.files.iter().map(|file| FileRules::default().disposition(file)).collect::<Vec<_>>()
    };
    let unread = Disposition::NotReviewed(NotReviewed::Pointer);
    assert_eq!(dispositions(&made.tree(&[]), &tree([&one, &one])), [unread, unread]);
    let [known, new] = dispositions(&tree([&one, &text]), &tree([&two, &two]))[..] else { unreachable!("two files") };
    assert!(matches!(known, Disposition::Skip(_)), "as any binary file of the base: {known:?}");
    assert_eq!(new, unread);
}
