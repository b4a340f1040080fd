//! Documents and values that a question names.
//!
//! Places inside a secret are not revealed: a place inside a secret mapping is reported as the
//! mapping.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::RenderedSite;
use crate::error::Error;
use crate::graph::{DocId, Recipe};
use crate::near::{help_for_unknown, list};
use crate::yaml::emit::scalar_text;
use crate::yaml::json::key_form;
use crate::yaml::path::{Location, Path, Piece, Segment};
use crate::yaml::{Key, Mapping, Node};

/// Name of a set of files without layout in the place of a site name.
pub(crate) const SET: &str = "-";

/// Whether a question about this site name is about a site.
pub(crate) fn is_called(site: &RenderedSite<'_>, name: &str) -> bool {
    site.site.name.as_deref().unwrap_or(SET) == name
}

/// A value to explain.
#[derive(Clone, Debug)]
pub struct ValueQuestion {
    /// Schema of the document; empty if the name is unique.
    pub schema: String,
    /// Name of the document.
    pub name: String,
    /// Place of the value: a Deckhand path or a JSON Pointer.
    pub path: String,
}

impl ValueQuestion {
    /// Whether documents of this schema match.
    pub(crate) fn has_schema(&self, schema: &str) -> bool {
        self.schema.is_empty() || self.schema == schema
    }
}

/// Document of the question: the output of this schema and name, or the document in the lowest
/// layer if none is an output. Without a schema, the only one that has the value.
///
/// # Errors
/// If there is none; the help suggests a similar one.
pub(crate) fn document(site: &RenderedSite<'_>, question: &ValueQuestion) -> Result<DocId, Error> {
    let documents = documents(site, question)?;
    let has_value = |doc: &&DocId| {
        let data = site.data(**doc);
        place(data, &question.path).is_ok_and(|place| place.get(data).is_some())
    };
    let with_value: Vec<DocId> = documents.iter().filter(has_value).copied().collect();
    match (&documents[..], &with_value[..]) {
        ([doc], _) | (_, [doc]) => Ok(*doc),
        (documents, _) => {
            let schemas = documents
                .iter()
                .map(|doc| &*site.graph.recipe(*doc).key.schema);
            Err(several_schemas(&question.name, &schemas.collect()))
        }
    }
}

/// Documents that the question may mean: one for each schema with this name.
///
/// # Errors
/// As [`document`].
pub(crate) fn documents(
    site: &RenderedSite<'_>,
    question: &ValueQuestion,
) -> Result<Vec<DocId>, Error> {
    let (schema, name) = (&question.schema, &question.name);
    let of_schema = || {
        site.graph
            .iter()
            .filter(|(_, it)| question.has_schema(&it.key.schema))
    };
    let mut found: BTreeMap<&str, (DocId, bool)> = BTreeMap::new();
    for (doc, recipe) in of_schema().filter(|(_, it)| *it.key.name == **name) {
        let known = found
            .entry(&recipe.key.schema)
            .or_insert((doc, recipe.emit));
        if !known.1 {
            *known = (doc, recipe.emit);
        }
    }
    if !found.is_empty() {
        return Ok(found.into_values().map(|(doc, _)| doc).collect());
    }
    let of_site = match &site.site.name {
        Some(name) => format!("site `{name}`"),
        None => "this set".into(),
    };
    let keys = site.graph.recipes.iter().map(|recipe| &recipe.key);
    if of_schema().next().is_none() {
        let known = keys.map(|key| &*key.schema).collect();
        let message = format!("{of_site} has no `{schema}`");
        return Err(unknown(message, "schema", schema, &known));
    }
    let known = of_schema().map(|(_, recipe)| &*recipe.key.name).collect();
    let kind = if schema.is_empty() {
        "document".into()
    } else {
        format!("`{schema}`")
    };
    let message = format!("{of_site} has no {kind} named `{name}`");
    Err(unknown(message, "document", name, &known))
}

/// Error for a name that documents of several schemas have.
fn several_schemas(name: &str, schemas: &BTreeSet<&str>) -> Error {
    let message = format!(
        "missing argument SCHEMA: {} documents are named `{name}`",
        schemas.len()
    );
    let schemas: Vec<String> = schemas.iter().map(|schema| format!("`{schema}`")).collect();
    let listed = list(schemas.iter().map(String::as_str));
    Error::usage(message).with_help(format!("their schemas are {listed}"))
}

/// Place in a document's data, given as a path in Deckhand's syntax or as a JSON Pointer, which
/// begins with `/`. A place inside a secret is replaced by the secret.
///
/// # Errors
/// If the text is neither.
pub(crate) fn place(data: &Node, text: &str) -> Result<Location, Error> {
    let place = match text.strip_prefix('/') {
        Some(pointer) => pointed(data, pointer),
        None => found(data, text)?,
    };
    Ok(shown(data, place))
}

/// Place of a JSON Pointer. RFC 6901: `~1` is `/`, `~0` is `~`.
fn pointed(data: &Node, pointer: &str) -> Location {
    let mut place = Location::root();
    for token in pointer.split('/') {
        let name = token.replace("~1", "/").replace("~0", "~");
        let around = place.get(data);
        let index = name
            .parse()
            .ok()
            .filter(|_| around.is_some_and(|node| node.as_sequence().is_some()));
        place = place.join(match index {
            Some(index) => Piece::Index(index),
            None => Piece::Key(key(around, &name, data)),
        });
    }
    place
}

/// The key of a mapping that paths or JSON Pointers write like this. Keys that are not strings have no
/// path of Deckhand, but reports show them.
fn key(around: Option<&Node>, name: &str, data: &Node) -> Key {
    let keys = around.and_then(Node::as_mapping).into_iter();
    let is_it = |key: &&Key| {
        key_form(key) == name || key.as_str().is_none() && scalar_text(&key.value) == name
    };
    let mut keys = keys.flat_map(Mapping::keys);
    let known = keys.find(is_it).cloned();
    known.unwrap_or_else(|| Key::string(name, data.span))
}

fn found(data: &Node, text: &str) -> Result<Location, Error> {
    let unusable = |cause: String| {
        Error::usage(format!("`{text}` is not a valid path: {cause}"))
            .with_help("write it as `.values.pod` or `/values/pod`")
    };
    let path = Path::parse(text).map_err(|error| unusable(error.to_string()))?;
    let found = path.first(data).ok().flatten();
    if let Some(found) = found {
        return Ok(found.location);
    }
    let segments = path.segments();
    let segments = segments.ok_or_else(|| unusable("it matches nothing".into()))?;
    Ok(segments.iter().fold(Location::root(), |place, segment| {
        let piece = match segment {
            Segment::Name(name) => Piece::Key(key(place.get(data), name, data)),
            Segment::Index(index) => Piece::Index(usize::try_from(*index).unwrap_or(usize::MAX)),
        };
        place.join(piece)
    }))
}

/// The place, or the secret that contains it.
pub(crate) fn shown(data: &Node, place: Location) -> Location {
    let is_secret = |length: &usize| {
        let around = Location(place.0[..*length].to_vec());
        around.get(data).is_some_and(|node| node.secret)
    };
    match (0..place.0.len()).find(is_secret) {
        Some(length) => Location(place.0[..length].to_vec()),
        None => place,
    }
}

/// Error for a document without a value at a place.
pub(crate) fn no_value(recipe: &Recipe, data: &Node, place: &Location) -> Error {
    let (schema, name) = (&recipe.key.schema, &recipe.key.name);
    with_place_help(
        format!("no value at `{place}` of {schema} {name}"),
        data,
        place,
    )
}

/// Error for a place without a value, with a similar one. Places are inside `data`.
pub(crate) fn with_place_help(message: String, data: &Node, place: &Location) -> Error {
    let error = Error::usage(message);
    let first = place.first_key();
    let inside = Location(place.0.iter().skip(1).cloned().collect());
    let near = Path::parse(&place.to_string())
        .ok()
        .and_then(|path| path.near_miss(data));
    match (first, near) {
        (Some("data"), _) if inside.get(data).is_some() => error.with_help(format!(
            "paths begin inside `data`: did you mean `{inside}`?"
        )),
        (Some("metadata" | "schema"), None) => error
            .with_help("paths begin inside `data`; `layercake render` prints the whole document"),
        (_, Some(near)) => error.with_help(format!("did you mean `{near}`?")),
        (_, None) => error.with_help("`layercake render` prints the whole document"),
    }
}

/// Error for a word that names none of the `known` things of its kind.
pub(crate) fn unknown(
    message: String,
    kind: &'static str,
    word: &str,
    known: &BTreeSet<&str>,
) -> Error {
    let known: Vec<&str> = known.iter().copied().collect();
    let error = Error::usage(message).about(kind, word);
    match help_for_unknown(word, &format!("{kind}s"), &known) {
        Some(help) => error.with_help(help),
        None => error,
    }
}
