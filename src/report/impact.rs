//! Possible effects of a line, for people and for programs.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;

use super::counted;
use super::model::{VERSION, write_json};
use super::printable::clean;
use super::provenance::{PlaceForm, places};
use super::story::SiteNames;
use super::{TerminalStyle, View, wrap};
use crate::source::{DocKey, Span, Triple};

/// Possible effects of a file, or of a line of it, in all sites.
#[derive(Clone, Debug, Default)]
pub struct Impact {
    /// The file and line, as they were asked for.
    pub(crate) place: String,
    /// Whether a line was asked for.
    pub(crate) has_line: bool,
    /// The texts there.
    pub(crate) texts: Vec<ImpactText>,
    /// The outputs it reaches.
    pub(crate) outputs: Vec<ImpactOutput>,
    /// Where it stops.
    pub(crate) stops: Vec<ImpactStop>,
    /// Number of outputs that it reaches, over all sites.
    pub(crate) outputs_reached: usize,
    /// Number of sites of these outputs.
    pub(crate) sites_reached: usize,
    /// Number of sites that read the file.
    pub(crate) sites_reading: usize,
    /// All sites.
    pub(crate) sites: Vec<SiteName>,
    /// Whether it reaches more than was followed.
    pub(crate) more: bool,
}

/// A site and its type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SiteName {
    /// Its name; none for a set without layout.
    pub(crate) name: Option<Arc<str>>,
    /// Its type, where it has one.
    pub(crate) site_type: Option<Arc<str>>,
}

/// A text that a user could change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImpactText {
    /// The document it is of.
    pub(crate) document: DocKey,
    /// The place of a value, or what else it is.
    pub(crate) what: String,
    /// Its role.
    pub(crate) kind: TextKind,
    /// The paths that it has written, where it is an action or a substitution.
    pub(crate) writes: Vec<String>,
}

/// Role of a text in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// It is a value of the document's data.
    Value,
    /// It steers how the document is made, or which others are.
    Steering,
    /// It says nothing, as a comment.
    Inert,
}

/// An output that a text reaches.
#[derive(Clone, Debug)]
pub(crate) struct ImpactOutput {
    /// The output.
    pub(crate) document: DocKey,
    /// The places in it; none where the whole document is meant.
    pub(crate) places: Vec<String>,
    /// The hops by which the text gets there.
    pub(crate) route: Vec<String>,
    /// The sites in which it does.
    pub(crate) sites: Vec<Arc<str>>,
}

/// A text that stops another one.
#[derive(Clone, Debug)]
pub(crate) struct ImpactStop {
    /// The document in which it does.
    pub(crate) document: DocKey,
    /// The reason.
    pub(crate) why: &'static str,
    /// The text.
    pub(crate) at: Span,
    /// The sites in which it does.
    pub(crate) sites: Vec<Arc<str>>,
}

/// Maximum number of outputs, and of stops, that are shown to people.
const MAX_SHOWN: usize = 60;

/// Writes what a line could change for people.
///
/// # Errors
/// Those of `out`.
pub fn write(
    impact: &Impact,
    view: &View<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{}", clean(&impact.place))?;
    for text in impact.texts.iter().take(MAX_SHOWN) {
        let schema = &text.document.schema;
        let mut line = format!("{} of {schema} {}", text.what, text.document.name_and_layer());
        if !text.writes.is_empty() {
            line += &format!(", writes {}", text.writes.join(", "));
        }
        writeln!(out, "{}", wrap(&clean(&line), style.columns(), "  ", "    "))?;
    }
    write_rest(impact.texts.len(), out)?;
    if impact.texts.iter().any(|text| text.kind == TextKind::Steering) && impact.has_line {
        writeln!(out, "  a line that steers: all that its document reaches could change")?;
    }
    let names = SiteNameIndex::new(&impact.sites);
    let reached: Vec<Arc<str>> = impact.outputs.iter().flat_map(|it| it.sites.clone()).collect();
    let place = names.phrase(&reached);
    let place = if place.is_empty() { place } else { format!(" in {place}") };
    let reaches = format!("reaches {}{place}", counted(impact.outputs_reached, "output"));
    writeln!(out, "\n{}", wrap(&reaches, style.columns(), "", "  "))?;
    impact
        .outputs
        .iter()
        .take(MAX_SHOWN)
        .try_for_each(|it| write_output(it, &names, style, out))?;
    write_rest(impact.outputs.len(), out)?;
    if impact.more {
        writeln!(out, "  … it reaches more than was followed")?;
    }
    if impact.stops.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nshielded")?;
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
        more => writeln!(out, "  … and {more} more; `--format json` has all"),
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
    writeln!(out, "  {} {}", clean(schema), clean(name))?;
    for place in output.places.iter().take(MAX_PLACES) {
        writeln!(out, "      {}", clean(place))?;
    }
    if output.places.len() > MAX_PLACES {
        writeln!(out, "      … and {} more places", output.places.len() - MAX_PLACES)?;
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
    writeln!(out, "{}", wrap(&format!("in {}", names.phrase(sites)), columns, "    ", "    "))
}

/// Names of sites, and the index of each, for lists of many sites.
struct SiteNameIndex<'a> {
    all: SiteNames<'a>,
    indices: BTreeMap<&'a str, usize>,
}

impl<'a> SiteNameIndex<'a> {
    fn new(sites: &'a [SiteName]) -> Self {
        let names = || sites.iter().map(|site| site.name.as_deref());
        let types = sites.iter().map(|site| site.site_type.as_deref());
        let indices = names().enumerate().filter_map(|(at, name)| Some((name?, at)));
        Self { all: SiteNames::of(names().zip(types)), indices: indices.collect() }
    }

    fn phrase(&self, sites: &[Arc<str>]) -> String {
        let indices = sites.iter().filter_map(|site| self.indices.get(&**site));
        clean(&self.all.phrase(&indices.copied().collect()).words()).into_owned()
    }
}

fn write_stop(
    stop: &ImpactStop,
    names: &SiteNameIndex<'_>,
    view: &View<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let of = format!("{} in {}", stop.why, stop.document.name_and_layer());
    writeln!(out, "{}", wrap(&clean(&of), style.columns(), "  ", "    "))?;
    writeln!(out, "    {}", places(&[stop.at], view))?;
    write_sites(&stop.sites, names, style.columns(), out)
}

/// Writes what a line could change for programs.
///
/// # Errors
/// Those of `out`.
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
