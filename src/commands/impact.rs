//! `layercake impact FILE[:LINE]`: outputs that a change of a file, or of one line, could affect.

use super::explain_value::{self, site_names};
use super::names::NamedValue;
use super::{Project, Selection, names, places};
use crate::ask::ValueQuestion;
use crate::ask::impact::{self, SiteImpact};
use crate::check::{Checked, RunControl, Workspace};
use crate::error::Error;
use crate::report::answer::impact::Impact;
use crate::source::{RepoPath, Span};

/// Outputs that the text at `FILE` or `FILE:LINE` could change.
///
/// # Errors
/// If a step fails, no site reads the file, or the line is not part of a document.
pub fn run(
    selection: &Selection,
    place: &str,
    control: &RunControl,
) -> Result<(Checked<()>, Impact), Error> {
    let (file, line) = super::file_and_line(place)?;
    let files = vec![file];
    let entered = places::entered(Selection {
        files,
        ..selection.clone()
    })?;
    let is_whole = entered.files.is_empty();
    let mut project = Project::open(&entered)?;
    // Findings are not needed, and the path may be a whole folder.
    let given = match &project.scope {
        super::ProjectScope::Repository(layout) if is_whole => vec![layout.root.clone()],
        super::ProjectScope::Repository(_) => project.take_only(),
        super::ProjectScope::Set(files) => files.clone(),
    };
    of_place(&project, &given, (place, line), control)
}

/// Outputs that the text could change which sets a value of a site's output; without a path, those
/// that the whole document could.
///
/// # Errors
/// As [`run`]; if the site, document or value does not exist.
pub fn of_value(
    selection: &Selection,
    named: NamedValue,
    control: &RunControl,
) -> Result<(Checked<()>, Impact), Error> {
    const FORM: &str = "layercake impact SITE SCHEMA NAME [PATH], or layercake impact FILE[:LINE]";
    let (checked, at) = match &named {
        NamedValue {
            site: Some(site),
            name: Some(name),
            path: None,
            ..
        } => {
            let (schema, name) = (named.schema.clone().unwrap_or_default(), name.clone());
            let question = ValueQuestion {
                schema,
                name,
                path: String::new(),
            };
            explain_value::document(selection, site, &question, control)?
        }
        NamedValue {
            site: Some(site),
            path: Some(_),
            ..
        } => {
            let site = site.clone();
            let question = named.question(FORM)?;
            let (checked, way) = explain_value::one(selection, &site, &question, control)?;
            match way.set_at {
                Some(at) => (checked, at),
                None => explain_value::document(selection, &site, &question, control)?,
            }
        }
        NamedValue { site, name, .. } => {
            let missing = [("SITE", site.is_none()), ("NAME", name.is_none())];
            return Err(names::missing_arguments(&missing, FORM, site.as_deref()));
        }
    };
    let at = checked.sources.written(at);
    let line = checked.sources.start(at).line.get() as usize - 1;
    let (given, place) = (
        checked.sources.path_of(at).clone(),
        names::file_and_line(&checked, at),
    );
    let project = Project::open(selection)?;
    of_place(&project, &[given], (&place, Some(line)), control)
}

/// Outputs that the text at a place in these files could change.
fn of_place(
    project: &Project,
    given: &[RepoPath],
    (place, line): (&str, Option<usize>),
    control: &RunControl,
) -> Result<(Checked<()>, Impact), Error> {
    let plan = project.plan(control);
    let mut workspace = Workspace::asking(plan, project.sites_reading(given))?;
    let impact = asked(project, &mut workspace, given, (place, line))?;
    let checked = workspace.close();
    let is_given = |at: &&Span| {
        let path = checked.sources.path_of(**at);
        given
            .iter()
            .any(|given| path == given || path.below(given).is_some())
    };
    let unread = checked.unread.iter().find(is_given);
    if let Some(at) = unread.filter(|_| line.is_none() || impact.texts.is_empty()) {
        return Err(names::unread(&names::file_and_line(&checked, *at)));
    }
    if impact.sites_reading == 0 {
        let message = format!("no site reads `{place}`");
        let help = "sites read YAML files below `global/`, `type/` and `site/`";
        return Err(Error::usage(message).with_help(help));
    }
    if impact.texts.is_empty() {
        let message = format!("no document at `{place}`");
        let help = "pass the file without a line for all of its documents";
        return Err(Error::usage(message).with_help(help));
    }
    Ok((checked, impact))
}

/// Outputs that the text at a place in these files could change, of a project whose files were read.
/// Without a site that reads them, or a document at the place, the answer is empty.
///
/// # Errors
/// If the run of the workspace's plan is cancelled.
pub(crate) fn asked(
    project: &Project,
    workspace: &mut Workspace,
    given: &[RepoPath],
    (place, line): (&str, Option<usize>),
) -> Result<Impact, Error> {
    let reading = project.sites_reading(given);
    let answers = workspace.ask(reading.as_ref(), |site| impact::answer(site, given, line))?;
    Ok(of_sites(workspace, (place, line), answers.into_values()))
}

/// Impact of a place in all sites, from those of each.
pub(crate) fn of_sites(
    workspace: &Workspace,
    (place, line): (&str, Option<usize>),
    sites: impl Iterator<Item = SiteImpact>,
) -> Impact {
    Impact {
        sites: site_names(workspace),
        ..impact::gather(place, line, sites.collect())
    }
}
