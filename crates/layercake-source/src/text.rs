//! Texts of files: decoded contents, and the map from ids to files.

use std::sync::{Arc, OnceLock};

use super::{FileId, LineIndex, Nested, Position, ReadError, RepoPath, Span, offset};

/// Encoding of a file (YAML 1.1, section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    Utf8,
    /// UTF-16 with a big-endian byte order mark.
    Utf16Be,
    /// UTF-16 with a little-endian byte order mark.
    Utf16Le,
}

/// Reason why a file has no usable text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextFault {
    /// The bytes could not be read, with the reason.
    Unreadable(String),
    /// The bytes are invalid in their encoding. The text is truncated at the first invalid byte,
    /// which is at this offset.
    BadEncoding(Encoding, u32),
    /// The file is larger than [`Source::MAX_BYTES`].
    TooLarge(u64),
    /// The text is a git LFS pointer; the contents are stored elsewhere.
    LargeFilePointer,
    /// The path is a nested repository, not a file.
    Nested(Nested),
}

/// One file: path, text and line index.
#[derive(Debug)]
pub struct Source {
    path: RepoPath,
    text: Arc<str>,
    fault: Option<TextFault>,
    /// Original bytes, if the text is not their plain UTF-8 decoding.
    bytes: Option<Arc<[u8]>>,
    decoded_from: Option<Span>,
    commit: Option<Arc<str>>,
    lines: OnceLock<LineIndex>,
}

impl Source {
    /// Maximum size of a file (64 MiB): files of the largest known site repositories have a few
    /// hundred kilobytes.
    pub const MAX_BYTES: u64 = 64 << 20;

    /// Creates a file from its path and the result of reading it. Never fails: a fault is stored
    /// with the file, and the text ends before it.
    pub fn new(path: RepoPath, bytes: Result<Vec<u8>, ReadError>) -> Self {
        let decoded = match bytes {
            Ok(bytes) if bytes.len() as u64 > Self::MAX_BYTES => {
                DecodedText::none(TextFault::TooLarge(bytes.len() as u64))
            }
            Ok(bytes) => decode(bytes),
            Err(ReadError::TooLarge(bytes)) => DecodedText::none(TextFault::TooLarge(bytes)),
            Err(ReadError::Refused(reason) | ReadError::Damaged { reason, .. }) => {
                DecodedText::none(TextFault::Unreadable(reason))
            }
        };
        Self::of(path, decoded, None)
    }

    /// Creates the placeholder of a nested repository at `path`, which is not read.
    pub fn nested(path: RepoPath, nested: Nested) -> Self {
        Self::of(path, DecodedText::none(TextFault::Nested(nested)), None)
    }

    /// Creates a decoded text that is not stored in a file itself: `bytes` (UTF-8) are the decoded
    /// form of the text at `from`. `path` is its displayed name.
    pub fn decoded(path: RepoPath, bytes: Vec<u8>, from: Span) -> Self {
        let decoded = match bytes.len() as u64 {
            length if length > Self::MAX_BYTES => DecodedText::none(TextFault::TooLarge(length)),
            _ => decode_utf8(bytes),
        };
        Self::of(path, decoded, Some(from))
    }

    fn of(path: RepoPath, decoded: DecodedText, decoded_from: Option<Span>) -> Self {
        let DecodedText { text, fault, bytes } = decoded;
        let text = text.into();
        let commit = None;
        let lines = OnceLock::new();
        Self {
            path,
            text,
            fault,
            bytes,
            decoded_from,
            commit,
            lines,
        }
    }

    /// Sets the commit of the external repository that contains the file.
    #[must_use]
    pub fn at_commit(self, commit: Arc<str>) -> Self {
        Self {
            commit: Some(commit),
            ..self
        }
    }

    /// Path of the file.
    pub fn path(&self) -> &RepoPath {
        &self.path
    }

    /// The decoded text, byte order mark included.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Reason why the text is incomplete, if it is.
    pub fn fault(&self) -> Option<&TextFault> {
        self.fault.as_ref()
    }

    /// Original bytes, if they are not valid UTF-8.
    pub fn bytes(&self) -> Option<&[u8]> {
        self.bytes.as_deref()
    }

    /// Span of the encoded text, for a decoded text.
    pub fn decoded_from(&self) -> Option<Span> {
        self.decoded_from
    }

    /// Commit of the external repository that contains the file; `None` for files of the checked
    /// repository and files read from a folder.
    pub fn commit(&self) -> Option<&Arc<str>> {
        self.commit.as_ref()
    }

    /// Line index, computed on first use.
    pub fn lines(&self) -> &LineIndex {
        self.lines.get_or_init(|| LineIndex::new(&self.text))
    }
}

/// All files of a run, by id.
#[derive(Debug, Default)]
pub struct SourceMap {
    /// Empty cells are reserved ids.
    files: Vec<OnceLock<Source>>,
}

impl SourceMap {
    /// Creates an empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Id of the next added file.
    pub fn upcoming(&self) -> FileId {
        FileId::new(offset(self.files.len()))
    }

    /// Adds a file and returns its id.
    pub fn add(&mut self, source: Source) -> FileId {
        let id = self.upcoming();
        self.files.push(OnceLock::from(source));
        id
    }

    /// Reserves `count` ids, which threads can then [fill](SourceMap::put) concurrently.
    pub fn make_room(&mut self, files: usize) -> Vec<FileId> {
        let first = self.files.len();
        self.files.resize_with(first + files, OnceLock::new);
        (first..self.files.len())
            .map(|at| FileId::new(offset(at)))
            .collect()
    }

    /// Stores a file under a reserved id.
    ///
    /// # Panics
    /// If the id is not reserved or already used.
    pub fn put(&self, file: FileId, source: Source) -> &Source {
        let room = &self.files[file.index()];
        assert!(room.set(source).is_ok(), "a file is stored once");
        self.get(file)
    }

    /// Frees a file. Its id is not used again.
    pub fn free(&mut self, file: FileId) {
        self.files[file.index()] = OnceLock::new();
    }

    /// Returns the file with this id.
    ///
    /// # Panics
    /// If no such file exists, or it was freed.
    pub fn get(&self, file: FileId) -> &Source {
        self.files[file.index()]
            .get()
            .expect("every reserved id has a file")
    }

    /// Whether there is a file with this id that was not freed.
    pub fn has(&self, file: FileId) -> bool {
        let cell = self.files.get(file.index());
        cell.is_some_and(|source| source.get().is_some())
    }

    /// Iterates over all files and their ids, in the order of their addition.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &Source)> {
        let files = self.files.iter().enumerate();
        files.filter_map(|(at, source)| Some((FileId::new(offset(at)), source.get()?)))
    }

    /// Source location of `span`: `span` itself or, in a decoded text, the span of the encoded
    /// text.
    pub fn written(&self, span: Span) -> Span {
        let mut at = span;
        while let Some(from) = self.get(at.file).decoded_from {
            at = from;
        }
        at
    }

    /// Path of the source file of `span`; see [`SourceMap::written`].
    pub fn path_of(&self, span: Span) -> &RepoPath {
        self.get(self.written(span).file).path()
    }

    /// Text of a span.
    pub fn slice(&self, span: Span) -> &str {
        &self.get(span.file).text[span.range()]
    }

    /// First line of the text of a span.
    pub fn first_line(&self, span: Span) -> Span {
        let line = self.slice(span).lines().next().unwrap_or_default();
        Span::new(span.file, span.start, span.start + offset(line.len()))
    }

    /// Position of the start of a span.
    pub fn start(&self, span: Span) -> Position {
        let source = self.get(span.file);
        source.lines().position(&source.text, span.start)
    }

    /// Position of the end of a span (one past its last character).
    pub fn end(&self, span: Span) -> Position {
        let source = self.get(span.file);
        source.lines().position(&source.text, span.end)
    }
}

/// Decoded contents of a file.
struct DecodedText {
    text: String,
    fault: Option<TextFault>,
    /// Original bytes, if the text is not their plain UTF-8 decoding.
    bytes: Option<Arc<[u8]>>,
}

impl DecodedText {
    fn none(fault: TextFault) -> Self {
        Self {
            text: String::new(),
            fault: Some(fault),
            bytes: None,
        }
    }
}

/// Decodes by byte order mark, as libyaml does: UTF-16 with its mark, UTF-8 otherwise.
fn decode(bytes: Vec<u8>) -> DecodedText {
    match bytes.as_slice() {
        pointer if is_large_file_pointer(pointer) => DecodedText {
            text: String::from_utf8_lossy(pointer).into_owned(),
            fault: Some(TextFault::LargeFilePointer),
            bytes: None,
        },
        [0xFE, 0xFF, ..] => decode_utf16(bytes, Encoding::Utf16Be, u16::from_be_bytes),
        [0xFF, 0xFE, ..] => decode_utf16(bytes, Encoding::Utf16Le, u16::from_le_bytes),
        _ => decode_utf8(bytes),
    }
}

/// Whether the bytes are a git LFS pointer: fewer than 1024 bytes, beginning with the version, and
/// with an object and its size (git LFS, `docs/spec.md`, "The Pointer").
fn is_large_file_pointer(bytes: &[u8]) -> bool {
    const MOST_BYTES: usize = 1024;
    let versions = [
        "version https://git-lfs.github.com/spec/",
        "version https://hawser.github.com/spec/",
    ];
    let Some(text) = Some(bytes).filter(|it| it.len() < MOST_BYTES) else {
        return false;
    };
    let Ok(text) = str::from_utf8(text) else {
        return false;
    };
    let has = |start: &str| text.lines().skip(1).any(|line| line.starts_with(start));
    versions.iter().any(|version| text.starts_with(version)) && has("oid ") && has("size ")
}

fn decode_utf8(bytes: Vec<u8>) -> DecodedText {
    match String::from_utf8(bytes) {
        Ok(text) => DecodedText {
            text,
            fault: None,
            bytes: None,
        },
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
            let fault = Some(TextFault::BadEncoding(Encoding::Utf8, offset(valid)));
            DecodedText {
                text,
                fault,
                bytes: Some(error.into_bytes().into()),
            }
        }
    }
}

/// Decodes the bytes after the byte order mark.
fn decode_utf16(bytes: Vec<u8>, encoding: Encoding, unit: fn([u8; 2]) -> u16) -> DecodedText {
    let units = bytes[2..]
        .chunks_exact(2)
        .map(|pair| unit([pair[0], pair[1]]));
    let mut text = String::with_capacity(bytes.len() / 2);
    let is_whole = char::decode_utf16(units).all(|decoded| decoded.map(|it| text.push(it)).is_ok());
    let is_sound = is_whole && bytes.len().is_multiple_of(2);
    let fault = (!is_sound).then(|| TextFault::BadEncoding(encoding, offset(text.len())));
    DecodedText {
        text,
        fault,
        bytes: Some(bytes.into()),
    }
}
