//! The merged configuration as cloud-init would write it; several configurations are separated by a
//! line with the site and document name.

use std::io::{self, Write};

use super::printable::clean;
use super::{DocumentOptions, RenderedDocument, SiteDocuments, View};
use crate::source::Span;
use crate::yaml::emit::{EmitOptions, to_yaml};

/// First line that marks a cloud-init configuration.
const MARKER: &str = "#cloud-config";

/// Writes all configurations of all sites.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write(
    sites: &[SiteDocuments],
    view: &View<'_>,
    options: DocumentOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let count: usize = sites.iter().map(|site| site.documents.len()).sum();
    for site in sites {
        for document in &site.documents {
            if count > 1 {
                write_name(site.site.as_deref(), document, out)?;
            }
            write_configuration(document, view, options, out)?;
        }
    }
    Ok(())
}

fn write_name(
    site: Option<&str>,
    document: &RenderedDocument,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "---")?;
    write!(out, "# ")?;
    if let Some(site) = site {
        write!(out, "{} · ", clean(site))?;
    }
    writeln!(out, "{}", clean(&document.key.name))
}

/// Writes nothing for a configuration without parts, like cloud-init.
fn write_configuration(
    document: &RenderedDocument,
    view: &View<'_>,
    options: DocumentOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{MARKER}")?;
    if document.data.is_null() {
        return Ok(());
    }
    let origin = |span: Span| view.origin(span);
    let origin = options
        .with_origin
        .then_some(&origin as &dyn Fn(Span) -> String);
    let emit_options = EmitOptions {
        show_secrets: options.show_secrets,
        origin,
    };
    out.write_all(to_yaml(&document.data, &emit_options).as_bytes())
}
