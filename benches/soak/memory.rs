//! How much memory the process holds while it walks, and what a walk leaves
//! behind.

use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// What was allocated and not given back, in bytes.
pub fn live() -> usize {
    ALLOCATOR.current_usage()
}

/// What the system says that the process holds, in bytes: with the pools of the
/// allocator, and all that fragments. None where the system does not tell.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// What was held after which edit.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    samples: Vec<Sample>,
}

/// What was held, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// After so many edits.
    pub edits: usize,
    /// What [`live`] says: all that the walk is made of, among it what the last
    /// version rendered to.
    pub live: usize,
    /// What the system says.
    pub resident: Option<u64>,
}

impl Samples {
    /// Adds what is held now, after so many edits.
    pub fn take(&mut self, edits: usize) {
        self.samples.push(Sample { edits, live: live(), resident: resident() });
    }

    /// What was held after so many edits.
    pub fn after(&self, edits: usize) -> Option<Sample> {
        self.samples.iter().find(|sample| sample.edits == edits).copied()
    }
}
