//! How many of some outputs are deployed.

use crate::compare::DeployedCounts;

/// Describes how many of these outputs are deployed, as a suffix; empty if that is known of none.
pub(crate) fn deployed_suffix(counts: DeployedCounts, outputs: usize) -> String {
    match (counts.deployed, counts.rendered_only) {
        (0, 0) => String::new(),
        (1, 0) if outputs == 1 => ", deployed".to_owned(),
        (0, 1) if outputs == 1 => ", not deployed".to_owned(),
        (all, 0) if all == outputs => ", all deployed".to_owned(),
        (0, all) if all == outputs => ", none of them deployed".to_owned(),
        (0, some) => format!(", {some} of them not deployed"),
        (some, _) => format!(", {some} of them deployed"),
    }
}

/// As [`deployed_suffix`], but empty if all are deployed.
pub(super) fn not_deployed(counts: DeployedCounts, outputs: usize) -> String {
    match counts.rendered_only {
        0 => String::new(),
        _ => deployed_suffix(counts, outputs),
    }
}

/// Says of how many outputs it is not known whether they are deployed.
pub(super) fn not_known(counts: DeployedCounts) -> String {
    match counts.deployment_not_known {
        1 => "not known whether 1 is deployed".to_owned(),
        some => format!("not known whether {some} are deployed"),
    }
}
