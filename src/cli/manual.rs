//! `man`: the manual pages, one for the program and one for each verb.
//!
//! A page is made from the same texts as `--help`, so that the two agree. The text below the flags
//! consists of paragraphs that begin with `Examples:`, `Exit codes:` or `Next:`.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use layercake::error::Error;
use layercake::near::nearest_in_any_case;
use layercake::report::counted;
use layercake::source::{create_folder, write_file};
use roff::{Roff, bold, roman};

use super::streams::{VerbFailure, print};
use super::terminal::Terminal;
use super::verbs::Cli;

/// Prints the page of the verb that `words` name, or of the program: as text on a terminal, and
/// otherwise in the format of `man`.
pub(super) fn print_page(words: &[String], terminal: &Terminal) -> Result<ExitCode, VerbFailure> {
    let program = program();
    let mut command = &program;
    for word in words {
        let known: Vec<&str> = verbs(command).map(Command::get_name).collect();
        command = verbs(command)
            .find(|verb| verb.get_name() == word)
            .ok_or_else(|| {
                let message = format!("unknown verb `{}`", words.join(" "));
                let near =
                    nearest_in_any_case(word, known).map(|near| format!("did you mean `{near}`?"));
                let help =
                    near.unwrap_or_else(|| "see `layercake --help` for the verbs".to_owned());
                Error::usage(message).with_help(help)
            })?;
    }
    let page = if terminal.is_interactive {
        text(command)
    } else {
        page(command)?
    };
    print(|out| out.write_all(page.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

/// The page as text: the long help, and the sections that only pages have.
fn text(command: &Command) -> String {
    let help = command.clone().render_long_help().to_string();
    let sections = SURROUNDINGS.iter().map(|(heading, rows)| {
        let rows = rows
            .iter()
            .map(|(name, meaning)| format!("  {name}\n          {meaning}\n"));
        format!("\n{heading}:\n{}", rows.collect::<String>())
    });
    sections.fold(help, |page, section| page + &section)
}

/// Writes all pages to `folder`, each under the file name that `man` looks up.
pub(super) fn write(folder: &Path) -> Result<ExitCode, VerbFailure> {
    let mut pages = Vec::new();
    collect(&program(), &mut pages)?;
    create_folder(folder)?;
    for (file, page) in &pages {
        write_file(&folder.join(file), page.as_bytes())?;
    }
    let count = counted(pages.len(), "page");
    print(|out| writeln!(out, "wrote {count} to {}", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// The program, with the global flags propagated to each verb.
fn program() -> Command {
    let mut program = Cli::command();
    program.build();
    program
}

fn collect(command: &Command, pages: &mut Vec<(String, String)>) -> io::Result<()> {
    pages.push((format!("{}.1", title(command)), page(command)?));
    verbs(command).try_for_each(|verb| collect(verb, pages))
}

fn verbs(command: &Command) -> impl Iterator<Item = &Command> {
    command
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set() && verb.get_name() != "help")
}

/// Title of a page, such as `layercake-lint`.
fn title(command: &Command) -> &str {
    command
        .get_display_name()
        .unwrap_or_else(|| command.get_name())
}

fn page(command: &Command) -> io::Result<String> {
    let man = Man::new(with_usage(command));
    let mut page = Vec::new();
    // Written here, because `Man` moves the following field into an empty date.
    let (title, version) = (title(command), env!("CARGO_PKG_VERSION"));
    writeln!(
        page,
        r#".TH "{title}" 1 "" "layercake {version}" "Manual of layercake""#
    )?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let mut rest = Roff::new();
    let after = command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    for paragraph in after.split("\n\n") {
        section(paragraph, &mut rest);
    }
    surroundings(&mut rest);
    see_also(command, &mut rest);
    rest.to_writer(&mut page)?;
    Ok(in_bold(&String::from_utf8_lossy(&page)))
}

/// The command with the usage line of its help: that of `clap_mangen` has every flag without its
/// value.
fn with_usage(command: &Command) -> Command {
    let usage = command.clone().render_usage().to_string();
    command
        .clone()
        .override_usage(usage.trim_start_matches("Usage: ").to_owned())
}

/// Writes a paragraph from below the flags as a section.
fn section(paragraph: &str, page: &mut Roff) {
    let (heading, text) = paragraph.split_once(':').unwrap_or(("Notes", paragraph));
    match heading {
        "Examples" => {
            page.control("SH", ["EXAMPLES"]).control("nf", []);
            for line in text.lines().skip(1) {
                page.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
            }
            page.control("fi", []);
        }
        "Exit codes" => {
            page.control("SH", ["EXIT STATUS"]);
            for (code, meaning) in exit_codes(text) {
                page.control("TP", [])
                    .text([bold(code)])
                    .text([roman(meaning)]);
            }
        }
        _ => {
            page.control("SH", [heading.to_uppercase().as_str()])
                .text([roman(text.trim())]);
        }
    }
}

/// Parses codes and meanings from `0 MEANING, 1 MEANING, 2 MEANING.`
fn exit_codes(text: &str) -> Vec<(&'static str, &str)> {
    let mut rest = text.trim().trim_end_matches('.');
    let mut codes = Vec::new();
    for (code, begin) in [("2", ", 2 "), ("1", ", 1 "), ("0", "0 ")] {
        if let Some((before, meaning)) = rest.rsplit_once(begin) {
            codes.push((code, meaning));
            rest = before;
        }
    }
    codes.reverse();
    codes
}

/// Writes [`SURROUNDINGS`].
fn surroundings(page: &mut Roff) {
    for (heading, rows) in SURROUNDINGS {
        page.control("SH", [heading.to_uppercase().as_str()]);
        for (name, meaning) in *rows {
            page.control("TP", [])
                .text([bold(*name)])
                .text([roman(*meaning)]);
        }
    }
}

/// Sections on environment variables and files.
const SURROUNDINGS: &[(&str, &[(&str, &str)])] = &[("Environment", ENVIRONMENT), ("Files", FILES)];

const ENVIRONMENT: &[(&str, &str)] = &[
    (
        "LAYERCAKE_CONFIG",
        "Configuration file, if no flag names one.",
    ),
    ("COLUMNS", "Width of the output; else that of the terminal."),
    (
        "NO_COLOR, CLICOLOR_FORCE, FORCE_COLOR",
        "Disable colors; force colors without a terminal. An empty value is like none.",
    ),
    (
        "PRE_COMMIT, CI, GITHUB_ACTIONS, GITLAB_CI, TF_BUILD and others",
        "Only with `--auto`: detect the hook or CI job and what to compare.",
    ),
];

const FILES: &[(&str, &str)] = &[
    (
        "layercake.yaml, .layercake.yaml",
        "Configuration file, at the root of the repository.",
    ),
    (
        ".layercake-baseline.json",
        "Accepted findings, at the root of the repository.",
    ),
];

/// Writes the pages of the parent and the subcommands.
fn see_also(command: &Command, page: &mut Roff) {
    let above = title(command).rsplit_once('-').map(|(above, _)| above);
    let below = verbs(command).map(title);
    let pages: Vec<String> = above
        .into_iter()
        .chain(below)
        .map(|it| format!("{it}(1)"))
        .collect();
    page.control("SH", ["SEE ALSO"])
        .text([roman(pages.join(", "))]);
}

/// Replaces backticks, which typesetters render as quotation marks, by bold text.
fn in_bold(page: &str) -> String {
    let mut is_name = false;
    let mut shown = String::with_capacity(page.len());
    for part in page.split_inclusive('`') {
        shown.push_str(part.trim_end_matches('`'));
        if part.ends_with('`') {
            is_name = !is_name;
            shown.push_str(if is_name { r"\fB" } else { r"\fR" });
        }
    }
    shown
}
