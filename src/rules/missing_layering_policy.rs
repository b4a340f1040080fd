//! `missing-layering-policy`: a site has no LayeringPolicy.

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, Label};

super::rule!("missing-layering-policy", Error [Refused, Absence], "a site has no LayeringPolicy", was "P005");

pub(super) fn report(facts: &SiteFacts<'_>) -> Diagnostic {
    let documents = &facts.site.documents;
    let layer = documents.iter().find_map(|document| document.layer.as_ref());
    let label = match layer {
        Some(layer) => Label::new(layer.span, "no document defines the order of this layer"),
        None => {
            let first = documents.first().expect("a site without documents needs no policy");
            Label::new(first.name_span, "no document defines the order of the layers")
        }
    };
    Diagnostic::new(&RULE, "no LayeringPolicy among the documents", label)
        .note("Deckhand refuses the whole site; layercake renders every document without a parent")
        .help(
            "add a document of schema `deckhand/LayeringPolicy/v1` with `data.layerOrder`, such as \
             `[global, type, site]`",
        )
}
