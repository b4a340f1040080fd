//! `layercake-lint`: starts the program `layercake` in the same folder.
//!
//! The package on PyPI has this name, and `uvx` and `pipx run` start the program named like the
//! package. A second copy of `layercake` would double the size of the wheel.

use std::env::{args_os, consts::EXE_SUFFIX, current_exe};
use std::io;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    run().unwrap_or_else(|error| {
        complain(&error);
        ExitCode::from(2)
    })
}

#[expect(clippy::print_stderr, reason = "an error has no other place")]
fn complain(error: &io::Error) {
    eprintln!("error: cannot start `layercake`: {error}; reinstall `layercake-lint`");
}

#[expect(
    clippy::disallowed_methods,
    reason = "this program only starts another one"
)]
fn run() -> io::Result<ExitCode> {
    // Tools link to programs from a folder on `PATH`.
    let own = current_exe()?.canonicalize()?;
    let mut command = Command::new(own.with_file_name(format!("layercake{EXE_SUFFIX}")));
    replace_process(command.args(args_os().skip(1)))
}

#[cfg(unix)]
fn replace_process(command: &mut Command) -> io::Result<ExitCode> {
    use std::os::unix::process::CommandExt as _;
    Err(command.exec())
}

#[cfg(not(unix))]
fn replace_process(command: &mut Command) -> io::Result<ExitCode> {
    let code = command
        .status()?
        .code()
        .and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(2)))
}
