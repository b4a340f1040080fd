//! The window at a place. At a value: its final value in each site, what the line reaches, and when a
//! change takes effect; at a selector: the parents; at a rule in an ignore comment: its page.

use std::collections::BTreeMap;
use std::io::{self, Write};

use gen_lsp_types::{Contents, Hover, MarkupContent, MarkupKind, TextDocumentPositionParams};

use super::asked::{Asked, SiteAnswers};
use super::cursor::ignored_rule;
use super::reach::line_of;
use crate::ask::impact::SiteImpact;
use crate::ask::{effect, place, value};
use crate::check::{Answer, RenderedSite};
use crate::commands::impact::of_sites;
use crate::error::Error;
use crate::near::list;
use crate::report::answer::effect::LineEffect;
use crate::report::answer::impact::Impact;
use crate::report::answer::provenance::{ExplainedValue, SiteValue};
use crate::report::answer::{self, provenance};
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
    let (given, line) = line_of(asked, at);
    let configuration = asked.folder.workspace.configuration();
    let table = configuration.consequences.clone();
    let armada = configuration.armada.clone();
    let found = asked.ask(|site| {
        let value = place::in_data(site, at).map(|place| place.question(site));
        let value = match &value {
            Some(question) => value::answer(site, question).map(Some),
            None => Answer::Is(None),
        };
        let parent = parent_at(site, at);
        let effects = effect::answer(site, &given, line, &table, &armada);
        value
            .and(effects)
            .map(|(value, (impact, effects))| SiteWindow {
                parent,
                value,
                impact,
                effects,
            })
    })?;
    Ok(text(asked, at, line, found).map(|text| hover(MarkupKind::PlainText, text)))
}

/// Contents of the window for one site.
struct SiteWindow {
    /// Result of the selector at the place; `None` elsewhere.
    parent: Option<Parent>,
    /// The final value, or an error if the site has none; `None` outside of data.
    value: Option<Result<ExplainedValue, Error>>,
    impact: SiteImpact,
    effects: BTreeMap<LineEffect, usize>,
}

/// The document that a selector finds.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Parent {
    Found(DocKey, Span),
    Missing,
}

fn parent_at(site: &RenderedSite<'_>, at: Span) -> Option<Parent> {
    let doc = site.site.document_at(at)?;
    let selector = site.site.document(doc).parent_selector.as_ref()?;
    place::touches(selector.span, at).then(|| match site.graph.recipe(doc).base {
        Some(link) => {
            let parent = site.site.document(link.doc);
            Parent::Found(parent.key.clone(), parent.name_span)
        }
        None => Parent::Missing,
    })
}

/// The text of the window; `None` if no document of a site is there.
fn text(
    asked: &Asked<'_>,
    at: Span,
    line: usize,
    found: SiteAnswers<SiteWindow>,
) -> Option<String> {
    let mut parents: BTreeMap<Parent, Vec<String>> = BTreeMap::new();
    let mut values = Vec::new();
    let mut impacts = Vec::new();
    let mut effects: BTreeMap<LineEffect, usize> = BTreeMap::new();
    for (site, window) in found {
        if let Some(parent) = window.parent {
            let name = site.as_deref().unwrap_or_default().to_owned();
            parents.entry(parent).or_default().push(name);
        }
        if let Some(value) = window.value {
            let way = value.ok();
            values.push(SiteValue { site, way });
        }
        impacts.push(window.impact);
        for (effect, outputs) in window.effects {
            *effects.entry(effect).or_default() += outputs;
        }
    }
    let workspace = &asked.folder.workspace;
    let place = format!("{}:{}", asked.file, asked.range(at).start.line + 1);
    let impact = of_sites(workspace, (&place, Some(line)), impacts.into_iter());
    if impact.sites_reading == 0 || impact.texts.is_empty() {
        return None;
    }
    let (sources, secrets, opaque) = workspace.texts();
    let view = View::new(sources, &secrets, &opaque);
    let mut text = Vec::new();
    write_window(&parents, values, impact, &effects, &view, &mut text)
        .expect("memory can be written");
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// Writes the parents, the value of `explain-value`, the answer of `impact`, and the effects.
fn write_window(
    parents: &BTreeMap<Parent, Vec<String>>,
    values: Vec<SiteValue>,
    impact: Impact,
    effects: &BTreeMap<LineEffect, usize>,
    view: &View<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (parent, sites) in parents {
        let sites = list(sites.iter().map(String::as_str));
        match parent {
            Parent::Found(key, at) => {
                let name = key.name_and_layer();
                writeln!(
                    out,
                    "the parent is {name} at {} in {sites}",
                    view.origin(*at)
                )?;
            }
            Parent::Missing => writeln!(out, "no parent in {sites}")?,
        }
    }
    if !parents.is_empty() {
        writeln!(out)?;
    }
    if values.iter().any(|value| value.way.is_some()) {
        let located = values.into_iter().map(|value| value.located(view));
        provenance::write_values(&located.collect::<Vec<_>>(), &STYLE, out)?;
        writeln!(out)?;
    }
    answer::impact::write(&impact.located(view), &STYLE, out)?;
    answer::effect::write(effects, &STYLE, out)
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
