//! The letters that git puts before the two sides' paths: `a/` and `b/`, under `diff.mnemonicPrefix` what is compared (`c`ommit,
//! `i`ndex, `w`ork tree, `o`bject), under `--no-prefix` nothing. A folder may be called `a` or `w` too, so nothing is taken off
//! that the diff's own headers do not show to be a prefix.

/// What git compares with what; `-R` turns a pair around.
const PAIRS: [(u8, u8); 6] = [(b'a', b'b'), (b'c', b'i'), (b'c', b'w'), (b'i', b'w'), (b'o', b'w'), (b'1', b'2')];
const HEADER: &[u8] = b"diff --git ";

/// The letters in use in one diff, for either side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prefixes {
    old: Vec<u8>,
    new: Vec<u8>,
}

/// What one `diff --git` line shows.
#[derive(Debug, PartialEq, Eq)]
enum Shown {
    Pair(u8, u8),
    NoPrefix,
}

impl Prefixes {
    pub fn of(diff: &[u8]) -> Self {
        let mut prefixes = Self::default();
        let mut unknown = true;
        for line in diff.split(|byte| *byte == b'\n') {
            match line.strip_prefix(HEADER).and_then(shown) {
                Some(Shown::Pair(old, new)) => {
                    unknown = false;
                    prefixes.old.push(old);
                    prefixes.new.push(new);
                }
                Some(Shown::NoPrefix) => unknown = false,
                None => {}
            }
        }
        if unknown {
            // Renames alone, or another tool's diff: the usual letters, on whichever side.
            return Self { old: b"ab".to_vec(), new: b"ab".to_vec() };
        }
        for letters in [&mut prefixes.old, &mut prefixes.new] {
            letters.sort_unstable();
            letters.dedup();
        }
        prefixes
    }

    pub fn old_path<'a>(&self, path: &'a [u8]) -> &'a [u8] {
        without(&self.old, path)
    }

    pub fn new_path<'a>(&self, path: &'a [u8]) -> &'a [u8] {
        without(&self.new, path)
    }
}

fn without<'a>(letters: &[u8], path: &'a [u8]) -> &'a [u8] {
    match path {
        [letter, b'/', rest @ ..] if letters.contains(letter) => rest,
        _ => path,
    }
}

/// The two names of a file that kept its name are equally long, so the blank between them stands in the middle. A rename says
/// nothing here, and need not: its own lines carry no prefix.
fn shown(names: &[u8]) -> Option<Shown> {
    let names = names.strip_suffix(b"\r").unwrap_or(names);
    let (old, rest) = names.split_at_checked(names.len() / 2)?;
    let new = rest.strip_prefix(b" ")?;
    let unquoted = |name: &'_ [u8]| name.strip_prefix(b"\"").unwrap_or(name).to_vec();
    match (unquoted(old).as_slice(), unquoted(new).as_slice()) {
        (old, new) if old == new => Some(Shown::NoPrefix),
        ([from, b'/', old @ ..], [to, b'/', new @ ..])
            if old == new && (PAIRS.contains(&(*from, *to)) || PAIRS.contains(&(*to, *from))) =>
        {
            Some(Shown::Pair(*from, *to))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new_path(headers: &str, path: &str) -> String {
        String::from_utf8(Prefixes::of(headers.as_bytes()).new_path(path.as_bytes()).to_vec()).unwrap()
    }

    #[test]
    fn a_letter_is_a_prefix_only_where_the_headers_say_so() {
        assert_eq!(new_path("diff --git a/x y b/x y\n", "b/x y"), "x y");
        assert_eq!(new_path("diff --git c/x w/x\r\n", "w/x"), "x");
        assert_eq!(new_path("diff --git b/x a/x\n", "a/x"), "x");
        assert_eq!(new_path("diff --git \"i/\\303\\244\" \"w/\\303\\244\"\n", "w/x"), "x");
        assert_eq!(new_path("diff --git b/x b/x\n", "b/x"), "b/x");
        assert_eq!(new_path("diff --git a/w/x b/w/x\n", "w/x"), "w/x");
        assert_eq!(new_path("diff --git q/x z/x\n", "z/x"), "z/x");
        assert_eq!(new_path("", "b/x"), "x");
    }
}
