//! Comparison of two repositories.
//!
//! A repository does not differ from itself; swapping the sides mirrors the changes; no change is
//! unexplained; and the report can be written in every format and read back.

#![no_main]

use layercake::check::Settings;
use layercake::compare::Attribution;
use layercake_fuzz::files::{Sides, tree};
use layercake_fuzz::forms::in_every_form;
use layercake_fuzz::laws::comparing::{describe_changes, unexplained};
use layercake_fuzz::running::{SEMANTICS, compared};
use layercake_fuzz::support::saved;
use libfuzzer_sys::fuzz_target;

const FOLLOWED: Attribution = Attribution::Followed {
    renderings: Settings::MAX_RENDERINGS,
};

fuzz_target!(|bytes: &[u8]| {
    let Some(Sides { base, head }) = Sides::of(bytes) else {
        return;
    };
    let (base, head) = (tree(&base), tree(&head));
    let semantics = SEMANTICS[bytes.len() % 2];
    if let Some(unchanged) = compared(&head, &head, semantics, Settings::verified()) {
        assert!(unchanged.comparison.edits.is_empty());
        assert_eq!(
            describe_changes(&unchanged.comparison, false),
            Vec::<String>::new()
        );
        assert!(unchanged.findings.new.diagnostics.is_empty());
        assert!(unchanged.findings.fixed.diagnostics.is_empty());
    }
    let Some(forward) = compared(&base, &head, semantics, FOLLOWED) else {
        return;
    };
    assert_eq!(unexplained(&forward), Vec::<String>::new());
    saved::check_compared(&forward);
    in_every_form(&saved::of_compared(&forward));
    // Each side has its own configuration, and the head decides whether there are sites, so results
    // are symmetric only if both agree.
    let Some(backward) = compared(&head, &base, semantics, FOLLOWED) else {
        return;
    };
    if have_same_configuration(bytes) {
        assert_eq!(
            describe_changes(&forward.comparison, false),
            describe_changes(&backward.comparison, true)
        );
        assert_eq!(
            forward.comparison.edits.len(),
            backward.comparison.edits.len()
        );
    }
});

fn have_same_configuration(bytes: &[u8]) -> bool {
    let Some(Sides { base, head }) = Sides::of(bytes) else {
        return false;
    };
    let odd = |path: &&String| path.contains("layercake");
    let [base_has_sites, head_has_sites] =
        [&base, &head].map(|files| files.keys().any(|path| path.starts_with("site/")));
    base_has_sites == head_has_sites && !base.keys().chain(head.keys()).any(|path| odd(&path))
}
