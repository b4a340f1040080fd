//! Cost of hostile repositories: at most in proportion to their size.
//!
//! The cost is the processor time of the program itself. Instructions cannot be counted
//! everywhere, and counting allocations needs unsafe code, which is forbidden; so each
//! figure is the least of a few runs, and sizes are chosen at which a quadratic part
//! would cost four times as much where twice is expected.

use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use wait4::Wait4 as _;

use super::{definition, document, policy, three_layers};
use crate::git::{self, Site};

/// Maximum factor of the cost where the input is twice as large: 2.5, and a fifth for a busy
/// machine, which a quadratic cost of 4 exceeds all the same.
const MAX_GROWTH: f64 = 3.0;

/// Runs of which one has to show it, on a machine that does other things, too.
const TRIES: usize = 8;

/// Maximum cost of hostile input, in costs of as much ordinary input.
const MAX_FACTOR: f64 = 50.0;

const MAX_MEMORY: u64 = 1 << 30;

/// A kind of hostile input.
struct Kind {
    name: &'static str,
    /// How large it is made first; then it is made twice as large.
    size: usize,
    /// Files of this size on the base, and on the head where they are compared.
    make: fn(usize) -> Files,
}

struct Files {
    base: Vec<(String, String)>,
    head: Option<Vec<(String, String)>>,
}

/// Cost of one run.
struct Cost {
    time: Duration,
    memory: u64,
}

const KINDS: [Kind; 21] = [
    Kind { name: "ignore comments", size: 6_000, make: ignore_comments },
    Kind { name: "unknown keys beside as many known", size: 1_500, make: unknown_keys },
    Kind { name: "values of an enum", size: 4_000, make: enum_values },
    Kind { name: "missing keys", size: 4_000, make: missing_keys },
    Kind { name: "labels that all have", size: 400, make: shared_labels },
    Kind { name: "selectors that match nearly", size: 400, make: missing_parents },
    Kind { name: "sources that are nearly there", size: 400, make: missing_sources },
    Kind { name: "long names", size: 50_000, make: long_labels },
    Kind { name: "empty documents", size: 60_000, make: empty_documents },
    Kind { name: "repeated keys on one line", size: 6_000, make: repeated_keys },
    Kind { name: "unknown tags in a broken document", size: 4_000, make: unknown_tags },
    Kind { name: "anchors and aliases", size: 6_000, make: aliases },
    Kind { name: "merge keys", size: 400, make: merge_keys },
    Kind { name: "layers", size: 4_000, make: layers },
    Kind { name: "a cycle", size: 400, make: cycle },
    Kind { name: "patterns that track back", size: 60, make: patterns },
    Kind { name: "a list of other items", size: 15_000, make: other_items },
    Kind { name: "a mapping of other values", size: 2_000, make: other_values },
    Kind { name: "edits that are stopped", size: 1_000, make: stopped_edits },
    Kind { name: "documents with other names", size: 400, make: other_names },
    Kind { name: "new findings", size: 300, make: new_findings },
];

#[test]
fn twice_the_hostile_input_costs_at_most_two_and_a_half_times_as_much() {
    let nothing = cost_of(&site(String::new())).time;
    let failed: Vec<String> = KINDS
        .iter()
        .filter_map(|kind| {
            let growth = || {
                let once = cost_of(&(kind.make)(kind.size)).time.saturating_sub(nothing);
                let twice = cost_of(&(kind.make)(2 * kind.size)).time.saturating_sub(nothing);
                // Below the grain of the clock there is nothing to compare.
                twice.as_secs_f64() / once.as_secs_f64().max(0.02)
            };
            let least = (0..TRIES).map(|_| growth()).find(|growth| *growth <= MAX_GROWTH);
            least.is_none().then(|| format!("{}: {}", kind.name, growth()))
        })
        .collect();
    assert_eq!(failed, Vec::<String>::new());
}

#[test]
fn hostile_input_costs_at_most_fifty_times_as_much_as_ordinary_input() {
    let ordinary = site(ordinary_documents(600));
    let per_byte = cost_of(&ordinary).time.as_secs_f64() / bytes(&ordinary);
    for kind in &KINDS {
        let files = (kind.make)(2 * kind.size);
        // A start, and the trials of causes, cost what they cost, however little is read.
        let most = MAX_FACTOR * per_byte * bytes(&files).max(40_000.0);
        let is_bounded = |cost: &Cost| cost.time.as_secs_f64() <= most && cost.memory <= MAX_MEMORY;
        let found = (0..TRIES).any(|_| is_bounded(&cost_of(&files)));
        assert!(found, "{}: more than {most} s, or {MAX_MEMORY} bytes", kind.name);
    }
}

/// Values that are copied into each other are millions of places; what is listed of
/// them is bounded, and the rest is a number.
#[test]
fn copies_of_a_changed_value_are_compared_once() {
    for (name, files) in [("copies", copies(18)), ("substitutions", mesh(24))] {
        let cost = cost_of(&files);
        assert!(cost.time < Duration::from_secs(30), "{name}: {:?}", cost.time);
        assert!(cost.memory <= MAX_MEMORY, "{name}: {} bytes", cost.memory);
    }
}

#[test]
fn absurd_numbers_of_threads_are_cut() {
    let site = repository(&site(String::new()));
    let mut command = layercake(&site, &["lint"]);
    let output = command.env("RAYON_NUM_THREADS", "100000").stderr(Stdio::piped()).output();
    let output = output.unwrap();
    assert!(output.status.success());
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("RAYON_NUM_THREADS is 100000; 256 threads are used"), "{errors}");
}

fn bytes(files: &Files) -> f64 {
    let all = files.head.as_ref().unwrap_or(&files.base);
    let count: usize = all.iter().map(|(_, text)| text.len()).sum();
    u32::try_from(count).unwrap().into()
}

fn repository(files: &Files) -> Site {
    let site = Site::new(&[]);
    for (path, text) in &files.base {
        site.write(path, text);
    }
    site.commit();
    for (path, text) in files.head.iter().flatten() {
        site.write(path, text);
    }
    site
}

fn layercake(site: &Site, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_layercake"));
    git::scrub(&mut command);
    command.arg("-C").arg(site.path("")).args(arguments);
    command.env("RAYON_NUM_THREADS", "1").stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn cost_of(files: &Files) -> Cost {
    let site = repository(files);
    let arguments: &[&str] =
        if files.head.is_some() { &["lint", "--since", "HEAD", "-o", "json"] } else { &["lint"] };
    let ended = layercake(&site, arguments).spawn().unwrap().wait4().unwrap();
    assert!(matches!(ended.status.code(), Some(0 | 1)), "{:?}", ended.status);
    let usage = ended.rusage;
    Cost { time: usage.utime + usage.stime, memory: usage.maxrss }
}

/// A repository with one site, which has these documents.
fn site(documents: String) -> Files {
    Files { base: site_files(documents), head: None }
}

fn site_files(documents: String) -> Vec<(String, String)> {
    vec![
        ("global/policy.yaml".into(), three_layers()),
        ("type/lab/any.yaml".into(), document("any", "layer: type", "", "{}")),
        ("site/lab/site-definition.yaml".into(), definition("lab")),
        ("site/lab/documents.yaml".into(), documents),
    ]
}

fn compared(base: String, head: String) -> Files {
    Files { base: site_files(base), head: Some(site_files(head)) }
}

fn plain(name: &str, data: &str) -> String {
    document(name, "abstract: false, layer: site", "", data)
}

fn joined(count: usize, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect::<Vec<_>>().join(", ")
}

fn documents(count: usize, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect()
}

fn ordinary_documents(count: usize) -> String {
    documents(count, |at| plain(&format!("n{at}"), "\n  a: {b: [1, 2], c: text}\n  d: more text"))
}

fn schema(text: &str) -> String {
    format!(
        "---\nschema: deckhand/DataSchema/v1\nmetadata: {{schema: metadata/Control/v1, name: \
         example/Kind/v1}}\ndata: {text}\n"
    )
}

fn ignore_comments(size: usize) -> Files {
    let comment = "# layercake: ignore[duplicate-key] a reason\n";
    site(plain("a", "{}") + &comment.repeat(size))
}

fn unknown_keys(size: usize) -> Files {
    let tail = "a".repeat(40);
    let known = joined(size, |at| format!("key{at:05}{tail}: {{type: string}}"));
    let schema =
        schema(&format!("{{type: object, additionalProperties: false, properties: {{{known}}}}}"));
    let unknown = joined(size, |at| format!("kxy{at:05}{tail}: x"));
    site(schema + &plain("a", &format!("{{{unknown}}}")))
}

fn enum_values(size: usize) -> Files {
    let options = joined(size, |at| format!("option{at}"));
    let schema = schema(&format!("{{properties: {{l: {{items: {{enum: [{options}]}}}}}}}}"));
    let values = joined(size, |at| format!("optoin{at}"));
    site(schema + &plain("a", &format!("{{l: [{values}]}}")))
}

fn missing_keys(size: usize) -> Files {
    let names = joined(size, |at| format!("key{at}"));
    let keys = joined(size, |at| format!("kye{at}: 1"));
    site(schema(&format!("{{required: [{names}]}}")) + &plain("a", &format!("{{{keys}}}")))
}

fn selecting(name: &str, labels: &str, selector: &str) -> String {
    let more = format!("  labels: {{{labels}}}\n");
    let layering = format!(
        "abstract: false, layer: site, parentSelector: {{{selector}}}, actions: [{{method: merge, \
         path: .}}]"
    );
    document(name, &layering, &more, "{}")
}

fn shared_labels(size: usize) -> Files {
    let labels = joined(30, |at| format!("l{at}: v"));
    site(documents(size, |at| selecting(&format!("n{at}"), &labels, &labels)))
}

fn missing_parents(size: usize) -> Files {
    site(documents(size, |at| {
        selecting(&format!("n{at}"), &format!("a: label{at}x"), &format!("a: label{at}"))
    }))
}

fn missing_sources(size: usize) -> Files {
    site(documents(size, |at| {
        let more = format!(
            "  substitutions: [{{src: {{schema: example/Kind/v1, name: name-{at}-x, path: .}}, \
             dest: {{path: .a}}}}]\n"
        );
        document(&format!("name-{at}-y"), "abstract: false, layer: site", &more, "{}")
    }))
}

fn long_labels(size: usize) -> Files {
    let long = "a".repeat(size);
    let labels = (format!("a: {long}b"), format!("a: {long}c"));
    site(selecting("n", &labels.0, "x: y") + &selecting("m", "x: z", &labels.1))
}

fn empty_documents(size: usize) -> Files {
    site("---\n".repeat(size))
}

fn repeated_keys(size: usize) -> Files {
    site(plain("a", &format!("{{{}}}", "a: 1, ".repeat(size))))
}

fn unknown_tags(size: usize) -> Files {
    site(format!("--- [{}\n", "!x y, ".repeat(size)))
}

fn aliases(size: usize) -> Files {
    let anchors = joined(size, |at| format!("&a{at} [x], *a{at}"));
    site(plain("a", &format!("{{l: [{anchors}]}}")))
}

/// Each mapping takes what all before it have.
fn merge_keys(size: usize) -> Files {
    let mappings = joined(size, |at| match at {
        0 => "&m0 {k0: 1}".to_owned(),
        _ => format!("&m{at} {{<<: *m{}, k{at}: 1}}", at - 1),
    });
    site(documents(8, |at| plain(&format!("n{at}"), &format!("{{l: [{mappings}]}}"))))
}

fn layers(size: usize) -> Files {
    let names: Vec<String> = (0..size).map(|at| format!("layer{at}")).collect();
    let unknown = (0..size / 10)
        .map(|at| document(&format!("n{at}"), &format!("layer: layre{at}"), "", "{}"));
    let mut files = site(unknown.collect());
    files.base[0].1 =
        policy(&[&["global".into(), "type".into(), "site".into()], &names[..]].concat());
    files
}

fn substituting(name: &str, source: &str, dest: &str, data: &str) -> String {
    let more = format!(
        "  substitutions: [{{src: {{schema: example/Kind/v1, name: {source}, path: .}}, dest: \
         {{path: .{dest}}}}}]\n"
    );
    document(name, "abstract: false, layer: site", &more, data)
}

fn cycle(size: usize) -> Files {
    site(documents(size, |at| {
        substituting(&format!("n{at}"), &format!("n{}", (at + 1) % size), "v", "{}")
    }))
}

/// As many sites as documents in each.
fn patterns(size: usize) -> Files {
    let children = documents(size, |at| {
        let more = "  substitutions: [{src: {schema: example/Kind/v1, name: s, path: .}, dest: \
                    {path: .v, pattern: '(a+)+\\1b'}}]\n";
        document(
            &format!("n{at}"),
            "abstract: false, layer: type",
            more,
            &format!("{{v: '{}!'}}", "a".repeat(200)),
        )
    });
    // The number of sites stays, so that twice the size is twice the documents.
    let mut files = site(plain("x", "{}"));
    files.base.push(("global/s.yaml".into(), document("s", "layer: global", "", "y")));
    files.base.push(("type/lab/children.yaml".into(), children));
    for at in 0..10 {
        let definition = definition(&format!("s{at}"));
        files.base.push((format!("site/s{at}/site-definition.yaml"), definition));
    }
    files
}

fn other_items(size: usize) -> Files {
    let list = |from: usize| {
        plain("a", &format!("{{l: [{}]}}", joined(size, |at| (from + at).to_string())))
    };
    compared(list(0), list(1_000_000))
}

fn other_values(size: usize) -> Files {
    let mapping = |value: &str| {
        plain("a", &format!("{{{}}}", joined(size, |at| format!("k{at}: {value}{at}"))))
    };
    compared(mapping("x"), mapping("y"))
}

fn stopped_edits(size: usize) -> Files {
    let parent = |value: &str| {
        let data = joined(size, |at| format!("k{at}: {value}{at}"));
        document(
            "parent",
            "abstract: true, layer: global",
            "  labels: {a: b}\n",
            &format!("{{{data}}}"),
        )
    };
    let own = joined(size, |at| format!("k{at}: own"));
    let layering =
        "abstract: false, layer: site, parentSelector: {a: b}, actions: [{method: merge, path: .}]";
    let child = document("child", layering, "", &format!("{{{own}}}"));
    compared(parent("x") + &child, parent("y") + &child)
}

fn other_names(size: usize) -> Files {
    let named = |prefix: &str| documents(size, |at| plain(&format!("{prefix}{at}"), "{a: 1}"));
    compared(named("n"), named("m"))
}

fn new_findings(size: usize) -> Files {
    let keys = |count: usize| {
        plain("a", &format!("{{{}}}", joined(size, |at| format!("k{}: {at}", at % count))))
    };
    compared(keys(size), keys(size / 2))
}

/// A JSON Patch that copies a list into itself.
fn copies(count: usize) -> Files {
    let patch = vec![r#"{"op": "copy", "from": "/a", "path": "/a/-"}"#; count].join(", ");
    let files = |value: &str| {
        let mut files = site_files(plain("x", "{}"));
        let configuration = "cloud-config:\n  - {name: g, parts: [\"site/{site}/cloud/*\"]}\n";
        files.push(("layercake.yaml".into(), configuration.into()));
        files.push(("site/lab/cloud/a".into(), format!("#cloud-config\na: [{value}]\n")));
        files.push(("site/lab/cloud/b".into(), format!("#cloud-config-jsonp\n[{patch}]\n")));
        files
    };
    Files { base: files("x"), head: Some(files("y")) }
}

/// Documents of which each takes all those before it.
fn mesh(count: usize) -> Files {
    let all = |value: &str| {
        documents(count, |at| {
            let mut more = String::from(if at > 0 { "  substitutions:\n" } else { "" });
            for before in 0..at {
                writeln!(
                    more,
                    "    - {{src: {{schema: example/Kind/v1, name: n{before}, path: .}}, dest: \
                     {{path: .s{before}}}}}"
                )
                .unwrap();
            }
            document(
                &format!("n{at}"),
                "abstract: false, layer: site",
                &more,
                &format!("{{v: {value}}}"),
            )
        })
    };
    compared(all("x"), all("y"))
}
