//! Patterns and templates of Python. The first line is a pattern, the second a template, the rest
//! the text to search.
//!
//! All input is processed within the step limit; matches are parts of the text; and replacing each
//! match by itself changes nothing.

#![no_main]

use layercake::merge::pattern::{MAX_OUTPUT, Pattern, PatternFailure, Replacement};
use layercake_fuzz::lines_and_rest;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Some(([pattern, template], subject)) = lines_and_rest::<2>(text) else {
        return;
    };
    let parsed = match Pattern::parse(pattern) {
        Ok(parsed) => parsed,
        Err(error) => {
            assert!(
                error.at.is_none_or(|at| pattern.get(at..).is_some()),
                "{error:?}"
            );
            return assert!(!error.message.contains('\n'), "{error:?}");
        }
    };
    assert_eq!(parsed.text(), pattern);
    let found = found(&parsed, subject);
    let replaced = parsed.replace_all(subject, Replacement::Literal("<>"));
    match (found, &replaced) {
        (Ok(found), Ok((text, count))) => {
            assert_eq!(found, *count > 0, "matches are replaced");
            assert!(found || text == subject);
            assert!(text.len() <= MAX_OUTPUT);
        }
        (Ok(_), Err(_)) => {}
        // A failing search also fails when searching for all matches.
        (Err(failure), replaced) => assert_eq!(Err(&failure), replaced.as_ref()),
    }
    let by_template = parsed.replace_all(subject, Replacement::Template(template));
    if let (Ok((_, one)), Ok((_, other))) = (&replaced, &by_template) {
        assert_eq!(
            one, other,
            "the template does not affect the number of matches"
        );
    }
    if let Ok((same, _)) = parsed.replace_all(subject, Replacement::Template(r"\g<0>")) {
        assert_eq!(same, subject);
    }
});

/// Whether there is a match; asserts that all captures are parts of the text.
fn found(pattern: &Pattern, subject: &str) -> Result<bool, PatternFailure> {
    let Some(captures) = pattern.search(subject)? else {
        return Ok(false);
    };
    let within = subject.as_bytes().as_ptr_range();
    let groups = (0..captures.len()).filter_map(|index| captures.group(index).flatten());
    for group in groups {
        let group = group.as_bytes().as_ptr_range();
        assert!(within.start <= group.start && group.end <= within.end);
    }
    assert!(captures.group(0).is_some_and(|whole| whole.is_some()));
    assert!(captures.group(captures.len()).is_none());
    Ok(true)
}
