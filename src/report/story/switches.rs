//! Sites with another type or another name.

use std::collections::{BTreeMap, BTreeSet};

use super::sites::SiteNames;
use crate::compare::Status;
use crate::edit::EditKind;
use crate::report::counted;
use crate::report::model::{Report, ReportedEdit, ReportedSite};
use crate::report::text::{StyledText, TextRole};

/// Describes the sites that have another type or name, one text for each change.
pub(super) fn switches(report: &Report, sites: &SiteNames<'_>) -> Vec<StyledText> {
    let types = switched_types(report, sites).into_iter().map(|([before, after], switched)| {
        let errors: usize = switched.iter().map(|at| report.sites[*at].counts.errors).sum();
        let errors =
            (errors > 0).then(|| StyledText::of(TextRole::Error, counted(errors, "new error")));
        let text = StyledText::plain("type of ").join(sites.phrase(&switched));
        let text = text.and(": ").join(arrow(before, after));
        StyledText::list([text, errors.unwrap_or_default()], ", ")
    });
    let renamed = renamed_sites(report).into_iter().map(|(before, after, common)| {
        let name = |site: &ReportedSite| site.name.clone().unwrap_or_default();
        let text = StyledText::plain("site renamed: ").join(arrow(&name(before), &name(after)));
        let count = after.head.unwrap_or_default();
        text.and(format!("; {common} of {} have the same name as before", counted(count, "output")))
    });
    types.chain(renamed).collect()
}

fn arrow(before: &str, after: &str) -> StyledText {
    StyledText::of(TextRole::Name, before).and(" → ").then(TextRole::Name, after)
}

/// Returns the sites of each pair of types.
fn switched_types<'r>(
    report: &'r Report,
    sites: &SiteNames<'_>,
) -> BTreeMap<[&'r str; 2], BTreeSet<usize>> {
    let mut switched: BTreeMap<[&str; 2], BTreeSet<usize>> = BTreeMap::new();
    let of_type = |edit: &&ReportedEdit| edit.kind == EditKind::Site && edit.path == ".site_type";
    for edit in report.edits.iter().filter(of_type) {
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
    let outputs = OutputNames::of(report);
    let numbered = || report.sites.iter().enumerate().filter(|(_, site)| site.name.is_some());
    let removed = numbered().filter(|(_, site)| site.base.is_some() && site.head.is_none());
    let mut added: Vec<(usize, &ReportedSite)> =
        numbered().filter(|(_, site)| site.base.is_none() && site.head.is_some()).collect();
    let mut renamed = Vec::new();
    for (removed, site) in removed {
        let alike =
            added.iter().enumerate().filter(|(_, (_, other))| other.site_type == site.site_type);
        let alike = alike.map(|(index, (at, other))| (outputs.common(removed, *at), index, *other));
        let is_most = |(common, _, other): &(usize, usize, &ReportedSite)| {
            2 * common > site.base.max(other.head).unwrap_or_default()
        };
        if let Some((common, index, other)) = alike.filter(is_most).max_by_key(|it| it.0) {
            added.remove(index);
            renamed.push((site, other, common));
        }
    }
    renamed
}

/// Schemas and names of the added and removed outputs of each site.
struct OutputNames<'r>(BTreeMap<usize, BTreeSet<(&'r str, &'r str)>>);

impl<'r> OutputNames<'r> {
    fn of(report: &'r Report) -> Self {
        let mut names: BTreeMap<usize, BTreeSet<(&str, &str)>> = BTreeMap::new();
        for output in &report.outputs {
            if matches!(output.status, Status::Added | Status::Removed) {
                let sites = output.sites.of(&report.site_sets).into_iter();
                for site in sites.flat_map(|set| &set.sites) {
                    let name = (&*output.document.schema, &*output.document.name);
                    names.entry(*site).or_default().insert(name);
                }
            }
        }
        Self(names)
    }

    /// Returns the number of outputs that two sites have in common.
    fn common(&self, site: usize, other: usize) -> usize {
        let of = |site: usize| self.0.get(&site);
        of(site).zip(of(other)).map_or(0, |(one, other)| one.intersection(other).count())
    }
}
