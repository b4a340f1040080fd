//! Sites share results for equal inputs; a site linted alone has the same findings.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

/// Rules that look at the repository as a whole.
const REPOSITORY_RULES: [&str; 4] = [
    "unread-file",
    "unused-configuration",
    "unused-ignore",
    "unused-type",
];

#[test]
fn site_linted_alone_has_the_same_findings() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/sites");
    let folders = std::fs::read_dir(root.join("site")).unwrap();
    let names = folders.map(|folder| folder.unwrap().file_name().into_string().unwrap());
    let sites: Vec<String> = names.collect();
    assert!(sites.len() > 3, "{sites:?}");
    for semantics in ["documented", "deckhand"] {
        let all = linted(&root, &["--semantics", semantics]);
        assert!(sites.iter().any(|site| !findings(&all, site).is_empty()));
        for site in &sites {
            let alone = linted(&root, &["--semantics", semantics, "--site", site]);
            assert_eq!(
                findings(&alone, site),
                findings(&all, site),
                "{site}, {semantics}"
            );
        }
    }
}

fn linted(root: &Path, arguments: &[&str]) -> Json {
    let mut layercake = Command::new(env!("CARGO_BIN_EXE_layercake"));
    layercake
        .args(["lint", "--select", "all", "--exit-zero", "-o", "json", "-C"])
        .arg(root);
    let ran = layercake.args(arguments).output().unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    super::resolved(serde_json::from_slice(&ran.stdout).unwrap())
}

/// Findings of a site: rule, message and place. Other fields of a finding cover all its sites.
fn findings(report: &Json, site: &str) -> BTreeSet<String> {
    let findings = report["findings"].as_array().unwrap().iter();
    let of_site = findings.filter(|it| {
        let sites = it["sites"].as_array().unwrap();
        sites.iter().any(|it| it == site)
            && !REPOSITORY_RULES.contains(&it["rule"].as_str().unwrap())
    });
    of_site
        .map(|it| {
            let at = &it["primary"];
            let place = format!("{}:{}:{}", at["file"], at["line"], at["column"]);
            format!("{place} {} {} {}", it["rule"], it["message"], at["label"])
        })
        .collect()
}
