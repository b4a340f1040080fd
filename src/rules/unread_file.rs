//! `unread-file`: a file below a layer folder that is not read.

use super::{FileContents, FileFacts};
use crate::diagnostic::{Diagnostic, Label};
use crate::source::{ContentId, FileId, Nested, Span};
use crate::system::deckhand::layout::Oddity;

super::rule!("unread-file", Note, "a file below a layer folder that is not read");

/// The finding for a file whose text is a pointer of git LFS.
pub(super) fn word_pointer(facts: &FileFacts<'_>) -> Diagnostic {
    let mut finding = word(facts.file, Oddity::LargeFilePointer);
    match facts.holds {
        FileContents::Documents => {}
        FileContents::Parts => finding.primary.message = "its parts are in no set".into(),
    }
    finding
}

fn short(commit: ContentId) -> String {
    commit.to_string().chars().take(10).collect()
}

/// The finding for a repository inside of the one that is read.
pub(super) fn word_nested(facts: &FileFacts<'_>, nested: &Nested) -> Diagnostic {
    let (place, label) = match facts.place {
        Some(_) => ("below a layer folder", "its documents are in no site"),
        None => ("in place of files of cloud-init", "its parts are in no set"),
    };
    let (kind, note) = match nested {
        Nested::Submodule(commit) => (
            "git submodule",
            format!("its files are those of commit {} of another repository", short(*commit)),
        ),
        Nested::Untracked => (
            "nested git repository",
            "git does not track it: no commit of this repository has its files".to_owned(),
        ),
    };
    let help = match (nested, facts.place) {
        (Nested::Submodule(_), Some(_)) => {
            "name its repository in `data.repositories` of the site definition, \
             or add its files to this one"
        }
        (Nested::Submodule(_), None) => "add its files to this repository",
        (Nested::Untracked, _) => {
            "remove its `.git` and add its files to this repository, or move it elsewhere"
        }
    };
    let label = Label::new(Span::point(facts.file, 0), label);
    Diagnostic::new(&RULE, format!("a {kind} {place} is not read"), label).note(note).help(help)
}

pub(super) fn word(file: FileId, oddity: Oddity) -> Diagnostic {
    let (message, help) = match oddity {
        Oddity::OtherExtension => (
            "a file that ends in `.yml` is not read",
            "rename it to `.yaml`, or move it out of the layer folders",
        ),
        Oddity::NotOnDisk => (
            "a file that git tracks is not on disk",
            "`git restore` brings it back; `git rm` removes it from the next commit too",
        ),
        Oddity::NameNotUtf8 => {
            ("a file whose name is not UTF-8 is not read", "rename it with plain letters")
        }
        Oddity::LargeFilePointer => (
            "a git LFS pointer is not read",
            "`git lfs pull` puts the files in the place of their pointers",
        ),
    };
    let label = Label::new(Span::point(file, 0), "its documents are in no site");
    Diagnostic::new(&RULE, message, label)
        .note(match oddity {
            Oddity::OtherExtension => "Pegleg reads only files that end in `.yaml`",
            Oddity::NotOnDisk => "git has it in the index",
            Oddity::NameNotUtf8 => "reports could not name it",
            Oddity::LargeFilePointer => "what it stands for is not part of this clone",
        })
        .help(help)
}
