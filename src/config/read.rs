//! Reads a [`Config`] from the text of a configuration file.
//!
//! Values of the wrong type are skipped because the schema check has already reported them. Reading
//! continues after a problem, so that all problems are reported at once.

use std::path::{Component, Path};
use std::sync::Arc;

use globset::{Glob, GlobBuilder};

use super::{
    CloudConfig, CloudSource, Config, ConfigProblem, DialectSetting, Discover, File, GlobPattern,
    ListKey, Missing, MissingSourceSetting, NamedQuery, QueryKind, QuerySource, ReachLimits,
    ReferenceSettings, RepositorySettings, RuleSettings, Rules, Secrets, SemanticsSetting,
    SiteSettings, shape, version,
};
use crate::diagnostic::Level;
use crate::error::{Error, ErrorKind};
use crate::near::nearest;
use crate::source::{FileId, RepoPath, Source, SourceMap, Span, Spanned};
use crate::yaml::{
    self, InvalidQuery, InvalidYaml, Node, PlaceQuery, Query, Value, YamlProblemKind,
};

/// Names that a configuration may use and that other modules define.
pub struct Vocabulary<'a> {
    /// Selectors of rules: names, codes and groups.
    pub rules: &'a [&'a str],
    /// Names of cautions.
    pub cautions: &'a [&'a str],
    /// Validates a row of the table of consequences; the error describes the problem.
    pub consequence: fn(&Node) -> Result<(), String>,
    /// The formats of reports.
    pub formats: &'a [&'a str],
    /// Version of layercake.
    pub version: &'a str,
    /// Validates a link template; the error describes the problem.
    pub links: fn(&str) -> Result<(), String>,
    /// Validates a base URL of rule pages; the error describes the problem.
    pub docs_url: fn(&str) -> Result<(), String>,
    /// Message that replaces all others if the file may be secret and must not be quoted.
    pub not_shown: Option<&'static str>,
}

/// Reads the configuration file at `path`.
///
/// # Errors
/// Errors of kind [`ErrorKind::Configuration`], with one line for each problem.
pub fn read(path: RepoPath, bytes: Vec<u8>, vocabulary: &Vocabulary<'_>) -> Result<Config, Error> {
    let mut sources = SourceMap::new();
    let file = sources.add(Source::new(path.clone(), Ok(bytes)));
    let mut reader = ConfigReader {
        vocabulary,
        problems: Vec::new(),
    };
    let root = reader.root(file, sources.get(file));
    let config = reader.config(&root);
    reject(reader.problems, &sources, vocabulary.not_shown)?;
    Ok(Config {
        file: Some(File {
            path,
            sources: Arc::new(sources),
            root,
        }),
        ..config
    })
}

/// Queries of the program.
pub(crate) fn built_in_queries() -> Vec<NamedQuery> {
    let vocabulary = Vocabulary {
        rules: &[],
        cautions: &[],
        consequence: |_| Ok(()),
        formats: &[],
        version: "",
        links: |_| Ok(()),
        docs_url: |_| Ok(()),
        not_shown: None,
    };
    let text = include_bytes!("queries.yaml").to_vec();
    let config = read(RepoPath::new("queries.yaml"), text, &vocabulary);
    config
        .expect("the queries of the program are valid")
        .queries
}

fn reject(
    mut problems: Vec<ConfigProblem>,
    sources: &SourceMap,
    not_shown: Option<&str>,
) -> Result<(), Error> {
    if problems.is_empty() {
        return Ok(());
    }
    problems.sort_by_key(|problem| problem.at.start);
    let line = |problem: &ConfigProblem| {
        let at = sources.start(problem.at);
        let path = sources.get(problem.at.file).path();
        if let Some(why) = not_shown {
            return format!("{path}:{}: {why}", at.line);
        }
        // Quoted values may contain line breaks.
        let message = problem.message.replace('\r', "\\r").replace('\n', "\\n");
        format!("{path}:{}:{}: {message}", at.line, at.column)
    };
    let lines: Vec<String> = problems.iter().map(line).collect();
    Err(Error::new(ErrorKind::Configuration, lines.join("\n"))
        .with_help("`layercake config schema` prints the schema of the file"))
}

struct ConfigReader<'a> {
    vocabulary: &'a Vocabulary<'a>,
    problems: Vec<ConfigProblem>,
}

impl ConfigReader<'_> {
    fn wrong(&mut self, at: Span, message: impl Into<String>) {
        self.problems.push(ConfigProblem {
            at,
            message: message.into(),
        });
    }

    /// Root mapping of the file; null if the file is empty or is not valid YAML.
    fn root(&mut self, file: FileId, source: &Source) -> Node {
        let start = Span::point(file, 0);
        if source.fault().is_some() {
            self.wrong(start, "the file is not valid UTF-8, or it is too large");
            return Node::new(Value::Null, start);
        }
        let parsed = yaml::parse(file, source.text());
        for problem in &parsed.problems {
            self.wrong(problem.span, describe(&problem.kind));
        }
        let mut documents = parsed.documents.into_iter();
        let root = documents
            .next()
            .map_or(Node::new(Value::Null, start), |first| first.root);
        if let Some(second) = documents.next() {
            self.wrong(
                second.span,
                "a configuration file must contain only one YAML document",
            );
        }
        if !root.is_null() {
            self.problems.extend(shape::problems(&root));
        }
        root
    }

    fn config(&mut self, root: &Node) -> Config {
        self.required_version(root);
        // A section that is not given has no settings.
        let nothing = Node::default();
        let section = |key: &str| root.get(key).unwrap_or(&nothing);
        let reach = section("reach");
        let output = section("output");
        Config {
            file: None,
            semantics: root.get("semantics").and_then(|node| match node.as_str()? {
                "documented" => Some(SemanticsSetting::Documented),
                "deckhand" => Some(SemanticsSetting::Deckhand),
                _ => None,
            }),
            armada: armada(root),
            discover: self.discover(section("discover")),
            base: text_at(section("compare"), "base"),
            missing: self.missing(section("render")),
            rules: self.rules(section("rules")),
            reach: ReachLimits {
                max_sites: limit(reach, "max-sites"),
                max_outputs: limit(reach, "max-outputs"),
                max_action: text_at(reach, "max-action"),
                cautions: self.cautions(reach),
                deployed: is_true(reach, "deployed"),
            },
            consequences: self.consequences(root),
            list_keys: self.list_keys(section("diff")),
            secrets: self.secrets(section("secrets")),
            sites: self.sites(root),
            references: self.references(root),
            queries: self.queries(root),
            cloud_config: self.cloud_config(root),
            client_version: self.client_version(root),
            client_versions: self.client_versions(root),
            property_groups: self.property_groups(root),
            expiring_days: limit(section("certificates"), "expiring-days").map(|it| it.value),
            baseline: self.baseline(root),
            outputs: self.outputs(output),
            repositories: self.repositories(root),
            links: self.links(output),
            docs_url: self.docs_url(output),
        }
    }

    fn required_version(&mut self, root: &Node) {
        let Some(wanted) = text_at(root, "required-version") else {
            return;
        };
        let present = self.vocabulary.version;
        match version::meets(present, &wanted.value) {
            Ok(true) => {}
            Ok(false) => {
                let wanted_text = &wanted.value;
                let message = format!("layercake {wanted_text} is required, but this is {present}");
                self.wrong(wanted.span, message);
            }
            Err(condition) => {
                let message = format!(
                    "`{condition}` is not a valid version requirement; write it as `>=0.1` or `>=0.1, <2`"
                );
                self.wrong(wanted.span, message);
            }
        }
    }

    fn discover(&mut self, discover: &Node) -> Discover {
        Discover {
            sites: self.patterns(discover, "sites", plain_glob),
            exclude: self.patterns(discover, "exclude", path_glob),
        }
    }

    fn repositories(&mut self, root: &Node) -> Vec<RepositorySettings> {
        let mut repositories = Vec::new();
        for (name, node) in entries(root, "repositories") {
            let is_usable = !name.value.is_empty() && !name.value.contains([':', '/', '=']);
            if !is_usable {
                let message = format!(
                    "`{}` is not a valid repository name; remove `:`, `/` and `=`",
                    name.value
                );
                self.wrong(name.span, message);
            }
            let Some(path) = text_at(node, "path") else {
                continue;
            };
            if path.value.is_empty() {
                self.wrong(path.span, "the path is empty");
            }
            let [url, revision] =
                ["url", "revision"].map(|key| text_at(node, key).map(|it| it.value));
            let links = self.links(node);
            repositories.push(RepositorySettings {
                name,
                path: path.value,
                url,
                revision,
                links,
            });
        }
        repositories
    }

    fn missing(&mut self, node: &Node) -> Missing {
        let source =
            node.get("missing-substitution-source")
                .and_then(|node| match node.as_str()? {
                    "error" => Some(MissingSourceSetting::Error),
                    "warning" => Some(MissingSourceSetting::Warning),
                    _ => None,
                });
        Missing {
            source,
            known: self.patterns(node, "known-missing-sources", plain_glob),
        }
    }

    fn rules(&mut self, node: &Node) -> Rules {
        let mut per_path = Vec::new();
        for (path, settings) in entries(node, "per-path") {
            let settings = self.rule_settings(settings);
            if let Some(pattern) = self.pattern(&path, path_glob) {
                per_path.push((pattern, settings));
            }
        }
        Rules {
            select: self.rule_words(node, "select"),
            extend_select: self.rule_words(node, "extend-select"),
            general: self.rule_settings(node),
            require_reason: is_true(node, "require-reason"),
            per_path,
        }
    }

    fn rule_settings(&mut self, node: &Node) -> RuleSettings {
        let ignore = self.rule_words(node, "ignore");
        let levels = levels(node, "levels");
        for (word, _) in &levels {
            self.known_rule(word);
        }
        let levels = levels.into_iter().map(|(word, level)| (word.value, level));
        RuleSettings {
            ignore,
            levels: levels.collect(),
        }
    }

    fn cautions(&mut self, reach: &Node) -> Vec<(Spanned<Arc<str>>, Level)> {
        let cautions = self.vocabulary.cautions;
        let levels = levels(reach, "cautions");
        for (word, _) in &levels {
            if !cautions.contains(&&*word.value) {
                let near = nearest(&word.value, cautions.iter().copied());
                let message = format!("unknown caution `{}`", word.value);
                self.wrong(word.span, with_suggestion(message, near));
            }
        }
        levels
    }

    fn consequences(&mut self, root: &Node) -> Vec<Node> {
        let rows = items(root, "consequences");
        for row in rows {
            let mut reported = self.problems.iter().map(|problem| problem.at);
            let is_reported = reported.any(|at| row.span.contains(at));
            if !is_reported && let Err(fault) = (self.vocabulary.consequence)(row) {
                self.wrong(row.span, fault);
            }
        }
        rows.to_vec()
    }

    fn rule_words(&mut self, node: &Node, key: &str) -> Vec<Arc<str>> {
        let words = texts(node, key);
        for word in &words {
            self.known_rule(word);
        }
        words.into_iter().map(|word| word.value).collect()
    }

    fn known_rule(&mut self, word: &Spanned<Arc<str>>) {
        let rules = self.vocabulary.rules;
        if !rules.contains(&&*word.value) {
            let near = nearest(&word.value, rules.iter().copied());
            self.wrong(
                word.span,
                with_suggestion(format!("unknown rule `{}`", word.value), near),
            );
        }
    }

    fn list_keys(&mut self, diff: &Node) -> Vec<ListKey> {
        let mut keys = Vec::new();
        for (schema, paths) in entries(diff, "list-keys") {
            let pattern = self.pattern(&schema, plain_glob);
            for (path, key) in mapping(paths) {
                let query = self.path(&path, PlaceQuery::parse);
                if let (Some(pattern), Some(path), Some(key)) = (&pattern, query, key.as_str()) {
                    keys.push(ListKey {
                        schema: pattern.glob.clone(),
                        path,
                        key: key.into(),
                    });
                }
            }
        }
        keys
    }

    fn secrets(&mut self, secrets: &Node) -> Secrets {
        let schemas = secrets
            .get("schemas")
            .is_some()
            .then(|| self.schemas(secrets, "schemas"));
        Secrets {
            schemas,
            extra: self.schemas(secrets, "extra-schemas"),
        }
    }

    fn schemas(&mut self, node: &Node, key: &str) -> Vec<Arc<str>> {
        let schemas = texts(node, key);
        for schema in &schemas {
            self.schema_name(schema);
        }
        schemas.into_iter().map(|schema| schema.value).collect()
    }

    fn schema_name(&mut self, schema: &Spanned<Arc<str>>) {
        let parts: Vec<&str> = schema.value.split('/').collect();
        if parts.len() != 3 || parts.iter().any(|part| part.is_empty()) {
            let message = format!(
                "`{}` is not a valid schema name; write it as `example/Kind/v1`",
                schema.value
            );
            self.wrong(schema.span, message);
        }
    }

    fn sites(&mut self, root: &Node) -> Vec<SiteSettings> {
        let mut sites = Vec::new();
        for (name, node) in entries(root, "sites") {
            let missing = self.missing(node);
            let rules = node
                .get("rules")
                .map(|it| self.rule_settings(it))
                .unwrap_or_default();
            if let Some(pattern) = self.pattern(&name, plain_glob) {
                sites.push(SiteSettings {
                    sites: pattern,
                    missing,
                    armada: armada(node),
                    rules,
                });
            }
        }
        sites
    }

    fn cloud_config(&mut self, root: &Node) -> Vec<CloudConfig> {
        let items = items(root, "cloud-config");
        let mut sets: Vec<CloudConfig> = Vec::new();
        for item in items {
            let Some(name) = text_at(item, "name") else {
                continue;
            };
            if name.value.is_empty() {
                self.wrong(name.span, "the name of a set of parts is empty");
            }
            if sets.iter().any(|known| known.name.value == name.value) {
                let message = format!("duplicate set of parts `{}`", name.value);
                self.wrong(name.span, message);
                continue;
            }
            let sources = self.cloud_sources(item);
            // Unknown keys and keys without a value have already been reported.
            let is_reported = mapping(item).iter().any(|(key, node)| {
                let is_other = ["name", "sites", "dialect", "secret"].contains(&&*key.value);
                !is_other && node.as_sequence().is_none_or(|globs| !globs.is_empty())
            });
            if sources.is_empty() && !is_reported {
                let message = "no files given; add globs, e.g. `parts: [\"global/user-data/*\"]`";
                self.wrong(name.span, message);
            }
            let sites = text_at(item, "sites").and_then(|sites| self.pattern(&sites, plain_glob));
            let dialect = item.get("dialect").and_then(|node| match node.as_str()? {
                "current" => Some(DialectSetting::Current),
                "documented" => Some(DialectSetting::Documented),
                _ => None,
            });
            sets.push(CloudConfig {
                name,
                sources,
                sites,
                dialect,
                secret: is_true(item, "secret"),
            });
        }
        sets
    }

    /// Sources of a set, by descending precedence.
    fn cloud_sources(&mut self, item: &Node) -> Vec<(CloudSource, Vec<Spanned<Arc<str>>>)> {
        const KEYS: [(&str, CloudSource); 5] = [
            ("parts", CloudSource::Parts),
            ("vendor-data2", CloudSource::VendorData2),
            ("vendor-data", CloudSource::VendorData),
            ("conf-d", CloudSource::ConfD),
            ("base", CloudSource::Base),
        ];
        let mut sources = Vec::new();
        for (key, source) in KEYS {
            let globs = texts(item, key);
            for glob in &globs {
                // The pattern must be valid after the site placeholders are replaced.
                let bare = glob.value.replace("{site}", "*").replace("{type}", "*");
                self.pattern(&Spanned::new(bare.into(), glob.span), path_glob);
            }
            if !globs.is_empty() {
                sources.push((source, globs));
            }
        }
        sources
    }

    fn references(&mut self, root: &Node) -> Vec<ReferenceSettings> {
        let mut references = Vec::new();
        let items = items(root, "references");
        for item in items {
            let field = |side: &str, key: &str| text(item.get(side)?.get(key)?);
            let schema = field("from", "schema");
            let target = field("to", "schema");
            for schema in schema.iter().chain(&target) {
                self.schema_name(schema);
            }
            let path =
                field("from", "path").and_then(|path| self.path(&path, Query::parse_bounded));
            if let (Some(schema), Some(target), Some(path)) = (schema, target, path) {
                references.push(ReferenceSettings {
                    schema,
                    path,
                    target,
                });
            }
        }
        references
    }

    fn queries(&mut self, root: &Node) -> Vec<NamedQuery> {
        let mut queries = Vec::new();
        for (name, node) in entries(root, "queries") {
            let columns = entries(node, "columns")
                .into_iter()
                .filter_map(|(title, path)| {
                    let path = self.path(&text(path)?, Query::parse_bounded)?;
                    Some((title.value, path))
                });
            queries.push(NamedQuery {
                description: text_at(node, "description")
                    .map_or_else(|| name.value.clone(), |it| it.value),
                kind: match node.get("kind").and_then(Node::as_str) {
                    Some("image") => QueryKind::Image,
                    Some("certificate") => QueryKind::Certificate,
                    Some(_) | None => QueryKind::Any,
                },
                columns: columns.collect(),
                from: items(node, "from")
                    .iter()
                    .filter_map(|source| self.query_source(source))
                    .collect(),
                name: name.value,
            });
        }
        queries
    }

    fn query_source(&mut self, source: &Node) -> Option<QuerySource> {
        let schema = text_at(source, "schema");
        let schema = match schema {
            Some(schema) => Some(self.pattern(&schema, plain_glob)?.glob),
            None => None,
        };
        let path = self.path(&text_at(source, "path")?, Query::parse_bounded)?;
        Some(QuerySource { schema, path })
    }

    fn client_version(&mut self, root: &Node) -> Option<Arc<str>> {
        let present = text_at(root, "client-version")?;
        self.version(&present);
        Some(present.value)
    }

    fn client_versions(&mut self, root: &Node) -> Vec<(Arc<str>, Arc<str>)> {
        let mut versions = Vec::new();
        for (name, node) in entries(root, "client-versions") {
            let Some(present) = text(node) else { continue };
            self.version(&present);
            versions.push((name.value, present.value));
        }
        versions
    }

    fn version(&mut self, present: &Spanned<Arc<str>>) {
        if version::numbers(&present.value).is_none() {
            let message = format!(
                "`{}` is not a valid version; write it as `1.2`",
                present.value
            );
            self.wrong(present.span, message);
        }
    }

    /// Problems inside the blocks are reported later, once the schemas are known.
    fn property_groups(&mut self, root: &Node) -> Vec<(Spanned<Arc<str>>, Node)> {
        let mut blocks = Vec::new();
        for (schema, block) in entries(root, "property-groups") {
            // The merged result of a set of parts has no Deckhand schema name.
            if &*schema.value != "cloud-config" {
                self.schema_name(&schema);
            }
            blocks.push((schema, block.clone()));
        }
        blocks
    }

    fn baseline(&mut self, root: &Node) -> Option<Spanned<Arc<str>>> {
        let baseline = text_at(root, "baseline")?;
        if let Some(fault) = invalid_path(&baseline.value) {
            self.wrong(baseline.span, fault);
        }
        Some(baseline)
    }

    fn outputs(&mut self, output: &Node) -> Vec<Arc<str>> {
        let outputs = texts(output, "default");
        let formats = self.vocabulary.formats;
        let mut printed = 0;
        for output in &outputs {
            let (format, file) = match output.value.split_once('=') {
                Some((format, file)) => (format, Some(file)),
                None => (&*output.value, None),
            };
            if !formats.contains(&format) {
                let unknown = format!("unknown format `{format}`");
                let message = match nearest(format, formats.iter().copied()) {
                    None => format!("{unknown}; expected one of {}", formats.join(", ")),
                    near => with_suggestion(unknown, near),
                };
                self.wrong(output.span, message);
            }
            if file == Some("") {
                self.wrong(output.span, "missing file name after `=`");
            }
            if let Some(fault) = file.and_then(invalid_path) {
                self.wrong(output.span, fault);
            }
            printed += usize::from(file.is_none());
            if printed > 1 && file.is_none() {
                self.wrong(
                    output.span,
                    "only one report can be written to standard output",
                );
            }
        }
        outputs.into_iter().map(|output| output.value).collect()
    }

    /// Link template at the key `links` of a mapping.
    fn links(&mut self, node: &Node) -> Option<Arc<str>> {
        let links = text_at(node, "links")?;
        if let Err(fault) = (self.vocabulary.links)(&links.value) {
            self.wrong(links.span, fault);
        }
        Some(links.value)
    }

    /// Base URL of the rule pages.
    fn docs_url(&mut self, output: &Node) -> Option<Arc<str>> {
        let url = text_at(output, "docs-url")?;
        if !url.value.is_empty()
            && let Err(fault) = (self.vocabulary.docs_url)(&url.value)
        {
            self.wrong(url.span, fault);
        }
        Some(url.value)
    }

    fn path<P>(
        &mut self,
        path: &Spanned<Arc<str>>,
        parse: impl FnOnce(&str) -> Result<P, InvalidQuery>,
    ) -> Option<P> {
        let parsed = parse(&path.value);
        if let Err(invalid) = &parsed {
            self.wrong(
                path.span,
                format!("invalid path `{}`: {invalid}", path.value),
            );
        }
        parsed.ok()
    }

    fn patterns(&mut self, node: &Node, key: &str, kind: GlobKind) -> Vec<GlobPattern> {
        texts(node, key)
            .iter()
            .filter_map(|text| self.pattern(text, kind))
            .collect()
    }

    fn pattern(&mut self, text: &Spanned<Arc<str>>, kind: GlobKind) -> Option<GlobPattern> {
        match kind(&text.value) {
            Ok(glob) => Some(GlobPattern {
                glob,
                span: text.span,
            }),
            Err(error) => {
                let message = format!("`{}` is not a valid glob: {}", text.value, error.kind());
                self.wrong(text.span, message);
                None
            }
        }
    }
}

type GlobKind = fn(&str) -> Result<Glob, globset::Error>;

/// Glob for names; `*` matches any characters.
fn plain_glob(text: &str) -> Result<Glob, globset::Error> {
    Glob::new(text)
}

/// Glob for paths; `*` matches within one folder, `**` across folders.
fn path_glob(text: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(text).literal_separator(true).build()
}

/// Describes why `file` must not be written, if so. A change of the configuration must not allow
/// writes elsewhere on the machine.
fn invalid_path(file: &str) -> Option<String> {
    let parts = || Path::new(file).components();
    if !parts().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        Some(format!("`{file}` is outside the folder of this file"))
    } else if parts().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
        Some(format!("`{file}` is inside `.git`"))
    } else {
        None
    }
}

fn with_suggestion(message: String, near: Option<&str>) -> String {
    match near {
        Some(near) => format!("{message}; did you mean `{near}`?"),
        None => message,
    }
}

fn text(node: &Node) -> Option<Spanned<Arc<str>>> {
    match &node.value {
        Value::String(text) => Some(Spanned::new(text.clone().into(), node.span)),
        _ => None,
    }
}

fn text_at(node: &Node, key: &str) -> Option<Spanned<Arc<str>>> {
    text(node.get(key)?)
}

fn texts(node: &Node, key: &str) -> Vec<Spanned<Arc<str>>> {
    items(node, key).iter().filter_map(text).collect()
}

fn items<'n>(node: &'n Node, key: &str) -> &'n [Node] {
    let items = node.get(key).and_then(Node::as_sequence);
    items.unwrap_or_default()
}

fn is_true(node: &Node, key: &str) -> bool {
    node.get(key)
        .is_some_and(|node| node.value == Value::Bool(true))
}

fn limit(node: &Node, key: &str) -> Option<Spanned<usize>> {
    let node = node.get(key)?;
    match node.value {
        Value::Int(number) => Some(Spanned::new(usize::try_from(number).ok()?, node.span)),
        _ => None,
    }
}

/// Levels at a key of a mapping, in order.
fn levels(node: &Node, key: &str) -> Vec<(Spanned<Arc<str>>, Level)> {
    let level = |node: &Node| match (node.as_str(), &node.value) {
        (Some("note"), _) => Some(Level::Note),
        (Some("warning"), _) => Some(Level::Warning),
        (Some("error"), _) => Some(Level::Error),
        // YAML 1.1 reads a bare `off` as false.
        (Some("off"), _) | (_, Value::Bool(false)) => Some(Level::Off),
        _ => None,
    };
    entries(node, key)
        .into_iter()
        .filter_map(|(word, node)| Some((word, level(node)?)))
        .collect()
}

fn armada(node: &Node) -> Option<Arc<str>> {
    text_at(node, "armada").map(|name| name.value)
}

/// Entries of the mapping at `key`, in order.
fn entries<'n>(node: &'n Node, key: &str) -> Vec<(Spanned<Arc<str>>, &'n Node)> {
    node.get(key).map(mapping).unwrap_or_default()
}

fn mapping(node: &Node) -> Vec<(Spanned<Arc<str>>, &Node)> {
    let entries = node.as_mapping().into_iter().flat_map(yaml::Mapping::iter);
    entries
        .filter_map(|(key, node)| Some((Spanned::new(key.as_str()?.into(), key.span), node)))
        .collect()
}

/// One-line message for a YAML problem.
fn describe(kind: &YamlProblemKind) -> String {
    match kind {
        YamlProblemKind::Invalid(
            InvalidYaml::Syntax(reason) | InvalidYaml::RefusedByLibyaml(reason),
        ) => {
            format!("invalid YAML: {reason}")
        }
        YamlProblemKind::Unusual(description) => format!("unusual YAML: {description}"),
        YamlProblemKind::DuplicateKey { .. } => "duplicate key".to_owned(),
        YamlProblemKind::AmbiguousMerge { .. } => {
            "`<<` merges different values of one key".to_owned()
        }
        YamlProblemKind::Invalid(InvalidYaml::UnhashableKey) => {
            "a list or mapping cannot be used as a key".to_owned()
        }
        YamlProblemKind::UnknownTag(tag) => format!("unknown tag `{tag}`"),
        YamlProblemKind::InvalidScalar(reason) => format!("invalid value: {reason}"),
        YamlProblemKind::Invalid(InvalidYaml::InvalidMerge) => {
            "`<<` can merge only mappings".to_owned()
        }
        YamlProblemKind::Invalid(InvalidYaml::UndefinedAlias(name)) => {
            format!("undefined anchor `&{name}`")
        }
        YamlProblemKind::Invalid(InvalidYaml::DuplicateAnchor { .. }) => {
            "duplicate anchor".to_owned()
        }
        YamlProblemKind::Invalid(InvalidYaml::RecursiveAlias) => {
            "this alias refers to a node that contains it".to_owned()
        }
        YamlProblemKind::Internal => "layercake failed to read this; please report it".to_owned(),
        YamlProblemKind::OverLimit(_) => "too large for a configuration file".to_owned(),
        YamlProblemKind::Invalid(InvalidYaml::RefusedByPython(_)) | YamlProblemKind::Surrogate => {
            unreachable!("a configuration is read with libyaml")
        }
    }
}
