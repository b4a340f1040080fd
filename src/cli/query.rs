//! `query`: values of rendered documents.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use layercake::commands;
use layercake::commands::Selection;
use layercake::commands::query::QueryRequest;
use layercake::report;
use layercake::report::answer::{query, write_answer};

use super::arguments::{DocumentArgs, SelectionArgs, since_revision};
use super::candidates;
use super::queries::not_rendered;
use super::streams::{VerbFailure, complain, print};
use super::terminal::Terminal;
use super::view::{problems, view};

/// Arguments of `query`.
#[derive(Debug, Args)]
pub(super) struct QueryArgs {
    /// A JSONPath (RFC 9535) from the data of each document, as `$.values.pod.replicas`; or the name of
    /// a query; without it, list these names
    #[arg(value_name = "EXPRESSION")]
    expression: Option<String>,

    /// Files or folders: only documents in them
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    documents: DocumentArgs,

    /// Only values that match this glob, e.g. `*/heat:*`
    #[arg(long, value_name = "GLOB", help_heading = "Document selection")]
    value: Vec<String>,

    /// Only values that differ from the merge base of REV and HEAD, with both values
    #[arg(long, value_name = "REV", conflicts_with_all = ["rev", "set"])]
    #[arg(add = candidates::revisions(), help_heading = "Comparison")]
    since: Option<String>,

    /// Compare with REV itself instead of its merge base with HEAD
    #[arg(long, requires = "since", help_heading = "Comparison")]
    no_merge_base: bool,

    #[command(flatten)]
    selection: SelectionArgs,

    /// Output format; in JSON and CSV, a row for each value
    #[arg(short = 'o', long, value_name = "FORMAT", default_value = "text")]
    #[arg(alias = "output-format", help_heading = "Output")]
    format: QueryFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum QueryFormat {
    Text,
    Json,
    Csv,
}

pub(super) fn query(
    arguments: QueryArgs,
    directory: PathBuf,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let selection = Selection {
        files: arguments.files,
        ..arguments.selection.selection(directory)
    };
    let selection = commands::places::entered(selection)?;
    let Some(expression) = arguments.expression else {
        return list(&selection);
    };
    let request = QueryRequest {
        expression,
        documents: arguments.documents.globs(),
        values: arguments.value,
    };
    let wanted = since_revision(arguments.since, arguments.no_merge_base);
    let queried =
        terminal.watch(|control| commands::query::run(&selection, &wanted, &request, control))?;
    let is_found = !queried.answer.is_empty() || wanted.since.is_some();
    let (is_whole, checked) = (queried.is_whole(), &queried.checked);
    let view = view(checked);
    let answer = queried.answer.located(&view);
    print(|out| match arguments.format {
        QueryFormat::Text => {
            report::write_for_people(out, |out| query::write(&answer, &terminal.style, out))
        }
        QueryFormat::Json => write_answer(&answer, out),
        QueryFormat::Csv => query::write_csv(&answer, out),
    })?;
    complain(&not_rendered(checked, &queried.missing));
    complain(&problems(checked));
    if checked.internal_error {
        return Ok(ExitCode::from(2));
    }
    Ok(ExitCode::from(u8::from(!is_found || !is_whole)))
}

/// Prints the names of queries.
fn list(selection: &Selection) -> Result<ExitCode, VerbFailure> {
    let queries = commands::query::list(selection)?;
    let width = queries
        .iter()
        .map(|[name, _]| name.chars().count())
        .max()
        .unwrap_or(0);
    print(|out| {
        queries.iter().try_for_each(|[name, description]| {
            let line = report::printable_lines(&format!("{name:width$}  {description}"));
            writeln!(out, "{line}")
        })
    })?;
    Ok(ExitCode::SUCCESS)
}
