//! Comparisons for people: whole screens, kept in `tests/screens`, and their properties.

use std::sync::Arc;

use layercake::compare::reach::Why;
use layercake::compare::{Status, Via};
use layercake::diagnostic::{Diagnostic, Label};
use layercake::edit::{Edit, EditId, EditKind, Text};
use layercake::report::model::{Report, ReportInput};
use layercake::report::{Detail, FindingFilter, TerminalOptions, TerminalStyle};
use layercake::source::DocKey;
use layercake::triage::{self, Findings};
use layercake::yaml::diff::{DiffPlace, Difference};

use super::world::{LOOK, Side, World};
use super::{plain, rule};
use crate::stored::assert_stored;
use crate::support::saved;

const VERSIONS: &str = "global/software/config/versions.yaml";
const NEUTRON: &str = "global/software/charts/osh/openstack-compute-kit/neutron.yaml";
const SLOOP: &str = "type/sloop/charts/osh/comps/neutron.yaml";
const AIAB: &str = "site/aiab/software/charts/osh/openstack-compute-kit/neutron.yaml";
const SUSE: &str = "site/airskiff-suse/software/config/versions.yaml";
const SUSE_CHART: &str = AIAB;
const SITES: [&str; 6] = [
    "aiab",
    "airskiff",
    "airskiff-suse",
    "airsloop",
    "seaworthy",
    "seaworthy-virt",
];

fn versions(image: &str) -> String {
    format!("schema: pegleg/SoftwareVersions/v1\ndata:\n  images:\n    neutron: {image}\n")
}

/// One edited line that reaches all sites but one, through two other documents and past a document
/// replacement.
pub(super) fn one_image() -> World {
    let chart = "schema: armada/Chart/v1\n".to_owned() + &"# text\n".repeat(30);
    let (old, new) = (
        versions("docker.io/openstackhelm/neutron:ocata-ubuntu_xenial"),
        versions("docker.io/openstackhelm/neutron:2024.1-ubuntu_jammy"),
    );
    let mut world = World::new(
        &SITES,
        &[
            (VERSIONS, &old, &new),
            (NEUTRON, &chart, &chart),
            (SLOOP, &chart, &chart),
            (AIAB, &chart, &chart),
            (SUSE, &chart, &chart),
        ],
    );
    world.schema("pegleg/SoftwareVersions/v1", &["software-versions"]);
    world.schema("armada/Chart/v1", &["neutron", "neutron-global"]);
    let edit = world.edit("software-versions (global)", VERSIONS, ".images.neutron");
    let (at, tag) = (".images.neutron", ".values.images.tags.neutron");
    let edited = (
        Via::Edited,
        "software-versions (global)",
        at,
        &[(VERSIONS, 4)][..],
    );
    let substituted = (
        Via::Substituted,
        "neutron-global (global)",
        tag,
        &[(NEUTRON, 26), (NEUTRON, 28)][..],
    );
    let inherited = (Via::Inherited, "neutron (type)", tag, &[(SLOOP, 11)][..]);
    for site in SITES.into_iter().filter(|it| *it != "airskiff-suse") {
        let output = world.output(
            site,
            "software-versions (global)",
            Status::Changed,
            VERSIONS,
        );
        world.differs(output, at, VERSIONS, ".data.images.neutron");
        let replaced = (
            Via::Replaced,
            "software-versions (site)",
            at,
            &[(VERSIONS, 1)][..],
        );
        match site {
            "airskiff" => world.cause(output, edit, &[], &[edited, replaced]),
            _ => world.cause(output, edit, &[], &[edited]),
        }
        let output = world.output(site, "neutron-global (global)", Status::Changed, NEUTRON);
        world.differs(output, tag, VERSIONS, ".data.images.neutron");
        world.cause(output, edit, &[], &[edited, substituted]);
        if site == "seaworthy-virt" {
            continue;
        }
        let output = world.output(site, "neutron (site)", Status::Changed, AIAB);
        world.differs(output, tag, VERSIONS, ".data.images.neutron");
        let last = (Via::Inherited, "neutron (site)", tag, &[(AIAB, 10)][..]);
        world.cause(output, edit, &[], &[edited, substituted, inherited, last]);
    }
    world.shield(
        edit,
        "airskiff-suse",
        "software-versions (site)",
        at,
        Why::SetAgain,
        (SUSE, 20),
    );
    world.finish()
}

/// Compares a screen with the stored one, which `LAYERCAKE_BLESS` rewrites.
pub(super) fn assert_screen(name: &str, screen: &str) {
    assert_stored(&format!("tests/screens/{name}.txt"), screen);
}

#[test]
fn one_edit_is_shown_with_its_reach_at_any_width() {
    for width in [40, 80, 160] {
        assert_screen(&format!("one-edit-{width}"), &one_image().at(width));
    }
    assert_screen("one-edit-concise", &one_image().brief());
}

#[test]
fn unicode_and_colours_depend_on_the_terminal() {
    let whole = TerminalOptions {
        detail: Detail::Whole,
        ..LOOK
    };
    let ascii = one_image().full(
        TerminalStyle {
            unicode: false,
            ..plain(80)
        },
        whole,
    );
    assert!(ascii.is_ascii(), "{ascii}");
    assert!(ascii.contains("neutron.yaml:26 -> :28"), "{ascii}");
    let painted = one_image().full(
        TerminalStyle {
            color: true,
            ..plain(80)
        },
        LOOK,
    );
    assert!(
        painted.contains("\x1b[1;31m-\x1b[0m \x1b[1;31mdocker.io/openstackhelm/neutron:ocata"),
        "{painted}"
    );
    assert!(
        painted.contains("\x1b[1;32m+\x1b[0m \x1b[1;32mdocker.io/openstackhelm/neutron:2024"),
        "{painted}"
    );
    let mut parts = painted.split("\x1b[");
    let first = parts.next().unwrap().to_owned();
    let bare = parts.fold(first, |all, part| all + part.split_once('m').unwrap().1);
    assert_eq!(bare, one_image().at(80), "only colours differ");
}

/// Forty versions are raised at once: ten charts with four images each.
pub(super) fn many_images() -> World {
    let text = |version: &str| {
        let images = (0..40).map(|at| {
            format!(
                "    image_{at}: registry.example.org/chart{}:{version}\n",
                at / 4
            )
        });
        format!("data:\n  images:\n{}", images.collect::<String>())
    };
    let chart = "# text\n".repeat(30) + "schema: s\n";
    let mut world = World::new(
        &["lab", "north", "south"],
        &[
            ("versions.yaml", &text("1.0"), &text("1.1")),
            ("charts.yaml", &chart, &chart),
        ],
    );
    let edits: Vec<EditId> = (0..40)
        .map(|at| {
            world.edit(
                "versions (global)",
                "versions.yaml",
                &format!(".images.image_{at}"),
            )
        })
        .collect();
    for site in ["lab", "north", "south"] {
        let versions = world.output(site, "versions (global)", Status::Changed, "versions.yaml");
        for (at, edit) in edits.iter().enumerate() {
            let path = format!(".images.image_{at}");
            world.differs(versions, &path, "versions.yaml", &format!(".data{path}"));
            let line = at + 3;
            let edited = (
                Via::Edited,
                "versions (global)",
                &*path,
                &[("versions.yaml", line)][..],
            );
            world.cause(versions, *edit, &[], &[edited]);
        }
        for number in 0..10 {
            let name = format!("chart{number} (global)");
            let chart = world.output(site, &name, Status::Changed, "charts.yaml");
            for (at, edit) in edits.iter().enumerate().skip(number * 4).take(4) {
                let (from, to) = (
                    format!(".images.image_{at}"),
                    format!(".values.tags.image_{at}"),
                );
                world.differs(chart, &to, "versions.yaml", &format!(".data{from}"));
                let edited = (
                    Via::Edited,
                    "versions (global)",
                    &*from,
                    &[("versions.yaml", at + 3)][..],
                );
                let into = (
                    Via::Substituted,
                    &*name,
                    &*to,
                    &[("charts.yaml", number + 1)][..],
                );
                world.cause(chart, *edit, &[], &[edited, into]);
            }
        }
    }
    world.finish()
}

#[test]
fn edits_of_many_outputs_are_listed_at_the_values_of_each() {
    let text = many_images().at(80);
    assert_eq!(
        text.matches("chart0:1.0").count(),
        4,
        "each value once:\n{text}"
    );
    let entries = text
        .lines()
        .filter(|line| line.starts_with("3 × chart"))
        .count();
    assert_eq!(entries, TerminalOptions::DEFAULT_LIMIT, "{text}");
    assert_screen(
        "many-edits",
        &many_images().full(plain(80), TerminalOptions { limit: 2, ..LOOK }),
    );
    let whole = TerminalOptions {
        limit: 0,
        detail: Detail::Whole,
        ..LOOK
    };
    let all = many_images().full(plain(80), whole);
    assert!(!all.contains("(-v)"), "{all}");
    assert!(
        (0..40).all(|at| all.contains(&format!(".images.image_{at}\n"))),
        "{all}"
    );
    assert_screen(
        "many-edits-stat",
        &many_images().full(
            plain(80),
            TerminalOptions {
                detail: Detail::Figures,
                ..LOOK
            },
        ),
    );
}

/// Every kind of change of an output, by every kind of route.
pub(super) fn all_kinds() -> World {
    let text = "data: {a: 1, b: 2, c: 3, d: 4, e: 5, f: 6}\nmetadata: {labels: {x: y}}\n";
    let changed = text
        .replace("a: 1", "a: 10")
        .replace("b: 2, ", "")
        .replace("c: 3", "c: 30");
    let changed = changed
        .replace("x: y", "x: z")
        .replace("f: 6", "f: 6, g: {h: [1, 2]}");
    let policy = "data: {layerOrder: [global, site]}\n";
    let mut world = World::new(
        &["lab", "north"],
        &[
            ("a.yaml", text, &changed),
            ("old.yaml", "schema: s\n", ""),
            ("new.yaml", "", "schema: s\n"),
            ("left/moved.yaml", "schema: s\n", ""),
            ("right/moved.yaml", "", "schema: s\n"),
            (
                "policy.yaml",
                policy,
                &policy.replace("global, ", "global, type, "),
            ),
            ("other.yaml", "schema: s\n", "schema: s\n"),
        ],
    );
    let value = world.edit("one (global)", "a.yaml", ".a");
    let gone = world.edit("one (global)", "a.yaml", ".b");
    let third = world.edit("one (global)", "a.yaml", ".c");
    let key = world.edit("one (global)", "a.yaml", ".g");
    let label = world.edit("one (global)", "a.yaml", "metadata.labels.x");
    let removed = world.document_edit(EditKind::Document, "old (global)", Some("old.yaml"), None);
    let added = world.document_edit(EditKind::Document, "new (site)", None, Some("new.yaml"));
    let (left, right) = (Some("left/moved.yaml"), Some("right/moved.yaml"));
    let moved = world.document_edit(EditKind::Moved, "moved (type)", left, right);
    let order = world.edit("policy", "policy.yaml", ".layerOrder");
    world.comparison.edits[order.index()].edit.kind = EditKind::Policy;
    let at = |line| [("other.yaml", line)];
    let edited = |path| (Via::Edited, "one (global)", path, &[("a.yaml", 1)][..]);
    let mut out = |name: &str, status, edit, joint: &[EditId], steps: &[super::world::Step<'_>]| {
        let file = if status == Status::Removed {
            "old.yaml"
        } else {
            "other.yaml"
        };
        let output = world.output("lab", name, status, file);
        if status == Status::Changed {
            world.differs(output, ".a", "a.yaml", ".data.a");
        }
        world.cause(output, edit, joint, steps);
        output
    };
    let here = at(1);
    out(
        "changed (site)",
        Status::Changed,
        value,
        &[third],
        &[
            edited(".a"),
            (Via::Inherited, "changed (site)", ".a", &here),
        ],
    );
    let last = out(
        "changed (site)",
        Status::Changed,
        third,
        &[],
        &[
            edited(".c"),
            (Via::Retargeted, "changed (site)", ".a", &here),
        ],
    );
    out(
        "gone (site)",
        Status::Removed,
        removed,
        &[],
        &[(Via::Removed, "old (global)", "", &here)],
    );
    out(
        "came (site)",
        Status::Added,
        added,
        &[],
        &[(Via::Added, "new (site)", "", &here)],
    );
    out(
        "broken (site)",
        Status::Broken,
        gone,
        &[],
        &[
            edited(".b"),
            (Via::Substituted, "broken (site)", ".x", &here),
        ],
    );
    out(
        "repaired (site)",
        Status::Repaired,
        key,
        &[],
        &[
            edited(".g"),
            (Via::Replaced, "repaired (site)", ".g", &here),
        ],
    );
    out(
        "orphan (site)",
        Status::Changed,
        label,
        &[],
        &[edited(""), (Via::Unparented, "orphan (site)", "", &here)],
    );
    let labelled = out(
        "labelled (site)",
        Status::Metadata,
        label,
        &[],
        &[edited("")],
    );
    out(
        "moved (type)",
        Status::Added,
        moved,
        &[],
        &[(Via::Added, "moved (type)", "", &here)],
    );
    out(
        "layered (site)",
        Status::Changed,
        order,
        &[],
        &[(Via::Policy, "layered (site)", "", &here)],
    );
    // The first two belong to one output, which has two causes.
    let second = world.comparison.outputs.remove(last);
    world.comparison.outputs[last - 1]
        .causes
        .extend(second.causes.into_iter().map(|mut cause| {
            cause.joint = vec![value];
            cause
        }));
    let metadata = as_difference(&world.comparison.edits[label.index()].edit);
    world.comparison.outputs[labelled - 1]
        .metadata
        .push(metadata);
    world.finish()
}

/// Difference made by an edit in its own document.
fn as_difference(edit: &Edit) -> Difference {
    let place = |text: &Text| DiffPlace {
        location: edit.location.clone(),
        key: None,
        node: text.node.clone().expect("a value was edited"),
    };
    Difference::value(edit.base.as_ref().map(place), edit.head.as_ref().map(place))
}

#[test]
fn every_kind_of_change_is_described() {
    assert_screen("all-kinds", &all_kinds().at(80));
}

#[test]
fn edits_without_effect_are_listed_separately() {
    let (old, new) = ("data: {a: 1, b: 1, c: 1}\n", "data: {a: 2, b: 2, c: 2}\n");
    let world = |count: usize| {
        let mut world = World::new(&["lab"], &[("a.yaml", old, new)]);
        for at in ["a", "b", "c"].into_iter().take(count) {
            world.edit("one (global)", "a.yaml", &format!(".{at}"));
        }
        world
    };
    assert_screen("no-effect", &world(3).finish().at(80));
    // A file with a text edit that changes no value.
    assert_screen("only-text", &world(0).finish().at(80));
    // Edits that are shielded everywhere are listed.
    let mut stopped = world(2);
    for (site, line) in [("lab", 1), ("", 1)] {
        stopped.shield(
            EditId::at(0),
            site,
            "over (site)",
            ".a",
            Why::Deleted,
            ("a.yaml", line),
        );
    }
    assert_screen("stopped-everywhere", &stopped.finish().at(80));
}

#[test]
fn unexplained_changes_are_prominent() {
    let mut world = one_image();
    world.comparison.outputs[0].causes.clear();
    world.comparison.outputs[0].edits = [].into();
    world.comparison.edits[0].outputs -= 1;
    world.comparison.outputs[0].unexplained = 1;
    world.comparison.outputs[1].unexplained = 1;
    for text in [
        world.full(plain(80), TerminalOptions { limit: 1, ..LOOK }),
        world.brief(),
    ] {
        let from = text
            .find("UNEXPLAINED: ")
            .expect("it is shown at any limit");
        assert_screen("unexplained", text[from..].split("\n\n").next().unwrap());
        assert!(
            text.contains("2 outputs UNEXPLAINED"),
            "the figures say it, too: {text}"
        );
    }
}

#[test]
fn shields_are_listed_by_site_and_by_document() {
    let mut world = one_image();
    let edit = EditId::at(0);
    for site in ["aiab", "airsloop"] {
        let key = "armada/Chart/v1 neutron-extra (type)";
        world.shield(edit, site, key, ".values", Why::NotTaken, (SLOOP, 5));
    }
    for line in 6..12 {
        let key = "armada/Chart/v1 neutron (site)";
        world.shield(
            edit,
            "airskiff-suse",
            key,
            ".values",
            Why::SubstitutedOver,
            (SUSE_CHART, line),
        );
    }
    let text = world.at(100);
    let stops = text
        .lines()
        .skip_while(|line| !line.starts_with("  shielded"));
    let stops = stops
        .take_while(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join("\n");
    assert_screen("shields", &stops);
}

#[test]
fn values_are_shown_as_yaml_with_context() {
    let long = "x".repeat(100);
    let script = |line: &str| {
        (0..30)
            .map(|at| {
                if at == 20 {
                    format!("    {line}\n")
                } else {
                    format!("    step {at}\n")
                }
            })
            .collect::<String>()
    };
    let side = |number: usize| {
        let keys: String = (0..number * 6)
            .map(|at| format!("key{at}: {at}, "))
            .collect();
        format!(
            "data:\n  script: |\n{}  one: {{a: {number}, b: 2}}\n  many: {{{keys}}}\n  list: [{}]\n  \
             text: {long}{number}{long}\n  quoted: '{number}'\n  ends: |{}\n    same\n  grew: |\n{}",
            script(&format!("run {number}")),
            "1, ".repeat(number * 7),
            if number == 1 { "-" } else { "" },
            "    more\n".repeat(number * 9),
        )
    };
    let side = |number| side(number).replace("quoted: '2'", "quoted: 2");
    let mut world = World::new(&[], &[("a.yaml", &side(1), &side(2))]);
    for at in [
        "script", "one", "many", "list", "text", "quoted", "ends", "grew",
    ] {
        let edit = world.edit("one", "a.yaml", &format!(".{at}"));
        let output = world.output("", "one", Status::Changed, "a.yaml");
        let key = &mut world.comparison.outputs[output].key;
        *key = DocKey::new(key.schema.clone(), key.layer.clone(), at);
        world.differs(output, &format!(".{at}"), "a.yaml", &format!(".data.{at}"));
        world.cause(
            output,
            edit,
            &[],
            &[(Via::Edited, "one", &format!(".{at}"), &[("a.yaml", 1)])],
        );
    }
    assert_screen(
        "values",
        &world
            .finish()
            .full(plain(60), TerminalOptions { limit: 0, ..LOOK }),
    );
}

fn with_findings() -> World {
    let mut world = one_image();
    let finding = |line: usize, message: &str| {
        let at = world.line(Side::Head, VERSIONS, line);
        Diagnostic::new(rule("missing-parent"), message, Label::new(at, "here"))
    };
    let new = vec![finding(1, "the first"), finding(3, "unknown cause")];
    let unchanged = vec![finding(2, "on both sides")];
    let fixed = vec![finding(4, "no more")];
    world.findings = Some(triage::ComparedFindings {
        new: Findings {
            diagnostics: new,
            ..Findings::default()
        },
        causes: vec![vec![EditId::at(0)], vec![]],
        unchanged: Findings {
            diagnostics: unchanged,
            ..Findings::default()
        },
        fixed: Findings {
            diagnostics: fixed,
            ..Findings::default()
        },
        ..triage::ComparedFindings::default()
    });
    world
}

#[test]
fn new_errors_come_first_with_their_cause() {
    let mut world = with_findings();
    world.sides.linted = true;
    assert_screen("findings", &world.at(80));
    let all = FindingFilter {
        all: true,
        ignored: false,
    };
    let all = world.full(
        plain(80),
        TerminalOptions {
            listing: all,
            ..LOOK
        },
    );
    assert!(
        all.contains("error[missing-parent]: on both sides"),
        "{all}"
    );
    assert!(!all.contains("no more"), "fixed findings are only counted");
}

#[test]
fn findings_have_one_fingerprint_with_and_without_a_comparison() {
    let world = with_findings();
    let compared: serde_json::Value = serde_json::from_str(&world.json()).unwrap();
    let of = |report: &serde_json::Value, field: &str| -> Vec<String> {
        let findings = report["findings"].as_array().unwrap();
        findings.iter().map(|it| it[field].to_string()).collect()
    };
    assert_eq!(
        of(&compared, "state"),
        ["\"new\"", "\"unchanged\"", "\"new\"", "\"fixed\""]
    );
    assert_eq!(of(&compared, "caused_by"), ["[\"e1\"]", "[]", "[]", "[]"]);
    let findings = world.findings.as_ref().unwrap();
    let both = findings
        .new
        .diagnostics
        .iter()
        .chain(&findings.unchanged.diagnostics)
        .cloned();
    let head = Findings::new(both.collect(), &world.sources, &[]);
    let alone = Report::new(ReportInput::of_findings(&head), &world.view());
    let alone: serde_json::Value = serde_json::from_str(&saved::json(&alone)).unwrap();
    assert_eq!(of(&alone, "fingerprint"), of(&compared, "fingerprint")[..3]);
    assert_eq!(of(&alone, "message"), of(&compared, "message")[..3]);
    assert_eq!(of(&alone, "state"), ["null"; 3]);
}

#[test]
fn untrusted_text_cannot_control_the_terminal() {
    let bad = "a\u{1b}[2J\u{202e}b\u{7}";
    let text = |value: &str| format!("data: {{\"k\\e2J\\u202E\": \"{value}\\e[1A\\u202E\\r\"}}\n");
    let mut world = World::new(
        &[bad, "lab"],
        &[("x\u{202e}\u{1b}.yaml", &text("old"), &text("new"))],
    );
    let file = "x\u{202e}\u{1b}.yaml";
    let key = format!("schema{bad} {bad} ({bad})");
    let edit = world.edit(&key, file, ".k\u{1b}2J\u{202e}");
    let output = world.output(bad, &key, Status::Changed, file);
    world.differs(
        output,
        ".k\u{1b}2J\u{202e}",
        file,
        ".data.k\u{1b}2J\u{202e}",
    );
    let steps = [
        (Via::Edited, &*key, ".a", &[(file, 1)][..]),
        (Via::Inherited, &*key, ".a", &[(file, 1)]),
    ];
    world.cause(output, edit, &[], &steps);
    world.shield(edit, "lab", &key, ".a", Why::SetAgain, (file, 1));
    world.comparison.outputs[output].unexplained = 1;
    let mut world = world.finish();
    for text in [&mut world.sides.reason, &mut world.sides.head.name] {
        text.push_str(bad);
    }
    let outputs = [40, 80, 200].map(|width| world.at(width));
    for shown in outputs.iter().chain([&world.brief(), &world.json()]) {
        let harmful = shown
            .chars()
            .find(|it| (it.is_control() && *it != '\n') || *it == '\u{202e}');
        assert_eq!(harmful, None, "{shown}");
        assert!(shown.contains("old") || !shown.contains("new"), "{shown}");
    }
}

/// Report of an edit in an encrypted document whose secret was substituted into a document that is
/// not encrypted.
fn secret_world(base: &str, head: &str) -> World {
    let side = |secret: &str| format!("metadata: {{storagePolicy: encrypted}}\ndata:\n{secret}");
    let chart = "data: {values: {password: x}}\n";
    let mut world = World::new(
        &["lab"],
        &[
            ("p.yaml", &side(base), &side(head)),
            ("c.yaml", chart, chart),
        ],
    );
    let edit = world.edit("secret (site)", "p.yaml", ".");
    let output = world.output("lab", "chart (global)", Status::Changed, "c.yaml");
    world.differs(output, ".values.password", "p.yaml", ".data");
    // A route that ends below the secret.
    let file = world
        .sources
        .iter()
        .find(|(_, it)| it.text().contains("encrypted"))
        .unwrap()
        .0;
    let inside = layercake::source::Span::point(file, 45);
    let steps = [
        (Via::Edited, "secret (site)", "", &[("p.yaml", 3)][..]),
        (
            Via::Substituted,
            "chart (global)",
            ".values.password",
            &[("c.yaml", 1)],
        ),
    ];
    world.cause(output, edit, &[], &steps);
    let key = layercake::yaml::Key::string("cnry-key", inside);
    let below = layercake::yaml::path::Location(
        [
            super::world::pieces(".values[7]"),
            vec![layercake::yaml::path::Piece::Key(key)],
        ]
        .concat(),
    );
    let route = &mut world.comparison.outputs[output].causes[0].route;
    Arc::make_mut(route)[1].location = Some(below);
    world.shield(
        edit,
        "lab",
        "chart (site)",
        ".values.password",
        Why::SetAgain,
        ("c.yaml", 1),
    );
    world.finish()
}

#[test]
fn secrets_do_not_influence_any_report() {
    let all = |base: &str, head: &str| -> Vec<String> {
        let world = secret_world(base, head);
        let whole = TerminalOptions {
            limit: 0,
            detail: Detail::Whole,
            ..LOOK
        };
        let painted = TerminalStyle {
            color: true,
            ..plain(120)
        };
        vec![
            world.at(40),
            world.at(80),
            world.full(painted, whole),
            world.brief(),
            world.json(),
        ]
    };
    let first = all("  cnry\n", "  cnry2\n");
    for (base, head) in [
        ("  cnry-cnry-cnry-cnry\n", "  cnry\n"),
        ("  cnry-key: cnry\n", "  cnry-key: cnry-other\n"),
        ("  cnry-key: [cnry, cnry]\n  cnry-more: 1\n", "  - cnry\n"),
        ("  |\n   cnry\n   cnry\n", "  cnry\n"),
    ] {
        let found = all(base, head);
        for shown in &found {
            assert!(!shown.contains("cnry"), "{shown}");
            assert!(!shown.contains("[7]") && !shown.contains("/7"), "{shown}");
        }
        assert_eq!(found, first, "a report depends on a secret");
    }
    assert!(
        first[1].contains("  - (hidden)\n  + (hidden)\n"),
        "{}",
        first[1]
    );
}

/// One edit that reaches one output in each of these sites.
fn reaching(all: &[&str], reached: &[&str]) -> World {
    let mut world = World::new(all, &[("a.yaml", "data: {a: 1}\n", "data: {a: 2}\n")]);
    let edit = world.edit("one (global)", "a.yaml", ".a");
    for site in reached {
        let output = world.output(site, "one (global)", Status::Changed, "a.yaml");
        world.differs(output, ".a", "a.yaml", ".data.a");
        world.cause(
            output,
            edit,
            &[],
            &[(Via::Edited, "one (global)", ".a", &[("a.yaml", 1)])],
        );
    }
    world.finish()
}

#[test]
fn sites_are_named_briefly() {
    let names: Vec<String> = (0..14)
        .map(|at| {
            format!(
                "{}-{at:02}",
                if at < 9 { "north-production" } else { "south" }
            )
        })
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let named = |reached: &[&str]| {
        let text = reaching(&names, reached).at(300);
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("  reaches "))
            .unwrap();
        line.split_once(" in ").unwrap().1.to_owned()
    };
    assert_eq!(named(&names), "all 14 sites");
    assert_eq!(named(&names[..1]), names[0]);
    assert_eq!(
        named(&names[2..]),
        "all 14 sites but north-production-00, north-production-01"
    );
    assert_eq!(named(&names[..9]), "9 sites north-production-*");
    assert_eq!(named(&names[9..]), names[9..].join(", "));
    assert_eq!(named(&names[6..]), names[6..].join(", "));
    let scattered: Vec<&str> = names
        .iter()
        .copied()
        .enumerate()
        .filter(|(at, _)| at % 4 > 0)
        .map(|(_, name)| name)
        .collect();
    let first = scattered[..8].join(", ");
    assert_eq!(named(&scattered), format!("10 sites: {first} and 2 more"));
}

#[test]
fn many_sites_are_named_by_a_glob_and_its_exceptions() {
    let names: Vec<String> = (0..30)
        .map(|at| format!("{}-{at:02}", if at < 16 { "north" } else { "south-x" }))
        .chain((0..6).map(|at| format!("east-{at}")))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let named = |is_reached: &dyn Fn(&str) -> bool| {
        let reached: Vec<&str> = names
            .iter()
            .copied()
            .filter(|name| is_reached(name))
            .collect();
        let text = reaching(&names, &reached).at(300);
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("  reaches "))
            .unwrap();
        line.split_once(" in ").unwrap().1.to_owned()
    };
    assert_eq!(
        named(&|name| name.starts_with("north") && name != "north-03"),
        "15 sites north-* but north-03"
    );
    assert_eq!(
        named(&|name| !name.starts_with("south")),
        "all 36 sites but south-x-*"
    );
}

#[test]
fn documents_of_the_same_name_are_distinguished() {
    let mut world = reaching(&["lab"], &["lab"]);
    world.comparison.edits[0].edit.document = world.key("other/Kind/v1 one (global)");
    let text = world.at(100);
    assert!(
        text.contains("\n  one other/Kind/v1 (global)  .a\n"),
        "{text}"
    );
    assert!(
        text.contains("    one example/Any/v1 in lab  .a\n"),
        "{text}"
    );
}

#[test]
fn files_without_layout_have_no_sites() {
    let mut world = reaching(&[], &[""]);
    world.shield(
        EditId::at(0),
        "",
        "two (type)",
        ".a",
        Why::SetAgain,
        ("a.yaml", 1),
    );
    assert_screen("no-sites", &(world.at(80) + &world.brief()));
}
