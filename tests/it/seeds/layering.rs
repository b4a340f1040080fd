//! The page on document layering, and its earlier, shorter form.

use super::{document, document_of, run, run_alone};

const PARENT: &str = "{'a': {'x': 1, 'y': 2}, 'c': 9}";
const CHILD: &str = "{'a': {'x': 7, 'z': 3}, 'b': 4}";

const PARENT_METADATA: &str = "\
labels: {key1: value1}
layeringDefinition: {abstract: true, layer: global}";

/// Actions, one a line, of a child of the document with `key1: value1`.
fn child_metadata(actions: &str) -> String {
    let actions: String = actions
        .lines()
        .map(|line| format!("\n    - {line}"))
        .collect();
    format!(
        "layeringDefinition:\n  layer: site\n  parentSelector: {{key1: value1}}\n  actions:{actions}"
    )
}

/// The two documents of the tables of actions.
fn acting(parent: &str, child: &str, actions: &str) -> String {
    document("parent", PARENT_METADATA, parent)
        + &document("child", &child_metadata(actions), child)
}

/// "Given child data and parent data; when an action; then rendered data."
fn table(actions: &str, expected: &str) {
    run(&acting(PARENT, CHILD, actions)).renders("child", expected);
}

/// "Error raised": the action is skipped, and the inherited data is unchanged.
fn table_error(actions: &str, words: &str) {
    run(&acting(PARENT, CHILD, actions))
        .raises(words)
        .renders("child", PARENT);
}

/// "Merge Path: `.`": "All data from parent is automatically considered, all
/// data from child is considered due to `.` (selects everything), then both
/// merged."
#[test]
fn merge_of_everything() {
    table(
        "{method: merge, path: .}",
        "{'a': {'x': 7, 'y': 2, 'z': 3}, 'b': 4, 'c': 9}",
    );
}

/// "Merge Path: `.a`": "all data from child at `.a` is considered".
#[test]
fn merge_of_a_mapping() {
    table(
        "{method: merge, path: .a}",
        "{'a': {'x': 7, 'y': 2, 'z': 3}, 'c': 9}",
    );
}

/// "Merge Path: `.b`": "all data from child at `.b` is considered".
#[test]
fn merge_of_a_key_that_the_parent_lacks() {
    table(
        "{method: merge, path: .b}",
        "{'a': {'x': 1, 'y': 2}, 'b': 4, 'c': 9}",
    );
}

/// "Merge Path: `.c`": "Error raised (`.c` missing in child)."
#[test]
fn merge_of_a_key_that_the_child_lacks() {
    table_error(
        "{method: merge, path: .c} # <- missing-action-path",
        "`child` merges `.c`, where its own data has nothing",
    );
}

/// "Replace Path: `.`": "All data from parent is automatically considered, but
/// is replaced by all data from child at `.` (selects everything), so replaces
/// everything in parent."
#[test]
fn replace_of_everything() {
    table(
        "{method: replace, path: .}",
        "{'a': {'x': 7, 'z': 3}, 'b': 4}",
    );
}

/// "Replace Path: `.a`": "so replaces all parent data at `.a`."
#[test]
fn replace_of_a_mapping() {
    table(
        "{method: replace, path: .a}",
        "{'a': {'x': 7, 'z': 3}, 'c': 9}",
    );
}

/// "Replace Path: `.b`": "While `.b` isn't in the parent, it only needs to
/// exist in the child. In this case, something (from the child) replaces
/// nothing (from the parent)."
#[test]
fn replace_of_a_key_that_the_parent_lacks() {
    table(
        "{method: replace, path: .b}",
        "{'a': {'x': 1, 'y': 2}, 'b': 4, 'c': 9}",
    );
}

/// "Replace Path: `.c`": "Error raised (`.c` missing in child)."
#[test]
fn replace_of_a_key_that_the_child_lacks() {
    table_error(
        "{method: replace, path: .c} # <- missing-action-path",
        "`child` replaces `.c`, where its own data has nothing",
    );
}

/// "Delete Path: `.`": "Note that deletion of everything results in an empty
/// dictionary by default."
#[test]
fn delete_of_everything() {
    table("{method: delete, path: .}", "{}");
}

/// "Delete Path: `.a`": "All data from Parent Data at `.a` was deleted, rest
/// copied over."
#[test]
fn delete_of_a_mapping() {
    table("{method: delete, path: .a}", "{'c': 9}");
}

/// "Delete Path: `.c`": "All data from Parent Data at `.c` was deleted, rest
/// copied over."
#[test]
fn delete_of_a_scalar() {
    table("{method: delete, path: .c}", "{'a': {'x': 1, 'y': 2}}");
}

/// "Replace Path: `.b`", among the examples of delete: "Error raised (`.b` missing in child)." The
/// page has two mistakes here: delete is meant, and `.b` is missing in the parent, not in the
/// child. It is an error, as the page says.
#[test]
fn delete_of_a_key_that_the_parent_lacks() {
    table_error(
        "{method: delete, path: .b} # <- missing-action-path",
        "`child` deletes `.b`, where its parent has nothing",
    );
}

/// "array: … When using an index in the action path (e.g. a[0]): 1. Copying the parent array into
/// the child's data section at the specified JSONPath. 2. Appending each child entry in the
/// original child array into the parent array." Deckhand's code differs, which is reported.
#[test]
fn merge_at_an_index_extends_the_parents_list() {
    let action = "{method: merge, path: '.a[0]'} # <- different-index-merge";
    run(&acting("{a: [1, 2], b: 0}", "{a: [3, 4]}", action))
        .raises_nothing()
        .renders("child", "{a: [1, 2, 3, 4], b: 0}");
}

/// "array: … When not using an index in the action path (e.g. a): 1. The
/// child's array replaces the parent's array."
#[test]
fn merge_without_an_index_replaces_a_list() {
    for path in [".a", "."] {
        run(&acting(
            "{a: [1, 2], b: 0}",
            "{a: [3]}",
            &format!("{{method: merge, path: {path}}}"),
        ))
        .renders("child", "{a: [3], b: 0}");
    }
}

/// "object: 'Deep-merge' child and parent data together; conflicts are resolved
/// by prioritizing child data over parent data. 'Deep-merge' means recursively
/// combining data for each key-value pair in both objects."
#[test]
fn merge_is_deep() {
    run(&acting(
        "{a: {b: {c: {x: 1, y: 2}, d: 3}, e: {f: 4}, g: {h: 5}}}",
        "{a: {b: {c: {y: 7, z: 8}}, e: 9, g: {i: {j: 6}}}}",
        "{method: merge, path: .}",
    ))
    .renders(
        "child",
        "{a: {b: {c: {x: 1, y: 7, z: 8}, d: 3}, e: 9, g: {h: 5, i: {j: 6}}}}",
    );
}

/// "primitives: Includes all other data types, except for null. In this case
/// JSONPath resolution is impossible, so child data is prioritized over that
/// of the parent."
#[test]
fn primitives_of_the_child_have_priority() {
    for (parent, child) in [
        ("1", "2"),
        ("text", "7.5"),
        ("{x: 1}", "false"),
        ("[1]", "text"),
    ] {
        run(&acting(
            &format!("{{a: {parent}}}"),
            &format!("{{a: {child}}}"),
            "{method: merge, path: .a}",
        ))
        .renders("child", &format!("{{a: {child}}}"));
    }
    run(&acting(
        "parent data",
        "child data",
        "{method: merge, path: .}",
    ))
    .renders("child", "child data");
}

/// "primitives: … except for null": a null in the child is not merged.
#[test]
fn null_is_not_merged() {
    run(&acting(
        "{a: 1}",
        "{a: null}",
        "{method: merge, path: .a} # <- missing-action-path",
    ))
    .raises("own data has nothing")
    .renders("child", "{a: 1}");
}

/// "Layering actions can be applied to primitives, lists and dictionaries
/// alike."
#[test]
fn actions_apply_to_all_kinds_of_values() {
    let values = ["1", "text", "[1, 2]", "{x: 1}"];
    for (parent, child) in values
        .iter()
        .flat_map(|one| values.map(|other| (*one, other)))
    {
        let (parent, own) = (format!("{{a: {parent}, k: 0}}"), format!("{{a: {child}}}"));
        run(&acting(&parent, &own, "{method: replace, path: .a}"))
            .renders("child", &format!("{{a: {child}, k: 0}}"));
        run(&acting(&parent, &own, "{method: delete, path: .a}")).renders("child", "{k: 0}");
    }
}

/// "Layering actions are queued – meaning that if a merge is specified before
/// a replace then the merge will necessarily be applied before the replace.
/// For example, a merge followed by a replace is not necessarily the same as a
/// replace followed by a merge."
#[test]
fn actions_are_queued() {
    table(
        "{method: merge, path: .}\n{method: replace, path: .a}",
        "{'a': {'x': 7, 'z': 3}, 'b': 4, 'c': 9}",
    );
    table(
        "{method: replace, path: .a}\n{method: merge, path: .}",
        "{'a': {'x': 7, 'z': 3}, 'b': 4, 'c': 9}",
    );
    table(
        "{method: merge, path: .}\n{method: delete, path: .a}",
        "{'b': 4, 'c': 9}",
    );
    table(
        "{method: delete, path: .a}\n{method: merge, path: .}",
        "{'c': 9, 'a': {'x': 7, 'z': 3}, 'b': 4}",
    );
    table(
        "{method: merge, path: .}\n{method: replace, path: .}",
        "{'a': {'x': 7, 'z': 3}, 'b': 4}",
    );
    let lists = |actions: &str| acting("{a: [1]}", "{a: [2]}", actions);
    run(&lists(
        "{method: merge, path: '.a[0]'} # <- different-index-merge\n{method: replace, path: .a}",
    ))
    .renders("child", "{a: [2]}");
    run(&lists(
        "{method: replace, path: .a}\n{method: merge, path: '.a[0]'} # <- different-index-merge",
    ))
    .renders("child", "{a: [2, 2]}");
    table(
        "{method: merge, path: .b}\n{method: delete, path: .c}\n{method: merge, path: .a.z}",
        "{'a': {'x': 1, 'y': 2, 'z': 3}, 'b': 4}",
    );
}

/// "Whenever any action is specified, all the parent data is automatically
/// inherited by the child document. The path specifies which data from the
/// child document to prioritize over that of the parent document." And in
/// short: "the entire contents of the parent are brought forward."
#[test]
fn merge_uses_all_of_the_parent_and_only_the_path_of_the_child() {
    table(
        "{method: replace, path: .a.z}",
        "{'a': {'x': 1, 'y': 2, 'z': 3}, 'c': 9}",
    );
}

/// "What if the child document should only inherit some of the parent data? No
/// problem. A merge action can be performed, followed by delete and replace
/// actions to trim down on what should be inherited."
#[test]
fn inherited_data_can_be_trimmed() {
    table(
        "{method: merge, path: .}\n{method: delete, path: .c}\n{method: replace, path: .a}",
        "{'a': {'x': 7, 'z': 3}, 'b': 4}",
    );
}

/// "An example layeringDefinition": abstract, in a region, with two required
/// labels, a merge and a delete. "A layer in the `layerOrder`. Must be valid or
/// else an error is raised."
#[test]
fn example_of_a_layering_definition() {
    let definition = "\
layeringDefinition:
  # Controls whether the document is abstract or concrete.
  abstract: true
  # A layer in the ``layerOrder``. Must be valid or else an error is raised.
  layer: region
  # Key-value pairs or labels for identifying the document's parent.
  parentSelector:
    required_key_a: required_label_a
    required_key_b: required_label_b
  # Actions which specify which data to add to the child document.
  actions:
    - method: merge
      path: .path.to.merge.into.parent
    - method: delete
      path: .path.to.delete";
    let parent = "\
labels: {required_key_a: required_label_a, required_key_b: required_label_b, more: labels}
layeringDefinition: {abstract: true, layer: global}";
    let parent = document("parent", parent, "{path: {to: {delete: 1, keep: 2}}}");
    let data = "{path: {to: {merge: {into: {parent: 3}}}}}";
    let last = document(
        "child",
        &child_metadata("{method: merge, path: .c}"),
        "{c: 4}",
    );
    let labelled = definition.to_owned() + "\nlabels: {key1: value1}";
    run(&(parent.clone() + &document("middle", &labelled, data) + &last))
        .leaves_out("middle")
        .renders(
            "child",
            "{path: {to: {keep: 2, merge: {into: {parent: 3}}}}, c: 4}",
        );
    let wrong = labelled.replace("layer: region", "layer: regoin # <- unknown-layer");
    run(&(parent + &document("middle", &wrong, data))).raises("regoin");
}

/// "Document layering requires a LayeringPolicy to exist in the revision whose
/// documents will be layered together (rendered). An error will be issued
/// otherwise."
#[test]
fn layering_requires_a_policy() {
    let documents = acting(PARENT, CHILD, "{method: merge, path: .}").replace(
        "layer: global}",
        "layer: global} # <- missing-layering-policy",
    );
    let checked = run_alone(&documents);
    checked.raises("LayeringPolicy").renders("child", CHILD);
}

/// "Documents with different schema values are never layered together." And: "Both C and P must
/// have the same schema." Deckhand's code refuses such documents, which is reported.
#[test]
fn other_schemas_are_never_layered() {
    let other = document_of("example/Other/v1", "parent", PARENT_METADATA, PARENT);
    let child = child_metadata("{method: merge, path: .}")
        .replace("{key1: value1}", "{key1: value1} # <- refused-parent-match");
    run(&(other + &document("child", &child, CHILD)))
        .raises("a different schema")
        .renders("child", CHILD);
}

/// "Layering works with Document Abstraction: child documents can inherit from
/// abstract as well as concrete parent documents."
#[test]
fn parents_are_abstract_or_concrete() {
    for (is_abstract, rendered) in [("true", false), ("false", true)] {
        let parent = PARENT_METADATA.replace("true", is_abstract);
        let child = document("child", &child_metadata("{method: merge, path: .b}"), CHILD);
        let run = run(&(document("parent", &parent, PARENT) + &child));
        run.renders("child", "{'a': {'x': 1, 'y': 2}, 'b': 4, 'c': 9}");
        if rendered {
            run.renders("parent", PARENT)
        } else {
            run.leaves_out("parent")
        };
    }
}

/// "A document only has one parent … the notion of 'multiple inheritance' does
/// not apply to document layering." And: "A given document, C, that specifies a
/// parentSelector, will have exactly one parent, P."
#[test]
fn document_has_exactly_one_parent() {
    let action = "{method: merge, path: .}";
    let two =
        child_metadata(action).replace("{key1: value1}", "{key1: value1} # <- ambiguous-parent");
    let documents = document("one", PARENT_METADATA, "{one: 1}")
        + &document("two", PARENT_METADATA, "{two: 2}")
        + &document("child", &two, "{c: 3}");
    run(&documents)
        .raises("several documents match")
        .renders("child", "{one: 1, c: 3}");
    let none =
        child_metadata(action).replace("{key1: value1}", "{key1: value2} # <- missing-parent");
    let documents =
        document("one", PARENT_METADATA, "{one: 1}") + &document("child", &none, "{c: 3}");
    run(&documents)
        .raises("no document matches")
        .renders("child", "{c: 3}");
}

/// "Note that these key-value pairs are not unique and that multiple documents
/// can use them."
#[test]
fn several_documents_select_one_parent() {
    let metadata = child_metadata("{method: merge, path: .}");
    let children = document("one", &metadata, "{k: 1}") + &document("two", &metadata, "{k: 2}");
    run(&(document("parent", PARENT_METADATA, "{p: 0}") + &children))
        .renders("one", "{p: 0, k: 1}")
        .renders("two", "{p: 0, k: 2}");
}

/// "Both C and P should have different metadata.name values except in the case
/// of Document Replacement."
#[test]
fn names_differ_unless_one_replaces_the_other() {
    let parent = document("same", &PARENT_METADATA.replace("true", "false"), PARENT);
    let metadata = child_metadata("{method: replace, path: .}");
    let child = document("same # <- invalid-replacement", &metadata, CHILD);
    run(&(parent.clone() + &child)).raises("`same`");
    let child = document("same", &(metadata + "\nreplacement: true"), CHILD);
    run(&(parent + &child)).renders("same", CHILD);
}

/// "All the key-value pairs in the parentSelector must be found among the target parent's
/// metadata.labels." "Superset means that P at least has all the labels in its metadata.labels that
/// child C references via its parentSelector. In other words, parent P can have more labels than C
/// uses to reference it, but C must at least have one matching label in its parentSelector with P":
/// all of them match, which is at least one.
#[test]
fn labels_are_a_superset() {
    let with_labels = |name: &str, labels: &str| {
        document(
            name,
            &PARENT_METADATA.replace("{key1: value1}", labels),
            &format!("{{p: {name}}}"),
        )
    };
    let child = |selector: &str| {
        let metadata = child_metadata("{method: merge, path: .}");
        document(
            "child",
            &metadata.replace("{key1: value1}", selector),
            "{c: 1}",
        )
    };
    let both = with_labels("both", "{key1: value1, key2: value2, key3: value3}");
    let one = with_labels("one", "{key1: value1}");
    let other = with_labels("other", "{key1: value1, key2: another}");
    run(&(one + &other + &both + &child("{key1: value1, key2: value2}")))
        .renders("child", "{p: both, c: 1}");
    run(&(with_labels("one", "{key1: value1}")
        + &child("{key1: value1, key2: value2} # <- missing-parent")))
    .renders("child", "{c: 1}");
}

/// "Highest precedence means that P belongs to the lowest layer defined in the
/// layerOrder list from the LayeringPolicy which is at least one level higher
/// than the layer for C … if C belongs to layer site, P belongs to layer type,
/// and G belongs to layer global, then Deckhand will use P as the parent for C.
/// If P is non-existent, then G will be selected instead."
#[test]
fn nearest_layer_wins() {
    let policy = "---\nschema: deckhand/LayeringPolicy/v1\nmetadata:\n  schema: metadata/Control/v1\n  \
                  name: layering-policy\ndata:\n  layerOrder:\n    - global # Highest layer\n    - \
                  type\n    - site   # Lowest layer\n";
    let g = document("g", PARENT_METADATA, "{from: global}");
    let p = document(
        "p",
        &PARENT_METADATA.replace("global", "type"),
        "{from: type}",
    );
    let c = document("c", &child_metadata("{method: merge, path: .}"), "{c: 1}");
    run_alone(&(policy.to_owned() + &g + &p + &c)).renders("c", "{from: type, c: 1}");
    run_alone(&(policy.to_owned() + &c + &p + &g)).renders("c", "{from: type, c: 1}");
    run_alone(&(policy.to_owned() + &g + &c)).renders("c", "{from: global, c: 1}");
}

/// "… which is at least one level higher than the layer for C": a match in the same layer or a
/// lower one is not a parent. (Deckhand's code refuses it, which is reported.)
#[test]
fn parent_must_be_in_a_higher_layer() {
    let action = child_metadata("{method: merge, path: .}")
        .replace("{key1: value1}", "{key1: value1} # <- refused-parent-match");
    for (parent, child) in [("site", "site"), ("site", "region")] {
        let parent = document("parent", &PARENT_METADATA.replace("global", parent), PARENT);
        let child = document(
            "child",
            &action.replace("layer: site", &format!("layer: {child}")),
            CHILD,
        );
        run(&(parent + &child))
            .raises("not above it")
            .renders("child", CHILD);
    }
}

/// "After layering is complete, the Document Substitution algorithm is applied
/// to the current document". In short: "After actions are applied for a given
/// layer, substitutions are applied". So a parent's substitution is done before
/// the child's actions, and a child's own after them.
#[test]
fn substitution_comes_after_the_actions_of_each_layer() {
    let source = |name: &str| {
        document(
            name,
            "layeringDefinition: {abstract: false, layer: site}",
            &format!("of-{name}"),
        )
    };
    let substitution = |name: &str, destinations: &str| {
        format!(
            "\nsubstitutions:\n  - src: {{schema: example/Kind/v1, name: {name}, path: .}}\n    \
             dest: {destinations}"
        )
    };
    let parent = PARENT_METADATA.to_owned() + &substitution("one", "[{path: .a}, {path: .b}]");
    let child = child_metadata("{method: replace, path: .a}") + &substitution("two", "{path: .c}");
    run(&(source("one")
        + &source("two")
        + &document("parent", &parent, "{a: 0, b: 0, c: 0}")
        + &document("child", &child, "{a: own, c: own}")))
    .renders("child", "{a: own, b: of-one, c: of-two}");
}

/// In short: "When rendering a particular document, you resolve the chain of
/// parents upward through the layers, and begin working back down each layer
/// rendering at each document in the chain."
#[test]
fn parents_form_a_chain() {
    let middle = "labels: {key1: value1}\n".to_owned()
        + &child_metadata("{method: merge, path: .b}\n{method: delete, path: .top}")
            .replace("layer: site", "layer: region")
            .replace("key1: value1", "key0: value0");
    let top = PARENT_METADATA.replace("key1: value1", "key0: value0");
    run(&(document(
        "child",
        &child_metadata("{method: merge, path: .c}"),
        "{c: 3}",
    ) + &document("middle", &middle, "{b: 2}")
        + &document("top", &top, "{a: 1, top: 0}")))
    .renders("middle", "{a: 1, b: 2}")
    .renders("child", "{a: 1, b: 2, c: 3}");
}

/// "For example, consider the following sample documents", which both pages print, without the
/// layering policy.
const SAMPLE: [&str; 3] = [
    "\
---
schema: example/Kind/v1
metadata:
  schema: metadata/Document/v1
  name: global-1234
  labels:
    key1: value1
  layeringDefinition:
    abstract: true
    layer: global
data:
  a:
    x: 1
    y: 2
",
    "\
---
schema: example/Kind/v1
metadata:
  schema: metadata/Document/v1
  name: region-1234
  labels:
    key1: value1
  layeringDefinition:
    abstract: true
    layer: region
    parentSelector:
      key1: value1
    actions:
      - method: replace
        path: .a
data:
  a:
    z: 3
",
    "\
---
schema: example/Kind/v1
metadata:
  schema: metadata/Document/v1
  name: site-1234
  layeringDefinition:
    layer: site
    parentSelector:
      key1: value1
    actions:
      - method: merge
        path: .
data:
  b: 4
",
];

fn with_storage_policy(text: &str) -> String {
    text.replace("  labels:", "  storagePolicy: cleartext\n  labels:")
        .replace(
            "  name: site-1234\n",
            "  name: site-1234\n  storagePolicy: cleartext\n",
        )
}

/// "The rendered result for site-1234 would be" `a: {z: 3}, b: 4`.
#[test]
fn sample_with_the_region() {
    run(&with_storage_policy(&SAMPLE.concat()))
        .leaves_out("global-1234")
        .leaves_out("region-1234")
        .renders("site-1234", "a:\n  z: 3\nb: 4");
}

/// "If region-1234 were later removed, then the parent chosen for site-1234
/// would become global-1234, and the rendered result would become" `a: {x: 1,
/// y: 2}, b: 4`.
#[test]
fn sample_without_the_region() {
    run(&with_storage_policy(&[SAMPLE[0], SAMPLE[2]].concat()))
        .renders("site-1234", "a:\n  x: 1\n  y: 2\nb: 4");
}

/// The printed documents have no `storagePolicy`, so Deckhand's schemas refuse them.
#[test]
fn sample_as_printed_is_refused() {
    run(&SAMPLE
        .concat()
        .replace("metadata:\n", "metadata: # <- invalid-document\n"))
    .raises("`global-1234` has no `metadata.storagePolicy`")
    .raises("`region-1234` has no `metadata.storagePolicy`")
    .raises("`site-1234` has no `metadata.storagePolicy`")
    .renders("site-1234", "a:\n  z: 3\nb: 4");
}

/// The result does not depend on the order of the documents.
#[test]
fn sample_in_any_order() {
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let text: String = order
            .iter()
            .map(|at| with_storage_policy(SAMPLE[*at]))
            .collect();
        run(&text).renders("site-1234", "a:\n  z: 3\nb: 4");
    }
}
