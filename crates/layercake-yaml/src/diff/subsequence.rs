//! Common subsequences of two lists, whose items are given as numbers.

use std::collections::HashMap;
use std::ops::Range;

/// Maximum number of pairs of items that are compared.
const MAX_COMPARISONS: usize = 250_000;

/// Maximum number of times that the items between others are searched for more in common, so that
/// the work is linear but for a sorting.
const MAX_DEPTH: usize = 8;

/// Common subsequence of two lists, as pairs of indexes: a longest one, unless the lists are long.
/// Of long lists, the items that are once in each are matched first, then those between these.
pub(super) fn common(base: &[usize], head: &[usize]) -> Vec<(usize, usize)> {
    let mut search = Search {
        base,
        head,
        left: MAX_COMPARISONS,
        pairs: Vec::new(),
    };
    search.between(0..base.len(), 0..head.len(), MAX_DEPTH);
    search.pairs
}

struct Search<'l> {
    base: &'l [usize],
    head: &'l [usize],
    /// Number of pairs that may still be compared.
    left: usize,
    pairs: Vec<(usize, usize)>,
}

impl Search<'_> {
    /// Adds the pairs within these ranges, in order.
    fn between(&mut self, mut base: Range<usize>, mut head: Range<usize>, depth: usize) {
        while !base.is_empty() && !head.is_empty() && self.base[base.start] == self.head[head.start]
        {
            self.pairs.push((base.start, head.start));
            (base.start, head.start) = (base.start + 1, head.start + 1);
        }
        let mut ends = 0;
        while !base.is_empty() && !head.is_empty() && self.are_same_before(base.end, head.end) {
            (base.end, head.end, ends) = (base.end - 1, head.end - 1, ends + 1);
        }
        let end = (base.end, head.end);
        self.between_different_ends(base, head, depth);
        self.pairs
            .extend((0..ends).map(|at| (end.0 + at, end.1 + at)));
    }

    /// Whether the items before these indexes are the same.
    fn are_same_before(&self, base: usize, head: usize) -> bool {
        self.base[base - 1] == self.head[head - 1]
    }

    fn between_different_ends(&mut self, base: Range<usize>, head: Range<usize>, depth: usize) {
        let comparisons = base.len().saturating_mul(head.len());
        if let Some(left) = self.left.checked_sub(comparisons) {
            self.left = left;
            let common = longest(&self.base[base.clone()], &self.head[head.clone()]);
            let of_lists = common
                .into_iter()
                .map(|(at, to)| (base.start + at, head.start + to));
            self.pairs.extend(of_lists);
            return;
        }
        let Some(depth) = depth.checked_sub(1) else {
            return;
        };
        let mut at_base = base.start;
        let mut at_head = head.start;
        for (below, above) in longest_increasing(&self.unique(base.clone(), head.clone())) {
            self.between(at_base..below, at_head..above, depth);
            self.pairs.push((below, above));
            (at_base, at_head) = (below + 1, above + 1);
        }
        if (at_base, at_head) != (base.start, head.start) {
            self.between(at_base..base.end, at_head..head.end, depth);
        }
    }

    /// Indexes of the items that are once in each of these ranges, in the order of the base.
    fn unique(&self, base: Range<usize>, head: Range<usize>) -> Vec<(usize, usize)> {
        let of_base = places(self.base, base.clone());
        let of_head = places(self.head, head);
        let unique = base.filter(|at| of_base[&self.base[*at]].is_some());
        unique
            .filter_map(|at| Some((at, (*of_head.get(&self.base[at])?)?)))
            .collect()
    }
}

/// Index of each number in a range of a list; `None` if it is there several times.
fn places(
    list: &[usize],
    range: Range<usize>,
) -> HashMap<usize, Option<usize>, foldhash::fast::RandomState> {
    let mut places = HashMap::default();
    for at in range {
        places
            .entry(list[at])
            .and_modify(|place| *place = None)
            .or_insert(Some(at));
    }
    places
}

/// Longest subsequence of these pairs in which the second indexes increase, as the first ones do.
fn longest_increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // Index of the pair with the least end among the subsequences of each length.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, (_, to)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < *to);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut row: Vec<(usize, usize)> =
        std::iter::successors(ends.last().copied(), |index| before[*index])
            .map(|index| pairs[index])
            .collect();
    row.reverse();
    row
}

fn longest(base: &[usize], head: &[usize]) -> Vec<(usize, usize)> {
    let width = head.len() + 1;
    // Lengths of the longest common subsequences of all suffixes.
    let mut common = vec![0_u32; (base.len() + 1) * width];
    for (below, left) in base.iter().enumerate().rev() {
        for (above, right) in head.iter().enumerate().rev() {
            let here = below * width + above;
            common[here] = if left == right {
                common[here + width + 1] + 1
            } else {
                common[here + width].max(common[here + 1])
            };
        }
    }
    let mut row = Vec::new();
    let mut below = 0;
    let mut above = 0;
    while below < base.len() && above < head.len() {
        let here = below * width + above;
        if base[below] == head[above] {
            row.push((below, above));
            (below, above) = (below + 1, above + 1);
        } else if common[here + width] >= common[here + 1] {
            below += 1;
        } else {
            above += 1;
        }
    }
    row
}
