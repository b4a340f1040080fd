//! Base URIs of a SARIF log: the root of the repository and of each further repository.

use std::collections::{BTreeMap, BTreeSet};

use super::log::{ArtifactBase, ArtifactLocation, SarifMessage};
use crate::report::links::encoded;
use crate::report::model::Report;
use crate::report::story::{SiteNames, used_repositories};

/// Base id of the repository's root.
const ROOT: &str = "%SRCROOT%";

/// Base ids of all repositories.
pub(super) struct UriBases<'r> {
    pub(super) report: &'r Report,
    /// Base id by name of a further repository.
    further: BTreeMap<&'r str, String>,
}

impl<'r> UriBases<'r> {
    pub(super) fn of(report: &'r Report) -> Self {
        let names: BTreeSet<&str> = report.repositories.iter().map(|it| &*it.name).collect();
        let mut further: BTreeMap<&str, String> = BTreeMap::new();
        for name in names {
            let first = base_id(name);
            let mut numbered = (2..).map(|number| format!("{first}_{number}"));
            let is_free = |id: &String| !further.values().any(|other| other == id);
            let id = Some(first.clone())
                .filter(is_free)
                .or_else(|| numbered.find(is_free));
            further.insert(name, id.expect("one of the numbers is free"));
        }
        Self { report, further }
    }

    /// Returns the declarations of all base ids. None has a URI, since the location of a clone is
    /// specific to a machine.
    pub(super) fn declared(&self) -> BTreeMap<String, ArtifactBase> {
        let base = |words: &str| ArtifactBase {
            description: SarifMessage::new(words),
        };
        let used = used_repositories(self.report, &SiteNames::new(self.report));
        let mut declared = BTreeMap::from([(ROOT.to_owned(), base("the root of the repository"))]);
        for (name, id) in &self.further {
            let lines = self
                .report
                .repositories
                .iter()
                .zip(&used)
                .filter(|(it, _)| it.name == *name)
                .map(|(_, text)| text.words())
                .collect::<Vec<_>>()
                .join("; ");
            let words = format!("the root of a further repository: {lines}");
            declared.insert(id.clone(), base(&words));
        }
        declared
    }

    /// Returns a file relative to the root of its repository.
    pub(super) fn artifact(&self, file: &str) -> ArtifactLocation {
        let further = self.report.repository_of(file);
        let (path, base) = match further {
            Some((used, path)) => (path, &*self.further[&*used.name]),
            None => (file, ROOT),
        };
        ArtifactLocation {
            uri: encoded(path),
            uri_base_id: base.to_owned(),
        }
    }
}

/// Returns a base id for a name; it is not necessarily unique.
fn base_id(name: &str) -> String {
    format!(
        "REPOSITORY_{}",
        name.chars()
            .map(|letter| {
                if letter.is_ascii_alphanumeric() {
                    letter
                } else {
                    '_'
                }
            })
            .collect::<String>()
            .to_ascii_uppercase()
    )
}
