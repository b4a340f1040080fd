//! Slips in the largest public site repository: each is one error, or one for each cause, comes
//! first in every report, and leaves nothing behind once it is corrected.

use std::fs;

use super::screens::{clone, edit};
use crate::cli::Sandbox;
use crate::cli::screens::{Budget, Screens, USUAL};

const VERSIONS: &str = "global/software/config/versions.yaml";
const DEFINITION: &str = "site/seaworthy/site-definition.yaml";
const POLICY: &str = "global/layering-policy.yaml";

/// Maximum numbers of lines of the terminal, with a base and without one.
const SHORT: [usize; 2] = [60, 60];

/// Number of lines in which the cause must be.
const CAUSE_WITHIN: usize = 20;

/// Number of errors without a slip.
const USUAL_ERRORS: u64 = 4;

/// A slip, the error that reports it, and the number of errors that it adds without a comparison.
struct Slip {
    make: fn(&Sandbox),
    cause: &'static str,
    alone: u64,
    lines: [usize; 2],
}

const SLIPS: [Slip; 20] = [
    Slip {
        make: |it| edit(it, VERSIONS, "\nmetadata:", "\nmetdata:"),
        cause: "`pegleg/SoftwareVersions/v1` has no `metadata`",
        alone: 1,
        lines: SHORT,
    },
    Slip {
        make: |it| edit(it, VERSIONS, "\nschema: pegleg", "\nschma: pegleg"),
        cause: "not a Deckhand document, but a mapping without `schema`",
        alone: 3,
        lines: SHORT,
    },
    Slip {
        make: |it| edit(it, VERSIONS, "\ndata:", "\ndta:"),
        cause: "`software-versions` has an unknown key `dta`",
        alone: 1,
        lines: SHORT,
    },
    Slip {
        make: |it| edit(it, VERSIONS, "layeringDefinition", "layeringDefintion"),
        cause: "`software-versions` has an unknown field `metadata.layeringDefintion`",
        alone: 1,
        lines: SHORT,
    },
    Slip {
        make: |it| edit(it, VERSIONS, "\n  name: software-versions\n", "\n"),
        cause: "`pegleg/SoftwareVersions/v1` has no `metadata.name`",
        alone: 1,
        lines: SHORT,
    },
    Slip {
        make: |it| edit(it, VERSIONS, "layer: global", "layer: globl"),
        cause: "layer `globl` of `software-versions` is not in `layerOrder`",
        alone: 1,
        lines: SHORT,
    },
    Slip {
        make: |it| {
            edit(
                it,
                VERSIONS,
                "name: software-versions-global",
                "name: software-versions-base",
            );
        },
        cause: "no `pegleg/SoftwareVersions/v1` in a higher layer has the labels",
        alone: 1,
        lines: SHORT,
    },
    Slip {
        make: |it| {
            let child = "site/airskiff/software/config/versions.yaml";
            edit(
                it,
                child,
                "name: software-versions-global",
                "name: software-version-globl",
            );
        },
        cause: "no document matches the parentSelector of `software-versions`",
        alone: 1,
        lines: SHORT,
    },
    Slip {
        make: |it| rename(it, "type/foundry", "type/foundri"),
        cause: "site type `foundry` has no folder below `type/`",
        alone: 1,
        lines: SHORT,
    },
    Slip {
        make: |it| edit(it, DEFINITION, "  site_type: foundry\n", ""),
        cause: "site definition without a valid `data.site_type`",
        alone: 1,
        lines: SHORT,
    },
    Slip {
        make: |it| edit(it, DEFINITION, "site_type: foundry", "site_type: fundry"),
        cause: "site type `fundry` has no folder below `type/`",
        alone: 1,
        lines: SHORT,
    },
    Slip {
        make: |it| remove(it, POLICY),
        cause: "no LayeringPolicy among the documents",
        alone: 1,
        lines: SHORT,
    },
    Slip {
        make: |it| {
            edit(
                it,
                VERSIONS,
                "\n  name: software-versions",
                "\n  name: software-version",
            );
        },
        cause: "`software-versions` does not exist; 234 substitutions of 103 documents need it",
        alone: 3,
        lines: SHORT,
    },
    Slip {
        make: |it| edit(it, VERSIONS, "\n  images:", "\n  image:"),
        cause: "`software-versions` has no value at `.images`; 128 substitutions",
        alone: 3,
        lines: SHORT,
    },
    Slip {
        make: |it| {
            let chart = "global/software/charts/kubernetes/core/scheduler.yaml";
            edit(it, chart, "armada/Chart/v1", "armada/Chrt/v1");
        },
        cause: "only `kubernetes-scheduler` has the schema `armada/Chrt/v1`; others need it as",
        alone: 1,
        lines: SHORT,
    },
    Slip {
        make: |it| {
            let chart = "global/software/charts/ucp/armada/armada.yaml";
            edit(it, chart, "armada/Chart/v1", "armada/Chrt/v1");
        },
        cause: "only `ucp-armada` has the schema `armada/Chrt/v1`; others need it as",
        alone: 1,
        lines: SHORT,
    },
    Slip {
        make: |it| remove(it, DEFINITION),
        cause: "folder below `site/` without a `site-definition.yaml`",
        alone: 1,
        lines: SHORT,
    },
    Slip {
        make: |it| edit(it, VERSIONS, "      shipyard:\n", "      shipyard\n"),
        cause: "invalid YAML: ",
        alone: 3,
        lines: SHORT,
    },
    Slip {
        make: |it| {
            let mut bytes = fs::read(it.path(VERSIONS)).expect("the file is there");
            bytes.splice(0..0, *b"# caf\xe9\n");
            it.write(VERSIONS, bytes);
        },
        cause: "the file is not valid UTF-8",
        alone: 3,
        lines: SHORT,
    },
    Slip {
        make: |it| remove(it, VERSIONS),
        cause: "`software-versions` does not exist; 234 substitutions of 103 documents need it",
        // Without a base, it is not known that the source and the parent are one document.
        alone: 4,
        lines: [60, 70],
    },
];

fn rename(sandbox: &Sandbox, from: &str, to: &str) {
    fs::rename(sandbox.path(from), sandbox.path(to)).expect("the folder is there");
}

fn remove(sandbox: &Sandbox, path: &str) {
    fs::remove_file(sandbox.path(path)).expect("the file is there");
}

#[test]
#[ignore = "needs the recorded corpus"]
fn slip_is_one_error_that_comes_first() {
    let sandbox = clone();
    for slip in SLIPS {
        (slip.make)(&sandbox);
        check_comparison(&sandbox, &slip);
        check_alone(&sandbox, &slip);
        sandbox.git(&["checkout", "--quiet", "."]);
        sandbox.git(&["clean", "--quiet", "--force", "-d"]);
    }
}

fn check_comparison(sandbox: &Sandbox, slip: &Slip) {
    let budget = Budget {
        lines: slip.lines[0],
        ..USUAL
    };
    let screens = Screens::of_command(
        sandbox,
        &["lint", "--since", "HEAD", "--ignore", "certificates"],
        &budget,
    );
    assert_eq!(
        screens.json()["totals"]["findings"]["errors"],
        1,
        "{}",
        screens["full"]
    );
    for format in ["full", "comment"] {
        assert_cause(slip, &screens[format]);
    }
    let annotations = &screens["github"];
    let errors = annotations
        .lines()
        .filter(|line| line.starts_with("::error "))
        .count();
    assert_eq!(errors, 1, "{annotations}");
    assert!(
        annotations
            .lines()
            .next()
            .is_some_and(|it| it.contains(slip.cause)),
        "{annotations}"
    );
}

fn check_alone(sandbox: &Sandbox, slip: &Slip) {
    let report = sandbox
        .run(&["lint", "-o", "json", "--ignore", "certificates"])
        .json();
    let errors = report["totals"]["findings"]["errors"]
        .as_u64()
        .expect("a number");
    assert!(
        errors <= USUAL_ERRORS + slip.alone,
        "{}: {errors} errors",
        slip.cause
    );
    let full = sandbox.run(&["lint", "--ignore", "certificates"]).stdout;
    assert_cause(slip, &full);
    let lines = full.lines().count();
    assert!(lines <= slip.lines[1], "{}: {lines} lines", slip.cause);
}

fn assert_cause(slip: &Slip, report: &str) {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = report
        .lines()
        .take(CAUSE_WITHIN)
        .collect::<Vec<_>>()
        .join(" ");
    let first = words(&first).replace("`` ` ", "`").replace(" ` ``", "`");
    assert!(
        first.contains(slip.cause),
        "`{}` comes too late:\n{report}",
        slip.cause
    );
}
