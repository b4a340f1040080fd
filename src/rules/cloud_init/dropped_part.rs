//! `dropped-part`: a part that cloud-init drops, or for which it gives up all
//! user-data.

use super::UserDataFacts;
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::merge::patch::{Failure, Member, Reason};
use crate::system::cloud_init::part::{FaultCost, PartFault, PartFaultKind};
use crate::system::cloud_init::read::is_gzip;

super::super::rule!("dropped-part", Error, "a part that cloud-init drops");

/// `cost` is the cost of the fault at its place. None where the file's own fault reports it.
pub(super) fn word(
    facts: &UserDataFacts<'_>,
    fault: &PartFault,
    cost: FaultCost,
) -> Option<Diagnostic> {
    let is_reported =
        fault.kind == PartFaultKind::NoText && facts.sources.get(fault.at.file).fault().is_some();
    if is_reported {
        return None;
    }
    let DroppedPartMessage { message, label, why, help } = of_text(facts, fault);
    let finding = Diagnostic::new(&RULE, message, Label::new(facts.first_line(fault.at), label));
    let finding = why.into_iter().fold(finding, Diagnostic::note).note(consequence(cost));
    let severity = if is_empty(&fault.kind) { Severity::Warning } else { finding.severity };
    Some(Diagnostic { severity, ..finding }.help(help))
}

struct DroppedPartMessage {
    message: String,
    label: &'static str,
    why: Option<&'static str>,
    help: &'static str,
}

/// The fault in the text of a part.
fn of_text(facts: &UserDataFacts<'_>, fault: &PartFault) -> DroppedPartMessage {
    use PartFaultKind as Kind;
    match &fault.kind {
        kind if is_empty(kind) => words(
            "a cloud-config part is empty",
            "nothing but comments stands here",
            "write `{}` if it is to be empty, or take the part out of its set",
        ),
        Kind::NoText => words(
            "an included file cannot be read",
            "what is there is no text",
            "include a text, or take the line out",
        ),
        Kind::Documents(count) => words(
            format!("a cloud-config part holds {count} YAML documents"),
            "another document begins here",
            "make one document of them, or a part of each",
        ),
        Kind::NotAMapping(found) => words(
            format!("a cloud-config part is {found}, not a mapping"),
            "no mapping",
            "put what it holds under the key of a module, such as `runcmd`",
        ),
        Kind::Patch(failure) => unread_patch(failure),
        Kind::NotUtf8 if facts.sources.get(fault.at.file).bytes().is_some_and(is_gzip) => {
            DroppedPartMessage {
                why: Some(
                    "cloud-init decompresses user-data as a whole, and parts of a message whose type \
                 is `application/gzip`",
                ),
                ..words(
                    "a part is gzip where cloud-init does not decompress it",
                    "begins as gzip does",
                    "decompress it with `gunzip`, or give the part of the message the type \
                 `application/gzip`",
                )
            }
        }
        Kind::NotUtf8 => words(
            "a part is not UTF-8",
            "the next byte is not UTF-8",
            "save it as UTF-8; send what is no text compressed or in base64",
        ),
        Kind::Mangled { .. } => DroppedPartMessage {
            why: Some(
                "a MIME part without `Content-Transfer-Encoding` is ASCII to Python, whatever \
                 `charset` says: other bytes come of it, which are no UTF-8",
            ),
            ..words(
                "text beyond ASCII spoils a MIME part that is not encoded",
                "not ASCII",
                "send the part in base64 or quoted-printable",
            )
        },
        Kind::NotGzip(why) => words(
            format!("a compressed part cannot be decompressed: {why}"),
            "not gzip, or damaged",
            "compress it again with gzip, or send it as it is",
        ),
        carrier => of_carrier(carrier),
    }
}

/// The fault in a container of parts.
fn of_carrier(kind: &PartFaultKind) -> DroppedPartMessage {
    use PartFaultKind as Kind;
    match kind {
        Kind::NotAList(found) => words(
            format!("a `#cloud-config-archive` is {found}, not a list"),
            "no list",
            "write a list of entries, each with `type` and `content`",
        ),
        Kind::Content(found) => words(
            format!("the `content` of an archive's entry is {found}, not text"),
            "no text",
            "write it as a text, with `|`",
        ),
        Kind::InvalidType => words(
            "the `type` of an archive's entry is no content type",
            "no content type",
            "write a content type, such as `text/cloud-config`",
        ),
        Kind::HeaderValue(found) => DroppedPartMessage {
            why: Some(
                "each key of an entry but `content`, `type`, `filename` and `launch-index` is a \
                 header",
            ),
            ..words(
                format!("a header of an archive's entry is {found}, not text"),
                "no text",
                "put it in quotes, or take it out",
            )
        },
        Kind::MissingInclude => words(
            "a text to include is not there",
            "no such file in the repository",
            "a path counts from the folder of this file, or with a `/` in front from the \
             repository's",
        ),
        Kind::IncludeCycle => words(
            "a text includes itself",
            "leads back to a text in which it stands",
            "take one of the lines out",
        ),
        Kind::NoBoundary => DroppedPartMessage {
            why: Some("nothing in the message is found without"),
            ..words(
                "a multipart message does not name its boundary",
                "no `boundary=` in it",
                "name the boundary here, as it stands between the parts",
            )
        },
        Kind::NoParts => words(
            "a multipart message in which its boundary never stands",
            "no line is this boundary with `--` in front",
            "name the boundary that stands between the parts",
        ),
        Kind::NoText
        | Kind::Documents(_)
        | Kind::NotAMapping(_)
        | Kind::Patch(_)
        | Kind::NotUtf8
        | Kind::Mangled { .. }
        | Kind::NotGzip(_) => unreachable!("these are faults of a text"),
        Kind::Unrecognized(_)
        | Kind::UnknownType(_)
        | Kind::Nested(_)
        | Kind::Entry(_)
        | Kind::HeaderCase { .. }
        | Kind::IgnoredHeader(_)
        | Kind::NotRendered
        | Kind::RemoteInclude
        | Kind::BrokenBase64
        | Kind::BrokenUuencode
        | Kind::NoEndBoundary
        | Kind::OverLimit(_) => unreachable!("another rule puts this into words"),
    }
}

fn words(
    message: impl Into<String>,
    label: &'static str,
    help: &'static str,
) -> DroppedPartMessage {
    DroppedPartMessage { message: message.into(), label, why: None, help }
}

/// Nothing is lost with a part that holds nothing.
fn is_empty(kind: &PartFaultKind) -> bool {
    matches!(kind, PartFaultKind::Documents(0) | PartFaultKind::NotAMapping("null"))
}

fn consequence(cost: FaultCost) -> &'static str {
    match cost {
        FaultCost::UserData => "cloud-init gives up: no part of this user-data is used",
        FaultCost::Part => "cloud-init drops it, and goes on with the other parts",
        FaultCost::Nothing => unreachable!("what costs nothing is no dropped part"),
    }
}

fn unread_patch(failure: &Failure) -> DroppedPartMessage {
    let whose = match failure.operation {
        Some(operation) => format!("operation {} of a JSON patch", operation + 1),
        None => "a JSON patch".to_owned(),
    };
    let (reason, help) = reason(&failure.reason);
    DroppedPartMessage {
        message: format!("{whose} {reason}"),
        label: "this is at fault",
        why: None,
        help,
    }
}

/// The fault in a patch as it is written; no text of it.
fn reason(reason: &Reason) -> (String, &'static str) {
    let members = "an operation has `op` and `path`, and `value` or `from` where it needs them";
    let pointer = "a pointer is empty or begins with `/`; in it `~1` is `/`, and `~0` is `~`";
    let name = |member: &Member| member.as_str();
    match reason {
        Reason::NotJson(what) => (
            format!("is no JSON: {what}"),
            "write JSON, not YAML: a list of operations below the first line",
        ),
        Reason::OverLimit(_) => {
            ("is more than layercake holds in memory".into(), "split the patch")
        }
        Reason::NotAList(found) => {
            (format!("is {found}, not a list"), "write a list of operations, also for one")
        }
        Reason::NotAMapping(found) => (format!("is {found}, not a mapping"), members),
        Reason::MissingMember(member) => (format!("has no `{}`", name(member)), members),
        Reason::NotAText { member, found } => {
            (format!("has {found} for its `{}`", name(member)), "write it as a text")
        }
        Reason::UnknownOperation => (
            "does what RFC 6902 does not have".into(),
            "write `add`, `remove`, `replace`, `move`, `copy` or `test`",
        ),
        Reason::NoLeadingSlash(member) => {
            (format!("has a `{}` without `/` in front", name(member)), pointer)
        }
        Reason::InvalidEscape(member) => {
            (format!("has a `~` in its `{}` that escapes nothing", name(member)), pointer)
        }
        Reason::MissingKey { member, .. }
        | Reason::OutOfRange { member, .. }
        | Reason::NotAnIndex { member, .. }
        | Reason::NotAContainer { member, .. }
        | Reason::PastTheEnd(member)
        | Reason::WholeDocument(member) => (
            format!("has a `{}` that leads to nothing", name(member)),
            "let it lead to what there is by then",
        ),
        Reason::IntoItself => ("moves a value into itself".into(), "move it elsewhere"),
        Reason::Different { .. } => {
            ("tests for another value than there is".into(), "mend the test")
        }
    }
}
