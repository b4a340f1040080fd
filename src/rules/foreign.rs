//! Files in layer folders that hold something other than Deckhand documents: Kubernetes objects or
//! templates. There may be hundreds, so they are folded into one finding.

use std::collections::BTreeSet;

use super::{FileFacts, invalid_yaml, missing_document_start, not_a_document};
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};

/// Kind of foreign file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ForeignForm {
    /// Kubernetes or Kustomize objects.
    Kubernetes,
    /// Jinja or Go template.
    Template,
}

impl ForeignForm {
    const ALL: [Self; 2] = [Self::Kubernetes, Self::Template];

    /// Form of the YAML document that begins at `at`.
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

    /// Form of a file that is not valid YAML at `at`.
    pub(super) fn of_line(facts: &FileFacts<'_>, at: Span) -> Option<Self> {
        if facts.is_secret(at) {
            return None;
        }
        let text = facts.sources.get(facts.file).text();
        let start = text
            .get(..at.range().start)?
            .rfind('\n')
            .map_or(0, |end| end + 1);
        let line = text[start..].lines().next()?;
        ["{{", "{%"]
            .iter()
            .any(|sign| line.contains(sign))
            .then_some(Self::Template)
    }

    /// Subject of findings in such files.
    pub(super) fn subject(self) -> &'static str {
        match self {
            Self::Kubernetes => "Kubernetes objects (`apiVersion` and `kind`)",
            Self::Template => "templates (`{{ … }}` or `{% … %}`)",
        }
    }
}

/// Findings for the files of one side, with one finding per foreign form if it has more than a few
/// files.
pub(crate) fn folded(found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    ForeignForm::ALL.into_iter().fold(found, folded_of)
}

fn folded_of(found: Vec<Diagnostic>, form: ForeignForm) -> Vec<Diagnostic> {
    const MAX_SEPARATE_FILES: usize = 3;
    let is_of_form = |finding: &Diagnostic| {
        let rules = [not_a_document::RULE.name, invalid_yaml::RULE.name];
        rules.contains(&finding.rule.name) && finding.subject == form.subject()
    };
    let files: BTreeSet<FileId> = found
        .iter()
        .filter(|it| is_of_form(it))
        .map(|it| it.primary.span.file)
        .collect();
    if files.len() <= MAX_SEPARATE_FILES {
        return found;
    }
    let (of_form, mut others): (Vec<_>, Vec<_>) = found.into_iter().partition(is_of_form);
    // A file that belongs to no site needs no `---`.
    others.retain(|finding| {
        finding.rule.name != missing_document_start::RULE.name
            || !files.contains(&finding.primary.span.file)
    });
    let sites: BTreeSet<_> = of_form
        .iter()
        .flat_map(|finding| finding.sites.clone())
        .collect();
    let count = Diagnostic::total(&of_form);
    let message = format!(
        "{} files contain {}, not Deckhand documents",
        files.len(),
        form.subject()
    );
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
