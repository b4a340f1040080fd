//! Substitution: a value of one document into another, whole or by pattern
//! (`deckhand.md` section 12).

use std::borrow::Cow;
use std::sync::Arc;

use layercake_source::Span;
use layercake_yaml::path::{Location, children};
use layercake_yaml::{Node, Origin, Value, emit};

use super::limits::cost;
use super::stroke::Author;
use super::{Making, PatternTexts, ProblemKind, Put, WriteKind};
use crate::graph::{Destination, Extract, MissingSource, Part, Substitution};
use crate::merge::deckhand::{Semantics, laid_flat, pops};
use crate::merge::pattern::{Effort, Pattern, PatternFailure, Replacement, python_text};

impl Making<'_> {
    /// Applies one substitution, reading from `source`, the rendered data of
    /// its source document, for all destinations or the one of an index.
    pub(super) fn substitute(
        &mut self,
        substitution: &Substitution<'_>,
        source: &Node,
        only: Option<usize>,
    ) {
        let Some(value) = self.source_value(substitution, source) else { return };
        let value = match &substitution.writing.extract {
            Some(extract) => match self.extracted(extract, value) {
                Some(value) => value,
                None => return,
            },
            None => value,
        };
        let destinations = substitution.writing.to.iter().enumerate();
        let is_wanted = |(index, _): &(usize, _)| only.is_none_or(|only| only == *index);
        for (index, destination) in destinations.filter(is_wanted) {
            let before = self.writes.len();
            // Deckhand's code looks at the text of the path before anything else (10.6).
            if let Err(error) = destination.path.value.require_rooted() {
                self.problem(destination.path.span, ProblemKind::DestinationPath(error));
                continue;
            }
            match &destination.part {
                None => self.put(destination, &value),
                Some(part) => self.put_by_pattern(destination, part, &value),
            }
            self.note(Author::Destination { step: self.step, index }, before);
        }
    }

    /// The value read; none where there is none, which has been said then.
    fn source_value(&mut self, substitution: &Substitution<'_>, source: &Node) -> Option<Node> {
        let Substitution { source: document, writing } = *substitution;
        let (path, at) = (&writing.from.value, writing.from.span);
        let found = if source.as_mapping().is_some() {
            match path.value(source) {
                Ok(found) => found,
                Err(error) => {
                    self.problem(at, ProblemKind::SourcePath { source: document, error });
                    return None;
                }
            }
        } else {
            if !path.is_root() && !source.is_null() {
                let path = path.text().to_owned();
                self.problem(at, ProblemKind::IgnoredSourcePath { source: document, path });
            }
            Some(Cow::Borrowed(source))
        };
        if let Some(value) = found.as_ref().filter(|value| !value.is_null()) {
            return Some(value.clone().into_owned());
        }
        let kind = ProblemKind::MissingValue {
            source: document,
            path: path.text().to_owned(),
            null: found.as_ref().map(|null| null.span),
            near: if found.is_none() { path.near_miss(source) } else { None },
        };
        self.problem(at, kind);
        self.writes_null().then(|| Node::made(Value::Null, at))
    }

    /// Deckhand's code writes null for a missing value when told not to fail
    /// (12.3).
    fn writes_null(&self) -> bool {
        self.graph.semantics == Semantics::Deckhand
            && self.graph.missing_source == MissingSource::Warning
    }

    /// The part of a source text that its pattern selects.
    fn extracted(&mut self, extract: &Extract, value: Node) -> Option<Node> {
        let at = extract.pattern.span;
        let Value::String(text) = &value.value else {
            let (span, found) = (value.span, value.value.kind());
            self.problem(at, ProblemKind::SourceNotText { value: span, found });
            return None;
        };
        let charged = self.allowance.search(cost(&value));
        let effort = &mut self.allowance.effort;
        let pattern = &extract.pattern.value;
        let captures = match charged.and_then(|()| pattern.search_within(text, effort)) {
            Ok(Some(captures)) => captures,
            Ok(None) => {
                self.problem(at, ProblemKind::UnmatchedSourcePattern { value: value.span });
                return Some(value);
            }
            Err(failure) => {
                self.problem(at, ProblemKind::PatternFailure(failure));
                return None;
            }
        };
        let group = usize::try_from(extract.group.value).ok().and_then(|at| captures.group(at));
        let Some(group) = group else {
            let group = extract.group.value;
            self.problem(extract.group.span, ProblemKind::MissingGroup { group });
            return None;
        };
        let selected = match group {
            Some(part) => Value::String(part.into()),
            None => Value::Null,
        };
        Some(Node { value: selected, origin: Origin::Derived, ..value })
    }

    /// Writes a whole value.
    fn put(&mut self, destination: &Destination, value: &Node) {
        let (path, at) = (&destination.path.value, destination.path.span);
        if path.is_root() {
            return self.put_at_root(value, at);
        }
        if pops(path, value) {
            self.problem(at, ProblemKind::DifferentListWrite);
        }
        if let Err(error) = self.pad(path) {
            return self.problem(at, ProblemKind::DestinationPath(error));
        }
        match path.write(&mut self.data, value, self.graph.semantics.list_write(), at) {
            Ok(written) => {
                let put = Put { created: written.created, is_collection: value.is_collection() };
                self.wrote_into(written.locations, WriteKind::Whole, at, put);
            }
            Err(error) => self.problem(at, ProblemKind::DestinationPath(error)),
        }
    }

    /// At the root a mapping goes into the mapping that is there, key by key;
    /// anything else takes its place, unless it is empty.
    fn put_at_root(&mut self, value: &Node, at: Span) {
        if self.data.as_mapping().is_some() && value.as_mapping().is_some() {
            self.data = laid_flat(&self.data, value);
        } else if value.value.is_falsy() {
            return self.problem(at, ProblemKind::EmptyRoot);
        } else {
            self.data = value.clone();
        }
        let put = Put { created: None, is_collection: value.is_collection() };
        self.wrote_into(vec![Arc::default()], WriteKind::Whole, at, put);
    }

    /// Replaces part of the text, or of the texts, at the destination.
    fn put_by_pattern(&mut self, destination: &Destination, part: &Part, value: &Node) {
        let (path, at) = (&destination.path.value, destination.path.span);
        let target = match path.first(&self.data) {
            Ok(found) => found.map(|found| {
                // A pair of `!!pairs` reads as a list, but is not one to write to.
                let is_node = matches!(found.node, Cow::Borrowed(_));
                (found.node.into_owned(), found.location, is_node)
            }),
            Err(error) => return self.problem(at, ProblemKind::DestinationPath(error)),
        };
        let Some((target, location, is_node)) = target else {
            return self.missing_target(destination, part);
        };
        if !part.pattern.value.is_usable() {
            return;
        }
        // Both may be far larger written out than they are in memory.
        if let Err(failure) = self.allowance.search(cost(value).saturating_add(cost(&target))) {
            return self.problem(part.pattern.span, ProblemKind::PatternFailure(failure));
        }
        let put = self.put_in(value, part);
        let replaced = match (&target.value, part.depth) {
            (Value::String(text), _) => {
                // The text of the first place is written to all of them, as it is if nothing
                // in it matches; there is nothing to write where it is the only place.
                let is_only_place = is_node && path.segments().is_some();
                match self.replaced_text(part, &put, &target, text) {
                    Some((_, 0)) if is_only_place => None,
                    replaced => replaced.map(|(node, _)| node),
                }
            }
            (Value::Mapping(_) | Value::Sequence(_), Some(depth)) if is_node => {
                let texts = self.replaced_below(part, &put, &target, depth);
                return self.keep_below(texts, location, at);
            }
            (found, _) => {
                let kind = ProblemKind::PatternTargetType {
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
                self.wrote(locations.into_iter().map(Arc::new).collect(), WriteKind::Part, at);
            }
            Err(error) => self.problem(at, ProblemKind::DestinationPath(error)),
        }
    }

    /// D16: nothing is at the path. Deckhand's code creates a mapping there. It
    /// leaves it where it was to look below; otherwise that is an error, after
    /// which only what was created inside a value of the data is still there
    /// (12.5).
    fn missing_target(&mut self, destination: &Destination, part: &Part) {
        let (path, at) = (&destination.path.value, destination.path.span);
        let near = path.near_miss(&self.data);
        let recurses = part.depth.is_some();
        let is_created = self.graph.semantics == Semantics::Deckhand && {
            let before = self.data.clone();
            let top = path.create(&mut self.data, at).ok().flatten();
            let is_kept = top.is_some_and(|top| recurses || top.0.len() > 1);
            if !is_kept {
                self.data = before;
            }
            is_kept
        };
        let path = path.text().to_owned();
        let kind = ProblemKind::MissingPatternTarget { path, near, recurses, is_created };
        self.problem(at, kind);
    }

    /// What the pattern's occurrences become.
    fn put_in(&mut self, value: &Node, part: &Part) -> PutIn {
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
            let kind = ProblemKind::DifferentPatternText { value: value.span, texts };
            self.problem(part.pattern.span, kind);
        }
        if changes_as_template(&deckhand) {
            let refused = refuses_template(&part.pattern.value, &deckhand);
            let kind = ProblemKind::BackslashInPatternValue { value: value.span, refused };
            self.problem(part.pattern.span, kind);
        }
        let text = match self.graph.semantics {
            Semantics::Documented => documented,
            Semantics::Deckhand => deckhand,
        };
        let as_template = self.graph.semantics == Semantics::Deckhand;
        PutIn { text, secret, as_template, span: value.span }
    }

    /// The text at the destination with the pattern replaced, and how often; none where it
    /// could not be, which has been said then.
    fn replaced_text(
        &mut self,
        part: &Part,
        put: &PutIn,
        target: &Node,
        text: &str,
    ) -> Option<(Node, usize)> {
        match self.replaced_within(part, put, text) {
            Ok((_, 0)) => {
                let kind = ProblemKind::UnmatchedPattern { target: target.span };
                self.problem(part.pattern.span, kind);
                Some((Node { span: target.span.with_part(put.span), ..target.clone() }, 0))
            }
            Ok((replaced, count)) => Some((put.node(target, replaced), count)),
            Err(failure) => {
                self.problem(part.pattern.span, ProblemKind::PatternFailure(failure));
                None
            }
        }
    }

    /// The texts below the destination with the pattern replaced (12.4).
    fn replaced_below(
        &mut self,
        part: &Part,
        put: &PutIn,
        target: &Node,
        depth: i64,
    ) -> Vec<(Location, Node)> {
        let mut texts = Vec::new();
        collect_texts(target, depth, 0, &mut Location::root(), &mut texts);
        let pattern = &part.pattern.value;
        let mut replaced = Vec::new();
        let mut differing = None;
        for (location, node) in texts {
            let text = node.as_str().expect("only texts are collected");
            let literally = text.contains(pattern.text());
            let outcome = match self.replaced_within(part, put, text) {
                Ok(outcome) => outcome,
                Err(failure) => {
                    self.problem(part.pattern.span, ProblemKind::PatternFailure(failure));
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
            self.problem(part.pattern.span, ProblemKind::DifferentRecursion { text });
        } else if replaced.is_empty() {
            let kind = ProblemKind::UnmatchedPattern { target: target.span };
            self.problem(part.pattern.span, kind);
        }
        replaced
    }

    /// A text with the pattern replaced, if the document may have one so long.
    fn replaced_within(
        &mut self,
        part: &Part,
        put: &PutIn,
        text: &str,
    ) -> Result<(String, usize), PatternFailure> {
        let replaced = put.replace(&part.pattern.value, text, &mut self.allowance.effort)?;
        self.allowance.make(replaced.0.len() as u64)?;
        Ok(replaced)
    }

    fn keep_below(&mut self, texts: Vec<(Location, Node)>, base: Location, at: Span) {
        let mut locations = Vec::new();
        for (below, node) in texts {
            let location = base.joined(&below);
            *location.get_mut(&mut self.data).expect("the text was found there") = node;
            locations.push(Arc::new(location));
        }
        self.wrote(locations, WriteKind::Part, at);
    }
}

/// What a pattern's occurrences become.
struct PutIn {
    text: String,
    secret: bool,
    as_template: bool,
    /// Where it is from.
    span: Span,
}

impl PutIn {
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

    /// The destination's text after the replacement: still where it was
    /// written, and secret where the value is.
    fn node(&self, target: &Node, replaced: String) -> Node {
        Node {
            value: Value::String(replaced.into()),
            origin: Origin::Derived,
            secret: target.secret || self.secret,
            span: target.span.with_part(self.span),
        }
    }
}

/// Whether Python's `re` reads anything but the text itself from it: a
/// backslash before what is no letter, digit or backslash stays as it is.
fn changes_as_template(text: &str) -> bool {
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\\'
            && characters.next().is_none_or(|next| next == '\\' || next.is_ascii_alphanumeric())
        {
            return true;
        }
    }
    false
}

/// YAML's text of a value, secrets in it included: it goes on as a secret.
fn yaml_text(value: &Node) -> String {
    match &value.value {
        Value::Sequence(_) | Value::Mapping(_) | Value::Set(_) | Value::Pairs(_) => {
            let options = emit::EmitOptions { show_secrets: true, origin: None };
            emit::to_yaml(value, &options).trim_end().to_owned()
        }
        scalar => emit::scalar_text(scalar),
    }
}

/// Whether Python's `re.sub` refuses a text as a template for this pattern; it
/// does so whatever it is applied to.
fn refuses_template(pattern: &Pattern, text: &str) -> bool {
    let tried = pattern.replace_all("", Replacement::Template(text));
    matches!(tried, Err(PatternFailure::Template(_)))
}

/// The texts of a mapping or list and, while `level` has not reached `depth`,
/// of those inside it.
fn collect_texts(
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
            _ => collect_texts(child, depth, level + 1, here, texts),
        }
        here.0.pop();
    }
}
