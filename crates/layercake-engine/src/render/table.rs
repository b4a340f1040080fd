//! Cache of rendered documents, keyed by their inputs. All sites, sides and trials of a run share
//! it, so that each document is rendered once per set of inputs.

use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use layercake_source::{FileId, Span};
use layercake_yaml::diff::{identical, same};
use layercake_yaml::{Node, Size};
use parking_lot::RwLock;

use super::Made;
use super::limits::Allowance;
use crate::graph::{DocId, Graph, MissingSource, Op, Recipe, Step};
use crate::merge::deckhand::Semantics;

/// Shared rendered document. Compared by identity: equal if both come from the same rendering.
#[derive(Clone, Debug)]
pub struct MadeDocument(Arc<Made>);

impl MadeDocument {
    pub(super) fn new(made: Made) -> Self {
        Self(Arc::new(made))
    }
}

impl Deref for MadeDocument {
    type Target = Made;

    fn deref(&self) -> &Made {
        &self.0
    }
}

impl PartialEq for MadeDocument {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for MadeDocument {}

impl Hash for MadeDocument {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

/// Set of files of a run.
pub type FileSet = HashSet<FileId, foldhash::fast::RandomState>;

/// Cache of rendered documents.
#[derive(Debug, Default)]
pub struct Table {
    /// Files whose documents are kept; all files if `None`.
    files: Option<FileSet>,
    entries: RwLock<HashMap<Span, Vec<Entry>, foldhash::fast::RandomState>>,
}

/// Comparison of a document's inputs with those of a cache entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// The inputs must be the same renderings.
    Texts,
    /// The inputs must have the same values where the document reads them. The spans of the cached
    /// document may then refer to the entry's inputs.
    Values,
}

/// Document with its inputs.
#[derive(Debug)]
struct Entry {
    recipe: Arc<Recipe>,
    /// Its base and the documents that its steps read, in order.
    inputs: Box<[MadeDocument]>,
    meaning: Meaning,
    allowance: Allowance,
    made: MadeDocument,
}

/// Settings that affect the semantics of all recipes of a graph.
type Meaning = (Semantics, MissingSource);

impl Table {
    /// Creates a table that keeps only documents of these files.
    pub fn of_files(files: FileSet) -> Self {
        Self {
            files: Some(files),
            entries: RwLock::default(),
        }
    }

    /// Restricts the table to documents of these files and drops all others. Returns the remaining
    /// documents.
    pub fn keep_files(&mut self, files: FileSet) -> HashSet<&MadeDocument> {
        /// Maximum number of renderings per source text that are kept; older ones have outdated
        /// inputs.
        const MAX_RENDERINGS: usize = 4;
        let entries = self.entries.get_mut();
        entries.retain(|_, of_text| {
            of_text.retain(|entry| is_in(&files, &entry.recipe));
            of_text.drain(..of_text.len().saturating_sub(MAX_RENDERINGS));
            !of_text.is_empty()
        });
        self.files = Some(files);
        entries
            .values()
            .flatten()
            .map(|entry| &entry.made)
            .collect()
    }

    fn keeps(&self, recipe: &Recipe) -> bool {
        self.files.as_ref().is_none_or(|files| is_in(files, recipe))
    }

    fn find(&self, recipe: &Recipe, is_wanted: &dyn Fn(&Entry) -> bool) -> Option<MadeDocument> {
        let entries = self.entries.read();
        let mut of_text = entries.get(&recipe.span)?.iter();
        of_text
            .find(|entry| is_wanted(entry))
            .map(|entry| entry.made.clone())
    }
}

/// Returns whether a document is in one of these files, or in none because steps alone create it.
fn is_in(files: &FileSet, recipe: &Recipe) -> bool {
    is_laid(recipe) || files.contains(&recipe.span.file)
}

/// Tables used in one rendering.
pub(super) struct Tables<'a> {
    graph: &'a Graph,
    /// Each may contain documents that depend on documents of earlier ones.
    list: &'a [&'a Table],
    matching: Matching,
    allowance: Allowance,
    /// Index of the table that has or will have each document, by id.
    levels: Vec<Option<usize>>,
    taken: Vec<bool>,
}

impl<'a> Tables<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        list: &'a [&'a Table],
        matching: Matching,
        allowance: Allowance,
    ) -> Self {
        let documents = graph.recipes.len();
        let levels = vec![None; documents];
        let taken = vec![false; documents];
        Self {
            graph,
            list,
            matching,
            allowance,
            levels,
            taken,
        }
    }

    /// Returns the cached document with the same inputs, if any.
    pub(super) fn take(
        &mut self,
        doc: DocId,
        made: &[Option<MadeDocument>],
    ) -> Option<MadeDocument> {
        let recipe = self.graph.recipe(doc);
        let found = |matching| {
            let is_wanted = |entry: &Entry| self.is_made_alike(entry, recipe, made, matching);
            let mut tables = self.list.iter().enumerate();
            tables.find_map(|(level, table)| Some((level, table.find(recipe, &is_wanted)?)))
        };
        if let Some((level, known)) = found(Matching::Texts) {
            self.levels[doc.index()] = Some(level);
            self.taken[doc.index()] = true;
            return Some(known);
        }
        if self.matching == Matching::Texts {
            return None;
        }
        let (_, known) = found(Matching::Values)?;
        self.taken[doc.index()] = true;
        Some(MadeDocument::new(Made::clone(&known)))
    }

    /// Returns whether a cache entry has the same inputs, and a cost within the limits of this
    /// rendering.
    fn is_made_alike(
        &self,
        entry: &Entry,
        recipe: &Recipe,
        made: &[Option<MadeDocument>],
        matching: Matching,
    ) -> bool {
        let needed = |doc: DocId| made[doc.index()].as_ref();
        let are_inputs = || match matching {
            Matching::Texts => inputs(recipe).map(needed).eq(entry.inputs.iter().map(Some)),
            Matching::Values => reading(recipe)
                .zip(&entry.inputs)
                .all(|((doc, step), then)| {
                    needed(doc).is_some_and(|now| reads_same(step, &now.data, &then.data))
                }),
        };
        entry.meaning == self.meaning()
            && is_same_text(recipe, &entry.recipe)
            && are_inputs()
            && self
                .allowance
                .covers(&entry.allowance, &entry.made.cost, recipe, || {
                    let base = recipe.base.and_then(|base| needed(base.doc));
                    let data = base.into_iter().chain([&entry.made]).map(|made| &made.data);
                    data.map(|data| Size::of(data).nodes())
                        .max()
                        .unwrap_or_default()
                })
    }

    fn meaning(&self) -> Meaning {
        (self.graph.semantics, self.graph.missing_source)
    }

    /// Adds new documents that were rendered without problems.
    pub(super) fn keep(&mut self, fresh: &[DocId], made: &[Option<MadeDocument>]) {
        let mut entries: Vec<Vec<Entry>> = self.list.iter().map(|_| Vec::new()).collect();
        for doc in fresh {
            let Some(level) = self.level(*doc) else {
                continue;
            };
            self.levels[doc.index()] = Some(level);
            let Some(made_now) = &made[doc.index()] else {
                continue;
            };
            let recipe = &self.graph.recipes[doc.index()];
            entries[level].push(Entry {
                recipe: recipe.clone(),
                inputs: inputs(recipe)
                    .map(|doc| {
                        made[doc.index()]
                            .clone()
                            .expect("inputs are rendered first")
                    })
                    .collect(),
                meaning: self.meaning(),
                allowance: self.allowance,
                made: made_now.clone(),
            });
        }
        for (table, entries) in self
            .list
            .iter()
            .zip(entries)
            .filter(|(_, it)| !it.is_empty())
        {
            let mut known = table.entries.write();
            for entry in entries {
                match known.entry(entry.recipe.span) {
                    // Reserve room for one entry, because most texts have only one rendering.
                    Vacant(place) => {
                        place.insert(vec![entry]);
                    }
                    Occupied(mut place) => place.get_mut().push(entry),
                }
            }
        }
    }

    /// Returns the index of the first table that keeps a document and all its dependencies.
    fn level(&self, doc: DocId) -> Option<usize> {
        if self.matching == Matching::Values {
            return None;
        }
        let recipe = self.graph.recipe(doc);
        let mut least = 0;
        for need in &recipe.needs {
            least = least.max(self.levels[need.doc.index()]?);
        }
        (least..self.list.len()).find(|level| self.list[*level].keeps(recipe))
    }

    /// Returns for each document the table that has it, and whether it was taken from one.
    pub(super) fn into_parts(self) -> (Vec<Option<usize>>, Vec<bool>) {
        (self.levels, self.taken)
    }
}

/// Iterates over the documents that a recipe reads: its base, then the sources of its steps.
fn inputs(recipe: &Recipe) -> impl Iterator<Item = DocId> {
    recipe
        .base
        .map(|base| base.doc)
        .into_iter()
        .chain(recipe.steps.sources())
}

/// As [`inputs`], with the steps.
fn reading(recipe: &Recipe) -> impl Iterator<Item = (DocId, Option<Step<'_>>)> {
    let base = recipe.base.map(|base| (base.doc, None));
    let steps = recipe.steps.iter();
    base.into_iter()
        .chain(steps.filter_map(|step| Some((step.op.source()?, Some(step)))))
}

/// Returns whether a step reads the same value from two versions of its source. A base is compared
/// as a whole.
fn reads_same(step: Option<Step<'_>>, now: &Node, then: &Node) -> bool {
    let Some(Op::Substitute(substitution)) = step.map(|step| step.op) else {
        return same(now, then);
    };
    let path = &substitution.writing.from.value;
    match (path.value(now), path.value(then)) {
        (Ok(Some(now)), Ok(Some(then))) => now.secret == then.secret && same(&now, &then),
        _ => false,
    }
}

/// Returns whether two recipes have the same source text and equivalent steps.
fn is_same_text(now: &Recipe, then: &Recipe) -> bool {
    let is_same = if is_laid(now) {
        now.key == then.key && now.data.is_null() == then.data.is_null()
    } else {
        now.key.is_same(&then.key) && identical(&now.data, &then.data)
    };
    is_same && now.emit == then.emit && now.steps.are_equivalent(&then.steps)
}

/// Returns whether a document consists only of merged documents, so that each graph has its own
/// recipe for it.
fn is_laid(recipe: &Recipe) -> bool {
    recipe
        .steps
        .iter()
        .next()
        .is_some_and(|step| matches!(step.op, Op::Combine(_)))
}
