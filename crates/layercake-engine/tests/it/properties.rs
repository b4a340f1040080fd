//! Laws of merging over generated values.

mod deckhand;
mod merging;
mod patch;
