//! Graph to rendered documents.
//!
//! [`render`] follows each recipe once what it needs is made, wave by wave, in
//! parallel. A step that fails is reported and skipped, and its document is
//! made without it; only cycles, and what needs their members, stay unmade.
//! Nodes are moved and shared, never copied deeply and never given another
//! span. Who says which document lies on which is not known here.

mod delta;
pub mod effect;
pub mod flow;
mod limits;
mod numbering;
pub mod replay;
mod stroke;
mod substitute;
mod table;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use layercake_source::{Span, Spanned};
use layercake_yaml::path::{Location, Path, Segment, WalkError};
use layercake_yaml::{Node, Value, YamlLimit};
use rayon::prelude::*;

pub use limits::{MAX_COPIES, MAX_DEPTH, MAX_WORK};
pub use table::{FileSet, MadeDocument, Matching, Table};

use self::limits::{Allowance, Cost};
use self::stroke::{Author, Strokes};
use self::table::Tables;
use crate::graph::{DocId, Edge, Graph, Lay, Op, Recipe, Step};
use crate::guard::{self, Place};
use crate::merge::deckhand::{self, ActionPath, Difference, Method};
use crate::merge::pattern::PatternFailure;
use crate::merge::{Failure, Notice};
use crate::stopwatch;

/// What a graph renders to.
#[derive(Debug)]
pub struct Rendered {
    /// Each document; one that is blocked is as if it had no data.
    made: Vec<MadeDocument>,
    /// What each that is blocked needs; there are nearly always none.
    blockers: Blockers,
    /// The table that keeps each document, by index.
    levels: Vec<Option<usize>>,
    /// Which documents were taken from a table, by id.
    taken: Vec<bool>,
    /// Which documents were to be made, by id; all where nothing else was asked for.
    wanted: Option<Vec<bool>>,
    /// What each document was allowed to cost, for those that are made again.
    allowance: Allowance,
    /// What went wrong, by document and step.
    pub problems: Vec<Problem>,
}

type Blockers = HashMap<DocId, DocId, foldhash::fast::RandomState>;

/// What became of one document.
#[derive(Clone, Copy, Debug)]
pub enum Outcome<'r> {
    /// Its rendered data.
    Ready(&'r Node),
    /// Not made: it is on a cycle, or layercake failed at it, or it needs this
    /// document, of which one of these is true.
    Blocked(DocId),
}

/// A place of a document that a step wrote.
#[derive(Clone, Debug)]
pub struct Write {
    /// Index of the step in the recipe.
    pub step: usize,
    /// The place. All that write along a path of names share it, so that its keys
    /// do not know where they are written ([`Location::in_data`]).
    pub location: Arc<Location>,
    /// How much of it was written.
    pub kind: WriteKind,
    /// The text that says where to write.
    pub at: Span,
    /// How many pieces of the place lead to the topmost one that had to be
    /// created for it; none where all was there.
    pub created: Option<usize>,
    /// Whether a whole list or mapping was put there.
    pub is_collection: bool,
}

/// How much of a place a step wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteKind {
    /// The document's own data, by a layering action.
    Layered,
    /// All of another document.
    Laid,
    /// The whole value, from another document.
    Whole,
    /// Part of a text, from another document.
    Part,
}

/// Something that went wrong while a document was made.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The document.
    pub doc: DocId,
    /// The text to mend: of the step, or of a part of it.
    pub at: Span,
    /// What.
    pub kind: ProblemKind,
}

/// The kinds of [`Problem`].
#[derive(Clone, Debug)]
pub enum ProblemKind {
    /// Documents need each other in a circle.
    Cycle(Vec<Edge>),
    /// An action's path leads to nothing, or to null.
    MissingActionPath {
        /// What the action does.
        method: Method,
        /// The path, as it is written.
        path: String,
        /// Whether it is the parent that lacks it, and not the child.
        in_parent: bool,
        /// A key that is there and looks alike.
        near: Option<String>,
    },
    /// An action's path cannot be followed or written.
    ActionPath {
        /// What the action does.
        method: Method,
        /// Why not.
        error: WalkError,
    },
    /// An action gives another result in the other meaning.
    DifferentAction {
        /// What the action does.
        method: Method,
        /// How.
        difference: Difference,
    },
    /// A source document has nothing at the path, or null.
    MissingValue {
        /// The document read from.
        source: DocId,
        /// The path, as it is written.
        path: String,
        /// The null that stands there.
        null: Option<Span>,
        /// A key that is there and looks alike.
        near: Option<String>,
    },
    /// A source document whose data is no mapping is read with a path.
    IgnoredSourcePath {
        /// The document read from.
        source: DocId,
        /// The path, as it is written.
        path: String,
    },
    /// A source path cannot be followed.
    SourcePath {
        /// The document read from.
        source: DocId,
        /// Why not.
        error: WalkError,
    },
    /// A source pattern meets a value that is no text.
    SourceNotText {
        /// The value.
        value: Span,
        /// What kind of value it is.
        found: &'static str,
    },
    /// A source pattern does not match; the whole text is used.
    UnmatchedSourcePattern {
        /// The text.
        value: Span,
    },
    /// A source pattern has no such group.
    MissingGroup {
        /// The group asked for.
        group: i64,
    },
    /// A value cannot be written to its destination.
    DestinationPath(WalkError),
    /// An empty value is written to the root (`deckhand.md` 12.4).
    EmptyRoot,
    /// A destination pattern, and nothing stands at the path.
    MissingPatternTarget {
        /// The path, as it is written.
        path: String,
        /// A key that is there and looks alike.
        near: Option<String>,
        /// Whether it would look below the path.
        recurses: bool,
        /// Whether Deckhand's code has left a mapping there.
        is_created: bool,
    },
    /// A destination pattern meets a value in which it cannot look.
    PatternTargetType {
        /// The value.
        target: Span,
        /// What kind of value it is.
        found: &'static str,
        /// Whether looking below the path would find texts.
        container: bool,
    },
    /// A destination pattern matches nothing; the value is kept.
    UnmatchedPattern {
        /// What was searched; none where it must not be shown.
        target: Span,
    },
    /// A document could not be laid over what there was, and nothing of it is
    /// there.
    NotLaid {
        /// The document.
        source: DocId,
        /// Why not.
        failure: Failure,
    },
    /// A document was laid over what there was, and something in it may not be
    /// as it was meant.
    Laid {
        /// The document.
        source: DocId,
        /// What.
        notice: Notice,
    },
    /// A destination list's element is written with a list (10.5).
    DifferentListWrite,
    /// A pattern is looked for below a path, and Deckhand's code finds other
    /// texts than the documentation says (D13).
    DifferentRecursion {
        /// A text that only one meaning changes.
        text: Span,
    },
    /// A value with backslashes is put in by a pattern (12.4).
    BackslashInPatternValue {
        /// The value.
        value: Span,
        /// Whether Deckhand's code refuses it instead of changing it.
        refused: bool,
    },
    /// A value that is no text is put in by a pattern (12.4).
    DifferentPatternText {
        /// The value.
        value: Span,
        /// What is put in; none where it is secret.
        texts: Option<PatternTexts>,
    },
    /// A pattern that costs too much to look for.
    PatternFailure(PatternFailure),
    /// A document that grew beyond a limit.
    OverLimit(YamlLimit),
    /// layercake itself failed while it made the document.
    Failed,
}

/// What a pattern puts in for a value that is no text.
#[derive(Clone, Debug)]
pub struct PatternTexts {
    /// What kind of value it is.
    pub found: &'static str,
    /// What the documentation's meaning puts in.
    pub documented: String,
    /// What Deckhand's code puts in.
    pub deckhand: String,
}

impl Rendered {
    /// What became of a document.
    pub fn outcome(&self, doc: DocId) -> Outcome<'_> {
        match self.blockers.get(&doc) {
            Some(blocker) => Outcome::Blocked(*blocker),
            None => Outcome::Ready(&self.made[doc.index()].data),
        }
    }

    /// Whether layercake itself failed at a document.
    pub fn has_failed(&self) -> bool {
        self.problems.iter().any(|problem| matches!(problem.kind, ProblemKind::Failed))
    }

    /// Whether a document was to be made.
    pub fn is_wanted(&self, doc: DocId) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| wanted[doc.index()])
    }

    /// A document's rendered data, if it was made.
    pub fn data(&self, doc: DocId) -> Option<&Node> {
        match self.outcome(doc) {
            Outcome::Ready(data) => Some(data),
            Outcome::Blocked(_) => None,
        }
    }

    /// A document, and whatever else has it.
    pub fn made(&self, doc: DocId) -> &MadeDocument {
        &self.made[doc.index()]
    }

    /// Index of the table that keeps a document, of those it was rendered with.
    pub fn table(&self, doc: DocId) -> Option<usize> {
        self.levels[doc.index()]
    }

    /// Whether a document was made before.
    pub fn is_taken(&self, doc: DocId) -> bool {
        self.taken[doc.index()]
    }

    /// What went wrong at a document, by step.
    pub fn problems_of(&self, doc: DocId) -> &[Problem] {
        let start = self.problems.partition_point(|problem| problem.doc < doc);
        let rest = &self.problems[start..];
        &rest[..rest.partition_point(|problem| problem.doc == doc)]
    }

    /// What the steps of a document wrote, in order.
    pub fn writes(&self, doc: DocId) -> &[Write] {
        &self.made[doc.index()].writes
    }
}

/// Renders every document of `graph`.
pub fn render(graph: &Graph) -> Rendered {
    render_with(graph, (&[], Matching::Texts), Extent::All)
}

/// What of a graph is rendered.
#[derive(Clone, Debug)]
pub enum Extent {
    /// Every document.
    All,
    /// These, and what they need; the others are left as if they had no data.
    Only(Vec<DocId>),
}

/// Renders `graph` with the same values as [`render`]. Takes from `tables` what was made before.
/// By [`Matching::Texts`], keeps there what is made now: each document in the first table that
/// keeps it, and its inputs in that one or one before it.
pub fn render_with(graph: &Graph, tables: (&[&Table], Matching), extent: Extent) -> Rendered {
    let order = graph.waves();
    let allowance = Allowance::of_each(graph);
    let mut tables = Tables::new(graph, tables, allowance);
    let wanted = match extent {
        Extent::All => None,
        Extent::Only(docs) => Some(graph.closure(docs)),
    };
    let mut made: Vec<Option<MadeDocument>> = Vec::new();
    made.resize_with(graph.recipes.len(), || None);
    let (mut failures, mut problems) = (Vec::new(), Vec::new());
    for wave in &order.waves {
        let mut fresh = Vec::new();
        for doc in wave {
            if !failures.is_empty() && !needs_made(graph, *doc, &made) {
                continue;
            }
            let is_wanted = wanted.as_ref().is_none_or(|wanted| wanted[doc.index()]);
            let known = if is_wanted {
                tables.take(*doc, &made)
            } else {
                Some(MadeDocument::nothing(graph.recipe(*doc)))
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
    let unmade = Unmade { cycles: order.cycles, failures };
    let blockers = blockers(graph, &made, &unmade);
    problems.extend(unmade.problems(graph));
    problems.sort_by_key(|problem| problem.doc);
    let made = made.into_iter().enumerate().map(|(index, made)| {
        made.unwrap_or_else(|| MadeDocument::nothing(graph.recipe(DocId::at(index))))
    });
    let (levels, taken) = tables.into_parts();
    Rendered { made: made.collect(), blockers, levels, taken, wanted, allowance, problems }
}

/// Renders `docs`, and the documents that are made of them, as `graph` says; all others are
/// taken from `rendered`. Both are of the same recipes: only the meaning of their steps may
/// differ.
pub fn render_in_part(graph: &Graph, rendered: &Rendered, docs: Vec<DocId>) -> Rendered {
    let is_affected = graph.dependents(docs);
    let allowance = Allowance::of_each(graph);
    let mut made: Vec<Option<MadeDocument>> = rendered.made.iter().cloned().map(Some).collect();
    let mut problems = Vec::new();
    for wave in graph.waves().waves {
        let is_ready =
            |doc: &DocId| is_affected[doc.index()] && !rendered.blockers.contains_key(doc);
        let fresh: Vec<DocId> = wave.into_iter().filter(is_ready).collect();
        let outcomes = make(graph, &fresh, &made, allowance);
        for (doc, outcome) in fresh.into_iter().zip(outcomes) {
            let (document, of_document) = outcome.unwrap_or_else(|| {
                let recipe = graph.recipe(doc);
                let failed = Problem { doc, at: recipe.span, kind: ProblemKind::Failed };
                (MadeDocument::nothing(recipe), vec![failed])
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

/// Documents that need only what is made, with what went wrong; none for one at which
/// layercake itself failed.
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
                &made.expect("a wave needs only what earlier waves made").data
            };
            let making = || Making::new(graph, *doc, &ready, allowance).run(&ready).made();
            guard::guarded(Place::Document(&graph.recipe(*doc).key.name), making)
        })
        .collect()
}

/// Whether all that a document needs was made.
fn needs_made(graph: &Graph, doc: DocId, made: &[Option<MadeDocument>]) -> bool {
    graph.recipe(doc).needs.iter().all(|need| made[need.doc.index()].is_some())
}

/// Why documents were not made.
struct Unmade {
    cycles: Vec<Vec<Edge>>,
    /// Those at which layercake itself failed.
    failures: Vec<DocId>,
}

impl Unmade {
    fn problems(self, graph: &Graph) -> impl Iterator<Item = Problem> {
        let failures = self.failures.into_iter().map(|doc| {
            let at = graph.recipe(doc).span;
            Problem { doc, at, kind: ProblemKind::Failed }
        });
        let cycles = self.cycles.into_iter().map(|cycle| {
            let Edge { doc, need } = cycle[0];
            Problem { doc, at: need.at, kind: ProblemKind::Cycle(cycle) }
        });
        failures.chain(cycles)
    }
}

/// What a step put at a place.
#[derive(Default)]
struct Put {
    /// The topmost place that had to be created.
    created: Option<Location>,
    is_collection: bool,
}

/// One document and what was done on the way.
#[derive(Clone, Debug)]
pub struct Made {
    data: Node,
    writes: Arc<[Write]>,
    cost: Cost,
}

/// For every document that was not made, the one to blame, which is a member of
/// a cycle or failed: for such a one itself, for another the one its first unmade
/// need leads to.
fn blockers(graph: &Graph, made: &[Option<MadeDocument>], unmade: &Unmade) -> Blockers {
    let members = unmade.cycles.iter().flatten().map(|edge| edge.doc);
    let mut blockers: Blockers =
        members.chain(unmade.failures.iter().copied()).map(|doc| (doc, doc)).collect();
    for (doc, _) in graph.iter().filter(|(doc, _)| made[doc.index()].is_none()) {
        let mut way = Vec::new();
        let mut at = doc;
        while !blockers.contains_key(&at) && !way.contains(&at) {
            way.push(at);
            let needs = &graph.recipe(at).needs;
            let unmade = needs.iter().find(|need| made[need.doc.index()].is_none());
            at = unmade.expect("what was not made needs something that was not made").doc;
        }
        let blocker = blockers.get(&at).copied().unwrap_or(at);
        blockers.extend(way.into_iter().map(|doc| (doc, blocker)));
    }
    blockers
}

impl MadeDocument {
    fn nothing(recipe: &Recipe) -> Self {
        let data = Node::made(Value::Null, recipe.span);
        Self::new(Made { data, writes: Arc::default(), cost: Cost::default() })
    }
}

/// A document while it is made; all it needs has been made.
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
    /// What each stroke made of the data, where somebody wants to know.
    strokes: Option<Strokes>,
    /// Steps that are not done, to see what they are good for.
    left_out: BTreeSet<usize>,
}

impl<'a> Making<'a> {
    /// A document as it starts; `ready` gives the data of those it needs.
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

    /// A document whose data has become `data`, and whose own data is `own`.
    fn at(graph: &'a Graph, doc: DocId, data: Node, own: &'a Node, allowance: Allowance) -> Self {
        let (writes, problems, left_out) = (Vec::new(), Vec::new(), BTreeSet::new());
        let (step, strokes) = (0, None);
        Self { graph, doc, data, own, writes, problems, step, allowance, strokes, left_out }
    }

    /// Does all that the recipe says.
    fn run<'n>(mut self, ready: &dyn Fn(DocId) -> &'n Node) -> Self {
        let recipe = self.graph.recipe(self.doc);
        if self.would_copy_too_much(recipe) {
            self.refuse(recipe, YamlLimit::Merged);
            return self;
        }
        for step in recipe.steps.iter() {
            if self.left_out.contains(&step.index) {
                continue;
            }
            if let Some(strokes) = &mut self.strokes {
                strokes.before(step.index, &self.data);
            }
            let source = step.op.source().map(ready);
            self.follow(step, source, None);
        }
        self.within_limits(recipe, ready);
        self
    }

    /// Does one step, of a substitution perhaps for one destination only. `source` is the
    /// rendered data of the document that it reads.
    fn follow(&mut self, step: Step<'_>, source: Option<&Node>, destination: Option<usize>) {
        self.step = step.index;
        match (&step.op, source) {
            (Op::Merge { method, path }, _) => self.act(*method, path, step.at),
            (Op::Substitute(substitution), Some(source)) => {
                self.substitute(substitution, source, destination);
            }
            (Op::Lay(lay), Some(source)) => self.lay(lay, source, step.at),
            (Op::Substitute(_) | Op::Lay(_), None) => unreachable!("what it reads is given"),
        }
    }

    /// The document, and what went wrong.
    fn made(self) -> (MadeDocument, Vec<Problem>) {
        // An empty list of its own would be one more piece of memory for each document.
        let writes = if self.writes.is_empty() { Arc::default() } else { self.writes.into() };
        let made = Made { data: self.data, writes, cost: self.allowance.spent };
        (MadeDocument::new(made), self.problems)
    }

    fn act(&mut self, method: Method, path: &Spanned<ActionPath>, at: Span) {
        let before = self.writes.len();
        self.merge(method, path, at);
        self.note(Author::Action { step: self.step }, before);
    }

    fn lay(&mut self, lay: &Lay<'_>, over: &Node, at: Span) {
        let before = self.writes.len();
        let source = lay.source;
        match lay.strategy.lay(&mut self.data, over) {
            Ok(notices) => {
                self.wrote(vec![Arc::default()], WriteKind::Laid, at);
                for notice in notices {
                    self.problem(at, ProblemKind::Laid { source, notice });
                }
            }
            Err(failure) => self.problem(at, ProblemKind::NotLaid { source, failure }),
        }
        self.note(Author::Action { step: self.step }, before);
    }

    /// Keeps what a stroke made, where strokes are kept; `before` so many
    /// places had been written.
    fn note(&mut self, author: Author, before: usize) {
        let Some(strokes) = &mut self.strokes else { return };
        if !strokes.are_kept(self.step) {
            return;
        }
        let written = self.writes[before..].iter();
        let written = written.map(|write| write.location.in_data(&self.data));
        strokes.keep(author, written.collect(), &self.data);
    }

    fn problem(&mut self, at: Span, kind: ProblemKind) {
        self.problems.push(Problem { doc: self.doc, at, kind });
    }

    fn wrote(&mut self, locations: Vec<Arc<Location>>, kind: WriteKind, at: Span) {
        self.wrote_into(locations, kind, at, Put::default());
    }

    fn wrote_into(&mut self, locations: Vec<Arc<Location>>, kind: WriteKind, at: Span, put: Put) {
        let step = self.step;
        let Put { created, is_collection } = put;
        self.writes.extend(locations.into_iter().map(|location| {
            let created = created.as_ref().filter(|top| location.starts_with(top));
            let created = created.map(|top| top.0.len());
            Write { step, location, kind, at, created, is_collection }
        }));
    }

    fn merge(&mut self, method: Method, path: &Spanned<ActionPath>, at: Span) {
        let semantics = self.graph.semantics;
        let own = self.own;
        if path.value.is_unwritten_root() && !self.goes_on_at_root(method, path.span, own) {
            return;
        }
        let Some(effective) = path.value.effective(method, semantics) else { return };
        if let Err(error) = self.pad(effective) {
            return self.problem(path.span, ProblemKind::ActionPath { method, error });
        }
        let applied = deckhand::apply(method, effective, &mut self.data, own, semantics, at);
        if applied.is_err() && method == Method::Merge && deckhand::extends_list(effective, own) {
            // Only Deckhand's code lacks something, which is no less a difference.
            let difference = Difference::IndexMerge;
            self.problem(path.span, ProblemKind::DifferentAction { method, difference });
        }
        match applied {
            Ok(applied) => {
                if let Some(difference) = applied.difference {
                    self.problem(path.span, ProblemKind::DifferentAction { method, difference });
                }
                self.wrote(applied.locations, WriteKind::Layered, path.span);
            }
            Err(deckhand::Failure::Walk(error)) => {
                self.problem(path.span, ProblemKind::ActionPath { method, error });
            }
            Err(failure) => {
                let in_parent = failure == deckhand::Failure::MissingInParent;
                let searched = if in_parent { &self.data } else { own };
                let near = effective.near_miss(searched);
                let path_text = effective.text().to_owned();
                let kind =
                    ProblemKind::MissingActionPath { method, path: path_text, in_parent, near };
                self.problem(path.span, kind);
            }
        }
    }

    /// Whether an action at `$` goes on as at any root (D10). Deckhand's code refuses one whose
    /// value is null, and writes the result of no other.
    fn goes_on_at_root(&mut self, method: Method, at: Span, own: &Node) -> bool {
        let in_parent = method == Method::Delete;
        let value = if in_parent { &self.data } else { own };
        if value.is_null() {
            let path = ".".to_owned();
            let kind = ProblemKind::MissingActionPath { method, path, in_parent, near: None };
            self.problem(at, kind);
            return false;
        }
        let is_mapping = |node: &Node| node.as_mapping().is_some();
        if method != Method::Merge || is_mapping(own) && is_mapping(&self.data) {
            return true;
        }
        let difference = Difference::RootMerge;
        self.problem(at, ProblemKind::DifferentAction { method, difference });
        self.graph.semantics == deckhand::Semantics::Documented
    }

    /// Refuses a document that shared values have blown up: written out it
    /// would not fit into memory, and walking it would overflow the stack.
    fn within_limits<'n>(&mut self, recipe: &Recipe, ready: &dyn Fn(DocId) -> &'n Node) {
        // As it was read, a document is within the limits of reading.
        if recipe.steps.is_empty() {
            return;
        }
        let base = recipe.base.filter(|_| recipe.starts_as_base()).map(|base| base.doc);
        let sources = base.into_iter().chain(recipe.steps.sources());
        let shared = sources.map(|doc| -> &Node { ready(doc) }).chain([&recipe.data]);
        let Some(limit) = self.allowance.exceeded(&self.data, shared) else { return };
        self.refuse(recipe, limit);
    }

    fn refuse(&mut self, recipe: &Recipe, limit: YamlLimit) {
        self.problem(recipe.span, ProblemKind::OverLimit(limit));
        self.data = recipe.data.clone();
        self.note(Author::Limit, self.writes.len());
    }

    /// Whether the first action alone copies more of the parent than the document may: that is
    /// to be known before it is done.
    fn would_copy_too_much(&self, recipe: &Recipe) -> bool {
        let first = recipe.steps.iter().find(|step| !self.left_out.contains(&step.index));
        match first.map(|step| step.op) {
            Some(Op::Merge { method, path }) if self.allowance.may_copy_too_much(&self.data) => {
                let path = path.value.effective(method, self.graph.semantics);
                let copied = |path| deckhand::count_copied(method, path, &self.data, &recipe.data);
                !self.allowance.may_copy(path.map_or(0, copied))
            }
            _ => false,
        }
    }

    /// Takes the elements to which a path may pad lists from what the document
    /// may make.
    fn pad(&mut self, path: &Path) -> Result<(), WalkError> {
        let indexes = path.segments().into_iter().flatten().filter_map(|segment| match segment {
            Segment::Index(index) => usize::try_from(*index).ok(),
            Segment::Name(_) => None,
        });
        let index = indexes.fold(0, usize::saturating_add);
        let cost = (index as u64).saturating_mul(size_of::<Node>() as u64);
        let padded = self.allowance.make(cost);
        padded.map_err(|_| WalkError::IndexTooLarge { index })
    }
}
