//! The table of consequences: for a schema and a place in its documents, what the consumer does with
//! a change. It is data (`consequences.yaml`), each row with its source.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::source::{RepoPath, Source, SourceMap};
use crate::yaml::path::Piece;
use crate::yaml::{self, Node};

/// Text of the built-in table.
const BUILT_IN: &str = include_str!("consequences.yaml");

/// The built-in table.
pub(crate) static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut sources = SourceMap::new();
    let file = sources.add(Source::new(
        RepoPath::new("consequences.yaml"),
        Ok(BUILT_IN.into()),
    ));
    let parsed = yaml::parse(file, BUILT_IN);
    let rows = parsed.documents[0]
        .root
        .as_sequence()
        .expect("the table is a list");
    let rows = rows
        .iter()
        .map(|row| Row::read(row).expect("the rows of the built-in table are complete"));
    Table::of(rows.collect())
});

/// Rows of a table.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) rows: Vec<Row>,
    /// Indices of the rows by the kind of their schema, without its version.
    by_kind: HashMap<String, Vec<usize>, foldhash::fast::RandomState>,
}

/// What a consumer does with some changes of the documents of a schema.
#[derive(Debug)]
pub(crate) struct Row {
    /// Schema; if it ends with `/*`, in any version.
    pub(crate) schema: String,
    /// Place in the data: keys and indices, `*` for any one.
    pub(crate) at: Vec<String>,
    /// Changes; none for a value that is added, removed or changed.
    pub(crate) changes: Vec<ChangeKind>,
    /// Armada to which the row is limited.
    pub(crate) armada: Option<ArmadaKind>,
    /// `chart_name` of the charts to which the row is limited.
    pub(crate) chart: Option<String>,
    pub(crate) class: Class,
    /// Another class of the same change.
    pub(crate) also: Option<Class>,
    pub(crate) caution: Option<Caution>,
    /// Program that reads the documents.
    pub(crate) consumer: String,
    pub(crate) action: Action,
    /// Action that has to follow.
    pub(crate) then: Option<Action>,
    /// What happens, as one sentence.
    pub(crate) text: String,
    pub(crate) sources: Vec<RowSource>,
}

/// Lines that show what a row says.
#[derive(Debug)]
pub(crate) struct RowSource {
    pub(crate) repository: String,
    pub(crate) commit: String,
    /// File, and a line or the first and the last.
    pub(crate) place: String,
}

/// Names a value by the words of the table.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
        )]
        pub(crate) enum $name { $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)+ }

        impl $name {
            pub(crate) const ALL: &[Self] = &[$(Self::$variant,)+];

            pub(crate) fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            pub(crate) fn of(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|it| it.as_str() == word)
            }
        }
    };
}

words! {
    /// Change of a value or of a document.
    ChangeKind {
        Added = "added",
        Removed = "removed",
        Changed = "changed",
        DocumentAdded = "document-added",
        DocumentRemoved = "document-removed",
    }
}

words! {
    /// Program that applies Armada's documents: Airship's Armada, or armada-go with armada-operator.
    ArmadaKind {
        Helm = "helm",
        Operator = "operator",
    }
}

words! {
    /// Kind of a consequence.
    Class {
        Upgrade = "upgrade",
        Install = "install",
        ReleaseReplaced = "release-replaced",
        ReleaseUnmanaged = "release-unmanaged",
        NodeDeployed = "node-deployed",
        NodeRemoved = "node-removed",
        Redeploy = "redeploy",
        Relabel = "relabel",
        Maas = "maas",
        NextAction = "next-action",
        Setting = "setting",
        Order = "order",
        Join = "join",
        Genesis = "genesis",
        Generate = "generate",
        Validation = "validation",
        Source = "source",
        Inert = "inert",
        None = "none",
    }
}

impl Class {
    /// What the class means, as one sentence.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Upgrade => "a running release is upgraded if its chart or values differ",
            Self::Install => "a release is installed that was not there",
            Self::ReleaseReplaced => {
                "a release is installed under another name, and the old one stays"
            }
            Self::ReleaseUnmanaged => {
                "a running release has left the manifests, and stays unmanaged"
            }
            Self::NodeDeployed => "a node is commissioned and deployed",
            Self::NodeRemoved => "a node has left the design, and stays",
            Self::Redeploy => "nodes get the change when they are deployed again",
            Self::Relabel => "nodes get other Kubernetes labels",
            Self::Maas => "objects of MAAS change",
            Self::NextAction => "the next action reads it",
            Self::Setting => "nothing is upgraded; it holds for the next apply or upgrade",
            Self::Order => "only the order of the next apply changes",
            Self::Join => "it takes effect when a node joins",
            Self::Genesis => "it takes effect when a site is built",
            Self::Generate => "certificates or other documents are generated from it",
            Self::Validation => "only the validation or the rendering of documents changes",
            Self::Source => "only documents that substitute from it change",
            Self::Inert => "its consumer ignores it",
            Self::None => "its consumer reads it, and does nothing",
        }
    }
}

words! {
    /// Something to look at before an action.
    Caution {
        OldReleaseStays = "old-release-stays",
        ReleaseUnmanaged = "release-unmanaged",
        NodeStays = "node-stays",
        KeyStays = "key-stays",
        DeletesPods = "deletes-pods",
        HostChangesAtOnce = "host-changes-at-once",
        RepositoriesDeleted = "repositories-deleted",
        ManifestChanged = "manifest-changed",
        ProtectionRemoved = "protection-removed",
        ReinstallsOnFailure = "reinstalls-on-failure",
    }
}

impl Caution {
    /// What the caution means, as one sentence.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::OldReleaseStays => "a release under the old name keeps running, unmanaged",
            Self::ReleaseUnmanaged => "a release that no manifest has any more keeps running",
            Self::NodeStays => "a node that left the design stays in MAAS and in Kubernetes",
            Self::KeyStays => "a key that was removed is still accepted",
            Self::DeletesPods => "the upgrade deletes jobs or pods before it begins",
            Self::HostChangesAtOnce => "the upgrade changes hosts while they run",
            Self::RepositoriesDeleted => "package repositories that are not listed are deleted",
            Self::ManifestChanged => "an action applies another manifest",
            Self::ProtectionRemoved => "a failed release is reinstalled from now on",
            Self::ReinstallsOnFailure => {
                "a failed upgrade uninstalls the release and installs it again"
            }
        }
    }
}

words! {
    /// Action of Shipyard, from the smallest.
    Action {
        None = "none",
        UpdateSoftware = "update_software",
        UpdateSite = "update_site",
        RelabelNodes = "relabel_nodes",
        RedeployServer = "redeploy_server",
    }
}

impl Action {
    /// Whether it has to name nodes.
    pub(crate) fn names_nodes(self) -> bool {
        matches!(self, Self::RelabelNodes | Self::RedeployServer)
    }
}

/// What a row has to match.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Changed<'c> {
    pub(crate) schema: &'c str,
    /// Place of the changed value in the data.
    pub(crate) place: &'c [Piece],
    pub(crate) kind: ChangeKind,
    pub(crate) armada: ArmadaKind,
    /// `chart_name` of a chart.
    pub(crate) chart: Option<&'c str>,
}

impl Table {
    fn of(rows: Vec<Row>) -> Self {
        let mut by_kind: HashMap<_, Vec<usize>, _> = HashMap::default();
        for (number, row) in rows.iter().enumerate() {
            let (kind, _) = row.schema.rsplit_once('/').unwrap_or_default();
            by_kind.entry(kind.to_owned()).or_default().push(number);
        }
        Self { rows, by_kind }
    }

    /// Whether rows take a collection at this place as a whole: one names it and a change of this kind,
    /// or none names a place inside.
    pub(crate) fn is_whole(&self, schema: &str, place: &[Piece], kind: ChangeKind) -> bool {
        let mut around = self.of_schema(schema).filter(|(_, row)| row.is_at(place));
        let names_it = |row: &Row| row.at.len() == place.len() && row.changes.contains(&kind);
        let mut is_inside = false;
        let is_named = around.any(|(_, row)| {
            is_inside |= row.at.len() > place.len();
            names_it(row)
        });
        is_named || !is_inside
    }

    /// Rows for the kind of a schema, with their indices.
    fn of_schema(&self, schema: &str) -> impl Iterator<Item = (usize, &Row)> {
        let kind = schema.rsplit_once('/').map_or("", |(kind, _)| kind);
        let rows = self.by_kind.get(kind).into_iter().flatten();
        rows.map(|number| (*number, &self.rows[*number]))
    }

    /// The most specific row for a change, and its index; `None` for an unknown schema.
    pub(crate) fn row(&self, changed: &Changed<'_>) -> Option<(usize, &Row)> {
        let rows = self.of_schema(changed.schema);
        rows.filter(|(_, row)| row.matches(changed))
            .max_by_key(|(_, row)| row.precision())
    }
}

impl Row {
    /// Reads a row; the error names what is missing or unknown.
    fn read(node: &Node) -> Result<Self, String> {
        let text = |key: &str| node.get(key).and_then(Node::as_str);
        let needed = |key: &str| text(key).ok_or_else(|| format!("expected a string for `{key}`"));
        let schema = needed("schema")?;
        let with_schema = |fault: String| format!("{fault} in the row of `{schema}`");
        let pointer = text("at").unwrap_or_default();
        let changes = node.get("change").and_then(Node::as_sequence);
        let changes = changes.unwrap_or_default().iter().map(|change| {
            let word = change.as_str().unwrap_or_default();
            ChangeKind::of(word).ok_or_else(|| with_schema(format!("unknown change `{word}`")))
        });
        let sources = node.get("source").and_then(Node::as_sequence);
        let sources = sources.unwrap_or_default().iter().map(RowSource::read);
        Ok(Self {
            schema: schema.to_owned(),
            at: pointer.split('/').skip(1).map(unescaped).collect(),
            changes: changes.collect::<Result<_, _>>()?,
            armada: word_of(text("armada"), ArmadaKind::of).map_err(with_schema)?,
            chart: text("chart").map(str::to_owned),
            class: needed("class")
                .and_then(|word| Class::of(word).ok_or_else(|| unknown(word)))
                .map_err(with_schema)?,
            also: word_of(text("also"), Class::of).map_err(with_schema)?,
            caution: word_of(text("caution"), Caution::of).map_err(with_schema)?,
            consumer: needed("consumer").map_err(with_schema)?.to_owned(),
            action: needed("action")
                .and_then(|word| Action::of(word).ok_or_else(|| unknown(word)))
                .map_err(with_schema)?,
            then: word_of(text("then"), Action::of).map_err(with_schema)?,
            text: needed("text").map_err(with_schema)?.to_owned(),
            sources: sources.collect::<Result<_, _>>().map_err(with_schema)?,
        })
    }

    fn matches(&self, changed: &Changed<'_>) -> bool {
        let has_schema = match self.schema.strip_suffix('*') {
            Some(kind) => changed.schema.starts_with(kind),
            None => changed.schema == self.schema,
        };
        let is_value = || {
            matches!(
                changed.kind,
                ChangeKind::Added | ChangeKind::Removed | ChangeKind::Changed
            )
        };
        let has_change = match &self.changes[..] {
            [] => is_value(),
            some => some.contains(&changed.kind),
        };
        has_schema
            && has_change
            && self.armada.is_none_or(|armada| armada == changed.armada)
            && (self.chart.as_deref()).is_none_or(|chart| changed.chart == Some(chart))
            && self.at.len() <= changed.place.len()
            && self.is_at(changed.place)
    }

    /// Whether the row names the first pieces of a place.
    fn is_at(&self, place: &[Piece]) -> bool {
        let mut pieces = self.at.iter().zip(place);
        pieces.all(|(name, piece)| is_named(name, piece))
    }

    /// Sort key: a row with a greater one is more specific.
    fn precision(&self) -> [usize; 6] {
        [
            self.at.len(),
            self.at.iter().filter(|name| *name != "*").count(),
            usize::from(!self.schema.ends_with('*')),
            usize::from(self.chart.is_some()),
            usize::from(!self.changes.is_empty()),
            usize::from(self.armada.is_some()),
        ]
    }
}

impl RowSource {
    /// Reads `REPOSITORY COMMIT FILE:LINES`.
    fn read(node: &Node) -> Result<Self, String> {
        let text = node.as_str().unwrap_or_default();
        let mut words = text.splitn(3, ' ').map(str::to_owned);
        let mut next = || {
            words
                .next()
                .ok_or_else(|| format!("incomplete source `{text}`"))
        };
        Ok(Self {
            repository: next()?,
            commit: next()?,
            place: next()?,
        })
    }
}

/// Value of an optional word.
fn word_of<T>(word: Option<&str>, of: impl Fn(&str) -> Option<T>) -> Result<Option<T>, String> {
    word.map(|word| of(word).ok_or_else(|| unknown(word)))
        .transpose()
}

fn unknown(word: &str) -> String {
    format!("unknown word `{word}`")
}

/// A key of a JSON Pointer.
fn unescaped(key: &str) -> String {
    key.replace("~1", "/").replace("~0", "~")
}

/// Whether a piece of a place is the one with this name; `*` is any.
fn is_named(name: &str, piece: &Piece) -> bool {
    name == "*" || piece.as_text() == Some(name)
}
