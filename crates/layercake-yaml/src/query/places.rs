//! Paths of RFC 9535 that are matched against locations: without the data, or much faster than by
//! jsonpath-rust while walking it. Features that need the data (filters, indexes from the end) are
//! rejected.

use std::fmt;
use std::sync::Arc;

use jsonpath_rust::parser::model::{JpQuery, Segment, Selector as Parsed};

use super::{InvalidQuery, Selected};
use crate::path::{Location, Piece, children};
use crate::{Key, Node, Value};

/// A path that matches any number of locations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceQuery {
    text: Arc<str>,
    steps: Vec<QueryStep>,
}

/// A segment of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
struct QueryStep {
    /// Whether it may match at any depth.
    is_deep: bool,
    selectors: Vec<QuerySelector>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum QuerySelector {
    Name(Arc<str>),
    Any,
    Index(usize),
    /// Every `step`-th index from `from` to `to`, exclusive.
    Slice {
        from: usize,
        to: Option<usize>,
        step: usize,
    },
}

impl PlaceQuery {
    /// Parses a path.
    ///
    /// # Errors
    /// If `text` is not valid, or needs the data for matching.
    pub fn parse(text: &str) -> Result<Self, InvalidQuery> {
        Self::of(&super::parse(text)?, text)
    }

    /// The path without features that need the data.
    ///
    /// # Errors
    /// If it has one.
    pub(super) fn of(parsed: &JpQuery, text: &str) -> Result<Self, InvalidQuery> {
        if parsed.segments.len() >= Steps::BITS as usize {
            return Err("it has too many steps".into());
        }
        let steps = parsed.segments.iter().map(QueryStep::of);
        Ok(Self {
            text: text.into(),
            steps: steps.collect::<Result<_, _>>()?,
        })
    }

    /// Whether the path matches this location.
    pub(crate) fn leads_to(&self, place: &Location) -> bool {
        let pieces = place.0.iter();
        let reached = pieces.fold(START, |at, piece| self.advance(at, piece));
        self.is_end(reached)
    }

    /// Nodes at matching locations, in document order. Non-string keys are never matched, because JSON
    /// has none.
    pub(super) fn select<'a>(&self, root: &'a Node) -> Vec<Selected<'a>> {
        let mut selected = Vec::new();
        self.walk(root, START, &mut Location::root(), &mut selected);
        selected
    }

    fn walk<'a>(
        &self,
        node: &'a Node,
        at: Steps,
        here: &mut Location,
        selected: &mut Vec<Selected<'a>>,
    ) {
        if self.is_end(at) {
            let location = here.clone();
            selected.push(Selected { node, location });
        }
        for (piece, child) in children(node) {
            let is_json = !matches!(&piece, Piece::Key(key) if key.as_str().is_none());
            let next = self.advance(at, &piece);
            if is_json && next != 0 {
                here.0.push(piece);
                self.walk(child, next, here, selected);
                here.0.pop();
            }
        }
    }

    fn is_end(&self, at: Steps) -> bool {
        at & START << self.steps.len() != 0
    }

    /// Advances the matching states by one piece.
    fn advance(&self, at: Steps, piece: &Piece) -> Steps {
        let steps = self.steps.iter().enumerate();
        let taken = steps.filter(|(taken, _)| at & START << taken != 0);
        taken.fold(0, |next, (taken, step)| {
            let is_taken = step.selectors.iter().any(|selector| selector.takes(piece));
            next | Steps::from(step.is_deep) << taken | Steps::from(is_taken) << (taken + 1)
        })
    }
}

/// Numbers of matched steps, as bits.
type Steps = u64;

/// Nothing is matched yet.
const START: Steps = 1;

impl fmt::Display for PlaceQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl QueryStep {
    fn of(segment: &Segment) -> Result<Self, &'static str> {
        let selectors = super::selectors(segment).iter().map(QuerySelector::of);
        Ok(Self {
            is_deep: matches!(segment, Segment::Descendant(_)),
            selectors: selectors.collect::<Result<_, _>>()?,
        })
    }
}

impl QuerySelector {
    fn of(selector: &Parsed) -> Result<Self, &'static str> {
        let from_start =
            |index: i64| usize::try_from(index).map_err(|_| "it counts from the end of a list");
        Ok(match selector {
            Parsed::Name(name) => QuerySelector::Name(name.as_str().into()),
            Parsed::Wildcard => QuerySelector::Any,
            Parsed::Index(index) => QuerySelector::Index(from_start(*index)?),
            Parsed::Slice(from, to, step) => QuerySelector::Slice {
                from: from_start(from.unwrap_or(0))?,
                to: to.map(from_start).transpose()?,
                step: from_start(step.unwrap_or(1))?,
            },
            Parsed::Filter(_) => return Err("it has a filter, which is not supported"),
        })
    }

    fn takes(&self, piece: &Piece) -> bool {
        match (self, piece) {
            (QuerySelector::Any, Piece::Key(_) | Piece::Index(_)) => true,
            (QuerySelector::Name(name), Piece::Key(Key { value, .. })) => {
                matches!(value, Value::String(text) if **text == **name)
            }
            (QuerySelector::Index(wanted), Piece::Index(index)) => wanted == index,
            (QuerySelector::Slice { from, to, step }, Piece::Index(index)) => {
                let is_between = index >= from && to.is_none_or(|to| *index < to);
                // RFC 9535, 2.3.4.2.2: a step of zero selects nothing.
                is_between && *step > 0 && (index - from) % step == 0
            }
            (QuerySelector::Name(_), Piece::Index(_))
            | (QuerySelector::Index(_) | QuerySelector::Slice { .. }, Piece::Key(_)) => false,
        }
    }
}
