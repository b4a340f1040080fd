//! Two edits of the head of the largest public site repository: the reported changes equal the
//! differences between the two separately rendered states.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use layercake::check::{Base, Compared, Options, Plan, Settings, check, compare};
use layercake::compare::reach::{EditReach, Why};
use layercake::compare::{Status, Via};
use layercake::edit::EditId;
use layercake::graph::MissingSource;
use layercake::merge::deckhand::Semantics;
use layercake::render::Outcome;
use layercake::report::canonical;
use layercake::source::{RepoPath, Repository, SharedTree, Tree, WorkTree};
use layercake::system::deckhand::DeckhandOptions;
use layercake::system::deckhand::layout::Layout;
use serde_json::Value as Json;

use super::treasuremap::Treasuremap;

const VERSIONS: &str = "global/software/config/versions.yaml";
const NEUTRON: &str = "global/software/charts/osh/openstack-compute-kit/neutron.yaml";

/// Branch of the recorded head.
const HEAD: &str = "v1.9";

#[test]
#[ignore = "needs the recorded corpus"]
fn version_in_global_reaches_fourteen_outputs() {
    let repository = Treasuremap::clone();
    let edited = Edited::of(&repository, |root| {
        let file = root.join(VERSIONS);
        let text = std::fs::read_to_string(&file).expect("the file is there");
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        assert!(
            lines[643].trim_start().starts_with("neutron_server: "),
            "{}",
            lines[643]
        );
        lines[643] += "-story";
        std::fs::write(&file, lines.join("\n") + "\n").expect("the clone can be written");
    });
    let compared = edited.compared();
    edited.assert_follows_from_both_renders(&compared);
    let reach = only_edit(&compared);
    let sites: Vec<&str> = reach.sites.iter().map(|site| &**site).collect();
    assert_eq!(
        sites,
        [
            "aiab",
            "airskiff",
            "airsloop",
            "seaworthy",
            "seaworthy-virt"
        ]
    );
    assert_eq!(compared.comparison.sites.len(), 6);
    assert_eq!((reach.outputs, reach.untouched), (14, 10));
    assert!(
        compared
            .comparison
            .outputs
            .iter()
            .all(|change| change.status == Status::Changed)
    );
    let shields: BTreeSet<(String, String, Why)> = reach
        .shields
        .iter()
        .filter(|shield| {
            !reach
                .sites
                .iter()
                .any(|site| Some(site) == shield.site.as_ref())
        })
        .map(|shield| {
            let site = shield
                .site
                .as_deref()
                .expect("a site has a name")
                .to_owned();
            (site, place(&compared, shield.by), shield.why)
        })
        .collect();
    let at = "site/airskiff-suse/software/config/versions.yaml:78";
    assert_eq!(
        shields,
        [("airskiff-suse".to_owned(), at.to_owned(), Why::SetAgain)].into()
    );
}

#[test]
#[ignore = "needs the recorded corpus"]
fn removed_parent_leaves_its_children_without_parent() {
    let repository = Treasuremap::clone();
    let edited = Edited::of(&repository, |root| {
        std::fs::remove_file(root.join(NEUTRON)).expect("the file is there");
    });
    let compared = edited.compared();
    edited.assert_follows_from_both_renders(&compared);
    let edits = compared.comparison.edits.iter().map(|reach| {
        (
            &*reach.edit.document.name,
            reach.outputs,
            reach.sites.len(),
            reach.untouched,
        )
    });
    // The second parent is rendered in every site but has no children.
    assert_eq!(
        edits.collect::<Vec<_>>(),
        [("neutron-global", 12, 6, 6), ("neutron-htk", 6, 6, 0)]
    );
    let count = |status| compared.comparison.count(status);
    let statuses = [
        Status::Changed,
        Status::Added,
        Status::Removed,
        Status::Metadata,
    ];
    assert_eq!(statuses.map(count), [6, 0, 12, 0]);
    let orphaned: Vec<[&str; 2]> = compared
        .comparison
        .outputs
        .iter()
        .filter(|change| change.status == Status::Changed)
        .map(|change| {
            [
                change.site.as_deref().expect("a site has a name"),
                &change.key.name,
            ]
        })
        .collect();
    assert_eq!(
        BTreeSet::from_iter(orphaned),
        BTreeSet::from([
            ["aiab", "neutron"],
            ["airskiff", "neutron"],
            ["airskiff-suse", "neutron"],
            ["airskiff-suse", "neutron-suse"],
            ["airsloop", "neutron"],
            ["seaworthy", "neutron"],
        ])
    );
    for change in &compared.comparison.outputs {
        let vias: Vec<Via> = change.causes[0].route.iter().map(|hop| hop.via).collect();
        let is_gone = change.status == Status::Removed;
        assert_eq!(
            is_gone,
            !vias.contains(&Via::Unparented),
            "{} {vias:?}",
            change.key
        );
    }
    let missing = &compared.findings.new.diagnostics;
    let missing = missing
        .iter()
        .filter(|finding| finding.rule.name == "missing-parent");
    let places: BTreeSet<String> = missing
        .map(|finding| place(&compared, finding.primary.span))
        .collect();
    assert_eq!(places, ORPHANS.map(str::to_owned).into());
    assert_eq!(compared.findings.new.diagnostics.len(), ORPHANS.len());
    for causes in &compared.findings.causes {
        assert_eq!(causes[..], [EditId::at(0)]);
    }
}

/// Selectors in unchanged files that no longer match anything.
const ORPHANS: [&str; 3] = [
    "site/seaworthy/software/charts/osh/openstack-compute-kit/neutron.yaml:17",
    "type/skiff/charts/osh/openstack-compute-kit/neutron.yaml:13",
    "type/sloop/charts/osh/comps/neutron.yaml:12",
];

fn only_edit(compared: &Compared) -> &EditReach {
    let [only] = &compared.comparison.edits[..] else {
        panic!("expected one edit, found {:?}", compared.comparison.edits)
    };
    only
}

fn place(compared: &Compared, span: layercake::source::Span) -> String {
    let sources = &compared.checked.sources;
    format!(
        "{}:{}",
        sources.get(span.file).path(),
        sources.start(span).line
    )
}

/// The head, and its working tree with an edit.
struct Edited {
    head: SharedTree,
    work: SharedTree,
    /// Recorded number of outputs of each site of the head.
    recorded: BTreeMap<String, usize>,
}

/// Data by site, schema, name and layer.
type Outputs = BTreeMap<[String; 4], String>;

impl Edited {
    fn of(corpus: &Treasuremap, edit: impl Fn(&Path)) -> Self {
        let bare = corpus.path();
        let root = bare
            .parent()
            .expect("the clone is in a folder")
            .join("edited");
        let mut git = Command::new("git");
        for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
            git.env_remove(name);
        }
        let clone = git
            .args(["clone", "--quiet", "--branch", HEAD])
            .args([&bare, &root])
            .status();
        assert!(clone.expect("git runs").success());
        edit(&root);
        let repository = Repository::discover_further(&root).expect("it can be opened");
        let repository = repository.expect("the clone is a repository");
        let id = repository.resolve("HEAD").expect("the clone has a head");
        Self {
            recorded: corpus.recorded_outputs(&id),
            head: Arc::new(repository.commit(&id).expect("the head exists")),
            work: Arc::new(WorkTree::compared(&repository).expect("the clone has files")),
        }
    }

    fn compared(&self) -> Compared {
        let base = Base::of_repository(self.head.clone(), Some(layout(&self.head)));
        let plan = plan(&self.work, Some(base));
        let settings = Settings {
            attribution: Settings::verified(),
            ..Settings::default()
        };
        let compared = compare(&plan, &settings).expect("the two states can be compared");
        assert_eq!(compared.comparison.unexplained(), 0);
        compared
    }

    /// Asserts that the changed outputs are those that differ between two renderings.
    fn assert_follows_from_both_renders(&self, compared: &Compared) {
        let (base, head) = (rendered(&self.head), rendered(&self.work));
        let mut counts = BTreeMap::new();
        for [site, ..] in base.keys() {
            *counts.entry(site.clone()).or_default() += 1;
        }
        assert_eq!(counts, self.recorded);
        let keys: BTreeSet<&[String; 4]> = base.keys().chain(head.keys()).collect();
        let differing: BTreeSet<[String; 4]> = keys
            .into_iter()
            .filter(|key| base.get(*key) != head.get(*key))
            .cloned()
            .collect();
        let reported = compared.comparison.outputs.iter().map(|change| {
            let site = change.site.as_deref().expect("a site has a name");
            [
                site,
                &change.key.schema,
                &change.key.name,
                &change.key.layer,
            ]
            .map(str::to_owned)
        });
        assert_eq!(reported.collect::<BTreeSet<_>>(), differing);
    }
}

fn layout(tree: &dyn Tree) -> Layout {
    let layout = Layout::discover(tree, &RepoPath::new("")).expect("it can be listed");
    layout.expect("it is a site repository")
}

fn plan(tree: &SharedTree, base: Option<Base>) -> Plan {
    let options = Options::of(DeckhandOptions {
        semantics: Semantics::Deckhand,
        missing_source: MissingSource::Warning,
        encryption_sources: BTreeMap::new(),
    });
    options.plan(tree.clone(), Some(layout(tree)), base)
}

fn rendered(tree: &SharedTree) -> Outputs {
    let checked = check(&plan(tree, None), |site| {
        let emitted = site.graph.iter().filter(|(_, recipe)| recipe.emit);
        let outputs = emitted.filter_map(|(doc, recipe)| match site.rendered.outcome(doc) {
            Outcome::Ready(data) => {
                let key = &recipe.key;
                Some((
                    [&key.schema, &key.name, &key.layer].map(ToString::to_string),
                    canonical(data),
                ))
            }
            Outcome::Blocked(_) => None,
        });
        outputs.collect::<Vec<_>>()
    });
    let mut outputs = Outputs::new();
    for site in checked.expect("it can be rendered").sites {
        let name = site.name.expect("a site has a name").to_string();
        for ([schema, document, layer], data) in site.taken.expect("no fault in layercake") {
            outputs.insert([name.clone(), schema, document, layer], data);
        }
    }
    outputs
}

impl Treasuremap {
    /// Recorded number of outputs of the sites of a commit.
    fn recorded_outputs(&self, commit: &str) -> BTreeMap<String, usize> {
        let mut records = self.recorded_commits().into_iter();
        let record = records.find(|path| path.file_stem().is_some_and(|stem| stem == commit));
        let text = std::fs::read_to_string(record.expect("the commit is recorded"));
        let record: Json = serde_json::from_str(&text.expect("it can be read")).expect("JSON");
        let sites = record["sites"].as_object().expect("sites").iter();
        let count = |site: &Json| site["documents"].as_array().expect("documents").len();
        sites
            .map(|(name, site)| (name.clone(), count(site)))
            .collect()
    }
}
