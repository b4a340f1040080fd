//! New findings that follow from a file that is not read: its repair decides about them.

use std::collections::BTreeMap;

use super::Compared;
use crate::diagnostic::{Diagnostic, Severity, Trait};
use crate::edit::EditId;
use crate::source::{FileId, Span};

/// Maximum number of consequences that the note of their finding quotes.
const MAX_QUOTED: usize = 2;

impl Compared {
    /// Marks the new findings that nothing but edits of files that are not read caused, where an
    /// error says so of the first of these. `unread` gives the file of such an edit.
    pub fn mark_consequences(&mut self, unread: &dyn Fn(EditId) -> Option<FileId>) {
        let new = &mut self.new.diagnostics;
        let is_root =
            |it: &Diagnostic| it.rule.is(Trait::Unreadable) && it.severity == Severity::Error;
        let mut roots: BTreeMap<FileId, (usize, Span)> = BTreeMap::new();
        for (at, finding) in new.iter().enumerate().filter(|(_, finding)| is_root(finding)) {
            let at_place = (at, finding.primary.span);
            roots.entry(finding.primary.span.file).or_insert(at_place);
        }
        let mut consequences: BTreeMap<usize, Consequences> = BTreeMap::new();
        for (finding, causes) in new.iter_mut().zip(&self.causes) {
            let files: Option<Vec<FileId>> = causes.iter().map(|cause| unread(*cause)).collect();
            let first = files.and_then(|files| files.first().copied());
            let root = first.and_then(|file| roots.get(&file)).filter(|_| !is_root(finding));
            if let Some((root, span)) = root {
                (finding.because_of, finding.count) = (Some(*span), 0);
                consequences.entry(*root).or_default().add(finding);
            }
        }
        for (root, consequences) in consequences {
            new[root].notes.push(consequences.describe());
        }
    }
}

/// The findings that follow from one.
#[derive(Default)]
struct Consequences {
    count: usize,
    /// Messages of the first of some rules.
    quoted: BTreeMap<&'static str, String>,
}

impl Consequences {
    fn add(&mut self, finding: &Diagnostic) {
        self.count += 1;
        if self.quoted.len() < MAX_QUOTED {
            let message = || finding.message.clone();
            self.quoted.entry(finding.rule.name).or_insert_with(message);
        }
    }

    /// The note of the finding from which they follow.
    fn describe(&self) -> String {
        let quoted = self.quoted.values().map(String::as_str).collect::<Vec<_>>().join("; ");
        match self.count {
            1 => format!("1 finding follows from it (`--all-findings`): {quoted}"),
            count => {
                format!("{count} findings follow from it (`--all-findings`), such as: {quoted}")
            }
        }
    }
}
