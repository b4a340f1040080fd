//! Whole repositories, checked under both meanings.
//!
//! Nothing of layercake itself fails; the result depends neither on the order of
//! files nor on threads; every value that somebody wrote reads at its place, and
//! has a way to it; what is secret is shown nowhere; and what is reported is
//! reported the same from a saved report.

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

/// Of so many values of an output it is looked whether their texts read as
/// them: that reads a dozen texts each.
const READ_AGAIN: usize = 8;

/// Sites whose outputs have more nodes than this are not followed value by
/// value.
const FOLLOWED: usize = 60;

fuzz_target!(|bytes: &[u8]| {
    let Some(Sides { head, .. }) = Sides::of(bytes) else { return };
    let files = tree(&head);
    for semantics in SEMANTICS {
        let Some(checked) = checked(&files, semantics, site_is_sound) else { return };
        for finding in &checked.findings.diagnostics {
            assert!(!finding.message.is_empty() && !finding.message.contains('\n'));
            for label in std::iter::once(&finding.primary).chain(&finding.related) {
                let text = checked.sources.get(label.span.file).text();
                assert!(text.get(label.span.range()).is_some(), "{finding:?}");
            }
        }
        saved::check_checked(&checked);
    }
    // Which of the two is left to chance, but the same for the same input.
    let semantics = SEMANTICS[bytes.len() % 2];
    let first = told(&files, semantics);
    assert_eq!(told(&Reversed(&files), semantics), first, "the order of files");
    assert_eq!(POOL.install(|| told(&files, semantics)), first, "threads");
});

static POOL: LazyLock<ThreadPool> = LazyLock::new(|| {
    ThreadPoolBuilder::new().num_threads(3).build().expect("threads can be started")
});

/// A tree that lists its files the other way round.
struct Reversed<'a>(&'a MemoryTree);

impl Tree for Reversed<'_> {
    fn inner(&self) -> Option<&dyn Tree> {
        Some(self.0)
    }

    fn entries(&self, folder: &RepoPath) -> Result<Vec<Entry>, layercake::error::Error> {
        let mut entries = self.0.entries(folder)?;
        entries.reverse();
        Ok(entries)
    }
}

/// What a run says: the outputs, and the findings.
fn told(tree: &dyn Tree, semantics: Semantics) -> Vec<String> {
    let Some(checked) = checked(tree, semantics, outputs) else { return Vec::new() };
    let Checked { sources, sites, findings, .. } = checked;
    let findings = findings.diagnostics.iter().map(|finding| finding_text(finding, &sources));
    let outputs = sites.into_iter().flat_map(|site| site.taken.expect("it was rendered"));
    outputs.chain(findings).collect()
}

fn outputs(site: &RenderedSite<'_>) -> Vec<String> {
    let name = site.site.name.as_deref().unwrap_or_default();
    let all = site.graph.iter().map(|(doc, recipe)| {
        let data = site.rendered.data(doc).filter(|data| size(data) < LARGEST).map(canonical);
        format!("{name}: {} {} {data:?}", recipe.key, recipe.emit)
    });
    all.collect()
}

fn site_is_sound(site: &RenderedSite<'_>) {
    let mut nodes = 0;
    for (doc, recipe) in site.graph.iter() {
        let Some(data) = site.rendered.data(doc) else { continue };
        nodes += size(data);
        if nodes >= LARGEST {
            return;
        }
        let mut looked_at = 0;
        leaves(data, &mut |node| {
            let text = site.sources.get(node.span.file).text();
            assert!(text.get(node.span.range()).is_some());
            looked_at += 1;
            if node.origin == Origin::Written && looked_at <= READ_AGAIN {
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
    if nodes <= FOLLOWED {
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
