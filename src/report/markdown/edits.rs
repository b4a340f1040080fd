//! Edits on a page: what became what, the outputs that it reached, by which ways,
//! and where it stopped.

use std::collections::{BTreeMap, BTreeSet};

use super::detail::Told;
use super::digest::{Fold, Row, Side, place_of};
use super::page::Page;
use super::paper::{Column, Full, Paper};
use super::text::short;
use super::value::{difference, in_short};
use super::words::{self, Words};
use crate::report::counted;
use crate::report::json::{DocumentName, EditForm, OutputForm, RouteForm, ShieldForm, StepForm};

impl<'a> Page<'a> {
    pub(super) fn write_edits(&mut self) -> Result<(), Full> {
        let folds = &self.digest.folds;
        for fold in folds.iter().take(self.detail.edits) {
            self.write_title(fold)?;
            self.write_values(fold)?;
            self.write_rows(fold)?;
            self.write_elsewhere(fold)?;
            self.write_stops(fold)?;
            self.write_routes(fold)?;
        }
        let more = folds.iter().skip(self.detail.edits);
        let edits: BTreeSet<usize> = more.flat_map(|fold| fold.edits.iter().copied()).collect();
        if edits.is_empty() {
            return Ok(());
        }
        self.left.edits += edits.len();
        let more = counted(edits.len(), "more edit");
        self.paper.paragraph(&format!("and {more} with an effect: {}", words::edits(&edits)))
    }

    fn edit(&self, at: usize) -> &'a EditForm {
        &self.digest.report.edits[at]
    }

    fn write_title(&mut self, fold: &Fold<'_>) -> Result<(), Full> {
        let edits = words::edits(&fold.edits);
        let mut title = capitalised(&edits);
        match fold.edits[..] {
            [only] => {
                let edit = self.edit(only);
                title +=
                    &self.words.edit_place(edit).map(|it| format!(" · {it}")).unwrap_or_default();
                title += &format!(" · {}", self.words.subject(edit));
            }
            _ => {
                let files: BTreeSet<&str> = fold
                    .edits
                    .iter()
                    .filter_map(|it| place_of(self.edit(*it)).map(|(file, ..)| file))
                    .collect();
                match files.first() {
                    Some(file) if files.len() == 1 => {
                        title += &format!(" · {}", self.words.code(file));
                    }
                    Some(_) | None => {}
                }
            }
        }
        self.paper.heading(4, &title)
    }

    /// The values of a fold's edits. What was done alike in several places is told
    /// once.
    fn write_values(&mut self, fold: &Fold<'_>) -> Result<(), Full> {
        if let [only] = fold.edits[..] {
            let edit = self.edit(only);
            return match self.detail.values {
                Told::Yes => self.write_difference(edit),
                Told::No => self.write_path(edit),
            };
        }
        let most = self.detail.others.min(self.detail.edits);
        for at in fold.edits.iter().take(most) {
            let edit = self.edit(*at);
            let place = self.words.edit_place(edit).unwrap_or_default();
            let subject = self.words.subject(edit);
            match self.detail.values {
                Told::Yes => {
                    self.paper.paragraph(&format!("{place} · {subject}"))?;
                    self.write_difference(edit)?;
                }
                Told::No => {
                    self.left.values += usize::from(has_value(edit));
                    let path = self.words.path(edit);
                    self.paper.list([format!("{place} · {subject}{path}")])?;
                }
            }
        }
        match fold.edits.len().saturating_sub(most) {
            0 => Ok(()),
            more => {
                self.left.edits += more;
                self.paper
                    .paragraph(&format!("and {} with the same reach", counted(more, "more edit")))
            }
        }
    }

    fn write_difference(&mut self, edit: &EditForm) -> Result<(), Full> {
        let longest = self.detail.text;
        let mut lines = match (&*edit.kind, &edit.at.from, &edit.at.to) {
            ("moved", Some(from), Some(to)) => {
                vec![
                    format!("- {}:{}", short(&from.file, longest), from.line),
                    format!("+ {}:{}", short(&to.file, longest), to.line),
                ]
            }
            _ => difference(edit.before.as_ref(), edit.after.as_ref(), longest),
        };
        let path = words::path(edit);
        if !path.is_empty() {
            lines.insert(0, format!("  {}", short(&path, longest)));
        }
        if lines.is_empty() { Ok(()) } else { self.paper.fenced("diff", &lines) }
    }

    fn write_path(&mut self, edit: &EditForm) -> Result<(), Full> {
        self.left.values += usize::from(has_value(edit));
        let path = words::path(edit);
        if path.is_empty() {
            return Ok(());
        }
        let done = in_short(edit.before.as_ref(), edit.after.as_ref());
        self.paper.paragraph(&format!("{} {done}", self.words.code(&path)))
    }

    fn write_rows(&mut self, fold: &Fold<'_>) -> Result<(), Full> {
        if fold.outputs.is_empty() {
            return self.paper.paragraph("reaches no rendered document");
        }
        let shown = fold.rows.len().min(self.room);
        self.room -= shown;
        if shown > 0 {
            self.write_table_of(&fold.rows[..shown])?;
        }
        match fold.rows.len() - shown {
            0 => Ok(()),
            more => {
                self.left.rows += more;
                let outputs: usize = fold.rows[shown..].iter().map(|row| row.count).sum();
                let (rows, outputs) =
                    (counted(more, "more row"), counted(outputs, "rendered document"));
                self.paper.paragraph(&format!("and {rows} with {outputs}"))
            }
        }
    }

    fn write_table_of(&mut self, rows: &[Row<'_>]) -> Result<(), Full> {
        let words = self.words;
        if self.detail.members == Told::No {
            self.left.sites += rows.iter().filter(|row| row.sites.len() > 1).count();
        }
        if rows.iter().all(|row| row.sites.is_empty()) {
            let columns = ["documents", "rendered path", "route"].map(Column::Text);
            let rows =
                rows.iter().map(|row| [words.documents(row), words.change(row), words.ways(row)]);
            return self.paper.table(columns, rows);
        }
        let columns = ["documents", "rendered path", "sites", "route"].map(Column::Text);
        let rows = rows.iter().map(|row| {
            [words.documents(row), words.change(row), words.sites(&row.sites), words.ways(row)]
        });
        self.paper.table(columns, rows)
    }

    /// Outputs that other edits changed, too, are told with the first of them.
    fn write_elsewhere(&mut self, fold: &Fold<'_>) -> Result<(), Full> {
        const FEW: usize = 5;
        if fold.elsewhere.is_empty() {
            return Ok(());
        }
        let told = fold.elsewhere.iter().take(FEW).map(|(owner, count)| {
            let edits = words::edits(&self.digest.folds[*owner].edits);
            format!("{count} listed with {edits}")
        });
        let mut told = told.collect::<Vec<_>>().join(", ");
        let more: usize = fold.elsewhere.values().skip(FEW).sum();
        if more > 0 {
            told += &format!(", {more} with others");
        }
        let all: usize = fold.elsewhere.values().sum();
        self.paper.paragraph(&format!("also {}: {told}", counted(all, "rendered document")))
    }

    fn write_stops(&mut self, fold: &Fold<'_>) -> Result<(), Full> {
        if fold.shields.is_empty() {
            return Ok(());
        }
        let stops = stops(fold);
        let most = self.detail.others.min(stops.len());
        let words = self.words;
        self.paper.paragraph("Stops at:")?;
        self.paper.list(stops.iter().take(most).map(|stop| words.stop(stop)))?;
        match stops.len() - most {
            0 => Ok(()),
            more => {
                self.left.others += more;
                self.paper.paragraph(&format!("and {}", counted(more, "more place")))
            }
        }
    }

    /// One way of each kind, step by step.
    fn write_routes(&mut self, fold: &Fold<'_>) -> Result<(), Full> {
        let ways = fold.rows.iter().flat_map(|row| &row.ways);
        let routes = ways.map(|way| way.example).filter(|(_, route)| route.steps.len() > 1);
        let routes: Vec<(&OutputForm, &RouteForm)> = routes.collect();
        match self.detail.routes {
            Told::Yes if routes.is_empty() => Ok(()),
            Told::No => {
                self.left.routes += routes.len();
                Ok(())
            }
            Told::Yes => {
                let words = self.words;
                self.paper.details(&counted(routes.len(), "route"), |paper| {
                    routes
                        .iter()
                        .try_for_each(|(output, route)| write_route(output, route, words, paper))
                })
            }
        }
    }

    /// Edits that changed nothing, and that nothing stopped.
    pub(super) fn write_inert(&mut self) -> Result<(), Full> {
        let inert = &self.digest.inert;
        if inert.is_empty() {
            return Ok(());
        }
        let most = self.detail.edits.min(inert.len());
        let verb = if inert.len() == 1 { "changes" } else { "change" };
        let (words, report) = (self.words, self.digest.report);
        let more = inert.len() - most;
        self.left.edits += more;
        self.paper.details(&format!("{} {verb} nothing", counted(inert.len(), "edit")), |paper| {
            paper.list(inert.iter().take(most).map(|at| {
                let edit = &report.edits[*at];
                let place = words.edit_place(edit).map(|it| format!(" · {it}"));
                let (place, path) = (place.unwrap_or_default(), words.path(edit));
                format!("edit {}{place} · {}{path}", at + 1, words.subject(edit))
            }))?;
            if more == 0 {
                Ok(())
            } else {
                paper.paragraph(&format!("and {}", counted(more, "more edit")))
            }
        })
    }
}

fn has_value(edit: &EditForm) -> bool {
    edit.before.is_some() || edit.after.is_some()
}

fn capitalised(words: &str) -> String {
    match words.strip_prefix('e') {
        Some(rest) => format!("E{rest}"),
        None => words.to_owned(),
    }
}

fn write_route(
    output: &OutputForm,
    route: &RouteForm,
    words: Words<'_>,
    paper: &mut Paper,
) -> Result<(), Full> {
    let site = output.site.as_deref().map(|it| format!(" in {}", words.code(it)));
    let (document, site) = (words.output(&output.schema, &output.name), site.unwrap_or_default());
    let hops = counted(route.steps.len() - 1, "hop");
    paper.paragraph(&format!("{document}{site}, {hops}:"))?;
    paper.steps(route.steps.iter().map(|step| words.step(step)))
}

/// Where a fold stopped, at one line, in some sites.
struct Stop<'a> {
    shield: &'a ShieldForm,
    sites: BTreeSet<&'a str>,
}

/// What stopped a fold: first in the sites in which it reached nothing, each line
/// once.
fn stops<'a>(fold: &Fold<'a>) -> Vec<Stop<'a>> {
    type Line<'a> = (&'a str, usize, &'a str, &'a DocumentName);
    let mut known: BTreeMap<Line<'_>, usize> = BTreeMap::new();
    let mut stops: Vec<Stop<'a>> = Vec::new();
    for shield in &fold.shields {
        let line = (&*shield.by.file, shield.by.line, &*shield.why, &shield.by.document);
        let at = *known.entry(line).or_insert(stops.len());
        if at == stops.len() {
            stops.push(Stop { shield, sites: BTreeSet::new() });
        }
        stops[at].sites.extend(shield.site.as_deref());
    }
    stops
}

impl Words<'_> {
    /// Where an edit is.
    fn edit_place(self, edit: &EditForm) -> Option<String> {
        place_of(edit).map(|(file, line, side)| self.place(file, line, side))
    }

    /// Where in its document an edit is, behind a name.
    fn path(self, edit: &EditForm) -> String {
        let path = words::path(edit);
        if path.is_empty() { path } else { format!(" {}", self.code(&path)) }
    }

    /// The line that stopped an edit; its folder goes without saying.
    pub(super) fn short_shield_place(self, shield: &ShieldForm) -> String {
        self.short_place(&shield.by.file, shield.by.line, Side::Head)
    }

    fn shield_place(self, shield: &ShieldForm) -> String {
        self.place(&shield.by.file, shield.by.line, Side::Head)
    }

    fn stop(self, stop: &Stop<'_>) -> String {
        let sites: Vec<&str> = stop.sites.iter().copied().collect();
        let sites =
            if sites.is_empty() { String::new() } else { format!("{}: ", self.sites(&sites)) };
        let (why, document) = (self.prose(&stop.shield.why), &stop.shield.by.document);
        let place = self.shield_place(stop.shield);
        format!("{sites}{} {why} at {place}", self.document(document))
    }

    fn step(self, step: &StepForm) -> String {
        let document = self.document(&step.document);
        let words = match &*step.via {
            "edited" => "edited".to_owned(),
            "inherited" => format!("inherited by {document}"),
            "substituted" => format!("substituted into {document}"),
            "merged" => format!("merged into {document}"),
            "replaced" => format!("replaced by {document}"),
            "retargeted" => format!("retargeted: {document} finds another parent"),
            "unparented" => format!("unparented: {document} finds no parent"),
            "policy" => format!("policy: the layers or files that {document} is in"),
            via => format!("{}: {document}", self.prose(via)),
        };
        match self.places(step) {
            places if places.is_empty() => words,
            places => format!("{words}: {places}"),
        }
    }
}
