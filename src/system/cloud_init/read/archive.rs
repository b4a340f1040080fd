//! `#cloud-config-archive`: a list of parts in YAML (`user_data.py`,
//! `_explode_archive`).

use std::sync::Arc;

use super::sniff::{self, CLOUD_CONFIG, OCTET_STREAM};
use super::{UnreadPart, UserDataReader, content, mime};
use crate::source::{Span, Spanned};
use crate::system::cloud_init::part::{
    Carrier, ContainerFault, ContentFault, FILE_NAME, Header, LAUNCH_INDEX, PartFault,
    PartFaultKind,
};
use crate::yaml::emit::scalar_text;
use crate::yaml::{Mapping, Node, Value};

/// Keys of an entry that do not become headers, in lower case.
const NO_HEADERS: &[&str] = &[
    "content",
    "filename",
    "type",
    "launch-index",
    "content-disposition",
    "number-attachments",
    "content-type",
];

impl UserDataReader<'_> {
    /// Extracts the parts of an archive, which are not expanded further.
    ///
    /// # Errors
    /// A fault that makes cloud-init discard all user-data.
    pub(super) fn archive(&mut self, piece: UnreadPart) -> Result<(), PartFault> {
        let name = piece.name.clone();
        let (text, at) = self.carried(piece, Carrier::Archive);
        let read = content::single(self.sources, text, at);
        self.read.problems.extend(read.problems);
        self.read.comments.extend(read.comments);
        self.read.faults.extend(read.fault);
        let Some(root) = read.root else { return Ok(()) };
        let Some(entries) = entries(&root) else {
            self.fault(at, ContainerFault::NotAList(root.value.kind()));
            return Ok(());
        };
        for (index, entry) in entries.iter().enumerate() {
            self.entry(format!("{name}#{}", index + 1), entry)?;
        }
        Ok(())
    }

    fn entry(&mut self, name: String, entry: &Node) -> Result<(), PartFault> {
        match &entry.value {
            Value::String(_) => self.archived(name, entry, None, Vec::new()),
            Value::Mapping(fields) => {
                let empty = Node::made(Value::String("".into()), entry.span);
                let content = fields.get("content").unwrap_or(&empty);
                let declared = fields.get("type").filter(|it| !it.value.is_falsy());
                let headers = headers(fields)?;
                self.archived(name, content, declared, headers)
            }
            other => {
                self.fault(entry.span, PartFaultKind::Entry(other.kind()));
                Ok(())
            }
        }
    }

    fn archived(
        &mut self,
        name: String,
        content: &Node,
        declared: Option<&Node>,
        headers: Vec<Header>,
    ) -> Result<(), PartFault> {
        let bytes = match &content.value {
            Value::String(text) => text.as_bytes(),
            Value::Binary(bytes) => bytes,
            other => {
                return Err(fault(
                    content.span,
                    ContainerFault::EntryContent(other.kind()),
                ));
            }
        };
        let content_type = match declared {
            Some(declared) => declared_type(declared)?,
            None => sniffed_type(&content.value),
        };
        let is_text = content_type.starts_with("text/");
        let text = self.decoded(&name, bytes.to_vec(), content.span)?;
        if is_text && self.sources.get(text.file).bytes().is_some() {
            return Err(fault(content.span, ContentFault::NotUtf8));
        }
        let content_type = mime::without_parameters(&content_type);
        let mut piece = UnreadPart {
            name,
            headers,
            content_type,
            text,
            faults: Vec::new(),
        };
        // Python encodes only `str` content in the message.
        if !is_text && matches!(content.value, Value::String(_)) {
            self.mangle(&mut piece)?;
        }
        self.attach(piece)
    }
}

/// Entries of an archive, which may be a set.
fn entries(root: &Node) -> Option<Vec<Node>> {
    match &root.value {
        Value::Sequence(items) => Some(items.to_vec()),
        Value::Set(keys) => Some(
            keys.iter()
                .map(|key| Node::new(key.value.clone(), key.span))
                .collect(),
        ),
        // Pairs are tuples in a list, which are not valid entries.
        Value::Pairs(pairs) => Some(
            pairs
                .iter()
                .map(|(key, value)| {
                    let items = vec![key.clone(), value.clone()];
                    Node::new(Value::from(items), key.span.to(value.span))
                })
                .collect(),
        ),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Timestamp(_)
        | Value::Binary(_)
        | Value::String(_)
        | Value::Mapping(_) => None,
    }
}

/// Type that an entry declares, as written.
fn declared_type(declared: &Node) -> Result<String, PartFault> {
    let invalid = || fault(declared.span, ContainerFault::InvalidType);
    let text = declared.as_str().ok_or_else(invalid)?;
    if text.contains('/') {
        Ok(text.to_owned())
    } else {
        Err(invalid())
    }
}

/// Type of content that declares none.
fn sniffed_type(content: &Value) -> String {
    let (text, default) = match content {
        Value::Binary(bytes) => (str::from_utf8(bytes).ok(), OCTET_STREAM),
        Value::String(text) => (Some(&**text), CLOUD_CONFIG),
        _ => (None, CLOUD_CONFIG),
    };
    text.and_then(sniff::content_type)
        .unwrap_or(default)
        .to_owned()
}

/// Headers from the other keys of an entry, with the keys for its file name and its launch index.
fn headers(fields: &Mapping) -> Result<Vec<Header>, PartFault> {
    let mut headers = Vec::new();
    for (key, value) in fields.iter() {
        let Some(name) = key.as_str() else {
            return Err(fault(
                key.span,
                ContainerFault::HeaderValue(key.value.kind()),
            ));
        };
        if matches!(name, FILE_NAME | LAUNCH_INDEX) {
            let text = scalar_text(&value.value).into();
            let name = Spanned::new(name.into(), key.span);
            headers.push(Header {
                name,
                value: Spanned::new(text, value.span),
            });
            continue;
        }
        if NO_HEADERS.contains(&name.to_lowercase().as_str()) {
            continue;
        }
        let text: Arc<str> = match &value.value {
            Value::String(text) => text.clone().into(),
            Value::Null => "".into(),
            other => return Err(fault(value.span, ContainerFault::HeaderValue(other.kind()))),
        };
        let name = Spanned::new(name.into(), key.span);
        headers.push(Header {
            name,
            value: Spanned::new(text, value.span),
        });
    }
    Ok(headers)
}

fn fault(at: Span, kind: impl Into<PartFaultKind>) -> PartFault {
    PartFault {
        at,
        kind: kind.into(),
    }
}
