//! Destinations of reports, and their restrictions.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use layercake::commands::configuration::{self, FoundConfiguration};
use layercake::commands::sides::SideSelection;
use layercake::commands::{BaselineChoice, Selection};
use layercake::error::Error;
use layercake::report::{Format, ReportFormat, TerminalStyle};
use layercake::rules::RULES;
use layercake::source::{
    ensure_own, ensure_writable, real_place, refuse_git, write_file, write_own_file,
    write_temporary_file,
};
use layercake::stopwatch::{Stage, time};
use layercake::triage::baseline;

use super::arguments::{NamedBy, OutputArgs, OutputArgument};
use super::streams::{VerbFailure, complain, print};
use super::terminal::{PAGE, Terminal};

/// The requested reports: those of the flags, else those of the configuration, else `full` on
/// standard output.
///
/// # Errors
/// If a destination is not allowed: see [`allow`] and [`OutputArgs::allow_open`].
pub(super) fn wanted(
    given: &OutputArgs,
    configured: &FoundConfiguration,
    selection: &Selection,
    sides: &SideSelection,
) -> Result<Vec<OutputArgument>, Error> {
    let outputs = if given.output.is_empty() {
        configured_outputs(configured, is_hook(sides))?
    } else {
        given.output.clone()
    };
    given.allow_open(&outputs)?;
    let baseline = configuration::baseline_file(configured);
    let baselines = named_baseline(selection)
        .into_iter()
        .chain(baseline.as_deref());
    allow(
        &outputs,
        &selection.directory,
        &baselines.collect::<Vec<_>>(),
    )?;
    for output in outputs
        .iter()
        .filter(|it| it.named_by == NamedBy::Configuration)
    {
        refuse_other_extension(output)?;
        let Some(file) = &output.file else { continue };
        let is_report = |old: &[u8]| output.format.recognizes(old, RULES);
        ensure_own(&selection.directory.join(file), &is_report)?;
    }
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
    let outputs = outputs.map(|(format, file)| OutputArgument {
        format,
        file,
        named_by,
    });
    if !is_hook {
        return Ok(outputs.collect());
    }
    let names = configured
        .config
        .outputs
        .iter()
        .filter(|output| output.contains('='));
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
    let Some(file) = &output.file else {
        return Ok(());
    };
    let (name, shown, extensions) = (
        output.format.name(),
        file.display(),
        output.format.extensions(),
    );
    if extensions.is_empty() {
        let message = format!("`output.default` cannot write `{name}` to a file: `{shown}`");
        let help = format!("use `{name}` to print it, or pass `--output {name}=FILE`");
        return Err(Error::usage(message).with_help(help));
    }
    if has_extension(file, output.format) {
        return Ok(());
    }
    let wanted: Vec<String> = extensions.iter().map(|it| format!("`.{it}`")).collect();
    let message = format!(
        "`output.default` writes `{name}` only to a file that ends in {}: `{shown}`",
        wanted.join(" or ")
    );
    let help = format!("pass `--output {name}=FILE` on the command line to write to any file");
    Err(Error::usage(message).with_help(help))
}

/// Whether the name of a file has an extension of the format.
fn has_extension(file: &Path, format: Format) -> bool {
    let has = |wanted: &&str| {
        file.extension()
            .is_some_and(|it| it.eq_ignore_ascii_case(wanted))
    };
    format.extensions().iter().any(has)
}

/// Whether this run is a hook: it checks staged files, or was started by git, pre-commit or prek.
#[expect(
    clippy::disallowed_methods,
    reason = "this is where the environment is read"
)]
fn is_hook(sides: &SideSelection) -> bool {
    const VARIABLES: [&str; 3] = ["PRE_COMMIT", "GIT_INDEX_FILE", "GIT_EXEC_PATH"];
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    sides.staged || VARIABLES.into_iter().any(is_set)
}

/// The outputs, or `full` on standard output if there are none.
pub(super) fn or_full(outputs: Vec<OutputArgument>) -> Vec<OutputArgument> {
    if outputs.is_empty() {
        vec![OutputArgument {
            format: Format::Full,
            file: None,
            named_by: NamedBy::Flag,
        }]
    } else {
        outputs
    }
}

/// Rejects outputs that overwrite each other or a file that layercake reads, and files that cannot
/// be written. File names are relative to `directory`.
///
/// # Errors
/// If two outputs go to standard output or to the same file, if one goes to a file of git, a YAML
/// file or a baseline, such as one of `baselines`, or if its folder does not exist or is not
/// writable.
pub(super) fn allow(
    outputs: &[OutputArgument],
    directory: &Path,
    baselines: &[&Path],
) -> Result<(), Error> {
    let printed = outputs
        .iter()
        .filter(|output| output.file.is_none())
        .count();
    if printed > 1 {
        let message = "only one report can be written to standard output";
        let help = "write the others to files, e.g. `--output json=report.json`";
        return Err(Error::usage(message).with_help(help));
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
        let message = format!(
            "cannot write a report to `{}`, which layercake reads",
            file.display()
        );
        return Err(
            Error::usage(message).with_help("choose a file that is neither YAML nor a baseline")
        );
    }
    if let Some(pair) = files.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let message = format!("cannot write two reports to `{}`", pair[0].1.display());
        return Err(Error::usage(message));
    }
    files
        .iter()
        .try_for_each(|(_, file)| ensure_writable(&directory.join(file)))
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

impl OutputArgs {
    /// Rejects `--open` for reports that a browser cannot open.
    ///
    /// # Errors
    /// With `--open`, if the HTML report goes to standard output, or to a file that the system does
    /// not open in a browser.
    pub(super) fn allow_open(&self, outputs: &[OutputArgument]) -> Result<(), Error> {
        let mut pages = outputs.iter().filter(|output| output.format == HTML);
        let Some(page) = opened(outputs)
            .or_else(|| pages.next())
            .filter(|_| self.open)
        else {
            return Ok(());
        };
        let Some(file) = &page.file else {
            let message = "`--open` cannot open an HTML report on standard output";
            let help = "write it to a file with `--output html=FILE`, or omit `--output html`";
            return Err(Error::usage(message).with_help(help));
        };
        if has_extension(file, HTML) {
            return Ok(());
        }
        let message = format!(
            "`--open` opens only files that end in `.html` or `.htm`: `{}`",
            file.display()
        );
        Err(Error::usage(message).with_help("use another file name"))
    }
}

/// Format of the reports that `--open` opens.
const HTML: Format = Format::Of(ReportFormat::Html);

/// HTML report that `--open` opens; `None` if none of the reports is an HTML file.
fn opened(outputs: &[OutputArgument]) -> Option<&OutputArgument> {
    outputs
        .iter()
        .find(|output| output.format == HTML && output.file.is_some())
}

/// Reports to write, and where.
pub(super) struct Delivery<'d> {
    pub(super) outputs: Vec<OutputArgument>,
    /// Whether to open the HTML report in a browser.
    pub(super) open: bool,
    /// Folder to which file names are relative.
    pub(super) directory: &'d Path,
}

impl Delivery<'_> {
    /// Writes each report to its destination, files before standard output, and opens the HTML
    /// report if requested. Files have no colors and the width of a page, independent of the
    /// terminal.
    pub(super) fn deliver(
        &self,
        terminal: &Terminal,
        write: impl Fn(Format, &TerminalStyle, &mut dyn Write) -> io::Result<()>,
    ) -> Result<(), VerbFailure> {
        let page = TerminalStyle {
            width: PAGE,
            color: false,
            unicode: true,
            links: false,
        };
        let bytes = |format: Format| {
            let mut bytes = Vec::new();
            time(Stage::Report, || write(format, &page, &mut bytes))?;
            Ok::<_, io::Error>(bytes)
        };
        for output in &self.outputs {
            let Some(file) = &output.file else { continue };
            let (path, bytes) = (self.directory.join(file), bytes(output.format)?);
            match output.named_by {
                NamedBy::Flag => write_file(&path, &bytes)?,
                NamedBy::Configuration => {
                    let is_report = |old: &[u8]| output.format.recognizes(old, RULES);
                    write_own_file(&path, &bytes, &is_report)?;
                }
            }
        }
        let named = opened(&self.outputs).and_then(|output| output.file.as_deref());
        let to_open = match named.map(|file| self.directory.join(file)) {
            _ if !self.open => None,
            Some(path) => Some(path),
            None => Some(write_temporary_file(
                &std::env::temp_dir(),
                ".html",
                &bytes(HTML)?,
            )?),
        };
        for output in self.outputs.iter().filter(|output| output.file.is_none()) {
            print(|out| write(output.format, &terminal.style, out))?;
        }
        if let Some(path) = to_open {
            open_in_browser(&path, named.is_none());
        }
        Ok(())
    }
}

/// Opens a file in the browser. A failure is only a warning, since the report is written.
fn open_in_browser(path: &Path, is_temporary: bool) {
    let shown = path.display();
    // A name that begins with `-` would be an option of the program.
    let opened = std::path::absolute(path).and_then(open::that_detached);
    match opened {
        Ok(()) if is_temporary => complain(&format!("opened the report `{shown}`\n")),
        Ok(()) => {}
        Err(error) => {
            let cause = match error.kind() {
                io::ErrorKind::NotFound => "found no program that opens files".to_owned(),
                _ => error.to_string(),
            };
            complain(&format!(
                "warning: cannot open the report in a browser: {cause}\n  \
                 help: open the file `{shown}`\n"
            ));
        }
    }
}
