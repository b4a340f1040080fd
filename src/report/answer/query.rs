//! Values of rendered documents: human-readable, JSON and CSV.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::Arc;

use globset::GlobSet;
use indexmap::IndexMap;
use serde::{Serialize, Serializer};

use super::image::{Image, changed};
use super::impact::{SiteName, SiteNameIndex};
use super::since::SideName;
use super::{AnswerPlace, as_json, painted_places};
use crate::config::QueryKind;
use crate::report::model::{DeployedBy, pointer};
use crate::report::printable::clean;
use crate::report::terminal::painted;
use crate::report::text::TextRole;
use crate::report::{TerminalStyle, View, counted, wrap};
use crate::source::{DocKey, Span, Triple};
use crate::yaml::path::Location;
use crate::yaml::{Node, Value};

/// Values that a query selected in all sites, equal ones once.
#[derive(Debug, Serialize)]
pub struct QueryAnswer<At = Span> {
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
    rows: Vec<SitesRow<At>>,
    /// All sites, by name.
    #[serde(skip)]
    sites: Vec<SiteName>,
}

/// A value, with the sites that have it.
#[derive(Debug, Serialize)]
struct SitesRow<At> {
    #[serde(flatten)]
    row: QueryRow<At>,
    /// Empty for files without a site layout.
    sites: Vec<Arc<str>>,
}

/// A value of a rendered document.
#[derive(Debug, Serialize)]
pub(crate) struct QueryRow<At = Span> {
    pub(crate) document: DocKey,
    pub(crate) path: String,
    /// The path as a JSON Pointer (RFC 6901).
    pub(crate) pointer: String,
    /// Actions that deploy the document; `None` if Armada does not read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) deployed_by: Option<DeployedBy>,
    /// The value at the base side, if only changed values are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<QueriedValue<At>>,
    /// The value; `None` if only the base side has one.
    #[serde(flatten)]
    pub(crate) value: Option<QueriedValue<At>>,
}

/// A value, and where it is written.
#[derive(Debug, Serialize)]
pub(crate) struct QueriedValue<At = Span> {
    /// As in JSON, with hidden secrets.
    #[serde(serialize_with = "json")]
    pub(crate) value: Node,
    /// Whether it is a secret, or contains one.
    #[serde(rename = "secret", skip_serializing_if = "is_false")]
    pub(crate) is_secret: bool,
    /// As rendered.
    #[serde(skip)]
    pub(crate) written: Node,
    pub(crate) at: At,
    /// Layer of the document that contains the text.
    pub(crate) layer: Option<Arc<str>>,
    #[serde(flatten)]
    pub(crate) image: Option<Image>,
    /// Titles and texts of further columns.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "map")]
    pub(crate) columns: Vec<(Arc<str>, Option<String>)>,
}

fn json<S: Serializer>(node: &Node, serializer: S) -> Result<S::Ok, S::Error> {
    as_json(node).serialize(serializer)
}

fn map<S: Serializer>(
    entries: &[(Arc<str>, Option<String>)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(entries.iter().map(|(title, text)| (title, text)))
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(bool: &bool) -> bool {
    !bool
}

impl QueryAnswer {
    /// Joins the rows of all sites: rows of one place of a document follow each other.
    pub(crate) fn new(
        query: Arc<str>,
        kind: QueryKind,
        sites: Vec<SiteName>,
        of_sites: Vec<(Option<Arc<str>>, Vec<QueryRow>)>,
    ) -> Self {
        let (mut values, mut secrets) = (0, 0);
        let mut places: IndexMap<_, IndexMap<String, SitesRow<Span>>> = IndexMap::new();
        for (site, rows) in of_sites {
            for row in rows {
                values += 1;
                secrets += usize::from(row.sides().any(|side| side.is_secret));
                let rows = places.entry(row.place()).or_default();
                let joined = rows.entry(row.fingerprint()).or_insert_with(|| SitesRow {
                    row,
                    sites: Vec::new(),
                });
                joined.sites.extend(site.clone());
            }
        }
        // Places of one document keep their order.
        places.sort_by(|(schema, name, _), _, (other_schema, other_name, _), _| {
            (schema, name).cmp(&(other_schema, other_name))
        });
        Self {
            query,
            kind,
            since: None,
            values,
            secrets,
            rows: places
                .into_values()
                .flat_map(IndexMap::into_values)
                .collect(),
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

    /// Replaces spans with visible places.
    pub fn located<'v>(self, view: &View<'v>) -> QueryAnswer<AnswerPlace<'v>> {
        let rows = self
            .rows
            .into_iter()
            .map(|SitesRow { row, sites }| SitesRow {
                row: QueryRow {
                    document: row.document,
                    path: row.path,
                    pointer: row.pointer,
                    deployed_by: row.deployed_by,
                    base: row.base.map(|base| base.located(view)),
                    value: row.value.map(|value| value.located(view)),
                },
                sites,
            });
        QueryAnswer {
            query: self.query,
            kind: self.kind,
            since: self.since,
            values: self.values,
            secrets: self.secrets,
            rows: rows.collect(),
            sites: self.sites,
        }
    }
}

impl<At> QueryRow<At> {
    /// Whether one of its values matches these globs.
    pub(crate) fn matches(&self, globs: Option<&GlobSet>) -> bool {
        globs.is_none_or(|globs| self.sides().any(|side| globs.is_match(side.text())))
    }

    fn sides(&self) -> impl Iterator<Item = &QueriedValue<At>> {
        self.base.iter().chain(&self.value)
    }

    /// The image, or the change of it.
    fn image_title(&self, is_changed: bool) -> String {
        let sides = [&self.base, &self.value];
        match sides.map(|side| side.as_ref().map(QueriedValue::text)) {
            [Some(base), Some(image)] => changed(&base, &image),
            [Some(removed), None] => format!("- {removed}"),
            [None, Some(added)] if is_changed => format!("+ {added}"),
            [None, image] => image.unwrap_or_default(),
        }
    }

    /// `None` if it is not known, or Armada does not read the document.
    fn is_deployed(&self) -> Option<bool> {
        match self.deployed_by? {
            DeployedBy::UpdateSite | DeployedBy::UpdateSoftware | DeployedBy::Both => Some(true),
            DeployedBy::None => Some(false),
            DeployedBy::NotKnown => None,
        }
    }
}

impl QueryRow {
    pub(crate) fn new(
        document: DocKey,
        deployed_by: Option<DeployedBy>,
        location: &Location,
        value: QueriedValue,
    ) -> Self {
        Self {
            document,
            path: location.to_string(),
            pointer: pointer(location),
            deployed_by,
            base: None,
            value: Some(value),
        }
    }

    /// Equal for values at the same place of a site's documents.
    pub(crate) fn place(&self) -> (Arc<str>, Arc<str>, String) {
        let Triple { schema, name, .. } = &*self.document;
        (schema.clone(), name.clone(), self.pointer.clone())
    }

    /// Equal for values that reports show as one: of equal secrets only if one text wrote them.
    fn fingerprint(&self) -> String {
        let side = |side: &QueriedValue| (side.text(), side.at, side.layer.clone());
        let sides = [&self.base, &self.value].map(|it| it.as_ref().map(side));
        format!("{} {:?} {sides:?}", self.document.layer, self.deployed_by)
    }
}

impl QueriedValue {
    fn located<'v>(self, view: &View<'v>) -> QueriedValue<AnswerPlace<'v>> {
        QueriedValue {
            value: self.value,
            is_secret: self.is_secret,
            written: self.written,
            at: AnswerPlace::new(self.at, view),
            layer: self.layer,
            image: self.image,
            columns: self.columns,
        }
    }
}

impl<At> QueriedValue<At> {
    /// Text of the value: a string without quotes, other values as JSON.
    fn text(&self) -> String {
        match (&self.image, &self.value.value) {
            (Some(image), _) => image.to_string(),
            (None, Value::String(text)) => text.to_string(),
            (None, _) => serde_json::to_string(&as_json(&self.value)).unwrap_or_default(),
        }
    }
}

impl QueriedValue<AnswerPlace<'_>> {
    /// The value, the place that wrote it with its layer, and the further columns.
    fn lines(&self) -> [String; 3] {
        let layer = self.layer.iter().filter(|layer| !layer.is_empty());
        let layer: String = layer.map(|layer| format!(" ({layer})")).collect();
        let columns = self.columns.iter();
        let columns =
            columns.filter_map(|(title, text)| Some(format!("{title}: {}", text.as_ref()?)));
        let columns: Vec<String> = columns.collect();
        let lines = [
            self.text(),
            format!("{}{layer}", self.at),
            columns.join(" · "),
        ];
        lines.map(|line| clean(&line).into_owned())
    }
}

/// Writes the values for humans.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write(
    answer: &QueryAnswer<AnswerPlace<'_>>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    if let Some(since) = &answer.since {
        writeln!(
            out,
            "changed since {}\n",
            clean(&since.to_string()).trim_start_matches("at ")
        )?;
    }
    let names = SiteNameIndex::new(&answer.sites);
    match answer.kind {
        QueryKind::Any | QueryKind::Certificate => write_places(answer, &names, style, out)?,
        QueryKind::Image => write_images(answer, &names, style, out)?,
    }
    let has_sites = answer.sites.iter().any(|site| site.name.is_some());
    let in_sites = if has_sites {
        format!(" in {}", counted(answer.sites.len(), "site"))
    } else {
        String::new()
    };
    let secrets = match answer.secrets {
        0 => String::new(),
        1 => ", 1 of them secret".to_owned(),
        some => format!(", {some} of them secret"),
    };
    if !answer.rows.is_empty() {
        writeln!(out)?;
    }
    writeln!(
        out,
        "{}{in_sites}{secrets}",
        counted(answer.values, "value")
    )
}

/// Writes places of documents, each with its values.
fn write_places(
    answer: &QueryAnswer<AnswerPlace<'_>>,
    names: &SiteNameIndex<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut places: IndexMap<_, IndexMap<_, Vec<&SitesRow<AnswerPlace<'_>>>>> = IndexMap::new();
    for row in &answer.rows {
        let Triple { schema, name, .. } = &*row.row.document;
        let place = (schema, name, &row.row.path);
        let sides =
            [&row.row.base, &row.row.value].map(|side| side.as_ref().map(QueriedValue::lines));
        let values = places.entry(place).or_default();
        values.entry(sides).or_default().push(row);
    }
    for ((schema, name, path), values) in places {
        let document = format!("{schema} {name}");
        let document = painted(&clean(&document), TextRole::Name, style);
        writeln!(out, "{document}  {}", clean(path))?;
        for ([base, value], rows) in values {
            let marks = if answer.since.is_some() {
                ["- ", "+ "]
            } else {
                ["", ""]
            };
            for (mark, side) in marks.into_iter().zip([&base, &value]) {
                let Some([text, place, columns]) = side else {
                    continue;
                };
                writeln!(
                    out,
                    "{}",
                    wrap(text, style.columns(), &format!("  {mark}"), "    ")
                )?;
                writeln!(out, "      {}", painted(place, TextRole::Place, style))?;
                if !columns.is_empty() {
                    writeln!(
                        out,
                        "{}",
                        wrap(columns, style.columns(), "      ", "      ")
                    )?;
                }
            }
            write_sites(&rows, names, style, out)?;
        }
    }
    Ok(())
}

/// Writes the sites of rows, and in which of them their documents are not deployed.
fn write_sites(
    rows: &[&SitesRow<AnswerPlace<'_>>],
    names: &SiteNameIndex<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let of = |is_meant: &dyn Fn(&QueryRow<AnswerPlace<'_>>) -> bool| {
        let rows = rows.iter().filter(|row| is_meant(&row.row));
        let sites: BTreeSet<Arc<str>> = rows.flat_map(|row| row.sites.clone()).collect();
        names.phrase(&Vec::from_iter(sites))
    };
    let all = of(&|_| true);
    let rest = of(&|row| row.is_deployed() == Some(false));
    let text = match (&*all, &*rest) {
        ("", _) => return Ok(()),
        (all, "") => format!("in {all}"),
        (all, rest) if all == rest => format!("in {all}, not deployed"),
        (all, rest) => format!("in {all}; not deployed in {rest}"),
    };
    writeln!(
        out,
        "{}",
        wrap(&text, style.columns(), "      ", "        ")
    )
}

/// Writes images, each with the documents that use it.
fn write_images(
    answer: &QueryAnswer<AnswerPlace<'_>>,
    names: &SiteNameIndex<'_>,
    style: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut images: BTreeMap<String, Vec<&SitesRow<AnswerPlace<'_>>>> = BTreeMap::new();
    for row in &answer.rows {
        let title = row.row.image_title(answer.since.is_some());
        images.entry(title).or_default().push(row);
    }
    for (title, rows) in &images {
        let title = wrap(&clean(title), style.columns(), "", "  ");
        writeln!(out, "{}", painted(&title, TextRole::Name, style))?;
        let mut users: BTreeMap<&str, bool> = BTreeMap::new();
        for SitesRow { row, .. } in rows {
            *users.entry(&row.document.name).or_default() |= row.is_deployed() != Some(false);
        }
        let users = users.into_iter().map(|(name, is_deployed)| {
            if is_deployed {
                name.to_owned()
            } else {
                format!("{name} (not deployed)")
            }
        });
        let users = format!("used by {}", users.collect::<Vec<_>>().join(", "));
        writeln!(
            out,
            "{}",
            wrap(&clean(&users), style.columns(), "  ", "    ")
        )?;
        let values = rows
            .iter()
            .filter_map(|row| row.row.value.as_ref().or(row.row.base.as_ref()));
        let mut places: Vec<AnswerPlace<'_>> = values.map(|value| value.at).collect();
        places.sort_by_key(|place| (place.file, place.line));
        writeln!(
            out,
            "    {}",
            painted_places(&places, style).replace('\n', "\n    ")
        )?;
        write_sites(rows, names, style, out)?;
    }
    Ok(())
}

/// Writes a row for each value as CSV (RFC 4180).
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_csv(answer: &QueryAnswer<AnswerPlace<'_>>, out: &mut dyn Write) -> io::Result<()> {
    let columns: IndexMap<&str, ()> = answer
        .rows
        .iter()
        .flat_map(|row| row.row.sides())
        .flat_map(|value| &value.columns)
        .map(|(title, _)| (&**title, ()))
        .collect();
    let mut titles = vec!["schema", "name", "path", "deployed_by", "sites"];
    let of_image: &[&str] = match answer.kind {
        QueryKind::Any | QueryKind::Certificate => &[],
        QueryKind::Image => &["registry", "repository", "tag", "digest"],
    };
    let of_value = ["value", "file", "line", "layer"].iter().chain(of_image);
    titles.extend(of_value.clone());
    titles.extend(columns.keys());
    let of_base: Vec<String> = match answer.since {
        Some(_) => of_value.map(|title| format!("base_{title}")).collect(),
        None => Vec::new(),
    };
    let titles = titles.into_iter().map(str::to_owned).chain(of_base);
    write_record(titles, out)?;
    for SitesRow { row, sites } in &answer.rows {
        let deployed_by = row.deployed_by.map(|by| by.to_string()).unwrap_or_default();
        let mut fields = vec![
            row.document.schema.to_string(),
            row.document.name.to_string(),
            row.path.clone(),
            deployed_by,
            sites.join(" "),
        ];
        let fields_of = |value: &Option<QueriedValue<AnswerPlace<'_>>>| match value {
            Some(value) => value.fields(answer.kind),
            None => vec![String::new(); 4 + of_image.len()],
        };
        fields.extend(fields_of(&row.value));
        fields.extend(columns.keys().map(|title| {
            let value = row.value.as_ref().or(row.base.as_ref());
            let mut columns = value.into_iter().flat_map(|value| &value.columns);
            let column = columns.find(|(known, _)| **known == **title);
            column
                .and_then(|(_, text)| text.clone())
                .unwrap_or_default()
        }));
        if answer.since.is_some() {
            fields.extend(fields_of(&row.base));
        }
        write_record(fields, out)?;
    }
    Ok(())
}

impl QueriedValue<AnswerPlace<'_>> {
    /// Fields of the value in a record.
    fn fields(&self, kind: QueryKind) -> Vec<String> {
        let layer = self.layer.as_deref().unwrap_or_default();
        let mut fields = vec![
            self.text(),
            self.at.file.to_owned(),
            self.at.line.to_string(),
            layer.to_owned(),
        ];
        if kind == QueryKind::Image {
            let image = self.image.clone();
            let parts = image.map(|it| [Some(it.registry), Some(it.name), it.tag, it.digest]);
            fields.extend(parts.unwrap_or_default().map(Option::unwrap_or_default));
        }
        fields
    }
}

fn write_record(fields: impl IntoIterator<Item = String>, out: &mut dyn Write) -> io::Result<()> {
    let quoted = fields.into_iter().map(|field| {
        if field.contains(['"', ',', '\n', '\r']) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            field
        }
    });
    write!(out, "{}\r\n", quoted.collect::<Vec<_>>().join(","))
}
