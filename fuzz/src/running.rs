//! Runs of the engine on files in memory, as in the program, with the configuration and the
//! baseline among the files.
//!
//! An unusable configuration or baseline is a user error, and gives no result. Internal failures of
//! layercake are never accepted.

use std::path::Path;
use std::sync::Arc;

use layercake::check::{Base, Checked, Compared, Options, RenderedSite, Settings, check, compare};
use layercake::commands::configuration::{
    ConfigurationSource, ConfigurationTrees, SemanticsFlags, find, settle,
};
use layercake::commands::policy::Selectors;
use layercake::compare::Attribution;
use layercake::error::{Error, ErrorKind};
use layercake::merge::deckhand::Semantics;
use layercake::rules::{Gates, report_reach};
use layercake::source::{MemoryTree, RepoPath, Tree};
use layercake::system::deckhand::layout::Layout;

use crate::support::options;

/// Both semantics.
pub const SEMANTICS: [Semantics; 2] = [Semantics::Documented, Semantics::Deckhand];

/// Checks files; `None` on a user error.
pub fn checked<T: Send>(
    tree: &(impl Tree + Clone + Send + 'static),
    semantics: Semantics,
    per_site: impl Fn(&RenderedSite<'_>) -> T + Sync,
) -> Option<Checked<T>> {
    let plan_options = options_for(tree, None, semantics)?;
    let plan = plan_options.plan(Arc::new(tree.clone()), layout(tree)?, None);
    let checked = unless_user_error(check(&plan, per_site))?;
    assert!(!checked.internal_error, "layercake itself does not fail");
    Some(checked)
}

/// Compares files; `None` on a user error.
pub fn compared(
    base: &MemoryTree,
    head: &MemoryTree,
    semantics: Semantics,
    attribution: Attribution,
) -> Option<Compared> {
    let plan_options = options_for(head, Some(base), semantics)?;
    let earlier = Base::of_repository(Arc::new(base.clone()), layout(base)?);
    let plan = plan_options.plan(Arc::new(head.clone()), layout(head)?, Some(earlier));
    let settings = Settings {
        attribution,
        ..Settings::default()
    };
    let mut compared = unless_user_error(compare(&plan, &settings))?;
    assert!(
        !compared.checked.internal_error,
        "layercake itself does not fail"
    );
    for (edit, finding) in report_reach(
        &compared.comparison,
        &compared.consequences,
        &Gates::default(),
    ) {
        compared.add_gated(finding, edit);
    }
    Some(compared)
}

fn options_for(tree: &dyn Tree, base: Option<&dyn Tree>, semantics: Semantics) -> Option<Options> {
    let around = ConfigurationTrees {
        tree,
        base,
        root: None,
    };
    let found = unless_user_error(find(Path::new(""), &ConfigurationSource::Root, &around))?;
    let settled = unless_user_error(settle(
        &found,
        SemanticsFlags::default(),
        &Selectors::default(),
    ))?;
    match found.config.file {
        Some(_) => Some(settled),
        None => Some(Options {
            deckhand: options(semantics),
            ..settled
        }),
    }
}

/// Layout of the files, or `None` on a user error; the inner `None` means that they are not a site
/// repository.
fn layout(tree: &dyn Tree) -> Option<Option<Layout>> {
    unless_user_error(Layout::discover(tree, &RepoPath::new("")))
}

/// Result of an operation that may fail because of a user error, which excludes git and file system
/// errors.
fn unless_user_error<T>(outcome: Result<T, Error>) -> Option<T> {
    outcome
        .inspect_err(|error| {
            assert!(!error.to_string().is_empty());
            assert!(!matches!(error.kind(), ErrorKind::Git), "{error}");
        })
        .ok()
}
