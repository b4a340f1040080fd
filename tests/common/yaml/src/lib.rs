//! Helpers of tests with YAML: laws that hold for any input, and generators of input.
//!
//! Tests generate the input of a law; the fuzz targets in `fuzz/` derive it from bytes. No law
//! depends on its origin.

pub mod reading;
pub mod texts;
pub mod values;

use std::ops::Range;

/// Configuration of a property test that stores no failures.
pub fn config(cases: u32) -> proptest::prelude::ProptestConfig {
    proptest::prelude::ProptestConfig {
        cases,
        failure_persistence: None,
        ..proptest::prelude::ProptestConfig::default()
    }
}

/// Highest accepted value, if the counting begins somewhere near: the largest of `near` that is
/// not `beyond` the limit.
pub fn largest(near: Range<usize>, beyond: impl Fn(usize) -> bool) -> usize {
    let near: Vec<usize> = near.collect();
    let within = near.partition_point(|count| !beyond(*count));
    assert!(
        (1..near.len()).contains(&within),
        "{near:?} are all on one side: {within}"
    );
    near[within - 1]
}
