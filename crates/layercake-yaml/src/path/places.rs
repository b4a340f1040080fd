//! Index of places, to find those that contain a place or that it contains.

use std::collections::HashMap;

use super::{Location, Piece};

/// Places by their pieces. A query costs as much as the place and its result are long.
#[derive(Debug, Default)]
pub struct PlaceIndex {
    /// The root, if there is a place, and all places around others.
    steps: Vec<PlaceStep>,
}

#[derive(Debug, Default)]
struct PlaceStep {
    inner: HashMap<Piece, usize, foldhash::fast::RandomState>,
    /// Steps in `inner`, in order.
    children: Vec<usize>,
    /// Numbers of the places that end here.
    places: Vec<usize>,
}

impl PlaceIndex {
    /// Numbers these places from 0.
    pub fn new<'l>(places: impl IntoIterator<Item = &'l Location>) -> Self {
        let mut index = Self::default();
        for (number, place) in places.into_iter().enumerate() {
            let step = index.step_of(place);
            index.steps[step].places.push(number);
        }
        index
    }

    fn step_of(&mut self, place: &Location) -> usize {
        if self.steps.is_empty() {
            self.steps.push(PlaceStep::default());
        }
        let mut at = 0;
        for piece in &place.0 {
            at = match self.steps[at].inner.get(piece) {
                Some(known) => *known,
                None => {
                    let new = self.steps.len();
                    self.steps.push(PlaceStep::default());
                    self.steps[at].inner.insert(piece.clone(), new);
                    self.steps[at].children.push(new);
                    new
                }
            };
        }
        at
    }

    /// Returns the numbers of the places that are this one, contain it or are inside it; sorted.
    pub fn around(&self, place: &Location) -> Vec<usize> {
        let Some(mut step) = self.steps.first() else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for piece in &place.0 {
            found.extend(&step.places);
            match step.inner.get(piece) {
                Some(inner) => step = &self.steps[*inner],
                None => {
                    found.sort_unstable();
                    return found;
                }
            }
        }
        let mut open = vec![step];
        while let Some(step) = open.pop() {
            found.extend(&step.places);
            open.extend(step.children.iter().map(|child| &self.steps[*child]));
        }
        found.sort_unstable();
        found
    }
}
