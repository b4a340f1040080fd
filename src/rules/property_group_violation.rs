//! `property-group-violation`: rendered data that violates a property group. `unsupported-property`
//! shares its code.

use std::collections::HashSet;

use super::invalid_property_group::short;
use super::schema_violation::route;
use super::{SiteFacts, unsupported_property};
use crate::diagnostic::{Diagnostic, Rule};
use crate::graph::DocId;
use crate::render::replay::{Hop, Replay};
use crate::source::Span;
use crate::system::deckhand::schema::{Breached, breaches};
use crate::system::heat::{Breach, GroupViolation, ShownOperand};
use crate::yaml::path::{Location, Piece};
use crate::yaml::{Node, Value};

super::rule!(
    "property-group-violation", Error, "rendered data that violates a property group";
    Site(check, RULES)
);

/// Rules about data and its groups.
pub(super) const RULES: &[&Rule] = &[&RULE, &unsupported_property::RULE];

fn check(facts: &SiteFacts<'_>, found: &mut Vec<Diagnostic>) {
    let sources = facts.sources;
    let versions = &facts.settings.versions;
    let data = |doc| facts.rendered.data(doc);
    let breached = breaches(
        facts.site,
        facts.graph,
        facts.schemas,
        sources,
        versions,
        data,
    );
    if breached.is_empty() {
        return;
    }
    let replay = Replay::new(facts.graph, facts.rendered);
    let mut seen = HashSet::new();
    let refused = breached
        .iter()
        .map(|breached| ReportedBreach::new(facts, breached));
    // The number of violations of a secret could reveal its length: report one.
    let reported: Vec<ReportedBreach<'_>> = refused
        .filter(|it| !it.is_hidden() || seen.insert(it.identity()))
        .collect();
    for of_document in reported.chunk_by(|one, other| one.breached.doc == other.breached.doc) {
        let first = of_document.iter().take(MAX_FINDINGS);
        found.extend(first.map(|refused| report(refused, &replay)));
        if let Some(more) = of_document
            .len()
            .checked_sub(MAX_FINDINGS)
            .filter(|more| *more > 0)
            && let Some(last) = found.pop()
        {
            found.push(last.note(format!("the document has {more} more such findings")));
        }
    }
}

/// Maximum number of findings in one document.
const MAX_FINDINGS: usize = 200;

fn report(refused: &ReportedBreach<'_>, replay: &Replay<'_>) -> Diagnostic {
    let ReportedBreach {
        facts, breached, ..
    } = *refused;
    let key = &facts.graph.recipe(breached.doc).key;
    let place = refused.place();
    let hop = replay.trace(breached.doc, &place);
    let message = refused.headline(&key.schema);
    let mut finding = refused
        .rule()
        .finding(message, refused.span(&place, &hop), refused.label());
    for (place, label) in refused.others() {
        let hop = replay.trace(breached.doc, &place);
        finding = finding.related(refused.span(&place, &hop), label);
    }
    finding = refused.with_group(finding);
    for (span, how) in route(facts, &hop) {
        finding = finding.related(span, how);
    }
    let finding = finding.about(refused.subject()).document(key);
    match refused.help() {
        Some(help) => finding.help(help),
        None => finding,
    }
}

/// One finding, and the data that contains it.
#[derive(Clone, Copy)]
struct ReportedBreach<'a> {
    facts: &'a SiteFacts<'a>,
    data: &'a Node,
    breached: &'a Breached,
    finding: &'a GroupViolation,
}

impl<'a> ReportedBreach<'a> {
    fn new(facts: &'a SiteFacts<'a>, breached: &'a Breached) -> Self {
        let data = facts
            .rendered
            .data(breached.doc)
            .expect("only rendered documents are checked");
        Self {
            facts,
            data,
            breached,
            finding: &breached.finding,
        }
    }

    /// Key that identifies repeated findings.
    fn identity(&self) -> (DocId, Span, &'static str, Location) {
        (
            self.breached.doc,
            self.finding.span,
            self.rule().name,
            self.mapping(),
        )
    }

    fn rule(&self) -> &'static Rule {
        match self.finding.breach {
            Breach::UnsupportedVersion { .. } => &unsupported_property::RULE,
            Breach::And
            | Breach::Or
            | Breach::XorNone
            | Breach::XorMany
            | Breach::AtMostOne
            | Breach::DependsOn
            | Breach::Unfinished => &RULE,
        }
    }

    /// Whether the existing keys or the group's content are secret.
    fn is_hidden(&self) -> bool {
        self.finding.reveals_secret || self.breached.is_secret
    }

    /// The first present value that violates the group, or else the mapping.
    fn place(&self) -> Location {
        let given = match self.finding.breach {
            Breach::XorMany
            | Breach::AtMostOne
            | Breach::DependsOn
            | Breach::UnsupportedVersion { .. } => self
                .finding
                .operands
                .first()
                .and_then(|operand| operand.places.first()),
            Breach::And | Breach::Or | Breach::XorNone | Breach::Unfinished => None,
        };
        let given = given.filter(|_| !self.is_hidden());
        given.cloned().unwrap_or_else(|| self.mapping())
    }

    /// The mapping, or the secret that contains it.
    fn mapping(&self) -> Location {
        let mut place = self.finding.at.clone();
        while self.facts.shown_place(self.data, &place).is_none() {
            place = place.parent().expect("the root has no parent");
        }
        place
    }

    /// Span where the value at a place was written: the scalar, or the key of a collection.
    fn span(&self, place: &Location, hop: &Hop) -> Span {
        let node = place.get(self.data).unwrap_or(self.data);
        let is_container = matches!(node.value, Value::Mapping(_) | Value::Sequence(_));
        if place.is_root() {
            let origin = hop.origin().doc;
            if self.facts.sets.member(origin).is_some() {
                return self.facts.first_line(node.span);
            }
            let writer = self.facts.document(origin);
            return writer.data_key.unwrap_or(writer.name_span);
        }
        let key = if is_container && !node.secret {
            key_span(self.data, place)
        } else {
            None
        };
        self.facts.first_line(key.unwrap_or(node.span))
    }

    /// The other present values that violate the group.
    fn others(&self) -> Vec<(Location, String)> {
        let are_given = matches!(
            self.finding.breach,
            Breach::XorMany | Breach::AtMostOne | Breach::UnsupportedVersion { .. }
        );
        if !are_given || self.is_hidden() {
            return Vec::new();
        }
        let first = self.place();
        let operands = self.finding.operands.iter();
        let places = operands.flat_map(|operand| {
            let label = format!("`{}` is given here", short(&operand.text));
            operand
                .places
                .iter()
                .map(move |place| (place.clone(), label.clone()))
        });
        places
            .filter(|(place, _)| *place != first)
            .take(MAX_FURTHER_PLACES)
            .collect()
    }

    fn with_group(&self, finding: Diagnostic) -> Diagnostic {
        if self.is_hidden() {
            return finding.note(
                "existing and missing keys are not shown, because that would reveal the secret",
            );
        }
        let finding = finding.related(self.finding.span, "required by this group");
        match &self.finding.breach {
            Breach::UnsupportedVersion { supported, .. } => {
                let group = short(&self.finding.group);
                finding.note(format!(
                    "the properties of group `{group}` are supported {supported} only"
                ))
            }
            Breach::And
            | Breach::Or
            | Breach::XorNone
            | Breach::XorMany
            | Breach::AtMostOne
            | Breach::DependsOn
            | Breach::Unfinished => finding,
        }
    }

    /// Place and group, which identify the finding.
    fn subject(&self) -> String {
        if self.breached.is_secret {
            return self.mapping().to_string();
        }
        format!("{} {}", self.mapping(), self.finding.group)
    }

    fn subject_in_words(&self) -> String {
        if self.finding.at.is_root() {
            return "the data".to_owned();
        }
        match self.mapping() {
            place if place.is_root() => "something in the data".to_owned(),
            place => format!("`{place}`"),
        }
    }

    fn headline(&self, schema: &str) -> String {
        let subject = format!("{} of `{schema}`", self.subject_in_words());
        let group = short(&self.finding.group);
        if self.breached.is_secret {
            return format!("{subject} violates a property group of a secret schema");
        }
        if self.finding.reveals_secret {
            let is_one = self
                .mapping()
                .get(self.data)
                .is_some_and(|node| node.secret);
            let how = if is_one { "is" } else { "holds" };
            return format!("{subject} {how} a secret that violates property group `{group}`");
        }
        let all = listed(&self.finding.operands);
        match &self.finding.breach {
            Breach::And => format!("{subject} lacks {all}, required by property group `{group}`"),
            Breach::Or => {
                format!("{subject} has none of {all}, but property group `{group}` requires one")
            }
            Breach::XorNone => format!(
                "{subject} has none of {all}, but property group `{group}` requires exactly one"
            ),
            Breach::XorMany => {
                format!("{subject} has {all}, but property group `{group}` allows only one")
            }
            Breach::AtMostOne => {
                format!("{subject} has {all}, but property group `{group}` allows at most one")
            }
            Breach::DependsOn => {
                let (first, others) = self.first_and_others();
                format!(
                    "{subject} has {first} without {others}, required by property group `{group}`"
                )
            }
            Breach::UnsupportedVersion {
                present, plugin, ..
            } => {
                let of = plugin
                    .as_ref()
                    .map(|plugin| format!(" of `{plugin}`"))
                    .unwrap_or_default();
                format!("{subject} has {all}, which version {present}{of} does not support")
            }
            Breach::Unfinished => {
                format!("{subject} is too large to be checked against its property groups")
            }
        }
    }

    fn first_and_others(&self) -> (String, String) {
        let (first, others) = self
            .finding
            .operands
            .split_at(1.min(self.finding.operands.len()));
        (listed(first), listed(others))
    }

    /// Label of the primary location.
    fn label(&self) -> String {
        if self.is_hidden() {
            return "violates the group".to_owned();
        }
        let first = self
            .finding
            .operands
            .first()
            .filter(|first| !first.places.is_empty());
        let given = first.map(|first| format!("`{}` is given here", short(&first.text)));
        let label = match self.finding.breach {
            Breach::XorMany
            | Breach::AtMostOne
            | Breach::DependsOn
            | Breach::UnsupportedVersion { .. } => given,
            Breach::And | Breach::Or | Breach::XorNone => Some("missing here".to_owned()),
            Breach::Unfinished => None,
        };
        label.unwrap_or_else(|| "violates the group".to_owned())
    }

    fn help(&self) -> Option<String> {
        if self.is_hidden() {
            return None;
        }
        match &self.finding.breach {
            Breach::Or | Breach::XorNone => Some("add one of them".to_owned()),
            Breach::XorMany | Breach::AtMostOne => Some("keep one of them".to_owned()),
            Breach::DependsOn => {
                let (first, others) = self.first_and_others();
                Some(format!("add {others}, or remove {first}"))
            }
            Breach::UnsupportedVersion {
                later_than: Some(last),
                ..
            } => Some(format!(
                "a list supports exactly its versions: write `client_plugin_supported_since: \
                 {last}` in the group for {last} and later; or remove the property"
            )),
            Breach::UnsupportedVersion {
                later_than: None, ..
            } => Some("remove it, or correct the version in use in `layercake.yaml`".to_owned()),
            Breach::And | Breach::Unfinished => None,
        }
    }
}

/// Maximum number of further values labelled in one finding.
const MAX_FURTHER_PLACES: usize = 8;

/// Span of the key that leads to a place.
fn key_span(root: &Node, place: &Location) -> Option<Span> {
    let Piece::Key(key) = place.0.last()? else {
        return None;
    };
    let (key, _) = place.parent()?.get(root)?.as_mapping()?.get_entry(key)?;
    Some(key.span)
}

/// Formats the operands, at most `MAX_OPERANDS` of them.
fn listed(operands: &[ShownOperand]) -> String {
    const MAX_OPERANDS: usize = 8;
    let shown: Vec<String> = operands
        .iter()
        .take(MAX_OPERANDS)
        .map(|operand| format!("`{}`", short(&operand.text)))
        .collect();
    let more = operands.len().saturating_sub(MAX_OPERANDS);
    if more == 0 {
        shown.join(", ")
    } else {
        format!("{} and {more} more", shown.join(", "))
    }
}
