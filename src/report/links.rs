//! Links to lines of a repository, built from a template such as
//! `https://git.example.org/sites/blob/{sha}/{path}#L{line}`, and links to the pages of rules.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::model::{FilePlace, Report, ReportedSide};
use super::text::TextLink;
use crate::diagnostic::Rule;

/// URL template for lines of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Links {
    template: String,
}

/// Placeholders allowed in a template.
const NAMES: [&str; 3] = ["sha", "path", "line"];

impl Links {
    /// Parses a template.
    ///
    /// # Errors
    /// Returns a message if the template is not an `http` or `https` URL, or contains a placeholder
    /// other than `{sha}`, `{path}` and `{line}`.
    pub fn new(template: &str) -> Result<Self, String> {
        check_url(template)?;
        let mut rest = template;
        while let Some((_, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            if !NAMES.contains(&name) {
                return Err(
                    "the only valid placeholders are `{sha}`, `{path}` and `{line}`".to_owned(),
                );
            }
            rest = after;
        }
        Ok(Self {
            template: template.to_owned(),
        })
    }

    /// Returns the URL of a line of a file at a commit; `None` if the template requires a commit
    /// and there is none.
    fn to(&self, commit: Option<&str>, file: &str, line: usize) -> Option<String> {
        let mut address = String::new();
        let mut rest = &*self.template;
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}')?;
            address.push_str(before);
            match name {
                "sha" => address.push_str(commit?),
                "path" => address.push_str(&encoded(file)),
                _ => write!(address, "{line}").expect("writing to a string cannot fail"),
            }
            rest = after;
        }
        address.push_str(rest);
        Some(address)
    }
}

/// Checks that `url` is an `http` or `https` URL without characters that could end a link.
fn check_url(url: &str) -> Result<(), String> {
    if !url.starts_with("https://") && !url.starts_with("http://") {
        return Err("expected a URL that begins with `https://` or `http://`".to_owned());
    }
    if url.contains(|it: char| it.is_whitespace() || it.is_control() || "<>\"".contains(it)) {
        return Err("a URL cannot contain spaces, `<`, `>` or `\"`".to_owned());
    }
    Ok(())
}

/// Published pages of the rules, `BASE/rules/NAME.html`, and other pages beside them.
#[derive(Clone, Debug)]
pub struct RulePages {
    /// Base URL without a final slash.
    base: String,
    /// Rules that have a page.
    rules: &'static [&'static Rule],
}

impl RulePages {
    /// Creates the pages of `rules` below a base URL.
    ///
    /// # Errors
    /// Returns a message if the base is not an `http` or `https` URL to which a path can be
    /// appended.
    pub fn new(base: &str, rules: &'static [&'static Rule]) -> Result<Self, String> {
        check_url(base)?;
        let base = base.trim_end_matches('/');
        let has_host = base
            .split_once("://")
            .is_some_and(|(_, rest)| !rest.starts_with('/'));
        let is_folder = !base.contains(['?', '#', '{', '}', '|', '\\', '^', '`']);
        if !base.is_ascii() || !has_host || !is_folder {
            return Err("expected the URL of a folder in ASCII, without `?` and `#`".to_owned());
        }
        Ok(Self {
            base: base.to_owned(),
            rules,
        })
    }

    /// Returns the URL of the page of a rule; `None` if there is no rule with this name.
    pub(crate) fn address(&self, name: &str) -> Option<String> {
        let rule = self.rules.iter().find(|rule| rule.name == name)?;
        Some(format!("{}/rules/{}.html", self.base, rule.name))
    }

    /// Returns the URL of the section about what a report cannot see.
    fn limits(&self) -> String {
        format!("{}/deployment.html#what-a-report-cannot-see", self.base)
    }
}

impl Report {
    /// Returns the URL of the page of a rule, if pages are published.
    pub(super) fn rule_address(&self, name: &str) -> Option<String> {
        self.rule_pages.as_ref()?.address(name)
    }

    /// Returns the URL that a link points to outside of the report, if any.
    pub(super) fn address(&self, link: &TextLink) -> Option<String> {
        let sides = self.comparison.as_ref();
        match link {
            TextLink::Head(place) => self.address_of(place, sides.map(|it| &it.head)),
            TextLink::Base(place) => self.address_of(place, sides.map(|it| &it.base)),
            TextLink::Rule(name) => self.rule_address(name),
            TextLink::Limits => self.rule_pages.as_ref().map(RulePages::limits),
            TextLink::Anchor(_) => None,
        }
    }

    /// Returns the URL of a place. A place in a further repository uses that repository's own
    /// template and commit, since line numbers depend on the revision.
    fn address_of(&self, place: &FilePlace, side: Option<&ReportedSide>) -> Option<String> {
        match self.repository_of(&place.file) {
            Some((used, path)) => {
                used.links
                    .as_ref()?
                    .to(place.commit.as_deref(), path, place.line)
            }
            None => {
                let commit = side.and_then(|side| side.commit.as_deref());
                self.links.as_ref()?.to(commit, &place.file, place.line)
            }
        }
    }
}

/// Percent-encodes a path: everything except `/` and the unreserved characters of RFC 3986.
pub(super) fn encoded(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            write!(encoded, "%{byte:02X}").expect("writing to a string cannot fail");
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
