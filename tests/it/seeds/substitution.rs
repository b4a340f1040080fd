//! The page on document substitution.

use layercake::yaml::Node;

use super::{Run, document, document_of, run};

const SITE: &str = "layeringDefinition: {abstract: false, layer: site}";

/// Document of `example/Kind/v1` that others substitute from.
fn source(name: &str, data: &str) -> String {
    document(name, SITE, data)
}

/// Document with substitutions, each on one line.
fn destination(name: &str, substitutions: &str, data: &str) -> String {
    let substitutions: String = substitutions
        .lines()
        .map(|line| format!("\n  - {line}"))
        .collect();
    document(
        name,
        &format!("{SITE}\nsubstitutions:{substitutions}"),
        data,
    )
}

/// One source and one destination.
fn substituted(from: &str, substitution: &str, to: &str) -> Run {
    run(&(source("source", from) + &destination("dest", substitution, to)))
}

const FROM: &str = "src: {schema: example/Kind/v1, name: source, path: .}";

/// Marks the lines that lack `metadata.schema` or `metadata.storagePolicy`.
fn refused(text: &str, lacks: &str) -> String {
    let documents = text.split_inclusive("---\n").map(|document| {
        let is_whole = !document.contains("metadata:\n") || document.contains(lacks);
        if is_whole {
            document.to_owned()
        } else {
            document.replacen("metadata:\n", "metadata: # <- invalid-document\n", 1)
        }
    });
    documents.collect()
}

/// "Here is a sample set of documents demonstrating substitution".
const SAMPLE: &str = "\
---
schema: deckhand/Certificate/v1
metadata:
  name: example-cert
  storagePolicy: cleartext
  layeringDefinition:
    layer: site
data: | # <- unreadable-certificate
  CERTIFICATE DATA
---
schema: deckhand/CertificateKey/v1
metadata:
  name: example-key
  storagePolicy: encrypted
  layeringDefinition:
    layer: site
data: |
  KEY DATA
---
schema: deckhand/Passphrase/v1
metadata:
  name: example-password
  storagePolicy: encrypted
  layeringDefinition:
    layer: site
data: my-secret-password
---
schema: armada/Chart/v1
metadata:
  name: example-chart-01
  storagePolicy: cleartext
  layeringDefinition:
    layer: region
  substitutions:
    - dest:
        path: .chart.values.tls.certificate
      src:
        schema: deckhand/Certificate/v1
        name: example-cert
        path: .
    - dest:
        path: .chart.values.tls.key
      src:
        schema: deckhand/CertificateKey/v1
        name: example-key
        path: .
    - dest:
        path: .chart.values.some_url
        pattern: INSERT_[A-Z]+_HERE
      src:
        schema: deckhand/Passphrase/v1
        name: example-password
        path: .
data:
  chart:
    details:
      data: here
    values:
      some_url: http://admin:INSERT_PASSWORD_HERE@service-name:8080/v1
...
";

const SAMPLE_RENDERED: &str = "\
chart:
  details:
    data: here
  values:
    some_url: http://admin:my-secret-password@service-name:8080/v1
    tls:
      certificate: |
        CERTIFICATE DATA
      key: |
        KEY DATA
";

fn at<'a>(node: &'a Node, path: &str) -> &'a Node {
    path.split('.')
        .fold(node, |node, key| node.get(key).expect("the key is there"))
}

/// "The rendered document will look like" this. A document of `region` reads
/// those of `site`: "This substitution is layer-independent, so given the 3
/// layer example above, … a document in the `region` layer could insert data
/// from a document in the `site` layer." And: "Source and destination documents
/// do not need to share the same `schema`."
#[test]
fn sample() {
    let text = SAMPLE.replace("metadata:\n", "metadata:\n  schema: metadata/Document/v1\n");
    let run = run(&text);
    run.renders("example-chart-01", SAMPLE_RENDERED);
    // "Substitution of encrypted data works the same as substitution of cleartext data", and
    // secrets stay secret.
    let chart = run.data("example-chart-01");
    assert!(at(chart, "chart.values.tls.key").secret);
    assert!(at(chart, "chart.values.some_url").secret);
    assert!(!at(chart, "chart.values.tls.certificate").secret);
    assert!(!at(chart, "chart.details.data").secret);
}

/// The printed documents have no `metadata.schema`, so Deckhand's schemas refuse them.
#[test]
fn sample_as_printed_is_refused() {
    run(&refused(SAMPLE, "schema: metadata/"))
        .raises("`example-cert` has no `metadata.schema`")
        .raises("`example-key` has no `metadata.schema`")
        .raises("`example-password` has no `metadata.schema`")
        .raises("`example-chart-01` has no `metadata.schema`")
        .renders("example-chart-01", SAMPLE_RENDERED);
}

/// The example of "Substitution with Patterns".
const PATTERNS: &str = r#"---
# Source document.
schema: deckhand/Passphrase/v1
metadata:
  name: example-password
  schema: metadata/Document/v1
  layeringDefinition:
    layer: site
  storagePolicy: cleartext
data: my-secret-password
---
# Another source document.
schema: deckhand/Passphrase/v1
metadata:
  name: another-password
  schema: metadata/Document/v1
  layeringDefinition:
    layer: site
  storagePolicy: cleartext
data: another-secret-password
---
# Destination document.
schema: armada/Chart/v1
metadata:
  name: example-chart-01
  schema: metadata/Document/v1
  layeringDefinition:
    layer: region
  substitutions:
    - dest:
        path: .chart.values.some_url
        pattern: INSERT_[A-Z]+_HERE
      src:
        schema: deckhand/Passphrase/v1
        name: example-password
        path: .
    - dest:
        path: .chart.values.script
        pattern: INSERT_ANOTHER_PASSWORD
      src:
        schema: deckhand/Passphrase/v1
        name: another-password
        path: .
data:
  chart:
    details:
      data: here
    values:
      some_url: http://admin:INSERT_PASSWORD_HERE@service-name:8080/v1
      script: |
        some_function("INSERT_ANOTHER_PASSWORD")
        another_function("INSERT_ANOTHER_PASSWORD")
"#;

const PATTERNS_RENDERED: &str = r#"
chart:
  details:
    data: here
  values:
    # Notice string replacement occurs at exact location specified by
    # ``dest.pattern``.
    some_url: http://admin:my-secret-password@service-name:8080/v1
    script: |
      some_function("another-secret-password")
      another_function("another-secret-password")
"#;

fn with_storage_policy(text: &str) -> String {
    text.replace(
        "  name: example-chart-01\n",
        "  name: example-chart-01\n  storagePolicy: cleartext\n",
    )
}

/// "After document rendering, the output for `example-chart-01` (the
/// destination document) will be" this.
#[test]
fn patterns() {
    run(&with_storage_policy(PATTERNS)).renders("example-chart-01", PATTERNS_RENDERED);
}

/// The printed destination has no `storagePolicy`.
#[test]
fn patterns_as_printed_are_refused() {
    run(&refused(PATTERNS, "storagePolicy"))
        .raises("`example-chart-01` has no `metadata.storagePolicy`")
        .renders("example-chart-01", PATTERNS_RENDERED);
}

/// The example of "Recursive Replacement of Patterns".
const RECURSION: &str = "\
---
# Source document.
schema: deckhand/Passphrase/v1
metadata:
  name: example-password
  schema: metadata/Document/v1
  layeringDefinition:
    layer: site
  storagePolicy: cleartext
data: my-secret-password
---
# Destination document.
schema: armada/Chart/v1
metadata:
  name: example-chart-01
  schema: metadata/Document/v1
  layeringDefinition:
    layer: region
  substitutions:
    - dest:
        # Note that the path encapsulates all 3 entries that require pattern
        # replacement.
        path: .chart.values
        pattern: INSERT_[A-Z]+_HERE # <- different-recursion
        recurse:
          # Note that specifying the depth is mandatory. -1 means that all
          # layers are recursed through.
          depth: -1
      src:
        schema: deckhand/Passphrase/v1
        name: example-password
        path: .
data:
  chart:
    details:
      data: here
    values:
      # Notice string replacement occurs for all paths recursively captured
      # by dest.path, since all their patterns match dest.pattern.
      admin_url: http://admin:INSERT_PASSWORD_HERE@service-name:35357/v1
      internal_url: http://internal:INSERT_PASSWORD_HERE@service-name:5000/v1
      public_url: http://public:INSERT_PASSWORD_HERE@service-name:5000/v1
";

/// The page prints `my-secret-passwor` for the last two. This is a typo: nothing removes the last
/// letter, and the whole password is substituted.
const RECURSION_RENDERED: &str = "\
chart:
  details:
    data: here
  values:
    admin_url: http://admin:my-secret-password@service-name:35357/v1
    internal_url: http://internal:my-secret-password@service-name:5000/v1
    public_url: http://public:my-secret-password@service-name:5000/v1
";

/// "After document rendering, the output for `example-chart-01` … will be" this, with "-1
/// effectively ignores the depth". (Deckhand's code leaves it unchanged, because the text of the
/// pattern occurs nowhere literally: that is reported.)
#[test]
fn recursion() {
    run(&with_storage_policy(RECURSION))
        .raises_nothing()
        .renders("example-chart-01", RECURSION_RENDERED);
}

/// "Any other positive integer will specify how many levels deep to recurse":
/// the three entries are one level deep.
#[test]
fn recursion_of_a_limited_depth() {
    for depth in ["1", "2", "100"] {
        let text = with_storage_policy(RECURSION).replace("depth: -1", &format!("depth: {depth}"));
        run(&text).renders("example-chart-01", RECURSION_RENDERED);
    }
}

/// The printed destination has no `storagePolicy`.
#[test]
fn recursion_as_printed_is_refused() {
    run(&refused(RECURSION, "storagePolicy"))
        .raises("`example-chart-01` has no `metadata.storagePolicy`")
        .renders("example-chart-01", RECURSION_RENDERED);
}

/// The example of "Source Pattern Matching (Substring Extraction)".
const EXTRACTION: &str = "\
---
# Source document.
schema: pegleg/SoftwareVersions/v1
metadata:
  schema: metadata/Document/v1
  name: software-versions
  layeringDefinition:
    abstract: false
    layer: global
  storagePolicy: cleartext
data:
  images:
    hello: docker.io/library/hello-world:latest
---
# Destination document.
schema: armada/Chart/v1
metadata:
  schema: metadata/Document/v1
  name: example-chart-01
  layeringDefinition:
    abstract: false
    layer: global
  substitutions:
    - src:
        schema: pegleg/SoftwareVersions/v1
        name: software-versions
        path: .images.hello
        pattern: '^(.*):(.*)'
        match_group: 1
      dest:
        path: .values.images.hello.repo
    - src:
        schema: pegleg/SoftwareVersions/v1
        name: software-versions
        path: .images.hello
        pattern: '^(.*):(.*)'
        match_group: 2
      dest:
        path: .values.images.hello.tag
data:
  values:
    images:
      hello:
        repo:  # docker.io/library/hello-world
        tag:   # latest
";

const EXTRACTION_RENDERED: &str =
    "{values: {images: {hello: {repo: docker.io/library/hello-world, tag: latest}}}}";

/// "… the distinct values for `repo` and `tag` will be extracted from the
/// source image".
#[test]
fn extraction() {
    run(&with_storage_policy(EXTRACTION)).renders("example-chart-01", EXTRACTION_RENDERED);
}

/// The printed destination has no `storagePolicy`.
#[test]
fn extraction_as_printed_is_refused() {
    run(&refused(EXTRACTION, "storagePolicy"))
        .raises("`example-chart-01` has no `metadata.storagePolicy`")
        .renders("example-chart-01", EXTRACTION_RENDERED);
}

/// "Document substitution, simply put, allows one document to overwrite *parts*
/// of its own data with that of another document." "The source document is
/// resolved via the `src.schema` and `src.name` keys and the `src.path` key is
/// used relative to the source document's `data` section to retrieve the
/// substitution data, which is then injected into the `data` section of the
/// destination document using the `dest.path` key."
#[test]
fn part_of_the_source_overwrites_part_of_the_destination() {
    substituted(
        "{a: {b: [1, {c: 2}]}, z: 0}",
        "{src: {schema: example/Kind/v1, name: source, path: '.a.b[1]'}, dest: {path: .x.y}}",
        "{x: {y: old, w: kept}, v: kept}",
    )
    .renders("source", "{a: {b: [1, {c: 2}]}, z: 0}")
    .renders("dest", "{x: {y: {c: 2}, w: kept}, v: kept}");
    // Schema and name must both match.
    let namesake = document_of("example/Other/v1", "source", SITE, "wrong");
    let dest = destination("dest", &format!("{{{FROM}, dest: {{path: .x}}}}"), "{}");
    run(&(namesake + &source("source", "right") + &dest)).renders("dest", "{x: right}");
}

/// "reducing data duplication by declaring common data within one document and
/// having multiple other documents substitute data from the common location as
/// needed".
#[test]
fn many_documents_substitute_from_one() {
    let substitution = format!("{{{FROM}, dest: [{{path: .x}}, {{path: .y}}]}}");
    let one = destination("one", &substitution, "{}");
    let two = destination("two", &substitution, "{x: 1}");
    run(&(one + &source("source", "common") + &two))
        .renders("one", "{x: common, y: common}")
        .renders("two", "{x: common, y: common}");
}

/// "No substitution dependency cycle may exist between a series of
/// substitutions. For example, if A substitutes from B, B from C, and C from A,
/// then Deckhand will raise an exception as it is impossible to determine the
/// source data to use for substitution in the presence of a dependency cycle."
#[test]
fn cycle_cannot_be_rendered() {
    let from = |name: &str| {
        format!("{{src: {{schema: example/Kind/v1, name: {name}, path: .}}, dest: {{path: .x}}}}")
    };
    let marked = from("b").replace(
        ", path: .}, dest",
        ", path: .}, # <- dependency-cycle\n     dest",
    );
    let a = document("a", &format!("{SITE}\nsubstitutions:\n  - {marked}"), "{}");
    let b = destination("b", &from("c"), "{}");
    let c = destination("c", &from("a"), "{}");
    let free = destination("free", &from("source"), "{}");
    run(&(a + &b + &c + &free + &source("source", "1")))
        .raises("depends on itself through")
        .leaves_out("a")
        .leaves_out("b")
        .leaves_out("c")
        .renders("free", "{x: 1}");
}

/// "Substitution is only applied to the `data` section of a document. This is
/// because a document's `metadata` and `schema` sections should be immutable
/// within the scope of a revision".
#[test]
fn only_data_is_written() {
    substituted(
        "1",
        &format!("{{{FROM}, dest: [{{path: .metadata.name}}, {{path: .schema}}]}}"),
        "{}",
    )
    .renders("dest", "{metadata: {name: 1}, schema: 1}");
}

/// "Concrete (non-abstract) documents can be used as a source of substitution
/// into other documents."
#[test]
fn sources_are_concrete() {
    let is_abstract = document("source", &SITE.replace("false", "true"), "1");
    let substitution = format!("{{{FROM}, dest: {{path: .x}}}} # <- missing-source");
    let dest = destination("dest", &substitution, "{x: kept}");
    run(&(is_abstract + &dest))
        .raises("`source`")
        .renders("dest", "{x: kept}");
}

/// "during document rendering, substitution is applied at each layer after all merge actions
/// occur": also in abstract parents, whose children inherit the result.
#[test]
fn substitutions_of_abstract_parents_are_inherited() {
    let parent = format!(
        "labels: {{name: parent}}\nlayeringDefinition: {{abstract: true, layer: global}}\n\
         substitutions:\n  - {{{FROM}, dest: {{path: .x}}}}"
    );
    let child = "layeringDefinition:\n  layer: site\n  parentSelector: {name: parent}\n  \
                 actions: [{method: merge, path: .}]";
    run(&(document("parent", &parent, "{x: 0}")
        + &document("child", child, "{y: 1}")
        + &source("source", "from the site")))
    .renders("child", "{x: from the site, y: 1}");
}

/// "`dest.path` key must already exist in the `data` section of the destination
/// document and must have an associated value."
#[test]
fn pattern_needs_an_existing_value() {
    substituted(
        "new",
        &format!("{{{FROM}, dest: {{path: .y, pattern: old}}}} # <- missing-pattern-target"),
        "{x: old}",
    )
    .raises("`.y`")
    .renders("dest", "{x: old}");
    substituted(
        "new",
        &format!("{{{FROM}, dest: {{path: .x, pattern: old}}}} # <- invalid-substitution"),
        "{x: null}",
    )
    .raises("`dest`")
    .renders("dest", "{x: null}");
}

/// "The `dest.pattern` must be a valid regular expression string."
#[test]
fn pattern_must_be_a_regular_expression() {
    substituted(
        "new",
        &format!("{{{FROM}, dest: {{path: .x, pattern: '(old'}}}} # <- invalid-pattern"),
        "{x: old}",
    )
    .raises("pattern")
    .renders("dest", "{x: old}");
    substituted(
        "new",
        &format!("{{{FROM}, dest: {{path: .x, pattern: 7}}}} # <- invalid-document"),
        "{x: '7'}",
    )
    .raises("must be a string")
    .renders("dest", "{x: '7'}");
}

/// "The `dest.pattern` must be resolvable in the value of `dest.path`."
#[test]
fn pattern_must_match() {
    substituted(
        "new",
        &format!("{{{FROM}, dest: {{path: .x, pattern: odd}}}} # <- unmatched-pattern"),
        "{x: old}",
    )
    .raises("`dest`")
    .renders("dest", "{x: old}");
}

/// "If `dest.path` is a string or multiline string then all occurrences of
/// `dest.pattern` found in `dest.path` will be replaced."
#[test]
fn all_occurrences_are_replaced() {
    substituted(
        "new",
        &format!("{{{FROM}, dest: {{path: .x, pattern: 'o.d'}}}}"),
        "{x: \"old odd\\nold\\n\"}",
    )
    .renders("dest", "{x: \"new new\\nnew\\n\"}");
}

/// "specifying a `pattern` value and `recurse` as `True` (it otherwise defaults to `False`)":
/// without it, mappings are not searched.
#[test]
fn recursion_is_opt_in() {
    substituted(
        "new",
        &format!("{{{FROM}, dest: {{path: .x, pattern: old}}}} # <- invalid-substitution"),
        "{x: {y: old}}",
    )
    .raises("`dest`")
    .renders("dest", "{x: {y: old}}");
}

/// "Note that the recursion depth must be specified." `recurse: True` is not supported, although
/// the page mentions it.
#[test]
fn recursion_has_a_depth() {
    for recurse in ["true", "{}", "{deep: 1}"] {
        substituted(
            "new",
            &format!("{{{FROM}, dest: {{path: .x, pattern: old, recurse: {recurse}}}}} # <- invalid-substitution"),
            "{x: {y: old}}",
        )
        .raises("depth")
        .renders("dest", "{x: {y: old}}");
    }
}

/// "Recursive selection of patterns will only consider matching patterns.
/// Non-matching patterns will be ignored. Thus, even if recursion can 'pass
/// over' non-matching patterns, they will be silently ignored."
#[test]
fn recursion_skips_values_that_do_not_match() {
    substituted(
        "new",
        &format!("{{{FROM}, dest: {{path: ., pattern: old, recurse: {{depth: -1}}}}}}"),
        "{a: old, b: [odd, {c: x-old, d: 1, e: null}], f: {g: odd}}",
    )
    .raises_nothing()
    .renders(
        "dest",
        "{a: new, b: [odd, {c: x-new, d: 1, e: null}], f: {g: odd}}",
    );
}

/// "Take care to specify the required recursion depth or else too-deep patterns
/// won't be replaced."
#[test]
fn values_below_the_recursion_depth_are_not_replaced() {
    for (depth, expected) in [
        ("1", "{a: new, b: {a: old, b: {a: old}}}"),
        ("2", "{a: new, b: {a: new, b: {a: old}}}"),
        ("3", "{a: new, b: {a: new, b: {a: new}}}"),
        ("-1", "{a: new, b: {a: new, b: {a: new}}}"),
    ] {
        substituted(
            "new",
            &format!("{{{FROM}, dest: {{path: .x, pattern: old, recurse: {{depth: {depth}}}}}}}"),
            "{x: {a: old, b: {a: old, b: {a: old}}}}",
        )
        .renders("dest", &format!("{{x: {expected}}}"));
    }
}

/// Substitution from `.v` to `.x` with further options of `src`.
fn extracting(options: &str) -> String {
    format!(
        "{{src: {{schema: example/Kind/v1, name: source, path: .v, {options}}}, dest: {{path: .x}}}}"
    )
}

/// "It is an error to specify `src.pattern` if the substitution source is not a
/// string (e.g. an object or an array)."
#[test]
fn source_pattern_needs_a_string() {
    for from in ["{v: {a: 1}}", "{v: [a]}", "{v: 1}"] {
        let substitution = extracting("pattern: a") + " # <- invalid-substitution";
        substituted(from, &substitution, "{x: kept}")
            .raises("`dest`")
            .renders("dest", "{x: kept}");
    }
}

/// "If the regex does not match, a warning is logged, and the entire source
/// string is used."
#[test]
fn source_pattern_without_a_match() {
    let substitution = extracting("pattern: b") + " # <- unmatched-source-pattern";
    let run = substituted("{v: aaa}", &substitution, "{x: old}");
    run.raises_nothing().renders("dest", "{x: aaa}");
    assert_eq!(run.checked.findings.counts().warnings, 1);
}

/// "The default `src.match_group` is 0 (i.e. the entire match). This allows the
/// use of expressions like `sha256:.*` without parentheses, and without
/// explicitly specifying a match group."
#[test]
fn whole_match_is_the_default() {
    let image = "{v: 'quay.io/x/y@sha256:0f1e2d'}";
    for (options, expected) in [
        ("pattern: 'sha256:.*'", "sha256:0f1e2d"),
        ("pattern: '(sha256):(.*)'", "sha256:0f1e2d"),
        ("pattern: '(sha256):(.*)', match_group: 0", "sha256:0f1e2d"),
        ("pattern: '(sha256):(.*)', match_group: 2", "0f1e2d"),
    ] {
        substituted(image, &extracting(options), "{}")
            .renders("dest", &format!("{{x: '{expected}'}}"));
    }
    let wrong = extracting("pattern: 'sha256:.*', match_group: 1") + " # <- invalid-substitution";
    substituted(image, &wrong, "{x: kept}")
        .raises("group")
        .renders("dest", "{x: kept}");
}

/// "Substitution of encrypted data works the same as substitution of cleartext
/// data. Note that during the rendering process, source and destination
/// documents receive the secrets stored in Barbican."
#[test]
fn encrypted_data_is_substituted_alike() {
    for policy in ["cleartext", "encrypted"] {
        let from = source("source", "{v: [one, {two: 3}]}").replace("cleartext", policy);
        let dest = destination("dest", &extracting("deepcopy: true"), "{}");
        let run = run(&(from + &dest));
        run.renders("dest", "{x: [one, {two: 3}]}");
        assert_eq!(at(run.data("dest"), "x").secret, policy == "encrypted");
        assert!(!run.data("dest").secret);
    }
}
