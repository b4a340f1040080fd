//! The terminal: its width, its capabilities and the progress line.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::Thread;
use std::time::{Duration, Instant};

use layercake::check::{Progress, ProgressStep, ProgressUnit, RunControl};
use layercake::report::TerminalStyle;

use super::arguments::When;
use super::environment::has_color;
use super::streams::{erase_progress_line, show_progress_line};

/// Properties of the terminal.
pub(super) struct Terminal {
    pub(super) style: TerminalStyle,
    /// Whether standard output is a terminal.
    pub(super) is_interactive: bool,
    /// Time before the progress line appears; `None` without one.
    progress_after: Option<Duration>,
}

impl Terminal {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where the terminal is queried"
    )]
    pub(super) fn new(color: When, progress_after: Option<Duration>) -> Self {
        let terminal = io::stdout().is_terminal();
        let color = match color {
            When::Always => true,
            When::Never => false,
            When::Auto => has_color(terminal),
        };
        let style = TerminalStyle {
            width: width(),
            color,
            unicode: !terminal || supports_unicode::on(supports_unicode::Stream::Stdout),
            links: terminal && supports_hyperlinks::on(supports_hyperlinks::Stream::Stdout),
        };
        let progress_after = progress_after.filter(|_| io::stderr().is_terminal());
        Self {
            style,
            is_interactive: terminal,
            progress_after,
        }
    }

    /// Does `work`, and shows a progress line on standard error if it takes long.
    pub(super) fn watch<T>(&self, work: impl FnOnce(&RunControl) -> T) -> T {
        let control = RunControl::before_exit();
        let Some(after) = self.progress_after else {
            return work(&control);
        };
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let watcher = scope
                .spawn(|| show_progress(after, &control.progress, &done))
                .thread()
                .clone();
            let _watched = Watched {
                done: &done,
                watcher,
            };
            work(&control)
        })
    }
}

/// Guard that ends the progress line when the work ends, also by a panic.
struct Watched<'w> {
    done: &'w AtomicBool,
    watcher: Thread,
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        self.done.store(true, Relaxed);
        self.watcher.unpark();
    }
}

/// Width of output without a terminal.
pub(super) const PAGE: usize = 100;

/// Output width in columns: `COLUMNS`, else that of the terminal, else [`PAGE`].
///
/// A pager or a filter shows the output on the terminal of standard error.
#[expect(
    clippy::disallowed_methods,
    reason = "this is where the terminal is queried"
)]
fn width() -> usize {
    let asked = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok());
    let present = || {
        let size = terminal_size::terminal_size_of(io::stdout());
        let (width, _) = size.or_else(|| terminal_size::terminal_size_of(io::stderr()))?;
        Some(usize::from(width.0))
    };
    asked.or_else(present).unwrap_or(PAGE)
}

/// Shows one line on standard error, rewritten until the work is done.
fn show_progress(after: Duration, progress: &Progress, done: &AtomicBool) {
    const BEAT: Duration = Duration::from_millis(100);
    let start = Instant::now();
    while !done.load(Relaxed) && start.elapsed() < after {
        std::thread::park_timeout(after.saturating_sub(start.elapsed()));
    }
    while !done.load(Relaxed) {
        show_progress_line(&progress_line(progress.step()));
        std::thread::park_timeout(BEAT);
    }
    erase_progress_line();
}

fn progress_line(step: ProgressStep) -> String {
    let ProgressStep { unit, done, all } = step;
    let (did, items) = match unit {
        ProgressUnit::Files => ("read", "files"),
        ProgressUnit::Sites => ("processed", "sites"),
        ProgressUnit::Commits => ("processed", "commits"),
    };
    match all {
        Some(all) => format!("{did} {done} of {all} {items}"),
        None => format!("{did} {done} {items}"),
    }
}
