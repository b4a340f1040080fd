//! Comparisons of what cloud-init is given: whatever somebody does to parts,
//! the edit that did it is told, with its status and its route, and no
//! difference is left without a cause.

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

/// Sites `lab` and `prod`; both have one part, and `lab` has another.
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

/// What a comparison with the commit says; twice, since proven causes are the
/// same, and edits that are taken one by one explain as much.
pub(super) fn compared(sandbox: &Sandbox) -> Json {
    let report = sandbox.told(&["diff", "HEAD"]);
    let proven = sandbox.told(&["diff", "HEAD", "--verify-attribution"]);
    for report in [&report, &proven] {
        assert_eq!(report["totals"]["unexplained"], 0, "{report:#}");
    }
    assert_eq!(told(&report), told(&proven));
    report
}

/// `site name status: edits`, for each output.
fn told(report: &Json) -> Vec<String> {
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

/// The edits: where they are, what they are of, and of which kind.
pub(super) fn edited(report: &Json) -> Vec<String> {
    let edits = report["edits"].as_array().unwrap().iter();
    edits
        .map(|edit| {
            let sides = [&edit["at"]["head"], &edit["at"]["base"]];
            let at = sides.into_iter().find(|at| !at.is_null()).unwrap();
            let [kind, part, path] =
                ["kind", "part", "path"].map(|key| edit[key].as_str().unwrap());
            format!("{}:{} {kind} {part} {path}", at["file"].as_str().unwrap(), at["line"])
        })
        .collect()
}

/// The routes, each `via file:line, ...`.
fn routes(report: &Json) -> Vec<String> {
    let routes = report["routes"].as_array().unwrap().iter();
    let mut told: Vec<String> = routes
        .map(|route| {
            let hops = route["steps"].as_array().unwrap().iter();
            let hop = |it: &Json| {
                let via = it["via"].as_str().unwrap();
                let at = &it["at"][0];
                format!("{via} {}:{}", at["file"].as_str().unwrap_or("-"), at["line"])
            };
            hops.map(hop).collect::<Vec<_>>().join(", ")
        })
        .collect();
    told.sort();
    told.dedup();
    told
}

#[test]
fn a_value_of_a_part() {
    let sandbox = repository(&[]);
    sandbox.write("global/cloud/base.yaml", BASE.replace("[a, b]", "[a, z]"));
    let report = compared(&sandbox);
    assert_eq!(edited(&report), ["global/cloud/base.yaml:2 value data .packages[1]"]);
    assert_eq!(told(&report), ["lab genesis changed: e1", "prod genesis changed: e1"]);
    let way = "edited global/cloud/base.yaml:2, merged global/cloud/base.yaml:1";
    assert_eq!(routes(&report), [way]);
}

#[test]
fn a_part_that_comes_beside_another_edit() {
    let sandbox = repository(&[]);
    sandbox.write("global/cloud/base.yaml", BASE.replace("servers: [x]", "servers: [y]"));
    sandbox.write("site/prod/cloud/new.yaml", "#cloud-config\npackages: [only]\n");
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        [
            "global/cloud/base.yaml:3 value data .ntp.servers[0]",
            "site/prod/cloud/new.yaml:1 document whole ."
        ]
    );
    assert_eq!(told(&report), ["lab genesis changed: e1", "prod genesis changed: e1,e2"]);
}

#[test]
fn a_part_that_goes() {
    let sandbox = repository(&[]);
    fs::remove_file(sandbox.path("site/lab/cloud/own.yaml")).unwrap();
    let report = compared(&sandbox);
    assert_eq!(edited(&report), ["site/lab/cloud/own.yaml:1 document whole ."]);
    assert_eq!(told(&report), ["lab genesis changed: e1"]);
}

#[test]
fn the_first_and_the_last_part_of_a_set() {
    let of_one = CONFIGURATION.replace("      - global/cloud/*\n", "");
    let sandbox = repository(&[("layercake.yaml", &of_one)]);
    fs::remove_file(sandbox.path("site/lab/cloud/own.yaml")).unwrap();
    // What says the same elsewhere has moved there.
    sandbox.write("site/prod/cloud/own.yaml", OWN);
    let report = compared(&sandbox);
    assert_eq!(told(&report), ["lab genesis removed: e1", "prod genesis added: e1"]);
    sandbox.write("site/prod/cloud/own.yaml", "#cloud-config\npackages: [d, e]\n");
    let report = compared(&sandbox);
    assert_eq!(told(&report), ["lab genesis removed: e1", "prod genesis added: e2"]);
    sandbox
        .write("global/chart.yaml", super::document("chart", "global", "{values: {replicas: 2}}"));
    let told = told(&compared(&sandbox));
    assert!(told.contains(&"lab genesis removed: e2".to_owned()), "{told:?}");
    assert!(told.contains(&"prod genesis added: e3".to_owned()), "{told:?}");
}

#[test]
fn a_part_with_another_name_is_the_part_it_was() {
    let sandbox = repository(&[("global/cloud/more.yaml", "#cloud-config\nntp: {pool: p}\n")]);
    let rename = |from: &str, to: &str| {
        fs::rename(sandbox.path(from), sandbox.path(to)).unwrap();
    };
    rename("site/lab/cloud/own.yaml", "site/lab/cloud/other.yaml");
    let report = compared(&sandbox);
    assert_eq!(edited(&report), ["site/lab/cloud/other.yaml:1 moved whole ."]);
    assert_eq!(told(&report), [""; 0], "it is merged where it was");
    // Now it counts before the other one, which replaces its `ntp`.
    rename("global/cloud/more.yaml", "global/cloud/a.yaml");
    let report = compared(&sandbox);
    assert_eq!(
        edited(&report),
        ["global/cloud/a.yaml:1 moved whole .", "site/lab/cloud/other.yaml:1 moved whole ."]
    );
    assert_eq!(told(&report), ["lab genesis changed: e1", "prod genesis changed: e1"]);
}

#[test]
fn what_says_how_a_part_is_merged() {
    let sandbox = repository(&[]);
    sandbox.write("site/lab/cloud/own.yaml", OWN.replace("append", "prepend"));
    let report = compared(&sandbox);
    assert_eq!(edited(&report), ["site/lab/cloud/own.yaml:2 value data .merge_how"]);
    assert_eq!(told(&report), ["lab genesis changed: e1"]);
    let way = "edited site/lab/cloud/own.yaml:2";
    assert_eq!(routes(&report), [way]);
    // Values of other parts are lost by it: that is its doing too.
    sandbox.write(
        "site/lab/cloud/own.yaml",
        OWN.replace("merge_how: dict(recurse_list)+list(append)\n", ""),
    );
    let report = compared(&sandbox);
    assert_eq!(edited(&report), ["site/lab/cloud/own.yaml:2 key data .merge_how"]);
    assert_eq!(told(&report), ["lab genesis changed: e1"]);
    // And a word that is none drops the whole part.
    sandbox.write("site/lab/cloud/own.yaml", OWN.replace("list(append)", "lust(append)"));
    let report = compared(&sandbox);
    assert_eq!(told(&report), ["lab genesis changed: e1"]);
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
fn a_header_of_a_message() {
    let path = "site/lab/cloud/message.mime";
    let sandbox = repository(&[(path, &message(APPENDS, "packages: [n, o]"))]);
    sandbox.write(path, message(PREPENDS, "packages: [n, o]"));
    let report = compared(&sandbox);
    assert_eq!(edited(&report), [format!("{path}:11 value metadata .Merge-Type")]);
    assert_eq!(told(&report), ["lab genesis changed: e1"]);
    sandbox.write(path, message(PREPENDS, "packages: [n, p]"));
    let report = compared(&sandbox);
    assert_eq!(edited(&report).len(), 2);
    assert_eq!(told(&report), ["lab genesis changed: e1,e2"]);
    sandbox.write(path, message("X-Other: x", "packages: [n, o]"));
    assert_eq!(told(&compared(&sandbox)), ["lab genesis changed: e1"]);
}

#[test]
fn a_part_of_a_message_is_decoded() {
    let path = "site/lab/cloud/message.mime";
    let encoded = |packages: &str| {
        let text = STANDARD.encode(format!("#cloud-config\npackages: [{packages}]\n"));
        message("Content-Transfer-Encoding: base64", "")
            .replace("#cloud-config\n\n--=b--", &format!("{text}\n--=b--"))
    };
    let sandbox = repository(&[(path, &encoded("n"))]);
    sandbox.write(path, encoded("o"));
    let report = compared(&sandbox);
    // The line is that of the file, at which the encoded text stands.
    assert_eq!(edited(&report), [format!("{path}:13 value data .packages[0]")]);
    assert_eq!(told(&report), ["lab genesis changed: e1"]);
    assert_eq!(report["comparison"]["edited_files"], 1);
}

#[test]
fn an_entry_of_an_archive() {
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
    assert_eq!(edited(&report), [format!("{path}:3 value data .packages[0]")]);
    assert_eq!(told(&report), ["lab genesis changed: e1"]);
}

#[test]
fn an_operation_of_a_patch() {
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
    assert_eq!(told(&report), ["lab genesis changed: e1"]);
    sandbox.write(path, patch("r", "s"));
    assert_eq!(told(&compared(&sandbox)), ["lab genesis changed: e1,e2"]);
    sandbox.write(path, patch("r", "s").replace("/ntp/pool", "/none/pool"));
    let report = compared(&sandbox);
    assert_eq!(told(&report), ["lab genesis changed: e2"], "it fails as a whole");
}

#[test]
fn a_file_that_is_included() {
    let included = |packages: &str| format!("#cloud-config\npackages: [{packages}]\n");
    let sandbox = repository(&[
        ("site/lab/cloud/more.txt", "#include\n../more/included\n"),
        ("site/lab/more/included", &included("i")),
    ]);
    sandbox.write("site/lab/more/included", included("j"));
    let report = compared(&sandbox);
    assert_eq!(edited(&report), ["site/lab/more/included:2 value data .packages[0]"]);
    assert_eq!(told(&report), ["lab genesis changed: e1"]);
    assert_eq!(report["comparison"]["edited_files"], 1);
    // Another file is included instead.
    sandbox.write("site/lab/more/other", included("k"));
    sandbox.write("site/lab/cloud/more.txt", "#include\n../more/other\n");
    assert_eq!(told(&compared(&sandbox)).len(), 1);
    // What is not there ends all of the file.
    sandbox.write("site/lab/cloud/more.txt", "#include\n../more/nowhere\n");
    assert_eq!(told(&compared(&sandbox)).len(), 1);
}

#[test]
fn a_part_that_breaks_and_one_that_is_repaired() {
    let broken = "#cloud-config\npackages: [c\n";
    let sandbox = repository(&[("site/prod/cloud/own.yaml", broken)]);
    sandbox.write("site/lab/cloud/own.yaml", broken);
    sandbox.write("site/prod/cloud/own.yaml", OWN);
    let report = compared(&sandbox);
    assert_eq!(told(&report), ["lab genesis changed: e1", "prod genesis changed: e2"]);
    let edited = edited(&report);
    assert!(edited[0].starts_with("site/lab/cloud/own.yaml:"), "{edited:?}");
    assert!(edited[1].starts_with("site/prod/cloud/own.yaml:"), "{edited:?}");
}

#[test]
fn a_file_that_cloud_init_gives_up() {
    let of_one = CONFIGURATION.replace("      - global/cloud/*\n", "");
    let good = "#cloud-config-archive\n- |\n  #cloud-config\n  ntp: {pool: p}\n- content: |\n    #cloud-config\n    \
                packages: [n]\n";
    let bad = good.replace("- content", "- type: odd\n  content");
    for configuration in [&of_one, CONFIGURATION] {
        let sandbox = repository(&[("layercake.yaml", configuration), ("site/prod/cloud/a", good)]);
        sandbox.write("site/prod/cloud/a", &bad);
        sandbox.write("site/lab/cloud/own.yaml", OWN.replace("[c]", "[d]"));
        let told = told(&compared(&sandbox));
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!(told[0], "lab genesis changed: e1");
        sandbox.commit();
        sandbox.write("site/prod/cloud/a", good);
        assert_eq!(self::told(&compared(&sandbox)).len(), 1);
    }
}

#[test]
fn a_site_of_another_type() {
    let sandbox = repository(&[
        ("type/small/cloud/part.yaml", "#cloud-config\ntype: small\n"),
        ("type/big/cloud/part.yaml", "#cloud-config\ntype: big\n"),
        ("type/big/any.yaml", &super::document("any", "type", "{}")),
    ]);
    sandbox.write("site/prod/site-definition.yaml", definition("prod", "").replace("small", "big"));
    let report = compared(&sandbox);
    let told = told(&report);
    assert!(told.contains(&"prod genesis changed: e1".to_owned()), "{told:?}");
    // With another edit beside it.
    sandbox.write("type/big/cloud/part.yaml", "#cloud-config\ntype: large\n");
    let proven = sandbox.told(&["diff", "HEAD", "--verify-attribution"]);
    assert_eq!(proven["totals"]["unexplained"], 0);
    let told = self::told(&proven);
    assert!(told.contains(&"prod genesis changed: e1,e2".to_owned()), "{told:?}");
}

#[test]
fn an_edit_that_stops() {
    let how = "merge_how: dict(no_replace)+list(append)\n";
    let kept = format!("#cloud-config\n{how}packages: [c]\nntp: {{enabled: false}}\n");
    let left_out = "#cloud-config\nmerge_how: lust(append)\npackages: [p]\n";
    let sandbox =
        repository(&[("site/lab/cloud/own.yaml", &kept), ("site/prod/cloud/own.yaml", left_out)]);
    sandbox.write("site/lab/cloud/own.yaml", kept.replace("false", "0"));
    sandbox.write("site/prod/cloud/own.yaml", left_out.replace("[p]", "[q]"));
    let report = compared(&sandbox);
    assert_eq!(told(&report), [""; 0]);
    let shields = report["shields"].as_array().unwrap().iter();
    let told: Vec<String> = shields
        .map(|it| {
            let [site, why, file] = [&it["site"], &it["why"], &it["by"]["file"]]
                .map(|text| text.as_str().unwrap().to_owned());
            format!("{site} {why} {file}:{}", it["by"]["line"])
        })
        .collect();
    assert_eq!(
        told,
        ["lab kept global/cloud/base.yaml:3", "prod left-out site/prod/cloud/own.yaml:2"]
    );
}
