//! Provenance of values and where they can be changed: human-readable and JSON.
//!
//! Of a secret, only its document is reported: its value is `(hidden)`, and no location below it is
//! passed in.

use std::fmt::{self, Display, Formatter, Write as _};
use std::io::{self, Write};
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::step::{StepKind, describe_stop};
use super::{AnswerPlace, painted_places, without_secrets};
use crate::render::flow::Why;
use crate::report::model::DeployedBy;
use crate::report::printable::clean;
use crate::report::terminal::painted;
use crate::report::text::TextRole;
use crate::report::{TerminalStyle, View, counted, wrap};
use crate::source::{DocKey, Span};
use crate::yaml::Node;
use crate::yaml::emit::{self, to_yaml};
use crate::yaml::json::canonical;
use crate::yaml::path::first_inside;

/// Provenance of a value of one site.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedValue<At = Span> {
    /// The site; `None` for files without a site layout.
    #[serde(skip)]
    pub site: Option<Arc<str>>,
    pub(crate) document: DocKey,
    /// Path in the document.
    pub(crate) place: String,
    /// Whether there is a value.
    pub(crate) there: bool,
    /// The value; `None` if it does not exist.
    #[serde(serialize_with = "without_secrets")]
    pub(crate) value: Option<Node>,
    /// Source document of a secret value.
    pub(crate) secret_of: Option<DocKey>,
    /// Source location that sets the value.
    pub(crate) set_at: Option<At>,
    /// Actions that deploy the document; `None` if Armada does not read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) deployed_by: Option<DeployedBy>,
    /// Steps from the source location to the requested document.
    pub rows: Vec<ProvenanceStep<At>>,
    /// Documents in which the value can be changed, and the sites affected.
    pub(crate) changes: Vec<ChangeOption>,
    /// Source locations of the leaves of a mapping or list.
    pub(crate) leaves: Vec<LeafOrigin<At>>,
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

    /// Replaces spans with visible places.
    pub fn located<'v>(self, view: &View<'v>) -> ExplainedValue<AnswerPlace<'v>> {
        let leaves = self.leaves.into_iter().map(|leaf| LeafOrigin {
            place: leaf.place,
            document: leaf.document,
            at: leaf.at.map(|at| AnswerPlace::new(at, view)),
        });
        ExplainedValue {
            site: self.site,
            document: self.document,
            place: self.place,
            there: self.there,
            value: self.value,
            secret_of: self.secret_of,
            set_at: self.set_at.map(|at| AnswerPlace::new(at, view)),
            deployed_by: self.deployed_by,
            rows: ProvenanceStep::all_located(self.rows, view),
            changes: self.changes,
            leaves: leaves.collect(),
            more_leaves: self.more_leaves,
        }
    }
}

/// A step in the provenance of a value.
#[derive(Clone, Debug, Serialize)]
pub struct ProvenanceStep<At = Span> {
    /// Document of the step.
    pub(crate) document: DocKey,
    /// Effect of the step.
    pub step: StepKind,
    /// A note on the step.
    pub(crate) note: Option<StepNote>,
    pub(crate) at: Vec<At>,
    /// Result if several values were set for the same path.
    pub(crate) standing: Option<ValuePrecedence>,
}

impl ProvenanceStep {
    fn all_located<'v>(steps: Vec<Self>, view: &View<'v>) -> Vec<ProvenanceStep<AnswerPlace<'v>>> {
        let steps = steps.into_iter().map(|row| ProvenanceStep {
            document: row.document,
            step: row.step,
            note: row.note,
            at: row
                .at
                .into_iter()
                .map(|at| AnswerPlace::new(at, view))
                .collect(),
            standing: row.standing,
        });
        steps.collect()
    }
}

/// State of the own data of a document that inherits a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StepNote {
    /// It has another value that no action applies.
    Unapplied,
    /// It does not have the key.
    NoKey,
}

/// Precedence of a value among several values set for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ValuePrecedence {
    /// Overridden by another value.
    Lost,
    /// Overrides another value.
    Wins,
}

/// A document in which a value can be set, and the effect of setting it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ChangeOption {
    /// Affected sites.
    pub(crate) scope: ChangeScope,
    /// Number of the step, from 1.
    pub(crate) row: usize,
    /// Sites that read the document.
    pub(crate) sites: Vec<Arc<str>>,
    /// Current reach of the value in the document, if it is set there.
    pub(crate) reach: Option<TextReach>,
}

/// Sites that a change affects.
#[derive(Clone, Debug)]
pub(crate) enum ChangeScope {
    /// Files without a site layout.
    Set,
    /// One site.
    Site(Arc<str>),
    /// All sites of this type.
    Type(Arc<str>),
    /// This number of sites.
    Some(usize),
    /// All sites.
    All,
}

/// Outputs and sites that a source value reaches.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct TextReach {
    /// Number of outputs in all sites.
    pub(crate) outputs: usize,
    /// Sites of these outputs.
    pub(crate) sites: Vec<Arc<str>>,
    /// Sites that read the source value, but in which it reaches no output.
    pub(crate) shielded: Vec<Arc<str>>,
}

/// Source location of a leaf of a mapping or list.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LeafOrigin<At = Span> {
    /// Path of the leaf.
    pub(crate) place: String,
    /// Document that sets the leaf.
    pub(crate) document: DocKey,
    /// Source location.
    pub(crate) at: Option<At>,
}

/// Trace from a source value to an output value, or to the places that stop it.
#[derive(Clone, Debug, Serialize)]
pub struct TextTrace<At = Span> {
    /// Document of the source value.
    pub(crate) document: DocKey,
    /// Path in the document's own data.
    pub(crate) place: String,
    pub(crate) at: At,
    /// Places that the source value reaches, in order.
    pub(crate) route: Vec<ProvenanceStep<At>>,
    /// Whether the last of them is the requested value.
    #[serde(rename = "reaches", serialize_with = "as_bool")]
    pub(crate) reach: ReachState,
    /// Places at which it is stopped.
    pub(crate) stops: Vec<ProvenanceStep<At>>,
}

impl TextTrace {
    /// Replaces spans with visible places.
    pub fn located<'v>(self, view: &View<'v>) -> TextTrace<AnswerPlace<'v>> {
        TextTrace {
            document: self.document,
            place: self.place,
            at: AnswerPlace::new(self.at, view),
            route: ProvenanceStep::all_located(self.route, view),
            reach: self.reach,
            stops: ProvenanceStep::all_located(self.stops, view),
        }
    }
}

/// State of a source value relative to an output value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReachState {
    /// Reaches the output value.
    Reaches,
    /// Does not reach the output value, for this reason.
    Stopped(Why),
    /// The source value does not exist.
    NoText,
    /// The output does not exist.
    NoOutput,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn as_bool<S: Serializer>(reach: &ReachState, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(*reach == ReachState::Reaches)
}

/// The value in one of several sites.
#[derive(Clone, Debug, Serialize)]
pub struct SiteValue<At = Span> {
    /// The site; `None` for files without a site layout.
    pub site: Option<Arc<str>>,
    /// Provenance of the value; `None` if the site does not have the document.
    pub way: Option<ExplainedValue<At>>,
}

impl SiteValue {
    /// Replaces spans with visible places.
    pub fn located<'v>(self, view: &View<'v>) -> SiteValue<AnswerPlace<'v>> {
        SiteValue {
            site: self.site,
            way: self.way.map(|way| way.located(view)),
        }
    }
}

/// Predicate of the source value.
impl Display for ReachState {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ReachState::Reaches => f.write_str("reaches the value"),
            ReachState::Stopped(why) => write!(f, "does not reach it: {}", describe_stop(*why)),
            ReachState::NoText => f.write_str("does not exist"),
            ReachState::NoOutput => f.write_str("exists, but the output does not"),
        }
    }
}

impl Display for StepNote {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StepNote::Unapplied => "own data has another value that no action applies",
            StepNote::NoKey => "own data has no such key",
        })
    }
}

impl Display for ChangeScope {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ChangeScope::Set => f.write_str("here"),
            ChangeScope::Site(site) => write!(f, "for {site} only"),
            ChangeScope::Type(site_type) => write!(f, "for type {site_type}"),
            ChangeScope::Some(sites) => write!(f, "for {sites} sites"),
            ChangeScope::All => f.write_str("everywhere"),
        }
    }
}

/// Writes the provenance of a value for humans.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_provenance(
    way: &ExplainedValue<AnswerPlace<'_>>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "{}", value_text(way))?;
    if let Some(at) = way.set_at {
        writeln!(out, "set at {}", painted_places(&[at], style))?;
    }
    if let Some(deployed_by) = way.deployed_by {
        writeln!(out, "{deployed_by}")?;
    }
    writeln!(out)?;
    write_rows(&way.rows, style, out)?;
    write_leaves(way, style, out)?;
    write_changes(way, style, out)
}

/// Formats the value as YAML, or its placeholder; one line or several.
fn value_text<At>(way: &ExplainedValue<At>) -> String {
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
    rows: &[ProvenanceStep<AnswerPlace<'_>>],
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let width = |text: fn(&DocKey) -> &str, least: usize| {
        let longest = rows
            .iter()
            .map(|row| clean(text(&row.document)).chars().count())
            .max();
        longest.unwrap_or(0).clamp(least, 32)
    };
    // Parts of a cloud-config have no layer.
    let has_layers = rows.iter().any(|row| !row.document.layer.is_empty());
    let layer = if has_layers {
        width(|document| &document.layer, 5) + 2
    } else {
        0
    };
    let name = width(|document| &document.name, 8);
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
        for line in painted_places(&row.at, style).lines() {
            writeln!(out, "{indent}{line}")?;
        }
        if let Some(note) = row.note {
            writeln!(out, "{indent}{note}")?;
        }
    }
    Ok(())
}

fn step_text<At>(row: &ProvenanceStep<At>, style: &TerminalStyle) -> String {
    let step = row.step.to_string();
    let standing = match row.standing {
        None => return clean(&step).into_owned(),
        Some(ValuePrecedence::Lost) => painted("LOST", TextRole::Dim, style),
        Some(ValuePrecedence::Wins) => painted("WINS", TextRole::Good, style),
    };
    format!("{}, {standing}", clean(&step))
}

fn write_leaves(
    way: &ExplainedValue<AnswerPlace<'_>>,
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
            .map(|at| painted_places(&[at], style))
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
    way: &ExplainedValue<AnswerPlace<'_>>,
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
        .map(|change| format!("to change it {}", clean(&change.scope.to_string())));
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
    values: &[SiteValue<AnswerPlace<'_>>],
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut groups: Vec<(String, Vec<&SiteValue<AnswerPlace<'_>>>)> = Vec::new();
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
            let way = member.way.as_ref();
            let at = way.and_then(|way| way.set_at);
            let at = at
                .map(|at| painted_places(&[at], style))
                .unwrap_or_default();
            let deployed = match way.and_then(|way| way.deployed_by) {
                Some(deployed_by) => format!("  {deployed_by}"),
                None => String::new(),
            };
            let line = format!(
                "  {site:width$}  {at}{deployed}",
                width = width.unwrap_or(0)
            );
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
fn value_key<At>(way: &ExplainedValue<At>) -> String {
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
    texts: &[TextTrace<AnswerPlace<'_>>],
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
        writeln!(out, "set at {}\n", painted_places(&[text.at], style))?;
        write_rows(&text.route, style, out)?;
        if text.reach == ReachState::Reaches {
            writeln!(out, "\nreaches the value")?;
            continue;
        }
        writeln!(out, "\ndoes not reach the value")?;
        for stop in &text.stops {
            let of = stop.document.name_and_layer();
            let line = format!("{} in {}", stop.step, of);
            writeln!(out, "  {}", clean(&line))?;
            writeln!(out, "      {}", painted_places(&stop.at, style))?;
        }
    }
    Ok(())
}
