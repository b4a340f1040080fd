//! What changed between two sides, for people: the cause first, then how far
//! it went, by which way, and where it stopped.
//!
//! Edits with the same reach are told as one (`fold`, `edits`), each with its
//! values (`value`); a table has one row for outputs that changed alike (`table`),
//! and the longest way is told step by step (`route`). An output with several
//! causes is listed with its first edit; the others refer to it. What no edit
//! explains stands apart and is never left out, whatever the limit.

mod closing;
mod edits;
mod fold;
mod names;
mod route;
mod table;
mod value;

use std::io::{self, Write};
use std::time::Duration;

use self::fold::{Fold, folds};
use self::names::Names;
use super::counted;
use super::printable::clean;
use super::signs::Signs;
use super::terminal::{self, Ink, Told};
use super::{Compared, Extent, SideKind, SideText, Sides, Style, View, wrap};
use crate::compare::reach::{Comparison, EditReach};
use crate::diagnostic::Diagnostic;
use crate::edit::{Edit, EditId};
use crate::source::Span;
use crate::triage::{self, Suppressed};

/// How much of a comparison is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Whether outputs that changed alike share a row.
    pub grouping: Grouping,
    /// So many entries of any list are shown, at least one; the others are
    /// counted.
    pub limit: usize,
    /// Whether findings of both sides are shown too.
    pub unchanged: Unchanged,
}

impl Look {
    /// The limit on a terminal, where what scrolls away is lost.
    pub const ON_TERMINAL: usize = 20;
    /// The limit of output that is kept.
    pub const KEPT: usize = 200;
}

/// What a row of a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Outputs of one schema and name that changed alike.
    Alike,
    /// One output.
    Apart,
}

/// What becomes of findings that are on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unchanged {
    /// They are counted.
    Counted,
    /// They are shown in full, after the new ones.
    Shown,
}

/// Writes a comparison in full: the sides, the edits and their reach, what
/// nothing explains, new findings, and the closing lines.
///
/// # Errors
/// Those of `out`.
pub fn write(
    compared: &Compared<'_>,
    look: Look,
    view: &View<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let findings = compared.findings.map(|it| FindingsTold::of(it, look.unchanged));
    write_told(compared, findings.as_ref(), look, view, style, out)
}

/// As [`write()`], with these findings of both sides.
pub(super) fn write_told(
    compared: &Compared<'_>,
    findings: Option<&FindingsTold<'_>>,
    look: Look,
    view: &View<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let page = Page::new(compared, findings, look, view, style);
    let sides = compared.sides;
    if page.is_silent() && (sides.edited_files == 0 || sides.extent == Extent::Asked) {
        page.write_nothing_edited(out)?;
    } else {
        page.write_header(out)?;
        page.write_edits(out)?;
        page.write_inert(out)?;
        page.write_unexplained(out)?;
    }
    if let Some(findings) = findings {
        page.write_findings(findings, out)?;
    }
    page.write_closing(out)
}

/// What is told of the findings of two sides, wherever they come from.
#[derive(Debug)]
pub(super) struct FindingsTold<'a> {
    /// On the head side only.
    pub(super) new: Vec<Told<'a>>,
    /// The edits that caused each of the new ones.
    pub(super) causes: Vec<&'a [EditId]>,
    /// On both sides.
    pub(super) unchanged: Vec<Told<'a>>,
    /// How many are on the base side only.
    pub(super) fixed: usize,
    /// How many are not reported.
    pub(super) suppressed: Suppressed,
    /// How many comments that suppress findings came.
    pub(super) added_ignores: usize,
}

impl<'a> FindingsTold<'a> {
    fn of(findings: &'a triage::Compared, unchanged: Unchanged) -> Self {
        let new = findings.new.diagnostics.iter().zip(&findings.causes);
        let listed = new.filter(|(finding, _)| finding.is_listed(unchanged == Unchanged::Shown));
        let (new, causes) =
            listed.map(|(finding, causes)| (Told::from(finding), causes.as_slice())).unzip();
        Self {
            new,
            causes,
            unchanged: terminal::told(&findings.unchanged.diagnostics),
            fixed: Diagnostic::total(&findings.fixed.diagnostics),
            suppressed: Suppressed::of(&findings.suppressed),
            added_ignores: findings.added_ignores,
        }
    }
}

/// Writes one line for each edit, `FILE:LINE PATH: what it reached`, and the
/// closing lines.
///
/// # Errors
/// Those of `out`.
pub fn write_brief(
    compared: &Compared<'_>,
    look: Look,
    view: &View<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let findings = compared.findings.map(|it| FindingsTold::of(it, look.unchanged));
    let page = Page::new(compared, findings.as_ref(), look, view, style);
    let edits = &compared.comparison.edits;
    for reach in edits.iter().take(page.limit()) {
        let subject = page.names.subject(&reach.edit, view).replace("  ", " ");
        let place = page.place(reach.edit.at());
        writeln!(out, "{place} {subject}: {}", page.brief_reach(reach))?;
    }
    page.write_more(edits.len(), "edit", "", out)?;
    page.write_unexplained(out)?;
    page.write_closing(out)
}

/// An edit in one line: where it is, and of what.
pub(super) fn edit_line(edit: &Edit, view: &View<'_>) -> String {
    let place = view.place(edit.at());
    let subject = Names::of(&Comparison::default()).subject(edit, view);
    format!("{}:{}  {subject}", clean(place.path.as_str()), place.line)
}

/// Where in its document an edit is; nothing where it is all of it.
pub(super) fn edit_path(edit: &Edit, view: &View<'_>) -> String {
    names::path(edit, view)
}

/// All that the parts of a report look at.
pub(super) struct Page<'a> {
    compared: &'a Compared<'a>,
    findings: Option<&'a FindingsTold<'a>>,
    look: Look,
    view: &'a View<'a>,
    style: &'a Style,
    names: Names,
    signs: Signs,
    /// By output: the fold it is listed with.
    owners: Vec<Option<usize>>,
    folds: Vec<Fold>,
}

impl<'a> Page<'a> {
    fn new(
        compared: &'a Compared<'a>,
        findings: Option<&'a FindingsTold<'a>>,
        look: Look,
        view: &'a View<'a>,
        style: &'a Style,
    ) -> Self {
        let comparison = compared.comparison;
        let folds = folds(comparison);
        Self {
            compared,
            findings,
            look,
            view,
            style,
            names: Names::of(comparison),
            signs: Signs::of(style),
            owners: fold::owners(comparison, &folds),
            folds,
        }
    }

    fn comparison(&self) -> &'a Comparison {
        self.compared.comparison
    }

    fn reach(&self, edit: EditId) -> &'a EditReach {
        &self.comparison().edits[edit.index()]
    }

    fn limit(&self) -> usize {
        self.look.limit.max(1)
    }

    /// How many sites have a name: on either side.
    fn sites(&self) -> usize {
        self.comparison().sites.iter().filter(|it| it.site.is_some()).count()
    }

    fn place(&self, span: Span) -> String {
        let place = self.view.place(span);
        format!("{}:{}", clean(place.path.as_str()), place.line)
    }

    fn paint(&self, ink: Ink, text: &str) -> String {
        ink.paint(text, self.style.color)
    }

    fn write_paragraph(&self, indent: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", wrap(text, self.style.columns(), indent, indent))
    }

    /// Says how many of `all` entries are beyond the limit, if any.
    fn write_more(
        &self,
        all: usize,
        what: &str,
        indent: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match all.saturating_sub(self.limit()) {
            0 => Ok(()),
            more => {
                writeln!(out, "{indent}and {} (--limit)", counted(more, &format!("more {what}")))
            }
        }
    }

    /// Whether there is neither an edit nor a change.
    fn is_silent(&self) -> bool {
        self.comparison().edits.is_empty() && self.comparison().outputs.is_empty()
    }

    fn write_header(&self, out: &mut dyn Write) -> io::Result<()> {
        let sides = self.compared.sides;
        let mut parts = Vec::new();
        parts.extend(repository(sides));
        if self.sites() > 0 {
            parts.push(counted(self.sites(), "site"));
        }
        parts.push(counted(self.compared.outputs, "rendered document"));
        parts.extend(self.compared.timing.total.map(seconds));
        self.write_paragraph("", &parts.join(self.signs.between), out)?;
        let reason = match reason(sides) {
            "" => String::new(),
            reason => format!(", {}", clean(reason)),
        };
        let shallow = if sides.shallow { " (history is shallow)" } else { "" };
        let edited = counted(sides.edited_files, "file");
        writeln!(out, "{}  {}{reason}{shallow}", self.paint(Ink::Bold, "base"), side(&sides.from))?;
        let head = self.paint(Ink::Bold, "head");
        writeln!(out, "{head}  {}, {edited} changed", side(&sides.to))?;
        self.write_semantics(out)?;
        writeln!(out)
    }

    fn write_semantics(&self, out: &mut dyn Write) -> io::Result<()> {
        self.compared.semantics.map_or(Ok(()), |semantics| writeln!(out, "{semantics}"))
    }

    fn write_nothing_edited(&self, out: &mut dyn Write) -> io::Result<()> {
        let sides = self.compared.sides;
        let name = repository(sides).map(|name| name + ": ").unwrap_or_default();
        let (from, to) = (side(&sides.from), side(&sides.to));
        let what = match sides.extent {
            Extent::Whole => "no document differs",
            Extent::Asked => "nothing that was asked for differs",
        };
        let text = format!("{name}{what} between {from} and {to}");
        self.write_paragraph("", &text, out)?;
        self.write_semantics(out)
    }

    fn write_edits(&self, out: &mut dyn Write) -> io::Result<()> {
        for (at, fold) in self.folds.iter().enumerate().take(self.limit()) {
            self.write_title(fold, out)?;
            self.write_values(fold, out)?;
            writeln!(out)?;
            self.write_reach(at, fold, out)?;
        }
        let Some(left) = self.folds.get(self.limit()..).filter(|left| !left.is_empty()) else {
            return Ok(());
        };
        let edits: Vec<EditId> = left.iter().flat_map(|fold| fold.edits.iter().copied()).collect();
        let (what, many) = (edit_words(&edits), counted(edits.len(), "more edit"));
        writeln!(out, "and {many} (--limit): {what}\n")
    }

    /// Edits that changed nothing, and that nothing stopped; apart from them those of unknown
    /// content.
    fn write_inert(&self, out: &mut dyn Write) -> io::Result<()> {
        let edits = self.comparison().edits.iter().enumerate();
        let (inert, unknown): (Vec<_>, Vec<_>) = edits
            .filter(|(_, it)| it.outputs.is_empty() && it.shields.is_empty())
            .partition(|(_, it)| it.is_inert());
        self.write_listed("content unknown", &unknown, out)?;
        self.write_listed("changes nothing", &inert, out)
    }

    fn write_listed(
        &self,
        title: &str,
        inert: &[(usize, &EditReach)],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if inert.is_empty() {
            return Ok(());
        }
        let title = format!("{title}: {}", counted(inert.len(), "edit"));
        writeln!(out, "{}", self.paint(Ink::Bold, &title))?;
        for (at, reach) in inert.iter().take(self.limit()) {
            let (place, number) = (self.place(reach.edit.at()), at + 1);
            let subject = self.names.subject(&reach.edit, self.view);
            writeln!(out, "  edit {number}  {place}  {subject}")?;
        }
        self.write_more(inert.len(), "edit", "  ", out)?;
        writeln!(out)
    }

    /// Every output of which a change has no edit behind it.
    fn write_unexplained(&self, out: &mut dyn Write) -> io::Result<()> {
        let outputs = &self.comparison().outputs;
        let unexplained: Vec<_> = outputs.iter().filter(|it| it.is_unexplained()).collect();
        if unexplained.is_empty() {
            return Ok(());
        }
        let what = counted(unexplained.len(), "output");
        let verb = if unexplained.len() == 1 { "has" } else { "have" };
        let title = format!("UNEXPLAINED: {what} {verb} changes that no edit explains");
        writeln!(out, "{}", self.paint(Ink::Red, &title))?;
        for change in unexplained {
            let site = change.site.as_deref().map(|it| format!("{}  ", clean(it)));
            let (document, site) = (self.names.document(&change.key), site.unwrap_or_default());
            let mut places = table::places_of_change(change, self.view);
            let more = places.len().saturating_sub(1);
            places.truncate(1);
            let place = places.pop().unwrap_or_default();
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            writeln!(out, "  {site}{document}  {place}{more}")?;
        }
        let text = "This is a fault of layercake, not of your documents: do not rely on the causes \
                    above for these outputs, and please report it with the output of `-o json`.";
        self.write_paragraph("  ", text, out)?;
        writeln!(out)
    }

    fn write_findings(&self, findings: &FindingsTold<'_>, out: &mut dyn Write) -> io::Result<()> {
        let cause = |at: usize| {
            let edits = findings.causes.get(at).filter(|edits| !edits.is_empty())?;
            let words = edit_words(edits);
            Some(match edits {
                [only] => format!("{words}, {}", self.place(self.reach(*only).edit.at())),
                _ => words,
            })
        };
        terminal::write_caused(&findings.new, &cause, self.view, self.style, out)?;
        if self.look.unchanged == Unchanged::Shown && !findings.unchanged.is_empty() {
            writeln!(out, "{}\n", self.paint(Ink::Bold, "unchanged, found on both sides:"))?;
            let no_cause = |_| None;
            let unchanged = &findings.unchanged;
            terminal::write_caused(unchanged, &no_cause, self.view, self.style, out)?;
        }
        Ok(())
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.2}s", time.as_secs_f64())
}

/// The repository that is compared; none if neither its name is known nor another one that it
/// is inside of.
fn repository(sides: &Sides) -> Option<String> {
    match (&*sides.repository, &sides.nested_at) {
        ("", Some(path)) => Some(format!("repository `{}` inside of another one", clean(path))),
        ("", None) => None,
        (name, _) => Some(clean(name).into_owned()),
    }
}

/// Why these sides; nothing where that says no more than their names.
fn reason(sides: &Sides) -> &str {
    let from = match sides.from.kind {
        SideKind::Nothing => sides.from.kind.as_str(),
        SideKind::Commit | SideKind::Index | SideKind::Worktree => &*sides.from.name,
    };
    match sides.reason.strip_prefix(from) {
        Some(rest) if rest.starts_with(" against ") => "",
        Some(_) | None => &sides.reason,
    }
}

/// A side as a person says it.
fn side(side: &SideText) -> String {
    /// So many digits of a commit tell it from all others in practice.
    const DIGITS: usize = 10;
    let of = match side.kind {
        SideKind::Nothing => "nothing".to_owned(),
        SideKind::Index => "index".to_owned(),
        SideKind::Worktree => "working tree".to_owned(),
        SideKind::Commit => {
            let commit = side.commit.as_deref().unwrap_or_default();
            clean(&commit.chars().take(DIGITS).collect::<String>()).into_owned()
        }
    };
    let is_named = !side.name.is_empty() && side.commit.as_deref() != Some(&*side.name);
    match is_named {
        true if of.is_empty() => clean(&side.name).into_owned(),
        true if !of.starts_with(&*side.name) => format!("{of} ({})", clean(&side.name)),
        true | false => of,
    }
}

/// Edits by their numbers: `edit 3`, `edits 3 to 9 and 12`.
fn edit_words(edits: &[EditId]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for edit in edits {
        let number = edit.index() + 1;
        match runs.last_mut() {
            Some((_, end)) if *end + 1 == number => *end = number,
            Some(_) | None => runs.push((number, number)),
        }
    }
    let words = runs.iter().flat_map(|(start, end)| match end - start {
        0 => vec![start.to_string()],
        1 => vec![start.to_string(), end.to_string()],
        _ => vec![format!("{start} to {end}")],
    });
    let words: Vec<String> = words.collect();
    let word = if edits.len() == 1 { "edit" } else { "edits" };
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{word} {} and {last}", rest.join(", ")),
        Some(_) | None => format!("{word} {}", words.join("")),
    }
}
