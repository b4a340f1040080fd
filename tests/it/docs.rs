//! The pages in `docs/` match the code.

mod commands;
mod links;
mod newcomer;
mod reference;
mod sections;
mod tables;

pub use self::commands::{assert_valid_command, commands_in, verbs};

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use layercake::check::MAX_THREADS;
use layercake::compare::{Cause, Limits};
use layercake::diagnostic::{Level, Rule, Trait};
use layercake::merge::pattern::{
    MAX_BACKTRACKS, MAX_EFFORT, MAX_EFFORT_OF_RUN, MAX_LOOKS, MAX_LOOKS_OF_RUN, MAX_OUTPUT,
};
use layercake::near;
use layercake::render::replay::Replay;
use layercake::render::{MAX_COPIES, MAX_DEPTH, MAX_WORK, SizeLimit, flow};
use layercake::report::TerminalOptions;
use layercake::rules::{MAX_VIOLATIONS, RULES, selected};
use layercake::schema::{Schema, Violation};
use layercake::source::{Repository, Source, StoredTree};
use layercake::system::cloud_init::part;
use layercake::system::deckhand::layout::Layout;
use layercake::system::heat::Groups;
use layercake::yaml::diff;
use layercake::yaml::path::{
    MAX_DESCENT, MAX_INDEX, MAX_MATCHES, MAX_NESTING, MAX_PIECES, MAX_VISITS, MAX_VISITS_PER_VALUE,
    MIN_VISITS,
};
use layercake::yaml::{Query, YamlLimit};

use crate::stored::{assert_stored, root};

/// The text after the index is written by hand; `conformance/history.rs` checks it.
#[test]
fn index_of_rules_is_complete() {
    let path = "docs/rules.md";
    let page = fs::read_to_string(root().join(path)).unwrap_or_default();
    let rest = page.find("\n## ").map_or("", |at| &page[at..]);
    assert_stored(path, &format!("{}{rest}", index_of_rules()));
}

fn index_of_rules() -> String {
    let mut index = String::from(
        "# Rules\n\nEvery rule, with the level of its findings. The page of a rule explains the problem, its \
         effect and the fix;\n`layercake explain RULE` prints it too.\n\n\
         A *strict* rule is off unless selected by name or by the group `strict`, an *opt-in* rule \
         unless selected\nby name. `lint --fix` fixes findings of *fixable* rules where the fix is \
         certain, and with\n`--unsafe-fixes` those of *unsafely fixable* rules. A code such as `P005` \
         is Pegleg's, and selects\nthe corresponding rules.\n\n| rule | level | | finding |\n|---|---|---|---|\n",
    );
    for rule in RULES {
        let (name, level, summary) = (rule.name, Level::from(rule.severity), rule.summary);
        let (level, marks) = (level.as_str(), marks(rule));
        let page = page_of(name);
        writeln!(
            index,
            "| [`{name}`](../{page}) | {level} | {marks} | {summary} |"
        )
        .unwrap();
    }
    index
}

/// Page of a rule: in the folder of the rules, or in that of its system.
fn page_of(rule: &str) -> String {
    let folders = ["src/rules", "src/rules/cloud_init"];
    let mut pages = folders.iter().map(|folder| format!("{folder}/{rule}.md"));
    pages
        .find(|page| root().join(page).exists())
        .expect("a rule has a page")
}

fn marks(rule: &Rule) -> String {
    let traits = rule.traits.iter().filter_map(|which| match which {
        Trait::Strict => Some("strict".to_owned()),
        Trait::OptIn => Some("opt-in".to_owned()),
        Trait::Fixable => Some("fixable".to_owned()),
        Trait::UnsafelyFixable => Some("unsafely fixable".to_owned()),
        Trait::Everywhere
        | Trait::Refused
        | Trait::Unreadable
        | Trait::UnreadDocument
        | Trait::UnknownDocuments
        | Trait::Absence
        | Trait::Cause
        | Trait::Always => None,
    });
    let aliases = rule.aliases.iter().map(|alias| format!("`{alias}`"));
    traits.chain(aliases).collect::<Vec<_>>().join(", ")
}

/// The page about Deckhand lists exactly the rules for errors of Deckhand that are marked as
/// refused.
#[test]
fn refusals_by_deckhand_are_documented() {
    let page = fs::read_to_string(root().join("docs/deckhand.md")).unwrap();
    let (_, table) = page.split_once("\n| Deckhand's error | rules |\n").unwrap();
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let names = rows.flat_map(|row| {
        row.rsplit('|')
            .nth(1)
            .unwrap()
            .split('`')
            .skip(1)
            .step_by(2)
    });
    let listed: BTreeSet<&str> = names.collect();
    let refused = RULES
        .iter()
        .filter(|rule| rule.is(Trait::Refused))
        .map(|rule| rule.name);
    assert_eq!(listed, refused.collect());
}

/// Every code that Pegleg documents selects a rule, except `P002`, which Pegleg no longer has
/// either.
#[test]
fn pegleg_codes_select_rules() {
    for code in [1, 3, 4, 5, 6, 7, 8, 9, 10, 11] {
        let code = format!("P{code:03}");
        assert!(selected(&code).is_some(), "{code}");
    }
    assert!(selected("P002").is_none() && selected("P012").is_none());
}

#[test]
fn limits_match_the_code() {
    let page = fs::read_to_string(root().join("docs/limits.md")).unwrap();
    for (what, limit) in [
        ("bytes of a file", Source::MAX_BYTES),
        (
            "files and folders of a commit or of the index",
            size(StoredTree::MAX_PATHS),
        ),
        (
            "bytes of a git object, or of the index, in memory",
            size(Repository::MAX_OBJECT_BYTES),
        ),
        ("tags in a chain of tags", size(Repository::MAX_TAGS)),
        (
            "nested collections in a YAML document",
            size(YamlLimit::DEPTH),
        ),
        (
            "values of a YAML document, with aliases expanded",
            YamlLimit::NODES,
        ),
        (
            "entries that `<<` adds to the mappings of a file, plus two for each byte of the file",
            YamlLimit::MERGED,
        ),
        ("digits of an integer", size(YamlLimit::DIGITS)),
        (
            "bytes of all strings of a rendered document",
            SizeLimit::BYTES,
        ),
        ("parts of one user-data", size(part::PartLimit::PARTS)),
        (
            "nested messages and includes",
            size(part::PartLimit::NESTING),
        ),
        (
            "links to folders that are followed on one side",
            size(Layout::MAX_LINKS),
        ),
        (
            "files that one user-data includes",
            size(part::PartLimit::INCLUDES),
        ),
        (
            "bytes of one user-data that are decoded or included",
            part::PartLimit::BYTES,
        ),
        (
            "bytes to which all user-data of a run is decoded, beside 12 for each byte of it",
            part::PartLimit::DECODED,
        ),
        ("segments of a path", size(MAX_PIECES)),
        ("nested parentheses in a path", size(MAX_NESTING)),
        ("list index that a path may create", size(MAX_INDEX)),
        ("matches of a path", size(MAX_MATCHES)),
        ("values that a path may visit", size(MAX_VISITS)),
        (
            "values that a path may visit for each value of its input",
            size(MAX_VISITS_PER_VALUE),
        ),
        (
            "values that a path may visit regardless of the size of its input",
            size(MIN_VISITS),
        ),
        (
            "depth of `..` in a path that is written to",
            size(MAX_DESCENT),
        ),
        ("nested collections in a rendered document", size(MAX_DEPTH)),
        (
            "bytes of strings that the steps of a document may search, and that they may create",
            MAX_WORK,
        ),
        (
            "`..` in a path of `references`, and also `$`",
            size(Query::MAX_SEARCHES),
        ),
        ("commas in a path of `references`", size(Query::MAX_COMMAS)),
        (
            "values of a schema, with aliases expanded",
            size(Schema::MAX_NODES),
        ),
        (
            "nesting depth of a schema, with references followed",
            size(Schema::MAX_DEPTH),
        ),
        (
            "schemas that visit one value, with references followed",
            Schema::MAX_LOOKS,
        ),
        (
            "values that the validation of a document may visit",
            Schema::MAX_WORK,
        ),
        ("property groups of a block", size(Groups::MAX_GROUPS)),
        (
            "operands of a block of property groups",
            size(Groups::MAX_OPERANDS),
        ),
        (
            "nested property groups, with references followed",
            size(Groups::MAX_DEPTH),
        ),
        (
            "values that the property groups of a document may visit",
            Groups::MAX_WORK,
        ),
        (
            "hops of a trace of one value; causes farther away are found by rendering, and their route names only the edit",
            size(Replay::MAX_LENGTH),
        ),
        (
            "hops of all branches of a trace of one value",
            size(Replay::MAX_HOPS),
        ),
        (
            "places to which an edited value is followed, to find its shields",
            size(flow::MAX_REACHED),
        ),
        (
            "backtracking steps of a pattern search",
            size(MAX_BACKTRACKS),
        ),
        (
            "backtracking steps of all patterns of a document, and of all patterns of its schemas; searches with fewer than 1000 are not counted",
            size(MAX_EFFORT),
        ),
        (
            "bytes after their matches that the patterns of a document may scan, counted again for each match",
            size(MAX_LOOKS),
        ),
        (
            "backtracking steps of all patterns of all documents of all sites",
            size(MAX_EFFORT_OF_RUN),
        ),
        (
            "bytes after their matches that these patterns may scan",
            size(MAX_LOOKS_OF_RUN),
        ),
        (
            "bytes of a string that a pattern produces",
            size(MAX_OUTPUT),
        ),
    ] {
        assert!(
            page.contains(&format!("| {what} | {limit} |")),
            "{what}: {limit}"
        );
    }
}

#[test]
fn limits_of_comparisons_and_searches_match_the_code() {
    let page = fs::read_to_string(root().join("docs/limits.md")).unwrap();
    for (what, limit) in [
        (
            "hops of the values of one changed output that are traced together",
            size(Replay::MAX_HOPS_TOGETHER),
        ),
        (
            "edits named beside one that changes a value only together with them, in all causes of an output; each cause has at least 100",
            size(Cause::MAX_NAMES),
        ),
        (
            "hops of the traces of all values of a site, and keys and indexes of their places; routes of the others name only the edit",
            size(Limits::TRACED),
        ),
        (
            "listed differences between two versions of a document",
            diff::MAX_DIFFERENCES,
        ),
        (
            "listed differences of all outputs of a site; fewer with more than 10 sites",
            size(Limits::DIFFERENCES),
        ),
        (
            "listed routes of all outputs of a site; fewer with more than 10 sites",
            size(Limits::CAUSES),
        ),
        (
            "steps of all listed routes of a site, and keys and indexes of their places; fewer with more than 2 sites",
            size(Limits::ROUTES),
        ),
        (
            "listed shields of a site; fewer with more than 10 sites",
            size(Limits::SHIELDS),
        ),
        (
            "differences of all outputs of a site whose causes are found one by one",
            size(Limits::FOLLOWED),
        ),
        (
            "entries of mappings and lists that the documents of a site copy from their parents; each document has an equal share, at least 500",
            MAX_COPIES,
        ),
        (
            "violations reported for one site; fewer with more than 5 sites, but at least 20",
            size(MAX_VIOLATIONS),
        ),
        (
            "violations reported for the nearest alternative",
            size(Violation::MAX_NEAREST),
        ),
        (
            "bytes of a name for which \"did you mean\" suggestions are searched",
            size(near::MAX_BYTES),
        ),
        ("candidates of one such search", size(near::MAX_CANDIDATES)),
        (
            "candidates of similar length that it compares",
            size(near::MAX_COMPARED),
        ),
        ("pairs of letters that it compares", size(near::MAX_PAIRS)),
        (
            "bytes and pairs of letters that all such searches of one rule in one site compare",
            size(near::MAX_WORK),
        ),
        (
            "threads, even if `RAYON_NUM_THREADS` is larger",
            size(MAX_THREADS),
        ),
    ] {
        assert!(
            page.contains(&format!("| {what} | {limit} |")),
            "{what}: {limit}"
        );
    }
}

#[test]
fn limits_of_lists_match_the_code() {
    let page = fs::read_to_string(root().join("docs/limits.md")).unwrap();
    let limit = TerminalOptions::DEFAULT_LIMIT;
    let sentence = format!("{limit} entries of each list of a comparison");
    assert!(page.contains(&sentence), "{sentence}");
}

#[test]
fn architecture_page_lists_every_module() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    for lib in ["src/lib.rs", "crates/layercake-engine/src/lib.rs"] {
        let lib = fs::read_to_string(root().join(lib)).unwrap();
        let modules = lib.lines().filter_map(|line| {
            line.trim_start_matches("pub ")
                .strip_prefix("mod ")?
                .strip_suffix(';')
        });
        for module in modules {
            assert!(
                page.contains(&format!("\n| `{module}` | ")),
                "docs/architecture.md has no row for the module `{module}`"
            );
        }
    }
}

/// The page about hooks, and `init`, list each hook with the command that it runs.
#[test]
fn hooks_page_is_complete() {
    let page = fs::read_to_string(root().join("docs/hooks.md")).unwrap();
    let manifest = fs::read_to_string(root().join(".pre-commit-hooks.yaml")).unwrap();
    let values = |key: &str| -> Vec<String> {
        let found = manifest
            .lines()
            .filter_map(|line| line[2.min(line.len())..].strip_prefix(key));
        found.map(str::to_owned).collect()
    };
    let (ids, entries) = (values("id: "), values("entry: "));
    assert_eq!((ids.len(), entries.len()), (5, 5), "{ids:?} {entries:?}");
    for (id, entry) in ids.iter().zip(&entries) {
        assert!(
            page.contains(&format!("\n| `{id}` | `{entry}` | ")),
            "{id}: {entry}"
        );
    }
    let written = layercake::commands::init::HOOK;
    let staged = &entries[ids.iter().position(|id| id == "layercake-system").unwrap()];
    assert!(written.contains(&format!("entry: {staged}\n")), "{written}");
}

/// Pages in `docs/` whose commands are run in order in one shell.
pub const FOLLOWED: [&str; 10] = [
    "quick-start.md",
    "review-a-pull-request.md",
    "find-a-value.md",
    "which-image-runs-where.md",
    "override-a-value.md",
    "add-a-site.md",
    "bump-a-repository.md",
    "pegleg.md",
    "cloud-init-parts.md",
    "vendor-data-ignored.md",
];

/// Pages for users, with their text.
fn pages() -> Vec<(PathBuf, String)> {
    let mut pages: Vec<PathBuf> = vec![root().join("README.md")];
    let folders = [
        "docs",
        "docs/reference",
        "src/rules",
        "src/rules/cloud_init",
        "examples/sites",
        "examples/cloud-init",
    ];
    for folder in folders {
        let entries = fs::read_dir(root().join(folder))
            .unwrap()
            .map(|it| it.unwrap().path());
        pages.extend(entries.filter(|path| path.extension().is_some_and(|it| it == "md")));
    }
    pages.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path, text)
    };
    pages.into_iter().map(read).collect()
}

fn size(limit: usize) -> u64 {
    limit.try_into().unwrap()
}
