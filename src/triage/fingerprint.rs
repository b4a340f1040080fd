//! Stable identifiers of findings, independent of line numbers and values.

use crate::diagnostic::Diagnostic;
use crate::source::RepoPath;

/// Fingerprint of a finding with its primary location in the file at `path`.
///
/// Hashes the rule, the document (or else the file) and the subject ([`Diagnostic::subject`]).
/// Lines, messages and values are excluded: messages quote values, and short secrets could be
/// guessed from their hash. Findings with the same inputs have the same fingerprint.
pub(crate) fn fingerprint(diagnostic: &Diagnostic, path: &RepoPath) -> String {
    let [first, second, third] = match diagnostic.documents.first() {
        Some(key) => [&*key.schema, &key.layer, &key.name],
        None => [path.as_str(), "", ""],
    };
    fingerprint_of([
        diagnostic.rule.name,
        first,
        second,
        third,
        &diagnostic.subject,
    ])
}

/// Returns a hash of these parts, the same on all machines and in all versions.
pub(crate) fn fingerprint_of(parts: [&str; 5]) -> String {
    let mut hash = Fnv::new();
    for part in parts {
        hash.add(part);
    }
    format!("{:032x}", hash.0)
}

/// FNV-1a with 128 bits. Unlike the hashes of the standard library, it is stable across machines
/// and versions.
struct Fnv(u128);

impl Fnv {
    fn new() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    /// Adds a part and its length, which keeps the boundaries of parts distinct.
    fn add(&mut self, part: &str) {
        const PRIME: u128 = 0x0100_0000_0000_0000_0000_013b;
        let length = (part.len() as u64).to_le_bytes();
        for byte in part.as_bytes().iter().chain(&length) {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(PRIME);
        }
    }
}
