//! Limits of docs/limits.md: input at the limit is accepted, and one more is reported.

use std::fs;

use layercake_source::{ReadError, RepoPath, Source, Tree as _, WorkTree};

#[test]
fn bytes_of_a_file_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let file = fs::File::create(folder.path().join("large.yaml")).unwrap();
    let tree = WorkTree::in_folder(folder.path().to_owned()).unwrap();
    let read = || {
        tree.read(&RepoPath::new("large.yaml"))
            .map(|bytes| bytes.len() as u64)
    };
    file.set_len(Source::MAX_BYTES).unwrap();
    assert_eq!(read(), Ok(Source::MAX_BYTES));
    file.set_len(Source::MAX_BYTES + 1).unwrap();
    assert_eq!(read(), Err(ReadError::TooLarge(Source::MAX_BYTES + 1)));
}
