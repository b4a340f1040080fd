//! Pseudorandom numbers that depend only on the seed, on every machine: splitmix64.

/// A stream of numbers.
pub struct Random(u64);

impl Random {
    /// Stream of one edit of a walk, independent of earlier edits.
    pub fn of_edit(seed: u64, edit: usize) -> Self {
        let mut random = Self(seed ^ (edit as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93));
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`, which must not be zero.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("the number is below a usize")
    }

    /// Returns true with a probability of `percent` percent.
    pub fn in_hundred(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Chooses one of `items`; `None` if there are none.
    pub fn of<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        (!items.is_empty()).then(|| &items[self.below(items.len())])
    }

    /// Chooses one of `words`, which must not be empty.
    pub fn word(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len())]
    }

    /// Shuffles `items`.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}
