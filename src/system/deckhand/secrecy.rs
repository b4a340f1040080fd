//! Secrecy of documents, which is decided only here.
//!
//! A document is public only if it declares so and was read reliably. If anything is in doubt, it
//! is secret.

pub(crate) mod exposed;
pub(crate) mod later;

use std::path::Path;
use std::sync::Arc;

use super::document::{Document, DocumentFault, DocumentFaultKind};
use crate::near::nearest;
use crate::source::{RepoPath, Span, Tree};
use crate::yaml::{Mapping, Node, Value, YamlProblem};

/// Kinds of documents that are secret regardless of their storage policy: by default, Deckhand's
/// kinds with keys and passphrases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretKinds {
    /// Prefixes of their schemas, up to the version.
    kinds: Arc<[Arc<str>]>,
}

impl Default for SecretKinds {
    fn default() -> Self {
        Self::new(Self::SCHEMAS)
    }
}

impl SecretKinds {
    /// Schemas that are secret by default.
    pub(crate) const SCHEMAS: [&str; 4] = [
        "deckhand/CertificateAuthorityKey/v1",
        "deckhand/CertificateKey/v1",
        "deckhand/Passphrase/v1",
        "deckhand/PrivateKey/v1",
    ];

    /// Creates the kinds of these schemas, in any version.
    pub(crate) fn new<'a>(schemas: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            kinds: schemas
                .into_iter()
                .map(|schema| Arc::from(schema.rfind('/').map_or(schema, |at| &schema[..=at])))
                .collect(),
        }
    }

    /// Whether documents of `schema` are secret.
    pub(crate) fn has(&self, schema: &str) -> bool {
        self.kinds.iter().any(|kind| schema.starts_with(&**kind))
    }

    /// Whether text that was not read as documents may contain a secret: it names a secret kind or
    /// one unknown to Deckhand, or mentions encryption.
    pub(crate) fn may_be_in(&self, text: &str) -> bool {
        // White space is ignored, since a mistake may have split a word.
        let mut text: String = text.split_whitespace().collect();
        text.make_ascii_lowercase();
        let words = [
            "encrypt",
            "passphrase",
            "privatekey",
            "certificatekey",
            "authoritykey",
        ];
        words.iter().any(|word| text.contains(word))
            || self
                .kinds
                .iter()
                .any(|kind| text.contains(&*kind.to_ascii_lowercase()))
            || values_after(&text, "deckhand/").any(is_unknown_to_deckhand)
            || values_after(&text, "storagepolicy").any(|policy| !policy.starts_with("cleartext"))
    }

    /// Whether text that was read as something else declares a secret document.
    fn are_declared_in(&self, text: &str) -> bool {
        values_after(text, "schema").any(|schema| self.has(schema))
            || values_after(text, "storagePolicy").any(|policy| !policy.starts_with("cleartext"))
    }

    /// Whether a schema may be a misspelling of a secret kind.
    fn resemble(&self, schema: &str, folder: Folder) -> bool {
        let kind = kind_of(schema).to_ascii_lowercase();
        if let Some(name) = kind.strip_prefix("deckhand/") {
            // A configuration can make a kind of Deckhand public.
            return !PUBLIC_KINDS.contains(&name)
                && !Self::SCHEMAS.iter().any(|known| {
                    known
                        .rfind('/')
                        .is_some_and(|at| schema.starts_with(&known[..=at]))
                });
        }
        // Other kinds may have names similar to configured ones.
        let own: Vec<String> = self
            .kinds
            .iter()
            .filter(|it| folder == Folder::Secrets || it.starts_with("deckhand/"))
            .map(|it| kind_of(it))
            .filter(|it| it.len().abs_diff(kind.len()) <= MAX_DISTANCE)
            .map(str::to_ascii_lowercase)
            .collect();
        is_similar(&kind, own.iter().map(|kind| &**kind))
    }
}

/// Placeholder for text that may come from a secret file.
pub const NOT_SHOWN: &str = "not shown: may hold secrets";

/// Folder of a file, as far as it affects secrecy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Folder {
    /// Below a folder `secrets`.
    Secrets,
    /// Anywhere else.
    Other,
}

impl Folder {
    /// Folder of the file at a path.
    pub(crate) fn of(path: &RepoPath) -> Self {
        let folders = path
            .as_str()
            .rsplit_once('/')
            .map_or("", |(folders, _)| folders);
        Self::among(folders.split('/'))
    }

    /// Folder of `path` in `tree`, or of the file it links to.
    pub(crate) fn in_tree(tree: &dyn Tree, path: &RepoPath) -> Self {
        match Self::of(path) {
            Self::Secrets => Self::Secrets,
            Self::Other => tree
                .real_path(path)
                .map_or(Self::Other, |real| Self::of(&real)),
        }
    }

    /// Folder of a file on disk after following links.
    pub fn on_disk(file: &Path) -> Self {
        let Ok(real) = file.canonicalize() else {
            return Self::Other;
        };
        Self::among(real.iter().filter_map(|part| part.to_str()))
    }

    fn among<'a>(mut folders: impl Iterator<Item = &'a str>) -> Self {
        let has = folders.any(|folder| folder.eq_ignore_ascii_case("secrets"));
        if has { Self::Secrets } else { Self::Other }
    }

    /// Whether text from this folder that is not a Deckhand document may be secret.
    pub fn hides(self, kinds: &SecretKinds, text: &str) -> bool {
        self == Self::Secrets || kinds.are_declared_in(text)
    }
}

/// Storage policy that a document declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoragePolicy {
    /// Exactly `encrypted`.
    Encrypted,
    /// Exactly `cleartext`, or nothing in a control document.
    Cleartext,
    /// Nothing reliable.
    Unclear,
}

/// Facts that decide whether a document is secret.
pub(super) struct Evidence<'a> {
    /// The document and its faults.
    pub(super) read: &'a Document,
    pub(super) faults: &'a [DocumentFault],
    /// Content of the document.
    pub(super) root: &'a Mapping,
    /// Pegleg's wrapper around the document, if there is one.
    pub(super) wrapper: Option<&'a Mapping>,
    pub(super) policy: StoragePolicy,
    /// YAML problems of its file.
    pub(super) problems: &'a [YamlProblem],
    /// Text of its file; empty if the document comes from several texts.
    pub(super) text: &'a str,
}

/// Secrecy of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Secrecy {
    /// It is declared public.
    Public,
    /// Its data is secret.
    Data,
    /// All of it may be secret, because it was not read reliably.
    Doubtful,
    /// All of it may be secret, including its names.
    Nameless,
}

impl Evidence<'_> {
    pub(super) fn secrecy(&self) -> Secrecy {
        let is_sound = !self.faults.iter().any(|fault| fault.kind.is_malformed())
            && self.repeated_keys().next().is_none();
        if !self.is_secret(is_sound) {
            Secrecy::Public
        } else if is_sound {
            Secrecy::Data
        } else if self.has_names() {
            Secrecy::Doubtful
        } else {
            Secrecy::Nameless
        }
    }

    fn is_secret(&self, is_sound: bool) -> bool {
        let read = self.read;
        let schema = &*self.read.key.schema;
        let kinds = &read.secret_kinds;
        self.policy != StoragePolicy::Cleartext
            || kinds.has(schema)
            || kinds.resemble(schema, read.folder)
            || !is_sound && read.folder == Folder::Secrets
            || self.repeated_keys().any(|key| SECRECY_KEYS.contains(&key))
            || self.is_wrapped_in_secret()
            || resembles_wrapper(schema, self.root)
    }

    /// Whether Pegleg's wrapper contains a secret, or is malformed.
    fn is_wrapped_in_secret(&self) -> bool {
        let Some(wrapper) = self.wrapper else {
            return false;
        };
        let data = wrapper.get("data");
        let metadata = wrapper.get("metadata").and_then(Node::as_mapping);
        self.read.wrapped_encrypted
            || !metadata.is_some_and(|it| is_exactly(it, "storagePolicy", "cleartext"))
            || data.and_then(|it| it.get("managedDocument")).is_none()
            || data
                .and_then(Node::as_mapping)
                .is_none_or(|it| has_other_keys(it, &WRAPPER_KEYS))
            || has_other_keys(wrapper, &["schema", "metadata", "data"])
            || self
                .root
                .get("data")
                .is_some_and(|data| matches!(data.value, Value::Binary(_)))
    }

    /// Whether the data is in its place, so that the names cannot be part of it.
    fn has_names(&self) -> bool {
        self.root.get("data").is_some() && !self.repeated_keys().any(|key| NAME_KEYS.contains(&key))
    }

    /// Duplicate keys of the document outside its data.
    fn repeated_keys(&self) -> impl Iterator<Item = &str> {
        let data = self.root.get("data").map(|data| data.span);
        let is_beside = move |at: Span| !data.is_some_and(|data| data.contains(at));
        self.problems
            .iter()
            .filter(move |it| self.read.span.contains(it.span) && is_beside(it.span))
            .filter_map(|it| self.text.get(it.span.range()))
            .map(|key| key.trim_matches(['"', '\'']))
    }
}

/// Keys that decide whether a document is secret.
const SECRECY_KEYS: [&str; 6] = [
    "schema",
    "metadata",
    "data",
    "storagePolicy",
    "managedDocument",
    "encrypted",
];

/// Keys that contain the names of a document.
const NAME_KEYS: [&str; 6] = [
    "schema",
    "metadata",
    "name",
    "layeringDefinition",
    "layer",
    "managedDocument",
];

/// Keys allowed in the data of a wrapper (`pegleg.md` 1.3).
const WRAPPER_KEYS: [&str; 3] = ["managedDocument", "generated", "encrypted"];

/// Kinds of Deckhand that are not secret, in lower case.
const PUBLIC_KINDS: [&str; 6] = [
    "certificate",
    "certificateauthority",
    "dataschema",
    "layeringpolicy",
    "publickey",
    "validationpolicy",
];

/// Whether text does not begin with the name of a kind of Deckhand, in lower case.
fn is_unknown_to_deckhand(text: &str) -> bool {
    let end = text
        .find(|letter: char| !letter.is_ascii_alphanumeric())
        .unwrap_or(text.len());
    let secret = SecretKinds::SCHEMAS.iter().map(|schema| kind_of(schema));
    let mut known = secret.filter_map(|kind| kind.strip_prefix("deckhand/"));
    let name = &text[..end];
    !PUBLIC_KINDS.contains(&name) && !known.any(|kind| kind.eq_ignore_ascii_case(name))
}

/// Whether a document that was not read as wrapped may be a misspelt wrapper.
fn resembles_wrapper(schema: &str, root: &Mapping) -> bool {
    const WRAPPER: &str = "pegleg/peglegmanageddocument";
    let data = root.get("data").and_then(Node::as_mapping);
    let keys = data
        .into_iter()
        .flat_map(Mapping::keys)
        .filter_map(|key| key.as_str());
    let mut long = keys.filter(|key| (12..=20).contains(&key.len()));
    is_similar(&kind_of(schema).to_ascii_lowercase(), [WRAPPER])
        || long.any(|key| is_similar(&normalized(key), ["manageddocument"]))
}

/// Whether a control document has a key that may be a misspelt storage policy.
pub(super) fn has_mistyped_policy(metadata: &Mapping) -> bool {
    let mut keys = metadata.keys().filter_map(|key| key.as_str());
    keys.any(|key| key != "storagePolicy" && is_similar(&normalized(key), ["storagepolicy"]))
}

/// Whether `mapping`, whose text is at `at`, has the value of `key` written after the key, rather
/// than from an alias or merge.
pub(super) fn is_written_in(mapping: &Mapping, at: Span, key: &str) -> bool {
    let Some((key, value)) = mapping.get_entry(key) else {
        return false;
    };
    let is_of_other = || mapping.values().any(|other| other.span.contains(key.span));
    at.contains(key.span) && key.span.end <= value.span.start && !is_of_other()
}

fn is_exactly(mapping: &Mapping, key: &str, value: &str) -> bool {
    mapping.get(key).and_then(Node::as_str) == Some(value)
}

fn has_other_keys(mapping: &Mapping, known: &[&str]) -> bool {
    mapping
        .keys()
        .any(|key| key.as_str().is_none_or(|key| !known.contains(&key)))
}

/// Texts that follow a key, in YAML or JSON.
fn values_after<'t>(text: &'t str, key: &'t str) -> impl Iterator<Item = &'t str> {
    let keys = text.match_indices(key);
    keys.map(move |(at, _)| text[at + key.len()..].trim_start_matches([' ', ':', '"', '\'']))
}

/// Namespace and kind of a schema.
fn kind_of(schema: &str) -> &str {
    let second = schema.match_indices('/').nth(1);
    second.map_or(schema, |(at, _)| &schema[..at])
}

/// Maximum edit distance of a mistyped name from the intended one.
const MAX_DISTANCE: usize = 3;

/// Normalizes a key to lower-case letters and digits.
fn normalized(key: &str) -> String {
    key.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|it| it.to_ascii_lowercase())
        .collect()
}

/// Whether a name is one of `names`, or a misspelling of one.
fn is_similar<'a>(name: &str, names: impl IntoIterator<Item = &'a str> + Clone) -> bool {
    const MAX_COMPARED_BYTES: usize = 100;
    name.len() <= MAX_COMPARED_BYTES
        && (names.clone().into_iter().any(|it| it == name) || nearest(name, names).is_some())
}

impl DocumentFaultKind {
    /// Whether the text is malformed; otherwise, it was read but has no effect or an unexpected
    /// one.
    fn is_malformed(&self) -> bool {
        match self {
            // The data is in its place.
            DocumentFaultKind::WrongType { field, .. } => field != "data",
            DocumentFaultKind::NotADocument { .. }
            | DocumentFaultKind::Empty { .. }
            | DocumentFaultKind::MissingField { .. }
            | DocumentFaultKind::RenamedKey { .. }
            | DocumentFaultKind::WrongValue { .. }
            | DocumentFaultKind::UnknownField { .. }
            | DocumentFaultKind::UnknownKey { .. }
            | DocumentFaultKind::MissingData
            | DocumentFaultKind::UnknownMethod { .. }
            | DocumentFaultKind::InvalidPath { .. }
            | DocumentFaultKind::InvalidPattern { .. } => true,
            DocumentFaultKind::Unpaired { .. }
            | DocumentFaultKind::DifferentPath { .. }
            | DocumentFaultKind::MissingDepth
            | DocumentFaultKind::UnusableSchemaName { .. } => false,
        }
    }

    /// Whether its message quotes text of the document.
    pub(crate) fn quotes(&self) -> bool {
        match self {
            DocumentFaultKind::UnknownField { .. }
            | DocumentFaultKind::UnknownKey { .. }
            | DocumentFaultKind::UnknownMethod { .. }
            | DocumentFaultKind::InvalidPath { .. }
            | DocumentFaultKind::InvalidPattern { .. }
            | DocumentFaultKind::DifferentPath { .. }
            | DocumentFaultKind::UnusableSchemaName { .. } => true,
            DocumentFaultKind::WrongType { field, .. } => {
                field.starts_with("metadata.labels.") || field.contains(".parentSelector.")
            }
            DocumentFaultKind::NotADocument { .. }
            | DocumentFaultKind::Empty { .. }
            | DocumentFaultKind::MissingField { .. }
            | DocumentFaultKind::RenamedKey { .. }
            | DocumentFaultKind::WrongValue { .. }
            | DocumentFaultKind::Unpaired { .. }
            | DocumentFaultKind::MissingData
            | DocumentFaultKind::MissingDepth => false,
        }
    }
}
