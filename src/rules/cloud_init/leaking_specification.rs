//! `leaking-specification`: a specification that stays in the merged data and controls how whole
//! sources are combined.

use super::SetFacts;
use crate::diagnostic::Diagnostic;
use crate::graph::DocId;
use crate::merge;
use crate::merge::cloud_init::{Class, Dialect, Fact, Kept, SpecificationKeys};
use crate::render::{CombineProblem, ProblemKind};
use crate::system::cloud_init::PartSource;

super::super::rule!(
    "leaking-specification",
    Warning,
    "`merge_how` that stays in the merged data and controls how sources are combined";
    Set(check)
);

fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    match facts.set.dialect {
        Dialect::Current => {}
        // In this dialect the specification is ordinary data.
        Dialect::Documented => return,
    }
    for (doc, member) in facts.facts.sets.iter() {
        let is_merged = member.set == facts.index && member.part.is_none();
        let mut sources = facts.set.sources.iter();
        let source = sources.find(|source| is_merged && Some(source.kind) == member.source);
        found.extend(source.and_then(|source| report(facts, doc, source)));
    }
}

/// Finding for a source. A part with both keys is reported by `leaked-merge-type`, unless all of
/// the source is lost.
fn report(facts: &SetFacts<'_>, doc: DocId, source: &PartSource<'_>) -> Option<Diagnostic> {
    let data = facts.facts.rendered.data(doc)?;
    let (key, _) = SpecificationKeys::by(data).how?;
    let name = key.as_str()?;
    let erases = erases(facts, doc);
    let is_beside = source.parts().any(|part| {
        part.data
            .as_mapping()
            .and_then(|mapping| mapping.get_entry(name))
            .is_some_and(|(own, _)| own.span == key.span)
    });
    if is_beside && !erases {
        return None;
    }
    let title = source.kind.as_str();
    let (message, note) = if erases {
        let note = if source.kind.is_user_data() {
            "it controls how this is combined with other sources, and has no class `dict`"
        } else {
            "cloud-init reads it again when it completes the system's configuration, and it has no \
             class `dict`"
        };
        (
            format!("all of {title} is lost: `{name}` stays in the merged data"),
            note,
        )
    } else {
        (
            format!("`{name}` stays in the merged data of {title}"),
            "it controls how this is combined with other sources: values of higher priority can be \
             lost",
        )
    };
    let help = if is_beside {
        "remove it: `merge_how` controls how the part is merged"
    } else {
        "remove it: it does not affect how the patch is applied"
    };
    let finding = RULE.finding(message, key.span, "not removed");
    let document = facts.facts.graph.recipe(doc).key.clone();
    Some(finding.note(note).help(help).about(name).document(document))
}

/// Whether nothing of the source is in the combined result.
fn erases(facts: &SetFacts<'_>, doc: DocId) -> bool {
    facts.problems().any(|problem| {
        let ProblemKind::Combine(CombineProblem::Laid { source, notice }) = &problem.kind else {
            return false;
        };
        let merge::Notice::CloudInit(notice) = notice;
        let is_lost = notice.fact == Fact::Lost(Kept::MissingClass(Class::Dict));
        *source == doc && notice.place.0.is_empty() && is_lost
    })
}
