//! Conversion of a text to a part with its content.

use std::sync::Arc;

use super::likeness::{is_base64_of_user_data, likeness};
use super::sniff::{self, ContentUse};
use super::{UnreadPart, mime, not_utf8, spelled_merge_header};
use crate::merge::patch::Patch;
use crate::source::{DocKey, SourceMap, Span, Spanned, offset};
use crate::system::cloud_init::PART;
use crate::system::cloud_init::part::{
    Carrier, CloudPart, ContentFault, Header, PartFault, PartFaultKind, PartKind, PartResemblance,
};
use crate::yaml::{self, Comment, Loader, Node, Parsed, Value, YamlProblem};

/// A YAML text that should be a single mapping.
pub(super) struct SingleMapping {
    pub(super) root: Option<Node>,
    pub(super) problems: Vec<YamlProblem>,
    pub(super) comments: Vec<Comment>,
    pub(super) fault: Option<PartFault>,
}

/// Reads a piece according to its content type.
pub(super) fn part(sources: &SourceMap, piece: UnreadPart) -> CloudPart {
    let faults = faults_of_text(sources, &piece);
    let UnreadPart {
        name,
        headers,
        content_type,
        text,
        ..
    } = piece;
    let kind = kind(&content_type);
    let header = merge_header(&headers);
    let mut part = CloudPart {
        key: DocKey::new(PART, Arc::default(), name),
        span: text,
        at: first_line(sources, text),
        kind,
        header,
        headers,
        data: Node::new(Value::Null, Span::point(text.file, text.start)),
        problems: Vec::new(),
        faults,
        comments: Vec::new(),
    };
    check_headers(&mut part);
    if part.is_part_handler() {
        part.faults.extend(handler_fault(sources, &part));
    }
    if !part
        .faults
        .iter()
        .any(|fault| makes_text_unusable(&fault.kind))
    {
        // cloud-init ignores empty text without a warning.
        if text.start < text.end || sources.get(text.file).bytes().is_some() {
            check_type(&mut part, &content_type, sources.slice(text));
        }
        read_content(&mut part, sources);
    }
    part
}

fn kind(content_type: &str) -> PartKind {
    match sniff::used_as(content_type) {
        ContentUse::CloudConfig => PartKind::CloudConfig,
        ContentUse::JsonPatch => PartKind::JsonPatch(None),
        ContentUse::Template => PartKind::Template,
        ContentUse::Carrier(_)
        | ContentUse::Script
        | ContentUse::Multipart
        | ContentUse::Unrecognized
        | ContentUse::Unknown => PartKind::Other(content_type.into()),
    }
}

/// Relevant faults of a text as received.
fn faults_of_text(sources: &SourceMap, piece: &UnreadPart) -> Vec<PartFault> {
    let mut faults = piece.faults.clone();
    if !faults.iter().any(|fault| makes_text_unusable(&fault.kind)) {
        let file = piece.text.file;
        let not_utf8 = not_utf8(sources.get(file), file);
        faults.extend(not_utf8.map(|at| PartFault {
            at,
            kind: ContentFault::NotUtf8.into(),
        }));
    }
    let used_as = sniff::used_as(&piece.content_type);
    faults.retain(|fault| is_worth_reporting(&fault.kind, used_as));
    faults
}

/// Reason why cloud-init cannot use a part handler (`walker_handle_handler`).
fn handler_fault(sources: &SourceMap, part: &CloudPart) -> Option<PartFault> {
    let file = part.span.file;
    if let Some(at) = not_utf8(sources.get(file), file) {
        return Some(PartFault {
            at,
            kind: PartFaultKind::HandlerNotUtf8,
        });
    }
    let text = sources.slice(part.span);
    let missing = ["list_types", "handle_part"]
        .into_iter()
        .find(|name| !text.contains(name))?;
    Some(PartFault {
        at: part.at,
        kind: PartFaultKind::HandlerWithout(missing),
    })
}

/// Whether a fault matters for this use. For content that is not merged, only a fault that may
/// explain why matters.
fn is_worth_reporting(fault: &PartFaultKind, used_as: ContentUse) -> bool {
    match used_as {
        ContentUse::CloudConfig
        | ContentUse::JsonPatch
        | ContentUse::Template
        | ContentUse::Carrier(_) => true,
        ContentUse::Unrecognized => !matches!(
            fault,
            PartFaultKind::Mangled | PartFaultKind::Content(ContentFault::Mangled)
        ),
        ContentUse::Script | ContentUse::Multipart | ContentUse::Unknown => !concerns_text(fault),
    }
}

/// Whether a fault concerns the text itself.
fn concerns_text(fault: &PartFaultKind) -> bool {
    let is_broken = matches!(
        fault,
        PartFaultKind::Mangled | PartFaultKind::BrokenBase64 | PartFaultKind::BrokenUuencode
    );
    is_broken || makes_text_unusable(fault)
}

/// Whether a fault leaves no usable text.
fn makes_text_unusable(fault: &PartFaultKind) -> bool {
    matches!(
        fault,
        PartFaultKind::Content(
            ContentFault::NoText
                | ContentFault::NotUtf8
                | ContentFault::NotGzip(_)
                | ContentFault::Mangled
        )
    )
}

/// The effective merge header: the first of the two names that has a value. Names are matched
/// case-sensitively, values are looked up case-insensitively (`handlers/__init__.py`, `walk`:
/// `dict(part)`).
fn merge_header(headers: &[Header]) -> Option<Spanned<Arc<str>>> {
    let headers_with_value = ["Merge-Type", "X-Merge-Type"]
        .into_iter()
        .filter_map(|name| {
            let is_there = headers.iter().any(|header| &*header.name.value == name);
            is_there
                .then(|| mime::value(headers, &name.to_lowercase()))
                .flatten()
        });
    headers_with_value
        .into_iter()
        .find(|value| !value.value.is_empty())
        .cloned()
}

/// Span of the first line that is not blank, trimmed.
pub(super) fn first_line(sources: &SourceMap, text: Span) -> Span {
    let rest = sniff::trim_start(sources.slice(text));
    let line = rest.split(['\r', '\n']).next().unwrap_or_default();
    let start = text.end - offset(rest.len());
    Span::new(text.file, start, start + offset(sniff::trim(line).len()))
}

fn check_type(part: &mut CloudPart, content_type: &str, text: &str) {
    let fault = match sniff::used_as(content_type) {
        ContentUse::CloudConfig if sniff::content_type(text) == Some(sniff::JINJA) => {
            PartFaultKind::NotRendered
        }
        ContentUse::Unrecognized => PartFaultKind::Unrecognized(likeness(text, content_type)),
        ContentUse::Unknown => PartFaultKind::UnknownType(content_type.into()),
        ContentUse::Carrier(carrier) => PartFaultKind::Nested(carrier),
        ContentUse::CloudConfig
        | ContentUse::JsonPatch
        | ContentUse::Template
        | ContentUse::Script
        | ContentUse::Multipart => return,
    };
    part.faults.push(PartFault {
        at: part.at,
        kind: fault,
    });
}

fn check_headers(part: &mut CloudPart) {
    for header in &part.headers {
        let Some(expected) = spelled_merge_header(&header.name.value) else {
            continue;
        };
        let is_misspelled = &*header.name.value != expected;
        let kind = match part.kind {
            PartKind::CloudConfig | PartKind::Template if is_misspelled => {
                PartFaultKind::HeaderCase { expected }
            }
            PartKind::JsonPatch(_) => PartFaultKind::IgnoredHeader(Carrier::JsonPatch),
            PartKind::CloudConfig | PartKind::Template | PartKind::Other(_) => continue,
        };
        part.faults.push(PartFault {
            at: header.name.span,
            kind,
        });
    }
}

fn read_content(part: &mut CloudPart, sources: &SourceMap) {
    match part.kind {
        PartKind::CloudConfig => {
            let SingleMapping {
                root,
                problems,
                comments,
                fault,
            } = mapping(sources, part.span, part.at);
            part.faults.extend(fault);
            (part.problems, part.comments) = (problems, comments);
            if let Some(root) = root {
                part.data = root;
            }
        }
        PartKind::JsonPatch(_) => match Patch::read(sources.slice(part.span), part.span) {
            Ok(patch) => {
                part.data = patch.document().clone();
                part.kind = PartKind::JsonPatch(Some(Arc::new(patch)));
            }
            Err(failure) => {
                part.faults.push(PartFault {
                    at: failure.at,
                    kind: ContentFault::Patch(failure).into(),
                });
            }
        },
        PartKind::Template | PartKind::Other(_) => {}
    }
}

/// Reads YAML that must be a single mapping; faults of the whole are reported at `at`.
fn mapping(sources: &SourceMap, text: Span, at: Span) -> SingleMapping {
    let mut read = single(sources, text, at);
    if let Some(root) = &read.root
        && root.as_mapping().is_none()
    {
        let is_encoded =
            matches!(root.value, Value::String(_)) && is_base64_of_user_data(sources.slice(text));
        let kind = if is_encoded {
            PartFaultKind::Unrecognized(PartResemblance::Base64)
        } else {
            ContentFault::NotAMapping(root.value.kind()).into()
        };
        read.fault = Some(PartFault { at, kind });
        read.root = None;
    }
    read
}

/// Reads YAML that must be a single document.
pub(super) fn single(sources: &SourceMap, text: Span, at: Span) -> SingleMapping {
    let file = sources.get(text.file);
    let Parsed {
        documents,
        comments,
        problems,
    } = yaml::parse_stretch(text.file, file.text(), text.range(), Loader::Python);
    let is_broken = problems.iter().any(|problem| problem.kind.is_fatal());
    let fault = (!is_broken && documents.len() != 1).then(|| PartFault {
        at: documents.get(1).map_or(at, |second| Span {
            end: second.span.start,
            ..second.span
        }),
        kind: ContentFault::Documents(documents.len()).into(),
    });
    let is_sound = !is_broken && fault.is_none();
    let root = documents
        .into_iter()
        .next()
        .filter(|_| is_sound)
        .map(|it| it.root);
    SingleMapping {
        root,
        problems,
        comments,
        fault,
    }
}
