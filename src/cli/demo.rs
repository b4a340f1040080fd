//! `demo`: the example repository, what `lint --since` says of an edit in it,
//! and which commands a person would type.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use layercake::commands::demo::{self, Demo, EDIT, Place, SINCE};
use layercake::error::{Error, ErrorKind, shell_word};
use layercake::report::{Detail, Format, Listing, Look};
use layercake::rules::RULES;

use super::{Failure, RepositoryArgs, Terminal, comparison, complain, print};

/// Makes the repository in `folder`, or in a new folder of those that are
/// there for a time, and tells what its edit reaches.
pub(super) fn demo(folder: Option<PathBuf>, terminal: &Terminal) -> Result<ExitCode, Failure> {
    let place = match folder {
        Some(folder) => Place::At(folder),
        None => Place::Inside(temporary()),
    };
    let demo = demo::create(&place)?;
    let all = RepositoryArgs { rev: None, site: Vec::new(), repository: Vec::new() };
    let selection = all.selection(demo.folder.clone());
    let start = Instant::now();
    let compared = terminal.watch(|progress| demo::compare(&demo, &selection, progress));
    let outcome = compared?.ok_or_else(|| gone(&demo))?;
    let report = comparison::usual_report(&outcome, &selection, start.elapsed());
    let look =
        Look { listing: Listing::default(), limit: Look::USUAL_LIMIT, detail: Detail::Usual };
    print(|out| {
        write_begin(&demo.folder, out)?;
        Format::Full.write(&report, (look, &terminal.style), RULES, out)?;
        write_next(&demo.folder, out)
    })?;
    if !is_on_path() {
        complain(&own_place());
    }
    Ok(ExitCode::from(if outcome.compared.checked.internal_error { 2 } else { 0 }))
}

fn gone(demo: &Demo) -> Error {
    let message = format!("`{}` is no longer as it was made", demo.folder.display());
    Error::new(ErrorKind::Io, message)
}

fn write_begin(folder: &Path, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "A site repository with one commit, and one line edited since:\n")?;
    writeln!(out, "$ cd {}", quoted(folder))?;
    writeln!(out, "$ layercake lint --since {SINCE}")
}

fn write_next(folder: &Path, out: &mut dyn Write) -> io::Result<()> {
    let (file, line) = (EDIT.file, EDIT.line);
    writeln!(
        out,
        "
Try next, in that folder:

why one site keeps its version
$ layercake explain-value west armada/Chart/v1 keystone .values.images.tags.api

what a line would reach, before it is edited
$ layercake impact {file}:{line}

what was wrong before the edit
$ layercake lint

and at last
$ rm -r {}",
        quoted(folder)
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
