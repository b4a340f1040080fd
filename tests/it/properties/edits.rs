//! Typical edits of generated repositories: of values, of the envelope of a document, of the set of
//! documents, of the policy, and of a site definition.

use layercake_yaml_testing::texts::{data, path};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::repository::{Repository, layered, repository};

/// A repository before and after some edits.
#[derive(Clone, Debug)]
pub struct Edited {
    pub base: Repository,
    pub head: Repository,
}

/// Repositories of both kinds, with some edits.
pub fn edited() -> impl Strategy<Value = Edited> {
    let base = prop_oneof![2 => repository(), 1 => layered()];
    (base, prop::collection::vec(change(), 1..6)).prop_map(|(base, changes)| {
        let mut head = base.clone();
        for change in &changes {
            change.apply(&mut head);
        }
        Edited { base, head }
    })
}

/// One edit; if its text does not occur, it has no effect.
#[derive(Clone, Debug)]
struct Change {
    /// Selects one of the documents to which the edit applies.
    document: Index,
    /// Selects one of the positions in it.
    place: Index,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    /// Replaces all data.
    Data(String),
    /// Sets or adds a line of data.
    Line(&'static str, String),
    /// Removes a line of data.
    NoLine,
    /// Removes the document.
    NoDocument,
    /// Adds a copy of the document to the file of another.
    Copy(Index),
    /// Moves the document to the file of another.
    Move(Index),
    /// Replaces the value after one of these words.
    Word(&'static str, String),
    /// Adds a comment.
    Comment,
}

fn change() -> impl Strategy<Value = Change> {
    let word = |word: &'static str, texts: &[&'static str]| {
        select(texts.to_vec()).prop_map(move |text| What::Word(word, text.to_owned()))
    };
    let quoted = path().prop_map(|path| What::Word("path: ", format!("'{path}'")));
    let key = select(vec!["x", "y", "l", "z", "q"]);
    let what = prop_oneof![
        4 => (key, data()).prop_map(|(key, data)| What::Line(key, data)),
        2 => Just(What::NoLine),
        2 => data().prop_map(What::Data),
        2 => Just(What::NoDocument),
        1 => any::<Index>().prop_map(What::Copy),
        2 => any::<Index>().prop_map(What::Move),
        1 => Just(What::Comment),
        1 => word("  name: ", &["a-global", "b-site", "s", "child", "new"]),
        2 => word("    parentSelector: ", &["{k: a}", "{k: b}", "{k: none}", "{is: parent}"]),
        1 => word("  labels: ", &["{k: a}", "{k: b}", "{is: parent}", "{}"]),
        2 => word("layer: ", &["global", "type", "site"]),
        1 => word("abstract: ", &["true", "false"]),
        2 => quoted,
        // Other sources, some of which create cyclic dependencies.
        2 => word("/v1, name: ", &["a-global", "a-site", "b-type", "s", "parent", "grandchild"]),
        3 => list().prop_map(|list| What::Line("l", list.to_owned())),
        2 => word("method: ", &["merge", "replace", "delete"]),
        1 => word("storagePolicy: ", &["cleartext", "encrypted"]),
        1 => word("  replacement: ", &["true", "false"]),
        1 => word("layerOrder: ", &["[global, site]", "[site, type, global]", "[global, type, site]"]),
        1 => word("site_type: ", &["big", "small", "none"]),
    ];
    (any::<Index>(), any::<Index>(), what).prop_map(|(document, place, what)| Change {
        document,
        place,
        what,
    })
}

/// Lists that differ in one item: added, removed, replaced or moved.
fn list() -> impl Strategy<Value = &'static str> {
    select(vec![
        "[t, 1, x]",
        "[t, x]",
        "[1, t, x]",
        "[t, 1, t, x]",
        "[x]",
        "[]",
        "[{name: a, x: 1}, {name: b, x: 2}]",
        "[{name: b, x: 2}]",
        "[{name: c}, {name: a, x: 3}, {name: b, x: 2}]",
        "[{x: 1}, {x: 1}, {x: 2}]",
        "[{x: 1}, {x: 2}]",
        "[{name: b, x: 2}, {name: a, x: 1}]",
        "[{name: b, x: 4}, {name: c}, {name: a, x: 1}]",
    ])
}

impl Change {
    fn apply(&self, repository: &mut Repository) {
        let mut files: Vec<(String, Vec<String>)> = repository
            .files
            .iter()
            .map(|(path, text)| (path.clone(), documents(text)))
            .collect();
        let places: Vec<(usize, usize)> = files
            .iter()
            .enumerate()
            .flat_map(|(file, (_, documents))| (0..documents.len()).map(move |at| (file, at)))
            .filter(|(file, at)| self.what.applies(&files[*file].1[*at]))
            .collect();
        let Some((file, at)) = (!places.is_empty()).then(|| *self.document.get(&places)) else {
            return;
        };
        match &self.what {
            What::NoDocument => drop(files[file].1.remove(at)),
            What::Copy(other) => {
                let copy = files[file].1[at].clone();
                let to = other.index(files.len());
                files[to].1.push(copy);
            }
            What::Move(other) => {
                let moved = files[file].1.remove(at);
                let to = other.index(files.len());
                files[to].1.insert(0, moved);
            }
            what => {
                let text = &mut files[file].1[at];
                *text = what.written(text, self.place);
            }
        }
        repository.files = files
            .into_iter()
            .map(|(path, documents)| (path, documents.concat()))
            .collect();
    }
}

/// Documents of a file, including their markers.
fn documents(text: &str) -> Vec<String> {
    let starts: Vec<usize> = std::iter::once(0)
        .chain(text.match_indices("\n---").map(|(at, _)| at + 1))
        .chain([text.len()])
        .collect();
    let pieces = starts
        .windows(2)
        .map(|ends| text[ends[0]..ends[1]].to_owned());
    pieces.filter(|piece| !piece.is_empty()).collect()
}

/// Start of the value of `data`, and its end.
fn data_of(document: &str) -> Option<usize> {
    document.find("\ndata: ").map(|at| at + "\ndata: ".len())
}

/// Lines of block-style data, each with its nested lines.
fn lines(document: &str) -> Vec<(usize, usize)> {
    let Some(from) = data_of(document).filter(|at| document[*at..].starts_with('\n')) else {
        return Vec::new();
    };
    let starts: Vec<usize> = document[from..]
        .match_indices("\n  ")
        .map(|(at, _)| from + at)
        .filter(|at| document[at + 3..].starts_with(char::is_alphabetic))
        .collect();
    let ends = starts
        .iter()
        .skip(1)
        .copied()
        .chain([document.trim_end().len()]);
    starts.iter().copied().zip(ends).collect()
}

/// Start and end of the values after a word.
fn behind(document: &str, word: &str) -> Vec<(usize, usize)> {
    let found = document.match_indices(word).map(|(at, _)| at + word.len());
    found
        .map(|from| (from, end_of_value(document, from)))
        .collect()
}

/// End of a value on one line: a flow collection, a quoted scalar, or a plain scalar inside or
/// outside of a flow collection.
fn end_of_value(text: &str, from: usize) -> usize {
    let rest = &text[from..];
    let close = match rest.chars().next() {
        Some('{') => Some('}'),
        Some('[') => Some(']'),
        Some('\'') => Some('\''),
        _ => None,
    };
    let length = match close {
        Some(close) => rest[1..].find(close).map_or(rest.len(), |at| at + 2),
        None => rest.find([',', '}', '\n']).unwrap_or(rest.len()),
    };
    from + length
}

impl What {
    fn applies(&self, document: &str) -> bool {
        match self {
            What::Data(_) => data_of(document).is_some(),
            What::Line(..) | What::NoLine => !lines(document).is_empty(),
            What::Word(word, _) => document.contains(word),
            What::NoDocument | What::Copy(_) | What::Move(_) => document.contains("schema:"),
            What::Comment => true,
        }
    }

    /// Document with the edit, for edits inside a document.
    fn written(&self, document: &str, place: Index) -> String {
        let with = |(from, end): (usize, usize), text: &str| {
            format!("{}{text}{}", &document[..from], &document[end..])
        };
        match self {
            What::Data(data) => {
                let from = data_of(document).expect("the document has data");
                with((from, document.len()), &format!("{data}\n"))
            }
            What::Line(key, value) => {
                let line = format!("\n  {key}: {value}");
                let found = lines(document)
                    .into_iter()
                    .find(|(from, _)| document[*from..].starts_with(&format!("\n  {key}:")));
                let end = document.trim_end().len();
                // Block-style data cannot be nested in a block.
                if value.contains('\n') {
                    return document.to_owned();
                }
                with(found.unwrap_or((end, end)), &line)
            }
            What::NoLine => with(*place.get(&lines(document)), ""),
            What::Word(word, text) => with(*place.get(&behind(document, word)), text),
            What::Comment => format!("{document}# seen\n"),
            What::NoDocument | What::Copy(_) | What::Move(_) => document.to_owned(),
        }
    }
}
