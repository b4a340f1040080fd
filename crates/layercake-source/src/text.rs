//! Texts of files: bytes decoded once, and the map from ids to them.

use std::sync::{Arc, OnceLock};

use super::{FileId, LineIndex, Nested, Position, ReadError, RepoPath, Span, offset};

/// How the bytes of a file were encoded (YAML 1.1, section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    Utf8,
    /// UTF-16 with a big-endian byte order mark.
    Utf16Be,
    /// UTF-16 with a little-endian byte order mark.
    Utf16Le,
}

/// Why a file has no text that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextFault {
    /// The bytes could not be read; why.
    Unreadable(String),
    /// The bytes are not in the encoding they claim; the first bad one is at
    /// this offset of the decoded text, which stops before it.
    BadEncoding(Encoding, u32),
    /// More bytes than [`Source::MAX_BYTES`].
    TooLarge(u64),
    /// The text is not the file's: git LFS keeps that elsewhere, and this only
    /// points to it.
    LargeFilePointer,
    /// It is not a file but a repository inside of the one that is read.
    Nested(Nested),
}

/// One file: its path, its text, and where its lines begin.
#[derive(Debug)]
pub struct Source {
    path: RepoPath,
    text: Arc<str>,
    fault: Option<TextFault>,
    /// The bytes, where the text is not what they say in UTF-8.
    bytes: Option<Arc<[u8]>>,
    decoded_from: Option<Span>,
    commit: Option<Arc<str>>,
    lines: OnceLock<LineIndex>,
}

impl Source {
    /// Files above this many bytes are refused (64 MiB): the largest site
    /// repositories known hold files of a few hundred kilobytes.
    pub const MAX_BYTES: u64 = 64 << 20;

    /// The file at `path` with what reading it gave. Never fails: a fault is
    /// kept with the file, and the text is what stands before it.
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

    /// A repository inside of the one that is read, at `path`, of which nothing is read.
    pub fn nested(path: RepoPath, nested: Nested) -> Self {
        Self::of(path, DecodedText::none(TextFault::Nested(nested)), None)
    }

    /// A text that is in no file as it is: the bytes, in UTF-8, that the text
    /// at `from` stands for once it is decoded. `path` is what a user calls it.
    pub fn decoded(path: RepoPath, bytes: Vec<u8>, from: Span) -> Self {
        let decoded = match bytes.len() as u64 {
            length if length > Self::MAX_BYTES => DecodedText::none(TextFault::TooLarge(length)),
            _ => decode_utf8(bytes),
        };
        Self::of(path, decoded, Some(from))
    }

    fn of(path: RepoPath, decoded: DecodedText, decoded_from: Option<Span>) -> Self {
        let DecodedText { text, fault, bytes } = decoded;
        let (text, commit, lines) = (text.into(), None, OnceLock::new());
        Self { path, text, fault, bytes, decoded_from, commit, lines }
    }

    /// The file of a further repository, as this commit of it has it.
    #[must_use]
    pub fn at_commit(self, commit: Arc<str>) -> Self {
        Self { commit: Some(commit), ..self }
    }

    /// Where the file is.
    pub fn path(&self) -> &RepoPath {
        &self.path
    }

    /// The decoded text, byte order mark included.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Why the text is not whole, if it is not.
    pub fn fault(&self) -> Option<&TextFault> {
        self.fault.as_ref()
    }

    /// The bytes, where they are not UTF-8: what the text leaves out.
    pub fn bytes(&self) -> Option<&[u8]> {
        self.bytes.as_deref()
    }

    /// The text that this one was decoded from, if it is no file's own.
    pub fn decoded_from(&self) -> Option<Span> {
        self.decoded_from
    }

    /// A commit of a further repository that has the file so; none for files of the repository
    /// that is checked, and for those read from a folder.
    pub fn commit(&self) -> Option<&Arc<str>> {
        self.commit.as_ref()
    }

    /// Where the lines begin; computed when first asked for.
    pub fn lines(&self) -> &LineIndex {
        self.lines.get_or_init(|| LineIndex::new(&self.text))
    }
}

/// All files of a run, by id.
#[derive(Debug, Default)]
pub struct SourceMap {
    /// Empty where there is only room for one.
    files: Vec<OnceLock<Source>>,
}

impl SourceMap {
    /// A map without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// The id that the file added next will get.
    pub fn upcoming(&self) -> FileId {
        FileId::new(offset(self.files.len()))
    }

    /// Adds a file and gives its id.
    pub fn add(&mut self, source: Source) -> FileId {
        let id = self.upcoming();
        self.files.push(OnceLock::from(source));
        id
    }

    /// Makes room for so many files and gives their ids, so that threads can
    /// [put](SourceMap::put) them there side by side.
    pub fn make_room(&mut self, files: usize) -> Vec<FileId> {
        let first = self.files.len();
        self.files.resize_with(first + files, OnceLock::new);
        (first..self.files.len()).map(|at| FileId::new(offset(at))).collect()
    }

    /// Puts a file where room was made for it.
    ///
    /// # Panics
    /// Where there is a file by that id already, or no room.
    pub fn put(&self, file: FileId, source: Source) -> &Source {
        let room = &self.files[file.index()];
        assert!(room.set(source).is_ok(), "a file is put in its place once");
        self.get(file)
    }

    /// The file with this id.
    ///
    /// # Panics
    /// Where there is none.
    pub fn get(&self, file: FileId) -> &Source {
        self.files[file.index()].get().expect("a file is put where room was made for it")
    }

    /// All files with their ids, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &Source)> {
        let files = self.files.iter().enumerate();
        files.filter_map(|(at, source)| Some((FileId::new(offset(at)), source.get()?)))
    }

    /// The place in a file at which somebody wrote what stands at `span`:
    /// `span` itself, or, in a decoded text, the text that it was decoded from.
    pub fn written(&self, span: Span) -> Span {
        let mut at = span;
        while let Some(from) = self.get(at.file).decoded_from {
            at = from;
        }
        at
    }

    /// The path of the file in which somebody wrote what stands at `span`; see
    /// [`SourceMap::written`].
    pub fn path_of(&self, span: Span) -> &RepoPath {
        self.get(self.written(span).file).path()
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &str {
        &self.get(span.file).text[span.range()]
    }

    /// The first line of what stands at a span.
    pub fn first_line(&self, span: Span) -> Span {
        let line = self.slice(span).lines().next().unwrap_or_default();
        Span::new(span.file, span.start, span.start + offset(line.len()))
    }

    /// Where a span begins, for people.
    pub fn start(&self, span: Span) -> Position {
        let source = self.get(span.file);
        source.lines().position(&source.text, span.start)
    }

    /// Where a span ends (one past its last character), for people.
    pub fn end(&self, span: Span) -> Position {
        let source = self.get(span.file);
        source.lines().position(&source.text, span.end)
    }
}

/// What a file's bytes say.
struct DecodedText {
    text: String,
    fault: Option<TextFault>,
    /// The bytes, where the text is not what they say in UTF-8.
    bytes: Option<Arc<[u8]>>,
}

impl DecodedText {
    fn none(fault: TextFault) -> Self {
        Self { text: String::new(), fault: Some(fault), bytes: None }
    }
}

/// Decodes by byte order mark, as libyaml does: UTF-16 where one says so,
/// UTF-8 otherwise.
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

/// Whether these are the bytes of a git LFS pointer: fewer than 1024, which
/// begin with the version and give an object and its size (git LFS,
/// `docs/spec.md`, "The Pointer").
fn is_large_file_pointer(bytes: &[u8]) -> bool {
    const MOST_BYTES: usize = 1024;
    let versions =
        ["version https://git-lfs.github.com/spec/", "version https://hawser.github.com/spec/"];
    let Some(text) = Some(bytes).filter(|it| it.len() < MOST_BYTES) else { return false };
    let Ok(text) = str::from_utf8(text) else { return false };
    let has = |start: &str| text.lines().skip(1).any(|line| line.starts_with(start));
    versions.iter().any(|version| text.starts_with(version)) && has("oid ") && has("size ")
}

fn decode_utf8(bytes: Vec<u8>) -> DecodedText {
    match String::from_utf8(bytes) {
        Ok(text) => DecodedText { text, fault: None, bytes: None },
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
            let fault = Some(TextFault::BadEncoding(Encoding::Utf8, offset(valid)));
            DecodedText { text, fault, bytes: Some(error.into_bytes().into()) }
        }
    }
}

/// Decodes what follows the byte order mark.
fn decode_utf16(bytes: Vec<u8>, encoding: Encoding, unit: fn([u8; 2]) -> u16) -> DecodedText {
    let units = bytes[2..].chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let mut text = String::with_capacity(bytes.len() / 2);
    let is_whole = char::decode_utf16(units).all(|decoded| decoded.map(|it| text.push(it)).is_ok());
    let is_sound = is_whole && bytes.len().is_multiple_of(2);
    let fault = (!is_sound).then(|| TextFault::BadEncoding(encoding, offset(text.len())));
    DecodedText { text, fault, bytes: Some(bytes.into()) }
}
