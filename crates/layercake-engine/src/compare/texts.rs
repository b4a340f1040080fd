//! Interval index of edits by the source text that they changed.

use std::collections::BTreeMap;

use layercake_source::{FileId, Span};

use crate::edit::{Edit, EditId, Text};

/// Source texts that some edits changed on one side, by file.
pub struct Texts {
    files: BTreeMap<FileId, Vec<Stretch>>,
}

/// Stretch of a file that an edit changed. The stretches of a file are sorted by start and form an
/// implicit tree: the middle element of a slice is the parent of both halves.
struct Stretch {
    span: Span,
    edit: EditId,
    /// Maximum end in the subtree of this stretch.
    farthest: u32,
}

impl Texts {
    /// Collects the texts of the `chosen` edits on the side that `side` selects.
    pub fn of(edits: &[Edit], chosen: &[EditId], side: impl Fn(&Edit) -> Option<&Text>) -> Self {
        let mut files: BTreeMap<FileId, Vec<Stretch>> = BTreeMap::new();
        for id in chosen {
            let text = side(&edits[id.index()]);
            for cover in text.into_iter().flat_map(|text| &text.covers) {
                let stretch = Stretch {
                    span: *cover,
                    edit: *id,
                    farthest: 0,
                };
                files.entry(cover.file).or_default().push(stretch);
            }
        }
        for stretches in files.values_mut() {
            stretches.sort_by_key(|stretch| stretch.span);
            set_farthest(stretches);
        }
        Self { files }
    }

    fn add_overlapping(&self, span: Span, found: &mut Vec<EditId>) {
        if let Some(stretches) = self.files.get(&span.file) {
            add_overlapping(stretches, span, found);
        }
    }
}

/// Returns the edits whose texts overlap the span next to them, sorted.
pub fn edits_overlapping<'t>(places: impl IntoIterator<Item = (&'t Texts, Span)>) -> Vec<EditId> {
    let mut found = Vec::new();
    for (texts, span) in places {
        texts.add_overlapping(span, &mut found);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Stores the maximum end of each subtree and returns that of the whole slice.
fn set_farthest(part: &mut [Stretch]) -> u32 {
    if part.is_empty() {
        return 0;
    }
    let (before, rest) = part.split_at_mut(part.len() / 2);
    let (middle, behind) = rest.split_first_mut().expect("the part is not empty");
    middle.farthest = middle
        .span
        .end
        .max(set_farthest(before))
        .max(set_farthest(behind));
    middle.farthest
}

fn add_overlapping(part: &[Stretch], span: Span, found: &mut Vec<EditId>) {
    let middle = part.len() / 2;
    let Some(stretch) = part.get(middle).filter(|it| it.farthest >= span.start) else {
        return;
    };
    add_overlapping(&part[..middle], span, found);
    if stretch.span.start > span.end {
        return;
    }
    if Text::overlaps(stretch.span, span) {
        found.push(stretch.edit);
    }
    add_overlapping(&part[middle + 1..], span, found);
}
