//! Splitting of user-data into parts, as cloud-init does it (`cloud-init.md` 6, "Where parts come
//! from"; `user_data.py`): plain texts, MIME messages, archives, includes, and compressed or
//! encoded content in any of them.
//!
//! Nothing is rejected or lost silently: each text or header that cloud-init drops is a
//! [`PartFault`]. A text that is unchanged in its file is read in place; a decoded one becomes a
//! source of its own, which refers to its encoded text ([`SourceMap::written`]). Merging is not
//! done here.

mod archive;
mod content;
mod decoding;
mod include;
mod likeness;
mod mime;
mod parameter;
mod sniff;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use self::decoding::NotDecompressed;
use self::sniff::ContentUse;
use super::PART;
use super::part::{
    Carrier, CloudPart, ContentFault, FILE_HEADER, FILE_NAME, Header, LAUNCH_INDEX, PartFault,
    PartFaultKind, PartKind, PartLimit, PartResemblance,
};
use crate::source::{
    DocKey, Encoding, FileId, RepoPath, Source, SourceMap, Span, TextFault, offset,
};
use crate::yaml;

/// Contents of user-data.
#[derive(Debug, Default)]
pub struct UserData {
    /// Parts, in the order in which cloud-init processes them.
    pub parts: Vec<CloudPart>,
    /// Faults of the containers.
    pub faults: Vec<PartFault>,
    /// YAML problems of archives.
    pub problems: Vec<yaml::YamlProblem>,
    /// Comments of archives.
    pub comments: Vec<yaml::Comment>,
    /// Reason why cloud-init discards the user-data, if it does: then no part is used, and those
    /// after this location are missing.
    pub aborted: Option<PartFault>,
    /// Files of it that cannot be opened.
    pub(crate) unread: Vec<FileId>,
}

impl UserData {
    /// Returns what cloud-init uses and this program does not follow, with its kind: templates with
    /// their position, scripts and other parts that are not merged, their file names, launch
    /// indexes, and addresses of remote includes.
    pub(crate) fn unfollowed<'s>(&'s self, sources: &'s SourceMap) -> Vec<(&'s str, &'s [u8])> {
        let bytes = |at: Span| match sources.get(at.file).bytes() {
            Some(bytes) => bytes,
            None => sources.slice(at).as_bytes(),
        };
        let is_used = |part: &&CloudPart| {
            // Some platforms decode user-data.
            let is_of_base64 = PartFaultKind::Unrecognized(PartResemblance::Base64);
            let mut faults = part.faults.iter().map(|fault| &fault.kind);
            faults.all(|kind| kind.cost().is_none() || *kind == is_of_base64)
        };
        let parts = self
            .parts
            .iter()
            .filter(|part| !part.is_nothing())
            .filter(is_used)
            .filter_map(|part| match part.kind {
                PartKind::CloudConfig | PartKind::JsonPatch(_) => None,
                PartKind::Template | PartKind::Other(_) => {
                    Some((part.kind.as_str(), bytes(part.span)))
                }
            });
        let headers = self.parts.iter().flat_map(|part| {
            let is_merged = part.is_merged();
            let is_read = move |name: &str| match name {
                LAUNCH_INDEX => true,
                // Scripts run in the order of these names.
                FILE_HEADER | FILE_NAME => !is_merged,
                _ => false,
            };
            let headers = part
                .headers
                .iter()
                .filter(move |it| is_read(&it.name.value.to_ascii_lowercase()));
            headers.map(|it| ("header", it.value.value.as_bytes()))
        });
        let remote = self.all_faults().filter_map(|fault| match fault.kind {
            PartFaultKind::RemoteInclude => Some(("include", bytes(fault.at))),
            _ => None,
        });
        parts.chain(headers).chain(remote).collect()
    }

    /// Whether some of it is not read because of a limit.
    pub(crate) fn exceeds_limit(&self) -> bool {
        self.all_faults()
            .any(|fault| matches!(fault.kind, PartFaultKind::OverLimit(_)))
    }

    fn all_faults(&self) -> impl Iterator<Item = &PartFault> {
        let of_parts = self.parts.iter().flat_map(|part| &part.faults);
        self.faults.iter().chain(&self.aborted).chain(of_parts)
    }
}

/// Result of an include.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Included {
    /// The included file.
    File(FileId),
    /// The file does not exist.
    Missing,
}

/// Callback that resolves an include, given the including file and the path on the line, without
/// `file://`. It adds each file to the map once, and is not called for remote URLs.
pub(crate) type Include<'a> = dyn FnMut(&mut SourceMap, &RepoPath, &str) -> Included + 'a;

/// Whether bytes begin with the gzip magic number.
pub(crate) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1F, 0x8B])
}

/// Reads user-data. Decoded texts are added to `sources`.
pub fn read(file: FileId, sources: &mut SourceMap, include: &mut Include<'_>) -> UserData {
    read_with(
        file,
        Vec::new(),
        &mut DecodingBudget::default(),
        sources,
        include,
    )
}

/// Number of bytes to which the user-data of a run may still be decoded, beside those that the size
/// of each file allows.
#[derive(Debug)]
pub struct DecodingBudget(u64);

impl Default for DecodingBudget {
    fn default() -> Self {
        Self(PartLimit::DECODED)
    }
}

/// Reads user-data like [`read`], with initial headers, as those of a message part. Merge headers
/// take effect if the text itself is a part, and not if it only contains parts.
pub fn read_with(
    file: FileId,
    given: Vec<Header>,
    budget: &mut DecodingBudget,
    sources: &mut SourceMap,
    include: &mut Include<'_>,
) -> UserData {
    let mut reader = UserDataReader {
        sources,
        include,
        given,
        open: Vec::new(),
        includes: 0,
        left: PartLimit::BYTES,
        budget,
        own_budget: 0,
        counted: HashSet::new(),
        has_handler: false,
        read: UserData::default(),
    };
    let aborted = reader.file(file, Span::point(file, 0)).err();
    UserData {
        aborted,
        ..reader.read
    }
}

/// Reads a file that is a configuration rather than user-data, such as one of a `conf.d` folder
/// (`cloud-init.md` 7): a single part without headers, regardless of its first line.
pub fn read_configuration(file: FileId, sources: &SourceMap) -> CloudPart {
    let source = sources.get(file);
    let is_template = sniff::content_type(source.text()) == Some(sniff::JINJA);
    let content_type = if is_template {
        sniff::JINJA
    } else {
        sniff::CLOUD_CONFIG
    };
    let mut piece = UnreadPart::plain(source, whole(file, sources), content_type);
    match source.fault() {
        None | Some(TextFault::BadEncoding(..)) => {}
        Some(_) => piece.fault(piece.text, ContentFault::NoText),
    }
    content::part(sources, piece)
}

/// Reader of user-data; its errors are faults that make cloud-init discard all user-data.
struct UserDataReader<'a> {
    sources: &'a mut SourceMap,
    include: &'a mut Include<'a>,
    /// Headers of the first text.
    given: Vec<Header>,
    /// Files being read, each included by the previous one.
    open: Vec<FileId>,
    /// Number of files included.
    includes: usize,
    /// Number of bytes that may still be decoded or included.
    left: u64,
    budget: &'a mut DecodingBudget,
    /// Number of bytes that may be decoded because of the size of the files.
    own_budget: u64,
    /// Files whose size is counted.
    counted: HashSet<FileId>,
    /// Whether a part handler precedes, which may handle any type of the parts after it.
    has_handler: bool,
    read: UserData,
}

/// A text of a message that has been read.
struct ReadLeaf {
    /// Name of the part that is the text itself, unless it was compressed.
    name: Option<String>,
    /// Indices of the parts read from the text.
    parts: Range<usize>,
}

/// A part whose content has not been read yet.
struct UnreadPart {
    name: String,
    headers: Vec<Header>,
    /// Content type in lower case, without parameters.
    content_type: String,
    text: Span,
    faults: Vec<PartFault>,
}

impl UserDataReader<'_> {
    /// Reads a file, which is named at `at` (`convert_string`).
    fn file(&mut self, file: FileId, at: Span) -> Result<(), PartFault> {
        self.open.push(file);
        let read = self.opened(file, at);
        self.open.pop();
        read
    }

    fn opened(&mut self, file: FileId, at: Span) -> Result<(), PartFault> {
        let mut faults = Vec::new();
        let mut headers = std::mem::take(&mut self.given);
        self.count_size(file);
        let packed = file;
        let file = self.unpacked(file, &mut faults)?;
        if file != packed {
            self.ignore_headers(&mut headers, Carrier::Gzip);
        }
        let source = self.sources.get(file);
        let text = source.text().clone();
        match source.fault() {
            None | Some(TextFault::BadEncoding(..)) => {}
            Some(_) => {
                self.read.unread.push(file);
                return Err(PartFault {
                    at,
                    kind: ContentFault::NoText.into(),
                });
            }
        }
        if mime::is_message(source.bytes().unwrap_or(text.as_bytes())) {
            self.ignore_headers(&mut headers, Carrier::Multipart);
            let source = self.sources.get(file);
            return match not_utf8(source, file) {
                Some(at) => Err(PartFault {
                    at,
                    kind: ContentFault::NotUtf8.into(),
                }),
                None => self.message(file, &text),
            };
        }
        let mut piece = UnreadPart::plain(source, whole(file, self.sources), sniff::NOT_MULTIPART);
        (piece.faults, piece.headers) = (faults, headers);
        // cloud-init cannot read UTF-16 from the first byte on.
        if is_utf16(source) {
            self.attach(piece)
        } else {
            self.expand(piece)
        }
    }

    /// Adds the bytes to which a file may be decoded, once.
    fn count_size(&mut self, file: FileId) {
        let source = self.sources.get(file);
        if source.decoded_from().is_none() && self.counted.insert(file) {
            let size = source.bytes().map_or(source.text().len(), <[u8]>::len);
            self.own_budget += size as u64 * PartLimit::DECODED_PER_BYTE;
        }
    }

    /// Returns the file, or its decompressed content.
    fn unpacked(&mut self, file: FileId, faults: &mut Vec<PartFault>) -> Result<FileId, PartFault> {
        let source = self.sources.get(file);
        let Some(bytes) = source.bytes().filter(|it| is_gzip(it)) else {
            return Ok(file);
        };
        let at = Span::point(file, 0);
        match decoding::decompressed(bytes, self.max_bytes()) {
            Ok(bytes) => {
                let path = source.path().clone();
                self.add_decoded(path, bytes, at)
            }
            Err(NotDecompressed::TooLarge) => Err(self.over_limit(at)),
            Err(NotDecompressed::Damaged(why)) => {
                faults.push(PartFault {
                    at,
                    kind: ContentFault::NotGzip(why).into(),
                });
                Ok(file)
            }
        }
    }

    fn message(&mut self, file: FileId, text: &str) -> Result<(), PartFault> {
        let mime::MimeMessage {
            leaves,
            inner,
            faults,
        } = mime::message(file, text)?;
        self.read.faults.extend(faults);
        let path = self.sources.get(file).path().to_string();
        let is_single = leaves.len() == 1;
        let before = self.read.parts.len();
        let mut read_leaves = Vec::new();
        for (index, leaf) in leaves.into_iter().enumerate() {
            let name = if is_single {
                path.clone()
            } else {
                format!("{path}#{}", index + 1)
            };
            let mime::Leaf {
                headers,
                content_type,
                body,
            } = leaf;
            let first = self.read.parts.len();
            let is_plain = !sniff::is_compressed(&content_type);
            let piece = UnreadPart {
                name: name.clone(),
                headers,
                content_type,
                text: body,
                faults: Vec::new(),
            };
            self.leaf(piece)?;
            let parts = first - before..self.read.parts.len() - before;
            read_leaves.push(ReadLeaf {
                name: is_plain.then_some(name),
                parts,
            });
        }
        if inner.is_empty() {
            Ok(())
        } else {
            self.repeat_inner(before, &read_leaves, &inner)
        }
    }

    /// Repeats the parts of messages inside a message, the parts after index `before`. cloud-init
    /// attaches such a message as well as each of its texts, unpacked (`_process_msg`), and then
    /// handles the texts of both (`handlers.walk`).
    fn repeat_inner(
        &mut self,
        before: usize,
        leaves: &[ReadLeaf],
        inner: &[Range<usize>],
    ) -> Result<(), PartFault> {
        let parts = self.read.parts.split_off(before);
        let mut inner = inner.iter().peekable();
        for (index, leaf) in leaves.iter().enumerate() {
            while let Some(texts) = inner.next_if(|texts| texts.start == index) {
                for leaf in &leaves[texts.clone()] {
                    self.repeat(leaf, &parts)?;
                }
            }
            self.read
                .parts
                .extend_from_slice(&parts[leaf.parts.clone()]);
        }
        Ok(())
    }

    /// Adds the part of a leaf once more if it is merged where it is, with the same faults.
    fn repeat(&mut self, leaf: &ReadLeaf, parts: &[CloudPart]) -> Result<(), PartFault> {
        let own = parts[leaf.parts.clone()]
            .iter()
            .find(|part| leaf.name.as_deref() == Some(&part.key.name));
        let Some(part) = own.filter(|part| part.is_merged() && !part.data.is_null()) else {
            return Ok(());
        };
        self.check_number(part.span)?;
        self.read.parts.push(CloudPart {
            key: DocKey::new(
                PART,
                Arc::default(),
                format!("{} (in its message)", part.key.name),
            ),
            problems: Vec::new(),
            faults: Vec::new(),
            comments: Vec::new(),
            ..part.clone()
        });
        Ok(())
    }

    /// Reads a text of a message as sent (`_process_msg`).
    fn leaf(&mut self, mut piece: UnreadPart) -> Result<(), PartFault> {
        self.decode_transfer(&mut piece)?;
        if sniff::is_compressed(&piece.content_type) {
            self.decompress(&mut piece)?;
            piece.content_type = self.effective_type(&piece);
            // Text that is not expanded is put back into a message without an encoding.
            if !is_expanded(&piece.content_type) {
                self.mangle(&mut piece)?;
            }
        }
        self.expand(piece)
    }

    /// Content type of a text, sniffed if the declared one is generic.
    fn effective_type(&self, piece: &UnreadPart) -> String {
        let own = &piece.content_type;
        let begun = sniff::is_sniffed(own)
            .then(|| sniff::content_type(self.sources.slice(piece.text)))
            .flatten();
        begun.unwrap_or(own).to_owned()
    }

    /// Expands a text that contains parts, or attaches it as a part.
    fn expand(&mut self, mut piece: UnreadPart) -> Result<(), PartFault> {
        piece.content_type = self.effective_type(&piece);
        if self.sources.get(piece.text.file).bytes().is_some() {
            return self.attach(piece);
        }
        match sniff::used_as(&piece.content_type) {
            ContentUse::Carrier(Carrier::Include) => self.include(piece),
            ContentUse::Carrier(_) => self.archive(piece),
            ContentUse::Multipart => Ok(()),
            ContentUse::CloudConfig
            | ContentUse::JsonPatch
            | ContentUse::Template
            | ContentUse::Script
            | ContentUse::Unrecognized
            | ContentUse::Unknown => self.attach(piece),
        }
    }

    fn attach(&mut self, piece: UnreadPart) -> Result<(), PartFault> {
        self.check_number(piece.text)?;
        let mut part = content::part(self.sources, piece);
        if self.has_handler {
            part.faults
                .retain(|fault| !matches!(fault.kind, PartFaultKind::UnknownType(_)));
        }
        self.has_handler |= part.is_part_handler() && part.faults.is_empty();
        self.read.parts.push(part);
        Ok(())
    }

    /// Checks that there may be another part.
    fn check_number(&self, at: Span) -> Result<(), PartFault> {
        if self.read.parts.len() >= PartLimit::PARTS {
            return Err(PartFault {
                at,
                kind: PartFaultKind::OverLimit(PartLimit::Parts),
            });
        }
        Ok(())
    }

    /// Span of the text of a container, and of its first line. Faults of its other content are
    /// reported.
    fn carried(&mut self, piece: UnreadPart, carrier: Carrier) -> (Span, Span) {
        let UnreadPart {
            mut headers,
            text,
            faults,
            ..
        } = piece;
        self.read.faults.extend(faults);
        self.ignore_headers(&mut headers, carrier);
        (text, content::first_line(self.sources, text))
    }

    /// Reports merge headers on content that is not merged itself.
    fn ignore_headers(&mut self, headers: &mut Vec<Header>, carrier: Carrier) {
        for header in headers
            .drain(..)
            .filter(|it| is_merge_header(&it.name.value))
        {
            self.fault(header.name.span, PartFaultKind::IgnoredHeader(carrier));
        }
    }

    fn fault(&mut self, at: Span, kind: impl Into<PartFaultKind>) {
        self.read.faults.push(PartFault {
            at,
            kind: kind.into(),
        });
    }
}

/// Decoding: each decoded text becomes a source of its own.
impl UserDataReader<'_> {
    /// Decodes the transfer encoding declared in a piece's headers (`Message.get_payload`).
    fn decode_transfer(&mut self, piece: &mut UnreadPart) -> Result<(), PartFault> {
        let encoding = mime::value(&piece.headers, "content-transfer-encoding");
        let name = encoding
            .map(|it| it.value.to_lowercase())
            .unwrap_or_default();
        let sent = self.sources.slice(piece.text);
        let bytes = match name.as_str() {
            "base64" => {
                let read = decoding::from_base64(&decoding::mangled(sent));
                if !read.is_sound {
                    piece.fault(piece.text, PartFaultKind::BrokenBase64);
                }
                read.bytes
            }
            "quoted-printable" => decoding::from_quoted_printable(&decoding::mangled(sent)),
            "x-uuencode" | "uuencode" | "uue" | "x-uue" => {
                let Some(bytes) = decoding::from_uuencode(&decoding::mangled(sent)) else {
                    piece.fault(piece.text, PartFaultKind::BrokenUuencode);
                    return self.mangle(piece);
                };
                bytes
            }
            _ => return self.mangle(piece),
        };
        piece.text = self.decoded(&piece.name, bytes, piece.text)?;
        Ok(())
    }

    /// Decompresses a piece, and drops most of its headers.
    fn decompress(&mut self, piece: &mut UnreadPart) -> Result<(), PartFault> {
        let at = piece.text;
        let source = self.sources.get(at.file);
        let sent = source.bytes().unwrap_or(self.sources.slice(at).as_bytes());
        let bytes = match decoding::decompressed(sent, self.max_bytes()) {
            Ok(bytes) => bytes,
            Err(NotDecompressed::TooLarge) => return Err(self.over_limit(at)),
            Err(NotDecompressed::Damaged(why)) => {
                return Err(PartFault {
                    at,
                    kind: ContentFault::NotGzip(why).into(),
                });
            }
        };
        piece.text = self.decoded(&piece.name, bytes, at)?;
        if self.sources.get(piece.text.file).bytes().is_some() {
            return Err(PartFault {
                at,
                kind: ContentFault::NotUtf8.into(),
            });
        }
        sniff::PLAIN.clone_into(&mut piece.content_type);
        for header in std::mem::take(&mut piece.headers) {
            if is_merge_header(&header.name.value) {
                piece.fault(
                    header.name.span,
                    PartFaultKind::IgnoredHeader(Carrier::Gzip),
                );
            } else if survives_decompression(&header.name.value) {
                piece.headers.push(header);
            }
        }
        Ok(())
    }

    /// Replaces unencoded non-ASCII text of a message by the text that Python makes of it.
    fn mangle(&mut self, piece: &mut UnreadPart) -> Result<(), PartFault> {
        let text = self.sources.slice(piece.text);
        if text.is_ascii() {
            return Ok(());
        }
        let first = text.find(|it: char| !it.is_ascii()).unwrap_or_default();
        let at = Span::point(piece.text.file, piece.text.start + offset(first));
        let bytes = decoding::mangled(text);
        piece.text = self.decoded(&piece.name, bytes, piece.text)?;
        let is_readable = self.sources.get(piece.text.file).bytes().is_none();
        let kind = if is_readable {
            PartFaultKind::Mangled
        } else {
            ContentFault::Mangled.into()
        };
        piece.fault(at, kind);
        Ok(())
    }

    /// Adds the text of a part that was decoded from `from`.
    fn decoded(&mut self, name: &str, bytes: Vec<u8>, from: Span) -> Result<Span, PartFault> {
        let path = if name.contains('#') {
            name.to_owned()
        } else {
            format!("{name}#1")
        };
        let file = self.add_decoded(RepoPath::new(path), bytes, from)?;
        Ok(whole(file, self.sources))
    }

    fn add_decoded(
        &mut self,
        path: RepoPath,
        bytes: Vec<u8>,
        from: Span,
    ) -> Result<FileId, PartFault> {
        let size = bytes.len() as u64;
        if size > self.max_bytes() {
            return Err(self.over_limit(from));
        }
        self.left -= size;
        let of_own = size.min(self.own_budget);
        self.own_budget -= of_own;
        self.budget.0 -= size - of_own;
        Ok(self.sources.add(Source::decoded(path, bytes, from)))
    }

    /// Maximum number of bytes that the next decoded text may have.
    fn max_bytes(&self) -> u64 {
        self.left
            .min(Source::MAX_BYTES)
            .min(self.own_budget + self.budget.0)
    }

    /// Fault of a text with more than [`UserDataReader::max_bytes`].
    fn over_limit(&self, at: Span) -> PartFault {
        if self.own_budget + self.budget.0 < self.left.min(Source::MAX_BYTES) {
            return PartFault {
                at,
                kind: PartFaultKind::OverLimit(PartLimit::Decoded),
            };
        }
        over_limit(at)
    }

    fn spend(&mut self, at: Span, bytes: usize) -> Result<(), PartFault> {
        self.left = self
            .left
            .checked_sub(bytes as u64)
            .ok_or_else(|| over_limit(at))?;
        Ok(())
    }
}

impl UnreadPart {
    /// A piece that spans a whole source.
    fn plain(source: &Source, text: Span, content_type: &str) -> Self {
        Self {
            name: source.path().to_string(),
            headers: Vec::new(),
            content_type: content_type.to_owned(),
            text,
            faults: Vec::new(),
        }
    }

    fn fault(&mut self, at: Span, kind: impl Into<PartFaultKind>) {
        self.faults.push(PartFault {
            at,
            kind: kind.into(),
        });
    }
}

/// Effective spelling of a merge header, if `name` is one in any case.
fn spelled_merge_header(name: &str) -> Option<&'static str> {
    let spelled = ["Merge-Type", "X-Merge-Type"];
    spelled.into_iter().find(|it| it.eq_ignore_ascii_case(name))
}

fn is_merge_header(name: &str) -> bool {
    spelled_merge_header(name).is_some()
}

fn survives_decompression(name: &str) -> bool {
    let kept = ["Launch-Index", "Content-Disposition"];
    kept.iter().any(|it| it.eq_ignore_ascii_case(name))
}

fn is_expanded(content_type: &str) -> bool {
    matches!(sniff::used_as(content_type), ContentUse::Carrier(_))
}

/// Location where a source stops being valid UTF-8, if it does.
fn not_utf8(source: &Source, file: FileId) -> Option<Span> {
    source.bytes()?;
    let at = if is_utf16(source) {
        0
    } else {
        offset(source.text().len())
    };
    Some(Span::point(file, at))
}

fn is_utf16(source: &Source) -> bool {
    source.bytes().is_some()
        && !source
            .fault()
            .is_some_and(|fault| matches!(fault, &TextFault::BadEncoding(Encoding::Utf8, _)))
}

fn over_limit(at: Span) -> PartFault {
    PartFault {
        at,
        kind: PartFaultKind::OverLimit(PartLimit::Bytes),
    }
}

fn whole(file: FileId, sources: &SourceMap) -> Span {
    Span::new(file, 0, offset(sources.get(file).text().len()))
}
