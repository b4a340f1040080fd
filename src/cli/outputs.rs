//! Where reports go, and where they may not.

use std::path::{Path, PathBuf};

use layercake::commands::configuration::{self, Found};
use layercake::commands::{BaselineChoice, Selection};
use layercake::error::{Error, ErrorKind};
use layercake::report::Format;
use layercake::source::{real_place, refuse_git};
use layercake::triage::baseline;

use super::arguments::Output;

/// The reports that are asked for; those of the configuration where no flag
/// does, and the one for people where nothing does.
///
/// # Errors
/// Where one of them may not go to its file: see [`allow`].
pub(super) fn wanted(
    given: &[Output],
    configured: &Found,
    selection: &Selection,
) -> Result<Vec<Output>, Error> {
    let outputs = if given.is_empty() {
        let configured = configuration::outputs(configured)?.into_iter();
        configured.map(|(format, file)| Output { format, file }).collect()
    } else {
        given.to_vec()
    };
    let baseline = configuration::baseline_file(configured);
    let baselines = named_baseline(selection).into_iter().chain(baseline.as_deref());
    allow(&outputs, &selection.directory, &baselines.collect::<Vec<_>>())?;
    Ok(or_full(outputs))
}

/// The report for people where no other is asked for.
pub(super) fn or_full(outputs: Vec<Output>) -> Vec<Output> {
    if outputs.is_empty() { vec![Output { format: Format::Full, file: None }] } else { outputs }
}

/// Refuses outputs that would run into each other, or take the place of what is
/// read. Their files are named from `directory`.
///
/// # Errors
/// Where two go to standard output or to one file, and where one goes to what git
/// stores, or to a file that runs read: one of YAML, or a baseline, be it one of
/// `baselines`.
pub(super) fn allow(
    outputs: &[Output],
    directory: &Path,
    baselines: &[&Path],
) -> Result<(), Error> {
    let printed = outputs.iter().filter(|output| output.file.is_none()).count();
    if printed > 1 {
        let message = "only one report can go to standard output";
        let help = "give the others a file, e.g. `--output json=report.json`";
        return Err(Error::new(ErrorKind::Usage, message).with_help(help));
    }
    let real = |file: &Path| {
        let file = directory.join(file);
        real_place(&file).unwrap_or(file)
    };
    let files = outputs.iter().filter_map(|it| it.file.as_deref());
    let mut files: Vec<(PathBuf, &Path)> = files.map(|file| (real(file), file)).collect();
    files.sort();
    for (_, file) in &files {
        refuse_git(&directory.join(file))?;
    }
    let baselines: Vec<PathBuf> = baselines.iter().map(|file| real(file)).collect();
    let is_read = |file: &Path| is_input(file) || baselines.iter().any(|it| it == file);
    if let Some((_, file)) = files.iter().find(|(real, _)| is_read(real)) {
        let message =
            format!("a report does not go to `{}`, which layercake reads", file.display());
        return Err(Error::new(ErrorKind::Usage, message)
            .with_help("name a file that is no YAML and no baseline"));
    }
    match files.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => {
            let message = format!("two reports cannot both go to `{}`", pair[0].1.display());
            Err(Error::new(ErrorKind::Usage, message))
        }
        None => Ok(()),
    }
}

/// The baseline that a flag names.
pub(super) fn named_baseline(selection: &Selection) -> Option<&Path> {
    match &selection.baseline {
        BaselineChoice::Named(file) => Some(file),
        BaselineChoice::Usual | BaselineChoice::Nothing => None,
    }
}

/// Whether a file is one of those that runs read: writing a report there would
/// destroy what it is about.
fn is_input(file: &Path) -> bool {
    let is_yaml =
        |it: &std::ffi::OsStr| it.eq_ignore_ascii_case("yaml") || it.eq_ignore_ascii_case("yml");
    let is_baseline = |it: &std::ffi::OsStr| it.eq_ignore_ascii_case(baseline::FILE);
    file.extension().is_some_and(is_yaml) || file.file_name().is_some_and(is_baseline)
}
