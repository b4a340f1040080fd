//! Rendered documents as JSON.

use serde::Serialize;

use super::VERSION;
use crate::report::model::Report;
use crate::report::{DocumentOptions, RenderedDocument, SiteDocuments};
use crate::yaml::json::NodeAsJson;

#[derive(Serialize)]
pub(super) struct RenderedReport<'a> {
    version: u32,
    sites: Vec<RenderedSiteForm<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<&'a Report>,
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
    data: NodeAsJson<'a>,
}

impl<'a> RenderedReport<'a> {
    pub(super) fn new(
        sites: &'a [SiteDocuments],
        options: DocumentOptions,
        report: Option<&'a Report>,
    ) -> Self {
        Self {
            version: VERSION,
            sites: sites
                .iter()
                .map(|site| RenderedSiteForm::new(site, options))
                .collect(),
            report,
        }
    }
}

impl<'a> RenderedSiteForm<'a> {
    fn new(site: &'a SiteDocuments, options: DocumentOptions) -> Self {
        let documents = site.documents.iter();
        Self {
            site: site.site.as_deref(),
            documents: documents
                .map(|it| RenderedDocumentForm::new(it, options))
                .collect(),
        }
    }
}

impl<'a> RenderedDocumentForm<'a> {
    fn new(document: &'a RenderedDocument, options: DocumentOptions) -> Self {
        Self {
            schema: &document.key.schema,
            name: &document.key.name,
            layer: &document.key.layer,
            file: document.file.as_str(),
            line: document.line,
            data: NodeAsJson {
                show_secrets: options.show_secrets,
                ..NodeAsJson::new(&document.data)
            },
        }
    }
}
