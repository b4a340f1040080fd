//! Secrecy of documents: the only place that decides it.
//!
//! A document is public only if it says so and was read as exactly that. Where any of
//! it is in doubt, it is secret.

pub(crate) mod later;

use std::path::Path;
use std::sync::Arc;

use super::document::{Document, DocumentFault, DocumentFaultKind};
use crate::near::nearest;
use crate::source::{RepoPath, Span, Tree};
use crate::yaml::{Mapping, Node, Value, YamlProblem};

/// Kinds of document that are secret whatever their storage policy says: by
/// default those of Deckhand's that hold keys and passphrases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretKinds {
    /// The beginnings of their schemas, up to the version.
    kinds: Arc<[Arc<str>]>,
}

impl Default for SecretKinds {
    fn default() -> Self {
        Self::new(Self::SCHEMAS)
    }
}

impl SecretKinds {
    /// The schemas that are secret where nothing else is said.
    pub(crate) const SCHEMAS: [&str; 4] = [
        "deckhand/CertificateAuthorityKey/v1",
        "deckhand/CertificateKey/v1",
        "deckhand/Passphrase/v1",
        "deckhand/PrivateKey/v1",
    ];

    /// The kinds of these schemas, in any version.
    pub(crate) fn new<'a>(schemas: impl IntoIterator<Item = &'a str>) -> Self {
        let kind = |schema: &'a str| {
            let kind = schema.rfind('/').map_or(schema, |at| &schema[..=at]);
            Arc::from(kind)
        };
        Self { kinds: schemas.into_iter().map(kind).collect() }
    }

    /// Whether documents of `schema` are secret.
    pub(crate) fn has(&self, schema: &str) -> bool {
        self.kinds.iter().any(|kind| schema.starts_with(&**kind))
    }

    /// Whether text that was not read as documents may hold a secret: it names a secret
    /// kind, or one that Deckhand does not have, or speaks of encryption.
    pub(crate) fn may_be_in(&self, text: &str) -> bool {
        // White space that a mistake put into a word does not make it another one.
        let mut text: String = text.split_whitespace().collect();
        text.make_ascii_lowercase();
        let words = ["encrypt", "passphrase", "privatekey", "certificatekey", "authoritykey"];
        words.iter().any(|word| text.contains(word))
            || self.kinds.iter().any(|kind| text.contains(&*kind.to_ascii_lowercase()))
            || values_after(&text, "deckhand/").any(is_unknown_to_deckhand)
            || values_after(&text, "storagepolicy").any(|policy| !policy.starts_with("cleartext"))
    }

    /// Whether a text that was read as something else declares a secret document.
    fn are_declared_in(&self, text: &str) -> bool {
        values_after(text, "schema").any(|schema| self.has(schema))
            || values_after(text, "storagePolicy").any(|policy| !policy.starts_with("cleartext"))
    }

    /// Whether a schema may be meant for that of a secret kind.
    fn resemble(&self, schema: &str, folder: Folder) -> bool {
        let kind = kind_of(schema).to_ascii_lowercase();
        if let Some(name) = kind.strip_prefix("deckhand/") {
            // A configuration may say that a kind of Deckhand's is not secret.
            let is_kind =
                |known: &&str| known.rfind('/').is_some_and(|at| schema.starts_with(&known[..=at]));
            return !PUBLIC_KINDS.contains(&name) && !Self::SCHEMAS.iter().any(is_kind);
        }
        // Other kinds may have names that are nearly those of configured ones.
        let is_meant = |it: &&Arc<str>| folder == Folder::Secrets || it.starts_with("deckhand/");
        let is_as_long = |it: &&str| it.len().abs_diff(kind.len()) <= MAX_SLIPS;
        let own = self.kinds.iter().filter(is_meant).map(|it| kind_of(it)).filter(is_as_long);
        let own: Vec<String> = own.map(str::to_ascii_lowercase).collect();
        is_nearly(&kind, own.iter().map(|kind| &**kind))
    }
}

/// Said in the place of words that could hold text of a secret file.
pub const NOT_SHOWN: &str = "not shown: may hold secrets";

/// The folder of a file, as far as secrecy depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Folder {
    /// Below a folder `secrets`.
    Secrets,
    /// Anywhere else.
    Other,
}

impl Folder {
    /// That of the file at a path.
    pub(crate) fn of(path: &RepoPath) -> Self {
        let folders = path.as_str().rsplit_once('/').map_or("", |(folders, _)| folders);
        Self::among(folders.split('/'))
    }

    /// That of what `path` of `tree` is, or is a link to.
    pub(crate) fn in_tree(tree: &dyn Tree, path: &RepoPath) -> Self {
        match Self::of(path) {
            Self::Secrets => Self::Secrets,
            Self::Other => tree.real_path(path).map_or(Self::Other, |real| Self::of(&real)),
        }
    }

    /// That of a file on disk, links followed.
    pub fn on_disk(file: &Path) -> Self {
        let Ok(real) = file.canonicalize() else { return Self::Other };
        Self::among(real.iter().filter_map(|part| part.to_str()))
    }

    fn among<'a>(mut folders: impl Iterator<Item = &'a str>) -> Self {
        let has = folders.any(|folder| folder.eq_ignore_ascii_case("secrets"));
        if has { Self::Secrets } else { Self::Other }
    }

    /// Whether a text from there that is not a Deckhand document may be secret.
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
    /// Nothing that can be relied on.
    Unclear,
}

/// Facts that decide whether a document is secret.
pub(super) struct Evidence<'a> {
    /// The document, with what is wrong with it.
    pub(super) read: &'a Document,
    pub(super) faults: &'a [DocumentFault],
    /// Its content.
    pub(super) root: &'a Mapping,
    /// Pegleg's wrapping around it, if it has one.
    pub(super) wrapper: Option<&'a Mapping>,
    pub(super) policy: StoragePolicy,
    /// Problems of the YAML of its file.
    pub(super) problems: &'a [YamlProblem],
    /// Text of its file; empty if the document is made of several texts.
    pub(super) text: &'a str,
}

/// Secrecy of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Secrecy {
    /// It says that it is public.
    Public,
    /// Its data is secret.
    Data,
    /// All of it may be secret: it was not read as exactly what it should be.
    Doubtful,
    /// All of it may be secret, its names included.
    Nameless,
}

impl Evidence<'_> {
    pub(super) fn secrecy(&self) -> Secrecy {
        let is_sound = !self.faults.iter().any(|fault| fault.kind.is_of_form())
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
        let (read, schema) = (self.read, &*self.read.key.schema);
        let kinds = &read.secret_kinds;
        self.policy != StoragePolicy::Cleartext
            || kinds.has(schema)
            || kinds.resemble(schema, read.folder)
            || !is_sound && read.folder == Folder::Secrets
            || self.repeated_keys().any(|key| DECISIVE.contains(&key))
            || self.is_wrapped_in_secret()
            || resembles_wrapper(schema, self.root)
    }

    /// Whether Pegleg's wrapping is one of a secret, or is not as it should be.
    fn is_wrapped_in_secret(&self) -> bool {
        let Some(wrapper) = self.wrapper else { return false };
        let data = wrapper.get("data");
        let metadata = wrapper.get("metadata").and_then(Node::as_mapping);
        let is_token = |data: &Node| matches!(data.value, Value::Binary(_));
        self.read.wrapped_encrypted
            || !metadata.is_some_and(|it| is_exactly(it, "storagePolicy", "cleartext"))
            || data.and_then(|it| it.get("managedDocument")).is_none()
            || data.and_then(Node::as_mapping).is_none_or(|it| has_keys_beside(it, &WRAPPED))
            || has_keys_beside(wrapper, &["schema", "metadata", "data"])
            || self.root.get("data").is_some_and(is_token)
    }

    /// Whether the data is where it should be, so that the names cannot be part of it.
    fn has_names(&self) -> bool {
        self.root.get("data").is_some() && !self.repeated_keys().any(|key| NAMING.contains(&key))
    }

    /// Duplicated keys of the document outside of its data.
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
const DECISIVE: [&str; 6] =
    ["schema", "metadata", "data", "storagePolicy", "managedDocument", "encrypted"];

/// Keys from which the names of a document are read.
const NAMING: [&str; 6] =
    ["schema", "metadata", "name", "layeringDefinition", "layer", "managedDocument"];

/// Keys beside which the data of a wrapping has no others (`pegleg.md` 1.3).
const WRAPPED: [&str; 3] = ["managedDocument", "generated", "encrypted"];

/// Kinds of Deckhand that are not secret, in lower case.
const PUBLIC_KINDS: [&str; 6] = [
    "certificate",
    "certificateauthority",
    "dataschema",
    "layeringpolicy",
    "publickey",
    "validationpolicy",
];

/// Whether a text does not begin with the name of a kind of Deckhand's, in lower case.
fn is_unknown_to_deckhand(text: &str) -> bool {
    let end = text.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(text.len());
    let secret = SecretKinds::SCHEMAS.iter().map(|schema| kind_of(schema));
    let mut known = secret.filter_map(|kind| kind.strip_prefix("deckhand/"));
    let name = &text[..end];
    !PUBLIC_KINDS.contains(&name) && !known.any(|kind| kind.eq_ignore_ascii_case(name))
}

/// Whether a document that is not read as wrapped may be meant to be.
fn resembles_wrapper(schema: &str, root: &Mapping) -> bool {
    const WRAPPER: &str = "pegleg/peglegmanageddocument";
    let data = root.get("data").and_then(Node::as_mapping);
    let keys = data.into_iter().flat_map(Mapping::keys).filter_map(|key| key.as_str());
    let mut long = keys.filter(|key| (12..=20).contains(&key.len()));
    is_nearly(&kind_of(schema).to_ascii_lowercase(), [WRAPPER])
        || long.any(|key| is_nearly(&plain(key), ["manageddocument"]))
}

/// Whether a control document has a key that may be meant for its storage policy.
pub(super) fn has_mistyped_policy(metadata: &Mapping) -> bool {
    let mut keys = metadata.keys().filter_map(|key| key.as_str());
    keys.any(|key| key != "storagePolicy" && is_nearly(&plain(key), ["storagepolicy"]))
}

/// Whether `mapping`, whose text is at `at`, has its value of `key` written after the
/// key, and does not owe it to an alias or a merge.
pub(super) fn is_written_in(mapping: &Mapping, at: Span, key: &str) -> bool {
    let Some((key, value)) = mapping.get_entry(key) else { return false };
    let is_of_other = || mapping.values().any(|other| other.span.contains(key.span));
    at.contains(key.span) && key.span.end <= value.span.start && !is_of_other()
}

fn is_exactly(mapping: &Mapping, key: &str, value: &str) -> bool {
    mapping.get(key).and_then(Node::as_str) == Some(value)
}

fn has_keys_beside(mapping: &Mapping, known: &[&str]) -> bool {
    mapping.keys().any(|key| key.as_str().is_none_or(|key| !known.contains(&key)))
}

/// The texts that follow a key, in YAML or JSON.
fn values_after<'t>(text: &'t str, key: &'t str) -> impl Iterator<Item = &'t str> {
    let keys = text.match_indices(key);
    keys.map(move |(at, _)| text[at + key.len()..].trim_start_matches([' ', ':', '"', '\'']))
}

/// The namespace and kind of a schema.
fn kind_of(schema: &str) -> &str {
    let second = schema.match_indices('/').nth(1);
    second.map_or(schema, |(at, _)| &schema[..at])
}

/// Maximum number of letters by which a mistyped name differs from the intended one.
const MAX_SLIPS: usize = 3;

/// A key without what people write differently in keys.
fn plain(key: &str) -> String {
    key.chars().filter(char::is_ascii_alphanumeric).map(|it| it.to_ascii_lowercase()).collect()
}

/// Whether a name is one of `names`, but for a slip of the hand.
fn is_nearly<'a>(name: &str, names: impl IntoIterator<Item = &'a str> + Clone) -> bool {
    const MAX_COMPARED_BYTES: usize = 100;
    name.len() <= MAX_COMPARED_BYTES
        && (names.clone().into_iter().any(|it| it == name) || nearest(name, names).is_some())
}

impl DocumentFaultKind {
    /// Whether the text was not read as what it should be; otherwise what was read
    /// has no effect, or another one than expected.
    fn is_of_form(&self) -> bool {
        match self {
            // The data is where it should be.
            DocumentFaultKind::WrongType { field, .. } => field != "data",
            DocumentFaultKind::NotADocument { .. }
            | DocumentFaultKind::Empty { .. }
            | DocumentFaultKind::MissingField { .. }
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

    /// Whether its words hold text of the document.
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
            | DocumentFaultKind::WrongValue { .. }
            | DocumentFaultKind::Unpaired { .. }
            | DocumentFaultKind::MissingData
            | DocumentFaultKind::MissingDepth => false,
        }
    }
}
