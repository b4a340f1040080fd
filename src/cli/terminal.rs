//! The terminal: its width, its capabilities and the progress line.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::Thread;
use std::time::{Duration, Instant};

use layercake::check::Progress;
use layercake::report::TerminalStyle;

use super::arguments::When;
use super::streams::complain;

/// Properties of the terminal.
pub(super) struct Terminal {
    pub(super) style: TerminalStyle,
    progress: bool,
}

impl Terminal {
    #[expect(clippy::disallowed_methods, reason = "this is where the terminal is queried")]
    pub(super) fn new(color: When, no_progress: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        let color = match color {
            When::Always => true,
            When::Never => false,
            When::Auto => supports_color::on(supports_color::Stream::Stdout).is_some(),
        };
        let style = TerminalStyle {
            width: width(terminal),
            color,
            unicode: !terminal || supports_unicode::on(supports_unicode::Stream::Stdout),
            links: terminal && supports_hyperlinks::on(supports_hyperlinks::Stream::Stdout),
        };
        let progress = !no_progress && io::stderr().is_terminal();
        Self { style, progress }
    }

    /// Does `work`, and shows a progress line on standard error if it takes longer than a second.
    pub(super) fn watch<T>(&self, work: impl FnOnce(&Progress) -> T) -> T {
        if !self.progress {
            return work(&Progress::default());
        }
        let (progress, done) = (Progress::default(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let watcher = scope.spawn(|| show_progress(&progress, &done)).thread().clone();
            let _watched = Watched { done: &done, watcher };
            work(&progress)
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

/// Width of output that is not printed to a terminal.
pub(super) const PAGE: usize = 100;

/// Output width in columns: `COLUMNS`, else that of the terminal, else [`PAGE`].
#[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
fn width(terminal: bool) -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let present = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    asked.or_else(|| present().filter(|_| terminal)).unwrap_or(PAGE)
}

/// Shows one line on standard error, rewritten until the work is done.
fn show_progress(progress: &Progress, done: &AtomicBool) {
    const PATIENCE: Duration = Duration::from_secs(1);
    const BEAT: Duration = Duration::from_millis(100);
    let start = Instant::now();
    while !done.load(Relaxed) && start.elapsed() < PATIENCE {
        std::thread::park_timeout(PATIENCE.saturating_sub(start.elapsed()));
    }
    let mut shown = false;
    while !done.load(Relaxed) {
        let (read, files) = progress.files();
        let (rendered, sites) = progress.sites();
        let line = if sites > 0 {
            let of = if progress.is_history() { "commits" } else { "sites" };
            format!("rendering: {rendered} of {sites} {of}")
        } else {
            format!("reading: {read} of {files} files")
        };
        complain(&format!("\r\x1b[2K{line}"));
        shown = true;
        std::thread::park_timeout(BEAT);
    }
    if shown {
        complain("\r\x1b[2K");
    }
}
