//! A fix that is known line by line: a suggestion block, or what a rule puts in place of what it found.
//!
//! Each is written for the file as it was read. When several are made in one pass, those before have moved the lines of those after,
//! so each is moved along before it is applied; two that want the same lines are told apart or seen to be one.

use super::edits::Edit;
use crate::feedback::item::ItemId;
use crate::findings::report::Fix;
use crate::ids::RepoPath;

/// These lines, and the text that stands there afterwards, with its line ends. A `last` before `first` is an insertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    pub path: RepoPath,
    pub first: u32,
    pub last: u32,
    pub text: String,
}

/// Where splices go once others are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moved {
    /// What is left to do: an import that another item has brought is left out.
    To(Vec<Splice>),
    /// The same change was made for another item.
    Done(ItemId),
    /// Another item's change took some of these lines.
    Taken(ItemId),
}

/// What a fix does to the file that it was made for, with the line ends of that file. Nothing where its lines are not there.
pub fn splices(fix: &Fix, path: &RepoPath, text: &str) -> Option<Vec<Splice>> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let whole = |text: &str| text.split('\n').map(|line| format!("{}{ending}", line.trim_end_matches('\r'))).collect::<String>();
    let last = lines.get((fix.line_end as usize).checked_sub(1)?)?;
    if !fix.is_well_placed() || fix.insertions.iter().any(|added| added.line as usize > lines.len() + 1) {
        return None;
    }
    let mut replaced = if fix.replacement.is_empty() { String::new() } else { whole(&fix.replacement) };
    if !last.ends_with('\n') {
        replaced.truncate(replaced.trim_end_matches(['\r', '\n']).len());
    }
    let main = Splice { path: path.clone(), first: fix.line_start, last: fix.line_end, text: replaced };
    let added = fix.insertions.iter().map(|added| Splice {
        path: path.clone(),
        first: added.line,
        last: added.line - 1,
        text: whole(&added.text),
    });
    Some(std::iter::once(main).chain(added).collect())
}

/// After `made`, each given as it was written for the file as it was read.
pub fn after(splices: &[Splice], made: &[(ItemId, Splice)]) -> Moved {
    let mut left = Vec::new();
    let mut done = None;
    for splice in splices {
        match splice.after(made) {
            Place::Moved(moved) => left.push(moved),
            Place::Done(item) => done = Some(item),
            Place::Taken(item) => return Moved::Taken(item),
        }
    }
    match done {
        Some(item) if left.is_empty() => Moved::Done(item),
        _ => Moved::To(left),
    }
}

/// As one edit of the file, which quotes all of it, so that the place occurs once.
pub fn edit(splices: &[Splice], text: &str) -> Option<Edit> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let path = splices.first()?.path.clone();
    let mut order: Vec<&Splice> = splices.iter().collect();
    order.sort_by_key(|splice| (splice.first, splice.last));
    let mut replace = String::new();
    let mut at = 0;
    for splice in order {
        let (first, last) = ((splice.first as usize).checked_sub(1)?, splice.last as usize);
        // Splices that overlap are no change that could be meant.
        replace.push_str(&lines.get(at..first)?.concat());
        lines.get(first..last.max(first))?;
        if first == lines.len() && !replace.is_empty() && !replace.ends_with('\n') {
            replace.push('\n');
        }
        replace.push_str(&splice.text);
        at = last.max(first);
    }
    replace.push_str(&lines.get(at..)?.concat());
    Some(Edit { path, find: text.to_owned(), replace })
}

/// Where one splice goes.
enum Place {
    Moved(Splice),
    Done(ItemId),
    Taken(ItemId),
}

impl Splice {
    fn after(&self, made: &[(ItemId, Splice)]) -> Place {
        let mut shift = 0_i64;
        for (item, other) in made.iter().filter(|(_, other)| other.path == self.path) {
            if other == self {
                return Place::Done(item.clone());
            }
            if other.last >= self.first && other.first <= self.last {
                return Place::Taken(item.clone());
            }
            if other.last < self.first {
                shift += other.text.split_inclusive('\n').count() as i64 - (i64::from(other.last) - i64::from(other.first) + 1);
            }
        }
        let moved = |line: u32| u32::try_from(i64::from(line) + shift).unwrap_or(1);
        Place::Moved(Splice { first: moved(self.first), last: moved(self.last), ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::edits::apply;
    use super::*;
    use crate::findings::report::Insertion;
    use proptest::prelude::*;

    fn splice(first: u32, last: u32, text: &str) -> Splice {
        Splice { path: "a".into(), first, last, text: text.into() }
    }

    #[test]
    fn lines_below_move_and_lines_above_stay() {
        let made = [(ItemId("one".into()), splice(2, 4, "x\n")), (ItemId("two".into()), splice(9, 9, "y\nz\n"))];
        let moved = |splice: Splice| after(&[splice], &made);
        assert_eq!(moved(splice(5, 6, "q\n")), Moved::To(vec![splice(3, 4, "q\n")]));
        assert_eq!(moved(splice(10, 10, "q\n")), Moved::To(vec![splice(9, 9, "q\n")]));
        assert_eq!(moved(splice(1, 1, "q\n")), Moved::To(vec![splice(1, 1, "q\n")]));
        let elsewhere = Splice { path: "b".into(), ..splice(5, 6, "q\n") };
        assert_eq!(moved(elsewhere.clone()), Moved::To(vec![elsewhere]));
    }

    #[test]
    fn the_same_lines_are_taken_once() {
        let made = [(ItemId("one".into()), splice(2, 4, "x\n"))];
        assert_eq!(after(&[splice(2, 4, "x\n")], &made), Moved::Done(ItemId("one".into())));
        assert_eq!(after(&[splice(4, 5, "x\n")], &made), Moved::Taken(ItemId("one".into())));
    }

    /// Two fixes that need the same import bring it once; the lines below count it.
    #[test]
    fn an_import_is_brought_once() {
        let text = "import os\n\na\nb\n";
        let fix = |line: u32, code: &str| Fix {
            insertions: vec![Insertion { line: 2, text: "import re".into() }],
            ..Fix::of_lines(line, line, code.into())
        };
        let first = splices(&fix(3, "re.a"), &"a".into(), text).unwrap();
        let edited = edit(&first, text).unwrap();
        let now = apply(&[edited], |_| Some(text.to_owned())).unwrap().remove(&RepoPath::from("a")).unwrap();
        assert_eq!(now, "import os\nimport re\n\nre.a\nb\n");
        let made: Vec<_> = first.into_iter().map(|splice| (ItemId("one".into()), splice)).collect();
        let second = splices(&fix(4, "re.b"), &"a".into(), text).unwrap();
        assert_eq!(after(&second, &made), Moved::To(vec![splice(5, 5, "re.b\n")]));
    }

    #[test]
    fn line_ends_of_the_file_are_kept() {
        let applied = |fix: &Fix, text: &str| {
            let edit = edit(&splices(fix, &"a".into(), text)?, text)?;
            apply(&[edit], |_| Some(text.to_owned())).ok()?.remove(&RepoPath::from("a"))
        };
        assert_eq!(applied(&Fix::of_lines(1, 1, "x\ny".into()), "a\r\nb\r\n").as_deref(), Some("x\r\ny\r\nb\r\n"));
        assert_eq!(applied(&Fix::of_lines(2, 2, "x".into()), "a\nb").as_deref(), Some("a\nx"));
        assert_eq!(applied(&Fix::of_lines(1, 1, String::new()), "a\nb\n").as_deref(), Some("b\n"));
        assert_eq!(applied(&Fix::of_lines(3, 3, "x".into()), "a\nb\n"), None);
        let appended = Fix { insertions: vec![Insertion { line: 3, text: "z".into() }], ..Fix::of_lines(1, 1, "x".into()) };
        assert_eq!(applied(&appended, "a\nb").as_deref(), Some("x\nb\nz\n"));
    }

    proptest! {
        /// One after the other in any order gives what all at once would.
        #[test]
        fn the_order_does_not_matter(sizes in proptest::collection::vec((1u32..3, 0usize..4), 1..6), turn in 0usize..6) {
            let mut all = Vec::new();
            let mut line = 1;
            for (index, (height, count)) in sizes.iter().enumerate() {
                all.push(splice(line, line + height - 1, &format!("new {index}\n").repeat(*count)));
                line += height + 1;
            }
            let text: String = (1..line).map(|number| format!("line {number}\n")).collect();
            let made = |order: Vec<Splice>| {
                let mut now = text.clone();
                let mut done = Vec::new();
                for next in order {
                    let Moved::To(moved) = after(std::slice::from_ref(&next), &done) else { panic!("they do not touch") };
                    let edit = edit(&moved, &now).unwrap();
                    now = apply(&[edit], |_| Some(now.clone())).unwrap().remove(&RepoPath::from("a")).unwrap_or(now);
                    done.push((ItemId(format!("{}", next.first)), next));
                }
                now
            };
            let mut turned = all.clone();
            turned.rotate_left(turn % all.len());
            prop_assert_eq!(made(turned), made(all));
        }
    }
}
