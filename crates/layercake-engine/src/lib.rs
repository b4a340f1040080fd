//! Renders layered YAML documents, records the source text of each rendered value, and compares two
//! renderings.
//!
//! A [`graph`] has one recipe per document: the document it is merged into, and the steps that
//! build it. [`render`] runs the recipes in parallel. This crate knows how documents are merged
//! ([`merge`]), but nothing else about the systems that use them, about rules or about reports.
//!
//! ```
//! use layercake_engine::graph::{
//!     Act, DocId, Graph, Instruction, Link, MissingSource, Need, Recipe, Steps,
//! };
//! use layercake_engine::merge::deckhand::{ActionPath, Method, Semantics};
//! use layercake_engine::render::render;
//! use layercake_source::{DocKey, FileId, Span, Spanned};
//! use layercake_yaml::{emit, parse};
//!
//! let text = "replicas: 1\nimage: nginx\n---\nreplicas: 3\n";
//! let at = Span::point(FileId::default(), 0);
//! let documents = parse(FileId::default(), text).documents.into_iter();
//! let mut recipes: Vec<Recipe> = documents
//!     .zip(["global", "site"])
//!     .map(|(document, layer)| Recipe {
//!         key: DocKey::new("example/Chart/v1", layer, "web"),
//!         span: document.span,
//!         data: document.root,
//!         base: None,
//!         replaces: None,
//!         needs: Vec::new(),
//!         steps: Steps::default(),
//!         emit: true,
//!     })
//!     .collect();
//!
//! // The second document is merged into the first one.
//! let path = Spanned::new(ActionPath::parse(".").unwrap(), at);
//! let merge = Instruction { act: Act::Merge { method: Method::Merge, path }, at };
//! recipes[1].base = Some(Link { doc: DocId::at(0), selector: at, label: at });
//! recipes[1].needs = vec![Need { doc: DocId::at(0), at }];
//! recipes[1].steps = Steps::new([merge].into_iter().collect(), [None].into());
//!
//! let graph = Graph {
//!     recipes: recipes.into_iter().map(Into::into).collect(),
//!     semantics: Semantics::Documented,
//!     missing_source: MissingSource::Error,
//!     sharers: 1,
//! };
//! let rendered = render(&graph);
//! let data = rendered.data(DocId::at(1)).unwrap();
//! assert_eq!(emit::to_flow(data, 80), "{replicas: 3, image: nginx}");
//!
//! // Each value has the span of the text that wrote it.
//! let span = data.get("image").unwrap().span;
//! assert_eq!(&text[span.range()], "nginx");
//! ```
//!
//! # Modules
//!
//! Lowest first; a module uses only those before it.
//!
//! - [`guard`]: panic isolation for single units of work
//! - [`stopwatch`]: timing of the stages of a run, over all threads
//! - [`merge`]: merging of one node into another, and the origin of each value of the result
//! - [`graph`]: recipes, their dependencies, waves and cycles
//! - [`edit`]: edits of the sources, as values and places
//! - [`render`]: rendering of recipes, and tracing of values back to their sources
//! - [`compare`]: changed outputs, the edits that caused them, and the overrides that shield others

pub mod compare;
pub mod edit;
pub mod graph;
pub mod guard;
pub mod merge;
pub mod render;
pub mod stopwatch;
