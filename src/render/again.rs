//! Rendering what is nearly the same once more: a document that is made of
//! the same things as before is taken as it was.

use super::limits::Allowance;
use super::{Made, Rendered};
use crate::graph::{DocId, Graph, Op, Steps, Substitution};
use crate::yaml::Node;
use crate::yaml::diff::same;

/// When things count as the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alike {
    /// Where they were read from the same text: what is taken knows its text,
    /// too.
    Text,
    /// Where they have the same values: what is taken may name the text of the
    /// earlier rendering.
    Value,
}

/// What has been rendered before.
pub struct Earlier<'a> {
    graph: &'a Graph,
    rendered: &'a Rendered,
    twins: Vec<Option<DocId>>,
    alike: Alike,
    /// Which documents had problems: these are told again, so that they are
    /// made again.
    troubled: Vec<bool>,
}

impl<'a> Earlier<'a> {
    /// `rendered`, made of `graph`. `twins` says, for every document that is
    /// now to be rendered, which of `graph` was read from the same text; what
    /// they need only has to be `alike`.
    pub fn new(
        graph: &'a Graph,
        rendered: &'a Rendered,
        twins: Vec<Option<DocId>>,
        alike: Alike,
    ) -> Self {
        let mut troubled = vec![false; graph.recipes.len()];
        for problem in &rendered.problems {
            troubled[problem.doc.index()] = true;
        }
        Self { graph, rendered, twins, alike, troubled }
    }

    /// For each document that is now to be rendered the one of what was rendered
    /// before that was read from the same text, if there is one.
    pub fn twins(&self) -> &[Option<DocId>] {
        &self.twins
    }

    /// The document of this name in what was rendered before.
    fn twin(&self, doc: DocId) -> Option<DocId> {
        self.twins[doc.index()]
    }
}

/// What can be taken from earlier renderings while a graph is rendered.
pub(super) struct Stock<'a> {
    graph: &'a Graph,
    earlier: &'a [Earlier<'a>],
    /// What each document may cost now; it could have been more.
    allowance: Allowance,
    /// From which of the earlier ones each document was taken.
    taken: Vec<Option<usize>>,
    /// What [`Rendered::untouched`] will say.
    untouched: Vec<Option<DocId>>,
}

impl<'a> Stock<'a> {
    pub(super) fn new(graph: &'a Graph, earlier: &'a [Earlier<'a>], allowance: Allowance) -> Self {
        let same = |earlier: &Earlier<'_>| {
            earlier.graph.semantics == graph.semantics
                && earlier.graph.missing_source == graph.missing_source
        };
        let earlier = if earlier.iter().all(same) { earlier } else { &[] };
        let documents = graph.recipes.len();
        let (taken, untouched) = (vec![None; documents], vec![None; documents]);
        Self { graph, earlier, allowance, taken, untouched }
    }

    pub(super) fn into_untouched(self) -> Vec<Option<DocId>> {
        self.untouched
    }

    /// The document as it was made before, if it is made of the same things.
    pub(super) fn take(&mut self, doc: DocId, made: &[Option<Made>]) -> Option<Made> {
        let (index, twin) = (0..self.earlier.len()).find_map(|index| {
            let twin = self.earlier[index].twin(doc)?;
            self.is_made_alike(index, doc, twin, made).then_some((index, twin))
        })?;
        let rendered = self.earlier[index].rendered;
        if rendered.blockers.contains_key(&twin) || !rendered.is_wanted(twin) {
            return None;
        }
        self.taken[doc.index()] = Some(index);
        let mut needs = self.graph.recipe(doc).needs.iter();
        // Whether it is an output depends on others too: on what replaces it.
        let is_untouched = index == 0
            && self.graph.recipe(doc).emit == self.earlier[0].graph.recipe(twin).emit
            && needs.all(|need| self.untouched[need.doc.index()].is_some());
        self.untouched[doc.index()] = Some(twin).filter(|_| is_untouched);
        Some(rendered.made[twin.index()].clone())
    }

    fn is_made_alike(&self, index: usize, doc: DocId, twin: DocId, made: &[Option<Made>]) -> bool {
        let earlier = &self.earlier[index];
        let (now, then) = (self.graph.recipe(doc), earlier.graph.recipe(twin));
        let needed = Needed { earlier, index, made, taken: &self.taken };
        let base = match (now.base, then.base) {
            (None, None) => true,
            (Some(now), Some(then)) => needed.is_same(now.doc, then.doc),
            (Some(_), None) | (None, Some(_)) => false,
        };
        base && !earlier.troubled[twin.index()]
            && self.allowance.covers(earlier.rendered.made[twin.index()].cost)
            && needed.steps_are_alike(&now.steps, &then.steps)
    }
}

/// What a document needs, now and earlier.
struct Needed<'s> {
    earlier: &'s Earlier<'s>,
    index: usize,
    made: &'s [Option<Made>],
    taken: &'s [Option<usize>],
}

impl Needed<'_> {
    /// Whether steps do what they did.
    fn steps_are_alike(&self, now: &Steps, then: &Steps) -> bool {
        let mut both = now.iter().zip(then.iter());
        now.iter().count() == then.iter().count()
            && both.all(|(now, then)| now.at == then.at && self.step_is_alike(&now.op, &then.op))
    }

    fn step_is_alike(&self, now: &Op<'_>, then: &Op<'_>) -> bool {
        match (now, then) {
            (Op::Merge { .. }, Op::Merge { .. }) => true,
            (Op::Substitute(now), Op::Substitute(then)) => self.reads_same(now, then),
            (Op::Lay(now), Op::Lay(then)) => {
                now.strategy == then.strategy && self.is_same(now.source, then.source)
            }
            (Op::Merge { .. } | Op::Substitute(_) | Op::Lay(_), _) => false,
        }
    }

    /// Whether a document was taken from where another stood.
    fn is_taken(&self, now: DocId, then: DocId) -> bool {
        self.taken[now.index()] == Some(self.index) && self.earlier.twin(now) == Some(then)
    }

    /// Whether a document is as it was.
    fn is_same(&self, now: DocId, then: DocId) -> bool {
        self.is_taken(now, then)
            || self.earlier.alike == Alike::Value
                && self.data(now, then).is_some_and(|(now, then)| same(now, then))
    }

    /// Whether a substitution reads what it read.
    fn reads_same(&self, now: &Substitution<'_>, then: &Substitution<'_>) -> bool {
        self.is_taken(now.source, then.source)
            || self.earlier.alike == Alike::Value
                && self.data(now.source, then.source).is_some_and(|(new, old)| {
                    let path = &now.writing.from.value;
                    match (path.value(new), path.value(old)) {
                        (Ok(Some(new)), Ok(Some(old))) => {
                            new.secret == old.secret && same(&new, &old)
                        }
                        _ => false,
                    }
                })
    }

    fn data(&self, now: DocId, then: DocId) -> Option<(&Node, &Node)> {
        let now = &self.made[now.index()].as_ref()?.data;
        Some((now, self.earlier.rendered.data(then)?))
    }
}
