//! The largest public site repository split in two: one repository has only `global/`, the other
//! has `site/` and `type/`, and its site definitions pin the first. Every recorded commit renders
//! as recorded, and every recorded pair changes as recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use layercake::check::{Checked, Compared, RunControl, Settings, check, compare};
use layercake::commands::compare::SitesToRead;
use layercake::commands::configuration::SemanticsFlags;
use layercake::commands::sides::{Environment, SideSelection, choose};
use layercake::commands::{BaselineChoice, Project, Selection};
use layercake::compare::{Attribution, Proof};
use layercake::graph::MissingSource;
use layercake::merge::deckhand::Semantics;
use layercake::source::Repository;
use serde_json::{Value as Json, json};

use super::CaseOrigin;
use super::pairs::{FEW_EDITS, differences, pairs, verified};
use super::treasuremap::{HEAD, Outputs, Treasuremap, assert_hashes, outputs};
use crate::git::scrub;
use crate::repositories::alone::assert_sites_are_as_alone;
use crate::support::sample::is_thorough;

const DEFINITION: &str = "pegleg/SiteDefinition/v1";

/// Tag of a commit in which each site pins another recorded commit.
const MIXED: &str = "mixed";

/// The recorded repository, and the two derived ones, each with a commit and a tag for every
/// recorded commit.
struct Split {
    whole: Treasuremap,
    /// Recorded commits, parents first, each with the other commit of its recorded pair.
    commits: Vec<(String, Option<String>)>,
    /// Names of all sites in any recorded commit.
    sites: BTreeSet<String>,
}

/// Name of a recorded commit in both repositories.
fn tag(commit: &str) -> String {
    format!("c-{}", &commit[..10])
}

#[test]
#[ignore = "needs the recorded corpus"]
fn split_repositories_have_the_recorded_files() {
    let split = Split::make();
    for (commit, parent) in &split.commits {
        let tag = tag(commit);
        let whole = split.whole.path();
        let tree = |folder| {
            text(git(
                &whole,
                &["rev-parse", &format!("{commit}:{folder}")],
                "",
            ))
        };
        let listed = |path: &Path| text(git(path, &["ls-tree", &tag], ""));
        let global = format!("040000 tree {}\tglobal\n", tree("global").trim());
        assert_eq!(listed(&split.global()), global, "{commit}");
        let listed = listed(&split.sites());
        let [site, types] = &listed.lines().collect::<Vec<_>>()[..] else {
            panic!("{listed}")
        };
        assert!(site.ends_with("\tsite"), "{listed}");
        assert_eq!(*types, format!("040000 tree {}\ttype", tree("type").trim()));

        let split_site = format!("refs/split/sites/{tag}:site");
        let diff = [
            "diff-tree",
            "-r",
            "--diff-filter=ACDMRT",
            &format!("{commit}:site"),
            &split_site,
        ];
        let diff = text(git(&whole, &diff, ""));
        let definitions = diff.lines().map(|line| {
            let (ids, path) = line.split_once('\t').expect("a path");
            assert!(path.ends_with("/site-definition.yaml"), "{commit}: {path}");
            ids.split(' ').collect::<Vec<_>>()[2..4].join("\n") + "\n"
        });
        let ids: String = definitions.collect();
        let texts = split.blobs(&ids);
        for texts in texts.chunks(2) {
            assert_eq!(texts[1].replace(&pin(&tag), ""), texts[0], "{commit}");
            assert_eq!(texts[1].len(), texts[0].len() + pin(&tag).len(), "{commit}");
        }
        let names = git(
            &whole,
            &["ls-tree", "-d", "--name-only", &format!("{commit}:site")],
            "",
        );
        assert_eq!(
            texts.len() / 2,
            text(names).lines().count(),
            "{commit}: all are pinned"
        );
        if let Some(parent) = parent {
            for path in [split.global(), split.sites()] {
                let ids = [format!("{tag}^"), self::tag(parent)];
                let ids = ids.map(|id| git(&path, &["rev-parse", &id], ""));
                assert_eq!(ids[0], ids[1], "{commit}");
            }
        }
    }
}

#[test]
#[ignore = "needs the recorded corpus"]
fn every_recorded_commit_renders_at_its_pins_as_recorded() {
    let split = Split::make();
    split.assert_renders(|_| format!("global={}", split.global().display()));
}

#[test]
#[ignore = "needs the recorded corpus"]
fn every_recorded_commit_renders_at_a_given_revision_as_recorded() {
    let split = Split::make();
    split.assert_renders(|tag| format!("global={}@{tag}", split.global().display()));
}

/// One commit moves `site/`, `type/` and the pins.
#[test]
#[ignore = "needs the recorded corpus"]
fn every_recorded_pair_changes_as_recorded_when_pins_move() {
    let split = Split::make();
    let given = format!("global={}", split.global().display());
    let mut wrong = Vec::new();
    for pair in &pairs() {
        let compared = split.compare(pair, &given, Attribution::Followed { renderings: 10 });
        wrong.extend(differences(&with_pins(pair), &compared));
        if is_thorough() || compared.comparison.edits.len() <= FEW_EDITS {
            let compared = split.compare(pair, &given, verified().attribution);
            wrong.extend(differences(&with_pins(pair), &compared));
            let unproven = compared.comparison.edits.iter();
            let unproven = unproven.filter(|reach| reach.proof == Some(Proof::Followed));
            wrong.extend(unproven.map(|reach| format!("not proven: {:?}", reach.edit)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// For pairs without an edit in `global/`.
#[test]
#[ignore = "needs the recorded corpus"]
fn given_revision_applies_to_both_sides_of_a_pair() {
    let split = Split::make();
    let is_global = |path: &Json| {
        path.as_str()
            .is_some_and(|path| path.starts_with("global/"))
    };
    let mut pairs = CaseOrigin::Corpus.cases("treasuremap/pairs.json");
    pairs.retain(|pair| {
        let mut files = pair["files"].as_array().expect("files").iter();
        !files.any(|file| is_global(&file["path"]) || is_global(&file["old_path"]))
    });
    assert!(pairs.len() >= 20, "{}", pairs.len());
    for pair in &pairs {
        let commit = pair["commit"].as_str().expect("a commit");
        let given = format!("global={}@{}", split.global().display(), tag(commit));
        let compared = split.compare(pair, &given, verified().attribution);
        assert_eq!(
            differences(&with_pins(pair), &compared),
            Vec::<String>::new()
        );
    }
}

#[test]
#[ignore = "needs the recorded corpus"]
fn sites_at_different_pins_are_reported_as_each_alone() {
    let split = Split::make();
    split.assert_alone(&format!("global={}", split.global().display()));
}

#[test]
#[ignore = "needs the recorded corpus"]
fn sites_at_a_given_revision_are_reported_as_each_alone() {
    let split = Split::make();
    let (commit, _) = split.commits.last().expect("commits are recorded");
    split.assert_alone(&format!(
        "global={}@{}",
        split.global().display(),
        tag(commit)
    ));
}

/// Recorded pair in which each site definition also changes, since its pin moves.
fn with_pins(pair: &Json) -> Json {
    let mut pair = pair.clone();
    for (name, site) in pair["sites"].as_object_mut().expect("sites") {
        if site["site"].is_null() {
            let changed = site["changed"].as_array_mut();
            let row = json!([DEFINITION, name]);
            match changed {
                Some(rows) if rows.contains(&row) => {}
                Some(rows) => rows.push(row),
                None => site["changed"] = json!([row]),
            }
        }
    }
    pair
}

/// Lines of a site definition that pin the other repository.
fn pin(tag: &str) -> String {
    format!(
        "  repositories:\n    global:\n      url: https://example.org/global\n      revision: {tag}\n"
    )
}

/// A recorded site definition with a pin at the end of `data`, which is its last key.
fn pinned(definition: &str, tag: &str) -> String {
    let body = definition.strip_suffix("...\n").unwrap_or(definition);
    let (_, data) = body.split_once("\ndata:\n").expect("a definition has data");
    assert!(
        data.lines().all(|line| line.starts_with("  ")),
        "{definition}"
    );
    format!("{body}{}{}", pin(tag), &definition[body.len()..])
}

impl Split {
    fn make() -> Self {
        let pairs = CaseOrigin::Corpus.cases("treasuremap/pairs.json");
        let whole = Treasuremap::clone();
        let mut parents: BTreeMap<String, Option<String>> = BTreeMap::new();
        let mut sites = BTreeSet::new();
        for pair in &pairs {
            let [commit, parent] =
                ["commit", "parent"].map(|key| pair[key].as_str().expect("a commit").to_owned());
            parents.entry(parent.clone()).or_default();
            parents.insert(commit, Some(parent));
            sites.extend(pair["sites"].as_object().expect("sites").keys().cloned());
        }
        for path in whole.recorded_commits() {
            let commit = path
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            parents.entry(commit).or_default();
        }
        let order = git(
            &whole.path(),
            &["rev-list", "--topo-order", "--reverse", HEAD],
            "",
        );
        let commits = text(order)
            .lines()
            .filter_map(|commit| parents.remove_entry(commit))
            .collect::<Vec<_>>();
        assert!(
            parents.is_empty(),
            "recorded commits are in the history of {HEAD}"
        );
        let split = Self {
            whole,
            commits,
            sites,
        };
        split.import();
        split
    }

    fn global(&self) -> PathBuf {
        self.whole.path().with_file_name("global.git")
    }

    fn sites(&self) -> PathBuf {
        self.whole.path().with_file_name("sites.git")
    }

    /// Creates both repositories from existing trees; only site definitions are new.
    fn import(&self) {
        let whole = self.whole.path();
        let paths = ["global", "type", "site"].map(str::to_owned).into_iter();
        let definitions = self
            .sites
            .iter()
            .map(|site| format!("site/{site}/site-definition.yaml"));
        let paths: Vec<String> = paths.chain(definitions).collect();
        let asked: String = self
            .commits
            .iter()
            .flat_map(|(commit, _)| paths.iter().map(move |path| format!("{commit}:{path}\n")))
            .collect();
        let ids = text(git(
            &whole,
            &["cat-file", "--batch-check=%(objectname)"],
            &asked,
        ));
        let ids: Vec<&str> = ids.lines().collect();
        let definitions: BTreeSet<&str> = ids
            .chunks(paths.len())
            .flat_map(|ids| &ids[3..])
            .filter(|id| !id.ends_with(" missing"))
            .copied()
            .collect();
        let asked: String = definitions.iter().map(|id| format!("{id}\n")).collect();
        let texts: BTreeMap<&str, String> =
            definitions.into_iter().zip(self.blobs(&asked)).collect();

        let mut stream = String::new();
        for (at, ((commit, parent), ids)) in
            self.commits.iter().zip(ids.chunks(paths.len())).enumerate()
        {
            let is_parent = |(commit, _): &(String, _)| Some(commit) == parent.as_ref();
            let from = self.commits.iter().position(is_parent);
            let tag = tag(commit);
            stream += &commit_header("global", &tag, at, from.map(|at| 2 * at + 1), 2 * at + 1);
            stream += &format!("M 040000 {} global\n\n", ids[0]);
            stream += &commit_header("sites", &tag, at, from.map(|at| 2 * at + 2), 2 * at + 2);
            stream += &format!("M 040000 {} type\nM 040000 {} site\n", ids[1], ids[2]);
            stream += &definitions_at(&paths[3..], &ids[3..], &texts, |_| tag.clone());
        }
        // The sites of the last commit, each with a different pin.
        let last = self.commits.len() - 1;
        stream += &commit_header("sites", MIXED, last, Some(2 * last + 2), 2 * last + 3);
        let spread = |site: usize| tag(&self.commits[last - 12 * site].0);
        let ids = ids
            .chunks(paths.len())
            .next_back()
            .expect("commits are recorded");
        stream += &definitions_at(&paths[3..], &ids[3..], &texts, spread);
        git(&whole, &["fast-import", "--quiet"], &stream);

        for (name, path) in [("global", self.global()), ("sites", self.sites())] {
            let path = path.display().to_string();
            git(
                &whole,
                &["init", "--quiet", "--bare", "--initial-branch=main", &path],
                "",
            );
            let refs = format!("refs/split/{name}/*:refs/tags/*");
            git(&whole, &["push", "--quiet", &path, &refs], "");
        }
    }

    /// Text of the files with these ids, one a line.
    fn blobs(&self, ids: &str) -> Vec<String> {
        let read = text(git(&self.whole.path(), &["cat-file", "--batch"], ids));
        let mut rest = read.as_str();
        let mut texts = Vec::new();
        while let Some((header, after)) = rest.split_once('\n') {
            let size = header.rsplit(' ').next().expect("a header has a size");
            let (text, after) = after.split_at(size.parse().expect("a size"));
            texts.push(text.to_owned());
            rest = &after[1..];
        }
        texts
    }

    fn selection(&self, given: &str) -> Selection {
        Selection {
            repositories: vec![given.to_owned()],
            meaning: SemanticsFlags {
                semantics: Some(Semantics::Deckhand),
                missing_source: Some(MissingSource::Warning),
            },
            baseline: BaselineChoice::Nothing,
            ..Selection::of(self.sites())
        }
    }

    fn check(&self, commit: &str, given: &str) -> Checked<Outputs> {
        let selection = Selection {
            revision: Some(tag(commit)),
            ..self.selection(given)
        };
        let project = Project::open(&selection).unwrap_or_else(|it| panic!("{commit}: {it}"));
        let control = RunControl::default();
        check(&project.plan(&control), outputs).expect("the commit can be checked")
    }

    /// Every recorded commit renders to the recorded documents, except for the site definitions.
    fn assert_renders(&self, given: impl Fn(&str) -> String) {
        for path in self.whole.recorded_commits() {
            let record = fs::read_to_string(&path).expect("a record can be read");
            let record: Json = serde_json::from_str(&record).expect("a record is JSON");
            let commit = record["commit"].as_str().expect("a commit");
            let checked = self.check(commit, &given(&tag(commit)));
            let expected = record["sites"].as_object().expect("sites");
            let names: Vec<&str> = checked
                .sites
                .iter()
                .filter_map(|site| site.name.as_deref())
                .collect();
            assert_eq!(
                names,
                expected.keys().map(String::as_str).collect::<Vec<_>>(),
                "{commit}"
            );
            for site in checked.sites {
                let name = site.name.as_deref().expect("a site has a name");
                let mut actual = site.taken.expect("no fault in layercake");
                let count = actual.len();
                actual.retain(|([schema, ..], _)| schema != DEFINITION);
                assert_eq!(
                    actual.len() + 1,
                    count,
                    "{commit} {name}: one is its definition"
                );
                let rows = expected[name]["documents"].as_array().expect("documents");
                let rows = rows
                    .iter()
                    .filter(|row| row[0] != DEFINITION)
                    .cloned()
                    .collect();
                let what = format!("{commit} {name}");
                assert_hashes(&what, &actual, &Json::Array(rows), &BTreeSet::new());
            }
        }
    }

    fn compare(&self, pair: &Json, given: &str, attribution: Attribution) -> Compared {
        let repository = Repository::discover_further(&self.sites()).expect("it can be opened");
        let repository = repository.expect("it is a repository");
        let [from, to] = ["parent", "commit"].map(|key| pair[key].as_str().map(tag));
        let wanted = SideSelection {
            from,
            to,
            ..SideSelection::default()
        };
        let sides = choose(&repository, &wanted, &Environment::default());
        let sides = sides.expect("both are there").expect("two sides are named");
        let project = Project::open_sides(
            &self.selection(given),
            &repository,
            &sides,
            SitesToRead::All,
        );
        let project = project.unwrap_or_else(|error| panic!("{sides:?}: {error}"));
        let control = RunControl::default();
        let settings = Settings {
            attribution,
            ..Settings::default()
        };
        compare(&project.plan(&control), &settings).expect("two commits can be compared")
    }

    /// Each site of the commit with different pins has the same report as in a separate run.
    fn assert_alone(&self, given: &str) {
        let run = |verb: &[&str], more: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_layercake"));
            scrub(&mut command);
            command
                .args(verb)
                .args(["--repository", given])
                .args(more)
                .current_dir(self.sites());
            crate::cli::Ran::of(&command.output().expect("the program runs"))
        };
        assert_sites_are_as_alone(&run, &["render", "--format", "json", "--rev", MIXED]);
        let lint = [
            "lint",
            "-o",
            "json",
            "--all-findings",
            "--exit-zero",
            "--rev",
            MIXED,
        ];
        assert_sites_are_as_alone(&run, &lint);
        let (last, _) = self.commits.last().expect("commits are recorded");
        let diff = ["diff", &tag(last), MIXED, "-o", "json", "--exit-zero"];
        assert_sites_are_as_alone(&run, &diff);
    }
}

/// Start of a commit in the stream that `git fast-import` reads.
fn commit_header(name: &str, tag: &str, at: usize, from: Option<usize>, mark: usize) -> String {
    let from = from
        .map(|mark| format!("from :{mark}\n"))
        .unwrap_or_default();
    format!(
        "commit refs/split/{name}/{tag}\nmark :{mark}\ncommitter Tester <tester@example.org> {} \
         +0000\ndata 5\nstate\n{from}",
        1_600_000_000 + 60 * at
    )
}

/// Site definitions in the stream that `git fast-import` reads, each pinned to a tag.
fn definitions_at(
    paths: &[String],
    ids: &[&str],
    texts: &BTreeMap<&str, String>,
    tag: impl Fn(usize) -> String,
) -> String {
    let there = paths
        .iter()
        .zip(ids)
        .filter_map(|(path, id)| Some((path, texts.get(id)?)));
    let files = there.enumerate().map(|(at, (path, text))| {
        let text = pinned(text, &tag(at));
        format!("M 100644 inline {path}\ndata {}\n{text}\n", text.len())
    });
    files.collect::<String>() + "\n"
}

/// Output of git in a repository, given this input.
fn git(repository: &Path, arguments: &[&str], input: &str) -> Vec<u8> {
    let path = repository.with_file_name("input");
    fs::write(&path, input).expect("the folder can be written");
    let mut git = Command::new("git");
    scrub(&mut git);
    git.current_dir(repository)
        .args(arguments)
        .stderr(Stdio::inherit());
    git.stdin(File::open(&path).expect("the file was written"));
    let output = git.output().expect("git runs");
    assert!(output.status.success(), "{arguments:?}");
    output.stdout
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("git prints UTF-8")
}
