//! Changes that the client can apply: fixes of findings, comments that suppress them, and places in
//! which a value can be set for fewer sites.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range as Bytes;

use gen_lsp_types::{CodeAction, CodeActionKind, CodeActionParams, TextEdit, Uri, WorkspaceEdit};

use super::asked::Asked;
use super::findings::Shown;
use super::text::differing_parts;
use crate::ask::{SET, ValueQuestion, place};
use crate::check::Answer;
use crate::commands::explain_value;
use crate::diagnostic::{self, Safety};
use crate::error::Error;
use crate::fix::{with_ignores, with_value};
use crate::report::View;
use crate::source::{FileId, Span};

/// Reason in a comment, for the user to replace.
const REASON: &str = "TODO: why";

/// Maximum number of sites for which an override is offered, unless the user set one.
const MAX_SITES: usize = 5;

/// Changes that apply in a range.
pub(super) fn answer(
    asked: &mut Asked<'_>,
    params: CodeActionParams,
) -> Result<Vec<CodeAction>, Error> {
    let (Some(start), Some(end)) = (asked.at(params.range.start), asked.at(params.range.end))
    else {
        return Ok(Vec::new());
    };
    let mut actions = of_findings(asked, start.to(end));
    actions.extend(overrides(asked, start)?);
    let only = params.context.only;
    let is_wanted = |action: &CodeAction| match (&only, &action.kind) {
        (Some(only), Some(kind)) => only.iter().any(|wanted| contains(wanted, kind)),
        (None, _) | (_, None) => true,
    };
    actions.retain(is_wanted);
    Ok(actions)
}

/// Whether a kind is `wanted` or a part of it, such as `refactor.rewrite` of `refactor`.
fn contains(wanted: &CodeActionKind, kind: &CodeActionKind) -> bool {
    let [wanted, kind] = [wanted, kind].map(ToString::to_string);
    let rest = kind.strip_prefix(&*wanted);
    wanted.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Fixes and comments for the findings in a range, of the last judged state.
fn of_findings(asked: &Asked<'_>, range: Span) -> Vec<CodeAction> {
    let findings = asked.folder.findings.diagnostics.iter();
    let here: Vec<&diagnostic::Diagnostic> = findings
        .filter(|finding| {
            let at = finding.primary.span;
            at.file == range.file && at.start <= range.end && range.start <= at.end
        })
        .filter(|finding| asked.is_current(finding.primary.span))
        .collect();
    if here.is_empty() {
        return Vec::new();
    }
    let (sources, secrets, opaque) = asked.folder.workspace.texts();
    let view = View::new(sources, &secrets, &opaque);
    let shown = asked.shown();
    let fixes = here
        .iter()
        .filter_map(|finding| fixed(asked, &view, &shown, finding));
    let comments = here
        .iter()
        .filter_map(|finding| ignored(asked, &shown, finding));
    fixes.chain(comments).collect()
}

/// The fix of a finding; `None` without one, or if it changes a text that is not current, or a secret.
fn fixed(
    asked: &Asked<'_>,
    view: &View<'_>,
    shown: &Shown<'_>,
    finding: &diagnostic::Diagnostic,
) -> Option<CodeAction> {
    let fix = finding.fix.as_ref()?;
    let sources = asked.folder.workspace.sources();
    let is_possible = |edit: &diagnostic::TextEdit| {
        asked.is_current(edit.span)
            && sources.get(edit.span.file).decoded_from().is_none()
            && !view.touches_secret(edit.span)
    };
    if !fix.edits.iter().all(is_possible) {
        return None;
    }
    let edits = fix.edits.iter().map(|edit| (edit.span, edit.text.clone()));
    let kind = CodeActionKind::QuickFix;
    Some(CodeAction {
        is_preferred: Some(fix.safety == Safety::Safe),
        diagnostics: Some(vec![shown.diagnostic(finding).1]),
        ..action(asked, sentence(&fix.message), kind, edits)
    })
}

/// A comment that suppresses a finding.
fn ignored(
    asked: &Asked<'_>,
    shown: &Shown<'_>,
    finding: &diagnostic::Diagnostic,
) -> Option<CodeAction> {
    let file = finding.primary.span.file;
    let source = asked.folder.workspace.sources().get(file);
    let (text, missed) = with_ignores(source, &[finding], REASON);
    if !missed.is_empty() || source.decoded_from().is_some() {
        return None;
    }
    let [replaced, inserted] = differing_parts(source.text(), &text);
    let edit = (span(file, replaced), text[inserted].to_owned());
    let title = format!("Ignore `{}` here, with a reason", finding.rule.name);
    Some(CodeAction {
        diagnostics: Some(vec![shown.diagnostic(finding).1]),
        ..action(asked, title, CodeActionKind::QuickFix, [edit])
    })
}

/// Documents in which the value at a byte can be set for fewer sites, with the value that it has there
/// now.
fn overrides(asked: &mut Asked<'_>, at: Span) -> Result<Vec<CodeAction>, Error> {
    let found =
        asked.ask(|site| Answer::Is(place::in_data(site, at).map(|place| place.question(site))))?;
    let chosen = asked.client.settings.site.clone();
    let is_wanted = |site: &str| chosen.as_deref().is_none_or(|chosen| chosen == site);
    let questions: Vec<(String, ValueQuestion)> = found
        .into_iter()
        .filter_map(|(site, question)| Some((site.as_deref().unwrap_or(SET).to_owned(), question?)))
        .filter(|(site, _)| is_wanted(site))
        .collect();
    if questions.len() > MAX_SITES {
        return Ok(Vec::new());
    }
    let mut actions: BTreeMap<String, CodeAction> = BTreeMap::new();
    for (site, question) in questions {
        let folder = &mut *asked.folder;
        let settable =
            explain_value::settable(&folder.project, &mut folder.workspace, &site, &question)?;
        for option in settable {
            let Some(edit) = override_edit(asked, &option) else {
                continue;
            };
            let title = format!(
                "Override it {}: set it in {}",
                option.scope, option.document
            );
            let kind = CodeActionKind::RefactorRewrite;
            actions
                .entry(title.clone())
                .or_insert_with(|| action(asked, title, kind, [edit]));
        }
    }
    Ok(actions.into_values().collect())
}

/// The text that sets the value; `None` for a secret, or without a place.
fn override_edit(
    asked: &Asked<'_>,
    option: &explain_value::SettableDocument,
) -> Option<(Span, String)> {
    let sources = asked.folder.workspace.sources();
    let source = sources.get(option.span.file);
    if !asked.is_current(option.span) || source.decoded_from().is_some() {
        return None;
    }
    with_value(source.text(), &option.data, &option.place, &option.value)
        .map(|(bytes, text)| (span(option.span.file, bytes), text))
}

fn span(file: FileId, bytes: Bytes<usize>) -> Span {
    let [start, end] = [bytes.start, bytes.end].map(crate::source::offset);
    Span::new(file, start, end)
}

/// An action that replaces texts.
pub(super) fn action(
    asked: &Asked<'_>,
    title: String,
    kind: CodeActionKind,
    edits: impl IntoIterator<Item = (Span, String)>,
) -> CodeAction {
    CodeAction {
        title,
        kind: Some(kind),
        edit: Some(workspace_edit(asked, edits)),
        ..CodeAction::default()
    }
}

/// Replacements of texts, by file.
pub(super) fn workspace_edit(
    asked: &Asked<'_>,
    edits: impl IntoIterator<Item = (Span, String)>,
) -> WorkspaceEdit {
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for (text, new_text) in edits {
        let place = asked.location(text);
        let range = place.range;
        changes
            .entry(place.uri)
            .or_default()
            .push(TextEdit { range, new_text });
    }
    WorkspaceEdit {
        changes: Some(changes),
        ..WorkspaceEdit::default()
    }
}

/// A text that begins with a capital letter.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters).collect()
}
