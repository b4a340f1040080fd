//! JSON Patch (RFC 6902) for nodes with spans, as cloud-init applies it (`cloud-init.md` 6): with
//! Python's `json`, `jsonpatch` 1.33 and `jsonpointer`.
//!
//! A patch is applied as a whole or not at all. Inserted values keep their span and their secret
//! flag from the patch; moved and copied values keep theirs from the document. There is one
//! difference from Python: pointers of `jsonpointer` before 3.12 can lead into strings, to their
//! characters. Here, as in RFC 6901 and later versions, a string has no children.

mod apply;
mod json;
mod operation;

use std::borrow::Cow;

use layercake_source::Span;
use layercake_yaml::path::{Location, Piece, inside};
use layercake_yaml::{Node, Size, YamlLimit};

use self::operation::Operation;

/// Operations of a patch, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    document: Node,
    operations: Vec<Operation>,
}

/// Reason why a patch cannot be parsed or applied; nothing of it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Index of the operation, from 0; `None` if the text is not a list of operations.
    pub operation: Option<usize>,
    /// Span of the text to fix: the wrong member, or the operation that lacks one.
    pub at: Span,
    /// Kind of the error.
    pub reason: Reason,
}

/// Error in a patch. Contains no values, and keys only as places.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// The text is not valid JSON, with the syntax error at the span.
    NotJson(&'static str),
    /// The JSON exceeds a limit.
    OverLimit(YamlLimit),
    /// The JSON is not a list of operations; its kind.
    NotAList(&'static str),
    /// An operation is not an object; its kind.
    NotAMapping(&'static str),
    /// An operation lacks a required member.
    MissingMember(Member),
    /// A member that must be a string has another type.
    NotAText {
        /// The member.
        member: Member,
        /// Kind of its value.
        found: &'static str,
    },
    /// The operation is not defined in RFC 6902.
    UnknownOperation,
    /// A pointer is neither empty nor begins with `/`.
    NoLeadingSlash(Member),
    /// A pointer has `~` before a character other than `0` or `1`.
    InvalidEscape(Member),
    /// A pointer leads to a missing key.
    MissingKey {
        /// The pointer.
        member: Member,
        /// The mapping that lacks the key.
        reached: Location,
    },
    /// A pointer leads past the end of a list.
    OutOfRange {
        /// The pointer.
        member: Member,
        /// The list.
        reached: Location,
    },
    /// A pointer into a list has an invalid index.
    NotAnIndex {
        /// The pointer.
        member: Member,
        /// The list.
        reached: Location,
    },
    /// A pointer leads into a value without children.
    NotAContainer {
        /// The pointer.
        member: Member,
        /// The value.
        reached: Location,
        /// Its kind.
        found: &'static str,
    },
    /// A pointer leads past the end of a list with `-`, or `replace` has a key `-`, where an
    /// existing value is required.
    PastTheEnd(Member),
    /// The whole document is added where it is not a mapping, or is removed, moved or copied.
    WholeDocument(Member),
    /// A value is moved into itself.
    IntoItself,
    /// `test` found another value; with its span.
    Different {
        /// Span of the found value.
        found: Span,
    },
}

/// Members of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// The operation.
    Op,
    /// The place.
    Path,
    /// The source, for `move` and `copy`.
    From,
    /// The value, for `add`, `replace` and `test`.
    Value,
}

impl Member {
    /// Returns the name of the member.
    pub fn as_str(self) -> &'static str {
        match self {
            Member::Op => "op",
            Member::Path => "path",
            Member::From => "from",
            Member::Value => "value",
        }
    }
}

impl Patch {
    /// Names of all operations.
    const OPERATIONS: [&'static str; 6] = ["add", "remove", "replace", "move", "copy", "test"];

    /// Parses a patch. `text` is a part as cloud-init has it, with or without its marker line, and
    /// `span` its span.
    ///
    /// It is parsed as JSON instead of YAML: `1e5` is a number, tabs are allowed between values,
    /// and a duplicate key has the list of its values (`jsonpatch`'s `multidict`).
    ///
    /// # Errors
    /// If `json` or `jsonpatch` fails independent of the document it is applied to.
    pub fn read(text: &str, span: Span) -> Result<Self, Failure> {
        let document = json::read(text, span)?;
        let operations = operation::read(&document)?;
        Ok(Self {
            document,
            operations,
        })
    }

    /// Returns the patch as data: a list of operations, each a mapping. Places in the patch are
    /// places in this node.
    pub fn document(&self) -> &Node {
        &self.document
    }

    /// Applies the patch to `base`. `document` is [`Patch::document`], or a variant with other
    /// secret flags or reverted edits, whose operations then apply.
    ///
    /// # Errors
    /// If an operation fails; `base` is then unchanged.
    pub(super) fn apply(&self, base: &mut Node, document: &Node) -> Result<(), Failure> {
        let operations = self.operations_of(document)?;
        let patched = apply::apply(&operations, base)?;
        // Keys added by a secret patch come from its pointers.
        let secret = patched.secret || document.secret;
        *base = Node { secret, ..patched };
        Ok(())
    }

    /// See [`Strategy::taken_by`](super::Strategy::taken_by): finds the first operation that
    /// reduces the number of nodes with the span. Skipped if it would take long.
    pub(super) fn taken_by(&self, base: &Node, document: &Node, taken: Span) -> Option<Location> {
        /// Maximum number of visited nodes.
        const MAX_VISITED: u64 = 10_000_000;
        let operations = self.operations_of(document).ok()?;
        let mut left = MAX_VISITED.checked_sub(Size::of(base).nodes())?;
        let mut count = count_of(base, taken);
        let mut found = None;
        let patched = apply::apply_each(&operations, base, |index, patched| {
            let cost = Size::of(patched).nodes();
            if found.is_some() || left < cost {
                return;
            }
            left -= cost;
            let before = std::mem::replace(&mut count, count_of(patched, taken));
            found = (count < before).then(|| Location(vec![Piece::Index(index)]));
        });
        patched.ok().and(found)
    }

    fn operations_of(&self, document: &Node) -> Result<Cow<'_, [Operation]>, Failure> {
        if document.value.address() == self.document.value.address() {
            return Ok(Cow::Borrowed(&self.operations));
        }
        operation::read(document).map(Cow::Owned)
    }
}

/// Returns the number of nodes with a span.
fn count_of(node: &Node, span: Span) -> usize {
    usize::from(node.span == span)
        + inside(node)
            .map(|child| count_of(child, span))
            .sum::<usize>()
}
