//! Laws of comparisons over generated repositories and edits of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use layercake::check::{Base, Compared, Options, RenderedSite, Settings, compare};
use layercake::compare::{Attribution, Status};
use layercake::graph::{DocId, Graph};
use layercake::merge::deckhand::Semantics;
use layercake::render::{Extent, Matching, Problem, Rendered, Table, render, render_with};
use layercake::report::canonical;
use layercake::source::{FileId, MemoryTree, RepoPath, Source, SourceMap};
use layercake::system::Written;
use layercake::system::deckhand::document::Document;
use layercake::system::deckhand::known::KnownTexts;
use layercake::system::deckhand::layout::{Layout, Place, SiteScope};
use layercake::system::deckhand::read::{Reading, Surroundings, read};
use layercake::system::deckhand::secrecy::{Folder, SecretKinds};
use layercake::system::deckhand::{DeckhandOptions, Site};
use layercake::system::edits::{DocumentVersion, Edits, Located, Membership, SitePair, edits};
use layercake::yaml::diff::ListKeys;
use layercake::yaml::{Node, parse};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use super::edits::{Edited, edited};
use super::repository::Repository;
use super::{SEMANTICS, checked, config};
use crate::laws::comparing::{describe_changes, seen, unexplained};
use crate::laws::reading::spans;
use crate::related::describe_relations;
use crate::support::sample::is_thorough;
use crate::support::{options, saved};

pub(super) fn compared(
    base: &MemoryTree,
    head: &MemoryTree,
    semantics: Semantics,
    by: Attribution,
) -> Compared {
    compared_with(base, head, Options::of(options(semantics)), by)
}

fn compared_with(
    base: &MemoryTree,
    head: &MemoryTree,
    options: Options,
    by: Attribution,
) -> Compared {
    let layout = |tree: &MemoryTree| {
        Layout::discover(tree, &RepoPath::new("")).expect("memory can be listed")
    };
    let earlier = Base::of_repository(Arc::new(base.clone()), layout(base));
    let plan = options.plan(Arc::new(head.clone()), layout(head), Some(earlier));
    let settings = Settings {
        attribution: by,
        ..Settings::default()
    };
    let compared = compare(&plan, &settings).expect("files in memory can be compared");
    saved::check_compared(&compared);
    assert!(!compared.checked.internal_error, "no internal error");
    compared
}

pub(super) const FOLLOWED: Attribution = Attribution::Followed {
    renderings: Settings::MAX_RENDERINGS,
};

/// Inputs of each output, by site and identity: the locations of the documents it is made of.
type Inputs = BTreeMap<(String, String), BTreeSet<(RepoPath, u32)>>;

fn inputs(site: &RenderedSite<'_>) -> Inputs {
    let name = site.site.name.as_deref().unwrap_or_default();
    let outputs = site.graph.iter().filter(|(_, recipe)| recipe.emit);
    outputs
        .map(|(doc, recipe)| {
            let (mut met, mut open) = (BTreeSet::new(), vec![doc]);
            while let Some(doc) = open.pop() {
                let recipe = site.graph.recipe(doc);
                let path = site.sources.get(recipe.span.file).path().clone();
                if met.insert((path, recipe.span.start)) {
                    open.extend(recipe.needs.iter().map(|need| need.doc));
                    open.extend(recipe.base.map(|base| base.doc));
                }
            }
            ((name.to_owned(), recipe.key.to_string()), met)
        })
        .collect()
}

fn inputs_of(tree: &MemoryTree, semantics: Semantics) -> Inputs {
    let checked = checked(tree, "", semantics, inputs);
    checked
        .sites
        .into_iter()
        .filter_map(|site| site.taken)
        .flatten()
        .collect()
}

/// Paths of the files that differ between the sides.
fn edited_files(edited: &Edited) -> BTreeSet<&str> {
    let of = |repository: &Repository, path: &str| {
        let mut files = repository.files.iter();
        files
            .find(|(known, _)| known == path)
            .map(|(_, text)| text.clone())
    };
    let files = edited.base.files.iter().chain(&edited.head.files);
    let paths = files.map(|(path, _)| path.as_str());
    paths
        .filter(|path| of(&edited.base, path) != of(&edited.head, path))
        .collect()
}

proptest! {
    #![proptest_config(config(60))]

    /// With few renderings, an edit with an effect has one too, or is not decided.
    #[test]
    fn verification_that_is_cut_off_hides_no_effect(edited in edited(), renderings in 0..6_usize) {
        let (base, head) = (edited.base.tree(), edited.head.tree());
        for semantics in SEMANTICS {
            let all = compared(&base, &head, semantics, Settings::verified());
            let few = compared(&base, &head, semantics, Attribution::Verified { renderings });
            for (all, few) in all.comparison.edits.iter().zip(&few.comparison.edits) {
                let is_shown = all.proof.is_none() || few.proof.is_some();
                prop_assert!(is_shown, "{:?}: {:?}, {:?}", all.edit, all.proof, few.proof);
            }
        }
    }

    #[test]
    fn side_does_not_differ_from_itself(edited in edited()) {
        let tree = edited.head.tree();
        for semantics in SEMANTICS {
            let compared = compared(&tree, &tree, semantics, Settings::verified());
            prop_assert!(compared.comparison.edits.is_empty());
            prop_assert_eq!(describe_changes(&compared.comparison, false), Vec::<String>::new());
            prop_assert!(compared.findings.new.diagnostics.is_empty());
            prop_assert!(compared.findings.fixed.diagnostics.is_empty());
        }
    }

    #[test]
    fn swapped_sides_mirror_the_changes(edited in edited()) {
        let (base, head) = (edited.base.tree(), edited.head.tree());
        for semantics in SEMANTICS {
            let there = compared(&base, &head, semantics, FOLLOWED);
            let back = compared(&head, &base, semantics, FOLLOWED);
            // Values that are public in the base and secret in the head are hidden in one direction
            // only.
            if there.checked.secrets.len() != back.checked.secrets.len() {
                continue;
            }
            prop_assert_eq!(describe_changes(&there.comparison, false), describe_changes(&back.comparison, true));
            // Only new findings follow from edits, so that others are counted there.
            let rules = |findings: &layercake::triage::Findings| {
                // A secret is exposed in one direction only.
                let both = findings.diagnostics.iter().filter(|it| it.rule.name != "exposed-secret");
                let mut rules: Vec<_> = both.map(|it| (it.rule.name, it.severity)).collect();
                rules.sort_unstable();
                rules
            };
            prop_assert_eq!(rules(&there.findings.new), rules(&back.findings.fixed));
            prop_assert_eq!(rules(&there.findings.fixed), rules(&back.findings.new));
            prop_assert_eq!(there.comparison.edits.len(), back.comparison.edits.len());
        }
    }

    #[test]
    fn outputs_of_unedited_files_do_not_change(edited in edited()) {
        let (base, head) = (edited.base.tree(), edited.head.tree());
        let files = edited_files(&edited);
        for semantics in SEMANTICS {
            let (before, after) = (inputs_of(&base, semantics), inputs_of(&head, semantics));
            let compared = compared(&base, &head, semantics, FOLLOWED);
            let compared_outputs = compared.comparison.outputs.iter();
            for change in compared_outputs.filter(|it| it.status != Status::NotComparable) {
                let site = change.site.as_deref().unwrap_or_default().to_owned();
                let name = (site, change.key.to_string());
                let (Some(before), Some(after)) = (before.get(&name), after.get(&name)) else {
                    continue;
                };
                let is_edited = before.iter().any(|(path, _)| files.contains(path.as_str()));
                prop_assert!(before != after || is_edited, "{}", seen(change, false));
            }
        }
    }

    #[test]
    fn every_change_is_explained(edited in edited()) {
        let (base, head) = (edited.base.tree(), edited.head.tree());
        for semantics in SEMANTICS {
            for by in [FOLLOWED, Settings::verified()] {
                let compared = compared(&base, &head, semantics, by);
                prop_assert_eq!(unexplained(&compared), Vec::<String>::new(), "{:?}", by);
            }
        }
    }

    #[test]
    fn shared_documents_equal_newly_rendered_ones(edited in edited()) {
        let (base, head) = (edited.base.tree(), edited.head.tree());
        for semantics in SEMANTICS {
            let of = |shares_documents| {
                let options = Options { shares_documents, ..Options::of(options(semantics)) };
                let compared = compared_with(&base, &head, options, FOLLOWED);
                format!("{:#?}\n{:#?}", compared.comparison, compared.findings)
            };
            prop_assert_eq!(of(true), of(false));
        }
    }

    #[test]
    fn edits_transform_one_side_into_the_other(edited in edited()) {
        for semantics in SEMANTICS {
            let (sources, files) = Files::of(&edited);
            let _ = sources;
            for site in ["one", "two", "three"] {
                files.check(site, semantics)?;
            }
        }
    }
}

/// Both parsed sides; texts that are equal on both are parsed once.
struct Files {
    files: Vec<File>,
    types: [BTreeMap<String, String>; 2],
}

struct File {
    path: RepoPath,
    place: Option<Place>,
    documents: Vec<Document>,
    /// Sides on which the file exists.
    sides: [bool; 2],
}

impl Files {
    fn of(edited: &Edited) -> (SourceMap, Self) {
        let mut sources = SourceMap::new();
        let mut files: Vec<File> = Vec::new();
        let mut known: BTreeMap<(String, String), usize> = BTreeMap::new();
        let mut types = [BTreeMap::new(), BTreeMap::new()];
        for (side, repository) in [&edited.base, &edited.head].into_iter().enumerate() {
            for (path, text) in &repository.files {
                let parts: Vec<&str> = path.split('/').collect();
                if let ["site", site, "site-definition.yaml"] = parts[..] {
                    let of = text.split("site_type: ").nth(1).map(|rest| {
                        rest.split(['}', '\n', ','])
                            .next()
                            .unwrap_or_default()
                            .to_owned()
                    });
                    types[side].extend(of.map(|of| (site.to_owned(), of)));
                }
                let place = match parts[..] {
                    ["global", ..] => Place::Global,
                    ["type", name, ..] => Place::Type(name.into()),
                    ["site", name, ..] => Place::Site(name.into()),
                    _ => continue,
                };
                let at = *known
                    .entry((path.clone(), text.clone()))
                    .or_insert_with(|| {
                        let path = RepoPath::new(path.as_str());
                        let id = sources.add(Source::new(path.clone(), Ok(text.clone().into())));
                        let documents = documents(id, &sources);
                        files.push(File {
                            path,
                            place: Some(place),
                            documents,
                            sides: [false; 2],
                        });
                        files.len() - 1
                    });
                files[at].sides[side] = true;
            }
        }
        (sources, Self { files, types })
    }

    fn located(&self, wanted: [bool; 2]) -> Vec<Located<'_>> {
        let mut files: Vec<&File> = self.files.iter().filter(|it| it.sides == wanted).collect();
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let located = files.into_iter().flat_map(|file| {
            file.documents
                .iter()
                .enumerate()
                .map(|(index, document)| Located {
                    repository: None,
                    path: &file.path,
                    place: file.place.as_ref(),
                    index,
                    document: Written::Deckhand(document),
                })
        });
        located.collect()
    }

    /// Documents of a side of a site, in their order of precedence.
    fn documents(&self, side: usize, site: &str) -> Vec<&Document> {
        let site_type = self.types[side].get(site).cloned().unwrap_or_default();
        let mut files: Vec<&File> = self.files.iter().filter(|file| file.sides[side]).collect();
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let counts = |file: &&File| match &file.place {
            Some(Place::Type(name)) => **name == *site_type,
            Some(Place::Site(name)) => **name == *site,
            Some(Place::Global) | None => true,
        };
        files
            .into_iter()
            .filter(counts)
            .flat_map(|file| &file.documents)
            .collect()
    }

    /// Checks that no edits give the base, all edits give the head, and incremental rendering
    /// equals full rendering.
    fn check(&self, site: &str, semantics: Semantics) -> Result<(), TestCaseError> {
        let unedited = self.located([true, true]);
        let (base, head) = (self.located([true, false]), self.located([false, true]));
        let edits = edits(base, head, &unedited, Vec::new(), &ListKeys::default());
        let membership = |side: usize| {
            let site_type = self.types[side].get(site)?;
            Some(Membership {
                scope: SiteScope {
                    site: Some(site.into()),
                    site_type: Some(site_type.as_str().into()),
                },
                repositories: Vec::new(),
                parts: BTreeSet::new(),
            })
        };
        let definition = RepoPath::new(format!("site/{site}/site-definition.yaml"));
        let pair = SitePair {
            base: membership(0),
            head: membership(1),
            definition: edits.of_definition(&definition),
            unedited: &unedited,
        };
        if pair.base.is_none() || pair.head.is_none() {
            return Ok(());
        }
        let sides = [0, 1].map(|side| Made::new(site, self.documents(side, site), semantics));
        for (at, side) in sides.iter().enumerate() {
            let versions = applied(&edits, &pair, &|_| at == 1);
            let made = Made::new(
                site,
                versions.iter().filter_map(of_deckhand).collect(),
                semantics,
            );
            prop_assert_eq!(made.summary(), side.summary(), "side {}", at);
        }
        sides[1].check_related(&sides[0])?;
        sides[0].check_related(&sides[1])?;
        let table = Table::default();
        for side in &sides {
            side.check_same(&side.again(&table, Matching::Texts), Spans::Compared)?;
            side.check_taken(&side.again(&table, Matching::Texts))?;
        }
        for number in 0..edits.edits.len() {
            let versions = applied(&edits, &pair, &|edit| edit.index() == number);
            let documents: Vec<&Document> = versions.iter().filter_map(of_deckhand).collect();
            let made = Made::new(site, documents, semantics);
            made.check_related(&sides[1])?;
            made.check_same(&made.again(&table, Matching::Values), Spans::Ignored)?;
            made.check_same(&made.again(&table, Matching::Texts), Spans::Compared)?;
        }
        Ok(())
    }
}

fn applied<'a>(
    edits: &Edits<'a>,
    pair: &SitePair<'a>,
    chosen: &dyn Fn(layercake::edit::EditId) -> bool,
) -> Vec<DocumentVersion<'a>> {
    let versions = edits
        .apply(pair, chosen, &mut KnownTexts::default())
        .into_iter();
    versions.map(|(_, version)| version).collect()
}

fn documents(id: FileId, sources: &SourceMap) -> Vec<Document> {
    let text = sources.get(id).text();
    let parsed = parse(id, text);
    let mut known = KnownTexts::default();
    let documents = parsed.documents.iter().filter_map(|document| {
        let kinds = SecretKinds::default();
        let around = Surroundings {
            kinds: &kinds,
            folder: Folder::Other,
            problems: &[],
        };
        match read(document, text, &mut known, around) {
            Reading::Document(document) => Some(*document),
            Reading::Nothing(_) => None,
        }
    });
    documents.collect()
}

/// Whether spans of values are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spans {
    Compared,
    Ignored,
}

/// A rendered site.
struct Made<'a> {
    documents: Vec<&'a Document>,
    options: DeckhandOptions,
    site: Site<'a>,
    graph: Graph,
    rendered: Rendered,
}

impl<'a> Made<'a> {
    fn new(name: &str, documents: Vec<&'a Document>, semantics: Semantics) -> Self {
        let options = options(semantics);
        let mut site = Site::new(Some(name.into()), documents.clone(), &options);
        let graph = site.to_graph(&options);
        let rendered = render(&graph);
        Self {
            documents,
            options,
            site,
            graph,
            rendered,
        }
    }

    /// Checks that relations reused from an earlier site equal newly computed ones.
    fn check_related(&self, earlier: &Made<'_>) -> Result<(), TestCaseError> {
        let documents = &self.documents;
        let Some((site, graph)) = earlier.site.again(&earlier.graph, documents, &self.options)
        else {
            return Ok(());
        };
        prop_assert_eq!(
            describe_relations(&site, &graph),
            describe_relations(&self.site, &self.graph)
        );
        Ok(())
    }

    /// Renders the site again, reusing documents from a table.
    fn again(&self, table: &Table, matching: Matching) -> Rendered {
        render_with(&self.graph, (&[table], matching), Extent::All)
    }

    /// Checks that a document was reused unless it or one of its inputs has a problem.
    fn check_taken(&self, again: &Rendered) -> Result<(), TestCaseError> {
        for (doc, recipe) in self.graph.iter() {
            let needed = self.graph.closure(vec![doc]);
            let has_problem = again
                .problems
                .iter()
                .any(|problem| needed[problem.doc.index()]);
            prop_assert!(again.is_taken(doc) || has_problem, "{}", recipe.key);
        }
        Ok(())
    }

    /// Rendered documents and their problems.
    fn summary(&self) -> Vec<String> {
        let mut lines: Vec<String> = self
            .graph
            .iter()
            .map(|(doc, recipe)| {
                let data = self.rendered.data(doc).map(canonical);
                let problems = self.problems(&self.rendered, doc);
                format!("{} {} {data:?} {problems:?}", recipe.key, recipe.emit)
            })
            .collect();
        lines.sort();
        lines
    }

    fn problems(&self, rendered: &Rendered, doc: DocId) -> Vec<String> {
        let of = |problem: &&Problem| problem.doc == doc;
        let kinds = |problems: &mut dyn Iterator<Item = &Problem>| -> Vec<String> {
            problems
                .map(|it| format!("{:?}", std::mem::discriminant(&it.kind)))
                .collect()
        };
        let found = kinds(&mut rendered.problems_of(doc).iter());
        assert_eq!(found, kinds(&mut rendered.problems.iter().filter(of)));
        found
    }

    fn check_same(&self, again: &Rendered, places: Spans) -> Result<(), TestCaseError> {
        for (doc, recipe) in self.graph.iter() {
            let (anew, again_data) = (self.rendered.data(doc), again.data(doc));
            prop_assert_eq!(
                anew.map(canonical),
                again_data.map(canonical),
                "{}",
                recipe.key
            );
            prop_assert_eq!(
                self.problems(&self.rendered, doc),
                self.problems(again, doc)
            );
            let all = |node: Option<&Node>| {
                let mut all = Vec::new();
                if let Some(node) = node {
                    spans(node, &mut all);
                }
                all
            };
            if places == Spans::Compared {
                prop_assert_eq!(all(anew), all(again_data), "{}", recipe.key);
            }
        }
        Ok(())
    }
}

/// Base and named causes give the head, no edit without effect has one, and every edit that has an
/// effect on an output is named. Limits of work are not reached.
#[test]
fn causes_are_those_that_rendering_shows() {
    let steps = if is_thorough() { 2_000 } else { 150 };
    let mut runner = TestRunner::new_with_rng(config(1), rng());
    let mut faults = Vec::new();
    for step in 0..steps {
        let edited = edited()
            .new_tree(&mut runner)
            .expect("edits can be made")
            .current();
        let (base, head) = (edited.base.tree(), edited.head.tree());
        for semantics in SEMANTICS {
            let compared = compared(&base, &head, semantics, Settings::verified());
            let undecided = compared
                .comparison
                .edits
                .iter()
                .filter(|reach| reach.is_undecided());
            assert_eq!(undecided.count(), 0, "step {step}");
            let found = compared.comparison.faults.iter();
            faults.extend(found.map(|fault| format!("step {step}, {semantics:?}: {fault:?}")));
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn generated_edits_have_effects() {
    // Most edits have an effect, and every status occurs.
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut statuses = BTreeMap::<&str, usize>::new();
    let mut joint = 0;
    for _ in 0..200 {
        let edited = edited()
            .new_tree(&mut runner)
            .expect("edits can be made")
            .current();
        let (base, head) = (edited.base.tree(), edited.head.tree());
        let compared = compared(&base, &head, Semantics::Documented, FOLLOWED);
        for change in &compared.comparison.outputs {
            *statuses.entry(change.status.as_str()).or_default() += 1;
            joint += change
                .causes
                .iter()
                .filter(|cause| !cause.joint.is_empty())
                .count();
        }
    }
    for status in Status::ALL {
        assert!(
            statuses
                .get(status.as_str())
                .is_some_and(|count| *count > 2),
            "{statuses:?}"
        );
    }
    assert!(joint > 10, "{joint} joint causes");
}

fn of_deckhand<'v>(version: &'v DocumentVersion<'_>) -> Option<&'v Document> {
    version.document().deckhand()
}

/// Random numbers of the seed in `PROPTEST_RNG_SEED`, or of a fixed one.
fn rng() -> TestRng {
    let number = std::env::var("PROPTEST_RNG_SEED").ok();
    let number: u64 = number.map_or(0, |number| number.parse().expect("a number"));
    let seed = [number.to_le_bytes(); 4].concat();
    TestRng::from_seed(RngAlgorithm::ChaCha, &seed)
}
