//! Two repositories, compared.
//!
//! Nothing differs from itself; from the other side the changes are mirrored;
//! nothing is unexplained; and the report is written in every form, and read
//! back.

#![no_main]

use layercake::check::Settings;
use layercake::compare::Attribution;
use layercake_fuzz::files::{Sides, tree};
use layercake_fuzz::forms::in_every_form;
use layercake_fuzz::laws::comparing::{all_seen, unexplained};
use layercake_fuzz::running::{SEMANTICS, compared};
use layercake_fuzz::support::saved;
use libfuzzer_sys::fuzz_target;

const FOLLOWED: Attribution = Attribution::Followed { renderings: Settings::RENDERINGS };

fuzz_target!(|bytes: &[u8]| {
    let Some(Sides { base, head }) = Sides::of(bytes) else { return };
    let (base, head) = (tree(&base), tree(&head));
    let semantics = SEMANTICS[bytes.len() % 2];
    if let Some(nothing) = compared(&head, &head, semantics, Attribution::Verified) {
        assert!(nothing.comparison.edits.is_empty());
        assert_eq!(all_seen(&nothing, false), Vec::<String>::new());
        assert!(nothing.findings.new.diagnostics.is_empty());
        assert!(nothing.findings.fixed.diagnostics.is_empty());
    }
    let Some(there) = compared(&base, &head, semantics, FOLLOWED) else { return };
    assert_eq!(unexplained(&there), Vec::<String>::new());
    saved::check_compared(&there);
    in_every_form(&saved::of_compared(&there));
    // Each side has its own configuration, and the head says whether there are
    // sites: only where both are the same, the same is seen from both.
    let Some(back) = compared(&head, &base, semantics, FOLLOWED) else { return };
    if base_and_head_are_configured_alike(bytes) {
        assert_eq!(all_seen(&there, false), all_seen(&back, true));
        assert_eq!(there.comparison.edits.len(), back.comparison.edits.len());
    }
});

fn base_and_head_are_configured_alike(bytes: &[u8]) -> bool {
    let Some(Sides { base, head }) = Sides::of(bytes) else { return false };
    let odd = |path: &&String| path.contains("layercake");
    let [base_has_sites, head_has_sites] =
        [&base, &head].map(|files| files.keys().any(|path| path.starts_with("site/")));
    base_has_sites == head_has_sites && !base.keys().chain(head.keys()).any(|path| odd(&path))
}
