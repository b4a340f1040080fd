//! Arbitrary bytes, and randomly modified files of a site, through the whole pipeline: there is
//! always a report.

use layercake::merge::deckhand::Semantics;
use layercake::source::MemoryTree;
use proptest::prelude::*;
use proptest::sample::select;

use super::run;
use crate::support::saved;

/// Typical files of a site.
const FILES: [(&str, &str); 5] = [
    (
        "global/layering-policy.yaml",
        "---\nschema: deckhand/LayeringPolicy/v1\nmetadata:\n  schema: metadata/Control/v1\n  name: \
         layering-policy\ndata:\n  layerOrder:\n    - global\n    - type\n    - site\n...\n",
    ),
    (
        "global/software/charts/ucp/core/keystone.yaml",
        "---\n# The global one.\nschema: armada/Chart/v1\nmetadata:\n  schema: metadata/Document/v1\n  \
         name: ucp-keystone-global\n  layeringDefinition:\n    abstract: true\n    layer: global\n  \
         labels:\n    name: ucp-keystone-global\n  storagePolicy: cleartext\n  substitutions:\n    \
         # Chart source\n    - src:\n        schema: pegleg/SoftwareVersions/v1\n        name: \
         software-versions\n        path: .charts.ucp.keystone\n      dest:\n        path: \
         .source\n    - src:\n        schema: deckhand/Passphrase/v1\n        name: \
         ucp_oslo_db_admin_password\n        path: .\n      dest:\n        - path: \
         .values.endpoints.auth.admin.password\n        - path: .values.conf.url\n          \
         pattern: 'PASSWORD_[A-Z]+'\ndata:\n  chart_name: ucp-keystone\n  values:\n    conf: {url: \
         \"mysql://root:PASSWORD_DB@host:3306\"}\n    pod:\n      replicas:\n        api: 2\n  \
         dependencies: &deps\n    - keystone-htk\n  more: *deps\n...\n",
    ),
    (
        "site/seaworthy/site-definition.yaml",
        "---\ndata:\n  site_type: foundry\nmetadata:\n  layeringDefinition: {abstract: false, layer: \
         site}\n  name: seaworthy\n  schema: metadata/Document/v1\n  storagePolicy: \
         cleartext\nschema: pegleg/SiteDefinition/v1\n...\n",
    ),
    (
        "site/seaworthy/charts.yaml",
        "---\nschema: armada/Chart/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: \
         ucp-keystone\n  layeringDefinition:\n    abstract: false\n    layer: site\n    \
         parentSelector:\n      name: ucp-keystone-global\n    actions:\n      - method: merge\n        \
         path: .\n      - {method: delete, path: '.dependencies[0]'}\n  storagePolicy: \
         cleartext\ndata:\n  values:\n    pod:\n      replicas:\n        api: 3\n---\nschema: \
         pegleg/SoftwareVersions/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: \
         software-versions\n  layeringDefinition:\n    abstract: false\n    layer: site\n  \
         storagePolicy: cleartext\ndata: {charts: {ucp: {keystone: {type: git, location: \
         'https://example.org'}}}}\n",
    ),
    (
        "type/foundry/secrets.yaml",
        "---\nschema: deckhand/Passphrase/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: \
         ucp_oslo_db_admin_password\n  layeringDefinition:\n    abstract: false\n    layer: type\n  \
         storagePolicy: encrypted\ndata: password123\n",
    ),
];

/// Tokens with a meaning in some format.
pub(super) const PIECES: [&str; 30] = [
    "---\n",
    "...\n",
    "\n",
    "  ",
    "- ",
    ": ",
    "#",
    "&deps ",
    "*deps",
    "<<: ",
    "!!binary ",
    "|\n",
    ">-\n",
    "'",
    "\"",
    "{",
    "}",
    "[",
    "]",
    "null",
    "true",
    "-1",
    "0x",
    "2001-01-01",
    ".",
    "$",
    "..",
    "(",
    "\u{feff}",
    "\u{0}",
];

#[derive(Clone, Debug)]
struct Edit {
    file: usize,
    at: prop::sample::Index,
    length: usize,
    with: Vec<u8>,
}

fn edit() -> impl Strategy<Value = Edit> {
    let piece = prop_oneof![
        select(&PIECES[..]).prop_map(|piece| piece.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..3),
        (0..FILES.len(), any::<prop::sample::Index>(), 0..40_usize).prop_map(
            |(file, at, length)| {
                let bytes = FILES[file].1.as_bytes();
                let at = at.index(bytes.len());
                bytes[at..(at + length).min(bytes.len())].to_vec()
            }
        ),
    ];
    (
        0..FILES.len(),
        any::<prop::sample::Index>(),
        0..20_usize,
        piece,
    )
        .prop_map(|(file, at, length, with)| Edit {
            file,
            at,
            length,
            with,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_reported(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let [policy, _, definition, ..] = FILES;
        let tree = MemoryTree::new()
            .with(policy.0, policy.1)
            .with(definition.0, definition.1)
            .with("site/seaworthy/any.yaml", bytes.clone());
        saved::check_checked(&run(&tree, Semantics::Documented));
        saved::check_checked(&run(&MemoryTree::new().with(definition.0, bytes), Semantics::Documented));
    }

    #[test]
    fn any_pieces_are_reported(pieces in prop::collection::vec(select(&PIECES[..]), 0..60)) {
        let [policy, _, definition, ..] = FILES;
        let tree = MemoryTree::new()
            .with(policy.0, policy.1)
            .with(definition.0, definition.1)
            .with("site/seaworthy/any.yaml", pieces.concat());
        saved::check_checked(&run(&tree, Semantics::Documented));
    }

    #[test]
    fn changed_files_are_reported(edits in prop::collection::vec(edit(), 1..5)) {
        let mut files = FILES.map(|(path, text)| (path, text.as_bytes().to_vec()));
        for edit in edits {
            let bytes = &mut files[edit.file].1;
            let at = edit.at.index(bytes.len() + 1);
            let end = (at + edit.length).min(bytes.len());
            bytes.splice(at..end, edit.with);
        }
        let tree = files.into_iter().fold(MemoryTree::new(), |tree, (path, bytes)| tree.with(path, bytes));
        for semantics in [Semantics::Documented, Semantics::Deckhand] {
            saved::check_checked(&run(&tree, semantics));
        }
    }
}
