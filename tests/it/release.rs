//! Manifests and pages agree on the address of the repository, and on the names of packages and
//! archives.
//!
//! Packing of releases is tested by `.ci/action`.

use std::fs;
use std::path::{Path, PathBuf};

use super::stored::root;
use super::supply_chain::{manifest, manifests};

/// `workspace.package.repository`, which the package inherits.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// Commands that install or run a package from PyPI, where `layercake` is another project.
const PYPI_COMMANDS: &[&str] = &[
    "pip install",
    "pipx install",
    "pipx run",
    "uv tool install",
    "uvx",
    "uv tool run",
];

#[test]
fn published_crates_inherit_the_address() {
    for path in manifests() {
        let package = &manifest(&path)["package"];
        if package.get("publish").and_then(toml::Value::as_bool) == Some(false) {
            continue;
        }
        for key in ["repository", "homepage", "license", "version"] {
            assert_eq!(
                package[key]["workspace"].as_bool(),
                Some(true),
                "{}",
                path.display()
            );
        }
    }
    assert_eq!(env!("CARGO_PKG_HOMEPAGE"), REPOSITORY);
}

/// An address with another owner: `github.com/OWNER/layercake`, `github:OWNER/layercake`,
/// `ghcr.io/OWNER/layercake` and `uses: OWNER/layercake@v0`.
#[test]
fn files_name_one_owner() {
    let owner = REPOSITORY.rsplit('/').nth(1).unwrap();
    let mut count = 0;
    for (path, text) in texts() {
        for (at, _) in text.match_indices("/layercake") {
            let before = &text[..at];
            let start = before.rfind(|it: char| !it.is_ascii_alphanumeric() && it != '-');
            let (prefix, named) =
                before.split_at(start.map_or(0, |it| before.ceil_char_boundary(it + 1)));
            let is_address = ["github.com/", "github:", "ghcr.io/", "uses: "];
            if is_address.iter().any(|it| prefix.ends_with(it)) {
                assert_eq!(named, owner, "{}", path.display());
                count += 1;
            }
        }
    }
    assert!(count > 10, "{count} addresses");
}

/// The changelog decides whether there is a release.
#[test]
fn pages_on_installing_say_whether_there_is_a_release() {
    let page = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let is_released = page("docs/changelog.md").lines().any(|line| {
        let release = line
            .strip_prefix("## ")
            .filter(|it| it.starts_with(|it: char| it.is_ascii_digit()));
        release.is_some_and(|it| !it.ends_with("Unreleased"))
    });
    for path in ["README.md", "docs/quick-start.md"] {
        let says_unreleased = page(path).contains("layercake is not yet released");
        assert_eq!(says_unreleased, !is_released, "{path}");
    }
}

#[test]
fn pages_install_the_package_of_this_project() {
    for (path, text) in texts() {
        for command in PYPI_COMMANDS {
            for (at, _) in text.match_indices(command) {
                let rest = text[at + command.len()..].lines().next().unwrap();
                let package = rest
                    .split([' ', '`'])
                    .find(|it| it.starts_with("layercake"));
                let is_ours = package.is_none_or(|it| it.starts_with("layercake-lint"));
                assert!(is_ours, "{}: {command}{rest}", path.display());
            }
        }
    }
}

#[test]
fn binstall_finds_the_archives_of_a_release() {
    let binstall = &manifest(&root().join("Cargo.toml"))["package"]["metadata"]["binstall"];
    let expand = |key: &str| {
        let replaced = [
            ("{ repo }", REPOSITORY),
            ("{ name }", env!("CARGO_PKG_NAME")),
            ("{ version }", "1.2.3"),
            ("{ target }", "some-target"),
            ("{ bin }", "layercake"),
            ("{ binary-ext }", ".exe"),
        ];
        let template = binstall[key].as_str().unwrap().to_owned();
        replaced
            .iter()
            .fold(template, |text, (from, to)| text.replace(from, to))
    };
    let release = fs::read_to_string(root().join(".github/workflows/release.yml")).unwrap();
    assert!(release.contains("/releases/download/v$VERSION"));
    let archive = fs::read_to_string(root().join("packaging/archive.py")).unwrap();
    assert!(archive.contains(r#"name = f"layercake-{version()}-{target}""#));
    assert!(archive.contains(r#"path = folder / f"{name}.tar.gz""#));
    let folder = "layercake-1.2.3-some-target";
    assert_eq!(
        expand("pkg-url"),
        format!("{REPOSITORY}/releases/download/v1.2.3/{folder}.tar.gz")
    );
    assert_eq!(expand("bin-dir"), format!("{folder}/layercake.exe"));
}

/// Pages are published at the address of the repository on GitHub Pages.
#[test]
fn released_programs_and_wheels_link_to_the_published_rule_pages() {
    let release = fs::read_to_string(root().join(".github/workflows/release.yml")).unwrap();
    let url =
        "https://${{ github.repository_owner }}.github.io/${{ github.event.repository.name }}";
    let setting = format!("      LAYERCAKE_DOCS_URL: {url}\n");
    let (_, jobs) = release.split_once("\n  build:\n").unwrap();
    let (build, wheels) = jobs.split_once("\n  wheels:\n").unwrap();
    let (wheels, other) = wheels.split_once("\n  image:\n").unwrap();
    assert_eq!(
        [build, wheels, other].map(|job| job.matches(&setting).count()),
        [1, 1, 0]
    );
}

#[test]
fn wheel_uses_the_available_name() {
    let python = manifest(&root().join("pyproject.toml"));
    let project = &python["project"];
    assert_eq!(project["name"].as_str(), Some("layercake-lint"));
    let package = manifest(&root().join("Cargo.toml"));
    let programs = package["bin"].as_array().unwrap();
    let second = programs
        .iter()
        .find(|it| it["name"].as_str() == Some("layercake-lint"))
        .unwrap();
    assert_eq!(
        second["required-features"],
        python["tool"]["maturin"]["features"]
    );
    assert_eq!(
        project["description"].as_str(),
        Some(env!("CARGO_PKG_DESCRIPTION"))
    );
    for (name, address) in project["urls"].as_table().unwrap() {
        assert!(address.as_str().unwrap().starts_with(REPOSITORY), "{name}");
    }
}

#[test]
fn hooks_are_taken_from_this_version() {
    let page = fs::read_to_string(root().join("docs/hooks.md")).unwrap();
    let revs: Vec<&str> = page
        .lines()
        .filter_map(|it| it.trim_start().strip_prefix("rev: v"))
        .collect();
    assert!(!revs.is_empty());
    for rev in revs {
        let version = rev.split_whitespace().next();
        assert_eq!(version, Some(env!("CARGO_PKG_VERSION")), "{rev}");
    }
}

/// Files that people read or copy from, and files that packages are built from.
fn texts() -> Vec<(PathBuf, String)> {
    let mut texts = Vec::new();
    for folder in ["docs", ".github", "packaging", "action", "tests/action"] {
        collect(&root().join(folder), &mut texts);
    }
    for entry in fs::read_dir(root()).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|it| it == "md" || it == "toml" || it == "yml")
        {
            texts.push((path.clone(), fs::read_to_string(path).unwrap()));
        }
    }
    assert!(texts.len() > 40);
    texts
}

fn collect(folder: &Path, texts: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, texts);
        } else if let Ok(text) = fs::read_to_string(&path) {
            texts.push((path, text));
        }
    }
}
