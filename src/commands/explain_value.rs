//! `layercake explain-value SITE SCHEMA NAME PATH`: where a value comes from, what it overrides,
//! and where it could be changed.

use super::{Project, Selection, names};
use crate::ask::change_option::Candidate;
use crate::ask::{self, SET, ValueQuestion, change_option, value, why_not};
use crate::check::{Answer, Checked, NameAndType, RenderedSite, RunControl, SiteNames, Workspace};
use crate::error::{Error, ErrorKind};
use crate::report::answer::impact::SiteName;
use crate::report::answer::provenance::{ChangeScope, ExplainedValue, SiteValue, TextTrace};
use crate::source::Span;
use crate::yaml::Node;
use crate::yaml::path::Location;

/// Trace of a value in the site of this name, with the places where it could be changed.
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
    let asked = SiteNames::from([site.into()]);
    let mut workspace = Workspace::asking(project.plan(control), Some(asked))?;
    match with_changes(&project, &mut workspace, site, question) {
        Ok((way, _)) => Ok((workspace.close(), way)),
        Err(error) => Err(names::or_unread(error, &workspace.close())),
    }
}

/// Trace of a value in a site, and the documents that could set it.
fn with_changes(
    project: &Project,
    workspace: &mut Workspace,
    site: &str,
    question: &ValueQuestion,
) -> Result<(ExplainedValue, Vec<Candidate>), Error> {
    let (mut way, candidates) = ask_site(workspace, site, |at_hand| {
        value::answer(at_hand, question)
            .map(|way| Ok((way?, change_option::candidates(at_hand, question)?)))
    })?;
    let files = candidates
        .iter()
        .map(|candidate| workspace.path_of(candidate.document));
    let reading = project.sites_reading(files);
    workspace.read(reading.clone())?;
    let reaches = workspace.ask(reading.as_ref(), |site| {
        change_option::answer(site, &candidates)
    })?;
    way.changes = change_option::sorted(&way, &candidates, &site_names(workspace), &reaches);
    Ok((way, candidates))
}

/// A document that does not set a value, and could.
pub(crate) struct SettableDocument {
    /// Sites in which the value would change.
    pub(crate) scope: ChangeScope,
    /// Name and layer of the document.
    pub(crate) document: String,
    pub(crate) span: Span,
    /// Its own data.
    pub(crate) data: Node,
    pub(crate) place: Location,
    /// The value now.
    pub(crate) value: Node,
}

/// Documents that do not set a value of a site, and could, in a workspace that judges; none for a
/// secret, or if the site has no such value.
///
/// # Errors
/// If it is cancelled.
pub(crate) fn settable(
    project: &Project,
    workspace: &mut Workspace,
    site: &str,
    question: &ValueQuestion,
) -> Result<Vec<SettableDocument>, Error> {
    let (way, candidates) = match with_changes(project, workspace, site, question) {
        Err(error) if error.kind() == ErrorKind::Usage => return Ok(Vec::new()),
        answer => answer?,
    };
    let Some(value) = way.value.filter(|value| !value.holds_secret()) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for change in way.changes {
        let candidate = candidates
            .iter()
            .find(|candidate| candidate.sets_in(change.row));
        let Some(span) = candidate.map(|candidate| candidate.document) else {
            continue;
        };
        let documents = workspace.documents_of(span.file).iter();
        for document in documents.filter(|document| document.span == span) {
            found.push(SettableDocument {
                scope: change.scope.clone(),
                document: document.key.name_and_layer(),
                span,
                place: ask::place(&document.data, &way.place)?,
                data: document.data.clone(),
                value: value.clone(),
            });
        }
    }
    Ok(found)
}

/// Place of the document that a question names in a site.
pub(super) fn document(
    selection: &Selection,
    site: &str,
    question: &ValueQuestion,
    control: &RunControl,
) -> Result<(Checked<()>, Span), Error> {
    let project = Project::open(selection)?;
    let (workspace, at) = in_site(&project, site, control, |at_hand| {
        let document = ask::document(at_hand, question);
        Answer::Is(document.map(|doc| at_hand.graph.recipe(doc).span))
    })?;
    Ok((workspace.close(), at))
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
    let mut workspace = Workspace::asking(project.plan(control), None)?;
    let mut values = Vec::new();
    let mut first_error = None;
    for (site, answer) in workspace.ask(None, |site| value::answer(site, question))? {
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
        Error::usage(format!("missing line number in `{place}`"))
            .with_help("write it as FILE:LINE, e.g. `global/software/config/versions.yaml:12`")
    })?;
    let files = vec![file];
    let mut project = Project::open(&Selection {
        files,
        ..selection.clone()
    })?;
    let given = project.take_only();
    let (workspace, texts) = in_site(&project, site, control, |at_hand| {
        why_not::answer(at_hand, question, &given, number, place)
    })?;
    Ok((workspace.close(), texts))
}

/// The answer of the site of this name, with the workspace, which read only that site.
fn in_site<T: Send>(
    project: &Project,
    site: &str,
    control: &RunControl,
    answer: impl Fn(&RenderedSite<'_>) -> Answer<Result<T, Error>> + Sync,
) -> Result<(Workspace, T), Error> {
    let asked = SiteNames::from([site.into()]);
    let mut workspace = Workspace::asking(project.plan(control), Some(asked))?;
    match ask_site(&mut workspace, site, answer) {
        Ok(answer) => Ok((workspace, answer)),
        Err(error) => Err(names::or_unread(error, &workspace.close())),
    }
}

/// The answer of the site of this name.
fn ask_site<T: Send>(
    workspace: &mut Workspace,
    site: &str,
    answer: impl Fn(&RenderedSite<'_>) -> Answer<Result<T, Error>> + Sync,
) -> Result<T, Error> {
    let asked = SiteNames::from([site.into()]);
    let answers = workspace.ask(Some(&asked), |at_hand| {
        if ask::is_called(at_hand, site) {
            answer(at_hand).map(Some)
        } else {
            Answer::Is(None)
        }
    })?;
    let answer = answers.into_values().flatten().next();
    answer.unwrap_or_else(|| Err(no_site(&workspace.sites(), site)))
}

/// Sites of a workspace, as named in reports.
pub(super) fn site_names(workspace: &Workspace) -> Vec<SiteName> {
    let sites = workspace.sites().into_iter();
    sites
        .map(|(name, site_type)| SiteName { name, site_type })
        .collect()
}

pub(super) fn no_site(sites: &[NameAndType], site: &str) -> Error {
    let names = sites.iter().map(|(name, _)| name.as_deref());
    names::no_site(site, names.map(|name| name.unwrap_or(SET)))
}
