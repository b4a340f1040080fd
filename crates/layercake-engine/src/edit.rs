//! Edits of the sources, as values instead of text. A comparison explains rendered changes by them.
//! Computing edits and their reach is left to other modules.

mod renamed_keys;

use layercake_source::{DocKey, Span};
use layercake_yaml::Node;
use layercake_yaml::path::{Item, Location};

pub use renamed_keys::RenamedKeys;

/// Index of an edit between two sides, in the order of paths and places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EditId(pub u32);

impl EditId {
    /// Returns the id of the edit at this index.
    pub fn at(index: usize) -> Self {
        Self(u32::try_from(index).expect("there are far fewer than 2^32 edits"))
    }

    /// Returns the index among all edits.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One change of a source document, or of the set of documents.
#[derive(Clone, Debug)]
pub struct Edit {
    /// Kind of the change.
    pub kind: EditKind,
    /// Index of the additional repository that contains it, among those of the run; `None` for the
    /// repository itself.
    pub repository: Option<usize>,
    /// The document, by its name on the head side if it exists there.
    pub document: DocKey,
    /// The part of the document that was edited.
    pub part: Part,
    /// Place in that part, on the head side if it exists there.
    pub location: Location,
    /// List items on the way to the place that are matched by a key.
    pub items: Vec<Item>,
    /// Old value.
    pub base: Option<Text>,
    /// New value.
    pub head: Option<Text>,
    /// Number of differences at this place that are not listed as edits, because there are too
    /// many; nearly always zero.
    pub unlisted: u64,
}

/// Kind of an [`Edit`].
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum EditKind {
    /// A changed value.
    Value,
    /// A mapping key or list item that was added or removed.
    Key,
    /// A changed order of the items that a list has on both sides. The values are the keys of these
    /// items.
    Order,
    /// A document that was added or removed.
    Document,
    /// A renamed document; its other changes are separate edits.
    Renamed,
    /// A moved document: into a directory shared with other sites, or past another document where
    /// their order matters.
    Moved,
    /// A change of the layers or of their order.
    Policy,
    /// A change of the files that a site definition selects.
    Site,
    /// A new site, with the documents that no other site uses.
    SiteAdded,
    /// A removed site, with the documents that no other site uses.
    SiteRemoved,
    /// A changed file that cannot be read, so its edits are unknown.
    File,
    /// A change of the additional repositories of a site definition, or of their revisions, which
    /// are not read: the edits in them are unknown.
    Repository,
}

impl EditKind {
    /// Returns whether the content of the edit is unknown.
    pub fn is_unknown(self) -> bool {
        matches!(self, EditKind::File | EditKind::Repository)
    }
}

/// The part of a document that was edited.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The whole document.
    Whole,
    /// `data`; the location is relative to it.
    Data,
    /// `metadata`; the location is relative to it.
    Metadata,
    /// Another top-level key; the location is relative to the root.
    Root,
}

/// One side of an edit.
#[derive(Clone, Debug)]
pub struct Text {
    /// Span to report.
    pub at: Span,
    /// All source text of the value, `at` included; an alias refers to text elsewhere. For an order
    /// edit, only the keys of the items, because the values inside the items do not affect the
    /// order.
    pub covers: Vec<Span>,
    /// The value; `None` for a whole document.
    pub node: Option<Node>,
}

impl Text {
    /// Returns whether `span` overlaps the text.
    pub fn meets(&self, span: Span) -> bool {
        self.covers.iter().any(|cover| Self::overlaps(*cover, span))
    }

    /// Returns whether two spans overlap.
    pub(crate) fn overlaps(cover: Span, span: Span) -> bool {
        cover.file == span.file && cover.start <= span.end && span.start <= cover.end && {
            // Adjacent spans overlap only if one of them is empty.
            let touching = cover.start == span.end || span.start == cover.end;
            !touching || cover.start == cover.end || span.start == span.end
        }
    }
}

impl Edit {
    /// Span to report: on the head side, or on the base side if it was removed.
    pub fn at(&self) -> Span {
        self.head
            .as_ref()
            .or(self.base.as_ref())
            .expect("an edit has a side")
            .at
    }

    /// Returns whether the edit changed a secret, so that neither value may be shown.
    pub fn is_secret(&self) -> bool {
        let texts = self.base.iter().chain(&self.head);
        texts
            .filter_map(|text| text.node.as_ref())
            .any(|node| node.secret)
    }
}
