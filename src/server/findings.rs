//! Findings as diagnostics of LSP.

use std::hash::BuildHasher;

use gen_lsp_types::{
    Code, CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity,
    DiagnosticTag, DocumentDiagnosticParams, Location, Message, Uri,
};
use serde::Serialize;

use super::asked::Asked;
use super::folder::OpenedFolder;
use super::text::Encoding;
use super::uri::uri_of;
use crate::diagnostic::{self, Label, Severity};
use crate::report::RulePages;
use crate::source::Span;

/// How findings of a folder are shown.
pub(super) struct Shown<'s> {
    pub(super) folder: &'s OpenedFolder,
    pub(super) encoding: Encoding,
    pub(super) pages: Option<RulePages>,
}

impl Shown<'_> {
    /// The address of a finding, and its diagnostic.
    pub(super) fn diagnostic(&self, finding: &diagnostic::Diagnostic) -> (Uri, Diagnostic) {
        let Location { range, uri } = self.location(finding.primary.span);
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
        (uri, diagnostic)
    }

    fn related(&self, label: &Label) -> DiagnosticRelatedInformation {
        DiagnosticRelatedInformation {
            location: self.location(label.span),
            message: label.message.clone(),
        }
    }

    fn location(&self, span: Span) -> Location {
        self.folder.location(span, self.encoding)
    }
}

/// The findings of an open document, or that they are those of an earlier answer.
#[derive(Serialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(super) enum FindingsReport {
    Full {
        result_id: String,
        items: Vec<Diagnostic>,
    },
    Unchanged {
        result_id: String,
    },
}

/// Answers a client that asks for findings. The id of an answer is a hash of it.
pub(super) fn report(asked: &Asked<'_>, params: DocumentDiagnosticParams) -> FindingsReport {
    let shown = asked.shown();
    let address = uri_of(&asked.folder.root.join(asked.file.as_str()));
    let findings = asked.folder.findings.diagnostics.iter();
    let items: Vec<Diagnostic> = findings
        .filter(|finding| asked.folder.uri(finding.primary.span) == address)
        .map(|finding| shown.diagnostic(finding).1)
        .collect();
    let written = serde_json::to_string(&items).expect("diagnostics are JSON");
    let result_id = format!(
        "{:016x}",
        foldhash::fast::FixedState::default().hash_one(written)
    );
    if params.previous_result_id.as_ref() == Some(&result_id) {
        FindingsReport::Unchanged { result_id }
    } else {
        FindingsReport::Full { result_id, items }
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
