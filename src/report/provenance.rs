//! Where values come from and where they could be changed, for people and for programs.
//!
//! Of a secret only its document is reported: its value is `(hidden)`, and no place below it is
//! passed in.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;

use super::counted;
use super::form::{KeyOrder, NodeAsJson, canonical};
use super::model::{VERSION, write_json};
use super::printable::clean;
use super::{TerminalStyle, View, wrap};
use crate::source::{DocKey, Span};
use crate::yaml::Node;
use crate::yaml::emit::{self, to_yaml};
use crate::yaml::path::first_inside;

/// Where one value of one site comes from.
#[derive(Clone, Debug)]
pub struct ExplainedValue {
    /// The site; none for a set without layout.
    pub site: Option<Arc<str>>,
    /// The document.
    pub(crate) document: DocKey,
    /// The place in it.
    pub(crate) place: String,
    /// The value there; none where there is none.
    pub(crate) value: Option<Node>,
    /// The document that a secret value is from.
    pub(crate) secret_of: Option<DocKey>,
    /// The text that wrote the value.
    pub(crate) set_at: Option<Span>,
    /// The way, from the text that wrote the value to the document asked for.
    pub rows: Vec<WayRow>,
    /// The documents in which it could be changed, and for which sites.
    pub(crate) changes: Vec<WayChange>,
    /// Authors of the leaves of a mapping or list.
    pub(crate) leaves: Vec<LeafWriter>,
    /// Whether there are more leaves than these.
    pub(crate) more_leaves: bool,
}

impl ExplainedValue {
    /// Whether another way has the same steps, wherever they are written.
    pub(crate) fn is_like(&self, other: &ExplainedValue) -> bool {
        let step = |row: &WayRow| (row.document.clone(), row.step.clone(), row.standing);
        let steps = |way: &ExplainedValue| way.rows.iter().map(step).collect::<Vec<_>>();
        steps(self) == steps(other)
    }
}

/// One step on the way of a value.
#[derive(Clone, Debug)]
pub struct WayRow {
    /// The document in which it is done.
    pub(crate) document: DocKey,
    /// Description of the step.
    pub step: String,
    /// A note on the step.
    pub(crate) note: Option<&'static str>,
    /// Where it is written.
    pub(crate) at: Vec<Span>,
    /// Whether several values stood against each other.
    pub(crate) standing: ValuePrecedence,
}

/// Outcome of one of several values for a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValuePrecedence {
    /// There is no other.
    Alone,
    /// Another one took its place.
    Lost,
    /// It took another one's place.
    Wins,
}

/// A document in which a value could be set, and what that would change.
#[derive(Clone, Debug)]
pub(crate) struct WayChange {
    /// The sites that it would concern, in words.
    pub(crate) scope: String,
    /// The number of the row, from one.
    pub(crate) row: usize,
    /// The sites that read the document.
    pub(crate) sites: Vec<Arc<str>>,
    /// The present reach of the text there, where there is one.
    pub(crate) reach: Option<TextReach>,
}

/// The outputs and sites that a text reaches.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextReach {
    /// Outputs, over all sites.
    pub(crate) outputs: usize,
    /// The sites these are of.
    pub(crate) sites: Vec<Arc<str>>,
    /// The sites that read the text, and none of whose outputs it reaches.
    pub(crate) shielded: Vec<Arc<str>>,
}

/// The author of one leaf of a mapping or list.
#[derive(Clone, Debug)]
pub(crate) struct LeafWriter {
    /// The leaf.
    pub(crate) place: String,
    /// The document whose text it is.
    pub(crate) document: DocKey,
    /// The text.
    pub(crate) at: Option<Span>,
}

/// Whether a text reaches a value, and where it stops otherwise.
#[derive(Clone, Debug)]
pub struct TextTrace {
    /// The text: a document and a place of its own data.
    pub(crate) document: DocKey,
    /// The place.
    pub(crate) place: String,
    /// Where it is written.
    pub(crate) at: Span,
    /// The places it reaches before it stops, the first one first.
    pub(crate) route: Vec<WayRow>,
    /// Whether the last of them is the value asked for.
    pub(crate) reaches: bool,
    /// Where it stops.
    pub(crate) stops: Vec<WayRow>,
}

/// The value in one site, where all are asked.
#[derive(Clone, Debug)]
pub struct SiteValue {
    /// The site; none for a set without layout.
    pub site: Option<Arc<str>>,
    /// Its value's way; none where it has no such document.
    pub way: Option<ExplainedValue>,
}

/// Writes the way of a value for people.
///
/// # Errors
/// Those of `out`.
pub fn write_way(
    way: &ExplainedValue,
    view: &View<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "{}", value_text(way))?;
    if let Some(at) = way.set_at {
        writeln!(out, "set at {}", places(&[at], view))?;
    }
    writeln!(out)?;
    write_rows(&way.rows, view, style, out)?;
    write_leaves(way, view, out)?;
    write_changes(way, style, out)
}

/// The value as YAML, or its placeholder; one line or several.
fn value_text(way: &ExplainedValue) -> String {
    const MAX_VALUE_LINES: usize = 20;
    let Some(value) = &way.value else { return "nothing stands there\n".into() };
    if value.secret {
        return match &way.secret_of {
            Some(key) => {
                format!("(hidden: derived from {} {})\n", clean(&key.schema), clean(&key.name))
            }
            None => format!("{}\n", emit::HIDDEN),
        };
    }
    let yaml = to_yaml(value, &emit::EmitOptions::default());
    let mut text: String =
        yaml.lines().take(MAX_VALUE_LINES).map(|line| format!("{}\n", clean(line))).collect();
    match yaml.lines().count().saturating_sub(MAX_VALUE_LINES) {
        0 => {}
        more => writeln!(text, "… {more} more lines").expect("strings take text"),
    }
    text
}

/// Writes numbered steps: a line that says what is done, and one that says
/// where it is written.
fn write_rows(
    rows: &[WayRow],
    view: &View<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let width = |text: fn(&WayRow) -> &str, least: usize| {
        let longest = rows.iter().map(|row| clean(text(row)).chars().count()).max();
        longest.unwrap_or(0).clamp(least, 32)
    };
    // Parts of cloud-config have no layer.
    let has_layers = rows.iter().any(|row| !row.document.layer.is_empty());
    let layer = if has_layers { width(|row| &row.document.layer, 5) + 2 } else { 0 };
    let name = width(|row| &row.document.name, 8);
    let number = rows.len().to_string().len().max(2);
    let title = if has_layers { "layer" } else { "" };
    writeln!(out, "{:>number$}  {title:layer$}{:name$}  step, and where", "#", "document")?;
    for (index, row) in rows.iter().enumerate() {
        let head = format!(
            "{:>number$}  {:layer$}{:name$}  ",
            index + 1,
            clean(&row.document.layer),
            clean(&row.document.name),
        );
        let indent = " ".repeat(number + layer + 2);
        writeln!(out, "{}", wrap(&step_text(row), style.columns(), &head, &indent))?;
        for line in places(&row.at, view).lines() {
            writeln!(out, "{indent}{line}")?;
        }
        if let Some(note) = row.note {
            writeln!(out, "{indent}{note}")?;
        }
    }
    Ok(())
}

fn step_text(row: &WayRow) -> String {
    let step = clean(&row.step);
    match row.standing {
        ValuePrecedence::Alone => step.into_owned(),
        ValuePrecedence::Lost => format!("{step}, LOST"),
        ValuePrecedence::Wins => format!("{step}, WINS"),
    }
}

/// Places as `FILE:LINE`; of one file as `FILE:LINE, :LINE`, a line for each
/// file.
pub(super) fn places(spans: &[Span], view: &View<'_>) -> String {
    let mut text = String::new();
    let mut last: Option<(&str, usize)> = None;
    for span in spans {
        let place = view.place(*span);
        let (path, line) = (place.path.as_str(), place.line);
        match last {
            Some(known) if known == (path, line) => continue,
            Some((known, _)) if known == path => write!(text, ", :{line}"),
            Some(_) => write!(text, "\n{}:{line}", clean(path)),
            None => write!(text, "{}:{line}", clean(path)),
        }
        .expect("strings take text");
        last = Some((path, line));
    }
    text
}

fn write_leaves(way: &ExplainedValue, view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    if way.leaves.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nthis is a mapping or list; what is in it was written at")?;
    for leaf in &way.leaves {
        let at = leaf.at.map(|at| places(&[at], view)).unwrap_or_default();
        writeln!(out, "  {}", clean(&leaf.place))?;
        writeln!(out, "      {at}  ({})", clean(&leaf.document.name))?;
    }
    if way.more_leaves {
        writeln!(out, "  … and more; ask for a place further down")?;
    }
    Ok(())
}

fn write_changes(
    way: &ExplainedValue,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    if way.changes.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let heads = way.changes.iter().map(|change| format!("to change it {}", clean(&change.scope)));
    let heads: Vec<String> = heads.collect();
    let width = heads.iter().map(|head| head.chars().count()).max().unwrap_or(0);
    for (head, change) in heads.iter().zip(&way.changes) {
        let first = format!("{head:width$}  ");
        let rest = " ".repeat(4);
        writeln!(out, "{}", wrap(&change_text(change), style.columns(), &first, &rest))?;
    }
    Ok(())
}

fn change_text(change: &WayChange) -> String {
    let set = format!("set it in #{}", change.row);
    let Some(reach) = &change.reach else {
        return match change.sites.len() {
            0 | 1 => set,
            _ => format!("{set} ({})", names(&change.sites)),
        };
    };
    let outputs = counted(reach.outputs, "output");
    let sites = match reach.sites.len() {
        0 => String::new(),
        count => format!(" in {}", counted(count, "site")),
    };
    let shielded = match reach.shielded.as_slice() {
        [] => String::new(),
        [one] => format!("; {} is shielded", clean(one)),
        several => format!("; {} are shielded", names(several)),
    };
    format!("{set} (reaches {outputs}{sites}{shielded})")
}

/// The names of the first sites, and how many more there are.
fn names(sites: &[Arc<str>]) -> String {
    let shown = sites.iter().take(MAX_SITES).map(|site| clean(site)).collect::<Vec<_>>();
    match sites.len().saturating_sub(MAX_SITES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn site_name(site: Option<&str>) -> String {
    clean(site.unwrap_or("-")).into_owned()
}

/// Writes the value of each site for people: the sites with one value, one
/// below the other.
///
/// # Errors
/// Those of `out`.
pub fn write_values(values: &[SiteValue], view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut groups: Vec<(String, Vec<&SiteValue>)> = Vec::new();
    for value in values {
        let identity = value.way.as_ref().map(identity).unwrap_or_default();
        match groups.iter_mut().find(|(known, _)| *known == identity) {
            Some((_, members)) => members.push(value),
            None => groups.push((identity, vec![value])),
        }
    }
    for (index, (_, members)) in groups.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let way = members.first().and_then(|member| member.way.as_ref());
        write!(out, "{}", way.map_or_else(|| "no such document\n".into(), value_text))?;
        let width = members.iter().map(|it| site_name(it.site.as_deref()).chars().count()).max();
        for member in members.iter().take(MAX_SITES) {
            let site = site_name(member.site.as_deref());
            let at = member.way.as_ref().and_then(|way| way.set_at);
            let at = at.map(|at| places(&[at], view)).unwrap_or_default();
            let line = format!("  {site:width$}  {at}", width = width.unwrap_or(0));
            writeln!(out, "{}", line.trim_end())?;
        }
        if members.len() > MAX_SITES {
            let more = counted(members.len() - MAX_SITES, "more site");
            writeln!(out, "  … {more} (`--format json` has all)")?;
        }
    }
    Ok(())
}

/// Maximum number of sites with one value that are listed.
const MAX_SITES: usize = 8;

/// A key that is equal for equal values. Whether secrets are equal is a secret.
fn identity(way: &ExplainedValue) -> String {
    match &way.value {
        Some(value) if !holds_secret(value) => canonical(value),
        Some(value) if !value.secret => to_yaml(value, &emit::EmitOptions::default()),
        Some(_) | None => value_text(way),
    }
}

fn holds_secret(value: &Node) -> bool {
    value.secret || first_inside(value, |node, _| node.secret).is_some()
}

/// Writes, for people, how far texts come on the way to a value.
///
/// # Errors
/// Those of `out`.
pub fn write_why_not(
    texts: &[TextTrace],
    view: &View<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (index, text) in texts.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let of = format!("{} of {} {}", text.place, text.document.schema, text.document.name);
        writeln!(out, "{}", clean(&of))?;
        writeln!(out, "written at {}\n", places(&[text.at], view))?;
        write_rows(&text.route, view, style, out)?;
        if text.reaches {
            writeln!(out, "\nit reaches the value")?;
            continue;
        }
        writeln!(out, "\nit does not reach the value")?;
        for stop in &text.stops {
            let of = stop.document.name_and_layer();
            let line = format!("{} in {}", stop.step, of);
            writeln!(out, "  {}", clean(&line))?;
            writeln!(out, "      {}", places(&stop.at, view))?;
        }
    }
    Ok(())
}

/// Writes ways for programs: of one site or of all.
///
/// # Errors
/// Those of `out`.
pub fn write_ways_json(
    values: &[SiteValue],
    view: &View<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let sites = values.iter().map(|value| SiteValueForm {
        site: value.site.as_deref(),
        way: value.way.as_ref().map(|way| WayForm::new(way, view)),
    });
    write_json(&WaysReport { version: VERSION, sites: sites.collect() }, out)
}

/// Writes, for programs, how far texts come on the way to a value.
///
/// # Errors
/// Those of `out`.
pub fn write_why_not_json(
    texts: &[TextTrace],
    view: &View<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let texts = texts.iter().map(|text| WhyNotForm {
        document: &text.document,
        place: &text.place,
        at: PlaceForm::new(text.at, view),
        route: text.route.iter().map(|row| RowForm::new(row, view)).collect(),
        reaches: text.reaches,
        stops: text.stops.iter().map(|row| RowForm::new(row, view)).collect(),
    });
    write_json(&WhyNotReport { version: VERSION, texts: texts.collect() }, out)
}

#[derive(Serialize)]
struct WaysReport<'a> {
    version: u32,
    sites: Vec<SiteValueForm<'a>>,
}

#[derive(Serialize)]
struct SiteValueForm<'a> {
    site: Option<&'a str>,
    way: Option<WayForm<'a>>,
}

#[derive(Serialize)]
pub(super) struct WayForm<'a> {
    document: &'a DocKey,
    place: &'a str,
    there: bool,
    value: Option<NodeAsJson<'a>>,
    secret_of: Option<&'a DocKey>,
    set_at: Option<PlaceForm<'a>>,
    rows: Vec<RowForm<'a>>,
    changes: Vec<ChangeForm<'a>>,
    leaves: Vec<LeafForm<'a>>,
    more_leaves: bool,
}

#[derive(Serialize)]
pub(super) struct PlaceForm<'a> {
    file: &'a str,
    line: usize,
    column: usize,
}

#[derive(Serialize)]
struct RowForm<'a> {
    document: &'a DocKey,
    step: &'a str,
    note: Option<&'a str>,
    at: Vec<PlaceForm<'a>>,
    standing: Option<&'static str>,
}

#[derive(Serialize)]
struct ChangeForm<'a> {
    scope: &'a str,
    row: usize,
    sites: Vec<&'a str>,
    reach: Option<ReachForm<'a>>,
}

#[derive(Serialize)]
struct ReachForm<'a> {
    outputs: usize,
    sites: Vec<&'a str>,
    shielded: Vec<&'a str>,
}

#[derive(Serialize)]
struct LeafForm<'a> {
    place: &'a str,
    document: &'a DocKey,
    at: Option<PlaceForm<'a>>,
}

#[derive(Serialize)]
struct WhyNotReport<'a> {
    version: u32,
    texts: Vec<WhyNotForm<'a>>,
}

#[derive(Serialize)]
struct WhyNotForm<'a> {
    document: &'a DocKey,
    place: &'a str,
    at: PlaceForm<'a>,
    route: Vec<RowForm<'a>>,
    reaches: bool,
    stops: Vec<RowForm<'a>>,
}

impl<'a> WayForm<'a> {
    pub(super) fn new(way: &'a ExplainedValue, view: &View<'a>) -> Self {
        let form = |node| NodeAsJson { node, order: KeyOrder::Document, show_secrets: false };
        Self {
            document: &way.document,
            place: &way.place,
            there: way.value.is_some(),
            value: way.value.as_ref().map(form),
            secret_of: way.secret_of.as_ref(),
            set_at: way.set_at.map(|at| PlaceForm::new(at, view)),
            rows: way.rows.iter().map(|row| RowForm::new(row, view)).collect(),
            changes: way.changes.iter().map(ChangeForm::new).collect(),
            leaves: way.leaves.iter().map(|leaf| LeafForm::new(leaf, view)).collect(),
            more_leaves: way.more_leaves,
        }
    }
}

impl<'a> PlaceForm<'a> {
    pub(super) fn new(span: Span, view: &View<'a>) -> Self {
        let place = view.place(span);
        Self { file: place.path.as_str(), line: place.line, column: place.column }
    }
}

impl<'a> RowForm<'a> {
    fn new(row: &'a WayRow, view: &View<'a>) -> Self {
        Self {
            document: &row.document,
            step: &row.step,
            note: row.note,
            at: row.at.iter().map(|at| PlaceForm::new(*at, view)).collect(),
            standing: match row.standing {
                ValuePrecedence::Alone => None,
                ValuePrecedence::Lost => Some("lost"),
                ValuePrecedence::Wins => Some("wins"),
            },
        }
    }
}

impl<'a> ChangeForm<'a> {
    fn new(change: &'a WayChange) -> Self {
        let reach = change.reach.as_ref().map(|reach| ReachForm {
            outputs: reach.outputs,
            sites: reach.sites.iter().map(|site| &**site).collect(),
            shielded: reach.shielded.iter().map(|site| &**site).collect(),
        });
        let sites = change.sites.iter().map(|site| &**site).collect();
        Self { scope: &change.scope, row: change.row, sites, reach }
    }
}

impl<'a> LeafForm<'a> {
    fn new(leaf: &'a LeafWriter, view: &View<'a>) -> Self {
        Self {
            place: &leaf.place,
            document: &leaf.document,
            at: leaf.at.map(|at| PlaceForm::new(at, view)),
        }
    }
}
