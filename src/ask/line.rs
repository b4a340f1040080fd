//! A line of a file, and what is written on it.

use super::question::SET;
use crate::check::RenderedSite;
use crate::error::Error;
use crate::graph::{DocId, Recipe};
use crate::report::answer::impact::TextPart;
use crate::source::{FileId, RepoPath, Span};
use crate::yaml::path::{Location, Piece};
use crate::yaml::{Mapping, Node};

/// A line given by the user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) file: FileId,
    /// 0-based line number.
    pub(crate) number: usize,
}

impl Line {
    /// The 0-based line of the file that a document is written in.
    pub(crate) fn of(recipe: &Recipe, number: usize, site: &RenderedSite<'_>) -> Self {
        let file = site.sources.written(recipe.span).file;
        Self { file, number }
    }

    /// The 0-based line of a given file that a site reads; `place` is the line as given.
    ///
    /// # Errors
    /// If the site reads none of the files.
    pub(crate) fn given(
        site: &RenderedSite<'_>,
        given: &[RepoPath],
        number: usize,
        place: &str,
    ) -> Result<Self, Error> {
        let file = site
            .graph
            .recipes
            .iter()
            .map(|recipe| site.sources.written(recipe.span).file);
        let file = file
            .into_iter()
            .find(|file| given.contains(site.sources.get(*file).path()));
        let file = file.ok_or_else(|| {
            let name = site.site.name.as_deref().unwrap_or(SET);
            Error::usage(format!("site `{name}` does not read the file of `{place}`"))
        })?;
        Ok(Self { file, number })
    }

    /// Whether a span is on the line or crosses it, also if its text is encoded there.
    pub(crate) fn touches(self, span: Span, site: &RenderedSite<'_>) -> bool {
        let span = site.sources.written(span);
        if span.file != self.file {
            return false;
        }
        let lines = site.sources.get(span.file).lines();
        let last = span.end.saturating_sub(1).max(span.start);
        let next = lines.start_of(self.number + 1);
        lines
            .start_of(self.number)
            .is_some_and(|start| start <= last)
            && next.is_none_or(|next| span.start < next)
    }

    /// Content of a line without an effect on any document; `None` if it may have one.
    pub(crate) fn inert_part(self, site: &RenderedSite<'_>) -> Option<TextPart> {
        let text = site.sources.get(self.file).text();
        match text.lines().nth(self.number)?.trim() {
            "" => Some(TextPart::EmptyLine),
            "---" | "..." => Some(TextPart::Mark),
            line if line.starts_with('#') => Some(TextPart::Comment),
            _ => None,
        }
    }

    /// Document on the line.
    pub(crate) fn document(self, site: &RenderedSite<'_>) -> Option<DocId> {
        let mut documents = site.graph.iter().filter(|(doc, recipe)| {
            let is_merged = site
                .sets
                .member(*doc)
                .is_some_and(|member| member.part.is_none());
            !is_merged && (self.touches(recipe.span, site) || self.is_merge_setting(site, *doc))
        });
        documents.next().map(|(doc, _)| doc)
    }

    /// Whether the line sets how a part is merged.
    pub(crate) fn is_merge_setting(self, site: &RenderedSite<'_>, doc: DocId) -> bool {
        let member = site.sets.member(doc);
        let said_at = member.and_then(|member| member.part?.specification());
        said_at.is_some_and(|span| self.touches(span, site))
    }

    /// Values of a document's own data on the line: leaves, and mappings and lists whose key is on
    /// the line and whose content is below it.
    pub(crate) fn places(self, site: &RenderedSite<'_>, doc: DocId) -> Vec<Location> {
        let data = &site.graph.recipe(doc).data;
        let mut places = Vec::new();
        self.add_places(site, data, &mut Location::root(), &mut places);
        places
    }

    /// Values of its document on the line; `place` is the line as given.
    ///
    /// # Errors
    /// If there are none.
    pub(crate) fn texts(
        self,
        site: &RenderedSite<'_>,
        place: &str,
    ) -> Result<Vec<(DocId, Location)>, Error> {
        let doc = self.document(site);
        let texts: Vec<(DocId, Location)> = doc
            .into_iter()
            .flat_map(|doc| {
                self.places(site, doc)
                    .into_iter()
                    .map(move |own| (doc, own))
            })
            .collect();
        if texts.is_empty() {
            let message = format!("no value of a document at `{place}`");
            return Err(Error::usage(message));
        }
        Ok(texts)
    }

    fn add_places(
        self,
        site: &RenderedSite<'_>,
        node: &Node,
        here: &mut Location,
        places: &mut Vec<Location>,
    ) {
        let entries = node.as_mapping().into_iter().flat_map(Mapping::iter);
        let items = node.as_sequence().unwrap_or_default().iter().enumerate();
        let children: Vec<(Piece, Option<Span>, &Node)> = entries
            .map(|(key, child)| (Piece::Key(key.clone()), Some(key.span), child))
            .chain(items.map(|(index, child)| (Piece::Index(index), None, child)))
            .collect();
        if children.is_empty() {
            if self.touches(node.span, site) {
                places.push(here.clone());
            }
            return;
        }
        for (piece, key, child) in children {
            here.0.push(piece);
            let is_keyed = key.is_some_and(|key| self.touches(key, site));
            let begins_here = child_has_lines(child) && self.touches_first(child, site);
            if is_keyed && !begins_here {
                places.push(here.clone());
            } else {
                self.add_places(site, child, here, places);
            }
            here.0.pop();
        }
    }

    /// Whether a value begins on the line.
    fn touches_first(self, node: &Node, site: &RenderedSite<'_>) -> bool {
        self.touches(Span::point(node.span.file, node.span.start), site)
    }
}

/// Whether a value contains values.
fn child_has_lines(node: &Node) -> bool {
    node.as_mapping().is_some_and(|mapping| !mapping.is_empty())
        || node.as_sequence().is_some_and(|items| !items.is_empty())
}
