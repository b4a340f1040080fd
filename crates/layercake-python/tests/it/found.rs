//! Patterns for which fuzzing found a bug (`docs/fuzzing.md`), each headed by the bug.

use layercake_python::{Effort, Pattern, PatternFailure, Replacement};

/// A search just within the step limit used up as many steps at every match, and for every text
/// that a substitution looks at.
#[test]
fn searches_that_are_hard_many_times() {
    let pattern = Pattern::parse(r"x|(a|aa)+\1b").expect("it is a pattern");
    let hard = format!("x{}", "a".repeat(21));
    assert!(
        pattern.search(&hard[1..]).is_ok(),
        "one of them is within the limit"
    );
    let replaced = pattern.replace_all(&hard.repeat(2_000), Replacement::Literal(""));
    assert_eq!(replaced, Err(PatternFailure::TooManySteps));
    let mut effort = Effort::default();
    let searched = (0..2_000).find_map(|_| pattern.search_within(&hard[1..], &mut effort).err());
    assert_eq!(searched, Some(PatternFailure::TooManySteps));
    // Easy searches may run any number of times.
    let pattern = Pattern::parse(r"(?<=a)b(?!c)").expect("it is a pattern");
    let replaced = pattern.replace_all(&"ab, ".repeat(20_000), Replacement::Literal(""));
    assert_eq!(replaced.map(|(_, count)| count), Ok(20_000));
}
