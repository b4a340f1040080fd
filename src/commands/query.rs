//! `layercake query EXPRESSION`: values of rendered documents, and where they are written.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use globset::GlobSet;

use super::compare::{self, Opened, SitesToRead};
use super::documents::{DocumentGlobs, DocumentMatcher};
use super::sides::{Environment, SideSelection};
use super::{Project, Selection, explain_since, globs, names};
use crate::ask::query::{SiteValues, ValueQuery, changed};
use crate::check::{
    BothSides, Checked, Plan, RenderedSite, RunControl, Settings, TakenBySite, Work, compare_with,
    work_on_sites,
};
use crate::config::{Config, NamedQuery, QueryKind, QuerySource, built_in_queries};
use crate::error::{Error, ErrorKind};
use crate::graph::Recipe;
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
    pub answer: QueryAnswer,
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

/// Values that the expression selects in the rendered documents of each site.
///
/// # Errors
/// If a step fails, the expression is invalid, or no document matches the request.
pub fn run(
    selection: &Selection,
    request: &QueryRequest,
    control: &RunControl,
) -> Result<Queried, Error> {
    let project = Project::open_asked(selection)?;
    let query = find(&project, &request.expression)?;
    let plan = project.plan(control);
    let filter = Filter::new(request, &plan)?;
    let values = ValueQuery::new(&query);
    let checked = work_on_sites(&plan, Work::Render, |site| {
        let values = values.of(site, &|recipe| filter.takes(recipe, site));
        (site.site.name.clone(), values)
    })?;
    let (checked, taken) = checked.without_taken();
    filter.answer(&query, checked, taken)
}

/// As [`run`], for values that differ from the base side that `wanted` names.
///
/// # Errors
/// As [`run`].
pub fn since(
    selection: &Selection,
    wanted: &SideSelection,
    request: &QueryRequest,
    control: &RunControl,
) -> Result<Queried, Error> {
    let environment = Environment::default();
    let opened = compare::open(selection, wanted, &environment, SitesToRead::Reached)?;
    let Some(Opened {
        chosen, project, ..
    }) = opened
    else {
        return Err(explain_since::no_base());
    };
    let query = find(&project, &request.expression)?;
    let plan = project.plan(control);
    let filter = Filter::new(request, &plan)?;
    let values = ValueQuery::new(&query);
    let taken = TakenBySite::new();
    let take = |both: &BothSides<'_>| {
        let of_side =
            |side: &RenderedSite<'_>| values.of(side, &|recipe| filter.takes(recipe, side));
        let [base, head] =
            [&both.base, &both.head].map(|side| side.as_ref().map(of_side).unwrap_or_default());
        if let Some(site) = both.named() {
            taken.add(site, changed(base, head));
        }
    };
    let settings = Settings {
        work: Work::Render,
        ..Settings::default()
    };
    let compared = compare_with(&plan, &settings, &take)?;
    let queried = filter.answer(&query, compared.checked, taken.into_sites())?;
    let base = explain_since::name(wanted, &chosen.from);
    Ok(Queried {
        answer: queried.answer.since(base),
        ..queried
    })
}

/// The query that an expression means: a path from the root, or a name.
fn find(project: &Project, expression: &str) -> Result<NamedQuery, Error> {
    if expression.starts_with('$') {
        let path = Query::parse(expression).map_err(|invalid| {
            let message = format!("invalid path `{expression}`: {invalid}");
            Error::new(ErrorKind::Usage, message)
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
    Err(Error::new(ErrorKind::Usage, message)
        .with_help(format!("{help}; a JSONPath starts with `$`")))
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

/// Documents and values that a request is limited to.
struct Filter<'r> {
    request: &'r QueryRequest,
    plan: &'r Plan,
    documents: DocumentMatcher,
    values: Option<GlobSet>,
}

impl<'r> Filter<'r> {
    fn new(request: &'r QueryRequest, plan: &'r Plan) -> Result<Self, Error> {
        Ok(Self {
            request,
            plan,
            documents: request.documents.matcher()?,
            values: globs(&request.values)?,
        })
    }

    fn takes(&self, recipe: &Recipe, site: &RenderedSite<'_>) -> bool {
        self.documents.matches(&recipe.key) && self.plan.concerns(site.sources.path_of(recipe.span))
    }

    /// Joins the values of all sites.
    fn answer(
        &self,
        query: &NamedQuery,
        checked: Checked<()>,
        taken: impl IntoIterator<Item = (Option<Arc<str>>, SiteValues)>,
    ) -> Result<Queried, Error> {
        let mut of_sites = Vec::new();
        let mut missing = Vec::new();
        let mut asked = BTreeSet::new();
        for (site, mut values) in taken {
            values.rows.retain(|row| row.matches(self.values.as_ref()));
            asked.extend(values.asked);
            missing.extend(values.unmade.into_iter().map(|key| (site.clone(), key)));
            of_sites.push((site, values.rows));
        }
        let sites = checked.sites.iter();
        let sites = sites.map(|site| SiteName {
            name: site.name.clone(),
            site_type: site.site_type.clone(),
        });
        let answer = QueryAnswer::new(query.name.clone(), query.kind, sites.collect(), of_sites);
        match self
            .request
            .documents
            .ensure_matched("rendered document", &asked)
        {
            // The documents of a site without a definition are unknown.
            Err(error) if checked.undefined.is_empty() => Err(names::or_unread(error, &checked)),
            Ok(()) | Err(_) => Ok(Queried {
                checked,
                answer,
                missing,
            }),
        }
    }
}
