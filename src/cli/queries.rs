//! Output of the query verbs: `render`, `sites`, `graph`, `explain-value`, `impact` and `debug
//! side`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use layercake::check::Checked;
use layercake::commands::provenance::ValueQuestion;
use layercake::commands::render::Rendering;
use layercake::commands::sides::{ChosenSide, ChosenSides, MergeBase, SideSelection};
use layercake::commands::{self, Selection};
use layercake::error::{Error, ErrorKind};
use layercake::report::provenance::SiteValue;
use layercake::report::{self, View};

use super::arguments::{
    ExplainValueArgs, FailOn, GraphFormat, RenderFormat, SitesFormat, TextFormat,
};
use super::environment::environment;
use super::streams::{VerbFailure, complain, print};
use super::terminal::Terminal;
use super::view::{exit_code_of_answer, problems, view};

pub(super) fn render(
    selection: &Selection,
    wanted: &commands::render::RenderRequest,
    (format, look): (RenderFormat, report::DocumentOptions),
    fail_on: Option<FailOn>,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let rendering =
        terminal.watch(|progress| commands::render::run(selection, wanted, progress))?;
    let (checked, sites) = (&rendering.checked, &rendering.sites);
    print(|out| match format {
        RenderFormat::Yaml => report::documents::write(sites, &view(checked), look, out),
        RenderFormat::Json => report::model::rendered(sites, look, None, out),
    })?;
    complain(&not_rendered(&rendering));
    complain(&problems(checked));
    if checked.internal_error {
        return Ok(ExitCode::from(2));
    }
    let is_failed = match fail_on {
        Some(FailOn::Never) => false,
        Some(level) => level.is_reached(checked.findings.counts()) || !rendering.is_whole(),
        None => !rendering.is_whole(),
    };
    Ok(ExitCode::from(u8::from(is_failed)))
}

/// Lines that list the requested items which are not rendered.
pub(super) fn not_rendered(rendering: &Rendering) -> String {
    let Checked { undefined, unread, .. } = &rendering.checked;
    let undefined = undefined.iter().map(|site| {
        format!("site `{site}` is not rendered: its definition is missing or broken\n")
    });
    let unread = unread.iter().map(|path| {
        format!("documents of `{path}` are missing: the file cannot be read completely\n")
    });
    let missing = rendering.missing.iter().map(|(site, key)| {
        let site = site.as_ref().map(|site| format!(" of site `{site}`")).unwrap_or_default();
        format!("`{}` ({}){site} is not rendered\n", key.name, key.schema)
    });
    let empty = rendering.is_empty().then(|| "no requested document is rendered\n".into());
    undefined.chain(unread).chain(missing).chain(empty).collect()
}

pub(super) fn sites(
    selection: &Selection,
    format: SitesFormat,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let listed = terminal.watch(|progress| commands::sites::run(selection, progress))?;
    print(|out| match format {
        SitesFormat::Table => report::write_for_people(out, |out| {
            report::sites::write(&listed.rows, &terminal.style, out)
        }),
        SitesFormat::Json => report::model::site_rows(&listed.rows, out),
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

pub(super) fn side(directory: &Path, wanted: &SideSelection) -> Result<ExitCode, VerbFailure> {
    let Some(listing) = commands::listing::run(directory, wanted, &environment(wanted)?)? else {
        print(|out| writeln!(out, "no comparison"))?;
        return Ok(ExitCode::SUCCESS);
    };
    let ChosenSides { from, to, chosen, .. } = &listing.sides;
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

pub(super) fn explain_value(
    arguments: ExplainValueArgs,
    directory: PathBuf,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let (site, question) = parse_value_arguments(&arguments.words(), arguments.all_sites)?;
    let selection = Selection {
        revision: arguments.rev,
        set: arguments.set,
        ..arguments.reading.selection(directory)
    };
    let (format, style) = (arguments.format, &terminal.style);
    if arguments.history {
        return super::history::value_history(&selection, (site, question), format, terminal);
    }
    if arguments.since.is_some() {
        let merge_base = if arguments.no_merge_base { MergeBase::Skip } else { MergeBase::Use };
        let wanted =
            SideSelection { since: arguments.since, merge_base, ..SideSelection::default() };
        let (checked, since) = terminal.watch(|progress| {
            commands::explain_since::run(&selection, &wanted, &site, &question, progress)
        })?;
        return answer(&checked, format, |view, out| match format {
            TextFormat::Text => report::since::write_provenance_since(&since, view, style, out),
            TextFormat::Json => report::since::write_provenance_since_json(&since, view, out),
        });
    }
    if let Some(place) = &arguments.why_not {
        let (checked, texts) = terminal.watch(|progress| {
            commands::explain_value::why_not(&selection, &site, &question, place, progress)
        })?;
        return answer(&checked, format, |view, out| match format {
            TextFormat::Text => report::provenance::write_why_not(&texts, view, style, out),
            TextFormat::Json => report::provenance::write_why_not_json(&texts, view, out),
        });
    }
    if arguments.all_sites {
        let (checked, values) = terminal
            .watch(|progress| commands::explain_value::all(&selection, &question, progress))?;
        return answer(&checked, format, |view, out| match format {
            TextFormat::Text => report::provenance::write_values(&values, view, style, out),
            TextFormat::Json => report::provenance::write_provenance_json(&values, view, out),
        });
    }
    let (checked, way) = terminal
        .watch(|progress| commands::explain_value::one(&selection, &site, &question, progress))?;
    answer(&checked, format, |view, out| match format {
        TextFormat::Text => report::provenance::write_provenance(&way, view, style, out),
        TextFormat::Json => {
            let value = SiteValue { site: way.site.clone(), way: Some(way) };
            report::provenance::write_provenance_json(&[value], view, out)
        }
    })
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
    Ok(exit_code_of_answer(checked))
}

/// Parses the site and the value that the arguments name. The schema is optional.
pub(super) fn parse_value_arguments(
    arguments: &[String],
    all_sites: bool,
) -> Result<(String, ValueQuestion), Error> {
    let all = if all_sites { 3 } else { 4 };
    if arguments.len() > all {
        return Err(Error::new(ErrorKind::Usage, "unexpected argument SITE with `--all-sites`")
            .with_help("layercake explain-value --all-sites SCHEMA NAME PATH"));
    }
    let is_complete = arguments.len() == all;
    let is_path = |text: &str| text.starts_with(['.', '$', '/', '[']);
    let is_schema = |text: &str| !is_path(text) && text.split('/').count() == 3;
    // Where some are missing, their form decides which.
    let (path, rest) = match arguments.split_last() {
        Some((path, rest)) if is_complete || is_path(path) => (Some(path), rest),
        Some(_) | None => (None, arguments),
    };
    let (site, rest) = match rest.split_first() {
        Some((site, rest)) if !all_sites && (is_complete || !is_schema(site)) => (Some(site), rest),
        Some(_) | None => (None, rest),
    };
    let (schema, name) = match rest {
        [schema, name] => (Some(schema), Some(name)),
        [schema] if is_schema(schema) => (Some(schema), None),
        [name] => (None, Some(name)),
        _ => (None, None),
    };
    match (site, name, path) {
        (site, Some(name), Some(path)) if all_sites || site.is_some() => {
            let (name, path) = (name.clone(), path.clone());
            let question =
                ValueQuestion { schema: schema.cloned().unwrap_or_default(), name, path };
            Ok((site.cloned().unwrap_or_default(), question))
        }
        (site, name, path) => Err(missing_arguments(site.is_none() && !all_sites, name, path)),
    }
}

/// Error that names the missing arguments.
pub(super) fn missing_arguments(
    is_site_missing: bool,
    name: Option<&String>,
    path: Option<&String>,
) -> Error {
    let of_each = [("SITE", is_site_missing), ("NAME", name.is_none()), ("PATH", path.is_none())];
    let missing: Vec<&str> =
        of_each.iter().filter(|(_, is_missing)| *is_missing).map(|(word, _)| *word).collect();
    let arguments = if missing.len() == 1 { "argument" } else { "arguments" };
    let message = format!("missing {arguments} {}", missing.join(", "));
    let help = if is_site_missing {
        "pass a site name, `-` for files without sites, or `--all-sites`"
    } else {
        "layercake explain-value SITE SCHEMA NAME PATH, as in \
         `layercake explain-value lab armada/Chart/v1 keystone .values.pod.replicas`"
    };
    Error::new(ErrorKind::Usage, message).with_help(help)
}

pub(super) fn impact(
    selection: &Selection,
    place: &str,
    format: TextFormat,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let (checked, impact) =
        terminal.watch(|progress| commands::impact::run(selection, place, progress))?;
    answer(&checked, format, |view, out| match format {
        TextFormat::Text => report::impact::write(&impact, view, &terminal.style, out),
        TextFormat::Json => report::impact::write_impact_json(&impact, view, out),
    })
}

pub(super) fn graph(
    selection: &Selection,
    format: GraphFormat,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let checked = terminal.watch(|progress| commands::graph::run(selection, progress))?;
    let (checked, graphs) = checked.without_taken();
    let view = view(&checked);
    print(|out| match format {
        GraphFormat::Text => report::write_for_people(out, |out| {
            report::graph::write(&graphs, &view, &terminal.style, out)
        }),
        GraphFormat::Dot => report::graph::write_dot(&graphs, &view, out),
        GraphFormat::Mermaid => report::graph::write_mermaid(&graphs, &view, out),
        GraphFormat::Json => report::graph::write_graph_json(&graphs, &view, out),
    })?;
    complain(&problems(&checked));
    Ok(exit_code_of_answer(&checked))
}
