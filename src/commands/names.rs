//! Names given by the user: the form of arguments that name a value, errors for unknown names, and
//! the right command for a word that names something else.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::documents::DocumentGlobs;
use super::sides::Range;
use super::{Project, Selection, Start, places};
use crate::ask::ValueQuestion;
use crate::check::{Checked, RunControl, Work, work_on_sites};
use crate::error::{Error, UnknownWord, shell_word};
use crate::near::help_for_unknown;
use crate::rules;
use crate::source::{Repository, Span};
use crate::system::deckhand::layout::Layout;

/// Site, document and value named by arguments: `SITE [SCHEMA] [NAME] [PATH]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedValue {
    /// Name of the site; `-` for files without sites.
    pub site: Option<String>,
    /// Schema of the document.
    pub schema: Option<String>,
    /// Name of the document.
    pub name: Option<String>,
    /// Place of the value: a Deckhand path or a JSON Pointer.
    pub path: Option<String>,
}

impl NamedValue {
    /// Parses the arguments; `flags` names what is given by flags instead. Where some are missing,
    /// their form decides which. `has_site` is false if all sites are meant.
    ///
    /// # Errors
    /// If there are too many arguments, or a path without the name of a document.
    pub fn parse(words: &[String], flags: Self, has_site: bool) -> Result<Self, Error> {
        let mut named = flags;
        let takes_site = has_site && named.site.is_none();
        let of_each = [
            ("SITE", takes_site),
            ("SCHEMA", named.schema.is_none()),
            ("NAME", named.name.is_none()),
            ("PATH", true),
        ];
        let expected: Vec<&str> = of_each
            .iter()
            .filter(|(_, is_taken)| *is_taken)
            .map(|(word, _)| *word)
            .collect();
        if words.len() > expected.len() {
            return Err(too_many_words(words, &expected));
        }
        let mut left = words;
        if takes_site {
            named.site = next(&mut left, |word| !is_path(word) && !is_schema(word));
        }
        if named.schema.is_none() {
            let is_complete = left.len() == if named.name.is_none() { 3 } else { 2 };
            named.schema = next(&mut left, |word| {
                !is_path(word) && (is_schema(word) || is_complete)
            });
        }
        if named.name.is_none() {
            named.name = next(&mut left, |word| !is_path(word));
        }
        named.path = next(&mut left, |_| true).map(rooted);
        if left.is_empty() {
            Ok(named)
        } else {
            Err(too_many_words(words, &expected))
        }
    }

    /// The value, if a document and a path are named.
    ///
    /// # Errors
    /// If one of them is missing; `form` is the command with all arguments.
    pub fn question(self, form: &str) -> Result<ValueQuestion, Error> {
        match (self.name, self.path) {
            (Some(name), Some(path)) => Ok(ValueQuestion {
                schema: self.schema.unwrap_or_default(),
                name,
                path,
            }),
            (name, path) => {
                let missing = [("NAME", name.is_none()), ("PATH", path.is_none())];
                Err(missing_arguments(&missing, form, self.site.as_deref()))
            }
        }
    }
}

/// Site, documents and value named by arguments and flags, or the files that the arguments name.
#[derive(Debug)]
pub struct Target {
    /// The selection with its sites and files.
    pub selection: Selection,
    /// Filter for documents.
    pub documents: DocumentGlobs,
    /// Place of a value.
    pub path: Option<String>,
}

impl Target {
    /// Parses the arguments: files or folders, or `SITE [SCHEMA] [NAME] [PATH]`.
    ///
    /// # Errors
    /// If they are neither, or a path cannot be entered; see [`places::entered`].
    pub fn parse(
        selection: Selection,
        words: &[String],
        flags: DocumentGlobs,
    ) -> Result<Self, Error> {
        if selection.set || words.first().is_some_and(|word| is_file(&selection, word)) {
            let files = words.iter().map(PathBuf::from).collect();
            let selection = places::entered(Selection { files, ..selection })?;
            return Ok(Self {
                selection,
                documents: flags,
                path: None,
            });
        }
        let [site, schema, name] =
            [&selection.sites, &flags.schemas, &flags.names].map(|flags| flags.first().cloned());
        let given = NamedValue {
            site,
            schema,
            name,
            path: None,
        };
        let NamedValue {
            site,
            schema,
            name,
            path,
        } = NamedValue::parse(words, given, true)?;
        let or = |flags: Vec<String>, word: Option<String>| {
            if flags.is_empty() {
                word.into_iter().collect()
            } else {
                flags
            }
        };
        let sites = or(selection.sites.clone(), site);
        let documents = DocumentGlobs {
            schemas: or(flags.schemas, schema),
            names: or(flags.names, name),
        };
        Ok(Self {
            selection: Selection { sites, ..selection },
            documents,
            path,
        })
    }
}

/// Whether an argument that may name a site or a file names a file. A site is named without a
/// slash, and precedes a file of the same name.
pub fn is_file(selection: &Selection, word: &str) -> bool {
    let Ok((file, _)) = super::file_and_line(word) else {
        return true;
    };
    let is_there = |path: &Path| selection.directory.join(path).exists();
    let has_extension = file
        .extension()
        .is_some_and(|it| it == "yaml" || it == "yml");
    if word.contains('/') {
        let is_begun = file
            .components()
            .next()
            .is_some_and(|it| is_there(it.as_ref()));
        return is_begun || has_extension || !is_schema(word);
    }
    let is_site = || {
        let start = Start::find(selection).ok()?;
        Layout::of_sites(&start.tree, &start.from, &[word.to_owned()]).ok()?
    };
    has_extension || (is_there(&file) && (word.starts_with('.') || is_site().is_none()))
}

/// Splits arguments into at most two revisions, or one range, and the files after them.
///
/// # Errors
/// If a word names neither a revision nor a file.
pub fn revisions_and_files(
    selection: &Selection,
    words: Vec<String>,
) -> Result<(Vec<String>, Vec<PathBuf>), Error> {
    let is_there = |word: &str| selection.directory.join(word).exists();
    let repository = Repository::discover(&selection.directory)?;
    let (mut revisions, mut files): (Vec<String>, Vec<PathBuf>) = (Vec::new(), Vec::new());
    for word in words {
        let has_range = revisions.iter().any(|it| Range::parse(it).is_some());
        let resolved = match &repository {
            _ if has_range || revisions.len() == 2 || !files.is_empty() => {
                Err(unexpected_revision(&word))
            }
            Some(repository) => resolve_side(repository, &word, revisions.is_empty()),
            None if is_there(&word) => Err(unexpected_revision(&word)),
            None => Ok(()),
        };
        match resolved {
            Ok(()) => revisions.push(word),
            Err(_) if is_there(&word) => files.push(PathBuf::from(word)),
            Err(error) => return Err(error),
        }
    }
    Ok((revisions, files))
}

/// Checks that a word names a side of a comparison; only the `first` one can be a range.
fn resolve_side(repository: &Repository, word: &str, first: bool) -> Result<(), Error> {
    let is_side = ["worktree", "index"].contains(&word);
    match Range::parse(word).filter(|_| first) {
        Some(range) => repository
            .resolve(&range.from)
            .and(repository.resolve(&range.to))
            .map(drop),
        None if is_side && !first => Ok(()),
        None => repository.resolve(word).map(drop),
    }
}

fn unexpected_revision(word: &str) -> Error {
    Error::usage(format!("unexpected argument `{word}`"))
        .with_help("name at most two revisions, then paths")
        .about("revision", word)
}

/// Error that names the missing arguments. `first` is the first one, which may have been meant as
/// something else.
pub fn missing_arguments(of_each: &[(&str, bool)], form: &str, first: Option<&str>) -> Error {
    let missing: Vec<&str> = of_each
        .iter()
        .filter(|(_, is_missing)| *is_missing)
        .map(|(word, _)| *word)
        .collect();
    let arguments = if missing.len() == 1 {
        "argument"
    } else {
        "arguments"
    };
    let message = format!("missing {arguments} {}", missing.join(", "));
    let error = Error::usage(message).with_help(form);
    match first {
        Some(word) => error.about("site", word),
        None => error,
    }
}

fn too_many_words(words: &[String], expected: &[&str]) -> Error {
    let message = format!("unexpected arguments `{}`", words.join(" "));
    let help = format!("expected at most {}", expected.join(" "));
    let error = Error::usage(message).with_help(help);
    match words {
        // With `--all-sites`, the first one may be a site.
        [first, ..] if !expected.contains(&"SITE") => error.about("argument", first),
        _ => error,
    }
}

/// Removes the first word if it has the form of what is expected.
fn next(words: &mut &[String], is_it: impl Fn(&str) -> bool) -> Option<String> {
    let (first, rest) = words.split_first()?;
    if !is_it(first) {
        return None;
    }
    *words = rest;
    Some(first.clone())
}

fn is_path(word: &str) -> bool {
    word.starts_with(['.', '$', '/', '['])
}

fn is_schema(word: &str) -> bool {
    !is_path(word) && word.split('/').count() == 3
}

/// A path with the first character that shells and editors drop: `.`, or `/` for a JSON Pointer.
fn rooted(path: String) -> String {
    let separator = path.find(['.', '/']).map(|at| &path[at..=at]);
    match separator {
        _ if is_path(&path) => path,
        Some("/") => format!("/{path}"),
        Some(_) | None => format!(".{path}"),
    }
}

/// Error for a site that does not exist, named by a name or a glob.
pub(crate) fn no_site<'a>(text: &str, sites: impl IntoIterator<Item = &'a str>) -> Error {
    let sites: BTreeSet<&str> = sites.into_iter().collect();
    let sites: Vec<&str> = sites.into_iter().collect();
    let message = if is_glob(text) {
        format!("no site matches `{text}`")
    } else {
        format!("site `{text}` not found")
    };
    let help = help_for_unknown(text, "sites", &sites)
        .unwrap_or_else(|| "no site of this repository has a site definition".to_owned());
    Error::usage(message).with_help(help).about("site", text)
}

/// Whether a glob matches more than the name that it is written as.
pub fn is_glob(text: &str) -> bool {
    text.is_empty() || text.contains(['*', '?', '[', ']', '{', '}', '\\'])
}

/// Error for a file that cannot be read from this `FILE:LINE` on.
pub(crate) fn unread(place: &str) -> Error {
    Error::usage(format!("{place} cannot be read")).with_help("run `layercake lint` to see why")
}

/// The error, with the file that may contain what is missing if one cannot be read.
pub(crate) fn or_unread<T>(error: Error, checked: &Checked<T>) -> Error {
    match checked.unread.first() {
        Some(at) => because_unread(&error, &file_and_line(checked, *at)),
        None => error,
    }
}

/// The error, with this `FILE:LINE` that cannot be read as its probable reason.
pub(crate) fn because_unread(error: &Error, place: &str) -> Error {
    Error::usage(format!("{error}, but {place} cannot be read"))
        .with_help("run `layercake lint` to see why")
}

/// Place as `FILE:LINE`.
pub fn file_and_line<T>(checked: &Checked<T>, at: Span) -> String {
    format!(
        "{}:{}",
        checked.sources.path_of(at),
        checked.sources.start(at).line
    )
}

/// Something that a word names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Meaning {
    /// Kind of it, as in [`UnknownWord::expected`].
    kind: &'static str,
    /// Site that has the document.
    site: String,
    /// File of the document, or root of the site repository.
    file: String,
    /// The two revisions of a range.
    range: [String; 2],
}

impl Meaning {
    fn of(kind: &'static str) -> Self {
        Self {
            kind,
            ..Self::default()
        }
    }
}

/// Meaning of a word in the folder of the selection; `None` if it names nothing.
fn meaning(selection: &Selection, word: &str) -> Option<Meaning> {
    if rules::selected(word).is_some() {
        return Some(Meaning::of("rule"));
    }
    let start = Start::find(selection).ok()?;
    let layout = Layout::discover(&start.tree, &start.from).ok().flatten();
    let mut sites = layout.iter().flat_map(Layout::definitions);
    if sites.any(|(site, _)| **site == *word) {
        return Some(Meaning::of("site"));
    }
    let (file, _) = super::file_and_line(word).ok()?;
    if selection.directory.join(&file).exists() {
        return Some(match places::repository_of(selection, &file) {
            Some(file) => Meaning {
                file,
                ..Meaning::of("site repository")
            },
            None => Meaning::of("path"),
        });
    }
    document_or_schema(selection, &start, word).or_else(|| revision_or_range(selection, word))
}

fn document_or_schema(selection: &Selection, start: &Start, word: &str) -> Option<Meaning> {
    let project = Project::open(selection).ok()?;
    let control = RunControl::default();
    let plan = project.plan(&control);
    let meant = work_on_sites(&plan, Work::Relate, |site| {
        let mut recipes = site.graph.iter().map(|(_, recipe)| recipe);
        let found = recipes.find(|it| *it.key.name == *word || *it.key.schema == *word)?;
        if *found.key.name != *word {
            return Some(Meaning::of("schema"));
        }
        let file = start
            .root
            .as_ref()?
            .join(site.sources.path_of(found.span).as_str());
        let file = places::relative(selection, &file).display().to_string();
        let site = site.site.name.as_deref().unwrap_or_default().to_owned();
        Some(Meaning {
            site,
            file,
            ..Meaning::of("document")
        })
    });
    let (_, meant) = meant.ok()?.without_taken();
    meant.into_iter().flatten().next()
}

fn revision_or_range(selection: &Selection, word: &str) -> Option<Meaning> {
    let repository = Repository::discover(&selection.directory).ok().flatten()?;
    if repository.resolve(word).is_ok() {
        return Some(Meaning::of("revision"));
    }
    let Range { from, to, .. } = Range::parse(word)?;
    let are_there = repository
        .resolve(&from)
        .and(repository.resolve(&to))
        .is_ok();
    are_there.then(|| Meaning {
        range: [from, to],
        ..Meaning::of("range")
    })
}

/// Commands for a word by its kind and the verbs that got it, or all verbs. The first one applies.
const RIGHT_COMMANDS: [(&str, &[&str], &str); 24] = [
    ("rule", &["lint", "rules"], "{verb} --select {word}"),
    ("rule", &[], "explain {word}"),
    (
        "site",
        &["lint", "diff", "render", "sites", "graph", "log"],
        "{verb} --site {word}",
    ),
    ("site", &["cloud-config"], "{verb} --site {word}"),
    (
        "site",
        &["explain-value", "blame", "impact"],
        "{verb} {word} SCHEMA NAME PATH",
    ),
    ("site", &[], "lint --site {word}"),
    ("path", &["diff"], "diff -- {word}"),
    ("path", &["lint", "render", "graph"], "{verb} {word}"),
    ("path", &[], "impact {word}"),
    ("document", &["lint"], "lint {file}"),
    ("document", &["diff"], "diff -- {file}"),
    (
        "document",
        &["render", "graph", "log"],
        "{verb} --name {word}",
    ),
    (
        "document",
        &["explain-value"],
        "explain-value {site} {word} PATH",
    ),
    ("document", &["blame", "impact"], "{verb} {site} {word}"),
    ("document", &[], "render {site} {word}"),
    ("schema", &["graph", "log"], "{verb} --schema {word}"),
    ("schema", &[], "render --schema {word}"),
    ("revision", &["lint"], "lint --since {word}"),
    (
        "revision",
        &["render", "sites", "graph", "log"],
        "{verb} --rev {word}",
    ),
    (
        "revision",
        &["blame", "explain-value", "impact"],
        "{verb} --rev {word}",
    ),
    ("revision", &[], "diff {word}"),
    ("range", &["lint"], "lint --from {from} --to {to}"),
    ("range", &["log"], "log {word}"),
    ("range", &[], "diff {word}"),
];

/// Command of `verb` that does what was probably meant by a word, as a remedy; `None` if the word
/// means nothing, or what was expected.
pub fn right_command(
    selection: &Selection,
    verb: &str,
    UnknownWord { word, expected }: &UnknownWord,
) -> Option<String> {
    let Meaning {
        kind,
        site,
        file,
        range: [from, to],
    } = meaning(selection, word)?;
    if kind == "site repository" {
        let root = shell_word(&file);
        return Some(format!(
            "`{word}` is a site repository; did you mean `-C {root}`?"
        ));
    }
    let mut commands = RIGHT_COMMANDS.iter();
    let is_for = |(of, verbs, _): &&(&str, &[&str], &str)| {
        *of == kind && (verbs.is_empty() || verbs.contains(&verb))
    };
    let (_, _, command) = commands.find(is_for).filter(|_| kind != *expected)?;
    let values = [
        ("word", word),
        ("site", &site),
        ("file", &file),
        ("from", &from),
        ("to", &to),
    ];
    let command = values
        .iter()
        .fold(command.replace("{verb}", verb), |command, (name, value)| {
            command.replace(&format!("{{{name}}}"), &shell_word(value))
        });
    let here = match selection.directory.to_str() {
        None | Some(".") => String::new(),
        Some(folder) => format!("-C {} ", shell_word(folder)),
    };
    Some(format!(
        "`{word}` is a {kind}; did you mean `layercake {here}{command}`?"
    ))
}
