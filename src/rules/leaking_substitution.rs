//! `leaking-substitution`: in Deckhand, a substitution modifies the source of an earlier one.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::{DocumentFinding, SiteFacts};
use crate::diagnostic::{Diagnostic, TextEdit};
use crate::graph::{DocId, Substitution};
use crate::render::{Write, WriteKind};
use crate::source::{Span, offset};
use crate::system::deckhand::document::{
    Document, DocumentSubstitution as Written, SubstitutionSource,
};
use crate::yaml::path::Piece;

super::rule!(
    "leaking-substitution",
    Warning[UnsafelyFixable],
    "in Deckhand, a substitution modifies the source document of an earlier one";
    Documents(check)
);

/// Maximum number of collections for which a written value is compared with each; beyond that,
/// looking up the owner of each place is faster.
const MAX_COMPARED_COLLECTIONS: usize = 64;

fn check(facts: &SiteFacts<'_>, docs: &[DocId], found: &mut Vec<DocumentFinding>) {
    for doc in docs.iter().copied() {
        let writes = facts.rendered.writes(doc);
        // Writes before the first source value change only the document itself, and nothing changes
        // what the last write leaves.
        let first = writes
            .iter()
            .position(|write| is_of_source(facts, doc, write));
        let Some(first) = first.filter(|first| first + 1 < writes.len()) else {
            continue;
        };
        if may_leak(facts, doc, &writes[first..]) {
            check_document(facts, doc, &writes[first..], found);
        }
    }
}

/// Whether a write may change a value that an earlier one copied from its source: the changed
/// collection is below the one level that Deckhand copies. This is rare.
fn may_leak(facts: &SiteFacts<'_>, doc: DocId, writes: &[Write]) -> bool {
    // Places written from sources or created inside of those, each with whether the source shares
    // it.
    let mut put: Vec<(&[Piece], bool)> = Vec::new();
    writes.iter().any(|write| {
        let target = target(write);
        let changed = target.split_last().map_or(&[][..], |(_, changed)| changed);
        let last_around = |place: &[Piece]| {
            put.iter()
                .rev()
                .find(|(around, _)| place.starts_with(around))
        };
        let leaks = put.len() > MAX_COMPARED_COLLECTIONS
            || last_around(changed)
                .is_some_and(|(around, of_source)| *of_source && around.len() < changed.len());
        if write.created.is_some() && last_around(target).is_some() {
            put.push((target, false));
        }
        if is_of_source(facts, doc, write) {
            put.push((&write.location.0, true));
        }
        leaks
    })
}

/// Topmost place that a write creates or overwrites.
fn target(write: &Write) -> &[Piece] {
    let pieces = &write.location.0[..];
    write.created.map_or(pieces, |created| &pieces[..created])
}

/// Whether a write stores a list or mapping that the source then shares.
fn is_of_source(facts: &SiteFacts<'_>, doc: DocId, write: &Write) -> bool {
    write.is_collection
        && facts
            .substitution(doc, write)
            .is_some_and(|it| !it.writing.deepcopy)
}

fn check_document(
    facts: &SiteFacts<'_>,
    doc: DocId,
    writes: &[Write],
    found: &mut Vec<DocumentFinding>,
) {
    let mut owners = Owners::default();
    let mut reported = HashSet::new();
    for write in writes {
        let Some(substitution) = facts.substitution(doc, write) else {
            continue;
        };
        if let Some(leak) = owners.leak(write)
            && reported.insert(write.at)
        {
            let fix = facts
                .substitution(doc, leak.earlier)
                .and_then(|earlier| deep_copy(facts, facts.document(doc), &earlier));
            found.push((doc, report(facts, doc, &leak, write, fix)));
        }
        owners.record(facts, &substitution, write);
    }
}

/// Earlier write whose value is still part of the source document.
struct SubstitutionLeak<'a> {
    earlier: &'a Write,
    source: DocId,
}

/// Owners of a document's objects in Deckhand, by place. The owner of a place is the one last
/// recorded there or at an enclosing place.
#[derive(Default)]
struct Owners<'a> {
    places: HashMap<Cow<'a, [Piece]>, (usize, Owner<'a>), foldhash::fast::RandomState>,
    recorded: usize,
}

enum Owner<'a> {
    /// The document itself, at all levels.
    Document,
    /// A source: of the value at the place and everything inside or, if the outermost level was
    /// copied, only of what is inside.
    Source {
        earlier: &'a Write,
        source: DocId,
        outermost: bool,
    },
}

impl<'a> Owners<'a> {
    /// The foreign collection that a write changes: the one that contains the topmost place it
    /// creates or overwrites.
    fn leak(&self, write: &Write) -> Option<SubstitutionLeak<'a>> {
        let (_, changed) = target(write).split_last()?;
        let around = (0..=changed.len()).filter_map(|end| {
            let (order, owner) = self.places.get(&changed[..end])?;
            Some((*order, end, owner))
        });
        let (_, end, owner) = around.max_by_key(|(order, _, _)| *order)?;
        match owner {
            Owner::Document => None,
            Owner::Source {
                outermost: false, ..
            } if end == changed.len() => None,
            Owner::Source {
                earlier, source, ..
            } => Some(SubstitutionLeak {
                earlier,
                source: *source,
            }),
        }
    }

    /// Records the owner of the objects that a write stored.
    fn record(&mut self, facts: &SiteFacts<'_>, substitution: &Substitution<'_>, write: &'a Write) {
        if write.created.is_some() {
            self.put(Cow::Borrowed(target(write)), Owner::Document);
        }
        if write.kind != WriteKind::Whole {
            return;
        }
        let place = Cow::Borrowed(&write.location.0[..]);
        if substitution.writing.deepcopy || !write.is_collection {
            return self.put(place, Owner::Document);
        }
        let source = substitution.source;
        if write.location.is_root()
            && let Some(value) = facts.source_value(substitution)
            && let Some(entries) = value.as_mapping()
        {
            // A mapping written to the root is copied entry by entry, and the source still shares
            // each collection in it.
            for (key, _) in entries.iter().filter(|(_, entry)| entry.is_collection()) {
                let place = Cow::Owned(vec![Piece::Key(key.clone())]);
                self.put(
                    place,
                    Owner::Source {
                        earlier: write,
                        source,
                        outermost: true,
                    },
                );
            }
        } else {
            self.put(
                place,
                Owner::Source {
                    earlier: write,
                    source,
                    outermost: false,
                },
            );
        }
    }

    fn put(&mut self, place: Cow<'a, [Piece]>, owner: Owner<'a>) {
        self.recorded += 1;
        self.places.insert(place, (self.recorded, owner));
    }
}

fn report(
    facts: &SiteFacts<'_>,
    doc: DocId,
    leak: &SubstitutionLeak<'_>,
    write: &Write,
    fix: Option<TextEdit>,
) -> Diagnostic {
    let document = facts.document(doc);
    let source = facts.document(leak.source);
    let name = &document.key.name;
    let source_name = &source.key.name;
    let message = format!("in Deckhand, a substitution into `{name}` changes `{source_name}` too");
    let label = format!("writes into a value from `{source_name}`");
    let finding = RULE
        .finding(message, write.at, label)
        .related(
            leak.earlier.at,
            format!("a value of `{source_name}` is written here"),
        )
        .related(
            source.name_span,
            "Deckhand changes this document, for all that substitute from it",
        )
        .note(
            "Deckhand copies a substituted value one level deep and shares the deeper levels with \
             the source; layercake renders a copy",
        )
        .document(&document.key)
        .document(&source.key);
    let flags = if fix.is_some() {
        " (`lint --fix --unsafe-fixes` adds it)"
    } else {
        ""
    };
    let finding = finding.help(format!(
        "with Deckhand 0531c10 or later, add `deepcopy: true` to `src` of the earlier \
         substitution{flags}; older versions refuse this key: substitute smaller parts"
    ));
    match fix {
        Some(edit) => finding.unsafe_fix("add `deepcopy: true` to the source", vec![edit]),
        None => finding,
    }
}

/// Edit that makes a substitution deep-copy its value; `None` if other substitutions may share the
/// text of its source.
fn deep_copy(
    facts: &SiteFacts<'_>,
    document: &Document,
    substitution: &Substitution<'_>,
) -> Option<TextEdit> {
    let Written {
        span: entry,
        source,
        ..
    } = document
        .substitutions()
        .find(|it| std::ptr::eq(it.writing, substitution.writing))?;
    let SubstitutionSource {
        span: source,
        deepcopy,
        ..
    } = source;
    let text = &**facts.sources.get(source.file).text();
    let (before, behind) = text.split_at_checked(source.start as usize)?;
    let has_own_text = entry.contains(*source) && before.trim_end().ends_with(':');
    if !has_own_text {
        return None;
    }
    if let Some(value) = deepcopy {
        let edit = TextEdit {
            span: *value,
            text: "true".to_owned(),
        };
        return Some(edit).filter(|_| source.contains(*value));
    }
    let first = behind.strip_prefix('{').map_or(behind, str::trim_start);
    if first.starts_with("<<") {
        return None;
    }
    let (before, indent) = before.split_at(before.rfind('\n').map_or(0, |end| end + 1));
    let line_break = if before.ends_with("\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    let separator = match (behind.starts_with('{'), indent.trim().is_empty()) {
        (true, _) => ", ".to_owned(),
        (false, true) => format!("{line_break}{indent}"),
        (false, false) => return None,
    };
    let at = source.start + offset(behind.len() - first.len());
    let span = Span::point(source.file, at);
    Some(TextEdit {
        span,
        text: format!("deepcopy: true{separator}"),
    })
}
