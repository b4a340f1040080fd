//! Errors that prevent a run: no repository, an unknown revision, an unreadable folder, an invalid
//! flag. Problems of the user's documents are never an [`Error`], but diagnostics.

use std::fmt;

/// Category of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Invalid flags or arguments, or an invalid combination.
    Usage,
    /// Reading or writing files.
    Io,
    /// Finding or reading a git repository.
    Git,
    /// Reading a baseline.
    Baseline,
    /// Parsing a configuration file; the message has a line for each problem.
    Configuration,
    /// A run that its caller stopped.
    Cancelled,
    /// An internal error.
    Internal,
}

/// Word given by the user that names nothing of the expected kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    /// The word.
    pub word: String,
    /// Kind of what it should name, such as `site`.
    pub expected: &'static str,
}

/// An error that prevents the run, with its remedy.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    help: Option<String>,
    unknown: Option<UnknownWord>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Creates an error with a message of one line, lower case, no full stop;
    /// [`ErrorKind::Configuration`] allows several lines.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            help: None,
            unknown: None,
            source: None,
        }
    }

    /// Creates an error of kind [`ErrorKind::Usage`].
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Creates an error of kind [`ErrorKind::Git`].
    pub fn git(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Git, message)
    }

    /// Creates an error of kind [`ErrorKind::Io`].
    pub fn io(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Io, message)
    }

    /// Sets the remedy.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the word that names nothing of the expected kind.
    #[must_use]
    pub fn about(mut self, expected: &'static str, word: impl Into<String>) -> Self {
        self.unknown = Some(UnknownWord {
            word: word.into(),
            expected,
        });
        self
    }

    /// Sets the cause.
    #[must_use]
    pub fn caused_by(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Category of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Word that names nothing of the expected kind.
    pub fn unknown(&self) -> Option<&UnknownWord> {
        self.unknown.as_ref()
    }

    /// Remedy.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

/// Quotes `text` as one word for a shell, without terminal control characters.
pub fn shell_word(text: &str) -> String {
    // Only at the beginning, a tilde is expanded and a hyphen starts an option.
    if !text.is_empty()
        && !text.starts_with(['~', '-'])
        && text
            .chars()
            .all(|it| it.is_alphanumeric() || "/._-+:\\@%~".contains(it))
    {
        return text.to_owned();
    }
    let is_shown = |it: char| it.is_alphanumeric() || it.is_ascii_graphic() || it == ' ';
    let inside: String = text
        .chars()
        .map(|character| match character {
            '\'' => r"'\''".to_owned(),
            shown if is_shown(shown) => shown.to_string(),
            other => other.escape_default().to_string(),
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
