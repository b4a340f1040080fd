//! The tools: their definitions and arguments. Definitions are short, since each conversation of an agent
//! pays for them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::calls;
use crate::cancel::Cancel;
use crate::check::RunControl;
use crate::commands::Selection;
use crate::error::{Error, ErrorKind};
use crate::near;
use crate::report::printable_lines;

/// A tool. Its arguments are strings.
pub(super) struct Tool {
    pub(super) name: &'static str,
    description: &'static str,
    required: &'static [&'static str],
    optional: &'static [&'static str],
    answer: fn(&Question<'_>) -> Result<Answer, Error>,
}

const TOOLS: [Tool; 6] = [
    Tool {
        name: "changes",
        description: "Effects of edits since a git revision: outputs, shields, cautions, new \
            findings",
        required: &["since"],
        optional: &["site", CURSOR],
        answer: calls::changes,
    },
    Tool {
        name: "impact",
        description: "Outputs that FILE or FILE:LINE could change",
        required: &["place"],
        optional: &[CURSOR],
        answer: calls::impact,
    },
    Tool {
        name: "explain_value",
        description: "Origin of a rendered value, and where to change it",
        required: &["name", "path"],
        optional: &["site", "schema", CURSOR],
        answer: calls::explain_value,
    },
    Tool {
        name: "findings",
        description: "Errors and warnings",
        required: &[],
        optional: &["file", "rule", "site", CURSOR],
        answer: calls::findings,
    },
    Tool {
        name: "render",
        description: "Rendered documents",
        required: &["site"],
        optional: &["schema", "name", "path", CURSOR],
        answer: calls::render,
    },
    Tool {
        name: "blame",
        description: "Commits behind rendered values",
        required: &["site"],
        optional: &["schema", "name", "path", CURSOR],
        answer: calls::blame,
    },
];

const CURSOR: &str = "cursor";

/// Definitions of all tools.
pub(super) fn definitions() -> Value {
    TOOLS.iter().map(Tool::definition).collect()
}

/// Names of all tools, as a list in a sentence.
pub(super) fn names() -> String {
    near::list(TOOLS.iter().map(|tool| tool.name))
}

/// A question to a tool.
pub(super) struct Question<'q> {
    pub(super) selection: &'q Selection,
    pub(super) control: RunControl,
    arguments: BTreeMap<String, String>,
}

impl Question<'_> {
    /// An argument; `None` if it is not given.
    pub(super) fn argument(&self, name: &str) -> Option<String> {
        self.arguments.get(name).cloned()
    }

    /// A required argument.
    pub(super) fn required(&self, name: &str) -> String {
        self.arguments[name].clone()
    }

    /// An argument as a list with at most one item.
    pub(super) fn list(&self, name: &str) -> Vec<String> {
        self.argument(name).into_iter().collect()
    }
}

impl Tool {
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        const { &TOOLS }.iter().find(|tool| tool.name == name)
    }

    fn arguments(&self) -> impl Iterator<Item = &str> {
        self.required.iter().chain(self.optional).copied()
    }

    fn definition(&self) -> Value {
        let properties: Map<String, Value> = self
            .arguments()
            .map(|name| (name.to_owned(), json!({"type": "string"})))
            .collect();
        let mut schema = json!({
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
        });
        if !self.required.is_empty() {
            schema["required"] = self.required.into();
        }
        json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": schema,
            "annotations": {"readOnlyHint": true, "openWorldHint": false},
        })
    }

    /// Result of a call: a page, or an error that says what to change.
    pub(super) fn call(
        &self,
        selection: &Selection,
        arguments: &Map<String, Value>,
        cancel: &Cancel,
    ) -> String {
        let page = self.checked(arguments).and_then(|arguments| {
            let question = Question {
                selection,
                control: RunControl::stopped_by(cancel),
                arguments,
            };
            (self.answer)(&question)?.page(question.argument(CURSOR).as_deref())
        });
        let is_error = page.is_err();
        let page = page.unwrap_or_else(|error| failure(&error));
        let text = Value::from(&*page);
        format!(
            r#"{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{page},"isError":{is_error}}}"#
        )
    }

    /// The arguments, if they are those of the tool.
    fn checked(&self, given: &Map<String, Value>) -> Result<BTreeMap<String, String>, Error> {
        let mut arguments = BTreeMap::new();
        for (name, value) in given {
            if !self.arguments().any(|known| known == name) {
                return Err(self.refused("unknown argument"));
            }
            let Value::String(text) = value else {
                return Err(self.refused(&format!("expected a string for `{name}`")));
            };
            arguments.insert(name.clone(), text.clone());
        }
        match self
            .required
            .iter()
            .find(|name| !given.contains_key(**name))
        {
            Some(missing) => Err(self.refused(&format!("missing argument `{missing}`"))),
            None => Ok(arguments),
        }
    }

    fn refused(&self, message: &str) -> Error {
        let names = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            names.join(", ")
        };
        let required = match self.required {
            [] => String::new(),
            required => format!("{}, and optionally ", names(required)),
        };
        let help = format!("`{}` takes {required}{}", self.name, names(self.optional));
        Error::usage(message).with_help(help)
    }
}

/// An error, as structured content. Its sentences can name things of the repository.
fn failure(error: &Error) -> String {
    /// Maximum number of characters of a message; a configuration can have many errors.
    const MAX_CHARACTERS: usize = 1_500;
    let shown = |text: &str| {
        let text = printable_lines(text);
        text.chars().take(MAX_CHARACTERS).collect::<String>()
    };
    let kind = match error.kind() {
        ErrorKind::Usage => "usage",
        ErrorKind::Io => "io",
        ErrorKind::Git => "git",
        ErrorKind::Baseline => "baseline",
        ErrorKind::Configuration => "configuration",
        ErrorKind::Cancelled => "cancelled",
        ErrorKind::Internal => "internal",
    };
    json!({
        "error": kind,
        "complete": false,
        "untrusted": {"message": shown(&error.to_string()), "help": error.help().map(shown)},
    })
    .to_string()
}
