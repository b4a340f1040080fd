//! cloud-init: parts of configuration, each merged with those before it
//! (`cloud-init.md`), lowered to a [`Graph`].
//!
//! A [`Set`] is what one machine is given: parts of user-data and vendor-data,
//! files of `conf.d` and `cloud.cfg`. Each part is a document of the graph;
//! what is merged of some of them is another, which begins empty and lays one
//! after the other over what there is. The last of these is the output.

pub mod part;
pub mod read;
mod revision;

use std::sync::Arc;

use self::part::{Kind, Part};
use self::read::UserData;
use crate::graph::{DocId, Graph, Lay, Need, Op, Recipe, Step};
use crate::merge::Strategy;
use crate::merge::cloud_init::{Default, Dialect, Incoming, Laying, stack, stack_of_many};
use crate::source::{DocKey, Span};
use crate::yaml::{Mapping, Node, Value};

/// The schema by which outputs are asked for.
pub const OUTPUT: &str = "cloud-config";

/// The schema of parts.
pub const PART: &str = "cloud-config/part";

/// What one machine is given, and how it is merged.
#[derive(Clone, Debug)]
pub struct Set<'a> {
    /// What the output is called.
    pub name: Arc<str>,
    /// Where it is declared, or the first of its parts.
    pub at: Span,
    /// By which rules it is merged.
    pub dialect: Dialect,
    /// What it is made of, the sources that count most first.
    pub sources: Vec<Source<'a>>,
}

/// One of the sources of a set.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// Which.
    pub kind: SourceKind,
    /// What each of its files holds, in the order in which cloud-init comes to
    /// them.
    pub files: Vec<Given<'a>>,
}

/// What one file gives cloud-init.
#[derive(Clone, Debug)]
pub struct Given<'a> {
    /// Its parts that are used.
    pub parts: Vec<&'a Part>,
    /// All that was read of it; none where some of it is not as it is written.
    pub read: Option<&'a UserData>,
}

impl<'a> Source<'a> {
    /// Its parts, in order.
    pub fn parts(&self) -> impl Iterator<Item = &'a Part> {
        self.files.iter().flat_map(|file| &file.parts).copied()
    }
}

/// Where configuration comes from; those that count most first
/// (`cloud-init.md` 7 and 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceKind {
    /// User-data: each part is merged into those before it.
    UserData,
    /// The second vendor-data.
    VendorData2,
    /// Vendor-data.
    VendorData,
    /// The files of a folder `conf.d`: the last name counts most.
    ConfD,
    /// `cloud.cfg`.
    Base,
}

impl SourceKind {
    /// What reports call it.
    pub fn as_str(self) -> &'static str {
        match self {
            SourceKind::UserData => "user-data",
            SourceKind::VendorData2 => "vendor-data2",
            SourceKind::VendorData => "vendor-data",
            SourceKind::ConfD => "conf.d",
            SourceKind::Base => "cloud.cfg",
        }
    }

    /// Whether its parts are read as user-data, or else are configurations of
    /// falling priority.
    pub fn is_user_data(self) -> bool {
        match self {
            SourceKind::UserData | SourceKind::VendorData2 | SourceKind::VendorData => true,
            SourceKind::ConfD | SourceKind::Base => false,
        }
    }
}

/// The sets of a site, and which documents of its graph are theirs.
#[derive(Debug, std::default::Default)]
pub struct Sets<'a> {
    /// The sets, in the order in which they are declared.
    pub sets: Vec<Set<'a>>,
    /// The document from which on all are of sets.
    first: usize,
    members: Vec<Member<'a>>,
}

/// A document of a set.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// Which of the sets.
    pub set: usize,
    /// The part that it is; none for what is merged of some.
    pub part: Option<&'a Part>,
}

impl<'a> Sets<'a> {
    /// Lowers `sets` to documents behind those that `graph` has.
    pub fn add_to(sets: Vec<Set<'a>>, graph: &mut Graph) -> Self {
        let first = graph.recipes.len();
        let mut lowering = Lowering { recipes: &mut graph.recipes, members: Vec::new() };
        for (index, set) in sets.iter().enumerate() {
            lowering.add(index, set);
        }
        let members = lowering.members;
        Self { sets, first, members }
    }

    /// What a document of the graph is to the sets; none where it is of another
    /// system.
    pub fn member(&self, doc: DocId) -> Option<Member<'a>> {
        self.members.get(doc.index().checked_sub(self.first)?).copied()
    }

    /// The document of each member.
    pub fn iter(&self) -> impl Iterator<Item = (DocId, Member<'a>)> {
        let members = self.members.iter().enumerate();
        members.map(|(index, member)| (DocId::at(self.first + index), *member))
    }
}

struct Lowering<'g, 'a> {
    recipes: &'g mut Vec<Recipe>,
    members: Vec<Member<'a>>,
}

/// What is laid over what there is, and how.
struct Layer {
    doc: DocId,
    strategy: Strategy,
    /// The text that says how, or the document.
    at: Span,
}

impl<'a> Lowering<'_, 'a> {
    /// Adds the documents of a set; the last is its output.
    fn add(&mut self, index: usize, set: &Set<'a>) {
        let sources: Vec<(SourceKind, DocId, Span)> = set
            .sources
            .iter()
            .map(|source| (source.kind, self.add_source(index, set, source), at_of(set, source)))
            .collect();
        // `conf.d` and `cloud.cfg` are one configuration before user-data is
        // laid beside it (section 7).
        let is_system = |kind: SourceKind| !kind.is_user_data();
        let (system, mut all): (Vec<_>, Vec<_>) =
            sources.into_iter().partition(|(kind, ..)| is_system(*kind));
        all.extend(match &system[..] {
            [] => None,
            [only] => Some(*only),
            [first, ..] => {
                Some((SourceKind::Base, self.add_merged(index, set, "system", &system), first.2))
            }
        });
        if all.len() > 1 {
            self.add_merged(index, set, "", &all);
        }
        let output = self.recipes.last_mut().expect("a set has a source");
        output.emit = true;
        output.key = key(OUTPUT, &set.name);
    }

    fn add_source(&mut self, index: usize, set: &Set<'a>, source: &Source<'a>) -> DocId {
        let merged: Vec<&Part> = source.parts().filter(|part| part.is_merged()).collect();
        let layings = layings(set.dialect, source.kind, &merged);
        let layers: Vec<Layer> = merged
            .into_iter()
            .zip(layings)
            .filter_map(|(part, laying)| {
                let doc = self.add_part(index, part);
                let strategy = match &part.kind {
                    Kind::JsonPatch(patch) => Strategy::JsonPatch(patch.clone()?),
                    Kind::CloudConfig | Kind::Template | Kind::Other(_) => {
                        Strategy::CloudInit(laying)
                    }
                };
                let usable = !part.data.is_null();
                let at = part.specification().unwrap_or(part.at);
                usable.then_some(Layer { doc, strategy, at })
            })
            .collect();
        // Without any part nothing is written; with some, at least `{}`.
        let is_nothing = source.kind.is_user_data() && source.parts().next().is_none();
        self.add_layers(index, set, source.kind.as_str(), layers, is_nothing)
    }

    fn add_part(&mut self, set: usize, part: &'a Part) -> DocId {
        self.push(
            Member { set, part: Some(part) },
            Recipe {
                key: part.key.clone(),
                span: part.span,
                data: part.data.clone(),
                base: None,
                replaces: None,
                needs: Vec::new(),
                steps: Vec::new(),
                emit: false,
            },
        )
    }

    /// Sources laid below each other, the first on top.
    fn add_merged(
        &mut self,
        index: usize,
        set: &Set<'a>,
        name: &str,
        sources: &[(SourceKind, DocId, Span)],
    ) -> DocId {
        // What the sources hold is not known before they are merged: of 2013 it
        // is the default that holds.
        let unknown = Node::made(Value::Null, set.at);
        let layings = match set.dialect {
            Dialect::Current => {
                vec![Laying::Current { header: None, default: Default::Many }; sources.len()]
            }
            Dialect::Documented => stack_of_many(sources.iter().map(|_| &unknown)),
        };
        let layers = sources
            .iter()
            .zip(layings)
            .map(|((_, doc, at), laying)| Layer {
                doc: *doc,
                strategy: Strategy::CloudInit(laying),
                at: *at,
            })
            .collect();
        self.add_layers(index, set, name, layers, false)
    }

    fn add_layers(
        &mut self,
        index: usize,
        set: &Set<'a>,
        name: &str,
        layers: Vec<Layer>,
        is_nothing: bool,
    ) -> DocId {
        let empty = Value::Mapping(Arc::new(Mapping::new()));
        let start = if is_nothing { Value::Null } else { empty };
        let needs = layers.iter().map(|layer| Need { doc: layer.doc, at: layer.at }).collect();
        let steps = layers.into_iter().map(|layer| Step {
            op: Op::Lay(Lay { source: layer.doc, strategy: layer.strategy }),
            at: layer.at,
        });
        self.push(
            Member { set: index, part: None },
            Recipe {
                key: key(&format!("{OUTPUT}/{name}"), &set.name),
                span: set.at,
                data: Node::made(start, set.at),
                base: None,
                replaces: None,
                needs,
                steps: steps.collect(),
                emit: false,
            },
        )
    }

    fn push(&mut self, member: Member<'a>, recipe: Recipe) -> DocId {
        let doc = DocId::at(self.recipes.len());
        self.recipes.push(recipe);
        self.members.push(member);
        doc
    }
}

fn key(schema: &str, name: &Arc<str>) -> DocKey {
    DocKey { schema: schema.into(), layer: "".into(), name: name.clone() }
}

fn at_of(set: &Set<'_>, source: &Source<'_>) -> Span {
    source.parts().next().map_or(set.at, |part| part.at)
}

/// How each part of a source is laid.
fn layings(dialect: Dialect, kind: SourceKind, parts: &[&Part]) -> Vec<Laying> {
    match (dialect, kind.is_user_data()) {
        (Dialect::Current, is_user_data) => {
            let default = if is_user_data { Default::UserData } else { Default::Many };
            let laying = |part: &&Part| Laying::Current { header: part.header.clone(), default };
            parts.iter().map(laying).collect()
        }
        (Dialect::Documented, true) => {
            let parts = parts.iter();
            stack(parts.map(|part| Incoming { data: &part.data, header: part.header.as_ref() }))
        }
        (Dialect::Documented, false) => stack_of_many(parts.iter().map(|part| &part.data)),
    }
}
pub mod schema;
