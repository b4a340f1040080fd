//! Matching of the outputs of both sides: by schema and name, and by layer if these are not unique
//! on a side. Remaining outputs are matched by renames of their documents.

use std::collections::HashSet;

use indexmap::IndexMap;
use layercake_source::DocKey;

use super::{Output, Renames, Side};
use crate::graph::DocId;

/// Returns the outputs of both sides; a side is `None` if the site does not exist there.
pub(super) fn matched(
    base: Option<&Side<'_>>,
    head: Option<&Side<'_>>,
    renames: &Renames,
) -> Vec<Output> {
    let matched = matched_by_key(base, head);
    match base.zip(head) {
        Some((base, head)) if !renames.is_empty() => renames.joined(matched, base, head),
        Some(_) | None => matched,
    }
}

fn matched_by_key(base: Option<&Side<'_>>, head: Option<&Side<'_>>) -> Vec<Output> {
    let base = outputs(base);
    let head = outputs(head);
    // Fast path: outputs usually appear in the same order on both sides.
    let is_same = |(base, head): &(&Known<'_>, &Known<'_>)| base.1 == head.1;
    let ahead = base.iter().zip(&head).take_while(is_same).count();
    let (base_ahead, base) = base.split_at(ahead);
    let (head_ahead, head) = head.split_at(ahead);
    let behind = base
        .iter()
        .rev()
        .zip(head.iter().rev())
        .take_while(is_same)
        .count();
    let (base, base_behind) = base.split_at(base.len() - behind);
    let (head, head_behind) = head.split_at(head.len() - behind);
    // An output with the same name as one of the others is matched together with it.
    let names: Names<'_> = base
        .iter()
        .chain(head)
        .map(|(_, key)| name_of(key))
        .collect();
    let mut base = base.to_vec();
    let mut head = head.to_vec();
    let mut matched = Vec::with_capacity(ahead + behind);
    let in_place = base_ahead
        .iter()
        .chain(base_behind)
        .zip(head_ahead.iter().chain(head_behind));
    for (below, above) in in_place {
        if names.contains(&name_of(below.1)) {
            base.push(*below);
            head.push(*above);
        } else {
            matched.push(Output {
                base: Some(below.0),
                head: Some(above.0),
            });
        }
    }
    base.sort_unstable_by_key(|(doc, _)| *doc);
    head.sort_unstable_by_key(|(doc, _)| *doc);
    matched.extend(matched_by_name(base, head));
    matched
}

/// Output with its key.
type Known<'a> = (DocId, &'a DocKey);

/// Schema and name.
type Name<'a> = (&'a str, &'a str);

type Names<'a> = HashSet<Name<'a>, foldhash::fast::RandomState>;

fn outputs<'a>(side: Option<&Side<'a>>) -> Vec<Known<'a>> {
    let outputs = side.into_iter().flat_map(|side| side.graph.outputs());
    outputs.map(|(doc, recipe)| (doc, &recipe.key)).collect()
}

fn name_of(key: &DocKey) -> Name<'_> {
    (&key.schema, &key.name)
}

fn matched_by_name(base: Vec<Known<'_>>, head: Vec<Known<'_>>) -> Vec<Output> {
    let mut head = by_name(head);
    let mut matched = Vec::new();
    for (name, below) in by_name(base) {
        let above = head.get_mut(&name).map(std::mem::take).unwrap_or_default();
        match (&below[..], &above[..]) {
            // The layers may differ.
            ([(base, _)], [(head, _)]) => {
                matched.push(Output {
                    base: Some(*base),
                    head: Some(*head),
                });
            }
            _ => matched.extend(matched_by_layer(below, above)),
        }
    }
    let added = head.into_values().flatten();
    matched.extend(added.map(|(doc, _)| Output {
        base: None,
        head: Some(doc),
    }));
    matched
}

type ByName<'a> = IndexMap<Name<'a>, Vec<Known<'a>>, foldhash::fast::RandomState>;

fn by_name(outputs: Vec<Known<'_>>) -> ByName<'_> {
    let mut by_name = ByName::default();
    for (doc, key) in outputs {
        by_name.entry(name_of(key)).or_default().push((doc, key));
    }
    by_name
}

/// Matches documents of the same schema and name by layer.
fn matched_by_layer(base: Vec<Known<'_>>, mut head: Vec<Known<'_>>) -> Vec<Output> {
    let mut matched: Vec<Output> = base
        .into_iter()
        .map(|(doc, key)| {
            let same = head.iter().position(|(_, other)| other.layer == key.layer);
            Output {
                base: Some(doc),
                head: same.map(|at| head.remove(at).0),
            }
        })
        .collect();
    matched.extend(head.into_iter().map(|(doc, _)| Output {
        base: None,
        head: Some(doc),
    }));
    matched
}
