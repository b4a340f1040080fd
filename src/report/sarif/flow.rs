//! Routes to a finding as code flows, which viewers draw as a path from the edit to the finding.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::base::UriBases;
use super::log::{CodeFlow, SarifLocation, SarifMessage, ThreadFlow, ThreadFlowLocation};
use super::result::at_line;
use crate::compare::Via;
use crate::report::model::{
    Finding, Report, ReportedEdit, ReportedOutput, Route, RouteRef, RouteStep,
};

/// Maximum number of routes listed for one finding.
const MAX_ROUTES: usize = 10;

/// Maximum number of steps of a flow that code scanning services keep.
const MAX_STEPS: usize = 1_000;

/// Index of outputs by schema and name, and of routes by edit.
pub(super) struct FlowIndex<'a> {
    report: &'a Report,
    bases: &'a UriBases<'a>,
    outputs: BTreeMap<(&'a str, &'a str), Vec<&'a ReportedOutput>>,
    /// Effective routes by edit, longest first.
    routes: Vec<Vec<&'a Route>>,
}

impl<'a> FlowIndex<'a> {
    pub(super) fn of(report: &'a Report, bases: &'a UriBases<'a>) -> Self {
        let mut outputs: BTreeMap<_, Vec<&ReportedOutput>> = BTreeMap::new();
        let mut routes: Vec<BTreeSet<RouteRef>> = vec![BTreeSet::new(); report.edits.len()];
        for output in &report.outputs {
            let schema = &*output.document.schema;
            let name = &*output.document.name;
            outputs.entry((schema, name)).or_default().push(output);
            for cause in &output.causes {
                routes[cause.edit.index()].insert(cause.route);
            }
        }
        Self {
            report,
            bases,
            outputs,
            routes: routes
                .into_iter()
                .map(|names| {
                    let mut routes: Vec<&Route> = names
                        .into_iter()
                        .map(|name| name.of(&report.routes))
                        .collect();
                    routes.sort_by_key(|route| Reverse(route.steps.len()));
                    routes
                })
                .collect(),
        }
    }

    /// Returns the flows from the edits that caused a finding to its document; if the edit itself
    /// is faulty, the flows to what it reached.
    pub(super) fn to(&self, finding: &'a Finding) -> Vec<CodeFlow> {
        let mut flows = Vec::new();
        for edit in self.report.edits_with(&finding.caused_by) {
            let routes = if is_at(edit, finding) {
                self.routes[edit.id.index()].clone()
            } else {
                self.to_document(edit, finding)
            };
            flows.extend(
                routes
                    .into_iter()
                    .map(|route| flow(edit, route, finding, self.bases)),
            );
        }
        flows.truncate(MAX_ROUTES);
        flows
    }

    /// Returns the distinct routes from an edit to the document of a finding in its sites.
    fn to_document(&self, edit: &ReportedEdit, finding: &Finding) -> Vec<&'a Route> {
        let Some(document) = finding.documents.first() else {
            return Vec::new();
        };
        let outputs = self.outputs.get(&(&*document.schema, &*document.name));
        let sites = finding
            .sites
            .map(|set| &set.of(&self.report.site_sets).sites);
        let outputs = outputs.into_iter().flatten().filter(|output| {
            let of_output = &output.sites.of(&self.report.site_sets).sites;
            sites.is_none_or(|sites| {
                sites
                    .iter()
                    .any(|site| of_output.binary_search(site).is_ok())
            })
        });
        let causes = outputs
            .flat_map(|output| &output.causes)
            .filter(|it| it.edit == edit.id);
        let mut seen = BTreeSet::new();
        let names = causes
            .map(|cause| cause.route)
            .filter(|name| seen.insert(*name));
        names.map(|name| name.of(&self.report.routes)).collect()
    }
}

/// Whether the finding is at the edit itself.
fn is_at(edit: &ReportedEdit, finding: &Finding) -> bool {
    let primary = &finding.primary;
    let place = edit.at.head.as_ref();
    place.is_some_and(|place| place.file == primary.file && place.line == primary.line)
}

fn flow(edit: &ReportedEdit, route: &Route, finding: &Finding, bases: &UriBases<'_>) -> CodeFlow {
    let steps = route
        .steps
        .iter()
        .take(MAX_STEPS - 1)
        .filter_map(|it| step(it, bases));
    let primary = &finding.primary;
    let end = location(&primary.file, primary.line, &finding.message, bases);
    let name = &edit.document.name;
    CodeFlow {
        message: SarifMessage::new(&format!("from the edit of `{name}` to here")),
        thread_flows: [ThreadFlow {
            locations: steps.chain([end]).collect(),
        }],
    }
}

/// Converts a step of a route; `None` for a step without location.
fn step(step: &RouteStep, bases: &UriBases<'_>) -> Option<ThreadFlowLocation> {
    let place = step.at.first()?;
    let name = &step.document.name;
    let via = step.via.as_str();
    let words = match (step.via, &step.path) {
        (Via::Edited, Some(path)) => format!("edited: `{path}` of `{name}`"),
        (Via::Edited, None) => format!("edited: `{name}`"),
        (Via::Substituted | Via::Merged, _) => format!("{via} into `{name}`"),
        (Via::Inherited | Via::Replaced, _) => format!("{via} by `{name}`"),
        (Via::Retargeted | Via::Unparented | Via::Added | Via::Removed | Via::Policy, _) => {
            format!("{via}: `{name}`")
        }
    };
    Some(location(&place.file, place.line, &words, bases))
}

fn location(file: &str, line: usize, words: &str, bases: &UriBases<'_>) -> ThreadFlowLocation {
    ThreadFlowLocation {
        location: SarifLocation {
            physical_location: Some(at_line(file, line, bases)),
            message: Some(SarifMessage::new(words)),
            ..SarifLocation::default()
        },
    }
}
