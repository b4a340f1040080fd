//! Near misses: "did you mean".

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::BuildHasher;

type Lookup<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Maximum bytes of a name that is compared; longer ones are generated, not mistyped.
pub const MAX_BYTES: usize = 256;
/// Maximum number of candidates that one search looks at.
pub const MAX_CANDIDATES: usize = 5_000;
/// Maximum number of candidates of about the right length that one search compares.
pub const MAX_COMPARED: usize = 500;
/// Maximum number of pairs of letters that one search compares.
pub const MAX_PAIRS: usize = 20_000;
/// Maximum number of bytes and of pairs of letters that all searches inside [`within`]
/// look at. What comes behind is found to be like nothing.
pub const MAX_WORK: usize = 10_000_000;

thread_local! {
    /// Work left to the searches of this thread; `None` if they have no common limit.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Runs `work` and limits its searches on this thread to [`MAX_WORK`] together. `work` must
/// search in a fixed order, so that every run finds the same.
pub fn within<T>(work: impl FnOnce() -> T) -> T {
    let _before = Before(LEFT.replace(Some(MAX_WORK)));
    work()
}

/// Restores the previous limit, even if `work` panics.
struct Before(Option<usize>);

impl Drop for Before {
    fn drop(&mut self) {
        LEFT.set(self.0);
    }
}

/// Spends some of what is left; none where it is not enough.
fn spend(cost: usize) -> Option<()> {
    let Some(left) = LEFT.get() else { return Some(()) };
    let rest = left.checked_sub(cost);
    LEFT.set(Some(rest.unwrap_or(0)));
    rest.map(drop)
}

/// The candidate most like `name`, if one is so like it that a slip of the
/// hand explains the difference: letters left out, doubled, or swapped.
///
/// The cost does not depend on how long and how many the candidates are: see
/// [`MAX_BYTES`], [`MAX_CANDIDATES`], [`MAX_COMPARED`] and [`MAX_PAIRS`].
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_BYTES {
        return None;
    }
    let length = name.chars().count();
    let allowed = (length / 4).clamp(1, 3);
    let has_length = |candidate: &&str| {
        // No letter has more than four bytes.
        candidate.len().abs_diff(name.len()) <= 4 * allowed + 3 * length
            && candidate.len() <= MAX_BYTES
            && candidate.chars().count().abs_diff(length) <= allowed
            && *candidate != name
    };
    let mut pairs = 0;
    let mut best: Option<(usize, &str)> = None;
    let candidates = candidates.into_iter().take(MAX_CANDIDATES).take_while(|_| spend(2).is_some());
    for candidate in candidates.filter(has_length).take(MAX_COMPARED) {
        spend(length + candidate.len())?;
        let (one, other) = without_shared_ends(name, candidate);
        if Letters::of(one).apart(&Letters::of(other)) > allowed {
            continue;
        }
        spend(one.len() * other.len())?;
        pairs += one.len() * other.len();
        if pairs > MAX_PAIRS {
            break;
        }
        let distance = strsim::damerau_levenshtein(one, other);
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
        if distance <= 1 {
            break;
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// How often each letter of ASCII stands in a name; some of them share a place.
struct Letters([u8; 64]);

impl Letters {
    fn of(name: &str) -> Self {
        let mut counts = [0; 64];
        for byte in name.bytes().filter(u8::is_ascii) {
            let count: &mut u8 = &mut counts[usize::from(byte % 64)];
            *count = count.saturating_add(1);
        }
        Self(counts)
    }

    /// Two names are at least so many slips apart: each adds a letter at most,
    /// and takes one away at most.
    fn apart(&self, other: &Self) -> usize {
        let both = || self.0.iter().zip(&other.0);
        let sum = |count: u8| usize::from(count);
        let added: usize = both().map(|(one, other)| sum(other.saturating_sub(*one))).sum();
        let taken: usize = both().map(|(one, other)| sum(one.saturating_sub(*other))).sum();
        added.max(taken)
    }
}

/// Whether one letter left out, added or changed, or two swapped, make one
/// name the other.
pub fn is_one_slip_apart(one: &str, other: &str) -> bool {
    let (one, other) = without_shared_ends(one, other);
    let mut letters = (one.chars(), other.chars());
    let mut next = || (letters.0.next(), letters.1.next());
    match (next(), next(), next()) {
        ((None, None), ..) => false,
        (_, (None, None), _) => true,
        ((one, other), (other_again, one_again), (None, None)) => {
            one == one_again && other == other_again
        }
        _ => false,
    }
}

/// What is left of two names without the letters that both begin with, and
/// those that both end with then.
fn without_shared_ends<'a>(one: &'a str, other: &'a str) -> (&'a str, &'a str) {
    let pairs = one.char_indices().zip(other.chars());
    let same = pairs.take_while(|((_, one), other)| one == other);
    let start = same.last().map_or(0, |((at, letter), _)| at + letter.len_utf8());
    let (one, other) = (&one[start..], &other[start..]);
    let pairs = one.chars().rev().zip(other.chars().rev());
    let same = pairs.take_while(|(one, other)| one == other);
    let end: usize = same.map(|(letter, _)| letter.len_utf8()).sum();
    (&one[..one.len() - end], &other[..other.len() - end])
}

/// Names, to find those that are one slip apart from another without comparing
/// it with all of them: what is left of the two without one letter is the same.
pub struct Slips<'a> {
    /// Names by the hash of what is left of them without any letter, and
    /// without each.
    names: Lookup<u64, Vec<&'a str>>,
    hasher: foldhash::fast::RandomState,
}

impl<'a> Slips<'a> {
    /// The names that are one slip apart from `name`, each once.
    pub fn of(&self, name: &str) -> Vec<&'a str> {
        let left = rests(name, &self.hasher);
        let candidates = left.filter_map(|rest| self.names.get(&rest)).flatten().copied();
        let mut found: Vec<&str> =
            candidates.filter(|candidate| is_one_slip_apart(name, candidate)).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl<'a> FromIterator<&'a str> for Slips<'a> {
    fn from_iter<I: IntoIterator<Item = &'a str>>(all: I) -> Self {
        let hasher = foldhash::fast::RandomState::default();
        let mut names: Lookup<u64, Vec<&'a str>> = Lookup::default();
        for name in all {
            for rest in rests(name, &hasher) {
                names.entry(rest).or_default().push(name);
            }
        }
        Self { names, hasher }
    }
}

/// Hashes of a name, and of what is left of it without each of its letters; of a name of more
/// than [`MAX_BYTES`] without none.
fn rests(name: &str, hasher: &impl BuildHasher) -> impl Iterator<Item = u64> {
    let shortened = if name.len() > MAX_BYTES { "" } else { name };
    let without = shortened.char_indices().map(|(at, letter)| (&name[..at], letter.len_utf8()));
    let without = without.map(|(start, length)| (start, &name[start.len() + length..]));
    let all = std::iter::once((name, "")).chain(without);
    all.map(|(start, end)| {
        let letters = start.bytes().chain(end.bytes());
        hasher.hash_one(letters.collect::<Vec<u8>>())
    })
}
