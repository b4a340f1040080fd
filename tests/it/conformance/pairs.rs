//! Every recorded pair of commits of the largest public site repository: the outputs that changed
//! are the recorded ones, every change has a cause, and every cause is valid.

use std::collections::BTreeMap;
use std::sync::Arc;

use layercake::check::{Base, Compared, Options, Settings, compare};
use layercake::compare::reach::SiteReach;
use layercake::compare::{Attribution, Proof, Status};
use layercake::graph::MissingSource;
use layercake::merge::deckhand::Semantics;
use layercake::source::{RepoPath, Repository, StoredTree};
use layercake::system::deckhand::DeckhandOptions;
use layercake::system::deckhand::layout::Layout;
use serde_json::Value as Json;

use super::CaseOrigin;
use super::treasuremap::Treasuremap;
use crate::support::sample::{is_thorough, sample};

/// Verifying every cause of a pair with more edits takes some ten thousand renderings, so a sample
/// skips these.
pub(super) const FEW_EDITS: usize = 40;

#[test]
#[ignore = "needs the recorded corpus"]
fn every_recorded_pair_changes_as_recorded_and_is_explained() {
    let repository = Treasuremap::clone();
    let mut wrong = Vec::new();
    for pair in &pairs() {
        let (base, head) = (text(&pair["parent"]), text(&pair["commit"]));
        let attribution = Attribution::Followed { renderings: 10 };
        let followed = Settings {
            attribution,
            ..Settings::default()
        };
        let compared = repository.compare(base, head, &followed);
        wrong.extend(differences(pair, &compared));
        if is_thorough() || compared.comparison.edits.len() <= FEW_EDITS {
            let compared = repository.compare(base, head, &verified());
            wrong.extend(differences(pair, &compared));
            let unproven = compared.comparison.edits.iter();
            let unproven = unproven.filter(|reach| reach.proof == Some(Proof::Followed));
            wrong.extend(unproven.map(|reach| format!("{head}: not proven: {:?}", reach.edit)));
            let faults = compared.comparison.faults.iter();
            wrong.extend(faults.map(|fault| format!("{head}: {fault:?}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs the recorded corpus"]
fn shared_documents_equal_newly_rendered_ones() {
    let repository = Treasuremap::clone();
    for pair in pairs().iter().step_by(3) {
        let (base, head) = (text(&pair["parent"]), text(&pair["commit"]));
        let of = |shares_documents| {
            let options = Options {
                shares_documents,
                ..as_pegleg()
            };
            let compared = repository.compare_with(base, head, options, &Settings::default());
            format!("{:#?}\n{:#?}", compared.comparison, compared.findings)
        };
        // The texts are too long to be shown.
        assert!(of(true) == of(false), "{base} {head}");
    }
}

/// Recorded pairs, or a sample of them, those with few files first.
pub fn pairs() -> Vec<Json> {
    let mut pairs = CaseOrigin::Corpus.cases("treasuremap/pairs.json");
    pairs.sort_by_key(|pair| pair["files"].as_array().map(Vec::len));
    sample(pairs, kinds)
}

/// Kinds of edits and changes that are recorded for a pair.
fn kinds(pair: &Json) -> Vec<String> {
    let categories = pair["categories"].as_array().expect("categories").iter();
    let mut kinds: Vec<String> = categories.map(|it| text(it).to_owned()).collect();
    for site in pair["sites"].as_object().expect("sites").values() {
        let is_filled = |value: &Json| value.as_array().is_none_or(|rows| !rows.is_empty());
        let fields = site.as_object().expect("fields").iter();
        kinds.extend(
            fields
                .filter(|(_, value)| is_filled(value))
                .map(|(field, value)| format!("{field} {}", value.as_str().unwrap_or_default())),
        );
    }
    kinds
}

/// Differences from the recording, and unexplained changes.
pub(super) fn differences(pair: &Json, compared: &Compared) -> Vec<String> {
    let head = text(&pair["commit"]);
    let comparison = &compared.comparison;
    let mut wrong = Vec::new();
    for site in &comparison.sites {
        let name = site.site.as_deref().expect("a site has a name");
        let actual = outputs(compared, site);
        let expected = expected(&pair["sites"][name], &actual, site);
        if actual != expected {
            wrong.push(format!(
                "{head} {name}: {actual:?}\n  recorded: {expected:?}"
            ));
        }
    }
    for change in comparison
        .outputs
        .iter()
        .filter(|change| change.is_unexplained())
    {
        wrong.push(format!(
            "{head}: {:?} {} is not explained",
            change.site, change.key
        ));
    }
    wrong
}

#[test]
#[ignore = "needs the recorded corpus"]
fn no_recorded_commit_differs_from_itself() {
    let repository = Treasuremap::clone();
    let pairs = pairs();
    let commits = pairs
        .iter()
        .flat_map(|pair| [text(&pair["parent"]), text(&pair["commit"])]);
    for commit in commits.collect::<std::collections::BTreeSet<_>>() {
        let compared = repository.compare(commit, commit, &Settings::default());
        assert!(compared.comparison.edits.is_empty(), "{commit}");
        assert!(compared.comparison.outputs.is_empty(), "{commit}");
        assert!(compared.findings.new.diagnostics.is_empty(), "{commit}");
        assert!(compared.findings.fixed.diagnostics.is_empty(), "{commit}");
        assert!(
            !compared.comparison.sites.is_empty(),
            "{commit}: no site was rendered"
        );
    }
}

pub(super) fn verified() -> Settings {
    Settings {
        attribution: Settings::verified(),
        ..Settings::default()
    }
}

fn text(json: &Json) -> &str {
    json.as_str().expect("a text")
}

/// Schema and name of the changed outputs of a site, by status.
type Outputs = BTreeMap<&'static str, Vec<[String; 2]>>;

fn outputs(compared: &Compared, site: &SiteReach) -> Outputs {
    let mut outputs = Outputs::new();
    let changes = compared
        .comparison
        .outputs
        .iter()
        .filter(|change| change.site == site.site);
    for change in changes {
        // A renamed output was recorded as removed and added.
        if let Some(before) = &change.renamed_from {
            for (word, key) in [("removed", before), ("added", &change.key)] {
                let names = [key.schema.to_string(), key.name.to_string()];
                outputs.entry(word).or_default().push(names);
            }
            continue;
        }
        let word = match change.status {
            Status::Changed | Status::Broken | Status::Repaired => "changed",
            Status::Added => "added",
            Status::Removed => "removed",
            Status::Metadata => "metadata_only_changed",
            // Files that cannot be read were not recorded.
            Status::NotComparable => continue,
        };
        let names = [change.key.schema.to_string(), change.key.name.to_string()];
        outputs.entry(word).or_default().push(names);
    }
    for names in outputs.values_mut() {
        names.sort();
    }
    outputs
}

/// Recorded changes of a site; for an added or removed site, only its status.
fn expected(record: &Json, actual: &Outputs, site: &SiteReach) -> Outputs {
    let whole = match record["site"].as_str() {
        Some("added") => (site.base, site.head.is_some(), "added", site.head),
        Some("removed") => (site.head, site.base.is_some(), "removed", site.base),
        _ => {
            let mut expected = Outputs::new();
            for word in ["added", "removed", "changed", "metadata_only_changed"] {
                let rows = record[word].as_array().into_iter().flatten();
                let mut names: Vec<[String; 2]> = rows
                    .map(|row| [text(&row[0]).to_owned(), text(&row[1]).to_owned()])
                    .collect();
                names.sort();
                if !names.is_empty() {
                    expected.insert(word, names);
                }
            }
            return expected;
        }
    };
    let (gone, there, word, count) = whole;
    assert!(
        gone.is_none() && there,
        "the site is neither added nor removed"
    );
    let only = actual.keys().copied().collect::<Vec<_>>();
    assert_eq!(only, [word]);
    assert_eq!(Some(actual[word].len()), count);
    actual.clone()
}

impl Treasuremap {
    /// Compares two commits, each rendered as `pegleg site render` does.
    fn compare(&self, base: &str, head: &str, settings: &Settings) -> Compared {
        self.compare_with(base, head, as_pegleg(), settings)
    }

    fn compare_with(
        &self,
        base: &str,
        head: &str,
        options: Options,
        settings: &Settings,
    ) -> Compared {
        let repository = Repository::discover_further(&self.path()).expect("it can be opened");
        let repository = repository.expect("the clone is a repository");
        let tree = |revision: &str| repository.commit(revision).expect("the commit is there");
        let (base, head) = (tree(base), tree(head));
        let layout = |tree: &StoredTree| {
            let layout = Layout::discover(tree, &RepoPath::new("")).expect("it can be listed");
            layout.expect("the commit is a site repository")
        };
        let (of_base, of_head) = (layout(&base), layout(&head));
        let base = Base::of_repository(Arc::new(base), Some(of_base));
        let plan = options.plan(Arc::new(head), Some(of_head), Some(base));
        compare(&plan, settings).expect("two commits can be compared")
    }
}

/// The options of `pegleg site render`.
fn as_pegleg() -> Options {
    Options::of(DeckhandOptions {
        semantics: Semantics::Deckhand,
        missing_source: MissingSource::Warning,
        encryption_sources: BTreeMap::new(),
    })
}
