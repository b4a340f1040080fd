//! `ineffective-merge-how`: the only part of a source with a merge specification is the one for
//! which it has no effect.

use super::{SetFacts, mergeable};
use crate::diagnostic::Diagnostic;
use crate::merge::cloud_init::{Dialect, SpecificationKeys};
use crate::source::Span;
use crate::system::cloud_init::part::{CloudPart, PartFaultKind, PartKind};
use crate::system::cloud_init::{ConfD, PartSource, Set, SourceKind};

super::super::rule!(
    "ineffective-merge-how",
    Warning[Everywhere],
    "`merge_how` has no effect on the only part that has it";
    Set(check)
);

fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    let ineffective = facts.set.sources.iter().filter_map(|source| {
        let ineffective = IneffectiveSpecification::of(facts.set, source)?;
        (!has_effect_elsewhere(facts, &ineffective)).then(|| report(source, &ineffective))
    });
    found.extend(ineffective);
}

/// Whether another set of the site contains the part where its specification has an effect.
fn has_effect_elsewhere(facts: &SetFacts<'_>, ineffective: &IneffectiveSpecification<'_>) -> bool {
    let mut others = facts
        .facts
        .sets
        .sets
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != facts.index);
    others.any(|(_, set)| {
        let mut sources = set.sources.iter();
        sources
            .find(|source| {
                source
                    .parts()
                    .any(|part| std::ptr::eq(part, ineffective.part))
            })
            .is_some_and(|source| {
                let here = IneffectiveSpecification::of(set, source);
                here.is_none_or(|here| !std::ptr::eq(here.part, ineffective.part))
            })
    })
}

/// Part whose merge specification has no effect.
struct IneffectiveSpecification<'a> {
    part: &'a CloudPart,
    /// The key or the header.
    at: Span,
    dialect: Dialect,
    /// A part of the source without a specification; `None` if no other part exists.
    other: Option<&'a CloudPart>,
}

impl<'a> IneffectiveSpecification<'a> {
    fn of(set: &Set<'a>, source: &PartSource<'a>) -> Option<Self> {
        if !is_known(source) {
            return None;
        }
        let merged: Vec<&CloudPart> = source
            .parts()
            .filter(|part| part.is_merged() && !part.data.is_null())
            .collect();
        let mut specified =
            mergeable(source).filter_map(|part| Some((part, specification_at(part)?)));
        let (part, at) = specified.next()?;
        let without_effect = match (set.dialect, &merged[..]) {
            (_, []) => return None,
            (_, [only]) if is_below_conf_d(set, source) || !is_alone(source, only) => return None,
            (_, [only]) => only,
            (Dialect::Current, [first, ..]) => first,
            (Dialect::Documented, [.., last]) => last,
        };
        if specified.next().is_some() || !std::ptr::eq(part, *without_effect) {
            return None;
        }
        let other = merged.into_iter().find(|other| !std::ptr::eq(*other, part));
        Some(Self {
            part,
            at,
            dialect: set.dialect,
            other,
        })
    }
}

/// Whether all parts of a source are known. The content of templates and remote includes is not.
fn is_known(source: &PartSource<'_>) -> bool {
    let reads = source.files.iter().filter_map(|file| file.read);
    let mut faults = reads.flat_map(|read| read.faults.iter().chain(&read.aborted));
    !faults.any(|fault| fault.kind == PartFaultKind::RemoteInclude)
        && !source
            .parts()
            .any(|part| matches!(part.kind, PartKind::Template))
}

/// Whether no other part of the source was meant to be merged, including parts that are dropped.
fn is_alone(source: &PartSource<'_>, only: &CloudPart) -> bool {
    let mut reads = source.files.iter().filter_map(|file| file.read);
    !source
        .parts()
        .filter(|part| !std::ptr::eq(*part, only))
        .any(|part| part.is_merged() || !part.faults.is_empty())
        && reads.all(|read| read.faults.is_empty() && read.aborted.is_none())
}

/// Whether it is a `cloud.cfg` that is merged below files of `conf.d`.
fn is_below_conf_d(set: &Set<'_>, source: &PartSource<'_>) -> bool {
    let has_conf_d = || {
        let mut sources = set.sources.iter().filter(|it| it.kind == SourceKind::ConfD);
        set.conf_d() == ConfD::Read && sources.any(|it| it.parts().next().is_some())
    };
    source.kind == SourceKind::Base && has_conf_d()
}

fn report(source: &PartSource<'_>, ineffective: &IneffectiveSpecification<'_>) -> Diagnostic {
    let IneffectiveMergeHowMessage {
        message,
        label,
        note,
        help,
    } = match ineffective.other {
        None => of_only(source.kind, ineffective.dialect),
        Some(_) => of_several(source.kind, ineffective.dialect),
    };
    let finding = RULE
        .finding(message, ineffective.at, label)
        .note(note)
        .help(help);
    match (ineffective.dialect, ineffective.other) {
        (Dialect::Current, Some(other)) => {
            finding.related(other.at, "this part has no merge specification")
        }
        (Dialect::Current, None) | (Dialect::Documented, _) => finding,
    }
}

struct IneffectiveMergeHowMessage {
    message: String,
    label: &'static str,
    note: &'static str,
    help: &'static str,
}

/// Message for the only part of its source.
fn of_only(kind: SourceKind, dialect: Dialect) -> IneffectiveMergeHowMessage {
    const REMOVE: &str = "remove it, or move it to a part that comes after another one";
    let title = kind.as_str();
    match (dialect, kind) {
        (Dialect::Documented, _) => IneffectiveMergeHowMessage {
            message: format!("merge specification in the only part of {title} has no effect"),
            label: "no part comes after it",
            note: "in the 2013 dialect a specification applies to the next part",
            help: REMOVE,
        },
        (Dialect::Current, SourceKind::ConfD) => IneffectiveMergeHowMessage {
            message: "merge specification in the only file of conf.d has no effect".to_owned(),
            label: "merged into nothing",
            note: "the specification controls how a `conf.d` file is merged below files with \
                   greater names, not how user-data is merged over it",
            help: "remove it",
        },
        (Dialect::Current, SourceKind::Base) => IneffectiveMergeHowMessage {
            message: "merge specification in `cloud.cfg` has no effect without `conf.d`".to_owned(),
            label: "merged into nothing",
            note: "the specification controls how `cloud.cfg` is merged below the files of \
                   `conf.d`, not how user-data is merged over it",
            help: "remove it",
        },
        (
            Dialect::Current,
            SourceKind::UserData | SourceKind::VendorData2 | SourceKind::VendorData,
        ) => IneffectiveMergeHowMessage {
            message: format!("merge specification in the only part of {title} has no effect"),
            label: "merged into nothing",
            note: "the specification controls how a part is merged into earlier parts of its \
                       source; user-data, vendor-data and the system's configuration are combined \
                       without it",
            help: REMOVE,
        },
    }
}

/// Message for one of several parts.
fn of_several(kind: SourceKind, dialect: Dialect) -> IneffectiveMergeHowMessage {
    match (dialect, kind) {
        (Dialect::Current, SourceKind::ConfD | SourceKind::Base) => IneffectiveMergeHowMessage {
            message:
                "only the file with the greatest name has a merge specification, which has no \
                      effect there"
                    .to_owned(),
            label: "merged into nothing",
            note: "the specification controls how a `conf.d` file is merged below files with \
                   greater names, and this one comes first",
            help: "move it to the files that are merged below",
        },
        (
            Dialect::Current,
            SourceKind::UserData | SourceKind::VendorData2 | SourceKind::VendorData,
        ) => IneffectiveMergeHowMessage {
            message: "only the first part has a merge specification, which has no effect \
                      there"
                .to_owned(),
            label: "merged into nothing",
            note: "the specification controls how a part is merged into earlier parts; later parts \
                       use the default, `dict(replace)+list()+str()`",
            help: "move it to the later parts",
        },
        (Dialect::Documented, _) => IneffectiveMergeHowMessage {
            message: "only the last part has a merge specification, which has no effect \
                      there"
                .to_owned(),
            label: "no part comes after it",
            note: "in the 2013 dialect a specification applies to the next part",
            help: "move it to the earlier parts",
        },
    }
}

/// Span of a part's merge specification: the key or the header.
fn specification_at(part: &CloudPart) -> Option<Span> {
    let own = SpecificationKeys::by(&part.data)
        .how
        .map(|(key, _)| key.span);
    own.or_else(|| part.header.as_ref().map(|header| header.span))
}
