//! The text of a part to what it holds.

use std::sync::Arc;

use super::likeness::{is_base64_of_user_data, likeness};
use super::sniff::{self, Use};
use super::{Piece, mime, not_utf8, spelled_merge_header};
use crate::merge::patch::Patch;
use crate::source::{DocKey, SourceMap, Span, Spanned, offset};
use crate::system::cloud_init::PART;
use crate::system::cloud_init::part::{Carrier, Fault, FaultKind, Header, Kind, Likeness, Part};
use crate::yaml::{self, Comment, Loader, Node, Parsed, Problem, Value};

/// The one mapping of a YAML text.
pub(super) struct Single {
    pub(super) root: Option<Node>,
    pub(super) problems: Vec<Problem>,
    pub(super) comments: Vec<Comment>,
    pub(super) fault: Option<Fault>,
}

/// The part that a piece is, read as its content type says.
pub(super) fn part(sources: &SourceMap, piece: Piece) -> Part {
    let faults = faults_of_text(sources, &piece);
    let Piece { name, headers, content_type, text, .. } = piece;
    let (kind, header) = (kind(&content_type), merge_header(&headers));
    let mut part = Part {
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
    judge_headers(&mut part);
    if !part.faults.iter().any(|fault| loses_the_text(&fault.kind)) {
        // Of what is empty cloud-init says nothing.
        if text.start < text.end || sources.get(text.file).bytes().is_some() {
            judge_type(&mut part, &content_type, sources.slice(text));
        }
        read_content(&mut part, sources);
    }
    part
}

fn kind(content_type: &str) -> Kind {
    match sniff::used_as(content_type) {
        Use::CloudConfig => Kind::CloudConfig,
        Use::JsonPatch => Kind::JsonPatch(None),
        Use::Template => Kind::Template,
        Use::Carrier(_) | Use::Script | Use::Multipart | Use::Unrecognized | Use::Unknown => {
            Kind::Other(content_type.into())
        }
    }
}

/// What is wrong with a text as it arrived, as far as that matters.
fn faults_of_text(sources: &SourceMap, piece: &Piece) -> Vec<Fault> {
    let mut faults = piece.faults.clone();
    if !faults.iter().any(|fault| loses_the_text(&fault.kind)) {
        let file = piece.text.file;
        let not_utf8 = not_utf8(sources.get(file), file);
        faults.extend(not_utf8.map(|at| Fault { at, kind: FaultKind::NotUtf8 }));
    }
    let used_as = sniff::used_as(&piece.content_type);
    faults.retain(|fault| is_worth_telling(&fault.kind, used_as));
    faults
}

/// Whether it matters what became of a text on its way: of what is not merged
/// only as far as that may be why it is not.
fn is_worth_telling(fault: &FaultKind, used_as: Use) -> bool {
    match used_as {
        Use::CloudConfig | Use::JsonPatch | Use::Template | Use::Carrier(_) => true,
        Use::Unrecognized => !matches!(fault, FaultKind::Mangled { .. }),
        Use::Script | Use::Multipart | Use::Unknown => !is_of_the_text(fault),
    }
}

/// Whether a fault is one of the text itself.
fn is_of_the_text(fault: &FaultKind) -> bool {
    let is_broken = matches!(
        fault,
        FaultKind::Mangled { .. } | FaultKind::BrokenBase64 | FaultKind::BrokenUuencode
    );
    is_broken || loses_the_text(fault)
}

/// Whether a fault leaves no text that can be used.
fn loses_the_text(fault: &FaultKind) -> bool {
    matches!(
        fault,
        FaultKind::NoText
            | FaultKind::NotUtf8
            | FaultKind::NotGzip(_)
            | FaultKind::Mangled { is_readable: false }
    )
}

/// The header that counts: the first of the two names that has a value. Which
/// names there are is asked by their spelling, what they say is not
/// (`handlers/__init__.py`, `walk`: `dict(part)`).
fn merge_header(headers: &[Header]) -> Option<Spanned<Arc<str>>> {
    let said = ["Merge-Type", "X-Merge-Type"].into_iter().filter_map(|name| {
        let is_there = headers.iter().any(|header| &*header.name.value == name);
        is_there.then(|| mime::value(headers, &name.to_lowercase())).flatten()
    });
    said.into_iter().find(|value| !value.value.is_empty()).cloned()
}

/// The first line that is not blank, without the white space around it.
pub(super) fn first_line(sources: &SourceMap, text: Span) -> Span {
    let rest = sniff::trim_start(sources.slice(text));
    let line = rest.split(['\r', '\n']).next().unwrap_or_default();
    let start = text.end - offset(rest.len());
    Span::new(text.file, start, start + offset(sniff::trim(line).len()))
}

fn judge_type(part: &mut Part, content_type: &str, text: &str) {
    let fault = match sniff::used_as(content_type) {
        Use::CloudConfig if sniff::content_type(text) == Some(sniff::JINJA) => {
            FaultKind::NotRendered
        }
        Use::Unrecognized => FaultKind::Unrecognized(likeness(text, content_type)),
        Use::Unknown => FaultKind::UnknownType(content_type.into()),
        Use::Carrier(carrier) => FaultKind::Nested(carrier),
        Use::CloudConfig | Use::JsonPatch | Use::Template | Use::Script | Use::Multipart => return,
    };
    part.faults.push(Fault { at: part.at, kind: fault });
}

fn judge_headers(part: &mut Part) {
    for header in &part.headers {
        let Some(expected) = spelled_merge_header(&header.name.value) else { continue };
        let is_misspelled = &*header.name.value != expected;
        let kind = match part.kind {
            Kind::CloudConfig | Kind::Template if is_misspelled => {
                FaultKind::HeaderCase { expected }
            }
            Kind::JsonPatch(_) => FaultKind::IgnoredHeader(Carrier::JsonPatch),
            Kind::CloudConfig | Kind::Template | Kind::Other(_) => continue,
        };
        part.faults.push(Fault { at: header.name.span, kind });
    }
}

fn read_content(part: &mut Part, sources: &SourceMap) {
    match part.kind {
        Kind::CloudConfig => {
            let Single { root, problems, comments, fault } = mapping(sources, part.span, part.at);
            part.faults.extend(fault);
            (part.problems, part.comments) = (problems, comments);
            if let Some(root) = root {
                part.data = root;
            }
        }
        Kind::JsonPatch(_) => match Patch::read(sources.slice(part.span), part.span) {
            Ok(patch) => {
                part.data = patch.document().clone();
                part.kind = Kind::JsonPatch(Some(Arc::new(patch)));
            }
            Err(failure) => {
                part.faults.push(Fault { at: failure.at, kind: FaultKind::Patch(failure) });
            }
        },
        Kind::Template | Kind::Other(_) => {}
    }
}

/// Reads YAML that has to be one mapping; what is wrong with it as a whole is
/// wrong at `at`.
fn mapping(sources: &SourceMap, text: Span, at: Span) -> Single {
    let mut read = single(sources, text, at);
    if let Some(root) = &read.root
        && root.as_mapping().is_none()
    {
        let is_encoded =
            matches!(root.value, Value::String(_)) && is_base64_of_user_data(sources.slice(text));
        let kind = if is_encoded {
            FaultKind::Unrecognized(Likeness::Base64)
        } else {
            FaultKind::NotAMapping(root.value.kind())
        };
        read.fault = Some(Fault { at, kind });
        read.root = None;
    }
    read
}

/// Reads YAML that has to be one document.
pub(super) fn single(sources: &SourceMap, text: Span, at: Span) -> Single {
    let file = sources.get(text.file);
    let Parsed { documents, comments, problems } =
        yaml::parse_stretch(text.file, file.text(), text.range(), Loader::Python);
    let is_broken = problems.iter().any(|problem| problem.kind.is_fatal());
    let fault = (!is_broken && documents.len() != 1).then(|| Fault {
        at: documents.get(1).map_or(at, |second| Span { end: second.span.start, ..second.span }),
        kind: FaultKind::Documents(documents.len()),
    });
    let is_sound = !is_broken && fault.is_none();
    let root = documents.into_iter().next().filter(|_| is_sound).map(|it| it.root);
    Single { root, problems, comments, fault }
}
