//! Near misses: "did you mean".

/// The candidate most like `name`, if one is so like it that a slip of the
/// hand explains the difference: letters left out, doubled, or swapped.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let length = name.chars().count();
    let allowed = (length / 4).clamp(1, 3);
    candidates
        .into_iter()
        .filter(|candidate| {
            *candidate != name && candidate.chars().count().abs_diff(length) <= allowed
        })
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Whether one letter left out, added or changed, or two swapped, make one
/// name the other.
pub(crate) fn is_one_slip_apart(one: &str, other: &str) -> bool {
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

#[cfg(test)]
mod tests {
    use super::is_one_slip_apart;

    #[test]
    fn one_slip_is_a_distance_of_one() {
        let names =
            ["", "a", "b", "ab", "ba", "abc", "acb", "bac", "aab", "abab", "\u{e4}b", "b\u{e4}"];
        for one in names {
            for other in names {
                let distance = strsim::damerau_levenshtein(one, other);
                assert_eq!(is_one_slip_apart(one, other), distance == 1, "{one} and {other}");
            }
        }
    }
}
