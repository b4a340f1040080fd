//! Operations of a patch, parsed from its data and checked as far as possible without the document
//! that they change.

use std::sync::Arc;

use jsonptr::{ParseError, Pointer as JsonPointer};
use layercake_source::Span;
use layercake_yaml::{Node, Value};

use super::{Failure, Member, Reason};

/// Operation of a patch.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Operation {
    /// Place to which it applies.
    pub(super) path: Pointer,
    /// Action at the place.
    pub(super) action: Action,
}

/// Action of an operation.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    Add(Node),
    Remove,
    Replace(Node),
    Move(Pointer),
    Copy(Pointer),
    Test(Node),
}

/// JSON pointer (RFC 6901) with its span.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pointer {
    /// The member of the operation that contains it.
    pub(super) member: Member,
    /// Unescaped tokens; none for the whole document.
    pub(super) tokens: Vec<Arc<str>>,
    /// Span of the pointer.
    pub(super) span: Span,
}

/// Parses the operations of `document`.
///
/// # Errors
/// If `jsonpatch` rejects an operation, independent of the document it is applied to.
pub(super) fn read(document: &Node) -> Result<Vec<Operation>, Failure> {
    let items = match &document.value {
        Value::Sequence(items) => items.as_slice(),
        // `jsonpatch` iterates over any value, and this one is empty.
        Value::Mapping(mapping) if mapping.is_empty() => &[],
        Value::String(text) if text.is_empty() => &[],
        other => {
            let reason = Reason::NotAList(other.kind());
            return Err(Failure {
                operation: None,
                at: document.span,
                reason,
            });
        }
    };
    let operations = items.iter().enumerate();
    operations
        .map(|(index, item)| {
            read_one(item).map_err(|(at, reason)| Failure {
                operation: Some(index),
                at,
                reason,
            })
        })
        .collect()
}

/// Reason, and span of the text to fix.
type Fault = (Span, Reason);

fn read_one(item: &Node) -> Result<Operation, Fault> {
    if item.as_mapping().is_none() {
        return Err((item.span, Reason::NotAMapping(item.value.kind())));
    }
    let (name, span) = text(item, Member::Op)?;
    if !super::Patch::OPERATIONS.contains(&name) {
        return Err((span, Reason::UnknownOperation));
    }
    let path = pointer(item, Member::Path)?;
    let value = || member(item, Member::Value).cloned();
    let action = match name {
        "add" => Action::Add(value()?),
        "remove" => Action::Remove,
        "replace" => Action::Replace(value()?),
        "move" => Action::Move(pointer(item, Member::From)?),
        "copy" => Action::Copy(pointer(item, Member::From)?),
        "test" => Action::Test(value()?),
        _ => unreachable!("all operation names are covered"),
    };
    Ok(Operation { path, action })
}

fn member(item: &Node, member: Member) -> Result<&Node, Fault> {
    item.get(member.as_str())
        .ok_or((item.span, Reason::MissingMember(member)))
}

fn text(item: &Node, name: Member) -> Result<(&str, Span), Fault> {
    let node = member(item, name)?;
    let wrong = || {
        (
            node.span,
            Reason::NotAText {
                member: name,
                found: node.value.kind(),
            },
        )
    };
    Ok((node.as_str().ok_or_else(wrong)?, node.span))
}

fn pointer(item: &Node, member: Member) -> Result<Pointer, Fault> {
    let (text, span) = text(item, member)?;
    let pointer = JsonPointer::parse(text).map_err(|error| match error {
        ParseError::NoLeadingSlash => (span, Reason::NoLeadingSlash(member)),
        ParseError::InvalidEncoding { .. } => (span, Reason::InvalidEscape(member)),
    })?;
    let tokens = pointer
        .tokens()
        .map(|token| token.decoded().into())
        .collect();
    Ok(Pointer {
        member,
        tokens,
        span,
    })
}
