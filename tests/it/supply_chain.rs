//! Dependencies satisfy `deny.toml`: licences, crates in several versions, sources. `cargo deny`
//! checks the same file, and advisories too; this test runs wherever the tests run, offline, for
//! the system they run on. A setting that is unknown here fails.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::stored::root;

#[test]
fn every_licence_is_allowed() {
    let Licenses {
        allow, exceptions, ..
    } = rules().licenses;
    let (mut used, mut wrong) = (BTreeSet::new(), Vec::new());
    for Crate {
        name,
        version,
        license,
    } in crates()
    {
        let excepted = exceptions.iter().filter(|it| it.name == name);
        let allowed: Vec<&str> = allow
            .iter()
            .chain(excepted.flat_map(|it| &it.allow))
            .map(String::as_str)
            .collect();
        match chosen(&license, &allowed) {
            Some(chosen) => used.extend(chosen.into_iter().map(str::to_owned)),
            None => wrong.push(format!("{name} {version}: `{license}`")),
        }
    }
    assert!(
        wrong.is_empty(),
        "licences that deny.toml does not allow:\n{}",
        wrong.join("\n")
    );
    let unused: Vec<&String> = allow.iter().filter(|it| !used.contains(*it)).collect();
    assert!(
        unused.is_empty(),
        "unused licences that deny.toml allows: {unused:?}"
    );
    let locked: BTreeSet<String> = lock().package.into_iter().map(|it| it.name).collect();
    for Exception { name, .. } in exceptions {
        assert!(
            locked.contains(&name),
            "deny.toml makes an exception for `{name}`, which is gone"
        );
    }
}

#[test]
fn duplicate_crate_versions_have_a_reason() {
    let skipped = rules().bans.skip;
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for Crate { name, version, .. } in crates() {
        if !skipped.iter().any(|it| it.is(&name, &version)) {
            versions.entry(name).or_default().insert(version);
        }
    }
    versions.retain(|_, versions| versions.len() > 1);
    assert!(
        versions.is_empty(),
        "in several versions, without a reason in deny.toml: {versions:?}"
    );
}

/// Reasons for other systems count as well, so the result is the same on every machine.
#[test]
fn unused_reasons_are_refused() {
    let locked = lock().package;
    for skip in rules().bans.skip {
        let named = locked
            .iter()
            .filter(|it| skip.is(&it.name, &it.version))
            .count();
        assert_eq!(named, 1, "`{}` of deny.toml's `skip` is gone", skip.name);
        let name = skip
            .name
            .split('@')
            .next()
            .expect("a name has a first part");
        let versions = locked.iter().filter(|it| it.name == name).count();
        assert!(
            versions > 1,
            "deny.toml skips `{name}`, which has one version"
        );
        assert!(
            skip.reason.len() > 10,
            "`{}` is skipped without a reason",
            skip.name
        );
    }
}

#[test]
fn every_crate_has_a_known_source() {
    let Rules { sources, bans, .. } = rules();
    let own: BTreeSet<String> = manifests()
        .iter()
        .filter_map(|path| Some(manifest(path)["package"]["name"].as_str()?.to_owned()))
        .collect();
    let excluded = rules().graph.exclude;
    assert!(
        excluded.iter().all(|it| own.contains(it)),
        "{excluded:?} are not all in this workspace"
    );
    let known: BTreeSet<String> = sources
        .allow_registry
        .iter()
        .map(|it| format!("registry+{it}"))
        .chain(sources.allow_git.iter().map(|it| format!("git+{it}")))
        .collect();
    for Locked {
        name,
        source,
        checksum,
        ..
    } in lock().package
    {
        if own.contains(&name) {
            continue;
        }
        let from = source.unwrap_or_else(|| panic!("`{name}` is a local folder"));
        let from = from
            .split(['?', '#'])
            .next()
            .expect("a text has a first part");
        assert!(
            known.contains(from),
            "`{name}` is from {from}, which deny.toml does not know"
        );
        assert!(
            checksum.is_some() || from.starts_with("git+"),
            "`{name}` has no checksum"
        );
        let denied = bans.deny.iter().find(|it| it.name == name);
        assert!(
            denied.is_none(),
            "`{name}` is denied: {}",
            denied.unwrap().reason
        );
    }
}

#[test]
fn no_requirement_accepts_any_version() {
    let manifests = manifests();
    let requirements: Vec<_> = manifests
        .iter()
        .flat_map(|it| requirements(&manifest(it)))
        .collect();
    assert!(requirements.len() > 45, "{requirements:?}");
    for (name, version) in requirements {
        assert!(
            version.is_some_and(|it| !it.contains('*')),
            "`{name}` may have any version"
        );
    }
}

/// The lint applies to all targets of a package: library, program, tests, benches and build
/// script. It cannot be switched off for some of them.
#[test]
fn every_package_forbids_unsafe_code() {
    let manifests = manifests();
    assert!(manifests.contains(&root().join("Cargo.toml")) && manifests.len() > 4);
    let workspace = manifest(&root().join("Cargo.toml"));
    let level = workspace["workspace"]["lints"]["rust"]["unsafe_code"].as_str();
    assert_eq!(level, Some("forbid"));
    // libFuzzer calls a C function, which its macro declares.
    let fuzz = root().join("fuzz").join("Cargo.toml");
    for path in manifests.into_iter().filter(|path| *path != fuzz) {
        let manifest = manifest(&path);
        assert_eq!(
            manifest["lints"]["workspace"].as_bool(),
            Some(true),
            "{}",
            path.display()
        );
    }
}

/// Settings on which the tests above rely.
#[test]
fn every_setting_is_deny() {
    let Rules {
        licenses,
        bans,
        sources,
        ..
    } = rules();
    assert!(
        licenses.include_dev && bans.multiple_versions_include_dev && bans.allow_wildcard_paths
    );
    for level in [
        licenses.unused_allowed_license,
        bans.wildcards,
        bans.multiple_versions,
        sources.unknown_registry,
        sources.unknown_git,
    ] {
        assert_eq!(level, "deny");
    }
}

#[test]
fn checked_targets_are_the_released_ones() {
    let released = fs::read_to_string(root().join(".github/workflows/release.yml")).unwrap();
    let released: BTreeSet<&str> = released
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- target: "))
        .collect();
    let targets = rules().graph.targets;
    assert_eq!(
        targets.iter().map(String::as_str).collect::<BTreeSet<_>>(),
        released
    );
}

#[test]
fn licences_are_read_as_spdx_expressions() {
    let allowed = ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"];
    for (text, expected) in [
        ("MIT", Some(vec!["MIT"])),
        ("GPL-3.0", None),
        ("GPL-3.0 OR MIT", Some(vec!["MIT"])),
        ("GPL-3.0/MIT", Some(vec!["MIT"])),
        ("MIT AND GPL-3.0", None),
        ("MIT AND Zlib", Some(vec!["MIT", "Zlib"])),
        ("(GPL-3.0 OR MIT) AND Zlib", Some(vec!["MIT", "Zlib"])),
        ("MIT OR GPL-3.0 AND LGPL-3.0", Some(vec!["MIT"])),
        ("GPL-3.0 OR (MIT AND LGPL-3.0)", None),
        (
            "Apache-2.0 WITH LLVM-exception",
            Some(vec!["Apache-2.0 WITH LLVM-exception"]),
        ),
        ("Apache-2.0", None),
        ("", None),
        ("MIT OR", None),
        ("(MIT", None),
        ("MIT Zlib", None),
    ] {
        assert_eq!(chosen(text, &allowed), expected, "`{text}`");
    }
}

/// Allowed licences that satisfy an SPDX expression; `None` if it is not satisfied, or invalid.
fn chosen<'a>(expression: &str, allowed: &[&'a str]) -> Option<Vec<&'a str>> {
    let text = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let (met, rest) = any_of(&words, allowed)?;
    rest.is_empty().then_some(met)?
}

/// Licences that satisfy the front of an expression, if any, and the rest of it.
type Met<'a, 'b> = Option<(Option<Vec<&'a str>>, &'b [&'b str])>;

fn any_of<'a, 'b>(words: &'b [&'b str], allowed: &[&'a str]) -> Met<'a, 'b> {
    let (mut met, mut rest) = all_of(words, allowed)?;
    while let ["OR", after @ ..] = rest {
        let (other, left) = all_of(after, allowed)?;
        (met, rest) = (met.or(other), left);
    }
    Some((met, rest))
}

fn all_of<'a, 'b>(words: &'b [&'b str], allowed: &[&'a str]) -> Met<'a, 'b> {
    let (mut met, mut rest) = one(words, allowed)?;
    while let ["AND", after @ ..] = rest {
        let (other, left) = one(after, allowed)?;
        (met, rest) = (
            met.zip(other).map(|(one, other)| [one, other].concat()),
            left,
        );
    }
    Some((met, rest))
}

fn one<'a, 'b>(words: &'b [&'b str], allowed: &[&'a str]) -> Met<'a, 'b> {
    let (name, rest) = match words {
        ["(", inner @ ..] => {
            let (met, rest) = any_of(inner, allowed)?;
            return Some((met, rest.strip_prefix(&[")"])?));
        }
        [license, "WITH", exception, rest @ ..] => (format!("{license} WITH {exception}"), rest),
        [license, rest @ ..] => ((*license).to_owned(), rest),
        [] => return None,
    };
    Some((
        allowed.iter().find(|it| **it == name).map(|it| vec![*it]),
        rest,
    ))
}

/// `deny.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    graph: Targets,
    /// Checked by `cargo deny` alone: advisories need the network.
    #[serde(rename = "advisories")]
    _advisories: toml::Table,
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Targets {
    targets: Vec<String>,
    /// Packages of the workspace that are not checked.
    exclude: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Licenses {
    allow: Vec<String>,
    exceptions: Vec<Exception>,
    include_dev: bool,
    unused_allowed_license: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Bans {
    wildcards: String,
    allow_wildcard_paths: bool,
    multiple_versions: String,
    multiple_versions_include_dev: bool,
    skip: Vec<Named>,
    deny: Vec<Named>,
}

/// A crate, `NAME` or `NAME@VERSION`, and the reason for its entry.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    #[serde(rename = "crate")]
    name: String,
    reason: String,
}

impl Named {
    fn is(&self, name: &str, version: &str) -> bool {
        self.name == format!("{name}@{version}") || self.name == name
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Sources {
    unknown_registry: String,
    unknown_git: String,
    allow_registry: Vec<String>,
    allow_git: Vec<String>,
}

/// `Cargo.lock`.
#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    source: Option<String>,
    checksum: Option<String>,
}

/// A crate that is built, for the program or its tests.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Crate {
    name: String,
    version: String,
    license: String,
}

fn rules() -> Rules {
    parsed(&root().join("deny.toml"))
}

fn lock() -> Lock {
    parsed(&root().join("Cargo.lock"))
}

pub fn manifest(path: &Path) -> toml::Table {
    parsed(path)
}

fn parsed<T: DeserializeOwned>(path: &Path) -> T {
    let text = fs::read_to_string(path).unwrap_or_else(|it| panic!("{}: {it}", path.display()));
    toml::from_str(&text).unwrap_or_else(|it| panic!("{}: {it}", path.display()))
}

/// All crates that are built here, according to cargo: the lock file has more, for other systems
/// and for disabled features.
fn crates() -> BTreeSet<Crate> {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--locked",
            "--edges",
            "normal,build,dev",
        ])
        .args(["--prefix", "none", "--format", "{p}|{l}"])
        .current_dir(root())
        .output()
        .expect("cargo can be started");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
    let crates: BTreeSet<Crate> = text.lines().filter(|it| !it.is_empty()).map(read).collect();
    assert!(crates.len() > 100, "{text}");
    crates
}

/// Crates whose manifest names a file instead of a licence, with the licence in it; `cargo deny`
/// reads the file.
const LICENCE_FILES: [(&str, &str); 1] = [("libyaml-safer", "MIT")];

/// `NAME vVERSION (...)|LICENCE`.
fn read(line: &str) -> Crate {
    // A crate that was already listed is marked.
    let line = line.strip_suffix(" (*)").unwrap_or(line);
    let (package, license) = line.split_once('|').expect("it has a licence, or none");
    let mut words = package.split(' ');
    let name = words.next().expect("a text has a first part").to_owned();
    let version = words
        .next()
        .and_then(|it| it.strip_prefix('v'))
        .expect("it has a version");
    let of_file = LICENCE_FILES
        .iter()
        .find(|(of, _)| *of == name && license.is_empty());
    let license = of_file.map_or(license, |(_, license)| license);
    Crate {
        name,
        version: version.to_owned(),
        license: license.to_owned(),
    }
}

/// Dependencies of a manifest, with their version requirements; those of the workspace are in the
/// table of the root. The packages in `tests/common` have no version: they are not published.
fn requirements(manifest: &toml::Table) -> Vec<(String, Option<String>)> {
    let by_target = manifest.get("target").and_then(toml::Value::as_table);
    let by_target = by_target
        .into_iter()
        .flatten()
        .filter_map(|(_, it)| it.as_table());
    let shared = manifest.get("workspace").and_then(toml::Value::as_table);
    by_target
        .chain([manifest])
        .chain(shared)
        .flat_map(|table| {
            ["dependencies", "dev-dependencies", "build-dependencies"]
                .into_iter()
                .filter_map(|kind| table.get(kind).and_then(toml::Value::as_table))
        })
        .flatten()
        .filter(|(_, value)| value.get("workspace").is_none())
        .filter(|(name, _)| !name.ends_with("-testing"))
        .map(|(name, value)| {
            let version = value.as_str().or_else(|| value.get("version")?.as_str());
            (name.clone(), version.map(str::to_owned))
        })
        .collect()
}

/// Manifests of this repository: the package's own, and those of packages in folders below it.
pub fn manifests() -> Vec<PathBuf> {
    let beside = ["", "crates", "tests/common"].map(|folder| root().join(folder));
    let folders = beside.iter().flat_map(|it| fs::read_dir(it).unwrap());
    let folders = folders.map(|entry| entry.unwrap().path());
    let own = [root().to_path_buf()].into_iter();
    own.chain(folders)
        .map(|it| it.join("Cargo.toml"))
        .filter(|it| it.is_file())
        .collect()
}
