//! The files of a run: read and parsed once, their documents read, and which
//! of them make a site. What is wrong with a file by itself is told from here.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;

use super::{Further, Plan, Progress, Scope, counts_for};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::merge::pattern::Patterns;
use crate::rules::{self, FileFacts};
use crate::source::{
    EntryKind, FileId, RepoPath, Source, SourceMap, Span, TextFault, Tree, offset,
};
use crate::system::deckhand::document::{Document, Fault, FaultKind};
use crate::system::deckhand::layout::{Layout, Problem as LayoutProblem, SiteFiles};
use crate::system::deckhand::read::{Reading, read, secret_stretch};
use crate::yaml::{self, Parsed};

/// The files that are rendered together.
pub(super) struct SetFiles {
    pub(super) name: Option<Arc<str>>,
    pub(super) site_type: Option<Arc<str>>,
    pub(super) files: Vec<FileId>,
}

impl From<SiteFiles> for SetFiles {
    fn from(site: SiteFiles) -> Self {
        Self { name: Some(site.name), site_type: Some(site.site_type), files: site.files }
    }
}

/// What one file holds.
#[derive(Debug)]
pub(super) struct LoadedFile {
    problems: Vec<yaml::Problem>,
    pub(super) documents: Vec<Document>,
    others: Vec<Fault>,
    /// Where secrets stand, as far as can be told.
    secrets: Vec<Span>,
}

/// All files of a run, read and parsed.
pub(super) struct Loaded {
    pub(super) sources: SourceMap,
    pub(super) files: Vec<LoadedFile>,
    sets: Vec<SetFiles>,
    layout_problems: Vec<LayoutProblem>,
    in_repository: bool,
}

/// All files of a run, parsed, and how they lie.
pub(super) struct Parse {
    pub(super) sources: SourceMap,
    pub(super) parsed: Vec<(FileId, Parsed)>,
    /// None for a set.
    layout: Option<Layout>,
}

impl Parse {
    pub(super) fn new(plan: &Plan<'_>) -> Result<Self, Error> {
        match &plan.scope {
            Scope::Repository { layout, further } => Self::repository(plan, layout, further),
            Scope::Set(paths) => Self::set(plan, paths),
        }
    }

    fn repository(
        plan: &Plan<'_>,
        layout: &Layout,
        further: &[Further<'_>],
    ) -> Result<Self, Error> {
        let mut layout = layout.clone();
        for (index, repository) in further.iter().enumerate() {
            layout.add_repository(index, repository.tree, &repository.root)?;
        }
        layout.ensure_present(plan.tree, None)?;
        for (index, repository) in further.iter().enumerate() {
            layout.ensure_present(repository.tree, Some(index))?;
        }
        let mut sources = SourceMap::new();
        let parsed = parse_all(&mut sources, &layout.files, plan.progress, |file| {
            let tree = file.repository.map_or(plan.tree, |index| further[index].tree);
            (file.path.clone(), tree)
        })?;
        Ok(Self { sources, parsed, layout: Some(layout) })
    }

    fn set(plan: &Plan<'_>, paths: &[RepoPath]) -> Result<Self, Error> {
        let mut files = BTreeSet::new();
        for path in paths {
            let entries = plan.tree.entries(path)?;
            let yaml = entries.into_iter().filter(|entry| {
                let name = entry.path.as_str();
                entry.kind == EntryKind::File && (name.ends_with(".yaml") || name.ends_with(".yml"))
            });
            let before = files.len();
            files.extend(yaml.map(|entry| entry.path));
            if files.len() == before && !path.is_root() {
                // Not a folder with YAML in it: a file, named by hand.
                files.insert(path.clone());
            }
        }
        let files: Vec<RepoPath> = files.into_iter().collect();
        plan.tree.ensure_present(&files)?;
        let mut sources = SourceMap::new();
        let parsed =
            parse_all(&mut sources, &files, plan.progress, |path| (path.clone(), plan.tree))?;
        Ok(Self { sources, parsed, layout: None })
    }
}

impl Loaded {
    pub(super) fn new(plan: &Plan<'_>) -> Result<Self, Error> {
        let Parse { mut sources, parsed, layout } = Parse::new(plan)?;
        let mut layout_problems = Vec::new();
        let sets = match (&layout, &plan.scope) {
            (Some(layout), Scope::Repository { further, .. }) => {
                sites_of(layout, further, &mut sources, &parsed, &mut layout_problems)
            }
            _ => {
                let files = parsed.iter().map(|(file, _)| *file).collect();
                vec![SetFiles { name: None, site_type: None, files }]
            }
        };
        let files = documents_of(&sources, parsed);
        let in_repository = layout.is_some();
        Ok(Self { sources, files, sets, layout_problems, in_repository })
    }

    pub(super) fn file(&self, file: FileId) -> &LoadedFile {
        &self.files[file.0 as usize]
    }

    /// The sites that the plan asks for.
    pub(super) fn wanted_sites(&self, plan: &Plan<'_>) -> Result<Vec<&SetFiles>, Error> {
        let Some(globs) = &plan.sites else { return Ok(self.sets.iter().collect()) };
        let wanted: Vec<&SetFiles> = self
            .sets
            .iter()
            .filter(|set| set.name.as_ref().is_some_and(|name| globs.is_match(&**name)))
            .collect();
        let is_broken = |mut finding: Diagnostic| counts_for(&mut finding, globs);
        if !wanted.is_empty() || self.layout_findings().into_iter().any(is_broken) {
            return Ok(wanted);
        }
        let names: Vec<&str> = self.sets.iter().filter_map(|set| set.name.as_deref()).collect();
        let help = match (self.in_repository, names.is_empty()) {
            (true, false) => format!("the sites are: {}", names.join(", ")),
            (true, true) => "no site of this repository has a usable site definition".into(),
            (false, _) => "a set of files has no sites; leave `--site` out".into(),
        };
        Err(Error::new(ErrorKind::Usage, "no site matches `--site`").with_help(help))
    }

    /// How many documents the files hold that the plan asks for.
    pub(super) fn documents(&self, plan: &Plan<'_>, wanted: &[&SetFiles]) -> usize {
        if plan.sites.is_none() {
            return self.files.iter().map(|file| file.documents.len()).sum();
        }
        let files: BTreeSet<FileId> = wanted.iter().flat_map(|set| &set.files).copied().collect();
        files.into_iter().map(|file| self.file(file).documents.len()).sum()
    }

    /// The findings of all files by themselves, with the sites they count for.
    pub(super) fn file_findings(&self) -> Vec<Diagnostic> {
        let mut sites: BTreeMap<FileId, Vec<Arc<str>>> = BTreeMap::new();
        for set in &self.sets {
            for file in &set.files {
                sites.entry(*file).or_default().extend(set.name.clone());
            }
        }
        let facts = self.files.iter().enumerate().map(|(index, loaded)| FileFacts {
            sources: &self.sources,
            file: FileId(offset(index)),
            problems: &loaded.problems,
            documents: &loaded.documents,
            others: &loaded.others,
            secrets: &loaded.secrets,
        });
        facts
            .flat_map(|facts| {
                let mut found = rules::word_file(&facts);
                let concerned = sites.get(&facts.file).cloned().unwrap_or_default();
                for diagnostic in &mut found {
                    diagnostic.sites.clone_from(&concerned);
                }
                found
            })
            .collect()
    }

    /// Whether layercake itself failed while it read a file.
    pub(super) fn has_failed(&self) -> bool {
        let mut problems = self.files.iter().flat_map(|file| &file.problems);
        problems.any(|problem| problem.kind == yaml::ProblemKind::Internal)
    }

    pub(super) fn layout_findings(&self) -> Vec<Diagnostic> {
        let problems = self.layout_problems.iter();
        problems.map(rules::word_layout).collect()
    }

    pub(super) fn secrets(&self) -> Vec<Span> {
        self.files.iter().flat_map(|file| &file.secrets).copied().collect()
    }

    /// Files with a document that was not read, and perhaps a secret in it.
    pub(super) fn opaque(&self) -> Vec<FileId> {
        let unread =
            |file: &LoadedFile| file.problems.iter().any(|problem| problem.kind.is_fatal());
        let files = self.files.iter().enumerate().filter(|(_, file)| unread(file));
        files
            .map(|(index, _)| FileId(offset(index)))
            .filter(|file| may_hold_secrets(self.sources.get(*file).text()))
            .collect()
    }
}

/// Whether a text that is not understood speaks of secrets.
fn may_hold_secrets(text: &str) -> bool {
    let words = ["encrypted", "Passphrase", "PrivateKey", "CertificateKey", "AuthorityKey"];
    words.iter().any(|word| text.contains(word))
}

/// The sites of a layout; what is in the way gets a source of its own, to
/// point at.
fn sites_of(
    layout: &Layout,
    further: &[Further<'_>],
    sources: &mut SourceMap,
    parsed: &[(FileId, Parsed)],
    problems: &mut Vec<LayoutProblem>,
) -> Vec<SetFiles> {
    for (path, oddity) in &layout.odd {
        let file = sources.add(Source::new(path.clone(), Ok(Vec::new())));
        problems.push(LayoutProblem::Odd { file, oddity: *oddity });
    }
    for site in layout.undefined_sites() {
        let missing = Source::new(layout.definition_of(&site), Ok(Vec::new()));
        let file = sources.add(missing);
        problems.push(LayoutProblem::MissingDefinition { file, site });
    }
    let given: Vec<String> = further.iter().map(|given| given.name.clone()).collect();
    let contents: Vec<(FileId, &Parsed)> = parsed.iter().map(|(id, it)| (*id, it)).collect();
    layout.sites(&contents, &given, problems).into_iter().map(SetFiles::from).collect()
}

/// Reads and parses files in parallel; ids are given in the order of `files`.
///
/// # Errors
/// Where git has a file and cannot give it back: the first such file.
fn parse_all<'t, F: Sync>(
    sources: &mut SourceMap,
    files: &[F],
    progress: &Progress,
    find: impl Fn(&F) -> (RepoPath, &'t dyn Tree) + Sync,
) -> Result<Vec<(FileId, Parsed)>, Error> {
    progress.files.fetch_add(files.len(), Relaxed);
    let first = &*sources;
    let read: Vec<Result<(FileId, Source, Parsed), Error>> = files
        .par_iter()
        .enumerate()
        .map(|(index, file)| {
            let (path, tree) = find(file);
            let id = first.upcoming(index);
            let bytes = tree.read(&path);
            if let Some(error) = bytes.as_ref().err().and_then(|error| error.fatal(&path)) {
                return Err(error);
            }
            let source = Source::new(path, bytes);
            let parsed = parse_guarded(id, &source);
            progress.files_read.fetch_add(1, Relaxed);
            Ok((id, source, parsed))
        })
        .collect();
    read.into_iter()
        .map(|read| {
            let (id, source, parsed) = read?;
            sources.add(source);
            Ok((id, parsed))
        })
        .collect()
}

/// Parses one file. A fault in layercake itself costs this file and says so;
/// the others go on, and nothing of what it left is used.
fn parse_guarded(file: FileId, source: &Source) -> Parsed {
    let parse = || yaml::parse(file, whole_documents(source));
    catch_unwind(AssertUnwindSafe(parse))
        .unwrap_or_else(|_| Parsed { problems: vec![failure(file)], ..Parsed::default() })
}

fn failure(file: FileId) -> yaml::Problem {
    yaml::Problem { span: Span::point(file, 0), kind: yaml::ProblemKind::Internal }
}

/// The text of a file as far as it can be trusted: where it breaks off, the
/// document in which it does is left out.
fn whole_documents(source: &Source) -> &str {
    let text = &**source.text();
    if source.fault().is_none() {
        return text;
    }
    let is_marker = |at: &usize| text[at + "\n---".len()..].starts_with(char::is_whitespace);
    let last = text.match_indices("\n---").map(|(at, _)| at).filter(is_marker).last();
    &text[..last.map_or(0, |at| at + 1)]
}

/// Reads the Deckhand documents of parsed files.
fn documents_of(sources: &SourceMap, parsed: Vec<(FileId, Parsed)>) -> Vec<LoadedFile> {
    let patterns = Patterns::default();
    parsed
        .into_par_iter()
        .map(|(file, parsed)| {
            let source = sources.get(file);
            let text = source.text();
            let mut loaded = LoadedFile {
                problems: parsed.problems,
                documents: Vec::new(),
                others: Vec::new(),
                secrets: Vec::new(),
            };
            for document in &parsed.documents {
                let reading = || read(document, text, &patterns);
                match catch_unwind(AssertUnwindSafe(reading)) {
                    Ok(Reading::Document(document)) => loaded.documents.push(*document),
                    Ok(Reading::Nothing(fault)) => loaded.others.push(fault),
                    Err(_) => loaded.problems.push(failure(file)),
                }
            }
            loaded.secrets = secrets_of(file, source, &loaded);
            loaded
        })
        .collect()
}

/// Where the secrets of a file stand: the data of its secret documents, and
/// what may be such a document where something could not be read.
fn secrets_of(file: FileId, source: &Source, loaded: &LoadedFile) -> Vec<Span> {
    let broken_off = match source.fault() {
        Some(TextFault::BadEncoding(_, at)) => Some(Span::point(file, *at)),
        Some(TextFault::Unreadable(_) | TextFault::TooLarge(_)) | None => None,
    };
    let is_lost = |at: &Span| !loaded.documents.iter().any(|document| document.span.contains(*at));
    let lost = loaded.problems.iter().map(|problem| problem.span).chain(broken_off).filter(is_lost);
    let stretches = lost.filter_map(|at| secret_stretch(source.text(), at.start as usize));
    let secret = loaded.documents.iter().filter(|document| document.data.secret);
    secret
        .flat_map(|document| secret_parts(document, &loaded.problems))
        .chain(stretches.map(|range| Span::new(file, offset(range.start), offset(range.end))))
        .collect()
}

/// What of a secret document nobody may see: its data, and where it has keys
/// beside those that are known, or one of them twice, all but its schema and
/// metadata.
fn secret_parts(document: &Document, problems: &[yaml::Problem]) -> Vec<Span> {
    let (whole, data) = (document.span, document.data.span);
    let has_unknown = |fault: &Fault| matches!(fault.kind, FaultKind::UnknownKey { .. });
    let is_beside =
        |problem: &yaml::Problem| whole.contains(problem.span) && !data.contains(problem.span);
    if !document.faults.iter().any(has_unknown) && !problems.iter().any(is_beside) {
        return vec![data];
    }
    let mut shown = vec![document.schema_span];
    shown.extend(document.metadata.as_mapping().map(|_| document.metadata.span));
    shown.sort_by_key(|span| span.start);
    let mut parts = Vec::new();
    let mut from = whole.start;
    for span in shown {
        parts.push(Span::new(whole.file, from, span.start.max(from)));
        from = span.end.max(from);
    }
    parts.push(Span::new(whole.file, from, whole.end));
    parts.retain(|part| part.start < part.end);
    parts
}
