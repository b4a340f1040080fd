//! Comparisons of cloud-init parts: each change is attributed to the edit that made it, with its
//! status and route, and no difference is left unexplained.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value as Json;

use super::{Sandbox, definition};

const CONFIGURATION: &str = "\
cloud-config:
  - name: genesis
    parts:
      - global/cloud/*
      - type/{type}/cloud/*
      - site/{site}/cloud/*
";

const BASE: &str = "#cloud-config\npackages: [a, b]\nntp: {enabled: true, servers: [x]}\n";
const OWN: &str = "#cloud-config\nmerge_how: dict(recurse_list)+list(append)\npackages: [c]\n";

/// Sites `lab` and `prod`, which share one part; `lab` has another.
fn repository(files: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::with_sites();
    sandbox.write("layercake.yaml", CONFIGURATION);
    sandbox.write("global/cloud/base.yaml", BASE);
    sandbox.write("site/lab/cloud/own.yaml", OWN);
    for (path, text) in files {
        sandbox.write(path, text);
    }
    sandbox.commit();
    sandbox
}

/// Report of a comparison with the commit. Compares twice: proven causes must be the same, and
/// edits taken one at a time must explain as much.
pub(super) fn compared(sandbox: &Sandbox) -> Json {
    let report = sandbox.report_of(&["diff", "HEAD"]);
    let proven = sandbox.report_of(&["diff", "HEAD", "--verify-attribution"]);
    for report in [&report, &proven] {
        assert_eq!(report["totals"]["unexplained"], 0, "{report:#}");
    }
    assert_eq!(statuses(&report), statuses(&proven));
    report
}

/// `site name status: edits`, for each output.
fn statuses(report: &Json) -> Vec<String> {
    let outputs = report["outputs"].as_array().unwrap().iter();
    let text = |it: &Json| it.as_str().unwrap().to_owned();
    outputs
        .map(|it| {
            let causes = it["causes"].as_array().unwrap().iter();
            let edits: Vec<String> = causes.map(|cause| text(&cause["edit"])).collect();
            let [site, name, status] = ["site", "name", "status"].map(|key| text(&it[key]));
            format!("{site} {name} {status}: {}", edits.join(","))
        })
        .collect()
}

/// Edits: place, document and kind.
pub(super) fn edited(report: &Json) -> Vec<String> {
    let edits = report["edits"].as_array().unwrap().iter();
    edits
        .map(|edit| {
            let sides = [&edit["at"]["head"], &edit["at"]["base"]];
            let at = sides.into_iter().find(|at| !at.is_null()).unwrap();
            let [kind, part, path] =
                ["kind", "part", "path"].map(|key| edit[key].as_str().unwrap());
            format!(
                "{}:{} {kind} {part} {path}",
                at["file"].as_str().unwrap(),
                at["line"]
            )
        })
        .collect()
}

/// Routes, each as `via file:line, ...`.
fn routes(report: &Json) -> Vec<String> {
    let routes = report["routes"].as_array().unwrap().iter();
    let mut lines: Vec<String> = routes
        .map(|route| {
            let hops = route["steps"].as_array().unwrap().iter();
            let hop = |it: &Json| {
                let via = it["via"].as_str().unwrap();
                let at = &it["at"][0];
                format!(
                    "{via} {}:{}",
                    at["file"].as_str().unwrap_or("-"),
                    at["line"]
                )
            };
            hops.map(hop).collect::<Vec<_>>().join(", ")
        })
        .collect();
    lines.sort();
    lines.dedup();
    lines
}

#[test]
fn edited_value_of_a_part_is_a_cause() {
    let sandbox = repository(&[]);
    sandbox.write("global/cloud/base.yaml", BASE.replace("[a, b]", "[a, z]"));
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        ["global/cloud/base.yaml:2 value data .packages[1]"]
    );
    assert_eq!(
        statuses(&report),
        ["lab genesis changed: e1", "prod genesis changed: e1"]
    );
    let way = "edited global/cloud/base.yaml:2, merged global/cloud/base.yaml:1";
    assert_eq!(routes(&report), [way]);
}

#[test]
fn added_part_is_a_cause_beside_another_edit() {
    let sandbox = repository(&[]);
    sandbox.write(
        "global/cloud/base.yaml",
        BASE.replace("servers: [x]", "servers: [y]"),
    );
    sandbox.write(
        "site/prod/cloud/new.yaml",
        "#cloud-config\npackages: [only]\n",
    );
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        [
            "global/cloud/base.yaml:3 value data .ntp.servers[0]",
            "site/prod/cloud/new.yaml:1 document whole ."
        ]
    );
    assert_eq!(
        statuses(&report),
        ["lab genesis changed: e1", "prod genesis changed: e1,e2"]
    );
}

#[test]
fn removed_part_is_a_cause() {
    let sandbox = repository(&[]);
    fs::remove_file(sandbox.path("site/lab/cloud/own.yaml")).unwrap();
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        ["site/lab/cloud/own.yaml:1 document whole ."]
    );
    assert_eq!(statuses(&report), ["lab genesis changed: e1"]);
}

#[test]
fn first_and_last_part_add_and_remove_the_output() {
    let of_one = CONFIGURATION.replace("      - global/cloud/*\n", "");
    let sandbox = repository(&[("layercake.yaml", &of_one)]);
    fs::remove_file(sandbox.path("site/lab/cloud/own.yaml")).unwrap();
    // A part with equal content elsewhere counts as moved.
    sandbox.write("site/prod/cloud/own.yaml", OWN);
    let report = compared(&sandbox);
    assert_eq!(
        statuses(&report),
        ["lab genesis removed: e1", "prod genesis added: e1"]
    );
    sandbox.write(
        "site/prod/cloud/own.yaml",
        "#cloud-config\npackages: [d, e]\n",
    );
    let report = compared(&sandbox);
    assert_eq!(
        statuses(&report),
        ["lab genesis removed: e1", "prod genesis added: e2"]
    );
    sandbox.write(
        "global/chart.yaml",
        super::document("chart", "global", "{values: {replicas: 2}}"),
    );
    let statuses = statuses(&compared(&sandbox));
    assert!(
        statuses.contains(&"lab genesis removed: e2".to_owned()),
        "{statuses:?}"
    );
    assert!(
        statuses.contains(&"prod genesis added: e3".to_owned()),
        "{statuses:?}"
    );
}

#[test]
fn renamed_part_is_a_moved_part() {
    let sandbox = repository(&[("global/cloud/more.yaml", "#cloud-config\nntp: {pool: p}\n")]);
    let rename = |from: &str, to: &str| {
        fs::rename(sandbox.path(from), sandbox.path(to)).unwrap();
    };
    rename("site/lab/cloud/own.yaml", "site/lab/cloud/other.yaml");
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        ["site/lab/cloud/other.yaml:1 moved whole ."]
    );
    assert_eq!(
        statuses(&report),
        [""; 0],
        "the order of merging is unchanged"
    );
    // Its new name sorts before the other part, which replaces its `ntp`.
    rename("global/cloud/more.yaml", "global/cloud/a.yaml");
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        [
            "global/cloud/a.yaml:1 moved whole .",
            "site/lab/cloud/other.yaml:1 moved whole ."
        ]
    );
    assert_eq!(
        statuses(&report),
        ["lab genesis changed: e1", "prod genesis changed: e1"]
    );
}

#[test]
fn edited_merge_settings_are_a_cause() {
    let sandbox = repository(&[]);
    sandbox.write("site/lab/cloud/own.yaml", OWN.replace("append", "prepend"));
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        ["site/lab/cloud/own.yaml:2 value data .merge_how"]
    );
    assert_eq!(statuses(&report), ["lab genesis changed: e1"]);
    let way = "edited site/lab/cloud/own.yaml:2";
    assert_eq!(routes(&report), [way]);
    // It overrides values of other parts, which is its effect too.
    sandbox.write(
        "site/lab/cloud/own.yaml",
        OWN.replace("merge_how: dict(recurse_list)+list(append)\n", ""),
    );
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        ["site/lab/cloud/own.yaml:2 key data .merge_how"]
    );
    assert_eq!(statuses(&report), ["lab genesis changed: e1"]);
    // An unknown keyword drops the whole part.
    sandbox.write(
        "site/lab/cloud/own.yaml",
        OWN.replace("list(append)", "lust(append)"),
    );
    let report = compared(&sandbox);
    assert_eq!(statuses(&report), ["lab genesis changed: e1"]);
}

fn message(header: &str, packages: &str) -> String {
    format!(
        "Content-Type: multipart/mixed; boundary=\"=b\"\nMIME-Version: 1.0\n\n--=b\n\
         Content-Type: text/cloud-config\n\n#cloud-config\npackages: [m]\n--=b\n\
         Content-Type: text/cloud-config\n{header}\n\n#cloud-config\n{packages}\n--=b--\n"
    )
}

const APPENDS: &str = "Merge-Type: dict(recurse_list)+list(append)";
const PREPENDS: &str = "Merge-Type: dict(recurse_list)+list(prepend)";

#[test]
fn edited_header_of_a_message_is_a_cause() {
    let path = "site/lab/cloud/message.mime";
    let sandbox = repository(&[(path, &message(APPENDS, "packages: [n, o]"))]);
    sandbox.write(path, message(PREPENDS, "packages: [n, o]"));
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        [format!("{path}:11 value metadata .Merge-Type")]
    );
    assert_eq!(statuses(&report), ["lab genesis changed: e1"]);
    sandbox.write(path, message(PREPENDS, "packages: [n, p]"));
    let report = compared(&sandbox);
    assert_eq!(edited(&report).len(), 2);
    assert_eq!(statuses(&report), ["lab genesis changed: e1,e2"]);
    sandbox.write(path, message("X-Other: x", "packages: [n, o]"));
    assert_eq!(statuses(&compared(&sandbox)), ["lab genesis changed: e1"]);
}

#[test]
fn encoded_part_of_a_message_is_decoded() {
    let path = "site/lab/cloud/message.mime";
    let encoded = |packages: &str| {
        let text = STANDARD.encode(format!("#cloud-config\npackages: [{packages}]\n"));
        message("Content-Transfer-Encoding: base64", "")
            .replace("#cloud-config\n\n--=b--", &format!("{text}\n--=b--"))
    };
    let sandbox = repository(&[(path, &encoded("n"))]);
    sandbox.write(path, encoded("o"));
    let report = compared(&sandbox);
    // The line is that of the encoded text in the file.
    assert_eq!(
        edited(&report),
        [format!("{path}:13 value data .packages[0]")]
    );
    assert_eq!(statuses(&report), ["lab genesis changed: e1"]);
    assert_eq!(report["comparison"]["edited_files"], 1);
}

#[test]
fn edited_archive_entry_is_a_cause() {
    let path = "site/lab/cloud/archive.yaml";
    let archive = |packages: &str| {
        format!(
            "#cloud-config-archive\n- type: text/cloud-config\n  content: |\n    packages: \
             [{packages}]\n- content: |\n    #cloud-config\n    packages: [last]\n  Merge-Type: \
             dict(recurse_list)+list(append)\n"
        )
    };
    let sandbox = repository(&[(path, &archive("n"))]);
    sandbox.write(path, archive("o"));
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        [format!("{path}:3 value data .packages[0]")]
    );
    assert_eq!(statuses(&report), ["lab genesis changed: e1"]);
}

#[test]
fn edited_patch_operation_is_a_cause() {
    let path = "site/lab/cloud/patch.json";
    let patch = |one: &str, other: &str| {
        format!(
            "#cloud-config-jsonp\n[\n  {{\"op\": \"add\", \"path\": \"/packages/0\", \"value\": \"{one}\"}},\n  \
             {{\"op\": \"add\", \"path\": \"/ntp/pool\", \"value\": \"{other}\"}}\n]\n"
        )
    };
    let sandbox = repository(&[(path, &patch("p", "q"))]);
    sandbox.write(path, patch("r", "q"));
    let report = compared(&sandbox);
    assert_eq!(edited(&report), [format!("{path}:3 value data .[0].value")]);
    assert_eq!(statuses(&report), ["lab genesis changed: e1"]);
    sandbox.write(path, patch("r", "s"));
    assert_eq!(
        statuses(&compared(&sandbox)),
        ["lab genesis changed: e1,e2"]
    );
    sandbox.write(path, patch("r", "s").replace("/ntp/pool", "/none/pool"));
    let report = compared(&sandbox);
    assert_eq!(
        statuses(&report),
        ["lab genesis changed: e2"],
        "the whole patch fails"
    );
}

#[test]
fn edited_included_file_is_a_cause() {
    let included = |packages: &str| format!("#cloud-config\npackages: [{packages}]\n");
    let sandbox = repository(&[
        ("site/lab/cloud/more.txt", "#include\n../more/included\n"),
        ("site/lab/more/included", &included("i")),
    ]);
    sandbox.write("site/lab/more/included", included("j"));
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        ["site/lab/more/included:2 value data .packages[0]"]
    );
    assert_eq!(statuses(&report), ["lab genesis changed: e1"]);
    assert_eq!(report["comparison"]["edited_files"], 1);
    // Another file is included instead.
    sandbox.write("site/lab/more/other", included("k"));
    sandbox.write("site/lab/cloud/more.txt", "#include\n../more/other\n");
    assert_eq!(statuses(&compared(&sandbox)).len(), 1);
    // A missing file drops everything that the including file has.
    sandbox.write("site/lab/cloud/more.txt", "#include\n../more/nowhere\n");
    assert_eq!(statuses(&compared(&sandbox)).len(), 1);
}

#[test]
fn broken_and_repaired_parts_are_causes() {
    let broken = "#cloud-config\npackages: [c\n";
    let sandbox = repository(&[("site/prod/cloud/own.yaml", broken)]);
    sandbox.write("site/lab/cloud/own.yaml", broken);
    sandbox.write("site/prod/cloud/own.yaml", OWN);
    let report = compared(&sandbox);
    assert_eq!(
        statuses(&report),
        ["lab genesis changed: e1", "prod genesis changed: e2"]
    );
    let edited = edited(&report);
    assert!(
        edited[0].starts_with("site/lab/cloud/own.yaml:"),
        "{edited:?}"
    );
    assert!(
        edited[1].starts_with("site/prod/cloud/own.yaml:"),
        "{edited:?}"
    );
}

#[test]
fn file_that_cloud_init_gives_up_on_is_a_cause() {
    let of_one = CONFIGURATION.replace("      - global/cloud/*\n", "");
    let good = "#cloud-config-archive\n- |\n  #cloud-config\n  ntp: {pool: p}\n- content: |\n    #cloud-config\n    \
                packages: [n]\n";
    let bad = good.replace("- content", "- type: odd\n  content");
    for configuration in [&of_one, CONFIGURATION] {
        let sandbox = repository(&[
            ("layercake.yaml", configuration),
            ("site/prod/cloud/a", good),
        ]);
        sandbox.write("site/prod/cloud/a", &bad);
        sandbox.write("site/lab/cloud/own.yaml", OWN.replace("[c]", "[d]"));
        let statuses = statuses(&compared(&sandbox));
        assert_eq!(statuses.len(), 2, "{statuses:?}");
        assert_eq!(statuses[0], "lab genesis changed: e1");
        sandbox.commit();
        sandbox.write("site/prod/cloud/a", good);
        assert_eq!(self::statuses(&compared(&sandbox)).len(), 1);
    }
}

#[test]
fn changed_site_type_is_a_cause() {
    let sandbox = repository(&[
        ("type/small/cloud/part.yaml", "#cloud-config\ntype: small\n"),
        ("type/big/cloud/part.yaml", "#cloud-config\ntype: big\n"),
        ("type/big/any.yaml", &super::document("any", "type", "{}")),
    ]);
    sandbox.write(
        "site/prod/site-definition.yaml",
        definition("prod", "").replace("small", "big"),
    );
    let report = compared(&sandbox);
    let statuses = statuses(&report);
    assert!(
        statuses.contains(&"prod genesis changed: e1".to_owned()),
        "{statuses:?}"
    );
    // With another edit beside it.
    sandbox.write("type/big/cloud/part.yaml", "#cloud-config\ntype: large\n");
    let proven = sandbox.report_of(&["diff", "HEAD", "--verify-attribution"]);
    assert_eq!(proven["totals"]["unexplained"], 0);
    let statuses = self::statuses(&proven);
    assert!(
        statuses.contains(&"prod genesis changed: e1,e2".to_owned()),
        "{statuses:?}"
    );
}

#[test]
fn overridden_edit_is_shielded() {
    let how = "merge_how: dict(no_replace)+list(append)\n";
    let kept = format!("#cloud-config\n{how}packages: [c]\nntp: {{enabled: false}}\n");
    let left_out = "#cloud-config\nmerge_how: lust(append)\npackages: [p]\n";
    let sandbox = repository(&[
        ("site/lab/cloud/own.yaml", &kept),
        ("site/prod/cloud/own.yaml", left_out),
    ]);
    sandbox.write("site/lab/cloud/own.yaml", kept.replace("false", "0"));
    sandbox.write("site/prod/cloud/own.yaml", left_out.replace("[p]", "[q]"));
    let report = compared(&sandbox);
    assert_eq!(statuses(&report), [""; 0]);
    let shields = report["shields"].as_array().unwrap().iter();
    let shielded: Vec<String> = shields
        .map(|it| {
            let [site, why, file] = [&it["site"], &it["why"], &it["by"]["file"]]
                .map(|text| text.as_str().unwrap().to_owned());
            format!("{site} {why} {file}:{}", it["by"]["line"])
        })
        .collect();
    assert_eq!(
        shielded,
        [
            "lab kept global/cloud/base.yaml:3",
            "prod left-out site/prod/cloud/own.yaml:2"
        ]
    );
}
