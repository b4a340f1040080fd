//! Positions as editors count them.

use layercake_source::ColumnUnit::{Utf8, Utf16, Utf32};
use layercake_source::{EditorPosition, LineIndex};

const TEXT: &str = "a: é\r\nb: 😀x\n\nlast";

#[test]
fn columns_are_counted_in_each_unit() {
    let index = LineIndex::new(TEXT);
    let rows = [
        ("a", 0, [0, 0, 0]),
        ("é", 0, [3, 3, 3]),
        ("\r", 0, [5, 4, 4]),
        ("😀", 1, [3, 3, 3]),
        ("x", 1, [7, 5, 4]),
        ("last", 3, [0, 0, 0]),
    ];
    for (text, line, columns) in rows {
        let at = u32::try_from(TEXT.find(text).unwrap()).unwrap();
        for (unit, column) in [Utf8, Utf16, Utf32].into_iter().zip(columns) {
            let position = EditorPosition { line, column };
            assert_eq!(
                index.to_editor(TEXT, at, unit),
                position,
                "{text:?} in {unit:?}"
            );
            assert_eq!(
                index.from_editor(TEXT, position, unit),
                at,
                "{text:?} in {unit:?}"
            );
        }
    }
}

#[test]
fn every_position_leads_back() {
    let index = LineIndex::new(TEXT);
    for (at, character) in TEXT.char_indices().filter(|(_, it)| *it != '\n') {
        for unit in [Utf8, Utf16, Utf32] {
            let at = u32::try_from(at).unwrap();
            let there = index.to_editor(TEXT, at, unit);
            assert_eq!(
                index.from_editor(TEXT, there, unit),
                at,
                "{character:?} in {unit:?}"
            );
        }
    }
}

#[test]
fn positions_outside_of_the_text_are_limited() {
    let index = LineIndex::new(TEXT);
    let at = |line, column, unit| index.from_editor(TEXT, EditorPosition { line, column }, unit);
    assert_eq!(at(0, 99, Utf16), 5, "before the line end");
    assert_eq!(at(2, 7, Utf8), 16, "an empty line");
    assert_eq!(at(99, 0, Utf32), 21, "after the last line");
    assert_eq!(at(1, 4, Utf16), at(1, 3, Utf16), "inside a surrogate pair");
}
