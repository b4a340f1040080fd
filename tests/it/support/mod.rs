//! Shared helpers: running the engine on files in memory, and findings as text.

pub mod sample;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use layercake::check::{
    AcceptedBy, Base, Checked, Compared, Options, RenderedSite, Settings, check, compare,
};
use layercake::commands::configuration::{
    ConfigurationSource, ConfigurationTrees, SemanticsFlags, find, settle,
};
use layercake::commands::policy::Selectors;
use layercake::diagnostic::{Diagnostic, Label};
use layercake::graph::MissingSource;
use layercake::merge::deckhand::Semantics;
use layercake::rules::{Gates, report_reach};
use layercake::source::{MemoryTree, RepoPath, SourceMap, Span, Tree};
use layercake::system::deckhand::DeckhandOptions;
use layercake::system::deckhand::layout::Layout;

/// Default options of the command line with this meaning.
pub fn options(semantics: Semantics) -> DeckhandOptions {
    DeckhandOptions {
        semantics,
        missing_source: MissingSource::Error,
        encryption_sources: BTreeMap::new(),
    }
}

/// Checks files in memory: as a site repository if a file is below `site/NAME/`, otherwise as a set
/// without layout.
pub fn check_files<T: Send>(
    tree: &MemoryTree,
    options: DeckhandOptions,
    per_site: impl Fn(&RenderedSite<'_>) -> T + Sync,
) -> Checked<T> {
    check_with(tree, options, &Selectors::default(), per_site)
}

/// Like [`check_files`], with selected rules.
pub fn check_with<T: Send>(
    tree: &MemoryTree,
    options: DeckhandOptions,
    selectors: &Selectors,
    per_site: impl Fn(&RenderedSite<'_>) -> T + Sync,
) -> Checked<T> {
    let settled = settled(tree, None, &ConfigurationSource::Root, options, selectors);
    let plan = settled.plan(Arc::new(tree.clone()), layout_of(tree), None);
    check(&plan, per_site).expect("files in memory can be checked")
}

/// Compares files in memory, with the head as in [`check_files`], and applies the gates to the
/// result.
pub fn compare_files(
    base: &MemoryTree,
    head: &MemoryTree,
    options: DeckhandOptions,
    selectors: &Selectors,
    place: &ConfigurationSource,
    gates: &Gates,
) -> Compared {
    let earlier = Base::of_repository(Arc::new(base.clone()), layout_of(base));
    let settled = settled(head, Some(base), place, options, selectors);
    let accepted_by = match place {
        ConfigurationSource::Base => AcceptedBy::Base,
        ConfigurationSource::Root | ConfigurationSource::File(_) | ConfigurationSource::Nowhere => {
            AcceptedBy::Itself
        }
    };
    let options = Options {
        accepted_by,
        ..settled
    };
    let plan = options.plan(Arc::new(head.clone()), layout_of(head), Some(earlier));
    let mut compared =
        compare(&plan, &Settings::default()).expect("files in memory can be compared");
    for (edit, finding) in report_reach(&compared.comparison, &compared.consequences, gates) {
        compared.add_gated(finding, edit);
    }
    compared
}

/// Settings from `layercake.yaml` among the files, or else these options.
fn settled(
    tree: &MemoryTree,
    base: Option<&MemoryTree>,
    place: &ConfigurationSource,
    options: DeckhandOptions,
    selectors: &Selectors,
) -> Options {
    let base = base.map(|base| base as &dyn Tree);
    let around = ConfigurationTrees {
        tree,
        base,
        root: None,
    };
    let found = find(Path::new(""), place, &around).expect("the configuration is valid");
    let settled =
        settle(&found, SemanticsFlags::default(), selectors).expect("the selectors are valid");
    let time = Some("2026-11-30".parse().expect("the time is valid"));
    let rules = layercake::rules::RuleOptions {
        time,
        ..settled.rules
    };
    let settled = Options { rules, ..settled };
    match found.config.file {
        Some(_) => settled,
        None => {
            let rules = layercake::rules::RuleOptions {
                is_undecided: false,
                ..settled.rules
            };
            Options {
                deckhand: options,
                rules,
                ..settled
            }
        }
    }
}

/// Layout of the files: that of a site repository if a file is below `site/NAME/`.
fn layout_of(tree: &MemoryTree) -> Option<Layout> {
    let root = RepoPath::new("");
    let paths = layercake::source::Tree::entries(tree, &root).expect("memory can be listed");
    let in_site = |path: &RepoPath| {
        path.below(&RepoPath::new("site"))
            .is_some_and(|it| it.contains('/'))
    };
    paths.iter().any(|entry| in_site(&entry.path)).then(|| {
        let layout = Layout::discover(tree, &root).expect("memory can be listed");
        layout.expect("the files are a site repository")
    })
}

/// Finding as text: location, message and all related parts.
pub fn finding_text(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let mut text = format!(
        "{} {}[{}] {}\n",
        place(diagnostic.primary.span, sources),
        diagnostic.severity.as_str(),
        diagnostic.rule.name,
        diagnostic.message
    );
    if !diagnostic.primary.message.is_empty() {
        writeln!(text, "  ^ {}", diagnostic.primary.message).expect("writing to a string succeeds");
    }
    for Label { span, message } in &diagnostic.related {
        writeln!(text, "  {} {message}", place(*span, sources))
            .expect("writing to a string succeeds");
    }
    for note in &diagnostic.notes {
        writeln!(text, "  note: {note}").expect("writing to a string succeeds");
    }
    if let Some(help) = &diagnostic.help {
        writeln!(text, "  help: {help}").expect("writing to a string succeeds");
    }
    if !diagnostic.sites.is_empty() {
        writeln!(text, "  sites: {}", diagnostic.sites.join(" "))
            .expect("writing to a string succeeds");
    }
    text
}

fn place(span: Span, sources: &SourceMap) -> String {
    let start = sources.start(span);
    format!(
        "{}:{}:{}",
        sources.get(span.file).path(),
        start.line,
        start.column
    )
}

/// Asserts that a saved report and the report of the run are equal, and equal in each format.
pub mod saved {
    use layercake::check::{self, Checked};
    use layercake::report::model::{
        ByStatus, CheckedSides, Report, ReportInput, ReportedComparison, SideKind, Totals, read,
        write,
    };
    use layercake::report::{Detail, FindingFilter, Format, TerminalOptions, TerminalStyle, View};
    use layercake::rules::RULES;

    use super::sample::is_thorough;

    const STYLES: [TerminalStyle; 4] = [
        TerminalStyle {
            width: 80,
            color: false,
            unicode: true,
            links: false,
        },
        TerminalStyle {
            width: 40,
            color: false,
            unicode: false,
            links: false,
        },
        TerminalStyle {
            width: 100,
            color: true,
            unicode: true,
            links: true,
        },
        TerminalStyle {
            width: 160,
            color: false,
            unicode: true,
            links: false,
        },
    ];

    const LOOKS: [TerminalOptions; 3] = [
        TerminalOptions {
            listing: FindingFilter {
                all: false,
                ignored: false,
            },
            limit: 8,
            detail: Detail::Usual,
        },
        TerminalOptions {
            listing: FindingFilter {
                all: true,
                ignored: true,
            },
            limit: 0,
            detail: Detail::Whole,
        },
        TerminalOptions {
            listing: FindingFilter {
                all: false,
                ignored: true,
            },
            limit: 1,
            detail: Detail::Figures,
        },
    ];

    /// Checks the report of one side.
    pub fn check_checked<T>(checked: &Checked<T>) {
        check_report(&of_checked(checked));
    }

    /// Report of one checked side.
    pub fn of_checked<T>(checked: &Checked<T>) -> Report {
        let view = View::new(&checked.sources, &checked.secrets, &checked.opaque);
        let (documents, findings) = (checked.documents, &checked.findings);
        let run = ReportInput {
            checked: CheckedSides::One {
                documents,
                sites: Vec::new(),
                findings,
            },
            outputs: checked.sites.iter().map(|site| site.outputs).sum(),
            ..ReportInput::of_findings(findings)
        };
        Report::new(run, &view)
    }

    /// Checks the report of a comparison, as `lint` and as `diff` report it.
    pub fn check_compared(compared: &check::Compared) {
        check_report(&of_compared(compared));
        let without = compared.without_rules();
        let checked = &compared.checked;
        let view = View::new(&checked.sources, &checked.secrets, &checked.opaque);
        let sides = ReportedComparison {
            linted: false,
            ..sides(compared)
        };
        let run = ReportInput::of_comparison(
            sides,
            &compared.comparison,
            &compared.consequences,
            Some(&without),
        );
        check_report(&Report::new(run, &view));
    }

    /// Report of a comparison.
    pub fn of_compared(compared: &check::Compared) -> Report {
        let checked = &compared.checked;
        let view = View::new(&checked.sources, &checked.secrets, &checked.opaque);
        let findings = compared.findings.reported(false, &checked.sources);
        let run = ReportInput::of_comparison(
            sides(compared),
            &compared.comparison,
            &compared.consequences,
            Some(&findings),
        );
        Report::new(ReportInput { outputs: 12, ..run }, &view)
    }

    fn sides(compared: &check::Compared) -> ReportedComparison {
        ReportedComparison {
            reason: "merge-base of main and HEAD".to_owned(),
            shallow: true,
            limited: true,
            edited_files: compared.edited_files.len(),
            ..ReportedComparison::of_kinds(SideKind::Index, SideKind::Worktree)
        }
    }

    /// Checks that a report reads back unchanged, and that its totals match its contents.
    pub fn check_report(report: &Report) {
        let json = json(report);
        let saved = read(&json).unwrap_or_else(|fault| panic!("{fault}: {json}"));
        check_totals(report);
        // A thorough run checks all of them. Otherwise the length of the report selects one, so
        // that many reports cover all.
        let chosen = json.len() % (STYLES.len() * LOOKS.len());
        for (at, style) in STYLES.iter().enumerate() {
            for (of, look) in LOOKS.iter().enumerate() {
                if is_thorough() || at * LOOKS.len() + of == chosen {
                    check_formats(report, &saved, *look, style);
                }
            }
        }
    }

    fn check_formats(
        report: &Report,
        saved: &Report,
        look: TerminalOptions,
        style: &TerminalStyle,
    ) {
        for format in Format::ALL {
            let of = |report: &Report| {
                let mut out = Vec::new();
                format
                    .write(report, (look, style), RULES, &mut out)
                    .unwrap();
                String::from_utf8(out).unwrap()
            };
            let (live, saved) = (of(report), of(saved));
            assert!(
                live == saved,
                "-o {}:\n{live}\nand saved:\n{saved}",
                format.name()
            );
        }
    }

    fn check_totals(report: &Report) {
        let Totals {
            edits,
            changed_outputs,
            by_status,
            findings,
            ..
        } = &report.totals;
        let ByStatus {
            changed,
            added,
            removed,
            broken,
            repaired,
            metadata,
            ..
        } = by_status;
        assert_eq!(*edits, report.edits.len());
        assert_eq!(
            *changed_outputs,
            changed + added + removed + broken + repaired + metadata
        );
        let of_sites = report.sites.iter().map(|site| {
            let counts = site.counts;
            counts.changed + counts.added + counts.removed
        });
        assert_eq!(*changed_outputs, of_sites.sum::<usize>());
        let of_groups: usize = report.groups.iter().map(|group| group.outputs).sum();
        assert_eq!(*changed_outputs + by_status.not_comparable, of_groups);
        let open: usize = report
            .findings
            .iter()
            .filter(|it| it.is_new())
            .map(|finding| finding.count)
            .sum();
        assert_eq!(findings.all(), open);
    }

    /// Report as JSON.
    pub fn json(report: &Report) -> String {
        let mut json = Vec::new();
        write(report, &mut json).unwrap();
        String::from_utf8(json).unwrap()
    }

    /// Report in the full format for people, and as JSON.
    pub fn full_and_json(report: &Report) -> [String; 2] {
        let mut full = Vec::new();
        let (look, style) = (LOOKS[1], STYLES[2]);
        Format::Full
            .write(report, (look, &style), RULES, &mut full)
            .unwrap();
        [String::from_utf8(full).unwrap(), json(report)]
    }
}
