//! Output of the query verbs: `render`, `sites`, `graph`, `explain-value`, `impact` and `debug
//! side`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use layercake::ask::ValueQuestion;
use layercake::check::{Checked, ParseTotals, RunControl};
use layercake::commands::names::{NamedValue, Target, is_file, missing_arguments};
use layercake::commands::places::entered;
use layercake::commands::sides::{ChosenSide, ChosenSides, SideSelection};
use layercake::commands::{self, Selection};
use layercake::error::Error;
use layercake::report::answer::provenance::SiteValue;
use layercake::report::answer::{graph, impact, provenance, since, write_answer, write_list};
use layercake::report::{self, View};
use layercake::source::DocKey;

use super::arguments::{
    ConfigArgs, ExplainValueArgs, FailOn, GraphFormat, RenderFormat, RepositoryArgs, SelectionArgs,
    SitesFormat, TargetArgs, TextFormat, since_revision,
};
use super::candidates;
use super::environment::environment;
use super::streams::{VerbFailure, complain, print};
use super::terminal::Terminal;
use super::view::{exit_code_of_answer, problems, unread, view};

/// Arguments of `render`.
#[derive(Debug, Args)]
pub(super) struct RenderArgs {
    #[command(flatten)]
    target: TargetArgs,

    #[command(flatten)]
    selection: SelectionArgs,

    /// Output format
    #[arg(short = 'o', long, value_name = "FORMAT", default_value = "yaml")]
    #[arg(alias = "output-format", help_heading = "Output")]
    format: RenderFormat,

    /// Add `# FILE:LINE` to each value: where it was written
    #[arg(long, help_heading = "Output")]
    with_origin: bool,

    /// Print secrets instead of `(hidden)`
    #[arg(long, help_heading = "Output")]
    show_secrets: bool,

    /// Run the rules too, and exit with 1 if there are findings of this level or above
    ///
    /// With `never`, exit with 0 even if some documents are not rendered.
    #[arg(long, value_name = "LEVEL", help_heading = "Output")]
    fail_on: Option<FailOn>,
}

pub(super) fn render(
    arguments: RenderArgs,
    directory: PathBuf,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let RenderArgs {
        target,
        selection,
        format,
        with_origin,
        show_secrets,
        fail_on,
    } = arguments;
    let Target {
        selection,
        documents,
        path,
    } = target.target(selection.selection(directory))?;
    let is_judged = fail_on.is_some_and(|level| level != FailOn::Never);
    let wanted = commands::render::RenderRequest {
        documents,
        path,
        is_judged,
    };
    let look = report::DocumentOptions {
        show_secrets,
        with_origin,
    };
    let rendering =
        terminal.watch(|control| commands::render::run(&selection, &wanted, control))?;
    let (checked, sites) = (&rendering.checked, &rendering.sites);
    print(|out| match format {
        RenderFormat::Yaml => report::documents::write(sites, &view(checked), look, out),
        RenderFormat::Json => report::model::rendered(sites, look, None, out),
    })?;
    complain(&not_rendered(checked, &rendering.missing));
    if rendering.is_empty() {
        complain("no requested document is rendered\n");
    }
    complain(&problems(checked));
    if checked.internal_error {
        return Ok(ExitCode::from(2));
    }
    let is_failed = match fail_on {
        Some(FailOn::Never) => false,
        Some(level) => checked.findings.counts().reach(level.severity()) || !rendering.is_whole(),
        None => !rendering.is_whole(),
    };
    Ok(ExitCode::from(u8::from(is_failed)))
}

/// Lines that list the requested items which are not rendered; `missing` are documents, with their
/// sites.
pub(super) fn not_rendered(
    checked: &Checked<()>,
    missing: &[(Option<Arc<str>>, DocKey)],
) -> String {
    let undefined = checked.undefined.iter().map(|site| {
        format!("site `{site}` is not rendered: its definition is missing or broken\n")
    });
    let missing = missing.iter().map(|(site, key)| {
        let site = site
            .as_ref()
            .map(|site| format!(" of site `{site}`"))
            .unwrap_or_default();
        format!("`{}` ({}){site} is not rendered\n", key.name, key.schema)
    });
    undefined.chain([unread(checked)]).chain(missing).collect()
}

/// Arguments of `sites`.
#[derive(Debug, Args)]
pub(super) struct SitesArgs {
    /// Names of sites, or the folder of a site repository
    #[arg(value_name = "SITE|DIR", add = candidates::sites())]
    words: Vec<String>,

    #[command(flatten)]
    repository: RepositoryArgs,

    #[command(flatten)]
    config: ConfigArgs,

    /// Output format
    #[arg(short = 'o', long, value_name = "FORMAT", default_value = "table")]
    #[arg(alias = "output-format", help_heading = "Output")]
    format: SitesFormat,
}

pub(super) fn sites(
    arguments: SitesArgs,
    directory: PathBuf,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let SitesArgs {
        words,
        repository,
        config,
        format,
    } = arguments;
    let selection = Selection {
        configuration: config.place(),
        ..repository.selection(directory)
    };
    let (files, sites): (Vec<String>, Vec<String>) = words
        .into_iter()
        .partition(|word| is_file(&selection, word));
    let files = files.into_iter().map(PathBuf::from).collect();
    let sites = selection.sites.iter().cloned().chain(sites).collect();
    let selection = entered(Selection {
        files,
        sites,
        ..selection
    })?;
    if let Some(file) = selection.files.first() {
        let message = format!(
            "`{}` is neither a site nor the folder of a site repository",
            file.display()
        );
        let help = "run `layercake sites` to list all sites";
        return Err(Error::usage(message).with_help(help).into());
    }
    let listed = terminal.watch(|control| commands::sites::run(&selection, control))?;
    print(|out| match format {
        SitesFormat::Table => report::write_for_people(out, |out| {
            report::sites::write(&listed.rows, &terminal.style, out)
        }),
        SitesFormat::Json => write_list("sites", &listed.rows, out),
    })?;
    for site in &listed.undefined {
        complain(&format!(
            "site `{site}` is not listed: its definition is missing or broken; \
             run `layercake lint` for details\n"
        ));
    }
    if listed.internal_error {
        return Ok(ExitCode::from(2));
    }
    Ok(ExitCode::from(u8::from(!listed.undefined.is_empty())))
}

/// Prints what `debug parse` reads.
pub(super) fn parse(selection: &Selection) -> Result<ExitCode, VerbFailure> {
    let ParseTotals { files, documents } =
        commands::parse::run(selection, &RunControl::before_exit())?;
    print(|out| writeln!(out, "{files} files, {documents} documents"))?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn side(directory: &Path, wanted: &SideSelection) -> Result<ExitCode, VerbFailure> {
    let Some(listing) = commands::listing::run(directory, wanted, &environment(wanted)?)? else {
        print(|out| writeln!(out, "no comparison"))?;
        return Ok(ExitCode::SUCCESS);
    };
    let ChosenSides {
        from, to, chosen, ..
    } = &listing.sides;
    print(|out| {
        writeln!(out, "chosen: {}: {}", chosen.code, chosen.sentence)?;
        for (word, side) in [("from", from), ("to", to)] {
            match side {
                ChosenSide::Commit { id, .. } => writeln!(out, "{word}: commit {id}")?,
                ChosenSide::Nothing | ChosenSide::Index | ChosenSide::WorkTree => {
                    writeln!(out, "{word}: {side}")?;
                }
            }
        }
        for (path, content) in &listing.files {
            match content {
                Some(content) => writeln!(out, "{content} {path}")?,
                None => writeln!(out, "- {path}")?,
            }
        }
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}

const EXPLAIN_VALUE_FORM: &str = "layercake explain-value SITE SCHEMA NAME PATH, as in \
    `layercake explain-value lab armada/Chart/v1 keystone .values.pod.replicas`";

const WITHOUT_SITE: &str = "pass a site name, `-` for files without sites, or `--all-sites`";

pub(super) fn explain_value(
    arguments: ExplainValueArgs,
    directory: PathBuf,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let all_sites = arguments.is_of_several_sites();
    let (site, question) = named_value(&arguments, all_sites)?;
    let sites = arguments
        .named
        .site
        .filter(|_| all_sites)
        .into_iter()
        .collect();
    let (revision, set) = (arguments.rev, arguments.set);
    let selection = Selection {
        revision,
        set,
        sites,
        ..arguments.reading.selection(directory)
    };
    let (format, style) = (arguments.format, &terminal.style);
    if arguments.history {
        return super::history::value_history(&selection, (site, question), format, terminal);
    }
    if arguments.since.is_some() {
        let wanted = since_revision(arguments.since, arguments.no_merge_base);
        let (checked, since) = terminal.watch(|control| {
            commands::explain_since::run(&selection, &wanted, &site, &question, control)
        })?;
        return answer(&checked, format, |view, out| {
            let since = since.located(view);
            match format {
                TextFormat::Text => since::write_provenance_since(&since, style, out),
                TextFormat::Json => write_answer(&since, out),
            }
        });
    }
    if let Some(place) = &arguments.why_not {
        let (checked, texts) = terminal.watch(|control| {
            commands::explain_value::why_not(&selection, &site, &question, place, control)
        })?;
        return answer(&checked, format, |view, out| {
            let texts: Vec<_> = texts.into_iter().map(|text| text.located(view)).collect();
            match format {
                TextFormat::Text => provenance::write_why_not(&texts, style, out),
                TextFormat::Json => write_list("texts", &texts, out),
            }
        });
    }
    if all_sites {
        let (checked, values) = terminal
            .watch(|control| commands::explain_value::all(&selection, &question, control))?;
        return answer(&checked, format, |view, out| {
            let values: Vec<_> = values.into_iter().map(|it| it.located(view)).collect();
            match format {
                TextFormat::Text => provenance::write_values(&values, style, out),
                TextFormat::Json => write_list("sites", &values, out),
            }
        });
    }
    let (checked, way) = terminal
        .watch(|control| commands::explain_value::one(&selection, &site, &question, control))?;
    answer(&checked, format, |view, out| {
        let way = way.located(view);
        match format {
            TextFormat::Text => provenance::write_provenance(&way, style, out),
            TextFormat::Json => {
                let site = way.site.clone();
                let way = Some(way);
                write_list("sites", &[SiteValue { site, way }], out)
            }
        }
    })
}

/// Site and value that the arguments name; the site is empty if several are meant.
fn named_value(
    arguments: &ExplainValueArgs,
    all_sites: bool,
) -> Result<(String, ValueQuestion), Error> {
    let named = arguments
        .named
        .clone()
        .named(&arguments.words(), !all_sites)?;
    match named.site.clone().filter(|_| !all_sites) {
        None if !all_sites => {
            let missing = [
                ("SITE", true),
                ("NAME", named.name.is_none()),
                ("PATH", named.path.is_none()),
            ];
            Err(missing_arguments(&missing, WITHOUT_SITE, None))
        }
        site => Ok((
            site.unwrap_or_default(),
            named.question(EXPLAIN_VALUE_FORM)?,
        )),
    }
}

/// Prints the answer to a query.
fn answer(
    checked: &Checked<()>,
    format: TextFormat,
    write: impl FnOnce(&View<'_>, &mut dyn Write) -> io::Result<()>,
) -> Result<ExitCode, VerbFailure> {
    let view = view(checked);
    print(|out| match format {
        TextFormat::Text => report::write_for_people(out, |out| write(&view, out)),
        TextFormat::Json => write(&view, out),
    })?;
    complain(&unread(checked));
    Ok(exit_code_of_answer(checked))
}

/// Arguments of `impact`.
#[derive(Debug, Args)]
pub(super) struct ImpactArgs {
    /// A file, a folder, or one line of a file; or site, schema, name and path of a value
    #[arg(value_name = "FILE[:LINE]|SITE", required = true)]
    words: Vec<String>,

    /// Schema of the document, as the argument SCHEMA
    #[arg(long, value_name = "SCHEMA", help_heading = "Document selection")]
    schema: Option<String>,

    /// Name of the document, as the argument NAME
    #[arg(long, value_name = "NAME", help_heading = "Document selection")]
    name: Option<String>,

    #[command(flatten)]
    selection: SelectionArgs,

    /// Output format
    #[arg(short = 'o', long, value_name = "FORMAT", default_value = "text")]
    #[arg(alias = "output-format", help_heading = "Output")]
    format: TextFormat,
}

pub(super) fn impact(
    arguments: ImpactArgs,
    directory: PathBuf,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let ImpactArgs {
        words,
        schema,
        name,
        selection,
        format,
    } = arguments;
    let selection = selection.selection(directory);
    let (checked, impact) = terminal.watch(|control| match &words[..] {
        [place] if selection.set || is_file(&selection, place) => {
            commands::impact::run(&selection, place, control)
        }
        words => {
            let site = selection.sites.first().cloned();
            let flags = NamedValue {
                site,
                schema,
                name,
                path: None,
            };
            let named = NamedValue::parse(words, flags, true)?;
            commands::impact::of_value(&selection, named, control)
        }
    })?;
    answer(&checked, format, |view, out| {
        let impact = impact.located(view);
        match format {
            TextFormat::Text => impact::write(&impact, &terminal.style, out),
            TextFormat::Json => write_answer(&impact, out),
        }
    })
}

/// Arguments of `graph`.
#[derive(Debug, Args)]
pub(super) struct GraphArgs {
    #[command(flatten)]
    target: TargetArgs,

    #[command(flatten)]
    selection: SelectionArgs,

    /// Output format
    #[arg(short = 'o', long, value_name = "FORMAT", default_value = "text")]
    #[arg(alias = "output-format", help_heading = "Output")]
    format: GraphFormat,
}

pub(super) fn graph(
    arguments: GraphArgs,
    directory: PathBuf,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let GraphArgs {
        target,
        selection,
        format,
    } = arguments;
    let Target {
        selection,
        documents,
        path,
    } = target.target(selection.selection(directory))?;
    if let Some(path) = path {
        let message = format!("unexpected argument `{path}`: a graph has documents, not values");
        let help = "run `layercake explain-value SITE SCHEMA NAME PATH` to trace a value";
        return Err(Error::usage(message).with_help(help).into());
    }
    let (checked, graphs) =
        terminal.watch(|control| commands::graph::run(&selection, &documents, control))?;
    let view = view(&checked);
    let graphs: Vec<_> = graphs.into_iter().map(|it| it.located(&view)).collect();
    print(|out| match format {
        GraphFormat::Text => {
            report::write_for_people(out, |out| graph::write(&graphs, &terminal.style, out))
        }
        GraphFormat::Dot => graph::write_dot(&graphs, out),
        GraphFormat::Mermaid => graph::write_mermaid(&graphs, out),
        GraphFormat::Json => write_list("sites", &graphs, out),
    })?;
    complain(&unread(&checked));
    complain(&problems(&checked));
    Ok(exit_code_of_answer(&checked))
}
