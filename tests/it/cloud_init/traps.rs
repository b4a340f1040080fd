//! Frequent mistakes of cloud-init users: values that are lost without a warning, and user-data in
//! a form that is not recognized.

use crate::cli::Sandbox;
use crate::reference::merged;

const JOINING: &str = "merge_how: dict(recurse_list)+list(append)";

/// Text of a wrapped report on one line.
fn unwrapped(text: &str) -> String {
    text.split_whitespace()
        .filter(|word| *word != "│")
        .collect::<Vec<_>>()
        .join(" ")
}

/// Findings of files, without line breaks.
fn found(files: &[(&str, &str)], more: &[&str]) -> String {
    unwrapped(&merged(files, more).1)
}

/// Headlines of the findings.
fn findings(files: &[(&str, &str)], more: &[&str]) -> Vec<String> {
    let (_, found) = merged(files, more);
    let is_headline = |line: &&str| {
        ["error[", "warning[", "note["]
            .iter()
            .any(|level| line.starts_with(level))
    };
    found
        .lines()
        .filter(is_headline)
        .map(str::to_owned)
        .collect()
}

#[test]
fn byte_order_mark_before_the_first_line_is_reported() {
    let found = found(
        &[("user.yaml", "\u{feff}#cloud-config\nruncmd: [a]\n")],
        &[],
    );
    assert!(found.contains("byte order mark"), "{found}");
    assert!(
        found.contains("save the file as UTF-8 without a byte order mark"),
        "{found}"
    );
}

#[test]
fn lone_parts_and_keys_lost_to_another_source_are_reported() {
    let how = "merge_how: 'list(append)+dict(recurse_array)+str()'";
    let user = format!("#cloud-config\nusers: [user-bob]\nruncmd: [touch /user]\n{how}\n");
    let vendor = format!("#cloud-config\nusers: [vendor-bob]\nruncmd: [touch /vendor]\n{how}\n");
    let files = [("--user-data", &*user), ("--vendor-data", &*vendor)];
    let (output, found) = merged(&files, &[]);
    assert_eq!(
        output,
        "#cloud-config\nruncmd:\n- touch /user\nusers:\n- user-bob\n"
    );
    let found = unwrapped(&found);
    for words in [
        "merge specification in the only part of user-data has no effect",
        "merge specification in the only part of vendor-data has no effect",
        "error[lost-keys]: `.users` of vendor-data is lost: user-data has it",
        "error[lost-keys]: `.runcmd` of vendor-data is lost: user-data has it",
        "`merge_how` does not apply across sources",
        JOINING,
        "no dialect is chosen",
    ] {
        assert!(found.contains(words), "{words}: {found}");
    }
}

#[test]
fn help_for_lost_keys_of_a_source_keeps_them() {
    let user = "#cloud-config\nusers: [user]\nname: user\n";
    let vendor = format!("#cloud-config\n{JOINING}\nusers: [vendor]\nname: vendor\n");
    let (output, found) = merged(&[("one", user), ("two", &vendor)], &[]);
    assert_eq!(
        output, "#cloud-config\nname: user\nusers:\n- user\n- vendor\n",
        "{found}"
    );
    assert!(!found.contains("lost-keys"), "{found}");
}

#[test]
fn lost_lists_and_keys_of_an_earlier_part_are_named() {
    let one = "#cloud-config\nrun_cmd: [bash1, bash2]\nntp: {servers: [a], pools: [p], on: 1}\n";
    let two = "#cloud-config\nrun_cmd: [bash3]\nntp: {servers: [b], on: 1}\n";
    let found = found(&[("one", one), ("two", two)], &[]);
    for expected in [
        "warning[lost-keys]: `.run_cmd` of an earlier part is lost: this part replaces it ╭─[two:2:1]",
        "error[lost-keys]: `.ntp.servers` of an earlier part is lost: this part replaces it ╭─[two:3:7]",
        "error[lost-keys]: `.ntp.pools` of an earlier part is lost: this part replaces it ╭─[two:3:1]",
        "╭─[one:2:1]",
        "╭─[one:3:7]",
        "╭─[one:3:21]",
    ] {
        assert!(found.contains(expected), "{expected}: {found}");
    }
    assert!(
        found.contains(&format!("add `{JOINING}` to this part to keep both")),
        "{found}"
    );
    let two = format!("{two}{JOINING}\n");
    let (output, found) = merged(&[("one", one), ("two", &two)], &[]);
    assert!(!found.contains("lost-keys"), "{found}");
    for kept in ["- bash1\n- bash2\n- bash3", "  - a\n  - b", "  - p"] {
        assert!(output.contains(kept), "{kept}: {output}");
    }
}

#[test]
fn suggested_line_keeps_lists_and_new_strings() {
    let one = "#cloud-config\nlist: [1]\ntext: old\nnumber: 1\n";
    let two = "#cloud-config\nlist: [2]\ntext: new\nnumber: 2\n";
    let found = found(&[("one", one), ("two", two)], &[]);
    let line = "merge_how: dict(recurse_list,recurse_str)+list(append)+str()";
    assert!(
        found.contains(&format!("add `{line}` to this part")),
        "{found}"
    );
    assert!(
        found.contains("`.number` of the earlier part is then kept as well"),
        "{found}"
    );
    let (output, _) = merged(&[("one", one), ("two", &format!("{two}{line}\n"))], &[]);
    assert_eq!(
        output,
        "#cloud-config\nlist:\n- 1\n- 2\nnumber: 1\ntext: new\n"
    );
}

#[test]
fn lost_keys_are_an_error_where_a_module_has_the_key() {
    let level = |key: &str, flags: &[&str]| {
        let files = [("one", "[1]"), ("two", "[2]")];
        let files = files.map(|(name, value)| (name, format!("#cloud-config\n{key}: {value}\n")));
        let files = files.each_ref().map(|(name, text)| (*name, &**text));
        let found = findings(&files, flags);
        let [finding] = &found[..] else {
            panic!("{found:?}")
        };
        finding.split_once("[lost-keys]").unwrap().0.to_owned()
    };
    for key in [
        "runcmd",
        "write_files",
        "ca-certs",
        "ssh_authorized_keys",
        "zypper",
    ] {
        assert_eq!(level(key, &[]), "error", "{key}");
        assert_eq!(level(key, &["--dialect", "current"]), "note", "{key}");
    }
    for key in ["run_cmd", "write", "ssh_", "1"] {
        assert_eq!(level(key, &[]), "warning", "{key}");
        assert_eq!(level(key, &["--dialect", "current"]), "note", "{key}");
    }
    let files = [
        ("one", "#cloud-config\nruncmd: [1]\n"),
        ("two", "#cloud-config\nruncmd: [2]\n"),
    ];
    assert_eq!(findings(&files, &["--dialect", "documented"]), [""; 0]);
}

#[test]
fn declared_dialect_makes_lost_keys_a_note() {
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
fn lost_keys_needs_a_loss() {
    for (one, two) in [
        ("a: [1, 2]", "a: [1, 2, 3]"),
        ("a: [1, 2]", "a: [0, 2, 9, 1]"),
        ("a: [1, true, {b: 1.0}]", "a: [1, {b: 1}]"),
        ("a: {b: 1}", "a: {b: 2, c: 3}"),
        ("a: [], b: {c: []}", "a: 1, b: {c: {}}"),
        ("a: text", "a: other"),
        ("a: text", "a: [text]"),
        // `null-without-delete` reports it.
        ("a: [1]", "a: null"),
        ("a: [1]", "b: [2]"),
    ] {
        let files = [one, two].map(|text| format!("#cloud-config\n{{{text}}}\n"));
        let found = found(&[("one", &files[0]), ("two", &files[1])], &[]);
        assert!(!found.contains("lost-keys"), "{one} {two}: {found}");
    }
}

#[test]
fn lost_keys_is_a_note_where_the_part_itself_specifies_it() {
    let one = "#cloud-config\npackages: [1]\n";
    for how in [
        "dict(replace)",
        "dict(no_replace)",
        "dict(recurse_list)+list()",
        "dict(recurse_list)+list(no_replace)",
    ] {
        let two = format!("#cloud-config\npackages: [2]\nmerge_how: {how}\n");
        let files = [("one", one), ("two", &*two)];
        let found = findings(&files, &[]);
        assert!(
            matches!(&found[..], [one] if one.contains("note[lost-keys]: `.packages` of ")),
            "{how}: {found:?}"
        );
    }
}

/// The output has the value again, by a later part or another source.
#[test]
fn lost_keys_are_missing_in_the_output() {
    let part = |text: &str| format!("#cloud-config\n{text}\n");
    let (one, two) = (
        part("packages: [a]\nntp: {pools: [p]}"),
        part("packages: [b]\nntp: {}"),
    );
    let again = part(&format!("{JOINING}\npackages: [a]"));
    let vendor = part("ntp: {pools: [p]}");
    let files = [("one", &*one), ("two", &*two), ("three", &*again)];
    let found = findings(&files, &[]);
    assert!(
        matches!(&found[..], [one] if one.contains("`.ntp.pools` of an earlier part is lost")),
        "{found:?}"
    );
    let files = [files[0], files[1], files[2], ("--vendor-data", &*vendor)];
    assert_eq!(findings(&files, &[]), [""; 0]);
}

#[test]
fn every_lost_key_is_reported() {
    let part = |value: usize| {
        let lines = (0..300).map(|key| format!("key{key}: [{value}]\n"));
        format!(
            "#cloud-config\n{}runcmd: [{value}]\n",
            lines.collect::<String>()
        )
    };
    let sandbox = Sandbox::outside_git();
    sandbox.write("one", part(1));
    sandbox.write("two", part(2));
    let ran = sandbox.run(&["cloud-config", "--isolated", "one", "two", "-o", "json"]);
    let counts = &ran.json()["report"]["totals"]["findings"];
    assert_eq!(
        (&counts["errors"], &counts["warnings"]),
        (&1.into(), &300.into()),
        "{counts}"
    );
    assert_eq!(ran.code, 1);
}

#[test]
fn lines_of_lost_items_are_those_of_all_their_parts() {
    let two = format!("#cloud-config\n{JOINING}\nruncmd: [b]\n");
    let files = [
        ("one", "#cloud-config\nruncmd: [a]\n"),
        ("two", &*two),
        ("three", "#cloud-config\nruncmd: [c]\n"),
    ];
    let found = found(&files, &[]);
    for line in ["three:2:1", "one:2:10", "two:3:9"] {
        assert!(found.contains(line), "{line}: {found}");
    }
}

/// A key that cloud-init may read one day is data like any other.
#[test]
fn proposed_merge_setting_of_vendor_data_has_no_effect() {
    for key in ["vendor_data", "vendordata"] {
        let user = format!(
            "#cloud-config\n{key}: {{enabled: true, userdata_merge: append}}\nruncmd: [a]\n"
        );
        let vendor = "#cloud-config\nruncmd: [b]\n";
        let files = [("user", &*user), ("--vendor-data", vendor)];
        let found = findings(&files, &[]);
        assert!(
            matches!(&found[..], [one] if one.contains("`.runcmd` of vendor-data is lost")),
            "{key}: {found:?}"
        );
    }
}

#[test]
fn lists_of_the_system_lost_to_user_data_are_reported() {
    let sandbox = Sandbox::outside_git();
    sandbox.write("conf.d/10-a.cfg", "packages: [a]\nkept: [a]\n");
    sandbox.write("conf.d/20-b.cfg", "packages:\n- b\n");
    sandbox.write("cloud.cfg", "packages: [base]\nusers: [default]\n");
    sandbox.write("user", "#cloud-config\nusers:\n- me\n");
    let all = [
        "cloud-config",
        "--isolated",
        "--conf-d",
        "conf.d",
        "--user-data",
        "user",
    ];
    let ran = sandbox.run(&all);
    let found = unwrapped(&ran.stderr);
    let expected = "error[lost-keys]: `.packages` of `conf.d/10-a.cfg` is lost: a file of higher \
                    priority has it ╭─[conf.d/20-b.cfg:1:1]";
    assert!(found.contains(expected), "{found}");
    assert!(
        found.contains(&format!(
            "add `{JOINING}` to `conf.d/10-a.cfg` to keep both"
        )),
        "{found}"
    );
    let ran = sandbox.run(&[&all[..], &["--base", "cloud.cfg"]].concat());
    let found = unwrapped(&ran.stderr);
    let expected = "error[lost-keys]: `.users` of the system's configuration is lost: user-data \
                    has it";
    assert!(found.contains(expected), "{found}");
    assert!(
        found.contains("user:2:1") && found.contains("cloud.cfg:2:1"),
        "{found}"
    );
    assert!(
        found.contains("`.packages` of `cloud.cfg` is lost"),
        "{found}"
    );
    assert_eq!(found.matches("lost-keys").count(), 3, "{found}");
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
    assert!(
        ran.stdout
            .contains("a list or key of an earlier part is lost"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("hunter"), "{}", ran.stdout);
}

#[test]
fn merge_how_of_a_lone_part_is_reported_in_each_source() {
    let how = format!("#cloud-config\na: 1\n{JOINING}\n");
    for (option, words) in [
        (
            "--user-data",
            "merge specification in the only part of user-data has no effect",
        ),
        (
            "--vendor-data",
            "merge specification in the only part of vendor-data has no effect",
        ),
        (
            "--vendor-data2",
            "merge specification in the only part of vendor-data2 has no effect",
        ),
        (
            "--base",
            "merge specification in `cloud.cfg` has no effect without `conf.d`",
        ),
    ] {
        let found = found(&[(option, &how)], &[]);
        assert!(
            found.contains("warning[ineffective-merge-how]"),
            "{option}: {found}"
        );
        assert!(found.contains(words), "{option}: {found}");
    }
    let found = found(&[("one", &how)], &["--dialect", "documented"]);
    assert!(
        found.contains("merge specification in the only part of user-data has no effect"),
        "{found}"
    );
}

#[test]
fn merge_how_is_accepted_where_other_parts_may_come_first() {
    let sandbox = Sandbox::outside_git();
    sandbox.git(&["init", "--quiet"]);
    sandbox.write("one.yaml", "#cloud-config\na: [1]\n");
    sandbox.write("two.yaml", format!("#cloud-config\na: [2]\n{JOINING}\n"));
    sandbox.write("remote", "#include https://example.org/one\n");
    sandbox.write(
        "template",
        "## template: jinja\n#cloud-config\na: [{{ v1.region }}]\n",
    );
    for sets in [
        "[{name: a, parts: [two.yaml]}, {name: b, parts: [one.yaml, two.yaml]}]",
        "[{name: a, parts: [remote, two.yaml]}]",
        "[{name: a, parts: [template, two.yaml]}]",
    ] {
        sandbox.write("layercake.yaml", format!("cloud-config: {sets}\n"));
        let rules = sandbox.rules(&["--set", "."]);
        assert!(
            !rules.iter().any(|rule| rule == "ineffective-merge-how"),
            "{sets} {rules:?}"
        );
    }
}

#[test]
fn message_without_mime_version_is_explained() {
    let part = "Content-Type: text/cloud-config\n\n#cloud-config\na: 1\n";
    let parts = format!("--BB\n{part}--BB--\n");
    let headers = "Content-Type: multipart/mixed; boundary=\"BB\"\n";
    let late = format!(
        "{headers}X-Long: {}\nMIME-Version: 1.0\n\n{parts}",
        "x".repeat(4096)
    );
    for (text, help) in [
        (
            format!("{headers}\n{parts}"),
            "write `MIME-Version: 1.0` as its first line",
        ),
        (late, "write `MIME-Version: 1.0` as its first line"),
        (
            part.to_owned(),
            "write `MIME-Version: 1.0` as its first line",
        ),
        (
            format!("MIME-Version 1.0\n{headers}\n{parts}"),
            "write `MIME-Version: 1.0` as its first line",
        ),
        (
            format!("\u{feff}MIME-Version: 1.0\n{headers}\n{parts}"),
            "without a byte order mark",
        ),
        (
            parts.clone(),
            "write `MIME-Version: 1.0`, `Content-Type: multipart/mixed; boundary=\"BB\"` and a blank \
             line above it",
        ),
        (
            format!("MIME-Version: 1.0\n\n{parts}"),
            "add `Content-Type: multipart/mixed; boundary=\"BB\"` to the headers",
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
        assert!(
            found.contains("error[unrecognized-part]"),
            "{text}: {found}"
        );
        assert!(found.contains(help), "{text}: {found}");
    }
}

#[test]
fn base64_of_user_data_is_explained() {
    let message = "TUlNRS1WZXJzaW9uOiAxLjAKQ29udGVudC1UeXBlOiB0ZXh0L2Nsb3VkLWNvbmZpZwoKYTogMQo=";
    let gzip = "H4sIAAAAAAACA1NOzskvTdFNzs9Ly0znSrRSMOQCAJ6ioS4TAAAA\n";
    let (plain, folded) = (
        "I2Nsb3VkLWNvbmZpZwphOiAxCg==\n",
        "I2Nsb3VkLWNv\nbmZpZwphOiAxCg==\n",
    );
    for text in [plain, folded, message, gzip] {
        let in_message = format!("MIME-Version: 1.0\nContent-Type: text/cloud-config\n\n{text}");
        let in_archive =
            format!("#cloud-config-archive\n- {{type: text/cloud-config, content: {text:?}}}\n");
        for text in [text, &in_message, &in_archive] {
            let found = found(&[("--user-data", text)], &[]);
            assert!(
                found.contains("error[unrecognized-part]"),
                "{text}: {found}"
            );
            assert!(found.contains("a part is base64"), "{text}: {found}");
            assert!(found.contains("base64 --decode"), "{text}: {found}");
        }
    }
    for other in [
        "aGVsbG8gd29ybGQ=\n",
        "I2Nsb3VkLWNvbmZpZwphOiAxCg==!\n",
        "word\n",
    ] {
        let found = found(&[("--user-data", other)], &[]);
        assert!(found.contains("a part without a type"), "{other}: {found}");
    }
}

#[test]
fn gzip_in_a_place_without_decompression_is_explained() {
    let sandbox = Sandbox::outside_git();
    sandbox.write("cloud.cfg", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xff");
    let ran = sandbox.run(&["cloud-config", "--isolated", "--base", "cloud.cfg"]);
    let found = unwrapped(&ran.stderr);
    assert!(
        found.contains("a part is gzip data that cloud-init does not decompress here"),
        "{found}"
    );
    assert!(found.contains("decompress it with `gunzip`"), "{found}");
}

#[test]
fn merge_how_mapping_is_explained_at_its_line() {
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
        (
            "\n  list: [append]\n  dict:",
            "write `merge_how: list(append)+dict()`",
        ),
        (
            "{lists: 5}",
            "write a string, such as `merge_how: dict(recurse_list)+list(append)`",
        ),
    ] {
        let two = format!("#cloud-config\na: [2]\nmerge_how: {how}\n");
        let found = found(&[("one", one), ("two", &two)], &[]);
        let expected = "`two` cannot be merged: `merge_how` is a mapping, not a string or a list";
        assert!(found.contains(expected), "{how}: {found}");
        assert!(found.contains("two:3:1"), "{how}: {found}");
        assert!(found.contains(help), "{how}: {found}");
    }
}
