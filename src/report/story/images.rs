//! Images that the edits changed.

use super::sites::SiteNames;
use crate::report::answer::image::changed;
use crate::report::model::{Report, ReportedImage};
use crate::report::present;
use crate::report::text::StyledText;

/// Number of images that are changed, new, or no longer used; empty if there are none.
pub(super) fn figure(report: &Report) -> StyledText {
    let counts = ["changed", "new", "no longer used"].map(|what| {
        let images = report.images.iter().filter(|image| change(image) == what);
        let count = images.count();
        (count, StyledText::strong(count).and(" ").and(what))
    });
    match StyledText::list(present(counts), ", ") {
        counts if counts.is_empty() => counts,
        counts => StyledText::plain("images: ").join(counts),
    }
}

/// Each of them, with its users and sites.
pub(super) fn list(report: &Report, sites: &SiteNames<'_>) -> Vec<StyledText> {
    let images = report.images.iter().map(|image| {
        let what = match (&image.base, &image.head) {
            (Some(base), Some(head)) => StyledText::name(changed(base, head)),
            (one, other) => {
                let name = one.as_ref().or(other.as_ref()).cloned().unwrap_or_default();
                StyledText::name(name).and(", ").and(change(image))
            }
        };
        let users: Vec<&str> = image.users.iter().map(|it| &**it).collect();
        let users = users.join(", ");
        let sites = sites.phrase_of(image.sites);
        let around = if sites.is_empty() { "" } else { " in " };
        what.and(format!("  {users}{around}")).join(sites)
    });
    images.collect()
}

fn change(image: &ReportedImage) -> &'static str {
    match (&image.base, &image.head) {
        (Some(_), Some(_)) => "changed",
        (None, _) => "new",
        (Some(_), None) => "no longer used",
    }
}
