//! `unmerged-part`: a part that cannot be merged, so that nothing of it is.

use super::laying::MergedDocument;
use crate::diagnostic::{Diagnostic, Label};
use crate::merge::Failure;
use crate::merge::cloud_init::{self, Class, FailureKind, Said, ShapeFault};
use crate::merge::patch::{self, Member, Reason};
use crate::rules::over_limit;
use crate::source::Span;
use crate::yaml::emit::to_flow;
use crate::yaml::path::Location;
use crate::yaml::{Key, Mapping, Node, Value};

super::super::rule!(
    "unmerged-part",
    Error,
    "a cloud-init part that cannot be merged, so that nothing of it counts"
);

pub(super) fn word(laid: &MergedDocument<'_>, failure: &Failure) -> Diagnostic {
    match failure {
        Failure::CloudInit(failure) => word_merging(laid, failure),
        Failure::JsonPatch(failure) => word_patch(laid, failure),
    }
}

fn word_merging(laid: &MergedDocument<'_>, failure: &cloud_init::Failure) -> Diagnostic {
    if let Some((key, mapping)) = specification_as_mapping(laid, failure) {
        return word_mapping(laid, failure, key, mapping);
    }
    match &failure.kind {
        FailureKind::Format => word_specification(
            laid,
            failure,
            "a merge class is not of the form `name(option,option)`",
            "write each class with its parentheses, and `+` between them, e.g. \
             `dict(recurse_list)+list(append)`",
        ),
        FailureKind::Shape(fault) => {
            let UnmergedPartMessage { what, help } = shape(*fault);
            word_specification(laid, failure, &what, help)
        }
        FailureKind::UnknownClass { name, near } => {
            let what = if failure.secret {
                "there is no such merge class".to_owned()
            } else {
                format!("there is no merge class `{name}`")
            };
            word_specification(laid, failure, &what, &class_help(*near))
        }
        FailureKind::AppendedToText { old, place, found } => {
            let what = format!("{found} cannot be put to a text by `str(append)`");
            word_values(laid, failure.at, *old, place, &what)
                .help("write it as a text, or leave `append` out, which takes the new value")
        }
        FailureKind::MappingForList { old, place } => {
            let what = "a mapping meets a list under `list(no_replace)`";
            word_values(laid, failure.at, *old, place, what)
                .help("write it as a list, or take it out")
        }
        FailureKind::OverLimit { .. } => {
            over_limit::word_part(laid.facts.first_line(failure.at), "each character is an item")
        }
    }
}

/// The key and the mapping that say how a part is merged, if that is what failed.
fn specification_as_mapping<'a>(
    laid: &MergedDocument<'a>,
    failure: &cloud_init::Failure,
) -> Option<(&'a Key, &'a Mapping)> {
    let members = laid.facts.sets.iter().filter_map(|(_, member)| member.part);
    let specifications = members.filter_map(|part| Said::by(&part.data).how);
    let mut failed = specifications.filter(|(_, how)| how.span.contains(failure.at));
    failed.find_map(|(key, how)| Some((key, how.as_mapping()?)))
}

/// A mapping in the place of a list: cloud-init goes through its keys.
fn word_mapping(
    laid: &MergedDocument<'_>,
    failure: &cloud_init::Failure,
    key: &Key,
    mapping: &Mapping,
) -> Diagnostic {
    let name = key.as_str().unwrap_or("merge_how");
    let meant = as_written(mapping).filter(|_| !failure.secret);
    let meant = meant.filter(|meant| !meant.contains(char::is_control));
    let help = match meant {
        Some(meant) => format!("write `{name}: {meant}`"),
        None => format!(
            "write one text, such as `{name}: dict(recurse_list)+list(append)`, or a list with \
             `{{name: list, settings: [append]}}` for each class"
        ),
    };
    let message =
        format!("`{}` cannot be merged: `{name}` is a mapping, not a text or a list", laid.name());
    let label = Label::new(laid.facts.first_line(key.span), "says how it is merged");
    Diagnostic::new(&RULE, message, label)
        .note("cloud-init goes through the keys of a mapping as if each named a merge class")
        .note(cost(laid))
        .help(help)
        .about("merge_how")
}

/// The specification that a mapping was probably meant as.
fn as_written(mapping: &Mapping) -> Option<String> {
    const MAX_CHARS: usize = 200;
    if let (Some(name), Some(settings)) = (mapping.get("name"), mapping.get("settings")) {
        let [name, settings] = [name, settings].map(|node| to_flow(node, MAX_CHARS));
        return Some(format!("[{{name: {name}, settings: {settings}}}]"));
    }
    let class = |(key, options): (&Key, &Node)| {
        let class = Class::ALL.into_iter().find(|class| key.as_str() == Some(class.as_str()))?;
        let options = match &options.value {
            Value::Null => String::new(),
            Value::String(option) => option.to_string(),
            Value::Sequence(options) => {
                options.iter().map(Node::as_str).collect::<Option<Vec<_>>>()?.join(",")
            }
            _ => return None,
        };
        Some(format!("{}({options})", class.as_str()))
    };
    Some(mapping.iter().map(class).collect::<Option<Vec<_>>>()?.join("+"))
}

/// Finding about a merge specification that cannot be used.
fn word_specification(
    laid: &MergedDocument<'_>,
    failure: &cloud_init::Failure,
    what: &str,
    help: &str,
) -> Diagnostic {
    let message = format!("`{}` cannot be merged: {what}", laid.name());
    let at = laid.facts.first_line(failure.at);
    Diagnostic::new(&RULE, message, Label::new(at, "this says how it is merged"))
        .note(cost(laid))
        .help(help)
        .about("merge_how")
}

fn word_values(
    laid: &MergedDocument<'_>,
    at: Span,
    old: Span,
    place: &Location,
    what: &str,
) -> Diagnostic {
    let shown = laid.shown(place);
    let message = match &shown {
        Some(place) => format!("`{}` cannot be merged: at `{place}` {what}", laid.name()),
        None => format!("`{}` cannot be merged: {what}", laid.name()),
    };
    Diagnostic::new(&RULE, message, Label::new(laid.at(place, at), "meets another type"))
        .related(laid.facts.first_line(old), "what it meets")
        .note(cost(laid))
        .about(shown.unwrap_or_default())
}

/// Its cost in cloud-init (`cloud-init.md` 9).
fn cost(laid: &MergedDocument<'_>) -> &'static str {
    if laid.is_lower() {
        "cloud-init fails with it, and none of the configuration is used"
    } else {
        "cloud-init drops all of the part, and goes on with the others"
    }
}

struct UnmergedPartMessage {
    what: String,
    help: &'static str,
}

fn shape(fault: ShapeFault) -> UnmergedPartMessage {
    const FORM: &str = "write `{name: list, settings: [append]}` for each class, or one text";
    let (what, help) = match fault {
        ShapeFault::Specification(found) => (format!("{found} says nothing of merging"), FORM),
        ShapeFault::Item(found) => (format!("{found} is no merge class"), FORM),
        ShapeFault::EmptyItem => ("an empty item is no merge class".to_owned(), FORM),
        ShapeFault::MissingName => ("a merge class has no `name`".to_owned(), FORM),
        ShapeFault::MissingSettings => {
            ("a merge class has no `settings`".to_owned(), "write `settings: []` for no options")
        }
        ShapeFault::Name(found) => {
            (format!("the name of a merge class is {found}"), "write `dict`, `list` or `str`")
        }
        ShapeFault::Settings(found) => {
            (format!("the settings of a merge class are {found}"), "write them as a list of words")
        }
    };
    UnmergedPartMessage { what, help }
}

fn class_help(near: Option<Class>) -> String {
    match near {
        Some(class) => format!("did you mean `{}`?", class.as_str()),
        None => "there are `dict`, `list` and `str`".to_owned(),
    }
}

fn word_patch(laid: &MergedDocument<'_>, failure: &patch::Failure) -> Diagnostic {
    if let Reason::OverLimit(_) = failure.reason {
        return over_limit::word_part(laid.facts.first_line(failure.at), "here");
    }
    let operation = failure.operation.map(|index| format!("operation {}", index + 1));
    let at = operation.as_ref().map(|operation| format!(" at {operation}")).unwrap_or_default();
    let UnmergedPartMessage { what, help } = reason(laid, &failure.reason);
    let message = format!("`{}` cannot be applied{at}: {what}", laid.name());
    let label = Label::new(laid.facts.first_line(failure.at), "fails here");
    let finding = Diagnostic::new(&RULE, message, label);
    let finding = if let Reason::Different { found } = failure.reason {
        finding.related(laid.facts.first_line(found), "this does")
    } else {
        finding
    };
    finding
        .note("cloud-init drops all of the patch, and goes on with the other parts")
        .help(help)
        .about(operation.unwrap_or_default())
}

/// The fault of an operation.
fn reason(laid: &MergedDocument<'_>, reason: &Reason) -> UnmergedPartMessage {
    const LIST: &str = "write a list of operations, each with `op` and `path`";
    const POINTER: &str = "write `~0` for `~`, `~1` for `/`, and `/` before each key";
    const EARLIER: &str = "look at what the parts before the patch make of it";
    let whole = || "what there is".to_owned();
    let at = |place| laid.shown(place).map_or_else(whole, |place| format!("`{place}`"));
    let leads =
        |member: &Member, where_to: String| format!("`{}` leads {where_to}", member.as_str());
    let (what, help) = match reason {
        Reason::NotJson(what) => (format!("it is no JSON ({what})"), LIST),
        Reason::OverLimit(_) => unreachable!("it is told as such"),
        Reason::NotAList(found) => (format!("it is {found}, and no list"), LIST),
        Reason::NotAMapping(found) => (format!("it is {found}, and no object"), LIST),
        Reason::MissingMember(member) => (format!("it has no `{}`", member.as_str()), LIST),
        Reason::NotAText { member, found } => {
            (format!("`{}` is {found}, and no text", member.as_str()), LIST)
        }
        Reason::UnknownOperation => {
            ("there is no such `op`".to_owned(), "write add, remove, replace, move, copy or test")
        }
        Reason::NoLeadingSlash(member) => {
            (format!("`{}` does not begin with `/`", member.as_str()), POINTER)
        }
        Reason::InvalidEscape(member) => {
            (format!("`{}` has a `~` that escapes nothing", member.as_str()), POINTER)
        }
        Reason::MissingKey { member, reached } => {
            (leads(member, format!("to a key that is not in {}", at(reached))), EARLIER)
        }
        Reason::OutOfRange { member, reached } => (
            leads(member, format!("beyond the end of the list at {}", at(reached))),
            "`-` stands for the place behind the last item",
        ),
        Reason::NotAnIndex { member, reached } => (
            leads(member, format!("by no index into the list at {}", at(reached))),
            "write the number of the item, from 0, or `-` for the place behind the last",
        ),
        Reason::NotAContainer { member, reached, found } => {
            (leads(member, format!("into {}, which is {found}", at(reached))), EARLIER)
        }
        Reason::PastTheEnd(member) => (
            leads(member, "behind the end of a list, where nothing is".to_owned()),
            "write the number of an item that is there",
        ),
        Reason::WholeDocument(member) => (
            leads(member, "to the whole document".to_owned()),
            "the whole can only be tested and replaced; name a key",
        ),
        Reason::IntoItself => (
            "a value is moved into itself".to_owned(),
            "copy it, or move it to a place outside of it",
        ),
        Reason::Different { .. } => ("another value stands there".to_owned(), EARLIER),
    };
    UnmergedPartMessage { what, help }
}
