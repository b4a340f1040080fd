//! `over-limit`: input beyond what layercake holds in memory.

use super::{FileContents, FileFacts};
use crate::diagnostic::{Diagnostic, Label};
use crate::render::Problem;
use crate::source::{Source, Span};
use crate::system::cloud_init::part;
use crate::yaml::YamlLimit;

super::rule!("over-limit", Error[Refused], "input beyond what layercake holds in memory");

pub(super) fn word_large(facts: &FileFacts<'_>, bytes: u64) -> Diagnostic {
    let mebibytes = Source::MAX_BYTES >> 20;
    let label = Label::new(Span::point(facts.file, 0), format!("the file has {bytes} bytes"));
    Diagnostic::new(&RULE, format!("a file of more than {mebibytes} MiB is not read"), label).help(
        match facts.holds {
            FileContents::Documents => {
                "split the file, or move what is no document out of the layer folders"
            }
            FileContents::Parts => "split the file",
        },
    )
}

pub(super) fn word_text(at: Span, limit: YamlLimit) -> Diagnostic {
    let (message, label, help) = match limit {
        YamlLimit::Depth => (
            format!("collections are nested more than {} deep", YamlLimit::DEPTH),
            "one too deep",
            "make the structure flatter",
        ),
        YamlLimit::Nodes => (
            format!(
                "a YAML document of more than {} values, aliases written out",
                YamlLimit::NODES
            ),
            "this is one too many",
            "use fewer aliases that stand for aliases",
        ),
        YamlLimit::Digits => (
            format!("an integer of more than {} digits", YamlLimit::DIGITS),
            "too long for an integer",
            "put it in quotes if it is meant as text",
        ),
        YamlLimit::Merged => (
            "the `<<` of this file bring too many entries into its mappings".to_owned(),
            "this is one too many",
            "write the keys out where they are needed, or merge smaller mappings",
        ),
        YamlLimit::Bytes => unreachable!("a file is smaller than what a document may hold"),
    };
    Diagnostic::new(&RULE, message, Label::new(at, label))
        .note("nothing of this YAML document is read")
        .help(help)
}

pub(super) fn word_user_data(at: Span, limit: part::PartLimit) -> Diagnostic {
    let (message, help) = match limit {
        part::PartLimit::Parts => (
            format!("user-data of more than {} parts", part::PartLimit::PARTS),
            "make fewer parts of it",
        ),
        part::PartLimit::Nesting => (
            format!("multipart messages nested more than {} deep", part::PartLimit::NESTING),
            "put the parts into one message",
        ),
        part::PartLimit::Includes => (
            format!(
                "includes nested more than {} deep, or more than {} of them",
                part::PartLimit::NESTING,
                part::PartLimit::INCLUDES
            ),
            "include fewer texts",
        ),
        part::PartLimit::Bytes => (
            format!(
                "decoded and included texts of more than {} MiB",
                part::PartLimit::BYTES.min(Source::MAX_BYTES) >> 20
            ),
            "make the texts smaller",
        ),
    };
    Diagnostic::new(&RULE, message, Label::new(at, "here it is too much"))
        .note("none of this user-data is used here")
        .help(help)
}

pub(super) fn word_rendered(problem: &Problem, title: &str, limit: YamlLimit) -> Diagnostic {
    let (message, help) = match limit {
        YamlLimit::Depth => (
            format!("rendered, `{title}` is nested deeper than layercake can walk"),
            "look for substitutions that put documents into each other",
        ),
        YamlLimit::Nodes => (
            format!("rendered, `{title}` has more than {} values", YamlLimit::NODES),
            "look for substitutions that multiply whole documents",
        ),
        YamlLimit::Bytes => (
            format!(
                "rendered, the texts of `{title}` have more than {} MiB",
                YamlLimit::BYTES >> 20
            ),
            "look for substitutions that multiply long texts",
        ),
        YamlLimit::Merged => (
            format!("rendered, `{title}` copies too many entries of its parent"),
            "let fewer documents inherit from one with so many entries",
        ),
        YamlLimit::Digits => unreachable!("rendering makes no integers"),
    };
    let label = Label::new(problem.at, "left as it is written: no layering, no substitutions");
    Diagnostic::new(&RULE, message, label).help(help)
}

/// Finding where the merged result of a set called `name` exceeds a limit.
pub(super) fn word_merged(problem: &Problem, name: &str, limit: YamlLimit) -> Diagnostic {
    let (message, help) = match limit {
        YamlLimit::Depth => (
            format!("merged, `{name}` is nested deeper than layercake can walk"),
            "look for patches that copy values into themselves",
        ),
        YamlLimit::Nodes => (
            format!("merged, `{name}` has more than {} values", YamlLimit::NODES),
            "look for patches that copy, and for texts that are put to lists",
        ),
        YamlLimit::Bytes => (
            format!("merged, the texts of `{name}` have more than {} MiB", YamlLimit::BYTES >> 20),
            "look for `str(append)` with long texts",
        ),
        YamlLimit::Digits | YamlLimit::Merged => {
            unreachable!("merging makes no integers, and reads no `<<`")
        }
    };
    Diagnostic::new(&RULE, message, Label::new(problem.at, "nothing of it is merged")).help(help)
}

/// A part that would make more of what is there than layercake holds.
pub(super) fn word_part(at: Span, label: &str) -> Diagnostic {
    let message = "a cloud-init part makes more of what is there than layercake holds in memory";
    Diagnostic::new(&RULE, message, Label::new(at, label))
        .note("nothing of this part is merged here; what cloud-init makes of it is not known")
        .help("make the part, or what it meets, smaller")
}

pub(super) fn word_search(problem: &Problem, title: &str) -> Diagnostic {
    let message = format!("a pattern of `{title}` takes too many steps to look for");
    Diagnostic::new(&RULE, message, Label::new(problem.at, "this pattern"))
        .note("the substitution is skipped; Deckhand's code may take hours")
        .help("avoid repetitions inside repetitions, such as `(a+)+`")
}

pub(super) fn word_output(problem: &Problem, title: &str) -> Diagnostic {
    let message = format!("a pattern of `{title}` makes a text too long to hold in memory");
    Diagnostic::new(&RULE, message, Label::new(problem.at, "this pattern"))
        .note("the substitution is skipped")
        .help("look for a pattern that matches in too many places")
}
