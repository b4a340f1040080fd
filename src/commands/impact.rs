//! `layercake impact FILE[:LINE]`: what could change if a file, or one line of
//! it, did.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::provenance::{self, Line};
use super::{Selection, Workspace};
use crate::check::{Checked, Progress, RenderedSite, render_sites};
use crate::error::{Error, ErrorKind};
use crate::graph::DocId;
use crate::render::flow::{Flow, flow, flow_of_document};
use crate::render::replay::Replay;
use crate::report::impact::{Impact, ImpactOutput, ImpactStop, ImpactText};
use crate::source::{DocKey, RepoPath, Span};
use crate::system::deckhand::document::Document;

/// What the text at `FILE` or `FILE:LINE` could change.
///
/// # Errors
/// Where the work cannot be done, no site reads the file, or nothing of a
/// document stands on the line.
pub fn run(
    selection: &Selection,
    place: &str,
    progress: &Progress,
) -> Result<(Checked<()>, Impact), Error> {
    let (file, line) = super::file_and_line(place)?;
    let files = vec![file];
    let mut workspace = Workspace::open(&Selection { files, ..selection.clone() })?;
    // The findings are not asked for, and the file may be a whole folder.
    let given = match &workspace.scope {
        super::WorkspaceScope::Repository(_) => std::mem::take(&mut workspace.only),
        super::WorkspaceScope::Set(files) => files.clone(),
    };
    let plan = workspace.plan(progress);
    let checked = render_sites(&plan, None, |site| of_site(site, &given, line))?;
    let (checked, sites) = checked.without_taken();
    let impact = gather(place, line, sites);
    if impact.sites_reading == 0 {
        return Err(Error::new(ErrorKind::Usage, format!("no site reads `{place}`")));
    }
    if impact.texts.is_empty() {
        let message = format!("nothing of a document stands at `{place}`");
        return Err(Error::new(ErrorKind::Usage, message));
    }
    Ok((checked, impact))
}

/// What one site says.
#[derive(Default)]
struct SiteImpact {
    site: Option<Arc<str>>,
    reads: bool,
    texts: Vec<ImpactText>,
    /// The places, by output and route.
    outputs: BTreeMap<(DocKey, Vec<String>), Vec<String>>,
    stops: BTreeSet<(DocKey, &'static str, Span)>,
    more: bool,
}

fn of_site(site: &RenderedSite<'_>, given: &[RepoPath], line: Option<usize>) -> SiteImpact {
    let mut impact = SiteImpact { site: site.site.name.clone(), ..SiteImpact::default() };
    let replay = Replay::new(site.graph, site.rendered);
    for (doc, recipe) in site.graph.iter() {
        let path = site.sources.path_of(recipe.span);
        if !given.iter().any(|given| path == given || path.below(given).is_some()) {
            continue;
        }
        impact.reads = true;
        match line {
            None => impact.add_whole(site, &replay, doc, "the whole document"),
            Some(number) => {
                let line = Line { file: site.sources.written(recipe.span).file, number };
                if line.document(site) == Some(doc) {
                    impact.add_line(site, &replay, doc, line);
                }
            }
        }
    }
    impact
}

impl SiteImpact {
    /// A line of a document: the values on it, or what it steers.
    fn add_line(&mut self, site: &RenderedSite<'_>, replay: &Replay<'_>, doc: DocId, line: Line) {
        let places = line.places(site, doc);
        let only_steers = places.len() < 2 && line.says_how_to_merge(site, doc);
        if places.is_empty() || only_steers {
            let field = match site.sets.member(doc) {
                None => steered_by(line, site.site.document(doc), site),
                Some(_) => Some("what says how it is merged"),
            };
            if let Some(field) = field {
                self.add_whole(site, replay, doc, field);
            }
            return;
        }
        let recipe = site.graph.recipe(doc);
        for place in places {
            let what = provenance::shown(&recipe.data, place.clone()).to_string();
            let text = ImpactText { document: recipe.key.clone(), what, is_value: true };
            if !self.texts.iter().any(|known| known.what == text.what) {
                self.texts.push(text);
            }
            self.add_flow(site, &flow(replay, doc, &place), true);
        }
    }

    fn add_whole(&mut self, site: &RenderedSite<'_>, replay: &Replay<'_>, doc: DocId, field: &str) {
        let document = site.graph.recipe(doc).key.clone();
        self.texts.push(ImpactText { document, what: field.to_owned(), is_value: false });
        self.add_flow(site, &flow_of_document(replay, doc), false);
    }

    fn add_flow(&mut self, site: &RenderedSite<'_>, flow: &Flow, has_places: bool) {
        self.more |= flow.more;
        for (index, reached) in flow.reached.iter().enumerate() {
            let recipe = site.graph.recipe(reached.doc);
            if !recipe.emit {
                continue;
            }
            let hop = |at: &crate::render::flow::Reached| {
                let key = &site.graph.recipe(at.doc).key;
                format!("{} {}", provenance::hop_text(at.via), key.name_and_layer())
            };
            let route = provenance::route(flow, index).into_iter().skip(1).map(hop).collect();
            let places = self.outputs.entry((recipe.key.clone(), route)).or_default();
            let place = provenance::place_text(site, reached);
            if has_places && !places.contains(&place) {
                places.push(place);
            }
        }
        self.stops.extend(flow.stops.iter().map(|stop| {
            let key = site.graph.recipe(stop.doc).key.clone();
            (key, provenance::stop_text(stop.why), stop.by)
        }));
    }
}

/// The field of a document that stands on a line without a value of its data;
/// none where the line says nothing.
fn steered_by(line: Line, document: &Document, site: &RenderedSite<'_>) -> Option<&'static str> {
    let fields = [
        ("its parentSelector", document.parent_selector.as_ref().map(|it| it.span)),
        ("its replacement", document.replacement),
        ("its layer", document.layer.as_ref().map(|layer| layer.span)),
        ("its name", Some(document.name_span)),
        ("its schema", Some(document.schema_span)),
    ];
    let actions = document.actions().iter().map(|it| ("an action", Some(it.at)));
    let entries = document.substitutions().map(|it| ("a substitution", Some(it.span)));
    let labels = document.labels.iter();
    let labels = labels.map(|(key, node)| ("a label", Some(key.span.to(node.span))));
    let mut known = actions.chain(entries).chain(labels).chain(fields);
    let found = known.find(|(_, span)| span.is_some_and(|span| line.touches(span, site)));
    let rest = [("its metadata", document.metadata_span), ("its data", document.data.span)];
    let rest = rest.into_iter().find(|(_, span)| line.touches(*span, site));
    found.map(|(field, _)| field).or(rest.map(|(field, _)| field))
}

/// What all sites say, as one.
fn gather(place: &str, line: Option<usize>, sites: Vec<SiteImpact>) -> Impact {
    let (mut outputs, mut stops) = (BTreeMap::new(), BTreeMap::new());
    let mut impact = Impact {
        place: place.to_owned(),
        has_line: line.is_some(),
        sites: sites.len(),
        ..Impact::default()
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
        for ((key, route), places) in site.outputs {
            let of = outputs.entry((key, route, places)).or_insert_with(Vec::new);
            of.extend(site.site.clone());
        }
        for stop in site.stops {
            stops.entry(stop).or_insert_with(Vec::new).extend(site.site.clone());
        }
    }
    impact.outputs = outputs
        .into_iter()
        .map(|((document, route, places), sites)| ImpactOutput { document, places, route, sites })
        .collect();
    impact.stops = stops
        .into_iter()
        .map(|((document, why, at), sites)| ImpactStop { document, why, at, sites })
        .collect();
    impact
}
