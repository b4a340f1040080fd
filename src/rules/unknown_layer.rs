//! `unknown-layer`: a document's layer is not in `layerOrder`.

use std::sync::Arc;

use super::SiteFacts;
use super::did_you_mean::word_edit;
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;
use crate::source::{Span, Spanned};
use crate::system::deckhand::NearLayer;

super::rule!(
    "unknown-layer",
    Error [Refused, Cause, UnsafelyFixable],
    "a document's layer is not in `layerOrder`", was "P005"
);

pub(super) fn report(facts: &SiteFacts<'_>, doc: DocId, near: Option<&NearLayer>) -> Diagnostic {
    let document = facts.document(doc);
    let layer = document
        .layer
        .as_ref()
        .expect("a document without a layer needs no order");
    let message = format!(
        "layer `{}` of `{}` is not in `layerOrder`",
        layer.value,
        facts.name(doc)
    );
    let diagnostic = RULE
        .finding(message, layer.span, "unknown layer")
        // The text at its location may be secret.
        .about(&*layer.value)
        .note("Deckhand refuses the whole site; layercake renders the document without a parent")
        .document(&document.key);
    let diagnostic = match layers(facts, near) {
        Some((span, words)) => diagnostic.related(span, words),
        None => diagnostic,
    };
    match near {
        Some(near) if near.is_slip => {
            let written = &near.name;
            let meant = &layer.value;
            diagnostic.help(format!(
                "did the policy mean `{meant}` where it has `{written}`?"
            ))
        }
        Some(near) => {
            let edit = word_edit(facts.sources, layer.span, &layer.value, &near.name);
            diagnostic.did_you_mean(&near.name, edit)
        }
        None if order(facts).is_empty() => diagnostic.help("list the layers in `data.layerOrder`"),
        None => diagnostic.help("use a layer of the policy, or add this one to `layerOrder`"),
    }
}

/// Span and label of the policy's layers, or of a misspelled one.
fn layers(facts: &SiteFacts<'_>, near: Option<&NearLayer>) -> Option<(Span, &'static str)> {
    let policy = facts.document(facts.site.policy?);
    let order = order(facts);
    let slip = near.filter(|near| near.is_slip);
    if let Some(slip) = slip.and_then(|slip| order.iter().find(|it| it.value == slip.name)) {
        return Some((slip.span, "no document has this layer"));
    }
    Some(match order {
        [first, .., last] => (first.span.to(last.span), "the existing layers"),
        [only] => (only.span, "the only existing layer"),
        [] => (policy.name_span, "this policy has no layers"),
    })
}

fn order<'a>(facts: &'a SiteFacts<'_>) -> &'a [Spanned<Arc<str>>] {
    let policy = facts.site.policy.map(|policy| facts.document(policy));
    policy
        .and_then(|policy| policy.layer_order.as_deref())
        .unwrap_or_default()
}
