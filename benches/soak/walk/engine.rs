//! Runs of layercake on files in memory: of one side alone, and of two sides compared.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;

use layercake::check::{
    Base, BothSides, Compared, Options, RenderedSite, Settings, check, compare_with,
};
use layercake::commands::configuration::{
    ConfigurationSource, ConfigurationTrees, SemanticsFlags, find, settle,
};
use layercake::commands::policy::Selectors;
use layercake::compare::Attribution;
use layercake::diagnostic::Diagnostic;
use layercake::error::Error;
use layercake::merge::deckhand::Semantics;
use layercake::render::Outcome;
use layercake::report::model::{Report, ReportInput, ReportedComparison, SideKind};
use layercake::report::{FindingFilter, FormatOptions, ReportFormat, View};
use layercake::source::{Entry, MemoryTree, RepoPath, SourceMap, Span, Tree};
use layercake::system::deckhand::layout::Layout;

use super::Files;
use super::plain::{Output, Outputs, plain};
use super::random::Random;

/// Results of one side alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub outputs: Outputs,
    /// Findings that are not suppressed, and those that are.
    pub findings: BTreeSet<Finding>,
    pub suppressed: BTreeSet<Finding>,
    /// Findings about several documents at once, by rule and message.
    pub of_several: BTreeSet<(&'static str, String)>,
    pub sites: Vec<SiteSeen>,
    pub has_failed: bool,
}

/// Dependencies of the documents of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteSeen {
    pub name: String,
    pub documents: Vec<DocumentSeen>,
}

/// Location of a document, and the documents it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentSeen {
    pub path: String,
    pub range: std::ops::Range<u32>,
    pub needs: Vec<usize>,
}

/// A finding in a site; `None` for findings of files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub site: Option<String>,
    pub rule: &'static str,
    pub path: String,
    pub start: u32,
    pub end: u32,
    pub message: String,
}

/// Results of comparing two sides.
pub struct BothSeen {
    pub compared: Compared,
    pub base: Outputs,
    pub head: Outputs,
}

/// Order in which a tree lists its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// By path.
    Sorted,
    /// In an order determined by this seed.
    Shuffled(u64),
}

/// Set of enabled rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Rules that are enabled by default.
    Usual,
    /// All rules.
    All,
}

/// Options of a run.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    pub semantics: Semantics,
    pub rules: Rules,
    pub listing: Listing,
}

/// Renders and checks `files`.
///
/// # Errors
/// If layercake fails.
pub fn see(files: &Files, manner: Manner) -> Result<Seen, Error> {
    let tree = Listed::new(files, manner.listing);
    let settled = settled(&tree, None, manner)?;
    let layout = layout_of(&tree)?;
    let options = Options {
        baseline: None,
        ..settled
    };
    let plan = options.plan(Arc::new(tree), layout, None);
    let checked = check(&plan, |site| (outputs_of(site), site_seen(site)))?;
    let mut seen = Seen {
        has_failed: checked.internal_error,
        ..Seen::default()
    };
    let sources = &checked.sources;
    seen.findings = unfolded(&checked.findings.diagnostics, sources);
    seen.suppressed = unfolded(&checked.findings.suppressed, sources);
    seen.of_several = of_several(&checked.findings.diagnostics);
    for (outputs, site) in checked.sites.into_iter().filter_map(|site| site.taken) {
        seen.outputs.extend(outputs);
        seen.sites.push(site);
    }
    Ok(seen)
}

/// Compares `head` with `base`.
///
/// # Errors
/// If layercake fails.
pub fn see_both(
    base: &Files,
    head: &Files,
    manner: Manner,
    attribution: Attribution,
) -> Result<BothSeen, Error> {
    let (before, after) = (
        Listed::new(base, manner.listing),
        Listed::new(head, manner.listing),
    );
    let settled = settled(&after, Some(&before), manner)?;
    let (of_base, of_head) = (layout_of(&before)?, layout_of(&after)?);
    let base = Base::of_repository(Arc::new(before), of_base);
    let options = Options {
        baseline: None,
        ..settled
    };
    let plan = options.plan(Arc::new(after), of_head, Some(base));
    let settings = Settings {
        attribution,
        ..Settings::default()
    };
    let of_side = |side: Option<&RenderedSite<'_>>| side.map(outputs_of).unwrap_or_default();
    let outputs = Mutex::new((Outputs::new(), Outputs::new()));
    let compared = compare_with(&plan, &settings, &|both: &BothSides<'_>| {
        let (base, head) = (of_side(both.base.as_ref()), of_side(both.head.as_ref()));
        let mut outputs = outputs.lock().expect("no panic while the lock is held");
        outputs.0.extend(base);
        outputs.1.extend(head);
    })?;
    let (base, head) = outputs
        .into_inner()
        .expect("no panic while the lock was held");
    Ok(BothSeen {
        compared,
        base,
        head,
    })
}

impl BothSeen {
    /// JSON report with all results.
    pub fn report(&self) -> String {
        self.json(FindingFilter {
            all: true,
            ignored: true,
        })
    }

    /// JSON report as the program writes it without further flags.
    pub fn usual_report(&self) -> String {
        self.json(FindingFilter::default())
    }

    fn json(&self, listing: FindingFilter) -> String {
        let checked = &self.compared.checked;
        let view = View::new(&checked.sources, &checked.secrets, &checked.opaque);
        let sides = ReportedComparison {
            edited_files: self.compared.edited_files.len(),
            limited: true,
            ..ReportedComparison::of_kinds(SideKind::Index, SideKind::Worktree)
        };
        let findings = self.compared.findings.reported(false, &checked.sources);
        let run = ReportInput::of_comparison(
            sides,
            &self.compared.comparison,
            &self.compared.consequences,
            Some(&findings),
        );
        let mut text = Vec::new();
        let options = FormatOptions {
            listing,
            rules: &[],
        };
        let written = ReportFormat::Json.write(&Report::new(run, &view), &options, &mut text);
        written.expect("writing to memory succeeds");
        String::from_utf8(text).expect("reports are UTF-8")
    }
}

/// Findings, split by site.
pub fn unfolded(diagnostics: &[Diagnostic], sources: &SourceMap) -> BTreeSet<Finding> {
    diagnostics
        .iter()
        .flat_map(|it| by_site(it, sources))
        .collect()
}

fn of_several(diagnostics: &[Diagnostic]) -> BTreeSet<(&'static str, String)> {
    let several = diagnostics.iter().filter(|it| it.documents.len() > 1);
    several
        .map(|it| (it.rule.name, it.message.clone()))
        .collect()
}

fn by_site(diagnostic: &Diagnostic, sources: &SourceMap) -> Vec<Finding> {
    let Span { start, end, .. } = diagnostic.primary.span;
    let path = sources.path_of(diagnostic.primary.span).to_string();
    let in_site = |site: Option<String>| Finding {
        site,
        rule: diagnostic.rule.name,
        path: path.clone(),
        start,
        end,
        message: diagnostic.message.clone(),
    };
    match &diagnostic.sites[..] {
        [] => vec![in_site(None)],
        sites => sites
            .iter()
            .map(|site| in_site(Some(site.to_string())))
            .collect(),
    }
}

fn settled(tree: &Listed, base: Option<&Listed>, manner: Manner) -> Result<Options, Error> {
    let base = base.map(|base| base as &dyn Tree);
    let found = find(
        Path::new(""),
        &ConfigurationSource::Root,
        &ConfigurationTrees {
            tree,
            base,
            root: None,
        },
    )?;
    let flags = SemanticsFlags {
        semantics: Some(manner.semantics),
        ..SemanticsFlags::default()
    };
    let select = match manner.rules {
        Rules::Usual => Vec::new(),
        Rules::All => vec!["all".to_owned()],
    };
    settle(
        &found,
        flags,
        &Selectors {
            select,
            ..Selectors::default()
        },
    )
}

fn layout_of(tree: &Listed) -> Result<Option<Layout>, Error> {
    Layout::discover(tree, &RepoPath::new(""))
}

/// Files in memory with a chosen listing order.
struct Listed {
    tree: MemoryTree,
    listing: Listing,
}

impl Listed {
    fn new(files: &Files, listing: Listing) -> Self {
        let tree = files.iter().fold(MemoryTree::new(), |tree, (path, text)| {
            tree.with(path, text.as_bytes())
        });
        Self { tree, listing }
    }
}

impl Tree for Listed {
    fn inner(&self) -> Option<&dyn Tree> {
        Some(&self.tree)
    }

    fn entries(&self, folder: &RepoPath) -> Result<Vec<Entry>, Error> {
        let mut entries = self.tree.entries(folder)?;
        match self.listing {
            Listing::Sorted => {}
            Listing::Shuffled(seed) => Random::of_edit(seed, 0).shuffle(&mut entries),
        }
        Ok(entries)
    }
}

fn outputs_of(site: &RenderedSite<'_>) -> Outputs {
    let name = site.site.name.as_deref().unwrap_or_default();
    let mut outputs = Outputs::new();
    for (doc, recipe) in site.graph.outputs() {
        let data = match site.rendered.outcome(doc) {
            Outcome::Ready(data) => Some(plain(data)),
            Outcome::Blocked(_) => None,
        };
        // cloud-init outputs have no metadata.
        let document = site.site.documents.get(doc.index());
        let metadata = document.map(|it| plain(&it.metadata())).unwrap_or_default();
        let layer = recipe.key.layer.to_string();
        let key = [
            name.to_owned(),
            recipe.key.schema.to_string(),
            recipe.key.name.to_string(),
        ];
        let output = Output {
            layer,
            data,
            metadata,
            document: doc.index(),
        };
        outputs.entry(key).or_default().push(output);
    }
    outputs
}

fn site_seen(site: &RenderedSite<'_>) -> SiteSeen {
    let documents = site.graph.iter().map(|(_, recipe)| DocumentSeen {
        path: site.sources.path_of(recipe.span).to_string(),
        range: recipe.span.start..recipe.span.end,
        needs: recipe.needs.iter().map(|need| need.doc.index()).collect(),
    });
    let name = site.site.name.as_deref().unwrap_or_default().to_owned();
    SiteSeen {
        name,
        documents: documents.collect(),
    }
}
