//! `invalid-property-group`: a property group that is none, in a DataSchema or
//! in the configuration.

use super::{FileFacts, SiteFacts, ambiguous_property_name, lossy_version, repeated_operand};
use crate::diagnostic::{Diagnostic, Label, Rule};
use crate::system::deckhand::document::Document;
use crate::system::deckhand::schema::is_data_schema;
use crate::system::heat::{GroupFault, GroupOperator, GroupProblem, Groups};

super::rule!(
    "invalid-property-group", Error, "a property group that cannot be understood";
    File(check, RULES);
    Site(check_configured, RULES)
);

/// The rules that are about definitions of groups.
pub(super) const RULES: &[&Rule] =
    &[&RULE, &ambiguous_property_name::RULE, &lossy_version::RULE, &repeated_operand::RULE];

/// The place of a definition.
#[derive(Clone, Copy)]
pub(super) enum DefinitionPlace<'a> {
    /// In a DataSchema document.
    Schema(&'a Document),
    /// In the configuration, for documents of this schema.
    Configuration(&'a str),
}

impl DefinitionPlace<'_> {
    /// The name of its groups.
    pub(super) fn of(&self) -> String {
        match self {
            DefinitionPlace::Schema(document) => format!("of DataSchema `{}`", document.key.name),
            DefinitionPlace::Configuration(schema) => format!("for `{schema}`"),
        }
    }
}

fn check(facts: &FileFacts<'_>, found: &mut Vec<Diagnostic>) {
    let schemas = facts.documents.iter().filter(|document| is_data_schema(document));
    // Deckhand drops one without content; of a secret one nothing can be determined.
    for document in schemas.filter(|it| !it.data.value.is_falsy() && !it.data.secret) {
        let groups = facts.schemas.groups(&document.data, facts.sources);
        // A keyword that a version ignores is reported with all of its kind.
        let is_reported_here =
            |problem: &&GroupProblem| !matches!(problem.fault, GroupFault::LossyVersion { .. });
        let problems = groups.problems.iter().filter(is_reported_here);
        found.extend(problems.map(|problem| word(DefinitionPlace::Schema(document), problem)));
    }
}

/// Findings about the groups of the configuration, as they are understood in this site.
fn check_configured(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    for (beside, groups) in facts.schemas.groups_beside(facts.site, facts.sources) {
        let home = DefinitionPlace::Configuration(&beside.schema);
        found.extend(groups.problems.iter().map(|problem| word(home, problem)));
    }
}

fn word(home: DefinitionPlace<'_>, problem: &GroupProblem) -> Diagnostic {
    let finding = match &problem.fault {
        GroupFault::AmbiguousName { name } => ambiguous_property_name::word(home, problem, name),
        GroupFault::DuplicateOperand { operand, first } => {
            repeated_operand::word(home, problem, operand, *first)
        }
        GroupFault::LossyVersion { text, read } => {
            lossy_version::word_configured(problem, text, read)
        }
        GroupFault::NotAList
        | GroupFault::BadEntry { .. }
        | GroupFault::ReservedName
        | GroupFault::DuplicateName { .. }
        | GroupFault::UnknownKey { .. }
        | GroupFault::BadOperator { .. }
        | GroupFault::BadProperties
        | GroupFault::EmptyGroup
        | GroupFault::BadOperand { .. }
        | GroupFault::Arity
        | GroupFault::BadVersion { .. }
        | GroupFault::UnknownName { .. }
        | GroupFault::UnknownProperty { .. }
        | GroupFault::UnknownGroup { .. }
        | GroupFault::PathThroughScalar { .. }
        | GroupFault::PathThroughTuple { .. }
        | GroupFault::Cycle { .. }
        | GroupFault::Unreached
        | GroupFault::TooLarge => word_fault(home, problem),
    };
    let place = problem.block.to_string();
    let group = problem.group.as_deref().unwrap_or_default();
    let finding = finding.about(format!("{place} {group} {}", problem.fault.code()));
    match home {
        DefinitionPlace::Schema(document) => finding.document(document.key.clone()),
        DefinitionPlace::Configuration(_) => finding,
    }
}

/// The group that a problem is about.
pub(super) fn title(home: DefinitionPlace<'_>, problem: &GroupProblem) -> String {
    match &problem.group {
        Some(group) => format!("property group `{}` {}", short(group), home.of()),
        None => format!("a block of property groups {}", home.of()),
    }
}

fn word_fault(home: DefinitionPlace<'_>, problem: &GroupProblem) -> Diagnostic {
    let (what, label) = headline(&problem.fault);
    let message = format!("{} {what}", title(home, problem));
    let mut finding = Diagnostic::new(&RULE, message, Label::new(problem.span, label));
    if let GroupFault::DuplicateName { first } = &problem.fault {
        finding = finding.related(*first, "the name stands here first; this group counts");
    }
    let effect = match (&problem.fault, &problem.group) {
        (GroupFault::DuplicateName { .. }, _) => "the second group is not checked",
        (GroupFault::TooLarge, None) => "what stands before this is checked, and nothing after it",
        (_, None) => "nothing is checked by it",
        (_, Some(_)) => "the group is not checked, and neither is any that refers to it",
    };
    let finding = finding.note(effect);
    match help(&problem.fault) {
        Some(help) => finding.help(help),
        None => finding,
    }
}

/// The fault, to follow the name of the group, and the label of its place.
fn headline(fault: &GroupFault) -> (String, String) {
    let plain = |what: &str, label: &str| (what.to_owned(), label.to_owned());
    match fault {
        GroupFault::NotAList => {
            plain("is neither a list nor a mapping", "this must be a list of groups")
        }
        GroupFault::BadEntry { expected } => {
            ("is not written as a group".to_owned(), format!("this must be {expected}"))
        }
        GroupFault::ReservedName => {
            plain("has a name that means something else", "no group can be called so")
        }
        GroupFault::DuplicateName { .. } => {
            plain("has the name of another group", "the name again")
        }
        GroupFault::UnknownKey { key, .. } => {
            (format!("has the unknown key `{}`", short(key)), "groups have no such key".to_owned())
        }
        GroupFault::BadOperator { found: Some(word), .. } => (
            format!("has the unknown operator `{}`", short(word)),
            "this is no operator".to_owned(),
        ),
        GroupFault::BadOperator { found: None, .. } => {
            plain("has no operator", "nothing says what is to hold of its properties")
        }
        GroupFault::BadProperties => {
            plain("has no list of properties", "there must be a list of operands")
        }
        GroupFault::EmptyGroup => plain("is empty", "a group of nothing says nothing"),
        GroupFault::BadOperand { reason } => {
            ("has an operand that is none".to_owned(), (*reason).to_owned())
        }
        GroupFault::Arity => {
            plain("depends on nothing", "`depends_on` needs at least two operands")
        }
        GroupFault::BadVersion { expected } => {
            ("has unusable versions".to_owned(), format!("this must be {expected}"))
        }
        GroupFault::UnknownName { name, .. } => (
            format!("names `{}`, which is neither a property nor a group", short(name)),
            "there is nothing of this name here".to_owned(),
        ),
        GroupFault::UnknownProperty { path, part, .. } => (
            format!("names the unknown property `{}`", short(path)),
            format!("the schema declares no `{}` there", short(part)),
        ),
        GroupFault::UnknownGroup { name, .. } => (
            format!("refers to the unknown group `{}`", short(name)),
            "there is no such group in this block".to_owned(),
        ),
        GroupFault::PathThroughScalar { path, part } => (
            format!("has the path `{}` through a value that holds nothing", short(path)),
            format!("there can be no `{}` in it", short(part)),
        ),
        GroupFault::PathThroughTuple { path } => (
            format!("has the path `{}` through a list with a schema for each item", short(path)),
            "which item is meant cannot be told".to_owned(),
        ),
        GroupFault::Cycle { names } => {
            let names: Vec<String> =
                names.iter().map(|name| format!("`{}`", short(name))).collect();
            (format!("rests on itself: {}", shortened(&names)), "the circle begins here".to_owned())
        }
        GroupFault::Unreached => plain(
            "stands where it is about data in some cases only",
            "it is not looked at below `anyOf`, `oneOf`, `not`, `dependencies` or a list `items`",
        ),
        GroupFault::TooLarge => (
            "is too large".to_owned(),
            format!(
                "a block has {} groups at most, and they lie {} deep in each other",
                Groups::MAX_GROUPS,
                Groups::MAX_DEPTH
            ),
        ),
        GroupFault::AmbiguousName { .. }
        | GroupFault::DuplicateOperand { .. }
        | GroupFault::LossyVersion { .. } => unreachable!("other rules tell of these"),
    }
}

/// A name or path for a message, which is to be one line that can be read.
pub(super) fn short(text: &str) -> String {
    const MAX_CHARACTERS: usize = 120;
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn shortened(names: &[String]) -> String {
    const MAX_NAMES: usize = 8;
    let shown = names.iter().take(MAX_NAMES).cloned().collect::<Vec<_>>().join(" → ");
    if names.len() > MAX_NAMES { format!("{shown} → …") } else { shown }
}

fn help(fault: &GroupFault) -> Option<String> {
    let meant = |near: &str| Some(format!("did you mean `{near}`?"));
    match fault {
        GroupFault::UnknownKey { near: Some(near), .. }
        | GroupFault::BadOperator { near: Some(near), .. } => meant(near),
        GroupFault::UnknownName { near: Some(near), .. }
        | GroupFault::UnknownProperty { near: Some(near), .. }
        | GroupFault::UnknownGroup { near: Some(near), .. } => meant(near),
        GroupFault::NotAList => {
            Some("write `- NAME: {properties: [a, b], operator: xor}`".to_owned())
        }
        GroupFault::BadEntry { .. } => Some(
            "a group is `NAME: {properties: [a, b], operator: xor}` or `{xor: [[a], [b]]}`"
                .to_owned(),
        ),
        GroupFault::ReservedName => {
            Some("operators and `property_groups` are no names, and a name has no dot".to_owned())
        }
        GroupFault::DuplicateName { .. } => Some("give one of them another name".to_owned()),
        GroupFault::UnknownKey { near: None, .. } => Some(
            "a group has `properties`, `operator`, `assert`, `description`, `client_plugin`, and \
             `client_plugin_supported` or `client_plugin_supported_since`"
                .to_owned(),
        ),
        GroupFault::BadOperator { near: None, .. } => {
            let words: Vec<String> =
                GroupOperator::WORDS.iter().map(|word| format!("`{word}`")).collect();
            Some(format!("the operators are {}", words.join(", ")))
        }
        GroupFault::BadProperties | GroupFault::EmptyGroup => {
            Some("list the properties that the group is about".to_owned())
        }
        GroupFault::BadOperand { .. } => {
            Some("an operand is `a.b`, `[a, b]`, the name of a group, or a group itself".to_owned())
        }
        GroupFault::Arity => Some(
            "put what depends first, and what it depends on after it; `and` of one is mandatory"
                .to_owned(),
        ),
        GroupFault::BadVersion { .. } => {
            Some("write `client_plugin_supported: [\"1.2\", \"2.0\"]`".to_owned())
        }
        GroupFault::UnknownName { near: None, .. }
        | GroupFault::UnknownProperty { near: None, .. } => {
            Some("declare the property in the schema, or mend the name".to_owned())
        }
        GroupFault::UnknownGroup { near: None, .. } => {
            Some("a group is looked for in its own block only".to_owned())
        }
        GroupFault::PathThroughTuple { .. } => {
            Some("write the group into the item's schema".to_owned())
        }
        GroupFault::Cycle { .. } => Some("take one of the references out".to_owned()),
        GroupFault::Unreached => {
            Some("write it beside the keyword, where it is always about the data".to_owned())
        }
        GroupFault::PathThroughScalar { .. }
        | GroupFault::TooLarge
        | GroupFault::AmbiguousName { .. }
        | GroupFault::DuplicateOperand { .. }
        | GroupFault::LossyVersion { .. } => None,
    }
}
