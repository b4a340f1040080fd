//! Possible effects of changing a line: human-readable and JSON.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::io::{self, Write};
use std::sync::Arc;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::step::{HopKind, describe_stop};
use super::{AnswerPlace, painted_places};
use crate::compare::DeployedCounts;
use crate::render::flow::Why;
use crate::report::printable::clean;
use crate::report::story::{SiteNames, deployed_suffix};
use crate::report::terminal::painted;
use crate::report::text::TextRole;
use crate::report::{TerminalStyle, View, counted, wrap};
use crate::source::{DocKey, Span, Triple};

/// Possible effects of changing a file or one of its lines, in all sites.
#[derive(Clone, Debug, Serialize)]
pub struct Impact<At = Span> {
    /// File and line as the user gave them.
    pub(crate) place: String,
    /// Whether the user gave a line.
    #[serde(skip)]
    pub(crate) has_line: bool,
    /// Source elements at that place.
    pub(crate) texts: Vec<ImpactText>,
    /// Total number of reached outputs in all sites.
    pub(crate) outputs_reached: usize,
    /// Numbers of these outputs by whether they are deployed.
    #[serde(flatten)]
    pub(crate) deployed: DeployedCounts,
    /// Number of sites with a reached output.
    pub(crate) sites_reached: usize,
    pub(crate) outputs: Vec<ImpactOutput>,
    pub(crate) stops: Vec<ImpactShield<At>>,
    /// Number of sites that read the file.
    #[serde(skip)]
    pub(crate) sites_reading: usize,
    /// All sites, by name.
    #[serde(skip)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ImpactText {
    pub(crate) document: DocKey,
    #[serde(flatten)]
    pub(crate) part: TextPart,
    /// Paths written by the element, if it is a layering action or a substitution.
    pub(crate) writes: Vec<String>,
}

/// Part of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TextPart {
    /// A value of the document's data, by its path.
    Value(String),
    Document,
    Action,
    Substitution,
    Label,
    ParentSelector,
    Replacement,
    Layer,
    Name,
    Schema,
    Metadata,
    Data,
    MergeSettings,
    EmptyLine,
    Mark,
    Comment,
}

impl TextPart {
    /// Whether it controls how documents are rendered or selected.
    fn is_control(&self) -> bool {
        use TextPart::{Comment, EmptyLine, Mark, Value};
        !matches!(self, Value(_) | EmptyLine | Mark | Comment)
    }
}

/// An output that a source element reaches.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ImpactOutput {
    pub(crate) document: DocKey,
    /// Reached paths; empty for the whole document.
    pub(crate) places: Vec<String>,
    pub(crate) route: Vec<ImpactHop>,
    /// Sites concerned.
    pub(crate) sites: Vec<Arc<str>>,
}

/// A hop of a route, to a document or by it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ImpactHop(pub(crate) HopKind, pub(crate) DocKey);

/// A value that overrides the source element.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ImpactShield<At = Span> {
    pub(crate) document: DocKey,
    #[serde(serialize_with = "stop_words")]
    pub(crate) why: Why,
    pub(crate) at: At,
    /// Sites concerned.
    pub(crate) sites: Vec<Arc<str>>,
}

impl Impact {
    /// Sorts outputs and stops by their words, and replaces spans with visible places.
    pub fn located<'v>(mut self, view: &View<'v>) -> Impact<AnswerPlace<'v>> {
        self.outputs
            .sort_by_cached_key(|it| (it.document.clone(), it.words(), it.places.clone()));
        self.stops
            .sort_by_key(|stop| (stop.document.clone(), describe_stop(stop.why), stop.at));
        let stops = self.stops.into_iter().map(|stop| ImpactShield {
            document: stop.document,
            why: stop.why,
            at: AnswerPlace::new(stop.at, view),
            sites: stop.sites,
        });
        Impact {
            place: self.place,
            has_line: self.has_line,
            texts: self.texts,
            outputs_reached: self.outputs_reached,
            deployed: self.deployed,
            sites_reached: self.sites_reached,
            outputs: self.outputs,
            stops: stops.collect(),
            sites_reading: self.sites_reading,
            sites: self.sites,
            more: self.more,
        }
    }
}

/// Impact in a few words.
pub(crate) struct ImpactSummary {
    pub(crate) reach: String,
    /// Number of reached outputs that are deployed, as a suffix.
    pub(crate) deployed: String,
    /// Sites in which an override stops it; empty without one.
    pub(crate) shielded: String,
}

impl<At> Impact<At> {
    /// Describes the impact in a few words.
    pub(crate) fn summary(&self) -> ImpactSummary {
        let reach = match self.outputs_reached {
            0 => "reaches no output".to_owned(),
            outputs => format!(
                "reaches {} in {}",
                counted(outputs, "output"),
                counted(self.sites_reached, "site")
            ),
        };
        let names = SiteNameIndex::new(&self.sites);
        let sites: Vec<Arc<str>> = self
            .stops
            .iter()
            .flat_map(|stop| stop.sites.clone())
            .collect();
        ImpactSummary {
            reach: if self.more {
                format!("{reach} or more")
            } else {
                reach
            },
            deployed: deployed_suffix(self.deployed, self.outputs_reached),
            shielded: match self.stops.len() {
                0 => String::new(),
                _ => format!("shielded in {}", names.phrase(&sites))
                    .trim_end_matches(" in ")
                    .to_owned(),
            },
        }
    }
}

impl ImpactOutput {
    /// Words of the hops.
    fn words(&self) -> Vec<String> {
        self.route.iter().map(ImpactHop::to_string).collect()
    }
}

impl Display for TextPart {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TextPart::Value(place) => place,
            TextPart::Document => "the whole document",
            TextPart::Action => "an action",
            TextPart::Substitution => "a substitution",
            TextPart::Label => "a label",
            TextPart::ParentSelector => "its parentSelector",
            TextPart::Replacement => "its replacement",
            TextPart::Layer => "its layer",
            TextPart::Name => "its name",
            TextPart::Schema => "its schema",
            TextPart::Metadata => "its metadata",
            TextPart::Data => "its data",
            TextPart::MergeSettings => "its merge settings",
            TextPart::EmptyLine => "an empty line",
            TextPart::Mark => "a mark between documents",
            TextPart::Comment => "a comment",
        })
    }
}

impl Display for ImpactHop {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, self.1.name_and_layer())
    }
}

impl Serialize for TextPart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut part = serializer.serialize_struct("TextPart", 2)?;
        part.serialize_field("what", &self.to_string())?;
        part.serialize_field("is_value", &matches!(self, TextPart::Value(_)))?;
        part.end()
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn stop_words<S: Serializer>(why: &Why, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(describe_stop(*why))
}

/// Maximum number of outputs, and of stops, listed in human-readable output.
const MAX_SHOWN: usize = 60;

/// Writes the possible effects of a line for humans.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write(
    impact: &Impact<AnswerPlace<'_>>,
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
            text.part,
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
    if impact.texts.iter().any(|text| text.part.is_control()) && impact.has_line {
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
        "reaches {}{place}{}",
        painted(&outputs, TextRole::Strong, style),
        deployed_suffix(impact.deployed, impact.outputs_reached)
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
        .try_for_each(|stop| write_stop(stop, &names, style, out))?;
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
        let route = wrap(&clean(&output.words().join(", ")), columns, "    ", "    ");
        writeln!(out, "{route}")?;
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
pub(super) struct SiteNameIndex<'a> {
    all: SiteNames<'a>,
    indices: BTreeMap<&'a str, usize>,
}

impl<'a> SiteNameIndex<'a> {
    pub(super) fn new(sites: &'a [SiteName]) -> Self {
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

    pub(super) fn phrase(&self, sites: &[Arc<str>]) -> String {
        let indices = sites.iter().filter_map(|site| self.indices.get(&**site));
        clean(&self.all.phrase(&indices.copied().collect()).words()).into_owned()
    }
}

fn write_stop(
    stop: &ImpactShield<AnswerPlace<'_>>,
    names: &SiteNameIndex<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let of = format!(
        "{} in {}",
        describe_stop(stop.why),
        stop.document.name_and_layer()
    );
    writeln!(out, "{}", wrap(&clean(&of), style.columns(), "  ", "    "))?;
    writeln!(out, "    {}", painted_places(&[stop.at], style))?;
    write_sites(&stop.sites, names, style.columns(), out)
}
