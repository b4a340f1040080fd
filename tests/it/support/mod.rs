//! What several tests need: running the engine on files in memory, and
//! findings as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use layercake::check::{
    AcceptedBy, Base, Checked, Compared, Plan, Progress, RenderedSite, Scope, Settings, check,
    compare,
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
use layercake::triage::baseline::FILE;

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
    let Settled { options, rules, policy, configuration } =
        settled(tree, None, &Place::Root, options, selectors);
    let layout = layout_of(tree);
    let scope = match &layout {
        Some(layout) => Scope::Repository { layout, further: Vec::new() },
        None => Scope::Set(vec![RepoPath::new("")]),
    };
    let progress = Progress::default();
    let plan = Plan {
        tree,
        scope,
        base: None,
        options,
        sites: None,
        only: Vec::new(),
        rules,
        policy,
        baseline: Some(RepoPath::new(FILE)),
        accepted_by: AcceptedBy::Itself,
        configuration,
        progress: &progress,
    };
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
    let Settled { options, rules, policy, configuration } =
        settled(head, Some(base), place, options, selectors);
    let (of_base, of_head) = (layout_of(base), layout_of(head));
    let scope = match &of_head {
        Some(layout) => Scope::Repository { layout, further: Vec::new() },
        None => Scope::Set(vec![RepoPath::new("")]),
    };
    let plan = Plan {
        tree: head,
        scope,
        base: Some(Base { tree: base, layout: of_base.as_ref() }),
        options,
        sites: None,
        only: Vec::new(),
        rules,
        policy,
        baseline: Some(RepoPath::new(FILE)),
        accepted_by: match place {
            Place::Base => AcceptedBy::Base,
            Place::Root | Place::File(_) | Place::Nowhere => AcceptedBy::Itself,
        },
        configuration,
        progress: &Progress::default(),
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
        None => Settled { options, ..settled },
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
