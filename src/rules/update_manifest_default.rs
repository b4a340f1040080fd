//! `update-manifest-default`: `update_software` applies Shipyard's default manifest, not the one of the
//! site.

use std::collections::BTreeSet;

use super::unknown_manifest::named;
use super::{SiteFacts, title};
use crate::deployment::DEFAULT_MANIFEST;
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;
use crate::near;

super::rule!(
    "update-manifest-default",
    Warning,
    "`update_software` applies Shipyard's default manifest, not that of the site"
);

/// The finding of a site whose configuration names no `update_manifest`, if the default one has other
/// charts than the one that it names.
pub(super) fn found(facts: &SiteFacts<'_>, configuration: DocId) -> Option<Diagnostic> {
    let [of_site, of_software] = &facts.deployment().applied[..] else {
        return None;
    };
    let is_default = !of_software.is_named && of_software.manifest.is_some();
    let is_other = of_site.is_named && of_site.charts != of_software.charts;
    if !is_default || !is_other {
        return None;
    }
    let at = named(facts, configuration, of_site.action.manifest_key())?;
    let name = &of_site.name;
    let message =
        format!("`update_software` applies the manifest `{DEFAULT_MANIFEST}`, not `{name}`");
    let diagnostic = RULE.finding(message, at.span, "only `update_site` applies it");
    let more: BTreeSet<&str> = of_software
        .charts
        .difference(&of_site.charts)
        .map(|chart| title(&facts.graph.recipe(*chart).key))
        .collect();
    let diagnostic = match more.len() {
        0 => diagnostic,
        1 => diagnostic.note(format!(
            "one chart is only in `{DEFAULT_MANIFEST}`, and would be installed: {}",
            near::list(more)
        )),
        count => diagnostic.note(format!(
            "{count} charts are only in `{DEFAULT_MANIFEST}`, and would be installed: {}",
            near::list(more)
        )),
    };
    Some(
        diagnostic
            .note("Shipyard's default for `armada.update_manifest` is `full-site`")
            .help(format!("add `update_manifest: {name}` beside `manifest`"))
            .document(&facts.document(configuration).key),
    )
}
