//! Paths of files, whose names may be any bytes.

use layercake_source::RepoPath;

#[test]
fn paths_of_different_bytes_are_different() {
    let paths: [(&[u8], &str); 6] = [
        (b"a/b.yaml", "a/b.yaml"),
        ("\u{e9}".as_bytes(), "\u{e9}"),
        (b"a\xff.yaml", "a\u{f7ff}.yaml"),
        (b"\xc3", "\u{f7c3}"),
        // The bytes of a character that represents a byte.
        ("\u{f7ff}".as_bytes(), "\u{f7ef}\u{f79f}\u{f7bf}"),
        ("\u{fffd}".as_bytes(), "\u{fffd}"),
    ];
    for (bytes, text) in paths {
        let path = RepoPath::of_bytes(bytes);
        assert_eq!(path.as_str(), text);
        assert_eq!(&*path.bytes(), bytes);
    }
}
