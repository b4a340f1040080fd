//! Outputs that changed alike: what changed in them, in which sites, because
//! of which edits, and by which way.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::escape::text;
use super::place::{Side, at, document, places};
use super::{Page, value};
use crate::report::counted;
use crate::report::json::{
    CauseForm, ChangeForm, GroupForm, MemberForm, PlaceForm, RouteForm, StatusForm, StepForm,
};

/// The routes that are told already, by their place in the report: each is
/// told once, where it is met first, and linked to from elsewhere.
pub(super) type Told = BTreeSet<usize>;

/// Writes the group at this place in the report.
pub(super) fn write(
    page: &Page<'_>,
    at: usize,
    told: &mut Told,
    out: &mut dyn Write,
) -> io::Result<()> {
    let group = &page.report.groups[at];
    writeln!(out, "<details class=\"group\" id=\"g{}\">", at + 1)?;
    writeln!(out, "<summary>{}</summary>", summary(group))?;
    write_changes(page, group, out)?;
    write_members(page, group, told, out)?;
    writeln!(out, "</details>")
}

/// A link to a group that is told elsewhere.
pub(super) fn link(page: &Page<'_>, at: usize) -> String {
    let group = &page.report.groups[at];
    let (count, name) = (group.outputs.len(), text(&group.name));
    format!("<a href=\"#g{}\">{count} × {name}</a>", at + 1)
}

fn summary(group: &GroupForm) -> String {
    let (count, name, schema) = (group.outputs.len(), text(&group.name), text(&group.schema));
    let place = match &*group.changes {
        [] => String::new(),
        [only] => format!(" <code>{}</code>", text(&where_in(only))),
        [first, rest @ ..] => {
            let more = counted(rest.len(), "more place");
            format!(" <code>{}</code> and {more}", text(&where_in(first)))
        }
    };
    let mut statuses: Vec<StatusForm> = group.outputs.iter().map(|it| it.status).collect();
    statuses.sort_unstable();
    statuses.dedup();
    let badges: Vec<String> = statuses.into_iter().map(badge).collect();
    let badges = badges.join(" ");
    format!("{badges} {count} × <b>{name}</b> <small>{schema}</small>{place}")
}

fn badge(status: StatusForm) -> String {
    let word = status.as_str();
    format!("<span class=\"badge {word}\">{word}</span>")
}

/// Where in the document something changed.
fn where_in(change: &ChangeForm) -> String {
    let part = if change.part == "data" { "" } else { &*change.part };
    match (part, path(change.path.as_deref(), &change.pointer)) {
        ("", "") => "(the whole document)".to_owned(),
        (part, path) => format!("{part}{path}"),
    }
}

/// A path as Deckhand has it, or else the pointer; nothing for all there is.
fn path<'a>(path: Option<&'a str>, pointer: &'a str) -> &'a str {
    match path {
        Some(".") => "",
        Some(path) => path,
        None => pointer,
    }
}

fn write_changes(page: &Page<'_>, group: &GroupForm, out: &mut dyn Write) -> io::Result<()> {
    if group.changes.is_empty() {
        return Ok(());
    }
    writeln!(out, "<ul class=\"changes\">")?;
    for change in &group.changes {
        writeln!(out, "<li><code>{}</code> {}", text(&where_in(change)), written(page, change))?;
        value::write(change.before.as_ref(), change.after.as_ref(), out)?;
        writeln!(out, "</li>")?;
    }
    writeln!(out, "</ul>")
}

/// Where a value is written, in the first of the outputs.
fn written(page: &Page<'_>, change: &ChangeForm) -> String {
    let side = match (&change.at.to, &change.at.from) {
        (Some(at), _) => Some((Side::Head, at, "written at")),
        (None, Some(at)) => Some((Side::Base, at, "was written at")),
        (None, None) => None,
    };
    let words = |(side, place, words): (Side, &PlaceForm, &str)| {
        format!("<small>{words} {}</small>", at(page.report, side, place))
    };
    side.map(words).unwrap_or_default()
}

fn write_members(
    page: &Page<'_>,
    group: &GroupForm,
    told: &mut Told,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "<table class=\"members\"><thead><tr><th scope=\"col\">outputs</th>")?;
    writeln!(
        out,
        "<th scope=\"col\">sites</th><th scope=\"col\">because of</th></tr></thead><tbody>"
    )?;
    for alike in alike(&group.outputs) {
        let (count, first) = (alike.len(), alike[0]);
        let sites: Vec<String> = alike.iter().map(|it| site_words(it.site.as_deref())).collect();
        writeln!(out, "<tr><td>{count} {}</td>", first.status.as_str())?;
        writeln!(out, "<td>{}</td><td>", sites.join(" "))?;
        write_causes(page, &first.causes, told, out)?;
        writeln!(out, "</td></tr>")?;
    }
    writeln!(out, "</tbody></table>")
}

/// A site by its name.
pub(super) fn site_words(site: Option<&str>) -> String {
    match site {
        Some(site) => format!("<span class=\"site\">{}</span>", text(site)),
        None => "<i>no site</i>".to_owned(),
    }
}

/// Members with the same fate and the same causes, in the order of the first
/// of each.
fn alike(members: &[MemberForm]) -> Vec<Vec<&MemberForm>> {
    type Fate<'a> = (StatusForm, Vec<(&'a str, &'a str, &'a [String])>);
    let mut known: BTreeMap<Fate<'_>, usize> = BTreeMap::new();
    let mut alike: Vec<Vec<&MemberForm>> = Vec::new();
    for member in members {
        let causes = member.causes.iter().map(|it| (&*it.edit, &*it.route, &*it.joint));
        let at = *known.entry((member.status, causes.collect())).or_insert(alike.len());
        match alike.get_mut(at) {
            Some(members) => members.push(member),
            None => alike.push(vec![member]),
        }
    }
    alike
}

fn write_causes(
    page: &Page<'_>,
    causes: &[CauseForm],
    told: &mut Told,
    out: &mut dyn Write,
) -> io::Result<()> {
    if causes.is_empty() {
        return writeln!(out, "<strong class=\"alarm\">nothing that explains it</strong>");
    }
    writeln!(out, "<ul class=\"causes\">")?;
    for cause in causes {
        write!(out, "<li>{}", edit_link(page, &cause.edit))?;
        if !cause.joint.is_empty() {
            let joint: Vec<String> = cause.joint.iter().map(|it| edit_link(page, it)).collect();
            write!(out, " together with {}", joint.join(", "))?;
        }
        match page.route(&cause.route) {
            Some((at, route)) if told.insert(at) => write_route(page, at, route, out)?,
            Some((at, route)) => {
                writeln!(out, " <a href=\"#r{}\">{}</a>", at + 1, text(&way(route)))?;
            }
            None => {}
        }
        writeln!(out, "</li>")?;
    }
    writeln!(out, "</ul>")
}

/// A link to an edit, by its number.
pub(super) fn edit_link(page: &Page<'_>, name: &str) -> String {
    match page.edit_at(name) {
        Some(at) => format!("<a href=\"#e{0}\">edit {0}</a>", at + 1),
        None => text(name).to_string(),
    }
}

fn write_route(
    page: &Page<'_>,
    at: usize,
    route: &RouteForm,
    out: &mut dyn Write,
) -> io::Result<()> {
    let summary = text(&way(route)).to_string();
    write!(out, "<details class=\"route\" id=\"r{}\"><summary>{summary}</summary><ol>", at + 1)?;
    for step in &route.steps {
        write!(out, "<li>{}</li>", step_words(page, step))?;
    }
    writeln!(out, "</ol></details>")
}

/// The steps of a route in words; the first only where it is the only one.
fn way(route: &RouteForm) -> String {
    let words: Vec<&str> = route.steps.iter().map(|step| &*step.via).collect();
    match words.split_first() {
        Some((&"edited", rest)) if !rest.is_empty() => rest.join(" > "),
        Some(_) | None => words.join(" > "),
    }
}

fn step_words(page: &Page<'_>, step: &StepForm) -> String {
    let (via, document) = (text(&step.via), document(&step.document));
    let path = match path(step.path.as_deref(), step.pointer.as_deref().unwrap_or_default()) {
        "" => String::new(),
        path => format!(" <code>{}</code>", text(path)),
    };
    let at = match &*step.at {
        [] => String::new(),
        at => format!("<br>{}", places(page.report, at)),
    };
    format!("<em>{via}</em> {document}{path}{at}")
}
