//! `internal-error`: layercake itself failed.

use super::{FailedStep, SiteFacts, title};
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;
use crate::render::Outcome;
use crate::source::{FileId, Span};

super::rule!("internal-error", Error[Always], "layercake itself failed");

/// Maximum number of further documents listed.
const MAX_RELATED_DOCUMENTS: usize = 10;

pub(super) fn word(file: FileId, undone: FailedStep) -> Diagnostic {
    let message = match undone {
        FailedStep::Checking => "layercake itself failed, and this site is not checked",
        FailedStep::Taking => "layercake itself failed, and does not show what it was asked for",
        FailedStep::Comparing => "layercake itself failed, and this site is not compared",
        FailedStep::Trying => "layercake itself failed, and may not tell all causes of changes",
    };
    let label = "the documents with which it failed begin with this file";
    finding(message, Label::new(Span::point(file, 0), label))
}

pub(super) fn word_file(at: Span) -> Diagnostic {
    let label = Label::new(at, "not all of this file is read");
    finding("layercake itself failed while it read a file", label)
}

pub(super) fn word_words(at: Span) -> Diagnostic {
    let label = Label::new(at, "something is wrong here, or seems to be");
    finding("layercake itself failed while it put a finding into words", label)
}

/// A document that was not rendered.
pub(super) fn word_document(facts: &SiteFacts<'_>, doc: DocId) -> Diagnostic {
    let key = |doc: DocId| &facts.graph.recipe(doc).key;
    let label = Label::new(first_line(facts, doc), "this document is not rendered");
    let message = format!("layercake itself failed while it rendered `{}`", title(key(doc)));
    let needing: Vec<DocId> = facts.graph.iter().map(|(other, _)| other).collect();
    let needing = needing.into_iter().filter(|other| match facts.rendered.outcome(*other) {
        Outcome::Blocked(blocker) => blocker == doc && *other != doc,
        Outcome::Ready(_) => false,
    });
    let needing: Vec<DocId> = needing.collect();
    let failed = finding(&message, label).document(key(doc).clone());
    let shown = needing.iter().take(MAX_RELATED_DOCUMENTS).fold(failed, |finding, other| {
        let says = format!("`{}` needs it, and is not rendered either", title(key(*other)));
        finding.related(first_line(facts, *other), says).document(key(*other).clone())
    });
    match needing.len().saturating_sub(MAX_RELATED_DOCUMENTS) {
        0 => shown,
        more => shown.note(format!("{more} more documents need it, and are not rendered either")),
    }
}

/// A rule that failed at a file, or at the site that the file begins.
pub(super) fn word_rule(file: FileId, rules: &str) -> Diagnostic {
    let label = Label::new(Span::point(file, 0), "it looked at this file, or at a site with it");
    finding(&format!("layercake itself failed while it looked for {rules}"), label)
}

/// A rule that failed at these documents.
pub(super) fn word_rule_at(facts: &SiteFacts<'_>, docs: &[DocId], rules: &str) -> Diagnostic {
    let (first, others) = docs.split_first().expect("it failed at a document");
    let label = Label::new(first_line(facts, *first), "not looked for in this document");
    let message = format!(
        "layercake itself failed while it looked for {rules} in `{}`{}",
        facts.name(*first),
        match others.len() {
            0 => String::new(),
            1 => " and another document".to_owned(),
            more => format!(" and {more} other documents"),
        }
    );
    others.iter().take(MAX_RELATED_DOCUMENTS).fold(finding(&message, label), |finding, doc| {
        finding.related(first_line(facts, *doc), "nor in this one")
    })
}

fn first_line(facts: &SiteFacts<'_>, doc: DocId) -> Span {
    facts.first_line(facts.graph.recipe(doc).span)
}

fn finding(message: &str, label: Label) -> Diagnostic {
    Diagnostic::new(&RULE, message, label)
        .note("this is a fault of layercake; nothing here says that the documents are wrong")
        .help(
            "please report it, with the place that standard error tells and the smallest files \
             you can",
        )
}
