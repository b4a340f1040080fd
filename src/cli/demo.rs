//! `demo`: the example repository, the output of `lint --since` for an edit in it (or of `diff
//! --bump` for two repositories), and commands to try next.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use layercake::commands::Selection;
use layercake::commands::compare::ComparisonRequest;
use layercake::commands::demo::{self, Demo, DemoFolder, EDIT, Example, NAME, NEXT, SINCE, SITES};
use layercake::commands::reports::{Judge, report_of_changes, usual_report};
use layercake::error::{Error, shell_word};
use layercake::report::{Detail, FindingFilter, Format, TerminalOptions};
use layercake::rules::RULES;

use super::streams::{VerbFailure, complain, print};
use super::terminal::Terminal;

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// Write to this folder, which must be empty or not exist
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,

    /// Create two repositories, where one pins a revision of the other, and show what the next
    /// revision changes
    #[arg(long)]
    repositories: bool,

    /// Create sites with parts for cloud-init, and show what an edited merge option changes
    #[arg(long, conflicts_with = "repositories")]
    cloud_init: bool,
}

impl DemoArgs {
    fn example(&self) -> Example {
        match (self.repositories, self.cloud_init) {
            (true, _) => Example::Several,
            (false, true) => Example::CloudInit,
            (false, false) => Example::One,
        }
    }
}

/// Creates an example in the given folder, which is relative to `directory`, or in a new temporary
/// folder, and prints the reach of its edit.
pub(super) fn demo(
    arguments: DemoArgs,
    directory: &Path,
    terminal: &Terminal,
) -> Result<ExitCode, VerbFailure> {
    let example = arguments.example();
    let place = match arguments.folder {
        Some(folder) if directory == Path::new(".") => DemoFolder::At(folder),
        Some(folder) => DemoFolder::At(directory.join(folder)),
        None => DemoFolder::Inside(temporary()),
    };
    let demo = demo::create(&place, example)?;
    let selection = Selection::of(demo.folder.clone());
    let start = Instant::now();
    let compared = terminal.watch(|control| demo::compare(&demo, &selection, control));
    let outcome = compared?.ok_or_else(|| demo_modified(&demo))?;
    let internal_error = outcome.compared.checked.internal_error;
    let report = match example {
        Example::One | Example::CloudInit => usual_report(&outcome, &selection, start.elapsed()),
        Example::Several => {
            let judge = (Judge::GATES, &ComparisonRequest::default());
            report_of_changes(&outcome, judge, &selection, start.elapsed()).0
        }
    };
    let look = TerminalOptions {
        listing: FindingFilter::default(),
        limit: TerminalOptions::DEFAULT_LIMIT,
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

fn demo_modified(demo: &Demo) -> Error {
    let message = format!("`{}` was modified during the demo", demo.folder.display());
    Error::io(message)
}

fn write_begin(demo: &Demo, example: Example, out: &mut dyn Write) -> io::Result<()> {
    match example {
        Example::One => {
            writeln!(
                out,
                "A site repository with one commit and one edited line:\n"
            )?;
        }
        Example::CloudInit => {
            writeln!(
                out,
                "Sites with parts for cloud-init, one commit and one edited line:\n"
            )?;
        }
        Example::Several => writeln!(
            out,
            "Sites that pin a revision of a second repository, and the effect of the next one:\n"
        )?,
    }
    writeln!(out, "$ cd {}", quoted(&demo.folder))?;
    match example {
        Example::One | Example::CloudInit => writeln!(out, "$ layercake lint --since {SINCE}"),
        Example::Several => writeln!(out, "$ layercake diff --bump {NAME}={NEXT}"),
    }
}

fn write_next(demo: &Demo, example: Example, out: &mut dyn Write) -> io::Result<()> {
    let next = match example {
        Example::One => format!(
            "See why one site keeps its version
$ layercake explain-value west armada/Chart/v1 keystone .values.images.tags.api

See what a line can reach before editing it
$ layercake impact {}:{}

List the problems from before the edit
$ layercake lint",
            EDIT.file, EDIT.line
        ),
        Example::CloudInit => "Merge the parts of a site, each value with its line
$ layercake cloud-config --site lyon --with-origin

See which part sets a list
$ layercake explain-value lyon cloud-config genesis .packages

Merge any parts
$ layercake cloud-config global/cloud/10-base.yaml type/edge/cloud/20-edge.yaml"
            .to_owned(),
        Example::Several => format!(
            "Show the changes of one site
$ layercake diff --bump {NAME}={NEXT} --site north

Render a document at its pinned revision
$ layercake render --site north --schema armada/Chart/v1 --name keystone --with-origin

See how `{SITES}` finds the other repository
$ cat layercake.yaml"
        ),
    };
    writeln!(
        out,
        "
Try next in that folder:

{next}

Clean up
$ rm -r {}",
        quoted(&demo.all)
    )
}

fn temporary() -> PathBuf {
    std::env::temp_dir()
}

/// Whether `layercake` is on `PATH`.
#[expect(
    clippy::disallowed_methods,
    reason = "this is where the environment is read"
)]
fn is_on_path() -> bool {
    let name = format!("layercake{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(&name).is_file())
}

/// Note with the path of the program, for shells that do not find it by name.
fn own_place() -> String {
    let place = std::env::current_exe().map(|program| quoted(&program));
    let place = place
        .map(|program| format!(": it is {program}"))
        .unwrap_or_default();
    format!("\nnote: `layercake` is not on PATH{place}\n")
}

fn quoted(path: &Path) -> String {
    shell_word(&path.to_string_lossy())
}
