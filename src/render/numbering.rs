//! Strokes that are made again of inputs with numbers, to see from where each of them has what it
//! left.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::stroke::Author;
use super::{Making, Rendered};
use crate::graph::{DocId, Graph, Op};
use crate::merge::Strategy;
use crate::merge::numbers::{Numbered, Numbers};
use crate::source::NumberedInput;
use crate::yaml::Node;

type Lookup<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// The numbers of strokes, each found when it is first asked for.
pub(super) struct Numbering<'a> {
    graph: &'a Graph,
    rendered: &'a Rendered,
    inputs: RefCell<Lookup<(DocId, NumberedInput), Rc<Numbered>>>,
    strokes: RefCell<Lookup<(DocId, usize), Rc<Numbers>>>,
}

impl<'a> Numbering<'a> {
    /// Number of nodes for which numbers are kept.
    const MAX_KEPT: usize = 1_000_000;

    pub(super) fn new(graph: &'a Graph, rendered: &'a Rendered) -> Self {
        Self { graph, rendered, inputs: RefCell::default(), strokes: RefCell::default() }
    }

    /// The numbers of the stroke of a document that comes after so many others.
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
        let mut strokes = self.strokes.borrow_mut();
        if strokes.values().map(|numbers| numbers.size()).sum::<usize>() > Self::MAX_KEPT {
            strokes.clear();
        }
        strokes.insert((doc, index), numbers.clone());
        numbers
    }

    fn made_again(&self, doc: DocId, author: Author, [before, after]: [&Node; 2]) -> Numbers {
        let recipe = self.graph.recipe(doc);
        let own = || self.input(doc, NumberedInput::Own, &recipe.data);
        let (step, destination) = match author {
            Author::Action { step } => (step, None),
            Author::Destination { step, index } => (step, Some(index)),
            Author::Limit => {
                let before = Numbered::of(before, NumberedInput::Before);
                let own = own();
                return Numbers::new(before, Some(own.clone()), None, own.node().clone());
            }
        };
        let step = recipe.step(step);
        let source = step.op.source().map(|source| {
            let data = self.rendered.data(source).expect("what was read was made");
            self.input(source, NumberedInput::Source, data)
        });
        let before = if moves_within(&step.op, destination) {
            Numbered::of(before, NumberedInput::Before)
        } else {
            Numbered::of_changed(before, after)
        };
        let own = matches!(step.op, Op::Merge { .. }).then(own);
        let own_data = own.as_ref().map_or(&recipe.data, |own| own.node());
        let data = before.node().clone();
        let mut making = Making::at(self.graph, doc, data, own_data, self.rendered.allowance);
        making.follow(step, source.as_ref().map(|source| source.node()), destination);
        let after = making.data;
        Numbers::new(before, own, source, after)
    }

    fn input(&self, doc: DocId, input: NumberedInput, node: &Node) -> Rc<Numbered> {
        let mut inputs = self.inputs.borrow_mut();
        inputs.entry((doc, input)).or_insert_with(|| Rc::new(Numbered::of(node, input))).clone()
    }
}

/// Whether a step may put what a document has at one place to another one.
fn moves_within(op: &Op<'_>, destination: Option<usize>) -> bool {
    match op {
        Op::Merge { .. } => false,
        Op::Substitute(substitution) => {
            let destination = destination.map(|index| &substitution.writing.to[index]);
            destination.is_none_or(|destination| destination.part.is_some())
        }
        Op::Lay(lay) => matches!(lay.strategy, Strategy::JsonPatch(_)),
    }
}
