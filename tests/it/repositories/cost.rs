//! Cost of several pins: files that they share are read and parsed once.

use std::process::Command;

use serde_json::Value as Json;

use super::Pinned;
use crate::cli::{Sandbox, document};
use crate::support::sample::is_thorough;

/// Files of the further repository, beside its policy.
const FILES: usize = 400;

/// One in this number of files differs between the two tags.
const DIFFERING: usize = 20;

/// Maximum instructions of a run with two pins, in percent of those of a run with one.
const MAX_PERCENT: u64 = 115;

/// Two sites and a large further repository with the tags `v1` and `v2`.
fn large() -> Pinned {
    let pinned = Pinned {
        sites: Sandbox::new(),
        global: Sandbox::new(),
    };
    let global = &pinned.global;
    global.write("global/policy.yaml", crate::cli::POLICY);
    for version in ["v1", "v2"] {
        for number in 0..FILES {
            if version == "v1" || number % DIFFERING == 0 {
                let values: String = (0..20)
                    .map(|value| {
                        format!("\n  key-{value}: {{image: 'a/b:{version}', of: {number}}}")
                    })
                    .collect();
                let name = format!("chart-{number}");
                let path = format!("global/charts/{}/{name}.yaml", number % 10);
                global.write(&path, document(&name, "global", &values));
            }
        }
        global.commit();
        global.git(&["tag", version]);
    }
    for site in ["one", "two"] {
        pinned.pin(site, "v1");
        pinned.sites.write(
            &format!("site/{site}/own.yaml"),
            document("own", "site", "{a: 1}"),
        );
    }
    pinned
        .sites
        .write("type/small/any.yaml", document("any", "type", "{a: 1}"));
    pinned.sites.commit();
    pinned
}

/// Numbers of files that a run reads and parses.
fn files(pinned: &Pinned) -> [u64; 2] {
    let lint = [
        "lint",
        "--repository",
        &pinned.given(),
        "--timing",
        "-o",
        "json",
    ];
    let output = pinned.sites.command(&lint).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let report: Json = serde_json::from_slice(&output.stdout).unwrap();
    let stages = report["timing_ms"]["stages"].as_array().unwrap();
    ["read", "parse"].map(|stage| {
        let stage = stages.iter().find(|it| it["stage"] == stage).unwrap();
        stage["count"].as_u64().unwrap()
    })
}

#[test]
fn files_that_two_pins_share_are_read_and_parsed_once() {
    let pinned = large();
    // The policy, and the files of the sites.
    let one = FILES + 1 + 5;
    assert_eq!(files(&pinned), [one as u64; 2]);
    pinned.pin("two", "v2");
    let two = one + FILES / DIFFERING;
    assert_eq!(files(&pinned), [two as u64; 2]);
}

/// Only in a thorough run, and where valgrind is installed.
#[test]
fn two_pins_cost_little_more_than_one() {
    if !is_thorough() {
        return;
    }
    let pinned = large();
    let Some(one) = instructions(&pinned) else {
        println!("note: instructions are not counted, for valgrind is not installed");
        return;
    };
    pinned.pin("two", "v2");
    let two = instructions(&pinned).unwrap();
    let percent = 100 * two / one;
    println!("two pins: {percent} % of the {one} instructions of one");
    assert!(percent <= MAX_PERCENT, "{two} of {one} instructions");
}

/// Instructions of a run on one thread; none where valgrind is not installed.
fn instructions(pinned: &Pinned) -> Option<u64> {
    let run = pinned
        .sites
        .command(&["lint", "--repository", &pinned.given()]);
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind
        .arg(run.get_program())
        .args(run.get_args())
        .current_dir(&pinned.sites.root);
    crate::git::scrub(&mut valgrind);
    let output = match valgrind.env("RAYON_NUM_THREADS", "1").output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        output => output.unwrap(),
    };
    let printed = String::from_utf8_lossy(&output.stderr);
    let counted = printed
        .lines()
        .find_map(|line| line.split_once("Collected : "));
    let counted = counted
        .unwrap_or_else(|| panic!("valgrind failed: {printed}"))
        .1;
    Some(counted.trim().parse().unwrap())
}
