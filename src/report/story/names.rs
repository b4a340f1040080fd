//! Document and edit names.

use std::collections::{BTreeMap, BTreeSet};

use super::delta::{ShortDelta, Sign, ValueDelta};
use crate::edit::{EditKind, Part};
use crate::report::model::{EditRef, FilePlace, Report, ReportedEdit};
use crate::report::text::{StyledText, TextRole};
use crate::source::DocKey;

/// Document names: without the schema, unless another document of the report has the same name.
pub(crate) struct DocumentNames<'r> {
    report: &'r Report,
    ambiguous: BTreeSet<&'r str>,
    /// Edits that added a value under another key, by the edits that removed it.
    renamed: BTreeMap<EditRef, &'r ReportedEdit>,
    /// Shortest end of the path of each edited file that no other one has.
    files: BTreeMap<&'r str, &'r str>,
}

impl<'r> DocumentNames<'r> {
    pub(crate) fn new(report: &'r Report) -> Self {
        let outputs = report
            .groups
            .iter()
            .map(|group| (&*group.schema, &*group.name));
        let edited = report
            .edits
            .iter()
            .map(|edit| &edit.document)
            .map(|document| (&*document.schema, &*document.name));
        let mut schemas: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (schema, name) in outputs.chain(edited) {
            schemas.entry(name).or_default().insert(schema);
        }
        schemas.retain(|_, schemas| schemas.len() > 1);
        let listed = report.edits.iter().filter(|edit| edit.is_listed());
        let renamed = listed.filter_map(|added| Some((report.renamed_by(added)?.id, added)));
        Self {
            report,
            ambiguous: schemas.into_keys().collect(),
            renamed: renamed.collect(),
            files: short_files(report),
        }
    }

    /// Returns the place of the first edit, with a short name of its file, and the number of others,
    /// or the place of the other one in another file; the common folder of edits in many files.
    pub(crate) fn places(&self, edits: &[&ReportedEdit]) -> StyledText {
        let placed: Vec<_> = edits
            .iter()
            .filter_map(|edit| Some((edit, edit.at.last()?)))
            .collect();
        let Some((edit, place)) = placed.first() else {
            return StyledText::default();
        };
        let files: BTreeSet<&str> = placed.iter().map(|(_, place)| &*place.file).collect();
        if files.len() > MAX_FILES {
            let folder = common_folder(&files);
            return StyledText::plain(format!("{} edits in ", placed.len()))
                .then(TextRole::Place, folder);
        }
        let text = self.short_place(edit, place);
        match &placed[1..] {
            [] => text,
            [(other, at)] if at.file != place.file => {
                text.and(", ").join(self.short_place(other, at))
            }
            more => text.then(TextRole::Dim, format!(" +{}", more.len())),
        }
    }

    fn short_place(&self, edit: &ReportedEdit, at: &FilePlace) -> StyledText {
        match self.files.get(&*at.file) {
            Some(file) => place_of(edit).renamed(format!("{file}:{}", at.line)),
            None => place_of(edit),
        }
    }

    /// Returns the name of an output.
    pub(crate) fn output(&self, schema: &str, name: &str) -> StyledText {
        match name {
            "" => StyledText::name(format!("({schema})")),
            _ if self.ambiguous.contains(name) => {
                StyledText::name(name).and(" ").then(TextRole::Dim, schema)
            }
            _ => StyledText::name(name),
        }
    }

    /// Returns the name of a source document with its layer.
    pub(crate) fn document(&self, key: &DocKey) -> StyledText {
        let name = self.output(&key.schema, &key.name);
        if key.layer.is_empty() {
            name
        } else {
            name.and(format!(" ({})", key.layer))
        }
    }

    /// Describes the document of an edit and the path in it; the new path of a renamed key, too.
    pub(crate) fn subject(&self, edit: &ReportedEdit) -> StyledText {
        let of_key = if edit.kind == EditKind::Renamed {
            String::new()
        } else {
            path(edit)
        };
        let text = StyledText::list([self.what(edit), StyledText::name(of_key)], "  ");
        match self.renamed.get(&edit.id) {
            Some(added) => text.and(" renamed to ").then(TextRole::Name, path(added)),
            None => text,
        }
    }

    /// Returns whether the edit removed a value that another one added under another key.
    pub(super) fn is_renamed(&self, edit: &ReportedEdit) -> bool {
        self.renamed.contains_key(&edit.id)
    }

    /// Describes an edit with its change in a few words.
    pub(crate) fn described(&self, edit: &ReportedEdit) -> StyledText {
        const MAX_CHARACTERS: usize = 32;
        let cut = |text: &str| match text.char_indices().nth(MAX_CHARACTERS) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.to_owned(),
        };
        if self.is_renamed(edit) {
            return self.subject(edit);
        }
        let value = match ValueDelta::of_edit(edit).short(1) {
            Some(ShortDelta::Sides([base, head])) => {
                StyledText::sides([cut(&base), cut(&head)], "→")
            }
            Some(ShortDelta::Only(Sign::Removed, text)) => {
                StyledText::of(TextRole::Error, format!("- {}", cut(&text)))
            }
            Some(ShortDelta::Only(_, text)) if !text.is_empty() => {
                StyledText::of(TextRole::Good, format!("+ {}", cut(&text)))
            }
            Some(ShortDelta::Only(..)) | None => StyledText::default(),
        };
        StyledText::list([self.subject(edit), value], ": ")
    }

    fn site(&self, edit: &ReportedEdit) -> StyledText {
        let site = self.report.sites_in(edit.reach.sites).next();
        let site_type = site
            .and_then(|site| site.site_type.as_deref())
            .unwrap_or_default();
        StyledText::plain("site ")
            .then(TextRole::Name, &edit.document.name)
            .join(StyledText::name(site_type).prefixed(" of type "))
    }

    fn what(&self, edit: &ReportedEdit) -> StyledText {
        // An item that is identified by its file has no other name.
        let file = edit.at.last().map(|at| &*at.file);
        let name = Some(self.document(&edit.document))
            .filter(|it| Some(&*it.words()) != file)
            .unwrap_or_default();
        let named = |what: &str| StyledText::plain(what).join(name.clone().prefixed(" "));
        match edit.kind {
            EditKind::Value | EditKind::Key | EditKind::Order => name,
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
            EditKind::Document => named("document").and(match (&edit.at.base, &edit.at.head) {
                (_, None) => " removed",
                (None, Some(_)) => " added",
                (Some(_), Some(_)) => " changed",
            }),
        }
    }
}

/// Number of files above which only their common folder is named.
const MAX_FILES: usize = 3;

/// Returns the place of an edit.
pub(crate) fn place_of(edit: &ReportedEdit) -> StyledText {
    let place = edit.at.last();
    place
        .map(|at| StyledText::place(at, edit.at.head.is_some()))
        .unwrap_or_default()
}

/// Suffix of the path of a list whose order changed, but not its items.
pub(crate) const ORDER_CHANGED: &str = " (order changed)";

/// Returns the path of an edit in its document; empty for the whole document.
pub(crate) fn path(edit: &ReportedEdit) -> String {
    let path = path_in(edit.part, &edit.path);
    if edit.kind == EditKind::Order {
        format!("{path}{ORDER_CHANGED}")
    } else {
        path
    }
}

/// Returns a path in a part of a document relative to the document.
pub(crate) fn path_in(part: Part, path: &str) -> String {
    match (part, path) {
        (Part::Whole, _) => String::new(),
        (Part::Data | Part::Root, path) => path.to_owned(),
        (Part::Metadata, ".") => "metadata".to_owned(),
        (Part::Metadata, path) => format!("metadata{path}"),
    }
}

/// Returns the files of edits.
pub(crate) fn files_of<'e>(edits: impl IntoIterator<Item = &'e ReportedEdit>) -> BTreeSet<&'e str> {
    edits
        .into_iter()
        .filter_map(|edit| Some(&*edit.at.last()?.file))
        .collect()
}

fn short_files(report: &Report) -> BTreeMap<&str, &str> {
    let files = files_of(&report.edits);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for end in files.iter().flat_map(|file| ends(file)) {
        *counts.entry(end).or_default() += 1;
    }
    let shortest = |file| ends(file).find(|end| counts[end] == 1).unwrap_or(file);
    files.iter().map(|file| (*file, shortest(file))).collect()
}

/// Returns the ends of a path, from its last component to the whole path.
fn ends(path: &str) -> impl Iterator<Item = &str> {
    let starts = path.rmatch_indices('/').map(|(at, _)| at + 1).chain([0]);
    starts.map(|at| &path[at..])
}

/// Returns the folder that contains all files; `.` for the whole repository.
fn common_folder(files: &BTreeSet<&str>) -> String {
    // Of sorted paths, the first and the last one have the shortest common start.
    let [first, last] = [files.first(), files.last()].map(|file| file.copied().unwrap_or_default());
    let parts: Vec<&str> = first
        .split('/')
        .zip(last.split('/'))
        .take_while(|(one, other)| one == other)
        .map(|(part, _)| part)
        .collect();
    if parts.is_empty() {
        ".".to_owned()
    } else {
        parts.join("/")
    }
}
