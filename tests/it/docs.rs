//! The pages in `docs/` say what the code says.

mod commands;
mod links;
mod newcomer;
mod tables;

pub use self::commands::{assert_means_something, commands_in, verbs};

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use layercake::check::MAX_THREADS;
use layercake::compare::{Cause, Limits};
use layercake::diagnostic::{Level, Rule, Trait};
use layercake::merge::pattern::{
    MAX_BACKTRACKS, MAX_EFFORT, MAX_EFFORT_OF_RUN, MAX_LOOKS, MAX_LOOKS_OF_RUN, MAX_OUTPUT,
};
use layercake::near;
use layercake::render::replay::Replay;
use layercake::render::{MAX_COPIES, MAX_DEPTH, MAX_WORK, flow};
use layercake::report::TerminalOptions;
use layercake::rules::{MAX_VIOLATIONS, RULES, selected};
use layercake::schema::{Schema, Violation};
use layercake::source::{Repository, Source, StoredTree};
use layercake::system::cloud_init::part;
use layercake::system::heat::Groups;
use layercake::yaml::diff;
use layercake::yaml::path::{
    MAX_DESCENT, MAX_INDEX, MAX_MATCHES, MAX_NESTING, MAX_PIECES, MAX_VISITS, MAX_VISITS_PER_VALUE,
    MIN_VISITS,
};
use layercake::yaml::{Query, YamlLimit};

/// What stands behind the index is written by hand; `conformance/history.rs`
/// checks it.
#[test]
fn the_index_of_rules_is_whole() {
    let path = root().join("docs/rules.md");
    let page = fs::read_to_string(&path).unwrap_or_default();
    let rest = page.find("\n## ").map_or("", |at| &page[at..]);
    let expected = format!("{}{rest}", index_of_rules());
    if std::env::var_os("LAYERCAKE_BLESS").is_some() {
        fs::write(&path, &expected).unwrap();
        return;
    }
    assert_eq!(page, expected, "docs/rules.md is behind; LAYERCAKE_BLESS=1 rewrites it");
}

fn index_of_rules() -> String {
    let mut index = String::from(
        "# Rules\n\nEvery rule, with the level of its findings. A rule's page says what is wrong, why it \
         hurts, and what to do;\n`layercake explain RULE` prints it too.\n\n\
         A *strict* rule is off until it is selected by name or with the group `strict`, an *opt-in* \
         one until it\nis selected by name. What a *fixable* rule finds `lint --fix` mends, wherever \
         that is certain;\nwhat an *unsafely fixable* rule finds it mends with `--unsafe-fixes`. A code such as `P005` is \
         Pegleg's,\nand selects the rules it stands for.\n\n| rule | level | | what it finds |\n|---|---|---|---|\n",
    );
    for rule in RULES {
        let (name, level, summary) = (rule.name, Level::from(rule.severity), rule.summary);
        let (level, marks) = (level.as_str(), marks(rule));
        let page = page_of(name);
        writeln!(index, "| [`{name}`](../{page}) | {level} | {marks} | {summary} |").unwrap();
    }
    index
}

/// The page of a rule: in the folder of the rules, or in that of its system.
fn page_of(rule: &str) -> String {
    let folders = ["src/rules", "src/rules/cloud_init"];
    let mut pages = folders.iter().map(|folder| format!("{folder}/{rule}.md"));
    pages.find(|page| root().join(page).exists()).expect("a rule has a page")
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
        | Trait::UnknownDocuments
        | Trait::Absence
        | Trait::Always => None,
    });
    let aliases = rule.aliases.iter().map(|alias| format!("`{alias}`"));
    traits.chain(aliases).collect::<Vec<_>>().join(", ")
}

/// The rules that stand for Deckhand's errors are those that say of
/// themselves that Deckhand refuses what they find.
#[test]
fn what_deckhand_refuses_is_told() {
    let page = fs::read_to_string(root().join("docs/deckhand.md")).unwrap();
    let (_, table) = page.split_once("\n| Deckhand's error | rules |\n").unwrap();
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let names = rows.flat_map(|row| row.rsplit('|').nth(1).unwrap().split('`').skip(1).step_by(2));
    let told: BTreeSet<&str> = names.collect();
    let refused = RULES.iter().filter(|rule| rule.is(Trait::Refused)).map(|rule| rule.name);
    assert_eq!(told, refused.collect());
}

/// Every code that Pegleg documents selects a rule; `P002` is gone there too.
#[test]
fn pegleg_codes_select_rules() {
    for code in [1, 3, 4, 5, 6, 7, 8, 9, 10, 11] {
        let code = format!("P{code:03}");
        assert!(selected(&code).is_some(), "{code}");
    }
    assert!(selected("P002").is_none() && selected("P012").is_none());
}

#[test]
fn the_limits_are_those_of_the_code() {
    let page = fs::read_to_string(root().join("docs/limits.md")).unwrap();
    for (what, limit) in [
        ("bytes of a file", Source::MAX_BYTES),
        ("files and folders of a commit or of the index", size(StoredTree::MAX_PATHS)),
        (
            "bytes that an object of git, or the index, takes in memory",
            size(Repository::MAX_OBJECT_BYTES),
        ),
        ("tags of tags, one after the other", size(Repository::MAX_TAGS)),
        ("collections inside each other", size(YamlLimit::DEPTH)),
        ("values of a YAML document, aliases written out", YamlLimit::NODES),
        (
            "entries that `<<` brings into the mappings of a file, and two more for each of its bytes",
            YamlLimit::MERGED,
        ),
        ("digits of an integer", size(YamlLimit::DIGITS)),
        ("bytes of the texts of a rendered document", YamlLimit::BYTES),
        ("parts of what cloud-init is given", size(part::PartLimit::PARTS)),
        ("messages and includes inside each other", size(part::PartLimit::NESTING)),
        ("texts that one user-data includes", size(part::PartLimit::INCLUDES)),
        (
            "bytes of all texts of one user-data that are decoded or included",
            part::PartLimit::BYTES,
        ),
        ("pieces of a path", size(MAX_PIECES)),
        ("parentheses inside each other in a path", size(MAX_NESTING)),
        ("index that a path may create", size(MAX_INDEX)),
        ("matches of a path", size(MAX_MATCHES)),
        ("places that a path may look at", size(MAX_VISITS)),
        (
            "places that a path may look at for each value that it is applied to",
            size(MAX_VISITS_PER_VALUE),
        ),
        ("places that any path may look at, however few values there are", size(MIN_VISITS)),
        ("depth to which `..` goes into what it writes", size(MAX_DESCENT)),
        ("collections inside each other in a rendered document", size(MAX_DEPTH)),
        ("bytes of texts that the steps of a document may search, and may make", MAX_WORK),
        ("`..` and `$` in a path of `references`, each", size(Query::MAX_SEARCHES)),
        ("commas in it", size(Query::MAX_COMMAS)),
        ("values of a schema, aliases written out", size(Schema::MAX_NODES)),
        ("nesting of a schema, with all that its references lead to", size(Schema::MAX_DEPTH)),
        ("schemas that look at one value, references followed", Schema::MAX_LOOKS),
        ("looks at values that validating a document may take", Schema::MAX_WORK),
        ("property groups of a block", size(Groups::MAX_GROUPS)),
        ("operands of a block of property groups", size(Groups::MAX_OPERANDS)),
        ("property groups inside each other, references followed", size(Groups::MAX_DEPTH)),
        (
            "looks at values that checking a document by its property groups may take",
            Groups::MAX_WORK,
        ),
        (
            "hops through which a value is followed back; what lies behind is found by rendering, and the route then names the edit alone",
            size(Replay::MAX_LENGTH),
        ),
        ("hops of one value in all, where its ways part", size(Replay::MAX_HOPS)),
        (
            "places to which an edited value is followed on, to say where it goes and what stops it",
            size(flow::MAX_REACHED),
        ),
        ("steps back that a pattern may take", size(MAX_BACKTRACKS)),
        (
            "steps back that all patterns of a document may take, and all that a schema searches it for; searches of less than 1000 left out",
            size(MAX_EFFORT),
        ),
        (
            "bytes behind their matches that the patterns of a document may look at, for each match anew",
            size(MAX_LOOKS),
        ),
        (
            "steps back that the patterns of all documents of all sites may take",
            size(MAX_EFFORT_OF_RUN),
        ),
        ("bytes behind their matches that they may look at", size(MAX_LOOKS_OF_RUN)),
        ("bytes that a pattern may make of a text", size(MAX_OUTPUT)),
    ] {
        assert!(page.contains(&format!("| {what} | {limit} |")), "{what}: {limit}");
    }
}

#[test]
fn the_limits_of_comparisons_and_searches_are_those_of_the_code() {
    let page = fs::read_to_string(root().join("docs/limits.md")).unwrap();
    for (what, limit) in [
        (
            "hops of the values of one changed output that are followed together",
            size(Replay::MAX_HOPS_TOGETHER),
        ),
        (
            "edits named beside those that change a value only together, for all of these; each has 100 in any case",
            size(Cause::MAX_NAMES),
        ),
        (
            "places at which two versions of a document are listed as different",
            diff::MAX_DIFFERENCES,
        ),
        (
            "differences that are listed of all outputs of a site; less where there are more than 10 sites",
            size(Limits::DIFFERENCES),
        ),
        (
            "causes that are listed of all outputs of a site; less where there are more than 10 sites",
            size(Limits::CAUSES),
        ),
        (
            "lines that stop edits and are listed of a site; less where there are more than 10 sites",
            size(Limits::SHIELDS),
        ),
        ("changed outputs that are listed of all sites", size(Limits::OUTPUTS)),
        (
            "entries of mappings and lists that the documents of a site copy from their parents; each may copy an equal share, and at least 500",
            MAX_COPIES,
        ),
        (
            "violations told of one site; less where there are more than 5 sites, but at least 20",
            size(MAX_VIOLATIONS),
        ),
        ("violations reported of the alternative that comes nearest", size(Violation::MAX_NEAREST)),
        ("bytes of a name for which \"did you mean\" is looked for", size(near::MAX_BYTES)),
        ("names that one such search looks at", size(near::MAX_CANDIDATES)),
        ("names of about its length that it compares", size(near::MAX_COMPARED)),
        ("pairs of letters that it compares", size(near::MAX_PAIRS)),
        (
            "bytes and pairs of letters that all such searches of one rule in one site look at",
            size(near::MAX_WORK),
        ),
        ("threads, even if `RAYON_NUM_THREADS` is larger", size(MAX_THREADS)),
    ] {
        assert!(page.contains(&format!("| {what} | {limit} |")), "{what}: {limit}");
    }
}

#[test]
fn the_limits_of_lists_are_those_of_the_code() {
    let page = fs::read_to_string(root().join("docs/limits.md")).unwrap();
    let limit = TerminalOptions::USUAL_LIMIT;
    let told = format!("{limit} entries of each list of a comparison");
    assert!(page.contains(&told), "{told}");
}

#[test]
fn every_module_is_in_the_architecture() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    for lib in ["src/lib.rs", "crates/layercake-engine/src/lib.rs"] {
        let lib = fs::read_to_string(root().join(lib)).unwrap();
        let modules = lib.lines().filter_map(|line| {
            line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';')
        });
        for module in modules {
            assert!(page.contains(&format!("\n| `{module}` | ")), "`{module}`");
        }
    }
}

/// The page of the hooks has each of them, with what it runs, and so has
/// `init`.
#[test]
fn the_page_of_the_hooks_is_whole() {
    let page = fs::read_to_string(root().join("docs/hooks.md")).unwrap();
    let manifest = fs::read_to_string(root().join(".pre-commit-hooks.yaml")).unwrap();
    let values = |key: &str| -> Vec<String> {
        let found = manifest.lines().filter_map(|line| line[2.min(line.len())..].strip_prefix(key));
        found.map(str::to_owned).collect()
    };
    let (ids, entries) = (values("id: "), values("entry: "));
    assert_eq!((ids.len(), entries.len()), (5, 5), "{ids:?} {entries:?}");
    for (id, entry) in ids.iter().zip(&entries) {
        assert!(page.contains(&format!("\n| `{id}` | `{entry}` | ")), "{id}: {entry}");
    }
    let written = layercake::commands::init::HOOK;
    let staged = &entries[ids.iter().position(|id| id == "layercake-system").unwrap()];
    assert!(written.contains(&format!("entry: {staged}\n")), "{written}");
}

/// The pages that people read, with their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let mut pages: Vec<PathBuf> = vec![root().join("README.md")];
    let folders =
        ["docs", "src/rules", "src/rules/cloud_init", "examples/sites", "examples/cloud-init"];
    for folder in folders {
        let entries = fs::read_dir(root().join(folder)).unwrap().map(|it| it.unwrap().path());
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

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
