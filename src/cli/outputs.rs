//! Where reports go, and where they may not.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use layercake::commands::configuration::{self, FoundConfiguration};
use layercake::commands::sides::SideSelection;
use layercake::commands::{BaselineChoice, Selection};
use layercake::error::{Error, ErrorKind};
use layercake::report::{Format, TerminalStyle};
use layercake::rules::RULES;
use layercake::source::{real_place, refuse_git, write_file, write_own_file};
use layercake::stopwatch::{Stage, lap};
use layercake::triage::baseline;

use super::arguments::{NamedBy, OutputArgument};
use super::streams::{VerbFailure, complain, print};
use super::terminal::{PAGE, Terminal};

/// The reports that are asked for; those of the configuration where no flag
/// does, and the one for people where nothing does.
///
/// # Errors
/// Where one of them may not go to its file: see [`allow`].
pub(super) fn wanted(
    given: &[OutputArgument],
    configured: &FoundConfiguration,
    selection: &Selection,
    sides: &SideSelection,
) -> Result<Vec<OutputArgument>, Error> {
    let outputs = if given.is_empty() {
        configured_outputs(configured, is_hook(sides))?
    } else {
        given.to_vec()
    };
    let baseline = configuration::baseline_file(configured);
    let baselines = named_baseline(selection).into_iter().chain(baseline.as_deref());
    allow(&outputs, &selection.directory, &baselines.collect::<Vec<_>>())?;
    let mut configured = outputs.iter().filter(|it| it.named_by == NamedBy::Configuration);
    configured.try_for_each(refuse_other_extension)?;
    Ok(or_full(outputs))
}

/// The reports that the configuration names. A hook writes none of them to a file: it runs on a
/// developer's machine for a configuration that may just have been pulled.
fn configured_outputs(
    configured: &FoundConfiguration,
    is_hook: bool,
) -> Result<Vec<OutputArgument>, Error> {
    let named_by = NamedBy::Configuration;
    let outputs = configuration::outputs(configured)?.into_iter();
    let outputs = outputs.map(|(format, file)| OutputArgument { format, file, named_by });
    if !is_hook {
        return Ok(outputs.collect());
    }
    let names = configured.config.outputs.iter().filter(|output| output.contains('='));
    let names: Vec<String> = names.map(|output| format!("`{output}`")).collect();
    if !names.is_empty() {
        complain(&format!(
            "note: a hook writes no files that `output.default` names: {} left out\n  \
             help: `--output FORMAT=FILE` writes one\n",
            names.join(", ")
        ));
    }
    Ok(outputs.filter(|output| output.file.is_none()).collect())
}

/// A report holds names that the repository chose. So a file that only the configuration names
/// must be one that no shell, build tool or interpreter reads as its own.
fn refuse_other_extension(output: &OutputArgument) -> Result<(), Error> {
    let Some(file) = &output.file else { return Ok(()) };
    let (name, shown, extensions) =
        (output.format.name(), file.display(), output.format.extensions());
    if extensions.is_empty() {
        let message = format!("`output.default` cannot write `{name}` to a file: `{shown}`");
        let help = format!("`{name}` alone prints it; a file is named by `--output {name}=FILE`");
        return Err(Error::new(ErrorKind::Usage, message).with_help(help));
    }
    let has = |wanted: &&str| file.extension().is_some_and(|it| it.eq_ignore_ascii_case(wanted));
    if extensions.iter().any(has) {
        return Ok(());
    }
    let wanted: Vec<String> = extensions.iter().map(|it| format!("`.{it}`")).collect();
    let message = format!(
        "`output.default` writes `{name}` only to a file that ends in {}: `{shown}`",
        wanted.join(" or ")
    );
    let help = format!("`--output {name}=FILE` on the command line writes to any file");
    Err(Error::new(ErrorKind::Usage, message).with_help(help))
}

/// Whether this run is a hook: one that looks at what is staged, or that git, pre-commit or prek
/// started.
#[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
fn is_hook(sides: &SideSelection) -> bool {
    const VARIABLES: [&str; 3] = ["PRE_COMMIT", "GIT_INDEX_FILE", "GIT_EXEC_PATH"];
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    sides.staged || VARIABLES.into_iter().any(is_set)
}

/// The report for people where no other is asked for.
pub(super) fn or_full(outputs: Vec<OutputArgument>) -> Vec<OutputArgument> {
    if outputs.is_empty() {
        vec![OutputArgument { format: Format::Full, file: None, named_by: NamedBy::Flag }]
    } else {
        outputs
    }
}

/// Refuses outputs that would run into each other, or take the place of what is
/// read. Their files are named from `directory`.
///
/// # Errors
/// Where two go to standard output or to one file, and where one goes to what git
/// stores, or to a file that runs read: one of YAML, or a baseline, be it one of
/// `baselines`.
pub(super) fn allow(
    outputs: &[OutputArgument],
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

/// Writes each report to where it goes, files first: what is printed last is
/// then all that there is to say. Files have no colours and the width of a
/// page, whatever the terminal has.
pub(super) fn deliver(
    outputs: &[OutputArgument],
    directory: &Path,
    terminal: &Terminal,
    write: impl Fn(Format, &TerminalStyle, &mut dyn Write) -> io::Result<()>,
) -> Result<(), VerbFailure> {
    let page = TerminalStyle { width: PAGE, color: false, unicode: true, links: false };
    for output in outputs {
        let Some(file) = &output.file else { continue };
        let mut bytes = Vec::new();
        lap(Stage::Report, || write(output.format, &page, &mut bytes))?;
        let path = directory.join(file);
        match output.named_by {
            NamedBy::Flag => write_file(&path, &bytes)?,
            NamedBy::Configuration => {
                let is_report = |old: &[u8]| output.format.recognizes(old, RULES);
                write_own_file(&path, &bytes, &is_report)?;
            }
        }
    }
    for output in outputs.iter().filter(|output| output.file.is_none()) {
        print(|out| write(output.format, &terminal.style, out))?;
    }
    Ok(())
}
