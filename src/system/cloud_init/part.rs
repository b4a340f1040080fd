//! A part: configuration that a file, or a section of one, gives cloud-init to merge.
//!
//! A part is read once, however many sites use it. Nothing is rejected here: each problem is a
//! [`PartFault`] with its location.

use std::sync::Arc;

use crate::merge::patch::{self, Patch};
use crate::source::{DocKey, RepoPath, Span, Spanned};
use crate::yaml::{self, Key, Node};

/// A part.
#[derive(Clone, Debug)]
pub struct CloudPart {
    /// Name in messages: the file, with the part number if the file has several, e.g.
    /// `global/user-data#2`.
    pub key: DocKey,
    /// Span of the text without headers, in its file or in a source decoded from it.
    pub span: Span,
    /// Span to point at for the part as a whole: its first line.
    pub at: Span,
    /// Kind in cloud-init.
    pub kind: PartKind,
    /// Effective merge header, if there is one: `Merge-Type` takes precedence over `X-Merge-Type`
    /// (`cloud-init.md` 6).
    pub header: Option<Spanned<Arc<str>>>,
    /// All headers of the part, including those of type and encoding.
    pub headers: Vec<Header>,
    /// The mapping, including `merge_how`, or the list of operations of a patch. Null if there is
    /// none that can be used.
    pub data: Node,
    /// YAML problems of the part.
    pub problems: Vec<yaml::YamlProblem>,
    /// Other faults of the part.
    pub faults: Vec<PartFault>,
    /// Comments of the part.
    pub comments: Vec<yaml::Comment>,
}

/// Kind of a part in cloud-init.
#[derive(Clone, Debug)]
pub enum PartKind {
    /// A mapping to merge.
    CloudConfig,
    /// Operations on the result so far; `None` if they cannot be read.
    JsonPatch(Option<Arc<Patch>>),
    /// A Jinja template, rendered at boot with data of the instance.
    Template,
    /// Anything else, such as a script, which is not merged. Has the content type.
    Other(Arc<str>),
}

/// Name of the header that selects the instances that use a part.
pub(super) const LAUNCH_INDEX: &str = "launch-index";
/// Names of the header and of the archive key for the file of a part.
pub(super) const FILE_HEADER: &str = "content-disposition";
/// See [`FILE_HEADER`].
pub(super) const FILE_NAME: &str = "filename";

/// A header of a part.
#[derive(Clone, Debug)]
pub struct Header {
    /// Name as written in the source.
    pub name: Spanned<Arc<str>>,
    /// Value, with folded lines kept.
    pub value: Spanned<Arc<str>>,
}

/// A problem of a part or of its container.
#[derive(Clone, Debug, PartialEq)]
pub struct PartFault {
    /// Location of the fault.
    pub at: Span,
    /// Kind of the fault.
    pub kind: PartFaultKind,
}

/// Kinds of [`PartFault`]. The consequence of each is its [`FaultCost`].
#[derive(Clone, Debug, PartialEq)]
pub enum PartFaultKind {
    /// The content of the part cannot be used.
    Content(ContentFault),
    /// The container cannot be taken apart.
    Container(ContainerFault),
    /// The MIME part has non-ASCII text but declares no transfer encoding: Python's parser replaces
    /// bytes of it, and the replaced text can still be read.
    Mangled,
    /// The part is declared as base64 but has characters outside its alphabet. It was decoded
    /// without them, or left undecoded if that fails.
    BrokenBase64,
    /// The part is declared as uuencode but is not valid uuencode. It was left undecoded.
    BrokenUuencode,
    /// The text begins with none of cloud-init's markers, or is encoded where cloud-init does not
    /// decode it.
    Unrecognized(PartResemblance),
    /// cloud-init has no handler for this content type.
    UnknownType(Arc<str>),
    /// An archive or an include inside an archive, which cloud-init does not expand.
    Nested(Carrier),
    /// The entry of an archive is neither a string nor a mapping. Has its actual kind.
    Entry(&'static str),
    /// A header such as `merge-type`, which has no effect unless spelled as `expected`.
    HeaderCase {
        /// The effective spelling.
        expected: &'static str,
    },
    /// A merge header on content that is not merged itself and does not pass the header on.
    IgnoredHeader(Carrier),
    /// The part handler is not UTF-8: cloud-init fails when it writes it to a file.
    HandlerNotUtf8,
    /// The part handler does not define this function, so cloud-init does not register it.
    HandlerWithout(&'static str),
    /// A template whose content type prevents it from being rendered.
    NotRendered,
    /// The included text is not in the repository, so its content is unknown.
    RemoteInclude,
    /// A multipart message lacks the closing boundary.
    NoEndBoundary,
    /// A [`PartLimit`] is exceeded.
    OverLimit(PartLimit),
}

/// Fault in the content of a part.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentFault {
    /// The file has no usable text; the fault of the file has the reason.
    NoText,
    /// The part has this number of YAML documents instead of one.
    Documents(usize),
    /// The content is not a mapping. Has its actual kind.
    NotAMapping(&'static str),
    /// The patch cannot be read.
    Patch(patch::Failure),
    /// The bytes are not UTF-8, from this location on.
    NotUtf8,
    /// As [`PartFaultKind::Mangled`], but the replaced text cannot be read.
    Mangled,
    /// Data declared as compressed cannot be decompressed. Has the reason.
    NotGzip(String),
}

/// Fault in a container of parts.
#[derive(Clone, Debug, PartialEq)]
pub enum ContainerFault {
    /// The archive is not a list. Has its actual kind.
    NotAList(&'static str),
    /// The content of an archive entry is not a string. Has its actual kind.
    EntryContent(&'static str),
    /// The type of an archive entry is not a content type.
    InvalidType,
    /// The name or value of an archive entry's header is not a string. Has its actual kind.
    HeaderValue(&'static str),
    /// The included text does not exist.
    MissingInclude,
    /// A text that includes itself.
    IncludeCycle,
    /// A multipart message does not declare its boundary, so none of its parts is found.
    NoBoundary,
    /// A multipart message never contains its boundary.
    NoParts,
}

impl From<ContentFault> for PartFaultKind {
    fn from(fault: ContentFault) -> Self {
        Self::Content(fault)
    }
}

impl From<ContainerFault> for PartFaultKind {
    fn from(fault: ContainerFault) -> Self {
        Self::Container(fault)
    }
}

/// Probable intention of a text that cloud-init does not recognise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartResemblance {
    /// Nothing known.
    Nothing,
    /// A part after a byte order mark.
    ByteOrderMark,
    /// A message or message part that begins with headers.
    Headers {
        /// Whether it is in a message that cloud-init recognised.
        in_message: bool,
    },
    /// A message that begins with a boundary.
    Boundary {
        /// The boundary, without the leading dashes.
        name: Arc<str>,
        /// Whether it is in a message that cloud-init recognised.
        in_message: bool,
    },
    /// Base64 of content that cloud-init would use.
    Base64,
}

/// A container of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// `multipart/*`.
    Multipart,
    /// A compressed part; only its file name and `Launch-Index` survive decompression.
    Gzip,
    /// `#include` and `#include-once`.
    Include,
    /// `#cloud-config-archive`.
    Archive,
    /// `#cloud-config-jsonp`.
    JsonPatch,
}

/// Consequence of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultCost {
    /// cloud-init discards all user-data.
    UserData,
    /// The affected parts are lost.
    Part,
}

/// A limit that bounds memory and time for any input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartLimit {
    /// Number of parts; see [`PartLimit::PARTS`].
    Parts,
    /// Nesting depth of containers; see [`PartLimit::NESTING`].
    Nesting,
    /// Nesting depth and number of includes; see [`PartLimit::INCLUDES`].
    Includes,
    /// Bytes of decoded and included text; see [`PartLimit::BYTES`].
    Bytes,
    /// Bytes of decoded text of the run; see [`PartLimit::DECODED`].
    Decoded,
}

impl PartLimit {
    /// Maximum number of parts in one user-data.
    pub const PARTS: usize = 100_000;
    /// Maximum nesting depth of multipart messages, and of includes. Python fails before 1000.
    pub const NESTING: usize = 64;
    /// Maximum number of texts that one user-data includes.
    pub const INCLUDES: usize = 100_000;
    /// Maximum total bytes of the decoded or included texts of one user-data; a single text is
    /// limited to [`Source::MAX_BYTES`](crate::source::Source::MAX_BYTES).
    pub const BYTES: u64 = 128 << 20;
    /// Maximum total bytes to which all user-data of a run is decoded, beside
    /// [`PartLimit::DECODED_PER_BYTE`]: the values of a text take many times its size.
    pub const DECODED: u64 = 8 << 20;
    /// Number of bytes that each byte of a file may be decoded to in any case.
    pub const DECODED_PER_BYTE: u64 = 12;
}

impl PartFaultKind {
    /// Minimum cost of the fault, in cloud-init or, for a limit, in this program; `None` if only the
    /// affected text is lost. A fault in [`UserData::aborted`](super::read::UserData) costs all
    /// user-data.
    pub fn cost(&self) -> Option<FaultCost> {
        match self {
            PartFaultKind::Content(fault) => Some(fault.cost()),
            PartFaultKind::Container(fault) => Some(fault.cost()),
            PartFaultKind::HandlerNotUtf8 | PartFaultKind::OverLimit(_) => {
                Some(FaultCost::UserData)
            }
            PartFaultKind::Unrecognized(_)
            | PartFaultKind::UnknownType(_)
            | PartFaultKind::Nested(_)
            | PartFaultKind::Entry(_)
            | PartFaultKind::RemoteInclude
            | PartFaultKind::HandlerWithout(_) => Some(FaultCost::Part),
            PartFaultKind::Mangled
            | PartFaultKind::BrokenBase64
            | PartFaultKind::BrokenUuencode
            | PartFaultKind::HeaderCase { .. }
            | PartFaultKind::IgnoredHeader(_)
            | PartFaultKind::NotRendered
            | PartFaultKind::NoEndBoundary => None,
        }
    }
}

impl ContentFault {
    pub(crate) fn cost(&self) -> FaultCost {
        match self {
            ContentFault::NoText => FaultCost::UserData,
            ContentFault::Documents(_)
            | ContentFault::NotAMapping(_)
            | ContentFault::Patch(_)
            | ContentFault::NotUtf8
            | ContentFault::Mangled
            | ContentFault::NotGzip(_) => FaultCost::Part,
        }
    }
}

impl ContainerFault {
    pub(crate) fn cost(&self) -> FaultCost {
        match self {
            ContainerFault::EntryContent(_)
            | ContainerFault::InvalidType
            | ContainerFault::HeaderValue(_)
            | ContainerFault::MissingInclude
            | ContainerFault::IncludeCycle => FaultCost::UserData,
            ContainerFault::NotAList(_) | ContainerFault::NoBoundary | ContainerFault::NoParts => {
                FaultCost::Part
            }
        }
    }
}

/// Type of part handlers.
pub(super) const PART_HANDLER: &str = "text/part-handler";

/// Type of [`CloudPart::empty`]; real content types contain a slash.
const NOTHING: &str = "nothing";

impl CloudPart {
    /// A placeholder for a file without parts, used to compare sides; `file` spans its whole text.
    /// It is in no set.
    pub fn empty(path: &RepoPath, file: Span) -> Self {
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

    /// Whether the part is a placeholder for a file without parts.
    pub fn is_nothing(&self) -> bool {
        self.kind.as_str() == NOTHING
    }

    /// Whether the part is merged, unlike scripts and templates.
    pub(crate) fn is_merged(&self) -> bool {
        match self.kind {
            PartKind::CloudConfig | PartKind::JsonPatch(_) => true,
            PartKind::Template | PartKind::Other(_) => false,
        }
    }

    /// Whether the part is Python code that may handle the parts after it.
    pub(crate) fn is_part_handler(&self) -> bool {
        self.kind.as_str() == PART_HANDLER
    }

    /// Whether cloud-init fails at the part, so that no part after it is merged.
    pub(crate) fn is_fatal(&self) -> bool {
        self.faults
            .iter()
            .any(|fault| fault.kind == PartFaultKind::HandlerNotUtf8)
    }

    /// The keys `merge_type` and `merge_how` of a part that has both: cloud-init reads and removes
    /// `merge_how`, and leaves `merge_type` in the data.
    pub(crate) fn leaked_merge_type(&self) -> Option<(&Key, &Key)> {
        let mapping = self.data.as_mapping()?;
        let (leaked, _) = mapping.get_entry("merge_type")?;
        let (read, _) = mapping
            .get_entry("merge_how")
            .filter(|(_, how)| !how.is_null())?;
        Some((leaked, read))
    }

    /// Span of the merge specification in the mapping or the headers.
    pub(crate) fn specification(&self) -> Option<Span> {
        let own = ["merge_how", "merge_type"]
            .into_iter()
            .find_map(|key| self.data.get(key))
            .filter(|node| !node.is_null())
            .map(|node| node.span);
        own.or_else(|| self.header.as_ref().map(|header| header.span))
    }
}

impl PartKind {
    /// Content type.
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
    /// Marks all content as secret.
    pub(crate) fn hide(&mut self) {
        let data = std::mem::replace(&mut self.data, Node::new(yaml::Value::Null, self.at));
        self.data = data.into_secret();
    }
}
