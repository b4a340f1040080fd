//! Values of rendered documents that a query selects, and who wrote them.

use std::collections::{BTreeSet, HashSet};

use globset::{Glob, GlobMatcher};
use indexmap::IndexMap;

use crate::certificate::{self, Item};
use crate::check::{BothSides, RenderedSite};
use crate::config::{NamedQuery, QueryKind};
use crate::deployment::Deployment;
use crate::graph::{DocId, Recipe};
use crate::report::answer::image::Image;
use crate::report::answer::query::{QueriedValue, QueryRow};
use crate::report::model::DeployedBy;
use crate::source::DocKey;
use crate::yaml::json::{canonical, json_form, original_location};
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
    pub(crate) rows: Vec<QueryRow>,
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
        let documents = self.documents(site, is_wanted);
        // In most comparisons, no document with an image is edited.
        if documents.is_empty() {
            return values;
        }
        let deployment = Deployment::of(site.graph, site.rendered);
        for doc in documents {
            let key = &site.graph.recipe(doc).key;
            values.asked.insert(key.clone());
            let Some(data) = site.rendered.data(doc) else {
                values.unmade.insert(key.clone());
                continue;
            };
            let deployed_by = DeployedBy::of(deployment.of_output(doc, &key.schema));
            let found = self.in_data(&key.schema, data, site).into_iter();
            values.rows.extend(found.map(|(location, value)| {
                QueryRow::new(key.clone(), deployed_by, &location, value)
            }));
        }
        values
    }

    fn documents(
        &self,
        site: &RenderedSite<'_>,
        is_wanted: &dyn Fn(&Recipe) -> bool,
    ) -> Vec<DocId> {
        let asked = site.graph.outputs().filter(|(_, recipe)| {
            self.paths(&recipe.key.schema).next().is_some() && is_wanted(recipe)
        });
        asked.map(|(doc, _)| doc).collect()
    }

    /// Paths for documents of a schema.
    fn paths(&self, schema: &str) -> impl Iterator<Item = &'q Query> {
        let sources = self.sources.iter();
        let of_schema =
            sources.filter(move |(glob, _)| glob.as_ref().is_none_or(|glob| glob.is_match(schema)));
        of_schema.map(|(_, path)| *path)
    }

    /// Values in the data of a document, with their paths. As in JSON output, secrets are hidden: so
    /// no filter can test them.
    fn in_data(
        &self,
        schema: &str,
        data: &Node,
        site: &RenderedSite<'_>,
    ) -> Vec<(Location, QueriedValue)> {
        let form = json_form(data);
        let columns = self.query.columns.iter().map(|(title, path)| {
            let found = path.find(&form).into_iter().next();
            (title.clone(), found.and_then(|found| scalar(found.node)))
        });
        let columns: Vec<_> = columns.collect();
        let mut seen = HashSet::new();
        let mut values = Vec::new();
        for Selected { node, location } in self.paths(schema).flat_map(|path| path.find(&form)) {
            let mut value = node.clone();
            let mut columns = columns.clone();
            let image = match self.query.kind {
                QueryKind::Any => None,
                QueryKind::Image => match Image::of(node) {
                    None if !node.secret => continue,
                    image => image,
                },
                QueryKind::Certificate => match certificates(node) {
                    None if node.secret && CERTIFICATES.contains(&schema) => None,
                    None => continue,
                    Some([names, begins, ends]) => {
                        value.value = Value::String(names.into());
                        let dates = [("not_before", begins), ("not_after", ends)];
                        columns.splice(0..0, dates.map(|(title, date)| (title.into(), Some(date))));
                        None
                    }
                },
            };
            // The repository of an image that is a mapping.
            let is_part = image.is_some() && location.parent().is_some_and(|it| seen.contains(&it));
            if is_part || !seen.insert(location.clone()) {
                continue;
            }
            let location = original_location(data, &location);
            let written = location.get(data).unwrap_or(node);
            let writer = site.site.document_at(written.span);
            let value = QueriedValue {
                value,
                is_secret: node.holds_secret(),
                written: written.clone(),
                at: written.span,
                layer: writer.map(|doc| site.site.document(doc).key.layer.clone()),
                image,
                columns,
            };
            values.push((location, value));
        }
        values
    }
}

/// Schemas of certificates, which are listed even if they are secret.
const CERTIFICATES: [&str; 2] = [
    "deckhand/Certificate/v1",
    "deckhand/CertificateAuthority/v1",
];

/// Subjects of the certificates in a text, and the first and last seconds of their validity.
fn certificates(node: &Node) -> Option<[String; 3]> {
    let text = node
        .as_str()
        .filter(|text| text.contains(certificate::BEGIN))?;
    let items = certificate::items(text).into_iter();
    let found = items.filter_map(|(_, item)| match item {
        Item::Certificate(certificate) => {
            let [begin, end] = certificate.dates();
            Some([certificate.name, begin, end])
        }
        Item::UnreadableCertificate => Some([
            "unreadable certificate".to_owned(),
            String::new(),
            String::new(),
        ]),
        Item::Key(_) | Item::UnreadableKey | Item::EncryptedKey => None,
    });
    let found: Vec<[String; 3]> = found.collect();
    let joined = |at: usize| {
        found
            .iter()
            .map(|it| &*it[at])
            .collect::<Vec<_>>()
            .join(" | ")
    };
    (!found.is_empty()).then(|| [0, 1, 2].map(joined))
}

/// Images that an edit changed, added or removed in a site: places with another image, places with an
/// image that no output used before, and gone places of an image that no output uses now.
pub(crate) fn changed_images(query: &ValueQuery<'_>, both: &BothSides<'_>) -> Vec<QueryRow> {
    let of_sides = |[base, head]: [&dyn Fn(&RenderedSite<'_>) -> SiteValues; 2]| {
        let base = both.base.as_ref().map(base).unwrap_or_default();
        (base, both.head.as_ref().map(head).unwrap_or_default())
    };
    let edited = |side: &RenderedSite<'_>, other: &Option<RenderedSite<'_>>| {
        query.of(side, &|recipe| !is_shared(side, other.as_ref(), recipe))
    };
    let (base, head) = of_sides([&|side| edited(side, &both.head), &|side| {
        edited(side, &both.base)
    }]);
    let mut rows = changed(base, head).rows;
    if rows
        .iter()
        .all(|row| row.base.is_some() && row.value.is_some())
    {
        return rows;
    }
    let all = |side: &RenderedSite<'_>| query.of(side, &|_| true);
    let (base_values, head_values) = of_sides([&all, &all]);
    let images = |values: &SiteValues| -> BTreeSet<Image> {
        let values = values.rows.iter().filter_map(|row| row.value.as_ref());
        values.filter_map(|value| value.image.clone()).collect()
    };
    let [before, now] = [images(&base_values), images(&head_values)];
    rows.retain(|row| {
        let [base, head] = [&row.base, &row.value].map(|side| side.as_ref()?.image.as_ref());
        match (base, head) {
            // An output that is not rendered may use any image.
            (None, Some(added)) => base_values.unmade.is_empty() && !before.contains(added),
            (Some(removed), None) => head_values.unmade.is_empty() && !now.contains(removed),
            (Some(_), Some(_)) | (None, None) => true,
        }
    });
    rows
}

/// Whether both sides have the same data for a document, without comparing it.
fn is_shared(side: &RenderedSite<'_>, other: Option<&RenderedSite<'_>>, recipe: &Recipe) -> bool {
    let data = |side: &RenderedSite<'_>| {
        let doc = side.site.output(&recipe.key.schema, &recipe.key.name)?;
        side.rendered.data(doc)?.value.address()
    };
    data(side).is_some() && data(side) == other.and_then(data)
}

/// Rows of values that differ between the sides of a site, with both values.
pub(crate) fn changed(base: SiteValues, head: SiteValues) -> SiteValues {
    let rows = base.rows.into_iter();
    let mut before: IndexMap<_, QueryRow> = rows.map(|row| (row.place(), row)).collect();
    let mut rows = Vec::new();
    for row in head.rows {
        let base = before.shift_remove(&row.place()).and_then(|row| row.value);
        let is_same = base
            .as_ref()
            .zip(row.value.as_ref())
            .is_some_and(|(base, value)| diff::same(&base.written, &value.written));
        if !is_same {
            rows.push(QueryRow { base, ..row });
        }
    }
    let removed = before.into_values().map(|row| QueryRow {
        base: row.value,
        value: None,
        ..row
    });
    rows.extend(removed);
    SiteValues {
        rows,
        asked: base.asked.into_iter().chain(head.asked).collect(),
        unmade: base.unmade.into_iter().chain(head.unmade).collect(),
    }
}

/// Text of a value that a column shows.
fn scalar(node: &Node) -> Option<String> {
    match &node.value {
        Value::String(text) => Some(text.to_string()),
        Value::Null => None,
        _ => Some(canonical(node)),
    }
}
