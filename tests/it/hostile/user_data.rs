//! Hostile user-data: parsing ends quickly, without a panic, and with a fault if a limit is
//! exceeded.

use std::io::Write as _;
use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use layercake::source::{RepoPath, Source, SourceMap};
use layercake::system::cloud_init::part::{ContainerFault, PartFaultKind, PartLimit};
use layercake::system::cloud_init::read::{Included, UserData, read};
use proptest::collection::vec;
use proptest::prelude::*;

use super::MAX_DURATION;

const HEADERS: &str = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=BB\n\n";

/// Parses user-data in bounded time. Its includes refer to itself or to `more`.
fn timed(bytes: Vec<u8>, more: &[&str]) -> UserData {
    let mut sources = SourceMap::new();
    let mut add = |name: &str, bytes| sources.add(Source::new(RepoPath::new(name), Ok(bytes)));
    let more: Vec<_> = more
        .iter()
        .map(|text| add("more", text.as_bytes().to_vec()))
        .collect();
    let file = add("user-data", bytes);
    let start = Instant::now();
    let user_data = read(file, &mut sources, &mut |_, _, path| {
        let index = path.parse::<usize>().ok();
        index
            .and_then(|index| more.get(index))
            .map_or(Included::File(file), |file| Included::File(*file))
    });
    let elapsed = start.elapsed();
    assert!(elapsed < MAX_DURATION, "{elapsed:?}");
    // Every location can be formatted.
    let faults = user_data.parts.iter().flat_map(|part| &part.faults);
    for fault in faults.chain(&user_data.faults).chain(&user_data.aborted) {
        sources.start(fault.at);
        sources.start(sources.written(fault.at));
    }
    for part in &user_data.parts {
        sources.slice(part.span);
        sources.slice(part.at);
    }
    user_data
}

fn aborted(user_data: &UserData) -> Option<&PartFaultKind> {
    user_data.aborted.as_ref().map(|fault| &fault.kind)
}

#[test]
fn many_parts() {
    let text: String = (0..10_000)
        .map(|at| format!("--BB\nContent-Type: text/cloud-config\n\na: {at}\n"))
        .collect();
    let user_data = timed(format!("{HEADERS}{text}--BB--\n").into_bytes(), &[]);
    assert_eq!(user_data.parts.len(), 10_000);
    assert_eq!(aborted(&user_data), None);
    let boundaries = "--BB\n\n".repeat(PartLimit::PARTS + 10);
    let user_data = timed(format!("{HEADERS}{boundaries}").into_bytes(), &[]);
    assert_eq!(
        aborted(&user_data),
        Some(&PartFaultKind::OverLimit(PartLimit::Parts))
    );
}

#[test]
fn part_of_fifty_megabytes() {
    let line = format!("# {}\n", "a comment that says nothing ".repeat(400));
    let comments = line.repeat((50 << 20) / line.len());
    let part = format!("{HEADERS}--BB\n\n#cloud-config\n{comments}a: 1\n--BB--\n");
    let user_data = timed(part.into_bytes(), &[]);
    assert!(user_data.parts[0].data.get("a").is_some());
}

#[test]
fn messages_in_messages() {
    for depth in [PartLimit::NESTING + 1, 10_000, 100_000] {
        let open =
            |at: usize| format!("Content-Type: multipart/mixed; boundary=b{at}\n\n--b{at}\n");
        let text: String = (0..depth).map(open).collect();
        let user_data = timed(format!("MIME-Version: 1.0\n{text}").into_bytes(), &[]);
        assert_eq!(
            aborted(&user_data),
            Some(&PartFaultKind::OverLimit(PartLimit::Nesting))
        );
    }
}

#[test]
fn lines_that_are_nearly_boundaries() {
    let boundary = "-".repeat(10_000);
    let header =
        format!("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary={boundary}\n\n");
    let lines = format!("{}\n", "-".repeat(10_001)).repeat(2000);
    let user_data = timed(format!("{header}--{boundary}\n\n{lines}").into_bytes(), &[]);
    assert_eq!(
        user_data.faults.last().map(|it| &it.kind),
        Some(&PartFaultKind::NoEndBoundary)
    );
    let folds = "Merge-Type: x\n".to_owned() + &" y\n".repeat(1_000_000);
    let envelopes = "From x\n".repeat(1_000_000);
    timed(
        format!("MIME-Version: 1.0\n{folds}{envelopes}\n#cloud-config\na: 1").into_bytes(),
        &[],
    );
    let headers: String = (0..200_000).map(|at| format!("X-{at}: x\n")).collect();
    timed(
        format!("MIME-Version: 1.0\n{headers}\n#cloud-config\na: 1").into_bytes(),
        &[],
    );
}

#[test]
fn decompression_bombs_are_refused() {
    // gzip members can be concatenated.
    let megabyte = gzip("x".repeat(1 << 20).as_bytes());
    let over = PartFaultKind::OverLimit(PartLimit::Decoded);
    assert_eq!(aborted(&timed(megabyte.repeat(10), &[])), Some(&over));

    // Each one is below the limit, all together are not.
    let sent = STANDARD.encode(megabyte.repeat(4));
    let part = format!(
        "--BB\nContent-Type: application/gzip\nContent-Transfer-Encoding: base64\n\n{sent}\n"
    );
    let user_data = timed(format!("{HEADERS}{}", part.repeat(3)).into_bytes(), &[]);
    assert_eq!(aborted(&user_data), Some(&over));
    assert_eq!(user_data.parts.len(), 2);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn includes_that_multiply() {
    let twice = |next: usize| format!("#include {next}\n{next}\n");
    let texts: Vec<String> = (1..60)
        .map(twice)
        .chain(["#comment\n".to_owned()])
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let user_data = timed(b"#include 0\n".to_vec(), &texts);
    assert_eq!(
        aborted(&user_data),
        Some(&PartFaultKind::OverLimit(PartLimit::Includes))
    );
    let user_data = timed("#include\n1\n".as_bytes().to_vec(), &["", "#include\n1\n"]);
    assert_eq!(
        aborted(&user_data),
        Some(&PartFaultKind::Container(ContainerFault::IncludeCycle))
    );
}

#[test]
fn archives_in_encodings_and_aliases() {
    let aliases =
        "#cloud-config-archive\n- &a {content: 'a: 1'}\n".to_owned() + &"- *a\n".repeat(50_000);
    assert_eq!(timed(aliases.into_bytes(), &[]).parts.len(), 50_001);
    let text = format!("'#!{}'", "x".repeat(1 << 20));
    let many = format!("#cloud-config-archive\n- &a {text}\n") + &"- *a\n".repeat(1000);
    let user_data = timed(many.into_bytes(), &[]);
    assert_eq!(
        aborted(&user_data),
        Some(&PartFaultKind::OverLimit(PartLimit::Decoded))
    );
}

/// Parts of messages, valid and invalid.
const PIECES: &[&str] = &[
    "MIME-Version: 1.0\n",
    "Content-Type: multipart/mixed; boundary=BB\n",
    "Content-Type: multipart/mixed; boundary=\"AA\"\r\n",
    "Content-Type: multipart/mixed;\n boundary*=utf-8''%42B\n",
    "content-type: text/cloud-config\n",
    "Content-Type: application/gzip\n",
    "Content-Type: message/rfc822\n",
    "Content-Transfer-Encoding: base64\n",
    "Content-Transfer-Encoding: quoted-printable\n",
    "Merge-Type: list(append)\n",
    "merge-type: x\n",
    "--BB\n",
    "--BB--\n",
    "--AA\r",
    "--AA--",
    "\n",
    "\r\n",
    "#cloud-config\n",
    "#cloud-config-archive\n",
    "#cloud-config-jsonp\n",
    "#include 0\n",
    "## template: jinja\n",
    "- content: x\n",
    "- {content: '#include x', Merge-Type: 5}\n",
    "a: 1\n",
    "é€😀\n",
    "=C3=A9==\n",
    "YTogMQo=\n",
    "H4sIAAAAAAAC/1NOzskvTdFNzs9Ly0znSrRSMOQCAJ6ioS4TAAAA\n",
    "\u{FEFF}",
    "\0",
    "\u{2028}",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn arbitrary_pieces(pieces in vec(0..PIECES.len(), 0..30), sign in any::<bool>()) {
        let text: String = pieces.iter().map(|piece| PIECES[*piece]).collect();
        let start = if sign { "MIME-Version: 1.0\n" } else { "" };
        timed(format!("{start}{text}").into_bytes(), &["#cloud-config\na: 1\n"]);
    }

    #[test]
    fn mutated_message(changes in vec((any::<u16>(), any::<u8>()), 0..12)) {
        let mut bytes = format!(
            "{HEADERS}--BB\nContent-Type: text/cloud-config\nMerge-Type: list()\n\na: [1, 2]\n--BB\n\
             Content-Transfer-Encoding: base64\n\nI2Nsb3VkLWNvbmZpZy1hcmNoaXZlCi0gJ2E6IDEnCg==\n--BB\n\
             Content-Type: application/gzip\nContent-Transfer-Encoding: base64\n\n\
             H4sIAAAAAAAC/1NOzskvTdFNzs9Ly0znSrRSMOQCAJ6ioS4TAAAA\n--BB\n\n#include 0\n--BB--\n"
        )
        .into_bytes();
        for (at, byte) in changes {
            let at = usize::from(at) % bytes.len();
            bytes[at] = byte;
        }
        timed(bytes, &["#cloud-config-archive\n- 'b: 2'\n"]);
    }

    #[test]
    fn mutated_gzip(changes in vec((any::<u16>(), any::<u8>()), 0..4)) {
        let mut bytes = gzip(b"#cloud-config-archive\n- 'a: 1'\n");
        for (at, byte) in changes {
            let at = usize::from(at) % bytes.len();
            bytes[at] = byte;
        }
        timed(bytes, &[]);
    }
}
