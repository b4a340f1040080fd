//! The notices of the engine from merging a set, passed to the rules that describe them. Each rule
//! knows which of them to report.

use std::collections::BTreeMap;

use super::{
    SetFacts, displaced_value, exploded_value, lost_keys, lost_value, null_without_delete,
    replaced_by_index, unmerged_part,
};
use crate::diagnostic::{Diagnostic, Rule};
use crate::graph::DocId;
use crate::merge;
use crate::merge::cloud_init::{Class, Dialect, Fact, Notice, Specification};
use crate::render::{Problem, ProblemKind};
use crate::rules::{SiteFacts, internal_error, over_limit};
use crate::source::Span;
use crate::system::cloud_init::part::CloudPart;
use crate::system::cloud_init::{SetMember, SourceKind};
use crate::yaml::Node;
use crate::yaml::path::{Location, Piece};

/// Maximum number of findings of one rule for one part in one set.
const MAX_FINDINGS: usize = 20;

/// The rules about how parts are laid over each other.
pub(super) const RULES: &[&Rule] = &[
    &displaced_value::RULE,
    &exploded_value::RULE,
    &internal_error::RULE,
    &lost_keys::RULE,
    &lost_value::RULE,
    &null_without_delete::RULE,
    &over_limit::RULE,
    &replaced_by_index::RULE,
    &unmerged_part::RULE,
];

pub(super) fn check(facts: &SetFacts<'_>, found: &mut Vec<Diagnostic>) {
    let mut notices: BTreeMap<(DocId, DocId), (MergedDocument<'_>, Vec<&Notice>)> = BTreeMap::new();
    for problem in facts.problems() {
        match &problem.kind {
            ProblemKind::NotLaid { source, failure } => {
                let laid = MergedDocument::new(facts, problem, *source);
                found.push(owned(&laid, unmerged_part::word(&laid, failure)));
            }
            ProblemKind::Laid { source, notice: merge::Notice::CloudInit(notice) } => {
                let of_laying = notices.entry((problem.doc, *source));
                let laid = || (MergedDocument::new(facts, problem, *source), Vec::new());
                of_laying.or_insert_with(laid).1.push(notice);
            }
            ProblemKind::OverLimit(limit) => {
                found.push(over_limit::word_merged(problem, &facts.set.name, *limit));
            }
            ProblemKind::Failed => {
                found.push(internal_error::word_document(facts.facts, problem.doc));
            }
            ProblemKind::Cycle(_)
            | ProblemKind::MissingActionPath { .. }
            | ProblemKind::ActionPath { .. }
            | ProblemKind::DifferentAction { .. }
            | ProblemKind::MissingValue { .. }
            | ProblemKind::IgnoredSourcePath { .. }
            | ProblemKind::SourcePath { .. }
            | ProblemKind::SourceNotText { .. }
            | ProblemKind::UnmatchedSourcePattern { .. }
            | ProblemKind::MissingGroup { .. }
            | ProblemKind::DestinationPath(_)
            | ProblemKind::EmptyRoot
            | ProblemKind::MissingPatternTarget { .. }
            | ProblemKind::PatternTargetType { .. }
            | ProblemKind::UnmatchedPattern { .. }
            | ProblemKind::DifferentListWrite
            | ProblemKind::DifferentRecursion { .. }
            | ProblemKind::BackslashInPatternValue { .. }
            | ProblemKind::DifferentPatternText { .. }
            | ProblemKind::PatternFailure(_) => {
                unreachable!("the documents of a set are only laid over each other")
            }
        }
    }
    let all = notices.values().flat_map(|(_, notices)| notices.iter().copied());
    let promises = lost_keys::promises(facts.set, all);
    for (laid, notices) in notices.into_values() {
        found.extend(word_notices(&laid, &notices));
        let lost = lost_keys::word(facts, &laid, &notices, &promises);
        found.extend(lost.into_iter().map(|finding| owned(&laid, finding)));
    }
}

/// One document that was laid over what there was.
pub(super) struct MergedDocument<'a> {
    /// The site.
    pub(super) facts: &'a SiteFacts<'a>,
    /// The document.
    pub(super) over: DocId,
    /// The part that it is; none for what is merged of some.
    pub(super) part: Option<&'a CloudPart>,
    /// The source that it is laid for; none where sources are combined.
    pub(super) source: Option<SourceKind>,
    /// The text that says how it is laid, or its first line.
    pub(super) at: Span,
    /// Its own merge specification; none where it has none, or has one that does not count.
    pub(super) asked: Option<Specification>,
    /// The dialect in which the set is merged.
    pub(super) dialect: Dialect,
    /// Its data.
    data: &'a Node,
    /// The result of merging it and all others into the same base.
    merged: Option<&'a Node>,
}

impl<'a> MergedDocument<'a> {
    fn new(set: &SetFacts<'a>, problem: &Problem, over: DocId) -> Self {
        let facts = set.facts;
        let member = |doc| -> Option<SetMember<'a>> { facts.sets.member(doc) };
        let part = member(over).and_then(|member| member.part);
        let source = member(problem.doc).and_then(|member| member.source);
        let data = facts.rendered.data(over).unwrap_or(&facts.graph.recipe(over).data);
        let dialect = set.set.dialect;
        let header = part.and_then(|part| part.header.as_ref());
        let asked = match dialect {
            Dialect::Current => Specification::read(data, header, dialect).ok(),
            // What a part says is for the next one.
            Dialect::Documented => None,
        };
        let asked = asked.filter(|asked| !asked.is_empty());
        let merged = facts.rendered.data(problem.doc);
        Self { facts, over, part, source, at: problem.at, asked, dialect, data, merged }
    }

    /// Whether what was there before counts more, so that losing against it is
    /// what it is there for.
    pub(super) fn is_lower(&self) -> bool {
        self.source.is_none_or(|source| !source.is_user_data())
    }

    /// The document's name, for a headline.
    pub(super) fn name(&self) -> &str {
        match self.part {
            Some(part) => &part.key.name,
            None => title(self.facts, self.over),
        }
    }

    /// Whether all of it is secret: then not even the number of its items may be reported.
    pub(super) fn is_secret(&self) -> bool {
        self.data.holds_secret()
    }

    /// A place of it, as it is named in a headline; none where a key of it is
    /// secret, or it is the whole.
    pub(super) fn shown(&self, place: &Location) -> Option<String> {
        if place.0.is_empty() { None } else { self.facts.shown_place(self.data, place) }
    }

    /// The key of a place, or the first line of the value there.
    pub(super) fn at(&self, place: &Location, value: Span) -> Span {
        match place.0.last() {
            Some(Piece::Key(key)) if key.span.file == value.file => key.span,
            Some(Piece::Key(_) | Piece::Index(_)) => self.facts.first_line(value),
            None => self.at,
        }
    }

    /// The key of a place where it was written first, or the first line of the value there.
    pub(super) fn first_at(&self, place: &Location, value: Span) -> Span {
        let around = place.parent().and_then(|around| around.get(self.merged?));
        let written = match place.0.last() {
            Some(Piece::Key(key)) => {
                let mapping = around.and_then(Node::as_mapping);
                mapping.and_then(|mapping| mapping.get_entry(key)).map(|(key, _)| key.span)
            }
            Some(Piece::Index(_)) | None => None,
        };
        written.filter(|at| at.file == value.file).unwrap_or(self.facts.first_line(value))
    }

    /// Whether it asks for one of these options with this class.
    pub(super) fn asks(&self, class: Class, options: &[&str]) -> bool {
        let asked = self.asked.as_ref().and_then(|asked| asked.first(class));
        asked.is_some_and(|request| options.iter().any(|option| request.settings.has(option)))
    }
}

/// Name of a merged result, for headlines.
fn title(facts: &SiteFacts<'_>, merged: DocId) -> &'static str {
    match facts.sets.member(merged).and_then(|member| member.source) {
        Some(source) => source.as_str(),
        None => "the system's configuration",
    }
}

/// The findings about one merge step: of each rule the first ones, and the number of further ones.
fn word_notices(laid: &MergedDocument<'_>, notices: &[&Notice]) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for finding in notices.iter().filter_map(|notice| word(laid, notice)) {
        let count = counts.entry(finding.rule.name).or_default();
        *count += 1;
        if *count <= MAX_FINDINGS {
            findings.push(finding);
        }
    }
    for (rule, count) in counts.into_iter().filter(|(_, count)| *count > MAX_FINDINGS) {
        let last = findings.iter_mut().rfind(|finding| finding.rule.name == rule);
        let last = last.expect("the first findings of a rule are told");
        last.notes.push(further(laid, count - MAX_FINDINGS, "of this kind in the same part"));
    }
    let unlooked = notices.iter().find_map(|notice| match notice.fact {
        Fact::Further { count } => Some(count),
        Fact::Lost(_)
        | Fact::NullWithoutDelete(_)
        | Fact::OtherLength { .. }
        | Fact::TakenApart(_)
        | Fact::Replaced(_)
        | Fact::Displaced(_) => None,
    });
    if let (Some(last), Some(count)) = (findings.last_mut(), unlooked) {
        let more = "values of the same part that met others, and are not looked at one by one";
        last.notes.push(further(laid, count, more));
    }
    findings.into_iter().map(|finding| owned(laid, finding)).collect()
}

fn further(laid: &MergedDocument<'_>, count: usize, of_what: &str) -> String {
    if laid.is_secret() {
        format!("there are more {of_what}")
    } else {
        format!("there are {count} more {of_what}")
    }
}

fn word(laid: &MergedDocument<'_>, notice: &Notice) -> Option<Diagnostic> {
    match notice.fact {
        Fact::Lost(kept) => lost_value::word(laid, notice, kept),
        Fact::NullWithoutDelete(remains) => null_without_delete::word(laid, notice, remains),
        Fact::OtherLength { old, new } => Some(replaced_by_index::word(laid, notice, old, new)),
        Fact::TakenApart(taken_apart) => Some(exploded_value::word(laid, notice, taken_apart)),
        Fact::Displaced(class) => displaced_value::word(laid, notice, class),
        // `lost-keys` reports all of them at once.
        Fact::Replaced(_) | Fact::Further { .. } => None,
    }
}

/// The finding as one of the document that was laid.
fn owned(laid: &MergedDocument<'_>, finding: Diagnostic) -> Diagnostic {
    finding.document(laid.facts.graph.recipe(laid.over).key.clone())
}
