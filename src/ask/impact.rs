//! What the texts of a file or on a line reach.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::line::Line;
use super::question::shown;
use super::route::{place_text, route};
use crate::check::{Answer, RenderedSite};
use crate::compare::DeployedCounts;
use crate::deployment::{Deployment, is_of_armada};
use crate::graph::{DocId, Op, Recipe, Step};
use crate::render::flow::{
    Flow, MAX_REACHED, Reached, Why, flow, flow_of_document, flow_of_rendered, may_enter,
};
use crate::render::replay::Replay;
use crate::report::answer::HopKind;
use crate::report::answer::impact::{
    Impact, ImpactHop, ImpactOutput, ImpactShield, ImpactText, TextPart,
};
use crate::source::{DocKey, RepoPath, Span};
use crate::system::deckhand::document::Document;
use crate::yaml::Key;
use crate::yaml::path::{Location, Path};

/// Impact in one site of the texts in these files and folders, or on a 0-based line of them, after
/// the documents that it depends on were rendered.
pub(crate) fn answer(
    site: &RenderedSite<'_>,
    given: &[RepoPath],
    line: Option<usize>,
) -> Answer<SiteImpact> {
    let needed = needed(site, given, line);
    if !needed.is_empty() {
        return Answer::Needs(needed);
    }
    let impact = of_site(site, given, line);
    let reached = impact.outputs.keys();
    let needed = if reached
        .map(|(key, _)| key)
        .any(|key| is_of_armada(&key.schema))
    {
        site.unrequested(Deployment::needed(site.graph))
    } else {
        Vec::new()
    };
    Answer::after(needed, || impact.with_deployed(site))
}

/// Impact in one site.
#[derive(Default)]
pub(crate) struct SiteImpact {
    site: Option<Arc<str>>,
    reads: bool,
    texts: Vec<ImpactText>,
    /// Places, by output and route.
    outputs: BTreeMap<(DocKey, Vec<ImpactHop>), Vec<String>>,
    stops: BTreeSet<(DocKey, Why, Span)>,
    /// Reached outputs by whether they are deployed.
    deployed: DeployedCounts,
    more: bool,
}

/// Documents in the given files, with their recipes.
fn given_documents<'s>(
    site: &RenderedSite<'s>,
    given: &[RepoPath],
) -> impl Iterator<Item = (DocId, &'s Recipe)> {
    site.graph.iter().filter(|(_, recipe)| {
        let path = site.sources.path_of(recipe.span);
        given
            .iter()
            .any(|given| path == given || path.below(given).is_some())
    })
}

/// Documents that must be rendered to determine the impact of a line. That of a whole file depends
/// only on the relations of documents.
fn needed(site: &RenderedSite<'_>, given: &[RepoPath], line: Option<usize>) -> Vec<DocId> {
    let Some(number) = line else {
        return Vec::new();
    };
    let documents = site.unrequested(given_documents(site, given).map(|(doc, _)| doc));
    if !documents.is_empty() {
        return documents;
    }
    let replay = Replay::new(site.graph, site.rendered);
    let on_line = given_documents(site, given).filter_map(|(doc, recipe)| {
        let line = Line::of(recipe, number, site);
        (line.document(site) == Some(doc)).then_some((doc, line))
    });
    let entered = on_line.flat_map(|(doc, line)| {
        let mut places = line.places(site, doc);
        if places.len() < 2 && (places.is_empty() || line.is_merge_setting(site, doc)) {
            places = vec![Location::root()];
        }
        may_enter(&replay, doc, &places)
    });
    site.unrequested(entered)
}

fn of_site(site: &RenderedSite<'_>, given: &[RepoPath], line: Option<usize>) -> SiteImpact {
    let mut impact = SiteImpact {
        site: site.site.name.clone(),
        ..SiteImpact::default()
    };
    let replay = Replay::new(site.graph, site.rendered);
    for (doc, recipe) in given_documents(site, given) {
        impact.reads = true;
        match line {
            None => impact.add_whole(site, &replay, doc, TextPart::Document),
            Some(number) => {
                let line = Line::of(recipe, number, site);
                match line.document(site) {
                    Some(found) if found == doc => impact.add_line(site, &replay, doc, line),
                    // A file has lines outside of its documents.
                    None if impact.texts.is_empty() => impact.add_inert(site, doc, line),
                    Some(_) | None => {}
                }
            }
        }
    }
    impact
}

impl SiteImpact {
    /// The reached outputs with their places by all routes; none for a whole document.
    pub(crate) fn places(&self) -> BTreeMap<DocKey, BTreeSet<String>> {
        let mut places: BTreeMap<DocKey, BTreeSet<String>> = BTreeMap::new();
        for ((output, _), reached) in &self.outputs {
            let of_output = places.entry(output.clone()).or_default();
            of_output.extend(reached.iter().cloned());
        }
        places
    }

    /// The names of the documents of the reached outputs.
    pub(crate) fn names_of_outputs(&self, site: &RenderedSite<'_>) -> Vec<Span> {
        let reached: BTreeSet<&DocKey> = self.outputs.keys().map(|(key, _)| key).collect();
        let outputs = site.graph.outputs();
        let outputs = outputs.filter(|(doc, recipe)| {
            reached.contains(&recipe.key) && site.sets.member(*doc).is_none()
        });
        outputs
            .map(|(doc, _)| site.site.document(doc).name_span)
            .collect()
    }

    fn with_deployed(self, site: &RenderedSite<'_>) -> Self {
        let documents: BTreeSet<&DocKey> = self.outputs.keys().map(|(key, _)| key).collect();
        let deployment = Deployment::of(site.graph, site.rendered);
        let outputs = site.graph.outputs();
        let reached = outputs.filter(|(_, recipe)| documents.contains(&recipe.key));
        let deployed = reached
            .map(|(doc, recipe)| deployment.of_output(doc, &recipe.key.schema))
            .collect();
        Self { deployed, ..self }
    }

    /// Adds a line of a document: the values on it, or the field it belongs to.
    fn add_line(&mut self, site: &RenderedSite<'_>, replay: &Replay<'_>, doc: DocId, line: Line) {
        let places = line.places(site, doc);
        let only_steers = places.len() < 2 && line.is_merge_setting(site, doc);
        if places.is_empty() || only_steers {
            match site.sets.member(doc) {
                None => self.add_steering(site, replay, doc, line),
                Some(_) => self.add_whole(site, replay, doc, TextPart::MergeSettings),
            }
            return;
        }
        let recipe = site.graph.recipe(doc);
        for place in places {
            let shown = shown(&recipe.data, place.clone()).to_string();
            self.add_text(site, doc, TextPart::Value(shown), Vec::new());
            self.add_flow(site, &flow(replay, doc, &place), true);
        }
    }

    /// Adds a line of a Deckhand document that contains no value.
    fn add_steering(
        &mut self,
        site: &RenderedSite<'_>,
        replay: &Replay<'_>,
        doc: DocId,
        line: Line,
    ) {
        if line.inert_part(site).is_some() && !is_start(line, doc, site) {
            return self.add_inert(site, doc, line);
        }
        match Control::of(line, site.site.document(doc), site) {
            Control::Step(field) => self.add_step(site, replay, doc, field, line),
            Control::Relation {
                field,
                affects: Affects::Children,
            } => {
                self.add_label(site, replay, doc, field, line);
            }
            Control::Relation { field, affects } => {
                self.add_whole(site, replay, doc, field);
                self.add_returning(site, &|child, replaced| match affects {
                    Affects::Parent | Affects::Children => child == doc,
                    Affects::Both => child == doc || replaced == doc,
                });
            }
            Control::Other(field) => self.add_whole(site, replay, doc, field),
        }
    }

    /// Adds an action or a substitution, with the paths that it writes.
    fn add_step(
        &mut self,
        site: &RenderedSite<'_>,
        replay: &Replay<'_>,
        doc: DocId,
        field: TextPart,
        line: Line,
    ) {
        let recipe = site.graph.recipe(doc);
        let steps = recipe
            .steps
            .iter()
            .filter(|step| line.touches(step.at, site));
        let paths = steps.flat_map(|step| paths_of(&step, site)).collect();
        self.add_text(site, doc, field, paths);
        let is_substitution = |index: usize| {
            let step = recipe.step(index);
            matches!(step.op, Op::Substitute(_)) && line.touches(step.at, site)
        };
        let writes = site
            .rendered
            .writes(doc)
            .iter()
            .filter(|write| is_substitution(write.step));
        let places: Vec<(Location, Span)> = writes
            .flat_map(|write| rendered_leaves(site, doc, &write.location).map(|at| (at, write.at)))
            .collect();
        if places.is_empty() {
            // An action affects everything that the document inherits.
            self.add_flow(site, &flow_of_document(replay, doc), false);
        } else {
            self.add_flow(site, &flow_of_rendered(replay, doc, places), true);
        }
    }

    /// Adds a label: it is visible in the document, and children select the document by it.
    fn add_label(
        &mut self,
        site: &RenderedSite<'_>,
        replay: &Replay<'_>,
        doc: DocId,
        field: TextPart,
        line: Line,
    ) {
        let recipe = site.graph.recipe(doc);
        self.add_text(site, doc, field, Vec::new());
        if recipe.emit {
            self.outputs
                .entry((recipe.key.clone(), Vec::new()))
                .or_default();
        }
        let labels = site.site.document(doc).labels.iter();
        let touched = labels.filter(|(key, node)| line.touches(key.span.to(node.span), site));
        let touched: Vec<&Key> = touched.map(|(key, _)| key).collect();
        let is_child = |child: DocId| {
            let is_of_doc = site
                .graph
                .recipe(child)
                .base
                .is_some_and(|base| base.doc == doc);
            let selector = || site.site.document(child).parent_selector.as_ref();
            is_of_doc
                && selector()
                    .is_some_and(|it| it.labels.iter().any(|(key, _)| touched.contains(&key)))
        };
        let documents = site.graph.iter().map(|(child, _)| child);
        let documents = documents.filter(|child| site.sets.member(*child).is_none());
        for child in documents.filter(|child| is_child(*child)) {
            let recipe = site.graph.recipe(child);
            let is_replacing = recipe.replaces == Some(doc);
            let kind = if is_replacing {
                HopKind::Replaced
            } else {
                HopKind::Inherited
            };
            let hop = ImpactHop(kind, recipe.key.clone());
            self.add_flow_behind(site, &flow_of_document(replay, child), false, &[hop]);
        }
        self.add_returning(site, &|child, replaced| replaced == doc && is_child(child));
    }

    /// Adds documents that would become outputs without a relation of a document, because it no
    /// longer replaces them.
    fn add_returning(&mut self, site: &RenderedSite<'_>, is_ended: &dyn Fn(DocId, DocId) -> bool) {
        for (child, recipe) in site.graph.iter() {
            let Some(replaced) = recipe
                .replaces
                .filter(|replaced| is_ended(child, *replaced))
            else {
                continue;
            };
            let returning = site.graph.recipe(replaced);
            if !returning.emit && !site.site.document(replaced).is_abstract {
                let route = ImpactHop(HopKind::NotReplaced, recipe.key.clone());
                self.outputs
                    .entry((returning.key.clone(), vec![route]))
                    .or_default();
            }
        }
    }

    fn add_whole(
        &mut self,
        site: &RenderedSite<'_>,
        replay: &Replay<'_>,
        doc: DocId,
        field: TextPart,
    ) {
        self.add_text(site, doc, field, Vec::new());
        self.add_flow(site, &flow_of_document(replay, doc), false);
    }

    /// Adds a line without effect.
    fn add_inert(&mut self, site: &RenderedSite<'_>, doc: DocId, line: Line) {
        if let Some(part) = line.inert_part(site) {
            self.add_text(site, doc, part, Vec::new());
        }
    }

    fn add_text(
        &mut self,
        site: &RenderedSite<'_>,
        doc: DocId,
        part: TextPart,
        writes: Vec<String>,
    ) {
        let is_value = matches!(part, TextPart::Value(_));
        if !(is_value && self.texts.iter().any(|known| known.part == part)) {
            self.texts.push(ImpactText {
                document: site.graph.recipe(doc).key.clone(),
                part,
                writes,
            });
        }
    }

    fn add_flow(&mut self, site: &RenderedSite<'_>, flow: &Flow, has_places: bool) {
        self.add_flow_behind(site, flow, has_places, &[]);
    }

    /// Adds a flow that starts after some hops.
    fn add_flow_behind(
        &mut self,
        site: &RenderedSite<'_>,
        flow: &Flow,
        has_places: bool,
        hops: &[ImpactHop],
    ) {
        self.more |= flow.more;
        for (index, reached) in flow.reached.iter().enumerate() {
            let recipe = site.graph.recipe(reached.doc);
            if !recipe.emit {
                continue;
            }
            let hop =
                |at: &Reached| ImpactHop(at.via.into(), site.graph.recipe(at.doc).key.clone());
            let route = route(flow, index).into_iter().skip(1).map(hop);
            let route = hops.iter().cloned().chain(route).collect();
            let places = self.outputs.entry((recipe.key.clone(), route)).or_default();
            let place = place_text(site, reached);
            if has_places && !places.contains(&place) {
                places.push(place);
            }
        }
        self.stops.extend(flow.stops.iter().map(|stop| {
            let key = site.graph.recipe(stop.doc).key.clone();
            (key, stop.why, stop.by)
        }));
    }
}

/// Places of the values at and inside a place of a rendered document.
fn rendered_leaves(
    site: &RenderedSite<'_>,
    doc: DocId,
    place: &Location,
) -> impl Iterator<Item = Location> {
    let node = site.rendered.data(doc).and_then(|data| place.get(data));
    let leaves = node
        .map(|node| Replay::leaves(node, MAX_REACHED).locations)
        .unwrap_or_default();
    leaves.into_iter().map(|leaf| place.joined(&leaf))
}

/// Paths that a step writes, as written.
fn paths_of(step: &Step<'_>, site: &RenderedSite<'_>) -> Vec<String> {
    match &step.op {
        Op::Merge { method, path } => {
            let path = path.value.effective(*method, site.graph.semantics);
            vec![path.map_or("$", Path::text).to_owned()]
        }
        Op::Substitute(substitution) => {
            let to = substitution.writing.to.iter();
            to.map(|to| to.path.value.text().to_owned()).collect()
        }
        Op::Combine(_) => Vec::new(),
    }
}

/// Whether a line is the first of a document.
fn is_start(line: Line, doc: DocId, site: &RenderedSite<'_>) -> bool {
    let span = site.graph.recipe(doc).span;
    line.touches(Span::point(span.file, span.start), site)
}

/// Field of a document outside of its data that a line belongs to.
enum Control {
    /// An action or a substitution.
    Step(TextPart),
    /// A field that relates documents.
    Relation { field: TextPart, affects: Affects },
    /// Another field.
    Other(TextPart),
}

/// Relations of a document that depend on a field.
#[derive(Clone, Copy)]
enum Affects {
    Parent,
    Children,
    Both,
}

impl Control {
    fn of(line: Line, document: &Document, site: &RenderedSite<'_>) -> Self {
        let touches = |span: Option<Span>| span.is_some_and(|span| line.touches(span, site));
        if document
            .actions()
            .iter()
            .any(|action| touches(Some(action.at)))
        {
            return Self::Step(TextPart::Action);
        }
        if document
            .substitutions()
            .any(|entry| touches(Some(entry.span)))
        {
            return Self::Step(TextPart::Substitution);
        }
        let relation = |field, affects| Self::Relation { field, affects };
        if document
            .labels
            .iter()
            .any(|(key, node)| touches(Some(key.span.to(node.span))))
        {
            return relation(TextPart::Label, Affects::Children);
        }
        let selector = document
            .parent_selector
            .as_ref()
            .map(|selector| selector.span);
        let layer = document.layer.as_ref().map(|layer| layer.span);
        let relations = [
            (TextPart::ParentSelector, selector, Affects::Parent),
            (TextPart::Replacement, document.replacement, Affects::Parent),
            (TextPart::Layer, layer, Affects::Both),
            (TextPart::Name, Some(document.name_span), Affects::Both),
            (TextPart::Schema, Some(document.schema_span), Affects::Both),
        ];
        let mut relations = relations.into_iter();
        if let Some((field, _, affects)) = relations.find(|(_, span, _)| touches(*span)) {
            return relation(field, affects);
        }
        let others = [
            (TextPart::Metadata, Some(document.metadata_span)),
            (TextPart::Data, document.data_key),
            (TextPart::Data, Some(document.data.span)),
        ];
        let mut others = others.into_iter();
        let found = others.find(|(_, span)| touches(*span));
        Self::Other(found.map_or(TextPart::Document, |(field, _)| field))
    }
}

/// Combines the impact in all sites.
pub(crate) fn gather(place: &str, line: Option<usize>, sites: Vec<SiteImpact>) -> Impact {
    let (mut outputs, mut stops) = (BTreeMap::new(), BTreeMap::new());
    let mut impact = Impact {
        place: place.to_owned(),
        has_line: line.is_some(),
        texts: Vec::new(),
        outputs_reached: 0,
        deployed: DeployedCounts::default(),
        sites_reached: 0,
        outputs: Vec::new(),
        stops: Vec::new(),
        sites_reading: 0,
        sites: Vec::new(),
        more: false,
    };
    for site in sites {
        impact.sites_reading += usize::from(site.reads);
        impact.more |= site.more;
        for text in site.texts {
            if !impact.texts.contains(&text) {
                impact.texts.push(text);
            }
        }
        if !site.outputs.is_empty() {
            impact.sites_reached += 1;
        }
        let documents: BTreeSet<&DocKey> = site.outputs.keys().map(|(key, _)| key).collect();
        impact.outputs_reached += documents.len();
        impact.deployed += site.deployed;
        for ((key, route), places) in site.outputs {
            let of = outputs.entry((key, route, places)).or_insert_with(Vec::new);
            of.extend(site.site.clone());
        }
        for stop in site.stops {
            stops
                .entry(stop)
                .or_insert_with(Vec::new)
                .extend(site.site.clone());
        }
    }
    impact.outputs = outputs
        .into_iter()
        .map(|((document, route, places), sites)| ImpactOutput {
            document,
            places,
            route,
            sites,
        })
        .collect();
    impact.stops = stops
        .into_iter()
        .map(|((document, why, at), sites)| ImpactShield {
            document,
            why,
            at,
            sites,
        })
        .collect();
    impact
}
