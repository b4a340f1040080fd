//! `unknown-manifest`: the site's configuration names a manifest that is not rendered.
//!
//! The check also reports what is wrong with the manifests that are rendered:
//! `update-manifest-default` and `chart-in-no-manifest`.

use super::{SiteFacts, chart_in_no_manifest, update_manifest_default};
use crate::deployment::{AppliedManifest, manifests};
use crate::diagnostic::{Diagnostic, NeededBy};
use crate::graph::DocId;
use crate::near::nearest;
use crate::yaml::Node;

super::rule!(
    "unknown-manifest", Error[Absence], "the site's configuration names a manifest that is not rendered";
    Site(check, &[&RULE, &update_manifest_default::RULE, &chart_in_no_manifest::RULE])
);

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let deployment = facts.deployment();
    let Some(configuration) = deployment.configuration else {
        return;
    };
    let unknown = deployment
        .applied
        .iter()
        .filter(|applied| applied.manifest.is_none());
    found.extend(unknown.filter_map(|applied| {
        let named = named(facts, configuration, applied.action.manifest_key())?;
        Some(report(facts, configuration, applied, named))
    }));
    found.extend(update_manifest_default::found(facts, configuration));
    if facts.settings.want(&[&chart_in_no_manifest::RULE]) {
        found.extend(chart_in_no_manifest::found(facts));
    }
}

/// Value of a key of `armada` in the configuration.
pub(super) fn named<'f>(
    facts: &'f SiteFacts<'_>,
    configuration: DocId,
    key: &str,
) -> Option<&'f Node> {
    facts.rendered.data(configuration)?.get("armada")?.get(key)
}

fn report(
    facts: &SiteFacts<'_>,
    configuration: DocId,
    applied: &AppliedManifest,
    named: &Node,
) -> Diagnostic {
    let AppliedManifest { action, name, .. } = applied;
    let action = action.as_str();
    let message = format!("`{action}` applies the manifest `{name}`, which is not rendered");
    let diagnostic = RULE
        .finding(message, named.span, "not the name of a rendered manifest")
        .about(format!("{action} {name}"))
        .absent(
            "armada/Manifest/v1",
            format!("no `armada/Manifest/v1` named `{name}` is rendered"),
            NeededBy::Reference,
        )
        .written_as([name])
        .document(&facts.document(configuration).key);
    match nearest(name, manifests(facts.graph)) {
        Some(near) => diagnostic.did_you_mean(near, None),
        None => diagnostic.help("add the manifest, or name one that is rendered"),
    }
}
