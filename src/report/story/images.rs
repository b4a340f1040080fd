//! Images that the edits changed.

use super::sites::SiteNames;
use crate::report::answer::image::changed;
use crate::report::model::{Report, ReportedImage};
use crate::report::text::StyledText;

/// Number of images that are changed, new, or no longer used; empty if there are none.
pub(super) fn figure(report: &Report) -> StyledText {
    let count = |[base, head]: [bool; 2], what: &str| {
        let is_it =
            |image: &&ReportedImage| [image.base.is_some(), image.head.is_some()] == [base, head];
        match report.images.iter().filter(is_it).count() {
            0 => StyledText::default(),
            some => StyledText::strong(some).and(what),
        }
    };
    let counts = [
        count([true, true], " changed"),
        count([false, true], " new"),
        count([true, false], " no longer used"),
    ];
    match StyledText::list(counts, ", ") {
        counts if counts.is_empty() => counts,
        counts => StyledText::plain("images: ").join(counts),
    }
}

/// Each of them, with its users and sites.
pub(super) fn list(report: &Report, sites: &SiteNames<'_>) -> Vec<StyledText> {
    let images = report.images.iter().map(|image| {
        let what = match (&image.base, &image.head) {
            (Some(base), Some(head)) => StyledText::name(changed(base, head)),
            (None, Some(added)) => StyledText::name(added).and(", new"),
            (Some(removed), None) => StyledText::name(removed).and(", no longer used"),
            (None, None) => StyledText::default(),
        };
        let users = format!("  {}", image.users.join(", "));
        let sites = sites.phrase_of(image.sites);
        let place = if sites.is_empty() {
            sites
        } else {
            StyledText::plain(" in ").join(sites)
        };
        what.and(users).join(place)
    });
    images.collect()
}
