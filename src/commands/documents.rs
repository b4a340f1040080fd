//! Documents selected by globs of their schemas and names.

use std::collections::BTreeSet;

use globset::GlobSet;

use super::globs;
use crate::ask;
use crate::error::Error;
use crate::source::DocKey;

/// Globs of schemas and names.
#[derive(Clone, Debug, Default)]
pub struct DocumentGlobs {
    /// Globs of schemas; all if empty.
    pub schemas: Vec<String>,
    /// Globs of names; all if empty.
    pub names: Vec<String>,
}

impl DocumentGlobs {
    /// Whether they match all documents.
    pub fn is_empty(&self) -> bool {
        self.schemas.is_empty() && self.names.is_empty()
    }

    /// # Errors
    /// If a glob is invalid.
    pub(crate) fn matcher(&self) -> Result<DocumentMatcher, Error> {
        Ok(DocumentMatcher {
            schemas: globs(&self.schemas)?,
            names: globs(&self.names)?,
        })
    }

    /// Checks that each glob matches the schema or name of one of these documents, and one of them
    /// matches both kinds.
    ///
    /// # Errors
    /// If not; the help suggests a similar name.
    pub(crate) fn ensure_matched(&self, what: &str, known: &BTreeSet<DocKey>) -> Result<(), Error> {
        let of_schemas: BTreeSet<&str> = known.iter().map(|key| &*key.schema).collect();
        let of_names: BTreeSet<&str> = known.iter().map(|key| &*key.name).collect();
        let kinds = [
            ("schema", "schema", &self.schemas, &of_schemas),
            ("name", "document", &self.names, &of_names),
        ];
        for (field, kind, wanted, known) in kinds {
            for glob in wanted {
                let matcher = globs(std::slice::from_ref(glob))?;
                if !known.iter().any(|text| is_matched(matcher.as_ref(), text)) {
                    let message = format!("no {what} has the {field} `{glob}`");
                    return Err(ask::unknown(message, kind, glob, known));
                }
            }
        }
        let matcher = self.matcher()?;
        if self.is_empty() || known.iter().any(|key| matcher.matches(key)) {
            return Ok(());
        }
        let message = format!("no {what} has both the schema and the name");
        Err(Error::usage(message).with_help("omit the schema"))
    }
}

/// Compiled [`DocumentGlobs`].
pub(crate) struct DocumentMatcher {
    schemas: Option<GlobSet>,
    names: Option<GlobSet>,
}

impl DocumentMatcher {
    pub(crate) fn matches_all(&self) -> bool {
        self.schemas.is_none() && self.names.is_none()
    }

    pub(crate) fn matches(&self, key: &DocKey) -> bool {
        is_matched(self.schemas.as_ref(), &key.schema) && is_matched(self.names.as_ref(), &key.name)
    }
}

fn is_matched(globs: Option<&GlobSet>, text: &str) -> bool {
    globs.is_none_or(|globs| globs.is_match(text))
}
