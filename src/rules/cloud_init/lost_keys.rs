//! `lost-keys`: lists and keys of one part or source that are lost to another.

use std::collections::HashMap;

use super::SetFacts;
use super::laying::MergedDocument;
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::merge::cloud_init::{Class, Dialect, Fact, Kept, Laying, Notice, Replaced};
use crate::source::{FileId, Span};
use crate::system::cloud_init::part::CloudPart;
use crate::system::cloud_init::{Set, SourceKind};

super::super::rule!(
    "lost-keys",
    Warning,
    "lists or keys of one cloud-init part or source that are lost to another"
);

/// Maximum number of lost keys that a finding names, and of places that it shows.
const MAX_NAMED: usize = 8;

/// The line that joins lists.
const JOINING: &str = "merge_how: dict(recurse_list)+list(append)";

/// The findings about one laying: one for each source that keeps its values.
///
/// None where the words of the set or the part say how it is to be, and in the dialect of the
/// first documentation, which joins lists.
pub(super) fn word(
    set: &SetFacts<'_>,
    laid: &MergedDocument<'_>,
    notices: &[&Notice],
    promises: &Promises,
) -> Vec<Diagnostic> {
    match laid.dialect {
        Dialect::Current if laid.asked.is_none() => {}
        Dialect::Current | Dialect::Documented => return Vec::new(),
    }
    if laid.is_lower() {
        word_lower(set, laid, notices)
    } else {
        word_part(laid, notices, promises)
    }
}

/// A part of user-data that replaces what earlier parts have.
fn word_part(
    laid: &MergedDocument<'_>,
    notices: &[&Notice],
    promises: &Promises,
) -> Vec<Diagnostic> {
    let of = |wanted: &[Replaced]| -> Vec<&Notice> {
        let is_wanted = |fact| wanted.iter().any(|replaced| fact == Fact::Replaced(*replaced));
        notices.iter().copied().filter(|notice| is_wanted(notice.fact)).collect()
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
        laid.at(&place, notice.at)
    });
    let lost = LostKeys {
        names: names(laid, &lost),
        overriding: places.collect(),
        losing: lost.iter().map(|notice| laid.facts.first_line(notice.old)).collect(),
    };
    let class = if of(&[Replaced::Items]).is_empty() { Class::Dict } else { Class::List };
    let has_text = !of(&[Replaced::Text]).is_empty();
    let line = if has_text {
        "merge_how: dict(recurse_list,recurse_str)+list(append)+str()"
    } else {
        JOINING
    };
    let staying = of(&[Replaced::Other]).first().map(|notice| {
        let place = laid.shown(&notice.place).filter(|_| !notice.secret);
        let what = place.map_or_else(|| "a value".to_owned(), |place| format!("`{place}`"));
        format!("; then {what} of the earlier part stays, too, unless you remove it there")
    });
    let help = format!(
        "add `{line}` to this part to keep both{}; `merge_how: dict(replace)` says that this is \
             meant",
        staying.unwrap_or_default()
    );
    let message = lost.message("of an earlier part", "this part replaces");
    let finding = lost.word(laid, message).note(
        "a part that does not say how it is merged replaces each top-level key of the parts \
         before it, as a whole",
    );
    vec![levelled(finding, laid.part.is_some_and(|part| keep(promises, part, class))).help(help)]
}

/// A source that is laid below others, which keep their lists. Within one source the order of
/// files is a choice.
fn word_lower(
    set: &SetFacts<'_>,
    laid: &MergedDocument<'_>,
    notices: &[&Notice],
) -> Vec<Diagnostic> {
    let is_lost = |notice: &&&Notice| {
        let is_list = notice.old_class == Some(Class::List);
        notice.fact == Fact::Lost(Kept::NoListRecursion) && is_list && !notice.is_contained
    };
    if laid.part.is_some() {
        return Vec::new();
    }
    let mut by_winner: Vec<(Option<SourceKind>, Vec<&Notice>)> = Vec::new();
    for notice in notices.iter().filter(is_lost) {
        let winner = source_of(set.set, notice.old.file);
        match by_winner.iter_mut().find(|(known, _)| *known == winner) {
            Some((_, notices)) => notices.push(notice),
            None => by_winner.push((winner, vec![notice])),
        }
    }
    let word = |(winner, notices): (Option<SourceKind>, Vec<&Notice>)| {
        let places = notices.iter().map(|notice| laid.first_at(&notice.place, notice.old));
        let lost = LostKeys {
            names: names(laid, &notices),
            overriding: places.collect(),
            losing: notices.iter().map(|notice| laid.at(&notice.place, notice.at)).collect(),
        };
        let loser = title(set, laid);
        let winner = winner.map_or("a source of higher priority", SourceKind::as_str);
        let message = lost.message(&format!("of {loser}"), &format!("{winner} has"));
        let finding = lost.word(laid, message).note(
            "where sources are combined, a list that counts more replaces one that counts less as \
             a whole",
        );
        levelled(finding, set.set.is_undecided).help(format!(
            "make what {loser} has a further part of {winner} that says `{JOINING}` to keep both: \
             no `merge_how` reaches from one source to another"
        ))
    };
    by_winner.into_iter().map(word).collect()
}

/// Name of the source whose keys are lost, for headlines.
fn title<'a>(set: &SetFacts<'_>, laid: &'a MergedDocument<'_>) -> &'a str {
    let has_conf_d = set.set.read_sources().any(|source| source.kind == SourceKind::ConfD);
    match laid.facts.sets.member(laid.over).and_then(|member| member.source) {
        Some(SourceKind::Base) if has_conf_d => "the system's configuration",
        Some(_) | None => laid.name(),
    }
}

/// The source that a file gives parts of.
fn source_of(set: &Set<'_>, file: FileId) -> Option<SourceKind> {
    let has_file = |part: &CloudPart| part.span.file == file;
    set.sources.iter().find(|source| source.parts().any(has_file)).map(|source| source.kind)
}

/// The places of keys as text; none where one of them may not be shown.
fn names(laid: &MergedDocument<'_>, notices: &[&Notice]) -> Option<Vec<String>> {
    let name = |notice: &&Notice| laid.shown(&notice.place).filter(|_| !notice.secret);
    notices.iter().map(name).collect()
}

/// Keys that one value overrides at once.
struct LostKeys {
    /// The keys; none where they may not be shown.
    names: Option<Vec<String>>,
    /// The texts that override them, in the same order.
    overriding: Vec<Span>,
    /// Where they are written.
    losing: Vec<Span>,
}

impl LostKeys {
    fn message(&self, whose: &str, winner: &str) -> String {
        match self.names.as_deref() {
            None => format!("keys {whose} are lost: {winner} them"),
            Some([name]) => format!("`{name}` {whose} is lost: {winner} it"),
            Some(names) => {
                let shown = names.iter().take(MAX_NAMED).map(|name| format!("`{name}`"));
                let shown = shown.collect::<Vec<_>>().join(", ");
                let more = match names.len().saturating_sub(MAX_NAMED) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                format!("{shown}{more} {whose} are lost: {winner} them")
            }
        }
    }

    fn word(&self, laid: &MergedDocument<'_>, message: String) -> Diagnostic {
        let label = Label::new(self.overriding[0], "overrides what is there");
        let mut finding = Diagnostic::new(&RULE, message, label);
        let mut known = vec![self.overriding[0]];
        let others = self.overriding.iter().map(|at| (*at, "overrides, too"));
        let lost = self.losing.iter().map(|at| (*at, "lost"));
        for (at, label) in others.take(MAX_NAMED).chain(lost.take(MAX_NAMED)) {
            // Of secrets not even the number may be reported.
            if self.names.is_some() && !known.contains(&at) {
                known.push(at);
                finding = finding.related(laid.facts.first_line(at), label);
            }
        }
        let first = self.names.as_ref().and_then(|names| names.first());
        finding.about(first.cloned().unwrap_or_default())
    }
}

/// A warning where the first documentation promises more and the user chose no dialect, or else a
/// note.
fn levelled(finding: Diagnostic, is_promised: bool) -> Diagnostic {
    if !is_promised {
        return Diagnostic { severity: Severity::Note, ..finding };
    }
    finding.note(
        "cloud-init's first documentation promises to keep both (`dialect: documented`); \
         `dialect: current` in `layercake.yaml`, or `--dialect current`, says that this is meant",
    )
}

/// The merge rules of the first documentation for each part of a set without a chosen dialect.
pub(super) type Promises = HashMap<*const CloudPart, Laying>;

/// The merge rules of the first documentation, if one of the notices is about a part without a
/// merge specification.
pub(super) fn promises<'n>(
    set: &Set<'_>,
    mut notices: impl Iterator<Item = &'n Notice>,
) -> Promises {
    if !set.is_undecided || !notices.any(|notice| matches!(notice.fact, Fact::Replaced(_))) {
        return Promises::new();
    }
    let layings = set.as_documented().into_iter();
    layings.map(|(part, laying)| (std::ptr::from_ref(part), laying)).collect()
}

/// Whether both of two values of this type would be kept where this part is laid.
fn keep(promises: &Promises, part: &CloudPart, class: Class) -> bool {
    promises.get(&std::ptr::from_ref(part)).is_some_and(|laying| laying.keeps(class))
}
