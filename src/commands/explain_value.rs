//! `layercake explain-value SITE SCHEMA NAME PATH`: where a value comes from, what it overrides,
//! and where it could be changed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::provenance::{self, Line, ValueQuestion};
use super::{Project, Selection, names};
use crate::check::{Answer, Checked, NameAndType, RenderedSite, RunControl, SiteNames, Workspace};
use crate::error::{Error, ErrorKind};
use crate::graph::{DocId, Op};
use crate::merge::deckhand::Method;
use crate::render::flow::{Why, flow, may_enter};
use crate::render::replay::{Hop, Replay, Via};
use crate::report::answer::impact::SiteName;
use crate::report::answer::provenance::{
    ChangeOption, ChangeScope, ExplainedValue, ReachState, SiteValue, TextReach, TextTrace,
};
use crate::source::{RepoPath, Span};
use crate::yaml::Node;
use crate::yaml::path::{Location, Path, children};

/// Site name for a set of files without layout.
pub(super) const SET: &str = "-";

/// Trace of a value in the site of this name.
///
/// # Errors
/// If a step fails, or the site, document or value does not exist.
pub fn one(
    selection: &Selection,
    site: &str,
    question: &ValueQuestion,
    control: &RunControl,
) -> Result<(Checked<()>, ExplainedValue), Error> {
    let project = Project::open(selection)?;
    let plan = project.plan(control);
    let asked = SiteNames::from([site.into()]);
    let mut workspace = Workspace::asking(plan, Some(asked.clone()))?;
    let answers = workspace.ask(Some(&asked), |at_hand| {
        if !is_called(at_hand, site) {
            return Answer::Is(None);
        }
        let needed = at_hand.unrequested(meant(at_hand, question));
        if !needed.is_empty() {
            return Answer::Needs(needed);
        }
        let way = provenance::way(at_hand, question);
        Answer::Is(Some(
            way.and_then(|way| Ok((way, candidates(at_hand, question)?))),
        ))
    })?;
    let answer = answers.into_values().find_map(|answer| answer);
    let answer = answer.unwrap_or_else(|| Err(no_site(&workspace.sites(), site)));
    let (mut way, candidates) = match answer {
        Ok(answer) => answer,
        Err(error) => return Err(names::or_unread(error, &workspace.close())),
    };
    let files = candidates
        .iter()
        .map(|candidate| workspace.path_of(candidate.document));
    let reading = project.sites_reading(files);
    workspace.read(reading.clone())?;
    let reaches = workspace.ask(reading.as_ref(), |site| reaches(site, &candidates))?;
    way.changes = changes(&way, &candidates, &site_names(&workspace), &reaches);
    Ok((workspace.close(), way))
}

/// Place of the document that a question names in a site.
pub(super) fn document(
    selection: &Selection,
    site: &str,
    question: &ValueQuestion,
    control: &RunControl,
) -> Result<(Checked<()>, Span), Error> {
    let project = Project::open(selection)?;
    let plan = project.plan(control);
    let asked = SiteNames::from([site.into()]);
    let mut workspace = Workspace::asking(plan, Some(asked.clone()))?;
    let answers = workspace.ask(Some(&asked), |at_hand| {
        let document = || provenance::document(at_hand, question);
        let is_it = is_called(at_hand, site);
        Answer::Is(is_it.then(|| document().map(|doc| at_hand.graph.recipe(doc).span)))
    })?;
    let answer = answers.into_values().flatten().next();
    match answer.unwrap_or_else(|| Err(no_site(&workspace.sites(), site))) {
        Ok(at) => Ok((workspace.close(), at)),
        Err(error) => Err(names::or_unread(error, &workspace.close())),
    }
}

/// Traces of a value in all sites.
///
/// # Errors
/// As [`one`]; if no site has such a document.
pub fn all(
    selection: &Selection,
    question: &ValueQuestion,
    control: &RunControl,
) -> Result<(Checked<()>, Vec<SiteValue>), Error> {
    let project = Project::open(selection)?;
    let way = |at_hand: &RenderedSite<'_>| {
        let needed = at_hand.unrequested(meant(at_hand, question));
        if !needed.is_empty() {
            return Answer::Needs(needed);
        }
        Answer::Is(provenance::way(at_hand, question))
    };
    let plan = project.plan(control);
    let mut workspace = Workspace::asking(plan, None)?;
    let (mut values, mut first_error) = (Vec::new(), None);
    for (site, answer) in workspace.ask(None, way)? {
        let way = answer
            .map_err(|error| first_error.get_or_insert(error).kind())
            .ok();
        values.push(SiteValue { site, way });
    }
    match first_error {
        Some(error) if values.iter().all(|value| value.way.is_none()) => {
            Err(names::or_unread(error, &workspace.close()))
        }
        Some(_) | None => Ok((workspace.close(), values)),
    }
}

/// Whether the texts at `FILE:LINE` reach a value of a site, and where they stop otherwise.
///
/// # Errors
/// As [`one`]; if the line has no value.
pub fn why_not(
    selection: &Selection,
    site: &str,
    question: &ValueQuestion,
    place: &str,
    control: &RunControl,
) -> Result<(Checked<()>, Vec<TextTrace>), Error> {
    let (file, line) = super::file_and_line(place)?;
    let number = line.ok_or_else(|| {
        Error::new(
            ErrorKind::Usage,
            format!("missing line number in `{place}`"),
        )
        .with_help("write it as FILE:LINE, e.g. `global/software/config/versions.yaml:12`")
    })?;
    let files = vec![file];
    let mut project = Project::open(&Selection {
        files,
        ..selection.clone()
    })?;
    let given = project.take_only();
    let plan = project.plan(control);
    let asked = |at_hand: &RenderedSite<'_>| {
        if !is_called(at_hand, site) {
            return Answer::Is(None);
        }
        let line = match line_of(at_hand, &given, number, place) {
            Ok(line) => line,
            Err(error) => return Answer::Is(Some(Err(error))),
        };
        match needed_on_line(at_hand, question, line) {
            docs if docs.is_empty() => Answer::Is(Some(stopped(at_hand, question, line, place))),
            docs => Answer::Needs(docs),
        }
    };
    let only = SiteNames::from([site.into()]);
    let mut workspace = Workspace::asking(plan, Some(only.clone()))?;
    let answer = workspace
        .ask(Some(&only), asked)?
        .into_values()
        .find_map(|answer| answer);
    match answer.unwrap_or_else(|| Err(no_site(&workspace.sites(), site))) {
        Ok(texts) => Ok((workspace.close(), texts)),
        Err(error) => Err(names::or_unread(error, &workspace.close())),
    }
}

/// Documents that the question may mean.
fn meant(site: &RenderedSite<'_>, question: &ValueQuestion) -> Vec<DocId> {
    provenance::documents(site, question).unwrap_or_default()
}

pub(super) fn is_called(at_hand: &RenderedSite<'_>, site: &str) -> bool {
    at_hand.site.name.as_deref().unwrap_or(SET) == site
}

/// Sites of a workspace, as named in reports.
pub(super) fn site_names(workspace: &Workspace) -> Vec<SiteName> {
    let sites = workspace.sites().into_iter();
    sites
        .map(|(name, site_type)| SiteName { name, site_type })
        .collect()
}

pub(super) fn no_site(sites: &[NameAndType], site: &str) -> Error {
    names::no_site(
        site,
        sites.iter().map(|(name, _)| name.as_deref().unwrap_or(SET)),
    )
}

/// A document on the route of a value that could set it.
struct Candidate {
    /// 1-based number of its row.
    row: usize,
    document: Span,
    /// Text that sets it there now.
    literal: Option<Span>,
}

/// Documents on the route that could set the value: those whose text wrote it, and those that
/// inherit it and merge their own data over the place, before or after a substitution.
fn candidates(site: &RenderedSite<'_>, question: &ValueQuestion) -> Result<Vec<Candidate>, Error> {
    let doc = provenance::document(site, question)?;
    let replay = Replay::new(site.graph, site.rendered);
    let data = site
        .rendered
        .data(doc)
        .unwrap_or(&site.graph.recipe(doc).data);
    let hop = replay.trace_with_losers(doc, &provenance::place(data, &question.path)?);
    let rows = provenance::rows(site, &hop);
    let row_of = |doc: DocId, literal: Option<Span>| {
        let key = &site.graph.recipe(doc).key;
        let at = |row: usize| literal.is_none_or(|span| rows[row].at.contains(&span));
        (0..rows.len())
            .rev()
            .find(|row| rows[*row].document == *key && at(*row))
    };
    let mut candidates = Vec::new();
    let mut add = |doc: DocId, literal: Option<Span>| {
        let document = site.graph.recipe(doc).span;
        let row = row_of(doc, literal);
        candidates.extend(row.map(|row| Candidate {
            row: row + 1,
            document,
            literal,
        }));
    };
    let mut here = &hop;
    loop {
        // Writing to inherited data is another kind of hop.
        let is_inherited = matches!(here.via, Via::Inherited | Via::Replaced);
        if is_inherited && is_covered(site, here) {
            add(here.doc, None);
        }
        match here.from.last() {
            Some(from) => here = from,
            None => break,
        }
    }
    if here.via == Via::Literal {
        add(here.doc, here.value.as_ref().map(|node| node.span));
    }
    Ok(candidates)
}

/// Whether the document's own data at the place would be merged over inherited data.
fn is_covered(site: &RenderedSite<'_>, hop: &Hop) -> bool {
    let recipe = site.graph.recipe(hop.doc);
    recipe.steps.iter().any(|step| match &step.op {
        Op::Merge {
            method: Method::Merge | Method::Replace,
            path,
        } => {
            let path = path.value.effective(Method::Merge, site.graph.semantics);
            path.is_some_and(|path| leads_around(path, &hop.location))
        }
        Op::Merge {
            method: Method::Delete,
            ..
        }
        | Op::Substitute(_)
        | Op::Combine(_) => false,
    })
}

fn leads_around(path: &Path, place: &Location) -> bool {
    let Some(segments) = path.segments() else {
        return false;
    };
    let around = Location(place.0.iter().take(segments.len()).cloned().collect());
    segments.is_empty()
        || Path::parse(&around.to_string()).is_ok_and(|it| it.segments() == path.segments())
}

/// Result of one site for the candidates: whether it reads their documents, and how many of its
/// outputs their texts reach.
fn reaches(site: &RenderedSite<'_>, candidates: &[Candidate]) -> Answer<Vec<(bool, usize)>> {
    let replay = Replay::new(site.graph, site.rendered);
    let (mut reaches, mut needed) = (Vec::new(), Vec::new());
    for candidate in candidates {
        let mut documents = site.graph.iter();
        // All sites share a file that they read, and with it its spans.
        let found = documents.find(|(_, it)| candidate.document == it.span);
        let literal = found.zip(candidate.literal);
        let Some(((doc, recipe), literal)) = literal else {
            reaches.push((found.is_some(), 0));
            continue;
        };
        // An anchored text is at several places.
        let mut places = Vec::new();
        add_places_of(literal, &recipe.data, &mut Location::root(), &mut places);
        let unrequested = site.unrequested(may_enter(&replay, doc, &places));
        if unrequested.is_empty() {
            let flows = places.iter().map(|place| flow(&replay, doc, place));
            let reached = flows
                .flat_map(|flow| flow.reached)
                .map(|reached| reached.doc);
            let outputs: BTreeSet<DocId> =
                reached.filter(|doc| site.graph.recipe(*doc).emit).collect();
            reaches.push((true, outputs.len()));
        }
        needed.extend(unrequested);
    }
    if needed.is_empty() {
        Answer::Is(reaches)
    } else {
        Answer::Needs(needed)
    }
}

/// Adds the places in `node`, which is at `here`, of the values that are written at `text`.
fn add_places_of(text: Span, node: &Node, here: &mut Location, places: &mut Vec<Location>) {
    if text == node.span {
        places.push(here.clone());
    }
    for (piece, child) in children(node) {
        here.0.push(piece);
        add_places_of(text, child, here, places);
        here.0.pop();
    }
}

/// Places to change the value, from the fewest affected sites to the most; for documents read by
/// the same sites, the one closest to the value first.
fn changes(
    way: &ExplainedValue,
    candidates: &[Candidate],
    sites: &[SiteName],
    reaches: &BTreeMap<Option<Arc<str>>, Vec<(bool, usize)>>,
) -> Vec<ChangeOption> {
    let mut changes: Vec<ChangeOption> = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        let of = |site: usize| {
            reaches
                .get(&sites[site].name)
                .map_or((false, 0), |it| it[index])
        };
        let reading: Vec<usize> = (0..sites.len()).filter(|site| of(*site).0).collect();
        let name = |site: &usize| sites[*site].name.clone();
        let reach = candidate.literal.map(|_| TextReach {
            outputs: reading.iter().map(|site| of(*site).1).sum(),
            sites: reading
                .iter()
                .filter(|site| of(**site).1 > 0)
                .filter_map(name)
                .collect(),
            shielded: reading
                .iter()
                .filter(|site| of(**site).1 == 0)
                .filter_map(name)
                .collect(),
        });
        let change = ChangeOption {
            scope: scope(way, sites, &reading),
            row: candidate.row,
            sites: reading.iter().filter_map(name).collect(),
            reach,
        };
        changes.push(change);
    }
    changes.sort_by_key(|change| (change.sites.len(), Reverse(change.row)));
    changes
}

fn scope(way: &ExplainedValue, sites: &[SiteName], reading: &[usize]) -> ChangeScope {
    let Some(asked) = &way.site else {
        return ChangeScope::Set;
    };
    let of_type = |wanted: &Option<Arc<str>>| -> Vec<usize> {
        (0..sites.len())
            .filter(|site| sites[*site].site_type == *wanted)
            .collect()
    };
    let own = sites.iter().find(|site| site.name.as_ref() == Some(asked));
    match (reading.len(), own.and_then(|own| own.site_type.clone())) {
        (0 | 1, _) => ChangeScope::Site(asked.clone()),
        (count, _) if count == sites.len() => ChangeScope::All,
        (_, Some(site_type)) if of_type(&Some(site_type.clone())) == reading => {
            ChangeScope::Type(site_type)
        }
        (count, _) => ChangeScope::Some(count),
    }
}

/// A line of a given file that a site reads.
pub(super) fn line_of(
    site: &RenderedSite<'_>,
    given: &[RepoPath],
    number: usize,
    place: &str,
) -> Result<Line, Error> {
    let file = site
        .graph
        .recipes
        .iter()
        .map(|recipe| site.sources.written(recipe.span).file);
    let file = file
        .into_iter()
        .find(|file| given.contains(site.sources.get(*file).path()));
    let file = file.ok_or_else(|| {
        let name = site.site.name.as_deref().unwrap_or(SET);
        Error::new(
            ErrorKind::Usage,
            format!("site `{name}` does not read the file of `{place}`"),
        )
    })?;
    Ok(Line { file, number })
}

/// Documents that must be rendered to determine where the texts on a line stop.
fn needed_on_line(site: &RenderedSite<'_>, question: &ValueQuestion, line: Line) -> Vec<DocId> {
    let is_in_file = |span: Span| site.sources.written(span).file == line.file;
    let in_file = site
        .graph
        .iter()
        .filter(|(_, recipe)| is_in_file(recipe.span));
    let target = meant(site, question);
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
    let target = provenance::document(site, question)?;
    let data = site
        .rendered
        .data(target)
        .unwrap_or(&site.graph.recipe(target).data);
    let wanted = provenance::place(data, &question.path)?;
    let replay = Replay::new(site.graph, site.rendered);
    let doc = line.document(site);
    let places = doc.map(|doc| line.places(site, doc)).unwrap_or_default();
    let texts = doc
        .into_iter()
        .flat_map(|doc| places.iter().map(move |place| (doc, place)));
    let texts: Vec<TextTrace> = texts
        .map(|(doc, own)| stopped_text(site, &replay, doc, own, (target, &wanted)))
        .collect();
    if texts.is_empty() {
        let message = format!("no value of a document at `{place}`");
        return Err(Error::new(ErrorKind::Usage, message));
    }
    Ok(texts)
}

/// Flow of a text, as far as it leads towards a value.
pub(super) fn stopped_text(
    site: &RenderedSite<'_>,
    replay: &Replay<'_>,
    doc: DocId,
    own: &Location,
    (target, wanted): (DocId, &Location),
) -> TextTrace {
    let flow = flow(replay, doc, own);
    let recipe = site.graph.recipe(doc);
    let is_wanted = |doc: DocId, place: &Location| {
        doc == target && (place.starts_with(wanted) || wanted.starts_with(place))
    };
    let reached = flow
        .reached
        .iter()
        .position(|it| is_wanted(it.doc, &it.location));
    let stop = flow
        .stops
        .iter()
        .find(|stop| is_wanted(stop.doc, &stop.location));
    let last = reached.or_else(|| stop.or(flow.stops.first()).and_then(|stop| stop.from));
    let route = last
        .map(|last| provenance::route(&flow, last))
        .unwrap_or_default();
    let stops = flow
        .stops
        .iter()
        .filter(|other| stop.is_none_or(|stop| stop == *other));
    let why = stops.clone().next().map_or(Why::Unused, |stop| stop.why);
    TextTrace {
        document: recipe.key.clone(),
        place: provenance::shown(&recipe.data, own.clone()).to_string(),
        at: own.get(&recipe.data).map_or(recipe.span, |node| node.span),
        route: route
            .into_iter()
            .map(|hop| provenance::reached_row(site, hop))
            .collect(),
        reach: match reached {
            Some(_) => ReachState::Reaches,
            None => ReachState::Stopped(why),
        },
        stops: stops.map(|stop| provenance::stop_row(site, stop)).collect(),
    }
}
