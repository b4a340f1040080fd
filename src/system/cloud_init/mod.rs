//! cloud-init: parts of configuration, each merged with those before it
//! (`cloud-init.md`), lowered to a [`Graph`].
//!
//! A [`Set`] is what one machine is given: parts of user-data and vendor-data,
//! files of `conf.d` and `cloud.cfg`. Each part is a document of the graph;
//! what is merged of some of them is another, which begins empty and lays one
//! after the other over what there is. The last of these is the output.

pub mod declared;
pub mod part;
pub mod read;
mod revision;
pub mod schema;
mod vendor;

use std::sync::Arc;

use self::part::{CloudPart, PartKind};
use self::read::UserData;
use crate::graph::{Act, DocId, Graph, Instruction, Need, Recipe, Steps};
use crate::merge::Strategy;
use crate::merge::cloud_init::{Default, Dialect, Incoming, Laying, stack, stack_of_many};
use crate::source::{DocKey, Span};
use crate::yaml::{Mapping, Node, Value};

pub(crate) use self::vendor::UnusedVendorData;

/// The schema by which outputs are asked for.
pub const OUTPUT: &str = "cloud-config";

/// The schema of parts.
pub const PART: &str = "cloud-config/part";

/// The parts given to one machine, and how they are merged.
#[derive(Clone, Debug)]
pub struct Set<'a> {
    /// Name of the output.
    pub name: Arc<str>,
    /// Where it is declared, or the first of its parts.
    pub at: Span,
    /// The dialect in which it is merged.
    pub dialect: Dialect,
    /// Whether neither the configuration nor a flag chooses these rules.
    pub is_undecided: bool,
    /// Its sources, the most important first.
    pub sources: Vec<PartSource<'a>>,
}

/// One of the sources of a set.
#[derive(Clone, Debug)]
pub struct PartSource<'a> {
    /// Its kind.
    pub kind: SourceKind,
    /// The contents of its files, in the order in which cloud-init reads them.
    pub files: Vec<GivenFile<'a>>,
}

/// The parts that one file gives cloud-init.
#[derive(Clone, Debug)]
pub struct GivenFile<'a> {
    /// Its beginning.
    pub at: Span,
    /// Its parts that are used.
    pub parts: Vec<&'a CloudPart>,
    /// All that was read of it; none where some of it is not as it is written.
    pub read: Option<&'a UserData>,
}

impl<'a> PartSource<'a> {
    /// Its parts, in order.
    pub fn parts(&self) -> impl Iterator<Item = &'a CloudPart> {
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

/// The setting of the folder `conf.d` in `cloud.cfg`, by its key `conf_d` (`cloud-init.md` 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfD {
    /// Its files are read: those of `cloud.cfg.d`, or of the folder it names.
    Read,
    /// Nothing is read: the value that says so is empty.
    Off(Span),
    /// The value is no text: cloud-init ends. What it is instead.
    NoText(Span, &'static str),
}

impl SourceKind {
    /// Its name in reports.
    pub(crate) fn as_str(self) -> &'static str {
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
    pub(crate) fn is_user_data(self) -> bool {
        match self {
            SourceKind::UserData | SourceKind::VendorData2 | SourceKind::VendorData => true,
            SourceKind::ConfD | SourceKind::Base => false,
        }
    }
}

impl<'a> Set<'a> {
    /// The setting of the folder `conf.d` in the `cloud.cfg` of the set.
    pub fn conf_d(&self) -> ConfD {
        let base = self.sources.iter().find(|source| source.kind == SourceKind::Base);
        let setting = base.and_then(|base| base.parts().next()?.data.get("conf_d"));
        let Some(setting) = setting else { return ConfD::Read };
        match &setting.value {
            value if value.is_falsy() => ConfD::Off(setting.span),
            Value::String(_) => ConfD::Read,
            value => ConfD::NoText(setting.span, value.kind()),
        }
    }

    /// The merge rules of the first documentation for each part.
    pub(crate) fn as_documented(&self) -> Vec<(&'a CloudPart, Laying)> {
        let of_source = |source: &PartSource<'a>| {
            let parts: Vec<&CloudPart> = source.parts().filter(|part| part.is_merged()).collect();
            let layings = layings(Dialect::Documented, source.kind, &parts);
            parts.into_iter().zip(layings).collect::<Vec<_>>()
        };
        self.sources.iter().flat_map(of_source).collect()
    }

    /// The sources that are there, and that cloud-init reads.
    pub(crate) fn read_sources(&self) -> impl Iterator<Item = &PartSource<'a>> {
        let reads_conf_d = self.conf_d() == ConfD::Read;
        let is_read = move |it: &&PartSource<'a>| {
            !it.files.is_empty() && (reads_conf_d || it.kind != SourceKind::ConfD)
        };
        self.sources.iter().filter(is_read)
    }
}

/// The sets of a site, and which documents of its graph are theirs.
#[derive(Debug, std::default::Default)]
pub struct Sets<'a> {
    /// The sets, in the order in which they are declared.
    pub sets: Vec<Set<'a>>,
    /// The sources that cloud-init does not use, each with the set it is of.
    pub(crate) unused: Vec<(usize, UnusedVendorData)>,
    /// The document from which on all are of sets.
    first: usize,
    members: Vec<SetMember<'a>>,
}

/// A document of a set.
#[derive(Clone, Copy, Debug)]
pub struct SetMember<'a> {
    /// Index of the set.
    pub(crate) set: usize,
    /// The part that it is; none for what is merged of some.
    pub part: Option<&'a CloudPart>,
    /// The source that it is, or that it is a part of; none where several
    /// sources are combined.
    pub source: Option<SourceKind>,
}

impl<'a> Sets<'a> {
    /// Lowers `sets` to documents behind those that `graph` has.
    pub fn add_to(sets: Vec<Set<'a>>, graph: &mut Graph) -> Self {
        let first = graph.recipes.len();
        let mut lowering = Lowering { first, recipes: Vec::new(), members: Vec::new() };
        let mut unused = Vec::new();
        for (index, set) in sets.iter().enumerate() {
            let of_set = vendor::unused(set);
            lowering.add(index, set, &of_set);
            unused.extend(of_set.into_iter().map(|it| (index, it)));
        }
        let Lowering { recipes, members, .. } = lowering;
        graph.recipes.extend(recipes.into_iter().map(Arc::new));
        Self { sets, unused, first, members }
    }

    /// The role of a document of the graph in the sets; none where it is of another system.
    pub fn member(&self, doc: DocId) -> Option<SetMember<'a>> {
        self.members.get(doc.index().checked_sub(self.first)?).copied()
    }

    /// The document of each member.
    pub fn iter(&self) -> impl Iterator<Item = (DocId, SetMember<'a>)> {
        let members = self.members.iter().enumerate();
        members.map(|(index, member)| (DocId::at(self.first + index), *member))
    }
}

struct Lowering<'a> {
    /// Number of documents before it in the graph.
    first: usize,
    recipes: Vec<Recipe>,
    members: Vec<SetMember<'a>>,
}

/// A document to merge into the present result, and how.
struct Layer {
    doc: DocId,
    strategy: Strategy,
    /// The text that says how, or the document.
    at: Span,
}

/// A source that was merged, to be laid below those before it.
#[derive(Clone, Copy)]
struct LowerSource {
    doc: DocId,
    /// The text to report for it.
    at: Span,
}

impl<'a> Lowering<'a> {
    /// Adds the documents of a set; the last is its output. What is `unused` is
    /// merged by itself, and laid over nothing.
    fn add(&mut self, index: usize, set: &Set<'a>, unused: &[UnusedVendorData]) {
        let (user_data, system): (Vec<_>, Vec<_>) =
            set.read_sources().partition(|source| source.kind.is_user_data());
        let mut all = Vec::new();
        for source in user_data {
            let below = self.add_source(index, set, source);
            let is_used = !unused.iter().any(|it| it.source == source.kind);
            all.extend(is_used.then_some(below));
        }
        // `conf.d` and `cloud.cfg` are one configuration before user-data is
        // laid beside it (section 7).
        all.extend(self.add_system(index, set, &system));
        if all.len() > 1 || !unused.is_empty() {
            let member = SetMember { set: index, part: None, source: None };
            self.add_layers(member, set, "", combined(set, &all), false);
        }
        let output = self.recipes.last_mut().expect("a set has a source");
        output.emit = true;
        output.key = key(OUTPUT, &set.name);
    }

    /// The system's configuration. Where a key says how it is merged after all that, cloud-init
    /// reads it once more when it lays its defaults below (`stages.py`, `fetch_base_config`).
    fn add_system(
        &mut self,
        index: usize,
        set: &Set<'a>,
        sources: &[&PartSource<'a>],
    ) -> Option<LowerSource> {
        let read = self.add_read_system(index, set, sources)?;
        if !leaks_merge_type(set.dialect, sources) {
            return Some(read);
        }
        let member = SetMember { set: index, part: None, source: None };
        let doc = self.add_layers(member, set, "system/completed", combined(set, &[read]), false);
        Some(LowerSource { doc, at: read.at })
    }

    /// `cloud.cfg` laid below what the files of `conf.d` make, by what it says of that itself.
    fn add_read_system(
        &mut self,
        index: usize,
        set: &Set<'a>,
        sources: &[&PartSource<'a>],
    ) -> Option<LowerSource> {
        match sources {
            [] => None,
            [only] => Some(self.add_source(index, set, only)),
            [above, rest @ ..] => {
                let above = self.add_source(index, set, above);
                let mut layers = combined(set, &[above]);
                for source in rest {
                    layers.extend(self.layers(index, set, source));
                }
                let member = SetMember { set: index, part: None, source: Some(SourceKind::Base) };
                let doc = self.add_layers(member, set, "system", layers, false);
                Some(LowerSource { doc, at: above.at })
            }
        }
    }

    fn add_source(&mut self, index: usize, set: &Set<'a>, source: &PartSource<'a>) -> LowerSource {
        let layers = self.layers(index, set, source);
        // Without anything to merge nothing is written; with something, at
        // least `{}`.
        let is_nothing = source.kind.is_user_data() && !source.parts().any(CloudPart::is_merged);
        let member = SetMember { set: index, part: None, source: Some(source.kind) };
        let doc = self.add_layers(member, set, source.kind.as_str(), layers, is_nothing);
        LowerSource { doc, at: at_of(set, source) }
    }

    /// The parts of a source, as they are laid.
    fn layers(&mut self, index: usize, set: &Set<'a>, source: &PartSource<'a>) -> Vec<Layer> {
        let layers = steps(set.dialect, source).into_iter().filter_map(|(part, strategy)| {
            let doc = self.add_part(index, source.kind, part);
            let usable = !part.data.is_null();
            let at = part.specification().unwrap_or(part.at);
            let strategy = strategy.filter(|_| usable)?;
            Some(Layer { doc, strategy, at })
        });
        layers.collect()
    }

    fn add_part(&mut self, set: usize, source: SourceKind, part: &'a CloudPart) -> DocId {
        self.push(
            SetMember { set, part: Some(part), source: Some(source) },
            Recipe {
                key: part.key.clone(),
                span: part.span,
                data: part.data.clone(),
                base: None,
                replaces: None,
                needs: Vec::new(),
                steps: Steps::default(),
                emit: false,
            },
        )
    }

    fn add_layers(
        &mut self,
        member: SetMember<'a>,
        set: &Set<'a>,
        name: &str,
        layers: Vec<Layer>,
        is_nothing: bool,
    ) -> DocId {
        let empty = Value::Mapping(Arc::new(Mapping::new()));
        let start = if is_nothing { Value::Null } else { empty };
        let needs = layers.iter().map(|layer| Need { doc: layer.doc, at: layer.at }).collect();
        let sources = layers.iter().map(|layer| Some(layer.doc)).collect();
        let layers = layers.into_iter();
        let instructions = layers
            .map(|layer| Instruction { act: Act::Lay(Box::new(layer.strategy)), at: layer.at });
        self.push(
            member,
            Recipe {
                key: key(&format!("{OUTPUT}/{name}"), &set.name),
                span: set.at,
                data: Node::made(start, set.at),
                base: None,
                replaces: None,
                needs,
                steps: Steps::new(instructions.collect(), sources),
                emit: false,
            },
        )
    }

    fn push(&mut self, member: SetMember<'a>, recipe: Recipe) -> DocId {
        let doc = DocId::at(self.first + self.recipes.len());
        self.recipes.push(recipe);
        self.members.push(member);
        doc
    }
}

/// Whether `merge_type` stays in what is merged of some sources.
fn leaks_merge_type(dialect: Dialect, sources: &[&PartSource<'_>]) -> bool {
    match dialect {
        Dialect::Current => {
            let mut parts = sources.iter().flat_map(|source| source.parts());
            parts.any(|part| part.leaked_merge_type().is_some())
        }
        // Nothing is taken out there.
        Dialect::Documented => false,
    }
}

/// Whole sources laid below each other, the first on top.
fn combined(set: &Set<'_>, sources: &[LowerSource]) -> Vec<Layer> {
    let layer = |(source, laying): (&LowerSource, Laying)| Layer {
        doc: source.doc,
        strategy: Strategy::CloudInit(laying),
        at: source.at,
    };
    sources.iter().zip(layings_of_sources(set, sources.len())).map(layer).collect()
}

fn key(schema: &str, name: &Arc<str>) -> DocKey {
    DocKey::new(schema, Arc::default(), name.clone())
}

fn at_of(set: &Set<'_>, source: &PartSource<'_>) -> Span {
    source.parts().next().map_or(set.at, |part| part.at)
}

/// The merge rules for each of several sources.
fn layings_of_sources(set: &Set<'_>, count: usize) -> Vec<Laying> {
    match set.dialect {
        Dialect::Current => vec![Laying::Current { header: None, default: Default::Many }; count],
        Dialect::Documented => {
            // What the sources hold is not known before they are merged: of
            // 2013 it is the default that holds.
            let unknown = Node::made(Value::Null, set.at);
            stack_of_many(std::iter::repeat_n(&unknown, count))
        }
    }
}

/// The parts of a source that are merged, and by what each is laid over those
/// before it; none for a patch that cannot be read.
fn steps<'a>(dialect: Dialect, source: &PartSource<'a>) -> Vec<(&'a CloudPart, Option<Strategy>)> {
    let parts: Vec<&CloudPart> = source.parts().filter(|part| part.is_merged()).collect();
    let layings = layings(dialect, source.kind, &parts);
    let steps = parts.into_iter().zip(layings).map(|(part, laying)| {
        let strategy = match &part.kind {
            PartKind::JsonPatch(patch) => patch.clone().map(Strategy::JsonPatch),
            PartKind::CloudConfig | PartKind::Template | PartKind::Other(_) => {
                Some(Strategy::CloudInit(laying))
            }
        };
        (part, strategy)
    });
    steps.collect()
}

/// The merge rules for each part of a source.
fn layings(dialect: Dialect, kind: SourceKind, parts: &[&CloudPart]) -> Vec<Laying> {
    match (dialect, kind.is_user_data()) {
        (Dialect::Current, is_user_data) => {
            let default = if is_user_data { Default::UserData } else { Default::Many };
            let laying =
                |part: &&CloudPart| Laying::Current { header: part.header.clone(), default };
            parts.iter().map(laying).collect()
        }
        (Dialect::Documented, true) => {
            let parts = parts.iter();
            stack(parts.map(|part| Incoming { data: &part.data, header: part.header.as_ref() }))
        }
        (Dialect::Documented, false) => stack_of_many(parts.iter().map(|part| &part.data)),
    }
}
