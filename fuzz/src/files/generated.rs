//! Repositories generated from bytes: three layers, three sites of two types, and mostly valid
//! documents that refer to each other by a few names and labels and use all features of Deckhand.
//! Some files consist of raw bytes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use arbitrary::Arbitrary;

type Files = BTreeMap<String, Vec<u8>>;

/// A repository and its edits.
#[derive(Debug, Arbitrary)]
pub(super) struct Edited {
    base: Repository,
    edits: Vec<Edit>,
}

#[derive(Clone, Debug, Arbitrary)]
struct Repository {
    policy: Policy,
    definitions: [SiteType; 3],
    documents: Vec<(Place, Document)>,
    raw: Option<(Place, Vec<u8>)>,
}

#[derive(Debug, Arbitrary)]
enum Edit {
    Add(Place, Document),
    Remove(u8),
    Replace(u8, Document),
    Move(u8, Place),
    Data(u8, Data),
    Raw(Place, Vec<u8>),
    Type(u8, SiteType),
    Policy(Policy),
}

impl Edited {
    /// Files of both sides.
    pub(super) fn files(self) -> (Files, Files) {
        let mut head = self.base.clone();
        self.edits
            .into_iter()
            .take(8)
            .for_each(|edit| edit.apply(&mut head));
        (self.base.files(), head.files())
    }
}

impl Edit {
    fn apply(self, repository: &mut Repository) {
        let count = repository.documents.len();
        let at = |number: u8| usize::from(number) % count.max(1);
        match self {
            Edit::Add(place, document) => repository.documents.push((place, document)),
            Edit::Raw(place, bytes) => repository.raw = Some((place, bytes)),
            Edit::Type(site, kind) => repository.definitions[usize::from(site) % 3] = kind,
            Edit::Policy(policy) => repository.policy = policy,
            Edit::Remove(_) | Edit::Replace(..) | Edit::Move(..) | Edit::Data(..) if count == 0 => {
            }
            Edit::Remove(number) => drop(repository.documents.remove(at(number))),
            Edit::Replace(number, document) => repository.documents[at(number)].1 = document,
            Edit::Move(number, place) => repository.documents[at(number)].0 = place,
            Edit::Data(number, data) => repository.documents[at(number)].1.data = data,
        }
    }
}

impl Repository {
    fn files(self) -> Files {
        let mut files = Files::new();
        let mut add = |path: &str, text: &[u8]| {
            files
                .entry(path.to_owned())
                .or_default()
                .extend_from_slice(text);
        };
        if let Some(layers) = self.policy.layers() {
            let text = format!(
                "---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {{schema: metadata/Control/v1, \
                 name: layering-policy}}\ndata: {{layerOrder: {layers}}}\n"
            );
            add("global/policy.yaml", text.as_bytes());
        }
        for (site, kind) in ["one", "two", "three"].into_iter().zip(&self.definitions) {
            let text = format!(
                "---\nschema: pegleg/SiteDefinition/v1\nmetadata: {{schema: metadata/Document/v1, \
                 name: {site}, storagePolicy: cleartext, layeringDefinition: {{abstract: false, \
                 layer: site}}}}\ndata: {{site_type: {}}}\n",
                kind.as_str()
            );
            add(
                &format!("site/{site}/site-definition.yaml"),
                text.as_bytes(),
            );
        }
        for (place, document) in self.documents.iter().take(24) {
            add(place.path(), document.text(place.layer()).as_bytes());
        }
        if let Some((place, bytes)) = &self.raw {
            add(place.raw_path(), bytes);
        }
        files
    }
}

/// Defines an enum of words, each variant with its text.
macro_rules! words {
    ($name:ident: $($variant:ident = $text:expr,)*) => {
        #[derive(Clone, Copy, Debug, Arbitrary)]
        enum $name { $($variant,)* }

        impl $name {
            fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }
    };
}

words!(SiteType: Big = "big", Small = "small", None = "none", Number = "7",);
words!(Name: A = "a", B = "b", C = "c", D = "d", E = "e", S = "s",);
words!(Label: A = "a", B = "b", C = "c", S = "s",);
words!(Method: Merge = "merge", Replace = "replace", Delete = "delete", Odd = "mrege",);
words!(Schema:
    Kind = "example/Kind/v1",
    Kind2 = "example/Kind/v1",
    Other = "example/Other/v1",
    Secret = "deckhand/Passphrase/v1",
    Definition = "deckhand/DataSchema/v1",
    Chart = "armada/Chart/v1",
    Manifest = "armada/Manifest/v1",
    Group = "armada/ChartGroup/v1",
    Versions = "pegleg/SoftwareVersions/v1",
);
words!(Path:
    Root = ".", X = ".x", Y = ".y", Xy = ".x.y", L = ".l", L0 = ".l[0]", L1 = ".l[1].x",
    Deep = ".x.q.r", Dollar = "$", DollarX = "$.x", New = ".new-key", All = ".x[*]", Down = "..x",
    Star = ".*", Data = ".data.x", Database = ".database", Last = ".l[-1]", Slice = ".l[0:2]",
    Bare = "x", Or = ".x|y", Empty = "", Broken = "][", Far = ".l[100001]", Both = ".l[0,1]",
    Every = ".l[*].x", Where = ".x where y", Quoted = ".'x'", Parent = ".x.`parent`",
);
words!(Pattern:
    Insert = "INSERT_[A-Z]", InsertA = "INSERT_A", T = "t", Groups = "(\\w+) (\\w+)", Many = "x*",
    Start = "^", Named = "(?P<n>t).*", All = ".+", Empty = "", Open = "(", Twice = "a**",
    Back = "(a|b)\\1", Slow = "(a+)+$", Ahead = "(?=t)",
);
words!(Value:
    Text = "text", Insert = "'INSERT_A and INSERT_B'", Int = "1", Float = "1.5", Bool = "true",
    Null = "~", Date = "2001-12-14", Empty = "{}", EmptyList = "[]", Map = "{x: 1, y: {x: t}}",
    List = "[a, {x: b}, [c]]", Names = "[{name: a, x: 1}, {name: b, x: 2}]",
    Block = "|\n    INSERT_A\n    t t\n", Set = "!!set {a, b}", Pairs = "!!pairs [a: 1, a: 2]",
    Binary = "!!binary YQ==", Template = "'\\1 \\g<n> t'", Number = "'1'", Octal = "0777",
    Long = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", Twice = "{x: &x {y: 1}, z: *x}",
    Version = "1.10", Odd = "!odd 1", Percent = "'100% {{ x }} <none>'",
    SchemaOf = "{type: object, properties: {x: {type: string}, l: {type: array, items: {type: integer}}}, required: [x]}",
);
words!(Depth: Down = "-1", Zero = "0", One = "1", Two = "2",);

#[derive(Clone, Copy, Debug, Arbitrary)]
enum Policy {
    Three,
    Same,
    Two,
    Turned,
    Repeated,
    Missing,
}

impl Policy {
    fn layers(self) -> Option<&'static str> {
        match self {
            Policy::Three | Policy::Same => Some("[global, type, site]"),
            Policy::Two => Some("[global, site]"),
            Policy::Turned => Some("[site, type, global]"),
            Policy::Repeated => Some("[global, type, site, type]"),
            Policy::Missing => None,
        }
    }
}

/// Location of a document.
#[derive(Clone, Copy, Debug, Arbitrary)]
enum Place {
    Global,
    Deep,
    Big,
    Small,
    One,
    Two,
    Three,
}

impl Place {
    fn path(self) -> &'static str {
        match self {
            Place::Global => "global/a.yaml",
            Place::Deep => "global/deep/er/b.yaml",
            Place::Big => "type/big/a.yaml",
            Place::Small => "type/small/a.yaml",
            Place::One => "site/one/a.yaml",
            Place::Two => "site/two/a.yaml",
            Place::Three => "site/three/z/a.yaml",
        }
    }

    fn raw_path(self) -> &'static str {
        match self {
            Place::Global => "layercake.yaml",
            Place::Deep => ".layercake-baseline.json",
            Place::Big => "type/big/raw.yaml",
            Place::Small => "type/small/a.yaml",
            Place::One => "site/one/a.yaml",
            Place::Two => "site/two/site-definition.yaml",
            Place::Three => "global/policy.yaml",
        }
    }

    fn layer(self) -> &'static str {
        match self {
            Place::Global | Place::Deep => "global",
            Place::Big | Place::Small => "type",
            Place::One | Place::Two | Place::Three => "site",
        }
    }
}

#[derive(Clone, Debug, Arbitrary)]
struct Document {
    name: Name,
    schema: Schema,
    is_abstract: bool,
    labels: Vec<Label>,
    parent: Option<(Label, Vec<(Method, Path)>)>,
    substitutions: Vec<Substitution>,
    oddity: Oddity,
    data: Data,
}

/// Irregularity of a document.
#[derive(Clone, Copy, Debug, Arbitrary)]
enum Oddity {
    None,
    Sound,
    Usual,
    Replacement,
    Encrypted,
    Control,
    OddKey,
    OddLayer,
    NoData,
    SharedName,
    Ignored,
}

#[derive(Clone, Debug, Arbitrary)]
struct Substitution {
    source: (Schema, Name),
    path: Path,
    extract: Option<(Pattern, Option<u8>)>,
    destinations: Vec<Destination>,
}

type Destination = (Path, Option<(Pattern, Option<Depth>)>);

#[derive(Clone, Debug, Arbitrary)]
enum Data {
    Scalar(Value),
    Mapping(Vec<(Key, Value)>),
    List(Vec<Value>),
    Schema,
}

words!(Key: X = "x", Y = "y", Z = "z", L = "l", Q = "q", New = "new-key", One = "1", On = "on", Null = "~", Name = "name",);

impl Document {
    fn text(&self, layer: &str) -> String {
        let mut text = String::from("---\n");
        if matches!(self.oddity, Oddity::Ignored) {
            text.push_str("# layercake: ignore[unused-document, missing-source] it is so\n");
        }
        writeln!(text, "schema: {}\nmetadata:", self.schema.as_str()).expect("text can grow");
        self.metadata(layer, &mut text);
        if !matches!(self.oddity, Oddity::NoData) {
            text.push_str("data: ");
            self.data.write(&mut text);
        }
        text
    }

    fn metadata(&self, layer: &str, text: &mut String) {
        let mut line = |line: String| {
            text.push_str("  ");
            text.push_str(&line);
            text.push('\n');
        };
        let control = matches!(self.oddity, Oddity::Control);
        line(format!(
            "schema: metadata/{}/v1",
            if control { "Control" } else { "Document" }
        ));
        let shared = matches!(self.oddity, Oddity::SharedName | Oddity::Replacement);
        let schema = matches!(self.schema, Schema::Definition);
        line(match (schema, shared) {
            (true, _) => "name: example/Kind/v1".to_owned(),
            (false, true) => format!("name: {}", self.name.as_str()),
            (false, false) => format!("name: {}-{layer}", self.name.as_str()),
        });
        let policy = if matches!(self.oddity, Oddity::Encrypted) {
            "encrypted"
        } else {
            "cleartext"
        };
        line(format!("storagePolicy: {policy}"));
        match self.oddity {
            Oddity::Replacement => line("replacement: true".to_owned()),
            Oddity::OddKey => line("odd: 1".to_owned()),
            _ => {}
        }
        if !self.labels.is_empty() {
            let labels: Vec<String> = self
                .labels
                .iter()
                .take(3)
                .enumerate()
                .map(|(at, label)| format!("k{at}: {}", label.as_str()))
                .collect();
            line(format!("labels: {{{}}}", labels.join(", ")));
        }
        let layer = if matches!(self.oddity, Oddity::OddLayer) {
            "glabol"
        } else {
            layer
        };
        line(format!(
            "layeringDefinition: {{abstract: {}, layer: {layer}{}}}",
            self.is_abstract,
            self.layering()
        ));
        if !self.substitutions.is_empty() {
            let all = self.substitutions.iter().take(6).map(Substitution::text);
            line(format!(
                "substitutions: [{}]",
                all.collect::<Vec<_>>().join(",\n    ")
            ));
        }
    }

    fn layering(&self) -> String {
        let Some((label, actions)) = &self.parent else {
            return String::new();
        };
        let actions = actions.iter().take(6).map(|(method, path)| {
            format!("{{method: {}, path: {:?}}}", method.as_str(), path.as_str())
        });
        let actions = actions.collect::<Vec<_>>().join(", ");
        format!(
            ", parentSelector: {{k0: {}}}, actions: [{actions}]",
            label.as_str()
        )
    }
}

impl Substitution {
    fn text(&self) -> String {
        let (schema, name) = self.source;
        let layer = match name {
            Name::A | Name::B | Name::C => "global",
            Name::D => "type",
            Name::E | Name::S => "site",
        };
        let mut text = format!(
            "{{src: {{schema: {}, name: {}-{layer}, path: {:?}",
            schema.as_str(),
            name.as_str(),
            self.path.as_str()
        );
        if let Some((pattern, group)) = &self.extract {
            write!(text, ", pattern: {:?}", pattern.as_str()).expect("text can grow");
            if let Some(group) = group {
                write!(text, ", match_group: {}", group % 4).expect("text can grow");
            }
        }
        let destinations = self.destinations.iter().take(4).map(|(path, pattern)| {
            let mut text = format!("{{path: {:?}", path.as_str());
            if let Some((pattern, depth)) = pattern {
                write!(text, ", pattern: {:?}", pattern.as_str()).expect("text can grow");
                if let Some(depth) = depth {
                    write!(text, ", recurse: {{depth: {}}}", depth.as_str())
                        .expect("text can grow");
                }
            }
            text + "}"
        });
        let destinations = destinations.collect::<Vec<_>>().join(", ");
        write!(text, "}}, dest: [{destinations}]}}").expect("text can grow");
        text
    }
}

impl Data {
    fn write(&self, text: &mut String) {
        match self {
            Data::Scalar(value) => writeln!(text, "{}", value.as_str()).expect("text can grow"),
            Data::Schema => text.push_str(
                "{$schema: 'http://json-schema.org/schema#', type: object, properties: {x: {type: string}}}\n",
            ),
            Data::Mapping(entries) if entries.is_empty() => text.push_str("{}\n"),
            Data::Mapping(entries) => {
                text.push('\n');
                for (key, value) in entries.iter().take(12) {
                    writeln!(text, "  {}: {}", key.as_str(), value.as_str()).expect("text can grow");
                }
            }
            Data::List(items) if items.is_empty() => text.push_str("[]\n"),
            Data::List(items) => {
                text.push('\n');
                for value in items.iter().take(12) {
                    writeln!(text, "  - {}", value.as_str()).expect("text can grow");
                }
            }
        }
    }
}
