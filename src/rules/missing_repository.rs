//! `missing-repository`: a site names a repository that was not given.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Label};
use crate::system::deckhand::layout::NamedRepository;

super::rule!(
    "missing-repository",
    Error[UnknownDocuments],
    "a site names a repository that was not given"
);

/// Maximum number of further places that are shown.
const MAX_PLACES: usize = 3;

pub(super) fn word(name: &str, sites: &[(Arc<str>, NamedRepository)]) -> Diagnostic {
    let ((_, first), others) = sites.split_first().expect("a site names it");
    let label = Label::new(first.name.span, "the site is made of this repository's documents too");
    let message = match others.len() {
        0 => format!("repository `{name}` of the site definition is not given"),
        count => format!("repository `{name}` of {} site definitions is not given", count + 1),
    };
    let related = others.iter().take(MAX_PLACES);
    let related = related.map(|(site, named)| Label::new(named.name.span, format!("so is {site}")));
    let help = format!("name a clone of it: `--repository {name}=PATH`");
    let finding =
        Diagnostic::new(&RULE, message, label).note("its documents are not known").help(help);
    let sites = sites.iter().map(|(site, _)| site.clone()).collect();
    Diagnostic { sites, related: related.collect(), ..finding }
}
