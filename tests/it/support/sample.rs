//! Selects the cases of a long series: all of them if `LAYERCAKE_THOROUGH` is set, as in
//! `.ci/nightly`, otherwise enough to cover every kind of case.

/// Whether every case of a long series is run.
pub fn is_thorough() -> bool {
    std::env::var_os("LAYERCAKE_THOROUGH").is_some()
}

/// Cases to run: each one with a kind that no earlier case has.
pub fn sample<T, K: PartialEq>(cases: Vec<T>, kinds: impl Fn(&T) -> Vec<K>) -> Vec<T> {
    if is_thorough() {
        return cases;
    }
    let mut met: Vec<K> = Vec::new();
    let shows_new = |case: &T| {
        let new: Vec<K> = kinds(case)
            .into_iter()
            .filter(|kind| !met.contains(kind))
            .collect();
        let shows = !new.is_empty();
        met.extend(new);
        shows
    };
    cases.into_iter().filter(shows_new).collect()
}

#[test]
fn sample_covers_every_kind() {
    let kinds = |case: &&str| case.chars().collect();
    let expected = if is_thorough() {
        vec!["ab", "a", "bc", "c"]
    } else {
        vec!["ab", "bc"]
    };
    assert_eq!(sample(vec!["ab", "a", "bc", "c"], kinds), expected);
}

/// Random numbers (xorshift), the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
