//! `undecided-semantics`: a document renders differently in the two meanings, of which none is chosen.

use super::SiteFacts;
use super::counterpart::Parting;
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::{Destination, DocId, Op, Recipe};
use crate::source::Span;
use crate::yaml::Node;
use crate::yaml::diff::same;
use crate::yaml::emit::to_flow;
use crate::yaml::path::{Location, Piece, children};

super::rule!(
    "undecided-semantics",
    Error,
    "a document renders differently by Deckhand's documentation and by its code, and neither is \
     chosen"
);

/// Maximum number of places whose two results a finding shows.
const MAX_RESULTS: usize = 3;

/// Maximum number of characters of one result.
const MAX_RESULT_CHARS: usize = 200;

/// The findings of a site that is rendered as documented; `deckhand` is the same site in
/// Deckhand's meaning, and `partings` are the texts at which the two part.
pub(super) fn word(
    documented: &SiteFacts<'_>,
    deckhand: &SiteFacts<'_>,
    partings: impl Iterator<Item = Parting>,
) -> Vec<Diagnostic> {
    let both = Both { documented, deckhand };
    let reaches_output = both.reaching_differing_outputs();
    partings
        .filter(|parting| reaches_output[parting.doc.index()])
        .filter_map(|parting| both.word(parting))
        .collect()
}

/// A site in both meanings.
struct Both<'a> {
    documented: &'a SiteFacts<'a>,
    deckhand: &'a SiteFacts<'a>,
}

impl<'a> Both<'a> {
    /// Which documents an output is made of that differs, by id; such an output among them.
    fn reaching_differing_outputs(&self) -> Vec<bool> {
        let graph = self.deckhand.graph;
        let differing = graph.outputs().map(|(doc, _)| doc).filter(|doc| self.differs(*doc));
        let differing: Vec<DocId> = differing.collect();
        let mut needed = self.documented.graph.closure(differing.clone());
        for (doc, is_needed) in graph.closure(differing).into_iter().enumerate() {
            needed[doc] |= is_needed;
        }
        needed
    }

    fn differs(&self, doc: DocId) -> bool {
        self.deckhand.rendered.untouched(doc).is_none()
            && self.data(doc).is_some_and(|(documented, deckhand)| !same(documented, deckhand))
    }

    fn data(&self, doc: DocId) -> Option<(&'a Node, &'a Node)> {
        Some((self.documented.rendered.data(doc)?, self.deckhand.rendered.data(doc)?))
    }

    /// None where both meanings come to the same at this text.
    fn word(&self, parting: Parting) -> Option<Diagnostic> {
        let Parting { doc, at } = parting;
        let (documented, deckhand) = self.data(doc)?;
        let places = self.places_of(parting, differing_places(documented, deckhand));
        if places.is_empty() {
            return None;
        }
        let facts = self.documented;
        let name = facts.name(doc);
        let message =
            format!("`{name}` renders differently by Deckhand's documentation and by its code");
        let label = Label::new(at, "the two differ here, and neither is chosen");
        let mut finding = Diagnostic::new(&RULE, message, label);
        for place in places.iter().take(MAX_RESULTS) {
            for result in results(facts, (documented, deckhand), place) {
                finding = finding.note(result);
            }
        }
        if places.len() > MAX_RESULTS {
            finding = finding.note("the document differs in more places");
        }
        let finding = finding.help(
            "add `semantics: deckhand` to `layercake.yaml` to render what Deckhand does and \
             deploys, or `semantics: documented` to render what its documentation promises",
        );
        Some(finding.document(facts.document(doc).key.clone()))
    }

    /// Those of the `places` that differ because of this text: those at which it writes. All of
    /// them where it writes none and nothing else of the document's can be the cause.
    fn places_of(&self, parting: Parting, places: Vec<Location>) -> Vec<Location> {
        let Parting { doc, at } = parting;
        let at = written_by(self.documented.graph.recipe(doc), at);
        let sides = [self.documented.rendered, self.deckhand.rendered];
        let writes = sides.into_iter().flat_map(|side| side.writes(doc));
        let writes = writes.filter(|write| at.contains(&write.at));
        let written: Vec<&Location> = writes.map(|write| &*write.location).collect();
        let meets = |place: &Location| {
            written.iter().any(|write| write.starts_with(place) || place.starts_with(write))
        };
        let (own, others): (Vec<_>, Vec<_>) = places.into_iter().partition(meets);
        let needs = self.documented.graph.recipe(doc).needs.iter();
        let is_first = !needs.clone().any(|need| self.differs(need.doc));
        if own.is_empty() && is_first { others } else { own }
    }
}

/// The texts that name the places which the step with the text `at` writes.
fn written_by(recipe: &Recipe, at: Span) -> Vec<Span> {
    let mut texts = vec![at];
    for step in recipe.steps.iter() {
        let Op::Substitute(substitution) = step.op else { continue };
        let writing = substitution.writing;
        let is_read = writing.from.span == at;
        let is_meant = |to: &&Destination| {
            is_read || to.part.as_ref().is_some_and(|part| part.pattern.span == at)
        };
        texts.extend(writing.to.iter().filter(is_meant).map(|to| to.path.span));
    }
    texts
}

/// The outermost places below which nothing can be compared one by one.
fn differing_places(documented: &Node, deckhand: &Node) -> Vec<Location> {
    let mut places = Vec::new();
    add_differing(documented, deckhand, &mut Location::root(), &mut places);
    places
}

fn add_differing(
    documented: &Node,
    deckhand: &Node,
    here: &mut Location,
    places: &mut Vec<Location>,
) {
    if same(documented, deckhand) {
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

/// Both results at a place, in words.
fn results(
    facts: &SiteFacts<'_>,
    (documented, deckhand): (&Node, &Node),
    place: &Location,
) -> Vec<String> {
    let values = [place.get(documented), place.get(deckhand)];
    let around = if values[0].is_some() { documented } else { deckhand };
    let shown = facts.shown_place(around, place).map(|place| format!("`{place}`"));
    let is_secret = values.iter().flatten().any(|value| value.holds_secret());
    let Some(shown) = shown.filter(|_| !is_secret) else {
        return vec!["both results are secret, and not shown".to_owned()];
    };
    let one = |value: Option<&Node>| match value {
        None => format!("there is no {shown}"),
        Some(value) => {
            let items = value.as_sequence().map(|items| format!(" ({} items)", items.len()));
            let value = to_flow(value, MAX_RESULT_CHARS);
            format!("{shown} is `{value}`{}", items.unwrap_or_default())
        }
    };
    let [documented, deckhand] = values.map(one);
    vec![format!("by the documentation, {documented}"), format!("in Deckhand, {deckhand}")]
}
