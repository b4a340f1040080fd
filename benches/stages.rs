//! The stages of a run, one after the other on a single thread.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use layercake::graph::{Graph, MissingSource};
use layercake::merge::deckhand::Semantics;
use layercake::merge::pattern::Patterns;
use layercake::render::{self, Rendered};
use layercake::rules::{self, SiteFacts};
use layercake::source::{FileId, RepoPath, Source, SourceMap, Tree, WorkTree};
use layercake::system::cloud_init::Sets;
use layercake::system::deckhand::document::Document;
use layercake::system::deckhand::layout::Layout;
use layercake::system::deckhand::read::{Reading, SecretKinds, read};
use layercake::system::deckhand::schema::{Schemas, is_data_schema, violations};
use layercake::system::deckhand::{Options, Site};
use layercake::triage::Findings;
use layercake::yaml::{self, Parsed};

use crate::{Repository, median, milliseconds};

const STAGES: [&str; 9] =
    ["list", "read", "parse", "documents", "relate", "render", "schemas", "rules", "free"];

/// Prints what each stage takes, and its share.
pub fn measure(repositories: &[Repository]) {
    println!("Stages, on one thread: milliseconds, share of the whole, growth per size");
    print!("{:>5}", "times");
    STAGES.iter().for_each(|stage| print!(" {stage:>21}"));
    println!(" {:>9}", "all");
    let mut first: Option<Vec<f64>> = None;
    for repository in repositories {
        let runs = if repository.scale > 10 { 3 } else { 11 };
        let laps: Vec<[Duration; STAGES.len()]> = (0..runs).map(|_| lap(repository)).collect();
        let times: Vec<f64> = (0..STAGES.len())
            .map(|stage| milliseconds(median(laps.iter().map(|lap| lap[stage]).collect())))
            .collect();
        let all: f64 = times.iter().sum();
        let scale = repository.scale as f64;
        let one = first.get_or_insert_with(|| times.iter().map(|time| time / scale).collect());
        print!("{:>5}", repository.scale);
        for (time, one) in times.iter().zip(one) {
            print!(" {time:>8.1} {:>5.1}% x{:>4.2}", time / all * 100.0, time / scale / *one);
        }
        println!(" {all:>9.1}");
        let of = |stage: &str| times[index_of(stage)];
        println!("      schemas to parse: {:.2}", of("schemas") / of("parse"));
    }
}

fn index_of(stage: &str) -> usize {
    STAGES.iter().position(|name| *name == stage).expect("a stage of the table")
}

/// Adds up what each stage takes.
struct Watch {
    times: [Duration; STAGES.len()],
    since: Instant,
}

impl Watch {
    /// Counts the time since the last call for `stage`.
    fn took(&mut self, stage: &str) {
        let index = index_of(stage);
        let now = Instant::now();
        self.times[index] += now - self.since;
        self.since = now;
    }
}

/// What a run takes, by stage.
fn lap(repository: &Repository) -> [Duration; STAGES.len()] {
    let mut watch = Watch { times: [Duration::ZERO; STAGES.len()], since: Instant::now() };
    let (tree, layout) = list(repository);
    watch.took("list");
    let sources = sources(&tree, &layout);
    watch.took("read");
    let parsed: Vec<Parsed> =
        sources.iter().map(|(file, source)| yaml::parse(file, source.text())).collect();
    watch.took("parse");
    let files: Vec<(FileId, &Parsed)> = sources.iter().map(|(file, _)| file).zip(&parsed).collect();
    let sites = layout.sites(&files, &[], &mut Vec::new());
    let documents = documents(&sources, &parsed);
    drop(parsed);
    watch.took("documents");
    let options = Options {
        semantics: Semantics::Documented,
        missing_source: MissingSource::Error,
        encryption_sources: BTreeMap::new(),
    };
    // What the schemas refuse is a stage of its own.
    let mut settings = rules::Settings::default();
    settings.wanted.remove("schema-violation");
    let schemas = Schemas::default();
    for schema in documents.values().flatten().filter(|document| is_data_schema(document)) {
        schemas.compiled(&schema.data);
    }
    watch.took("schemas");
    let mut found = Vec::new();
    for site in sites {
        let of_site: Vec<&Document> = site.files.iter().flat_map(|file| &documents[file]).collect();
        let mut site = Site::new(Some(site.name), of_site, &options);
        let graph = site.to_graph(&options);
        watch.took("relate");
        let rendered = render::render(&graph);
        watch.took("render");
        black_box(violations(&site, &schemas, |doc| rendered.data(doc)));
        watch.took("schemas");
        let facts = SiteFacts {
            sources: &sources,
            site: &site,
            sets: &Sets::default(),
            graph: &graph,
            rendered: &rendered,
            schemas: &schemas,
            settings: &settings,
        };
        found.extend(rules::word_site(&facts));
        watch.took("rules");
        drop::<(Site<'_>, Graph, Rendered)>((site, graph, rendered));
        watch.took("free");
    }
    black_box(Findings::new(found, &sources, &[]));
    watch.took("rules");
    drop((documents, sources));
    watch.took("free");
    watch.times
}

fn list(repository: &Repository) -> (WorkTree, Layout) {
    let tree = match layercake::source::Repository::discover(&repository.root) {
        Ok(Some(repository)) => WorkTree::in_repository(&repository),
        _ => WorkTree::in_folder(repository.root.clone()),
    };
    let tree = tree.expect("the folder is there");
    let layout = Layout::discover(&tree, &RepoPath::new("")).expect("the folder can be listed");
    (tree, layout.expect("the folder is a site repository"))
}

fn sources(tree: &WorkTree, layout: &Layout) -> SourceMap {
    let mut sources = SourceMap::new();
    for file in &layout.files {
        sources.add(Source::new(file.path.clone(), tree.read(&file.path)));
    }
    sources
}

fn documents(sources: &SourceMap, parsed: &[Parsed]) -> BTreeMap<FileId, Vec<Document>> {
    let (patterns, secrets) = (Patterns::default(), SecretKinds::default());
    let files = sources.iter().zip(parsed);
    files
        .map(|((file, source), parsed)| {
            let read = parsed.documents.iter().filter_map(|document| {
                match read(document, source.text(), &patterns, &secrets) {
                    Reading::Document(document) => Some(*document),
                    Reading::Nothing(_) => None,
                }
            });
            (file, read.collect())
        })
        .collect()
}
