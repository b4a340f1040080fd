//! Compact descriptions of sets of sites, and the table of their changes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::compare::DeployedCounts;
use crate::report::cut::common_length;
use crate::report::model::{Report, ReportedSite, SetRef, SiteCounts, SiteSet};
use crate::report::text::{StyledText, TextRole};

/// Maximum number of sites listed by name.
const MAX_NAMED: usize = 8;

/// Maximum number of sites listed as exceptions.
const MAX_EXCEPTIONS: usize = 3;

/// Indices of sites in the report.
pub(crate) type SiteIndices = BTreeSet<usize>;

/// Site names.
pub(crate) struct SiteNames<'r> {
    /// Name of each site; empty if it has none.
    names: Vec<&'r str>,
    sets: &'r [SiteSet],
    /// Indices of the named sites.
    named: SiteIndices,
    /// Indices of sites by type.
    types: BTreeMap<&'r str, SiteIndices>,
}

/// Shortest description of a set of sites.
enum SiteNaming {
    /// All sites, or all of types.
    All(StyledText),
    /// All but those that are named.
    AllBut(StyledText),
    Names(StyledText),
    /// A glob, and the sites that it matches in addition.
    Like(StyledText),
    /// The first sites, and the number of further ones.
    First(StyledText),
}

impl<'r> SiteNames<'r> {
    /// Creates the names of the sites of a report.
    pub(crate) fn new(report: &'r Report) -> Self {
        let sites = report
            .sites
            .iter()
            .map(|site| (site.name.as_deref(), site.site_type.as_deref()));
        Self {
            sets: &report.site_sets,
            ..Self::of(sites)
        }
    }

    /// Creates site names from names and types.
    pub(crate) fn of(sites: impl Iterator<Item = (Option<&'r str>, Option<&'r str>)>) -> Self {
        let mut names = Self {
            names: Vec::new(),
            sets: &[],
            named: BTreeSet::new(),
            types: BTreeMap::new(),
        };
        for (at, (name, site_type)) in sites.enumerate() {
            names.names.push(name.unwrap_or_default());
            if name.is_some() {
                names.named.insert(at);
                names
                    .types
                    .entry(site_type.unwrap_or_default())
                    .or_default()
                    .insert(at);
            }
        }
        names.types.remove("");
        names
    }

    /// Returns the number of named sites.
    pub(crate) fn len(&self) -> usize {
        self.named.len()
    }

    /// Returns the named sites of a set.
    pub(crate) fn in_set(&self, set: SetRef) -> SiteIndices {
        let sites = set.of(self.sets).sites.iter().copied();
        sites.filter(|at| self.named.contains(at)).collect()
    }

    /// Returns the named sites of several sets.
    pub(super) fn in_sets(&self, sets: impl Iterator<Item = SetRef>) -> SiteIndices {
        sets.flat_map(|set| self.in_set(set)).collect()
    }

    /// Describes the sites of a set, to follow `in `; empty if none has a name.
    pub(crate) fn phrase_of(&self, set: SetRef) -> StyledText {
        self.phrase(&self.in_set(set))
    }

    /// Describes sites, to follow `in `; empty if there are none.
    pub(crate) fn phrase(&self, sites: &SiteIndices) -> StyledText {
        let count = sites.len();
        match self.naming(sites) {
            _ if count == 0 => StyledText::default(),
            SiteNaming::All(types) => StyledText::strong(format!("all {count} sites")).join(types),
            SiteNaming::AllBut(exceptions) => {
                StyledText::strong(format!("all {} sites", self.len()))
                    .and(" but ")
                    .join(exceptions)
            }
            SiteNaming::Names(names) => names,
            SiteNaming::Like(glob) => StyledText::strong(format!("{count} sites ")).join(glob),
            SiteNaming::First(names) => StyledText::strong(format!("{count} sites"))
                .and(": ")
                .join(names),
        }
    }

    /// Names sites after their number, which the text before them has.
    pub(crate) fn list(&self, sites: &SiteIndices) -> StyledText {
        match self.naming(sites) {
            SiteNaming::Like(text) | SiteNaming::First(text) => text,
            SiteNaming::All(_) | SiteNaming::AllBut(_) | SiteNaming::Names(_) => self.phrase(sites),
        }
    }

    /// Formats sites for the first column of a table.
    pub(crate) fn label(&self, sites: &SiteIndices) -> StyledText {
        let count = sites.len();
        match self.naming(sites) {
            SiteNaming::All(types) => StyledText::plain(format!("all {count}")).join(types),
            SiteNaming::AllBut(exceptions) => exceptions.prefixed("all but "),
            SiteNaming::Names(names) | SiteNaming::First(names) => names,
            SiteNaming::Like(glob) => glob.and(format!(" ({count})")),
        }
    }

    fn naming(&self, sites: &SiteIndices) -> SiteNaming {
        let count = sites.len();
        let others = &self.named - sites;
        let is_few = count <= MAX_EXCEPTIONS;
        if count == 1 {
            return SiteNaming::Names(self.named(sites));
        }
        if count == self.len() {
            return SiteNaming::All(StyledText::default());
        }
        if let Some(types) = self.types_of(sites).filter(|_| !is_few) {
            let label = if types.len() == 1 {
                " of type "
            } else {
                " of types "
            };
            return SiteNaming::All(names(types).prefixed(label));
        }
        let is_shorter = || "all 7 sites but ".len() + self.width(&others) < self.width(sites);
        if !is_few && others.len() <= MAX_EXCEPTIONS && is_shorter() {
            return SiteNaming::AllBut(self.named(&others));
        }
        if count <= MAX_NAMED {
            return SiteNaming::Names(self.named(sites));
        }
        let of_others = self
            .pattern(&others)
            .filter(|(_, exceptions)| exceptions.is_empty());
        match (self.pattern(sites), of_others) {
            (Some((glob, exceptions)), of_others)
                if exceptions.is_empty() || of_others.is_none() =>
            {
                let exceptions = names(exceptions).prefixed(" but ");
                SiteNaming::Like(StyledText::name(glob).join(exceptions))
            }
            (_, Some((glob, _))) => SiteNaming::AllBut(StyledText::name(glob)),
            (_, None) => {
                let first = self.named(sites.iter().take(MAX_NAMED));
                SiteNaming::First(first.and(format!(" and {} more", count - MAX_NAMED)))
            }
        }
    }

    /// Returns the one or two types that contain exactly these sites.
    fn types_of(&self, sites: &SiteIndices) -> Option<Vec<&'r str>> {
        const MAX_TYPES: usize = 2;
        let overlapping: Vec<_> = self
            .types
            .iter()
            .filter(|(_, of_type)| !of_type.is_disjoint(sites))
            .take(MAX_TYPES + 1)
            .collect();
        let all: usize = overlapping.iter().map(|(_, of_type)| of_type.len()).sum();
        let is_all = overlapping.len() <= MAX_TYPES
            && all == sites.len()
            && overlapping
                .iter()
                .all(|(_, of_type)| of_type.is_subset(sites));
        is_all.then(|| overlapping.iter().map(|(name, _)| **name).collect())
    }

    /// Returns a glob that matches the names of these sites, and the few others that it matches.
    fn pattern(&self, sites: &SiteIndices) -> Option<(String, Vec<&'r str>)> {
        const MIN_CHARACTERS: usize = 2;
        let mut names = sites.iter().map(|at| self.names[*at]);
        let first = names.next()?;
        let [start, end] = names.fold([first.len(); 2], |[start, end], name| {
            let of_starts = common_length(first.chars(), name.chars());
            let of_ends = common_length(first.chars().rev(), name.chars().rev());
            [start.min(of_starts), end.min(of_ends)]
        });
        let start = &first[..start];
        let end = &first[first.len() - end..];
        // Prefer a prefix that ends at a separator to the longest one.
        let word = start.rfind(['-', '_', '.']).map_or("", |at| &start[..=at]);
        let globs = [(word, ""), (start, ""), ("", end)].into_iter();
        globs
            .filter(|(start, end)| start.len() + end.len() >= MIN_CHARACTERS)
            .map(|(start, end)| {
                let others = (&self.named - sites).into_iter().map(|at| self.names[at]);
                let matching = others.filter(|name| name.starts_with(start) && name.ends_with(end));
                (format!("{start}*{end}"), matching.collect::<Vec<_>>())
            })
            .filter(|(_, exceptions)| exceptions.len() <= MAX_EXCEPTIONS)
            .min_by_key(|(_, exceptions)| exceptions.len())
    }

    fn named<'s>(&self, sites: impl IntoIterator<Item = &'s usize>) -> StyledText {
        names(sites.into_iter().map(|at| self.names[*at]))
    }

    /// Returns the number of characters in a list of these sites.
    fn width(&self, sites: &SiteIndices) -> usize {
        sites
            .iter()
            .map(|at| self.names[*at].chars().count() + ", ".len())
            .sum()
    }
}

fn names<'n>(names: impl IntoIterator<Item = &'n str>) -> StyledText {
    StyledText::list(names.into_iter().map(StyledText::name), ", ")
}

/// Table of the changes of sites; sites with equal figures share a row.
pub(crate) struct SiteTable {
    /// Columns after the site names.
    pub(crate) columns: Vec<&'static SiteColumn>,
    /// Rows, most severe first.
    pub(crate) rows: Vec<SiteTableRow>,
    /// Number of sites without changes or findings.
    pub(crate) unchanged: usize,
}

/// A column of the site table.
pub(crate) struct SiteColumn {
    pub(crate) head: &'static str,
    /// Whether the column is numeric and right-aligned.
    pub(crate) is_figures: bool,
    /// Role of the cells.
    pub(crate) role: TextRole,
    /// Returns the text of a cell.
    text: fn(&ReportedSite) -> String,
}

/// A row of the site table.
pub(crate) struct SiteTableRow {
    /// Description of the sites.
    pub(crate) sites: StyledText,
    /// Number of sites.
    pub(crate) count: usize,
    /// Site names, for links.
    pub(crate) names: Vec<String>,
    /// Indices of the sites, for filters.
    pub(crate) indices: SiteIndices,
    /// Cells in the order of the columns.
    pub(crate) cells: Vec<String>,
}

/// Returns what the sites of a row have in common: figures, the most severe first, presence and
/// type.
fn row_key(site: &ReportedSite) -> (Reverse<[usize; 10]>, &str, &str) {
    let SiteCounts {
        errors,
        refused,
        changed,
        added,
        removed,
        not_comparable,
        deployed,
        shielded,
    } = site.counts;
    let refused = usize::from(refused);
    let figures = [
        refused,
        errors,
        removed,
        added,
        changed,
        not_comparable,
        deployed.deployed,
        deployed.rendered_only,
        deployed.deployment_not_known,
        shielded,
    ];
    (
        Reverse(figures),
        presence(site),
        site.site_type.as_deref().unwrap_or_default(),
    )
}

/// Returns on which side a site exists if it is not on both.
fn presence(site: &ReportedSite) -> &'static str {
    match (site.base, site.head) {
        (None, Some(_)) => "added",
        (Some(_), None) => "removed",
        (Some(_), Some(_)) | (None, None) => "",
    }
}

static COLUMNS: [SiteColumn; 10] = [
    column("type", false, TextRole::Plain, |site| {
        site.site_type.clone().unwrap_or_default()
    }),
    column("site", false, TextRole::Strong, |site| {
        presence(site).to_owned()
    }),
    column("deployable", false, TextRole::Error, |site| {
        if site.counts.refused {
            "no".to_owned()
        } else {
            String::new()
        }
    }),
    column("new errors", true, TextRole::Error, |site| {
        figure(site.counts.errors)
    }),
    column("changed", true, TextRole::Plain, |site| {
        figure(site.counts.changed)
    }),
    column("added", true, TextRole::Plain, |site| {
        figure(site.counts.added)
    }),
    column("removed", true, TextRole::Warning, |site| {
        figure(site.counts.removed)
    }),
    column("not comparable", true, TextRole::Warning, |site| {
        figure(site.counts.not_comparable)
    }),
    column("deployed", true, TextRole::Plain, |site| {
        match site.counts.deployed {
            DeployedCounts {
                deployed: 0,
                rendered_only: 0,
                ..
            } => String::new(),
            counts => counts.deployed.to_string(),
        }
    }),
    column("shielded edits", true, TextRole::Dim, |site| {
        figure(site.counts.shielded)
    }),
];

const fn column(
    head: &'static str,
    is_figures: bool,
    role: TextRole,
    text: fn(&ReportedSite) -> String,
) -> SiteColumn {
    SiteColumn {
        head,
        is_figures,
        role,
        text,
    }
}

fn figure(count: usize) -> String {
    if count == 0 {
        String::new()
    } else {
        count.to_string()
    }
}

impl SiteTable {
    /// Creates the table; `None` for fewer than two sites.
    pub(crate) fn new(report: &Report, names: &SiteNames<'_>) -> Option<Self> {
        report.comparison.as_ref()?;
        let mut alike: BTreeMap<_, SiteIndices> = BTreeMap::new();
        for at in names.named.iter().copied() {
            let site = &report.sites[at];
            // The verdict already reports sites that were not deployable before.
            let counts = SiteCounts {
                refused: false,
                ..site.counts
            };
            if !presence(site).is_empty() || counts != SiteCounts::default() {
                alike.entry(row_key(site)).or_default().insert(at);
            }
        }
        let count: usize = alike.values().map(BTreeSet::len).sum();
        if count < 2 {
            return None;
        }
        let first = |sites: &SiteIndices| sites.first().map(|at| &report.sites[*at]);
        let columns: Vec<&SiteColumn> = COLUMNS
            .iter()
            .filter(|column| {
                alike
                    .values()
                    .filter_map(first)
                    .any(|site| !(column.text)(site).is_empty())
            })
            .collect();
        let rows = alike.values().filter_map(|sites| {
            let site = first(sites)?;
            Some(SiteTableRow {
                sites: names.label(sites),
                count: sites.len(),
                names: sites.iter().map(|at| names.names[*at].to_owned()).collect(),
                indices: sites.clone(),
                cells: columns.iter().map(|column| (column.text)(site)).collect(),
            })
        });
        Some(Self {
            rows: rows.collect(),
            columns,
            unchanged: names.len() - count,
        })
    }
}
