//! Slips with a known remedy, and the documents of the site without them: findings that do not
//! occur in the corrected site follow from the slip. A correction takes nothing away that others may
//! use, because their findings would disappear with it: instead of being renamed, a document or key
//! is copied.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::missing_source::{self, LackingKey, missing_sources};
use super::misspelled_schema::meant_schemas;
use super::{SiteFacts, missing_layering_policy, missing_parent};
use crate::graph::DocId;
use crate::near::nearest;
use crate::render::{MissingValue, ProblemKind, SubstitutionProblem};
use crate::source::Span;
use crate::system::deckhand::SiteProblem;
use crate::system::deckhand::document::{Document, DocumentFaultKind};
use crate::system::deckhand::known::KnownTexts;
use crate::system::deckhand::read::{is_policy, revised};
use crate::yaml::path::{Path, Segment};
use crate::yaml::{Key, Mapping, Node, Value};

/// Documents of a site without one slip.
pub(crate) struct Correction {
    /// Primary places of the findings that report the slip.
    pub(crate) reported: Vec<Span>,
    /// The corrected documents.
    pub(crate) documents: Vec<(DocId, Document)>,
    /// Document that the site lacks.
    pub(crate) added: Option<Document>,
}

impl Correction {
    fn of(reported: Vec<Span>, doc: DocId, document: Document) -> Self {
        Self {
            reported,
            documents: vec![(doc, document)],
            added: None,
        }
    }
}

/// Corrections of the slips in a site, in the order of what they affect: documents, layers, schemas,
/// parents, sources, values.
pub(crate) fn corrections(facts: &SiteFacts<'_>) -> Vec<Correction> {
    let mut corrections: Vec<Correction> = facts
        .site
        .iter()
        .filter_map(|(doc, document)| envelope(facts, doc, document))
        .collect();
    corrections.extend(policy(facts));
    corrections.extend(layers(facts));
    let meant = meant_schemas(facts);
    corrections.extend(schemas(facts, &meant));
    corrections.extend(parents(facts));
    corrections.extend(sources(facts, &meant));
    corrections.extend(values(facts));
    corrections
}

/// A document with its misspelled keys corrected, and in the layer of its folder if it has none.
fn envelope(facts: &SiteFacts<'_>, doc: DocId, document: &Document) -> Option<Correction> {
    let misspelled: Vec<(Span, &'static str)> = document
        .faults
        .iter()
        .filter_map(|fault| match &fault.kind {
            DocumentFaultKind::UnknownField { near, .. }
            | DocumentFaultKind::UnknownKey { near, .. } => Some((fault.at, (*near)?)),
            DocumentFaultKind::RenamedKey { field } => Some((fault.at, *field)),
            _ => None,
        })
        .collect();
    let lacks = |fields: &[&str]| {
        document.faults.iter().any(|fault| {
            matches!(&fault.kind, DocumentFaultKind::MissingField { field } if fields.contains(&&**field))
        })
    };
    let lacks_layer = lacks(&[
        "metadata.layeringDefinition",
        "metadata.layeringDefinition.layer",
    ]);
    let layer = if lacks_layer {
        layer_of_folder(facts, document)
    } else {
        None
    };
    let name = if lacks(&["metadata.name"]) {
        wanted_name(facts, doc, document)
    } else {
        None
    };
    if misspelled.is_empty() && layer.is_none() && name.is_none() {
        return None;
    }
    let corrected = with_root(document, |root| {
        for (at, near) in &misspelled {
            with_entry(root, *at, &|entries, written| {
                let value = entries.remove(written)?;
                entries.insert(Key::string(*near, *at), value);
                Some(())
            })?;
        }
        if let Some(layer) = &layer {
            let path = ["metadata", "layeringDefinition", "layer"];
            set(root, &path, text(layer, document.span))?;
        }
        if let Some(name) = name {
            set(root, &["metadata", "name"], text(name, document.span))?;
        }
        Some(())
    })?;
    let reported = document.faults.iter().map(|fault| fault.at).collect();
    Some(Correction::of(reported, doc, corrected))
}

/// The only name under which others look for a document of this schema in vain, or replace it.
fn wanted_name<'f>(facts: &'f SiteFacts<'_>, doc: DocId, document: &Document) -> Option<&'f str> {
    let sources = missing_sources(facts)
        .filter(|source| *source.schema.value == *document.key.schema)
        .map(|source| &*source.name.value);
    let replacements = facts
        .site
        .problems
        .iter()
        .filter_map(|problem| match problem {
            SiteProblem::ReplacementOfAnother {
                doc: replacement,
                parent,
            } if *parent == doc => Some(&*facts.document(*replacement).key.name),
            _ => None,
        });
    let names: BTreeSet<&str> = sources.chain(replacements).collect();
    names.first().copied().filter(|_| names.len() == 1)
}

/// Layer after which a folder of the document's file is named.
fn layer_of_folder(facts: &SiteFacts<'_>, document: &Document) -> Option<Arc<str>> {
    let order = facts.document(facts.site.policy?).layer_order.as_deref()?;
    let folders = facts.sources.path_of(document.span).as_str().split('/');
    let layer = |folder: &str| order.iter().find(|layer| *layer.value == *folder);
    folders
        .filter_map(layer)
        .map(|layer| layer.value.clone())
        .next()
}

/// The site with a layering policy: a document whose schema is nearly that of one, or else the
/// usual order, if the documents have no other layers.
fn policy(facts: &SiteFacts<'_>) -> Option<Correction> {
    const SCHEMA: &str = "deckhand/LayeringPolicy/v1";
    const ORDER: [&str; 3] = ["global", "type", "site"];
    if !facts
        .site
        .problems
        .iter()
        .any(|it| matches!(it, SiteProblem::MissingPolicy))
    {
        return None;
    }
    let reported = vec![missing_layering_policy::place(facts)];
    let is_slip =
        |document: &Document| nearest(&document.key.schema, [SCHEMA]).is_some() && document.control;
    if let Some((doc, document)) = facts.site.iter().find(|(_, document)| is_slip(document)) {
        let corrected = with_root(document, |root| {
            set(root, &["schema"], text(SCHEMA, document.span))
        });
        return Some(Correction::of(reported, doc, corrected?));
    }
    let first = *facts.site.documents.first()?;
    let mut layers = facts
        .site
        .documents
        .iter()
        .filter_map(|document| document.layer.as_ref());
    if !layers.all(|layer| ORDER.contains(&&*layer.value)) {
        return None;
    }
    let order: Vec<Node> = ORDER.iter().map(|layer| text(layer, first.span)).collect();
    let fields: [(&[&str], Node); 4] = [
        (&["schema"], text(SCHEMA, first.span)),
        (
            &["metadata", "schema"],
            text("metadata/Control/v1", first.span),
        ),
        (&["metadata", "name"], text("layering-policy", first.span)),
        (&["data", "layerOrder"], Node::new(order.into(), first.span)),
    ];
    let added = revised(
        first,
        with_fields(first.span, fields)?,
        &mut KnownTexts::default(),
    );
    is_policy(&added.key.schema).then(|| Correction {
        reported,
        documents: Vec::new(),
        added: Some(added),
    })
}

/// Documents in the layer that they nearly name. If the policy is likely misspelled instead, each of
/// several documents may be the cause.
fn layers(facts: &SiteFacts<'_>) -> Vec<Correction> {
    let path = ["metadata", "layeringDefinition", "layer"];
    let of_problem = |problem: &SiteProblem| {
        let SiteProblem::UnknownLayer {
            doc,
            near: Some(near),
        } = problem
        else {
            return None;
        };
        let document = facts.document(*doc);
        let layer = document.layer.as_ref().filter(|_| !near.is_slip)?;
        let corrected = with_root(document, |root| {
            set(root, &path, text(&near.name, layer.span))
        });
        Some(Correction::of(vec![layer.span], *doc, corrected?))
    };
    facts.site.problems.iter().filter_map(of_problem).collect()
}

/// Documents with the schema that is probably meant.
fn schemas(facts: &SiteFacts<'_>, meant: &BTreeMap<DocId, &str>) -> Vec<Correction> {
    meant
        .iter()
        .filter_map(|(doc, meant)| {
            let document = facts.document(*doc);
            let schema = text(meant, document.schema_span);
            let corrected = with_root(document, |root| set(root, &["schema"], schema))?;
            Some(Correction::of(vec![document.schema_span], *doc, corrected))
        })
        .collect()
}

/// Children with the selector that was probably intended; those with the same selector together,
/// since the slip may be in the parent.
fn parents(facts: &SiteFacts<'_>) -> Vec<Correction> {
    let children = facts
        .site
        .problems
        .iter()
        .filter_map(|problem| match problem {
            SiteProblem::MissingParent { child } => Some(*child),
            _ => None,
        });
    let mut alike: Vec<(DocId, Option<Arc<Mapping>>, Vec<DocId>)> = Vec::new();
    for child in children {
        let wanted = &facts.selector(child).labels;
        let schema = |doc: DocId| &facts.document(doc).key.schema;
        let same = alike.iter_mut().find(|(first, _, _)| {
            schema(*first) == schema(child) && facts.selector(*first).labels == *wanted
        });
        match same {
            Some((.., docs)) => docs.push(child),
            None => alike.push((
                child,
                missing_parent::meant_labels(facts, child),
                vec![child],
            )),
        }
    }
    let correction = |(_, labels, docs): (DocId, Option<Arc<Mapping>>, Vec<DocId>)| {
        let reported = docs.iter().map(|doc| facts.selector(*doc).span).collect();
        let Some(labels) = labels else {
            let added = Some(placeholder_parent(facts, &docs)?);
            return Some(Correction {
                reported,
                documents: Vec::new(),
                added,
            });
        };
        let documents = docs
            .iter()
            .filter_map(|doc| with_selector(facts, *doc, &labels));
        Some(Correction {
            reported,
            documents: documents.collect(),
            added: None,
        })
    };
    alike.into_iter().filter_map(correction).collect()
}

/// A child with other selected labels.
fn with_selector(
    facts: &SiteFacts<'_>,
    child: DocId,
    labels: &Arc<Mapping>,
) -> Option<(DocId, Document)> {
    let path = ["metadata", "layeringDefinition", "parentSelector"];
    let document = facts.document(child);
    let labels = Node::new(Value::Mapping(labels.clone()), document.span);
    Some((child, with_root(document, |root| set(root, &path, labels))?))
}

/// A document that the children select, with a value at each path at which others read them: the
/// children may inherit it.
fn placeholder_parent(facts: &SiteFacts<'_>, children: &[DocId]) -> Option<Document> {
    let document = facts.document(*children.first()?);
    let order = facts.document(facts.site.policy?).layer_order.as_deref()?;
    let own = document.layer.as_ref()?;
    let above = order
        .iter()
        .position(|layer| layer.value == own.value)?
        .checked_sub(1)?;
    let labels = facts.selector(*children.first()?).labels.clone();
    let keys = children.iter().map(|child| &facts.document(*child).key);
    let data = data_read(
        facts,
        &keys
            .map(|key| (&*key.schema, &*key.name))
            .collect::<Vec<_>>(),
    )?;
    let schema = &*document.key.schema;
    let name = &*document.key.name;
    // Only a replacement has the name of its parent.
    let name = match document.replacement {
        Some(_) => name.to_owned(),
        None => format!("parent of {name}"),
    };
    placeholder(facts, schema, &name, above, Some(labels), data)
}

/// Documents under the schema and name under which others look for them, except documents of a
/// misspelled schema.
fn sources(facts: &SiteFacts<'_>, meant: &BTreeMap<DocId, &str>) -> Vec<Correction> {
    let mut wanted: BTreeMap<(&str, &str), Vec<Span>> = BTreeMap::new();
    let misspelled: BTreeSet<(&str, &str)> = meant
        .iter()
        .map(|(doc, meant)| (*meant, &*facts.document(*doc).key.name))
        .collect();
    for source in missing_sources(facts)
        .filter(|source| !misspelled.contains(&(&*source.schema.value, &*source.name.value)))
    {
        let places = wanted
            .entry((&source.schema.value, &source.name.value))
            .or_default();
        places.push(source.name.span);
    }
    let of_source = |((schema, name), reported): ((&str, &str), Vec<Span>)| {
        let Some(document) = similar(facts, schema, name) else {
            let added = Some(placeholder_source(facts, schema, name)?);
            return Some(Correction {
                reported,
                documents: Vec::new(),
                added,
            });
        };
        let copy = with_root(document, |root| {
            set(root, &["schema"], text(schema, document.schema_span))?;
            set(root, &["metadata", "name"], text(name, document.name_span))?;
            set(root, &["metadata", "labels"], mapping(document.span))
        })?;
        Some(Correction {
            reported,
            documents: Vec::new(),
            added: Some(copy),
        })
    };
    let renamed = facts.site.problems.iter().filter_map(|problem| {
        let SiteProblem::ReplacementOfAnother { doc, parent } = problem else {
            return None;
        };
        let document = facts.document(*doc);
        let parent_document = facts.document(*parent);
        let name = &*document.key.name;
        let other = &*parent_document.key.name;
        nearest(name, [other]).filter(|_| document.key.schema == parent_document.key.schema)?;
        let name = text(other, document.name_span);
        let corrected = with_root(document, |root| set(root, &["metadata", "name"], name));
        Some(Correction::of(vec![document.name_span], *doc, corrected?))
    });
    wanted
        .into_iter()
        .filter_map(of_source)
        .chain(renamed)
        .collect()
}

/// A document that has a value at each path at which others read the source that they lack. Any
/// document that they could read has one there, too.
fn placeholder_source(facts: &SiteFacts<'_>, schema: &str, name: &str) -> Option<Document> {
    placeholder(
        facts,
        schema,
        name,
        0,
        None,
        data_read(facts, &[(schema, name)])?,
    )
}

/// Data with a value at each path at which others read these documents, by schema and name.
fn data_read(facts: &SiteFacts<'_>, documents: &[(&str, &str)]) -> Option<Node> {
    let first = *facts.site.documents.first()?;
    let substitutions = facts
        .site
        .documents
        .iter()
        .flat_map(|document| document.substitutions());
    let read = substitutions
        .filter(|it| documents.contains(&(&*it.source.schema.value, &*it.source.name.value)));
    let mut paths: Vec<Vec<&str>> = read
        .map(|it| names(&it.writing.from.value))
        .collect::<Option<_>>()?;
    // The values below others first: a mapping is a value, too.
    paths.sort_by_key(|path| Reverse(path.len()));
    let mut data = mapping(first.span);
    for path in paths {
        if path
            .iter()
            .try_fold(&data, |node, name| node.get(name))
            .is_none()
        {
            set(&mut data, &path, text("placeholder", first.span))?;
        }
    }
    Some(data)
}

/// The keys of a plain path without indexes.
fn names(path: &Path) -> Option<Vec<&str>> {
    fn name(segment: &Segment) -> Option<&str> {
        match segment {
            Segment::Name(name) => Some(name),
            Segment::Index(_) => None,
        }
    }
    path.segments()?.iter().map(name).collect()
}

/// A document in a layer of the policy.
fn placeholder(
    facts: &SiteFacts<'_>,
    schema: &str,
    name: &str,
    layer: usize,
    labels: Option<Arc<Mapping>>,
    data: Node,
) -> Option<Document> {
    let first = *facts.site.documents.first()?;
    let layer = facts
        .document(facts.site.policy?)
        .layer_order
        .as_deref()?
        .get(layer)?;
    let labels = labels.unwrap_or_default();
    let fields: [(&[&str], Node); 7] = [
        (&["schema"], text(schema, first.span)),
        (
            &["metadata", "schema"],
            text("metadata/Document/v1", first.span),
        ),
        (&["metadata", "name"], text(name, first.span)),
        (
            &["metadata", "storagePolicy"],
            text("cleartext", first.span),
        ),
        (
            &["metadata", "labels"],
            Node::new(Value::Mapping(labels), first.span),
        ),
        (
            &["metadata", "layeringDefinition", "layer"],
            text(&layer.value, first.span),
        ),
        (&["data"], data),
    ];
    Some(revised(
        first,
        with_fields(first.span, fields)?,
        &mut KnownTexts::default(),
    ))
}

/// The only document with nearly this schema or name.
fn similar<'f>(facts: &'f SiteFacts<'_>, schema: &str, name: &str) -> Option<&'f Document> {
    let mut similar = facts
        .site
        .iter()
        .map(|(_, document)| document)
        .filter(|document| {
            let key = &document.key;
            (*key.schema == *schema && nearest(name, [&*key.name]).is_some())
                || (*key.name == *name && nearest(schema, [&*key.schema]).is_some())
        });
    similar.next().filter(|_| similar.next().is_none())
}

/// Documents with the key that substitutions read, beside a similar one.
fn values(facts: &SiteFacts<'_>) -> Vec<Correction> {
    let mut wanted: BTreeMap<(Span, String), Vec<Span>> = BTreeMap::new();
    for problem in &facts.rendered.problems {
        let ProblemKind::Substitution(SubstitutionProblem::MissingValue(MissingValue {
            source,
            path,
            null: None,
            ..
        })) = &problem.kind
        else {
            continue;
        };
        let lacking = missing_source::lacking_key(facts, *source, path);
        if let Some(LackingKey {
            name,
            near: Some(near),
            ..
        }) = lacking
        {
            wanted.entry((near, name)).or_default().push(problem.at);
        }
    }
    let of_key = |((at, name), reported): ((Span, String), Vec<Span>)| {
        let doc = facts.site.document_at(at)?;
        let corrected = with_root(facts.document(doc), |root| {
            with_entry(root, at, &|entries, written| {
                let value = entries.get(written)?.clone();
                entries.insert(Key::string(&*name, at), value);
                Some(())
            })
        })?;
        Some(Correction::of(reported, doc, corrected))
    };
    wanted.into_iter().filter_map(of_key).collect()
}

/// A document with a changed root; `None` if it has no place for the change.
fn with_root(
    document: &Document,
    change: impl FnOnce(&mut Node) -> Option<()>,
) -> Option<Document> {
    let mut root = document.root();
    change(&mut root)?;
    Some(revised(document, root, &mut KnownTexts::default()))
}

/// A mapping with values at these paths.
fn with_fields<const N: usize>(span: Span, fields: [(&[&str], Node); N]) -> Option<Node> {
    let mut root = mapping(span);
    for (path, value) in fields {
        set(&mut root, path, value)?;
    }
    Some(root)
}

/// Changes the mapping with the key that is written at a place.
fn with_entry(
    node: &mut Node,
    at: Span,
    change: &dyn Fn(&mut Mapping, &Key) -> Option<()>,
) -> Option<()> {
    let is_around = node.span.contains(at);
    let entries = entries(node).filter(|_| is_around)?;
    let written = entries.keys().find(|key| key.span == at).cloned();
    match written {
        Some(written) => change(entries, &written),
        None => entries
            .iter_mut()
            .find_map(|(_, value)| with_entry(value, at, change)),
    }
}

/// Sets the value at a path of keys; mappings on the way are created.
fn set(node: &mut Node, path: &[&str], value: Node) -> Option<()> {
    let [key, below @ ..] = path else {
        *node = value;
        return Some(());
    };
    let span = node.span;
    let entries = entries(node)?;
    if entries.get(*key).is_none() {
        entries.insert(Key::string(*key, span), mapping(span));
    }
    set(entries.get_mut(*key)?, below, value)
}

fn entries(node: &mut Node) -> Option<&mut Mapping> {
    match &mut node.value {
        Value::Mapping(mapping) => Some(Mapping::to_change(mapping)),
        _ => None,
    }
}

fn mapping(span: Span) -> Node {
    Node::new(Value::Mapping(Arc::default()), span)
}

fn text(text: &str, span: Span) -> Node {
    Node::new(Value::String(text.into()), span)
}
