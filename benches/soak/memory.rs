//! Memory of the process during a walk, and memory left after it.

use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Bytes allocated and not freed.
pub fn live() -> usize {
    ALLOCATOR.current_usage()
}

/// Resident bytes according to the system, including allocator pools and fragmentation; `None` if
/// unavailable.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Memory samples by number of edits.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    samples: Vec<Sample>,
}

/// A memory sample in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Number of edits before the sample.
    pub edits: usize,
    /// Value of [`live`], which includes the outputs of the last version.
    pub live: usize,
    /// Resident bytes according to the system.
    pub resident: Option<u64>,
}

impl Samples {
    /// Takes a sample after this number of edits.
    pub fn take(&mut self, edits: usize) {
        self.samples.push(Sample {
            edits,
            live: live(),
            resident: resident(),
        });
    }

    /// Sample taken after this number of edits.
    pub fn after(&self, edits: usize) -> Option<Sample> {
        self.samples
            .iter()
            .find(|sample| sample.edits == edits)
            .copied()
    }
}
