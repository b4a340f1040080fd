//! Reruns strokes on numbered inputs, to find the origin of the values that they wrote.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use layercake_source::NumberedInput;
use layercake_yaml::Node;

use super::stroke::Author;
use super::{Making, Rendered};
use crate::graph::{DocId, Graph, Op};
use crate::merge::numbers::{Numbered, Numbers};

type Lookup<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Cache of numbered strokes, each computed on first use.
pub(super) struct Numbering<'a> {
    graph: &'a Graph,
    rendered: &'a Rendered,
    inputs: RefCell<Lookup<(DocId, NumberedInput), Rc<Numbered>>>,
    strokes: RefCell<Lookup<(DocId, usize), Rc<Numbers>>>,
    /// Number of cached entries.
    kept: Cell<usize>,
}

impl<'a> Numbering<'a> {
    /// Maximum number of cached entries of numbered values.
    const MAX_KEPT: usize = 2_000_000;

    pub(super) fn new(graph: &'a Graph, rendered: &'a Rendered) -> Self {
        Self {
            graph,
            rendered,
            inputs: RefCell::default(),
            strokes: RefCell::default(),
            kept: Cell::new(0),
        }
    }

    /// Returns the numbered inputs and result of the stroke at `index` of a document.
    pub(super) fn stroke(
        &self,
        doc: DocId,
        index: usize,
        author: Author,
        [before, after]: [&Node; 2],
    ) -> Rc<Numbers> {
        if let Some(known) = self.strokes.borrow().get(&(doc, index)) {
            return known.clone();
        }
        let numbers = Rc::new(self.made_again(doc, author, [before, after]));
        self.keep(numbers.size());
        self.strokes
            .borrow_mut()
            .insert((doc, index), numbers.clone());
        numbers
    }

    /// Counts a value with this number of entries; clears the cache first if the total exceeds the
    /// limit.
    fn keep(&self, entries: usize) {
        if self.kept.get().saturating_add(entries) > Self::MAX_KEPT {
            self.strokes.take();
            self.inputs.take();
            self.kept.set(0);
        }
        self.kept.set(self.kept.get().saturating_add(entries));
    }

    fn made_again(&self, doc: DocId, author: Author, [before, after]: [&Node; 2]) -> Numbers {
        let recipe = self.graph.recipe(doc);
        let own_input = || self.input(doc, NumberedInput::Own, &recipe.data);
        let (step, destination) = match author {
            Author::Action { step } => (step, None),
            Author::Destination { step, index } => (step, Some(index)),
            Author::Limit => {
                let before = Numbered::of(before, NumberedInput::Before);
                let own = own_input();
                return Numbers::new(before, Some(own.clone()), None, own.node().clone());
            }
        };
        let step = recipe.step(step);
        let source = step.op.source().map(|source| {
            let data = self.rendered.data(source).expect("what was read was made");
            self.input(source, NumberedInput::Source, data)
        });
        let before = if self.moves_within(&step.op, destination) {
            Numbered::of(before, NumberedInput::Before)
        } else {
            Numbered::of_changed(before, after)
        };
        let own = matches!(step.op, Op::Merge { .. }).then(own_input);
        let own_data = own.as_ref().map_or(&recipe.data, |own| own.node());
        let data = before.node().clone();
        let mut making = Making::at(self.graph, doc, data, own_data, self.rendered.allowance);
        let source_data = source.as_ref().map_or(own_data, |source| source.node());
        making.follow(step, &|_| source_data, destination);
        let after = making.data;
        Numbers::new(before, own, source, after)
    }

    fn input(&self, doc: DocId, input: NumberedInput, node: &Node) -> Rc<Numbered> {
        if let Some(known) = self.inputs.borrow().get(&(doc, input)) {
            return known.clone();
        }
        let numbered = Rc::new(Numbered::of(node, input));
        self.keep(numbered.size());
        self.inputs
            .borrow_mut()
            .insert((doc, input), numbered.clone());
        numbered
    }

    /// Returns whether a step may move a value within its document.
    fn moves_within(&self, op: &Op<'_>, destination: Option<usize>) -> bool {
        match op {
            // The value of the first place is merged, and written to all places.
            Op::Merge { method, path } => {
                let path = path.value.effective(*method, self.graph.semantics);
                path.is_some_and(|path| path.segments().is_none())
            }
            Op::Substitute(substitution) => {
                let destination = destination.map(|index| &substitution.writing.to[index]);
                destination.is_none_or(|destination| destination.part.is_some())
            }
            Op::Combine(combine) => combine.strategy.moves_within(),
        }
    }
}
