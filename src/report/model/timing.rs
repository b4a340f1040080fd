//! Durations of a run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::stopwatch::{RuleTime, Stage, StageTime, Times};

/// Duration of a run, and of its stages where they were measured; in milliseconds.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Timing {
    /// All of it.
    pub(crate) total: Option<u128>,
    /// Every stage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) stages: Vec<StageTiming>,
    /// The rules, those that took most first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rules: Vec<RuleTiming>,
}

/// Duration of a stage.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct StageTiming {
    /// The stage.
    pub(crate) stage: String,
    /// The time that passed.
    pub(crate) passed: f64,
    /// The time that all threads spent.
    pub(crate) threads: f64,
    /// Number of the things it worked on.
    pub(crate) count: Option<u64>,
    /// Unit of the count.
    pub(crate) unit: Option<String>,
}

/// Duration of rules that are checked together.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct RuleTiming {
    /// The first of them.
    pub(crate) rule: String,
    /// Number of others.
    pub(crate) others: usize,
    /// The time that all threads spent.
    pub(crate) threads: f64,
}

impl Timing {
    /// A run that took `total`, and how it split if that was measured.
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
        let (rule, others) = of.rules;
        Self { rule: rule.to_owned(), others, threads: milliseconds(of.threads) }
    }
}

/// Milliseconds, to a thousandth.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
