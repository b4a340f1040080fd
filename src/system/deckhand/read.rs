//! Reading of YAML documents into typed [`Document`]s with faults: the envelope and metadata follow
//! Deckhand's own schemas (`deckhand.md` 2.3, 4).

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use smol_str::SmolStr;

use super::document::{
    Document, DocumentFault, DocumentFaultKind, PatternUse, Selector, SubstitutionSource,
};
use super::known::KnownTexts;
use super::secrecy::{
    Evidence, Folder, Secrecy, SecretKinds, StoragePolicy, has_mistyped_policy, is_written_in,
};
use crate::graph::{Act, Destination, Extract, Instruction, Instructions, Part, Writing};
use crate::merge::deckhand::Method;
use crate::merge::pattern::Pattern;
use crate::near::nearest;
use crate::source::{DocKey, Span, Spanned};
use crate::yaml::emit::HIDDEN;
use crate::yaml::path::{Path, PathError};
use crate::yaml::{self, Key, Mapping, Node, Value, Whole};

/// Result of reading a YAML document.
#[derive(Debug)]
pub enum Reading {
    /// A Deckhand document, possibly with faults.
    Document(Box<Document>),
    /// Not a Deckhand document.
    Nothing(DocumentFault),
}

/// Context in which a document is read.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// Kinds of documents that are secret by themselves.
    pub kinds: &'a SecretKinds,
    /// Folder of its file.
    pub folder: Folder,
    /// YAML problems of its file.
    pub problems: &'a [yaml::YamlProblem],
}

/// Schema of Pegleg's wrapper around a document (`pegleg.md` 1.3).
const MANAGED: &str = "pegleg/PeglegManagedDocument/v1";

/// Metadata schema of control documents.
const CONTROL: &str = "metadata/Control/v1";

/// Reads a YAML document; `text` is the text of its file, `known` a cache of parsed strings.
pub fn read(
    document: &yaml::YamlDocument,
    text: &str,
    known: &mut KnownTexts,
    around: Surroundings<'_>,
) -> Reading {
    let nothing = |kind| {
        Reading::Nothing(DocumentFault {
            at: heading(document),
            kind,
        })
    };
    let as_written = match &document.root.value {
        Value::Null => return nothing(DocumentFaultKind::Empty { more: 0 }),
        Value::Mapping(root) => root,
        other => {
            return nothing(DocumentFaultKind::NotADocument {
                found: other.kind(),
            });
        }
    };
    let Some((schema_key, schema)) = as_written.get_entry("schema") else {
        return nothing(DocumentFaultKind::NotADocument {
            found: "a mapping without `schema`",
        });
    };
    let Some(name) = schema.as_str() else {
        return nothing(DocumentFaultKind::NotADocument {
            found: "a mapping whose `schema` is not a string",
        });
    };
    let mut reader = DocumentReader::new(text, known, around);
    let is_wrapped = name == MANAGED;
    let managed = if is_wrapped {
        reader.managed(as_written, schema_key.span)
    } else {
        None
    };
    let root = managed.unwrap_or(as_written);
    let encrypted = is_wrapped && is_encrypted(as_written);
    let wrapper = is_wrapped.then_some(&**as_written);
    let read = reader.document(document, root, wrapper, encrypted);
    Reading::Document(Box::new(Document { is_wrapped, ..read }))
}

/// Reads `document` with `root` as its content. Faults that need the text have less exact
/// locations.
pub(crate) fn revised(document: &Document, root: Node, known: &mut KnownTexts) -> Document {
    let span = document.span;
    let shared = document.shared.clone();
    let Value::Mapping(mapping) = root.value.clone() else {
        unreachable!("only the entries of a document's mapping are edited")
    };
    let written = yaml::YamlDocument { root, span, shared };
    let around = Surroundings {
        kinds: &document.secret_kinds,
        folder: document.folder,
        problems: &[],
    };
    let mut reader = DocumentReader::new("", known, around);
    reader.document(&written, &mapping, None, document.wrapped_encrypted)
}

/// Whether documents of a schema are layering policies (`deckhand.md` 3.2).
pub(crate) fn is_policy(schema: &str) -> bool {
    schema.starts_with("deckhand/LayeringPolicy")
}

/// Span to point at for a whole document: its first key, or the start of its content or of the
/// document.
fn heading(document: &yaml::YamlDocument) -> Span {
    match document
        .root
        .as_mapping()
        .and_then(|root| root.keys().next())
    {
        Some(first) => first.span,
        None if document.root.is_null() => Span::point(document.span.file, document.span.start),
        None => Span::point(document.span.file, document.root.span.start),
    }
}

/// Whether a wrapper declares the wrapped document as encrypted.
fn is_encrypted(root: &Mapping) -> bool {
    root.get("data")
        .and_then(|data| data.get("encrypted"))
        .is_some()
}

/// A mapping that is being read, with its name and the span to report for missing keys.
#[derive(Clone, Copy)]
struct Section<'a> {
    mapping: &'a Mapping,
    field: Field<'a>,
    at: Span,
}

impl Section<'_> {
    fn path_of(&self, key: &str) -> String {
        self.field.key(key).to_string()
    }
}

/// Name of a mapping or value, formatted only for faults, since most of many fields have none.
#[derive(Clone, Copy)]
enum Field<'a> {
    Named(&'a str),
    Key(&'a Field<'a>, &'a str),
    Item(&'a Field<'a>, usize),
}

impl Field<'_> {
    /// The document itself.
    const ROOT: Self = Field::Named("");

    fn key<'f>(&'f self, key: &'f str) -> Field<'f> {
        match self {
            Field::Named("") => Field::Named(key),
            _ => Field::Key(self, key),
        }
    }

    fn item(&self, index: usize) -> Field<'_> {
        Field::Item(self, index)
    }
}

impl fmt::Display for Field<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Field::Named(name) => formatter.write_str(name),
            Field::Key(around, key) => write!(formatter, "{around}.{key}"),
            Field::Item(list, index) => write!(formatter, "{list}[{index}]"),
        }
    }
}

struct DocumentReader<'a> {
    text: &'a str,
    known: &'a mut KnownTexts,
    around: Surroundings<'a>,
    faults: Vec<DocumentFault>,
    /// Faults that are explained by a misspelt key.
    explained: Vec<DocumentFault>,
}

impl<'r> DocumentReader<'r> {
    fn new(text: &'r str, known: &'r mut KnownTexts, around: Surroundings<'r>) -> Self {
        Self {
            text,
            known,
            around,
            faults: Vec::new(),
            explained: Vec::new(),
        }
    }

    fn document(
        &mut self,
        document: &yaml::YamlDocument,
        root: &Arc<Mapping>,
        wrapper: Option<&Mapping>,
        encrypted_data: bool,
    ) -> Document {
        let at = root
            .keys()
            .next()
            .map_or_else(|| heading(document), |key| key.span);
        let top = Section {
            mapping: root,
            field: Field::ROOT,
            at,
        };
        self.check_top_keys(top);
        let schema = self
            .text_field(top, "schema")
            .map_or_else(|| Spanned::new("".into(), at), |schema| self.report(schema));
        self.check_schema_name(top, "schema", &schema);
        let metadata = self.section(top, "metadata");
        let mut read = self.metadata(metadata, &schema, document.span);
        read.wrapped_encrypted = encrypted_data;
        read.data = self.data(top, document, encrypted_data);
        self.join_renamed_key();
        self.control_data(&mut read, top);
        let policy = self.policy(metadata, top, document);
        read.encrypted = policy == StoragePolicy::Encrypted;
        if read.parent_selector.is_some() {
            read.mixed_keys = root.values().find_map(mixed_keys);
        }
        read.shared.clone_from(&document.shared);
        read.data_key = root.get_entry("data").map(|(key, _)| key.span);
        if let Some(metadata) = root.get("metadata") {
            read.metadata_span = metadata.span;
        }
        read.after_data = after_data(&read, root, wrapper);
        let evidence = Evidence {
            read: &read,
            faults: &self.faults,
            root,
            wrapper,
            policy,
            problems: self.around.problems,
            text: self.text,
        };
        let secrecy = evidence.secrecy();
        read.is_doubtful = matches!(secrecy, Secrecy::Doubtful | Secrecy::Nameless);
        if secrecy != Secrecy::Public {
            read.data = read.data.into_secret();
        }
        if read.is_doubtful {
            // Suggestions would show which keys are nearly right.
            self.faults.append(&mut self.explained);
        }
        read.whole = Whole::Held(whole(document, root, &read));
        let read = if secrecy == Secrecy::Nameless {
            without_names(read)
        } else {
            read
        };
        Document {
            faults: std::mem::take(&mut self.faults),
            ..read
        }
    }

    /// Storage policy that the document declares, if it is reliable.
    fn policy(
        &self,
        metadata: Option<Section<'_>>,
        top: Section<'_>,
        document: &yaml::YamlDocument,
    ) -> StoragePolicy {
        let Some(metadata) = metadata.map(|section| section.mapping) else {
            return StoragePolicy::Unclear;
        };
        let is_control = metadata.get("schema").and_then(Node::as_str) == Some(CONTROL);
        let is_in_text = || {
            // A document with only some of its edits comes from several texts.
            self.text.is_empty()
                || is_written_in(metadata, document.span, "storagePolicy")
                    && is_written_in(top.mapping, document.span, "metadata")
        };
        match metadata.get("storagePolicy").map(Node::as_str) {
            Some(Some("encrypted")) => StoragePolicy::Encrypted,
            Some(Some("cleartext")) if is_in_text() => StoragePolicy::Cleartext,
            None if is_control && !has_mistyped_policy(metadata) => StoragePolicy::Cleartext,
            Some(_) | None => StoragePolicy::Unclear,
        }
    }

    /// The document inside a wrapper.
    fn managed<'a>(&mut self, root: &'a Mapping, at: Span) -> Option<&'a Arc<Mapping>> {
        let data = root.get("data").and_then(Node::as_mapping);
        let inner = data.and_then(|data| data.get("managedDocument"));
        let Some(Node {
            value: Value::Mapping(inner),
            ..
        }) = inner
        else {
            self.fault(
                at,
                DocumentFaultKind::MissingField {
                    field: "data.managedDocument".into(),
                },
            );
            return None;
        };
        Some(inner)
    }

    fn check_top_keys(&mut self, top: Section<'_>) {
        const KNOWN: [&str; 3] = ["schema", "metadata", "data"];
        for key in top.mapping.keys() {
            let name = key_text(key);
            if !KNOWN.contains(&&*name) {
                let near =
                    near_static(&name, &KNOWN).filter(|near| top.mapping.get(*near).is_none());
                self.fault(
                    key.span,
                    DocumentFaultKind::UnknownKey {
                        key: name.into_owned(),
                        near,
                    },
                );
            }
        }
    }

    /// Reports the only unknown key as the required one that is missing, regardless of its name, which
    /// may be secret.
    fn join_renamed_key(&mut self) {
        let mut unknown = self
            .faults
            .iter()
            .filter(|fault| matches!(fault.kind, DocumentFaultKind::UnknownKey { .. }));
        let Some(at) = unknown.next().map(|fault| fault.at) else {
            return;
        };
        if unknown.next().is_some() {
            return;
        }
        for field in ["schema", "metadata"] {
            let is_missing = |fault: &DocumentFault| matches!(&fault.kind, DocumentFaultKind::MissingField { field: missing } if missing == field);
            if self.faults.iter().any(is_missing) {
                self.faults
                    .retain(|fault| fault.at != at && !is_missing(fault));
                return self.fault(at, DocumentFaultKind::RenamedKey { field });
            }
        }
    }

    fn data(&mut self, top: Section<'_>, document: &yaml::YamlDocument, encrypted: bool) -> Node {
        let Some((key, data)) = top.mapping.get_entry("data") else {
            let misspelled = |fault: &DocumentFault| {
                matches!(
                    fault.kind,
                    DocumentFaultKind::UnknownKey {
                        near: Some("data"),
                        ..
                    }
                )
            };
            let missing = DocumentFault {
                at: top.at,
                kind: DocumentFaultKind::MissingData,
            };
            if self.faults.iter().any(misspelled) {
                self.explained.push(missing);
            } else {
                self.faults.push(missing);
            }
            return Node::made(Value::Null, document.span);
        };
        if matches!(
            data.value,
            Value::Date(_)
                | Value::Timestamp(_)
                | Value::Binary(_)
                | Value::Set(_)
                | Value::Pairs(_)
        ) && !encrypted
        {
            let found = data.value.kind();
            let expected = "a mapping, list, string, number, boolean or null";
            self.fault(
                key.span,
                DocumentFaultKind::WrongType {
                    field: "data".into(),
                    expected,
                    found,
                },
            );
        }
        // The token of an encrypted document is binary; Pegleg reads it as text.
        match &data.value {
            Value::Binary(bytes) => match std::str::from_utf8(bytes) {
                Ok(token) if encrypted => Node {
                    value: Value::String(token.into()),
                    ..data.clone()
                },
                _ => data.clone(),
            },
            _ => data.clone(),
        }
    }

    fn metadata(
        &mut self,
        metadata: Option<Section<'_>>,
        schema: &Spanned<Arc<str>>,
        span: Span,
    ) -> Document {
        let mut read = Document {
            key: DocKey::new(schema.value.clone(), Arc::default(), Arc::default()),
            span,
            name_span: schema.span,
            schema_span: schema.span,
            whole: Whole::Held(Node::made(Value::Null, span)),
            is_wrapped: false,
            wrapped_encrypted: false,
            secret_kinds: self.around.kinds.clone(),
            folder: self.around.folder,
            is_doubtful: false,
            after_data: None,
            metadata_span: span,
            layer: None,
            control: false,
            is_abstract: false,
            labels: Arc::default(),
            parent_selector: None,
            instructions: Instructions::default(),
            actions_written: 0,
            sources: Vec::new(),
            replacement: None,
            encrypted: false,
            layer_order: None,
            data_key: None,
            data: Node::made(Value::Null, span),
            faults: Vec::new(),
            shared: Vec::new(),
            mixed_keys: None,
            is_secret_later: false,
        };
        let Some(metadata) = metadata else {
            return read;
        };
        let name = self.text_field(metadata, "name");
        read.name_span = name.as_ref().map_or(schema.span, |name| name.span);
        read.control = self.is_control(metadata);
        self.storage_policy(metadata, read.control);
        read.labels = self.labels(metadata, read.control);
        read.replacement = self.flag(metadata, "replacement");
        let mut instructions = self.layering(metadata, &mut read);
        // Deckhand looks up labels of documents in a layer as keys of a `dict` (6.7).
        if read.layer.is_some() && !read.control {
            self.check_hashable(&read.labels, "metadata.labels");
        }
        self.substitutions(metadata, &mut read, &mut instructions);
        read.instructions = instructions.into_iter().collect();
        let layer = read.layer.as_ref().map(|layer| layer.value.clone());
        let name = name.map(|name| kept(name).value);
        let schema = schema.value.clone();
        read.key = DocKey::new(schema, layer.unwrap_or_default(), name.unwrap_or_default());
        if !read.control {
            const KNOWN: [&str; 7] = [
                "schema",
                "name",
                "storagePolicy",
                "layeringDefinition",
                "labels",
                "replacement",
                "substitutions",
            ];
            self.only(metadata, &KNOWN);
        }
        read
    }

    fn is_control(&mut self, metadata: Section<'_>) -> bool {
        let Some(schema) = self.text_field(metadata, "schema") else {
            return false;
        };
        let version = |kind: &str| schema.value.strip_prefix(kind);
        let valid = version("metadata/Document/v").or_else(|| version("metadata/Control/v"));
        if valid != Some("1") {
            let expected = "`metadata/Document/v1` or `metadata/Control/v1`";
            let field = "metadata.schema".into();
            self.fault(
                schema.span,
                DocumentFaultKind::WrongValue { field, expected },
            );
        }
        schema.value.starts_with("metadata/Control")
    }

    fn storage_policy(&mut self, metadata: Section<'_>, control: bool) {
        if control && metadata.mapping.get("storagePolicy").is_none() {
            return;
        }
        let Some(policy) = self.text_field(metadata, "storagePolicy") else {
            return;
        };
        if !control && !["encrypted", "cleartext"].contains(&policy.value.as_str()) {
            let expected = "`encrypted` or `cleartext`";
            let field = "metadata.storagePolicy".into();
            self.fault(
                policy.span,
                DocumentFaultKind::WrongValue { field, expected },
            );
        }
    }

    fn labels(&mut self, metadata: Section<'_>, control: bool) -> Arc<Mapping> {
        let Some(labels) = metadata
            .mapping
            .get("labels")
            .filter(|labels| !labels.is_null())
        else {
            return Arc::default();
        };
        let Value::Mapping(mapping) = &labels.value else {
            self.wrong_type(metadata, "labels", "a mapping", labels);
            return Arc::default();
        };
        for (key, label) in mapping.iter().filter(|_| control) {
            if label.as_str().is_none() {
                self.wrong_label("metadata.labels", key, label, "a string");
            }
        }
        mapping.clone()
    }

    /// Reports labels that are not hashable in Python, i.e. collections.
    fn check_hashable(&mut self, labels: &Mapping, field: &str) {
        for (key, label) in labels.iter().filter(|(_, label)| !label.value.is_scalar()) {
            self.wrong_label(field, key, label, "a scalar");
        }
    }

    fn wrong_label(&mut self, field: &str, key: &Key, label: &Node, expected: &'static str) {
        let kind = DocumentFaultKind::WrongType {
            field: format!("{field}.{}", key_text(key)),
            expected,
            found: label.value.kind(),
        };
        self.fault(label.span, kind);
    }

    /// Reads the layering definition, and returns its actions.
    fn layering(&mut self, metadata: Section<'_>, read: &mut Document) -> Vec<Instruction> {
        let mut actions = Vec::new();
        let control = read.control;
        if control && metadata.mapping.get("layeringDefinition").is_none() {
            return actions;
        }
        let Some(layering) = self.section(metadata, "layeringDefinition") else {
            return actions;
        };
        if control && layering.mapping.get("layer").is_none() {
            // Control documents need no layer.
        } else if let Some(layer) = self.text_field(layering, "layer")
            && !layer.value.is_empty()
        {
            read.layer = Some(self.report(layer));
        }
        read.is_abstract = self.flag(layering, "abstract").is_some();
        let written = layering.mapping.get("actions").and_then(Node::as_sequence);
        read.actions_written = written.map_or(0, <[Node]>::len);
        let selector = self.parent_selector(layering);
        let has_actions = self.actions(layering, &mut actions);
        if !control {
            match (&selector, has_actions) {
                (Some((at, _)), None) => self.unpaired(*at, "parentSelector", "actions"),
                (None, Some(at)) => self.unpaired(at, "actions", "parentSelector"),
                _ => {}
            }
            self.only(
                layering,
                &["layer", "abstract", "parentSelector", "actions"],
            );
        }
        read.parent_selector = selector.and_then(|(_, selector)| selector);
        actions
    }

    fn unpaired(&mut self, at: Span, has: &'static str, lacks: &'static str) {
        self.fault(at, DocumentFaultKind::Unpaired { has, lacks });
    }

    /// Key of the selector, and the selector unless it is empty.
    fn parent_selector(&mut self, layering: Section<'_>) -> Option<(Span, Option<Selector>)> {
        let (key, selector) = layering.mapping.get_entry("parentSelector")?;
        if selector.is_null() {
            return None;
        }
        let Value::Mapping(labels) = &selector.value else {
            self.wrong_type(layering, "parentSelector", "a mapping", selector);
            return Some((key.span, None));
        };
        if labels.is_empty() {
            let field = layering.path_of("parentSelector");
            let expected = "a mapping with at least one label";
            self.fault(key.span, DocumentFaultKind::WrongValue { field, expected });
            return Some((key.span, None));
        }
        self.check_hashable(labels, "metadata.layeringDefinition.parentSelector");
        Some((
            key.span,
            Some(Selector {
                labels: labels.clone(),
                span: selector.span,
            }),
        ))
    }

    /// Reads the actions; returns the span of their key if it is present.
    fn actions(&mut self, layering: Section<'_>, read: &mut Vec<Instruction>) -> Option<Span> {
        let (key, actions) = layering.mapping.get_entry("actions")?;
        if actions.is_null() {
            return None;
        }
        let Some(items) = actions.as_sequence() else {
            self.wrong_type(layering, "actions", "a list", actions);
            return Some(key.span);
        };
        if items.is_empty() {
            let field = layering.path_of("actions");
            let expected = "a list with at least one action";
            self.fault(key.span, DocumentFaultKind::WrongValue { field, expected });
        }
        let field = layering.field.key("actions");
        for (index, item) in items.iter().enumerate() {
            read.extend(self.action(field.item(index), item));
        }
        Some(key.span)
    }

    fn action(&mut self, field: Field<'_>, item: &Node) -> Option<Instruction> {
        let section = self.item(field, item)?;
        let method = self.text_field(section, "method");
        let path = self.text_field(section, "path");
        self.only(section, &["method", "path"]);
        let method = method?;
        let path = path?;
        let Some(known) = Method::parse(method.value) else {
            let near = near_static(method.value, &Method::ALL.map(Method::as_str));
            let method_text = method.value.to_string();
            self.fault(
                method.span,
                DocumentFaultKind::UnknownMethod {
                    method: method_text,
                    near,
                },
            );
            return None;
        };
        let parsed = match self.known.action_path(path.value) {
            Ok(parsed) => parsed,
            Err(error) => {
                self.invalid_path(section, &path, error);
                return None;
            }
        };
        if parsed.differs(known) {
            let deckhand = parsed.deckhand_text().map(str::to_owned);
            let path_text = path.value.to_string();
            let kind = DocumentFaultKind::DifferentPath {
                method: known,
                path: path_text,
                deckhand,
            };
            self.fault(path.span, kind);
        }
        let act = Act::Merge {
            method: known,
            path: Spanned::new(parsed, path.span),
        };
        Some(Instruction { act, at: item.span })
    }

    /// Reads the substitutions, separating their sources from the instructions.
    fn substitutions(
        &mut self,
        metadata: Section<'_>,
        read: &mut Document,
        instructions: &mut Vec<Instruction>,
    ) {
        let Some(list) = metadata.mapping.get("substitutions") else {
            return;
        };
        let Some(items) = list.as_sequence() else {
            return self.wrong_type(metadata, "substitutions", "a list", list);
        };
        let field = metadata.field.key("substitutions");
        read.sources.reserve_exact(items.len());
        for (index, item) in items.iter().enumerate() {
            if let Some((source, writing)) = self.substitution(field.item(index), item) {
                read.sources.push(source);
                instructions.push(Instruction {
                    act: Act::Substitute(writing),
                    at: item.span,
                });
            }
        }
    }

    fn substitution(
        &mut self,
        field: Field<'_>,
        item: &Node,
    ) -> Option<(SubstitutionSource, Writing)> {
        let section = self.item(field, item)?;
        let source = self.section(section, "src");
        let to = self.destinations(section);
        self.only(section, &["src", "dest"]);
        let source = Section {
            field: section.field.key("src"),
            ..source?
        };
        let schema = self.text_field(source, "schema");
        let name = self.text_field(source, "name");
        let path = self.text_field(source, "path");
        self.only(
            source,
            &[
                "schema",
                "name",
                "path",
                "pattern",
                "match_group",
                "deepcopy",
            ],
        );
        let extract = self.extract(source);
        let deepcopy = self.flag(source, "deepcopy").is_some();
        let schema = schema?;
        let name = name?;
        let path = path?;
        let schema = self.report(schema);
        let name = kept(name);
        self.check_schema_name(source, "schema", &schema);
        let from = self.path(source, &path)?;
        let extract = extract.ok()?;
        let span = section.mapping.get("src")?.span;
        let written = source.mapping.get("deepcopy").map(|node| node.span);
        let source = SubstitutionSource {
            schema,
            name,
            span,
            deepcopy: written,
        };
        Some((
            source,
            Writing {
                from,
                extract,
                to,
                deepcopy,
            },
        ))
    }

    /// Reads the part of the source to use; the error of an unusable part has already been
    /// reported.
    fn extract(&mut self, source: Section<'_>) -> Result<Option<Box<Extract>>, ()> {
        let group = match source
            .mapping
            .get("match_group")
            .filter(|group| !group.is_null())
        {
            None => None,
            Some(Node {
                value: Value::Int(group),
                span,
                ..
            }) => Some(Spanned::new(*group, *span)),
            Some(other) => {
                self.wrong_type(source, "match_group", "an integer", other);
                return Err(());
            }
        };
        let Some(pattern) = self.optional_text(source, "pattern")? else {
            return Ok(None);
        };
        let Some(pattern) = self.pattern(source, pattern, false)? else {
            return Ok(None);
        };
        let group = group.unwrap_or_else(|| Spanned::new(0, pattern.span));
        Ok(Some(Box::new(Extract { pattern, group })))
    }

    fn destinations(&mut self, section: Section<'_>) -> Box<[Destination]> {
        let field = section.field.key("dest");
        let Some(dest) = section.mapping.get("dest").filter(|dest| !dest.is_null()) else {
            self.missing(section, "dest");
            return Box::default();
        };
        let Some(items) = dest.as_sequence() else {
            return self.destination(field, dest).into_iter().collect();
        };
        if items.is_empty() {
            let expected = "a mapping, or a list with at least one mapping";
            self.fault(
                dest.span,
                DocumentFaultKind::WrongValue {
                    field: field.to_string(),
                    expected,
                },
            );
        }
        let each = items.iter().enumerate();
        each.filter_map(|(index, item)| self.destination(field.item(index), item))
            .collect()
    }

    fn destination(&mut self, field: Field<'_>, item: &Node) -> Option<Destination> {
        let section = self.item(field, item)?;
        let path = self.text_field(section, "path");
        self.only(section, &["path", "pattern", "recurse"]);
        let depth = self.depth(section);
        let pattern = self.optional_text(section, "pattern").ok()?;
        let path = self.path(section, &path?)?;
        let part = match pattern {
            Some(pattern) => self.part(section, pattern, depth).ok()?,
            None => None,
        };
        Some(Destination { path, part })
    }

    /// Part of a string that a destination replaces: `None` for an empty pattern, an error for an
    /// unusable one.
    fn part(
        &mut self,
        section: Section<'_>,
        text: Spanned<&SmolStr>,
        depth: Result<Option<i64>, ()>,
    ) -> Result<Option<Part>, ()> {
        let is_recursive = matches!(depth, Ok(Some(_)));
        let unusable = Spanned::new(Pattern::unusable(text.value), text.span);
        let pattern = match self.pattern(section, text, is_recursive) {
            Ok(pattern) => pattern,
            // Below the destination, Deckhand's code compiles a pattern only if it finds its text.
            Err(()) if is_recursive => Some(unusable),
            Err(()) => return Err(()),
        };
        let Some(pattern) = pattern else {
            return Ok(None);
        };
        Ok(Some(Part {
            pattern,
            depth: depth?,
        }))
    }

    /// Reads `recurse.depth`; an error if it is unusable.
    fn depth(&mut self, section: Section<'_>) -> Result<Option<i64>, ()> {
        let Some((key, recurse)) = section.mapping.get_entry("recurse") else {
            return Ok(None);
        };
        let Some(mapping) = recurse.as_mapping() else {
            self.fault(key.span, DocumentFaultKind::MissingDepth);
            return Err(());
        };
        match mapping.get("depth") {
            Some(Node {
                value: Value::Int(depth),
                ..
            }) if *depth >= -1 => Ok(Some(*depth)),
            Some(depth) => {
                let field = section.path_of("recurse.depth");
                let expected = "an integer of at least -1";
                self.fault(
                    depth.span,
                    DocumentFaultKind::WrongValue { field, expected },
                );
                Err(())
            }
            None => {
                self.fault(key.span, DocumentFaultKind::MissingDepth);
                Err(())
            }
        }
    }

    /// Reads the data of documents with certain schemas.
    fn control_data(&mut self, read: &mut Document, top: Section<'_>) {
        if is_policy(&read.key.schema) {
            read.layer_order = Some(self.layer_order(read, top));
        }
        if read.key.schema.starts_with("deckhand/DataSchema/")
            && !read.data.value.is_falsy()
            && !is_usable_schema_name(&read.key.name)
        {
            let name = read.key.name.to_string();
            self.fault(
                read.name_span,
                DocumentFaultKind::UnusableSchemaName { name },
            );
        }
    }

    fn layer_order(&mut self, read: &Document, top: Section<'_>) -> Vec<Spanned<Arc<str>>> {
        let field = "data.layerOrder";
        let at = top
            .mapping
            .get_entry("data")
            .map_or(top.at, |(key, _)| key.span);
        if let Some(mapping) = read.data.as_mapping() {
            self.only(
                Section {
                    mapping,
                    field: Field::Named("data"),
                    at,
                },
                &["layerOrder"],
            );
        }
        let Some(order) = read.data.get("layerOrder") else {
            self.fault(
                at,
                DocumentFaultKind::MissingField {
                    field: field.into(),
                },
            );
            return Vec::new();
        };
        let wrong = |found: &Node, field: String, expected| DocumentFault {
            at: found.span,
            kind: DocumentFaultKind::WrongType {
                field,
                expected,
                found: found.value.kind(),
            },
        };
        let Some(items) = order.as_sequence() else {
            self.faults
                .push(wrong(order, field.into(), "a list of layers"));
            return Vec::new();
        };
        let mut layers = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match &item.value {
                Value::String(layer) => layers.push(Spanned::new(layer.clone().into(), item.span)),
                _ => self
                    .faults
                    .push(wrong(item, format!("{field}[{index}]"), "a string")),
            }
        }
        layers
    }

    fn fault(&mut self, at: Span, kind: DocumentFaultKind) {
        self.faults.push(DocumentFault { at, kind });
    }

    fn missing(&mut self, section: Section<'_>, key: &str) {
        self.fault(
            section.at,
            DocumentFaultKind::MissingField {
                field: section.path_of(key),
            },
        );
    }

    fn wrong_type(
        &mut self,
        section: Section<'_>,
        key: &str,
        expected: &'static str,
        found: &Node,
    ) {
        let kind = DocumentFaultKind::WrongType {
            field: section.path_of(key),
            expected,
            found: found.value.kind(),
        };
        self.fault(found.span, kind);
    }

    /// Reads a required mapping.
    fn section<'a>(&mut self, outer: Section<'a>, key: &'static str) -> Option<Section<'a>> {
        let Some((written, node)) = outer
            .mapping
            .get_entry(key)
            .filter(|(_, node)| !node.is_null())
        else {
            self.missing(outer, key);
            return None;
        };
        let Some(mapping) = node.as_mapping() else {
            self.wrong_type(outer, key, "a mapping", node);
            return None;
        };
        // Sections below lists get their field from `item`; these are named by their key, as users
        // search for it.
        let field = match key {
            "layeringDefinition" => "metadata.layeringDefinition",
            _ => key,
        };
        Some(Section {
            mapping,
            field: Field::Named(field),
            at: written.span,
        })
    }

    /// Reads a list item that must be a mapping.
    fn item<'a>(&mut self, field: Field<'a>, item: &'a Node) -> Option<Section<'a>> {
        let Some(mapping) = item.as_mapping() else {
            let found = item.value.kind();
            let kind = DocumentFaultKind::WrongType {
                field: field.to_string(),
                expected: "a mapping",
                found,
            };
            self.fault(item.span, kind);
            return None;
        };
        let at = mapping.keys().next().map_or(item.span, |key| key.span);
        Some(Section { mapping, field, at })
    }

    /// Reads a required string.
    fn text_field<'a>(&mut self, section: Section<'a>, key: &str) -> Option<Spanned<&'a SmolStr>> {
        match section.mapping.get(key).filter(|node| !node.is_null()) {
            Some(Node {
                value: Value::String(text),
                span,
                ..
            }) => Some(Spanned::new(text, *span)),
            Some(other) => {
                self.wrong_type(section, key, "a string", other);
                None
            }
            None => {
                self.missing(section, key);
                None
            }
        }
    }

    /// Reads an optional string; an error if it is something else.
    fn optional_text<'a>(
        &mut self,
        section: Section<'a>,
        key: &str,
    ) -> Result<Option<Spanned<&'a SmolStr>>, ()> {
        if section.mapping.get(key).is_none_or(Node::is_null) {
            return Ok(None);
        }
        self.text_field(section, key).map(Some).ok_or(())
    }

    /// Span of a boolean that is true; null and absence count as false.
    fn flag(&mut self, section: Section<'_>, key: &str) -> Option<Span> {
        let (written, node) = section.mapping.get_entry(key)?;
        match &node.value {
            Value::Bool(true) => Some(written.span.to(node.span)),
            Value::Bool(false) | Value::Null => None,
            _ => {
                self.wrong_type(section, key, "a boolean", node);
                None
            }
        }
    }

    /// Reports keys of the section other than these.
    fn only(&mut self, section: Section<'_>, known: &[&'static str]) {
        for key in section.mapping.keys() {
            let name = key_text(key);
            if known.contains(&&*name) {
                continue;
            }
            let near =
                near_static(&name, known).filter(|near| section.mapping.get(*near).is_none());
            if let Some(near) = near {
                self.drop_missing(&section.path_of(near));
            }
            self.fault(
                key.span,
                DocumentFaultKind::UnknownField {
                    field: section.path_of(&name),
                    near,
                },
            );
        }
    }

    /// Drops the fault of a missing field, since its misspelt key is reported instead.
    fn drop_missing(&mut self, path: &str) {
        let explained = self.faults.extract_if(.., |fault| {
            matches!(&fault.kind, DocumentFaultKind::MissingField { field } if field == path)
        });
        self.explained.extend(explained);
    }

    fn check_schema_name(&mut self, section: Section<'_>, key: &str, schema: &Spanned<Arc<str>>) {
        if !is_schema_name(&schema.value) {
            let expected = "of the form `namespace/Kind/v1`, letters only in the first two parts";
            let field = section.path_of(key);
            self.fault(
                schema.span,
                DocumentFaultKind::WrongValue { field, expected },
            );
        }
    }

    /// Interns the name of a schema or layer.
    fn report(&mut self, text: Spanned<&SmolStr>) -> Spanned<Arc<str>> {
        Spanned::new(self.known.report(text.value), text.span)
    }

    fn path(&mut self, section: Section<'_>, text: &Spanned<&SmolStr>) -> Option<Spanned<Path>> {
        match self.known.path(text.value) {
            Ok(path) => Some(Spanned::new(path, text.span)),
            Err(error) => {
                self.invalid_path(section, text, error);
                None
            }
        }
    }

    fn invalid_path(&mut self, section: Section<'_>, text: &Spanned<&SmolStr>, error: PathError) {
        let at = self.span_in(text, error.at);
        self.fault(
            at,
            DocumentFaultKind::InvalidPath {
                field: section.path_of("path"),
                error,
            },
        );
    }

    /// Reads a pattern; `None` if it is empty, an error if it is invalid.
    fn pattern(
        &mut self,
        section: Section<'_>,
        text: Spanned<&SmolStr>,
        is_recursive: bool,
    ) -> Result<Option<Spanned<Pattern>>, ()> {
        if text.value.is_empty() {
            return Ok(None);
        }
        match self.known.pattern(text.value) {
            Ok(pattern) => Ok(Some(Spanned::new(pattern, text.span))),
            Err(error) => {
                let at = error.at.map_or(text.span, |at| self.span_in(&text, at));
                let field = section.path_of("pattern");
                let failure = match (error.is_unsupported, is_recursive) {
                    (true, _) => PatternUse::Unsupported,
                    (false, true) => PatternUse::WhereFound,
                    (false, false) => PatternUse::Always,
                };
                let message = error.message;
                self.fault(
                    at,
                    DocumentFaultKind::InvalidPattern {
                        field,
                        message,
                        failure,
                    },
                );
                Err(())
            }
        }
    }

    /// Span of byte `at` of a string if its source is verbatim (plain, or quoted without escapes);
    /// otherwise of the whole string.
    fn span_in(&self, text: &Spanned<&SmolStr>, at: usize) -> Span {
        let Some(written) = self.text.get(text.span.range()) else {
            return text.span;
        };
        let quotes = usize::from(written.starts_with(['"', '\'']));
        let inner = written.get(quotes..written.len() - quotes);
        if inner != Some(text.value.as_str()) {
            return text.span;
        }
        let start = text.span.start + crate::source::offset(quotes + at.min(text.value.len()));
        let width = text.value[at.min(text.value.len())..]
            .chars()
            .next()
            .map_or(0, char::len_utf8);
        Span::new(text.span.file, start, start + crate::source::offset(width))
    }
}

/// The mapping of a document with its data as read, all of it marked as secret if it may be.
fn whole(document: &yaml::YamlDocument, root: &Arc<Mapping>, read: &Document) -> Node {
    let mut root = root.clone();
    if read.is_doubtful {
        for (_, value) in Mapping::to_change(&mut root).iter_mut() {
            *value = value.clone().into_secret();
        }
    } else if read.data.secret && root.get("data").is_some() {
        let slot = Mapping::to_change(&mut root)
            .get_mut("data")
            .expect("`data` is present");
        *slot = read.data.clone();
    }
    Node::new(Value::Mapping(root), document.root.span)
}

/// Removes the names and relations of a document that may be part of its secret. It is not an
/// output.
fn without_names(read: Document) -> Document {
    let schema = read.key.schema.clone();
    let is_known = is_schema_name(&schema) && read.secret_kinds.has(&schema);
    let schema = if is_known { schema } else { HIDDEN.into() };
    Document {
        key: DocKey::new(schema, Arc::default(), Arc::default()),
        layer: None,
        is_abstract: true,
        labels: Arc::default(),
        parent_selector: None,
        instructions: Instructions::default(),
        actions_written: 0,
        sources: Vec::new(),
        replacement: None,
        layer_order: None,
        ..read
    }
}

/// Start of the first key after the data.
fn after_data(read: &Document, root: &Mapping, wrapper: Option<&Mapping>) -> Option<u32> {
    let end = read.data.span.end.max(read.data_key?.end);
    let keys = root
        .keys()
        .chain(wrapper.into_iter().flat_map(Mapping::keys));
    keys.map(|key| key.span.start)
        .filter(|start| *start >= end)
        .min()
}

/// A key of a mapping in `node` whose type differs from that of the first key, and the first key.
/// In Python, strings and null are not comparable with other types.
fn mixed_keys(node: &Node) -> Option<(Span, Span)> {
    match &node.value {
        Value::Mapping(mapping) => {
            let mut keys = mapping.keys();
            let first = keys.next()?;
            let class = |key: &Key| match &key.value {
                Value::Bool(_) | Value::Int(_) | Value::BigInt(_) | Value::Float(_) => "a number",
                other => other.kind(),
            };
            match keys.find(|key| class(key) != class(first)) {
                Some(other) => Some((other.span, first.span)),
                None => mapping.values().find_map(mixed_keys),
            }
        }
        Value::Sequence(items) => items.iter().find_map(mixed_keys),
        _ => None,
    }
}

fn near_static(name: &str, known: &[&'static str]) -> Option<&'static str> {
    let near = nearest(name, known.iter().copied())?;
    known.iter().copied().find(|candidate| *candidate == near)
}

fn key_text(key: &Key) -> Cow<'_, str> {
    key.as_str()
        .map_or_else(|| yaml::emit::scalar_text(&key.value).into(), Cow::from)
}

/// Copies a string that outlives its document.
fn kept(text: Spanned<&SmolStr>) -> Spanned<Arc<str>> {
    Spanned::new(text.value.clone().into(), text.span)
}

/// `^[A-Za-z]+/[A-Za-z]+/v\d+$` (`deckhand.md` 4.3).
pub(crate) fn is_schema_name(name: &str) -> bool {
    let mut parts = name.strip_suffix('\n').unwrap_or(name).split('/');
    let letters = |part: Option<&str>| {
        part.is_some_and(|part| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphabetic())
        })
    };
    letters(parts.next())
        && letters(parts.next())
        && parts
            .next()
            .and_then(|version| version.strip_prefix('v'))
            .is_some_and(|number| !number.is_empty() && number.chars().all(char::is_numeric))
        && parts.next().is_none()
}

/// Whether a DataSchema with this name applies to documents: only in versions 1 and 2
/// (`deckhand.md` 4.6, 15.2).
pub(super) fn is_usable_schema_name(name: &str) -> bool {
    is_schema_name(name) && (name.ends_with("/v1") || name.ends_with("/v2"))
}
