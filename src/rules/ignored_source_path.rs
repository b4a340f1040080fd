//! `ignored-source-path`: a path into a source document whose data is no mapping.

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;
use crate::render::Problem;

super::rule!(
    "ignored-source-path",
    Error,
    "a path into a source document whose data is no mapping"
);

pub(super) fn word(
    facts: &SiteFacts<'_>,
    problem: &Problem,
    source: DocId,
    path: &str,
) -> Diagnostic {
    let (name, source_name) = (facts.name(problem.doc), facts.name(source));
    let data = facts.rendered.data(source);
    let kind = data.map_or("no mapping", |data| data.value.kind());
    let message = format!("`{name}` reads `{path}` of `{source_name}`, whose data is {kind}");
    Diagnostic::new(&RULE, message, Label::new(problem.at, "this path is ignored"))
        .related(facts.document(source).name_span, format!("its data is {kind}"))
        .note("only mappings have paths inside: Deckhand uses the whole data")
        .help("write `path: .`")
}
