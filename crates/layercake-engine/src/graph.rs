//! What is to be rendered, without any system's words: one recipe a document,
//! the order in which they can be made, and the cycles that cannot.

use std::ops::Deref;
use std::sync::Arc;

use layercake_source::{DocKey, Span, Spanned};
use layercake_yaml::Node;
use layercake_yaml::path::Path;

use crate::merge::Strategy;
use crate::merge::deckhand::{ActionPath, Method, Semantics};
use crate::merge::pattern::Pattern;

/// A document of one graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocId(pub u32);

impl DocId {
    /// The id of the document at this index of the graph's recipes.
    pub fn at(index: usize) -> Self {
        DocId(u32::try_from(index).expect("a site holds far fewer than 2^32 documents"))
    }

    /// The index into the graph's recipes.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// All recipes of one site, and how to follow them.
#[derive(Debug)]
pub struct Graph {
    /// One recipe a document, in the order of the input; those of a graph that is nearly
    /// the same are shared with it.
    pub recipes: Vec<Arc<Recipe>>,
    /// Which meaning the steps have where two are known.
    pub semantics: Semantics,
    /// What becomes of a source that is missing.
    pub missing_source: MissingSource,
    /// How many graphs of the run share what patterns may cost.
    pub sharers: usize,
}

/// What is done where a substitution's source value is missing or null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingSource {
    /// The entry is skipped; that is an error.
    Error,
    /// The entry is skipped, or null is written where Deckhand's code does
    /// that; that is a warning.
    Warning,
}

/// How one document is made.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// What a user calls the document.
    pub key: DocKey,
    /// The document's text.
    pub span: Span,
    /// Its own data.
    pub data: Node,
    /// The document it is laid on, and what found that one.
    pub base: Option<Link>,
    /// The document it stands for from then on.
    pub replaces: Option<DocId>,
    /// What it needs made before it, and the text that says so.
    pub needs: Vec<Need>,
    /// What is done, in order.
    pub steps: Steps,
    /// Whether it is part of the output.
    pub emit: bool,
}

impl Recipe {
    /// The step by its [`Step::index`].
    ///
    /// # Panics
    /// Where there is none.
    pub fn step(&self, index: usize) -> Step<'_> {
        self.steps.get(index).expect("a step is known by a number that its recipe gave")
    }

    /// Whether the document starts as its base's data instead of its own: it
    /// does where a step merges the two.
    pub fn starts_as_base(&self) -> bool {
        self.base.is_some() && self.steps.iter().any(|step| matches!(step.op, Op::Merge { .. }))
    }
}

/// One document found by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The document found.
    pub doc: DocId,
    /// The text that looked for it.
    pub selector: Span,
    /// The text that made it be found.
    pub label: Span,
}

/// One document needed by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// The document needed.
    pub doc: DocId,
    /// The text that needs it.
    pub at: Span,
}

/// What is to be done to a document's data, in order, as its text says it. All
/// graphs that have the document share it.
#[derive(Clone, Debug, Default)]
pub struct Instructions {
    list: Arc<[Instruction]>,
    /// See [`Instructions::have_patterns`]; asked of every document of every site.
    have_patterns: bool,
    /// See [`Instructions::have_indexes`]; likewise.
    have_indexes: bool,
}

impl Instructions {
    /// Whether they are of one text, or lay in the same way.
    fn say_same(&self, others: &Self) -> bool {
        let lays_same = |(one, other): (&Instruction, &Instruction)| match (&one.act, &other.act) {
            (Act::Lay(by), Act::Lay(other_by)) => one.at == other.at && by == other_by,
            (Act::Merge { .. } | Act::Substitute(_) | Act::Lay(_), _) => false,
        };
        Arc::ptr_eq(&self.list, &others.list)
            || self.len() == others.len() && self.iter().zip(others.iter()).all(lays_same)
    }

    /// Whether one writes part of a text.
    pub fn have_patterns(&self) -> bool {
        self.have_patterns
    }

    /// Whether one writes at an index of a list.
    pub(crate) fn have_indexes(&self) -> bool {
        self.have_indexes
    }
}

impl FromIterator<Instruction> for Instructions {
    fn from_iter<I: IntoIterator<Item = Instruction>>(list: I) -> Self {
        let list: Vec<Instruction> = list.into_iter().collect();
        if list.is_empty() {
            // An empty list of its own would be one more piece of memory for each document.
            return Self::default();
        }
        let has_index = |to: &Destination| to.path.value.text().contains('[');
        Self {
            have_patterns: list.iter().flat_map(Instruction::to).any(|to| to.part.is_some()),
            have_indexes: list.iter().any(|instruction| match &instruction.act {
                Act::Merge { path, .. } => path.value.has_index(),
                Act::Substitute(_) | Act::Lay(_) => instruction.to().iter().any(has_index),
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

/// One thing that is to be done to a document's data.
#[derive(Debug)]
pub struct Instruction {
    /// What.
    pub act: Act,
    /// The text that says so.
    pub at: Span,
}

impl Instruction {
    /// Where it writes a value of another document.
    fn to(&self) -> &[Destination] {
        match &self.act {
            Act::Substitute(writing) => &writing.to,
            Act::Merge { .. } | Act::Lay(_) => &[],
        }
    }
}

/// What an instruction asks for.
#[derive(Debug)]
pub enum Act {
    /// To lay the document's own data over what there is.
    Merge {
        /// How.
        method: Method,
        /// At which path.
        path: Spanned<ActionPath>,
    },
    /// To write a value of another document.
    Substitute(Writing),
    /// To lay the whole of another document over what there is. In a box: it is far
    /// larger than the others, which are far more.
    Lay(Box<Strategy>),
}

/// Which value of another document is written where.
#[derive(Debug)]
pub struct Writing {
    /// Where it stands there.
    pub from: Spanned<Path>,
    /// What part of it is used, if not all.
    pub extract: Option<Box<Extract>>,
    /// Where it is written.
    pub to: Box<[Destination]>,
    /// Whether Deckhand copies the value all the way down; it is a copy here
    /// in any case.
    pub deepcopy: bool,
}

/// The steps of a recipe: instructions, each with the document that it reads in
/// this graph.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    instructions: Instructions,
    /// So many of them are left out, the first ones.
    left_out: usize,
    /// What the others read; none where an instruction reads no other document,
    /// or there is none, so that it cannot be followed.
    sources: Box<[Option<DocId>]>,
}

impl Steps {
    /// The last of `instructions`, as many as there are `sources`. One that reads
    /// another document and has none is left out.
    ///
    /// # Panics
    /// Where there are more sources than instructions.
    pub fn new(instructions: Instructions, sources: Box<[Option<DocId>]>) -> Self {
        let left_out = instructions.len().checked_sub(sources.len());
        let left_out = left_out.expect("each source is that of an instruction");
        Self { instructions, left_out, sources }
    }

    /// The steps, in order.
    pub fn iter(&self) -> impl Iterator<Item = Step<'_>> {
        (0..self.sources.len()).filter_map(|index| self.get(index))
    }

    /// The step by its [`Step::index`].
    pub fn get(&self, index: usize) -> Option<Step<'_>> {
        let source = *self.sources.get(index)?;
        let instruction = &self.instructions[self.left_out + index];
        let op = match &instruction.act {
            Act::Merge { method, path } => Op::Merge { method: *method, path },
            Act::Substitute(writing) => Op::Substitute(Substitution { source: source?, writing }),
            Act::Lay(strategy) => Op::Lay(Lay { source: source?, strategy }),
        };
        Some(Step { index, op, at: instruction.at })
    }

    /// The instructions, also those that are left out.
    pub fn instructions(&self) -> &Instructions {
        &self.instructions
    }

    /// The documents that the steps read.
    pub fn sources(&self) -> impl Iterator<Item = DocId> {
        self.sources.iter().copied().flatten()
    }

    /// Whether these steps do what others do to the same data, with the same documents in the
    /// same order.
    pub(crate) fn do_same(&self, others: &Self) -> bool {
        let is_read = |source: &Option<DocId>| source.is_some();
        self.left_out == others.left_out
            && self.sources.iter().map(is_read).eq(others.sources.iter().map(is_read))
            && self.instructions.say_same(&others.instructions)
    }

    /// Whether nothing is done.
    pub(crate) fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

/// One thing that is done to a document's data.
#[derive(Clone, Copy, Debug)]
pub struct Step<'r> {
    /// By which number its recipe knows it.
    pub index: usize,
    /// What.
    pub op: Op<'r>,
    /// The text that says so.
    pub at: Span,
}

/// What a step does.
#[derive(Clone, Copy, Debug)]
pub enum Op<'r> {
    /// Lays the document's own data over what there is.
    Merge {
        /// How.
        method: Method,
        /// At which path.
        path: &'r Spanned<ActionPath>,
    },
    /// Writes a value of another document.
    Substitute(Substitution<'r>),
    /// Lays the whole of another document over what there is.
    Lay(Lay<'r>),
}

/// A document laid over what there is.
#[derive(Clone, Copy, Debug)]
pub struct Lay<'r> {
    /// The document that is laid over it.
    pub source: DocId,
    /// How.
    pub strategy: &'r Strategy,
}

impl Op<'_> {
    /// The document that is read from; none where the document's own data is
    /// used.
    pub fn source(&self) -> Option<DocId> {
        match self {
            Op::Merge { .. } => None,
            Op::Substitute(substitution) => Some(substitution.source),
            Op::Lay(lay) => Some(lay.source),
        }
    }
}

/// A value read from one document and written into another.
#[derive(Clone, Copy, Debug)]
pub struct Substitution<'r> {
    /// The document read from.
    pub source: DocId,
    /// Which value of it is written where.
    pub writing: &'r Writing,
}

/// The part of a source text that is used.
#[derive(Clone, Debug)]
pub struct Extract {
    /// What to look for.
    pub pattern: Spanned<Pattern>,
    /// Which group of it to take.
    pub group: Spanned<i64>,
}

/// A place a value is written to.
#[derive(Clone, Debug)]
pub struct Destination {
    /// Where.
    pub path: Spanned<Path>,
    /// What part of the text there is replaced, if not all of the value.
    pub part: Option<Part>,
}

/// The part of a destination that is replaced.
#[derive(Clone, Debug)]
pub struct Part {
    /// What is replaced, at every occurrence.
    pub pattern: Spanned<Pattern>,
    /// How deep to look for texts below the path; none where the text must
    /// stand at the path itself. Negative: as deep as there is.
    pub depth: Option<i64>,
}

/// The order in which documents can be made.
#[derive(Debug, Default)]
pub(crate) struct Waves {
    /// Sets of documents; each set needs only those before it.
    pub(crate) waves: Vec<Vec<DocId>>,
    /// Cycles: each member needs the next, the last needs the first.
    pub(crate) cycles: Vec<Vec<Edge>>,
}

/// One document's need of another, as an edge of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The document in need.
    pub doc: DocId,
    /// What it needs.
    pub need: Need,
}

impl Graph {
    /// The recipe of a document.
    pub fn recipe(&self, doc: DocId) -> &Recipe {
        &self.recipes[doc.index()]
    }

    /// Every document with its recipe.
    pub fn iter(&self) -> impl Iterator<Item = (DocId, &Recipe)> {
        self.recipes.iter().enumerate().map(|(index, recipe)| (DocId::at(index), &**recipe))
    }

    /// The documents that are part of the output.
    pub fn outputs(&self) -> impl Iterator<Item = (DocId, &Recipe)> {
        self.iter().filter(|(_, recipe)| recipe.emit)
    }

    /// Which documents are needed to make these, themselves included; by id.
    pub fn closure(&self, docs: Vec<DocId>) -> Vec<bool> {
        self.reached(docs, |doc, open| {
            open.extend(self.recipe(doc).needs.iter().map(|need| need.doc));
        })
    }

    /// Which documents are made of these, themselves included; by id.
    pub(crate) fn dependents(&self, docs: Vec<DocId>) -> Vec<bool> {
        let users = self.users();
        self.reached(docs, |doc, open| open.extend(users.of(doc)))
    }

    /// Which documents are reached from these, themselves included, where `extend` adds those
    /// that one leads to; by id.
    fn reached(&self, mut open: Vec<DocId>, extend: impl Fn(DocId, &mut Vec<DocId>)) -> Vec<bool> {
        let mut reached = vec![false; self.recipes.len()];
        while let Some(doc) = open.pop() {
            if !std::mem::replace(&mut reached[doc.index()], true) {
                extend(doc, &mut open);
            }
        }
        reached
    }

    /// The order of making (Kahn's algorithm, by generations). Documents of a
    /// cycle, and those that need them, are in no wave.
    pub(crate) fn waves(&self) -> Waves {
        let mut open = self.open_needs();
        let users = self.users();
        let mut waves = Vec::new();
        let mut wave: Vec<DocId> =
            self.iter().filter(|(doc, _)| open[doc.index()] == 0).map(|(doc, _)| doc).collect();
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
        Waves { waves, cycles: self.cycles(&open) }
    }

    fn open_needs(&self) -> Vec<usize> {
        self.recipes.iter().map(|recipe| recipe.needs.len()).collect()
    }

    /// By whom each document is needed.
    fn users(&self) -> Lists {
        Lists::new(self.recipes.len(), || self.needed().map(|(doc, needed)| (needed, doc)))
    }

    fn needs(&self) -> Lists {
        Lists::new(self.recipes.len(), || self.needed())
    }

    /// Each document, with each that it needs.
    fn needed(&self) -> impl Iterator<Item = (DocId, DocId)> {
        self.iter().flat_map(|(doc, recipe)| recipe.needs.iter().map(move |need| (doc, need.doc)))
    }

    /// One cycle for each knot (strongly connected component) among the
    /// documents whose needs stay open.
    fn cycles(&self, open: &[usize]) -> Vec<Vec<Edge>> {
        if open.iter().all(|count| *count == 0) {
            return Vec::new();
        }
        let mut cycles: Vec<_> = self
            .knots(open)
            .into_iter()
            .filter_map(|mut knot| {
                knot.sort_unstable();
                self.cycle_within(&knot)
            })
            .collect();
        cycles.sort_by_key(|cycle| cycle[0].doc);
        cycles
    }

    /// The documents whose needs stay open, in knots (Kosaraju's algorithm):
    /// who is reached along needs, and then back along them.
    fn knots(&self, open: &[usize]) -> Vec<Vec<DocId>> {
        let (needs, users) = (self.needs(), self.users());
        let closed: Vec<bool> = open.iter().map(|count| *count == 0).collect();
        let mut reached = closed.clone();
        let order: Vec<DocId> =
            self.iter().flat_map(|(doc, _)| reach(doc, &needs, &mut reached)).collect();
        let mut reached = closed;
        let knots = order.into_iter().rev().map(|doc| reach(doc, &users, &mut reached));
        knots.filter(|knot| !knot.is_empty()).collect()
    }

    /// The cycle met by following, from the first document of a knot, always
    /// the first need that stays inside it; none where the knot is a single
    /// document that does not need itself.
    fn cycle_within(&self, knot: &[DocId]) -> Option<Vec<Edge>> {
        let mut way: Vec<Edge> = Vec::new();
        let mut entered = vec![None; knot.len()];
        let mut member = 0;
        loop {
            if let Some(entry) = entered[member].replace(way.len()) {
                return Some(way.split_off(entry));
            }
            let doc = knot[member];
            let inside = |need: &&Need| knot.binary_search(&need.doc).is_ok();
            let need = *self.recipe(doc).needs.iter().find(inside)?;
            way.push(Edge { doc, need });
            member = knot.binary_search(&need.doc).expect("the need is inside");
        }
    }
}

/// A list of documents for each document: one list behind the other, since there
/// are as many as documents and most are short.
#[derive(Debug)]
pub(crate) struct Lists {
    /// Where the list of each document ends and the next one begins.
    ends: Vec<u32>,
    docs: Vec<DocId>,
}

impl Lists {
    /// The lists of so many documents. The second document of each pair is in the
    /// list of the first; they are asked for twice.
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
            // Where the list begins, until it is filled.
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

    /// The list of a document, in the order of the pairs.
    pub(crate) fn of(&self, doc: DocId) -> &[DocId] {
        let begin = doc.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.docs[begin as usize..self.ends[doc.index()] as usize]
    }
}

/// The documents that are reached from `start` and were not before, depth first:
/// each after those it leads to. Without recursion, for chains of any length.
fn reach(start: DocId, next: &Lists, reached: &mut [bool]) -> Vec<DocId> {
    let mut done = Vec::new();
    if std::mem::replace(&mut reached[start.index()], true) {
        return done;
    }
    let mut way = vec![(start, 0)];
    while let Some((doc, taken)) = way.last_mut() {
        match next.of(*doc).get(*taken).copied() {
            Some(to) => {
                *taken += 1;
                if !std::mem::replace(&mut reached[to.index()], true) {
                    way.push((to, 0));
                }
            }
            None => {
                done.push(*doc);
                way.pop();
            }
        }
    }
    done
}
