//! `schema-violation`: a rendered value that violates the schema of its document.

use super::SiteFacts;
use super::did_you_mean::word_edit;
use crate::diagnostic::Diagnostic;
use crate::graph::{DocId, Op};
use crate::render::replay::{Hop, Replay, Via};
use crate::schema::{Alternative, Bound, Violation, Wrong};
use crate::source::Span;
use crate::stopwatch::{Stage, add_count, time};
use crate::system::deckhand::schema::{self, Refusal, refused};
use crate::yaml::path::{Location, Piece};
use crate::yaml::{Mapping, Node, Value};

super::rule!(
    "schema-violation",
    Error[Refused, UnsafelyFixable],
    "rendered value that violates the schema of its document";
    Site(check)
);

pub(super) fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let replay = Replay::new(facts.graph, facts.rendered);
    let refused = time(Stage::Validate, || {
        let sharers = facts.graph.sharers;
        let data = |doc| facts.rendered.data(doc);
        refused(facts.site, facts.schemas, sharers, data)
    });
    add_count(Stage::Validate, || 1);
    // Faults of a LayeringPolicy are reported where it is read.
    let mut reported = refused
        .iter()
        .filter(|it| facts.document(it.doc).layer_order.is_none());
    let mut room = max_violations(facts);
    while let Some(of_document) = reported.next().filter(|_| room > 0) {
        let Refusal { violations, count } = &*of_document.refusal;
        let listed = violations.len().min(room);
        room -= listed;
        let first = violations[..listed].iter();
        found.extend(first.map(|violation| report(facts, &replay, of_document, violation)));
        let more = count - listed;
        let others = if room > 0 {
            0
        } else {
            reported.clone().count()
        };
        if let Some(mut last) = found.pop_if(|_| more > 0 || others > 0) {
            if more > 0 {
                last = last.note(format!("the document has {more} more violations"));
            }
            if others > 0 {
                last = last.note(format!(
                    "{others} more documents of the site violate their schemas"
                ));
            }
            found.push(last);
        }
    }
}

/// Maximum number of violations reported in one site.
pub const MAX_VIOLATIONS: usize = 20_000;

/// Maximum number reported in each site when several sites share the limit.
fn max_violations(facts: &SiteFacts<'_>) -> usize {
    const MIN_SITES: usize = 5;
    (MAX_VIOLATIONS * MIN_SITES / facts.graph.sharers.max(1)).clamp(20, MAX_VIOLATIONS)
}

fn report(
    facts: &SiteFacts<'_>,
    replay: &Replay<'_>,
    by_schema: &schema::Refused,
    violation: &Violation,
) -> Diagnostic {
    let document = facts.document(by_schema.doc);
    let data = facts
        .rendered
        .data(by_schema.doc)
        .expect("only rendered documents are validated");
    let refused = RefusedValue {
        facts,
        data,
        violation,
    };
    let hop = replay.trace(by_schema.doc, refused.place());
    let name = facts.name(owner(&hop));
    let message = format!(
        "`{name}`: {} {}",
        refused.subject_in_words(),
        refused.headline()
    );
    let mut finding = RULE.finding(message, refused.span(&hop), refused.label());
    if refused.reveals_secret() {
        finding = finding.note("details are not shown, because they would reveal the secret");
    } else if by_schema.by.is_some() {
        finding = finding.related(violation.keyword, "required by this schema keyword");
    }
    for (span, how) in route(facts, &hop) {
        finding = finding.related(span, how);
    }
    for detail in refused.details() {
        finding = finding.note(detail);
    }
    let finding = finding
        .note(
            "Deckhand refuses the whole site when it is deployed; Pegleg does not validate schemas",
        )
        .about(refused.subject())
        .document(&document.key);
    let Some((written, near)) = refused.near() else {
        return finding;
    };
    let at = finding.primary.span;
    // Other documents may use a value that is written elsewhere.
    let edit = written
        .filter(|_| document.span.contains(at))
        .and_then(|it| word_edit(facts.sources, at, it, near));
    finding.did_you_mean(near, edit)
}

/// One violation, and the data that contains it.
struct RefusedValue<'a> {
    facts: &'a SiteFacts<'a>,
    data: &'a Node,
    violation: &'a Violation,
}

impl RefusedValue<'_> {
    fn node(&self) -> &Node {
        self.violation.location.get(self.data).unwrap_or(self.data)
    }

    /// Place to trace: without the keys inside a secret.
    fn place(&self) -> &Location {
        if self.node().secret {
            &self.violation.location
        } else {
            self.violation.place()
        }
    }

    /// Span where the wrong value was written.
    fn span(&self, hop: &Hop) -> Span {
        let node = self.place().get(self.data).unwrap_or(self.data);
        let is_whole = matches!(node.value, Value::Mapping(_) | Value::Sequence(_));
        if !self.place().is_root() {
            let span = if node.secret {
                node.span
            } else {
                self.violation.span(self.data)
            };
            return self.facts.first_line(span);
        }
        let writer = self.facts.document(hop.origin().doc);
        match writer.data_key {
            Some(key) if is_whole => key,
            Some(_) => self.facts.first_line(node.span),
            None => writer.name_span,
        }
    }

    /// Place that identifies the finding.
    fn subject(&self) -> String {
        let place = match &self.violation.wrong {
            Wrong::MissingKey { key, .. } => {
                let key = crate::yaml::Key::string(key.as_str(), self.data.span);
                &self.violation.location.join(Piece::Key(key))
            }
            _ => self.place(),
        };
        self.shown(place)
    }

    /// Formats a place; inside a secret, the place of the secret.
    fn shown(&self, place: &Location) -> String {
        let mut place = place.clone();
        loop {
            if let Some(shown) = self.facts.shown_place(self.data, &place) {
                return shown;
            }
            place = place.parent().expect("the root has no parent");
        }
    }

    fn subject_in_words(&self) -> String {
        if self.violation.location.is_root() {
            return "the data".to_owned();
        }
        match &*self.shown(&self.violation.location) {
            "." => "something in the data".to_owned(),
            place => format!("`{place}`"),
        }
    }

    /// Whether the violation reveals the value or length of a secret.
    fn reveals_secret(&self) -> bool {
        let is_of_value = match &self.violation.wrong {
            Wrong::NotOneOf { .. }
            | Wrong::Unmatched { .. }
            | Wrong::TooManySteps { .. }
            | Wrong::Beyond { .. }
            | Wrong::NoMultiple { .. }
            | Wrong::RepeatedItem
            | Wrong::MoreItems { .. }
            | Wrong::NoAlternative { .. }
            | Wrong::SeveralAlternatives { .. }
            | Wrong::Excluded => true,
            Wrong::Type { .. }
            | Wrong::MissingKey { .. }
            | Wrong::UnknownKey { .. }
            | Wrong::KeyNoText
            | Wrong::DeadReference
            | Wrong::Unfinished
            | Wrong::Other => false,
        };
        is_of_value && self.node().secret
    }

    /// Description of the violation, to follow the place.
    fn headline(&self) -> String {
        if self.reveals_secret() {
            return "is a secret that violates the schema".into();
        }
        match &self.violation.wrong {
            Wrong::Type { expected, found } => self.type_in_words(expected, found),
            Wrong::MissingKey { key, .. } => format!("lacks `{key}`"),
            Wrong::UnknownKey { key: Some(key), .. } => format!("has the unknown key `{key}`"),
            Wrong::UnknownKey { key: None, .. } => "has an unknown key".into(),
            Wrong::KeyNoText => "has a key that is not a string".into(),
            Wrong::DeadReference => "has a schema whose `$ref` cannot be resolved".into(),
            Wrong::NotOneOf { options, count, .. } => match &self.violation.found {
                Some(found) => format!("is `{found}`; allowed {}", listed(options, *count)),
                None => format!("is not allowed; allowed {}", listed(options, *count)),
            },
            Wrong::Unmatched { pattern } => match &self.violation.found {
                Some(found) => format!("is `{found}`, which does not match `{pattern}`"),
                None => format!("does not match `{pattern}`"),
            },
            Wrong::TooManySteps { pattern } => {
                format!("cannot be matched with `{pattern}` in reasonable time")
            }
            Wrong::Beyond { bound, limit } => self.beyond(*bound, limit),
            Wrong::NoMultiple { of } => match &self.violation.found {
                Some(found) => format!("is {found}, which is not a multiple of {of}"),
                None => format!("is not a multiple of {of}"),
            },
            Wrong::RepeatedItem => "has a duplicate item".into(),
            Wrong::MoreItems { most } => self.beyond(Bound::MaxItems, &most.to_string()),
            Wrong::NoAlternative { alternatives, .. } => {
                format!("matches none of the {alternatives} alternatives of its schema")
            }
            Wrong::SeveralAlternatives { .. } => {
                "matches several alternatives of its schema, but must match only one".into()
            }
            Wrong::Excluded => "matches a schema under `not`".into(),
            Wrong::Unfinished => "is too large to be validated".into(),
            Wrong::Other => "violates the schema".into(),
        }
    }

    /// The actual value and the limit.
    fn beyond(&self, bound: Bound, limit: &str) -> String {
        let many = |count: usize, what: &str| match count {
            1 => format!("has 1 {what}"),
            count => format!("has {count} {what}s"),
        };
        let node = self.node();
        let found = match bound {
            Bound::Minimum | Bound::ExclusiveMinimum | Bound::Maximum | Bound::ExclusiveMaximum => {
                format!(
                    "is {}",
                    self.violation.found.as_deref().unwrap_or("a number")
                )
            }
            Bound::MinLength | Bound::MaxLength => many(
                node.as_str().map_or(0, |text| text.chars().count()),
                "character",
            ),
            Bound::MinItems | Bound::MaxItems => {
                many(node.as_sequence().map_or(0, <[Node]>::len), "item")
            }
            Bound::MinProperties | Bound::MaxProperties => {
                many(node.as_mapping().map_or(0, Mapping::len), "key")
            }
        };
        let allowed = match bound {
            Bound::Minimum | Bound::MinLength | Bound::MinItems | Bound::MinProperties => {
                "at least"
            }
            Bound::Maximum | Bound::MaxLength | Bound::MaxItems | Bound::MaxProperties => "at most",
            Bound::ExclusiveMinimum => "more than",
            Bound::ExclusiveMaximum => "less than",
        };
        format!("{found}, {allowed} {limit} allowed")
    }

    fn type_in_words(&self, expected: &[&'static str], found: &str) -> String {
        let expected: Vec<&str> = expected.iter().map(|name| in_words(name)).collect();
        let expected = expected.join(" or ");
        if self.node().secret {
            return format!("is not {expected}");
        }
        format!("is {found}, not {expected}")
    }

    /// Label of the primary location.
    fn label(&self) -> String {
        if self.reveals_secret() {
            return "violates the schema".into();
        }
        match (&self.violation.wrong, &self.violation.found) {
            (Wrong::MissingKey { .. }, _) => "missing here".into(),
            (Wrong::UnknownKey { .. }, _) => "not a key of the schema".into(),
            (_, Some(found)) => format!("this is `{found}`"),
            (_, None) => "violates the schema".into(),
        }
    }

    /// Notes on the violations of the closest alternatives, or on the alternatives that match.
    fn details(&self) -> Vec<String> {
        if self.reveals_secret() {
            return Vec::new();
        }
        match &self.violation.wrong {
            Wrong::NoAlternative {
                alternatives,
                tied,
                nearest,
            } => match nearest.as_slice() {
                [one] => self.refusals(one, "the closest alternative"),
                several => self.tied(tied, several, *alternatives),
            },
            Wrong::SeveralAlternatives { fitting, keys } => {
                let which = format!("alternatives {} match", numbers(fitting));
                let deciding = (!keys.is_empty()).then(|| decided_by(keys));
                std::iter::once(which).chain(deciding).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Violations of one alternative.
    fn refusals(&self, alternative: &Alternative, name: &str) -> Vec<String> {
        let more = alternative.more;
        let refused = self.refused_by(alternative).map(|refused| {
            let what = refused.subject_in_words();
            let wrong = refused.headline();
            format!("for {name}, {what} {wrong}")
        });
        let more = (more > 0).then(|| format!("{more} more violations of that alternative"));
        refused.chain(more).collect()
    }

    /// Violations of the first of several equally close alternatives.
    fn tied(&self, tied: &[usize], first: &[Alternative], alternatives: usize) -> Vec<String> {
        let mut details = vec![format!(
            "alternatives {} of {alternatives} are equally close",
            numbers(tied)
        )];
        let mut keys = Vec::new();
        for alternative in first {
            let name = format!("alternative {}", alternative.number);
            details.extend(self.refusals(alternative, &name));
            keys.extend(
                self.refused_by(alternative)
                    .map(|refused| refused.subject()),
            );
        }
        keys.retain(|key| key != ".");
        keys.sort();
        keys.dedup();
        details.extend((!keys.is_empty()).then(|| decided_by(&keys)));
        details
    }

    fn refused_by<'s>(
        &'s self,
        alternative: &'s Alternative,
    ) -> impl Iterator<Item = RefusedValue<'s>> {
        alternative
            .violations
            .iter()
            .map(|violation| RefusedValue { violation, ..*self })
    }

    /// Similar word, and the word at the primary location that it should replace.
    fn near(&self) -> Option<(Option<&str>, &str)> {
        if self.reveals_secret() {
            return None;
        }
        match &self.violation.wrong {
            Wrong::MissingKey {
                near: Some(near), ..
            } => Some((None, near)),
            Wrong::UnknownKey {
                near: Some(near),
                key,
                ..
            } => Some((key.as_deref(), near)),
            Wrong::NotOneOf {
                near: Some(near), ..
            } => Some((self.node().as_str(), near)),
            _ => None,
        }
    }
}

/// The document that has the value at its path: an ancestor if the value is inherited unchanged.
fn owner(mut hop: &Hop) -> DocId {
    while matches!(
        hop.via,
        Via::Inherited | Via::Replaced | Via::Layered { .. }
    ) && let Some(from) = hop.from.first()
    {
        hop = from;
    }
    hop.doc
}

/// Formats the numbers of alternatives.
fn numbers(numbers: &[usize]) -> String {
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    match numbers.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}

fn decided_by(keys: &[String]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    format!("keys that distinguish them: {}", keys.join(", "))
}

/// Name of a JSON Schema type for messages.
fn in_words(name: &str) -> &str {
    match name {
        "array" => "a list",
        "boolean" => "a boolean",
        "integer" => "an integer",
        "number" => "a number",
        "object" => "a mapping",
        "string" => "a string",
        other => other,
    }
}

/// Formats the first of `count` names.
fn listed(names: &[String], count: usize) -> String {
    let shown: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let more = count.saturating_sub(names.len());
    let more = if more == 0 {
        String::new()
    } else {
        format!(" and {more} more")
    };
    format!(
        "{} {}{more}",
        if count == 1 { "is" } else { "are" },
        shown.join(", ")
    )
}

/// Hops of the value into the document, last to first.
pub(super) fn route(facts: &SiteFacts<'_>, hop: &Hop) -> Vec<(Span, String)> {
    let mut route = Vec::new();
    let mut next = Some(hop);
    while let Some(hop) = next {
        let name = facts.name(hop.doc);
        match hop.via {
            Via::Inherited | Via::Replaced => {
                route.extend(
                    selector(facts, hop.doc).map(|at| (at, format!("`{name}` inherits it"))),
                );
            }
            Via::Substituted | Via::Pattern => {
                let at = destination(facts, hop);
                route.extend(at.map(|at| (at, format!("substituted into `{name}` here"))));
            }
            Via::Merged => {
                let at = hop.at.first().map(|at| facts.first_line(*at));
                route.extend(at.map(|at| (at, format!("merged into `{name}` by this"))));
            }
            Via::Literal
            | Via::Made
            | Via::Layered { .. }
            | Via::Deleted
            | Via::Absent
            | Via::Blocked
            | Via::Unfollowed => {}
        }
        next = hop.from.first();
    }
    route
}

/// Span of the selector with which a document inherits.
fn selector(facts: &SiteFacts<'_>, doc: DocId) -> Option<Span> {
    let base = facts.graph.recipe(doc).base;
    base.map(|link| facts.first_line(link.selector))
}

/// Span of the destination of the substitution that wrote a value.
fn destination(facts: &SiteFacts<'_>, hop: &Hop) -> Option<Span> {
    let step = facts.graph.recipe(hop.doc).steps.get(hop.step?)?;
    let Op::Substitute(substitution) = &step.op else {
        return None;
    };
    let mut destinations = substitution.writing.to.iter().map(|to| to.path.span);
    destinations
        .find(|span| hop.at.contains(span))
        .or(Some(step.at))
}
