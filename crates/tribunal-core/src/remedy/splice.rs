//! A fix that is known line by line: a suggestion block, or what a rule puts in place of what it found.
//!
//! Each is written for the file as it was read. When several are made in one pass, those before have moved the lines of those after,
//! so each is moved along before it is applied; two that want the same lines are told apart or seen to be one.

use super::edits::Edit;
use crate::feedback::item::ItemId;
use crate::ids::RepoPath;

/// These lines, and the text that stands there afterwards, with its line ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    pub path: RepoPath,
    pub first: u32,
    pub last: u32,
    pub text: String,
}

/// Where a splice goes once others are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moved {
    To(Splice),
    /// The same change was made for another item.
    Done(ItemId),
    /// Another item's change took some of these lines.
    Taken(ItemId),
}

impl Splice {
    /// After these, each given as it was written for the file as it was read.
    pub fn after(&self, made: &[(ItemId, Splice)]) -> Moved {
        let mut shift = 0_i64;
        for (item, other) in made.iter().filter(|(_, other)| other.path == self.path) {
            if other == self {
                return Moved::Done(item.clone());
            }
            if other.last >= self.first && other.first <= self.last {
                return Moved::Taken(item.clone());
            }
            if other.last < self.first {
                shift += other.text.split_inclusive('\n').count() as i64 - i64::from(other.last - other.first + 1);
            }
        }
        let moved = |line: u32| u32::try_from(i64::from(line) + shift).unwrap_or(1);
        Moved::To(Splice { first: moved(self.first), last: moved(self.last), ..self.clone() })
    }

    /// As an edit of the file, which quotes all that stands before its lines, so that the place occurs once.
    pub fn edit(&self, text: &str) -> Option<Edit> {
        let all: Vec<&str> = text.split_inclusive('\n').collect();
        let first = (self.first as usize).checked_sub(1)?;
        let old = all.get(first..self.last as usize)?.concat();
        let before = all[..first].concat();
        Some(Edit { path: self.path.clone(), find: format!("{before}{old}"), replace: format!("{before}{}", self.text) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::edits::apply;
    use super::*;
    use proptest::prelude::*;

    fn splice(first: u32, last: u32, text: &str) -> Splice {
        Splice { path: "a".into(), first, last, text: text.into() }
    }

    #[test]
    fn lines_below_move_and_lines_above_stay() {
        let made = [(ItemId("one".into()), splice(2, 4, "x\n")), (ItemId("two".into()), splice(9, 9, "y\nz\n"))];
        assert_eq!(splice(5, 6, "q\n").after(&made), Moved::To(splice(3, 4, "q\n")));
        assert_eq!(splice(10, 10, "q\n").after(&made), Moved::To(splice(9, 9, "q\n")));
        assert_eq!(splice(1, 1, "q\n").after(&made), Moved::To(splice(1, 1, "q\n")));
        let elsewhere = Splice { path: "b".into(), ..splice(5, 6, "q\n") };
        assert_eq!(elsewhere.after(&made), Moved::To(elsewhere.clone()));
    }

    #[test]
    fn the_same_lines_are_taken_once() {
        let made = [(ItemId("one".into()), splice(2, 4, "x\n"))];
        assert_eq!(splice(2, 4, "x\n").after(&made), Moved::Done(ItemId("one".into())));
        assert_eq!(splice(4, 5, "x\n").after(&made), Moved::Taken(ItemId("one".into())));
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
                    let Moved::To(moved) = next.after(&done) else { panic!("they do not touch") };
                    let edit = moved.edit(&now).unwrap();
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
