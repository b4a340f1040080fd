//! Splitting of a MIME message into its texts.
//!
//! The bounds of headers and parts follow Python's `email.feedparser`, which cloud-init uses, line
//! by line, since they decide the contents of a broken message. Nothing is decoded or moved here:
//! each leaf keeps its span.

use std::ops::Range;
use std::sync::Arc;

use super::parameter::parameter;
use super::sniff::{PLAIN, is_space};
use crate::source::{FileId, Span, Spanned, offset};
use crate::system::cloud_init::part::{
    Carrier, ContainerFault, Header, PartFault, PartFaultKind, PartLimit,
};

/// Contents of a message.
pub(super) struct MimeMessage {
    /// Texts in order, without containers.
    pub(super) leaves: Vec<Leaf>,
    /// Indices of the texts of each message inside of the message, outer messages first.
    pub(super) inner: Vec<Range<usize>>,
    /// Faults of the containers.
    pub(super) faults: Vec<PartFault>,
}

/// A text in a message.
pub(super) struct Leaf {
    /// Headers in order.
    pub(super) headers: Vec<Header>,
    /// Content type, in lower case and without parameters.
    pub(super) content_type: String,
    /// Span of the body.
    pub(super) body: Span,
}

/// Whether cloud-init treats these bytes as a message (`user_data.py`, `convert_string`).
pub(super) fn is_message(bytes: &[u8]) -> bool {
    const MAX_SEARCHED_BYTES: usize = 4096;
    const MARKER: &[u8] = b"mime-version:";
    let beginning = &bytes[..bytes.len().min(MAX_SEARCHED_BYTES)];
    beginning
        .windows(MARKER.len())
        .any(|part| part.eq_ignore_ascii_case(MARKER))
}

/// Whether a text begins with message headers, including one about its content, or with a
/// misspelled version header.
pub(super) fn begins_with_headers(text: &str) -> bool {
    const VERSION: &str = "mime-version";
    let is_version = |text: &str| {
        text.get(..VERSION.len())
            .is_some_and(|it| it.eq_ignore_ascii_case(VERSION))
    };
    let headers = text.lines().take_while(|line| header_line(line).is_some());
    is_version(text) || headers.take(MAX_HEADERS).any(is_content_header)
}

/// The boundary at the start of a text, if part headers follow it.
pub(super) fn boundary_before_headers(text: &str) -> Option<&str> {
    let mut lines = text.lines();
    let boundary = lines.next()?.strip_prefix("--")?.trim_end();
    let is_followed = lines
        .find(|line| !line.trim().is_empty())
        .is_some_and(is_content_header);
    (is_followed && !boundary.is_empty()).then_some(boundary)
}

/// Maximum number of headers searched for one about the content.
const MAX_HEADERS: usize = 100;

fn is_content_header(line: &str) -> bool {
    const NAMES: [&str; 4] = [
        "content-type",
        "content-transfer-encoding",
        "content-disposition",
        "mime-version",
    ];
    let name = line
        .split(':')
        .next()
        .filter(|name| name.len() < line.len());
    name.is_some_and(|name| NAMES.iter().any(|it| it.eq_ignore_ascii_case(name)))
}

/// Reads `text`, the text of `file`, as a message.
///
/// # Errors
/// A fault if a limit is exceeded.
pub(super) fn message(file: FileId, text: &str) -> Result<MimeMessage, PartFault> {
    let message = MimeMessage {
        leaves: Vec::new(),
        inner: Vec::new(),
        faults: Vec::new(),
    };
    let has_returns = text.contains('\r');
    let at = 0;
    let separators = Vec::new();
    let nesting = 0;
    let mut parser = MimeParser {
        file,
        text,
        has_returns,
        at,
        separators,
        nesting,
        message,
    };
    parser.entity(PLAIN)?;
    Ok(parser.message)
}

/// Value of the first header with this name, given in lower case.
pub(super) fn value<'a>(headers: &'a [Header], name: &str) -> Option<&'a Spanned<Arc<str>>> {
    headers
        .iter()
        .find(|it| it.name.value.eq_ignore_ascii_case(name))
        .map(|it| &it.value)
}

/// Content type without parameters, in lower case; `text/plain` if it is invalid
/// (`Message.get_content_type`).
pub(super) fn without_parameters(content_type: &str) -> String {
    let name = content_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_lowercase();
    if name.matches('/').count() == 1 {
        name
    } else {
        PLAIN.to_owned()
    }
}

/// Whether an entity of this type is another message. Delivery reports, which consist of several
/// blocks of headers, contain nothing to merge.
fn is_message_type(content_type: &str) -> bool {
    content_type.starts_with("message/") && content_type != "message/delivery-status"
}

struct MimeParser<'text> {
    file: FileId,
    text: &'text str,
    /// Whether lines may end with a carriage return; searching for one kind of line break is much
    /// faster.
    has_returns: bool,
    /// Start of the next line.
    at: usize,
    /// Separators of the enclosing containers; each ends everything inside its container.
    separators: Vec<String>,
    /// Number of enclosing messages.
    nesting: usize,
    message: MimeMessage,
}

/// Kind of an entity.
#[derive(PartialEq)]
enum Entity {
    Leaf,
    Container,
}

/// Kind of a separator line in a container.
enum Separator {
    Between,
    End,
}

impl MimeParser<'_> {
    /// Reads a message or part: headers, and the rest up to its end.
    fn entity(&mut self, default: &str) -> Result<Entity, PartFault> {
        let headers = self.headers();
        let declared = value(&headers, "content-type");
        let content_type =
            declared.map_or_else(|| default.to_owned(), |it| without_parameters(&it.value));
        if content_type.starts_with("multipart/") {
            self.container(&headers, &content_type)?;
            return Ok(Entity::Container);
        }
        if is_message_type(&content_type) {
            return self.inner_message(&headers);
        }
        let start = self.at;
        self.skip_to_end();
        let body = self.span(start..self.at);
        if self.message.leaves.len() >= PartLimit::PARTS {
            return Err(PartFault {
                at: body,
                kind: PartFaultKind::OverLimit(PartLimit::Parts),
            });
        }
        self.message.leaves.push(Leaf {
            headers,
            content_type,
            body,
        });
        Ok(Entity::Leaf)
    }

    /// Reads a message inside a message, after the outer headers; cloud-init expands it.
    fn inner_message(&mut self, headers: &[Header]) -> Result<Entity, PartFault> {
        self.report_ignored_headers(headers);
        if self.nesting >= PartLimit::NESTING {
            let at = self.span(self.at..self.at);
            return Err(PartFault {
                at,
                kind: PartFaultKind::OverLimit(PartLimit::Nesting),
            });
        }
        self.nesting += 1;
        let index = self.message.inner.len();
        let first = self.message.leaves.len();
        self.message.inner.push(first..first);
        let entity = self.entity(PLAIN)?;
        self.message.inner[index].end = self.message.leaves.len();
        self.nesting -= 1;
        Ok(entity)
    }

    /// Reads a `multipart/*` entity after its headers, with all its parts.
    fn container(&mut self, headers: &[Header], content_type: &str) -> Result<(), PartFault> {
        self.report_ignored_headers(headers);
        let declared = value(headers, "content-type");
        let at = declared.map_or_else(|| self.span(self.at..self.at), |it| it.span);
        let Some(boundary) = declared.and_then(|it| boundary(&it.value)) else {
            self.fault(at, ContainerFault::NoBoundary);
            self.skip_to_end();
            return Ok(());
        };
        if self.separators.len() >= PartLimit::NESTING {
            return Err(PartFault {
                at,
                kind: PartFaultKind::OverLimit(PartLimit::Nesting),
            });
        }
        let separator = format!("--{boundary}");
        if !self.skip_preamble(&separator) {
            self.fault(at, ContainerFault::NoParts);
            self.skip_to_end();
            return Ok(());
        }
        let default = if content_type == "multipart/digest" {
            "message/rfc822"
        } else {
            PLAIN
        };
        if !self.parts(&separator, default)? {
            self.fault(at, PartFaultKind::NoEndBoundary);
        }
        self.skip_to_end();
        Ok(())
    }

    /// Reads the parts of a container from its first separator on; returns whether the closing
    /// separator was found.
    fn parts(&mut self, separator: &str, default: &str) -> Result<bool, PartFault> {
        while let Some(line) = self.next_line() {
            if let Some(Separator::End) = separator_at(&self.text[line.clone()], separator) {
                self.at = line.end;
                return Ok(true);
            }
            // Consecutive separators do not delimit a part, even if the second is the closing one.
            while let Some(line) = self.next_line()
                && separator_at(&self.text[line.clone()], separator).is_some()
            {
                self.at = line.end;
            }
            self.separators.push(separator.to_owned());
            let entity = self.entity(default)?;
            self.separators.pop();
            if entity == Entity::Leaf {
                self.take_line_break();
            }
        }
        Ok(false)
    }

    /// Removes the line break before a separator, which belongs to the separator.
    fn take_line_break(&mut self) {
        let Some(leaf) = self.message.leaves.last_mut() else {
            return;
        };
        let body = &self.text[leaf.body.range()];
        let kept = body
            .strip_suffix("\r\n")
            .or_else(|| body.strip_suffix(['\r', '\n']));
        leaf.body.end = leaf.body.start + offset(kept.unwrap_or(body).len());
    }

    /// Skips to the first separator; returns whether there is one that starts a part.
    fn skip_preamble(&mut self, separator: &str) -> bool {
        while let Some(line) = self.next_line() {
            match separator_at(&self.text[line.clone()], separator) {
                Some(Separator::Between) => return true,
                Some(Separator::End) => return false,
                None => self.at = line.end,
            }
        }
        false
    }

    fn skip_to_end(&mut self) {
        while let Some(line) = self.next_line() {
            self.at = line.end;
        }
    }

    /// The next line with its line break; `None` at the end of the text or of an enclosing
    /// container.
    fn next_line(&self) -> Option<Range<usize>> {
        let rest = &self.text[self.at..];
        let found = if self.has_returns {
            rest.find(['\r', '\n'])
        } else {
            rest.find('\n')
        };
        let length = match found {
            Some(at) if rest[at..].starts_with("\r\n") => at + 2,
            Some(at) => at + 1,
            None if rest.is_empty() => return None,
            None => rest.len(),
        };
        self.unless_separator(self.at..self.at + length)
    }

    fn unless_separator(&self, line: Range<usize>) -> Option<Range<usize>> {
        let text = &self.text[line.clone()];
        (!text.starts_with("--")
            || !self
                .separators
                .iter()
                .any(|separator| separator_at(text, separator).is_some()))
        .then_some(line)
    }

    fn report_ignored_headers(&mut self, headers: &[Header]) {
        for header in headers {
            if super::is_merge_header(&header.name.value) {
                self.fault(
                    header.name.span,
                    PartFaultKind::IgnoredHeader(Carrier::Multipart),
                );
            }
        }
    }

    fn fault(&mut self, at: Span, kind: impl Into<PartFaultKind>) {
        self.message.faults.push(PartFault {
            at,
            kind: kind.into(),
        });
    }

    fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.file, offset(range.start), offset(range.end))
    }
}

impl MimeParser<'_> {
    /// Reads the headers, and the blank line after them if there is one.
    fn headers(&mut self) -> Vec<Header> {
        let mut headers: Vec<Range<usize>> = Vec::new();
        let mut number = 0;
        let mut is_open = false;
        while let Some(line) = self.next_line() {
            let text = &self.text[line.clone()];
            match header_line(text) {
                Some(HeaderLine::Continued) => {
                    if is_open && let Some(last) = headers.last_mut() {
                        last.end = line.end;
                    }
                }
                Some(HeaderLine::Named) => {
                    headers.push(line.clone());
                    is_open = true;
                }
                // An envelope line before or between headers is dropped; after them it starts the
                // body. (Python then drops the blank line that follows, which would split the body;
                // such a text is unusable anyway.)
                Some(HeaderLine::Envelope) => {
                    if number > 0 && !self.is_header_after(line.end) {
                        break;
                    }
                    is_open = false;
                }
                Some(HeaderLine::Nameless) => is_open = false,
                None if text.starts_with(['\r', '\n']) => {
                    self.at = line.end;
                    break;
                }
                None => break,
            }
            self.at = line.end;
            number += 1;
        }
        headers
            .into_iter()
            .map(|lines| self.header(lines))
            .collect()
    }

    fn is_header_after(&self, at: usize) -> bool {
        let next = MimeParser {
            file: self.file,
            text: self.text,
            has_returns: self.has_returns,
            at,
            separators: self.separators.clone(),
            nesting: self.nesting,
            message: MimeMessage {
                leaves: Vec::new(),
                inner: Vec::new(),
                faults: Vec::new(),
            },
        };
        next.next_line()
            .is_some_and(|line| header_line(&self.text[line]).is_some())
    }

    /// A header from its line and continuation lines (`Compat32.header_source_parse`).
    fn header(&self, lines: Range<usize>) -> Header {
        let text = &self.text[lines.clone()];
        let colon = text.find(':').expect("a header line has a colon");
        let behind = &text[colon + 1..];
        let start = text.len() - behind.trim_start_matches([' ', '\t']).len();
        let end = start.max(text.trim_end_matches(['\r', '\n']).len());
        let spanned = |part: Range<usize>| {
            let span = self.span(lines.start + part.start..lines.start + part.end);
            Spanned::new(text[part].into(), span)
        };
        Header {
            name: spanned(0..colon),
            value: spanned(start..end),
        }
    }
}

enum HeaderLine {
    Named,
    Continued,
    /// `From `, as in mailboxes.
    Envelope,
    /// A colon without a name, which is dropped.
    Nameless,
}

/// Kind of a header line; `None` for other lines (`headerRE`).
fn header_line(line: &str) -> Option<HeaderLine> {
    if line.starts_with([' ', '\t']) {
        return Some(HeaderLine::Continued);
    }
    if line.starts_with("From ") {
        return Some(HeaderLine::Envelope);
    }
    let name = &line[..line.find(':')?];
    let is_name = name.bytes().all(|byte| byte.is_ascii_graphic());
    match name {
        "" => Some(HeaderLine::Nameless),
        _ => is_name.then_some(HeaderLine::Named),
    }
}

/// Kind of separator on a line, if it is one.
fn separator_at(line: &str, separator: &str) -> Option<Separator> {
    let rest = line.strip_prefix(separator)?;
    let is_blank = |rest: &str| rest.trim_matches([' ', '\t', '\r', '\n']).is_empty();
    match rest.strip_prefix("--") {
        Some(rest) if is_blank(rest) => Some(Separator::End),
        _ => is_blank(rest).then_some(Separator::Between),
    }
}

/// Boundary declared by a content type (`Message.get_boundary`).
fn boundary(content_type: &str) -> Option<String> {
    let boundary = parameter(content_type, "boundary")?;
    Some(boundary.trim_end_matches(is_space).to_owned())
}
