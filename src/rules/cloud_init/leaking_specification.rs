//! `leaking-specification`: a specification that is left in what is merged, and
//! says how whole sources are combined.

use super::SetFacts;
use crate::diagnostic::{Diagnostic, Label};
use crate::graph::DocId;
use crate::merge;
use crate::merge::cloud_init::{Class, Dialect, Fact, Kept, Said};
use crate::render::ProblemKind;
use crate::system::cloud_init::PartSource;
use crate::system::cloud_init::part::CloudPart;

super::super::rule!(
    "leaking-specification",
    Warning,
    "a `merge_how` that is left in what is merged, where it says how sources are combined";
    Set(check)
);

fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    match facts.set.dialect {
        Dialect::Current => {}
        // There it is data as all else.
        Dialect::Documented => return,
    }
    for (doc, member) in facts.facts.sets.iter() {
        let is_merged = member.set == facts.index && member.part.is_none();
        let mut sources = facts.set.sources.iter();
        let source = sources.find(|source| is_merged && Some(source.kind) == member.source);
        found.extend(source.and_then(|source| word(facts, doc, source)));
    }
}

/// A part that has both keys is reported by its own rule; here where it erases all.
fn word(facts: &SetFacts<'_>, doc: DocId, source: &PartSource<'_>) -> Option<Diagnostic> {
    let data = facts.facts.rendered.data(doc)?;
    let (key, _) = Said::by(data).how?;
    let name = key.as_str()?;
    let erases = erases(facts, doc);
    let is_beside = |part: &CloudPart| {
        let entry = part.data.as_mapping().and_then(|mapping| mapping.get_entry(name));
        entry.is_some_and(|(own, _)| own.span == key.span)
    };
    let is_beside = source.parts().any(is_beside);
    if is_beside && !erases {
        return None;
    }
    let title = source.kind.as_str();
    let (message, note) = if erases {
        let note = if source.kind.is_user_data() {
            "it says how that is combined with other sources, and has no class `dict`"
        } else {
            "cloud-init reads it once more when it completes the system's configuration, and it \
             has no class `dict`"
        };
        (format!("all of {title} is lost: `{name}` stays in what is merged of it"), note)
    } else {
        (
            format!("`{name}` stays in what is merged of {title}"),
            "it says how that is combined with other sources: what counts less can win by it, or \
             what counts more be lost",
        )
    };
    let help = if is_beside {
        "take it out: `merge_how` says how the part is merged"
    } else {
        "take it out: it does not say how the patch is applied"
    };
    let finding = Diagnostic::new(&RULE, message, Label::new(key.span, "is not taken out"));
    let document = facts.facts.graph.recipe(doc).key.clone();
    Some(finding.note(note).help(help).about(name).document(document))
}

/// Whether nothing of the source is in what is combined.
fn erases(facts: &SetFacts<'_>, doc: DocId) -> bool {
    facts.problems().any(|problem| {
        let ProblemKind::Laid { source, notice } = &problem.kind else { return false };
        let merge::Notice::CloudInit(notice) = notice;
        let is_lost = notice.fact == Fact::Lost(Kept::MissingClass(Class::Dict));
        *source == doc && notice.place.0.is_empty() && is_lost
    })
}
