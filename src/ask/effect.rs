//! When a change of a line would take effect at running sites.

use std::collections::{BTreeMap, BTreeSet};

use super::impact::{self, SiteImpact};
use super::question::place;
use crate::check::{Answer, ChosenArmada, RenderedSite};
use crate::deployment::{ConsequenceTable, DeployedSide, Deployment, effects_of_value};
use crate::graph::DocId;
use crate::report::answer::effect::LineEffect;
use crate::source::RepoPath;

/// Impact of a 0-based line, and the effects of a change of its values with the numbers of outputs, in
/// one site.
pub(crate) fn answer(
    site: &RenderedSite<'_>,
    given: &[RepoPath],
    line: usize,
    table: &ConsequenceTable,
    armada: &ChosenArmada,
) -> Answer<(SiteImpact, BTreeMap<LineEffect, usize>)> {
    let impact = match impact::answer(site, given, Some(line)) {
        Answer::Is(impact) => impact,
        Answer::Needs(docs) => return Answer::Needs(docs),
    };
    let mut places = impact.places();
    let outputs = site.graph.outputs();
    let reached: Vec<(DocId, BTreeSet<String>)> = outputs
        .filter_map(|(doc, recipe)| Some((doc, places.remove(&recipe.key)?)))
        .collect();
    let rendered = reached.iter().map(|(doc, _)| *doc);
    let needed = site.unrequested(rendered.chain(Deployment::needed(site.graph)));
    Answer::after(needed, || {
        let deployment = Deployment::of(site.graph, site.rendered);
        let side = DeployedSide {
            graph: site.graph,
            rendered: site.rendered,
            deployment: &deployment,
        };
        let armada = armada.of(site.site.name.as_deref());
        let mut counts = BTreeMap::new();
        for (doc, places) in reached {
            let data = site.data(doc);
            let places = places.iter().filter_map(|text| place(data, text).ok());
            let effects =
                places.flat_map(|place| effects_of_value(table, armada, &side, doc, &place));
            let effects = effects.map(|(class, action)| LineEffect { class, action });
            let distinct: BTreeSet<LineEffect> = effects.collect();
            for effect in distinct {
                *counts.entry(effect).or_default() += 1;
            }
        }
        (impact, counts)
    })
}
