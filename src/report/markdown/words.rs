//! What things are called on a page, as Markdown: documents, places, sites, edits
//! and ways.

use super::detail::{Detail, Told};
use super::digest::{Digest, Row, Side, Way};
use super::text;
use crate::report::counted;
use crate::report::json::{DocumentName, EditForm, StatusForm, StepForm};

/// Texts of one page.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    pub(super) digest: &'a Digest<'a>,
    pub(super) detail: Detail,
}

impl Words<'_> {
    pub(super) fn code(self, text: &str) -> String {
        text::code(&text::short(text, self.detail.text))
    }

    pub(super) fn prose(self, text: &str) -> String {
        text::prose(&text::short(text, self.detail.text))
    }

    pub(super) fn message(self, text: &str) -> String {
        text::message(&text::short(text, self.detail.text))
    }

    /// A line of a file, as a link where it can be one.
    pub(super) fn place(self, file: &str, line: usize, side: Side) -> String {
        self.linked(
            self.code(&format!("{}:{line}", text::short(file, self.detail.text))),
            file,
            line,
            side,
        )
    }

    /// A line of a file of which the folder goes without saying.
    pub(super) fn short_place(self, file: &str, line: usize, side: Side) -> String {
        let name = file.rsplit('/').next().unwrap_or_default();
        let shown = self.code(&format!("{}:{line}", text::short(name, self.detail.text)));
        self.linked(shown, file, line, side)
    }

    fn linked(self, shown: String, file: &str, line: usize, side: Side) -> String {
        let report = self.digest.report;
        let address = match side {
            Side::Base => report.base_link(file, line),
            Side::Head => report.link(file, line),
        };
        match address.filter(|it| it.len() <= self.detail.address) {
            Some(address) => text::link(&shown, &address),
            None => shown,
        }
    }

    /// The lines that carried a step.
    pub(super) fn places(self, step: &StepForm) -> String {
        let side = side_of(step);
        let mut told: Vec<String> = Vec::new();
        let mut before: Option<(&str, usize)> = None;
        for place in &step.at {
            let here = (&*place.file, place.line);
            match before {
                Some(known) if known == here => continue,
                Some((file, _)) if file == here.0 => {
                    let shown = self.code(&format!(":{}", place.line));
                    told.push(self.linked(shown, here.0, here.1, side));
                }
                Some(_) | None => told.push(self.place(here.0, here.1, side)),
            }
            before = Some(here);
        }
        told.truncate(self.detail.others);
        told.join(" → ")
    }

    /// An output's name: of its layer nobody asks.
    pub(super) fn output(self, schema: &str, name: &str) -> String {
        match self.digest.shared.contains(name) {
            true => format!("{} ({})", self.code(name), self.code(schema)),
            false if name.is_empty() => self.code(schema),
            false => self.code(name),
        }
    }

    /// A source document's name, with its layer.
    pub(super) fn document(self, document: &DocumentName) -> String {
        let name = self.output(&document.schema, &document.name);
        match &*document.layer {
            "" => name,
            layer => format!("{name} ({})", self.prose(layer)),
        }
    }

    /// The documents of a row, and how many outputs they are.
    pub(super) fn documents(self, row: &Row<'_>) -> String {
        const FEW: usize = 3;
        let few = FEW.min(self.detail.others);
        let names = row.names.iter().take(few).map(|name| self.output(row.schema, name));
        let mut names = names.collect::<Vec<_>>().join(", ");
        match row.names.len().saturating_sub(few) {
            0 => {}
            more => names += &format!(" and {more} more"),
        }
        if row.count > 1 { format!("{names} ×{}", row.count) } else { names }
    }

    /// What became of the outputs of a row, or where they are others.
    pub(super) fn change(self, row: &Row<'_>) -> String {
        let word = match row.status {
            StatusForm::Changed | StatusForm::Metadata => "",
            StatusForm::Added => "(document added)",
            StatusForm::Removed => "(document removed)",
            StatusForm::Broken => "(no longer rendered)",
            StatusForm::Repaired => "(rendered again)",
            StatusForm::NotComparable => "(not comparable)",
        };
        let place = match &row.places[..] {
            [] if word.is_empty() => "(document)".to_owned(),
            [] => word.to_owned(),
            [only] => self.code(only),
            [first, rest @ ..] => format!("{} and {} more", self.code(first), rest.len()),
        };
        if row.differ { place + " (values differ)" } else { place }
    }

    /// Sites by name, or how many there are.
    pub(super) fn sites(self, sites: &[&str]) -> String {
        const FEW: usize = 30;
        match self.detail.members {
            Told::No if sites.len() > 1 => counted(sites.len(), "site"),
            Told::Yes | Told::No => {
                let names = sites.iter().take(FEW).map(|site| self.code(site));
                let names = names.collect::<Vec<_>>().join(", ");
                match sites.len().saturating_sub(FEW) {
                    0 => names,
                    more => format!("{names} and {more} more"),
                }
            }
        }
    }

    /// The ways of a row, the most common first.
    pub(super) fn ways(self, row: &Row<'_>) -> String {
        const FEW: usize = 4;
        let few = FEW.min(self.detail.others);
        let is_one = row.ways.len() == 1;
        let ways = row.ways.iter().take(few).map(|way| {
            let words = self.way(way);
            if is_one { words } else { format!("{words} ×{}", way.count) }
        });
        let ways = ways.collect::<Vec<_>>().join("; ");
        match row.ways.len().saturating_sub(few) {
            0 => ways,
            more => format!("{ways}; and {}", counted(more, "other way")),
        }
    }

    fn way(self, way: &Way<'_>) -> String {
        let steps: Vec<String> = way.vias.iter().map(|via| self.prose(via)).collect();
        let mut words = match &way.vias[..] {
            _ if way.is_need => "needs it".to_owned(),
            ["edited"] => "edited here".to_owned(),
            _ => steps.join(", then "),
        };
        let last = way.example.1.steps.last();
        if let (["substituted" | "inherited" | "merged"], Some(last)) = (&way.vias[..], last)
            && let Some(place) = last.at.first().filter(|_| way.is_one)
        {
            words += &format!(" at {}", self.short_place(&place.file, place.line, side_of(last)));
        }
        match &way.joint[..] {
            [] => words,
            joint => format!("{words}, together with {}", edits(joint)),
        }
    }

    /// What an edit is of.
    pub(super) fn subject(self, edit: &EditForm) -> String {
        let name = self.document(&edit.document);
        match (&*edit.kind, &edit.at.from, &edit.at.to) {
            ("policy", _, _) => format!("layers {name}"),
            ("site", _, _) => format!("site definition {name}"),
            ("moved", _, _) => format!("document {name} moved"),
            ("document", _, None) => format!("document {name} removed"),
            ("document", None, Some(_)) => format!("document {name} added"),
            ("document", Some(_), Some(_)) => format!("document {name} changed"),
            _ => name,
        }
    }
}

/// Where in its document an edit is; nothing where it is all of it.
pub(super) fn path(edit: &EditForm) -> String {
    match (&*edit.part, &*edit.path) {
        ("whole", _) => String::new(),
        ("metadata", ".") => "metadata".to_owned(),
        ("metadata", path) => format!("metadata{path}"),
        (_, path) => path.to_owned(),
    }
}

/// A JSON Pointer as a Deckhand path. A number is taken for the place of an item.
pub(super) fn path_of(part: &str, pointer: &str) -> String {
    let mut path = if part == "metadata" { part.to_owned() } else { String::new() };
    if pointer.is_empty() && path.is_empty() {
        return ".".to_owned();
    }
    for piece in pointer.split('/').skip(1) {
        let key = piece.replace("~1", "/").replace("~0", "~");
        let is_index = !key.is_empty() && key.bytes().all(|it| it.is_ascii_digit());
        let is_bare = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
        match &*key {
            index if is_index => path += &format!("[{index}]"),
            bare if !bare.is_empty() && bare.chars().all(is_bare) => path += &format!(".{bare}"),
            other => {
                path += &format!(".'{}'", other.replace('\\', "\\\\").replace('\'', "\\'"));
            }
        }
    }
    path
}

/// On which side the lines of a step are.
pub(super) fn side_of(step: &StepForm) -> Side {
    if step.via == "removed" { Side::Base } else { Side::Head }
}

/// Edits by their numbers, in order: `edit 3`, `edits 3 to 9 and 12`; counted where
/// these would be many.
pub(super) fn edits<'a>(edits: impl IntoIterator<Item = &'a usize>) -> String {
    const FEW: usize = 5;
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let mut count = 0;
    for edit in edits {
        count += 1;
        match runs.last_mut() {
            Some((_, end)) if *end + 1 == *edit => *end = *edit,
            Some(_) | None => runs.push((*edit, *edit)),
        }
    }
    if runs.len() > FEW {
        return counted(count, "edit");
    }
    let words = runs.iter().flat_map(|(start, end)| match end - start {
        0 => vec![format!("{}", start + 1)],
        1 => vec![format!("{}", start + 1), format!("{}", end + 1)],
        _ => vec![format!("{} to {}", start + 1, end + 1)],
    });
    let words: Vec<String> = words.collect();
    let word = if count == 1 { "edit" } else { "edits" };
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{word} {} and {last}", rest.join(", ")),
        Some(_) | None => format!("{word} {}", words.concat()),
    }
}
