//! The window at a place. At a value: its final value in each site, what the line reaches, and when a
//! change takes effect; at a selector: the parents; at a rule in an ignore comment: its page.

use std::collections::BTreeMap;
use std::io::{self, Write};

use gen_lsp_types::{Contents, Hover, MarkupContent, MarkupKind, TextDocumentPositionParams};

use super::asked::Asked;
use super::cursor::ignored_rule;
use super::reach::{line_of, of_line};
use crate::ask::{ValueQuestion, effect, place};
use crate::check::Answer;
use crate::commands::explain_value;
use crate::error::Error;
use crate::report::answer::{self, impact, provenance};
use crate::report::{TerminalStyle, View};
use crate::rules;
use crate::source::{DocKey, Span};

/// Text for a window of an editor.
const STYLE: TerminalStyle = TerminalStyle {
    width: 100,
    color: false,
    unicode: true,
    links: false,
};

pub(super) fn answer(
    asked: &mut Asked<'_>,
    at: TextDocumentPositionParams,
) -> Result<Option<Hover>, Error> {
    let byte = asked.lines().byte(at.position);
    if let Some(page) = rule_at(asked, byte) {
        return Ok(Some(hover(MarkupKind::Markdown, page)));
    }
    // The indentation of a line belongs to what is written there.
    let rest = &asked.text[byte..];
    let indentation = rest.len() - rest.trim_start_matches(' ').len();
    let Some(at) = asked.at(asked.lines().position(byte + indentation)) else {
        return Ok(None);
    };
    let sections = [parents(asked, at)?, values(asked, at)?, reach(asked, at)?];
    let sections: Vec<String> = sections.into_iter().flatten().collect();
    let text = sections.join("\n");
    Ok((!text.is_empty()).then(|| hover(MarkupKind::PlainText, text)))
}

fn hover(kind: MarkupKind, value: String) -> Hover {
    Hover {
        contents: Contents::MarkupContent(MarkupContent { kind, value }),
        range: None,
    }
}

/// The page of a rule that an ignore comment names.
fn rule_at(asked: &Asked<'_>, byte: usize) -> Option<String> {
    let name = ignored_rule(&asked.text, byte)?;
    let rule = *rules::ignorable(&asked.text[name]).first()?;
    let about = rule.page.split("\n## Bad").next().unwrap_or_default();
    Some(about.trim_end().to_owned())
}

/// The parents that a selector finds, with their sites; `None` elsewhere.
fn parents(asked: &mut Asked<'_>, at: Span) -> Result<Option<String>, Error> {
    let found = asked.ask(|site| {
        let doc = site.site.document_at(at);
        let doc = doc.filter(|doc| {
            let selector = site.site.document(*doc).parent_selector.as_ref();
            selector.is_some_and(|selector| place::touches(selector.span, at))
        });
        Answer::Is(doc.map(|doc| {
            let parent = site.graph.recipe(doc).base?;
            let parent = site.site.document(parent.doc);
            Some((parent.key.clone(), parent.name_span))
        }))
    })?;
    let mut sites: BTreeMap<Option<(DocKey, Span)>, Vec<String>> = BTreeMap::new();
    for (site, parent) in found {
        if let Some(parent) = parent {
            let site = site.as_deref().unwrap_or_default().to_owned();
            sites.entry(parent).or_default().push(site);
        }
    }
    let (sources, secrets, opaque) = asked.folder.workspace.texts();
    let view = View::new(sources, &secrets, &opaque);
    let lines = sites.iter().map(|(parent, sites)| {
        let sites = crate::near::list(sites.iter().map(String::as_str));
        match parent {
            Some((key, at)) => format!(
                "the parent is {} at {} in {sites}\n",
                key.name_and_layer(),
                view.origin(*at)
            ),
            None => format!("no parent in {sites}\n"),
        }
    });
    let text: String = lines.collect();
    Ok((!text.is_empty()).then_some(text))
}

/// The final value at a place in each site: the answer of `explain-value`. `None` outside of data.
fn values(asked: &mut Asked<'_>, at: Span) -> Result<Option<String>, Error> {
    let found = asked.ask(|site| {
        Answer::Is(place::in_data(site, at).map(|place| ValueQuestion {
            schema: site.graph.recipe(place.doc).key.schema.to_string(),
            name: site.graph.recipe(place.doc).key.name.to_string(),
            path: place.location.to_string(),
        }))
    })?;
    let Some(question) = found.into_iter().find_map(|(_, question)| question) else {
        return Ok(None);
    };
    let folder = &mut *asked.folder;
    let sites = folder.project.sites_reading([&asked.file]);
    let values = explain_value::in_sites(&mut folder.workspace, sites.as_ref(), &question)?;
    Ok(values.ok().map(|values| {
        written(asked, |view, out| {
            let located = values.into_iter().map(|value| value.located(view));
            let located: Vec<_> = located.collect();
            provenance::write_values(&located, &STYLE, out)
        })
    }))
}

/// What a line reaches and what shields others, the answer of `impact`, with the effects of a change.
/// `None` if no document of a site is there.
fn reach(asked: &mut Asked<'_>, at: Span) -> Result<Option<String>, Error> {
    let Some(impact) = of_line(asked, at)? else {
        return Ok(None);
    };
    let (given, line) = line_of(asked, at);
    let configuration = asked.folder.workspace.configuration();
    let table = configuration.consequences.clone();
    let armada = configuration.armada.clone();
    let of_sites = asked.ask(|site| effect::answer(site, &given, line, &table, &armada))?;
    let mut effects = BTreeMap::new();
    for (effect, outputs) in of_sites.into_iter().flat_map(|(_, effects)| effects) {
        *effects.entry(effect).or_default() += outputs;
    }
    Ok(Some(written(asked, |view, out| {
        impact::write(&impact.located(view), &STYLE, out)?;
        answer::effect::write(&effects, &STYLE, out)
    })))
}

/// Text that is written with secrets hidden.
fn written(
    asked: &Asked<'_>,
    write: impl FnOnce(&View<'_>, &mut dyn Write) -> io::Result<()>,
) -> String {
    let (sources, secrets, opaque) = asked.folder.workspace.texts();
    let view = View::new(sources, &secrets, &opaque);
    let mut text = Vec::new();
    write(&view, &mut text).expect("memory can be written");
    String::from_utf8_lossy(&text).into_owned()
}
