//! Substitution: copying a value of one document into another, whole or by a pattern (`deckhand.md`
//! section 12).

use std::borrow::Cow;
use std::sync::Arc;

use layercake_source::Span;
use layercake_yaml::path::{Location, children};
use layercake_yaml::{Node, Origin, Value, emit};

use super::limits::cost;
use super::stroke::Author;
use super::{
    InvalidSubstitution, Making, MissingValue, PatternTexts, Put, SubstitutionProblem, WriteKind,
};
use crate::graph::{Destination, Extract, MissingSource, Part, Substitution};
use crate::merge::deckhand::{Semantics, merged_shallow, pops};
use crate::merge::pattern::{Effort, Pattern, PatternFailure, Replacement, python_text};

impl Making<'_> {
    /// Applies one substitution from `source`, the rendered data of the source document, to all
    /// destinations or to the one at an index.
    pub(super) fn substitute(
        &mut self,
        substitution: &Substitution<'_>,
        source: &Node,
        only: Option<usize>,
    ) {
        let Some(value) = self.source_value(substitution, source) else {
            return;
        };
        let value = match &substitution.writing.extract {
            Some(extract) => match self.extracted(extract, value) {
                Some(value) => value,
                None => return,
            },
            None => value,
        };
        let destinations = substitution.writing.to.iter().enumerate();
        let wanted = destinations.filter(|(index, _)| only.is_none_or(|only| only == *index));
        for (index, destination) in wanted {
            let before = self.writes.len();
            // Deckhand's code checks the text of the path first (10.6).
            if let Err(error) = destination.path.value.require_rooted() {
                self.problem(
                    destination.path.span,
                    InvalidSubstitution::DestinationPath(error),
                );
                continue;
            }
            match &destination.part {
                None => self.put(destination, &value),
                Some(part) => self.put_by_pattern(destination, part, &value),
            }
            self.note(
                Author::Destination {
                    step: self.step,
                    index,
                },
                before,
            );
        }
    }

    /// Returns the source value, or `None` after reporting that it is missing.
    fn source_value(&mut self, substitution: &Substitution<'_>, source: &Node) -> Option<Node> {
        let Substitution {
            source: document,
            writing,
        } = *substitution;
        let path = &writing.from.value;
        let at = writing.from.span;
        let found = if source.as_mapping().is_some() {
            match path.value(source) {
                Ok(found) => found,
                Err(error) => {
                    self.problem(
                        at,
                        InvalidSubstitution::SourcePath {
                            source: document,
                            error,
                        },
                    );
                    return None;
                }
            }
        } else {
            if !path.is_root() && !source.is_null() {
                let path = path.text().to_owned();
                self.problem(
                    at,
                    SubstitutionProblem::IgnoredSourcePath {
                        source: document,
                        path,
                    },
                );
            }
            Some(Cow::Borrowed(source))
        };
        if let Some(value) = found.as_ref().filter(|value| !value.is_null()) {
            return Some(value.clone().into_owned());
        }
        let kind = SubstitutionProblem::MissingValue(MissingValue {
            source: document,
            path: path.text().to_owned(),
            null: found.as_ref().map(|null| null.span),
            near: if found.is_none() {
                path.near_miss(source)
            } else {
                None
            },
        });
        self.problem(at, kind);
        self.writes_null().then(|| Node::made(Value::Null, at))
    }

    /// Returns whether null is written for a missing value, as Deckhand's code does when it must
    /// not fail (12.3).
    fn writes_null(&self) -> bool {
        self.graph.semantics == Semantics::Deckhand
            && self.graph.missing_source == MissingSource::Warning
    }

    /// Returns the part of a source string that its pattern selects.
    fn extracted(&mut self, extract: &Extract, value: Node) -> Option<Node> {
        let at = extract.pattern.span;
        let Value::String(text) = &value.value else {
            let kind = InvalidSubstitution::SourceNotText {
                value: value.span,
                found: value.value.kind(),
            };
            self.problem(at, kind);
            return None;
        };
        let charged = self.allowance.search(cost(&value));
        let effort = &mut self.allowance.effort;
        let pattern = &extract.pattern.value;
        let captures = match charged.and_then(|()| pattern.search_within(text, effort)) {
            Ok(Some(captures)) => captures,
            Ok(None) => {
                self.problem(
                    at,
                    SubstitutionProblem::UnmatchedSourcePattern { value: value.span },
                );
                return Some(value);
            }
            Err(failure) => {
                self.problem(at, SubstitutionProblem::PatternFailure(failure));
                return None;
            }
        };
        let group = usize::try_from(extract.group.value)
            .ok()
            .and_then(|at| captures.group(at));
        let Some(group) = group else {
            let group = extract.group.value;
            self.problem(
                extract.group.span,
                InvalidSubstitution::MissingGroup { group },
            );
            return None;
        };
        let selected = match group {
            Some(part) => Value::String(part.into()),
            None => Value::Null,
        };
        Some(Node {
            value: selected,
            origin: Origin::Derived,
            ..value
        })
    }

    /// Writes a whole value.
    fn put(&mut self, destination: &Destination, value: &Node) {
        let path = &destination.path.value;
        let at = destination.path.span;
        if path.is_root() {
            return self.put_at_root(value, at);
        }
        if pops(path, value) {
            self.problem(at, SubstitutionProblem::DifferentListWrite);
        }
        if let Err(error) = self.pad(path) {
            return self.problem(at, InvalidSubstitution::DestinationPath(error));
        }
        match path.write(&mut self.data, value, self.graph.semantics.list_write(), at) {
            Ok(written) => {
                let put = Put {
                    created: written.created,
                    is_collection: value.is_collection(),
                };
                self.wrote_into(written.locations, WriteKind::Whole, at, put);
            }
            Err(error) => self.problem(at, InvalidSubstitution::DestinationPath(error)),
        }
    }

    /// Merges a mapping into the root mapping key by key. Any other value replaces the root, unless
    /// it is empty.
    fn put_at_root(&mut self, value: &Node, at: Span) {
        if self.data.as_mapping().is_some() && value.as_mapping().is_some() {
            self.data = merged_shallow(&self.data, value);
        } else if value.value.is_falsy() {
            return self.problem(at, InvalidSubstitution::EmptyRoot);
        } else {
            self.data = value.clone();
        }
        let put = Put {
            created: None,
            is_collection: value.is_collection(),
        };
        self.wrote_into(vec![Arc::default()], WriteKind::Whole, at, put);
    }

    /// Replaces part of the string, or of the strings, at the destination.
    fn put_by_pattern(&mut self, destination: &Destination, part: &Part, value: &Node) {
        let path = &destination.path.value;
        let at = destination.path.span;
        let target = match path.first(&self.data) {
            Ok(found) => found.map(|found| {
                // A pair of `!!pairs` reads as a list, but cannot be written to.
                let is_node = matches!(found.node, Cow::Borrowed(_));
                (found.node.into_owned(), found.location, is_node)
            }),
            Err(error) => return self.problem(at, InvalidSubstitution::DestinationPath(error)),
        };
        let Some((target, location, is_node)) = target else {
            return self.missing_target(destination, part);
        };
        if !part.pattern.value.is_usable() {
            return;
        }
        // Both may be far larger when written out than in memory.
        if let Err(failure) = self
            .allowance
            .search(cost(value).saturating_add(cost(&target)))
        {
            return self.problem(
                part.pattern.span,
                SubstitutionProblem::PatternFailure(failure),
            );
        }
        let put = self.insertion(value, part);
        let replaced = match (&target.value, part.depth) {
            (Value::String(text), _) => {
                // The string at the first place is written to all places, even without a match.
                // Nothing needs to be written if there is only one place.
                let is_only_place = is_node && path.segments().is_some();
                match self.replaced_text(part, &put, &target, text) {
                    Some((node, _)) if path.is_root() && node.value.is_falsy() => {
                        return self.problem(at, InvalidSubstitution::EmptyRoot);
                    }
                    Some((_, 0)) if is_only_place => None,
                    replaced => replaced.map(|(node, _)| node),
                }
            }
            // Deckhand's code takes the unchanged list for a failure (12.5).
            (Value::Sequence(items), Some(_)) if path.is_root() && items.is_empty() => {
                return self.problem(at, InvalidSubstitution::EmptyRoot);
            }
            (Value::Mapping(_) | Value::Sequence(_), Some(depth)) if is_node => {
                let texts = self.replaced_below(part, &put, &target, depth);
                return self.write_below(texts, location, at);
            }
            (found, _) => {
                let kind = InvalidSubstitution::PatternTargetType {
                    target: target.span,
                    found: found.kind(),
                    container: is_node && matches!(found, Value::Mapping(_) | Value::Sequence(_)),
                };
                return self.problem(part.pattern.span, kind);
            }
        };
        let Some(replaced) = replaced else { return };
        match path.update(&mut self.data, &replaced, self.graph.semantics.list_write()) {
            Ok(locations) => {
                self.wrote(
                    locations.into_iter().map(Arc::new).collect(),
                    WriteKind::Part,
                    at,
                );
            }
            Err(error) => self.problem(at, InvalidSubstitution::DestinationPath(error)),
        }
    }

    /// Handles a path without a value (D16). Deckhand's code creates a mapping there. With
    /// recursion the mapping is kept, if the path then leads to it. Otherwise that is an error, and
    /// only mappings created inside an existing value of the data remain (12.5).
    fn missing_target(&mut self, destination: &Destination, part: &Part) {
        let path = &destination.path.value;
        let at = destination.path.span;
        let near = path.near_miss(&self.data);
        let mut created = self.data.clone();
        let top = path.create(&mut created, at).ok().flatten();
        let is_found = path.first(&created).is_ok_and(|found| found.is_some());
        let is_accepted = part.depth.is_some() && is_found;
        let is_created = self.graph.semantics == Semantics::Deckhand
            && top.is_some_and(|top| is_accepted || top.0.len() > 1);
        if is_created {
            self.data = created;
        }
        let path = path.text().to_owned();
        let kind = SubstitutionProblem::MissingPatternTarget {
            path,
            near,
            is_accepted,
            is_created,
        };
        self.problem(at, kind);
    }

    /// Returns the replacement for matches of the pattern.
    fn insertion(&mut self, value: &Node, part: &Part) -> Insertion {
        let deckhand = python_text(&value.value);
        let secret = value.holds_secret();
        let documented = match &value.value {
            Value::String(text) => text.to_string(),
            _ => yaml_text(value),
        };
        if value.as_str().is_none() && documented != deckhand {
            let texts = (!secret).then(|| PatternTexts {
                found: value.value.kind(),
                documented: documented.clone(),
                deckhand: deckhand.clone(),
            });
            let kind = SubstitutionProblem::DifferentPatternText {
                value: value.span,
                texts,
            };
            self.problem(part.pattern.span, kind);
        }
        if changes_as_template(&deckhand) {
            let refused = refuses_template(&part.pattern.value, &deckhand);
            let kind = SubstitutionProblem::BackslashInPatternValue {
                value: value.span,
                refused,
            };
            self.problem(part.pattern.span, kind);
        }
        let text = match self.graph.semantics {
            Semantics::Documented => documented,
            Semantics::Deckhand => deckhand,
        };
        let as_template = self.graph.semantics == Semantics::Deckhand;
        Insertion {
            text,
            secret,
            as_template,
            span: value.span,
        }
    }

    /// Returns the destination string after the replacement and the number of replacements, or
    /// `None` after reporting a failure.
    fn replaced_text(
        &mut self,
        part: &Part,
        put: &Insertion,
        target: &Node,
        text: &str,
    ) -> Option<(Node, usize)> {
        match self.replaced_within(part, put, text) {
            Ok((_, 0)) => {
                let kind = SubstitutionProblem::UnmatchedPattern {
                    target: target.span,
                };
                self.problem(part.pattern.span, kind);
                Some((
                    Node {
                        span: target.span.with_part(put.span),
                        ..target.clone()
                    },
                    0,
                ))
            }
            Ok((replaced, count)) => Some((put.node(target, replaced), count)),
            Err(failure) => {
                self.problem(
                    part.pattern.span,
                    SubstitutionProblem::PatternFailure(failure),
                );
                None
            }
        }
    }

    /// Replaces the pattern in the strings below the destination (12.4).
    fn replaced_below(
        &mut self,
        part: &Part,
        put: &Insertion,
        target: &Node,
        depth: i64,
    ) -> Vec<(Location, Node)> {
        let mut texts = Vec::new();
        collect_strings(target, depth, 0, &mut Location::root(), &mut texts);
        let pattern = &part.pattern.value;
        let mut replaced = Vec::new();
        let mut differing = None;
        for (location, node) in texts {
            let text = node.as_str().expect("only strings are collected");
            let literally = text.contains(pattern.text());
            let outcome = match self.replaced_within(part, put, text) {
                Ok(outcome) => outcome,
                Err(failure) => {
                    self.problem(
                        part.pattern.span,
                        SubstitutionProblem::PatternFailure(failure),
                    );
                    return Vec::new();
                }
            };
            let matches = outcome.1 > 0;
            if matches != (literally && matches) {
                differing.get_or_insert(node.span);
            }
            let applies = match self.graph.semantics {
                Semantics::Documented => matches,
                Semantics::Deckhand => literally && matches,
            };
            if applies {
                replaced.push((location, put.node(&node, outcome.0)));
            }
        }
        if let Some(text) = differing {
            self.problem(
                part.pattern.span,
                SubstitutionProblem::DifferentRecursion { text },
            );
        } else if replaced.is_empty() {
            let kind = SubstitutionProblem::UnmatchedPattern {
                target: target.span,
            };
            self.problem(part.pattern.span, kind);
        }
        replaced
    }

    /// Replaces the pattern in a string, within the limits of the document.
    fn replaced_within(
        &mut self,
        part: &Part,
        put: &Insertion,
        text: &str,
    ) -> Result<(String, usize), PatternFailure> {
        let replaced = put.replace(&part.pattern.value, text, &mut self.allowance.effort)?;
        self.allowance.make(replaced.0.len() as u64)?;
        Ok(replaced)
    }

    fn write_below(&mut self, texts: Vec<(Location, Node)>, base: Location, at: Span) {
        let mut locations = Vec::new();
        for (below, node) in texts {
            let location = base.joined(&below);
            *location
                .get_mut(&mut self.data)
                .expect("the string was found there") = node;
            locations.push(Arc::new(location));
        }
        self.wrote(locations, WriteKind::Part, at);
    }
}

/// Replacement for the matches of a pattern.
struct Insertion {
    text: String,
    secret: bool,
    as_template: bool,
    /// Span of the inserted value.
    span: Span,
}

impl Insertion {
    fn replace(
        &self,
        pattern: &Pattern,
        text: &str,
        effort: &mut Effort,
    ) -> Result<(String, usize), PatternFailure> {
        let replacement = if self.as_template {
            Replacement::Template(&self.text)
        } else {
            Replacement::Literal(&self.text)
        };
        pattern.replace_all_within(text, replacement, effort)
    }

    /// Returns the destination after the replacement. It keeps its span, and is secret if the
    /// inserted value is.
    fn node(&self, target: &Node, replaced: String) -> Node {
        Node {
            value: Value::String(replaced.into()),
            origin: Origin::Derived,
            secret: target.secret || self.secret,
            span: target.span.with_part(self.span),
        }
    }
}

/// Returns whether Python's `re` changes the string when it is used as a template. A backslash is
/// kept before a character other than an ASCII letter, a digit or a backslash.
fn changes_as_template(text: &str) -> bool {
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\\'
            && characters
                .next()
                .is_none_or(|next| next == '\\' || next.is_ascii_alphanumeric())
        {
            return true;
        }
    }
    false
}

/// Formats a value as YAML, including secrets: the result is treated as secret.
fn yaml_text(value: &Node) -> String {
    match &value.value {
        Value::Sequence(_) | Value::Mapping(_) | Value::Set(_) | Value::Pairs(_) => {
            let options = emit::EmitOptions {
                show_secrets: true,
                origin: None,
            };
            emit::to_yaml(value, &options).trim_end().to_owned()
        }
        scalar => emit::scalar_text(scalar),
    }
}

/// Returns whether Python's `re.sub` rejects the string as a template for this pattern, independent
/// of the searched string.
fn refuses_template(pattern: &Pattern, text: &str) -> bool {
    let tried = pattern.replace_all("", Replacement::Template(text));
    matches!(tried, Err(PatternFailure::Template(_)))
}

/// Collects the strings of a mapping or list, down to `depth` levels.
fn collect_strings(
    node: &Node,
    depth: i64,
    level: i64,
    here: &mut Location,
    texts: &mut Vec<(Location, Node)>,
) {
    if level == depth {
        return;
    }
    for (piece, child) in children(node) {
        here.0.push(piece);
        match &child.value {
            Value::String(_) => texts.push((here.clone(), child.clone())),
            _ => collect_strings(child, depth, level + 1, here, texts),
        }
        here.0.pop();
    }
}
