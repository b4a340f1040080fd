//! `node-in-no-group`: a node that no group of the site's deployment strategy selects.

use super::SiteFacts;
use crate::deployment::{Nodes, configuration};
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;

super::rule!(
    "node-in-no-group",
    Warning,
    "node that no group of the site's deployment strategy selects";
    Site(check)
);

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let strategy = configuration(facts.graph)
        .and_then(|doc| facts.rendered.data(doc))
        .and_then(|data| data.get("physical_provisioner")?.get("deployment_strategy"))
        .and_then(|name| name.as_str());
    let Some(strategy) = strategy else {
        return;
    };
    let nodes = Nodes::of(facts.graph, facts.rendered);
    let left = nodes.in_no_group(strategy);
    found.extend(left.into_iter().map(|node| report(facts, node, strategy)));
}

fn report(facts: &SiteFacts<'_>, node: DocId, strategy: &str) -> Diagnostic {
    let document = facts.document(node);
    let message = format!(
        "no group of the deployment strategy `{strategy}` selects the node `{}`",
        facts.name(node)
    );
    RULE.finding(
        message,
        document.name_span,
        "`update_site` does not deploy it",
    )
    .help("add a selector that matches it to a group of the strategy, or remove the node")
    .document(&document.key)
}
