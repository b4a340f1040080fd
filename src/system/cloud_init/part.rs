//! One part: what a file, or a stretch of one, gives cloud-init to merge.
//!
//! A part is read once, whatever number of sites use it. Nothing is refused
//! here: what is wrong is a [`PartFault`] with its place.

use std::sync::Arc;

use crate::merge::patch::{self, Patch};
use crate::source::{DocKey, RepoPath, Span, Spanned};
use crate::yaml::{self, Key, Node};

/// One part, in the order in which cloud-init comes to it.
#[derive(Clone, Debug)]
pub struct CloudPart {
    /// Its name for users: its file, with its number where the file holds several, e.g.
    /// `global/user-data#2`.
    pub key: DocKey,
    /// Its text without headers, of the file it is in or of one that was
    /// decoded from that.
    pub span: Span,
    /// The text to point at for the part as a whole: its first line.
    pub at: Span,
    /// Its kind in cloud-init.
    pub kind: PartKind,
    /// The header that says how it is merged, if it has one that counts:
    /// `Merge-Type` before `X-Merge-Type` (`cloud-init.md` 6).
    pub header: Option<Spanned<Arc<str>>>,
    /// All headers it came with, those of its type and encoding included.
    pub headers: Vec<Header>,
    /// Its mapping, `merge_how` and all; of a patch the list of operations.
    /// Null where it has none that can be used.
    pub data: Node,
    /// Problems of its YAML.
    pub problems: Vec<yaml::YamlProblem>,
    /// Its other faults.
    pub faults: Vec<PartFault>,
    /// Its comments.
    pub comments: Vec<yaml::Comment>,
}

/// Kind of a part in cloud-init.
#[derive(Clone, Debug)]
pub enum PartKind {
    /// A mapping to merge.
    CloudConfig,
    /// Operations on what there is by then; none where they cannot be read.
    JsonPatch(Option<Arc<Patch>>),
    /// A Jinja template: rendered at boot with what only the instance knows.
    Template,
    /// Anything else, such as a script: not merged. Its content type.
    Other(Arc<str>),
}

/// A header of a part.
#[derive(Clone, Debug)]
pub struct Header {
    /// Its name, as it is written.
    pub name: Spanned<Arc<str>>,
    /// Its value, folded lines as they are.
    pub value: Spanned<Arc<str>>,
}

/// Something wrong with a part by itself, or with what it came in.
#[derive(Clone, Debug, PartialEq)]
pub struct PartFault {
    /// Where.
    pub at: Span,
    /// Its kind.
    pub kind: PartFaultKind,
}

/// The kinds of [`PartFault`]. What each of them costs is its [`FaultCost`].
#[derive(Clone, Debug, PartialEq)]
pub enum PartFaultKind {
    /// The file has no text that can be used; its own fault says why.
    NoText,
    /// It holds this many YAML documents, which is not one.
    Documents(usize),
    /// Its content is no mapping; what it is instead.
    NotAMapping(&'static str),
    /// A patch that cannot be read.
    Patch(patch::Failure),
    /// Its bytes are not UTF-8; they stop being so here.
    NotUtf8,
    /// Text beyond ASCII in a MIME part that does not say how it is encoded:
    /// Python's parser puts other bytes in its place.
    Mangled {
        /// Whether what comes of it can still be read.
        is_readable: bool,
    },
    /// It is sent in base64 and holds characters that base64 does not have: it was read without
    /// these, or, where even that fails, as it is.
    BrokenBase64,
    /// It is sent in uuencode and is not uuencode: it was read as it is.
    BrokenUuencode,
    /// Data that it declares as compressed cannot be decompressed; why.
    NotGzip(String),
    /// A text that begins with none of the lines by which cloud-init knows
    /// what a part is, or that is encoded where cloud-init does not decode it.
    Unrecognized(PartResemblance),
    /// A content type that cloud-init has nothing for.
    UnknownType(Arc<str>),
    /// An archive or an include inside an archive: not looked into.
    Nested(Carrier),
    /// An archive that is no list; what it is instead.
    NotAList(&'static str),
    /// An entry of an archive that is neither text nor a mapping; what it is.
    Entry(&'static str),
    /// The content of an archive's entry is no text; what it is.
    Content(&'static str),
    /// The type of an archive's entry is no content type.
    InvalidType,
    /// The value of a header that an archive's entry has is no text, or its
    /// name is not; what it is.
    HeaderValue(&'static str),
    /// `merge-type` and the like: the header counts only as it is spelled in
    /// `expected`.
    HeaderCase {
        /// The spelling that would count.
        expected: &'static str,
    },
    /// A header that says how to merge, on something that is not merged itself
    /// and does not hand it on.
    IgnoredHeader(Carrier),
    /// A template with a content type that says it is none: not rendered.
    NotRendered,
    /// A text to include that is not there.
    MissingInclude,
    /// A text to include that is not in the repository; what it says is not
    /// known here.
    RemoteInclude,
    /// A text that includes itself.
    IncludeCycle,
    /// A multipart message that does not name its boundary: nothing in it is
    /// found.
    NoBoundary,
    /// A multipart message that never has its boundary.
    NoParts,
    /// A multipart message whose last boundary is missing.
    NoEndBoundary,
    /// Beyond one of [`PartLimit`].
    OverLimit(PartLimit),
}

/// The probable intention of a text that cloud-init does not recognize.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartResemblance {
    /// Nothing that is known.
    Nothing,
    /// A part behind a byte order mark.
    ByteOrderMark,
    /// A message, or a part of one, that begins with its headers.
    Headers {
        /// Whether it is in a message that cloud-init recognized.
        in_message: bool,
    },
    /// A message that begins with its boundary.
    Boundary {
        /// The boundary, without the dashes before it.
        name: Arc<str>,
        /// Whether it is in a message that cloud-init recognized.
        in_message: bool,
    },
    /// Base64 of something that cloud-init would use.
    Base64,
}

/// A container of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// `multipart/*`.
    Multipart,
    /// A compressed part, of which only the file name and `Launch-Index`
    /// outlast decompression.
    Gzip,
    /// `#include` and `#include-once`.
    Include,
    /// `#cloud-config-archive`.
    Archive,
    /// `#cloud-config-jsonp`.
    JsonPatch,
}

/// The cost of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultCost {
    /// All user-data: cloud-init gives it up.
    UserData,
    /// The part or parts it is about.
    Part,
    /// Only what it is about; the part is used.
    Nothing,
}

/// A limit, so that no input can take all memory or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartLimit {
    /// Parts; see [`PartLimit::PARTS`].
    Parts,
    /// Containers in containers; see [`PartLimit::NESTING`].
    Nesting,
    /// Includes in includes, and how many there are; see [`PartLimit::INCLUDES`].
    Includes,
    /// Bytes of decoded and included text; see [`PartLimit::BYTES`].
    Bytes,
}

impl PartLimit {
    /// Parts of one user-data.
    pub const PARTS: usize = 100_000;
    /// Multipart messages in multipart messages, and includes in includes.
    /// Python gives up before 1000.
    pub const NESTING: usize = 64;
    /// Texts that one user-data includes.
    pub const INCLUDES: usize = 100_000;
    /// Bytes of all texts of one user-data that are decoded or included; of
    /// one of them [`Source::MAX_BYTES`](crate::source::Source::MAX_BYTES).
    pub const BYTES: u64 = 128 << 20;
}

impl PartFaultKind {
    /// The minimum cost of the fault, in cloud-init or, where a limit is met, here; a fault in
    /// [`UserData::aborted`](super::read::UserData) costs all.
    pub fn cost(&self) -> FaultCost {
        match self {
            PartFaultKind::Content(_)
            | PartFaultKind::InvalidType
            | PartFaultKind::HeaderValue(_)
            | PartFaultKind::NoText
            | PartFaultKind::MissingInclude
            | PartFaultKind::IncludeCycle
            | PartFaultKind::OverLimit(_) => FaultCost::UserData,
            PartFaultKind::Documents(_)
            | PartFaultKind::NotAMapping(_)
            | PartFaultKind::Patch(_)
            | PartFaultKind::NotUtf8
            | PartFaultKind::NotGzip(_)
            | PartFaultKind::Mangled { is_readable: false }
            | PartFaultKind::Unrecognized(_)
            | PartFaultKind::UnknownType(_)
            | PartFaultKind::Nested(_)
            | PartFaultKind::NotAList(_)
            | PartFaultKind::Entry(_)
            | PartFaultKind::RemoteInclude
            | PartFaultKind::NoBoundary
            | PartFaultKind::NoParts => FaultCost::Part,
            PartFaultKind::Mangled { is_readable: true }
            | PartFaultKind::BrokenBase64
            | PartFaultKind::BrokenUuencode
            | PartFaultKind::HeaderCase { .. }
            | PartFaultKind::IgnoredHeader(_)
            | PartFaultKind::NotRendered
            | PartFaultKind::NoEndBoundary => FaultCost::Nothing,
        }
    }
}

/// The type of [`CloudPart::nothing`]; no content type is without a slash.
const NOTHING: &str = "nothing";

impl CloudPart {
    /// A placeholder for a file without parts, for the comparison of sides; `file` is all of its
    /// text. It is in no set.
    pub fn nothing(path: &RepoPath, file: Span) -> Self {
        let at = Span::point(file.file, file.start);
        Self {
            key: DocKey::new(super::PART, Arc::default(), path.as_str()),
            span: file,
            at,
            kind: PartKind::Other(NOTHING.into()),
            header: None,
            headers: Vec::new(),
            data: Node::new(yaml::Value::Null, at),
            problems: Vec::new(),
            faults: Vec::new(),
            comments: Vec::new(),
        }
    }

    /// Whether it is a placeholder for a file without parts.
    pub fn is_nothing(&self) -> bool {
        self.kind.as_str() == NOTHING
    }

    /// Whether it is something to merge, and no script or template.
    pub(crate) fn is_merged(&self) -> bool {
        match self.kind {
            PartKind::CloudConfig | PartKind::JsonPatch(_) => true,
            PartKind::Template | PartKind::Other(_) => false,
        }
    }

    /// The keys `merge_type` and `merge_how` of a part that has both: cloud-init reads and takes
    /// out the second, and leaves the first in the data.
    pub(crate) fn leaked_merge_type(&self) -> Option<(&Key, &Key)> {
        let mapping = self.data.as_mapping()?;
        let (leaked, _) = mapping.get_entry("merge_type")?;
        let (read, _) = mapping.get_entry("merge_how").filter(|(_, how)| !how.is_null())?;
        Some((leaked, read))
    }

    /// The text that says how it is merged: in its mapping, or in its headers.
    pub(crate) fn specification(&self) -> Option<Span> {
        let own = ["merge_how", "merge_type"].into_iter().find_map(|key| self.data.get(key));
        let own = own.filter(|node| !node.is_null()).map(|node| node.span);
        own.or_else(|| self.header.as_ref().map(|header| header.span))
    }
}

impl PartKind {
    /// The content type.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            PartKind::CloudConfig => "text/cloud-config",
            PartKind::JsonPatch(_) => "text/cloud-config-jsonp",
            PartKind::Template => "text/jinja2",
            PartKind::Other(content_type) => content_type,
        }
    }
}

impl CloudPart {
    /// Marks all that it holds secret.
    pub(crate) fn hide(&mut self) {
        let data = std::mem::replace(&mut self.data, Node::new(yaml::Value::Null, self.at));
        self.data = data.into_secret();
    }
}
