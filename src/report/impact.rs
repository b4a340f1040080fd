//! Possible effects of changing a line: human-readable and JSON.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;

use super::counted;
use super::model::{VERSION, write_json};
use super::printable::clean;
use super::provenance::{PlaceForm, painted_places};
use super::story::SiteNames;
use super::terminal::painted;
use super::text::TextRole;
use super::{TerminalStyle, View, wrap};
use crate::source::{DocKey, Span, Triple};

/// Possible effects of changing a file or one of its lines, in all sites.
#[derive(Clone, Debug, Default)]
pub struct Impact {
    /// File and line as the user gave them.
    pub(crate) place: String,
    /// Whether the user gave a line.
    pub(crate) has_line: bool,
    /// Source elements at that place.
    pub(crate) texts: Vec<ImpactText>,
    pub(crate) outputs: Vec<ImpactOutput>,
    pub(crate) stops: Vec<ImpactShield>,
    /// Total number of reached outputs in all sites.
    pub(crate) outputs_reached: usize,
    /// Number of sites with a reached output.
    pub(crate) sites_reached: usize,
    /// Number of sites that read the file.
    pub(crate) sites_reading: usize,
    /// All sites, by name.
    pub(crate) sites: Vec<SiteName>,
    /// Whether the search stopped at its limit.
    pub(crate) more: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SiteName {
    /// Name of the site; `None` for files without a site layout.
    pub(crate) name: Option<Arc<str>>,
    /// Type of the site, if any.
    pub(crate) site_type: Option<Arc<str>>,
}

/// A source element that a user could change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImpactText {
    pub(crate) document: DocKey,
    /// Path of a value, or description of the element.
    pub(crate) what: String,
    pub(crate) kind: TextKind,
    /// Paths written by the element, if it is a layering action or a substitution.
    pub(crate) writes: Vec<String>,
}

/// Role of a source element in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// A value of the document's data.
    Value,
    /// Controls how documents are rendered or selected.
    Control,
    /// Without meaning, such as a comment.
    Inert,
}

/// An output that a source element reaches.
#[derive(Clone, Debug)]
pub(crate) struct ImpactOutput {
    pub(crate) document: DocKey,
    /// Reached paths; empty for the whole document.
    pub(crate) places: Vec<String>,
    /// Hops of the route.
    pub(crate) route: Vec<String>,
    /// Sites concerned.
    pub(crate) sites: Vec<Arc<str>>,
}

/// A value that overrides the source element.
#[derive(Clone, Debug)]
pub(crate) struct ImpactShield {
    pub(crate) document: DocKey,
    pub(crate) why: &'static str,
    pub(crate) at: Span,
    /// Sites concerned.
    pub(crate) sites: Vec<Arc<str>>,
}

/// Maximum number of outputs, and of stops, listed in human-readable output.
const MAX_SHOWN: usize = 60;

/// Writes the possible effects of a line for humans.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write(
    impact: &Impact,
    view: &View<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        out,
        "{}",
        painted(&clean(&impact.place), TextRole::Place, style)
    )?;
    for text in impact.texts.iter().take(MAX_SHOWN) {
        let schema = &text.document.schema;
        let mut line = format!(
            "{} of {schema} {}",
            text.what,
            text.document.name_and_layer()
        );
        if !text.writes.is_empty() {
            line += &format!(", writes {}", text.writes.join(", "));
        }
        writeln!(
            out,
            "{}",
            wrap(&clean(&line), style.columns(), "  ", "    ")
        )?;
    }
    write_rest(impact.texts.len(), out)?;
    if impact
        .texts
        .iter()
        .any(|text| text.kind == TextKind::Control)
        && impact.has_line
    {
        writeln!(
            out,
            "  this line controls rendering: anything its document reaches could change"
        )?;
    }
    let names = SiteNameIndex::new(&impact.sites);
    let reached: Vec<Arc<str>> = impact
        .outputs
        .iter()
        .flat_map(|it| it.sites.clone())
        .collect();
    let place = names.phrase(&reached);
    let place = if place.is_empty() {
        place
    } else {
        format!(" in {place}")
    };
    let outputs = counted(impact.outputs_reached, "output");
    let reaches = format!(
        "reaches {}{place}",
        painted(&outputs, TextRole::Strong, style)
    );
    writeln!(out, "\n{}", wrap(&reaches, style.columns(), "", "  "))?;
    impact
        .outputs
        .iter()
        .take(MAX_SHOWN)
        .try_for_each(|it| write_output(it, &names, style, out))?;
    write_rest(impact.outputs.len(), out)?;
    if impact.more {
        writeln!(out, "  … search limit reached: there may be more")?;
    }
    if impact.stops.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", painted("shielded", TextRole::Strong, style))?;
    impact
        .stops
        .iter()
        .take(MAX_SHOWN)
        .try_for_each(|stop| write_stop(stop, &names, view, style, out))?;
    write_rest(impact.stops.len(), out)
}

fn write_rest(count: usize, out: &mut dyn Write) -> io::Result<()> {
    match count.saturating_sub(MAX_SHOWN) {
        0 => Ok(()),
        more => writeln!(out, "  … and {more} more (use `--format json` to list all)"),
    }
}

fn write_output(
    output: &ImpactOutput,
    names: &SiteNameIndex<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    const MAX_PLACES: usize = 8;
    let Triple { schema, name, .. } = &*output.document;
    let columns = style.columns();
    let name = format!("{} {}", clean(schema), clean(name));
    writeln!(out, "  {}", painted(&name, TextRole::Name, style))?;
    for place in output.places.iter().take(MAX_PLACES) {
        writeln!(out, "      {}", clean(place))?;
    }
    if output.places.len() > MAX_PLACES {
        writeln!(
            out,
            "      … and {} more places",
            output.places.len() - MAX_PLACES
        )?;
    }
    if !output.route.is_empty() {
        let route = clean(&output.route.join(", ")).into_owned();
        writeln!(out, "{}", wrap(&route, columns, "    ", "    "))?;
    }
    write_sites(&output.sites, names, columns, out)
}

fn write_sites(
    sites: &[Arc<str>],
    names: &SiteNameIndex<'_>,
    columns: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    if sites.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "{}",
        wrap(
            &format!("in {}", names.phrase(sites)),
            columns,
            "    ",
            "    "
        )
    )
}

/// Site names with their indices, for formatting long lists of sites.
struct SiteNameIndex<'a> {
    all: SiteNames<'a>,
    indices: BTreeMap<&'a str, usize>,
}

impl<'a> SiteNameIndex<'a> {
    fn new(sites: &'a [SiteName]) -> Self {
        let names = || sites.iter().map(|site| site.name.as_deref());
        let types = sites.iter().map(|site| site.site_type.as_deref());
        let indices = names()
            .enumerate()
            .filter_map(|(at, name)| Some((name?, at)));
        Self {
            all: SiteNames::of(names().zip(types)),
            indices: indices.collect(),
        }
    }

    fn phrase(&self, sites: &[Arc<str>]) -> String {
        let indices = sites.iter().filter_map(|site| self.indices.get(&**site));
        clean(&self.all.phrase(&indices.copied().collect()).words()).into_owned()
    }
}

fn write_stop(
    stop: &ImpactShield,
    names: &SiteNameIndex<'_>,
    view: &View<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let of = format!("{} in {}", stop.why, stop.document.name_and_layer());
    writeln!(out, "{}", wrap(&clean(&of), style.columns(), "  ", "    "))?;
    writeln!(out, "    {}", painted_places(&[stop.at], view, style))?;
    write_sites(&stop.sites, names, style.columns(), out)
}

/// Writes the possible effects of a line as JSON.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_impact_json(impact: &Impact, view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let texts = impact.texts.iter().map(|text| TextForm {
        document: &text.document,
        what: &text.what,
        is_value: text.kind == TextKind::Value,
        writes: &text.writes,
    });
    let outputs = impact.outputs.iter().map(|output| OutputForm {
        document: &output.document,
        places: &output.places,
        route: &output.route,
        sites: output.sites.iter().map(|site| &**site).collect(),
    });
    let stops = impact.stops.iter().map(|stop| StopForm {
        document: &stop.document,
        why: stop.why,
        at: PlaceForm::new(stop.at, view),
        sites: stop.sites.iter().map(|site| &**site).collect(),
    });
    let report = ImpactReport {
        version: VERSION,
        place: &impact.place,
        texts: texts.collect(),
        outputs_reached: impact.outputs_reached,
        sites_reached: impact.sites_reached,
        outputs: outputs.collect(),
        stops: stops.collect(),
        more: impact.more,
    };
    write_json(&report, out)
}

#[derive(Serialize)]
struct ImpactReport<'a> {
    version: u32,
    place: &'a str,
    texts: Vec<TextForm<'a>>,
    outputs_reached: usize,
    sites_reached: usize,
    outputs: Vec<OutputForm<'a>>,
    stops: Vec<StopForm<'a>>,
    more: bool,
}

#[derive(Serialize)]
struct TextForm<'a> {
    document: &'a DocKey,
    what: &'a str,
    is_value: bool,
    writes: &'a [String],
}

#[derive(Serialize)]
struct OutputForm<'a> {
    document: &'a DocKey,
    places: &'a [String],
    route: &'a [String],
    sites: Vec<&'a str>,
}

#[derive(Serialize)]
struct StopForm<'a> {
    document: &'a DocKey,
    why: &'static str,
    at: PlaceForm<'a>,
    sites: Vec<&'a str>,
}
