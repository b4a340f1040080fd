//! Similar names: "did you mean".

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::BuildHasher;

type Lookup<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Maximum length in bytes of a compared name; longer names are generated, not mistyped.
pub const MAX_BYTES: usize = 256;
/// Maximum number of candidates per search.
pub const MAX_CANDIDATES: usize = 5_000;
/// Maximum number of candidates of similar length that one search compares.
pub const MAX_COMPARED: usize = 500;
/// Maximum number of pairs of letters that one search compares.
pub const MAX_PAIRS: usize = 20_000;
/// Maximum number of bytes and of pairs of letters for all searches inside [`within`]. Searches
/// beyond it find nothing.
pub const MAX_WORK: usize = 10_000_000;

thread_local! {
    /// Work left for the searches of this thread; `None` without a common limit.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Runs `work`, limiting all its searches on this thread to [`MAX_WORK`]. `work` must search in a
/// fixed order, so that results are reproducible.
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

/// Consumes some of the remaining work; `None` if it is not enough.
fn spend(cost: usize) -> Option<()> {
    let Some(left) = LEFT.get() else {
        return Some(());
    };
    let rest = left.checked_sub(cost);
    LEFT.set(Some(rest.unwrap_or(0)));
    rest.map(drop)
}

/// Candidate most similar to `name`, if a typing error explains the difference: letters that are
/// missing, doubled or swapped.
///
/// The cost is bounded for any number and length of candidates: see [`MAX_BYTES`],
/// [`MAX_CANDIDATES`], [`MAX_COMPARED`] and [`MAX_PAIRS`].
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_BYTES {
        return None;
    }
    let length = name.chars().count();
    let allowed = (length / 4).clamp(1, 3);
    let has_length = |candidate: &&str| {
        // A letter has at most four bytes.
        candidate.len().abs_diff(name.len()) <= 4 * allowed + 3 * length
            && candidate.len() <= MAX_BYTES
            && candidate.chars().count().abs_diff(length) <= allowed
            && *candidate != name
    };
    let mut pairs = 0;
    let mut best: Option<(usize, &str)> = None;
    let candidates = candidates
        .into_iter()
        .take(MAX_CANDIDATES)
        .take_while(|_| spend(2).is_some());
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

/// As [`nearest`], regardless of case: a candidate that differs only in case is the most similar.
pub fn nearest_in_any_case<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().take(MAX_CANDIDATES).collect();
    let folded: Vec<String> = candidates.iter().map(|it| it.to_lowercase()).collect();
    let wanted = name.to_lowercase();
    let equal = (0..candidates.len())
        .filter(|at| candidates[*at] != name)
        .find(|at| folded[*at] == wanted);
    let at = equal.or_else(|| {
        let near = nearest(&wanted, folded.iter().map(String::as_str))?;
        folded.iter().position(|it| it == near)
    });
    at.map(|at| candidates[at])
}

/// Maximum number of names listed in a message.
pub const MAX_LISTED: usize = 10;

/// Names for a message: at most [`MAX_LISTED`], and the number of the others.
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let listed: Vec<&str> = names.by_ref().take(MAX_LISTED).collect();
    match names.count() {
        0 => listed.join(", "),
        more => format!("{} and {more} more", listed.join(", ")),
    }
}

/// Remedy for an unknown name: the most similar of the known ones, or else a list of them, called
/// `kind`; `None` if none are known.
pub fn help_for_unknown(name: &str, kind: &str, known: &[&str]) -> Option<String> {
    match nearest_in_any_case(name, known.iter().copied()) {
        Some(near) => Some(format!("did you mean `{near}`?")),
        None if known.is_empty() => None,
        None => Some(format!("the {kind} are: {}", list(known.iter().copied()))),
    }
}

/// Number of occurrences of each ASCII letter in a name; some letters share a bucket.
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

    /// Lower bound of the edit distance: each edit adds at most one letter and removes at most one.
    fn apart(&self, other: &Self) -> usize {
        let both = || self.0.iter().zip(&other.0);
        let sum = |count: u8| usize::from(count);
        let added: usize = both()
            .map(|(one, other)| sum(other.saturating_sub(*one)))
            .sum();
        let taken: usize = both()
            .map(|(one, other)| sum(one.saturating_sub(*other)))
            .sum();
        added.max(taken)
    }
}

/// Whether the names differ by one inserted, removed or replaced letter, or by two swapped ones.
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

/// Strips the common prefix of two names, then their common suffix.
fn without_shared_ends<'a>(one: &'a str, other: &'a str) -> (&'a str, &'a str) {
    let start = one
        .char_indices()
        .zip(other.chars())
        .take_while(|((_, one), other)| one == other)
        .last()
        .map_or(0, |((at, letter), _)| at + letter.len_utf8());
    let one = &one[start..];
    let other = &other[start..];
    let end: usize = one
        .chars()
        .rev()
        .zip(other.chars().rev())
        .take_while(|(one, other)| one == other)
        .map(|(letter, _)| letter.len_utf8())
        .sum();
    (&one[..one.len() - end], &other[..other.len() - end])
}

/// Index for finding names within one edit of another without comparing all of them: removing one
/// letter of each makes such names equal.
pub struct Slips<'a> {
    /// Names by the hashes of their full text and of their text without each letter.
    names: Lookup<u64, Vec<&'a str>>,
    hasher: foldhash::fast::RandomState,
}

impl<'a> Slips<'a> {
    /// Names within one edit of `name`, each once.
    pub fn of(&self, name: &str) -> Vec<&'a str> {
        let left = rests(name, &self.hasher);
        let candidates = left
            .filter_map(|rest| self.names.get(&rest))
            .flatten()
            .copied();
        let mut found: Vec<&str> = candidates
            .filter(|candidate| is_one_slip_apart(name, candidate))
            .collect();
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

/// Hashes of a name, and of its text without each letter; for names longer than [`MAX_BYTES`], only
/// the hash of the name.
fn rests(name: &str, hasher: &impl BuildHasher) -> impl Iterator<Item = u64> {
    let shortened = if name.len() > MAX_BYTES { "" } else { name };
    let without = shortened
        .char_indices()
        .map(|(at, letter)| (&name[..at], letter.len_utf8()))
        .map(|(start, length)| (start, &name[start.len() + length..]));
    let all = std::iter::once((name, "")).chain(without);
    all.map(|(start, end)| {
        let letters = start.bytes().chain(end.bytes());
        hasher.hash_one(letters.collect::<Vec<u8>>())
    })
}
