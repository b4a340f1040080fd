//! Rendering of graphs.
//!
//! [`render`] runs each recipe after its dependencies, wave by wave, in parallel. A failing step is
//! reported and skipped, and the document is rendered without it. Only members of cycles and their
//! dependents are not rendered. Nodes are moved and shared, never deeply copied, and keep their
//! spans. Resolving which document is merged into which is done elsewhere.

mod delta;
pub mod effect;
pub mod flow;
mod limits;
mod numbering;
mod problem;
pub mod replay;
mod stroke;
mod substitute;
mod table;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use layercake_source::{Span, Spanned};
use layercake_yaml::path::{Location, Path, Segment, WalkError};
use layercake_yaml::{Node, Value};
use rayon::prelude::*;

pub use limits::{MAX_COPIES, MAX_DEPTH, MAX_WORK, SizeLimit};
pub use problem::{
    ActionProblem, CombineProblem, InvalidSubstitution, MissingActionPath, MissingValue,
    PatternTexts, Problem, ProblemKind, SubstitutionProblem,
};
pub use table::{FileSet, MadeDocument, Matching, Table};

use self::limits::{Allowance, Cost};
use self::stroke::{Author, Strokes};
use self::table::Tables;
use crate::graph::{Combine, DocId, Edge, Graph, Op, Recipe, Step};
use crate::guard::{self, Place};
use crate::merge::deckhand::{self, ActionPath, Difference, Method};
use crate::stopwatch;

/// Result of rendering a graph.
#[derive(Debug)]
pub struct Rendered {
    /// Rendered documents; a blocked one has null data.
    made: Vec<MadeDocument>,
    /// Blocking document of each blocked document; nearly always empty.
    blockers: Blockers,
    /// Index of the table that keeps each document, by id.
    levels: Vec<Option<usize>>,
    /// Whether each document was taken from a table, by id.
    taken: Vec<bool>,
    /// Whether each document was requested, by id; `None` if all were.
    wanted: Option<Vec<bool>>,
    /// Cost limits of each document, for those that are rendered again.
    allowance: Allowance,
    /// Problems, by document and step.
    pub problems: Vec<Problem>,
}

type Blockers = HashMap<DocId, DocId, foldhash::fast::RandomState>;

/// Rendering outcome of one document.
#[derive(Clone, Copy, Debug)]
pub enum Outcome<'r> {
    /// Its rendered data.
    Ready(&'r Node),
    /// Not rendered: this document, which is itself or a dependency, is on a cycle or hit a bug in
    /// layercake.
    Blocked(DocId),
}

/// Place of a document that a step wrote.
#[derive(Clone, Debug)]
pub struct Write {
    /// Index of the step in the recipe.
    pub step: usize,
    /// Place in the document. All writes along a path of names share one location, so its keys have
    /// no spans in the document ([`Location::in_data`] adds them).
    pub location: Arc<Location>,
    /// Kind of the write.
    pub kind: WriteKind,
    /// Source text of the destination.
    pub at: Span,
    /// Length of the prefix of `location` that leads to the topmost created ancestor; `None` if all
    /// ancestors existed.
    pub created: Option<usize>,
    /// Whether a whole list or mapping was written.
    pub is_collection: bool,
}

/// Origin and extent of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteKind {
    /// Own data of the document, by a layering action.
    Layered,
    /// Another whole document.
    Merged,
    /// A whole value from another document.
    Whole,
    /// Part of a string, from another document.
    Part,
}

impl Rendered {
    /// Returns the rendering outcome of a document.
    pub fn outcome(&self, doc: DocId) -> Outcome<'_> {
        match self.blockers.get(&doc) {
            Some(blocker) => Outcome::Blocked(*blocker),
            None => Outcome::Ready(&self.made[doc.index()].data),
        }
    }

    /// Returns whether rendering hit a bug in layercake.
    pub fn has_failed(&self) -> bool {
        self.problems
            .iter()
            .any(|problem| matches!(problem.kind, ProblemKind::Failed))
    }

    /// Returns whether the document was requested.
    pub fn is_wanted(&self, doc: DocId) -> bool {
        self.wanted
            .as_ref()
            .is_none_or(|wanted| wanted[doc.index()])
    }

    /// Returns the rendered data of a document, if any.
    pub fn data(&self, doc: DocId) -> Option<&Node> {
        match self.outcome(doc) {
            Outcome::Ready(data) => Some(data),
            Outcome::Blocked(_) => None,
        }
    }

    /// Returns the rendered document in the form that is shared with other renderings.
    pub fn made(&self, doc: DocId) -> &MadeDocument {
        &self.made[doc.index()]
    }

    /// Returns the index of the table that keeps a document, among those passed to [`render_with`].
    pub fn table(&self, doc: DocId) -> Option<usize> {
        self.levels[doc.index()]
    }

    /// Returns whether the document was taken from an earlier rendering.
    pub fn is_taken(&self, doc: DocId) -> bool {
        self.taken[doc.index()]
    }

    /// Returns the problems of a document, by step.
    pub fn problems_of(&self, doc: DocId) -> &[Problem] {
        let start = self.problems.partition_point(|problem| problem.doc < doc);
        let rest = &self.problems[start..];
        &rest[..rest.partition_point(|problem| problem.doc == doc)]
    }

    /// Returns the writes of a document's steps, in order.
    pub fn writes(&self, doc: DocId) -> &[Write] {
        &self.made[doc.index()].writes
    }
}

/// Renders every document of `graph`.
pub fn render(graph: &Graph) -> Rendered {
    render_with(graph, (&[], Matching::Texts), Extent::All)
}

/// Documents of a graph to render.
#[derive(Clone, Debug)]
pub enum Extent {
    /// Every document.
    All,
    /// These and their dependencies; the others get null data.
    Only(Vec<DocId>),
}

/// Renders `graph` with the same values as [`render`], reusing documents from `tables`. With
/// [`Matching::Texts`], also adds new documents to the tables: each to the first table that keeps
/// it, with its inputs in the same or an earlier table.
pub fn render_with(graph: &Graph, tables: (&[&Table], Matching), extent: Extent) -> Rendered {
    let order = graph.waves();
    let allowance = Allowance::of_each(graph);
    let (list, matching) = tables;
    let mut tables = Tables::new(graph, list, matching, allowance);
    let wanted = match extent {
        Extent::All => None,
        Extent::Only(docs) => Some(graph.closure(docs)),
    };
    let mut made: Vec<Option<MadeDocument>> = Vec::new();
    made.resize_with(graph.recipes.len(), || None);
    let mut failures = Vec::new();
    let mut problems = Vec::new();
    for wave in &order.waves {
        let mut fresh = Vec::new();
        for doc in wave {
            if !failures.is_empty() && !has_rendered_needs(graph, *doc, &made) {
                continue;
            }
            let is_wanted = wanted.as_ref().is_none_or(|wanted| wanted[doc.index()]);
            let known = if is_wanted {
                tables.take(*doc, &made)
            } else {
                Some(MadeDocument::empty(graph.recipe(*doc)))
            };
            match known {
                Some(known) => made[doc.index()] = Some(known),
                None => fresh.push(*doc),
            }
        }
        let outcomes = make(graph, &fresh, &made, allowance);
        let mut sound = Vec::with_capacity(fresh.len());
        for (doc, outcome) in fresh.into_iter().zip(outcomes) {
            match outcome {
                Some((document, of_document)) => {
                    made[doc.index()] = Some(document);
                    if of_document.is_empty() {
                        sound.push(doc);
                    }
                    problems.extend(of_document);
                }
                None => failures.push(doc),
            }
        }
        tables.keep(&sound, &made);
    }
    let unmade = Unmade {
        cycles: order.cycles,
        failures,
    };
    let blockers = blockers(graph, &made, &unmade);
    problems.extend(unmade.problems(graph));
    problems.sort_by_key(|problem| problem.doc);
    let made = made.into_iter().enumerate().map(|(index, made)| {
        made.unwrap_or_else(|| MadeDocument::empty(graph.recipe(DocId::at(index))))
    });
    let (levels, taken) = tables.into_parts();
    Rendered {
        made: made.collect(),
        blockers,
        levels,
        taken,
        wanted,
        allowance,
        problems,
    }
}

/// Renders `docs` and their dependents again, and takes all others from `rendered`. Both graphs
/// must have the same recipes; only the semantics may differ.
pub fn render_in_part(graph: &Graph, rendered: &Rendered, docs: Vec<DocId>) -> Rendered {
    let is_affected = graph.dependents(docs);
    let allowance = Allowance::of_each(graph);
    let mut made: Vec<Option<MadeDocument>> = rendered.made.iter().cloned().map(Some).collect();
    let mut problems = Vec::new();
    for wave in graph.waves().waves {
        let fresh: Vec<DocId> = wave
            .into_iter()
            .filter(|doc| is_affected[doc.index()] && !rendered.blockers.contains_key(doc))
            .collect();
        let outcomes = make(graph, &fresh, &made, allowance);
        for (doc, outcome) in fresh.into_iter().zip(outcomes) {
            let (document, of_document) = outcome.unwrap_or_else(|| {
                let recipe = graph.recipe(doc);
                let failed = Problem {
                    doc,
                    at: recipe.span,
                    kind: ProblemKind::Failed,
                };
                (MadeDocument::empty(recipe), vec![failed])
            });
            made[doc.index()] = Some(document);
            problems.extend(of_document);
        }
    }
    problems.sort_by_key(|problem| problem.doc);
    Rendered {
        made: made.into_iter().flatten().collect(),
        blockers: rendered.blockers.clone(),
        wanted: rendered.wanted.clone(),
        levels: vec![None; graph.recipes.len()],
        taken: is_affected.iter().map(|is_affected| !is_affected).collect(),
        allowance,
        problems,
    }
}

/// Renders documents whose dependencies are rendered. Returns each with its problems, or `None` if
/// it hit a bug in layercake.
fn make(
    graph: &Graph,
    docs: &[DocId],
    made: &[Option<MadeDocument>],
    allowance: Allowance,
) -> Vec<Option<(MadeDocument, Vec<Problem>)>> {
    let split = stopwatch::split();
    docs.par_iter()
        .with_min_len(32)
        .map(|doc| {
            let _part = split.part();
            let ready = |doc: DocId| {
                let made = made[doc.index()].as_ref();
                &made.expect("a wave depends only on earlier waves").data
            };
            guard::guarded(Place::Document(&graph.recipe(*doc).key.name), || {
                Making::new(graph, *doc, &ready, allowance)
                    .run(&ready)
                    .made()
            })
        })
        .collect()
}

/// Returns whether all dependencies of a document are rendered.
fn has_rendered_needs(graph: &Graph, doc: DocId, made: &[Option<MadeDocument>]) -> bool {
    graph
        .recipe(doc)
        .needs
        .iter()
        .all(|need| made[need.doc.index()].is_some())
}

/// Reasons why documents were not rendered.
struct Unmade {
    cycles: Vec<Vec<Edge>>,
    /// Documents that hit a bug in layercake.
    failures: Vec<DocId>,
}

impl Unmade {
    fn problems(self, graph: &Graph) -> impl Iterator<Item = Problem> {
        let failures = self.failures.into_iter().map(|doc| {
            let at = graph.recipe(doc).span;
            Problem {
                doc,
                at,
                kind: ProblemKind::Failed,
            }
        });
        let cycles = self.cycles.into_iter().map(|cycle| {
            let Edge { doc, need } = cycle[0];
            Problem {
                doc,
                at: need.at,
                kind: ProblemKind::Cycle(cycle),
            }
        });
        failures.chain(cycles)
    }
}

/// Details of a write.
#[derive(Default)]
struct Put {
    /// The topmost ancestor that was created.
    created: Option<Location>,
    is_collection: bool,
}

/// Rendered document, with its writes and cost.
#[derive(Clone, Debug)]
pub struct Made {
    data: Node,
    writes: Arc<[Write]>,
    cost: Cost,
}

/// Returns the blocking document of each document that was not rendered: itself if it is on a cycle
/// or failed, otherwise the one found by following the first unrendered dependency.
fn blockers(graph: &Graph, made: &[Option<MadeDocument>], unmade: &Unmade) -> Blockers {
    let members = unmade.cycles.iter().flatten().map(|edge| edge.doc);
    let mut blockers: Blockers = members
        .chain(unmade.failures.iter().copied())
        .map(|doc| (doc, doc))
        .collect();
    for (doc, _) in graph.iter().filter(|(doc, _)| made[doc.index()].is_none()) {
        let mut path = Vec::new();
        let mut at = doc;
        while !blockers.contains_key(&at) && !path.contains(&at) {
            path.push(at);
            let needs = &graph.recipe(at).needs;
            let unmade = needs.iter().find(|need| made[need.doc.index()].is_none());
            at = unmade
                .expect("an unrendered document has an unrendered dependency")
                .doc;
        }
        let blocker = blockers.get(&at).copied().unwrap_or(at);
        blockers.extend(path.into_iter().map(|doc| (doc, blocker)));
    }
    blockers
}

impl MadeDocument {
    fn empty(recipe: &Recipe) -> Self {
        let data = Node::made(Value::Null, recipe.span);
        Self::new(Made {
            data,
            writes: Arc::default(),
            cost: Cost::default(),
        })
    }
}

/// Document that is being rendered; its dependencies are rendered.
struct Making<'a> {
    graph: &'a Graph,
    doc: DocId,
    data: Node,
    /// The document's own data.
    own: &'a Node,
    writes: Vec<Write>,
    problems: Vec<Problem>,
    step: usize,
    allowance: Allowance,
    /// Effect of each stroke, if requested.
    strokes: Option<Strokes>,
    /// Steps to skip, to find out their effect.
    left_out: BTreeSet<usize>,
}

impl<'a> Making<'a> {
    /// Starts a document; `ready` returns the data of its dependencies.
    fn new<'n>(
        graph: &'a Graph,
        doc: DocId,
        ready: &dyn Fn(DocId) -> &'n Node,
        allowance: Allowance,
    ) -> Self {
        let recipe = graph.recipe(doc);
        let data = match recipe.base {
            Some(base) if recipe.starts_as_base() => ready(base.doc).clone(),
            _ => recipe.data.clone(),
        };
        Self::at(graph, doc, data, &recipe.data, allowance)
    }

    /// Continues a document with the data so far and its own data.
    fn at(graph: &'a Graph, doc: DocId, data: Node, own: &'a Node, allowance: Allowance) -> Self {
        Self {
            graph,
            doc,
            data,
            own,
            writes: Vec::new(),
            problems: Vec::new(),
            step: 0,
            allowance,
            strokes: None,
            left_out: BTreeSet::new(),
        }
    }

    /// Runs all steps of the recipe.
    fn run<'n>(mut self, ready: &dyn Fn(DocId) -> &'n Node) -> Self {
        let recipe = self.graph.recipe(self.doc);
        if self.would_copy_too_much(recipe) {
            self.refuse(recipe, ProblemKind::TooManyCopies);
            return self;
        }
        for step in recipe.steps.iter() {
            if self.left_out.contains(&step.index) {
                continue;
            }
            if let Some(strokes) = &mut self.strokes {
                strokes.before(step.index, &self.data);
            }
            self.follow(step, ready, None);
        }
        self.within_limits(recipe, ready);
        self
    }

    /// Runs one step, or one destination of a substitution. `ready` returns the rendered data of the
    /// source document.
    fn follow<'n>(
        &mut self,
        step: Step<'_>,
        ready: &dyn Fn(DocId) -> &'n Node,
        destination: Option<usize>,
    ) {
        self.step = step.index;
        match &step.op {
            Op::Merge { method, path } => self.act(*method, path, step.at),
            Op::Substitute(substitution) => {
                self.substitute(substitution, ready(substitution.source), destination);
            }
            Op::Combine(combine) => self.combine(combine, ready(combine.source), step.at),
        }
    }

    /// Returns the document and its problems.
    fn made(self) -> (MadeDocument, Vec<Problem>) {
        // Avoid one allocation per document for an empty list.
        let writes = if self.writes.is_empty() {
            Arc::default()
        } else {
            self.writes.into()
        };
        let made = Made {
            data: self.data,
            writes,
            cost: self.allowance.spent,
        };
        (MadeDocument::new(made), self.problems)
    }

    fn act(&mut self, method: Method, path: &Spanned<ActionPath>, at: Span) {
        let before = self.writes.len();
        self.merge(method, path, at);
        self.note(Author::Action { step: self.step }, before);
    }

    fn combine(&mut self, combine: &Combine<'_>, over: &Node, at: Span) {
        let before = self.writes.len();
        let source = combine.source;
        match combine.strategy.merge(&mut self.data, over) {
            Ok(notices) => {
                self.wrote(vec![Arc::default()], WriteKind::Merged, at);
                for notice in notices {
                    self.problem(at, CombineProblem::Laid { source, notice });
                }
            }
            Err(failure) => self.problem(at, CombineProblem::NotMerged { source, failure }),
        }
        self.note(Author::Action { step: self.step }, before);
    }

    /// Records a stroke, if strokes are kept. `before` is the number of writes before it.
    fn note(&mut self, author: Author, before: usize) {
        let Some(strokes) = &mut self.strokes else {
            return;
        };
        if !strokes.are_kept(self.step) {
            return;
        }
        let written = self.writes[before..]
            .iter()
            .map(|write| write.location.in_data(&self.data));
        strokes.keep(author, written.collect(), &self.data);
    }

    fn problem(&mut self, at: Span, kind: impl Into<ProblemKind>) {
        self.problems.push(Problem {
            doc: self.doc,
            at,
            kind: kind.into(),
        });
    }

    fn wrote(&mut self, locations: Vec<Arc<Location>>, kind: WriteKind, at: Span) {
        self.wrote_into(locations, kind, at, Put::default());
    }

    fn wrote_into(&mut self, locations: Vec<Arc<Location>>, kind: WriteKind, at: Span, put: Put) {
        let step = self.step;
        let Put {
            created,
            is_collection,
        } = put;
        self.writes.extend(locations.into_iter().map(|location| {
            let created = created
                .as_ref()
                .filter(|top| location.starts_with(top))
                .map(|top| top.0.len());
            Write {
                step,
                location,
                kind,
                at,
                created,
                is_collection,
            }
        }));
    }

    fn merge(&mut self, method: Method, path: &Spanned<ActionPath>, at: Span) {
        let semantics = self.graph.semantics;
        let own = self.own;
        if path.value.is_unwritten_root() && !self.proceeds_at_root(method, path.span, own) {
            return;
        }
        let Some(effective) = path.value.effective(method, semantics) else {
            return;
        };
        if let Err(error) = self.pad(effective) {
            return self.problem(path.span, ActionProblem::Path { method, error });
        }
        let applied = deckhand::apply(method, effective, &mut self.data, own, semantics, at);
        if applied.is_err() && method == Method::Merge && deckhand::extends_list(effective, own) {
            // Deckhand's code fails here, which is also a difference.
            let difference = Difference::IndexMerge;
            self.problem(path.span, ActionProblem::Different { method, difference });
        }
        match applied {
            Ok(applied) => {
                if let Some(difference) = applied.difference {
                    self.problem(path.span, ActionProblem::Different { method, difference });
                }
                self.wrote(applied.locations, WriteKind::Layered, path.span);
            }
            Err(deckhand::Failure::Walk(error)) => {
                self.problem(path.span, ActionProblem::Path { method, error });
            }
            Err(failure) => {
                let in_parent = failure == deckhand::Failure::MissingInParent;
                let searched = if in_parent { &self.data } else { own };
                let near = effective.near_miss(searched);
                let path_text = effective.text().to_owned();
                let kind = MissingActionPath {
                    method,
                    path: path_text,
                    in_parent,
                    near,
                };
                self.problem(path.span, kind);
            }
        }
    }

    /// Returns whether an action at `$` proceeds as at any root (D10). Deckhand's code rejects an
    /// action whose value is null, and only writes the result of merging two mappings.
    fn proceeds_at_root(&mut self, method: Method, at: Span, own: &Node) -> bool {
        let in_parent = method == Method::Delete;
        let value = if in_parent { &self.data } else { own };
        if value.is_null() {
            let path = ".".to_owned();
            let kind = MissingActionPath {
                method,
                path,
                in_parent,
                near: None,
            };
            self.problem(at, kind);
            return false;
        }
        let is_mapping = |node: &Node| node.as_mapping().is_some();
        if method != Method::Merge || is_mapping(own) && is_mapping(&self.data) {
            return true;
        }
        let difference = Difference::RootMerge;
        self.problem(at, ActionProblem::Different { method, difference });
        self.graph.semantics == deckhand::Semantics::Documented
    }

    /// Rejects a document that grew too large through shared values: it would not fit into memory
    /// when written out, and walking it would overflow the stack.
    fn within_limits<'n>(&mut self, recipe: &Recipe, ready: &dyn Fn(DocId) -> &'n Node) {
        // Without steps, the limits of the parser apply.
        if recipe.steps.is_empty() {
            return;
        }
        let base = recipe
            .base
            .filter(|_| recipe.starts_as_base())
            .map(|base| base.doc);
        let sources = base.into_iter().chain(recipe.steps.sources());
        let shared = sources
            .map(|doc| -> &Node { ready(doc) })
            .chain([&recipe.data]);
        if let Some(problem) = self.allowance.exceeded(&self.data, shared) {
            self.refuse(recipe, problem);
        }
    }

    fn refuse(&mut self, recipe: &Recipe, kind: ProblemKind) {
        self.problem(recipe.span, kind);
        self.data = recipe.data.clone();
        self.note(Author::Limit, self.writes.len());
    }

    /// Returns whether the first action alone copies more of the parent than allowed. This must be
    /// checked before it runs.
    fn would_copy_too_much(&self, recipe: &Recipe) -> bool {
        let first = recipe
            .steps
            .iter()
            .find(|step| !self.left_out.contains(&step.index));
        match first.map(|step| step.op) {
            Some(Op::Merge { method, path }) if self.allowance.may_copy_too_much(&self.data) => {
                let path = path.value.effective(method, self.graph.semantics);
                !self.allowance.may_copy(path.map_or(0, |path| {
                    deckhand::count_copied(method, path, &self.data, &recipe.data)
                }))
            }
            _ => false,
        }
    }

    /// Counts elements that a path may add to pad lists towards the memory limit.
    fn pad(&mut self, path: &Path) -> Result<(), WalkError> {
        let indexes = path
            .segments()
            .into_iter()
            .flatten()
            .filter_map(|segment| match segment {
                Segment::Index(index) => usize::try_from(*index).ok(),
                Segment::Name(_) => None,
            });
        let index = indexes.fold(0, usize::saturating_add);
        let cost = (index as u64).saturating_mul(size_of::<Node>() as u64);
        let padded = self.allowance.make(cost);
        padded.map_err(|_| WalkError::IndexTooLarge { index })
    }
}
