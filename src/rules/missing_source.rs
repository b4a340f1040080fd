//! `missing-source`: substitution whose source is missing.

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label, NeededBy, Severity};
use crate::graph::{DocId, MissingSource};
use crate::merge::deckhand::Semantics;
use crate::render::{Problem, ProblemKind};
use crate::yaml::Value;

super::rule!("missing-source", Error [Refused, Absence], "substitution whose source is missing", was "P005");

pub(super) fn report_document(
    facts: &SiteFacts<'_>,
    doc: DocId,
    substitution: usize,
    of_abstract: Option<DocId>,
    near: Option<&str>,
) -> Diagnostic {
    let document = facts.document(doc);
    let source = &document.sources[substitution];
    let (schema, wanted) = (&source.schema.value, &source.name);
    let lacks = if of_abstract.is_some() { "is abstract" } else { "does not exist" };
    let message =
        format!("`{}` substitutes from `{}`, which {lacks}", document.key.name, wanted.value);
    let label = match of_abstract {
        Some(_) => "an abstract document cannot be a source".to_owned(),
        None => format!("no `{schema}` has this name"),
    };
    let diagnostic = Diagnostic::new(&RULE, message, Label::new(wanted.span, label))
        .note(skipped(facts, MissingPart::Document))
        .absent(schema, format!("`{}` {lacks}", wanted.value), NeededBy::Substitution)
        .document(document.key.clone());
    let diagnostic = with_severity(facts, diagnostic);
    if let Some(found) = of_abstract {
        return diagnostic
            .related(facts.document(found).name_span, "the abstract document")
            .help("substitute from a concrete document, or make this one concrete");
    }
    let Some(near) = near else {
        return diagnostic.help("add the document, or correct its name or schema in `src`");
    };
    let is_near = |document: &&crate::system::deckhand::document::Document| {
        document.key.schema == *schema && &*document.key.name == near
    };
    let found = facts.site.iter().map(|(_, document)| document).find(is_near);
    found
        .into_iter()
        .fold(diagnostic, |diagnostic, found| diagnostic.related(found.name_span, "a similar name"))
        .did_you_mean(near, None)
}

pub(super) fn report_value(facts: &SiteFacts<'_>, problem: &Problem) -> Diagnostic {
    let ProblemKind::MissingValue { source, path, null, near } = &problem.kind else {
        unreachable!("the rule reports only this kind of problem")
    };
    let (name, source) = (facts.name(problem.doc), facts.document(*source));
    let lacks = if null.is_some() { "where it has null" } else { "where it has nothing" };
    let message = format!("`{name}` reads `{path}` of `{}`, {lacks}", source.key.name);
    let diagnostic = Diagnostic::new(&RULE, message, Label::new(problem.at, "no value to read"));
    let diagnostic = match null {
        Some(null) => diagnostic.related(*null, "null"),
        None => diagnostic.related(source.name_span, "the source document"),
    };
    let key = &source.key;
    let diagnostic = with_severity(facts, diagnostic)
        .note(skipped(facts, MissingPart::Value))
        .absent(&key.schema, without_value(facts, problem), NeededBy::Substitution);
    match near {
        Some(near) => diagnostic.did_you_mean(near, None),
        None => diagnostic.help(format!(
            "add a value at this path to `{}`, or correct the path",
            source.key.name
        )),
    }
}

/// Describes the missing part of a source: all data, or the value at a path.
fn without_value(facts: &SiteFacts<'_>, problem: &Problem) -> String {
    let ProblemKind::MissingValue { source, path, .. } = &problem.kind else {
        unreachable!("the rule reports only this kind of problem")
    };
    let name = &facts.document(*source).key.name;
    match facts.rendered.data(*source).map(|data| &data.value) {
        None | Some(Value::Null) => format!("`{name}` has no data"),
        Some(Value::Mapping(data)) if data.is_empty() => format!("`{name}` has no data"),
        Some(_) => format!("`{name}` has no value at `{path}`"),
    }
}

/// Missing part of a source.
enum MissingPart {
    Document,
    Value,
}

/// Effect of a substitution without a value.
fn skipped(facts: &SiteFacts<'_>, lacking: MissingPart) -> &'static str {
    match (facts.graph.missing_source, facts.graph.semantics, lacking) {
        (MissingSource::Error, _, _) => {
            "the substitution is skipped, and its destinations keep their values; Deckhand refuses \
             the whole site"
        }
        (MissingSource::Warning, Semantics::Deckhand, MissingPart::Value) => {
            "null is written to its destinations, as Deckhand does"
        }
        (MissingSource::Warning, Semantics::Documented, _)
        | (MissingSource::Warning, Semantics::Deckhand, MissingPart::Document) => {
            "the substitution is skipped: its destinations keep their values"
        }
    }
}

/// Applies the severity configured for missing sources.
fn with_severity(facts: &SiteFacts<'_>, diagnostic: Diagnostic) -> Diagnostic {
    let severity = match facts.graph.missing_source {
        MissingSource::Error => Severity::Error,
        MissingSource::Warning => Severity::Warning,
    };
    Diagnostic { severity, ..diagnostic }
}
