//! Content of reports, and content that must never be in them.

mod comparison;
mod documents;
mod json;
mod json_report;
mod laws;
mod repositories;
mod saved;
mod secrets;
mod terminal;
mod timing;
mod world;

use std::collections::BTreeMap;
use std::sync::Arc;

use layercake::diagnostic::{Diagnostic, Label, Rule};
use layercake::report::model::{Report, ReportInput};
use layercake::report::{
    Detail, FindingFilter, TerminalOptions, TerminalStyle, View, terminal as format,
};
use layercake::source::{FileId, RepoPath, Source, SourceMap, Span};
use layercake::triage::Findings;

use crate::support::saved as law;

/// Texts with marks: `«a:text»` is the place `a`, and `«!:text»` is secret. Marks may be nested.
#[derive(Default)]
struct Files {
    sources: SourceMap,
    places: BTreeMap<char, Span>,
    secrets: Vec<Span>,
    opaque: Vec<FileId>,
}

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        let mut all = Self::default();
        for (path, marked) in files {
            all.add(path, marked);
        }
        all
    }

    fn add(&mut self, path: &str, marked: &str) -> FileId {
        let file = self.sources.upcoming();
        let (mut text, mut open, mut rest) = (String::new(), Vec::new(), marked.chars());
        let length = |text: &String| u32::try_from(text.len()).unwrap();
        while let Some(character) = rest.next() {
            match character {
                '«' => {
                    open.push((rest.next().unwrap(), length(&text)));
                    assert_eq!(rest.next(), Some(':'), "a mark is written `«a:text»`");
                }
                '»' => {
                    let (name, start) = open.pop().unwrap();
                    let span = Span::new(file, start, length(&text));
                    match name {
                        '!' => self.secrets.push(span),
                        _ => drop(self.places.insert(name, span)),
                    }
                }
                _ => text.push(character),
            }
        }
        self.sources
            .add(Source::new(RepoPath::new(path), Ok(text.into_bytes())))
    }

    fn at(&self, place: char) -> Span {
        self.places[&place]
    }

    fn view(&self) -> View<'_> {
        View::new(&self.sources, &self.secrets, &self.opaque)
    }

    /// A finding with a label at the place `a`.
    fn finding(&self, message: &str, label: &str) -> Diagnostic {
        Diagnostic::new(
            rule("missing-parent"),
            message,
            Label::new(self.at('a'), label),
        )
    }

    /// Findings in the full format.
    fn full(&self, diagnostics: Vec<Diagnostic>, style: TerminalStyle) -> String {
        let is_few = diagnostics.len() < 1000;
        let report = self.report(diagnostics);
        // Very many would take a while.
        if is_few {
            law::check_report(&report);
        }
        let mut out = Vec::new();
        format::write_findings(&report, LOOK, &style, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Findings in the concise format.
    fn concise(&self, diagnostics: Vec<Diagnostic>) -> String {
        let mut out = Vec::new();
        let report = self.report(diagnostics);
        format::write_concise(&report, LOOK, &plain(1000), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn json(&self, diagnostics: Vec<Diagnostic>) -> String {
        law::json(&self.report(diagnostics))
    }

    fn report(&self, diagnostics: Vec<Diagnostic>) -> Report {
        let findings = Findings {
            diagnostics,
            ..Findings::default()
        };
        Report::new(ReportInput::of_findings(&findings), &self.view())
    }
}

/// Options that show all of each finding.
const LOOK: TerminalOptions = TerminalOptions {
    listing: FindingFilter {
        all: false,
        ignored: false,
    },
    limit: 0,
    detail: Detail::Whole,
};

fn rule(name: &str) -> &'static Rule {
    layercake::rules::find(name).expect("a rule of this name")
}

fn plain(width: usize) -> TerminalStyle {
    TerminalStyle {
        width,
        color: false,
        unicode: true,
        links: false,
    }
}

fn sites(names: &[&str]) -> Vec<Arc<str>> {
    names.iter().map(|name| Arc::from(*name)).collect()
}
