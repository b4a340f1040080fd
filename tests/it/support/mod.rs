//! What several tests need: running the engine on files in memory, and
//! findings as text.

pub mod sample;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use layercake::check::{
    AcceptedBy, Base, Checked, Compared, Plan, Progress, RenderedSite, Settings, check, compare,
};
use layercake::commands::configuration::{Around, Meaning, Place, Settled, find, settle};
use layercake::commands::policy::Selectors;
use layercake::diagnostic::{Diagnostic, Label};
use layercake::graph::MissingSource;
use layercake::merge::deckhand::Semantics;
use layercake::rules::{Gates, word_reach};
use layercake::source::{MemoryTree, RepoPath, SourceMap, Span, Tree};
use layercake::system::deckhand::Options;
use layercake::system::deckhand::layout::Layout;

/// Options as the command line has them by default, with this meaning.
pub fn options(semantics: Semantics) -> Options {
    Options { semantics, missing_source: MissingSource::Error, encryption_sources: BTreeMap::new() }
}

/// Checks files in memory: as a site repository where one of them lies below
/// `site/NAME/`, as a set without layout otherwise.
pub fn check_files<T: Send>(
    tree: &MemoryTree,
    options: Options,
    per_site: impl Fn(&RenderedSite<'_>) -> T + Sync,
) -> Checked<T> {
    check_with(tree, options, &Selectors::default(), per_site)
}

/// As [`check_files`], with the rules that are selected.
pub fn check_with<T: Send>(
    tree: &MemoryTree,
    options: Options,
    selectors: &Selectors,
    per_site: impl Fn(&RenderedSite<'_>) -> T + Sync,
) -> Checked<T> {
    let (layout, progress) = (layout_of(tree), Progress::default());
    let settled = settled(tree, None, &Place::Root, options, selectors);
    let plan = settled.plan(tree, layout.as_ref(), None, &progress);
    check(&plan, per_site).expect("files in memory can be checked")
}

/// Compares files in memory, those of the head being as for [`check_files`],
/// and puts the gates before what came of it.
pub fn compare_files(
    base: &MemoryTree,
    head: &MemoryTree,
    options: Options,
    selectors: &Selectors,
    place: &Place,
    gates: &Gates,
) -> Compared {
    let (of_base, of_head) = (layout_of(base), layout_of(head));
    let (earlier, progress) = (Base { tree: base, layout: of_base.as_ref() }, Progress::default());
    let settled = settled(head, Some(base), place, options, selectors);
    let plan = Plan {
        accepted_by: match place {
            Place::Base => AcceptedBy::Base,
            Place::Root | Place::File(_) | Place::Nowhere => AcceptedBy::Itself,
        },
        ..settled.plan(head, of_head.as_ref(), Some(earlier), &progress)
    };
    let mut compared =
        compare(&plan, &Settings::default()).expect("files in memory can be compared");
    for (edit, finding) in word_reach(&compared.comparison, gates) {
        compared.add_gated(finding, edit);
    }
    compared
}

/// What counts: `layercake.yaml` among the files, where there is one, or else
/// these options.
fn settled(
    tree: &MemoryTree,
    base: Option<&MemoryTree>,
    place: &Place,
    options: Options,
    selectors: &Selectors,
) -> Settled {
    let base = base.map(|base| base as &dyn Tree);
    let around = Around { tree, base, root: None };
    let found = find(Path::new(""), place, &around).expect("the configuration can be used");
    let settled = settle(&found, Meaning::default(), selectors).expect("the selectors select");
    match found.config.file {
        Some(_) => settled,
        None => {
            let rules = layercake::rules::Settings { is_undecided: false, ..settled.rules };
            Settled { options, rules, ..settled }
        }
    }
}

/// How files lie: as those of a site repository where one of them lies below
/// `site/NAME/`.
fn layout_of(tree: &MemoryTree) -> Option<Layout> {
    let root = RepoPath::new("");
    let paths = layercake::source::Tree::entries(tree, &root).expect("memory can be listed");
    let in_site =
        |path: &RepoPath| path.below(&RepoPath::new("site")).is_some_and(|it| it.contains('/'));
    paths.iter().any(|entry| in_site(&entry.path)).then(|| {
        let layout = Layout::discover(tree, &root).expect("memory can be listed");
        layout.expect("the files are a site repository")
    })
}

/// A finding as text: where, what, and everything around it.
pub fn finding_text(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let mut text = format!(
        "{} {}[{}] {}\n",
        place(diagnostic.primary.span, sources),
        diagnostic.severity.as_str(),
        diagnostic.rule.name,
        diagnostic.message
    );
    if !diagnostic.primary.message.is_empty() {
        writeln!(text, "  ^ {}", diagnostic.primary.message).expect("strings take text");
    }
    for Label { span, message } in &diagnostic.related {
        writeln!(text, "  {} {message}", place(*span, sources)).expect("strings take text");
    }
    for note in &diagnostic.notes {
        writeln!(text, "  note: {note}").expect("strings take text");
    }
    if let Some(help) = &diagnostic.help {
        writeln!(text, "  help: {help}").expect("strings take text");
    }
    if !diagnostic.sites.is_empty() {
        writeln!(text, "  sites: {}", diagnostic.sites.join(" ")).expect("strings take text");
    }
    text
}

fn place(span: Span, sources: &SourceMap) -> String {
    let start = sources.start(span);
    format!("{}:{}:{}", sources.get(span.file).path(), start.line, start.column)
}

/// What a saved report tells people is what the run told them, however wide
/// the terminal is and whatever it can show.
pub mod saved {
    use layercake::check::{self, Checked};
    use layercake::report::comparison::{self, Grouping, Look, Unchanged};
    use layercake::report::json::{Report, read, write};
    use layercake::report::terminal::{self, Totals};
    use layercake::report::{
        ChosenBy, ChosenSemantics, Compared, Extent, Ignored, Meaning, Restored, SideKind,
        SideText, Sides, Style, Timing, View,
    };
    use layercake::source::SourceMap;
    use layercake::triage::{Findings, Suppressed};
    use std::time::Duration;

    use super::sample::is_thorough;

    const SEMANTICS: ChosenSemantics =
        ChosenSemantics { meaning: Meaning::Deckhand, chosen_by: ChosenBy::Configuration };

    const STYLES: [Style; 4] = [
        Style { width: 80, color: false, unicode: true, links: false },
        Style { width: 40, color: false, unicode: false, links: false },
        Style { width: 100, color: true, unicode: true, links: false },
        Style { width: 160, color: false, unicode: true, links: false },
    ];

    /// Styles that a report is tried in: all of them in a thorough run, otherwise one, chosen by
    /// the length of its JSON, so that many reports meet all.
    fn styles(json: &str) -> &'static [Style] {
        let one = json.len() % STYLES.len();
        if is_thorough() { &STYLES } else { &STYLES[one..=one] }
    }

    /// Holds for what came of checking one side.
    pub fn check_checked<T>(checked: &Checked<T>) {
        let totals = Totals {
            sites: checked.sites.len(),
            documents: checked.documents,
            outputs: checked.sites.iter().map(|site| site.outputs).sum(),
            counts: checked.findings.counts(),
            suppressed: Suppressed::of(&checked.findings.suppressed),
            semantics: Some(SEMANTICS),
            elapsed: Duration::from_millis(1230),
        };
        let view = View::new(&checked.sources, &checked.secrets, &checked.opaque);
        check_findings(&checked.findings, &totals, &checked.sources, &view);
    }

    /// Holds for what came of comparing two sides, as `lint` and as `diff` tell it.
    pub fn check_compared(compared: &check::Compared) {
        let checked = &compared.checked;
        let view = View::new(&checked.sources, &checked.secrets, &checked.opaque);
        let side = |kind| SideText { kind, commit: None, tree: None, name: "main".to_owned() };
        let sides = Sides {
            repository: String::new(),
            nested_at: Some("vendored".to_owned()),
            from: side(SideKind::Index),
            to: side(SideKind::Worktree),
            chosen_by: "since".to_owned(),
            reason: "merge-base of main and HEAD".to_owned(),
            shallow: true,
            edited_files: compared.edited_files.len(),
            extent: Extent::Asked,
        };
        for findings in [Some(&compared.findings), None] {
            let told = Compared {
                comparison: &compared.comparison,
                sides: &sides,
                findings,
                outputs: 12,
                semantics: Some(SEMANTICS),
                timing: Timing::default(),
            };
            check_comparison(&told, &view);
        }
    }

    fn written(report: &Report) -> String {
        let mut json = Vec::new();
        write(report, &mut json).unwrap();
        String::from_utf8(json).unwrap()
    }

    /// A report as it is after it was written and read.
    fn restored(json: &str) -> Restored {
        Restored::of(&read(json).unwrap_or_else(|it| panic!("{it}: {json}"))).unwrap()
    }

    /// Holds for a run without a comparison.
    pub fn check_findings(
        findings: &Findings,
        totals: &Totals,
        sources: &SourceMap,
        view: &View<'_>,
    ) {
        let json = written(&Report::of_findings(findings, totals, view));
        let restored = restored(&json);
        for ignored in [Ignored::Counted, Ignored::Shown] {
            let shown = match ignored {
                Ignored::Shown if !findings.suppressed.is_empty() => {
                    findings.with_suppressed(sources)
                }
                Ignored::Counted | Ignored::Shown => findings.clone(),
            };
            let look = look(Grouping::Alike, Unchanged::Counted);
            for style in styles(&json) {
                let live = text(|out| {
                    terminal::write(&shown, view, style, out)?;
                    terminal::write_totals(totals, style, out)
                });
                assert_same(&live, &text(|out| restored.write(look, ignored, style, out)));
                let live = text(|out| terminal::write_concise(&shown, view, style, out));
                let saved = text(|out| restored.write_concise(look, ignored, style, out));
                assert_same(&live, &saved);
            }
        }
    }

    /// Holds for a comparison, with findings or without.
    pub fn check_comparison(compared: &Compared<'_>, view: &View<'_>) {
        // Which folder it was is not saved.
        let sides = Sides { repository: String::new(), ..compared.sides.clone() };
        let compared = &Compared { sides: &sides, ..*compared };
        let json = written(&Report::of_comparison(compared, view));
        let restored = restored(&json);
        let suppressed = compared.findings.map(|it| it.suppressed.clone()).unwrap_or_default();
        let suppressed = Findings { diagnostics: suppressed, ..Findings::default() };
        for (grouping, unchanged, ignored) in [
            (Grouping::Alike, Unchanged::Counted, Ignored::Counted),
            (Grouping::Apart, Unchanged::Shown, Ignored::Shown),
        ] {
            let look = look(grouping, unchanged);
            for style in styles(&json) {
                let live = text(|out| {
                    comparison::write(compared, look, view, style, out)?;
                    match ignored {
                        Ignored::Counted => Ok(()),
                        Ignored::Shown => terminal::write(&suppressed, view, style, out),
                    }
                });
                assert_same(&live, &text(|out| restored.write(look, ignored, style, out)));
                let live = text(|out| {
                    let Some(findings) = compared.findings else {
                        return comparison::write_brief(compared, look, view, style, out);
                    };
                    let new = findings.new.listed(unchanged == Unchanged::Shown);
                    terminal::write_concise(&new, view, style, out)?;
                    match (unchanged, ignored) {
                        (Unchanged::Counted, _) => Ok(()),
                        (Unchanged::Shown, _) => {
                            terminal::write_concise(&findings.unchanged, view, style, out)?;
                            terminal::write_concise(&suppressed, view, style, out)
                        }
                    }
                });
                let saved = text(|out| restored.write_concise(look, ignored, style, out));
                assert_same(&live, &saved);
            }
        }
    }

    fn look(grouping: Grouping, unchanged: Unchanged) -> Look {
        Look { grouping, limit: Look::ON_TERMINAL, unchanged }
    }

    fn text(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn assert_same(live: &str, saved: &str) {
        // Of pairs JSON does not say that they are no list (docs/report.md).
        if [" pair]", " pairs]", "!!pairs"].iter().any(|it| live.contains(it)) {
            return;
        }
        assert!(live == saved, "the run told:\n{live}\nand the saved report:\n{saved}");
    }
}
