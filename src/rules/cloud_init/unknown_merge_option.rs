//! `unknown-merge-option`: unknown option of a merge class.

use super::{SetFacts, SpecifiedPart};
use crate::diagnostic::{Diagnostic, Label, TextEdit};
use crate::merge::cloud_init::{Class, Dialect, Request, Settings, UnknownOption};
use crate::rules::did_you_mean::word_edit;
use crate::source::Span;

super::super::rule!(
    "unknown-merge-option", Warning[Fixable, UnsafelyFixable], "unknown option of a merge class";
    Set(check)
);

fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    let dialect = facts.set.dialect;
    for specified in facts.specified() {
        for request in &specified.specification.requests {
            for option in request.unknown_options(dialect) {
                let unknown = Unknown {
                    facts,
                    specified: &specified,
                    request,
                    option,
                };
                found.push(unknown.finding());
            }
            found.extend(no_texts(request));
        }
    }
}

/// Findings about options of a class that are not strings.
fn no_texts(request: &Request) -> Vec<Diagnostic> {
    let others = match &request.settings {
        Settings::Words { others, .. } => &others[..],
        Settings::Text(_) => &[],
    };
    let class = request.class.as_str();
    let report = |kind: &str, at: Span| {
        let message = format!("an option of `{class}` is {kind}, not a string");
        RULE.finding(message, at, "ignored by cloud-init")
            .note("cloud-init silently ignores it")
            .help("write the options as one list of strings")
            .about(class)
    };
    others
        .iter()
        .map(|other| report(other.value, other.span))
        .collect()
}

struct Unknown<'a> {
    facts: &'a SetFacts<'a>,
    specified: &'a SpecifiedPart<'a>,
    request: &'a Request,
    option: UnknownOption,
}

/// Why an option is unknown, if that can be determined.
enum OptionError {
    /// A following class that is not separated from this one.
    SwallowedClass(Class),
    /// A parenthesis without a counterpart.
    Parenthesis,
    /// Several options, not separated by commas.
    Separator,
    /// An option with a value.
    Value,
    /// The same word in a different spelling, where spelling matters.
    Spelling(&'static str),
    /// A word of the other dialect, and its equivalent in this one.
    OtherDialect(Option<&'static str>),
    /// A typo.
    Near(&'static str),
    /// An option of another class.
    Elsewhere(Class),
    /// Unknown.
    Nothing,
}

impl Unknown<'_> {
    fn finding(&self) -> Diagnostic {
        let class = self.request.class.as_str();
        let word = &*self.option.word.value;
        let at = self.option.word.span;
        let label = Label::new(at, "silently ignored");
        if self.specified.is_secret() {
            let message = format!("unknown option of `{class}`");
            return Diagnostic::new(&RULE, message, label).about(class);
        }
        let message = format!("`{class}` has no option `{}`", one_line(word));
        let finding = Diagnostic::new(&RULE, message, label).about(one_line(word));
        let cause = self.cause();
        let finding = finding.note(self.note(&cause));
        self.with_fix(self.with_help(finding, &cause), &cause)
    }

    fn cause(&self) -> OptionError {
        let class = self.request.class;
        let word = &*self.option.word.value;
        let holds = |marks: &[char]| word.contains(marks);
        let swallowed = Class::ALL
            .into_iter()
            .find(|class| word.contains(&format!("{}(", class.as_str())));
        if let Some(swallowed) = swallowed {
            return OptionError::SwallowedClass(swallowed);
        }
        if holds(&['(', ')']) {
            return OptionError::Parenthesis;
        }
        if holds(&['=', ':']) {
            return OptionError::Value;
        }
        if holds(&[';', '|', ' ', '\t', '/', '&']) {
            return OptionError::Separator;
        }
        match (self.option.near, elsewhere(class, word, self.dialect())) {
            (Some(near), _) if near == as_spelled(word) => OptionError::Spelling(near),
            _ if self.is_of_other_dialect() => OptionError::OtherDialect(self.in_this_dialect()),
            (_, Some(class)) => OptionError::Elsewhere(class),
            (Some(near), None) => OptionError::Near(near),
            (None, None) => OptionError::Nothing,
        }
    }

    fn is_of_other_dialect(&self) -> bool {
        let other = match self.dialect() {
            Dialect::Current => Dialect::Documented,
            Dialect::Documented => Dialect::Current,
        };
        let word = as_spelled(&self.option.word.value);
        self.request.class.options(other).contains(&&*word)
    }

    /// Equivalent in this dialect of a word of the other.
    fn in_this_dialect(&self) -> Option<&'static str> {
        let class = self.request.class;
        let word = as_spelled(&self.option.word.value);
        match self.dialect() {
            Dialect::Current => class.modern_option(&word),
            Dialect::Documented => {
                let mut old = class.options(Dialect::Documented).iter().copied();
                old.find(|old| class.modern_option(old) == Some(&*word))
            }
        }
    }

    fn note(&self, cause: &OptionError) -> String {
        let class = self.request.class.as_str();
        match cause {
            OptionError::SwallowedClass(_) => {
                "classes are separated only by `+`; without it everything up to the last \
                 parenthesis is read as options"
                    .into()
            }
            OptionError::Parenthesis => "an option ends at a `,` or at the last parenthesis".into(),
            OptionError::Separator => "options are separated only by `,`".into(),
            OptionError::Value => "an option does not have a value".into(),
            OptionError::Spelling(_) => {
                "options in a list must be spelled exactly, in lower case and with `_`; `-` and \
                 upper case are accepted only in a string"
                    .into()
            }
            OptionError::OtherDialect(_) => match self.dialect() {
                Dialect::Current => {
                    "it is a 2013 option of a cloud-init that was never released, but is still \
                     found in old documents"
                        .into()
                }
                Dialect::Documented => {
                    "it is an option of current cloud-init; with `dialect: documented` the set is \
                     merged as in 2013"
                        .into()
                }
            },
            OptionError::Elsewhere(other) => format!("it is an option of `{}`", other.as_str()),
            OptionError::Near(_) | OptionError::Nothing => {
                let options = self.request.class.options(self.dialect());
                match options {
                    [only] => format!("the only option of `{class}` is `{only}`"),
                    options => format!("the options of `{class}` are `{}`", options.join("`, `")),
                }
            }
        }
    }

    fn with_help(&self, finding: Diagnostic, cause: &OptionError) -> Diagnostic {
        let help: String = match cause {
            OptionError::SwallowedClass(other) => {
                let class = self.request.class.as_str();
                let other = other.as_str();
                format!("separate the classes: `{class}(...)+{other}(...)`")
            }
            OptionError::Parenthesis => "remove the parenthesis".into(),
            OptionError::Separator => "separate the options with `,`".into(),
            OptionError::Value => "remove the value, or the option".into(),
            OptionError::Spelling(near) => format!("write `{near}`"),
            OptionError::Near(near) => {
                let word = &self.option.word;
                let edit = word_edit(self.facts.facts.sources, word.span, &word.value, near);
                return finding.did_you_mean(near, edit);
            }
            OptionError::OtherDialect(Some("append")) => {
                "write `append`, and add `recurse_list` to the options of `dict`, which is \
                 required to merge lists"
                    .into()
            }
            OptionError::OtherDialect(Some(same)) => format!("write `{same}`"),
            OptionError::OtherDialect(None) => "remove it: it has no equivalent".into(),
            OptionError::Elsewhere(other) => {
                format!("move it to `{}`, or remove it", other.as_str())
            }
            OptionError::Nothing => "remove it, or correct it".into(),
        };
        finding.help(help)
    }

    /// Adds a fix if the intended option is unambiguous and sufficient.
    fn with_fix(&self, finding: Diagnostic, cause: &OptionError) -> Diagnostic {
        let option = match cause {
            OptionError::Spelling(option) => option,
            OptionError::OtherDialect(Some(option)) if *option != "append" => option,
            OptionError::OtherDialect(_)
            | OptionError::SwallowedClass(_)
            | OptionError::Parenthesis
            | OptionError::Separator
            | OptionError::Value
            | OptionError::Near(_)
            | OptionError::Elsewhere(_)
            | OptionError::Nothing => return finding,
        };
        let span = self.option.word.span;
        let written = self.facts.facts.sources.slice(span);
        if as_spelled(written) != as_spelled(&self.option.word.value) {
            return finding;
        }
        let edit = TextEdit {
            span,
            text: (*option).to_owned(),
        };
        finding.fix(format!("write `{option}`"), vec![edit])
    }

    fn dialect(&self) -> Dialect {
        self.facts.set.dialect
    }
}

/// The only other class that has this option, if there is exactly one.
fn elsewhere(class: Class, word: &str, dialect: Dialect) -> Option<Class> {
    let mut others = Class::ALL
        .into_iter()
        .filter(|other| *other != class && other.options(dialect).contains(&word));
    others.next().filter(|_| others.next().is_none())
}

/// Normalizes a word to the spelling of options.
fn as_spelled(word: &str) -> String {
    word.trim().to_lowercase().replace('-', "_")
}

fn one_line(word: &str) -> String {
    word.split_whitespace().collect::<Vec<_>>().join(" ")
}
