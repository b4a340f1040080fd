//! The walls of the house: who may import whom, and who may touch the world.
//!
//! The table below *is* the architecture (`docs/architecture.md`): a module
//! may use itself and what its row names. It is read off the source text:
//! every `crate::NAME` and every `super::` path counts, tests too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Module, and what it may use of the crate. Lowest first.
const TABLE: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("near", &[]),
    ("stopwatch", &[]),
    ("ending", &["stopwatch"]),
    ("guard", &[]),
    ("source", &["error", "near"]),
    ("diagnostic", &["source"]),
    ("yaml", &["source", "near"]),
    ("ignore", &["diagnostic", "yaml", "source"]),
    ("fix", &["diagnostic", "yaml", "source"]),
    ("merge", &["yaml", "source", "near"]),
    ("schema", &["merge", "yaml", "source", "near"]),
    ("config", &["schema", "yaml", "diagnostic", "source", "near", "error"]),
    ("graph", &["merge", "yaml", "source"]),
    ("edit", &["yaml", "source"]),
    ("system", &["schema", "edit", "graph", "merge", "yaml", "source", "near", "error"]),
    ("render", &["guard", "graph", "merge", "yaml", "source", "stopwatch"]),
    ("compare", &["render", "edit", "graph", "yaml", "source"]),
    (
        "rules",
        &[
            "guard",
            "ignore",
            "schema",
            "compare",
            "edit",
            "system",
            "render",
            "graph",
            "merge",
            "yaml",
            "diagnostic",
            "source",
            "near",
            "stopwatch",
        ],
    ),
    ("triage", &["ignore", "diagnostic", "edit", "yaml", "source"]),
    (
        "report",
        &[
            "triage",
            "diagnostic",
            "compare",
            "edit",
            "render",
            "graph",
            "yaml",
            "source",
            "stopwatch",
        ],
    ),
    (
        "check",
        &[
            "ending",
            "guard",
            "rules",
            "triage",
            "ignore",
            "compare",
            "edit",
            "system",
            "render",
            "graph",
            "merge",
            "yaml",
            "diagnostic",
            "source",
            "error",
            "stopwatch",
        ],
    ),
    (
        "commands",
        &[
            "check",
            "fix",
            "config",
            "report",
            "rules",
            "triage",
            "compare",
            "edit",
            "system",
            "render",
            "graph",
            "merge",
            "yaml",
            "diagnostic",
            "source",
            "near",
            "error",
            "stopwatch",
        ],
    ),
];

/// A word of the source, and the only files that may hold it.
const WALLS: &[(&str, &[&str])] = &[
    ("gix::", &["source/git/"]),
    ("signal_hook", &["source/interrupt.rs"]),
    ("mimalloc", &["main.rs"]),
    ("std::process::Command", &[]),
    ("Instant::now", &["stopwatch.rs", "cli/"]),
    ("std::fs", &["source/tree.rs", "source/write.rs"]),
    ("std::env", &["cli/"]),
    ("stdout()", &["cli/"]),
    ("stderr()", &["cli/"]),
    ("rayon::", &["check/", "render/mod.rs", "rules/mod.rs"]),
    // A report is made of the engine's own types: a copy of each for serde would be a second one.
    (
        "serde::Serialize",
        &["report/", "compare/", "diagnostic.rs", "edit.rs", "source/mod.rs", "triage/mod.rs"],
    ),
    ("clap", &["cli/"]),
    ("roff::", &["cli/manual.rs"]),
    ("miette::", &["report/terminal/"]),
    ("granit_parser", &["yaml/"]),
    ("jsonpath_rust", &["yaml/query/"]),
    ("jsonptr::", &["merge/patch/"]),
    ("flate2::", &["system/cloud_init/read/decoding.rs"]),
    ("base64::", &["report/html/head.rs", "system/cloud_init/read/decoding.rs", "yaml/emit.rs"]),
    ("sha2::", &["report/html/head.rs", "source/tree.rs"]),
    ("jsonschema::", &["schema/"]),
    ("fancy_regex", &["merge/pattern/"]),
];

/// The files of `cli/`; each may use those before it.
const CLI: [&str; 18] = [
    "streams",
    "environment",
    "fault",
    "arguments",
    "terminal",
    "outputs",
    "view",
    "hygiene",
    "comparison",
    "saved",
    "cloud_config",
    "demo",
    "queries",
    "verbs",
    "completions",
    "config",
    "manual",
    "mod",
];

/// The files of `check/`; each may use those before it, and the types of the module itself.
const CHECK: [&str; 12] = [
    "configuration",
    "file",
    "files",
    "load",
    "judge",
    "repositories",
    "edited",
    "site",
    "compare",
    "session",
    "run",
    "mod",
];

#[test]
fn files_of_the_command_line_use_only_those_before_them() {
    check_order("cli/", &CLI);
}

#[test]
fn files_of_the_pipeline_use_only_those_before_them() {
    check_order("check/", &CHECK);
}

fn check_order(folder: &str, files: &[&str]) {
    let place = |name: &str| files.iter().position(|it| *it == name);
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let Some(file) = path.strip_prefix(folder).filter(|file| !file.contains('/')) else {
            continue;
        };
        let Some(at) = place(file.trim_end_matches(".rs")) else {
            wrong.push(format!("{path} is not in the list"));
            continue;
        };
        for used in imports(&text, "super::") {
            if place(&used).is_none_or(|used| used >= at) {
                wrong.push(format!("{path} may not use `{used}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn modules_import_only_what_the_table_allows() {
    let allowed: BTreeMap<&str, BTreeSet<&str>> =
        TABLE.iter().map(|(module, uses)| (*module, uses.iter().copied().collect())).collect();
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let module = module_of(&path);
        if matches!(module.as_str(), "lib" | "main" | "cli") {
            continue;
        }
        let Some(uses) = allowed.get(module.as_str()) else {
            wrong.push(format!("{path}: module `{module}` is not in the table"));
            continue;
        };
        for used in imports(&text, "crate::") {
            if used != module && !uses.contains(used.as_str()) {
                wrong.push(format!("{path}: `{module}` may not use `{used}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_row_of_the_table_is_a_module() {
    let modules: BTreeSet<String> = sources().iter().map(|(path, _)| module_of(path)).collect();
    for (module, uses) in TABLE {
        assert!(modules.contains(*module), "`{module}` is gone");
        for used in *uses {
            assert!(modules.contains(*used), "`{used}`, which `{module}` may use, is gone");
        }
    }
}

#[test]
fn the_world_is_touched_only_at_the_walls() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        for (word, places) in WALLS {
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            let inside = places.iter().any(|place| path.starts_with(place));
            if !inside && code.into_iter().any(|line| line.contains(word)) {
                wrong.push(format!("{path} holds `{word}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let name = file.strip_prefix(&root).expect("it was found below the root");
            let name = name.to_string_lossy().replace('\\', "/");
            (name, fs::read_to_string(&file).expect("a source file can be read"))
        })
        .collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a source folder can be read") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn module_of(path: &str) -> String {
    let first = path.split('/').next().expect("a path has a first part");
    first.trim_end_matches(".rs").to_owned()
}

/// The modules that a file names below `root`: with `crate::` as that, `crate::x` and what stands
/// in `crate::{x, y::z}`.
fn imports(text: &str, root: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    let code: String = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect();
    for (at, found) in code.match_indices(root) {
        let rest = &code[at + found.len()..];
        match rest.strip_prefix('{') {
            Some(group) => used.extend(first_names(group)),
            None => used.extend([name_at(rest)]),
        }
    }
    used.remove("");
    used
}

fn name_at(text: &str) -> String {
    text.chars().take_while(|letter| letter.is_ascii_lowercase() || *letter == '_').collect()
}

/// The names at the first level of a group that began just before `text`.
fn first_names(text: &str) -> Vec<String> {
    let (mut names, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => {
                names.push(name_at(text[start..].trim_start()));
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.push(name_at(text[start..].trim_start()));
                start = at + 1;
            }
            _ => {}
        }
    }
    names
}

#[test]
fn planted_violations_are_seen() {
    let uses =
        imports("use crate::report;\nuse crate::{yaml::Node, rules};\n// crate::git\n", "crate::");
    let names: Vec<&str> = uses.iter().map(String::as_str).collect();
    assert_eq!(names, ["report", "rules", "yaml"]);
}
