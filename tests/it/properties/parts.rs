//! Laws of comparisons over sites with cloud-config parts, in all forms of parts and with all kinds
//! of edits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use layercake::check::{Base, Compared, Configuration, Options, Settings, compare};
use layercake::compare::{Attribution, Status};
use layercake::edit::EditId;
use layercake::graph::{Graph, MissingSource};
use layercake::merge::cloud_init::Dialect;
use layercake::merge::deckhand::Semantics;
use layercake::render::render;
use layercake::report::canonical;
use layercake::source::{FileId, MemoryTree, RepoPath, Source as Text, SourceMap, Span};
use layercake::system::Written;
use layercake::system::cloud_init::declared::DeclaredSet;
use layercake::system::cloud_init::part::CloudPart;
use layercake::system::cloud_init::read::{Included, read};
use layercake::system::cloud_init::{GivenFile, OUTPUT, PartSource, Set, Sets, SourceKind};
use layercake::system::deckhand::known::KnownTexts;
use layercake::system::deckhand::layout::Layout;
use layercake::system::deckhand::layout::SiteScope;
use layercake::system::edits::{Edits, Located, Membership, SitePair, edits};
use layercake::yaml::diff::ListKeys;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree;

use super::config;
use crate::support::options;

/// Part files of both sides, and a site around them.
#[derive(Clone, Debug)]
struct Edited {
    base: BTreeMap<String, String>,
    head: BTreeMap<String, String>,
}

const PATHS: [&str; 7] = [
    "global/cloud/10",
    "global/cloud/20",
    "global/cloud/30",
    "type/small/cloud/15",
    "site/lab/cloud/05",
    "site/lab/cloud/25",
    "global/vendor/10",
];

fn edited() -> impl Strategy<Value = Edited> {
    let files = prop::collection::btree_map(select(&PATHS[..]), file(), 1..5);
    (files, prop::collection::vec(change(), 1..5)).prop_map(|(files, changes)| {
        let base: BTreeMap<String, String> = files
            .into_iter()
            .map(|(path, text)| (path.to_owned(), text))
            .collect();
        let mut head = base.clone();
        for change in &changes {
            change.apply(&mut head);
        }
        Edited { base, head }
    })
}

/// A file of user-data.
fn file() -> impl Strategy<Value = String> {
    let message = (specification(), body(), specification(), body());
    prop_oneof![
        6 => (specification(), body()).prop_map(|(how, body)| plain(how, &body)),
        2 => message.prop_map(|(one, first, other, second)| message_of([(one, first), (other, second)])),
        2 => (body(), body()).prop_map(|(first, second)| archive_of(&[first, second])),
        2 => prop::collection::vec(operation(), 1..4).prop_map(|it| patch_of(&it)),
        1 => select(vec![
            "#cloud-config\npackages: [a\n",
            "#!/bin/sh\ntrue\n",
            "nothing\n",
            "",
            "#cloud-config\n- a\n",
            "#cloud-config-archive\n- type: odd\n  content: x\n",
            "#include\nnowhere\n",
        ]).prop_map(str::to_owned),
    ]
}

fn specification() -> impl Strategy<Value = Option<&'static str>> {
    prop::option::of(select(vec![
        "dict(recurse_list)+list(append)",
        "dict(recurse_list)+list(prepend)",
        "dict(replace)+list(append)",
        "list(append)+dict(no_replace,recurse_list,recurse_str)+str(append)",
        "dict(allow_delete,no_replace)+list()+str()",
        "list()",
        "lust(append)",
    ]))
}

fn body() -> impl Strategy<Value = String> {
    let value = select(vec![
        "[a, b]",
        "[c]",
        "[a]",
        "{x: 1}",
        "{x: 2, y: [z]}",
        "text",
        "more",
        "7",
        "~",
        "[{n: 1}]",
    ]);
    let entry = (select(vec!["packages", "ntp", "motd"]), value);
    prop::collection::btree_map(
        entry.clone().prop_map(|it| it.0),
        entry.prop_map(|it| it.1),
        1..3,
    )
    .prop_map(|entries| {
        entries
            .iter()
            .map(|(key, value)| format!("{key}: {value}\n"))
            .collect()
    })
}

fn operation() -> impl Strategy<Value = String> {
    select(vec![
        r#"{"op": "add", "path": "/packages", "value": ["p"]}"#,
        r#"{"op": "add", "path": "/packages/0", "value": "q"}"#,
        r#"{"op": "remove", "path": "/ntp"}"#,
        r#"{"op": "replace", "path": "/motd", "value": "new"}"#,
        r#"{"op": "copy", "from": "/packages", "path": "/others"}"#,
    ])
    .prop_map(str::to_owned)
}

fn plain(how: Option<&str>, body: &str) -> String {
    let how = how
        .map(|how| format!("merge_how: {how}\n"))
        .unwrap_or_default();
    format!("#cloud-config\n{how}{body}")
}

fn message_of(parts: [(Option<&str>, String); 2]) -> String {
    let parts = parts.iter().map(|(how, body)| {
        let how = how
            .map(|how| format!("Merge-Type: {how}\n"))
            .unwrap_or_default();
        format!("--b\nContent-Type: text/cloud-config\n{how}\n#cloud-config\n{body}")
    });
    let parts: String = parts.collect();
    format!("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n{parts}--b--\n")
}

fn archive_of(bodies: &[String]) -> String {
    let entries = bodies.iter().map(|body| {
        let lines: String = body.lines().map(|line| format!("    {line}\n")).collect();
        format!("- Merge-Type: list(append)+dict(recurse_list)\n  content: |\n    #cloud-config\n{lines}")
    });
    format!("#cloud-config-archive\n{}", entries.collect::<String>())
}

fn patch_of(operations: &[String]) -> String {
    format!(
        "#cloud-config-jsonp\n[\n  {}\n]\n",
        operations.join(",\n  ")
    )
}

/// One edit; without a target, it has no effect.
#[derive(Clone, Debug)]
enum Change {
    /// Replaces or adds a file.
    Write(&'static str, String),
    /// Removes a file.
    Remove(Index),
    /// Renames a file.
    Rename(Index, &'static str),
    /// Replaces a word in a file.
    Word(Index, (&'static str, &'static str)),
}

fn change() -> impl Strategy<Value = Change> {
    let word = select(vec![
        ("append", "prepend"),
        ("recurse_list", "replace"),
        ("dict", "dcit"),
        ("Merge-Type", "X-Other"),
        ("#cloud-config\n", "#cloud-confg\n"),
        ("[a", "[z"),
        ("x: 1", "x: 3"),
        ("[c]", "[c, d]"),
        ("text", "texts"),
        ("/packages/0", "/nowhere/0"),
        ("\"q\"", "\"r\""),
        ("ntp", "npt"),
        ("--b--", ""),
        ("  content: |", "  type: odd\n  content: |"),
    ]);
    prop_oneof![
        3 => (select(&PATHS[..]), file()).prop_map(|(path, text)| Change::Write(path, text)),
        2 => any::<Index>().prop_map(Change::Remove),
        2 => (any::<Index>(), select(&PATHS[..])).prop_map(|(at, to)| Change::Rename(at, to)),
        5 => (any::<Index>(), word).prop_map(|(at, word)| Change::Word(at, word)),
    ]
}

impl Change {
    fn apply(&self, files: &mut BTreeMap<String, String>) {
        let at = |index: &Index, files: &BTreeMap<String, String>| {
            let paths: Vec<String> = files.keys().cloned().collect();
            (!paths.is_empty()).then(|| index.get(&paths).clone())
        };
        match self {
            Change::Write(path, text) => {
                files.insert((*path).to_owned(), text.clone());
            }
            Change::Remove(index) => {
                let path = at(index, files);
                path.and_then(|path| files.remove(&path));
            }
            Change::Rename(index, to) => {
                let text = at(index, files).and_then(|path| files.remove(&path));
                files.extend(text.map(|text| ((*to).to_owned(), text)));
            }
            Change::Word(index, (from, to)) => {
                let text = at(index, files).and_then(|path| files.get_mut(&path));
                if let Some(text) = text {
                    *text = text.replacen(from, to, 1);
                }
            }
        }
    }
}

/// Files of a site with these parts.
fn tree(parts: &BTreeMap<String, String>) -> MemoryTree {
    let definition = "---\nschema: pegleg/SiteDefinition/v1\nmetadata: {schema: \
                      metadata/Document/v1, name: lab, storagePolicy: cleartext, \
                      layeringDefinition: {abstract: false, layer: site}}\ndata: {site_type: \
                      small}\n";
    let policy = "---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {schema: \
                  metadata/Control/v1, name: layering-policy}\ndata: {layerOrder: [global, type, \
                  site]}\n";
    let tree = MemoryTree::new()
        .with("site/lab/site-definition.yaml", definition)
        .with("type/small/nothing.yaml", "# nothing\n")
        .with("global/policy.yaml", policy);
    parts
        .iter()
        .fold(tree, |tree, (path, text)| tree.with(path, text.clone()))
}

fn set(name: &str, dialect: Dialect) -> DeclaredSet {
    let globs = |globs: &[&str]| globs.iter().map(|glob| Arc::from(*glob)).collect();
    DeclaredSet {
        name: name.into(),
        at: Span::point(FileId::default(), 0),
        dialect,
        is_undecided: true,
        sources: vec![
            (
                SourceKind::UserData,
                globs(&[
                    "global/cloud/*",
                    "type/{type}/cloud/*",
                    "site/{site}/cloud/*",
                ]),
            ),
            (SourceKind::VendorData, globs(&["global/vendor/*"])),
        ],
        sites: None,
        secret: false,
    }
}

fn compared(base: &MemoryTree, head: &MemoryTree, attribution: Attribution) -> Compared {
    let layout = |tree: &MemoryTree| {
        Layout::discover(tree, &RepoPath::new("")).expect("memory can be listed")
    };
    let sets = vec![
        set("new", Dialect::Current),
        set("old", Dialect::Documented),
    ];
    let options = Options {
        configuration: Configuration {
            sets,
            ..Configuration::default()
        },
        ..Options::of(options(Semantics::Documented))
    };
    let earlier = Base::of_repository(Arc::new(base.clone()), layout(base));
    let plan = options.plan(Arc::new(head.clone()), layout(head), Some(earlier));
    let settings = Settings {
        attribution,
        ..Settings::default()
    };
    let compared = compare(&plan, &settings).expect("files in memory can be compared");
    assert!(!compared.checked.internal_error, "no internal error");
    compared
}

const FOLLOWED: Attribution = Attribution::Followed {
    renderings: Settings::MAX_RENDERINGS,
};

/// Status of each output, seen from one of the sides.
fn seen(compared: &Compared, is_swapped: bool) -> BTreeMap<String, &'static str> {
    let outputs = compared.comparison.outputs.iter();
    outputs
        .map(|change| {
            let status = match (change.status, is_swapped) {
                (Status::Added, true) => Status::Removed,
                (Status::Removed, true) => Status::Added,
                (status, _) => status,
            };
            (change.key.to_string(), status.as_str())
        })
        .collect()
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn every_change_of_parts_is_explained(edited in edited()) {
        let (base, head) = (tree(&edited.base), tree(&edited.head));
        for by in [FOLLOWED, Settings::verified()] {
            let compared = compared(&base, &head, by);
            for change in &compared.comparison.outputs {
                prop_assert!(!change.is_unexplained(), "{:?} {}", by, change.key);
            }
        }
    }

    #[test]
    fn swapped_parts_mirror_the_changes(edited in edited()) {
        let (base, head) = (tree(&edited.base), tree(&edited.head));
        let (there, back) = (compared(&base, &head, FOLLOWED), compared(&head, &base, FOLLOWED));
        prop_assert_eq!(seen(&there, false), seen(&back, true));
        let itself = compared(&head, &head, FOLLOWED);
        prop_assert!(itself.comparison.edits.is_empty() && itself.comparison.outputs.is_empty());
    }

    #[test]
    fn edits_of_parts_transform_one_side_into_the_other(edited in edited()) {
        let mut sources = SourceMap::new();
        let base = Read::of(&edited.base, &mut sources);
        let head = Read::of(&edited.head, &mut sources);
        let keys = ListKeys::default();
        let found = edits(base.located(), head.located(), &[], Vec::new(), &keys);
        let pair = SitePair {
            base: Some(membership()),
            head: Some(membership()),
            definition: Vec::new(),
            unedited: &[],
        };
        prop_assert_eq!(made(&found, &pair, &|_| false), base.made());
        prop_assert_eq!(made(&found, &pair, &|_| true), head.made());
        // Every selection of edits has a result.
        for number in 0..found.edits.len() {
            made(&found, &pair, &|edit| edit.index() == number);
            made(&found, &pair, &|edit| edit.index() != number);
        }
    }
}

/// The parsed files of one side.
struct Read {
    files: Vec<(RepoPath, Vec<CloudPart>)>,
}

fn membership() -> Membership {
    Membership {
        scope: SiteScope {
            site: None,
            site_type: None,
        },
        repositories: Vec::new(),
        parts: PATHS
            .iter()
            .map(|path| RepoPath::new(*path))
            .collect::<BTreeSet<_>>(),
    }
}

impl Read {
    fn of(files: &BTreeMap<String, String>, sources: &mut SourceMap) -> Self {
        let files = files.iter().map(|(path, text)| {
            let path = RepoPath::new(path.as_str());
            let file = sources.add(Text::new(path.clone(), Ok(text.clone().into())));
            let read = read(file, sources, &mut |_, _, _| Included::Missing);
            let mut parts = if read.aborted.is_some() {
                Vec::new()
            } else {
                read.parts
            };
            if parts.is_empty() {
                parts.push(CloudPart::empty(&path, Span::point(file, 0)));
            }
            (path, parts)
        });
        Self {
            files: files.collect(),
        }
    }

    fn located(&self) -> Vec<Located<'_>> {
        let files = self.files.iter();
        files
            .flat_map(|(path, parts)| {
                parts.iter().enumerate().map(move |(index, part)| Located {
                    repository: None,
                    path,
                    place: None,
                    index,
                    document: Written::Part(part),
                })
            })
            .collect()
    }

    fn made(&self) -> [String; 2] {
        merged(
            self.located()
                .iter()
                .map(|located| (located.path, located.document)),
        )
    }
}

/// Result of merging the parts with the `chosen` edits.
fn made(edits: &Edits<'_>, pair: &SitePair<'_>, chosen: &dyn Fn(EditId) -> bool) -> [String; 2] {
    let versions = edits.apply(pair, chosen, &mut KnownTexts::default());
    merged(
        versions
            .iter()
            .map(|(path, version)| (*path, version.document())),
    )
}

/// Result of merging parts in each dialect.
fn merged<'a>(parts: impl Iterator<Item = (&'a RepoPath, Written<'a>)>) -> [String; 2] {
    let mut files: BTreeMap<&RepoPath, Vec<&CloudPart>> = BTreeMap::new();
    for (path, written) in parts {
        let Written::Part(part) = written else {
            continue;
        };
        let of_file = files.entry(path).or_default();
        of_file.extend((!part.is_nothing()).then_some(part));
    }
    // A set without files does not exist.
    if files.is_empty() {
        return <[String; 2]>::default();
    }
    [Dialect::Current, Dialect::Documented].map(|dialect| {
        let at = Span::point(FileId::default(), 0);
        let given = files.values().map(|parts| GivenFile {
            at,
            parts: parts.clone(),
            read: None,
        });
        let source = PartSource {
            kind: SourceKind::UserData,
            files: given.collect(),
        };
        let mut graph = Graph {
            recipes: Vec::new(),
            semantics: Semantics::Documented,
            missing_source: MissingSource::Error,
            sharers: 1,
        };
        Sets::add_to(
            vec![Set {
                name: "set".into(),
                at,
                dialect,
                is_undecided: false,
                sources: vec![source],
            }],
            &mut graph,
        );
        let rendered = render(&graph);
        let mut outputs = graph
            .outputs()
            .filter(|(_, recipe)| &*recipe.key.schema == OUTPUT);
        let (doc, _) = outputs.next().expect("the set has an output");
        rendered.data(doc).map(canonical).unwrap_or_default()
    })
}

#[test]
fn generated_parts_have_effects() {
    // Most edits have an effect, through every form of parts.
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut changed, mut joint, mut refused) = (0, 0, 0);
    for _ in 0..150 {
        let edited = edited()
            .new_tree(&mut runner)
            .expect("edits can be made")
            .current();
        let compared = compared(&tree(&edited.base), &tree(&edited.head), FOLLOWED);
        changed += usize::from(!compared.comparison.outputs.is_empty());
        let causes = compared
            .comparison
            .outputs
            .iter()
            .flat_map(|change| &change.causes);
        joint += causes.filter(|cause| !cause.joint.is_empty()).count();
        refused += usize::from(edited.head.values().any(|text| text.contains("dcit")));
    }
    assert!(changed > 100, "{changed} change something");
    assert!(joint > 10, "{joint} joint causes");
    assert!(refused > 3, "{refused} with an unknown class");
}
