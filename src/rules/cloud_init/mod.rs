//! Rules for cloud-init: defects of parts and of their merging (`cloud-init.md` 9 and 12).
//!
//! Faults of a single part are reported with its file ([`report_user_data`]). The other rules check
//! one set of a site at a time. Faults of a part in several sets, or of a set in several sites, are
//! reported once.

pub(super) mod broken_mime;
pub(super) mod displaced_value;
pub(super) mod dropped_part;
pub(super) mod exploded_value;
pub(super) mod ignored_merge_header;
pub(super) mod ineffective_merge_how;
pub(super) mod ineffective_merge_option;
pub(super) mod invalid_conf_d;
pub(super) mod leaked_merge_type;
pub(super) mod leaking_specification;
pub(super) mod lost_keys;
pub(super) mod lost_value;
mod merged_document;
pub(super) mod missing_merge_class;
pub(super) mod null_without_delete;
pub(super) mod refused_merge_specification;
pub(super) mod remote_include;
pub(super) mod repeated_merge_class;
pub(super) mod replaced_by_index;
pub(super) mod unexecuted_part_handler;
pub(super) mod unknown_merge_option;
pub(super) mod unlisted_merge_option;
pub(super) mod unmerged_part;
pub(super) mod unrecognized_part;
pub(super) mod unrendered_template;
pub(super) mod unused_conf_d;
pub(super) mod unused_vendor_data;

use std::collections::HashSet;

use super::{CheckKind, SiteFacts, guard_site_check, over_limit, wanted};
use crate::diagnostic::{Diagnostic, Label};
use crate::merge::cloud_init::{Settings, Specification};
use crate::render::Problem;
use crate::source::{SourceMap, Span};
use crate::system::cloud_init::part::{
    CloudPart, ContentFault, FaultCost, PartFault, PartFaultKind, PartKind,
};
use crate::system::cloud_init::read::UserData;
use crate::system::cloud_init::{PartSource, Set};

/// Facts about one set of a site.
#[derive(Clone, Copy)]
pub(super) struct SetFacts<'a> {
    /// The rendered site.
    facts: &'a SiteFacts<'a>,
    /// The set.
    set: &'a Set<'a>,
    /// Index among the site's sets.
    index: usize,
}

impl<'a> SetFacts<'a> {
    /// The engine's notices about merging the set.
    fn problems(self) -> impl Iterator<Item = &'a Problem> {
        let problems = self.facts.rendered.problems.iter();
        problems.filter(move |problem| {
            let member = self.facts.sets.member(problem.doc);
            member.is_some_and(|member| member.set == self.index)
        })
    }
}

/// Part with a valid merge specification.
struct SpecifiedPart<'a> {
    part: &'a CloudPart,
    specification: Specification,
}

impl<'a> SetFacts<'a> {
    /// Parts of the set with a valid merge specification. Invalid ones are reported when they are
    /// merged.
    fn specified(self) -> impl Iterator<Item = SpecifiedPart<'a>> {
        let parts = self.set.sources.iter().flat_map(mergeable);
        parts.filter_map(move |part| self.specification(part))
    }

    fn specification(self, part: &'a CloudPart) -> Option<SpecifiedPart<'a>> {
        let read = Specification::read(&part.data, part.header.as_ref(), self.set.dialect);
        let specification = read.ok().filter(|read| !read.is_empty())?;
        Some(SpecifiedPart {
            part,
            specification,
        })
    }
}

impl SpecifiedPart<'_> {
    /// Whether its text must not be shown.
    fn is_secret(&self) -> bool {
        self.part.data.secret
    }
}

/// Mappings of a source that are merged, in order.
fn mergeable<'a>(source: &PartSource<'a>) -> impl Iterator<Item = &'a CloudPart> {
    source.parts().filter(|part| match part.kind {
        PartKind::CloudConfig => !part.data.is_null(),
        PartKind::JsonPatch(_) | PartKind::Template | PartKind::Other(_) => false,
    })
}

/// Span of an option; `None` if it is not set.
fn option_at(settings: &Settings, option: &str) -> Option<Span> {
    match settings {
        Settings::Words { words, .. } => words
            .iter()
            .find(|word| &*word.value == option)
            .map(|word| word.span),
        Settings::Text(text) => text.value.contains(option).then_some(text.span),
    }
}

/// Facts about the parts in one user-data file.
pub(crate) struct UserDataFacts<'a> {
    /// All source texts.
    pub(crate) sources: &'a SourceMap,
    /// Everything that was read from the file.
    pub(crate) read: &'a UserData,
    /// Spans of secrets in the texts that it contains.
    pub(crate) secrets: Vec<Span>,
}

impl UserDataFacts<'_> {
    /// Text at a span for a message, or a placeholder for a secret.
    fn shown(&self, at: Span, text: &str) -> String {
        let is_secret = self.secrets.iter().any(|secret| secret.contains(at));
        if is_secret {
            "(hidden)".into()
        } else {
            text.lines().next().unwrap_or_default().into()
        }
    }

    /// Span of the first line of the text at `at`.
    fn first_line(&self, at: Span) -> Span {
        self.sources.first_line(at)
    }
}

/// Findings about a user-data file before merging, except those about its YAML.
pub(crate) fn report_user_data(facts: &UserDataFacts<'_>) -> Vec<Diagnostic> {
    let read = facts.read;
    let of_parts = read.parts.iter().flat_map(causes);
    let used = read
        .faults
        .iter()
        .chain(of_parts)
        .filter_map(|fault| report_fault(facts, fault, None));
    let given_up = read
        .aborted
        .iter()
        .filter_map(|fault| report_fault(facts, fault, Some(FaultCost::UserData)));
    let templates = read.parts.iter().filter(|part| match part.kind {
        PartKind::Template => true,
        PartKind::CloudConfig | PartKind::JsonPatch(_) | PartKind::Other(_) => false,
    });
    let handlers = read.parts.iter().filter(|part| part.is_part_handler());
    let sound_handlers = handlers.filter(|part| part.faults.is_empty());
    let mut found: Vec<Diagnostic> = used
        .chain(given_up)
        .chain(templates.map(unrendered_template::report))
        .chain(sound_handlers.map(unexecuted_part_handler::report))
        .collect();
    for finding in &mut found {
        name_origin(facts.sources, finding);
    }
    found
}

/// Faults of a part, without consequences of other faults: data that cannot be decompressed is not
/// UTF-8 either, and without UTF-8 no content type is found.
fn causes(part: &CloudPart) -> impl Iterator<Item = &PartFault> {
    let has = |wanted: fn(&PartFaultKind) -> bool| part.faults.iter().any(|it| wanted(&it.kind));
    let is_compressed =
        has(|kind| matches!(kind, PartFaultKind::Content(ContentFault::NotGzip(_))));
    let is_binary = is_compressed || has(|kind| *kind == ContentFault::NotUtf8.into());
    part.faults.iter().filter(move |fault| {
        !(is_compressed && fault.kind == ContentFault::NotUtf8.into()
            || is_binary && matches!(fault.kind, PartFaultKind::Unrecognized(_)))
    })
}

/// Adds the location of the encoded text to a finding in a decoded text.
pub(super) fn name_origin(sources: &SourceMap, finding: &mut Diagnostic) {
    let Some(from) = sources.get(finding.primary.span.file).decoded_from() else {
        return;
    };
    let label = Label::new(
        sources.first_line(sources.written(from)),
        "decoded from this",
    );
    if !finding.related.contains(&label) {
        finding.related.push(label);
    }
}

/// Finding for a fault of a part; `cost` replaces its own. Returns `None` if another finding reports
/// it.
fn report_fault(
    facts: &UserDataFacts<'_>,
    fault: &PartFault,
    cost: Option<FaultCost>,
) -> Option<Diagnostic> {
    use PartFaultKind as Fault;
    let at = fault.at;
    Some(match &fault.kind {
        Fault::HeaderCase { expected } => ignored_merge_header::report_case(facts, at, expected),
        Fault::IgnoredHeader(carrier) => ignored_merge_header::report_carrier(facts, at, *carrier),
        Fault::HandlerNotUtf8 => unexecuted_part_handler::report_not_utf8(facts, at),
        Fault::HandlerWithout(function) => {
            unexecuted_part_handler::report_without(facts, at, function)
        }
        Fault::NotRendered => unrendered_template::report_never(facts, at),
        Fault::Unrecognized(likeness) => unrecognized_part::report_text(facts, at, likeness),
        Fault::UnknownType(name) => unrecognized_part::report_type(facts, at, name),
        Fault::Nested(carrier) => unrecognized_part::report_nested(facts, at, *carrier),
        Fault::Entry(found) => unrecognized_part::report_entry(facts, at, found),
        Fault::RemoteInclude => remote_include::report(facts, at),
        Fault::NoEndBoundary => broken_mime::report_end(facts, at),
        Fault::BrokenBase64 => broken_mime::report_base64(facts, at),
        Fault::BrokenUuencode => broken_mime::report_uuencode(facts, at),
        Fault::Mangled => broken_mime::report_mangled(facts, at),
        Fault::OverLimit(limit) => over_limit::report_user_data(facts.first_line(at), *limit),
        Fault::Content(content) => {
            return dropped_part::report_content(
                facts,
                at,
                content,
                cost.unwrap_or(content.cost()),
            );
        }
        Fault::Container(container) => {
            dropped_part::report_container(facts, at, container, cost.unwrap_or(container.cost()))
        }
    })
}

/// Findings in the sets of a site.
pub(super) fn report(facts: &SiteFacts<'_>) -> Vec<Diagnostic> {
    let identity = |finding: &Diagnostic| {
        (
            finding.rule.name,
            finding.primary.span,
            finding.message.clone(),
        )
    };
    let mut found: Vec<Diagnostic> = Vec::new();
    let mut known: HashSet<(&str, Span, String)> = HashSet::new();
    let checks = wanted(facts.settings, |look| {
        if let CheckKind::Set(run) = look {
            Some(run)
        } else {
            None
        }
    });
    for (index, set) in facts.sets.sets.iter().enumerate() {
        let facts_of_set = SetFacts { facts, set, index };
        let mut of_set = Vec::new();
        for check in &checks {
            guard_site_check(facts, check.rules, &mut of_set, |found| {
                (check.run)(&facts_of_set, found);
            });
        }
        for finding in &mut of_set {
            name_origin(facts.sources, finding);
        }
        // A part that is merged twice has its findings twice.
        of_set.retain(|finding| known.insert(identity(finding)));
        found.append(&mut of_set);
    }
    found
}
