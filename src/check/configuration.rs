//! What a repository's configuration asks of a run, and what of it nothing
//! heeds.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use globset::{GlobMatcher, GlobSet};

use crate::diagnostic::Diagnostic;
use crate::graph::MissingSource;
use crate::rules::{self, UnusedEntry, UnusedKind};
use crate::source::{FileId, RepoPath, Source, SourceMap, Span, Spanned};
use crate::system::cloud_init::declared::{DeclaredSet, SecretFiles};
use crate::system::deckhand::schema::GroupsBeside;
use crate::system::deckhand::secrecy::SecretKinds;
use crate::system::deckhand::{DeckhandOptions, Site, SiteProblem};
use crate::yaml::Node;

/// What is configured; by default, nothing.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    /// The path and text of the file, to show places in.
    pub file: Option<(RepoPath, Arc<str>)>,
    /// The file of the head, where it is not the one that counts and says
    /// something else.
    pub changed: Option<(RepoPath, Arc<str>)>,
    /// The sites that there are; all where it is not said.
    pub sites: Option<GlobSet>,
    /// Which kinds of document are secret by themselves.
    pub secrets: SecretKinds,
    /// What a substitution without its source is in some sites; a later one
    /// stands above an earlier.
    pub missing_source: Vec<(GlobMatcher, MissingSource)>,
    /// Substitution sources that are made at deploy time.
    pub known_missing: Vec<KnownMissing>,
    /// What cloud-init is given.
    pub sets: Vec<DeclaredSet>,
    /// What is secret beside the parts of those.
    pub secret_files: SecretFiles,
    /// Headers that some of its files come with.
    pub headers: Vec<GivenHeader>,
    /// What else of the file is to match something.
    pub entries: Vec<Entry>,
    /// Blocks of property groups, and the schemas of the documents that they
    /// are for.
    pub property_groups: Vec<(Spanned<Arc<str>>, Node)>,
}

/// A header that a file of user-data comes with, as a part of a message does.
#[derive(Clone, Debug)]
pub struct GivenHeader {
    /// The file.
    pub(crate) path: RepoPath,
    /// What stands for a file where the header is shown.
    pub(crate) given_as: RepoPath,
    /// Its name.
    pub(crate) name: Arc<str>,
    /// Its value.
    pub(crate) value: Arc<str>,
}

/// Substitution sources that are known to be missing.
#[derive(Clone, Debug)]
pub struct KnownMissing {
    /// In which sites; in all where it is not said.
    pub(crate) sites: Option<GlobMatcher>,
    /// What their `SCHEMA/NAME` matches.
    pub(crate) sources: GlobMatcher,
    /// Where the configuration file says so.
    pub(crate) at: Span,
}

/// A glob of the configuration file that is to match something.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Kind of name that it must match: a path or a site.
    pub(crate) of: UnusedKind,
    /// The glob.
    pub(crate) glob: GlobMatcher,
    /// The glob as it is written.
    pub(crate) written: Arc<str>,
    /// Where it stands in the configuration file.
    pub(crate) at: Span,
}

impl Configuration {
    /// Whether this is the path of its own file.
    pub(super) fn is_at(&self, path: &RepoPath) -> bool {
        self.file.as_ref().is_some_and(|(own, _)| own == path)
    }

    /// Whether a site is one of those that there are.
    pub(crate) fn has_site(&self, site: &str) -> bool {
        self.sites.as_ref().is_none_or(|sites| sites.is_match(site))
    }

    /// How the documents of a site are understood.
    pub(super) fn options(&self, general: &DeckhandOptions, site: Option<&str>) -> DeckhandOptions {
        let of_site = self.missing_source.iter().rev();
        let mut of_site =
            of_site.filter(|(sites, _)| site.is_some_and(|site| sites.is_match(site)));
        match of_site.next() {
            Some((_, missing_source)) => {
                DeckhandOptions { missing_source: *missing_source, ..general.clone() }
            }
            None => general.clone(),
        }
    }
}

/// The configuration of a run that is under way.
#[derive(Default)]
pub(super) struct Configured {
    file: Option<FileId>,
    changed: Option<FileId>,
    /// Which of the known missing sources were met.
    met: Vec<AtomicBool>,
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
            met: configuration.known_missing.iter().map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// A place of the configuration file, in the run's texts.
    pub(super) fn place(&self, at: Span) -> Option<Span> {
        self.file.map(|file| Span::new(file, at.start, at.end))
    }

    /// That the file of the head says something else than the one that counts.
    pub(super) fn change(&self) -> Option<Diagnostic> {
        self.changed.map(rules::word_changed_configuration)
    }

    /// The blocks of property groups, with the places that they have in this
    /// run.
    pub(super) fn groups(&self, configuration: &Configuration) -> Vec<GroupsBeside> {
        let blocks = configuration.property_groups.iter();
        let placed = blocks.filter_map(|(schema, block)| {
            Some(GroupsBeside { schema: schema.value.clone(), block: block.in_file(self.file?) })
        });
        placed.collect()
    }

    /// What of the configuration matches none of the files and sites, none of
    /// the missing sources that were met, and no schema of a document.
    pub(super) fn findings<'a>(
        &self,
        configuration: &Configuration,
        paths: impl Iterator<Item = &'a str>,
        sites: impl Iterator<Item = &'a str>,
        schemas: impl Iterator<Item = &'a str>,
    ) -> Vec<Diagnostic> {
        let Some(file) = self.file else { return Vec::new() };
        let schemas: BTreeSet<&str> = schemas.collect();
        let (paths, sites): (Vec<&str>, Vec<&str>) = (paths.collect(), sites.collect());
        let is_unused = |entry: &&Entry| {
            let names = if entry.of == UnusedKind::Site { &sites } else { &paths };
            !names.iter().any(|name| entry.glob.is_match(name))
        };
        let unused = configuration.entries.iter().filter(is_unused);
        let unused = unused.map(|entry| (entry.at, &*entry.written, entry.of));
        let known = configuration.known_missing.iter().zip(&self.met);
        let unmet = known
            .filter(|(_, met)| !met.load(Relaxed))
            .map(|(known, _)| (known.at, known.sources.glob().glob(), UnusedKind::MissingSource));
        let globs = unused.chain(unmet);
        let blocks = configuration.property_groups.iter().map(|(schema, _)| schema);
        let without = blocks
            .filter(|schema| !schemas.contains(&*schema.value))
            .map(|schema| (schema.span, &*schema.value, UnusedKind::Schema));
        globs
            .chain(without)
            .map(|(at, glob, kind)| {
                let at = Span::new(file, at.start, at.end);
                rules::word_unused(&UnusedEntry { at, glob, kind })
            })
            .collect()
    }

    /// Leaves out what is known to be missing.
    pub(super) fn without_known(&self, configuration: &Configuration, site: &mut Site<'_>) {
        let name = site.name.clone();
        let documents = &site.documents;
        site.problems.retain(|problem| {
            let SiteProblem::MissingSource { doc, substitution, of_abstract: None, .. } = problem
            else {
                return true;
            };
            let wanted = &documents[doc.index()].sources[*substitution];
            let source = format!("{}/{}", wanted.schema.value, wanted.name.value);
            let mut is_known = false;
            for (known, met) in configuration.known_missing.iter().zip(&self.met) {
                let in_site = known
                    .sites
                    .as_ref()
                    .is_none_or(|sites| name.as_ref().is_some_and(|name| sites.is_match(&**name)));
                if in_site && known.sources.is_match(&source) {
                    met.store(true, Relaxed);
                    is_known = true;
                }
            }
            !is_known
        });
    }
}
