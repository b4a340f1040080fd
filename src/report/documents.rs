//! Rendered documents as YAML: one after the other, each under a line that
//! says of which site it is and where it is written.

use std::io::{self, Write};

use super::printable::clean;
use super::{DocumentOptions, RenderedDocument, SiteDocuments, View};
use crate::source::Span;
use crate::yaml::emit::{self, to_yaml};
use crate::yaml::{Key, Mapping, Node, Value};

/// Writes all documents of all sites.
///
/// # Errors
/// Those of `out`.
pub fn write(
    sites: &[SiteDocuments],
    view: &View<'_>,
    look: DocumentOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    for site in sites {
        for document in &site.documents {
            write_document(site.site.as_deref(), document, view, look, out)?;
        }
    }
    Ok(())
}

fn write_document(
    site: Option<&str>,
    document: &RenderedDocument,
    view: &View<'_>,
    look: DocumentOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "---")?;
    write!(out, "# ")?;
    if let Some(site) = site {
        write!(out, "{} · ", clean(site))?;
    }
    writeln!(out, "{}:{}", clean(document.file.as_str()), document.line)?;
    let origin = |span: Span| {
        let place = view.place(span);
        format!("{}:{}", clean(place.path.as_str()), place.line)
    };
    let of = document.metadata.span;
    let schema = Node::new(Value::String(document.key.schema.clone().into()), of);
    // Where the schema is written is not known; the place of another line
    // would be wrong.
    let options = emit::EmitOptions { show_secrets: look.show_secrets, origin: None };
    out.write_all(to_yaml(&mapping([("schema", schema)], of), &options).as_bytes())?;
    let origin = look.with_origin.then_some(&origin as &dyn Fn(Span) -> String);
    let options = emit::EmitOptions { origin, ..options };
    let rest = [("metadata", document.metadata.clone()), ("data", document.data.clone())];
    out.write_all(to_yaml(&mapping(rest, of), &options).as_bytes())
}

fn mapping<const N: usize>(entries: [(&str, Node); N], span: Span) -> Node {
    let entries: Mapping =
        entries.into_iter().map(|(key, node)| (Key::string(key, span), node)).collect();
    Node::new(Value::Mapping(entries.into()), span)
}
