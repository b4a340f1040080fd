//! Documents that a site's own catalogs declare as generated at deploy time: certificates and keys
//! (`PKICatalog`), and passphrases (`PassphraseCatalog`).
//!
//! A catalog is read from its source, before any substitution.

use std::collections::BTreeSet;

use smol_str::SmolStr;

use super::FastMap;
use super::document::Document;
use crate::graph::DocId;
use crate::source::Span;
use crate::yaml::{Mapping, Node, Value};

/// Declarations of the catalogs of one site.
#[derive(Debug, Default)]
pub struct Catalog {
    /// Declared documents, by catalog and in its order.
    pub declared: Vec<Declared>,
    by_name: FastMap<(&'static str, SmolStr), usize>,
    /// Names of authorities, by the certificates that they issue.
    authorities: FastMap<SmolStr, SmolStr>,
    covered: BTreeSet<&'static str>,
}

/// A document that a catalog declares.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Schema of the document.
    pub(crate) schema: &'static str,
    /// Name of the document.
    pub(crate) name: SmolStr,
    /// Location of the declaration.
    pub(crate) at: Span,
    /// Document of the catalog.
    pub(crate) catalog: DocId,
}

/// Schemas of the documents that a `PKICatalog` declares.
pub(crate) const AUTHORITY: [&str; 2] = [
    "deckhand/CertificateAuthority/v1",
    "deckhand/CertificateAuthorityKey/v1",
];
pub(crate) const CERTIFICATE: [&str; 2] = ["deckhand/Certificate/v1", "deckhand/CertificateKey/v1"];
const KEYPAIR: [&str; 2] = ["deckhand/PublicKey/v1", "deckhand/PrivateKey/v1"];
/// Schema of the documents that a `PassphraseCatalog` declares.
const PASSPHRASE: [&str; 1] = ["deckhand/Passphrase/v1"];

/// Kind of a catalog.
enum CatalogKind {
    /// A `PKICatalog`.
    Certificates,
    /// A `PassphraseCatalog`.
    Passphrases,
}

/// Kind of catalog that a document is; `None` for abstract documents.
fn kind(document: &Document) -> Option<CatalogKind> {
    match &*document.key.schema {
        _ if document.is_abstract => None,
        "promenade/PKICatalog/v1" | "pegleg/PKICatalog/v1" => Some(CatalogKind::Certificates),
        "pegleg/PassphraseCatalog/v1" => Some(CatalogKind::Passphrases),
        _ => None,
    }
}

impl Catalog {
    /// Collects the declarations of the catalogs of a site, except abstract ones. The first of two
    /// declarations of a document takes precedence.
    pub(super) fn of(documents: &[&Document]) -> Self {
        let mut catalog = Self::default();
        for (index, document) in documents.iter().enumerate() {
            let doc = DocId::at(index);
            match kind(document) {
                Some(CatalogKind::Certificates) => {
                    catalog
                        .covered
                        .extend(AUTHORITY.iter().chain(&CERTIFICATE).chain(&KEYPAIR));
                    catalog.certificates(doc, &document.data);
                }
                Some(CatalogKind::Passphrases) => {
                    catalog.covered.extend(PASSPHRASE);
                    let items = document.data.get("passphrases");
                    catalog.items(doc, items, "document_name", &PASSPHRASE);
                }
                None => {}
            }
        }
        catalog
    }

    /// Whether a document is a catalog in effect.
    pub(super) fn is_catalog(document: &Document) -> bool {
        kind(document).is_some()
    }

    /// Finds the declaration of this schema and name.
    pub(crate) fn find(&self, schema: &str, name: &str) -> Option<&Declared> {
        let schema = self.covered.get(schema)?;
        let index = self.by_name.get(&(*schema, name.into()))?;
        Some(&self.declared[*index])
    }

    /// Name of the authority that issues the certificate of this name.
    pub(crate) fn authority_of(&self, certificate: &str) -> Option<&str> {
        self.authorities.get(certificate).map(|name| &**name)
    }

    /// Whether the site has a catalog of the kind that declares documents of this schema.
    pub(crate) fn covers(&self, schema: &str) -> bool {
        self.covered.contains(schema)
    }

    fn certificates(&mut self, catalog: DocId, data: &Node) {
        let authorities = data
            .get("certificate_authorities")
            .and_then(Node::as_mapping);
        for (name, authority) in authorities.into_iter().flat_map(Mapping::iter) {
            if let Value::String(text) = &name.value {
                self.declare(catalog, &AUTHORITY, text, name.span);
                for certificate in names_in(authority.get("certificates"), "document_name") {
                    let issued = self.authorities.entry(certificate.0.clone());
                    issued.or_insert_with(|| text.clone());
                }
            }
            self.items(
                catalog,
                authority.get("certificates"),
                "document_name",
                &CERTIFICATE,
            );
        }
        self.items(catalog, data.get("keypairs"), "name", &KEYPAIR);
    }

    fn items(
        &mut self,
        catalog: DocId,
        items: Option<&Node>,
        field: &'static str,
        schemas: &[&'static str],
    ) {
        for (name, at) in names_in(items, field) {
            self.declare(catalog, schemas, name, at);
        }
    }

    fn declare(&mut self, catalog: DocId, schemas: &[&'static str], name: &SmolStr, at: Span) {
        for schema in schemas {
            let next = self.declared.len();
            if *self.by_name.entry((*schema, name.clone())).or_insert(next) == next {
                self.declared.push(Declared {
                    schema,
                    name: name.clone(),
                    at,
                    catalog,
                });
            }
        }
    }
}

/// Strings at `field` of the items of a list, with their places.
fn names_in<'n>(
    items: Option<&'n Node>,
    field: &'static str,
) -> impl Iterator<Item = (&'n SmolStr, Span)> {
    let items = items.and_then(Node::as_sequence).unwrap_or_default().iter();
    items.filter_map(move |item| match item.get(field)? {
        Node {
            value: Value::String(name),
            span,
            ..
        } => Some((name, *span)),
        _ => None,
    })
}
