//! What somebody edited, as values and not as text: what a comparison explains
//! rendered changes by. Who computes edits, and what they reach, is not known
//! here.

use layercake_source::{DocKey, Span};
use layercake_yaml::Node;
use layercake_yaml::path::{Item, Location};

/// One of the edits between two sides; their numbers follow path and place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EditId(pub u32);

impl EditId {
    /// The id of the edit at this index.
    pub fn at(index: usize) -> Self {
        Self(u32::try_from(index).expect("there are far fewer than 2^32 edits"))
    }

    /// The index among all edits.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One change of a source document, or of which documents there are.
#[derive(Clone, Debug)]
pub struct Edit {
    /// What kind of change.
    pub kind: EditKind,
    /// The further repository in which it is, by its number among those of a run; none for the
    /// repository itself.
    pub repository: Option<usize>,
    /// The document, as it is called on the head side if it is there.
    pub document: DocKey,
    /// The part of the document that was edited.
    pub part: Part,
    /// Where in that part: on the head side if it is there.
    pub location: Location,
    /// Items of lists on the way there that are known by a key.
    pub items: Vec<Item>,
    /// What was there.
    pub base: Option<Text>,
    /// What is there now.
    pub head: Option<Text>,
    /// How many places differ in there that are not edits of their own, because they are too
    /// many; zero nearly always.
    pub unlisted: u64,
}

/// What kind of change an [`Edit`] is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum EditKind {
    /// A value became another.
    Value,
    /// A key, or an item of a list, came or went.
    Key,
    /// The items that a list has on both sides are in another order. The values are what these
    /// items are known by.
    Order,
    /// A document came or went.
    Document,
    /// A document has another name; what else changed in it are edits of their own.
    Renamed,
    /// A document moved: to where other sites have it, or to the other side of
    /// a document between which and it the order decides.
    Moved,
    /// The layers, or their order.
    Policy,
    /// What a site definition says about which files make the site.
    Site,
    /// A site came, with the documents that no other site has.
    SiteAdded,
    /// A site went, with the documents that no other site has.
    SiteRemoved,
    /// A file that cannot be read is another one: what was edited in it is unknown.
    File,
    /// A site definition names other further repositories, or other revisions of them, that are
    /// not read: what was edited in them is unknown.
    Repository,
}

impl EditKind {
    /// Whether what was edited is unknown.
    pub fn is_unknown(self) -> bool {
        matches!(self, EditKind::File | EditKind::Repository)
    }
}

/// The part of a document that was edited.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// All of it.
    Whole,
    /// `data`, and the location counts from there.
    Data,
    /// `metadata`, and the location counts from there.
    Metadata,
    /// Another top-level key, and the location counts from the root.
    Root,
}

/// One side of an edit.
#[derive(Clone, Debug)]
pub struct Text {
    /// The place to point at.
    pub at: Span,
    /// All the text that says it, the place to point at included: an alias
    /// stands for text elsewhere. Of an order only the texts by which the items are known, as
    /// the values inside of these say nothing of it.
    pub covers: Vec<Span>,
    /// The value; none for a whole document.
    pub node: Option<Node>,
}

impl Text {
    /// Whether `span` is part of the text, or the text of it.
    pub fn meets(&self, span: Span) -> bool {
        self.covers.iter().any(|cover| Self::is_met(*cover, span))
    }

    /// Whether two places overlap.
    pub(crate) fn is_met(cover: Span, span: Span) -> bool {
        cover.file == span.file && cover.start <= span.end && span.start <= cover.end && {
            // Neighbours meet only where one of them is a place without
            // extent.
            let touching = cover.start == span.end || span.start == cover.end;
            !touching || cover.start == cover.end || span.start == span.end
        }
    }
}

impl Edit {
    /// The place to point at: on the head side, or where it was.
    pub fn at(&self) -> Span {
        self.head.as_ref().or(self.base.as_ref()).expect("an edit has a side").at
    }

    /// Whether a secret was edited, so that neither value may be shown.
    pub fn is_secret(&self) -> bool {
        let texts = self.base.iter().chain(&self.head);
        texts.filter_map(|text| text.node.as_ref()).any(|node| node.secret)
    }
}
