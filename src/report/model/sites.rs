//! Sites of a report, and deduplicated sets of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use indexmap::IndexSet;
use serde::{Deserialize, Serialize};

use super::id::SetRef;
use super::is_default;
use crate::compare::DeployedCounts;

/// A site with its results.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(expecting = "a site")]
pub struct ReportedSite {
    /// Name of the site; `None` for files without a site layout.
    pub(crate) name: Option<String>,
    /// Type of the site; `None` if it has none or it is unknown.
    #[serde(rename = "type")]
    pub(crate) site_type: Option<String>,
    /// Number of outputs on the base side; `None` if the site does not exist there, or without a
    /// comparison.
    pub(crate) base: Option<usize>,
    /// Number of outputs on the head side; `None` if the site no longer exists, or was not read.
    pub(crate) head: Option<usize>,
    /// Whether the site was not read, since no edit can reach it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) unread: bool,
    /// Counts of changes and findings.
    #[serde(flatten)]
    pub counts: SiteCounts,
}

/// Counts of changes and findings of a site.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize,
)]
pub struct SiteCounts {
    /// New error-level findings; without a comparison all of them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) errors: usize,
    /// Whether Deckhand would reject the site in its current state.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) refused: bool,
    /// Outputs that exist on both sides and differ, including those that cannot be rendered on one
    /// side.
    #[serde(default, skip_serializing_if = "is_default")]
    pub changed: usize,
    /// Added outputs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub added: usize,
    /// Removed outputs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub removed: usize,
    /// Outputs that cannot be compared.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) not_comparable: usize,
    /// Changed outputs by whether they are deployed.
    #[serde(flatten)]
    pub(crate) deployed: DeployedCounts,
    /// Edits that are shielded in the site.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) shielded: usize,
}

/// A set of sites.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SiteSet {
    /// Id in this report.
    pub(crate) id: SetRef,
    /// Indices into the report's sites, ascending.
    pub(crate) sites: Vec<usize>,
}

/// Sites and the sets found so far.
pub(super) struct SiteSets {
    pub(super) sites: Vec<ReportedSite>,
    numbers: HashMap<Option<Arc<str>>, usize>,
    sets: IndexSet<Vec<usize>>,
}

impl SiteSets {
    /// Creates an empty collection for these sites and for all names in `named`.
    pub(super) fn new(
        sites: impl IntoIterator<Item = (Option<Arc<str>>, ReportedSite)>,
        named: impl IntoIterator<Item = Arc<str>>,
    ) -> Self {
        let mut by_name: BTreeMap<Option<Arc<str>>, ReportedSite> = sites.into_iter().collect();
        let named: BTreeSet<Arc<str>> = named.into_iter().collect();
        for name in named {
            by_name
                .entry(Some(name.clone()))
                .or_insert_with(|| ReportedSite {
                    name: Some(name.to_string()),
                    ..ReportedSite::default()
                });
        }
        let numbers = by_name
            .keys()
            .cloned()
            .enumerate()
            .map(|(at, name)| (name, at))
            .collect();
        let sites = by_name.into_values().collect();
        Self {
            sites,
            numbers,
            sets: IndexSet::new(),
        }
    }

    /// Returns the id of the set of these sites.
    pub(super) fn set_of<'a>(
        &mut self,
        sites: impl IntoIterator<Item = Option<&'a Arc<str>>>,
    ) -> SetRef {
        let mut numbers: Vec<usize> = sites
            .into_iter()
            .filter_map(|site| self.number_of(site))
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        SetRef::at(self.sets.insert_full(numbers).0)
    }

    /// Returns the sets found so far.
    pub(super) fn listed(&self) -> Vec<SiteSet> {
        let sets = self.sets.iter().cloned().enumerate();
        sets.map(|(at, sites)| SiteSet {
            id: SetRef::at(at),
            sites,
        })
        .collect()
    }

    /// Returns the index of a site.
    pub(super) fn number_of(&self, site: Option<&Arc<str>>) -> Option<usize> {
        self.numbers.get(&site.cloned()).copied()
    }
}
