//! Converts the events of granit-parser to documents.
//!
//! granit-parser implements YAML 1.2 without types. This module adds the behavior of PyYAML's safe
//! loader: tags, merge keys, sets, duplicate keys and anchors as in `composer.py` and
//! `constructor.py`. Where libyaml may read a text differently, `libyaml` provides its events
//! instead.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError, Tag};
use layercake_source::{FileId, Span, offset};

use super::collection::settled;
use super::libyaml::{LibyamlEvents, RefusedDocument, SpacedText};
use super::respelling;
use super::scalar::{self, Plain, ScalarFault, ScalarTag};
use super::{
    BYTE_ORDER_MARK, Comment, InvalidYaml, Key, Loader, Mapping, Node, Parsed, SharedCollection,
    Size, Value, YamlDocument, YamlLimit, YamlProblem, YamlProblemKind,
};

/// Result of parsing with granit-parser.
pub(super) struct GranitRead {
    pub(crate) parsed: Parsed,
    /// Whether libyaml may read the text differently.
    pub(crate) is_odd: bool,
}

/// Parses `text`, which begins at byte `base` of the file and has no byte order mark.
pub(super) fn read(file: FileId, base: u32, text: &str, loader: Loader) -> GranitRead {
    let mut reader = YamlReader::new(file, base, text, loader);
    let mut parser = Parser::new_from_str_with_options(text, options(text));
    while let Some(event) = parser.next_event() {
        let error = match event {
            Ok((event, span)) => {
                reader.event(event, span);
                continue;
            }
            Err(error) => error,
        };
        reader.abandon(&error);
        // The parser cannot recover; only comments may follow.
        if parser.proceed_next_document().is_err() {
            break;
        }
    }
    let is_odd = reader.is_odd || !reader.started;
    GranitRead {
        parsed: reader.finish(),
        is_odd,
    }
}

/// Parses `text` like [`read`], but with libyaml. Also returns the documents that libyaml refuses.
pub(super) fn read_with_libyaml(
    file: FileId,
    base: u32,
    text: &str,
    loader: Loader,
) -> (Parsed, Vec<RefusedDocument>) {
    let spaced = SpacedText::new(text);
    let mut reader = YamlReader::new(file, base, &spaced.text, loader);
    reader.spaced = Some(&spaced);
    let mut refused = Vec::new();
    for event in LibyamlEvents::new(&spaced.text) {
        match event {
            Ok((event, span)) => reader.event(event, span),
            Err(RefusedDocument { range, at, message }) => {
                reader.draft = None;
                let range = spaced.original(range.start)..spaced.original(range.end);
                refused.push(RefusedDocument {
                    range,
                    at: spaced.original(at),
                    message,
                });
            }
        }
    }
    (reader.finish(), refused)
}

/// A token of a text, other than indicators and white space.
pub(super) struct WrittenToken {
    pub(crate) range: Range<usize>,
    pub(crate) kind: WrittenKind,
}

/// Kinds of [`WrittenToken`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WrittenKind {
    /// Comment, single-quoted scalar or block scalar.
    Enclosed,
    /// Double-quoted scalar.
    DoubleQuoted,
    /// Plain scalar in a block context.
    Plain,
    /// Plain scalar inside of `[]` or `{}`.
    PlainInFlow,
}

/// Tokens of `text` up to the first error, in no particular order.
pub(super) fn written(text: &str) -> Vec<WrittenToken> {
    let mut written = Vec::new();
    // For each open collection, whether it is, or is inside of, a flow collection.
    let mut flows: Vec<bool> = Vec::new();
    let spaced = SpacedText::new(text);
    let events: Result<Vec<_>, _> = LibyamlEvents::new(&spaced.text).collect();
    // PyYAML's scanner may accept what libyaml refuses.
    let events = events.unwrap_or_else(|_| {
        let text = &spaced.text;
        Parser::new_from_str_with_options(text, options(text))
            .map_while(Result::ok)
            .collect()
    });
    for (event, marks) in events {
        let range = marks
            .byte_range()
            .expect("events of a text have byte offsets");
        let range = spaced.original(range.start)..spaced.original(range.end);
        let in_flow = flows.last().is_some_and(|is_flow| *is_flow);
        let kind = match event {
            Event::Comment(..) => WrittenKind::Enclosed,
            Event::Scalar(_, ScalarStyle::Plain, ..) if in_flow => WrittenKind::PlainInFlow,
            Event::Scalar(_, ScalarStyle::Plain, ..) => WrittenKind::Plain,
            Event::Scalar(_, ScalarStyle::DoubleQuoted, ..) => WrittenKind::DoubleQuoted,
            Event::Scalar(..) => WrittenKind::Enclosed,
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                flows.push(in_flow || !range.is_empty());
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                flows.pop();
                continue;
            }
            _ => continue,
        };
        written.push(WrittenToken { range, kind });
    }
    written
}

fn options(text: &str) -> Options {
    let mut options = Options::default();
    options.emit_unresolved_aliases = true;
    options.emit_anchor_events = true;
    options.max_buffered_comment_events = usize::MAX;
    options.flow_nesting_limit = YamlLimit::DEPTH;
    options.block_nesting_limit = YamlLimit::DEPTH;
    options.block_scalar_eof_without_line_feed = true;
    // A byte order mark is content, but libyaml skips it at the beginning of a line: this must be
    // an error, otherwise it would become part of a key.
    options.bom_inside_document_as_content = !text
        .match_indices('\u{feff}')
        .any(|(at, _)| text[..at].ends_with(['\n', '\r']));
    options
}

/// Builds documents from events.
pub(super) struct YamlReader<'text> {
    file: FileId,
    base: u32,
    text: &'text str,
    /// Text from which `text` differs by blanks, for libyaml.
    spaced: Option<&'text SpacedText<'text>>,
    loader: Loader,
    /// End of the last event other than a comment.
    cursor: usize,
    /// Whether a syntax error was the last event.
    is_lost: bool,
    /// Whether a document has started.
    started: bool,
    /// Whether libyaml may read the text differently.
    is_odd: bool,
    draft: Option<DocumentDraft>,
    /// Number of entries added by `<<`.
    merged: u64,
    /// Buffers of finished collections.
    spare: SpareBuffers,
    parsed: Parsed,
}

/// Empty buffers to reuse for the next collections.
#[derive(Default)]
struct SpareBuffers {
    lists: Vec<Vec<Node>>,
    mappings: Vec<Vec<(Key, Node)>>,
}

/// A document being parsed.
struct DocumentDraft {
    start: usize,
    /// End of its last token so far.
    end: usize,
    root: Option<Node>,
    frames: Vec<Frame>,
    anchors: HashMap<usize, Anchored, foldhash::fast::RandomState>,
    names: HashMap<String, Span, foldhash::fast::RandomState>,
    shared: Vec<SharedCollection>,
    /// For mappings with `<<`: merged keys that are overridden, which PyYAML merges as well.
    overridden: OverriddenKeys,
    /// Number of nodes, with aliases expanded.
    nodes: u64,
    state: DraftState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DraftState {
    Sound,
    /// Invalid; the rest is parsed to find further problems.
    Broken,
    /// Beyond a limit; the rest is skipped.
    Skipped,
}

/// A collection being parsed.
struct Frame {
    start: usize,
    anchor: usize,
    /// Number of nodes of the document before this one.
    nodes_before: u64,
    /// Height of the collection, at least one.
    height: usize,
    is_flow: bool,
    contents: Contents,
}

enum Contents {
    Sequence(Vec<Node>),
    Mapping(MappingDraft),
    Set(MappingDraft),
    /// A list tagged `!!omap` or `!!pairs`.
    Pairs(Vec<(Node, Node)>),
    /// A mapping in such a list: one key, one value.
    Pair(Vec<Node>),
    /// A mapping with a scalar tag: its value is the value of the key `=`.
    Scalar(DefaultValue),
}

impl DefaultValue {
    fn new(tag: ScalarTag) -> Self {
        Self {
            tag,
            entries: MappingDraft::default(),
            is_next: false,
            read: None,
        }
    }
}

/// State of a mapping parsed for the value of its key `=`.
struct DefaultValue {
    tag: ScalarTag,
    entries: MappingDraft,
    /// Whether the next node is the value of `=`.
    is_next: bool,
    /// Value of `=`, once parsed.
    read: Option<DefaultContent>,
}

/// Value of a key `=`.
enum DefaultContent {
    /// Text of a scalar.
    Text(String),
    /// A mapping or list, which is invalid here.
    Collection,
}

/// Entries of a mapping so far.
#[derive(Default)]
struct MappingDraft {
    own: Mapping,
    /// Key of the next value.
    key: Option<PendingKey>,
    /// Mappings merged by `<<`, by ascending precedence.
    merged: Vec<MergeSource>,
    /// Repeated keys: from the last span to the first. Boxed, because few mappings have any.
    repeated: Option<Box<RepeatedKeys>>,
}

/// A mapping merged by `<<`.
struct MergeSource {
    mapping: Arc<Mapping>,
    /// Span of the mapping.
    at: Span,
    /// Span of the key `<<`.
    key: Span,
}

/// Maximum number of overridden keys stored for a mapping, since each mapping may merge the previous
/// one.
const MAX_OVERRIDDEN_KEYS: usize = 100;

type OverriddenKeys = HashMap<Span, Vec<Span>, foldhash::fast::RandomState>;

type RepeatedKeys = HashMap<Span, Span, foldhash::fast::RandomState>;

enum PendingKey {
    Key(Key),
    /// `<<` at a span.
    Merge(Span),
    /// Invalid key, already reported.
    Bad,
}

/// Target of an anchor.
struct Anchored {
    node: Node,
    /// Mapping that `<<` merges, if the node is a set.
    source: Option<Arc<Mapping>>,
    nodes: u64,
    height: usize,
}

/// Meaning of a tag.
enum TagMeaning<'tag> {
    /// No tag, or one without effect.
    Untagged,
    /// `!`: libyaml resolves the text like a plain scalar.
    Plain,
    Scalar(ScalarTag),
    Sequence,
    Mapping,
    Set,
    Pairs,
    /// `!!merge` and `!!value`, the tags of `<<` and `=`.
    Merge,
    Default,
    Unknown(&'tag Tag),
}

impl<'text> YamlReader<'text> {
    pub(super) fn new(file: FileId, base: u32, text: &'text str, loader: Loader) -> Self {
        Self {
            file,
            base,
            text,
            spaced: None,
            loader,
            cursor: 0,
            is_lost: false,
            started: false,
            is_odd: false,
            draft: None,
            merged: 0,
            spare: SpareBuffers::default(),
            parsed: Parsed::default(),
        }
    }

    pub(super) fn finish(mut self) -> Parsed {
        self.parsed.problems.sort_by_key(|problem| problem.span);
        self.parsed
    }

    fn event(&mut self, event: Event<'_>, marks: granit_parser::Span) {
        let range = marks
            .byte_range()
            .expect("events of a text have byte offsets");
        if self.spaced.is_some() {
            self.check_unusual(&event, &range);
        }
        match event {
            Event::StreamStart | Event::StreamEnd => {}
            // A comment event may precede that of the block scalar above it.
            Event::Comment(..) => return self.comment(range),
            // Without `---`, the document starts at its first token, which is not known yet.
            Event::DocumentStart(false, _) => {
                return self.start_document(range.start..range.start, false);
            }
            Event::DocumentStart(true, _) => self.start_document(range.clone(), true),
            Event::DocumentEnd => self.end_document(),
            Event::Anchor(_, name) => self.name_anchor(&name, range.clone()),
            Event::Scalar(text, style, anchor, tag) => {
                self.tag(&marks);
                self.scalar(text, style, anchor, tag.as_deref(), range.clone());
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.tag(&marks);
                let contents = self.new_sequence();
                self.start_collection(contents, anchor, tag.as_deref(), &range);
            }
            Event::MappingStart(_, anchor, tag) => {
                self.tag(&marks);
                let contents = self.new_mapping();
                self.start_collection(contents, anchor, tag.as_deref(), &range);
            }
            Event::SequenceEnd | Event::MappingEnd => self.end_collection(range.clone()),
            Event::Alias(id) => self.alias(id, range.clone()),
            Event::UnresolvedAlias(name) => {
                let span = self.extend_document(range.clone());
                self.problem(
                    span,
                    YamlProblemKind::Invalid(InvalidYaml::UndefinedAlias(name.as_ref().into())),
                );
                self.push(Node::new(Value::Null, span), 0);
            }
            // The enum is non-exhaustive; all current variants are handled.
            _ => {}
        }
        self.cursor = self.cursor.max(range.end);
    }

    /// Whether the text has a document.
    pub(super) fn has_started(&self) -> bool {
        self.started
    }

    /// Whether libyaml may read the text differently.
    pub(super) fn is_odd(&self) -> bool {
        self.is_odd
    }

    pub(super) fn is_in_document(&self) -> bool {
        self.draft.is_some()
    }

    pub(super) fn comment(&mut self, range: Range<usize>) {
        let span = self.span(range);
        self.parsed.comments.push(Comment { span });
    }

    /// Starts a list; the range is that of its bracket, or empty.
    pub(super) fn start_sequence(&mut self, range: Range<usize>) {
        let contents = self.new_sequence();
        self.start_collection(contents, 0, None, &range);
    }

    /// Starts a mapping; the range is that of its brace, or empty.
    pub(super) fn start_mapping(&mut self, range: Range<usize>) {
        let contents = self.new_mapping();
        self.start_collection(contents, 0, None, &range);
    }

    fn new_sequence(&mut self) -> Contents {
        Contents::Sequence(self.spare.lists.pop().unwrap_or_default())
    }

    fn new_mapping(&mut self) -> Contents {
        let buffer = self.spare.mappings.pop().unwrap_or_default();
        Contents::Mapping(MappingDraft::in_buffer(buffer))
    }

    /// Warns about text before or in a token that granit-parser refuses.
    fn check_unusual(&mut self, event: &Event<'_>, range: &Range<usize>) {
        let (at, description) = match event {
            Event::Comment(..) => {
                if !self.text[..range.start]
                    .ends_with(|it: char| !(it.is_whitespace() || it == BYTE_ORDER_MARK))
                {
                    return;
                }
                (range.start, "comment without a space before `#`")
            }
            Event::Scalar(text, ScalarStyle::Plain, ..) if text == "-" => {
                (range.start, "`-` as an unquoted string in [] or {}")
            }
            _ => {
                let before = self.text.get(self.cursor..range.start).unwrap_or_default();
                let found = before.find(['\u{85}', '\u{2028}', '\u{2029}']);
                let Some(at) = found else { return };
                (self.cursor + at, "U+0085, U+2028 or U+2029 as a line break")
            }
        };
        let end = at + self.text[at..].chars().next().map_or(0, char::len_utf8);
        let problem = YamlProblem {
            span: self.span(at..end),
            kind: YamlProblemKind::Unusual(description),
        };
        if self.parsed.problems.last() != Some(&problem) {
            self.parsed.problems.push(problem);
        }
    }

    fn span(&self, range: Range<usize>) -> Span {
        let at = |at| self.base + offset(self.spaced.map_or(at, |spaced| spaced.original(at)));
        Span::new(self.file, at(range.start), at(range.end))
    }

    /// Extends the document to the end of a token, and returns its span.
    fn extend_document(&mut self, range: Range<usize>) -> Span {
        if let Some(draft) = &mut self.draft {
            draft.end = draft.end.max(range.end);
        }
        self.span(range)
    }

    /// Adds a fatal problem.
    fn problem(&mut self, span: Span, kind: YamlProblemKind) {
        if let Some(draft) = &mut self.draft {
            if draft.state == DraftState::Skipped {
                return;
            }
            draft.state = match kind {
                YamlProblemKind::OverLimit(
                    YamlLimit::Depth | YamlLimit::Nodes | YamlLimit::Merged,
                ) => DraftState::Skipped,
                _ => DraftState::Broken,
            };
        }
        self.parsed.problems.push(YamlProblem { span, kind });
    }

    /// Adds a syntax error and discards the document.
    fn abandon(&mut self, error: &ScanError) {
        let at = error
            .marker()
            .byte_offset()
            .unwrap_or(self.cursor)
            .min(self.text.len());
        let kind = match error.kind() {
            granit_parser::ErrorKind::RecursionLimitExceeded => {
                YamlProblemKind::OverLimit(YamlLimit::Depth)
            }
            kind => {
                self.is_odd = true;
                YamlProblemKind::Invalid(InvalidYaml::Syntax(kind.to_string()))
            }
        };
        let span = self.span(at..at);
        self.problem(span, kind);
        self.draft = None;
        self.is_lost = true;
    }

    pub(super) fn start_document(&mut self, range: Range<usize>, is_explicit: bool) {
        // After a syntax error, the end of the broken document is unknown.
        if self.is_lost {
            self.is_lost = false;
            let unread = self.cursor.min(range.start)..range.start;
            self.cursor = end_of_document_marker(self.text, unread).unwrap_or(self.cursor);
        }
        // Only the first document may omit `---`, and `...` may not precede it.
        self.is_odd |= if self.started {
            !is_explicit
        } else {
            self.text[..range.start].contains("...")
        };
        self.draft = Some(DocumentDraft {
            start: range.start,
            end: range.end,
            root: None,
            frames: Vec::new(),
            anchors: HashMap::default(),
            names: HashMap::default(),
            shared: Vec::new(),
            overridden: HashMap::default(),
            nodes: 0,
            state: DraftState::Sound,
        });
        self.started = true;
    }

    pub(super) fn end_document(&mut self) {
        let Some(draft) = self.draft.take() else {
            return;
        };
        if draft.state != DraftState::Sound {
            return;
        }
        let mut span = self.span(draft.start..draft.end);
        let root = draft.root.unwrap_or_else(|| Node::new(Value::Null, span));
        // The first token may be the header of a block scalar.
        span.start = span.start.min(root.span.start);
        self.parsed.documents.push(YamlDocument {
            root,
            span,
            shared: draft.shared,
        });
    }

    /// Checks for names that libyaml refuses or reads only in part.
    fn check_name(&mut self, name: &str, range: Range<usize>) {
        let next = self.text[range.end..].chars().next();
        self.is_odd |= !name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
            || !next.is_none_or(|next| next.is_whitespace() || "?:,]}%@`".contains(next));
    }

    /// Advances over the tag of a node, which precedes it.
    fn tag(&mut self, marks: &granit_parser::Span) {
        let Some(range) = marks.tag_span().and_then(|span| span.byte_range()) else {
            return;
        };
        let is_separated = !self.text[range.end..].starts_with(|next: char| !next.is_whitespace());
        self.is_odd |= !is_separated
            || !self.text[range.clone()]
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"!_-./:<>".contains(&byte));
        self.cursor = self.cursor.max(range.end);
    }

    fn name_anchor(&mut self, name: &str, range: Range<usize>) {
        self.check_name(name, range.clone());
        let span = self.span(range);
        let Some(draft) = &mut self.draft else { return };
        match draft.names.get(name) {
            Some(first) => {
                let first = *first;
                self.problem(
                    span,
                    YamlProblemKind::Invalid(InvalidYaml::DuplicateAnchor { first }),
                );
            }
            None => {
                draft.names.insert(name.to_owned(), span);
            }
        }
    }

    fn scalar(
        &mut self,
        text: Cow<'_, str>,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        range: Range<usize>,
    ) {
        // A missing plain scalar is reported as `~` with an empty range.
        let absent = style == ScalarStyle::Plain && range.is_empty();
        let text = if absent { Cow::Borrowed("") } else { text };
        let range = match style {
            ScalarStyle::Literal | ScalarStyle::Folded => {
                self.block_scalar_range(self.block_header(range.start), range.end)
            }
            _ if absent => self.missing_node_range(range.start),
            _ => range,
        };
        // YAML 1.2 combines surrogates into one character.
        self.is_odd |= style == ScalarStyle::DoubleQuoted
            && !respelling::surrogate_escapes(&self.text[range.clone()]).is_empty();
        let text = match self.loader {
            Loader::Libyaml => text,
            Loader::Python => respelling::original(text),
        };
        let span = self.extend_document(range);
        let meaning = match meaning(tag) {
            // libyaml cannot resolve a missing scalar.
            TagMeaning::Plain if absent && self.loader == Loader::Libyaml => {
                TagMeaning::Scalar(ScalarTag::String)
            }
            meaning => meaning,
        };
        let is_plain = style == ScalarStyle::Plain;
        self.mark_odd_scalar(absent, style);
        self.is_odd |= is_plain && text.starts_with(['?', ':']) && self.is_in_flow();
        self.add_scalar(&text, is_plain, anchor, &meaning, span);
    }

    /// Adds a scalar without a tag and an anchor; the range is that of its token.
    pub(super) fn untagged_scalar(&mut self, text: &str, is_plain: bool, range: Range<usize>) {
        let span = self.extend_document(range);
        self.add_scalar(text, is_plain, 0, &TagMeaning::Untagged, span);
    }

    fn add_scalar(
        &mut self,
        text: &str,
        is_plain: bool,
        anchor: usize,
        meaning: &TagMeaning,
        span: Span,
    ) {
        if self.is_key_next() && self.merge_or_default_key(meaning, is_plain, text, span, anchor) {
            return;
        }
        if self.loader == Loader::Python && is_plain && text == "?" && self.is_in_flow() {
            return self.push_missing_key(span);
        }
        if let Some(value) = self.default_value() {
            value.read = Some(DefaultContent::Text(text.to_owned()));
            return;
        }
        let value = self.scalar_value(meaning, is_plain, text, span);
        let node = Node::new(value, span);
        if anchor != 0
            && let Some(draft) = &mut self.draft
        {
            draft.anchors.insert(
                anchor,
                Anchored {
                    node: node.clone(),
                    source: None,
                    nodes: 1,
                    height: 0,
                },
            );
        }
        self.count(1, span);
        self.push(node, 0);
    }

    /// Adds a mapping for a question mark without a key in a list, which YAML 1.2 reads as text.
    fn push_missing_key(&mut self, span: Span) {
        let nothing = Node::new(Value::Null, Span::point(span.file, span.end));
        let pair = MappingDraft::of_pair(&nothing, &nothing).expect("null may be a key");
        self.count(3, span);
        self.push(Node::new(Value::Mapping(Arc::new(pair)), span), 1);
    }

    /// State of the surrounding mapping with a scalar tag, if the next node is the value of its key
    /// `=`.
    fn default_value(&mut self) -> Option<&mut DefaultValue> {
        match &mut self.draft.as_mut()?.frames.last_mut()?.contents {
            Contents::Scalar(value) if value.is_next => {
                value.is_next = false;
                value.entries.key = None;
                Some(value)
            }
            _ => None,
        }
    }

    fn is_in_flow(&self) -> bool {
        let frames = self.draft.as_ref().map_or(&[][..], |draft| &draft.frames);
        // A single pair has no brackets of its own, but the surrounding list has.
        frames.iter().rev().take(2).any(|frame| frame.is_flow)
    }

    /// Marks missing keys, and block scalars as whole documents: libyaml handles their indentation
    /// differently.
    fn mark_odd_scalar(&mut self, absent: bool, style: ScalarStyle) {
        let Some(draft) = &self.draft else { return };
        self.is_odd |= match draft.frames.last().map(|frame| &frame.contents) {
            None => matches!(style, ScalarStyle::Literal | ScalarStyle::Folded),
            Some(Contents::Mapping(entries) | Contents::Set(entries)) => {
                absent && entries.key.is_none()
            }
            Some(Contents::Pair(nodes)) => absent && nodes.is_empty(),
            Some(Contents::Scalar(_)) => true,
            Some(Contents::Sequence(_) | Contents::Pairs(_)) => false,
        };
    }

    /// Value of a scalar; null if it is invalid, after reporting the problem.
    fn scalar_value(
        &mut self,
        meaning: &TagMeaning,
        is_plain: bool,
        text: &str,
        span: Span,
    ) -> Value {
        let result = match meaning {
            TagMeaning::Untagged if !is_plain => Ok(Plain::Value(Value::String(text.into()))),
            TagMeaning::Untagged | TagMeaning::Plain => scalar::plain(text),
            TagMeaning::Scalar(tag) => scalar::tagged(*tag, text).map(Plain::Value),
            TagMeaning::Merge => Ok(Plain::Merge),
            TagMeaning::Default => Ok(Plain::Default),
            TagMeaning::Sequence | TagMeaning::Mapping | TagMeaning::Set | TagMeaning::Pairs => {
                Err(ScalarFault::Invalid("collection tag on a scalar"))
            }
            TagMeaning::Unknown(tag) => {
                self.problem(span, YamlProblemKind::UnknownTag(tag.original().into()));
                return Value::Null;
            }
        };
        let fault = match result {
            Ok(Plain::Value(value)) => return value,
            Ok(Plain::Merge) => ScalarFault::Invalid("`<<` that is not a key"),
            Ok(Plain::Default) => ScalarFault::Invalid("`=` that is not a key"),
            Err(fault) => fault,
        };
        let kind = match fault {
            ScalarFault::Invalid(why) => YamlProblemKind::InvalidScalar(why.to_owned()),
            ScalarFault::TooManyDigits => YamlProblemKind::OverLimit(YamlLimit::Digits),
        };
        self.problem(span, kind);
        Value::Null
    }

    /// Handles `<<` and `=` as keys of a mapping, like `flatten_mapping`.
    fn merge_or_default_key(
        &mut self,
        meaning: &TagMeaning,
        is_plain: bool,
        text: &str,
        span: Span,
        anchor: usize,
    ) -> bool {
        let resolves = is_plain && matches!(meaning, TagMeaning::Untagged)
            || matches!(meaning, TagMeaning::Plain);
        let key = match (meaning, text) {
            (TagMeaning::Merge, _) => PendingKey::Merge(span),
            (_, "<<") if resolves => PendingKey::Merge(span),
            (TagMeaning::Default, _) => PendingKey::Key(Key::string(text, span)),
            (_, "=") if resolves => PendingKey::Key(Key::string(text, span)),
            _ => return false,
        };
        if anchor != 0
            && let Some(draft) = &mut self.draft
        {
            let node = Node::new(Value::String(text.into()), span);
            draft.anchors.insert(
                anchor,
                Anchored {
                    node,
                    source: None,
                    nodes: 1,
                    height: 0,
                },
            );
        }
        self.count(1, span);
        let is_default = !matches!(key, PendingKey::Merge(_));
        let frame = self
            .draft
            .as_mut()
            .and_then(|draft| draft.frames.last_mut());
        if let Some(Frame {
            contents: Contents::Scalar(value),
            ..
        }) = frame
        {
            value.is_next = is_default && value.read.is_none();
        }
        if let Some(entries) = self.entries() {
            entries.key = Some(key);
        }
        true
    }

    fn entries(&mut self) -> Option<&mut MappingDraft> {
        match &mut self.draft.as_mut()?.frames.last_mut()?.contents {
            Contents::Mapping(entries)
            | Contents::Set(entries)
            | Contents::Scalar(DefaultValue { entries, .. }) => Some(entries),
            Contents::Sequence(_) | Contents::Pairs(_) | Contents::Pair(_) => None,
        }
    }

    fn is_key_next(&mut self) -> bool {
        self.entries().is_some_and(|entries| entries.key.is_none())
    }

    /// Position of a missing node: after the tag, and after the colon, where granit-parser reports
    /// the position before it.
    fn missing_node_range(&mut self, at: usize) -> Range<usize> {
        let mut at = at.max(self.cursor);
        let rest = self.text[at..].trim_start();
        if !self.is_key_next() && rest.starts_with(':') {
            at = self.text.len() - rest.len() + 1;
        }
        // A line break counts as one position, regardless of its bytes.
        if at > 0 && self.text.as_bytes()[at - 1..].starts_with(b"\r\n") {
            at -= 1;
        }
        at..at
    }

    /// Range of a block scalar from its header at byte `start` to the end of its last line; `end` is
    /// after the indentation of the next token, where granit-parser reports the end.
    pub(super) fn block_scalar_range(&self, start: usize, end: usize) -> Range<usize> {
        let header = self.text[start..].lines().next().unwrap_or("");
        let keeps = header.bytes().take(3).any(|byte| byte == b'+');
        let mut text = &self.text[..end];
        // The rest of the last line is the indentation of the next token.
        if end < self.text.len() {
            text = text.trim_end_matches([' ', '\t']);
        }
        if keeps {
            let blank = self.text[text.len()..]
                .split_inclusive('\n')
                .take_while(|line| line.ends_with('\n') && line.trim().is_empty());
            return start..text.len() + blank.map(str::len).sum::<usize>();
        }
        let end = text[start..].trim_end_matches(['\n', '\r']).len() + start;
        let line_break = match &text.as_bytes()[end..] {
            [] => 0,
            [b'\r', b'\n', ..] => 2,
            _ => 1,
        };
        start..end + line_break
    }

    /// Offset of `|` or `>`, between the last event and the content.
    fn block_header(&self, content: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = self.cursor.min(content);
        while at < content {
            let skip_to: &[u8] = match bytes[at] {
                b'|' | b'>' => return at,
                b'&' | b'!' => b" \t\r\n",
                b'#' => b"\r\n",
                _ => {
                    at += 1;
                    continue;
                }
            };
            let rest = &bytes[at..content];
            at += rest
                .iter()
                .position(|byte| skip_to.contains(byte))
                .unwrap_or(rest.len());
        }
        content
    }

    fn start_collection(
        &mut self,
        contents: Contents,
        anchor: usize,
        tag: Option<&Tag>,
        range: &Range<usize>,
    ) {
        let span = self.extend_document(range.clone());
        // An alias of the collection would construct it, according to its tag.
        let is_constructed = anchor != 0 || !self.is_merge_source();
        let meaning = if is_constructed {
            meaning(tag)
        } else {
            TagMeaning::Untagged
        };
        let contents = self.tagged_contents(contents, meaning, span);
        let Some(draft) = &mut self.draft else { return };
        let nodes_before = draft.nodes;
        let start = range.start;
        let is_flow = !range.is_empty();
        draft.frames.push(Frame {
            start,
            anchor,
            nodes_before,
            height: 1,
            is_flow,
            contents,
        });
        let too_deep = draft.frames.len() > YamlLimit::DEPTH;
        self.count(1, span);
        if too_deep {
            self.problem(span, YamlProblemKind::OverLimit(YamlLimit::Depth));
        }
    }

    /// Whether the next node is merged by `<<`, alone or in a list: `flatten_mapping` ignores its tag.
    fn is_merge_source(&self) -> bool {
        let frames = self.draft.as_ref().map_or(&[][..], |draft| &draft.frames);
        let merges = |frame: &Frame| match &frame.contents {
            Contents::Mapping(entries) | Contents::Set(entries) => {
                matches!(entries.key, Some(PendingKey::Merge(_)))
            }
            _ => false,
        };
        match frames {
            [
                ..,
                outer,
                Frame {
                    contents: Contents::Sequence(_),
                    ..
                },
            ] => merges(outer),
            [.., frame] => merges(frame),
            [] => false,
        }
    }

    /// Initial contents of a collection, according to its tag and context.
    fn tagged_contents(&mut self, plain: Contents, meaning: TagMeaning, span: Span) -> Contents {
        let in_pairs = self
            .draft
            .as_ref()
            .and_then(|draft| draft.frames.last())
            .is_some_and(|frame| matches!(frame.contents, Contents::Pairs(_)));
        if in_pairs && matches!(plain, Contents::Mapping(_)) {
            return Contents::Pair(Vec::new());
        }
        let outer = self.draft.as_ref().and_then(|draft| draft.frames.last());
        if let Some(Frame {
            contents: Contents::Scalar(outer),
            ..
        }) = outer
            && outer.is_next
            && matches!(
                (&plain, &meaning),
                (Contents::Mapping(_), TagMeaning::Untagged)
            )
        {
            return Contents::Scalar(DefaultValue::new(outer.tag));
        }
        let why = match (&plain, meaning) {
            (_, TagMeaning::Untagged | TagMeaning::Plain)
            | (Contents::Sequence(_), TagMeaning::Sequence)
            | (Contents::Mapping(_), TagMeaning::Mapping) => return plain,
            (Contents::Mapping(_), TagMeaning::Set) => {
                return Contents::Set(MappingDraft::default());
            }
            // Like `SafeConstructor.construct_scalar`, which is not called for timestamps.
            (Contents::Mapping(_), TagMeaning::Scalar(tag)) if tag != ScalarTag::Timestamp => {
                return Contents::Scalar(DefaultValue::new(tag));
            }
            (Contents::Sequence(_), TagMeaning::Pairs) => return Contents::Pairs(Vec::new()),
            (_, TagMeaning::Unknown(tag)) => {
                self.problem(span, YamlProblemKind::UnknownTag(tag.original().into()));
                return plain;
            }
            (_, TagMeaning::Merge | TagMeaning::Default | TagMeaning::Scalar(_)) => {
                "scalar tag on a collection"
            }
            (_, TagMeaning::Sequence | TagMeaning::Pairs) => {
                "list tag on a node that is not a list"
            }
            (_, TagMeaning::Mapping | TagMeaning::Set) => {
                "mapping tag on a node that is not a mapping"
            }
        };
        self.problem(span, YamlProblemKind::InvalidScalar(why.to_owned()));
        plain
    }

    pub(super) fn end_collection(&mut self, range: Range<usize>) {
        let Some(frame) = self.draft.as_mut().and_then(|draft| draft.frames.pop()) else {
            return;
        };
        // The end event of a block collection is at the next token, after the end of its own last
        // token. The end of a flow collection is a token.
        self.extend_document(if range.is_empty() { 0..0 } else { range });
        let Some(draft) = &self.draft else { return };
        if frame.is_flow && !draft.frames.last().is_some_and(|outer| outer.is_flow) {
            self.is_odd |= is_odd_flow(&self.text[frame.start..draft.end]);
        }
        let span = self.span(frame.start..draft.end.max(frame.start));
        let nodes = draft.nodes - frame.nodes_before;
        if let Contents::Mapping(entries) | Contents::Set(entries) = &frame.contents {
            self.check_merge(entries, span);
        }
        let mut source = None;
        let value = match frame.contents {
            Contents::Sequence(mut items) => {
                let list = settled(&mut items);
                self.spare.lists.push(items);
                Value::from(list)
            }
            Contents::Mapping(entries) => {
                let (mapping, buffer) = entries.finish().settle();
                self.spare.mappings.push(buffer);
                Value::Mapping(Arc::new(mapping))
            }
            Contents::Set(entries) => {
                let mapping = source.insert(Arc::new(entries.finish()));
                Value::Set(mapping.keys().cloned().collect())
            }
            Contents::Scalar(value) => {
                let Some(DefaultContent::Text(text)) = value.read else {
                    let why = "scalar tag on a collection";
                    return self.problem(span, YamlProblemKind::InvalidScalar(why.to_owned()));
                };
                if self.default_value().is_some_and(|outer| {
                    outer.read = Some(DefaultContent::Text(text.clone()));
                    true
                }) {
                    return;
                }
                self.scalar_value(&TagMeaning::Scalar(value.tag), false, &text, span)
            }
            Contents::Pairs(pairs) => Value::Pairs(pairs.into()),
            Contents::Pair(entry) => {
                let Ok([key, value]) = <[Node; 2]>::try_from(entry) else {
                    let why = "pair that is not a mapping with one entry";
                    return self.problem(span, YamlProblemKind::InvalidScalar(why.to_owned()));
                };
                if frame.anchor != 0 {
                    self.anchor_pair(frame.anchor, &key, &value, span, nodes, frame.height);
                }
                return self.push_entry(key, value, frame.height);
            }
        };
        if let Some(value) = self.default_value() {
            value.read = Some(DefaultContent::Collection);
            return;
        }
        let node = Node::new(value, span);
        // Computed now, while the sizes of all children are cached.
        Size::of(&node);
        if frame.anchor != 0
            && let Some(draft) = &mut self.draft
        {
            let source = source.clone();
            let anchored = Anchored {
                node: node.clone(),
                source,
                nodes,
                height: frame.height,
            };
            draft.anchors.insert(frame.anchor, anchored);
        }
        self.push(self.merged_or_constructed(node, source), frame.height);
    }

    /// Checks whether the value of a merged key depends on the version of PyYAML.
    fn check_merge(&mut self, entries: &MappingDraft, span: Span) {
        let Some(draft) = &mut self.draft else { return };
        if entries.merged.is_empty() {
            return;
        }
        self.parsed
            .problems
            .extend(entries.ambiguous_merge(&draft.overridden));
        let overridden = entries.overridden_keys(&draft.overridden);
        draft.overridden.insert(span, overridden);
    }

    /// The mapping of a set that `<<` merges, with its values; any other node as constructed.
    fn merged_or_constructed(&self, node: Node, source: Option<Arc<Mapping>>) -> Node {
        match source {
            Some(mapping) if self.is_merge_source() => {
                Node::new(Value::Mapping(mapping), node.span)
            }
            _ => node,
        }
    }

    /// Stores the target of an alias of a pair: the mapping as written.
    fn anchor_pair(
        &mut self,
        anchor: usize,
        key: &Node,
        value: &Node,
        span: Span,
        nodes: u64,
        height: usize,
    ) {
        let mapping = match MappingDraft::of_pair(key, value) {
            Ok(mapping) => mapping,
            Err(problem) => return self.problem(problem.span, problem.kind),
        };
        let node = Node::new(Value::Mapping(Arc::new(mapping)), span);
        if let Some(draft) = &mut self.draft {
            draft.anchors.insert(
                anchor,
                Anchored {
                    node,
                    source: None,
                    nodes,
                    height,
                },
            );
        }
    }

    /// Adds a pair, like `construct_yaml_pairs`: a list of mappings with one entry each.
    fn push_entry(&mut self, key: Node, value: Node, entry_height: usize) {
        let frame = self
            .draft
            .as_mut()
            .and_then(|draft| draft.frames.last_mut());
        if let Some(Frame {
            contents: Contents::Pairs(pairs),
            height,
            ..
        }) = frame
        {
            *height = (*height).max(entry_height + 1);
            pairs.push((key, value));
        }
    }

    fn alias(&mut self, id: usize, range: Range<usize>) {
        let name = &self.text[range.start + 1..range.end];
        self.check_name(name, range.clone());
        let span = self.extend_document(range);
        let Some(draft) = &mut self.draft else { return };
        let Some(anchored) = draft.anchors.get(&id) else {
            self.problem(span, YamlProblemKind::Invalid(InvalidYaml::RecursiveAlias));
            return self.push(Node::new(Value::Null, span), 0);
        };
        let Anchored {
            node,
            source,
            nodes,
            height,
        } = anchored;
        let node = node.clone();
        let source = source.clone();
        let nodes = *nodes;
        let height = *height;
        let depth = draft.frames.len() + height;
        if height > 0 {
            draft.shared.push(SharedCollection {
                collection: node.span,
                alias: span,
            });
        }
        if depth > YamlLimit::DEPTH {
            self.problem(span, YamlProblemKind::OverLimit(YamlLimit::Depth));
        }
        self.count(nodes, span);
        self.push(self.merged_or_constructed(node, source), height);
    }

    /// Counts nodes and checks the limit.
    fn count(&mut self, nodes: u64, span: Span) {
        let Some(draft) = &mut self.draft else { return };
        draft.nodes = draft.nodes.saturating_add(nodes);
        if draft.nodes > YamlLimit::NODES {
            self.problem(span, YamlProblemKind::OverLimit(YamlLimit::Nodes));
        }
    }

    /// Adds a finished node to its parent.
    fn push(&mut self, node: Node, height: usize) {
        let Some(draft) = &mut self.draft else { return };
        if draft.state == DraftState::Skipped {
            return;
        }
        let Some(frame) = draft.frames.last_mut() else {
            draft.root = Some(node);
            return;
        };
        frame.height = frame.height.max(height + 1);
        if let Contents::Mapping(entries) | Contents::Set(entries) = &frame.contents
            && matches!(entries.key, Some(PendingKey::Merge(_)))
        {
            self.merged = self.merged.saturating_add(entries_in(&node));
            if self.merged > YamlLimit::merged(self.text.len()) {
                return self.problem(node.span, YamlProblemKind::OverLimit(YamlLimit::Merged));
            }
        }
        let problem = match &mut frame.contents {
            Contents::Sequence(items) => {
                items.push(node);
                None
            }
            Contents::Mapping(entries)
            | Contents::Set(entries)
            | Contents::Scalar(DefaultValue { entries, .. }) => entries.push(node),
            Contents::Pairs(pairs) => push_pair(pairs, node),
            Contents::Pair(nodes) => {
                nodes.push(node);
                None
            }
        };
        match problem {
            None => {}
            // The only non-fatal problem: the last value is used.
            Some(
                problem @ YamlProblem {
                    kind: YamlProblemKind::DuplicateKey { .. },
                    ..
                },
            ) => {
                self.parsed.problems.push(problem);
            }
            Some(problem) => self.problem(problem.span, problem.kind),
        }
    }
}

/// Number of entries that `<<` merges from this value.
fn entries_in(node: &Node) -> u64 {
    let of_one = |node: &Node| node.as_mapping().map_or(0, Mapping::len) as u64;
    of_one(node)
        + node
            .as_sequence()
            .unwrap_or_default()
            .iter()
            .map(of_one)
            .sum::<u64>()
}

/// Adds an alias in a list of `!!pairs`.
fn push_pair(pairs: &mut Vec<(Node, Node)>, node: Node) -> Option<YamlProblem> {
    let mut entries = node.as_mapping().into_iter().flat_map(Mapping::iter);
    match (entries.next(), entries.next()) {
        (Some((key, value)), None) => {
            pairs.push((Node::new(key.value.clone(), key.span), value.clone()));
            None
        }
        _ => {
            let why = "pair that is not a mapping with one entry";
            Some(YamlProblem {
                span: node.span,
                kind: YamlProblemKind::InvalidScalar(why.to_owned()),
            })
        }
    }
}

impl MappingDraft {
    fn in_buffer(buffer: Vec<(Key, Node)>) -> Self {
        Self {
            own: Mapping::in_buffer(buffer),
            ..Self::default()
        }
    }

    /// Creates the mapping for a pair.
    fn of_pair(key: &Node, value: &Node) -> Result<Mapping, YamlProblem> {
        let mut entries = Self::default();
        let problem = entries
            .push(key.clone())
            .or_else(|| entries.push(value.clone()));
        problem.map_or(Ok(entries.own), Err)
    }

    /// Adds the next key or value.
    fn push(&mut self, node: Node) -> Option<YamlProblem> {
        let span = node.span;
        match self.key.take() {
            None => match node.value {
                Value::Set(_) | Value::Pairs(_) | Value::Sequence(_) | Value::Mapping(_) => {
                    self.key = Some(PendingKey::Bad);
                    Some(YamlProblem {
                        span,
                        kind: YamlProblemKind::Invalid(InvalidYaml::UnhashableKey),
                    })
                }
                value => {
                    self.key = Some(PendingKey::Key(Key { value, span }));
                    None
                }
            },
            Some(PendingKey::Key(key)) => self.insert(key, node),
            Some(PendingKey::Merge(key)) => self.merge(key, &node),
            Some(PendingKey::Bad) => None,
        }
    }

    /// Inserts an entry. For a repeated key, the last value is used at the position of the first
    /// key, with the span of the last key.
    fn insert(&mut self, key: Key, node: Node) -> Option<YamlProblem> {
        let span = key.span;
        let (replaced, _) = self.own.put(key, node)?;
        let repeated = self.repeated.get_or_insert_default();
        let first = repeated.get(&replaced).copied().unwrap_or(replaced);
        repeated.insert(span, first);
        Some(YamlProblem {
            span,
            kind: YamlProblemKind::DuplicateKey { first },
        })
    }

    /// Merges like `flatten_mapping`: a mapping, or a list of mappings with earlier ones taking
    /// precedence.
    fn merge(&mut self, key: Span, node: &Node) -> Option<YamlProblem> {
        let invalid = |span| {
            Some(YamlProblem {
                span,
                kind: YamlProblemKind::Invalid(InvalidYaml::InvalidMerge),
            })
        };
        match &node.value {
            Value::Sequence(items) => {
                for item in items.iter().rev() {
                    match merge_source(&item.value) {
                        Some(mapping) => {
                            self.merged.push(MergeSource {
                                mapping,
                                at: item.span,
                                key,
                            });
                        }
                        None => return invalid(item.span),
                    }
                }
                None
            }
            // The composer treats it as a list, regardless of its tag.
            Value::Pairs(pairs) => {
                for (pair_key, value) in pairs.iter().rev() {
                    match Self::of_pair(pair_key, value) {
                        Ok(mapping) => {
                            let mapping = Arc::new(mapping);
                            let at = pair_key.span;
                            self.merged.push(MergeSource { mapping, at, key });
                        }
                        Err(problem) => return Some(problem),
                    }
                }
                None
            }
            value => match merge_source(value) {
                Some(mapping) => {
                    self.merged.push(MergeSource {
                        mapping,
                        at: node.span,
                        key,
                    });
                    None
                }
                None => invalid(node.span),
            },
        }
    }

    /// Merged entries come first, own entries take precedence.
    fn finish(mut self) -> Mapping {
        if self.merged.is_empty() {
            return self.own;
        }
        let mut entries = self.merged_values();
        for (key, node) in std::mem::take(&mut self.own) {
            entries.put(key, node);
        }
        entries
    }

    /// The values that PyYAML up to 6.0.3 merges: those of the first source in a list, and of the
    /// last `<<`.
    fn merged_values(&self) -> Mapping {
        let mut values = Mapping::new();
        for (key, node) in self.merged.iter().flat_map(|source| source.mapping.iter()) {
            values.put(key.clone(), node.clone());
        }
        values
    }

    /// The first merged key whose value depends on the version of PyYAML: since 6.0.4, the last
    /// source takes precedence, but a key whose Python string is an object seen before is skipped.
    fn ambiguous_merge(&self, overridden: &OverriddenKeys) -> Option<YamlProblem> {
        if self.merged.len() < 2 {
            return None;
        }
        let mut later = Mapping::new();
        let mut seen = HashSet::new();
        for sources in self.merged.chunk_by(|left, right| left.key == right.key) {
            for source in sources.iter().rev() {
                for (key, node) in source.mapping.iter() {
                    let is_shared = is_shared_string(key) && later.get(key).is_some();
                    if seen.insert(key.span) && !is_shared {
                        later.put(key.clone(), node.clone());
                    }
                }
                seen.extend(overridden.get(&source.at).into_iter().flatten());
            }
        }
        let last = self.merged.last().expect("there are two sources");
        self.merged_values().iter().find_map(|(key, node)| {
            let (other_key, other) = later.get_entry(key)?;
            let kind = YamlProblemKind::AmbiguousMerge {
                used: key.span,
                other: other_key.span,
            };
            let differs = node != other && self.own.get(key).is_none();
            differs.then_some(YamlProblem {
                span: last.key,
                kind,
            })
        })
    }

    /// Keys of the sources that do not appear in the result, because others override them.
    fn overridden_keys(&self, overridden: &OverriddenKeys) -> Vec<Span> {
        let values = self.merged_values();
        let is_overridden = |key: &Key| {
            let used = self.own.get_entry(key).or_else(|| values.get_entry(key));
            used.is_some_and(|(used, _)| used.span != key.span)
        };
        let keys = self.merged.iter().flat_map(|source| source.mapping.keys());
        let of_sources = self
            .merged
            .iter()
            .filter_map(|source| overridden.get(&source.at));
        let mut found: Vec<Span> = keys
            .filter(|key| is_overridden(key))
            .map(|key| key.span)
            .chain(of_sources.flatten().copied())
            .collect();
        found.sort_unstable();
        found.dedup();
        found.truncate(MAX_OVERRIDDEN_KEYS);
        found
    }
}

/// Whether Python has one object for all strings of this text.
fn is_shared_string(key: &Key) -> bool {
    match &key.value {
        Value::String(text) => text.chars().count() <= 1 && text.chars().all(|it| it <= '\u{ff}'),
        Value::Int(digit) => (0..=9).contains(digit),
        _ => false,
    }
}

/// Mapping merged by a value of `<<`; the composer treats a set as a mapping.
fn merge_source(value: &Value) -> Option<Arc<Mapping>> {
    match value {
        Value::Mapping(mapping) => Some(Arc::clone(mapping)),
        Value::Set(keys) => {
            let entries = keys
                .iter()
                .map(|key| (key.clone(), Node::new(Value::Null, key.span)));
            Some(Arc::new(entries.collect()))
        }
        _ => None,
    }
}

/// End of the last `...` between two documents, if any. libyaml skips it after a document, but not
/// before the first one.
fn end_of_document_marker(text: &str, gap: Range<usize>) -> Option<usize> {
    const END: &str = "...";
    let ends = text[gap.clone()]
        .rmatch_indices(END)
        .map(|(at, _)| gap.start + at);
    ends.into_iter()
        .find(|at| *at == 0 || text[..*at].ends_with(['\n', '\r']))
        .map(|at| at + END.len())
}

/// Whether a flow collection has a multi-line key, or a colon or question mark that is text in one
/// parser and an indicator in the other.
fn is_odd_flow(text: &str) -> bool {
    text.contains(['\n', '\r'])
        || text.as_bytes().windows(3).any(|around| {
            let begins = b" ,[{:".contains(&around[0]);
            match around[1] {
                b':' => begins || b",?[]{}".contains(&around[2]),
                b'?' => begins,
                _ => false,
            }
        })
}

fn meaning(tag: Option<&Tag>) -> TagMeaning<'_> {
    let Some(tag) = tag else {
        return TagMeaning::Untagged;
    };
    if matches!(tag.parts(), ("", "!") | ("!", "")) {
        return TagMeaning::Plain;
    }
    let Some(name) = tag.suffix_in_namespace("tag:yaml.org,2002:") else {
        return TagMeaning::Unknown(tag);
    };
    match name.as_ref() {
        "null" => TagMeaning::Scalar(ScalarTag::Null),
        "bool" => TagMeaning::Scalar(ScalarTag::Bool),
        "int" => TagMeaning::Scalar(ScalarTag::Int),
        "float" => TagMeaning::Scalar(ScalarTag::Float),
        "binary" => TagMeaning::Scalar(ScalarTag::Binary),
        "timestamp" => TagMeaning::Scalar(ScalarTag::Timestamp),
        "str" => TagMeaning::Scalar(ScalarTag::String),
        "seq" => TagMeaning::Sequence,
        "map" => TagMeaning::Mapping,
        "set" => TagMeaning::Set,
        "omap" | "pairs" => TagMeaning::Pairs,
        "merge" => TagMeaning::Merge,
        "value" => TagMeaning::Default,
        _ => TagMeaning::Unknown(tag),
    }
}
