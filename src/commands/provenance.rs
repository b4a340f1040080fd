//! Traces of values and flows of texts in the words of reports, shared by `explain-value` and
//! `impact`. Everything here is about one rendered site; a comparison can use it for both.
//!
//! Places inside a secret are not revealed: a place inside a secret mapping is reported as the
//! mapping.

use std::collections::{BTreeMap, BTreeSet};

use super::names;
use crate::check::RenderedSite;
use crate::error::{Error, ErrorKind};
use crate::graph::{DocId, Op, Recipe, Step};
use crate::merge::Strategy;
use crate::near::list;
use crate::render::flow::{Flow, Reached, Stop};
use crate::render::replay::{Hop, Replay, Via};
use crate::report::answer::impact::TextPart;
use crate::report::answer::provenance::{
    ExplainedValue, LeafOrigin, ProvenanceStep, StepNote, ValuePrecedence,
};
use crate::report::answer::{Operation, ParentStep, StepAction, StepKind};
use crate::source::{DocKey, FileId, Span};
use crate::yaml::path::{Location, Path, Piece, Segment, children};
use crate::yaml::{Key, Mapping, Node};

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
        let data = site
            .rendered
            .data(**doc)
            .unwrap_or(&site.graph.recipe(**doc).data);
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
        return Err(names::unknown(message, "schema", schema, &known));
    }
    let known = of_schema().map(|(_, recipe)| &*recipe.key.name).collect();
    let kind = if schema.is_empty() {
        "document".into()
    } else {
        format!("`{schema}`")
    };
    let message = format!("{of_site} has no {kind} named `{name}`");
    Err(names::unknown(message, "document", name, &known))
}

/// Error for a name that documents of several schemas have.
fn several_schemas(name: &str, schemas: &BTreeSet<&str>) -> Error {
    let message = format!(
        "missing argument SCHEMA: {} documents are named `{name}`",
        schemas.len()
    );
    let schemas: Vec<String> = schemas.iter().map(|schema| format!("`{schema}`")).collect();
    let listed = list(schemas.iter().map(String::as_str));
    Error::new(ErrorKind::Usage, message).with_help(format!("their schemas are {listed}"))
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
            None => Piece::Key(Key::string(name, data.span)),
        });
    }
    place
}

fn found(data: &Node, text: &str) -> Result<Location, Error> {
    let unusable = |cause: String| {
        Error::new(
            ErrorKind::Usage,
            format!("`{text}` is not a valid path: {cause}"),
        )
        .with_help("write it as `.values.pod` or `/values/pod`")
    };
    let path = Path::parse(text).map_err(|error| unusable(error.to_string()))?;
    let found = path.first(data).ok().flatten();
    if let Some(found) = found {
        return Ok(found.location);
    }
    let segments = path.segments();
    let segments = segments.ok_or_else(|| unusable("it matches nothing".into()))?;
    let pieces = segments.iter().map(|segment| match segment {
        Segment::Name(name) => Piece::Key(Key::string(name.clone(), data.span)),
        Segment::Index(index) => Piece::Index(usize::try_from(*index).unwrap_or(usize::MAX)),
    });
    Ok(Location(pieces.collect()))
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

/// Trace of a value of one site.
///
/// # Errors
/// If the document does not exist, or has no value at the place, now or before an action; the help
/// suggests a similar one.
pub fn way(site: &RenderedSite<'_>, question: &ValueQuestion) -> Result<ExplainedValue, Error> {
    let doc = document(site, question)?;
    let replay = Replay::new(site.graph, site.rendered);
    let recipe = site.graph.recipe(doc);
    let data = site.rendered.data(doc).unwrap_or(&recipe.data);
    let place = place(data, &question.path)?;
    let hop = replay.trace_with_losers(doc, &place);
    if hop.origin().via == Via::Absent && hop.losers().is_empty() {
        return Err(no_value(recipe, data, &place));
    }
    let (leaves, more_leaves) = leaves(site, &replay, &hop);
    Ok(ExplainedValue {
        site: site.site.name.clone(),
        document: recipe.key.clone(),
        place: place.to_string(),
        there: hop.value.is_some(),
        value: hop.value.clone(),
        secret_of: secret_of(site, &hop),
        set_at: hop.origin().value.as_ref().map(|node| node.span),
        rows: rows(site, &hop),
        changes: Vec::new(),
        leaves,
        more_leaves,
    })
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
    let error = Error::new(ErrorKind::Usage, message);
    let first = match place.0.first() {
        Some(Piece::Key(key)) => key.as_str(),
        Some(Piece::Index(_)) | None => None,
    };
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

/// Document that a secret value comes from.
fn secret_of(site: &RenderedSite<'_>, hop: &Hop) -> Option<DocKey> {
    if hop.value.as_ref().is_none_or(|value| !value.secret) {
        return None;
    }
    let mut open = vec![hop];
    let mut last = hop;
    while let Some(hop) = open.pop() {
        if hop.value.as_ref().is_some_and(|value| value.secret) {
            last = hop;
            open.clear();
            open.extend(hop.from.iter().rev());
        }
    }
    Some(site.graph.recipe(last.doc).key.clone())
}

/// Maximum number of leaves listed of a mapping or list.
const MAX_LEAVES: usize = 40;

/// Writers of the leaves of a mapping or list, and whether there are more. Neither content nor size
/// of a secret is revealed.
fn leaves(site: &RenderedSite<'_>, replay: &Replay<'_>, hop: &Hop) -> (Vec<LeafOrigin>, bool) {
    let mut shown = Vec::new();
    let value = hop.value.as_ref().filter(|value| is_container(value));
    if let Some(value) = value {
        add_shown_leaves(value, &mut Location::root(), &mut shown);
    }
    let more = shown.len() > MAX_LEAVES;
    let writers = shown.iter().take(MAX_LEAVES).map(|leaf| {
        let place = hop.location.joined(leaf);
        let way = replay.trace(hop.doc, &place);
        let origin = way.origin();
        LeafOrigin {
            place: place.to_string(),
            document: site.graph.recipe(origin.doc).key.clone(),
            at: origin.value.as_ref().map(|node| node.span),
        }
    });
    (writers.collect(), more)
}

/// Whether a value contains values that may be shown.
fn is_container(node: &Node) -> bool {
    !node.secret && children(node).next().is_some()
}

/// Adds leaves, up to one more than the maximum.
fn add_shown_leaves(node: &Node, here: &mut Location, leaves: &mut Vec<Location>) {
    for (piece, child) in children(node) {
        if leaves.len() > MAX_LEAVES {
            return;
        }
        here.0.push(piece);
        if is_container(child) {
            add_shown_leaves(child, here, leaves);
        } else {
            leaves.push(here.clone());
        }
        here.0.pop();
    }
}

/// Trace of a value as numbered steps, from the text that wrote it to the requested document.
/// Overridden values precede the one that overrides them.
pub(crate) fn rows(site: &RenderedSite<'_>, hop: &Hop) -> Vec<ProvenanceStep> {
    let mut table = RouteRows {
        site,
        rows: Vec::new(),
        numbers: BTreeMap::new(),
    };
    table.add(hop, None);
    table.rows
}

/// Builder of the steps of a trace.
struct RouteRows<'s, 'a> {
    site: &'s RenderedSite<'a>,
    rows: Vec<ProvenanceStep>,
    /// Last row of each document.
    numbers: BTreeMap<DocId, usize>,
}

impl RouteRows<'_, '_> {
    fn add(&mut self, hop: &Hop, standing: Option<ValuePrecedence>) {
        match hop.via {
            Via::Literal => self.push(hop, StepKind::Literal, hop.at.clone(), standing),
            Via::Absent => self.push(hop, StepKind::Absent, hop.at.clone(), standing),
            Via::Blocked => self.push(hop, StepKind::Blocked, hop.at.clone(), standing),
            Via::Unfollowed => self.push(hop, StepKind::Unfollowed, Vec::new(), standing),
            Via::Inherited | Via::Replaced => self.add_inherited(hop, standing),
            Via::Layered { .. } => self.add_layered(hop, standing),
            Via::Substituted | Via::Pattern | Via::Merged | Via::Made => {
                self.add_written(hop, standing);
            }
            Via::Deleted => self.add_deleted(hop),
        }
    }

    fn add_inherited(&mut self, hop: &Hop, standing: Option<ValuePrecedence>) {
        hop.from.iter().for_each(|from| self.add(from, standing));
        let step = StepKind::Layered {
            parent: self.parent(hop),
            action: self.action(hop),
            own: None,
        };
        let mut at = self.laid_at(hop);
        let own = hop.location.get(&self.recipe(hop).data);
        at.extend(own.map(|node| node.span));
        let note = match own {
            Some(_) => StepNote::Unapplied,
            None => StepNote::NoKey,
        };
        self.push(hop, step, at, None);
        if let Some(row) = self.rows.last_mut().filter(|_| hop.value.is_some()) {
            row.note = Some(note);
        }
    }

    fn add_layered(&mut self, hop: &Hop, standing: Option<ValuePrecedence>) {
        let mut parent = None;
        let mut at = Vec::new();
        if let Some(lost) = &hop.lost {
            if lost.doc == hop.doc && matches!(lost.via, Via::Inherited | Via::Replaced) {
                lost.from
                    .iter()
                    .for_each(|from| self.add(from, Some(ValuePrecedence::Lost)));
                parent = self.parent(lost);
                at = self.laid_at(lost);
            } else {
                self.add(lost, Some(ValuePrecedence::Lost));
            }
        }
        let step = StepKind::Layered {
            parent,
            action: self.action(hop),
            own: Some(hop.value.is_some()),
        };
        at.extend(hop.at.first());
        at.extend(hop.from.iter().flat_map(|own| own.at.iter().copied()));
        self.push(hop, step, at, contested(hop, standing));
    }

    fn add_written(&mut self, hop: &Hop, standing: Option<ValuePrecedence>) {
        if let Some(lost) = &hop.lost {
            self.add(lost, Some(ValuePrecedence::Lost));
        }
        hop.from.iter().for_each(|from| self.add(from, None));
        let step = match self.step(hop).map(|step| step.op) {
            Some(Op::Substitute(substitution)) => {
                let to = substitution.writing.to.iter();
                let to = to.filter(|to| hop.at.contains(&to.path.span));
                StepKind::Substituted {
                    via: hop.via,
                    from: substitution.writing.from.value.to_string(),
                    to: to.map(|to| to.path.value.text().to_owned()).collect(),
                }
            }
            Some(Op::Merge { .. }) => StepKind::Created(self.action(hop)),
            Some(Op::Combine(_)) => StepKind::Combined(self.action(hop)),
            None => StepKind::Placeholder,
        };
        // The entry begins on the line of its source or of its destination.
        let at = if hop.at.len() > 2 {
            hop.at[1..].to_vec()
        } else {
            hop.at.clone()
        };
        self.push(hop, step, at, contested(hop, standing));
    }

    fn add_deleted(&mut self, hop: &Hop) {
        if let Some(lost) = &hop.lost {
            self.add(lost, Some(ValuePrecedence::Lost));
        }
        let step = match hop.step {
            Some(_) => StepKind::Removed(self.action(hop)),
            None => StepKind::TooLarge,
        };
        self.push(hop, step, hop.at.clone(), Some(ValuePrecedence::Wins));
    }

    fn push(
        &mut self,
        hop: &Hop,
        step: StepKind,
        at: Vec<Span>,
        standing: Option<ValuePrecedence>,
    ) {
        let row = row(self.site, hop.doc, step, at);
        self.rows.push(ProvenanceStep { standing, ..row });
        self.numbers.insert(hop.doc, self.rows.len());
    }

    fn recipe(&self, hop: &Hop) -> &Recipe {
        self.site.graph.recipe(hop.doc)
    }

    fn step(&self, hop: &Hop) -> Option<Step<'_>> {
        hop.step.map(|step| self.recipe(hop).step(step))
    }

    /// Source of an inherited value.
    fn parent(&self, hop: &Hop) -> Option<ParentStep> {
        let base = self.recipe(hop).base?;
        let number = self.numbers.get(&base.doc).copied();
        Some(ParentStep {
            name: self.site.graph.recipe(base.doc).key.name.clone(),
            replaced: number.filter(|_| hop.via == Via::Replaced),
        })
    }

    fn laid_at(&self, hop: &Hop) -> Vec<Span> {
        let replacement = self.site.site.document(hop.doc).replacement;
        let replacement = replacement.filter(|_| hop.via == Via::Replaced);
        let selector = hop.at.first().copied();
        let action = self.step(hop).map(|step| step.at);
        replacement
            .into_iter()
            .chain(selector)
            .chain(action)
            .collect()
    }

    fn action(&self, hop: &Hop) -> Option<StepAction> {
        Some(match self.step(hop)?.op {
            Op::Merge { method, path } => {
                let path = path.value.effective(method, self.site.graph.semantics);
                StepAction::Layering(method, path.map_or("$", Path::text).to_owned())
            }
            Op::Substitute(substitution) => {
                StepAction::Substitution(substitution.writing.from.value.to_string())
            }
            Op::Combine(combine) => {
                let over = self.site.rendered.data(combine.source)?;
                match &combine.strategy {
                    Strategy::CloudInit(rules) => StepAction::Merged(rules.classes(over)),
                    Strategy::JsonPatch(_) => {
                        StepAction::Patched(operation(over, combine.source, hop))
                    }
                }
            }
        })
    }
}

/// The operation of a patch that wrote or removed the value, unless the operation is secret.
fn operation(patch: &Node, source: DocId, hop: &Hop) -> Option<Operation> {
    let place = &hop.from.iter().find(|from| from.doc == source)?.location;
    let Some(Piece::Index(index)) = place.0.first() else {
        return None;
    };
    let operation = patch.as_sequence()?.get(*index)?;
    let member = |name| {
        operation
            .get(name)
            .and_then(Node::as_str)
            .map(str::to_owned)
    };
    let is_secret = patch.secret || operation.holds_secret();
    let found = Operation {
        number: index + 1,
        name: member("op")?,
        path: member("path")?,
    };
    (!is_secret).then_some(found)
}

/// `Wins` for a value that overrides another, unless it is overridden itself.
fn contested(hop: &Hop, standing: Option<ValuePrecedence>) -> Option<ValuePrecedence> {
    standing.or(hop.lost.is_some().then_some(ValuePrecedence::Wins))
}

/// A line given by the user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) file: FileId,
    /// 0-based line number.
    pub(crate) number: usize,
}

impl Line {
    /// Whether a span is on the line or crosses it, also if its text is encoded there.
    pub(crate) fn touches(self, span: Span, site: &RenderedSite<'_>) -> bool {
        let span = site.sources.written(span);
        if span.file != self.file {
            return false;
        }
        let lines = site.sources.get(span.file).lines();
        let last = span.end.saturating_sub(1).max(span.start);
        let next = lines.start_of(self.number + 1);
        lines
            .start_of(self.number)
            .is_some_and(|start| start <= last)
            && next.is_none_or(|next| span.start < next)
    }

    /// Content of a line without an effect on any document; `None` if it may have one.
    pub(crate) fn inert_part(self, site: &RenderedSite<'_>) -> Option<TextPart> {
        let text = site.sources.get(self.file).text();
        match text.lines().nth(self.number)?.trim() {
            "" => Some(TextPart::EmptyLine),
            "---" | "..." => Some(TextPart::Mark),
            line if line.starts_with('#') => Some(TextPart::Comment),
            _ => None,
        }
    }

    /// Document on the line.
    pub(crate) fn document(self, site: &RenderedSite<'_>) -> Option<DocId> {
        let mut documents = site.graph.iter().filter(|(doc, recipe)| {
            let is_merged = site
                .sets
                .member(*doc)
                .is_some_and(|member| member.part.is_none());
            !is_merged && (self.touches(recipe.span, site) || self.is_merge_setting(site, *doc))
        });
        documents.next().map(|(doc, _)| doc)
    }

    /// Whether the line sets how a part is merged.
    pub(crate) fn is_merge_setting(self, site: &RenderedSite<'_>, doc: DocId) -> bool {
        let member = site.sets.member(doc);
        let said_at = member.and_then(|member| member.part?.specification());
        said_at.is_some_and(|span| self.touches(span, site))
    }

    /// Values of a document's own data on the line: leaves, and mappings and lists whose key is on
    /// the line and whose content is below it.
    pub(crate) fn places(self, site: &RenderedSite<'_>, doc: DocId) -> Vec<Location> {
        let data = &site.graph.recipe(doc).data;
        let mut places = Vec::new();
        self.add_places(site, data, &mut Location::root(), &mut places);
        places
    }

    fn add_places(
        self,
        site: &RenderedSite<'_>,
        node: &Node,
        here: &mut Location,
        places: &mut Vec<Location>,
    ) {
        let entries = node.as_mapping().into_iter().flat_map(Mapping::iter);
        let items = node.as_sequence().unwrap_or_default().iter().enumerate();
        let children: Vec<(Piece, Option<Span>, &Node)> = entries
            .map(|(key, child)| (Piece::Key(key.clone()), Some(key.span), child))
            .chain(items.map(|(index, child)| (Piece::Index(index), None, child)))
            .collect();
        if children.is_empty() {
            if self.touches(node.span, site) {
                places.push(here.clone());
            }
            return;
        }
        for (piece, key, child) in children {
            here.0.push(piece);
            let is_keyed = key.is_some_and(|key| self.touches(key, site));
            let begins_here = child_has_lines(child) && self.touches_first(child, site);
            if is_keyed && !begins_here {
                places.push(here.clone());
            } else {
                self.add_places(site, child, here, places);
            }
            here.0.pop();
        }
    }

    /// Whether a value begins on the line.
    fn touches_first(self, node: &Node, site: &RenderedSite<'_>) -> bool {
        self.touches(Span::point(node.span.file, node.span.start), site)
    }
}

/// Whether a value contains values.
fn child_has_lines(node: &Node) -> bool {
    node.as_mapping().is_some_and(|mapping| !mapping.is_empty())
        || node.as_sequence().is_some_and(|items| !items.is_empty())
}

/// Route of a flow to a place, first hop first.
pub(crate) fn route(flow: &Flow, index: usize) -> Vec<&Reached> {
    let mut route = Vec::new();
    let mut next = Some(index);
    while let Some(reached) = next.and_then(|index| flow.reached.get(index)) {
        route.push(reached);
        next = reached.from;
    }
    route.reverse();
    route
}

/// A place that a flow reached, as a step.
pub(crate) fn reached_row(site: &RenderedSite<'_>, reached: &Reached) -> ProvenanceStep {
    let step = StepKind::Reached(reached.via.into(), place_text(site, reached));
    row(site, reached.doc, step, reached.at.clone())
}

/// A place at which a flow stops, as a step.
pub(crate) fn stop_row(site: &RenderedSite<'_>, stop: &Stop) -> ProvenanceStep {
    row(site, stop.doc, StepKind::Stopped(stop.why), vec![stop.by])
}

fn row(site: &RenderedSite<'_>, doc: DocId, step: StepKind, at: Vec<Span>) -> ProvenanceStep {
    ProvenanceStep {
        document: site.graph.recipe(doc).key.clone(),
        step,
        note: None,
        at,
        standing: None,
    }
}

/// Place of a rendered document that a flow reached, or the secret that contains it.
pub(crate) fn place_text(site: &RenderedSite<'_>, reached: &Reached) -> String {
    let place = reached.location.clone();
    let data = site.rendered.data(reached.doc);
    data.map_or_else(
        || place.to_string(),
        |data| shown(data, place.clone()).to_string(),
    )
}
