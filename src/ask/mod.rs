//! Questions about rendered sites: where a value comes from, where it could be changed, what a line
//! reaches, why it does not reach a value, which edits changed a value, and which documents depend
//! on each other.
//!
//! An answer is a type of [`report::answer`](crate::report::answer). Asking opens and reads nothing:
//! a question is about one site at a time, and requests the documents that it needs with
//! [`Answer::Needs`](crate::check::Answer::Needs).

pub(crate) mod change_option;
pub(crate) mod effect;
pub(crate) mod expected;
pub(crate) mod graph;
pub(crate) mod impact;
pub(crate) mod line;
pub(crate) mod overrides;
pub(crate) mod place;
pub(crate) mod query;
mod question;
pub(crate) mod renaming;
mod route;
pub(crate) mod since;
pub(crate) mod uses;
pub(crate) mod value;
pub(crate) mod why_not;

pub use self::question::ValueQuestion;
pub(crate) use self::question::{
    SET, document, is_called, no_value, place, unknown, with_place_help,
};
pub use self::value::trace;
