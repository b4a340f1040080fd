//! Findings as diagnostics of LSP.

use std::path::{Path, PathBuf};

use gen_lsp_types::{
    Code, CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity,
    DiagnosticTag, Location, Message, Uri,
};

use super::text::{Encoding, Lines};
use super::uri::uri_of;
use crate::diagnostic::{self, Label, Severity};
use crate::report::RulePages;
use crate::source::{SourceMap, Span};

/// How findings of a folder are shown.
pub(super) struct Shown<'s> {
    pub(super) sources: &'s SourceMap,
    /// Folder that contains all paths.
    pub(super) root: &'s Path,
    pub(super) encoding: Encoding,
    pub(super) pages: Option<RulePages>,
}

impl Shown<'_> {
    /// The file of a finding, and its diagnostic.
    pub(super) fn diagnostic(&self, finding: &diagnostic::Diagnostic) -> (PathBuf, Diagnostic) {
        let Location { range, .. } = self.location(finding.primary.span);
        let address = self
            .pages
            .as_ref()
            .and_then(|pages| pages.address(finding.rule.name));
        let related = finding.related.iter().map(|label| self.related(label));
        let is_unused = finding.rule.name.starts_with("unused-");
        let diagnostic = Diagnostic {
            range,
            severity: Some(severity(finding.severity)),
            code: Some(Code::String(finding.rule.name.to_owned())),
            code_description: address.map(|href| CodeDescription { href: Uri(href) }),
            source: Some("layercake".to_owned()),
            message: Message::String(text(finding)),
            tags: is_unused.then(|| vec![DiagnosticTag::Unnecessary]),
            related_information: Some(related.collect()),
            data: None,
        };
        (self.path(finding.primary.span), diagnostic)
    }

    fn related(&self, label: &Label) -> DiagnosticRelatedInformation {
        DiagnosticRelatedInformation {
            location: self.location(label.span),
            message: label.message.clone(),
        }
    }

    fn location(&self, span: Span) -> Location {
        // Text inside of an encoded part is shown at the part.
        let written = self.sources.written(span);
        let text = self.sources.get(written.file).text();
        Location {
            uri: uri_of(&self.path(span)),
            range: Lines::new(text, self.encoding).range(written.range()),
        }
    }

    fn path(&self, span: Span) -> PathBuf {
        let path = self.sources.path_of(self.sources.written(span));
        self.root.join(path.as_str())
    }
}

fn severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::Error,
        Severity::Warning => DiagnosticSeverity::Warning,
        Severity::Note => DiagnosticSeverity::Information,
    }
}

/// The message, what is at the place, notes, remedy and sites, a line each.
fn text(finding: &diagnostic::Diagnostic) -> String {
    let mut lines = vec![finding.message.clone()];
    lines.extend(Some(finding.primary.message.clone()).filter(|label| !label.is_empty()));
    lines.extend(finding.notes.iter().map(|note| format!("note: {note}")));
    lines.extend(finding.help.iter().map(|help| format!("help: {help}")));
    let sites: Vec<&str> = finding.sites.iter().map(|site| &**site).collect();
    if !sites.is_empty() {
        lines.push(format!("in: {}", crate::near::list(sites)));
    }
    lines.join("\n")
}
