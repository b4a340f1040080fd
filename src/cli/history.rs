//! `blame` and `log`: their arguments and output.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;

use clap::{Args, ValueEnum};
use layercake::ask::ValueQuestion;
use layercake::cancel::Cancel;
use layercake::commands::Selection;
use layercake::commands::blame::{self, BlameQuestion, BlameRequest};
use layercake::commands::history::HistoryRequest;
use layercake::commands::log::{self, LogRequest};
use layercake::commands::names::{Target, missing_arguments};
use layercake::commands::sides::Range;
use layercake::error::{Error, shell_word};
use layercake::report::answer::blame::Blame;
use layercake::report::answer::log::{CommitEffect, LogEnd};
use layercake::report::{self, View, answer};
use layercake::source::stop_on_interrupt;

use super::arguments::{NameArgs, ReadingArgs, TargetArgs, TextFormat};
use super::candidates;
use super::streams::{VerbFailure, print};
use super::terminal::Terminal;
use super::view::{exit_code_of_answer, view};

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum BlameFormat {
    Text,
    Json,
    Porcelain,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Commit selection")]
struct HistoryArgs {
    /// Ignore commits before REV or DATE, such as `2024-10-09` or `2 weeks ago`
    #[arg(long, value_name = "REV|DATE")]
    #[arg(add = candidates::revisions())]
    since: Option<String>,

    /// Follow only the first parent of merges
    #[arg(long)]
    first_parent: bool,

    /// Stop after N commits that changed something
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

impl HistoryArgs {
    /// The later revision of a range `A..B` given by `--rev` or `--since`; the earlier one becomes
    /// the start of the history. Otherwise, `revision`.
    fn end_of_range(&mut self, revision: Option<String>) -> Option<String> {
        let given = revision
            .iter()
            .chain(&self.since)
            .find_map(|text| Range::parse(text));
        match given {
            Some(range) => {
                self.since = Some(range.from);
                Some(range.to)
            }
            None => revision,
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "relative dates count from the present time"
    )]
    fn request(self) -> HistoryRequest {
        let Self {
            since,
            first_parent,
            limit,
        } = self;
        let stop = stop_on_interrupt();
        HistoryRequest {
            since,
            first_parent,
            limit,
            now: SystemTime::now(),
            stop,
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct BlameArgs {
    /// Site, or `-` for files without sites
    #[arg(value_name = "SITE", add = candidates::sites())]
    first: Option<String>,

    /// Schema and name of a document, and path of a value as `.values.pod` or `/values/pod`
    ///
    /// Without PATH, all values of the document. Without NAME, all outputs of the site, or those of
    /// SCHEMA. SCHEMA is optional if one document of this name in the site has the value.
    #[arg(value_name = "SCHEMA NAME PATH")]
    rest: Vec<String>,

    /// Start from REV instead of the working tree
    #[arg(long, value_name = "REV", help_heading = "Commit selection")]
    #[arg(add = candidates::revisions())]
    rev: Option<String>,

    #[command(flatten)]
    history: HistoryArgs,

    /// Show only commits that set the value to VALUE or away from it
    #[arg(long, value_name = "VALUE", help_heading = "Question")]
    when: Option<String>,

    /// Show since which commit the text on this line reaches the value, or does not
    #[arg(long, value_name = "FILE:LINE", help_heading = "Question")]
    #[arg(conflicts_with = "when")]
    why_not: Option<String>,

    /// Show which commit introduced the findings of this rule
    #[arg(long, value_name = "RULE", help_heading = "Question")]
    #[arg(conflicts_with_all = ["when", "why_not"])]
    #[arg(add = candidates::rules())]
    finding: Option<String>,

    #[command(flatten)]
    named: NameArgs,

    #[command(flatten)]
    reading: ReadingArgs,

    /// Output format
    #[arg(short = 'o', long, value_name = "FORMAT", default_value = "text")]
    #[arg(alias = "output-format", help_heading = "Output")]
    format: BlameFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum LogFormat {
    Text,
    Json,
    Markdown,
}

#[derive(Debug, Args)]
pub(super) struct LogArgs {
    /// Start from REV instead of HEAD
    #[arg(long, value_name = "REV", help_heading = "Commit selection")]
    #[arg(add = candidates::revisions())]
    rev: Option<String>,

    #[command(flatten)]
    history: HistoryArgs,

    /// Omit commits that changed no output: the default with sites, schemas or names
    #[arg(long, help_heading = "Commit selection")]
    effective: bool,

    /// List all commits, also those that changed none of the outputs
    #[arg(long, conflicts_with = "effective", help_heading = "Commit selection")]
    all: bool,

    /// Only outputs of sites whose name matches this glob
    #[arg(long, value_name = "GLOB", help_heading = "Document selection")]
    #[arg(add = candidates::sites())]
    site: Vec<String>,

    #[command(flatten)]
    target: TargetArgs,

    #[command(flatten)]
    reading: ReadingArgs,

    /// Output format
    #[arg(short = 'o', long, value_name = "FORMAT", default_value = "text")]
    #[arg(alias = "output-format", help_heading = "Output")]
    format: LogFormat,
}

pub(super) fn log(
    arguments: LogArgs,
    directory: PathBuf,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let selection = Selection {
        sites: arguments.site,
        ..arguments.reading.selection(directory)
    };
    let (mut history, mut target) = (arguments.history, arguments.target);
    let revision = match target.take_range(&selection) {
        Some(range) => {
            history.since = Some(range.from);
            Some(range.to)
        }
        None => history.end_of_range(arguments.rev),
    };
    let Target {
        selection,
        documents,
        path,
    } = target.target(selection)?;
    refuse_places(&selection, path.as_deref())?;
    let is_filtered = !(selection.sites.is_empty() && documents.is_empty());
    let effective = arguments.effective || (is_filtered && !arguments.all);
    let selection = Selection {
        revision,
        ..selection
    };
    let request = LogRequest {
        documents,
        effective,
        history: history.request(),
    };
    let stop = request.history.stop.clone();
    match arguments.format {
        // Whether the filter matches anything is known at the end.
        LogFormat::Text if is_filtered && !effective => {
            let (commits, end) = collected(&selection, &request, terminal)?;
            print(|out| {
                for effect in &commits {
                    report::write_for_people(out, |out| {
                        answer::log::write_commit(effect, &terminal.style, out)
                    })?;
                }
                answer::log::write_end(commits.len(), end, out)
            })?;
        }
        LogFormat::Text => print_as_found(&selection, &request, terminal)?,
        LogFormat::Json => {
            let (commits, end) = collected(&selection, &request, terminal)?;
            print(|out| answer::log::write_log_json(&commits, end, out))?;
        }
        LogFormat::Markdown => {
            let (commits, end) = collected(&selection, &request, terminal)?;
            print(|out| answer::log::write_log_markdown(&commits, end, out))?;
        }
    }
    Ok(exit_code(&stop, ExitCode::SUCCESS))
}

/// Rejects files and paths of values: a log is filtered by sites and documents.
fn refuse_places(selection: &Selection, path: Option<&str>) -> Result<(), Error> {
    let (place, help) = match (selection.files.first(), path) {
        (Some(file), _) => {
            let file = file.display().to_string();
            let word = shell_word(&file);
            let help = format!(
                "run `layercake impact {word}` for the outputs that it reaches, or `git log -- {word}`"
            );
            (file, help)
        }
        (None, Some(path)) => (
            path.to_owned(),
            "run `layercake blame SITE SCHEMA NAME PATH` for one value".to_owned(),
        ),
        (None, None) => return Ok(()),
    };
    let message = format!("unexpected argument `{place}`: a log is of sites and documents");
    Err(Error::usage(message).with_help(help))
}

/// Prints each commit once it is known.
fn print_as_found(
    selection: &Selection,
    request: &LogRequest,
    terminal: &Terminal,
) -> Result<(), VerbFailure> {
    let mut outcome = Ok(LogEnd::Whole);
    print(|out| {
        let (mut written, mut commits) = (Ok(()), 0);
        let mut write = |effect: CommitEffect| {
            commits += 1;
            written = report::write_for_people(out, |out| {
                answer::log::write_commit(&effect, &terminal.style, out)
            });
            written = written.as_ref().map_or(Ok(()), |()| out.flush());
            written.is_ok()
        };
        outcome = terminal.watch(|control| log::run(selection, request, control, &mut write));
        written?;
        match &outcome {
            Ok(end) => answer::log::write_end(commits, *end, out),
            Err(_) => Ok(()),
        }
    })?;
    outcome?;
    Ok(())
}

fn collected(
    selection: &Selection,
    request: &LogRequest,
    terminal: &Terminal,
) -> Result<(Vec<CommitEffect>, LogEnd), VerbFailure> {
    let mut commits = Vec::new();
    let mut collect = |effect| {
        commits.push(effect);
        true
    };
    let end = terminal.watch(|control| log::run(selection, request, control, &mut collect))?;
    Ok((commits, end))
}

/// Exit code of a run: that of `SIGINT` if it was interrupted, `code` otherwise.
fn exit_code(stop: &Cancel, code: ExitCode) -> ExitCode {
    /// 128 + `SIGINT`, as shells report it.
    const INTERRUPTED: u8 = 130;
    if stop.is_cancelled() {
        ExitCode::from(INTERRUPTED)
    } else {
        code
    }
}

pub(super) fn blame(
    arguments: BlameArgs,
    directory: PathBuf,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    const FORM: &str = "layercake blame SITE SCHEMA NAME PATH, as in \
        `layercake blame lab armada/Chart/v1 keystone .values.pod.replicas`";
    let words: Vec<String> = arguments.first.into_iter().chain(arguments.rest).collect();
    let named = arguments.named.named(&words, true)?;
    let is_without_name = named.path.is_some() && named.name.is_none();
    let missing = [("SITE", named.site.is_none()), ("NAME", is_without_name)];
    let Some(site) = named.site.clone().filter(|_| !is_without_name) else {
        return Err(missing_arguments(&missing, FORM, named.site.as_deref()).into());
    };
    let mut history = arguments.history;
    let revision = history.end_of_range(arguments.rev);
    let selection = Selection {
        revision,
        ..arguments.reading.selection(directory)
    };
    let request = BlameRequest {
        site,
        schema: named.schema.unwrap_or_default(),
        name: named.name,
        path: named.path,
        question: match (arguments.when, arguments.why_not, arguments.finding) {
            (Some(value), ..) => BlameQuestion::When(value),
            (_, Some(place), _) => BlameQuestion::WhyNot(place),
            (.., Some(rule)) => BlameQuestion::Finding(rule),
            (None, None, None) => BlameQuestion::Value,
        },
        history: history.request(),
    };
    print_blame(&selection, &request, arguments.format, terminal)
}

/// Prints the history of a value.
pub(super) fn value_history(
    selection: &Selection,
    (site, question): (String, ValueQuestion),
    format: TextFormat,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let request = BlameRequest {
        site,
        schema: question.schema,
        name: Some(question.name),
        path: Some(question.path),
        question: BlameQuestion::Value,
        history: HistoryArgs::default().request(),
    };
    let format = match format {
        TextFormat::Text => BlameFormat::Text,
        TextFormat::Json => BlameFormat::Json,
    };
    print_blame(selection, &request, format, terminal)
}

fn print_blame(
    selection: &Selection,
    request: &BlameRequest,
    format: BlameFormat,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let is_history = request.path.is_some() && matches!(request.question, BlameQuestion::Value);
    if let (BlameFormat::Text, true) = (format, is_history) {
        return print_steps_as_found(selection, request, terminal);
    }
    let (checked, blame) =
        terminal.watch(|control| blame::run(selection, request, control, &mut |_, _| ()))?;
    let (view, style) = (view(&checked), &terminal.style);
    print(|out| match format {
        BlameFormat::Text => {
            report::write_for_people(out, |out| answer::blame::write(&blame, &view, style, out))
        }
        BlameFormat::Json => answer::blame::write_blame_json(&blame, &view, out),
        BlameFormat::Porcelain => answer::blame::write_porcelain(&blame, &view, out),
    })?;
    Ok(exit_code(
        &request.history.stop,
        exit_code_of_answer(&checked),
    ))
}

/// Prints each step of a value's history once it is known.
fn print_steps_as_found(
    selection: &Selection,
    request: &BlameRequest,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let style = &terminal.style;
    let mut outcome = None;
    print(|out| {
        let (mut written, mut is_first) = (Ok(()), true);
        let mut write = |part: &Blame, view: &View<'_>| {
            if written.is_ok() {
                written = report::write_for_people(out, |out| {
                    answer::blame::write_steps(part, is_first, view, style, out)
                })
                .and_then(|()| out.flush());
                is_first = false;
            }
            if written.is_err() {
                // The reader closed the pipe.
                request.history.stop.cancel();
            }
        };
        let ran = terminal.watch(|control| blame::run(selection, request, control, &mut write));
        written?;
        let (checked, blame) = match ran {
            Ok(ran) => ran,
            Err(error) => {
                outcome = Some(Err(error));
                return Ok(());
            }
        };
        report::write_for_people(out, |out| {
            answer::blame::write_end(&blame, &view(&checked), style, out)
        })?;
        outcome = Some(Ok(exit_code_of_answer(&checked)));
        Ok(())
    })?;
    match outcome {
        Some(code) => Ok(exit_code(&request.history.stop, code?)),
        // The reader closed the pipe.
        None => Ok(ExitCode::SUCCESS),
    }
}
