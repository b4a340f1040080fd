//! The subset of SARIF 2.1.0 structures in use, named as in the standard.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::compare::DeployedCounts;
use crate::report::ChosenSemantics;
use crate::report::model::{EditRef, Report, ReportedCertificates};
use crate::report::printable::clean;
use crate::report::story::SiteNames;

#[derive(Serialize)]
pub(super) struct SarifLog {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [SarifRun; 1],
}

impl SarifLog {
    pub(super) fn of(run: SarifRun) -> Self {
        let schema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/\
                      sarif-schema-2.1.0.json";
        Self {
            schema,
            version: "2.1.0",
            runs: [run],
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifRun {
    pub(super) tool: SarifTool,
    pub(super) automation_details: AutomationDetails,
    pub(super) original_uri_base_ids: BTreeMap<String, ArtifactBase>,
    pub(super) column_kind: &'static str,
    pub(super) invocations: [Invocation; 1],
    pub(super) properties: RunProperties,
    pub(super) results: Vec<SarifResult>,
}

#[derive(Serialize)]
pub(super) struct RunProperties {
    pub(super) semantics: ChosenSemantics,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) certificates: Option<ReportedCertificates>,
}

#[derive(Serialize)]
pub(super) struct SarifTool {
    pub(super) driver: SarifDriver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifDriver {
    pub(super) name: &'static str,
    pub(super) version: String,
    pub(super) semantic_version: String,
    pub(super) rules: Vec<ReportingDescriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReportingDescriptor {
    pub(super) id: String,
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) short_description: Option<MultiformatMessage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) full_description: Option<MultiformatMessage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) help_uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) help: Option<MultiformatMessage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) default_configuration: Option<ReportingConfiguration>,
    pub(super) properties: RuleProperties,
}

#[derive(Serialize)]
pub(super) struct MultiformatMessage {
    pub(super) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) markdown: Option<String>,
}

#[derive(Serialize)]
pub(super) struct ReportingConfiguration {
    pub(super) level: &'static str,
    pub(super) enabled: bool,
}

#[derive(Serialize)]
pub(super) struct RuleProperties {
    pub(super) tags: Vec<&'static str>,
}

#[derive(Serialize)]
pub(super) struct AutomationDetails {
    pub(super) id: &'static str,
}

#[derive(Serialize)]
pub(super) struct ArtifactBase {
    pub(super) description: SarifMessage,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation {
    pub(super) execution_successful: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
pub(super) struct Notification {
    pub(super) level: &'static str,
    pub(super) message: SarifMessage,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifResult {
    pub(super) rule_id: String,
    pub(super) rule_index: usize,
    pub(super) level: &'static str,
    pub(super) message: SarifMessage,
    pub(super) locations: [SarifLocation; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) related_locations: Vec<SarifLocation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) code_flows: Vec<CodeFlow>,
    pub(super) partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) baseline_state: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) suppressions: Vec<SarifSuppression>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) fixes: Vec<SarifFix>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) properties: Option<ResultProperties>,
}

/// The only edit that caused a result, as numbers.
#[derive(Serialize)]
pub(super) struct ResultProperties {
    reach: ReachProperties,
}

#[derive(Serialize)]
struct ReachProperties {
    outputs: usize,
    sites: usize,
    #[serde(flatten)]
    deployed: DeployedCounts,
}

impl ResultProperties {
    /// Properties of a result with these causes.
    pub(super) fn of(edits: &[EditRef], report: &Report) -> Option<Self> {
        let [edit] = edits else { return None };
        let reach = report.edit(*edit).reach;
        Some(Self {
            reach: ReachProperties {
                outputs: reach.outputs,
                sites: SiteNames::new(report).in_set(reach.sites).len(),
                deployed: reach.deployed,
            },
        })
    }
}

/// A `message` object.
#[derive(Serialize)]
pub(super) struct SarifMessage {
    text: String,
}

impl SarifMessage {
    /// Creates a message of one literal line; see [`SarifMessage::of_lines`].
    pub(super) fn new(line: &str) -> Self {
        Self::of_lines(&[line])
    }

    /// Creates a message of literal lines: links, control characters and line breaks in them are
    /// escaped.
    pub(super) fn of_lines<T: AsRef<str>>(lines: &[T]) -> Self {
        let lines: Vec<_> = lines.iter().map(|line| clean(line.as_ref())).collect();
        // Viewers render `[text](target)` as a link (3.11.6).
        Self {
            text: lines.join("\n").replace("](", "]\\("),
        }
    }
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifLocation {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) physical_location: Option<PhysicalLocation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) logical_locations: Vec<LogicalLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<SarifMessage>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PhysicalLocation {
    pub(super) artifact_location: ArtifactLocation,
    pub(super) region: Region,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) context_region: Option<Region>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactLocation {
    pub(super) uri: String,
    pub(super) uri_base_id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    pub(super) start_line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) start_column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) snippet: Option<Snippet>,
}

#[derive(Serialize)]
pub(super) struct Snippet {
    pub(super) text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LogicalLocation {
    pub(super) fully_qualified_name: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeFlow {
    pub(super) message: SarifMessage,
    pub(super) thread_flows: [ThreadFlow; 1],
}

#[derive(Serialize)]
pub(super) struct ThreadFlow {
    pub(super) locations: Vec<ThreadFlowLocation>,
}

#[derive(Serialize)]
pub(super) struct ThreadFlowLocation {
    pub(super) location: SarifLocation,
}

#[derive(Serialize)]
pub(super) struct SarifSuppression {
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) justification: Option<String>,
    pub(super) location: SarifLocation,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifFix {
    pub(super) description: SarifMessage,
    pub(super) artifact_changes: Vec<ArtifactChange>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactChange {
    pub(super) artifact_location: ArtifactLocation,
    pub(super) replacements: Vec<SarifReplacement>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifReplacement {
    pub(super) deleted_region: Region,
    pub(super) inserted_content: Snippet,
}
