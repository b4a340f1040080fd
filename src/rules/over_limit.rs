//! `over-limit`: input that exceeds a limit of layercake.

use super::{FileContents, FileFacts};
use crate::diagnostic::Diagnostic;
use crate::render::{Problem, SizeLimit};
use crate::source::{Source, Span};
use crate::system::cloud_init::part;
use crate::yaml::YamlLimit;

super::rule!(
    "over-limit",
    Error[Refused],
    "input that exceeds a limit of layercake"
);

pub(super) fn report_large(facts: &FileFacts<'_>, bytes: u64) -> Diagnostic {
    let mebibytes = Source::MAX_BYTES >> 20;
    RULE.finding(
        format!("files larger than {mebibytes} MiB are not read"),
        Span::point(facts.file, 0),
        format!("the file has {bytes} bytes"),
    )
    .help(match facts.holds {
        FileContents::Documents => {
            "split the file, or move files without documents out of the layer folders"
        }
        FileContents::Parts => "split the file",
    })
}

pub(super) fn report_text(at: Span, limit: YamlLimit) -> Diagnostic {
    let (message, label, help) = match limit {
        YamlLimit::Depth => (
            format!("collections are nested more than {} deep", YamlLimit::DEPTH),
            "this level is too deep",
            "make the structure flatter",
        ),
        YamlLimit::Nodes => (
            format!(
                "YAML document with more than {} values after alias expansion",
                YamlLimit::NODES
            ),
            "the limit is exceeded here",
            "use fewer nested aliases",
        ),
        YamlLimit::Digits => (
            format!("integer with more than {} digits", YamlLimit::DIGITS),
            "too many digits",
            "quote it if it is a string",
        ),
        YamlLimit::Merged => (
            "the `<<` keys of this file merge too many entries".to_owned(),
            "the limit is exceeded here",
            "write the needed keys out, or merge smaller mappings",
        ),
    };
    RULE.finding(message, at, label)
        .note("this YAML document is not read")
        .help(help)
}

pub(super) fn report_user_data(at: Span, limit: part::PartLimit) -> Diagnostic {
    let (message, help) = match limit {
        part::PartLimit::Parts => (
            format!("user-data with more than {} parts", part::PartLimit::PARTS),
            "use fewer parts",
        ),
        part::PartLimit::Nesting => (
            format!(
                "multipart messages nested more than {} deep",
                part::PartLimit::NESTING
            ),
            "put the parts into one message",
        ),
        part::PartLimit::Includes => (
            format!(
                "includes nested more than {} deep, or more than {} of them",
                part::PartLimit::NESTING,
                part::PartLimit::INCLUDES
            ),
            "use fewer includes",
        ),
        part::PartLimit::Bytes => (
            format!(
                "decoded and included content of more than {} MiB",
                part::PartLimit::BYTES.min(Source::MAX_BYTES) >> 20
            ),
            "reduce the content",
        ),
        part::PartLimit::Decoded => (
            format!(
                "all user-data is decoded to more than {} MiB, and to more than {} times its size",
                part::PartLimit::DECODED >> 20,
                part::PartLimit::DECODED_PER_BYTE
            ),
            "reduce the encoded content",
        ),
    };
    RULE.finding(message, at, "the limit is exceeded here")
        .note("layercake uses none of this user-data")
        .help(help)
}

pub(super) fn report_rendered(problem: &Problem, title: &str, limit: SizeLimit) -> Diagnostic {
    let (message, help) = match limit {
        SizeLimit::Depth => (
            format!("rendered `{title}` is nested too deeply"),
            "look for substitutions that nest documents in each other",
        ),
        SizeLimit::Nodes => (
            format!(
                "rendered `{title}` has more than {} values",
                YamlLimit::NODES
            ),
            "look for substitutions that multiply whole documents",
        ),
        SizeLimit::Bytes => (
            format!(
                "the strings of rendered `{title}` exceed {} MiB",
                SizeLimit::BYTES >> 20
            ),
            "look for substitutions that multiply long strings",
        ),
    };
    unrendered(problem, message).help(help)
}

pub(super) fn report_copies(problem: &Problem, title: &str) -> Diagnostic {
    let message = format!("rendered `{title}` copies too many entries of its parent");
    unrendered(problem, message).help("let fewer documents inherit from such a large document")
}

fn unrendered(problem: &Problem, message: String) -> Diagnostic {
    RULE.finding(
        message,
        problem.at,
        "left unrendered: no layering, no substitutions",
    )
}

/// Finding for a merged set called `name` that exceeds a limit.
pub(super) fn report_merged(problem: &Problem, name: &str, limit: SizeLimit) -> Diagnostic {
    let (message, help) = match limit {
        SizeLimit::Depth => (
            format!("merged `{name}` is nested too deeply"),
            "look for patches that copy values into themselves",
        ),
        SizeLimit::Nodes => (
            format!("merged `{name}` has more than {} values", YamlLimit::NODES),
            "look for patches that copy values, and for strings merged into lists",
        ),
        SizeLimit::Bytes => (
            format!(
                "the strings of merged `{name}` exceed {} MiB",
                SizeLimit::BYTES >> 20
            ),
            "look for `str(append)` with long strings",
        ),
    };
    RULE.finding(message, problem.at, "not merged").help(help)
}

/// Finding for a part whose merged result would exceed a limit.
pub(super) fn report_part(at: Span, label: &str) -> Diagnostic {
    let message = "the result of merging a cloud-init part exceeds a limit of layercake";
    RULE.finding(message, at, label)
        .note("layercake does not merge this part; the result in cloud-init is unknown")
        .help("reduce the part, or the values it is merged into")
}

pub(super) fn report_search(problem: &Problem, title: &str) -> Diagnostic {
    let message = format!("a pattern of `{title}` takes too many steps to match");
    RULE.finding(message, problem.at, "this pattern")
        .note("the substitution is skipped; Deckhand's code may take hours")
        .help("avoid nested repetitions, such as `(a+)+`")
}

pub(super) fn report_output(problem: &Problem, title: &str) -> Diagnostic {
    let message = format!("a pattern of `{title}` produces a string that is too long");
    RULE.finding(message, problem.at, "this pattern")
        .note("the substitution is skipped")
        .help("look for a pattern that matches in too many places")
}
