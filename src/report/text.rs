//! Text with what each part of it is, which every format shows in its own way.

use std::fmt::Display;

use super::model::FilePlace;

/// Role of a part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextRole {
    /// Words.
    Plain,
    /// A number and what it counts, or the start of a line that says what it is.
    Strong,
    /// A name or path of documents, sites or values.
    Name,
    /// A place in a file.
    Place,
    /// A good state.
    Good,
    /// A fault.
    Error,
    /// A possible fault.
    Warning,
    /// A note.
    Note,
    /// The least important part.
    Dim,
}

/// Target of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TextLink {
    /// A line of a file as it is.
    Head(FilePlace),
    /// A line of a file as it was.
    Base(FilePlace),
    /// A part of the same report.
    Anchor(String),
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextPiece {
    pub(super) text: String,
    pub(super) role: TextRole,
    pub(super) link: Option<TextLink>,
}

/// A text of one paragraph. What it quotes is as it was written: each format escapes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StyledText {
    pub(super) pieces: Vec<TextPiece>,
}

impl StyledText {
    /// Words.
    pub(super) fn plain(words: impl Display) -> Self {
        Self::of(TextRole::Plain, words)
    }

    /// A text of one part.
    pub(super) fn of(role: TextRole, words: impl Display) -> Self {
        Self::default().then(role, words)
    }

    /// A place, by file and line.
    pub(super) fn place(place: &FilePlace, is_head: bool) -> Self {
        let text = format!("{}:{}", place.file, place.line);
        let link = if is_head { TextLink::Head } else { TextLink::Base }(place.clone());
        Self { pieces: vec![TextPiece { text, role: TextRole::Place, link: Some(link) }] }
    }

    /// The text with more words behind it.
    #[must_use]
    pub(super) fn and(self, words: impl Display) -> Self {
        self.then(TextRole::Plain, words)
    }

    /// The text with one more part behind it.
    #[must_use]
    pub(super) fn then(mut self, role: TextRole, words: impl Display) -> Self {
        let text = words.to_string();
        if !text.is_empty() {
            self.pieces.push(TextPiece { text, role, link: None });
        }
        self
    }

    /// The text with another behind it.
    #[must_use]
    pub(super) fn join(mut self, other: Self) -> Self {
        self.pieces.extend(other.pieces);
        self
    }

    /// The text with a link from all of it to a part of the same report.
    #[must_use]
    pub(super) fn linked(mut self, anchor: &str) -> Self {
        for piece in &mut self.pieces {
            piece.link.get_or_insert_with(|| TextLink::Anchor(anchor.to_owned()));
        }
        self
    }

    /// Whether there is nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Texts, one behind the other with `between` between them.
    pub(super) fn list(texts: impl IntoIterator<Item = Self>, between: &str) -> Self {
        let texts = texts.into_iter().filter(|text| !text.is_empty());
        texts.reduce(|all, text| all.and(between).join(text)).unwrap_or_default()
    }

    /// The words alone.
    pub(super) fn words(&self) -> String {
        self.pieces.iter().map(|piece| &*piece.text).collect()
    }
}
