//! Limits of docs/limits.md: input at the limit is accepted, and one more is reported.

use layercake_python::{
    Effort, MAX_BACKTRACKS, MAX_LOOKS, MAX_OUTPUT, Pattern, PatternFailure, Replacement,
};
use layercake_yaml_testing::largest;

#[test]
fn bytes_written_by_a_pattern_are_limited() {
    let pattern = Pattern::parse("x").expect("it is a pattern");
    let made = |bytes: usize| {
        let replaced = pattern.replace_all("x", Replacement::Literal(&"y".repeat(bytes)));
        replaced.map(|(text, _)| text.len())
    };
    assert_eq!(made(MAX_OUTPUT), Ok(MAX_OUTPUT));
    assert_eq!(made(MAX_OUTPUT + 1), Err(PatternFailure::OutputTooLarge));
}

#[test]
fn backtracking_steps_of_a_pattern_are_limited() {
    // Tries every split of the letters into three, with a step back for each, so twice the letters
    // take eight times as many steps.
    let pattern = Pattern::parse(r"(x*)(x*)\1y").expect("it is a pattern");
    let is_beyond = |letters: usize| match pattern.search(&"x".repeat(letters)) {
        Ok(found) => found.is_some(),
        Err(failure) => failure == PatternFailure::TooManySteps,
    };
    let most = largest(20..400, is_beyond);
    let steps = (most as u64).pow(3) / 6;
    let limit = MAX_BACKTRACKS as u64;
    assert!(
        (limit / 4..limit * 4).contains(&steps),
        "{most} letters: {steps}"
    );
}

/// At each letter, a search goes to the end for a `b` before it accepts the letter alone.
#[test]
fn steps_beyond_the_matches_of_a_pattern_are_limited() {
    let pattern = Pattern::parse("a+b|a").expect("it is a pattern");
    let replace = |letters: usize, effort: &mut Effort| {
        let (text, with) = ("a".repeat(letters), Replacement::Literal("x"));
        pattern
            .replace_all_within(&text, with, effort)
            .map(|(_, count)| count)
    };
    let letters = 20_000;
    let looks = letters * (letters - 1) / 2;
    let mut effort = Effort::default();
    for _ in 0..MAX_LOOKS / looks {
        assert_eq!(replace(letters, &mut effort), Ok(letters));
    }
    assert_eq!(
        replace(letters, &mut effort),
        Err(PatternFailure::TooManySteps)
    );
    assert_eq!(replace(1, &mut effort), Ok(1), "nothing follows the match");
}
