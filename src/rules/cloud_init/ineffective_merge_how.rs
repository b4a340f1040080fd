//! `ineffective-merge-how`: only the one part of a source says how it
//! is merged of which that does not matter.

use super::{SetFacts, mergeable};
use crate::diagnostic::{Diagnostic, Label};
use crate::merge::cloud_init::{Dialect, Said};
use crate::source::Span;
use crate::system::cloud_init::part::Part;
use crate::system::cloud_init::{Source, SourceKind};

super::super::rule!(
    "ineffective-merge-how",
    Warning[Everywhere],
    "only the part says how it is merged of which that does not matter"
);

pub(super) fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    let dialect = facts.set.dialect;
    found.extend(facts.set.sources.iter().filter_map(|source| word(source, dialect)));
}

fn word(source: &Source<'_>, dialect: Dialect) -> Option<Diagnostic> {
    let is_usable = |part: &&Part| part.is_merged() && !part.data.is_null();
    let merged: Vec<&Part> = source.parts().filter(is_usable).collect();
    let [first, .., last] = merged[..] else { return None };
    let mut saying = mergeable(source).filter_map(|part| Some((part, said_at(part)?)));
    let (part, at) = saying.next()?;
    let alone = match dialect {
        Dialect::Current => first,
        Dialect::Documented => last,
    };
    if saying.next().is_some() || !std::ptr::eq(part, alone) {
        return None;
    }
    let (message, label, note, help) = match (dialect, source.kind) {
        (Dialect::Current, SourceKind::ConfD | SourceKind::Base) => (
            "only the file with the greatest name says how it is merged, which has no effect",
            "laid over nothing",
            "a file of `conf.d` says how it is put beneath those with greater names, and this one \
             comes first",
            "say it in the files that are put beneath it",
        ),
        (Dialect::Current, _) => (
            "only the first part says how it is merged, which has no effect",
            "laid over nothing",
            "a part says how it is itself merged into those before it; those after it are merged \
             by the default, `dict(replace)+list()+str()`",
            "say it in the parts that come after it",
        ),
        (Dialect::Documented, _) => (
            "only the last part says how to merge, which has no effect",
            "no part comes after it",
            "in the dialect of 2013 a part says how the next one is merged",
            "say it in the parts that come before it",
        ),
    };
    let next = merged.iter().find(|other| !std::ptr::eq(**other, part));
    let finding = Diagnostic::new(&RULE, message, Label::new(at, label)).note(note).help(help);
    Some(match (dialect, next) {
        (Dialect::Current, Some(next)) => finding.related(next.at, "this part does not say it"),
        (Dialect::Current, None) | (Dialect::Documented, _) => finding,
    })
}

/// Where a part says how it is merged: the key, or the header.
fn said_at(part: &Part) -> Option<Span> {
    let own = Said::by(&part.data).how.map(|(key, _)| key.span);
    own.or_else(|| part.header.as_ref().map(|header| header.span))
}
