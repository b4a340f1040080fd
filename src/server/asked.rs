//! A question about a file, and the state that answers it.

use std::collections::BTreeSet;
use std::sync::Arc;

use gen_lsp_types::{Location, Position, Range};

use super::client::Client;
use super::findings::Shown;
use super::folder::{OpenedFolder, overlaid};
use super::text::{Lines, moved};
use super::worker::OpenDocuments;
use crate::ask::uses::{self, NamedDocuments};
use crate::cancel::Cancel;
use crate::check::{Answer, RenderedSite, RunControl};
use crate::commands::Selection;
use crate::error::Error;
use crate::source::{FileId, RepoPath, Span, offset};
use crate::system::deckhand::document::Document;

/// Answers with the names of their sites.
pub(super) type SiteAnswers<T> = Vec<(Option<Arc<str>>, T)>;

/// A question about a file of an opened folder.
pub(super) struct Asked<'f> {
    pub(super) folder: &'f mut OpenedFolder,
    pub(super) client: &'f Client,
    pub(super) file: RepoPath,
    open: &'f OpenDocuments,
    cancel: &'f Cancel,
    /// Its text in the editor, or that which was read; empty for a file that is neither open nor read.
    pub(super) text: Arc<str>,
    /// Its current content, and the content that its documents are of; `None` if no site reads it.
    contents: Option<[FileId; 2]>,
}

impl<'f> Asked<'f> {
    pub(super) fn new(
        folder: &'f mut OpenedFolder,
        client: &'f Client,
        file: RepoPath,
        open: &'f OpenDocuments,
        cancel: &'f Cancel,
    ) -> Self {
        folder.workspace.stopped_by(cancel);
        let contents = folder.workspace.contents_of(&file);
        let read = contents.map(|[current, _]| folder.workspace.sources().get(current).text());
        let opened = open.get(&folder.root.join(file.as_str()));
        let text = opened.map(|document| &document.text).or(read);
        Self {
            text: text.cloned().unwrap_or_default(),
            folder,
            client,
            file,
            open,
            cancel,
            contents,
        }
    }

    /// Its text with the places of the client.
    pub(super) fn lines(&self) -> Lines<'_> {
        Lines::new(&self.text, self.client.encoding)
    }

    /// The byte at a place of the text that its documents are of; `None` if no site reads it.
    pub(super) fn at(&self, position: Position) -> Option<Span> {
        let [_, known] = self.contents?;
        let before = self.folder.workspace.sources().get(known).text();
        let byte = moved(&self.text, before, self.lines().byte(position));
        Some(Span::point(known, offset(byte)))
    }

    /// Its documents, of its last content that could be parsed.
    pub(super) fn documents(&self) -> &[Document] {
        match self.contents {
            Some([_, known]) => self.folder.workspace.documents_of(known),
            None => &[],
        }
    }

    /// Whether a text is of the current content of its file, in this repository.
    pub(super) fn is_current(&self, text: Span) -> bool {
        let workspace = &self.folder.workspace;
        let sources = workspace.sources();
        sources.has(text.file) && {
            let contents = workspace.contents_of(sources.get(text.file).path());
            contents.is_some_and(|[current, _]| current == text.file)
        }
    }

    /// How findings are shown.
    pub(super) fn shown(&self) -> Shown<'_> {
        self.folder.shown(self.client)
    }

    /// The site repository with the texts of open documents.
    pub(super) fn selection(&self) -> Selection {
        Selection {
            texts: overlaid(&self.folder.root, self.open),
            ..Selection::of(self.folder.path.clone())
        }
    }

    /// Stops a run together with the question.
    pub(super) fn control(&self) -> RunControl {
        RunControl::stopped_by(self.cancel)
    }

    /// Asks all sites that read the file; the answers, with the names of the sites.
    ///
    /// # Errors
    /// If it is cancelled.
    pub(super) fn ask<T: Send>(
        &mut self,
        question: impl Fn(&RenderedSite<'_>) -> Answer<T> + Sync,
    ) -> Result<SiteAnswers<T>, Error> {
        let OpenedFolder {
            project, workspace, ..
        } = &mut *self.folder;
        let sites = project.sites_reading([&self.file]);
        Ok(workspace
            .ask(sites.as_ref(), question)?
            .into_iter()
            .collect())
    }

    /// The documents of all sites, and the texts that name them.
    ///
    /// # Errors
    /// If it is cancelled.
    pub(super) fn names(&mut self) -> Result<Arc<NamedDocuments>, Error> {
        if let Some(names) = &self.folder.names {
            return Ok(names.clone());
        }
        let workspace = &mut self.folder.workspace;
        let references = workspace.settings().references.clone();
        let of_sites = workspace.ask(None, |site| uses::answer(site, &references))?;
        let names = Arc::new(NamedDocuments::of_sites(of_sites.into_values()));
        self.folder.names = Some(names.clone());
        Ok(names)
    }

    /// Where a text is.
    pub(super) fn location(&self, text: Span) -> Location {
        self.folder.location(text, self.client.encoding)
    }

    /// Where texts are, sorted by path and place.
    pub(super) fn locations(&self, texts: BTreeSet<Span>) -> Vec<Location> {
        let mut texts: Vec<Span> = texts.into_iter().collect();
        texts.sort_by_key(|text| (self.folder.workspace.path_of(*text), text.start));
        texts.into_iter().map(|text| self.location(text)).collect()
    }

    /// Place of a text of this file.
    pub(super) fn range(&self, text: Span) -> Range {
        self.location(text).range
    }
}
