//! JSON Patch (RFC 6902) over nodes that remember their text, as cloud-init
//! applies it (`cloud-init.md` 6): with Python's `json`, `jsonpatch` 1.33 and
//! `jsonpointer`.
//!
//! A patch is applied as a whole or not at all. What it puts in keeps the span
//! and the mark of secrecy it has in the patch, what it moves or copies those it
//! had before. It departs from Python in one point: `jsonpointer` before 3.12
//! leads into texts, to their characters; here, as in RFC 6901 and since, a text
//! holds nothing.

mod apply;
mod json;
mod operation;

use std::borrow::Cow;

use layercake_source::Span;
use layercake_yaml::path::{Location, Piece, inside};
use layercake_yaml::{Node, Size, YamlLimit};

use self::operation::Operation;

/// The operations of a patch, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    document: Node,
    operations: Vec<Operation>,
}

/// Why a patch cannot be read, or not be applied; nothing of it is then.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The operation at fault, from 0; none where the text is no list of them.
    pub operation: Option<usize>,
    /// The text at fault: the member that is wrong, or the operation that lacks
    /// one.
    pub at: Span,
    /// What is wrong with it.
    pub reason: Reason,
}

/// What can be wrong with a patch. None of it holds a text of values; keys are
/// in it only as places.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// The text is no JSON; what is wrong at the place.
    NotJson(&'static str),
    /// It is JSON beyond what layercake holds in memory.
    OverLimit(YamlLimit),
    /// It is JSON, but no list of operations; what it is instead.
    NotAList(&'static str),
    /// An operation is no object; what it is instead.
    NotAMapping(&'static str),
    /// An operation lacks a member that it needs.
    MissingMember(Member),
    /// A member that must be a text is something else.
    NotAText {
        /// The member.
        member: Member,
        /// What it is instead.
        found: &'static str,
    },
    /// An operation that RFC 6902 does not have.
    UnknownOperation,
    /// A pointer that is neither empty nor begins with `/`.
    NoLeadingSlash(Member),
    /// A pointer with `~` before something else than `0` or `1`.
    InvalidEscape(Member),
    /// A pointer leads to a key that is not there.
    MissingKey {
        /// The pointer.
        member: Member,
        /// The mapping that lacks the key.
        reached: Location,
    },
    /// A pointer leads beyond the end of a list.
    OutOfRange {
        /// The pointer.
        member: Member,
        /// The list.
        reached: Location,
    },
    /// A pointer leads into a list by something that is no index.
    NotAnIndex {
        /// The pointer.
        member: Member,
        /// The list.
        reached: Location,
    },
    /// A pointer leads into a value that holds nothing.
    NotAContainer {
        /// The pointer.
        member: Member,
        /// The value.
        reached: Location,
        /// What it is.
        found: &'static str,
    },
    /// A pointer leads with `-` behind the end of a list, or `replace` names a
    /// key `-`, where something must be there.
    PastTheEnd(Member),
    /// The whole document is added where there is no mapping, or removed, moved
    /// or copied.
    WholeDocument(Member),
    /// A value is moved into itself.
    IntoItself,
    /// `test` found another value; where that was written.
    Different {
        /// The value that was found.
        found: Span,
    },
}

/// The members that operations have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// What to do.
    Op,
    /// Where.
    Path,
    /// From where, for `move` and `copy`.
    From,
    /// What, for `add`, `replace` and `test`.
    Value,
}

impl Member {
    /// The member's name, as it is written.
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
    /// The names of the operations that there are.
    const OPERATIONS: [&'static str; 6] = ["add", "remove", "replace", "move", "copy", "test"];

    /// Reads a patch: `text` is a part as cloud-init has it, with or without
    /// the line that marks it, and `span` is where it stands.
    ///
    /// It is read as JSON and not as YAML: `1e5` is a number, tabs may stand
    /// anywhere between values, and a key that is there several times has the
    /// list of its values (`jsonpatch`'s `multidict`).
    ///
    /// # Errors
    /// Where `json` or `jsonpatch` raises whatever the patch is applied to.
    pub fn read(text: &str, span: Span) -> Result<Self, Failure> {
        let document = json::read(text, span)?;
        let operations = operation::read(&document)?;
        Ok(Self { document, operations })
    }

    /// The patch as data: the list of its operations, each a mapping. Places of
    /// the patch are places in it.
    pub fn document(&self) -> &Node {
        &self.document
    }

    /// Applies the patch to `base`. `document` is [`Patch::document`], or that
    /// with other marks of secrecy or some edits taken back: then its operations
    /// count.
    ///
    /// # Errors
    /// Where an operation fails; `base` is then as it was.
    pub(super) fn apply(&self, base: &mut Node, document: &Node) -> Result<(), Failure> {
        let operations = self.operations_of(document)?;
        let patched = apply::apply(&operations, base)?;
        // The keys that a secret patch adds are its pointers' names.
        let secret = patched.secret || document.secret;
        *base = Node { secret, ..patched };
        Ok(())
    }

    /// See [`Strategy::taken_by`](super::Strategy::taken_by): the first operation that leaves fewer
    /// nodes with the span than there were. Not looked for where it would take long.
    pub(super) fn taken_by(&self, base: &Node, document: &Node, taken: Span) -> Option<Location> {
        /// Maximum number of nodes to look at.
        const MAX_LOOKED_AT: u64 = 10_000_000;
        let operations = self.operations_of(document).ok()?;
        let mut left = MAX_LOOKED_AT.checked_sub(Size::of(base).nodes())?;
        let (mut count, mut found) = (count_of(base, taken), None);
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

/// How many nodes have a span.
fn count_of(node: &Node, span: Span) -> usize {
    usize::from(node.span == span) + inside(node).map(|child| count_of(child, span)).sum::<usize>()
}
