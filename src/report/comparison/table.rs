//! The table of what an edit reached: one row for outputs that changed alike,
//! in columns where these fit, otherwise one part below the other.

use std::io::{self, Write};

use indexmap::IndexMap;
use indexmap::map::Entry;
use unicode_width::UnicodeWidthStr;

use super::fold::{Fold, cause_of};
use super::names::Names;
use super::{Grouping, Page, edit_words};
use crate::compare::{Cause, Change, Status, Via};
use crate::edit::EditId;
use crate::report::View;
use crate::report::counted;
use crate::report::printable::clean;
use crate::report::terminal::Ink;
use crate::report::wrap;
use crate::source::Triple;
use crate::yaml::diff::{Difference, Kind};
use crate::yaml::path::Location;

const INDENT: &str = "    ";
const GAP: usize = 2;

/// How sites are named in a table.
#[derive(Clone, Copy)]
enum SiteNames {
    Full,
    Short,
}

/// Outputs that changed alike.
struct Row<'a> {
    count: usize,
    document: String,
    place: String,
    /// Each with the number of its way; the most common is the first.
    sites: Vec<(&'a str, usize)>,
    /// The ways, in words.
    ways: Vec<String>,
}

/// Outputs of one schema and name that changed at the same places.
struct Alike {
    outputs: Vec<usize>,
    /// Whether what they hold there is not the same in all of them.
    differ: bool,
}

impl Page<'_> {
    /// Writes the outputs that are listed with a fold, and says where the
    /// others that it reached are listed.
    pub(super) fn write_table(
        &self,
        at: usize,
        fold: &Fold,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let rows = self.rows(at, fold);
        if !rows.is_empty() {
            writeln!(out)?;
        }
        let shown = &rows[..rows.len().min(self.limit())];
        let full = self.columns(shown, SiteNames::Full);
        let columns = full.or_else(|| self.columns(shown, SiteNames::Short));
        match columns {
            Some((lines, sites)) => {
                self.write_columns(&lines, out)?;
                self.write_legend(shown, sites, out)?;
            }
            None => self.write_stacked(shown, out)?,
        }
        self.write_more(rows.len(), "row", INDENT, out)?;
        self.write_elsewhere(at, fold, out)
    }

    fn rows(&self, at: usize, fold: &Fold) -> Vec<Row<'_>> {
        let comparison = self.comparison();
        let own = |output: &&usize| self.owners[**output] == Some(at);
        let whole = self.whole_sites(at, fold);
        let is_told = |output: &usize| whole.iter().any(|(_, outputs)| outputs.contains(output));
        let groups = comparison.groups.iter().map(|group| group.outputs.iter().filter(own));
        let groups: Vec<Vec<usize>> =
            groups.map(|outputs| outputs.copied().filter(|it| !is_told(it)).collect()).collect();
        let mut groups = self.alike(fold, groups);
        // The nearest first; those as near as each other keep their order.
        groups.sort_by_key(|group| self.nearest(fold.edits[0], &group.outputs));
        let rows = whole.iter().map(|(words, outputs)| self.row_of_site(fold, words, outputs));
        let mut rows: Vec<Row<'_>> = rows.collect();
        for group in groups {
            match self.look.grouping {
                Grouping::Alike => rows.push(self.row_of_group(fold, &group)),
                Grouping::Apart => {
                    rows.extend(group.outputs.iter().map(|output| self.row(fold, &[*output])));
                }
            }
        }
        rows
    }

    /// Groups that changed at the same places are told together, whatever the
    /// values are in each: a value that every site has for itself is otherwise
    /// a row for each site.
    fn alike(&self, fold: &Fold, groups: Vec<Vec<usize>>) -> Vec<Alike> {
        let mut alike: IndexMap<(&str, &str, Vec<String>), Alike> = IndexMap::new();
        for outputs in groups.into_iter().filter(|outputs| !outputs.is_empty()) {
            let first = &self.comparison().outputs[outputs[0]];
            let Triple { schema, name, .. } = &*first.key;
            match alike.entry((schema, name, self.changed_places(fold, first))) {
                Entry::Occupied(mut known) => {
                    let known = known.get_mut();
                    known.outputs.extend(outputs);
                    known.differ = matches!(first.status, Status::Changed | Status::Metadata);
                }
                Entry::Vacant(new) => {
                    new.insert(Alike { outputs, differ: false });
                }
            }
        }
        alike.into_values().collect()
    }

    fn row_of_group(&self, fold: &Fold, group: &Alike) -> Row<'_> {
        let row = self.row(fold, &group.outputs);
        if group.differ {
            return Row { place: format!("{} (values differ)", row.place), ..row };
        }
        row
    }

    /// The outputs of sites that came or went, which are not told one by one.
    fn whole_sites(&self, at: usize, fold: &Fold) -> Vec<(&'static str, Vec<usize>)> {
        if self.look.grouping == Grouping::Apart {
            return Vec::new();
        }
        let comparison = self.comparison();
        let outputs = &self.reach(fold.edits[0]).outputs;
        let sites = comparison.sites.iter().filter_map(|site| {
            let words = match (site.base, site.head) {
                (None, Some(_)) => "(site added)",
                (Some(_), None) => "(site removed)",
                (Some(_), Some(_)) | (None, None) => return None,
            };
            let own = outputs.iter().filter(|output| self.owners[**output] == Some(at));
            let own = own.filter(|output| comparison.outputs[**output].site == site.site);
            let own: Vec<usize> = own.copied().collect();
            (own.len() > 1).then_some((words, own))
        });
        sites.collect()
    }

    /// The row of the outputs of one site that came or went.
    fn row_of_site(&self, fold: &Fold, words: &str, outputs: &[usize]) -> Row<'_> {
        let mut row = self.row(fold, outputs);
        row.sites.truncate(1);
        row.ways.truncate(1);
        Row { document: "(documents)".to_owned(), place: words.to_owned(), ..row }
    }

    /// The steps of the shortest way from an edit to one of the outputs.
    fn nearest(&self, edit: EditId, outputs: &[usize]) -> usize {
        let causes = outputs.iter().filter_map(|it| cause_of(self.comparison(), edit, *it));
        causes.map(|cause| cause.route.len()).min().unwrap_or(0)
    }

    fn row(&self, fold: &Fold, outputs: &[usize]) -> Row<'_> {
        let comparison = self.comparison();
        let mut ways: Vec<(String, usize)> = Vec::new();
        let mut sites = Vec::new();
        for output in outputs {
            let cause = cause_of(comparison, fold.edits[0], *output);
            let way = cause.map(|cause| self.way_of(*output, cause)).unwrap_or_default();
            let at = ways.iter().position(|(known, _)| *known == way).unwrap_or_else(|| {
                ways.push((way, 0));
                ways.len() - 1
            });
            ways[at].1 += 1;
            if let Some(site) = comparison.outputs[*output].site.as_deref() {
                sites.push((site, at));
            }
        }
        // The most common first; the number of each site's way follows it.
        let mut order: Vec<usize> = (0..ways.len()).collect();
        order.sort_by_key(|at| (std::cmp::Reverse(ways[*at].1), *at));
        for (_, way) in &mut sites {
            *way = order.iter().position(|at| at == way).expect("every way is in the order");
        }
        sites.sort_unstable();
        let first = &comparison.outputs[outputs[0]];
        Row {
            count: outputs.len(),
            document: self.names.output(&first.key),
            place: self.place_words(fold, first),
            sites,
            ways: order.into_iter().map(|at| ways[at].0.clone()).collect(),
        }
    }

    /// The way to an output. One that is rendered on one side only need not
    /// be written by the edited document: it may just need it.
    fn way_of(&self, output: usize, cause: &Cause) -> String {
        let change = &self.comparison().outputs[output];
        let is_whole = matches!(change.status, Status::Broken | Status::Repaired);
        match &cause.route[..] {
            [only] if is_whole && only.document != change.key => "needs it".to_owned(),
            _ => way_words(cause),
        }
    }

    /// Where in an output a fold changed it, in a few words.
    fn place_words(&self, fold: &Fold, change: &Change) -> String {
        match &self.changed_places(fold, change)[..] {
            [] => "(document)".to_owned(),
            [only] => only.clone(),
            [first, rest @ ..] => format!("{first} and {} more", rest.len()),
        }
    }

    /// Where in an output a fold changed it.
    fn changed_places(&self, fold: &Fold, change: &Change) -> Vec<String> {
        let is_alone = change.causes.len() == 1;
        match change.status {
            Status::Changed if !is_alone => self.places_of_causes(fold, change),
            Status::Changed
            | Status::Added
            | Status::Removed
            | Status::Broken
            | Status::Repaired
            | Status::NotComparable
            | Status::Metadata => places_of_change(change, self.view),
        }
    }

    /// Where the edits of a fold changed an output that others changed, too.
    fn places_of_causes(&self, fold: &Fold, change: &Change) -> Vec<String> {
        let causes = change.causes.iter().filter(|cause| fold.edits.contains(&cause.edit));
        let last = causes.filter_map(|cause| cause.route.last()?.location.as_ref());
        let mut places = Vec::new();
        for place in last.map(|location| shown(location, self.view)) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }

    /// The rows in columns, the headings first; none where they are too wide
    /// for the terminal.
    fn columns(&self, rows: &[Row<'_>], names: SiteNames) -> Option<(Vec<[String; 5]>, SiteNames)> {
        let outputs = if self.look.grouping == Grouping::Alike { "outputs" } else { "" };
        let sites = match self.look.grouping {
            _ if self.sites() == 0 => "",
            Grouping::Alike => "sites",
            Grouping::Apart => "site",
        };
        let headings = [outputs, "document", "value at", sites, "route"].map(str::to_owned);
        let cells = rows.iter().map(|row| {
            let count = if outputs.is_empty() { String::new() } else { row.count.to_string() };
            let sites = self.site_words(row, names);
            [count, row.document.clone(), row.place.clone(), sites, ways(row)]
        });
        let lines: Vec<[String; 5]> = std::iter::once(headings).chain(cells).collect();
        let width: usize = widths(&lines).iter().filter(|it| **it > 0).map(|it| it + GAP).sum();
        let fits = INDENT.len() + width <= self.style.columns() + GAP;
        fits.then_some((lines, names))
    }

    fn write_columns(&self, lines: &[[String; 5]], out: &mut dyn Write) -> io::Result<()> {
        if lines.len() < 2 {
            return Ok(());
        }
        let widths = widths(lines);
        for (at, line) in lines.iter().enumerate() {
            let mut text = String::from(INDENT);
            for (cell, width) in line.iter().zip(widths).filter(|(_, width)| *width > 0) {
                text.push_str(cell);
                text.push_str(&" ".repeat(width - cell.width() + GAP));
            }
            let text = text.trim_end();
            match at {
                0 => writeln!(out, "{}", self.paint(Ink::Bold, text))?,
                _ => writeln!(out, "{text}")?,
            }
        }
        Ok(())
    }

    fn write_stacked(&self, rows: &[Row<'_>], out: &mut dyn Write) -> io::Result<()> {
        let columns = self.style.columns();
        let hang = format!("{INDENT}  ");
        let is_wide = |row: &Row<'_>| {
            let sites = self.site_words(row, SiteNames::Full);
            hang.len() + "in ".len() + sites.width() > columns
        };
        let names = if rows.iter().any(is_wide) { SiteNames::Short } else { SiteNames::Full };
        for row in rows {
            let count = match self.look.grouping {
                Grouping::Alike => format!("{} {} ", row.count, self.signs.times),
                Grouping::Apart => String::new(),
            };
            let title = format!("{count}{}", row.document);
            if INDENT.len() + title.width() + GAP + row.place.width() <= columns {
                writeln!(out, "{INDENT}{title}  {}", row.place)?;
            } else {
                writeln!(out, "{INDENT}{title}\n{hang}{}", row.place)?;
            }
            let sites = self.site_words(row, names);
            if !sites.is_empty() {
                let text = format!("in {sites}");
                writeln!(out, "{}", wrap(&text, columns, &hang, &format!("{hang}   ")))?;
            }
            writeln!(out, "{}", wrap(&ways(row), columns, &hang, &format!("{hang}  ")))?;
        }
        self.write_legend(rows, names, out)
    }

    /// Says what the short names in the rows stand for.
    fn write_legend(
        &self,
        rows: &[Row<'_>],
        names: SiteNames,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let words: Vec<String> = match names {
            SiteNames::Full => return Ok(()),
            SiteNames::Short => rows.iter().map(|row| self.site_words(row, names)).collect(),
        };
        let is_told = |short: &str| {
            words.iter().flat_map(|it| it.split(' ')).any(|it| it.trim_end_matches('*') == short)
        };
        let sites = self.comparison().sites.iter().filter_map(|it| it.site.as_deref());
        let pairs = sites.map(|site| (self.names.short(site), Names::site(site)));
        let shortened = pairs.filter(|(short, site)| short != site && is_told(short));
        let pairs: Vec<String> =
            shortened.map(|(short, site)| format!("{short}\u{a0}=\u{a0}{site}")).collect();
        if pairs.is_empty() {
            return Ok(());
        }
        let text = format!("sites: {}", pairs.join(", "));
        let text = wrap(&text, self.style.columns(), INDENT, &format!("{INDENT}  "));
        writeln!(out, "{}", text.replace('\u{a0}', " "))
    }

    fn site_words(&self, row: &Row<'_>, named: SiteNames) -> String {
        /// Fewer names than these are never said by those that are missing.
        const MANY: usize = 8;
        let all = self.sites();
        let is_marked = row.ways.len() > 1;
        let mut names: Vec<&str> = row.sites.iter().map(|(site, _)| *site).collect();
        names.dedup();
        if names.len() == all && all > 1 && !is_marked {
            return format!("all {all} sites");
        }
        let name = |site: &str| match named {
            SiteNames::Short => self.names.short(site).to_owned(),
            SiteNames::Full => Names::site(site),
        };
        if all >= MANY && names.len() + 2 >= all && !is_marked {
            let sites = self.comparison().sites.iter().filter_map(|it| it.site.as_deref());
            let missing: Vec<String> =
                sites.filter(|site| !names.contains(site)).map(name).collect();
            return format!("all but {}", missing.join(" "));
        }
        let sites =
            row.sites.iter().map(|(site, way)| format!("{}{}", name(site), "*".repeat(*way)));
        sites.collect::<Vec<_>>().join(" ")
    }

    /// Says with which edits the outputs are listed that this fold reached and
    /// an earlier one, too.
    fn write_elsewhere(&self, at: usize, fold: &Fold, out: &mut dyn Write) -> io::Result<()> {
        let mut elsewhere: Vec<(usize, Vec<usize>)> = Vec::new();
        for output in &self.reach(fold.edits[0]).outputs {
            let Some(owner) = self.owners[*output].filter(|owner| *owner != at) else { continue };
            match elsewhere.iter_mut().find(|(known, _)| *known == owner) {
                Some((_, outputs)) => outputs.push(*output),
                None => elsewhere.push((owner, vec![*output])),
            }
        }
        elsewhere.sort_unstable();
        if !elsewhere.is_empty() {
            writeln!(out)?;
        }
        for (owner, outputs) in elsewhere {
            let with = edit_words(&self.folds[owner].edits);
            let text = format!(
                "also {} listed with {with}: {}{}",
                counted(outputs.len(), "output"),
                self.some_documents(&outputs),
                self.joint_words(fold.edits[0], &outputs)
            );
            writeln!(out, "{}", wrap(&text, self.style.columns(), INDENT, &format!("{INDENT}  ")))?;
        }
        Ok(())
    }

    fn some_documents(&self, outputs: &[usize]) -> String {
        const FEW: usize = 4;
        let keys = outputs.iter().map(|output| &self.comparison().outputs[*output].key);
        let mut names: Vec<String> = keys.map(|key| self.names.output(key)).collect();
        names.dedup();
        let more = names.len().saturating_sub(FEW);
        names.truncate(FEW);
        let names = names.join(", ");
        if more == 0 { names } else { format!("{names} and {more} more") }
    }

    fn joint_words(&self, edit: EditId, outputs: &[usize]) -> String {
        let causes = outputs.iter().filter_map(|it| cause_of(self.comparison(), edit, *it));
        let mut joint: Vec<EditId> = causes.flat_map(|cause| cause.joint.iter().copied()).collect();
        joint.sort_unstable();
        joint.dedup();
        if joint.is_empty() {
            return String::new();
        }
        format!(" (together with {})", edit_words(&joint))
    }
}

fn widths(lines: &[[String; 5]]) -> [usize; 5] {
    let mut widths = [0; 5];
    for line in lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.width().max(*width);
        }
    }
    widths
}

/// The ways of a row: the most common one, and those marked in its sites.
fn ways(row: &Row<'_>) -> String {
    let (first, others) = row.ways.split_first().expect("a row has an output, and that a way");
    if others.is_empty() {
        return first.clone();
    }
    let others = others.iter().enumerate();
    let marked: Vec<String> =
        others.map(|(at, way)| format!("{} {way}", "*".repeat(at + 1))).collect();
    format!("{first}  ({})", marked.join(", "))
}

/// A way in words: where it begins goes without saying, unless it ends there,
/// and several steps of one kind are said once.
fn way_words(cause: &Cause) -> String {
    let vias: Vec<Via> = cause.route.iter().map(|hop| hop.via).collect();
    let told = match &vias[..] {
        [Via::Edited, rest @ ..] if !rest.is_empty() => rest,
        all => all,
    };
    let mut words: Vec<&str> = told.iter().map(|via| via.as_str()).collect();
    words.dedup();
    let way = words.join(" > ");
    match &cause.joint[..] {
        [] => way,
        joint => format!("{way}, together with {}", edit_words(joint)),
    }
}

/// Where an output is another: places in its data, or in its metadata; what
/// became of it where it is not there on both sides.
pub(super) fn places_of_change(change: &Change, view: &View<'_>) -> Vec<String> {
    let word = match change.status {
        Status::Changed | Status::Metadata => None,
        Status::Added => Some("(document added)"),
        Status::Removed => Some("(document removed)"),
        Status::Broken => Some("(no longer rendered)"),
        Status::Repaired => Some("(rendered again)"),
        Status::NotComparable => Some("(not comparable)"),
    };
    if let Some(word) = word {
        return vec![word.to_owned()];
    }
    let place = |it: &Difference| {
        let path = clean(&view.shown_path(it.location(), &it.items)).into_owned();
        match it.kind {
            Kind::Value => path,
            Kind::Order { .. } => format!("{path} (order changed)"),
        }
    };
    let data = change.data.iter().map(|it| match it.unlisted {
        0 => place(it),
        places => format!("{} ({places} places)", place(it)),
    });
    // What is left of a place that may not be shown can be the root.
    let is_name =
        |it: &&Difference| change.renamed_from.is_some() && it.location().to_string() == ".name";
    let metadata = change.metadata.iter().filter(|it| !is_name(it)).map(|it| match &*place(it) {
        "." => "metadata".to_owned(),
        place => format!("metadata{place}"),
    });
    let renamed = change.renamed_from.iter();
    let renamed = renamed.map(|key| format!("(renamed from {})", clean(&key.name)));
    renamed.chain(data).chain(metadata).collect()
}

fn shown(location: &Location, view: &View<'_>) -> String {
    clean(&view.shown_location(location).to_string()).into_owned()
}
