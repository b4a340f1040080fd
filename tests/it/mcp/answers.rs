//! Answers have everything that the command line prints as JSON.

use serde_json::{Value as Json, json};

use super::client::{Whole, page, whole};
use crate::cli::secrets::{CANARY, Secrets, faulty, sound};
use crate::cli::{POLICY, Sandbox, definition, document};
use crate::server::findings::examples;

/// The example with a commit, an edit, and a document that cannot be rendered.
fn edited() -> Sandbox {
    let sandbox = examples();
    sandbox.commit();
    let file = "global/config/software-versions.yaml";
    let text = std::fs::read_to_string(sandbox.path(file)).unwrap();
    sandbox.write(file, text.replace("keystone:2025.1", "keystone:2025.2"));
    sandbox.write("site/lab/new.yaml", crate::cli::broken());
    sandbox
}

/// What the command line prints as JSON.
fn run_json(sandbox: &Sandbox, arguments: &[&str]) -> Json {
    serde_json::from_str(&sandbox.run(arguments).stdout).unwrap()
}

/// Items of a list that the command line prints, without fields that entries do not have.
fn items(printed: &Json, name: &str) -> Vec<Json> {
    let mut items = printed[name].as_array().unwrap().clone();
    for item in &mut items {
        without(item);
    }
    items
}

fn without(item: &mut Json) {
    let fields = item.as_object_mut().unwrap();
    for name in ["id", "fingerprint"] {
        fields.remove(name);
    }
    // Source lines are left out.
    for place in ["primary", "related"] {
        match fields.get_mut(place) {
            Some(Json::Array(places)) => places.iter_mut().for_each(|it| it["text"] = Json::Null),
            Some(place) => place["text"] = Json::Null,
            None => {}
        }
    }
}

/// Checks an answer about a report.
fn check_report(answer: &Whole, printed: &Json) {
    for fact in ["verdict", "totals", "semantics", "truncated"] {
        assert_eq!(answer.facts[fact], printed[fact], "{fact}");
    }
    for (name, kind) in [
        ("findings", "finding"),
        ("edits", "edit"),
        ("shields", "shield"),
        ("groups", "group"),
        ("outputs", "output"),
        ("sites", "site"),
    ] {
        assert_eq!(answer.of(kind), items(printed, name), "{name}");
    }
    let consequences = printed
        .get("consequences")
        .map(|_| items(printed, "consequences"));
    assert_eq!(answer.of("consequence"), consequences.unwrap_or_default());
    let about = &answer.of("about")[0];
    for field in ["repository", "comparison"] {
        assert_eq!(about[field], printed[field], "{field}");
    }
    let mut listed: Vec<&Json> = Vec::new();
    for entry in &answer.entries {
        for set in ["sites", "route"] {
            if entry["entry"] == set {
                listed.push(&entry["id"]);
            }
        }
        let referred = entry["sites"]
            .as_str()
            .filter(|_| entry["entry"] != "sites");
        if let Some(set) = referred {
            assert!(listed.contains(&&json!(set)), "{set} precedes {entry}");
        }
    }
}

#[test]
fn changes_are_those_of_lint_since() {
    let sandbox = edited();
    let answer = whole(&sandbox, "changes", &json!({"since": "HEAD"}));
    let printed = run_json(&sandbox, &["lint", "--since", "HEAD", "-o", "json"]);
    check_report(&answer, &printed);
    assert_eq!(answer.facts["gaps"], json!([]));
    assert_eq!(answer.of("finding").len(), 1);
    assert!(answer.of("output").len() > 2, "{answer:#?}");
    let sets = answer
        .entries
        .iter()
        .filter(|entry| entry["entry"] == "sites");
    for set in sets {
        let listed = printed["site_sets"].as_array().unwrap().iter();
        let named = listed.clone().find(|it| it["id"] == set["id"]).unwrap()["sites"].as_array();
        let names: Vec<&Json> = named
            .unwrap()
            .iter()
            .map(|at| &printed["sites"][usize::try_from(at.as_u64().unwrap()).unwrap()]["name"])
            .collect();
        assert_eq!(set["untrusted"]["sites"], json!(names));
    }
    // In one site, the answer is limited.
    let limited = whole(
        &sandbox,
        "changes",
        &json!({"since": "HEAD", "site": "lab"}),
    );
    let flags = ["lint", "--since", "HEAD", "--site", "lab", "-o", "json"];
    let printed = run_json(&sandbox, &flags);
    check_report(&limited, &printed);
    assert_eq!(limited.facts["gaps"], json!(["limited"]));
}

#[test]
fn findings_are_those_of_lint() {
    let sandbox = edited();
    for (arguments, flags) in [
        (json!({}), vec![]),
        (json!({"site": "north"}), vec!["--site", "north"]),
        (
            json!({"rule": "missing-source"}),
            vec!["--select", "missing-source"],
        ),
        (json!({"file": "site/lab"}), vec!["site/lab"]),
        (
            json!({"file": "site/lab/new.yaml", "rule": "missing-source", "site": "lab"}),
            vec![
                "site/lab/new.yaml",
                "--select",
                "missing-source",
                "--site",
                "lab",
            ],
        ),
    ] {
        let answer = whole(&sandbox, "findings", &arguments);
        let printed = run_json(&sandbox, &[&["lint", "-o", "json"], &*flags].concat());
        check_report(&answer, &printed);
        let gaps = answer.facts["gaps"].as_array().unwrap();
        assert!(gaps.contains(&json!("not_compared")), "{gaps:?}");
        let is_limited = flags
            .iter()
            .any(|flag| *flag == "--site" || flag.contains('/'));
        assert_eq!(gaps.contains(&json!("limited")), is_limited, "{flags:?}");
        assert!(!answer.of("finding").is_empty(), "{flags:?}");
    }
}

#[test]
fn impact_is_that_of_the_verb() {
    let sandbox = edited();
    for place in [
        "global/config/software-versions.yaml:22",
        "global/charts/keystone.yaml",
        "site/west/config/software-versions.yaml:19",
    ] {
        let answer = whole(&sandbox, "impact", &json!({"place": place}));
        let printed = run_json(&sandbox, &["impact", place, "-o", "json"]);
        for fact in ["outputs_reached", "sites_reached"] {
            assert_eq!(answer.facts[fact], printed[fact], "{place}");
        }
        for (name, kind) in [
            ("texts", "text"),
            ("outputs", "output"),
            ("stops", "shield"),
        ] {
            assert_eq!(answer.of(kind), items(&printed, name), "{place}: {name}");
        }
        assert_eq!(answer.of("about")[0]["place"], place);
    }
    let missing = page(&sandbox, "impact", &json!({"place": "README.md:1"})).unwrap_err();
    assert_eq!(missing["error"], "usage");
    assert_eq!(
        missing["untrusted"]["message"],
        "no site reads `README.md:1`"
    );
}

#[test]
fn values_are_those_of_explain_value() {
    let sandbox = edited();
    let path = ".values.pod.replicas.api";
    let arguments = json!({"name": "keystone", "path": path});
    let flags = [
        "explain-value",
        "--all-sites",
        "keystone",
        path,
        "-o",
        "json",
    ];
    let answer = whole(&sandbox, "explain_value", &arguments);
    let printed = run_json(&sandbox, &flags);
    assert_eq!(answer.of("value"), items(&printed, "sites"));
    assert_eq!(answer.of("value").len(), 4);
    let arguments = json!({
        "site": "north", "schema": "armada/Chart/v1", "name": "keystone", "path": path,
    });
    let flags = [
        "explain-value",
        "north",
        "armada/Chart/v1",
        "keystone",
        path,
        "-o",
        "json",
    ];
    let answer = whole(&sandbox, "explain_value", &arguments);
    assert_eq!(
        answer.of("value"),
        items(&run_json(&sandbox, &flags), "sites")
    );
    let wrong = json!({"site": "nroth", "name": "keystone", "path": path});
    let error = page(&sandbox, "explain_value", &wrong).unwrap_err();
    assert_eq!(error["untrusted"]["help"], "did you mean `north`?");
}

/// Numbers have all of their digits.
#[test]
fn documents_are_those_of_render() {
    let sandbox = edited();
    let number = "123456789012345678901234567890";
    let text = document(
        "numbers",
        "site",
        &format!("{{a: {number}, b: 0.10, c: 1e400}}"),
    );
    sandbox.write("site/lab/numbers.yaml", text);
    let answer = whole(&sandbox, "render", &json!({"site": "lab"}));
    let printed = run_json(&sandbox, &["render", "--site", "lab", "-o", "json"]);
    let mut documents = items(&printed["sites"][0], "documents");
    for document in &mut documents {
        document["site"] = "lab".into();
    }
    assert!(documents.len() > 8);
    assert_eq!(answer.of("document"), documents);
    let one = json!({"site": "lab", "name": "numbers", "path": ".a"});
    let message = super::client::answered(&sandbox, &[super::client::call(1, "render", &one)]);
    let text = message[0]["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains(&format!(r#""data":{{"a":{number}}}"#)),
        "{text}"
    );
    // A document with a fault, and a site without a definition.
    let cycle = |name: &str, other: &str| {
        let text = crate::cli::broken().replace("name: broken", &format!("name: {name}"));
        text.replace("name: nowhere", &format!("name: {other}"))
    };
    sandbox.write(
        "site/lab/cycle.yaml",
        cycle("one", "two") + &cycle("two", "one"),
    );
    let answer = whole(&sandbox, "render", &json!({"site": "lab", "name": "one"}));
    assert_eq!(answer.facts["gaps"], json!(["not_rendered"]));
    assert_eq!(answer.of("not_rendered")[0]["name"], "one");
}

#[test]
fn commits_are_those_of_blame() {
    let sandbox = edited();
    let printed =
        |words: &[&str]| run_json(&sandbox, &[&["blame"], words, &["-o", "json"]].concat());
    let commits = |printed: &Json| {
        let mut commits = printed["commits"].as_array().unwrap().clone();
        for commit in &mut commits {
            let hash = commit["id"].clone();
            without(commit);
            commit["hash"] = hash;
        }
        commits
    };
    let answer = whole(
        &sandbox,
        "blame",
        &json!({"site": "north", "name": "keystone"}),
    );
    let expected = printed(&["north", "keystone"]);
    assert_eq!(answer.of("commit"), commits(&expected));
    assert_eq!(answer.of("commit").len(), 2);
    assert_eq!(answer.of("output"), items(&expected, "outputs"));
    let path = ".values.images.tags.api";
    let arguments = json!({"site": "north", "name": "keystone", "path": path});
    let answer = whole(&sandbox, "blame", &arguments);
    let expected = printed(&["north", "keystone", path]);
    assert_eq!(answer.of("commit"), commits(&expected));
    assert_eq!(answer.of("step"), items(&expected["value"], "history"));
    assert_eq!(answer.of("value")[0]["value"], expected["value"]["value"]);
    let without_name = page(&sandbox, "blame", &json!({"site": "north", "path": path}));
    assert_eq!(without_name.unwrap_err()["error"], "usage");
}

/// Files that cannot be read are named, and the answer is not complete.
#[test]
fn unread_files_are_a_gap() {
    let sandbox = edited();
    sandbox.write("site/north/half.yaml", "---\nschema: [\n");
    for (tool, arguments) in [
        ("render", json!({"site": "north"})),
        ("impact", json!({"place": "global/charts/keystone.yaml"})),
        (
            "explain_value",
            json!({"name": "keystone", "path": ".release"}),
        ),
    ] {
        let answer = whole(&sandbox, tool, &arguments);
        let gaps = answer.facts["gaps"].as_array().unwrap();
        assert!(gaps.contains(&json!("unread")), "{tool}: {gaps:?}");
        let place = &answer.of("unread")[0]["place"];
        assert!(
            place.as_str().unwrap().starts_with("site/north/half.yaml:"),
            "{place}"
        );
    }
}

/// An answer is about the present files.
#[test]
fn changes_of_files_are_seen_by_the_next_call() {
    let sandbox = Sandbox::with_sites();
    let count = || whole(&sandbox, "findings", &json!({})).of("finding").len();
    let before = count();
    sandbox.break_site("lab");
    assert_eq!(count(), before + 1);
    std::fs::remove_file(sandbox.path("site/lab/broken.yaml")).unwrap();
    assert_eq!(count(), before);
}

#[test]
fn no_answer_has_a_secret() {
    let secrets = Secrets { padding: "x" };
    let sandbox = Sandbox::new();
    sandbox.write("global/policy.yaml", POLICY);
    sandbox.write("site/lab/site-definition.yaml", definition("lab", ""));
    for (name, text) in sound(&secrets) {
        sandbox.write(&format!("site/lab/secrets/{name}"), text);
    }
    sandbox.commit();
    for (name, text) in faulty(&secrets) {
        sandbox.write(&format!("site/lab/secrets/{name}"), text);
    }
    let other = Secrets { padding: "other" };
    for (name, text) in sound(&other) {
        sandbox.write(&format!("site/lab/secrets/{name}"), text);
    }
    let mut questions = vec![
        ("changes", json!({"since": "HEAD"})),
        ("findings", json!({})),
        ("render", json!({"site": "lab"})),
        ("blame", json!({"site": "lab"})),
        ("impact", json!({"place": "site/lab/secrets/mapping.yaml"})),
        (
            "impact",
            json!({"place": "site/lab/secrets/encrypted.yaml:8"}),
        ),
    ];
    for (name, path) in [
        ("taker", ".url"),
        ("mapping", "."),
        ("encrypted", "."),
        ("child", "."),
    ] {
        questions.push(("explain_value", json!({"name": name, "path": path})));
        let arguments = json!({"site": "lab", "name": name, "path": path});
        questions.push(("explain_value", arguments.clone()));
        questions.push(("blame", arguments));
    }
    let mut answers = 0;
    for (tool, arguments) in questions {
        let printed = match page(&sandbox, tool, &arguments) {
            Ok(_) => {
                answers += 1;
                format!("{:?}", whole(&sandbox, tool, &arguments))
            }
            Err(error) => error.to_string(),
        };
        assert!(!printed.contains(CANARY), "{tool} {arguments}: {printed}");
    }
    assert!(answers > 10, "{answers}");
}
