//! Settings of a repository's configuration that apply to a run, and findings for unused ones.

use std::collections::BTreeSet;
use std::sync::Arc;

use globset::{GlobMatcher, GlobSet};

use crate::deployment::{ArmadaKind, ConsequenceTable};
use crate::diagnostic::Diagnostic;
use crate::graph::MissingSource;
use crate::rules::{self, UnusedEntry, UnusedKind};
use crate::source::{FileId, RepoPath, Source, SourceMap, Span, Spanned};
use crate::system::cloud_init::declared::{DeclaredSet, SecretFiles};
use crate::system::deckhand::schema::GroupsBeside;
use crate::system::deckhand::secrecy::SecretKinds;
use crate::system::deckhand::{DeckhandOptions, Site, SiteProblem};
use crate::yaml::Node;

/// Configuration of a run; empty by default.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    /// Path and text of the file, to show places in it.
    pub file: Option<(RepoPath, Arc<str>)>,
    /// The head's configuration file, if it is not the one in effect and differs from it.
    pub changed: Option<(RepoPath, Arc<str>)>,
    /// Existing sites; `None` for all.
    pub sites: Option<GlobSet>,
    /// Kinds of documents that are always secret.
    pub secrets: SecretKinds,
    /// Levels of missing substitution sources by site; later entries take precedence.
    pub missing_source: Vec<(GlobMatcher, MissingSource)>,
    /// Program that applies manifests.
    pub armada: ChosenArmada,
    /// Consequences of changes.
    pub consequences: ConsequenceTable,
    /// Substitution sources that are created at deploy time.
    pub known_missing: Vec<KnownMissing>,
    /// Declared sets of cloud-init parts.
    pub sets: Vec<DeclaredSet>,
    /// Other secret files.
    pub secret_files: SecretFiles,
    /// Headers given for some of its files.
    pub headers: Vec<GivenHeader>,
    /// Other entries of the file that must match something.
    pub entries: Vec<Entry>,
    /// Blocks of property groups, with the schemas of their documents.
    pub property_groups: Vec<(Spanned<Arc<str>>, Node)>,
}

/// Program that applies manifests, where it is chosen.
#[derive(Clone, Debug, Default)]
pub struct ChosenArmada {
    pub(crate) of_all: Option<ArmadaKind>,
    /// By site; later entries take precedence.
    pub(crate) of_sites: Vec<(GlobMatcher, ArmadaKind)>,
}

impl ChosenArmada {
    pub(crate) fn of(&self, site: Option<&str>) -> Option<ArmadaKind> {
        let mut of_site = self.of_sites.iter().rev();
        let of_site = of_site.find(|(sites, _)| site.is_some_and(|site| sites.is_match(site)));
        of_site.map(|(_, armada)| *armada).or(self.of_all)
    }
}

/// Header given for a user-data file, as for a part of a MIME message.
#[derive(Clone, Debug)]
pub struct GivenHeader {
    pub(crate) path: RepoPath,
    /// Path shown in place of the header's file.
    pub(crate) given_as: RepoPath,
    pub(crate) name: Arc<str>,
    pub(crate) value: Arc<str>,
}

/// Substitution sources that are known to be missing.
#[derive(Clone, Debug)]
pub struct KnownMissing {
    /// Sites; all if `None`.
    pub(crate) sites: Option<GlobMatcher>,
    /// Glob for `SCHEMA/NAME` of the sources.
    pub(crate) sources: GlobMatcher,
    /// Place in the configuration file.
    pub(crate) at: Span,
}

/// Glob of the configuration file that must match something.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Kind of name that it must match: a path or a site.
    pub(crate) of: UnusedKind,
    pub(crate) glob: GlobMatcher,
    /// The glob as written.
    pub(crate) written: Arc<str>,
    /// Place in the configuration file.
    pub(crate) at: Span,
}

impl Configuration {
    /// Whether `path` is the configuration file.
    pub(super) fn is_at(&self, path: &RepoPath) -> bool {
        self.file.as_ref().is_some_and(|(own, _)| own == path)
    }

    /// Whether the configuration includes a site.
    pub(crate) fn has_site(&self, site: &str) -> bool {
        self.sites.as_ref().is_none_or(|sites| sites.is_match(site))
    }

    /// Removes the known missing sources from a site, and returns which it needs.
    pub(super) fn remove_known(&self, site: &mut Site<'_>) -> MetSources {
        let mut met = MetSources::new();
        let name = site.name.clone();
        let documents = &site.documents;
        site.problems.retain(|problem| {
            let SiteProblem::MissingSource {
                doc,
                substitution,
                of_abstract: None,
                ..
            } = problem
            else {
                return true;
            };
            let wanted = &documents[doc.index()].sources[*substitution];
            let source = format!("{}/{}", wanted.schema.value, wanted.name.value);
            let mut is_known = false;
            for (index, known) in self.known_missing.iter().enumerate() {
                let in_site = known
                    .sites
                    .as_ref()
                    .is_none_or(|sites| name.as_ref().is_some_and(|name| sites.is_match(&**name)));
                if in_site && known.sources.is_match(&source) {
                    met.insert(index);
                    is_known = true;
                }
            }
            !is_known
        });
        met
    }

    /// Options for the documents of a site.
    pub(super) fn options(&self, general: &DeckhandOptions, site: Option<&str>) -> DeckhandOptions {
        let of_site = self.missing_source.iter().rev();
        let mut of_site =
            of_site.filter(|(sites, _)| site.is_some_and(|site| sites.is_match(site)));
        match of_site.next() {
            Some((_, missing_source)) => DeckhandOptions {
                missing_source: *missing_source,
                ..general.clone()
            },
            None => general.clone(),
        }
    }
}

/// Indexes of the known missing sources that documents of a site need.
pub(super) type MetSources = BTreeSet<usize>;

/// Configuration during a run.
#[derive(Default)]
pub(super) struct Configured {
    file: Option<FileId>,
    changed: Option<FileId>,
}

impl Configured {
    pub(super) fn new(configuration: &Configuration, sources: &mut SourceMap) -> Self {
        let mut add = |file: &Option<(RepoPath, Arc<str>)>| {
            let (path, text) = file.as_ref()?;
            Some(sources.add(Source::new(path.clone(), Ok(text.as_bytes().to_vec()))))
        };
        Self {
            file: add(&configuration.file),
            changed: add(&configuration.changed),
        }
    }

    /// Files of the configuration.
    pub(super) fn files(&self) -> impl Iterator<Item = FileId> {
        self.file.into_iter().chain(self.changed)
    }

    /// A place of the configuration file as a place in the run's sources.
    pub(super) fn place(&self, at: Span) -> Option<Span> {
        self.file.map(|file| Span::new(file, at.start, at.end))
    }

    /// Finding for a changed configuration file in the head that is not in effect.
    pub(super) fn change(&self) -> Option<Diagnostic> {
        self.changed.map(rules::report_changed_configuration)
    }

    /// Blocks of property groups with their places in this run.
    pub(super) fn groups(&self, configuration: &Configuration) -> Vec<GroupsBeside> {
        let blocks = configuration.property_groups.iter();
        let placed = blocks.filter_map(|(schema, block)| {
            Some(GroupsBeside {
                schema: schema.value.clone(),
                block: block.in_file(self.file?),
            })
        });
        placed.collect()
    }

    /// Findings for entries that match no file, site or document schema, and for known missing
    /// sources that are not among the `met` ones.
    pub(super) fn findings<'a>(
        &self,
        configuration: &Configuration,
        met: &MetSources,
        paths: impl Iterator<Item = &'a str>,
        sites: impl Iterator<Item = &'a str>,
        schemas: impl Iterator<Item = &'a str>,
    ) -> Vec<Diagnostic> {
        let Some(file) = self.file else {
            return Vec::new();
        };
        let schemas: BTreeSet<&str> = schemas.collect();
        let (paths, sites): (Vec<&str>, Vec<&str>) = (paths.collect(), sites.collect());
        let is_unused = |entry: &&Entry| {
            let names = if entry.of == UnusedKind::Site {
                &sites
            } else {
                &paths
            };
            !names.iter().any(|name| entry.glob.is_match(name))
        };
        let unused = configuration.entries.iter().filter(is_unused);
        let unused = unused.map(|entry| (entry.at, &*entry.written, entry.of));
        let known = configuration.known_missing.iter().enumerate();
        let unmet = known
            .filter(|(index, _)| !met.contains(index))
            .map(|(_, known)| {
                (
                    known.at,
                    known.sources.glob().glob(),
                    UnusedKind::MissingSource,
                )
            });
        let globs = unused.chain(unmet);
        let blocks = configuration
            .property_groups
            .iter()
            .map(|(schema, _)| schema);
        let without = blocks
            .filter(|schema| !schemas.contains(&*schema.value))
            .map(|schema| (schema.span, &*schema.value, UnusedKind::Schema));
        globs
            .chain(without)
            .map(|(at, glob, kind)| {
                let at = Span::new(file, at.start, at.end);
                rules::report_unused(&UnusedEntry { at, glob, kind })
            })
            .collect()
    }
}
