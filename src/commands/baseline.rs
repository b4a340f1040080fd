//! `layercake baseline`: writes, prunes and lists the accepted findings.

use std::path::{Path, PathBuf};

use super::{BaselineChoice, Project, Selection, Start, work_tree};
use crate::check::{self, Checked, Plan, RunControl, check};
use crate::diagnostic::Suppression;
use crate::error::{Error, ErrorKind};
use crate::report::BaselineRow;
use crate::rules;
use crate::source::{RepoPath, stays_inside, write_file, write_own_file};
use crate::triage::Baseline;
use crate::triage::baseline::BaselineEntry;

/// A baseline that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenBaseline {
    /// Path of the file.
    pub path: RepoPath,
    /// Number of accepted findings.
    pub accepted: usize,
    /// Number of accepted findings that reports list, where equal ones and consequences are one;
    /// `None` if it is not known.
    pub listed: Option<usize>,
    /// Number of findings fewer than before; `None` if there was no baseline.
    pub gone: Option<usize>,
}

/// Writes a baseline that accepts all findings reported without one.
///
/// # Errors
/// If only a part is selected, or the check or the write fails.
pub fn write(selection: &Selection, control: &RunControl) -> Result<WrittenBaseline, Error> {
    let BaselinePath {
        path,
        file,
        is_configured,
    } = place(selection)?;
    let nothing = Selection {
        baseline: BaselineChoice::Nothing,
        ..selection.clone()
    };
    let project = open_whole(&nothing)?;
    let checked = check_whole(&project.plan(control))?;
    let baseline = Baseline::of(&checked.findings.diagnostics, &checked.sources);
    let text = baseline.to_text();
    if is_configured {
        refuse_other_extension(&path)?;
        write_own_file(&file, text.as_bytes(), &Baseline::is_recognized)?;
    } else {
        write_file(&file, text.as_bytes())?;
    }
    let listed = Some(
        checked
            .findings
            .reported(false, &checked.sources)
            .counts()
            .all(),
    );
    Ok(WrittenBaseline {
        path,
        accepted: count(&baseline),
        listed,
        gone: None,
    })
}

/// Removes baseline entries that no longer match a finding.
///
/// # Errors
/// If the baseline is missing or invalid; as [`write()`].
pub fn prune(selection: &Selection, control: &RunControl) -> Result<WrittenBaseline, Error> {
    let BaselinePath { path, file, .. } = place(selection)?;
    let old = read(selection, &path)?;
    let project = open_whole(selection)?;
    let plan = project.plan(control);
    let checked = check_whole(&plan)?;
    let is_off = |entry: &BaselineEntry| {
        let rule = rules::find(&entry.rule);
        rule.is_some_and(|rule| {
            !plan
                .options
                .policy
                .levels
                .can_count_at(rule, entry.file.as_str())
        })
    };
    let kept = old.keeping(|entry| {
        if is_off(entry) {
            return entry.count;
        }
        let is_its = |suppression: &Option<Suppression>| match suppression {
            Some(Suppression::Baseline { at }) => {
                entry.span.is_some_and(|span| span.range() == at.range())
            }
            Some(Suppression::Comment { .. }) | None => false,
        };
        checked
            .findings
            .suppressed
            .iter()
            .filter(|it| is_its(&it.suppressed))
            .count()
    });
    let (before, accepted) = (count(&old), count(&kept));
    if kept.entries != old.entries {
        write_file(&file, kept.to_text().as_bytes())?;
    }
    let gone = Some(before - accepted);
    Ok(WrittenBaseline {
        path,
        accepted,
        listed: None,
        gone,
    })
}

/// Entries of the baseline.
///
/// # Errors
/// If the baseline is missing or invalid.
pub fn show(selection: &Selection) -> Result<Vec<BaselineRow>, Error> {
    let BaselinePath { path, .. } = place(selection)?;
    let baseline = read(selection, &path)?;
    let rows = baseline.entries.into_iter().map(|entry| BaselineRow {
        rule: entry.rule,
        count: entry.count,
        file: entry.file,
        document: entry.document,
        subject: entry.subject,
    });
    Ok(rows.collect())
}

fn count(baseline: &Baseline) -> usize {
    baseline.entries.iter().map(|entry| entry.count).sum()
}

fn open_whole(selection: &Selection) -> Result<Project, Error> {
    let project = Project::open(selection)?;
    if project.is_limited() {
        let message = "a baseline must cover all findings";
        return Err(Error::usage(message).with_help("remove `--site` and the files"));
    }
    Ok(project)
}

/// Checks everything. Fails after an internal error, because a baseline without the findings it
/// hides would be wrong.
fn check_whole(plan: &Plan) -> Result<Checked<()>, Error> {
    let checked = check(plan, |_| ())?;
    if checked.internal_error {
        let message = "layercake itself failed, so findings may be missing";
        return Err(Error::new(ErrorKind::Internal, message)
            .with_help("run `layercake lint` for details; the baseline was not changed"));
    }
    Ok(checked)
}

/// Rejects other extensions: a baseline contains names chosen by the repository, so it must not be
/// a file that a shell reads.
fn refuse_other_extension(path: &RepoPath) -> Result<(), Error> {
    if path.as_str().to_ascii_lowercase().ends_with(".json") {
        return Ok(());
    }
    let message = format!("the configured baseline `{path}` does not end in `.json`");
    let help = "set `baseline` to a `.json` file, or pass any file with `--baseline`";
    Err(Error::usage(message).with_help(help))
}

/// Location of the baseline.
struct BaselinePath {
    path: RepoPath,
    file: PathBuf,
    /// Whether the configuration names it instead of the user.
    is_configured: bool,
}

fn place(selection: &Selection) -> Result<BaselinePath, Error> {
    let tree = work_tree(selection)?;
    let mut is_configured = false;
    let path = match &selection.baseline {
        BaselineChoice::Usual => {
            let found = Start::find(selection)?.configured(selection)?;
            let path = found.baseline(Some(tree.root()));
            is_configured = found.config.baseline.is_some();
            // The author of the configuration must not choose where else files are
            if !stays_inside(tree.root(), Path::new(path.as_str())) {
                let message = format!(
                    "the baseline `{path}` is outside of the repository through a symbolic link"
                );
                let help = "use a folder of the repository";
                return Err(Error::usage(message).with_help(help));
            }
            path
        }
        BaselineChoice::Named(file) => super::path_in_tree(&tree, &selection.directory, file)?,
        BaselineChoice::Nothing => {
            let message = "`--no-baseline` cannot be used here";
            return Err(Error::usage(message).with_help("remove `--no-baseline`"));
        }
    };
    let file = path
        .parts()
        .fold(tree.root().to_owned(), |folder, part| folder.join(part));
    Ok(BaselinePath {
        path,
        file,
        is_configured,
    })
}

fn read(selection: &Selection, path: &RepoPath) -> Result<Baseline, Error> {
    let tree = work_tree(selection)?;
    check::baseline(&tree, path)?.ok_or_else(|| {
        Error::new(ErrorKind::Baseline, format!("baseline `{path}` not found"))
            .with_help("run `layercake baseline write` to accept all current findings")
    })
}
