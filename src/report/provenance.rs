//! Provenance of values and where they can be changed: human-readable and JSON.
//!
//! Of a secret, only its document is reported: its value is `(hidden)`, and no location below it is
//! passed in.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;

use super::counted;
use super::model::{VERSION, write_json};
use super::printable::clean;
use super::terminal::painted;
use super::text::TextRole;
use super::{TerminalStyle, View, wrap};
use crate::source::{DocKey, Span};
use crate::yaml::Node;
use crate::yaml::emit::{self, to_yaml};
use crate::yaml::json::{KeyOrder, NodeAsJson, canonical};
use crate::yaml::path::first_inside;

/// Provenance of a value of one site.
#[derive(Clone, Debug)]
pub struct ExplainedValue {
    /// The site; `None` for files without a site layout.
    pub site: Option<Arc<str>>,
    pub(crate) document: DocKey,
    /// Path in the document.
    pub(crate) place: String,
    /// The value; `None` if it does not exist.
    pub(crate) value: Option<Node>,
    /// Source document of a secret value.
    pub(crate) secret_of: Option<DocKey>,
    /// Source location that sets the value.
    pub(crate) set_at: Option<Span>,
    /// Steps from the source location to the requested document.
    pub rows: Vec<ProvenanceStep>,
    /// Documents in which the value can be changed, and the sites affected.
    pub(crate) changes: Vec<ChangeOption>,
    /// Source locations of the leaves of a mapping or list.
    pub(crate) leaves: Vec<LeafOrigin>,
    /// Whether there are more leaves than `leaves`.
    pub(crate) more_leaves: bool,
}

impl ExplainedValue {
    /// Whether another value has the same steps, regardless of their locations.
    pub(crate) fn has_same_steps(&self, other: &ExplainedValue) -> bool {
        let step = |row: &ProvenanceStep| (row.document.clone(), row.step.clone(), row.standing);
        let steps = |way: &ExplainedValue| way.rows.iter().map(step).collect::<Vec<_>>();
        steps(self) == steps(other)
    }
}

/// A step in the provenance of a value.
#[derive(Clone, Debug)]
pub struct ProvenanceStep {
    /// Document of the step.
    pub(crate) document: DocKey,
    /// Description of the step.
    pub step: String,
    /// A note on the step.
    pub(crate) note: Option<&'static str>,
    pub(crate) at: Vec<Span>,
    /// Result if several values were set for the same path.
    pub(crate) standing: ValuePrecedence,
}

/// Precedence of a value among all values set for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValuePrecedence {
    /// The only value.
    Alone,
    /// Overridden by another value.
    Lost,
    /// Overrides another value.
    Wins,
}

/// A document in which a value can be set, and the effect of setting it.
#[derive(Clone, Debug)]
pub(crate) struct ChangeOption {
    /// Description of the affected sites.
    pub(crate) scope: String,
    /// Number of the step, from 1.
    pub(crate) row: usize,
    /// Sites that read the document.
    pub(crate) sites: Vec<Arc<str>>,
    /// Current reach of the value in the document, if it is set there.
    pub(crate) reach: Option<TextReach>,
}

/// Outputs and sites that a source value reaches.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextReach {
    /// Number of outputs in all sites.
    pub(crate) outputs: usize,
    /// Sites of these outputs.
    pub(crate) sites: Vec<Arc<str>>,
    /// Sites that read the source value, but in which it reaches no output.
    pub(crate) shielded: Vec<Arc<str>>,
}

/// Source location of a leaf of a mapping or list.
#[derive(Clone, Debug)]
pub(crate) struct LeafOrigin {
    /// Path of the leaf.
    pub(crate) place: String,
    /// Document that sets the leaf.
    pub(crate) document: DocKey,
    /// Source location.
    pub(crate) at: Option<Span>,
}

/// Trace from a source value to an output value, or to the places that stop it.
#[derive(Clone, Debug)]
pub struct TextTrace {
    /// Document of the source value.
    pub(crate) document: DocKey,
    /// Path in the document's own data.
    pub(crate) place: String,
    pub(crate) at: Span,
    /// Places that the source value reaches, in order.
    pub(crate) route: Vec<ProvenanceStep>,
    /// Whether the last of them is the requested value.
    pub(crate) reaches: bool,
    /// Places at which it is stopped.
    pub(crate) stops: Vec<ProvenanceStep>,
}

/// The value in one of several sites.
#[derive(Clone, Debug)]
pub struct SiteValue {
    /// The site; `None` for files without a site layout.
    pub site: Option<Arc<str>>,
    /// Provenance of the value; `None` if the site does not have the document.
    pub way: Option<ExplainedValue>,
}

/// Writes the provenance of a value for humans.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_provenance(
    way: &ExplainedValue,
    view: &View<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "{}", value_text(way))?;
    if let Some(at) = way.set_at {
        writeln!(out, "set at {}", painted_places(&[at], view, style))?;
    }
    writeln!(out)?;
    write_rows(&way.rows, view, style, out)?;
    write_leaves(way, view, style, out)?;
    write_changes(way, style, out)
}

/// Formats the value as YAML, or its placeholder; one line or several.
fn value_text(way: &ExplainedValue) -> String {
    const MAX_VALUE_LINES: usize = 20;
    let Some(value) = &way.value else {
        return "no value\n".into();
    };
    if value.secret {
        return match &way.secret_of {
            Some(key) => {
                format!(
                    "(hidden: derived from {} {})\n",
                    clean(&key.schema),
                    clean(&key.name)
                )
            }
            None => format!("{}\n", emit::HIDDEN),
        };
    }
    let yaml = to_yaml(value, &emit::EmitOptions::default());
    let mut text: String = yaml
        .lines()
        .take(MAX_VALUE_LINES)
        .map(|line| format!("{}\n", clean(line)))
        .collect();
    match yaml.lines().count().saturating_sub(MAX_VALUE_LINES) {
        0 => {}
        more => writeln!(text, "… {more} more lines").expect("writing to a string cannot fail"),
    }
    text
}

/// Writes numbered steps: a line that describes the step, and one with its location.
fn write_rows(
    rows: &[ProvenanceStep],
    view: &View<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let width = |text: fn(&ProvenanceStep) -> &str, least: usize| {
        let longest = rows
            .iter()
            .map(|row| clean(text(row)).chars().count())
            .max();
        longest.unwrap_or(0).clamp(least, 32)
    };
    // Parts of a cloud-config have no layer.
    let has_layers = rows.iter().any(|row| !row.document.layer.is_empty());
    let layer = if has_layers {
        width(|row| &row.document.layer, 5) + 2
    } else {
        0
    };
    let name = width(|row| &row.document.name, 8);
    let number = rows.len().to_string().len().max(2);
    let title = if has_layers { "layer" } else { "" };
    let head = format!(
        "{:>number$}  {title:layer$}{:name$}  step and location",
        "#", "document"
    );
    writeln!(out, "{}", painted(&head, TextRole::Dim, style))?;
    for (index, row) in rows.iter().enumerate() {
        let head = format!(
            "{:>number$}  {:layer$}{:name$}  ",
            index + 1,
            clean(&row.document.layer),
            clean(&row.document.name),
        );
        let indent = " ".repeat(number + layer + 2);
        writeln!(
            out,
            "{}",
            wrap(&step_text(row, style), style.columns(), &head, &indent)
        )?;
        for line in painted_places(&row.at, view, style).lines() {
            writeln!(out, "{indent}{line}")?;
        }
        if let Some(note) = row.note {
            writeln!(out, "{indent}{note}")?;
        }
    }
    Ok(())
}

fn step_text(row: &ProvenanceStep, style: &TerminalStyle) -> String {
    let step = clean(&row.step);
    match row.standing {
        ValuePrecedence::Alone => step.into_owned(),
        ValuePrecedence::Lost => format!("{step}, {}", painted("LOST", TextRole::Dim, style)),
        ValuePrecedence::Wins => format!("{step}, {}", painted("WINS", TextRole::Good, style)),
    }
}

/// Formats locations as [`places`], in their color.
pub(super) fn painted_places(spans: &[Span], view: &View<'_>, style: &TerminalStyle) -> String {
    let places = places(spans, view);
    let lines = places
        .lines()
        .map(|line| painted(line, TextRole::Place, style));
    lines.collect::<Vec<_>>().join("\n")
}

/// Formats locations as `FILE:LINE`, several of one file as `FILE:LINE, :LINE`; one line per file.
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
        .expect("writing to a string cannot fail");
        last = Some((path, line));
    }
    text
}

fn write_leaves(
    way: &ExplainedValue,
    view: &View<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    if way.leaves.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\nthe value is a mapping or list; its parts are set at"
    )?;
    for leaf in &way.leaves {
        let at = leaf
            .at
            .map(|at| painted_places(&[at], view, style))
            .unwrap_or_default();
        writeln!(
            out,
            "  {}",
            painted(&clean(&leaf.place), TextRole::Name, style)
        )?;
        writeln!(out, "      {at}  ({})", clean(&leaf.document.name))?;
    }
    if way.more_leaves {
        writeln!(out, "  … and more; use a more specific path")?;
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
    let heads = way
        .changes
        .iter()
        .map(|change| format!("to change it {}", clean(&change.scope)));
    let heads: Vec<String> = heads.collect();
    let width = heads
        .iter()
        .map(|head| head.chars().count())
        .max()
        .unwrap_or(0);
    for (head, change) in heads.iter().zip(&way.changes) {
        let first = format!("{head:width$}  ");
        let rest = " ".repeat(4);
        writeln!(
            out,
            "{}",
            wrap(&describe_change(change), style.columns(), &first, &rest)
        )?;
    }
    Ok(())
}

fn describe_change(change: &ChangeOption) -> String {
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

/// Formats the names of the first sites and the number of further ones.
fn names(sites: &[Arc<str>]) -> String {
    let shown = sites
        .iter()
        .take(MAX_SITES)
        .map(|site| clean(site))
        .collect::<Vec<_>>();
    match sites.len().saturating_sub(MAX_SITES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn site_name(site: Option<&str>) -> String {
    clean(site.unwrap_or("-")).into_owned()
}

/// Writes the value of each site for humans; sites with equal values are grouped.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_values(
    values: &[SiteValue],
    view: &View<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut groups: Vec<(String, Vec<&SiteValue>)> = Vec::new();
    for value in values {
        let key = value.way.as_ref().map(value_key).unwrap_or_default();
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    for (index, (_, members)) in groups.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let way = members.first().and_then(|member| member.way.as_ref());
        write!(
            out,
            "{}",
            way.map_or_else(|| "no such document\n".into(), value_text)
        )?;
        let width = members
            .iter()
            .map(|it| site_name(it.site.as_deref()).chars().count())
            .max();
        for member in members.iter().take(MAX_SITES) {
            let site = site_name(member.site.as_deref());
            let at = member.way.as_ref().and_then(|way| way.set_at);
            let at = at
                .map(|at| painted_places(&[at], view, style))
                .unwrap_or_default();
            let line = format!("  {site:width$}  {at}", width = width.unwrap_or(0));
            writeln!(out, "{}", line.trim_end())?;
        }
        if members.len() > MAX_SITES {
            let more = counted(members.len() - MAX_SITES, "more site");
            writeln!(out, "  … {more} (use `--format json` to list all)")?;
        }
    }
    Ok(())
}

/// Maximum number of sites listed for one value.
const MAX_SITES: usize = 8;

/// Returns a key that is equal for equal values. It does not reveal whether secrets are equal.
fn value_key(way: &ExplainedValue) -> String {
    match &way.value {
        Some(value) if !holds_secret(value) => canonical(value),
        Some(value) if !value.secret => to_yaml(value, &emit::EmitOptions::default()),
        Some(_) | None => value_text(way),
    }
}

fn holds_secret(value: &Node) -> bool {
    value.secret || first_inside(value, |node, _| node.secret).is_some()
}

/// Writes traces of source values for humans.
///
/// # Errors
/// Fails if writing to `out` fails.
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
        let of = format!(
            "{} of {} {}",
            text.place, text.document.schema, text.document.name
        );
        writeln!(out, "{}", clean(&of))?;
        writeln!(out, "set at {}\n", painted_places(&[text.at], view, style))?;
        write_rows(&text.route, view, style, out)?;
        if text.reaches {
            writeln!(out, "\nreaches the value")?;
            continue;
        }
        writeln!(out, "\ndoes not reach the value")?;
        for stop in &text.stops {
            let of = stop.document.name_and_layer();
            let line = format!("{} in {}", stop.step, of);
            writeln!(out, "  {}", clean(&line))?;
            writeln!(out, "      {}", painted_places(&stop.at, view, style))?;
        }
    }
    Ok(())
}

/// Writes the provenance of a value as JSON, for one site or all.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_provenance_json(
    values: &[SiteValue],
    view: &View<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let sites = values.iter().map(|value| SiteValueForm {
        site: value.site.as_deref(),
        way: value.way.as_ref().map(|way| ProvenanceForm::new(way, view)),
    });
    write_json(
        &ProvenanceReport {
            version: VERSION,
            sites: sites.collect(),
        },
        out,
    )
}

/// Writes traces of source values as JSON.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_why_not_json(
    texts: &[TextTrace],
    view: &View<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let texts = texts.iter().map(|text| WhyNotForm {
        document: &text.document,
        place: &text.place,
        at: PlaceForm::new(text.at, view),
        route: text
            .route
            .iter()
            .map(|row| RowForm::new(row, view))
            .collect(),
        reaches: text.reaches,
        stops: text
            .stops
            .iter()
            .map(|row| RowForm::new(row, view))
            .collect(),
    });
    write_json(
        &WhyNotReport {
            version: VERSION,
            texts: texts.collect(),
        },
        out,
    )
}

#[derive(Serialize)]
struct ProvenanceReport<'a> {
    version: u32,
    sites: Vec<SiteValueForm<'a>>,
}

#[derive(Serialize)]
struct SiteValueForm<'a> {
    site: Option<&'a str>,
    way: Option<ProvenanceForm<'a>>,
}

#[derive(Serialize)]
pub(super) struct ProvenanceForm<'a> {
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

impl<'a> ProvenanceForm<'a> {
    pub(super) fn new(way: &'a ExplainedValue, view: &View<'a>) -> Self {
        let form = |node| NodeAsJson {
            node,
            order: KeyOrder::Document,
            show_secrets: false,
        };
        Self {
            document: &way.document,
            place: &way.place,
            there: way.value.is_some(),
            value: way.value.as_ref().map(form),
            secret_of: way.secret_of.as_ref(),
            set_at: way.set_at.map(|at| PlaceForm::new(at, view)),
            rows: way.rows.iter().map(|row| RowForm::new(row, view)).collect(),
            changes: way.changes.iter().map(ChangeForm::new).collect(),
            leaves: way
                .leaves
                .iter()
                .map(|leaf| LeafForm::new(leaf, view))
                .collect(),
            more_leaves: way.more_leaves,
        }
    }
}

impl<'a> PlaceForm<'a> {
    pub(super) fn new(span: Span, view: &View<'a>) -> Self {
        let place = view.place(span);
        Self {
            file: place.path.as_str(),
            line: place.line,
            column: place.column,
        }
    }
}

impl<'a> RowForm<'a> {
    fn new(row: &'a ProvenanceStep, view: &View<'a>) -> Self {
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
    fn new(change: &'a ChangeOption) -> Self {
        let reach = change.reach.as_ref().map(|reach| ReachForm {
            outputs: reach.outputs,
            sites: reach.sites.iter().map(|site| &**site).collect(),
            shielded: reach.shielded.iter().map(|site| &**site).collect(),
        });
        let sites = change.sites.iter().map(|site| &**site).collect();
        Self {
            scope: &change.scope,
            row: change.row,
            sites,
            reach,
        }
    }
}

impl<'a> LeafForm<'a> {
    fn new(leaf: &'a LeafOrigin, view: &View<'a>) -> Self {
        Self {
            place: &leaf.place,
            document: &leaf.document,
            at: leaf.at.map(|at| PlaceForm::new(at, view)),
        }
    }
}
