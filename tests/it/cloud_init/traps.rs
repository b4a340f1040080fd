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

/// The headline of each warning and note.
fn findings(files: &[(&str, &str)], more: &[&str]) -> Vec<String> {
    let (_, found) = merged(files, more);
    let is_headline =
        |line: &&str| ["warning[", "note["].iter().any(|level| line.starts_with(level));
    found.lines().filter(is_headline).map(str::to_owned).collect()
}

#[test]
fn a_byte_order_mark_before_the_first_line_is_named() {
    let found = found(&[("user.yaml", "\u{feff}#cloud-config\nruncmd: [a]\n")], &[]);
    assert!(found.contains("byte order mark"), "{found}");
    assert!(found.contains("save the file as UTF-8 without a byte order mark"), "{found}");
}

#[test]
fn parts_that_are_alone_and_lose_keys_to_another_source() {
    let how = "merge_how: 'list(append)+dict(recurse_array)+str()'";
    let user = format!("#cloud-config\nusers: [user-bob]\nruncmd: [touch /user]\n{how}\n");
    let vendor = format!("#cloud-config\nusers: [vendor-bob]\nruncmd: [touch /vendor]\n{how}\n");
    let files = [("--user-data", &*user), ("--vendor-data", &*vendor)];
    let (output, found) = merged(&files, &[]);
    assert_eq!(output, "#cloud-config\nruncmd:\n- touch /user\nusers:\n- user-bob\n");
    let found = unwrapped(&found);
    for words in [
        "the only part of user-data says how it is merged, which has no effect",
        "the only part of vendor-data says how it is merged, which has no effect",
        "`.users`, `.runcmd` of vendor-data are lost: user-data has them",
        "no `merge_how` reaches from one source to another",
        JOINING,
        "promises to keep both",
    ] {
        assert!(found.contains(words), "{words}: {found}");
    }
}

#[test]
fn what_a_source_loses_is_kept_as_the_help_says() {
    let user = "#cloud-config\nusers: [user]\nname: user\n";
    let vendor = format!("#cloud-config\n{JOINING}\nusers: [vendor]\nname: vendor\n");
    let (output, found) = merged(&[("one", user), ("two", &vendor)], &[]);
    assert_eq!(output, "#cloud-config\nname: user\nusers:\n- user\n- vendor\n", "{found}");
    assert!(!found.contains("lost-keys"), "{found}");
}

#[test]
fn the_lists_and_keys_of_an_earlier_part_are_named() {
    let one = "#cloud-config\nrun_cmd: [bash1, bash2]\nntp: {servers: [a], pools: [p], on: 1}\n";
    let two = "#cloud-config\nrun_cmd: [bash3]\nntp: {servers: [b], on: 1}\n";
    let found = found(&[("one", one), ("two", two)], &[]);
    let expected = "`.run_cmd`, `.ntp.servers`, `.ntp.pools` of an earlier part are lost: this \
                    part replaces them";
    assert!(found.contains(expected), "{found}");
    assert!(found.contains(&format!("add `{JOINING}` to this part to keep both")), "{found}");
    let two = format!("{two}{JOINING}\n");
    let (output, found) = merged(&[("one", one), ("two", &two)], &[]);
    assert!(!found.contains("lost-keys"), "{found}");
    for kept in ["- bash1\n- bash2\n- bash3", "  - a\n  - b", "  - p"] {
        assert!(output.contains(kept), "{kept}: {output}");
    }
}

#[test]
fn the_line_that_keeps_lists_keeps_the_new_texts_too() {
    let one = "#cloud-config\nlist: [1]\ntext: old\nnumber: 1\n";
    let two = "#cloud-config\nlist: [2]\ntext: new\nnumber: 2\n";
    let found = found(&[("one", one), ("two", two)], &[]);
    let line = "merge_how: dict(recurse_list,recurse_str)+list(append)+str()";
    assert!(found.contains(&format!("add `{line}` to this part")), "{found}");
    assert!(found.contains("then `.number` of the earlier part stays, too"), "{found}");
    let (output, _) = merged(&[("one", one), ("two", &format!("{two}{line}\n"))], &[]);
    assert_eq!(output, "#cloud-config\nlist:\n- 1\n- 2\nnumber: 1\ntext: new\n");
}

#[test]
fn lost_keys_are_a_warning_where_nobody_chose_a_dialect() {
    let files = [("one", "#cloud-config\na: [1]\n"), ("two", "#cloud-config\na: [2]\n")];
    let told = findings(&files, &[]);
    assert!(matches!(&told[..], [one] if one.contains("warning[lost-keys]")), "{told:?}");
    let told = findings(&files, &["--dialect", "current"]);
    assert!(matches!(&told[..], [one] if one.contains("note[lost-keys]")), "{told:?}");
    assert_eq!(findings(&files, &["--dialect", "documented"]), [""; 0]);
    // By the first documentation the first part says how the second is merged.
    let overwriting = "#cloud-config\na: [1]\nmerge_how: dict(overwrite)\n";
    let told = findings(&[("one", overwriting), files[1]], &[]);
    assert!(told.iter().any(|it| it.contains("note[lost-keys]")), "{told:?}");
}

#[test]
fn a_declared_dialect_is_a_choice() {
    let sandbox = Sandbox::outside_git();
    sandbox.git(&["init", "--quiet"]);
    sandbox.write("one.yaml", "#cloud-config\na: [1]\n");
    sandbox.write("two.yaml", "#cloud-config\na: [2]\n");
    for (dialect, level) in [("", "warning"), (", dialect: current", "note")] {
        let set = format!("cloud-config: [{{name: a, parts: [one.yaml, two.yaml]{dialect}}}]\n");
        sandbox.write("layercake.yaml", set);
        let findings = sandbox.findings(&["--set", "."]);
        let levels: Vec<&str> = findings
            .iter()
            .filter(|it| it["rule"] == "lost-keys")
            .map(|it| it["severity"].as_str().unwrap())
            .collect();
        assert_eq!(levels, [level], "{findings:?}");
    }
}

#[test]
fn nothing_is_lost_where_both_have_it_or_a_part_says_how() {
    for (one, two) in [
        ("a: [1, 2]", "a: [1, 2, 3]"),
        ("a: [1, 2]", "a: [0, 1, 9, 2]"),
        ("a: {b: 1}", "a: {b: 2, c: 3}"),
        ("a: {b: null, c: []}", "a: {}"),
        ("a: text", "a: other"),
        ("a: [1]", "a: null"),
        ("a: [1]", "a: [2]\nmerge_how: dict(replace)"),
        ("a: [1]", "b: [2]"),
    ] {
        let files = [one, two].map(|text| format!("#cloud-config\n{text}\n"));
        let found = found(&[("one", &files[0]), ("two", &files[1])], &[]);
        assert!(!found.contains("lost-keys"), "{one} {two}: {found}");
    }
}

#[test]
fn the_system_loses_lists_to_user_data_and_files_of_it_to_none() {
    let sandbox = Sandbox::outside_git();
    sandbox.write("conf.d/10-a.cfg", "packages: [a]\nkept: [a]\n");
    sandbox.write("conf.d/20-b.cfg", "packages:\n- b\n");
    sandbox.write("cloud.cfg", "packages: [base]\nusers: [default]\n");
    sandbox.write("user", "#cloud-config\nusers:\n- me\n");
    let all = ["cloud-config", "--isolated", "--conf-d", "conf.d", "--user-data", "user"];
    let ran = sandbox.run(&all);
    assert!(!ran.stderr.contains("lost-keys"), "{}", ran.stderr);
    let ran = sandbox.run(&[&all[..], &["--base", "cloud.cfg"]].concat());
    let found = unwrapped(&ran.stderr);
    let expected = "warning[lost-keys]: `.users` of the system's configuration is lost: user-data \
                    has it";
    assert!(found.contains(expected), "{found}");
    assert!(found.contains("user:2:1") && found.contains("cloud.cfg:2:1"), "{found}");
    assert_eq!(found.matches("lost-keys").count(), 1, "{found}");
}

#[test]
fn keys_of_secret_parts_are_not_named() {
    let sandbox = Sandbox::outside_git();
    sandbox.git(&["init", "--quiet"]);
    sandbox.write("one.yaml", "#cloud-config\nhunter2: {hunter3: [1]}\n");
    sandbox.write("two.yaml", "#cloud-config\nhunter2: {hunter4: [2]}\n");
    let set = "cloud-config: [{name: a, parts: [one.yaml, two.yaml], secret: true}]\n";
    sandbox.write("layercake.yaml", set);
    let ran = sandbox.run(&["lint", "--set", "."]);
    assert!(ran.stdout.contains("keys of an earlier part are lost"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("hunter"), "{}", ran.stdout);
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
