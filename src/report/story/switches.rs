//! Sites with another type or another name.

use std::collections::{BTreeMap, BTreeSet};

use super::sites::{SiteIndices, SiteNames};
use crate::compare::Status;
use crate::edit::EditKind;
use crate::report::counted;
use crate::report::model::{Report, ReportedSite};
use crate::report::text::{StyledText, TextRole};

/// Describes the sites that have another type or name, one text for each change.
pub(super) fn switches(report: &Report, sites: &SiteNames<'_>) -> Vec<StyledText> {
    let types = switched_types(report, sites)
        .into_iter()
        .map(|([before, after], switched)| {
            let errors: usize = switched
                .iter()
                .map(|at| report.sites[*at].counts.errors)
                .sum();
            let errors =
                (errors > 0).then(|| StyledText::of(TextRole::Error, counted(errors, "new error")));
            let text = StyledText::plain("type of ")
                .join(sites.phrase(&switched))
                .and(": ")
                .join(arrow(before, after));
            StyledText::list([text, errors.unwrap_or_default()], ", ")
        });
    let renamed = renamed_sites(report)
        .into_iter()
        .map(|(before, after, common)| {
            let name = |site: &ReportedSite| site.name.clone().unwrap_or_default();
            let text = StyledText::plain("site renamed: ").join(arrow(&name(before), &name(after)));
            let count = after.head.unwrap_or_default();
            text.and(format!(
                "; {common} of {} have the same name as before",
                counted(count, "output")
            ))
        });
    types.chain(renamed).collect()
}

fn arrow(before: &str, after: &str) -> StyledText {
    StyledText::name(before)
        .and(" → ")
        .then(TextRole::Name, after)
}

/// Returns the sites of each pair of types.
fn switched_types<'r>(
    report: &'r Report,
    sites: &SiteNames<'_>,
) -> BTreeMap<[&'r str; 2], SiteIndices> {
    let mut switched: BTreeMap<[&str; 2], SiteIndices> = BTreeMap::new();
    let edits = report.edits.iter();
    for edit in edits.filter(|edit| edit.kind == EditKind::Site && edit.path == ".site_type") {
        let [before, after] = [&edit.before, &edit.after]
            .map(|side| side.as_ref().and_then(|value| value.text.as_deref()));
        if let (Some(before), Some(after)) = (before, after) {
            let reached = sites.in_set(edit.reach.sites);
            switched.entry([before, after]).or_default().extend(reached);
        }
    }
    switched.retain(|_, sites| !sites.is_empty());
    switched
}

/// Returns pairs of a removed and an added site of one type that have most outputs in common, and
/// the number of these.
fn renamed_sites(report: &Report) -> Vec<(&ReportedSite, &ReportedSite, usize)> {
    let outputs = added_and_removed(report);
    let named = || {
        report
            .sites
            .iter()
            .zip(&outputs)
            .filter(|(site, _)| site.name.is_some())
    };
    let removed = named().filter(|(site, _)| site.base.is_some() && site.head.is_none());
    let mut added: Vec<_> = named()
        .filter(|(site, _)| site.base.is_none() && site.head.is_some())
        .collect();
    let mut renamed = Vec::new();
    for (site, outputs) in removed {
        let alike = added
            .iter()
            .enumerate()
            .filter_map(|(at, (other, of_other))| {
                let common = outputs.intersection(of_other).count();
                let is_most = 2 * common > site.base.max(other.head).unwrap_or_default();
                (is_most && other.site_type == site.site_type).then_some((common, at))
            });
        if let Some((common, at)) = alike.max_by_key(|(common, _)| *common) {
            renamed.push((site, added.remove(at).0, common));
        }
    }
    renamed
}

/// Returns the schemas and names of the added and removed outputs of each site.
fn added_and_removed(report: &Report) -> Vec<BTreeSet<(&str, &str)>> {
    let mut names = vec![BTreeSet::new(); report.sites.len()];
    for output in &report.outputs {
        if matches!(output.status, Status::Added | Status::Removed) {
            for site in &output.sites.of(&report.site_sets).sites {
                names[*site].insert((&*output.document.schema, &*output.document.name));
            }
        }
    }
    names
}
