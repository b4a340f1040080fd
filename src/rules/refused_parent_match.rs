//! `refused-parent-match`: labels match in a way that makes Deckhand refuse the whole site.

use super::{SiteFacts, of_layer};
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;
use crate::system::deckhand::{Matches, ParentRefusal};

super::rule!(
    "refused-parent-match",
    Error [Refused],
    "labels match in a way that makes Deckhand refuse the whole site",
    was "P005"
);

pub(super) fn report(
    facts: &SiteFacts<'_>,
    child: DocId,
    parents: &Matches,
    refusal: ParentRefusal,
) -> Diagnostic {
    let diagnostic = match refusal {
        ParentRefusal::OtherSchema => other_schema(facts, child, parents),
        ParentRefusal::NotAbove => not_above(facts, child, parents),
        ParentRefusal::TwoFarther { nearer } => two_farther(facts, child, parents, nearer),
    };
    let child = facts.document(child).key.clone();
    parents
        .first
        .iter()
        .fold(diagnostic.document(child), |diagnostic, parent| {
            diagnostic.document(facts.document(*parent).key.clone())
        })
}

fn other_schema(facts: &SiteFacts<'_>, child: DocId, parents: &Matches) -> Diagnostic {
    let title = facts.name(child);
    let found = named(facts, parents);
    let has = if parents.count() == 1 {
        "which has a different schema"
    } else {
        "of other schemas"
    };
    let message = format!("the parentSelector of `{title}` matches {found}, {has}");
    let schema = &facts.document(child).key.schema;
    let are = if parents.count() == 1 { "is" } else { "are" };
    let label = format!("also matches {found}, which {are} not `{schema}`");
    let diagnostic = RULE
        .finding(message, facts.selector(child).span, label)
        .note("Deckhand refuses the whole site, even if there is a valid parent")
        .help(format!(
            "change the label of {found}, or select one that only the parent has"
        ));
    parents.first.iter().fold(diagnostic, |diagnostic, parent| {
        let name = facts.name(*parent);
        let schema = &facts.document(*parent).key.schema;
        let label = format!("the label of `{name}`, whose schema is `{schema}`");
        diagnostic.related(facts.label(*parent, child), label)
    })
}

fn not_above(facts: &SiteFacts<'_>, child: DocId, parents: &Matches) -> Diagnostic {
    let title = facts.name(child);
    let found = named(facts, parents);
    let (which, parent, it) = match parents.first[..] {
        [only] => {
            let layer = of_layer(&facts.document(only).key);
            (
                format!("{found} {layer}, which is not above it"),
                "a parent",
                "it",
            )
        }
        _ => (
            format!("{found}, which are not above it"),
            "parents",
            "them",
        ),
    };
    let message = format!("the parentSelector of `{title}` matches {which}");
    let label = format!("also matches {found}, which cannot be {parent}");
    let diagnostic = RULE
        .finding(message, facts.selector(child).span, label)
        .note("Deckhand refuses the whole site, even if there is a valid parent")
        .help(format!(
            "remove the label from {found}, or change the label of {it}"
        ));
    let diagnostic = labels(facts, child, parents, diagnostic);
    match &facts.document(child).layer {
        Some(layer) => diagnostic.related(layer.span, format!("the layer of `{title}`")),
        None => diagnostic,
    }
}

fn two_farther(
    facts: &SiteFacts<'_>,
    child: DocId,
    parents: &Matches,
    nearer: DocId,
) -> Diagnostic {
    let title = facts.name(child);
    let found = named(facts, parents);
    let both = if parents.count() == 2 { "both " } else { "" };
    let layer = of_layer(&facts.document(parents.first[0]).key);
    let message = format!("the parentSelector of `{title}` matches {both}{found} {layer}");
    let label = Label::new(
        facts.selector(child).span,
        "matches more than one document in a layer",
    );
    let diagnostic = Diagnostic::new(&RULE, message, label)
        .note(
            "Deckhand refuses the whole site, although its documentation says that the nearest \
             match is the parent",
        )
        .help(format!(
            "remove the label from {}",
            found.replace(" and ", " or ")
        ));
    labels(facts, child, parents, diagnostic).related(
        facts.label(nearer, child),
        format!("`{}` is nearer", facts.name(nearer)),
    )
}

fn labels(
    facts: &SiteFacts<'_>,
    child: DocId,
    parents: &Matches,
    diagnostic: Diagnostic,
) -> Diagnostic {
    parents.first.iter().fold(diagnostic, |diagnostic, parent| {
        let label = format!("the label of `{}`", facts.name(*parent));
        diagnostic.related(facts.label(*parent, child), label)
    })
}

/// Names one or two documents, and counts more.
fn named(facts: &SiteFacts<'_>, parents: &Matches) -> String {
    match parents.first[..] {
        [only] => format!("`{}`", facts.name(only)),
        [one, other] => format!("`{}` and `{}`", facts.name(one), facts.name(other)),
        _ => format!("{} documents", parents.count()),
    }
}
