//! Compact descriptions of sets of sites, and the table of their changes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::report::model::{Report, ReportedSite, SetRef, SiteCounts, SiteSet};
use crate::report::text::{StyledText, TextRole};

/// Maximum number of sites listed by name.
const MAX_NAMED: usize = 8;

/// Maximum number of sites listed as exceptions.
const MAX_EXCEPTIONS: usize = 3;

/// Site names.
pub(in crate::report) struct SiteNames<'r> {
    /// Name of each site; empty if it has none.
    names: Vec<&'r str>,
    sets: &'r [SiteSet],
    /// Indices of the named sites.
    named: BTreeSet<usize>,
    /// Indices of sites by type.
    types: BTreeMap<&'r str, BTreeSet<usize>>,
}

/// Shortest description of a set of sites.
enum SiteNaming<'r> {
    All,
    OfTypes(Vec<&'r str>),
    AllBut(Vec<&'r str>),
    /// All but those that a glob matches.
    AllButLike(String),
    Names(Vec<&'r str>),
    /// A glob, and the sites that it matches in addition.
    Like(String, Vec<&'r str>),
    /// The first sites, and the number of further ones.
    First(Vec<&'r str>, usize),
}

impl<'r> SiteNames<'r> {
    /// Creates the names of the sites of a report.
    pub(in crate::report) fn new(report: &'r Report) -> Self {
        let sites = report.sites.iter();
        let sites = sites.map(|site| (site.name.as_deref(), site.site_type.as_deref()));
        Self { sets: &report.site_sets, ..Self::of(sites) }
    }

    /// Creates site names from names and types.
    pub(in crate::report) fn of(
        sites: impl Iterator<Item = (Option<&'r str>, Option<&'r str>)>,
    ) -> Self {
        let mut names =
            Self { names: Vec::new(), sets: &[], named: BTreeSet::new(), types: BTreeMap::new() };
        for (at, (name, site_type)) in sites.enumerate() {
            names.names.push(name.unwrap_or_default());
            if name.is_some() {
                names.named.insert(at);
                names.types.entry(site_type.unwrap_or_default()).or_default().insert(at);
            }
        }
        names.types.remove("");
        names
    }

    /// Returns the number of named sites.
    pub(in crate::report) fn len(&self) -> usize {
        self.named.len()
    }

    /// Returns the named sites of a set.
    pub(in crate::report) fn in_set(&self, set: SetRef) -> BTreeSet<usize> {
        let sites = set.of(self.sets).map_or(&[][..], |set| &set.sites);
        sites.iter().copied().filter(|at| self.named.contains(at)).collect()
    }

    /// Describes the sites of a set, to follow `in `; empty if none has a name.
    pub(in crate::report) fn phrase_of(&self, set: SetRef) -> StyledText {
        self.phrase(&self.in_set(set))
    }

    /// Describes sites, to follow `in `; empty if there are none.
    pub(in crate::report) fn phrase(&self, sites: &BTreeSet<usize>) -> StyledText {
        let count = sites.len();
        if count == 0 {
            return StyledText::default();
        }
        match self.naming(sites) {
            SiteNaming::All => StyledText::of(TextRole::Strong, format!("all {count} sites")),
            SiteNaming::OfTypes(types) => {
                StyledText::of(TextRole::Strong, format!("all {count} sites"))
                    .and(type_label(&types))
                    .join(names(&types))
            }
            SiteNaming::AllBut(exceptions) => {
                StyledText::of(TextRole::Strong, format!("all {} sites", self.named.len()))
                    .and(" but ")
                    .join(names(&exceptions))
            }
            SiteNaming::AllButLike(pattern) => {
                StyledText::of(TextRole::Strong, format!("all {} sites", self.named.len()))
                    .and(" but ")
                    .then(TextRole::Name, pattern)
            }
            SiteNaming::Names(listed) => names(&listed),
            SiteNaming::Like(pattern, others) => {
                StyledText::of(TextRole::Strong, format!("{count} sites "))
                    .join(glob(&pattern, &others))
            }
            SiteNaming::First(listed, more) => {
                StyledText::of(TextRole::Strong, format!("{count} sites"))
                    .and(": ")
                    .join(names(&listed))
                    .and(format!(" and {more} more"))
            }
        }
    }

    /// Names sites after their number, which the text before them has.
    pub(in crate::report) fn list(&self, sites: &BTreeSet<usize>) -> StyledText {
        match self.naming(sites) {
            SiteNaming::First(listed, more) => names(&listed).and(format!(" and {more} more")),
            SiteNaming::Like(pattern, others) => glob(&pattern, &others),
            SiteNaming::All
            | SiteNaming::OfTypes(_)
            | SiteNaming::AllBut(_)
            | SiteNaming::AllButLike(_)
            | SiteNaming::Names(_) => self.phrase(sites),
        }
    }

    /// Formats sites for the first column of a table.
    pub(in crate::report) fn label(&self, sites: &BTreeSet<usize>) -> StyledText {
        let count = sites.len();
        match self.naming(sites) {
            SiteNaming::All => StyledText::plain(format!("all {count}")),
            SiteNaming::OfTypes(types) => StyledText::plain(format!("all {count}"))
                .and(type_label(&types))
                .join(names(&types)),
            SiteNaming::AllBut(exceptions) => {
                StyledText::plain("all but ").join(names(&exceptions))
            }
            SiteNaming::AllButLike(pattern) => {
                StyledText::plain("all but ").then(TextRole::Name, pattern)
            }
            SiteNaming::Names(listed) => names(&listed),
            SiteNaming::Like(pattern, others) => glob(&pattern, &others).and(format!(" ({count})")),
            SiteNaming::First(listed, more) => names(&listed).and(format!(" and {more} more")),
        }
    }

    fn naming(&self, sites: &BTreeSet<usize>) -> SiteNaming<'r> {
        let count = sites.len();
        if count == 1 {
            return SiteNaming::Names(self.names(sites));
        }
        if count == self.named.len() {
            return SiteNaming::All;
        }
        let is_few = count <= MAX_EXCEPTIONS;
        if !is_few && let Some(types) = self.types_of(sites) {
            return SiteNaming::OfTypes(types);
        }
        if !is_few && self.named.len() - count <= MAX_EXCEPTIONS {
            return SiteNaming::AllBut(self.names(&self.named - sites));
        }
        if count <= MAX_NAMED {
            return SiteNaming::Names(self.names(sites));
        }
        let is_exact = |(_, others): &(String, Vec<&str>)| others.is_empty();
        let like = self.pattern(sites);
        let others_like = self.pattern(&(&self.named - sites)).filter(is_exact);
        match (like, others_like) {
            (Some(like), _) if is_exact(&like) => SiteNaming::Like(like.0, Vec::new()),
            (_, Some((pattern, _))) => SiteNaming::AllButLike(pattern),
            (Some((pattern, others)), None) => SiteNaming::Like(pattern, others),
            (None, None) => {
                let first: BTreeSet<usize> = sites.iter().copied().take(MAX_NAMED).collect();
                SiteNaming::First(self.names(&first), count - MAX_NAMED)
            }
        }
    }

    /// Returns the one or two types that contain exactly these sites.
    fn types_of(&self, sites: &BTreeSet<usize>) -> Option<Vec<&'r str>> {
        const MAX_TYPES: usize = 2;
        let overlapping = self.types.iter().filter(|(_, of_type)| !of_type.is_disjoint(sites));
        let overlapping: Vec<_> = overlapping.take(MAX_TYPES + 1).collect();
        let all: usize = overlapping.iter().map(|(_, of_type)| of_type.len()).sum();
        let is_all = overlapping.len() <= MAX_TYPES
            && all == sites.len()
            && overlapping.iter().all(|(_, of_type)| of_type.is_subset(sites));
        is_all.then(|| overlapping.iter().map(|(name, _)| **name).collect())
    }

    /// Returns a glob that matches the names of these sites, and the few others that it matches.
    fn pattern(&self, sites: &BTreeSet<usize>) -> Option<(String, Vec<&'r str>)> {
        const MIN_CHARACTERS: usize = 2;
        let names = self.names(sites);
        let (first, rest) = names.split_first()?;
        let common = |end: fn(&str, &str) -> usize| {
            let kept = rest.iter().map(|name| end(first, name)).min().unwrap_or(first.len());
            (kept >= MIN_CHARACTERS).then_some(kept)
        };
        let others = || self.named.iter().filter(|at| !sites.contains(at)).map(|at| self.name(*at));
        let exceptions = |matches: &dyn Fn(&str) -> bool| -> Option<Vec<&'r str>> {
            let matching: Vec<&str> = others().filter(|name| matches(name)).collect();
            (matching.len() <= MAX_EXCEPTIONS).then_some(matching)
        };
        let start = common(|one, other| {
            let pairs = one.char_indices().zip(other.chars());
            pairs
                .take_while(|((_, one), other)| one == other)
                .map(|((_, it), _)| it.len_utf8())
                .sum()
        });
        let start = start.map(|kept| &first[..kept]);
        // Prefer a prefix that ends at a separator to the longest one.
        let word = start.and_then(|start| Some(&start[..=start.rfind(['-', '_', '.'])?]));
        let end = common(|one, other| {
            let pairs = one.chars().rev().zip(other.chars().rev());
            pairs.take_while(|(one, other)| one == other).map(|(it, _)| it.len_utf8()).sum()
        });
        let end = end.map(|kept| &first[first.len() - kept..]);
        let starts = word.into_iter().chain(start).filter_map(|start| {
            let others = exceptions(&|name| name.starts_with(start))?;
            Some((format!("{start}*"), others))
        });
        let ends = end.into_iter().filter_map(|end| {
            let others = exceptions(&|name| name.ends_with(end))?;
            Some((format!("*{end}"), others))
        });
        starts.chain(ends).min_by_key(|(_, exceptions)| exceptions.len())
    }

    fn names(
        &self,
        sites: impl IntoIterator<Item = impl std::borrow::Borrow<usize>>,
    ) -> Vec<&'r str> {
        sites.into_iter().map(|at| self.name(*at.borrow())).collect()
    }

    fn name(&self, at: usize) -> &'r str {
        self.names[at]
    }
}

fn names(names: &[&str]) -> StyledText {
    StyledText::list(names.iter().map(|name| StyledText::of(TextRole::Name, name)), ", ")
}

fn glob(pattern: &str, exceptions: &[&str]) -> StyledText {
    let text = StyledText::of(TextRole::Name, pattern);
    if exceptions.is_empty() { text } else { text.and(" but ").join(names(exceptions)) }
}

fn type_label(types: &[&str]) -> &'static str {
    if types.len() == 1 { " of type " } else { " of types " }
}

/// Table of the changes of sites; sites with equal figures share a row.
pub(in crate::report) struct SiteTable {
    /// Columns after the site names.
    pub(in crate::report) columns: Vec<SiteColumn>,
    /// Rows, most severe first.
    pub(in crate::report) rows: Vec<SiteTableRow>,
    /// Number of sites without changes or findings.
    pub(in crate::report) unchanged: usize,
}

/// A column of the site table.
pub(in crate::report) struct SiteColumn {
    pub(in crate::report) head: &'static str,
    /// Whether the column is numeric and right-aligned.
    pub(in crate::report) is_figures: bool,
}

/// A row of the site table.
pub(in crate::report) struct SiteTableRow {
    /// Description of the sites.
    pub(in crate::report) sites: StyledText,
    /// Number of sites.
    pub(in crate::report) count: usize,
    /// Site names, for links.
    pub(in crate::report) names: Vec<String>,
    /// Cells in the order of the columns.
    pub(in crate::report) cells: Vec<Cell>,
}

/// A cell of the site table.
pub(in crate::report) struct Cell {
    pub(in crate::report) text: String,
    pub(in crate::report) role: TextRole,
}

/// Figures shared by the sites of a row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SiteRowKey<'r> {
    is_refused: Reverse<bool>,
    errors: Reverse<usize>,
    removed: Reverse<usize>,
    added: Reverse<usize>,
    changed: Reverse<usize>,
    not_comparable: Reverse<usize>,
    shielded: Reverse<usize>,
    became: SitePresence,
    site_type: &'r str,
}

/// Sides on which a site exists.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SitePresence {
    Stayed,
    Added,
    Removed,
}

impl<'r> SiteRowKey<'r> {
    fn new(site: &'r ReportedSite) -> Self {
        let SiteCounts { errors, refused, changed, added, removed, not_comparable, shielded } =
            site.counts;
        Self {
            is_refused: Reverse(refused),
            errors: Reverse(errors),
            removed: Reverse(removed),
            added: Reverse(added),
            changed: Reverse(changed),
            not_comparable: Reverse(not_comparable),
            shielded: Reverse(shielded),
            became: match (site.base, site.head) {
                (None, Some(_)) => SitePresence::Added,
                (Some(_), None) => SitePresence::Removed,
                (Some(_), Some(_)) | (None, None) => SitePresence::Stayed,
            },
            site_type: site.site_type.as_deref().unwrap_or_default(),
        }
    }
}

/// A column: heading, whether it is numeric, role, and content for sites.
type ColumnSpec = (&'static str, bool, TextRole, fn(&SiteRowKey<'_>) -> String);

const COLUMNS: [ColumnSpec; 9] = [
    ("type", false, TextRole::Plain, |it| it.site_type.to_owned()),
    ("site", false, TextRole::Strong, |it| {
        let word = match it.became {
            SitePresence::Stayed => "",
            SitePresence::Added => "added",
            SitePresence::Removed => "removed",
        };
        word.to_owned()
    }),
    ("deployable", false, TextRole::Error, |it| {
        if it.is_refused.0 { "no".to_owned() } else { String::new() }
    }),
    ("new errors", true, TextRole::Error, |it| figure(it.errors.0)),
    ("changed", true, TextRole::Plain, |it| figure(it.changed.0)),
    ("added", true, TextRole::Plain, |it| figure(it.added.0)),
    ("removed", true, TextRole::Warning, |it| figure(it.removed.0)),
    ("not comparable", true, TextRole::Warning, |it| figure(it.not_comparable.0)),
    ("shielded edits", true, TextRole::Dim, |it| figure(it.shielded.0)),
];

fn figure(count: usize) -> String {
    if count == 0 { String::new() } else { count.to_string() }
}

impl SiteTable {
    /// Creates the table; `None` for fewer than two sites.
    pub(in crate::report) fn new(report: &Report, names: &SiteNames<'_>) -> Option<Self> {
        report.comparison.as_ref()?;
        let mut alike: BTreeMap<SiteRowKey<'_>, BTreeSet<usize>> = BTreeMap::new();
        for at in names.named.iter().copied() {
            let site = &report.sites[at];
            let shared = SiteRowKey::new(site);
            // The verdict already reports sites that were not deployable before.
            let has_more = SiteCounts { refused: false, ..site.counts } != SiteCounts::default();
            if shared.became != SitePresence::Stayed || has_more {
                alike.entry(shared).or_default().insert(at);
            }
        }
        let count: usize = alike.values().map(BTreeSet::len).sum();
        if count < 2 {
            return None;
        }
        let is_used =
            |(_, _, _, text): &&ColumnSpec| alike.keys().any(|shared| !text(shared).is_empty());
        let columns: Vec<&ColumnSpec> = COLUMNS.iter().filter(is_used).collect();
        let row = |(shared, sites): (&SiteRowKey<'_>, &BTreeSet<usize>)| SiteTableRow {
            sites: names.label(sites),
            count: sites.len(),
            names: names.names(sites).into_iter().map(str::to_owned).collect(),
            cells: columns
                .iter()
                .map(|(_, _, role, text)| Cell { text: text(shared), role: *role })
                .collect(),
        };
        Some(Self {
            rows: alike.iter().map(row).collect(),
            columns: columns
                .iter()
                .map(|(head, is_figures, ..)| SiteColumn { head, is_figures: *is_figures })
                .collect(),
            unchanged: names.len() - count,
        })
    }
}
