//! Values of rendered documents that a query selects, and who wrote them.

use std::collections::BTreeSet;

use globset::{Glob, GlobMatcher};
use indexmap::IndexMap;

use crate::certificate::{self, Item};
use crate::check::{BothSides, RenderedSite};
use crate::config::{NamedQuery, QueryKind};
use crate::deployment::Deployment;
use crate::graph::Recipe;
use crate::report::answer::AnswerPlace;
use crate::report::answer::image;
use crate::report::answer::query::{Columns, QueriedValue, QueryRow, plain_text};
use crate::report::model::DeployedBy;
use crate::source::DocKey;
use crate::yaml::json::{json_form, original_location};
use crate::yaml::path::Location;
use crate::yaml::{Node, Query, Selected, Value, diff};

/// A query, with its globs compiled.
pub(crate) struct ValueQuery<'q> {
    query: &'q NamedQuery,
    sources: Vec<(Option<GlobMatcher>, &'q Query)>,
}

/// Values that a query selects in one site.
#[derive(Debug, Default)]
pub(crate) struct SiteValues {
    /// In the order of the documents; each value once.
    pub(crate) rows: Vec<QueryRow<'static>>,
    /// Outputs with one of the query's schemas that match the request.
    pub(crate) asked: BTreeSet<DocKey>,
    /// Requested outputs that could not be rendered.
    pub(crate) unmade: BTreeSet<DocKey>,
}

impl<'q> ValueQuery<'q> {
    pub(crate) fn new(query: &'q NamedQuery) -> Self {
        let sources = query.from.iter().map(|source| {
            let schema = source.schema.as_ref().map(Glob::compile_matcher);
            (schema, &source.path)
        });
        Self {
            query,
            sources: sources.collect(),
        }
    }

    /// Values in the rendered outputs of one site that are wanted.
    pub(crate) fn of(
        &self,
        site: &RenderedSite<'_>,
        is_wanted: &dyn Fn(&Recipe) -> bool,
    ) -> SiteValues {
        let mut values = SiteValues::default();
        let outputs = site.graph.outputs();
        let asked = outputs.filter(|(_, recipe)| {
            self.paths(&recipe.key.schema).next().is_some() && is_wanted(recipe)
        });
        let mut asked = asked.peekable();
        // In most comparisons, no document with an image is edited.
        if asked.peek().is_none() {
            return values;
        }
        let deployment = Deployment::of(site.graph, site.rendered);
        for (doc, Recipe { key, .. }) in asked {
            values.asked.insert(key.clone());
            let Some(data) = site.rendered.data(doc) else {
                values.unmade.insert(key.clone());
                continue;
            };
            let deployed_by = DeployedBy::of(deployment.of_output(doc, &key.schema));
            let found = self.in_data(&key.schema, data, site).into_values();
            values.rows.extend(found.map(|(location, value)| {
                QueryRow::new(key.clone(), deployed_by, &location, value)
            }));
        }
        values
    }

    /// Paths for documents of a schema, and whether they are for some schemas only.
    fn paths(&self, schema: &str) -> impl Iterator<Item = (bool, &'q Query)> {
        let sources = self.sources.iter();
        let of_schema =
            sources.filter(move |(glob, _)| glob.as_ref().is_none_or(|glob| glob.is_match(schema)));
        of_schema.map(|(glob, path)| (glob.is_some(), *path))
    }

    /// Values in the data of a document with their locations, by those in its JSON form. As in JSON output,
    /// secrets are hidden: so no filter can test them.
    fn in_data(
        &self,
        schema: &str,
        data: &Node,
        site: &RenderedSite<'_>,
    ) -> IndexMap<Location, (Location, QueriedValue<'static>)> {
        let form = json_form(data);
        let columns = self.query.columns.iter().map(|(title, path)| {
            let found = path.find(&form).into_iter().next();
            (title.clone(), found.map(|found| plain_text(found.node)))
        });
        let columns: Columns = columns.collect();
        let mut values = IndexMap::new();
        for (is_special, path) in self.paths(schema) {
            for Selected { node, location } in path.find(&form) {
                let Some((value, of_kind)) = self.shown(node, is_special) else {
                    continue;
                };
                let around = location
                    .parent()
                    .filter(|_| self.query.kind == QueryKind::Image);
                // The repository of an image that is a mapping.
                let is_part = around.is_some_and(|around| values.contains_key(&around));
                if is_part || values.contains_key(&location) {
                    continue;
                }
                let original = original_location(data, &location);
                let written = original.get(data).unwrap_or(node);
                let writer = site.site.document_at(written.span);
                let value = QueriedValue {
                    value: Node {
                        value,
                        ..node.clone()
                    },
                    is_secret: node.holds_secret(),
                    written: written.clone(),
                    at: AnswerPlace::default(),
                    layer: writer.map(|doc| site.site.document(doc).key.layer.clone()),
                    columns: of_kind.into_iter().chain(columns.clone()).collect(),
                };
                values.insert(location, (original, value));
            }
        }
        values
    }

    /// A value as rows show it, with columns of its parts; `None` if it is of another kind. A secret
    /// may be of any kind, but only where the query is for some schemas.
    fn shown(&self, node: &Node, is_special: bool) -> Option<(Value, Columns)> {
        match self.query.kind {
            QueryKind::Image | QueryKind::Certificate if node.secret && !is_special => None,
            QueryKind::Image if !node.secret => {
                let (whole, parts) = image::reference(node)?;
                let columns = image::PARTS.map(Into::into).into_iter().zip(parts);
                Some((Value::String(whole.into()), columns.collect()))
            }
            QueryKind::Certificate if !node.secret => certificates(node),
            QueryKind::Any | QueryKind::Image | QueryKind::Certificate => {
                Some((node.value.clone(), Columns::new()))
            }
        }
    }
}

/// Subjects of the certificates in a text, and the first and last seconds of their validity.
fn certificates(node: &Node) -> Option<(Value, Columns)> {
    let items = certificate::items(node.as_str()?).into_iter();
    let found = items.filter_map(|(_, item)| match item {
        Item::Certificate(certificate) => {
            let [begin, end] = certificate.dates();
            Some([certificate.name, begin, end])
        }
        Item::UnreadableCertificate => Some(["unreadable certificate", "", ""].map(str::to_owned)),
        Item::Key(_) | Item::UnreadableKey | Item::EncryptedKey => None,
    });
    let found: Vec<[String; 3]> = found.collect();
    let joined = |at: usize| {
        let texts: Vec<&str> = found.iter().map(|it| &*it[at]).collect();
        texts.join(" | ")
    };
    let dates = [("not_before", 1), ("not_after", 2)];
    let dates = dates.map(|(title, at)| (title.into(), Some(joined(at))));
    let names = Value::String(joined(0).into());
    (!found.is_empty()).then(|| (names, dates.into()))
}

impl SiteValues {
    /// Whether an image is not among the values. An output that is not rendered may use any image.
    fn lacks(&self, image: &QueriedValue<'_>) -> bool {
        let mut values = self.rows.iter().filter_map(|row| row.value.as_ref());
        self.unmade.is_empty() && values.all(|it| it.text() != image.text())
    }
}

/// Images that an edit changed, added or removed in a site: places with another image, places with an
/// image that no output used before, and gone places of an image that no output uses now.
pub(crate) fn changed_images(
    query: &ValueQuery<'_>,
    both: &BothSides<'_>,
) -> Vec<QueryRow<'static>> {
    let of_sides = |is_wanted: &dyn Fn(&Recipe) -> bool| {
        let sides = [&both.base, &both.head];
        sides.map(|side| {
            side.as_ref()
                .map(|side| query.of(side, is_wanted))
                .unwrap_or_default()
        })
    };
    let mut rows = changed(of_sides(&|recipe| !is_shared(both, recipe))).rows;
    rows.retain(|row| {
        row.base
            .iter()
            .chain(&row.value)
            .all(|side| !side.is_secret)
    });
    if rows
        .iter()
        .all(|row| row.base.is_some() && row.value.is_some())
    {
        return rows;
    }
    let [base, head] = of_sides(&|_| true);
    rows.retain(|row| match (&row.base, &row.value) {
        (None, Some(added)) => base.lacks(added),
        (Some(removed), None) => head.lacks(removed),
        (Some(_), Some(_)) | (None, None) => true,
    });
    rows
}

/// Whether both sides have the same data for a document, without comparing it.
fn is_shared(both: &BothSides<'_>, Recipe { key, .. }: &Recipe) -> bool {
    let data = |side: &RenderedSite<'_>| {
        let doc = side.site.output(&key.schema, &key.name)?;
        side.rendered.data(doc)?.value.address()
    };
    let [base, head] = [&both.base, &both.head].map(|side| side.as_ref().and_then(data));
    base.is_some() && base == head
}

/// Rows of values that differ between the sides of a site, with both values.
pub(crate) fn changed([base, head]: [SiteValues; 2]) -> SiteValues {
    let before = base.rows.into_iter();
    let mut before: IndexMap<_, _> = before.map(|row| (row.place(), row)).collect();
    let mut rows = Vec::new();
    for row in head.rows {
        let base = before.shift_remove(&row.place()).and_then(|row| row.value);
        let sides = base.as_ref().zip(row.value.as_ref());
        if sides.is_none_or(|(base, value)| !diff::same(&base.written, &value.written)) {
            rows.push(QueryRow { base, ..row });
        }
    }
    rows.extend(before.into_values().map(|row| QueryRow {
        base: row.value,
        value: None,
        ..row
    }));
    SiteValues {
        rows,
        asked: &base.asked | &head.asked,
        unmade: &base.unmade | &head.unmade,
    }
}
