//! Which names are nearly others.

use layercake::near::{Slips, is_one_slip_apart};

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

#[test]
fn slips_are_found_among_many_names() {
    let names: Vec<String> = ["", "a", "\u{e4}", "ab", "ba", "b\u{e4}", "abc", "acb", "abcd"]
        .iter()
        .flat_map(|start| ["", "x", "xy"].map(|end| format!("{start}{end}")))
        .collect();
    let slips: Slips<'_> = names.iter().map(String::as_str).collect();
    for name in &names {
        let mut expected: Vec<&str> = names.iter().map(String::as_str).collect();
        expected.retain(|other| is_one_slip_apart(name, other));
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(slips.of(name), expected, "{name}");
    }
}
