//! Why the texts on a line do not reach a value.

use super::line::Line;
use super::question::{self, ValueQuestion};
use super::route::{reached_step, route, stop_step};
use crate::check::{Answer, RenderedSite};
use crate::error::Error;
use crate::graph::DocId;
use crate::render::flow::{Why, flow, may_enter};
use crate::render::replay::Replay;
use crate::report::answer::provenance::{ReachState, TextTrace};
use crate::source::{RepoPath, Span};
use crate::yaml::path::Location;

/// Whether the texts on a 0-based line of the given files reach a value, and where they stop
/// otherwise; `place` is the line as given. The documents that it depends on are rendered before.
pub(crate) fn answer(
    site: &RenderedSite<'_>,
    question: &ValueQuestion,
    given: &[RepoPath],
    number: usize,
    place: &str,
) -> Answer<Result<Vec<TextTrace>, Error>> {
    let line = match Line::given(site, given, number, place) {
        Ok(line) => line,
        Err(error) => return Answer::Is(Err(error)),
    };
    Answer::after(needed(site, question, line), || {
        stopped(site, question, line, place)
    })
}

/// Documents that must be rendered to determine where the texts on a line stop.
fn needed(site: &RenderedSite<'_>, question: &ValueQuestion, line: Line) -> Vec<DocId> {
    let is_in_file = |span: Span| site.sources.written(span).file == line.file;
    let in_file = site
        .graph
        .iter()
        .filter(|(_, recipe)| is_in_file(recipe.span));
    let target = question::documents(site, question).unwrap_or_default();
    let documents = site.unrequested(in_file.map(|(doc, _)| doc).chain(target));
    if !documents.is_empty() {
        return documents;
    }
    let replay = Replay::new(site.graph, site.rendered);
    let entered = line
        .document(site)
        .map(|doc| may_enter(&replay, doc, &line.places(site, doc)));
    site.unrequested(entered.unwrap_or_default())
}

/// Flows of the texts on a line, as far as they lead towards a value.
fn stopped(
    site: &RenderedSite<'_>,
    question: &ValueQuestion,
    line: Line,
    place: &str,
) -> Result<Vec<TextTrace>, Error> {
    let wanted = WantedValue::of(site, question)?;
    let replay = Replay::new(site.graph, site.rendered);
    let texts = line.texts(site, place)?.into_iter();
    Ok(texts
        .map(|(doc, own)| trace_towards(site, &replay, doc, &own, &wanted))
        .collect())
}

/// A value that texts are followed to.
pub(crate) struct WantedValue {
    pub(crate) doc: DocId,
    pub(crate) place: Location,
}

impl WantedValue {
    /// The value that a question names.
    ///
    /// # Errors
    /// If the document does not exist, or the text is not a path.
    pub(crate) fn of(site: &RenderedSite<'_>, question: &ValueQuestion) -> Result<Self, Error> {
        let doc = question::document(site, question)?;
        let place = question::place(site.data(doc), &question.path)?;
        Ok(Self { doc, place })
    }

    /// Whether a place is that of the value, or is around or inside of it.
    fn meets(&self, doc: DocId, place: &Location) -> bool {
        doc == self.doc && (place.starts_with(&self.place) || self.place.starts_with(place))
    }
}

/// Flow of a text, as far as it leads towards a value.
pub(crate) fn trace_towards(
    site: &RenderedSite<'_>,
    replay: &Replay<'_>,
    doc: DocId,
    own: &Location,
    wanted: &WantedValue,
) -> TextTrace {
    let flow = flow(replay, doc, own);
    let recipe = site.graph.recipe(doc);
    let reached = flow
        .reached
        .iter()
        .position(|reached| wanted.meets(reached.doc, &reached.location));
    let stop = flow
        .stops
        .iter()
        .find(|stop| wanted.meets(stop.doc, &stop.location));
    let last = reached.or_else(|| stop.or(flow.stops.first()).and_then(|stop| stop.from));
    let route = last.map(|last| route(&flow, last)).unwrap_or_default();
    let stops = flow
        .stops
        .iter()
        .filter(|other| stop.is_none_or(|stop| stop == *other));
    let why = stops.clone().next().map_or(Why::Unused, |stop| stop.why);
    TextTrace {
        document: recipe.key.clone(),
        place: question::shown(&recipe.data, own.clone()).to_string(),
        at: own.get(&recipe.data).map_or(recipe.span, |node| node.span),
        route: route
            .into_iter()
            .map(|hop| reached_step(site, hop))
            .collect(),
        reach: match reached {
            Some(_) => ReachState::Reaches,
            None => ReachState::Stopped(why),
        },
        stops: stops.map(|stop| stop_step(site, stop)).collect(),
    }
}
