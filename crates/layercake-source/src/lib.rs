//! Files of a tree, their texts, and locations in them.
//!
//! A [`FileId`] identifies one path *and* one content. This crate does not know YAML or Deckhand,
//! and does not print.
//!
//! ```
//! use layercake_source::{FileId, LineIndex, Span};
//!
//! let text = "name: keystone\nport: 5000\n";
//! let span = Span::new(FileId::default(), 21, 25);
//! assert_eq!(&text[span.range()], "5000");
//!
//! let position = LineIndex::new(text).position(text, span.start);
//! assert_eq!((position.line.get(), position.column.get()), (2, 7));
//! ```
//!
//! # Features
//!
//! - `files`: trees of files (a folder, a commit, the index, memory), git, and writing. Without it
//!   the crate contains only spans, for libraries that receive their text.
//!
//! # Modules
//!
//! Lowest first; a module uses only those above it in this list, and its own submodules.
//!
//! - [`error`]: errors that prevent a run
//! - [`cancel`]: stopping a run from another thread
//! - [`near`]: similar names, for "did you mean"
//! - `span`: locations in texts, as bytes and as lines
//! - `key`: names of documents
//! - `path`: paths inside repositories
//! - `used`: external repositories for reports
//! - `text`: decoded files, and the map from ids to files
//! - `tree`, `nested`, `git`: files of a folder, a commit or the index, and nested repositories
//! - `interrupt`: removal of unfinished files on a signal
//! - `process`: the end of another process
//! - `write`: atomic writing of files

pub mod cancel;
pub mod error;
#[cfg(feature = "files")]
mod git;
#[cfg(feature = "files")]
mod interrupt;
mod key;
pub mod near;
#[cfg(feature = "files")]
mod nested;
#[cfg(feature = "files")]
mod path;
#[cfg(feature = "files")]
mod process;
mod span;
#[cfg(feature = "files")]
mod text;
#[cfg(feature = "files")]
mod tree;
#[cfg(feature = "files")]
mod used;
#[cfg(feature = "files")]
mod write;

#[cfg(feature = "files")]
pub use git::{
    CommitReader, IsListed, LaterState, LoggedCommit, NewCommit, Repository, SideBySide,
    StoredTree, is_same_address, seconds_of_date,
};
#[cfg(feature = "files")]
pub use interrupt::stop_on_interrupt;
pub use key::{DocKey, Triple};
#[cfg(feature = "files")]
pub use nested::Nested;
#[cfg(feature = "files")]
pub use path::RepoPath;
#[cfg(feature = "files")]
pub use process::is_running;
pub use span::{FileId, LineIndex, NumberedInput, Position, Span, Spanned, offset};
#[cfg(feature = "files")]
pub use text::{Encoding, Source, SourceMap, TextFault};
#[cfg(feature = "files")]
pub use tree::{
    ContentId, Entry, EntryKind, Excluding, Labelled, ListedFiles, MemoryTree, OverlaidTexts,
    Overlay, ReadError, SharedTree, Tree, WorkTree, bytes_at, names_in, text_at,
};
#[cfg(feature = "files")]
pub use used::{Commit, History, RevisionChoice, UsedRepository, UsedRevision};
#[cfg(feature = "files")]
pub use write::{
    create_empty_folder, create_folder, create_new_folder, ensure_own, ensure_writable, real_place,
    refuse_git, stays_inside, write_file, write_files, write_own_file, write_temporary_file,
};
