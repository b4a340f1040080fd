//! References to container images, as `docker.io/library/redis:7` (grammar: `distribution/reference`).

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use crate::yaml::emit::scalar_text;
use crate::yaml::{Node, Value};

/// A reference to a container image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Image {
    /// Host, with its port.
    pub(crate) registry: String,
    /// Name in the registry.
    #[serde(rename = "repository")]
    pub(crate) name: String,
    pub(crate) tag: Option<String>,
    /// `ALGORITHM:HEX`.
    pub(crate) digest: Option<String>,
}

/// Registry of a reference without one.
const DEFAULT_REGISTRY: &str = "docker.io";

impl Image {
    /// The image that a value refers to: a string, or a mapping with `repository` and `tag`, as charts
    /// have it.
    pub(crate) fn of(node: &Node) -> Option<Self> {
        match &node.value {
            Value::String(text) => Self::parse(text),
            Value::Mapping(_) => {
                let repository = node.get("repository")?.as_str()?;
                // YAML reads a tag such as 1.5 as a number.
                let tag = scalar_text(&node.get("tag")?.value);
                Self::parse(&format!("{repository}:{tag}"))
            }
            _ => None,
        }
    }

    /// Parses a reference. A single word is not taken for one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (rest, digest) = split(text, '@');
        // A colon before a slash is that of a port.
        let (path, tag) = match split(rest, ':') {
            (_, Some(tag)) if tag.contains('/') => (rest, None),
            parts => parts,
        };
        let is_word = digest.is_none() && tag.is_none() && !path.contains('/');
        let (registry, name) = match path.split_once('/') {
            Some((host, name)) if is_host(host) => (host, name),
            Some(_) | None => (DEFAULT_REGISTRY, path),
        };
        let is_image = !is_word
            && is_registry(registry)
            && name.split('/').all(is_component)
            && tag.is_none_or(is_tag)
            && digest.is_none_or(is_digest);
        is_image.then(|| Self {
            registry: registry.to_owned(),
            name: name.to_owned(),
            tag: tag.map(str::to_owned),
            digest: digest.map(str::to_owned),
        })
    }
}

/// The whole reference, with its registry.
impl Display for Image {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.name)?;
        let parts = [(':', &self.tag), ('@', &self.digest)];
        let mut parts = parts
            .into_iter()
            .filter_map(|(mark, part)| Some((mark, part.as_ref()?)));
        parts.try_for_each(|(mark, part)| write!(f, "{mark}{part}"))
    }
}

/// A change of an image; for another tag, with the common part once.
pub(in crate::report) fn changed(base: &str, head: &str) -> String {
    let [(repository, before), (other, after)] = [split(base, ':'), split(head, ':')];
    match (before, after) {
        (Some(before), Some(after)) if repository == other => {
            format!("{repository}: {before} → {after}")
        }
        _ => format!("{base} → {head}"),
    }
}

fn split(text: &str, mark: char) -> (&str, Option<&str>) {
    match text.rsplit_once(mark) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

/// Whether the first component of a path is a registry.
fn is_host(text: &str) -> bool {
    text.contains(['.', ':']) || text == "localhost"
}

fn is_registry(text: &str) -> bool {
    let (host, port) = split(text, ':');
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte);
    !host.is_empty()
        && host.bytes().all(is_name)
        && port
            .is_none_or(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_component(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends = [text.bytes().next(), text.bytes().last()];
    ends.into_iter().all(|end| end.is_some_and(is_letter))
        && text
            .bytes()
            .all(|byte| is_letter(byte) || b"._-".contains(&byte))
}

fn is_tag(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=128).contains(&text.len()) && text.bytes().all(is_part) && !text.starts_with(['.', '-'])
}

fn is_digest(text: &str) -> bool {
    let (algorithm, digits) = split(text, ':');
    !algorithm.is_empty()
        && digits
            .is_some_and(|it| it.len() >= 32 && it.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
