//! Bytes as `layercake.yaml` and as a baseline: unusable input must give an error with a location;
//! with usable input, a small repository is checked. A baseline that was read is written unchanged.

#![no_main]

use layercake::commands::configuration::{
    ConfigurationSource, ConfigurationTrees, find, links, outputs,
};
use layercake::config::settings;
use layercake::merge::deckhand::Semantics;
use layercake::source::{FileId, MemoryTree};
use layercake::triage::Baseline;
use layercake::triage::baseline::FILE;
use layercake_fuzz::running::checked;
use layercake_fuzz::support::saved;
use libfuzzer_sys::fuzz_target;

const POLICY: &str = "---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {schema: \
     metadata/Control/v1, name: layering-policy}\ndata: {layerOrder: [global, site]}\n";
const DEFINITION: &str = "---\nschema: pegleg/SiteDefinition/v1\nmetadata: {schema: \
     metadata/Document/v1, name: one, storagePolicy: cleartext, layeringDefinition: {abstract: \
     false, layer: site}}\ndata: {site_type: big}\n";
const DOCUMENTS: &str = "---\n# layercake: ignore[missing-parent]\nschema: example/Kind/v1\nmetadata:\n  \
     schema: metadata/Document/v1\n  name: a\n  storagePolicy: cleartext\n  layeringDefinition:\n    \
     abstract: false\n    layer: site\n    parentSelector: {k: a}\n    actions: [{method: merge, path: .}]\n  \
     substitutions:\n  - src: {schema: deckhand/Passphrase/v1, name: gone, path: .}\n    dest: {path: .x}\n\
     data: {x: 1, charts: [b], version: 1.10}\n";

fuzz_target!(|bytes: &[u8]| {
    as_baseline(bytes);
    let tree = repository().with("layercake.yaml", bytes);
    let around = ConfigurationTrees {
        tree: &tree,
        base: None,
        root: None,
    };
    match find(
        std::path::Path::new(""),
        &ConfigurationSource::Root,
        &around,
    ) {
        Ok(found) => {
            let _ = (outputs(&found), links(&found));
            settings(&found.config);
        }
        Err(error) => {
            let mut lines = error.to_string();
            lines.retain(|it| it != '\r');
            let says_where = lines
                .lines()
                .all(|line| line.starts_with("layercake.yaml:"));
            return assert!(says_where, "{error}");
        }
    }
    if let Some(checked) = checked(&tree, Semantics::Documented, |_| ()) {
        saved::check_checked(&checked);
    }
});

fn repository() -> MemoryTree {
    MemoryTree::new()
        .with("global/policy.yaml", POLICY)
        .with("site/one/site-definition.yaml", DEFINITION)
        .with("site/one/a.yaml", DOCUMENTS)
        .with("site/one/user-data", "#cloud-config\na: 1\n")
}

fn as_baseline(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match Baseline::read(FileId::default(), text) {
        Ok(baseline) => {
            let text = baseline.to_text();
            let again =
                Baseline::read(FileId::default(), &text).expect("a written baseline can be read");
            assert_eq!(again.to_text(), text);
            let tree = repository().with(FILE, text);
            checked(&tree, Semantics::Documented, |_| ());
        }
        Err(damage) => {
            assert!(
                (1..=text.lines().count().max(1) + 1).contains(&damage.line),
                "{damage:?}"
            );
        }
    }
}
