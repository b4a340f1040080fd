//! The baseline: findings accepted when a repository adopted layercake, one per line of a file in
//! the repository.
//!
//! A finding is identified by its fingerprint and its file, so it stays accepted when its lines
//! move. If its file or document moves, it is identified by the fingerprint alone. Identical
//! findings are counted, so an additional one is reported. `docs/ignoring.md` describes the file
//! format.

use std::collections::{BTreeMap, VecDeque};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{DedupKey, Findable, dedup_key, fingerprint};
use crate::diagnostic::{Diagnostic, Suppression, Trait};
use crate::source::{DocKey, FileId, RepoPath, SourceMap, Span, offset};

/// Identifier of the file format.
const SCHEMA: &str = "urn:layercake:baseline:1";

/// Default path of the baseline, relative to the root of the tree.
pub const FILE: &str = ".layercake-baseline.json";

/// Accepted findings, by file, rule, document and subject.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    /// Entries, in the order of the file.
    pub entries: Vec<BaselineEntry>,
}

/// Identical findings in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineEntry {
    /// File of their primary location.
    pub file: RepoPath,
    /// Name of the rule.
    pub rule: String,
    /// Document; `None` for findings about the file itself.
    pub document: Option<DocKey>,
    /// Subject; see `Diagnostic::subject`.
    pub subject: String,
    /// Number of findings.
    pub count: usize,
    /// See `fingerprint`.
    pub fingerprint: String,
    /// Location in the baseline file; `None` for a new entry.
    pub span: Option<Span>,
}

/// An entry with findings that no longer exist.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StaleEntry<'a> {
    pub(crate) entry: &'a BaselineEntry,
    /// Number of its findings that no longer exist.
    pub(crate) gone: usize,
}

/// Reason for rejecting a baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Line, from one.
    pub line: usize,
    pub(crate) message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileForm<'t> {
    schema: String,
    #[serde(borrow)]
    findings: Vec<&'t RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryForm {
    rule: String,
    file: String,
    document: Option<DocumentForm>,
    subject: String,
    count: usize,
    fingerprint: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DocumentForm {
    schema: String,
    layer: String,
    name: String,
}

impl Baseline {
    /// Parses a baseline; `file` identifies its text.
    ///
    /// # Errors
    /// If the text is not a valid baseline, or has another version.
    pub fn read(file: FileId, text: &str) -> Result<Self, Damage> {
        let form: FileForm<'_> = serde_json::from_str(text).map_err(|error| damage(&error, 0))?;
        if form.schema != SCHEMA {
            let message = format!("expected the schema `{SCHEMA}`");
            return Err(Damage { line: 1, message });
        }
        let entries = form
            .findings
            .iter()
            .map(|raw| BaselineEntry::read(file, text, raw));
        Ok(Self {
            entries: entries.collect::<Result<_, _>>()?,
        })
    }

    /// Whether a text begins like the output of [`to_text`](Self::to_text), even if it contains
    /// merge conflicts.
    pub(crate) fn is_recognized(text: &[u8]) -> bool {
        let begin = format!("{{\"schema\":\"{SCHEMA}\",\"findings\":[");
        let dense = text
            .iter()
            .copied()
            .filter(|byte| !byte.is_ascii_whitespace());
        dense.take(begin.len()).eq(begin.bytes())
    }

    /// Creates a baseline that accepts all `findings`, which are folded.
    pub(crate) fn of(findings: &[Diagnostic], sources: &SourceMap) -> Self {
        let mut alike: BTreeMap<_, (usize, String)> = BTreeMap::new();
        for finding in findings {
            let path = sources.path_of(finding.primary.span);
            let key = (
                path,
                finding.rule.name,
                finding.documents.first(),
                &*finding.subject,
            );
            alike
                .entry(key)
                .or_insert_with(|| (0, fingerprint(finding, path)))
                .0 += 1;
        }
        let entries =
            alike
                .into_iter()
                .map(
                    |((file, rule, document, subject), (count, fingerprint))| BaselineEntry {
                        file: file.clone(),
                        rule: rule.to_owned(),
                        document: document.cloned(),
                        subject: subject.to_owned(),
                        count,
                        fingerprint,
                        span: None,
                    },
                );
        Self {
            entries: entries.collect(),
        }
    }

    /// Serializes the baseline with one entry per line, so that diffs are minimal.
    pub fn to_text(&self) -> String {
        let entries: Vec<String> = self
            .entries
            .iter()
            .map(|entry| format!("    {}", entry.to_json()))
            .collect();
        let list = if entries.is_empty() {
            "[]".to_owned()
        } else {
            format!("[\n{}\n  ]", entries.join(",\n"))
        };
        format!("{{\n  \"schema\": \"{SCHEMA}\",\n  \"findings\": {list}\n}}\n")
    }

    /// Returns the baseline with the counts limited to `count` for each entry.
    #[must_use]
    pub(crate) fn keeping(&self, count: impl Fn(&BaselineEntry) -> usize) -> Self {
        let entries = self.entries.iter().map(|entry| {
            let count = count(entry).min(entry.count);
            BaselineEntry {
                count,
                ..entry.clone()
            }
        });
        Self {
            entries: entries.filter(|entry| entry.count > 0).collect(),
        }
    }

    /// Marks the accepted findings, and returns the stale entries.
    pub(super) fn suppress<'a>(
        &'a self,
        findings: &mut [Diagnostic],
        side: &Findable<'_>,
    ) -> Vec<StaleEntry<'a>> {
        let mut open = OpenFindings::of(findings, side.sources);
        let mut left: Vec<usize> = self.entries.iter().map(|entry| entry.count).collect();
        for (entry, left) in self.entries.iter().zip(&mut left) {
            let alike = open
                .groups
                .get_mut(&(entry.fingerprint.clone(), entry.file.clone()));
            *left -= alike.map_or(0, |alike| alike.accept(*left, entry));
        }
        for (entry, left) in self.entries.iter().zip(&mut left).filter(|(entry, _)| {
            // Only the remaining counts can belong to moved findings.
            !side.held.contains(&(&entry.file, entry.document.as_ref()))
        }) {
            let from = (entry.fingerprint.clone(), RepoPath::new(""));
            let groups = open.groups.range_mut(from..);
            for (_, alike) in groups.take_while(|((name, _), _)| *name == entry.fingerprint) {
                *left -= alike.accept(*left, entry);
            }
        }
        open.mark(findings, side.sources);
        let all = self.entries.iter().zip(left).filter(|(_, gone)| *gone > 0);
        all.map(|(entry, gone)| StaleEntry { entry, gone })
            .collect()
    }
}

/// Findings that are not suppressed yet, by fingerprint and file.
struct OpenFindings {
    groups: BTreeMap<(String, RepoPath), AlikeFindings>,
}

/// Findings with one fingerprint in one file, in any site.
#[derive(Default)]
struct AlikeFindings {
    left: VecDeque<DedupKey>,
    accepted: BTreeMap<DedupKey, Option<Span>>,
}

impl AlikeFindings {
    /// Takes at most `most`, and returns the number taken.
    fn accept(&mut self, most: usize, entry: &BaselineEntry) -> usize {
        let count = most.min(self.left.len());
        self.accepted
            .extend(self.left.drain(..count).map(|key| (key, entry.span)));
        count
    }
}

impl OpenFindings {
    fn of(findings: &[Diagnostic], sources: &SourceMap) -> Self {
        let open = findings
            .iter()
            .filter(|it| it.suppressed.is_none() && !it.rule.is(Trait::Always));
        let in_order: BTreeMap<DedupKey, &Diagnostic> = open
            .map(|finding| (dedup_key(finding, sources), finding))
            .collect();
        let mut groups: BTreeMap<(String, RepoPath), AlikeFindings> = BTreeMap::new();
        for (key, finding) in in_order {
            let path = key.0.clone();
            let alike = groups
                .entry((fingerprint(finding, &path), path))
                .or_default();
            alike.left.push_back(key);
        }
        Self { groups }
    }

    /// Marks the accepted findings, and adds a note to the others with the number of identical
    /// accepted ones.
    fn mark(&self, findings: &mut [Diagnostic], sources: &SourceMap) {
        let groups = || self.groups.values();
        let accepted: BTreeMap<&DedupKey, Option<Span>> = groups()
            .flat_map(|it| &it.accepted)
            .map(|(key, at)| (key, *at))
            .collect();
        let more: BTreeMap<&DedupKey, usize> = groups()
            .filter(|alike| !alike.accepted.is_empty())
            .flat_map(|alike| alike.left.iter().map(|key| (key, alike.accepted.len())))
            .collect();
        for finding in findings
            .iter_mut()
            .filter(|finding| finding.suppressed.is_none())
        {
            let key = dedup_key(finding, sources);
            if let Some(at) = accepted.get(&key) {
                let at = at.unwrap_or(finding.primary.span);
                finding.suppressed = Some(Suppression::Baseline { at });
            } else if let Some(count) = more.get(&key) {
                finding.notes.push(match count {
                    1 => {
                        "the baseline accepts one identical finding, and this is another".to_owned()
                    }
                    count => format!(
                        "the baseline accepts {count} identical findings, and this is another"
                    ),
                });
            }
        }
    }
}

impl BaselineEntry {
    fn read(file: FileId, text: &str, raw: &RawValue) -> Result<Self, Damage> {
        let raw = raw.get();
        let start = raw.as_ptr() as usize - text.as_ptr() as usize;
        // Computed only on errors, because lines are counted from the start of the text.
        let line = || text[..start].matches('\n').count();
        let form: EntryForm = serde_json::from_str(raw).map_err(|error| damage(&error, line()))?;
        let is_name = |it: &str| it.len() == 32 && it.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_name(&form.fingerprint) || form.count == 0 {
            let message = "invalid fingerprint or count".to_owned();
            return Err(Damage {
                line: line() + 1,
                message,
            });
        }
        let document = form
            .document
            .map(|it| DocKey::new(it.schema, it.layer, it.name));
        Ok(Self {
            file: RepoPath::new(form.file),
            rule: form.rule,
            document,
            subject: form.subject,
            count: form.count,
            fingerprint: form.fingerprint,
            span: Some(Span::new(file, offset(start), offset(start + raw.len()))),
        })
    }

    fn to_json(&self) -> Value {
        let document = self
            .document
            .as_ref()
            .map(|key| json!({"schema": &*key.schema, "layer": &*key.layer, "name": &*key.name}));
        json!({
            "file": self.file.as_str(),
            "rule": self.rule,
            "document": document,
            "subject": self.subject,
            "count": self.count,
            "fingerprint": self.fingerprint,
        })
    }
}

/// Converts a JSON parser error, adding `lines` to its line.
fn damage(error: &serde_json::Error, lines: usize) -> Damage {
    let message = error
        .to_string()
        .split(" at line ")
        .next()
        .unwrap_or_default()
        .to_owned();
    Damage {
        line: lines + error.line(),
        message,
    }
}
