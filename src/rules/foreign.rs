//! Files of another form in layer folders: objects of Kubernetes, and templates. There may be
//! hundreds of them, of which one finding says what they are.

use std::collections::BTreeSet;

use super::{FileFacts, invalid_yaml, missing_document_start, not_a_document};
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};

/// Another form that a file may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ForeignForm {
    /// Objects of Kubernetes, or of Kustomize.
    Kubernetes,
    /// A template of Jinja or of Go.
    Template,
}

impl ForeignForm {
    const ALL: [Self; 2] = [Self::Kubernetes, Self::Template];

    /// The form of the YAML document that begins at a place.
    pub(super) fn of_document(facts: &FileFacts<'_>, at: Span) -> Option<Self> {
        if facts.is_secret(at) {
            return None;
        }
        let text = facts.sources.get(facts.file).text();
        let document = text.get(at.range().start..)?;
        let lines = || document.lines().take_while(|line| !line.starts_with("---"));
        let has = |key: &str| lines().any(|line| line.starts_with(key));
        (has("apiVersion:") && has("kind:")).then_some(Self::Kubernetes)
    }

    /// The form of a file that is not YAML at a place.
    pub(super) fn of_line(facts: &FileFacts<'_>, at: Span) -> Option<Self> {
        if facts.is_secret(at) {
            return None;
        }
        let text = facts.sources.get(facts.file).text();
        let start = text.get(..at.range().start)?.rfind('\n').map_or(0, |end| end + 1);
        let line = text[start..].lines().next()?;
        ["{{", "{%"].iter().any(|sign| line.contains(sign)).then_some(Self::Template)
    }

    /// Subject of findings in such files.
    pub(super) fn subject(self) -> &'static str {
        match self {
            Self::Kubernetes => "Kubernetes objects (`apiVersion` and `kind`)",
            Self::Template => "templates (`{{ … }}` or `{% … %}`)",
        }
    }
}

/// The findings of the files of a side, with one for all files of each other form, if these
/// are more than a few.
pub(crate) fn folded(found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    ForeignForm::ALL.into_iter().fold(found, folded_of)
}

fn folded_of(found: Vec<Diagnostic>, form: ForeignForm) -> Vec<Diagnostic> {
    const MAX_SEPARATE_FILES: usize = 3;
    let is_of_form = |finding: &Diagnostic| {
        let rules = [not_a_document::RULE.name, invalid_yaml::RULE.name];
        rules.contains(&finding.rule.name) && finding.subject == form.subject()
    };
    let files: BTreeSet<FileId> =
        found.iter().filter(|it| is_of_form(it)).map(|it| it.primary.span.file).collect();
    if files.len() <= MAX_SEPARATE_FILES {
        return found;
    }
    let (of_form, mut others): (Vec<_>, Vec<_>) = found.into_iter().partition(is_of_form);
    // A file that is no part of a site needs no `---`.
    others.retain(|finding| {
        finding.rule.name != missing_document_start::RULE.name
            || !files.contains(&finding.primary.span.file)
    });
    let sites: BTreeSet<_> = of_form.iter().flat_map(|finding| finding.sites.clone()).collect();
    let count = Diagnostic::total(&of_form);
    let message =
        format!("{} files hold {}, and no Deckhand documents", files.len(), form.subject());
    others.extend(of_form.into_iter().next().map(|first| Diagnostic {
        message,
        help: Some(
            "move them out of the layer folders, or list them under `discover.exclude`".to_owned(),
        ),
        sites: sites.into_iter().collect(),
        count,
        ..first
    }));
    others
}
