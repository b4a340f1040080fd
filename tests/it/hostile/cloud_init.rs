//! Hostile cloud-init input: it is checked, compared and traced in bounded time, and refused input
//! has a finding or an error of its part.
//!
//! Merging takes time and memory linear in the size of the parts. To trace values, the states of an
//! output are kept, with at most a million entries of mappings and lists in total (about 100 MB)
//! and of at most a thousand parts. Beyond these limits the first parts are not traced, and the
//! trace says so.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use layercake::check::{Checked, RenderedSite};
use layercake::commands::configuration::ConfigurationSource;
use layercake::commands::policy::Selectors;
use layercake::merge::deckhand::Semantics;
use layercake::render::flow::flow;
use layercake::render::replay::{Replay, Via};
use layercake::rules::Gates;
use layercake::source::MemoryTree;
use layercake::system::cloud_init::PartSource;
use layercake::system::cloud_init::part::{ContentFault, PartFaultKind};
use layercake::system::cloud_init::read::UserData;
use layercake::yaml::path::{Location, Piece};
use layercake::yaml::{Key, Mapping, Node};

use crate::support::{check_files, compare_files, options};

/// Time limit per case, far above the actual time of a debug build on a busy machine.
const MAX_TIME: Duration = Duration::from_secs(60);

const PARTS: usize = 10_000;

const DECLARED: &str = "cloud-config: [{name: genesis, parts: ['parts/*']}]\n";

/// Tree of a set with these parts.
fn tree(parts: impl IntoIterator<Item = String>) -> MemoryTree {
    let tree = MemoryTree::new().with("layercake.yaml", DECLARED);
    let parts = parts.into_iter().enumerate();
    parts.fold(tree, |tree, (number, text)| {
        tree.with(&format!("parts/{number:05}"), text)
    })
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    let elapsed = start.elapsed();
    eprintln!("{what}: {elapsed:?}");
    assert!(elapsed < MAX_TIME, "{what}: {elapsed:?}");
    done
}

fn checked<T: Send>(
    tree: &MemoryTree,
    per_site: impl Fn(&RenderedSite<'_>) -> T + Sync,
) -> (Checked<()>, T) {
    let checked = timed("linted", || {
        check_files(tree, options(Semantics::Documented), per_site)
    });
    assert!(!checked.internal_error);
    let (checked, mut taken) = checked.without_taken();
    (checked, taken.pop().expect("there is one set of files"))
}

/// Merged result of the set.
fn output(site: &RenderedSite<'_>) -> Node {
    let (doc, _) = site.graph.outputs().next().expect("there is one output");
    site.rendered
        .data(doc)
        .expect("the output is rendered")
        .clone()
}

/// Kind of the last hop in the trace of a value of the output.
fn end_of(site: &RenderedSite<'_>, place: &Location) -> Via {
    let (doc, _) = site.graph.outputs().next().expect("there is one output");
    let replay = Replay::new(site.graph, site.rendered);
    timed("explained", || {
        replay.trace_with_losers(doc, place).origin().via
    })
}

fn at(keys: &[&str]) -> Location {
    let piece = |key: &&str| match key.parse() {
        Ok(index) => Piece::Index(index),
        Err(_) => Piece::Key(Key::string(*key, span())),
    };
    Location(keys.iter().map(piece).collect())
}

fn span() -> layercake::source::Span {
    layercake::source::Span::point(layercake::source::FileId::default(), 0)
}

/// Number of values of the output that changed between two trees.
fn changes(base: &MemoryTree, head: &MemoryTree) -> usize {
    let compared = timed("compared", || {
        let (options, selectors) = (options(Semantics::Documented), Selectors::default());
        compare_files(
            base,
            head,
            options,
            &selectors,
            &ConfigurationSource::Root,
            &Gates::default(),
        )
    });
    assert!(!compared.checked.internal_error);
    let outputs = compared.comparison.outputs.iter();
    let unexplained: usize = outputs.clone().map(|change| change.unexplained).sum();
    assert_eq!(unexplained, 0, "each change has a cause");
    outputs.map(|change| change.data.len()).sum()
}

/// User-data of the first file.
fn user_data<T>(site: &RenderedSite<'_>, look: impl FnOnce(&UserData) -> T) -> T {
    let set = site.sets.sets.first().expect("there is one set");
    let given = set.sources.iter().flat_map(|source| &source.files).next();
    look(
        given
            .and_then(|given| given.read)
            .expect("the file was read completely"),
    )
}

#[test]
fn ten_thousand_parts_with_keys_of_their_own() {
    let part = |number: usize| format!("#cloud-config\nk{number}: {{v: {number}}}\n");
    let base = tree((0..PARTS).map(part));
    let (_, (length, ends)) = checked(&base, |site| {
        let first = end_of(site, &at(&["k17", "v"]));
        let last = end_of(site, &at(&["k9990", "v"]));
        (
            output(site).as_mapping().map_or(0, Mapping::len),
            (first, last),
        )
    });
    assert_eq!(length, PARTS);
    assert_eq!(ends, (Via::Unfollowed, Via::Literal));
    let head = base
        .clone()
        .with("parts/00017", "#cloud-config\nk17: {v: other}\n");
    assert_eq!(changes(&base, &head), 1);
}

#[test]
fn ten_thousand_parts_that_append_to_one_list() {
    let part = |number: usize| {
        format!("#cloud-config\nmerge_how: dict(recurse_list)+list(append)\nl: [{number}]\n")
    };
    let base = tree((0..PARTS).map(part));
    let (_, (length, ends)) = checked(&base, |site| {
        let first = end_of(site, &at(&["l", "17"]));
        let last = end_of(site, &at(&["l", "9990"]));
        (
            output(site)
                .get("l")
                .and_then(Node::as_sequence)
                .map_or(0, <[Node]>::len),
            (first, last),
        )
    });
    assert_eq!(length, PARTS);
    assert_eq!(ends, (Via::Unfollowed, Via::Literal));
    let head = base.clone().with("parts/09990", part(1));
    assert_eq!(changes(&base, &head), 1);
}

/// Last hop of a value that only the first of several parts wrote; the others write `text`.
fn end_of_first(parts: usize, text: &str) -> Via {
    let others = std::iter::repeat_n(format!("#cloud-config\n{text}\n"), parts - 1);
    let parts = std::iter::once("#cloud-config\nfirst: 1\n".to_owned()).chain(others);
    checked(&tree(parts), |site| end_of(site, &at(&["first"]))).1
}

#[test]
fn number_of_kept_states_is_limited() {
    assert_eq!(end_of_first(1_000, "k: 1"), Via::Literal);
    assert_eq!(end_of_first(1_001, "k: 1"), Via::Unfollowed);
}

/// Five hundred states of two keys and a list of `items` items are a million entries.
#[test]
fn number_of_entries_in_kept_states_is_limited() {
    let list = format!("l: [{}]", vec!["1"; 1_998].join(", "));
    assert_eq!(end_of_first(500, &list), Via::Literal);
    assert_eq!(end_of_first(501, &list), Via::Unfollowed);
}

#[test]
fn outputs_reached_by_one_of_ten_thousand_parts() {
    let part = |number: usize| format!("#cloud-config\nk{number}: {number}\n");
    let (_, reached) = checked(&tree((0..PARTS).map(part)), |site| {
        let replay = Replay::new(site.graph, site.rendered);
        let of = |name: &str| {
            let mut parts = site.graph.iter();
            let (doc, _) = parts
                .find(|(_, recipe)| &*recipe.key.name == name)
                .expect("a part");
            let flow = timed("followed", || {
                flow(
                    &replay,
                    doc,
                    &at(&[&format!(
                        "k{}",
                        name[6..].parse::<usize>().expect("a number")
                    )]),
                )
            });
            let is_reached = flow.reached.iter().any(|it| site.graph.recipe(it.doc).emit);
            (is_reached, flow.more)
        };
        [of("parts/00017"), of("parts/09990")]
    });
    // The trace of the first part ends early.
    assert_eq!(reached, [(false, true), (true, true)]);
}

#[test]
fn archive_of_ten_thousand_entries() {
    let mut archive = "#cloud-config-archive\n".to_owned();
    for number in 0..PARTS {
        writeln!(archive, "- content: '{{k{number}: 1}}'").expect("writing to a string succeeds");
    }
    let base = tree([archive.clone()]);
    let (_, length) = checked(&base, |site| {
        output(site).as_mapping().map_or(0, Mapping::len)
    });
    assert_eq!(length, PARTS);
    let head = tree([archive.replace("'{k17: 1}'", "'{k17: 2}'")]);
    assert_eq!(changes(&base, &head), 1);
}

#[test]
fn part_of_fifty_megabytes() {
    let mut text = "#cloud-config\nl:\n".to_owned();
    let line = format!("- {}\n", "x".repeat(1_000));
    while text.len() < 50 << 20 {
        text.push_str(&line);
    }
    let (_, length) = checked(&tree([text]), |site| {
        output(site)
            .get("l")
            .and_then(Node::as_sequence)
            .map_or(0, <[Node]>::len)
    });
    assert!(length > 50_000);
}

#[test]
fn text_over_the_limit_is_dropped_completely() {
    let text = "#cloud-config\n".to_owned() + &"# x\n".repeat(17 << 20);
    let (_, kind) = checked(&tree([text]), |site| {
        user_data(site, |read| {
            read.aborted.as_ref().map(|fault| fault.kind.clone())
        })
    });
    assert_eq!(kind, Some(PartFaultKind::Content(ContentFault::NoText)));
}

#[test]
fn structure_nested_a_hundred_thousand_deep() {
    const DEPTH: usize = 100_000;
    let list = format!(
        "#cloud-config\na: {}{}\n",
        "[".repeat(DEPTH),
        "]".repeat(DEPTH)
    );
    let patch = format!(
        "#cloud-config-jsonp\n[{{\"op\":\"add\",\"path\":\"/a\",\"value\":{}1{}}}]",
        "[".repeat(DEPTH),
        "]".repeat(DEPTH)
    );
    let pointer = format!(
        "#cloud-config-jsonp\n[{{\"op\":\"add\",\"path\":\"{}\",\"value\":1}}]",
        "/a".repeat(DEPTH)
    );
    let base = tree([String::from("#cloud-config\nb: 1\n"), list, patch, pointer]);
    let (_, (output, problems)) = checked(&base, |site| {
        let set = site.sets.sets.first().expect("there is one set");
        let parts = set.sources.iter().flat_map(PartSource::parts);
        let reported = parts.filter(|part| !part.problems.is_empty() || !part.faults.is_empty());
        (
            output(site),
            (reported.count(), site.rendered.problems.len()),
        )
    });
    assert_eq!(output.as_mapping().map(Mapping::len), Some(1));
    let (reported, failed) = problems;
    assert_eq!(reported + failed, 3, "each of the three is reported");
    let head = base.clone().with("parts/00000", "#cloud-config\nb: 2\n");
    assert_eq!(changes(&base, &head), 1);
}

#[test]
fn merge_that_nests_deeper_with_every_part() {
    let mut parts = vec!["#cloud-config\nl: [x]\n".to_owned()];
    // Data that a patch copies into itself doubles in size and depth.
    for _ in 0..2_000 {
        parts.push(
            "#cloud-config-jsonp\n[{\"op\":\"copy\",\"from\":\"/l\",\"path\":\"/l/-\"}]".to_owned(),
        );
    }
    let (_, refused) = checked(&tree(parts), |site| site.rendered.problems.len());
    assert!(refused > 0, "data over the limit is refused");
}

#[test]
fn messages_with_broken_boundaries() {
    let head = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=";
    let mut nested = format!("{head}b0\n\n");
    for depth in 0..1_000 {
        let inner = depth + 1;
        writeln!(
            nested,
            "--b{depth}\nContent-Type: multipart/mixed; boundary=b{inner}\n"
        )
        .expect("writing to a string succeeds");
    }
    let messages = [
        format!("{head}\"BB\n\n--BB\nContent-Type: text/cloud-config\n\na: 1\n"),
        format!("{head}BB\n\n{}", "--BB\n".repeat(50_000)),
        format!("{head}BB\n\n{}", "--B\n".repeat(50_000)),
        format!("{head}{}\n\n--x\n", "B".repeat(100_000)),
        "MIME-Version: 1.0\nContent-Type: multipart/mixed\n\n--BB\n\na: 1\n--BB--\n".to_owned(),
        nested,
        format!("MIME-Version: 1.0\n{}\n\na: 1\n", "X: y\n".repeat(50_000)),
    ];
    for message in messages {
        let base = tree([message]);
        let (_, reported) = checked(&base, |site| {
            user_data(site, |read| {
                let of_parts = read.parts.iter().map(|part| part.faults.len());
                let is_aborted = usize::from(read.aborted.is_some());
                read.faults.len() + is_aborted + of_parts.sum::<usize>()
            })
        });
        assert!(reported > 0, "errors are reported");
    }
}
