//! The routes that led to a finding, as code flows: a viewer draws them as a
//! path from the edit to where the finding is.

use std::collections::{BTreeMap, BTreeSet};

use super::log::{CodeFlow, Location, Message, ThreadFlow, ThreadFlowLocation};
use super::result::at_line;
use crate::report::json::{EditForm, Finding, OutputForm, Report, RouteForm, StepForm};

/// So many routes of one finding are drawn.
const MOST_ROUTES: usize = 10;

/// So many steps of a flow are kept by a code scanning service.
const MOST_STEPS: usize = 1_000;

/// The outputs of a report by what they are called, and the routes of each
/// edit.
pub(super) struct Flows<'a> {
    report: &'a Report,
    outputs: BTreeMap<(&'a str, &'a str), Vec<&'a OutputForm>>,
    /// By edit, the routes by which it changed something, longest first.
    routes: BTreeMap<&'a str, Vec<&'a RouteForm>>,
}

impl<'a> Flows<'a> {
    pub(super) fn of(report: &'a Report) -> Self {
        let mut outputs: BTreeMap<_, Vec<&OutputForm>> = BTreeMap::new();
        let mut routes: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for output in &report.outputs {
            outputs.entry((&*output.schema, &*output.name)).or_default().push(output);
            for cause in &output.causes {
                routes.entry(&cause.edit).or_default().insert(&cause.route);
            }
        }
        let of_names = |(edit, names): (&'a str, BTreeSet<&'a str>)| {
            let mut routes: Vec<&RouteForm> =
                names.into_iter().filter_map(|name| report.route(name)).collect();
            routes.sort_by_key(|route| std::cmp::Reverse(route.steps.len()));
            (edit, routes)
        };
        Self { report, outputs, routes: routes.into_iter().map(of_names).collect() }
    }

    /// The ways from the edits that caused a finding to its document; from an
    /// edit that is itself what is wrong, to what it reached.
    pub(super) fn to(&self, finding: &'a Finding) -> Vec<CodeFlow> {
        let mut flows = Vec::new();
        for edit in finding.caused_by.iter().filter_map(|id| self.report.edit(id)) {
            let routes = if is_at(edit, finding) {
                self.routes.get(&*edit.id).cloned().unwrap_or_default()
            } else {
                self.to_document(edit, finding)
            };
            flows.extend(routes.into_iter().map(|route| flow(edit, route, finding)));
        }
        flows.truncate(MOST_ROUTES);
        flows
    }

    /// The routes, each once, by which an edit came to the document of a
    /// finding in its sites.
    fn to_document(&self, edit: &EditForm, finding: &Finding) -> Vec<&'a RouteForm> {
        let Some(document) = finding.documents.first() else { return Vec::new() };
        let outputs = self.outputs.get(&(&*document.schema, &*document.name));
        let is_in_site = |output: &&&OutputForm| match &output.site {
            Some(site) => finding.sites.is_empty() || finding.sites.contains(site),
            None => true,
        };
        let outputs = outputs.into_iter().flatten().filter(is_in_site);
        let causes = outputs.flat_map(|output| &output.causes).filter(|it| it.edit == edit.id);
        let mut met = BTreeSet::new();
        let names = causes.map(|cause| &*cause.route).filter(|name| met.insert(*name));
        names.filter_map(|name| self.report.route(name)).collect()
    }
}

/// Whether it is the edit itself that is wrong.
fn is_at(edit: &EditForm, finding: &Finding) -> bool {
    let primary = &finding.primary;
    let place = edit.at.to.as_ref();
    place.is_some_and(|place| place.file == primary.file && place.line == primary.line)
}

fn flow(edit: &EditForm, route: &RouteForm, finding: &Finding) -> CodeFlow {
    let steps = route.steps.iter().take(MOST_STEPS - 1).filter_map(step);
    let primary = &finding.primary;
    let end = location(&primary.file, primary.line, &finding.message);
    let name = &edit.document.name;
    CodeFlow {
        message: Message::new(&format!("from the edit of `{name}` to here")),
        thread_flows: [ThreadFlow { locations: steps.chain([end]).collect() }],
    }
}

/// A step of a route; none where no line carried it.
fn step(step: &StepForm) -> Option<ThreadFlowLocation> {
    let (file, line) = (step.file.as_deref()?, step.line?);
    let name = &step.document.name;
    let words = match (&*step.via, &step.pointer) {
        ("edited", Some(pointer)) => format!("edited: `{pointer}` of `{name}`"),
        ("edited", None) => format!("edited: `{name}`"),
        (via @ ("substituted" | "merged"), _) => format!("{via} into `{name}`"),
        (via @ ("inherited" | "replaced"), _) => format!("{via} by `{name}`"),
        (via, _) => format!("{via}: `{name}`"),
    };
    Some(location(file, line, &words))
}

fn location(file: &str, line: usize, words: &str) -> ThreadFlowLocation {
    ThreadFlowLocation {
        location: Location {
            physical_location: Some(at_line(file, line)),
            message: Some(Message::new(words)),
            ..Location::default()
        },
    }
}
