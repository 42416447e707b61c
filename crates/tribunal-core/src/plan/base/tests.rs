use super::*;
use crate::plan::files::{Disposition, FileRules};
use proptest::prelude::*;

fn names() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "x_pb2.py",
            "x_generated.py",
            "vendor/x.js",
            "node_modules/a/b.js",
            "a.svg",
            "a.min.js",
            "zz_generated.go",
            "yarn.lock",
            "go.sum",
            "Cargo.lock",
            "bun.lockb",
            "a.snap",
            "a.po",
            "third_party/x.c",
            "a.g.dart",
            "sub/.gitattributes",
            "A.PY",
        ])
        .prop_map(str::to_owned),
        "[a-z/._-]{1,24}",
    ]
}

fn contents() -> impl Strategy<Value = ContentKind> {
    prop::sample::select(vec![
        ContentKind::Text,
        ContentKind::Binary,
        ContentKind::Submodule,
        ContentKind::Symlink,
        ContentKind::Pointer,
    ])
}

proptest! {
    /// Issue 16, point 18: whatever the change says of a file, a file that the base says nothing of is read or counts as not
    /// reviewed. A lock file whose form was checked is the one exception.
    #[test]
    fn the_change_alone_exempts_nothing(
        path in names(),
        content in contents(),
        flags in prop::array::uniform6(any::<bool>()),
        status in prop::sample::select(vec![FileStatus::Added, FileStatus::Modified, FileStatus::Renamed, FileStatus::Copied]),
        format in prop::option::of("[a-zA-Z]{1,6}"),
        known in any::<bool>(),
    ) {
        let [says_generated, too_large, over_total, became_executable, leads_out, has_hint] = flags;
        let file = FileSummary {
            old_path: has_hint.then(|| "src/app.py".into()),
            says_generated,
            too_large,
            over_total,
            became_executable,
            leads_out,
            format,
            is_lock_form: false,
            // Either nothing is known of the base, or the base has the file as plain text under a plain name.
            base: known.then(|| BaseFacts {
                attributes: FileAttributes::default(),
                before: has_hint.then(|| FileBefore {
                    path: "src/app.py".into(),
                    content: ContentKind::Text,
                    says_generated: false,
                    format: None,
                }),
            }),
            ..FileSummary::new(path.as_str().into(), status, content)
        };
        let disposition = FileRules::default().disposition(&file);
        prop_assert!(
            matches!(disposition, Disposition::Review | Disposition::NotReviewed(_)),
            "{path}: {disposition:?}"
        );
        if content == ContentKind::Binary {
            prop_assert!(matches!(disposition, Disposition::NotReviewed(_)));
        }
    }
}

#[test]
fn formats_are_known_by_their_first_bytes() {
    assert_eq!(binary_format(b"\x89PNG\r\n\x1a\n\0\0"), Some("PNG"));
    assert_eq!(binary_format(b"RIFF\0\0\0\0WEBPVP8 "), Some("WebP"));
    assert_eq!(binary_format(b"\xff\xfeh\0i\0"), Some("UTF-16 text"));
    assert_eq!(binary_format(b"import os\0"), None);
}
