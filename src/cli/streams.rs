//! Standard input, output and error.

use std::io::{self, BufWriter, Read as _, StdoutLock, Write};

use layercake::error::Error;
use layercake::report;
use layercake::source::Source;
use layercake::stopwatch::{Stage, time};
use parking_lot::{Mutex, MutexGuard};

/// Reason why a verb failed.
pub(super) enum VerbFailure {
    Work(Error),
    Output(io::Error),
}

impl From<Error> for VerbFailure {
    fn from(error: Error) -> Self {
        VerbFailure::Work(error)
    }
}

impl From<io::Error> for VerbFailure {
    fn from(error: io::Error) -> Self {
        VerbFailure::Output(error)
    }
}

/// Writes to standard output until the end or until the reader closes it.
pub(super) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    unless_closed(print_to_reader(write))
}

/// As [`print`]; a closed pipe is an error.
#[expect(
    clippy::disallowed_methods,
    reason = "this is where standard output is written"
)]
pub(super) fn print_to_reader(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(AnswerWriter(io::stdout().lock()));
    time(Stage::Report, || {
        write(&mut out)?;
        out.flush()
    })
}

/// Standard output; erases the progress line before writing, since both may be the same terminal.
struct AnswerWriter(StdoutLock<'static>);

impl Write for AnswerWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _line = ProgressLine::erased();
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Whether the progress line is on the terminal. Locked while anything else is written to it.
static PROGRESS_LINE: Mutex<ProgressLine> = Mutex::new(ProgressLine { is_shown: false });

struct ProgressLine {
    is_shown: bool,
}

impl ProgressLine {
    /// Control characters: go to the start of the line, and erase it.
    const ERASE: &str = "\r\x1b[2K";

    /// Erases the line if it is shown, and prevents it while the result exists.
    fn erased() -> MutexGuard<'static, Self> {
        let mut line = PROGRESS_LINE.lock();
        if line.is_shown {
            line.write("");
        }
        line
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is where standard error is written"
    )]
    fn write(&mut self, text: &str) {
        let mut errors = io::stderr().lock();
        drop(write!(errors, "{}{text}", Self::ERASE).and_then(|()| errors.flush()));
        self.is_shown = !text.is_empty();
    }
}

/// Shows a progress line on standard error, in place of the last one.
pub(super) fn show_progress_line(text: &str) {
    PROGRESS_LINE.lock().write(text);
}

pub(super) fn erase_progress_line() {
    drop(ProgressLine::erased());
}

/// Ignores a broken pipe: the reader has seen enough, and the exit code is the same as for a reader
/// that continues.
pub(super) fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Reads all of standard input.
#[expect(
    clippy::disallowed_methods,
    reason = "what another program prints can be read"
)]
pub(super) fn standard_input() -> Result<Vec<u8>, VerbFailure> {
    let mut bytes = Vec::new();
    let most = Source::MAX_BYTES + 1;
    let read = io::stdin().lock().take(most).read_to_end(&mut bytes);
    read.map_err(|cause| Error::io("cannot read standard input").caused_by(cause))?;
    if bytes.len() as u64 == most {
        let message = format!(
            "standard input has more than {} MiB",
            Source::MAX_BYTES >> 20
        );
        return Err(Error::io(message).into());
    }
    Ok(bytes)
}

/// Writes to standard error; ignores errors, which cannot be reported anywhere else.
#[expect(
    clippy::disallowed_methods,
    reason = "this is where standard error is written"
)]
pub(super) fn complain(text: &str) {
    let _line = ProgressLine::erased();
    let mut errors = io::stderr().lock();
    let text = report::printable_lines(text);
    let text = report::without_commands(&text);
    drop(
        errors
            .write_all(text.as_bytes())
            .and_then(|()| errors.flush()),
    );
}

/// Prints the error, its causes and its help.
pub(super) fn explain_failure(error: &Error) {
    // An invalid configuration has one line per problem.
    let mut text: String = error
        .to_string()
        .lines()
        .map(|line| format!("error: {line}\n"))
        .collect();
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
