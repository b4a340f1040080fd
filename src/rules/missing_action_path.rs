//! `missing-action-path`: an action's path does not exist.

use super::SiteFacts;
use crate::diagnostic::Diagnostic;
use crate::merge::deckhand::Method;
use crate::render::{MissingActionPath, Problem};

super::rule!("missing-action-path", Error [Refused], "an action's path does not exist", was "P005");

pub(super) fn report(
    facts: &SiteFacts<'_>,
    problem: &Problem,
    missing: &MissingActionPath,
) -> Diagnostic {
    let MissingActionPath {
        method,
        path,
        in_parent,
        near,
    } = missing;
    let name = facts.name(problem.doc);
    let base = facts
        .graph
        .recipe(problem.doc)
        .base
        .expect("only a document with a parent has actions");
    let verb = match method {
        Method::Merge => "merges",
        Method::Replace => "replaces",
        Method::Delete => "deletes",
    };
    let (lacks, label) = if *in_parent {
        (
            "where its parent has nothing",
            "missing, or null, in the parent",
        )
    } else {
        (
            "where its own data has nothing",
            "missing, or null, in the document's own data",
        )
    };
    let message = format!("`{name}` {verb} `{path}`, {lacks}");
    let mut diagnostic = RULE.finding(message, problem.at, label);
    if *in_parent {
        let parent = facts.document(base.doc);
        diagnostic = diagnostic.related(parent.name_span, "the parent");
    }
    let diagnostic = diagnostic.note("the action is skipped; Deckhand refuses the whole site");
    match near {
        Some(near) => diagnostic.did_you_mean(near, None),
        None if *in_parent => diagnostic.help("remove the action, or correct its path"),
        None => diagnostic.help(format!(
            "add a value at this path to `{name}`, or correct the path"
        )),
    }
}
