//! Passes the engine's notices about merging a set to the rules that report them. Each rule decides
//! which notices to report.

use std::collections::BTreeMap;

use super::lost_keys::Joining;
use super::{
    SetFacts, displaced_value, exploded_value, lost_keys, lost_value, null_without_delete,
    replaced_by_index, unmerged_part,
};
use crate::diagnostic::{Diagnostic, Rule};
use crate::graph::DocId;
use crate::merge;
use crate::merge::cloud_init::{Class, Dialect, Fact, Notice, Specification, lacks};
use crate::render::{CombineProblem, Problem, ProblemKind};
use crate::rules::{SiteFacts, internal_error, over_limit};
use crate::source::{FileId, Span};
use crate::system::cloud_init::part::CloudPart;
use crate::system::cloud_init::{Set, SetMember, SourceKind};
use crate::yaml::Node;
use crate::yaml::path::{Location, Piece};

/// Maximum number of findings of one rule for one part in one set.
const MAX_FINDINGS: usize = 20;

/// Rules about merging parts.
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
    let documents = facts.facts.sets.iter();
    // The last document of a set is its output.
    let output = documents
        .filter(|(_, member)| member.set == facts.index)
        .last();
    let output = output.and_then(|(doc, _)| facts.facts.rendered.data(doc));
    let mut notices: BTreeMap<(DocId, DocId), (MergedDocument<'_>, Vec<&Notice>)> = BTreeMap::new();
    for problem in facts.problems() {
        match &problem.kind {
            ProblemKind::Combine(CombineProblem::NotMerged { source, failure }) => {
                let merged = MergedDocument::new(facts, output, problem, *source);
                found.push(owned(&merged, unmerged_part::report(&merged, failure)));
            }
            ProblemKind::Combine(CombineProblem::Laid {
                source,
                notice: merge::Notice::CloudInit(notice),
            }) => {
                let of_merge = notices.entry((problem.doc, *source));
                let merged = || {
                    (
                        MergedDocument::new(facts, output, problem, *source),
                        Vec::new(),
                    )
                };
                of_merge.or_insert_with(merged).1.push(notice);
            }
            ProblemKind::OverLimit(limit) => {
                found.push(over_limit::report_merged(problem, &facts.set.name, *limit));
            }
            // The documents of a set are only merged, so any other problem is a bug.
            ProblemKind::Failed
            | ProblemKind::Cycle(_)
            | ProblemKind::Action(_)
            | ProblemKind::Substitution(_)
            | ProblemKind::TooManyCopies => {
                found.push(internal_error::report_document(facts.facts, problem.doc));
            }
        }
    }
    for (merged, notices) in notices.into_values() {
        found.extend(report_notices(&merged, &notices));
    }
}

/// A document that was merged over earlier ones.
pub(super) struct MergedDocument<'a> {
    /// The site.
    pub(super) facts: &'a SiteFacts<'a>,
    /// The set.
    pub(super) set: &'a Set<'a>,
    /// Output of the set, if there is one.
    pub(super) output: Option<&'a Node>,
    /// The document.
    pub(super) over: DocId,
    /// Its part; `None` if it is itself merged from several.
    pub(super) part: Option<&'a CloudPart>,
    /// Source that it is merged for; `None` when sources are combined.
    pub(super) source: Option<SourceKind>,
    /// Span of its merge specification, or its first line.
    pub(super) at: Span,
    /// Its own merge specification; `None` if it has none or an unused one.
    pub(super) asked: Option<Specification>,
    /// Dialect in which the set is merged.
    pub(super) dialect: Dialect,
    /// Its data.
    data: &'a Node,
    /// Result of merging it and all others into the same base.
    merged: Option<&'a Node>,
}

impl<'a> MergedDocument<'a> {
    fn new(set: &SetFacts<'a>, output: Option<&'a Node>, problem: &Problem, over: DocId) -> Self {
        let facts = set.facts;
        let member = |doc| -> Option<SetMember<'a>> { facts.sets.member(doc) };
        let part = member(over).and_then(|member| member.part);
        let source = member(problem.doc).and_then(|member| member.source);
        let data = facts
            .rendered
            .data(over)
            .unwrap_or(&facts.graph.recipe(over).data);
        let dialect = set.set.dialect;
        let header = part.and_then(|part| part.header.as_ref());
        let asked = match dialect {
            Dialect::Current => Specification::read(data, header, dialect).ok(),
            // In this dialect a part's specification applies to the next part.
            Dialect::Documented => None,
        };
        let asked = asked.filter(|asked| !asked.is_empty());
        let merged = facts.rendered.data(problem.doc);
        Self {
            facts,
            set: set.set,
            output,
            over,
            part,
            source,
            at: problem.at,
            asked,
            dialect,
            data,
            merged,
        }
    }

    /// Whether earlier values have higher priority, so this document is expected to lose to them.
    pub(super) fn is_lower(&self) -> bool {
        self.source.is_none_or(|source| !source.is_user_data())
    }

    /// Name of the document for headlines.
    pub(super) fn name(&self) -> &str {
        match self.part {
            Some(part) => &part.key.name,
            None => title(self.facts, self.set, self.over),
        }
    }

    /// Name of the source that a file's parts belong to, for headlines.
    pub(super) fn source_of(&self, file: FileId) -> &'static str {
        let mut sources = self.set.sources.iter();
        sources
            .find(|source| source.parts().any(|part| part.span.file == file))
            .map_or("a source of higher priority", |source| source.kind.as_str())
    }

    /// Whether the output has all of a lost value: a later part or another source has it, too.
    fn is_in_output(&self, notice: &Notice) -> bool {
        let lost = notice.lost.as_ref();
        lost.is_some_and(|lost| {
            let kept = self.output.and_then(|output| notice.place.get(output));
            kept.is_some_and(|kept| !lacks(kept, lost))
        })
    }

    /// Whether all of it is secret, so not even the number of its items may be reported.
    pub(super) fn is_secret(&self) -> bool {
        self.data.holds_secret()
    }

    /// Formats a place for headlines; `None` for the root or if a key is secret.
    pub(super) fn shown(&self, place: &Location) -> Option<String> {
        if place.0.is_empty() {
            None
        } else {
            self.facts.shown_place(self.data, place)
        }
    }

    /// Creates a finding at the new value of a notice, with the old one.
    pub(super) fn finding(
        &self,
        rule: &'static Rule,
        notice: &Notice,
        message: String,
        [label, old_label]: [&str; 2],
    ) -> Diagnostic {
        let at = self.at(&notice.place, notice.at);
        rule.finding(message, at, label)
            .related(self.facts.first_line(notice.old), old_label)
            .about(self.shown(&notice.place).unwrap_or_default())
    }

    /// Names the new value of a notice.
    pub(super) fn value_at(&self, notice: &Notice, kind: &str) -> String {
        match self.shown(&notice.place) {
            Some(place) => format!("the {kind} at `{place}`"),
            None => format!("a {kind}"),
        }
    }

    /// Formats the place of a notice, or `otherwise` if it is not shown.
    pub(super) fn place_or(&self, notice: &Notice, otherwise: &str) -> String {
        match self.shown(&notice.place) {
            Some(place) => format!("`{place}`"),
            None => otherwise.to_owned(),
        }
    }

    /// Span of the key at a place, or of the first line of the value there.
    pub(super) fn at(&self, place: &Location, value: Span) -> Span {
        match place.0.last() {
            Some(Piece::Key(key)) if key.span.file == value.file => key.span,
            Some(Piece::Key(_) | Piece::Index(_)) => self.facts.first_line(value),
            None => self.at,
        }
    }

    /// Span of the key at a place where it was first written, or of the first line of the value
    /// there.
    pub(super) fn first_at(&self, place: &Location, value: Span) -> Span {
        let around = place.parent().and_then(|around| around.get(self.merged?));
        let written = match place.0.last() {
            Some(Piece::Key(key)) => {
                let mapping = around.and_then(Node::as_mapping);
                mapping
                    .and_then(|mapping| mapping.get_entry(key))
                    .map(|(key, _)| key.span)
            }
            Some(Piece::Index(_)) | None => None,
        };
        written
            .filter(|at| at.file == value.file)
            .unwrap_or(self.facts.first_line(value))
    }

    /// Whether its specification gives one of these options to this class.
    pub(super) fn asks(&self, class: Class, options: &[&str]) -> bool {
        let asked = self.asked.as_ref().and_then(|asked| asked.first(class));
        asked.is_some_and(|request| options.iter().any(|option| request.settings.has(option)))
    }
}

/// Name of a merged result, for headlines.
fn title(facts: &SiteFacts<'_>, set: &Set<'_>, merged: DocId) -> &'static str {
    let has_conf_d = || {
        set.read_sources()
            .any(|source| source.kind == SourceKind::ConfD)
    };
    match facts.sets.member(merged).and_then(|member| member.source) {
        Some(SourceKind::Base) if has_conf_d() => "the system's configuration",
        Some(source) => source.as_str(),
        None => "the system's configuration",
    }
}

/// Findings of one merge step: all of `lost-keys`, whose levels differ, the first ones of each other
/// rule, and the number of further ones.
fn report_notices(merged: &MergedDocument<'_>, notices: &[&Notice]) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    let joining = Joining::of(merged, notices);
    let of_output = notices.iter().filter(|notice| !merged.is_in_output(notice));
    for finding in of_output.filter_map(|notice| report(merged, notice, &joining)) {
        let count = counts.entry(finding.rule.name).or_default();
        *count += usize::from(finding.rule.name != lost_keys::RULE.name);
        if *count <= MAX_FINDINGS {
            findings.push(finding);
        }
    }
    for (rule, count) in counts
        .into_iter()
        .filter(|(_, count)| *count > MAX_FINDINGS)
    {
        let last = findings
            .iter_mut()
            .rfind(|finding| finding.rule.name == rule)
            .expect("the first findings of a rule are reported");
        last.notes.push(further(
            merged,
            count - MAX_FINDINGS,
            "of this kind in the same part",
        ));
    }
    let unlooked = notices.iter().find_map(|notice| {
        let Fact::Further { count } = notice.fact else {
            return None;
        };
        Some(count)
    });
    if let (Some(last), Some(count)) = (findings.last_mut(), unlooked) {
        let more = "merged values in the same part that were not checked individually";
        last.notes.push(further(merged, count, more));
    }
    findings
        .into_iter()
        .map(|finding| owned(merged, finding))
        .collect()
}

fn further(merged: &MergedDocument<'_>, count: usize, of_what: &str) -> String {
    if merged.is_secret() {
        format!("there are more {of_what}")
    } else {
        format!("there are {count} more {of_what}")
    }
}

fn report(merged: &MergedDocument<'_>, notice: &Notice, joining: &Joining) -> Option<Diagnostic> {
    let lost_key = || lost_keys::report(merged, notice, joining);
    match notice.fact {
        Fact::Lost(kept) => lost_value::report(merged, notice, kept).or_else(lost_key),
        Fact::NullWithoutDelete(remains) => null_without_delete::report(merged, notice, remains),
        Fact::OtherLength { old, new } => Some(replaced_by_index::report(merged, notice, old, new)),
        Fact::SplitInto(taken_apart) => Some(exploded_value::report(merged, notice, taken_apart)),
        Fact::Displaced(class) => displaced_value::report(merged, notice, class).or_else(lost_key),
        Fact::Replaced(_) => lost_key(),
        Fact::Further { .. } => None,
    }
}

/// Attributes the finding to the document that was merged.
fn owned(merged: &MergedDocument<'_>, finding: Diagnostic) -> Diagnostic {
    finding.document(&merged.facts.graph.recipe(merged.over).key)
}
