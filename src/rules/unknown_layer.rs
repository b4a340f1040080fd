//! `unknown-layer`: a document's layer is not in layerOrder.

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;

super::rule!("unknown-layer", Error [Refused], "a document's layer is not in layerOrder", was "P005");

pub(super) fn word(facts: &SiteFacts<'_>, doc: DocId, near: Option<&str>) -> Diagnostic {
    let document = facts.document(doc);
    let layer = document.layer.as_ref().expect("a document without a layer needs no order");
    let message =
        format!("layer `{}` of `{}` is not in `layerOrder`", layer.value, facts.name(doc));
    let diagnostic = Diagnostic::new(&RULE, message, Label::new(layer.span, "no such layer"))
        .note("Deckhand refuses the whole site; here the document is rendered without a parent")
        .document(document.key.clone());
    let policy = facts.site.policy.map(|policy| facts.document(policy));
    let order = policy.and_then(|policy| policy.layer_order.as_deref()).unwrap_or_default();
    let diagnostic = match (order, policy) {
        ([first, .., last], _) => {
            diagnostic.related(first.span.to(last.span), "the layers there are")
        }
        ([only], _) => diagnostic.related(only.span, "the only layer there is"),
        ([], Some(policy)) => diagnostic.related(policy.name_span, "this policy has no layers"),
        ([], None) => diagnostic,
    };
    match near {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None if order.is_empty() => diagnostic.help("list the layers in `data.layerOrder`"),
        None => diagnostic.help("use a layer of the policy, or add this one to `layerOrder`"),
    }
}
