//! `missing-source`: substitution whose source is missing.

use super::SiteFacts;
use crate::diagnostic::{Diagnostic, NeededBy, Severity};
use crate::graph::{DocId, MissingSource};
use crate::merge::deckhand::Semantics;
use crate::near::nearest;
use crate::render::{MissingValue, Problem};
use crate::source::Span;
use crate::system::deckhand::SiteProblem;
use crate::system::deckhand::document::SubstitutionSource;
use crate::yaml::path::{Location, Path, Piece, Segment};
use crate::yaml::{Key, Value};

super::rule!("missing-source", Error [Refused, Absence], "substitution whose source is missing", was "P005");

/// Sources that concrete documents do not find.
pub(super) fn missing_sources<'f>(
    facts: &'f SiteFacts<'_>,
) -> impl Iterator<Item = &'f SubstitutionSource> {
    facts
        .site
        .problems
        .iter()
        .filter_map(|problem| match problem {
            SiteProblem::MissingSource {
                doc,
                substitution,
                of_abstract: None,
                ..
            } => Some(&facts.document(*doc).sources[*substitution]),
            _ => None,
        })
}

pub(super) fn report_document(
    facts: &SiteFacts<'_>,
    doc: DocId,
    substitution: usize,
    of_abstract: Option<DocId>,
    near: Option<&str>,
) -> Diagnostic {
    let document = facts.document(doc);
    let source = &document.sources[substitution];
    let schema = &source.schema.value;
    let wanted = &source.name;
    let lacks = if of_abstract.is_some() {
        "is abstract"
    } else {
        "does not exist"
    };
    let message = format!(
        "`{}` substitutes from `{}`, which {lacks}",
        document.key.name, wanted.value
    );
    let label = match of_abstract {
        Some(_) => "an abstract document cannot be a source".to_owned(),
        None => format!("no `{schema}` has this name"),
    };
    let diagnostic = RULE
        .finding(message, wanted.span, label)
        .note(skipped(facts, MissingPart::Document))
        .absent(
            schema,
            format!("`{}` {lacks}", wanted.value),
            NeededBy::Substitution,
        )
        .written_as([&*wanted.value])
        .document(&document.key);
    let diagnostic = with_severity(facts, diagnostic);
    if let Some(found) = of_abstract {
        return diagnostic
            .related(facts.document(found).name_span, "the abstract document")
            .help("substitute from a concrete document, or make this one concrete");
    }
    let Some(near) = near else {
        return diagnostic.help("add the document, or correct its name or schema in `src`");
    };
    let found = facts
        .site
        .iter()
        .map(|(_, document)| document)
        .find(|document| document.key.schema == *schema && &*document.key.name == near);
    found
        .into_iter()
        .fold(diagnostic, |diagnostic, found| {
            diagnostic.related(found.name_span, "a similar name")
        })
        .did_you_mean(near, None)
}

pub(super) fn report_value(
    facts: &SiteFacts<'_>,
    problem: &Problem,
    missing: &MissingValue,
) -> Diagnostic {
    let MissingValue {
        source,
        path,
        null,
        near,
    } = missing;
    let name = facts.name(problem.doc);
    let source_doc = *source;
    let source = facts.document(source_doc);
    let lacks = if null.is_some() {
        "where it has null"
    } else {
        "where it has nothing"
    };
    let message = format!("`{name}` reads `{path}` of `{}`, {lacks}", source.key.name);
    let diagnostic = RULE.finding(message, problem.at, "no value to read");
    let diagnostic = match null {
        Some(null) => diagnostic.related(*null, "null"),
        None => diagnostic.related(source.name_span, "the source document"),
    };
    let key = &source.key;
    let lacking = lacking_key(facts, source_doc, path).filter(|_| null.is_none());
    let diagnostic = with_severity(facts, diagnostic)
        .note(skipped(facts, MissingPart::Value))
        .absent(
            &key.schema,
            without_value(facts, missing),
            NeededBy::Substitution,
        )
        .written_as(lacking.map(|lacking| lacking.name));
    match near {
        Some(near) => diagnostic.did_you_mean(near, None),
        None => diagnostic.help(format!(
            "add a value at this path to `{}`, or correct the path",
            source.key.name
        )),
    }
}

/// Describes the missing part of a source: all data, or the value at a path.
fn without_value(facts: &SiteFacts<'_>, missing: &MissingValue) -> String {
    let MissingValue {
        source, path, null, ..
    } = missing;
    let name = &facts.document(*source).key.name;
    match facts.rendered.data(*source).map(|data| &data.value) {
        None | Some(Value::Null) => format!("`{name}` has no data"),
        Some(Value::Mapping(data)) if data.is_empty() => format!("`{name}` has no data"),
        Some(_) => {
            let lacking = lacking_key(facts, *source, path).filter(|_| null.is_none());
            let place = lacking.map_or_else(|| path.clone(), |lacking| lacking.location);
            format!("`{name}` has no value at `{place}`")
        }
    }
}

/// First key on a path that a source lacks: its defect, however many paths lead below it.
pub(super) struct LackingKey {
    /// Path of the key.
    pub(super) location: String,
    /// The key.
    pub(super) name: String,
    /// Place of a similar key beside it.
    pub(super) near: Option<Span>,
}

/// The first key of a plain path that a source lacks. Keys below a secret are not revealed.
pub(super) fn lacking_key(facts: &SiteFacts<'_>, source: DocId, path: &str) -> Option<LackingKey> {
    let mut node = facts.rendered.data(source)?;
    let mut location = Location::root();
    for segment in Path::parse(path).ok()?.segments()? {
        let (piece, next) = match segment {
            _ if node.secret => return None,
            Segment::Name(name) => (
                Piece::Key(Key::string(name.clone(), node.span)),
                node.get(name),
            ),
            Segment::Index(index) => {
                let index = usize::try_from(*index).ok()?;
                (Piece::Index(index), node.as_sequence()?.get(index))
            }
        };
        location = location.join(piece);
        match (next, segment) {
            (Some(next), _) => node = next,
            (None, Segment::Index(_)) => return None,
            (None, Segment::Name(name)) => {
                let keys = node.as_mapping()?;
                let near = nearest(name, keys.keys().filter_map(Key::as_str))
                    .and_then(|near| keys.get_entry(near))
                    .map(|(key, _)| key.span);
                return Some(LackingKey {
                    location: location.to_string(),
                    name: name.to_string(),
                    near,
                });
            }
        }
    }
    None
}

/// Missing part of a source.
enum MissingPart {
    Document,
    Value,
}

/// Effect of a substitution without a value.
fn skipped(facts: &SiteFacts<'_>, lacking: MissingPart) -> &'static str {
    match (facts.graph.missing_source, facts.graph.semantics, lacking) {
        (MissingSource::Error, _, _) => {
            "the substitution is skipped, and its destinations keep their values; Deckhand refuses \
             the whole site"
        }
        (MissingSource::Warning, Semantics::Deckhand, MissingPart::Value) => {
            "null is written to its destinations, as Deckhand does"
        }
        (MissingSource::Warning, Semantics::Documented, _)
        | (MissingSource::Warning, Semantics::Deckhand, MissingPart::Document) => {
            "the substitution is skipped: its destinations keep their values"
        }
    }
}

/// Applies the severity configured for missing sources.
fn with_severity(facts: &SiteFacts<'_>, diagnostic: Diagnostic) -> Diagnostic {
    let severity = match facts.graph.missing_source {
        MissingSource::Error => Severity::Error,
        MissingSource::Warning => Severity::Warning,
    };
    Diagnostic {
        severity,
        ..diagnostic
    }
}
