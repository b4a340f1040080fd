//! Edits in the order of their reach: what each was and is, what it reached,
//! and where it stopped. What no edit explains stands before all of it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::escape::text;
use super::fold::{Fold, Folds};
use super::group::{self, Told};
use super::place::{Side, at, decoded_words, document, place};
use super::{Page, value};
use crate::report::counted;
use crate::report::json::{EditForm, ShieldForm};

/// Writes all edits, if this is a comparison.
pub(super) fn write(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    if page.report.comparison.is_none() {
        return Ok(());
    }
    let folds = Folds::new(page);
    writeln!(out, "<section id=\"edits\" aria-labelledby=\"edits-title\">")?;
    writeln!(out, "<h2 id=\"edits-title\">Edits</h2>")?;
    if page.report.edits.is_empty() {
        writeln!(out, "<p>No document was edited.</p>")?;
    }
    let mut written = Written::default();
    for fold in &folds.told {
        write_fold(page, fold, &mut written, out)?;
    }
    write_rest(page, &mut written, out)?;
    write_inert(page, &folds.inert, out)?;
    writeln!(out, "</section>")
}

/// Writes every output of which a change has no edit behind it.
pub(super) fn write_unexplained(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let unexplained = &page.report.unexplained;
    if unexplained.is_empty() {
        return Ok(());
    }
    let (count, verb) = (unexplained.len(), if unexplained.len() == 1 { "has" } else { "have" });
    let what = counted(count, "output");
    writeln!(
        out,
        "<section id=\"unexplained\" class=\"alarm\" aria-labelledby=\"unexplained-title\">"
    )?;
    writeln!(
        out,
        "<h2 id=\"unexplained-title\">Unexplained: {what} {verb} changes that no edit explains</h2>"
    )?;
    writeln!(
        out,
        "<p>This is a fault of layercake, not of your documents: do not rely on the causes"
    )?;
    writeln!(out, "of these outputs, and please report it with the report as JSON.</p><ul>")?;
    for it in unexplained {
        let site = group::site_words(it.site.as_deref());
        let (schema, name) = (text(&it.schema), text(&it.name));
        let places = counted(it.differences, "place");
        let group = it.group.as_deref().and_then(|it| page.group_at(it));
        let group = group.map(|at| format!(", <a href=\"#g{0}\">what changed</a>", at + 1));
        let group = group.unwrap_or_default();
        writeln!(out, "<li>{site} <b>{name}</b> <small>{schema}</small>: {places}{group}</li>")?;
    }
    writeln!(out, "</ul></section>")
}

/// What is told already.
#[derive(Default)]
struct Written {
    groups: BTreeSet<usize>,
    routes: Told,
}

fn write_fold(
    page: &Page<'_>,
    fold: &Fold,
    written: &mut Written,
    out: &mut dyn Write,
) -> io::Result<()> {
    let first = fold.first(page.report);
    writeln!(out, "<article class=\"edit unit\">")?;
    let more = match fold.edits.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    writeln!(out, "<h3>{}: {}{more}</h3>", numbers(&fold.edits), subject(first))?;
    writeln!(out, "<p class=\"reach\">{}</p>", reach_words(first))?;
    write_values(page, fold, out)?;
    let (here, elsewhere): (Vec<usize>, Vec<usize>) =
        fold.groups.iter().partition(|group| !written.groups.contains(group));
    for group in here {
        written.groups.insert(group);
        group::write(page, group, &mut written.routes, out)?;
    }
    if !elsewhere.is_empty() {
        let links: Vec<String> = elsewhere.iter().map(|it| group::link(page, *it)).collect();
        let links = links.join(", ");
        writeln!(
            out,
            "<p class=\"elsewhere\">Told with another edit, which it took too: {links}</p>"
        )?;
    }
    write_stops(page, fold, out)?;
    writeln!(out, "</article>")
}

/// Edits by their numbers: `Edit 3`, `Edits 3 to 9, 12`.
fn numbers(edits: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for number in edits.iter().map(|it| it + 1) {
        match runs.last_mut() {
            Some((_, end)) if *end + 1 == number => *end = number,
            Some(_) | None => runs.push((number, number)),
        }
    }
    let words = runs.iter().map(|(start, end)| match end - start {
        0 => start.to_string(),
        1 => format!("{start}, {end}"),
        _ => format!("{start} to {end}"),
    });
    let words: Vec<String> = words.collect();
    format!("{} {}", if edits.len() == 1 { "Edit" } else { "Edits" }, words.join(", "))
}

/// What was edited.
fn subject(edit: &EditForm) -> String {
    let what = match &*edit.kind {
        "document" if edit.at.from.is_none() => "added, ",
        "document" if edit.at.to.is_none() => "removed, ",
        "moved" => "moved, ",
        _ => "",
    };
    let path = if edit.path == "." || edit.path.is_empty() {
        String::new()
    } else {
        format!(" <code>{}</code>", text(&edit.path))
    };
    format!("{what}{}{path}", document(&edit.document))
}

fn reach_words(edit: &EditForm) -> String {
    let reach = &edit.reach;
    if reach.outputs == 0 {
        return "Reaches nothing.".to_owned();
    }
    let outputs = counted(reach.outputs, "output");
    let sites = match reach.sites.len() {
        0 => String::new(),
        sites => format!(" in {}", counted(sites, "site")),
    };
    let indirect = match reach.indirect {
        0 => String::new(),
        count => format!("; {count} of them from files nobody edited"),
    };
    let proof = match &*edit.verified {
        "counterfactual" => " Proven by rendering without it.",
        _ => "",
    };
    format!("Reaches <b>{outputs}{sites}</b>{indirect}.{proof}")
}

/// What the edits of a fold were and are.
fn write_values(page: &Page<'_>, fold: &Fold, out: &mut dyn Write) -> io::Result<()> {
    match &*fold.edits {
        [only] => write_value(page, *only, Heading::Told, out),
        edits => {
            writeln!(out, "<ul class=\"changes\">")?;
            for edit in edits {
                writeln!(out, "<li>")?;
                write_value(page, *edit, Heading::Own, out)?;
                writeln!(out, "</li>")?;
            }
            writeln!(out, "</ul>")
        }
    }
}

/// Whether it is said already what was edited.
#[derive(Clone, Copy)]
enum Heading {
    Told,
    Own,
}

fn write_value(
    page: &Page<'_>,
    at: usize,
    heading: Heading,
    out: &mut dyn Write,
) -> io::Result<()> {
    let edit = &page.report.edits[at];
    let subject = match heading {
        Heading::Told => String::new(),
        Heading::Own => format!("Edit {}: {} ", at + 1, subject(edit)),
    };
    writeln!(
        out,
        "<div id=\"e{}\" class=\"value\" tabindex=\"-1\"><p>{subject}{}</p>",
        at + 1,
        at_words(page, edit)
    )?;
    value::write(edit.before.as_ref(), edit.after.as_ref(), out)?;
    writeln!(out, "</div>")
}

/// Where an edit is, on the side that has it.
fn at_words(page: &Page<'_>, edit: &EditForm) -> String {
    match (&edit.at.from, &edit.at.to) {
        (_, Some(place)) => at(page.report, Side::Head, place),
        (Some(place), None) => format!("{} of the base", at(page.report, Side::Base, place)),
        (None, None) => String::new(),
    }
}

/// Writes where a fold stopped: stops of one document for one reason at the
/// same lines are one.
fn write_stops(page: &Page<'_>, fold: &Fold, out: &mut dyn Write) -> io::Result<()> {
    let stops = stops(page, fold);
    if stops.is_empty() {
        return Ok(());
    }
    writeln!(out, "<div class=\"stops\"><h4>Stops at</h4><ul>")?;
    for (ShieldForm { why, by, .. }, sites) in stops {
        let (document, decoded) = (document(&by.document), by.decoded.as_ref());
        let decoded = decoded_words(decoded.map(|it| (&*it.name, it.line)));
        let at = place(page.report, Side::Head, &by.file, by.line);
        let sites: Vec<String> = sites.into_iter().map(group::site_words).collect();
        let (sites, why) = (sites.join(" "), text(why));
        writeln!(out, "<li>{why} by {document} at {at}{decoded}, in {sites}</li>")?;
    }
    writeln!(out, "</ul></div>")
}

/// The first shield at every line that stopped one of the edits, and in which
/// sites it did.
fn stops<'a>(page: &Page<'a>, fold: &Fold) -> Vec<(&'a ShieldForm, BTreeSet<Option<&'a str>>)> {
    let mut known = BTreeMap::new();
    let mut stops: Vec<(&'a ShieldForm, BTreeSet<Option<&'a str>>)> = Vec::new();
    for edit in &fold.edits {
        for shield in page.shields_of(*edit).iter().copied() {
            let by = &shield.by;
            let key = (&by.file, by.line, &shield.why, &by.document);
            let at = *known.entry(key).or_insert(stops.len());
            if at == stops.len() {
                stops.push((shield, BTreeSet::new()));
            }
            stops[at].1.insert(shield.site.as_deref());
        }
    }
    stops
}

/// Writes the groups that no edit is told with, as all of their outputs are
/// without a cause.
fn write_rest(page: &Page<'_>, written: &mut Written, out: &mut dyn Write) -> io::Result<()> {
    let rest: Vec<usize> =
        (0..page.report.groups.len()).filter(|it| !written.groups.contains(it)).collect();
    if rest.is_empty() {
        return Ok(());
    }
    writeln!(out, "<article class=\"edit unit\"><h3>Without an edit that explains them</h3>")?;
    for group in rest {
        group::write(page, group, &mut written.routes, out)?;
    }
    writeln!(out, "</article>")
}

/// Writes edits that changed nothing, and that nothing stopped.
fn write_inert(page: &Page<'_>, inert: &[usize], out: &mut dyn Write) -> io::Result<()> {
    if inert.is_empty() {
        return Ok(());
    }
    let count = counted(inert.len(), "edit");
    writeln!(out, "<article class=\"edit unit\"><h3>Changes nothing: {count}</h3>")?;
    writeln!(out, "<ul class=\"changes\">")?;
    for edit in inert {
        writeln!(out, "<li>")?;
        write_value(page, *edit, Heading::Own, out)?;
        writeln!(out, "</li>")?;
    }
    writeln!(out, "</ul></article>")
}
