//! Hostile repositories of any size.

use std::fmt::Write as _;

use crate::hostile::{definition, document, policy, three_layers};

/// A kind of hostile input.
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// Its size is also halved and doubled.
    pub(super) size: usize,
    /// Files of this size on the base, and on the head if they are compared.
    pub(super) make: fn(usize) -> Files,
}

pub(super) struct Files {
    pub(super) base: Vec<(String, String)>,
    pub(super) head: Option<Vec<(String, String)>>,
}

/// Kinds whose cost should be linear in their size.
pub(super) const KINDS: [Kind; 38] = [
    Kind {
        name: "blocks of PEM without an end",
        size: 4_000,
        make: open_blocks,
    },
    Kind {
        name: "private keys beside each other",
        size: 3_000,
        make: private_keys,
    },
    Kind {
        name: "certificates and authorities of one name",
        size: 200,
        make: certificates,
    },
    Kind {
        name: "ignore comments",
        size: 6_000,
        make: ignore_comments,
    },
    Kind {
        name: "unknown keys beside as many known",
        size: 1_500,
        make: unknown_keys,
    },
    Kind {
        name: "missing keys",
        size: 8_000,
        make: missing_keys,
    },
    Kind {
        name: "labels that all have",
        size: 400,
        make: shared_labels,
    },
    Kind {
        name: "selectors that match nearly",
        size: 400,
        make: missing_parents,
    },
    Kind {
        name: "sources that are nearly there",
        size: 800,
        make: missing_sources,
    },
    Kind {
        name: "long names",
        size: 50_000,
        make: long_labels,
    },
    Kind {
        name: "empty documents",
        size: 60_000,
        make: empty_documents,
    },
    Kind {
        name: "repeated keys on one line",
        size: 6_000,
        make: repeated_keys,
    },
    Kind {
        name: "unknown tags in a broken document",
        size: 4_000,
        make: unknown_tags,
    },
    Kind {
        name: "anchors and aliases",
        size: 6_000,
        make: aliases,
    },
    Kind {
        name: "merge keys",
        size: 400,
        make: merge_keys,
    },
    Kind {
        name: "layers",
        size: 4_000,
        make: layers,
    },
    Kind {
        name: "a cycle",
        size: 400,
        make: cycle,
    },
    Kind {
        name: "patterns that track back",
        size: 60,
        make: patterns,
    },
    Kind {
        name: "a list of other items",
        size: 15_000,
        make: other_items,
    },
    Kind {
        name: "a mapping of other values",
        size: 2_000,
        make: other_values,
    },
    Kind {
        name: "edits that are stopped",
        size: 1_000,
        make: stopped_edits,
    },
    Kind {
        name: "documents with other names",
        size: 400,
        make: other_names,
    },
    Kind {
        name: "renamed and edited documents",
        size: 400,
        make: renamed_documents,
    },
    Kind {
        name: "a list in another order",
        size: 4_000,
        make: other_order,
    },
    Kind {
        name: "documents of a site that came",
        size: 800,
        make: new_site,
    },
    Kind {
        name: "new findings",
        size: 300,
        make: new_findings,
    },
    Kind {
        name: "collections inside each other",
        size: 30_000,
        make: deep,
    },
    Kind {
        name: "parts of a message",
        size: 2_000,
        make: mime_parts,
    },
    Kind {
        name: "files of cloud-config",
        size: 1_000,
        make: cloud_parts,
    },
    Kind {
        name: "lists that replace each other",
        size: 2_000,
        make: replacing_parts,
    },
    Kind {
        name: "operations of a patch",
        size: 4_000,
        make: patch_operations,
    },
    Kind {
        name: "sites",
        size: 500,
        make: sites,
    },
    Kind {
        name: "references",
        size: 1_000,
        make: references,
    },
    Kind {
        name: "destinations that are nearly there",
        size: 4_000,
        make: near_destinations,
    },
    Kind {
        name: "property groups",
        size: 3_000,
        make: property_groups,
    },
    Kind {
        name: "lines that are read in another spelling",
        size: 2_000,
        make: odd_spellings,
    },
    Kind {
        name: "documents that differ in both meanings",
        size: 400,
        make: undecided_documents,
    },
    Kind {
        name: "schemas that lead into each other twice",
        size: 2_000,
        make: doubled_schemas,
    },
];

/// Kinds whose cost is the product of two parts of the input, up to a limit.
pub(super) const PRODUCTS: [Kind; 8] = [
    Kind {
        name: "options of an enum and values",
        size: 4_000,
        make: enum_values,
    },
    Kind {
        name: "sites and documents",
        size: 200,
        make: sites_and_documents,
    },
    Kind {
        name: "sites and changed documents",
        size: 50,
        make: changed_documents_of_sites,
    },
    Kind {
        name: "a schema, sites and documents",
        size: 100,
        make: schema_of_sites,
    },
    Kind {
        name: "entries of a parent and its children",
        size: 200,
        make: children,
    },
    Kind {
        name: "changed entries of a parent and its children",
        size: 100,
        make: changed_children,
    },
    Kind {
        name: "changed entries of a source and its readers",
        size: 100,
        make: changed_readers,
    },
    Kind {
        name: "edits that change a text together",
        size: 100,
        make: joint_edits,
    },
];

/// Kinds whose document `x` is compared and blamed, in linear time.
pub(super) const COMPARED: [Kind; 6] = [
    Kind {
        name: "named items in reverse",
        size: 1_000,
        make: reversed_items,
    },
    Kind {
        name: "nested mappings that moved by one",
        size: 1_000,
        make: moved_mappings,
    },
    Kind {
        name: "nested mappings that are others",
        size: 600,
        make: other_mappings,
    },
    Kind {
        name: "items that move between others",
        size: 1_500,
        make: moving_items,
    },
    Kind {
        name: "values that all differ",
        size: 1_500,
        make: other_values,
    },
    Kind {
        name: "keys below many others",
        size: 300,
        make: deep_keys,
    },
];

/// Kinds that put values in so many places that the cost is bounded by limits, or whose cost is the
/// product of values and steps, of at most a hundred kilobytes.
pub(super) const MULTIPLIED: [Kind; 9] = [
    Kind {
        name: "lists of aliases",
        size: 16,
        make: alias_lists,
    },
    Kind {
        name: "longer lists of aliases",
        size: 19,
        make: alias_lists,
    },
    Kind {
        name: "mappings of aliases",
        size: 19,
        make: alias_mappings,
    },
    Kind {
        name: "substitutions from all earlier documents",
        size: 13,
        make: mesh,
    },
    Kind {
        name: "more of them",
        size: 18,
        make: mesh,
    },
    Kind {
        name: "as many as cost most",
        size: 24,
        make: mesh,
    },
    Kind {
        name: "a chain of substitutions",
        size: 150,
        make: chain,
    },
    Kind {
        name: "values of other documents",
        size: 380,
        make: substituted_values,
    },
    Kind {
        name: "alternatives and documents that match none",
        size: 100,
        make: alternatives,
    },
];

/// Repository with one site, which has these documents.
pub(super) fn site(documents: String) -> Files {
    Files {
        base: site_files(documents),
        head: None,
    }
}

fn site_files(documents: String) -> Vec<(String, String)> {
    vec![
        ("global/policy.yaml".into(), three_layers()),
        (
            "type/lab/any.yaml".into(),
            document("any", "layer: type", "", "{}"),
        ),
        ("site/lab/site-definition.yaml".into(), definition("lab")),
        ("site/lab/documents.yaml".into(), documents),
    ]
}

pub(super) fn compared(base: String, head: String) -> Files {
    Files {
        base: site_files(base),
        head: Some(site_files(head)),
    }
}

fn plain(name: &str, data: &str) -> String {
    document(name, "abstract: false, layer: site", "", data)
}

fn joined(count: usize, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect::<Vec<_>>().join(", ")
}

fn documents(count: usize, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect()
}

pub(super) fn ordinary_documents(count: usize, text: &str) -> String {
    let data = format!("\n  a: {{b: [1, 2], c: text}}\n  d: more {text}");
    documents(count, |at| plain(&format!("n{at}"), &data))
}

fn schema(text: &str) -> String {
    format!(
        "---\nschema: deckhand/DataSchema/v1\nmetadata: {{schema: metadata/Control/v1, name: \
         example/Kind/v1}}\ndata: {text}\n"
    )
}

/// Each byte order mark at the start of a line is reported separately.
fn odd_spellings(size: usize) -> Files {
    site(plain(
        "a",
        &format!("[\n{}]", "x,\n\u{feff}y,\n".repeat(size)),
    ))
}

/// A merge at an index of a list is rendered differently in the two meanings.
fn undecided_documents(size: usize) -> Files {
    let parent = "abstract: true, layer: global";
    let child = "abstract: false, layer: site, parentSelector: {p: p}, actions: [{method: merge, \
                 path: '.l[2]'}]";
    let items = joined(40, |at| format!("{{k{at}: v}}"));
    let children = documents(size, |at| {
        document(&format!("n{at}"), child, "", &format!("{{l: [{items}]}}"))
    });
    site(
        document(
            "p",
            parent,
            "  labels: {p: p}\n",
            &format!("{{l: [{items}]}}"),
        ) + &children,
    )
}

fn open_blocks(size: usize) -> Files {
    let block = "    -----BEGIN CERTIFICATE-----\n";
    let data = format!("\n  pem: |\n{}", block.repeat(size));
    site(plain("a", &data))
}

fn private_keys(size: usize) -> Files {
    let keys = joined(size, |at| format!("key{at}: '-----BEGIN PRIVATE KEY-----'"));
    site(plain("a", &format!("{{{keys}}}")))
}

fn certificates(size: usize) -> Files {
    let certificate = include_str!("../../../certificates/valid.pem");
    let authority = include_str!("../../../certificates/authority.pem");
    let text = |at: usize, pem: &str| {
        let lines: String = pem.lines().map(|line| format!("    {line}\n")).collect();
        plain(&format!("a{at}"), &format!("\n  pem: |\n    {at}\n{lines}"))
    };
    site(documents(size / 2, |at| {
        text(2 * at, certificate) + &text(2 * at + 1, authority)
    }))
}

fn ignore_comments(size: usize) -> Files {
    let comment = "# layercake: ignore[duplicate-key] a reason\n";
    site(plain("a", "{}") + &comment.repeat(size))
}

fn unknown_keys(size: usize) -> Files {
    let tail = "a".repeat(40);
    let known = joined(size, |at| format!("key{at:05}{tail}: {{type: string}}"));
    let schema = schema(&format!(
        "{{type: object, additionalProperties: false, properties: {{{known}}}}}"
    ));
    let unknown = joined(size, |at| format!("kxy{at:05}{tail}: x"));
    site(schema + &plain("a", &format!("{{{unknown}}}")))
}

fn enum_values(size: usize) -> Files {
    let options = joined(size, |at| format!("option{at}"));
    let schema = schema(&format!(
        "{{properties: {{l: {{items: {{enum: [{options}]}}}}}}}}"
    ));
    let values = joined(size, |at| format!("optoin{at}"));
    site(schema + &plain("a", &format!("{{l: [{values}]}}")))
}

fn missing_keys(size: usize) -> Files {
    let names = joined(size, |at| format!("key{at}"));
    let keys = joined(size, |at| format!("kye{at}: 1"));
    site(schema(&format!("{{required: [{names}]}}")) + &plain("a", &format!("{{{keys}}}")))
}

fn selecting(name: &str, labels: &str, selector: &str) -> String {
    let more = format!("  labels: {{{labels}}}\n");
    let layering = format!(
        "abstract: false, layer: site, parentSelector: {{{selector}}}, actions: [{{method: merge, \
         path: .}}]"
    );
    document(name, &layering, &more, "{}")
}

fn shared_labels(size: usize) -> Files {
    let labels = joined(30, |at| format!("l{at}: v"));
    site(documents(size, |at| {
        selecting(&format!("n{at}"), &labels, &labels)
    }))
}

fn missing_parents(size: usize) -> Files {
    site(documents(size, |at| {
        selecting(
            &format!("n{at}"),
            &format!("a: label{at}x"),
            &format!("a: label{at}"),
        )
    }))
}

fn missing_sources(size: usize) -> Files {
    site(documents(size, |at| {
        let more = format!(
            "  substitutions: [{{src: {{schema: example/Kind/v1, name: name-{at}-x, path: .}}, \
             dest: {{path: .a}}}}]\n"
        );
        document(
            &format!("name-{at}-y"),
            "abstract: false, layer: site",
            &more,
            "{}",
        )
    }))
}

fn long_labels(size: usize) -> Files {
    let long = "a".repeat(size);
    let labels = (format!("a: {long}b"), format!("a: {long}c"));
    site(selecting("n", &labels.0, "x: y") + &selecting("m", "x: z", &labels.1))
}

fn empty_documents(size: usize) -> Files {
    site("---\n".repeat(size))
}

fn repeated_keys(size: usize) -> Files {
    site(plain("a", &format!("{{{}}}", "a: 1, ".repeat(size))))
}

fn unknown_tags(size: usize) -> Files {
    site(format!("--- [{}\n", "!x y, ".repeat(size)))
}

fn aliases(size: usize) -> Files {
    let anchors = joined(size, |at| format!("&a{at} [x], *a{at}"));
    site(plain("a", &format!("{{l: [{anchors}]}}")))
}

/// Each mapping merges all earlier ones.
fn merge_keys(size: usize) -> Files {
    let mappings = joined(size, |at| match at {
        0 => "&m0 {k0: 1}".to_owned(),
        _ => format!("&m{at} {{<<: *m{}, k{at}: 1}}", at - 1),
    });
    site(documents(8, |at| {
        plain(&format!("n{at}"), &format!("{{l: [{mappings}]}}"))
    }))
}

fn layers(size: usize) -> Files {
    let names: Vec<String> = (0..size).map(|at| format!("layer{at}")).collect();
    let unknown = (0..size / 10)
        .map(|at| document(&format!("n{at}"), &format!("layer: layre{at}"), "", "{}"));
    let mut files = site(unknown.collect());
    files.base[0].1 =
        policy(&[&["global".into(), "type".into(), "site".into()], &names[..]].concat());
    files
}

fn substituting(name: &str, source: &str, dest: &str, data: &str) -> String {
    let more = format!(
        "  substitutions: [{{src: {{schema: example/Kind/v1, name: {source}, path: .}}, dest: \
         {{path: .{dest}}}}}]\n"
    );
    document(name, "abstract: false, layer: site", &more, data)
}

fn cycle(size: usize) -> Files {
    site(documents(size, |at| {
        substituting(
            &format!("n{at}"),
            &format!("n{}", (at + 1) % size),
            "v",
            "{}",
        )
    }))
}

/// There are as many sites as documents in each.
fn patterns(size: usize) -> Files {
    let children = documents(size, |at| {
        let more = "  substitutions: [{src: {schema: example/Kind/v1, name: s, path: .}, dest: \
                    {path: .v, pattern: '(a+)+\\1b'}}]\n";
        document(
            &format!("n{at}"),
            "abstract: false, layer: type",
            more,
            &format!("{{v: '{}!'}}", "a".repeat(200)),
        )
    });
    // The number of sites is constant, so that twice the size is twice the documents.
    let mut files = site(plain("x", "{}"));
    files.base.push((
        "global/s.yaml".into(),
        document("s", "layer: global", "", "y"),
    ));
    files.base.push(("type/lab/children.yaml".into(), children));
    for at in 0..10 {
        let definition = definition(&format!("s{at}"));
        files
            .base
            .push((format!("site/s{at}/site-definition.yaml"), definition));
    }
    files
}

fn other_items(size: usize) -> Files {
    let list = |from: usize| {
        plain(
            "a",
            &format!("{{l: [{}]}}", joined(size, |at| (from + at).to_string())),
        )
    };
    compared(list(0), list(1_000_000))
}

fn other_values(size: usize) -> Files {
    let mapping = |value: &str| {
        plain(
            "x",
            &format!("{{{}}}", joined(size, |at| format!("k{at}: {value}{at}"))),
        )
    };
    compared(mapping("x"), mapping("y"))
}

fn stopped_edits(size: usize) -> Files {
    let parent = |value: &str| {
        let data = joined(size, |at| format!("k{at}: {value}{at}"));
        document(
            "parent",
            "abstract: true, layer: global",
            "  labels: {a: b}\n",
            &format!("{{{data}}}"),
        )
    };
    let own = joined(size, |at| format!("k{at}: own"));
    let layering =
        "abstract: false, layer: site, parentSelector: {a: b}, actions: [{method: merge, path: .}]";
    let child = document("child", layering, "", &format!("{{{own}}}"));
    compared(parent("x") + &child, parent("y") + &child)
}

/// All are equally similar to each other and to their new versions.
fn renamed_documents(size: usize) -> Files {
    let values = joined(40, |at| format!("k{at}: v"));
    let side = |side: &str| {
        documents(size, |at| {
            plain(
                &format!("{side}{at}"),
                &format!("{{{values}, own: {side}{at}}}"),
            )
        })
    };
    compared(side("a"), side("b"))
}

/// The site's inputs outside of its own folder were also edited.
fn new_site(size: usize) -> Files {
    let shared = |value: &str| {
        documents(size, |at| {
            document(
                &format!("g{at}"),
                "abstract: false, layer: global",
                "",
                &format!("{{a: {value}}}"),
            )
        })
    };
    let side = |value: &str| {
        let mut files = site_files(plain("a", "{}"));
        files.push(("global/documents.yaml".into(), shared(value)));
        files
    };
    let mut head = side("2");
    head.push(("site/new/site-definition.yaml".into(), definition("new")));
    head.push((
        "site/new/documents.yaml".into(),
        documents(size, |at| plain(&format!("n{at}"), "{a: 1}")),
    ));
    Files {
        base: side("1"),
        head: Some(head),
    }
}

fn other_order(size: usize) -> Files {
    let list = |items: &mut dyn Iterator<Item = usize>| {
        let items: Vec<String> = items.map(|at| format!("{{name: n{at}, v: 1}}")).collect();
        plain("a", &format!("{{l: [{}]}}", items.join(", ")))
    };
    compared(list(&mut (0..size)), list(&mut (0..size).rev()))
}

fn other_names(size: usize) -> Files {
    let named = |prefix: &str| documents(size, |at| plain(&format!("{prefix}{at}"), "{a: 1}"));
    compared(named("n"), named("m"))
}

fn new_findings(size: usize) -> Files {
    let keys = |count: usize| {
        plain(
            "a",
            &format!(
                "{{{}}}",
                joined(size, |at| format!("k{}: {at}", at % count))
            ),
        )
    };
    compared(keys(size), keys(size / 2))
}

/// JSON Patch that copies a list into itself.
pub(super) fn copies(count: usize) -> Files {
    let patch = vec![r#"{"op": "copy", "from": "/a", "path": "/a/-"}"#; count].join(", ");
    let files = |value: &str| {
        let mut files = site_files(plain("x", "{}"));
        let configuration = "cloud-config:\n  - {name: g, parts: [\"site/{site}/cloud/*\"]}\n";
        files.push(("layercake.yaml".into(), configuration.into()));
        files.push((
            "site/lab/cloud/a".into(),
            format!("#cloud-config\na: [{value}]\n"),
        ));
        files.push((
            "site/lab/cloud/b".into(),
            format!("#cloud-config-jsonp\n[{patch}]\n"),
        ));
        files
    };
    Files {
        base: files("x"),
        head: Some(files("y")),
    }
}

/// Documents each of which substitutes from all earlier ones.
fn mesh(count: usize) -> Files {
    let all = |value: &str| {
        documents(count, |at| {
            let mut more = String::from(if at > 0 { "  substitutions:\n" } else { "" });
            for before in 0..at {
                writeln!(
                    more,
                    "    - {{src: {{schema: example/Kind/v1, name: n{before}, path: .}}, dest: \
                     {{path: .s{before}}}}}"
                )
                .unwrap();
            }
            let name = if at + 1 == count {
                "x".to_owned()
            } else {
                format!("n{at}")
            };
            document(
                &name,
                "abstract: false, layer: site",
                &more,
                &format!("{{v: {value}}}"),
            )
        })
    };
    compared(all("x"), all("y"))
}

fn reversed_items(size: usize) -> Files {
    let list = |value: u8, name: &dyn Fn(usize) -> usize| {
        let item = |at| format!("{{name: n{}, v: {value}}}", name(at));
        plain("x", &format!("{{l: [{}]}}", joined(size, item)))
    };
    compared(list(1, &|at| at), list(2, &|at| size - at))
}

/// Mappings without names, of which those on the head have the numbers from `first` on.
fn nested_mappings(size: usize, first: usize) -> Files {
    let list = |first: usize| {
        let item = |at| format!("{{b: [{{k1: [{{id: {}}}]}}]}}", first + at);
        plain("x", &format!("{{a: [{}]}}", joined(size, item)))
    };
    compared(list(0), list(first))
}

fn moved_mappings(size: usize) -> Files {
    nested_mappings(size, 1)
}

fn other_mappings(size: usize) -> Files {
    nested_mappings(size, 1_000_000)
}

/// Each third item is elsewhere on the head, and each fifth is there twice.
fn moving_items(size: usize) -> Files {
    let list = |moved: usize| {
        let number = |at: usize| match at % 3 {
            0 => (at + moved) % size,
            _ => at,
        };
        let item = |at: usize| format!("{{v: {}}}", number(at - at % 5 / 4));
        plain("x", &format!("{{l: [{}]}}", joined(size, item)))
    };
    compared(list(0), list(99))
}

fn substituted_values(size: usize) -> Files {
    let all = |value: &str| {
        let source = |at| plain(&format!("s{at}"), &format!("{value}{at}"));
        let substitution = |at| {
            format!(
                "    - {{src: {{schema: example/Kind/v1, name: s{at}, path: .}}, dest: {{path: \
                 .k{at}}}}}\n"
            )
        };
        let more = format!("  substitutions:\n{}", documents(size, substitution));
        documents(size, source) + &document("x", "abstract: false, layer: site", &more, "{}")
    };
    compared(all("v"), all("w"))
}

fn deep_keys(size: usize) -> Files {
    let all = |value: &str| {
        let keys = joined(size, |at| format!("k{at}: {value}"));
        plain(
            "x",
            &format!("{}{{{keys}}}{}", "{a: ".repeat(200), "}".repeat(200)),
        )
    };
    compared(all("v"), all("w"))
}

/// Collections each of which has the previous one twice.
fn aliases_of(depth: usize, one: fn(usize) -> String) -> Files {
    let all = |value: &str| {
        let rest: String = (1..depth).map(one).collect();
        plain("x", &format!("\n  a0: &a0 [v, v, v, {value}]\n{rest}"))
    };
    compared(all("v"), all("w"))
}

fn alias_lists(depth: usize) -> Files {
    aliases_of(depth, |at| {
        format!("  a{at}: &a{at} [*a{0}, *a{0}]\n", at - 1)
    })
}

fn alias_mappings(depth: usize) -> Files {
    aliases_of(depth, |at| {
        format!("  a{at}: &a{at} {{l: *a{0}, r: *a{0}}}\n", at - 1)
    })
}

/// Documents each of which substitutes from the previous one.
fn chain(count: usize) -> Files {
    let all = |value: &str| {
        let data = format!("{{v: {value}}}");
        let rest = (1..count).map(|at| {
            let name = if at + 1 == count {
                "x".to_owned()
            } else {
                format!("n{at}")
            };
            substituting(&name, &format!("n{}", at - 1), "s", &data)
        });
        plain("n0", &data) + &rest.collect::<String>()
    };
    compared(all("x"), all("y"))
}

/// As many documents as alternatives.
fn alternatives(size: usize) -> Files {
    let properties = joined(20, |at| format!("k{at}: {{type: integer}}"));
    let any_of = joined(size, |_| format!("{{properties: {{{properties}}}}}"));
    let schema = schema(&format!("{{anyOf: [{any_of}]}}"));
    let values = joined(20, |at| format!("k{at}: v"));
    let all = |value: u8| {
        let document = |at| plain(&format!("n{at}"), &format!("{{{values}, z: {value}}}"));
        schema.clone() + &documents(size, document) + &plain("x", "{}")
    };
    compared(all(1), all(2))
}

fn deep(size: usize) -> Files {
    site(plain("a", &("[".repeat(size) + &"]".repeat(size))))
}

/// Site with these files in one cloud-config set.
fn cloud_config(files: impl IntoIterator<Item = String>) -> Files {
    let configuration = "cloud-config:\n  - {name: g, parts: [\"site/{site}/cloud/*\"]}\n";
    let parts = files.into_iter().enumerate();
    let parts = parts.map(|(at, text)| (format!("site/lab/cloud/{at:06}"), text));
    let mut all = site(plain("x", "{}"));
    all.base
        .push(("layercake.yaml".into(), configuration.into()));
    all.base.extend(parts);
    all
}

fn mime_parts(size: usize) -> Files {
    let part = |at| format!("--B\nContent-Type: text/cloud-config\n\n#cloud-config\na{at}: [1]\n");
    let head = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n\n";
    cloud_config([format!("{head}{}--B--\n", documents(size, part))])
}

fn cloud_parts(size: usize) -> Files {
    let merge = "merge_how: list(append)+dict(recurse_list)+str()";
    cloud_config((0..size).map(|at| format!("#cloud-config\n{merge}\na: [{at}]\nk{at}: 1\n")))
}

/// Parts that lose lists and keys to the next one.
fn replacing_parts(size: usize) -> Files {
    let part = |at| format!("#cloud-config\na: [{at}]\nm: {{k{at}: 1, l: [{at}]}}\nt: {at}\n");
    cloud_config((0..size).map(part))
}

fn patch_operations(size: usize) -> Files {
    let operations = joined(size, |at| {
        format!(r#"{{"op": "add", "path": "/a/0", "value": {at}}}"#)
    });
    let patch = format!("#cloud-config-jsonp\n[{operations}]\n");
    cloud_config(["#cloud-config\na: []\n".to_owned(), patch])
}

fn with_sites(size: usize, global: String) -> Files {
    let mut files = site(plain("x", "{}"));
    files.base.push(("global/documents.yaml".into(), global));
    files.base.extend((0..size).map(|at| {
        (
            format!("site/s{at}/site-definition.yaml"),
            definition(&format!("s{at}")),
        )
    }));
    files
}

fn global(name: &str, data: &str) -> String {
    document(name, "abstract: false, layer: global", "", data)
}

fn sites(size: usize) -> Files {
    with_sites(size, global("g", "{a: 1}"))
}

/// Sites that each have all documents.
const MANY_SITES: usize = 100;

fn sites_and_documents(size: usize) -> Files {
    with_sites(
        MANY_SITES,
        documents(size, |at| global(&format!("g{at}"), "{a: 1}")),
    )
}

fn changed_documents_of_sites(size: usize) -> Files {
    let all = |data: &str| {
        with_sites(
            MANY_SITES,
            documents(size, |at| global(&format!("g{at}"), data)),
        )
    };
    Files {
        head: Some(all("{a: 2}").base),
        ..all("{a: 1}")
    }
}

fn schema_of_sites(size: usize) -> Files {
    let required = schema(&format!(
        "{{required: [{}]}}",
        joined(size, |at| format!("k{at}"))
    ));
    with_sites(
        MANY_SITES,
        required + &documents(size / 10, |at| global(&format!("g{at}"), "{a: 1}")),
    )
}

fn references(size: usize) -> Files {
    let named = |at: usize| plain(&format!("name{at}"), &format!("{{k: [nmae{at}]}}"));
    let mut files = site(documents(size, named));
    let kind = "example/Kind/v1";
    files.base.push((
        "layercake.yaml".into(),
        format!(
            "references:\n  - {{from: {{schema: {kind}, path: '$.k[*]'}}, to: {{schema: {kind}, by: \
             name}}}}\n"
        ),
    ));
    files
}

fn near_destinations(size: usize) -> Files {
    let substitution = |at| {
        format!(
            "    - {{src: {{schema: example/Kind/v1, name: s, path: .}}, dest: {{path: .key{at}x}}}}\n"
        )
    };
    let more = format!("  substitutions:\n{}", documents(size, substitution));
    let keys = joined(size, |at| format!("key{at}: 1"));
    let all = document(
        "d",
        "abstract: false, layer: site",
        &more,
        &format!("{{{keys}}}"),
    );
    site(plain("s", "v") + &all)
}

fn property_groups(size: usize) -> Files {
    let group = |at| format!("{{properties: [[k{at}], [k{}]], required: true}}", at + 1);
    let keys = joined(size, |at| format!("k{at}: x"));
    let properties = joined(size, |at| format!("k{at}: {{type: string}}"));
    let groups = joined(size, group);
    site(
        schema(&format!(
            "{{propertyGroups: [{groups}], properties: {{{properties}}}}}"
        )) + &plain("a", &format!("{{{keys}}}")),
    )
}

fn doubled_schemas(size: usize) -> Files {
    let to = |at| format!("{{$ref: '#/definitions/d{at}'}}");
    let doubled = |at| format!("d{at}: {{allOf: [{}, {}]}}", to(at + 1), to(at + 1));
    let definitions = joined(size, doubled);
    let text = format!(
        "{{definitions: {{{definitions}, d{size}: {{}}}}, allOf: [{}]}}",
        to(0)
    );
    site(schema(&text) + &plain("a", "{}"))
}

fn entries(size: usize, value: &str) -> String {
    format!("{{{}}}", joined(size, |at| format!("k{at}: {value}")))
}

fn parent_and_children(size: usize, value: &str) -> String {
    let parent = document(
        "p",
        "abstract: true, layer: global",
        "  labels: {a: p}\n",
        &entries(size, value),
    );
    let layering =
        "abstract: false, layer: site, parentSelector: {a: p}, actions: [{method: merge, path: .}]";
    let child = |at| document(&format!("n{at}"), layering, "", &format!("{{z{at}: 1}}"));
    parent + &documents(size, child)
}

fn children(size: usize) -> Files {
    site(parent_and_children(size, "1"))
}

fn changed_children(size: usize) -> Files {
    compared(
        parent_and_children(size, "1"),
        parent_and_children(size, "2"),
    )
}

fn changed_readers(size: usize) -> Files {
    let all = |value: &str| {
        let reader = |at| substituting(&format!("n{at}"), "s", "x", "{}");
        plain("s", &entries(size, value)) + &documents(size, reader)
    };
    compared(all("1"), all("2"))
}

fn joint_edits(size: usize) -> Files {
    let all = |value: &str| {
        let source = |at| plain(&format!("s{at}"), &format!("{value}{at}"));
        let substitution = |at| {
            format!(
                "    - {{src: {{schema: example/Kind/v1, name: s{at}, path: .}}, dest: {{path: .k, \
                 pattern: X{at}X}}}}\n"
            )
        };
        let more = format!("  substitutions:\n{}", documents(size, substitution));
        let text = documents(size, |at| format!("X{at}X "));
        let reader = document(
            "d",
            "abstract: false, layer: site",
            &more,
            &format!("{{k: '{text}'}}"),
        );
        documents(size, source) + &reader
    };
    compared(all("v"), all("w"))
}
