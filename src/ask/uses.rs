//! Texts that name documents: selectors, replacements, sources of substitutions, schemas, layers, and
//! names that Armada and Drydock look up.

use super::place::{in_data, touches};
use crate::check::{Answer, RenderedSite};
use crate::graph::DocId;
use crate::rules::Reference;
use crate::source::{DocKey, Span};
use crate::system::deckhand::document::Document;

/// A text of a document that names another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DocumentUse {
    pub(crate) at: Span,
    pub(crate) kind: UseKind,
    /// The document that contains the text, or that inherits it.
    pub(crate) user: DocumentPlace,
    /// The document that is named.
    pub(crate) used: DocumentPlace,
    /// The text of the named document that matches: a label for a selector, else its name.
    pub(crate) matched: Span,
}

/// Kind of a [`DocumentUse`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum UseKind {
    /// A selector of the parent.
    Parent,
    /// A replacement of the parent.
    Replaced,
    /// A source of a substitution.
    Source,
    /// A schema, of the DataSchema.
    Schema,
    /// A layer, of the LayeringPolicy.
    Layer,
    /// A name in the data, such as that of a chart in a group.
    Name,
}

/// A document and where it is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DocumentPlace {
    pub(crate) span: Span,
    /// Its name.
    pub(crate) name: Span,
    pub(crate) key: DocKey,
}

impl DocumentPlace {
    fn of(document: &Document) -> Self {
        Self {
            span: document.span,
            name: document.name_span,
            key: document.key.clone(),
        }
    }
}

/// Documents, and the texts that name them, of one site or of all.
#[derive(Debug, Default)]
pub(crate) struct NamedDocuments {
    /// By text.
    pub(crate) documents: Vec<DocumentPlace>,
    /// By text.
    pub(crate) uses: Vec<DocumentUse>,
}

impl NamedDocuments {
    /// The document that contains a byte.
    pub(crate) fn document_at(&self, at: Span) -> Option<&DocumentPlace> {
        let behind = self.documents.partition_point(|document| {
            (document.span.file, document.span.start) <= (at.file, at.start)
        });
        let document = self.documents.get(behind.checked_sub(1)?)?;
        document.span.contains(at).then_some(document)
    }

    /// The texts that contain a byte or end there.
    pub(crate) fn uses_at(&self, at: Span) -> impl Iterator<Item = &DocumentUse> {
        self.uses.iter().filter(move |found| touches(found.at, at))
    }

    /// Documents and uses of several sites, each once.
    pub(crate) fn of_sites(sites: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::default();
        for site in sites {
            all.documents.extend(site.documents);
            all.uses.extend(site.uses);
        }
        all.documents.sort_unstable();
        all.documents.dedup();
        all.uses.sort_unstable();
        all.uses.dedup();
        all
    }
}

/// The documents of a site, and all texts that name them, after the documents were rendered whose data
/// can name others.
pub(crate) fn answer(site: &RenderedSite<'_>, references: &[Reference]) -> Answer<NamedDocuments> {
    let naming = site.graph.outputs().filter(|(_, recipe)| {
        let mut references = references.iter();
        references.any(|reference| reference.schema == recipe.key.schema)
    });
    let needed = site.unrequested(naming.map(|(doc, _)| doc));
    Answer::after(needed, || {
        let documents = site.site.iter();
        let uses = documents.flat_map(|(doc, document)| {
            let written = written(site, doc, document);
            written.chain(named(site, doc, document, references))
        });
        NamedDocuments {
            documents: site
                .site
                .iter()
                .map(|(_, it)| DocumentPlace::of(it))
                .collect(),
            uses: uses.collect(),
        }
    })
}

/// Uses by the fields of a document.
fn written<'s>(
    site: &RenderedSite<'s>,
    doc: DocId,
    document: &'s Document,
) -> impl Iterator<Item = DocumentUse> + use<'s> {
    let (graph, related) = (site.graph, site.site);
    let base = graph.recipe(doc).base;
    let parent = base.map(|link| (link.selector, UseKind::Parent, link.doc, Some(link.label)));
    let replaced = base.zip(document.replacement);
    let replaced = replaced.map(|(link, at)| (at, UseKind::Replaced, link.doc, None));
    let sources = document.substitutions().filter_map(move |substitution| {
        let source = substitution.source;
        let named = related.source(&source.schema.value, &source.name.value)?;
        Some((source.span, UseKind::Source, named, None))
    });
    let schema = related.data_schemas().get(&document.key.schema);
    let schema = schema.map(|named| (document.schema_span, UseKind::Schema, *named, None));
    let layer = document.layer.as_ref().zip(related.policy);
    let layer = layer.map(|(layer, policy)| (layer.span, UseKind::Layer, policy, None));
    let uses = parent.into_iter().chain(replaced).chain(sources);
    let uses = uses.chain(schema).chain(layer);
    uses.filter(move |(_, _, named, _)| *named != doc)
        .map(move |(at, kind, named, matched)| {
            let used = DocumentPlace::of(related.document(named));
            DocumentUse {
                at,
                kind,
                user: DocumentPlace::of(document),
                matched: matched.unwrap_or(used.name),
                used,
            }
        })
}

/// Uses by names in the rendered data of a document.
fn named<'s>(
    site: &RenderedSite<'s>,
    doc: DocId,
    document: &'s Document,
    references: &'s [Reference],
) -> impl Iterator<Item = DocumentUse> + use<'s> {
    let related = site.site;
    let data = site.rendered.data(doc).filter(|_| related.is_output(doc));
    let references = references.iter();
    let of_schema = references.filter(|reference| reference.schema == document.key.schema);
    of_schema
        .zip(std::iter::repeat(data))
        .filter_map(|(reference, data)| Some((reference, data?)))
        .flat_map(move |(reference, data)| {
            reference.names(data).filter_map(move |(node, name)| {
                let named = related.output(&reference.target, name)?;
                let used = DocumentPlace::of(related.document(named));
                Some(DocumentUse {
                    at: node.span,
                    kind: UseKind::Name,
                    user: DocumentPlace::of(document),
                    matched: used.name,
                    used,
                })
            })
        })
}

/// The sources of substitutions that read the value of a document at a byte, or a part of it; `None`
/// outside of data.
pub(crate) fn reading(site: &RenderedSite<'_>, at: Span) -> Answer<Option<Vec<Span>>> {
    let Some(place) = in_data(site, at) else {
        return Answer::Is(None);
    };
    let read = site.site.standing_for(place.doc);
    Answer::after(site.unrequested([read]), || {
        let documents = site.site.iter();
        let substitutions = documents.flat_map(|(_, document)| document.substitutions());
        let reading = substitutions.filter(|substitution| {
            let source = substitution.source;
            let path = &substitution.writing.from.value;
            site.site.source(&source.schema.value, &source.name.value) == Some(read)
                && path
                    .first(site.data(read))
                    .ok()
                    .flatten()
                    .is_some_and(|found| {
                        let [inner, outer] = [&found.location.0, &place.location.0];
                        inner.starts_with(outer) || outer.starts_with(inner)
                    })
        });
        let sources = reading.map(|substitution| substitution.source.span);
        Some(sources.collect())
    })
}

/// The source value of the substitution whose source is named at a place, after the source document
/// was rendered: the text that wrote it.
pub(crate) fn source_value(site: &RenderedSite<'_>, at: Span) -> Answer<Option<Span>> {
    let substitution = site.site.document_at(at).and_then(|doc| {
        let mut substitutions = site.site.document(doc).substitutions();
        substitutions.find(|substitution| substitution.source.span == at)
    });
    let source = substitution.and_then(|substitution| {
        let source = substitution.source;
        let named = site.site.source(&source.schema.value, &source.name.value)?;
        Some((named, substitution.writing))
    });
    let Some((source, writing)) = source else {
        return Answer::Is(None);
    };
    Answer::after(site.unrequested([source]), || {
        let path = &writing.from.value;
        let found = path.first(site.data(source)).ok().flatten();
        found.map(|found| found.node.span)
    })
}
