//! Findings about several documents or sites: which sites they list, and what each side of a
//! comparison has.

use layercake::commands::configuration::ConfigurationSource;
use layercake::commands::policy::Selectors;
use layercake::merge::deckhand::Semantics;
use layercake::rules::Gates;
use layercake::source::MemoryTree;
use layercake::triage::{ComparedFindings, Findings};

use crate::support::{check_files, compare_files, options};

const POLICY: &str = "---\nschema: deckhand/LayeringPolicy/v1\n\
                      metadata: {schema: metadata/Control/v1, name: policy}\n\
                      data: {layerOrder: [global]}\n";

const DEFINITION: &str = "---\nschema: pegleg/SiteDefinition/v1\nmetadata: {schema: metadata/Document/v1, name: here, \
     storagePolicy: cleartext, layeringDefinition: {abstract: false, layer: global}}\n\
     data: {site_type: small}\n";

/// A document, with `substitutions` as `FROM.PATH > PATH`, or `> PATH PATTERN`.
fn document(schema: &str, name: &str, substitutions: &[&str], data: &str) -> String {
    let substitutions: Vec<String> = substitutions
        .iter()
        .map(|text| {
            let (from, to) = text.split_once(" > ").expect("it goes somewhere");
            let (from, path) = from.split_once('.').expect("it has a path");
            let to = match to.split_once(' ') {
                Some((to, pattern)) => format!("{{path: {to}, pattern: {pattern}}}"),
                None => format!("{{path: {to}}}"),
            };
            format!(
                "{{src: {{schema: example/Source/v1, name: {from}, path: .{path}}}, dest: {to}}}"
            )
        })
        .collect();
    format!(
        "---\nschema: {schema}\nmetadata:\n  schema: metadata/Document/v1\n  name: {name}\n  \
         storagePolicy: cleartext\n  layeringDefinition: {{abstract: false, layer: global}}\n  \
         substitutions: [{}]\ndata: {data}\n",
        substitutions.join(", ")
    )
}

/// The site of these documents. Sites share the files that are equal on both sides.
fn tree(documents: &[String]) -> MemoryTree {
    let name = |text: &str| {
        text.split("  name: ")
            .nth(1)
            .map(|it| it.lines().next().unwrap().to_owned())
    };
    documents.iter().fold(site(), |tree, text| {
        tree.with(
            &format!("site/here/{}.yaml", name(text).expect("it has a name")),
            text.clone(),
        )
    })
}

fn site() -> MemoryTree {
    MemoryTree::new()
        .with("site/here/policy.yaml", POLICY)
        .with("site/here/site-definition.yaml", DEFINITION)
}

/// Findings of a comparison, by state.
fn compared(base: &MemoryTree, head: &MemoryTree) -> ComparedFindings {
    let options = options(Semantics::Documented);
    let (selectors, gates) = (Selectors::default(), Gates::default());
    compare_files(
        base,
        head,
        options,
        &selectors,
        &ConfigurationSource::Root,
        &gates,
    )
    .findings
}

/// Numbers of new, unchanged and fixed findings of a rule.
fn counts(rule: &str, base: &[String], head: &[String]) -> [usize; 3] {
    let found = compared(&tree(base), &tree(head));
    [found.new, found.unchanged, found.fixed].map(|it| {
        it.diagnostics
            .iter()
            .filter(|it| it.rule.name == rule)
            .count()
    })
}

/// Asserts that a finding is fixed in one direction, and new in the other.
fn is_fixed(rule: &str, base: &[String], head: &[String]) {
    assert_eq!(counts(rule, base, head), [0, 0, 1]);
    assert_eq!(counts(rule, head, base), [1, 0, 0]);
    assert_eq!(counts(rule, base, base), [0, 1, 0]);
}

/// Three sites that have these documents, of which only the first is checked as a whole.
fn three_sites(documents: &[String]) -> MemoryTree {
    let definition = |site: &str| DEFINITION.replace("name: here", &format!("name: {site}"));
    let mut tree = MemoryTree::new().with("global/policy.yaml", POLICY);
    for site in ["one", "two", "three"] {
        tree = tree.with(
            &format!("site/{site}/site-definition.yaml"),
            definition(site),
        );
    }
    documents
        .iter()
        .enumerate()
        .fold(tree, |tree, (index, text)| {
            tree.with(&format!("global/documents-{index}.yaml"), text.clone())
        })
}

/// Sites in which a rule has findings.
fn sites_of(rule: &str, found: &Findings) -> Vec<String> {
    let found = found.diagnostics.iter().filter(|it| it.rule.name == rule);
    found
        .flat_map(|it| it.sites.iter().map(ToString::to_string))
        .collect()
}

/// Those of three sites with these documents in which a rule has findings.
fn sites(rule: &str, documents: &[String]) -> Vec<String> {
    let tree = three_sites(documents);
    sites_of(
        rule,
        &check_files(&tree, options(Semantics::Documented), |_| ()).findings,
    )
}

#[test]
fn finding_lists_all_sites_that_have_it() {
    let source = "{password: x, domain: example.org}";
    let source = document("example/Source/v1", "source", &[], source);
    let chart = |name: &str, substitutions: &[&str], data: &str| {
        document("example/Chart/v1", name, substitutions, data)
    };
    let replaced = &["source.domain > .url CLUSTER_DOMAIN"];
    let url = "{url: a.CLUSTER_DOMAIN}";
    let left = [
        source.clone(),
        chart("keystone", replaced, url),
        chart("glance", &[], url),
    ];
    assert_eq!(
        sites("leftover-placeholder", &left),
        ["one", "three", "two"]
    );
    let others = ["nova", "glance"].map(|name| chart(name, &[], "{e: {oslo_db: {host: a}}}"));
    let heat = chart("heat", &["source.password > .e.olso_db.password"], "{}");
    let uncommon = [&[source, heat], &others[..]].concat();
    assert_eq!(
        sites("uncommon-destination", &uncommon),
        ["one", "three", "two"]
    );
}

#[test]
fn fixed_finding_lists_all_base_sites_that_had_it() {
    const RULE: &str = "near-destination";
    let chart = |name: &str, key: &str| {
        let substitution = format!("source.password > .e.{key}.password");
        document(
            "example/Chart/v1",
            name,
            &[&substitution],
            "{e: {oslo_db: {host: a}}}",
        )
    };
    let source = |password: &str| {
        document(
            "example/Source/v1",
            "source",
            &[],
            &format!("{{password: {password}}}"),
        )
    };
    // One is fixed. The text of the other is unchanged, but its substituted value is not.
    let base = [
        source("x"),
        chart("heat", "olso_db"),
        chart("nova", "olso_db"),
    ];
    let head = [
        source("y"),
        chart("heat", "oslo_db"),
        chart("nova", "olso_db"),
    ];
    let found = compared(&three_sites(&base), &three_sites(&head));
    assert_eq!(sites_of(RULE, &found.fixed), ["one", "three", "two"]);
    assert_eq!(sites_of(RULE, &found.unchanged), ["one", "three", "two"]);
    assert_eq!(sites_of(RULE, &found.new), [""; 0]);
}

#[test]
fn destination_is_uncommon_if_twice_as_many_have_another() {
    /// Number of findings if `creating` documents create `key`, and `having` documents have
    /// `oslo_db`.
    fn reported(key: &str, creating: usize, having: usize) -> usize {
        reported_beside_secrets(key, creating, 0, having)
    }
    /// The same, if `secret` secret documents create the key as well.
    fn reported_beside_secrets(key: &str, creating: usize, secret: usize, having: usize) -> usize {
        let source = document("example/Source/v1", "source", &[], "{password: x}");
        let creates = |at| {
            let (name, write) = (
                format!("c{at}"),
                format!("source.password > .e.{key}.password"),
            );
            document("example/Chart/v1", &name, &[&write], "{e: {}}")
        };
        let has = |at| {
            document(
                "example/Chart/v1",
                &format!("h{at}"),
                &[],
                "{e: {oslo_db: {host: a}}}",
            )
        };
        let hidden = (creating..creating + secret).map(creates);
        let hidden = hidden.map(|text| text.replace("cleartext", "encrypted"));
        let documents = (0..creating)
            .map(creates)
            .chain(hidden)
            .chain((0..having).map(has));
        let all: Vec<String> = std::iter::once(source).chain(documents).collect();
        counts("uncommon-destination", &all, &all)[1]
    }
    for (creating, enough) in [(1, 2), (2, 3), (3, 5), (4, 7)] {
        assert_eq!(
            reported("olso_db", creating, enough),
            creating,
            "{creating} against {enough}"
        );
        assert_eq!(
            reported("olso_db", creating, enough - 1),
            0,
            "{creating} against one fewer"
        );
    }
    // Secret documents do not count.
    assert_eq!(reported_beside_secrets("olso_db", 1, 3, 2), 1);
    // One letter is missing or added.
    assert_eq!(
        ["oslo_b", "osslo_db"].map(|key| reported(key, 1, 2)),
        [1, 1]
    );
    assert_eq!(
        ["oslo", "oslo_dbs", "oslo_d_b_"].map(|key| reported(key, 1, 2)),
        [0, 0, 0]
    );
}

/// One of two edits gives a key to a second document, which makes an unedited destination
/// uncommon; no place of the finding was edited.
#[test]
fn uncommon_destination_names_the_edit_elsewhere_that_causes_it() {
    let chart = |name: &str, substitutions: &[&str], data: &str| {
        document("example/Chart/v1", name, substitutions, data)
    };
    let source = document("example/Source/v1", "source", &[], "{password: x}");
    let heat = chart("heat", &["source.password > .e.olso_db.password"], "{}");
    let glance = chart("glance", &[], "{e: {oslo_db: {host: a}}}");
    let rest = [source, heat, glance];
    let other = |value: &str| document("example/Other/v1", "other", &[], value);
    let base = [&rest[..], &[chart("nova", &[], "{e: {}}"), other("{a: 1}")]].concat();
    let head = [
        &rest[..],
        &[
            chart("nova", &[], "{e: {oslo_db: {host: a}}}"),
            other("{a: 2}"),
        ],
    ]
    .concat();
    let options = options(Semantics::Documented);
    let (selectors, gates) = (Selectors::default(), Gates::default());
    let (base, head) = (tree(&base), tree(&head));
    let compared = compare_files(
        &base,
        &head,
        options,
        &selectors,
        &ConfigurationSource::Root,
        &gates,
    );
    let mut new = compared
        .findings
        .new
        .diagnostics
        .iter()
        .zip(&compared.findings.causes);
    let (_, causes) = new
        .find(|(finding, _)| finding.rule.name == "uncommon-destination")
        .expect("the destination is uncommon now");
    let edited = causes
        .iter()
        .map(|edit| &compared.comparison.edits[edit.index()].edit);
    let edited: Vec<String> = edited
        .map(|edit| format!("{} {}", edit.document.name, edit.location))
        .collect();
    assert_eq!(edited, ["nova .e.oslo_db"]);
}

#[test]
fn uncommon_destinations_of_the_base() {
    const RULE: &str = "uncommon-destination";
    let chart = |name: &str, substitutions: &[&str], data: &str| {
        document("example/Chart/v1", name, substitutions, data)
    };
    let source = |database: &str| {
        let data = format!("{{password: x, endpoints: {{{database}: {{host: a}}}}}}");
        document("example/Source/v1", "source", &[], &data)
    };
    let heat = |key: &str| {
        chart(
            "heat",
            &[&format!("source.password > .e.{key}.password")],
            "{}",
        )
    };
    let others = |key: &str| {
        ["nova", "glance"].map(|name| chart(name, &[], &format!("{{e: {{{key}: {{host: a}}}}}}")))
    };
    let given = |name: &str| chart(name, &["source.endpoints > .e"], "{}");
    let [nova, glance] = others("oslo_db");
    let base = [
        source("oslo_db"),
        nova.clone(),
        glance.clone(),
        heat("olso_db"),
    ];
    // The destination itself is fixed, or the others no longer agree.
    is_fixed(
        RULE,
        &base,
        &[
            source("oslo_db"),
            nova.clone(),
            glance.clone(),
            heat("oslo_db"),
        ],
    );
    let [other, _] = others("mariadb");
    is_fixed(
        RULE,
        &base,
        &[source("oslo_db"), other, glance, heat("olso_db")],
    );
    is_fixed(RULE, &base, &[source("oslo_db"), nova, heat("olso_db")]);
    // The documents are unchanged, but their substituted values are not.
    let base = [
        source("oslo_db"),
        given("nova"),
        given("glance"),
        heat("olso_db"),
    ];
    let head = [
        source("mariadb"),
        given("nova"),
        given("glance"),
        heat("olso_db"),
    ];
    is_fixed(RULE, &base, &head);
    // Another password is unrelated.
    let head = base
        .clone()
        .map(|text| text.replace("password: x", "password: y"));
    assert_eq!(counts(RULE, &base, &head), [0, 1, 0]);
}

#[test]
fn uncommon_destinations_of_a_base_with_parents() {
    const RULE: &str = "uncommon-destination";
    let chart = |name: &str, substitutions: &[&str], data: &str| {
        document("example/Chart/v1", name, substitutions, data)
    };
    let child = |name: &str| {
        let selecting = "layer: site, parentSelector: {of: charts}, \
                         actions: [{method: merge, path: .}]";
        chart(name, &[], "{}").replace("layer: global", selecting)
    };
    let parent = chart("parent", &["source.endpoints > .e"], "{}");
    let parent = parent.replace("abstract: false", "abstract: true");
    let parent = parent.replace("  storagePolicy", "  labels: {of: charts}\n  storagePolicy");
    let all = |database: &str, password: &str| {
        let data = format!("{{password: {password}, endpoints: {{{database}: {{host: a}}}}}}");
        let source = document("example/Source/v1", "source", &[], &data);
        let heat = chart("heat", &["source.password > .e.olso_db.password"], "{}");
        [source, parent.clone(), child("nova"), child("glance"), heat]
    };
    let layers = POLICY.replace("[global]", "[global, site]");
    let layered = |documents: &[String]| tree(documents).with("site/here/policy.yaml", &*layers);
    let found = |base: &[String], head: &[String]| {
        let found = compared(&layered(base), &layered(head));
        [found.new, found.unchanged, found.fixed].map(|it| {
            it.diagnostics
                .iter()
                .filter(|it| it.rule.name == RULE)
                .count()
        })
    };
    // The parent of the children gets other keys, and the children are not edited.
    assert_eq!(found(&all("oslo_db", "x"), &all("mariadb", "x")), [0, 0, 1]);
    assert_eq!(found(&all("mariadb", "x"), &all("oslo_db", "x")), [1, 0, 0]);
    assert_eq!(found(&all("oslo_db", "x"), &all("oslo_db", "y")), [0, 1, 0]);
}

#[test]
fn leftover_placeholders_of_the_base() {
    const RULE: &str = "leftover-placeholder";
    let chart = |name: &str, substitutions: &[&str]| {
        document(
            "example/Chart/v1",
            name,
            substitutions,
            "{url: a.CLUSTER_DOMAIN}",
        )
    };
    let source = document("example/Source/v1", "source", &[], "{domain: example.org}");
    let replaced = &["source.domain > .url CLUSTER_DOMAIN"];
    let base = [
        source.clone(),
        chart("keystone", replaced),
        chart("glance", &[]),
    ];
    // It is replaced, or no longer named as a placeholder.
    let head = [
        source.clone(),
        chart("keystone", replaced),
        chart("glance", replaced),
    ];
    is_fixed(RULE, &base, &head);
    let other = &["source.domain > .url a"];
    is_fixed(
        RULE,
        &base,
        &[source, chart("keystone", other), chart("glance", &[])],
    );
}

/// A schema for the documents of `kind`, which gives `.a` a type.
fn data_schema(kind: &str, of_type: &str) -> String {
    format!(
        "---\nschema: deckhand/DataSchema/v1\n\
         metadata: {{schema: metadata/Control/v1, name: {kind}}}\n\
         data: {{type: object, properties: {{a: {{type: {of_type}}}}}}}\n"
    )
}

/// More schemas than are kept compiled for later documents.
#[test]
fn documents_of_many_kinds_are_validated() {
    const RULE: &str = "schema-violation";
    let letter = |index: usize| char::from(b'A' + u8::try_from(index).unwrap());
    let kinds: Vec<String> = (0..300)
        .map(|index| {
            format!(
                "example/Kind{}{}/v1",
                letter(index / 26),
                letter(index % 26)
            )
        })
        .collect();
    let head = kinds
        .iter()
        .enumerate()
        .fold(site(), |tree, (index, kind)| {
            let value = if index % 3 == 0 {
                "{a: text}"
            } else {
                "{a: 1}"
            };
            let schema = data_schema(kind, "integer");
            let written = document(kind, &format!("of-{index}"), &[], value);
            tree.with(
                &format!("site/here/{index}.yaml"),
                format!("{schema}{written}"),
            )
        });
    let found = compared(&site(), &head).new.diagnostics;
    let refused = found.iter().filter(|it| it.rule.name == RULE);
    let mut refused: Vec<&str> = refused
        .flat_map(|it| &it.documents)
        .map(|key| &*key.schema)
        .collect();
    refused.sort_unstable();
    assert_eq!(refused, kinds.iter().step_by(3).collect::<Vec<_>>());
}

#[test]
fn values_accepted_by_another_schema_are_validated() {
    const RULE: &str = "schema-violation";
    let unlike = document("example/Chart/v1", "unlike", &[], "{a: text}");
    let tree = |schemas: &[&str]| {
        let tree = site().with("site/here/unlike.yaml", unlike.clone());
        schemas
            .iter()
            .enumerate()
            .fold(tree, |tree, (index, of_type)| {
                let path = format!("site/here/{index}-{of_type}.yaml");
                tree.with(&path, data_schema("example/Chart/v1", of_type))
            })
    };
    let counts = |base: &[&str], head: &[&str]| {
        let found = compared(&tree(base), &tree(head));
        [found.new, found.unchanged, found.fixed].map(|it| {
            it.diagnostics
                .iter()
                .filter(|it| it.rule.name == RULE)
                .count()
        })
    };
    assert_eq!(counts(&["string"], &["integer"]), [1, 0, 0]);
    assert_eq!(counts(&["integer"], &["string"]), [0, 0, 1]);
    assert_eq!(counts(&["integer"], &["integer"]), [0, 1, 0]);
    // The first of two schemas with one name is used, and both sides have the other.
    for (one, other) in [("string", "integer"), ("integer", "string")] {
        let alone = site()
            .with("site/here/unlike.yaml", unlike.clone())
            .with("site/here/b.yaml", data_schema("example/Chart/v1", one));
        let before = alone
            .clone()
            .with("site/here/a.yaml", data_schema("example/Chart/v1", other));
        let is_worse = usize::from(other == "integer");
        for (base, head, new) in [(&alone, &before, is_worse), (&before, &alone, 1 - is_worse)] {
            let found = compared(base, head);
            let counts = [found.new, found.unchanged, found.fixed].map(|it| {
                it.diagnostics
                    .iter()
                    .filter(|it| it.rule.name == RULE)
                    .count()
            });
            assert_eq!(counts, [new, 0, 1 - new], "{one}, and {other} before it");
        }
    }
}

#[test]
fn violation_lists_all_sites_whose_schema_refuses_it() {
    const RULE: &str = "schema-violation";
    let unlike = document("example/Chart/v1", "unlike", &[], "{a: text}");
    let schema = data_schema("example/Chart/v1", "integer");
    assert_eq!(
        sites(RULE, &[schema.clone(), unlike.clone()]),
        ["one", "three", "two"]
    );
    // In the site that is checked first it is replaced.
    let layers = POLICY.replace("[global]", "[global, site]");
    let labelled = unlike.replace("  name: unlike\n", "  name: unlike\n  labels: {is: it}\n");
    let replacement = "---\nschema: example/Chart/v1\nmetadata:\n  schema: metadata/Document/v1\n  \
                       name: unlike\n  replacement: true\n  storagePolicy: cleartext\n  \
                       layeringDefinition:\n    abstract: false\n    layer: site\n    \
                       parentSelector: {is: it}\n    actions: [{method: replace, path: .}]\n\
                       data: {a: 1}\n";
    let tree = three_sites(&[schema, labelled])
        .with("global/policy.yaml", layers)
        .with("site/one/replacement.yaml", replacement);
    let found = check_files(&tree, options(Semantics::Documented), |_| ()).findings;
    assert_eq!(sites_of(RULE, &found), ["three", "two"]);
}
