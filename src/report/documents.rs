//! Rendered documents as YAML, each preceded by a line with its site and source location.

use std::io::{self, Write};

use super::printable::clean;
use super::{DocumentOptions, RenderedDocument, SiteDocuments, View};
use crate::source::Span;
use crate::yaml::emit::{self, to_yaml};
use crate::yaml::{Key, Mapping, Node, Value};

/// Writes all documents of all sites.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write(
    sites: &[SiteDocuments],
    view: &View<'_>,
    options: DocumentOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    for site in sites {
        for document in &site.documents {
            write_document(site.site.as_deref(), document, view, options, out)?;
        }
    }
    Ok(())
}

fn write_document(
    site: Option<&str>,
    document: &RenderedDocument,
    view: &View<'_>,
    options: DocumentOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "---")?;
    let site = site
        .map(|site| format!("{} · ", clean(site)))
        .unwrap_or_default();
    writeln!(
        out,
        "# {site}{}:{}",
        clean(document.file.as_str()),
        document.line
    )?;
    let origin = |span: Span| view.origin(span);
    let of = document.metadata.span;
    let schema = Node::new(Value::String(document.key.schema.clone().into()), of);
    // The schema has no span of its own; the place of another line would be wrong.
    let emit_options = emit::EmitOptions {
        show_secrets: options.show_secrets,
        origin: None,
    };
    out.write_all(to_yaml(&mapping([("schema", schema)], of), &emit_options).as_bytes())?;
    let origin = options
        .with_origin
        .then_some(&origin as &dyn Fn(Span) -> String);
    let emit_options = emit::EmitOptions {
        origin,
        ..emit_options
    };
    let rest = [
        ("metadata", document.metadata.clone()),
        ("data", document.data.clone()),
    ];
    out.write_all(to_yaml(&mapping(rest, of), &emit_options).as_bytes())
}

fn mapping<const N: usize>(entries: [(&str, Node); N], span: Span) -> Node {
    let entries: Mapping = entries
        .into_iter()
        .map(|(key, node)| (Key::string(key, span), node))
        .collect();
    Node::new(Value::Mapping(entries.into()), span)
}
