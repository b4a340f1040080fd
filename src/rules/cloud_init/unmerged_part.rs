//! `unmerged-part`: a part that cannot be merged.

use super::merged_document::MergedDocument;
use crate::diagnostic::Diagnostic;
use crate::merge::Failure;
use crate::merge::cloud_init::{self, Class, FailureKind, ShapeFault, SpecificationKeys};
use crate::merge::patch::{self, Member, Reason};
use crate::rules::over_limit;
use crate::source::Span;
use crate::yaml::emit::to_flow;
use crate::yaml::path::Location;
use crate::yaml::{Key, Mapping, Node, Value};

super::super::rule!(
    "unmerged-part",
    Error,
    "cloud-init part that cannot be merged"
);

pub(super) fn report(merged: &MergedDocument<'_>, failure: &Failure) -> Diagnostic {
    match failure {
        Failure::CloudInit(failure) => report_merging(merged, failure),
        Failure::JsonPatch(failure) => report_patch(merged, failure),
    }
}

fn report_merging(merged: &MergedDocument<'_>, failure: &cloud_init::Failure) -> Diagnostic {
    if let Some((key, mapping)) = specification_as_mapping(merged, failure) {
        return report_mapping(merged, failure, key, mapping);
    }
    match &failure.kind {
        FailureKind::Format => report_specification(
            merged,
            failure,
            "a merge class is not of the form `name(option,option)`",
        )
        .help(
            "write each class with parentheses, separated by `+`, e.g. \
             `dict(recurse_list)+list(append)`",
        ),
        FailureKind::Shape(fault) => {
            let UnmergedPartMessage { what, help } = shape(*fault);
            report_specification(merged, failure, &what).help(help)
        }
        FailureKind::UnknownClass { name, near } => {
            let what = if failure.secret {
                "unknown merge class".to_owned()
            } else {
                format!("unknown merge class `{name}`")
            };
            let finding = report_specification(merged, failure, &what);
            match near {
                Some(class) => finding.did_you_mean(class.as_str(), None),
                None => finding.help("use `dict`, `list` or `str`"),
            }
        }
        FailureKind::AppendedToText { old, place, found } => {
            let what = format!("{found} cannot be appended to a string by `str(append)`");
            report_values(merged, failure.at, *old, place, &what)
                .help("write it as a string, or remove `append` to use the new value")
        }
        FailureKind::MappingForList { old, place } => {
            let what = "a mapping cannot be merged into a list by `list(no_replace)`";
            report_values(merged, failure.at, *old, place, what)
                .help("write it as a list, or remove it")
        }
        FailureKind::OverLimit { .. } => over_limit::report_part(
            merged.facts.first_line(failure.at),
            "each character becomes an item",
        ),
    }
}

/// Key and mapping that specify how a part is merged, if the mapping is what failed.
fn specification_as_mapping<'a>(
    merged: &MergedDocument<'a>,
    failure: &cloud_init::Failure,
) -> Option<(&'a Key, &'a Mapping)> {
    let members = merged
        .facts
        .sets
        .iter()
        .filter_map(|(_, member)| member.part);
    let specifications = members.filter_map(|part| SpecificationKeys::by(&part.data).how);
    let mut failed = specifications.filter(|(_, how)| how.span.contains(failure.at));
    failed.find_map(|(key, how)| Some((key, how.as_mapping()?)))
}

/// Finding for a specification that is a mapping instead of a list.
fn report_mapping(
    merged: &MergedDocument<'_>,
    failure: &cloud_init::Failure,
    key: &Key,
    mapping: &Mapping,
) -> Diagnostic {
    let name = key.as_str().unwrap_or("merge_how");
    let meant = as_written(mapping)
        .filter(|_| !failure.secret)
        .filter(|meant| !meant.contains(char::is_control));
    let help = match meant {
        Some(meant) => format!("write `{name}: {meant}`"),
        None => format!(
            "write a string, such as `{name}: dict(recurse_list)+list(append)`, or a list with \
             `{{name: list, settings: [append]}}` for each class"
        ),
    };
    let message = format!(
        "`{}` cannot be merged: `{name}` is a mapping, not a string or a list",
        merged.name()
    );
    RULE.finding(
        message,
        merged.facts.first_line(key.span),
        "the merge specification",
    )
    .note("cloud-init reads each key of the mapping as a merge class")
    .note(cost(merged))
    .help(help)
    .about("merge_how")
}

/// Specification that a mapping was probably meant to be.
fn as_written(mapping: &Mapping) -> Option<String> {
    const MAX_CHARS: usize = 200;
    if let (Some(name), Some(settings)) = (mapping.get("name"), mapping.get("settings")) {
        let [name, settings] = [name, settings].map(|node| to_flow(node, MAX_CHARS));
        return Some(format!("[{{name: {name}, settings: {settings}}}]"));
    }
    let class = |(key, options): (&Key, &Node)| {
        let class = Class::ALL
            .into_iter()
            .find(|class| key.as_str() == Some(class.as_str()))?;
        let options = match &options.value {
            Value::Null => String::new(),
            Value::String(option) => option.to_string(),
            Value::Sequence(options) => options
                .iter()
                .map(Node::as_str)
                .collect::<Option<Vec<_>>>()?
                .join(","),
            _ => return None,
        };
        Some(format!("{}({options})", class.as_str()))
    };
    Some(
        mapping
            .iter()
            .map(class)
            .collect::<Option<Vec<_>>>()?
            .join("+"),
    )
}

/// Finding for a merge specification that cannot be used.
fn report_specification(
    merged: &MergedDocument<'_>,
    failure: &cloud_init::Failure,
    what: &str,
) -> Diagnostic {
    let message = format!("`{}` cannot be merged: {what}", merged.name());
    let at = merged.facts.first_line(failure.at);
    RULE.finding(message, at, "the merge specification")
        .note(cost(merged))
        .about("merge_how")
}

fn report_values(
    merged: &MergedDocument<'_>,
    at: Span,
    old: Span,
    place: &Location,
    what: &str,
) -> Diagnostic {
    let shown = merged.shown(place);
    let message = match &shown {
        Some(place) => format!("`{}` cannot be merged: at `{place}` {what}", merged.name()),
        None => format!("`{}` cannot be merged: {what}", merged.name()),
    };
    RULE.finding(message, merged.at(place, at), "type mismatch")
        .related(merged.facts.first_line(old), "the existing value")
        .note(cost(merged))
        .about(shown.unwrap_or_default())
}

/// Effect of the failure in cloud-init (`cloud-init.md` 9).
fn cost(merged: &MergedDocument<'_>) -> &'static str {
    if merged.is_lower() {
        "cloud-init fails and uses none of the configuration"
    } else {
        "cloud-init drops the whole part and continues with the others"
    }
}

struct UnmergedPartMessage {
    what: String,
    help: &'static str,
}

fn shape(fault: ShapeFault) -> UnmergedPartMessage {
    const FORM: &str = "write `{name: list, settings: [append]}` for each class, or a string";
    let (what, help) = match fault {
        ShapeFault::Specification(found) => (format!("{found} is not a merge specification"), FORM),
        ShapeFault::Item(found) => (format!("{found} is not a merge class"), FORM),
        ShapeFault::EmptyItem => ("an empty item is not a merge class".to_owned(), FORM),
        ShapeFault::MissingName => ("a merge class has no `name`".to_owned(), FORM),
        ShapeFault::MissingSettings => (
            "a merge class has no `settings`".to_owned(),
            "write `settings: []` for no options",
        ),
        ShapeFault::Name(found) => (
            format!("the name of a merge class is {found}"),
            "write `dict`, `list` or `str`",
        ),
        ShapeFault::Settings(found) => (
            format!("the settings of a merge class are {found}"),
            "write them as a list of options",
        ),
    };
    UnmergedPartMessage { what, help }
}

fn report_patch(merged: &MergedDocument<'_>, failure: &patch::Failure) -> Diagnostic {
    let at_failure = merged.facts.first_line(failure.at);
    let Some(UnmergedPartMessage { what, help }) = reason(merged, &failure.reason) else {
        return over_limit::report_part(at_failure, "the limit is exceeded here");
    };
    let operation = failure
        .operation
        .map(|index| format!("operation {}", index + 1));
    let at = operation
        .as_ref()
        .map(|operation| format!(" at {operation}"))
        .unwrap_or_default();
    let message = format!("`{}` cannot be applied{at}: {what}", merged.name());
    let finding = RULE.finding(message, at_failure, "fails here");
    let finding = if let Reason::Different { found } = failure.reason {
        finding.related(merged.facts.first_line(found), "the actual value")
    } else {
        finding
    };
    finding
        .note("cloud-init drops the whole patch and continues with the other parts")
        .help(help)
        .about(operation.unwrap_or_default())
}

/// Message for the fault of an operation; `None` if it exceeds a limit of layercake.
fn reason(merged: &MergedDocument<'_>, reason: &Reason) -> Option<UnmergedPartMessage> {
    const LIST: &str = "write a list of operations, each with `op` and `path`";
    const POINTER: &str = "write `~0` for `~`, `~1` for `/`, and `/` before each key";
    const EARLIER: &str = "check the result of the parts before the patch";
    let at = |place| {
        merged.shown(place).map_or_else(
            || "the merged data".to_owned(),
            |place| format!("`{place}`"),
        )
    };
    let leads =
        |member: &Member, where_to: String| format!("`{}` leads {where_to}", member.as_str());
    let (what, help) = match reason {
        Reason::NotJson(what) => (format!("not valid JSON ({what})"), LIST),
        Reason::OverLimit(_) => return None,
        Reason::NotAList(found) => (format!("it is {found}, not a list"), LIST),
        Reason::NotAMapping(found) => (format!("it is {found}, not an object"), LIST),
        Reason::MissingMember(member) => (format!("it has no `{}`", member.as_str()), LIST),
        Reason::NotAText { member, found } => (
            format!("`{}` is {found}, not a string", member.as_str()),
            LIST,
        ),
        Reason::UnknownOperation => (
            "unknown `op`".to_owned(),
            "write add, remove, replace, move, copy or test",
        ),
        Reason::NoLeadingSlash(member) => (
            format!("`{}` does not begin with `/`", member.as_str()),
            POINTER,
        ),
        Reason::InvalidEscape(member) => (
            format!("`{}` has an invalid `~` escape", member.as_str()),
            POINTER,
        ),
        Reason::MissingKey { member, reached } => (
            leads(
                member,
                format!("to a key that does not exist in {}", at(reached)),
            ),
            EARLIER,
        ),
        Reason::OutOfRange { member, reached } => (
            leads(
                member,
                format!("beyond the end of the list at {}", at(reached)),
            ),
            "use `-` for the position after the last item",
        ),
        Reason::NotAnIndex { member, reached } => (
            leads(
                member,
                format!("into the list at {} without a valid index", at(reached)),
            ),
            "use the index of an item, from 0, or `-` for the position after the last",
        ),
        Reason::NotAContainer {
            member,
            reached,
            found,
        } => (
            leads(member, format!("into {}, which is {found}", at(reached))),
            EARLIER,
        ),
        Reason::PastTheEnd(member) => (
            leads(member, "past the end of a list".to_owned()),
            "use the index of an existing item",
        ),
        Reason::WholeDocument(member) => (
            leads(member, "to the whole document".to_owned()),
            "the root can only be tested and replaced; use a key",
        ),
        Reason::IntoItself => (
            "a value is moved into itself".to_owned(),
            "copy it, or move it to a location outside of it",
        ),
        Reason::Different { .. } => (
            "the test failed: the actual value differs".to_owned(),
            EARLIER,
        ),
    };
    Some(UnmergedPartMessage { what, help })
}
