//! Renders documents that are laid over each other, says which text wrote each value, and compares
//! two renderings.
//!
//! A [`graph`] has one recipe for each document: the document it is laid over, and the steps that
//! make it. [`render`] follows the recipes, in parallel. No word of a system's documents is known
//! here but how they are merged ([`merge`]), and nothing of rules or reports.
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
//! - [`guard`]: what a fault of layercake itself costs
//! - [`stopwatch`]: what the threads of a run spend on which stage of it
//! - [`merge`]: one node laid over another, and from where each value of the result came
//! - [`graph`]: recipes, what they need, waves, cycles
//! - [`edit`]: what was edited, as values and places
//! - [`render`]: from recipes to documents, and from a value back to its texts
//! - [`compare`]: which outputs changed, because of which edits, and what stopped the others

pub mod compare;
pub mod edit;
pub mod graph;
pub mod guard;
pub mod merge;
pub mod render;
pub mod stopwatch;
