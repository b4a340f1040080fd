//! Rules: turn facts into findings.
//!
//! A rule is a pair of files: `missing_parent.rs` finds the defects and formats the messages, and
//! `missing-parent.md` is its page for users, whose examples are its tests. The engine reports
//! defects as problems, which are facts without prose; `report_file`, `report_layout` and
//! `report_problems` match them exhaustively to the rules that describe them. Other rules inspect the
//! rendered documents themselves and declare their input (`CheckKind`).

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{LazyLock, OnceLock};

use rayon::prelude::*;

use crate::certificate::CheckTime;
use crate::deployment::Deployment;
use crate::diagnostic::{Diagnostic, Rule, Trait};
use crate::graph::{DocId, Graph, Op, Substitution};
use crate::guard::{Place, guarded};
use crate::ignore;
use crate::merge::deckhand::{Difference, Semantics};
use crate::merge::pattern::PatternFailure;
use crate::near;
use crate::render::{self, ActionProblem, Rendered, SubstitutionProblem, Write};
use crate::source::{DocKey, FileId, SourceMap, Span, TextFault};
use crate::stopwatch::{self, RuleNames};
use crate::system::cloud_init::Sets;
use crate::system::deckhand::document::{Document, DocumentFault, DocumentFaultKind, Selector};
use crate::system::deckhand::layout;
use crate::system::deckhand::schema::{Schemas, is_data_schema};
use crate::system::deckhand::secrecy;
use crate::system::deckhand::{self, Site};
use crate::system::heat::Versions;
use crate::yaml::path::Location;
use crate::yaml::{self, Node};

/// Declares a rule beside its page: name, level, summary, aliases, and the rule's own check, as `;
/// File(check)`, followed by a list of rules if the check serves several.
///
/// The traits of the rule are in brackets after the level.
macro_rules! rule {
    (
        $name:literal, $level:ident $([$($mark:ident),+])?, $summary:literal
        $(, was $($alias:literal),+)? $(,)?
        $(; $look:ident($check:path $(, $rules:expr)?))*
    ) => {
        #[doc = include_str!(concat!($name, ".md"))]
        pub(in crate::rules) static RULE: crate::diagnostic::Rule = crate::diagnostic::Rule {
            name: $name,
            summary: $summary,
            page: include_str!(concat!($name, ".md")),
            severity: crate::diagnostic::Severity::$level,
            traits: &[$($(crate::diagnostic::Trait::$mark),+)?],
            aliases: &[$($($alias),+)?],
        };

        pub(in crate::rules) const CHECKS: &[crate::rules::RuleCheck<crate::rules::CheckKind>] =
            &[$(crate::rules::RuleCheck {
                rules: crate::rules::rule!(@rules $($rules)?),
                run: crate::rules::CheckKind::$look($check),
            }),*];
    };
    (@rules) => {
        &[&RULE]
    };
    (@rules $rules:expr) => {
        $rules
    };
}
use rule;

mod abstract_replacement;
mod action_over_limit;
mod ambiguous_merge;
mod ambiguous_parent;
mod ambiguous_property_name;
mod authority_without_path;
mod backslash_in_pattern_value;
mod boolean_key;
mod boolean_word;
mod certificate_key_mismatch;
mod certificate_not_of_authority;
mod certificates;
mod chart_in_no_manifest;
mod clashing_path;
mod config_changed;
mod control_parent;
mod correction;
mod counterpart;
mod declared_secret_missing;
mod dependency_cycle;
mod did_you_mean;
mod different_delete;
mod different_index_merge;
mod different_list_write;
mod different_path;
mod different_pattern_text;
mod different_recursion;
mod duplicate_document;
mod duplicate_key;
mod duplicate_layering_policy;
mod duplicate_output;
mod duplicate_schema;
mod empty_document;
mod empty_override;
mod expired_certificate;
mod expiring_certificate;
mod exposed_secret;
mod foreign;
mod generated_source_missing;
mod ignored_revision;
mod ignored_schema_keyword;
mod ignored_source_path;
mod incomplete_chart;
mod ineffective_action;
mod ineffective_override;
mod ineffective_substitution;
mod internal_error;
mod invalid_action;
mod invalid_document;
mod invalid_encoding;
mod invalid_ignore;
mod invalid_path;
mod invalid_pattern;
mod invalid_property_group;
mod invalid_replacement;
mod invalid_scalar;
mod invalid_schema;
mod invalid_site_definition;
mod invalid_substitution;
mod invalid_yaml;
mod layer_path_mismatch;
mod leaking_alias;
mod leaking_substitution;
mod leftover_placeholder;
mod lossy_version;
mod lost_data;
mod misread_string;
mod missing_action_path;
mod missing_data;
mod missing_document_start;
mod missing_encryption_source;
mod missing_ignore_reason;
mod missing_layering_policy;
mod missing_parent;
mod missing_pattern_target;
mod missing_reference;
mod missing_repository;
mod missing_revision;
mod missing_site_definition;
mod missing_source;
mod missing_type;
mod misspelled_schema;
mod mixed_keys;
mod near_destination;
mod nested_replacement;
mod node_in_no_group;
mod not_a_document;
mod octal_integer;
mod over_limit;
mod property_group_violation;
mod reach_over_limit;
mod refused_parent_match;
mod repeated_destination;
mod repeated_layer;
mod repeated_operand;
mod repeated_substitution;
mod schema_violation;
mod secret_in_cleartext_output;
mod secret_not_encrypted;
mod secret_outside_secrets_folder;
mod shared_label;
mod stale_baseline;
mod stale_reference;
mod uncommon_destination;
mod undecided_semantics;
mod undeclared_secret;
mod unexpected_change;
mod unknown_document_key;
mod unknown_layer;
mod unknown_manifest;
mod unknown_schema_keyword;
mod unknown_tag;
mod unmatched_pattern;
mod unmatched_source_pattern;
mod unread_file;
mod unread_number;
mod unread_source;
mod unreadable_certificate;
mod unreadable_file;
mod unresolved_schema_reference;
mod unsupported_property;
mod unusable_schema_name;
mod unused_configuration;
mod unused_document;
mod unused_ignore;
mod unused_label;
mod unused_schema;
mod unused_type;
mod unusual_yaml;
mod unwanted_caution;

mod cloud_init;
mod plain_scalars;
mod reach;
mod update_manifest_default;

pub(crate) use certificates::{CertificateMark, CertificateTally, KnownPem, SiteCertificates};
pub(crate) use cloud_init::{UserDataFacts, report_user_data};
pub(crate) use config_changed::report_changed_configuration;
pub(crate) use correction::{Correction, corrections};
pub(crate) use exposed_secret::report_exposed;
pub(crate) use foreign::folded;
pub(crate) use missing_reference::Reference;
pub(crate) use reach::ReachedEdit;
pub use reach::{ExpectedUnchanged, Gates, Limit, report_faults, report_reach};
pub use schema_violation::MAX_VIOLATIONS;
pub use unwanted_caution::LevelledCaution;

pub(crate) use unused_configuration::{UnusedEntry, UnusedKind, report_unused};

pub use crate::diagnostic::REFUSED;

/// Lists all rules by name.
///
/// Modules are declared outside of the macro because rustfmt does not find files behind one.
macro_rules! registry {
    ($($($module:ident)::+,)+) => {
        /// All rules, by name.
        pub static RULES: &[&Rule] = &[$(&$($module)::+::RULE),+];

        /// Checks that rules run themselves.
        static CHECKS: LazyLock<Vec<&RuleCheck<CheckKind>>> =
            LazyLock::new(|| [$($($module)::+::CHECKS),+].into_iter().flatten().collect());
    };
}

registry! {
    abstract_replacement,
    action_over_limit,
    ambiguous_merge,
    ambiguous_parent,
    ambiguous_property_name,
    authority_without_path,
    backslash_in_pattern_value,
    boolean_key,
    boolean_word,
    cloud_init::broken_mime,
    certificate_key_mismatch,
    certificate_not_of_authority,
    chart_in_no_manifest,
    clashing_path,
    config_changed,
    control_parent,
    declared_secret_missing,
    dependency_cycle,
    different_delete,
    different_index_merge,
    different_list_write,
    different_path,
    different_pattern_text,
    different_recursion,
    cloud_init::displaced_value,
    cloud_init::dropped_part,
    duplicate_document,
    duplicate_key,
    duplicate_layering_policy,
    duplicate_output,
    duplicate_schema,
    empty_document,
    empty_override,
    expired_certificate,
    expiring_certificate,
    cloud_init::exploded_value,
    exposed_secret,
    generated_source_missing,
    cloud_init::ignored_merge_header,
    ignored_revision,
    ignored_schema_keyword,
    ignored_source_path,
    incomplete_chart,
    ineffective_action,
    cloud_init::ineffective_merge_how,
    cloud_init::ineffective_merge_option,
    ineffective_override,
    ineffective_substitution,
    internal_error,
    invalid_action,
    cloud_init::invalid_conf_d,
    invalid_document,
    invalid_encoding,
    invalid_ignore,
    invalid_path,
    invalid_pattern,
    invalid_property_group,
    invalid_replacement,
    invalid_scalar,
    invalid_schema,
    invalid_site_definition,
    invalid_substitution,
    invalid_yaml,
    layer_path_mismatch,
    cloud_init::leaked_merge_type,
    leaking_alias,
    cloud_init::leaking_specification,
    leaking_substitution,
    leftover_placeholder,
    lossy_version,
    lost_data,
    cloud_init::lost_keys,
    cloud_init::lost_value,
    misread_string,
    missing_action_path,
    missing_data,
    missing_document_start,
    missing_encryption_source,
    missing_ignore_reason,
    missing_layering_policy,
    cloud_init::missing_merge_class,
    missing_parent,
    missing_pattern_target,
    missing_reference,
    missing_repository,
    missing_revision,
    missing_site_definition,
    missing_source,
    missing_type,
    misspelled_schema,
    mixed_keys,
    near_destination,
    nested_replacement,
    node_in_no_group,
    not_a_document,
    cloud_init::null_without_delete,
    octal_integer,
    over_limit,
    property_group_violation,
    reach_over_limit,
    cloud_init::refused_merge_specification,
    refused_parent_match,
    cloud_init::remote_include,
    repeated_destination,
    repeated_layer,
    cloud_init::repeated_merge_class,
    repeated_operand,
    repeated_substitution,
    cloud_init::replaced_by_index,
    schema_violation,
    secret_in_cleartext_output,
    secret_not_encrypted,
    secret_outside_secrets_folder,
    shared_label,
    stale_baseline,
    stale_reference,
    uncommon_destination,
    undecided_semantics,
    undeclared_secret,
    cloud_init::unexecuted_part_handler,
    unexpected_change,
    unknown_document_key,
    unknown_layer,
    unknown_manifest,
    cloud_init::unknown_merge_option,
    unknown_schema_keyword,
    unknown_tag,
    cloud_init::unlisted_merge_option,
    unmatched_pattern,
    unmatched_source_pattern,
    cloud_init::unmerged_part,
    unread_file,
    unread_number,
    unread_source,
    unreadable_certificate,
    unreadable_file,
    cloud_init::unrecognized_part,
    cloud_init::unrendered_template,
    unresolved_schema_reference,
    unsupported_property,
    unusable_schema_name,
    cloud_init::unused_conf_d,
    unused_configuration,
    unused_document,
    unused_ignore,
    unused_label,
    unused_schema,
    unused_type,
    cloud_init::unused_vendor_data,
    unusual_yaml,
    unwanted_caution,
    update_manifest_default,
}

/// Checks one file and adds its findings.
type FileCheck = fn(&FileFacts<'_>, &mut Vec<Diagnostic>);

/// Checks rendered documents and adds its findings, which depend only on each document and its
/// inputs.
type DocumentCheck = fn(&SiteFacts<'_>, &[DocId], &mut Vec<DocumentFinding>);

/// Checks the rendered documents of one schema and adds its findings.
type SchemaCheck = fn(&SiteFacts<'_>, &[DocId], &mut Vec<Diagnostic>);

/// Checks a rendered site and adds its findings.
type SiteCheck = fn(&SiteFacts<'_>, &mut Vec<Diagnostic>);

/// Checks one cloud-init set and adds its findings.
type SetCheck = fn(&cloud_init::SetFacts<'_>, &mut Vec<Diagnostic>);

/// Input of a check.
#[derive(Clone, Copy)]
enum CheckKind {
    /// Files of Deckhand documents.
    File(FileCheck),
    /// Files of documents or cloud-init parts.
    AnyFile(FileCheck),
    /// Rendered documents, one by one.
    Documents(DocumentCheck),
    /// All rendered documents of one schema in a site.
    Schema(SchemaCheck),
    /// Rendered sites.
    Site(SiteCheck),
    /// Sets of parts.
    Set(SetCheck),
}

/// A check and the rules that it serves. It runs if one of them is wanted.
struct RuleCheck<F: 'static> {
    rules: &'static [&'static Rule],
    run: F,
}

impl<F> RuleCheck<F> {
    /// Names under which its run time is measured.
    fn names(&self) -> RuleNames {
        RuleNames {
            first: self.rules[0].name,
            others: self.rules.len() - 1,
        }
    }
}

/// Configuration read by rules.
#[derive(Clone, Debug)]
pub struct RuleOptions {
    /// Rules whose findings are reported; the others need not run.
    pub wanted: HashSet<&'static str, foldhash::fast::RandomState>,
    /// References between documents, for `missing-reference`.
    pub references: Vec<Reference>,
    /// Versions of the programs that read rendered documents, for property groups.
    pub versions: Versions,
    /// Whether neither the configuration nor a flag chooses the semantics.
    pub is_undecided: bool,
    /// Time at which certificates must be valid; `None` to judge no dates.
    pub time: Option<CheckTime>,
    /// Number of days before its end in which a certificate is reported.
    pub expiring_days: usize,
}

impl Default for RuleOptions {
    /// The default configuration, with the semantics treated as chosen.
    fn default() -> Self {
        let rules = RULES.iter().filter(|rule| rule.is_default());
        let wanted = rules.map(|rule| rule.name).collect();
        Self {
            wanted,
            references: Reference::built_in(),
            versions: Versions::default(),
            is_undecided: false,
            time: None,
            expiring_days: 30,
        }
    }
}

impl RuleOptions {
    /// Whether findings of one of `rules` are reported.
    fn want(&self, rules: &[&Rule]) -> bool {
        rules.iter().any(|rule| self.wanted.contains(rule.name))
    }
}

/// The group `certificates`.
const CERTIFICATES: [&Rule; 6] = [
    &authority_without_path::RULE,
    &certificate_key_mismatch::RULE,
    &certificate_not_of_authority::RULE,
    &expired_certificate::RULE,
    &expiring_certificate::RULE,
    &unreadable_certificate::RULE,
];

/// Groups for selecting rules, with their descriptions.
pub const GROUPS: &[(&str, &str)] = &[
    ("default", "the rules that are on by default"),
    ("strict", "the default rules and stricter ones"),
    ("deckhand", "what Deckhand itself refuses"),
    (
        "pegleg",
        "the checks of Pegleg's linter, including ones it only documents",
    ),
    ("certificates", "the rules about certificates"),
    ("all", "every rule"),
];

/// Rules selected by a rule name, an alias such as a Pegleg code, or a group, which may be empty.
/// Returns `None` for an unknown word.
pub fn selected(word: &str) -> Option<Vec<&'static Rule>> {
    let of = |wanted: &dyn Fn(&Rule) -> bool| {
        RULES
            .iter()
            .copied()
            .filter(|rule| wanted(rule))
            .collect::<Vec<_>>()
    };
    let found = match word {
        "default" => of(&Rule::is_default),
        "strict" => of(&|rule| !rule.is(Trait::OptIn)),
        "deckhand" => of(&|rule| rule.is(Trait::Refused)),
        "pegleg" => of(&|rule| rule.aliases.iter().any(|alias| alias.starts_with('P'))),
        "certificates" => of(&|rule| CERTIFICATES.iter().any(|it| it.name == rule.name)),
        "all" => of(&|_| true),
        name => of(&|rule| rule.name == name || rule.aliases.contains(&name)),
    };
    let is_group = GROUPS.iter().any(|(group, _)| *group == word);
    (is_group || !found.is_empty()).then_some(found)
}

/// Rules that an ignore comment may name, by name or alias but not by group. Empty for findings
/// without a location in a file.
pub(crate) fn ignorable(name: &str) -> Vec<&'static Rule> {
    const NEVER: [&Rule; 8] = [
        &action_over_limit::RULE,
        // The comment would be part of the change that exposes the secret.
        &exposed_secret::RULE,
        &internal_error::RULE,
        &reach_over_limit::RULE,
        &stale_baseline::RULE,
        &unexpected_change::RULE,
        &unused_ignore::RULE,
        &unwanted_caution::RULE,
    ];
    RULES
        .iter()
        .filter(|rule| rule.name == name || rule.aliases.contains(&name))
        .copied()
        .filter(|rule| !NEVER.iter().any(|never| never.name == rule.name))
        .collect()
}

/// Looks up a rule by name.
pub fn find(name: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.name == name)
}

/// Facts about one file.
#[derive(Clone, Copy)]
pub(crate) struct FileFacts<'a> {
    /// All source texts.
    pub(crate) sources: &'a SourceMap,
    /// The file.
    pub(crate) file: FileId,
    /// Problems in its YAML.
    pub(crate) problems: &'a [yaml::YamlProblem],
    /// Its Deckhand documents, with their faults.
    pub(crate) documents: &'a [Document],
    /// Its YAML documents that are not Deckhand documents.
    pub(crate) others: &'a [DocumentFault],
    /// Spans of known secrets in it.
    pub(crate) secrets: &'a [Span],
    /// Its comments that suppress findings.
    pub(crate) ignores: &'a ignore::Comments,
    /// Kind of its contents.
    pub(crate) holds: FileContents,
    /// Sites that use it, if it belongs to a site repository.
    pub(crate) place: Option<&'a layout::Place>,
    /// Schemas of the run.
    pub(crate) schemas: &'a Schemas,
    /// Configuration of the rules.
    pub(crate) settings: &'a RuleOptions,
}

/// Contents of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FileContents {
    /// Deckhand documents.
    Documents,
    /// cloud-init parts; the sets that contain them provide more facts.
    Parts,
}

/// Facts about one rendered site.
#[derive(Clone, Copy)]
pub(crate) struct SiteFacts<'a> {
    /// All source texts.
    pub(crate) sources: &'a SourceMap,
    /// Its documents and their relations.
    pub(crate) site: &'a Site<'a>,
    /// Its sets of cloud-init parts.
    pub(crate) sets: &'a Sets<'a>,
    /// Recipes of the documents.
    pub(crate) graph: &'a Graph,
    /// Results of rendering the recipes.
    pub(crate) rendered: &'a Rendered,
    /// The outputs that are deployed; empty until a rule needs them.
    pub(crate) deployment: &'a OnceLock<Deployment>,
    /// Strings with PEM of the run.
    pub(crate) pem: &'a KnownPem,
    /// Its certificates; empty until a rule needs them.
    pub(crate) certificates: &'a OnceLock<SiteCertificates>,
    /// Schemas of the run.
    pub(crate) schemas: &'a Schemas,
    /// Configuration of the rules.
    pub(crate) settings: &'a RuleOptions,
    /// Whether findings are shown. Otherwise only their places count, and rules may leave out a search
    /// for what was meant.
    pub(crate) are_shown: bool,
}

impl SiteFacts<'_> {
    /// The outputs that are deployed.
    pub(crate) fn deployment(&self) -> &Deployment {
        self.deployment
            .get_or_init(|| Deployment::of(self.graph, self.rendered))
    }

    /// Its certificates.
    fn certificates(&self) -> &SiteCertificates {
        self.certificates.get_or_init(|| SiteCertificates::of(self))
    }

    /// Returns a document of the site.
    pub(crate) fn document(&self, doc: DocId) -> &Document {
        self.site.document(doc)
    }

    /// Name of a document for headlines.
    pub(crate) fn name(&self, doc: DocId) -> &str {
        title(&self.graph.recipe(doc).key)
    }

    /// Note about the semantics in use, for findings where Deckhand's documentation and its code
    /// differ.
    pub(crate) fn rendered_meaning(&self) -> &'static str {
        match self.graph.semantics {
            Semantics::Documented => {
                "layercake renders what the documentation says; `--semantics deckhand` renders \
                 what Deckhand does"
            }
            Semantics::Deckhand => {
                "layercake renders what Deckhand does; `--semantics documented` renders what the \
                 documentation says"
            }
        }
    }

    /// Substitution that made a write; `None` for a layering action.
    pub(crate) fn substitution(&self, doc: DocId, write: &Write) -> Option<Substitution<'_>> {
        match self.graph.recipe(doc).step(write.step).op {
            Op::Substitute(substitution) => Some(substitution),
            Op::Merge { .. } | Op::Combine(_) => None,
        }
    }

    /// Names the destination of a substitution: its path and its document.
    pub(crate) fn destination(&self, problem: &render::Problem) -> String {
        let path = self.destination_path(problem.doc, problem.at);
        format!("`{path}` of `{}`", self.name(problem.doc))
    }

    /// Path of a substitution's destination as written; `at` is the span of the path or of the
    /// pattern beside it.
    pub(crate) fn destination_path(&self, doc: DocId, at: Span) -> &str {
        let steps = self.graph.recipe(doc).steps.iter();
        let mut destinations = steps.flat_map(|step| match step.op {
            Op::Substitute(substitution) => &substitution.writing.to[..],
            Op::Merge { .. } | Op::Combine(_) => &[],
        });
        let meant = destinations
            .find(|destination| {
                let part = destination.part.as_ref();
                destination.path.span == at || part.is_some_and(|part| part.pattern.span == at)
            })
            .expect("a destination is identified by its own text");
        meant.path.value.text()
    }

    /// Whole value that a substitution reads; `None` if it extracts a part.
    pub(crate) fn source_value(&self, substitution: &Substitution<'_>) -> Option<Cow<'_, Node>> {
        let source = self.rendered.data(substitution.source)?;
        if substitution.writing.extract.is_some() {
            return None;
        }
        if source.as_mapping().is_none() {
            return Some(Cow::Borrowed(source));
        }
        substitution.writing.from.value.value(source).ok()?
    }

    /// Formats the place, unless one of its keys is in a secret mapping.
    pub(crate) fn shown_place(&self, data: &Node, place: &Location) -> Option<String> {
        let mut around = place.parent();
        while let Some(place) = around {
            if place.get(data).is_some_and(|node| node.secret) {
                return None;
            }
            around = place.parent();
        }
        Some(place.to_string())
    }

    /// Span of the first line of the text at `span`.
    pub(crate) fn first_line(&self, span: Span) -> Span {
        self.sources.first_line(span)
    }

    /// Selector of a document that has a parent.
    fn selector(&self, child: DocId) -> &Selector {
        self.document(child)
            .parent_selector
            .as_ref()
            .expect("only a document with a selector has a parent")
    }

    /// Label with which `child` selects `parent`.
    fn label(&self, parent: DocId, child: DocId) -> Span {
        self.site.matching_label(parent, self.document(child))
    }
}

impl FileFacts<'_> {
    /// Whether a span is part of a secret.
    pub(crate) fn is_secret(&self, span: Span) -> bool {
        self.secrets.iter().any(|secret| secret.contains(span))
    }

    /// Effect of YAML that cannot be read.
    fn unread_yaml(&self) -> &'static str {
        match self.holds {
            FileContents::Documents => {
                "Deckhand refuses the whole site, and Pegleg fails on the file; layercake does not \
                 read this YAML document"
            }
            FileContents::Parts => "cloud-init drops the whole part and continues with the others",
        }
    }

    /// Name of the document at a position, for headlines.
    pub(crate) fn name_at(&self, at: Span) -> &str {
        let document = self
            .documents
            .iter()
            .find(|document| document.span.contains(at));
        document.map_or("", |document| title(&document.key))
    }

    /// Text at a span for a message: the first line, shortened to 60 characters, or a placeholder
    /// for a secret.
    pub(crate) fn quote(&self, span: Span) -> String {
        if self.is_secret(span) {
            return "(hidden)".into();
        }
        let line = self.sources.slice(span).lines().next().unwrap_or_default();
        match line.char_indices().nth(60) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line.to_owned(),
        }
    }
}

/// Name of a document for headlines, or its schema if it has no name.
fn title(key: &DocKey) -> &str {
    if key.name.is_empty() {
        &key.schema
    } else {
        &key.name
    }
}

/// Layer of a document, for headlines.
fn of_layer(key: &DocKey) -> String {
    match &*key.layer {
        "" => "without a layer".into(),
        layer => format!("in layer `{layer}`"),
    }
}

/// The finding without quotes from the document, which may be secret.
fn without_quotes(finding: Diagnostic) -> Diagnostic {
    let rule = finding.rule;
    let at = finding.primary.span;
    rule.finding(rule.summary, at, secrecy::NOT_SHOWN)
        .note("nothing is quoted from an invalid document that may be secret")
        .help(
            "a document has the keys `schema`, `metadata` and `data`; `metadata` has `schema`, \
             `name`, `storagePolicy`, `layeringDefinition`, and may have `labels`, `replacement` \
             and `substitutions`",
        )
}

/// All findings of one file.
pub(crate) fn report_file(facts: &FileFacts<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if let Some(fault) = facts.sources.get(facts.file).fault() {
        found.extend(report_text(facts, fault));
    }
    let conflict = invalid_yaml::conflict(facts);
    found.extend(conflict.map(|conflict| invalid_yaml::report_conflict(facts, conflict)));
    let is_of_conflict =
        |problem| conflict.is_some_and(|conflict| invalid_yaml::is_of_conflict(problem, conflict));
    let problems = facts
        .problems
        .iter()
        .filter(|problem| !is_of_conflict(problem));
    found.extend(
        problems.map(|problem| guard_finding("yaml", problem.span, || report_yaml(facts, problem))),
    );
    found.extend(
        facts
            .others
            .iter()
            .map(|fault| guard_finding("fault", fault.at, || report_fault(facts, fault, ""))),
    );
    for document in facts.documents {
        let faults = document.faults.iter();
        found.extend(faults.map(|fault| {
            let title = title(&document.key);
            let finding = guard_finding("fault", fault.at, || report_fault(facts, fault, title));
            let finding = if document.is_doubtful && fault.kind.quotes() {
                without_quotes(finding)
            } else {
                finding.about(subject_of(fault))
            };
            finding.document(&document.key)
        }));
    }
    let checks = wanted(facts.settings, |look| match (look, facts.holds) {
        (CheckKind::AnyFile(run), _) | (CheckKind::File(run), FileContents::Documents) => Some(run),
        _ => None,
    });
    for check in checks {
        stopwatch::rule(check.names(), || {
            guard_check(
                check.rules,
                &mut found,
                |found| (check.run)(facts, found),
                |rules| internal_error::report_rule(facts.file, rules),
            );
        });
    }
    match facts.holds {
        FileContents::Documents => {}
        FileContents::Parts => {
            for finding in &mut found {
                cloud_init::name_origin(facts.sources, finding);
            }
        }
    }
    found
}

/// Findings for the problems that the engine found in a site, and findings of the site rules.
pub(crate) fn report_problems(facts: &SiteFacts<'_>) -> Vec<Diagnostic> {
    let mut found = near::within(|| report_engine_problems(facts));
    found.extend(check_site(facts));
    counterpart::add(facts, &mut found);
    for finding in &mut found {
        name_subject(facts, finding);
        put_owner_first(facts, finding);
    }
    found
}

/// Findings for the problems that the engine found in a site.
fn report_engine_problems(facts: &SiteFacts<'_>) -> Vec<Diagnostic> {
    let start = Span::point(first_file(facts), 0);
    let related = facts
        .site
        .problems
        .iter()
        .map(|problem| guard_finding("relation", start, || report_relation(facts, problem)));
    let rendered = facts
        .rendered
        .problems
        .iter()
        .filter(|problem| facts.sets.member(problem.doc).is_none())
        .filter(|problem| !is_refused_template(&problem.kind));
    let mut found: Vec<Diagnostic> = related
        .chain(rendered.map(|problem| {
            guard_finding("rendering", problem.at, || report_rendering(facts, problem))
        }))
        .collect();
    found.extend(cloud_init::report(facts));
    found
}

/// Findings in the cloud-init sets of a site.
pub(crate) fn report_sets(facts: &SiteFacts<'_>) -> Vec<Diagnostic> {
    cloud_init::report(facts)
}

/// Whether Deckhand rejects the value that a pattern inserts. Under Deckhand's own semantics, that
/// is reported as a separate problem.
fn is_refused_template(kind: &render::ProblemKind) -> bool {
    matches!(
        kind,
        render::ProblemKind::Substitution(SubstitutionProblem::BackslashInPatternValue {
            refused: true,
            ..
        })
    )
}

/// Findings of the site rules, in rule order.
fn check_site(facts: &SiteFacts<'_>) -> Vec<Diagnostic> {
    let split = stopwatch::split();
    let checks = wanted(facts.settings, |look| {
        if let CheckKind::Site(run) = look {
            Some(run)
        } else {
            None
        }
    });
    let found: Vec<Vec<Diagnostic>> = checks
        .par_iter()
        .map(|check| {
            let _part = split.part();
            let mut found = Vec::new();
            stopwatch::rule(check.names(), || {
                guard_site_check(facts, check.rules, &mut found, |found| {
                    near::within(|| (check.run)(facts, found));
                });
            });
            found
        })
        .collect();
    drop(split);
    found.into_iter().flatten().collect()
}

/// Rules that compare the documents of one schema in a site.
pub(crate) struct SchemaRules(Vec<RuleCheck<SchemaCheck>>);

impl SchemaRules {
    /// Selects the schema rules that are wanted.
    pub(crate) fn of(settings: &RuleOptions) -> Self {
        Self(wanted(settings, |look| {
            if let CheckKind::Schema(run) = look {
                Some(run)
            } else {
                None
            }
        }))
    }

    /// Findings in `docs`, all documents of one schema. They depend only on these documents and
    /// their inputs.
    pub(crate) fn check(&self, facts: &SiteFacts<'_>, docs: &[DocId]) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for check in &self.0 {
            stopwatch::rule(check.names(), || {
                guard_site_check(facts, check.rules, &mut found, |found| {
                    near::within(|| (check.run)(facts, docs, found));
                });
            });
        }
        for finding in &mut found {
            name_subject(facts, finding);
            put_owner_first(facts, finding);
        }
        found
    }
}

/// Finding about a rendered document.
pub(crate) type DocumentFinding = (DocId, Diagnostic);

/// Chunk size for document rules: all rules run on a chunk before the next, so its data stays in
/// cache.
const DOCUMENTS_PER_CHUNK: usize = 64;

/// Findings of the document rules. They depend only on each document and its inputs.
pub(crate) fn check_documents(facts: &SiteFacts<'_>, docs: &[DocId]) -> Vec<DocumentFinding> {
    let checks = wanted(facts.settings, |look| {
        if let CheckKind::Documents(run) = look {
            Some(run)
        } else {
            None
        }
    });
    let split = stopwatch::split();
    let parts: Vec<(Vec<DocumentFinding>, Vec<FailedCheck>)> = docs
        .par_chunks(DOCUMENTS_PER_CHUNK)
        .map(|docs| {
            let _part = split.part();
            check_some(facts, &checks, docs)
        })
        .collect();
    drop(split);
    let (found, failed): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let mut found: Vec<DocumentFinding> = found.into_iter().flatten().collect();
    found.extend(failures(facts, &checks, &failed.concat()));
    for (_, finding) in &mut found {
        name_subject(facts, finding);
        put_owner_first(facts, finding);
    }
    found
}

/// Index of a check that failed, and the document on which it failed.
type FailedCheck = (usize, DocId);

/// Findings of all checks on one chunk of documents.
fn check_some(
    facts: &SiteFacts<'_>,
    checks: &[RuleCheck<DocumentCheck>],
    docs: &[DocId],
) -> (Vec<DocumentFinding>, Vec<FailedCheck>) {
    let mut found = Vec::new();
    let mut failed = Vec::new();
    // Drop the findings of a check that fails.
    let mut guard = |check: &RuleCheck<DocumentCheck>, docs: &[DocId]| {
        let before = found.len();
        let done = guarded(place_of(check.rules), || {
            (check.run)(facts, docs, &mut found);
        });
        if done.is_none() {
            found.truncate(before);
        }
        done.is_some()
    };
    for (index, check) in checks.iter().enumerate() {
        stopwatch::rule(check.names(), || {
            if !guard(check, docs) {
                // Retry document by document, to skip only those on which the check fails.
                let left_out = docs
                    .iter()
                    .filter(|doc| !guard(check, std::slice::from_ref(*doc)));
                failed.extend(left_out.map(|doc| (index, *doc)));
            }
        });
    }
    (found, failed)
}

/// One finding for each failed check, however many documents it failed on.
fn failures(
    facts: &SiteFacts<'_>,
    checks: &[RuleCheck<DocumentCheck>],
    failed: &[FailedCheck],
) -> Vec<DocumentFinding> {
    let of_check = |(index, check): (usize, &RuleCheck<DocumentCheck>)| {
        let docs: Vec<DocId> = failed
            .iter()
            .filter(|(of, _)| *of == index)
            .map(|(_, doc)| *doc)
            .collect();
        let first = *docs.first()?;
        Some((
            first,
            internal_error::report_rule_at(facts, &docs, &listed(check.rules)),
        ))
    };
    checks.iter().enumerate().filter_map(of_check).collect()
}

/// Checks accepted by `looks` whose findings can be reported.
fn wanted<F>(settings: &RuleOptions, looks: impl Fn(CheckKind) -> Option<F>) -> Vec<RuleCheck<F>> {
    CHECKS
        .iter()
        .filter_map(|check| {
            Some(RuleCheck {
                rules: check.rules,
                run: looks(check.run)?,
            })
        })
        .filter(|check| settings.want(check.rules))
        .collect()
}

/// Runs a site check; if it panics, the others still run.
fn guard_site_check(
    facts: &SiteFacts<'_>,
    rules: &[&'static Rule],
    found: &mut Vec<Diagnostic>,
    run: impl FnOnce(&mut Vec<Diagnostic>),
) {
    guard_check(rules, found, run, |rules| {
        internal_error::report_rule(first_file(facts), rules)
    });
}

/// Runs a check; if it panics, drops the findings of this run and adds the one that `failed`
/// returns.
fn guard_check(
    rules: &[&'static Rule],
    found: &mut Vec<Diagnostic>,
    run: impl FnOnce(&mut Vec<Diagnostic>),
    failed: impl FnOnce(&str) -> Diagnostic,
) {
    let before = found.len();
    if guarded(place_of(rules), || run(found)).is_none() {
        found.truncate(before);
        found.push(failed(&listed(rules)));
    }
}

/// Place of a check for error reports, named after its first rule.
fn place_of(rules: &[&'static Rule]) -> Place<'static> {
    Place::Rule(rules.first().expect("a check has a rule").name)
}

/// Formats rule names for a message.
fn listed(rules: &[&Rule]) -> String {
    rules
        .iter()
        .map(|rule| format!("`{}`", rule.name))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Runs `word`; if it panics, returns an `internal-error` finding for `at` instead.
fn guard_finding(what: &str, at: Span, word: impl FnOnce() -> Diagnostic) -> Diagnostic {
    guarded(Place::Words(what), word).unwrap_or_else(|| internal_error::report_words(at))
}

/// File of the site's first document, or the first file of all if the site has no documents.
fn first_file(facts: &SiteFacts<'_>) -> FileId {
    facts
        .site
        .iter()
        .next()
        .map(|(_, document)| document.span.file)
        .unwrap_or_default()
}

/// Sets the subject of a finding, if its rule did not, to the text at its location if that is in a
/// document's metadata. Metadata contains paths and names, but no values.
fn name_subject(facts: &SiteFacts<'_>, finding: &mut Diagnostic) {
    let at = finding.primary.span;
    let has_subject = !finding.subject.is_empty();
    let owner = || facts.site.document_at(at).map(|doc| facts.document(doc));
    let in_metadata = || owner().is_some_and(|owner| owner.metadata_span.contains(at));
    if !has_subject && in_metadata() {
        let line = facts.sources.slice(facts.first_line(at));
        line.trim_matches(['"', '\''])
            .trim_end()
            .clone_into(&mut finding.subject);
    }
}

/// Puts the document that contains the finding first. A defect shared by several sites is one
/// finding, and needs the same key whichever sites are read, although the rendered documents
/// differ.
fn put_owner_first(facts: &SiteFacts<'_>, finding: &mut Diagnostic) {
    let at = finding.primary.span;
    let Some(owner) = facts.site.document_at(at).map(|doc| facts.document(doc)) else {
        return;
    };
    finding.documents.retain(|key| *key != owner.key);
    finding.documents.insert(0, owner.key.clone());
}

/// Subject of a document fault: the field or the path.
fn subject_of(fault: &DocumentFault) -> String {
    use DocumentFaultKind as Kind;
    match &fault.kind {
        Kind::MissingField { field }
        | Kind::WrongType { field, .. }
        | Kind::WrongValue { field, .. }
        | Kind::UnknownField { field, .. } => field.clone(),
        Kind::RenamedKey { field } => (*field).to_owned(),
        Kind::Unpaired { has, lacks } => format!("{has} {lacks}"),
        Kind::UnknownKey { key, .. } => key.clone(),
        Kind::UnknownMethod { method, .. } => method.clone(),
        Kind::InvalidPath { field, .. } | Kind::InvalidPattern { field, .. } => field.clone(),
        Kind::DifferentPath { path, .. } => path.clone(),
        Kind::UnusableSchemaName { name } => name.clone(),
        Kind::NotADocument { .. } | Kind::Empty { .. } | Kind::MissingData | Kind::MissingDepth => {
            String::new()
        }
    }
}

/// Finding for a comment that suppresses nothing, or not all it names; `names` are the unused rule
/// names.
pub(crate) fn report_unused_ignore(
    sources: &SourceMap,
    ignore: &ignore::Ignore,
    names: &[&ignore::RuleName],
) -> Diagnostic {
    unused_ignore::report(sources, ignore, names)
}

/// Finding for a baseline entry with `gone` findings that no longer exist.
pub(crate) fn report_stale_baseline(at: Span, rule: &str, file: &str, gone: usize) -> Diagnostic {
    stale_baseline::report(at, rule, file, gone)
}

/// Step that failed for a whole site because of a bug in layercake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailedStep {
    /// Checking the site.
    Checking,
    /// Extracting the requested part of the result.
    TakingData,
    /// Comparing the two sides.
    Comparing,
    /// Determining the causes of changes.
    FindingCauses,
}

/// Finding for a bug in layercake that affected the set of documents beginning with `file`.
pub(crate) fn report_internal(file: FileId, step: FailedStep) -> Diagnostic {
    internal_error::report(file, step)
}

/// Whether a finding reports a bug in layercake.
pub(crate) fn is_internal(finding: &Diagnostic) -> bool {
    finding.rule.name == internal_error::RULE.name
}

/// Finding for a file that cannot be decoded. Returns `None` if the content itself declares its
/// encoding, which is then reported elsewhere.
fn report_text(facts: &FileFacts<'_>, fault: &TextFault) -> Option<Diagnostic> {
    Some(match (fault, facts.holds) {
        (TextFault::BadEncoding(..), FileContents::Parts) => return None,
        (TextFault::BadEncoding(encoding, at), FileContents::Documents) => {
            invalid_encoding::report(facts, *encoding, *at)
        }
        (TextFault::Unreadable(reason), _) => unreadable_file::report(facts, reason),
        (TextFault::TooLarge(bytes), _) => over_limit::report_large(facts, *bytes),
        (TextFault::LargeFilePointer, _) => unread_file::report_pointer(facts),
        (TextFault::Nested(nested), _) => unread_file::report_nested(facts, nested),
    })
}

fn report_yaml(facts: &FileFacts<'_>, problem: &yaml::YamlProblem) -> Diagnostic {
    use yaml::YamlProblemKind as Kind;
    let at = problem.span;
    match &problem.kind {
        Kind::Invalid(invalid) => invalid_yaml::report(facts, at, invalid),
        Kind::DuplicateKey { first } => duplicate_key::report(facts, at, *first),
        Kind::AmbiguousMerge { used, other } => ambiguous_merge::report(facts, at, *used, *other),
        Kind::UnknownTag(tag) => unknown_tag::report(facts, at, tag),
        Kind::InvalidScalar(reason) => invalid_scalar::report(facts, at, reason),
        Kind::Unusual(description) => unusual_yaml::report(facts, at, description),
        Kind::Surrogate => invalid_scalar::report_surrogate(at),
        Kind::OverLimit(limit) => over_limit::report_text(at, *limit),
        Kind::Internal => internal_error::report_file(at),
    }
}

/// Finding for a document fault; `title` is empty for what is not a document.
fn report_fault(facts: &FileFacts<'_>, fault: &DocumentFault, title: &str) -> Diagnostic {
    use DocumentFaultKind as Kind;
    let at = fault.at;
    match &fault.kind {
        Kind::NotADocument { found } => not_a_document::report(facts, at, found),
        Kind::Empty { more } => empty_document::report(at, *more),
        Kind::MissingField { field } => invalid_document::report_missing(at, title, field),
        Kind::RenamedKey { field } => invalid_document::report_renamed(at, title, field),
        Kind::WrongType {
            field,
            expected,
            found,
        } => invalid_document::report_type(at, title, field, expected, found),
        Kind::WrongValue { field, expected } => {
            invalid_document::report_value(at, title, field, expected)
        }
        Kind::UnknownField { field, near } => {
            invalid_document::report_unknown(facts, at, title, field, *near)
        }
        Kind::Unpaired { has, lacks } => invalid_document::report_unpaired(at, title, has, lacks),
        Kind::UnknownKey { key, near } => {
            unknown_document_key::report(facts, at, title, key, *near)
        }
        Kind::MissingData => missing_data::report(at, title),
        Kind::UnknownMethod { method, near } => {
            invalid_action::report_method(facts, at, method, *near)
        }
        Kind::InvalidPath { field, error } => invalid_path::report(at, title, field, error),
        Kind::InvalidPattern {
            field,
            message,
            failure,
        } => invalid_pattern::report(at, title, field, message, *failure),
        Kind::DifferentPath {
            method,
            path,
            deckhand,
        } => different_path::report(facts, at, *method, path, deckhand.as_deref()),
        Kind::MissingDepth => invalid_substitution::report_depth(facts, at),
        Kind::UnusableSchemaName { name } => unusable_schema_name::report(at, name),
    }
}

/// Finding for a fault of the repository layout.
pub(crate) fn report_layout(
    sources: &SourceMap,
    problem: &layout::LayoutProblem,
) -> Option<Diagnostic> {
    use layout::LayoutProblem;
    let (diagnostic, site) = match problem {
        LayoutProblem::Odd { file, oddity } => return Some(unread_file::report(*file, *oddity)),
        LayoutProblem::UnusedType { file, name } => return Some(unused_type::report(*file, name)),
        LayoutProblem::Clash {
            file,
            path,
            other,
            other_path,
        } => {
            return Some(clashing_path::report(*file, path, *other, other_path));
        }
        // The fault of the file itself is reported instead.
        LayoutProblem::UnreadDefinition { .. } => return None,
        LayoutProblem::MissingDefinition { file, site } => {
            (missing_site_definition::report(*file), site)
        }
        LayoutProblem::InvalidDefinition { site, at } => {
            (invalid_site_definition::report(*at), site)
        }
        LayoutProblem::MissingType {
            site,
            site_type,
            near,
        } => (
            missing_type::report(sources, site_type, near.as_deref()),
            site,
        ),
        LayoutProblem::IgnoredRevision {
            site,
            revision,
            others,
        } => (ignored_revision::report(revision, others), site),
        LayoutProblem::MissingRepository { name, sites } => {
            return Some(missing_repository::report(name, sites));
        }
        LayoutProblem::UnreadableRepository {
            site,
            repository,
            why,
        } => (missing_revision::report(repository, why), site),
    };
    Some(Diagnostic {
        sites: vec![site.clone()],
        ..diagnostic
    })
}

fn report_relation(facts: &SiteFacts<'_>, problem: &deckhand::SiteProblem) -> Diagnostic {
    use deckhand::SiteProblem;
    match problem {
        SiteProblem::MissingPolicy => missing_layering_policy::report(facts),
        SiteProblem::ExtraPolicy { used, extra } => {
            duplicate_layering_policy::report(facts, *used, *extra)
        }
        SiteProblem::RepeatedLayer {
            layer,
            first,
            again,
        } => repeated_layer::report(facts, layer, *first, *again),
        SiteProblem::UnknownLayer { doc, near } => {
            unknown_layer::report(facts, *doc, near.as_ref())
        }
        SiteProblem::MissingParent { child } => missing_parent::report(facts, *child),
        SiteProblem::AmbiguousParent { child, candidates } => {
            ambiguous_parent::report(facts, *child, candidates)
        }
        SiteProblem::RefusedMatch {
            child,
            parents,
            refusal,
        } => refused_parent_match::report(facts, *child, parents, *refusal),
        SiteProblem::MixedKeys { doc } => mixed_keys::report(facts, *doc),
        SiteProblem::ControlParent { child, parent } => {
            control_parent::report(facts, *child, *parent)
        }
        SiteProblem::DuplicateDocument { first, again } => {
            if is_data_schema(facts.document(*again)) {
                duplicate_schema::report(facts, *first, *again)
            } else {
                duplicate_document::report(facts, *first, *again)
            }
        }
        SiteProblem::ReplacementWithoutParent { doc } => {
            invalid_replacement::report_without_parent(facts, *doc)
        }
        SiteProblem::ReplacementOfAnother { doc, parent } => {
            invalid_replacement::report_of_another(facts, *doc, *parent)
        }
        SiteProblem::UndeclaredReplacement { doc, parent } => {
            invalid_replacement::report_undeclared(facts, *doc, *parent)
        }
        SiteProblem::SharedName { first, again } => {
            invalid_replacement::report_shared_name(facts, *first, *again)
        }
        SiteProblem::NestedReplacement { middle, last } => {
            nested_replacement::report(facts, *middle, *last)
        }
        SiteProblem::AbstractReplacement { doc, replaced } => {
            abstract_replacement::report(facts, *doc, *replaced)
        }
        SiteProblem::DuplicateOutput { first, again } => {
            duplicate_output::report(facts, *first, *again)
        }
        SiteProblem::MissingSource {
            doc,
            substitution,
            of_abstract,
            near,
        } => missing_source::report_document(
            facts,
            *doc,
            *substitution,
            *of_abstract,
            near.as_deref(),
        ),
        SiteProblem::GeneratedSources { missing } => {
            generated_source_missing::report(facts, missing)
        }
        SiteProblem::MissingEncryptionSource { doc } => {
            missing_encryption_source::report(facts, *doc)
        }
    }
}

fn report_rendering(facts: &SiteFacts<'_>, problem: &render::Problem) -> Diagnostic {
    use render::ProblemKind as Kind;
    let title = facts.name(problem.doc);
    let diagnostic = match &problem.kind {
        Kind::Cycle(cycle) => return dependency_cycle::report(facts, cycle),
        Kind::Action(action) => report_action(facts, problem, action),
        Kind::Substitution(substitution) => report_substitution(facts, problem, substitution),
        Kind::OverLimit(limit) => over_limit::report_rendered(problem, title, *limit),
        Kind::TooManyCopies => over_limit::report_copies(problem, title),
        // Deckhand does not merge whole documents, so their problem is a bug.
        Kind::Failed | Kind::Combine(_) => {
            return internal_error::report_document(facts, problem.doc);
        }
    };
    diagnostic.document(&facts.document(problem.doc).key)
}

fn report_action(
    facts: &SiteFacts<'_>,
    problem: &render::Problem,
    action: &ActionProblem,
) -> Diagnostic {
    match action {
        ActionProblem::MissingPath(missing) => missing_action_path::report(facts, problem, missing),
        ActionProblem::Path { method, error } => {
            invalid_action::report_walk(facts, problem, *method, error)
        }
        ActionProblem::Different { method, difference } => match difference {
            Difference::IndexMerge => different_index_merge::report(facts, problem),
            Difference::RootMerge => different_path::report_merge(facts, problem),
            Difference::Delete(difference) => different_delete::report(facts, problem, difference),
            Difference::ListWrite => different_list_write::report(facts, problem, Some(*method)),
        },
    }
}

fn report_substitution(
    facts: &SiteFacts<'_>,
    problem: &render::Problem,
    substitution: &SubstitutionProblem,
) -> Diagnostic {
    use SubstitutionProblem as Kind;
    let title = facts.name(problem.doc);
    match substitution {
        Kind::MissingValue(missing) => missing_source::report_value(facts, problem, missing),
        Kind::Invalid(invalid) => invalid_substitution::report(facts, problem, invalid),
        Kind::IgnoredSourcePath { source, path } => {
            ignored_source_path::report(facts, problem, *source, path)
        }
        Kind::UnmatchedSourcePattern { value } => {
            unmatched_source_pattern::report(facts, problem, *value)
        }
        Kind::MissingPatternTarget {
            path,
            near,
            is_accepted,
            is_created,
        } => {
            let outcome = missing_pattern_target::outcome(*is_accepted, *is_created);
            missing_pattern_target::report(facts, problem, path, near.as_deref(), outcome)
        }
        Kind::UnmatchedPattern { target } => unmatched_pattern::report(facts, problem, *target),
        Kind::DifferentListWrite => different_list_write::report(facts, problem, None),
        Kind::DifferentRecursion { text } => different_recursion::report(facts, problem, *text),
        Kind::BackslashInPatternValue { value, .. } => {
            backslash_in_pattern_value::report(facts, problem, *value)
        }
        Kind::DifferentPatternText { value, texts } => {
            different_pattern_text::report(facts, problem, *value, texts.as_ref())
        }
        Kind::PatternFailure(failure) => match failure {
            PatternFailure::TooManySteps => over_limit::report_search(problem, title),
            PatternFailure::OutputTooLarge => over_limit::report_output(problem, title),
            PatternFailure::Template(_) => invalid_substitution::report_template(facts, problem),
        },
    }
}
