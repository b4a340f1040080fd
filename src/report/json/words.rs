//! The words by which reports call kinds of things, and what they mean when a
//! report is read.

use super::Unreadable;
use crate::compare::reach::Why;
use crate::compare::{Proof, Via};
use crate::edit::{EditKind, Part};
use crate::report::SideKind;

const KINDS: [EditKind; 11] = [
    EditKind::Value,
    EditKind::Key,
    EditKind::Order,
    EditKind::Document,
    EditKind::Renamed,
    EditKind::Moved,
    EditKind::Policy,
    EditKind::Site,
    EditKind::SiteAdded,
    EditKind::SiteRemoved,
    EditKind::File,
];

const PARTS: [Part; 4] = [Part::Whole, Part::Data, Part::Metadata, Part::Root];

const PROOFS: [Option<Proof>; 3] = [Some(Proof::Rendered), Some(Proof::Followed), None];

const SIDES: [SideKind; 4] =
    [SideKind::Nothing, SideKind::Commit, SideKind::Index, SideKind::Worktree];

/// What is done to a place.
const OPERATIONS: [&str; 4] = ["add", "remove", "replace", "reorder"];

/// The parts of an output in which it can change.
const CHANGED_PARTS: [&str; 2] = ["data", "metadata"];

/// What suppresses findings.
const SUPPRESSIONS: [&str; 2] = ["comment", "baseline"];

pub(super) fn of_edit_kind(kind: EditKind) -> &'static str {
    match kind {
        EditKind::Value => "value",
        EditKind::Key => "key",
        EditKind::Order => "order",
        EditKind::Document => "document",
        EditKind::Renamed => "renamed",
        EditKind::Moved => "moved",
        EditKind::Policy => "policy",
        EditKind::Site => "site",
        EditKind::SiteAdded => "site added",
        EditKind::SiteRemoved => "site removed",
        EditKind::File => "file",
    }
}

pub(super) fn of_part(part: Part) -> &'static str {
    match part {
        Part::Whole => "whole",
        Part::Data => "data",
        Part::Metadata => "metadata",
        Part::Root => "root",
    }
}

pub(super) fn of_proof(proof: Option<Proof>) -> &'static str {
    match proof {
        Some(Proof::Rendered) => "counterfactual",
        Some(Proof::Followed) => "static",
        None => "no",
    }
}

/// What kind of edit a word means.
pub(in crate::report) fn edit_kind(word: &str) -> Result<EditKind, Unreadable> {
    meant(&KINDS, of_edit_kind, word)
}

/// Which part of a document a word means.
pub(in crate::report) fn part(word: &str) -> Result<Part, Unreadable> {
    meant(&PARTS, of_part, word)
}

/// How sure causes are, by a word.
pub(in crate::report) fn proof(word: &str) -> Result<Option<Proof>, Unreadable> {
    meant(&PROOFS, of_proof, word)
}

/// Which step of a route a word means.
pub(in crate::report) fn via(word: &str) -> Result<Via, Unreadable> {
    meant(&Via::ALL, Via::as_str, word)
}

/// Why an edit stopped, by a word.
pub(in crate::report) fn why(word: &str) -> Result<Why, Unreadable> {
    meant(&Why::ALL, Why::as_str, word)
}

/// What a side was read from, by a word.
pub(in crate::report) fn side_kind(word: &str) -> Result<SideKind, Unreadable> {
    meant(&SIDES, SideKind::as_str, word)
}

pub(super) fn operation(word: &str) -> Result<&'static str, Unreadable> {
    meant(&OPERATIONS, |it| it, word)
}

pub(super) fn changed_part(word: &str) -> Result<&'static str, Unreadable> {
    meant(&CHANGED_PARTS, |it| it, word)
}

pub(super) fn suppression(word: &str) -> Result<&'static str, Unreadable> {
    meant(&SUPPRESSIONS, |it| it, word)
}

fn meant<T: Copy>(all: &[T], word_of: fn(T) -> &'static str, word: &str) -> Result<T, Unreadable> {
    let found = all.iter().copied().find(|it| word_of(*it) == word);
    found.ok_or_else(|| Unreadable::Other(format!("`{word}` is no word of it")))
}
