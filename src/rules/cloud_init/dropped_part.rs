//! `dropped-part`: a part that cloud-init drops, or that makes it drop all user-data.

use super::UserDataFacts;
use crate::diagnostic::{Diagnostic, Severity};
use crate::merge::patch::{Failure, Member, Reason};
use crate::source::Span;
use crate::system::cloud_init::part::{ContainerFault, ContentFault, FaultCost};
use crate::system::cloud_init::read::is_gzip;

super::super::rule!("dropped-part", Error, "part that cloud-init drops");

/// Finding with the effect of the fault, `cost`. Returns `None` if the file's own fault reports it.
pub(super) fn report_content(
    facts: &UserDataFacts<'_>,
    at: Span,
    fault: &ContentFault,
    cost: FaultCost,
) -> Option<Diagnostic> {
    let source = facts.sources.get(at.file);
    if *fault == ContentFault::NoText && source.fault().is_some() {
        return None;
    }
    let is_gzip = source.bytes().is_some_and(is_gzip);
    let finding = report(facts, at, of_content(fault, is_gzip), cost);
    let severity = if is_empty(fault) {
        Severity::Warning
    } else {
        finding.severity
    };
    Some(Diagnostic {
        severity,
        ..finding
    })
}

/// Finding with the effect of the fault, `cost`.
pub(super) fn report_container(
    facts: &UserDataFacts<'_>,
    at: Span,
    fault: &ContainerFault,
    cost: FaultCost,
) -> Diagnostic {
    report(facts, at, of_container(fault), cost)
}

fn report(
    facts: &UserDataFacts<'_>,
    at: Span,
    message: DroppedPartMessage,
    cost: FaultCost,
) -> Diagnostic {
    let DroppedPartMessage {
        message,
        label,
        why,
        help,
    } = message;
    let finding = RULE.finding(message, facts.first_line(at), label);
    why.into_iter()
        .fold(finding, Diagnostic::note)
        .note(consequence(cost))
        .help(help)
}

struct DroppedPartMessage {
    message: String,
    label: &'static str,
    why: Option<&'static str>,
    help: &'static str,
}

/// Message for a fault in the content of a part, which may be `is_gzip` data.
fn of_content(fault: &ContentFault, is_gzip: bool) -> DroppedPartMessage {
    use ContentFault as Kind;
    match fault {
        kind if is_empty(kind) => words(
            "a cloud-config part is empty",
            "only comments here",
            "write `{}` if it is intentionally empty, or remove the part from its set",
        ),
        Kind::NoText => words(
            "an included file cannot be read",
            "not text",
            "include a text file, or remove the line",
        ),
        Kind::Documents(count) => words(
            format!("a cloud-config part holds {count} YAML documents"),
            "another document starts here",
            "merge them into one document, or make each a separate part",
        ),
        Kind::NotAMapping(found) => words(
            format!("a cloud-config part is {found}, not a mapping"),
            "expected a mapping",
            "move the content under the key of a module, such as `runcmd`",
        ),
        Kind::Patch(failure) => unread_patch(failure),
        Kind::NotUtf8 if is_gzip => DroppedPartMessage {
            why: Some(
                "cloud-init decompresses only user-data as a whole, and parts of a message \
                 with the type `application/gzip`",
            ),
            ..words(
                "a part is gzip data that cloud-init does not decompress here",
                "starts like gzip data",
                "decompress it with `gunzip`, or set the type of the message part to \
                 `application/gzip`",
            )
        },
        Kind::NotUtf8 => words(
            "a part is not UTF-8",
            "invalid byte",
            "save it as UTF-8; compress binary data or encode it in base64",
        ),
        Kind::Mangled => DroppedPartMessage {
            why: Some(
                "Python reads a MIME part without `Content-Transfer-Encoding` as ASCII, regardless \
                 of `charset`: the resulting bytes are not UTF-8",
            ),
            ..words(
                "non-ASCII text corrupts a MIME part without an encoding",
                "not ASCII",
                "send the part in base64 or quoted-printable",
            )
        },
        Kind::NotGzip(why) => words(
            format!("a compressed part cannot be decompressed: {why}"),
            "not gzip, or damaged",
            "compress it again with gzip, or send it uncompressed",
        ),
    }
}

/// Message for a fault in a container of parts.
fn of_container(fault: &ContainerFault) -> DroppedPartMessage {
    use ContainerFault as Kind;
    match fault {
        Kind::NotAList(found) => words(
            format!("a `#cloud-config-archive` is {found}, not a list"),
            "expected a list",
            "write a list of entries, each with `type` and `content`",
        ),
        Kind::EntryContent(found) => words(
            format!("the `content` of an archive's entry is {found}, not a string"),
            "expected a string",
            "write it as a string, with `|`",
        ),
        Kind::InvalidType => words(
            "the `type` of an archive's entry is not a content type",
            "expected a content type",
            "write a content type, such as `text/cloud-config`",
        ),
        Kind::HeaderValue(found) => DroppedPartMessage {
            why: Some(
                "each key of an entry except `content`, `type`, `filename` and `launch-index` is a \
                 header",
            ),
            ..words(
                format!("a header of an archive's entry is {found}, not a string"),
                "expected a string",
                "quote it, or remove it",
            )
        },
        Kind::MissingInclude => words(
            "an included file does not exist",
            "not found in the repository",
            "use a path relative to this file's folder, or start it with `/` for the root of the \
             repository",
        ),
        Kind::IncludeCycle => words(
            "a file includes itself",
            "includes an including file again",
            "remove one of the lines",
        ),
        Kind::NoBoundary => DroppedPartMessage {
            why: Some("without it no part of the message can be found"),
            ..words(
                "a multipart message does not name its boundary",
                "`boundary=` is missing",
                "add the boundary that separates the parts",
            )
        },
        Kind::NoParts => words(
            "multipart message that does not contain its boundary",
            "no line consists of `--` and this boundary",
            "use the boundary that separates the parts",
        ),
    }
}

fn words(
    message: impl Into<String>,
    label: &'static str,
    help: &'static str,
) -> DroppedPartMessage {
    DroppedPartMessage {
        message: message.into(),
        label,
        why: None,
        help,
    }
}

/// Whether the part is empty, so dropping it loses nothing.
fn is_empty(fault: &ContentFault) -> bool {
    matches!(
        fault,
        ContentFault::Documents(0) | ContentFault::NotAMapping("null")
    )
}

fn consequence(cost: FaultCost) -> &'static str {
    match cost {
        FaultCost::UserData => "cloud-init fails: it uses no part of this user-data",
        FaultCost::Part => "cloud-init drops it and continues with the other parts",
    }
}

fn unread_patch(failure: &Failure) -> DroppedPartMessage {
    let subject = match failure.operation {
        Some(operation) => format!("operation {} of a JSON patch", operation + 1),
        None => "a JSON patch".to_owned(),
    };
    let (reason, help) = reason(&failure.reason);
    DroppedPartMessage {
        message: format!("{subject} {reason}"),
        label: "the fault is here",
        why: None,
        help,
    }
}

/// Message for a fault in the written patch, without quoting it.
fn reason(reason: &Reason) -> (String, &'static str) {
    let members = "an operation has `op` and `path`, and `value` or `from` if needed";
    let pointer = "a pointer is empty or begins with `/`; `~1` means `/`, and `~0` means `~`";
    let name = |member: &Member| member.as_str();
    match reason {
        Reason::NotJson(what) => (
            format!("is not valid JSON: {what}"),
            "write JSON, not YAML: a list of operations below the first line",
        ),
        Reason::OverLimit(_) => ("exceeds a limit of layercake".into(), "split the patch"),
        Reason::NotAList(found) => (
            format!("is {found}, not a list"),
            "write a list of operations, even for a single one",
        ),
        Reason::NotAMapping(found) => (format!("is {found}, not a mapping"), members),
        Reason::MissingMember(member) => (format!("has no `{}`", name(member)), members),
        Reason::NotAText { member, found } => (
            format!("has {found} for its `{}`", name(member)),
            "write it as a string",
        ),
        Reason::UnknownOperation => (
            "has an operation that RFC 6902 does not define".into(),
            "write `add`, `remove`, `replace`, `move`, `copy` or `test`",
        ),
        Reason::NoLeadingSlash(member) => (
            format!("has a `{}` without a leading `/`", name(member)),
            pointer,
        ),
        Reason::InvalidEscape(member) => (
            format!("has an invalid `~` escape in its `{}`", name(member)),
            pointer,
        ),
        Reason::MissingKey { member, .. }
        | Reason::OutOfRange { member, .. }
        | Reason::NotAnIndex { member, .. }
        | Reason::NotAContainer { member, .. }
        | Reason::PastTheEnd(member)
        | Reason::WholeDocument(member) => (
            format!("has a `{}` that does not exist", name(member)),
            "use a path that exists at this point of the patch",
        ),
        Reason::IntoItself => ("moves a value into itself".into(), "move it elsewhere"),
        Reason::Different { .. } => (
            "tests for a different value than the actual one".into(),
            "correct the test",
        ),
    }
}
