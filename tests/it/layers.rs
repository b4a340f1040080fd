//! Dependencies between modules: which may import which, and which may access the world outside.
//!
//! The compiler enforces dependencies between crates. Inside the program the table below *is* the
//! architecture (`docs/architecture.md`): a module may use itself and the modules of its row.
//! Inside a library crate it is the list of modules in the documentation of its `lib.rs`. Both are
//! read from the source text: every `crate::NAME` and every `super::` path counts, tests included.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Modules of the program, lowest first, each with what it may use: other modules, and modules of
/// the library crates by the names that `src/lib.rs` gives them.
const TABLE: &[(&str, &[&str])] = &[
    ("ending", &["stopwatch"]),
    ("diagnostic", &["source"]),
    ("ignore", &["diagnostic", "yaml", "source"]),
    ("fix", &["diagnostic", "yaml", "source"]),
    ("schema", &["merge", "yaml", "source", "near"]),
    (
        "config",
        &["schema", "yaml", "diagnostic", "source", "near", "error"],
    ),
    (
        "system",
        &[
            "schema", "edit", "graph", "merge", "yaml", "source", "near", "error",
        ],
    ),
    ("certificate", &[]),
    (
        "deployment",
        &["compare", "edit", "render", "graph", "yaml", "source"],
    ),
    (
        "rules",
        &[
            "certificate",
            "deployment",
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
    (
        "triage",
        &["ignore", "diagnostic", "edit", "yaml", "source"],
    ),
    (
        "report",
        &[
            "deployment",
            "config",
            "triage",
            "diagnostic",
            "compare",
            "edit",
            "render",
            "graph",
            "merge",
            "yaml",
            "source",
            "stopwatch",
        ],
    ),
    (
        "check",
        &[
            "certificate",
            "deployment",
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
            "cancel",
            "error",
            "stopwatch",
        ],
    ),
    (
        "ask",
        &[
            "certificate",
            "check",
            "rules",
            "deployment",
            "config",
            "report",
            "compare",
            "edit",
            "system",
            "render",
            "graph",
            "merge",
            "yaml",
            "source",
            "near",
            "error",
        ],
    ),
    (
        "commands",
        &[
            "certificate",
            "ask",
            "check",
            "deployment",
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
            "cancel",
            "error",
            "stopwatch",
        ],
    ),
    (
        "mcp",
        &[
            "ask", "check", "commands", "report", "rules", "guard", "near", "cancel", "error",
        ],
    ),
    (
        "server",
        &[
            "commands",
            "ask",
            "check",
            "fix",
            "config",
            "report",
            "rules",
            "triage",
            "system",
            "yaml",
            "diagnostic",
            "guard",
            "source",
            "near",
            "cancel",
            "error",
        ],
    ),
];

/// Modules of the library crates, by the names that `src/lib.rs` gives them.
const LIBRARIES: [&str; 12] = [
    "error",
    "cancel",
    "near",
    "source",
    "yaml",
    "guard",
    "stopwatch",
    "merge",
    "graph",
    "edit",
    "render",
    "compare",
];

/// Library crates, by the last word of their names.
const CRATES: [&str; 4] = ["source", "yaml", "python", "engine"];

/// Text of the source, and the only files that may contain it.
const RESTRICTED: &[(&str, &[&str])] = &[
    ("gix::", &["source/git/"]),
    ("signal_hook", &["source/interrupt.rs"]),
    ("mimalloc", &["main.rs"]),
    ("std::process::Command", &[]),
    ("Instant::now", &["engine/stopwatch.rs", "cli/"]),
    ("std::fs", &["source/tree.rs", "source/write.rs"]),
    ("std::env", &["cli/"]),
    ("stdout()", &["cli/"]),
    ("stderr()", &["cli/"]),
    (
        "rayon::",
        &["check/", "engine/render/mod.rs", "rules/mod.rs"],
    ),
    // Reports are made of the engine's own types, which saves a copy of each for serde.
    (
        "serde::Serialize",
        &[
            "report/",
            "engine/compare/",
            "deployment/table.rs",
            "diagnostic.rs",
            "engine/edit.rs",
            "source/git/log.rs",
            "source/key.rs",
            "server/",
            "source/used.rs",
            "triage/mod.rs",
        ],
    ),
    ("clap", &["cli/"]),
    ("gen_lsp_types", &["server/"]),
    ("notify::", &["commands/watch/changes.rs"]),
    ("lsp_server", &["server/"]),
    ("crossbeam_channel", &["server/"]),
    ("percent_encoding", &["server/"]),
    ("roff::", &["cli/manual.rs"]),
    ("miette::", &["report/terminal/"]),
    ("granit_parser", &["yaml/"]),
    ("libyaml_safer", &["yaml/libyaml.rs"]),
    ("jsonpath_rust", &["yaml/query/"]),
    ("jsonptr::", &["engine/merge/patch/"]),
    ("flate2::", &["system/cloud_init/read/decoding.rs"]),
    (
        "base64::",
        &[
            "certificate/pem.rs",
            "report/html/head.rs",
            "system/cloud_init/read/decoding.rs",
            "yaml/emit.rs",
        ],
    ),
    (
        "sha2::",
        &[
            "certificate/signature.rs",
            "report/html/head.rs",
            "source/tree.rs",
        ],
    ),
    ("SystemTime::now", &["cli/"]),
    ("x509_cert::", &["certificate/"]),
    ("num_bigint::", &["yaml/scalar.rs"]),
    ("p256::", &["certificate/"]),
    ("p384::", &["certificate/"]),
    ("ed25519_dalek::", &["certificate/"]),
    ("rsa::", &["certificate/"]),
    ("jiff::", &["certificate/time.rs"]),
    ("jsonschema::", &["schema/"]),
    ("fancy_regex", &["python/"]),
];

/// Files of `cli/`; each may use the ones before it.
const CLI: [&str; 22] = [
    "streams",
    "environment",
    "fault",
    "candidates",
    "arguments",
    "terminal",
    "outputs",
    "view",
    "watching",
    "hygiene",
    "comparison",
    "saved",
    "cloud_config",
    "demo",
    "history",
    "queries",
    "query",
    "verbs",
    "completions",
    "config",
    "manual",
    "mod",
];

/// Files of `check/`; each may use the ones before it, and the types of the module itself.
const CHECK: [&str; 14] = [
    "configuration",
    "file",
    "files",
    "load",
    "judge",
    "repositories",
    "edited",
    "site",
    "taking",
    "compare",
    "workspace",
    "changes",
    "states",
    "mod",
];

/// Files of `system/edits/`; each may use the ones before it, and the types of the module itself.
const EDITS: [&str; 7] = ["texts", "order", "draft", "files", "pair", "apply", "mod"];

#[test]
fn files_of_the_command_line_use_only_those_before_them() {
    check_order("cli/", &CLI);
}

#[test]
fn files_of_the_pipeline_use_only_those_before_them() {
    check_order("check/", &CHECK);
}

#[test]
fn files_of_edits_use_only_those_before_them() {
    check_order("system/edits/", &EDITS);
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
    let allowed: BTreeMap<&str, BTreeSet<&str>> = TABLE
        .iter()
        .map(|(module, uses)| (*module, uses.iter().copied().collect()))
        .collect();
    let mut wrong = Vec::new();
    for (path, text) in sources_of("src") {
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
fn modules_of_libraries_import_only_those_before_them() {
    let mut wrong = Vec::new();
    for name in CRATES {
        let files = sources_of(&format!("crates/layercake-{name}/src"));
        let (_, lib) = files
            .iter()
            .find(|(path, _)| path == "lib.rs")
            .expect("it is a library");
        let order = order_of_modules(lib);
        let place = |module: &str| order.iter().position(|it| it.iter().any(|it| it == module));
        let modules: BTreeSet<String> = files
            .iter()
            .map(|(path, _)| module_of(path))
            .filter(|it| it != "lib")
            .collect();
        let listed: BTreeSet<String> = order.iter().flatten().cloned().collect();
        assert_eq!(
            listed, modules,
            "modules that `lib.rs` of {name} lists, and those that it has"
        );
        for (path, text) in files {
            let module = module_of(&path);
            let mut used = imports(&text, "crate::");
            if !path.trim_end_matches("/mod.rs").contains('/') {
                used.extend(imports(&text, "super::"));
            }
            for used in used.iter().filter(|_| module != "lib") {
                if place(used) > place(&module) {
                    wrong.push(format!("{name}/{path} may not use `{used}`"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Modules listed in the documentation of a crate, lowest first; those of one item may use each
/// other.
fn order_of_modules(lib: &str) -> Vec<Vec<String>> {
    let name = |part: &str| part.trim_matches(['[', '`', ']']).to_owned();
    lib.lines()
        .skip_while(|line| *line != "//! # Modules")
        .filter_map(|line| line.strip_prefix("//! - ")?.split_once(": "))
        .map(|(names, _)| names.split(", ").map(name).collect())
        .collect()
}

#[test]
fn every_row_of_the_table_is_a_module() {
    let own = sources_of("src");
    let own = own.iter().map(|(path, _)| module_of(path));
    let modules: BTreeSet<String> = own.chain(LIBRARIES.map(str::to_owned)).collect();
    for (module, uses) in TABLE {
        assert!(modules.contains(*module), "`{module}` is gone");
        for used in *uses {
            assert!(
                modules.contains(*used),
                "`{used}`, which `{module}` may use, is gone"
            );
        }
    }
}

#[test]
fn only_listed_files_access_the_outside_world() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        for (word, places) in RESTRICTED {
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            let inside = places.iter().any(|place| path.starts_with(place));
            if !inside && code.into_iter().any(|line| line.contains(word)) {
                wrong.push(format!("{path} holds `{word}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// All files: those of the program as `check/run.rs`, those of library crates as `yaml/read.rs`.
fn sources() -> Vec<(String, String)> {
    let libraries = CRATES.into_iter().flat_map(|name| {
        let files = sources_of(&format!("crates/layercake-{name}/src"));
        files
            .into_iter()
            .map(move |(path, text)| (format!("{name}/{path}"), text))
    });
    sources_of("src").into_iter().chain(libraries).collect()
}

fn sources_of(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let name = file
                .strip_prefix(&root)
                .expect("it was found below the root");
            let name = name.to_string_lossy().replace('\\', "/");
            (
                name,
                fs::read_to_string(&file).expect("a source file can be read"),
            )
        })
        .collect()
}

#[test]
fn every_crate_is_known() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let found: BTreeSet<String> = fs::read_dir(folder)
        .expect("the folder of crates can be read")
        .map(|entry| entry.expect("an entry can be read").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    assert_eq!(found, CRATES.map(|name| format!("layercake-{name}")).into());
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

/// Modules that a file names below `root`: for `crate::`, the names in `crate::x` and in
/// `crate::{x, y::z}`.
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
    text.chars()
        .take_while(|letter| letter.is_ascii_lowercase() || *letter == '_')
        .collect()
}

/// Names at the first level of a braced group whose content begins at `text`.
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
fn planted_violations_are_detected() {
    let uses = imports(
        "use crate::report;\nuse crate::{yaml::Node, rules};\n// crate::git\n",
        "crate::",
    );
    let names: Vec<&str> = uses.iter().map(String::as_str).collect();
    assert_eq!(names, ["report", "rules", "yaml"]);
    let lib = "//! - `files`: a feature\n//! # Modules\n//! - [`near`]: one\n//! - `a`, `b`: two\n";
    assert_eq!(order_of_modules(lib), [vec!["near"], vec!["a", "b"]]);
}
