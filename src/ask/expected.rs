//! Texts that are expected at a place of a document, by the keys around it.

use std::collections::BTreeSet;

use super::question::{self, ValueQuestion};
use crate::check::{Answer, RenderedSite};
use crate::rules::Reference;
use crate::system::deckhand::document::Document;
use crate::yaml::Node;
use crate::yaml::path::{Location, children};

/// Kind of what a place expects.
#[derive(Debug)]
pub(crate) enum Expected {
    /// Schemas of documents.
    Schema,
    /// Names of documents, of this schema if it is known.
    Name(Option<String>),
    Layer,
    Method,
    /// A key of labels.
    LabelKey,
    /// A value of the label with this key.
    LabelValue(String),
    /// A path in a rendered document.
    Path(ValueQuestion),
    /// A type of sites.
    SiteType,
}

/// Maximum number of paths listed of a document.
const MAX_PATHS: usize = 5_000;

impl Expected {
    /// The kind that is expected at a path such as `metadata.substitutions[].src.name`; `None` where any text can
    /// be. `sibling` returns the scalars of the same mapping, `document` is that of the place.
    pub(crate) fn at(
        path: &str,
        is_value: bool,
        sibling: &dyn Fn(&str) -> Option<String>,
        document: Option<ValueQuestion>,
        references: &[Reference],
    ) -> Option<Self> {
        const SELECTOR: &str = "metadata.layeringDefinition.parentSelector";
        match path {
            "schema" | "metadata.substitutions[].src.schema" => Some(Self::Schema),
            "metadata.layeringDefinition.layer" => Some(Self::Layer),
            "metadata.layeringDefinition.actions[].method" => Some(Self::Method),
            "metadata.substitutions[].src.name" => Some(Self::Name(sibling("schema"))),
            "metadata.substitutions[].src.path" => Some(Self::Path(ValueQuestion {
                schema: sibling("schema")?,
                name: sibling("name")?,
                path: String::new(),
            })),
            "metadata.substitutions[].dest.path"
            | "metadata.substitutions[].dest[].path"
            | "metadata.layeringDefinition.actions[].path" => document.map(Self::Path),
            "data.site_type" => Some(Self::SiteType),
            _ => match path.strip_prefix(SELECTOR) {
                Some("") => Some(Self::LabelKey),
                Some(key) if is_value => {
                    Some(Self::LabelValue(key.trim_start_matches('.').to_owned()))
                }
                Some(_) => Some(Self::LabelKey),
                None => referred(path, &document?.schema, references),
            },
        }
    }

    /// Texts that documents offer; empty for the kinds that need a rendered site or the layout.
    pub(crate) fn offered<'d>(
        &self,
        documents: impl Iterator<Item = &'d Document>,
    ) -> BTreeSet<String> {
        match self {
            Self::Schema => documents.map(|it| it.key.schema.to_string()).collect(),
            Self::Name(schema) => documents
                .filter(|it| {
                    schema
                        .as_deref()
                        .is_none_or(|schema| *it.key.schema == *schema)
                })
                .map(|it| it.key.name.to_string())
                .collect(),
            Self::Layer => documents
                .filter_map(|it| it.layer_order.as_ref())
                .flatten()
                .map(|layer| layer.value.to_string())
                .collect(),
            Self::Method => ["delete", "merge", "replace"].map(str::to_owned).into(),
            Self::LabelKey => documents
                .flat_map(|it| it.labels.iter())
                .filter_map(|(key, _)| key.as_str().map(str::to_owned))
                .collect(),
            Self::LabelValue(key) => documents
                .filter_map(|it| it.labels.get(key.as_str())?.as_str().map(str::to_owned))
                .collect(),
            Self::Path(_) | Self::SiteType => BTreeSet::new(),
        }
    }
}

/// Names that the data of a document of a schema can have at a place, such as charts in a group.
fn referred(path: &str, schema: &str, references: &[Reference]) -> Option<Expected> {
    let written = format!("${}", path.strip_prefix("data")?.replace("[]", "[*]"));
    let mut references = references.iter();
    let meant = references.find(|it| *it.schema == *schema && is_path(it.path.text(), &written));
    meant.map(|reference| Expected::Name(Some(reference.target.to_string())))
}

/// Whether the path of a reference, in which `*` is any key, leads to a place.
fn is_path(path: &str, place: &str) -> bool {
    let [path, place]: [Vec<&str>; 2] = [path, place].map(|text| text.split('.').collect());
    path.len() == place.len()
        && path
            .iter()
            .zip(&place)
            .all(|(key, found)| *key == "*" || key == found)
}

/// Paths of the values of a rendered document of a site, but not inside of secrets.
pub(crate) fn paths(site: &RenderedSite<'_>, question: &ValueQuestion) -> Answer<BTreeSet<String>> {
    let Ok(doc) = question::document(site, question) else {
        return Answer::Is(BTreeSet::new());
    };
    Answer::after(site.unrequested([doc]), || {
        let mut paths = BTreeSet::from([".".to_owned()]);
        add_paths(site.data(doc), &mut Location::root(), &mut paths);
        paths
    })
}

fn add_paths(node: &Node, here: &mut Location, paths: &mut BTreeSet<String>) {
    if node.secret || paths.len() >= MAX_PATHS {
        return;
    }
    for (piece, child) in children(node) {
        here.0.push(piece);
        paths.insert(here.to_string());
        add_paths(child, here, paths);
        here.0.pop();
    }
}
