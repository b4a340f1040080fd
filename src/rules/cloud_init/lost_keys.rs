//! `lost-keys`: lists or keys of one part or source that another overrides.

use std::collections::HashMap;

use super::SetFacts;
use super::merged_document::MergedDocument;
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::merge::cloud_init::{Class, Dialect, Fact, Kept, MergeRules, Notice, Replaced};
use crate::source::{FileId, Span};
use crate::system::cloud_init::part::CloudPart;
use crate::system::cloud_init::{Set, SourceKind};

super::super::rule!(
    "lost-keys",
    Warning,
    "lists or keys of a cloud-init part or source that another overrides"
);

/// Maximum number of lost keys listed and of locations shown in one finding.
const MAX_NAMED: usize = 8;

/// Specification that joins lists.
const JOINING: &str = "merge_how: dict(recurse_list)+list(append)";

/// Findings of one merge step, one for each overriding source.
///
/// Empty if the set or the part has a specification that decides this, and in the dialect of the
/// first documentation, which joins lists.
pub(super) fn report(
    set: &SetFacts<'_>,
    merged: &MergedDocument<'_>,
    notices: &[&Notice],
    promises: &Promises,
) -> Vec<Diagnostic> {
    match merged.dialect {
        Dialect::Current if merged.asked.is_none() => {}
        Dialect::Current | Dialect::Documented => return Vec::new(),
    }
    if merged.is_lower() {
        report_lower(set, merged, notices)
    } else {
        report_part(merged, notices, promises)
    }
}

/// A part of user-data that replaces values of earlier parts.
fn report_part(
    merged: &MergedDocument<'_>,
    notices: &[&Notice],
    promises: &Promises,
) -> Vec<Diagnostic> {
    let of = |wanted: &[Replaced]| -> Vec<&Notice> {
        notices
            .iter()
            .copied()
            .filter(|notice| {
                wanted
                    .iter()
                    .any(|replaced| notice.fact == Fact::Replaced(*replaced))
            })
            .collect()
    };
    let lost = of(&[Replaced::Items, Replaced::Key]);
    if lost.is_empty() {
        return Vec::new();
    }
    let places = lost.iter().map(|notice| {
        let place = match notice.fact {
            // The new mapping does not have the key.
            Fact::Replaced(Replaced::Key) => notice.place.parent().unwrap_or_default(),
            _ => notice.place.clone(),
        };
        merged.at(&place, notice.at)
    });
    let lost = LostKeys {
        names: names(merged, &lost),
        overriding: places.collect(),
        losing: lost
            .iter()
            .map(|notice| merged.facts.first_line(notice.old))
            .collect(),
    };
    let class = if of(&[Replaced::Items]).is_empty() {
        Class::Dict
    } else {
        Class::List
    };
    let has_text = !of(&[Replaced::Text]).is_empty();
    let line = if has_text {
        "merge_how: dict(recurse_list,recurse_str)+list(append)+str()"
    } else {
        JOINING
    };
    let staying = of(&[Replaced::Other]).first().map(|notice| {
        let place = merged.shown(&notice.place).filter(|_| !notice.secret);
        let what = place.map_or_else(|| "a value".to_owned(), |place| format!("`{place}`"));
        format!("; {what} of the earlier part is then kept as well, unless you remove it there")
    });
    let help = format!(
        "add `{line}` to this part to keep both{}; write `merge_how: dict(replace)` if this is \
             intended",
        staying.unwrap_or_default()
    );
    let message = lost.message("of an earlier part", "this part replaces");
    let finding = lost.report(merged, message).note(
        "a part without a merge specification replaces each top-level key of earlier parts as a \
         whole",
    );
    vec![
        levelled(
            finding,
            merged.part.is_some_and(|part| keep(promises, part, class)),
        )
        .help(help),
    ]
}

/// A source merged below others that keep their lists. Within one source the order of files is a
/// choice.
fn report_lower(
    set: &SetFacts<'_>,
    merged: &MergedDocument<'_>,
    notices: &[&Notice],
) -> Vec<Diagnostic> {
    if merged.part.is_some() {
        return Vec::new();
    }
    let mut by_winner: Vec<(Option<SourceKind>, Vec<&Notice>)> = Vec::new();
    let lost = notices.iter().filter(|notice| {
        let is_list = notice.old_class == Some(Class::List);
        notice.fact == Fact::Lost(Kept::NoListRecursion) && is_list && !notice.is_contained
    });
    for notice in lost {
        let winner = source_of(set.set, notice.old.file);
        match by_winner.iter_mut().find(|(known, _)| *known == winner) {
            Some((_, notices)) => notices.push(notice),
            None => by_winner.push((winner, vec![notice])),
        }
    }
    let word = |(winner, notices): (Option<SourceKind>, Vec<&Notice>)| {
        let places = notices
            .iter()
            .map(|notice| merged.first_at(&notice.place, notice.old));
        let lost = LostKeys {
            names: names(merged, &notices),
            overriding: places.collect(),
            losing: notices
                .iter()
                .map(|notice| merged.at(&notice.place, notice.at))
                .collect(),
        };
        let loser = title(set, merged);
        let winner = winner.map_or("a source of higher priority", SourceKind::as_str);
        let message = lost.message(&format!("of {loser}"), &format!("{winner} has"));
        let finding = lost.report(merged, message).note(
            "when sources are combined, a list of higher priority replaces one of lower priority \
             as a whole",
        );
        levelled(finding, set.set.is_undecided).help(format!(
            "to keep both, move the keys of {loser} into a further part of {winner} with \
             `{JOINING}`: `merge_how` does not apply across sources"
        ))
    };
    by_winner.into_iter().map(word).collect()
}

/// Name of the source whose keys are lost, for headlines.
fn title<'a>(set: &SetFacts<'_>, merged: &'a MergedDocument<'_>) -> &'a str {
    let has_conf_d = set
        .set
        .read_sources()
        .any(|source| source.kind == SourceKind::ConfD);
    match merged
        .facts
        .sets
        .member(merged.over)
        .and_then(|member| member.source)
    {
        Some(SourceKind::Base) if has_conf_d => "the system's configuration",
        Some(_) | None => merged.name(),
    }
}

/// Source that a file's parts belong to.
fn source_of(set: &Set<'_>, file: FileId) -> Option<SourceKind> {
    set.sources
        .iter()
        .find(|source| source.parts().any(|part| part.span.file == file))
        .map(|source| source.kind)
}

/// Formats the places of keys; `None` if one of them must not be shown.
fn names(merged: &MergedDocument<'_>, notices: &[&Notice]) -> Option<Vec<String>> {
    notices
        .iter()
        .map(|notice| merged.shown(&notice.place).filter(|_| !notice.secret))
        .collect()
}

/// Keys overridden by one value.
struct LostKeys {
    /// The keys; `None` if they must not be shown.
    names: Option<Vec<String>>,
    /// Spans of the overriding values, in the same order.
    overriding: Vec<Span>,
    /// Spans where the lost keys are written.
    losing: Vec<Span>,
}

impl LostKeys {
    fn message(&self, whose: &str, winner: &str) -> String {
        match self.names.as_deref() {
            None => format!("keys {whose} are lost: {winner} them"),
            Some([name]) => format!("`{name}` {whose} is lost: {winner} it"),
            Some(names) => {
                let shown = names
                    .iter()
                    .take(MAX_NAMED)
                    .map(|name| format!("`{name}`"))
                    .collect::<Vec<_>>()
                    .join(", ");
                let more = match names.len().saturating_sub(MAX_NAMED) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                format!("{shown}{more} {whose} are lost: {winner} them")
            }
        }
    }

    fn report(&self, merged: &MergedDocument<'_>, message: String) -> Diagnostic {
        let label = Label::new(self.overriding[0], "overrides the earlier value");
        let mut finding = Diagnostic::new(&RULE, message, label);
        let mut known = vec![self.overriding[0]];
        let others = self.overriding.iter().map(|at| (*at, "also overrides"));
        let lost = self.losing.iter().map(|at| (*at, "lost"));
        for (at, label) in others.take(MAX_NAMED).chain(lost.take(MAX_NAMED)) {
            // Not even the number of secrets may be reported.
            if self.names.is_some() && !known.contains(&at) {
                known.push(at);
                finding = finding.related(merged.facts.first_line(at), label);
            }
        }
        let first = self.names.as_ref().and_then(|names| names.first());
        finding.about(first.cloned().unwrap_or_default())
    }
}

/// Makes the finding a note, unless the first documentation promises to keep both and no dialect is
/// chosen.
fn levelled(finding: Diagnostic, is_promised: bool) -> Diagnostic {
    if !is_promised {
        return Diagnostic {
            severity: Severity::Note,
            ..finding
        };
    }
    finding.note(
        "cloud-init's first documentation promises to keep both (`dialect: documented`); set \
         `dialect: current` in `layercake.yaml`, or pass `--dialect current`, if this is intended",
    )
}

/// Merge rules of the first documentation by part, for a set without a chosen dialect.
pub(super) type Promises = HashMap<*const CloudPart, MergeRules>;

/// Merge rules of the first documentation, if a notice concerns a part without a merge
/// specification.
pub(super) fn promises<'n>(
    set: &Set<'_>,
    mut notices: impl Iterator<Item = &'n Notice>,
) -> Promises {
    if !set.is_undecided || !notices.any(|notice| matches!(notice.fact, Fact::Replaced(_))) {
        return Promises::new();
    }
    let parts = set.as_documented().into_iter();
    parts
        .map(|(part, rules)| (std::ptr::from_ref(part), rules))
        .collect()
}

/// Whether the first documentation keeps both of two values of this type when merging this part.
fn keep(promises: &Promises, part: &CloudPart, class: Class) -> bool {
    promises
        .get(&std::ptr::from_ref(part))
        .is_some_and(|rules| rules.keeps(class))
}
