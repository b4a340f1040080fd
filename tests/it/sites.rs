//! Broken repositories, byte for byte as they may be on a disk.
//!
//! Every folder of `tests/sites` is one. Its `expected.txt` holds all reports about it, and its
//! rendered documents; `LAYERCAKE_BLESS=1` rewrites it. `# <- rule-name` marks a line on which a
//! finding begins, and `markers.txt` marks those of files that cannot hold a comment, as
//! `PATH:LINE rule-name`; both are written by hand, so that a wrong line cannot be blessed.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use layercake::check::{Checked, Options, RenderedSite, check};
use layercake::merge::deckhand::Semantics;
use layercake::source::{RepoPath, SourceMap, Span, Tree, WorkTree};
use layercake::system::deckhand::document::Document;
use layercake::system::deckhand::layout::Layout;
use layercake::yaml::path::{Location, first_inside};
use layercake::yaml::{self, Node, Value, Whole, emit};

use crate::stored::is_blessed;
use crate::support::{finding_text, options, saved};

/// Value of the secrets in these repositories, which must never be shown.
const SECRET: &str = "hunter2";

#[test]
fn broken_repositories_are_reported() {
    let bless = is_blessed();
    let mut wrong = Vec::new();
    for folder in folders() {
        let name = folder
            .file_name()
            .expect("a folder has a name")
            .to_string_lossy()
            .into_owned();
        let (report, places) = run(&folder);
        let marked = markers(&folder);
        if places != marked {
            let unmarked: Vec<_> = places.difference(&marked).collect();
            let unmet: Vec<_> = marked.difference(&places).collect();
            wrong.push(format!("{name}: unmarked {unmarked:#?}, unmet {unmet:#?}"));
        }
        let expected = folder.join("expected.txt");
        if bless {
            fs::write(&expected, &report).expect("a report can be written");
        }
        let stated = fs::read_to_string(&expected).unwrap_or_default();
        if stated != report {
            wrong.push(format!(
                "tests/sites/{name}/expected.txt is outdated; LAYERCAKE_BLESS=1 rewrites it: \
                 expected\n{stated}\nfound\n{report}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Most of a document is dropped once it has been read. A later use reads the text again and must
/// get the same nodes, with secrets still hidden.
#[test]
fn reread_documents_are_unchanged() {
    let (mut dropped, mut secret, mut wrapped) = (0, 0, 0);
    for folder in folders() {
        let checked = checked(&folder, |site| {
            let documents = site.site.iter().map(|(_, document)| document);
            documents
                .map(|document| reread(document, site.sources))
                .collect::<Vec<_>>()
        });
        for source in checked
            .sites
            .into_iter()
            .filter_map(|site| site.taken)
            .flatten()
        {
            dropped += usize::from(source == NodeSource::PlainText);
            secret += usize::from(source == NodeSource::SecretText);
            wrapped += usize::from(source == NodeSource::KeptWrapped);
        }
    }
    assert!(
        dropped > 100 && secret > 3 && wrapped > 2,
        "{dropped}, {secret}, {wrapped}"
    );
}

/// Source of a document's nodes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NodeSource {
    PlainText,
    SecretText,
    KeptWrapped,
    /// Its file cannot be parsed to its end, or it was not read as expected.
    KeptDoubtful,
}

fn reread(document: &Document, sources: &SourceMap) -> NodeSource {
    let source = sources.get(document.span.file);
    let parsed = yaml::parse(document.span.file, source.text()).documents;
    let written = parsed
        .into_iter()
        .find(|it| it.span == document.span)
        .expect("it is there")
        .root;
    let wrapped = written
        .get("data")
        .and_then(|data| data.get("managedDocument"));
    let wrapped = wrapped.filter(|it| document.is_wrapped && it.as_mapping().is_some());
    let written = wrapped.unwrap_or(&written);
    let (root, metadata) = (document.root(), document.metadata());
    // Wrapped or not, the root itself has the span of the whole document.
    let places = |root: &Node| {
        leaves(root)
            .into_iter()
            .skip(1)
            .map(|(place, span, _)| (place, span))
    };
    assert!(places(&root).eq(places(written)), "{}", document.key);
    // The token of an encrypted text is binary, and is read as text.
    assert!(
        document.wrapped_encrypted || root == *written,
        "{}",
        document.key
    );
    let data = root.get("data").map_or_else(Vec::new, leaves);
    assert!(
        data.iter()
            .all(|(_, _, secret)| *secret == document.data.secret),
        "{}",
        document.key
    );
    assert_eq!(metadata.span, document.metadata_span, "{}", document.key);
    assert_eq!(
        metadata,
        written.get("metadata").cloned().unwrap_or(Node {
            value: Value::Null,
            ..metadata.clone()
        })
    );
    match document.whole() {
        Whole::InText { .. } if document.data.secret => NodeSource::SecretText,
        Whole::InText { .. } => NodeSource::PlainText,
        Whole::Held(_) if document.is_wrapped => NodeSource::KeptWrapped,
        Whole::Held(_) => {
            // Its layer is hidden.
            let is_hidden = document.data.secret && &*document.key.layer == "(hidden)";
            let is_doubtful = source.fault().is_some() || document.is_doubtful;
            assert!(
                is_doubtful || is_hidden,
                "{} is kept without a reason",
                document.key
            );
            NodeSource::KeptDoubtful
        }
    }
}

/// Locations of a value's leaves, with their spans, and whether they are secret.
fn leaves(root: &Node) -> Vec<(Location, Span, bool)> {
    let mut leaves = vec![(Location::root(), root.span, root.secret)];
    first_inside(root, |node, place| {
        leaves.push((place.clone(), node.span, node.secret));
        false
    });
    leaves
}

fn folders() -> Vec<PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sites");
    let entries = fs::read_dir(all).expect("the sites are there");
    let paths = entries.map(|entry| entry.expect("an entry can be read").path());
    let mut folders: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
    folders.sort();
    assert!(folders.len() > 5, "there are broken repositories");
    folders
}

type Places = BTreeSet<(String, usize, String)>;

/// Checks a repository as it is on disk.
fn checked<T: Send>(folder: &Path, per_site: impl Fn(&RenderedSite<'_>) -> T + Sync) -> Checked<T> {
    let tree = WorkTree::in_folder(folder.to_owned()).expect("the folder is there");
    let root = RepoPath::new("");
    let layout = Layout::discover(&tree, &root).expect("the folder can be listed");
    assert_eq!(
        layout.is_some(),
        folder.join("site").is_dir(),
        "{}",
        folder.display()
    );
    let options = Options::of(options(Semantics::Documented));
    let plan = options.plan(Arc::new(tree), layout, None);
    let checked = check(&plan, per_site).expect("a folder can be checked");
    assert!(!checked.internal_error);
    checked
}

/// Report on a repository, and the places where its findings begin.
fn run(folder: &Path) -> (String, Places) {
    let checked = checked(folder, rendered);
    let (mut report, mut places) = (String::new(), Places::new());
    for finding in &checked.findings.diagnostics {
        report += &finding_text(finding, &checked.sources);
        let span = finding.primary.span;
        let path = checked.sources.get(span.file).path().to_string();
        let line = checked.sources.start(span).line.get() as usize;
        places.insert((path, line, finding.rule.name.to_owned()));
    }
    report += "\n";
    for site in &checked.sites {
        let name = site.name.as_deref().unwrap_or("all files");
        let counts = (site.files, site.documents, site.outputs);
        let (files, documents, outputs) = counts;
        writeln!(
            report,
            "{name}: {files} files, {documents} documents, {outputs} outputs"
        )
        .expect("strings take text");
        report += site
            .taken
            .as_deref()
            .expect("layercake itself does not fail");
    }
    for text in reports(&checked).iter().chain([&report]) {
        assert!(!text.contains(SECRET), "{text}");
    }
    (report, places)
}

/// Rendered documents of a site, without policies and site definitions.
fn rendered(site: &RenderedSite<'_>) -> String {
    let mut text = String::new();
    for (doc, recipe) in site.graph.iter().filter(|(_, recipe)| recipe.emit) {
        if recipe.key.schema.contains("Policy") || recipe.key.schema.contains("SiteDefinition") {
            continue;
        }
        let options = emit::EmitOptions {
            show_secrets: false,
            origin: None,
        };
        let data = site
            .rendered
            .data(doc)
            .map(|data| emit::to_yaml(data, &options));
        let data = data.unwrap_or_else(|| "(not rendered)\n".into());
        writeln!(text, "  {}:", recipe.key).expect("strings take text");
        for line in data.lines() {
            writeln!(text, "    {line}").expect("strings take text");
        }
    }
    text
}

/// All reports about findings.
fn reports<T>(checked: &Checked<T>) -> [String; 2] {
    saved::full_and_json(&saved::of_checked(checked))
}

fn markers(folder: &Path) -> Places {
    let tree = WorkTree::in_folder(folder.to_owned()).expect("the folder is there");
    let entries = tree
        .entries(&RepoPath::new(""))
        .expect("the folder can be listed");
    let mut markers = Places::new();
    for entry in entries {
        let bytes = fs::read(folder.join(entry.path.as_str())).expect("a file can be read");
        let text = String::from_utf8_lossy(&bytes);
        match entry.path.as_str() {
            "expected.txt" => {}
            "markers.txt" => {
                for line in text.lines() {
                    let (place, rule) = line.split_once(' ').expect("PATH:LINE rule");
                    let (path, number) = place.rsplit_once(':').expect("PATH:LINE");
                    let number = number.parse().expect("a number");
                    markers.insert((path.to_owned(), number, rule.to_owned()));
                }
            }
            path => {
                let lines = text.lines().enumerate();
                let marked =
                    lines.filter_map(|(at, line)| Some((at + 1, line.split_once("# <- ")?.1)));
                for (line, rules) in marked {
                    let rules = rules.trim_end().split(", ");
                    markers.extend(rules.map(|rule| (path.to_owned(), line, rule.to_owned())));
                }
            }
        }
    }
    markers
}
