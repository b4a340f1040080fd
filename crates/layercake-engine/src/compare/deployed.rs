//! Whether a deployment applies an output.

use std::ops::AddAssign;

/// What a deployment does with an output, as far as the documents of its site say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Deployed {
    /// These appliers apply it.
    By(Appliers),
    /// It is of a kind that only appliers read, and none applies it.
    RenderedOnly,
    /// It is of such a kind, and not known whether one applies it.
    NotKnown,
    /// Another consumer reads it.
    #[default]
    Other,
}

impl Deployed {
    /// Returns whether an applier applies the output.
    pub fn is_applied(self) -> bool {
        matches!(self, Self::By(_))
    }
}

/// Numbers of outputs by whether they are deployed; those of other consumers are not counted.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Deserialize,
    serde::Serialize,
)]
pub struct DeployedCounts {
    /// Outputs that an applier applies.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub deployed: usize,
    /// Outputs that only appliers read, and none applies.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rendered_only: usize,
    /// Outputs that only appliers read, where it is not known whether one applies them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub deployment_not_known: usize,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl DeployedCounts {
    /// Adds a number of outputs.
    pub fn add(&mut self, deployed: Deployed, outputs: usize) {
        match deployed {
            Deployed::By(_) => self.deployed += outputs,
            Deployed::RenderedOnly => self.rendered_only += outputs,
            Deployed::NotKnown => self.deployment_not_known += outputs,
            Deployed::Other => {}
        }
    }
}

impl FromIterator<Deployed> for DeployedCounts {
    fn from_iter<I: IntoIterator<Item = Deployed>>(outputs: I) -> Self {
        let mut counts = Self::default();
        outputs
            .into_iter()
            .for_each(|deployed| counts.add(deployed, 1));
        counts
    }
}

impl AddAssign for DeployedCounts {
    fn add_assign(&mut self, other: Self) {
        self.deployed += other.deployed;
        self.rendered_only += other.rendered_only;
        self.deployment_not_known += other.deployment_not_known;
    }
}

/// A set of appliers, by number; the system numbers them from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Appliers(u8);

impl Appliers {
    /// Adds an applier with a number below 8.
    pub fn add(&mut self, number: usize) {
        self.0 |= 1 << number;
    }

    /// Returns whether an applier is in the set.
    pub fn has(self, number: usize) -> bool {
        self.0 & (1 << number) != 0
    }
}
