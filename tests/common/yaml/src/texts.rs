//! Generated texts of values, and of paths to their parts.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::sample::select;

/// Data in flow style, or a block scalar; scalars are of all kinds.
pub fn data() -> impl Strategy<Value = String> {
    let scalar = select(vec![
        "1",
        "-7",
        "0x1F",
        "0644",
        "1:30",
        "1.5",
        ".inf",
        "1e3",
        "99999999999999999999",
        "yes",
        "off",
        "~",
        "null",
        "''",
        "'it''s INSERT_A'",
        "\"a\\tb INSERT_B\"",
        "2001-01-01",
        "2001-12-14 21:59:43.10 -5",
        "!!binary aGk=",
        "plain text",
        "INSERT_A",
        "http://x:INSERT_A@INSERT_B/",
        "'t'",
        "t t",
        "é値 t",
        "\"INSERT_A\\n\"",
        "!!set {a, b}",
        "!!pairs [a: 1]",
        "'\\1 x'",
    ])
    .prop_map(str::to_owned);
    let value = scalar.prop_recursive(3, 24, 4, |inner| {
        let key = select(vec!["x", "y", "z", "q", "l", "new-kee", "'1'", "1", "on", "~", "\"é\""]);
        let entries = prop::collection::btree_map(key, inner.clone(), 0..4);
        prop_oneof![
            3 => entries.prop_map(|entries| {
                let entries: Vec<String> = entries.iter().map(|(key, value)| format!("{key}: {value}")).collect();
                format!("{{{}}}", entries.join(", "))
            }),
            1 => prop::collection::vec(inner, 0..3).prop_map(|items| format!("[{}]", items.join(", "))),
        ]
    });
    let entry = (select(vec!["x", "y", "l", "z"]), value.clone());
    let mapping = prop::collection::vec(entry, 1..4).prop_map(|entries| {
        let mut text = String::new();
        let mut seen = BTreeSet::new();
        for (key, value) in entries.into_iter().filter(|(key, _)| seen.insert(*key)) {
            write!(text, "\n  {key}: {value}").expect("writing to a string succeeds");
        }
        text
    });
    let aliased = value
        .clone()
        .prop_map(|value| format!("{{x: &v {value}, y: *v, l: [*v, *v]}}"));
    prop_oneof![
        5 => mapping,
        2 => value,
        1 => aliased,
        1 => Just("|\n  text INSERT_A\n\n  more\n".to_owned()),
        1 => Just("\n  x: >-\n    folded\n    INSERT_A\n  y: |+\n    kept\n\n".to_owned()),
    ]
}

/// Path in data; some are invalid.
pub fn path() -> impl Strategy<Value = String> {
    let good = select(vec![
        ".", ".x", ".y", ".x.y", ".x.x", ".y.x", ".l", ".l[0]", ".l[1].x", ".l[2]", ".q", ".x.q.r",
        "$", "$.x", ".z", ".new-key",
    ]);
    let odd = select(vec![
        ".x[*]",
        "..x",
        ".*",
        ".x.*",
        ".data.x",
        ".database",
        ".l[-1]",
        ".l[0:2]",
        "x",
        ".x|y",
        ".1",
        ".on",
        ".x.",
        "",
        "][",
        ".l[100001]",
        ".\"x\"",
        ".x where y",
        ".l[*].x",
        ".l[0,1]",
    ]);
    prop_oneof![12 => good, 1 => odd].prop_map(str::to_owned)
}
