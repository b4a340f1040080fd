//! Findings about merging, case by case, and their limits: no secrets, and a bounded number of
//! findings.

use std::collections::BTreeSet;

use layercake::ask::{ValueQuestion, trace};
use layercake::check::{Checked, RenderedSite};
use layercake::merge::deckhand::Semantics;
use layercake::source::MemoryTree;
use layercake::yaml::emit::{EmitOptions as Emitting, to_yaml};

use crate::support::{check_files, finding_text, options};

/// Files by path and text, and the `layercake.yaml` keys of the set `node`.
fn tree(declared: &str, files: &[(&str, &str)]) -> MemoryTree {
    let configuration = format!("cloud-config:\n- name: node\n{declared}");
    let tree = MemoryTree::new().with("layercake.yaml", configuration.as_str());
    files
        .iter()
        .fold(tree, |tree, (path, text)| tree.with(path, *text))
}

fn checked(tree: &MemoryTree) -> Checked<()> {
    let (checked, _) = check_files(tree, options(Semantics::Documented), |_| ()).without_taken();
    checked
}

/// Findings in full.
fn report(tree: &MemoryTree) -> String {
    let checked = checked(tree);
    let findings = checked.findings.diagnostics.iter();
    findings
        .map(|finding| finding_text(finding, &checked.sources))
        .collect()
}

/// Rules and headlines of the findings.
fn headlines(tree: &MemoryTree) -> Vec<String> {
    let checked = checked(tree);
    let findings = checked.findings.diagnostics.iter();
    findings
        .map(|finding| format!("{}: {}", finding.rule.name, finding.message))
        .collect()
}

/// Merged configuration as text.
fn merged(tree: &MemoryTree) -> String {
    let output = |site: &RenderedSite<'_>| {
        let mut outputs = site.graph.outputs();
        let (doc, _) = outputs
            .find(|(_, it)| &*it.key.schema == "cloud-config")
            .unwrap();
        to_yaml(site.rendered.data(doc).unwrap(), &Emitting::default())
    };
    let (_, mut taken) = check_files(tree, options(Semantics::Documented), output).without_taken();
    taken.remove(0)
}

/// Route of a value of the merged configuration.
fn steps(tree: &MemoryTree, path: &str) -> Vec<String> {
    let question = ValueQuestion {
        schema: "cloud-config".to_owned(),
        name: "node".to_owned(),
        path: path.to_owned(),
    };
    let steps = |site: &RenderedSite<'_>| -> Vec<String> {
        trace(site, &question)
            .unwrap()
            .rows
            .into_iter()
            .map(|row| row.step.to_string())
            .collect()
    };
    let (_, mut taken) = check_files(tree, options(Semantics::Documented), steps).without_taken();
    taken.remove(0)
}

const TWO: &str = "  parts: [a.yaml, b.yaml]\n";
const BASE: &str =
    "#cloud-config\nlist: [1, 2, 3]\ntext: old\nmapping: {key: old}\nnumber: 1\nempty: null\n";

fn over(base: &str, text: &str) -> Vec<String> {
    let text = format!("#cloud-config\n{text}");
    headlines(&tree(TWO, &[("a.yaml", base), ("b.yaml", &text)]))
}

/// Text that libyaml reads, and therefore Deckhand, but that PyYAML's own parser refuses.
#[test]
fn text_refused_only_by_pyyaml_is_reported() {
    let parts = [
        ("a.yaml", "#cloud-config\nruncmd:\n- a\t# b\n"),
        ("b.yaml", "#cloud-config\n{fqdn: a, url: [http://b/?c=d]}\n"),
    ];
    assert_eq!(
        report(&tree(TWO, &parts)),
        "\
a.yaml:3:4 error[invalid-yaml] invalid YAML for PyYAML: tab outside of quotes
  ^ PyYAML stops here
  note: cloud-init drops the whole part and continues with the others
  note: YAML allows it, but cloud-init uses PyYAML's own parser
  help: use spaces, or quote the string if the tab is part of it
b.yaml:2:26 error[invalid-yaml] invalid YAML for PyYAML: `?` ends an unquoted string inside of [] and {}
  ^ PyYAML stops here
  note: cloud-init drops the whole part and continues with the others
  note: YAML allows it, but cloud-init uses PyYAML's own parser
  help: quote the string
"
    );
}

/// Every kind of failure of a specification has a message.
#[test]
fn invalid_specification_is_reported() {
    let cases = [
        (
            "merge_how: dict",
            "a merge class is not of the form `name(option,option)`",
        ),
        ("merge_how: 5", "an integer is not a merge specification"),
        ("merge_how: [5]", "an integer is not a merge class"),
        ("merge_how: ['']", "an empty item is not a merge class"),
        ("merge_how: [{settings: []}]", "a merge class has no `name`"),
        (
            "merge_how: [{name: dict}]",
            "a merge class has no `settings`",
        ),
        (
            "merge_how: [{name: 5, settings: []}]",
            "the name of a merge class is an integer",
        ),
        (
            "merge_how: [{name: dict, settings: 5}]",
            "the settings of a merge class are an integer",
        ),
        ("merge_how: map()", "unknown merge class `map`"),
        (
            "merge_how: dict(recurse_list)+list(no_replace)\nlist: {key: 1}",
            "at `.list` a mapping cannot be merged into a list by `list(no_replace)`",
        ),
        (
            "merge_how: dict(recurse_list)+str(append)\ntext: [1]",
            "at `.text` a list cannot be appended to a string by `str(append)`",
        ),
    ];
    for (text, expected) in cases {
        let output = over(BASE, text);
        assert!(
            output.contains(&format!(
                "unmerged-part: `b.yaml` cannot be merged: {expected}"
            )),
            "{text}: {output:#?}"
        );
    }
}

/// Every way in which an operation of a patch can fail when it is applied.
#[test]
fn failed_operation_is_reported() {
    let cases = [
        (
            r#"{"op": "remove", "path": "/nothing"}"#,
            "`path` leads to a key that does not exist in the merged data",
        ),
        (
            r#"{"op": "remove", "path": "/mapping/x"}"#,
            "`path` leads to a key that does not exist in `.mapping`",
        ),
        (
            r#"{"op": "add", "path": "/list/9", "value": 1}"#,
            "`path` leads beyond the end of the list at `.list`",
        ),
        (
            r#"{"op": "add", "path": "/list/x", "value": 1}"#,
            "`path` leads into the list at `.list` without a valid index",
        ),
        (
            r#"{"op": "add", "path": "/number/x/y", "value": 1}"#,
            "`path` leads into `.number`, which is an integer",
        ),
        (
            r#"{"op": "remove", "path": "/list/-"}"#,
            "`path` leads past the end of a list",
        ),
        (
            r#"{"op": "remove", "path": ""}"#,
            "`path` leads to the whole document",
        ),
        (
            r#"{"op": "move", "from": "/mapping", "path": "/mapping/key"}"#,
            "a value is moved into itself",
        ),
        (
            r#"{"op": "test", "path": "/number", "value": 2}"#,
            "the test failed: the actual value differs",
        ),
    ];
    for (operation, expected) in cases {
        let patch = format!("#cloud-config-jsonp\n[{operation}]");
        let output = headlines(&tree(TWO, &[("a.yaml", BASE), ("b.yaml", &patch)]));
        let expected = format!("`b.yaml` cannot be applied at operation 1: {expected}");
        assert!(
            output.contains(&format!("unmerged-part: {expected}")),
            "{operation}: {output:#?}"
        );
    }
}

/// Losses that the specification of a part requests, or that have no effect, are not reported.
#[test]
fn intended_losses_are_not_reported() {
    let cases = [
        "merge_how: dict(no_replace)\nlist: [4]\ntext: new\nnumber: 2\nempty: 1\nmapping: {key: 1}",
        "merge_how: dict(recurse_list)+list(no_replace)\nlist: [4]",
        "merge_how: dict(recurse_list)+list(append)\ntext: old\nnumber: 1.0\nmapping: {other: 1}",
        "merge_how: dict(recurse_list,allow_delete)+list(append)\ntext: null",
        "merge_how: dict(recurse_list)+list()\nlist: [4, 5, 6]",
        "list: [4]\ntext: new\nnumber: 2\nempty: 1\nmapping: {}",
        "merge_how: dict(replace)+list()+str()\nlist: [4]\nmapping: 1",
    ];
    for text in cases {
        let output = over(BASE, text);
        let of_merging: Vec<&String> = output.iter().filter(|it| is_of_values(it)).collect();
        assert!(of_merging.is_empty(), "{text}: {of_merging:#?}");
    }
}

fn is_of_values(headline: &str) -> bool {
    let rules = [
        "lost-value",
        "null-without-delete",
        "replaced-by-index",
        "exploded-value",
        "displaced-value",
    ];
    rules.iter().any(|rule| headline.starts_with(rule))
}

/// A file with lower priority is expected to lose scalars, but neither lists nor by corruption.
#[test]
fn lost_scalars_of_lower_priority_are_not_reported() {
    let conf_d = "  conf-d: [\"*.cfg\"]\n";
    let lower = "merge_how: dict(recurse_list,recurse_str)+list(append)+str()\nlist: text\n\
                 number: 2\nempty: 1\n";
    let output = headlines(&tree(conf_d, &[("1.cfg", lower), ("2.cfg", &BASE[14..])]));
    assert_eq!(
        output,
        [
            "exploded-value: the string at `.list` is merged into a list: each of its characters becomes an item"
        ]
    );
    let lower = "list: [4]\ntext: new\nnumber: 2\nempty: 1\nmapping: {key: new}\n";
    let output = headlines(&tree(conf_d, &[("1.cfg", lower), ("2.cfg", &BASE[14..])]));
    assert_eq!(
        output,
        ["lost-keys: `.list` of `1.cfg` is lost: a file of higher priority has it"]
    );
}

#[test]
fn losses_in_the_2013_dialect_are_reported() {
    let declared = format!("{TWO}  dialect: documented\n");
    let first = format!("{BASE}merge_how: list()+dict()+str()\n");
    let second = "#cloud-config\nlist: [4]\ntext: new\nnumber: 2\nmapping: {key: [1]}\n";
    let output = headlines(&tree(&declared, &[("a.yaml", &first), ("b.yaml", second)]));
    let lost: Vec<&String> = output.iter().filter(|it| is_of_values(it)).collect();
    assert_eq!(
        lost,
        [
            "lost-value: `.list` is lost: `list` lacks `extend`",
            "lost-value: `.text` is lost: `str` lacks `append`",
            "lost-value: `.number` is lost: `dict` without `overwrite` keeps the existing value",
            "lost-value: `.mapping.key` is lost: `str` lacks `append`",
        ]
    );
}

#[test]
fn first_findings_are_reported_and_the_others_counted() {
    let part = |value: usize, count: usize| {
        let keys: String = (0..count)
            .map(|key| format!("key{key}: {value}\n"))
            .collect();
        format!("#cloud-config\n{keys}")
    };
    let over =
        |count| part(2, count).replace("config\n", "config\nmerge_how: dict(allow_delete)\n");
    let lost = |count: usize| {
        let files = [("a.yaml", &*part(1, count)), ("b.yaml", &*over(count))];
        report(&tree(TWO, &files))
    };
    let output = lost(25);
    assert_eq!(output.matches("[lost-value]").count(), 20, "{output}");
    assert!(output.contains("`.key19` is lost"), "{output}");
    assert!(
        output.contains("note: there are 5 more of this kind in the same part"),
        "{output}"
    );
    let output = lost(300);
    assert_eq!(output.matches("[lost-value]").count(), 20, "{output}");
    assert!(
        output.contains("there are 180 more of this kind in the same part"),
        "{output}"
    );
    assert!(
        output.contains(
            "there are 100 more merged values in the same part that were not checked individually"
        ),
        "{output}"
    );
    assert!(!lost(20).contains("there are"));
}

/// A finding of a secret set contains none of its text, and does not depend on its length.
#[test]
fn secrets_are_not_in_findings() {
    let report_of = |secret: &str, count: usize| {
        let items = vec![secret; count].join(", ");
        let old = format!(
            "#cloud-config\ntext: a{secret}\nlist: [{items}]\nnumber: 1\nmapping: {{key: a}}\n"
        );
        let new = format!(
            "#cloud-config\nmerge_how: dict(recurse_list,recurse_str)+list()\ntext: {secret}\n\
             list: [b]\nnumber: 2\nmapping: null\n"
        );
        let unmerged = format!("#cloud-config\nmerge_how: {secret}()\n");
        let apart =
            format!("#cloud-config\nmerge_how: dict(recurse_str)+list(append)\nlist: {secret}\n");
        let patch = format!(
            "#cloud-config-jsonp\n[{{\"op\": \"test\", \"path\": \"/{secret}\", \"value\": 1}}]"
        );
        let files = [
            ("a.yaml", &*old),
            ("b.yaml", &*new),
            ("c.yaml", &*unmerged),
            ("d.yaml", &*apart),
            ("e.json", &*patch),
        ];
        let declared = "  parts: [a.yaml, b.yaml, c.yaml, d.yaml, e.json]\n  secret: true\n";
        report(&tree(declared, &files))
    };
    let output = report_of("sesame", 2);
    assert_eq!(
        output,
        report_of("sesamx", 3),
        "only lengths of lists differ"
    );
    let rules: BTreeSet<&str> = output
        .lines()
        .filter_map(|line| Some(line.split_once('[')?.1.split_once(']')?.0))
        .collect();
    for rule in [
        "unmerged-part",
        "replaced-by-index",
        "exploded-value",
        "null-without-delete",
        "lost-value",
    ] {
        assert!(rules.contains(rule), "{rule}: {output}");
    }
    for word in ["sesame", ".list", ".text", ".mapping"] {
        assert!(!output.contains(word), "{word}: {output}");
    }
}

/// Vendor-data is used if `enabled` is true in the rest of the configuration (8).
#[test]
fn vendor_data_is_used_where_enabled() {
    let vendors =
        "  parts: [user.yaml]\n  vendor-data: [vendor.yaml]\n  vendor-data2: [second.yaml]\n";
    let result = |user: &str, rest: &[(&str, &str)], declared: &str| {
        let user = format!("#cloud-config\n{user}\n");
        let mut files = vec![
            ("user.yaml", user.as_str()),
            ("vendor.yaml", "#cloud-config\nfirst: 1\n"),
            ("second.yaml", "#cloud-config\nsecond: 2\n"),
        ];
        files.extend(rest);
        let tree = tree(&format!("{vendors}{declared}"), &files);
        let text = merged(&tree);
        let output = headlines(&tree)
            .iter()
            .filter(|it| it.starts_with("unused-vendor-data"))
            .count();
        let used = [text.contains("first:"), text.contains("second:")];
        let unused = used.iter().filter(|is_used| !**is_used).count();
        assert_eq!(
            output, unused,
            "{user}: unused vendor-data is reported: {text}"
        );
        used
    };
    let user_only = |user: &str| result(user, &[], "");
    assert_eq!(user_only("a: 1"), [true, true], "built in, both are");
    assert_eq!(user_only("vendor_data: {enabled: false}"), [false, true]);
    assert_eq!(user_only("vendor_data2: {enabled: false}"), [true, false]);
    assert_eq!(user_only("vendor_data: {enabled: 'Yes '}"), [true, true]);
    assert_eq!(
        user_only("vendor_data: {enabled: 1}\nvendor_data2: {enabled: 2}"),
        [true, false]
    );
    assert_eq!(
        user_only("vendor_data: {prefix: /bin/true}"),
        [true, true],
        "merged with the built-in defaults"
    );
    assert_eq!(user_only("vendor_data: {enabled: null}"), [false, true]);
    assert_eq!(user_only("vendor_data: false"), [false, true], "no mapping");
    assert_eq!(
        user_only("vendor_data: no text"),
        [true, true],
        "the built-in default displaces it"
    );
    let base = "  base: [cloud.cfg]\n";
    let off = [("cloud.cfg", "vendor_data: {enabled: false}\n")];
    assert_eq!(result("a: 1", &off, base), [false, true]);
    assert_eq!(
        result("vendor_data: {enabled: true}", &off, base),
        [true, true],
        "user-data has the higher priority"
    );
}

#[test]
fn vendor_data_does_not_enable_itself() {
    let declared = "  parts: [user.yaml]\n  vendor-data: [vendor.yaml]\n";
    let files = [
        (
            "user.yaml",
            "#cloud-config\nvendor_data: {enabled: false}\n",
        ),
        (
            "vendor.yaml",
            "#cloud-config\nmerge_type: dict(replace)\nvendor_data: {enabled: true}\nvendor: 1\n",
        ),
    ];
    let text = merged(&tree(declared, &files));
    assert!(!text.contains("vendor: 1"), "{text}");
}

/// The route of a value names the merge classes, and the operation of a patch.
#[test]
fn route_of_a_value_shows_how_it_was_merged() {
    let second = "#cloud-config\nmerge_how: dict(recurse_list)+list(append)\nlist: [4]\nnew: 1\n";
    let patch = r#"#cloud-config-jsonp
[{"op": "add", "path": "/added", "value": 1}, {"op": "replace", "path": "/text", "value": "x"}]"#;
    let declared = "  parts: [a.yaml, b.yaml, c.json]\n";
    let tree = tree(
        declared,
        &[("a.yaml", BASE), ("b.yaml", second), ("c.json", patch)],
    );
    let output = |path| steps(&tree, path).join(" / ");
    assert!(
        output(".new").contains("merged by dict(recurse_list)+list(append)"),
        "{}",
        output(".new")
    );
    let number = output(".number");
    assert!(
        number.contains("merged by dict(replace)+list()+str()"),
        "{number}"
    );
    let text = output(".text");
    assert!(
        text.contains("patched by operation 2 (replace /text)"),
        "{text}"
    );
}

/// A finding in a file that several sites share is reported once.
#[test]
fn finding_in_several_sites_is_reported_once() {
    let definition = |site: &str| {
        format!(
            "---\nschema: pegleg/SiteDefinition/v1\nmetadata:\n  schema: metadata/Document/v1\n  \
             name: {site}\n  layeringDefinition: {{abstract: false, layer: site}}\n  \
             storagePolicy: cleartext\ndata: {{site_type: metal}}\n"
        )
    };
    let (one, two) = (definition("one"), definition("two"));
    let policy = "---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {schema: \
                  metadata/Control/v1, name: layering-policy}\ndata: {layerOrder: [global, site]}\n";
    let files = [
        ("site/one/site-definition.yaml", one.as_str()),
        ("site/two/site-definition.yaml", two.as_str()),
        ("global/policy.yaml", policy),
        ("global/cloud/a.yaml", BASE),
        (
            "global/cloud/b.yaml",
            "#cloud-config\nmerge_how: dict()+str()\nnumber: 2\n",
        ),
    ];
    let output = report(&tree("  parts: [\"global/cloud/*.yaml\"]\n", &files));
    assert_eq!(output.matches("[lost-value]").count(), 1, "{output}");
    assert!(output.contains("`.number` is lost"), "{output}");
    assert!(output.contains("  sites: one two"), "{output}");
}

/// The merge classes of a secret part are part of its text.
#[test]
fn route_of_a_secret_hides_merge_classes() {
    let second = "#cloud-config\nmerge_how: dict(recurse_list)+list(append)\nnew: 1\n";
    let patch = "#cloud-config-jsonp\n[{\"op\": \"add\", \"path\": \"/text\", \"value\": 1}]";
    let files = [("a.yaml", BASE), ("b.yaml", second), ("c.json", patch)];
    let secret = tree(
        "  parts: [a.yaml, b.yaml, c.json]\n  secret: true\n",
        &files,
    );
    let output = [".", "/"]
        .map(|path| steps(&secret, path).join(" / "))
        .join(" / ");
    assert!(output.contains("merged"), "{output}");
    assert!(!output.contains("dict(recurse_list)"), "{output}");
    assert!(!output.contains("/text"), "{output}");
}

/// A part is merged over a list, which an earlier patch made of the root: its merge specification
/// is removed regardless of the classes (cloud-init.md 2).
#[test]
fn merge_specification_is_never_merged_into_a_list() {
    let patch = "#cloud-config-jsonp\n[{\"op\": \"replace\", \"path\": \"\", \"value\": [1]}]\n";
    for (how, expected) in [
        ("list(replace)+dict()", "k: v\n"),
        ("list(append)", "- 1\n- k\n"),
        ("list(prepend)+dict()", "- k\n- 1\n"),
        ("str()", "- 1\n"),
    ] {
        let part = format!("#cloud-config\nmerge_how: {how}\nk: v\n");
        let files = [("1", "#cloud-config\na: b\n"), ("2", patch), ("3", &part)];
        assert_eq!(merged(&tree("  parts: ['?']\n", &files)), expected, "{how}");
    }
}
