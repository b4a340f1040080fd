//! `invalid-property-group`: an invalid property group in a DataSchema or in the configuration.

use super::did_you_mean::word_edit;
use super::{FileFacts, SiteFacts, ambiguous_property_name, lossy_version, repeated_operand};
use crate::diagnostic::{Diagnostic, Rule};
use crate::source::SourceMap;
use crate::system::deckhand::document::Document;
use crate::system::deckhand::schema::is_data_schema;
use crate::system::heat::{GroupFault, GroupOperator, GroupProblem, Groups, InvalidGroup};

super::rule!(
    "invalid-property-group", Error[UnsafelyFixable], "invalid property group";
    File(check, RULES);
    Site(check_configured, RULES)
);

/// Rules about definitions of groups.
pub(super) const RULES: &[&Rule] = &[
    &RULE,
    &ambiguous_property_name::RULE,
    &lossy_version::RULE,
    &repeated_operand::RULE,
];

/// Location of a definition.
#[derive(Clone, Copy)]
pub(super) enum DefinitionPlace<'a> {
    /// In a DataSchema document.
    Schema(&'a Document),
    /// In the configuration, for documents of this schema.
    Configuration(&'a str),
}

impl DefinitionPlace<'_> {
    /// Owner of the groups, for messages.
    pub(super) fn of(&self) -> String {
        match self {
            DefinitionPlace::Schema(document) => format!("of DataSchema `{}`", document.key.name),
            DefinitionPlace::Configuration(schema) => format!("for `{schema}`"),
        }
    }
}

fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    let schemas = facts
        .documents
        .iter()
        .filter(|document| is_data_schema(document));
    // Deckhand ignores one without content; the content of a secret one must not be reported.
    for document in schemas.filter(|it| !it.data.value.is_falsy() && !it.data.secret) {
        let groups = facts.schemas.groups(&document.data, facts.sources);
        // `lossy-version` reports version keywords of schemas with all other scalars.
        let problems = groups
            .problems
            .iter()
            .filter(|problem| !matches!(problem.fault, GroupFault::LossyVersion { .. }));
        let home = DefinitionPlace::Schema(document);
        found.extend(problems.map(|problem| report(facts.sources, home, problem)));
    }
}

/// Reports problems of the configured groups as resolved in this site.
fn check_configured(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    for (beside, groups) in facts.schemas.groups_beside(facts.site, facts.sources) {
        let home = DefinitionPlace::Configuration(&beside.schema);
        let problems = groups.problems.iter();
        found.extend(problems.map(|problem| report(facts.sources, home, problem)));
    }
}

fn report(sources: &SourceMap, home: DefinitionPlace<'_>, problem: &GroupProblem) -> Diagnostic {
    let finding = match &problem.fault {
        GroupFault::AmbiguousName { name } => ambiguous_property_name::report(home, problem, name),
        GroupFault::DuplicateOperand { operand, first } => {
            repeated_operand::report(home, problem, operand, *first)
        }
        GroupFault::LossyVersion { text, read } => {
            lossy_version::report_configured(problem, text, read)
        }
        GroupFault::Invalid(invalid) => report_invalid(sources, home, problem, invalid),
    };
    let place = problem.block.to_string();
    let group = problem.group.as_deref().unwrap_or_default();
    let finding = finding.about(format!("{place} {group} {}", problem.fault.code()));
    match home {
        DefinitionPlace::Schema(document) => finding.document(&document.key),
        DefinitionPlace::Configuration(_) => finding,
    }
}

/// Names the group that a problem concerns.
pub(super) fn title(home: DefinitionPlace<'_>, problem: &GroupProblem) -> String {
    match &problem.group {
        Some(group) => format!("property group `{}` {}", short(group), home.of()),
        None => format!("a block of property groups {}", home.of()),
    }
}

fn report_invalid(
    sources: &SourceMap,
    home: DefinitionPlace<'_>,
    problem: &GroupProblem,
    invalid: &InvalidGroup,
) -> Diagnostic {
    let (what, label) = headline(invalid);
    let message = format!("{} {what}", title(home, problem));
    let mut finding = RULE.finding(message, problem.span, label);
    if let InvalidGroup::DuplicateName { first } = invalid {
        finding = finding.related(*first, "first defined here; this group is used");
    }
    let effect = match (invalid, &problem.group) {
        (InvalidGroup::DuplicateName { .. }, _) => "the second group is not checked",
        (InvalidGroup::TooLarge, None) => {
            "the groups before this one are checked, the ones after it are not"
        }
        (_, None) => "it checks nothing",
        (_, Some(_)) => "the group and all groups that refer to it are not checked",
    };
    let finding = finding.note(effect);
    if let Some((written, near)) = near(invalid) {
        let is_schema = matches!(home, DefinitionPlace::Schema(_));
        let written = written.filter(|_| is_schema);
        let edit = written.and_then(|it| word_edit(sources, problem.span, it, near));
        return finding.did_you_mean(near, edit);
    }
    match help(invalid) {
        Some(help) => finding.help(help),
        None => finding,
    }
}

/// Message after the name of the group, and label.
fn headline(invalid: &InvalidGroup) -> (String, String) {
    let plain = |what: &str, label: &str| (what.to_owned(), label.to_owned());
    match invalid {
        InvalidGroup::NotAList => plain(
            "is neither a list nor a mapping",
            "this must be a list of groups",
        ),
        InvalidGroup::BadEntry { expected } => (
            "is not written as a group".to_owned(),
            format!("this must be {expected}"),
        ),
        InvalidGroup::ReservedName => plain("has a reserved name", "not a valid group name"),
        InvalidGroup::DuplicateName { .. } => {
            plain("has the name of another group", "duplicate name")
        }
        InvalidGroup::UnknownKey { key, .. } => (
            format!("has the unknown key `{}`", short(key)),
            "unknown key".to_owned(),
        ),
        InvalidGroup::BadOperator {
            found: Some(word), ..
        } => (
            format!("has the unknown operator `{}`", short(word)),
            "unknown operator".to_owned(),
        ),
        InvalidGroup::BadOperator { found: None, .. } => {
            plain("has no operator", "an operator is required")
        }
        InvalidGroup::BadProperties => {
            plain("has no list of properties", "expected a list of operands")
        }
        InvalidGroup::EmptyGroup => plain("is empty", "expected at least one operand"),
        InvalidGroup::BadOperand { reason } => {
            ("has an invalid operand".to_owned(), (*reason).to_owned())
        }
        InvalidGroup::Arity => plain(
            "has `depends_on` with a single operand",
            "`depends_on` needs at least two operands",
        ),
        InvalidGroup::BadVersion { expected } => (
            "has invalid versions".to_owned(),
            format!("this must be {expected}"),
        ),
        InvalidGroup::UnknownName { name, .. } => (
            format!(
                "refers to `{}`, which is neither a property nor a group",
                short(name)
            ),
            "not found".to_owned(),
        ),
        InvalidGroup::UnknownProperty { path, part, .. } => (
            format!("refers to the unknown property `{}`", short(path)),
            format!("the schema declares no `{}` there", short(part)),
        ),
        InvalidGroup::UnknownGroup { name, .. } => (
            format!("refers to the unknown group `{}`", short(name)),
            "no such group in this block".to_owned(),
        ),
        InvalidGroup::PathThroughScalar { path, part } => (
            format!("has the path `{}` through a scalar value", short(path)),
            format!("a scalar cannot have a `{}`", short(part)),
        ),
        InvalidGroup::PathThroughTuple { path } => (
            format!(
                "has the path `{}` through a list with a schema for each item",
                short(path)
            ),
            "the path does not say which item".to_owned(),
        ),
        InvalidGroup::Cycle { names } => {
            let names: Vec<String> = names
                .iter()
                .map(|name| format!("`{}`", short(name)))
                .collect();
            (
                format!("refers to itself: {}", shortened(&names)),
                "the cycle begins here".to_owned(),
            )
        }
        InvalidGroup::Unreached => plain(
            "is where it applies to some data only",
            "not checked below `anyOf`, `oneOf`, `not`, `dependencies` or a list `items`",
        ),
        InvalidGroup::TooLarge => (
            "is too large".to_owned(),
            format!(
                "at most {} groups per block, nested at most {} deep",
                Groups::MAX_GROUPS,
                Groups::MAX_DEPTH
            ),
        ),
    }
}

/// Shortens a name or path to fit in a one-line message.
pub(super) fn short(text: &str) -> String {
    const MAX_CHARACTERS: usize = 120;
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn shortened(names: &[String]) -> String {
    const MAX_NAMES: usize = 8;
    let shown = names
        .iter()
        .take(MAX_NAMES)
        .cloned()
        .collect::<Vec<_>>()
        .join(" → ");
    if names.len() > MAX_NAMES {
        format!("{shown} → …")
    } else {
        shown
    }
}

/// Similar word, and the word that it should replace if it is one of the language of groups.
fn near(invalid: &InvalidGroup) -> Option<(Option<&str>, &str)> {
    match invalid {
        InvalidGroup::UnknownKey { key, near } => Some((Some(key), (*near)?)),
        InvalidGroup::BadOperator { found, near } => Some((found.as_deref(), (*near)?)),
        InvalidGroup::UnknownName { near, .. }
        | InvalidGroup::UnknownProperty { near, .. }
        | InvalidGroup::UnknownGroup { near, .. } => Some((None, near.as_deref()?)),
        _ => None,
    }
}

fn help(invalid: &InvalidGroup) -> Option<String> {
    match invalid {
        InvalidGroup::NotAList => {
            Some("write `- NAME: {properties: [a, b], operator: xor}`".to_owned())
        }
        InvalidGroup::BadEntry { .. } => Some(
            "a group is `NAME: {properties: [a, b], operator: xor}` or `{xor: [[a], [b]]}`"
                .to_owned(),
        ),
        InvalidGroup::ReservedName => {
            Some("do not use an operator, `property_groups` or a dot in the name".to_owned())
        }
        InvalidGroup::DuplicateName { .. } => Some("rename one of them".to_owned()),
        InvalidGroup::UnknownKey { .. } => Some(
            "a group has `properties`, `operator`, `assert`, `description`, `client_plugin`, and \
             `client_plugin_supported` or `client_plugin_supported_since`"
                .to_owned(),
        ),
        InvalidGroup::BadOperator { .. } => {
            let words: Vec<String> = GroupOperator::WORDS
                .iter()
                .map(|word| format!("`{word}`"))
                .collect();
            Some(format!("the operators are {}", words.join(", ")))
        }
        InvalidGroup::BadProperties | InvalidGroup::EmptyGroup => {
            Some("list the properties that the group constrains".to_owned())
        }
        InvalidGroup::BadOperand { .. } => {
            Some("an operand is `a.b`, `[a, b]`, the name of a group, or a group itself".to_owned())
        }
        InvalidGroup::Arity => Some(
            "put the dependent property first, followed by what it depends on; use `and` for a \
            mandatory property"
                .to_owned(),
        ),
        InvalidGroup::BadVersion { .. } => {
            Some("write `client_plugin_supported: [\"1.2\", \"2.0\"]`".to_owned())
        }
        InvalidGroup::UnknownName { .. } | InvalidGroup::UnknownProperty { .. } => {
            Some("declare the property in the schema, or correct the name".to_owned())
        }
        InvalidGroup::UnknownGroup { .. } => {
            Some("a group can only refer to groups in its own block".to_owned())
        }
        InvalidGroup::PathThroughTuple { .. } => {
            Some("write the group into the item's schema".to_owned())
        }
        InvalidGroup::Cycle { .. } => Some("remove one of the references".to_owned()),
        InvalidGroup::Unreached => {
            Some("move it beside that keyword, where it always applies".to_owned())
        }
        InvalidGroup::PathThroughScalar { .. } | InvalidGroup::TooLarge => None,
    }
}
