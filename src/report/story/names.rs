//! Document and edit names.

use std::collections::{BTreeMap, BTreeSet};

use crate::edit::{EditKind, Part};
use crate::report::model::{Report, ReportedEdit};
use crate::report::text::{StyledText, TextRole};
use crate::source::DocKey;

/// Document names: without the schema, unless another document of the report has the same name.
pub(in crate::report) struct DocumentNames<'r> {
    report: &'r Report,
    ambiguous: BTreeSet<&'r str>,
}

impl<'r> DocumentNames<'r> {
    pub(in crate::report) fn new(report: &'r Report) -> Self {
        let outputs = report.groups.iter().map(|group| (&*group.schema, &*group.name));
        let edited = report.edits.iter().map(|edit| &edit.document);
        let edited = edited.map(|document| (&*document.schema, &*document.name));
        let mut schemas: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (schema, name) in outputs.chain(edited) {
            schemas.entry(name).or_default().insert(schema);
        }
        schemas.retain(|_, schemas| schemas.len() > 1);
        Self { report, ambiguous: schemas.into_keys().collect() }
    }

    /// Returns the name of an output.
    pub(in crate::report) fn output(&self, schema: &str, name: &str) -> StyledText {
        match name {
            "" => StyledText::of(TextRole::Name, format!("({schema})")),
            _ if self.ambiguous.contains(name) => {
                StyledText::of(TextRole::Name, name).and(" ").then(TextRole::Dim, schema)
            }
            _ => StyledText::of(TextRole::Name, name),
        }
    }

    /// Returns the name of a source document with its layer.
    pub(in crate::report) fn document(&self, key: &DocKey) -> StyledText {
        let name = self.output(&key.schema, &key.name);
        if key.layer.is_empty() { name } else { name.and(format!(" ({})", key.layer)) }
    }

    /// Describes the document of an edit and the path in it.
    pub(in crate::report) fn subject(&self, edit: &ReportedEdit) -> StyledText {
        let path = if edit.kind == EditKind::Renamed { String::new() } else { path(edit) };
        let path = if path.is_empty() {
            StyledText::default()
        } else {
            StyledText::of(TextRole::Name, path)
        };
        StyledText::list([self.what(edit), path], "  ")
    }

    fn site(&self, edit: &ReportedEdit) -> StyledText {
        let site = self.report.sites_in(edit.reach.sites).next();
        let site_type = site.and_then(|site| site.site_type.as_deref());
        let name = StyledText::plain("site ").then(TextRole::Name, &edit.document.name);
        match site_type {
            Some(site_type) => name.and(" of type ").then(TextRole::Name, site_type),
            None => name,
        }
    }

    fn what(&self, edit: &ReportedEdit) -> StyledText {
        // An item that is identified by its file has no other name.
        let file = edit.at.last().map(|at| &*at.file);
        let name = || Some(self.document(&edit.document)).filter(|it| Some(&*it.words()) != file);
        let named = |what: &str| {
            StyledText::list([StyledText::plain(what), name().unwrap_or_default()], " ")
        };
        match edit.kind {
            EditKind::Value | EditKind::Key | EditKind::Order => name().unwrap_or_default(),
            EditKind::Policy => named("layers"),
            EditKind::Site => named("site definition"),
            EditKind::File => {
                StyledText::plain("cannot be read completely: its content is unknown")
            }
            EditKind::Repository => {
                StyledText::plain("refers to an unreadable repository: its content is unknown")
            }
            EditKind::Moved => named("document").and(" moved"),
            EditKind::Renamed => named("document").and(" renamed"),
            EditKind::SiteAdded => self.site(edit).and(" added"),
            EditKind::SiteRemoved => self.site(edit).and(" removed"),
            EditKind::Document => match (&edit.at.base, &edit.at.head) {
                (_, None) => named("document").and(" removed"),
                (None, Some(_)) => named("document").and(" added"),
                (Some(_), Some(_)) => named("document").and(" changed"),
            },
        }
    }
}

/// Suffix of the path of a list whose order changed, but not its items.
pub(in crate::report) const ORDER_CHANGED: &str = " (order changed)";

/// Returns the path of an edit in its document; empty for the whole document.
pub(in crate::report) fn path(edit: &ReportedEdit) -> String {
    let path = path_in(edit.part, &edit.path);
    if edit.kind == EditKind::Order { format!("{path}{ORDER_CHANGED}") } else { path }
}

/// Returns a path in a part of a document relative to the document.
pub(in crate::report) fn path_in(part: Part, path: &str) -> String {
    match (part, path) {
        (Part::Whole, _) => String::new(),
        (Part::Data | Part::Root, path) => path.to_owned(),
        (Part::Metadata, ".") => "metadata".to_owned(),
        (Part::Metadata, path) => format!("metadata{path}"),
    }
}
