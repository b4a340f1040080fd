//! A site as it is on one side, rendered and judged. What it has alike with
//! another rendering, of the other side or of another site, is taken from there.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::configuration::{Related, related};
use super::load::{Loaded, SetFiles, Side as LoadedSide};
use super::{CheckedSite, Plan, RenderedSite, Work};
use crate::compare::Side;
use crate::diagnostic::Diagnostic;
use crate::graph::{DocId, Graph};
use crate::render::{Alike, Earlier, Extent, Rendered, render_again};
use crate::rules::{self, DocumentFinding, JudgedSite, SiteFacts};
use crate::source::{DocKey, FileId, SourceMap, Span};
use crate::stopwatch::{Stage, did, lap};
use crate::system::Written;
use crate::system::cloud_init::Sets;
use crate::system::deckhand::Site;
use crate::system::deckhand::document::Document;
use crate::yaml::{Node, Value, Whole};

type Lookup<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// A site as it is on one side, rendered and judged.
pub(super) struct OneSide<'a> {
    pub(super) site: Site<'a>,
    pub(super) sets: Sets<'a>,
    pub(super) graph: Graph,
    pub(super) rendered: Rendered,
    pub(super) findings: Vec<Diagnostic>,
    /// Those of rendered documents, among the others.
    of_documents: Vec<DocumentFinding>,
    /// By what each document is known, in their order.
    identities: Vec<Identity>,
    /// The documents by that, as soon as another rendering takes from this one.
    ids: OnceLock<Lookup<Identity, DocId>>,
    /// What documents have that are none of Deckhand's.
    no_metadata: Whole,
}

/// What of a site is rendered where the run only answers.
#[derive(Clone, Copy, Default)]
pub(super) struct Asked<'s, 'a> {
    /// These documents, and what they need.
    pub(super) docs: &'s [DocId],
    /// The site as it was when fewer were asked for.
    pub(super) before: Option<&'s OneSide<'a>>,
}

impl<'a> OneSide<'a> {
    /// Renders and judges the files of `set`; what is alike in `earlier`, another
    /// rendering, is taken from there. What is `asked` counts where the run only answers.
    pub(super) fn of(
        plan: &Plan<'_>,
        loaded: &'a Loaded,
        (side, set): (&'a LoadedSide, &SetFiles),
        earlier: Option<(&OneSide<'a>, Alike)>,
        asked: Asked<'_, 'a>,
    ) -> Self {
        let documents: Vec<&'a Document> =
            set.files.iter().flat_map(|file| &loaded.file(*file).documents).collect();
        let (name, sets) = (set.name.clone(), loaded.sets(plan, side, set));
        let same_site = asked.before.into_iter().chain(earlier.map(|(side, _)| side));
        let same_site = same_site.map(|side| (&side.site, &side.graph));
        let related = lap(Stage::Relate, || {
            related(plan, &loaded.configured, name, documents, sets, same_site)
        });
        let identities = lap(Stage::Relate, || identities(&related));
        did(Stage::Relate, || 1);
        let Related { site, sets, graph } = related;
        let graph = Graph { sharers: side.all_sets, ..graph };
        let (from, rendered) = lap(Stage::Render, || {
            let from = earlier.map(|(side, alike)| side.earlier(&site, &identities, alike));
            let extent = match loaded.work {
                Work::Judge | Work::Render => Extent::All,
                Work::Merge => {
                    let outputs = graph.outputs().map(|(doc, _)| doc);
                    Extent::Only(outputs.filter(|doc| sets.member(*doc).is_some()).collect())
                }
                Work::Answer | Work::Relate => Extent::Only(asked.docs.to_vec()),
            };
            let rendered = render_again(&graph, from.as_slice(), extent);
            (from, rendered)
        });
        did(Stage::Render, || {
            let outputs = graph.outputs();
            let is_made = |doc: DocId| rendered.is_wanted(doc) && rendered.untouched(doc).is_none();
            outputs.filter(|(doc, _)| is_made(*doc)).count()
        });
        let facts = SiteFacts {
            sources: &loaded.sources,
            site: &site,
            sets: &sets,
            graph: &graph,
            rendered: &rendered,
            schemas: &loaded.schemas,
            settings: &loaded.settings,
            earlier: earlier.zip(from.as_ref()).map(|((side, _), from)| JudgedSite {
                site: &side.site,
                graph: &side.graph,
                rendered: &side.rendered,
                findings: &side.findings,
                twins: from.twins(),
            }),
        };
        let other = earlier.map(|(side, _)| side);
        let (of_documents, mut findings) = match loaded.work {
            Work::Judge | Work::Render => lap(Stage::Rules, || judged(&facts, other)),
            Work::Merge => (Vec::new(), lap(Stage::Rules, || rules::word_sets(&facts))),
            Work::Answer | Work::Relate => (Vec::new(), Vec::new()),
        };
        did(Stage::Rules, || findings.len());
        for finding in &mut findings {
            finding.sites = set.name.iter().cloned().collect();
        }
        let nothing = Node::new(Value::Null, Span::point(FileId::default(), 0));
        let (ids, no_metadata) = (OnceLock::new(), Whole::Held(nothing));
        Self { site, sets, graph, rendered, findings, of_documents, identities, ids, no_metadata }
    }

    /// What is compared of it.
    pub(super) fn side(&self) -> Side<'_> {
        let written = self.site.documents.iter().map(|document| document.whole());
        let others = self.sets.iter().map(|_| &self.no_metadata);
        Side::new(&self.graph, &self.rendered, written.chain(others).collect())
    }

    /// What callers see of it.
    pub(super) fn at_hand<'s>(&'s self, sources: &'s SourceMap) -> RenderedSite<'s> {
        let Self { site, sets, graph, rendered, .. } = self;
        RenderedSite { site, sets, graph, rendered, sources }
    }

    /// What the documents of `site`, known as `identities`, can take from this.
    pub(super) fn earlier(
        &self,
        site: &Site<'_>,
        identities: &[Identity],
        alike: Alike,
    ) -> Earlier<'_> {
        let in_place = if site.is_related_as(&self.site) { site.documents.len() } else { 0 };
        let twin = |(at, identity): (usize, &Identity)| match self.identities.get(at) {
            Some(here) if here == identity => Some(DocId::at(at)),
            // Another document than was here, and none that stands elsewhere.
            _ if at < in_place => None,
            _ => self.ids().get(identity).copied(),
        };
        let twins = identities.iter().enumerate().map(twin).collect();
        Earlier::new(&self.graph, &self.rendered, twins, alike)
    }

    fn ids(&self) -> &Lookup<Identity, DocId> {
        self.ids.get_or_init(|| {
            let identities = self.identities.iter().cloned().enumerate();
            identities.map(|(at, identity)| (identity, DocId::at(at))).collect()
        })
    }

    /// How many documents it renders to.
    pub(super) fn outputs(&self) -> usize {
        self.graph.outputs().count()
    }

    /// What is told of it; `taken` is what the caller took.
    pub(super) fn checked(&self, set: &SetFiles, taken: Option<()>) -> CheckedSite<()> {
        CheckedSite {
            name: set.name.clone(),
            site_type: set.site_type.clone(),
            files: set.files.len(),
            documents: self.site.documents.len(),
            outputs: self.outputs(),
            taken,
        }
    }
}

/// The findings of a side's rendered documents, and all that it has.
fn judged(
    facts: &SiteFacts<'_>,
    other: Option<&OneSide<'_>>,
) -> (Vec<DocumentFinding>, Vec<Diagnostic>) {
    let of_documents = of_documents(facts, other);
    let mut findings = rules::word_problems(facts);
    findings.extend(of_documents.iter().map(|(_, finding)| finding.clone()));
    (of_documents, findings)
}

/// The findings of a side's rendered documents; of those that are the same in
/// the other rendering they are taken from there.
fn of_documents(facts: &SiteFacts<'_>, other: Option<&OneSide<'_>>) -> Vec<DocumentFinding> {
    let mut known: Lookup<DocId, DocId> = Lookup::default();
    let mut fresh = Vec::new();
    for (doc, _) in facts.site.iter() {
        match facts.rendered.untouched(doc) {
            Some(twin) => drop(known.insert(twin, doc)),
            None => fresh.push(doc),
        }
    }
    let taken = other.into_iter().flat_map(|side| &side.of_documents);
    let taken = taken.filter_map(|(twin, finding)| Some((*known.get(twin)?, finding.clone())));
    let mut found: Vec<DocumentFinding> = taken.collect();
    found.extend(rules::check_documents(facts, &fresh));
    found
}

/// By what a document is known to be the one of another rendering.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Identity {
    /// By its place in memory: it was read once.
    Document(usize),
    /// Another, of which there are few.
    Member(Box<Member>),
}

/// By what a member of a set is known to be the one of another rendering.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Member {
    /// A part, in one of the sets.
    Part(Arc<str>, usize),
    /// What is merged of some, by name, and whether it begins as nothing.
    Merged(DocKey, bool),
}

/// The identities of all documents of a site, in their order.
pub(super) fn identities(related: &Related<'_>) -> Vec<Identity> {
    let documents = related.site.documents.iter();
    let documents =
        documents.map(|document| Identity::Document(Written::Deckhand(document).address()));
    let members = related.sets.iter().map(|(doc, member)| match member.part {
        Some(part) => {
            let set = related.sets.sets[member.set].name.clone();
            Member::Part(set, Written::Part(part).address())
        }
        None => {
            let recipe = related.graph.recipe(doc);
            Member::Merged(recipe.key.clone(), recipe.data.is_null())
        }
    });
    documents.chain(members.map(|member| Identity::Member(Box::new(member)))).collect()
}
