//! Pointers of Git LFS and git-annex: a few lines of text in place of a file whose content is kept elsewhere. Whoever checks the
//! change out gets the content, which nobody has reviewed.

const LFS: &str = "version https://git-lfs.github.com/spec/";
const ANNEX: &str = "/annex/objects/";
/// git-lfs takes nothing larger for a pointer.
const MAX_BYTES: usize = 1024;

/// Does a text begin like a pointer?
pub fn begins(text: &str) -> bool {
    text.starts_with(LFS) || text.starts_with(ANNEX)
}

/// Which tool takes the whole text for a pointer. Only such a text can be exempt, because a script may begin like one.
pub fn format(text: &str) -> Option<&'static str> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_graphic());
    if let Some(key) = text.strip_prefix(ANNEX) {
        return is_word(key.strip_suffix('\n').unwrap_or(key)).then_some("git-annex pointer");
    }
    let mut lines = text.lines();
    let starts = lines.next().and_then(|line| line.strip_prefix(LFS)).is_some_and(is_word);
    let is_field = |line: &str| match line.split_once(' ') {
        Some(("oid", id)) => id.strip_prefix("sha256:").is_some_and(|id| id.bytes().all(|byte| byte.is_ascii_hexdigit())),
        Some(("size", size)) => size.bytes().all(|byte| byte.is_ascii_digit()),
        Some((key, value)) => key.starts_with("ext-") && is_word(key) && is_word(value),
        None => false,
    };
    (starts && lines.all(is_field)).then_some("Git LFS pointer")
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTER: &str = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";

    #[test]
    fn a_pointer_is_told_from_text_that_begins_like_one() {
        assert_eq!((begins(POINTER), format(POINTER)), (true, Some("Git LFS pointer")));
        assert_eq!(format("/annex/objects/SHA256E-s3--4d7a.jar\n"), Some("git-annex pointer"));
        for script in [format!("{POINTER}rm -rf ~\n"), format!("{POINTER}{}", "ext-0-a b\n".repeat(200))] {
            assert_eq!((begins(&script), super::format(&script)), (true, None), "{script}");
        }
        assert!(!begins("# version https://git-lfs.github.com/spec/v1\n"));
    }
}
