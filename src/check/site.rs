//! One site on one side: related, rendered and judged. Documents that are the same in another
//! rendering, of the other side or of another site, are taken from it.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::load::{Loaded, SetFiles, Side as LoadedSide};
use super::{Plan, RenderedSite, Work};
use crate::compare::Side;
use crate::diagnostic::Diagnostic;
use crate::graph::{DocId, Graph};
use crate::render::{Alike, Earlier, Extent, Rendered, render_again};
use crate::rules::{self, DocumentFinding, JudgedSite, SiteFacts};
use crate::source::{DocKey, FileId, SourceMap, Span};
use crate::stopwatch::{Stage, did, lap};
use crate::system::Written;
use crate::system::cloud_init::{Set, Sets};
use crate::system::deckhand::Site;
use crate::system::deckhand::document::Document;
use crate::yaml::{Node, Value, Whole};

type Lookup<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// A site as it is on one side, rendered and judged.
pub(super) struct OneSide<'a> {
    pub(super) related: Related<'a>,
    pub(super) rendered: Rendered,
    pub(super) findings: Vec<Diagnostic>,
    /// Those of rendered documents, among the others.
    of_documents: Vec<DocumentFinding>,
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
        let documents = set.files.iter().flat_map(|file| &loaded.file(*file).documents).collect();
        let (name, sets) = (set.name.clone(), loaded.sets(plan, side, set));
        let same_site = asked.before.into_iter().chain(earlier.map(|(side, _)| side));
        let related = lap(Stage::Relate, || {
            Related::of(plan, loaded, (name, documents, sets), side.all_sets, same_site)
        });
        did(Stage::Relate, || 1);
        let graph = &related.graph;
        let (from, rendered) = lap(Stage::Render, || {
            let from = earlier.map(|(side, alike)| side.earlier(&related, alike));
            let extent = match loaded.work {
                Work::Judge | Work::Render => Extent::All,
                Work::Merge => {
                    let is_of_set = |doc: &DocId| related.sets.member(*doc).is_some();
                    Extent::Only(graph.outputs().map(|(doc, _)| doc).filter(is_of_set).collect())
                }
                Work::Answer | Work::Relate => Extent::Only(asked.docs.to_vec()),
            };
            let rendered = render_again(graph, from.as_slice(), extent);
            (from, rendered)
        });
        did(Stage::Render, || {
            let outputs = graph.outputs();
            let is_made = |doc: DocId| rendered.is_wanted(doc) && rendered.untouched(doc).is_none();
            outputs.filter(|(doc, _)| is_made(*doc)).count()
        });
        let earlier_site = earlier.zip(from.as_ref()).map(|((side, _), from)| JudgedSite {
            site: &side.related.site,
            graph: &side.related.graph,
            rendered: &side.rendered,
            findings: &side.findings,
            twins: from.twins(),
        });
        let facts = SiteFacts { earlier: earlier_site, ..related.facts(loaded, &rendered) };
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
        Self { related, rendered, findings, of_documents, ids, no_metadata }
    }

    /// What is compared of it.
    pub(super) fn side(&self) -> Side<'_> {
        let written = self.related.site.documents.iter().map(|document| document.whole());
        let others = self.related.sets.iter().map(|_| &self.no_metadata);
        Side::new(&self.related.graph, &self.rendered, written.chain(others).collect())
    }

    /// What callers see of it.
    pub(super) fn at_hand<'s>(&'s self, sources: &'s SourceMap) -> RenderedSite<'s> {
        let Related { site, sets, graph, .. } = &self.related;
        RenderedSite { site, sets, graph, rendered: &self.rendered, sources }
    }

    /// What other documents can take from this.
    pub(super) fn earlier(&self, others: &Related<'_>, alike: Alike) -> Earlier<'_> {
        let here = &self.related;
        let is_in_place = others.site.is_related_as(&here.site);
        let in_place = if is_in_place { others.site.documents.len() } else { 0 };
        let twin = |(at, identity): (usize, &Identity)| match here.identities.get(at) {
            Some(here) if here == identity => Some(DocId::at(at)),
            // Another document than was here, and none that stands elsewhere.
            _ if at < in_place => None,
            _ => self.ids().get(identity).copied(),
        };
        let twins = others.identities.iter().enumerate().map(twin).collect();
        Earlier::new(&here.graph, &self.rendered, twins, alike)
    }

    fn ids(&self) -> &Lookup<Identity, DocId> {
        self.ids.get_or_init(|| {
            let identities = self.related.identities.iter().cloned().enumerate();
            identities.map(|(at, identity)| (identity, DocId::at(at))).collect()
        })
    }

    /// How many documents it renders to.
    pub(super) fn outputs(&self) -> usize {
        self.related.graph.outputs().count()
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
enum Identity {
    /// By its place in memory: it was read once.
    Document(usize),
    /// Another, of which there are few.
    Member(Box<Member>),
}

/// By what a member of a set is known to be the one of another rendering.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Member {
    /// A part, in one of the sets.
    Part(Arc<str>, usize),
    /// What is merged of some, by name, and whether it begins as nothing.
    Merged(DocKey, bool),
}

/// The identities of all documents of a site, in their order.
fn identities(site: &Site<'_>, sets: &Sets<'_>, graph: &Graph) -> Vec<Identity> {
    let documents = site.documents.iter();
    let documents =
        documents.map(|document| Identity::Document(Written::Deckhand(document).address()));
    let members = sets.iter().map(|(doc, member)| match member.part {
        Some(part) => {
            let set = sets.sets[member.set].name.clone();
            Member::Part(set, Written::Part(part).address())
        }
        None => {
            let recipe = graph.recipe(doc);
            Member::Merged(recipe.key.clone(), recipe.data.is_null())
        }
    });
    documents.chain(members.map(|member| Identity::Member(Box::new(member)))).collect()
}

/// The documents of a site, of every system, and the graph they are lowered to.
pub(super) struct Related<'a> {
    pub(super) site: Site<'a>,
    pub(super) sets: Sets<'a>,
    pub(super) graph: Graph,
    /// By what each document is known, in their order.
    identities: Vec<Identity>,
}

impl<'a> Related<'a> {
    /// Relates the documents of the site of this name as the plan has it, and lowers them, for one
    /// of so many sites; `earlier` are sites that were, of which the same site may be nearly the
    /// same.
    pub(super) fn of<'s, 'e: 'a + 's>(
        plan: &Plan<'_>,
        loaded: &Loaded,
        (name, documents, sets): (Option<Arc<str>>, Vec<&'a Document>, Vec<Set<'a>>),
        sharers: usize,
        earlier: impl IntoIterator<Item = &'s OneSide<'e>>,
    ) -> Self {
        let options = plan.options.configuration.options(&plan.options.deckhand, name.as_deref());
        let earlier = earlier.into_iter().map(|side| (&side.related.site, &side.related.graph));
        let mut same_site = earlier.filter(|(site, _)| site.name == name);
        let again = same_site.find_map(|(site, graph)| site.again(graph, &documents, &options));
        let (site, mut graph) = again.unwrap_or_else(|| {
            let mut site = Site::new(name, documents, &options);
            let graph = site.to_graph(&options);
            loaded.configured.without_known(&plan.options.configuration, &mut site);
            (site, graph)
        });
        let sets = Sets::add_to(sets, &mut graph);
        let identities = identities(&site, &sets, &graph);
        Self { site, sets, graph: Graph { sharers, ..graph }, identities }
    }

    /// Facts for the rules, without an earlier rendering.
    pub(super) fn facts<'s>(&'s self, loaded: &'s Loaded, rendered: &'s Rendered) -> SiteFacts<'s> {
        SiteFacts {
            sources: &loaded.sources,
            site: &self.site,
            sets: &self.sets,
            graph: &self.graph,
            rendered,
            schemas: &loaded.schemas,
            settings: &loaded.settings,
            earlier: None,
        }
    }
}
