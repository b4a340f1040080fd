//! `query`: values of rendered documents.

use serde_json::{Value as Json, json};

use super::{Sandbox, definition, document};
use crate::stored::root;

fn chart(name: &str, images: &str) -> String {
    let data = format!("{{release: {name}, values: {{images: {images}}}}}");
    document(name, "global", &data).replace("example/Any/v1", "armada/Chart/v1")
}

fn with_images() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "global/keystone.yaml",
        chart("keystone", "{tags: {api: 'quay.io/osh/keystone:1', db: 'quay.io/osh/heat:1'}, pull_policy: Always}"),
    );
    sandbox.write(
        "global/heat.yaml",
        chart("heat", "{tags: {api: 'quay.io/osh/heat:1'}}"),
    );
    sandbox
}

#[test]
fn equal_values_of_several_sites_are_one_row() {
    let sandbox = Sandbox::with_sites();
    let ran = sandbox.run(&["query", "$.values.replicas"]);
    assert_text(
        &ran.stdout,
        "\
example/Any/v1 chart  .values.replicas
  1
      global/chart.yaml:8 (global)
      in all 2 sites

2 values in 2 sites
",
    );
    assert_eq!(ran.code, 0);
    let rows = sandbox.run(&["query", "$.of", "--format", "json"]).json()["rows"].clone();
    let values: Vec<(&Json, &Json)> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (&row["value"], &row["sites"]))
        .collect();
    assert_eq!(
        values,
        [
            (&json!("lab"), &json!(["lab"])),
            (&json!("prod"), &json!(["prod"]))
        ]
    );
    assert_eq!(
        rows[0]["at"],
        json!({"file": "site/lab/only.yaml", "line": 8, "column": 12})
    );
    assert_eq!(rows[0]["layer"], "site");
}

#[test]
fn images_name_their_users() {
    let sandbox = with_images();
    let ran = sandbox.run(&["query", "images"]);
    assert_text(
        &ran.stdout,
        "\
quay.io/osh/heat:1
  used by heat, keystone
    global/heat.yaml:8
    global/keystone.yaml:8
      in all 2 sites
quay.io/osh/keystone:1
  used by keystone
    global/keystone.yaml:8
      in all 2 sites

6 values in 2 sites
",
    );
    let one = sandbox.run(&[
        "query", "images", "--value", "*/heat:*", "--site", "lab", "-o", "csv",
    ]);
    assert_text(&one.stdout.replace('\r', ""), "\
schema,name,path,deployed_by,sites,value,file,line,layer,registry,repository,tag,digest
armada/Chart/v1,heat,.values.images.tags.api,not known whether it is deployed,lab,quay.io/osh/heat:1,global/heat.yaml,8,global,quay.io,osh/heat,1,
armada/Chart/v1,keystone,.values.images.tags.db,not known whether it is deployed,lab,quay.io/osh/heat:1,global/keystone.yaml,8,global,quay.io,osh/heat,1,
");
}

#[test]
fn references_of_images_are_recognized() {
    let images = [
        ("redis:7", Some(["docker.io", "redis", "7", ""])),
        ("osh/heat", Some(["docker.io", "osh/heat", "", ""])),
        ("localhost/heat:1", Some(["localhost", "heat", "1", ""])),
        (
            "registry:5000/heat",
            Some(["registry:5000", "heat", "", ""]),
        ),
        (
            "10.0.0.1:5000/a/b_c:v1.2-x",
            Some(["10.0.0.1:5000", "a/b_c", "v1.2-x", ""]),
        ),
        (
            "quay.io/a/b:1@sha256:0123456789abcdef0123456789abcdef",
            Some([
                "quay.io",
                "a/b",
                "1",
                "sha256:0123456789abcdef0123456789abcdef",
            ]),
        ),
        ("redis", None),
        ("IfNotPresent", None),
        ("http://quay.io/a:1", None),
        ("/var/lib/a:ro", None),
        ("a b:1", None),
        ("redis:", None),
        ("redis:7@sha256:12", None),
        ("", None),
    ];
    let listed: Vec<String> = images.iter().map(|(text, _)| format!("'{text}'")).collect();
    let sandbox = Sandbox::with_sites();
    let texts = format!(
        "{{list: [{}], one: {{repository: quay.io/a/b, tag: 2.0.1}}}}",
        listed.join(", ")
    );
    sandbox.write("global/images.yaml", chart("images", &texts));
    let answer = sandbox
        .run(&["query", "images", "--site", "lab", "--format", "json"])
        .json();
    let found = answer["rows"].as_array().unwrap();
    let part = |row: &Json, key: &str| row["columns"][key].as_str().unwrap_or_default().to_owned();
    let parts = |row: &Json| ["registry", "repository", "tag", "digest"].map(|key| part(row, key));
    for (at, (text, expected)) in images.iter().enumerate() {
        let path = format!(".values.images.list[{at}]");
        let row = found.iter().find(|row| row["path"] == path.as_str());
        let expected = expected.map(|it| it.map(str::to_owned));
        assert_eq!(row.map(parts), expected, "{text}");
    }
    let one = |row: &&Json| {
        row["path"]
            .as_str()
            .unwrap()
            .starts_with(".values.images.one")
    };
    let ones: Vec<_> = found.iter().filter(one).map(parts).collect();
    assert_eq!(ones, [["quay.io", "a/b", "2.0.1", ""]]);
}

#[test]
fn a_comparison_lists_changed_values_with_both() {
    let sandbox = with_images();
    sandbox.commit();
    sandbox.write(
        "global/heat.yaml",
        chart(
            "heat",
            "{tags: {api: 'quay.io/osh/heat:2', job: 'quay.io/osh/job:1'}}",
        ),
    );
    sandbox.write(
        "site/lab/only.yaml",
        document("only", "site", "{of: [lab]}"),
    );
    let images = sandbox.run(&["query", "images", "--since", "HEAD"]);
    assert_eq!(images.code, 0, "{images:?}");
    let text = images.stdout.split_once('\n').unwrap();
    assert!(text.0.starts_with("changed since HEAD ("), "{images:?}");
    assert_text(
        text.1,
        "
+ quay.io/osh/job:1
  used by heat
    global/heat.yaml:8
      in all 2 sites
quay.io/osh/heat: 1 → 2
  used by heat
    global/heat.yaml:8
      in all 2 sites

4 values in 2 sites
",
    );
    let rows = sandbox
        .run(&["query", "$.of", "--since", "HEAD", "-o", "json"])
        .json()["rows"]
        .clone();
    assert_eq!(rows.as_array().unwrap().len(), 1);
    assert_eq!(
        (&rows[0]["base"]["value"], &rows[0]["value"]),
        (&json!("lab"), &json!(["lab"]))
    );
    let nothing = sandbox.run(&["query", "$.nothing", "--since", "HEAD"]);
    assert_eq!(nothing.code, 0);
}

/// An image is new or no longer used if no other output of the site used it before, or uses it now.
#[test]
fn comparisons_count_changed_images() {
    let sandbox = with_images();
    sandbox.write(
        "global/gone.yaml",
        chart(
            "gone",
            "{tags: {a: 'quay.io/osh/gone:1', b: 'quay.io/osh/heat:1'}}",
        ),
    );
    sandbox.commit();
    sandbox.write(
        "global/gone.yaml",
        chart("gone", "{tags: {b: 'quay.io/osh/heat:2', c: 'quay.io/osh/keystone:1', d: 'quay.io/osh/job:1'}}"),
    );
    let brief = sandbox.run(&["lint", "--since", "HEAD"]);
    assert!(
        brief
            .stdout
            .contains("\nimages: 1 changed, 1 new, 1 no longer used · "),
        "{brief:?}"
    );
    assert!(!brief.stdout.contains("\nimages\n"), "{brief:?}");
    let verbose = sandbox.run(&["lint", "--since", "HEAD", "-v"]);
    let expected = "
images
  quay.io/osh/job:1, new  gone in all 2 sites
  quay.io/osh/gone:1, no longer used  gone in all 2 sites
  quay.io/osh/heat: 1 → 2  gone in all 2 sites
";
    assert!(verbose.stdout.contains(expected), "{}", verbose.stdout);
    let report = sandbox
        .run(&["lint", "--since", "HEAD", "-o", "json"])
        .json();
    let images = report["images"].as_array().unwrap();
    assert_eq!(images.len(), 3);
    assert_eq!(
        (&images[2]["base"], &images[2]["head"]),
        (&json!("quay.io/osh/heat:1"), &json!("quay.io/osh/heat:2"))
    );
    let others = sandbox
        .run(&["diff", "HEAD", "--schema", "example/*", "-o", "json"])
        .json();
    assert!(others["images"].is_null(), "{others:#}");
}

/// A renamed site is one removed and one added, and so are its images.
#[test]
fn images_of_removed_and_added_sites_are_counted() {
    let sandbox = with_images();
    sandbox.commit();
    sandbox.git(&["mv", "site/prod", "site/ocean"]);
    sandbox.write("site/ocean/site-definition.yaml", definition("ocean", ""));
    let images = |sites: &str| -> Vec<Json> {
        let ran = sandbox.run(&["query", "images", "--since", "HEAD", "-o", "json"]);
        let rows = ran.json()["rows"].clone();
        let rows = rows.as_array().unwrap().iter();
        let of_sites = rows.filter(|row| row["sites"] == json!([sites]));
        of_sites
            .map(|row| json!([row["base"]["value"], row["value"]]))
            .collect()
    };
    let [heat, keystone] = ["quay.io/osh/heat:1", "quay.io/osh/keystone:1"];
    assert_eq!(
        images("prod"),
        [
            json!([heat, null]),
            json!([keystone, null]),
            json!([heat, null])
        ]
    );
    let verbose = sandbox.run(&["lint", "--since", "HEAD", "-v"]);
    let expected = "
images
  quay.io/osh/heat:1, new  heat, keystone in ocean
  quay.io/osh/keystone:1, new  keystone in ocean
  quay.io/osh/heat:1, no longer used  heat, keystone in prod
  quay.io/osh/keystone:1, no longer used  keystone in prod
";
    assert!(verbose.stdout.contains(expected), "{}", verbose.stdout);
}

#[test]
fn certificates_have_their_dates() {
    let certificates = ["expired", "valid"].map(|name| {
        let path = root()
            .join("tests/certificates")
            .join(name)
            .with_extension("pem");
        std::fs::read_to_string(path).unwrap()
    });
    let sandbox = Sandbox::with_sites();
    let data = |text: &str| Json::from(text).to_string();
    sandbox.write(
        "global/tls.yaml",
        document(
            "tls",
            "global",
            &format!("{{bundle: {}, words: x}}", data(&certificates.concat())),
        ),
    );
    for (name, policy) in [("open", "cleartext"), ("closed", "encrypted")] {
        let text = document(name, "global", &data(&certificates[1]));
        let text = text
            .replace("example/Any/v1", "deckhand/Certificate/v1")
            .replace("cleartext", policy);
        sandbox.write(&format!("global/{name}.yaml"), text);
    }
    let ran = sandbox.run(&["query", "certificates", "--site", "lab"]);
    assert_text(
        &ran.stdout,
        "\
deckhand/Certificate/v1 closed  .
  (hidden)
      global/closed.yaml:8 (global)
      in lab
deckhand/Certificate/v1 open  .
  CN=apiserver
      global/open.yaml:8 (global)
      not_before: 2020-01-01T00:00:00Z · not_after: 2040-01-01T00:00:00Z
      in lab
example/Any/v1 tls  .bundle
  CN=apiserver | CN=apiserver
      global/tls.yaml:8 (global)
      not_before: 2020-01-01T00:00:00Z | 2020-01-01T00:00:00Z · not_after: 2026-06-01T00:00:00Z |
      2040-01-01T00:00:00Z
      in lab

3 values in 1 site, 1 of them secret
",
    );
}

#[test]
fn queries_of_the_configuration_have_names() {
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "layercake.yaml",
        "queries:
  servers:
    description: DNS servers
    from: [{schema: example/*, path: $.server}]
    columns: {all: $, none: $.none}
  releases:
    from: [{path: $.of}]
",
    );
    let list = sandbox.run(&["query"]);
    assert_text(
        &list.stdout,
        "\
certificates  Certificates, by subject, with their dates
images        Container images
releases      releases
servers       DNS servers
",
    );
    let servers = sandbox.run(&["query", "servers", "-o", "csv"]);
    assert_text(&servers.stdout.replace('\r', ""), "\
schema,name,path,deployed_by,sites,value,file,line,layer,all,none
example/Any/v1,dns,.server,,lab prod,10.0.0.1,type/small/dns.yaml,8,type,\"{\"\"server\"\":\"\"10.0.0.1\"\"}\",
");
    assert_eq!(
        sandbox.run(&["query", "releases", "--value", "lab"]).code,
        0
    );
    sandbox.write(
        "layercake.yaml",
        "queries: {a: {from: [{path: '$..a..b'}]}}\n",
    );
    let refused = sandbox.run(&["query", "a"]);
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("layercake.yaml:1:29: invalid path"),
        "{refused:?}"
    );
}

/// Keys that are not strings have no path of Deckhand, and a collection has what a substitution writes
/// into it.
#[test]
fn printed_places_can_be_explained() {
    let sandbox = Sandbox::with_sites();
    let substitution = "  substitutions:\n    - src: {schema: example/Any/v1, name: dns, path: .server}\n      dest: {path: .of.server}\n";
    let text = document("taker", "site", "{of: {1: {true: x}}, actions: {2: y}}");
    sandbox.write(
        "site/lab/taker.yaml",
        text.replace("\ndata:", &format!("\n{substitution}data:")),
    );
    let answer = sandbox
        .run(&["query", "$..*", "--name", "taker", "-o", "json"])
        .json();
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    for row in rows {
        for place in [&row["path"], &row["pointer"]] {
            let place = place.as_str().unwrap();
            let explained = sandbox
                .run(&["explain-value", "lab", "taker", place, "-o", "json"])
                .json();
            let way = &explained["sites"][0]["way"];
            assert_eq!(
                (&way["value"], &way["set_at"]),
                (&row["value"], &row["at"]),
                "{place}"
            );
        }
    }
}

#[test]
fn faults_are_said() {
    let sandbox = Sandbox::with_sites();
    for (arguments, code, expected) in [
        (&["query", "$.nothing"][..], 1, "0 values in 2 sites"),
        (
            &["query", "image"],
            2,
            "did you mean `images`?; a JSONPath starts with `$`",
        ),
        (
            &["query", "$.a["],
            2,
            "invalid path `$.a[`: syntax error at column 5",
        ),
        (
            &["query", "$[?@[?@ > 1]]"],
            2,
            "a filter directly after `@` is not supported",
        ),
        (
            &["query", "$", "--name", "nosuch"],
            2,
            "no rendered document has the name `nosuch`",
        ),
        (&["query", "$", "--value", "[z-a]"], 2, "invalid glob"),
        (&["query", "$", "--site", "nosuch"], 2, "nosuch"),
    ] {
        let ran = sandbox.run(arguments);
        assert_eq!(ran.code, code, "{ran:?}");
        assert!(
            format!("{}{}", ran.stdout, ran.stderr).contains(expected),
            "{ran:?}"
        );
    }
    sandbox.break_site("lab");
    let broken = sandbox.run(&["query", "$.server"]);
    assert_eq!(broken.code, 0, "{broken:?}");
    assert!(
        broken
            .stderr
            .contains("1 error; `layercake lint` shows them"),
        "{broken:?}"
    );
    let itself = "  substitutions:\n    - src: {schema: example/Any/v1, name: circle, path: .a}\n      dest: {path: .b}\n";
    let circle =
        document("circle", "site", "{a: 1}").replace("\ndata:", &format!("\n{itself}data:"));
    sandbox.write("site/lab/circle.yaml", circle);
    let unmade = sandbox.run(&["query", "$.server"]);
    assert_eq!(unmade.code, 1, "{unmade:?}");
    assert!(
        unmade
            .stderr
            .contains("`circle` (example/Any/v1) of site `lab` is not rendered"),
        "{unmade:?}"
    );
}

#[track_caller]
fn assert_text(actual: &str, expected: &str) {
    assert_eq!(actual, expected, "{actual}");
}
