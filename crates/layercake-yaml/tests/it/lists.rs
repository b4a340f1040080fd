//! Keyed lists: their differences transform one list into the other, and reordering is a single
//! difference.

use layercake_source::FileId;
use layercake_yaml::diff::{
    DiffPlace, DiffSide, Difference, DifferenceKind, ListKeys, differences, same, variants,
};
use layercake_yaml::path::first_inside;
use layercake_yaml::{Node, parse};
use proptest::prelude::*;

/// Items with distinct names, each with a value, in some order.
type Items = Vec<(u8, u8)>;

fn items() -> impl Strategy<Value = Items> {
    prop::collection::btree_map(0..7u8, 0..3u8, 0..7)
        .prop_map(|items| items.into_iter().collect::<Items>())
        .prop_shuffle()
}

fn list(items: &[(u8, u8)]) -> Node {
    let items: Vec<String> = items
        .iter()
        .map(|(name, value)| format!("{{name: n{name}, value: {value}}}"))
        .collect();
    let text = format!("list: [{}]\n", items.join(", "));
    parse(FileId::default(), &text).documents.remove(0).root
}

fn names(difference: &Difference) -> [Vec<String>; 2] {
    [&difference.base, &difference.head].map(|place| {
        let items = place
            .iter()
            .flat_map(|place| place.node.as_sequence().unwrap());
        items
            .map(|name| name.as_str().unwrap().to_owned())
            .collect()
    })
}

fn is_order(difference: &Difference) -> bool {
    matches!(difference.kind, DifferenceKind::Order { .. })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn differences_of_keyed_lists_transform_one_side_into_the_other(
        base in items(),
        head in items(),
        chosen in any::<u64>(),
    ) {
        let keys = ListKeys::default();
        let (below, above) = (list(&base), list(&head));
        let (found, between) = variants(&below, &above, &keys);
        let none = between.with(|| DiffSide::Base);
        prop_assert!(same(&none, &below), "{none:?}");
        let all = between.with(|| DiffSide::Head);
        prop_assert!(same(&all, &above), "{all:?}");

        // After some differences are applied, the others remain.
        let mut at = 0;
        let mut left = Vec::new();
        let some = between.with(|| {
            at += 1;
            if chosen & (1 << at) == 0 {
                left.push(found[at - 1].clone());
                return DiffSide::Base;
            }
            DiffSide::Head
        });
        let remaining: Vec<Difference> = differences(&some, &above, &keys);
        let paths = |all: &[Difference]| -> Vec<String> {
            let values = all.iter().filter(|it| !is_order(it));
            let path = |it: &Difference| it.location().with_items(&it.items).to_string();
            let mut paths: Vec<String> = values.map(path).collect();
            paths.sort();
            paths
        };
        prop_assert_eq!(paths(&remaining), paths(&left));
        prop_assert_eq!(remaining.iter().any(is_order), left.iter().any(is_order));
    }

    #[test]
    fn reordering_is_one_difference(base in items(), head in items()) {
        let found = differences(&list(&base), &list(&head), &ListKeys::default());
        let has = |items: &[(u8, u8)], name: u8| items.iter().any(|(own, _)| *own == name);
        let shared = |of: &[(u8, u8)], other: &[(u8, u8)]| -> Vec<String> {
            let shared = of.iter().filter(|(name, _)| has(other, *name));
            shared.map(|(name, _)| format!("n{name}")).collect()
        };
        let (before, after) = (shared(&base, &head), shared(&head, &base));
        let orders: Vec<[Vec<String>; 2]> =
            found.iter().filter(|it| is_order(it)).map(names).collect();
        let expected = if before == after { Vec::new() } else { vec![[before, after]] };
        prop_assert_eq!(orders, expected);
        // All other differences are of one item, identified by its name.
        for difference in found.iter().filter(|it| !is_order(it)) {
            prop_assert!(difference.items.len() == 1, "{difference:?}");
        }
    }
}

#[test]
fn removed_items_are_those_without_a_similar_one() {
    let cases = [
        // Base, head, and the location of each difference in the base and in the head.
        ("[a, image:1, b]", "[image:2, b]", ".[0] -, .[1] .[0]"),
        ("[image:2, b]", "[a, image:1, b]", "- .[0], .[0] .[1]"),
        ("[a1, b1, c1, z]", "[b2, z]", ".[0] -, .[1] .[0], .[2] -"),
        ("[x, y]", "[p]", ".[0] .[0], .[1] -"),
        (
            "[{path: /a, mode: 1}, {path: /b, mode: 2}]",
            "[{path: /b, mode: 3}]",
            ".[0] -, .[1].mode .[0].mode",
        ),
        (
            "[{path: /a}, text]",
            "[{path: /b}]",
            ".[0].path .[0].path, .[1] -",
        ),
        ("[a1, b1]", "[c2, b2]", ".[0] .[0], .[1] .[1]"),
    ];
    let read = |list: &str| parse(FileId::default(), list).documents.remove(0).root;
    let place = |place: &DiffPlace| place.location.to_string();
    for (base, head, expected) in cases {
        let found = differences(&read(base), &read(head), &ListKeys::default());
        let side = |side: &Option<DiffPlace>| side.as_ref().map_or("-".to_owned(), place);
        let row = |it: &Difference| format!("{} {}", side(&it.base), side(&it.head));
        let found: Vec<String> = found.iter().map(row).collect();
        assert_eq!(found.join(", "), expected, "{base} {head}");
    }
}

/// Lists that are too long to compare each item with each.
#[test]
fn long_lists_are_matched_by_equal_items() {
    let read = |numbers: &[usize]| {
        let items: Vec<String> = numbers
            .iter()
            .map(|it| format!("{{b: [{{v: {it}}}]}}"))
            .collect();
        parse(FileId::default(), &format!("[{}]", items.join(", ")))
            .documents
            .remove(0)
            .root
    };
    let all: Vec<usize> = (0..3_000).collect();
    let without = |numbers: &[usize]| -> Vec<usize> {
        all.iter()
            .copied()
            .filter(|number| !numbers.contains(number))
            .collect()
    };
    let moved: Vec<usize> = without(&[7]).into_iter().chain([7]).collect();
    let repeated: Vec<usize> = all
        .iter()
        .flat_map(|number| [number % 40, *number])
        .collect();
    let repeated_without: Vec<usize> =
        [&repeated[..10], &repeated[11..4_000], &repeated[4_001..]].concat();
    // The number of differences between the lists, in both directions.
    let cases = [
        (
            "first and last",
            &without(&[2_999])[..],
            &without(&[0])[..],
            2,
        ),
        (
            "in the middle",
            &all[..],
            &without(&[5, 1_000, 2_500])[..],
            3,
        ),
        ("moved", &all[..], &moved[..], 2),
        ("repeated", &repeated[..], &repeated_without[..], 2),
    ];
    for (name, base, head, expected) in cases {
        let (base, head) = (read(base), read(head));
        for (base, head) in [(&base, &head), (&head, &base)] {
            let (found, between) = variants(base, head, &ListKeys::default());
            assert_eq!(found.len(), expected, "{name}");
            assert!(same(&between.with(|| DiffSide::Head), head), "{name}");
        }
    }
}

#[test]
fn items_are_not_matched_by_secret_names() {
    let mut base = list(&[(1, 1), (2, 2)]);
    let head = list(&[(2, 2), (1, 1)]);
    let first = first_inside(&base, |node, _| node.as_str() == Some("n1"));
    first.unwrap().get_mut(&mut base).unwrap().secret = true;
    let found = differences(&base, &head, &ListKeys::default());
    assert!(!found.is_empty());
    assert!(
        found.iter().all(|it| !is_order(it) && it.items.is_empty()),
        "{found:?}"
    );
}
