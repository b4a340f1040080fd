//! The report for programs conforms to its JSON Schema.

use layercake::report::model::{ReportReadError, read, write};
use serde_json::{Value as Json, json};

use super::comparison::{all_kinds, many_images, one_image};
use super::repositories::bump;
use super::world::World;
use super::{Files, rule};

fn schema() -> Json {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/report-2.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Report of a world, validated by its schema.
fn report(world: &World) -> Json {
    let report = serde_json::from_str(&world.json()).unwrap();
    validate(&report);
    report
}

fn validate(report: &Json) {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let faults: Vec<String> = validator
        .iter_errors(report)
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn reports_are_valid_by_their_schema() {
    for world in [
        one_image(),
        many_images(),
        all_kinds(),
        bump(),
        World::new(&[], &[]).finish(),
    ] {
        let report = report(&world);
        let outputs = report["totals"]["changed_outputs"].as_u64().unwrap();
        assert_eq!(outputs, world.comparison.outputs.len() as u64);
        assert_eq!(
            report["edits"].as_array().unwrap().len(),
            world.comparison.edits.len()
        );
        assert_eq!(world.json(), world.json());
    }
    let files = Files::new(&[("a.yaml", "«a:x»: 1\n")]);
    let mut finding = files.finding("a finding", "here").help("help").note("note");
    finding.severity = rule("duplicate-key").severity;
    let alone: Json = serde_json::from_str(&files.json(vec![finding])).unwrap();
    validate(&alone);
    assert_eq!(
        (&alone["comparison"], &alone["findings"][0]["state"]),
        (&Json::Null, &Json::Null)
    );
}

#[test]
fn report_reads_back_unchanged() {
    for world in [
        one_image(),
        many_images(),
        all_kinds(),
        bump(),
        World::new(&[], &[]).finish(),
    ] {
        let written = world.json();
        let mut again = Vec::new();
        write(&read(&written).unwrap(), &mut again).unwrap();
        assert_eq!(String::from_utf8(again).unwrap(), written);
    }
}

#[test]
fn invalid_report_is_refused() {
    let sound = report(&one_image());
    let mutant = |pointer: &str, other: Json| {
        let mut mutant = sound.clone();
        *mutant.pointer_mut(pointer).expect("it is in the report") = other;
        read(&mutant.to_string()).expect_err(pointer)
    };
    let version = ReportReadError::Version("urn:layercake:report:3".to_owned());
    assert_eq!(mutant("/schema", json!("urn:layercake:report:3")), version);
    for (pointer, other, said) in [
        ("/outputs/0/causes/0/edit", json!("e7"), "unknown id `e7`"),
        (
            "/outputs/0/causes/0/route",
            json!("r99"),
            "unknown id `r99`",
        ),
        ("/outputs/0/group", json!("g99"), "unknown id `g99`"),
        ("/shields/0/edit", json!("e0"), "an id such as `e1`"),
        ("/outputs/0/status", json!("gone"), "unknown variant `gone`"),
        ("/totals/edits", json!(-1), "invalid value: integer `-1`"),
        ("/edits", json!(null), "invalid type: null"),
    ] {
        let fault = mutant(pointer, other).to_string();
        assert!(fault.contains(said), "{pointer}: {fault}");
    }
    for text in [
        "",
        "[]",
        "{}",
        "null",
        "\u{feff}{}",
        "{\"schema\": 1, \"version\": 1}",
    ] {
        assert!(
            matches!(read(text), Err(ReportReadError::Other(_))),
            "{text}"
        );
    }
    // Unknown additions of a later version are accepted.
    let mut later = sound.clone();
    later["more"] = json!({"of": "it"});
    assert!(read(&later.to_string()).is_ok());
}

#[test]
fn schema_is_strict() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let sound = report(&one_image());
    let mutants: [(&str, Json); 9] = [
        ("/version", json!(3)),
        ("/edits/0/kind", json!("other")),
        ("/edits/0/id", json!("1")),
        ("/edits/0/before", json!({"hidden": true, "length": 3})),
        ("/edits/0/before", json!({"hidden": true, "text": "x"})),
        ("/outputs/0/status", json!("new")),
        ("/routes/0/steps", json!([])),
        ("/shields/0/by/0/line", json!(0)),
        ("/comparison/base/commit", json!("main")),
    ];
    for (pointer, other) in mutants {
        let mut mutant = sound.clone();
        *mutant.pointer_mut(pointer).expect("it is in the report") = other;
        assert!(!validator.is_valid(&mutant), "{pointer}");
    }
    let mut mutant = sound.clone();
    mutant["edits"][0]["more"] = json!(1);
    assert!(!validator.is_valid(&mutant));
}

#[test]
fn report_has_changes_and_their_causes() {
    let report = report(&one_image());
    let totals = &report["totals"];
    let of = |names: &[&str]| -> Vec<u64> {
        names
            .iter()
            .map(|name| totals[name].as_u64().unwrap())
            .collect()
    };
    assert_eq!(
        of(&["sites", "outputs", "edits", "inert_edits"]),
        [6, 1972, 1, 0]
    );
    let outputs = [
        "changed_sites",
        "changed_outputs",
        "untouched_outputs",
        "shielded_sites",
    ];
    assert_eq!(of(&outputs), [5, 14, 9, 1]);
    assert_eq!(totals["by_status"]["changed"], 14);
    assert_eq!(report["comparison"]["base"]["kind"], "commit");
    assert_eq!(
        report["comparison"]["head"],
        json!({"kind": "worktree", "commit": null, "tree": null, "date": null, "name": ""})
    );
    let edit = &report["edits"][0];
    assert_eq!(edit["pointer"], "/images/neutron");
    assert_eq!(
        edit["at"]["head"],
        json!({"file": "global/software/config/versions.yaml", "line": 4, "column": 14})
    );
    let before = "docker.io/openstackhelm/neutron:ocata-ubuntu_xenial";
    assert_eq!(edit["before"], json!({"text": before, "value": before}));
    assert_eq!(edit["proof"], "rendered");
    assert_eq!(edit["reach"]["untouched"], 9);
    let group = &report["groups"][0];
    assert_eq!(
        (&group["id"], &group["name"]),
        (&json!("g1"), &json!("neutron"))
    );
    assert_eq!(
        (&group["status"], &group["outputs"]),
        (&json!("changed"), &json!(4))
    );
    assert_eq!(
        group["changes"][0]["pointer"],
        "/values/images/tags/neutron"
    );
    let sites = |set: &Json| -> Vec<&Json> {
        let at: usize = set.as_str().unwrap()[1..].parse().unwrap();
        let sites = report["site_sets"][at - 1]["sites"].as_array().unwrap();
        let index = |site: &Json| usize::try_from(site.as_u64().unwrap()).unwrap();
        sites
            .iter()
            .map(|site| &report["sites"][index(site)]["name"])
            .collect()
    };
    let output = &report["outputs"][0];
    assert_eq!(
        sites(&output["sites"]),
        ["aiab", "airskiff", "airsloop", "seaworthy"]
    );
    assert_eq!(
        (
            &output["document"],
            &output["status"],
            &output["group"],
            &output["causes"]
        ),
        (
            &json!({"schema": "armada/Chart/v1", "layer": "site", "name": "neutron"}),
            &json!("changed"),
            &json!("g1"),
            &json!([{"edit": "e1", "via": "inherited", "hops": 3, "route": "r1", "joint": []}])
        )
    );
    assert_eq!(
        report["routes"].as_array().unwrap().len(),
        4,
        "each route once"
    );
    let step = &report["routes"][0]["steps"][1];
    assert_eq!(
        (&step["via"], &step["at"][0]["line"]),
        (&json!("substituted"), &json!(26))
    );
    assert_eq!(step["at"][1]["line"], 28);
    let shield = &report["shields"][0];
    assert_eq!(sites(&shield["sites"]), ["airskiff-suse"]);
    assert_eq!(
        (&shield["edit"], &shield["why"]),
        (&json!("e1"), &json!("set-again"))
    );
    let by = json!([{"file": "site/airskiff-suse/software/config/versions.yaml", "line": 20,
                     "column": 1}]);
    assert_eq!(shield["by"], by);
}

#[test]
fn values_have_the_documented_forms() {
    let report = report(&all_kinds());
    let by_path = |path: &str| {
        let edits = report["edits"].as_array().unwrap();
        edits
            .iter()
            .find(|edit| edit["path"] == path)
            .unwrap_or_else(|| panic!("{path}"))
            .clone()
    };
    assert_eq!(by_path(".a")["after"], json!({"text": "10", "value": 10}));
    assert_eq!(
        (&by_path(".b")["after"], &by_path(".b")["kind"]),
        (&Json::Null, &json!("key"))
    );
    assert_eq!(by_path(".g")["after"], json!({"value": {"h": [1, 2]}}));
    let joint = &report["outputs"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["document"]["name"] == "changed")
        .unwrap()["causes"];
    assert_eq!(
        (&joint[0]["joint"], &joint[1]["joint"]),
        (&json!(["e3"]), &json!(["e1"]))
    );
}

#[test]
fn long_value_is_omitted() {
    let side = |text: &str| format!("data: {{a: {}}}\n", text.repeat(70_000));
    let mut world = World::new(&["lab"], &[("a.yaml", &side("x"), &side("y"))]);
    world.edit("one", "a.yaml", ".a");
    let report = report(&world.finish());
    assert_eq!(report["edits"][0]["before"], json!({"truncated": true}));
    assert_eq!(report["truncated"]["values"], 2);
}

#[test]
fn changed_secret_is_reported_as_changed() {
    let side = |secret: &str| format!("metadata: {{storagePolicy: encrypted}}\ndata: {secret}\n");
    let mut world = World::new(&["lab"], &[("a.yaml", &side("one"), &side("another"))]);
    world.edit("secret", "a.yaml", ".");
    let report = report(&world.finish());
    let hidden = json!({"hidden": true});
    assert_eq!(
        (&report["edits"][0]["before"], &report["edits"][0]["after"]),
        (&hidden, &hidden)
    );
    // The start of a secret value may be shown, its end may not.
    assert_eq!(report["edits"][0]["at"]["head"]["column"], 7);
}
