//! Names for findings that stay when lines move and values change.

use crate::diagnostic::Diagnostic;
use crate::source::RepoPath;

/// The name of a finding whose first place is in the file at `path`.
///
/// It is made of the rule, the document or else the file, and what the finding
/// is about ([`Diagnostic::subject`]). No line, no message and no value is in
/// it: a message quotes values, some of which may be guessed from their hash.
/// Findings that are alike in all of these have one name.
pub(crate) fn fingerprint(diagnostic: &Diagnostic, path: &RepoPath) -> String {
    let mut hash = Fnv::new();
    hash.add(diagnostic.rule.name);
    match diagnostic.documents.first() {
        Some(key) => [&*key.schema, &key.layer, &key.name].map(|part| hash.add(part)),
        None => [path.as_str(), "", ""].map(|part| hash.add(part)),
    };
    hash.add(&diagnostic.subject);
    format!("{:032x}", hash.0)
}

/// FNV-1a with 128 bits: the same on every machine and in every version,
/// which the hashes of the standard library are not.
struct Fnv(u128);

impl Fnv {
    fn new() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    /// Adds a part and its length, so that parts cannot run into each other.
    fn add(&mut self, part: &str) {
        const PRIME: u128 = 0x0100_0000_0000_0000_0000_013b;
        let length = (part.len() as u64).to_le_bytes();
        for byte in part.as_bytes().iter().chain(&length) {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(PRIME);
        }
    }
}
