//! Groups by average linkage: two groups become one if their members are alike on average, the most alike pair of groups first.
//!
//! So one member that resembles two groups does not join them, as it would if likeness were handed on from pair to pair. A larger group
//! needs less likeness: the more voices there are, the more ways of saying it they have. Members that may not stand in one group never do.

/// Two items that may be one, and how alike they are. Items without a link never stand in one group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    pub one: usize,
    pub other: usize,
    pub similarity: f64,
}

/// How alike two groups must be.
#[derive(Debug, Clone, Copy)]
pub struct Threshold {
    pub pair: f64,
    /// What is taken off each time that the number of members doubles.
    pub less_per_doubling: f64,
}

impl Threshold {
    fn of(self, members: usize) -> f64 {
        self.pair - self.less_per_doubling * f64::log2(members as f64 / 2.0)
    }
}

/// Every item once, in groups. Of equally good groups the one with the first item is made first, so the order of the items decides
/// nothing else.
pub fn groups(items: usize, links: &[Link], threshold: Threshold) -> Vec<Vec<usize>> {
    let roots = connected(items, links, threshold);
    let mut components: Vec<(Vec<usize>, Vec<Link>)> = vec![(Vec::new(), Vec::new()); items];
    let mut numbers = Vec::with_capacity(items);
    for item in 0..items {
        let members = &mut components[roots[item]].0;
        numbers.push(members.len());
        members.push(item);
    }
    for link in links.iter().filter(|link| roots[link.one] == roots[link.other]) {
        let within = Link { one: numbers[link.one], other: numbers[link.other], ..*link };
        components[roots[link.one]].1.push(within);
    }
    let mut groups: Vec<Vec<usize>> = components
        .into_iter()
        .filter(|(members, _)| !members.is_empty())
        .flat_map(|(members, links)| Groups::new(members, &links, threshold).join())
        .collect();
    groups.sort();
    groups
}

/// For each item the first one that links hold it together with, so that a long file is not one table. An average reaches a threshold
/// only if one of its links does.
fn connected(items: usize, links: &[Link], threshold: Threshold) -> Vec<usize> {
    fn root(parents: &mut [usize], mut item: usize) -> usize {
        while parents[item] != item {
            parents[item] = parents[parents[item]];
            item = parents[item];
        }
        item
    }
    let mut parents: Vec<usize> = (0..items).collect();
    let least = threshold.of(items.max(2));
    for link in links.iter().filter(|link| link.similarity >= least) {
        let (one, other) = (root(&mut parents, link.one), root(&mut parents, link.other));
        parents[one.max(other)] = one.min(other);
    }
    (0..items).map(|item| root(&mut parents, item)).collect()
}

/// The groups of one component, while they grow.
struct Groups {
    members: Vec<Vec<usize>>,
    /// The sum of the similarities between two groups; less than nothing for those that may not be one.
    sums: Vec<f64>,
    /// For each group the later one that it fits best, with the margin.
    best: Vec<Option<(f64, usize)>>,
    threshold: Threshold,
}

impl Groups {
    /// Links name items by their place in `items`.
    fn new(items: Vec<usize>, links: &[Link], threshold: Threshold) -> Self {
        let count = items.len();
        let mut sums = vec![f64::NEG_INFINITY; count * count];
        for link in links {
            sums[link.one * count + link.other] = link.similarity;
            sums[link.other * count + link.one] = link.similarity;
        }
        let members = items.into_iter().map(|item| vec![item]).collect();
        let mut groups = Self { members, sums, best: vec![None; count], threshold };
        for one in 0..count {
            groups.best[one] = groups.best_of(one);
        }
        groups
    }

    fn join(mut self) -> Vec<Vec<usize>> {
        while let Some((one, other)) = self.next() {
            self.join_two(one, other);
        }
        self.members.retain(|members| !members.is_empty());
        self.members.iter_mut().for_each(|members| members.sort_unstable());
        self.members
    }

    fn next(&self) -> Option<(usize, usize)> {
        let mut next: Option<(f64, usize, usize)> = None;
        for (one, best) in self.best.iter().enumerate() {
            if let Some((margin, other)) = best.filter(|(margin, _)| next.is_none_or(|next| *margin > next.0)) {
                next = Some((margin, one, other));
            }
        }
        next.map(|(_, one, other)| (one, other))
    }

    fn margin(&self, one: usize, other: usize) -> f64 {
        let (ours, theirs) = (self.members[one].len(), self.members[other].len());
        self.sums[one * self.members.len() + other] / (ours * theirs) as f64 - self.threshold.of(ours + theirs)
    }

    fn best_of(&self, one: usize) -> Option<(f64, usize)> {
        let mut best: Option<(f64, usize)> = None;
        if self.members[one].is_empty() {
            return best;
        }
        for other in one + 1..self.members.len() {
            if self.members[other].is_empty() {
                continue;
            }
            let margin = self.margin(one, other);
            if margin >= 0.0 && best.is_none_or(|best| margin > best.0) {
                best = Some((margin, other));
            }
        }
        best
    }

    fn join_two(&mut self, one: usize, other: usize) {
        let count = self.members.len();
        let moved = std::mem::take(&mut self.members[other]);
        self.members[one].extend(moved);
        for third in 0..count {
            let sum = self.sums[one * count + third] + self.sums[other * count + third];
            self.sums[one * count + third] = sum;
            self.sums[third * count + one] = sum;
        }
        self.best[other] = None;
        self.best[one] = self.best_of(one);
        for third in 0..one.max(other) {
            if third == one || self.members[third].is_empty() {
                continue;
            }
            let was_best = self.best[third].is_some_and(|(_, best)| best == one || best == other);
            if was_best {
                self.best[third] = self.best_of(third);
            } else if third < one {
                let margin = self.margin(third, one);
                let is_better = self.best[third].is_none_or(|(best, at)| margin > best || (margin == best && one < at));
                if margin >= 0.0 && is_better {
                    self.best[third] = Some((margin, one));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: Threshold = Threshold { pair: 0.5, less_per_doubling: 0.0 };

    fn link(one: usize, other: usize, similarity: f64) -> Link {
        Link { one, other, similarity }
    }

    /// Likeness is not handed on: 0 is like 1, 1 is like 2, and 0 is not like 2.
    #[test]
    fn one_member_does_not_join_two_groups() {
        let links = [link(0, 1, 0.6), link(1, 2, 0.55), link(0, 2, 0.1)];
        assert_eq!(groups(4, &links, HALF), [vec![0, 1], vec![2], vec![3]]);
        let near = [link(0, 1, 0.6), link(1, 2, 0.55), link(0, 2, 0.46)];
        assert_eq!(groups(4, &near, HALF), [vec![0, 1, 2], vec![3]]);
    }

    #[test]
    fn items_without_a_link_stay_apart() {
        assert_eq!(groups(3, &[link(0, 1, 1.0), link(1, 2, 0.9)], HALF), [vec![0, 1], vec![2]]);
    }

    #[test]
    fn a_larger_group_needs_less() {
        let links = [link(0, 1, 0.6), link(1, 2, 0.45), link(0, 2, 0.45)];
        assert_eq!(groups(3, &links, HALF).len(), 2);
        assert_eq!(groups(3, &links, Threshold { less_per_doubling: 0.1, ..HALF }).len(), 1);
    }
}
