//! Styled text: each piece has a role, which every format renders in its own way.

use std::fmt::Display;

use super::model::FilePlace;

/// Role of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextRole {
    /// Plain text.
    Plain,
    /// A count with its noun, or the start of a line that identifies it.
    Strong,
    /// A name or path of documents, sites or values.
    Name,
    /// A place in a file.
    Place,
    /// A success.
    Good,
    /// An error.
    Error,
    /// A warning.
    Warning,
    /// A note.
    Note,
    /// Secondary text.
    Dim,
    /// A flag for the next run, which only a reader at a shell can use.
    Flag,
}

/// Target of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TextLink {
    /// A line of a file on the head side.
    Head(FilePlace),
    /// A line of a file on the base side.
    Base(FilePlace),
    /// Page of the rule with this name.
    Rule(String),
    /// Section of the documentation about what a report cannot see.
    Limits,
    /// Id of a part of the same report.
    Anchor(String),
}

/// A piece of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextPiece {
    pub(super) text: String,
    pub(super) role: TextRole,
    pub(super) link: Option<TextLink>,
}

/// A paragraph of styled text. Quoted strings are not escaped: each format escapes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StyledText {
    pub(super) pieces: Vec<TextPiece>,
}

impl StyledText {
    /// Plain text.
    pub(super) fn plain(words: impl Display) -> Self {
        Self::of(TextRole::Plain, words)
    }

    /// Creates a text of one piece.
    pub(super) fn of(role: TextRole, words: impl Display) -> Self {
        Self::default().then(role, words)
    }

    /// Name or path of documents, sites or values.
    pub(super) fn name(words: impl Display) -> Self {
        Self::of(TextRole::Name, words)
    }

    /// Count with its noun, or the start of a line that identifies it.
    pub(super) fn strong(words: impl Display) -> Self {
        Self::of(TextRole::Strong, words)
    }

    /// Value before and after a change.
    pub(super) fn sides([base, head]: [impl Display; 2], arrow: &str) -> Self {
        Self::of(TextRole::Error, base)
            .and(format!(" {arrow} "))
            .then(TextRole::Good, head)
    }

    /// Creates a link to a place.
    pub(super) fn place(place: &FilePlace, is_head: bool) -> Self {
        let text = format!("{}:{}", place.file, place.line);
        let link = if is_head {
            TextLink::Head
        } else {
            TextLink::Base
        }(place.clone());
        Self {
            pieces: vec![TextPiece {
                text,
                role: TextRole::Place,
                link: Some(link),
            }],
        }
    }

    /// Appends plain text.
    #[must_use]
    pub(super) fn and(self, words: impl Display) -> Self {
        self.then(TextRole::Plain, words)
    }

    /// Appends a piece with a role.
    #[must_use]
    pub(super) fn then(mut self, role: TextRole, words: impl Display) -> Self {
        let text = words.to_string();
        if !text.is_empty() {
            self.pieces.push(TextPiece {
                text,
                role,
                link: None,
            });
        }
        self
    }

    /// Appends another text.
    #[must_use]
    pub(super) fn join(mut self, other: Self) -> Self {
        self.pieces.extend(other.pieces);
        self
    }

    /// Replaces the words of a text of one piece, such as a place.
    #[must_use]
    pub(super) fn renamed(mut self, words: String) -> Self {
        for piece in &mut self.pieces {
            piece.text.clone_from(&words);
        }
        self
    }

    /// Links the parts without a link.
    #[must_use]
    pub(super) fn linked(mut self, link: &TextLink) -> Self {
        for piece in &mut self.pieces {
            piece.link.get_or_insert_with(|| link.clone());
        }
        self
    }

    /// Whether the text is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Puts words before the text unless it is empty.
    #[must_use]
    pub(super) fn prefixed(self, words: &str) -> Self {
        if self.is_empty() {
            self
        } else {
            Self::plain(words).join(self)
        }
    }

    /// Joins nonempty texts with the separator `between`.
    pub(super) fn list(texts: impl IntoIterator<Item = Self>, between: &str) -> Self {
        let texts = texts.into_iter().filter(|text| !text.is_empty());
        texts
            .reduce(|all, text| all.and(between).join(text))
            .unwrap_or_default()
    }

    /// Returns the text without roles and links.
    pub(super) fn words(&self) -> String {
        self.pieces.iter().map(|piece| &*piece.text).collect()
    }
}
