//! Running the engine on files in memory, as the program does: with the
//! configuration and the baseline among the files, where there are some.
//!
//! A configuration or a baseline that cannot be used is an error of the user's;
//! then there is nothing to look at. That something of layercake itself failed
//! is never all right.

use std::path::Path;

use layercake::check::{
    Base, Checked, Compared, Options, Progress, RenderedSite, Settings, check, compare,
};
use layercake::commands::configuration::{
    ConfigurationSource, ConfigurationTrees, SemanticsFlags, find, settle,
};
use layercake::commands::policy::Selectors;
use layercake::compare::Attribution;
use layercake::error::{Error, ErrorKind};
use layercake::merge::deckhand::Semantics;
use layercake::rules::{Gates, word_reach};
use layercake::source::{MemoryTree, RepoPath, Tree};
use layercake::system::deckhand::layout::Layout;

use crate::support::options;

/// Both meanings of documents.
pub const SEMANTICS: [Semantics; 2] = [Semantics::Documented, Semantics::Deckhand];

/// Checks files; nothing where there is an error.
pub fn checked<T: Send>(
    tree: &dyn Tree,
    semantics: Semantics,
    per_site: impl Fn(&RenderedSite<'_>) -> T + Sync,
) -> Option<Checked<T>> {
    let settled = settled(tree, None, semantics)?;
    let layout = layout(tree)?;
    let progress = Progress::default();
    let plan = settled.plan(tree, layout.as_ref(), None, &progress);
    let checked = allowed(check(&plan, per_site))?;
    assert!(!checked.internal_error, "layercake itself does not fail");
    Some(checked)
}

/// Compares files; nothing where there is an error.
pub fn compared(
    base: &MemoryTree,
    head: &MemoryTree,
    semantics: Semantics,
    attribution: Attribution,
) -> Option<Compared> {
    let settled = settled(head, Some(base), semantics)?;
    let (of_base, of_head) = (layout(base)?, layout(head)?);
    let progress = Progress::default();
    let base = Base::of_repository(base, of_base.as_ref());
    let plan = settled.plan(head, of_head.as_ref(), Some(base), &progress);
    let settings = Settings { attribution, ..Settings::default() };
    let mut compared = allowed(compare(&plan, &settings))?;
    assert!(!compared.checked.internal_error, "layercake itself does not fail");
    for (edit, finding) in word_reach(&compared.comparison, &Gates::default()) {
        compared.add_gated(finding, edit);
    }
    Some(compared)
}

fn settled(tree: &dyn Tree, base: Option<&dyn Tree>, semantics: Semantics) -> Option<Options> {
    let around = ConfigurationTrees { tree, base, root: None };
    let found = allowed(find(Path::new(""), &ConfigurationSource::Root, &around))?;
    let settled = allowed(settle(&found, SemanticsFlags::default(), &Selectors::default()))?;
    match found.config.file {
        Some(_) => Some(settled),
        None => Some(Options { deckhand: options(semantics), ..settled }),
    }
}

/// How files lie; within, nothing where they are no site repository.
fn layout(tree: &dyn Tree) -> Option<Option<Layout>> {
    allowed(Layout::discover(tree, &RepoPath::new("")))
}

/// What came of something that may go wrong for faults of the user's. Git and
/// the file system have no part in it.
fn allowed<T>(outcome: Result<T, Error>) -> Option<T> {
    outcome
        .inspect_err(|error| {
            assert!(!error.to_string().is_empty());
            assert!(!matches!(error.kind(), ErrorKind::Git), "{error}");
        })
        .ok()
}
