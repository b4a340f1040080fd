//! Values of rendered documents: human-readable, JSON and CSV.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::Arc;

use globset::GlobSet;
use indexmap::{IndexMap, IndexSet};
use serde::{Serialize, Serializer};

use super::image::changed;
use super::impact::{SiteName, SiteNameIndex};
use super::since::SideName;
use super::{AnswerPlace, as_json, painted_places};
use crate::config::QueryKind;
use crate::report::model::{DeployedBy, pointer};
use crate::report::printable::clean;
use crate::report::terminal::painted;
use crate::report::text::TextRole;
use crate::report::{TerminalStyle, View, counted, wrap};
use crate::source::{DocKey, Triple};
use crate::yaml::json::canonical;
use crate::yaml::path::Location;
use crate::yaml::{Node, Value};

/// Values that a query selected in all sites, equal ones once.
#[derive(Debug, Serialize)]
pub struct QueryAnswer<'v> {
    /// The path, or the name of the query.
    query: Arc<str>,
    #[serde(skip)]
    kind: QueryKind,
    /// Base side, if only changed values are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<SideName>,
    /// Number of values in all sites.
    values: usize,
    /// Number of these that are secret, or contain a secret.
    secrets: usize,
    rows: Vec<QueryRow<'v>>,
    /// All sites, by name.
    #[serde(skip)]
    sites: Vec<SiteName>,
}

/// A value of a rendered document.
#[derive(Debug, Serialize)]
pub(crate) struct QueryRow<'v> {
    pub(crate) document: DocKey,
    pub(crate) path: String,
    /// The path as a JSON Pointer (RFC 6901).
    pub(crate) pointer: String,
    /// Actions that deploy the document; `None` if Armada does not read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) deployed_by: Option<DeployedBy>,
    /// The value at the base side, if only changed values are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<QueriedValue<'v>>,
    /// The value; `None` if only the base side has one.
    #[serde(flatten)]
    pub(crate) value: Option<QueriedValue<'v>>,
    /// Sites that have it; empty for files without a site layout.
    pub(crate) sites: Vec<Arc<str>>,
}

/// A value, and where it is written.
#[derive(Debug, Serialize)]
pub(crate) struct QueriedValue<'v> {
    /// As in JSON, with hidden secrets.
    #[serde(serialize_with = "json")]
    pub(crate) value: Node,
    /// Whether it is a secret, or contains one.
    #[serde(rename = "secret")]
    pub(crate) is_secret: bool,
    /// As rendered.
    #[serde(skip)]
    pub(crate) written: Node,
    /// Where it is written; empty before [`QueryAnswer::located`].
    pub(crate) at: AnswerPlace<'v>,
    /// Layer of the document that contains the text.
    pub(crate) layer: Option<Arc<str>>,
    pub(crate) columns: Columns,
}

/// Further texts about a value, by their titles.
pub(crate) type Columns = IndexMap<Arc<str>, Option<String>>;

fn json<S: Serializer>(node: &Node, serializer: S) -> Result<S::Ok, S::Error> {
    as_json(node).serialize(serializer)
}

impl QueryAnswer<'_> {
    /// Joins the rows of all sites: rows of one place of a document follow each other.
    pub(crate) fn new(
        query: Arc<str>,
        kind: QueryKind,
        sites: Vec<SiteName>,
        of_sites: Vec<(Option<Arc<str>>, Vec<QueryRow<'static>>)>,
    ) -> Self {
        let mut values = 0;
        let mut secrets = 0;
        let mut places: IndexMap<_, IndexMap<String, QueryRow<'_>>> = IndexMap::new();
        for (site, rows) in of_sites {
            for row in rows {
                values += 1;
                secrets += usize::from(row.sides().any(|side| side.is_secret));
                let rows = places.entry(row.place()).or_default();
                let joined = rows.entry(row.fingerprint()).or_insert(row);
                joined.sites.extend(site.clone());
            }
        }
        // Places of one document keep their order.
        places.sort_by(|(schema, name, _), _, (other_schema, other_name, _), _| {
            (schema, name).cmp(&(other_schema, other_name))
        });
        let places = places.into_values();
        Self {
            query,
            kind,
            since: None,
            values,
            secrets,
            rows: places.flat_map(IndexMap::into_values).collect(),
            sites,
        }
    }

    /// The answer, as one of values that differ from this side.
    pub(crate) fn since(self, base: SideName) -> Self {
        Self {
            since: Some(base),
            ..self
        }
    }

    /// Whether no value was selected.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl<'v> QueryAnswer<'v> {
    /// Adds the visible places.
    #[must_use]
    pub fn located(mut self, view: &View<'v>) -> Self {
        let rows = self.rows.iter_mut();
        for side in rows.flat_map(|row| row.base.iter_mut().chain(&mut row.value)) {
            side.at = AnswerPlace::new(side.written.span, view);
        }
        self
    }
}

impl QueryRow<'_> {
    pub(crate) fn new(
        document: DocKey,
        deployed_by: Option<DeployedBy>,
        location: &Location,
        value: QueriedValue<'static>,
    ) -> Self {
        Self {
            document,
            path: location.to_string(),
            pointer: pointer(location),
            deployed_by,
            base: None,
            value: Some(value),
            sites: Vec::new(),
        }
    }

    /// Whether one of its values matches these globs.
    pub(crate) fn matches(&self, globs: Option<&GlobSet>) -> bool {
        globs.is_none_or(|globs| self.sides().any(|side| globs.is_match(side.text())))
    }

    fn sides(&self) -> impl Iterator<Item = &QueriedValue<'_>> {
        self.base.iter().chain(&self.value)
    }

    /// Equal for values at the same place of a site's documents.
    pub(crate) fn place(&self) -> (Arc<str>, Arc<str>, String) {
        let Triple { schema, name, .. } = &*self.document;
        (schema.clone(), name.clone(), self.pointer.clone())
    }

    /// Equal for values that reports show as one: of equal secrets only if one text wrote them.
    fn fingerprint(&self) -> String {
        let sides = self.texts(|side| (side.text(), side.written.span, side.layer.clone()));
        format!("{} {:?} {sides:?}", self.document.layer, self.deployed_by)
    }

    /// Fields of a record, by their titles.
    fn record(&self) -> IndexMap<String, String> {
        let deployed_by = self.deployed_by.map(|by| by.to_string());
        let fields = [
            ("schema", self.document.schema.to_string()),
            ("name", self.document.name.to_string()),
            ("path", self.path.clone()),
            ("deployed_by", deployed_by.unwrap_or_default()),
            ("sites", self.sites.join(" ")),
        ];
        let fields = fields.map(|(title, text)| (title.to_owned(), text));
        let sides = [("", &self.value), ("base_", &self.base)];
        let of_sides = sides.into_iter().flat_map(|(prefix, side)| {
            let fields = side.iter().flat_map(QueriedValue::fields);
            fields.map(move |(title, text)| (format!("{prefix}{title}"), text))
        });
        fields.into_iter().chain(of_sides).collect()
    }
}

impl<'v> QueryRow<'v> {
    /// Texts of both sides.
    pub(crate) fn texts<T>(&self, text: impl Fn(&QueriedValue<'v>) -> T) -> [Option<T>; 2] {
        [&self.base, &self.value].map(|side| side.as_ref().map(&text))
    }
}

impl QueriedValue<'_> {
    /// Text of the value: a string without quotes, other values as JSON.
    pub(crate) fn text(&self) -> String {
        plain_text(&self.value)
    }

    /// The value, the place that wrote it with its layer, and the further columns.
    fn lines(&self) -> [String; 3] {
        let layer = self.layer.iter().filter(|layer| !layer.is_empty());
        let layer: String = layer.map(|layer| format!(" ({layer})")).collect();
        let columns = self.columns.iter();
        let columns =
            columns.filter_map(|(title, text)| Some(format!("{title}: {}", text.as_ref()?)));
        let columns: Vec<String> = columns.collect();
        [
            self.text(),
            format!("{}{layer}", self.at),
            columns.join(" · "),
        ]
    }

    fn fields(&self) -> Vec<(&str, String)> {
        let layer = self.layer.as_deref().unwrap_or_default();
        let fields = [
            ("value", self.text()),
            ("file", self.at.file.to_owned()),
            ("line", self.at.line.to_string()),
            ("layer", layer.to_owned()),
        ];
        let columns = self.columns.iter();
        let columns = columns.map(|(title, text)| (&**title, text.clone().unwrap_or_default()));
        fields.into_iter().chain(columns).collect()
    }
}

/// A string without quotes, or another value as JSON.
pub(crate) fn plain_text(node: &Node) -> String {
    match &node.value {
        Value::String(text) => text.to_string(),
        _ => canonical(node),
    }
}

/// Writes the values for humans.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write(
    answer: &QueryAnswer<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    if let Some(since) = &answer.since {
        let since = since.to_string();
        let since = clean(since.trim_start_matches("at "));
        writeln!(out, "changed since {since}\n")?;
    }
    let mut page = Page {
        names: SiteNameIndex::new(&answer.sites),
        style,
        out,
    };
    match answer.kind {
        QueryKind::Any | QueryKind::Certificate => page.write_places(&answer.rows)?,
        QueryKind::Image => page.write_images(&answer.rows, answer.since.is_some())?,
    }
    if !answer.is_empty() {
        writeln!(out)?;
    }
    write!(out, "{}", counted(answer.values, "value"))?;
    if answer.sites.iter().any(|site| site.name.is_some()) {
        write!(out, " in {}", counted(answer.sites.len(), "site"))?;
    }
    match answer.secrets {
        0 => writeln!(out),
        some => writeln!(out, ", {some} of them secret"),
    }
}

struct Page<'p> {
    names: SiteNameIndex<'p>,
    style: &'p TerminalStyle,
    out: &'p mut dyn Write,
}

impl Page<'_> {
    /// Writes places of documents, each with its values.
    fn write_places(&mut self, rows: &[QueryRow<'_>]) -> io::Result<()> {
        let mut places: IndexMap<_, IndexMap<_, Vec<&QueryRow<'_>>>> = IndexMap::new();
        for row in rows {
            let Triple { schema, name, .. } = &*row.document;
            let values = places.entry((schema, name, &row.path)).or_default();
            let sides = row.texts(QueriedValue::lines);
            values.entry(sides).or_default().push(row);
        }
        for ((schema, name, path), values) in places {
            let document = format!("{schema} {name}");
            let document = painted(&clean(&document), TextRole::Name, self.style);
            writeln!(self.out, "{document}  {}", clean(path))?;
            for (sides, rows) in values {
                let is_change = rows.iter().any(|row| row.base.is_some());
                for (mark, side) in ["  - ", "  + "].into_iter().zip(sides) {
                    let Some([text, place, columns]) = side else {
                        continue;
                    };
                    let mark = if is_change { mark } else { "  " };
                    self.write([mark, "    "], TextRole::Plain, &text)?;
                    self.write(["      "; 2], TextRole::Place, &place)?;
                    if !columns.is_empty() {
                        self.write(["      "; 2], TextRole::Plain, &columns)?;
                    }
                }
                self.write_sites(&rows)?;
            }
        }
        Ok(())
    }

    /// Writes images, each with the documents that use it.
    fn write_images(&mut self, rows: &[QueryRow<'_>], is_change: bool) -> io::Result<()> {
        let mut images: BTreeMap<_, Vec<&QueryRow<'_>>> = BTreeMap::new();
        for row in rows {
            let title = match row.texts(QueriedValue::text) {
                [Some(base), Some(image)] => changed(&base, &image),
                [Some(removed), None] => format!("- {removed}"),
                [None, Some(added)] if is_change => format!("+ {added}"),
                [None, image] => image.unwrap_or_default(),
            };
            let is_unused = row.deployed_by == Some(DeployedBy::None);
            images.entry((title, is_unused)).or_default().push(row);
        }
        let mut last = None;
        for ((title, _), rows) in &images {
            if last.replace(title) != Some(title) {
                self.write(["", "  "], TextRole::Name, title)?;
            }
            let users: BTreeSet<&str> = rows.iter().map(|row| &*row.document.name).collect();
            let users = Vec::from_iter(users).join(", ");
            self.write(["  ", "    "], TextRole::Plain, &format!("used by {users}"))?;
            let last = rows.iter().filter_map(|row| row.sides().last());
            let mut places: Vec<AnswerPlace<'_>> = last.map(|side| side.at).collect();
            places.sort_by_key(|place| (place.file, place.line));
            let places = painted_places(&places, self.style).replace('\n', "\n    ");
            writeln!(self.out, "    {places}")?;
            self.write_sites(rows)?;
        }
        Ok(())
    }

    /// Writes the sites of rows, and those in which their documents are not deployed.
    fn write_sites(&mut self, rows: &[&QueryRow<'_>]) -> io::Result<()> {
        for (is_deployed, words) in [(true, ""), (false, ", not deployed")] {
            let rows = rows
                .iter()
                .filter(|row| (row.deployed_by != Some(DeployedBy::None)) == is_deployed);
            let sites: BTreeSet<_> = rows.flat_map(|row| row.sites.clone()).collect();
            if !sites.is_empty() {
                let sites = self.names.phrase(&Vec::from_iter(sites));
                let text = format!("in {sites}{words}");
                self.write(["      ", "        "], TextRole::Plain, &text)?;
            }
        }
        Ok(())
    }

    /// Writes a text with indents for its first and its further lines.
    fn write(&mut self, indents: [&str; 2], role: TextRole, text: &str) -> io::Result<()> {
        let [first, others] = indents;
        let lines = wrap(&clean(text), self.style.columns(), first, others);
        writeln!(self.out, "{}", painted(&lines, role, self.style))
    }
}

/// Writes a row for each value as CSV (RFC 4180).
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_csv(answer: &QueryAnswer<'_>, out: &mut dyn Write) -> io::Result<()> {
    if answer.is_empty() {
        return Ok(());
    }
    let records: Vec<_> = answer.rows.iter().map(QueryRow::record).collect();
    let titles: IndexSet<&str> = records
        .iter()
        .flat_map(IndexMap::keys)
        .map(|it| &**it)
        .collect();
    write_record(titles.iter().copied(), out)?;
    records.iter().try_for_each(|record| {
        let fields = titles.iter().map(|title| record.get(*title));
        write_record(fields.map(|field| field.map_or("", |it| it)), out)
    })
}

fn write_record<'f>(fields: impl Iterator<Item = &'f str>, out: &mut dyn Write) -> io::Result<()> {
    let quoted = fields.map(|field| {
        if field.contains(['"', ',', '\n', '\r']) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            field.to_owned()
        }
    });
    write!(out, "{}\r\n", quoted.collect::<Vec<_>>().join(","))
}
