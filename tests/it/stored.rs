//! Stored files that hold what layercake prints; `LAYERCAKE_BLESS=1` rewrites them.

use std::fs;
use std::path::Path;

/// Root of the project.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Whether stored files are rewritten.
pub fn is_blessed() -> bool {
    std::env::var_os("LAYERCAKE_BLESS").is_some()
}

/// Asserts that a file of the project has this content, or rewrites it.
pub fn assert_stored(path: &str, expected: &str) {
    let file = root().join(path);
    if is_blessed() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, expected).unwrap();
        return;
    }
    let stored = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(
        stored, expected,
        "{path} is outdated; LAYERCAKE_BLESS=1 rewrites it"
    );
}
