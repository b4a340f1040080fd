//! The table of consequences: for a schema and a place in its documents, what the consumer does with
//! a change. It is data (`consequences.yaml`), each row with its source. A repository adds rows for
//! other schemas.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock};

use crate::source::{RepoPath, Source, SourceMap};
use crate::yaml::path::Piece;
use crate::yaml::{self, Node};

/// Text of the built-in table.
const BUILT_IN: &str = include_str!("consequences.yaml");

/// The built-in table. A comparison needs few of its rows, so each is read when it is first needed.
static BUILT_IN_TABLE: LazyLock<Table> = LazyLock::new(|| {
    const BEGIN: &str = "\n- schema: ";
    let begins = BUILT_IN.match_indices(BEGIN).map(|(at, _)| at + 1);
    let ends = begins.clone().skip(1).chain([BUILT_IN.len()]);
    let rows = begins.zip(ends).map(|(begin, end)| {
        let text = &BUILT_IN[begin..end];
        let schema = text[BEGIN.len() - 1..].lines().next().unwrap_or_default();
        let row = LazyRow {
            text,
            row: OnceLock::new(),
        };
        (schema.to_owned(), row)
    });
    Table::of(rows)
});

/// The rows for the documents of a repository. A kind of documents has rows of the program or of the
/// repository, never of both.
#[derive(Clone, Debug, Default)]
pub struct ConsequenceTable {
    /// Rows of the repository.
    own: Arc<Table>,
}

/// Rows by the kind of their schema.
#[derive(Debug, Default)]
struct Table {
    rows: Vec<LazyRow>,
    /// Indices of the rows by the kind of their schema, without its version.
    by_kind: HashMap<String, Vec<usize>, foldhash::fast::RandomState>,
}

/// A row, and its text in the built-in table if it was not read yet.
#[derive(Debug)]
struct LazyRow {
    text: &'static str,
    row: OnceLock<Row>,
}

impl LazyRow {
    fn get(&self) -> &Row {
        self.row.get_or_init(|| {
            let mut sources = SourceMap::new();
            let path = RepoPath::new("consequences.yaml");
            let file = sources.add(Source::new(path, Ok(self.text.into())));
            let parsed = yaml::parse(file, self.text);
            let rows = parsed.documents[0].root.as_sequence();
            let row = rows.and_then(|rows| rows.first()).map(Row::read);
            row.expect("a text is a row")
                .expect("the rows of the built-in table are complete")
        })
    }
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
    /// `chart_name` of the charts to which the row is limited, if any.
    pub(crate) charts: Vec<String>,
    /// Names of the documents to which the row is limited, if any; `*` at the end is any rest.
    pub(crate) names: Vec<String>,
    /// Place of a value in the data that has to count as true.
    pub(crate) condition: Option<Vec<String>>,
    pub(crate) class: Class,
    /// Another class of the same change.
    pub(crate) also: Option<Class>,
    pub(crate) cautions: Vec<Caution>,
    /// Program that reads the documents.
    pub(crate) consumer: String,
    pub(crate) action: Action,
    /// Action that has to follow.
    pub(crate) then: Option<Action>,
    /// What happens, as one sentence.
    pub(crate) text: String,
    /// Lines that show it: `REPOSITORY COMMIT FILE:LINES` in the built-in table.
    pub(crate) sources: Vec<String>,
}

/// Names a value by the words of the table.
macro_rules! words {
    ($(#[$doc:meta])* $visibility:vis enum $name:ident { $($variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize,
        )]
        $visibility enum $name {
            $(#[doc = concat!("`", $word, "`")] #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All of them, in order.
            $visibility const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The word.
            $visibility fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// The one with this word.
            $visibility fn of(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|it| it.as_str() == word)
            }
        }
    };
}

words! {
    /// Change of a value or of a document.
    pub(crate) enum ChangeKind {
        Added = "added",
        Removed = "removed",
        Changed = "changed",
        DocumentAdded = "document-added",
        DocumentRemoved = "document-removed",
    }
}

words! {
    /// Program that applies Armada's documents: Airship's Armada, or armada-go with armada-operator.
    pub(crate) enum ArmadaKind {
        Helm = "helm",
        Operator = "operator",
    }
}

words! {
    /// Kind of a consequence.
    pub(crate) enum Class {
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
    pub enum Caution {
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
    /// Whether only what Armada applies can have it.
    pub(crate) fn is_of_releases(self) -> bool {
        match self {
            Self::OldReleaseStays
            | Self::ReleaseUnmanaged
            | Self::DeletesPods
            | Self::HostChangesAtOnce
            | Self::ProtectionRemoved
            | Self::ReinstallsOnFailure => true,
            Self::NodeStays
            | Self::KeyStays
            | Self::RepositoriesDeleted
            | Self::ManifestChanged => false,
        }
    }

    /// What the caution means, as one sentence.
    pub fn meaning(self) -> &'static str {
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
    pub enum Action {
        None = "none",
        UpdateSoftware = "update_software",
        UpdateSite = "update_site",
        DeploySite = "deploy_site",
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
    /// Name of the document.
    pub(crate) name: &'c str,
    /// Its data after the change, or before if it was removed.
    pub(crate) data: Option<&'c Node>,
    /// Place of the changed value in the data.
    pub(crate) place: &'c [Piece],
    pub(crate) kind: ChangeKind,
    pub(crate) armada: ArmadaKind,
}

impl Changed<'_> {
    /// Whether it is a chart with one of these as `chart_name`.
    fn is_chart_of(&self, names: &[String]) -> bool {
        let found = self.data.and_then(|data| data.get("chart_name")?.as_str());
        found.is_some_and(|found| names.iter().any(|name| name == found))
    }

    /// Whether a value of the data counts as true.
    fn is_true(&self, place: &[String]) -> bool {
        let mut keys = place.iter();
        let found = self
            .data
            .and_then(|data| keys.try_fold(data, |node, key| node.get(key.as_str())));
        found.is_some_and(|node| !node.value.is_falsy())
    }
}

impl ConsequenceTable {
    /// The rows of the program, and those that a configuration has, without its invalid ones.
    pub(crate) fn with(own: &[Node]) -> Self {
        let own = own.iter().filter_map(|row| Row::of_repository(row).ok());
        let own = own.map(|row| {
            let schema = row.schema.clone();
            let row = LazyRow {
                text: "",
                row: OnceLock::from(row),
            };
            (schema, row)
        });
        Self {
            own: Arc::new(Table::of(own)),
        }
    }

    /// Checks a row of a repository.
    ///
    /// # Errors
    /// If a part of it is missing, unknown or not allowed.
    pub(crate) fn check(row: &Node) -> Result<(), String> {
        Row::of_repository(row).map(drop)
    }

    /// All rows of the program.
    pub(crate) fn built_in() -> impl Iterator<Item = &'static Row> {
        BUILT_IN_TABLE.rows.iter().map(LazyRow::get)
    }

    /// The row with this number; those of the repository follow those of the program.
    pub(crate) fn get(&self, number: usize) -> &Row {
        let built_in = &BUILT_IN_TABLE.rows;
        match number.checked_sub(built_in.len()) {
            None => built_in[number].get(),
            Some(number) => self.own.rows[number].get(),
        }
    }

    /// The most specific row for a change, and its number; `None` for an unknown schema.
    pub(crate) fn row(&self, changed: &Changed<'_>) -> Option<(usize, &Row)> {
        let (first, table) = self.of_schema(changed.schema);
        let rows = table.of_schema(changed.schema);
        rows.filter(|(_, row)| row.matches(changed))
            .max_by_key(|(_, row)| row.precision(changed.name))
            .map(|(number, row)| (first + number, row))
    }

    /// Whether rows take a collection at this place as a whole: one names it and a change of this kind,
    /// or none names a place inside.
    pub(crate) fn is_whole(&self, schema: &str, place: &[Piece], kind: ChangeKind) -> bool {
        let (_, table) = self.of_schema(schema);
        let mut around = table.of_schema(schema).filter(|(_, row)| row.is_at(place));
        let names_it = |row: &Row| row.at.len() == place.len() && row.changes.contains(&kind);
        let mut is_inside = false;
        let is_named = around.any(|(_, row)| {
            is_inside |= row.at.len() > place.len();
            names_it(row)
        });
        is_named || !is_inside
    }

    /// The table with rows for a schema, and the number of its first row.
    fn of_schema(&self, schema: &str) -> (usize, &Table) {
        if self.own.by_kind.contains_key(kind_of(schema)) {
            (BUILT_IN_TABLE.rows.len(), &self.own)
        } else {
            (0, &BUILT_IN_TABLE)
        }
    }
}

impl Table {
    /// The table with these rows, each with its schema.
    fn of(rows: impl Iterator<Item = (String, LazyRow)>) -> Self {
        let mut table = Self::default();
        for (schema, row) in rows {
            let kind = kind_of(&schema).to_owned();
            let of_kind = table.by_kind.entry(kind).or_default();
            of_kind.push(table.rows.len());
            table.rows.push(row);
        }
        table
    }

    /// Rows for the kind of a schema, with their indices.
    fn of_schema(&self, schema: &str) -> impl Iterator<Item = (usize, &Row)> {
        let rows = self.by_kind.get(kind_of(schema)).into_iter().flatten();
        rows.map(|number| (*number, self.rows[*number].get()))
    }
}

/// A schema without its version.
fn kind_of(schema: &str) -> &str {
    schema.rsplit_once('/').map_or("", |(kind, _)| kind)
}

impl Row {
    /// Reads a row of a repository; the error names what is missing, unknown or not allowed.
    fn of_repository(node: &Node) -> Result<Self, String> {
        let row = Self::read(node)?;
        let kind = kind_of(&row.schema);
        if kind.is_empty() {
            let schema = &row.schema;
            return Err(format!(
                "`{schema}` is not a schema; write it as `NAMESPACE/KIND/v1`, or `NAMESPACE/KIND/*` for \
                 all versions"
            ));
        }
        if BUILT_IN_TABLE.by_kind.contains_key(kind) {
            return Err(format!(
                "layercake has rows for `{kind}`; a repository can only add rows for other schemas"
            ));
        }
        Ok(row)
    }

    /// Reads a row; the error names what is missing or unknown.
    fn read(node: &Node) -> Result<Self, String> {
        let text = |key: &str| node.get(key).and_then(Node::as_str);
        let needed = |key: &str| text(key).ok_or_else(|| format!("expected a string for `{key}`"));
        let schema = needed("schema")?;
        let with_schema = |fault: String| format!("{fault} in the row of `{schema}`");
        let texts = |key: &str| texts(node.get(key));
        Ok(Self {
            schema: schema.to_owned(),
            at: keys(text("at").unwrap_or_default()),
            changes: words_of(texts("change"), ChangeKind::of).map_err(with_schema)?,
            armada: word_of(text("armada"), ArmadaKind::of).map_err(with_schema)?,
            charts: texts("chart").map(str::to_owned).collect(),
            names: texts("name").map(str::to_owned).collect(),
            condition: text("if").map(keys),
            class: needed("class")
                .and_then(|word| Class::of(word).ok_or_else(|| unknown(word)))
                .map_err(with_schema)?,
            also: word_of(text("also"), Class::of).map_err(with_schema)?,
            cautions: words_of(texts("caution"), Caution::of).map_err(with_schema)?,
            consumer: needed("consumer").map_err(with_schema)?.to_owned(),
            action: needed("action")
                .and_then(|word| Action::of(word).ok_or_else(|| unknown(word)))
                .map_err(with_schema)?,
            then: word_of(text("then"), Action::of).map_err(with_schema)?,
            text: needed("text").map_err(with_schema)?.to_owned(),
            sources: texts("source").map(str::to_owned).collect(),
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
            && (self.charts.is_empty() || changed.is_chart_of(&self.charts))
            && (self.names.is_empty() || self.names.iter().any(|name| is_name(name, changed.name)))
            && (self.condition.as_ref()).is_none_or(|place| changed.is_true(place))
            && self.at.len() <= changed.place.len()
            && self.is_at(changed.place)
    }

    /// Whether the row names the first pieces of a place.
    fn is_at(&self, place: &[Piece]) -> bool {
        let mut pieces = self.at.iter().zip(place);
        pieces.all(|(name, piece)| is_named(name, piece))
    }

    /// Sort key: a row with a greater one is more specific for a document of this name.
    fn precision(&self, name: &str) -> [usize; 8] {
        let has_name = self.names.iter().any(|of_row| of_row == name);
        [
            self.at.len(),
            self.at.iter().filter(|name| *name != "*").count(),
            usize::from(!self.schema.ends_with('*')),
            usize::from(!self.charts.is_empty()),
            usize::from(!self.names.is_empty()) + usize::from(has_name),
            usize::from(self.condition.is_some()),
            usize::from(!self.changes.is_empty()),
            usize::from(self.armada.is_some()),
        ]
    }
}

/// A text, or those of a list.
fn texts(node: Option<&Node>) -> impl Iterator<Item = &str> {
    let one = node.and_then(Node::as_str);
    let list = node.and_then(Node::as_sequence).unwrap_or_default();
    one.into_iter().chain(list.iter().filter_map(Node::as_str))
}

/// Values of some words.
fn words_of<'w, T>(
    mut words: impl Iterator<Item = &'w str>,
    of: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, String> {
    words.try_fold(Vec::new(), |mut found, word| {
        found.push(of(word).ok_or_else(|| unknown(word))?);
        Ok(found)
    })
}

/// Value of an optional word.
fn word_of<T>(word: Option<&str>, of: impl Fn(&str) -> Option<T>) -> Result<Option<T>, String> {
    word.map(|word| of(word).ok_or_else(|| unknown(word)))
        .transpose()
}

fn unknown(word: &str) -> String {
    format!("unknown word `{word}`")
}

/// Keys of a JSON Pointer.
fn keys(pointer: &str) -> Vec<String> {
    let keys = pointer.split('/').skip(1);
    keys.map(|key| key.replace("~1", "/").replace("~0", "~"))
        .collect()
}

/// Whether a name is the one of a row, or begins like it.
fn is_name(of_row: &str, name: &str) -> bool {
    match of_row.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == of_row,
    }
}

/// Whether a piece of a place is the one with this name; `*` is any.
fn is_named(name: &str, piece: &Piece) -> bool {
    name == "*" || piece.as_text() == Some(name)
}
