//! Durations of a run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::stopwatch::{RuleTime, Stage, StageTime, Times};

/// Durations of a run and of its stages, if measured, in milliseconds.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Timing {
    /// Total duration.
    pub(crate) total: Option<u128>,
    /// Durations of the stages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) stages: Vec<StageTiming>,
    /// Durations of the rules, slowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rules: Vec<RuleTiming>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct StageTiming {
    pub(crate) stage: String,
    /// Wall time.
    pub(crate) passed: f64,
    /// Total time of all threads.
    pub(crate) threads: f64,
    /// Number of items processed.
    pub(crate) count: Option<u64>,
    /// Unit of the count.
    pub(crate) unit: Option<String>,
}

/// Duration of rules that run together.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct RuleTiming {
    /// Name of the first rule.
    pub(crate) rule: String,
    /// Number of further rules.
    pub(crate) others: usize,
    /// Total time of all threads.
    pub(crate) threads: f64,
}

impl Timing {
    /// Creates the durations of a run that took `total`, with the stages if they were measured.
    pub fn new(total: Duration, times: Option<&Times>) -> Self {
        let stages = times.into_iter().flat_map(|times| &times.stages);
        let rules = times.into_iter().flat_map(|times| &times.rules);
        Self {
            total: Some(total.as_millis()),
            stages: stages.map(StageTiming::new).collect(),
            rules: rules.map(RuleTiming::new).collect(),
        }
    }
}

impl StageTiming {
    fn new(of: &StageTime) -> Self {
        let unit = Stage::unit(of.stage);
        Self {
            stage: of.stage.as_str().to_owned(),
            passed: milliseconds(of.passed),
            threads: milliseconds(of.threads),
            count: unit.map(|_| of.count),
            unit: unit.map(str::to_owned),
        }
    }
}

impl RuleTiming {
    fn new(of: &RuleTime) -> Self {
        Self {
            rule: of.rules.first.to_owned(),
            others: of.rules.others,
            threads: milliseconds(of.threads),
        }
    }
}

/// Returns a duration in milliseconds, rounded to microseconds.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
