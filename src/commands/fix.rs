//! `lint --fix`, `--diff` and `--add-ignore`: changes files so that findings are fixed or
//! suppressed.
//!
//! Changes are tried in memory first: everything is read, rendered and judged again with the new
//! texts. A file whose change made something worse is left unchanged. Files are written only if
//! they still have the content that was read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::compare::{ComparisonRequest, SitesToRead};
use super::lint::{self, Linted};
use super::reports::view;
use super::{Selection, work_tree};
use crate::check::{Checked, RunControl};
use crate::diagnostic::{Diagnostic, Fix, Safety, Severity};
use crate::error::Error;
use crate::fix::{fixed, with_ignores};
use crate::report::difference::{ChangedFile, shown};
use crate::report::model::SideKind;
use crate::rules;
use crate::source::{FileId, RepoPath, SourceMap, WorkTree, write_files};

/// Action for the findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FixAction {
    /// Apply fixes up to this safety.
    Fix(Safety),
    /// Suppress them with comments that have this reason.
    Ignore(String),
}

/// Mode for the new texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixMode {
    /// Write them to their files.
    Files,
    /// Only report them.
    Nothing,
}

/// Result of fixing or suppressing findings.
#[derive(Debug)]
pub struct FixOutcome {
    /// Report with the new texts.
    pub linted: Linted,
    /// Number of findings fixed or suppressed.
    pub count: usize,
    /// Number of findings left with an unsafe fix.
    pub unsafe_fixes: usize,
    /// Changed files by path, with secrets hidden.
    pub files: Vec<ChangedFile>,
    /// Findings that could not be suppressed and the reasons, one per line.
    pub refused: Vec<String>,
    /// Files whose unsafe fixes would cause new errors and were not applied.
    pub withheld: Vec<RepoPath>,
    /// Files whose safe fixes would cause new errors and were not applied, which is a bug in
    /// layercake.
    pub faulty: Vec<RepoPath>,
}

/// Maximum number of rounds of fixes. A fix may enable further ones.
const MAX_ROUNDS: usize = 10;

/// Checks what the selection names, and applies the requested action.
///
/// # Errors
/// As [`lint::run`]; if the checked side is not the working tree, or a file cannot be written.
pub fn run(
    selection: &Selection,
    request: &ComparisonRequest,
    action: &FixAction,
    mode: FixMode,
    control: &RunControl,
) -> Result<FixOutcome, Error> {
    let wanted = &request.wanted;
    if wanted.staged || wanted.from.is_some() {
        let message = "only the files of the working tree can be changed";
        let help = "remove `--staged`, `--from` and `--to`";
        return Err(Error::usage(message).with_help(help));
    }
    let tree = work_tree(selection)?;
    let run = FixRun {
        selection,
        request,
        tree: &tree,
        control,
    };
    let first = run.lint(&BTreeMap::new())?;
    if let Linted::Two(outcome) = &first
        && outcome.sides.head.kind != SideKind::Worktree
    {
        let message =
            "only the files of the working tree can be changed, but another side is compared";
        return Err(Error::usage(message).with_help("remove `--auto`"));
    }
    let before = shown_texts(&first);
    let outcome = match action {
        FixAction::Fix(safety) => run.fix(first, *safety)?,
        FixAction::Ignore(reason) => run.ignore(first, reason)?,
    };
    let after = shown_texts(&outcome.linted);
    if mode == FixMode::Files {
        outcome.write(&tree)?;
    }
    let files = outcome.changes.into_keys().map(|path| {
        let of = |texts: &BTreeMap<RepoPath, Option<String>>| texts.get(&path).cloned().flatten();
        ChangedFile {
            before: of(&before),
            after: of(&after),
            path,
        }
    });
    let left = reported(&outcome.linted)
        .0
        .iter()
        .filter_map(|finding| finding.fix.as_ref());
    Ok(FixOutcome {
        files: files.collect(),
        unsafe_fixes: left.filter(|fix| fix.safety == Safety::Unsafe).count(),
        linted: outcome.linted,
        count: outcome.count,
        refused: outcome.refused,
        withheld: outcome.withheld.into_iter().collect(),
        faulty: outcome.faulty.into_iter().collect(),
    })
}

struct FixRun<'r> {
    selection: &'r Selection,
    request: &'r ComparisonRequest,
    tree: &'r WorkTree,
    control: &'r RunControl,
}

/// A changed file.
#[derive(Clone, Debug)]
struct FixedFile {
    file: PathBuf,
    before: Vec<u8>,
    after: Arc<str>,
}

type Changes = BTreeMap<RepoPath, FixedFile>;

struct FixState {
    linted: Linted,
    changes: Changes,
    count: usize,
    refused: Vec<String>,
    withheld: BTreeSet<RepoPath>,
    faulty: BTreeSet<RepoPath>,
}

impl FixState {
    /// State without changes.
    fn new(linted: Linted) -> Self {
        Self {
            linted,
            changes: Changes::new(),
            count: 0,
            refused: Vec::new(),
            withheld: BTreeSet::new(),
            faulty: BTreeSet::new(),
        }
    }
}

/// Changes of one round of fixes.
struct FixRound {
    changes: Changes,
    count: usize,
    /// Files that unsafe fixes change.
    unsafely_changed: BTreeSet<RepoPath>,
}

impl FixRun<'_> {
    fn lint(&self, changes: &Changes) -> Result<Linted, Error> {
        let texts = changes
            .iter()
            .map(|(path, change)| (path.clone(), Some(change.after.clone())));
        let selection = Selection {
            texts: texts.collect(),
            ..self.selection.clone()
        };
        lint::run(&selection, self.request, SitesToRead::All, self.control)
    }

    fn fix(&self, first: Linted, safety: Safety) -> Result<FixState, Error> {
        let mut now = FixState::new(first);
        for _ in 0..MAX_ROUNDS {
            let next = self.fixed_once(&now, safety);
            if next.changes.is_empty() {
                break;
            }
            let mut changes = now.changes.clone();
            changes.extend(next.changes.clone());
            let again = self.lint(&changes)?;
            let worse = worse_files(&now.linted, &again, &next.changes);
            if worse.is_empty() {
                now = FixState {
                    linted: again,
                    changes,
                    count: now.count + next.count,
                    ..now
                };
            } else if !next.unsafely_changed.is_empty() {
                // A wrong guess, or one that reveals an error that the mistake hid.
                let blamed = &worse & &next.unsafely_changed;
                now.withheld.extend(if blamed.is_empty() {
                    next.unsafely_changed
                } else {
                    blamed
                });
            } else {
                now.faulty.extend(worse);
                now.changes.retain(|path, _| !now.faulty.contains(path));
                now.linted = self.lint(&now.changes)?;
            }
        }
        Ok(now)
    }

    /// One round of fixes, except those that were found to cause new errors.
    fn fixed_once(&self, now: &FixState, safety: Safety) -> FixRound {
        let (findings, checked) = reported(&now.linted);
        let (sources, view) = (&checked.sources, view(checked));
        let may_apply = |fix: &Fix| {
            fix.edits.iter().all(|edit| {
                let path = sources.path_of(edit.span);
                !now.faulty.contains(path)
                    && (fix.safety == Safety::Safe || !now.withheld.contains(path))
                    && !view.touches_secret(edit.span)
                    && self
                        .change_of(edit.span.file, sources, &now.changes)
                        .is_some()
            })
        };
        let fixed = fixed(findings, sources, safety, &may_apply);
        let fixes = fixed
            .findings
            .iter()
            .filter_map(|index| findings[*index].fix.as_ref());
        let unsafe_edits = fixes
            .filter(|fix| fix.safety == Safety::Unsafe)
            .flat_map(|it| &it.edits);
        let unsafely_changed = unsafe_edits
            .map(|edit| sources.path_of(edit.span).clone())
            .collect();
        let texts = fixed.texts.into_iter().filter_map(|(file, text)| {
            let change = self.change_of(file, sources, &now.changes)?;
            Some((
                sources.get(file).path().clone(),
                FixedFile {
                    after: text.into(),
                    ..change
                },
            ))
        });
        FixRound {
            changes: texts.collect(),
            count: fixed.findings.len(),
            unsafely_changed,
        }
    }

    /// Current content of a file if it can be changed: a plain file of the working tree whose bytes
    /// are the text that was read. A decoded text is not the content of any file.
    fn change_of(&self, file: FileId, sources: &SourceMap, changes: &Changes) -> Option<FixedFile> {
        let source = sources.get(file);
        if source.decoded_from().is_some() {
            return None;
        }
        if let Some(change) = changes.get(source.path()) {
            return (change.after == *source.text()).then(|| change.clone());
        }
        let (place, before) = self.tree.plain_file(source.path())?;
        let is_same = before == source.text().as_bytes();
        is_same.then(|| FixedFile {
            file: place,
            before,
            after: source.text().clone(),
        })
    }

    fn ignore(&self, first: Linted, reason: &str) -> Result<FixState, Error> {
        let reason = one_line(reason)?;
        let (changes, count, refused) = self.ignored(&first, &reason);
        let again = self.lint(&changes)?;
        let left = still_reported(&again, &refused);
        let asks_for_reason = |(rule, ..): &MovableFinding| *rule == "missing-ignore-reason";
        if reason.is_empty() && left.iter().any(asks_for_reason) {
            let message = "every ignore comment needs a reason in this repository";
            let help = "pass it as `--add-ignore=REASON`";
            return Err(Error::usage(message).with_help(help));
        }
        if !left.is_empty() {
            let faulty = changes.into_keys().collect();
            return Ok(FixState {
                faulty,
                ..FixState::new(first)
            });
        }
        let refused = refused.into_iter().map(|(_, why)| why).collect();
        Ok(FixState {
            changes,
            count,
            refused,
            ..FixState::new(again)
        })
    }

    /// Files with ignore comments for what is reported, the number of suppressed findings, and the
    /// reasons for those that cannot be suppressed.
    fn ignored(
        &self,
        linted: &Linted,
        reason: &str,
    ) -> (Changes, usize, Vec<(MovableFinding, String)>) {
        let (findings, checked) = reported(linted);
        let sources = &checked.sources;
        let mut refused = Vec::new();
        let mut by_file: BTreeMap<FileId, Vec<&Diagnostic>> = BTreeMap::new();
        for finding in findings {
            let file = finding.primary.span.file;
            let why = if rules::ignorable(finding.rule.name).is_empty() {
                Some("no comment can suppress it")
            } else if sources.get(file).decoded_from().is_some() {
                Some("it is in an encoded text")
            } else if self.change_of(file, sources, &Changes::new()).is_none() {
                Some("it is not in a plain UTF-8 file of this repository")
            } else {
                None
            };
            match why {
                Some(why) => refused.push((identity(finding), refusal(finding, sources, why))),
                None => by_file.entry(file).or_default().push(finding),
            }
        }
        let (mut changes, mut count) = (Changes::new(), 0);
        for (file, findings) in by_file {
            let source = sources.get(file);
            let (text, missed) = with_ignores(source, &findings, reason);
            count += findings.len() - missed.len();
            refused.extend(missed.into_iter().map(|index| {
                let why = "no comment can be placed to apply to it";
                (
                    identity(findings[index]),
                    refusal(findings[index], sources, why),
                )
            }));
            let change = self.change_of(file, sources, &Changes::new());
            if let Some(change) = change.filter(|_| text != **source.text()) {
                changes.insert(
                    source.path().clone(),
                    FixedFile {
                        after: text.into(),
                        ..change
                    },
                );
            }
        }
        (changes, count, refused)
    }
}

impl FixState {
    /// Writes the changed files, if all of them still have the content that was read.
    fn write(&self, tree: &WorkTree) -> Result<(), Error> {
        for (path, change) in &self.changes {
            let now = tree.plain_file(path);
            if now.is_none_or(|(_, bytes)| bytes != change.before) {
                let message = format!("`{path}` changed during the run");
                let help = "nothing was written; run the command again";
                return Err(Error::io(message).with_help(help));
            }
        }
        let changes = self.changes.values();
        let files: Vec<_> = changes
            .map(|change| (change.file.as_path(), change.after.as_bytes()))
            .collect();
        write_files(&files)
    }
}

/// Findings that count, and their check.
fn reported(linted: &Linted) -> (&[Diagnostic], &Checked<()>) {
    match linted {
        Linted::One(checked, ..) => (&checked.findings.diagnostics, checked),
        Linted::Two(outcome) => (
            &outcome.compared.findings.new.diagnostics,
            &outcome.compared.checked,
        ),
    }
}

/// All findings, whether they count or not.
fn present(linted: &Linted) -> Vec<&Diagnostic> {
    match linted {
        Linted::One(checked, ..) => checked
            .findings
            .diagnostics
            .iter()
            .chain(&checked.findings.suppressed)
            .collect(),
        Linted::Two(outcome) => {
            let found = &outcome.compared.findings;
            let open = found
                .new
                .diagnostics
                .iter()
                .chain(&found.unchanged.diagnostics);
            open.chain(&found.suppressed).collect()
        }
    }
}

/// Texts of all files with secrets hidden; for two sides those of the head, which is read first.
fn shown_texts(linted: &Linted) -> BTreeMap<RepoPath, Option<String>> {
    let (_, checked) = reported(linted);
    let view = view(checked);
    let mut texts = BTreeMap::new();
    let files = checked
        .sources
        .iter()
        .filter(|(_, source)| source.decoded_from().is_none());
    for (file, source) in files {
        texts
            .entry(source.path().clone())
            .or_insert_with(|| shown(&view, file));
    }
    texts
}

/// Identity of a finding, independent of its line, and of the layer of its document, which a fix
/// may change: rule, message, and schema and name of the document.
type MovableFinding = (&'static str, String, Option<[Arc<str>; 2]>);

fn identity(finding: &Diagnostic) -> MovableFinding {
    let document = finding
        .documents
        .first()
        .map(|key| [key.schema.clone(), key.name.clone()]);
    (finding.rule.name, finding.message.clone(), document)
}

/// Those of the last changed files that have new errors; all of them if the new errors are
/// elsewhere.
fn worse_files(before: &Linted, after: &Linted, changed: &Changes) -> BTreeSet<RepoPath> {
    let errors = |linted| {
        present(linted)
            .into_iter()
            .filter(|finding| finding.severity == Severity::Error)
    };
    let mut known: BTreeMap<MovableFinding, usize> = BTreeMap::new();
    for finding in errors(before) {
        *known.entry(identity(finding)).or_default() += 1;
    }
    let mut worse = BTreeSet::new();
    let (_, checked) = reported(after);
    for finding in errors(after) {
        if let Some(left) = known.get_mut(&identity(finding)).filter(|left| **left > 0) {
            *left -= 1;
            continue;
        }
        let labels = std::iter::once(&finding.primary).chain(&finding.related);
        let paths = labels.map(|label| checked.sources.path_of(label.span));
        let touched: Vec<&RepoPath> = paths.filter(|path| changed.contains_key(path)).collect();
        if touched.is_empty() {
            worse.extend(changed.keys().cloned());
        } else {
            worse.extend(touched.into_iter().cloned());
        }
    }
    worse
}

/// Findings that are still reported despite their comments, or were caused by these.
fn still_reported(after: &Linted, refused: &[(MovableFinding, String)]) -> Vec<MovableFinding> {
    let mut refused: Vec<&MovableFinding> = refused.iter().map(|(identity, _)| identity).collect();
    let mut left = Vec::new();
    for finding in reported(after).0 {
        let identity = identity(finding);
        match refused.iter().position(|other| **other == identity) {
            Some(at) => drop(refused.swap_remove(at)),
            None => left.push(identity),
        }
    }
    left
}

fn refusal(finding: &Diagnostic, sources: &SourceMap, why: &str) -> String {
    let place = sources.written(finding.primary.span);
    let (path, line) = (sources.path_of(place), sources.start(place).line);
    format!(
        "{path}:{line}: cannot ignore `{}`: {why}",
        finding.rule.name
    )
}

/// The reason, if it is valid in a comment.
fn one_line(reason: &str) -> Result<String, Error> {
    let is_plain = |letter: char| !letter.is_control() && letter != '#';
    if reason.chars().all(is_plain) {
        return Ok(reason.trim().to_owned());
    }
    let message = "the reason of `--add-ignore` is not valid in a comment";
    Err(Error::usage(message).with_help("use one line without `#`"))
}
