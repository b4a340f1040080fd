//! `ignored-source-path`: path into a source document whose data is not a mapping.

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;
use crate::render::Problem;

super::rule!(
    "ignored-source-path",
    Error,
    "path into a source document whose data is not a mapping"
);

pub(super) fn report(
    facts: &SiteFacts<'_>,
    problem: &Problem,
    source: DocId,
    path: &str,
) -> Diagnostic {
    let name = facts.name(problem.doc);
    let source_name = facts.name(source);
    let data = facts.rendered.data(source);
    let kind = data.map_or("not a mapping", |data| data.value.kind());
    let message = format!("`{name}` reads `{path}` of `{source_name}`, whose data is {kind}");
    RULE.finding(message, problem.at, "this path is ignored")
        .related(
            facts.document(source).name_span,
            format!("its data is {kind}"),
        )
        .note("only mappings can be indexed by a path; Deckhand uses the whole data")
        .help("write `path: .`")
}
