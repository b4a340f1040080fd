//! Render graph, independent of any system: one recipe per document, the order in which they can be
//! rendered, and the cycles that cannot.

use std::ops::Deref;
use std::sync::Arc;

use layercake_source::{DocKey, Span, Spanned};
use layercake_yaml::Node;
use layercake_yaml::path::Path;

use crate::merge::Strategy;
use crate::merge::deckhand::{ActionPath, Method, Semantics};
use crate::merge::pattern::Pattern;

/// Index of a document in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocId(pub u32);

impl DocId {
    /// Returns the id of the document at this index of the graph's recipes.
    pub fn at(index: usize) -> Self {
        DocId(u32::try_from(index).expect("a site holds far fewer than 2^32 documents"))
    }

    /// Returns the index into the graph's recipes.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Recipes of one site, with the settings for running them.
#[derive(Debug)]
pub struct Graph {
    /// One recipe per document, in input order. Nearly equal graphs share their recipes.
    pub recipes: Vec<Arc<Recipe>>,
    /// Semantics of the steps where Deckhand's documentation and code differ.
    pub semantics: Semantics,
    /// Handling of missing source values.
    pub missing_source: MissingSource,
    /// Number of graphs of the run that share the limit on pattern searches.
    pub sharers: usize,
}

/// Handling of a substitution whose source value is missing or null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingSource {
    /// The substitution is skipped with an error.
    Error,
    /// The substitution is skipped with a warning, or null is written where Deckhand's code does
    /// that.
    Warning,
}

/// Instructions for rendering one document.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Name of the document for users.
    pub key: DocKey,
    /// Source text of the document.
    pub span: Span,
    /// Its own data.
    pub data: Node,
    /// The document that it is merged into, and the text that selects it.
    pub base: Option<Link>,
    /// The document that it replaces.
    pub replaces: Option<DocId>,
    /// Documents that must be rendered before this one, each with the text that refers to it.
    pub needs: Vec<Need>,
    /// Steps, in order.
    pub steps: Steps,
    /// Whether the document is an output.
    pub emit: bool,
}

impl Recipe {
    /// Returns the step with this [`Step::index`].
    ///
    /// # Panics
    /// If no such step exists.
    pub fn step(&self, index: usize) -> Step<'_> {
        self.steps
            .get(index)
            .expect("step indexes come from the recipe")
    }

    /// Returns whether rendering starts with the data of the base instead of the document's own: it
    /// does if a step merges the two.
    pub fn starts_as_base(&self) -> bool {
        self.base.is_some()
            && self
                .steps
                .iter()
                .any(|step| matches!(step.op, Op::Merge { .. }))
    }
}

/// Reference to a document, found by a selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The document found.
    pub doc: DocId,
    /// The text that selects it.
    pub selector: Span,
    /// The label that the selector matches.
    pub label: Span,
}

/// Dependency on another document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// The required document.
    pub doc: DocId,
    /// The text that refers to it.
    pub at: Span,
}

/// Instructions of a document, in order, as its text gives them. All graphs with the document share
/// them.
#[derive(Clone, Debug, Default)]
pub struct Instructions {
    list: Arc<[Instruction]>,
    /// Cached: it is queried for every document of every site.
    have_patterns: bool,
    /// Cached, as [`Instructions::have_patterns`].
    have_indexes: bool,
}

impl Instructions {
    /// Returns whether the instructions are from the same text, or merge whole documents in the
    /// same way.
    fn are_equivalent(&self, others: &Self) -> bool {
        Arc::ptr_eq(&self.list, &others.list)
            || self.len() == others.len()
                && self
                    .iter()
                    .zip(others.iter())
                    .all(|(one, other)| match (&one.act, &other.act) {
                        (Act::Combine(by), Act::Combine(other_by)) => {
                            one.at == other.at && by == other_by
                        }
                        (Act::Merge { .. } | Act::Substitute(_) | Act::Combine(_), _) => false,
                    })
    }

    /// Returns whether an instruction replaces part of a string.
    pub fn have_patterns(&self) -> bool {
        self.have_patterns
    }

    /// Returns whether an instruction writes at a list index.
    pub(crate) fn have_indexes(&self) -> bool {
        self.have_indexes
    }
}

impl FromIterator<Instruction> for Instructions {
    fn from_iter<I: IntoIterator<Item = Instruction>>(list: I) -> Self {
        let list: Vec<Instruction> = list.into_iter().collect();
        if list.is_empty() {
            // Avoid one allocation per document for an empty list.
            return Self::default();
        }
        let has_index = |to: &Destination| to.path.value.text().contains('[');
        Self {
            have_patterns: list
                .iter()
                .flat_map(Instruction::to)
                .any(|to| to.part.is_some()),
            have_indexes: list.iter().any(|instruction| match &instruction.act {
                Act::Merge { path, .. } => path.value.has_index(),
                Act::Substitute(_) | Act::Combine(_) => instruction.to().iter().any(has_index),
            }),
            list: list.into(),
        }
    }
}

impl Deref for Instructions {
    type Target = [Instruction];

    fn deref(&self) -> &[Instruction] {
        &self.list
    }
}

/// Instruction of a recipe.
#[derive(Debug)]
pub struct Instruction {
    /// Action to take.
    pub act: Act,
    /// Source text of the instruction.
    pub at: Span,
}

impl Instruction {
    /// Destinations to which the value of another document is written.
    fn to(&self) -> &[Destination] {
        match &self.act {
            Act::Substitute(writing) => &writing.to,
            Act::Merge { .. } | Act::Combine(_) => &[],
        }
    }
}

/// Action of an instruction.
#[derive(Debug)]
pub enum Act {
    /// Merge the document's own data into the data so far.
    Merge {
        /// Merge method.
        method: Method,
        /// Path to merge at.
        path: Spanned<ActionPath>,
    },
    /// Write a value of another document.
    Substitute(Writing),
    /// Merge another whole document into the data so far. Boxed, because it is far larger than the
    /// other variants and rare.
    Combine(Box<Strategy>),
}

/// Value of another document, and its destinations.
#[derive(Debug)]
pub struct Writing {
    /// Path of the value in the source document.
    pub from: Spanned<Path>,
    /// Part of the value to use; all of it by default.
    pub extract: Option<Box<Extract>>,
    /// Places to write to.
    pub to: Box<[Destination]>,
    /// Whether Deckhand makes a deep copy of the value. layercake always does.
    pub deepcopy: bool,
}

/// Steps of a recipe: instructions, each with its source document in this graph.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    instructions: Instructions,
    /// Number of leading instructions that are skipped.
    left_out: usize,
    /// Source documents of the remaining instructions. `None` if an instruction reads no other
    /// document, or if the document does not exist; the step is then skipped.
    sources: Box<[Option<DocId>]>,
}

impl Steps {
    /// Steps for the last instructions, as many as there are `sources`. Skips an instruction that
    /// needs a source document and has none.
    ///
    /// # Panics
    /// If there are more sources than instructions.
    pub fn new(instructions: Instructions, sources: Box<[Option<DocId>]>) -> Self {
        let left_out = instructions
            .len()
            .checked_sub(sources.len())
            .expect("there is at most one source per instruction");
        Self {
            instructions,
            left_out,
            sources,
        }
    }

    /// Iterates over the steps, in order.
    pub fn iter(&self) -> impl Iterator<Item = Step<'_>> {
        (0..self.sources.len()).filter_map(|index| self.get(index))
    }

    /// Returns the step with this [`Step::index`].
    pub fn get(&self, index: usize) -> Option<Step<'_>> {
        let source = *self.sources.get(index)?;
        let instruction = &self.instructions[self.left_out + index];
        let op = match &instruction.act {
            Act::Merge { method, path } => Op::Merge {
                method: *method,
                path,
            },
            Act::Substitute(writing) => Op::Substitute(Substitution {
                source: source?,
                writing,
            }),
            Act::Combine(strategy) => Op::Combine(Combine {
                source: source?,
                strategy,
            }),
        };
        Some(Step {
            index,
            op,
            at: instruction.at,
        })
    }

    /// Returns the instructions, including the skipped ones.
    pub fn instructions(&self) -> &Instructions {
        &self.instructions
    }

    /// Iterates over the documents that the steps read.
    pub fn sources(&self) -> impl Iterator<Item = DocId> {
        self.sources.iter().copied().flatten()
    }

    /// Returns whether both have the same effect on the same data, given the same source documents
    /// in the same order.
    pub(crate) fn are_equivalent(&self, others: &Self) -> bool {
        let is_read = |source: &Option<DocId>| source.is_some();
        self.left_out == others.left_out
            && self
                .sources
                .iter()
                .map(is_read)
                .eq(others.sources.iter().map(is_read))
            && self.instructions.are_equivalent(&others.instructions)
    }

    /// Returns whether there are no steps.
    pub(crate) fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

/// Step of a recipe.
#[derive(Clone, Copy, Debug)]
pub struct Step<'r> {
    /// Index of this step in its recipe.
    pub index: usize,
    /// Operation of the step.
    pub op: Op<'r>,
    /// Source text of the step.
    pub at: Span,
}

/// Operation of a step.
#[derive(Clone, Copy, Debug)]
pub enum Op<'r> {
    /// Merges the document's own data into the data so far.
    Merge {
        /// Merge method.
        method: Method,
        /// Path to merge at.
        path: &'r Spanned<ActionPath>,
    },
    /// Writes a value of another document.
    Substitute(Substitution<'r>),
    /// Merges another whole document into the data so far.
    Combine(Combine<'r>),
}

/// Merge of another whole document.
#[derive(Clone, Copy, Debug)]
pub struct Combine<'r> {
    /// The document to merge.
    pub source: DocId,
    /// Merge strategy.
    pub strategy: &'r Strategy,
}

impl Op<'_> {
    /// Returns the source document; `None` if the operation uses the document's own data.
    pub fn source(&self) -> Option<DocId> {
        match self {
            Op::Merge { .. } => None,
            Op::Substitute(substitution) => Some(substitution.source),
            Op::Combine(combine) => Some(combine.source),
        }
    }
}

/// Copy of a value from one document to another.
#[derive(Clone, Copy, Debug)]
pub struct Substitution<'r> {
    /// The source document.
    pub source: DocId,
    /// Value of the source document, and its destinations.
    pub writing: &'r Writing,
}

/// Part of a source string.
#[derive(Clone, Debug)]
pub struct Extract {
    /// Pattern to search for.
    pub pattern: Spanned<Pattern>,
    /// Group of the match to use.
    pub group: Spanned<i64>,
}

/// Place to which a value is written.
#[derive(Clone, Debug)]
pub struct Destination {
    /// Path in the document.
    pub path: Spanned<Path>,
    /// Part of the string that is replaced; the whole value by default.
    pub part: Option<Part>,
}

/// Part of a destination string that is replaced.
#[derive(Clone, Debug)]
pub struct Part {
    /// Pattern whose matches are all replaced.
    pub pattern: Spanned<Pattern>,
    /// Maximum depth of strings below the path; `None` if the string must be at the path itself. A
    /// negative depth is unlimited.
    pub depth: Option<i64>,
}

/// Order in which documents are rendered.
#[derive(Debug, Default)]
pub(crate) struct Waves {
    /// Sets of documents; each set depends only on earlier ones.
    pub(crate) waves: Vec<Vec<DocId>>,
    /// Dependency cycles: each member depends on the next, and the last on the first.
    pub(crate) cycles: Vec<Vec<Edge>>,
}

/// Dependency of one document on another, as an edge of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The dependent document.
    pub doc: DocId,
    /// The document that it depends on.
    pub need: Need,
}

impl Graph {
    /// Returns the recipe of a document.
    pub fn recipe(&self, doc: DocId) -> &Recipe {
        &self.recipes[doc.index()]
    }

    /// Iterates over the documents with their recipes.
    pub fn iter(&self) -> impl Iterator<Item = (DocId, &Recipe)> {
        self.recipes
            .iter()
            .enumerate()
            .map(|(index, recipe)| (DocId::at(index), &**recipe))
    }

    /// Iterates over the outputs.
    pub fn outputs(&self) -> impl Iterator<Item = (DocId, &Recipe)> {
        self.iter().filter(|(_, recipe)| recipe.emit)
    }

    /// Returns the documents that these depend on, including themselves; indexed by id.
    pub fn closure(&self, docs: Vec<DocId>) -> Vec<bool> {
        self.reached(docs, |doc, open| {
            open.extend(self.recipe(doc).needs.iter().map(|need| need.doc));
        })
    }

    /// Returns the documents that depend on these, including themselves; indexed by id.
    pub(crate) fn dependents(&self, docs: Vec<DocId>) -> Vec<bool> {
        let users = self.users();
        self.reached(docs, |doc, open| open.extend(users.of(doc)))
    }

    /// Returns the documents reachable from these, including themselves; indexed by id. `extend`
    /// adds the successors of a document.
    fn reached(&self, mut open: Vec<DocId>, extend: impl Fn(DocId, &mut Vec<DocId>)) -> Vec<bool> {
        let mut reached = vec![false; self.recipes.len()];
        while let Some(doc) = open.pop() {
            if !std::mem::replace(&mut reached[doc.index()], true) {
                extend(doc, &mut open);
            }
        }
        reached
    }

    /// Returns the render order (Kahn's algorithm, by generations). Members of a cycle and their
    /// dependents are in no wave.
    pub(crate) fn waves(&self) -> Waves {
        let mut open = self.open_needs();
        let users = self.users();
        let mut waves = Vec::new();
        let mut wave: Vec<DocId> = self
            .iter()
            .filter(|(doc, _)| open[doc.index()] == 0)
            .map(|(doc, _)| doc)
            .collect();
        while !wave.is_empty() {
            let mut next = Vec::new();
            for doc in &wave {
                for user in users.of(*doc) {
                    open[user.index()] -= 1;
                    if open[user.index()] == 0 {
                        next.push(*user);
                    }
                }
            }
            next.sort_unstable();
            waves.push(std::mem::replace(&mut wave, next));
        }
        Waves {
            waves,
            cycles: self.cycles(&open),
        }
    }

    fn open_needs(&self) -> Vec<usize> {
        self.recipes
            .iter()
            .map(|recipe| recipe.needs.len())
            .collect()
    }

    /// Returns the direct dependents of each document.
    fn users(&self) -> Lists {
        Lists::new(self.recipes.len(), || {
            self.needed().map(|(doc, needed)| (needed, doc))
        })
    }

    fn needs(&self) -> Lists {
        Lists::new(self.recipes.len(), || self.needed())
    }

    /// Iterates over all pairs of a document and one that it depends on.
    fn needed(&self) -> impl Iterator<Item = (DocId, DocId)> {
        self.iter()
            .flat_map(|(doc, recipe)| recipe.needs.iter().map(move |need| (doc, need.doc)))
    }

    /// Returns one cycle per strongly connected component among the documents with unresolved
    /// dependencies.
    fn cycles(&self, open: &[usize]) -> Vec<Vec<Edge>> {
        if open.iter().all(|count| *count == 0) {
            return Vec::new();
        }
        let mut cycles: Vec<_> = self
            .components(open)
            .into_iter()
            .filter_map(|mut component| {
                component.sort_unstable();
                self.cycle_within(&component)
            })
            .collect();
        cycles.sort_by_key(|cycle| cycle[0].doc);
        cycles
    }

    /// Returns the strongly connected components of the documents with unresolved dependencies
    /// (Kosaraju's algorithm).
    fn components(&self, open: &[usize]) -> Vec<Vec<DocId>> {
        let needs = self.needs();
        let users = self.users();
        let closed: Vec<bool> = open.iter().map(|count| *count == 0).collect();
        let mut reached = closed.clone();
        let order: Vec<DocId> = self
            .iter()
            .flat_map(|(doc, _)| reach(doc, &needs, &mut reached))
            .collect();
        let mut reached = closed;
        let components = order
            .into_iter()
            .rev()
            .map(|doc| reach(doc, &users, &mut reached));
        components
            .filter(|component| !component.is_empty())
            .collect()
    }

    /// Returns the cycle found by following the first dependency inside the component, starting
    /// from its first document; `None` if the component is a single document that does not depend
    /// on itself.
    fn cycle_within(&self, component: &[DocId]) -> Option<Vec<Edge>> {
        let mut path: Vec<Edge> = Vec::new();
        let mut entered = vec![None; component.len()];
        let mut member = 0;
        loop {
            if let Some(entry) = entered[member].replace(path.len()) {
                return Some(path.split_off(entry));
            }
            let doc = component[member];
            let need = *self
                .recipe(doc)
                .needs
                .iter()
                .find(|need| component.binary_search(&need.doc).is_ok())?;
            path.push(Edge { doc, need });
            member = component
                .binary_search(&need.doc)
                .expect("the need is inside");
        }
    }
}

/// A list of documents for each document. All lists share one allocation, because there are as many
/// as documents and most are short.
#[derive(Debug)]
pub(crate) struct Lists {
    /// End of each document's list, where the next list begins.
    ends: Vec<u32>,
    docs: Vec<DocId>,
}

impl Lists {
    /// Builds one list for each of `documents` documents. The second document of each pair is added
    /// to the list of the first. `pairs` is called twice.
    pub(crate) fn new<P: Iterator<Item = (DocId, DocId)>>(
        documents: usize,
        pairs: impl Fn() -> P,
    ) -> Self {
        let mut ends = vec![0; documents];
        for (of, _) in pairs() {
            ends[of.index()] += 1;
        }
        let mut all = 0;
        for end in &mut ends {
            // Start of the list, until the list is filled.
            all += std::mem::replace(end, all);
        }
        let mut docs = vec![DocId(0); all as usize];
        for (of, doc) in pairs() {
            let next = &mut ends[of.index()];
            docs[*next as usize] = doc;
            *next += 1;
        }
        Self { ends, docs }
    }

    /// Returns the list of a document, in the order of the pairs.
    pub(crate) fn of(&self, doc: DocId) -> &[DocId] {
        let begin = doc
            .index()
            .checked_sub(1)
            .map_or(0, |before| self.ends[before]);
        &self.docs[begin as usize..self.ends[doc.index()] as usize]
    }
}

/// Returns the documents newly reached from `start`, depth first in postorder. Not recursive, to
/// support chains of any length.
fn reach(start: DocId, next: &Lists, reached: &mut [bool]) -> Vec<DocId> {
    let mut done = Vec::new();
    if std::mem::replace(&mut reached[start.index()], true) {
        return done;
    }
    let mut path = vec![(start, 0)];
    while let Some((doc, taken)) = path.last_mut() {
        match next.of(*doc).get(*taken).copied() {
            Some(to) => {
                *taken += 1;
                if !std::mem::replace(&mut reached[to.index()], true) {
                    path.push((to, 0));
                }
            }
            None => {
                done.push(*doc);
                path.pop();
            }
        }
    }
    done
}
