//! The edits by the texts that they changed, so that those at a place are found without
//! asking each of them.

use std::collections::BTreeMap;

use layercake_source::{FileId, Span};

use crate::edit::{Edit, EditId, Text};

/// Texts of one side of some edits, by file.
pub struct Texts {
    files: BTreeMap<FileId, Vec<Stretch>>,
}

/// A stretch of a file that an edit changed. Those of a file are sorted by their starts,
/// and read as a tree: the middle of a part is above both halves.
struct Stretch {
    span: Span,
    edit: EditId,
    /// Farthest end in the part whose middle this is.
    farthest: u32,
}

impl Texts {
    /// The texts of the `chosen` of `edits` on the side that `side` gives.
    pub fn of(edits: &[Edit], chosen: &[EditId], side: impl Fn(&Edit) -> Option<&Text>) -> Self {
        let mut files: BTreeMap<FileId, Vec<Stretch>> = BTreeMap::new();
        for id in chosen {
            let text = side(&edits[id.index()]);
            for cover in text.into_iter().flat_map(|text| &text.covers) {
                let stretch = Stretch { span: *cover, edit: *id, farthest: 0 };
                files.entry(cover.file).or_default().push(stretch);
            }
        }
        for stretches in files.values_mut() {
            stretches.sort_by_key(|stretch| stretch.span);
            set_farthest(stretches);
        }
        Self { files }
    }

    fn add_meeting(&self, span: Span, found: &mut Vec<EditId>) {
        if let Some(stretches) = self.files.get(&span.file) {
            add_meeting(stretches, span, found);
        }
    }
}

/// The edits whose texts meet one of the spans beside them, in order.
pub fn edits_meeting<'t>(places: impl IntoIterator<Item = (&'t Texts, Span)>) -> Vec<EditId> {
    let mut found = Vec::new();
    for (texts, span) in places {
        texts.add_meeting(span, &mut found);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The farthest end of a part, which is noted at the middle of each part in it.
fn set_farthest(part: &mut [Stretch]) -> u32 {
    if part.is_empty() {
        return 0;
    }
    let (before, rest) = part.split_at_mut(part.len() / 2);
    let (middle, behind) = rest.split_first_mut().expect("the part is not empty");
    middle.farthest = middle.span.end.max(set_farthest(before)).max(set_farthest(behind));
    middle.farthest
}

fn add_meeting(part: &[Stretch], span: Span, found: &mut Vec<EditId>) {
    let middle = part.len() / 2;
    let Some(stretch) = part.get(middle).filter(|it| it.farthest >= span.start) else { return };
    add_meeting(&part[..middle], span, found);
    if stretch.span.start > span.end {
        return;
    }
    if Text::is_met(stretch.span, span) {
        found.push(stretch.edit);
    }
    add_meeting(&part[middle + 1..], span, found);
}
