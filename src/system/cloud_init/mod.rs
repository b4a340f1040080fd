//! cloud-init: parts of configuration, each merged into those before it (`cloud-init.md`), lowered
//! to a [`Graph`].
//!
//! A [`Set`] is the configuration of one machine: parts of user-data and vendor-data, files of
//! `conf.d`, and `cloud.cfg`. Each part is a document of the graph. Each merge result is another
//! document, which starts empty and merges its inputs one after the other. The last of these is the
//! output.

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
use crate::merge::cloud_init::{Default, Dialect, Incoming, MergeRules, stack, stack_of_many};
use crate::source::{DocKey, Span};
use crate::yaml::{Mapping, Node, Value};

pub(crate) use self::vendor::{DisabledPart, UnusedVendorData, WhyUnused};

/// Schema of outputs.
pub const OUTPUT: &str = "cloud-config";

/// The schema of parts.
pub const PART: &str = "cloud-config/part";

/// The parts given to one machine, and how they are merged.
#[derive(Clone, Debug)]
pub struct Set<'a> {
    /// Name of the output.
    pub name: Arc<str>,
    /// Location of its declaration, or of the first of its parts.
    pub at: Span,
    /// Dialect of the merge rules.
    pub dialect: Dialect,
    /// Whether the dialect is a default that neither the configuration nor a flag chose.
    pub is_undecided: bool,
    /// Sources of the set, highest priority first.
    pub sources: Vec<PartSource<'a>>,
}

/// A source of a set.
#[derive(Clone, Debug)]
pub struct PartSource<'a> {
    /// Kind of the source.
    pub kind: SourceKind,
    /// The contents of its files, in the order in which cloud-init reads them.
    pub files: Vec<GivenFile<'a>>,
}

/// The parts in one file.
#[derive(Clone, Debug)]
pub struct GivenFile<'a> {
    /// Start of the file.
    pub at: Span,
    /// Parts of the file that are used.
    pub parts: Vec<&'a CloudPart>,
    /// Everything read from the file; `None` if some of it was revised.
    pub read: Option<&'a UserData>,
}

impl<'a> PartSource<'a> {
    /// Returns the parts in order.
    pub fn parts(&self) -> impl Iterator<Item = &'a CloudPart> {
        self.files.iter().flat_map(|file| &file.parts).copied()
    }
}

/// Origin of configuration, highest priority first (`cloud-init.md` 7 and 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceKind {
    /// User-data: each part is merged into those before it.
    UserData,
    /// The second vendor-data.
    VendorData2,
    /// Vendor-data.
    VendorData,
    /// The files of a folder `conf.d`: the last name has the highest priority.
    ConfD,
    /// `cloud.cfg`.
    Base,
}

/// The `conf_d` setting in `cloud.cfg`, which names the folder `conf.d` (`cloud-init.md` 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfD {
    /// Files are read from `cloud.cfg.d` or the folder named by the setting.
    Read,
    /// No file is read, because the value is empty.
    Off(Span),
    /// The value is not a string, so cloud-init fails. Has the kind of the value.
    NoText(Span, &'static str),
}

impl SourceKind {
    /// Name in reports.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            SourceKind::UserData => "user-data",
            SourceKind::VendorData2 => "vendor-data2",
            SourceKind::VendorData => "vendor-data",
            SourceKind::ConfD => "conf.d",
            SourceKind::Base => "cloud.cfg",
        }
    }

    /// Whether its parts are read as user-data rather than as configurations of descending
    /// priority.
    pub(crate) fn is_user_data(self) -> bool {
        match self {
            SourceKind::UserData | SourceKind::VendorData2 | SourceKind::VendorData => true,
            SourceKind::ConfD | SourceKind::Base => false,
        }
    }
}

impl<'a> Set<'a> {
    /// The `conf_d` setting in the set's `cloud.cfg`.
    pub fn conf_d(&self) -> ConfD {
        let base = self
            .sources
            .iter()
            .find(|source| source.kind == SourceKind::Base);
        let setting = base.and_then(|base| base.parts().next()?.data.get("conf_d"));
        let Some(setting) = setting else {
            return ConfD::Read;
        };
        match &setting.value {
            value if value.is_falsy() => ConfD::Off(setting.span),
            Value::String(_) => ConfD::Read,
            value => ConfD::NoText(setting.span, value.kind()),
        }
    }

    /// Removes the parts after one at which cloud-init fails (`stages.py`, `consume_data`), except in
    /// sources that it does not use.
    fn stop_at_failure(&mut self, unused: &[UnusedVendorData]) {
        let mut has_failed = false;
        for kind in [
            SourceKind::UserData,
            SourceKind::VendorData,
            SourceKind::VendorData2,
        ] {
            if unused.iter().any(|it| it.source == kind) {
                continue;
            }
            let sources = self.sources.iter_mut().filter(|source| source.kind == kind);
            for file in sources.flat_map(|source| &mut source.files) {
                if has_failed {
                    file.parts.clear();
                } else if let Some(at) = file.parts.iter().position(|part| part.is_fatal()) {
                    file.parts.truncate(at + 1);
                    has_failed = true;
                }
            }
        }
    }

    /// Sources that have files and are read by cloud-init.
    pub(crate) fn read_sources(&self) -> impl Iterator<Item = &PartSource<'a>> {
        let reads_conf_d = self.conf_d() == ConfD::Read;
        self.sources.iter().filter(move |source| {
            !source.files.is_empty() && (reads_conf_d || source.kind != SourceKind::ConfD)
        })
    }
}

/// The sets of a site, and their documents in its graph.
#[derive(Debug, std::default::Default)]
pub struct Sets<'a> {
    /// The sets, in the order of their declarations.
    pub sets: Vec<Set<'a>>,
    /// Sources that cloud-init does not use, each with the index of its set.
    pub(crate) unused: Vec<(usize, UnusedVendorData)>,
    /// Parts that cloud-init passes over, each with the index of its set.
    pub(crate) disabled: Vec<(usize, DisabledPart<'a>)>,
    /// Index of the first document of a set; all later documents belong to sets.
    first: usize,
    members: Vec<SetMember<'a>>,
}

/// A document of a set.
#[derive(Clone, Copy, Debug)]
pub struct SetMember<'a> {
    /// Index of the set.
    pub(crate) set: usize,
    /// The part; `None` for a merge result.
    pub part: Option<&'a CloudPart>,
    /// Source of the part or merge result; `None` for a combination of several sources.
    pub source: Option<SourceKind>,
}

impl<'a> Sets<'a> {
    /// Lowers `sets` to documents appended to `graph`.
    pub fn add_to(mut sets: Vec<Set<'a>>, graph: &mut Graph) -> Self {
        let first = graph.recipes.len();
        let mut lowering = Lowering {
            first,
            recipes: Vec::new(),
            members: Vec::new(),
        };
        let mut unused = Vec::new();
        let mut disabled = Vec::new();
        for (index, set) in sets.iter_mut().enumerate() {
            let left_out = vendor::leave_out(set);
            set.stop_at_failure(&left_out.sources);
            lowering.add(index, set, &left_out.sources);
            unused.extend(left_out.sources.into_iter().map(|it| (index, it)));
            disabled.extend(left_out.parts.into_iter().map(|it| (index, it)));
        }
        let Lowering {
            recipes, members, ..
        } = lowering;
        graph.recipes.extend(recipes.into_iter().map(Arc::new));
        Self {
            sets,
            unused,
            disabled,
            first,
            members,
        }
    }

    /// Role of a document in the sets; `None` for documents of another system.
    pub fn member(&self, doc: DocId) -> Option<SetMember<'a>> {
        self.members
            .get(doc.index().checked_sub(self.first)?)
            .copied()
    }

    /// Iterates over the members with their documents.
    pub fn iter(&self) -> impl Iterator<Item = (DocId, SetMember<'a>)> {
        let members = self.members.iter().enumerate();
        members.map(|(index, member)| (DocId::at(self.first + index), *member))
    }
}

struct Lowering<'a> {
    /// Number of documents already in the graph.
    first: usize,
    recipes: Vec<Recipe>,
    members: Vec<SetMember<'a>>,
}

/// A document to merge into the current result, and its merge strategy.
struct Layer {
    doc: DocId,
    strategy: Strategy,
    /// Span of the merge specification, or of the document.
    at: Span,
}

/// A merged source, to be combined with those of higher priority.
#[derive(Clone, Copy)]
struct LowerSource {
    doc: DocId,
    /// Span to report for the source.
    at: Span,
}

impl<'a> Lowering<'a> {
    /// Adds the documents of a set; the last is its output. Sources in `unused` are merged on their
    /// own, but not into the output.
    fn add(&mut self, index: usize, set: &Set<'a>, unused: &[UnusedVendorData]) {
        let (user_data, system): (Vec<_>, Vec<_>) = set
            .read_sources()
            .partition(|source| source.kind.is_user_data());
        let mut all = Vec::new();
        for source in user_data {
            let below = self.add_source(index, set, source);
            let is_used = !unused.iter().any(|it| it.source == source.kind);
            all.extend(is_used.then_some(below));
        }
        // `conf.d` and `cloud.cfg` are merged before they are combined with user-data (section 7).
        all.extend(self.add_system(index, set, &system));
        if all.len() > 1 || !unused.is_empty() {
            let member = SetMember {
                set: index,
                part: None,
                source: None,
            };
            self.add_layers(member, set, "", combined(set, &all), false);
        }
        let output = self.recipes.last_mut().expect("a set has a source");
        output.emit = true;
        output.key = key(OUTPUT, &set.name);
    }

    /// Adds the system configuration. If a key still specifies a merge type after the merge,
    /// cloud-init applies it once more when it adds its defaults (`stages.py`,
    /// `fetch_base_config`).
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
        let member = SetMember {
            set: index,
            part: None,
            source: None,
        };
        let doc = self.add_layers(
            member,
            set,
            "system/completed",
            combined(set, &[read]),
            false,
        );
        Some(LowerSource { doc, at: read.at })
    }

    /// Merges `cloud.cfg` into the result of `conf.d`, by the merge specification of `cloud.cfg`
    /// itself.
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
                let member = SetMember {
                    set: index,
                    part: None,
                    source: Some(SourceKind::Base),
                };
                let doc = self.add_layers(member, set, "system", layers, false);
                Some(LowerSource { doc, at: above.at })
            }
        }
    }

    fn add_source(&mut self, index: usize, set: &Set<'a>, source: &PartSource<'a>) -> LowerSource {
        let layers = self.layers(index, set, source);
        // cloud-init writes nothing if there is nothing to merge, otherwise at least `{}`.
        let is_nothing = source.kind.is_user_data() && !source.parts().any(CloudPart::is_merged);
        let member = SetMember {
            set: index,
            part: None,
            source: Some(source.kind),
        };
        let doc = self.add_layers(member, set, source.kind.as_str(), layers, is_nothing);
        LowerSource {
            doc,
            at: span_of(set, source),
        }
    }

    /// Adds the parts of a source, and returns the layers to merge.
    fn layers(&mut self, index: usize, set: &Set<'a>, source: &PartSource<'a>) -> Vec<Layer> {
        steps(set.dialect, source)
            .into_iter()
            .filter_map(|(part, strategy)| {
                let doc = self.add_part(index, source.kind, part);
                let usable = !part.data.is_null();
                let at = part.specification().unwrap_or(part.at);
                let strategy = strategy.filter(|_| usable)?;
                Some(Layer { doc, strategy, at })
            })
            .collect()
    }

    fn add_part(&mut self, set: usize, source: SourceKind, part: &'a CloudPart) -> DocId {
        self.push(
            SetMember {
                set,
                part: Some(part),
                source: Some(source),
            },
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
        let needs = layers
            .iter()
            .map(|layer| Need {
                doc: layer.doc,
                at: layer.at,
            })
            .collect();
        let sources = layers.iter().map(|layer| Some(layer.doc)).collect();
        let layers = layers.into_iter();
        let instructions = layers.map(|layer| Instruction {
            act: Act::Combine(Box::new(layer.strategy)),
            at: layer.at,
        });
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

/// Whether `merge_type` remains in the merge result of these sources.
fn leaks_merge_type(dialect: Dialect, sources: &[&PartSource<'_>]) -> bool {
    match dialect {
        Dialect::Current => {
            let mut parts = sources.iter().flat_map(|source| source.parts());
            parts.any(|part| part.leaked_merge_type().is_some())
        }
        // This dialect never removes the key.
        Dialect::Documented => false,
    }
}

/// Layers that combine whole sources, highest priority first.
fn combined(set: &Set<'_>, sources: &[LowerSource]) -> Vec<Layer> {
    sources
        .iter()
        .zip(rules_of_sources(set, sources.len()))
        .map(|(source, rules)| Layer {
            doc: source.doc,
            strategy: Strategy::CloudInit(rules),
            at: source.at,
        })
        .collect()
}

fn key(schema: &str, name: &Arc<str>) -> DocKey {
    DocKey::new(schema, Arc::default(), name.clone())
}

fn span_of(set: &Set<'_>, source: &PartSource<'_>) -> Span {
    source.parts().next().map_or(set.at, |part| part.at)
}

/// Merge rules for each of several sources. Everything that combines sources takes its rules from
/// here; cloud-init has no setting for them.
fn rules_of_sources(set: &Set<'_>, count: usize) -> Vec<MergeRules> {
    match set.dialect {
        Dialect::Current => {
            vec![
                MergeRules::Current {
                    header: None,
                    default: Default::Many
                };
                count
            ]
        }
        Dialect::Documented => {
            // The content of the sources is unknown before they are merged, so the default of 2013
            // applies.
            let unknown = Node::made(Value::Null, set.at);
            stack_of_many(std::iter::repeat_n(&unknown, count))
        }
    }
}

/// The merged parts of a source, each with its merge strategy; `None` for an unreadable patch.
fn steps<'a>(dialect: Dialect, source: &PartSource<'a>) -> Vec<(&'a CloudPart, Option<Strategy>)> {
    let parts: Vec<&CloudPart> = source.parts().filter(|part| part.is_merged()).collect();
    let all_rules = all_rules(dialect, source.kind, &parts);
    parts
        .into_iter()
        .zip(all_rules)
        .map(|(part, rules)| {
            let strategy = match &part.kind {
                PartKind::JsonPatch(patch) => patch.clone().map(Strategy::JsonPatch),
                PartKind::CloudConfig | PartKind::Template | PartKind::Other(_) => {
                    Some(Strategy::CloudInit(rules))
                }
            };
            (part, strategy)
        })
        .collect()
}

/// Merge rules for each part of a source.
fn all_rules(dialect: Dialect, kind: SourceKind, parts: &[&CloudPart]) -> Vec<MergeRules> {
    match (dialect, kind.is_user_data()) {
        (Dialect::Current, is_user_data) => {
            let default = if is_user_data {
                Default::UserData
            } else {
                Default::Many
            };
            parts
                .iter()
                .map(|part| MergeRules::Current {
                    header: part.header.clone(),
                    default,
                })
                .collect()
        }
        (Dialect::Documented, true) => {
            let parts = parts.iter();
            stack(parts.map(|part| Incoming {
                data: &part.data,
                header: part.header.as_ref(),
            }))
        }
        (Dialect::Documented, false) => stack_of_many(parts.iter().map(|part| &part.data)),
    }
}
