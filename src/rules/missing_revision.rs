//! `missing-revision`: the pinned revision cannot be read from the given clone.

use crate::diagnostic::Diagnostic;
use crate::system::deckhand::layout::{NamedRepository, Unreadable};

super::rule!(
    "missing-revision",
    Error[UnknownDocuments],
    "the pinned revision of a repository cannot be read"
);

pub(super) fn report(repository: &NamedRepository, why: &Unreadable) -> Diagnostic {
    let at = repository
        .pin
        .as_ref()
        .map_or(repository.name.span, |pin| pin.span);
    let name = &repository.name.value;
    let message = format!(
        "repository `{name}` of the site definition cannot be read: {}",
        why.reason
    );
    RULE.finding(
        message,
        at,
        "the site includes the documents of this revision",
    )
    .note("its documents are unknown")
    .help(&*why.help)
}
