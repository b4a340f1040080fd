//! The parts of a file's documents: symbols, ranges to fold, and ranges to select. Of a secret, only
//! the place is shown.

use gen_lsp_types::{
    DocumentSymbol, DocumentSymbolParams, FoldingRange, FoldingRangeParams, SelectionRange,
    SelectionRangeParams, SymbolKind,
};

use super::asked::Asked;
use crate::ask::place::touches;
use crate::source::Span;
use crate::system::deckhand::document::Document;
use crate::yaml::emit::scalar_text;
use crate::yaml::{Mapping, Node, Value};

/// A part of a document: an entry of a mapping, or an item of a list.
struct DocumentPart {
    name: String,
    /// Text of the key, or the beginning of the item.
    title: Span,
    /// The key and its value.
    whole: Span,
    node: Node,
}

/// The documents, with their parts.
pub(super) fn symbols(asked: &Asked<'_>, _: DocumentSymbolParams) -> Vec<DocumentSymbol> {
    let documents = asked.documents().iter();
    documents
        .map(|document| of_document(asked, document))
        .collect()
}

fn of_document(asked: &Asked<'_>, document: &Document) -> DocumentSymbol {
    let symbol = DocumentSymbol {
        name: document.key.name_and_layer(),
        detail: Some(document.key.schema.to_string()),
        kind: SymbolKind::Class,
        tags: None,
        #[expect(deprecated, reason = "the type has it")]
        deprecated: None,
        range: asked.range(trimmed(asked, document.span)),
        selection_range: asked.range(document.name_span),
        children: None,
    };
    let parts = parts(&document.root()).into_iter();
    DocumentSymbol {
        children: Some(parts.map(|part| of_part(asked, part)).collect()),
        ..symbol
    }
}

fn of_part(asked: &Asked<'_>, part: DocumentPart) -> DocumentSymbol {
    let children = parts(&part.node).into_iter();
    let children: Vec<DocumentSymbol> = children.map(|child| of_part(asked, child)).collect();
    DocumentSymbol {
        name: part.name,
        detail: None,
        kind: kind(&part.node),
        tags: None,
        #[expect(deprecated, reason = "the type has it")]
        deprecated: None,
        range: asked.range(trimmed(asked, part.whole)),
        selection_range: asked.range(part.title),
        children: Some(children).filter(|children| !children.is_empty()),
    }
}

fn kind(node: &Node) -> SymbolKind {
    match &node.value {
        Value::Mapping(_) => SymbolKind::Object,
        Value::Sequence(_) => SymbolKind::Array,
        Value::String(_) => SymbolKind::String,
        Value::Bool(_) => SymbolKind::Boolean,
        Value::Null => SymbolKind::Null,
        _ => SymbolKind::Number,
    }
}

/// The parts of a value that are written inside of it: none of a secret or of an alias.
fn parts(node: &Node) -> Vec<DocumentPart> {
    if node.secret {
        return Vec::new();
    }
    let entries = node.as_mapping().into_iter().flat_map(Mapping::iter);
    let entries = entries.map(|(key, child)| DocumentPart {
        name: scalar_text(&key.value),
        title: key.span,
        whole: if key.span.file == child.span.file && key.span.end <= child.span.start {
            key.span.to(child.span)
        } else {
            key.span
        },
        node: child.clone(),
    });
    let items = node.as_sequence().unwrap_or_default().iter().enumerate();
    let items = items.map(|(index, child)| DocumentPart {
        name: name_of_item(child).unwrap_or_else(|| index.to_string()),
        title: Span::point(child.span.file, child.span.start),
        whole: child.span,
        node: child.clone(),
    });
    let all = entries.chain(items);
    all.filter(|part| node.span.contains(part.whole)).collect()
}

fn name_of_item(item: &Node) -> Option<String> {
    item.get("name")
        .filter(|name| !name.secret)?
        .as_str()
        .map(str::to_owned)
}

/// A range without the empty lines at its end.
fn trimmed(asked: &Asked<'_>, text: Span) -> Span {
    let written = asked.folder.workspace.sources().slice(text);
    let rest = u32::try_from(written.len() - written.trim_end().len()).unwrap_or_default();
    Span::new(text.file, text.start, text.end - rest)
}

/// Documents, and values with several lines.
pub(super) fn folding(asked: &Asked<'_>, _: FoldingRangeParams) -> Vec<FoldingRange> {
    let mut texts = Vec::new();
    for document in asked.documents() {
        texts.push(document.span);
        let mut open = parts(&document.root());
        while let Some(part) = open.pop() {
            texts.push(part.whole);
            open.extend(parts(&part.node));
        }
    }
    let ranges = texts
        .into_iter()
        .map(|text| asked.range(trimmed(asked, text)));
    let mut lines: Vec<(u32, u32)> = ranges
        .map(|range| (range.start.line, range.end.line))
        .filter(|(start, end)| start < end)
        .collect();
    lines.sort_unstable();
    lines.dedup();
    let folds = lines
        .into_iter()
        .map(|(start_line, end_line)| FoldingRange {
            start_line,
            end_line,
            ..FoldingRange::default()
        });
    folds.collect()
}

/// The parts around each place, the innermost first.
pub(super) fn selections(asked: &Asked<'_>, params: SelectionRangeParams) -> Vec<SelectionRange> {
    let around = params.positions.iter().map(|position| {
        let at = asked.at(*position);
        let texts = at.map(|at| around(asked, at)).unwrap_or_default();
        let outer = texts.into_iter().fold(None, |parent, text| {
            Some(SelectionRange {
                range: asked.range(trimmed(asked, text)),
                parent: parent.map(Box::new),
            })
        });
        outer.unwrap_or_else(|| SelectionRange {
            range: gen_lsp_types::Range::new(*position, *position),
            parent: None,
        })
    });
    around.collect()
}

/// The parts around a byte, the outermost first.
fn around(asked: &Asked<'_>, at: Span) -> Vec<Span> {
    let mut documents = asked.documents().iter();
    let Some(document) = documents.find(|document| touches(document.span, at)) else {
        return Vec::new();
    };
    let mut texts = vec![document.span];
    let mut inside = parts(&document.root());
    while let Some(part) = inside.into_iter().find(|part| touches(part.whole, at)) {
        texts.push(part.whole);
        let written = [part.title, part.node.span].into_iter();
        inside = parts(&part.node);
        texts.extend(written.filter(|text| touches(*text, at) && part.whole.contains(*text)));
    }
    texts.dedup();
    texts
}
