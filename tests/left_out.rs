//! The last target of `cargo test`: reports how many tests were skipped because recorded cases with
//! texts of others are not part of this repository.

#![expect(
    clippy::disallowed_methods,
    reason = "reads its arguments and the tests' sources"
)]
#![expect(clippy::print_stdout, reason = "prints to whoever ran the tests")]

use std::fs;
use std::io;
use std::path::Path;

/// Attribute of a test that needs the corpus.
const NEEDS_CORPUS: &str = "#[ignore = \"needs the recorded corpus\"]\n";

fn main() -> io::Result<()> {
    // With an argument, the tests are filtered or listed, or all of them are included.
    if std::env::args().len() > 1 {
        return Ok(());
    }
    let count = count_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it"))?;
    println!(
        "note: {count} tests were skipped: they need recorded cases with texts of others, which are \
         not part of\n      this repository (tests/recorded/README.md)\n"
    );
    Ok(())
}

/// Number of tests below a folder that need the corpus.
fn count_below(folder: &Path) -> io::Result<usize> {
    fs::read_dir(folder)?
        .map(|entry| {
            let path = entry?.path();
            if path.is_dir() {
                return count_below(&path);
            }
            Ok(fs::read_to_string(&path)?.matches(NEEDS_CORPUS).count())
        })
        .sum()
}
