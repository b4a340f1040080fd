//! Suggestions of similar names.

use layercake_source::near::{
    self, Slips, help_for_unknown, is_one_slip_apart, list, nearest, nearest_in_any_case,
};

#[test]
fn one_typo_is_a_distance_of_one() {
    let names = [
        "", "a", "b", "ab", "ba", "abc", "acb", "bac", "aab", "abab", "\u{e4}b", "b\u{e4}",
    ];
    for one in names {
        for other in names {
            let distance = strsim::damerau_levenshtein(one, other);
            assert_eq!(
                is_one_slip_apart(one, other),
                distance == 1,
                "{one} and {other}"
            );
        }
    }
}

#[test]
fn nearest_name_is_within_few_typos() {
    let parts = ["", "a", "ab", "ba", "abc", "cab", "aabb", "\u{e4}b"];
    let names: Vec<String> = parts
        .iter()
        .flat_map(|start| parts.iter().map(move |end| format!("{start}-key-{end}")))
        .collect();
    for one in &names {
        let allowed = (one.chars().count() / 4).clamp(1, 3);
        for other in &names {
            let distance = strsim::damerau_levenshtein(one, other);
            let expected = Some(&**other).filter(|_| (1..=allowed).contains(&distance));
            assert_eq!(nearest(one, [&**other]), expected, "{one} and {other}");
        }
    }
}

#[test]
fn overlong_names_have_no_suggestion() {
    let long = "a".repeat(near::MAX_BYTES);
    let (one, other) = (format!("{}b", &long[1..]), format!("{}c", &long[1..]));
    assert_eq!(nearest(&one, [&*other]), Some(&*other));
    assert_eq!(nearest(&format!("{one}x"), [&*format!("{other}x")]), None);
}

/// Searches that share a limit find nothing once it is used up; later searches have a limit of
/// their own again.
#[test]
fn searches_that_share_a_limit_end_with_it() {
    let names: Vec<String> = (0..2_000).map(|at| format!("{at:040}")).collect();
    let search = || nearest("x", names.iter().map(String::as_str).chain(["y"]));
    assert_eq!(search(), Some("y"));
    let found = near::within(|| (0..10_000).filter(|_| search().is_some()).count());
    assert!((1_000..10_000).contains(&found), "{found}");
    assert_eq!(search(), Some("y"));
}

#[test]
fn typos_are_found_among_many_names() {
    let names: Vec<String> = [
        "", "a", "\u{e4}", "ab", "ba", "b\u{e4}", "abc", "acb", "abcd",
    ]
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

#[test]
fn names_that_differ_in_case_are_the_most_similar() {
    for (name, near) in [
        ("LAB", Some("lab")),
        ("Lab-One", Some("lab-one")),
        ("LBA", Some("lab")),
        ("lab", Some("Lab")),
        ("nothing", None),
    ] {
        assert_eq!(
            nearest_in_any_case(name, ["lab", "lab-one", "Lab"]),
            near,
            "{name}"
        );
    }
}

#[test]
fn long_lists_of_names_end_with_a_count() {
    let names: Vec<String> = (10..32).map(|at| format!("n{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(list(names[..10].iter().copied()), names[..10].join(", "));
    assert!(list(names.iter().copied()).ends_with(", n19 and 12 more"));
    assert_eq!(
        help_for_unknown("N12", "names", &names).as_deref(),
        Some("did you mean `n12`?")
    );
    let listed = help_for_unknown("other", "names", &names[..2]);
    assert_eq!(listed.as_deref(), Some("the names are: n10, n11"));
    assert_eq!(help_for_unknown("other", "names", &[]), None);
}
