//! Links to lines of a repository: addresses made of a template such as
//! `https://git.example.org/sites/blob/{sha}/{path}#L{line}`.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::model::{FilePlace, Report, ReportedSide};
use super::text::TextLink;

/// A template of addresses.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Links {
    template: String,
}

/// Names that a template may have in braces.
const NAMES: [&str; 3] = ["sha", "path", "line"];

impl Links {
    /// Reads a template.
    ///
    /// # Errors
    /// What is wrong with it: nothing but `http` and `https` is linked to, and
    /// in braces there is nothing but `sha`, `path` and `line`.
    pub fn new(template: &str) -> Result<Self, String> {
        if !template.starts_with("https://") && !template.starts_with("http://") {
            return Err("a link begins with `https://` or `http://`".to_owned());
        }
        if template
            .contains(|it: char| it.is_whitespace() || it.is_control() || "<>\"".contains(it))
        {
            return Err("a link has neither spaces nor `<`, `>` and `\"`".to_owned());
        }
        let mut rest = template;
        while let Some((_, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            if !NAMES.contains(&name) {
                return Err(
                    "a link has `{sha}`, `{path}` and `{line}`, and no other braces".to_owned()
                );
            }
            rest = after;
        }
        Ok(Self { template: template.to_owned() })
    }

    /// The address of a line of a file at a commit; none where the template
    /// asks for a commit and there is none.
    fn to(&self, commit: Option<&str>, file: &str, line: usize) -> Option<String> {
        let mut address = String::new();
        let mut rest = &*self.template;
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}')?;
            address.push_str(before);
            match name {
                "sha" => address.push_str(commit?),
                "path" => address.push_str(&encoded(file)),
                _ => write!(address, "{line}").expect("strings take text"),
            }
            rest = after;
        }
        address.push_str(rest);
        Some(address)
    }
}

impl Report {
    /// The address that a link leads to outside of the report, where there is one.
    pub(super) fn address(&self, link: &TextLink) -> Option<String> {
        let sides = self.comparison.as_ref();
        match link {
            TextLink::Head(place) => self.address_of(place, sides.map(|it| &it.head)),
            TextLink::Base(place) => self.address_of(place, sides.map(|it| &it.base)),
            TextLink::Anchor(_) => None,
        }
    }

    /// A place in a further repository is linked by that repository's own template and commit,
    /// as a line of another revision may be another line.
    fn address_of(&self, place: &FilePlace, side: Option<&ReportedSide>) -> Option<String> {
        match self.repository_of(&place.file) {
            Some((used, path)) => {
                used.links.as_ref()?.to(place.commit.as_deref(), path, place.line)
            }
            None => {
                let commit = side.and_then(|side| side.commit.as_deref());
                self.links.as_ref()?.to(commit, &place.file, place.line)
            }
        }
    }
}

/// A path as an address has it: what is no unreserved character of RFC 3986
/// and no `/` is percent-encoded.
pub(super) fn encoded(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            write!(encoded, "%{byte:02X}").expect("strings take text");
        }
    }
    encoded
}

impl TryFrom<String> for Links {
    type Error = String;

    fn try_from(template: String) -> Result<Self, String> {
        Self::new(&template)
    }
}

impl From<Links> for String {
    fn from(links: Links) -> Self {
        links.template
    }
}
