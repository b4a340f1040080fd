//! The sites of a report, and sets of them, each of which is in it once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::id::SetRef;
use super::is_default;

/// A site, and what a comparison and the findings say of it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(expecting = "struct Site")]
pub struct ReportedSite {
    /// Its name; none for a set of files without sites.
    pub(crate) name: Option<String>,
    /// Its type; none where it has none, or is not known.
    #[serde(rename = "type")]
    pub(crate) site_type: Option<String>,
    /// Number of outputs on the base side; none where the site is not there, or without a
    /// comparison.
    pub(crate) base: Option<usize>,
    /// Number of outputs on the head side; none where the site is not there any more.
    pub(crate) head: Option<usize>,
    /// Its changes.
    #[serde(flatten)]
    pub counts: SiteCounts,
}

/// Changes of a site, in figures.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize,
)]
pub struct SiteCounts {
    /// Error-level findings that are new; without a comparison all of them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) errors: usize,
    /// Whether Deckhand would refuse it as it is now.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) refused: bool,
    /// Outputs that are there on both sides and differ, also where one cannot be rendered.
    #[serde(default, skip_serializing_if = "is_default")]
    pub changed: usize,
    /// Outputs that are new.
    #[serde(default, skip_serializing_if = "is_default")]
    pub added: usize,
    /// Outputs that are gone.
    #[serde(default, skip_serializing_if = "is_default")]
    pub removed: usize,
    /// Outputs of which it is not known whether they changed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) not_comparable: usize,
    /// Edits that an override stops in it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) shielded: usize,
}

/// A set of sites.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SiteSet {
    /// Its name in this report.
    pub(crate) id: SetRef,
    /// Indices of its sites among those of the report, ascending.
    pub(crate) sites: Vec<usize>,
}

/// The sites and the sets of them met so far.
pub(super) struct SiteSets {
    pub(super) sites: Vec<ReportedSite>,
    numbers: HashMap<Option<Arc<str>>, usize>,
    known: HashMap<Vec<usize>, SetRef>,
    pub(super) sets: Vec<SiteSet>,
}

impl SiteSets {
    /// No set yet, of these sites and of all that `named` has.
    pub(super) fn new(
        sites: impl IntoIterator<Item = (Option<Arc<str>>, ReportedSite)>,
        named: impl IntoIterator<Item = Arc<str>>,
    ) -> Self {
        let mut by_name: BTreeMap<Option<Arc<str>>, ReportedSite> = sites.into_iter().collect();
        let named: BTreeSet<Arc<str>> = named.into_iter().collect();
        for name in named {
            let of_name =
                || ReportedSite { name: Some(name.to_string()), ..ReportedSite::default() };
            by_name.entry(Some(name.clone())).or_insert_with(of_name);
        }
        let numbers = by_name.keys().cloned().enumerate().map(|(at, name)| (name, at)).collect();
        let sites = by_name.into_values().collect();
        Self { sites, numbers, known: HashMap::new(), sets: Vec::new() }
    }

    /// The set of these sites.
    pub(super) fn set_of<'a>(
        &mut self,
        sites: impl IntoIterator<Item = Option<&'a Arc<str>>>,
    ) -> SetRef {
        let numbers = sites.into_iter().filter_map(|site| self.number_of(site));
        let mut numbers: Vec<usize> = numbers.collect();
        numbers.sort_unstable();
        numbers.dedup();
        let next = SetRef::at(self.sets.len());
        *self.known.entry(numbers).or_insert_with_key(|numbers| {
            self.sets.push(SiteSet { id: next, sites: numbers.clone() });
            next
        })
    }

    /// The index of a site.
    pub(super) fn number_of(&self, site: Option<&Arc<str>>) -> Option<usize> {
        self.numbers.get(&site.cloned()).copied()
    }
}
