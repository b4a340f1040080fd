//! The result of cloud-init's merging, as cloud-init would write it: a single configuration as it
//! is, several one after the other, each under a line with its site and its name.

use std::io::{self, Write};

use super::printable::clean;
use super::{DocumentOptions, RenderedDocument, SiteDocuments, View};
use crate::source::Span;
use crate::yaml::emit::{EmitOptions, to_yaml};

/// The line by which cloud-init knows a configuration.
const MARKER: &str = "#cloud-config";

/// Writes all configurations of all sites.
///
/// # Errors
/// Those of `out`.
pub fn write(
    sites: &[SiteDocuments],
    view: &View<'_>,
    look: DocumentOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let count: usize = sites.iter().map(|site| site.documents.len()).sum();
    for site in sites {
        for document in &site.documents {
            if count > 1 {
                write_name(site.site.as_deref(), document, out)?;
            }
            write_configuration(document, view, look, out)?;
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

/// Without any part cloud-init writes nothing.
fn write_configuration(
    document: &RenderedDocument,
    view: &View<'_>,
    look: DocumentOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{MARKER}")?;
    if document.data.is_null() {
        return Ok(());
    }
    let origin = |span: Span| {
        let place = view.place(span);
        format!("{}:{}", clean(place.path.as_str()), place.line)
    };
    let origin = look.with_origin.then_some(&origin as &dyn Fn(Span) -> String);
    let options = EmitOptions { show_secrets: look.show_secrets, origin };
    out.write_all(to_yaml(&document.data, &options).as_bytes())
}
