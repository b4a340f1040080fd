//! What a patch is to do: its operations, read from its data and checked as far
//! as they can be without the document that they change.

use std::sync::Arc;

use jsonptr::{ParseError, Pointer as JsonPointer};
use layercake_source::Span;
use layercake_yaml::{Node, Value};

use super::{Failure, Member, Reason};

/// One operation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Operation {
    /// Where it applies.
    pub(super) path: Pointer,
    /// What it does there.
    pub(super) action: Action,
}

/// What an operation does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    Add(Node),
    Remove,
    Replace(Node),
    Move(Pointer),
    Copy(Pointer),
    Test(Node),
}

/// A JSON pointer (RFC 6901), and where it is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pointer {
    /// Which of an operation's two it is.
    pub(super) member: Member,
    /// Its steps, escapes undone; none for the whole document.
    pub(super) tokens: Vec<Arc<str>>,
    /// Where it is written.
    pub(super) span: Span,
}

/// Reads the operations that `document` lists.
///
/// # Errors
/// Where `jsonpatch` refuses one of them, whatever it would be applied to.
pub(super) fn read(document: &Node) -> Result<Vec<Operation>, Failure> {
    let items = match &document.value {
        Value::Sequence(items) => items.as_slice(),
        // `jsonpatch` goes through whatever it is given, and there is nothing.
        Value::Mapping(mapping) if mapping.is_empty() => &[],
        Value::String(text) if text.is_empty() => &[],
        other => {
            let reason = Reason::NotAList(other.kind());
            return Err(Failure { operation: None, at: document.span, reason });
        }
    };
    let operations = items.iter().enumerate();
    operations
        .map(|(index, item)| {
            read_one(item).map_err(|(at, reason)| Failure { operation: Some(index), at, reason })
        })
        .collect()
}

/// What is wrong, and the text that is at fault.
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
        _ => unreachable!("these are the names"),
    };
    Ok(Operation { path, action })
}

fn member(item: &Node, member: Member) -> Result<&Node, Fault> {
    item.get(member.as_str()).ok_or((item.span, Reason::MissingMember(member)))
}

fn text(item: &Node, name: Member) -> Result<(&str, Span), Fault> {
    let node = member(item, name)?;
    let wrong = || (node.span, Reason::NotAText { member: name, found: node.value.kind() });
    Ok((node.as_str().ok_or_else(wrong)?, node.span))
}

fn pointer(item: &Node, member: Member) -> Result<Pointer, Fault> {
    let (text, span) = text(item, member)?;
    let pointer = JsonPointer::parse(text).map_err(|error| match error {
        ParseError::NoLeadingSlash => (span, Reason::NoLeadingSlash(member)),
        ParseError::InvalidEncoding { .. } => (span, Reason::InvalidEscape(member)),
    })?;
    let tokens = pointer.tokens().map(|token| token.decoded().into()).collect();
    Ok(Pointer { member, tokens, span })
}
