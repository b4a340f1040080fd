//! `demo`: the example repository, what `lint --since` says of an edit in it,
//! and which commands a person would type; or two repositories, and what `diff --bump` says.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use layercake::commands::Selection;
use layercake::commands::compare::ComparisonRequest;
use layercake::commands::demo::{self, Demo, DemoFolder, EDIT, Example, NAME, NEXT, SINCE, SITES};
use layercake::error::{Error, ErrorKind, shell_word};
use layercake::report::{Detail, FindingFilter, Format, TerminalOptions};
use layercake::rules::RULES;

use super::comparison;
use super::streams::{VerbFailure, complain, print};
use super::terminal::Terminal;

/// Makes the example in `folder`, or in a new folder of those that are
/// there for a time, and tells what its edit reaches.
pub(super) fn demo(
    folder: Option<PathBuf>,
    example: Example,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let place = match folder {
        Some(folder) => DemoFolder::At(folder),
        None => DemoFolder::Inside(temporary()),
    };
    let demo = demo::create(&place, example)?;
    let selection = Selection::of(demo.folder.clone());
    let start = Instant::now();
    let compared = terminal.watch(|progress| demo::compare(&demo, &selection, progress));
    let outcome = compared?.ok_or_else(|| gone(&demo))?;
    let internal_error = outcome.compared.checked.internal_error;
    let report = match example {
        Example::One => comparison::usual_report(&outcome, &selection, start.elapsed()),
        Example::Several => {
            let judge = (comparison::Judge::GATES, &ComparisonRequest::default());
            comparison::report_of_changes(&outcome, judge, &selection, start.elapsed()).0
        }
    };
    let look = TerminalOptions {
        listing: FindingFilter::default(),
        limit: TerminalOptions::USUAL_LIMIT,
        detail: Detail::Usual,
    };
    print(|out| {
        write_begin(&demo, example, out)?;
        Format::Full.write(&report, (look, &terminal.style), RULES, out)?;
        write_next(&demo, example, out)
    })?;
    if !is_on_path() {
        complain(&own_place());
    }
    Ok(ExitCode::from(if internal_error { 2 } else { 0 }))
}

fn gone(demo: &Demo) -> Error {
    let message = format!("`{}` is no longer as it was made", demo.folder.display());
    Error::new(ErrorKind::Io, message)
}

fn write_begin(demo: &Demo, example: Example, out: &mut dyn Write) -> io::Result<()> {
    match example {
        Example::One => {
            writeln!(out, "A site repository with one commit, and one line edited since:\n")?;
        }
        Example::Several => writeln!(
            out,
            "Sites that pin a revision of a second repository, and what the next one changes:\n"
        )?,
    }
    writeln!(out, "$ cd {}", quoted(&demo.folder))?;
    match example {
        Example::One => writeln!(out, "$ layercake lint --since {SINCE}"),
        Example::Several => writeln!(out, "$ layercake diff --bump {NAME}={NEXT}"),
    }
}

fn write_next(demo: &Demo, example: Example, out: &mut dyn Write) -> io::Result<()> {
    let next = match example {
        Example::One => format!(
            "why one site keeps its version
$ layercake explain-value west armada/Chart/v1 keystone .values.images.tags.api

what a line would reach, before it is edited
$ layercake impact {}:{}

what was wrong before the edit
$ layercake lint",
            EDIT.file, EDIT.line
        ),
        Example::Several => format!(
            "the same for one site
$ layercake diff --bump {NAME}={NEXT} --site north

what a pin is read as
$ layercake render --site north --schema armada/Chart/v1 --name keystone --with-origin

where `{SITES}` finds the other repository
$ cat layercake.yaml"
        ),
    };
    writeln!(
        out,
        "
Try next, in that folder:

{next}

and at last
$ rm -r {}",
        quoted(&demo.all)
    )
}

fn temporary() -> PathBuf {
    std::env::temp_dir()
}

/// Whether a shell finds `layercake` by its name.
#[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
fn is_on_path() -> bool {
    let name = format!("layercake{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(&name).is_file())
}

/// Where the program is, for those who started it by another way than its
/// name.
fn own_place() -> String {
    let place = std::env::current_exe().map(|program| quoted(&program));
    let place = place.map(|program| format!(": it is {program}")).unwrap_or_default();
    format!("\nnote: a shell does not find `layercake` by its name{place}\n")
}

fn quoted(path: &Path) -> String {
    shell_word(&path.to_string_lossy())
}
