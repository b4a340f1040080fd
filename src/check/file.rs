//! One file after reading: its documents, the findings of file rules, and its secrets.

use std::collections::HashSet;
use std::sync::Arc;

use super::Work;
use crate::diagnostic::Diagnostic;
use crate::guard::{Place as Guarded, guarded};
use crate::ignore;
use crate::rules::{self, FileContents, FileFacts, RuleOptions};
use crate::source::{FileId, Source, SourceMap, Span, offset};
use crate::stopwatch::{Stage, time};
use crate::system::cloud_init::part::CloudPart;
use crate::system::deckhand::document::{Document, DocumentFault, DocumentFaultKind};
use crate::system::deckhand::known::KnownToThreads;
use crate::system::deckhand::layout::{Layout, Place};
use crate::system::deckhand::read::{Reading, Surroundings, read};
use crate::system::deckhand::schema::{Schemas, is_data_schema};
use crate::system::deckhand::secrecy::later::Later;
use crate::system::deckhand::secrecy::{Folder, SecretKinds};
use crate::yaml::{self, Node, Parsed};

/// A file that has been read.
#[derive(Clone, Copy)]
pub(super) struct AsRead<'f> {
    pub(super) id: FileId,
    /// Sites that it applies to; `None` for a file of a set.
    pub(super) place: Option<&'f Place>,
    /// Whether the whole file is secret, independent of its documents.
    pub(super) is_secret: bool,
    /// Its folder, or that of a symbolic link's target.
    pub(super) folder: Folder,
    /// Whether only the base has it in this version.
    pub(super) is_of_base: bool,
}

/// Content of one file.
#[derive(Debug, Default)]
pub(super) struct LoadedFile {
    pub(super) problems: Vec<yaml::YamlProblem>,
    pub(super) documents: Vec<Document>,
    pub(super) others: Vec<DocumentFault>,
    /// Places of secrets; the whole file if they cannot be located.
    pub(super) secrets: Vec<Span>,
    /// Whether no line of it may be shown.
    pub(super) is_opaque: bool,
    pub(super) comments: Vec<yaml::Comment>,
    /// Ignore comments.
    pub(super) ignores: ignore::Comments,
    /// Whether it is a file of cloud-init.
    pub(super) has_parts: bool,
    /// First document as written, if it may define a site.
    pub(super) definition: Option<Node>,
    /// Findings, with the place for which they were computed.
    pub(super) found: Option<(Option<Place>, Vec<Diagnostic>)>,
}

/// Reads the Deckhand documents of parsed files.
pub(super) struct FileReader<'r> {
    pub(super) schemas: &'r Schemas,
    pub(super) known: &'r KnownToThreads,
    pub(super) secrets: &'r SecretKinds,
    pub(super) work: Work,
}

impl FileReader<'_> {
    pub(super) fn file(&self, sources: &SourceMap, file: AsRead<'_>, parsed: Parsed) -> LoadedFile {
        let source = sources.get(file.id);
        let parsed = if file.is_secret {
            hidden(parsed)
        } else {
            parsed
        };
        let first = parsed
            .documents
            .first()
            .filter(|_| Layout::may_be_definition(source.path()));
        let definition = first.map(|document| document.root.clone());
        let place = Guarded::Documents(source.path().as_str());
        let loaded = guarded(place, || self.documents(file, source, parsed));
        let loaded = loaded.unwrap_or_else(|| LoadedFile::failed(file.id, source));
        LoadedFile {
            definition,
            ..loaded
        }
    }

    fn documents(&self, file: AsRead<'_>, source: &Source, parsed: Parsed) -> LoadedFile {
        let text = source.text();
        let (problems, comments) = (parsed.problems, parsed.comments);
        // Most files have one document; a growing vector would allocate four.
        let documents = Vec::with_capacity(parsed.documents.len());
        let mut loaded = LoadedFile {
            problems,
            documents,
            comments,
            ..LoadedFile::default()
        };
        let mut empty = EmptyDocuments::default();
        for document in &parsed.documents {
            let (kinds, folder) = (self.secrets, file.folder);
            let around = Surroundings {
                kinds,
                folder,
                problems: &loaded.problems,
            };
            let reading = || self.known.lend(|known| read(document, text, known, around));
            match guarded(Guarded::Reading(source.path().as_str()), reading) {
                Some(Reading::Document(document)) => loaded.documents.push(*document),
                Some(Reading::Nothing(fault)) => loaded.others.extend(empty.kept(fault)),
                None => loaded.problems.push(failure(file.id)),
            }
        }
        empty.count_in(&mut loaded.others);
        if self.work == Work::Judge {
            for schema in loaded
                .documents
                .iter()
                .filter(|document| is_data_schema(document))
            {
                // Compiled here to do it in parallel.
                time(Stage::Validate, || self.schemas.compiled(&schema.data));
            }
        }
        if file.is_secret {
            loaded.secrets = vec![Span::new(file.id, 0, offset(text.len()))];
        } else if loaded.has_secrets_anywhere(source, file.folder, self.secrets) {
            loaded.hide_all(file.id, source);
        } else {
            loaded.secrets = loaded.secrets_of_documents(file.id, text);
            if file.folder == Folder::Secrets && loaded.secrets.is_empty() {
                loaded.secrets = loaded.beside_public_documents(file.id, text);
            }
        }
        if self.work.has_findings() {
            loaded.ignores = ignore::read(file.id, source, &loaded.comments, &rules::ignorable);
        }
        loaded.ignores.hide(&loaded.secrets);
        loaded
    }
}

impl LoadedFile {
    /// Whether secrets may be anywhere in the file: part of it was not read as expected and may be
    /// secret.
    fn has_secrets_anywhere(&self, source: &Source, folder: Folder, kinds: &SecretKinds) -> bool {
        let is_lost = source.fault().is_some()
            || !self.others.is_empty()
            || self.problems.iter().any(|problem| problem.kind.is_fatal());
        let is_secret = |document: &Document| document.data.secret;
        self.documents.iter().any(|document| document.is_doubtful)
            || is_lost
                && (folder == Folder::Secrets
                    || self.documents.iter().any(is_secret)
                    || kinds.may_be_in(source.text()))
    }

    /// Comments outside of public documents, which may contain old secrets, except those for this
    /// program.
    fn beside_public_documents(&self, file: FileId, text: &str) -> Vec<Span> {
        let public = self
            .documents
            .iter()
            .filter(|document| !document.data.secret);
        let public: Vec<Span> = public
            .map(|document| from_content(document.span, text))
            .collect();
        let comments = self.comments.iter().map(|comment| comment.span);
        let is_public = |at: Span| {
            let before = public.partition_point(|document| document.start <= at.start);
            public[..before]
                .last()
                .is_some_and(|document| document.contains(at))
        };
        let is_beside = |at: &Span| {
            at.file == file && !is_public(*at) && !text[at.range()].starts_with("# layercake: ")
        };
        comments.filter(is_beside).collect()
    }

    /// Hidden parts of the secret documents that were read without errors: the data and everything
    /// after its key, such as comments.
    fn secrets_of_documents(&self, file: FileId, text: &str) -> Vec<Span> {
        let mut secrets = Vec::new();
        for (index, document) in self.documents.iter().enumerate() {
            if document.data.secret {
                secrets.push(document.data.span);
                let next = self.documents.get(index + 1).map(|next| next.span.start);
                let end = document.after_data.or(next).unwrap_or(offset(text.len()));
                secrets.extend(document.data_key.and_then(|key| behind(key, end, text)));
            }
        }
        secrets.retain(|span| span.file == file);
        if !secrets.is_empty() {
            secrets.extend(self.beside_public_documents(file, text));
        }
        secrets
    }
}

/// The span of a document without the marker and comments above its content.
fn from_content(document: Span, text: &str) -> Span {
    let lines = text[document.range()].split_inclusive('\n');
    let is_above = |line: &&str| {
        let line = line.strip_prefix("---").unwrap_or(line).trim_start();
        line.is_empty() || line.starts_with('#')
    };
    let above = lines.take_while(is_above);
    Span {
        start: document.start + offset(above.map(str::len).sum()),
        ..document
    }
}

/// The text between a key and byte `end`, without the colon and surrounding white space.
fn behind(key: Span, end: u32, text: &str) -> Option<Span> {
    let stretch = text.get(key.end as usize..end as usize)?;
    let stretch = stretch.trim_start();
    let stretch = stretch.strip_prefix(':').unwrap_or(stretch).trim_start();
    let start = end - offset(stretch.len());
    Some(Span::new(
        key.file,
        start,
        start + offset(stretch.trim_end().len()),
    ))
}

/// Empty documents of a file. A file can consist of millions of `---`, so only the first few are
/// reported one by one, the others as a number.
#[derive(Default)]
struct EmptyDocuments {
    kept: usize,
    more: usize,
}

impl EmptyDocuments {
    /// Maximum number of empty documents of a file that are reported one by one.
    const MAX_KEPT: usize = 20;

    /// The fault, unless there are too many empty documents already.
    fn kept(&mut self, fault: DocumentFault) -> Option<DocumentFault> {
        if !matches!(fault.kind, DocumentFaultKind::Empty { .. }) {
            return Some(fault);
        }
        if self.kept == Self::MAX_KEPT {
            self.more += 1;
            return None;
        }
        self.kept += 1;
        Some(fault)
    }

    /// Adds the number of dropped faults to the last one kept.
    fn count_in(&self, faults: &mut [DocumentFault]) {
        let mut kinds = faults.iter_mut().rev().map(|fault| &mut fault.kind);
        let last = kinds.find_map(|kind| match kind {
            DocumentFaultKind::Empty { more } => Some(more),
            _ => None,
        });
        if let Some(more) = last {
            *more = self.more;
        }
    }
}

impl LoadedFile {
    /// Whether documents are missing because the text cannot be parsed to its end.
    pub(super) fn breaks_off(&self) -> bool {
        self.problems.iter().any(|problem| problem.kind.is_fatal())
    }

    /// Facts for the rules, for a file of documents outside of any site.
    pub(super) fn facts<'a>(
        &'a self,
        sources: &'a SourceMap,
        file: FileId,
        schemas: &'a Schemas,
        settings: &'a RuleOptions,
    ) -> FileFacts<'a> {
        FileFacts {
            sources,
            file,
            problems: &self.problems,
            documents: &self.documents,
            others: &self.others,
            secrets: &self.secrets,
            ignores: &self.ignores,
            holds: FileContents::Documents,
            place: None,
            schemas,
            settings,
        }
    }

    /// Runs the rules for files on it.
    pub(super) fn judge(
        &mut self,
        sources: &SourceMap,
        file: AsRead<'_>,
        schemas: &Schemas,
        settings: &RuleOptions,
    ) {
        let facts = self.facts(sources, file.id, schemas, settings);
        let found = rules::report_file(&FileFacts {
            place: file.place,
            ..facts
        });
        self.found = Some((file.place.cloned(), found));
    }

    /// Frees data of its documents that can be read again when needed; for a repository like
    /// treasuremap it is two fifths of all values.
    pub(super) fn free_documents(&mut self, sources: &SourceMap, file: AsRead<'_>) {
        let source = sources.get(file.id);
        // Unreadable files and secret ones are not read again.
        if source.fault().is_some() || file.is_secret || self.documents.is_empty() {
            return;
        }
        let text = Arc::new(yaml::WholeText::new(file.id, source.text().clone()));
        for document in &mut self.documents {
            document.leave_to(&text);
        }
    }

    /// A file at which layercake failed. All of it may be secret.
    fn failed(file: FileId, source: &Source) -> Self {
        let whole = Span::new(file, 0, offset(source.text().len()));
        let problems = vec![failure(file)];
        Self {
            problems,
            secrets: vec![whole],
            is_opaque: true,
            ..Self::default()
        }
    }

    /// Adds the problems, comments and secrets of a part in the file.
    pub(super) fn add_part(&mut self, part: &CloudPart) {
        self.problems.extend(part.problems.iter().cloned());
        self.comments.extend(&part.comments);
        if part.data.secret {
            self.secrets.push(part.span);
        }
    }

    /// Removes duplicates: a text may be read once per side and once per file that includes it.
    pub(super) fn dedup(&mut self) {
        self.problems.sort_by_key(|problem| problem.span);
        self.problems.dedup();
        self.comments.sort_by_key(|comment| comment.span);
        self.comments.dedup();
        let mut known = HashSet::new();
        self.secrets.retain(|secret| known.insert(*secret));
    }

    pub(super) fn read_ignores(&mut self, file: FileId, sources: &SourceMap) {
        let source = sources.get(file);
        self.ignores = ignore::read(file, source, &self.comments, &rules::ignorable);
        self.ignores.hide(&self.secrets);
    }

    /// Hides a file of parts if something in it is unreadable and may be secret.
    pub(super) fn hide_lost_parts(
        &mut self,
        file: FileId,
        sources: &SourceMap,
        kinds: &SecretKinds,
    ) {
        let is_lost = self.problems.iter().any(|problem| problem.kind.is_fatal());
        if is_lost && kinds.may_be_in(sources.get(file).text()) {
            self.hide_all(file, sources.get(file));
        }
    }

    /// Hides the layers of its secret documents that are not known.
    pub(super) fn hide_layers(&mut self, is_known: &dyn Fn(&str) -> bool) {
        let mut hidden = Vec::new();
        for document in self
            .documents
            .iter_mut()
            .filter(|document| document.data.secret)
        {
            let layer = document
                .layer
                .as_ref()
                .filter(|layer| !is_known(&layer.value));
            hidden.extend(layer.map(|layer| layer.span));
            if layer.is_some() {
                document.hide_layer();
            }
        }
        if !hidden.is_empty() {
            self.secrets.extend(hidden);
            self.ignores.hide(&self.secrets);
            // Findings may quote it.
            self.found = None;
        }
    }

    /// Hides the parts of its documents that are secret later.
    pub(super) fn hide_later(&mut self, later: &[Option<Later>], file: FileId, source: &Source) {
        if later.iter().all(Option::is_none) {
            return;
        }
        for (document, later) in self.documents.iter_mut().zip(later) {
            let Some(later) = later else { continue };
            document.hide(later);
            match later {
                Later::Data => {}
                Later::Scalars(places) => self.secrets.extend(places),
            }
        }
        self.secrets
            .extend(self.secrets_of_documents(file, source.text()));
        self.ignores.hide(&self.secrets);
        // Findings may quote it.
        self.found = None;
    }

    fn hide_all(&mut self, file: FileId, source: &Source) {
        self.secrets = vec![Span::new(file, 0, offset(source.text().len()))];
        self.is_opaque = true;
    }
}

/// Parsed content of a file that is secret as a whole.
fn hidden(parsed: Parsed) -> Parsed {
    let hide = |document: yaml::YamlDocument| yaml::YamlDocument {
        root: document.root.into_secret(),
        ..document
    };
    Parsed {
        documents: parsed.documents.into_iter().map(hide).collect(),
        ..parsed
    }
}

/// Problem for an internal failure at a file.
pub(super) fn failure(file: FileId) -> yaml::YamlProblem {
    yaml::YamlProblem {
        span: Span::point(file, 0),
        kind: yaml::YamlProblemKind::Internal,
    }
}
