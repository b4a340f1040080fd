//! What things are called in a report: documents, edits, sites.

use std::collections::{BTreeMap, BTreeSet};

use crate::compare::reach::Comparison;
use crate::edit::{Edit, EditKind, Part};
use crate::report::View;
use crate::report::printable::clean;
use crate::source::DocKey;

/// How documents are named: without their schema, unless another document of
/// the report has the name, too.
pub(super) struct Names {
    shared: BTreeSet<String>,
    /// Short names of sites, where shorter ones tell them apart.
    short: BTreeMap<String, String>,
}

impl Names {
    pub(super) fn of(comparison: &Comparison) -> Self {
        let outputs = comparison.outputs.iter().map(|change| &change.key);
        let edited = comparison.edits.iter().map(|reach| &reach.edit.document);
        let mut schemas: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for key in outputs.chain(edited) {
            schemas.entry(&key.name).or_default().insert(&key.schema);
        }
        let shared = schemas.into_iter().filter(|(_, schemas)| schemas.len() > 1);
        let sites = comparison.sites.iter().filter_map(|it| it.site.as_deref());
        Self {
            shared: shared.map(|(name, _)| name.to_owned()).collect(),
            short: short_names(&sites.collect::<Vec<_>>()),
        }
    }

    /// An output's name: of its layer nobody asks.
    pub(super) fn output(&self, key: &DocKey) -> String {
        let name = clean(&key.name);
        match self.shared.contains(&*key.name) {
            true => format!("{name} {}", clean(&key.schema)),
            false if name.is_empty() => format!("({})", clean(&key.schema)),
            false => name.into_owned(),
        }
    }

    /// A source document's name, with its layer.
    pub(super) fn document(&self, key: &DocKey) -> String {
        let name = self.output(key);
        if key.layer.is_empty() { name } else { format!("{name} ({})", clean(&key.layer)) }
    }

    /// What an edit is of.
    pub(super) fn what(&self, edit: &Edit, view: &View<'_>) -> String {
        // What is called by its file, which is told beside it, has no other name.
        let file = clean(view.place(edit.at()).path.as_str());
        let name = Some(self.document(&edit.document)).filter(|name| *name != file);
        let document = || name.iter().fold("document".to_owned(), |all, it| all + " " + it);
        match edit.kind {
            EditKind::Value | EditKind::Key | EditKind::Order => name.unwrap_or_default(),
            EditKind::Policy => format!("layers {}", name.unwrap_or_default()),
            EditKind::SiteAdded => format!("site {} added", name.unwrap_or(file.into_owned())),
            EditKind::SiteRemoved => format!("site {} removed", name.unwrap_or(file.into_owned())),
            EditKind::Site => format!("site definition {}", name.unwrap_or_default()),
            EditKind::File => "file that is not read to its end: its content is unknown".to_owned(),
            EditKind::Moved => format!("{} moved", document()),
            EditKind::Renamed => format!("{} renamed", document()),
            EditKind::Document => match (&edit.base, &edit.head) {
                (_, None) => format!("{} removed", document()),
                (None, Some(_)) => format!("{} added", document()),
                (Some(_), Some(_)) => format!("{} changed", document()),
            },
        }
    }

    /// What an edit is of, and where in it.
    pub(super) fn subject(&self, edit: &Edit, view: &View<'_>) -> String {
        let path = path(edit, view);
        let what = self.what(edit, view);
        let parts = [what, path].into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("  ")
    }

    /// A site's short name.
    pub(super) fn short(&self, site: &str) -> &str {
        self.short.get(site).map_or("", String::as_str)
    }

    /// A site's name in full.
    pub(super) fn site(site: &str) -> String {
        clean(site).into_owned()
    }
}

/// Where in its document an edit is; nothing where it is all of it.
pub(super) fn path(edit: &Edit, view: &View<'_>) -> String {
    let location = view.shown_location(&edit.location);
    let text = view.shown_path(&edit.location, &edit.items);
    let path = match edit.part {
        Part::Whole => String::new(),
        Part::Data | Part::Root => text,
        Part::Metadata if location.is_root() => "metadata".to_owned(),
        Part::Metadata => format!("metadata{text}"),
    };
    let path = clean(&path);
    if edit.kind == EditKind::Order { format!("{path} (order changed)") } else { path.into_owned() }
}

/// The beginnings of the parts of each name, as long as it takes for no two
/// names to be the same, and none the name of another site.
fn short_names(sites: &[&str]) -> BTreeMap<String, String> {
    const SHORTEST: usize = 2;
    let longest = sites.iter().map(|site| site.chars().count()).max().unwrap_or(0);
    for length in SHORTEST..longest {
        let short: BTreeMap<String, String> =
            sites.iter().map(|site| ((*site).to_owned(), beginnings(site, length))).collect();
        let distinct: BTreeSet<&String> = short.values().collect();
        if distinct.len() == sites.len() {
            return short;
        }
    }
    sites.iter().map(|site| ((*site).to_owned(), clean(site).into_owned())).collect()
}

fn beginnings(name: &str, length: usize) -> String {
    let parts = name.split_inclusive(['-', '_', '.']).map(|part| {
        let end = part.chars().next_back().filter(|it| matches!(it, '-' | '_' | '.'));
        let word = part.trim_end_matches(['-', '_', '.']);
        word.chars().take(length).chain(end).collect::<String>()
    });
    clean(&parts.collect::<String>()).into_owned()
}
