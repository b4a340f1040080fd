//! `layercake query EXPRESSION`: values of rendered documents, and where they are written.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::compare::{self, Opened, SitesToRead};
use super::documents::DocumentGlobs;
use super::sides::{Environment, SideSelection};
use super::{Project, Selection, explain_since, globs, names};
use crate::ask::query::{SiteValues, ValueQuery, changed};
use crate::check::{
    Checked, Plan, RenderedSite, RunControl, Settings, TakenBySite, Work, compare_with,
    work_on_sites,
};
use crate::config::{Config, NamedQuery, QueryKind, QuerySource, built_in_queries};
use crate::error::Error;
use crate::near::help_for_unknown;
use crate::report::answer::impact::SiteName;
use crate::report::answer::query::QueryAnswer;
use crate::source::DocKey;
use crate::yaml::Query;

/// Request for values.
#[derive(Clone, Debug)]
pub struct QueryRequest {
    /// A JSONPath (RFC 9535), or the name of a query.
    pub expression: String,
    /// Filter for documents.
    pub documents: DocumentGlobs,
    /// Globs of the requested values; all if empty.
    pub values: Vec<String>,
}

/// Values of rendered documents.
#[derive(Debug)]
pub struct Queried {
    /// Sources and findings.
    pub checked: Checked<()>,
    /// The values.
    pub answer: QueryAnswer<'static>,
    /// Requested documents that could not be rendered, with their sites.
    pub missing: Vec<(Option<Arc<str>>, DocKey)>,
}

impl Queried {
    /// Whether everything that the request names was read and rendered.
    pub fn is_whole(&self) -> bool {
        let Checked {
            undefined, unread, ..
        } = &self.checked;
        self.missing.is_empty() && undefined.is_empty() && unread.is_empty()
    }
}

/// Names and descriptions of all queries.
///
/// # Errors
/// As [`run`].
pub fn list(selection: &Selection) -> Result<Vec<[Arc<str>; 2]>, Error> {
    let known = known(&Project::open_asked(selection)?.configured.config).into_values();
    Ok(known.map(|query| [query.name, query.description]).collect())
}

/// Values that the expression selects in the rendered documents of each site; if `wanted` names a base
/// side, only those that differ from it.
///
/// # Errors
/// If a step fails, the expression is invalid, or no document matches the request.
pub fn run(
    selection: &Selection,
    wanted: &SideSelection,
    request: &QueryRequest,
    control: &RunControl,
) -> Result<Queried, Error> {
    if wanted.since.is_none() {
        let project = Project::open_asked(selection)?;
        return of_project(&project, request, control, |plan, values| {
            work_on_sites(plan, Work::Render, |site| {
                (site.site.name.clone(), values(site))
            })
            .map(Checked::without_taken)
        });
    }
    let environment = Environment::default();
    let opened = compare::open(selection, wanted, &environment, SitesToRead::Reached)?;
    let Opened {
        chosen, project, ..
    } = opened.ok_or_else(explain_since::no_base)?;
    let queried = of_project(&project, request, control, |plan, values| {
        let taken = TakenBySite::new();
        let settings = Settings {
            work: Work::Render,
            ..Settings::default()
        };
        let compared = compare_with(plan, &settings, &|both| {
            let sides = [&both.base, &both.head];
            let sides = sides.map(|side| side.as_ref().map(values).unwrap_or_default());
            if let Some(site) = both.named() {
                taken.add(site, changed(sides));
            }
        })?;
        Ok((compared.checked, taken.into_sites().into_iter().collect()))
    })?;
    let base = explain_since::name(wanted, &chosen.from);
    Ok(Queried {
        answer: queried.answer.since(base),
        ..queried
    })
}

/// Values of sites, by name.
type OfSites = Vec<(Option<Arc<str>>, SiteValues)>;

/// Joins the values that `work` takes from all sites with the function for one site.
fn of_project(
    project: &Project,
    request: &QueryRequest,
    control: &RunControl,
    work: impl FnOnce(
        &Plan,
        &(dyn Fn(&RenderedSite<'_>) -> SiteValues + Sync),
    ) -> Result<(Checked<()>, OfSites), Error>,
) -> Result<Queried, Error> {
    let query = find(project, &request.expression)?;
    let plan = project.plan(control);
    let documents = request.documents.matcher()?;
    let globs = globs(&request.values)?;
    let values = ValueQuery::new(&query);
    let (checked, of_sites) = work(&plan, &|site| {
        let mut values = values.of(site, &|recipe| {
            let path = site.sources.path_of(recipe.span);
            documents.matches(&recipe.key) && plan.concerns(path)
        });
        values.rows.retain(|row| row.matches(globs.as_ref()));
        values
    })?;
    let mut rows = Vec::new();
    let mut missing = Vec::new();
    let mut asked = BTreeSet::new();
    for (site, values) in of_sites {
        asked.extend(values.asked);
        missing.extend(values.unmade.into_iter().map(|key| (site.clone(), key)));
        rows.push((site, values.rows));
    }
    // The documents of a site without a definition are unknown.
    if checked.undefined.is_empty() {
        let matched = request
            .documents
            .ensure_matched("rendered document", &asked);
        matched.map_err(|error| names::or_unread(error, &checked))?;
    }
    let sites = checked.sites.iter().map(|site| SiteName {
        name: site.name.clone(),
        site_type: site.site_type.clone(),
    });
    Ok(Queried {
        answer: QueryAnswer::new(query.name, query.kind, sites.collect(), rows),
        checked,
        missing,
    })
}

/// The query that an expression means: a path from the root, or a name.
fn find(project: &Project, expression: &str) -> Result<NamedQuery, Error> {
    if expression.starts_with('$') {
        let path = Query::parse(expression).map_err(|invalid| {
            let message = format!("invalid path `{expression}`: {invalid}");
            Error::usage(message)
        })?;
        return Ok(NamedQuery {
            name: expression.into(),
            description: "Values".into(),
            from: vec![QuerySource { schema: None, path }],
            kind: QueryKind::Any,
            columns: Vec::new(),
        });
    }
    let mut known = known(&project.configured.config);
    if let Some(found) = known.remove(expression) {
        return Ok(found);
    }
    let names: Vec<&str> = known.keys().map(|name| &**name).collect();
    let message = format!("no query is called `{expression}`");
    let help = help_for_unknown(expression, "queries", &names).unwrap_or_default();
    Err(Error::usage(message).with_help(format!("{help}; a JSONPath starts with `$`")))
}

/// The query for images.
pub(super) fn images(config: &Config) -> Option<NamedQuery> {
    known(config).remove("images")
}

/// The queries of the program and of the configuration, by name.
fn known(config: &Config) -> BTreeMap<Arc<str>, NamedQuery> {
    let own = config.queries.iter().cloned();
    let known = built_in_queries().into_iter().chain(own);
    known.map(|query| (query.name.clone(), query)).collect()
}
