//! One site on one side: related, rendered and judged. Documents that are equal in several sites,
//! or on both sides, are rendered and judged once.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use parking_lot::Mutex;
use rayon::prelude::*;

use super::configuration::MetSources;
use super::files::SideFile;
use super::load::{Loaded, LoadedSide, SetFiles};
use super::{Plan, RenderedSite, Work};
use crate::compare::{KnownRoutes, Side};
use crate::deployment::{DeployedSide, Deployment};
use crate::diagnostic::Diagnostic;
use crate::graph::{DocId, Graph};
use crate::render::{Extent, FileSet, MadeDocument, Matching, Rendered, Table, render_with};
use crate::rules::{self, CertificateTally, Correction, SchemaRules, SiteCertificates, SiteFacts};
use crate::source::{FileId, SourceMap, Span};
use crate::stopwatch::{Stage, add_count, split, time};
use crate::system::cloud_init::{Set, Sets};
use crate::system::deckhand::Site;
use crate::system::deckhand::document::Document;
use crate::system::deckhand::layout::{LayoutProblem, Place};
use crate::yaml::{Node, Value, Whole};

type Lookup<K, V> = HashMap<K, V, RandomState>;

/// Documents that were rendered before, with their findings.
#[derive(Default)]
pub(super) struct KnownDocuments {
    made: Table,
    of_documents: Mutex<Lookup<MadeDocument, JudgedFindings>>,
    /// Findings of all documents of a schema in a site.
    of_schemas: Mutex<Lookup<Vec<MadeDocument>, JudgedFindings>>,
    /// Routes to changed outputs.
    pub(super) routes: KnownRoutes,
}

type JudgedFindings = Arc<[Diagnostic]>;

impl KnownDocuments {
    /// Documents of these files, which several sites share.
    pub(super) fn of_files(files: FileSet) -> Self {
        Self {
            made: Table::of_files(files),
            ..Self::default()
        }
    }

    /// Keeps documents of these files only.
    pub(super) fn keeping(mut self, files: FileSet) -> Self {
        let kept = self.made.keep_files(files);
        self.of_documents
            .get_mut()
            .retain(|made, _| kept.contains(made));
        let are_kept = |all: &[MadeDocument]| all.iter().all(|made| kept.contains(made));
        self.of_schemas.get_mut().retain(|all, _| are_kept(all));
        self
    }
}

/// Work to do on a site.
pub(super) struct SiteWork<'f> {
    pub(super) kind: Work,
    /// Returns the documents to render, for [`Work::Answer`].
    pub(super) documents: &'f dyn Fn(&Graph) -> Vec<DocId>,
}

impl SiteWork<'_> {
    /// Work for which the documents to render are known.
    pub(super) fn of(kind: Work) -> Self {
        let documents = &|_: &Graph| Vec::new();
        Self { kind, documents }
    }
}

/// A site on one side, rendered and judged.
pub(super) struct OneSide<'a> {
    pub(super) related: Related<'a>,
    pub(super) rendered: Rendered,
    deployment: OnceLock<Deployment>,
    /// Its certificates, if rules judged them.
    pub(super) certificates: CertificateTally,
    pub(super) findings: Vec<Diagnostic>,
    /// Documents without Deckhand metadata.
    no_metadata: Whole,
}

impl<'a> OneSide<'a> {
    /// Renders and judges the files of `set`, reusing `known` documents. Relations that did not
    /// change are taken from `before`, the site's earlier state or other side.
    pub(super) fn of(
        plan: &Plan,
        loaded: &'a Loaded,
        (side, set): (&'a LoadedSide, &SetFiles),
        known: &[&KnownDocuments],
        before: Option<&OneSide<'a>>,
        work: &SiteWork<'_>,
    ) -> Self {
        let documents = set
            .files
            .iter()
            .flat_map(|file| &loaded.file(*file).documents)
            .collect();
        let (name, sets) = (set.name.clone(), loaded.sets(plan, side, set));
        let related = time(Stage::Relate, || {
            Related::of(plan, (name, documents, sets), side.all_sets(), before)
        });
        add_count(Stage::Relate, || 1);
        let graph = &related.graph;
        let rendered = time(Stage::Render, || {
            let extent = match work.kind {
                Work::Judge | Work::Render => Extent::All,
                Work::Merge => {
                    let is_of_set = |doc: &DocId| related.sets.member(*doc).is_some();
                    Extent::Only(
                        graph
                            .outputs()
                            .map(|(doc, _)| doc)
                            .filter(is_of_set)
                            .collect(),
                    )
                }
                Work::Answer | Work::Relate => Extent::Only((work.documents)(graph)),
            };
            render_with(graph, (&tables(plan, known), Matching::Texts), extent)
        });
        add_count(Stage::Render, || {
            let outputs = graph.outputs();
            let is_made = |doc: DocId| rendered.is_wanted(doc) && !rendered.is_taken(doc);
            outputs.filter(|(doc, _)| is_made(*doc)).count()
        });
        let deployment = OnceLock::new();
        let certificates = OnceLock::new();
        let facts = related.facts(loaded, &rendered, (&deployment, &certificates));
        let mut findings = match work.kind {
            Work::Judge | Work::Render => time(Stage::Rules, || judged(&facts, known)),
            Work::Merge => time(Stage::Rules, || rules::report_sets(&facts)),
            Work::Answer | Work::Relate => Vec::new(),
        };
        add_count(Stage::Rules, || findings.len());
        if work.kind == Work::Judge {
            let slips = Slips {
                plan,
                loaded,
                side,
                set,
                known,
                related: &related,
            };
            time(Stage::Rules, || slips.mark(&facts, &mut findings));
        }
        for finding in &mut findings {
            finding.sites = set.name.iter().cloned().collect();
        }
        let judged_certificates = certificates.get();
        let tally = judged_certificates.map(|certificates| certificates.tally(&facts));
        let tally = tally.unwrap_or_default();
        let nothing = Node::new(Value::Null, Span::point(FileId::default(), 0));
        let no_metadata = Whole::Held(nothing);
        Self {
            related,
            rendered,
            deployment,
            certificates: tally,
            findings,
            no_metadata,
        }
    }

    /// Data that is compared.
    pub(super) fn side(&self) -> Side<'_> {
        let written = self
            .related
            .site
            .documents
            .iter()
            .map(|document| document.whole());
        let others = self.related.sets.iter().map(|_| &self.no_metadata);
        Side::new(
            &self.related.graph,
            &self.rendered,
            written.chain(others).collect(),
        )
    }

    /// Data that callers see.
    pub(super) fn at_hand<'s>(&'s self, sources: &'s SourceMap) -> RenderedSite<'s> {
        let Related {
            site, sets, graph, ..
        } = &self.related;
        RenderedSite {
            site,
            sets,
            graph,
            rendered: &self.rendered,
            sources,
        }
    }

    /// The side, with what of it is deployed.
    pub(super) fn deployed(&self) -> DeployedSide<'_> {
        let (graph, rendered) = (&self.related.graph, &self.rendered);
        DeployedSide {
            graph,
            rendered,
            deployment: self
                .deployment
                .get_or_init(|| Deployment::of(graph, rendered)),
        }
    }

    /// Number of outputs.
    pub(super) fn outputs(&self) -> usize {
        self.related.graph.outputs().count()
    }
}

/// Maximum number of documents in all corrected sites of a site, where one corrected site is always
/// allowed, and in all renderings without one edit.
pub(super) const MAX_TRIED_DOCUMENTS: usize = 30_000;

/// The slips in a site whose remedy is known.
struct Slips<'s, 'a> {
    plan: &'s Plan,
    loaded: &'a Loaded,
    side: &'a LoadedSide,
    set: &'s SetFiles,
    known: &'s [&'s KnownDocuments],
    related: &'s Related<'a>,
}

impl Slips<'_, '_> {
    /// Marks the findings that do not occur in the site without a slip.
    fn mark(&self, facts: &SiteFacts<'_>, findings: &mut [Diagnostic]) {
        if let Some((at, documents)) = self.with_type() {
            self.mark_without(&[at], || documents, findings);
        }
        let most = (MAX_TRIED_DOCUMENTS / self.related.site.documents.len().max(1)).max(1);
        for (tried, correction) in rules::corrections(facts).iter().enumerate() {
            let reported = &correction.reported;
            if tried < most {
                self.mark_without(reported, || self.corrected(correction), findings);
                continue;
            }
            for finding in findings
                .iter_mut()
                .filter(|it| reported.contains(&it.primary.span))
            {
                finding.notes.push(UNTRIED.to_owned());
            }
        }
    }

    /// Marks the findings that do not occur in the site with these documents, as following from those
    /// that report the slip.
    fn mark_without<'m>(
        &'m self,
        reported: &[Span],
        documents: impl FnOnce() -> Vec<&'m Document>,
        findings: &mut [Diagnostic],
    ) {
        let is_reported = |it: &Diagnostic| reported.contains(&it.primary.span);
        if findings.iter().all(is_reported) {
            return;
        }
        let left = self.findings_in(documents());
        let left: HashSet<FindingPlace> = left.iter().map(place).collect();
        let gone = |it: &&mut Diagnostic| !is_reported(it) && !left.contains(&place(it));
        for finding in findings.iter_mut().filter(gone) {
            match &mut finding.follows[..] {
                [places] => places.extend(reported),
                _ => finding.follows = vec![reported.to_vec()],
            }
        }
    }

    /// Documents of the site without a slip.
    fn corrected<'m>(&'m self, correction: &'m Correction) -> Vec<&'m Document> {
        let mut documents: Vec<&Document> = self.related.site.documents.clone();
        for (doc, document) in &correction.documents {
            documents[doc.index()] = document;
        }
        // First, so that a place in the document that it was made from is not found in it.
        documents.splice(0..0, &correction.added);
        documents
    }

    /// The place of an unknown site type, and the documents of the site with the type that it
    /// probably means: one of a similar name, or else the only unused one.
    fn with_type(&self) -> Option<(Span, Vec<&Document>)> {
        let problems = &self.side.layout_problems;
        let (at, near) = problems.iter().find_map(|problem| match problem {
            LayoutProblem::MissingType {
                site,
                site_type,
                near,
            } => (Some(site) == self.set.name.as_ref()).then_some((site_type.span, near)),
            _ => None,
        })?;
        let mut unused = problems.iter().filter_map(|problem| match problem {
            LayoutProblem::UnusedType { name, .. } => Some(name),
            _ => None,
        });
        let only = unused.next().filter(|_| unused.next().is_none());
        let meant = Place::Type(near.as_ref().or(only)?.clone());
        let is_of_site = |file: &&SideFile| {
            let is_read = file
                .repository
                .is_none_or(|it| self.set.repositories.contains(&it));
            self.set.files.contains(&file.id) || is_read && file.place.as_ref() == Some(&meant)
        };
        let files = self.side.files.iter().filter(is_of_site);
        Some((
            at,
            files
                .flat_map(|file| &self.loaded.file(file.id).documents)
                .collect(),
        ))
    }

    /// Findings in the site with these documents.
    fn findings_in(&self, documents: Vec<&Document>) -> Vec<Diagnostic> {
        let Self {
            plan,
            loaded,
            side,
            set,
            known,
            ..
        } = *self;
        let (name, sets) = (set.name.clone(), loaded.sets(plan, side, set));
        let site = Related::of(
            plan,
            (name, documents, sets),
            side.all_sets(),
            std::iter::empty(),
        );
        let known_tables = (&tables(plan, known)[..], Matching::Values);
        let rendered = render_with(&site.graph, known_tables, Extent::All);
        let on_demand = (&OnceLock::new(), &OnceLock::new());
        let facts = SiteFacts {
            are_shown: false,
            ..site.facts(loaded, &rendered, on_demand)
        };
        judged(&facts, known)
    }
}

/// Note on a slip without which the site was not rendered.
const UNTRIED: &str =
    "which findings follow from this one was not decided: the site has too many slips";

/// Identity of a finding in nearly the same site, where its message may differ.
type FindingPlace = (&'static str, Span);

fn place(finding: &Diagnostic) -> FindingPlace {
    (finding.rule.name, finding.primary.span)
}

/// Tables of the known documents; none if each document is to be rendered anew.
pub(super) fn tables<'k>(plan: &Plan, known: &[&'k KnownDocuments]) -> Vec<&'k Table> {
    let known = known.iter().filter(|_| plan.options.shares_documents);
    known.map(|known| &known.made).collect()
}

/// All findings of a site. Reuses findings of `known` documents.
pub(super) fn judged(facts: &SiteFacts<'_>, known: &[&KnownDocuments]) -> Vec<Diagnostic> {
    let mut findings = rules::report_problems(facts);
    findings.extend(found_in_documents(facts, known));
    findings.extend(found_in_schemas(facts, known));
    findings
}

/// Findings of each rendered document on its own.
fn found_in_documents(facts: &SiteFacts<'_>, known: &[&KnownDocuments]) -> Vec<Diagnostic> {
    let memo = |doc: DocId| Some(&known.get(facts.rendered.table(doc)?)?.of_documents);
    let (mut found, mut fresh) = (Vec::new(), Vec::new());
    for (doc, _) in facts.site.iter() {
        let made = facts.rendered.made(doc);
        match memo(doc).and_then(|memo| memo.lock().get(made).cloned()) {
            Some(findings) => found.extend(findings.iter().cloned()),
            None => fresh.push(doc),
        }
    }
    let of_fresh = rules::check_documents(facts, &fresh);
    // Do not reuse results after a failed check: it is reported at one document, and must be
    // reported in every site.
    if of_fresh
        .iter()
        .any(|(_, finding)| rules::is_internal(finding))
    {
        fresh.clear();
    }
    let mut by_document: Lookup<DocId, Vec<Diagnostic>> = Lookup::default();
    for (doc, finding) in of_fresh.iter().filter(|(doc, _)| memo(*doc).is_some()) {
        by_document.entry(*doc).or_default().push(finding.clone());
    }
    for (doc, memo) in fresh.into_iter().filter_map(|doc| Some((doc, memo(doc)?))) {
        let findings = by_document.remove(&doc).unwrap_or_default();
        memo.lock()
            .insert(facts.rendered.made(doc).clone(), findings.into());
    }
    found.extend(of_fresh.into_iter().map(|(_, finding)| finding));
    found
}

/// Findings of documents that are compared with others of their schema.
fn found_in_schemas(facts: &SiteFacts<'_>, known: &[&KnownDocuments]) -> Vec<Diagnostic> {
    let mut schemas: IndexMap<&str, Vec<DocId>, RandomState> = IndexMap::default();
    for (doc, recipe) in facts.graph.iter() {
        schemas.entry(&recipe.key.schema).or_default().push(doc);
    }
    let (schema_rules, split) = (SchemaRules::of(facts.settings), split());
    let of_schema = |docs: &Vec<DocId>| {
        let _part = split.part();
        let tables = docs.iter().map(|doc| facts.rendered.table(*doc));
        let table = tables
            .max_by_key(|table| table.unwrap_or(usize::MAX))
            .flatten();
        let Some(known) = table.and_then(|table| known.get(table)) else {
            return schema_rules.check(facts, docs).into();
        };
        let key: Vec<_> = docs
            .iter()
            .map(|doc| facts.rendered.made(*doc).clone())
            .collect();
        if let Some(findings) = known.of_schemas.lock().get(&key) {
            return findings.clone();
        }
        let findings: JudgedFindings = schema_rules.check(facts, docs).into();
        if !findings.iter().any(rules::is_internal) {
            known.of_schemas.lock().insert(key, findings.clone());
        }
        findings
    };
    let all: Vec<&Vec<DocId>> = schemas.values().collect();
    let found: Vec<JudgedFindings> = all.into_par_iter().map(of_schema).collect();
    drop(split);
    found
        .iter()
        .flat_map(|findings| findings.iter().cloned())
        .collect()
}

/// Documents of a site, of every system, and their dependency graph.
pub(super) struct Related<'a> {
    pub(super) site: Site<'a>,
    pub(super) sets: Sets<'a>,
    pub(super) graph: Graph,
    pub(super) met: MetSources,
}

impl<'a> Related<'a> {
    /// Relates the documents of a site of the plan and lowers them to recipes. Resource limits are
    /// divided by the number of sites. `earlier` are previous results that may be nearly equal.
    pub(super) fn of<'s, 'e: 'a + 's>(
        plan: &Plan,
        (name, documents, sets): (Option<Arc<str>>, Vec<&'a Document>, Vec<Set<'a>>),
        sharers: usize,
        earlier: impl IntoIterator<Item = &'s OneSide<'e>>,
    ) -> Self {
        let options = plan
            .options
            .configuration
            .options(&plan.options.deckhand, name.as_deref());
        let earlier = earlier.into_iter().map(|side| &side.related);
        let mut same_site = earlier.filter(|earlier| earlier.site.name == name);
        let again = same_site.find_map(|earlier| {
            let (site, graph) = earlier.site.again(&earlier.graph, &documents, &options)?;
            Some((site, graph, earlier.met.clone()))
        });
        let (site, mut graph, met) = again.unwrap_or_else(|| {
            let mut site = Site::new(name, documents, &options);
            let graph = site.to_graph(&options);
            let met = plan.options.configuration.remove_known(&mut site);
            (site, graph, met)
        });
        let sets = Sets::add_to(sets, &mut graph);
        Self {
            site,
            sets,
            graph: Graph { sharers, ..graph },
            met,
        }
    }

    /// Facts for the rules. What is deployed, and the certificates, are found when a rule first needs
    /// them.
    pub(super) fn facts<'s>(
        &'s self,
        loaded: &'s Loaded,
        rendered: &'s Rendered,
        (deployment, certificates): (&'s OnceLock<Deployment>, &'s OnceLock<SiteCertificates>),
    ) -> SiteFacts<'s> {
        SiteFacts {
            sources: &loaded.sources,
            site: &self.site,
            sets: &self.sets,
            graph: &self.graph,
            rendered,
            deployment,
            certificates,
            pem: &loaded.pem,
            schemas: &loaded.schemas,
            settings: &loaded.settings,
            are_shown: true,
        }
    }
}
