//! `undecided-semantics`: a document renders differently under the two semantics, and none is
//! chosen.

use std::collections::{BTreeMap, HashMap};

use super::SiteFacts;
use super::counterpart::MeaningSplit;
use crate::diagnostic::Diagnostic;
use crate::graph::{DocId, Op, Recipe};
use crate::source::Span;
use crate::yaml::Node;
use crate::yaml::diff::same;
use crate::yaml::emit::to_flow;
use crate::yaml::path::{Location, Piece, children};

super::rule!(
    "undecided-semantics",
    Error,
    "document that renders differently by Deckhand's documentation and by its code, with neither \
     chosen"
);

/// Maximum number of places whose two results a finding shows.
const MAX_RESULTS: usize = 3;

/// Maximum number of places collected for one text.
const MAX_SEEN: usize = MAX_RESULTS + 1;

/// Maximum number of differing places of a document, and of places that one text writes; each text
/// is compared with each place.
const MAX_DIFFERING: usize = 64;

/// Maximum number of characters of one result.
const MAX_RESULT_CHARS: usize = 200;

/// Findings of a site rendered as documented; `deckhand` is the same site under Deckhand's
/// semantics, and `partings` are the spans at which the two differ.
pub(super) fn report(
    documented: &SiteFacts<'_>,
    deckhand: &SiteFacts<'_>,
    partings: impl Iterator<Item = MeaningSplit>,
) -> Vec<Diagnostic> {
    let both = BothMeanings {
        documented,
        deckhand,
    };
    let reaches_output = both.reaching_differing_outputs();
    let mut by_doc: BTreeMap<DocId, Vec<Span>> = BTreeMap::new();
    for MeaningSplit { doc, at } in partings.filter(|it| reaches_output[it.doc.index()]) {
        by_doc.entry(doc).or_default().push(at);
    }
    by_doc
        .into_iter()
        .flat_map(|(doc, texts)| both.report(doc, &texts))
        .collect()
}

/// A site rendered under both semantics.
struct BothMeanings<'a> {
    documented: &'a SiteFacts<'a>,
    deckhand: &'a SiteFacts<'a>,
}

/// Data of a document under either semantics.
#[derive(Clone, Copy)]
struct BothResults<'a> {
    documented: &'a Node,
    deckhand: &'a Node,
}

impl<'a> BothMeanings<'a> {
    /// By document id: whether the document is, or is an input of, an output that differs.
    fn reaching_differing_outputs(&self) -> Vec<bool> {
        let graph = self.deckhand.graph;
        let differing: Vec<DocId> = graph
            .outputs()
            .map(|(doc, _)| doc)
            .filter(|doc| self.differs(*doc))
            .collect();
        let mut needed = self.documented.graph.closure(differing.clone());
        for (doc, is_needed) in graph.closure(differing).into_iter().enumerate() {
            needed[doc] |= is_needed;
        }
        needed
    }

    fn differs(&self, doc: DocId) -> bool {
        self.documented.rendered.made(doc) != self.deckhand.rendered.made(doc)
            && self
                .data(doc)
                .is_some_and(|data| !same(data.documented, data.deckhand))
    }

    fn data(&self, doc: DocId) -> Option<BothResults<'a>> {
        Some(BothResults {
            documented: self.documented.rendered.data(doc)?,
            deckhand: self.deckhand.rendered.data(doc)?,
        })
    }

    /// Findings at those `texts` of a document at which the two results differ.
    fn report(&self, doc: DocId, texts: &[Span]) -> Vec<Diagnostic> {
        let Some(data) = self.data(doc) else {
            return Vec::new();
        };
        let places = differing_places(data.documented, data.deckhand);
        let written = self.written(doc);
        let needs = self.documented.graph.recipe(doc).needs.iter();
        let is_first = !needs.clone().any(|need| self.differs(need.doc));
        let of_text = |at: &Span| {
            let own = written.get(at).map(Vec::as_slice).unwrap_or_default();
            let mut met: Vec<&Location> = places
                .iter()
                .filter(|place| {
                    own.iter()
                        .any(|write| write.starts_with(place) || place.starts_with(write))
                })
                .take(MAX_SEEN)
                .collect();
            if met.is_empty() && is_first {
                // The text writes nothing under one of the semantics, and nothing else can be the
                // cause.
                met.extend(places.iter().take(MAX_SEEN));
            }
            (!met.is_empty()).then(|| self.report_at(doc, *at, data, &met))
        };
        texts.iter().filter_map(of_text).collect()
    }

    fn report_at(
        &self,
        doc: DocId,
        at: Span,
        data: BothResults<'_>,
        places: &[&Location],
    ) -> Diagnostic {
        let facts = self.documented;
        let name = facts.name(doc);
        let message =
            format!("`{name}` renders differently by Deckhand's documentation and by its code");
        let mut finding = RULE.finding(
            message,
            at,
            "the two differ here, and no semantics is configured",
        );
        for result in places
            .iter()
            .take(MAX_RESULTS)
            .flat_map(|it| results(facts, data, it))
        {
            finding = finding.note(result);
        }
        if places.len() > MAX_RESULTS {
            finding = finding.note("the document differs in more places");
        }
        let finding = finding.help(
            "add `semantics: deckhand` to `layercake.yaml` to render what Deckhand does and \
             deploys, or `semantics: documented` to render what its documentation promises",
        );
        finding.document(&facts.document(doc).key)
    }

    /// Places that each text of a document writes under either semantics.
    fn written(&self, doc: DocId) -> HashMap<Span, Vec<&'a Location>> {
        let mut written: HashMap<Span, Vec<&Location>> = HashMap::new();
        for side in [self.documented.rendered, self.deckhand.rendered] {
            for write in side.writes(doc) {
                let locations = written.entry(write.at).or_default();
                if locations.len() < MAX_DIFFERING {
                    locations.push(&write.location);
                }
            }
        }
        for (text, destination) in other_texts(self.documented.graph.recipe(doc)) {
            let locations = written.get(&destination).cloned().unwrap_or_default();
            written.entry(text).or_default().extend(locations);
        }
        written
    }
}

/// Texts of a substitution other than its destinations' paths, each with such a path.
fn other_texts(recipe: &Recipe) -> Vec<(Span, Span)> {
    let mut texts = Vec::new();
    for step in recipe.steps.iter() {
        let Op::Substitute(substitution) = step.op else {
            continue;
        };
        for to in &substitution.writing.to {
            texts.push((substitution.writing.from.span, to.path.span));
            texts.extend(
                to.part
                    .as_ref()
                    .map(|part| (part.pattern.span, to.path.span)),
            );
        }
    }
    texts
}

/// Outermost differing places that cannot be compared entry by entry.
fn differing_places(documented: &Node, deckhand: &Node) -> Vec<Location> {
    let mut places = Vec::new();
    add_differing(documented, deckhand, &mut Location::root(), &mut places);
    places.truncate(MAX_DIFFERING);
    places
}

fn add_differing(
    documented: &Node,
    deckhand: &Node,
    here: &mut Location,
    places: &mut Vec<Location>,
) {
    if places.len() >= MAX_DIFFERING || same(documented, deckhand) {
        return;
    }
    let are_mappings = documented.as_mapping().is_some() && deckhand.as_mapping().is_some();
    let are_lists = match (documented.as_sequence(), deckhand.as_sequence()) {
        (Some(documented), Some(deckhand)) => documented.len() == deckhand.len(),
        (Some(_) | None, None) | (None, Some(_)) => false,
    };
    if !are_mappings && !are_lists {
        places.push(here.clone());
        return;
    }
    let child = |node: &Node, piece: &Piece| Location(vec![piece.clone()]).get(node).cloned();
    for (piece, of_documented) in children(documented) {
        let of_deckhand = child(deckhand, &piece);
        here.0.push(piece);
        match of_deckhand {
            Some(of_deckhand) => add_differing(of_documented, &of_deckhand, here, places),
            None => places.push(here.clone()),
        }
        here.0.pop();
    }
    for (piece, _) in children(deckhand).filter(|(piece, _)| child(documented, piece).is_none()) {
        places.push(here.join(piece));
    }
}

/// Describes both results at a place.
fn results(
    facts: &SiteFacts<'_>,
    BothResults {
        documented,
        deckhand,
    }: BothResults<'_>,
    place: &Location,
) -> Vec<String> {
    let values = [place.get(documented), place.get(deckhand)];
    let around = if values[0].is_some() {
        documented
    } else {
        deckhand
    };
    let shown = facts
        .shown_place(around, place)
        .map(|place| format!("`{place}`"));
    let is_secret = values.iter().flatten().any(|value| value.holds_secret());
    let Some(shown) = shown.filter(|_| !is_secret) else {
        return vec!["both results are secret and not shown".to_owned()];
    };
    let one = |value: Option<&Node>| match value {
        None => format!("{shown} does not exist"),
        Some(value) => {
            let items = value
                .as_sequence()
                .map(|items| format!(" ({} items)", items.len()));
            let value = to_flow(value, MAX_RESULT_CHARS);
            format!("{shown} is `{value}`{}", items.unwrap_or_default())
        }
    };
    let [documented, deckhand] = values.map(one);
    vec![
        format!("by the documentation, {documented}"),
        format!("in Deckhand, {deckhand}"),
    ]
}
