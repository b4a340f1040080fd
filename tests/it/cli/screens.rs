//! A change fits on one screen whatever its size: lines of the terminal at 80 columns and bytes of
//! the comment are bounded, and the cause comes first.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{POLICY, Ran, Sandbox, definition, document, formats};

/// Maximum number of lines of the terminal, and of bytes of the comment.
pub struct Budget {
    pub lines: usize,
    pub comment: usize,
}

pub const USUAL: Budget = Budget {
    lines: 40,
    comment: 8_000,
};

/// With errors, which are shown with their source lines.
pub const ERRORS: Budget = Budget { lines: 55, ..USUAL };

/// Output of a command in every format.
pub struct Screens {
    ran: Ran,
    by_format: BTreeMap<&'static str, String>,
}

impl Screens {
    /// Asserts the budget, and that `cause` is in the first lines of terminal and comment.
    #[track_caller]
    pub fn of(sandbox: &Sandbox, budget: &Budget, cause: &str) -> Self {
        let screens = Self::of_command(
            sandbox,
            &["lint", "--since", "HEAD", "--ignore", "certificates"],
            budget,
        );
        let comment = &screens["comment"];
        let first: Vec<&str> = comment.lines().take(15).collect();
        assert!(
            first.join("\n").contains(cause),
            "`{cause}` comes too late:\n{comment}"
        );
        screens
    }

    /// Output of a command; asserts the budget.
    #[track_caller]
    pub fn of_command(sandbox: &Sandbox, command: &[&str], budget: &Budget) -> Self {
        let folder = sandbox.beside("screens");
        std::fs::create_dir_all(&folder).unwrap();
        let outputs = formats().filter(|it| *it != "full");
        let outputs: Vec<String> = outputs
            .map(|format| format!("-o{format}={}", folder.join(format).display()))
            .chain(["-ofull".to_owned()])
            .collect();
        let arguments = command.iter().copied();
        let arguments: Vec<&str> = arguments
            .chain(outputs.iter().map(String::as_str))
            .collect();
        let output = sandbox
            .command(&arguments)
            .env("COLUMNS", "80")
            .output()
            .unwrap();
        let ran = Ran::of(&output);
        let read = |format: &str| std::fs::read_to_string(folder.join(format)).unwrap();
        let mut by_format: BTreeMap<&str, String> = formats()
            .filter(|it| *it != "full")
            .map(|format| (format, read(format)))
            .collect();
        by_format.insert("full", ran.stdout.clone());
        let screens = Self { ran, by_format };
        let (full, comment) = (&screens["full"], &screens["comment"]);
        assert!(
            full.lines().count() <= budget.lines,
            "{}:\n{full}",
            full.lines().count()
        );
        assert!(
            comment.len() <= budget.comment,
            "{}:\n{comment}",
            comment.len()
        );
        screens.assert_totals();
        screens
    }

    pub fn json(&self) -> Json {
        serde_json::from_str(&self["json"]).unwrap()
    }

    /// Asserts that each format has the totals of the report.
    fn assert_totals(&self) {
        let totals = self.json()["totals"].clone();
        let changed = totals["changed_outputs"].as_u64().unwrap();
        if changed > 0 {
            for format in ["full", "concise", "markdown", "comment", "html"] {
                let says = format!("{changed} of ");
                assert!(
                    self[format].contains(&says),
                    "-o {format}: {says}\n{}",
                    self[format]
                );
            }
        }
        let errors = totals["findings"]["errors"].as_u64().unwrap();
        if errors > 0 {
            let is_first = self.json()["comparison"]["base"]["kind"] == "nothing";
            let new = if is_first { "" } else { "new " };
            let word = counted(errors, &format!("{new}error"));
            for format in ["full", "concise", "markdown", "comment", "html"] {
                assert!(
                    self[format].contains(&word),
                    "-o {format}: {word}\n{}",
                    self[format]
                );
            }
        }
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

impl std::ops::Index<&str> for Screens {
    type Output = String;

    fn index(&self, format: &str) -> &String {
        &self.by_format[format]
    }
}

/// A document of `global` that substitutes the value at `path` of `versions`.
fn reader(name: &str, path: &str) -> String {
    let substitutions = format!(
        "  substitutions:\n    - src: {{schema: example/Any/v1, name: versions, path: {path}}}\n      \
         dest: {{path: .version}}\n"
    );
    document(name, "global", "{}").replace("\ndata:", &format!("\n{substitutions}data:"))
}

fn images(count: usize, tag: &str) -> String {
    (0..count)
        .map(|at| format!("\n  image{at}: example.org/entrypoint:{tag}"))
        .collect()
}

/// Sites of two types whose documents substitute many images from one document of `global`.
fn with_images(sites: usize, count: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("global/policy.yaml", POLICY);
    sandbox.write("type/small/any.yaml", document("any", "type", "{}"));
    sandbox.write(
        "global/versions.yaml",
        document("versions", "global", &images(count, "1.0")),
    );
    let readers: String = (0..count)
        .map(|at| reader(&format!("chart-{at}"), &format!(".image{at}")))
        .collect();
    sandbox.write("global/charts.yaml", readers);
    for site in 0..sites {
        let name = format!("site-{site:04}");
        sandbox.write(
            &format!("site/{name}/site-definition.yaml"),
            definition(&name, ""),
        );
    }
    sandbox.commit();
    sandbox
}

#[test]
fn one_image_in_many_places_is_one_entry() {
    let sandbox = with_images(6, 48);
    sandbox.write(
        "global/versions.yaml",
        document("versions", "global", &images(48, "2.0")),
    );
    let budget = Budget { lines: 60, ..USUAL };
    let screens = Screens::of(&sandbox, &budget, "entrypoint:2.0");
    let full = &screens["full"];
    assert_eq!(full.matches("entrypoint:1.0").count(), 1, "{full}");
    assert!(full.contains("edits 1–48  global/versions.yaml"), "{full}");
    assert!(
        full.contains("reaches 294 outputs in all 6 sites"),
        "{full}"
    );
    assert!(full.contains("… 46 more places (-v)"), "{full}");
    let notices = screens["github"]
        .lines()
        .filter(|it| it.starts_with("::notice "))
        .count();
    assert_eq!(notices, 1, "{}", screens["github"]);
    assert!(
        screens["github"].contains("entrypoint:1.0"),
        "{}",
        screens["github"]
    );
}

#[test]
fn one_edit_in_a_thousand_sites_fits_a_screen() {
    let sandbox = with_images(1_000, 3);
    let one = document(
        "versions",
        "global",
        &images(3, "1.0").replacen("1.0", "2.0", 1),
    );
    sandbox.write("global/versions.yaml", one);
    let screens = Screens::of(&sandbox, &USUAL, "entrypoint:2.0");
    let full = &screens["full"];
    assert!(
        full.contains("2000 of 7000 outputs changed in all 1000 sites"),
        "{full}"
    );
    assert!(full.contains("in all 1000 sites"), "{full}");
    let names = full.matches("site-0").count();
    assert!(names < 5, "{names} sites are named:\n{full}");
    for format in ["markdown", "html", "json"] {
        assert!(
            screens[format].len() < 300_000,
            "-o {format}: {}",
            screens[format].len()
        );
    }
}

#[test]
fn changed_action_lists_what_it_removes() {
    let sandbox = Sandbox::with_sites();
    let values: String = (0..13)
        .map(|at| format!("\n    key{at}: {{a: 1}}"))
        .collect();
    let parent = document("parent", "global", &format!("\n  values:{values}"));
    let parent = parent.replace("  storagePolicy", "  labels: {of: parent}\n  storagePolicy");
    sandbox.write("global/parent.yaml", parent);
    let child = |method: &str| {
        let selector = format!(
            "layer: site, parentSelector: {{of: parent}}, actions: [{{method: {method}, path: .}}]}}"
        );
        document("child", "site", "\n  values:\n    own: 1").replace("layer: site}", &selector)
    };
    sandbox.write("site/lab/child.yaml", child("merge"));
    sandbox.commit();
    sandbox.write("site/lab/child.yaml", child("replace"));
    let screens = Screens::of(&sandbox, &USUAL, "replace");
    let full = &screens["full"];
    assert!(full.contains("- .values.key0: a: 1"), "{full}");
    assert!(full.contains("… 5 more places (-v)"), "{full}");
}

#[test]
fn renamed_label_is_one_cause() {
    let sandbox = Sandbox::with_sites();
    let parent = |label: &str| {
        let labels = format!("  labels: {{of: {label}}}\n  storagePolicy");
        document("parent", "global", "{a: 1}").replace("  storagePolicy", &labels)
    };
    sandbox.write("global/parent.yaml", parent("parent"));
    for site in ["lab", "prod"] {
        for child in 0..5 {
            let name = format!("child-{child}");
            let selector =
                "layer: site, parentSelector: {of: parent}, actions: [{method: merge, path: .}]}";
            let child = document(&name, "site", "{b: 1}").replace("layer: site}", selector);
            sandbox.write(&format!("site/{site}/{name}.yaml"), child);
        }
    }
    sandbox.commit();
    sandbox.write("global/parent.yaml", parent("other"));
    let screens = Screens::of(&sandbox, &ERRORS, "missing-parent");
    let errors = screens.json()["totals"]["findings"]["errors"]
        .as_u64()
        .unwrap();
    assert_eq!(errors, 1, "{}", screens["full"]);
    assert!(
        screens["full"].contains("FAIL  1 new error"),
        "{}",
        screens["full"]
    );
}

#[test]
fn schema_that_breaks_many_documents_is_one_error_with_all_places() {
    let sandbox = Sandbox::with_sites();
    let schema = |limit: usize| {
        format!(
            "---\nschema: deckhand/DataSchema/v1\nmetadata: {{schema: metadata/Control/v1, name: \
             example/Any/v1}}\ndata:\n  $schema: http://json-schema.org/schema#\n  type: object\n  \
             properties: {{name: {{type: string, maxLength: {limit}}}}}\n"
        )
    };
    sandbox.write("global/schema.yaml", schema(80));
    for at in 0..22 {
        let name = format!("document-{at}");
        let data = format!("{{name: a-name-of-22-letters-{at:02}}}");
        sandbox.write(
            &format!("global/{name}.yaml"),
            document(&name, "global", &data),
        );
    }
    sandbox.commit();
    sandbox.write("global/schema.yaml", schema(20));
    let screens = Screens::of(&sandbox, &ERRORS, "schema-violation");
    let (full, totals) = (&screens["full"], &screens.json()["totals"]);
    assert_eq!(totals["findings"]["errors"], 1, "{full}");
    let error = "FAIL  1 new error: 22 documents: `.name` has 23 characters, at most 20";
    assert!(full.starts_with(error), "{full}");
    assert!(full.contains("and 19 more"), "{full}");
    let each = sandbox
        .run(&["lint", "--since", "HEAD", "--all-findings", "-o", "json"])
        .json();
    assert_eq!(each["totals"]["findings"]["errors"], 22, "{full}");
}

#[test]
fn missing_source_is_one_error_with_all_places() {
    let sandbox = Sandbox::with_sites();
    sandbox.write(
        "global/versions.yaml",
        document("versions", "global", "{a: 1}"),
    );
    let readers: String = (0..16)
        .map(|at| reader(&format!("reader-{at}"), ".a"))
        .collect();
    sandbox.write("global/readers.yaml", readers);
    sandbox.commit();
    std::fs::remove_file(sandbox.path("global/versions.yaml")).unwrap();
    let screens = Screens::of(&sandbox, &ERRORS, "missing-source");
    let errors = screens.json()["totals"]["findings"]["errors"]
        .as_u64()
        .unwrap();
    assert_eq!(errors, 1, "{}", screens["full"]);
    assert!(
        screens["full"].contains("16 substitutions"),
        "{}",
        screens["full"]
    );
    assert_eq!(screens.ran.code, 1);
}

#[test]
fn merge_conflict_is_the_only_finding_of_its_file() {
    let sandbox = with_images(6, 48);
    let ours = document("versions", "global", &images(48, "1.0"));
    let conflict = "  image0: a\n=======\n  image0: b\n>>>>>>> other\n";
    let text = ours.replacen("  image0", &format!("<<<<<<< HEAD\n{conflict}  image0"), 1);
    sandbox.write("global/versions.yaml", text);
    let screens = Screens::of(&sandbox, &USUAL, "merge conflict");
    let full = &screens["full"];
    assert!(
        full.starts_with("FAIL  1 new error: invalid YAML: merge conflict\n"),
        "{full}"
    );
    assert!(full.contains("none of 6 sites can be deployed"), "{full}");
    assert_eq!(full.matches("error[").count(), 1, "{full}");
    assert_eq!(screens.json()["totals"]["by_status"]["removed"], 0);
    assert_eq!(screens.ran.code, 1);
    let annotations = screens["github"].matches("::error ").count();
    assert_eq!(annotations, 1, "{}", screens["github"]);
}

#[test]
fn new_site_is_one_row() {
    let sandbox = with_images(6, 48);
    sandbox.write("site/harbor/site-definition.yaml", definition("harbor", ""));
    let owned: String = (0..30)
        .map(|at| document(&format!("own-{at}"), "site", "{a: 1}"))
        .collect();
    sandbox.write("site/harbor/own.yaml", owned);
    let screens = Screens::of(&sandbox, &USUAL, "site harbor of type small added");
    let full = &screens["full"];
    assert!(full.contains("site harbor of type small added"), "{full}");
    assert!(
        full.contains("82 outputs added in harbor\n      80 × example/Any/v1"),
        "{full}"
    );
    assert_eq!(screens.json()["edits"].as_array().unwrap().len(), 1);
    assert!(
        full.contains("82 of 394 outputs added in 1 of 7 sites"),
        "{full}"
    );
    assert!(screens["html"].len() < 300_000, "{}", screens["html"].len());
}

#[test]
fn removed_site_is_one_row() {
    let sandbox = with_images(6, 48);
    std::fs::remove_dir_all(sandbox.path("site/site-0003")).unwrap();
    let screens = Screens::of(&sandbox, &USUAL, "site site-0003 of type small removed");
    let full = &screens["full"];
    assert!(
        full.contains("52 of 312 outputs removed in 1 of 6 sites"),
        "{full}"
    );
    assert!(
        full.contains("52 outputs removed in site-0003\n      50 × example/Any/v1"),
        "{full}"
    );
    assert_eq!(screens.json()["edits"].as_array().unwrap().len(), 1);
}

#[test]
fn first_commit_is_reported_as_the_present_state() {
    let sandbox = with_images(6, 48);
    sandbox.git(&["checkout", "--quiet", "--orphan", "first"]);
    let screens = Screens::of_command(&sandbox, &["lint", "--staged"], &USUAL);
    let full = &screens["full"];
    let verdict = "PASS  no base to compare with: the current state is checked";
    assert!(full.starts_with(verdict), "{full}");
    let report = screens.json();
    for list in ["edits", "outputs", "groups"] {
        assert_eq!(report[list].as_array().unwrap().len(), 0, "{list}");
    }
    assert_eq!(screens.ran.code, 0);
}

#[test]
fn reordered_list_and_renamed_document_are_an_entry_each() {
    let sandbox = Sandbox::with_sites();
    let list = |names: [&str; 3]| {
        let items = names.map(|name| format!("\n    - {{name: {name}, value: 1}}"));
        document("listed", "global", &format!("\n  env:{}", items.concat()))
    };
    let named =
        |name: &str, b: u32| document(name, "global", &format!("{{a: 1, b: {b}, c: [1, 2]}}"));
    sandbox.write("global/listed.yaml", list(["A", "B", "C"]));
    sandbox.write("global/named.yaml", named("app-abc", 2));
    sandbox.commit();
    sandbox.write("global/listed.yaml", list(["C", "A", "B"]));
    sandbox.write("global/named.yaml", named("app-def", 3));
    let screens = Screens::of(&sandbox, &USUAL, "app-def");
    let full = &screens["full"];
    assert!(full.contains(".env (order changed)"), "{full}");
    assert!(full.contains("- A, B, C\n  + C, A, B\n"), "{full}");
    assert!(full.contains("app-def (renamed from app-abc)"), "{full}");
    assert!(!full.contains(" removed"), "{full}");
}

#[test]
fn renamed_key_is_one_entry() {
    let sandbox = Sandbox::with_sites();
    let with_key = |key: &str| document("named", "global", &format!("{{{key}: {{b: 1, c: 2}}}}"));
    let encrypted = |text: String| text.replace("cleartext", "encrypted");
    sandbox.write("global/named.yaml", with_key("env"));
    sandbox.write(
        "global/secret.yaml",
        encrypted(with_key("env").replace("named", "secret")),
    );
    sandbox.commit();
    sandbox.write("global/named.yaml", with_key("environment"));
    sandbox.write(
        "global/secret.yaml",
        encrypted(with_key("key").replace("named", "secret")),
    );
    let screens = Screens::of(&sandbox, &USUAL, "edits 1–2");
    for format in ["full", "comment"] {
        let text = &screens[format];
        assert!(
            text.contains("named (global)  .env renamed to .environment"),
            "{text}"
        );
        assert!(!text.contains("- b: 1"), "{text}");
    }
    let edits = &screens.json()["edits"];
    let of = |name: &str| {
        let all = edits.as_array().unwrap().iter();
        all.filter(|edit| edit["document"]["name"] == name)
            .collect::<Vec<_>>()
    };
    let renames: Vec<&str> = of("named")
        .iter()
        .filter_map(|edit| edit["renames"].as_str())
        .collect();
    assert_eq!(renames, ["e1"]);
    // It is not said that a secret is the same.
    assert!(!of("secret").is_empty());
    assert!(
        of("secret").iter().all(|edit| edit["renames"].is_null()),
        "{edits:#}"
    );
}

#[test]
fn passing_run_says_so_first_and_last() {
    let sandbox = with_images(2, 1);
    sandbox.write(
        "global/versions.yaml",
        document("versions", "global", &images(1, "2.0")),
    );
    let screens = Screens::of(&sandbox, &USUAL, "entrypoint:2.0");
    let lines: Vec<&str> = screens["full"].lines().collect();
    assert_eq!(lines[0], "PASS  no new findings");
    let closing = lines[lines.len() - 2];
    assert!(
        closing.starts_with("PASS  no new findings · 4 of 10 outputs "),
        "{lines:#?}"
    );
    let heading = screens["comment"].lines().next().unwrap();
    assert_eq!(heading, "### layercake: PASS no new findings");
}
