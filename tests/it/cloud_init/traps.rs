//! What users of cloud-init report again and again: values that are lost without a word, and
//! user-data in a form that is not recognized.

use crate::cli::Sandbox;
use crate::reference::merged;

const JOINING: &str = "merge_how: dict(recurse_list)+list(append)";

/// Text on one line, as a report wraps it.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

/// The findings of files, without line breaks.
fn found(files: &[(&str, &str)], more: &[&str]) -> String {
    unwrapped(&merged(files, more).1)
}

#[test]
fn a_byte_order_mark_before_the_first_line_is_named() {
    let found = found(&[("user.yaml", "\u{feff}#cloud-config\nruncmd: [a]\n")], &[]);
    assert!(found.contains("byte order mark"), "{found}");
    assert!(found.contains("save the file as UTF-8 without a byte order mark"), "{found}");
}

#[test]
fn a_lone_part_that_says_how_it_is_merged_is_reported_in_each_source() {
    let how = format!("#cloud-config\na: 1\n{JOINING}\n");
    for (option, words) in [
        ("--user-data", "the only part of user-data says how it is merged"),
        ("--vendor-data", "the only part of vendor-data says how it is merged"),
        ("--vendor-data2", "the only part of vendor-data2 says how it is merged"),
        ("--base", "`cloud.cfg` says how it is merged, which has no effect without `conf.d`"),
    ] {
        let found = found(&[(option, &how)], &[]);
        assert!(found.contains("warning[ineffective-merge-how]"), "{option}: {found}");
        assert!(found.contains(words), "{option}: {found}");
    }
    let found = found(&[("one", &how)], &["--dialect", "documented"]);
    assert!(found.contains("the only part of user-data says how to merge"), "{found}");
}

#[test]
fn a_lone_part_may_say_how_it_is_merged_where_others_can_come_before_it() {
    let sandbox = Sandbox::outside_git();
    sandbox.git(&["init", "--quiet"]);
    sandbox.write("one.yaml", "#cloud-config\na: [1]\n");
    sandbox.write("two.yaml", format!("#cloud-config\na: [2]\n{JOINING}\n"));
    sandbox.write("remote", "#include https://example.org/one\n");
    sandbox.write("template", "## template: jinja\n#cloud-config\na: [{{ v1.region }}]\n");
    for sets in [
        "[{name: a, parts: [two.yaml]}, {name: b, parts: [one.yaml, two.yaml]}]",
        "[{name: a, parts: [remote, two.yaml]}]",
        "[{name: a, parts: [template, two.yaml]}]",
    ] {
        sandbox.write("layercake.yaml", format!("cloud-config: {sets}\n"));
        let rules = sandbox.rules(&["--set", "."]);
        assert!(!rules.iter().any(|rule| rule == "ineffective-merge-how"), "{sets} {rules:?}");
    }
}

#[test]
fn a_message_without_its_version_is_explained() {
    let part = "Content-Type: text/cloud-config\n\n#cloud-config\na: 1\n";
    let parts = format!("--BB\n{part}--BB--\n");
    let headers = "Content-Type: multipart/mixed; boundary=\"BB\"\n";
    let late = format!("{headers}X-Long: {}\nMIME-Version: 1.0\n\n{parts}", "x".repeat(4096));
    for (text, help) in [
        (format!("{headers}\n{parts}"), "write `MIME-Version: 1.0` as its first line"),
        (late, "write `MIME-Version: 1.0` as its first line"),
        (part.to_owned(), "write `MIME-Version: 1.0` as its first line"),
        (
            format!("MIME-Version 1.0\n{headers}\n{parts}"),
            "write `MIME-Version: 1.0` as its first line",
        ),
        (format!("\u{feff}MIME-Version: 1.0\n{headers}\n{parts}"), "without a byte order mark"),
        (
            parts.clone(),
            "write `MIME-Version: 1.0`, `Content-Type: multipart/mixed; boundary=\"BB\"` and a blank \
             line above it",
        ),
        (
            format!("MIME-Version: 1.0\n\n{parts}"),
            "write `Content-Type: multipart/mixed; boundary=\"BB\"` among the headers",
        ),
        (
            format!("\nMIME-Version: 1.0\n{headers}\n{parts}"),
            "remove the blank line above these headers",
        ),
        (
            format!("MIME-Version: 1.0\n{headers}\n--BB\n\n{part}--BB--\n"),
            "remove the blank line above these headers",
        ),
    ] {
        let found = found(&[("--user-data", &text)], &[]);
        assert!(found.contains("error[unrecognized-part]"), "{text}: {found}");
        assert!(found.contains(help), "{text}: {found}");
    }
}

#[test]
fn base64_of_user_data_is_explained() {
    let message = "TUlNRS1WZXJzaW9uOiAxLjAKQ29udGVudC1UeXBlOiB0ZXh0L2Nsb3VkLWNvbmZpZwoKYTogMQo=";
    let gzip = "H4sIAAAAAAACA1NOzskvTdFNzs9Ly0znSrRSMOQCAJ6ioS4TAAAA\n";
    let (plain, folded) = ("I2Nsb3VkLWNvbmZpZwphOiAxCg==\n", "I2Nsb3VkLWNv\nbmZpZwphOiAxCg==\n");
    for text in [plain, folded, message, gzip] {
        let in_message = format!("MIME-Version: 1.0\nContent-Type: text/cloud-config\n\n{text}");
        let in_archive =
            format!("#cloud-config-archive\n- {{type: text/cloud-config, content: {text:?}}}\n");
        for text in [text, &in_message, &in_archive] {
            let found = found(&[("--user-data", text)], &[]);
            assert!(found.contains("error[unrecognized-part]"), "{text}: {found}");
            assert!(found.contains("a part is base64"), "{text}: {found}");
            assert!(found.contains("base64 --decode"), "{text}: {found}");
        }
    }
    for other in ["aGVsbG8gd29ybGQ=\n", "I2Nsb3VkLWNvbmZpZwphOiAxCg==!\n", "word\n"] {
        let found = found(&[("--user-data", other)], &[]);
        assert!(found.contains("a part does not say what it is"), "{other}: {found}");
    }
}

#[test]
fn gzip_where_nothing_is_decompressed_is_explained() {
    let sandbox = Sandbox::outside_git();
    sandbox.write("cloud.cfg", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xff");
    let ran = sandbox.run(&["cloud-config", "--isolated", "--base", "cloud.cfg"]);
    let found = unwrapped(&ran.stderr);
    assert!(found.contains("a part is gzip where cloud-init does not decompress it"), "{found}");
    assert!(found.contains("decompress it with `gunzip`"), "{found}");
}

#[test]
fn a_mapping_that_says_how_to_merge_is_explained_at_its_line() {
    let one = "#cloud-config\na: [1]\n";
    for (how, help) in [
        (
            "{name: list, settings: [append]}",
            "write `merge_how: [{name: list, settings: [append]}]`",
        ),
        (
            "{dict: [recurse_list], list: append}",
            "write `merge_how: dict(recurse_list)+list(append)`",
        ),
        ("\n  list: [append]\n  dict:", "write `merge_how: list(append)+dict()`"),
        ("{lists: 5}", "write one text, such as `merge_how: dict(recurse_list)+list(append)`"),
    ] {
        let two = format!("#cloud-config\na: [2]\nmerge_how: {how}\n");
        let found = found(&[("one", one), ("two", &two)], &[]);
        let expected = "`two` cannot be merged: `merge_how` is a mapping, not a text or a list";
        assert!(found.contains(expected), "{how}: {found}");
        assert!(found.contains("two:3:1"), "{how}: {found}");
        assert!(found.contains(help), "{how}: {found}");
    }
}
