//! Findings and edits of a report in lines of plain text, for formats that
//! have no places of their own for what is said of them.
//!
//! Every line is [`clean`]: it has no line break and no control character.
//! What a format makes of backticks, percent signs and brackets is its own
//! concern.

use super::counted;
use super::json::{EditForm, Finding, LabelForm, Report, State};
use super::printable::clean;

/// So many places, sites or edits are named in one text.
const MOST: usize = 5;

/// What is said of a finding at its place, and where that is.
pub(super) fn labelled(label: &LabelForm) -> String {
    let place = place(label);
    if label.label.is_empty() { place } else { format!("{place}: {}", clean(&label.label)) }
}

/// What is said of a finding beside its headline and its place: where else it
/// is, why, what to do, in which sites, because of which edits, and why it is
/// not reported.
pub(super) fn lines(finding: &Finding, report: &Report) -> Vec<String> {
    let mut lines: Vec<String> = finding.related.iter().take(MOST).map(labelled).collect();
    lines.extend(more(finding.related.len(), "place").map(|more| format!("and {more}")));
    lines.extend(finding.notes.iter().map(|note| format!("note: {}", clean(note))));
    lines.extend(finding.help.iter().map(|help| format!("help: {}", clean(help))));
    if !finding.sites.is_empty() {
        lines.push(format!("in {}", sites(&finding.sites)));
    }
    lines.extend(causes(finding, report));
    lines.extend(suppression(finding));
    match finding.state {
        Some(State::Unchanged) => lines.push("the base has it too".to_owned()),
        Some(State::New | State::Fixed) | None => {}
    }
    lines
}

/// Where a label is, as people write it.
pub(super) fn place(label: &LabelForm) -> String {
    let place = format!("{}:{}:{}", clean(&label.file), label.line, label.column);
    match &label.decoded {
        Some(it) => format!("{place} (decoded, {}:{}:{})", clean(&it.name), it.line, it.column),
        None => place,
    }
}

/// What an edit is of, and whether that came or went.
pub(super) fn subject(edit: &EditForm) -> String {
    let name = match (&*edit.document.name, &*edit.document.layer) {
        ("", _) => clean(&edit.document.schema).into_owned(),
        (name, "") => clean(name).into_owned(),
        (name, layer) => format!("{} ({})", clean(name), clean(layer)),
    };
    let path = match (&*edit.part, &*edit.path) {
        ("whole", _) => String::new(),
        ("metadata", ".") => "metadata".to_owned(),
        ("metadata", path) => format!("metadata{}", clean(path)),
        (_, path) => clean(path).into_owned(),
    };
    let what = match &*edit.kind {
        "policy" => format!("layers {name}"),
        "site" => format!("site definition {name}"),
        "document" | "moved" => format!("document {name}"),
        _ => name,
    };
    let became = match (&*edit.kind, &edit.at.from, &edit.at.to) {
        ("moved", _, _) => "moved",
        (_, None, Some(_)) => "added",
        (_, Some(_), None) => "removed",
        (_, Some(_), Some(_)) | (_, None, None) => "",
    };
    let parts = [&*what, &path, became].into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" ")
}

/// What an edit changed, in figures: `14 documents in 5 sites`.
pub(super) fn reach(edit: &EditForm) -> String {
    let sites = &edit.reach.sites;
    match edit.reach.outputs {
        0 => "changes nothing".to_owned(),
        outputs if sites.is_empty() => format!("changes {}", counted(outputs, "document")),
        outputs => {
            let sites = counted(sites.len(), "site");
            format!("changes {} in {sites}", counted(outputs, "document"))
        }
    }
}

/// The line of an edit, on the head side if it is there.
pub(super) fn edit_place(edit: &EditForm) -> String {
    let at = edit.at.to.as_ref().or(edit.at.from.as_ref());
    at.map(|at| format!("{}:{}", clean(&at.file), at.line)).unwrap_or_default()
}

/// Names of sites, the first of them where there are many.
pub(super) fn sites(sites: &[String]) -> String {
    let names: Vec<_> = sites.iter().take(MOST).map(|site| clean(site)).collect();
    named(&names.join(", "), more(sites.len(), "site"))
}

/// The first few of `parts`, and how many more there are.
pub(super) fn few(parts: &[String], what: &str) -> String {
    let shown = &parts[..parts.len().min(MOST)];
    named(&shown.join(", "), more(parts.len(), what))
}

fn named(names: &str, more: Option<String>) -> String {
    match more {
        Some(more) => format!("{names} and {more}"),
        None => names.to_owned(),
    }
}

/// How many more there are than are named; none where all are.
fn more(count: usize, what: &str) -> Option<String> {
    let more = count.checked_sub(MOST).filter(|more| *more > 0)?;
    Some(counted(more, &format!("more {what}")))
}

fn causes(finding: &Finding, report: &Report) -> Option<String> {
    let edits = finding.caused_by.iter().filter_map(|id| report.edit(id));
    let places: Vec<String> = edits.map(edit_place).collect();
    (!places.is_empty()).then(|| format!("caused by the edit at {}", few(&places, "edit")))
}

/// As reports for people say it.
fn suppression(finding: &Finding) -> Option<String> {
    let it = finding.suppressed.as_ref()?;
    let at = format!("{}:{}", clean(&it.file), it.line);
    Some(match (&*it.kind, &*it.reason) {
        ("baseline", _) => format!("ignored by the baseline, {at}"),
        (_, "") => format!("ignored by {at}"),
        (_, reason) => format!("ignored by {at}: {}", clean(reason)),
    })
}
