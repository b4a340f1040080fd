//! `unused-vendor-data`: vendor-data that is not enabled.

use super::SetFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::system::cloud_init::{SourceKind, UnusedVendorData};

super::super::rule!(
    "unused-vendor-data", Note, "vendor-data that is not enabled in its set";
    Set(check)
);

fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    let unused = facts.facts.sets.unused.iter().filter(|(set, _)| *set == facts.index);
    found.extend(unused.filter_map(|(_, unused)| report(facts, unused)));
}

fn report(facts: &SetFacts<'_>, unused: &UnusedVendorData) -> Option<Diagnostic> {
    let mut sources = facts.set.sources.iter().filter(|source| source.kind == unused.source);
    let first = sources.find_map(|source| source.parts().next())?;
    let (name, key) = match unused.source {
        SourceKind::VendorData2 => ("vendor-data2", "vendor_data2"),
        SourceKind::UserData | SourceKind::VendorData | SourceKind::ConfD | SourceKind::Base => {
            ("vendor-data", "vendor_data")
        }
    };
    let message = format!("{name} of `{}` is not used: it is not enabled", facts.set.name);
    let finding = Diagnostic::new(&RULE, message, Label::new(first.at, "not used"));
    let finding = match unused.by {
        Some(by) => finding.related(facts.facts.first_line(by), "this is not true"),
        None => finding,
    };
    Some(
        finding
            .note(format!(
                "{name} is used only if `{key}.enabled` is true in the configuration combined \
                 without vendor-data"
            ))
            .help(format!("set `{key}: {{enabled: true}}`, or remove {name} from the set"))
            .about(name)
            .document(first.key.clone()),
    )
}
