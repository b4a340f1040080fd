//! Correspondence of outputs between sides: by schema and name regardless of the layer, or by layer
//! if a side has several of one name.

use std::collections::BTreeMap;

use layercake::commands::configuration::ConfigurationSource;
use layercake::commands::policy::Selectors;
use layercake::compare::Status;
use layercake::merge::deckhand::Semantics;
use layercake::rules::Gates;
use layercake::source::MemoryTree;
use proptest::prelude::*;

use crate::support::{compare_files, options};

const LAYERS: [&str; 3] = ["global", "type", "site"];

/// A document: name, layer and data.
type Document = (u8, usize, u8);

/// Changed outputs, by name, layer and status.
type Changes = Vec<(u8, &'static str, Status)>;

fn tree(documents: &[Document]) -> MemoryTree {
    let policy = "---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {schema: \
                  metadata/Control/v1, name: policy}\ndata: {layerOrder: [global, type, site]}\n";
    let documents = documents.iter().map(|(name, layer, data)| {
        let layer = LAYERS[*layer];
        format!(
            "---\nschema: example/Thing/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: \
             n{name}\n  layeringDefinition: {{abstract: false, layer: {layer}}}\ndata: {{n{name}: \
             {data}}}\n"
        )
    });
    let text: String = std::iter::once(policy.to_owned())
        .chain(documents)
        .collect();
    MemoryTree::new().with("a.yaml", text)
}

/// Documents of each name that are outputs: the first one of each layer.
fn outputs(documents: &[Document]) -> BTreeMap<u8, BTreeMap<usize, u8>> {
    let mut outputs: BTreeMap<u8, BTreeMap<usize, u8>> = BTreeMap::new();
    for (name, layer, data) in documents {
        outputs
            .entry(*name)
            .or_default()
            .entry(*layer)
            .or_insert(*data);
    }
    outputs
}

fn expected(base: &[Document], head: &[Document]) -> Changes {
    let (base, head) = (outputs(base), outputs(head));
    let mut changes = Changes::new();
    let nothing = BTreeMap::new();
    for name in base
        .keys()
        .chain(head.keys().filter(|name| !base.contains_key(name)))
    {
        let below = base.get(name).unwrap_or(&nothing);
        let above = head.get(name).unwrap_or(&nothing);
        let mut add = |layer: usize, status| changes.push((*name, LAYERS[layer], status));
        if let ([(layer, before)], [(now, after)]) = (
            &below.iter().collect::<Vec<_>>()[..],
            &above.iter().collect::<Vec<_>>()[..],
        ) {
            match () {
                () if before != after => add(**now, Status::Changed),
                () if layer != now => add(**now, Status::Metadata),
                () => {}
            }
            continue;
        }
        for (layer, before) in below {
            match above.get(layer) {
                Some(after) if before == after => {}
                Some(_) => add(*layer, Status::Changed),
                None => add(*layer, Status::Removed),
            }
        }
        for layer in above.keys().filter(|layer| !below.contains_key(layer)) {
            add(*layer, Status::Added);
        }
    }
    changes.sort();
    changes
}

fn document() -> impl Strategy<Value = Document> {
    (0..3u8, 0..LAYERS.len(), 0..2u8)
}

fn documents() -> impl Strategy<Value = Vec<Document>> {
    prop::collection::vec(document(), 0..7)
}

/// Documents of a side before and after an edit that keeps most of them.
fn edited() -> impl Strategy<Value = (Vec<Document>, Vec<Document>)> {
    let edits = (
        any::<prop::sample::Index>(),
        prop::option::of(document()),
        any::<bool>(),
    );
    (documents(), prop::collection::vec(edits, 0..3)).prop_map(|(base, edits)| {
        let mut head = base.clone();
        for (at, added, removes) in edits {
            let at = at.index(head.len() + 1);
            let removed = at..head.len().min(at + usize::from(removes));
            head.splice(removed, added);
        }
        (base, head)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn outputs_are_matched_by_name_and_then_by_layer(
        sides in prop_oneof![edited(), (documents(), documents())],
    ) {
        let (base, head) = sides;
        let compared = compare_files(
            &tree(&base),
            &tree(&head),
            options(Semantics::Documented),
            &Selectors::default(),
            &ConfigurationSource::Root,
            &Gates::default(),
        );
        let changes = compared.comparison.outputs.iter().map(|change| {
            let name = change.key.name.trim_start_matches('n').parse().expect("the name has a number");
            let layer = LAYERS.iter().find(|layer| **layer == &*change.key.layer);
            (name, *layer.expect("the layer is known"), change.status)
        });
        let mut changes: Changes = changes.collect();
        changes.sort();
        prop_assert_eq!(changes, expected(&base, &head), "{:?} {:?}", base, head);
    }
}
