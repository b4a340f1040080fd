//! `shared-label`: with one label more or less, Deckhand would refuse the site.
//!
//! Deckhand refuses a site if a selector matches a document of another schema, or one that is not
//! in a higher layer (`deckhand.md` 6.2). This rule reports two near misses: a document that has
//! all labels of a selector but one, and a label on documents of several schemas, which cannot be
//! selected alone.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{SiteFacts, title};
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;
use crate::source::Span;
use crate::system::deckhand::document::{Document, Selector};
use crate::system::deckhand::parents::{LabelPair, pair};

super::rule!(
    "shared-label", Note[Strict], "label that could make Deckhand refuse the site after one more edit";
    Site(check)
);

/// Maximum number of documents with a label that is meant to distinguish them; more widely used
/// labels describe a category.
const MAX_CARRIERS: usize = 1000;

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let labels = Labels::of(facts);
    let mut search = NearMatchSearch::of(&labels, facts.site.documents.len());
    let mut reported = HashSet::new();
    for (child, document) in facts.site.iter() {
        let Some(selector) = &document.parent_selector else {
            continue;
        };
        if facts.site.parent(child).is_some()
            && let Some(near) = search.nearly_matched(facts, child, selector)
        {
            reported.extend(selector.labels.iter().filter_map(pair));
            found.push(report_selector(facts, child, selector, &near));
        }
    }
    let mut shared: Vec<Diagnostic> = labels
        .carriers
        .iter()
        .filter(|(pair, _)| !reported.contains(pair))
        .filter_map(|(_, carriers)| report_label(facts, carriers))
        .collect();
    shared.sort_by_key(|finding| finding.primary.span);
    found.append(&mut shared);
}

/// Document that carries a label, and the label's span.
#[derive(Clone, Copy)]
struct LabelCarrier {
    doc: DocId,
    at: Span,
}

/// Labels of a site's documents that have a layer; selectors consider only these.
struct Labels<'a> {
    carriers: HashMap<LabelPair, Vec<LabelCarrier>, foldhash::fast::RandomState>,
    /// Index of each layer in the layer order.
    ranks: BTreeMap<&'a str, usize>,
}

impl<'a> Labels<'a> {
    fn of(facts: &SiteFacts<'a>) -> Self {
        let order = facts.site.policy.and_then(|policy| {
            let policy: &'a Document = facts.site.document(policy);
            policy.layer_order.as_deref()
        });
        let ranks = order
            .into_iter()
            .flatten()
            .enumerate()
            .map(|(rank, layer)| (&*layer.value, rank))
            .collect();
        let mut labels = Self {
            carriers: HashMap::default(),
            ranks,
        };
        for (doc, document) in facts
            .site
            .iter()
            .filter(|(_, document)| document.layer.is_some())
        {
            for (key, value) in document.labels.iter() {
                if let Some(pair) = pair((key, value)) {
                    let carrier = LabelCarrier {
                        doc,
                        at: key.span.to(value.span),
                    };
                    labels.carriers.entry(pair).or_default().push(carrier);
                }
            }
        }
        labels
    }

    fn is_refused(&self, facts: &SiteFacts<'_>, child: DocId, parent: DocId) -> bool {
        let child = &facts.document(child).key;
        let parent = &facts.document(parent).key;
        let rank = |layer: &str| self.ranks.get(layer);
        child.schema != parent.schema || rank(&parent.layer) >= rank(&child.layer)
    }
}

/// Search for documents that nearly match a selector.
struct NearMatchSearch<'l, 'a> {
    labels: &'l Labels<'a>,
    /// By document id: number of labels shared with the current selector, and the span of the
    /// first.
    shares: Vec<(usize, Option<Span>)>,
    /// Remaining budget of carriers to visit.
    left: usize,
}

/// Maximum number of label carriers visited in a site, for all selectors.
const MAX_VISITS: usize = 20_000_000;

impl<'l, 'a> NearMatchSearch<'l, 'a> {
    fn of(labels: &'l Labels<'a>, documents: usize) -> Self {
        Self {
            labels,
            shares: vec![(0, None); documents],
            left: MAX_VISITS,
        }
    }

    /// Documents that lack only one label of the selector, and for which Deckhand would refuse the
    /// site if they matched; each with a label that it has.
    fn nearly_matched(
        &mut self,
        facts: &SiteFacts<'_>,
        child: DocId,
        selector: &Selector,
    ) -> Option<Vec<LabelCarrier>> {
        let wanted = selector.labels.len();
        if wanted < 2 {
            return None;
        }
        let mut met: Vec<DocId> = Vec::new();
        for pair in selector.labels.iter().filter_map(pair) {
            let Some(carriers) = self.labels.carriers.get(&pair) else {
                continue;
            };
            let carriers = &carriers[..carriers.len().min(MAX_CARRIERS)];
            self.left = self.left.saturating_sub(carriers.len());
            if self.left == 0 {
                break;
            }
            for carrier in carriers {
                let (count, first) = &mut self.shares[carrier.doc.index()];
                if *count == 0 {
                    met.push(carrier.doc);
                }
                *count += 1;
                first.get_or_insert(carrier.at);
            }
        }
        met.sort_unstable();
        let shares = met
            .into_iter()
            .map(|doc| (doc, std::mem::take(&mut self.shares[doc.index()])));
        let near: Vec<LabelCarrier> = shares
            .filter(|(doc, (count, _))| {
                *count == wanted - 1 && *doc != child && self.labels.is_refused(facts, child, *doc)
            })
            .filter_map(|(doc, (_, at))| Some(LabelCarrier { doc, at: at? }))
            .collect();
        (!near.is_empty() && self.left > 0).then_some(near)
    }
}

fn report_selector(
    facts: &SiteFacts<'_>,
    child: DocId,
    selector: &Selector,
    near: &[LabelCarrier],
) -> Diagnostic {
    let title = facts.name(child);
    let other = facts.document(near[0].doc);
    let name = super::title(&other.key);
    let more = match near.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let message = format!("the parentSelector of `{title}` is one label away from `{name}`{more}");
    let label = Label::new(
        selector.span,
        "with one label less, it would also match these",
    );
    let why = if other.key.schema == facts.document(child).key.schema {
        "is not in a higher layer".to_owned()
    } else {
        format!("has the schema `{}`", other.key.schema)
    };
    Diagnostic::new(&RULE, message, label)
        .related(
            near[0].at,
            format!("one of the selected labels; `{name}` {why}"),
        )
        .note(
            "if the selector matched it, Deckhand would refuse the whole site: it cannot be a \
            parent",
        )
        .help("add a unique label to the parent, and select that one")
        .document(&facts.document(child).key)
        .document(&other.key)
}

/// Finding for a label on documents of several schemas, at the first document whose schema differs
/// from that of the first carrier.
fn report_label(facts: &SiteFacts<'_>, carriers: &[LabelCarrier]) -> Option<Diagnostic> {
    let (first, others) = carriers.split_first()?;
    let key = |carrier: &LabelCarrier| &facts.document(carrier.doc).key;
    let other = others
        .iter()
        .find(|other| key(other).schema != key(first).schema)?;
    if carriers.len() > MAX_CARRIERS {
        return None;
    }
    let one = key(first);
    let another = key(other);
    let message = format!(
        "`{}` `{}` and `{}` `{}` have a label in common",
        one.schema,
        title(one),
        another.schema,
        title(another)
    );
    let label = Label::new(
        other.at,
        format!("on a document with schema `{}`", another.schema),
    );
    Some(
        Diagnostic::new(&RULE, message, label)
            .related(
                first.at,
                format!("on a document with schema `{}`", one.schema),
            )
            .note(
                "if a parentSelector selected only this label, Deckhand would refuse the whole \
                site",
            )
            .help("use different labels for documents of different schemas")
            .document(another)
            .document(one),
    )
}
