//! `missing-repository`: a site refers to a repository that was not given.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Label};
use crate::system::deckhand::layout::NamedRepository;

super::rule!(
    "missing-repository",
    Error[UnknownDocuments],
    "a site refers to a repository that was not given"
);

/// Maximum number of related locations shown.
const MAX_PLACES: usize = 3;

pub(super) fn report(name: &str, sites: &[(Arc<str>, NamedRepository)]) -> Diagnostic {
    let ((_, first), others) = sites.split_first().expect("at least one site refers to it");
    let message = match others.len() {
        0 => format!("repository `{name}` of the site definition was not given"),
        count => format!(
            "repository `{name}` of {} site definitions was not given",
            count + 1
        ),
    };
    let related = others
        .iter()
        .take(MAX_PLACES)
        .map(|(site, named)| Label::new(named.name.span, format!("{site} includes them too")));
    let help = format!("pass a clone of it: `--repository {name}=PATH`");
    let finding = RULE
        .finding(
            message,
            first.name.span,
            "the site includes this repository's documents",
        )
        .note("its documents are unknown")
        .help(help);
    let sites = sites.iter().map(|(site, _)| site.clone()).collect();
    Diagnostic {
        sites,
        related: related.collect(),
        ..finding
    }
}
