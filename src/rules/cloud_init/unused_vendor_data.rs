//! `unused-vendor-data`: vendor-data that is disabled.

use super::SetFacts;
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::Span;
use crate::system::cloud_init::part::CloudPart;
use crate::system::cloud_init::{DisabledPart, SourceKind, UnusedVendorData, WhyUnused};

super::super::rule!(
    "unused-vendor-data", Note, "vendor-data that is disabled in its set";
    Set(check)
);

fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    let unused = facts
        .facts
        .sets
        .unused
        .iter()
        .filter(|(set, _)| *set == facts.index);
    found.extend(unused.filter_map(|(_, unused)| report(facts, unused)));
    let disabled = facts
        .facts
        .sets
        .disabled
        .iter()
        .filter(|(set, _)| *set == facts.index);
    found.extend(disabled.map(|(_, disabled)| report_part(facts, disabled)));
}

fn report_part(facts: &SetFacts<'_>, disabled: &DisabledPart<'_>) -> Diagnostic {
    let DisabledPart { part, by } = disabled;
    let message = format!(
        "part of vendor-data that is not used in `{}`",
        facts.set.name
    );
    RULE.finding(message, part.at, "its content type is disabled")
        .related(facts.facts.first_line(*by), "disabled here")
        .note("cloud-init passes over vendor-data of the types in `disabled_handlers`")
        .help("remove the type from `disabled_handlers`, or remove the part from the set")
        .document(&part.key)
}

fn report(facts: &SetFacts<'_>, unused: &UnusedVendorData) -> Option<Diagnostic> {
    let mut sources = facts
        .set
        .sources
        .iter()
        .filter(|source| source.kind == unused.source);
    let first = sources.find_map(|source| source.parts().next())?;
    let (name, key) = match unused.source {
        SourceKind::VendorData2 => ("vendor-data2", "vendor_data2"),
        SourceKind::UserData | SourceKind::VendorData | SourceKind::ConfD | SourceKind::Base => {
            ("vendor-data", "vendor_data")
        }
    };
    let by = match unused.why {
        WhyUnused::Disabled(by) => by,
        WhyUnused::InvalidHandlers(at, kind) => {
            return Some(report_handlers(facts, at, kind, key, first));
        }
    };
    let message = format!(
        "{name} of `{}` is not used: it is not enabled",
        facts.set.name
    );
    let finding = RULE.finding(message, first.at, "not used");
    let finding = match by {
        Some(by) => finding.related(facts.facts.first_line(by), "this is not true"),
        None => finding,
    };
    Some(
        finding
            .note(format!(
                "{name} is used only if `{key}.enabled` is true in the configuration combined \
                 without vendor-data"
            ))
            .help(format!(
                "set `{key}: {{enabled: true}}`, or remove {name} from the set"
            ))
            .about(name)
            .document(&first.key),
    )
}

/// Finding for a list of types at which cloud-init fails.
fn report_handlers(
    facts: &SetFacts<'_>,
    at: Span,
    kind: &str,
    key: &str,
    first: &CloudPart,
) -> Diagnostic {
    let message = format!("`{key}.disabled_handlers` is {kind}, not a list");
    let finding = RULE
        .finding(message, facts.facts.first_line(at), "expected a list")
        .related(first.at, "not used")
        .note("cloud-init fails when it compares the content type of a part with it")
        .help("write a list of content types, such as `[text/x-shellscript]`")
        .document(&first.key);
    Diagnostic {
        severity: Severity::Error,
        ..finding
    }
}
