//! Parsing of user-data into parts: their types, spans and faults.
//!
//! `⟦` and `⟧` enclose the expected span of a fault; they are removed before the text is parsed.

use layercake::report::canonical;
use layercake::source::{FileId, ReadError, RepoPath, Source, SourceMap, Span, Spanned};
use layercake::system::cloud_init::part::{
    Carrier, CloudPart, ContainerFault, ContentFault, FaultCost, Header, PartFault, PartFaultKind,
    PartKind, PartLimit, PartResemblance,
};
use layercake::system::cloud_init::read::{
    DecodingBudget, Included, UserData, read, read_configuration, read_with,
};
use layercake::yaml::YamlProblemKind;

/// Parsed user-data, with the marked spans.
struct Taken {
    sources: SourceMap,
    user_data: UserData,
    marks: Vec<Span>,
}

/// Parses user-data; included files are looked up in `files`.
fn take_apart(marked: &str, files: &[(&str, &str)]) -> Taken {
    let mut sources = SourceMap::new();
    let mut add = |name: &str, text: &str| {
        sources.add(Source::new(
            RepoPath::new(name),
            Ok(text.as_bytes().to_vec()),
        ))
    };
    let (text, ranges) = unmarked(marked);
    let file = add("user-data", &text);
    let files: Vec<(&str, FileId)> = files
        .iter()
        .map(|(name, text)| (*name, add(name, text)))
        .collect();
    let marks = ranges
        .into_iter()
        .map(|(start, end)| Span::new(file, start, end))
        .collect();
    let user_data = read(file, &mut sources, &mut |_, _, path| {
        if path == "user-data" {
            return Included::File(file);
        }
        let known = files.iter().find(|(name, _)| *name == path);
        known.map_or(Included::Missing, |(_, file)| Included::File(*file))
    });
    Taken {
        sources,
        user_data,
        marks,
    }
}

fn unmarked(marked: &str) -> (String, Vec<(u32, u32)>) {
    let (mut text, mut open, mut ranges) = (String::new(), Vec::new(), Vec::new());
    for character in marked.chars() {
        let at = u32::try_from(text.len()).unwrap();
        match character {
            '⟦' => open.push(at),
            '⟧' => ranges.push((open.pop().expect("the mark is open"), at)),
            other => text.push(other),
        }
    }
    ranges.sort_unstable();
    (text, ranges)
}

impl Taken {
    /// Parts, one a line: name, type, header and data.
    fn parts(&self) -> Vec<String> {
        self.user_data.parts.iter().map(outline).collect()
    }

    /// All faults at the spans of their cause, sorted.
    fn faults(&self) -> Vec<(Span, PartFaultKind)> {
        let of_parts = self.user_data.parts.iter().flat_map(|part| &part.faults);
        let all = of_parts
            .chain(&self.user_data.faults)
            .chain(&self.user_data.aborted);
        let mut faults: Vec<_> = all
            .map(|PartFault { at, kind }| (self.sources.written(*at), kind.clone()))
            .collect();
        faults.sort_by_key(|(at, _)| *at);
        faults
    }

    #[track_caller]
    fn is(&self, parts: &[&str], faults: &[PartFaultKind]) {
        assert_eq!(self.parts(), parts);
        let (places, kinds): (Vec<Span>, Vec<PartFaultKind>) = self.faults().into_iter().unzip();
        assert_eq!(kinds, faults);
        let texts = |spans: &[Span]| -> Vec<(Span, String)> {
            spans
                .iter()
                .map(|span| (*span, self.sources.slice(*span).to_owned()))
                .collect()
        };
        assert_eq!(texts(&places), texts(&self.marks));
    }
}

fn outline(part: &CloudPart) -> String {
    let kind = match &part.kind {
        PartKind::CloudConfig => "config",
        PartKind::JsonPatch(Some(_)) => "patch",
        PartKind::JsonPatch(None) => "broken patch",
        PartKind::Template => "template",
        PartKind::Other(content_type) => content_type,
    };
    let header = part.header.as_ref().map_or("-", |header| &header.value);
    format!(
        "{} {kind} {header:?} {}",
        part.key.name,
        canonical(&part.data)
    )
}

/// MIME message of these parts, each with headers, a blank line and a body.
fn multipart(parts: &[&str]) -> String {
    let mut text =
        String::from("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"BB\"\n\n");
    for part in parts {
        text += "--BB\n";
        text += part;
        text += "\n";
    }
    text + "--BB--\n"
}

#[track_caller]
fn assert_parts(text: &str, parts: &[&str]) {
    take_apart(text, &[]).is(parts, &[]);
}

#[test]
fn plain_text_is_typed_by_its_first_line() {
    assert_parts(
        "#cloud-config\na: 1\n",
        &["user-data config \"-\" {\"a\":1}"],
    );
    assert_parts(
        "#CLOUD-Config\na: 1\n",
        &["user-data config \"-\" {\"a\":1}"],
    );
    assert_parts(
        "#cloud-configfoo\na: 1\n",
        &["user-data config \"-\" {\"a\":1}"],
    );
    assert_parts(
        "\n\t\u{1c}\u{3000} #cloud-boothook\n",
        &["user-data text/cloud-boothook \"-\" null"],
    );
    assert_parts("#!/bin/sh\n", &["user-data text/x-shellscript \"-\" null"]);
    assert_parts(
        "#part-handler\ndef list_types(): ...\ndef handle_part(*part): ...\n",
        &["user-data text/part-handler \"-\" null"],
    );
    assert_parts(
        "## template: jinja\n#cloud-config\na: {{ b }}\n",
        &["user-data template \"-\" null"],
    );
    assert_parts(
        "#cloud-config-jsonp\n[{\"op\": \"remove\", \"path\": \"/a\"}]",
        &["user-data patch \"-\" [{\"op\":\"remove\",\"path\":\"/a\"}]"],
    );
    assert_parts("", &["user-data text/x-not-multipart \"-\" null"]);
}

#[test]
fn unknown_first_line_is_reported() {
    let other = ["user-data text/x-not-multipart \"-\" null"];
    for (text, likeness) in [
        ("⟦# cloud-config⟧\na: 1\n", PartResemblance::Nothing),
        ("\n ⟦a: 1⟧ \n", PartResemblance::Nothing),
        (
            "⟦\u{FEFF}#cloud-config⟧\na: 1\n",
            PartResemblance::ByteOrderMark,
        ),
    ] {
        take_apart(text, &[]).is(&other, &[PartFaultKind::Unrecognized(likeness)]);
    }
}

#[test]
fn config_must_be_a_single_mapping() {
    let empty = ["user-data config \"-\" null"];
    let table = [
        (
            "⟦#cloud-config⟧\n",
            PartFaultKind::Content(ContentFault::Documents(0)),
        ),
        (
            "⟦#cloud-config⟧\n---\n",
            PartFaultKind::Content(ContentFault::NotAMapping("null")),
        ),
        (
            "⟦#cloud-config⟧\n- a\n",
            PartFaultKind::Content(ContentFault::NotAMapping("a list")),
        ),
        (
            "⟦#cloud-config⟧\ntext\n",
            PartFaultKind::Content(ContentFault::NotAMapping("a string")),
        ),
        (
            "#cloud-config\na: 1\n⟦⟧---\nb: 2\n",
            PartFaultKind::Content(ContentFault::Documents(2)),
        ),
    ];
    for (text, fault) in table {
        let taken = take_apart(text, &[]);
        assert_eq!(fault.cost(), Some(FaultCost::Part));
        taken.is(&empty, &[fault]);
    }
    assert_parts("#cloud-config\n{}\n", &["user-data config \"-\" {}"]);
}

#[test]
fn yaml_problems_are_kept_and_the_last_duplicate_key_wins() {
    let taken = take_apart("#cloud-config\na: 1\na: 2\n", &[]);
    taken.is(&["user-data config \"-\" {\"a\":2}"], &[]);
    let part = &taken.user_data.parts[0];
    assert!(matches!(
        part.problems[0].kind,
        YamlProblemKind::DuplicateKey { .. }
    ));
    assert_eq!(taken.sources.slice(part.comments[0].span), "#cloud-config");

    let taken = take_apart("#cloud-config\na: [1\n", &[]);
    taken.is(&["user-data config \"-\" null"], &[]);
    assert!(taken.user_data.parts[0].problems[0].kind.is_fatal());
}

#[test]
fn invalid_json_of_a_patch_is_reported_at_its_position() {
    let taken = take_apart(
        "#cloud-config-jsonp\n[{\"op\": \"remove\" ⟦⟧\"path\": \"/a\"}]\n",
        &[],
    );
    assert_eq!(taken.parts(), ["user-data broken patch \"-\" null"]);
    let faults = taken.faults();
    assert_eq!(faults[0].0, taken.marks[0]);
    assert!(matches!(
        faults[0].1,
        PartFaultKind::Content(ContentFault::Patch(_))
    ));
}

#[test]
fn parts_of_a_message_have_spans_in_the_file() {
    let text = multipart(&[
        "Content-Type: text/cloud-config\n\na: 1",
        "Content-Type: text/plain\nMerge-Type: list(append)\n\n#cloud-config\nb: ⟦text⟧",
        "Content-Type: text/x-shellscript\n\n#cloud-config\nc: 3",
        "\n#!/bin/sh",
    ]);
    let taken = take_apart(&text, &[]);
    assert_eq!(
        taken.parts(),
        [
            "user-data#1 config \"-\" {\"a\":1}",
            "user-data#2 config \"list(append)\" {\"b\":\"text\"}",
            "user-data#3 config \"-\" {\"c\":3}",
            "user-data#4 text/x-shellscript \"-\" null",
        ]
    );
    let second = &taken.user_data.parts[1];
    assert_eq!(second.data.get("b").unwrap().span, taken.marks[0]);
    assert_eq!(taken.sources.slice(second.span), "#cloud-config\nb: text");
    assert_eq!(taken.sources.slice(second.at), "#cloud-config");
    let header = second.header.as_ref().unwrap();
    assert_eq!(taken.sources.slice(header.span), "list(append)");
    assert_eq!(taken.sources.iter().count(), 1, "nothing was decoded");
}

#[test]
fn message_needs_an_early_mime_version() {
    let late = format!(
        "#cloud-config\n# {}\n# MIME-Version: 1.0\na: é\n",
        "x".repeat(4096)
    );
    assert_parts(&late, &["user-data config \"-\" {\"a\":\"é\"}"]);
    // A comment is enough for the text not to be plain.
    let early = "#cloud-config\n# mime-VERSION: 1.0\na: 1\n";
    assert_parts(early, &["user-data config \"-\" {\"a\":1}"]);
    let early = "#cloud-config\n# mime-version: 1.0\na: ⟦⟧é\n";
    let fault = PartFaultKind::Content(ContentFault::Mangled);
    take_apart(early, &[]).is(&["user-data config \"-\" null"], &[fault]);
}

#[test]
fn header_names_are_case_sensitive() {
    let config =
        |headers: &str| multipart(&[&format!("Content-Type: text/cloud-config\n{headers}\na: 1")]);
    let cases: &[(&str, &str, &[PartFaultKind])] = &[
        ("Merge-Type: dict()\n", "dict()", &[]),
        ("X-Merge-Type: dict()\n", "dict()", &[]),
        ("X-Merge-Type: x\nMerge-Type: dict()\n", "dict()", &[]),
        ("Merge-Type: a\nMerge-Type: b\n", "a", &[]),
        ("Merge-Type:  \nX-Merge-Type: x\n", "x", &[]),
        ("Merge-Type: dict(\n a)\n", "dict(\n a)", &[]),
        (
            "⟦merge-type⟧: a\n",
            "-",
            &[PartFaultKind::HeaderCase {
                expected: "Merge-Type",
            }],
        ),
        (
            "⟦X-merge-type⟧: a\n",
            "-",
            &[PartFaultKind::HeaderCase {
                expected: "X-Merge-Type",
            }],
        ),
        // Python matches the header name case-sensitively, and its value case-insensitively.
        (
            "⟦merge-type⟧: a\nMerge-Type: b\n",
            "a",
            &[PartFaultKind::HeaderCase {
                expected: "Merge-Type",
            }],
        ),
    ];
    for (headers, header, faults) in cases {
        let part = format!("user-data config {header:?} {{\"a\":1}}");
        take_apart(&config(headers), &[]).is(&[&part], faults);
    }
}

#[test]
fn header_that_is_not_passed_on_is_reported() {
    let text = "MIME-Version: 1.0\n⟦Merge-Type⟧: a\nContent-Type: multipart/mixed; boundary=BB\n\n\
                --BB\nContent-Type: text/cloud-config\n\na: 1\n--BB--\n";
    let fault = PartFaultKind::IgnoredHeader(Carrier::Multipart);
    take_apart(text, &[]).is(&["user-data config \"-\" {\"a\":1}"], &[fault]);

    let text = multipart(&["⟦X-Merge-Type⟧: a\n\n#include other"]);
    let fault = PartFaultKind::IgnoredHeader(Carrier::Include);
    take_apart(&text, &[("other", "#cloud-config\na: 1")])
        .is(&["other config \"-\" {\"a\":1}"], &[fault]);

    let text = multipart(&["⟦Merge-Type⟧: a\n\n#cloud-config-archive\n- 'a: 1'"]);
    let fault = PartFaultKind::IgnoredHeader(Carrier::Archive);
    take_apart(&text, &[]).is(&["user-data#1 config \"-\" {\"a\":1}"], &[fault]);

    let text = multipart(&["⟦Merge-Type⟧: a\n\n#cloud-config-jsonp\n[]"]);
    let fault = PartFaultKind::IgnoredHeader(Carrier::JsonPatch);
    take_apart(&text, &[]).is(&["user-data patch \"a\" []"], &[fault]);
}

/// `#cloud-config` and `a: 1`.
const COMPRESSED: &str = "H4sIAAAAAAAC/1NOzskvTdFNzs9Ly0znSrRSMOQCAJ6ioS4TAAAA";

/// `#cloud-config` and `a: é`.
const COMPRESSED_LATIN: &str = "H4sIAAAAAAAC/1NOzskvTdFNzs9Ly0znSrRSOLySCwDmUSQWFAAAAA==";

/// `#cloud-config-archive` and `- 'a: é'`.
const COMPRESSED_ARCHIVE: &str =
    "H4sIAAAAAAAC/1NOzskvTdFNzs9Ly0zXTSxKzsgsS+XSVVBPtFI4vFKdCwCqyFaOIAAAAA==";

fn gzip_part(headers: &str, text: &str) -> String {
    format!(
        "Content-Type: application/x-gzip\nContent-Transfer-Encoding: base64\n{headers}\n{text}"
    )
}

#[test]
fn compressed_part_loses_its_header_and_keeps_its_origin() {
    let text = multipart(&[&gzip_part(
        "⟦Merge-Type⟧: list(append)\nLaunch-Index: 2\n",
        COMPRESSED,
    )]);
    let taken = take_apart(&text, &[]);
    let fault = PartFaultKind::IgnoredHeader(Carrier::Gzip);
    taken.is(&["user-data config \"-\" {\"a\":1}"], &[fault]);
    let part = &taken.user_data.parts[0];
    assert_eq!(&*part.headers[0].name.value, "Launch-Index");
    let one = part.data.get("a").unwrap().span;
    assert_eq!(taken.sources.slice(one), "1");
    assert_eq!(taken.sources.get(one.file).path().as_str(), "user-data#1");
    assert_eq!(taken.sources.slice(taken.sources.written(one)), COMPRESSED);
}

#[test]
fn failed_decompression_aborts_all_user_data() {
    let cut = &COMPRESSED[..COMPRESSED.len() - 12];
    let text = multipart(&["\n#cloud-config\na: 1", &gzip_part("", &format!("⟦{cut}⟧"))]);
    let taken = take_apart(&text, &[]);
    assert_eq!(taken.parts(), ["user-data#1 config \"-\" {\"a\":1}"]);
    let aborted = taken.user_data.aborted.as_ref().unwrap();
    assert!(
        matches!(
            aborted.kind,
            PartFaultKind::Content(ContentFault::NotGzip(_))
        ),
        "{aborted:?}"
    );
    assert_eq!(taken.sources.written(aborted.at), taken.marks[0]);
}

#[test]
fn compressed_non_ascii_text_is_mangled_unless_inspected() {
    let text = multipart(&[&gzip_part("", &format!("⟦{COMPRESSED_LATIN}⟧"))]);
    let fault = PartFaultKind::Content(ContentFault::Mangled);
    take_apart(&text, &[]).is(&["user-data config \"-\" null"], &[fault]);
    let text = multipart(&[&gzip_part("", COMPRESSED_ARCHIVE)]);
    assert_parts(&text, &["user-data#1 config \"-\" {\"a\":\"é\"}"]);
}

#[test]
fn whole_file_may_be_compressed() {
    let gzip = bytes_of(COMPRESSED);
    let mut sources = SourceMap::new();
    let mut add = |bytes: Vec<u8>| sources.add(Source::new(RepoPath::new("user-data"), Ok(bytes)));
    let whole = add(gzip.clone());
    let cut = add(gzip[..20].to_vec());
    let mut nothing = |_: &mut SourceMap, _: &RepoPath, _: &str| Included::Missing;

    let read_whole = read(whole, &mut sources, &mut nothing);
    assert_eq!(
        outline(&read_whole.parts[0]),
        "user-data config \"-\" {\"a\":1}"
    );
    assert_eq!(
        sources.written(read_whole.parts[0].at),
        Span::point(whole, 0)
    );
    assert_eq!(read_whole.parts[0].faults, []);

    let read_cut = read(cut, &mut sources, &mut nothing);
    let kinds: Vec<&PartFaultKind> = read_cut.parts[0]
        .faults
        .iter()
        .map(|fault| &fault.kind)
        .collect();
    assert!(
        matches!(
            kinds[..],
            [PartFaultKind::Content(ContentFault::NotGzip(_))]
        ),
        "{kinds:?}"
    );
    assert!(matches!(read_cut.parts[0].kind, PartKind::Other(_)));
}

fn bytes_of(base64: &str) -> Vec<u8> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD
        .decode(base64)
        .unwrap()
}

#[test]
fn transfer_encodings_are_decoded_and_keep_headers() {
    let part = |encoding: &str, body: &str| {
        multipart(&[&format!(
            "Content-Type: text/cloud-config\nMerge-Type: m\nContent-Transfer-Encoding: {encoding}\n\n{body}"
        )])
    };
    let expected = ["user-data config \"m\" {\"a\":\"é\"}"];
    take_apart(&part("base64", "YTogw6k=\n"), &[]).is(&expected, &[]);
    take_apart(&part("Base64", "YTog\nw6k"), &[]).is(&expected, &[]);
    take_apart(&part("base64", "⟦YTog!w6k=⟧"), &[]).is(&expected, &[PartFaultKind::BrokenBase64]);
    take_apart(&part("quoted-printable", "a: =C3=\n=A9"), &[]).is(&expected, &[]);
    // Latin-1 is not UTF-8, regardless of `charset`.
    let latin = ["user-data config \"m\" null"];
    take_apart(&part("quoted-printable", "⟦a: =E9⟧"), &[])
        .is(&latin, &[PartFaultKind::Content(ContentFault::NotUtf8)]);
    take_apart(
        &part("x-uuencode", "begin 644 a\n(83H@PZD*8CH`\n`\nend"),
        &[],
    )
    .is(&["user-data config \"m\" {\"a\":\"é\",\"b\":null}"], &[]);
    take_apart(&part("x-uuencode", "⟦a: e⟧"), &[]).is(
        &["user-data config \"m\" {\"a\":\"e\"}"],
        &[PartFaultKind::BrokenUuencode],
    );
}

#[test]
fn unencoded_non_ascii_text_of_a_message_is_mangled() {
    let config = |text: &str| {
        multipart(&[&format!(
            "Content-Type: text/cloud-config; charset=utf-8\n\n{text}"
        )])
    };
    let is = |text: &str, data: &str, is_readable: bool| {
        let part = format!("user-data config \"-\" {data}");
        let fault = if is_readable {
            PartFaultKind::Mangled
        } else {
            PartFaultKind::Content(ContentFault::Mangled)
        };
        take_apart(&config(text), &[]).is(&[&part], &[fault]);
    };
    is("a: ⟦⟧é", "null", false);
    is("a: ⟦⟧€", "{\"a\":\"\\\\u20ac\"}", true);
    is("a: \"⟦⟧€😀\"", "{\"a\":\"€😀\"}", true);
    // Two characters of Latin-1 can be the bytes of one UTF-8 character.
    is("a: ⟦⟧Ã©", "{\"a\":\"é\"}", true);
}

#[test]
fn broken_message_is_reported_and_parsed_as_by_python() {
    let message = |content_type: &str, body: &str| {
        format!("MIME-Version: 1.0\nContent-Type: {content_type}\n\n{body}")
    };
    let part = "Content-Type: text/cloud-config\n\na: 1\n";
    let one = ["user-data config \"-\" {\"a\":1}"];
    let cases: &[(String, &[&str], &[PartFaultKind])] = &[
        (
            message("⟦multipart/mixed⟧", &format!("--BB\n{part}--BB--\n")),
            &[],
            &[PartFaultKind::Container(ContainerFault::NoBoundary)],
        ),
        (
            message("⟦multipart/mixed; boundary=BB⟧", "--AA\n--AA--\n"),
            &[],
            &[PartFaultKind::Container(ContainerFault::NoParts)],
        ),
        (
            message("⟦multipart/mixed; boundary=BB⟧", "--BB--\n"),
            &[],
            &[PartFaultKind::Container(ContainerFault::NoParts)],
        ),
        (
            message("⟦multipart/mixed; boundary=BB⟧", &format!("--BB\n{part}")),
            &one,
            &[PartFaultKind::NoEndBoundary],
        ),
        (
            message(
                "multipart/mixed; boundary=BB",
                &format!("before\n--BB\n{part}--BB--\nafter"),
            ),
            &one,
            &[],
        ),
        (
            message(
                "multipart/mixed; boundary=\"BB \"",
                &format!("--BB\n--BB \t\n{part}--BB--\n"),
            ),
            &one,
            &[],
        ),
        (
            message(
                "Multipart/Mixed;\n boundary=BB",
                &format!("--BB\r\n{part}--BB--"),
            ),
            &one,
            &[],
        ),
        // A line that only starts like a boundary is text.
        (
            message(
                "multipart/mixed; boundary=BB",
                "--BB\n\n#cloud-config\na: |\n  --\n--BB--\n",
            ),
            &["user-data config \"-\" {\"a\":\"--\"}"],
            &[],
        ),
        // An outer boundary ends all inner messages.
        (
            message(
                "multipart/mixed; boundary=BB",
                &format!(
                    "--BB\nContent-Type: ⟦multipart/mixed; boundary=AA⟧\n\n--AA\n{part}--BB\n{part}--BB--\n"
                ),
            ),
            &[
                "user-data#1 config \"-\" {\"a\":1}",
                "user-data#2 config \"-\" {\"a\":1}",
            ],
            &[PartFaultKind::NoEndBoundary],
        ),
    ];
    for (text, parts, faults) in cases {
        take_apart(text, &[]).is(parts, faults);
    }
}

/// Result of `Message.get_boundary` of Python 3.11 for each.
#[test]
fn boundary_is_read_as_by_python() {
    for (parameters, boundary) in [
        ("boundary=BB", "BB"),
        ("BOUNDARY = BB ; x=y", "BB"),
        ("x=\"a;b\"; boundary=\"B;B\"", "B;B"),
        ("x=\"a\\\";b\"; boundary=BB", "BB"),
        ("x=\"a\\\";b; boundary=A\"; boundary=BB", "BB"),
        ("boundary=<BB>", "BB"),
        ("boundary=\"<BB>\"", "BB"),
        ("boundary=\"B\\\"\\\\B\"", "B\"\\B"),
        ("boundary=\"BB", "\"BB"),
        ("boundary=A; boundary=BB", "A"),
        ("boundary*=utf-8''B%42", "BB"),
        ("boundary*=utf-8'en'%C3%A9", "é"),
        ("boundary*=latin-1''%E9", "é"),
        ("boundary*=B%ZZ", "B%ZZ"),
        ("boundary*=A; boundary=BB", "BB"),
        ("boundary*1=B; boundary*0=A", "AB"),
        ("boundary*0*=utf-8''%41; boundary*1=%42", "A%42"),
        ("; boundary=BB", "BB"),
    ] {
        assert_parts(
            &format!(
                "MIME-Version: 1.0\nContent-Type: multipart/mixed; {parameters}\n\n\
                 --{boundary}\nContent-Type: text/cloud-config\n\na: 1\n--{boundary}--\n"
            ),
            &["user-data config \"-\" {\"a\":1}"],
        );
    }
    for none in [
        "xboundary=A",
        "boundary*a=A",
        "boundary**=A",
        "a=\"; boundary=A",
    ] {
        let text = format!(
            "MIME-Version: 1.0\nContent-Type: ⟦multipart/mixed; {none}⟧\n\n--A\n\na\n--A--\n"
        );
        take_apart(&text, &[]).is(&[], &[PartFaultKind::Container(ContainerFault::NoBoundary)]);
    }
}

#[test]
fn unhandled_type_is_reported() {
    let text = multipart(&["Content-Type: text/cloud-konfig\n\n⟦a: 1⟧"]);
    let fault = PartFaultKind::UnknownType("text/cloud-konfig".into());
    take_apart(&text, &[]).is(&["user-data text/cloud-konfig \"-\" null"], &[fault]);
    let text = multipart(&[
        "Content-Type: text/cloud-config\n\n⟦## template: jinja⟧\n#cloud-config\na: 1",
    ]);
    take_apart(&text, &[]).is(
        &["user-data config \"-\" {\"a\":1}"],
        &[PartFaultKind::NotRendered],
    );
    let text = multipart(&["Content-Type: text/jinja2\nMerge-Type: m\n\n## template: jinja\n"]);
    assert_parts(&text, &["user-data template \"m\" null"]);
}

#[test]
fn mangled_text_is_accepted_in_parts_that_are_not_merged() {
    let encoded = "Content-Transfer-Encoding: base64\n\n/w==";
    let text = multipart(&[
        &format!("Content-Type: text/x-shellscript\n{encoded}"),
        "Content-Type: text/x-shellscript\n\n#!/bin/sh\n# é",
    ]);
    let script = |at: usize| format!("user-data#{at} text/x-shellscript \"-\" null");
    take_apart(&text, &[]).is(&[&script(1), &script(2)], &[]);
    let text = multipart(&["Content-Type: text/plain\n\n⟦é⟧"]);
    let plain = ["user-data text/plain \"-\" null"];
    take_apart(&text, &[]).is(
        &plain,
        &[PartFaultKind::Unrecognized(PartResemblance::Nothing)],
    );
    let archive = "#cloud-config-archive\n- 'a: \u{1}'\n";
    assert!(
        take_apart(archive, &[]).user_data.problems[0]
            .kind
            .is_fatal()
    );
}

#[test]
fn archive_is_split_into_its_entries() {
    let taken = take_apart(
        "#cloud-config-archive\n\
         - 'a: 1'\n\
         - content: |\n    #!/bin/sh\n  filename: x\n\
         - {content: 'b: é', type: text/cloud-config, Merge-Type: ⟦list()⟧, launch-index: 2}\n\
         - {content: 'c: 3', Merge-Type: null, X-Merge-Type: ' '}\n",
        &[],
    );
    assert_eq!(
        taken.parts(),
        [
            "user-data#1 config \"-\" {\"a\":1}",
            "user-data#2 text/x-shellscript \"-\" null",
            "user-data#3 config \"list()\" {\"b\":\"é\"}",
            "user-data#4 config \" \" {\"c\":3}",
        ]
    );
    assert_eq!(taken.faults(), []);
    let third = &taken.user_data.parts[2];
    assert_eq!(third.header.as_ref().unwrap().span, taken.marks[0]);
    let written = taken.sources.written(third.data.get("b").unwrap().span);
    assert_eq!(taken.sources.slice(written), "'b: é'");
    assert_eq!(
        taken.sources.slice(taken.user_data.comments[0].span),
        "#cloud-config-archive"
    );
}

#[test]
fn archive_entries_that_are_not_parts_are_reported() {
    let text = "#cloud-config-archive\n\
         - ⟦5⟧\n\
         - ⟦\"#cloud-config-archive\\n- 'a: 1'\"⟧\n\
         - ⟦\"#include\\nx\"⟧\n\
         - {content: 'a: 1', ⟦merge-type⟧: x}\n";
    take_apart(text, &[]).is(
        &[
            "user-data#2 text/cloud-config-archive \"-\" null",
            "user-data#3 text/x-include-url \"-\" null",
            "user-data#4 config \"-\" {\"a\":1}",
        ],
        &[
            PartFaultKind::Entry("an integer"),
            PartFaultKind::Nested(Carrier::Archive),
            PartFaultKind::Nested(Carrier::Include),
            PartFaultKind::HeaderCase {
                expected: "Merge-Type",
            },
        ],
    );
    let taken = take_apart("⟦#cloud-config-archive⟧\na: 1\n", &[]);
    taken.is(
        &[],
        &[PartFaultKind::Container(ContainerFault::NotAList(
            "a mapping",
        ))],
    );
    let broken = take_apart("#cloud-config-archive\n- [\n", &[]);
    assert!(broken.user_data.problems[0].kind.is_fatal());
}

#[test]
fn invalid_archive_entry_aborts_all_user_data() {
    let table = [
        (
            "{content: x, Merge-Type: ⟦5⟧}",
            PartFaultKind::Container(ContainerFault::HeaderValue("an integer")),
        ),
        (
            "{content: x, ⟦5⟧: x}",
            PartFaultKind::Container(ContainerFault::HeaderValue("an integer")),
        ),
        (
            "{content: ⟦5⟧}",
            PartFaultKind::Container(ContainerFault::EntryContent("an integer")),
        ),
        (
            "{content: x, type: ⟦5⟧}",
            PartFaultKind::Container(ContainerFault::InvalidType),
        ),
        (
            "{content: x, type: ⟦cloud-config⟧}",
            PartFaultKind::Container(ContainerFault::InvalidType),
        ),
        (
            "{content: ⟦!!binary /w==⟧, type: text/plain}",
            PartFaultKind::Content(ContentFault::NotUtf8),
        ),
    ];
    for (entry, fault) in table {
        // The span of a tagged value excludes the tag.
        let entry = entry.replace("⟦!!binary ", "!!binary ⟦");
        let text = format!("#cloud-config-archive\n- 'a: 1'\n- {entry}\n- 'b: 2'\n");
        let taken = take_apart(&text, &[]);
        taken.is(&["user-data#1 config \"-\" {\"a\":1}"], &[fault]);
        assert!(taken.user_data.aborted.is_some());
    }
}

#[test]
fn includes_are_read_in_order_depth_first() {
    let files = [
        ("one", "#include\nthree\n"),
        (
            "two",
            "MIME-Version: 1.0\nContent-Type: text/cloud-config\nMerge-Type: m\n\nb: 2\n",
        ),
        ("three", "#cloud-config-archive\n- 'c: 3'\n"),
    ];
    take_apart(
        "#include-once one\n# comment\n\n  file://two \r\n#INCLUDE three\n",
        &files,
    )
    .is(
        &[
            "three#1 config \"-\" {\"c\":3}",
            "two config \"m\" {\"b\":2}",
            "three#1 config \"-\" {\"c\":3}",
        ],
        &[],
    );
}

#[test]
fn failed_include_is_reported() {
    let files = [("a", "#cloud-config\na: 1"), ("loop", "#include user-data")];
    let a = "a config \"-\" {\"a\":1}";
    let table: [(&str, &[&str], PartFaultKind); 5] = [
        (
            "#include\na\n⟦missing⟧\na\n",
            &[a],
            PartFaultKind::Container(ContainerFault::MissingInclude),
        ),
        (
            "#include\na\n⟦https://example.org/x⟧\na\n",
            &[a, a],
            PartFaultKind::RemoteInclude,
        ),
        (
            "#include\n⟦user-data⟧\na\n",
            &[],
            PartFaultKind::Container(ContainerFault::IncludeCycle),
        ),
        // An indented marker is a path, and so is a comment.
        (
            "  ⟦#include a⟧\n",
            &[],
            PartFaultKind::Container(ContainerFault::MissingInclude),
        ),
        (
            "#include\n ⟦#a⟧\n",
            &[],
            PartFaultKind::Container(ContainerFault::MissingInclude),
        ),
    ];
    for (text, parts, fault) in table {
        take_apart(text, &files).is(parts, &[fault]);
    }

    let taken = take_apart("#include loop\n", &files);
    let aborted = taken.user_data.aborted.as_ref().unwrap();
    assert_eq!(
        aborted.kind,
        PartFaultKind::Container(ContainerFault::IncludeCycle)
    );
    let path = taken.sources.get(aborted.at.file).path();
    assert_eq!(
        (path.as_str(), taken.sources.slice(aborted.at)),
        ("loop", "user-data")
    );
}

#[test]
fn file_without_text_is_reported() {
    let mut sources = SourceMap::new();
    let mut add = |bytes| sources.add(Source::new(RepoPath::new("user-data"), bytes));
    let unreadable = add(Err(ReadError::Refused("no".into())));
    let latin = add(Ok(b"#cloud-config\na: \xE9\n".to_vec()));
    let latin_message = add(Ok(b"MIME-Version: 1.0\n\n#cloud-config\na: \xE9\n".to_vec()));
    let wide: Vec<u8> = "\u{FEFF}#cloud-config\na: 1"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let wide = add(Ok(wide));
    let mut nothing = |_: &mut SourceMap, _: &RepoPath, _: &str| Included::Missing;

    let aborted = |read: UserData| read.aborted.map(|fault| fault.kind);
    assert_eq!(
        aborted(read(unreadable, &mut sources, &mut nothing)),
        Some(PartFaultKind::Content(ContentFault::NoText))
    );
    assert_eq!(
        aborted(read(latin_message, &mut sources, &mut nothing)),
        Some(PartFaultKind::Content(ContentFault::NotUtf8))
    );
    let read_latin = read(latin, &mut sources, &mut nothing);
    let [
        PartFault {
            at,
            kind: PartFaultKind::Content(ContentFault::NotUtf8),
        },
    ] = read_latin.parts[0].faults[..]
    else {
        panic!()
    };
    assert_eq!((at.file, at.start), (latin, 17));
    assert!(read_latin.parts[0].data.is_null());
    let read_wide = read(wide, &mut sources, &mut nothing);
    assert!(matches!(read_wide.parts[0].kind, PartKind::Other(_)));
    assert_eq!(
        read_wide.parts[0].faults[0].kind,
        PartFaultKind::Content(ContentFault::NotUtf8)
    );
}

#[test]
fn system_configuration_needs_no_first_line() {
    let mut sources = SourceMap::new();
    let mut add = |text: &str| sources.add(Source::new(RepoPath::new("x.cfg"), Ok(text.into())));
    let (plain, template) = (add("a: 1\n"), add("## template: jinja\na: {{ b }}\n"));
    assert_eq!(
        outline(&read_configuration(plain, &sources)),
        "x.cfg config \"-\" {\"a\":1}"
    );
    assert_eq!(
        outline(&read_configuration(template, &sources)),
        "x.cfg template \"-\" null"
    );
}

#[test]
fn exceeded_limits_are_faults() {
    let deep = multipart_in_multipart(PartLimit::NESTING + 1);
    let kind = |taken: &Taken| {
        taken
            .user_data
            .aborted
            .as_ref()
            .map(|fault| fault.kind.clone())
    };
    assert_eq!(
        kind(&take_apart(&deep, &[])),
        Some(PartFaultKind::OverLimit(PartLimit::Nesting))
    );
    let shallow = multipart_in_multipart(PartLimit::NESTING);
    assert_eq!(kind(&take_apart(&shallow, &[])), None);
    let entries = "- x\n".repeat(PartLimit::PARTS + 1);
    let archive = take_apart(&format!("#cloud-config-archive\n{entries}"), &[]);
    assert_eq!(
        kind(&archive),
        Some(PartFaultKind::OverLimit(PartLimit::Parts))
    );
    assert_eq!(archive.user_data.parts.len(), PartLimit::PARTS);
}

fn multipart_in_multipart(depth: usize) -> String {
    let open = |at: usize| format!("Content-Type: multipart/mixed; boundary=b{at}\n\n--b{at}\n");
    let opened: String = (0..depth).map(open).collect();
    let closed: String = (0..depth)
        .rev()
        .map(|at| format!("\n--b{at}--\n"))
        .collect();
    format!("MIME-Version: 1.0\n{opened}\n#cloud-config\na: 1{closed}")
}

/// A header of a whole file applies if the file is one part, and is reported as ignored if the file
/// only contains parts.
#[test]
fn header_of_a_whole_file_applies_if_it_is_a_part() {
    let carriers = [
        ("#cloud-config\na: 1\n", None),
        (
            "#cloud-config-archive\n- '{a: 1}'\n",
            Some(Carrier::Archive),
        ),
        ("#include\nnothing\n", Some(Carrier::Include)),
        (
            "MIME-Version: 1.0\nContent-Type: text/cloud-config\n\na: 1\n",
            Some(Carrier::Multipart),
        ),
    ];
    for (text, carrier) in carriers {
        let mut sources = SourceMap::new();
        let mut add = |name: &str, text: &str| {
            sources.add(Source::new(
                RepoPath::new(name),
                Ok(text.as_bytes().to_vec()),
            ))
        };
        let (file, header) = (
            add("user-data", text),
            add("header", "Merge-Type: list(append)"),
        );
        let header = Header {
            name: Spanned::new("Merge-Type".into(), Span::new(header, 0, 10)),
            value: Spanned::new("list(append)".into(), Span::new(header, 12, 24)),
        };
        let name = header.name.span;
        let budget = &mut DecodingBudget::default();
        let include = &mut |_: &mut SourceMap, _: &RepoPath, _: &str| Included::Missing;
        let read = read_with(file, vec![header], budget, &mut sources, include);
        let fault = |carrier| PartFault {
            at: name,
            kind: PartFaultKind::IgnoredHeader(carrier),
        };
        assert_eq!(
            read.faults,
            carrier.map(fault).into_iter().collect::<Vec<_>>(),
            "{text}"
        );
        let counts = read.parts.iter().any(|part| part.header.is_some());
        assert_eq!(counts, carrier.is_none(), "{text}");
    }
}
