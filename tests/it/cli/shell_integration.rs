//! Shell completions and manual pages, which must cover every verb and flag that `--help` has.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::super::docs::verbs;
use super::{Ran, Sandbox};

const SHELLS: [&str; 5] = ["bash", "zsh", "fish", "powershell", "elvish"];

#[test]
fn bash_completes_verbs_and_flags() {
    let words = |line: &[&str]| completed_by_bash(line);
    assert_eq!(words(&["layercake", "expl"]), ["explain", "explain-value"]);
    assert_eq!(
        words(&["layercake", "lint", "--expect"]),
        ["--expect-unchanged"]
    );
    assert_eq!(words(&["layercake", "config", "sh"]), ["show"]);
    assert_eq!(
        words(&["layercake", "lint", "--semantics", "de"]),
        ["deckhand"]
    );
    assert!(
        words(&["layercake", "deb"]).is_empty(),
        "hidden verbs are not offered"
    );
}

#[test]
fn bash_completes_rules_formats_sites_and_revisions() {
    let sandbox = Sandbox::with_sites();
    sandbox.commit();
    sandbox.git(&["tag", "v1"]);
    let words = |line: &[&str]| completed_in(&sandbox, &[&["layercake"], line].concat());
    assert_eq!(
        words(&["lint", "--select", "missing-p"]),
        ["missing-parent", "missing-pattern-target"]
    );
    assert_eq!(
        words(&["lint", "--ignore", "P005,lossy"]),
        ["P005,lossy-version"]
    );
    assert_eq!(words(&["explain", "stric"]), ["strict"]);
    assert_eq!(words(&["lint", "-o", "sa"]), ["sarif"]);
    assert_eq!(words(&["lint", "--site", "la"]), ["lab"]);
    assert_eq!(words(&["explain-value", "la"]), ["lab"]);
    assert_eq!(words(&["blame", "lab", "la"]), [""; 0]);
    assert_eq!(words(&["lint", "--since", "v"]), ["v1"]);
    assert_eq!(
        words(&["diff", "--from", "v1", "--to", "work"]),
        ["worktree"]
    );
    let elsewhere = Sandbox::outside_git();
    let folder = sandbox.root.to_str().unwrap();
    assert_eq!(
        completed_in(
            &elsewhere,
            &["layercake", "-C", folder, "lint", "--site", "la"]
        ),
        ["lab"]
    );
    let line = ["layercake", "lint", "--site", "la"];
    assert!(
        completed_in(&elsewhere, &line).is_empty(),
        "there is no repository"
    );
}

/// Names that end the command or the word, or are read as something else.
const HOSTILE: [&str; 20] = [
    "lab;touch PWNED;#",
    "lab$(touch PWNED)",
    "lab`touch PWNED`",
    "lab&touch PWNED",
    "lab|touch PWNED",
    "lab>PWNED",
    "lab<PWNED",
    "lab\ntouch PWNED\n",
    "lab\rtouch PWNED\r",
    "lab\x0btouch PWNED",
    "lab\x1b[201~touch PWNED",
    "lab touch PWNED",
    "lab\ttouch",
    "lab'PWNED",
    "lab\"PWNED",
    "lab\\PWNED",
    "lab*",
    "lab{a,b}",
    "lab!PWNED",
    "lab\u{202e}PWNED",
];

#[test]
fn only_names_that_are_one_word_are_offered() {
    let sandbox = with_hostile_names();
    let words = |line: &[&str]| completed_in(&sandbox, &[&["layercake"], line].concat());
    assert_eq!(words(&["blame", "la"]), ["lab", "lab-2"]);
    assert_eq!(words(&["lint", "--site", ""]), ["lab", "lab-2", "prod"]);
    assert_eq!(
        words(&["lint", "--site=la"]),
        ["--site=lab", "--site=lab-2"]
    );
    assert_eq!(words(&["lint", "--since", "la"]), ["lab-1"]);
    assert_eq!(words(&["lint", "files/"]), ["files/--lab", "files/lab-2"]);
    assert_eq!(words(&["lint", "--config", "files/la"]), ["files/lab-2"]);
    assert!(!sandbox.path("PWNED").exists());
}

/// A repository with sites, files, branches and tags of hostile names.
pub(super) fn with_hostile_names() -> Sandbox {
    let sandbox = Sandbox::with_sites();
    let definition = fs::read_to_string(sandbox.path("site/lab/site-definition.yaml")).unwrap();
    let site_type = definition.replace("name: lab", "name: other");
    for name in HOSTILE.iter().chain(&["lab-2", "--lab"]) {
        sandbox.write(&format!("site/{name}/site-definition.yaml"), &site_type);
        sandbox.write(&format!("files/{name}"), "");
    }
    sandbox.commit();
    for kind in ["tag", "branch"] {
        let accepted = HOSTILE.iter().filter(|name| {
            let name = name.replace(' ', "${IFS}");
            let made = Command::new("git")
                .current_dir(&sandbox.root)
                .args([kind, &name])
                .output();
            made.unwrap().status.success()
        });
        assert!(accepted.count() > 8, "git accepts many of the names");
    }
    sandbox.git(&["tag", "lab-1"]);
    sandbox
}

/// Completions that bash offers for the last word, without further packages.
fn completed_by_bash(line: &[&str]) -> Vec<String> {
    completed_in(&Sandbox::outside_git(), line)
}

fn completed_in(sandbox: &Sandbox, line: &[&str]) -> Vec<String> {
    let script = sandbox.run(&["completions", "bash"]).stdout;
    sandbox.write("layercake.bash", script);
    let asked = "set -euo pipefail\nsource layercake.bash\n\
                 function=$(complete -p layercake | sed 's/.*-F \\([^ ]*\\).*/\\1/')\n\
                 COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)) COMP_TYPE=9 COMPREPLY=()\n\
                 \"$function\" layercake \"${@: -1}\" \"${@: -2:1}\" || true\n\
                 [[ ${#COMPREPLY[@]} -eq 0 ]] || printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    bash.current_dir(&sandbox.root)
        .env("PATH", path_with_program())
        .args(["--norc", "-c", asked, "bash"])
        .args(line);
    let ran = Ran::of(&bash.output().unwrap());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{line:?}");
    let mut words: Vec<String> = ran.stdout.lines().map(str::to_owned).collect();
    words.sort();
    words
}

/// `PATH` with the folder of the program in front.
pub(super) fn path_with_program() -> OsString {
    let folder = Path::new(env!("CARGO_BIN_EXE_layercake"))
        .parent()
        .unwrap()
        .to_owned();
    let others = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&others))).unwrap()
}

#[test]
fn fish_completes_verbs_and_flags() {
    let sandbox = Sandbox::outside_git();
    sandbox.write(
        "layercake.fish",
        sandbox.run(&["completions", "fish"]).stdout,
    );
    for (line, expected) in [
        ("layercake expl", "explain-value"),
        ("layercake lint --expect", "--expect-unchanged"),
    ] {
        let asked = format!("source layercake.fish; complete -C '{line}'");
        let mut fish = Command::new("fish");
        fish.current_dir(&sandbox.root).env("HOME", &sandbox.root);
        fish.env("PATH", path_with_program());
        let Ok(output) = fish.args(["--no-config", "-c", &asked]).output() else {
            eprintln!("skipped: fish is not installed");
            return;
        };
        let ran = Ran::of(&output);
        let words: Vec<&str> = ran
            .stdout
            .lines()
            .map(|line| line.split('\t').next().unwrap())
            .collect();
        assert!(words.contains(&expected), "{line}: {ran:?}");
    }
}

/// Checks the scripts with each shell; a shell that is not installed is reported.
#[test]
fn shells_accept_the_scripts() {
    let sandbox = Sandbox::outside_git();
    for shell in SHELLS {
        let ran = sandbox.run(&["completions", shell]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{shell}");
        assert!(!ran.stdout.contains('\x1b'), "{shell}");
        let file = format!("layercake.{shell}");
        sandbox.write(&file, &ran.stdout);
        if !matches!(shell, "bash" | "zsh" | "fish") {
            continue;
        }
        let checked = Command::new(shell)
            .current_dir(&sandbox.root)
            .args(["-n", &file])
            .output();
        match checked {
            Ok(output) => {
                let errors = String::from_utf8_lossy(&output.stderr);
                assert!(
                    output.status.success() && errors.is_empty(),
                    "{shell}: {errors}"
                );
            }
            Err(_) => eprintln!("skipped: {shell} is not installed"),
        }
    }
    assert_eq!(sandbox.run(&["completions", "nosuch"]).code, 2);
}

#[test]
fn every_verb_has_a_page_with_all_its_flags() {
    let sandbox = Sandbox::outside_git();
    let pages = written_pages(&sandbox);
    let mut expected = BTreeSet::from(["layercake.1".to_owned()]);
    expected.extend(
        verbs()
            .iter()
            .map(|verb| format!("layercake-{}.1", verb.join("-"))),
    );
    assert_eq!(pages.keys().cloned().collect::<BTreeSet<_>>(), expected);
    for verb in verbs().into_iter().chain([Vec::new()]) {
        let words: Vec<&str> = verb.iter().map(String::as_str).collect();
        let printed = sandbox.run(&[&["man"], &words[..]].concat());
        assert_eq!((printed.code, printed.stderr.as_str()), (0, ""), "{verb:?}");
        let name = [&["layercake"], &words[..]].concat().join("-");
        assert_eq!(
            printed.stdout,
            pages[&format!("{name}.1")],
            "printed and written pages are the same"
        );
        assert!(
            !printed.stdout.contains('\x1b') && !printed.stdout.contains('`'),
            "{name}"
        );
        for flag in flags(&sandbox.run(&[&words[..], &["--help"]].concat()).stdout) {
            let written = format!("\\fB{}\\fR", flag.replace('-', "\\-"));
            assert!(printed.stdout.contains(&written), "{name}: {flag}");
        }
        for section in [
            "NAME",
            "SYNOPSIS",
            "DESCRIPTION",
            "EXAMPLES",
            "\"EXIT STATUS\"",
            "NEXT",
        ] {
            assert!(
                printed.stdout.contains(&format!("\n.SH {section}\n")),
                "{name}: {section}"
            );
        }
    }
}

#[test]
fn only_verbs_have_a_page() {
    let sandbox = Sandbox::outside_git();
    for verb in [
        &["nosuch"][..],
        &["lint", "nosuch"],
        &["debug"],
        &["--dir", "there", "lint"],
    ] {
        let ran = sandbox.run(&[&["man"], verb].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{verb:?}");
        assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
        assert!(!sandbox.path("there").exists());
    }
}

/// Checks the pages with the two programs that show manual pages on most machines.
#[test]
fn typesetters_accept_the_pages() {
    let sandbox = Sandbox::outside_git();
    let pages = written_pages(&sandbox);
    for (name, page) in &pages {
        let groff = ["groff", "-man", "-ww", "-Tutf8", "-P-cbou", "-rLL=80n"];
        let Some(shown) = typeset(&groff, page) else {
            eprintln!("skipped: groff is not installed");
            return;
        };
        assert_eq!(shown.stderr, "", "{name}");
        assert!(
            shown.stdout.contains("EXIT STATUS"),
            "{name}: {}",
            shown.stdout
        );
    }
    let lint = typeset(
        &["groff", "-man", "-Tutf8", "-P-cbou", "-rLL=80n"],
        &pages["layercake-lint.1"],
    );
    let lint = lint.unwrap().stdout;
    assert!(
        lint.contains("\n       layercake lint [OPTIONS] [FILE]...\n"),
        "{lint}"
    );
    assert!(
        lint.contains("\n       layercake lint -o full -o json=report.json\n"),
        "{lint}"
    );
    assert!(
        lint.contains("\n       2      usage or internal error\n"),
        "{lint}"
    );
}

/// Output of a typesetter for a page; `None` if it is not installed.
fn typeset(command: &[&str], page: &str) -> Option<Ran> {
    let mut typesetter = Command::new(command[0]);
    typesetter.args(&command[1..]).stdin(Stdio::piped());
    let child = typesetter
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.ok()?;
    child
        .stdin
        .take()
        .unwrap()
        .write_all(page.as_bytes())
        .unwrap();
    Some(Ran::of(&child.wait_with_output().unwrap()))
}

fn written_pages(sandbox: &Sandbox) -> BTreeMap<String, String> {
    let ran = sandbox.run(&["man", "--dir", "share/man1"]);
    let folder = sandbox.path("share/man1");
    let count = fs::read_dir(&folder).unwrap().count();
    let said = format!("wrote {count} pages to ./share/man1\n");
    assert_eq!((ran.code, ran.stdout, ran.stderr.as_str()), (0, said, ""));
    let entries = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let name = |path: &std::path::Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    entries
        .map(|path| (name(&path), fs::read_to_string(&path).unwrap()))
        .collect()
}

/// Flags of a help text, taken from the lines that introduce them.
fn flags(help: &str) -> BTreeSet<String> {
    let lines = help
        .lines()
        .map(str::trim_start)
        .filter(|line| line.starts_with('-'));
    let words = lines.flat_map(|line| line.split("  ").next().unwrap().split([' ', ',']));
    let flags = words.filter(|word| word.starts_with('-') && word.len() > 1);
    flags
        .map(|flag| flag.split(['[', '=']).next().unwrap().to_owned())
        .collect()
}
