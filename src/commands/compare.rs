//! Common code of `lint` with a comparison and `diff`: chooses, opens and compares two sides, and
//! applies the gates.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::configuration::{self, ConfigurationSource, FoundConfiguration};
use super::documents::DocumentGlobs;
use super::repositories::Bump;
use super::sides::{self, ChosenSide, Environment, SideSelection};
use super::{Project, Selection, globs, query};
use crate::ask::query::{ValueQuery, changed_images};
use crate::check::{self, Compared, ComparedWith, Plan, RunControl, Settings, TakenBySite};
use crate::compare::reach::Comparison;
use crate::config::Config;
use crate::deployment::{Action, Caution};
use crate::diagnostic::Level;
use crate::error::Error;
use crate::report::answer::query::{QueriedValue, QueryRow};
use crate::report::model::{self, SideKind};
use crate::rules::{ExpectedUnchanged, Gates, LevelledCaution, Limit, report_faults, report_reach};
use crate::source::{DocKey, Repository, SharedTree, Spanned, WorkTree};
use crate::stopwatch::{Stage, time};
use crate::system::edits::moves_pin;

/// Request for a comparison.
#[derive(Clone, Debug, Default)]
pub struct ComparisonRequest {
    /// Selection of the two sides.
    pub wanted: SideSelection,
    /// Environment, for detecting the sides.
    pub environment: Environment,
    /// Whether to verify every cause by rendering.
    pub verify: Verify,
    /// Maximum number of sites in which an edit may change outputs.
    pub max_sites: Option<usize>,
    /// Maximum number of outputs that an edit may change.
    pub max_outputs: Option<usize>,
    /// Keys that match list items, in addition to `name` and `id`.
    pub list_keys: Vec<String>,
    /// Largest action that an edit may ask for.
    pub max_action: Option<Action>,
    /// Cautions that fail the run.
    pub fail_on_cautions: Vec<Caution>,
    /// Globs of outputs that must not change.
    pub expect_unchanged: Option<Vec<String>>,
    /// Whether to leave out documents that only Armada reads, and that no action deploys.
    pub deployed: bool,
    /// Filter for outputs.
    pub documents: DocumentGlobs,
}

/// Whether to check the causes of all changes, and the edits without effect, by rendering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// Render only to find causes.
    #[default]
    Nothing,
    /// Check all of them.
    All,
}

/// Result of a comparison, with its sides.
#[derive(Debug)]
pub struct ComparisonOutcome {
    /// Result of the comparison.
    pub compared: Compared,
    /// Images that it changed.
    pub images: model::ImageChanges,
    /// Repository.
    pub repository: model::ReportedRepository,
    /// The two sides.
    pub sides: model::ReportedComparison,
    /// Number of outputs on the head side.
    pub outputs: usize,
    /// Configuration in effect.
    pub configured: FoundConfiguration,
    /// Filter for outputs.
    pub documents: DocumentGlobs,
    /// Whether documents that only Armada reads, and that no action deploys, are left out.
    pub deployed: bool,
}

/// Sites that a comparison reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SitesToRead {
    /// All requested sites, to list their unchanged findings.
    All,
    /// Sites that the edits can reach, if new findings and changes follow from these.
    Reached,
}

/// Compares what the selection names. `None` if no comparison is requested, or the environment gives
/// no two sides.
///
/// # Errors
/// If the sides cannot be determined or read, or another step fails.
pub fn run(
    selection: &Selection,
    request: &ComparisonRequest,
    reading: SitesToRead,
    control: &RunControl,
) -> Result<Option<ComparisonOutcome>, Error> {
    let opened = open(selection, &request.wanted, &request.environment, reading)?;
    let outcome = opened
        .map(|opened| compared(opened, request, control))
        .transpose()?;
    match outcome {
        Some(outcome) if outcome.compared.depends_on_others => {
            run(selection, request, SitesToRead::All, control)
        }
        outcome => Ok(outcome),
    }
}

/// As [`run`], in a known repository, ignoring the one in the environment.
///
/// # Errors
/// As [`run`].
pub(crate) fn run_in(
    repository: Repository,
    selection: &Selection,
    request: &ComparisonRequest,
    control: &RunControl,
) -> Result<Option<ComparisonOutcome>, Error> {
    let (wanted, environment) = (&request.wanted, &request.environment);
    let opened = open_in(repository, selection, wanted, environment, SitesToRead::All)?;
    opened
        .map(|opened| compared(opened, request, control))
        .transpose()
}

/// Compares two opened sides.
fn compared(
    opened: Opened,
    request: &ComparisonRequest,
    control: &RunControl,
) -> Result<ComparisonOutcome, Error> {
    let Opened {
        repository,
        chosen,
        project,
    } = opened;
    let config = &project.configured.config;
    let gates = against(&chosen.from, gates(request, config)?);
    let plan = project.plan(control);
    let before = match chosen.from {
        ChosenSide::Nothing => ComparedWith::Nothing,
        ChosenSide::Commit { .. } | ChosenSide::Index | ChosenSide::WorkTree => ComparedWith::Base,
    };
    let settings = Settings {
        before,
        ..settings(request, config)
    };
    let (mut compared, images) = compared_outputs(&plan, &settings, request, config)?;
    let off = levels(request, config).into_iter();
    let off = off.filter(|(_, (level, _))| *level == Level::Off);
    compared
        .consequences
        .without(&off.map(|(caution, _)| caution).collect());
    let deployed = request.deployed || config.reach.deployed;
    if deployed {
        compared.keep_deployed();
    }
    project
        .repositories
        .add_history(&mut compared.checked.repositories);
    if !chosen.bumps.is_empty() {
        compared.leave_out(&moves_pin);
    }
    for (edit, finding) in report_reach(&compared.comparison, &compared.consequences, &gates) {
        let path = compared.checked.sources.path_of(finding.primary.span);
        if let Some(finding) = plan.options.policy.levelled(finding, path.as_str(), None) {
            compared.add_gated(finding, edit);
        }
    }
    for finding in report_faults(&compared.comparison) {
        compared.add_gated(finding, None);
    }
    let sides = model::ReportedComparison {
        base: side(
            &repository,
            &chosen.from,
            pins(&chosen.bumps, |bump| bump.base.as_deref()),
        )?,
        head: side(
            &repository,
            &chosen.to,
            pins(&chosen.bumps, |bump| Some(&bump.head)),
        )?,
        chosen_by: chosen.chosen.code.to_owned(),
        reason: chosen.chosen.sentence.clone(),
        shallow: repository.is_shallow(),
        edited_files: compared.edited_files.len(),
        limited: project.is_limited() || !request.documents.is_empty() || deployed,
        linted: true,
        added_ignores: compared.findings.added_ignores,
    };
    let described = describe_repository(&repository);
    let images = reported_images(images, &compared.comparison);
    let outputs = compared.checked.sites.iter().map(|site| site.outputs).sum();
    let configured = project.configured;
    let documents = request.documents.clone();
    Ok(ComparisonOutcome {
        compared,
        images,
        repository: described,
        sides,
        outputs,
        configured,
        documents,
        deployed,
    })
}

/// Compares the outputs of the requested documents; also returns changed images, by site.
fn compared_outputs(
    plan: &Plan,
    settings: &Settings,
    request: &ComparisonRequest,
    config: &Config,
) -> Result<(Compared, ImagesOfSites), Error> {
    let documents = &request.documents;
    let filter = documents.matcher()?;
    let query = query::images(config);
    let images = query.as_ref().map(ValueQuery::new);
    let taken = TakenBySite::new();
    let mut compared = check::compare_with(plan, settings, &|both| {
        let changed = images.as_ref().map(|images| changed_images(images, both));
        let sides = both.base.iter().chain(&both.head);
        let outputs = sides.flat_map(|side| side.graph.outputs());
        let asked = outputs.filter(|_| !documents.is_empty());
        let asked: Vec<DocKey> = asked.map(|(_, recipe)| recipe.key.clone()).collect();
        if let Some(site) = both.named() {
            taken.add(site, (asked, changed.unwrap_or_default()));
        }
    })?;
    let mut known = BTreeSet::new();
    let mut images = ImagesOfSites::new();
    for (site, (asked, changed)) in taken.into_sites() {
        known.extend(asked);
        images.push((site, changed));
    }
    if !documents.is_empty() {
        let matched = documents.ensure_matched("rendered document", &known);
        // The documents of unread files are unknown.
        if compared.without_rules().new.diagnostics.is_empty() {
            matched?;
        }
        compared.keep_outputs(&|key| filter.matches(key));
    }
    Ok((compared, images))
}

/// Rows of images, by site.
type ImagesOfSites = Vec<(Option<Arc<str>>, Vec<QueryRow<'static>>)>;

/// Changes of images in outputs that are reported, with their users.
fn reported_images(images: ImagesOfSites, comparison: &Comparison) -> model::ImageChanges {
    let outputs = comparison.outputs.iter();
    let reported: BTreeSet<_> = outputs.map(|output| (&output.site, &output.key)).collect();
    let mut changes = model::ImageChanges::new();
    for (site, rows) in images {
        for row in rows {
            if reported.contains(&(&site, &row.document)) {
                let users = changes.entry(row.texts(QueriedValue::text)).or_default();
                users.insert((row.document.name.clone(), site.clone()));
            }
        }
    }
    changes
}

/// The earlier side of a comparison with the working tree, with its files.
///
/// # Errors
/// Outside of a git repository, or if the side cannot be determined or read.
pub(crate) fn base_side(
    selection: &Selection,
    wanted: &SideSelection,
) -> Result<(SharedTree, ChosenSide), Error> {
    let nothing = || Error::git("missing revision to compare with");
    let repository = repository(selection.start(), wanted)?.ok_or_else(nothing)?;
    let sides = sides::choose(&repository, wanted, &Environment::default())?.ok_or_else(nothing)?;
    Ok((sides::open(&repository, &sides.from)?, sides.from))
}

/// Two sides that were opened.
pub(super) struct Opened {
    repository: Repository,
    pub(super) chosen: sides::ChosenSides,
    pub(super) project: Project,
}

/// Opens the two requested sides. `None` if no comparison is requested, or the environment gives no
/// two sides.
pub(super) fn open(
    selection: &Selection,
    wanted: &SideSelection,
    environment: &Environment,
    reading: SitesToRead,
) -> Result<Option<Opened>, Error> {
    match time(Stage::Start, || repository(selection.start(), wanted))? {
        Some(repository) => open_in(repository, selection, wanted, environment, reading),
        None => Ok(None),
    }
}

fn open_in(
    repository: Repository,
    selection: &Selection,
    wanted: &SideSelection,
    environment: &Environment,
    reading: SitesToRead,
) -> Result<Option<Opened>, Error> {
    time(Stage::Start, || {
        let environment = with_base(&repository, selection, wanted, environment)?;
        let Some(chosen) = sides::choose(&repository, wanted, &environment)? else {
            return Ok(None);
        };
        let project = Project::open_sides(selection, &repository, &chosen, reading)?;
        Ok(Some(Opened {
            repository,
            chosen,
            project,
        }))
    })
}

/// The environment with the base from the configuration. If the configuration is read from the base
/// side, it cannot choose the base.
fn with_base<'e>(
    repository: &Repository,
    selection: &Selection,
    wanted: &SideSelection,
    environment: &'e Environment,
) -> Result<Cow<'e, Environment>, Error> {
    let config = match (&selection.configuration, repository.work_tree_root()) {
        _ if !wanted.auto => return Ok(Cow::Borrowed(environment)),
        (ConfigurationSource::Nowhere | ConfigurationSource::Base, _) => {
            return Ok(Cow::Borrowed(environment));
        }
        (ConfigurationSource::File(file), _) => {
            configuration::at_file(&selection.directory, file)?.config
        }
        (ConfigurationSource::Root, Some(_)) => {
            configuration::in_tree(&WorkTree::in_repository(repository)?)?
        }
        (ConfigurationSource::Root, None) => return Ok(Cow::Borrowed(environment)),
    };
    let base = config.base.map(|base| base.value.to_string());
    Ok(Cow::Owned(Environment {
        base,
        ..environment.clone()
    }))
}

/// Repository around `directory`; `None` if there is none and only `--auto` could ask for a
/// comparison.
fn repository(directory: &Path, wanted: &SideSelection) -> Result<Option<Repository>, Error> {
    if !directory.is_dir() {
        return Err(super::not_a_folder(directory));
    }
    let found = Repository::discover(directory)?;
    if found.is_some() || wanted.auto || *wanted == SideSelection::default() {
        return Ok(found);
    }
    let message = format!("`{}` is not inside a git repository", directory.display());
    Err(Error::git(message).with_help("a comparison needs a git repository"))
}

fn settings(request: &ComparisonRequest, config: &Config) -> Settings {
    let keys = configuration::list_keys(config, &request.list_keys);
    match request.verify {
        Verify::Nothing => Settings {
            keys,
            ..Settings::default()
        },
        Verify::All => Settings {
            keys,
            attribution: Settings::verified(),
            ..Settings::default()
        },
    }
}

/// Gates of the flags, or else those of the configuration.
fn gates(request: &ComparisonRequest, config: &Config) -> Result<Gates, Error> {
    let unchanged = match &request.expect_unchanged {
        None => None,
        Some(texts) => globs(texts)?.map(ExpectedUnchanged),
    };
    let reach = &config.reach;
    let max_action = reach.max_action.as_ref().and_then(|word| {
        let action = Action::of(&word.value)?;
        Some(Spanned::new(action, word.span))
    });
    Ok(Gates {
        max_sites: limit(request.max_sites, ("max-sites", &reach.max_sites), config),
        max_outputs: limit(
            request.max_outputs,
            ("max-outputs", &reach.max_outputs),
            config,
        ),
        max_action: limit(request.max_action, ("max-action", &max_action), config),
        cautions: levels(request, config)
            .into_iter()
            .filter_map(|(caution, (level, set))| {
                Some(LevelledCaution {
                    caution,
                    severity: level.severity()?,
                    set,
                })
            })
            .collect(),
        unchanged,
    })
}

/// Limit of a flag, or else of a key of `reach`.
fn limit<T: Copy>(
    flag: Option<T>,
    (key, configured): (&str, &Option<Spanned<T>>),
    config: &Config,
) -> Option<Limit<T>> {
    let configured = configured.as_ref().map(|most| Limit {
        most: most.value,
        set: Some(config.describe_setting(&format!("`reach.{key}`"), most.span)),
    });
    flag.map(Limit::from).or(configured)
}

/// Levels of cautions, with where the configuration sets them.
fn levels(
    request: &ComparisonRequest,
    config: &Config,
) -> BTreeMap<Caution, (Level, Option<String>)> {
    let configured = config.reach.cautions.iter().filter_map(|(word, level)| {
        let key = format!("`reach.cautions.{}`", word.value);
        let set = config.describe_setting(&key, word.span);
        Some((Caution::of(&word.value)?, (*level, Some(set))))
    });
    let flags = request.fail_on_cautions.iter();
    let of_run = flags.map(|caution| (*caution, (Level::Error, None)));
    configured.chain(of_run).collect()
}

/// Gates for a comparison with this base. Without a base every edit reaches everything, and limits
/// would only block the first commit.
fn against(base: &ChosenSide, gates: Gates) -> Gates {
    match base {
        ChosenSide::Nothing => Gates {
            unchanged: gates.unchanged,
            ..Gates::default()
        },
        ChosenSide::Commit { .. } | ChosenSide::Index | ChosenSide::WorkTree => gates,
    }
}

/// Repository, with its path in an outer one: in a submodule, layercake does not compare the
/// content of the outer repository.
fn describe_repository(repository: &Repository) -> model::ReportedRepository {
    let (name, branch) = (repository.name(), repository.branch());
    match repository.enclosing() {
        Some((outer, path)) => model::ReportedRepository {
            name: format!("{name} (inside of `{}`)", outer.name()),
            branch,
            nested_at: Some(path.as_str().to_owned()),
            ..model::ReportedRepository::default()
        },
        None => model::ReportedRepository {
            name,
            branch,
            ..model::ReportedRepository::default()
        },
    }
}

/// Repository of a run without a comparison, with the commit whose files are checked, or on which
/// the working tree is. `None` outside of git.
///
/// # Errors
/// If the repository or the commit cannot be read.
pub(super) fn checked_repository(
    selection: &Selection,
) -> Result<Option<model::ReportedRepository>, Error> {
    let Some(repository) = Repository::discover(&selection.directory)? else {
        return Ok(None);
    };
    let reported = describe_repository(&repository);
    let (revision, branch) = match &selection.revision {
        Some(revision) => (revision.as_str(), None),
        None if repository.is_unborn() => return Ok(Some(reported)),
        None => ("HEAD", reported.branch.clone()),
    };
    let commit = repository.resolve(revision)?;
    let date = repository.date_of(&commit);
    Ok(Some(model::ReportedRepository {
        branch,
        commit: Some(commit),
        date,
        ..reported
    }))
}

/// Description of revisions that replace pins on a side; empty if there are none.
fn pins(bumps: &[Bump], revision: impl Fn(&Bump) -> Option<&str>) -> String {
    let pin = |bump: &Bump| Some(format!("{} {}", bump.name, revision(bump)?));
    let pins: Vec<String> = bumps.iter().filter_map(pin).collect();
    if pins.is_empty() {
        String::new()
    } else {
        format!("with {}", pins.join(", "))
    }
}

fn side(
    repository: &Repository,
    side: &ChosenSide,
    pins: String,
) -> Result<model::ReportedSide, Error> {
    let (kind, commit, name) = match side {
        ChosenSide::Commit { id, name } => (SideKind::Commit, Some(id.clone()), name.clone()),
        ChosenSide::Nothing => (SideKind::Nothing, None, String::new()),
        ChosenSide::Index => (SideKind::Index, None, String::new()),
        ChosenSide::WorkTree => (SideKind::Worktree, None, pins),
    };
    let tree = commit
        .as_ref()
        .map(|id| repository.tree_of(id))
        .transpose()?;
    let date = commit.as_ref().and_then(|id| repository.date_of(id));
    Ok(model::ReportedSide {
        kind,
        commit,
        tree,
        date,
        name,
    })
}
