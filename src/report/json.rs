//! Results for programs: JSON with a version, in an order that depends on
//! nothing but the input.
//!
//! Fields may be added; one that is taken away or means something else makes
//! a new version. Values are written as [`canonical`] says, in the order of
//! the document.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::form::{Form, Order};
use super::printable::is_harmful;
use super::{DocumentsLook, RenderedDocument, RenderedSite, SiteRow, View};
use crate::diagnostic::{Diagnostic, Label};
use crate::source::DocKey;
use crate::triage::Findings;

pub use super::form::canonical;

/// The version of all formats here.
pub(super) const VERSION: u32 = 1;

/// Writes a report of another module, laid out to be read.
pub(super) fn write_json(report: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let mut out = Escaping { out };
    serde_json::to_writer_pretty(&mut out, report)?;
    out.write_all(b"\n")
}

/// Writes all findings.
///
/// # Errors
/// Those of `out`.
pub fn findings(findings: &Findings, view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut fingerprints = Fingerprints::default();
    let of = |diagnostic| Finding::new(diagnostic, view, &mut fingerprints);
    let findings = findings.diagnostics.iter().map(of).collect();
    let mut out = Escaping { out };
    serde_json::to_writer_pretty(&mut out, &FindingsReport { version: VERSION, findings })?;
    out.write_all(b"\n")
}

/// Writes rendered documents.
///
/// # Errors
/// Those of `out`.
pub fn rendered(
    sites: &[RenderedSite],
    look: DocumentsLook,
    out: &mut dyn Write,
) -> io::Result<()> {
    let of = |site| RenderedSiteForm::new(site, look);
    let sites = sites.iter().map(of).collect();
    let mut out = Escaping { out };
    serde_json::to_writer(&mut out, &RenderedReport { version: VERSION, sites })?;
    out.write_all(b"\n")
}

/// Writes the sites.
///
/// # Errors
/// Those of `out`.
pub fn sites(rows: &[SiteRow], out: &mut dyn Write) -> io::Result<()> {
    let sites = rows.iter().map(SiteForm::new).collect();
    let mut out = Escaping { out };
    serde_json::to_writer_pretty(&mut out, &SitesReport { version: VERSION, sites })?;
    out.write_all(b"\n")
}

#[derive(Serialize)]
struct FindingsReport<'a> {
    version: u32,
    findings: Vec<Finding<'a>>,
}

#[derive(Serialize)]
struct Finding<'a> {
    rule: &'static str,
    severity: &'static str,
    fingerprint: String,
    message: &'a str,
    help: Option<&'a str>,
    notes: &'a [String],
    primary: LabelForm<'a>,
    related: Vec<LabelForm<'a>>,
    documents: Vec<DocumentName<'a>>,
    sites: Vec<&'a str>,
    suppressed: Option<()>,
    fix: Option<()>,
}

#[derive(Serialize)]
struct LabelForm<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    label: &'a str,
}

#[derive(Serialize)]
pub(super) struct DocumentName<'a> {
    schema: &'a str,
    layer: &'a str,
    name: &'a str,
}

#[derive(Serialize)]
struct RenderedReport<'a> {
    version: u32,
    sites: Vec<RenderedSiteForm<'a>>,
}

#[derive(Serialize)]
struct RenderedSiteForm<'a> {
    site: Option<&'a str>,
    documents: Vec<RenderedDocumentForm<'a>>,
}

#[derive(Serialize)]
struct RenderedDocumentForm<'a> {
    schema: &'a str,
    name: &'a str,
    layer: &'a str,
    file: &'a str,
    line: u32,
    data: Form<'a>,
}

#[derive(Serialize)]
struct SitesReport<'a> {
    version: u32,
    sites: Vec<SiteForm<'a>>,
}

#[derive(Serialize)]
struct SiteForm<'a> {
    site: Option<&'a str>,
    #[serde(rename = "type")]
    site_type: Option<&'a str>,
    files: usize,
    documents: usize,
    outputs: usize,
}

impl<'a> Finding<'a> {
    fn new(
        diagnostic: &'a Diagnostic,
        view: &View<'a>,
        fingerprints: &mut Fingerprints<'a>,
    ) -> Self {
        let primary = LabelForm::new(&diagnostic.primary, view);
        Self {
            rule: diagnostic.rule.name,
            severity: diagnostic.severity.as_str(),
            fingerprint: fingerprints.of(diagnostic, primary.file),
            message: &diagnostic.message,
            help: diagnostic.help.as_deref(),
            notes: &diagnostic.notes,
            primary,
            related: diagnostic.related.iter().map(|it| LabelForm::new(it, view)).collect(),
            documents: diagnostic.documents.iter().map(DocumentName::new).collect(),
            sites: diagnostic.sites.iter().map(|site| &**site).collect(),
            suppressed: None,
            fix: None,
        }
    }
}

impl<'a> LabelForm<'a> {
    fn new(label: &'a Label, view: &View<'a>) -> Self {
        let place = view.place(label.span);
        Self {
            file: place.path.as_str(),
            line: place.line,
            column: place.column,
            end_line: place.end_line,
            end_column: place.end_column,
            label: &label.message,
        }
    }
}

impl<'a> DocumentName<'a> {
    pub(super) fn new(key: &'a DocKey) -> Self {
        Self { schema: &key.schema, layer: &key.layer, name: &key.name }
    }
}

impl<'a> RenderedSiteForm<'a> {
    fn new(site: &'a RenderedSite, look: DocumentsLook) -> Self {
        let documents = site.documents.iter();
        Self {
            site: site.site.as_deref(),
            documents: documents.map(|it| RenderedDocumentForm::new(it, look)).collect(),
        }
    }
}

impl<'a> RenderedDocumentForm<'a> {
    fn new(document: &'a RenderedDocument, look: DocumentsLook) -> Self {
        let node = &document.data;
        Self {
            schema: &document.key.schema,
            name: &document.key.name,
            layer: &document.key.layer,
            file: document.file.as_str(),
            line: document.line,
            data: Form { node, order: Order::Document, show_secrets: look.show_secrets },
        }
    }
}

impl<'a> SiteForm<'a> {
    fn new(row: &'a SiteRow) -> Self {
        Self {
            site: row.site.as_deref(),
            site_type: row.site_type.as_deref(),
            files: row.files,
            documents: row.documents,
            outputs: row.outputs,
        }
    }
}

/// Names for findings that stay when lines move and values change.
///
/// A fingerprint is made of the rule, the file, the document, and the number
/// of the finding among those that are equal in all of these, in their order.
/// No line, no message and no value is in it: a message quotes values, some
/// of which may be guessed from their hash.
#[derive(Default)]
struct Fingerprints<'a> {
    met: BTreeMap<Identity<'a>, u64>,
}

/// Rule, file, and the faulty document.
type Identity<'a> = (&'static str, &'a str, Option<&'a DocKey>);

impl<'a> Fingerprints<'a> {
    fn of(&mut self, diagnostic: &'a Diagnostic, file: &'a str) -> String {
        let document = diagnostic.documents.first();
        let identity = (diagnostic.rule.name, file, document);
        let occurrence = self.met.entry(identity).or_default();
        *occurrence += 1;
        let mut hash = Fnv::new();
        hash.add(diagnostic.rule.name.as_bytes());
        hash.add(file.as_bytes());
        if let Some(key) = document {
            hash.add(key.schema.as_bytes());
            hash.add(key.layer.as_bytes());
            hash.add(key.name.as_bytes());
        }
        hash.add(&occurrence.to_le_bytes());
        format!("{:032x}", hash.0)
    }
}

/// FNV-1a with 128 bits: the same on every machine and in every version,
/// which the hashes of the standard library are not.
struct Fnv(u128);

impl Fnv {
    fn new() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    /// Adds a part and its length, so that parts cannot run into each other.
    fn add(&mut self, part: &[u8]) {
        const PRIME: u128 = 0x0100_0000_0000_0000_0000_013b;
        let length = (part.len() as u64).to_le_bytes();
        for byte in part.iter().chain(&length) {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(PRIME);
        }
    }
}

/// Writes JSON text with more escapes than JSON asks for, since what is meant
/// for programs is looked at in terminals too. Such characters are never
/// outside of strings.
struct Escaping<'a> {
    out: &'a mut dyn Write,
}

impl Write for Escaping<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    /// serde gives whole stretches of text, so that no character is divided.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match std::str::from_utf8(bytes) {
            Ok(text) if text.contains(needs_escape) => self.write_escaped(text),
            Ok(_) | Err(_) => self.out.write_all(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Escaping<'_> {
    fn write_escaped(&mut self, text: &str) -> io::Result<()> {
        for part in text.split_inclusive(needs_escape) {
            let plain = part.trim_end_matches(needs_escape);
            self.out.write_all(plain.as_bytes())?;
            for unit in part[plain.len()..].encode_utf16() {
                write!(self.out, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }
}

/// The characters below a space are escaped already where they are in
/// strings; those outside are line breaks of the layout.
fn needs_escape(character: char) -> bool {
    character > ' ' && is_harmful(character)
}
