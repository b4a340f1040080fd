//! The fast path for plain YAML reads what it accepts like the parsers.

use layercake_yaml_testing::config;
use layercake_yaml_testing::reading::reads_as_plain;
use layercake_yaml_testing::texts::data;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Pieces of text whose meaning depends on their context.
const PIECES: &[&str] = &[
    "\n", "\n\n", " ", "  ", "- ", "-", "a: ", "b:", ": ", ":", "#", " # c", "'", "\"", "[", "]",
    "{", "}", ", ", "|", ">", "+", "-\n", "---\n", "...\n", "--- ", "? ", "&a ", "*a", "!!str ",
    "<<: ", "|-\n", ">+\n", "|\n  x\n", "''", "\\n", "é", "~", "1", "=", "\t", "\r", "%", "@", "`",
    "\u{85}", "\u{feff}",
];

const TEXTS: &[&str] = &[
    "# c\n---\na: 1 # d\nb:\n  c: 'x'\n  d: \"y z\"\n---\n---\n- a\n-   b: c\n    d:\n    - e\n    -\n      f: g\n",
    "a:\n- b\n-  - c\n   - d: []\n     e: {}\n# c\nf:   # c\n- g: h\n\n  i: j\nk:\n",
    "a: |\n  x\n   y\n\n  z\n\n# c\nb: >-  # c\n    x\n    y\n\n     z\n    w\nc:\n  - |+\n   x\n\n  - >\n\n   y\n  \n...\n",
    "a: [1, b c, 'd', \"e\", [f], {g: h}]\nb: {c: d, \"e\": [f, -1], 'g': {}} # c\n",
    "a: b c\n  d\n\n   e: \n  f # g\nh:\n  i\n  - j\nk:\n- l\n  m\n-\n  n\n- \"\\n\\t\\\"\\\\\" # o\n- 'p''q'\n",
    "a: b c\n  d\n\n   e\n   \n  f # g\nh:\n  i\n  - j\nk:\n- l\n  m\n-\n  n\n- \"\\n\\t\\\"\\\\\" # o\n- 'p''q'\nr:\n\n    s\n\n  t\n",
    "a: 'b  c\n\n   d ''e \n   \n  f' # g\nh:\n  \"i\\n\n  \\n j\"\nk:\n- \"l\n  \"\n- '\n  m'\n- n: '{{ $o }}\n    # p'\n",
    "a : b\n\"c\" : d\n'e': http://f:80/#g\nh: -i\nl: '#'\nm: n #\n",
    "a: 1\na: 2\nb: 2001-02-30\n<<: {c: d}\n=: e\n1: f\n1.0: g\n",
];

#[test]
fn plain_texts_are_read_on_the_fast_path() {
    for text in [
        "a: 1\n",
        "# c\n---\na: b\n...",
        "a:\n- b\n- - c\n  - d: e\n",
        "---\n---\n- |\n a\n- >-  # c\n  b\n\n   c\n",
        "a: {b: [c, 'd e'], \"f\": {}}",
        "a: 1\na: 2\n",
    ] {
        assert!(reads_as_plain(text), "{text}");
    }
}

#[test]
fn other_texts_are_not_read_on_the_fast_path() {
    for text in [
        "",
        "# c\n",
        "a: &b c\n",
        "a: !!str b\n",
        "? a\n",
        "a: b # c\n  d\n",
        "a: \"b\\x41\"\n",
        "a: [b,\n c]\n",
        "|\n  a\n",
        "a\n",
        "a: b: c\n",
        "a:\n  b: 1\n c: 2\n",
        "a:\tb\n",
        "a: b\r\n",
        "a: [b: c]\n",
        "a: {b}\n",
        "a: |2\n   b\n",
        "a: 'b'c\n",
        "a: [?b]\n",
        "a: - b\n",
        "- a\nb: c\n",
        "a: b\n'c\n d': e\n",
        "a: \"\\r\"\n",
        "a: |\n   \n b\n",
        "a: |\n  b\n ",
        "a: b\n...\n...\n",
        "a: [-]\n",
        "a: [b, -, c]\n",
    ] {
        assert!(!reads_as_plain(text), "{text}");
    }
}

fn changed() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        3 => select(TEXTS).prop_map(str::to_owned),
        1 => data().prop_map(|data| format!("k: {data}\n")),
    ];
    let change = (0..7_u8, any::<Index>(), any::<Index>(), select(PIECES));
    (text, prop::collection::vec(change, 0..4)).prop_map(|(mut text, changes)| {
        for (kind, at, other, piece) in changes {
            change_text(&mut text, kind, at, other, piece);
        }
        text
    })
}

/// Changes characters, or lines.
fn change_text(text: &mut String, kind: u8, at: Index, other: Index, piece: &str) {
    let ends: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .collect();
    let place = ends[at.index(ends.len())];
    match kind {
        0 | 1 => text.insert_str(place, piece),
        2 if place < text.len() => drop(text.remove(place)),
        3 => text.truncate(place),
        _ => {
            let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
            if lines.is_empty() {
                return;
            }
            let line = at.index(lines.len());
            match kind {
                4 => lines.insert(other.index(lines.len()), lines[line].clone()),
                5 => drop(lines.remove(line)),
                _ if lines[line].starts_with(' ') && other.index(2) == 0 => {
                    lines[line].remove(0);
                }
                _ => lines[line].insert(0, ' '),
            }
            *text = lines.concat();
        }
    }
}

proptest! {
    #![proptest_config(config(5000))]

    #[test]
    fn fast_path_reads_like_the_parsers(text in changed()) {
        reads_as_plain(&text);
    }
}
