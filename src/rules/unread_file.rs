//! `unread-file`: file in a layer folder that is not read.

use super::{FileContents, FileFacts};
use crate::diagnostic::{Diagnostic, Label};
use crate::source::{ContentId, FileId, Nested, Span};
use crate::system::deckhand::layout::Oddity;

super::rule!(
    "unread-file",
    Note,
    "file in a layer folder that is not read"
);

/// Finding for a file that is a git LFS pointer.
pub(super) fn report_pointer(facts: &FileFacts<'_>) -> Diagnostic {
    let mut finding = report(facts.file, Oddity::LargeFilePointer);
    match facts.holds {
        FileContents::Documents => {}
        FileContents::Parts => finding.primary.message = "its parts belong to no set".into(),
    }
    finding
}

fn short(commit: ContentId) -> String {
    commit.to_string().chars().take(10).collect()
}

/// Finding for a repository nested in the one that is read.
pub(super) fn report_nested(facts: &FileFacts<'_>, nested: &Nested) -> Diagnostic {
    let (place, label) = match facts.place {
        Some(_) => ("below a layer folder", "its documents belong to no site"),
        None => ("among the cloud-init files", "its parts belong to no set"),
    };
    let (kind, note) = match nested {
        Nested::Submodule(commit) => (
            "git submodule",
            format!(
                "its files are in commit {} of another repository",
                short(*commit)
            ),
        ),
        Nested::Untracked => (
            "nested git repository",
            "git does not track it: no commit of this repository contains its files".to_owned(),
        ),
    };
    let help = match (nested, facts.place) {
        (Nested::Submodule(_), Some(_)) => {
            "add its repository to `data.repositories` of the site definition, or add its files to \
             this one"
        }
        (Nested::Submodule(_), None) => "add its files to this repository",
        (Nested::Untracked, _) => {
            "remove its `.git` and add its files to this repository, or move it elsewhere"
        }
    };
    let label = Label::new(Span::point(facts.file, 0), label);
    Diagnostic::new(&RULE, format!("a {kind} {place} is not read"), label)
        .note(note)
        .help(help)
}

pub(super) fn report(file: FileId, oddity: Oddity) -> Diagnostic {
    let (message, help) = match oddity {
        Oddity::OtherExtension => (
            "a file with the extension `.yml` is not read",
            "rename it to `.yaml`, or move it out of the layer folders",
        ),
        Oddity::NotOnDisk => (
            "a file that git tracks is not on disk",
            "run `git restore` to bring it back, or `git rm` to remove it from the next commit",
        ),
        Oddity::LargeFilePointer => (
            "a git LFS pointer is not read",
            "run `git lfs pull` to replace pointers with their files",
        ),
    };
    RULE.finding(
        message,
        Span::point(file, 0),
        "its documents belong to no site",
    )
    .note(match oddity {
        Oddity::OtherExtension => "Pegleg reads only files with the extension `.yaml`",
        Oddity::NotOnDisk => "it is in git's index",
        Oddity::LargeFilePointer => "its content is not part of this clone",
    })
    .help(help)
}
