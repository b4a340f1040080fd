//! `internal-error`: internal error in layercake.

use super::{FailedStep, SiteFacts, title};
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;
use crate::render::Outcome;
use crate::source::{DocKey, FileId, Span};

super::rule!(
    "internal-error",
    Error[Always],
    "internal error in layercake"
);

/// Maximum number of further documents listed.
const MAX_RELATED_DOCUMENTS: usize = 10;

pub(super) fn report(file: FileId, step: FailedStep) -> Diagnostic {
    let message = match step {
        FailedStep::Checking => "internal error: this site was not checked",
        FailedStep::TakingData => "internal error: the requested output is missing",
        FailedStep::Comparing => "internal error: this site was not compared",
        FailedStep::FindingCauses => "internal error: causes of changes may be missing",
    };
    let label = "the first file of the affected documents";
    finding(message, Label::new(Span::point(file, 0), label))
}

/// Finding for a statement of a comparison that rendering contradicts, about the text at `at`.
pub(super) fn report_fault(at: Span, output: &DocKey, says: &str) -> Diagnostic {
    let message = format!(
        "internal error: the causes of `{}` are wrong",
        title(output)
    );
    finding(&message, Label::new(at, says)).document(output)
}

pub(super) fn report_file(at: Span) -> Diagnostic {
    let label = Label::new(at, "this file was not read completely");
    finding("internal error while reading a file", label)
}

pub(super) fn report_words(at: Span) -> Diagnostic {
    let label = Label::new(at, "a problem was found here");
    finding("internal error while formatting a finding", label)
}

/// Finding for a document that was not rendered.
pub(super) fn report_document(facts: &SiteFacts<'_>, doc: DocId) -> Diagnostic {
    let key = |doc: DocId| &facts.graph.recipe(doc).key;
    let label = Label::new(first_line(facts, doc), "this document was not rendered");
    let message = format!("internal error while rendering `{}`", title(key(doc)));
    let needing: Vec<DocId> = facts.graph.iter().map(|(other, _)| other).collect();
    let needing: Vec<DocId> = needing
        .into_iter()
        .filter(|other| match facts.rendered.outcome(*other) {
            Outcome::Blocked(blocker) => blocker == doc && *other != doc,
            Outcome::Ready(_) => false,
        })
        .collect();
    let failed = finding(&message, label).document(key(doc));
    let shown = needing
        .iter()
        .take(MAX_RELATED_DOCUMENTS)
        .fold(failed, |finding, other| {
            let says = format!(
                "`{}` depends on it, and was not rendered either",
                title(key(*other))
            );
            finding
                .related(first_line(facts, *other), says)
                .document(key(*other).clone())
        });
    match needing.len().saturating_sub(MAX_RELATED_DOCUMENTS) {
        0 => shown,
        more => shown.note(format!(
            "{more} more documents depend on it, and were not rendered either"
        )),
    }
}

/// Finding for a rule that failed on a file, or on the site that begins with the file.
pub(super) fn report_rule(file: FileId, rules: &str) -> Diagnostic {
    let label = Label::new(
        Span::point(file, 0),
        "the rule was checking this file, or a site with it",
    );
    finding(&format!("internal error while checking {rules}"), label)
}

/// Finding for a rule that failed on these documents.
pub(super) fn report_rule_at(facts: &SiteFacts<'_>, docs: &[DocId], rules: &str) -> Diagnostic {
    let (first, others) = docs.split_first().expect("it failed at a document");
    let label = Label::new(first_line(facts, *first), "not checked in this document");
    let message = format!(
        "internal error while checking {rules} in `{}`{}",
        facts.name(*first),
        match others.len() {
            0 => String::new(),
            1 => " and another document".to_owned(),
            more => format!(" and {more} other documents"),
        }
    );
    others
        .iter()
        .take(MAX_RELATED_DOCUMENTS)
        .fold(finding(&message, label), |finding, doc| {
            finding.related(first_line(facts, *doc), "nor in this one")
        })
}

fn first_line(facts: &SiteFacts<'_>, doc: DocId) -> Span {
    facts.first_line(facts.graph.recipe(doc).span)
}

fn finding(message: &str, label: Label) -> Diagnostic {
    Diagnostic::new(&RULE, message, label)
        .note("this is a bug in layercake, not an error in the documents")
        .help(
            "report it, with the source location printed on standard error and the smallest files \
             that reproduce it",
        )
}
