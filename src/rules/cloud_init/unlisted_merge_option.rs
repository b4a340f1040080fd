//! `unlisted-merge-option`: options of a merge class given as a string instead of a list.

use super::{SetFacts, SpecifiedPart};
use crate::diagnostic::{Diagnostic, TextEdit};
use crate::merge::cloud_init::{Dialect, Request, Settings};
use crate::source::{SourceMap, Spanned};
use std::sync::Arc;

super::super::rule!(
    "unlisted-merge-option",
    Warning[Fixable],
    "options of a merge class given as a string instead of a list";
    Set(check)
);

fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    for specified in facts.specified() {
        for request in &specified.specification.requests {
            if let Settings::Text(text) = &request.settings {
                let word = Wording {
                    facts,
                    specified: &specified,
                    request,
                    text,
                };
                // If it sets no option, `unknown-merge-option` reports each of its words.
                if !word.set().is_empty() {
                    found.push(word.finding());
                }
            }
        }
    }
}

struct Wording<'a> {
    facts: &'a SetFacts<'a>,
    specified: &'a SpecifiedPart<'a>,
    request: &'a Request,
    text: &'a Spanned<Arc<str>>,
}

impl Wording<'_> {
    fn finding(&self) -> Diagnostic {
        let class = self.request.class.as_str();
        let message = format!("the options of `{class}` are a string, not a list");
        let finding = RULE
            .finding(message, self.text.span, "searched for option names")
            .about(class);
        if self.specified.is_secret() {
            return finding.note(WHY).help("write a list of options");
        }
        let set = self.set();
        let finding = finding.note(format!("{WHY}: here {}", in_words(&set)));
        match &set[..] {
            [only] if *only == &*self.text.value => self.with_fix(finding, only),
            _ => finding.help("write the intended options as a list"),
        }
    }

    /// Options that the string sets.
    fn set(&self) -> Vec<&'static str> {
        let options = self.request.class.options(self.dialect()).iter().copied();
        options
            .filter(|option| self.text.value.contains(option))
            .collect()
    }

    fn dialect(&self) -> Dialect {
        self.facts.set.dialect
    }

    /// Adds a fix: a list with the same effect.
    fn with_fix(&self, finding: Diagnostic, option: &str) -> Diagnostic {
        let sources: &SourceMap = self.facts.facts.sources;
        let list = format!("[{option}]");
        let finding = finding.help(format!("write `settings: {list}`"));
        let written = sources.slice(self.text.span);
        let is_plain = written.trim_matches(['"', '\'']) == option;
        if !is_plain {
            return finding;
        }
        let edit = TextEdit {
            span: self.text.span,
            text: list,
        };
        finding.fix("convert the option to a list", vec![edit])
    }
}

const WHY: &str = "cloud-init searches the string for option names, even inside longer words";

fn in_words(options: &[&str]) -> String {
    let quoted: Vec<String> = options.iter().map(|option| format!("`{option}`")).collect();
    match &quoted[..] {
        [most @ .., last] if !most.is_empty() => {
            format!("it finds {} and {last}", most.join(", "))
        }
        few => format!("it finds {}", few.concat()),
    }
}
