//! Destinations of reports, and their restrictions.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use layercake::commands::configuration::{self, FoundConfiguration};
use layercake::commands::sides::SideSelection;
use layercake::commands::{BaselineChoice, Selection};
use layercake::error::{Error, ErrorKind};
use layercake::report::{Format, TerminalStyle};
use layercake::rules::RULES;
use layercake::source::{real_place, refuse_git, write_file, write_own_file};
use layercake::stopwatch::{Stage, time};
use layercake::triage::baseline;

use super::arguments::{NamedBy, OutputArgument};
use super::streams::{VerbFailure, complain, print};
use super::terminal::{PAGE, Terminal};

/// The requested reports: those of the flags, else those of the configuration, else `full` on
/// standard output.
///
/// # Errors
/// If a destination is not allowed: see [`allow`].
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

/// Reports that the configuration names. A hook writes none of them to files, because it runs on a
/// developer's machine with a configuration that may just have been pulled.
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
            "note: a hook does not write files named in `output.default`: skipped {}\n  \
             help: pass `--output FORMAT=FILE` to write one\n",
            names.join(", ")
        ));
    }
    Ok(outputs.filter(|output| output.file.is_none()).collect())
}

/// Rejects files that a shell, build tool or interpreter may read. A report contains names chosen
/// by the repository, so a configuration alone must not place one in such a file.
fn refuse_other_extension(output: &OutputArgument) -> Result<(), Error> {
    let Some(file) = &output.file else { return Ok(()) };
    let (name, shown, extensions) =
        (output.format.name(), file.display(), output.format.extensions());
    if extensions.is_empty() {
        let message = format!("`output.default` cannot write `{name}` to a file: `{shown}`");
        let help = format!("use `{name}` to print it, or pass `--output {name}=FILE`");
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
    let help = format!("pass `--output {name}=FILE` on the command line to write to any file");
    Err(Error::new(ErrorKind::Usage, message).with_help(help))
}

/// Whether this run is a hook: it checks staged files, or was started by git, pre-commit or prek.
#[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
fn is_hook(sides: &SideSelection) -> bool {
    const VARIABLES: [&str; 3] = ["PRE_COMMIT", "GIT_INDEX_FILE", "GIT_EXEC_PATH"];
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    sides.staged || VARIABLES.into_iter().any(is_set)
}

/// The outputs, or `full` on standard output if there are none.
pub(super) fn or_full(outputs: Vec<OutputArgument>) -> Vec<OutputArgument> {
    if outputs.is_empty() {
        vec![OutputArgument { format: Format::Full, file: None, named_by: NamedBy::Flag }]
    } else {
        outputs
    }
}

/// Rejects outputs that overwrite each other or a file that layercake reads. File names are
/// relative to `directory`.
///
/// # Errors
/// If two outputs go to standard output or to the same file, or if one goes to a file of git, a
/// YAML file or a baseline, such as one of `baselines`.
pub(super) fn allow(
    outputs: &[OutputArgument],
    directory: &Path,
    baselines: &[&Path],
) -> Result<(), Error> {
    let printed = outputs.iter().filter(|output| output.file.is_none()).count();
    if printed > 1 {
        let message = "only one report can be written to standard output";
        let help = "write the others to files, e.g. `--output json=report.json`";
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
            format!("cannot write a report to `{}`, which layercake reads", file.display());
        return Err(Error::new(ErrorKind::Usage, message)
            .with_help("choose a file that is neither YAML nor a baseline"));
    }
    match files.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => {
            let message = format!("cannot write two reports to `{}`", pair[0].1.display());
            Err(Error::new(ErrorKind::Usage, message))
        }
        None => Ok(()),
    }
}

/// The baseline named by a flag.
pub(super) fn named_baseline(selection: &Selection) -> Option<&Path> {
    match &selection.baseline {
        BaselineChoice::Named(file) => Some(file),
        BaselineChoice::Usual | BaselineChoice::Nothing => None,
    }
}

/// Whether layercake reads a file, so that a report there would destroy its input.
fn is_input(file: &Path) -> bool {
    let is_yaml =
        |it: &std::ffi::OsStr| it.eq_ignore_ascii_case("yaml") || it.eq_ignore_ascii_case("yml");
    let is_baseline = |it: &std::ffi::OsStr| it.eq_ignore_ascii_case(baseline::FILE);
    file.extension().is_some_and(is_yaml) || file.file_name().is_some_and(is_baseline)
}

/// Writes each report to its destination, files before standard output. Files have no colors and
/// the width of a page, independent of the terminal.
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
        time(Stage::Report, || write(output.format, &page, &mut bytes))?;
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
