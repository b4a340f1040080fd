//! Events of libyaml, for text that granit-parser may read differently.
//!
//! granit-parser implements YAML 1.2; Deckhand and Pegleg use libyaml, which differs in comments,
//! indicators, line breaks and indentation. A port of libyaml reads each text that granit-parser
//! refuses or marks as odd, or that contains [odd characters](has_odd_characters). Its events are
//! converted to those of granit-parser, so documents are built in the same way. granit-parser reads
//! all other text, because it reports comments and describes errors better.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{BufReader, Chain, Read};
use std::ops::Range;

use granit_parser::{Event, Marker, Placement, ScalarStyle, Span as Marks, StructureStyle, Tag};
use layercake_source::{FileId, Span, offset};
use libyaml_safer::{Encoding, EventData, MappingStyle, Parser, SequenceStyle};

use super::{InvalidYaml, Parsed, YamlLimit, YamlProblem, YamlProblemKind};

/// A document that libyaml refuses.
pub(super) struct RefusedDocument {
    /// Text up to the next document.
    pub(crate) range: Range<usize>,
    pub(crate) at: usize,
    pub(crate) message: &'static str,
}

/// Adds the problems of refused documents to `parsed`: those of granit-parser, if it refuses a
/// document too. Adds the documents that `passes` accepts by the reason of the refusal.
pub(super) fn add_refused(
    parsed: &mut Parsed,
    granit: Parsed,
    refused: &[RefusedDocument],
    file: FileId,
    base: u32,
    text: &str,
    passes: fn(&str) -> bool,
) {
    let index_of = |span: Span| {
        let at = (span.start - base) as usize;
        let index = refused.partition_point(|it| it.range.end <= at);
        refused
            .get(index)
            .filter(|it| it.range.contains(&at))
            .map(|_| index)
    };
    let read: HashSet<usize> = granit
        .documents
        .iter()
        .filter_map(|it| index_of(it.span))
        .collect();
    let is_accepted: Vec<bool> = refused
        .iter()
        .enumerate()
        .map(|(index, refusal)| {
            passes(refusal.message) || read.contains(&index) && may_have_long_key(refusal, text)
        })
        .collect();
    parsed
        .comments
        .retain(|comment| index_of(comment.span).is_none());
    parsed
        .problems
        .retain(|problem| index_of(problem.span).is_none());
    let mut is_described = is_accepted.clone();
    for problem in granit.problems {
        let is_syntax = matches!(
            problem.kind,
            YamlProblemKind::Invalid(InvalidYaml::Syntax(_))
                | YamlProblemKind::OverLimit(YamlLimit::Depth)
        );
        if let Some(index) = index_of(problem.span)
            && (is_syntax || is_accepted[index])
        {
            is_described[index] = true;
            parsed.problems.push(problem);
        }
    }
    for (refusal, _) in refused
        .iter()
        .zip(is_described)
        .filter(|(_, described)| !described)
    {
        parsed.problems.push(YamlProblem {
            span: Span::point(file, base + offset(refusal.at)),
            kind: YamlProblemKind::Invalid(InvalidYaml::RefusedByLibyaml(
                refusal.message.to_owned(),
            )),
        });
    }
    let comments = granit.comments.into_iter();
    parsed
        .comments
        .extend(comments.filter(|it| index_of(it.span).is_some()));
    let documents = granit.documents.into_iter();
    let accepted = documents.filter(|it| index_of(it.span).is_some_and(|index| is_accepted[index]));
    parsed.documents.extend(accepted);
    parsed.comments.sort_by_key(|it| it.span);
    parsed.problems.sort_by_key(|it| it.span);
    parsed.documents.sort_by_key(|it| it.span);
}

/// Whether a key may be too long only for the port of libyaml, which counts bytes instead of
/// characters.
fn may_have_long_key(refusal: &RefusedDocument, text: &str) -> bool {
    const MAX_KEY: usize = 1024;
    const REASONS: [&str; 2] = [
        "mapping values are not allowed in this context",
        "could not find expected ':'",
    ];
    let document = &text[refusal.range.start..refusal.range.end.min(text.len())];
    REASONS.contains(&refusal.message)
        && document
            .lines()
            .any(|line| line.len() > MAX_KEY && !line.is_ascii())
}

type Item = Result<(Event<'static>, Marks), RefusedDocument>;

/// Events of libyaml for a text. After an error, it continues with the next document.
pub(super) struct LibyamlEvents<'text> {
    text: &'text str,
    /// Offset at which the current parser began.
    base: usize,
    /// End of the text of the current parser.
    end: usize,
    /// Place and reason of the refusal of the document at `end`, if it is not the end of the text.
    stop: Option<(usize, &'static str)>,
    /// Next control character, or the end of the text.
    control: usize,
    parser: Parser<BufReader<Chain<&'text [u8], &'static [u8]>>>,
    anchors: HashMap<String, usize>,
    last_anchor: usize,
    /// For each open collection, whether it has brackets.
    brackets: Vec<bool>,
    /// End of the last document, or start of the text of the parser.
    document: usize,
    /// End of the last token.
    reached: usize,
    /// Events of one document.
    pending: VecDeque<(Event<'static>, Marks)>,
    /// Refused document after the pending events.
    refusal: Option<RefusedDocument>,
    is_finished: bool,
}

/// Size of the buffer of a parser: small, because each parser reads all of it ahead.
const BUFFER_BYTES: usize = 512;

impl<'text> LibyamlEvents<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        let mut events = Self {
            text,
            base: 0,
            end: 0,
            stop: None,
            control: text.find(is_control).unwrap_or(text.len()),
            parser: Parser::new(),
            anchors: HashMap::new(),
            last_anchor: 0,
            brackets: Vec::new(),
            document: 0,
            reached: 0,
            pending: VecDeque::new(),
            refusal: None,
            is_finished: false,
        };
        events.start_parser(0);
        events
    }

    /// Starts a parser at byte `base`, the start of a document.
    fn start_parser(&mut self, base: usize) {
        if self.control < base {
            let found = self.text[base..].find(is_control);
            self.control = found.map_or(self.text.len(), |at| base + at);
        }
        if self.control < self.text.len() {
            // libyaml refuses the whole text, because it reads ahead of the parser.
            let end = base + last_document(&self.text[base..self.control]);
            self.stop = Some((self.control, "control characters are not allowed"));
            self.start_parser_until(base, end);
        } else {
            self.stop = None;
            self.start_parser_until(base, self.text.len());
        }
    }

    fn start_parser_until(&mut self, base: usize, end: usize) {
        self.base = base;
        self.end = end;
        self.document = base;
        self.reached = base;
        self.brackets.clear();
        let text = &self.text[base..end];
        // The port of libyaml panics without a line break after a block scalar.
        let added = if text.ends_with(is_break) { "" } else { "\n" };
        let input = text.as_bytes().chain(added.as_bytes());
        self.parser = Parser::new();
        self.parser
            .set_input(BufReader::with_capacity(BUFFER_BYTES, input));
        self.parser.set_encoding(Encoding::Utf8);
    }

    /// Skips the rest of the document, which is refused at byte `at`.
    fn refuse(&mut self, at: usize, message: &'static str) {
        let start = self.document;
        let end = match next_document(self.text, at).filter(|next| *next > self.base) {
            Some(next) => {
                self.start_parser(next);
                next
            }
            None => {
                self.is_finished = true;
                self.text.len() + 1
            }
        };
        self.refusal = Some(RefusedDocument {
            range: start..end,
            at,
            message,
        });
    }

    /// Reads the next document, or a part of the text without one.
    fn read_document(&mut self) {
        loop {
            match self.parser.parse() {
                Ok(event) => {
                    let is_end = matches!(event.data, EventData::DocumentEnd { .. });
                    let is_last = matches!(event.data, EventData::StreamEnd);
                    self.event(event);
                    if is_last {
                        self.document = self.end;
                        match self.stop.take() {
                            Some((at, message)) => self.refuse(at, message),
                            None => self.is_finished = true,
                        }
                    }
                    // The reader reports the depth.
                    if self.brackets.len() > YamlLimit::DEPTH + 1 {
                        self.refuse(self.reached, "");
                        self.refusal = None;
                        return;
                    }
                    if is_end || is_last {
                        return;
                    }
                }
                Err(error) => {
                    let mark = error.problem_mark().or_else(|| error.context_mark());
                    let at = mark.map_or(self.reached, |mark| self.at(mark));
                    self.pending.clear();
                    // granit-parser and readers see a document here, too.
                    match marked_document(&self.text[..self.end], self.document..at) {
                        Some(marked) => {
                            let message = "did not find expected <document start>";
                            self.stop = Some((marked, message));
                            self.start_parser_until(self.document, marked);
                        }
                        None => self.refuse(at, error.problem()),
                    }
                    return;
                }
            }
        }
    }

    /// Queues the comments between the last token and byte `end`.
    fn comments(&mut self, end: usize) {
        while let Some(comment) = comment(self.text, self.reached..end) {
            self.reached = comment.end;
            let text = self.text[comment.start + 1..comment.end].to_owned();
            self.queue(Event::Comment(text.into(), Placement::Above), comment);
        }
        self.reached = self.reached.max(end);
    }

    fn queue(&mut self, event: Event<'static>, range: Range<usize>) {
        self.pending.push_back((event, marks(range)));
    }

    /// Queues a node, with its anchor as a separate event, like granit-parser.
    fn queue_node(
        &mut self,
        properties: &Properties,
        range: Range<usize>,
        event: impl FnOnce(usize, Option<Cow<'static, Tag>>) -> Event<'static>,
    ) {
        let anchor = properties.anchor.clone().map(|anchor| {
            self.last_anchor += 1;
            let name = self.text[anchor.start + 1..anchor.end].to_owned();
            self.anchors.insert(name.clone(), self.last_anchor);
            (Event::Anchor(self.last_anchor, name.into()), anchor)
        });
        let id = if anchor.is_some() {
            self.last_anchor
        } else {
            0
        };
        let (tag, tag_range) = properties.tag.clone().unzip();
        let tag_marks = tag_range.map(|range| {
            (
                marker(range.start),
                u32::try_from(range.len()).expect("tags are short"),
            )
        });
        let event = event(id, tag.map(Cow::Owned));
        self.pending
            .push_back((event, marks(range).with_tag_span(tag_marks)));
        if let Some((event, range)) = anchor {
            self.queue(event, range);
        }
    }

    fn at(&self, mark: libyaml_safer::Mark) -> usize {
        self.end
            .min(self.base + usize::try_from(mark.index).expect("offsets fit in memory"))
    }

    /// Removes the line break that [`Self::start_parser`] adds from a block scalar.
    fn remove_added_break(&self, header: &str, value: &mut String) {
        let line = self.text[..self.end]
            .rsplit(is_break)
            .next()
            .unwrap_or_default();
        let is_blank = |line: &str| line.trim_matches(' ').is_empty();
        let last = value
            .strip_suffix('\n')
            .and_then(|value| value.rsplit('\n').next());
        // Blanks beyond the indentation are content.
        let is_content = !is_blank(line) || last.is_some_and(|it| !it.is_empty() && is_blank(it));
        let keeps = header.bytes().take(3).any(|byte| byte == b'+');
        if (is_content || keeps) && value.ends_with('\n') {
            value.pop();
        }
    }

    fn event(&mut self, event: libyaml_safer::Event) {
        let start = self.at(event.start_mark);
        let end = self.at(event.end_mark);
        let reaches_added_break =
            usize::try_from(event.end_mark.index).is_ok_and(|length| self.base + length > self.end);
        self.comments(start);
        match event.data {
            EventData::StreamStart { .. } => {}
            EventData::StreamEnd => {
                self.comments(self.end);
            }
            EventData::DocumentStart { implicit, .. } => {
                self.anchors.clear();
                // The directives precede `---`.
                let start = if implicit { start } else { end - 3 };
                self.comments(start);
                let end = if implicit { start } else { end };
                self.reached = end;
                self.queue(Event::DocumentStart(!implicit, None), start..end);
            }
            EventData::DocumentEnd { .. } => {
                self.reached = self.reached.max(end);
                self.document = end;
                self.queue(Event::DocumentEnd, start..end);
            }
            EventData::Alias { anchor } => {
                self.reached = end;
                let event = match self.anchors.get(&anchor) {
                    Some(id) => Event::Alias(*id),
                    None => Event::UnresolvedAlias(anchor.into()),
                };
                self.queue(event, start..end);
            }
            EventData::Scalar {
                tag,
                mut value,
                style,
                ..
            } => {
                let properties = self.properties(start..end, tag);
                self.comments(properties.end);
                let style = match style {
                    libyaml_safer::ScalarStyle::SingleQuoted => ScalarStyle::SingleQuoted,
                    libyaml_safer::ScalarStyle::DoubleQuoted => ScalarStyle::DoubleQuoted,
                    libyaml_safer::ScalarStyle::Literal => ScalarStyle::Literal,
                    libyaml_safer::ScalarStyle::Folded => ScalarStyle::Folded,
                    _ => ScalarStyle::Plain,
                };
                let mut content = properties.end..end;
                if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
                    let header = &self.text[content.clone()];
                    let header = &header[..header.find(is_break).unwrap_or(header.len())];
                    if reaches_added_break {
                        self.remove_added_break(header, &mut value);
                    }
                    // Like granit-parser, below the header.
                    content.start += header.len();
                    self.comments(content.start);
                }
                self.reached = self.reached.max(end);
                self.queue_node(&properties, content, |anchor, tag| {
                    Event::Scalar(value.into(), style, anchor, tag)
                });
            }
            EventData::SequenceStart { tag, style, .. } => {
                let is_flow = style == SequenceStyle::Flow;
                self.start_collection(start..end, tag, is_flow, |anchor, tag| {
                    Event::SequenceStart(StructureStyle::Block, anchor, tag)
                });
            }
            EventData::MappingStart { tag, style, .. } => {
                let is_flow = style == MappingStyle::Flow;
                self.start_collection(start..end, tag, is_flow, |anchor, tag| {
                    Event::MappingStart(StructureStyle::Block, anchor, tag)
                });
            }
            EventData::SequenceEnd => self.end_collection(start, Event::SequenceEnd),
            EventData::MappingEnd => self.end_collection(start, Event::MappingEnd),
        }
    }

    fn start_collection(
        &mut self,
        range: Range<usize>,
        tag: Option<String>,
        is_flow: bool,
        event: impl FnOnce(usize, Option<Cow<'static, Tag>>) -> Event<'static>,
    ) {
        let properties = self.properties(range.clone(), tag);
        let content = properties.end;
        self.comments(content);
        // A pair in a list has none, but an optional question mark.
        let has_brackets = is_flow && self.text[content..range.end].starts_with(['[', '{']);
        self.brackets.push(has_brackets);
        let end = content + usize::from(has_brackets);
        self.reached = self.reached.max(end);
        self.queue_node(&properties, content..end, event);
    }

    fn end_collection(&mut self, start: usize, event: Event<'static>) {
        let end = start + usize::from(self.brackets.pop().unwrap_or_default());
        self.reached = self.reached.max(end);
        self.queue(event, start..end);
    }

    /// Anchor and tag at the beginning of a node, in any order.
    fn properties(&self, range: Range<usize>, resolved: Option<String>) -> Properties {
        let mut properties = Properties {
            anchor: None,
            tag: None,
            end: range.start,
        };
        let mut at = range.start;
        let text = &self.text[..range.end];
        while let rest = &text[at..]
            && rest.starts_with(['&', '!'])
        {
            let end = at + property_length(rest);
            if rest.starts_with('&') {
                properties.anchor = Some(at..end);
            } else {
                // libyaml resolves `!` on a scalar itself.
                let resolved = resolved.as_deref().unwrap_or("!");
                let tag = Tag::with_original_handle(resolved, "", &text[at..end]);
                properties.tag = Some((tag, at..end));
            }
            at = next_token(text, end);
            properties.end = at;
        }
        properties
    }
}

impl Iterator for LibyamlEvents<'_> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(event) = self.pending.pop_front() {
                return Some(Ok(event));
            }
            if let Some(refusal) = self.refusal.take() {
                return Some(Err(refusal));
            }
            if self.is_finished {
                return None;
            }
            self.read_document();
        }
    }
}

struct Properties {
    anchor: Option<Range<usize>>,
    tag: Option<(Tag, Range<usize>)>,
    /// Start of the content.
    end: usize,
}

fn marker(at: usize) -> Marker {
    Marker::new(0, 0, 0).with_byte_offset(Some(at))
}

fn marks(range: Range<usize>) -> Marks {
    Marks::new(marker(range.start), marker(range.end))
}

/// Length of the anchor or tag that `text` begins with.
fn property_length(text: &str) -> usize {
    let length = if let Some(name) = text.strip_prefix('&') {
        name.find(|letter: char| {
            !(letter.is_ascii_alphanumeric() || letter == '-' || letter == '_')
        })
        .map(|length| length + 1)
    } else if text.starts_with("!<") {
        text.find('>').map(|length| length + 1)
    } else {
        text.find(|letter| is_white(letter) || letter == ',')
    };
    length.unwrap_or(text.len())
}

/// Offset of the next token at or after byte `at`: skips white space and comments.
fn next_token(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start_matches(is_white).len();
        if !text[at..].starts_with('#') {
            return at;
        }
        at += text[at..].find(is_break).unwrap_or(text.len() - at);
    }
}

/// First comment in a range between two tokens.
fn comment(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let mut lines = text
        .get(range.clone())?
        .match_indices('#')
        .map(|(at, _)| range.start + at);
    // A directive may contain the character, too.
    let start = lines.find(|at| {
        let line = text[..*at].rsplit(is_break).next().unwrap_or_default();
        !line.starts_with('%') || line.ends_with([' ', '\t'])
    })?;
    let length = text[start..].find(is_break).unwrap_or(text.len() - start);
    Some(start..start + length)
}

/// Start of the last document of a text.
fn last_document(text: &str) -> usize {
    text.rmatch_indices("---")
        .map(|(at, _)| at)
        .find(|at| is_document(text, *at))
        .unwrap_or(0)
}

/// Start of the next document at or after byte `at`.
fn next_document(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let mut found = rest.match_indices("---").map(|(length, _)| at + length);
    found.find(|next| is_document(text, *next))
}

/// First byte order mark before `---` in a range, at which libyaml does not start a document.
fn marked_document(text: &str, range: Range<usize>) -> Option<usize> {
    const MARKED: &str = "\u{feff}---";
    let end = text.len().min(range.end + MARKED.len());
    let mut found = text.get(range.start..end)?.match_indices(MARKED);
    found.find_map(|(length, _)| {
        Some(range.start + length).filter(|at| text[..*at].ends_with(is_break))
    })
}

fn is_document(text: &str, at: usize) -> bool {
    (at == 0 || text[..at].ends_with(is_break))
        && !text[at + 3..].starts_with(|next| !is_white(next))
}

fn is_white(character: char) -> bool {
    matches!(character, ' ' | '\t') || is_break(character)
}

fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether libyaml refuses a character anywhere.
fn is_control(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' | '\u{85}' => false,
        '\0'..'\u{20}' | '\u{7f}'..'\u{a0}' | '\u{fffe}' | '\u{ffff}' => true,
        _ => false,
    }
}

/// A text with a blank after each tag that a comma follows: the port of libyaml panics there.
pub(super) struct SpacedText<'text> {
    pub(crate) text: Cow<'text, str>,
    /// Offsets of the blanks.
    blanks: Vec<usize>,
}

impl<'text> SpacedText<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        let commas: Vec<usize> = commas_after_tags(text).collect();
        if commas.is_empty() {
            return Self {
                text: text.into(),
                blanks: Vec::new(),
            };
        }
        // A blank inside of a scalar changes its value, but no other event.
        let spaced = Self::with_blanks(text, &commas);
        let scalars: Vec<Range<usize>> = LibyamlEvents::new(&spaced.text)
            .filter_map(Result::ok)
            .filter(|(event, _)| matches!(event, Event::Scalar(..)))
            .filter_map(|(_, marks)| marks.byte_range())
            .collect();
        let after_tags: Vec<usize> = commas
            .into_iter()
            .zip(&spaced.blanks)
            .filter(|(_, blank)| !scalars.iter().any(|range| range.contains(*blank)))
            .map(|(comma, _)| comma)
            .collect();
        Self::with_blanks(text, &after_tags)
    }

    fn with_blanks(text: &'text str, commas: &[usize]) -> Self {
        let mut spaced = String::with_capacity(text.len() + commas.len());
        let mut blanks = Vec::new();
        let mut copied = 0;
        for comma in commas {
            spaced.push_str(&text[copied..*comma]);
            blanks.push(spaced.len());
            spaced.push(' ');
            copied = *comma;
        }
        spaced.push_str(&text[copied..]);
        Self {
            text: spaced.into(),
            blanks,
        }
    }

    /// Offset in the original text.
    pub(super) fn original(&self, at: usize) -> usize {
        at - self.blanks.partition_point(|blank| *blank < at)
    }
}

fn commas_after_tags(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices('!').filter_map(|(at, _)| {
        let is_in_word = text[..at].ends_with(|before: char| before.is_ascii_alphanumeric());
        let end = at + property_length(&text[at..]);
        (!is_in_word && !text[..at].ends_with('!') && text[end..].starts_with(',')).then_some(end)
    })
}

/// Whether there are characters that libyaml rejects, or that only one of the parsers treats as
/// white space or as a directive.
pub(super) fn has_odd_characters(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut words = bytes.chunks_exact(8).enumerate();
    let is_odd =
        |from: usize| (from..bytes.len().min(from + 8)).any(|at| is_odd_character(bytes, at));
    let in_words = words.any(|(number, word)| {
        let word = u64::from_le_bytes(word.try_into().expect("a chunk has 8 bytes"));
        may_have_odd_character(word) && is_odd(number * 8)
    });
    in_words || is_odd(bytes.len() / 8 * 8)
}

/// Whether a byte is above ASCII, a control character other than `\n`, or `%`. Tests eight bytes at
/// once by their high bits, because released programs are not vectorized.
fn may_have_odd_character(word: u64) -> bool {
    const EACH: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = EACH * 0x80;
    /// High bit of each byte that is zero or above ASCII, without a carry into the next byte.
    fn zeros(word: u64) -> u64 {
        !((word & !HIGH) + !HIGH) & HIGH
    }
    let is_below_space = !((word & !HIGH) + EACH * 0x60) & HIGH;
    let is_control = is_below_space & !zeros(word ^ (EACH * 0x0A));
    (word & HIGH | is_control | zeros(word ^ (EACH * 0x25)) | zeros(word ^ (EACH * 0x7F))) != 0
}

fn is_odd_character(bytes: &[u8], at: usize) -> bool {
    match bytes[at] {
        b'\n' | b'\r' => false,
        0..=0x1F | 0x7F => true,
        b'%' => at == 0 || matches!(bytes[at - 1], b'\n' | b'\r'),
        // Control characters.
        0xC2 => bytes[at + 1] < 0xA0,
        // U+2028 and U+2029, line breaks in YAML 1.1.
        0xE2 => matches!(bytes[at + 1..], [0x80, 0xA8 | 0xA9, ..]),
        // Byte order mark, U+FFFE and U+FFFF.
        0xEF => matches!(bytes[at + 1..], [0xBB, 0xBF, ..] | [0xBF, 0xBE | 0xBF, ..]),
        _ => false,
    }
}
