//! Certificates are judged as OpenSSL judges them: 500 chains, made and verified with the program
//! `openssl`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use layercake::certificate::CheckTime;
use layercake::check::{Options, check};
use layercake::graph::MissingSource;
use layercake::merge::deckhand::Semantics;
use layercake::rules::RuleOptions;
use layercake::source::MemoryTree;
use layercake::system::deckhand::DeckhandOptions;
use tempfile::TempDir;

use crate::cli::POLICY;

/// Number of chains.
const CHAINS: usize = 500;

const DAY: u64 = 24 * 60 * 60;

/// Days for which the certificate of a server is valid.
const DAYS: u64 = 20;

/// Algorithms of keys, with the options that make one.
const ALGORITHMS: [&[&str]; 5] = [
    &["RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
    &["EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
    &["EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
    &["ED25519"],
    // Not supported: its signatures and keys are counted.
    &["EC", "-pkeyopt", "ec_paramgen_curve:P-521"],
];

/// Number of keys of each algorithm.
const KEYS: usize = 3;

/// Fault of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Nothing,
    Expired,
    NotYetValid,
    /// The private key is of another certificate.
    OtherKey,
    /// An authority of the same name signed it.
    OtherAuthority,
    /// Characters of the PEM were changed, removed or moved.
    Damaged,
    /// The certificate of the authority stands before that of the server.
    Reordered,
    /// The authority is a server.
    NoAuthority,
    /// The root allows no authority below it, but one is there.
    TooLong,
    /// The certificate of the root is missing.
    NoRoot,
}

const WRONGS: [Wrong; 10] = [
    Wrong::Nothing,
    Wrong::Expired,
    Wrong::NotYetValid,
    Wrong::OtherKey,
    Wrong::OtherAuthority,
    Wrong::Damaged,
    Wrong::Reordered,
    Wrong::NoAuthority,
    Wrong::TooLong,
    Wrong::NoRoot,
];

#[test]
fn five_hundred_chains_are_judged_as_by_openssl() {
    let folder = TempDir::new().unwrap();
    let keys = Keys::new(folder.path());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let judged: Vec<Judged> = std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|part| {
                let keys = &keys;
                let chains = (part..CHAINS).step_by(threads);
                scope.spawn(move || chains.map(|it| Chain::new(keys, it).judged()).collect())
            })
            .collect();
        let parts = parts.into_iter().map(|part| part.join().unwrap());
        parts.flat_map(|judged: Vec<Judged>| judged).collect()
    });
    let wrong: Vec<&str> = judged
        .iter()
        .filter_map(|it| it.difference.as_deref())
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {CHAINS} chains:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    for rule in [
        "authority-without-path",
        "certificate-key-mismatch",
        "certificate-not-of-authority",
        "expired-certificate",
        "unreadable-certificate",
    ] {
        let found = judged.iter().filter(|it| it.found.contains(rule)).count();
        assert!(found >= 30, "{rule}: {found}");
    }
    let sound = judged.iter().filter(|it| it.found.is_empty()).count();
    assert!(sound >= 50, "{sound}");
}

/// Rules that layercake reports for a chain, and its description if OpenSSL judges otherwise.
struct Judged {
    found: BTreeSet<&'static str>,
    difference: Option<String>,
}

/// Runs `openssl` in a folder.
fn openssl(folder: &Path, arguments: &[&str]) -> Output {
    let output = Command::new("openssl")
        .args(arguments)
        .current_dir(folder)
        .output();
    output.expect("this test needs the program `openssl`, which judges the certificates")
}

fn made(folder: &Path, arguments: &[&str]) {
    let output = openssl(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

/// Private keys of all algorithms.
struct Keys {
    folder: std::path::PathBuf,
}

impl Keys {
    fn new(folder: &Path) -> Self {
        for (number, algorithm) in ALGORITHMS.iter().enumerate() {
            for key in 0..KEYS {
                let file = format!("{number}-{key}.key");
                let start = ["genpkey", "-out", &file, "-algorithm"];
                made(folder, &[&start, *algorithm].concat());
            }
        }
        Self {
            folder: folder.to_owned(),
        }
    }

    fn path(&self, algorithm: usize, key: usize) -> String {
        let path = self.folder.join(format!("{algorithm}-{key}.key"));
        path.to_str().unwrap().to_owned()
    }
}

/// Certificates of a root, perhaps an authority below it, and a server.
struct Chain {
    number: usize,
    wrong: Wrong,
    folder: TempDir,
    /// The certificate of the server, perhaps damaged, or with that of its authority.
    server: String,
    key: String,
    has_middle: bool,
    /// Seconds since 1970 at which it is checked.
    time: u64,
    /// Whether OpenSSL supports more algorithms than layercake.
    is_unsupported: bool,
}

impl Chain {
    fn new(keys: &Keys, number: usize) -> Self {
        let wrong = WRONGS[number % WRONGS.len()];
        let round = number / WRONGS.len();
        let (upper, lower) = (round % 5, round / 5 % 5);
        let has_middle = wrong == Wrong::TooLong || round % 3 == 1;
        let folder = TempDir::new().unwrap();
        let at = folder.path();
        let root_key = keys.path(upper, 0);
        let self_signed = |file: &str, key: &str, extensions: &[&str]| {
            let start = [
                "req",
                "-x509",
                "-subj",
                "/O=Airship/CN=root",
                "-days",
                "3650",
            ];
            let files = ["-key", key, "-out", file];
            let config = ["-config", "empty"];
            let extensions = extensions.iter().flat_map(|it| ["-addext", it]);
            let extensions: Vec<&str> = extensions.collect();
            made(at, &[&start[..], &files, &config, &extensions].concat());
        };
        fs::write(
            at.join("empty"),
            "[req]\ndistinguished_name = name\n[name]\n",
        )
        .unwrap();
        let basic = match wrong {
            Wrong::NoAuthority => "basicConstraints=critical,CA:FALSE",
            Wrong::TooLong => "basicConstraints=critical,CA:TRUE,pathlen:0",
            _ => "basicConstraints=critical,CA:TRUE",
        };
        let usage = "keyUsage=critical,keyCertSign,cRLSign";
        let identifiers = "subjectKeyIdentifier=hash";
        // Some authorities have only the first extension.
        let extensions =
            &[basic, usage, identifiers][..if round.is_multiple_of(2) { 3 } else { 1 }];
        self_signed("root.pem", &root_key, extensions);
        let signed =
            |name: &str, key: &str, (issuer, issuer_key): (&str, &str), extensions: &str| {
                let request = format!("{name}.csr");
                let subject = format!("/O=Airship/CN={name}");
                let asked = ["req", "-new", "-subj", &subject, "-config", "empty"];
                made(at, &[&asked[..], &["-key", key, "-out", &request]].concat());
                let file = format!("{name}.ext");
                fs::write(at.join(&file), extensions).unwrap();
                let days = if name == "server" { DAYS } else { 1000 }.to_string();
                let out = format!("{name}.pem");
                let start = [
                    "x509", "-req", "-in", &request, "-out", &out, "-days", &days,
                ];
                let by = ["-CA", issuer, "-CAkey", issuer_key, "-extfile", &file];
                made(at, &[&start[..], &by].concat());
            };
        let middle_key = keys.path(lower, 1);
        if has_middle {
            let extensions = "basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign\n";
            signed("middle", &middle_key, ("root.pem", &root_key), extensions);
        }
        let issuer = if has_middle {
            ("middle.pem", &*middle_key)
        } else {
            ("root.pem", &*root_key)
        };
        let other_key = keys.path(upper, 2);
        self_signed("other.pem", &other_key, extensions);
        let issuer = match wrong {
            // With a middle authority, the root is another one.
            Wrong::OtherAuthority if !has_middle => ("other.pem", &*other_key),
            _ => issuer,
        };
        let server_key = keys.path((upper + lower) % 5, 2);
        let extensions = if round.is_multiple_of(2) {
            "basicConstraints=CA:FALSE\nauthorityKeyIdentifier=keyid\nsubjectAltName=DNS:example.org\n"
        } else {
            "basicConstraints=CA:FALSE\n"
        };
        signed("server", &server_key, issuer, extensions);
        if wrong == Wrong::OtherAuthority && has_middle {
            fs::rename(at.join("other.pem"), at.join("root.pem")).unwrap();
        }
        let text = |file: &str| fs::read_to_string(at.join(file)).unwrap();
        let server = match wrong {
            Wrong::Damaged => damaged(&text("server.pem"), round),
            Wrong::Reordered => text(issuer.0) + &text("server.pem"),
            _ => text("server.pem"),
        };
        fs::write(at.join("server.pem"), &server).unwrap();
        let key = match wrong {
            Wrong::OtherKey => keys.path((upper + lower) % 5, 1),
            _ => server_key,
        };
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_secs();
        let time = match wrong {
            Wrong::Expired => now + (DAYS + 2) * DAY,
            Wrong::NotYetValid => now - 2 * DAY,
            _ => now + DAY,
        };
        let traditional = format!("{number}.key");
        // Some of the keys are in the older format, which Ed25519 does not have.
        let key = if round.is_multiple_of(2) || (upper + lower) % 5 == 3 {
            fs::read_to_string(&key).unwrap()
        } else {
            made(
                at,
                &["pkey", "-in", &key, "-traditional", "-out", &traditional],
            );
            text(&traditional)
        };
        Self {
            number,
            wrong,
            server,
            key,
            has_middle,
            time,
            is_unsupported: [upper, lower, (upper + lower) % 5].contains(&4),
            folder,
        }
    }

    fn judged(&self) -> Judged {
        let (by_openssl, errors) = self.by_openssl();
        let (found, messages) = self.found();
        let is_same = match self.wrong {
            // OpenSSL accepts encodings that are not DER, and looks less closely at parts that it does
            // not use. No damage passes that it finds.
            Wrong::Damaged => found.is_empty() == by_openssl.is_empty() || by_openssl.is_empty(),
            // Unsupported algorithms are counted, and reported as nothing.
            _ if self.is_unsupported => found.is_subset(&by_openssl),
            _ => found == by_openssl,
        };
        let number = self.number;
        let difference = (!is_same).then(|| {
            format!(
                "chain {number} ({:?}): openssl {by_openssl:?} ({errors}), layercake {found:?} \
                 {messages:?}\n{}",
                self.wrong, self.server
            )
        });
        Judged { found, difference }
    }

    /// Rules for what OpenSSL reports, and its messages.
    fn by_openssl(&self) -> (BTreeSet<&'static str>, String) {
        let at = self.folder.path();
        let mut rules = BTreeSet::new();
        let public = openssl(at, &["x509", "-in", "server.pem", "-noout", "-pubkey"]);
        if !public.status.success() {
            let why = String::from_utf8_lossy(&public.stderr).into_owned();
            return (BTreeSet::from(["unreadable-certificate"]), why);
        }
        fs::write(at.join("given.key"), &self.key).unwrap();
        let of_key = openssl(at, &["pkey", "-in", "given.key", "-pubout"]);
        if of_key.stdout != public.stdout {
            rules.insert("certificate-key-mismatch");
        }
        let time = self.time.to_string();
        // Without a root, authorities are trusted as they are, to see whether they have a path.
        let roots: &[&str] = match self.wrong {
            Wrong::NoRoot => &["-no-CAfile", "-no-CApath", "-no-CAstore"],
            _ => &["-CAfile", "root.pem"],
        };
        let middle: &[&str] = if self.has_middle {
            &["-untrusted", "middle.pem"]
        } else {
            &[]
        };
        let start = ["verify", "-attime", &time];
        let verified = openssl(at, &[&start[..], roots, middle, &["server.pem"]].concat());
        let errors = String::from_utf8_lossy(&verified.stderr).into_owned();
        let lines = errors
            .lines()
            .filter(|line| line.contains(" depth lookup: "));
        for line in lines.filter_map(|line| line.strip_prefix("error ")) {
            let mut words = line.split(' ');
            let number = words.next().unwrap_or_default();
            let depth = words.nth(1).unwrap_or_default();
            match (number, depth) {
                ("9" | "10", _) => _ = rules.insert("expired-certificate"),
                // Only an authority of the site needs a path.
                ("2" | "20", _) if self.wrong == Wrong::NoRoot => {
                    if self.has_middle {
                        rules.insert("authority-without-path");
                    }
                }
                ("7" | "20" | "21" | "30", _) => _ = rules.insert("certificate-not-of-authority"),
                ("24" | "25" | "79" | "32", _) => _ = rules.insert("authority-without-path"),
                _ => panic!("unknown error of openssl: {errors}"),
            }
        }
        assert_eq!(verified.status.success(), errors.is_empty(), "{verified:?}");
        (rules, errors)
    }

    /// Rules that layercake reports, and their messages.
    fn found(&self) -> (BTreeSet<&'static str>, Vec<String>) {
        let read = |file: &str| fs::read_to_string(self.folder.path().join(file)).unwrap();
        let mut files = format!(
            "{POLICY}{}",
            document("Certificate", "server", &self.server)
        );
        files += &document("CertificateKey", "server", &self.key);
        if self.wrong != Wrong::NoRoot {
            files += &document("CertificateAuthority", "root", &read("root.pem"));
        }
        if self.has_middle {
            files += &document("CertificateAuthority", "middle", &read("middle.pem"));
        }
        let time = UNIX_EPOCH + Duration::from_secs(self.time);
        let options = Options::of(DeckhandOptions {
            semantics: Semantics::Documented,
            missing_source: MissingSource::Error,
            encryption_sources: std::collections::BTreeMap::new(),
        });
        let rules = RuleOptions {
            time: Some(CheckTime::day_of(time)),
            expiring_days: 0,
            ..options.rules
        };
        let options = Options { rules, ..options };
        let tree = MemoryTree::new().with("documents.yaml", files.as_str());
        let checked = check(&options.plan(Arc::new(tree), None, None), |_| ()).unwrap();
        let all = checked.findings.diagnostics.iter();
        let found = all.filter(|it| it.severity != layercake::diagnostic::Severity::Note);
        let (rules, messages): (BTreeSet<&str>, Vec<String>) =
            found.map(|it| (it.rule.name, it.message.clone())).unzip();
        let shown = messages.concat();
        let is_secret = |line: &&str| line.len() > 20 && !line.starts_with("---");
        assert!(
            !self
                .key
                .lines()
                .filter(is_secret)
                .any(|line| shown.contains(line))
        );
        (rules, messages)
    }
}

fn document(kind: &str, name: &str, text: &str) -> String {
    let policy = if kind.ends_with("Key") {
        "encrypted"
    } else {
        "cleartext"
    };
    let lines: String = text.lines().map(|line| format!("  {line}\n")).collect();
    format!(
        "---\nschema: deckhand/{kind}/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: {name}\n  \
         storagePolicy: {policy}\n  layeringDefinition: {{abstract: false, layer: site}}\ndata: |\n{lines}"
    )
}

/// A damaged PEM: with a changed, removed or moved part.
fn damaged(pem: &str, round: usize) -> String {
    let lines: Vec<&str> = pem.lines().collect();
    let (line, column) = (1 + round * 7 % (lines.len() - 3), round * 13 % 60);
    let mut changed: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    match round % 5 {
        0 => {
            let old = changed[line].as_bytes()[column];
            let new = if old == b'A' { "B" } else { "A" };
            changed[line].replace_range(column..=column, new);
        }
        1 => drop(changed[line].remove(column)),
        2 => drop(changed.remove(line)),
        3 => changed.swap(line, line + 1),
        _ => drop(changed.pop()),
    }
    changed.join("\n") + "\n"
}
