//! The command line: what a verb prints, and the one place with standard
//! output, standard error and the environment.

mod arguments;
mod cloud_config;
mod comparison;
mod completions;
mod config;
mod demo;
mod fault;
mod hygiene;
mod manual;
mod outputs;
mod saved;
mod terminal;

use std::ffi::OsString;
use std::io::{self, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue};
use layercake::check::{Checked, MAX_THREADS, Progress, limit_threads, threads};
use layercake::commands::configuration::Place as ConfigurationPlace;
use layercake::commands::demo::Example;
use layercake::commands::provenance::Question;
use layercake::commands::render::Rendering;
use layercake::commands::repositories::VARIABLE;
use layercake::commands::sides::{Environment, MergeBase, Side, Sides, Wanted};
use layercake::commands::{self, Selection};
use layercake::ending;
use layercake::error::{Error, ErrorKind};
use layercake::guard::{self, Place};
use layercake::report::provenance::SiteValue;
use layercake::report::{self, Format, Listing, Style, View};
use layercake::rules::RULES;
use layercake::source::{Source, text_at, write_file, write_own_file};
use layercake::stopwatch::{Stage, Stopwatch, lap};

use self::arguments::{
    Cli, Debug, ExplainValueArgs, FailOn, GraphFormat, NamedBy, Output, RenderFormat, SitesFormat,
    TextFormat, Verb,
};
use self::terminal::{PAGE, Terminal};

/// Runs the command line.
pub(crate) fn run() -> ExitCode {
    fault::tell_where();
    ending::announce();
    limit_threads_asked_for();
    let arguments = std::env::args_os();
    guard::guarded(Place::Run, || parsed(arguments)).unwrap_or_else(|| {
        complain(fault::GIVEN_UP);
        ExitCode::from(2)
    })
}

/// The environment variables from which rayon takes its number of threads.
const THREAD_VARIABLES: [&str; 2] = ["RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS"];

#[expect(clippy::disallowed_methods, reason = "the environment is read in cli/")]
fn limit_threads_asked_for() {
    let asked = THREAD_VARIABLES.into_iter().find_map(|name| {
        let number: usize = std::env::var_os(name)?.to_str()?.parse().ok()?;
        (number > 0).then_some((name, number))
    });
    if let Some((name, number)) = asked
        && limit_threads(number)
    {
        complain(&format!("warning: {name} is {number}; {MAX_THREADS} threads are used\n"));
    }
}

fn parsed(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match Cli::try_parse_from(arguments) {
        Ok(cli) if cli.global.timing => timed(|| ended(verb(cli))),
        Ok(cli) => ended(verb(cli)),
        Err(refusal) => ended(refuse(&refusal)),
    }
}

/// Does `work`, and tells on standard error where its time went.
fn timed(work: impl FnOnce() -> ExitCode) -> ExitCode {
    let stopwatch = Stopwatch::start();
    let code = stopwatch.time(work);
    let mut table = Vec::new();
    report::timing::write(&stopwatch.times(), threads(), &mut table)
        .expect("a table in memory takes all lines");
    complain(&String::from_utf8_lossy(&table));
    code
}

/// The exit code; why a verb did not come to its end is told.
fn ended(done: Result<ExitCode, Failure>) -> ExitCode {
    match done {
        Ok(code) => code,
        Err(Failure::Work(error)) => {
            explain_failure(&error);
            ExitCode::from(2)
        }
        Err(Failure::Output(error)) => {
            complain(&format!("error: the output cannot be written: {error}\n"));
            ExitCode::from(2)
        }
    }
}

/// Why a verb did not come to its end.
enum Failure {
    Work(Error),
    Output(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Work(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

/// What comes of arguments that ask for help, or mean nothing.
fn refuse(refusal: &clap::Error) -> Result<ExitCode, Failure> {
    let unknown = refusal.get(ContextKind::InvalidArg);
    if matches!(unknown, Some(ContextValue::String(flag)) if flag == "--show-secrets") {
        complain(
            "error: `--show-secrets` belongs to `layercake render` alone\n  \
             help: no other command shows a secret\n",
        );
        return Ok(ExitCode::from(2));
    }
    if refusal.use_stderr() {
        complain(&refusal.render().to_string());
        return Ok(ExitCode::from(2));
    }
    unless_closed(refusal.print())?;
    Ok(ExitCode::SUCCESS)
}

fn verb(cli: Cli) -> Result<ExitCode, Failure> {
    let terminal = Terminal::new(cli.global.color, cli.global.no_progress);
    let directory = cli.global.directory;
    match cli.verb {
        Verb::Lint {
            selection,
            comparison,
            reach,
            rules,
            config_from_base,
            fail_on,
            exit_zero,
            baseline,
            mend,
            all_findings,
            show_ignored,
            statistics,
            look,
            outputs,
        } => {
            let request = reach.request(comparison)?;
            comparison::refuse_revision(&selection, &request.wanted)?;
            let listing = Listing { all: all_findings, ignored: show_ignored };
            let look = look.look(listing);
            let (selectors, baseline) = (rules.selectors(), baseline.choice());
            let selection = selection.selection(directory);
            let configuration =
                if config_from_base { ConfigurationPlace::Base } else { selection.configuration };
            let selection = Selection { selectors, baseline, configuration, ..selection };
            let fail_on = if exit_zero { FailOn::Never } else { fail_on };
            let asked = comparison::Asked { request, look, statistics, mend, fail_on, outputs };
            comparison::lint(&selection, &asked, &terminal)
        }
        Verb::Baseline(verb) => hygiene::baseline(verb, directory, &terminal),
        Verb::Diff(arguments) => comparison::diff(arguments, directory, &terminal),
        Verb::Render { selection, schema, name, format, with_origin, show_secrets, fail_on } => {
            let is_judged = fail_on.is_some_and(|level| level != FailOn::Never);
            let wanted = commands::render::Wanted { schemas: schema, names: name, is_judged };
            let selection = selection.selection(directory);
            let look = report::DocumentsLook { show_secrets, with_origin };
            render(&selection, &wanted, (format, look), fail_on, &terminal)
        }
        Verb::CloudConfig(arguments) => cloud_config::cloud_config(arguments, directory, &terminal),
        Verb::Report(arguments) => saved::report(arguments, directory, &terminal),
        Verb::Sites { repository, config, format } => {
            let configuration = config.place();
            let selection = Selection { configuration, ..repository.selection(directory) };
            sites(&selection, format, &terminal)
        }
        Verb::ExplainValue(arguments) => explain_value(arguments, directory, &terminal),
        Verb::Impact { place, repository, meaning, config, format } => {
            let (meaning, configuration) = (meaning.meaning(), config.place());
            let selection = repository.selection(directory);
            let selection = Selection { meaning, configuration, ..selection };
            impact(&selection, &place, format, &terminal)
        }
        Verb::Graph { selection, format } => {
            graph(&selection.selection(directory), format, &terminal)
        }
        Verb::Demo { folder, repositories } => {
            let is_here = directory == Path::new(".");
            let inside = |folder| if is_here { folder } else { directory.join(folder) };
            let example = if repositories { Example::Several } else { Example::One };
            demo::demo(folder.map(inside), example, &terminal)
        }
        Verb::Explain { rule } => {
            let style = &terminal.style;
            let rules = rule.map(|name| commands::explain::rules_of(&name)).transpose()?;
            print(|out| match rules.as_deref() {
                Some([rule]) => report::page::write(rule, style, out),
                rules => report::rules::write_list(rules.unwrap_or(RULES), style, out),
            })?;
            Ok(ExitCode::SUCCESS)
        }
        Verb::Rules { rules, config, format } => {
            config::rules(&directory, &config.place(), rules.selectors(), format, &terminal)
        }
        Verb::Config(verb) => config::config(&directory, verb),
        Verb::Init => config::init(&directory),
        Verb::Completions { shell } => completions::completions(shell),
        Verb::Man { verb, dir } => match dir {
            Some(folder) => manual::write(&directory.join(folder)),
            None => manual::print_page(&verb),
        },
        Verb::Debug(Debug::Parse { selection }) => {
            let selection = selection.selection(directory);
            let totals = commands::parse::run(&selection, &Progress::default())?;
            let (files, documents, bytes) = (totals.files, totals.documents, totals.bytes);
            print(|out| writeln!(out, "{files} files, {documents} documents, {bytes} bytes"))?;
            Ok(ExitCode::SUCCESS)
        }
        Verb::Debug(Debug::Side { comparison }) => side(&directory, &comparison.wanted()),
        Verb::Debug(Debug::Fail { places, arguments }) => {
            guard::plant(places);
            Ok(parsed(std::iter::once("layercake".into()).chain(arguments)))
        }
    }
}

/// Writes each report to where it goes, files first: what is printed last is
/// then all that there is to say. Files have no colours and the width of a
/// page, whatever the terminal has.
fn deliver(
    outputs: &[Output],
    directory: &Path,
    terminal: &Terminal,
    write: impl Fn(Format, &Style, &mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let page = Style { width: PAGE, color: false, unicode: true, links: false };
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

/// All that standard input has.
#[expect(clippy::disallowed_methods, reason = "what another program prints can be read")]
fn standard_input() -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let most = Source::MAX_BYTES + 1;
    let read = io::stdin().lock().take(most).read_to_end(&mut bytes);
    read.map_err(|cause| {
        Error::new(ErrorKind::Io, "standard input cannot be read").caused_by(cause)
    })?;
    if bytes.len() as u64 == most {
        let message = format!("standard input has more than {} MiB", Source::MAX_BYTES >> 20);
        return Err(Error::new(ErrorKind::Io, message).into());
    }
    Ok(bytes)
}

fn render(
    selection: &Selection,
    wanted: &commands::render::Wanted,
    (format, look): (RenderFormat, report::DocumentsLook),
    fail_on: Option<FailOn>,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let rendering =
        terminal.watch(|progress| commands::render::run(selection, wanted, progress))?;
    let (checked, sites) = (&rendering.checked, &rendering.sites);
    print(|out| match format {
        RenderFormat::Yaml => report::documents::write(sites, &view(checked), look, out),
        RenderFormat::Json => report::model::rendered(sites, look, out),
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

/// A line for each thing that was asked for and is not rendered.
fn not_rendered(rendering: &Rendering) -> String {
    let Checked { undefined, unread, .. } = &rendering.checked;
    let undefined = undefined.iter().map(|site| {
        format!("site `{site}` is not rendered: its definition is missing or broken\n")
    });
    let unread = unread
        .iter()
        .map(|path| format!("documents of `{path}` are missing: it cannot be read to its end\n"));
    let missing = rendering.missing.iter().map(|(site, key)| {
        let site = site.as_ref().map(|site| format!(" of site `{site}`")).unwrap_or_default();
        format!("`{}` ({}){site} is not rendered\n", key.name, key.schema)
    });
    let empty = rendering.is_empty().then(|| "no document is rendered that is asked for\n".into());
    undefined.chain(unread).chain(missing).chain(empty).collect()
}

fn sites(
    selection: &Selection,
    format: SitesFormat,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
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
             `layercake lint` shows how\n"
        ));
    }
    if listed.internal_error {
        return Ok(ExitCode::from(2));
    }
    Ok(ExitCode::from(u8::from(!listed.undefined.is_empty())))
}

fn side(directory: &Path, wanted: &Wanted) -> Result<ExitCode, Failure> {
    let Some(listing) = commands::listing::run(directory, wanted, &environment(wanted)?)? else {
        print(|out| writeln!(out, "no comparison"))?;
        return Ok(ExitCode::SUCCESS);
    };
    let Sides { from, to, chosen, .. } = &listing.sides;
    print(|out| {
        writeln!(out, "chosen: {}: {}", chosen.code, chosen.sentence)?;
        for (word, side) in [("from", from), ("to", to)] {
            match side {
                Side::Commit { id, .. } => writeln!(out, "{word}: commit {id}")?,
                Side::Nothing | Side::Index | Side::WorkTree => writeln!(out, "{word}: {side}")?,
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

/// The clones that the environment names, one a line.
#[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
fn repositories_of_environment() -> Vec<String> {
    let named = std::env::var(VARIABLE).unwrap_or_default();
    named.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// The configuration file that the environment names.
#[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
fn named_configuration() -> Option<PathBuf> {
    std::env::var_os("LAYERCAKE_CONFIG").filter(|file| !file.is_empty()).map(PathBuf::from)
}

/// What of this process's environment counts for a comparison: nothing,
/// unless it is asked.
#[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
fn environment(wanted: &Wanted) -> Result<Environment, Error> {
    let value = |name: &str| Some(std::env::var_os(name)?.to_string_lossy().into_owned());
    if !wanted.auto {
        return Ok(Environment::default());
    }
    let set = |name: &&str| Some(((*name).to_owned(), value(name)?));
    let on_github = value("GITHUB_ACTIONS").is_some_and(|value| value == "true");
    let event = std::env::var_os("GITHUB_EVENT_PATH").filter(|path| on_github && !path.is_empty());
    Ok(Environment {
        variables: Environment::VARIABLES.iter().filter_map(set).collect(),
        event: event.map(|path| text_at(Path::new(&path))).transpose()?,
        base: None,
    })
}

fn explain_value(
    arguments: ExplainValueArgs,
    directory: PathBuf,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let (site, question) = asked(&arguments.value, arguments.all_sites)?;
    let selection = Selection {
        revision: arguments.rev,
        set: arguments.set,
        meaning: arguments.meaning.meaning(),
        configuration: arguments.config.place(),
        ..arguments.clones.selection(directory)
    };
    if arguments.since.is_some() {
        let merge_base = if arguments.no_merge_base { MergeBase::Skip } else { MergeBase::Use };
        let wanted = Wanted { since: arguments.since, merge_base, ..Wanted::default() };
        return explain_since(&selection, &wanted, (&site, &question), arguments.format, terminal);
    }
    match (&arguments.why_not, arguments.all_sites) {
        (Some(place), _) => {
            explain_why_not(&selection, &site, &question, place, arguments.format, terminal)
        }
        (None, true) => explain_in_all(&selection, &question, arguments.format, terminal),
        (None, false) => explain_in(&selection, &site, &question, arguments.format, terminal),
    }
}

fn explain_in(
    selection: &Selection,
    site: &str,
    question: &Question,
    format: TextFormat,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let (checked, way) = terminal
        .watch(|progress| commands::explain_value::one(selection, site, question, progress))?;
    let view = view(&checked);
    print(|out| match format {
        TextFormat::Text => report::write_for_people(out, |out| {
            report::provenance::write_way(&way, &view, &terminal.style, out)
        }),
        TextFormat::Json => {
            let value = SiteValue { site: way.site.clone(), way: Some(way) };
            report::provenance::write_ways_json(&[value], &view, out)
        }
    })?;
    Ok(told(&checked))
}

fn explain_since(
    selection: &Selection,
    wanted: &Wanted,
    (site, question): (&str, &Question),
    format: TextFormat,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let (checked, since) = terminal.watch(|progress| {
        commands::explain_since::run(selection, wanted, site, question, progress)
    })?;
    let (view, style) = (view(&checked), &terminal.style);
    print(|out| match format {
        TextFormat::Text => report::write_for_people(out, |out| {
            report::since::write_way_since(&since, &view, style, out)
        }),
        TextFormat::Json => report::since::write_way_since_json(&since, &view, out),
    })?;
    Ok(told(&checked))
}

fn explain_in_all(
    selection: &Selection,
    question: &Question,
    format: TextFormat,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let (checked, values) =
        terminal.watch(|progress| commands::explain_value::all(selection, question, progress))?;
    let view = view(&checked);
    print(|out| match format {
        TextFormat::Text => report::write_for_people(out, |out| {
            report::provenance::write_values(&values, &view, out)
        }),
        TextFormat::Json => report::provenance::write_ways_json(&values, &view, out),
    })?;
    Ok(told(&checked))
}

fn explain_why_not(
    selection: &Selection,
    site: &str,
    question: &Question,
    place: &str,
    format: TextFormat,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let (checked, texts) = terminal.watch(|progress| {
        commands::explain_value::why_not(selection, site, question, place, progress)
    })?;
    let (view, style) = (view(&checked), &terminal.style);
    print(|out| match format {
        TextFormat::Text => report::write_for_people(out, |out| {
            report::provenance::write_why_not(&texts, &view, style, out)
        }),
        TextFormat::Json => report::provenance::write_why_not_json(&texts, &view, out),
    })?;
    Ok(told(&checked))
}

/// The site and the value that the arguments name; the schema may be left out.
fn asked(arguments: &[String], all_sites: bool) -> Result<(String, Question), Error> {
    let all = if all_sites { 3 } else { 4 };
    if arguments.len() > all {
        return Err(Error::new(ErrorKind::Usage, "`--all-sites` goes without a site")
            .with_help("layercake explain-value --all-sites SCHEMA NAME PATH"));
    }
    let is_complete = arguments.len() == all;
    let is_path = |text: &str| text.starts_with(['.', '$', '/', '[']);
    let is_schema = |text: &str| !is_path(text) && text.split('/').count() == 3;
    // Where some are missing, their forms say which.
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
            let question = Question { schema: schema.cloned().unwrap_or_default(), name, path };
            Ok((site.cloned().unwrap_or_default(), question))
        }
        (site, name, path) => Err(missing(site.is_none() && !all_sites, name, path)),
    }
}

/// The error that says which arguments are missing.
fn missing(is_site_missing: bool, name: Option<&String>, path: Option<&String>) -> Error {
    let of_each = [("SITE", is_site_missing), ("NAME", name.is_none()), ("PATH", path.is_none())];
    let missing: Vec<&str> =
        of_each.iter().filter(|(_, is_missing)| *is_missing).map(|(word, _)| *word).collect();
    let arguments = if missing.len() == 1 { "argument" } else { "arguments" };
    let message = format!("missing {arguments} {}", missing.join(", "));
    let help = if is_site_missing {
        "say which site: its name, `-` for files without sites, or `--all-sites`"
    } else {
        "layercake explain-value SITE SCHEMA NAME PATH, as in \
         `layercake explain-value lab armada/Chart/v1 keystone .values.pod.replicas`"
    };
    Error::new(ErrorKind::Usage, message).with_help(help)
}

/// 0 where a question was answered, 2 where layercake itself failed.
fn told<T>(checked: &Checked<T>) -> ExitCode {
    ExitCode::from(if checked.internal_error { 2 } else { 0 })
}

fn impact(
    selection: &Selection,
    place: &str,
    format: TextFormat,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let (checked, impact) =
        terminal.watch(|progress| commands::impact::run(selection, place, progress))?;
    let (view, style) = (view(&checked), &terminal.style);
    print(|out| match format {
        TextFormat::Text => {
            report::write_for_people(out, |out| report::impact::write(&impact, &view, style, out))
        }
        TextFormat::Json => report::impact::write_impact_json(&impact, &view, out),
    })?;
    Ok(told(&checked))
}

fn graph(
    selection: &Selection,
    format: GraphFormat,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let checked = terminal.watch(|progress| commands::graph::run(selection, progress))?;
    let (checked, graphs) = checked.without_taken();
    let view = view(&checked);
    print(|out| match format {
        GraphFormat::Text => {
            report::write_for_people(out, |out| report::graph::write(&graphs, &view, out))
        }
        GraphFormat::Dot => report::graph::write_dot(&graphs, &view, out),
        GraphFormat::Mermaid => report::graph::write_mermaid(&graphs, &view, out),
        GraphFormat::Json => report::graph::write_graph_json(&graphs, &view, out),
    })?;
    complain(&problems(&checked));
    Ok(told(&checked))
}

fn view<T>(checked: &Checked<T>) -> View<'_> {
    View::new(&checked.sources, &checked.secrets, &checked.opaque)
}

/// 0 without errors, 1 with errors, 2 where layercake itself failed.
fn verdict<T>(checked: &Checked<T>) -> ExitCode {
    if checked.internal_error {
        return ExitCode::from(2);
    }
    ExitCode::from(u8::from(checked.findings.counts().errors > 0))
}

/// A line that says that what was printed is not the whole story; nothing
/// where it is.
fn problems<T>(checked: &Checked<T>) -> String {
    let counts = checked.findings.counts();
    if counts.errors + counts.warnings == 0 {
        return String::new();
    }
    format!("{}; `layercake lint` shows them\n", report::counts_words(counts))
}

/// Writes to standard output, to its end or until its reader closes it.
#[expect(clippy::disallowed_methods, reason = "this is where standard output is written")]
fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    unless_closed(lap(Stage::Report, || {
        write(&mut out)?;
        out.flush()
    }))
}

/// A reader that closes the pipe has read enough: that is not an error, and the exit code is
/// that of a reader that goes on.
fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Writes to standard error; where that is closed there is nobody to tell.
#[expect(clippy::disallowed_methods, reason = "this is where standard error is written")]
fn complain(text: &str) {
    let mut errors = io::stderr().lock();
    let text = report::printable_lines(text);
    let text = report::without_commands(&text);
    drop(errors.write_all(text.as_bytes()).and_then(|()| errors.flush()));
}

/// The error, what caused it, and what cures it.
fn explain_failure(error: &Error) {
    // A configuration has a line for each fault.
    let mut text: String =
        error.to_string().lines().map(|line| format!("error: {line}\n")).collect();
    let mut cause = std::error::Error::source(error);
    while let Some(source) = cause {
        text += &format!("  caused by: {source}\n");
        cause = source.source();
    }
    if let Some(help) = error.help() {
        text += &format!("  help: {help}\n");
    }
    complain(&text);
}
