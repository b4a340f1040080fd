//! From a text to what it names, overrides or is used by.

use std::fs;

use serde_json::{Value as Json, json};

use super::client::{Client, uri};
use super::findings::examples;
use crate::cli::{POLICY, Sandbox, definition, document};

/// Parameters of a question at the `|` in `around`, which is the first such text of the file.
pub fn place(sandbox: &Sandbox, file: &str, around: &str) -> Json {
    let path = sandbox.path(file);
    let text = fs::read_to_string(&path).unwrap();
    let (before, behind) = around.split_once('|').expect("a cursor");
    let at = text.find(&format!("{before}{behind}")).expect(around) + before.len();
    let line_start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    json!({
        "textDocument": {"uri": uri(&path)},
        "position": {
            "line": text[..at].matches('\n').count(),
            "character": at - line_start,
        },
    })
}

/// A range with its file, as `FILE:LINE:TEXT`.
pub fn shown(sandbox: &Sandbox, address: &Json, range: &Json) -> String {
    let address = address.as_str().unwrap();
    let file = address.strip_prefix(&format!("{}/", uri(&sandbox.root)));
    let file = file.expect("a file of the repository");
    let text = fs::read_to_string(sandbox.path(file)).unwrap();
    let number = |pointer| usize::try_from(range.pointer(pointer).unwrap().as_u64().unwrap());
    let line = number("/start/line").unwrap();
    let start = number("/start/character").unwrap();
    let end = if number("/end/line").unwrap() == line {
        number("/end/character").unwrap()
    } else {
        usize::MAX
    };
    let text = text.lines().nth(line).unwrap_or_default();
    format!("{file}:{}:{}", line + 1, &text[start..end.min(text.len())])
}

fn locations(sandbox: &Sandbox, answer: &Json) -> Vec<String> {
    let list = answer.as_array().unwrap().iter();
    list.map(|it| shown(sandbox, &it["uri"], &it["range"]))
        .collect()
}

const DEFINITION: &str = "textDocument/definition";
const DECLARATION: &str = "textDocument/declaration";
const IMPLEMENTATION: &str = "textDocument/implementation";
const REFERENCES: &str = "textDocument/references";

/// Method, place, and the texts that the answer has.
const CASES: &[(&str, &str, &str, &[&str])] = &[
    // A selector: the parent.
    (
        DEFINITION,
        "site/north/charts/keystone.yaml",
        "name: keystone-|cloud",
        &["type/cloud/charts/keystone.yaml:5:keystone"],
    ),
    // A replacement: the replaced document.
    (
        DEFINITION,
        "site/north/charts/keystone.yaml",
        "replacement: tr|ue",
        &["type/cloud/charts/keystone.yaml:5:keystone"],
    ),
    // A source of a substitution: its document and value, in each site.
    (
        DEFINITION,
        "global/charts/keystone.yaml",
        "path: .images.|keystone",
        &[
            "global/config/software-versions.yaml:6:software-versions",
            "global/config/software-versions.yaml:22:registry.example.org/keystone:2025.1-ubuntu_noble",
            "site/west/config/software-versions.yaml:6:software-versions",
            "site/west/config/software-versions.yaml:19:registry.example.org/keystone:2024.2-ubuntu_jammy",
        ],
    ),
    // A schema: its DataSchema.
    (
        DEFINITION,
        "site/west/config/software-versions.yaml",
        "schema: pegleg/|SoftwareVersions/v1",
        &["global/schemas/software-versions.yaml:6:pegleg/SoftwareVersions/v1"],
    ),
    // A layer: the policy.
    (
        DEFINITION,
        "type/cloud/charts/keystone.yaml",
        "layer: ty|pe",
        &["global/layering-policy.yaml:6:layering-policy"],
    ),
    // A chart of a group, in each site.
    (
        DEFINITION,
        "global/charts/chart-group.yaml",
        "- keyst|one",
        &[
            "site/lab/charts/keystone.yaml:5:keystone",
            "site/north/charts/keystone.yaml:7:keystone",
            "type/cloud/charts/keystone.yaml:5:keystone",
        ],
    ),
    // The type of a site: its files.
    (
        DEFINITION,
        "site/west/site-definition.yaml",
        "site_type: cl|oud",
        &[
            "type/cloud/charts/keystone.yaml:1:",
            "type/cloud/config/endpoints.yaml:1:",
        ],
    ),
    // A value: the text that wins, in each site.
    (
        DEFINITION,
        "type/cloud/charts/keystone.yaml",
        "api: |3",
        &[
            "site/north/charts/keystone.yaml:22:5",
            "type/cloud/charts/keystone.yaml:21:3",
        ],
    ),
    // A value: the texts that it overrides.
    (
        DECLARATION,
        "type/cloud/charts/keystone.yaml",
        "api: |3",
        &["global/charts/keystone.yaml:67:1"],
    ),
    (
        DECLARATION,
        "site/north/charts/keystone.yaml",
        "api: |5",
        &[
            "global/charts/keystone.yaml:67:1",
            "type/cloud/charts/keystone.yaml:21:3",
        ],
    ),
    // Without a value, as a definition.
    (
        DECLARATION,
        "site/north/charts/keystone.yaml",
        "name: keystone-|cloud",
        &["type/cloud/charts/keystone.yaml:5:keystone"],
    ),
    // A value: the texts that shield others from it.
    (
        IMPLEMENTATION,
        "type/cloud/charts/keystone.yaml",
        "api: |3",
        &["site/north/charts/keystone.yaml:22:5"],
    ),
    // A document: its children.
    (
        IMPLEMENTATION,
        "global/charts/keystone.yaml",
        "name: |keystone-global",
        &["type/cloud/charts/keystone.yaml:5:keystone"],
    ),
    // A label: the selectors that match it.
    (
        REFERENCES,
        "type/cloud/charts/keystone.yaml",
        "name: keystone-cl|oud",
        &["site/north/charts/keystone.yaml:13:name: keystone-cloud"],
    ),
    // A value: the substitutions that read it or a part of it.
    (
        REFERENCES,
        "global/config/software-versions.yaml",
        "keystone: registry.example.org/|keystone",
        &["global/charts/keystone.yaml:21:schema: pegleg/SoftwareVersions/v1"],
    ),
    // A value that nothing reads.
    (
        REFERENCES,
        "global/config/software-versions.yaml",
        "horizon: registry.example.org/|horizon",
        &[],
    ),
    // A document: all texts that name it.
    (
        REFERENCES,
        "global/charts/horizon.yaml",
        "name: |horizon",
        &[
            "global/charts/chart-group.yaml:15:horizon",
            "site/south/charts/horizon.yaml:6:replacement: true",
        ],
    ),
];

#[test]
fn questions_lead_to_the_texts_that_answer_them() {
    let sandbox = examples();
    let (mut client, _) = Client::start(&[&sandbox.root], json!(["utf-8"]));
    let mut wrong = Vec::new();
    for (method, file, around, expected) in CASES {
        let mut at = place(&sandbox, file, around);
        at["context"] = json!({"includeDeclaration": false});
        let answer = client.request(method, at).unwrap();
        let found = locations(&sandbox, &answer);
        if found != *expected {
            wrong.push(format!("{method} {file} {around}: {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A source document in a clone: its file if the checkout is read, and a read-only text without secrets if
/// the site pins a commit. So are the findings there.
#[test]
fn texts_of_further_repositories_can_be_opened() {
    let [sites, global] = [(); 2].map(|()| Sandbox::new());
    global.write("global/policy.yaml", POLICY);
    let secret = document("key", "global", "hidden-value").replace("cleartext", "encrypted");
    let source = document("source", "global", "{a: 1, b: 2, b: 3}");
    global.write("global/source.yaml", format!("{source}{secret}"));
    global.commit();
    global.git(&["tag", "v1"]);
    sites.write("type/small/any.yaml", document("any", "type", "{}"));
    let substitution = "  substitutions:\n    - src: {schema: example/Any/v1, name: source, path: .a}\n\
                        \x20     dest: {path: .a}\n";
    let user = document("user", "site", "{}").replace("\ndata:", &format!("\n{substitution}data:"));
    sites.write("site/lab/user.yaml", user);
    let url = "https://git.example.org/global.git";
    let define = |pin: &str| {
        let more = format!("  repositories:\n    global:\n      url: {url}\n{pin}");
        sites.write("site/lab/site-definition.yaml", definition("lab", &more));
    };
    let path = global.root.display();
    sites.write(
        "layercake.yaml",
        format!("repositories:\n  global: {{path: '{path}', url: '{url}'}}\n"),
    );

    let defined = |client: &mut Client| -> String {
        let at = place(&sites, "site/lab/user.yaml", "path: .|a");
        let found = client.request(DEFINITION, at).unwrap();
        // The document, and the value.
        let [document, value] = &found.as_array().unwrap()[..] else {
            panic!("{found}");
        };
        let start = json!({"line": 7, "character": 10});
        assert_eq!(value["range"]["start"], start);
        assert_eq!(value["uri"], document["uri"]);
        value["uri"].as_str().unwrap().to_owned()
    };
    let has_finding = |client: &mut Client, address: &str| {
        client.wait(address, |client| {
            let found = client.published.get(address);
            found.is_some_and(|it| it[0]["code"] == "duplicate-key")
        });
    };

    define("");
    let (mut client, _) = Client::start(&[&sites.root], json!(["utf-8"]));
    let address = defined(&mut client);
    assert_eq!(address, uri(&global.path("global/source.yaml")));
    has_finding(&mut client, &address);
    drop(client);

    define("      revision: v1\n");
    global.write("global/source.yaml", "");
    let (mut client, _) = Client::start(&[&sites.root], json!(["utf-8"]));
    let address = defined(&mut client);
    assert!(address.starts_with("layercake:/"), "{address}");
    has_finding(&mut client, &address);
    let content = client
        .request("workspace/textDocumentContent", json!({"uri": address}))
        .unwrap();
    let text = format!("{source}{secret}").replace("hidden-value", "************");
    assert_eq!(content["text"], text);
}
