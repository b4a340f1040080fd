//! `ineffective-merge-how`: only the one part of a source says how it is merged for which that
//! has no effect.

use super::{SetFacts, mergeable};
use crate::diagnostic::{Diagnostic, Label};
use crate::merge::cloud_init::{Dialect, Said};
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
        (!has_effect_elsewhere(facts, &ineffective)).then(|| word(source, &ineffective))
    });
    found.extend(ineffective);
}

/// Whether another set of the site has the part in a place where it has an effect.
fn has_effect_elsewhere(facts: &SetFacts<'_>, ineffective: &IneffectiveSpecification<'_>) -> bool {
    let others = facts.facts.sets.sets.iter().enumerate();
    let mut others = others.filter(|(index, _)| *index != facts.index);
    others.any(|(_, set)| {
        let mut sources = set.sources.iter();
        let has_part = |source: &&PartSource<'_>| {
            source.parts().any(|part| std::ptr::eq(part, ineffective.part))
        };
        sources.find(has_part).is_some_and(|source| {
            let here = IneffectiveSpecification::of(set, source);
            here.is_none_or(|here| !std::ptr::eq(here.part, ineffective.part))
        })
    })
}

/// A part whose word on merging has no effect.
struct IneffectiveSpecification<'a> {
    part: &'a CloudPart,
    /// The key or the header.
    at: Span,
    dialect: Dialect,
    /// A part beside it that does not say it; none where it is alone.
    other: Option<&'a CloudPart>,
}

impl<'a> IneffectiveSpecification<'a> {
    fn of(set: &Set<'a>, source: &PartSource<'a>) -> Option<Self> {
        if !is_known(source) {
            return None;
        }
        let is_usable = |part: &&CloudPart| part.is_merged() && !part.data.is_null();
        let merged: Vec<&CloudPart> = source.parts().filter(is_usable).collect();
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
        Some(Self { part, at, dialect: set.dialect, other })
    }
}

/// Whether all parts of a source are known: what a template or an address gives is not.
fn is_known(source: &PartSource<'_>) -> bool {
    let reads = source.files.iter().filter_map(|file| file.read);
    let mut faults = reads.flat_map(|read| read.faults.iter().chain(&read.aborted));
    !faults.any(|fault| fault.kind == PartFaultKind::RemoteInclude)
        && !source.parts().any(|part| matches!(part.kind, PartKind::Template))
}

/// Whether no other part of the source was meant to be merged, be it one that is dropped.
fn is_alone(source: &PartSource<'_>, only: &CloudPart) -> bool {
    let is_other = |part: &&CloudPart| !std::ptr::eq(*part, only);
    let is_meant = |part: &CloudPart| part.is_merged() || !part.faults.is_empty();
    let mut reads = source.files.iter().filter_map(|file| file.read);
    !source.parts().filter(is_other).any(is_meant)
        && reads.all(|read| read.faults.is_empty() && read.aborted.is_none())
}

/// Whether it is a `cloud.cfg` that is put beneath files of `conf.d`.
fn is_below_conf_d(set: &Set<'_>, source: &PartSource<'_>) -> bool {
    let has_conf_d = || {
        let mut sources = set.sources.iter().filter(|it| it.kind == SourceKind::ConfD);
        set.conf_d() == ConfD::Read && sources.any(|it| it.parts().next().is_some())
    };
    source.kind == SourceKind::Base && has_conf_d()
}

fn word(source: &PartSource<'_>, ineffective: &IneffectiveSpecification<'_>) -> Diagnostic {
    let IneffectiveMergeHowMessage { message, label, note, help } = match ineffective.other {
        None => of_only(source.kind, ineffective.dialect),
        Some(_) => of_several(source.kind, ineffective.dialect),
    };
    let finding = Diagnostic::new(&RULE, message, Label::new(ineffective.at, label));
    let finding = finding.note(note).help(help);
    match (ineffective.dialect, ineffective.other) {
        (Dialect::Current, Some(other)) => finding.related(other.at, "this part does not say it"),
        (Dialect::Current, None) | (Dialect::Documented, _) => finding,
    }
}

struct IneffectiveMergeHowMessage {
    message: String,
    label: &'static str,
    note: &'static str,
    help: &'static str,
}

/// The only part of its source.
fn of_only(kind: SourceKind, dialect: Dialect) -> IneffectiveMergeHowMessage {
    const REMOVE: &str = "remove it, or write it in a part that comes after another one";
    let title = kind.as_str();
    match (dialect, kind) {
        (Dialect::Documented, _) => IneffectiveMergeHowMessage {
            message: format!("the only part of {title} says how to merge, which has no effect"),
            label: "no part comes after it",
            note: "in the dialect of 2013 a part says how the next one is merged",
            help: REMOVE,
        },
        (Dialect::Current, SourceKind::ConfD) => IneffectiveMergeHowMessage {
            message: "the only file of conf.d says how it is merged, which has no effect"
                .to_owned(),
            label: "laid over nothing",
            note: "a file of `conf.d` says how it is put beneath those with greater names; it does \
                   not say how user-data is put over it",
            help: "remove it",
        },
        (Dialect::Current, SourceKind::Base) => IneffectiveMergeHowMessage {
            message: "`cloud.cfg` says how it is merged, which has no effect without `conf.d`"
                .to_owned(),
            label: "laid over nothing",
            note: "`cloud.cfg` says how it is put beneath the files of `conf.d`; it does not say \
                   how user-data is put over it",
            help: "remove it",
        },
        (
            Dialect::Current,
            SourceKind::UserData | SourceKind::VendorData2 | SourceKind::VendorData,
        ) => IneffectiveMergeHowMessage {
            message: format!("the only part of {title} says how it is merged, which has no effect"),
            label: "laid over nothing",
            note: "a part says how it is merged into those before it in the same source; \
                       user-data, vendor-data and the system's configuration are combined without \
                       it",
            help: REMOVE,
        },
    }
}

/// One of several parts.
fn of_several(kind: SourceKind, dialect: Dialect) -> IneffectiveMergeHowMessage {
    match (dialect, kind) {
        (Dialect::Current, SourceKind::ConfD | SourceKind::Base) => IneffectiveMergeHowMessage {
            message: "only the file with the greatest name says how it is merged, which has no \
                      effect"
                .to_owned(),
            label: "laid over nothing",
            note: "a file of `conf.d` says how it is put beneath those with greater names, and this \
                   one comes first",
            help: "say it in the files that are put beneath it",
        },
        (
            Dialect::Current,
            SourceKind::UserData | SourceKind::VendorData2 | SourceKind::VendorData,
        ) => IneffectiveMergeHowMessage {
            message: "only the first part says how it is merged, which has no effect".to_owned(),
            label: "laid over nothing",
            note: "a part says how it is itself merged into those before it; those after it are \
                       merged by the default, `dict(replace)+list()+str()`",
            help: "say it in the parts that come after it",
        },
        (Dialect::Documented, _) => IneffectiveMergeHowMessage {
            message: "only the last part says how to merge, which has no effect".to_owned(),
            label: "no part comes after it",
            note: "in the dialect of 2013 a part says how the next one is merged",
            help: "say it in the parts that come before it",
        },
    }
}

/// Where a part says how it is merged: the key, or the header.
fn specification_at(part: &CloudPart) -> Option<Span> {
    let own = Said::by(&part.data).how.map(|(key, _)| key.span);
    own.or_else(|| part.header.as_ref().map(|header| header.span))
}
