//! `missing-revision`: the revision that a site pins cannot be read from the clone that is given.

use crate::diagnostic::{Diagnostic, Label};
use crate::system::deckhand::layout::{NamedRepository, Unreadable};

super::rule!(
    "missing-revision",
    Error[UnknownDocuments],
    "the revision of a repository that a site is made of cannot be read"
);

pub(super) fn word(repository: &NamedRepository, why: &Unreadable) -> Diagnostic {
    let at = repository.pin.as_ref().map_or(repository.name.span, |pin| pin.span);
    let name = &repository.name.value;
    let label = Label::new(at, "the site is made of the documents of this revision");
    let message =
        format!("repository `{name}` of the site definition cannot be read: {}", why.reason);
    Diagnostic::new(&RULE, message, label).note("its documents are not known").help(&*why.help)
}
