//! Further repositories: the revisions that were read, and the targets of links to their lines.

use layercake::compare::{Status, Via};
use layercake::diagnostic::{Diagnostic, Label, TextEdit};
use layercake::report::TerminalStyle;
use layercake::report::model::{Report, ReportInput};
use layercake::report::terminal as format;
use layercake::source::{Commit, History, RevisionChoice, UsedRepository, UsedRevision};
use layercake::triage::Findings;
use serde_json::json;

use super::comparison::assert_screen;
use super::world::{LOOK, Side, World};
use super::{Files, plain, rule};

const VERSIONS: &str = "global:global/software/config/versions.yaml";
const DEFINITION: &str = "site/north/site-definition.yaml";

fn revision(chosen_by: RevisionChoice, name: Option<&str>, commit: Option<&str>) -> UsedRevision {
    UsedRevision {
        chosen_by,
        revision: name.map(Into::into),
        commit: commit.map(Into::into),
    }
}

fn pinned(name: &str, side: Side) -> UsedRevision {
    revision(RevisionChoice::Pin, Some(name), Some(side.commit()))
}

fn used(name: &str, sites: &[&str]) -> UsedRepository {
    UsedRepository {
        name: name.into(),
        sites: sites.iter().map(|site| (*site).into()).collect(),
        base: None,
        head: None,
        history: None,
        pin: None,
        links: None,
    }
}

fn history() -> History {
    let commit = |digit: &str, subject: &str| Commit {
        id: digit.repeat(40),
        subject: subject.to_owned(),
    };
    let commits = vec![commit("b", "chart two"), commit("a", "image two")];
    History {
        commits,
        added: 23,
        removed: 0,
        shallow: false,
    }
}

/// One site moves its pin, which edits a line of the repository below it; the other site already
/// has the later revision.
pub(super) fn bump() -> World {
    let versions = |image| format!("schema: a/Versions/v1\ndata:\n  image: {image}\n");
    let definition = |pin| format!("schema: pegleg/SiteDefinition/v1\ndata:\n  pin: {pin}\n");
    let files = [
        (VERSIONS, &*versions("one"), &*versions("two")),
        (DEFINITION, &*definition("v1.7"), &*definition("v1.8")),
    ];
    let mut world = World::new(&["north", "south"], &files);
    world.edit("north", DEFINITION, ".pin");
    let edit = world.edit("versions (global)", VERSIONS, ".image");
    let output = world.output("north", "versions (global)", Status::Changed, VERSIONS);
    world.differs(output, ".image", VERSIONS, ".data.image");
    world.cause(
        output,
        edit,
        &[],
        &[(Via::Edited, "versions (global)", ".image", &[(VERSIONS, 3)])],
    );
    world.repositories = vec![
        UsedRepository {
            base: Some(pinned("v1.7", Side::Base)),
            head: Some(pinned("v1.8", Side::Head)),
            pin: Some(world.line(Side::Head, DEFINITION, 3)),
            links: Some("https://git.example.org/global/{sha}/{path}#{line}".into()),
            history: Some(history()),
            ..used("global", &["north"])
        },
        UsedRepository {
            base: Some(pinned("v1.8", Side::Head)),
            head: Some(pinned("v1.8", Side::Head)),
            ..used("global", &["south"])
        },
    ];
    world.in_repository(edit, 0);
    world.finish()
}

#[test]
fn header_names_the_revisions_of_further_repositories() {
    assert_screen("further-repositories", &bump().at(80));
    let screen = bump().at(240);
    assert!(
        screen.contains(" · with global v1.7 → v1.8 in north · "),
        "{screen}"
    );
    assert!(
        screen.contains(" · with global v1.8 (pinned, 3f2a91c) in south · "),
        "{screen}"
    );
}

/// Asserts the line of a report about a further repository of two sites, after its name.
#[track_caller]
fn assert_line(
    base: impl Into<Option<UsedRevision>>,
    head: impl Into<Option<UsedRevision>>,
    line: &str,
) {
    let (base, head) = (base.into(), head.into());
    let mut world = bump();
    world.repositories = vec![UsedRepository {
        base,
        head,
        ..used("base", &["north", "south"])
    }];
    let screen = world.at(240);
    let header = screen
        .lines()
        .find(|it| it.contains("repository "))
        .unwrap();
    let found = header
        .split(" · ")
        .find_map(|it| it.strip_prefix("with base "));
    assert_eq!(found, Some(&*format!("{line} in all 2 sites")), "{screen}");
}

#[test]
fn each_way_to_choose_a_revision_is_named() {
    use RevisionChoice::{CheckedOut, Folder, Override};
    let (old, new) = (Side::Base.commit(), Side::Head.commit());
    let folder = || revision(Folder, None, None);
    assert_line(folder(), folder(), "working tree (not the pin)");
    let checked_out = || revision(CheckedOut, None, None);
    assert_line(checked_out(), checked_out(), "working tree (no pin)");
    let unread = || revision(RevisionChoice::Pin, Some("v9"), None);
    assert_line(unread(), unread(), "v9 (cannot be read)");
    let by_commit = || pinned(Side::Head.commit(), Side::Head);
    assert_line(by_commit(), by_commit(), "3f2a91c (pinned)");
    let other = || revision(Override, Some("v2"), Some(new));
    assert_line(other(), other(), "v2 (not the pin, 3f2a91c)");
    // The revision changes without an edit of a file.
    let bumped = "v1 (pinned, 1d5f2a9) → v2 (not the pin, 3f2a91c)";
    assert_line(pinned("v1", Side::Base), other(), bumped);
    // A moved branch, an added pin and a removed one.
    let moved = "main (pinned, 1d5f2a9) → main (pinned, 3f2a91c)";
    assert_line(
        pinned("main", Side::Base),
        pinned("main", Side::Head),
        moved,
    );
    assert_line(
        None,
        pinned("v1", Side::Head),
        "not used → v1 (pinned, 3f2a91c)",
    );
    assert_line(
        pinned("v1", Side::Base),
        None,
        "v1 (pinned, 1d5f2a9) → not used",
    );
    let by_commits = pinned(old, Side::Base);
    assert_line(by_commits, by_commit(), "1d5f2a9 → 3f2a91c");
}

#[test]
fn run_without_a_comparison_lists_repositories_at_the_end() {
    let files = Files::default();
    let repositories = [UsedRepository {
        head: Some(pinned("v1.8", Side::Head)),
        ..used("global", &["south"])
    }];
    let findings = Findings::default();
    let run = ReportInput {
        repositories: &repositories,
        ..ReportInput::of_findings(&findings)
    };
    let report = Report::new(run, &files.view());
    let mut screen = Vec::new();
    format::write(&report, LOOK, &plain(160), &mut screen).unwrap();
    let screen = String::from_utf8(screen).unwrap();
    assert!(
        screen.contains(" · with global v1.8 (pinned, 3f2a91c) in south"),
        "{screen}"
    );
}

#[test]
fn links_use_the_revision_that_the_file_was_read_from() {
    let style = TerminalStyle {
        links: true,
        ..plain(160)
    };
    let screen = bump().full(style, LOOK);
    let address = |side: Side| {
        let path = "global/software/config/versions.yaml";
        format!(
            "\u{1b}]8;;https://git.example.org/global/{}/{path}#3\u{1b}",
            side.commit()
        )
    };
    assert!(screen.contains(&address(Side::Head)), "{screen}");
    // The repository's own template is not used for further repositories, nor the other way round.
    let mut other = bump();
    other.repositories[0].links = None;
    let screen = other.full(style, LOOK);
    assert!(!screen.contains("https://"), "{screen}");
}

#[test]
fn report_with_repositories_is_valid_by_its_schema() {
    let report: serde_json::Value = serde_json::from_str(&bump().json()).unwrap();
    let sites = |at: usize| {
        let set = report["repositories"][at]["sites"].as_str().unwrap();
        let sets = report["site_sets"].as_array().unwrap();
        let set = sets.iter().find(|it| it["id"] == set).unwrap();
        let first = usize::try_from(set["sites"][0].as_u64().unwrap()).unwrap();
        report["sites"][first]["name"].clone()
    };
    assert_eq!((sites(0), sites(1)), (json!("north"), json!("south")));
    let head = json!({"chosen_by": "pin", "revision": "v1.8", "commit": Side::Head.commit()});
    assert_eq!(report["repositories"][0]["head"], head);
    assert_eq!(report["repositories"][0]["history"]["added"], 23);
    assert_eq!(report["edits"][1]["repository"], 0);
    assert_eq!(report["edits"][0].get("repository"), None);
    assert_eq!(report["repositories"][0]["pin"]["file"], DEFINITION);
    let at = &report["edits"][1]["at"];
    assert_eq!(at["base"]["commit"], Side::Base.commit());
    assert_eq!(at["head"]["commit"], Side::Head.commit());
    assert_eq!(
        report["edits"][0]["at"]["head"].get("commit"),
        None,
        "{report:#}"
    );
}

/// `--fix` does not write to a further repository, so a report does not promise it.
#[test]
fn findings_in_further_repositories_have_no_fixes() {
    let files = Files::new(&[("a.yaml", "«a:x»: 1\n"), ("global:a.yaml", "«b:x»: 1\n")]);
    let finding = |place| {
        let (span, text) = (files.at(place), "y".to_owned());
        let label = Label::new(span, "here");
        let found = Diagnostic::new(rule("missing-parent"), "m", label);
        found.fix("rename it", vec![TextEdit { span, text }])
    };
    let findings = Findings {
        diagnostics: vec![finding('a'), finding('b')],
        ..Findings::default()
    };
    let repositories = [UsedRepository {
        head: Some(pinned("v1.8", Side::Head)),
        ..used("global", &[])
    }];
    let run = ReportInput {
        repositories: &repositories,
        ..ReportInput::of_findings(&findings)
    };
    let report = Report::new(run, &files.view());
    assert_eq!(report.totals.fixable, 1);
    let fixed: Vec<bool> = report.findings.iter().map(|it| it.fix.is_some()).collect();
    assert_eq!(fixed, [true, false]);
}
