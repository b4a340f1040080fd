//! Checks of repositories in both semantics.
//!
//! layercake itself does not fail; results do not depend on file order or threads; every source
//! value matches its text and has a route; secrets are never shown; and a saved report gives the
//! same output.

#![no_main]

use std::sync::LazyLock;

use layercake::check::{Checked, RenderedSite};
use layercake::merge::deckhand::Semantics;
use layercake::report::canonical;
use layercake::source::{Entry, MemoryTree, RepoPath, Tree};
use layercake::yaml::path::children;
use layercake::yaml::{Node, Origin, Value};
use layercake_fuzz::files::{Sides, tree};
use layercake_fuzz::laws::reading::text_reads_as;
use layercake_fuzz::running::{SEMANTICS, checked};
use layercake_fuzz::support::{finding_text, saved};
use layercake_fuzz::ways::{untrue_flows, untrue_ways};
use layercake_fuzz::{LARGEST, size};
use libfuzzer_sys::fuzz_target;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Maximum number of values per output that are compared with their text, since each comparison
/// parses a dozen texts.
const MAX_COMPARED: usize = 8;

/// Maximum number of nodes of a site whose outputs are followed value by value.
const MAX_FOLLOWED: usize = 60;

fuzz_target!(|bytes: &[u8]| {
    let Some(Sides { head, .. }) = Sides::of(bytes) else {
        return;
    };
    let files = tree(&head);
    for semantics in SEMANTICS {
        let Some(checked) = checked(&files, semantics, check_site) else {
            return;
        };
        for finding in &checked.findings.diagnostics {
            assert!(!finding.message.is_empty() && !finding.message.contains('\n'));
            for label in std::iter::once(&finding.primary).chain(&finding.related) {
                let text = checked.sources.get(label.span.file).text();
                assert!(text.get(label.span.range()).is_some(), "{finding:?}");
            }
        }
        saved::check_checked(&checked);
    }
    // The semantics is arbitrary, but the same for the same input.
    let semantics = SEMANTICS[bytes.len() % 2];
    let first = results(&files, semantics);
    assert_eq!(
        results(&Reversed(files.clone()), semantics),
        first,
        "result depends on file order"
    );
    assert_eq!(
        POOL.install(|| results(&files, semantics)),
        first,
        "result depends on threads"
    );
});

static POOL: LazyLock<ThreadPool> = LazyLock::new(|| {
    ThreadPoolBuilder::new()
        .num_threads(3)
        .build()
        .expect("threads can be started")
});

/// A tree that lists its files in reverse order.
#[derive(Clone)]
struct Reversed(MemoryTree);

impl Tree for Reversed {
    fn inner(&self) -> Option<&dyn Tree> {
        Some(&self.0)
    }

    fn entries(&self, folder: &RepoPath) -> Result<Vec<Entry>, layercake::error::Error> {
        let mut entries = self.0.entries(folder)?;
        entries.reverse();
        Ok(entries)
    }
}

/// Results of a run: outputs and findings.
fn results(tree: &(impl Tree + Clone + Send + 'static), semantics: Semantics) -> Vec<String> {
    let Some(checked) = checked(tree, semantics, outputs) else {
        return Vec::new();
    };
    let Checked {
        sources,
        sites,
        findings,
        ..
    } = checked;
    let findings = findings
        .diagnostics
        .iter()
        .map(|finding| finding_text(finding, &sources));
    let outputs = sites
        .into_iter()
        .flat_map(|site| site.taken.expect("the site was rendered"));
    outputs.chain(findings).collect()
}

fn outputs(site: &RenderedSite<'_>) -> Vec<String> {
    let name = site.site.name.as_deref().unwrap_or_default();
    let all = site.graph.iter().map(|(doc, recipe)| {
        let data = site
            .rendered
            .data(doc)
            .filter(|data| size(data) < LARGEST)
            .map(canonical);
        format!("{name}: {} {} {data:?}", recipe.key, recipe.emit)
    });
    all.collect()
}

fn check_site(site: &RenderedSite<'_>) {
    let mut nodes = 0;
    for (doc, recipe) in site.graph.iter() {
        let Some(data) = site.rendered.data(doc) else {
            continue;
        };
        nodes += size(data);
        if nodes >= LARGEST {
            return;
        }
        let mut visited = 0;
        leaves(data, &mut |node| {
            let text = site.sources.get(node.span.file).text();
            assert!(text.get(node.span.range()).is_some());
            visited += 1;
            if node.origin == Origin::Written && visited <= MAX_COMPARED {
                assert!(
                    text_reads_as(text, node.span, &node.value),
                    "{}: {:?} {:?}",
                    recipe.key,
                    node.value,
                    site.sources.slice(node.span)
                );
            }
        });
    }
    if nodes <= MAX_FOLLOWED {
        let wrong = [untrue_ways(site), untrue_flows(site)].concat();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

fn leaves(node: &Node, visit: &mut dyn FnMut(&Node)) {
    match &node.value {
        Value::Sequence(_) | Value::Mapping(_) => {
            children(node).for_each(|(_, child)| leaves(child, visit));
        }
        Value::Pairs(_) | Value::Set(_) => {}
        _ => visit(node),
    }
}
