//! layercake could not do its work: no repository, an unknown revision, an
//! unreadable folder, an unusable flag. Faults of the user's documents are
//! never an [`Error`]; they are diagnostics.

use std::fmt;

/// What kind of work could not be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Flags or arguments that mean nothing together.
    Usage,
    /// Reading or writing files.
    Io,
    /// Finding or reading a git repository.
    Git,
    /// Reading a baseline.
    Baseline,
    /// A configuration file that says what it cannot; a line of the message
    /// for each fault.
    Configuration,
    /// A fault of layercake itself.
    Internal,
}

/// Why layercake could not do its work, and what cures it.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    help: Option<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error with a message of one line, lower case, no full stop; of
    /// several for [`ErrorKind::Configuration`].
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), help: None, source: None }
    }

    /// The error with what to do about it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The error with what caused it.
    #[must_use]
    pub fn caused_by(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What kind of work failed.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What to do about it.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

/// `text` as one word of a command that a person pastes into a shell, without anything that
/// drives a terminal.
pub fn shell_word(text: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || "/._-+:\\@%~".contains(it);
    // A tilde is expanded and a hyphen begins an option only at the beginning.
    if !text.is_empty() && !text.starts_with(['~', '-']) && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let is_shown = |it: char| it.is_alphanumeric() || it.is_ascii_graphic() || it == ' ';
    let inside: String = text
        .chars()
        .map(|it| match it {
            '\'' => r"'\''".to_owned(),
            it if is_shown(it) => it.to_string(),
            it => it.escape_default().to_string(),
        })
        .collect();
    format!("'{inside}'")
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source = self.source.as_deref()?;
        Some(source)
    }
}
