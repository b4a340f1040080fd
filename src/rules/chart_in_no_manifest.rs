//! `chart-in-no-manifest`: a rendered chart that no action deploys.

use super::SiteFacts;
use crate::compare::Deployed;
use crate::deployment::is_chart;
use crate::diagnostic::Diagnostic;

super::rule!(
    "chart-in-no-manifest",
    Note [Strict, Everywhere],
    "rendered chart that no action deploys"
);

/// The charts that no manifest of the site's configuration leads to.
pub(super) fn found<'f>(facts: &'f SiteFacts<'_>) -> impl Iterator<Item = Diagnostic> + use<'f> {
    let charts = facts
        .graph
        .outputs()
        .filter(|(_, recipe)| is_chart(&recipe.key.schema));
    charts
        .filter(|(doc, recipe)| {
            facts.deployment().of_output(*doc, &recipe.key.schema) == Deployed::RenderedOnly
        })
        .map(|(doc, _)| {
            let document = facts.document(doc);
            let message = format!("no manifest deploys the chart `{}`", facts.name(doc));
            RULE.finding(message, document.name_span, "rendered, but never applied")
                .help("add it to a chart group, make it abstract, or remove it")
                .document(&document.key)
        })
}
